"""evaluate: its parts equal the single functions, its warnings appear when they should."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.jobs import two_workers
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    error_interval,
    permutation_test,
    resubstitution_error,
)
from skeval.svm import PerturbationResamplingSVC


def evaluate(*arguments, **options):
    """Evaluate all but the permutations, which take most of the time."""
    return skeval.evaluate(*arguments, **({"include": "all", "n_permutations": 0} | options))


METHODS = ["resubstitution", "holdout", "cross_validation", "leave_one_out", "oob", ".632", ".632+"]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def report(iris):
    return evaluate(GaussianNB(), *iris, n_bootstraps=30, random_state=3)


def test_estimates_are_those_of_the_single_functions(iris, report):
    seed = report.seed
    assert [estimate.method for estimate in report.estimates.values()] == METHODS
    single = {
        "resubstitution": resubstitution_error(GaussianNB(), *iris),
        "cross_validation": cross_val_error(GaussianNB(), *iris, random_state=seed),
        "leave_one_out": cross_val_error(GaussianNB(), *iris, cv=LeaveOneOut()),
        ".632+": bootstrap_error(GaussianNB(), *iris, n_resamples=30, random_state=seed),
        "holdout": error_interval(GaussianNB(), *iris, method="holdout", random_state=seed),
    }
    for name, expected in single.items():
        assert report[name].value == expected.value
        assert report[name].standard_error == expected.standard_error
        np.testing.assert_array_equal(report[name].replicates, expected.replicates)
    assert report["holdout"].n_samples == 50


def test_its_seed_repeats_it(iris, report):
    with two_workers("threading"):
        again = evaluate(GaussianNB(), *iris, n_bootstraps=30, random_state=3, n_jobs=2)
    assert again.to_dict() == report.to_dict()


def test_text_is_aligned_and_complete(report):
    lines = str(report).splitlines()
    (start,) = (k for k, line in enumerate(lines) if line.startswith("estimate "))
    table = lines[start : start + len(METHODS) + 2]
    names = [line[:27].rstrip() for line in table]
    assert names == ["estimate", "main estimate (repeated_cv)", *METHODS]
    assert len({line.index("  [") for line in table[1:]}) == 1
    assert f"{report['leave_one_out'].value:.4f}" in table[5]


def test_it_leads_with_the_answer(iris, report):
    expected = error_interval(GaussianNB(), *iris, random_state=report.seed)
    assert report.answer.to_dict() == expected.to_dict()
    first, second, third = str(report).splitlines()[:3]
    low, high = 100 * expected.interval.low, 100 * expected.interval.high
    numbers = f"{100 * expected.value:.1f} % (95 % CI {low:.1f} to {high:.1f} %)"
    assert first.startswith(f"Estimated error on new samples: {numbers}")
    assert first == report.verdict
    assert "for the error of the model trained on all samples" in second
    assert third == "Coverage has not been simulated for 3 classes."
    leading, answer, *_ = report.to_dict().items()
    assert leading == ("verdict", first)
    assert answer == ("answer", expected.to_dict() | {"covers": f"{second} {third}"})


def test_of_groups_it_says_that_coverage_was_not_measured(iris):
    X, y = iris
    groups = np.arange(150) // 3
    report = evaluate(GaussianNB(), X, y, cv=3, groups=groups, n_bootstraps=5, random_state=0)
    assert report.answer.n_groups == 50
    assert "not been simulated for 3 classes and groups." in str(report).splitlines()[2]


def test_dict_json_and_frame_agree(report, tmp_path):
    text = report.to_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(text)
    assert json.loads(text) == report.to_dict()
    frame = report.to_frame()
    assert list(frame.index) == ["repeated_cv", *METHODS]
    errors = [row["value"] for row in report.to_dict()["estimates"]]
    assert errors == frame["value"].tolist()
    assert errors[0] == report.answer.value
    assert report.to_dict()["class_sizes"] == {"0": 50, "1": 50, "2": 50}


def test_level_reaches_every_interval(iris):
    X, y, options = iris[0][50::3], iris[1][50::3], {"cv": 3, "n_bootstraps": 9, "random_state": 0}
    narrow = evaluate(GaussianNB(), X, y, confidence_level=0.5, **options)
    wide = evaluate(GaussianNB(), X, y, confidence_level=0.99, **options)
    for a, b in zip(narrow.to_dict()["estimates"], wide.to_dict()["estimates"], strict=True):
        assert (a["confidence_level"], b["confidence_level"]) == (0.5, 0.99)
        assert a["high"] - a["low"] < b["high"] - b["low"]


def test_report_pickles(report):
    assert pickle.loads(pickle.dumps(report)).to_dict() == report.to_dict()


def test_unknown_estimate_is_named(report):
    with pytest.raises(KeyError, match="no 'jackknife'; there are 'resubstitution'"):
        report["jackknife"]


def test_regression_and_names_of_what_is_included():
    X, y = load_diabetes(return_X_y=True)
    include = ["holdout", "bootstrap"]
    report = evaluate(Ridge(), X[:90], y[:90], include=include, n_bootstraps=20, loss="absolute")
    assert report.omitted == {}
    assert report.class_sizes is None
    assert "leave_one_out" not in [estimate.method for estimate in report.estimates.values()]
    assert {estimate.loss for estimate in report.estimates.values()} == {"absolute"}
    assert report["cross_validation"].value > 10


def test_pandas_in_and_string_labels(iris):
    X, y = iris[0][50::4], iris[1][50::4]
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = pd.Series(np.array(["x", "y", "z"])[y])
    options = {"cv": 3, "n_bootstraps": 5, "random_state": 1}
    report = evaluate(GaussianNB(), frame, names, **options)
    plain = evaluate(GaussianNB(), X, y, **options)
    assert [e.value for e in report.estimates.values()] == [
        e.value for e in plain.estimates.values()
    ]
    assert report.class_sizes == {"y": 13, "z": 12}


def test_groups_are_never_taken_apart():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 4)
    X = np.repeat(rng.normal(size=(30, 5)), 4, axis=0)  # four copies of each sample
    y = np.repeat(np.tile([0, 1], 15), 4)
    leaking = evaluate(KNeighborsClassifier(1), X, y, n_bootstraps=15, random_state=0)
    honest = evaluate(KNeighborsClassifier(1), X, y, groups=groups, n_bootstraps=15, random_state=0)
    for name in METHODS[1:5]:
        assert leaking[name].value < 0.1
        assert honest[name].value > 0.2


def has(report, text):
    return any(text in sentence for sentence in report.warnings)


def test_warnings_of_an_overfitted_rule_on_noise():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.repeat(["a", "b"], [33, 7])
    report = evaluate(KNeighborsClassifier(1), X, y, n_bootstraps=30, random_state=0)
    assert has(report, "Few folds: class b has 7 members, too few for 10 folds")
    assert len(report["cross_validation"].replicates) == 7
    assert has(
        report,
        "Training error too low: the training error (0.0 %) is far below the cross-validated error",
    )
    assert has(report, "baseline: always predicting a has an error rate of 17.5 %; ")
    assert has(report, "40 samples are too few")
    assert "! Few folds: class b has 7" in str(report)


def test_warning_when_estimates_disagree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    X[:, 0] += 3 * y
    unlucky = [(np.arange(20, 60), np.arange(20))] * 2  # only the first twenty are ever tested
    X[:20, 0] *= -1
    report = evaluate(GaussianNB(), X, y, cv=unlucky, n_bootstraps=30, random_state=0)
    assert has(report, "differ by more than two standard errors. The error depends")


def test_no_warning_without_a_reason():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.tile([0, 1], 100)
    X[:, 0] += 2 * y
    report = evaluate(GaussianNB(), X, y, n_bootstraps=20, random_state=0)
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence_level": 1}, "confidence_level must fulfill 0 < confidence_level < 1, got 1"),
        ({"include": ["jackknife"]}, "include must be 'auto', 'all' or some of .*got 'jackknife'"),
        ({"budget": 0}, "budget must be None or a number of seconds above 0, got 0"),
        ({"n_bootstraps": 0}, "n_bootstraps must be an integer >= 1, got 0"),
        ({"cv": 60}, "cv=60 folds need a class of at least 60 members, the largest has 50"),
        ({"loss": "hinge"}, "loss must be None, a callable or one of .*got 'hinge'"),
        ({"error_score": 0}, "error_score must be 'raise' or numpy.nan, got 0"),
    ],
)
def test_bad_arguments(iris, change, message):
    with pytest.raises(ValueError, match=message):
        evaluate(GaussianNB(), *iris, **change)


def test_an_ensemble_behind_a_selection():
    """An unfitted ensemble has a length that raises: `classifier or default` asked for it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 25)), np.tile([0, 1], 10)
    ensemble = RandomForestClassifier(1, random_state=0)
    rule = CV2FeatureSelectionPipeline(classifier=ensemble, cv=2, random_state=0)
    cv = StratifiedKFold(2)  # folds that are given are fitted once
    report = evaluate(rule, X, y, cv=cv, random_state=0, include=["selection"])
    assert report.selection_bias is not None


