"""Faults of a Dask cluster: dead workers, a lost scheduler, unreadable partitions, little memory.

PUFOREST_KILLS is the number of fits in which a worker is killed at a random moment.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

from puforest import PUForestClassifier, Recipe
from puforest.dask import (
    DaskPUExtraTreesClassifier,
    DaskPUForestClassifier,
    SchedulerLostError,
    _cluster,
    _exact,
)

N_KILLS = int(os.environ.get("PUFOREST_KILLS", "2"))
N, LABELED = 20_000, 300
SETTINGS = {
    "prior": 0.3,
    "candidates": [Recipe(), Recipe("best", "nnpu", unlabeled_per_labeled=2)],
    "n_estimators": 40,
    "random_state": 3,
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.zeros(N, dtype=int)
    y[rng.choice(N, LABELED, replace=False)] = 1
    return rng.normal(size=(N, 6)) + 0.5 * y[:, None], y


@pytest.fixture(scope="module")
def expected(data):
    return PUForestClassifier(**SETTINGS).fit(*data)


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    wait_for_processes(cluster)
    with Client(cluster) as client:
        client.wait_for_workers(3, timeout=60)
        yield client


def fit(data, client, estimator=DaskPUForestClassifier, settings=SETTINGS, **options):
    X, y = (da.from_array(a, 2000) for a in data)
    return estimator(**settings, client=client).fit(X, y, **options)


def assert_same(forest, expected):
    for name, array in expected._forest._arrays().items():
        assert_array_equal(getattr(forest._forest, name), array, err_msg=name)
    assert forest.threshold_ == expected.threshold_


def worker_pids(cluster):
    """Return the living processes of the workers, restarted ones included."""
    pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
    return [pid for pid in pids if psutil.pid_exists(pid)]


def wait_for_processes(cluster):
    """Wait until workers that an earlier test killed have been started again."""
    for _ in range(600):
        if len(worker_pids(cluster)) == len(cluster.workers):
            return
        time.sleep(0.1)
    raise TimeoutError("workers were not started again")


class Killer(threading.Thread):
    """Kills some of the workers that there are after some seconds."""

    def __init__(self, cluster, n_workers, delay):
        super().__init__(daemon=True)
        self.cluster, self.n_workers, self.delay = cluster, n_workers, delay

    def run(self):
        time.sleep(self.delay)
        for pid in random.sample(worker_pids(self.cluster), self.n_workers):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def seconds(cluster, data):
    """Time of a fit without faults."""
    with Client(cluster) as client:
        fit(data, client)
        started = time.perf_counter()
        fit(data, client)
        return time.perf_counter() - started


@pytest.mark.parametrize("kill", range(N_KILLS))
def test_a_killed_worker_costs_a_retry(cluster, client, data, expected, seconds, kill):
    rng = np.random.default_rng([kill, time.time_ns()])
    delay = rng.uniform(0, seconds)
    print(f"killing a worker after {delay:.2f} of {seconds:.2f} s")
    killer = Killer(cluster, 1, delay)
    killer.start()
    assert_same(fit(data, client), expected)
    killer.join()


def test_two_of_three_workers_killed(cluster, client, data, expected, seconds):
    killer = Killer(cluster, 2, seconds / 2)
    killer.start()
    assert_same(fit(data, client), expected)
    killer.join()


def test_a_sent_forest_that_is_lost_is_sent_again(client, data, expected, monkeypatch):
    send, n_sent = _cluster.Tasks.send, []

    def lose_first(tasks, forest):
        future = send(tasks, forest)
        n_sent.append(future)
        if len(n_sent) == 1:
            tasks.client.cancel([future], force=True)
        return future

    monkeypatch.setattr(_cluster.Tasks, "send", lose_first)
    assert_same(fit(data, client), expected)


def test_interruption(client, data):
    def interrupt(done):
        if done > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(data, client, progress=interrupt)

    def left(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks if "puforest" in str(key)]

    for _ in range(100):
        if not client.run_on_scheduler(left):
            break
        time.sleep(0.1)
    assert client.run_on_scheduler(left) == []


def test_no_workers(data, monkeypatch):
    monkeypatch.setattr(_cluster, "NO_WORKERS_AFTER", 1.0)
    monkeypatch.setattr(_cluster, "ASK_AFTER", 0.2)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        pytest.raises(RuntimeError, match="has had no workers for 1 s"),
    ):
        fit(data, client)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize(
    "estimator",
    [
        {},
        {
            "estimator": DaskPUExtraTreesClassifier,
            "settings": {"prior": 0.3, "n_estimators": 50, "random_state": 0},
        },
    ],
    ids=["sampled", "exact"],
)
def test_lost_scheduler(data, tmp_path, monkeypatch, sign, estimator):
    monkeypatch.setattr(_exact, "HAND_OVER", 300)
    monkeypatch.setattr(_exact, "HAND_OVER_FRACTION", 0.0)
    file = tmp_path / "scheduler.json"
    commands = {
        "scheduler": ["--port", "0", "--no-dashboard", "--host", "127.0.0.1"],
        "worker": ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60"],
    }
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", f"distributed.cli.dask_{name}"),
                *("--scheduler-file", str(file), *options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, options in commands.items()
    ]
    try:
        client = Client(scheduler_file=str(file), timeout=60)
        address = client.scheduler.address
        lost = []

        def lose(done):
            if not lost:
                monkeypatch.setattr(_cluster, "LOST_AFTER", 5.0)
                lost.append(time.perf_counter())
                processes[0].send_signal(sign)

        with pytest.raises(SchedulerLostError, match=address):
            fit(data, client, **estimator, progress=lose)
        assert time.perf_counter() - lost[0] < 30
        processes[0].kill()
        client.close(timeout=1)
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def threads():
    """A cluster of threads, for faults of the data."""
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_corrupt_files_are_named(threads, data, tmp_path, form):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    for k in range(4):
        part = frame.iloc[k * 5000 : (k + 1) * 5000]
        if form == "parquet":
            part.to_parquet(tmp_path / f"part-{k}.parquet", row_group_size=500)
        else:
            part.to_csv(tmp_path / f"part-{k}.csv", index=False)
    read = dd.read_parquet if form == "parquet" else dd.read_csv
    ddf = read(f"{tmp_path}/part-*.{form}")
    bad = tmp_path / f"part-2.{form}"
    content = bad.read_bytes()
    corrupt = b"\0" * 2000 if form == "parquet" else b'"a,b\n1,2,3,4,5,6,7,8,9\n\xff\xfe\n'
    bad.write_bytes(content[:200] + corrupt + (b"" if form == "parquet" else content[200:]))
    with pytest.raises((ValueError, RuntimeError), match=rf"partition \d+ .*part-2\.{form}"):
        DaskPUForestClassifier(**SETTINGS, client=threads).fit(ddf, "label")


def test_partitions_that_differ(threads, data):
    X, y = data
    forest = DaskPUForestClassifier(**SETTINGS, client=threads)
    with pytest.raises(ValueError, match="y has 4 partitions, but X has 2"):
        forest.fit(da.from_array(X, 10_000), da.from_array(y, 5000))
    with pytest.raises(ValueError, match="y has 12000 rows in chunk 0, but X has 10000"):
        forest.fit(da.from_array(X, 10_000), da.from_array(y, ((12_000, 8000),)))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    labels = dd.from_map(lambda k: pd.Series(y[:12_000] if k == 0 else y[12_000:]), [0, 1])
    with pytest.raises(ValueError, match=r"partition . of X: X has 10000 rows and y has"):
        forest.fit(frame, labels)


def test_arguments(threads, data):
    X, y = data
    Xd, yd = da.from_array(X, 10_000), da.from_array(y, 10_000)
    with pytest.raises(TypeError, match="X must be a Dask DataFrame or a Dask Array, got ndarray"):
        DaskPUForestClassifier().fit(X, yd)
    with pytest.raises(TypeError, match="y must be a Dask Series"):
        DaskPUForestClassifier().fit(Xd, y)
    with pytest.raises(TypeError, match="client must be"):
        DaskPUForestClassifier(client="tcp://localhost").fit(Xd, yd)
    with pytest.raises(ValueError, match="only one class"):
        DaskPUForestClassifier(client=threads).fit(Xd, da.zeros_like(yd))


def test_no_worker_holds_all_rows():
    """The unlabeled rows take more memory than a worker may use."""
    limit, n_parts, n_part, width = 560 * 2**20, 40, 60_000, 30
    n_bytes = 8 * n_parts * n_part * width
    assert n_bytes + 200 * 2**20 > 1.2 * limit  # Python and its modules take 200 MB

    def block(block_info=None):
        k = block_info[None]["chunk-location"][0]
        return np.random.default_rng(k).normal(size=(n_part, width))

    X = da.map_blocks(block, chunks=((n_part,) * n_parts, (width,)), dtype=float)
    y = (da.arange(n_parts * n_part, chunks=n_part) % 12_000 == 0).astype(int)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit=limit,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        forest = DaskPUForestClassifier(0.3, candidates="fast", n_estimators=20, client=client)
        forest.fit(X, y)
        assert client.run(os.getpid) == pids  # none was restarted
        assert forest._record.n_unlabeled == n_parts * n_part - 200
