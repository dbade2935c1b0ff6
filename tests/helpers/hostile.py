"""Hypothesis strategies of data that nobody should pass, and that somebody will."""

import datetime
import decimal

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

MAGNITUDES = [0.0, 1.0, -1.0, 0.5, 3.0, 1e300, -1e300, 1e155, 1e-300, -1e-300, 5e-324]
NOT_FINITE = [np.nan, np.inf, -np.inf]
NO_LABELS = [None, pd.NA, pd.NaT, "", "a", b"b", True, 1, 2**70, 1.5, np.nan, 1j, (1, 2), {}]
NO_LABELS += [decimal.Decimal(1), datetime.date(2020, 1, 1), np.datetime64("2020"), frozenset()]
NO_DATA = [
    None,
    3,
    2.5,
    "text",
    b"bytes",
    {},
    {"a": 1},
    set(),
    object(),
    np.float64(1),
    np.array(1),
]
NO_DATA += [np.zeros((2, 0)), np.zeros((0, 2)), np.zeros((2, 2, 2)), [[1, 2], [3]], [[], []], []]
NO_DATA += [
    pd.DataFrame(),
    pd.Series([], dtype=object),
    sparse.csr_matrix((0, 3)),
    range(0),
    iter([]),
]
NO_DATA += [np.ma.masked_array([1.0, 2.0], [True, False]), np.array([{}, []], dtype=object), type]
NO_DATA += [pd.Series([1, None], dtype="Int64"), pd.Series(["a", None], dtype="string")]
NO_DATA += [pd.Series([True, None], dtype="boolean"), pd.Categorical(["a", None])]
NO_DATA += [np.array([1, 0], dtype="m8[s]"), np.array([1, 0], dtype="M8[s]"), [1, "a"], ["a", 1.5]]
NO_DATA += [np.array([1, 2], dtype=np.complex128), np.array([b"a", b"b"]), np.float16([1, 2])]


def vectors(values, *, sizes=(0, 7)):
    """Vectors of some of the values, with many ties and sometimes constant."""
    return st.lists(st.sampled_from(values), min_size=sizes[0], max_size=sizes[1])


def shaped(vector):
    """Draw the vector in one of the shapes that are mistaken for one another."""
    forms = [
        np.asarray,
        np.asarray,
        lambda v: v,
        lambda v: v,
        lambda v: np.array(v)[:, None],
        lambda v: np.array(v)[None],
        lambda v: np.column_stack([v, v]),
        pd.Series,
    ]
    return st.sampled_from(forms).map(lambda form: form(vector))


@st.composite
def mostly(draw, sound, rest):
    """Nine sound examples in ten, so that the computation is reached."""
    return draw(rest if draw(st.integers(0, 9)) == 9 else sound)


numbers = st.one_of(
    vectors([0.0, 1.0, 2.0, 0.25]), vectors(MAGNITUDES), vectors(MAGNITUDES + NOT_FINITE)
).flatmap(shaped)
labels = st.one_of(
    vectors([0, 1, 2]),
    vectors([0, 1]),
    vectors([-1, 1]),
    vectors(["a", "b", "c"]),
    vectors([True, False]),
    vectors(list(range(50)), sizes=(0, 60)),
    vectors([0.0, 1.0, 2.0]),
    vectors([2**62, -(2**62), 2**63 - 1]),
).flatmap(shaped)
objects = vectors(NO_LABELS).map(lambda values: pd.Series(values, dtype=object).to_numpy())
nonsense = st.sampled_from(NO_DATA)
anything_like_labels = mostly(labels, st.one_of(numbers, objects, nonsense))
anything_like_numbers = mostly(numbers, st.one_of(labels, objects, nonsense))


@st.composite
def matrices(draw, rows=(0, 9)):
    """Matrices with duplicated rows, constant columns, and numbers of any size."""
    n, p = draw(st.integers(*rows)), draw(st.integers(0, 3))
    values = draw(
        st.sampled_from(
            [[0.0, 1.0, 2.0, 3.5], [1.0], MAGNITUDES, MAGNITUDES + NOT_FINITE, [0.1, 0.2, 0.7]]
        )
    )
    entries = draw(st.lists(st.sampled_from(values), min_size=n * p, max_size=n * p))
    X = np.array(entries, dtype=float).reshape(n, p)
    if n > 2 and draw(st.booleans()):
        X[1] = X[0]
    scale = draw(st.sampled_from([1.0, 1.0, 1.0, 1e-300, 1e150, 1e300]))
    with np.errstate(all="ignore"):
        X = X * scale
    forms = [np.asarray, np.asfortranarray, np.ndarray.tolist, pd.DataFrame, sparse.csr_matrix]
    forms += [lambda a: a.astype(object), lambda a: a.astype(str), lambda a: a.astype(complex)]
    forms += [lambda a: a.ravel(), lambda a: a[None]]
    return draw(st.sampled_from([np.asarray] * 6 + forms))(X)


