"""The chains in MuJoCo: joint coordinates instead of constraints, so a different kind of method without reactions.

RK4, one thread. The inertia matrix of a chain is dense in joint coordinates, so the cost grows faster than the
number of links; from a thousand links on a run would take minutes and is left out, and said so.
"""
import json
import os
import pathlib
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco  # noqa: E402  (the number of threads must be set first)
import numpy as np  # noqa: E402

from peer_common import cannot, report, request  # noqa: E402

STEP, END_TIME = 1e-3, 1.0
LENGTH, WIDTH, MASS = 0.1, 0.05, 1.0
CASES = [("spherical", 10, 1000), ("spherical", 100, 100), ("revolute", 100, 1000)]
TOO_LONG = ["chain-spherical-1000", "chain-spherical-4000", "chain-revolute-1000", "chain-revolute-10000"]


def model(joint, count):
    tilt = 0.3 if joint == "spherical" else 0.0
    gravity = f"0 {-9.81 * np.cos(tilt)} {-9.81 * np.sin(tilt)}"
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><option timestep="{STEP}" integrator="RK4" gravity="{gravity}">'
        '<flag contact="disable" constraint="disable"/></option><worldbody/></mujoco>')
    kind = mujoco.mjtJoint.mjJNT_BALL if joint == "spherical" else mujoco.mjtJoint.mjJNT_HINGE
    inertia = [MASS * 2 * WIDTH**2 / 12] + 2 * [MASS * (WIDTH**2 + LENGTH**2) / 12]
    body = spec.worldbody
    for index in range(count):
        body = body.add_body(pos=[LENGTH if index else 0, 0, 0], mass=MASS, ipos=[0.5 * LENGTH, 0, 0],
                             inertia=inertia, explicitinertial=True)
        body.add_joint(type=kind, axis=[0, 0, 1])
    body.add_site(name="tip", pos=[LENGTH, 0, 0])
    return spec.compile()


def main():
    asked = request()
    exact = json.loads(pathlib.Path(__file__).with_name("chain_reference.json").read_text())
    for joint, count, steps in CASES:
        benchmark = f"chain-{joint}-{count}"
        if asked.benchmarks and benchmark not in asked.benchmarks:
            continue
        compiled = model(joint, count)
        for _ in range(asked.runs):
            data = mujoco.MjData(compiled)
            start = time.process_time()
            mujoco.mj_step(compiled, data, steps)
            seconds = time.process_time() - start
            mujoco.mj_forward(compiled, data)
            # An error belongs to the end time; a shorter run has none.
            whole = steps == round(END_TIME / STEP)
            error = np.linalg.norm(data.site("tip").xpos - exact[f"{joint}-{count}"]) if whole else float("nan")
            report(benchmark, "mujoco", seconds, steps, error)
    for benchmark in TOO_LONG:
        cannot(benchmark, "mujoco", "the inertia matrix in joint coordinates is dense: minutes a run")


if __name__ == "__main__":
    main()
