"""What must not bring the interpreter down, hang it, or raise what nobody promised."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
import kreisel
import numpy as np
import pytest
from kreisel import Model

HINGE = """
from kreisel import Model, sweep
import kreisel
model = Model("m")
model.body("bob", mass=1, inertia=[1, 1, 1], position=[1, 0, 0])
model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
varied = model.copy().parameters(length=1)
"""


def hinge() -> Model:
    """A body on a hinge."""
    model = Model("m")
    model.body("bob", mass=1, inertia=[1, 1, 1], position=[1, 0, 0])
    model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    return model


def limited(code: str, megabytes: int) -> str:
    """What code prints that is granted so much memory beyond what the interpreter has taken; it must end by itself."""
    head = f"""
import resource, re
used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + ({megabytes} << 20),) * 2)
"""
    # Threads of BLAS have stacks of their own, as many as there are cores.
    program = f"{HINGE}{head}\ntry:\n    {code}\n    print('done')\nexcept (MemoryError, kreisel.Error) as error:\n    print(type(error).__name__)"
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.split()[-1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("sweep(varied, {'length': '0.1:1:1000000000'}, 'min(bob.position.z)', end_time=0.01, step=1e-3)", "SweepError"),
        ("sweep(varied, {'length': '0.1:1'}, 'min(bob.position.z)', sample=10**7, end_time=0.01, step=1e-3)", "MemoryError"),
        ("model.beam('rod', to=[1, 0, 0], elements=10**9, section=dict(shape='circle', radius=0.1, youngs_modulus=1e6, "
         "poisson_ratio=0.3, density=1000)).check()", "ModelError"),
        ("model.beam('rod', from_=[0, 1, 0], to=[1, 1, 0], elements=100000, section=dict(shape='circle', radius=0.1, "
         "youngs_modulus=1e6, poisson_ratio=0.3, density=1000)).check()", "ModelError"),
        ("model.simulate(end_time=1e6, step=1e-3)", "MemoryError"),
        ("model.simulate(end_time=1e6, step=1e-3, motion=False)", "MemoryError"),
    ],
)  # fmt: skip
def test_without_memory_there_is_an_exception_and_no_dead_interpreter(code: str, outcome: str) -> None:
    assert limited(code, 48) == outcome


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_more_parts_than_there_is_memory_for_are_refused() -> None:
    # Not with less than 150 MB: the thread that reads has no heap of its own then, and each small thing takes a page.
    assert limited("model.body('b{i}', repeat=10**5, mass=1, inertia=[1, 1, 1]).check()", 256) == "ModelError"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
@pytest.mark.parametrize("megabytes", [24, 27, 31, 36, 41])
def test_records_leave_memory_for_the_words_about_their_end(megabytes: int) -> None:
    # Whatever is left when there is no room for one more.
    assert limited("model.simulate(end_time=1e6, step=1e-3)", megabytes) == "MemoryError"


INSIDE = {
    "a run": "model.simulate(end_time=0.01, step=1e-3)",
    "a stepper": "model.stepper(step=1e-3).advance()",
    "steppers that are there": "waiting.pop().advance()",
    "inputs of steppers": "stepper = waiting.pop(); stepper['push'] = 1.0; stepper['bob.position.x']",
    "a sweep": "kreisel.sweep(model, {'length': [1, 2, 3]}, 'min(bob.position.z)', threads=3, end_time=0.01, step=1e-3)",
    "an equilibrium": "model.static()",
    "modes": "model.modes()",
    "accelerations": "model.dynamics().forward([0], [0])",
    "many accelerations": "model.dynamics().forward([[0], [1], [2]], [[0], [0], [0]])",
    "an observer": "model.simulate(end_time=0.01, step=1e-3, observer=f)",
}


@pytest.mark.parametrize("inside", INSIDE)
def test_functions_that_run_machines_without_end_are_an_exception(inside: str) -> None:
    code = f"""
{HINGE}
armed, waiting = [], []
def f(t):
    if armed:
        {INSIDE[inside]}
    return 0.0
