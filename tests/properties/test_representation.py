"""The form in which data are held changes no number."""

import numpy as np
import pytest
from helpers import disguises
from helpers.crossed import each_value
from helpers.families import (
    CLASSES,
    CLUSTERED,
    MASKS,
    NUMBERS,
    PARTITION,
    PARTITIONS,
    REEXPORTED,
    SCORES,
    SUPERVISED,
    TABLES,
    UNSUPERVISED,
)
from helpers.outcomes import Refused, assert_same_numbers, assert_value_or_error
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from skeval.metrics import roc_curve_band
from skeval.model_selection import metric_interval

FEW = settings(max_examples=3, deadline=None, derandomize=True, database=None)
FEWER = settings(FEW, max_examples=1)
LETTERS = np.array(list("abc"))
SINGLE_PRECISION = 1e-6  # scikit-learn's own metrics keep float32

# scikit-learn's metrics and estimators take no objects but strings as labels.
STRICT = {"make_permutation_scorer", "make_bootstrap_scorer", "make_interval_scorer"}
STRICT |= {"CV2FeatureSelectionPipeline", "PerturbationResamplingSVC"}
# Data that the docstrings say must be dense.
DENSE = {"selection_stability", "pareto_dominance", "evaluate_clusterer", "choose_n_clusters"}
DENSE |= {"compare_clusterings", "internal_indices", "compare_scores"}


def ours(family):
    return sorted(set(family) - REEXPORTED)


def assert_same(function, plain, disguised, *, tolerance=0.0, may_refuse=False):
    expected = assert_value_or_error(function, *plain)
    assert not isinstance(expected, Refused), expected
    found = assert_value_or_error(function, *disguised)
    if may_refuse and isinstance(found, Refused):
        return
    assert not isinstance(found, Refused), found
    assert_same_numbers(found, expected, tolerance)


@st.composite
def labeled(draw, n_classes=3):
    """Two vectors of classes, each class twice in both at least."""
    once = list(range(n_classes)) * 2
    rest = st.lists(st.integers(0, n_classes - 1), min_size=6, max_size=20)
    y = once + draw(rest)
    p = draw(st.permutations(y))
    return np.array(y), np.array(p)


@st.composite
def disguised(draw, forms, data, *, both=True):
    """Return data, some of them in another form, and its name."""
    form = forms[draw(st.sampled_from(sorted(forms)))]
    which = draw(st.sampled_from([(0,), (1,), (0, 1)] if both else [(0,)]))
    return [form(values) if i in which else values for i, values in enumerate(data)]


KINDS = {
    "whole": (disguises.WHOLE, lambda codes: codes),
    "names": (disguises.NAMES, lambda codes: LETTERS[codes]),
    "truth": (disguises.TRUTH, lambda codes: codes > 0),
}


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ours(CLASSES) + ours(PARTITIONS))
@FEW
@given(data=st.data())
def test_labels(name, kind, data):
    forms, kept_as = KINDS[kind]
    function = {**CLASSES, **PARTITIONS}[name]
    if kind == "truth" and name == "cost_sensitive_error":
        return  # its matrix has three classes
    plain = [kept_as(codes) for codes in data.draw(labeled())]
    assert_same(function, plain, data.draw(disguised(forms, plain)), tolerance=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ours(PARTITION))
@FEW
@given(data=st.data())
def test_one_partition(name, kind, data):
    forms, kept_as = KINDS[kind]
    plain = [kept_as(data.draw(labeled())[0])]
    assert_same(PARTITION[name], plain, data.draw(disguised(forms, plain, both=False)))


@pytest.mark.parametrize("name", sorted({*CLASSES, *PARTITIONS, *NUMBERS} & REEXPORTED))
@FEW
@given(data=st.data())
def test_reexports(name, data):
    plain = data.draw(labeled())
    other = data.draw(disguised(disguises.WHOLE, plain))
    function = {**CLASSES, **PARTITIONS, **NUMBERS}[name]
    try:
        found = function(*other)
    except ValueError as error:
        assert "unknown" in str(error), error  # noqa: PT017 (labels that are objects)
    else:
        assert_same_numbers(found, function(*plain), SINGLE_PRECISION)


@pytest.mark.parametrize("name", ours(NUMBERS))
@FEW
@given(data=st.data())
def test_numbers(name, data):
    plain = [codes / 8 for codes in data.draw(labeled())]
    assert_same(NUMBERS[name], plain, data.draw(disguised(disguises.FRACTIONS, plain)))


@each_value
@pytest.mark.parametrize("kind", ["whole", "truth"])
@pytest.mark.parametrize("name", ours(SCORES))
@FEW
@given(data=st.data())
def test_scores(name, kind, data):
    codes, score = data.draw(labeled(n_classes=2))
    forms, kept_as = KINDS[kind]
    y, score = kept_as(codes), score / 4
    (other,) = data.draw(disguised(forms, [y], both=False))
    (scores,) = data.draw(disguised(disguises.FRACTIONS, [score], both=False))
    assert_same(SCORES[name], (y, score), (other, scores), tolerance=1e-14)


