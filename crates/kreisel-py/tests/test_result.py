"""Results: arrays, tables, pages, files."""

from __future__ import annotations

import gc
import json
import pickle
import sys
from pathlib import Path

import kreisel
import numpy as np
import pytest
from conftest import pendulum


@pytest.fixture(scope="module")
def result() -> kreisel.Result:
    return pendulum().simulate(end_time=0.5, step=1e-3)


def test_a_pendulum_keeps_its_energy_to_the_order_of_the_method(result: kreisel.Result) -> None:
    # m g l is about 10 J; the method is of second order, and h ω is about 5e-3.
    assert np.abs(result["energy.balance"]).max() < 1e-3
    angle, rate = result["hinge.angle"], result["hinge.rate"]
    # ω²/2 (m l² + J) = m g l sin φ
    exact = np.sqrt(2 * 2 * 9.80665 * 0.5 * np.sin(angle) / (2 * 0.25 + 0.01))
    assert np.abs(rate - exact).max() < 1e-4


def test_the_error_is_estimated_on_request_and_the_verdict_is_there_anyway(result: kreisel.Result) -> None:
    assert result.verdict == "good" and result.accuracy is None
    asked = pendulum().simulate(end_time=0.5, step=1e-3, error_estimate=True)
    fine = pendulum().simulate(end_time=0.5, step=1e-4)
    assert asked.accuracy is not None
    true = np.abs(asked["hinge.angle"] - fine["hinge.angle"][::10]).max()
    # The finer run has a hundredth of the error; motions are compared at every second step at least.
    assert 0.9 < asked.accuracy["angles"]["error"] / true < 1.1
    with pytest.warns(kreisel.ModelWarning, match="steps of"):
        coarse = pendulum().simulate(end_time=0.5, step=0.1)
    assert coarse.verdict == "doubtful" and any(note.get("doubt") for note in coarse.notes)


def test_without_settings_a_run_is_accurate_to_a_thousandth_unless_someone_watches() -> None:
    result = pendulum().simulate(end_time=0.5)
    assert result.accuracy is not None and result.accuracy["wanted"] == 1e-3
    assert result.accuracy["angles"]["error"] <= 1e-3 and "resolved to the end" in result.accuracy["text"]
    assert len(result) == 1001
    watched = pendulum().simulate(end_time=0.5, observer=lambda step: None)
    assert watched.accuracy is None
    assert any("an observer sees one run" in words for words in watched.summary["assumptions"])


def test_names_units_and_lengths_belong_together(result: kreisel.Result) -> None:
    assert set(result.units) == set(result.names) == set(result)
    assert result.units["hinge.angle"] == "rad"
    assert len(result) == 501 and all(result[name].shape == (501,) for name in result.names)
    assert np.allclose(result.time, np.linspace(0, 0.5, 501)) and result["time"] is result.time
    assert "hinge.angle" in result and "hinge.angel" not in result
    with pytest.raises(KeyError, match="did you mean `hinge.angle`"):
        result["hinge.angel"]


def test_arrays_are_the_runs_own_memory_and_read_only(result: kreisel.Result) -> None:
    first, second = result["hinge.angle"], result["hinge.angle"]
    assert first is second and not first.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0


def test_arrays_outlive_their_result() -> None:
    angle = pendulum().simulate(end_time=0.1)["hinge.angle"]
    gc.collect()
    assert angle.shape == (1001,) and np.isfinite(angle).all()


def test_frames_hold_every_signal_over_time(result: kreisel.Result) -> None:
    frame = result.frame("pandas")
    assert list(frame.columns) == result.names and frame.index.name == "time"
    assert frame["hinge.angle"].iloc[-1] == result["hinge.angle"][-1]
    polars = result.frame("polars")
    assert polars.columns == ["time", *result.names]
    with pytest.raises(kreisel.ArgumentError):
        result.frame("excel")


def test_a_frame_without_pandas_and_polars_says_what_to_install(
    result: kreisel.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        result.frame()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        result.plot("hinge.angle")


def test_plots_draw_signals_and_their_components(result: kreisel.Result) -> None:
    import matplotlib

    matplotlib.use("Agg")
    axes = result.plot("bob.position", "hinge.angle")
    assert len(axes.lines) == 4 and axes.get_xlabel() == "time [s]"
    with pytest.raises(KeyError, match="no signal `nobody`"):
        result.plot("nobody")
    with pytest.raises(kreisel.ArgumentError):
        result.plot()


def test_jupyter_shows_the_report_in_a_frame(result: kreisel.Result) -> None:
    shown = result._repr_html_()
    assert shown is not None and shown.startswith("<iframe srcdoc=") and shown.count("<") == 2
    page = result.to_html()
    assert page.lower().startswith("<!doctype html") and "hinge.angle" in page


def test_a_run_into_a_folder_writes_what_saving_its_result_writes(tmp_path: Path) -> None:
    result = pendulum().simulate(end_time=0.1, step=1e-3, motion=False, folder=tmp_path / "run")
    in_memory = pendulum().simulate(end_time=0.1, step=1e-3)
    in_memory.save(tmp_path / "saved")
    for name in ("trajectory.csv", "trajectory.vtkhdf", "scene.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes(), name
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == result.summary
    assert np.array_equal(result["hinge.angle"], in_memory["hinge.angle"])
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "notes.txt").write_text("mine")
    with pytest.raises(kreisel.WriteError):
        pendulum().simulate(end_time=0.1, folder=tmp_path / "foreign")


def test_the_files_say_which_exception_ended_the_run(tmp_path: Path) -> None:
    def fail(step: kreisel.Step) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError):
        pendulum().simulate(end_time=1, step=1e-3, observer=fail, folder=tmp_path)
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["status"] == "failed" and "enough" in summary["message"]
    assert (tmp_path / "trajectory.csv").exists()