model = varied
model.input("push")
model.function("f", f, arguments=["t"])
model.force("air", body="bob", force=["f + push", 0, 0])
if "waiting" in {INSIDE[inside]!r}:
    waiting.extend(model.stepper(step=1e-3) for _ in range(500))
armed.append(1)
try:
    model.simulate(end_time=0.01, step=1e-3)
except RecursionError as error:
    assert "within 16 others" in str(error), error
    armed.clear()
    # The count is back at none.
    assert model.simulate(end_time=0.01, step=1e-3).status == "done"
    print("RecursionError")
"""
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.split() == ["RecursionError"], f"{done.returncode}: {done.stdout} {done.stderr[-2000:]}"


@pytest.mark.parametrize("read", [Model.check, lambda model: model.dynamics().coordinates])
def test_a_thread_with_a_small_stack_may_read_models(read: Any) -> None:
    model, done = hinge(), []
    before = threading.stack_size(65536)
    try:
        thread = threading.Thread(target=lambda: done.append(read(model)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert done == [read(model)]


def on_a_thread(work: Any, stack: int) -> Any:
    """What some work gives, or raises, on a thread with a stack of so many bytes."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(work())
        except Exception as error:
            outcome.append(error)

    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return outcome[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how much stack is left is known there")
def test_a_thread_with_a_small_stack_may_not_run_machines_and_is_told() -> None:
    def works() -> list[Any]:
        model = hinge()
        return [
            lambda: model.simulate(end_time=0.01, step=1e-3),
            lambda: model.stepper(step=1e-3),
            lambda: model.modes(),
        ]

    for work in works():
        told = on_a_thread(work, 65536)
        assert isinstance(told, MemoryError) and "KiB of stack left" in str(told), told
    for work in works()[:2]:
        assert not isinstance(on_a_thread(work, 1 << 20), Exception)


def test_a_stepper_under_way_says_so_to_functions_of_its_model() -> None:
    model, seen = hinge(), []
    steppers: list[kreisel.Stepper] = []
    uses: list[Callable[[kreisel.Stepper], Any]] = [
        lambda stepper: stepper.time,
        lambda stepper: stepper["bob.position.x"],
        lambda stepper: stepper.advance(),
        lambda stepper: stepper.set_inputs({}),
        lambda stepper: stepper.copy(),
        lambda stepper: stepper.reset(),
        pickle.dumps,
    ]

    def nosy(t: float) -> float:
        for stepper in steppers:
            for use in uses:
                with pytest.raises(kreisel.StepError, match="under way"):
                    use(stepper)
                seen.append(use)
            assert repr(stepper) == "<kreisel.Stepper under way>"
            gc.collect()
        return 0.0

    model.function("f", nosy, arguments=["t"])
    model.force("air", body="bob", force=["f", 0, 0])
    steppers.append(model.stepper(step=1e-3))
    steppers[0].advance()
    assert set(seen) == set(uses)
    assert steppers[0].time == pytest.approx(1e-3)


def slow_hinge() -> tuple[Model, threading.Event, threading.Event, threading.Event]:
    """A hinge whose function, once the first event is set, sets the second and waits for the third."""
    armed, begun, go_on = threading.Event(), threading.Event(), threading.Event()

    def slow(t: float) -> float:
        # A start asks for derivatives by time, too: it is not to be held up.
        if armed.is_set():
            begun.set()
            assert go_on.wait(30)
        return 0.0

    model = hinge()
    model.function("f", slow, arguments=["t"])
    model.force("air", body="bob", force=["f", 0, 0])
    return model, armed, begun, go_on


def test_another_thread_may_not_use_a_stepper_under_way() -> None:
    model, armed, begun, go_on = slow_hinge()
    stepper = model.stepper(step=1e-3)
    armed.set()
    thread = threading.Thread(target=stepper.advance)
    thread.start()
    try:
        assert begun.wait(30)
        for use in (stepper.advance, stepper.state, stepper.coordinates, lambda: stepper["bob.position.x"]):
            with pytest.raises(kreisel.StepError, match="under way"):
                use()
        gc.collect()
    finally:
        go_on.set()
        thread.join()
    assert stepper.time == pytest.approx(1e-3)
    assert stepper.advance() == pytest.approx(2e-3)


def test_another_thread_may_not_use_machines_under_way() -> None:
    pytest.importorskip("gymnasium")
    import kreisel.gym

    model, armed, begun, go_on = slow_hinge()
    model.input("motor")
    model.joint_force("drive", joint="hinge", torque="motor")
    machines = kreisel.gym.VectorEnvironment(
        model, 2, {"motor": (-1, 1)}, ["hinge.angle"], lambda seen, action: 0.0, settings={"step": 1e-3}
    )
    machines.reset(seed=1)
    armed.set()
    thread = threading.Thread(target=machines.step, args=(np.zeros((2, 1)),))
    thread.start()
    try:
        assert begun.wait(30)
        with pytest.raises(kreisel.StepError, match="under way"):
            machines.step(np.zeros((2, 1)))
        with pytest.raises(kreisel.StepError, match="under way"):
            machines.reset(seed=2)
        gc.collect()
    finally:
        go_on.set()
        thread.join()
    machines.step(np.zeros((2, 1)))


def test_threads_that_share_a_stepper_come_to_an_end() -> None:
    code = f"""
import sys, threading, gc
{HINGE}
sys.setswitchinterval(1e-6)
model.function("f", lambda t: 0.0, arguments=["t"])
model.force("air", body="bob", force=["f", 0, 0])
stepper, counts = model.stepper(step=1e-3), dict(taken=0, refused=0)
ended = []
def use(number):
    for _ in range(200):
        try:
            [stepper.advance, stepper.copy, lambda: stepper["bob.position.x"], gc.collect][number % 4]()
            counts["taken"] += 1
        except kreisel.StepError as error:
            assert "under way" in str(error), error
            counts["refused"] += 1
    ended.append(1)
threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert sum(ended) == 8 and counts["taken"] > 0 and 0 < stepper.steps <= 400, (ended, counts, stepper.steps)
print("done", counts)
"""
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("done"), done.stderr[-2000:]


def test_the_end_time_of_a_stepper_is_kept() -> None:
    stepper = hinge().stepper(end_time=0.01, step=3e-3)
    with pytest.raises(kreisel.StepError, match="beyond the end of the stepper"):
        stepper.advance(0.02)
    assert stepper.time == 0
    copy = stepper.copy()
    times = [stepper.advance() for _ in range(4)]
    assert times == pytest.approx([3e-3, 6e-3, 9e-3, 1e-2])
    with pytest.raises(kreisel.StepError, match="is at its end"):
        stepper.advance()
    with pytest.raises(kreisel.StepError, match="beyond the end"):
        copy.advance(0.02)
    assert copy.advance(0.01) == pytest.approx(0.01)
    sent = pickle.loads(pickle.dumps(stepper))
    with pytest.raises(kreisel.StepError, match="is at its end"):
        sent.advance()
    stepper.reset()
    assert stepper.advance() == pytest.approx(3e-3)
    # Without one there is none.
    assert hinge().stepper(step=3e-3).advance(0.02) == pytest.approx(0.02)


@pytest.mark.parametrize("method", ["Nelder-Mead", "L-BFGS-B", "differential-evolution"])
def test_an_exception_of_the_user_comes_out_of_a_search_as_itself(method: str) -> None:
    pytest.importorskip("scipy")
    calls = [0]

    def fails(t: float) -> float:
        calls[0] += 1
        if calls[0] > 60:
            raise ValueError("a mistake of the user")
        return 0.0

    model = hinge().parameters(m=1)
    model.function("f", fails, arguments=["t"])
    model.force("air", body="bob", force=["f", 0, "m"])
    with pytest.raises(ValueError, match="a mistake of the user"):
        kreisel.minimize(model, {"m": "1:2"}, "max(bob.position.z)", method=method, end_time=0.01, step=1e-3)


def test_what_a_search_does_not_take_is_an_argument_error() -> None:
    pytest.importorskip("scipy")
    with pytest.raises(kreisel.ArgumentError, match="`method` must be the name of one, not 0"):
        kreisel.minimize(hinge().parameters(m=1), {"m": "1:2"}, "max(bob.position.z)", method=0, end_time=0.01)  # type: ignore[arg-type]
    with pytest.raises(kreisel.ArgumentError, match="`start` must be a dict"):
        kreisel.minimize(hinge().parameters(m=1), {"m": "1:2"}, "max(bob.position.z)", start=[1], end_time=0.01)  # type: ignore[arg-type]
    for method in ["Nelder-Mead", "differential-evolution"]:
        with pytest.raises(kreisel.ArgumentError, match="SciPy does not take"):
            kreisel.minimize(hinge().parameters(m=1), {"m": "1:2"}, "max(bob.position.z)", method=method, end_time=0.01, step=1e-3,
                             options={"maxiter": "x"})  # fmt: skip


def test_functions_are_called_at_times_of_the_run_only() -> None:
    times: list[float] = []
    model = hinge()
    model.function("drag", lambda t, x: times.append(t) or -x, arguments=["t", "bob.position.x"])  # type: ignore[func-returns-value]
    model.force("air", body="bob", force=["drag", 0, 0])
    for settings in ({"step": 1e-3}, {}, {"rtol": 1e-5}, {"step": 1e-3, "method": "index3"}):
        times.clear()
        model.simulate(end_time=0.04, **settings)
        assert min(times) >= 0 and max(times) <= 0.04 * (1 + 1e-12), (settings, min(times), max(times))


def test_an_exception_at_the_first_time_is_that_of_the_user() -> None:
    model = hinge()

    def only_inside(t: float) -> float:
        if not 0 <= t <= 0.02 * (1 + 1e-12):
            raise ValueError(f"asked at {t}")
        return 0.0

    model.function("f", only_inside, arguments=["t"])
    model.force("air", body="bob", force=["f", 0, 0])
    assert model.simulate(end_time=0.02, step=1e-3).status == "done"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float32("nan"), np.float64("inf")])