points = mostly(matrices(), nonsense)


@st.composite
def sound_points(draw, rows=(2, 12)):
    """Finite points of any size, often duplicated, with constant columns."""
    n, p = draw(st.integers(*rows)), draw(st.integers(1, 6))
    values = draw(st.sampled_from([[0.0, 1.0, 2.0, -3.5], [1.0, 1.0, 2.0], [7.0]]))
    entries = draw(st.lists(st.sampled_from(values), min_size=n * p, max_size=n * p))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-300, 1e-160, 1e150, 1e160, 1e300, 4e307]))
    with np.errstate(all="ignore"):
        return np.array(entries).reshape(n, p) * scale + draw(st.sampled_from([0.0, 1e8]))


@st.composite
def points_with_labels(draw, rows=(2, 12)):
    """Mostly one label for each point, from one cluster to as many as points."""
    X = draw(mostly(sound_points(rows), points))
    n = len(X) if hasattr(X, "__len__") and not sparse.issparse(X) else 4
    most = draw(st.sampled_from([0, 1, 1, 2, 50]))
    fitting = st.lists(st.integers(0, most), min_size=n, max_size=n).map(np.array)
    return X, draw(mostly(fitting, anything_like_labels))


@st.composite
def tasks(draw, rows=(6, 14)):
    """Mostly one target for each point: few classes, one, a class for each point, or numbers."""
    X = draw(mostly(sound_points(rows), points))
    n = len(X) if hasattr(X, "__len__") and not sparse.issparse(X) else 6
    classes = draw(
        st.sampled_from(
            [[0, 1], [0, 1], [-1, 1], ["a", "b", "c"], [True, False], [0], range(50), [0.5, 1.5]]
        )
    )
    y = np.resize(np.array(classes), n)
    if draw(st.booleans()):
        y = np.array(draw(st.permutations(list(y))), dtype=y.dtype)
    return X, draw(mostly(st.just(y), anything_like_labels))


@st.composite
def alike(draw, strategy):
    """Two of a kind, mostly of one length."""
    first = draw(strategy)
    shuffles = isinstance(first, list) or getattr(first, "shape", (0,))[:1] > (1,)
    same = st.permutations(list(first)) if shuffles else st.just(first)
    return first, draw(mostly(same, strategy))


@st.composite
def scored(draw):
    """Mostly two classes and as many scores."""
    n = draw(st.integers(0, 8))
    classes = draw(st.sampled_from([[0, 1], [0, 1], [-1, 1], [1], [0], [True, False], ["a", "b"]]))
    y = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n).map(np.array))
    y[: len(classes)] = classes[:n]
    values = draw(st.sampled_from([[0.0, 0.5, 1.0], MAGNITUDES, MAGNITUDES + NOT_FINITE]))
    score = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n).map(np.array))
    return (
        draw(mostly(st.just(y), anything_like_labels)),
        draw(mostly(st.just(score), anything_like_numbers)),
    )


words = st.sampled_from(["a", "b", "", "a b", " ", "\n", "é", "\ud800", "x" * 50])
sentences = st.one_of(
    words, st.lists(words, max_size=5), st.lists(words, max_size=5).map(" ".join), nonsense
)
texts = st.one_of(
    st.lists(sentences, max_size=4), st.lists(st.lists(sentences, max_size=3)), nonsense
)

curves = st.one_of(
    st.tuples(numbers, numbers),
    st.lists(vectors([0.0, 0.25, 1.0]).map(sorted), min_size=2, max_size=3),
    vectors([0.0, 0.25, 1.0]).map(lambda v: ([0.0, *sorted(v), 1.0],) * 2),
    nonsense,
)
images = st.one_of(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)).flatmap(
        lambda shape: (
            st.sampled_from([[0, 1], [0.0, 0.5, 1.0], [True, False], MAGNITUDES, NOT_FINITE])
            .flatmap(
                lambda values: st.lists(
                    st.sampled_from(values),
                    min_size=int(np.prod(shape)),
                    max_size=int(np.prod(shape)),
                )
            )
            .map(lambda entries: np.array(entries).reshape(shape))
        )
    ),
    st.sampled_from([np.eye(3)[None], np.stack([np.eye(3), 1 - np.eye(3)])]),
    nonsense,
)
