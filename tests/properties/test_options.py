"""Whatever comes in, data, options or estimators: a value, or an error that says what is wrong."""

import inspect
from functools import partial

import numpy as np
import pytest
from helpers import hostile
from helpers.crossed import each_value
from helpers.families import FAMILIES, REEXPORTED, is_result, public_names, with_options_of
from helpers.outcomes import Refused, assert_value_or_error, options_of
from helpers.sound import SOUND, sound_calls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.metrics import get_scorer, probability_cost
from skeval.model_selection import BootstrapSplit, GroupTimeSeriesSplit, holdout_size

NONSENSE = [None, True, False, -1, 0, 1, 2, 0.5, 1.5, -0.0, np.nan, np.inf, -np.inf, np.int64(2)]
NONSENSE += ["", "nonsense", b"bytes", 1j, (), [], {}, [0.5], ["x"], np.array([1, 2]), np.zeros(0)]
NONSENSE += [object(), KFold(2), np.eye(2), [[]], range(3)]
# A rule that reads no option at all is caught by any of these values; each case takes its share of
# them, the next case the next, so that every value is tried in a twelfth of the cases.
SHARES = [[*NONSENSE[start::12], object()] for start in range(12)]
# What runs for ever if it is asked to, or speaks to a service, is not an error.
SETTINGS = {"n_jobs", "verbose", "memory"}


def optional(function):
    """Return the names of the options of a function of data that are not bound."""
    parameters = inspect.signature(function).parameters
    if hasattr(function, "options_of"):
        parameters = inspect.signature(options_of(function)).parameters
    return [
        name
        for name, parameter in parameters.items()
        if parameter.default is not parameter.empty and name not in SETTINGS
    ]


CASES = [(family, name) for family, name, _ in sound_calls() if name not in REEXPORTED]


def assert_reads_option(family, name, option, values):
    function, data = FAMILIES[family][name], SOUND.get(name, SOUND[family])
    with parallel_config(backend="threading"):
        found = [
            assert_value_or_error(function, *data, theirs=True, **{option: value})
            for value in values
        ]
    assert any(isinstance(each, Refused) for each in found), f"nothing reads {option}"


@pytest.mark.parametrize(("family", "name"), CASES)
def test_options(family, name):
    for number, option in enumerate(optional(FAMILIES[family][name]), len(name)):
        assert_reads_option(family, name, option, SHARES[number % 12])


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), CASES)
def test_options_of_every_value(family, name):
    for option in optional(FAMILIES[family][name]):
        assert_reads_option(family, name, option, NONSENSE)


