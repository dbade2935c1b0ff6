"""The calls that a user writes, against the loop of scikit-learn that does the same.

Default folds, shuffled and repeated ones, leave-one-out; AUC or three scorers; behind a scaler or
not. Both sides are run in turn in one process, and the median of the paired ratios is printed with
the smallest: a ratio below 1 is slower than the loop. Each side draws its own random folds, so the
two are held against each other by distribution only; `tests/_adapters` compares the numbers.
scikit-learn may be run on the first permutations only (``--peer-permutations``): its time is then
scaled up. ``--cpu`` takes processor time, for a machine that others use too. The last line is
the smallest of all medians.

A row is added by a line in `MODELS` or in `CALLS`.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    error_interval,
    permutation_test,
)

MODELS = {
    "ridge": RidgeClassifier(),
    "knn": KNeighborsClassifier(),
    "lda": LinearDiscriminantAnalysis(),
    "logistic": LogisticRegression(max_iter=1000),
    "nb": GaussianNB(),
    "centroid": NearestCentroid(),
    "qda": QuadraticDiscriminantAnalysis(),
}
TEN = StratifiedKFold(10, shuffle=True)
THREE = ["accuracy", "roc_auc", "balanced_accuracy"]
REAL = {"bc": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def permuted(**asked: Any) -> tuple[Callable, Callable]:
    """Return a permutation test and its loop; `asked` is what the user adds to the call."""

    def ours(model: Any, X: Any, y: Any, options: argparse.Namespace) -> float:
        permutation_test(model, X, y, n_permutations=options.permutations, **asked)
        return 1.0

    def peer(model: Any, X: Any, y: Any, options: argparse.Namespace) -> float:
        rng, few = np.random.default_rng(), options.peer_permutations
        cv, scoring = asked.get("cv", TEN), asked.get("scoring")
        for _ in range(few):
            labels = rng.permutation(y)
            if isinstance(scoring, list):
                cross_validate(model, X, labels, cv=cv, scoring=scoring)
            else:
                cross_val_score(model, X, labels, cv=cv, scoring=scoring)
        return (1 + options.permutations) / few

    return ours, peer


def estimated(function: Callable, n_fits: Callable[[int], int], **asked: Any) -> tuple:
    """Return an estimate of error, and the loop of as many fits and predictions."""

    def ours(model: Any, X: Any, y: Any, options: argparse.Namespace) -> float:
        function(model, X, y, **asked)
        return 1.0

    def peer(model: Any, X: Any, y: Any, options: argparse.Namespace) -> float:
        wanted, done = n_fits(len(y)), 0
        while done < min(wanted, 100):
            done += len(cross_val_score(model, X, y, cv=TEN))
        return wanted / done

    return ours, peer


def left_out() -> tuple:
    """Return leave-one-out and its loop."""

    def peer(model: Any, X: Any, y: Any, options: argparse.Namespace) -> float:
        folds = list(LeaveOneOut().split(X))
        cross_val_score(model, X, y, cv=folds[: options.peer_permutations * 10])
        return len(folds) / len(folds[: options.peer_permutations * 10])

    return estimated(cross_val_error, len, cv=LeaveOneOut())[0], peer


REPEATED = RepeatedStratifiedKFold(n_splits=5, n_repeats=2)
CALLS: dict[str, tuple] = {
    "permutation_test(model, X, y)": permuted(),
    "permutation_test(cv=5)": permuted(cv=5),
    "permutation_test(cv=StratifiedKFold(10, shuffle=True))": permuted(cv=TEN),
    "permutation_test(cv=RepeatedStratifiedKFold(5, 2))": permuted(cv=REPEATED),
    "permutation_test(scoring='roc_auc')": permuted(scoring="roc_auc"),
    "permutation_test(scoring='balanced_accuracy')": permuted(scoring="balanced_accuracy"),
    "permutation_test(scoring='f1')": permuted(scoring="f1"),
    "permutation_test(scoring=[three])": permuted(scoring=THREE),
    "cross_val_error(cv=LeaveOneOut())": left_out(),
    "error_interval(model, X, y)": estimated(error_interval, lambda n: 100),
    "bootstrap_error(model, X, y)": estimated(bootstrap_error, lambda n: 201),
}


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["ridge", "knn", "lda"])
    parser.add_argument("--calls", nargs="+", default=[""], help="parts of the names of calls")
    parser.add_argument("--data", choices=[*REAL, "noise"], default="bc")
    parser.add_argument("--n", type=int, default=200, help="samples of --data noise")
    parser.add_argument("--p", type=int, default=50, help="columns of --data noise")
    parser.add_argument("--k", type=int, default=2, help="classes of --data noise")
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--scaled", action="store_true", help="put a StandardScaler before it")
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--peer-permutations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="processor time")
    return parser.parse_args()


def make_data(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, str]:
    """Return samples, labels and a name."""
    if options.data != "noise":
        X, y = REAL[options.data](return_X_y=True)
    else:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(options.n, options.p)), np.arange(options.n) % options.k
    X = X.astype(np.float32) if options.float32 else X
    return X, y, f"{options.data} {X.shape[0]} x {X.shape[1]}, {X.dtype}"


def main() -> None:
    """Print a line for each call, and the smallest ratio."""
    options = parse()
    X, y, name = make_data(options)
    clock = time.process_time if options.cpu else time.perf_counter
    print(f"{name}, {'processor' if options.cpu else 'wall'} time")
    worst = np.inf
    for model_name in options.models:
        model = MODELS[model_name]
        if options.scaled:
            model = make_pipeline(StandardScaler(), model)
        for call, (ours, peer) in CALLS.items():
            if not any(part in call for part in options.calls):
                continue
            if "roc_auc" in str(call) and len(np.unique(y)) > 2:
                continue

            def spent(work: Callable, model: Any = model) -> float:
                start = clock()
                share = work(model, X, y, options)
                return (clock() - start) * share

            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spent(ours), spent(peer)  # the warm-up
                pairs = [(spent(ours), spent(peer)) for _ in range(options.rounds)]
            ratios = [theirs / mine for mine, theirs in pairs]
            worst = min(worst, statistics.median(ratios))
            mine = statistics.median(mine for mine, _ in pairs)
            print(
                f"{model_name:9s}{call:56s}{mine:8.3f} s   x {statistics.median(ratios):6.2f}"
                f"   (smallest {min(ratios):.2f})",
                flush=True,
            )
    print(f"ratio: {worst:.2f}")


if __name__ == "__main__":
    main()
