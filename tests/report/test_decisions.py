"""One decision: interval, difference from the baseline and sentence; checks and rare classes."""

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import skeval
from skeval.report._findings import judge


def draw(seed, n, share, shift):
    """Return features, of which one differs between two classes, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.permutation((np.arange(n) < share * n).astype(int))
    X = rng.normal(size=(n, 2))
    X[:, 0] += shift * y
    return X, y


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("shift", [0, 0.7, 2])
def test_an_interval_without_the_baseline_decides(share, shift):
    """An error below a constant's is a difference below 0. The reverse needs the difference."""
    for seed in range(3):
        X, y = draw(seed, 80, share, shift)
        model = LinearDiscriminantAnalysis()
        report = skeval.evaluate(model, X, y, cv=3, include=[], random_state=0)
        (low, high), baseline = report.answer.confidence_interval(0.95), report.baseline
        assert baseline.high - baseline.difference <= high - report.answer.value + 1e-12
        assert high >= baseline.error or baseline.relation == "better"
        assert low > baseline.error or baseline.relation != "worse"
        alone = "better" if high < baseline.error else "worse" if low > baseline.error else "open"
        assert ("percentage points (95 % CI" in report.headline) == (
            baseline.relation != alone and judge(report).reference != "chance"
        )


@pytest.mark.parametrize("loss", ["zero_one", "brier"])
def test_the_size_of_the_decision_on_given_predictions(loss):
    """Independent predictions are called better than a constant in 2.5 % of samples at most."""
    rng, n_better, n_sets = np.random.default_rng(0), 0, 120
    for _ in range(n_sets):
        y = np.arange(60) % 2
        p = rng.uniform(0.2, 0.8, 60)
        predictions = (p > 0.5).astype(int) if loss == "zero_one" else p
        n_better += skeval.evaluate_predictions(y, predictions).baseline.better
    assert n_better <= 8  # 3 are expected at most; P(9 or more) < .01


@pytest.mark.parametrize("n_classes", [2, 4])
def test_noise_is_rarely_worse_than_the_largest_of_equal_classes(n_classes):
    """The samples chose the class, so always predicting it looks better than it is."""
    rng, n_worse, n_sets = np.random.default_rng(1), 0, 150
    for _ in range(n_sets):
        y, predicted = rng.integers(0, n_classes, (2, 60))
        found = skeval.evaluate_predictions(y, predicted, kind="labels").baseline
        n_worse += found.relation == "worse"
    assert n_worse <= 9  # 3.75 are expected at most; P(10 or more) < .01


def test_a_constant_model_is_the_same_as_the_baseline():
    y = np.arange(40) % 4 == 0
    assert skeval.evaluate_predictions(y, np.zeros(40, dtype=bool)).baseline.relation == "same"


def test_small_classes_without_errors_prove_little():
    """A class of two samples that are both found has no variance of its own."""
    y = np.repeat([0, 1, 2], [50, 2, 2])
    predicted = np.where(y == 2, 0, y)
    baseline = skeval.evaluate_predictions(y, predicted).baseline
    assert baseline.low < baseline.difference < 0 < baseline.high + 0.03


def test_an_out_of_fold_area_of_noise_is_not_called_worse():
    for seed in (0, 1, 2, 3):
        X, y = draw(seed, 100, 0.06, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = skeval.evaluate(
                LinearDiscriminantAnalysis(), X, y, cv=StratifiedKFold(3), include=[]
            )
        assert judge(report).relation in ("open", "better")
    scores = np.where(y == 1, -1.0, 1.0) + X[:, 0] / 10  # of existing predictions it is
    assert judge(skeval.evaluate_predictions(y, scores)).relation == "worse"


@pytest.fixture(scope="module")
def rare():
    """Two sites with a rare class, which can be predicted at one of them only."""
    X, y = draw(0, 400, 0.15, 0)
    site = np.where(np.arange(400) % 2, "a", "b")
    X[:, 0] += 3 * y * (site == "a")
    return X, y, site


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression()])  # with decisions, too
def test_subgroups_and_samples_of_a_rare_class_use_the_metric_that_decides(rare, model):
    X, y, site = rare
    cv = StratifiedKFold(4)
    report = skeval.evaluate(model, X, y, cv=cv, by=site, include=[], random_state=0)
    assert report.rare_class.metric == "roc_auc"
    predictions = report.out_of_fold
    score, row = predictions.class_scores[:, 1], predictions.row
    for name in "ab":
        # pairs of samples of the same test set
        parts = [(predictions.fold == fold) & (site[row] == name) for fold in range(4)]
        pairs = [np.sum(y[row[part]]) * np.sum(1 - y[row[part]]) for part in parts]
        areas = [roc_auc_score(y[row[part]], score[part]) for part in parts]
        area = np.average(areas, weights=pairs)
        assert report.subgroups[name].value == pytest.approx(area)
        assert report.subgroups[name].name == "area under the ROC curve"
    assert report.subgroups.less_the_rest["a"].value > 0.3
    # share of misranked pairs of each sample, within its test set
    wrong = np.empty(400)
    for k in range(400):
        at = predictions.fold[row == k]
        other = (predictions.fold == at) & (y[row] != y[k])
        ahead = (score[other] - score[row == k]) * (1 - 2 * y[k])
        wrong[k] = np.mean(ahead < 0) + np.mean(ahead == 0) / 2
    hard = report.hard_samples
    assert set(hard.sample) == set(np.flatnonzero(wrong > 0.5))
    np.testing.assert_allclose(hard.wrong, wrong[hard.sample])


