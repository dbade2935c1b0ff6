"""How often do the warnings of a report fire on data that give no reason for them?

Samples are independent, rules learn little from few features, and no column is a copy. The long
run prints the table of doc/user_guide/warnings.rst; a cell of 300 data sets has a standard error
of .013 at a rate of .05.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import skeval
from skeval._resampling.sampling_units import validate_data
from skeval.report._data_checks import write_data_warnings
from skeval.report._data_checks.duplicates import check_identifiers
from skeval.report._data_checks.table import describe_table

ALARMS = {
    "disagree": "standard errors of their difference",
    "overfits": "how well the estimator remembers",
    "632": "quote neither .632 nor .632+",
    "worse": "the estimator is worse",
    "copies": "are exact copies",
    "answer": "is a copy of the target",
    "telling": "alone separates all classes",
    "index": "counts the samples",
    "identifier": "share their value of",
    "groups": "near-duplicate",
    "time": "seem to be in time order",
    "order": "neighboring rows have",
}
LIMIT = 0.05
RULES = {
    "LDA": LinearDiscriminantAnalysis(),
    "line": LinearRegression(),
    "1-NN": KNeighborsClassifier(1),
}
CELLS = [(rule, n, d) for rule in ("LDA", "line") for n in (30, 100, 300) for d in (0.0, 2.0, 5.0)]


def draw(rule, n, separation, rng):
    """Return two features, the first of which tells the two classes, or the number, apart."""
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    while np.bincount(y, minlength=2).min() < 3:
        y = rng.integers(0, 2, n)
    if rule == "line":
        return X, separation * X[:, 0] + rng.normal(size=n)
    X[:, 0] += separation * y
    return X, y


def draw_city(n, rng):
    """Return one of thirty names for each sample."""
    return np.array([f"city {k}" for k in rng.integers(0, 30, n)])


def count_alarms(rule, n, separation, n_sets):
    """Return how many of the data sets had each alarm, and how many were called better."""
    counts = dict.fromkeys([*ALARMS, "grave", "better"], 0)
    for child in np.random.SeedSequence([n, int(separation)]).spawn(n_sets):
        rng = np.random.default_rng(child)
        report = skeval.evaluate(
            RULES[rule],
            *draw(rule, n, separation, rng),
            n_bootstraps=20,
            n_permutations=0,
            left_out={
                "date": np.datetime64("2024-01-01") + np.arange(n),
                "city": draw_city(n, rng),
            },
            random_state=int(rng.integers(2**31)),
        )
        for name, words in ALARMS.items():
            counts[name] += any(words in sentence for sentence in report.warnings)
        grave = [text.code for text in report.warnings if text.headline]
        counts["grave"] += bool(grave)
        counts["better"] += report.baseline.better
    return counts


def assert_rates(counts, n_sets, separation):
    """No alarm fires in more than 5 %; nothing is called better than chance that is not."""
    for name in (*ALARMS, "grave", *(["better"] if separation == 0 else [])):
        if name == "telling" and separation == 5:
            continue  # there one feature does tell the classes apart now and then
        assert binom.sf(counts[name] - 1, n_sets, LIMIT) > 0.001, (name, counts[name])


@pytest.mark.parametrize(("rule", "n", "separation"), [("LDA", 30, 2.0), ("LDA", 60, 0.0)])
def test_rates(rule, n, separation):
    assert_rates(count_alarms(rule, n, separation, 4), 4, separation)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "n", "separation"), CELLS)
def test_rates_long(rule, n, separation):
    counts = count_alarms(rule, n, separation, 300)
    print(rule, n, separation, {name: round(count / 300, 3) for name, count in counts.items()})
    assert_rates(counts, 300, separation)


@pytest.mark.slow
@pytest.mark.parametrize("separation", [0.0, 2.0])
def test_632_of_the_nearest_neighbor_long(separation):
    """On noise .632+ is right, where classes overlap it is far too low, and the alarm tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = count_alarms("1-NN", 100, separation, 100)
    print("1-NN", separation, {name: count / 100 for name, count in counts.items()})
    if separation == 0:
        assert binom.sf(counts["632"] - 1, 100, LIMIT) > 0.001


def measure(rng, n):
    """Continuous measurements, rounded to a tenth."""
    return rng.normal(size=(n, 4)).round(1)


def answer(rng, n):
    """Answers on a scale of five, which depend on each other."""
    mood = rng.normal(size=(n, 1))
    return np.clip(np.round(3 + mood + rng.normal(size=(n, 4))), 1, 5)


def express(rng, n):
    """Many features of few samples."""
    return rng.normal(size=(n // 5, 2000))


@pytest.mark.parametrize(
    "n_tables", [pytest.param(9, id="short"), pytest.param(200, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("make", [measure, answer, express])
def test_tables_without_a_fault(make, n_tables):
    """A fault may be reported for 5 % of the tables; notes and skipped checks are no fault."""
    n_warned = 0
    for child in np.random.SeedSequence(0).spawn(n_tables):
        rng = np.random.default_rng(child)
        X = make(rng, 100)
        y = np.arange(len(X)) % 2
        target = validate_data(LinearDiscriminantAnalysis(), X, y, None)[1]
        found = write_data_warnings(X, target, None, None, {})
        n_warned += any(
            text.headline or text.code not in ("equal-rows", "unchecked") for text in found
        )
    assert binom.sf(n_warned - 1, n_tables, LIMIT) > 0.001, n_warned


def live_somewhere(rng, n):
    """A city with an effect of its own on the class, and a measurement to one decimal."""
    city = rng.integers(0, 30, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-rng.normal(size=30)[city]))).astype(int)
    return {"city": city.astype(str), "x": (rng.normal(size=n) + 3 * y).round(1)}, y


@pytest.mark.parametrize("n", [100, 300])
def test_categories_and_measurements_are_no_identifiers(n):
    n_warned = 0
    for child in np.random.SeedSequence(n).spawn(60):
        columns, y = live_somewhere(np.random.default_rng(child), n)
        target = validate_data(LinearDiscriminantAnalysis(), np.zeros((n, 1)), y, None)[1]
        table = describe_table(pd.DataFrame(columns), target, None, list(columns), {})
        n_warned += any(check_identifiers(table))
    assert binom.sf(n_warned - 1, 60, LIMIT) > 0.001, n_warned
