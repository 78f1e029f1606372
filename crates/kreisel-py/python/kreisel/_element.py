"""Kinds of parts of a user's own: a class that gives force and torque on a body."""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._model import Model

Array = NDArray[np.float64]

_AXES = "xyz"
# Each argument moved up and down for its derivative, and the point itself, of a few threads.
_KEPT = 128


class Element(ABC):
    """A part of a model whose force and torque a method in Python computes.

    Write a class with its keys as annotated attributes, those with a value being optional, and `wrench`; then `add` parts
    of it to a model. `body` is what it acts on, a body or a marker, and every key is a number:

    >>> import kreisel, numpy as np
    >>> class Drag(kreisel.Element):
    ...     turns = False
    ...     coefficient: float
    ...     def wrench(self, time, position, rotation, velocity, angular_velocity):
    ...         return -self.coefficient * np.linalg.norm(velocity) * velocity
    >>> model = kreisel.Model("falling")
    >>> model.point_mass("ball", mass=0.1)
    <kreisel.Model falling>
    >>> model.add(Drag("air", body="ball", coefficient=0.01))
    <kreisel.Model falling>
    >>> result = model.simulate(end_time=5, step=0.01)
    >>> round(float(result["air.force.z"][-1]), 2)  # close to the weight
    0.98

    It is a `[[force]]` of the model: `air.force` and `air.torque` are signals with arrows on the page, and `air.power` a
    sensor. The method is called inside of Newton's iteration, with derivatives by differences, 24 calls more at
    each: this is slow. It must give the same for the same state, must be smooth, and keeps nothing from call to call; a
    `[[state]]` of the model remembers. An exception ends the run and comes out of it.
    """

    turns: ClassVar[bool] = True
    """Whether it sees how the body is turned and gives a torque. Without, `wrench` gives a force alone, for point masses
    too, `rotation` is the identity and `angular_velocity` zero, and half of the calls are saved."""

    keys: ClassVar[dict[str, float | None]] = {}
    """Names of the keys, with the values of those that are optional."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Finds the keys among the annotations."""
        super().__init_subclass__(**more)
        names = [name for name in cls.__annotations__ if name not in ("turns", "keys") and not name.startswith("_")]
        cls.keys = {**cls.keys, **{name: getattr(cls, name, None) for name in names}}

    def __init__(self, name: str, *, body: str, **keys: float) -> None:
        """A part of a name on a body, with the keys of the class."""
        kind = type(self).__name__
        for key in keys:
            if key not in self.keys:
                near = difflib.get_close_matches(key, self.keys, 1)
                raise ArgumentError(f"{kind} has no key `{key}`" + (f"; do you mean `{near[0]}`?" if near else ""))
        for key, otherwise in self.keys.items():
            value = keys.get(key, otherwise)
            if value is None:
                raise ArgumentError(f"{kind} `{name}` needs the key `{key}`")
            if isinstance(value, (str, bool)) or not math.isfinite(value):
                raise ArgumentError(f"`{key}` of {kind} `{name}` must be a finite number, not {value!r}")
            setattr(self, key, float(value))
        self.name = name
        self.body = body

    @abstractmethod
    def wrench(self, time: float, position: Array, rotation: Array, velocity: Array, angular_velocity: Array) -> Any:
        """The force on the body at its centre of mass, or at its marker, and the torque about it: two vectors in world axes.

        `position` and `velocity` are those of that point, `rotation` is the 3 × 3 matrix from axes of the body or marker to
        the world. An element without `turns` gives the force alone.
        """

    def _add_to(self, model: Model) -> None:
        """Adds the functions and the force that it is made of."""
        quantities = ["position", "velocity"] + (["rotation-vector", "angular-velocity"] if self.turns else [])
        arguments = ["t"] + [f"{self.body}.{quantity}.{axis}" for quantity in quantities for axis in _AXES]
        called = _Called(self)
        names = [f"{self.name}-{word}-{axis}" for word in (("force", "torque") if self.turns else ("force",)) for axis in _AXES]
        for place, name in enumerate(names):
            model.function(name, _Component(called, place), arguments=arguments)
        model.force(self.name, body=self.body, force=names[:3], torque=names[3:] or None)


class _Called:
    """The element for its components, which ask for the same states one after the other."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.known: dict[tuple[float, ...], tuple[float, ...]] = {}

    def __getstate__(self) -> Element:
        return self.element

    def __setstate__(self, element: Element) -> None:
        self.element, self.known = element, {}

    def __call__(self, arguments: tuple[float, ...]) -> tuple[float, ...]:
        known = self.known.get(arguments)
        if known is None:
            known = self.ask(arguments)
            if len(self.known) >= _KEPT:
                self.known = {}
            self.known[arguments] = known
        return known

    def ask(self, arguments: tuple[float, ...]) -> tuple[float, ...]:
        time, numbers = arguments[0], np.array(arguments[1:])
        position, velocity = numbers[:3], numbers[3:6]
        if not self.element.turns:
            force = self.element.wrench(time, position, np.eye(3), velocity, np.zeros(3))
            return tuple(self.vector("force", force))
        given = self.element.wrench(time, position, _rotation(numbers[6:9]), velocity, numbers[9:12])
        if not isinstance(given, Sequence) or len(given) != 2:
            raise ArgumentError(f"`{self.element.name}` must give a force and a torque; one that gives a force alone has `turns = False`")
        return (*self.vector("force", given[0]), *self.vector("torque", given[1]))

    def vector(self, word: str, given: ArrayLike) -> list[float]:
        vector = np.asarray(given, dtype=np.float64)
        if vector.shape != (3,):
            raise ArgumentError(f"the {word} of `{self.element.name}` must be 3 numbers, not an array of shape {vector.shape}")
        return [float(number) for number in vector]


class _Component:
    """One number of an element."""

    def __init__(self, called: Callable[[tuple[float, ...]], tuple[float, ...]], place: int) -> None:
        self.called, self.place = called, place

    def __call__(self, *arguments: float) -> float:
        return self.called(arguments)[self.place]


def _rotation(vector: Array) -> Array:
    """The matrix of a rotation vector [Rodrigues]."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    # sin θ/θ and (1 − cos θ)/θ² without cancellation.
    half = float(np.sinc(angle / (2 * np.pi)))
    matrix: Array = np.eye(3) + float(np.sinc(angle / np.pi)) * skew + 0.5 * half * half * (skew @ skew)
    return matrix
