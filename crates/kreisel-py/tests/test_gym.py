"""Machines as environments of Gymnasium, alone and side by side."""

from __future__ import annotations

import warnings
from typing import Any

import kreisel
import kreisel.gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

G = 9.80665


def pendulum() -> kreisel.Model:
    """A point-like bob of 2 kg on 0.5 m with a motor."""
    model = kreisel.Model("pendulum")
    model.input("motor")
    model.body("bob", mass=2, inertia=[1e-3, 1e-3, 1e-3], position=[0.5, 0, 0])
    model.revolute("hinge", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
    model.joint_force("drive", joint="hinge", torque="motor")
    return model


def task(**others: Any) -> dict[str, Any]:
    given = {
        "actions": {"motor": (-30, 30)},
        "observations": ["hinge.angle", "hinge.rate", "bob.position"],
        "reward": lambda seen, action: -(seen["hinge.angle"] ** 2) - 1e-3 * action["motor"] ** 2,
        "end": lambda seen: np.abs(seen["hinge.angle"]) > 2.5,
        "start": lambda random: {"hinge": random.uniform(-0.5, 0.5)},
        "settings": {"step": "2 ms"},
        "frame_skip": 5,
        "limit": 40,
    }
    return given | others


def test_gymnasium_finds_nothing_wrong() -> None:
    environment = kreisel.gym.Environment(pendulum(), **task())
    with warnings.catch_warnings():
        # Bounds that are infinite, and actions not between -1 and 1, are no mistakes.
        warnings.simplefilter("ignore")
        check_env(environment, skip_render_check=True)


def test_what_is_seen_and_rewarded_is_the_machine() -> None:
    environment = kreisel.gym.Environment(pendulum(), **task(start=None))
    seen, _ = environment.reset(seed=1)
    assert seen.shape == (5,) and abs(seen[0]) < 1e-12 and np.allclose(seen[2:], [0.5, 0, 0])
    # The motor bears the weight: the pendulum stays level.
    holding = -2 * G * 0.5
    for _ in range(10):
        seen, reward, ended, cut, _ = environment.step(np.array([holding]))
    assert abs(seen[0]) < 1e-9 and not ended and not cut
    assert abs(reward + 1e-3 * holding**2) < 1e-9
    # What is asked for beyond the bounds is not given: 30 Nm and the weight turn m l² + J.
    environment.reset(seed=1)
    seen, *_ = environment.step(np.array([1e6]))
    expected = (30 - holding) / (2 * 0.25 + 1e-3) * environment.period
    assert abs(seen[1] / expected - 1) < 0.01, (seen, expected)
    # It is over after a while, and cut if it is not.
    ends: list[bool] = []
    while not any(ends):
        _, _, *ends, _ = environment.step(np.array([1e6]))
    assert ends == [True, False]
    environment.reset(seed=1)
    cuts = [environment.step(np.array([holding]))[3] for _ in range(40)]
    assert cuts == [False] * 39 + [True]


def test_machines_side_by_side_do_what_each_does_alone() -> None:
    count, steps = 7, 90
    many = kreisel.gym.VectorEnvironment(pendulum(), count, **task())
    alone = [kreisel.gym.Environment(pendulum(), **task()) for _ in range(count)]
    seen, _ = many.reset(seed=5)
    each = np.array([one.reset(seed=5 + place)[0] for place, one in enumerate(alone)])
    assert np.array_equal(seen, each) and len(set(seen[:, 0])) == count
    over, random, begun = np.zeros(count, dtype=bool), np.random.default_rng(2), 0
    for _ in range(steps):
        action = random.uniform(-30, 30, (count, 1))
        seen, reward, ended, cut, _ = many.step(action)
        for place, one in enumerate(alone):
            if over[place]:
                # One whose episode was over begins anew, and its action does not count.
                first, _ = one.reset()
                assert np.array_equal(seen[place], first) and reward[place] == 0
                assert not ended[place] and not cut[place]
                begun += 1
                over[place] = False
                continue
            own = one.step(action[place])
            assert np.array_equal(own[0], seen[place]) and own[1] == reward[place]
            assert (own[2], own[3]) == (ended[place], cut[place])
            over[place] = own[2] or own[3]
    assert begun >= 2 * count


def test_one_that_cannot_go_on_ends_alone() -> None:
    model = pendulum()
    # Beyond half a radian the torque is no number any more.
    model.joint_force("fault", joint="hinge", torque="sqrt(0.5 - hinge.angle)")
    many = kreisel.gym.VectorEnvironment(model, 3, **task(start=None, failed=-100.0))
    many.reset(seed=0)
    for _ in range(30):
        seen, reward, ended, _, info = many.step(np.array([[-15.0], [30.0], [-15.0]]))
        if ended.any():
            break
    assert ended.tolist() == [False, True, False] and reward[1] == -100 and np.isfinite(seen).all()
    assert info["error"][1] and info["error"][0] is None
    seen, reward, *_ = many.step(np.zeros((3, 1)))
    assert seen[1, 0] == 0 and reward[1] == 0


def test_what_makes_no_sense_is_refused() -> None:
    def refused(words: str, **others: Any) -> None:
        with pytest.raises((kreisel.ArgumentError, KeyError), match=words):
            kreisel.gym.Environment(pendulum(), **task(**others))

    refused("no input `moter`; there is `motor`", actions={"moter": (-1, 1)})
    refused("two finite bounds", actions={"motor": (1, -1)})
    refused("no signal", observations=["hinge.angel"])
    refused("at least one", observations=[])
    refused("at least one step", frame_skip=0)
    with pytest.raises(kreisel.ArgumentError, match="1 to 100000 machines"):
        kreisel.gym.VectorEnvironment(pendulum(), 0, **task())
