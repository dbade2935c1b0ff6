"""Features that give the target away, alone, together, by missing values or by rounding."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.tables import FEW, check_table, warnings_of, write_data_warnings
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import skeval


def test_a_feature_that_tells_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    first = y == 0
    (warning,) = warnings_of(X, first, names=list("abcd"))
    assert str(warning).startswith(
        "Perfect feature: each of the features 'c', 'd' alone predicts the class without error."
    )
    assert not warning.lead  # the classes are far apart in two columns
    assert warnings_of(X[:, :3], first)[0].lead == (
        "Check 'x2' first: alone it predicts the class without error"
    )
    few = np.r_[0:4, 50:54]  # so few samples one of four features may part by chance
    assert [text.code for text in warnings_of(X[few], first[few])] == ["unchecked"]


RULES = {
    "missing": lambda y, x: np.where(y, np.nan, x),
    "missing in the class": lambda y, x: np.where(y, x, np.nan),
    "zero": lambda y, x: y * np.exp(x),
    "last value": lambda y, x: np.where(y, 52, np.floor(10 + 5 * x).clip(1, 50)),
    "code": lambda y, x: np.where(y, 2, np.where(x > 0, 1, 3)),
    "text": lambda y, x: np.where(y, "left", np.where(x > 0, "new", "regular")),
    "threshold": lambda y, x: np.exp(x) * np.where(y, -1, 1),
}


@pytest.mark.parametrize("spoil", [None, "exceptions", "missing"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_a_column_that_decides_a_class_is_named(rule, n_classes, spoil):
    """By missing values, its most frequent value, its levels or its order."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(600) % n_classes)
    feature = RULES[rule](y == 1, rng.normal(size=600))
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc")).assign(f=feature)
    if spoil == "exceptions":  # in one of a hundred rows
        X.loc[:5, "f"] = X["f"].to_numpy()[rng.permutation(600)[:6]]
    if spoil == "missing" and "missing" not in rule:
        X.loc[3, "f"] = None
    labels = np.array(["x", "y", "z"])[y]
    for rows in (np.arange(600), rng.permutation(600)):
        table = X.iloc[rows, ::-1]
        (found,) = warnings_of(table, labels[rows], names=list(table))
        assert found.code == "telling-feature"
        assert "'f'" in str(found)
        assert bool(found.headline) == (rule != "threshold")
        # a good measurement may separate one of several classes
        assert bool(found.lead) == (rule == "threshold" and n_classes == 2)
        assert ("class y" in str(found)) == (n_classes == 3)
    shuffled = rng.permutation(labels)
    assert not any(text.headline for text in warnings_of(X, shuffled, names=list(X)))


@pytest.mark.parametrize(("lacking", "outside", "found"), [(40, 0, 1), (52, 0, 0), (40, 2, 0)])
@pytest.mark.parametrize("swapped", [False, True])
def test_half_of_the_only_class_with_values_may_lack_one(lacking, outside, found, swapped):
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[np.flatnonzero(y == 0)[outside:], 2] = np.nan
    X[np.flatnonzero(y == 1)[:lacking], 2] = np.nan
    texts = warnings_of(X, 1 - y if swapped else y)
    assert sum(text.code == "telling-feature" for text in texts) == found


@pytest.mark.parametrize(("n", "allowed"), [(30, 1), (60, 2), (200, 6), (1000, 30)])
@pytest.mark.parametrize("more", [0, 1])
def test_three_of_a_hundred_rows_may_be_wrong_rounded_up(n, allowed, more):
    """Of 60 rows they are 1.8, so two may be wrong. Half of them are in each class."""
    y = np.arange(n) % 2
    X = np.random.default_rng(0).normal(size=(n, 3))
    wrong = np.arange(n) < allowed + more
    X[(y == 1) != wrong, 2] = np.nan
    codes = [text.code for text in warnings_of(X, y)]
    assert ("telling-feature" in codes) == (not more)


@pytest.mark.parametrize("n_small", [0, 10])
def test_rare_classes_hide_no_column_of_a_large_table(n_small):
    """They are 3 % of the rows, and have the values of another class than they belong to."""
    rng = np.random.default_rng(0)
    y = np.r_[np.repeat([0, 1], 29_100), 2 + np.arange(1800) % max(1, n_small)]
    X = rng.normal(size=(60_000, 2))
    X[:, 1] = np.exp(X[:, 1]) * np.where(y == 1, 1, -1)
    rows = rng.permutation(60_000)
    codes = [text.code for text in warnings_of(X[rows], y[rows])]
    assert "telling-feature" in codes
    assert "telling-feature" not in [text.code for text in warnings_of(X, y[rows])]


