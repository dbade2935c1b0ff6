"""Local Dask clusters of 1, 2 and 4 worker processes: bytes sent, fits per second, same numbers.

Two permutation tests that keep their results (``memory=``): of a selecting SVM, whose fits a solver
does in batches, and of a forest in the generic path. Counted is all that any process of the cluster
writes to another, X on its way from here to the scheduler included, in units of the size of X. The
last ratio is that of the times of one worker and two, the worse of both runs. Any other cluster
does as well: ``Client("tcp://scheduler:8786")`` instead of the local one. With one worker joblib
runs the jobs in the calling process and sends nothing; with more, X goes to the scheduler, to a
worker, and from there to the others. Only where cores are free do the times say anything.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import joblib
import numpy as np
from _harness import seconds
from distributed import Client, LocalCluster
from distributed.comm import tcp
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval.model_selection import permutation_test

WORKERS = (1, 2, 4)


class Case(NamedTuple):
    """What is run on the cluster, and how many fits that takes."""

    work: Callable[[str], np.ndarray]
    n_fits: int


def make_cases(X: np.ndarray, y: np.ndarray, sizes: dict[str, int]) -> dict[str, Case]:
    """Return the two runs, which keep their results in a folder."""
    models = {
        "batch": make_pipeline(SelectKBest(k=50), SVC(kernel="linear")),
        "generic": RandomForestClassifier(20, random_state=0),
    }

    def make_case(model: Any, n_permutations: int) -> Case:
        options = {"cv": 10, "n_permutations": n_permutations, "random_state": 0}

        def work(memory: str) -> np.ndarray:
            return permutation_test(model, X, y, memory=memory, **options).null_distribution

        return Case(work, 10 * (1 + n_permutations))

    return {name: make_case(model, sizes[name]) for name, model in models.items()}


def count_writes() -> None:
    """Let this process count the bytes that it sends."""
    if hasattr(tcp, "bytes_sent"):
        return
    tcp.bytes_sent, write = 0, tcp.TCP.write

    async def counting_write(*args: object, **options: object) -> int:
        n_bytes = await write(*args, **options)
        tcp.bytes_sent += n_bytes
        return n_bytes

    tcp.TCP.write = counting_write


def read_count() -> int:
    """Return the bytes that this process has sent."""
    return tcp.bytes_sent


def measure(case: Case, n_workers: int) -> tuple[np.ndarray, float, int]:
    """Return the numbers of a run on a cluster of its own, its seconds and the bytes sent."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
    found = []

    def work() -> None:
        with tempfile.TemporaryDirectory() as memory:
            found.append(case.work(memory))

    with LocalCluster(**options, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        count_writes()
        client.run(count_writes)
        with joblib.parallel_config(backend="dask"):
            work()  # workers import what they need
            before = read_count() + sum(client.run(read_count).values())
            spent = seconds(work)
        sent = read_count() + sum(client.run(read_count).values()) - before
    np.testing.assert_array_equal(found[0], found[1])
    return found[1], spent, sent


def main() -> None:
    """Print a line for each run and number of workers, and the worst ratio of 1 to 2 last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--p", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=319, help="permutations of the first run")
    parser.add_argument("--generic", type=int, default=39, help="permutations of the second")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(options.n, options.p)), np.arange(options.n) % 2
    print(f"X: {options.n} x {options.p}, {X.nbytes / 1e6:.1f} MB; load {os.getloadavg()[0]:.1f}")
    ratios = []
    for name, case in make_cases(X, y, vars(options)).items():
        with tempfile.TemporaryDirectory() as memory:
            alone = case.work(memory)
        spent = {}
        for n_workers in WORKERS:
            rounds = [measure(case, n_workers) for _ in range(options.rounds)]
            for found, _, _ in rounds:
                np.testing.assert_array_equal(found, alone)
            spent[n_workers] = float(np.median([time for _, time, _ in rounds]))
            sent = rounds[-1][2]
            print(
                f"{name}, {n_workers} workers: {case.n_fits / spent[n_workers]:.1f} fits/s, "
                f"{sent / 1e6:.1f} MB sent, {sent / X.nbytes:.2f} times X",
                flush=True,
            )
        ratios.append(spent[1] / spent[2])
        print(f"{name}, 2 workers against 1: {ratios[-1]:.2f}")
    print(f"ratio: {min(ratios):.2f}")


if __name__ == "__main__":
    main()
