"""Peak memory of every internal index in one call, above the data, in a fresh process."""

import resource
import sys

from _harness import parse_arguments
from sklearn.datasets import make_blobs

from skeval.metrics.cluster import internal_indices

SIZES = {False: [50_000], True: [12_500, 25_000, 50_000]}
MARK = 300  # MB


def peak_megabytes() -> float:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024**2 if sys.platform == "darwin" else 1024)


def main() -> None:
    arguments = parse_arguments(__doc__)
    for n_samples in SIZES[arguments.sweep]:  # ascending: ru_maxrss never falls
        X, y = make_blobs(n_samples, 10, centers=8, cluster_std=5.0, random_state=0)
        internal_indices(X[:2000], y[:2000])  # what the libraries hold, at any size
        before = peak_megabytes()
        internal_indices(X, y)
        print(f"n={n_samples}: {peak_megabytes() - before:.0f} MB above the data, mark {MARK} MB")


if __name__ == "__main__":
    main()
