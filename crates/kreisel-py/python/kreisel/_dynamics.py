"""The dynamics of a machine as functions of the coordinates of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        self, what: str, q: ArrayLike, v: ArrayLike | None = None, third: ArrayLike | None = None, frame: str | None = None
    ) -> Array:
        given = [None if one is None else np.asarray(one, dtype=np.float64) for one in (q, v, third)]
        wanted = len(self.coordinates)
        for name, one in zip(("coordinates", "rates", "accelerations or forces"), given, strict=True):
            if one is not None and (one.ndim not in (1, 2) or one.shape[-1] != wanted):
                raise ArgumentError(
                    f"the {name} must be {wanted} numbers, or an array with {wanted} columns, not one of shape {one.shape}"
                )
        count = max((len(one) for one in given if one is not None and one.ndim == 2), default=None)
        rows = []
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
        assert first is not None
        numbers, shape = self._dynamics.ask(what, first, rows[1], rows[2], list(self._inputs.values()), frame)
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

    def linear(self, q: ArrayLike, step: float = 1e-5) -> LinearModel:
        """The machine about a state at rest, as ẋ = A x + B u with x the changes of coordinates and rates.

        u are changes of `inputs`, then forces and torques on the coordinates. Accelerations at the state itself, if the inputs
        do not hold the machine there, are `offset`. The derivatives are central differences of forward dynamics.
        """
        q0 = np.asarray(q, dtype=np.float64)
        if q0.ndim != 1:
            raise ArgumentError("a machine is linearised about one state at a time")
        n = len(q0)
        rest, unit = np.zeros(n), step * np.eye(n)
        positions = np.vstack([q0 + unit, q0 - unit])
        by_position = self.forward(positions, rest)
        by_rate = self.forward(q0, np.vstack([unit, -unit]))
        state = np.zeros((2 * n, 2 * n))
        state[:n, n:] = np.eye(n)
        state[n:, :n] = ((by_position[:n] - by_position[n:]) / (2 * step)).T
        state[n:, n:] = ((by_rate[:n] - by_rate[n:]) / (2 * step)).T
        columns, kept = [], dict(self._inputs)
        try:
            for name, value in kept.items():
                ends = []
                for sign in (1.0, -1.0):
                    self.set_inputs({**kept, name: value + sign})
                    ends.append(self.forward(q0, rest))
                columns.append((ends[0] - ends[1]) / 2)
        finally:
            self._inputs = kept
        mass = np.linalg.inv(self.mass_matrix(q0))
        control = np.zeros((2 * n, len(columns) + n))
        for column, change in enumerate(columns):
            control[n:, column] = change
        control[n:, len(columns):] = mass
        names = list(kept) + [f"{name}.force" for name in self.coordinates]
        states = self.coordinates + [f"{name}-rate" for name in self.coordinates]
        return LinearModel(state, control, states, names, self.forward(q0, rest))


@dataclass(frozen=True)
class LinearModel:
    """A machine about a state, ẋ = A x + B u + (0, offset)."""

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
