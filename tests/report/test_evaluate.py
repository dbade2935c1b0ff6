"""evaluate: its parts equal the single functions, its warnings appear when they should."""

import json
import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, TimeSeriesSplit, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    error_interval,
    permutation_test,
    resubstitution_error,
    score_interval,
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
    return evaluate(GaussianNB(), *iris, random_state=3)


def test_estimates_are_those_of_the_single_functions(iris, report):
    seed = report.seed
    assert [estimate.method for estimate in report.estimates.values()] == METHODS
    single = {
        "resubstitution": resubstitution_error(GaussianNB(), *iris),
        "leave_one_out": cross_val_error(GaussianNB(), *iris, cv=LeaveOneOut()),
        ".632+": bootstrap_error(GaussianNB(), *iris, n_resamples=5, random_state=seed),
        "holdout": error_interval(GaussianNB(), *iris, method="holdout", random_state=seed),
    }
    for name, expected in single.items():
        assert report[name].value == expected.value
        assert report[name].standard_error == expected.standard_error
        np.testing.assert_array_equal(report[name].replicates, expected.replicates)
    assert report["holdout"].n_samples == 50
    first = error_interval(GaussianNB(), *iris, n_repeats=1, random_state=seed)
    assert report["cross_validation"].value == first.value == report.answer.replicates[0]


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
    with pytest.raises(ValueError, match=r"part must be one of .*'estimates'"):
        report.to_frame("nothing")


def test_groups_are_never_taken_apart():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 4)
    X = np.repeat(rng.normal(size=(30, 5)), 4, axis=0)  # four copies of each sample
    y = np.repeat(np.tile([0, 1], 15), 4)
    leaking = evaluate(KNeighborsClassifier(1), X, y, random_state=0)
    honest = evaluate(KNeighborsClassifier(1), X, y, groups=groups, random_state=0)
    for name in METHODS[1:5]:
        assert leaking[name].value < 0.1
        assert honest[name].value > 0.2


def has(report, text):
    return any(text in str(sentence) for sentence in report.warnings)


def test_no_warning_without_a_reason():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.tile([0, 1], 100)
    X[:, 0] += 2 * y
    report = evaluate(GaussianNB(), X, y, random_state=0)
    assert report.warnings == ()


