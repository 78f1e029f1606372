"""Many runs of one model: parameters vary, measures of the motion are kept."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _kreisel
from ._errors import ArgumentError, Interrupted, writing
from ._model import Model, Path_, _count, _words
from ._parts import Number, Numbers

if TYPE_CHECKING:
    from distributed import Client

Array = NDArray[np.float64]

Values = str | Numbers
"""Values of a parameter: `"10:20:8"`, `"log(1e3, 1e6, 20)"`, `"10 cm:20 cm"`, or numbers one by one."""
Measures = str | Sequence[str] | Mapping[str, str]
"""What is measured: an expression, several, or several with the names of their columns."""
Progress = bool | Callable[[int, int], object]
"""`True` for a line on a terminal, or a function that is called with the numbers of finished runs and of all."""


class Request:
    """A model and what is to be varied and measured, in the words of the command."""

    def __init__(
        self,
        model: Model,
        vary: Mapping[str, Values],
        measure: Measures,
        settings: Mapping[str, Number | None],
        sample: int | None = None,
        sampling: str = "random",
        seed: int = 1,
    ) -> None:
        """Writes the words; mistakes in them are found by `sweep`."""
        known = model.parameter_values
        self.model = model
        self.settings = {name: _words(value) for name, value in settings.items() if value is not None}
        self.variations = [f"{_parameter(name, known)}={_texts(name, values)}" for name, values in vary.items()]
        self.measures = _measures(measure)
        self.sample = None if sample is None else _count("sample", sample)
        self.sampling, self.seed = sampling, _count("seed", seed)

    def sweep(self) -> _kreisel.Sweep:
        """The sweep, checked against its model."""
        model = self.model
        return _kreisel.Sweep(
            model._name, model._text, model._path, list(model._assignments.items()), self.settings,
            dict(model._functions), self.variations, self.measures, self.sample, self.sampling, self.seed,
        )  # fmt: skip


def _parameter(name: str, known: Mapping[str, float]) -> str:
    dashed = name.replace("_", "-")
    return dashed if name not in known and dashed in known else name


def _texts(name: str, values: Values) -> str:
    if isinstance(values, str):
        return values
    if isinstance(values, (bytes, bytearray)):
        raise ArgumentError(f"`{name}` must vary over a range in words or over several numbers, not over bytes")
    try:
        return ",".join(_words(value) for value in values)
    except TypeError:
        raise ArgumentError(f"`{name}` must vary over a range in words or over several numbers") from None


def _measures(measure: Measures) -> list[str]:
    if isinstance(measure, str):
        return [measure]
    if isinstance(measure, Mapping):
        return [f"{name} = {text}" for name, text in measure.items()]
    return list(measure)


class SweepResult:
    """The table of a sweep: `result["mass"]` and `result["max(top.position.z)"]` are arrays, an entry for each run.

    Measures of runs that failed are not numbers; `result.reasons` says why they failed. A sweep on a cluster leaves its
    table in the file `result.path`, which is read when it is first asked for.
    """

    def __init__(
        self,
        parameters: Sequence[str],
        measures: Sequence[str],
        columns: Mapping[str, Array] | None = None,
        reasons: Mapping[int, str] | None = None,
        path: Path | None = None,
    ) -> None:
        """Made by `kreisel.sweep`."""
        self.parameters = list(parameters)
        """Columns of what varies, with units in brackets."""
        self.measures = list(measures)
        """Columns of what is measured."""
        self.path = path
        """The Parquet file of a sweep on a cluster."""
        self._columns = None if columns is None else dict(columns)
        self._reasons = dict(reasons or {})

    def _table(self) -> dict[str, Any]:
        if self._columns is None:
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(self.path)
            failed = [(run, why) for run, why in zip(table["run"].to_pylist(), table["reason"].to_pylist(), strict=True) if why]
            self._reasons = dict(failed)
            names = ["run", *self.parameters, *self.measures]
            self._columns = {name: table[name].to_numpy() for name in names}
        return self._columns

    @property
    def reasons(self) -> dict[int, str]:
        """Why runs failed, by their number."""
        self._table()
        return dict(self._reasons)

    def __getitem__(self, name: str) -> Array:
        """A column: `"run"`, a parameter (with or without its unit) or a measure."""
        table = self._table()
        matching = [name] if name in table else [one for one in self.parameters if one.startswith(f"{name} [")]
        if not matching:
            raise KeyError(f"there is no column `{name}`; there is `{'`, `'.join(table)}`")
        column: Array = table[matching[0]]
        return column

    def __len__(self) -> int:
        """Number of runs in the table."""
        return len(self._table()["run"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __repr__(self) -> str:
        return f"<kreisel.SweepResult: {len(self)} runs, {len(self.reasons)} failed>"

    def frame(self, library: str | None = None) -> Any:
        """The table as a frame of pandas or polars, with the columns `status` and `reason` at its end."""
        if library not in (None, "pandas", "polars"):
            raise ArgumentError(f'`library` must be "pandas" or "polars", not {library!r}')
        reasons = [self._reasons.get(int(run), "") for run in self["run"]]
        status = ["failed" if int(run) in self._reasons else "done" for run in self["run"]]
        columns = {**self._table(), "status": status, "reason": reasons}
        if library != "polars":
            try:
                import pandas

                return pandas.DataFrame(columns)
            except ImportError:
                if library == "pandas":
                    raise
        try:
            import polars
        except ImportError as error:
            raise ImportError("a frame needs pandas or polars: `pip install pandas`") from error
        return polars.DataFrame(columns)

    def plot(self, measure: str, over: str | None = None, ax: Any = None) -> Any:
        """Draws a measure over a parameter (the first if not named) with matplotlib and gives the axes."""
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as error:
            raise ImportError("plots need matplotlib: `pip install matplotlib`") from error
        over = self.parameters[0] if over is None else over
        axes = pyplot.subplots()[1] if ax is None else ax
        axes.plot(self[over], self[measure], "-o" if len(self.parameters) == 1 else "o", markersize=3)
        axes.set_xlabel(over)
        axes.set_ylabel(measure)
        return axes


def sweep(
    model: Model,
    vary: Mapping[str, Values],
    measure: Measures,
    *,
    sample: int | None = None,
    sampling: str = "random",
    seed: int = 1,
    out: Path_ | None = None,
    threads: int = 0,
    progress: Progress = False,
    scheduler: str | Client | None = None,
    **settings: Number,
) -> SweepResult:
    """Runs a model many times with other parameters, on all cores or on a cluster, and keeps measures of each run.

    - `vary`: values of parameters, as in `kreisel sweep --vary`; several parameters give all combinations.
    - `measure`: max, min, mean, rms, last, at(x, time), first(x, level) of signals, and what can be computed of them.
    - `sample`: take so many samples of the ranges; `sampling` is `random`, `latin-hypercube` or `sobol`.
    - `out`: a folder for `sweep.csv`; finished runs are kept there, so that the same call goes on after an interruption.
    - `scheduler`: address of a Dask scheduler, or a `distributed.Client`: runs are done by its workers, and the table is
      written to `sweep.parquet` in `out` (`results/<model>-sweep` if not given) as well.
    - `progress`: `True` for a line on a terminal, or a function of the numbers of finished runs and of all.
    - Other arguments replace those of the model's `[simulation]`: `end_time`, `step`, …

    Numbers and their order depend neither on threads nor on the cluster. Ctrl-C raises `Interrupted`; its `result` holds the
    finished runs.

    >>> model = Model("fall").parameters(height=1.0)
    >>> model.point_mass("stone", mass=1, position=[0, 0, "height"])
    <kreisel.Model fall>
    >>> result = sweep(model, {"height": [1, 4]}, {"landing": "first(stone.position.z, 0)"}, end_time=1, step=1e-3)
    >>> result["landing"].round(4).tolist()  # √(2 h / g)
    [0.4516, 0.9032]
    """
    request = Request(model, vary, measure, settings, sample, sampling, seed)
    threads = min(_count("threads", threads), 2**31)
    checked = request.sweep()
    told = _told(progress, checked.count())
    if scheduler is not None:
        from . import _cluster

        folder = Path("results") / f"{model.name}-sweep" if out is None else Path(out)
        return _cluster.sweep(request, checked, scheduler, folder, told)
    return _local(checked, None if out is None else Path(out), threads, told)


def _local(checked: _kreisel.Sweep, out: Path | None, threads: int, told: Callable[[int], object] | None) -> SweepResult:
    if out is not None:
        _folder(out)
    journal = None if out is None else out / "sweep.journal"
    is_done, numbers, failed, _, error = checked.run(threads, journal, told)
    runs = np.flatnonzero(is_done)
    parameters, measures = checked.columns
    points = checked.points(0, checked.count()).reshape(-1, len(parameters))[runs]
    values = numbers.reshape(-1, len(measures))[runs]
    columns = dict(zip(["run", *parameters, *measures], [runs, *points.T, *values.T], strict=True))
    result = SweepResult(parameters, measures, columns, dict(failed))
    if isinstance(error, KeyboardInterrupt):
        stopped = Interrupted("the sweep was interrupted; `result` holds the finished runs")
        stopped.result = result
        raise stopped from None
    if error is not None:
        raise error
    if out is not None:
        text = checked.head() + checked.lines(runs.tolist(), values, dict(failed))
        _write_whole(out / "sweep.csv", text)
        _write_whole(out / "sweep.json", checked.summary(len(failed), {"sweep.csv": f"{zlib.crc32(text.encode()):08x}"}))
    return result


def _folder(path: Path) -> None:
    """Makes a folder for results, if it is not there."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def _write_whole(path: Path, text: str) -> None:
    """A file that is there as a whole or not at all; never through a link."""
    part = path.with_name(path.name + ".part")
    with writing(path):
        part.unlink(missing_ok=True)
        with open(part, "xb") as file:
            file.write(text.encode())
        os.replace(part, path)


def _told(progress: Progress, count: int) -> Callable[[int], object] | None:
    if progress is False:
        return None
    if progress is not True:
        return lambda done: progress(done, count)
    began = time.monotonic()
    first: list[int] = []

    def line(done: int) -> None:
        # Runs that were taken over took no time.
        first.append(done)
        elapsed, new = time.monotonic() - began, done - first[0]
        left = f", still about {elapsed / new * (count - done):.0f} s" if new else ""
        end = "\n" if done == count else ""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {count} runs{left}\x1b[K{end}")
            sys.stderr.flush()

    return line
