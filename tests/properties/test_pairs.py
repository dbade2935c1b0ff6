"""Rows of two arguments are paired only if they belong together."""

import inspect

import numpy as np
import pandas as pd
import pytest
from helpers.outcomes import assert_same_numbers
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval import metrics, model_selection
from skeval.metrics import cluster

RNG = np.random.default_rng(0)
N = 40
IDS = [f"patient{i}" for i in range(N)]
Y = np.arange(N) % 2
SCORE = (Y + 2 * RNG.random(N)) / 3
ARGUMENTS = {
    "y_true": Y,
    "labels_true": Y,
    "y_pred": (SCORE > 0.6).astype(int),
    "labels_pred": (SCORE > 0.6).astype(int),
    "y_score": SCORE,
    "y_proba": SCORE,
    "predictions": (SCORE > 0.6).astype(int),
    "baseline": np.roll(SCORE, 1),
    "sample_weight": 1.0 + np.arange(N) % 3,
    "groups": np.arange(N) // 2,
    "by": np.arange(N) % 2,
    "within": np.arange(N) // 10,
}
PAIRED = {}
"""Public functions of true values and predictions."""
for module in (skeval, metrics, cluster, model_selection):
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isfunction(function) and function.__module__.startswith("skeval"):
            parameters = inspect.signature(function).parameters
            if {"y_true", "labels_true"} & {*parameters}:
                PAIRED[name] = function
del PAIRED["evaluate_clusterer"]  # X
MORE = {
    "metric_interval": {"metric": "accuracy"},
    "threshold_measures": {"threshold": 0.5},
    "cost_sensitive_error": {"cost_matrix": 1 - np.eye(2)},
    "error_norm": {},
}


def call(name, arguments):
    function = PAIRED[name]
    parameters = inspect.signature(function).parameters
    options = {"random_state": 0} if "random_state" in parameters else {}
    if "n_resamples" in parameters:
        options["n_resamples"] = 20
    return function(**arguments, **options, **MORE.get(name, {}))


def needed(name):
    """Return the arguments with samples that a function requires."""
    parameters = inspect.signature(PAIRED[name]).parameters.values()
    names = [p.name for p in parameters if p.default is p.empty and p.name in ARGUMENTS]
    arguments = {key: ARGUMENTS[key] for key in names}
    if name == "compare_predictions":
        arguments["predictions"] = {"a": ARGUMENTS["y_pred"], "b": 1 - Y}
    return arguments


def each(convert, values):
    if isinstance(values, dict):
        return {key: convert(value) for key, value in values.items()}
    return convert(values)


def label(values, order=None):
    make = pd.DataFrame if np.ndim(values) == 2 else pd.Series
    series = make(values, index=IDS)
    return series if order is None else series.iloc[order]


OPTIONAL = ["sample_weight", "groups", "by", "within"]


@pytest.mark.parametrize("name", sorted(PAIRED))
def test_another_order_of_an_index_is_refused(name):
    arguments = needed(name)
    expected = call(name, arguments)
    labeled = {key: each(label, values) for key, values in arguments.items()}
    assert_same_numbers(call(name, labeled), expected)
    others = [key for key in OPTIONAL if key in inspect.signature(PAIRED[name]).parameters]
    order = np.roll(np.arange(N), 3)
    for key in [*list(arguments)[1:], *others]:
        values = labeled.get(key, ARGUMENTS[key])
        if key in others:
            values = label(values)
        moved = each(lambda one: one.iloc[order], values)
        with pytest.raises(ValueError, match=rf"{key}.* must have the index of .*loc"):
            call(name, labeled | {key: moved})
        # most rows of another set of samples
        others_too = each(lambda one: one.set_axis([*IDS[5:], *"abcde"]), values)
        with pytest.raises(ValueError, match=rf"{key}.* must have the index of .*to_numpy"):
            call(name, labeled | {key: others_too})
    fresh = {
        key: each(lambda one: one.reset_index(drop=True), labeled[key]) for key in list(labeled)[1:]
    }
    assert_same_numbers(call(name, labeled | fresh), expected)
    # 0, 1, ... beside 1, 2, ... may be a forecast of the next row, and not of this one
    first, *rest = labeled
    starts = {first: each(lambda one: one.reset_index(drop=True), labeled[first])}
    later = {key: each(lambda one: one.set_axis(np.arange(N) + 1), labeled[key]) for key in rest}
    with pytest.raises(ValueError, match=r"must have the index of .*\.loc\[common\]"):
        call(name, starts | later)


@pytest.mark.parametrize("name", sorted(PAIRED))
def test_masked_values_are_refused(name):
    arguments = needed(name)
    mask = np.zeros(N, dtype=bool)
    for key in arguments:
        whole = each(lambda one: np.ma.masked_array(one, np.zeros(np.shape(one))), arguments[key])
        assert_same_numbers(call(name, arguments | {key: whole}), call(name, arguments))
        mask[3] = True
        masked = each(lambda one: np.ma.masked_array(one, (one.T < 9).T), arguments[key])
        with pytest.raises(ValueError, match=rf"{key}.* must not have masked values"):
            call(name, arguments | {key: masked})


UNPAIRED = {
    "splits": lambda a, b: model_selection.compare_scores({"a": a, "b": b}, test_train_ratio=0.1),
    "items": lambda a, b: model_selection.compare_scores({"a": a, "b": b}, over="items"),
    "groups": lambda a, b: model_selection.compare_scores(
        pd.DataFrame({"a": a, "b": a**2}), over="items", groups=b.round(1)
    ),
}