def test_an_ensemble_behind_a_selection():
    """An unfitted ensemble has a length that raises: `classifier or default` asked for it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 25)), np.tile([0, 1], 10)
    ensemble = RandomForestClassifier(1, random_state=0)
    rule = CV2FeatureSelectionPipeline(classifier=ensemble, cv=2, random_state=0)
    cv = StratifiedKFold(2)  # folds that are given are fitted once
    report = evaluate(rule, X, y, cv=cv, random_state=0, include=["selection"])
    assert report.selection_bias is not None


FEW = {"include": "all", "n_permutations": 2}


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
    assert any("Part not computed: holdout: all 1 fits" in str(s) for s in report.warnings)
    assert "holdout" in str(report)
    report = evaluate(FailsOn((16, 23)), X, y, error_score=np.nan, **few)
    assert not any(e.method in ("holdout", "leave_one_out") for e in report.estimates.values())
    assert str(report)


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile(["a", "b"], 30)
    X[:, 0] += 2 * (y == "b")
    return X, y


def test_perturbation_of_a_linear_svm(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    report = evaluate(model, X, y, random_state=0)
    safer, published = report.perturbation
    assert (safer.extra.statistic, published.extra.statistic) == (
        "cross_validation",
        "resubstitution",
    )
    assert safer.value == published.value == report["cross_validation"].value
    assert len(safer.extra.statistics) == 9
    assert report.to_dict()["perturbation"][0]["low"] == safer.interval.low
    assert re.search("(Use|Prefer) the interval", str(report))


def test_permutation_is_the_single_function(two_classes):
    X, y = two_classes
    options = {"include": ["permutation"], "n_permutations": 10, "random_state": 0}
    report = evaluate(GaussianNB(), X, y, cv=3, **options)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    assert report.permutation.n_resamples == 10
    assert report.to_dict()["permutation"]["pvalue"] == report.permutation.pvalue
    own = evaluate(GaussianNB(), X, y, cv=cv, **options)
    single = permutation_test(
        GaussianNB(), X, y, cv=cv, n_permutations=10, scoring="accuracy", random_state=own.seed
    )
    np.testing.assert_array_equal(own.permutation.null_distribution, single.null_distribution)
    # of a rare class that some folds lack, by the metric that decides
    rare = np.where(np.arange(60) % 12 == 0, "ill", "well")
    few = evaluate(GaussianNB(), X, rare, cv=10, **options)
    assert "few-folds" in [one.code for one in few.warnings]
    with pytest.warns(UserWarning, match="least populated"):
        single = permutation_test(
            GaussianNB(), X, rare, cv=10, n_permutations=10, scoring="roc_auc", random_state=0
        )
    np.testing.assert_array_equal(few.permutation.null_distribution, single.null_distribution)


@pytest.mark.parametrize(
    ("scorer", "metric", "sign"),
    [("recall", "recall of 1", 1), ("f1", "f1 of 1", 1), ("neg_log_loss", "log_loss", -1)],
)
def test_a_metric_has_one_interval(scorer, metric, sign):
    X, y = make_classification(80, flip_y=0.3, random_state=0)
    report = skeval.evaluate(GaussianNB(), X, y, scoring={"mine": scorer}, random_state=0)
    found, known = report.metrics["mine"], report.metrics[metric]
    assert found.value == sign * known.value
    np.testing.assert_allclose(sorted(sign * np.array([*known.interval])), [*found.interval])


def test_a_metric_that_reports_do_not_show_is_of_all_tested_samples():
    X, y = make_regression(60, 3, noise=20, random_state=0)
    scorer = "neg_mean_squared_error"
    found = skeval.evaluate(Ridge(), X, y, scoring=scorer, random_state=0).metrics[scorer]
    single = score_interval(Ridge(), X, y, scoring=scorer, random_state=0)
    np.testing.assert_allclose([*found.interval], [*single.interval])
    assert found.bounds == single.bounds


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
    assert f"CV2 minus CV1 is {100 * bias.value:.1f} percentage points" in str(report)
    assert report.to_dict()["selection_bias"]["value"] == bias.value
    assert json.loads(report.to_json())["selection_stability"]["n_rounds"] == 10


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
    assert report.baseline.prediction == "the naive forecast"  # walks cross their median rarely
    assert "no evidence that it beats predicting with the naive forecast" in report.verdict


@pytest.mark.parametrize("known", [False, True])
def test_without_an_interval_the_headline_says_which_error_is_larger(known):
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=100))
    drift = np.cumsum(rng.normal(scale=0.1, size=100))  # its errors are correlated
    X = (walk + drift if known else rng.normal(size=100))[:, None]
    report = evaluate(Ridge(1e-6), X, walk, cv=TimeSeriesSplit(2), random_state=0)
    assert report.baseline.relation == "untested"
    assert (report.baseline.difference > 0) == (not known)
    assert ("no worse than" in report.verdict) == known


@pytest.mark.parametrize(("gap", "loss"), [(0, "absolute"), (3, "squared"), (0, "zero_one")])
def test_the_guess_is_the_value_before_the_gap(gap, loss):
    rng, cv = np.random.default_rng(0), TimeSeriesSplit(4, gap=gap, max_train_size=100)
    y = np.sin(np.arange(300) / 6)
    y = (y > 0).astype(int) if loss == "zero_one" else y
    rule = GaussianNB() if loss == "zero_one" else Ridge()
    report = evaluate(rule, rng.normal(size=(300, 2)), y, cv=cv, loss=loss)
    tested = np.concatenate([test for _, test in cv.split(y)])
    measure = {"absolute": np.abs, "squared": np.square, "zero_one": np.sign}[loss]
    errors = measure(np.abs(y[tested] - y[tested - gap - 1]))
    assert report.baseline.error == pytest.approx(np.mean(errors))
    assert report.baseline.prediction == "the naive forecast" + " (lag 4)" * (gap > 0)


def test_an_svm_that_resamples_by_itself_does_so_in_no_fit(two_classes, monkeypatch):
    def resample(*_, **__):
        raise AssertionError("a fit resampled")

    monkeypatch.setattr("skeval.svm._perturbation_svc.perturbation_interval", resample)
    X, y = two_classes[0][:24], two_classes[1][:24]
    few = FEW | {"cv": 3, "random_state": 0}
    plain = skeval.evaluate(SVC(kernel="linear"), X, y, **few)
    for rule in (
        PerturbationResamplingSVC(cv=2),
        make_pipeline(
            StandardScaler(with_mean=False, with_std=False), PerturbationResamplingSVC(cv=2)
        ),
    ):
        report = skeval.evaluate(rule, X, y, **few)
        assert [e.value for e in report.estimates.values()] == [
            e.value for e in plain.estimates.values()
        ]


class Counted(GaussianNB):
    """Counts the fits of all of its kind."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight)


