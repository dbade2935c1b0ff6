"""Warnings of the table itself: copies of samples and of the target, row numbers."""

import csv
import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._resampling.target import Target, validate_data
from skeval.report._data_checks import duplicates, table, write_data_warnings

FEW = {"n_bootstraps": 5, "n_permutations": 0, "random_state": 0}


def warnings_of(X, y, groups=None, names=None):
    target = validate_data(DecisionTreeClassifier(), np.zeros((len(y), 1)), y, None)[1]
    return write_data_warnings(X, target, groups, names, {})


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 3)), np.tile([0, 1], 25)


def test_tripled_samples_are_told_loudly_and_no_interval_is_a_point(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    report = skeval.evaluate(KNeighborsClassifier(1), X, y, **FEW)
    assert report["cross_validation"].value == 0
    assert report.warnings[0].startswith("Exact copies: 150 of 150 samples")
    assert all(
        estimate.interval.high > estimate.interval.low for estimate in report.estimates.values()
    )
    assert "150 of 150 samples are exact copies" in str(report)


def test_copies_within_a_group_are_no_fault(noise):
    X, y = np.repeat(noise[0], 3, axis=0), np.repeat(noise[1], 3)
    assert warnings_of(X, y, np.repeat(np.arange(50), 3)) == []
    assert len(warnings_of(X, y, np.tile(np.arange(30), 5))) == 1


def test_a_few_copies_and_tables_of_few_values(noise):
    X, y = noise
    assert warnings_of(np.vstack([X[:49], X[:1]]), y) == []
    assert warnings_of(np.vstack([X[:40], X[:10]]), y)[0].startswith(
        "Exact copies: 20 of 50 samples"
    )
    rng = np.random.default_rng(0)
    (note,) = warnings_of(rng.integers(0, 2, (50, 3)).astype(float), y)
    assert note.startswith("Equal rows: 50 of 50 samples equal another sample, as often as chance")
    assert note.code == "equal-rows"
    assert not note.headline


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_bundled_sets_have_no_fault(load):
    codes = [warning.code for warning in warnings_of(*load(return_X_y=True))]
    assert codes == (["constant"] if load is load_digits else [])  # its corners are never inked


@pytest.mark.parametrize(
    "copy", [lambda y: y, lambda y: 3 - y, lambda y: 10.0 * (y == 1) + 5 * (y == 2)]
)
def test_a_copy_of_the_classes_under_any_code(copy):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, copy(y)])
    assert warnings_of(X, y, names=[*"abcd", "species"])[0].startswith(
        "Copy of the target: Feature 'species' is a copy of the target. Remove it"
    )
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, **few)
    assert report.warnings[0].startswith("Copy of the target: Feature 'x4' is a copy")
    assert all(estimate.interval.high > 0.02 for estimate in report.estimates.values())


def test_a_copy_among_columns_of_text():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name=np.array(["x", "y", "z"])[y])
    assert warnings_of(frame, y, names=list(frame))[0].startswith(
        "Copy of the target: Feature 'name'"
    )


def test_a_feature_that_tells_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    first = y == 0
    assert warnings_of(X, first, names=list("abcd"))[0].startswith(
        "Perfect feature: Each of the features 'c', 'd' alone separates all classes without error."
    )
    few = np.r_[0:4, 50:54]  # so few samples one of four features may part by chance
    assert [text.code for text in warnings_of(X[few], first[few])] == ["unchecked"]


def test_a_linear_copy_of_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    target = Target(y, None, y)
    assert write_data_warnings(X, target, None, None, {}) == []
    copied = np.column_stack([X, 2 - 3 * y])
    assert write_data_warnings(copied, target, None, None, {})[0].startswith(
        "Copy of the target: Feature 'x3' is a copy"
    )
    report = skeval.evaluate(LinearRegression(), copied, y, **FEW)
    assert "[0.0000, 0.0000]" not in str(report)


def test_row_numbers(noise):
    X, y = noise
    frame = pd.DataFrame(X, columns=list("abc")).assign(id=np.arange(1000, 1050))
    mixed = frame.sample(frac=1, random_state=0)
    for numbered in (frame, mixed):
        (sentence,) = warnings_of(numbered, y, names=list(frame))
        assert sentence.startswith("Row number: Feature 'id' counts the samples")
        assert not sentence.headline
    (sentence,) = warnings_of(frame.assign(id=7 * frame["id"]), y, names=list(frame))
    assert sentence.code == "row-number"
    assert warnings_of(mixed.assign(id=7 * mixed["id"]), y, names=list(frame)) == []


