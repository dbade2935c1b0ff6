"""The experiment over data sets: the scores of scikit-learn, kept when it is stopped."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import compare_scores, run_over_datasets

TWO = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
DATA = {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)}
FOLDS_OF_ALL = KFold(4)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def test_scores_are_those_of_scikit_learn():
    found = run_over_datasets(TWO, DATA, cv=FOLDS, scoring="f1_macro")
    for name, data in (("iris", DATA["iris"]), ("wine", DATA["wine"]())):
        for estimator in TWO:
            expected = cross_val_score(TWO[estimator], *data, cv=FOLDS, scoring="f1_macro")
            assert_allclose(found[name][estimator]["test_score"], expected)
    assert list(found) == ["iris", "wine"]
    assert list(found["iris"]) == ["bayes", "tree"]
    compared = compare_scores(found, over="datasets")
    assert_allclose(compared.scores[1, 0], found["wine"]["bayes"]["test_score"].mean())
    train, test = (found["iris"]["tree"]["indices"][part][0] for part in ("train", "test"))
    assert_allclose(np.sort(np.r_[train, test]), np.arange(150))


def test_groups_and_regressors():
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 6
    found = run_over_datasets(
        {"one": GaussianNB()}, {"iris": (X, y)}, groups={"iris": groups}, cv=GroupKFold(3)
    )
    expected = cross_val_score(GaussianNB(), X, y, groups=groups, cv=GroupKFold(3))
    assert_allclose(found["iris"]["one"]["test_score"], expected)
    models = {"ridge": Ridge(), "least squares": LinearRegression()}
    petal = run_over_datasets(models, {"petal": (X[:, :3], X[:, 3])}, cv=FOLDS_OF_ALL)
    expected = cross_val_score(Ridge(), X[:, :3], X[:, 3], cv=FOLDS_OF_ALL, scoring="r2")
    assert_allclose(petal["petal"]["ridge"]["test_score"], expected)


def test_weights_and_failures():
    """Weights come by data set; a fit that fails leaves its data set without a score."""
    weights = np.random.default_rng(0).uniform(0.5, 2, 150)
    options = {"cv": FOLDS, "sample_weight": {"iris": weights}}
    weighed = run_over_datasets(TWO, DATA, **options)
    fit = {"params": {"iris": {"sample_weight": weights}}, "cv": FOLDS}
    routed = run_over_datasets(TWO, DATA, **fit)
    plain = run_over_datasets(TWO, DATA, cv=FOLDS)
    for name in TWO:
        found = [each["iris"][name]["test_score"] for each in (weighed, routed)]
        assert_allclose(*found)
        assert_allclose(*(each["wine"][name]["test_score"] for each in (weighed, plain)))
    assert (weighed["iris"]["tree"]["test_score"] != plain["iris"]["tree"]["test_score"]).any()
    with pytest.raises(ValueError, match="groups must be one of 'iris', 'wine'; got 'other'"):
        run_over_datasets(TWO, DATA, groups={"other": weights})
    with pytest.raises(ValueError, match="sample_weight must be one of"):
        run_over_datasets(TWO, DATA, sample_weight={"other": weights})
    with pytest.raises(TypeError, match="params must be a dict of data sets, got False"):
        run_over_datasets(TWO, DATA, params=False)
    near = TWO | {"near": KNeighborsClassifier()}
    with pytest.raises(TypeError, match="KNeighborsClassifier"):
        run_over_datasets(near, DATA, **options)
    three = DATA | {"third": DATA["iris"]}
    picky = {"bayes": GaussianNB(), "picky": Picky()}
    with pytest.warns(FitFailedWarning):
        gaps = run_over_datasets(picky, three, cv=FOLDS, error_score=np.nan)
    assert np.isnan(gaps["wine"]["picky"]["test_score"]).sum() == 1
    dropped = compare_scores(gaps, over="datasets", missing="drop").dropped
    assert dropped == ("wine",)


class Picky(GaussianNB):
    """Fits no wines without the first of them."""

    def fit(self, X, y):
        if X.shape[1] == 13 and X[0, 0] != 14.23:
            raise ValueError("where is the first wine?")
        return super().fit(X, y)


class Failing(KNeighborsClassifier):
    def fit(self, X, y):
        raise RuntimeError("cannot be fitted")


def test_an_error_says_where_it_was_raised():
    with pytest.raises(RuntimeError, match="cannot be fitted") as caught:
        run_over_datasets(TWO | {"failing": Failing()}, DATA, cv=3)
    assert "'failing' on the data set 'iris'" in caught.value.__notes__[0]
