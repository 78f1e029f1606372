"""The table of a large sweep as Parquet files: parts as rows come, one sorted file at the end."""

from __future__ import annotations

import os
import shutil
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import _kreisel
from ._errors import SweepError, writing
from ._sweep import _folder, _write_whole

MOST_ROWS = 50_000
"""Rows that are kept in memory before they are written, and rows of a group in the file."""
MOST_SECONDS = 5.0
"""How long rows stay in memory only."""
MARK = b"kreisel-sweep"


class Table:
    """Rows of a sweep on their way to the files `sweep.parquet` and `sweep.csv` of a folder.

    Memory holds the rows that are not written yet and one bit of knowledge for each run, whatever the length of the table.
    """

    def __init__(self, folder: Path, checked: _kreisel.Sweep) -> None:
        """Opens the folder and takes over what it holds of the same sweep."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("a sweep on a cluster writes Parquet files: `pip install pyarrow`") from error
        self.arrow = pyarrow
        self.checked, self.folder, self.parts = checked, folder, folder / "parts"
        self.count = checked.count()
        self.parameters, self.measures = checked.columns
        columns = [("run", pyarrow.int64())]
        columns += [(name, pyarrow.float64()) for name in (*self.parameters, *self.measures)]
        columns += [("status", pyarrow.string()), ("reason", pyarrow.string())]
        self.schema = pyarrow.schema(columns, metadata={MARK: checked.identity.encode()})
        self.is_done = np.zeros(self.count, dtype=bool)
        self.buffer: list[Any] = []
        self.rows, self.written = 0, time.monotonic()
        _folder(folder)
        if self.parts.is_symlink():
            raise SweepError(f"error: {self.parts} is a symbolic link; files of a sweep are not written through links")
        self._take_over()

    def _take_over(self) -> None:
        # A journal of another sweep is refused here; it is begun if there is none, so that others are refused later.
        runs, numbers, reasons = self.checked.kept(self.folder / "sweep.journal")
        for path in self._files():
            file = self.arrow.parquet.ParquetFile(path)
            if (file.schema_arrow.metadata or {}).get(MARK) != self.schema.metadata[MARK]:
                raise SweepError(f"error: {path} holds runs of another sweep; choose another folder, or remove this one")
            self.is_done[file.read(["run"])["run"].to_numpy()] = True
        measures = numbers.reshape(-1, len(self.measures))
        for run, row in zip(runs, measures, strict=True):
            if not self.is_done[run]:
                self.add(run, row[None, :], {run: reasons[run]} if run in reasons else {})

    def _files(self) -> list[Path]:
        whole = self.folder / "sweep.parquet"
        files = [whole] if whole.exists() else sorted(self.parts.glob("part-*.parquet"))
        for path in files:
            if path.is_symlink():
                raise SweepError(f"error: {path} is a symbolic link; files of a sweep are not read through links")
        return files

    def missing(self) -> list[tuple[int, int]]:
        """Runs that are not in the table yet, from a number to before another."""
        edges = np.flatnonzero(np.diff(np.concatenate(([1], self.is_done.view(np.int8), [1]))))
        return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]

    def add(self, start: int, measures: NDArray[np.float64], reasons: Mapping[int, str]) -> None:
        """Adds the runs from a number on; those with a reason failed."""
        stop = start + len(measures)
        if self.is_done[start:stop].any():
            raise AssertionError("a run must not be in a table twice")
        self.is_done[start:stop] = True
        runs = np.arange(start, stop)
        points = self.checked.points(start, stop).reshape(-1, len(self.parameters))
        why = [reasons.get(run, "") for run in runs.tolist()]
        status = ["failed" if run in reasons else "done" for run in runs.tolist()]
        self.buffer.append(self.arrow.record_batch([runs, *points.T, *measures.T, status, why], schema=self.schema))
        self.rows += len(runs)
        if self.rows >= MOST_ROWS or time.monotonic() - self.written > MOST_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Writes the rows that came since the last time as a file of their own."""
        self.written = time.monotonic()
        if not self.buffer:
            return
        table = self.arrow.Table.from_batches(self.buffer, self.schema).sort_by("run")
        with writing(self.parts):
            self.parts.mkdir(exist_ok=True)
            number = len(list(self.parts.glob("part-*.parquet")))
        path = self.parts / f"part-{number:06}.parquet"
        with writing(path), _whole(path) as file:
            self.arrow.parquet.write_table(table, file)
        self.buffer, self.rows = [], 0

    def finish(self) -> Path:
        """Puts the parts together in the order of runs, some thousands at a time, and removes them."""
        self.flush()
        path = self.folder / "sweep.parquet"
        if path.exists() and not self.parts.exists():
            return path
        files = self._files()
        failed = 0
        spans = {file: _span(self.arrow.parquet.ParquetFile(file)) for file in files}
        with (
            writing(path),
            _whole(path) as parquet,
            _whole(self.folder / "sweep.csv") as lines,
            self.arrow.parquet.ParquetWriter(parquet, self.schema) as writer,
        ):
            lines.write(self.checked.head().encode())
            for start in range(0, self.count, MOST_ROWS):
                window = [file for file, (low, high) in spans.items() if low < start + MOST_ROWS and high >= start]
                rows = self._rows(window, start, start + MOST_ROWS)
                writer.write_table(rows)
                lines.write(self._lines(rows).encode())
                failed += sum(1 for why in rows["reason"].to_pylist() if why)
        crc32 = {file.name: _crc32(file) for file in (path, self.folder / "sweep.csv")}
        _write_whole(self.folder / "sweep.json", self.checked.summary(failed, crc32))
        shutil.rmtree(self.parts, ignore_errors=True)
        return path

    def _rows(self, files: list[Path], start: int, stop: int) -> Any:
        among = [("run", ">=", start), ("run", "<", stop)]
        read = self.arrow.parquet.read_table
        tables = [read(file, filters=among).replace_schema_metadata(self.schema.metadata) for file in files]
        return self.arrow.concat_tables(tables).sort_by("run")

    def _lines(self, rows: Any) -> str:
        runs = rows["run"].to_pylist()
        measures = np.column_stack([rows[name].to_numpy() for name in self.measures])
        reasons = {run: why for run, why in zip(runs, rows["reason"].to_pylist(), strict=True) if why}
        return self.checked.lines(runs, measures, reasons)


def _span(file: Any) -> tuple[int, int]:
    groups = [file.metadata.row_group(place).column(0).statistics for place in range(file.metadata.num_row_groups)]
    return min(group.min for group in groups), max(group.max for group in groups)


def _crc32(path: Path) -> str:
    """The CRC-32 of a file, in eight hexadecimal digits."""
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return f"{crc:08x}"


class _whole:
    """A file that gets its name when it is whole, and is not written through a link."""

    def __init__(self, path: Path) -> None:
        self.path, self.part = path, path.with_name(path.name + ".part")

    def __enter__(self) -> BinaryIO:
        self.part.unlink(missing_ok=True)
        self.file = open(self.part, "xb")
        return self.file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.file.close()
        if kind is None:
            os.replace(self.part, self.path)