FEW = {"include": "all", "n_bootstraps": 5, "n_permutations": 2, "n_perturbations": 3}


class FailsOn(GaussianNB):
    """Cannot be fitted on some numbers of samples."""

    def __init__(self, sizes=()):
        super().__init__()
        self.sizes = sizes

    def fit(self, X, y):
        if len(X) in self.sizes:
            raise ValueError("not this many")
        return super().fit(X, y)


def test_a_hold_out_fit_that_fails_leaves_the_rest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.tile([0, 1], 12)
    few = {"cv": 4, "random_state": 0, "include": ["holdout", "leave_one_out"]}
    with pytest.raises(ValueError, match="not this many"):
        evaluate(FailsOn((16,)), X, y, **few)
    report = evaluate(FailsOn((16,)), X, y, error_score=np.nan, **few)
    assert [e.method for e in report.estimates.values()][:2] == [
        "resubstitution",
        "cross_validation",
    ]
    assert any("there is no holdout estimate: all 1 fits" in s for s in report.warnings)
    assert "holdout" in str(report)
    report = evaluate(FailsOn((16, 23)), X, y, error_score=np.nan, **few)
    assert not any(e.method in ("holdout", "leave_one_out") for e in report.estimates.values())
    assert str(report)


@pytest.mark.parametrize("n", [6, 9, 10])
def test_few_samples_of_a_regression(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 1))
    report = evaluate(Ridge(), X, X[:, 0], random_state=0, **FEW)
    assert len(report["cross_validation"].replicates) == n
    assert any(f"there are {n} samples, too few for 10" in s for s in report.warnings) == (n < 10)


