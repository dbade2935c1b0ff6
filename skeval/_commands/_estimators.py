"""The estimators that the command line knows by name, and those that it imports."""

from __future__ import annotations

import importlib
import sys
from typing import Any

__all__ = ["CLASSIFIERS", "REGRESSORS", "make_named", "parse_path"]

CLASSIFIERS = ("linear-svm", "rbf-svm", "logistic", "lda", "knn", "forest")
REGRESSORS = ("ridge", "linear-svm", "rbf-svm", "knn", "forest")


def make_named(name: str, seed: int, *, numbers: bool) -> Any:
    """Return the classifier of a name, or the regressor where numbers are predicted."""
    from sklearn import ensemble, linear_model, neighbors, svm
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from skeval.utils._seeds import small_seed

    known = REGRESSORS if numbers else CLASSIFIERS
    if name not in known:
        kind = "numbers" if numbers else "classes"
        raise ValueError(
            f"--estimator must be one of {', '.join(known)} or module:object where the target "
            f"holds {kind}, got {name!r}."
        )
    if name == "forest":
        forest = ensemble.RandomForestRegressor if numbers else ensemble.RandomForestClassifier
        return forest(random_state=small_seed(seed))
    if numbers:
        return {
            "ridge": linear_model.Ridge(),
            "linear-svm": svm.SVR(kernel="linear"),
            "rbf-svm": svm.SVR(),
            "knn": neighbors.KNeighborsRegressor(),
        }[name]
    return {
        "linear-svm": svm.SVC(kernel="linear"),
        "rbf-svm": svm.SVC(),
        "logistic": linear_model.LogisticRegression(max_iter=5000),
        "lda": LinearDiscriminantAnalysis(),
        "knn": neighbors.KNeighborsClassifier(),
    }[name]


def parse_path(path: str) -> Any:
    """Return the estimator that ``module:object`` names: an estimator, or what makes one.

    The module is imported, from the current folder too, and nothing is unpickled.
    """
    module_name, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--estimator {path!r} cannot be imported: {error}.") from error
    makes = isinstance(found, type) or (callable(found) and not hasattr(found, "fit"))
    made = found() if makes else found
    if not hasattr(made, "fit"):
        raise ValueError(f"--estimator {path!r} must name an estimator, got {made!r}.")
    return made
