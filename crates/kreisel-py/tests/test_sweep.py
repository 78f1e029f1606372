"""Sweeps on this computer, and the search for the best parameters."""

from __future__ import annotations

import _thread
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import kreisel
import numpy as np
import pytest
from conftest import MODELS

QUARTER = {"quarter": "first(bob.position.x, 0)"}
LOW = {"low": "min(bob.position.x)"}
SHORT = {"end_time": 0.3, "step": "1 ms"}


def spring(**simulation: object) -> kreisel.Model:
    """A mass on a spring, on a rail, from rest at 1 m: it passes zero after a quarter of 2π √(m/k)."""
    model = kreisel.Model("spring").parameters({"mass": 2, "spring-rate": "8 N/m"})
    model.body("bob", mass="mass", inertia=[1, 1, 1], position=[1, 0, 0])
    model.prismatic("rail", bodies=["ground", "bob"], point=[0, 0, 0], axis=[1, 0, 0])
    model.spring_damper("spring", bodies=["ground", "bob"], points=[[-10, 0, 0], [1, 0, 0]],
                        stiffness="spring-rate", free_length=10)
    if simulation:
        model.simulation(**simulation)  # type: ignore[arg-type]
    return model


def test_a_sweep_gives_the_periods_of_the_book() -> None:
    result = kreisel.sweep(spring(), {"mass": "1:3:3", "spring_rate": "4 N/m,8 N/m"}, QUARTER, end_time=2, step="1 ms")
    assert len(result) == 6 and result.parameters == ["mass", "spring-rate [N/m]"]
    expected = 0.5 * np.pi * np.sqrt(result["mass"] / result["spring-rate"])
    # The method's own error in a quarter of a period is some (ω h)²/12, below 1e-6.
    assert np.abs(result["quarter"] - expected).max() < 2e-6
    frame = result.frame("pandas")
    assert list(frame.columns) == ["run", "mass", "spring-rate [N/m]", "quarter", "status", "reason"]
    assert result.frame("polars").shape == (6, 6)
    assert (frame["status"] == "done").all() and frame["quarter"].iloc[-1] == result["quarter"][-1]


def test_the_table_is_that_of_the_command_bit_for_bit(tmp_path: Path) -> None:
    command = MODELS.parent / "target" / "debug" / "kreisel"
    if not command.exists():
        pytest.skip("the command is not built")
    model = spring(**SHORT)
    model.write(tmp_path / "spring.toml")
    arguments = ["--vary", "mass=-1:3", "--vary", "spring-rate=log(4,8)", "--sample", "12", "--sampling", "sobol", "--seed", "7",
                 "--measure", "low = min(bob.position.x)", "--out", str(tmp_path / "command"), "-q"]
    subprocess.run([command, "sweep", tmp_path / "spring.toml", *arguments], check=True)
    result = kreisel.sweep(
        kreisel.Model.read(tmp_path / "spring.toml"), {"mass": "-1:3", "spring-rate": "log(4,8)"},
        {"low": "min(bob.position.x)"}, sample=12, sampling="sobol", seed=7, out=tmp_path / "python", threads=2,
    )  # fmt: skip
    tables = [(tmp_path / where / "sweep.csv").read_bytes() for where in ("command", "python")]
    assert tables[0] == tables[1] and b",failed," in tables[0]
    assert 0 < len(result.reasons) < 12 and np.isnan(result["low"][list(result.reasons)]).all()
    # Finished runs of the one are finished runs of the other.
    subprocess.run([command, "sweep", tmp_path / "spring.toml", *arguments[:-2], str(tmp_path / "python"), "-q"], check=True)
    assert (tmp_path / "python" / "sweep.html").exists()


def test_ctrl_c_keeps_the_finished_runs_and_the_same_call_goes_on(tmp_path: Path) -> None:
    def again(out: Path, **more: object) -> kreisel.SweepResult:
        return kreisel.sweep(spring(), {"mass": "1:3:120"}, LOW, out=out, **SHORT, **more)  # type: ignore[arg-type]

    seen: list[int] = []

    def interrupt(done: int, count: int) -> None:
        seen.append(done)
        if done > 3 and len(seen) < 1000:
            seen.extend([done] * 1000)
            _thread.interrupt_main()

    with pytest.raises(kreisel.Interrupted) as caught:
        again(tmp_path / "a", progress=interrupt)
    partial = caught.value.result
    assert isinstance(partial, kreisel.SweepResult) and 3 < len(partial) < 120
    assert not (tmp_path / "a" / "sweep.csv").exists()
    kept = (tmp_path / "a" / "sweep.journal").read_text()
    whole = again(tmp_path / "a")
    assert (tmp_path / "a" / "sweep.journal").read_text().startswith(kept)
    assert np.array_equal(whole["low"][partial["run"].astype(int)], partial["low"])
    assert np.array_equal(whole["low"], again(tmp_path / "b")["low"])


