"""Wrong calls of functions that fit a model: each error names the argument, before any fit."""

import re

import numpy as np
import pytest
from helpers.echo import AnswersClasses
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from skeval import evaluate, evaluate_clusterer, evaluate_predictions
from skeval.cluster import compare_clusterings
from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.metrics import (
    cost_sensitive_error,
    error_norm,
    macro_fbeta_score,
    ranking_loss,
    roc_curve_band,
)
from skeval.metrics.cluster import connectivity_score, minkowski_score
from skeval.model_selection import (
    bootstrap_error,
    bootstrap_score,
    cross_val_error,
    error_interval,
    feature_importance,
    holdout_error,
    holdout_size,
    learning_curve_band,
    metric_interval,
    permutation_test,
    resubstitution_error,
    score_interval,
    threshold_measures,
    tuning_optimism,
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
    "y": ((X, None), {}, TypeError, "y must contain the true labels"),
    "no column": ((X[:, :0], Y), {}, ValueError, "X must have at least one column"),
    "transposed": ((RNG.normal(size=(500, 60)), Y), {}, ValueError, r"X .* mean X\.T"),
    "ragged": (
        ([[1.0, 2.0], [3.0]] * 30, Y),
        {},
        ValueError,
        "X(:| must have rows of equal length)",
    ),
    "groups": ((X, Y), {"groups": Y}, ValueError, "groups must be what some samples share"),
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


@pytest.mark.parametrize(
    "model", [PerturbationResamplingSVC(n_resamples=3), CV2FeatureSelectionPipeline()]
)
def test_estimators_name_transposed_samples_and_iterators(model):
    wide = RNG.normal(size=(60, 90))
    with pytest.raises(ValueError, match=r"X and y .* mean X\.T"):
        model.fit(wide.T, Y)
    with pytest.raises(ValueError, match="X and y must") as error:
        model.fit(wide[:59], Y)
    assert "X.T" not in str(error.value)
    for name, data in {"X": (iter(wide), Y), "y": (wide, iter(Y))}.items():
        with pytest.raises(TypeError, match=f"^{name} must be an array"):
            model.fit(*data)


@pytest.mark.parametrize("name", ["kernel", "estimator"])
def test_a_class_is_no_part_of_a_classifier(name):
    with pytest.raises(TypeError, match=f"{name} must be an instance"):
        PerturbationResamplingSVC(n_resamples=0, **{name: GaussianNB}).fit(X, Y)


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
    with pytest.raises(TypeError, match=rf"must be {function.__name__}\(\w+, \w+"):
        function(*data)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("loo", "leave_one_out"), ("632", "\\.632"), ("Corrected_T", "corrected_t")],
)
def test_options_are_suggested(given, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        error_interval(GaussianNB(), X, Y, method=given)


RESAMPLING = [*FITTING, metric_interval, threshold_measures]


def call_with(function, **options):
    """Call a function of a model, or of predictions, with further arguments."""
    data = {"estimator": GaussianNB(), "X": X, "y": Y}
    if function is metric_interval:
        data = {"metric": "accuracy", "y_true": Y, "y_pred": Y}
    if function is threshold_measures:
        data = {"y_true": Y, "y_score": X[:, 0]}
    return function(**data, **options)


@pytest.mark.parametrize("function", RESAMPLING)
def test_a_seed_is_no_flag_and_a_level_no_rounding_error(function):
    for flag in (True, np.True_):
        with pytest.raises((TypeError, ValueError), match="random_state"):
            call_with(function, random_state=flag)
    if function not in (cross_val_error, resubstitution_error):
        with pytest.raises(ValueError, match="confidence_level must"):
            call_with(function, confidence_level=1e-320)


@pytest.mark.parametrize("function", [learning_curve_band, feature_importance])
def test_a_number_of_repeats_is_no_array(function):
    with pytest.raises(ValueError, match="n_repeats must be an integer"):
        call_with(function, n_repeats=np.array([2, 3]))


RAGGED = [1, [2, 3]]


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (feature_importance, "n_jobs", 10**30),
        (feature_importance, "error_score", 10**30),
        (bootstrap_error, "indices", RAGGED),
        (evaluate, "pos_label", RAGGED),
        (metric_interval, "sample_weight", np.nan),
        (metric_interval, "sample_weight", np.ones(59)),
        (error_interval, "n_jobs", 2**31),
    ],
)
def test_odd_values_are_those_of_an_argument(function, name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        call_with(function, **{name: value})


def test_the_error_of_a_holdout_is_a_number():
    with pytest.raises(ValueError, match="y_true"):
        evaluate_predictions(RAGGED * 5, [0, 1] * 5)
    for value in (["a"], {"a": 1}):
        with pytest.raises((TypeError, ValueError), match="error"):
            holdout_size(value, 0.1)


@pytest.mark.parametrize("pair", [1, (len,), (1, True), "ab"])
def test_other_indices_are_pairs(pair):
    with pytest.raises(ValueError, match="indices must be names, or a dict with a pair"):
        compare_clusterings(X, {"a": Y, "b": 1 - Y}, indices={"a": pair})


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("answer", [np.nan, "a"])
@pytest.mark.parametrize("function", [permutation_test, cross_val_error])
def test_predictions_that_are_no_classes_are_those_of_the_estimator(function, answer):
    with pytest.raises(ValueError, match="estimator must predict labels that are in y"):
        function(AnswersClasses(answer), X, Y)


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
    with pytest.raises(ValueError, match="train_sizes must be at least two"):
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


@pytest.mark.parametrize(
    ("given", "meant"),
    [("loo", "LeaveOneOut"), ("LOOCV", "LeaveOneOut"), ("kfold", "KFold"), ("logo", "LeaveOneGro")],
)
@pytest.mark.parametrize("function", [cross_val_error, permutation_test, evaluate])
def test_splitters_are_suggested(function, given, meant):
    with pytest.raises(ValueError, match=f"cv must be .*did you mean '{meant}"):
        function(GaussianNB(), X, Y, cv=given)
    with pytest.raises(ValueError, match=r"cv must be an instance, such as KFold\(\)"):
        function(GaussianNB(), X, Y, cv=KFold)


@pytest.mark.parametrize("folds", [2, 3])
@pytest.mark.parametrize(
    "function", [cross_val_error, error_interval, permutation_test, evaluate, learning_curve_band]
)
def test_folds_of_sorted_rows_train_on_all_classes(function, folds):
    y = np.repeat(["a", "b", "c"], 20)
    with pytest.raises(ValueError, match=r"^cv must .* 'a' .* fold 0.* sorted .*shuffle=True"):
        function(GaussianNB(), X, y, cv=KFold(folds))
    # other orders, shuffled folds, and folds that train on a part of each class
    for cv, labels in (
        (KFold(folds), np.tile(["a", "b", "c"], 20)),
        (KFold(folds, shuffle=True, random_state=0), y),
        (KFold(4), y),
    ):
        assert function(GaussianNB(), X, labels, cv=cv) is not None


@pytest.mark.parametrize("function", [cross_val_error, bootstrap_error, permutation_test])
@pytest.mark.parametrize("pack", [list, tuple, dict])
def test_several_models_are_for_other_functions(function, pack):
    models = {"a": GaussianNB(), "b": Ridge()}
    with pytest.raises(TypeError, match=r"^estimator must .*compare_classifiers"):
        function(models if pack is dict else pack(models.values()), X, Y)
    with pytest.raises(TypeError, match="The order of arguments"):
        function(X.tolist(), Y, GaussianNB())


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (bootstrap_error, "n_bootstraps", "n_resamples"),
        (permutation_test, "n_perm", "n_permutations"),
        (cross_val_error, "n_splits", "cv"),
        (feature_importance, "n_splits", "n_folds"),
        (evaluate, "seed", "random_state"),
        (evaluate, "metric", "scoring"),
        (error_interval, "ci", "confidence_level"),
    ],
)
def test_arguments_of_other_packages_are_suggested(function, given, meant):
    with pytest.raises(TypeError, match=rf"no argument '{given}' \(did you mean '{meant}'"):
        call_with(function, **{given: 3})
    with pytest.raises(TypeError, match=r"no argument 'n_bootstraps'. The arguments are"):
        evaluate(GaussianNB(), X, Y, n_bootstraps=3)