@pytest.mark.parametrize("name", UNPAIRED)
def test_scores_in_another_order_or_masked_are_refused(name):
    a, b = label(SCORE), label(np.roll(SCORE, 7))
    expected = UNPAIRED[name](SCORE, b.to_numpy())
    assert_same_numbers(UNPAIRED[name](a, b), expected)
    with pytest.raises(ValueError, match=r"must have the index of .*, in the same order"):
        UNPAIRED[name](a, b.iloc[::-1])
    masked = np.ma.masked_array(b.to_numpy(), b.to_numpy() > 0.9)
    with pytest.raises(ValueError, match="must not have masked values"):
        UNPAIRED[name](SCORE, masked)


def test_the_order_of_an_index_is_not_ignored_beside_an_estimator():
    X = pd.DataFrame(SCORE[:, None], index=IDS)
    moved = label(Y).sort_index()
    for key in ("y", "by", "groups", "sample_weight"):
        arguments = {"y": label(Y)} | {key: moved + 1.0 * (key == "sample_weight")}
        with pytest.raises(ValueError, match=f"{key} must have the index of X, in the same order"):
            skeval.evaluate(GaussianNB(), X, **arguments)
    for key in ("X", "y"):
        arguments = {"X": SCORE[:, None], "y": Y}
        arguments[key] = np.ma.masked_array(arguments[key], arguments[key] > 0.5)
        with pytest.raises(ValueError, match=f"{key} must not have masked values"):
            model_selection.cross_val_error(GaussianNB(), **arguments)


@pytest.mark.parametrize("first", [0, 5])
def test_rows_left_out_of_one_table_only_are_refused_beside_an_estimator(first):
    """Samples and labels cleaned separately have the same length, and other labels of the index."""
    X, y = pd.DataFrame(SCORE[:, None]), pd.Series(Y)
    X.index = y.index = np.arange(first, first + N)
    X, other = X.drop(index=first + 3), y.drop(index=first + N - 2)
    for call in (skeval.evaluate, skeval.error_interval, skeval.permutation_test):
        with pytest.raises(ValueError, match=r"y must have the index of X.*X\.loc\[common\]"):
            call(GaussianNB(), X, other)
    common = X.index.intersection(other.index)
    same = model_selection.cross_val_error(
        GaussianNB(), X.loc[common], other.loc[common], random_state=0
    )
    reset = other.loc[common].reset_index(drop=True)  # only one was reset
    again = model_selection.cross_val_error(GaussianNB(), X.loc[common], reset, random_state=0)
    assert again.value == same.value


CLUSTERED = [
    name
    for name in cluster.__all__
    if list(inspect.signature(getattr(cluster, name)).parameters)[:2] == ["X", "labels"]
    and getattr(cluster, name).__module__.startswith("skeval")
]


@pytest.mark.parametrize("name", CLUSTERED)
def test_points_and_labels_in_another_order_are_refused(name):
    function = getattr(cluster, name)
    points, labels = pd.DataFrame(RNG.normal(size=(N, 2)), index=IDS), label(Y)
    options = [{}, {"sample_size": 20}] if name == "silhouette_score" else [{}]
    for more in options:
        with pytest.raises(ValueError, match="labels must have the index of X"):
            function(points, labels.sort_index(), **more)
        function(points, labels.reset_index(drop=True), **more)


CLASSES = np.array(["cat", "dog", "eel"])[np.arange(N) % 3]
SHARES = pd.DataFrame(RNG.dirichlet(np.ones(3), N), columns=["cat", "dog", "eel"])
OF_COLUMNS = {
    name: getattr(metrics, name)
    for name in ("expected_calibration_error", "reliability_curve", "score_decomposition")
} | {
    getattr(metric, "__name__", metric): lambda y, shares, metric=metric: (
        model_selection.metric_interval(metric, y, shares, n_resamples=20, random_state=0)
    )
    for metric in ("roc_auc_ovr", log_loss)
}


@pytest.mark.parametrize("name", OF_COLUMNS)
@pytest.mark.parametrize("codes", [["cat", "dog", "eel"], [2, 5, 10], [2.0, 5.0, 10.0]])
def test_columns_named_after_classes_are_in_their_order(name, codes):
    names = dict(zip(["cat", "dog", "eel"], codes, strict=True))
    y, shares = np.array([names[one] for one in CLASSES]), SHARES.rename(columns=names)
    assert_same_numbers(OF_COLUMNS[name](y, shares), OF_COLUMNS[name](y, shares.to_numpy()))
    for column_names in (shares.columns, shares.columns.map(int) if codes[0] == 2 else codes):
        moved = shares.set_axis(column_names, axis=1).iloc[:, [2, 0, 1]]
        with pytest.raises(ValueError, match="must have its columns in the order of the classes"):
            OF_COLUMNS[name](y, moved)


def test_costs_named_after_classes_are_in_their_order():
    costs = pd.DataFrame([[0, 1, 2], [3, 0, 1], [1, 5, 0]], ["cat", "dog", "eel"])
    costs.columns = costs.index
    pair = CLASSES, np.roll(CLASSES, 5)
    value = metrics.cost_sensitive_error(*pair, cost_matrix=costs)
    assert value == metrics.cost_sensitive_error(*pair, cost_matrix=costs.to_numpy())
    order = ["eel", "cat", "dog"]
    for moved in (costs[order], costs.loc[order], costs.loc[order, order]):
        with pytest.raises(ValueError, match="must have its columns in the order of the classes"):
            metrics.cost_sensitive_error(*pair, cost_matrix=moved)
    labeled = metrics.cost_sensitive_error(*pair, cost_matrix=costs.loc[order, order], labels=order)
    assert labeled == pytest.approx(value, rel=1e-12)


def test_texts_in_another_order_are_refused():
    texts = pd.Series(["a b c d", "e f g h"])
    with pytest.raises(ValueError, match="hypotheses must have the index of references"):
        metrics.bleu_score(texts, texts.iloc[::-1])
