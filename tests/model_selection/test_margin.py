"""Non-inferiority and equivalence: one-sided tests of differences against a margin."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t
from sklearn.datasets import load_iris
from sklearn.metrics import mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import compare_classifiers, compare_predictions, compare_scores


def draw(n, shares, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = {name: rng.random(n) < share for name, share in shares.items()}
    return y, {name: np.where(mask, y, 1 - y) for name, mask in right.items()}


@pytest.mark.parametrize("margin", [0.01, 0.1])
def test_pvalues_are_those_of_two_one_sided_tests(margin):
    y, systems = draw(1000, {"a": 0.9, "b": 0.88})
    options = {"metric": "accuracy", "method": "max_t", "random_state": 0}
    pair = compare_predictions(y, systems, margin=margin, **options)["a", "b"]
    above, below = (norm.sf((s * pair.value + margin) / pair.standard_error) for s in (1, -1))
    expected = [p if p < 0.45 else 0.5 for p in (above, max(above, below))]
    assert [pair.pvalue_noninferior, pair.pvalue_equivalent] == pytest.approx(expected, 1e-6, 2e-9)
    scores = {"a": [0.80, 0.82, 0.79, 0.81], "b": [0.81, 0.80, 0.80, 0.80]}
    options = {"over": "splits", "test_train_ratio": 0.25}
    pair = compare_scores(scores, margin=margin, **options)["a", "b"]
    above = t.sf((pair.value + margin) / pair.standard_error, 3)
    assert pair.pvalue_noninferior == pytest.approx(above if above < 0.45 else 0.5, rel=1e-6)


def test_a_reversed_pair_and_losses():
    y, systems = draw(400, {"a": 0.95, "b": 0.85})
    comparison = compare_predictions(y, systems, margin=0.02)
    assert comparison["a", "b"].pvalue_noninferior < 0.01 < comparison["b", "a"].pvalue_noninferior
    assert "a is not worse than b by 0.02 or more" in comparison["a", "b"].conclusion
    assert "b may be worse than a" in comparison["b", "a"].conclusion
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    noisy = {"a": truth + 0.1 * rng.normal(size=300), "b": truth + rng.normal(size=300)}
    options = {"metric": mean_squared_error, "random_state": 0}
    losses = compare_predictions(truth, noisy, margin=0.1, **options)
    assert losses["a", "b"].pvalue_noninferior < 0.01 < losses["b", "a"].pvalue_noninferior


def test_fits_and_equivalence():
    models = {"a": GaussianNB(), "c": DecisionTreeClassifier(random_state=0)}
    X, y = load_iris(return_X_y=True)
    comparison = compare_classifiers(models, X, y, cv=5, margin=0.2, random_state=0)
    entry = comparison["a", "c"].to_dict()
    assert entry["margin"] == 0.2
    assert 0 < entry["pvalue_noninferior"] <= entry["pvalue_equivalent"] < 0.05


@pytest.mark.parametrize("margin", [0, -0.1, np.nan, "1", np.inf])
def test_bad_margins(margin):
    y, systems = draw(50, {"a": 0.9, "b": 0.8})
    with pytest.raises(ValueError, match="margin must be None or a finite number above 0, got"):
        compare_predictions(y, systems, margin=margin)


@pytest.mark.simulated
def test_size_at_the_margin():
    """The first system is worse by exactly the margin; the test has its level of 5 %."""
    rejected = 0
    for seed in range(400):
        y, systems = draw(300, {"a": 0.80, "b": 0.85}, seed)
        pair = compare_predictions(y, systems, method="mcnemar", margin=0.05)["a", "b"]
        rejected += pair.pvalue_noninferior <= 0.05
    assert binomtest(rejected, 400, 0.05, alternative="greater").pvalue > 0.001
    assert rejected > 4
