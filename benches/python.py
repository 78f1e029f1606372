"""What the Python package promises of its own cost: `cargo xtask bench-python`.

Times are of the CPU where one thread works, so that what else the computer does counts little; where all cores work, both CPU and
wall time are printed, with the load of the computer. Numbers of the book come from here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kreisel
import numpy as np
from kreisel import _cluster
from kreisel._sweep import Request

TOP = Path(__file__).parents[1] / "models" / "heavy-top.toml"
QUICK = "--quick" in sys.argv


def say(what: str, value: str) -> None:
    print(f"{what:58} {value}", flush=True)


def least(work: Callable[[], None], rounds: int = 5) -> float:
    """Least CPU time of this thread in s."""
    times = []
    for _ in range(rounds):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def stepper_overhead() -> None:
    """A step from Python beside a step of a run."""
    model = kreisel.Model.read(TOP)
    steps, step = 20_000, 1e-4
    run = least(lambda: model.simulate(end_time=steps * step, step=step, output_step=1, motion=False) and None)
    stepper = model.stepper(step=step)

    def walk() -> None:
        for _ in range(steps):
            stepper.advance()

    stepped = least(walk)
    say("a step of a run", f"{1e6 * run / steps:.2f} µs")
    say("a step by stepper.advance()", f"{1e6 * stepped / steps:.2f} µs")
    say("overhead of a step (promised: less than 2 µs)", f"{1e6 * (stepped - run) / steps:.2f} µs")
    read = least(lambda: [stepper["top.position.z"] for _ in range(steps)] and None)
    say("reading a signal", f"{1e6 * read / steps:.2f} µs")


def control_loop() -> None:
    """A robot with six motors under control from Python: at every millisecond 12 readings, and six inputs set."""
    text = (TOP.parent / "six-axis-robot.toml").read_text()
    # Its motors follow a way; here each is a torque from outside.
    tables = [table for table in text.split("\n[[") if not table.startswith("drive]]")]
    model = kreisel.Model.from_text("\n[[".join(tables), "robot")
    joints = [f"axis-{place}" for place in range(1, 7)]
    for place, joint in enumerate(joints):
        model.input(f"u{place}")
        model.joint_force(joint=joint, torque=f"u{place}")
    stepper = model.stepper(step="1 ms")
    names = [f"{joint}.{word}" for word in ("angle", "angle-rate") for joint in joints]
    # Poles at 20/s, by the masses where it is drawn.
    dynamics, rest = model.dynamics(joints), np.zeros(6)
    held, mass = dynamics.holding(rest), dynamics.mass_matrix(rest)
    cycles = 5_000 if not QUICK else 200

    def loop() -> None:
        for _ in range(cycles):
            seen = np.array([stepper[name] for name in names])
            stepper.set_inputs(held - mass @ (400 * seen[:6] + 40 * seen[6:]))
            stepper.advance()

    took = least(loop, 3)
    assert abs(stepper["axis-2.angle"]) < 0.01, "the controller holds the robot"
    say("1 kHz control, 6 inputs, 12 readings (promised: 20 times)", f"{1e-3 * cycles / took:.0f} times real time")


def function_ratio() -> None:
    """A force written in Python beside the same as an expression."""

    def oscillator() -> kreisel.Model:
        model = kreisel.Model("oscillator")
        model.gravity(acceleration=[0, 0, 0])
        return model.point_mass("mass", mass=2, position=[1, 0, 0])

    quick = oscillator().force("f", body="mass", force=["-50*mass.position.x - 20*mass.position.x^3 - 0.3*mass.velocity.x", 0, 0])
    slow = oscillator().function("pull", lambda x, v: -50 * x - 20 * x**3 - 0.3 * v,
                                 arguments=["mass.position.x", "mass.velocity.x"])
    slow.force("f", body="mass", force=["pull", 0, 0])
    steps = 5_000
    times = [least(lambda model=model: model.simulate(end_time=steps * 1e-3, step=1e-3, output_step=1, motion=False) and None)
             for model in (quick, slow)]
    say("a step with a force as an expression", f"{1e6 * times[0] / steps:.2f} µs")
    say("a step with a force in Python", f"{1e6 * times[1] / steps:.2f} µs")
    say("ratio of whole steps", f"{times[1] / times[0]:.1f}")


def throughput() -> None:
    """Many runs of a heavy top of a thousand steps, beside one run alone."""
    runs, cores = (500 if QUICK else 10_000), len(os.sched_getaffinity(0))
    model = kreisel.Model.read(TOP)
    request = Request(model, {"mass": f"10:20:{runs}"}, "max(top.position.z)", {"step": "1 ms"})
    checked = request.sweep()
    began, cpu = time.perf_counter(), time.process_time()
    alone = []
    for run in range(0, runs, max(1, runs // 100)):
        start = time.process_time()
        checked.batch(checked.points(run, run + 1).reshape(1, 1))
        alone.append(time.process_time() - start)
    single = statistics.median(alone)
    began, cpu = time.perf_counter(), time.process_time()
    kreisel.sweep(model, {"mass": f"10:20:{runs}"}, "max(top.position.z)", step="1 ms")
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    say("one run of 1000 steps alone (CPU)", f"{1e3 * single:.3f} ms")
    say(f"{runs} runs on {cores} cores", f"{wall:.2f} s wall, {cpu:.2f} s CPU, load {os.getloadavg()[0]:.1f}")
    say("of cores × speed of a run alone, by wall time", f"{100 * runs * single / (cores * wall):.1f} %")
    say("of cores × speed of a run alone, by CPU time", f"{100 * runs * single / cpu:.1f} %")


def cluster() -> None:
    """What a batch costs beside its runs, and what travels and is kept of a run."""
    import distributed

    model = kreisel.Model.read(TOP)
    runs = 20_000 if not QUICK else 2_000
    request = Request(model, {"mass": f"10:20:{runs}"}, "max(top.position.z)", {"step": "1 ms", "end_time": "1 ms"})
    checked = request.sweep()
    payload = _cluster.packed(request, checked)
    say("a model on its way to a worker", f"{len(payload)} bytes a batch")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                 "--scheduler-file", str(file)]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny",
                  "--no-dashboard", "--local-directory", folder]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes = [subprocess.Popen(words, **quiet) for words in (start, worker, worker)]  # type: ignore[call-overload]
        try:
            with distributed.Client(scheduler_file=str(file), timeout=60) as client:
                client.wait_for_workers(2, timeout=120)
                points = checked.points(0, 1).reshape(1, 1)
                count = 300
                began = time.perf_counter()
                futures = [client.submit(_cluster.run_batch, payload, points, pure=False) for _ in range(count)]
                seconds = [future.result()[2] for future in futures]
                each = (time.perf_counter() - began) / count
                say("a batch of one run of one step on 2 workers (wall)", f"{1e3 * each:.2f} ms, {1e3 * statistics.median(seconds):.2f} ms of it work")
                client.cancel(futures)
                began = time.perf_counter()
                result = kreisel.sweep(model, {"mass": f"10:20:{runs}"}, "max(top.position.z)", step="1 ms", end_time="1 ms",
                                       scheduler=client, out=Path(folder) / "out")
                wall = time.perf_counter() - began
                assert result.path is not None
                say(f"{runs} runs of one step on 2 workers", f"{wall:.2f} s, {1e6 * wall / runs:.0f} µs a run")
                say("a run in sweep.parquet", f"{result.path.stat().st_size / runs:.1f} bytes")
                say("a run in sweep.csv", f"{(result.path.parent / 'sweep.csv').stat().st_size / runs:.1f} bytes")
        finally:
            for process in processes:
                process.kill()
                process.wait()


def table_memory() -> None:
    """Memory and time of a table of a million runs, whose rows come from nowhere."""
    import resource

    import pyarrow.dataset  # noqa: F401  (its own memory does not count)
    import pyarrow.parquet  # noqa: F401
    from kreisel._tables import Table

    count = 1_000_000 if not QUICK else 50_000
    model = kreisel.Model.read(TOP)
    checked = Request(model, {"mass": "10:20"}, "max(top.position.z)", {}, sample=count, sampling="sobol").sweep()
    checked.count()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder), checked)
        for start in range(0, count, 200):
            table.add(start, np.zeros((min(200, count - start), 1)), {})
        table.finish()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    say(f"a table of {count} runs", f"{time.perf_counter() - began:.1f} s, {(after - before) / 1024:.0f} MB more at most")


if __name__ == "__main__":
    for part in (stepper_overhead, control_loop, function_ratio, throughput, cluster, table_memory):
        part()
