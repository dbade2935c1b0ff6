"""Scores of models whose classes, or whose test sets, differ from those of the target."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names, make_scorer
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from skeval.model_selection import (
    bootstrap_score,
    compare_classifiers,
    learning_curve_band,
    permutation_test,
    score_interval,
)

LETTERS = np.array(["mid", "alpha", "zeta"])


def make_data(n_classes, n=60):
    codes = np.arange(n) % n_classes
    return codes[:, None] + np.random.default_rng(n).normal(size=(n, 2)), LETTERS[codes]


class PermutedDecisions(ClassifierMixin, BaseEstimator):
    """Logistic regression with decision values alone, whose classes are not in sorted order."""

    def __init__(self, turn=1):
        self.turn = turn

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.order_ = np.roll(np.arange(len(self.model_.classes_)), self.turn)
        self.classes_ = self.model_.classes_[self.order_]
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        values = self.model_.decision_function(X)
        if values.ndim == 2:
            return values[:, self.order_]
        return -values if self.turn % 2 else values


class Permuted(PermutedDecisions):
    """The same with probabilities."""

    def predict_proba(self, X):
        return self.model_.predict_proba(X)[:, self.order_]


class OneColumn(LogisticRegression):
    """Predicts labels of shape (n, 1), as CatBoost does for three classes."""

    def predict(self, X):
        return super().predict(X)[:, None]


PROCEDURES = {
    "permutation_test": lambda model, X, y, cv, scoring: (
        permutation_test(
            model, X, y, cv=cv, scoring=scoring, n_permutations=3, random_state=0
        ).null_distribution
    ),
    "compare_classifiers": lambda model, X, y, cv, scoring: (
        compare_classifiers(
            {"a": model, "b": KNeighborsClassifier(1)}, X, y, cv=cv, scoring=scoring
        ).values
    ),
    "learning_curve_band": lambda model, X, y, cv, scoring: (
        learning_curve_band(
            model, X, y, cv=cv, scoring=scoring, random_state=0, train_sizes=[0.8, 1.0]
        ).y
    ),
    "score_interval": lambda model, X, y, cv, scoring: (
        score_interval(model, X, y, scoring={"own": scoring}, n_repeats=1, random_state=0)[
            "own"
        ].value
    ),
    "bootstrap_score": lambda model, X, y, cv, scoring: (
        bootstrap_score(model, X, y, scoring=scoring, n_resamples=3, random_state=0).value
    ),
}


@each_value
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", PROCEDURES)
def test_the_order_of_classes_changes_no_score(name, n_classes):
    X, y = make_data(n_classes)
    scorings = ["accuracy", "neg_log_loss", "roc_auc_ovr" if n_classes == 3 else "roc_auc"]
    for scoring in scorings:
        run = PROCEDURES[name]
        expected = run(Permuted(0), X, y, StratifiedKFold(4), scoring)
        for model in (Permuted(1), Permuted(2), OneColumn()):
            assert_allclose(run(model, X, y, StratifiedKFold(4), scoring), expected, atol=1e-9)
    if n_classes == 2:
        expected = run(Permuted(0), X, y, StratifiedKFold(4), "roc_auc")
        found = run(PermutedDecisions(1), X, y, StratifiedKFold(4), "roc_auc")
        assert_allclose(found, expected, atol=1e-9)


OF_FOLDS = ["compare_classifiers", "learning_curve_band"]
NEED_SEVERAL = [
    "matthews_corrcoef",
    "balanced_accuracy",
    "f1_macro",
    "roc_auc_ovr",
    make_scorer(metrics.cohen_kappa_score),
    lambda model, X, y: metrics.matthews_corrcoef(y, model.predict(X)),
]


@pytest.mark.parametrize(
    "scoring", NEED_SEVERAL, ids=lambda each: getattr(each, "__name__", str(each))
)
@pytest.mark.parametrize("name", OF_FOLDS)
def test_a_score_of_several_samples_is_not_averaged_over_single_ones(name, scoring):
    X, y = make_data(3, 18)
    with pytest.raises(ValueError, match=r"test sets with several samples.*a single sample"):
        PROCEDURES[name](LogisticRegression(), X, y, LeaveOneOut(), scoring)


class Replay:
    """A fitted model whose samples are row numbers of known responses."""

    def __init__(self, model, responses, classes):
        self.model, self.responses = model, responses
        if is_classifier(model):
            self.classes_ = classes

    def __sklearn_tags__(self):
        return get_tags(self.model)

    def predict(self, rows):
        return self.responses["predict"][rows]

    @available_if(lambda self: "predict_proba" in self.responses)
    def predict_proba(self, rows):
        return self.responses["predict_proba"][rows]


def pooled_score(model, X, y, cv, scoring, groups=None):
    """Return a score of all out-of-fold predictions together, by scikit-learn."""
    splits = list(cv.split(X, y, groups))
    rows = np.concatenate([test for _, test in splits])
    responses = {}
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            responses[method] = np.concatenate(
                [getattr(clone(model).fit(X[a], y[a]), method)(X[b]) for a, b in splits]
            )
    replayed = Replay(model, responses, np.unique(y))
    return metrics.get_scorer(scoring)(replayed, np.arange(len(rows)), y[rows])


@pytest.mark.parametrize("scoring", [*NEED_SEVERAL[:4], "f1_weighted", "roc_auc_ovo_weighted"])
@pytest.mark.parametrize("model", [GaussianNB(), KNeighborsClassifier(3)], ids=str)
def test_a_permutation_test_pools_single_samples(model, scoring):
    X, y = make_data(3, 18)
    found = permutation_test(
        model, X, y, cv=LeaveOneOut(), scoring=scoring, n_permutations=2, random_state=0
    )
    expected = pooled_score(model, X, y, LeaveOneOut(), scoring)
    assert_allclose(found.statistic, expected, atol=1e-9)


@pytest.mark.parametrize("scoring", ["r2", "explained_variance", "neg_root_mean_squared_error"])
def test_a_permutation_test_pools_single_numbers(scoring):
    X, _ = make_data(3, 18)
    y = X[:, 0] + X[:, 1] ** 2
    found = permutation_test(
        LinearRegression(), X, y, cv=LeaveOneOut(), scoring=scoring, n_permutations=2
    )
    expected = pooled_score(LinearRegression(), X, y, LeaveOneOut(), scoring)
    assert_allclose(found.statistic, expected, atol=1e-9)
    with pytest.raises(ValueError, match=r"test sets with several samples.*a single sample"):
        compare_classifiers([LinearRegression(), Ridge()], X, y, cv=LeaveOneOut(), scoring=scoring)


@pytest.mark.parametrize("scoring", ["average_precision", "balanced_accuracy", "roc_auc"])
def test_a_score_of_two_classes_is_not_averaged_over_test_sets_of_one(scoring):
    X, y = make_data(2, 24)
    y = (y == "mid").astype(int)
    groups = np.arange(24) % 2 + 2 * (np.arange(24) // 6)  # one class in each group
    options = {"groups": groups, "cv": LeaveOneGroupOut(), "scoring": scoring}
    found = permutation_test(GaussianNB(), X, y, n_permutations=2, random_state=0, **options)
    expected = pooled_score(GaussianNB(), X, y, LeaveOneGroupOut(), scoring, groups)
    assert_allclose(found.statistic, expected, atol=1e-9)
    with pytest.raises(ValueError, match=r"test sets with several samples of all classes.*only"):
        compare_classifiers(
            {"a": GaussianNB(), "b": LogisticRegression()}, X, y, method="corrected_t", **options
        )


def test_a_perfect_rule_is_better_than_chance():
    y = np.arange(30) % 2
    for scoring in ("matthews_corrcoef", ["f1", "roc_auc"]):
        tests = permutation_test(
            LogisticRegression(),
            y[:, None] * 9.0,
            y,
            cv=LeaveOneOut(),
            scoring=scoring,
            n_permutations=19,
            random_state=0,
        )
        for test in tests.values() if isinstance(tests, dict) else [tests]:
            assert test.statistic == 1
            assert test.pvalue == 0.05


def find_means():
    """Return the scorers of scikit-learn that are means over samples, by their definition."""
    names = ["accuracy", "neg_log_loss", "neg_mean_squared_error", "neg_mean_absolute_error"]
    names += ["top_k_accuracy", "neg_mean_absolute_percentage_error", "neg_mean_poisson_deviance"]
    return [name for name in names if name in get_scorer_names()]


@pytest.mark.parametrize("scoring", find_means())
def test_a_mean_over_samples_is_averaged_over_single_ones(scoring):
    X, y = make_data(3, 18)
    model = GaussianNB()
    if "mean" in scoring:
        model, y = LinearRegression(), 9 + X[:, 0] + X[:, 1] ** 2
    found = permutation_test(
        model, X, y, cv=LeaveOneOut(), scoring=scoring, n_permutations=1, random_state=0
    )
    method = "predict" if scoring == "accuracy" or "mean" in scoring else "predict_proba"
    out_of_fold = cross_val_predict(model, X, y, cv=LeaveOneOut(), method=method)
    metric = metrics.get_scorer(scoring)._score_func
    sign = -1 if scoring.startswith("neg") else 1
    assert_allclose(found.statistic, sign * metric(y, out_of_fold), atol=1e-6)


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_positive_class_that_y_lacks_is_refused_with_the_name_of_the_score(name):
    X, y = make_data(2)
    with pytest.raises(
        ValueError, match=r"scoring=.* cannot be computed.*class as 1, as in \(y == "
    ):
        PROCEDURES[name](GaussianNB(), X, y, StratifiedKFold(4), "f1")


def test_classes_missing_from_test_sets_are_known():
    X, y = make_data(3, 45)
    order = np.argsort(y)
    X, y = X[order], y[order]
    cv = KFold(15)  # three samples of one class each
    pooled = cross_val_predict(GaussianNB(), X, y, cv=cv, method="predict_proba")
    found = PROCEDURES["compare_classifiers"](GaussianNB(), X, y, cv, "neg_log_loss")[0]
    assert_allclose(found, -metrics.log_loss(y, pooled), rtol=1e-6)
    for name in ("compare_classifiers", "learning_curve_band", "permutation_test"):
        assert np.all(np.isfinite(PROCEDURES[name](GaussianNB(), X, y, cv, "neg_log_loss")))


def test_a_score_without_a_class_of_the_test_set_is_refused():
    X, _ = make_data(3, 60)
    y = np.array(["a"] * 29 + ["b"] * 29 + ["c"] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="without class 'c'"):
            PROCEDURES["compare_classifiers"](GaussianNB(), X, y, StratifiedKFold(5), "roc_auc_ovr")


def test_folds_of_all_classes_give_the_scores_of_scikit_learn():
    X, y = make_data(3)
    cv = StratifiedKFold(4)
    for scoring in ("balanced_accuracy", "roc_auc_ovo", "f1_macro", "neg_log_loss"):
        found = PROCEDURES["compare_classifiers"](LogisticRegression(), X, y, cv, scoring)[0]
        expected = cross_val_score(LogisticRegression(), X, y, cv=cv, scoring=scoring)
        assert_allclose(found, expected.mean(), atol=1e-3)