@pytest.mark.parametrize(("family", "name"), CASES)
def test_settings(family, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # memory="nonsense" is a folder
    taken = inspect.signature(options_of(FAMILIES[family][name])).parameters
    for number, option in enumerate(sorted(SETTINGS & set(taken)), len(name)):
        values = [["nonsense", 1.5, object()], [[], object()]][number % 2]
        assert_reads_option(family, name, option, values)


class Predicting(RegressorMixin, BaseEstimator):
    """Predicts what it is told to."""

    def __init__(self, told):
        self.told = told

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.told(len(X))


class Classifying(ClassifierMixin, Predicting):
    """The same, and calls itself a classifier."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


class Untagged:
    """Has the methods, and nothing else that scikit-learn asks for."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def fit_predict(self, X):
        return np.zeros(len(X), dtype=int)


TOLD = {
    "nothing": lambda n: None,
    "nan": lambda n: np.full(n, np.nan),
    "infinity": lambda n: np.full(n, np.inf),
    "unknown": lambda n: np.full(n, 7),
    "words": lambda n: np.full(n, "word"),
    "too few": lambda n: np.zeros(n - 1),
    "columns": lambda n: np.zeros((n, 2)),
}
NO_ESTIMATORS = {
    "None": None,
    "a number": 3,
    "a name": "nonsense",
    "a dict": {},
    "an object": object(),
    "a class": SVC,
    "a splitter": KFold(2),
    "a transformer": StandardScaler(),
    "untagged": Untagged(),
    **{f"regressor of {name}": Predicting(told) for name, told in TOLD.items()},
    **{f"classifier of {name}": Classifying(told) for name, told in TOLD.items()},
}


@each_value
@pytest.mark.parametrize("kind", NO_ESTIMATORS)
@pytest.mark.parametrize(
    ("family", "name"),
    [
        (family, name)
        for family in ("supervised", "unsupervised")
        for name, function in FAMILIES[family].items()
        if isinstance(function, partial)
    ],
)
def test_estimators(family, name, kind):
    bound = FAMILIES[family][name]
    function = partial(bound.func, NO_ESTIMATORS[kind], *bound.args[1:], **bound.keywords)
    assert_value_or_error(function, *SOUND[family], theirs=True)


def splits_of(splitter):
    @with_options_of(splitter)
    def splits(**options):
        return list(splitter(**options).split(*SOUND["supervised"]))

    return splits


# Calls without data, by name: the function, and arguments that it takes.
CALLS = {
    "probability_cost": (probability_cost, {"prior": 0.2}),
    "holdout_size": (holdout_size, {"error": 0.1, "half_width": 0.03}),
    "make_gaussian_classes": (make_gaussian_classes, {"n_samples": 20, "n_features": 3}),
    "get_scorer": (get_scorer, {"name": "f1"}),
    **{
        splitter.__name__: (splits_of(splitter), {"n_splits": 3})
        for splitter in (BootstrapSplit, GroupTimeSeriesSplit)
    },
}


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name, (function, _) in CALLS.items()
        for option in inspect.signature(options_of(function)).parameters
        if option != "metric_kwargs"
    ],
)
def test_arguments(name, option):
    function, arguments = CALLS[name]
    found = [
        assert_value_or_error(partial(function, **arguments | {option: value}), theirs=True)
        for value in NONSENSE
    ]
    assert any(isinstance(each, Refused) for each in found), "nothing reads this option"


DATA = {
    "classes": hostile.alike(hostile.anything_like_labels),
    "numbers": hostile.alike(hostile.anything_like_numbers),
    "scores": hostile.scored(),
    "partitions": hostile.alike(hostile.anything_like_labels),
    "partition": st.tuples(hostile.anything_like_labels),
    "clustered": hostile.points_with_labels(),
    "texts": st.tuples(hostile.texts, hostile.texts),
    "curves": st.tuples(hostile.curves, hostile.curves),
    "masks": hostile.alike(hostile.images),
    "tables": st.tuples(hostile.points),
    "vectors": st.tuples(hostile.anything_like_numbers),
    "supervised": hostile.tasks(),
    "unsupervised": st.tuples(hostile.mostly(hostile.sound_points((8, 14)), hostile.points)),
}
WITH_ESTIMATORS = {"supervised", "unsupervised"}
MET = [(family, name) for family in DATA for name in FAMILIES[family] if name not in REEXPORTED]
HOSTILE = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def test_no_public_name_is_forgotten():
    known = {name for family in FAMILIES.values() for name in family}
    results = {name for name, member in public_names().items() if is_result(member)}
    assert set(public_names()) == known | results | {"__version__"}
    assert not known & results


@pytest.mark.parametrize(("family", "name"), [c for c in MET if c[0] not in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=6)
@given(data=st.data())
def test_a_value_or_a_clear_error(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]))


@pytest.mark.parametrize(("family", "name"), [c for c in MET if c[0] in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=4)
@given(data=st.data())
def test_estimators_meet_hostile_data(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]), theirs=True)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), [c for c in MET if c[0] not in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=2000)
@given(data=st.data())
def test_a_value_or_a_clear_error_often(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]))


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), [c for c in MET if c[0] in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=300)
@given(data=st.data())
def test_estimators_meet_hostile_data_often(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]), theirs=True)
