"""States of steppers: kept, taken up again, copied, sent to other processes; vectors and poses as arrays."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path

import kreisel
import numpy as np
import pytest
from conftest import pendulum, wheel

SIGNALS = ["hinge.angle", "hinge.angle-rate", "energy.total", "energy.work", "bob.acceleration.z"]


def driven() -> kreisel.Model:
    """A pendulum with a motor, friction and an event: a state with sums, turns and inputs."""
    model = pendulum()
    model.input("motor")
    model.joint_force(joint="hinge", torque="motor - 0.02*hinge.angle-rate")
    model.event("low", zero_of="hinge.angle - 1")
    model.sensor(quantity="acceleration", of="bob")
    return model


def go(stepper: kreisel.Stepper, steps: int) -> np.ndarray:
    rows = []
    for step in range(steps):
        stepper["motor"] = 30.0 * ((stepper.steps // 20) % 2)
        stepper.advance()
        rows.append([stepper[name] for name in SIGNALS])
    return np.array(rows)


@pytest.mark.parametrize("settings", [{"step": 2e-3}, {"end_time": 2, "rtol": 1e-4}, {"step": 2e-3, "method": "bdf2"}])
def test_a_machine_goes_on_from_a_state_to_the_same_bits(settings: dict[str, object]) -> None:
    stepper = driven().stepper(**settings)  # type: ignore[arg-type]
    go(stepper, 50)
    state = stepper.state()
    assert state.time == stepper.time
    first = go(stepper, 100)
    events = stepper.events
    stepper.set_state(state)
    assert stepper.time == state.time and stepper.state() == state
    assert np.array_equal(go(stepper, 100), first) and stepper.events == events
    other = driven().stepper(**settings)  # type: ignore[arg-type]
    other.set_state(pickle.loads(pickle.dumps(state)))
    assert np.array_equal(go(other, 100), first)


def test_a_reset_stepper_is_a_new_one() -> None:
    stepper = driven().stepper(step=1e-3)
    first = go(stepper, 60)
    stepper.reset()
    assert stepper.time == 0 and stepper.steps == 0 and stepper["motor"] == 0 and stepper.events == []
    assert np.array_equal(go(stepper, 60), first)


def test_copies_go_their_own_way() -> None:
    stepper = driven().stepper(step=1e-3)
    go(stepper, 30)
    for make in (kreisel.Stepper.copy, copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        stepper_before = stepper.values(SIGNALS)
        twin = make(stepper)
        assert twin.time == stepper.time and np.array_equal(twin.values(SIGNALS), stepper_before)
        go(twin, 5)
        assert twin.time > stepper.time and np.array_equal(stepper.values(SIGNALS), stepper_before)


def _advanced(stepper: kreisel.Stepper) -> float:
    stepper.advance(0.05)
    return float(stepper["hinge.angle"])


def test_steppers_go_to_other_processes() -> None:
    stepper = driven().stepper(step=1e-3)
    go(stepper, 10)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(_advanced, (stepper,))
    assert there == _advanced(stepper)


def test_a_state_of_something_else_is_refused() -> None:
    state = driven().stepper(step=1e-3).state()
    cases = [
        (wheel().stepper(step=1e-3), "made with another model"),
        (driven().stepper(step=2e-3), "made with another setting"),
        # Velocities count in other axes.
        (driven().stepper(step=1e-3, group="so3xr3"), "made with another setting"),
        (driven().with_parameters(length=0.6).stepper(step=1e-3), "made with another value of a parameter"),
    ]
    for stepper, words in cases:
        before = stepper.state()
        with pytest.raises(kreisel.ArgumentError, match=words):
            stepper.set_state(state)
        assert stepper.state() == before
    good = state.to_bytes()
    assert kreisel.State(good) == state
    for bad in (b"", b"something else", good[:-1], good[:40], good[:60] + b"\xff" + good[61:], good + b"x"):
        with pytest.raises(kreisel.ArgumentError):
            kreisel.State(bad)
    with pytest.raises(TypeError):
        driven().stepper(step=1e-3).set_state(good)  # type: ignore[arg-type]


def test_a_state_keeps_corners_of_the_inputs_ahead() -> None:
    """A torque that begins at 0.3 s, met by steps that do not land there by themselves."""
    model = wheel()
    model.joint_force(joint="shaft", torque="if(t < 0.3, 0, 2)")
    stepper = model.stepper(step="7 ms")
    stepper.advance(0.2)
    state = stepper.state()
    stepper.advance(0.8)
    # 2 Nm on 2 kg m² for half a second.
    assert stepper["shaft.rate"] == pytest.approx(0.5, abs=1e-12)
    stepper.set_state(state)
    stepper.advance(0.8)
    assert stepper["shaft.rate"] == pytest.approx(0.5, abs=1e-12)


def test_several_inputs_are_set_at_once() -> None:
    model = wheel()
    model.input("brake")
    model.joint_force(joint="shaft", torque="-brake")
    stepper = model.stepper(step=1e-2)
    stepper.set_inputs({"motor": 3, "brake": 1})
    assert (stepper["motor"], stepper["brake"]) == (3, 1)
    stepper.set_inputs(np.array([5.0, 2.0]))
    assert [stepper[name] for name in stepper.inputs] == [5, 2]
    stepper.advance(1.0)
    assert stepper["shaft.rate"] == pytest.approx(1.5, abs=1e-12)
    for wrong, error in (([1.0], kreisel.ArgumentError), ({"moter": 1.0}, KeyError), ([1.0, float("nan")], kreisel.ArgumentError),
                         ({"motor": 7.0, "brake": float("inf")}, kreisel.ArgumentError)):
        with pytest.raises(error):
            stepper.set_inputs(wrong)
        assert (stepper["motor"], stepper["brake"]) == (5, 2)


def test_vectors_poses_and_coordinates_are_arrays() -> None:
    model = pendulum()
    model.marker("tip", body="bob", position=[0.2, 0, 0])
    result = model.simulate(end_time=0.2, step=1e-3)
    position = result["bob.position"]
    assert position.shape == (201, 3) and not position.flags.writeable and "bob.position" in result
    assert np.array_equal(position[:, 2], result["bob.position.z"])
    with pytest.raises(KeyError):
        result["bob.positions"]
    stepper = model.stepper(step=1e-3)
    stepper.advance(0.2)
    assert np.array_equal(stepper["bob.position"], position[-1])
    assert np.array_equal(stepper.values(["bob.position", "hinge.angle"]), [*position[-1], result["hinge.angle"][-1]])
    assert stepper.coordinate_names == ["hinge.angle"]
    (angle,), (rate,) = stepper.coordinates(), stepper.coordinate_rates()
    assert angle == result["hinge.angle"][-1] and rate == pytest.approx(result["hinge.angle-rate"][-1], rel=1e-14)
    # The bob hangs at 0.5 m, the tip at 0.7 m; a turn about y sinks what points along x.
    poses = stepper.poses(["bob", "bob.tip", "ground"])
    arm = np.array([np.cos(angle), 0, -np.sin(angle)])
    half = [np.cos(angle / 2), 0, np.sin(angle / 2), 0]
    assert np.allclose(poses[0], [*(0.5 * arm), *half], atol=1e-12)
    assert np.allclose(poses[1], [*(0.7 * arm), *half], atol=1e-12)
    assert np.array_equal(poses[2], [0, 0, 0, 1, 0, 0, 0])
    across = np.array([-np.sin(angle), 0, -np.cos(angle)])
    velocities = stepper.velocities(["bob.tip"])
    assert np.allclose(velocities, [[0, rate, 0, *(0.7 * rate * across)]], atol=1e-9)
    with pytest.raises(KeyError, match="bobb"):
        stepper.poses(["bobb"])


def test_nodes_of_beams_have_poses(models: Path) -> None:
    stepper = kreisel.Model.read(models / "cantilever-roll.toml").stepper(step=1e-3)
    beam = stepper.poses([f"rod.node-{node}" for node in range(3)])
    assert beam.shape == (3, 7) and (np.diff(beam[:, 0]) > 0).all()
