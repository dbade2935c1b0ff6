"""All pairs of several classifiers: one set of folds, P-values and intervals that hold together."""

import pickle
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.multitest import multipletests

from skeval import evaluate
from skeval._inference.paired import (
    adjust_pvalues,
    corrected_t,
    correlated_t_probabilities,
    mcnemar,
    paired_bootstrap,
)
from skeval.model_selection import (
    ClassifierComparisons,
    compare_classifiers,
    compare_over_datasets,
    compare_predictions,
)

X, Y = make_classification(n_samples=120, n_features=6, n_informative=3, flip_y=0.2, random_state=3)
THREE = {
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "bayes": GaussianNB(),
    "logistic": LogisticRegression(),
}
PAIRS = [("tree", "bayes"), ("tree", "logistic"), ("bayes", "logistic")]
RANDOM = np.random.default_rng(0).random(len(Y))
SPLITS = ShuffleSplit(12, test_size=0.3, random_state=0)


@pytest.mark.parametrize("method", ["corrected_t", "mcnemar", "bootstrap", "delong"])
def test_each_pair_is_what_the_pair_alone_is(method):
    options = {"method": method, "cv": SPLITS if method == "corrected_t" else 4}
    options |= {"n_resamples": 20, "random_state": 0}
    found = compare_classifiers(THREE, X, Y, **options)
    assert list(found) == PAIRS
    for a, b in PAIRS:
        alone = compare_classifiers(THREE[a], THREE[b], X, Y, **options)
        assert found[a, b].pvalue == pytest.approx(alone.pvalue, rel=1e-12)
        assert found[a, b].difference == alone.difference
        assert_allclose(found[a, b].limits[alone.method](0.9), alone.limits[alone.method](0.9))
        assert found[a, b].probabilities == alone.probabilities
    assert (found.better is None) == (method != "corrected_t")


def test_tables_of_all_pairs():
    found = compare_classifiers(THREE, X=X, y=Y, cv=SPLITS, rope=0.02)
    single = [found[pair] for pair in PAIRS]
    above = np.triu_indices(3, 1)
    assert_allclose(found.differences, found.scores[:, None] - found.scores, atol=1e-15)
    expected = multipletests([each.pvalue for each in single], method="holm")[1]
    assert_allclose(found.pvalues[above], expected)
    assert_allclose(found.pvalues, found.pvalues.T)
    for each, low, high in zip(single, found.lows[above], found.highs[above], strict=True):
        expected = each.confidence_interval(1 - 0.05 / 3)
        assert_allclose([low, high], [expected.low, expected.high])
    assert_allclose(found.lows, -found.highs.T)
    wider = found.simultaneous_intervals(0.99)
    assert (wider[0][above] < found.lows[above]).all()
    assert found.better[1, 0] == found["tree", "bayes"].probabilities.b_better
    assert found.better[0, 1] == found["tree", "bayes"].probabilities.a_better
    frame = found.to_frame()
    assert frame[["a", "b"]].to_numpy().tolist() == [list(pair) for pair in PAIRS]
    assert_allclose(frame["low"], found.lows[above])
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    assert found.conclusion.split()[0] == found.names[int(found.scores.argmax())]


def test_holm_equals_statsmodels():
    pvalues = np.random.default_rng(0).random(20) ** 3
    for correction in ("holm", "bonferroni"):
        expected = multipletests(pvalues, method=correction)[1]
        assert_allclose(adjust_pvalues(pvalues, correction), expected)
    assert_allclose(adjust_pvalues(pvalues, "none"), pvalues)
    # a pair without a P-value counts, and takes none of the others with it
    assert_allclose(adjust_pvalues([0.01, np.nan, 0.04], "holm"), [0.03, np.nan, 0.08])


def test_correlated_t_equals_baycomp():
    """The code of the numbers, with baycomp 1.0.3:

    rng = np.random.default_rng(0)
    x = rng.normal(0.8, 0.03, 100)
    y = x - rng.normal(0.01, 0.02, 100)
    baycomp.two_on_single(x, y, rope=0.01, runs=10)
    """
    rng = np.random.default_rng(0)
    x = rng.normal(0.8, 0.03, 100)
    d = rng.normal(0.01, 0.02, 100)
    d = x - (x - d)
    test = corrected_t(d, 1 / 9)
    found = correlated_t_probabilities(d.mean(), test.standard_error, 100, 0.01)
    expected = [0.44002886620479936, 0.557235492535269, 0.0027356412599316426]
    assert_allclose(found, expected, rtol=1e-9)


