"""Features that give the target away, alone, together, by missing values or by rounding."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.tables import FEW, warnings_of
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._resampling.sampling_units import Target
from skeval.report._data_checks import write_data_warnings


def test_a_feature_that_tells_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    first = y == 0
    assert warnings_of(X, first, names=list("abcd"))[0].startswith(
        "Perfect feature: Each of the features 'c', 'd' alone separates all classes without error."
    )
    few = np.r_[0:4, 50:54]  # so few samples one of four features may part by chance
    assert [text.code for text in warnings_of(X[few], first[few])] == ["unchecked"]


def test_features_that_separate_the_classes_are_noted_without_a_headline(noise):
    X, y = noise
    rng = np.random.default_rng(0)
    for feature in (10 * y + rng.normal(size=50), y * rng.exponential(size=50)):
        (warning,) = warnings_of(np.column_stack([X, feature]), y)
        assert warning.code == "telling-feature"
        assert not warning.headline


@pytest.mark.parametrize(
    ("kind", "is_grave"), [("sign", False), ("bands", False), ("code", True), ("text", True)]
)
def test_features_whose_bands_or_values_determine_the_class(noise, kind, is_grave):
    X, code = noise[0], np.random.default_rng(0).integers(0, 6, 50)
    y = np.isin(code, [1, 3, 4]).astype(int)  # no interval of the codes
    frame = pd.DataFrame(X).add_prefix("x").assign(f=code)
    if kind == "text":
        frame["f"] = [f"level {value}" for value in code]
    elif kind != "code":
        frame["f"] = X[:, 0]
        y = (X[:, 0] > 0 if kind == "sign" else np.abs(X[:, 0]) > 0.7).astype(int)
        frame = frame.drop(columns="x0")
    (warning,) = warnings_of(frame, y, names=list(frame))
    assert (warning.code, "'f'" in warning) == ("telling-feature", True)
    assert bool(warning.headline) == is_grave
    found = warnings_of(frame, np.random.default_rng(1).permutation(y), names=list(frame))
    assert [text.code for text in found] == []


@pytest.mark.parametrize("make", [np.exp, lambda y: -(y**3), lambda y: y.round(1)])
def test_functions_of_a_numeric_target_are_copies(noise, make):
    y = noise[0][:, 0]
    X = np.column_stack([noise[0][:, 1:], make(y)])
    (warning,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert warning.headline == "feature 'x2' is a copy of the target"
    X[7, 2] += 1  # one row, and a missing value, hide nothing
    X[8, 2] = np.nan
    (warning,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert warning.headline == "feature 'x2' is a copy of the target"
    X[:4, 2] += 1
    assert write_data_warnings(X, Target(y, None, y), None, None, {}) == []


def encode(level, y, smoothing=0.0):
    """Return for each sample the smoothed mean target of its level, by a loop."""
    means = {}
    for each in np.unique(level):
        own = y[level == each]
        means[each] = (own.sum() + smoothing * y.mean()) / (len(own) + smoothing)
    return np.array([means[each] for each in level])


@each_value
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


@pytest.mark.parametrize("n_others", [0, 1, 2, 5])
def test_numbers_that_hardly_vary_are_told_by_no_feature(noise, n_others):
    """Two of 50 numbers that differ are at the end of some feature by chance, all 50 never."""
    X, y = noise[0], np.zeros(50)
    y[np.argsort(X[:, 0])[50 - n_others :]] = 1.0
    found = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert [text.code for text in found] == (["telling-feature"] if n_others > 2 else [])


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


@pytest.mark.parametrize("kind", ["category", "indicators", "one-hot", "difference"])
def test_predictions_without_error_are_reported_with_the_features_that_give_them(kind):
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(160, 9)), rng.permutation(np.arange(160)) % 8
    model, y = DecisionTreeClassifier(random_state=0), group % 2
    if kind == "category":  # of six levels, which determine two classes
        X[:, 2], features = group % 6, {2}
        y = X[:, 2].astype(int) % 2
    elif kind == "indicators":
        y, features = group % 3, {1, 2}
        X[:, 1], X[:, 2] = y == 0, y == 1
    elif kind == "one-hot":  # three of the indicators are named
        X[:, :8], features = np.eye(8)[group], set(range(8))
    else:
        model, features = LinearRegression(), {1, 2}
        y = X[:, 1] - X[:, 2] + 0.001 * rng.normal(size=160)
    report = skeval.evaluate(model, X, y, include=(), **FEW)
    (warning,) = [text for text in report.warnings if text.code == "perfect"]
    named = {column for column in range(9) if f"'x{column}'" in warning}
    assert named <= features
    assert len(named) == min(3, len(features))
    entry = next(one for one in report.to_dict()["warnings"] if one["code"] == "perfect")
    assert entry["severity"] == ("note" if kind == "difference" else "serious")
    assert "perfect" not in [
        text.code
        for text in skeval.evaluate(model, X, rng.permutation(y), include=(), **FEW).warnings
    ]


COMPARISONS = {
    "order": lambda X: X[:, 9] > X[:, 10],
    "difference": lambda X: X[:, 9] - X[:, 10] > X[:, 11] - 40,
    "weighted sum": lambda X: 2 * X[:, 9] + X[:, 10] > 110,
    "product": lambda X: X[:, 9] * X[:, 10] > 40 * X[:, 11],
    "ratio": lambda X: X[:, 9] / X[:, 10] ** 2 > 0.025,
    "band": lambda X: np.digitize(X[:, 9] - X[:, 10], [-10, 10]),
    "largest": lambda X: X[:, 9:].argmax(axis=1),
    "exclusive-or": lambda X: (X[:, 9] > 35) ^ (X[:, 10] > 40),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_classes_decided_by_a_comparison_are_reported_with_the_features(name):
    rng = np.random.default_rng(0)
    shape = {"order": (60, 30), "exclusive-or": (150, 30)}.get(name, (150, 12))
    X = rng.gamma(4, 10, shape).round(1)
    y = COMPARISONS[name](X[:, :12]).astype(int)
    for scale in (1e-160, 1e160, 1.0):  # the unit does not matter
        (found,) = [text for text in warnings_of(scale * X, y) if text.headline]
        assert found.code == "target-formula"
    used = [f"'x{k}'" in found for k in range(shape[1])]
    assert used[9:11] == [True, True]
    assert used[:9] == [False] * 9
    assert grave_codes(X + 5 * rng.normal(size=X.shape), y) == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_lie_apart_are_decided_by_no_comparison(n_classes):
    """Gaussian and log-normal classes that are separated by chance, or clearly."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(120) % n_classes)
        X = rng.normal(size=(n_classes, 4))[y] * rng.uniform(2, 3) + rng.normal(size=(120, 4))
        assert grave_codes(X, y) == []
        assert grave_codes(np.exp(X), y) == []