def test_saved_results_are_those_of_the_command(result: kreisel.Result, tmp_path: Path) -> None:
    paths = result.save(tmp_path / "out")
    names = {Path(path).name for path in paths}
    assert names == {"trajectory.csv", "trajectory.vtkhdf", "scene.json", "report.html", "run.json"}
    table = np.genfromtxt(tmp_path / "out" / "trajectory.csv", delimiter=",", names=None, skip_header=1)
    assert np.allclose(table[:, 0], result.time, atol=1e-15)
    column = 1 + result.names.index("hinge.angle")
    assert np.array_equal(table[:, column], result["hinge.angle"])
    result.save(tmp_path / "out")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("x")
    with pytest.raises(kreisel.WriteError):
        result.save(tmp_path / "foreign")


def test_a_run_without_motion_has_signals_only(tmp_path: Path) -> None:
    result = pendulum().simulate(end_time=0.01, motion=False)
    assert result["hinge.angle"].size and result._repr_html_() is None
    with pytest.raises(kreisel.Error, match="motion"):
        result.save(tmp_path)


def test_a_closed_result_says_so(tmp_path: Path) -> None:
    with pendulum().simulate(end_time=0.01) as result:
        kept = result["hinge.angle"]
    assert "closed" in repr(result) and result._repr_html_() is None
    for use in (lambda: result["hinge.angle"], lambda: result.time, lambda: result.frame(),
                lambda: result.save(tmp_path), lambda: len(result), lambda: result.plot("hinge.angle")):
        with pytest.raises(kreisel.ClosedError):
            use()
    assert np.isfinite(kept).all()


def test_results_pickle(result: kreisel.Result, tmp_path: Path) -> None:
    twin = pickle.loads(pickle.dumps(result))
    assert twin.names == result.names and twin.summary == result.summary
    assert all(np.array_equal(twin[name], result[name]) for name in result.names)
    assert not twin["hinge.angle"].flags.writeable
    assert twin.save(tmp_path / "twin")


def test_the_summary_tells_how_the_run_went(result: kreisel.Result) -> None:
    assert result.status == "done" and result.statistics["steps"] == 500
    assert result.summary["settings"]["step"] == 1e-3
    assert any("gravity" in words for words in result.summary["assumptions"])


def test_arrays_of_another_run_are_refused(result: kreisel.Result, tmp_path: Path) -> None:
    machine = pendulum()._machine({})
    with pytest.raises(kreisel.ArgumentError):
        machine.save(tmp_path, False, False, result.time[:3], [], np.empty(0), result._summary)
    with pytest.raises(TypeError):
        machine.save(tmp_path, False, False, np.zeros((2, 2)), [], np.empty(0), result._summary)
    with pytest.raises(kreisel.ArgumentError):
        machine.save(tmp_path, False, False, result.time[::2], [], np.empty(0), result._summary)
    bytes_ = b"\0" + result.time.tobytes()
    crooked = np.frombuffer(bytes_, offset=1)
    assert not crooked.flags.aligned
    with pytest.raises(kreisel.ArgumentError, match="aligned"):
        machine.save(tmp_path, False, False, crooked, [], np.empty(0), result._summary)


def test_nodes_of_a_beam_are_where_its_frames_are() -> None:
    """A beam between a turning body, away from its centre, and a free end: lengths stay, ends are those of sensors."""
    model = kreisel.Model("whip")
    model.body("hub", mass=5, inertia=[1, 1, 1], markers=[{"name": "rim", "position": [0.3, 0.1, 0]}])
    model.revolute("axle", bodies=["ground", "hub"], point=[0, 0, 0], axis=[0, 0, 1], rate=2)
    section = {"shape": "circle", "radius": 0.02, "youngs-modulus": 2e11, "poisson-ratio": 0.3, "density": 7800}
    model.beam("rod", from_=[0.3, 0.1, 0], to=[1.3, 0.1, 0], start="hub", elements=4, section=section)
    model.sensor(of="rod.end", quantity="position")
    model.sensor(of="hub.rim", quantity="position")
    result = model.simulate(end_time=0.2, step="1 ms", output_step="20 ms")
    nodes = result.nodes("rod")
    assert nodes.shape == (11, nodes.shape[1], 3) and nodes.shape[1] >= 5
    assert np.abs(nodes[:, -1] - result["rod.end.position"]).max() < 1e-12
    assert np.abs(nodes[:, 0] - result["hub.rim.position"]).max() < 1e-12
    # It is stiff: neighbours stay as far from each other as they were drawn, but for some millionths.
    gaps = np.linalg.norm(np.diff(nodes, axis=1), axis=2)
    assert np.abs(gaps / gaps[0] - 1).max() < 1e-3
    with pytest.raises(KeyError, match="there is no beam `rot`; there is `rod`"):
        result.nodes("rot")
    with pytest.raises(kreisel.ArgumentError, match="was not kept"):
        model.simulate(end_time=0.002, step="1 ms", motion=False).nodes("rod")
