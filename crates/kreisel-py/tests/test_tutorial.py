"""The tutorial of the book is a notebook whose cells run, and its page is that notebook."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

BOOK = Path(__file__).parents[3] / "book" / "src"
NOTEBOOK = BOOK / "python-tutorial.ipynb"
PAGE = BOOK / "python-tutorial.md"


def cells() -> list[tuple[str, str]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]


@pytest.mark.filterwarnings("ignore::kreisel.ModelWarning")
def test_every_cell_of_the_tutorial_runs() -> None:
    space: dict[str, Any] = {"__name__": "tutorial"}
    for number, (kind, source) in enumerate(cells()):
        if kind == "code":
            exec(compile(source, f"cell {number} of the tutorial", "exec"), space)


def test_the_page_of_the_tutorial_is_the_notebook() -> None:
    """With `KREISEL_REFRESH` set the page is written instead."""
    parts = [source if kind == "markdown" else f"```python\n{source}\n```" for kind, source in cells()]
    page = "\n\n".join(parts) + "\n"
    if "KREISEL_REFRESH" in os.environ:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page, "run these tests with KREISEL_REFRESH=1"


def test_the_controller_of_the_crane_brings_its_load_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (BOOK / "tutorials" / "crane.md").read_text(encoding="utf-8")
    code = next(part for part in page.split("```python\n")[1:]).split("```")[0]
    model = BOOK.parents[1] / "models" / "crane.toml"
    (tmp_path / "crane.toml").write_text(model.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "crane"}
    exec(compile(code, "the crane of the book", "exec"), space)
    places = {round(time, 2): place for time, place in space["path"]}
    # A Runge-Kutta method on the nonlinear equations with the same gains and each force held for 10 ms, as the program
    # of the page does: `crane_by_hand` in crates/kreisel/tests/doors/tutorials.rs.
    assert places[5.0] == pytest.approx(4.2479, abs=1e-3)
    assert places[7.0] == pytest.approx(4.8386, abs=1e-3)


def test_the_search_of_the_study_finds_the_length_of_the_closed_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    special = pytest.importorskip("scipy.special")
    page = (BOOK / "tutorials" / "study.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    model = BOOK.parents[1] / "crates" / "kreisel-cli" / "src" / "command" / "starter.toml"
    # As `kreisel new swing` writes it.
    (tmp_path / "swing.toml").write_text(model.read_text(encoding="utf-8").replace("NAME", "swing"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "study"}
    exec(compile(code, "the study of the book", "exec"), space)
    # A quarter of the period of a rod of 1/3 m l^2 from 30 degrees is K(sin^2(15 degrees)) sqrt(2 l/(3 g)).
    integral = float(special.ellipk(math.sin(math.radians(15)) ** 2))
    length = 1.5 * 9.80665 * (0.5 / integral) ** 2
    # The accuracy of the runs and the tolerance of the search, 1e-5 of the range each, with room for both.
    assert space["length"] == pytest.approx(length, abs=1e-4)


@pytest.mark.filterwarnings("ignore::kreisel.ModelWarning")
def test_the_lines_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = BOOK.parents[1]
    code = (root / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    model = root / "models" / "four-bar.toml"
    # As `kreisel new linkage --like four-bar` writes it.
    (tmp_path / "linkage.toml").write_text(model.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "readme"}
    exec(compile(code, "the README", "exec"), space)
    result = space["result"]
    torque = result["motor.torque.z"]
    assert result.verdict == "good"
    assert float(torque.max() - torque.min()) > 0.1
