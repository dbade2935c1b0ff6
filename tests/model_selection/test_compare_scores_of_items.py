"""Comparison of systems by scores of items: all forms of a table, identifiers, and ranks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skeval.model_selection import compare_predictions, compare_scores

pd = pytest.importorskip("pandas")
NAMES = ["small", "medium", "large"]


def compare_items(scores, **options):
    return compare_scores(scores, over="items", **options)


def draw(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 3)) < [0.4, 0.7, 0.72]).astype(float)


def wide(scores):
    frame = pd.DataFrame(scores, columns=NAMES)
    frame["task"] = np.repeat(["a", "b", "c", "d", "e", "f"], len(scores) // 6)
    frame["item"] = np.tile(np.arange(len(scores) // 6), 6)  # numbered anew in each task
    return frame


def to_long(frame):
    rows = frame.melt(id_vars=["item", "task"], var_name="system", value_name="score")
    return rows.sample(frac=1, random_state=0)


def ends(comparison, names=NAMES):
    ranks = [comparison.ranks[name].interval for name in names]
    pairs = [comparison.to_matrix(what) for what in ("value", "low", "high", "pvalue")]
    order = [comparison.names.index(name) for name in names]
    return [(one.low, one.high) for one in ranks], np.array(pairs)[:, order][:, :, order]


def test_every_form_of_a_table_gives_the_same_result():
    scores = draw()
    columns = dict(zip(NAMES, scores.T, strict=True))
    expected = ends(compare_predictions(None, columns, method="max_t", random_state=0))
    frame = wide(scores)
    array = compare_items(scores, random_state=0)
    assert array.names == ("system 1", "system 2", "system 3")
    for found in (
        ends(compare_items(columns, random_state=0)),
        ends(compare_items(frame[NAMES], random_state=0)),
        ends(array, array.names),
    ):
        assert found[0] == expected[0]
        assert_allclose(found[1], expected[1])


def test_long_and_wide_tables_of_tasks_agree():
    frame = wide(draw())
    of_wide = compare_items(frame.drop(columns="item"), groups="task", random_state=0)
    of_values = compare_items(frame[NAMES], groups=frame["task"], random_state=0)
    of_long = compare_items(to_long(frame), groups="task", random_state=0)
    for name in NAMES[1:]:
        one = of_wide["small", name]
        assert of_values["small", name].interval == one.interval
        other = of_long.differences.get(("small", name))
        sign = 1 if other is not None else -1
        other = other or of_long[name, "small"]
        assert_allclose(sign * other.value, one.value)
        assert_allclose(other.standard_error, one.standard_error)
    assert of_wide.n_samples == of_long.n_samples == 120


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", np.arange(120)),
        ("number", np.random.default_rng(0).permutation(120) + 1),
        ("task", np.repeat(["a", "b", "c", "d"], 30)),
    ],
)
def test_an_identifier_left_in_is_noticed(name, values):
    frame = pd.DataFrame(draw(), columns=NAMES).assign(**{name: values})
    with pytest.raises(ValueError, match=f"column '{name}' looks like identifiers"):
        compare_items(frame)
    assert compare_items(frame, groups=name, random_state=0).names == tuple(NAMES)


def test_scores_are_no_identifiers():
    rng = np.random.default_rng(0)
    milliseconds = rng.permutation(100_000)[:240].reshape(80, 3)
    assert len(compare_items(milliseconds, random_state=0).names) == 3
    assert len(compare_items(rng.integers(1, 6, (80, 3)), random_state=0).names) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "nothing"}, "groups must name columns of scores"),
        ({"groups": np.arange(7)}, "groups"),
        ({"method": "wilcoxon"}, "method must be"),
        ({"test_train_ratio": 0.1}, "test_train_ratio must be None for over='items'"),
        ({"over": "datasets", "groups": "task"}, "groups must be None unless over='items'"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        compare_scores(wide(draw())[NAMES], **{"over": "items"} | options)


def test_bad_tables_are_named():
    rows = to_long(wide(draw()))
    with pytest.raises(ValueError, match=r"got 6 rows for item '0', system 'large'"):
        compare_items(rows)
    with pytest.raises(ValueError, match="groups must name columns"):
        compare_items(rows, groups=np.arange(len(rows)))
    frame = wide(draw())[NAMES]
    frame.loc[3, "large"] = np.nan
    with pytest.raises(ValueError, match=r"scores\['large'\] must be finite, got nan in row 3"):
        compare_items(frame)
    with pytest.raises(TypeError, match="at least two names"):
        compare_items(np.ones((5, 1)))
    with pytest.raises(ValueError, match="must have different names, got 1 and '1'"):
        compare_items({1: np.ones(5), "1": np.zeros(5)})
    with pytest.raises(ValueError, match="scores"):
        compare_items("scores.csv")