def count_fits(X, y, **options):
    Counted.n_fits = 0
    return skeval.evaluate(Counted(), X, y, random_state=0, **options), Counted.n_fits


def test_columns_of_another_length_are_refused_before_the_fits(iris):
    Counted.n_fits, short = 0, np.arange(100) % 2
    for option, wrong in (("by", short), ("left_out", {"visit": short})):
        with pytest.raises(ValueError, match=option):
            skeval.evaluate(Counted(), *iris, **{option: wrong})
    assert Counted.n_fits == 0


@pytest.fixture(scope="module")
def of_default_size(iris):
    """A report and the number of its fits."""
    return count_fits(*iris)


def test_auto_adds_the_training_error_and_two_fits_of_checks(of_default_size):
    report, n_fits = of_default_size
    assert n_fits == 20 + 1 + 2  # the last two on the labels and on shuffled labels
    on_request = dict.fromkeys(("holdout", "leave_one_out", "bootstrap"), "on request")
    settled = {"permutation": "the interval already excludes chance"}
    assert report.omitted == report.to_dict()["omitted"] == on_request | settled
    assert "Not run: holdout, leave_one_out, bootstrap (on request); permutation" in str(report)


def test_all_is_all_and_names_are_names(iris):
    X, y, options = iris[0][50::4], iris[1][50::4], {"cv": 3, "n_permutations": 5}
    report, n_fits = count_fits(X, y, include="all", **options)
    assert n_fits == 9 + 1 + 1 + 25 + 6 + 18 + 2
    assert report.omitted == {}
    report, n_fits = count_fits(X, y, include="permutation", **options)
    assert n_fits == 9 + 1 + 18 + 2
    assert [e.method for e in report.estimates.values()] == ["resubstitution", "cross_validation"]


def test_permutations_end_when_it_is_clear_that_p_is_large():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1], 30)
    model = LinearDiscriminantAnalysis()
    test = skeval.evaluate(model, X, y, random_state=0).permutation
    assert test.stopped
    assert test.n_resamples < 40
    assert test.pvalue > 0.05


REQUESTED = {
    "holdout": (),
    "leave_one_out": (),
    "bootstrap": (),
    "perturbation": ("perturbation",),
    "importance": ("importance",),
    "selection": ("selection_bias", "selection_stability", "candidate_names"),
    "permutation": ("permutation",),
}
"""Parts of an evaluation that may be asked for, and the fields with their results."""


@pytest.mark.parametrize("name", REQUESTED)
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"cv": TimeSeriesSplit(3)},
        {"cv": [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]},
        {"groups": np.arange(40) // 2},
        {"sample_weight": np.arange(1, 41)},
        {"estimator": SVC(kernel="linear"), "params": {"sample_weight": np.ones(40)}},
        {"n_permutations": 0, "budget": np.float32(1e-3)},
        {"y": np.random.default_rng(1).integers(0, 2, (40, 2))},
    ],
    ids=lambda change: next(iter(change), "plain"),
)
def test_a_requested_part_is_run_or_named(name, change):
    rng = np.random.default_rng(0)
    options = {"estimator": DecisionTreeClassifier(), "X": rng.normal(size=(40, 2))}
    options |= {"y": np.tile([0, 1], 20), "cv": 2, "random_state": 0, **change}
    few = {"n_permutations": 3} | options
    report = skeval.evaluate(include=[name], **few)
    results = [getattr(report, key) for key in REQUESTED[name]] or [
        report.estimates.get(".632" if name == "bootstrap" else name)
    ]
    named = [str(one) for one in report.warnings if one.code in ("not-run", "failed")]
    assert (results[0] is not None) != any(name in text for text in [*named, *report.omitted])


