"""Equilibria and modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kreisel
import numpy as np
import pytest


def hanging() -> kreisel.Model:
    """2 kg on a vertical spring of 200 N/m, guided along z."""
    model = kreisel.Model("hanging")
    model.gravity(acceleration=[0, 0, -10])
    model.body("weight", mass=2, inertia=[0.1, 0.1, 0.1])
    model.prismatic("guide", bodies=["ground", "weight"], point=[0, 0, 0], axis=[0, 0, 1])
    model.spring_damper("spring", bodies=["ground", "weight"], points=[[0, 0, 1], [0, 0, 0]], stiffness=200,
                        damping=4, free_length=1)
    return model


def test_a_weight_hangs_where_its_spring_bears_it() -> None:
    result = hanging().static(load_steps=4)
    assert result["guide.displacement"][-1] == pytest.approx(-0.1, abs=1e-9)
    assert result.load_factor[-1] == 1.0 and len(result) >= 4
    assert np.allclose(result["guide.displacement"], -0.1 * result.load_factor, atol=1e-9)
    assert set(result.reactions) == {"guide"} and len(result.reactions["guide"]) == 6
    assert result.limit_points == [] and "equilibria" in repr(result)


def test_static_results_are_saved(tmp_path: Path) -> None:
    result = hanging().static()
    names = {Path(path).name for path in result.save(tmp_path / "out")}
    assert {"static.csv", "static.vtkhdf", "static.json"} <= names
    assert result._repr_html_() is None


def test_a_limit_point_is_met_on_the_path(models: Path) -> None:
    result = kreisel.Model.read(models / "lee-frame.toml").static(arc_length=True, points=40)
    assert len(result) > 10 and result.status == "done"


def test_a_longest_step_along_the_path_makes_more_points(models: Path) -> None:
    frame = kreisel.Model.read(models / "lee-frame.toml")
    coarse, fine = (frame.static(arc_length=True, points=400, path_step=step) for step in (0.1, 0.005))
    assert len(fine) > 2 * len(coarse)
    assert fine.summary["settings"]["path-step"] == 0.005
    with pytest.raises(kreisel.ArgumentError, match="arc_length"):
        frame.static(path_step=0.1)
    with pytest.raises(kreisel.StaticsError):
        frame.static(arc_length=True, path_step=-1)


def test_a_machine_that_nothing_holds_has_no_equilibrium() -> None:
    model = kreisel.Model("free")
    model.body("stone", mass=1, inertia=[1, 1, 1])
    with pytest.raises(kreisel.StaticsError):
        model.static()
    wrong: list[dict[str, Any]] = [{"factor": float("nan")}, {"load_steps": 0}]
    for request in wrong:
        with pytest.raises(kreisel.Error):
            hanging().static(**request)
    with pytest.raises(kreisel.ArgumentError):
        hanging().static(load_steps=-1)


def test_modes_are_those_of_the_mass_and_its_spring() -> None:
    modes = hanging().modes(about="static", count=1)
    natural, ratio = np.sqrt(200 / 2), 4 / (2 * np.sqrt(200 * 2))
    assert len(modes) == 1
    assert modes.frequencies[0] == pytest.approx(natural * np.sqrt(1 - ratio**2) / (2 * np.pi), rel=1e-9)
    assert modes.damping_ratios[0] == pytest.approx(ratio, rel=1e-9)
    assert modes.dominant[0][0] == "weight" and modes.shapes.shape == (len(modes.coordinates), 1)
    assert "frequency [Hz]" in repr(modes)


def test_the_matrices_of_modes_are_given() -> None:
    modes = hanging().modes(about="static", count=1)
    mass, gradient = modes.matrices["mass"], modes.matrices["gradient"]
    assert mass.shape == (6, 6) and np.allclose(np.diag(mass), [0.1, 0.1, 0.1, 2, 2, 2])
    assert gradient.shape == (5, 6)
    shape = modes.shapes[:, 0]
    assert np.abs(gradient @ shape).max() < 1e-9


def test_requests_without_sense_are_refused() -> None:
    with pytest.raises(kreisel.ArgumentError, match="about"):
        hanging().modes(about="rest")  # type: ignore[arg-type]
    with pytest.raises(kreisel.ModesError):
        hanging().modes(count=0)
    with pytest.raises(kreisel.ArgumentError):
        hanging().modes(count=-1)
