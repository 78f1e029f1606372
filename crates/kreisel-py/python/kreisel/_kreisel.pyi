"""The compiled half of the package."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]
_Outcome = tuple[_Array, list[_Array], _Array, str, BaseException | None]

__all__ = [
    "__version__", "command", "kinds", "schema", "read_text", "Machine", "Dynamics", "Step", "Sweep", "State", "Stepper", "Batch", "_stepper_at"
]

__version__: str

def command(arguments: list[str]) -> int:
    """Runs the command `kreisel` with these arguments, the program's name first, and tells its exit code."""

def kinds() -> list[str]:
    """Names of the kinds of parts, as in a model file."""

def schema() -> str:
    """The JSON Schema of model files."""

def read_text(path: str) -> str:
    """The text of a model file, or the message why it cannot be read."""

@final
class Machine:
    """A checked model, ready to be run."""

    def __new__(
        cls,
        name: str,
        text: str,
        path: str | None,
        parameters: Sequence[tuple[str, str]],
        settings: dict[str, str],
        functions: dict[str, tuple[Callable[..., float], Callable[..., Sequence[float]] | None]],
        initial: Sequence[tuple[str, str]] = ...,
    ) -> Machine: ...
    @property
    def title(self) -> str: ...
    @property
    def channels(self) -> list[tuple[str, str]]: ...
    @property
    def parameters(self) -> dict[str, float]: ...
    @property
    def inputs(self) -> list[tuple[str, float]]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def assumptions(self) -> list[str]: ...
    def simulate(
        self,
        observer: Callable[[Step], bool | None] | None,
        motion: bool,
        folder: str | os.PathLike[str] | None,
        force: bool,
    ) -> _Outcome: ...
    def equilibrium(
        self, factor: float, load_steps: int, arc_length: bool, points: int, path_step: float | None
    ) -> tuple[_Outcome, list[tuple[str, list[float]]]]: ...
    def modes(
        self, about: str, count: int
    ) -> tuple[
        list[_Array],
        list[_Array],
        list[tuple[str, float]],
        tuple[_Array, int],
        list[str],
        dict[str, _Array],
        str,
    ]: ...
    @property
    def beams(self) -> list[str]:
        """Names of the beams."""
    def beam_nodes(self, beam: str) -> list[tuple[int | None, list[float]]]:
        """For each node of a beam the place of its numbers in the motion, and where it stands in that frame."""
    def stepper(self) -> Stepper: ...
    def save(
        self,
        folder: str | os.PathLike[str],
        force: bool,
        is_static: bool,
        times: _Array,
        columns: Sequence[_Array],
        nodes: _Array,
        summary: str,
    ) -> list[Path]: ...

_Runs = tuple[list[bool], _Array, list[tuple[int, str]], int, BaseException | None]

@final
class Sweep:
    """A sweep that was checked against its model."""

    def __new__(
        cls,
        name: str,
        text: str,
        path: str | None,
        parameters: Sequence[tuple[str, str]],
        settings: dict[str, str],
        functions: dict[str, tuple[Callable[..., float], Callable[..., Sequence[float]] | None]],
        variations: Sequence[str],
        measures: Sequence[str],
        sample: int | None,
        sampling: str,
        seed: int,
    ) -> Sweep: ...
    @property
    def columns(self) -> tuple[list[str], list[str]]: ...
    @property
    def identity(self) -> str: ...
    def count(self) -> int: ...
    def points(self, start: int, stop: int) -> _Array: ...
    def run(
        self, threads: int, journal: str | os.PathLike[str] | None, progress: Callable[[int], object] | None
    ) -> _Runs: ...
    def batch(self, points: _Array) -> _Runs: ...
    def kept(self, journal: str | os.PathLike[str]) -> tuple[list[int], _Array, dict[int, str]]: ...
    def summary(self, failed: int, crc32: dict[str, str]) -> str: ...
    def head(self) -> str: ...
    def lines(self, runs: Sequence[int], measures: _Array, reasons: dict[int, str]) -> str: ...
    def values(self, parts: Sequence[float]) -> list[float]: ...
    def part(self, name: str, value: float) -> float | None: ...
    def other_files(self) -> list[Path]: ...

@final
class Dynamics:
    """The dynamics of a machine in the coordinates of its joints."""

    def __new__(
        cls,
        name: str,
        text: str,
        path: str | None,
        parameters: Sequence[tuple[str, str]],
        settings: dict[str, str],
        functions: dict[str, tuple[Callable[..., float], Callable[..., Sequence[float]] | None]],
        coordinates: Sequence[str] | None,
    ) -> Dynamics: ...
    @property
    def coordinates(self) -> list[str]: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def bodies(self) -> list[str]: ...
    @property
    def signals(self) -> list[tuple[str, str]]: ...
    @property
    def inputs(self) -> list[tuple[str, float]]: ...
    def ask(
        self,
        asked: str,
        coordinates: _Array,
        rates: _Array | None,
        third: _Array | None,
        inputs: Sequence[float],
        frame: str | None,
    ) -> tuple[_Array, list[int]]: ...

