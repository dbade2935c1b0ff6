"""Are tests and checks right as often as they say where there is nothing to find?

Permutation tests hold P(pvalue <= a) <= a with a selection inside, and not with one outside: labels
are independent of 60 features; SelectKBest(5) and a linear SVM, 3 folds. Short versions are always
on, long ones run with ``-m slow``.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.tables import write_data_warnings
from scipy import stats
from scipy.stats import binom, binomtest, t
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import skeval
from skeval.model_selection import compare_scores, permutation_test

PROCEDURE = make_pipeline(SelectKBest(k=5), SVC(kernel="linear"))
SHORT = {"n_data_sets": 40, "n_permutations": 19, "levels": (0.05, 0.1)}
LONG = {"n_data_sets": 400, "n_permutations": 199, "levels": (0.01, 0.05, 0.1)}
SIZES = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.slow)]


def plain(rng):
    return rng.normal(size=(24, 60)), rng.permutation(np.tile([0, 1], 12)), {}


def within_groups(rng):
    """Groups differ in the features and in the class proportions: only within them is it fair."""
    groups = np.repeat(np.arange(3), 8)
    X = rng.normal(size=(24, 60)) + 2 * rng.normal(size=(3, 60))[groups]
    y = np.concatenate([rng.permutation([0] * zeros + [1] * (8 - zeros)) for zeros in (2, 4, 6)])
    return X, y, {"groups": groups, "cv": list(StratifiedKFold(3).split(X, y))}


def whole_groups(rng):
    """Every sample of a group has the label of the group, and features in common with it."""
    groups = np.repeat(np.arange(12), 2)
    X = rng.normal(size=(24, 60)) + 2 * rng.normal(size=(12, 60))[groups]
    return X, rng.permutation(np.tile([0, 1], 6))[groups], {"groups": groups, "cv": GroupKFold(3)}


def sequential(rng):
    X, y, _ = plain(rng)
    return X, y, {"max_exceedances": 5}


def decided(rng):
    X, y, _ = plain(rng)
    return X, y, {"alpha": 0.1}


def pvalues(design, n_data_sets, n_permutations, selected_before=False):
    found = []
    for seed in range(n_data_sets):
        X, y, options = design(np.random.default_rng(seed))
        if selected_before:
            X = SelectKBest(k=5).fit_transform(X, y)
        options = {"cv": StratifiedKFold(3), "random_state": seed} | options
        found.append(
            permutation_test(PROCEDURE, X, y, n_permutations=n_permutations, **options).pvalue
        )
    return np.array(found)


def is_valid(found, level):
    rejected = int(np.sum(found <= level))
    return binomtest(rejected, len(found), level, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "design",
    [plain, within_groups, whole_groups, sequential, decided],
    ids=lambda design: design.__name__,
)
def test_the_whole_procedure_is_valid(design, size):
    found = pvalues(design, size["n_data_sets"], size["n_permutations"])
    for level in size["levels"]:
        assert is_valid(found, level), f"level {level}: {np.mean(found <= level)}"
    assert found.min() < 0.5  # it can reject at all


@pytest.mark.parametrize("size", SIZES)
def test_selecting_before_is_not_valid(size):
    """The features were chosen with the true labels, and the permutations do not choose again."""
    found = pvalues(plain, size["n_data_sets"] // 2, size["n_permutations"], selected_before=True)
    assert np.mean(found <= 0.05) > 0.3


@pytest.mark.parametrize("size", SIZES)
def test_ignoring_groups_is_not_valid(size):
    """Shuffling samples where labels belong to groups rejects far too often."""

    def ungrouped(rng):
        X, y, _ = whole_groups(rng)
        return X, y, {"cv": StratifiedKFold(3, shuffle=True, random_state=0)}

    found = pvalues(ungrouped, size["n_data_sets"] // 2, size["n_permutations"])
    assert np.mean(found <= 0.05) > 0.3


def test_power():
    """A planted signal is found."""

    def planted(rng):
        X, y, options = plain(rng)
        X[y == 1, :5] += 2
        return X, y, options

    assert (pvalues(planted, 10, 19) == 0.05).all()


FEW = {"n_permutations": 0, "random_state": 0}


def count_claims(n_sets, make, model, **few):
    """Return how many of the data sets are called better than chance, or than shuffled labels."""
    claims = 0
    for child in np.random.SeedSequence(1).spawn(n_sets):
        rng = np.random.default_rng(child)
        options = FEW | {"n_permutations": 79} | few
        told = skeval.evaluate(model, *make(rng), **options).verdict.lower()
        claims += "better than" in told
    return claims


def draw_noise(rng, n=40, share=0.5):
    return rng.normal(size=(n, 3)), (np.arange(n) < share * n).astype(int)


@pytest.mark.simulated
def test_noise_is_not_called_better_than_chance():
    few = {"cv": 3, "n_permutations": 0, "include": "holdout"}
    claims = count_claims(8, draw_noise, LinearDiscriminantAnalysis(), **few)
    assert binom.sf(claims - 1, 8, 0.05) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(40, 0.5), (100, 0.3), (200, 0.1)])
def test_noise_is_not_called_better_than_chance_long(n, share):
    claims = count_claims(300, lambda rng: draw_noise(rng, n, share), LinearDiscriminantAnalysis())
    print(n, share, claims / 300)
    assert binom.sf(claims - 1, 300, 0.05) > 0.001


SHARED = {"random_state": 0}


def evaluate(*args, **kwargs):
    return skeval.evaluate_predictions(*args, **SHARED, **kwargs)


def count_false_differences(kind, n_sets, n_subgroups):
    """Return how many sets with equal subgroups of 20 samples have one that differs."""
    n_different, n = 0, 20 * n_subgroups
    by = np.repeat(np.arange(n_subgroups), 20)
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y, groups = rng.integers(0, 2, n), None
        if kind == "labels":
            predicted = np.where(rng.random(n) < 0.05, 1 - y, y)
        elif kind == "scores":
            predicted = 1.5 * y + rng.normal(size=n)
        else:
            y, groups = rng.normal(size=n), np.repeat(np.arange(n // 4), 4)
            predicted = y + rng.normal(size=n // 4)[groups] + 0.5 * rng.normal(size=n)
        less = evaluate(y, predicted, by=by, groups=groups).subgroups.less_the_rest
        n_different += any(one.details["pvalue_adjusted"] <= 0.05 for one in less.values())
    return n_different


@pytest.mark.parametrize("kind", ["labels", "numbers", "scores"])
def test_equal_subgroups_do_not_differ(kind):
    assert count_false_differences(kind, 1, 6) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "numbers", "scores"])
def test_equal_subgroups_rarely_differ(kind):
    """Of 12 sets each with 12 or 15 equal subgroups of 20, 1, 0 and 0 had a different one."""
    assert count_false_differences(kind, 12, 12) <= 3


N, K = 15, 5


def count_rejections(n_simulations, noise):
    """Return how many simulations call any pair different: Wilcoxon, Nemenyi, Iman-Davenport."""
    rng = np.random.default_rng(0)
    counts = np.zeros(3, dtype=int)
    for _ in range(n_simulations):
        scores = rng.normal(size=(N, K)) * noise
        found = compare_scores(scores, over="datasets", method="wilcoxon")
        furthest, further = found.extra.critical_difference, np.ptp(found.extra.mean_ranks)
        wilcoxon = found.to_matrix("pvalue").min() <= 0.05
        counts += [wilcoxon, further >= furthest, found.omnibus.pvalue <= 0.05]
    return counts


def test_all_keep_their_level_where_all_are_equal():
    counts = count_rejections(200, 1.0)
    assert (stats.binom.sf(counts - 1, 200, 0.06) > 0.001).all()


@pytest.mark.slow
def test_wilcoxon_keeps_its_level_where_some_vary_more_and_nemenyi_does_not():
    wilcoxon, nemenyi, f = count_rejections(4000, np.array([30.0, 1.0, 30.0, 1.0, 30.0])) / 4000
    print(f"Wilcoxon {wilcoxon:.3f}, Nemenyi {nemenyi:.3f}, Iman-Davenport {f:.3f}")
    assert wilcoxon < 0.05
    assert nemenyi > 0.055
    assert f > 0.055


@each_value
@pytest.mark.simulated
@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize(
    ("ratio", "correlation"), [(1, 0), (1.2, 0.5), (1.5, 0), (2, 0.8), (3, 0), (3, 0.9)]
)
def test_difference_over_the_sum_of_the_roots_covers(n, ratio, correlation):
    rng, n_sets = np.random.default_rng(0), 4000
    first, other = rng.normal(size=(2, n_sets, n))
    second = ratio * (correlation * first + np.sqrt(1 - correlation**2) * other)
    squares = first**2 - second**2
    roots = np.sqrt(np.mean(first**2, axis=1)) + np.sqrt(np.mean(second**2, axis=1))
    margin = t.ppf(0.975, n - 1) * squares.std(axis=1, ddof=1) / np.sqrt(n)
    apart = np.abs(squares.mean(axis=1) / roots - (1 - ratio))
    assert binom.cdf(np.sum(apart <= margin / roots), n_sets, 0.95) > 1e-3


ALARMS = {
    "disagree": "standard errors of their difference",
    "632": "quote neither .632 nor .632+",
    "worse": "the estimator is worse",
    "copies": "are exact copies",
    "answer": "is a copy of the target",
    "telling": "alone separates all classes",
    "index": "counts the samples",
    "identifier": "share their value of",
    "groups": "of the samples have",
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
            n_permutations=0,
            left_out={
                "date": np.datetime64("2024-01-01") + np.arange(n),
                "city": draw_city(n, rng),
            },
            random_state=int(rng.integers(2**31)),
        )
        for name, words in ALARMS.items():
            counts[name] += any(words in str(one) for one in report.warnings)
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
        found = write_data_warnings(X, y)
        n_warned += any(text.code != "unchecked" for text in found)
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
        found = write_data_warnings(pd.DataFrame(columns), y, names=list(columns))
        n_warned += any("identifier" in text.code for text in found)
    assert binom.sf(n_warned - 1, 60, LIMIT) > 0.001, n_warned
