"""Weights of samples in the estimates of error: in every fit and in the means of the losses."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.model_selection import bootstrap_error, cross_val_error

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
W = RNG.integers(1, 4, 60)
FOLDS = list(StratifiedKFold(4).split(X, Y))
MODELS = [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), SVC(kernel="linear")]
BAGS = {"n_resamples": 25, "random_state": 0}


def repeat_folds():
    """The folds of the samples, each as often as it weighs."""
    origin = np.repeat(np.arange(60), W)
    return [
        tuple(np.flatnonzero(np.isin(origin, part)) for part in (train, test))
        for train, test in FOLDS
    ]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_cross_validation_weights_equal_repeats(model):
    weighted = cross_val_error(model, X, Y, cv=FOLDS, sample_weight=W)
    repeated = cross_val_error(model, np.repeat(X, W, axis=0), np.repeat(Y, W), cv=repeat_folds())
    assert weighted.value == pytest.approx(repeated.value, rel=1e-9)
    assert_allclose(weighted.replicates, repeated.replicates)
    grouped = cross_val_error(
        model,
        np.repeat(X, W, axis=0),
        np.repeat(Y, W),
        cv=repeat_folds(),
        groups=np.repeat(np.arange(60), W),
    )  # copies of a sample are one group, but for the factor of few groups, 1 / (1 - its share)
    ratio, share = (grouped.standard_error / weighted.standard_error) ** 2, W / W.sum()
    assert 1 / (1 - share.min()) <= ratio <= 1 / (1 - share.max())
    assert weighted.n_samples == 60
    most = W.sum() ** 2 / np.sum(W**2)
    worth = weighted.value * (1 - weighted.value) / weighted.standard_error**2
    assert weighted.effective_n_samples == pytest.approx(min(worth, most))


@each_value
@pytest.mark.parametrize("average", ["samples", "bootstraps"])
@pytest.mark.parametrize("model", MODELS[:2], ids=str)
def test_bootstrap_is_the_plain_loop(model, average):
    rng = np.random.default_rng(1)
    bags = rng.integers(0, 60, size=(20, 60))
    wrong, out = np.zeros((20, 60)), np.zeros((20, 60), dtype=bool)
    for b, rows in enumerate(bags):
        arguments = {"sample_weight": W[rows]}
        if hasattr(model, "steps"):
            arguments = {f"{name}__sample_weight": W[rows] for name, _ in model.steps}
        fitted = clone(model).fit(X[rows], Y[rows], **arguments)
        out[b] = ~np.isin(np.arange(60), rows)
        wrong[b] = (fitted.predict(X) != Y) & out[b]
    result = bootstrap_error(
        model, X, Y, method="oob", indices=bags, n_resamples=20, average=average, sample_weight=W
    )
    errors = (wrong @ W) / (out @ W)
    assert_allclose(result.replicates, errors)
    of_samples = np.average(wrong.sum(axis=0) / out.sum(axis=0), weights=W)
    assert result.value == pytest.approx(of_samples if average == "samples" else errors.mean())


@each_value
@pytest.mark.parametrize("estimate", [cross_val_error, bootstrap_error])
@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
def test_equal_weights_change_nothing_and_losses_go_by_ratios(estimate, loss):
    options = BAGS if estimate is bootstrap_error else {"random_state": 0}
    model, y = (GaussianNB(), Y) if loss == "zero_one" else (LinearRegression(), X[:, 0] ** 2)
    options = options | {"loss": loss}
    plain = estimate(model, X, y, **options)
    equal = estimate(model, X, y, sample_weight=np.full(60, 7.0), **options)
    for name in ("value", "standard_error"):
        assert getattr(equal, name) == pytest.approx(getattr(plain, name), rel=1e-9)
    assert equal.interval.low == pytest.approx(plain.interval.low, rel=1e-9)
    one, other = (estimate(model, X, y, sample_weight=c * W, **options) for c in (1, 1e6))
    assert one.value == pytest.approx(other.value, rel=1e-6)


def test_a_sample_that_weighs_nothing_does_not_count():
    weight = np.where(np.arange(60) < 8, 0.0, 1.0)
    found = cross_val_error(GaussianNB(), X, Y, cv=FOLDS, sample_weight=weight)
    garbled = Y.copy()
    garbled[:8] = 1 - garbled[:8]
    again = cross_val_error(GaussianNB(), X, garbled, cv=FOLDS, sample_weight=weight)
    assert found.value == pytest.approx(again.value)
    assert found.effective_n_samples == pytest.approx(52)


def test_weights_reach_the_steps_before():
    """A scaler is given them, too, as in perturbation_interval."""
    model = make_pipeline(StandardScaler(), GaussianNB())
    weight = np.where(X[:, 0] > 0, 5.0, 1.0)
    train, test = FOLDS[0]
    scaler = StandardScaler().fit(X[train], sample_weight=weight[train])
    rule = GaussianNB().fit(scaler.transform(X[train]), Y[train], sample_weight=weight[train])
    wrong = rule.predict(scaler.transform(X[test])) != Y[test]
    found = cross_val_error(model, X, Y, cv=[(train, test)], sample_weight=weight)
    assert_allclose(found.replicates, [np.average(wrong, weights=weight[test])], rtol=1e-12)