def test_few_groups():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 1)), np.tile([0, 1], 30), np.repeat(np.arange(6), 10)
    report = evaluate(GaussianNB(), X, y, groups=groups, random_state=0, **FEW)
    assert len(report["cross_validation"].replicates) == 6
    assert any("there are 6 groups, too few for 10 folds" in s for s in report.warnings)


def test_one_class(iris):
    with pytest.raises(ValueError, match="y must hold at least two classes, got one: 0"):
        evaluate(GaussianNB(), iris[0], np.zeros(150, dtype=int))


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile(["a", "b"], 30)
    X[:, 0] += 2 * (y == "b")
    return X, y


def test_perturbation_of_a_linear_svm(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    report = evaluate(model, X, y, n_bootstraps=10, n_perturbations=40, random_state=0)
    safer, published = report.perturbation
    assert (safer.extra.statistic, published.extra.statistic) == (
        "cross_validation",
        "resubstitution",
    )
    assert safer.value == published.value == report["cross_validation"].value
    assert len(safer.extra.statistics) == 40
    assert report.to_dict()["perturbation"][0]["low"] == safer.interval.low
    lines = str(report).splitlines()
    (row,) = (line for line in lines if line.startswith("SVM, perturbed cross-validation"))
    assert f"[{safer.interval.low:.4f}, {safer.interval.high:.4f}]" in row
    after = next(k for k, line in enumerate(lines) if line.startswith("Always predicting"))
    assert lines[after].startswith("Always predicting a has an error rate of 50.0 %; ")
    assert lines[after + 1].startswith(("Use the interval", "Prefer the interval"))


def test_text_says_when_perturbed_training_is_too_short():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 80)), np.tile([0, 1], 20)
    report = evaluate(
        SVC(kernel="linear"), X, y, n_bootstraps=10, n_perturbations=40, random_state=0
    )
    assert "Use the interval from perturbed cross-validation: " in str(report)


