"""The P-value and the interval of a difference are one decision."""

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, roc_auc_score

from skeval.model_selection import compare_predictions


def draw_labels(rng, n):
    y = rng.integers(0, 2, n)
    shared = rng.random(n)
    right = [np.where(rng.random(n) < 0.5, shared, rng.random(n)) < p for p in (0.9, 0.8)]
    return y, {name: np.where(one, y, 1 - y) for name, one in zip("ab", right, strict=True)}


def draw_numbers(rng, n):
    y = rng.normal(size=n)
    return y, {"a": y + rng.normal(0, 1, n), "b": y + rng.normal(0, 1.4, n)}


def draw_scores(rng, n):
    y = np.arange(n) % 2
    return y, {"a": rng.normal(1.0 * y), "b": rng.normal(0.5 * y)}


def f1(y_true, predicted, sample_weight=None):
    """The F1 score, without the checks of scikit-learn."""
    w = np.ones(len(y_true)) if sample_weight is None else sample_weight
    return 2 * np.sum(w * y_true * predicted) / np.sum(w * (y_true + predicted))


CASES = {
    "accuracy": (draw_labels, None, ("auto", "max_t", "mcnemar", "bootstrap")),
    "f1": (draw_labels, f1, ("auto", "max_t", "bootstrap")),
    "error": (draw_numbers, mean_squared_error, ("auto", "max_t", "bootstrap")),
    "area": (draw_scores, roc_auc_score, ("auto", "max_t", "permutation")),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_difference_is_significant_if_its_interval_excludes_0(case, weighted):
    draw, metric, methods = CASES[case]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y, systems = draw(rng, 60)
        for method in methods:
            options = {"metric": metric, "method": method}
            if method != "max_t":
                options["n_resamples"] = 39
            if weighted and not (method == "mcnemar" or (method == "auto" and case == "area")):
                options["sample_weight"] = rng.integers(1, 3, 60)
            if method == "mcnemar":
                options = {"method": method}
            found = compare_predictions(y, systems, random_state=0, **options).difference
            low, high = found.interval
            assert (found.pvalue <= 0.05) == (not low <= 0 <= high)
            assert low <= found.value <= high


@pytest.mark.parametrize("method", ["max_t", "mcnemar"])
@pytest.mark.parametrize("n_discordant", [5, 6])
def test_a_few_discordant_samples_are_decided_by_the_exact_test(method, n_discordant):
    """The interval with half a sample in each cell excludes 0 from 5 on, the exact test from 6."""
    y, other = np.ones(100, dtype=int), (np.arange(100) >= n_discordant).astype(int)
    for systems, sign in (({"a": y, "b": other}, 1), ({"a": other, "b": y}, -1)):
        found = compare_predictions(y, systems, method=method).difference
        ends = sorted(sign * np.array([*found.interval]))
        assert (found.pvalue <= 0.05) == (ends[0] > 0) == (n_discordant == 6)
        assert ends[1] > sign * found.value


@pytest.mark.parametrize("method", ["permutation", "bootstrap"])
def test_a_margin_is_met_if_the_limit_is_within_it(method):
    """Non-inferiority is decided by the limit of an interval at twice the level."""
    for seed in range(5):
        y, systems = draw_labels(np.random.default_rng(seed), 80)
        options = {"method": method, "margin": 0.05, "random_state": 0, "n_resamples": 199}
        one = compare_predictions(y, {"b": systems["b"], "a": systems["a"]}, **options).difference
        shown = one.pvalue_noninferior <= one.level
        assert shown == (one.confidence_interval(0.9).low > -0.05)


def test_an_interval_by_exchanges_contains_the_differences_that_exchanges_do_not_reject():
    """A test of the samples minus a constant, which brute force repeats for each constant."""
    rng = np.random.default_rng(0)
    losses = {"a": rng.normal(0.5, 1, 12), "b": rng.normal(size=12)}
    own = losses["a"] - losses["b"]
    options = {"method": "permutation", "n_resamples": 20_000, "random_state": 0}
    found = compare_predictions(
        np.zeros(12), losses, metric=lambda _, p, sample_weight=None: float(np.mean(p)), **options
    ).difference
    signs = 1 - 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1)
    low, high = found.interval

    def find_pvalue(constant):
        means = np.abs(signs @ (own - constant)) / 12
        return np.mean(means >= abs(np.mean(own) - constant) - 1e-12)

    assert found.standard_error == pytest.approx(np.std(own) / np.sqrt(12), rel=0.03)
    for end, out in ((low, -1), (high, 1)):
        assert find_pvalue(end + 0.05 * out) < 0.05 < find_pvalue(end - 0.05 * out)
