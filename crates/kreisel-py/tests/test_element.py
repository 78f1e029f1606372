"""Kinds of parts that are classes in Python, against closed forms and parts of the model."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import kreisel
import numpy as np
import pytest

G = 9.80665


class Drag(kreisel.Element):
    """Air drag that grows with the square of the speed."""

    turns = False
    coefficient: float

    def wrench(self, time: float, position: Any, rotation: Any, velocity: Any, angular_velocity: Any) -> Any:
        return -self.coefficient * np.linalg.norm(velocity) * velocity


class Compass(kreisel.Element):
    """Turns the x axis of a body towards that of the world, against a brake, and pulls the body back."""

    strength: float
    brake: float = 0.0
    pull: float = 0.0

    def wrench(self, time: float, position: Any, rotation: Any, velocity: Any, angular_velocity: Any) -> Any:
        torque = self.strength * np.cross(rotation[:, 0], [1, 0, 0]) - self.brake * angular_velocity
        return -self.pull * position, torque


def falling(coefficient: float = 0.01) -> kreisel.Model:
    model = kreisel.Model("falling")
    model.body("ball", mass=0.1, inertia=[1e-4, 1e-4, 1e-4])
    return model.add(Drag("air", body="ball", coefficient=coefficient))


def test_a_ball_falls_with_the_drag_of_the_closed_form() -> None:
    model = falling()
    model.sensor(quantity="velocity", of="ball")
    model.sensor("lost", of="air", quantity="power")
    result = model.simulate(end_time=2, step=1e-3)
    # v = w tanh(g t/w) with the limit w = √(m g/c).
    limit = np.sqrt(0.1 * G / 0.01)
    speed = limit * np.tanh(G * result.time / limit)
    # (g h/w)² of a method of second order, 1e-6 of the speed.
    assert np.abs(result["ball.velocity.z"] + speed).max() < 1e-5
    assert np.abs(result["air.force.z"] - 0.01 * speed**2).max() < 1e-5
    assert np.abs(result["lost.power"] + 0.01 * speed**3).max() < 1e-4


def turning(part: str) -> kreisel.Model:
    model = kreisel.Model("needle").gravity(acceleration=[0, 0, 0])
    model.body("needle", mass=1, inertia=[0.1, 0.2, 0.3], position=[0.5, 0, 0])
    model.revolute("hinge", bodies=["ground", "needle"], point=[0, 0, 0], axis=[0, 0, 1], angle=2.5, rate=6)
    if part == "python":
        model.add(Compass("earth", body="needle", strength=3, brake=0.2))
    else:
        model.joint_force(joint="hinge", torque="-3*sin(hinge.angle) - 0.2*hinge.rate")
    return model


def test_a_torque_follows_rotation_and_angular_velocity_through_many_turns() -> None:
    own, known = (turning(part).simulate(end_time=3, step=1e-3) for part in ("python", "model"))
    assert own["hinge.angle"].max() > 2 * np.pi
    # Newton ends at 1e-10; the derivatives decide on its way only.
    assert np.abs(own["hinge.angle"] - known["hinge.angle"]).max() < 1e-7
    torque = -3 * np.sin(own["hinge.angle"]) - 0.2 * own["hinge.angle-rate"]
    assert np.abs(own["earth.torque.z"] - torque).max() < 1e-9
    counts = [run.statistics["newton-iterations"] for run in (own, known)]
    assert counts[0] <= 1.05 * counts[1]


def test_it_acts_at_a_marker_and_in_space() -> None:
    model = kreisel.Model("rod").gravity(acceleration=[0, 0, 0])
    model.body("rod", mass=2, inertia=[0.1, 0.2, 0.3], position=[0, 0, 0], angular_velocity=[0.3, 2, 1])
    model.marker("tip", body="rod", position=[0.4, 0, 0])
    same = model.copy()
    model.add(Compass("pull", body="rod.tip", strength=0, pull=5))
    same.force("pull", body="rod.tip", force=[f"-5*rod.tip.position.{axis}" for axis in "xyz"])
    own, known = (one.simulate(end_time=1, step=1e-3) for one in (model, same))
    assert np.abs(own["rod.position"] - known["rod.position"]).max() < 1e-8
    assert np.abs(own["rod.position"]).max() > 0.1


def test_dynamics_modes_and_statics_know_it() -> None:
    model = turning("python")
    assert model.dynamics().inverse([0.7], [0.3], [0.0])[0] == pytest.approx(3 * np.sin(0.7) + 0.2 * 0.3, abs=1e-9)


def test_states_go_on_to_the_same_bits() -> None:
    stepper = falling().stepper(step=1e-2)
    stepper.advance(0.5)
    state = stepper.state()
    stepper.advance(1.0)
    once = stepper["ball.position.z"]
    stepper.set_state(state)
    stepper.advance(1.0)
    assert stepper["ball.position.z"] == once


def test_models_with_it_pickle() -> None:
    model = falling()
    again = pickle.loads(pickle.dumps(model))
    first, second = (one.simulate(end_time=0.5, step=1e-2)["ball.position.z"] for one in (model, again))
    assert (first == second).all()


class Failing(Drag):
    def wrench(self, time: float, position: Any, rotation: Any, velocity: Any, angular_velocity: Any) -> Any:
        if time > 0.05:
            raise RuntimeError("no wind any more")
        return [0, 0, 0]


class Crooked(kreisel.Element):
    given: Any

    def __init__(self, given: Any) -> None:
        super().__init__("crooked", body="ball", given=0.0)
        self.given = given

    def wrench(self, time: float, position: Any, rotation: Any, velocity: Any, angular_velocity: Any) -> Any:
        return self.given


def ball(element: kreisel.Element) -> kreisel.Model:
    model = kreisel.Model("ball")
    model.body("ball", mass=1, inertia=[1, 1, 1])
    return model.add(element)


def test_exceptions_come_out_of_runs() -> None:
    with pytest.raises(RuntimeError, match="no wind"):
        ball(Failing("air", body="ball", coefficient=1)).simulate(end_time=1, step=1e-2)
    for given, words in [([1, 2, 3], "a force and a torque"), (([1, 2], [0, 0, 0]), "force of `crooked`"), (([1, 2, 3], 1), "torque of")]:
        with pytest.raises(kreisel.ArgumentError, match=words):
            ball(Crooked(given)).simulate(end_time=1, step=1e-2)
    with pytest.raises(kreisel.Error):
        ball(Crooked(([np.nan, 0, 0], [0, 0, 0]))).simulate(end_time=1, step=1e-2)


def test_keys_are_checked() -> None:
    assert Drag.keys == {"coefficient": None}
    assert Compass.keys == {"strength": None, "brake": 0.0, "pull": 0.0}
    assert Failing.keys == Drag.keys
    with pytest.raises(kreisel.ArgumentError, match="no key `coeficient`; do you mean `coefficient`"):
        Drag("air", body="ball", coeficient=1)
    with pytest.raises(kreisel.ArgumentError, match="needs the key `coefficient`"):
        Drag("air", body="ball")
    for wrong in (float("nan"), "3 N", True):
        with pytest.raises(kreisel.ArgumentError, match="finite number"):
            Drag("air", body="ball", coefficient=wrong)  # type: ignore[arg-type]
    with pytest.raises(kreisel.ArgumentError, match="Element"):
        kreisel.Model("empty").add("drag")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wrench"):
        kreisel.Element("nothing", body="ball")  # type: ignore[abstract]
    with pytest.raises(kreisel.ModelError, match="nobody"):
        ball(Drag("air", body="nobody", coefficient=1)).check()


def test_machines_do_not_keep_elements_alive() -> None:
    element = Drag("air", body="ball", coefficient=1)
    watched = weakref.ref(element)
    stepper = ball(element).stepper(step=1e-2, end_time=1)
    stepper.advance(0.1)
    del element, stepper
    gc.collect()
    assert watched() is None