def test_a_class_in_one_group_is_named():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 2)), np.arange(60) // 6
    y = np.where(groups == 3, 2, np.arange(60) % 2)
    report = skeval.evaluate(GaussianNB(), X, y, groups=groups, include=[], random_state=0)
    assert report.metrics["recall of 2"].value == 0
    assert any("class 2 occurs in one group" in str(one) for one in report.warnings)


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
    assert cut["cross_validation"].value == cut.answer.value
    assert count_fits(*iris, budget=1e-3)[1] == 10  # no fit is started after the limit
    guess = DummyClassifier(strategy="uniform", random_state=0)
    some = skeval.evaluate(guess, *iris, random_state=0, budget=10.0)
    assert 10 < some.answer.extra.n_fits < 100
    assert "unless the time limit" in some.to_html()


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
    single = cross_val_error(model, X, y, loss=loss.removesuffix("_score"), cv=3, random_state=0)
    assert report.permutation.statistic == pytest.approx(-single.value, rel=0.1)
    assert report.baseline.prediction == "the class frequencies"
    assert not np.isnan([estimate.value for estimate in report.estimates.values()]).any()


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (evaluate, (np.zeros((1, 1)), [0], SVC()), r"The order of arguments is \(estimator, X, y"),
        (
            skeval.evaluate_clusterer,
            (np.zeros((1, 1)), SVC()),
            r"must be evaluate_clusterer\(clusterer, X\), got",
        ),
        (skeval.evaluate_clusterer, (SVC(), [[0.0]]), r"skeval\.evaluate\(estimator, X, y\)"),
        (evaluate, (KMeans(2), np.zeros((30, 2))), r"Use skeval.evaluate_clusterer"),
        (evaluate, (GaussianNB(), np.zeros((30, 2))), "true labels or numbers, got None"),
    ],
)
def test_arguments_in_another_order_or_missing_are_named(function, args, message):
    with pytest.raises(TypeError, match=message):
        function(*args)


@pytest.mark.parametrize(
    ("n_classes", "pos_label"), [(2, 5), (2, np.array([1])), (2, [1]), (3, 1), (3, 5), (3, [1])]
)
def test_the_positive_class_is_one_of_two(n_classes, pos_label):
    X, y = np.arange(30.0)[:, None], np.arange(30) % n_classes
    with pytest.raises(ValueError, match="pos_label must be"):
        evaluate(GaussianNB(), X, y, pos_label=pos_label)


def test_the_report_has_one_interval_for_the_error_and_numbers_that_explain_it():
    X, y = load_iris(return_X_y=True)
    options = {"include": ["leave_one_out"], "n_permutations": 0, "cv": 3, "random_state": 0}
    report = skeval.evaluate(GaussianNB(), X[:, :2], y, **options)
    tables = (table for section in report.sections for table in section.tables)
    rows = next(table.rows for table in tables if table.head[0] == "estimate")
    by_name = {name: cells for name, *cells in rows}
    for name in ("resubstitution", "cross_validation"):
        assert by_name[name] == [report[name].value, "", "", ""]
        assert np.isfinite(report[name].interval.low)  # also on request
    assert by_name["leave_one_out"][2] == report["leave_one_out"].interval


