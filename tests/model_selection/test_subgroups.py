"""Subgroups: oracles, invariances and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import accuracy_score, mean_squared_error
from statsmodels.stats.proportion import confint_proportions_2indep

from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
PREDICTED = np.where(RNG.random(120) < 0.8, Y, 1 - Y)
SITE = np.array(["north", "south", "west"])[RNG.integers(0, 3, 120)]


def right_of(mask):
    return int(np.sum(Y[mask] == PREDICTED[mask])), int(mask.sum())


def test_difference_from_the_rest_is_newcombes():
    found = metric_interval(accuracy_score, Y, PREDICTED, by=SITE).less_the_rest["north"]
    sides = right_of(SITE == "north"), right_of(SITE != "north")
    expected = confint_proportions_2indep(*sides[0], *sides[1], method="newcomb")
    assert_allclose(list(found.interval), expected, atol=1e-9)


@pytest.mark.parametrize("metric", [accuracy_score, mean_squared_error])
def test_order_and_names_of_subgroups_do_not_matter(metric):
    order, names = RNG.permutation(120), {"north": 2, "south": 1, "west": 0}
    found = metric_interval(metric, Y, PREDICTED, by=SITE)
    again = metric_interval(
        metric, Y[order], PREDICTED[order], by=[names[site] for site in SITE[order]]
    )
    for name, estimate in found.items():
        assert_allclose(list(again[names[name]].interval), list(estimate.interval))
    for name, difference in found.less_the_rest.items():
        other = again.less_the_rest[names[name]]
        assert_allclose(list(other.interval), list(difference.interval))


def test_pvalues_against_the_rest_invert_the_interval():
    found = metric_interval(accuracy_score, Y, PREDICTED, by=SITE)
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
