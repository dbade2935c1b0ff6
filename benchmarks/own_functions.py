"""Each function of ours that has a peer in scikit-learn, one line each: the same number, faster?

Data are made anew from the shape that the options give; both sides run in turn, and the figure is
the median of the paired ratios, ``scikit-learn time / skeval time``.
"""

import argparse
import statistics
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import sklearn.metrics as theirs
from _harness import seconds
from scipy.sparse import random as random_sparse
from threadpoolctl import threadpool_limits

from skeval import metrics
from skeval.metrics import cluster

MACRO = {"average": "macro"}


def manhattan(x: np.ndarray, y: np.ndarray) -> float:
    return np.abs(x - y).sum()


class Data:
    """Points, labels and predictions of one shape, made when asked for."""

    def __init__(self, n: int, p: int, k: int) -> None:
        rng = np.random.default_rng(0)
        self.labels = np.arange(n) % k
        self.points = rng.normal(size=(n, p)) + self.labels[:, None]
        self.sparse = random_sparse(n, p, 0.05, format="csr", random_state=0)
        self.predicted = np.where(rng.random(n) < 0.8, self.labels, rng.integers(0, k, n))
        self.few = slice(0, min(n, 400))  # a callable takes a microsecond a pair at least
        self.numbers, self.estimates = rng.normal(size=(2, n))

    @property
    def matrix(self) -> np.ndarray:
        if not hasattr(self, "_matrix"):
            self._matrix = theirs.pairwise_distances(self.points)
        return self._matrix


class Peers(NamedTuple):
    """Our function and scikit-learn's way to its number, both of the data."""

    ours: Callable[[Data], object]
    theirs: Callable[[Data], object]


def silhouette(data_of: Callable[[Data], tuple], **options: object) -> Peers:
    return Peers(
        lambda d: cluster.silhouette_score(*data_of(d), **options),
        lambda d: theirs.silhouette_score(*data_of(d), **options),
    )


def partitions(ours: Callable, peer: Callable) -> Peers:
    return Peers(lambda d: ours(d.labels, d.predicted), lambda d: peer(d.labels, d.predicted))


TABLE = {
    "silhouette": silhouette(lambda d: (d.points, d.labels)),
    "silhouette, manhattan": silhouette(lambda d: (d.points, d.labels), metric="manhattan"),
    "silhouette, precomputed": silhouette(lambda d: (d.matrix, d.labels), metric="precomputed"),
    "silhouette, sparse": silhouette(lambda d: (d.sparse, d.labels)),
    "silhouette, callable": silhouette(
        lambda d: (d.points[d.few], d.labels[d.few]), metric=manhattan
    ),
    "Davies-Bouldin, centroid": Peers(
        lambda d: cluster.davies_bouldin_score(d.points, d.labels, dispersion="centroid"),
        lambda d: theirs.davies_bouldin_score(d.points, d.labels),
    ),
    "Fowlkes-Mallows": partitions(cluster.fowlkes_mallows_score, theirs.fowlkes_mallows_score),
    "pair counts": partitions(
        lambda *y: 2 * cluster.pair_counts(*y)["both"],
        lambda *y: theirs.cluster.pair_confusion_matrix(*y)[1, 1],
    ),
    "error rate": partitions(metrics.error_rate, theirs.zero_one_loss),
    "macro F": partitions(
        metrics.macro_fbeta_score,
        lambda *y: f_of_means(*theirs.precision_recall_fscore_support(*y, **MACRO)),
    ),
    "error norm, ord=1": Peers(
        lambda d: metrics.error_norm(d.numbers, d.estimates, ord=1),
        lambda d: theirs.mean_absolute_error(d.numbers, d.estimates) * len(d.numbers),
    ),
    "error norm, ord=2": Peers(
        lambda d: metrics.error_norm(d.numbers, d.estimates),
        lambda d: theirs.root_mean_squared_error(d.numbers, d.estimates) * len(d.numbers) ** 0.5,
    ),
}


def f_of_means(precision: float, recall: float, *_: object) -> float:
    return 2 * precision * recall / (precision + recall)


def ratio(peers: Peers, data: Data, rounds: int) -> tuple[float, float, float]:
    """Return the median seconds of both sides and the median ratio, after checking the number."""
    np.testing.assert_allclose(peers.ours(data), peers.theirs(data), rtol=1e-6)
    pairs = [
        (seconds(lambda: peers.ours(data)), seconds(lambda: peers.theirs(data)))
        for _ in range(rounds)
    ]
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    return ours, peer, statistics.median(other / mine for mine, other in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="samples")
    parser.add_argument("--p", type=int, default=10, help="features")
    parser.add_argument("--k", type=int, default=5, help="clusters or classes")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="+", choices=TABLE, default=list(TABLE), metavar="NAME")
    options = parser.parse_args()
    data, found = Data(options.n, options.p, options.k), []
    print(f"n={options.n} p={options.p} k={options.k}")
    with threadpool_limits(1):
        for name in options.only:
            ours, peer, times = ratio(TABLE[name], data, options.rounds)
            found.append(times)
            print(f"{name:<26}{ours:>12.4g} s{peer:>12.4g} s{times:>8.2f}", flush=True)
    print(f"ratio: {min(found):.2f}")


if __name__ == "__main__":
    main()
