"""What runs leave behind."""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._errors import ArgumentError, ClosedError, Error
from ._parts import Number

if TYPE_CHECKING:
    from ._model import Model, Path_
    from ._parts import Number, Numbers

Array = NDArray[np.float64]
# Of a node: position, unit quaternion w, x, y, z, velocity and angular velocity.
_NODE_NUMBERS = 13


class Result:
    """The signals of a run: `result["top.position.z"]` is a NumPy array over `result.time`.

    In Jupyter a result shows the moving machine. Arrays are read-only and share the memory of the run.
    """

    axis = "time"
    """What the arrays stand over."""
    axis_unit = "s"
    """Its unit."""
    _initial: Mapping[str, Number] | None = None
    """Initial coordinates that replaced those of the model."""

    def __init__(
        self,
        model: Model,
        settings: Mapping[str, Number | Numbers | None],
        channels: list[tuple[str, str]],
        times: Array,
        columns: list[Array],
        nodes: Array | None,
        summary: str,
    ) -> None:
        """Made by `Model.simulate` and `Model.static`."""
        self.model = model
        self._settings = dict(settings)
        self._units = dict(channels)
        self._times = times
        self._columns = {name: column for (name, _), column in zip(channels, columns, strict=True)}
        self._nodes = nodes
        self._summary = summary
        self._closed = False
        self._freeze()

    def _freeze(self) -> None:
        for array in (self._times, *self._columns.values(), self._nodes):
            if array is not None:
                array.flags.writeable = False

    def _open(self) -> None:
        if self._closed:
            raise ClosedError("this result is closed; run the model again")

    @property
    def time(self) -> Array:
        """Output times in s."""
        self._open()
        return self._times

    @property
    def names(self) -> list[str]:
        """Names of the signals."""
        return list(self._units)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each signal, by name."""
        return dict(self._units)

    @property
    def summary(self) -> dict[str, Any]:
        """What `run.json` holds: how the run ended, its settings, statistics, events, warnings and assumptions."""
        found: dict[str, Any] = json.loads(self._summary)
        return found

    @property
    def status(self) -> str:
        """How the run ended: `done`, `interrupted` (also by an observer) or `failed`."""
        return str(self.summary["status"])

    @property
    def verdict(self) -> str:
        """Whether the result can be trusted, as far as Kreisel knows: `good`, `doubtful` (see `notes`) or `wrong`."""
        return str(self.summary["verdict"])

    @property
    def accuracy(self) -> dict[str, Any] | None:
        """Estimated errors by quantity (`positions`, `angles`, …), each with `error`, `size` and `quotient`; with `error_estimate=True`."""
        found: dict[str, Any] | None = self.summary.get("accuracy")
        return found

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts of steps, iterations and the like."""
        return dict(self.summary["statistics"])

    @property
    def events(self) -> list[tuple[float, str]]:
        """Times and names of the events, in order."""
        return [(event["time"], event["event"]) for event in self.summary["events"]]

    @property
    def warnings(self) -> list[str]:
        """What the user should know."""
        return list(self.summary["warnings"])

    @property
    def notes(self) -> list[dict[str, Any]]:
        """The warnings as data: `kind` and `text`, and `time`, `subject`, `number` and `advice` where there are any;
        those with `doubt` cast doubt on the result."""
        return list(self.summary["notes"])

    def __getitem__(self, name: str) -> Array:
        """The values of a signal; `"time"` gives the times, and a vector such as `"top.position"` an array n × 3."""
        self._open()
        if name == self.axis:
            return self._times
        try:
            return self._columns[self._full_name(name)]
        except (AttributeError, KeyError, TypeError):
            vector = self._vector(name)
            if vector is not None:
                return vector
            near = get_close_matches(str(name), self._columns, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else "; `names` lists all"
            raise KeyError(f"there is no signal `{name}`{hint}") from None

    def nodes(self, beam: str) -> Array:
        """Positions of the nodes of a beam in the world: n × k × 3, for n output times and k nodes from its start to its end."""
        self._open()
        if self._nodes is None:
            raise ArgumentError("the motion of the nodes was not kept; `simulate(motion=True)` keeps it")
        machine = self.model._machine(self._settings, self._initial)
        if beam not in machine.beams:
            known = "`, `".join(machine.beams)
            raise KeyError(f"there is no beam `{beam}`; there is " + (f"`{known}`" if known else "none"))
        numbers = np.reshape(self._nodes, (len(self._times), -1, _NODE_NUMBERS))
        places = machine.beam_nodes(beam)
        found = np.empty((len(self._times), len(places), 3))
        for column, (node, offset) in enumerate(places):
            if node is None:
                found[:, column] = offset
                continue
            position, scalar, axis = numbers[:, node, :3], numbers[:, node, 3:4], numbers[:, node, 4:7]
            # A node at a body stands away from its centre of mass: q v q*.
            twice = 2 * np.cross(axis, np.asarray(offset, dtype=float))
            found[:, column] = position + offset + scalar * twice + np.cross(axis, twice)
        found.flags.writeable = False
        return found

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return self._full_name(name) in self._columns or name == self.axis or self._is_vector(name)

    def _is_vector(self, name: object) -> bool:
        return all(f"{name}.{axis}" in self._columns for axis in "xyz")

    def _vector(self, name: str) -> Array | None:
        """The components x, y and z of a vector side by side."""
        if not self._is_vector(name):
            return None
        vector: Array = np.column_stack([self._columns[f"{name}.{axis}"] for axis in "xyz"])
        vector.flags.writeable = False
        return vector

    def _full_name(self, name: str) -> str:
        """The rate of a joint's only coordinate may be called `rate` alone: `crank.rate` is `crank.angle-rate`."""
        if name in self._columns or not name.endswith(".rate"):
            return name
        owner = name.removesuffix("rate")
        rates = [one for one in self._columns if one.startswith(owner) and one.endswith("-rate")]
        rates = [one for one in rates if "." not in one.removeprefix(owner)]
        return rates[0] if len(rates) == 1 else name

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of output times."""
        self._open()
        return len(self._times)

    def __repr__(self) -> str:
        if self._closed:
            return "<kreisel.Result, closed>"
        rows, signals = len(self._times), len(self._columns)
        return f"<kreisel.Result of {self.model.name}: {signals} signals at {rows} times, {self.status}>"

    def frame(self, library: str | None = None) -> Any:
        """A table of all signals: of pandas, with the time as index, or of polars, with it as first column.

        `library` is `"pandas"` or `"polars"`; without it the first that is installed is taken.
        """
        self._open()
        if library not in (None, "pandas", "polars"):
            raise ArgumentError(f'`library` must be "pandas" or "polars", not {library!r}')
        if library != "polars":
            try:
                import pandas

                return pandas.DataFrame(self._columns, index=pandas.Index(self._times, name=self.axis))
            except ImportError:
                if library == "pandas":
                    raise
        try:
            import polars
        except ImportError as error:
            raise ImportError("a frame needs pandas or polars: `pip install pandas`") from error
        return polars.DataFrame({self.axis: self._times, **self._columns})

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draws signals with matplotlib and gives the axes; a name without its component draws all of them.

        `result.plot("top.position")` draws x, y and z.
        """
        self._open()
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as error:
            raise ImportError("plots need matplotlib: `pip install matplotlib`") from error
        if not names:
            raise ArgumentError("name the signals to be drawn; `names` lists all")
        chosen = [signal for name in names for signal in self._matching(name)]
        axes = pyplot.subplots()[1] if ax is None else ax
        for name in chosen:
            axes.plot(self._times, self._columns[name], label=f"{name} [{self._units[name]}]")
        axes.set_xlabel(f"{self.axis} [{self.axis_unit}]")
        axes.legend()
        return axes

    def _matching(self, name: str) -> Iterable[str]:
        if self._full_name(name) in self._columns:
            return [self._full_name(name)]
        found = [signal for signal in self._columns if signal.startswith(f"{name}.")]
        if not found:
            _ = self[name]
        return found

    def save(self, folder: Path_, *, force: bool = False) -> list[Path]:
        """Writes the files that `kreisel run` writes, the report among them; gives their paths.

        A folder that holds something else than results of this model is refused, unless by `force`.
        """
        self._open()
        if self._nodes is None:
            raise Error("the motion was not kept: run the model without `motion=False`")
        machine = self.model._machine(self._settings, self._initial)
        is_static = isinstance(self, StaticResult)
        columns = list(self._columns.values())
        return machine.save(folder, force, is_static, self._times, columns, self._nodes, self._summary)

    def to_html(self) -> str:
        """The report as one HTML page: the moving machine, plots and facts."""
        with tempfile.TemporaryDirectory() as folder:
            self.save(folder, force=True)
            page = Path(folder, "report.html")
            if not page.exists():
                raise Error("no report was made")
            return page.read_text(encoding="utf-8")

    def _repr_html_(self) -> str | None:
        """The report in a frame, for Jupyter."""
        if self._closed or self._nodes is None or isinstance(self, StaticResult):
            return None
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 0"></iframe>'

    def close(self) -> None:
        """Gives the memory back; arrays that were taken before stay."""
        self._closed = True
        self._times, self._columns, self._nodes = np.empty(0), {}, None

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()


class StaticResult(Result):
    """Equilibria over the load factor; the last one is `result[name][-1]`."""

    axis = "load-factor"
    axis_unit = "1"
    reactions: dict[str, list[float]]
    """What each joint exerts on its second body at the last equilibrium, in world axes: torque, then force."""

    @property
    def load_factor(self) -> Array:
        """Load factors of the equilibria."""
        return self.time

    @property
    def limit_points(self) -> list[float]:
        """Load factors at which the path turns."""
        return [float(factor) for factor in self.statistics["limit-points"]]

    def __repr__(self) -> str:
        if self._closed:
            return "<kreisel.StaticResult, closed>"
        return f"<kreisel.StaticResult of {self.model.name}: {len(self._times)} equilibria, {self.status}>"


class Modes:
    """Small motions of a machine: frequencies, damping, shapes and the matrices they come from."""

    def __init__(
        self,
        eigenvalues: list[Array],
        shapes: list[Array],
        dominant: list[tuple[str, float]],
        residuals: tuple[Array, int],
        coordinates: list[str],
        matrices: dict[str, Array],
        notes: str,
    ) -> None:
        """Made by `Model.modes`."""
        count = len(eigenvalues[0]) - residuals[1]
        all_eigenvalues, all_shapes = eigenvalues[0] + 1j * eigenvalues[1], shapes[0] + 1j * shapes[1]
        self.eigenvalues: NDArray[np.complex128] = all_eigenvalues[:count]
        """Eigenvalues in 1/s, the slowest first; of each pair the one with positive imaginary part."""
        self.shapes: NDArray[np.complex128] = all_shapes[:, :count]
        """A column for each mode, a row for each of `coordinates`."""
        self.dominant = dominant[:count]
        """The part that moves most in each mode, with its share of the kinetic energy."""
        self.residuals: Array = residuals[0][:count]
        """How good each mode is: the size of its correction beside its own."""
        self.overdamped: Array = all_eigenvalues[count:].real
        """Eigenvalues in 1/s of motions that decay without oscillation, the slowest first."""
        self.overdamped_shapes: Array = all_shapes[:, count:].real
        """Their shapes, as `shapes`."""
        self.coordinates = coordinates
        """Names and units of the rows of `shapes`."""
        self.matrices = matrices
        """`mass`, `damping`, `stiffness` and the constraint `gradient` as dense arrays."""
        self.notes: list[dict[str, Any]] = json.loads(notes)
        """What the user should know about the model and the state, as data: see `Result.notes`."""
        self.warnings: list[str] = [note["text"] for note in self.notes]
        """The same in words."""

    @property
    def frequencies(self) -> Array:
        """Frequencies in Hz."""
        return self.eigenvalues.imag / (2 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios: 0 undamped, 1 overdamped, negative where the motion grows."""
        size = np.abs(self.eigenvalues)
        return np.divide(-self.eigenvalues.real, size, out=np.zeros_like(size), where=size > 0) + 0.0

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def __repr__(self) -> str:
        rows = zip(self.frequencies, self.damping_ratios, self.dominant, strict=True)
        lines = [f"{number + 1:4}  {frequency:14.6g}  {damping:13.6f}  {part} ({100 * share:.0f} %)"
                 for number, (frequency, damping, (part, share)) in enumerate(rows)]
        return "\n".join(["mode  frequency [Hz]  damping ratio  dominant part", *lines])
