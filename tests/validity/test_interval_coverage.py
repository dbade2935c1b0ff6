"""Do intervals of errors and metrics cover as often as they say? Values of multi-class areas."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from helpers.batch_rules import BatchCentroid, BatchLDA, BatchNearestNeighbor, lda_rule, register
from helpers.coverage import consistent_with
from helpers.crossed import each_value
from helpers.simulation import GaussianDesign, GroupedDesign, simulate
from numpy.random import SeedSequence
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import binom, binomtest, norm
from sklearn import metrics as sk
from sklearn.base import clone, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._adapters.runner import Runner
from skeval._resampling.inputs import validate_inputs
from skeval.model_selection import (
    bootstrap_error,
    bootstrap_score,
    compare_predictions,
    error_interval,
    holdout_error,
    metric_interval,
    perturbation_interval,
)
from skeval.model_selection._bootstrap import estimate_bootstraps


@pytest.mark.filterwarnings("ignore:The interval is undefined")  # Wald's without errors
@pytest.mark.parametrize("n", [20, 50, 200])
def test_exact_coverage_of_the_proportion_intervals(n):
    """Summed over all outcomes: Clopper-Pearson never below, Wilson near on average, Wald below."""
    errors, wrong = np.linspace(0.02, 0.5, 97), np.arange(n + 1)
    estimates, coverage = [holdout_error(np.zeros(n), np.arange(n) < k) for k in wrong], {}
    for method in ("exact", "wilson", "jeffreys", "agresti_coull", "wald"):
        low, high = np.array([[*one.confidence_interval(method=method)] for one in estimates]).T
        covers = (low[:, None] <= errors) & (errors <= high[:, None])
        coverage[method] = np.sum(binom.pmf(wrong[:, None], n, errors) * covers, axis=0)
    assert coverage["exact"].min() >= 0.95
    assert abs(coverage["wilson"].mean() - 0.95) < 0.01
    assert coverage["wilson"].min() > 0.83
    assert abs(coverage["jeffreys"].mean() - 0.95) < 0.015
    assert coverage["agresti_coull"].min() > 0.91
    assert coverage["wald"].mean() < coverage["wilson"].mean() - 0.005


@each_value
@pytest.mark.filterwarnings("ignore:The interval is undefined")  # the normal one without errors
@pytest.mark.parametrize("sizes", [(30, 30), (100, 20)])
@pytest.mark.parametrize("rates", [(0.02, 0.02), (0.05, 0.2), (0.3, 0.2)])
@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_exact_coverage_with_priors(sizes, rates, prior):
    """Why stratified Wilson is the default: the normal interval may cover 47 %."""
    sizes, rates, priors = np.array(sizes), np.array(rates), np.array([prior, 1 - prior])
    covered, y = {"stratified_wilson": 0.0, "normal": 0.0}, np.repeat([0, 1], sizes)
    for first in range(sizes[0] + 1):
        for second in range(sizes[1] + 1):
            wrong = np.array([first, second])
            probability = np.prod(binom.pmf(wrong, sizes, rates))
            if probability < 1e-7:
                continue
            missed = np.concatenate([np.arange(n) < k for k, n in zip(wrong, sizes, strict=True)])
            found = holdout_error(y, np.where(missed, 1 - y, y), priors=priors)
            for method in covered:
                interval = found.confidence_interval(method=method)
                covered[method] += probability * (priors @ rates in interval)
    assert 0.935 < covered["stratified_wilson"] < 0.975
    assert covered["normal"] < 0.947


N, L = 90, 4
SHARES = np.array([0.5, 0.4, 0.3, 0.2])


def draw(rng, n=N):
    """Return labels that go together, and their probabilities."""
    together = rng.normal(size=(n, 1))
    y = (0.6 * rng.normal(size=(n, L)) + 0.8 * together > norm.isf(SHARES)).astype(int)
    odds = 1.5 * y - 1.2 + 0.6 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, L))
    return y, 1 / (1 + np.exp(-odds))


@pytest.mark.simulated
def test_intervals_hold_the_truth_though_labels_go_together():
    """A short simulation; the user guide has the long one."""
    metrics = {
        "f1_micro": (partial(sk.f1_score, average="micro"), False),
        "hamming": (sk.hamming_loss, False),
        "auc_macro": (sk.roc_auc_score, True),
    }
    y, p = draw(np.random.default_rng(0), 100_000)
    truth = {k: f(y, p if ranked else p >= 0.5) for k, (f, ranked) in metrics.items()}
    held, n_sets = dict.fromkeys(metrics, 0), 20
    for seed in range(n_sets):
        y, p = draw(np.random.default_rng([1, seed]), 80)
        for name, (metric, ranked) in metrics.items():
            found = metric_interval(metric, y, p if ranked else (p >= 0.5).astype(int))
            assert found.interval.method == "score"
            held[name] += truth[name] in found.interval
    for name, count in held.items():
        assert consistent_with(count, n_sets), (name, count)


PERTURBED = ("cross_validation", "resubstitution")
CELLS = [(n, p, d) for p in (4, 15) for d in (4.0, 2.5, 1.2) for n in (40, 100)]


class WeightedLDA(BatchLDA):
    """Takes the weights that its rule for many fits at once needs."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