def test_settings_that_are_no_numbers_are_named(value: float) -> None:
    with pytest.raises(kreisel.ModelError, match="`end_time` must be a finite number"):
        hinge().simulate(end_time=value, step=1e-3)


def test_counts_are_whole_numbers_of_any_type_and_no_others() -> None:
    assert len(hinge().modes(count=np.int64(1))) <= 1  # type: ignore[arg-type]
    for count in (-1, 10**30, 2.5):
        with pytest.raises(kreisel.ArgumentError, match="`count` must be a whole number"):
            hinge().modes(count=count)  # type: ignore[arg-type]
    varied = hinge().parameters(length=1)
    for threads in (-1, 10**30):
        with pytest.raises(kreisel.ArgumentError, match="`threads` must be a whole number"):
            kreisel.sweep(varied, {"length": [1, 2]}, "min(bob.position.z)", threads=threads, end_time=0.01, step=1e-3)


def test_a_step_that_is_longer_than_the_run_is_refused() -> None:
    with pytest.raises(kreisel.Error, match="step"):
        hinge().simulate(end_time=0.1, step=1e6)


def test_bytes_are_no_values() -> None:
    with pytest.raises(kreisel.ArgumentError, match="not over bytes"):
        kreisel.sweep(hinge().parameters(length=1), {"length": b"12"}, "min(bob.position.z)", end_time=0.01)


