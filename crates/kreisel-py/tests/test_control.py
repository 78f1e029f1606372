"""Control loops: a regulator from the linear model, a six-axis arm at 1 kHz."""

from __future__ import annotations

import time

import kreisel
import numpy as np
from scipy.linalg import solve_continuous_are


def cart_pole() -> kreisel.Model:
    """A pole of 1 m that stands on a cart, which an input pushes along x."""
    model = kreisel.Model("cart-pole")
    model.input("push")
    model.body("cart", mass=1, inertia=[0.1, 0.1, 0.1])
    model.body("pole", mass=0.2, inertia=[0.02, 0.02, 0.001], position=[0, 0, 0.5])
    model.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
    model.revolute("hinge", bodies=["cart", "pole"], point=[0, 0, 0], axis=[0, 1, 0])
    model.joint_force(joint="rail", force="push")
    return model


def test_a_regulator_from_the_linear_model_keeps_a_pole_upright() -> None:
    model = cart_pole()
    dynamics = model.dynamics()
    linear = dynamics.linear([0.0, 0.0])
    a, b = linear.A, linear.B[:, [linear.inputs.index("push")]]
    # Upright it falls: m g l against the inertia about the hinge, with the cart giving way.
    assert np.linalg.eigvals(a).real.max() > 3 and np.abs(linear.offset).max() < 1e-12
    cost = solve_continuous_are(a, b, np.diag([10.0, 10, 1, 1]), np.eye(1))
    gain = (b.T @ cost)[0]
    stepper = model.stepper(step="2 ms", initial={"rail": 0.3, "hinge": 0.25})
    assert linear.states == [*stepper.coordinate_names, *(f"{name}-rate" for name in stepper.coordinate_names)]
    while stepper.time < 8:
        stepper["push"] = -gain @ np.concatenate([stepper.coordinates(), stepper.coordinate_rates()])
        stepper.advance()
    assert np.abs(stepper.coordinates()).max() < 1e-3
    # Without it the pole lies below the cart's height.
    stepper.reset()
    stepper.advance(2.0)
    assert abs(stepper["hinge.angle"]) > np.pi / 2


def six_axis_arm() -> kreisel.Model:
    """Masses and lengths of a small industrial arm; each axis has a motor."""
    model = kreisel.Model("arm")
    parts = [(4.0, 0.1, "z"), (8.4, 0.42, "y"), (2.3, 0.39, "y"), (1.2, 0.09, "y"), (1.2, 0.09, "z"), (0.3, 0.08, "y")]
    below, height = "ground", 0.0
    for i, (mass, length, axis) in enumerate(parts):
        spread = mass * length**2 / 12 + 1e-3
        model.input(f"motor_{i}")
        model.body(f"link-{i}", mass=mass, inertia=[spread] * 3, position=[0, 0, height + length / 2])
        model.revolute(f"axis{i}", bodies=[below, f"link-{i}"], point=[0, 0, height], axis=[0, int(axis == "y"), int(axis == "z")])
        model.joint_force(joint=f"axis{i}", torque=f"motor_{i} - 0.5*axis{i}.angle-rate")
        below, height = f"link-{i}", height + length
    return model


def computed_torque(steps: int, stepper: kreisel.Stepper, gain: np.ndarray) -> float:
    """A loop at 1 kHz that reads twelve numbers and sets six; gives the seconds of the processor that it took."""
    began = time.process_time()
    for step in range(steps):
        wanted = 0.3 * np.sin(np.arange(6) + 0.002 * step)
        q, v = stepper.coordinates(), stepper.coordinate_rates()
        stepper.set_inputs(gain * (wanted - q) - 0.1 * gain * v)
        stepper.advance()
    return time.process_time() - began


def test_a_six_axis_arm_is_controlled_at_1_khz_faster_than_it_moves() -> None:
    """In time of the processor, which others on the computer do not take."""
    stepper = six_axis_arm().stepper(step="1 ms", initial={f"axis{i}": 0.1 for i in range(6)})
    gain = np.array([80.0, 400, 200, 30, 8, 4])
    taken = computed_torque(300, stepper, gain)
    assert np.isfinite(stepper.coordinates()).all() and abs(stepper.time - 0.3) < 1e-9
    assert taken < 0.3, f"{0.3 / taken:.1f} times real time"