register(WeightedLDA, lda_rule)


def coverage(n, p, separation, n_sets, n_bootstraps, n_resamples, statistics=PERTURBED):
    """Return how often each interval, and the normal one, covers the error; and mean widths."""
    design, covered, widths = GaussianDesign(n, p, separation), {}, {}
    for child in SeedSequence([n, p, int(10 * separation)]).spawn(n_sets):
        rng = np.random.default_rng(child)
        data = design.draw(rng)
        while np.bincount(data.y).min() < 10:
            data = design.draw(rng)
        seed = int(rng.integers(2**31))
        X, y = data.X, data.y
        truth = design.true_error(data, WeightedLDA().fit(X, y))
        runner = Runner(validate_inputs(WeightedLDA(), X, y))
        found = dict(estimate_bootstraps(runner, SeedSequence(seed), n_resamples=n_bootstraps))
        for name in statistics:
            found[name] = perturbation_interval(
                WeightedLDA(), X, y, n_resamples=n_resamples, statistic=name, random_state=seed
            )
        for name, estimate in found.items():
            interval = estimate.confidence_interval()
            half = norm.isf(0.025) * estimate.standard_error
            normal = np.clip([estimate.value - half, estimate.value + half], 0, 1)
            for key, (low, high) in {
                name: (interval.low, interval.high),
                f"{name} normal": normal,
            }.items():
                covered[key] = covered.get(key, 0) + (low <= truth <= high)
                widths[key] = widths.get(key, 0.0) + (high - low) / n_sets
    return covered, widths


@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_easy_classes():
    """40 samples of classes four standard deviations apart, true error .03."""
    covered, _ = coverage(40, 4, 4.0, 60, 60, 40)
    for name in ("oob", ".632", ".632+", *PERTURBED):
        assert binom.cdf(covered[name], 60, 0.95) > 0.001, (name, covered[name])
    for name in (".632", ".632+", "resubstitution"):
        assert binom.cdf(covered[f"{name} normal"], 60, 0.95) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "separation"), CELLS)
@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_coverage_long(n, p, separation):
    covered, widths = coverage(n, p, separation, 300, 200, 100)
    for name in covered:
        print(f"{n} {p} {separation} {name}: {covered[name] / 300:.3f} ({widths[name]:.2f})")
    if n < 5 * p:  # .632+ is too large there by more than its interval, the docstring says
        return
    for name in (".632", ".632+", "cross_validation"):
        assert binom.cdf(covered[name], 300, 0.95) > 0.001, name


RULES = [BatchCentroid(), BatchLDA(), BatchNearestNeighbor()]
SETTINGS = [
    GaussianDesign(20, 2, 1.5),
    GaussianDesign(50, 5, 1.0),
    GaussianDesign(50, 5, 2.0),
    GaussianDesign(100, 10, 2.0),
]


