"""Machines as environments of Gymnasium, alone or many side by side.

>>> import kreisel, kreisel.gym, numpy as np
>>> model = kreisel.Model("cart-pole")
>>> model.input("push")
<kreisel.Model cart-pole>
>>> model.body("cart", mass=1, inertia=[0.1, 0.1, 0.1])
<kreisel.Model cart-pole>
>>> model.body("pole", mass=0.2, inertia=[0.02, 0.02, 0.001], position=[0, 0, 0.5])
<kreisel.Model cart-pole>
>>> model.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
<kreisel.Model cart-pole>
>>> model.revolute("hinge", bodies=["cart", "pole"], point=[0, 0, 0], axis=[0, 1, 0])
<kreisel.Model cart-pole>
>>> model.joint_force(joint="rail", force="push")
<kreisel.Model cart-pole>
>>> task = dict(
...     actions={"push": (-20, 20)},
...     observations=["rail.displacement", "hinge.angle", "rail.rate", "hinge.rate"],
...     reward=lambda seen, action: 1 - seen["hinge.angle"] ** 2,
...     end=lambda seen: np.abs(seen["hinge.angle"]) > 0.5,
...     start=lambda random: {"hinge": random.uniform(-0.05, 0.05)},
...     settings={"step": "2 ms"}, frame_skip=10, limit=500,
... )
>>> pole = kreisel.gym.Environment(model, **task)
>>> seen, _ = pole.reset(seed=1)
>>> seen, reward, ended, cut, _ = pole.step(np.array([0.5]))
>>> seen.shape, round(pole.period, 3)
((4,), 0.02)
>>> poles = kreisel.gym.VectorEnvironment(model, 8, **task)
>>> poles.reset(seed=1)[0].shape
(8, 4)

All machines of a vector environment advance in one call, on all cores and without the lock of the interpreter. `reward`,
`end` and the rest are NumPy of all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _kreisel
from ._errors import ArgumentError
from ._model import Model, _count

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise ImportError("`kreisel.gym` needs Gymnasium 1.1 or later: pip install gymnasium") from missing

__all__ = ["Environment", "VectorEnvironment"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Values = dict[str, Array]
Reward = Callable[[Values, Values], Any]
End = Callable[[Values], Any]
Start = Callable[[np.random.Generator], Mapping[str, float | str]]


class _Machines:
    """Machines of one model with what is set and seen of them."""

    def __init__(
        self,
        model: Model,
        count: int,
        actions: Mapping[str, tuple[float, float]],
        observations: Sequence[str],
        reward: Reward,
        end: End | None = None,
        start: Start | None = None,
        settings: Mapping[str, float | str] | None = None,
        frame_skip: int = 1,
        limit: int | None = None,
        failed: float = 0.0,
    ) -> None:
        self.model, self.reward, self.end, self.start = model.copy(), reward, end, start
        self.settings: dict[str, Any] = dict(settings or {})
        self.batch = _kreisel.Batch(self.model._machine(self.settings), count)
        self.count, self.failed = count, float(failed)
        if _count("frame_skip", frame_skip) == 0:
            raise ArgumentError("`frame_skip` must be at least one step")
        self.period = frame_skip * self.batch.step_size
        self.limit = None if limit is None else _count("limit", limit)
        known = self.batch.inputs
        for name, bounds in actions.items():
            if name not in known:
                raise ArgumentError(f"there is no input `{name}`; there is `{'`, `'.join(known)}`")
            if not (np.shape(bounds) == (2,) and np.isfinite(bounds).all() and bounds[0] < bounds[1]):
                raise ArgumentError(f"the action `{name}` needs two finite bounds, the lower one first, not {bounds!r}")
        if not actions or not observations:
            raise ArgumentError("an environment needs at least one action and one observation")
        self.actions, self.columns = list(actions), [known.index(name) for name in actions]
        lower, upper = np.array(list(actions.values()), dtype=float).T
        self.action_space = spaces.Box(lower, upper, dtype=np.float64)
        # What is not an action keeps the value of the model.
        self.inputs = self.read(known)
        self.names = list(observations)
        self.widths = [self.read([name]).shape[1] for name in self.names]
        self.observation_space = spaces.Box(-np.inf, np.inf, (sum(self.widths),), dtype=np.float64)
        self.initial_inputs, self.steps = self.inputs.copy(), np.zeros(count, dtype=int)
        self.last = np.zeros((count, sum(self.widths)))

    def read(self, names: list[str]) -> Array:
        """What is seen now; a row for each machine."""
        found, _ = self.batch.advance(None, 0.0, names)
        return found

    def by_name(self, rows: Array) -> Values:
        """Columns by the names of what they are; vectors have three."""
        parts = np.split(rows, np.cumsum(self.widths)[:-1], axis=1)
        return {name: part[:, 0] if part.shape[1] == 1 else part for name, part in zip(self.names, parts, strict=True)}

    def begin(self, places: list[int], randoms: Sequence[np.random.Generator]) -> None:
        """Brings some machines to a start, each by its own random numbers."""
        states = None
        if self.start is not None:
            starts = (self.start(randoms[place]) for place in places)
            states = [self.model._machine(self.settings, start).stepper().state() for start in starts]
        self.batch.set_states(places, states)
        self.inputs[places] = self.initial_inputs[places]
        self.steps[places] = 0
        self.last[places] = self.read(self.names)[places]

    def step(self, action: Array) -> tuple[Array, Array, Flags, Flags, dict[int, str]]:
        """Lets all machines go on with actions, a row each: what is seen, rewards, ends, cuts and failures."""
        action = np.clip(action, self.action_space.low, self.action_space.high)
        self.inputs[:, self.columns] = action
        seen, failures = self.batch.advance(np.ascontiguousarray(self.inputs), self.period, self.names)
        told = dict(failures)
        is_lost = np.zeros(self.count, dtype=np.bool_)
        is_lost[list(told)] = True
        # Of one that cannot go on the last is shown.
        self.last = seen = np.where(is_lost[:, None], self.last, seen)
        self.steps += 1
        by_name = self.by_name(seen)
        set_to = dict(zip(self.actions, action.T, strict=True))
        reward, ended, cut = np.zeros(self.count), is_lost.copy(), np.zeros(self.count, dtype=bool)
        reward[:] = self.reward(by_name, set_to)
        reward[is_lost] = self.failed
        if self.end is not None:
            ended |= np.broadcast_to(self.end(by_name), self.count).astype(bool)
        if self.limit is not None:
            cut[:] = self.steps >= self.limit
        return seen.copy(), reward, ended, cut, told


class Environment(gymnasium.Env[Array, Array]):
    """A machine as an environment of Gymnasium.

    `actions` are inputs of the model with their bounds, `observations` signals, in the order of the arrays; a vector has
    three places. `reward` gets what is seen and what was set as dicts of arrays by name, `end` what is seen; both are
    written in NumPy for one machine or many. `start` gives initial coordinates of joints from random numbers.

    A step of the environment is `frame_skip` steps of the model, an episode is cut after `limit` of them. A machine that
    cannot go on ends its episode with the reward `failed`; `info["error"]` says why. `settings` are those of `simulate`. What is left out:
    no `end`, no `start` but that of the model, a `frame_skip` of 1, no `limit`, 0 for `failed`.
    """

    def __init__(
        self,
        model: Model,
        actions: Mapping[str, tuple[float, float]],
        observations: Sequence[str],
        reward: Reward,
        **others: Any,
    ) -> None:
        self._machines = _Machines(model, 1, actions, observations, reward, **others)
        self.action_space = self._machines.action_space
        self.observation_space = self._machines.observation_space

    @property
    def period(self) -> float:
        """Time of a step of the environment in s."""
        return self._machines.period

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        self._machines.begin([0], [self.np_random])
        return self._machines.last[0].copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Sets the actions and advances."""
        seen, reward, ended, cut, failures = self._machines.step(np.asarray(action, dtype=float)[None, :])
        info = {"error": failures[0]} if failures else {}
        return seen[0], float(reward[0]), bool(ended[0]), bool(cut[0]), info