def test_conclusions_say_what_is_known():
    same = {"one": GaussianNB(), "same": GaussianNB(var_smoothing=1e-8)}
    with pytest.warns(UndefinedMetricWarning):
        found = compare_classifiers(same, X, Y, cv=SPLITS)
    assert "no proof of equality" in found.conclusion
    assert "Nothing may be concluded" in found["one", "same"].conclusion
    clear = compare_classifiers(
        GaussianNB(), DummyClassifier(), X, Y, method="mcnemar", random_state=0
    )
    assert "GaussianNB scores more than DummyClassifier" in clear.conclusion
    near = compare_classifiers(GaussianNB(), THREE["tree"], X, Y, cv=SPLITS, rope=0.5)
    assert "practically equivalent: within 0.5" in near.conclusion


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("wrong", [(9, 45), (45, 9), (40, 45), (40, 40)])
@pytest.mark.parametrize("method", ["mcnemar", "bootstrap"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_conclusions_follow_from_the_test_and_the_interval(method, wrong, alternative, level):
    """One-sided tests say what they looked at, and no P-value above 5 % is more than chance."""
    rng, y = np.random.default_rng(0), np.arange(100) % 2
    a, b = (np.where(rng.permutation(100) < n, 1 - y, y) for n in wrong)
    found = compare_predictions(
        y, a, b, method=method, alternative=alternative, confidence_level=level, random_state=0
    )
    said, least = found.conclusion, min(0.05, round(1 - level, 12))
    better = "more" if found.difference > 0 else "less"
    wanted = {"two-sided": better, "greater": "more", "less": "less"}[alternative]
    if found.pvalue <= least:
        assert said.startswith(f"a scores {wanted} than b: more than chance at {100 * least:.3g} %")
        assert wanted == better
        return
    if alternative == "two-sided":
        assert said.startswith("No difference is shown")
        assert ("without 0" in said) == (0 not in found.interval)
    else:
        assert "No difference" not in said
        assert said.startswith("It is not shown")
        assert f"that a scores {wanted} than b" in said
        reverse = found.interval.high < 0 if alternative == "greater" else found.interval.low > 0
        assert (f"Rather it scores {better}" in said) == reverse
    assert f"{100 * level:g} % interval" in said


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_rules_are_not_equivalent_for_the_unit_of_their_score(scale):
    """One hundredth is little of an accuracy; of a squared error it may be more than there is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = scale * (X[:, 0] + 0.1 * rng.normal(size=60))
    two = {"of": Ridge(), "without": DummyRegressor()}
    found = compare_classifiers(two, X, y, scoring="neg_mean_squared_error", random_state=0)
    pair = found["of", "without"]
    assert pair.conclusion.startswith("of scores more than without")
    assert "equivalent" not in pair.conclusion
    assert (found.rope, pair.rope) == (0, 0)
    evaluated = evaluate(two, X, y, n_bootstraps=2, n_permutations=0, random_state=0)
    assert evaluated.comparisons.rope == 0


def test_what_does_not_vary_cannot_be_judged():
    X = np.r_[np.zeros(20), np.full(20, 9.0)][:, None] + np.linspace(0, 1, 40)[:, None]
    with pytest.warns(UndefinedMetricWarning):
        found = compare_classifiers(
            GaussianNB(), DummyClassifier(), X, np.repeat([0, 1], 20), cv=5, random_state=0
        )
    assert "the difference is 0.5000 on every split alike" in found.conclusion
    assert "nan" not in str(found)
    pairs = ClassifierComparisons(
        ("a", "b"), "corrected_t", "accuracy", np.array([1, 0.5]), {("a", "b"): found}
    )
    assert "Whether it differs from b cannot be told" in pairs.conclusion
    assert "not shown to differ" not in pairs.conclusion


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_equal_scores_share_the_first_place(order):
    """Whoever is named first: with the same scores nobody is the best."""
    y = Y.astype(float)
    scores = {"one": y, "two": y, "chance": RANDOM, "near": np.where(RANDOM > 0.02, y, 1 - y)}
    names = [list(scores)[place] for place in order]
    replayed = [scores[name] for name in names]
    pairs = {
        (a, b): replace(
            compare_predictions(y, scores[a].round(), scores[b].round(), method="mcnemar"),
            name_a=a,
            name_b=b,
        )
        for a, b in combinations(names, 2)
    }
    means = np.array([np.mean(each.round() == y) for each in replayed])
    found = ClassifierComparisons(tuple(names), "mcnemar (exact)", "accuracy", means, pairs)
    first = " and ".join(name for name in names if name in ("one", "two"))
    assert found.conclusion.startswith(f"{first} share the highest score, and score more than ")
    assert "more than chance (all" in found.conclusion
    assert "Not all of them are shown to differ from near;" in found.conclusion
    assert "Equal scores are no proof of equality" in found.conclusion

    noise = np.random.default_rng(0).normal(size=(12, 1))
    ranks = compare_over_datasets(
        pd.DataFrame(noise + [[1.0, 1.0, 0.0, 0.999][place] for place in order], columns=names)
    )
    assert ranks.conclusion.startswith(f"{first} share the best mean rank; they differ from ")


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_pvalues(alternative):
    sign = 1 if alternative == "greater" else -1
    rng = np.random.default_rng(1)
    d = rng.normal(0.2, 1, 12)
    expected = stats.ttest_1samp(d, 0, alternative=alternative).pvalue
    assert_allclose(corrected_t(d, 0.0, alternative).pvalue, expected)
    exact = mcnemar(9, 4, 50, alternative)[0].pvalue
    assert_allclose(exact, stats.binomtest(9, 13, alternative=alternative).pvalue)
    # the chi-squared form is the normal approximation of the same, with its correction
    many = mcnemar(60, 45, 300, alternative)[0].pvalue
    assert_allclose(many, stats.binomtest(60, 105, alternative=alternative).pvalue, atol=2e-3)
    replicates = rng.normal(0.2, 1, 99)
    exceeding = (sign * (replicates - 0.2) >= sign * 0.2).sum()
    assert paired_bootstrap(0.2, replicates, alternative).pvalue == (1 + exceeding) / 100
    options = {"method": "delong", "alternative": alternative, "cv": 4}
    one = compare_classifiers(THREE["tree"], THREE["bayes"], X, Y, **options)
    assert_allclose(one.pvalue, stats.norm.sf(sign * one.statistic))
    assert f"P-value ({alternative})" in str(one)


def test_the_two_forms_of_arguments():
    by_name = compare_classifiers(estimator_a=THREE, X=X, y=Y, method="mcnemar", random_state=0)
    in_order = compare_classifiers(THREE, X, Y, method="mcnemar", random_state=0)
    assert_allclose(by_name.pvalues, in_order.pvalues)
    with pytest.raises(TypeError, match="estimator_b must be left out"):
        compare_classifiers(THREE, GaussianNB(), X, Y)
    with pytest.raises(TypeError, match="X and y must be given"):
        compare_classifiers(GaussianNB(), GaussianNB(), X)
    with pytest.raises(TypeError, match="estimator_a must be a dict of 2 names"):
        compare_classifiers({"one": GaussianNB()}, X, Y)
    with pytest.raises(TypeError, match="estimator_a must be a dict of 2 names"):
        compare_classifiers({1: GaussianNB(), 2: GaussianNB()}, X, Y)
    with pytest.raises(TypeError, match=r"estimator_a\['none'\] must have the methods fit"):
        compare_classifiers(THREE | {"none": None}, X, Y)
    with pytest.raises(TypeError, match="all be classifiers or all be regressors"):
        compare_classifiers(THREE | {"ridge": Ridge()}, X, Y)
    with pytest.raises(ValueError, match="alternative must be 'two-sided' for a dict"):
        compare_classifiers(THREE, X, Y, alternative="less")
    with pytest.raises(ValueError, match="rope must be a number >= 0, got -1"):
        compare_classifiers(THREE, X, Y, rope=-1)
