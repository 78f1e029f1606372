"""Runs: observers, Ctrl-C, threads, processes, failures."""

from __future__ import annotations

import _thread
import multiprocessing
import threading
import time
from typing import Any

import kreisel
import numpy as np
import pytest
from conftest import pendulum


def test_an_observer_sees_every_accepted_step() -> None:
    seen: list[tuple[float, float, float]] = []

    def watch(step: kreisel.Step) -> None:
        seen.append((step.time, step.size, step["hinge.angle"]))

    result = pendulum().simulate(end_time=0.1, step=1e-3, observer=watch)
    times, sizes, angles = np.array(seen).T
    assert np.array_equal(times, result.time[1:]) and np.allclose(sizes, 1e-3)
    assert np.array_equal(angles, result["hinge.angle"][1:])


def test_false_of_numpy_ends_a_run_like_false_of_python() -> None:
    for answer in (False, np.False_):

        def stop(step: kreisel.Step, answer: Any = answer) -> Any:
            return answer

        result = pendulum().simulate(end_time=0.1, step=1e-3, observer=stop)
        assert result.time[-1] == 1e-3
    goes_on = pendulum().simulate(end_time=0.1, step=1e-3, observer=lambda step: 0)  # type: ignore[arg-type,return-value]
    assert goes_on.time[-1] == 0.1


def test_runs_within_runs_without_end_are_an_exception() -> None:
    depth = 0

    def again(step: kreisel.Step) -> None:
        nonlocal depth
        depth += 1
        pendulum().simulate(end_time=0.1, step=1e-2, observer=again)

    with pytest.raises(RecursionError, match="within"):
        pendulum().simulate(end_time=0.1, step=1e-2, observer=again)
    assert depth > 1
    # The count is back at none: the same may be done again.
    assert pendulum().simulate(end_time=0.01, step=1e-3).time[-1] == 0.01


def test_a_result_keeps_the_model_that_was_run() -> None:
    model = pendulum()
    before = model.to_toml()

    def change(step: kreisel.Step) -> None:
        model.point_mass(f"late-{step.time}", mass=1)

    result = model.simulate(end_time=0.01, step=1e-3, observer=change)
    assert result.model.to_toml() == before


def test_settings_that_are_not_finite_are_refused_by_their_name() -> None:
    with pytest.raises(kreisel.ModelError, match="`end_time` must be a finite number, not nan"):
        pendulum().simulate(end_time=float("nan"))


def test_a_step_can_be_kept_and_read_later() -> None:
    kept: list[kreisel.Step] = []
    result = pendulum().simulate(end_time=0.02, step=1e-3, observer=kept.append)
    assert [step["bob.position.z"] for step in kept] == list(result["bob.position.z"][1:])
    with pytest.raises(KeyError, match="no signal"):
        kept[0]["nothing"]


def test_an_observer_ends_the_run_by_returning_false() -> None:
    result = pendulum().simulate(end_time=1, step=1e-3, observer=lambda step: step["hinge.angle"] < 1)
    assert result.status == "interrupted" and 1 <= result["hinge.angle"][-1] < 1.02


def test_an_exception_of_an_observer_ends_the_run_and_is_raised() -> None:
    def fail(step: kreisel.Step) -> None:
        raise ZeroDivisionError(f"at {step.time}")

    with pytest.raises(ZeroDivisionError, match="at 0.001"):
        pendulum().simulate(end_time=1, step=1e-3, observer=fail)
    with pytest.raises(kreisel.ArgumentError):
        pendulum().simulate(end_time=1, observer=3)  # type: ignore[arg-type]


def test_ctrl_c_ends_a_run_and_keeps_what_was_computed() -> None:
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    began = time.monotonic()
    with pytest.raises(kreisel.Interrupted) as caught:
        # Hours of steps: only the interrupt ends it.
        pendulum().simulate(end_time=1e5, step=1e-3, output_step=0.1, motion=False)
    assert time.monotonic() - began < 10
    result = caught.value.result
    assert isinstance(result, kreisel.Result) and result.status == "interrupted"
    assert len(result) > 1 and np.isfinite(result["hinge.angle"]).all()
    assert isinstance(caught.value, KeyboardInterrupt) and not isinstance(caught.value, Exception)


