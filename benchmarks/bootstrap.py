"""The .632 and .632+ bootstrap against mlxtend's, which computes another number.

``python benchmarks/bootstrap.py --case 632|generic`` prints the ratio last. mlxtend scores every
bootstrap model on all samples where the definition has the one fit on all samples, so times are
compared, not values; what is checked is that our .632 is its definition on our own resamples.
"""

import argparse
import warnings

import numpy as np
from _harness import colon, growth_slope, paired_ratio
from mlxtend.evaluate import bootstrap_point632_score
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.model_selection import BootstrapSplit, bootstrap_error


def case(name: str) -> tuple:
    """Return estimator, samples, labels and the number of resamples."""
    if name == "632":
        X, y, which = colon()
        print(f"data: {which}")
        return SVC(kernel="linear"), X, np.unique(y, return_inverse=True)[1], 1000
    X, y = load_breast_cancer(return_X_y=True)
    return LogisticRegression(), StandardScaler().fit_transform(X), y, 200


def check_definition(model: object, X: np.ndarray, y: np.ndarray) -> None:
    """Check .632 against its definition on 20 resamples."""
    found = bootstrap_error(
        model, X, y, method=".632", average="bootstraps", n_resamples=20, random_state=0
    )
    split = BootstrapSplit(20, random_state=0)
    errors = [
        np.mean(clone(model).fit(X[train], y[train]).predict(X[test]) != y[test])
        for train, test in split.split(X, y)
    ]
    apparent = np.mean(clone(model).fit(X, y).predict(X) != y)
    np.testing.assert_allclose(found.value, 0.368 * apparent + 0.632 * np.mean(errors), rtol=1e-6)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=["632", "generic"], default="632")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # mlxtend's own
    model, X, y, n_resamples = case(options.case)

    def ours(n: int) -> dict[str, float]:
        plus = bootstrap_error(model, X, y, method=".632+", n_resamples=n, random_state=0)
        return {
            ".632+": plus.value,
            ".632": 0.368 * plus.extra.resubstitution + 0.632 * plus.extra.oob,
        }

    def theirs() -> dict[str, float]:
        return {
            method: 1
            - np.mean(
                bootstrap_point632_score(
                    model, X, y, n_splits=n_resamples, method=method, random_seed=0
                )
            )
            for method in (".632", ".632+")[: 2 if options.case == "632" else 1]
        }

    if options.sweep:
        growth_slope("resamples", [250, 500, 1000, 2000], ours)
        return
    check_definition(model, X, y)
    paired_ratio(
        lambda: ours(n_resamples),
        theirs,
        check=lambda a, b: print("skeval", a, "mlxtend", b),
        rounds=options.rounds,
    )


if __name__ == "__main__":
    main()