@pytest.mark.parametrize("order", [np.arange(50), np.random.default_rng(0).permutation(50)])
def test_row_numbers_that_tell_the_target_forbid_to_quote(noise, order):
    X, y = (
        np.column_stack([noise[0], np.arange(50)])[order],
        np.repeat([0, 1, 0, 1], [20, 9, 3, 18]),
    )
    (sentence,) = warnings_of(X, y[order])
    assert sentence.headline == (
        "feature 'x3' counts the samples, and samples with neighboring numbers have similar targets"
    )
    numbers = np.arange(50) + np.random.default_rng(1).normal(size=50)
    (sentence,) = write_data_warnings(
        X, Target(numbers[order], None, numbers[order]), None, None, {}
    )
    assert sentence.headline


def test_samples_that_are_no_table_are_listed_as_unchecked(noise):
    X, y = noise
    twice = np.vstack([X[:25], X[:25]])
    (kernel,) = warnings_of(twice @ twice.T, y)
    assert kernel.startswith("Not checked: Copies and features, because the samples are not rows")
    assert not kernel.headline
    texts = [f"a text of some length with the number {k}" for k in range(50)]
    (unchecked,) = warnings_of(texts, y)
    assert unchecked.code == "unchecked"
    copies, _ = warnings_of([text.upper() for text in texts[:25]] + texts[:25], y)
    assert copies.headline == "50 of 50 samples are exact copies of another sample"
    assert [text.code for text in warnings_of(["one text"] * 50, y)] == ["unchecked"]
    assert [text.code for text in warnings_of(csr_matrix(twice), y)] == ["copies"]
    assert warnings_of(np.where(X > 2, np.inf, np.where(X < -1, np.nan, X)), y) == []


def test_large_tables_are_searched_for_copies_in_all_rows(noise, monkeypatch):
    monkeypatch.setattr(table, "MAX_CELLS", 1000)
    X = np.random.default_rng(0).normal(size=(500, 4))
    X[-100:] = X[:100]
    copies, unchecked = warnings_of(X, np.arange(500) % 2)
    assert copies.startswith("Exact copies: 200 of 500")
    assert unchecked.startswith("Not checked: 250 of 500 rows")


@pytest.mark.parametrize(("n", "limit"), [(39, "fewer than 40"), (101, "more than 100")])
def test_checks_that_need_another_number_of_rows_are_listed(monkeypatch, n, limit):
    monkeypatch.setattr(duplicates, "MAX_SAMPLES", 100)
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) % 2
    (unchecked,) = warnings_of(X, y)
    sizes = f"({limit} distinct rows)"
    assert unchecked.startswith(
        f"Not checked: Near-duplicates {sizes}; synthetic samples {sizes}. "
    )
    assert warnings_of(X[:, :1], y) == []  # no distances between neighbors in one column


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
    target = validate_data(DecisionTreeClassifier(), X, y, None)[1]
    both = write_data_warnings(X, target, None, None, {"a": name, "b": number})
    assert len(both) == 1  # two names of the same patients
    assert write_data_warnings(X, target, name, None, {"a": name}) == []
    once = np.where(np.arange(len(y)) % 2, name, "")  # no value is no patient
    (found,) = write_data_warnings(X, target, None, None, {"a": once})
    assert f"of {np.sum(once != '')} samples" in found


def test_labels_that_differ_within_an_identifier_are_told_without_a_headline():
    rng = np.random.default_rng(0)
    name, y = patients(rng, 200, flipped=0.25)
    X = rng.normal(size=(len(y), 2))
    target = validate_data(DecisionTreeClassifier(), X, y, None)[1]
    (found,) = write_data_warnings(X, target, None, None, {"patient": name})
    assert found.code == "identifier"
    assert not found.headline
    assert "The samples are not independent" in found


@pytest.mark.parametrize("left_out", [[1, 2], {"a": [1, 2]}, {"a": np.zeros((20, 2))}])
def test_left_out_must_be_columns(left_out):
    with pytest.raises(ValueError, match="left_out must"):
        skeval.evaluate(DecisionTreeClassifier(), np.zeros((20, 2)), [0, 1] * 10, left_out=left_out)


