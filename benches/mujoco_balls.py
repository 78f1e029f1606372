"""Falling balls in MuJoCo: those of `models/settling-balls.toml`, with contacts as stiff and as damped.

Steps of 0.5 ms, one thread, and of MuJoCo's three solvers the fastest in each part of the motion. Prints how long a step takes in each
fortieth of a second, and on standard error how many contacts there are; `cargo bench --package kreisel --bench balls` prints the same of Kreisel.
"""
import math
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco  # noqa: E402  (the number of threads must be set first)

from peer_common import report, request  # noqa: E402

STEP, STEPS, PARTS, COUNT = 5e-4, 50, 6, 1000
RADIUS, SIDE, PITCH = 0.02, 4, 0.044
HALF = SIDE * PITCH / 2
STIFFNESS, DAMPING = 20e3, 20
WALLS = [((0, 0, 0), (0, 0, 1))] + [
    (tuple(sign * HALF if axis == i else 0 for i in range(3)), tuple(-sign if axis == i else 0 for i in range(3)))
    for axis in (0, 1) for sign in (-1, 1)]


def words(numbers):
    return " ".join(map(str, numbers))


def model(count, solver):
    def ball(i):
        place = ((i % SIDE - (SIDE - 1) / 2) * PITCH + 0.002 * math.sin(7 * i),
                 (i // SIDE % SIDE - (SIDE - 1) / 2) * PITCH + 0.002 * math.cos(5 * i),
                 RADIUS + 0.01 + i // SIDE**2 * PITCH)
        return f'<body pos="{words(place)}"><freejoint/><geom type="sphere" size="{RADIUS}" density="2500"/></body>'
    planes = [f'<geom type="plane" size="0 0 1" pos="{words(p)}" zaxis="{words(z)}"/>' for p, z in WALLS]
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" solver="{solver}" gravity="0 0 -9.81"/><size memory="2G"/>'
        f'<default><geom solref="{-STIFFNESS} {-DAMPING}" condim="3" friction="0.3 0 0"/></default>'
        f'<worldbody>{"".join(planes)}{"".join(map(ball, range(count)))}</worldbody></mujoco>')


def main():
    request()
    compiled = [model(COUNT, solver) for solver in ("CG", "Newton", "PGS")]
    data = [mujoco.MjData(each) for each in compiled]
    for _ in range(PARTS):
        times = []
        for each, state in zip(compiled, data):
            start = time.process_time()
            mujoco.mj_step(each, state, STEPS)
            times.append(time.process_time() - start)
        report(f"falling-balls-{COUNT}-{data[0].time:.3f}", "mujoco", min(times), STEPS, float("nan"))
        print(f"{data[0].ncon} contacts", file=sys.stderr)


if __name__ == "__main__":
    main()