def draw_alternating(rng, y, n_values, decimals):
    """Return a value, or an interval of values, of one of two sets, as evenly as possible."""
    odd, even = (np.arange(first, n_values, 2) for first in (1, 0))
    share = np.where((even == 0) | (even == n_values - 1), 0.5, 1.0)
    value = np.where(y, rng.choice(odd, len(y)), rng.choice(even, len(y), p=share / share.sum()))
    return value + decimals * rng.random(len(y))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "n_values", "n_wrong", "n_missing"),
    [("levels", 7, 84, 2970), ("levels", 7, 160, 0), ("order", 5, 0, 2970), ("missing", 2, 170, 0)],
)
def test_no_column_of_a_large_table_is_overlooked(
    kind, n_values, n_wrong, n_missing, seed, swapped
):
    """It is near the limit of its rule, and only some rows of a large table are looked at first."""
    rng = np.random.default_rng(seed)
    y, X = rng.permutation(np.arange(6000) % 2), rng.normal(size=(6000, 3))
    by = (y == 1) ^ np.isin(np.arange(6000), rng.permutation(6000)[:n_wrong]) ^ swapped
    X[:, 1] = draw_alternating(rng, by, n_values, kind == "order")
    X[rng.permutation(6000)[:n_missing], 1] = np.nan
    if kind == "missing":
        X[:, 1] = np.where(by, np.nan, X[:, 0] + X[:, 2])
    report = skeval.evaluate(DummyClassifier(), X, y, include=(), **FEW)
    (found,) = [one for one in report.checks if one.code == "telling-feature"]
    assert "'x1'" in found.evidence
    assert found.outcome == ("note" if kind == "order" else "serious")


def test_an_order_that_decides_several_classes_reaches_the_verdict():
    rng = np.random.default_rng(0)
    X, grade = rng.normal(size=(300, 3)), rng.permutation(np.arange(300) % 5)
    X[:, 1] = grade + rng.random(300)
    X[:3, 1] = rng.random(3)
    (found,) = warnings_of(X, np.array(list("abcde"))[grade])
    assert found.lead.startswith("Check 'x1' first: alone it predicts the class in 99")
    # another measurement that separates one of the classes, or all of them
    X[:, 2] = 10 * (grade == 0) + rng.normal(size=300)
    (found,) = warnings_of(X, np.array(list("abcde"))[grade])
    assert found.lead
    X[:, 2] = 10 * grade + rng.normal(size=300)
    (found,) = warnings_of(X, np.array(list("abcde"))[grade])
    assert not found.lead
    X[grade == 4, 1] = np.nan  # a class with missing values only, and no warning of NumPy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [text for text in warnings_of(X, grade) if "'x1'" in str(text)]
    assert not any(text.lead for text in found)


@pytest.mark.parametrize(
    ("n_known", "elsewhere", "is_found"), [(11, 0, True), (9, 0, False), (11, 2, False)]
)
@pytest.mark.parametrize("as_level", [False, True])
def test_a_column_may_be_known_in_half_of_one_class_only(n_known, elsewhere, is_found, as_level):
    """Such a column was filled in after the class. A level may be common in one class."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [20, 380])
    runoff = rng.normal(size=400)
    runoff[n_known : 400 - elsewhere] = np.nan
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    X = X.assign(runoff=np.where(np.isnan(runoff), "no", "yes") if as_level else runoff)
    codes = [text.code for text in warnings_of(X, y, names=list(X)) if text.headline]
    assert codes == ["telling-feature"] * (is_found and not as_level)


@pytest.mark.parametrize(
    ("n_classes", "n_levels", "is_grave"), [(4, 2, True), (5, 2, False), (5, 3, True)]
)
@pytest.mark.parametrize("n_exceptions", [0, 2])
def test_two_levels_may_be_a_trait_of_one_of_many_classes(
    n_classes, n_levels, is_grave, n_exceptions
):
    """The trait opens the verdict, because it may be made of the class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.permutation(np.arange(400) % n_classes)
    others = rng.integers(0, 2, 400) if n_levels == 3 else 0
    X[:, 1] = np.where(y == 0, 0, 2 * others - 1)  # a middle level, or the upper one
    X[:, 2] = X[:, 1]
    X[np.flatnonzero(y == 0)[:n_exceptions], 2] = X[:, 1].min()
    (found,) = warnings_of(X, y)
    assert (bool(found.headline), bool(found.lead)) == (is_grave, not is_grave)
    assert ("at least 99.5 %" in str(found)) == (n_exceptions > 0)


