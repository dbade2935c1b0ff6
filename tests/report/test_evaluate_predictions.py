"""A report of predictions: kinds, metrics, intervals, subgroups, warnings, and what is refused."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

import skeval
from skeval.metrics import calibration_measures
from skeval.model_selection import compare_predictions, metric_interval

N = 120
SHARED = {"random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, N)
    score = rng.normal(1.5 * y, 1.0)
    return {
        "y": y,
        "score": score,
        "p": 1 / (1 + np.exp(0.7 - score)),
        "groups": rng.integers(0, 15, N),
        "weight": rng.exponential(size=N) + 0.1,
        "number": score + rng.normal(size=N),
    }


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, N)
    proba = rng.dirichlet([1, 1, 1], N)
    proba[np.arange(N), y] += 0.4
    return np.array(["a", "b", "c"])[y], proba / proba.sum(axis=1, keepdims=True)


def evaluate(*args, **kwargs):
    return skeval.evaluate_predictions(*args, **SHARED, **kwargs)


@pytest.fixture(scope="module")
def report(data):
    """That of probabilities, which many tests read."""
    return evaluate(data["y"], data["p"])


def test_the_kind_is_told_by_the_values(data, three):
    y, p, score = data["y"], data["p"], data["score"]
    names = np.array(["no", "yes"])[y]
    kinds = {
        "labels": [(y, 1 - y), (names, names), (y == 1, y), (y, (p > 0.5).astype(float))],
        "probabilities": [(y, p), (names, p), (y == 1, p), (y, np.column_stack([1 - p, p])), three],
        "scores": [(y, score), (names, score), (three[0], np.log(three[1]))],
        "numbers": [(score, p), (np.arange(N), np.arange(N) + 0.5), (np.arange(N), np.arange(N))],
    }
    for kind, cases in kinds.items():
        for truth, predictions in cases:
            assert evaluate(truth, predictions).kind == kind


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_scikit_learn(data, three, weighted):
    weight = data["weight"] if weighted else None
    own = {"sample_weight": weight}
    y, p = data["y"], data["p"]
    found = evaluate(y, p, **own).metrics
    label = (p >= 0.5).astype(int)
    expected = {
        "accuracy": sk.accuracy_score(y, label, **own),
        "balanced_accuracy": sk.balanced_accuracy_score(y, label, **own),
        "f1_macro": sk.f1_score(y, label, average="macro", **own),
        "matthews_corrcoef": sk.matthews_corrcoef(y, label, **own),
        "cohen_kappa": sk.cohen_kappa_score(y, label, **own),
        "log_loss": sk.log_loss(y, p, **own),
        "brier_score": sk.brier_score_loss(y, p, **own),
        "roc_auc": sk.roc_auc_score(y, p, **own),
        "average_precision": sk.average_precision_score(y, p, **own),
        "recall of 0": sk.recall_score(y, label, pos_label=0, **own),
        "precision of 1": sk.precision_score(y, label, **own),
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-12), name
    numbers = evaluate(data["score"], data["number"], **own).metrics
    assert numbers["r2"].value == pytest.approx(sk.r2_score(data["score"], data["number"], **own))
    many = evaluate(*three, **own).metrics
    assert many["log_loss"].value == pytest.approx(sk.log_loss(*three, **own))
    area = sk.roc_auc_score(three[0] == "b", three[1][:, 1], **own)
    assert many["roc_auc of b"].value == pytest.approx(area)


@pytest.mark.parametrize(
    "given", [(), ("groups",), ("sample_weight",), ("groups", "sample_weight")]
)
def test_intervals_are_those_of_metric_interval(data, given):
    """The report has no interval of its own where `metric_interval` has a formula."""
    known = {"groups": data["groups"], "sample_weight": data["weight"]}
    options = {name: known[name] for name in given}
    y, p = data["y"], data["p"]
    label = (p >= 0.5).astype(int)
    found = evaluate(y, p, **options).metrics
    for name, function, predictions in (
        ("accuracy", sk.accuracy_score, label),
        ("f1_macro", partial(sk.f1_score, average="macro"), label),
        ("matthews_corrcoef", sk.matthews_corrcoef, label),
        ("roc_auc", sk.roc_auc_score, p),
    ):
        one = metric_interval(
            function, y, predictions, method="score" if given else "auto", **options
        )
        got = found[name].interval
        assert tuple(got) == pytest.approx(tuple(one.interval), abs=2e-6)


def test_the_positive_class_is_said(data):
    y, p = data["y"], data["p"]
    names = np.array(["sick", "well"])[1 - y]
    right, wrong = evaluate(names, p, pos_label="sick"), evaluate(names, p)
    assert right.metrics["roc_auc"].value == pytest.approx(1 - wrong.metrics["roc_auc"].value)
    assert "reversed" in [one.code for one in wrong.warnings]
    assert "reversed" not in [one.code for one in right.warnings]
    assert right.positive == "sick"
    frame = pd.DataFrame({"well": 1 - p, "sick": p})
    assert evaluate(names, frame, pos_label="sick").answer.value == pytest.approx(
        right.answer.value
    )


def test_columns_go_by_their_names(three):
    y, proba = three
    shuffled = pd.DataFrame(proba[:, [2, 0, 1]], columns=["c", "a", "b"])
    assert evaluate(y, shuffled).answer.value == pytest.approx(evaluate(y, proba).answer.value)


def test_probabilities_are_validated(data):
    y, p, groups = data["y"], data["p"], data["groups"]
    report = evaluate(y, p, groups=groups)
    alone = calibration_measures(y, p, groups=groups, random_state=0)
    for name, each in report.calibration.items():
        for side in ("low", "high"):
            end = getattr(each.interval, side)
            assert end == pytest.approx(getattr(alone[name].interval, side), rel=1e-9)
    assert len(report.to_frame("calibration")) == len(alone)
    extreme = evaluate(y, 1 / (1 + np.exp(-4 * (data["score"] - 0.7))))
    assert "are too extreme" in str(extreme)
    assert evaluate(y, data["score"]).calibration is None
    certain = np.where(np.arange(N) < 3, 1.0 - y, p)
    assert "impossible" in {one.code for one in evaluate(y, certain).warnings}


def test_a_threshold_makes_labels_of_scores(data, report):
    y, score = data["y"], data["score"]
    without, cut = evaluate(y, score), evaluate(y, score, threshold=0.7)
    assert without.confusion is None
    assert "accuracy" not in without.metrics
    assert cut.metrics["accuracy"].value == pytest.approx(np.mean(y == (score >= 0.7)))
    assert cut.confusion.counts.sum() == N
    assert report.threshold == 0.5


def test_subgroups_are_held_against_the_rest_with_few_false_discoveries(data):
    rng = np.random.default_rng(0)
    y = data["y"]
    label = np.where(data["p"] > 0.5, 1, 0)
    site = rng.integers(0, 4, N)
    label[site == 2] = 1 - y[site == 2]
    report = evaluate(y, label, by={"site": site, "half": np.arange(N) < 60})
    less = report.subgroups.less_the_rest
    assert list(less) == ["site: 0", "site: 1", "site: 2", "site: 3", "half: False", "half: True"]
    rest = np.mean((y != label)[site != 2])
    assert less["site: 2"].value == pytest.approx(1 - rest)
    assert less["site: 2"].details["pvalue_adjusted"] < 1e-3
    pvalues = np.array([each.details["pvalue"] for each in less.values()])
    adjusted = np.array([each.details["pvalue_adjusted"] for each in less.values()])
    assert (adjusted >= pvalues).all()
    assert "site: 2" in str(report)
    frame = report.to_frame("less_the_rest")
    assert list(frame["pvalue_adjusted"]) == pytest.approx(list(adjusted))


def test_scoring_takes_names_and_functions(data):
    y, p = data["y"], data["p"]
    scoring = {
        "brier_score": "neg_brier_score",
        "recall_weighted": "recall_weighted",
        "mine": sk.mean_absolute_error,
    }
    found = evaluate(y, p, scoring=scoring).metrics
    recall = sk.recall_score(y, (p >= 0.5).astype(int), average="weighted")
    assert found["recall_weighted"].value == pytest.approx(recall)
    assert found["brier_score"].value == pytest.approx(sk.brier_score_loss(y, p))


def test_what_a_reader_should_know_is_said(data, report):
    y, p, score = data["y"], data["p"], data["score"]

    def codes(*args, **kwargs):
        return {one.code for one in evaluate(*args, **kwargs).warnings}

    assert {one.code for one in report.warnings} == {"calibration"}  # the true slope is 1.5
    assert codes(y, score) == {"no-probabilities"}
    assert "constant-scores" in codes(y, np.full(N, 0.3))
    assert "copies" not in codes(y, p)
    assert "copies" in codes(pd.Series(y, index=np.arange(N) // 2), p)
    assert "few-groups" in codes(y, p, groups=np.arange(N) % 5)
    assert "never-predicted" in codes(y, np.zeros(N, dtype=int))
    assert "perfect" in codes(y, y)


@pytest.mark.parametrize("classes", [1, 2])
def test_a_class_that_is_only_predicted_is_not_rare(classes):
    """Nothing is measured of it, so it changes neither chance nor what counts."""
    order = np.random.default_rng(0).permutation(60)
    y = order % classes
    predicted = np.where(order % 4 == 3, classes, y)
    found = evaluate(y, predicted, kind="labels")
    assert found.rare_class is None
    assert {one.code for one in found.warnings} == {"undefined"}
    (absent,) = (one for one in found.warnings if one.title == "Classes without samples")
    assert absent.evidence.startswith(f"{classes} (")
    # the averages treat this class as the advice says
    mean = sk.f1_score(y, predicted, average="macro", zero_division=0)
    assert found.metrics["f1_macro"].value == pytest.approx(mean)
    recalls = [np.mean(predicted[y == k] == k) for k in range(classes)]
    assert found.metrics["balanced_accuracy"].value == pytest.approx(np.mean(recalls))
    beaten = classes == 2  # one answer is right for all samples of one class
    assert found.baseline.better == beaten
    assert ("better than" if beaten else "worse than") in found.verdict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": np.zeros((N, 2), dtype=int)}, "must have the shape of y_true"),
        ({"predictions": {"a": np.zeros(N)}}, "at least two models"),
        ({"predictions": np.zeros(N - 1)}, "same length"),
        ({"predictions": np.full(N, np.nan)}, "Leave these samples out"),
        ({"predictions": np.array(["a"] * N)}, "both contain"),
        ({"y_true": np.zeros(N, dtype=int)}, "two classes"),
        ({"predictions": np.linspace(0, 2, N), "kind": "probabilities"}, r"lie in \[0, 1\]"),
        ({"predictions": np.ones((N, 3))}, "compare_predictions"),
        ({"kind": "ranks"}, "kind must be"),
        ({"kind": "labels", "predictions": np.zeros(N, dtype=int), "threshold": 0.4}, "threshold"),
        ({"threshold": "best"}, "threshold must be"),
        ({"threshold": 90}, r"lie in \[0, 1\].*mean 0\.9"),
        ({"pos_label": 7}, "pos_label must be"),
        ({"sample_weight": np.zeros(N)}, "sample_weight"),
        ({"sample_weight": np.r_[0.0, np.ones(N - 1)]}, "Leave these samples out"),
        ({"groups": np.zeros(N)}, "two groups"),
        ({"by": np.zeros(3)}, "by must have"),
        ({"scoring": "r2_of_mine"}, "r2_of_mine"),
    ],
)
def test_a_broken_rule_is_named(data, change, message):
    arguments = {"y_true": data["y"], "predictions": data["p"]} | change
    with pytest.raises((ValueError, TypeError), match=message):
        evaluate(**arguments)


def mean_gap(y_true, y_pred):
    return float(np.mean(y_pred) - np.mean(y_true))


def test_the_call_repeats_the_numbers(data):
    report = evaluate(data["y"], data["p"], scoring={"d2": mean_gap})
    again = {}
    given = {"y_true": data["y"], "predictions": data["p"], "scoring": {"d2": mean_gap}}
    exec(report.call.replace("print(report)", ""), given, again)
    assert again["report"].metrics["d2"].interval == report.metrics["d2"].interval


def test_the_worst_samples_come_first(data, report):
    y, p = data["y"], data["p"]
    hard = report.hard_samples
    own = np.where(y == 1, p, 1 - p)
    wrong = np.flatnonzero(own < 0.5)
    assert set(hard.sample) == set(wrong)
    assert np.allclose(hard.wrong, 1 - own[hard.sample])
    assert (np.diff(hard.wrong) <= 0).all()
    assert not hard.suspect.any()


@pytest.mark.parametrize("threshold", [0.02, 0.1, 0.7, "youden"])
def test_the_worst_samples_are_those_farthest_beyond_the_threshold(data, threshold):
    y, p = data["y"], data["p"]
    report = evaluate(y, p, threshold=threshold)
    hard, called = report.hard_samples, p >= report.threshold
    assert set(hard.sample) == set(np.flatnonzero(called != (y == 1)))
    assert (np.diff(np.abs(p[hard.sample] - report.threshold)) <= 0).all()


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("labels", ["1", "0"]),
        ("probabilities", ["1", "0", "0.300"]),
        ("numbers", ["1,000,000", "1", "9.5"]),
    ],
)
def test_the_table_of_the_worst_samples_has_no_constant_column(kind, columns):
    y, predicted = np.arange(90) % 2, np.arange(90) % 2
    y[0], y[2] = 1, 1
    if kind == "probabilities":
        predicted = np.where(predicted, 0.9, 0.3)
    elif kind == "numbers":
        y, predicted = np.arange(90.0), np.arange(90.0) + 1
        y[0] = 1_000_020
    report = evaluate(y, predicted, kind=kind)
    tables = (table for section in report.sections for table in section.tables)
    (worst,) = (table for table in tables if table.head[:2] == ["sample", "true"])
    assert list(worst.rows[0][1:]) == columns
    assert len(worst.head) == len(worst.rows[0])


@pytest.mark.parametrize(("shift", "equal"), [(50, False), (0.25, True)])
def test_numbers_of_the_worst_samples_differ_if_they_are_written_apart(shift, equal):
    y = 1000 + np.zeros(90)
    report = evaluate(y + np.where(np.arange(90), 1e-9, shift) * np.tile([1, -1], 45), y)
    (truth,), (taken,) = report.hard_samples.truth, report.hard_samples.prediction
    assert float(truth) - float(taken) == shift
    assert (len(truth) > 5) == equal


def test_several_systems_are_compared_on_the_same_samples(data):
    y, p, groups = data["y"], data["p"], data["groups"]
    worse = np.clip(p + np.random.default_rng(5).normal(0, 0.3, N), 0, 1)
    given = {"one": p, "same": p, "worse": worse}
    found = evaluate(y, given, groups=groups)
    assert list(found) == ["one", "same", "worse"]
    alone = evaluate(y, worse, groups=groups)
    assert found["worse"].answer.interval == alone.answer.interval
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = compare_predictions(
            y, given, metric=sk.brier_score_loss, groups=groups, random_state=found.seed
        )
    assert found.comparison["one", "worse"].interval == pairs["one", "worse"].interval
    assert set(found.comparison.best) == {"one", "same"}
    assert len(found.to_frame("comparison")) == 3
    assert "worse" in found.to_latex("comparison", columns=["a", "b", "value"])
    assert r"\begin{tabular}" in found["one"].to_latex()
    assert "balanced accuracy" in found["one"].to_latex("metrics")
    assert r"balanced\_accuracy" not in found["one"].to_latex("metrics")
    for n_models, n_pairs in ((3, 3), (6, 15), (11, None)):
        many = evaluate(y, {f"system {k}": np.roll(p, k) for k in range(n_models)}, groups=groups)
        rows = {table.head[0]: table.rows for one in many.sections for table in one.tables}
        ranked = [t for one in many.sections for t in one.tables if t.head[1] == "rank"]
        assert [len(one.rows) for one in ranked] == ([n_models] if n_models > 5 else [])
        assert len(rows.get("pair", ())) == (n_pairs or 0)
        if n_pairs:  # the significant pairs first
            level, found_pairs = many.comparison.level, many.comparison.differences
            shown = [found_pairs[tuple(row[0].split(" - "))].pvalue for row in rows["pair"]]
            n_found = sum(pvalue <= level for pvalue in shown)
            assert 0 < n_found < n_pairs or n_models == 3
            assert max(shown[:n_found], default=0) <= level < min(shown[n_found:], default=1)
    frame = pd.DataFrame({"x": p, "z": worse})
    assert evaluate(y, frame).comparison.names == ("x", "z")
    for kind, each in (("labels", {k: (v > 0.5) * 1 for k, v in given.items()}), ("scores", given)):
        assert evaluate(y, each, kind=kind).comparison.scoring in ("accuracy", "roc_auc_score")
    with pytest.raises(ValueError, match="at least two models"):
        evaluate(y, {"one": p})
    with pytest.raises(ValueError, match="must all be of one kind"):
        evaluate(y, {"one": p, "labels": (p > 0.5) * 1})


def test_several_systems_of_three_classes_and_of_numbers(three):
    y, proba = three
    found = evaluate(y, {"one": proba, "flat": np.full_like(proba, 1 / 3)})
    assert found.comparison.best == ("one",)
    number = np.random.default_rng(6).normal(size=60)
    baselines = {"near": number + 0.1, "far": -number}
    assert evaluate(number, baselines).comparison.best == ("near",)


def test_a_subgroup_without_errors_need_not_differ_from_the_rest():
    """0 of 20 against 15 of 280 errors: Fisher's P is .61, that of plug-in errors was 7e-5."""
    truth = np.arange(300) % 2
    label = np.where((np.arange(300) >= 20) & (np.arange(300) < 35), 1 - truth, truth)
    less = evaluate(truth, label, by=np.arange(300) < 20).subgroups.less_the_rest
    for one in less.values():
        assert one.details["pvalue"] > 0.05
        assert one.interval.low < 0 < one.interval.high


