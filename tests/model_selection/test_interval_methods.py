"""Methods of error_interval against their definitions, by plain loops."""

import numpy as np
import pytest
from helpers.error_tasks import EXACT, SEED, TASKS, N, X, Y, assert_agrees, found, splits_of, tasks
from helpers.folds import folds_of
from numpy.random import SeedSequence
from numpy.testing import assert_allclose
from reference import intervals as reference
from scipy.stats import norm, t
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import bootstrap_error, error_interval, perturbation_interval


@tasks
def test_holdout(task):
    model, y, _, loss = TASKS[task]
    (split,) = splits_of(task, "holdout")
    result = found(task, "holdout")
    assert_agrees(result, task, *reference.holdout(model, X, y, split, loss))
    if task == "classes":
        assert result.effective_n_samples == pytest.approx(9, rel=1e-12)
    assert result.extra.n_fits == 1


@tasks
@pytest.mark.parametrize("variance", ["all_pairs", "within_folds"])
def test_cv_wald(task, variance):
    model, y, _, loss = TASKS[task]
    splits = splits_of(task, "cv_wald", n_folds=4)
    result = found(task, "cv_wald", n_folds=4, variance=variance)
    expected = reference.cv_wald(model, X, y, splits, loss, variance == "within_folds")
    assert_agrees(result, task, *expected)
    if variance == "all_pairs":
        assert result.effective_n_samples == pytest.approx(N, rel=1e-12)


@tasks
def test_corrected_t(task):
    model, y, _, loss = TASKS[task]
    splits = splits_of(task, "corrected_t", n_repeats=7, test_size=0.2)
    assert [len(test) for _, test in splits] == [6] * 7
    result = found(task, "corrected_t", n_repeats=7, test_size=0.2)
    expected = reference.corrected_t(model, X, y, splits, loss)
    assert_agrees(result, task, *expected, t.ppf(0.95, 6))


@tasks
def test_nested_cv(task):
    model, y, _, loss = TASKS[task]
    folds = folds_of(splits_of(task, "repeated_cv", n_folds=4, n_repeats=2), 4)
    result = found(task, "nested_cv", n_folds=4, n_repeats=2)
    error, standard_error, _ = reference.nested_cv(model, X, y, folds, 4, loss)
    assert_agrees(result, task, error, standard_error)
    assert result.extra.n_fits == 2 * 4 * 5 / 2


@tasks
def test_repeated_cv(task):
    model, y, _, loss = TASKS[task]
    folds = folds_of(splits_of(task, "repeated_cv", n_folds=4, n_repeats=3), 4)
    result = found(task, "repeated_cv", n_folds=4, n_repeats=3)
    error, spread, f, every = reference.repeated_cv(model, X, y, folds, 4, loss)
    assert_allclose(result.effective_n_samples, N / f, rtol=1e-9)
    quantile = norm.ppf(0.95)
    if task == "classes":
        spread = error * (1 - error)
    else:
        quantile = t.ppf(0.95, reference.degrees_of_mean(every, N, f))
    assert_agrees(result, task, error, np.sqrt(f * spread / N), quantile)
    assert result.extra.n_fits == 3 * 4


@tasks
@pytest.mark.parametrize("method", ["oob", ".632", ".632+"])
def test_bootstraps_are_those_of_bootstrap_error(task, method):
    model, y, name, _ = TASKS[task]
    result = found(task, method, n_resamples=30)
    estimate = bootstrap_error(
        model, X, y, method=method, loss=name, n_resamples=30, random_state=SEED
    )
    assert (result.value, result.standard_error) == (estimate.value, estimate.standard_error)
    expected = estimate.confidence_interval(0.9)
    assert_allclose(result.interval.low, expected.low, **EXACT)
    assert_allclose(result.interval.high, expected.high, **EXACT)
    assert result.extra.n_fits == 31


def test_perturbation_is_that_of_perturbation_interval():
    model = LogisticRegression()
    result = error_interval(
        model, X, Y, method="perturbation", n_resamples=20, n_folds=3, random_state=SEED
    )
    seed = SeedSequence(SEED).spawn(3)[0]
    folds = splits_of("classes", "cv_wald", random_state=seed, n_folds=3)
    expected = perturbation_interval(
        model, X, Y, n_resamples=20, cv=folds, random_state=SeedSequence(SEED).spawn(3)[2]
    )
    assert (result.value, result.standard_error) == (expected.value, expected.standard_error)
    assert_allclose([*result.interval], [*expected.interval])


def test_copies_in_one_group_do_not_make_nested_cv_more_precise():
    """The error is at least the binomial one of the samples that were copied."""
    rng = np.random.default_rng(1)
    X, y, group = rng.normal(size=(40, 2)), np.arange(40) % 2, np.tile(np.arange(40), 2)
    options = {"method": "nested_cv", "groups": group, "random_state": 0}
    result = error_interval(GaussianNB(), np.r_[X, X], np.r_[y, y], **options)
    share = result.replicates.mean()
    assert result.standard_error**2 >= share * (1 - share) / 40