@pytest.mark.parametrize(
    ("batch", "plain"),
    [
        (BatchCentroid(), NearestCentroid()),
        (BatchLDA(), LinearDiscriminantAnalysis(solver="lsqr")),
        (BatchNearestNeighbor(), KNeighborsClassifier(1)),
    ],
    ids=str,
)
def test_batch_rules_are_scikit_learns(batch, plain):
    data = GaussianDesign(40, 3, 1.0).draw(np.random.default_rng(0))
    batched, looped = (
        bootstrap_error(rule, data.X, data.y, n_resamples=60, random_state=0)
        for rule in (batch, plain)
    )
    np.testing.assert_array_equal(batched.replicates, looped.replicates)
    assert batched.to_dict() == looped.to_dict()


def assert_near(ratio):
    assert np.all(np.abs(ratio - 1) < 0.25), ratio


def assert_covers(covered, n_sets, at_least=0.9):
    """The intervals are nominal 95 % ones; what is claimed is 90 % at these sizes."""
    for fraction in covered:
        wins = round(fraction * n_sets)
        assert binomtest(wins, n_sets, at_least, alternative="less").pvalue > 1e-3, covered


def test_short():
    result = simulate(BatchLDA(), SETTINGS[2], n_sets=100, n_resamples=100, seed=0)
    assert_near(result.ratio)
    assert_covers(result.coverage(result.true_errors), 100)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("design", SETTINGS, ids=str)
@pytest.mark.parametrize("options", [{}, {"stratify": True}, {"average": "bootstraps"}], ids=str)
def test_long(rule, design, options):
    if options.get("stratify"):
        design = GaussianDesign(
            design.n_samples, design.n_features, design.separation, balanced=True
        )
    seed = design.n_samples + design.n_features
    result = simulate(rule, design, n_sets=400, n_resamples=200, seed=seed, **options)
    print(rule, design, options, "ratio", result.ratio.round(3))
    assert_near(result.ratio)
    if not isinstance(rule, BatchNearestNeighbor):
        conditional = result.coverage(result.true_errors)
        expected = result.coverage(result.true_errors.mean())
        print("coverage of the classifier's error", conditional, "of the expected one", expected)
        assert_covers(conditional, 400)
        assert_covers(expected, 400)


def simulate_groups(rule, **options):
    """Return the ratios of the bootstrap of groups, and of samples that are none."""
    design = GroupedDesign(160, 3, 1.5)
    by_group = simulate(rule, design, groups=design.groups, seed=1, **options).ratio
    by_sample = simulate(rule, design, seed=1, **options).ratio
    print(rule, "groups", by_group.round(3), "samples", by_sample.round(3))
    return by_group, by_sample


def test_groups_short():
    by_group, by_sample = simulate_groups(BatchCentroid(), n_sets=30, n_resamples=60)
    assert np.all(by_sample < 0.9 * by_group)  # the same data sets


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_groups(rule):
    """With dependent samples only the bootstrap of groups has the right standard error."""
    by_group, by_sample = simulate_groups(rule, n_sets=300, n_resamples=200)
    assert_near(by_group)
    assert np.all(by_sample < 0.9 * by_group)


def draw_labels(rng, n):
    X = rng.standard_normal((n, 4))
    shared = rng.standard_normal((n, 1))
    latent = X @ (np.eye(4) + 0.5) + shared + rng.standard_normal((n, 4))
    return X, (latent > [0, 0.5, 1, 1.5]).astype(int)