@pytest.mark.parametrize("n_rows", [60, 200])
@pytest.mark.parametrize(
    "spoil", [None, "missing", "deviating", "rounded", "other units", "recoded", "text"]
)
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_rounding_missing_values_and_exceptions_hide_no_copy(kind, spoil, n_rows):
    rng = np.random.default_rng(n_rows)
    noise = rng.normal(size=(n_rows, 2)).round(2)
    if kind == "numbers":
        if spoil in ("recoded", "text"):
            pytest.skip("codes of classes")
        y = rng.gamma(4, 10, n_rows).round(1)
        copy = (2.54 * y).round(1) if spoil == "other units" else y.copy()
        copy = np.log(y).round(3) if spoil == "rounded" else copy
        target = Target(y, None, y)
    else:
        y = rng.integers(0, 3, n_rows)
        copy = 7.0 * y if spoil == "recoded" else y.astype(float)
        target = Target(y, np.arange(3), y)
    copy[:2] = np.nan if spoil == "missing" else copy[:2] + (spoil == "deviating")
    X = pd.DataFrame({"a": noise[:, 0], "b": noise[:, 1], "f": copy})
    if spoil == "text":
        X["f"] = [f"level {value:.0f}" for value in copy]
        X.loc[3, "f"] = None
    found = write_data_warnings(X, target, None, list(X), {})
    other = ", except for 2 rows" * (kind == "classes" and spoil == "deviating")
    assert [text.headline for text in found if text.headline] == [
        f"feature 'f' is a copy of the target{other}"
    ]


def test_a_rare_class_is_no_copy_of_a_rare_value():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, other = (np.random.default_rng(rng.integers(1 << 30)).random((2, 300)) < 0.02).astype(
            int
        )
        if y.sum() > 1 and other.any():
            X = np.column_stack([rng.normal(size=300), other])
            assert not any(text.headline for text in warnings_of(X, y))


