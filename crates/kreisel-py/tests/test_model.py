"""Models: builder calls are the words of the model file, and mistakes are the command's."""

from __future__ import annotations

import inspect
import pickle
import subprocess
from pathlib import Path

import kreisel
import numpy as np
import pytest
from conftest import MODELS, pendulum


def test_every_kind_of_part_is_a_method_with_its_own_documentation() -> None:
    for kind in kreisel.kinds():
        method = getattr(kreisel.Model, kind.replace("-", "_"))
        assert inspect.getdoc(method), kind


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.toml")), ids=lambda path: path.stem)
def test_model_files_are_read_and_checked(path: Path) -> None:
    model = kreisel.Model.read(path)
    model.check()
    assert model.to_toml() == path.read_text(encoding="utf-8")


def test_builder_calls_write_what_a_user_would_write() -> None:
    text = pendulum(end_time=1, step="1 ms", spectral_radius=0.8).to_toml()
    assert text == (
        '[parameters]\nlength = "50 cm"\n\n'
        '[[body]]\nname = "bob"\nmass = 2\ninertia = [0.01, 0.01, 0.01]\nposition = ["length", 0, 0]\n\n'
        '[[revolute]]\nname = "hinge"\nbodies = ["ground", "bob"]\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n\n'
        '[simulation]\nend-time = 1\nstep = "1 ms"\nspectral-radius = 0.8\n'
    )


def test_a_model_that_was_written_down_and_one_of_its_text_give_the_same_bits() -> None:
    model = pendulum()
    twin = kreisel.Model.from_text(model.to_toml())
    first, second = (one.simulate(end_time=0.5, step=1e-3) for one in (model, twin))
    assert all(np.array_equal(first[name], second[name]) for name in first.names)


def test_tables_inside_parts_and_numpy_arrays_are_written() -> None:
    model = kreisel.Model("arm")
    model.body("arm", mass=np.float64(1.5), inertia=np.eye(3), position=np.array([0.5, 0, 0]),
               markers=[{"name": "tip", "position": [0.5, 0, 0]}])
    model.spherical("ball", bodies=["ground", "arm"], point=(0, 0, 0))
    model.sensor(quantity="position", of="arm.tip")
    result = model.simulate(end_time=0.1, step=1e-3)
    assert result["arm.tip.position.x"][0] == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model.body("bob", mass=1, inertia=[1, 1, 1]), "used twice"),
        (lambda model: model.body("b", mass=float("nan"), inertia=[1, 1, 1]), "not a finite number"),
        (lambda model: model.body("b", mass=1, inertia=[1, 1]), "inertia"),
        (lambda model: model.body("b", mass="3 m", inertia=[1, 1, 1]), "unit"),
        (lambda model: model.spherical("s", bodies=["ground", "bop"], point=[0, 0, 0]), "bop"),
        (lambda model: model.force("f", body="bob", force=["wind", 0, 0]), "wind"),
        (lambda model: model.input("t"), "meaning"),
        (lambda model: model.input("length"), "meaning"),
    ],
)
def test_mistakes_are_model_errors_that_name_them(change, words: str) -> None:  # type: ignore[no-untyped-def]
    model = pendulum()
    change(model)
    with pytest.raises(kreisel.ModelError) as caught:
        model.check()
    assert words in str(caught.value)
    assert "pendulum" in str(caught.value), "the message names the model"


def test_a_message_is_the_one_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text("[[body]]\nname = 'a'\nmas = 3\ninertia = [1, 1, 1]\n")
    with pytest.raises(kreisel.ModelError) as caught:
        kreisel.Model.read(path).check()
    command = MODELS.parent / "target" / "debug" / "kreisel"
    assert "has no key `mas`" in str(caught.value) and "did you mean" in str(caught.value)
    assert f"{path}:3:1" in str(caught.value)
    if command.exists():
        printed = subprocess.run([command, "check", path], capture_output=True, text=True, check=False).stderr
        assert printed.strip() == str(caught.value).strip()


def test_files_that_cannot_be_read_are_model_errors(tmp_path: Path) -> None:
    (tmp_path / "pendulum.toml").write_text("")
    with pytest.raises(kreisel.ModelError, match="pendulum.toml"):
        kreisel.Model.read(tmp_path / "pendulun.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe4\n")
    with pytest.raises(kreisel.ModelError, match="UTF-8"):
        kreisel.Model.read(tmp_path / "latin.toml")


