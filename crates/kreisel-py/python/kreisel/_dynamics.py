"""The dynamics of a machine as functions of the coordinates of its joints."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _kreisel
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._model import Model

Array = NDArray[np.float64]


class Dynamics:
    """Mass matrix, forces, forward and inverse dynamics, poses, Jacobians and energies at any state.

    A state is `q`, the coordinates of joints by `coordinates`, and `v`, their rates. Each may be one list of numbers, or an
    array with a row for each of many states, which are computed on all cores; results have a row for each state then. Forces
    of the model (gravity, springs, damping, inputs at their values) count everywhere. First-order states of the model stay
    at their initial values. Loops are closed on the way, on the branch that the model draws.

    `Model.dynamics` makes it.
    """

    def __init__(self, model: Model, coordinates: Sequence[str] | None = None) -> None:
        """The dynamics of a model in some of its coordinates."""
        names = [coordinates] if isinstance(coordinates, str) else coordinates
        self.model = model.copy()
        self._given = None if names is None else list(names)
        self._dynamics = _kreisel.Dynamics(*self.model._parts({}), self._given)
        self._inputs = dict(self._dynamics.inputs)

    def __getstate__(self) -> tuple[Model, list[str] | None, dict[str, float]]:
        return self.model, self._given, self._inputs

    def __setstate__(self, state: tuple[Model, list[str] | None, dict[str, float]]) -> None:
        model, given, inputs = state
        self.__init__(model, given)  # type: ignore[misc]
        self._inputs = inputs

    def __repr__(self) -> str:
        return f"<kreisel.Dynamics of {self.model.name} in {len(self.coordinates)} coordinates>"

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates, in the order of `q`."""
        return self._dynamics.coordinates

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of `reactions`."""
        return self._dynamics.joints

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies, in the order of `body_mass_matrix`."""
        return self._dynamics.bodies

    @property
    def inputs(self) -> dict[str, float]:
        """Inputs of the model and the values they have here."""
        return dict(self._inputs)

    def set_inputs(self, values: Mapping[str, float]) -> None:
        """Gives inputs of the model other values, for all that is asked from now on."""
        for name, value in values.items():
            if name not in self._inputs:
                known = ", ".join(f"`{one}`" for one in self._inputs) or "none"
                raise KeyError(f"there is no input `{name}`; there is {known}")
            if not np.isfinite(value):
                raise ArgumentError(f"the input `{name}` must be a finite number, not {value}")
        self._inputs.update({name: float(value) for name, value in values.items()})

    def _ask(
        self,
        what: str,
        q: ArrayLike,
        v: ArrayLike | None = None,
        third: ArrayLike | None = None,
        frame: str | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> Array:
        given = [None if one is None else np.asarray(one, dtype=np.float64) for one in (q, v, third)]
        wanted = len(self.coordinates)
        for name, one in zip(("coordinates", "rates", "accelerations or forces"), given, strict=True):
            if one is not None and (one.ndim not in (1, 2) or one.shape[-1] != wanted):
                raise ArgumentError(
                    f"the {name} must be {wanted} numbers, or an array with {wanted} columns, not one of shape {one.shape}"
                )
        count = max((len(one) for one in given if one is not None and one.ndim == 2), default=None)
        rows: list[Array | None] = []
        for one in given:
            if one is None:
                rows.append(None)
                continue
            if one.ndim == 2 and len(one) != count:
                raise ArgumentError(f"arrays of {len(one)} and {count} states do not fit together")
            rows.append(np.ascontiguousarray(np.broadcast_to(one, (1 if count is None else count, wanted))))
        if count == 0:
            raise ArgumentError("there are no states")
        first = rows[0]
        if first is None:
            raise ArgumentError("the coordinates must be numbers, not None")
        values = list((self._inputs if inputs is None else inputs).values())
        numbers, shape = self._dynamics.ask(what, first, rows[1], rows[2], values, frame)
        return numbers.reshape(shape if count is None else [count, *shape])

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix M(q), n × n."""
        return self._ask("mass", q)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Inverse dynamics: the forces and torques on the coordinates that give the accelerations `a`.

        If there are more coordinates than degrees of freedom, these and the reactions are the smallest that do, torques
        taken over the machine's length; motions that contradict each other are refused.
        """
        return self._ask("inverse", q, v, a)

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The forces and torques that hold the accelerations at zero: M a + bias = τ."""
        return self._ask("inverse", q, v)

    def holding(self, q: ArrayLike) -> Array:
        """The forces and torques that hold the machine at rest, against gravity and springs."""
        return self._ask("inverse", q)

    def reactions(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """What each of `joints` exerts on its second body at the joint's point in that motion, in world axes: a row of
        torque and then force each, without what leads its coordinates."""
        return self._ask("reactions", q, v, a)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None) -> Array:
        """Forward dynamics: accelerations of the coordinates, with forces and torques `tau` on them beside those of the model."""
        return self._ask("forward", q, v, tau)

    def pose(self, q: ArrayLike, frame: str) -> Array:
        """Pose of a body, a marker or a node of a beam in the world: x, y, z in m, and the unit quaternion w, x, y, z."""
        return self._ask("pose", q, frame=frame)

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        """Velocity of a frame in world axes: angular velocity in rad/s, then that of its origin in m/s."""
        return self._ask("velocity", q, v, frame=frame)

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        """`velocity` by the rates of the coordinates, 6 × n."""
        return self._ask("jacobian", q, frame=frame)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Kinetic energy in J."""
        found: Array = self._ask("energies", q, v)[..., 0]
        return found

    def potential_energy(self, q: ArrayLike) -> Array:
        """Energy in the field of gravity and in springs, in J."""
        found: Array = self._ask("energies", q)[..., 1:].sum(axis=-1)
        return found

    def body_mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix of all velocity coordinates of `bodies`: the angular velocity of each, then its velocity, in its group's axes."""
        return self._ask("body-mass", q)

    def constraint_jacobian(self, q: ArrayLike) -> Array:
        """Gradient of the machine's constraints by all velocity coordinates of `bodies`."""
        return self._ask("constraints", q)

    def reach(
        self,
        frames: Mapping[str, ArrayLike],
        start: ArrayLike,
        limits: Mapping[str, tuple[float, float]] | None = None,
        tolerance: float = 1e-9,
    ) -> Array:
        """Inverse kinematics: coordinates at which frames stand where they are wanted.

        `frames` gives for each frame a position x, y, z, or a pose with the quaternion w, x, y, z after it. The search goes
        from `start` downhill, keeps coordinates within `limits`, and where it ends short of the goal it tries again from
        eight other starts, always the same. `tolerance` is in m and rad. An error says how near it comes, if no start leads there.

        Of many solutions one near `start` is found, not always the nearest.
        """
        goals = {frame: np.asarray(goal, dtype=np.float64) for frame, goal in frames.items()}
        for frame, goal in goals.items():
            if goal.shape not in ((3,), (7,)) or not np.isfinite(goal).all():
                raise ArgumentError(f"`{frame}` needs a position of 3 numbers or a pose of 7, not {goal}")
            if len(goal) == 7 and abs(np.linalg.norm(goal[3:]) - 1) > 1e-6:
                raise ArgumentError(f"the quaternion of `{frame}` must have length one")
        if not goals:
            raise ArgumentError("name at least one frame")
        low, high = self._bounds(limits or {})
        first = np.asarray(start, dtype=np.float64)
        if first.shape != low.shape or not np.isfinite(first).all():
            raise ArgumentError(f"`start` must be {len(low)} finite numbers")
        if (first < low).any() or (first > high).any():
            raise ArgumentError("`start` must lie within the limits")
        random = np.random.default_rng(1)
        around = np.pi * random.uniform(-1, 1, (8, len(low)))
        spans = np.where(np.isfinite(high - low), high - low, 0.0)
        inside = low + spans * random.uniform(0, 1, (8, len(low)))
        others = np.where(np.isfinite(low) & np.isfinite(high), inside, np.clip(first + around, low, high))
        best, nearest = first, np.inf
        for begin in (first, *others):
            found, miss = self._descend(goals, begin, low, high, tolerance)
            if miss < nearest:
                best, nearest = found, miss
            if nearest <= tolerance:
                return best
        held = [name for name, value, a, b in zip(self.coordinates, best, low, high, strict=True) if value in (a, b)]
        hint = f"; there {', '.join(f'`{name}`' for name in held)} stand at their limits" if held else ""
        raise ArgumentError(f"{', '.join(f'`{frame}`' for frame in goals)} cannot be reached: {nearest:.3g} m or rad are left{hint}")

    def _bounds(self, limits: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
        names = self.coordinates
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        for name, (least, most) in limits.items():
            # A joint with one coordinate may be named alone.
            places = [i for i, one in enumerate(names) if name in (one, one.rpartition(".")[0])]
            if len(places) != 1:
                raise KeyError(f"there is no coordinate `{name}`; there is {', '.join(f'`{one}`' for one in names)}")
            if not least < most:
                raise ArgumentError(f"the limits of `{name}` must be a smaller and a larger number")
            low[places[0]], high[places[0]] = least, most
        return low, high

    def _misses(self, goals: Mapping[str, Array], q: Array) -> Array:
        """What each frame misses, in m and rad in world axes."""
        misses = []
        for frame, goal in goals.items():
            pose = self.pose(q, frame)
            if len(goal) == 7:
                misses.append(_turn(goal[3:], pose[3:]))
            misses.append(goal[:3] - pose[:3])
        return np.concatenate(misses)

    def _descend(
        self, goals: Mapping[str, Array], q: Array, low: Array, high: Array, tolerance: float
    ) -> tuple[Array, float]:
        """Levenberg and Marquardt's steps within limits; gives where they end and what is missed there."""

        def tried(ask: Callable[[Array], Array], at: Array) -> Array | None:
            try:
                return ask(at)
            except ArgumentError:  # loops do not close there, or stand at a dead centre
                return None

        def misses(at: Array) -> Array:
            return self._misses(goals, at)

        def slopes(at: Array) -> Array:
            parts = [self.jacobian(at, frame)[0 if len(goal) == 7 else 3 :] for frame, goal in goals.items()]
            return np.vstack(parts)

        missed = tried(misses, q)
        if missed is None:
            return q, np.inf
        damping = 1e-3
        for _ in range(200):
            size = float(np.abs(missed).max())
            if size <= 0.01 * tolerance:
                break
            jacobian = tried(slopes, q)
            if jacobian is None:
                break
            downhill = jacobian.T @ missed
            free = ~(((q <= low) & (downhill < 0)) | ((q >= high) & (downhill > 0)))
            if np.abs(downhill[free]).max(initial=0.0) <= 1e-14:
                break
            part = jacobian[:, free]
            normal = part.T @ part
            change = np.zeros_like(q)
            change[free] = np.linalg.solve(normal + damping * np.eye(len(normal)), downhill[free])
            trial = np.clip(q + np.clip(change, -0.5, 0.5), low, high)
            there = tried(misses, trial)
            if there is not None and there @ there < missed @ missed:
                q, missed, damping = trial, there, max(0.1 * damping, 1e-15)
            elif damping > 1e6:
                break
            else:
                damping *= 10
        return q, float(np.abs(missed).max())

    def linear(self, q: ArrayLike | Literal["static"], step: float = 1e-5, outputs: Sequence[str] = ()) -> LinearModel:
        """The machine about a state at rest, as ẋ = A x + B u and y = C x + D u with x the changes of coordinates and rates.

        u are changes of `inputs`, then forces and torques on the coordinates; y are changes of `outputs`, signals that the
        model records: `"hinge.angle"`, `"tip.position.x"`, or `"tip.position"` for its components. Accelerations at the state
        itself, if the inputs do not hold the machine there, are `offset`. With `q="static"` the state is the equilibrium that
        `Model.static` finds. The derivatives are central differences over `step`, for inputs times their size where that is
        above one.
        """
        names, turning = self._outputs([outputs] if isinstance(outputs, str) else outputs)
        if isinstance(q, str) and q != "static":
            raise ArgumentError(f"a state is coordinates, or `static`, not `{q}`")
        q0 = self._rest() if isinstance(q, str) else np.asarray(q, dtype=np.float64)
        if q0.ndim != 1:
            raise ArgumentError("a machine is linearised about one state at a time")
        n = len(q0)
        rest, unit = np.zeros(n), step * np.eye(n)

        def slopes(above: Array, below: Array, width: float) -> tuple[Array, Array]:
            """Derivatives of accelerations and of outputs, a column for each row of what was asked."""
            change = np.atleast_2d(above - below)
            outer = change[:, n:]
            # An angle is within half a turn, and does not turn by that over a step.
            outer = outer - np.where(turning, 2 * np.pi * np.round(outer / (2 * np.pi)), 0.0)
            return (change[:, :n] / (2 * width)).T, (outer / (2 * width)).T

        def asked(q: Array, v: Array, tau: Array | None = None, inputs: Mapping[str, float] | None = None) -> Array:
            found = self._ask("forward", q, v, tau, inputs=inputs)
            if not names:
                return found
            shown = self._ask("signals", q, v, tau, inputs=inputs)[..., [place for place, _ in names]]
            return np.concatenate([found, shown], axis=-1)

        state, control = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, len(self._inputs) + n))
        output, through = np.zeros((len(names), 2 * n)), np.zeros((len(names), len(self._inputs) + n))
        state[:n, n:] = np.eye(n)
        many = np.vstack([q0 + unit, q0 - unit])
        moved = asked(many, np.zeros_like(many))
        state[n:, :n], output[:, :n] = slopes(moved[:n], moved[n:], step)
        many = np.vstack([unit, -unit])
        moved = asked(np.broadcast_to(q0, many.shape), many)
        state[n:, n:], output[:, n:] = slopes(moved[:n], moved[n:], step)
        kept = dict(self._inputs)
        for column, (name, value) in enumerate(kept.items()):
            width = step * max(abs(value), 1.0)
            above, below = (asked(q0, rest, inputs={**kept, name: end}) for end in (value + width, value - width))
            by_acceleration, by_output = slopes(above, below, width)
            control[n:, column], through[:, column] = by_acceleration[:, 0], by_output[:, 0]
        control[n:, len(kept):] = np.linalg.inv(self.mass_matrix(q0))
        if names:
            # Forces count in proportion, whatever their size.
            many = np.vstack([np.eye(n), -np.eye(n)])
            moved = asked(np.broadcast_to(q0, many.shape), np.zeros_like(many), many)
            through[:, len(kept):] = slopes(moved[:n], moved[n:], 1.0)[1]
        inputs = list(kept) + [f"{name}.force" for name in self.coordinates]
        states = self.coordinates + [f"{name}-rate" for name in self.coordinates]
        return LinearModel(state, control, states, inputs, self.forward(q0, rest), output, through, [name for _, name in names])

    def _outputs(self, outputs: Sequence[str]) -> tuple[list[tuple[int, str]], NDArray[np.bool_]]:
        """Place and name of each signal that is meant, and which of them are angles."""
        signals = self._dynamics.signals
        found: list[tuple[int, str]] = []
        for wanted in outputs:
            meant = [(place, name) for place, (name, _) in enumerate(signals) if name == wanted or name.startswith(f"{wanted}.")]
            if not meant:
                near = difflib.get_close_matches(wanted, [name for name, _ in signals], 3)
                hint = f"; near are {', '.join(f'`{name}`' for name in near)}" if near else ""
                raise KeyError(f"the model records no signal `{wanted}`{hint}")
            found += meant
        return found, np.array([signals[place][1] == "rad" for place, _ in found], dtype=bool)

    def _rest(self) -> Array:
        """The coordinates at the equilibrium of the model."""
        if self._inputs != dict(self._dynamics.inputs):
            raise ArgumentError("the equilibrium is that of the inputs of the model, and here they have other values")
        result = self.model.static()
        missing = [name for name in self.coordinates if name not in result]
        if missing:
            raise ArgumentError(f"the equilibrium is read from the signals of the coordinates: let a sensor record `{missing[0]}`")
        return np.array([result[name][-1] for name in self.coordinates])


def _turn(to: Array, start: Array) -> Array:
    """The rotation vector in world axes that turns one orientation to another."""
    (a, *u), (b, *w) = to, start
    first, second = np.array(u), -np.array(w)
    scalar = a * b - first @ second
    vector = a * second + b * first + np.cross(first, second)
    sine = float(np.linalg.norm(vector))
    angle = 2 * np.arctan2(sine, abs(scalar))
    turn: Array = np.copysign(1.0, scalar) * vector * (angle / sine if sine > 0 else 2.0)
    return turn


@dataclass(frozen=True)
class LinearModel:
    """A machine about a state, ẋ = A x + B u + (0, offset) and y = C x + D u."""

    A: Array
    """Changes of coordinates and rates by themselves."""
    B: Array
    """And by inputs, then by forces on the coordinates."""
    states: list[str]
    """Names of the rows of A and B: coordinates, then their rates."""
    inputs: list[str]
    """Names of the columns of B."""
    offset: Array
    """Accelerations of the coordinates at the state; zero at an equilibrium."""
    C: Array
    """Outputs by coordinates and rates."""
    D: Array
    """And by inputs, then by forces on the coordinates: of accelerations and reactions."""
    outputs: list[str]
    """Names of the rows of C and D."""