@pytest.mark.parametrize("kept", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("n_empty", [0, 4])
@pytest.mark.parametrize("classes", [True, False])
def test_row_numbers_with_gaps_and_empty_cells(kept, shuffled, n_empty, classes):
    """Rows may have been removed, for example those without a target."""
    rng = np.random.default_rng(0)
    number = np.flatnonzero(rng.random(200) < kept) + 1.0
    y = (number > 100).astype(int) if classes else number + 40 * rng.normal(size=len(number))
    X = np.column_stack([rng.normal(size=(len(number), 2)), number])
    X[rng.choice(len(number), n_empty, replace=False), 2] = np.nan
    order = rng.permutation(len(y)) if shuffled else np.arange(len(y))
    codes = [text.code for text in find(X[order], y[order]) if text.headline]
    assert ("row-number" in codes) == (kept > 0.5 or not shuffled)


def test_names_are_no_row_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"name": [f"S{k:03d}" for k in range(60)], "a": rng.normal(size=60)})
    assert warnings_of(X, rng.integers(0, 2, 60), names=list(X)) == []


def find(X, y, names=None):
    """Return the warnings of a table, of classes if labels are not floats."""
    if y.dtype.kind == "f":
        return write_data_warnings(X, Target(y, None, y), None, names, {})
    classes, codes = np.unique(y, return_inverse=True)
    return write_data_warnings(X, Target(y, classes, codes), None, names, {})


@pytest.fixture
def two_groups():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 5)), rng.permutation(np.repeat(["ill", "well"], 100))


def assert_grave_in_any_representation(X, y, code):
    """Order of rows and columns, names of classes and signs of features change nothing."""
    order = np.random.default_rng(1).permutation(len(y))
    renamed = np.where(y == "ill", 1, 0)
    for rows, labels in [(X, y), (X[:, ::-1], renamed), (X[order], y[order]), (-X, 1 - renamed)]:
        (warning,) = find(rows, labels)
        assert warning.code == code
        assert warning.headline


def test_values_missing_in_most_of_a_class_are_grave(two_groups):
    X, y = two_groups
    X[np.flatnonzero(y == "ill")[:60], 3] = np.nan
    assert_grave_in_any_representation(X, y, "missing-by-class")
    assert find(X, y)[0].startswith(
        "Missing in one class only: Feature 'x3' has missing values only in class ill (60 % of its "
        "samples)."
    )


def test_values_missing_in_a_few_of_a_class_are_noted_unless_chance_explains_them(two_groups):
    X, y = two_groups
    X[np.flatnonzero(y == "ill")[:20], 3] = np.nan
    (warning,) = find(X, y)
    assert warning.code == "missing-by-class"
    assert not warning.headline
    X[np.flatnonzero(y == "well")[:1], 3] = np.nan
    assert find(X, y) == []
    few = two_groups[0].copy()
    few[:, 3] = 0.5 + np.arange(200)
    few[np.flatnonzero(y == "ill")[:4], 2] = np.nan
    assert "missing-by-class" not in [warning.code for warning in find(few, y)]


def test_fewer_decimals_in_a_class_are_grave_and_no_identifier(two_groups):
    X, y = two_groups
    X[:, 3] = np.where(y == "ill", X[:, 3].round(1), X[:, 3].round(3))
    assert_grave_in_any_representation(X, y, "rounded-by-class")


def test_decimals_that_size_or_few_values_explain_are_no_trace(two_groups):
    X, y = two_groups
    assert find(X.round(1), y) == []
    larger = np.exp(X + np.log(10) * (y == "ill")[:, None])
    three_digits = np.array([[float(f"{value:.3g}") for value in row] for row in larger])
    assert find(three_digits, y) == []
    X[:, 3] = np.where(y == "ill", np.arange(200) % 3, np.abs(X[:, 3]))  # a score of 0, 1 or 2
    assert "rounded-by-class" not in [warning.code for warning in find(X, y)]


@pytest.mark.parametrize(
    ("compute", "formula"),
    [
        (lambda X: X[:, 0] - 2 * X[:, 2] + 5, "weighted sum"),
        (lambda X: 3 * X[:, 0] / X[:, 2] ** 2, "product"),
    ],
)
def test_a_target_computed_from_features_is_grave(two_groups, compute, formula):
    X = np.exp(two_groups[0][:50])
    y = compute(X)
    (warning,) = find(X, y)
    assert warning.headline == (f"the target is a {formula} of features 'x0', 'x2', up to rounding")
    assert find(1e6 * X[::-1], y[::-1])[0].headline == warning.headline
    if formula == "weighted sum":  # of rounded numbers, in any unit
        assert find(X, 1e-9 * y.round(2))[0].headline == warning.headline
    assert find(X, y * (1 + 1e-5 * np.random.default_rng(0).normal(size=50))) == []
    assert [warning.code for warning in find(X[:15], y[:15])] == ["unchecked"]  # too few rows
