"""Whatever comes in, a value comes out, or an error that says which argument is wrong."""

import pytest
from helpers import hostile
from helpers.families import FAMILIES, REEXPORTED, is_result, public_names
from helpers.outcomes import assert_value_or_error
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
CASES = [(family, name) for family in DATA for name in FAMILIES[family] if name not in REEXPORTED]
HOSTILE = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def test_no_public_name_is_forgotten():
    known = {name for family in FAMILIES.values() for name in family}
    results = {name for name, member in public_names().items() if is_result(member)}
    assert set(public_names()) == known | results | {"__version__"}
    assert not known & results


@pytest.mark.parametrize(("family", "name"), [c for c in CASES if c[0] not in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=6)
@given(data=st.data())
def test_a_value_or_a_clear_error(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]))


@pytest.mark.parametrize(("family", "name"), [c for c in CASES if c[0] in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=4)
@given(data=st.data())
def test_estimators_meet_hostile_data(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]), theirs=True)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), [c for c in CASES if c[0] not in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=2000)
@given(data=st.data())
def test_a_value_or_a_clear_error_often(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]))


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), [c for c in CASES if c[0] in WITH_ESTIMATORS])
@settings(HOSTILE, max_examples=300)
@given(data=st.data())
def test_estimators_meet_hostile_data_often(family, name, data):
    assert_value_or_error(FAMILIES[family][name], *data.draw(DATA[family]), theirs=True)