@pytest.mark.parametrize("n_exact", [0, 5])
def test_most_rows_of_a_predicted_class_are_of_this_class(n_exact):
    """A level that most of a small class shares with a few other rows does not decide it."""
    rng = np.random.default_rng(0)
    y = np.arange(200) < 12
    level = np.where(y, "own", rng.choice(["a", "b", "c"], 200))
    level[12 : 17 - n_exact] = "own"  # 97.5 % of the rows, but 12 of 17 predictions
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).assign(level=level)
    assert bool(warnings_of(X, y.astype(int), names=list(X))) == (n_exact == 5)


def test_a_feature_that_decides_the_class_opens_the_verdict(noise):
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) % 2
    X[:, 1] = np.exp(X[:, 1]) * np.where(y, 1, -1)
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, include=(), **FEW)
    assert report.verdict.startswith("Check 'x1' first: alone it predicts the class without error.")
    assert "better than" not in report.verdict


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.log, np.negative, lambda y: 2.2046 * y, lambda y: y / y.std()])
def test_single_precision_hides_no_copy(make, dtype):
    rng = np.random.default_rng(0)
    y = rng.lognormal(3, 1, 300).astype(dtype)
    X = np.column_stack([make(y), rng.normal(size=300).astype(dtype)])
    (found,) = write_data_warnings(X, y)
    function = "the target is a simple function of feature 'x0'"
    copy = "feature 'x0' is a copy of the target"
    assert found.headline == (function if make is np.log else copy)
    part = (y * rng.random(300)).astype(dtype)
    sums = np.column_stack([part, y - part, rng.normal(size=300).astype(dtype)])
    (found,) = write_data_warnings(sums, y)
    assert found.headline == "the target is a weighted sum of features 'x0', 'x1', up to rounding"


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
    assert (warning.code, "'f'" in str(warning)) == ("telling-feature", True)
    assert bool(warning.headline) == is_grave
    found = warnings_of(frame, np.random.default_rng(1).permutation(y), names=list(frame))
    assert [text.code for text in found] == []


@pytest.mark.parametrize("make", [np.exp, lambda y: -(y**3), lambda y: y.round(1)])
def test_functions_of_a_numeric_target_are_reported(noise, make):
    y = noise[0][:, 0]
    X = np.column_stack([noise[0][:, 1:], make(y)])
    (warning,) = write_data_warnings(X, y)
    headline = "the target is a simple function of feature 'x2'"
    if np.abs(make(y) - y).max() < 0.1:  # rounded
        headline = "feature 'x2' is a copy of the target"
    assert warning.headline == headline
    X[7, 2] += 1  # one row, and a missing value, hide nothing
    X[8, 2] = np.nan
    (warning,) = write_data_warnings(X, y)
    assert warning.headline == headline
    X[:4, 2] += 1
    assert write_data_warnings(X, y) == []


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
    for order in (slice(None), slice(None, None, -1)):
        samples, target = np.column_stack([X, feature])[order], y[order]
        found = write_data_warnings(samples, target)
        assert [warning.code for warning in found if warning.headline] == ["target-encoded"]
    honest = encode(level, rng.permutation(feature), smoothing)
    found = write_data_warnings(np.column_stack([X, honest]), y)
    assert not any(warning.headline for warning in found)


@pytest.mark.parametrize("n_others", [0, 1, 2, 5])
def test_numbers_that_hardly_vary_are_told_by_no_feature(noise, n_others):
    """Two of 50 numbers that differ are at the end of some feature by chance, all 50 never."""
    X, y = noise[0], np.zeros(50)
    y[np.argsort(X[:, 0])[50 - n_others :]] = 1.0
    found = write_data_warnings(X, y)
    assert [text.code for text in found] == (["telling-feature"] if n_others > 2 else [])


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
    named = {column for column in range(9) if f"'x{column}'" in str(warning)}
    assert named <= features
    assert len(named) == min(3, len(features))
    entry = next(one for one in report.to_dict()["warnings"] if one["code"] == "perfect")
    assert entry["outcome"] == ("note" if kind == "difference" else "serious")
    assert ("nearly" in str(warning)) == (kind == "difference")  # numbers are never exact
    assert "perfect" not in [
        text.code
        for text in skeval.evaluate(model, X, rng.permutation(y), include=(), **FEW).warnings
    ]


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
    else:
        y = rng.integers(0, 3, n_rows)
        copy = 7.0 * y if spoil == "recoded" else y.astype(float)
    copy[:2] = np.nan if spoil == "missing" else copy[:2] + (spoil == "deviating")
    X = pd.DataFrame({"a": noise[:, 0], "b": noise[:, 1], "f": copy})
    if spoil == "text":
        X["f"] = [f"level {value:.0f}" for value in copy]
        X.loc[3, "f"] = None
    found = write_data_warnings(X, y, names=list(X))
    headline = "feature 'f' is a copy of the target"
    if kind == "classes" and spoil == "deviating":
        headline = "feature 'f' is nearly a copy of the target (2 rows differ)"
    if kind == "numbers" and spoil == "rounded":
        headline = "the target is a simple function of feature 'f'"
    assert [text.headline for text in found if text.headline] == [headline]


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
    return write_data_warnings(X, y, names=names)


