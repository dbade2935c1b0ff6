"""The P-value of a fitted model as a scorer."""

import pickle

import numpy as np
import pytest
from reference import permutation as reference
from scipy.stats import binomtest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from skeval.model_selection import make_permutation_scorer


class Told:
    """A rule that answers what it is told to."""

    def predict(self, X):
        return self.predicted


def hit_rate(y, predicted):
    return np.mean(y == predicted)


def held_out(n=40, shift=0.7, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * n, 3)), np.tile([0, 1], n)
    X[y == 1] += shift
    return GaussianNB().fit(X[:n], y[:n]), X[n:], y[n:]


@pytest.mark.parametrize(
    ("metric", "options", "response"),
    [
        (accuracy_score, {}, lambda model, X: model.predict(X)),
        (zero_one_loss, {"greater_is_better": False}, lambda model, X: model.predict(X)),
        (f1_score, {"average": "macro"}, lambda model, X: model.predict(X)),
        (
            roc_auc_score,
            {"response_method": "predict_proba"},
            lambda model, X: model.predict_proba(X)[:, 1],
        ),
    ],
)
def test_against_a_plain_loop(metric, options, response):
    model, X, y = held_out()
    scorer = make_permutation_scorer(metric, n_permutations=19, random_state=3, **options)
    sign = -1 if options.get("greater_is_better") is False else 1
    extra = {name: value for name, value in options.items() if name == "average"}
    children = np.random.SeedSequence(3).spawn(19)
    orders = [np.random.default_rng(child).permutation(len(y)) for child in children]
    null = [sign * metric(y[order], response(model, X), **extra) for order in orders]
    expected = reference.pvalue(sign * metric(y, response(model, X), **extra), null)
    assert scorer(model, X, y) == pytest.approx(-np.log10(expected))
    assert isinstance(scorer(model, X, y), float)


def test_multiclass_probabilities_and_decision_function():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    scorer = make_permutation_scorer(
        log_loss, n_permutations=19, greater_is_better=False, response_method="predict_proba"
    )
    assert 10 ** -scorer(model, X, y) == pytest.approx(0.05)
    binary = LogisticRegression().fit(X[:100], y[:100])
    scorer = make_permutation_scorer(
        roc_auc_score, n_permutations=19, response_method="decision_function"
    )
    assert 10 ** -scorer(binary, X[:100], y[:100]) == pytest.approx(0.05)


def test_in_cross_validate_and_picklable():
    X, y = load_iris(return_X_y=True)
    scorer = make_permutation_scorer(accuracy_score, n_permutations=19, random_state=0)
    scores = cross_validate(GaussianNB(), X, y, cv=3, scoring={"p": scorer})["test_p"]
    np.testing.assert_allclose(10**-scores, 0.05)
    again = pickle.loads(pickle.dumps(scorer))
    model, X, y = held_out(shift=0.2)
    assert again(model, X, y) == scorer(model, X, y)
    assert repr(scorer) == "make_permutation_scorer(accuracy_score, n_permutations=19)"


def test_randomness():
    model, X, y = held_out(shift=0.3)
    scorer = make_permutation_scorer(hit_rate, n_permutations=200)
    assert len({scorer(model, X, y) for _ in range(8)}) > 1


@pytest.mark.simulated
def test_valid_under_the_null_hypothesis():
    pvalues = []
    for seed in range(200):
        model, X, y = held_out(n=20, shift=0, seed=seed)
        scorer = make_permutation_scorer(hit_rate, n_permutations=19, random_state=seed)
        pvalues.append(10 ** -scorer(model, X, y))
    for level in (0.05, 0.1):
        rejected = int(np.sum(np.array(pvalues) <= level + 1e-9))
        assert binomtest(rejected, 200, level, alternative="greater").pvalue > 0.001


def test_bad_input():
    with pytest.raises(TypeError, match="metric must be callable, got 'accuracy'"):
        make_permutation_scorer("accuracy")
    with pytest.raises(ValueError, match="n_permutations must be an integer >= 1, got 0"):
        make_permutation_scorer(accuracy_score, n_permutations=0)
    with pytest.raises(ValueError, match=r"response_method must be one of.*got 'score'"):
        make_permutation_scorer(accuracy_score, response_method="score")
    model, X, y = held_out()
    with pytest.raises(ValueError, match="observed labels, got nan"):
        make_permutation_scorer(lambda y, p: np.nan, n_permutations=2)(model, X, y)


@pytest.mark.parametrize("response_method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("pos_label", ["case", "control"])
def test_positive_class_is_that_of_make_scorer(response_method, pos_label):
    _, X, y = held_out()
    y = np.where(y, "control", "case")
    model = LogisticRegression().fit(X, y)
    options = {"response_method": response_method, "pos_label": pos_label}
    scores = []

    def precision(y, score, *, pos_label):
        scores.append(average_precision_score(y, score, pos_label=pos_label))
        return scores[-1]

    scorer = make_permutation_scorer(precision, n_permutations=19, random_state=0, **options)
    score = scorer(model, X, y)
    assert scores[-1] == make_scorer(average_precision_score, **options)(model, X, y) > 0.6
    assert 10**-score == pytest.approx(0.05)


@pytest.mark.parametrize("response_method", ["predict_proba", "decision_function"])
def test_positive_class_by_default(response_method):
    _, X, y = held_out()
    model = LogisticRegression().fit(X, y)
    options = {"n_permutations": 2, "response_method": response_method}
    response = getattr(model, response_method)(X)
    given = []
    for label in ({}, {"pos_label": None}, {"pos_label": 1}):
        make_permutation_scorer(lambda y, s, **_: given.append(s) or 0.0, **options, **label)(
            model, X, y
        )
    for score in given:
        np.testing.assert_array_equal(score, response.T[1] if response.ndim == 2 else response)
    with pytest.raises(ValueError, match=r"pos_label must be one of the classes \[0, 1\], got 'x'"):
        make_permutation_scorer(accuracy_score, **options, pos_label="x")(model, X, y)


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_a_search_chooses_what_is_better_than_chance(greater_is_better):
    _, X, y = held_out(shift=1.0)
    metric = accuracy_score if greater_is_better else zero_one_loss
    scorer = make_permutation_scorer(
        metric, n_permutations=99, greater_is_better=greater_is_better, random_state=0
    )
    pipeline = Pipeline([("rule", GaussianNB())])
    rules = {"rule": [DummyClassifier(strategy="uniform", random_state=0), GaussianNB()]}
    search = GridSearchCV(pipeline, rules, scoring=scorer, cv=3).fit(X, y)
    assert isinstance(search.best_params_["rule"], GaussianNB)
    chance, bayes = search.cv_results_["mean_test_score"]
    assert 0 <= chance < bayes <= 2


def test_the_score_grows_with_the_metric():
    y, predicted = np.tile([0, 1], 20), np.tile([0, 1], 20)
    rule, scores = Told(), []
    scorer = make_permutation_scorer(accuracy_score, n_permutations=99, random_state=0)
    for n_wrong in range(0, 41, 8):
        rule.predicted = np.where(np.arange(40) < n_wrong, 1 - predicted, predicted)
        scores.append(scorer(rule, y[:, None], y))
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(np.log10(100))
    assert scores[-1] == 0
