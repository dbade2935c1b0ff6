"""Two classifiers: each test against its formula, an oracle, and its size."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar

from skeval.model_selection import compare_classifiers, compare_predictions, compare_scores

X, Y = make_classification(n_samples=120, n_features=6, n_informative=3, flip_y=0.2, random_state=3)
TREE, BAYES = DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()
FOLDS = StratifiedKFold(5)  # what scikit-learn's functions make of no splitter


def discordant_of(comparison):
    return comparison.difference.extra.only_a, comparison.difference.extra.only_b


def test_corrected_t_takes_the_ratio_of_the_splits():
    cv = ShuffleSplit(12, test_size=0.3, random_state=0)
    result = compare_classifiers([TREE, BAYES], X, Y, cv=cv)
    a, b = (cross_val_score(e, X, Y, cv=cv) for e in (TREE, BAYES))
    d = a - b
    error = math.sqrt((1 / 12 + 36 / 84) * d.var(ddof=1))
    assert_allclose(result.difference.standard_error, error)
    assert_allclose(result.difference.statistic, d.mean() / error)
    assert_allclose(result.difference.pvalue, 2 * stats.t.sf(abs(d.mean() / error), 11))
    half = stats.t.ppf(0.975, 11) * error
    assert_allclose([*result.difference.interval], [d.mean() - half, d.mean() + half])
    assert_allclose(result.extra.split_scores, np.c_[a, b])
    assert_allclose([result.values[0], result.values[1]], [a.mean(), b.mean()])
    assert result.method == "corrected_t"
    assert result.scoring == "accuracy"


def test_unequal_folds_have_a_mean_ratio():
    splits = [(np.arange(40, 120), np.arange(40)), (np.arange(100), np.arange(100, 120))]
    result = compare_classifiers([TREE, BAYES], X, Y, cv=splits)
    d = np.diff(result.extra.split_scores[:, ::-1], axis=1).ravel()
    ratio = (40 / 80 + 20 / 100) / 2
    assert_allclose(result.difference.standard_error, math.sqrt((1 / 2 + ratio) * d.var(ddof=1)))


def test_no_variance():
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        result = compare_classifiers([BAYES, BAYES], X, Y, cv=3)
    assert (result.difference.pvalue, result.difference.value, result.difference.statistic) == (
        1.0,
        0.0,
        0.0,
    )
    assert np.isnan([*result.difference.interval]).all()
    y = np.repeat([0, 1], 10)
    always = DummyClassifier(strategy="constant", constant=0)
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        result = compare_classifiers([DecisionTreeClassifier(), always], y[:, None] * 1.0, y, cv=5)
    assert result.difference.value == 0.5
    assert np.isnan(
        [
            result.difference.statistic,
            result.difference.pvalue,
            result.difference.interval.low,
            result.difference.interval.high,
        ]
    ).all()


def test_differences_that_only_rounding_makes_are_none():
    """Scores of .7 and .6, .8 and .7 ... differ by 0.1, and by 3e-17 more or less."""
    b = np.linspace(0.1, 0.8, 10)
    assert np.var(b + 0.1 - b) > 0
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        constant = compare_scores([b + 0.1, b], test_train_ratio=1 / 9).difference
    assert np.isnan([constant.statistic, constant.pvalue, *constant.interval]).all()
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        none = compare_scores([(b / 3) * 3, b / 7 * 7], test_train_ratio=1 / 9).difference
    assert (none.value, none.statistic, none.pvalue) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("b", "c"), [(3, 9), (0, 5), (0, 0), (12, 12), (30, 14), (14, 30), (13, 12)]
)
def test_mcnemar_equals_statsmodels(b, c):
    sample = np.arange(100)
    systems = np.array([sample >= c, (sample < c) | (sample >= b + c)])  # c, then b wrong
    found = compare_predictions(np.ones(100), list(systems.astype(float)), method="mcnemar")
    pair = found.difference
    assert (pair.extra.only_a, pair.extra.only_b) == (b, c)
    expected = sm_mcnemar([[40, b], [c, 60 - b - c]], exact=True)
    assert_allclose([pair.statistic, pair.pvalue], [expected.statistic, expected.pvalue], 1e-12)
    # Agresti & Min: half a pair in each cell.
    p, q = (b + 0.5) / 102, (c + 0.5) / 102
    half = stats.norm.ppf(0.975) * math.sqrt((p + q - (p - q) ** 2) / 102)
    ends = [p - q - half, p - q + half]
    if pair.pvalue > 0.05 and ends[1] < 0:  # the exact test does not reject 0
        ends[1] = 0.05 * (2 * stats.binomtest(b, b + c).proportion_ci().high - 1)
    assert_allclose(list(pair.interval), ends)


def test_mcnemar_of_held_out_predictions():
    result = compare_classifiers([TREE, BAYES], X, Y, method="mcnemar", cv=KFold(6))
    right = [cross_val_predict(e, X, Y, cv=KFold(6)) == Y for e in (TREE, BAYES)]
    counted = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    assert discordant_of(result) == counted
    assert_allclose(result.difference.value, right[0].mean() - right[1].mean())
    assert_allclose(result.values[1], right[1].mean())
    loo = compare_classifiers([TREE, BAYES], X[:40], Y[:40], method="mcnemar", cv=LeaveOneOut())
    assert loo.difference.n_samples == 40


def test_paired_bootstrap_of_any_score():
    result = compare_classifiers(
        [TREE, BAYES],
        X,
        Y,
        cv=FOLDS,
        method="bootstrap",
        scoring="f1",
        n_resamples=60,
        random_state=0,
    )
    pred = [cross_val_predict(e, X, Y, cv=5) for e in (TREE, BAYES)]
    assert_allclose(result.values[0], f1_score(Y, pred[0]))
    assert_allclose(result.difference.value, f1_score(Y, pred[0]) - f1_score(Y, pred[1]))
    d, replicates = result.difference.value, result.difference.extra.replicates
    # the interval inverts the test: P is above 5 % if 3 of 60 deviations are as large
    reach = np.sort(np.abs(replicates - d))[-3]
    assert_allclose([*result.difference.interval], [d - reach, d + reach])
    exceeding = sum(abs(r - d) >= abs(d) - 1e-15 for r in replicates)
    assert result.difference.pvalue == (1 + exceeding) / 61
    with pytest.warns(UndefinedMetricWarning, match="the values of 1 difference do not vary"):
        same = compare_classifiers(
            [BAYES, BAYES], X, Y, method="bootstrap", n_resamples=20, random_state=0
        )
    assert same.difference.pvalue == 1.0
    assert (same.difference.extra.replicates == 0).all()


def test_bootstrap_judges_scores_and_probabilities_too():
    for scoring, metric, response in (
        ("roc_auc", roc_auc_score, "predict_proba"),
        (make_scorer(accuracy_score), accuracy_score, "predict"),
    ):
        result = compare_classifiers(
            [BAYES, TREE], X, Y, cv=FOLDS, method="bootstrap", scoring=scoring, n_resamples=10
        )
        answers = cross_val_predict(BAYES, X, Y, method=response)
        expected = metric(Y, answers[:, 1] if answers.ndim == 2 else answers)
        assert_allclose(result.values[0], expected)
    ranking = compare_classifiers(
        [BAYES, LogisticRegression()],
        X,
        Y,
        cv=FOLDS,
        method="bootstrap",
        scoring="neg_ranking_loss",
        n_resamples=10,
        random_state=0,
    )
    area = roc_auc_score(
        Y, cross_val_predict(LogisticRegression(), X, Y, method="decision_function")
    )
    assert_allclose(1 + ranking.values[1], area)


def test_bootstrap_of_groups_draws_groups():
    groups = np.repeat(np.arange(12), 10)
    options = {"method": "bootstrap", "n_resamples": 300, "random_state": 0, "cv": GroupKFold(4)}
    grouped = compare_classifiers([TREE, BAYES], X, Y, groups=groups, **options)
    pred = [cross_val_predict(e, X, Y, cv=GroupKFold(4), groups=groups) for e in (TREE, BAYES)]
    gain = ((pred[0] == Y).astype(int) - (pred[1] == Y)).reshape(12, 10).mean(axis=1)
    assert_allclose(grouped.difference.standard_error, gain.std() / np.sqrt(12), rtol=0.2)


def test_bootstrap_leaves_undefined_resamples_out():
    y = np.zeros(30, dtype=int)
    y[[0, 10, 20]] = 1
    x = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(UndefinedMetricWarning, match=r"undefined on \d+ of 100 resamples"):
        result = compare_classifiers(
            [BAYES, LogisticRegression()],
            x,
            y,
            method="bootstrap",
            scoring="roc_auc",
            cv=KFold(3),
            n_resamples=100,
            random_state=0,
        )
    assert 0 < np.isnan(result.difference.extra.replicates).sum() < 30
    assert np.isfinite(
        [result.difference.interval.low, result.difference.interval.high, result.difference.pvalue]
    ).all()


def test_delong_equals_the_u_statistic():
    y = np.array(["neg", "pos"])[Y]
    a = cross_val_predict(LogisticRegression(), X, Y, method="decision_function")
    b = cross_val_predict(BAYES, X, Y, method="predict_proba")[:, 1]
    result = compare_predictions(y, [a, b], method="delong", confidence_level=0.9)
    assert "variation from retraining is not" in str(result)
    areas, covariance = reference.delong(
        [s[Y == 1].tolist() for s in (a, b)], [s[Y == 0].tolist() for s in (a, b)]
    )
    variance = covariance[0][0] + covariance[1][1] - 2 * covariance[0][1]
    z = (areas[0] - areas[1]) / math.sqrt(variance)
    assert_allclose([result.values[0], result.values[1]], areas)
    assert_allclose(
        [result.difference.statistic, result.difference.pvalue], [z, 2 * stats.norm.sf(abs(z))]
    )
    half = stats.norm.ppf(0.95) * math.sqrt(variance)
    assert_allclose(
        [*result.difference.interval], result.difference.value + np.array([-half, half])
    )
    assert result.scoring == "roc_auc"


def test_folds_that_can_be_made_in_one_way_are_not_repeated():
    """Repeats of the same folds would look like degrees of freedom."""
    groups = np.repeat(np.arange(6), 20)
    result = compare_classifiers([TREE, BAYES], X, Y, groups=groups, random_state=0)
    assert len(result.extra.split_scores) == 6
    few = compare_classifiers([Ridge(), Ridge(9.0)], X[:9], X[:9, 0] + Y[:9], scoring=nearness)
    assert len(few.extra.split_scores) == 9


def nearness(estimator, X, y):
    return -float(np.abs(estimator.predict(X) - y).mean())


@pytest.mark.slow
def test_corrected_t_does_not_reject_too_often_and_the_plain_t_does():
    """Two classifiers on features of the same worth: no difference in expectation."""
    rejected = plain = 0
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 30)
        x = rng.normal(size=(60, 2)) + 0.8 * y[:, None]
        models = [
            make_pipeline(make_column_transformer(("passthrough", [j])), GaussianNB())
            for j in (0, 1)
        ]
        result = compare_classifiers(models, x, y, cv=cv)
        rejected += result.difference.pvalue <= 0.05
        plain += stats.ttest_rel(*result.extra.split_scores.T).pvalue <= 0.05
    print(f"corrected {rejected / 200:.3f}, plain t {plain / 200:.3f}")
    assert stats.binom.sf(rejected - 1, 200, 0.05) > 0.001
    assert plain > 2 * rejected


def test_a_number_of_folds_is_shuffled_and_splits_no_group():
    """Every sample stands there twice: with its copy in the training part, 1-NN never errs."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(60, 6)), 2, axis=0)
    y, pairs = np.repeat(rng.permutation(np.tile([0, 1], 30)), 2), np.repeat(np.arange(60), 2)
    near = KNeighborsClassifier(1)
    mixed = compare_classifiers([near, BAYES], x, y, random_state=0)
    grouped = {"cv": 4, "groups": pairs, "random_state": 0}
    apart = compare_classifiers([near, BAYES], x, y, **grouped)
    assert mixed.values[0] > 0.9
    assert apart.values[0] < 0.7
    assert len(mixed.extra.split_scores) == 100
    assert len(apart.extra.split_scores) == 4
    again = compare_classifiers([near, BAYES], x, y, **grouped)
    assert_allclose(again.extra.split_scores, apart.extra.split_scores, rtol=0)
    with pytest.raises(ValueError, match="cv=10 folds need a class with at least 10 samples"):
        compare_classifiers([near, BAYES], x[:12], y[:12], cv=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "mcnemar", "scoring": "f1"}, "'mcnemar' requires scoring='accuracy', got 'f1'"),
        ({"scoring": "nonsense"}, "get_scorer_names"),
        ({"method": "bootstrap", "cv": ShuffleSplit(3)}, "each sample exactly once"),
        (
            {"method": "mcnemar", "cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2)},
            "each sample exactly once",
        ),
        ({"cv": [(np.arange(60), np.arange(60, 120))]}, "at least two splits, got 1"),
        ({"cv": 1}, "cv must be"),
        ({"method": "bootstrap", "n_resamples": 1}, "n_resamples"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        compare_classifiers([TREE, BAYES], X, Y, **options)


def test_regressors_are_refused_where_errors_are_counted():
    with pytest.raises(TypeError, match="must be classifiers for method='mcnemar', got Ridge"):
        compare_classifiers([Ridge(), Ridge(2.0)], X, Y, method="mcnemar")
    for method in ("corrected_t", "bootstrap"):
        with pytest.raises(TypeError, match="must be all classifiers or all regressors"):
            compare_classifiers([BAYES, Ridge()], X, Y, method=method)


def test_bad_data():
    with pytest.raises(ValueError, match="X and y must have the same length, got 120 and 119"):
        compare_classifiers([TREE, BAYES], X, Y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        compare_classifiers([TREE, BAYES], X[:3], [0, 1, np.nan])
    with pytest.raises(TypeError, match=r"estimators\['str'\] must have the methods fit"):
        compare_classifiers(["tree", BAYES], X, Y)
    y = np.tile([0, 1, 2], 40)
    with pytest.raises(ValueError, match="cv must yield training sets that contain every class"):
        compare_classifiers([TREE, BAYES], X, y, cv=PredefinedSplit(y), method="mcnemar")
