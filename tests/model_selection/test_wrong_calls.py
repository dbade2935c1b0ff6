"""Wrong calls of functions that fit a model: each error names the argument, before any fit."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from skeval import evaluate, evaluate_clusterer, evaluate_predictions
from skeval.feature_selection import selection_bias
from skeval.metrics import cost_sensitive_error, error_norm, macro_fbeta_score
from skeval.model_selection import (
    bootstrap_error,
    bootstrap_score,
    cross_val_error,
    error_interval,
    feature_importance,
    holdout_error,
    learning_curve_band,
    metric_interval,
    permutation_test,
    resubstitution_error,
    score_interval,
)
from skeval.svm import PerturbationResamplingSVC

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 2
FITTING = [
    bootstrap_error, bootstrap_score, cross_val_error, error_interval, evaluate, feature_importance,
    learning_curve_band, permutation_test, resubstitution_error, score_interval,
]  # fmt: skip
TEXTS = np.where(np.arange(180).reshape(60, 3) == 4, "x" * 100_000, X.astype(str)).astype(object)
CALLS = {
    "y": ((X, None), {}, TypeError, "y must contain the labels"),
    "no column": ((X[:, :0], Y), {}, ValueError, "X must have at least one column"),
    "transposed": ((RNG.normal(size=(500, 60)), Y), {}, ValueError, r"X must .* mean X\.T"),
    "ragged": (
        ([[1.0, 2.0], [3.0]] * 30, Y),
        {},
        ValueError,
        "X(:| must have rows of the same length)",
    ),
    "groups": ((X, Y), {"groups": Y}, ValueError, "groups must be something that samples share"),
    "params": ((X, Y), {"params": {"zzz": 1}}, TypeError, "params must be arguments of fit"),
    "one cell": ((TEXTS, Y), {}, ValueError, "X must contain numbers"),
}


@pytest.mark.parametrize("function", FITTING)
@pytest.mark.parametrize("call", CALLS)
def test_errors_name_the_argument(function, call):
    data, options, kind, message = CALLS[call]
    with pytest.raises(kind, match=message) as error:
        function(GaussianNB(), *data, **options)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("function", [error_interval, cross_val_error, evaluate])
def test_dates_and_one_hot_labels_get_a_remedy(function):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"ts": pandas.date_range("2024", periods=60), "a": X[:, 0]})
    with pytest.raises(TypeError, match=r"X must contain numbers .* dates in 'ts'"):
        function(GaussianNB(), frame, Y)
    with pytest.raises(ValueError, match=r"y must have one column .*argmax"):
        function(GaussianNB(), X, np.eye(2)[Y])


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (holdout_error, (GaussianNB(), X, Y)),
        (selection_bias, (make_pipeline(SelectKBest(k=1), GaussianNB()), X, Y)),
        (evaluate_clusterer, (KMeans(2), X, Y)),
        (cost_sensitive_error, (Y, Y, [[0, 1], [5, 0]])),
    ],
)
def test_wrong_positional_arguments_are_answered_by_the_call(function, data):
    with pytest.raises(TypeError, match=rf"is {function.__name__}\(\w+, \w+"):
        function(*data)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("loo", "leave_one_out"), ("632", "\\.632"), ("Corrected_T", "corrected_t")],
)
def test_options_are_suggested(given, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        error_interval(GaussianNB(), X, Y, method=given)


class Answers(GaussianNB):
    """Predicts one value that is no class."""

    def __init__(self, answer=np.nan):
        super().__init__()
        self.answer = answer

    def predict(self, X):
        return np.full(len(X), self.answer)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("answer", [np.nan, "a"])
@pytest.mark.parametrize("function", [permutation_test, cross_val_error])
def test_predictions_that_are_no_classes_are_those_of_the_estimator(function, answer):
    with pytest.raises(ValueError, match="estimator must predict labels that are in y"):
        function(Answers(answer), X, Y)


def test_scorers_are_named():
    def two_numbers(estimator, X, y):
        return [1.0, 2.0]

    for function in (permutation_test, learning_curve_band, score_interval, bootstrap_score):
        with pytest.raises(TypeError, match="two_numbers"):
            function(GaussianNB(), X, Y, scoring=two_numbers)


@pytest.mark.parametrize("options", [{"n_jobs": 0}, {"memory": 5}, {"verbose": "loud"}])
def test_the_classifier_checks_its_run_at_fit(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        PerturbationResamplingSVC(**options).fit(X, Y)


def test_sizes_of_weights_and_of_training_sets():
    with pytest.raises(ValueError, match="sample_weight must have shape"):
        error_norm(X[:, 0], X[:, 1], sample_weight=np.ones(59))
    with pytest.raises(ValueError, match="train_sizes must be two or more"):
        learning_curve_band(GaussianNB(), X, Y, train_sizes=0.5)


def test_a_result_is_its_value():
    low, high = (resubstitution_error(GaussianNB(), X, y) for y in (X[:, 0] > 0, Y))
    assert float(low) == low.value < high
    assert low < high
    assert low <= low.value <= high
    assert high > low
    assert high >= low.value
    assert f"{high:.3f}" == f"{high.value:.3f}"
    assert f"{high}" == str(high)


def test_metrics_check_labels_and_jobs():
    with pytest.raises(ValueError, match="n_jobs must be"):
        metric_interval("accuracy", Y, Y, n_jobs=0)
    with pytest.raises(TypeError, match="labels: "):
        macro_fbeta_score(Y, Y, labels=[{}])


def test_probabilities_of_16_bits_are_probabilities():
    p = RNG.random(60).astype(np.float16)
    columns = np.column_stack([1 - p, p]).astype(np.float16)
    assert "Brier score" in str(evaluate_predictions(Y, columns))