def test_files_that_cannot_be_written_raise_what_the_package_promises(tmp_path: Path) -> None:
    with pytest.raises(kreisel.WriteError, match="cannot write"):
        hinge().write(tmp_path / "nowhere" / "m.toml")
    (tmp_path / "file").write_text("x")
    with pytest.raises(kreisel.WriteError, match="cannot write"):
        kreisel.sweep(
            hinge().parameters(length=1), {"length": [1, 2]}, "min(bob.position.z)", out=tmp_path / "file" / "x", end_time=0.01, step=1e-3
        )


def test_a_sweep_leaves_checksums_and_follows_no_link(tmp_path: Path) -> None:
    import json

    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("sweep.csv.part", "sweep.json.part", "sweep.csv", "sweep.json"):
        (out / name).symlink_to(precious)
    kreisel.sweep(hinge().parameters(length=1), {"length": [1, 2]}, "min(bob.position.z)", out=out, end_time=0.01, step=1e-3)
    assert precious.read_text() == "precious"
    summary = json.loads((out / "sweep.json").read_text())
    assert summary["crc32"] == {"sweep.csv": f"{zlib.crc32((out / 'sweep.csv').read_bytes()):08x}"}


def test_inputs_take_effect_together_and_a_refused_one_leaves_the_value_before() -> None:
    model = hinge()
    for name in ("a", "b"):
        model.input(name)
    model.joint_force(joint="hinge", torque="a + b + 1e-9/(5 - a)")
    stepper = model.stepper(step=1e-3)
    stepper["a"], stepper["b"] = 1.0, 2.0
    assert stepper["a"] == 1.0 and stepper["b"] == 2.0
    stepper.advance()
    stepper["a"] = 5.0
    with pytest.raises(kreisel.Error):
        stepper.advance()
    assert stepper["a"] == 1.0
    assert stepper.advance() == pytest.approx(2e-3)