def test_ctrl_c_ends_a_long_advance_of_a_stepper() -> None:
    stepper = pendulum().stepper(step=1e-3)
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        stepper.advance(1e5)
    reached = stepper.time
    assert reached > 0 and stepper.advance() > reached


def test_the_lock_is_released_while_stepping() -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    pendulum().simulate(end_time=20, step=1e-3, output_step=1, motion=False)
    elapsed = time.monotonic() - began
    done.set()
    thread.join()
    # With the lock held the thread could run at the run's ends only.
    assert counted > 20 * elapsed, f"{counted} rounds in {elapsed} s"


def test_two_threads_run_two_models_at_once() -> None:
    """Each run waits inside for the other: one after the other they would never end."""
    barrier = threading.Barrier(2, timeout=30)
    results: dict[str, kreisel.Result] = {}

    def run(length: str) -> None:
        met = False

        def meet(step: kreisel.Step) -> None:
            nonlocal met
            if not met:
                met = True
                barrier.wait()

        model = pendulum().with_parameters(length=length)
        results[length] = model.simulate(end_time=0.2, step=1e-3, observer=meet)

    threads = [threading.Thread(target=run, args=(length,)) for length in ("0.4", "0.6")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for length, result in results.items():
        alone = pendulum().with_parameters(length=length).simulate(end_time=0.2, step=1e-3)
        assert np.array_equal(result["hinge.angle"], alone["hinge.angle"])


def final_angle(length: float) -> float:
    model = pendulum().with_parameters(length=length)
    return float(model.simulate(end_time=0.2, step=1e-3)["hinge.angle"][-1])


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_run_models(way: str) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {way}")
    final_angle(0.3)
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map(final_angle, [0.4, 0.6]) == [final_angle(0.4), final_angle(0.6)]


def test_models_and_results_travel_to_processes_and_back() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    model = pendulum(end_time=0.1, step=1e-3)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        result = pool.apply(kreisel.Model.simulate, (model,))
    assert np.array_equal(result["hinge.angle"], model.simulate()["hinge.angle"])


def test_a_machine_that_does_not_fit_together_is_a_start_error() -> None:
    model = pendulum()
    # The hinge keeps the bob at 0.5 m, the rod at 3 m.
    model.distance("rod", bodies=["ground", "bob"], points=[[0, 0, 0], ["length", 0, 0]], length=3)
    with pytest.raises(kreisel.StartError) as caught:
        model.simulate(end_time=1)
    assert "rod" in str(caught.value) and "--> pendulum:" in str(caught.value)


def test_a_step_that_fails_is_a_step_error_with_the_result_so_far() -> None:
    model = kreisel.Model("blow-up")
    model.point_mass("ball", mass=1, velocity=[1, 0, 0])
    model.gravity(acceleration=[0, 0, 0])
    # ẍ = 3 x² + …: x grows without bound within a finite time.
    model.force("push", body="ball", force=["exp(20*ball.position.x)", 0, 0])
    with pytest.raises(kreisel.StepError) as caught:
        model.simulate(end_time=10, step=1e-2)
    result = caught.value.result
    assert result is not None and result.status == "failed" and len(result) > 2
    assert result.summary["message"] == str(caught.value)


def test_settings_that_make_no_sense_are_model_errors() -> None:
    wrong: list[dict[str, Any]] = [{"end_time": -1}, {"end_time": 1, "step": 0}, {"end_time": 1, "step": float("nan")},
                     {"end_time": float("inf")}, {"end_time": 1, "method": "euler"}, {"end_time": 1, "step": 1e-300},
                     {"end_time": "1 kg"}, {}]
    for settings in wrong:
        with pytest.raises(kreisel.ModelError):
            pendulum().simulate(**settings)


def test_events_are_told() -> None:
    model = pendulum(end_time=2, step=1e-3)
    model.event("turns-back", zero_of="hinge.rate", stop=True)
    result = model.simulate()
    assert [name for _, name in result.events] == ["turns-back"] and result.status == "done"
    assert result.time[-1] == result.events[0][0] < 2