@final
class Step:
    """One accepted step of a run, as an observer sees it."""

    @property
    def time(self) -> float:
        """Time that was reached, in s."""
    @property
    def size(self) -> float:
        """Size of the step, in s."""
    def __getitem__(self, name: str, /) -> float:
        """Value of a signal."""

@final
class State:
    """Where a stepper stands between two steps: all that it needs to go on from there, to the same bits."""

    def __new__(cls, bytes: bytes) -> State: ...
    @property
    def time(self) -> float:
        """Time that was reached, in s."""
    def to_bytes(self) -> bytes:
        """The state as bytes, for a file; `State(bytes)` reads them."""
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[type[State], tuple[bytes]]: ...

@final
class Stepper:
    """A machine under way, for control and co-simulation: set inputs, advance, read signals."""

    @property
    def time(self) -> float:
        """Time that was reached, in s."""
    @property
    def assumptions(self) -> list[str]:
        """What was chosen because nobody said it: how steps are controlled."""
    @property
    def step_size(self) -> float:
        """Size of a step in s; where the error decides, how far `advance` goes at once."""
    @property
    def steps(self) -> int:
        """Number of steps so far."""
    @property
    def names(self) -> list[str]:
        """Names of the signals."""
    @property
    def units(self) -> dict[str, str]:
        """Unit of each signal, by name."""
    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
    @property
    def events(self) -> list[tuple[float, str]]:
        """Times and names of the events so far."""
    def advance(self, until: float | None = None) -> float:
        """Takes one step, or steps until the time `until` in s; gives the time that was reached.

        It does not go beyond the `end_time` of the stepper, if that was given.
        """
    def values(self, names: Sequence[str]) -> _Array:
        """Values of some signals as one array; a vector gives its three components."""
    def set_inputs(self, values: Mapping[str, float] | Sequence[float] | _Array) -> None:
        """Sets several inputs: numbers by name, or one for each input in the order of `inputs`."""
    @property
    def coordinate_names(self) -> list[str]:
        """Names of the coordinates of all joints but drives."""
    def coordinates(self) -> _Array:
        """Coordinates of the joints in rad or m, in the order of `coordinate_names`."""
    def coordinate_rates(self) -> _Array:
        """Rates of the coordinates, in the same order."""
    def poses(self, names: Sequence[str]) -> _Array:
        """Poses of bodies, markers and nodes of beams in the world, a row each: x, y, z in m, quaternion w, x, y, z."""
    def velocities(self, names: Sequence[str]) -> _Array:
        """Their velocities in world axes, a row each: angular velocity in rad/s, then velocity in m/s."""
    def state(self) -> State:
        """All that is needed to go on from here, to the same bits; a value that can be kept and pickled."""
    def set_state(self, state: State) -> None:
        """Goes to a state of this model with these settings, back in time or ahead."""
    def reset(self) -> None:
        """Goes back to the start; inputs have their initial values again."""
    def copy(self) -> Stepper:
        """Another stepper of the same machine at the same state, which goes its own way."""
    def __copy__(self) -> Stepper: ...
    def __deepcopy__(self, _memo: object) -> Stepper: ...
    def __reduce__(self) -> tuple[Callable[..., Stepper], tuple[tuple[Any, ...], State]]: ...
    def __getitem__(self, name: str, /) -> Any:
        """Value of a signal or of an input, a float; of a vector, `"top.position"`, an array of three."""
    def __setitem__(self, name: str, value: float, /) -> None:
        """Sets an input; it keeps its value until it is set again."""

@final
class Batch:
    """Steppers of one machine; each goes its own way."""

    def __new__(cls, machine: Machine, count: int) -> Batch: ...
    def __len__(self) -> int:
        """Return len(self)."""
    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, in the order of their columns."""
    @property
    def times(self) -> _Array:
        """Time that each has reached, in s."""
    @property
    def step_size(self) -> float:
        """Size of a step in s; where the error decides, how far one goes at once."""
    def advance(
        self, inputs: _Array | None, duration: float, signals: list[str]
    ) -> tuple[_Array, list[tuple[int, str]]]:
        """Sets inputs, a row each, advances by a time in s and reads signals; says which cannot go on, and why."""
    def state(self, place: int) -> State:
        """Where one of them stands."""
    def set_states(self, places: list[int], states: list[State] | None) -> None:
        """Brings some of them to states, one each, or all of these to the start."""

def _stepper_at(recipe: tuple[Any, ...], state: State) -> Stepper: ...