def test_types_of_targets_metrics_and_classes_are_explained():
    y = np.repeat(["a", "b", "c"], 20)
    with pytest.raises(ValueError, match=r"^y must contain numbers for a regressor, got 'a'"):
        cross_val_error(Ridge(), X, y)
    with pytest.raises(ValueError, match=r"^y must contain classes.*zero_one"):
        cross_val_error(Ridge(), X, X[:, 0], loss="zero_one")
    assert cross_val_error(Ridge(), X, Y, loss="zero_one").value > 0
    for scores in (X[:, 0], np.eye(3)[RNG.integers(0, 3, 60)]):
        with pytest.raises(ValueError, match=r"^metric must be 'roc_auc_ovr'"):
            metric_interval("roc_auc", y, scores)
    assert metric_interval("roc_auc_ovr", y, np.full((60, 3), 1 / 3)).value == 0.5
    with pytest.raises(TypeError, match=r"^scoring must .*make_scorer"):
        evaluate(GaussianNB(), X, Y, scoring=lambda true, pred: 1.0)
    with pytest.raises(ValueError, match=r"^pos_label must .* \(did you mean 'b'\?"):
        evaluate(GaussianNB(), X[:40], y[:40], pos_label="B")
    with pytest.raises(ValueError, match=r"^pos_label must") as error:
        evaluate(GaussianNB(), X, y, pos_label="A")
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize("function", FITTING)
def test_a_formula_is_no_estimator(function):
    with pytest.raises(TypeError, match=r"estimator must have the methods .* formula"):
        function("y ~ a + b", X, Y)
    with pytest.raises(TypeError, match=r"estimator must have the methods .* formula"):
        evaluate("y ~ a + b", X, None)