def test_other_threads_run_during_a_sweep() -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    kreisel.sweep(spring(), {"mass": "1:3:40"}, QUARTER, **SHORT)  # type: ignore[arg-type]
    elapsed = time.monotonic() - began
    done.set()
    thread.join()
    assert counted > 10 * elapsed, f"{counted} rounds in {elapsed} s"


def test_threads_of_one_process_may_sweep_at_once() -> None:
    results: list[kreisel.SweepResult] = []

    def run() -> None:
        results.append(kreisel.sweep(spring(), {"mass": "1:3:9"}, LOW, **SHORT))  # type: ignore[arg-type]

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0]["low"].tobytes() == results[1]["low"].tobytes()


def test_requests_that_make_no_sense_are_refused_with_a_reason(tmp_path: Path) -> None:
    model = spring(**SHORT)
    for vary, measure, words in [
        ({"weight": [1, 2]}, QUARTER, "no parameter `weight`"),
        ({"mas": [1, 2]}, QUARTER, "did you mean `mass`"),
        ({"mass": "1:1:4"}, QUARTER, "is empty"),
        ({"mass": "1:2"}, QUARTER, "how many values"),
        ({"mass": []}, QUARTER, "varies nothing"),
        ({"mass": [1, float("nan")]}, QUARTER, "not a number"),
        ({}, QUARTER, "needs a parameter"),
        ({"mass": [1]}, {}, "and a measure"),
        ({"mass": [1]}, "max(bob.position.q)", "bob.position"),
        ({"mass": [1]}, "bob.position.x", "no measure of a run"),
        ({"mass": [1]}, {"mass": "max(bob.position.x)"}, "are called `mass`"),
    ]:
        with pytest.raises(kreisel.SweepError, match=words):
            kreisel.sweep(model, vary, measure)  # type: ignore[arg-type]
    for wrong in ({"sample": 0}, {"sample": -1}, {"sample": 3, "sampling": "even"}, {"threads": -1}, {"sample": 3, "seed": -1}):
        with pytest.raises(kreisel.ArgumentError):
            kreisel.sweep(model, {"mass": "1:2"}, QUARTER, **wrong)
    with pytest.raises(kreisel.ArgumentError, match="there is no setting `stop`"):
        kreisel.sweep(model, {"mass": [1]}, QUARTER, stop=3)
    with pytest.raises(kreisel.ModelError, match="end-time"):
        kreisel.sweep(spring(), {"mass": [1]}, QUARTER)
    kreisel.sweep(model, {"mass": [1]}, QUARTER, out=tmp_path)
    with pytest.raises(kreisel.SweepError, match="another sweep"):
        kreisel.sweep(model, {"mass": [2]}, QUARTER, out=tmp_path)
    with pytest.raises(KeyError, match="there is no column"):
        kreisel.sweep(model, {"mass": [1]}, QUARTER)["weight"]


def test_an_exception_of_a_function_ends_a_sweep_and_is_raised() -> None:
    def fail(t: float) -> float:
        raise RuntimeError("no wind")

    model = spring()
    model.function("wind", fail, arguments=["t"])
    model.force("air", body="bob", force=["wind", 0, 0])
    with pytest.raises(RuntimeError, match="no wind"):
        kreisel.sweep(model, {"mass": [1, 2]}, QUARTER, **SHORT)  # type: ignore[arg-type]


def test_results_of_sweeps_pickle_and_plot() -> None:
    result = kreisel.sweep(spring(), {"mass": [1, 2]}, QUARTER, **SHORT)  # type: ignore[arg-type]
    twin = pickle.loads(pickle.dumps(result))
    assert np.array_equal(twin["mass"], [1, 2]) and repr(twin) == repr(result)
    assert result.plot("quarter").get_xlabel() == "mass"


