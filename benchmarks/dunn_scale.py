"""Exact Dunn index at growing size, against all pairs where they fit."""

import numpy as np
from _harness import parse_arguments, seconds
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from skeval.metrics.cluster import dunn_score
from skeval.metrics.cluster._distance_pass import distance_pass
from skeval.metrics.cluster._samples import check_samples

N_JOBS = 2
SIZES = [(10**4, 3), (10**5, 3), (10**6, 3), (10**5, 10)]
MOST_FOR_ALL_PAIRS = 10**4
SWEEP = [(n, d) for d in (2, 3, 10) for n in (10**4, 3 * 10**4, 10**5)]


def by_all_pairs(X: np.ndarray, y: np.ndarray) -> float:
    samples = check_samples(X, y, metric="euclidean", noise=None)
    starts = samples.partition.starts
    reduced = distance_pass(samples.tiles, starts, len(X), sums=False, n_jobs=N_JOBS)
    return reduced.smallest.min() / reduced.largest.max()


def timed(n_samples: int, n_features: int) -> float:
    X, y = make_blobs(n_samples, n_features, centers=8, cluster_std=3.0, random_state=0)
    value: list[float] = []
    spent = min(
        seconds(lambda: value.append(dunn_score(X, y, n_jobs=N_JOBS)))
        for _ in range(3 if n_samples <= 10**5 else 1)
    )
    print(f"n={n_samples} d={n_features}: {spent:.3g} s, Dunn {value[0]:.6g}", flush=True)
    if n_samples <= MOST_FOR_ALL_PAIRS:
        np.testing.assert_allclose(value[0], by_all_pairs(X, y), rtol=1e-12)
        print("  equal to all pairs")
    return spent


def main() -> None:
    arguments = parse_arguments(__doc__)
    with threadpool_limits(1):
        sizes = SWEEP if arguments.sweep else SIZES
        spent = {(n, d): timed(n, d) for n, d in sizes}
    for d in sorted({d for _, d in sizes}):
        points = [(n, t) for (n, features), t in spent.items() if features == d]
        if len(points) > 1:
            n, t = np.log(points).T
            print(f"growth exponent in {d}-D: {np.polyfit(n, t, 1)[0]:.2f}")


if __name__ == "__main__":
    main()