def test_permutation_is_the_single_function(two_classes):
    X, y = two_classes
    options = {"include": ["permutation"], "n_permutations": 10, "random_state": 0}
    report = evaluate(GaussianNB(), X, y, cv=3, **options)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    assert report.permutation.n_resamples == 10
    assert report.permutation.statistic == pytest.approx(
        1 - report["cross_validation"].extra.fold_mean, abs=1e-12
    )
    assert report.permutation.pvalue == 1 / 11
    expected = "P = 0.091: 0 of 10 runs of the whole procedure on shuffled labels scored at least"
    assert expected in str(report)
    assert report.to_dict()["permutation"]["pvalue"] == report.permutation.pvalue
    own = evaluate(GaussianNB(), X, y, cv=cv, **options)
    single = permutation_test(
        GaussianNB(), X, y, cv=cv, n_permutations=10, scoring="accuracy", random_state=own.seed
    )
    np.testing.assert_array_equal(own.permutation.null_distribution, single.null_distribution)


def largest_loss(y_true, y_pred):
    return 10.0 * (y_true != y_pred)


@pytest.mark.parametrize("loss", [largest_loss, None])
def test_permutation_scores_the_loss(two_classes, loss):
    options = {"cv": 3, "include": ["permutation"], "n_permutations": 5, "random_state": 0}
    report = evaluate(GaussianNB(), *two_classes, loss=loss, **options)
    expected = 1 - report["cross_validation"].extra.fold_mean
    if loss is not None:
        expected = -report["cross_validation"].extra.fold_mean
    assert report.permutation.statistic == pytest.approx(expected, abs=1e-12)


def test_selection_inside_a_pipeline_is_compared_with_selection_outside():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2000)), np.tile([0, 1], 25)
    model = make_pipeline(StandardScaler(), SelectKBest(k=20), SVC(kernel="linear"))
    report = evaluate(model, X, y, include=["selection"], random_state=0)
    bias = report.selection_bias
    assert bias.extra.cv2_error == pytest.approx(report["cross_validation"].value, abs=1e-12)
    assert bias.extra.cv1_error < 0.2 < 0.3 < bias.extra.cv2_error
    assert report.selection_stability.extra.frequency.shape == (2000,)
    assert report.selection_stability.extra.frequency.sum() == pytest.approx(20)
    text = str(report)
    assert (
        f"on all samples (CV1) would have given an error of {100 * bias.extra.cv1_error:.1f} %"
        in text
    )
    assert "which is too low: the bias is" in text
    ever = np.count_nonzero(report.selection_stability.extra.frequency)
    assert f"{ever} features were selected in at least one of 10 folds" in text
    assert report.to_dict()["selection_bias"]["value"] == bias.value
    assert json.loads(report.to_json())["selection_stability"]["n_rounds"] == 10


def test_selection_of_a_cv2_pipeline(two_classes):
    model = CV2FeatureSelectionPipeline(SelectKBest(k=2), GaussianNB(), cv=None)
    report = evaluate(model, *two_classes, cv=3, include=["selection"], random_state=0)
    assert report.selection_bias.extra.cv2_error == report["cross_validation"].value
    assert report.selection_stability.extra.n_rounds == 3


def test_no_selection(two_classes):
    report = evaluate(GaussianNB(), *two_classes, cv=3, include=["selection"])
    assert report.selection_bias is None
    assert report.selection_stability is None


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (SVC(kernel="rbf"), {}),
        (GaussianNB(), {}),
        (SVC(kernel="linear"), {"n_perturbations": 0}),
        (SVC(kernel="linear"), {"groups": np.repeat(np.arange(30), 2)}),
    ],
)
def test_no_perturbation(two_classes, model, options):
    options |= {"include": ["perturbation"], "random_state": 0}
    report = evaluate(model, *two_classes, cv=3, **options)
    assert report.perturbation is None
    assert "perturbed" not in str(report)


