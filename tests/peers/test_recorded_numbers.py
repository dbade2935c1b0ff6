"""Numbers that other packages return for the same data, recorded with their versions."""

from functools import partial

import numpy as np
import pytest
from helpers.published_scores import asah_patients
from scipy.stats import norm
from sklearn.metrics import mean_pinball_loss, roc_auc_score

from skeval.metrics import get_scorer, net_benefit
from skeval.model_selection import compare_predictions, metric_interval

# fractions of multiples of the golden ratio: no random numbers, which depend on the version
PARTS = np.modf(np.arange(1, 121) * 0.6180339887)[0].reshape(40, 3)
CLASS = np.arange(40) % 3
SETS = PARTS + np.eye(3)[CLASS] / 3 > 0.7
NUMBER = np.exp(2 * PARTS[:, 0])
MIDDLE = np.exp(1.2 * PARTS[:, 0] + PARTS[:, 1])
LIMITS = np.column_stack([MIDDLE - 1 - PARTS[:, 2], MIDDLE + 2.5])
EVENT = (PARTS[:, 0] > 0.4).astype(int)
CALLED = (PARTS[:, 0] + PARTS[:, 1] / 2 > 0.7).astype(int)
SITE = CLASS
close = partial(pytest.approx, rel=1e-12)


def measure(name, *data, **arguments):
    metric = get_scorer(name, **arguments) if arguments else name
    return metric_interval(metric, *data).value


def test_prediction_sets_and_intervals_of_mapie():
    """MAPIE 1.6.0, in its order: classification_*, regression_*."""
    assert measure("set_coverage", CLASS, SETS) == close(0.6)
    assert measure("mean_set_size", CLASS, SETS) == close(1.2)
    by_size = metric_interval("set_coverage", CLASS, SETS, by=SETS.sum(axis=1))
    values = {size: estimate.value for size, estimate in by_size.items()}
    assert values == close({0: 0.0, 1: 0.53846154, 2: 0.90909091}, rel=1e-8)
    assert measure("interval_coverage", NUMBER, LIMITS) == close(0.825)
    winkler = measure("neg_winkler_loss", NUMBER, LIMITS, confidence_level=0.9)
    assert winkler == close(4.7035858021226264)


def test_areas_of_proc():
    """The tests of pROC 1.19.0.1 and its documentation (s100b: 0.7314)."""
    poor, scores = asah_patients()
    variances = {"wfns": 0.00146991470882363, "ndka": 0.0031908105493913}
    variances["s100b"] = 0.00266868245717244
    areas = {"wfns": 0.823678861788618, "ndka": 0.611957994579946, "s100b": 0.7314}
    for name, area in areas.items():
        found = metric_interval(roc_auc_score, poor, scores[name], method="normal")
        assert found.value == close(area, rel=1e-4 if name == "s100b" else 1e-12)
        assert found.standard_error**2 == close(variances[name])
    ends = metric_interval(roc_auc_score, poor, scores["ndka"], method="normal").interval
    assert [*ends] == close([0.501244999271703, 0.722670989888189])
    # from a specificity of 1 to 0.9, as it is and with McClish's correction
    partial_areas = {
        "wfns": (0.0334417344173442, 0.649693339038653),
        "ndka": (0.0107046070460705, 0.530024247610897),
    }
    for name, (area, corrected) in partial_areas.items():
        found = metric_interval(partial(roc_auc_score, max_fpr=0.1), poor, scores[name]).value
        assert found == close(corrected)
        least, most = 0.1**2 / 2, 0.1
        assert least + (2 * found - 1) * (most - least) == close(area)


def test_delongs_test_of_proc():
    """roc.test of pROC 1.19.0.1."""
    poor, scores = asah_patients()
    for pair, pvalue, ends in (
        (("wfns", "s100b"), 0.0271757822291882, [0.0104061769564846, 0.174214419249478]),
        (("wfns", "ndka"), 0.00514557970691098, [0.0634011709339876, 0.3600405634833566]),
        (("s100b", "ndka"), 0.164295175223054, [-0.0488706064228094, 0.2876917446341914]),
    ):
        two = {name: scores[name] for name in pair}
        found = compare_predictions(poor, two, metric=roc_auc_score, method="delong").difference
        assert found.pvalue == close(pvalue)
        assert found.value == close(np.mean(ends))
        assert found.standard_error == close(np.ptp(ends) / 2 / norm.isf(0.025))


def test_differences_of_subgroups_of_fairlearn():
    """fairlearn 0.15.0: demographic_parity_difference and equalized_odds_difference."""

    def find_difference(metric):
        return metric_interval(metric, EVENT, CALLED, by=SITE).largest_difference.value

    assert find_difference(lambda y_true, y_pred: y_pred.mean()) == close(0.18131868131868134)
    odds = [find_difference(name) for name in ("sensitivity", "specificity")]
    assert odds == close([0.2063492063492064, 0.2])


def test_means_of_scikit_learn_and_imbalanced_learn():
    """imbalanced-learn 0.14.2: geometric_mean_score(average="multiclass")."""
    pred = np.where(PARTS[:, 2] > 0.4, CLASS, PARTS.argmax(axis=1))
    assert measure("geometric_mean", CLASS, pred) == close(0.7507115753793796)
    assert measure("geometric_mean", EVENT, CALLED) == close(0.67700320038633)
    losses = [mean_pinball_loss(NUMBER, LIMITS[:, i], alpha=(0.1, 0.8)[i]) for i in (0, 1)]
    found = measure("neg_mean_quantile_loss", NUMBER, LIMITS, quantiles=[0.1, 0.8])
    assert found == close(np.mean(losses))


def test_standardized_net_benefit_of_dcurves():
    """dcurves 1.1.7: net_benefit / prevalence."""
    found = net_benefit(
        EVENT, PARTS[:, :2].mean(axis=1), thresholds=[0.2, 0.5, 0.7], standardize=True
    )
    assert found.y == close([0.84375, 0.2083333333333333, 0.16666666666666666])