@pytest.mark.parametrize("wrong", ["SVC", 5, KMeans(2)])
def test_a_model_is_called_by_the_name_of_its_argument(wrong):
    with pytest.raises(TypeError, match=r"^classifier must"):
        selection_bias(SelectKBest(k=1), wrong, X, Y)
    with pytest.raises(TypeError, match=r"^search must"):
        tuning_optimism(wrong, X, Y)


class Untagged(BaseEstimator):
    """An estimator that says neither that it is a classifier nor that it is a regressor."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, np.asarray(y) > np.median(y))
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("function", [cross_val_error, evaluate, error_interval, bootstrap_error])
def test_labels_need_a_classifier_by_its_tags(function):
    for y in (Y, Y == 1, Y.astype(str)):
        with pytest.raises(
            TypeError, match="estimator must have the tags of a classifier or regressor"
        ):
            function(Untagged(), X, y)
    assert cross_val_error(Untagged(), X, X[:, 0]).value > 0


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e160, 1e308])
def test_numbers_whose_squares_are_none_need_another_unit(unit):
    y = X[:, 0] / 4 * unit
    for function in (cross_val_error, evaluate):
        with pytest.raises(ValueError, match=r"y must have a range between .* another unit"):
            function(Ridge(), X, y)
    with pytest.raises(ValueError, match="y_true must have a range between"):
        evaluate_predictions(y, y[::-1].copy())


def test_the_name_of_a_metric_is_suggested():
    for name, meant in (("rmse", "root_mean_squared_error"), ("brier", "brier_score")):
        with pytest.raises(ValueError, match=f"got '{name}'. Did you mean .*'{meant}'"):
            metric_interval(name, X[:, 0], X[:, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: threshold_measures(Y, X[:, 0], "youden"),
            r"threshold_measures\(y_true, y_score\)",
        ),
        (
            lambda: metric_interval("accuracy", Y),
            r"metric_interval\(metric, y_true, y_pred\).*y_pred",
        ),
        (lambda: error_norm(Y, Y, 2), r"error_norm\(y_true, y_pred\)"),
    ],
)
def test_arguments_that_do_not_bind_are_answered_by_the_call(call, message):
    with pytest.raises(TypeError, match=f"the call must be {message}"):
        call()


@pytest.mark.parametrize("cv", ["x", 1, 0, True, 2.5, []])
@pytest.mark.parametrize(
    "model", [PerturbationResamplingSVC(n_resamples=3), CV2FeatureSelectionPipeline()]
)
def test_folds_of_an_estimator_are_checked_in_fit(model, cv):
    with pytest.raises(ValueError, match=r"^cv must"):
        clone(model).set_params(cv=cv).fit(X, Y)


@pytest.mark.parametrize("wrong", [[[1, 2], [3]], np.full(60, None), X[:, :, None], Y[:-1], {1, 2}])
def test_errors_of_scikit_learn_get_the_name_of_the_argument(wrong):
    for call, names in (
        (lambda: minkowski_score(wrong, Y), {"labels_true"}),
        (lambda: minkowski_score(Y, Y, sample_weight=wrong), {"sample_weight"}),
        (lambda: connectivity_score(X, wrong), {"labels"}),
        (lambda: connectivity_score(wrong, Y), {"X"}),
        (lambda: roc_curve_band(Y, wrong), {"y_score"}),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        assert names & set(re.findall(r"\w+", str(error.value)))


def test_dates_are_no_scores_but_may_be_groups():
    days = np.datetime64("2024-01-01") + np.arange(60) // 3
    with pytest.raises(TypeError, match="y_score must contain numbers, got datetime64"):
        ranking_loss(Y, days)
    assert cross_val_error(GaussianNB(), X, Y, groups=days).n_groups == 20


def test_a_scorer_is_no_class():
    for function in (score_interval, permutation_test, bootstrap_score):
        with pytest.raises(TypeError, match="scoring must be a name or a function, got the class"):
            function(GaussianNB(), X, Y, scoring=GaussianNB)