class VectorEnvironment(VectorEnv[Array, Array, Any]):
    """Many machines of one model, which advance side by side in one call; the other arguments are those of `Environment`.

    A machine whose episode is over begins anew with the next step, whose action does not count for it.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        model: Model,
        count: int,
        actions: Mapping[str, tuple[float, float]],
        observations: Sequence[str],
        reward: Reward,
        **others: Any,
    ) -> None:
        self._machines = _Machines(model, count, actions, observations, reward, **others)
        self.num_envs = count
        self.single_action_space = self._machines.action_space
        self.single_observation_space = self._machines.observation_space
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        self._over = np.zeros(count, dtype=bool)
        self._randoms = [np.random.default_rng() for _ in range(count)]

    @property
    def period(self) -> float:
        """Time of a step of the environment in s."""
        return self._machines.period

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins an episode of every machine; one seed counts up from machine to machine."""
        if seed is not None:
            seeds = [seed + place for place in range(self.num_envs)] if isinstance(seed, int) else seed
            self._randoms = [np.random.default_rng(own) for own in seeds]
        self._machines.begin(list(range(self.num_envs)), self._randoms)
        self._over[:] = False
        return self._machines.last.copy(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Sets the actions of all machines and lets them advance."""
        over: list[int] = np.flatnonzero(self._over).tolist()
        if over:
            self._machines.begin(over, self._randoms)
        begun = [self._machines.batch.state(place) for place in over]
        first = self._machines.last[over].copy()
        seen, reward, ended, cut, failures = self._machines.step(np.asarray(actions, dtype=float))
        if over:
            # They stand at their start after this step.
            self._machines.batch.set_states(over, begun)
            self._machines.steps[over], self._machines.last[over] = 0, first
            seen[over], reward[over], ended[over], cut[over] = first, 0.0, False, False
        self._over = np.logical_or(ended, cut)
        info: dict[str, Any] = {}
        told = {place: reason for place, reason in failures.items() if place not in over}
        if told:
            info["error"] = np.array([told.get(place) for place in range(self.num_envs)], dtype=object)
            info["_error"] = np.array([place in told for place in range(self.num_envs)])
        return seen, reward, ended, cut, info