def test_features_that_separate_the_classes_are_noted_without_a_headline(noise):
    X, y = noise
    rng = np.random.default_rng(0)
    for feature in (10 * y + rng.normal(size=50), y * rng.exponential(size=50)):
        (warning,) = warnings_of(np.column_stack([X, feature]), y)
        assert warning.code == "telling-feature"
        assert not warning.headline


@pytest.mark.parametrize("make", [np.exp, lambda y: -(y**3), lambda y: y.round(1)])
def test_functions_of_a_numeric_target_are_copies(noise, make):
    y = noise[0][:, 0]
    X = np.column_stack([noise[0][:, 1:], make(y)])
    (warning,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert warning.headline == "feature 'x2' is a copy of the target"
    X[7, 2] += 1
    assert write_data_warnings(X, Target(y, None, y), None, None, {}) == []


def encode(level, y, smoothing=0.0):
    """Return for each sample the smoothed mean target of its level, by a loop."""
    means = {}
    for each in np.unique(level):
        own = y[level == each]
        means[each] = (own.sum() + smoothing * y.mean()) / (len(own) + smoothing)
    return np.array([means[each] for each in level])


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("of", ["classes", "three classes", "numbers", "counts"])
def test_mean_targets_of_categories_are_grave_however_smoothed(of, smoothing):
    rng = np.random.default_rng(0)
    level, X = rng.integers(0, 12, 120), rng.normal(size=(120, 2))
    y = {
        "classes": rng.integers(0, 2, 120),
        "three classes": rng.integers(0, 3, 120),
        "numbers": rng.normal(size=120),
        "counts": rng.poisson(3, 120).astype(float),
    }[of]
    feature = encode(level, (y == 1) if of == "three classes" else y, smoothing)
    classes = np.unique(y) if "classes" in of else None
    for order in (slice(None), slice(None, None, -1)):
        samples, target = np.column_stack([X, feature])[order], y[order]
        found = write_data_warnings(samples, Target(target, classes, target), None, None, {})
        assert [warning.code for warning in found if warning.headline] == ["target-encoded"]
    honest = encode(level, rng.permutation(feature), smoothing)
    found = write_data_warnings(np.column_stack([X, honest]), Target(y, classes, y), None, None, {})
    assert not any(warning.headline for warning in found)


def test_missing_values_filled_with_knowledge_of_the_class_are_grave(noise):
    X, y = noise[0].copy(), noise[1]
    X[[0, 2, 4], 1] = np.delete(X[y == 0, 1], [0, 1, 2]).mean()
    (warning,) = write_data_warnings(X, Target(y, np.array([0, 1]), y), None, None, {})
    assert warning.code == "target-imputed"
    assert warning.headline.startswith("feature 'x1' repeats a value of one class only")
    X[1, 1] = X[0, 1]  # in a sample of the other class as well
    assert write_data_warnings(X, Target(y, np.array([0, 1]), y), None, None, {}) == []


def test_lists_of_rows_are_checked_as_tables(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    assert warnings_of(X.tolist(), y) == warnings_of(X, y)


@pytest.mark.parametrize("n_others", [0, 1, 2, 5])
def test_numbers_that_hardly_vary_are_told_by_no_feature(noise, n_others):
    """Two of 50 numbers that differ are at the end of some feature by chance, all 50 never."""
    X, y = noise[0], np.zeros(50)
    y[np.argsort(X[:, 0])[50 - n_others :]] = 1.0
    found = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert [text.code for text in found] == (["telling-feature"] if n_others > 2 else [])


@pytest.mark.parametrize("grave", [True, False])
def test_groups_that_share_their_target_forbid_to_quote(grave):
    """Noisy copies that share a random label are grave; where classes lie apart they are not."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 2, 60), 3)
    centers = np.repeat(rng.normal(size=(60, 5)), 3, axis=0)
    X = centers + 0.05 * rng.normal(size=(180, 5)) + (0 if grave else 20) * labels[:, None]
    (found,) = [text for text in warnings_of(X, labels) if text.code == "groups"]
    assert bool(found.headline) == grave


def load_kinds():
    """Import the kinds of tables of the benchmark."""
    path = Path(__file__).parents[3] / "benchmarks" / "data_checks.py"
    spec = importlib.util.spec_from_file_location("data_checks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINDS = load_kinds()
SLOW_KINDS = [
    pytest.param(kind, n, 100, marks=pytest.mark.slow)
    for n in KINDS.SIZES
    for kind in (*KINDS.CLEAN, *KINDS.TRAPS)
]


@pytest.mark.parametrize(
    ("kind", "n", "n_sets"),
    [*((kind, 200, 1) for kind in (*KINDS.CLEAN, *KINDS.TRAPS)), *SLOW_KINDS],
)
def test_clean_tables_raise_no_grave_warning_and_traps_do(kind, n, n_sets):
    n_grave = KINDS.count_grave(kind, n, n_sets)
    if kind in KINDS.TRAPS:
        assert binom.cdf(n_grave, n_sets, 0.9) > 0.001
    else:
        assert binom.sf(n_grave - 1, n_sets, 0.02) > 0.0003


def grave_codes(X, y, **options):
    return [text.code for text in warnings_of(X, y, **options) if text.headline]


def test_waiting_times_that_give_the_choice_of_a_flight_away():
    table = pytest.importorskip("statsmodels.api").datasets.modechoice.load_pandas().data
    air = table[table["mode"] == 1]
    X, flew = air[["ttme", "invc", "gc", "hinc"]].to_numpy(), air["choice"].to_numpy(dtype=int)
    assert grave_codes(X, flew) == ["target-imputed"]
    assert grave_codes(-1e6 * X[::-1], flew[::-1]) == ["target-imputed"]
    assert grave_codes(X[:, 1:], flew) == []
    at_the_end = np.where(X == 64, 200, np.where(X == 69, 210, X))  # an ordinary good feature
    assert grave_codes(at_the_end, flew) == []


def test_persons_whose_rows_repeat():
    table = pytest.importorskip("statsmodels.api").datasets.randhie.load_pandas().data[:1000]
    X, visits = table.drop(columns="mdvis").to_numpy(), table["mdvis"].to_numpy(dtype=float)
    assert "copies" in grave_codes(X, visits)
    persons = np.unique(X[:, [0, 2, 3, 5]], axis=0, return_inverse=True)[1].reshape(-1)
    assert "copies" not in grave_codes(X, visits, groups=persons)
    order = np.lexsort(X.T)  # sorted files hold equal rows together, too
    assert "copies" not in grave_codes(X[order], visits[order])
    order = np.random.default_rng(0).permutation(len(X))
    assert "copies" not in grave_codes(X[order], visits[order])


def test_rows_out_of_time_order_are_found_exactly():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([0, 1], 30)
    dates = np.datetime64("2024-01-01") + np.arange(60)
    few = FEW | {"cv": TimeSeriesSplit(3)}
    model = KNeighborsClassifier(1)
    assert "time-order" not in [
        w.code for w in skeval.evaluate(model, X, y, left_out={"date": dates}, **few).warnings
    ]
    order = rng.permutation(60)
    report = skeval.evaluate(model, X, y, left_out={"date": dates[order]}, **few)
    (warning,) = [w for w in report.warnings if w.code == "time-order"]
    assert "3 of 3 folds train on later rows than they test, by 'date'" in warning.headline


def test_the_guide_lists_the_measured_error_rates():
    """Clean tables have at most 2 % grave false alarms, and faults are detected in 90 %."""
    root = Path(__file__).parents[3]
    page = (root / "doc" / "user_guide" / "warnings.rst").read_text(encoding="utf-8")
    counts = {}
    with (root / "benchmarks" / "results" / "data_checks.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            n_sets, n_grave = int(row["sets"]), int(row["grave"])
            assert n_sets == 100
            assert n_grave >= 90 if row["kind"] == "trap" else n_grave <= 2
            counts.setdefault((row["table"], row["kind"]), []).append(row["grave"])
    kinds = [kind for _, kind in counts]
    assert kinds.count("clean") >= 30
    assert kinds.count("trap") >= 20
    for (name, kind), cells in counts.items():
        code = r" {2,}[a-z-]+" if kind == "trap" else ""
        numbers = r" +".join(cells)
        assert len(cells) == 3
        assert re.search(rf"^{re.escape(name)}{code} +{numbers}$", page, re.M), name


def test_a_single_column_of_categories_holds_no_copies():
    """Samples of three categories are equal by chance."""
    X, y = np.repeat([0.0, 1.0, 2.0], 50)[:, None], np.tile([0, 1, 1], 50)
    order = np.random.default_rng(0).permutation(150)
    (found,) = [f for f in warnings_of(X[order], y) if f.code in ("copies", "equal-rows")]
    assert found.code == "equal-rows"
    assert not found.headline
