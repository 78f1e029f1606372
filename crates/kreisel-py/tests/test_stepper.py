"""Stepping from outside: inputs, signals, the cost of a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import kreisel
import numpy as np
import pytest
from conftest import pendulum, wheel


def test_a_stepped_machine_goes_through_the_states_of_a_run() -> None:
    model = pendulum()
    result = model.simulate(end_time=0.1, step=1e-3)
    stepper = model.stepper(step=1e-3)
    angles = [stepper["hinge.angle"]]
    while stepper.time < 0.1 - 1e-9:
        stepper.advance()
        angles.append(stepper["hinge.angle"])
    assert stepper.steps == 100
    assert np.array_equal(angles, result["hinge.angle"])
    values = stepper.values(["hinge.angle", "energy.total", "energy.balance"])
    expected = [result[name][-1] for name in ("hinge.angle", "energy.total", "energy.balance")]
    assert np.array_equal(values, expected)


def test_an_input_is_a_torque_from_the_moment_it_is_set() -> None:
    stepper = wheel().stepper(step=1e-2)
    stepper.advance(0.5)
    assert stepper["shaft.rate"] == 0 and stepper["motor"] == 0
    stepper["motor"] = 4.0
    stepper.advance(1.0)
    stepper["motor"] = -2.0
    stepper.advance(2.0)
    # 4 Nm for half a second, then −2 Nm for one, on 2 kg m²: forces constant between settings are met exactly.
    assert stepper["shaft.rate"] == pytest.approx(0.0, abs=1e-12)
    # The angle of two parabolas: 1/4 · 4/2 · 1/2 … = 0.25 + (1 · 1 − 1/2).
    assert stepper["shaft.angle"] == pytest.approx(0.25 + 0.5, abs=1e-12)
    assert stepper["energy.work"] == pytest.approx(4 * 0.25 - 2 * 0.5, abs=1e-9)


def test_a_held_controller_is_met_with_the_order_of_its_hold() -> None:
    """ω̇ = 2 (1 − ω) with the torque held over each step: ω_n = 1 − (1 − 2 h)ⁿ exactly."""
    stepper = wheel().stepper(step=1e-2)
    for _ in range(50):
        stepper["motor"] = 4 * (1 - stepper["shaft.rate"])
        stepper.advance()
    assert stepper["shaft.rate"] == pytest.approx(1 - (1 - 2e-2) ** 50, abs=1e-12)


def per_wind(time: Any) -> Any:
    """Solution of 2 v̇ = 2 u − 4 v for u = 1."""
    return (1 - np.exp(-2 * time)) / 2


def test_inputs_are_in_forces_of_bodies_beside_measured_quantities() -> None:
    model = kreisel.Model("cart")
    model.input("wind", value=3)
    model.point_mass("cart", mass=2)
    model.gravity(acceleration=[0, 0, 0])
    model.force("air", body="cart", force=["2*wind - 4*cart.velocity.x", 0, "0*wind"])
    model.sensor(quantity="velocity", of="cart")
    result = model.simulate(end_time=1, step=1e-3)
    assert np.abs(result["cart.velocity.x"] - 3 * per_wind(result.time)).max() < 1e-6
    stepper = model.stepper(step=1e-3)
    stepper["wind"] = 5
    stepper.advance(1.0)
    assert stepper["cart.velocity.x"] == pytest.approx(5 * per_wind(1.0), abs=1e-6)


def test_an_input_in_an_event_moves_the_place_at_which_it_happens() -> None:
    model = kreisel.Model("cart")
    model.input("wall", value=1)
    model.point_mass("cart", mass=2, velocity=[1, 0, 0])
    model.gravity(acceleration=[0, 0, 0])
    model.event("hit", zero_of="cart.position.x - wall", stop=True)
    # 1 m/s: the wall is reached after as many seconds as it is metres away.
    events = model.simulate(end_time=3, step=1e-2).events
    assert [name for _, name in events] == ["hit"] and events[0][0] == pytest.approx(1.0, abs=1e-8)
    stepper = model.stepper(step=1e-2)
    stepper["wall"] = 2.5
    assert stepper["wall"] == 2.5
    stepper.advance(3.0)
    assert stepper.time == pytest.approx(2.5, abs=1e-8)


def flying_beam(force: str) -> kreisel.Model:
    """A beam of 10 kg/m that nothing holds, under a load per length."""
    model = kreisel.Model("wing")
    model.gravity(acceleration=[0, 0, 0])
    model.input("wind")
    model.point_mass("ball", mass=1)
    section = {"shape": "rectangle", "width": 0.1, "height": 0.1, "youngs_modulus": 1e9, "poisson_ratio": 0.3, "density": 1000}
    model.beam("wing", from_=[0, 0, 0], to=[2, 0, 0], elements=2, section=section, load={"force": [0, 0, force]})
    return model.sensor(quantity="velocity", of="wing.at-0.5")


def test_an_input_is_a_load_of_a_beam() -> None:
    stepper = flying_beam("30*wind").stepper(step=1e-2)
    stepper.advance(0.2)
    assert stepper["wing.at-0.5.velocity.z"] == 0
    stepper["wind"] = 2.0
    stepper.advance(0.7)
    # 60 N/m on 10 kg/m for half a second; load and mass are spread alike, so that nothing bends.
    assert stepper["wing.at-0.5.velocity.z"] == pytest.approx(3.0, rel=1e-9)
    with pytest.raises(kreisel.ModelError, match="of time and inputs only"):
        flying_beam("30*wind - ball.position.z").check()


def test_an_input_in_a_prescribed_motion_is_refused_with_the_reason() -> None:
    model = wheel()
    model.drive("d", joint="shaft", angle="motor*t")
    with pytest.raises(kreisel.ModelError, match="it is an input, which may jump"):
        model.check()


def test_an_input_that_nothing_uses_keeps_its_value_all_the_same() -> None:
    model = pendulum()
    model.input("idle", value=3)
    assert any("nothing uses the input `idle`" in warning for warning in model.check())
    stepper = model.stepper(step=1e-2)
    stepper["idle"] = 4
    stepper.advance()
    assert stepper["idle"] == 4


def test_wrong_names_and_numbers_are_refused() -> None:
    stepper = wheel().stepper(step=1e-2)
    with pytest.raises(KeyError, match="motor"):
        stepper["moter"] = 1.0
    with pytest.raises(KeyError, match="no signal"):
        stepper["shaft.speed"]
    for value in (float("nan"), float("inf")):
        with pytest.raises(kreisel.ArgumentError):
            stepper["motor"] = value
    with pytest.raises(TypeError):
        stepper["motor"] = "much"  # type: ignore[assignment]
    stepper.advance(0.1)
    for until in (0.05, float("nan"), float("inf"), -1.0):
        with pytest.raises(kreisel.StepError):
            stepper.advance(until)
    assert stepper.time == pytest.approx(0.1) and stepper["motor"] == 0.0
    with pytest.raises(kreisel.ModelError):
        wheel().stepper()


def test_a_stepper_meets_corners_of_the_inputs_far_beyond_its_first_window() -> None:
    model = wheel()
    # On for a tenth of each second, 0.05 rad/s each: corners without end.
    model.joint_force(joint="shaft", torque="if(mod(t, 1) < 0.1, 1, 0)")
    stepper = model.stepper(step="7 ms")
    stepper.advance(20.0)
    assert stepper["shaft.rate"] == pytest.approx(20 * 0.05, abs=1e-9)


def test_a_step_costs_little_more_than_a_step_of_a_run() -> None:
    """The promise is 2 µs a step in a release build; here the guard is against the work itself, in CPU time."""
    model = pendulum()
    steps = 20_000
    began = time.thread_time()
    model.simulate(end_time=steps * 1e-4, step=1e-4, output_step=1, motion=False)
    run = (time.thread_time() - began) / steps
    stepper = model.stepper(step=1e-4)
    began = time.thread_time()
    for _ in range(steps):
        stepper.advance()
    stepped = (time.thread_time() - began) / steps
    assert stepped < 2 * run + 20e-6, f"{1e6 * stepped:.2f} µs against {1e6 * run:.2f} µs"


def test_an_exception_of_a_function_comes_with_the_inputs_that_cause_it() -> None:
    """And not with the next good step."""
    model = wheel()
    model.input("current")

    def motor(current: float) -> float:
        if current > 4:
            raise LookupError("the table ends at 4 A")
        return 3.0 * current

    model.function("motor-torque", motor, arguments=["current"])
    model.joint_force(joint="shaft", torque="motor-torque")
    asks: list[Callable[[kreisel.Stepper], Any]] = [
        lambda stepper: stepper["shaft.rate"],
        lambda stepper: stepper.values(["shaft.rate"]),
        lambda stepper: stepper.coordinates(),
        lambda stepper: stepper.state(),
        lambda stepper: stepper.copy(),
        lambda stepper: stepper.advance(),
    ]
    for ask in asks:
        stepper = model.stepper(step=1e-2)
        stepper["current"] = 2.0
        stepper.advance(0.1)
        stepper["current"] = 5.0
        with pytest.raises(LookupError, match="ends at 4 A"):
            ask(stepper)
        # The input before is back, and nothing is left of the other.
        assert stepper["current"] == 2.0
        assert stepper.advance(0.2) == pytest.approx(0.2, abs=1e-12)
