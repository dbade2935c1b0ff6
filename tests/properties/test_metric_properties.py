"""Property tables: every metric is in the sets of the properties it has, and none is forgotten."""

import functools
import inspect

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose

import skeval.metrics
from skeval.metrics import (
    averaged_precision_recall_fscore,
    bleu_score,
    break_even_point,
    cost_sensitive_error,
    error_norm,
    error_rate,
    expected_cost,
    log_bleu_score,
    macro_fbeta_score,
    micro_fbeta_score,
    precision_at_k,
    ranking_loss,
    sentence_bleu_score,
    weighted_fbeta_score,
)


def of_last(name):
    """Return a metric of one class against the others, of the last in sorted order."""
    metric = getattr(skeval.metrics, name)
    return lambda y, p, **options: metric(y, p, pos_label=np.unique(y)[-1].item(), **options)


OF_ONE_CLASS = {
    name: of_last(name)
    for name in ("sensitivity_score", "specificity_score", "ppv_score", "npv_score")
}
THREE_CLASSES = {
    **OF_ONE_CLASS,
    "error_rate": error_rate,
    "averaged_precision_recall_fscore": averaged_precision_recall_fscore,
    "macro_fbeta_score": macro_fbeta_score,
    "micro_fbeta_score": micro_fbeta_score,
    "weighted_fbeta_score": weighted_fbeta_score,
    "cost_sensitive_error": functools.partial(
        cost_sensitive_error, cost_matrix=[[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    ),
}
SCORES = {
    "break_even_point": break_even_point,
    "ranking_loss": ranking_loss,
    "expected_cost": expected_cost,
    "precision_at_k": precision_at_k,
}
REGRESSION = {"error_norm": error_norm}
TEXT = {
    "bleu_score": bleu_score,
    "log_bleu_score": log_bleu_score,
    "sentence_bleu_score": lambda references, hypotheses: sentence_bleu_score(
        references[0], hypotheses[0], smoothing="exp"
    ),
}
ALL = {**THREE_CLASSES, **SCORES, **REGRESSION, **TEXT}

# Sets of properties.
WEIGHTS = {*THREE_CLASSES, *SCORES, *REGRESSION}
# P and R change places: F of beta 1 stays, given class weights that do.
SYMMETRIC = {"error_rate", "error_norm", "micro_fbeta_score", "macro_fbeta_score"}
NOT_SYMMETRIC = set(ALL) - SYMMETRIC - set(SCORES)
ORDER_INVARIANT = set(ALL) - {"sentence_bleu_score"}
NAME_INVARIANT = {
    "error_rate",
    "micro_fbeta_score",
    "macro_fbeta_score",
    "weighted_fbeta_score",
} | {"averaged_precision_recall_fscore"}
NOT_NAME_INVARIANT = {"cost_sensitive_error", *OF_ONE_CLASS}  # rows of the matrix belong to names
ZERO_IS_BEST = {"error_rate", "cost_sensitive_error", "ranking_loss", "expected_cost"} | {
    "error_norm",
    "log_bleu_score",
}
RESULTS = {"cost_curve", "cost_curve_band", "curve_dominance", "expected_loss", "probability_cost"}
RESULTS |= {"reliability_curve", "expected_calibration_error", "score_decomposition"}
RESULTS |= {
    "calibration_measures",
    "matrices_precision_recall_fscore",
    "net_benefit",
    "precision_recall_curve_band",
    "roc_curve_band",
}
MACHINERY = {"get_scorer", "get_scorer_names", "make_clustering_scorer"}


def test_no_metric_is_forgotten():
    ours = {
        name
        for name in skeval.metrics.__all__
        if inspect.isfunction(function := getattr(skeval.metrics, name))
        and function.__module__.startswith("skeval")
    }
    assert ours == set(ALL) | RESULTS | MACHINERY
    assert SYMMETRIC | NOT_SYMMETRIC | set(SCORES) == set(ALL)
    assert set(THREE_CLASSES) == NAME_INVARIANT | NOT_NAME_INVARIANT
    assert WEIGHTS | set(TEXT) == set(ALL)


def data(name, seed=0):
    rng = np.random.default_rng(seed)
    if name in TEXT:
        texts = [" ".join(f"w{w}" for w in rng.integers(0, 2, 6 + i % 5)) for i in range(24)]
        return texts[:12], texts[12:]
    if name in REGRESSION:
        return rng.normal(size=30), rng.normal(size=30)
    if name in SCORES:
        return rng.permutation(np.repeat([0, 1], 15)), rng.integers(0, 9, size=30) / 8
    y = np.concatenate([np.repeat([0, 1, 2], 3), rng.integers(0, 3, size=21)])
    wrong = rng.random(30) < 0.4
    wrong[:9] = False
    return y, np.where(wrong, rng.integers(0, 3, size=30), y)


@pytest.mark.parametrize("name", sorted(WEIGHTS))
def test_whole_weights_equal_repetition(name):
    y, p = data(name)
    weight = np.random.default_rng(1).integers(1, 4, size=30)
    weighted = ALL[name](y, p, sample_weight=weight)
    repeated = ALL[name](np.repeat(y, weight), np.repeat(p, weight))
    assert_allclose(weighted, repeated, rtol=1e-12)
    assert not np.allclose(weighted, ALL[name](y, p), rtol=1e-6)


@pytest.mark.parametrize("name", sorted(WEIGHTS))
def test_weight_zero_is_absence(name):
    y, p = data(name)
    weight = np.ones(30)
    weight[25:] = 0
    assert_allclose(ALL[name](y, p, sample_weight=weight), ALL[name](y[:25], p[:25]), rtol=1e-12)


# The sum of 30 of them is no float, their products are none, or both are 0.
SCALES = [3, 2.0**-1000, 1e-300, 1e-160, 1e160, 1e307]


@each_value
@pytest.mark.parametrize("name", sorted(WEIGHTS - {"error_norm", "weighted_fbeta_score"}))
@pytest.mark.parametrize("scale", SCALES)
def test_only_ratios_of_weights_count(name, scale):
    y, p = data(name)
    weight = np.random.default_rng(2).random(30) + 0.5
    once, scaled = (ALL[name](y, p, sample_weight=k * weight) for k in (1, scale))
    assert_allclose(once, scaled, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(WEIGHTS))
def test_weights_of_very_different_size(name):
    """A weight too small to move any sum is as good as none, and no 0/0."""
    y, p = data(name)
    weight = np.ones(30)
    weight[25:] = 1e-25
    expected = ALL[name](y[:25], p[:25])
    assert_allclose(ALL[name](y, p, sample_weight=weight), expected, rtol=1e-12)


@each_value
@pytest.mark.parametrize("name", sorted(SCORES))
@pytest.mark.parametrize("change", [np.exp, np.cbrt, lambda s: 1e300 * s, lambda s: 1e-300 * s])
def test_increasing_functions_of_the_score_change_nothing(name, change):
    y, score = data(name)
    assert ALL[name](y, change(score - 0.5)) == ALL[name](y, score)


@pytest.mark.parametrize("name", sorted(SYMMETRIC | NOT_SYMMETRIC))
def test_symmetry(name):
    y, p = data(name)
    same = np.allclose(ALL[name](y, p), ALL[name](p, y), rtol=1e-9)
    assert same == (name in SYMMETRIC)


@pytest.mark.parametrize("name", sorted(ORDER_INVARIANT))
def test_order_of_samples_does_not_count(name):
    y, p = data(name)
    order = np.random.default_rng(3).permutation(len(y))
    turned = ALL[name]([y[i] for i in order], [p[i] for i in order])
    assert_allclose(turned, ALL[name](y, p), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(THREE_CLASSES))
def test_names_of_classes(name):
    y, p = data(name)
    value = ALL[name](y, p)
    letters = np.array(["a", "b", "c"])
    assert_allclose(ALL[name](letters[y], letters[p]), value)  # strings in the same order
    turned = np.array(["z", "a", "m"])
    same = np.allclose(ALL[name](turned[y], turned[p]), value, rtol=1e-9)
    assert same == (name in NAME_INVARIANT)


@pytest.mark.parametrize("name", sorted(ALL))
def test_best_value(name):
    y, _ = data(name)
    best = 0.0 if name in ZERO_IS_BEST else 1.0
    assert_allclose(ALL[name](y, y), best, atol=1e-15)


def test_options_are_keyword_only():
    for name in set(ALL) | RESULTS | MACHINERY:
        parameters = inspect.signature(getattr(skeval.metrics, name)).parameters.values()
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert len(positional) <= (3 if name == "expected_loss" else 2), name
        assert all(p.default is p.empty for p in positional), name