def test_ten_inputs_cost_about_as_much_as_one() -> None:
    import time

    model = hinge()
    for number in range(10):
        model.input(f"u{number}")
    model.joint_force(joint="hinge", torque=" + ".join(f"u{number}" for number in range(10)))

    def seconds(changed: int) -> float:
        stepper = model.stepper(step=1e-3)
        best = float("inf")
        for _ in range(5):
            began = time.thread_time()
            for step in range(100):
                for number in range(changed):
                    stepper[f"u{number}"] = 0.01 * (step % 7) + number
                stepper.advance()
            best = min(best, time.thread_time() - began)
        return best

    # Ten restarts took five times as long as one.
    assert seconds(10) < 2 * seconds(1)


def test_coordinates_that_are_none_are_refused() -> None:
    with pytest.raises(kreisel.ArgumentError, match="the coordinates must be numbers"):
        hinge().dynamics().jacobian(None, "bob")  # type: ignore[arg-type]


def test_random_calls_raise_what_is_promised_and_nothing_else() -> None:
    for seed in range(300):
        fuzz.one(fuzz.Seeded(seed))


def owned(told: list[str]) -> weakref.ref[Any]:
    """An owner of a stepper whose model calls a function of the owner; it tells where the stepper stands at its end."""

    class Owner:
        def __init__(self) -> None:
            model = hinge()
            model.function("drag", self.drag, arguments=["bob.velocity.z"])
            model.force("air", body="bob", force=["drag", 0, 0])
            self.stepper = model.stepper(step=1e-3)
            self.stepper.advance()

        def drag(self, v: float) -> float:
            return -v

        def __del__(self) -> None:
            told.append(repr(self.stepper))

    return weakref.ref(Owner())


def test_a_stepper_that_is_part_of_a_circle_is_collected() -> None:
    told: list[str] = []
    gone = owned(told)
    gc.collect()
    assert gone() is None and told == ["<kreisel.Stepper at 0.001 s>"]
