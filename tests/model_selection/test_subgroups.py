"""Subgroups: oracles, invariances and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import accuracy_score, mean_squared_error
from statsmodels.stats.proportion import confint_proportions_2indep

from skeval.model_selection import metric_interval
from skeval.model_selection._subgroups import compare_with_rest, describe_slices

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
PREDICTED = np.where(RNG.random(120) < 0.8, Y, 1 - Y)
SITE = np.array(["north", "south", "west"])[RNG.integers(0, 3, 120)]


def right_of(mask):
    return int(np.sum(Y[mask] == PREDICTED[mask])), int(mask.sum())


def test_largest_difference_of_two_is_newcombes():
    two = SITE != "west"
    found = metric_interval(accuracy_score, Y[two], PREDICTED[two], by=SITE[two])
    difference = found.largest_difference
    first, second = (right_of(difference.details[part] == SITE) for part in ("first", "second"))
    expected = confint_proportions_2indep(*first, *second, method="newcomb")
    assert_allclose(list(difference.interval), expected, atol=1e-9)


def test_largest_difference_of_three_has_bonferronis_level():
    found = metric_interval(accuracy_score, Y, PREDICTED, by=SITE)
    difference = found.largest_difference
    first, second = (right_of(difference.details[part] == SITE) for part in ("first", "second"))
    expected = confint_proportions_2indep(*first, *second, method="newcomb", alpha=0.05 / 3)
    assert_allclose(list(difference.interval), expected, atol=1e-9)


@pytest.mark.parametrize("metric", [accuracy_score, mean_squared_error])
def test_order_and_names_of_subgroups_do_not_matter(metric):
    order, names = RNG.permutation(120), {"north": 2, "south": 1, "west": 0}
    found = metric_interval(metric, Y, PREDICTED, by=SITE)
    again = metric_interval(
        metric, Y[order], PREDICTED[order], by=[names[site] for site in SITE[order]]
    )
    for name, estimate in found.items():
        assert_allclose(list(again[names[name]].interval), list(estimate.interval))
    ends = (list(result.largest_difference.interval) for result in (found, again))
    assert_allclose(*ends)


def test_pvalues_against_the_rest_invert_the_interval():
    def measure(mask):
        return metric_interval(accuracy_score, Y[mask], PREDICTED[mask])

    found = compare_with_rest(SITE, 120, measure, 0.95)
    pvalues = []
    for name, difference in found.less_the_rest.items():
        pvalue = difference.details["pvalue"]
        pvalues.append(pvalue)
        own = confint_proportions_2indep(
            *right_of(name == SITE), *right_of(name != SITE), method="newcomb", alpha=pvalue
        )
        assert min(map(abs, own)) < 1e-3
    adjusted = [each.details["pvalue_adjusted"] for each in found.less_the_rest.values()]
    assert_allclose(adjusted, stats.false_discovery_control(pvalues))
    assert "No subgroup differs significantly" in describe_slices(found)


def test_missing_values_form_a_subgroup():
    site = SITE.astype(object)
    site[:20] = None
    assert set(metric_interval(accuracy_score, Y, PREDICTED, by=site)) == {
        *("missing", "north", "south", "west")
    }


@pytest.mark.parametrize("by", [SITE[:5], "site", np.column_stack([SITE, SITE])])
def test_subgroups_of_another_length_are_refused(by):
    with pytest.raises(ValueError, match="by must have a subgroup for each of 120 samples"):
        metric_interval(accuracy_score, Y, PREDICTED, by=by)