def test_the_best_parameters_are_found_within_their_bounds() -> None:
    # The quarter of a period is to be 0.5 s: 2π √(m/k) = 2 s, so k = π² m.
    objective = "(first(bob.position.x, 0) - 0.5)^2"
    found = kreisel.minimize(spring(), {"spring_rate": "log(4 N/m, 80 N/m)"}, objective, end_time=2, step="2 ms")
    assert found.success and found.runs > 5
    # The square is flat to 1e-6 of the measure where the quarter is off by 1e-3 of half a second.
    assert found.parameters["spring-rate"] == pytest.approx(2 * np.pi**2, rel=5e-3)
    quarter = kreisel.sweep(found.model, {"mass": [2]}, QUARTER, end_time=2, step="2 ms")["quarter"][0]
    assert (quarter - 0.5) ** 2 == pytest.approx(found.value, rel=1e-6)
    both = kreisel.minimize(spring(), {"mass": "1:3", "spring_rate": "4:9"}, QUARTER["quarter"], method="L-BFGS-B",
                            start={"mass": 2.5}, end_time=2, step="2 ms")
    # The lightest mass on the stiffest spring is the fastest.
    assert both.parameters == pytest.approx({"mass": 1, "spring-rate": 9})
    wide = kreisel.minimize(spring(), {"mass": "1:3"}, QUARTER["quarter"], method="differential-evolution", runs=60,
                            end_time=2, step="4 ms")
    assert wide.parameters["mass"] == pytest.approx(1, rel=0.05)


def test_the_example_of_the_book_finds_the_best_linear_buffer() -> None:
    page = (MODELS.parent / "book" / "src" / "sweeps.md").read_text(encoding="utf-8")
    code = next(part for part in page.split("```python\n")[1:] if "kreisel.minimize(" in part.split("```")[0]).split("```")[0]
    space: dict[str, Any] = {"kreisel": kreisel}
    exec(compile(code, "the example of the book", "exec"), space)
    found = space["found"]
    # The closed form of x(t), minimised by itself with the same penalty: 520.60 N at 1800.3 N/m and 242.8 N s/m.
    assert found.value == pytest.approx(520.6, rel=2e-3)
    assert found.parameters == pytest.approx({"stiffness": 1.8003, "damping": 242.8}, rel=0.05)


def test_searches_that_make_no_sense_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = spring(**SHORT)
    with pytest.raises(kreisel.ArgumentError, match="over a range"):
        kreisel.minimize(model, {"mass": "1,2"}, "max(bob.position.x)")
    with pytest.raises(kreisel.ArgumentError, match="does not vary"):
        kreisel.minimize(model, {"mass": "1:2"}, "max(bob.position.x)", start={"weight": 1})
    with pytest.raises(kreisel.ArgumentError, match="SciPy"):
        kreisel.minimize(model, {"mass": "1:2"}, "max(bob.position.x)", method="guess")
    with pytest.raises(kreisel.SweepError, match="mass"):
        kreisel.minimize(model, {"mass": "-2:-1"}, "max(bob.position.x)", runs=5)
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        kreisel.minimize(model, {"mass": "1:2"}, "max(bob.position.x)")


def test_parameters_with_names_of_columns_are_refused() -> None:
    for name in ("run", "status", "reason"):
        model = kreisel.Model("mass").parameters({name: 1})
        model.point_mass("bob", mass=name)
        with pytest.raises(kreisel.SweepError, match=f"column `{name}` of its own"):
            kreisel.sweep(model, {name: [1, 2]}, "last(bob.position.z)", end_time=0.1, step=0.01)


def test_more_threads_than_runs_are_not_started() -> None:
    result = kreisel.sweep(spring(), {"mass": [1, 2]}, LOW, threads=10**9, **SHORT)  # type: ignore[arg-type]
    assert len(result) == 2 and not result.reasons


def test_counts_may_be_numbers_of_numpy_and_bytes_are_no_values() -> None:
    result = kreisel.sweep(spring(), {"mass": "1:2"}, LOW, sample=np.int64(3), seed=np.int64(2), **SHORT)  # type: ignore[arg-type]
    assert len(result) == 3
    with pytest.raises(kreisel.ArgumentError, match="not over bytes"):
        kreisel.sweep(spring(), {"mass": b"12"}, LOW, **SHORT)  # type: ignore[arg-type]
    with pytest.raises(kreisel.ArgumentError, match="`sample` must be a whole number"):
        kreisel.sweep(spring(), {"mass": "1:2"}, LOW, sample=2.5, **SHORT)  # type: ignore[arg-type]
