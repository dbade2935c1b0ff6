"""Every bad input is refused by a line that names the argument, the rule and the value."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers import jobs
from helpers.crossed import each_value
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval.metrics import error_rate
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    metric_interval,
    permutation_test,
    refit_one_se,
    resubstitution_error,
    score_632,
    score_interval,
    tuning_bias,
)
from skeval.report import evaluate

NO_FOLDS = SimpleNamespace(split=lambda *data: iter(()), get_n_splits=lambda *data: 0)
ESTIMATES = [resubstitution_error, cross_val_error, bootstrap_error]
X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2


@each_value
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X, np.zeros(30, int), "y must contain at least two classes, got one: 0"),
        (
            X,
            np.r_[Y[:-1], 2],
            "y must have at least two samples of each class, got one sample of class 2",
        ),
        (X, ["only"] * 30, "y must contain at least two classes, got one: 'only'"),
        (X, Y[:-1], "X and y must have the same length, got 30 and 29"),
        (X, np.where(Y, np.nan, 1.0), r"y must not contain missing values, got 15 of 30"),
        (X, np.where(Y, np.inf, 1.0), "Input y contains infinity"),
        (X, np.c_[Y, Y], r"y (should be a 1d array|must have one column for this estimator)"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        # the cause and the remedy, then the words of the estimator
        (
            np.where(X > 2, np.nan, X) * np.nan,
            Y,
            r"got \d+ in columns 0, 1.*Put SimpleImputer before",
        ),
        (np.full_like(X, np.inf), Y, "Input X contains infinity|X must be finite"),
        (X[:, 0], Y, r"X must have two dimensions .*, got the shape \(30,\)|Expected 2D"),
    ],
)
def test_data(estimate, X, y, message):
    with pytest.raises(ValueError, match=message):
        estimate(GaussianNB(), X, y)


@each_value
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("hinge", "loss must be None, a callable or one of 'zero_one', .*; got 'hinge'"),
        (["squared"], r"loss must be None, a callable or one of .*; got \['squared'\]"),
        (lambda true, predicted: 0.5, r"one value for each sample, shape .*, got shape \(\)"),
        (lambda true, predicted: np.zeros(2), r"one value for each .*, got shape \(2,\)"),
        (lambda true, predicted: np.full(len(true), np.nan), "loss must be finite, got nan"),
        (lambda true, predicted: 1 / (true * 0.0 + 0) * 0, "loss must be finite, got nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_loss(estimate, loss, message):
    with pytest.raises(ValueError, match=message):
        estimate(GaussianNB(), X, Y, loss=loss)


class Ending(Ridge):
    """Predicts numbers of a type, and at the last sample one of its own."""

    def __init__(self, last=None, dtype=float):
        super().__init__()
        self.last, self.dtype = last, dtype

    def predict(self, X):
        predicted = super().predict(X)
        if self.last is not None:
            predicted[-1] = self.last
        return predicted.astype(self.dtype)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_predictions_of_numbers(estimate):
    X, y = np.random.default_rng(1).normal(size=(2, 30, 1))
    for last in (np.nan, np.inf):
        for dtype in (float, np.float32):
            with pytest.raises(ValueError, match="predictions of estimator"):
                estimate(Ending(last, dtype), X, y[:, 0])
    seed = {} if estimate is resubstitution_error else {"random_state": 0}
    plain, held = (estimate(Ending(dtype=one), X, y[:, 0], **seed) for one in (float, object))
    assert held.value == plain.value


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numeric_loss_of_strings(loss):
    with pytest.raises(ValueError, match=f"y must contain numbers for loss='{loss}', got 'b'"):
        cross_val_error(GaussianNB(), X, np.where(Y, "a", "b"), loss=loss)
    with pytest.raises(ValueError, match="y must contain numbers for a regressor"):
        cross_val_error(Ridge(), X, np.where(Y, "a", "b"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be an integer >= 1, got 0"),
        ({"n_resamples": -3}, "n_resamples must be an integer >= 1, got -3"),
        ({"n_resamples": 10.0}, r"n_resamples must be an integer >= 1, got 10\.0"),
        ({"n_resamples": "10"}, "n_resamples must be an integer >= 1, got '10'"),
        ({"n_resamples": True}, "n_resamples must be an integer >= 1, got True"),
        ({"method": "632"}, r"method must be one of 'oob', '\.632', '\.632\+'; got '632'"),
        ({"average": "mean"}, "average must be one of 'samples', 'bootstraps'; got 'mean'"),
        ({"error_score": 0}, "error_score must be 'raise' or numpy.nan, got 0"),
        ({"stratify": True, "groups": 1 - Y}, "stratify must be False with groups="),
        ({"groups": np.zeros(30)}, r"groups must have at least two groups, got one: .*0\.0"),
        ({"groups": Y[1:]}, "groups must have a group for each of the 30 samples, got 29"),
        ({"indices": np.zeros((2, 29), int)}, r"shape \(n_resamples, 30\), got \(2, 29\)"),
        ({"indices": np.zeros((0, 30), int)}, r"shape \(n_resamples, 30\), got \(0, 30\)"),
        ({"indices": np.zeros((2, 30))}, "indices must be integers from 0 to 29"),
        ({"indices": np.full((2, 30), 30)}, "indices must be integers from 0 to 29"),
        ({"indices": np.full((2, 30), -1)}, "indices must be integers from 0 to 29"),
        ({"indices": [np.arange(30)]}, "must leave out a sample and have two classes, but row 0"),
        ({"indices": [np.arange(30) // 2 * 2]}, "must leave out a sample and have two"),
        ({"random_state": -1}, "random_state must be >= 0, got -1"),
    ],
)
def test_bootstrap_options(options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_error(GaussianNB(), X, Y, **options)


def test_too_few_to_bootstrap():
    y = np.r_[["rare"], ["common"] * 29]
    for labels in (y, y.astype(object)):
        with pytest.raises(ValueError, match=r"each class, got one sample of class 'rare'"):
            bootstrap_error(GaussianNB(), X, labels)
    with pytest.raises(ValueError, match="The data must contain at least 2 samples, got 1"):
        bootstrap_error(Ridge(), X[:1], Y[:1])
    # one group holds a whole class: no resample of two groups leaves one out and has two classes
    with pytest.raises(
        ValueError,
        match=r"no resample has two classes and leaves out a sample. Class 0 has 15 of 30",
    ):
        bootstrap_error(GaussianNB(), X, Y, groups=1 - Y)


def test_stratified_regression():
    with pytest.raises(ValueError, match="stratify=True needs a classifier, got Ridge"):
        bootstrap_error(Ridge(), X, X[:, 0], stratify=True)


@each_value
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 27}, "cv=27 folds need a class with at least 27 samples, but the largest has 26"),
        ({"cv": 1}, "cv must be an integer >= 2, got 1"),
        ({"cv": "five"}, "cv must be a number of folds, .* got 'five'"),
        ({"cv": []}, "cv must yield at least one pair"),
        ({"cv": NO_FOLDS}, "cv must yield at least one pair"),
        ({"cv": [([0, 1], [])]}, r"cv must yield non-empty test sets.* got shape \(0,\)"),
        ({"cv": [([0, 1], [-1])]}, "cv must yield test indices from 0 to 29, got -1 to -1"),
        ({"cv": [([0, 30], [1])]}, "cv must yield train indices from 0 to 29, got 0 to 30"),
        ({"cv": [([0, 1], [2, 2])]}, "cv must yield test sets without repeated samples"),
        ({"cv": [(np.ones(29, bool), [2])]}, r"boolean masks of length 30, got shape \(29,\)"),
        ({"cv": [([0.0, 1.0], [2])]}, "as integer indices .* dtype float64"),
        ({"cv": 4, "groups": np.arange(30) % 3}, "cv=4 folds need at least 4 groups, got 3"),
        ({"cv": 4, "error_score": "nan"}, "error_score must be 'raise' or numpy.nan, got 'nan'"),
    ],
)
@pytest.mark.parametrize("kind", [str, object])
def test_folds(options, message, kind):
    y = np.array(["rare"] * 4 + ["common"] * 26, dtype=kind)
    with pytest.raises(ValueError, match=message):
        cross_val_error(GaussianNB(), X, y, **options)


MODELS = [SVC(kernel="linear"), SVC(), LogisticRegression(), KNeighborsClassifier(), GaussianNB()]
TEXTS = pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=["good day", "bad night"] * 15)


TEXT_CALLS = [(cross_val_error, model) for model in MODELS]
TEXT_CALLS += [(each, MODELS[2]) for each in (*ESTIMATES, permutation_test, evaluate)]


@each_value
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEXTS, "strings in the column 'word'.*OneHotEncoder in a ColumnTransformer"),
        (TEXTS.to_numpy(), "strings instead of numbers.*OneHotEncoder"),
        (TEXTS["word"].tolist(), "strings instead of numbers.*CountVectorizer"),
    ],
    ids=["frame", "objects", "list"],
)
@pytest.mark.parametrize(
    ("estimate", "model"),
    [*TEXT_CALLS, (error_interval, MODELS[0])],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_texts_are_named(estimate, model, data, message):
    message = f"X must contain numbers for this estimator, got {message}"
    with pytest.raises(ValueError, match=message):
        estimate(model, data, Y)


def test_a_vectorizer_takes_a_column_and_no_data_frame():
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    with pytest.raises(ValueError, match=r"X must be one column of texts .* X\['word'\]"):
        cross_val_error(model, TEXTS[["word"]], Y)
    assert np.isfinite(cross_val_error(model, TEXTS["word"], Y).value)


def test_a_single_feature_is_a_column():
    with pytest.raises(ValueError, match=r"X must have two dimensions .* np.reshape"):
        error_interval(GaussianNB(), X[:, 0], Y)


@each_value
@pytest.mark.parametrize("estimate", [*ESTIMATES, permutation_test, error_interval, evaluate])
@pytest.mark.parametrize(
    "y",
    [
        pd.Series(Y).astype("Int64").where(np.arange(30) != 3),
        pd.Series(Y).astype("boolean").where(np.arange(30) != 3),
        pd.Series(np.array(["a", "b"])[Y]).astype("string").where(np.arange(30) != 3),
        pd.Series(np.array(["a", "b"])[Y]).astype("category").where(np.arange(30) != 3),
        np.where(np.arange(30) == 3, None, Y),
    ],
    ids=["Int64", "boolean", "string", "category", "objects"],
)
def test_missing_labels_are_counted(estimate, y):
    message = "y must not contain missing values, got 1 of 30, the first at position 3"
    with pytest.raises(ValueError, match=message):
        estimate(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="y_true must not contain missing values, got 1 of 30"):
        metric_interval(error_rate, y, Y)


def several(estimator, X, y):
    return {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize(
    "call",
    [
        lambda: evaluate(GaussianNB(), X, Y, scoring=several),
        lambda: score_interval(GaussianNB(), X, Y, scoring=several),
        lambda: compare_classifiers([GaussianNB(), DummyClassifier()], X, Y, scoring=several),
    ],
)
def test_a_scorer_of_several_metrics_where_one_is_needed(call):
    with pytest.raises(TypeError, match=r"must return one number.* a dict with 'a', 'b'"):
        call()


def test_what_is_no_table_of_a_search_or_no_scores():
    search = GridSearchCV(GaussianNB(), {}, cv=2).fit(X, Y)
    for function in (tuning_bias, refit_one_se):
        with pytest.raises(TypeError, match="its cv_results_, got GridSearchCV"):
            function(search)
    for given in ([0.5, 0.6], search):
        with pytest.raises(TypeError, match="results must be the dict that cross_validate"):
            score_632(given, X, Y)


def test_warnings_of_fits_that_differ_in_numbers_are_one_with_the_count():
    """Those of worker processes are tried with the jobs."""
    options = {"random_state": 0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_error(jobs.Complaining(), X, Y, cv=10, **options)
    (told,) = caught
    assert told.category is ConvergenceWarning
    assert str(told.message).startswith("10 times in fits: tolerance ")
    assert told.filename == jobs.__file__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        sizes = {"n_permutations": 4, "include": "all"}
        report = evaluate(jobs.Complaining(), X, Y, **sizes, **options)
    told = [each for each in caught if each.category is ConvergenceWarning]
    n_fits = report.answer.extra.n_fits + 90  # the main estimate, and all other parts
    assert [str(each.message).partition(" in")[0] for each in told] == [f"{n_fits} times"]


def test_the_column_of_groups_is_no_feature():
    frame, units = pd.DataFrame(X, columns=["a", "b", "c"]), np.arange(30) // 3
    named = frame.assign(patient=units)
    sizes = {"n_permutations": 3, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_name = evaluate(GaussianNB(), named, Y, groups="patient", by="patient", **sizes)
        by_values = evaluate(GaussianNB(), frame, Y, groups=units, by=units, **sizes)
    assert str(by_name) == str(by_values)
    assert by_name.n_features == 3
    with pytest.raises(ValueError, match=r"groups must be a column of X .*'patientt'.*'patient'\?"):
        evaluate(GaussianNB(), named, Y, groups="patientt")
    with pytest.raises(ValueError, match=r"groups must have a value for each .* a data frame"):
        evaluate(GaussianNB(), X, Y, groups="patient")
    with pytest.raises(ValueError, match=r"got 'patient'[.] Pass the column"):
        cross_val_error(GaussianNB(), named, Y, groups="patient")


def test_numbers_stored_as_texts_are_converted_rather_than_encoded():
    texts, y = np.arange(40.0).reshape(20, 2).astype(str), np.arange(20) % 2
    table = pd.DataFrame(np.char.replace(texts, ".", ","), columns=["a", "b"])
    for values, where in ((texts, "instead of numbers"), (table, "in the columns 'a', 'b'")):
        with pytest.raises(ValueError, match=rf"got strings {where}. Convert them with X.astype\("):
            cross_val_error(LogisticRegression(), values, y)
    with pytest.raises(
        ValueError, match=r"in the columns 'a', 'b'. Put an encoder, such as OneHot"
    ):
        cross_val_error(LogisticRegression(), table.assign(b="x"), y)


def test_decision_values_of_pairs_are_told():
    data, y = load_iris(return_X_y=True)
    sizes = {"n_permutations": 0, "random_state": 0}
    pairs, rest = (
        evaluate(SVC(decision_function_shape=shape), data, y, **sizes) for shape in ("ovo", "ovr")
    )
    told = [str(each) for each in pairs.warnings if "pairs of classes" in str(each)]
    assert len(told) == 1
    assert "Curves and AUC are missing" in told[0]
    assert not any("pairs of classes" in str(each) for each in rest.warnings)


class OnlyPredicts:
    """As what answers over a network does."""

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


BY_ESTIMATOR = {
    "evaluate": lambda model, **options: evaluate(model, X, Y, **options),
    "evaluate several": lambda model, **options: evaluate(
        {"a": model, "b": model}, X, Y, **options
    ),
    "permutation_test": lambda model, **options: permutation_test(model, X, Y, **options),
    "score_interval": lambda model, **options: score_interval(model, X, Y, **options),
    "compare_classifiers": lambda model, **options: compare_classifiers(
        {"a": model, "b": GaussianNB(var_smoothing=1)}, X, Y, **options
    ),
}


@each_value
@pytest.mark.parametrize("call", BY_ESTIMATOR.values(), ids=BY_ESTIMATOR)
@pytest.mark.parametrize("scoring", ["auc", ["auc"], {"area": "auc"}])
def test_a_wrong_score_is_answered_by_what_it_may_mean(call, scoring):
    if not isinstance(scoring, str) and call in list(BY_ESTIMATOR.values())[-1:]:
        pytest.skip("one score alone is compared")
    with pytest.raises(ValueError, match=r"^scoring.*, got 'auc'. Did you mean 'roc_auc'\?$"):
        call(GaussianNB(), scoring=scoring)


@pytest.mark.parametrize("call", [*BY_ESTIMATOR.values(), *ESTIMATES, error_interval])
def test_what_only_predicts_is_pointed_to_its_predictions(call):
    given = () if call in BY_ESTIMATOR.values() else (X, Y)
    with pytest.raises(TypeError, match=r"got OnlyPredicts\. .*_predictions\("):
        call(OnlyPredicts(), *given)