def test_groups_with_a_single_label_are_counted():
    rng = np.random.default_rng(0)
    groups, y = np.arange(60) // 6, np.arange(60) // 6 % 2
    y = np.where(groups < 3, np.arange(60) % 2, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = skeval.evaluate(
            GaussianNB(), rng.normal(size=(60, 2)), y, groups=groups, cv=2,
            include="permutation", n_permutations=9, random_state=0,
        )  # fmt: skip
    (warning,) = (one for one in report.warnings if one.code == "single-label-groups")
    assert "7 of 10 groups" in str(warning)
    assert "3 of 10 groups have several labels" in str(report)
    assert "3 of 10 groups have several labels" in report.to_methods()


def test_an_early_stop_is_described_as_such():
    X, y = np.random.default_rng(1).normal(size=(40, 5)), np.arange(40) % 2
    model = make_pipeline(SelectKBest(k=2), GaussianNB())
    report = skeval.evaluate(model, X, y, cv=2, random_state=0)
    assert report.permutation.stopped
    assert f"stopped after {report.permutation.n_resamples}" in report.to_methods()
    assert "P > 0.05" in report.verdict


class CountingModel(LogisticRegression):
    n_fits = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        return super().fit(X, y)


def test_an_ignored_check_does_not_run():
    X, y = draw(0, 30, 0.5, 1)
    n_fits = {}
    for ignore in ((), "fitted-before"):
        CountingModel.n_fits = 0
        skeval.evaluate(CountingModel(), X, y, cv=2, include=[], random_state=0, ignore=ignore)
        n_fits[ignore] = CountingModel.n_fits
    assert n_fits["fitted-before"] < n_fits[()]


def find_weekend(X, y):
    return "Weekend: half of the samples are of a Sunday. Balance the days."


def find_nothing(X, y):
    return None


def test_every_check_has_a_result_and_can_be_ignored():
    X, y = draw(0, 60, 0.5, 1)
    order = np.random.default_rng(1).permutation(120) // 2
    X, y = X[order], y[order]
    options = {"cv": 2, "include": [], "random_state": 0}
    own = {"checks": [find_weekend, find_nothing]}
    report = skeval.evaluate(LogisticRegression(), X, y, **options, **own)
    results = {one.code: one for one in report.checks}
    assert results["copies"].outcome == "serious"
    assert results["target-copy"].outcome == "passed"
    assert results["find-weekend"].outcome == "note"
    assert results["find-weekend"].title == "Weekend"
    assert results["find-weekend"].evidence == "half of the samples are of a Sunday"
    assert results["find-weekend"].advice == "Balance the days."
    assert results["632"].outcome == "not run"
    assert results["target-formula"].outcome == "not applicable"
    assert results["find-nothing"].outcome == "passed"
    assert report.to_dict()["checks"][0]["outcome"] in ("serious", "note", "passed")
    assert set(report.to_frame("checks")["code"]) == set(results)
    # every finding is a warning
    findings = {one.code for one in report.checks if one.outcome in ("note", "serious")}
    assert findings == {one.code for one in report.warnings} - {"baseline"}
    # an ignored check neither warns nor changes the verdict
    ignoring = skeval.evaluate(LogisticRegression(), X, y, ignore="copies", **options)
    assert "copies" not in [one.code for one in ignoring.warnings]
    assert {one.code: one.outcome for one in ignoring.checks}["copies"] == "ignored"
    assert report.verdict.startswith("Do not report")
    assert not ignoring.verdict.startswith("Do not report")
    # all of them are ignored
    everything = [one.code for one in report.checks if not one.code.startswith("find-")]
    silent = skeval.evaluate(LogisticRegression(), X, y, ignore=everything, **options)
    assert {one.outcome for one in silent.checks} == {"ignored"}
    assert {one.code for one in silent.warnings} <= {"baseline"}
    with pytest.raises(ValueError, match="ignore must be one of"):
        skeval.evaluate(LogisticRegression(), X, y, ignore=["copy"])
    with pytest.raises(TypeError, match="checks must be a list of functions"):
        skeval.evaluate(LogisticRegression(), X, y, checks=["copies"])
