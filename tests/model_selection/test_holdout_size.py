"""holdout_size: the smallest size that gives the wanted width, and no smaller one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from reference.holdout import smallest_size
from scipy.stats import norm, t

from skeval._inference.intervals import wilson_interval
from skeval.model_selection import holdout_error, holdout_size


@each_value
@pytest.mark.parametrize(
    ("error", "half_width"), [(0.1, 0.05), (0.5, 0.1), (0.02, 0.04), (0.3, 0.4)]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_random_sampling_is_the_first_that_suffices(error, half_width, level):
    result = holdout_size(error, half_width, confidence_level=level)
    expected = smallest_size(error, half_width, wilson_interval, level)
    assert result.n_samples == expected
    assert result.half_width <= half_width
    assert result.per_class is None


@each_value
@pytest.mark.parametrize("error", [0.0, 1.0])
def test_no_errors_expected(error):
    expected = smallest_size(error, 0.02, wilson_interval, 0.95)
    assert holdout_size(error, 0.02).n_samples == expected


@each_value
@pytest.mark.parametrize("allocation", ["proportional", "optimal"])
@pytest.mark.parametrize(
    ("errors", "priors"),
    [([0.05, 0.3], [0.9, 0.1]), ([0.1, 0.2, 0.3], [0.2, 0.3, 0.5]), (0.1, [0.4, 0.6])],
)
def test_selective_sampling_reaches_the_width_and_hardly_more(errors, priors, allocation):
    result = holdout_size(errors, 0.03, priors=priors, allocation=allocation)
    errors, priors = np.broadcast_to(errors, len(priors)), np.array(priors)

    def half(sizes):
        return norm.ppf(0.975) * np.sqrt(np.sum(priors**2 * errors * (1 - errors) / sizes))

    sizes = np.array(result.per_class)
    assert result.n_samples == sizes.sum()
    assert result.half_width == pytest.approx(half(sizes))
    assert half(sizes) <= 0.03
    # each class was rounded up by less than one
    assert half(sizes - 1) > 0.03
    if allocation == "proportional":
        np.testing.assert_allclose(sizes / sizes.sum(), priors, atol=2 / sizes.sum())


def test_neyman_needs_no_more_than_any_other_allocation():
    errors, priors = np.array([0.02, 0.4]), np.array([0.7, 0.3])
    best = holdout_size(errors, 0.02, priors=priors, allocation="optimal").n_samples
    z = norm.ppf(0.975)
    for share in np.linspace(0.02, 0.98, 49):
        needed = (z / 0.02) ** 2 * np.sum(
            priors**2 * errors * (1 - errors) / np.array([share, 1 - share])
        )
        assert best <= needed + 2


def test_the_size_gives_the_width_on_a_test_set_with_that_error():
    size = holdout_size(0.1, 0.04)
    wrong = round(0.1 * size.n_samples)
    interval = holdout_error(
        np.zeros(size.n_samples), np.arange(size.n_samples) < wrong
    ).confidence_interval()
    assert (interval.high - interval.low) / 2 == pytest.approx(0.04, rel=0.02)


def test_a_class_without_errors_still_gets_a_sample():
    sizes = holdout_size([0.0, 0.3], 0.03, priors=[0.5, 0.5], allocation="optimal").per_class
    assert sizes[0] == 1


def test_groups_take_the_design_effect_more():
    alone = holdout_size(0.1, 0.03)
    found = holdout_size(0.1, 0.03, group_size=8, intraclass_correlation=0.25)
    quantile = t.isf(0.025, found.n_samples / 8 - 1) / norm.isf(0.025)
    assert found.n_samples == pytest.approx(2.75 * alone.n_samples * quantile**2, abs=2)
    options = {"priors": [0.9, 0.1], "allocation": "optimal"}
    few, many = (
        holdout_size([0.05, 0.3], 0.03, **options, **groups)
        for groups in ({}, {"group_size": 8, "intraclass_correlation": 0.25})
    )
    assert many.n_samples == sum(many.per_class)
    assert np.ptp(np.divide(many.per_class, few.per_class)) < 0.02
    for bad in ({"group_size": 0.5}, {"intraclass_correlation": 1.5}):
        name = next(iter(bad))
        with pytest.raises(ValueError, match=f"{name} must"):
            holdout_size(0.1, 0.03, **{"group_size": 8, "intraclass_correlation": 0.2} | bad)
