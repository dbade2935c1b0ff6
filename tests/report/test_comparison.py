"""evaluate of several estimators: the same folds, side by side, and all pairs."""

import json
import pickle
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.html import Document
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import skeval
from skeval.model_selection import compare_predictions, metric_interval, new_site_error
from skeval.utils._text import write_number

FEW = {"cv": 3, "n_permutations": 0, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def found(data):
    estimators = {"bayes": GaussianNB(), "one": KNeighborsClassifier(1)}
    return skeval.evaluate(estimators, *data, **FEW)


def test_each_report_is_that_of_the_estimator_alone(data, found):
    """Repeats are added for all estimators until none needs more; those of both are the same."""
    alone = skeval.evaluate(GaussianNB(), *data, **FEW).predictions
    assert list(found) == ["bayes", "one"]
    np.testing.assert_array_equal(found["bayes"].predictions[: len(alone)], alone)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    models = {"bayes": GaussianNB(), "one": KNeighborsClassifier(1)}
    given = skeval.evaluate(models, *data, **FEW | {"cv": folds})
    alone = skeval.evaluate(GaussianNB(), *data, **FEW | {"cv": folds})
    assert given["bayes"].to_dict() == alone.to_dict()


def test_equal_models_have_no_p_value():
    y = np.arange(40) % 2
    p = np.linspace(0.2, 0.8, 40)[np.argsort(np.argsort(y, kind="stable"))]
    report = skeval.evaluate_predictions(y, {"a": p, "b": p, "c": 1 - p}, random_state=0)
    by_pair = {row["pair"]: row for row in report.measures if row["measure"] == "Brier score"}
    tables = [table for section in report.sections for table in section.tables]
    pairs = {row[0]: row[-1] for table in tables if table.head[0] == "pair" for row in table.rows}
    measures = {
        row[:2]: row[-1] for table in tables if table.head[0] == "measure" for row in table.rows
    }
    assert pairs["a - b"] == "--"
    assert pairs["a - c"] != "--"
    assert measures["area under the ROC curve", "a - b"] == "--"
    assert by_pair == {}  # it is the main estimate


def test_the_comparison_of_test_sets_has_the_weights_of_the_estimates(data):
    """The rows of the rarer class weigh so much that always predicting it is best."""
    X, y = data[0][:80], data[1][:80]
    models = {one: DummyClassifier(strategy="constant", constant=one) for one in ("a", "b")}
    weight = np.where(y == "a", 1.0, 3.0)
    found = skeval.evaluate(models, X, y, sample_weight=weight, **FEW)
    assert found["b"].answer.value == pytest.approx(50 / 140)
    assert found.comparison["b", "a"].value == pytest.approx(40 / 140, abs=0.01)


def test_the_comparison_in_time_has_the_weights_of_the_estimates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y, weight = X[:, 0] + rng.normal(size=120), rng.uniform(0.1, 3, 120)
    options = {"cv": TimeSeriesSplit(4), "sample_weight": weight, "random_state": 0}
    found = skeval.evaluate({"ridge": Ridge(), "mean": DummyRegressor()}, X, y, **options)
    assert found.comparison.method == "time_blocks"
    expected = [-report.answer.value for report in found.values()]
    assert found.comparison.values == pytest.approx(expected)


class Fails(GaussianNB):
    """A classifier whose fit fails unless a sample is in the training set."""

    def __init__(self, needed=0.0):
        super().__init__()
        self.needed = needed

    def fit(self, X, y, sample_weight=None):
        if not np.any(X[:, 0] == self.needed):
            raise ValueError("the sample that is needed is missing")
        return super().fit(X, y, sample_weight)


@pytest.mark.filterwarnings("ignore")
def test_scores_of_different_test_sets_are_not_paired(data):
    X, y = np.column_stack([np.arange(100), data[0][:100]]), data[1][:100]
    models = {"first": Fails(3.0), "second": Fails(50.0)}
    options = FEW | {"scoring": ["f1_macro"], "error_score": np.nan}
    assert skeval.evaluate(models, X, y, **options).comparison is None


def test_pairs_are_compared_on_the_same_test_sets(found):
    frames = [found[name].predictions for name in found]
    np.testing.assert_array_equal(frames[0]["sample"], frames[1]["sample"])
    right = [
        (f["truth"] == f["prediction"]).groupby([f["repeat"], f["fold"]]).mean() for f in frames
    ]
    differences = (right[0] - right[1]).to_numpy()
    pair = found.comparison["bayes", "one"]
    assert pair.value == pytest.approx(differences.mean(), abs=1e-12)
    n_repeats = frames[0]["repeat"].nunique()
    assert len(differences) == 3 * n_repeats
    error = differences.std(ddof=1) * np.sqrt(1 / (3 * n_repeats) + 1 / 2)
    assert pair.standard_error == pytest.approx(error, rel=1e-9)
    low, high = -100 * pair.interval.high, -100 * pair.interval.low  # of errors, not accuracies
    assert found.verdict == (
        f'No significant difference in error rate (P = {pair.pvalue:#.2g}): "bayes" minus "one" is '
        f"{-100 * pair.value:.1f} percentage points (95 % CI {low:.1f} to {high:.1f}). This is not "
        'evidence that they are equal. Both beat always predicting "a" (66.7 %).'
    )
    assert found.verdict in str(found)


def test_it_is_written_in_every_form(found):
    again = json.loads(found.to_json())
    assert list(again["reports"]) == ["bayes", "one"]
    assert again["comparison"]["differences"][0]["a"] == "bayes"
    frame = found.to_frame()
    assert frame.loc["one", "error"] == found["one"].answer.value
    page = found.to_html()
    assert found.headline in Document(page).text
    better = 'Error rate: 2 of 2 models are significantly better than always predicting "a"'
    assert better in Document(page).text
    assert "significantly" in page
    assert pickle.loads(pickle.dumps(found)).verdict == found.verdict
    with pytest.raises(KeyError, match=r"no 'x'[.] There are"):
        found["x"]


def test_samples_in_order_are_compared_by_blocks_of_time(data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(y))
    models = {"bayes": GaussianNB(), "one": KNeighborsClassifier(1)}
    found = skeval.evaluate(models, X[order], y[order], **FEW | {"cv": TimeSeriesSplit(3)})
    difference = found.comparison["bayes", "one"]
    errors = [found[name].answer.value for name in found]
    assert found.comparison.method == "time_blocks"
    assert difference.value == pytest.approx(errors[1] - errors[0])
    assert difference.n_samples == found["one"].answer.n_samples


@pytest.mark.parametrize(
    ("estimators", "rule"),
    [
        ({"a": GaussianNB()}, "at least two estimators"),
        ({"a": GaussianNB(), "b": Ridge()}, "classifiers only or regressors only"),
        ({"a": GaussianNB(), "b": 3}, r"estimator\['b'\]"),
        ({1: GaussianNB(), "1": GaussianNB()}, "must differ when written as text"),
    ],
)
def test_what_is_refused(data, estimators, rule):
    with pytest.raises((ValueError, TypeError), match=rule):
        skeval.evaluate(estimators, *data, **FEW)


def test_a_warning_of_all_stands_once_and_that_of_one_names_it():
    """A reader of five estimators does not read five times that the rows are sorted."""
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=(20, 19)), np.zeros(20)]), rng.normal(size=20)
    systems = {"least": LinearRegression(), "ridge": Ridge()}
    report = skeval.evaluate(systems, X, y, include=(), **FEW)
    of_one, of_other = (
        [(w.code, str(w), w.headline) for w in report[name].warnings] for name in systems
    )
    told = [(w.code, str(w), w.headline) for w in report.warnings]
    assert len(set(told)) == len(told)
    assert {code for code, *_ in set(of_one) & set(of_other)} >= {"constant"}
    assert set(of_one) & set(of_other) == set(told) & set(of_one)
    named = {
        (code, text.replace(":", f" ({name}):", 1), headline)
        for name, own, others in (("least", of_one, of_other), ("ridge", of_other, of_one))
        for code, text, headline in set(own) - set(others)
    }
    assert {code for code, *_ in named} >= {"undetermined"}
    assert named == set(told) - set(of_one)
    assert any(headline for code, _, headline in told if code == "undetermined")


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers_are_compared_in_the_unit_of_the_target(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = 1000 * (X[:, 0] + 0.3 * rng.normal(size=120))
    systems = {"fit": Ridge(), "mean": DummyRegressor()}
    folds = RepeatedKFold(n_splits=5, n_repeats=5, random_state=0)
    report = skeval.evaluate(systems, X, y, loss=loss, include=(), cv=folds, random_state=0)
    name = "root mean squared error" if loss == "squared" else "mean absolute error"
    start = f'"fit" has a significantly lower {name} than "mean" (P < 0.001'
    assert report.verdict.startswith(start)
    pairs = [table for section in report.sections for table in section.tables][1]
    value, interval = pairs.rows[0][1:3]
    errors = [one.answer.value for one in report.values()]
    errors = np.sqrt(errors) if loss == "squared" else errors
    assert value == pytest.approx(errors[0] - errors[1], rel=1e-9)
    assert interval.low < value < interval.high < 0
    assert f"difference in {name}" in str(report)
    assert "neg_" not in str(report)


def draw_two_systems(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    scores = {name: rng.normal(shift * y - 1) for name, shift in (("old", 1.0), ("new", 2.0))}
    return y, {name: 1 / (1 + np.exp(-score)) for name, score in scores.items()}


def test_two_systems_are_compared_by_every_measure():
    y, chances = draw_two_systems()
    report = skeval.evaluate_predictions(y, chances, random_state=0)
    rows = {row["measure"]: row for row in report.measures}
    # areas by DeLong, shares by the samples that they count
    area = rows["area under the ROC curve"]
    delong = compare_predictions(y, chances, method="delong").differences["old", "new"]
    assert area["difference"] == pytest.approx(delong.value)
    assert area["low"] == pytest.approx(delong.interval.low, abs=0.01)
    called = {name: chance >= 0.5 for name, chance in chances.items()}
    true = y == 1
    for measure, kept, right in (("sensitivity", true, True), ("specificity", ~true, False)):
        expected = np.mean(called["old"][kept] == right) - np.mean(called["new"][kept] == right)
        assert rows[measure]["difference"] == pytest.approx(expected)
    # at the prevalence, or at the threshold, because at 0.5 it is the difference in errors
    for threshold, cut in ((0.5, np.mean(y)), (0.2, 0.2)):
        other = skeval.evaluate_predictions(y, chances, threshold=threshold, random_state=0)
        ((name, row),) = [
            (row["measure"], row) for row in other.measures if "benefit" in row["measure"]
        ]
        assert name == f"net benefit at {cut:.3g}"
        treated = [chance >= cut for chance in chances.values()]
        benefit = [np.mean(one & true) - cut / (1 - cut) * np.mean(one & ~true) for one in treated]
        assert row["difference"] == pytest.approx(benefit[0] - benefit[1])
    # each model is compared with the baseline by its paired interval
    for one in report.values():
        text = " ".join(" ".join([*each.sentences, *each.explains]) for each in one.sections)
        assert abs(one.baseline.difference) > 0.001
        assert f"{abs(one.baseline.difference):.3f}" in text
    assert "Brier score" not in rows  # it is the metric of the verdict
    # one axes for each curve, without an entry twice
    (section,) = [one for one in report.sections if one.heading.startswith("Differences by")]
    assert len(section.figures) == 3
    for figure in section.figures:
        ax = plt.figure().subplots()
        figure.draw(ax=ax)
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(set(texts)) == len(texts)
        assert sum(text.startswith(("old", "new")) for text in texts) == 2
        assert not [shade for shade in ax.collections if "band of" in str(shade.get_label())]
        plt.close(ax.figure)


def test_estimators_are_compared_by_test_sets_and_by_the_requested_score():
    y, chances = draw_two_systems()
    X = np.column_stack([*chances.values()])
    models = {"nb": GaussianNB(), "lr": LogisticRegression()}
    options = {"cv": 4, "include": [], "n_permutations": 0, "random_state": 0}
    report = skeval.evaluate(models, X, y, scoring="roc_auc", **options)
    assert "in area under the ROC curve" in report.headline or "higher area" in report.headline
    measures = [row["measure"] for row in report.measures]
    assert "area under the ROC curve" not in measures
    assert "error rate" in measures
    # the error of a fit is that of its test set
    frames = [report[name].predictions for name in models]
    errors = [
        (one["truth"] != one["prediction"]).groupby([one["repeat"], one["fold"]]).mean()
        for one in frames
    ]
    (error,) = [row for row in report.measures if row["measure"] == "error rate"]
    assert error["difference"] == pytest.approx((errors[0] - errors[1]).mean())
    assert report.to_dict()["measures"][0]["pair"] == "nb - lr"


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "f1"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_a_requested_metric_of_predictions_orders_and_compares_them(scoring, pos_label):
    y, chances = draw_two_systems()
    y = y if pos_label else 1 - y
    words, metric = np.array(["no", "yes"])[y], get_scorer(scoring)._score_func
    options = {"pos_label": "yes" if pos_label else "no", "scoring": scoring}
    report = skeval.evaluate_predictions(words, chances, random_state=0, **options)
    event = (y == pos_label).astype(int)
    made = {name: chance >= 0.5 if scoring == "f1" else chance for name, chance in chances.items()}
    values = {name: metric(event, one) for name, one in made.items()}
    pair = report.comparison["old", "new"]
    assert pair.value == pytest.approx(values["old"] - values["new"])
    assert pair.greater_is_better == (scoring != "neg_log_loss")
    assert [*report.estimates] == ["new", "old"]  # the better one first
    for name, estimate in report.estimates.items():
        assert estimate.value == pytest.approx(values[name])


def test_one_metric_decides_whether_systems_beat_the_baseline():
    """Areas above 1/2 do not make up for a Brier score that is worse than the prevalence's."""
    y, chances = draw_two_systems()
    chances = {name: chance**0.05 for name, chance in chances.items()}  # far too high
    report = skeval.evaluate_predictions(y, chances, random_state=0)
    assert min(one.metrics["roc_auc"].value for one in report.values()) > 0.7
    assert "Both are worse than always predicting the class frequencies" in report.verdict
    assert "0 of 2 models are significantly better" in report.to_markdown()
    by_area = skeval.evaluate_predictions(y, chances, scoring="roc_auc", random_state=0)
    assert "the area under the ROC curve, both beat chance" in by_area.verdict
    assert "2 of 2 models are significantly better than chance" in by_area.to_markdown()


def test_estimators_with_a_rare_class_are_compared_by_the_area_of_test_sets():
    y, chances = draw_two_systems(400)
    y[np.flatnonzero(y)[:70]] = 0
    X = np.column_stack([*chances.values()])
    models = {"nb": GaussianNB(), "constant": DummyClassifier()}
    report = skeval.evaluate(models, X, y, cv=4, include=[], n_permutations=0, random_state=0)
    assert report.deciding == "roc_auc"
    frame = report["nb"].predictions.groupby(["repeat", "fold"])
    areas = [roc_auc_score(one["truth"], one["score_1"]) for _, one in frame]
    assert report.comparison["nb", "constant"].value == pytest.approx(np.mean(areas) - 0.5)
    assert '"nb" beats chance' in report.verdict


def test_curves_of_grouped_systems_have_the_bands_of_groups():
    """Rows that repeat a patient five times must not make the bands narrower."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    score = 1 / (1 + np.exp(-(y + rng.normal(size=60))))
    systems = {"a": score, "b": 1 / (1 + np.exp(-(y + rng.normal(size=60))))}
    times = np.repeat(np.arange(60), 5)
    repeated = {name: values[times] for name, values in systems.items()}
    widths = []
    for truth, each, groups in ((y, systems, None), (y[times], repeated, times)):
        report = skeval.evaluate_predictions(truth, each, groups=groups, random_state=0)
        section = next(one for one in report.sections if "other measures" in one.heading)
        ax = Figure().subplots()
        section.figures[0].draw(ax=ax)
        band = ax.collections[0].get_paths()[0].vertices
        widths.append(np.ptp(band[np.abs(band[:, 0] - 0.5) < 0.02, 1]))
    assert widths[1] > 0.8 * widths[0]


def test_subgroups_of_two_systems_are_in_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    y = rng.normal(0, 100, 80)
    systems = {"a": y + rng.normal(0, 30, 80), "b": y + rng.normal(0, 40, 80)}
    report = skeval.evaluate_predictions(y, systems, by=np.arange(80) % 2)
    table = next(one for one in report.sections if one.heading == "By subgroup").tables[0]
    row, name = table.rows[0], next(iter(report.subgroups["a"]))
    part = (np.arange(80) % 2).astype(str) == str(name)
    assert table.head[3] == "root mean squared error"
    assert row[3] == pytest.approx(np.sqrt(np.mean((y - systems["a"])[part] ** 2)))


def test_significance_without_an_interval_that_excludes_0_is_explained():
    """P-values of three systems step down, and simultaneous intervals do not."""
    n_explained = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=80)
        systems = {name: y + rng.normal(0, s, 80) for name, s in (("a", 1), ("b", 1.3), ("c", 2))}
        report = skeval.evaluate_predictions(y, systems, kind="numbers", random_state=0)
        differences = report.comparison.differences.values()
        steps = any(one.pvalue <= 0.05 and one.interval.high >= 0 for one in differences)
        (section,) = (one for one in report.sections if "pairs differ" in one.heading)
        assert bool(section.sentences) == steps
        n_explained += steps
    assert 0 < n_explained < 12


def test_each_of_many_models_has_its_own_color_line_and_marker():
    y, chances = draw_two_systems()
    systems = {f"m{n}": chances["new"] ** (1 + n / 5) for n in range(6)}
    for n in (2, 6):
        few = dict(list(systems.items())[:n])
        report = skeval.evaluate_predictions(y, few, random_state=0)
        (section,) = [one for one in report.sections if one.heading.startswith("Differences by")]
        for figure in section.figures:
            colors = set(re.findall(r"var\(--(series-\d)\)", figure.drawn[0]))
            assert len(colors) == n
            ax = plt.figure().subplots()
            figure.draw(ax=ax)
            lines = [line for line in ax.lines if line.get_marker() not in ("None", "_")]
            assert len(lines) == len({line.get_marker() for line in lines}) == n
            assert len({str(line._dash_pattern) for line in lines}) == n
            # intervals of many models cover each other
            assert (len(ax.collections) > 0) == (n == 2)
            plt.close(ax.figure)


def test_errors_say_what_to_write_instead(data, found):
    X, y = data
    with pytest.raises(AttributeError, match=r"report\['bayes'\]\.metrics\.accuracy"):
        found.accuracy  # noqa: B018
    with pytest.raises(AttributeError, match=r"report\.metrics\.accuracy"):
        found["bayes"].accuracy  # noqa: B018
    with pytest.raises(AttributeError, match=r"'nothing'$"):
        found.nothing  # noqa: B018
    assert not hasattr(found, "__array__")
    column = pd.Series(X[:, 0], name="width")
    with pytest.raises(ValueError, match=r"to_frame\(\) or data\[\['width'\]\]"):
        skeval.evaluate(GaussianNB(), column, y, **FEW)
    with pytest.raises(TypeError, match="'groups'"):
        new_site_error(GaussianNB(), X, y, sites=np.arange(len(y)) % 5)
    with pytest.raises(TypeError, match="y_true == 'a'"):
        metric_interval("f1", y, y, pos_label="a")


def test_models_without_probabilities_have_no_curves_of_them(tmp_path):
    X, y = make_classification(100, flip_y=0.3, random_state=0)
    models = {"svc": SVC(), "bayes": GaussianNB()}
    report = skeval.evaluate(models, X, y, scoring="f1", random_state=0, budget=8)
    page = tmp_path / "report.html"
    report.to_html(page)
    text = page.read_text(encoding="utf-8")
    assert "net benefit of each model" in text
    assert "could not be drawn" not in text
    # the verdict has the number of the table
    three = skeval.evaluate(models | {"knn": KNeighborsClassifier()}, X, y, scoring="f1", cv=3)
    best = three.comparison.best[0]
    assert write_number(three[best].metrics["f1"].value) in three.verdict
