"""Sweeps on a Dask cluster: a scheduler and two workers as processes of this computer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kreisel
import numpy as np
import pytest
from test_sweep import spring

distributed = pytest.importorskip("distributed")
parquet = pytest.importorskip("pyarrow.parquet")

MEASURES = {"low": "min(bob.position.x)", "quarter": "first(bob.position.x, 0)"}
SETTINGS: dict[str, Any] = {"end_time": 0.3, "step": "1 ms"}


class Cluster:
    """A scheduler and two workers, which end with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        address = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                     "--scheduler-file", str(address))
        self.workers = [self.worker() for _ in range(2)]
        with distributed.Client(scheduler_file=str(address), timeout=60) as client:
            client.wait_for_workers(2, timeout=120)
            self.address: str = client.scheduler.address

    def worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--scheduler-file", str(self.folder / "scheduler.json"), "--nthreads", "1", "--no-nanny",
                           "--no-dashboard", "--local-directory", str(self.folder))

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-B", "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        log = open(self.folder / f"{words[0]}.log", "ab")
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=dict(os.environ))

    def stop(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    yield started
    started.stop()


def test_a_sweep_loses_nothing_when_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    vary = {"mass": "-0.2:3", "spring-rate": "log(4, 8)"}
    more: dict[str, Any] = {"sample": 160, "sampling": "latin-hypercube", "seed": 3, **SETTINGS}
    local = kreisel.sweep(spring(), vary, MEASURES, out=tmp_path / "local", **more)
    seen: list[int] = []

    def kill(done: int, count: int) -> None:
        seen.append(done)
        if done >= 20 and cluster.workers[0].poll() is None:
            cluster.workers[0].kill()
            cluster.workers[0].wait()

    result = kreisel.sweep(spring(), vary, MEASURES, out=tmp_path / "far", scheduler=cluster.address, progress=kill, **more)
    assert cluster.workers[0].poll() is not None and seen[0] == 0 and seen[-1] == 160
    tables = [(tmp_path / where / "sweep.csv").read_bytes() for where in ("local", "far")]
    assert tables[0] == tables[1] and b",failed," in tables[0]
    # Not a number is equal to nothing, but its bits are.
    assert all(result[name].tobytes() == local[name].astype(result[name].dtype).tobytes() for name in local)
    assert result.reasons == local.reasons and len(result.reasons) > 0
    rows = parquet.read_table(result.path)
    assert rows["run"].to_pylist() == list(range(160)) and not (tmp_path / "far" / "parts").exists()
    # Done is done: the same call reads its table, without a worker.
    cluster.workers[1].kill()
    again = kreisel.sweep(spring(), vary, MEASURES, out=tmp_path / "far", scheduler=cluster.address, **more)
    assert again["low"].tobytes() == local["low"].tobytes()
    with pytest.raises(kreisel.SweepError, match="another sweep"):
        kreisel.sweep(spring(), vary, "max(bob.position.x)", out=tmp_path / "far", scheduler=cluster.address, **more)


def test_an_interrupted_sweep_goes_on_and_models_bring_their_files(cluster: Cluster, tmp_path: Path) -> None:
    spring(**SETTINGS).write(tmp_path / "part.toml")
    whole = 'include = ["part.toml"]\n[parameters]\nmass = 2\n"spring-rate" = "8 N/m"\n[simulation]\nend-time = 0.2\nstep = "1 ms"\n'
    (tmp_path / "whole.toml").write_text(whole)
    model = kreisel.Model.read(tmp_path / "whole.toml")
    vary, out = {"mass": "1:3:120"}, tmp_path / "out"

    def interrupt(done: int, count: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with distributed.Client(cluster.address) as client:
        with pytest.raises(kreisel.Interrupted):
            kreisel.sweep(model, vary, MEASURES, out=out, scheduler=client, progress=interrupt)
        kept = sum(parquet.read_metadata(path).num_rows for path in (out / "parts").iterdir())
        assert 10 <= kept < 120
        first: list[int] = []
        result = kreisel.sweep(model, vary, MEASURES, out=out, scheduler=client, progress=lambda done, _: first.append(done))
        assert first[0] == kept
    local = kreisel.sweep(model, vary, MEASURES)
    assert all(np.array_equal(result[name], local[name]) for name in ("run", "mass", "low"))


def test_a_sweep_on_a_cluster_neither_reads_nor_writes_through_links(cluster: Cluster, tmp_path: Path) -> None:
    names = ["sweep.parquet", "sweep.csv", "sweep.json", "sweep.journal", "parts", "parts/part-000000.parquet"]
    names += [".sweep.parquet.part", "sweep.parquet.part", "sweep.csv.part", "sweep.json.part"]
    refused = []
    for number, name in enumerate(names):
        out, precious = tmp_path / f"out{number}", tmp_path / f"precious{number}"
        # A folder for a folder.
        kept = precious / "file" if name == "parts" else precious
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(b"precious")
        link = out / name
        link.parent.mkdir(parents=True)
        link.symlink_to(precious)
        try:
            kreisel.sweep(spring(), {"mass": [1, 2]}, MEASURES, out=out, scheduler=cluster.address, **SETTINGS)
        except kreisel.Error as error:
            assert "link" in str(error), f"{name}: {error}"
            refused.append(name)
        else:
            # Its own file stands there, or nobody needed the name.
            assert name.endswith(".part") or not link.is_symlink(), name
        assert kept.read_bytes() == b"precious", name
        assert name != "parts" or list(precious.iterdir()) == [kept]
    assert {"sweep.parquet", "sweep.journal", "parts", "parts/part-000000.parquet"} <= set(refused)


def test_a_scheduler_that_does_not_answer_is_an_error_after_seconds(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(kreisel.ClusterError, match="no scheduler answers at tcp://127.0.0.1:1 "):
        kreisel.sweep(spring(), {"mass": [1]}, MEASURES, scheduler="tcp://127.0.0.1:1", out=tmp_path, **SETTINGS)
    assert time.monotonic() - began < 20
    with pytest.raises(kreisel.ArgumentError, match="`scheduler` must be"):
        kreisel.sweep(spring(), {"mass": [1]}, MEASURES, scheduler=3, out=tmp_path, **SETTINGS)  # type: ignore[arg-type]


def test_what_a_cluster_needs_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, words in [("pyarrow", "pip install pyarrow"), ("distributed", "pip install distributed")]:
        with monkeypatch.context() as hidden:
            hidden.setitem(sys.modules, module, None)
            with pytest.raises(ImportError, match=words):
                kreisel.sweep(spring(), {"mass": [1]}, MEASURES, scheduler="tcp://127.0.0.1:1", out=tmp_path, **SETTINGS)


def test_batches_follow_the_measured_time_and_memory_holds_few() -> None:
    """The sizes alone, without a cluster: seconds of work each, the rest shared out, few under way."""
    from kreisel._cluster import BATCH_SECONDS, MOST_RUNS, _Runs

    runs = _Runs.__new__(_Runs)
    runs.threads, runs.left, runs.seconds = 100, 1_000_000, None
    assert runs._size() == 1
    runs.seconds = 0.01
    assert runs._size() == int(BATCH_SECONDS / 0.01)
    runs.left = 1000
    assert runs._size() == 5
    runs.left, runs.seconds = 1_000_000, 1e-9
    assert runs._size() == min(MOST_RUNS, 5000) or runs._size() == MOST_RUNS
    runs.seconds = 60.0
    assert runs._size() == 1
