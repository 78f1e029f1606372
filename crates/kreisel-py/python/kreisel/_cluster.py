"""Sweeps on a Dask cluster: batches to the workers, rows back into Parquet files as they come."""

from __future__ import annotations

import importlib
import os
import pickle
import tempfile
import time
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from . import _kreisel
from ._errors import ArgumentError, ClusterError, Interrupted
from ._sweep import Array, Request, SweepResult
from ._tables import Table

CONNECT_SECONDS = 5.0
"""How long a scheduler may take to answer."""
BATCH_SECONDS = 2.0
"""Work of a batch: long against the scheduler's millisecond, short against the patience of a user."""
LEAST_SECONDS = 0.05
"""Work of the smallest batches, when a sweep comes to its end and its rest is shared out."""
MOST_RUNS = 10_000
"""Most runs of a batch."""
PATIENCE = 15.0
"""Seconds without a worker after which the user is told."""

Batch = tuple[int, int]
"""Runs from a number to before another."""
Rows = tuple[bytes, list[tuple[int, str]], float]
"""Measures as bytes, reasons by place in the batch, and the seconds that it took."""


def packed(request: Request, checked: _kreisel.Sweep) -> bytes:
    """A model with all that a worker must know of a sweep, files that it includes among it."""
    model = request.model
    files: dict[str, bytes] = {}
    if model._path is not None:
        root = Path(model._path).parent
        files = {os.path.relpath(path, root): Path(path).read_bytes() for path in checked.other_files()}
    content = (_kreisel.__version__, model, files, request.variations, request.measures, request.settings)
    return zlib.compress(_pickled(content))


def _pickled(content: object) -> bytes:
    try:
        return pickle.dumps(content)
    except (pickle.PicklingError, AttributeError, TypeError):
        # Functions of a notebook; Dask brings cloudpickle along.
        import cloudpickle

        dumped: bytes = cloudpickle.dumps(content)
        return dumped


def run_batch(payload: bytes, points: Array) -> Rows:
    """What a worker does: some runs, one after the other."""
    began = time.perf_counter()
    version, model, files, variations, measures, settings = pickle.loads(zlib.decompress(payload))
    if version != _kreisel.__version__:
        raise ClusterError(f"a worker has kreisel {_kreisel.__version__}, this computer {version}; they must be the same")
    with tempfile.TemporaryDirectory(prefix="kreisel-") as folder:
        if files:
            model._path = str(_unfolded(Path(folder), Path(model._path).name, model._text, files))
        elif model._path is not None:
            # Messages name the model as they do where it was read.
            model._name, model._path = model._path, None
        request = Request(model, {}, measures, settings)
        request.variations = variations
        # An array that came through a network need not be aligned in memory.
        is_done, numbers, reasons, _, error = request.sweep().batch(np.require(points, float, ["C", "A"]))
    if error is not None:
        raise error
    if not all(is_done):
        raise ClusterError("a batch was cut short")
    return numbers.tobytes(), reasons, time.perf_counter() - began


def _unfolded(folder: Path, name: str, text: str, files: dict[str, bytes]) -> Path:
    for relative, content in {name: text.encode(), **files}.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / name


def sweep(
    request: Request,
    checked: _kreisel.Sweep,
    scheduler: Any,
    folder: Path,
    told: Callable[[int], object] | None,
) -> SweepResult:
    """Runs a sweep on a cluster; see `kreisel.sweep`."""
    table = Table(folder, checked)
    with _client(scheduler) as client:
        runs = _Runs(client, packed(request, checked), checked, table)
        try:
            for done in runs:
                if told is not None:
                    told(done)
        except KeyboardInterrupt:
            table.flush()
            words = "the sweep was interrupted; the same call goes on with the runs that are missing"
            raise Interrupted(words) from None
        except BaseException:
            table.flush()
            raise
        finally:
            runs.cancel()
    path = table.finish()
    return SweepResult(*checked.columns, path=path)