@pytest.mark.parametrize("n_sets", [20, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_errors_of_several_labels_cover(n_sets, loss):
    model, n_covered, widths = RidgeClassifier(), 0, []
    for number in range(n_sets):
        rng = np.random.default_rng([2, number])
        (X, y), (new_X, new_y) = draw_labels(rng, 80), draw_labels(rng, 4000)
        result = error_interval(model, X, y, loss=loss, n_repeats=3, random_state=number)
        wrong = new_y != model.fit(X, y).predict(new_X)
        risk = wrong.mean() if loss == "hamming" else wrong.any(axis=1).mean()
        n_covered += risk in result.interval
        widths.append(result.interval.high - result.interval.low)
    assert n_covered >= binom.ppf(1e-4, n_sets, 0.93)
    assert np.mean(widths) < 0.3


NAMES = ["roc_auc", "f1", "accuracy"]


def draw_logistic(rng, n):
    X = rng.standard_normal((n, 5))
    return X, (rng.random(n) < expit(X @ [1, 0.5, 0.5, 0, 0])).astype(int)


@pytest.mark.parametrize("n_sets", [25, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", [".632+", "optimism"])
def test_scores_of_the_bootstrap_cover(n_sets, method):
    names = NAMES if n_sets > 25 or method == "optimism" else NAMES[1:]  # areas take most time
    model, covered = LinearDiscriminantAnalysis(), dict.fromkeys(names, 0)
    for number in range(n_sets):
        rng = np.random.default_rng([1, number])
        (X, y), (new_X, new_y) = draw_logistic(rng, 60), draw_logistic(rng, 4000)
        results = bootstrap_score(
            model, X, y, scoring=names, method=method, n_resamples=20, random_state=number
        )
        model.fit(X, y)
        for name, result in results.items():
            covered[name] += get_scorer(name)(model, new_X, new_y) in result.interval
    least = binom.ppf(1e-4, n_sets, 0.93)
    assert min(covered.values()) >= least, covered


METRICS = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
}


def draw_area(rng, n, rate, area):
    while True:
        y = (rng.random(n) < rate).astype(int)
        if 5 <= y.sum() <= n - 5:
            X = rng.normal(size=(n, 5))
            X[:, 0] += np.sqrt(2) * norm.ppf(area) * y
            return X, y


def count_covered(n, rate, area, n_sets):
    """Return in how many sets each interval held the truth."""
    rng = np.random.default_rng([n, int(100 * rate), int(100 * area)])
    X_new, y_new = draw_area(rng, 20000, rate, area)
    held = dict.fromkeys([*METRICS, "roc_auc", "brier_score"], 0)
    options = {"n_permutations": 0}
    for seed in range(n_sets):
        X, y = draw_area(rng, n, rate, area)
        model = LinearDiscriminantAnalysis()
        report = skeval.evaluate(model, X, y, random_state=seed, **options)
        model.fit(X, y)
        predicted, score = model.predict(X_new), model.predict_proba(X_new)[:, 1]
        true = {name: function(y_new, predicted) for name, function in METRICS.items()}
        true["roc_auc"] = sk.roc_auc_score(y_new, score)
        true["brier_score"] = sk.brier_score_loss(y_new, score)
        for each in report.metrics.values():
            if each.name in held:
                held[each.name] += each.interval.low <= true[each.name] <= each.interval.high
    return held


def test_they_hold_them():
    for name, held in count_covered(50, 0.5, 0.9, 8).items():
        assert binom.cdf(held, 8, 0.93) > 1e-3, (name, held)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rate", "area"), [(50, 0.5, 0.9), (200, 0.1, 0.9), (50, 0.1, 0.9)])
def test_they_hold_them_in_more_sets(n, rate, area):
    for name, held in count_covered(n, rate, area, 150).items():
        assert binom.cdf(held, 150, 0.93) > 1e-3, (name, held)


def count_covered_without_signal(estimator, n_sets, names):
    """Return in how many sets intervals held the truth, and in how many that of R2 was above 0.

    Nothing tells the target: the metric of a rule varies with its training set alone.
    """
    rng = np.random.default_rng(3)
    numbers = is_regressor(estimator)
    held, above = dict.fromkeys(names, 0), 0
    X_new = rng.normal(size=(5000, 10))
    y_new = rng.normal(size=5000) if numbers else np.arange(5000) % 2
    for seed in range(n_sets):
        X = rng.normal(size=(80, 10))
        y = rng.normal(size=80) if numbers else np.arange(80) % 2
        options = {"n_permutations": 0}
        report = skeval.evaluate(estimator, X, y, random_state=seed, **options)
        predicted = clone(estimator).fit(X, y).predict(X_new)
        # About the true mean and variance, which no test sample moves.
        true = {"r2": 1 - np.mean((y_new - predicted) ** 2) / np.mean(y_new**2)} if numbers else {}
        if not numbers:
            true = {f"recall of {label}": np.mean(predicted == label) for label in (0, 1)}
        for each in report.metrics.values():
            if each.name in names:
                held[each.name] += each.interval.low <= true[each.name] <= each.interval.high
                above += each.name == "r2" and each.interval.low > 0
    return held, above


def test_the_mean_explains_nothing_and_its_interval_says_so():
    held, above = count_covered_without_signal(DummyRegressor(), 14, ["r2"])
    assert binom.cdf(held["r2"], 14, 0.93) > 1e-3
    assert binom.sf(above - 1, 14, 0.05) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [DummyRegressor(), Lasso(alpha=0.1), Ridge(), LinearRegression()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_r2_without_signal_in_more_sets(estimator):
    held, above = count_covered_without_signal(estimator, 150, ["r2"])
    assert binom.cdf(held["r2"], 150, 0.93) > 1e-3
    assert binom.sf(above - 1, 150, 0.05) > 1e-3


@pytest.mark.slow
def test_the_recall_of_a_rule_that_guesses_in_more_sets():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    held, _ = count_covered_without_signal(tree, 150, ["recall of 0", "recall of 1"])
    assert min(binom.cdf(count, 150, 0.93) for count in held.values()) > 1e-3


GAUSSIANS = [(n, p, d) for p in (5, 15) for d in (1.0, 2.0, 3.0) for n in (50, 100)]


def coverage_of_methods(n, p, separation, n_sets, methods):
    """Return how often each interval covers the error, and its mean width."""
    design = GaussianDesign(n, p, separation)
    covered, widths = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
    for child in SeedSequence([n, p, int(10 * separation)]).spawn(n_sets):
        rng = np.random.default_rng(child)
        data = design.draw(rng)
        truth = design.true_error(data, BatchLDA().fit(data.X, data.y))
        seed = int(rng.integers(2**31))
        for name, options in methods.items():
            result = error_interval(BatchLDA(), data.X, data.y, random_state=seed, **options)
            covered[name] += truth in result.interval
            widths[name] += (result.interval.high - result.interval.low) / n_sets
    return covered, widths


SHORT = {
    "repeated_cv": {"n_repeats": 5},
    "corrected_t": {"method": "corrected_t", "n_repeats": 25},
    "nested_cv": {"method": "nested_cv", "n_repeats": 4},
}


def test_recommended_methods_cover():
    """What is recommended covers."""
    covered, _ = coverage_of_methods(60, 8, 2.0, 20, SHORT)
    for name in SHORT:
        assert binom.cdf(covered[name], 20, 0.95) > 0.001, (name, covered[name])


LONG = {
    "repeated_cv": {},
    "nested_cv": {"method": "nested_cv"},
    "corrected_t": {"method": "corrected_t"},
}


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "separation"), GAUSSIANS)
def test_methods_cover_long(n, p, separation):
    covered, widths = coverage_of_methods(n, p, separation, 200, LONG)
    for name in covered:
        print(f"{n} {p} {separation} {name}: {covered[name] / 200:.3f} ({widths[name]:.3f})")
    for name in ("repeated_cv", "nested_cv"):
        assert binom.cdf(covered[name], 200, 0.95) > 0.001, name


SCORERS = ("roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted")


def draw_systems(rng, n, signal, shares=(0.5, 0.3, 0.2)):
    """Return classes and the probabilities of two equally good systems with a shared part."""
    k = len(shares)
    y = np.r_[np.repeat(np.arange(k), 2), rng.choice(k, n - 2 * k, p=shares)]
    shared = rng.normal(size=(n, k)) + signal * np.eye(k)[y]
    systems = [np.exp(shared + rng.normal(size=(n, k))) for _ in range(2)]
    return y, *(system / system.sum(axis=1, keepdims=True) for system in systems)


@pytest.mark.parametrize("name", SCORERS)
def test_the_value_is_scikit_learns_and_no_resample_is_drawn(name):
    y, p, other = draw_systems(np.random.default_rng(0), 80, 1.0)
    names, scorer = np.array(["b", "c", "a"])[y], get_scorer(name)
    order = [2, 0, 1]  # columns in the order of the sorted names
    result = metric_interval(name, names, p[:, order])
    assert_allclose(result.value, scorer._score_func(names, p[:, order], **scorer._kwargs))
    assert result.method == "score"
    assert len(result.replicates) == 0
    comparison = compare_predictions(y, {"a": p, "b": other}, metric=name)
    assert comparison.method == "delong"
    assert_allclose(comparison.values[0], result.value)
    joint = compare_predictions(y, {"a": p, "b": other}, metric=name, method="max_t")
    expected = list(comparison.difference.interval)
    assert_allclose(list(joint.difference.interval), expected)


def weigh_pairs(y, p, sample_weight):
    """Return the mean area of the pairs of three classes, which scikit-learn does not weight."""
    areas = []
    for a, b in permutations(range(3), 2):
        pair = np.isin(y, np.unique(y)[[a, b]])
        of_first = y[pair] == np.unique(y)[a]
        areas.append(roc_auc_score(of_first, p[pair, a], sample_weight=sample_weight[pair]))
    return np.mean(areas)


@pytest.mark.parametrize("kind", [("ovr", "macro"), ("ovr", "weighted"), ("ovo", "macro")])
def test_influence_is_the_derivative_in_the_weights(kind):
    y, p, _ = draw_systems(np.random.default_rng(1), 40, 1.0)
    metric = partial(roc_auc_score, multi_class=kind[0], average=kind[1])
    area = metric if kind[0] == "ovr" else weigh_pairs
    found = metric_interval(metric, y, p, groups=np.arange(40))
    value = area(y, p, sample_weight=np.ones(40))
    assert_allclose(found.value, value)
    steps = np.ones(40) + 1e-6 * np.eye(40)
    slopes = np.array([area(y, p, sample_weight=weight) - value for weight in steps]) / 1e-6
    # groups of one sample: their variance is unbiased
    assert_allclose(found.standard_error, np.sqrt(np.sum(slopes**2) * 40 / 39), rtol=1e-4)


def test_one_versus_one_of_two_classes_is_the_area_of_both():
    y, p, _ = draw_systems(np.random.default_rng(2), 50, 1.0, shares=(0.6, 0.4))
    ovo = metric_interval(partial(roc_auc_score, multi_class="ovo"), y, p[:, 1])
    assert_allclose(ovo.value, roc_auc_score(y, p[:, 1]))
    assert_allclose(ovo.standard_error, metric_interval(roc_auc_score, y, p[:, 1]).standard_error)


def test_what_has_no_influence_is_resampled_or_refused():
    y, p, other = draw_systems(np.random.default_rng(4), 40, 1.0)
    micro = partial(roc_auc_score, multi_class="ovr", average="micro")
    assert compare_predictions(y, [p, other], metric=micro, n_resamples=20).method == "permutation"
    with pytest.raises(ValueError, match="must contain two classes for method='delong'"):
        compare_predictions(y, [p, other], method="delong")


@pytest.mark.simulated
@pytest.mark.parametrize(("signal", "truth"), [(0.0, 0.5), (2.0, None)])
def test_coverage_and_size(signal, truth):
    rng, n_sets, hits, rejected = np.random.default_rng(3), 120, 0, 0
    metric = partial(roc_auc_score, multi_class="ovr")
    if truth is None:
        truth = metric(*draw_systems(rng, 30_000, signal)[:2])
    for _ in range(n_sets):
        y, p, other = draw_systems(rng, 70, signal)
        hits += truth in metric_interval(metric, y, p).interval
        comparison = compare_predictions(y, [p, other], metric=metric)
        rejected += comparison.difference.pvalue <= 0.05
    assert consistent_with(hits, n_sets)
    assert consistent_with(n_sets - rejected, n_sets)