@pytest.mark.parametrize("kind", [int, float])
def test_whole_numbers_of_a_class_that_the_truth_lacks_are_labels(kind):
    """As the same labels are as text."""
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 2, N), rng.integers(0, 3, N)
    found = evaluate(y.astype(kind), predicted.astype(kind))
    text = evaluate(y.astype(str), predicted.astype(str))
    assert found.kind == text.kind == "labels"
    for name in ("accuracy", "f1_macro", "cohen_kappa"):
        assert found.metrics[name].value == pytest.approx(text.metrics[name].value)
        assert tuple(found.metrics[name].interval) == pytest.approx(
            tuple(text.metrics[name].interval)
        )


@pytest.mark.parametrize("of_truth", [int, float, str, bool])
@pytest.mark.parametrize(
    "columns", [[0, 1], [0.0, 1.0], ["0", "1"], ["prediction_0", "prediction_1"]]
)
def test_columns_of_probabilities_are_matched_to_classes(data, of_truth, columns):
    y, p = data["y"], data["p"]
    if of_truth is bool and isinstance(columns[0], str):
        columns = [each.replace("0", "False").replace("1", "True") for each in columns]
    shares = np.column_stack([1 - p, p])
    wanted = evaluate(y, shares, pos_label=1).metrics
    for order in ([0, 1], [1, 0]):
        frame = pd.DataFrame(shares[:, order], columns=[columns[k] for k in order])
        found = evaluate(y.astype(of_truth), frame)
        assert found.kind == "probabilities"
        for name in ("roc_auc", "brier_score", "accuracy"):
            assert found.metrics[name].value == pytest.approx(wanted[name].value)


def test_two_columns_that_add_up_to_one_are_no_two_systems(data):
    y, p = data["y"], data["p"]
    frame = pd.DataFrame({"a": 1 - p, "b": p})
    with pytest.raises(ValueError, match="labels must contain the class name of each column"):
        evaluate(y, frame)
    assert evaluate(y, frame, labels=[0, 1]).kind == "probabilities"


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_probabilities_are_probabilities(data, three, dtype):
    for y, p in ((data["y"], data["p"]), three):
        found, wide = evaluate(y, p.astype(dtype)), evaluate(y, p)
        assert found.kind == "probabilities"
        assert found.answer.value == pytest.approx(wide.answer.value, rel=2e-3)
