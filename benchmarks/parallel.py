"""The generic path with two workers against one: no backend is forced, results are the same."""

import numpy as np
from _harness import paired_ratio, parse_arguments
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from skeval.model_selection import permutation_test


def main() -> None:
    """Print the ratio."""
    arguments = parse_arguments(__doc__)
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=20, random_state=0)

    def null(n_jobs: int) -> np.ndarray:
        test = permutation_test(
            forest, X, y, cv=5, n_permutations=40, random_state=0, n_jobs=n_jobs
        )
        return test.null_distribution

    paired_ratio(
        lambda: null(2),
        lambda: null(1),
        check=np.testing.assert_array_equal,
        rounds=arguments.rounds,
    )


if __name__ == "__main__":
    main()
