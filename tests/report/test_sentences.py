"""The first sentences of an evaluation: what they say, and on which folds it rests."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.stats import binom
from sklearn.datasets import load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skeval
from skeval.model_selection import cross_val_error, error_interval
from skeval.model_selection._permutation import permutation_result
from skeval.report._findings import Baseline, RareClass
from skeval.report._model_checks import check_least_squares
from skeval.report._sections import Caution, forbid_quoting
from skeval.report._sentences import (
    write_amount,
    write_baseline,
    write_chance,
    write_error,
    write_few_folds,
)

NEAREST = KNeighborsClassifier(1)
FEW = {"n_bootstraps": 2, "n_permutations": 0, "random_state": 0}


def draw_groups(seed, n_groups=20, size=10):
    """Return samples of groups whose labels are random: a rule learns the groups alone."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    labels = rng.permutation(np.arange(n_groups) % 2)
    X = 5 * rng.normal(size=(n_groups, 2))[groups] + 0.1 * rng.normal(size=(len(groups), 2))
    return X, labels[groups], groups


def draw_designs(seed):
    """Yield splits of 24 samples of 8 groups of every kind that is taken as it is."""
    rng = np.random.default_rng(seed)
    X, y, groups = rng.normal(size=(24, 2)), np.tile([0, 1], 12), np.repeat(np.arange(8), 3)
    for cv in (
        GroupKFold(4),
        LeaveOneGroupOut(),
        KFold(3),
        StratifiedKFold(4),
        LeaveOneOut(),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=seed),
        ShuffleSplit(4, random_state=seed),
    ):
        needed = groups if "Group" in type(cv).__name__ else None
        yield X, y, list(cv.split(X, y, needed))
    yield X, y, PredefinedSplit(rng.permutation(np.repeat([-1, 0, 1, 2], 6)))
    sizes = rng.integers(2, 9, size=5)
    orders = [rng.permutation(24) for _ in sizes]
    yield X, y, [(order[n:], order[:n]) for order, n in zip(orders, sizes, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_error_is_that_of_the_folds_that_were_given(seed):
    for X, y, cv in draw_designs(seed):
        found = error_interval(NEAREST, X, y, cv=cv, random_state=0)
        expected = cross_val_error(NEAREST, X, y, cv=cv)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.n_samples == expected.n_samples
        assert found.method == "given_folds"
        assert found.interval.low <= found.value <= found.interval.high


def test_report_and_function_agree_on_every_kind_of_folds():
    X, y, groups = draw_groups(0, size=4)
    given = list(GroupKFold(5).split(X, y, groups))
    for cv in (4, given, StratifiedKFold(4, shuffle=True), ShuffleSplit(5)):
        report = skeval.evaluate(NEAREST, X, y, cv=cv, include="holdout", **FEW)
        alone = error_interval(NEAREST, X, y, cv=cv, random_state=0)
        assert report.answer.to_dict() == alone.to_dict()
        rows = report.out_of_fold
        assert np.mean(rows.loss) == pytest.approx(report.answer.value, abs=1e-12)
        accuracy = report.metrics["accuracy"]
        assert accuracy.value == pytest.approx(1 - report.answer.value, abs=1e-12)
    assert report["cross_validation"].interval.low == pytest.approx(report.answer.interval.low)


def test_what_is_drawn_anew_and_what_is_taken_as_it_is():
    X, y, groups = draw_groups(0)
    drawn = error_interval(NEAREST, X, y, cv=StratifiedKFold(4, shuffle=True), random_state=0)
    assert (drawn.method, drawn.extra.n_fits, drawn.n_groups) == ("repeated_cv", 40, None)
    fewer = StratifiedKFold(4, shuffle=True, random_state=3)
    assert error_interval(NEAREST, X, y, cv=fewer, n_repeats=2, random_state=0).extra.n_fits == 8
    folds = error_interval(NEAREST, X, y, cv=StratifiedKFold(4))
    assert (folds.method, folds.extra.n_fits, folds.n_groups) == ("given_folds", 4, 4)
    own = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    found = error_interval(NEAREST, X, y, cv=own)
    assert (found.extra.n_fits, found.n_groups) == (10, None)
    assert found.extra.parameters == {"n_folds": 5, "n_repeats": 2}
    by_groups = error_interval(NEAREST, X, y, cv=GroupKFold(5), groups=groups)
    assert (by_groups.extra.n_fits, by_groups.n_groups) == (5, 20)
    # repeats of folds by whole groups keep the groups together, and nothing else
    many = [split for seed in range(6) for split in shuffle_groups(X, y, groups, seed)]
    assert error_interval(NEAREST, X, y, cv=many).n_groups == pytest.approx(20, abs=2)
    single = error_interval(NEAREST, X, y, cv=[(np.arange(100), np.arange(100, 200))])
    assert (single.n_samples, single.n_groups) == (100, None)


def shuffle_groups(X, y, groups, seed):
    names = np.random.default_rng(seed).permutation(20)
    return list(GroupKFold(5).split(X, y, names[groups]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": KFold(3), "n_folds": 4}, "n_folds must be None where cv is given, got 4"),
        ({"cv": KFold(3), "n_repeats": 4}, "n_repeats must be None if the folds of cv"),
        ({"cv": 3, "method": "holdout"}, "cv is no parameter of method='holdout'"),
        ({"cv": 1}, "cv must be"),
        ({"cv": []}, "cv must yield at least one pair"),
    ],
)
def test_folds_that_contradict(change, message):
    X, y, _ = draw_groups(0)
    with pytest.raises(ValueError, match=message):
        error_interval(NEAREST, X, y, **change)


@pytest.mark.parametrize("seed", range(2))
def test_random_labels_of_groups_are_never_better_than_chance(seed):
    X, y, groups = draw_groups(seed)
    cv, n_groups = ((GroupKFold(5), 5), (LeaveOneGroupOut(), 20))[seed % 2]
    given = list(cv.split(X, y, groups))
    report = skeval.evaluate(NEAREST, X, y, cv=given, include="holdout", **FEW)
    assert "o evidence that it beats" in report.verdict
    assert "o evidence that it beats" in report._headline
    assert "Do not report" not in report.verdict  # the folds keep together what belongs together
    assert report.permutation is None
    assert "given-folds" in [each.code for each in report.warnings]
    assert report.answer.n_groups == n_groups


def make_test(n_exceedances, n_permutations):
    null = np.r_[np.ones(n_exceedances), np.zeros(n_permutations - n_exceedances)]
    return permutation_result("accuracy", 0.5, null, None, 0.8)


BETTER, ALIKE, WORSE = (Baseline("a", 0.5, -0.1, d - 0.05, d + 0.05) for d in (-0.1, 0, 0.1))
P_SHOWN, P_DENIED, P_OPEN, P_POWERLESS = (
    make_test(0, 199),
    make_test(50, 199),
    make_test(0, 19),
    make_test(0, 9),
)


@pytest.mark.parametrize(
    ("baseline", "test", "expected"),
    [
        (
            BETTER,
            P_SHOWN,
            "Better than chance: significantly lower error on the same samples; P = ",
        ),
        (BETTER, None, "Better than chance: significantly lower error on the same samples."),
        (BETTER, P_OPEN, "the permutation test is undecided (P = 0.05 from 19 permutations)."),
        (BETTER, P_POWERLESS, "too few permutations for a test (with 9 permutations the smallest"),
        (
            BETTER,
            P_DENIED,
            "No evidence that it beats chance: significantly lower error on the same samples, ",
        ),
        (ALIKE, P_SHOWN, "Better than shuffled labels (P = 0.005 from 199 permutations), but"),
        (ALIKE, P_OPEN, "and the permutation test is undecided (P = 0.05 from 19 permutations)."),
        (
            ALIKE,
            P_DENIED,
            "the difference from this baseline is not significant, and shuffled labels do as well",
        ),
        (ALIKE, P_POWERLESS, "there are too few permutations for a test (with 9 permutations"),
        (
            ALIKE,
            None,
            "No evidence that it beats chance: the difference from this baseline is not "
            "significant.",
        ),
        (
            WORSE,
            P_DENIED,
            "No evidence that it beats chance: it is significantly worse than this baseline",
        ),
        (None, P_SHOWN, "Better than chance (P = 0.005 from 199 permutations)."),
        (None, P_OPEN, "Whether it beats chance is undecided (P = 0.05 from 19"),
        (None, P_DENIED, "No evidence that it beats chance (P = 0.26 from 199 permutations)."),
        (
            None,
            P_POWERLESS,
            "Too few permutations to show that it beats chance: with 9 permutations",
        ),
        (None, None, ""),
    ],
)
def test_the_interval_and_the_permutation_test_decide(baseline, test, expected):
    """The level of the permutation test's own interval, 80 % here, has no part in it."""
    assert expected in write_chance(baseline, None, test)


@each_value
@pytest.mark.parametrize("n_permutations", [1, 9, 18, 19, 50, 71, 72, 199])
@pytest.mark.parametrize("baseline", [BETTER, ALIKE, None])
def test_few_permutations_alone_never_show_anything(n_permutations, baseline):
    told = write_chance(baseline, None, make_test(0, n_permutations)).lower()
    shown = n_permutations >= 72  # 1 - .025 ** (1 / 72) = .0499
    assert ("better than shuffled" in told) == (shown and baseline is ALIKE)
    assert told.startswith("better than chance") == (
        baseline is BETTER or (baseline is None and shown)
    )


def test_a_rare_class_is_judged_by_what_counts_there():
    rare = RareClass("case", 0.02, "roc_auc", 0.84, 0.77, 0.89, 0.5)
    assert write_chance(ALIKE, rare, P_SHOWN) == (
        "Class case is rare (2.0 % of the samples), so use the area under the ROC curve: 0.84 "
        "(95 % CI 0.77 to 0.89). Better than chance by this metric: the interval is above 0.5; "
        "P = 0.005 from 199 permutations."
    )
    assert "0.89), together with its recall 30.0 % and its precision 50.0 %. Better" in (
        write_chance(ALIKE, replace(rare, recall=0.3, precision=0.5), P_SHOWN)
    )
    assert "0.89), together with its recall 0.0 %. Better" in (
        write_chance(ALIKE, replace(rare, recall=0.0), P_SHOWN)
    )
    told = write_chance(ALIKE, replace(rare, low=0.45), P_DENIED)
    assert "No evidence that it beats chance by this metric: the interval includes 0.5, and" in told
    assert "is below 0.5" in write_chance(ALIKE, replace(rare, low=0.3, high=0.4), None)
    assert "no confidence interval, so no comparison with chance" in write_chance(
        ALIKE, replace(rare, low=np.nan), None
    )


def draw_rare(n=300, n_cases=12, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) < n_cases, "case", "none")
    X[y == "case", 0] += 1.5
    return X, y


def test_a_rule_that_never_finds_a_case():
    X, y = draw_rare()
    options = FEW | {"cv": 2, "include": "permutation", "n_permutations": 79}
    report = skeval.evaluate(LogisticRegression(C=0.01), X, y, **options)
    never, _, baseline, tail = report.verdict.split(". ", 3)
    assert baseline == "Always predicting none gives 4.0 %"
    assert never == "The model never predicts case"
    assert tail.startswith(
        "Class case is rare (4.0 % of the samples), so use the area under the ROC curve"
    )
    assert report.permutation.name == report.rare_class.metric == "roc_auc"
    area = report.metrics["roc_auc"]
    assert f"{area.value:.2f} (95 % CI {area.interval.low:.2f}" in tail
    at_another = skeval.evaluate(LogisticRegression(C=0.01), X, y, confidence_level=0.8, **options)
    assert at_another.verdict.split(". ", 3)[3] == tail
    silent = skeval.evaluate(DummyClassifier(), X, y, cv=4, **FEW)
    at_times = skeval.evaluate(LogisticRegression(), *draw_rare(seed=2), cv=4, **FEW)
    for each in (report, silent, at_times):
        answered = set(each.out_of_fold.target.decode(each.out_of_fold.predicted))
        assert {"case", "none"} - answered == set(each.never_predicted)
    assert not at_times.never_predicted
    assert "The model never predicts case" in silent.verdict
    assert "No evidence" in silent.verdict or "no confidence interval" in silent.verdict
    assert pickle.loads(pickle.dumps(report)).verdict == report.verdict


def test_classes_that_are_many_are_not_rare_for_it():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 20)
    X = rng.normal(size=(160, 2)) + 2 * np.c_[y % 3, y // 3]
    few = FEW | {"cv": 4, "include": "holdout"}
    report = skeval.evaluate(LinearDiscriminantAnalysis(), X, y, **few)
    assert report.rare_class is None
    assert "Always predicting 0 gives 87.5 %" in report.verdict
    rare = skeval.evaluate(LinearDiscriminantAnalysis(), X[:48], y[:48], **few)
    assert "so use the balanced accuracy" in rare.verdict
    enough = skeval.evaluate(LinearDiscriminantAnalysis(), X[20:72], y[20:72], **few)
    assert enough.rare_class is None  # 12 of 52 samples are more than a fifth


def test_the_guess_is_compared_on_the_same_samples():
    X, y = load_diabetes(return_X_y=True)
    for loss, constant in (("squared", np.mean(y)), ("absolute", np.sort(y)[(len(y) - 1) // 2])):
        report = skeval.evaluate(Ridge(), X, y, loss=loss, **FEW)
        own = (y - constant) ** 2 if loss == "squared" else np.abs(y - constant)
        found = report.baseline
        if (
            loss == "squared"
        ):  # the error is lower if the explained share of the variance is above 0
            low, high = report.metrics["r2"].interval
            assert [-found.high, -found.low] == pytest.approx([low * own.mean(), high * own.mean()])
        assert found.error == pytest.approx(own.mean(), rel=1e-12)
        assert found.difference == pytest.approx(report.answer.value - own.mean(), rel=1e-9)
        frame = report.out_of_fold
        losses = np.bincount(frame.row, frame.loss) / 10
        inflation = len(y) / report.answer.effective_n_samples
        spread = np.sqrt(inflation * np.var(losses - own, ddof=1) / len(y))
        if loss == "absolute":
            assert found.high - found.low == pytest.approx(2 * 1.968 * spread, rel=0.02)


@pytest.mark.parametrize("cv", [ShuffleSplit(4, test_size=0.1, random_state=3), 3])
def test_no_constant_answer_is_better_than_the_guess(cv):
    """Samples that are tested more often count as often in the baseline."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(41, 2)), rng.integers(0, 3, 41)
    for model, loss, measure in (
        (GaussianNB(), "zero_one", np.not_equal),
        (Ridge(), "squared", lambda a, b: (a - b) ** 2),
        (Ridge(), "absolute", lambda a, b: np.abs(a - b)),
    ):
        weight = rng.uniform(0.5, 2, 41)
        few = FEW | {"cv": cv, "include": "holdout"}
        report = skeval.evaluate(model, X, y, loss=loss, sample_weight=weight, **few)
        tested = report.out_of_fold.row
        for constant in np.linspace(0, 2, 21):
            losses = measure(y[tested], constant)
            assert report.baseline.error <= np.average(losses, weights=weight[tested]) + 1e-12


def test_what_selection_outside_claims_is_said_where_it_is_shown():
    X, y = draw_rare(60, 30)
    quoted = error_interval(NEAREST, X, y, random_state=0)
    model = make_pipeline(SelectKBest(k=1), NEAREST)
    bias = skeval.evaluate(model, X, y, include="selection", **FEW).selection_bias
    for ends, said in (((0.1, 0.3), True), ((-0.1, 0.3), False), ((0.2, 0.2), False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            found = replace(bias, limits={"t": lambda _, ends=ends: ends})
        assert ("would have given" in write_error(quoted, None, selection_bias=found)) == said


def test_grave_warnings_stand_first():
    grave = [Caution("a", "Text.", "x copies y"), Caution("b", "Text."), Caution("c", "t", "z")]
    assert forbid_quoting(grave) == "Do not report this error: x copies y; z."
    assert forbid_quoting(grave[1:2]) == ""
    X, y = draw_rare(60, 30)
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(NEAREST, np.c_[X, y == "case"].astype(float), y, **few)
    report = replace(report, warnings=(*report.warnings, grave[0]))
    assert report.verdict.startswith("Do not report this error: ")
    assert "etter than chance" not in report.verdict
    for text in (str(report), json.loads(report.to_json())["verdict"], repr(report)):
        assert "x copies y" in text[:300]
    both = skeval.evaluate({"a": NEAREST, "b": DummyClassifier()}, X, y, **few)
    both = replace(both, warnings=report.warnings)
    assert both.verdict.startswith("Do not report this error: ")
    assert both.verdict.endswith("No evidence that b beats the baseline.")


def test_least_squares_of_as_many_features_as_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 120))
    y = X[:, 0] + rng.normal(size=60)

    def warned(estimator, n_features):
        return any(check_least_squares(estimator, X[:, :n_features], y))

    least = LinearRegression()
    assert [n for n in range(1, 121) if warned(least, n)] == list(range(57, 70))
    chosen = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=60), least)
    assert warned(chosen, 120)
    assert not warned(chosen.set_params(selectkbest__k=30), 60)
    assert warned(make_pipeline(PolynomialFeatures(2), least), 10)  # 66 with the squares
    assert not any(warned(rule, 60) for rule in (Ridge(), LinearRegression(positive=True)))
    report = skeval.evaluate(least, X[:, :60], y, **FEW)
    assert str(report).startswith("Do not report this error: least squares with about as many")
    assert "covered the true error in 9" not in str(report)


def test_no_interval_is_not_written_as_nan():
    X, _ = draw_rare(60, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        report = skeval.evaluate(Ridge(), X, np.zeros(60), **FEW)
    assert "nan" not in report.verdict
    assert "(no confidence interval: the losses do not vary)" in report.verdict
    assert report._basis == []


def test_squared_errors_are_told_in_the_unit_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    found = error_interval(Ridge(), X, y, random_state=0)
    text = write_error(found, Baseline("the mean", 25.0, -1, -2, 0), 0.123)
    low, high = np.sqrt([found.interval.low, found.interval.high])
    assert f"on new samples: {np.sqrt(found.value):.1f} (95 % CI {low:.1f} to {high:.1f})" in text
    assert text.endswith("; R2 0.12. Always predicting the mean gives 5.0.")


def test_the_width_of_an_interval_sets_the_decimals_of_an_amount():
    assert write_amount(0.02814, "zero_one") == "2.8 %"
    assert write_amount(0.02814, "zero_one", 0.03) == "2.8 %"
    assert write_amount(0.02814, "zero_one", 0.002) == "2.81 %"
    assert write_amount(1.02, "absolute", 0.12) == "1.020"
    assert write_amount(0.9591, "absolute", 0.12) == "0.959"
    assert write_amount(112_549.0**2, "squared", 80_000) == "113,000"


def test_a_rare_class_and_the_error_rate_name_their_metrics():
    alike = Baseline("well", 0.1, -0.02, -0.06, 0.02)
    text = write_baseline(alike, "zero_one", "roc_auc")
    assert text.startswith("Error rate not below the baseline: always predicting well has an error")
    assert "The area under the ROC curve decides, because it compares" in text
    worse = write_baseline(
        replace(alike, low=0.01, difference=0.03, high=0.05), "zero_one", "roc_auc"
    )
    assert worse.startswith("Error rate above the baseline: ")
    assert write_baseline(alike, "zero_one").startswith("Not better than the baseline: ")


def test_an_auc_above_chance_is_stated_where_the_error_rate_shows_nothing():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(200) < 0.6, "well", "ill")
    X = rng.normal(size=(200, 3))
    X[y == "ill", 0] += 0.7
    report = skeval.evaluate(LinearDiscriminantAnalysis(), X, y, include=(), **FEW)
    assert not report.baseline.better
    assert report.rare_class is None
    assert report.metrics["roc_auc"].interval.low > 0.5
    assert (
        "Better than chance by the area under the ROC curve: 0.71 (95 % CI 0.62 to 0.7"
        in report.verdict
    )
    assert "o evidence" not in f"{report.verdict} {report._headline}"
    (warning,) = [text for text in report.warnings if text.code == "baseline"]
    assert warning.startswith("Error rate not below the baseline: always predicting well")
    assert warning.endswith("uses no threshold. Choose a threshold by the costs of both errors.")


def test_constant_scores_are_not_recommended_for_a_rare_class():
    X, y = draw_rare()
    report = skeval.evaluate(DummyClassifier(), X, y, include=(), **FEW)
    assert "constant-scores" in [text.code for text in report.warnings]
    assert report.rare_class.metric == "balanced_accuracy"
    assert "so use the balanced accuracy: 0.50 (95 % CI 0.4" in report.verdict
    assert "area under the ROC" not in report.verdict


def test_probabilities_that_rank_well_but_are_miscalibrated_are_no_contradiction():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    shares = 1 / (1 + np.exp(-(2 * y + rng.normal(size=100) + 2)))
    report = skeval.evaluate_predictions(y, shares)
    assert report.baseline.worse
    assert "Better than chance by the area under the ROC curve: 0.9" in report.verdict
    chance = skeval.evaluate_predictions(y, rng.random(100)).verdict
    assert "No evidence that it beats chance: it is significantly worse than" in chance


def test_a_baseline_of_numbers_is_in_their_unit():
    text = write_baseline(Baseline("the mean", 25.0, -9.0, -12.0, -6.0), "squared")
    assert text == (
        "Always predicting the mean has a root mean squared error of 5.00; the model has 1.00 less "
        "on the same samples (95 % CI 0.67 to 1.33)."
    )


def test_few_folds_name_the_estimates():
    assert "; all cross-validations use 6 folds." in write_few_folds("there are 6 samples", 6, 6)
    text = write_few_folds("class a has 4 members", 4, 10)
    assert "The row cross_validation of the estimates uses 4 folds; the main estimate" in text


def count_claims(n_sets, make, model, **few):
    """Return how many of the data sets are called better than chance, or than shuffled labels."""
    claims = 0
    for child in np.random.SeedSequence(1).spawn(n_sets):
        rng = np.random.default_rng(child)
        options = FEW | {"n_permutations": 79} | few
        told = skeval.evaluate(model, *make(rng), **options).verdict.lower()
        claims += "not shown" not in told and "better than" in told and "is not tested" not in told
    return claims


def draw_noise(rng, n=40, share=0.5):
    return rng.normal(size=(n, 3)), (np.arange(n) < share * n).astype(int)


@pytest.mark.simulated
def test_noise_is_not_called_better_than_chance():
    few = {"cv": 3, "n_permutations": 0, "include": "holdout"}
    claims = count_claims(8, draw_noise, LinearDiscriminantAnalysis(), **few)
    assert binom.sf(claims - 1, 8, 0.05) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(40, 0.5), (100, 0.3), (200, 0.1)])
def test_noise_is_not_called_better_than_chance_long(n, share):
    claims = count_claims(300, lambda rng: draw_noise(rng, n, share), LinearDiscriminantAnalysis())
    print(n, share, claims / 300)
    assert binom.sf(claims - 1, 300, 0.05) > 0.001


def test_the_explained_share_of_the_variance_decides_for_squared_errors():
    """A few large residuals widen the interval of a difference, but not that of a ratio."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.exp(1.5 * rng.normal(size=(40, 1)))
        y = X[:, 0] * np.exp(0.1 * rng.normal(size=40))
        report = skeval.evaluate(Ridge(), X, y, include=(), **FEW)
        share = report.metrics["r2"].interval.low
        assert report.baseline.better == (share > 0)
        assert ("Better than chance" in report.verdict) == (share > 0)


def test_a_grave_warning_leaves_no_word_on_chance():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 40), 3)
    X = np.repeat(rng.normal(size=(40, 3)), 3, axis=0)
    report = skeval.evaluate(DummyClassifier(), X, y, include=(), **FEW)
    assert report.verdict.startswith("Do not report")
    assert "baseline" not in [text.code for text in report.warnings]