def points(rows=14, columns=3):
    entries = st.lists(st.integers(-5, 5), min_size=rows * columns, max_size=rows * columns)
    return entries.map(lambda values: np.array(values, dtype=float).reshape(rows, columns))


@pytest.mark.parametrize("name", ours(CLUSTERED))
@FEW
@given(data=st.data())
def test_points_with_labels(name, data):
    X = data.draw(points()) + np.arange(14)[:, None]
    labels = np.arange(14) % 3
    forms = disguises.MATRICES if name in DENSE else disguises.MATRICES | disguises.SPARSE
    (other,) = data.draw(disguised(forms, [X], both=False))
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    label_forms, kept_as = KINDS[kind]
    y = kept_as(labels)
    (other_labels,) = data.draw(disguised(label_forms, [y], both=False))
    assert_same(CLUSTERED[name], (X, y), (other, other_labels), tolerance=1e-10)


@pytest.mark.parametrize("name", ours(SUPERVISED))
@FEWER
@given(data=st.data())
def test_supervised_tasks(name, data):
    rows = np.arange(18)
    X = data.draw(points(18, 2)) + 3 * (rows % 2)[:, None]
    X += np.column_stack([rows % 3, rows % 5])  # no class is a single point
    y = rows % 2
    (other,) = data.draw(disguised(disguises.MATRICES, [X], both=False))
    label_forms, kept_as = KINDS[data.draw(st.sampled_from(sorted(KINDS)))]
    y = kept_as(y)
    (other_y,) = data.draw(disguised(label_forms, [y], both=False))
    assert_same(
        SUPERVISED[name], (X, y), (other, other_y), tolerance=1e-7, may_refuse=name in STRICT
    )


@pytest.mark.parametrize("name", sorted({*ours(SUPERVISED)} - STRICT))
def test_a_series_of_objects_that_are_whole_numbers(name):
    """scikit-learn refuses it as labels, but a column of a frame often is one."""
    rows = np.arange(18)
    X = np.column_stack([rows % 3, rows % 5]) + 3.0 * (rows % 2)[:, None]
    y = rows % 2
    other = disguises.WHOLE["Series object"](y)
    assert_same(SUPERVISED[name], (X, y), (X, other), tolerance=1e-7)


@pytest.mark.parametrize("name", ours(UNSUPERVISED))
@FEWER
@given(data=st.data())
def test_clusterers(name, data):
    X = data.draw(points(16, 2)) + 20 * (np.arange(16) % 2)[:, None]
    (other,) = data.draw(disguised(disguises.MATRICES, [X], both=False))
    assert_same(UNSUPERVISED[name], (X,), (other,), tolerance=1e-6, may_refuse=name in DENSE)


@pytest.mark.parametrize("name", ours(TABLES))
@FEW
@given(data=st.data())
def test_tables(name, data):
    table = (data.draw(points(6, 5)) > 0).astype(float)
    table[:, 0] = [0, 1, 0, 1, 0, 1]
    (other,) = data.draw(disguised(disguises.MATRICES, [table], both=False))
    assert_same(TABLES[name], (table,), (other,), tolerance=1e-14, may_refuse=name in DENSE)


@pytest.mark.parametrize("name", ours(MASKS))
@FEW
@seed(0)
@given(data=st.data())
def test_masks(name, data):
    inside = data.draw(points(4, 4)) > 0
    forms = {
        key: disguises.MATRICES[key]
        for key in ("lists", "float32", "int8", "int64", "Fortran", "read-only", "strided")
    } | {"bool": lambda masks: masks.astype(bool)}
    plain = [np.stack([inside, ~inside]).astype(float), np.stack([np.eye(4), 1 - np.eye(4)])]
    assert_same(MASKS[name], plain, data.draw(disguised(forms, plain)), tolerance=1e-12)


RNG = np.random.default_rng(0)
Z = np.arange(80) % 2
SCORE = Z + RNG.normal(size=80)
NAMES = np.where(Z, "yes", "no")
OPTIONS = [
    {},
    {"method": "delong"},
    {"groups": np.arange(80) // 2},
    {"sample_weight": 1.0 + Z},
    {"by": np.arange(80) // 40},
    {"method": "percentile", "n_resamples": 9, "random_state": 0},
    {"within": np.arange(80) // 20},
]


@pytest.mark.parametrize("form", disguises.NAMES)
def test_areas_of_text_labels(form):
    names = disguises.NAMES[form](NAMES)
    for options in OPTIONS:
        expected = metric_interval("roc_auc", Z, SCORE, **options)
        assert_same_numbers(metric_interval("roc_auc", names, SCORE, **options), expected)
    band = {"pos_label": "yes", "n_resamples": 9, "random_state": 0}
    expected = roc_curve_band(NAMES, SCORE, **band)
    assert_same_numbers(roc_curve_band(names, SCORE, **band), expected)