def test_verbose_names_each_step(iris, capsys):
    evaluate(GaussianNB(), iris[0][50::3], iris[1][50::3], cv=3, n_bootstraps=5, verbose=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "skeval: bootstrap ..." in captured.err


@pytest.mark.parametrize(
    ("separation", "share", "expected"),
    [
        (3.0, 0.5, None),
        (0.0, 0.5, "Not better than the baseline: "),
        (0.0, 0.2, "Worse than the baseline: "),
    ],
)
def test_better_alike_or_worse_than_the_largest_class(separation, share, expected):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < share, "rare", "usual")
    X = rng.normal(size=(200, 2)) + separation * (y == "rare")[:, None]
    rule = GaussianNB(priors=[0.5, 0.5])
    report = evaluate(rule, X, y, include=["holdout"], random_state=0)
    told = [text for text in report.warnings if text.code == "baseline"]
    if expected is None:
        assert not told
        assert report.baseline.better
        assert "the model has" in str(report)
    else:
        assert not report.baseline.better
        assert expected in told[0]


class Ordered:
    """A splitter of its own that tests what comes next."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3

    def split(self, X, y=None, groups=None):
        for start in (40, 80, 120):
            yield np.arange(start), np.arange(start, start + 40)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(5), Ordered()])
def test_ordered_samples_are_not_exchanged(cv):
    rng = np.random.default_rng(0)
    X, walk = (np.cumsum(rng.normal(size=shape), axis=0) for shape in ((200, 3), 200))
    rule, y = make_pipeline(StandardScaler(), SVC(kernel="linear")), walk > np.median(walk)
    report = skeval.evaluate(rule, X, y, cv=cv, random_state=0, **FEW)
    assert [e.method for e in report.estimates.values()] == ["resubstitution", "cross_validation"]
    assert report.permutation is None
    assert report.perturbation is None
    assert report.baseline.prediction == "the value before"  # walks cross their median rarely
    assert "Predicting the value before gives " in report.verdict
    assert "Better than" not in report.verdict
    assert has(
        report, "Folds in time order: every fold tests samples that come after its training samples"
    )
    assert "would predict early samples from later ones" in str(report)


@pytest.mark.parametrize(("gap", "loss"), [(0, "absolute"), (3, "squared"), (0, "zero_one")])
def test_the_guess_is_the_value_of_a_season_before_that_each_model_knew(gap, loss):
    rng, cv = np.random.default_rng(0), TimeSeriesSplit(4, gap=gap, max_train_size=100)
    pattern = np.array([0, 0, 9, 3, 0, 6, 6])
    y = pattern[np.arange(300) % 7] + np.where(rng.random(300) < 0.1, 3, 0)
    rule = GaussianNB() if loss == "zero_one" else Ridge()
    report = evaluate(rule, rng.normal(size=(300, 2)), y, cv=cv, loss=loss, n_bootstraps=2)
    errors = []
    for train, test in cv.split(y):
        for row in test:
            earlier = row
            while earlier > train[-1]:
                earlier -= 7
            errors.append(float(y[row] - y[earlier]))
    measure = {"absolute": np.abs, "squared": np.square, "zero_one": np.sign}[loss]
    assert report.baseline.error == pytest.approx(np.mean(np.abs(measure(errors))))
    assert report.baseline.prediction == "the value one season (7 samples) before"
    assert "Predicting the value one season (7 samples) before gives " in report.verdict
    assert report.baseline.worse


def test_one_split_by_hand_is_a_test_set_and_no_time_series(two_classes):
    X, y = two_classes
    report = evaluate(GaussianNB(), X, y, cv=[(np.arange(40), np.arange(40, 60))], n_bootstraps=5)
    assert "oob" in [estimate.method for estimate in report.estimates.values()]


def test_632_is_doubted_where_the_training_error_says_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), np.tile([0, 1], 100)
    X[:, :2] += 2 * y[:, None]
    report = evaluate(KNeighborsClassifier(1), X, y, n_bootstraps=20, random_state=0)
    assert report[".632+"].value < report["cross_validation"].value - 0.02
    assert has(
        report, "includes a training error near 0 (0.0 %), which this model reaches on any data"
    )


def test_an_svm_that_resamples_by_itself_does_so_in_no_fit(two_classes, monkeypatch):
    def read(self):
        raise AssertionError("a fit resampled")

    monkeypatch.setattr(PerturbationResamplingSVC, "perturbation_", property(read))
    X, y = two_classes[0][:24], two_classes[1][:24]
    few = FEW | {"cv": 3, "random_state": 0}
    plain = skeval.evaluate(SVC(kernel="linear"), X, y, **few)
    for rule in (
        PerturbationResamplingSVC(),
        make_pipeline(StandardScaler(with_mean=False, with_std=False), PerturbationResamplingSVC()),
    ):
        report = skeval.evaluate(rule, X, y, **few)
        assert [e.value for e in report.estimates.values()] == [
            e.value for e in plain.estimates.values()
        ]
        assert has(report, "PerturbationResamplingSVC was fitted with n_resamples=0")
        assert "n_resamples=1000" in report.estimator or "SVC()" in report.estimator


class FailsWithoutTheLargest(ClassifierMixin, BaseEstimator):
    """Names the first class; fails on training samples without the largest first feature."""

    def __init__(self, largest):
        self.largest = largest

    def fit(self, X, y):
        if np.abs(X[:, 0]).max() < self.largest:
            raise ValueError("the largest is missing")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_fit_that_may_fail_costs_its_part_of_the_report_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    model = FailsWithoutTheLargest(np.abs(X[:, 0]).max() - 1e-12)
    options = {"n_bootstraps": 10, "n_permutations": 3, "random_state": 0}
    report = evaluate(model, X, y, error_score=np.nan, **options)
    assert report.permutation is None
    assert has(
        report, "Part not computed: there is no permutation test, because one of its fits failed"
    )
    with pytest.raises(ValueError, match="the largest is missing"):
        evaluate(model, X, y, **options)


def test_leaving_groups_out_is_not_said_to_be_repeated(iris):
    X, y = iris
    report = evaluate(GaussianNB(), X, y, groups=np.arange(150) % 5, n_bootstraps=5, cv=5)
    assert report.answer.extra.n_fits == 5
    assert "(repeated_cv: 5-fold cross-validation)." in str(report)


class Counted(GaussianNB):
    """Counts the fits of all of its kind."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight)


