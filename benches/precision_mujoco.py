"""Work against precision of MuJoCo: RK4 in joint coordinates, one thread, without constraints and contacts.

The machines of benches/precision_reference.json that have no loops and no beams: loops are closed by soft constraints
there, so that no step leads to the motion of the machine.
"""
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco  # noqa: E402  (the number of threads must be set first)
import numpy as np  # noqa: E402

from precision_common import cannot, error_at_end, ladder, powers_of_two, references, request  # noqa: E402

STANDARD_GRAVITY = 9.80665


def empty(gravity):
    return mujoco.MjSpec.from_string(
        f'<mujoco><option integrator="RK4" gravity="{" ".join(map(str, gravity))}">'
        '<flag contact="disable" constraint="disable"/></option><worldbody/></mujoco>')


def box(mass, x, y, z):
    return [mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12]


def chain(joint, count):
    length, width = 0.1, 0.05
    tilt = 0.3 if joint == mujoco.mjtJoint.mjJNT_BALL else 0.0
    spec = empty([0, -9.81 * np.cos(tilt), -9.81 * np.sin(tilt)])
    body = spec.worldbody
    for index in range(count):
        body = body.add_body(pos=[length if index else 0, 0, 0], mass=1, ipos=[0.5 * length, 0, 0],
                             inertia=box(1, length, width, width), explicitinertial=True)
        body.add_joint(type=joint, axis=[0, 0, 1])
    return spec.compile(), None


def heavy_top():
    spec = empty([0, 0, -9.81])
    body = spec.worldbody.add_body(mass=15, ipos=[0, 1, 0], inertia=[0.234375, 0.46875, 0.234375], explicitinertial=True)
    body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    return spec.compile(), [0, 150, -4.61538]


def free_body():
    spec = empty([0, 0, 0])
    body = spec.worldbody.add_body(mass=1, inertia=box(1, 0.3, 0.2, 0.05), explicitinertial=True)
    body.add_freejoint()
    return spec.compile(), [0, 0, 0, 0.1, 10, 0]


def pendulum():
    spec = empty([0, 0, -STANDARD_GRAVITY])
    body = spec.worldbody.add_body(mass=1, ipos=[0.5, 0, 0], inertia=[1e-6, 1 / 12, 1 / 12], explicitinertial=True)
    body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    return spec.compile(), None


BALL, HINGE = mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_HINGE
# Machine, how it is built, first number of steps.
MACHINES = [
    ("heavy-top", heavy_top, 64),
    ("free-body", free_body, 64),
    ("free-body-energy", free_body, 1024),
    ("pendulum-100-periods", pendulum, 1024),
    ("pendulum-1000-s", pendulum, 4096),
    ("chain-10-balls", lambda: chain(BALL, 10), 32),
    ("chain-7-hinges", lambda: chain(HINGE, 7), 32),
]
LOOPS = ["slider-crank", "four-bar"]
BEAMS = ["right-angle-beam", "flexible-four-bar"]


def main():
    asked = request()
    exact = references()
    for machine, build, first in MACHINES:
        if asked.machines and machine not in asked.machines:
            continue
        model, speeds = build()
        reference = exact[machine]

        def run(steps):
            model.opt.timestep = reference["end"] / steps
            data = mujoco.MjData(model)
            if speeds is not None:
                data.qvel[:] = speeds
            start = time.process_time()
            mujoco.mj_step(model, data, steps)
            seconds = time.process_time() - start
            mujoco.mj_forward(model, data)
            if "energy" in reference:
                turning = data.qvel[3:] ** 2 @ model.body_inertia[1] / 2
                return seconds, error_at_end(reference, turning + data.qvel[:3] @ data.qvel[:3] / 2)
            return seconds, error_at_end(reference, (data.xipos[1:], data.ximat[1:].reshape(-1, 3, 3)))

        ladder(machine, "mujoco", asked.errors, powers_of_two(first), run)
    for machines, why in [(LOOPS, "loops are closed by soft constraints"), (BEAMS, "there are no such beams")]:
        for machine in machines:
            if not asked.machines or machine in asked.machines:
                cannot(machine, "mujoco", why)


if __name__ == "__main__":
    main()
