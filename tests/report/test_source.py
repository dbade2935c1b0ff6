"""Values as source text: pasted, the text makes the same value again."""

from decimal import Decimal
from enum import IntEnum

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.report._source import SourceWriter

ESTIMATORS = [
    make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), SVC(C=0.5)),
    make_pipeline(SelectKBest(f_regression, k=3), FunctionTransformer(np.log1p)),
    make_column_transformer((OneHotEncoder(), [0, 2]), ("passthrough", [1])),
    GaussianNB(priors=np.array([0.25, 0.75])),
    GridSearchCV(SVC(), {"C": [0.1, 1.0], "kernel": ["rbf", "linear"]}, cv=StratifiedKFold(3)),
    VotingClassifier([("a", LogisticRegression(C=2.0)), ("b", GaussianNB())]),
    1.5 * RBF(0.1) + WhiteKernel(),
    SimpleImputer(missing_values=-1, fill_value=np.nan),
]
SPLITTERS = [
    StratifiedKFold(3, shuffle=True, random_state=1),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    TimeSeriesSplit(4, gap=1),
    LeaveOneGroupOut(),
    PredefinedSplit([0, 0, 1, 1]),
]


class OwnClassifier(ClassifierMixin, BaseEstimator):
    """An estimator with an argument that cannot be written."""

    def __init__(self, rule=None, alpha=1):
        self.rule, self.alpha = rule, alpha

    def fit(self, X, y):
        """Remember the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the first class, or what the rule says."""
        return self.classes_[self.rule(X)]


def double(x):
    return 2 * x


def paste(writer, text, **names):
    namespace = dict(names)
    exec("\n".join([*writer.imports, f"found = {text}"]), namespace)
    return namespace["found"]


@pytest.mark.parametrize("value", ESTIMATORS + SPLITTERS, ids=lambda value: type(value).__name__)
def test_pasted_text_makes_the_same(value):
    writer = SourceWriter()
    again = paste(writer, writer.write(value, "value"))
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert not writer.needed
    assert not any("._" in line for line in writer.imports)


@pytest.mark.parametrize(
    "value",
    [None, True, 1, -0.5, "a'\n", b"x", [1, (2,), {"a": {3}}], (), [], range(3), np.float32(0.5)],
)
def test_plain_values(value):
    writer = SourceWriter()
    assert paste(writer, writer.write(value, "value")) == value
    assert not writer.imports


def test_no_number_is_lost():
    values = [float("inf"), float("-inf"), float("nan"), np.float64("nan"), 0.1 + 0.2]
    writer = SourceWriter()
    np.testing.assert_array_equal(paste(writer, writer.write(values, "values")), values)


def test_long_text_is_broken_into_lines():
    writer = SourceWriter(40)
    text = writer.write(make_pipeline(StandardScaler(), SVC(C=0.5)), "model")
    assert max(map(len, text.splitlines())) <= 52  # 40 and the indent
    assert text.startswith(
        "Pipeline(\n    steps=[\n        ('standardscaler', StandardScaler()),\n"
    )


def test_what_cannot_be_written_is_needed():
    weights = np.arange(50.0)
    rule, other = (lambda x: 0), (lambda x: 1)
    values = [OwnClassifier(rule), OwnClassifier(other), double, weights, np.random.RandomState(0)]
    writer = SourceWriter()
    text = writer.write(values, "values")
    assert " at 0x" not in text
    assert writer.needed == {
        "rule": "function",
        "rule_2": "function",
        "values": "ndarray of shape (50,)",
        "values_2": "RandomState",
    }
    names = {"rule": rule, "rule_2": other, "values": weights, "values_2": values[-1]}
    again = paste(writer, text, **names)
    assert again[0].rule is rule
    assert again[1].rule is other
    assert again[2:] == [double, weights, values[-1]]


class Odd:
    """No estimator of scikit-learn's, though it looks like one."""

    def get_params(self):
        """Take no argument."""
        raise AttributeError("no parameters")


class Level(IntEnum):
    HIGH = 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Odd(), "Odd"),
        (Level.HIGH, "Level"),
        (Decimal(1), "Decimal"),
        (np.array([1], dtype=np.float32), "ndarray of shape (1,)"),
        (np.array([None]), "ndarray of shape (1,)"),
        (list(range(99)), "list of length 99"),
        (iter([]), "list_iterator"),
    ],
)
def test_odd_values_are_needed(value, kind):
    writer = SourceWriter()
    assert writer.write(value, "odd") == "odd"
    assert writer.needed == {"odd": kind}
    assert SourceWriter().write(value, "not a name") == "value"


def test_two_classes_of_one_name():
    first, second = (
        type("Twin", (OwnClassifier,), {"__module__": module}) for module in ("one", "__main__")
    )
    writer = SourceWriter()
    assert writer.write([first(), second()], "twins") == "[Twin(), Twin_2()]"
    assert writer.needed == {"Twin": "Twin of one", "Twin_2": "Twin of __main__"}
    assert not writer.imports


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), np.tile([0, 1], 20)


def test_program_of_a_report_runs_as_it_is(data, capsys):
    X, y = data
    groups = np.repeat(np.arange(20), 2)
    rule = lambda X: (X[:, 0] > 0).astype(int)  # noqa: E731
    options = {"cv": 2, "n_bootstraps": 2, "n_permutations": 0, "groups": groups}
    first = skeval.evaluate(
        make_pipeline(StandardScaler(), OwnClassifier(rule)), X, y, random_state=1, **options
    )
    assert "# X: ndarray of shape (40, 3)\n" in first.call
    assert "object at" not in first.call + first.estimator
    again = {"X": X, "y": y, "groups": groups, "rule": rule}
    exec(first.call, again)
    assert again["report"].to_dict() == first.to_dict()
    assert capsys.readouterr().out == f"{first}\n"


def test_program_of_a_comparison_runs_as_it_is(data):
    X, y = data
    models = {"bayes": GaussianNB(), "svm": make_pipeline(StandardScaler(), SVC(kernel="linear"))}
    options = {"cv": 2, "n_bootstraps": 2, "n_permutations": 0, "n_perturbations": 0}
    first = skeval.evaluate(models, X, y, random_state=1, **options)
    again = {"X": X, "y": y}
    exec(first.call, again)
    assert again["report"].to_dict() == first.to_dict()