@pytest.mark.parametrize("n_classes", [2, 3])
def test_splits_are_those_of_scikit_learn(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[50 * (3 - n_classes) :, :2], y[50 * (3 - n_classes) :]
    folds = list(StratifiedKFold(5).split(X, y))
    options = {"cv": folds, "include": [], "n_permutations": 0, "random_state": 0}
    names = ["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss"]
    names += ["roc_auc"] * (n_classes == 2)
    models = {"bayes": GaussianNB(), "constant": DummyClassifier()}
    report = skeval.evaluate(models, X, y, scoring="f1_macro", **options)
    for name, model in models.items():
        splits, other = report[name].splits, cross_validate(model, X, y, cv=folds, scoring=names)
        for metric in names:
            own, sign = metric.removeprefix("neg_"), -1 if metric[:4] == "neg_" else 1
            expected = sign * other[f"test_{metric}"]
            np.testing.assert_allclose(splits[own], expected, atol=1e-12)
        np.testing.assert_array_equal(splits["fold"], np.arange(5))
        assert np.all(splits["fit_time"] > 0)
        assert np.all(splits["score_time"] > 0)
    frame = report.to_frame("splits")
    assert frame["name"].tolist() == ["bayes"] * 5 + ["constant"] * 5
    assert "splits" not in report.to_dict()


def test_a_metric_of_a_report_is_read_by_its_name(report):
    assert report.metrics
    assert all(report[name] is metric for name, metric in report.metrics.items())


@pytest.mark.parametrize(
    ("loss", "metric", "express"),
    [
        ("zero_one", "accuracy", lambda x: 1 - x),
        ("log_loss", "log_loss", lambda x: x),
        ("brier", "neg_brier_score", lambda x: -x),
        ("squared", "root_mean_squared_error", np.sqrt),
        ("squared", "neg_mean_squared_error", lambda x: -x),
        ("absolute", "mean_absolute_error", lambda x: x),
    ],
)
def test_the_metric_of_the_loss_has_the_interval_of_the_main_estimate(loss, metric, express):
    is_number = loss in ("squared", "absolute")
    model = Ridge() if is_number else GaussianNB()
    X, y = (make_regression if is_number else make_classification)(60, 20, random_state=0)
    scoring = metric if metric.startswith("neg_") else None
    groups = np.random.default_rng(0).integers(0, 20, 60)
    options = {"include": [], "n_permutations": 0, "random_state": 0, "groups": groups}
    report = skeval.evaluate(model, X, y, loss=loss, scoring=scoring, **options)
    found, answer = report.metrics[metric], report.answer
    assert found.value == pytest.approx(express(answer.value))
    for level in (0.8, 0.95):
        one, other = (each.confidence_interval(level) for each in (found, answer))
        expected = sorted([express(other.low), express(other.high)])
        assert [one.low, one.high] == pytest.approx(expected)
    # the standard error by the delta method
    if metric == "root_mean_squared_error":
        assert found.standard_error == pytest.approx(answer.standard_error / (2 * found.value))


@pytest.mark.parametrize("pos_label", ["ja", "nein", None])
@pytest.mark.parametrize("name", ["f1", "recall", "average_precision"])
def test_a_score_of_one_class_is_of_the_positive_one(name, pos_label):
    X, y = make_classification(120, 5, weights=[0.7], random_state=0)
    options = {"include": [], "n_permutations": 0, "random_state": 0, "scoring": name}
    words = np.where(y == 1, "ja", "nein")  # "ja" is rarer
    found = skeval.evaluate(GaussianNB(), X, words, pos_label=pos_label, **options)
    coded = (words == (pos_label or "ja")).astype(int)
    expected = skeval.evaluate(GaussianNB(), X, coded, **options)
    one, other = (report.metrics[name] for report in (found, expected))
    assert one.value == pytest.approx(other.value)
    assert [*one.interval] == pytest.approx([*other.interval])
    assert found.splits[name] == pytest.approx(expected.splits[name])
    if name != "average_precision":
        assert one.value == found.metrics[f"{name} of {pos_label or 'ja'}"].value
    # numbers have an explicit positive class too
    swapped = skeval.evaluate(GaussianNB(), X, 1 - coded, pos_label=0, **options)
    assert swapped.metrics[name].value == pytest.approx(other.value)
    assert swapped.splits[name] == pytest.approx(expected.splits[name])
