"""Programs that repeat a report, and names of estimators."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.report._report import describe_run

OBJECTS = [
    make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), SVC(C=0.5)),
    make_pipeline(*[StandardScaler(with_mean=False) for _ in range(25)], GaussianNB()),
    make_column_transformer((OneHotEncoder(), [0, 2]), ("passthrough", [1])),
    GaussianNB(priors=np.array([0.25, 0.75])),
    GridSearchCV(SVC(), {"C": [0.1, 1.0], "kernel": ["rbf", "linear"]}, cv=StratifiedKFold(3)),
    VotingClassifier([("a", LogisticRegression(C=2.0)), ("b", GaussianNB())]),
    StratifiedKFold(3, shuffle=True, random_state=1),
    TimeSeriesSplit(4, gap=1),
    LeaveOneGroupOut(),
    PredefinedSplit([0, 0, 1, 1]),
]


class OwnClassifier(ClassifierMixin, BaseEstimator):
    """An estimator with a function as argument."""

    def __init__(self, rule=None):
        self.rule = rule

    def fit(self, X, y):
        """Store the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the class that the rule chooses."""
        return self.classes_[self.rule(X)]


def run_program(made, **names):
    """Return the arguments that the program of a report passes."""
    program = made["call"].replace("print(report)", "").replace("skeval.evaluate(", "dict(")
    exec(program, names)
    return names["report"]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: type(value).__name__)
def test_objects_are_written_as_source_text(value):
    made = describe_run("skeval.evaluate", {"X": [1], "cv": value}, 0)
    program = made["call"].replace("    X,\n", "    X=X,\n")
    again = run_program(made | {"call": program}, X=[1])["cv"]
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert not any("._" in line for line in made["call"].splitlines() if "import" in line)


@pytest.mark.parametrize(
    "value",
    [None, True, -0.5, "a'\n", b"x", [1, (2,), {"a": {3}}], (), range(3), np.float32(0.5), np.inf],
)
def test_plain_values_are_written_by_their_repr(value):
    made = describe_run("skeval.evaluate", {"loss": value}, 0)
    assert run_program(made).get("loss") == value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (lambda x: x, "function"),
        (np.arange(50.0), "ndarray of shape (50,)"),
        (list(range(99)), "list of length 99"),
        ([(np.arange(2), np.arange(2))], "list of length 1"),
        (np.random.RandomState(0), "RandomState"),
    ],
)
def test_values_without_source_text_are_listed(value, kind):
    made = describe_run("skeval.evaluate", {"groups": value, "scoring": np.ptp}, 0)
    assert made["settings"]["groups"] == "groups"
    assert run_program(made, ptp=np.ptp, groups=0)["scoring"] is np.ptp
    assert f"# groups: {kind}" in made["call"].splitlines()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), np.tile([0, 1], 20)


def test_program_of_a_report_repeats_it(data):
    X, y = data
    rule = lambda X: (X[:, 0] > 0).astype(int)  # noqa: E731
    options = {"cv": 2, "include": [], "groups": np.repeat(np.arange(20), 2)}
    model = make_pipeline(StandardScaler(), OwnClassifier(rule))
    first = skeval.evaluate(model, X, y, random_state=np.random.default_rng(5), **options)
    assert "# X: ndarray of shape (40, 3)\n" in first.call
    assert " at 0x" not in first.call + first.estimator
    names = {"X": X, "y": y, "groups": options["groups"], "estimator": model}
    exec(first.call, names)
    assert names["report"].to_dict() == first.to_dict()


def test_program_of_a_comparison_repeats_it(data):
    X, y = data
    models = {"bayes": GaussianNB(), "svm": make_pipeline(StandardScaler(), SVC(kernel="linear"))}
    first = skeval.evaluate(models, X, y, cv=2, include=[], random_state=1)
    names = {"X": X, "y": y}
    exec(first.call, names)
    assert names["report"].to_dict() == first.to_dict()
    assert all(one.call == first.call for one in first.reports.values())


def test_the_methods_name_the_changed_parameters_of_all_steps(data):
    X, y = data
    scaled = make_column_transformer((make_pipeline(SimpleImputer(strategy="median")), [0, 1]))
    model = make_pipeline(scaled, SelectKBest(f_regression, k=1), SVC(kernel="linear"))
    models = {"one": model, "two": SVC()}
    text = skeval.evaluate(models, X, y, cv=2, include=[], random_state=0).to_methods()
    for part in ("strategy='median'", "k=1", "kernel='linear'", "two was SVC."):
        assert part in text
    # each reference has its own number
    numbers = re.findall(r"^\[(\d+)\]", text, flags=re.MULTILINE)
    assert len(numbers) == len(set(numbers)) > 1
    cited = set(re.findall(r"\[(\d+)\]\.", text)) | set(re.findall(r"\[(\d+)\] The", text))
    assert cited == set(numbers)


LONG = make_pipeline(SelectKBest(f_regression, k=3), *OBJECTS[1])


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (make_pipeline(StandardScaler(), "passthrough", SVC(C=2)), "StandardScaler → SVC"),
        (GridSearchCV(make_pipeline(SVC()), {}, cv=2), "GridSearchCV of SVC"),
        (BaggingClassifier(n_estimators=2), "BaggingClassifier"),
        (LONG, "SelectKBest → StandardScaler → StandardScaler → …"),
    ],
    ids=["steps", "search", "ensemble", "long"],
)
def test_an_estimator_has_a_short_name_and_is_written_on_one_line(data, estimator, expected):
    options = {"cv": 2, "include": [], "n_permutations": 0, "random_state": 0}
    report = skeval.evaluate(estimator, *data, **options)
    assert report.estimator_name == expected
    assert ("k=3" in report.to_methods()) == (estimator is LONG)
    assert "\n" not in report.estimator
    assert " at 0x" not in report.estimator
    if estimator is LONG:
        assert report.estimator.count("StandardScaler(with_mean=False)") == 25


def test_infinity_is_a_string_and_nan_is_null(tmp_path):
    report = skeval.evaluate_predictions(np.arange(20) % 2, np.arange(20) % 3 // 2, random_state=0)
    baseline = replace(report.baseline, error=np.nan, low=-np.inf, high=np.inf)
    text = replace(report, baseline=baseline).to_json(tmp_path / "report.json")
    written = json.loads(text)["baseline"]
    assert (written["error"], written["low"], written["high"]) == (None, "-Infinity", "Infinity")
    assert (tmp_path / "report.json").read_text() == text + "\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"target": "y"}, "'target'"),
        ({"scorings": "f1"}, "'scoring'"),
        ({"estimator": [LogisticRegression(), LogisticRegression()]}, "dict"),
        ({"y": "label ~ a + b"}, "frame['label']"),
        ({"y": ["yes", "Yes", "no", "no"]}, "'Yes' and 'yes'"),
    ],
)
def test_calls_that_mean_something_else_name_what_exists(arguments, named):
    call = {"estimator": LogisticRegression(), "X": np.zeros((4, 1)), "y": [0, 1, 0, 1]}
    with pytest.raises((TypeError, ValueError)) as caught:
        skeval.evaluate(**(call | arguments))
    assert named in str(caught.value)