def count_fits(X, y, **options):
    Counted.n_fits = 0
    return skeval.evaluate(Counted(), X, y, random_state=0, **options), Counted.n_fits


@pytest.fixture(scope="module")
def of_default_size(iris):
    """A report and the number of its fits."""
    return count_fits(*iris)


def test_auto_adds_the_training_error_and_one_set_of_folds(of_default_size):
    report, n_fits = of_default_size
    assert n_fits == 100 + 1 + 10 + 2  # the last two on the labels and on shuffled labels
    on_request = dict.fromkeys(("holdout", "leave_one_out", "bootstrap"), "on request")
    settled = {"permutation": "the interval already excludes chance"}
    assert report.omitted == report.to_dict()["omitted"] == on_request | settled
    assert "Not run: holdout, leave_one_out, bootstrap (on request); permutation" in str(report)


def test_all_is_all_and_names_are_names(iris):
    X, y, options = iris[0][50::4], iris[1][50::4], {"cv": 3, "n_permutations": 5}
    report, n_fits = count_fits(X, y, include="all", n_bootstraps=20, **options)
    assert n_fits == 30 + 1 + 1 + 3 + 25 + 21 + 18 + 2
    assert report.omitted == {}
    report, n_fits = count_fits(X, y, include="permutation", **options)
    assert n_fits == 30 + 1 + 3 + 18 + 2
    assert [e.method for e in report.estimates.values()] == ["resubstitution", "cross_validation"]


