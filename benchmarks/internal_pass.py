"""Every internal index in one call against the silhouette of scikit-learn, or all that it has."""

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from _harness import growth_slope
from sklearn.datasets import make_blobs
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from skeval.metrics.cluster import internal_indices

SWEEP = [2500, 5000, 10_000, 20_000]
N_NEIGHBORS = 10


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--overlap", type=float, default=5.0, help="standard deviation of a blob")
    parser.add_argument("--unequal", action="store_true", help="sizes of a heavy tail")
    parser.add_argument("--peer", choices=["silhouette", "all"], default="silhouette")
    parser.add_argument("--floor", action="store_true", help="time products and roots alone, too")
    parser.add_argument("--memory", action="store_true", help="print the peak above the data")
    parser.add_argument("--sweep", action="store_true", help="print how the cost grows instead")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def data(arguments: argparse.Namespace, n: int) -> tuple[np.ndarray, np.ndarray]:
    sizes: int | list[int] = n
    centers: int | None = arguments.clusters
    if arguments.unequal:
        share = np.random.default_rng(0).pareto(1.0, arguments.clusters) + 0.2
        sizes = np.maximum(2, share / share.sum() * n).astype(int)
        sizes[sizes.argmax()] += n - sizes.sum()
        sizes, centers = sizes.tolist(), None
    return make_blobs(
        sizes, arguments.d, centers=centers, cluster_std=arguments.overlap, random_state=0
    )


def all_of_scikit_learn(X: np.ndarray, y: np.ndarray) -> float:
    """Compute what a user would call for the same numbers."""
    davies_bouldin_score(X, y)
    calinski_harabasz_score(X, y)
    NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X).kneighbors()
    return silhouette_score(X, y)


def product_and_root(X: np.ndarray) -> None:
    """Compute the products and roots of all pairs in tiles, and nothing else."""
    right = np.column_stack([X, (X**2).sum(axis=1), np.ones(len(X))])
    left = np.column_stack([-2 * X, np.ones(len(X)), right[:, -2]])
    space = np.empty((256, 512))
    for i in range(0, len(X), 256):
        for j in range(i, len(X), 512):
            block = space[: min(256, len(X) - i), : min(512, len(X) - j)]
            np.matmul(left[i : i + 256], right[j : j + 512].T, out=block)
            np.sqrt(np.abs(block, out=block), out=block)


def cpu_and_wall(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def peak_megabytes() -> float:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024**2 if sys.platform == "darwin" else 1024)


def compare(arguments: argparse.Namespace, X: np.ndarray, y: np.ndarray) -> None:
    peer = silhouette_score if arguments.peer == "silhouette" else all_of_scikit_learn
    np.testing.assert_allclose(internal_indices(X, y)["silhouette"], peer(X, y), rtol=1e-10)
    sides = {"skeval": lambda: internal_indices(X, y), "peer": lambda: peer(X, y)}
    if arguments.floor:
        sides["floor"] = lambda: product_and_root(X)
    rounds = [
        {name: cpu_and_wall(work) for name, work in sides.items()} for _ in range(arguments.rounds)
    ]
    for name in sides:
        cpu, wall = np.median([spent[name] for spent in rounds], axis=0)
        print(f"{name:<7}{cpu:.3g} s CPU, {wall:.3g} s")
    if arguments.floor:
        ratio = np.median([spent["skeval"][0] / spent["floor"][0] for spent in rounds])
        print(f"above the floor: {ratio:.2f}x CPU")
    cpu, wall = np.median([np.divide(spent["peer"], spent["skeval"]) for spent in rounds], axis=0)
    print(f"CPU ratio: {cpu:.1f}")
    print(f"ratio: {wall:.1f}")


def main() -> None:
    arguments = parse_arguments()
    with threadpool_limits(1):
        if arguments.sweep:
            sets = {n: data(arguments, n) for n in SWEEP}
            growth_slope("n", SWEEP, lambda n: internal_indices(*sets[n]))
            return
        X, y = data(arguments, arguments.n)
        print(f"n={len(X)} d={arguments.d} K={arguments.clusters} overlap={arguments.overlap}")
        if arguments.memory:
            internal_indices(X[:2000], y[:2000])  # what the libraries hold, at any size
            before = peak_megabytes()
            internal_indices(X, y)
            print(f"{peak_megabytes() - before:.0f} MB above the data")
            return
        compare(arguments, X, y)


if __name__ == "__main__":
    main()
