"""The same numbers on a Dask cluster of two worker processes as alone.

Any other cluster does as well: ``Client("tcp://scheduler:8786")`` instead of the local one.
"""

import time

import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.model_selection import bootstrap_error, permutation_test

X, y = load_breast_cancer(return_X_y=True)


def work() -> dict[str, np.ndarray]:
    """Bootstrap a forest and test a logistic regression by permutations."""
    forest = RandomForestClassifier(30, random_state=0)
    regression = make_pipeline(StandardScaler(), LogisticRegression())
    options = {"n_permutations": 99, "cv": 5, "random_state": 0, "scoring": "roc_auc"}
    return {
        "bootstrap, 100 forests": bootstrap_error(
            forest, X, y, n_resamples=100, random_state=0
        ).replicates,
        "permutation test, 100 x 5 fits": permutation_test(
            regression, X, y, **options
        ).null_distribution,
    }


def main() -> None:
    """Do the work alone and on the cluster, and compare."""
    start = time.perf_counter()
    alone = work()
    middle = time.perf_counter()
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        workers = client.run(lambda: None)
        with joblib.parallel_config(backend="dask"):
            begin = time.perf_counter()
            together = work()
            end = time.perf_counter()
    for name, values in alone.items():
        np.testing.assert_array_equal(together[name], values)
        print(f"{name}: equal, mean {values.mean():.6f}")
    print(f"alone {middle - start:.1f} s, {len(workers)} worker processes {end - begin:.1f} s")
    print(f"ratio: {(middle - start) / (end - begin):.2f}")


if __name__ == "__main__":
    main()
