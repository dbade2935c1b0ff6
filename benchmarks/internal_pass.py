"""Every internal index in one call against scikit-learn's silhouette alone."""

import numpy as np
from _harness import growth_slope, paired_ratio, parse_arguments
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from skeval.metrics.cluster import internal_indices

N_SAMPLES, N_FEATURES, N_CLUSTERS = 20_000, 10, 8


def data(n_samples: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(n_samples, N_FEATURES, centers=N_CLUSTERS, cluster_std=spread, random_state=0)


def same_silhouette(ours: object, peer: object) -> None:
    np.testing.assert_allclose(ours.silhouette, peer, rtol=1e-10)


def main() -> None:
    arguments = parse_arguments(__doc__)
    if arguments.sweep:
        growth_slope("n", [2500, 5000, 10_000, 20_000], lambda n: internal_indices(*data(n)))
        return
    for name, spread in [("overlapping clusters", 5.0), ("separated clusters", 1.0)]:
        X, y = data(N_SAMPLES, spread)
        print(f"{name}: n={N_SAMPLES} d={N_FEATURES} K={N_CLUSTERS}")
        paired_ratio(
            lambda X=X, y=y: internal_indices(X, y),
            lambda X=X, y=y: silhouette_score(X, y),
            check=same_silhouette,
            rounds=arguments.rounds,
        )


if __name__ == "__main__":
    main()