@pytest.fixture
def two_groups():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 5)), rng.permutation(np.repeat(["ill", "well"], 100))


def test_decimals_of_a_class_are_no_trace(two_groups):
    X, y = two_groups
    assert find(X.round(1), y) == []
    larger = np.exp(X + np.log(10) * (y == "ill")[:, None])
    three_digits = np.array([[float(f"{value:.3g}") for value in row] for row in larger])
    assert find(three_digits, y) == []
    X[:, 3] = np.where(y == "ill", X[:, 3].round(1), X[:, 3].round(3))
    assert find(X, y) == []


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
    # five columns need twenty rows
    assert [warning.code for warning in find(X[:20], y[:20])] == ["target-formula", "unchecked"]
    assert [warning.code for warning in find(X[:19], y[:19])] == ["unchecked"]


@pytest.mark.parametrize("n_rare", [7, 8])
def test_a_class_that_a_feature_decides_has_eight_rows(n_rare):
    y = np.arange(60) < n_rare
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 1] += 20 * y
    codes = [warning.code for warning in warnings_of(X, y)]
    assert ("telling-feature" in codes) == (n_rare == 8)


@pytest.mark.parametrize("n", [9, 10])
def test_features_of_perfect_predictions_are_named_from_ten_rows_on(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = X[:, 1] - X[:, 2] + 1e-3 * np.random.default_rng(1).normal(size=n)
    report = skeval.evaluate(LinearRegression(), X, y, include=(), cv=3, **FEW)
    (warning,) = [text for text in report.warnings if text.code == "perfect"]
    assert ("'x1'" in str(warning)) == (n == 10)


@pytest.mark.parametrize("code", [0, 119])
def test_of_many_classes_the_largest_may_be_decided(code):
    """The others are too small for a column that decides one of them to matter."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(120), np.where(np.arange(120) < 100, 20, 10))
    X = np.column_stack([y == code, rng.normal(size=len(y))]).astype(float)
    found = [one.code for one in check_table(X, y) if one.lead]
    assert found == (["telling-feature"] if code == 0 else [])


def test_a_finding_may_have_a_title_of_its_own():
    y = np.random.default_rng(0).normal(size=100)
    titles = {
        kind: {one.title for one in check_table(column[:, None], y) if one.code == "target-copy"}
        for kind, column in {"linear": 2 * y + 1, "curved": np.exp(y)}.items()
    }
    assert all(map(len, titles.values()))
    assert titles["linear"].isdisjoint(titles["curved"])


@pytest.mark.parametrize("n_rows", [400, 2000])
@pytest.mark.parametrize(("noise_size", "is_told"), [(0.0, True), (0.001, True), (0.2, False)])
def test_a_feature_with_nearly_equal_targets_of_neighbors_opens_the_verdict(
    n_rows, noise_size, is_told
):
    """The target neither rises nor falls with it. A target of one value has no such feature."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 3))
    gap = np.abs(2 * X[:, 1] - 1)
    y = gap + noise_size * rng.normal(size=n_rows)
    leads = [one.lead for one in write_data_warnings(X, y) if one.lead]
    told = ["Check 'x1' first: alone it predicts the target nearly exactly"]
    assert leads == told * is_told
    X[:, 1] = np.round(X[:, 1], 1)  # half of the rows have a value of their own
    assert [one.lead for one in write_data_warnings(X, y) if one.lead] == []
    X[:, 1] = 3 * y  # a copy is named once
    assert [one.code for one in write_data_warnings(X, y)] == ["target-copy"]