def _dask() -> Any:
    """Dask's package, whose functions have no types."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError("a cluster needs Dask: `pip install distributed`") from error


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    distributed = _dask()
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    if not isinstance(scheduler, str):
        raise ArgumentError(f"`scheduler` must be an address or a `distributed.Client`, not {scheduler!r}")
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        words = f"no scheduler answers at {scheduler} within {CONNECT_SECONDS:.0f} s; start it with `dask scheduler`"
        raise ClusterError(words) from error
    except ValueError as error:
        raise ArgumentError(f"`{scheduler}` is no address of a scheduler: {error}") from error
    with client:
        yield client


class _Runs:
    """Hands out batches and takes rows in; iterating gives the number of finished runs now and then.

    Only a few batches for each thread of the workers are under way at a time. A worker that dies loses its batches to the others, by
    the scheduler; a batch whose workers keep dying is divided, until the run is found that kills them.
    """

    def __init__(self, client: Any, payload: bytes, checked: _kreisel.Sweep, table: Table) -> None:
        self.client, self.payload, self.checked, self.table = client, payload, checked, table
        self.width = len(checked.columns[0])
        self.missing = table.missing()
        self.left = sum(stop - start for start, stop in self.missing)
        self.flying: dict[Any, Batch] = {}
        self.queue = _dask().as_completed(loop=client.loop)
        self.seconds: float | None = None
        self.token = uuid.uuid4().hex
        self.threads, self.asked, self.seen = 1, -np.inf, time.monotonic()
        self.warned = False

    def __iter__(self) -> Iterator[int]:
        done = self.table.count - self.left
        yield done
        while self.missing or self.flying:
            self._look_at_workers()
            self._hand_out()
            ready = self.queue.next_batch(block=False)
            if not ready:
                time.sleep(0.005)
            for future in ready:
                done += self._take_in(future, self.flying.pop(future))
            if ready:
                yield done

    def cancel(self) -> None:
        """Takes back what is under way."""
        if self.flying and self.client.status == "running":
            self.client.cancel(list(self.flying), force=True)

    def _look_at_workers(self) -> None:
        now = time.monotonic()
        if now - self.asked < 1.0:
            return
        self.asked = now
        if self.client.status != "running":
            raise ClusterError("the scheduler has gone; finished runs are kept, the same call goes on with the rest")
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        threads = sum(worker["nthreads"] for worker in workers)
        self.threads = max(1, threads)
        if threads:
            self.seen = now
        elif now - self.seen > PATIENCE and not self.warned:
            self.warned = True
            warnings.warn("the scheduler has no workers; still waiting for one", stacklevel=2)

    def _hand_out(self) -> None:
        while self.missing and len(self.flying) < 2 * self.threads:
            start, stop = self.missing.pop(0)
            middle = min(stop, start + self._size())
            if middle < stop:
                self.missing.insert(0, (middle, stop))
            self.left -= middle - start
            self._submit((start, middle))

    def _size(self) -> int:
        """Runs of the next batch: some seconds, less when all are shared out soon; one each until a time is measured."""
        if self.seconds is None:
            return 1
        share = -(-self.left // (2 * self.threads))
        least = int(LEAST_SECONDS / self.seconds)
        return max(1, min(int(BATCH_SECONDS / self.seconds), max(share, least), MOST_RUNS))

    def _submit(self, batch: Batch) -> None:
        points = self.checked.points(*batch).reshape(-1, self.width)
        key = f"kreisel-{self.token}-{batch[0]}-{batch[1]}-{uuid.uuid4().hex[:8]}"
        future = self.client.submit(run_batch, self.payload, points, key=key, pure=False)
        self.flying[future] = batch
        self.queue.add(future)

    def _take_in(self, future: Any, batch: Batch) -> int:
        """Writes the rows of a batch; gives their number, none if it has to be done again."""
        start, stop = batch
        count = stop - start
        try:
            numbers, reasons, seconds = future.result()
        except _dask().KilledWorker:
            if count > 1:
                middle = start + count // 2
                self._submit((start, middle))
                self._submit((middle, stop))
                return 0
            numbers, reasons, seconds = None, [(0, "its workers died")], np.nan
        except CancelledError as error:
            raise ClusterError("the scheduler has gone; finished runs are kept, the same call goes on with the rest") from error
        except ImportError as error:
            raise ClusterError(f"a worker cannot run kreisel: {error}; install the same version there") from error
        width = len(self.checked.columns[1])
        measures = np.full((1, width), np.nan) if numbers is None else np.frombuffer(numbers).reshape(count, width)
        self.table.add(start, measures, {start + place: reason for place, reason in reasons})
        if np.isfinite(seconds):
            each = seconds / count
            self.seconds = each if self.seconds is None else 0.7 * self.seconds + 0.3 * each
        return count
