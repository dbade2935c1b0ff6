"""Batches of a solver in two worker processes against one process: the same numbers, bit for bit.

``--case permute-cv2`` tests a selecting SVM on 62 x 2000 by permutations, ``--case perturb-bc``
perturbs the cross-validation of a linear SVM on breast_cancer; without it, both, the worse last.
"""

import argparse
import os

import numpy as np
import permute_cv2
from _harness import colon, paired_ratio
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.model_selection import permutation_test, perturbation_interval

CASES = ("permute-cv2", "perturb-bc")


def make_work(name: str, n_draws: int):
    """Return a function of the number of workers that returns all numbers of a case."""
    if name == "permute-cv2":
        X, y, which = colon()
        print(f"data: {which}")
        options = {"n_permutations": n_draws, "random_state": 0}
        return lambda n_jobs: (
            permutation_test(
                permute_cv2.PROCEDURE, X, y, n_jobs=n_jobs, **options
            ).null_distribution
        )
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    options = {"n_resamples": n_draws, "random_state": 0}
    return lambda n_jobs: (
        perturbation_interval(SVC(kernel="linear"), X, y, n_jobs=n_jobs, **options).extra.statistics
    )


def main() -> None:
    """Print the ratio of one worker's time to that of two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ratios = []
    for name in [options.case] if options.case else CASES:
        work = make_work(name, options.repetitions)
        load = os.getloadavg()[0]
        print(f"{name}, {options.repetitions} repetitions; load of the machine before: {load:.1f}")
        ratio = paired_ratio(
            lambda work=work: work(2),
            lambda work=work: work(1),
            check=np.testing.assert_array_equal,
            rounds=options.rounds,
        )
        ratios.append(ratio)
    print(f"ratio: {min(ratios):.2f}")


if __name__ == "__main__":
    main()