def test_values_that_no_model_can_hold_are_refused() -> None:
    with pytest.raises(kreisel.ArgumentError):
        kreisel.Model().body("a", mass=object(), inertia=[1, 1, 1])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        kreisel.Model().body("a", mas=3)  # type: ignore[call-arg]
    with pytest.raises(kreisel.ArgumentError):
        pendulum().simulate(end_time=object())  # type: ignore[arg-type]
    with pytest.raises(kreisel.ModelError):
        pendulum().simulate(end_time=[1, 2])  # type: ignore[arg-type]


def test_a_setting_may_be_a_list() -> None:
    result = pendulum().simulate(end_time=0.1, step=1e-2, velocity_projection=[0.05])
    assert result.summary["settings"]["velocity-projection"] == [0.05]


def test_a_hostile_text_stays_a_text() -> None:
    model = kreisel.Model("x")
    model.body('a"\n[[body]]\x7f', mass=1, inertia=[1, 1, 1])
    with pytest.raises(kreisel.ModelError, match="cannot be a name"):
        model.check()


def test_parameters_are_replaced_and_unknown_ones_refused() -> None:
    model = kreisel.Model("p").parameters({"arm-length": 1.0}, k_1=2)
    model.body("bob", mass=1, inertia=[1, 1, 1], position=["arm-length", "k_1", 0])
    assert model.parameter_values == {"arm-length": 1.0, "k_1": 2.0}
    other = model.with_parameters(arm_length="3 cm", k_1=5)
    assert other.parameter_values == {"arm-length": 0.03, "k_1": 5.0}
    assert model.parameter_values["k_1"] == 2.0, "the model itself stays"
    with pytest.raises(kreisel.ModelError, match="k_2"):
        model.with_parameters(k_2=3)
    with pytest.raises(kreisel.ModelError):
        model.with_parameters(k_1=float("nan"))


def test_models_pickle_and_run_the_same() -> None:
    model = pendulum().with_parameters(length=0.7)
    twin = pickle.loads(pickle.dumps(model))
    assert twin == model and twin is not model
    assert np.array_equal(
        model.simulate(end_time=0.2)["hinge.angle"], twin.simulate(end_time=0.2)["hinge.angle"]
    )


def test_a_model_file_with_includes_is_run_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "part.toml").write_text('[[body]]\nname = "bob"\nmass = 1\ninertia = [1, 1, 1]\n')
    (tmp_path / "whole.toml").write_text('include = ["part.toml"]\n[simulation]\nend-time = 0.1\n')
    model = kreisel.Model.read(tmp_path / "whole.toml")
    monkeypatch.chdir("/")
    assert "bob.position.z" in model.names
    with pytest.raises(kreisel.ModelError, match="no folder"):
        kreisel.Model("text").include("part.toml").check()


def test_a_written_model_is_read_back(tmp_path: Path) -> None:
    model = pendulum(end_time=1)
    model.write(tmp_path / "pendulum.toml")
    assert kreisel.Model.read(tmp_path / "pendulum.toml").names == model.names


def test_warnings_of_a_model_are_python_warnings() -> None:
    model = pendulum()
    model.marker("loose", body="bob", position=[0, 0, 0])
    with pytest.warns(kreisel.ModelWarning, match="loose"):
        result = model.simulate(end_time=0.01)
    assert [note["text"] for note in result.notes] == result.warnings
    assert (result.notes[0]["kind"], result.notes[0]["subject"]) == ("unused-marker", "bob.loose")


def test_modes_of_a_moment_are_noted() -> None:
    model = kreisel.Model("pendulum")
    model.body("bob", mass=2, inertia=[0.01, 0.01, 0.01], position=[0.3, 0, -0.4])
    model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    modes = model.modes(count=1)
    assert [note["kind"] for note in modes.notes] == ["not-at-rest"]
    assert modes.notes[0]["advice"] in modes.warnings[0]


def test_names_of_parameters_stay_names() -> None:
    model = kreisel.Model("own").parameters({'x" = 1\n[[point-mass]]\nname = "guest"\nmass = 1\n"y': 1})
    with pytest.raises(kreisel.ModelError):
        model.check()
    assert "[[point-mass]]" not in model.to_toml().splitlines()