def test_permutations_are_spent_where_the_interval_does_not_settle_it():
    """The permutations end where P cannot be 0.05 or less any more."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([0, 1], 30)
    model = LinearDiscriminantAnalysis()
    noise = skeval.evaluate(model, X, y, n_perturbations=0, n_bootstraps=5, random_state=0)
    test = noise.permutation
    assert test.n_exceedances == 10
    assert test.n_resamples < 200
    assert test.pvalue == 10 / test.n_resamples > 0.05
    assert noise.verdict.endswith(
        f"and shuffled labels do as well (P = {test.pvalue:.2g} from {test.n_resamples} "
        "permutations)."
    )
    X[:, 0] += 3 * y
    signal = skeval.evaluate(model, X, y, n_perturbations=0, n_bootstraps=5, random_state=0)
    assert signal.permutation is None
    assert signal.verdict.endswith(
        "Better than chance: significantly lower error on the same samples."
    )


def test_a_budget_leaves_one_repeat_at_least(iris, of_default_size, monkeypatch):
    clock = iter(np.arange(0.0, 1e6))
    monkeypatch.setattr("skeval.report._parts.monotonic", lambda: float(next(clock)))
    whole, cut = count_fits(*iris, budget=1e9)[0], count_fits(*iris, budget=1e-3)[0]
    plain, _ = of_default_size
    assert whole.answer.to_dict() == plain.answer.to_dict()
    assert cut.answer.extra.n_fits == 10
    assert cut.answer.extra.parameters == {"n_folds": 10, "n_repeats": 1}
    assert cut.answer.replicates[0] == plain.answer.replicates[0]
    assert cut.answer.effective_n_samples == pytest.approx(150 / 2)
    assert cut.omitted["resubstitution"] == "1 fit, more than the time limit allows"
    assert cut.omitted["cross_validation"] == "10 fits, more than the time limit allows"
    assert count_fits(*iris, budget=1e-3)[1] == 10  # no fit is started after the limit
    some = count_fits(*iris, budget=10.0)[0]
    assert 10 < some.answer.extra.n_fits < 100
    assert "unless the time limit" in some.to_html()


def test_three_groups_are_too_few_to_hold_out_two_of_them():
    X = np.random.default_rng(0).normal(size=(12, 2))
    groups = np.repeat([0, 1, 2], 4)
    report = evaluate(
        GaussianNB(), X, np.arange(12) % 2, groups=groups, include="holdout", random_state=0
    )
    assert [each.method for each in report.estimates.values()] == [
        "resubstitution",
        "cross_validation",
    ]
    assert any("there is no holdout estimate" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("n_classes", "loss"), [(2, "log_loss"), (2, "brier_score"), (3, "brier_score")]
)
def test_every_part_judges_probabilities(n_classes, loss):
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[::5]
    X, y = X[rows, :2], np.array(["x", "a", "m"])[y[rows]]
    model = make_pipeline(SelectKBest(k=1), GaussianNB())
    report = skeval.evaluate(
        model, X, y, loss=loss.removesuffix("_score"), cv=3, random_state=0, **FEW
    )
    shown = report.to_frame("metrics").set_index("metric")["value"]
    assert report.answer.value == pytest.approx(shown[loss])
    assert report.permutation.name == f"neg_{loss}"
    single = -report["cross_validation"].value
    assert report.permutation.statistic == pytest.approx(single, rel=0.1)
    assert report.baseline.prediction == "the class frequencies"
    assert not np.isnan([estimate.value for estimate in report.estimates.values()]).any()


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (evaluate, ([[0.0]], [0], SVC()), r"The order of arguments is \(estimator, X, y\)\."),
        (skeval.evaluate_clusterer, ([[0.0]], SVC()), r"is \(clusterer, X\)\."),
        (skeval.evaluate_clusterer, (SVC(), [[0.0]]), r"skeval\.evaluate\(estimator, X, y\)"),
    ],
)
def test_arguments_in_another_order_are_put_right(function, args, message):
    arrays = [np.asarray(part) if isinstance(part, list) else part for part in args]
    with pytest.raises(TypeError, match=message):
        function(*arrays)


def test_the_table_of_squared_errors_has_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = 1000 * X[:, 0] + 100 * rng.normal(size=60)
    report = evaluate(Ridge(), X, y, cv=3, include=[], random_state=0)
    row = next(line for line in str(report).splitlines() if line.startswith("main estimate"))
    value, spread = (float(word.replace(",", "")) for word in row.split()[3:5])
    assert value == pytest.approx(np.sqrt(report.answer.value), abs=0.06)
    assert spread == pytest.approx(report.answer.standard_error / (2 * value), rel=1e-3)
    assert "root mean squared error  std. error" in str(report)
    both = evaluate({"a": Ridge(), "b": Ridge(9.0)}, X, y, cv=3, include=[], random_state=0)
    head = next(line for line in str(both).splitlines() if line.startswith("estimator"))
    assert head.count("root mean squared error") == 1


def test_a_missing_target_and_a_clusterer_are_named():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(TypeError, match=r"skeval.evaluate_clusterer\(clusterer, X\) evaluates it"):
        evaluate(KMeans(2), X)
    with pytest.raises(TypeError, match="y must hold the labels or numbers to predict, got None"):
        evaluate(GaussianNB(), X)


def test_an_infinite_value_is_located():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="got 1 infinite value, the first in column 1; correct"):
        evaluate(GaussianNB(), X, np.arange(30) % 2)
