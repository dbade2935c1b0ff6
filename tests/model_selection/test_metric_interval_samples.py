"""Metrics that are means over samples give the intervals of the metric itself, only faster."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

from skeval.metrics._table import METRICS, ROWS
from skeval.model_selection import metric_interval
from skeval.model_selection._metric_interval import find_sample_values


def probabilities(n=60, n_classes=2):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(n_classes), n)
    y = np.array(["a", "b", "c"])[[rng.choice(n_classes, p=row) for row in shares]]
    return y, shares


def numbers(n=60):
    rng = np.random.default_rng(0)
    y = rng.gamma(3, size=n)
    return y, y * rng.gamma(9, size=n) / 9


CASES = [
    (metrics.log_loss, *probabilities()),
    (metrics.log_loss, *probabilities(n_classes=3)),
    (metrics.brier_score_loss, probabilities()[0] == "b", probabilities()[1][:, 1]),
    (metrics.mean_absolute_percentage_error, *numbers()),
    (metrics.mean_squared_log_error, *numbers()),
    (metrics.mean_pinball_loss, *numbers()),
    (metrics.mean_absolute_error, *numbers()),
    (metrics.mean_squared_error, *numbers()),
]


def test_every_metric_has_a_case():
    plain = [row for row in METRICS if row.per_sample and not (row.root or row.required)]
    assert {case[0] for case in CASES} == {row.function for row in plain}


@pytest.mark.parametrize(
    ("case", "weighted"), [(case, number % 2 == 1) for number, case in enumerate(CASES)]
)
def test_interval_is_that_of_the_metric(case, weighted):
    metric, y_true, y_pred = case
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y_true)) if weighted else None
    calls = []

    def slow(y_true, y_pred, **options):  # a function that the table does not know
        calls.append(1)
        return metric(y_true, y_pred, **options)

    options = {"method": "bca", "n_resamples": 25, "sample_weight": weight, "random_state": 0}
    fast = metric_interval(metric, y_true, y_pred, **options)
    plain = metric_interval(slow, y_true, y_pred, **options)
    assert len(calls) > 50
    np.testing.assert_allclose(fast.replicates, plain.replicates, rtol=1e-10)
    assert fast.interval.low == pytest.approx(plain.interval.low, rel=1e-9)
    assert fast.interval.high == pytest.approx(plain.interval.high, rel=1e-9)


def test_the_metric_is_called_for_all_samples_and_not_for_resamples(monkeypatch):
    y, shares = probabilities()
    calls = []

    def counted(*arguments, **options):
        calls.append(1)
        return metrics.log_loss(*arguments, **options)

    monkeypatch.setitem(ROWS, counted, ROWS[metrics.log_loss])
    metric_interval(counted, y, shares, n_resamples=200, random_state=0)
    assert len(calls) == 1


def test_what_differs_from_the_metric_is_left_to_it(monkeypatch):
    y, shares = probabilities()
    assert find_sample_values(metrics.log_loss, y, shares, None).shape == (60,)
    total = partial(metrics.log_loss, normalize=False)
    assert find_sample_values(total, y, shares, None) is None
    monkeypatch.setitem(ROWS, metrics.zero_one_loss, ROWS[metrics.log_loss])
    assert find_sample_values(metrics.zero_one_loss, y == "a", y == "b", None) is None
    certain = np.where(shares > 0.5, 1.0, 0.0)
    assert np.isfinite(metric_interval(metrics.log_loss, y, certain, n_resamples=20).value)


def test_a_metric_by_the_name_of_its_scorer():
    y, shares = probabilities()
    y = y == "b"
    by_name = metric_interval("roc_auc", y, shares[:, 1])
    by_hand = metric_interval(metrics.roc_auc_score, y, shares[:, 1])
    assert (by_name.interval, by_name.name) == (by_hand.interval, by_hand.name)
    labels = shares[:, 1] > 0.5
    macro = partial(metrics.f1_score, average="macro")
    assert metric_interval("f1_macro", y, labels).value == macro(y, labels)
    with pytest.raises(ValueError, match=r"a loss with its sign changed; .* log_loss"):
        metric_interval("neg_log_loss", y, shares)
    with pytest.raises(ValueError, match="did you mean 'roc_auc'"):
        metric_interval("rocauc", y, shares)
