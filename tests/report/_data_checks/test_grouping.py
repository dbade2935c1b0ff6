"""Identifiers, and groups of samples that belong together."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import FEW, warnings_of, write_data_warnings
from sklearn.tree import DecisionTreeClassifier

import skeval


def patients(rng, n_patients=60, flipped=0.0):
    """Draw visits of patients in any order, each patient with one label but for some of them."""
    patient = rng.permutation(np.repeat(np.arange(n_patients), rng.integers(1, 4, n_patients)))
    y = rng.integers(0, 2, n_patients)[patient] ^ (rng.random(len(patient)) < flipped)
    return np.array([f"P{k:03d}" for k in patient]), y


def test_an_identifier_among_the_columns_left_out_forbids_to_quote():
    rng = np.random.default_rng(0)
    name, y = patients(rng)
    X = rng.normal(size=(len(y), 3))
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(
        DecisionTreeClassifier(random_state=0), X, y, left_out={"patient": name}, **few
    )
    (found,) = [w for w in report.warnings if w.code == "identifier"]
    n_repeated = sum(np.sum(name == one) for one in set(name) if np.sum(name == one) > 1)
    assert found.headline == (
        f"{n_repeated} of {len(y)} samples share a value of 'patient', and samples with the same "
        "value always have the same class"
    )
    frame = pd.DataFrame({"patient": name})
    copy = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, left_out=frame, **few)
    assert copy.warnings == report.warnings


def test_identifiers_by_kind_of_column():
    rng = np.random.default_rng(0)
    name, y = patients(rng)
    X = rng.normal(size=(len(y), 2))
    number = np.unique(name, return_inverse=True)[1] * 7 + 1000.0
    (told,) = warnings_of(np.column_stack([X, number]), y)
    assert told.code == "identifier"
    assert told.headline.endswith("always have the same class")
    both = write_data_warnings(X, y, left_out={"a": name, "b": number})
    assert len(both) == 1  # two names of the same patients
    assert write_data_warnings(X, y, name, left_out={"a": name}) == []
    once = np.where(np.arange(len(y)) % 2, name, "")  # no value is no patient
    (found,) = write_data_warnings(X, y, left_out={"a": once})
    assert f"of {np.sum(once != '')} samples" in str(found)


def test_labels_that_differ_within_an_identifier_are_told_without_a_headline():
    rng = np.random.default_rng(0)
    name, y = patients(rng, 200, flipped=0.25)
    X = rng.normal(size=(len(y), 2))
    (found,) = write_data_warnings(X, y, left_out={"patient": name})
    assert found.code == "identifier"
    assert not found.headline
    assert "the samples are not independent" in str(found)


def grave_codes(X, y, **options):
    return [text.code for text in warnings_of(X, y, **options) if text.headline]


def test_persons_whose_rows_repeat():
    table = pytest.importorskip("statsmodels.api").datasets.randhie.load_pandas().data[:1000]
    X = table.drop(columns="mdvis").to_numpy()
    visits = np.minimum(table["mdvis"].to_numpy(dtype=float), 20)  # no class of one member
    assert "copies" in grave_codes(X, visits)
    persons = np.unique(X[:, [0, 2, 3, 5]], axis=0, return_inverse=True)[1].reshape(-1)
    assert "copies" not in grave_codes(X, visits, groups=persons)
    order = np.lexsort(X.T)  # sorted files hold equal rows together, too
    assert "copies" not in grave_codes(X[order], visits[order])
    order = np.random.default_rng(0).permutation(len(X))
    assert "copies" not in grave_codes(X[order], visits[order])


def judge(X, y, name, **options):
    """Return the grave codes of a table whose last column has a name."""
    names = [f"a{k}" for k in range(X.shape[1] - 1)] + [name]
    return [text.code for text in warnings_of(X, y, names=names, **options) if text.headline]


@pytest.mark.parametrize("n_rows", [3, 5, 30])
@pytest.mark.parametrize("flipped", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("name", ["patient", "Subject_ID", "number"])
def test_persons_numbered_group_by_group_are_identifiers(n_rows, flipped, name):
    rng = np.random.default_rng(n_rows)
    person = rng.permutation(np.repeat(np.arange(1, 41), n_rows))
    y = ((np.arange(41) > 20) ^ (rng.random(41) < flipped)).astype(int)[person]
    X = np.column_stack([rng.normal(size=(len(y), 3)), person])
    assert "identifier" in judge(X, y, name)
    assert "identifier" not in judge(X, rng.permutation(y), name)


def test_a_rare_class_makes_no_opposite_classes():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        value, y = np.round(rng.normal(100, 60, 1600)), np.zeros(1600, dtype=int)
        y[rng.choice(np.flatnonzero(np.abs(value - 100) < 24), 32, replace=False)] = 1
        for column in (value, value.astype(str)):
            X = pd.DataFrame({"shell": column, "other": rng.normal(size=1600)})
            found = warnings_of(X, y, names=list(X))
            assert "identifier" not in [text.code for text in found if text.headline]


def test_names_that_are_the_same_number_are_different_names():
    name = np.array([f"{i}.{j}" for i in range(1, 11) for j in range(1, 12)], dtype=object)
    y = np.repeat(np.arange(10) % 2, 11)
    X = np.random.default_rng(0).normal(size=(110, 2))
    assert write_data_warnings(X, y, left_out={"sample": name}) == []


@pytest.mark.parametrize("name", ["name", "patient", "Owner", "dog_owner", "customer.id"])
@pytest.mark.parametrize("as_text", [True, False])
def test_repeated_names_of_objects_are_probable_groups(name, as_text):
    """Even if their rows have different targets; cities, counts and given groups are not noted."""
    rng = np.random.default_rng(0)
    person, X = rng.integers(0, 20, 80), pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    y = rng.integers(0, 2, 80)
    values = np.array([f"P{k}" for k in person]) if as_text else person
    (found,) = warnings_of(X.assign(**{name: values}), y, names=["a", "b", name])
    assert found.code == "identifier"
    assert f"--groups {name}" in str(found)
    assert not found.headline
    assert warnings_of(X.assign(**{name: values}), y, values, names=["a", "b", name]) == []
    other = "city" if as_text else "customers"
    assert warnings_of(X.assign(**{other: values}), y, names=["a", "b", other]) == []


@pytest.mark.parametrize("order", ["blocks", "rounds"])
@pytest.mark.parametrize("as_text", [True, False])
def test_objects_measured_equally_often_are_probable_groups_whatever_their_name(order, as_text):
    """Rounds, doses and measurements of the same design are no objects."""
    rng = np.random.default_rng(0)
    pen, week = (
        part.reshape(-1) for part in np.meshgrid(np.arange(40), np.arange(6), indexing="ij")
    )
    if order == "rounds":
        pen, week = pen[np.argsort(week, kind="stable")], np.sort(week)
    level = rng.normal(size=40)[pen]
    names = np.array([f"pen {k}" for k in rng.permutation(40)])[pen]
    X = pd.DataFrame({"round": week, "weight": level + 2 * week, "height": level})
    X = X.assign(pen=names if as_text else pen)
    y = rng.integers(0, 2, 240)
    (found,) = [one for one in warnings_of(X, y, names=list(X)) if one.code == "identifier"]
    assert "'pen'" in str(found)
    assert not found.headline
    shuffled = X.assign(pen=rng.permutation(X["pen"]))
    assert "identifier" not in [one.code for one in warnings_of(shuffled, y, names=list(X))]


@pytest.mark.parametrize("kind", ["date", "text of a date", "price", "age"])
def test_dates_and_measured_numbers_outside_the_features_are_no_groups(kind):
    rng = np.random.default_rng(0)
    day = rng.integers(0, 40, 200)
    y = (day + 10 * rng.normal(size=200) > 20).astype(int)
    date = np.datetime64("2024-01-01") + day
    column = {"date": date, "text of a date": date.astype(str), "price": day + 0.5, "age": day}
    X = rng.normal(size=(200, 2))
    assert write_data_warnings(X, y, left_out={"column": column[kind]}) == []


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("outside", [True, False])
def test_time_points_and_doses_of_a_balanced_design_are_not_blamed(as_text, outside):
    """Each of ten days has every rat, and so every class."""
    rng = np.random.default_rng(0)
    day, rat = (part.reshape(-1) for part in np.meshgrid(np.arange(10), np.arange(12)))
    y, X = rat % 3, rng.normal(size=(120, 2)) + rat[:, None]
    days = np.array([f"day {k}" for k in day]) if as_text else day
    table = pd.DataFrame(X, columns=list("ab"))
    left_out = {"day": days} if outside else {}
    table = table if outside else table.assign(day=days)
    found = write_data_warnings(table, y, None, list(table), left_out)
    assert "identifier" not in [text.code for text in found if text.headline]


@pytest.mark.parametrize(
    ("n_values", "with_time", "is_grave"), [(12, False, False), (12, True, True), (50, False, True)]
)
def test_a_category_is_no_object_without_another_sign(n_values, with_time, is_grave):
    """A time within its values, or many values in few rows each."""
    rng = np.random.default_rng(0)
    place, time = np.repeat(np.arange(n_values), 10), np.tile(np.arange(10), n_values)
    X = pd.DataFrame({"a": rng.normal(size=len(place)), "place": [f"p{k}" for k in place]})
    X = X.assign(**({"year": time} if with_time else {})).iloc[rng.permutation(len(place))]
    y = place[X.index] % 3
    found = [text for text in warnings_of(X, y, names=list(X)) if text.code == "identifier"]
    assert [bool(text.headline) for text in found] == [is_grave]


@pytest.mark.parametrize("name", ["place", "patient"])
def test_groups_that_make_up_a_class_are_never_advised(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), name: rng.permutation(np.arange(400) % 40)})
    found = warnings_of(X, (X[name] == 14).astype(int), names=list(X))
    assert not any("groups" in str(text) for text in found)
    # a design, in which another column is alike, and classes that the objects hardly decide
    y = np.where(X[name] == 14, 0, rng.integers(1, 3, 400))
    X = X.assign(a=rng.normal(size=40)[X[name]] + X["a"] / 10)
    X[name] = "p" + X[name].astype(str)
    found = warnings_of(X, y, names=list(X))
    assert not any("groups" in str(text) for text in found)


@pytest.mark.parametrize(
    ("name", "as_text", "outside", "n_codes"),
    [
        ("place", True, False, 1),
        ("place", True, True, 0),
        ("place", False, False, 0),
        ("patient", True, False, 0),
    ],
)
@pytest.mark.parametrize("n_wrong", [0, 4])
def test_a_category_that_makes_up_a_class_leads_if_it_decides_all(
    name, as_text, outside, n_codes, n_wrong
):
    """Even beside a time. It is no group, because a training set without it has no such class."""
    rng = np.random.default_rng(0)
    place = rng.permutation(np.arange(200) % 20)
    y = np.select([place == 3, place % 2 == 0], [0, 1], 2)
    column = np.array([f"p{k}" for k in place]) if as_text else rng.permutation(20)[place]
    X = pd.DataFrame({"year": np.arange(200) // 20, name: column})
    y[np.flatnonzero(place % 2 == 0)[:n_wrong]] = 2
    left_out = {name: X[name]} if outside else {}
    if outside:
        X = X[["year"]]
    found = write_data_warnings(X, y, None, list(X), left_out)
    found = [text for text in found if text.code == "identifier"]
    assert len(found) == n_codes
    for text in found:
        assert (bool(text.headline), bool(text.lead)) == (False, not n_wrong)
        assert "groups" not in str(text)


@pytest.mark.parametrize(
    ("n_rare", "n_classes", "is_grave"), [(8, 2, True), (9, 2, False), (8, 1, False)]
)
def test_a_rare_class_of_one_person_hides_no_groups(n_rare, n_classes, is_grave):
    """Groups of the other persons have all other classes, if there are two."""
    rng = np.random.default_rng(0)
    person = np.r_[np.repeat(np.arange(98), 4), np.repeat(98, n_rare)]
    y = np.where(person == 98, 2, person % n_classes)
    X = pd.DataFrame({"a": rng.normal(size=len(y)), "person": [f"p{k}" for k in person]})
    X = X.iloc[rng.permutation(len(y))]
    found = [text for text in warnings_of(X, y[X.index], names=list(X)) if text.headline]
    assert [text.code for text in found if text.code == "identifier"] == is_grave * ["identifier"]


@pytest.mark.parametrize(("name", "is_grave"), [("row", True), ("age", False), ("year", False)])
def test_the_axis_of_a_table_is_no_row_number(name, is_grave):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: np.arange(60), "a": rng.normal(size=60)})
    y = (X[name] > 30).astype(int)
    found = [text for text in warnings_of(X, y, names=list(X)) if text.code == "row-number"]
    assert [bool(text.headline) for text in found] == [is_grave]


def test_equal_rows_of_a_design_of_few_levels_are_no_copies():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.permutation(np.array([[a, b] for a in (0.0, 1) for b in (0.0, 1, 2)])), 30, 0)
    assert grave_codes(X, rng.integers(0, 2, 180)) == []
