"""Fits that do not see the labels: the answers of scikit-learn's estimators, sample by sample."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from skeval._resampling import fits
from skeval._resampling.adapters import find_adapter
from skeval._resampling.folds import fold_plan
from skeval._resampling.plan import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.target import check_task
from skeval._smoothers import adapter
from skeval._smoothers.discriminant import has_exact_constants
from skeval.model_selection import bootstrap_error, cross_val_error, permutation_test

LDA = LinearDiscriminantAnalysis
CLASSIFIERS = {
    "ridge": RidgeClassifier(),
    "ridge svd": RidgeClassifier(alpha=0.01, solver="svd"),
    "ridge no intercept": RidgeClassifier(fit_intercept=False),
    "neighbours": KNeighborsClassifier(),
    "even neighbours": KNeighborsClassifier(4),
    "near neighbours": KNeighborsClassifier(10, weights="distance"),
    "brute neighbours": KNeighborsClassifier(4, algorithm="brute"),
    "city neighbours": KNeighborsClassifier(3, metric="manhattan"),
}
TWO_CLASSES = {
    "shrunk": LDA(solver="lsqr", shrinkage=0.3),
    "shrunk to the end": LDA(solver="lsqr", shrinkage=1.0),
    "least squares": LDA(solver="lsqr"),
    "svd": LDA(),
    "svd with priors": LDA(priors=[0.3, 0.7]),
}
REGRESSORS = {
    "ridge": Ridge(),
    "ridge no intercept": Ridge(alpha=10, fit_intercept=False, solver="cholesky"),
    "ridge svd": Ridge(alpha=1e-3, solver="svd"),
    "least squares": LinearRegression(),
    "kernel ridge": KernelRidge(),
    "rbf": KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5),
    "polynomial": KernelRidge(alpha=1.0, kernel="poly", degree=2, gamma=0.1),
    "neighbours": KNeighborsRegressor(),
    "near neighbours": KNeighborsRegressor(9, weights="distance"),
}


def some_samples(kind, n=48, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 90 if kind == "many columns" else 5))
    if kind.startswith("scale"):
        X *= float(kind.split()[1])
    if kind == "all scales":
        X *= 10.0 ** np.array([-6, -3, 0, 3, 6])
    if kind == "duplicated rows":
        X[n // 2 :] = X[: n // 2]
    if kind == "constant columns":
        X[:, 1], X[:, 3] = 0.0, 2.5
    if kind == "duplicated columns":
        X[:, 3] = X[:, 0]
    if kind == "integers":
        X = rng.integers(0, 3, size=X.shape)
    if kind == "offset":
        X += 1e4
    return X


KINDS = [
    "plain",
    "scale 1e-6",
    "scale 1e-3",
    "scale 1e3",
    "scale 1e6",
    "all scales",
    "duplicated rows",
    "constant columns",
    "duplicated columns",
    "integers",
    "offset",
    "many columns",
]


def some_labels(n=48, n_classes=2, seed=1):
    labels = np.array(["a", "b", "c", "d"])[np.arange(n) * n_classes // n]
    return np.random.default_rng(seed).permutation(labels)


def some_orders(n, n_orders, seed=2):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n) for _ in range(n_orders)])


def permutation_plan(n, n_orders=10, n_folds=3):
    """Folds that are the same for all label vectors."""
    plan = fold_plan(n, list(KFold(n_folds, shuffle=True, random_state=0).split(np.empty(n))))
    folds = concatenate_blocks([plan.draw(f) for f in range(n_folds)])
    orders = some_orders(n, n_orders)

    def draw(r):
        return PlanBlock(folds.train, folds.test, np.tile(orders[r], (n_folds, 1)))

    return ResamplingPlan(n, n_orders, draw, n_folds)


def adapter_of(model, X, y, plan=None):
    X, target, _ = check_task(model, X, y)
    return find_adapter(model, X, target, plan or permutation_plan(len(target)))


def whole_block(plan):
    (block,) = plan.blocks()
    return block


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_against_single_fits(model, X, y, *, most_left=0.0, rtol=1e-9):
    """Hold answers against fits of scikit-learn; return the part left to the estimator.

    A solver is not asked for fewer fits; every fourth is compared, of each fold in turn.
    """
    plan = permutation_plan(len(y))
    block = whole_block(plan)
    found = adapter_of(model, X, y, plan)(block)
    classes = np.unique(y)
    for r, output in enumerate(found):
        if r % 4 or output.failed[0]:
            continue
        rows, answers = output.rows, output.responses
        train, labels = np.flatnonzero(block.train[r]), y[block.order[r]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            single = clone(model).fit(take(X, train), labels[train])
        predicted = single.predict(take(X, rows))
        if y.dtype.kind == "f":
            assert_allclose(answers["predict"], predicted, rtol=rtol, atol=rtol)
            continue
        assert_array_equal(classes[answers["predict"]], predicted)
        for method in ("decision_function", "predict_proba"):
            assert (method in answers) == hasattr(single, method)
            if method in answers:
                expected = getattr(single, method)(take(X, rows))
                atol = rtol * max(1.0, np.abs(expected).max())
                assert_allclose(answers[method], expected, rtol=0, atol=atol)
    left = found.failed.mean()
    assert left <= most_left
    return left


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(kind, name, n_classes):
    X, y = some_samples(kind), some_labels(n_classes=n_classes)
    if name == "city neighbours":  # of which scikit-learn 1.6 knows no labels but these
        y = np.unique(y, return_inverse=True)[1]
    check_against_single_fits(CLASSIFIERS[name], X, y, most_left=0.1)


# What the estimator itself computes of rounding errors only is left to it, as a whole.
LEFT = {
    ("many columns", "least squares"),
    ("many columns", "svd"),
    ("many columns", "svd with priors"),
    ("duplicated columns", "least squares"),
    ("all scales", "least squares"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_discriminant_analysis(kind, name):
    X, y = some_samples(kind), some_labels()
    # scikit-learn squares the samples, the offset included.
    loose = 1e-6 if kind in ("all scales", "offset") else 1e-8
    left = check_against_single_fits(TWO_CLASSES[name], X, y, most_left=1.0, rtol=loose)
    assert left == 1.0 if (kind, name) in LEFT else left < 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(kind, name):
    X = some_samples(kind)
    y = np.random.default_rng(3).normal(size=len(X)) + 1
    check_against_single_fits(REGRESSORS[name], X, y, most_left=1.0, rtol=1e-8)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scales_of_the_numbers(name, scale):
    X = some_samples("plain")
    y = scale * (np.random.default_rng(3).normal(size=len(X)) + 1)
    check_against_single_fits(REGRESSORS[name], X, y, rtol=1e-9 * scale)


STEPS = {
    "scaled": [StandardScaler()],
    "components": [StandardScaler(), PCA(3)],
    "chosen": [VarianceThreshold(), MinMaxScaler(), Normalizer()],
    "imputed": [SimpleImputer(), FunctionTransformer(np.cbrt)],
    "columns": [
        ColumnTransformer([("some", StandardScaler(), [0, 2])], remainder="passthrough"),
        "passthrough",
    ],
    "nested": [make_pipeline(StandardScaler(), PCA(2, svd_solver="full"))],
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize(
    "model",
    [RidgeClassifier(), KNeighborsClassifier(weights="distance"), LDA(), KNeighborsClassifier()],
    ids=str,
)
def test_behind_steps_that_do_not_see_the_labels(steps, model):
    X, y = some_samples("plain"), some_labels()
    before = STEPS[steps]
    if steps == "components":
        before = [StandardScaler(), PCA(3, random_state=0)]
    check_against_single_fits(make_pipeline(*before, model), X, y, most_left=0.1)


@pytest.mark.parametrize("model", [RidgeClassifier(), KNeighborsClassifier(), LDA()], ids=str)
def test_data_frames(model):
    X = pd.DataFrame(some_samples("plain"), columns=list("uvwxy"))
    for steps in ([], [StandardScaler().set_output(transform="pandas")]):
        check_against_single_fits(make_pipeline(*steps, model), X, some_labels(), most_left=0.1)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), KernelRidge(kernel="rbf")], ids=str)
def test_sparse_samples(model):
    X = csr_array(some_samples("integers").astype(float))
    y = some_labels() if hasattr(model, "predict_proba") else np.arange(48) ** 0.5
    check_against_single_fits(model, X, y)


def test_precomputed_kernels_and_distances():
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    plain = adapter_of(KNeighborsClassifier(algorithm="brute"), X, y, plan)(whole_block(plan))
    model = KNeighborsClassifier(metric="precomputed")
    given = adapter_of(model, distances, y, plan)(whole_block(plan))
    assert not plain.failed.any()
    assert not given.failed.any()
    assert_array_equal(plain.predicted, given.predicted)


@pytest.mark.parametrize("model", [*CLASSIFIERS.values(), *TWO_CLASSES.values()], ids=str)
def test_labels_of_samples_left_out_do_not_matter(model):
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48)
    block = whole_block(plan)
    rng = np.random.default_rng(0)
    order = block.order.copy()
    for r, test in enumerate(block.test):
        order[r, test] = rng.permutation(order[r, test])
    assert not np.array_equal(order, block.order)
    adapter = adapter_of(model, X, y, plan)
    one, other = adapter(block), adapter(PlanBlock(block.train, block.test, order))
    assert_array_equal(one.failed, other.failed)
    for name in ("predicted", "decision", "probability"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_of_samples_left_out_do_not_matter(name):
    X, y = some_samples("plain"), np.arange(48.0)
    plan = permutation_plan(48)
    block = whole_block(plan)
    order = np.where(block.test, 7, block.order)
    adapter = adapter_of(REGRESSORS[name], X, y, plan)
    one, other = adapter(block), adapter(PlanBlock(block.train, block.test, order))
    assert not one.failed.any()
    assert_array_equal(one.predicted, other.predicted)


def test_what_rounding_decides_is_left_to_the_estimator():
    """Balanced classes and constant columns: every decision value is 0, or the mean of signs."""
    X, y = np.ones((48, 3)), some_labels()
    plan = permutation_plan(48)
    block = whole_block(plan)
    found = adapter_of(RidgeClassifier(), X, y, plan)(block)
    codes = block.order_labels((y == "b").astype(int))
    balanced = 2 * (codes * block.train).sum(axis=1) == block.train.sum(axis=1)
    assert balanced.any()
    assert_array_equal(found.failed, balanced)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(positive=True),
        Ridge(solver="lsqr"),
        Ridge(solver="sag"),
        Ridge(alpha=[1.0]),
        LinearRegression(positive=True),
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(class_weight={"a": 2.0}),
        KNeighborsClassifier(weights=np.ones_like),
        LDA(solver="eigen"),
        LDA(solver="lsqr", shrinkage="auto"),
        LDA(solver="lsqr", priors=[0.5, 0.5]),
        make_pipeline(SelectKBest(k=2), RidgeClassifier()),
        make_pipeline(PCA(2, svd_solver="randomized"), RidgeClassifier()),
        make_pipeline(FunctionTransformer(lambda X: X), RidgeClassifier()),
        make_pipeline(StandardScaler(), RidgeClassifier(), memory="nowhere"),
        type("Own", (RidgeClassifier,), {})(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_served(model):
    y = some_labels() if hasattr(model, "classes_") or "Class" in str(model) else np.arange(48.0)
    y = some_labels() if "LinearDisc" in str(model) or "Own" in str(model) else y
    assert adapter_of(model, some_samples("plain"), y) is None


def test_discriminant_analysis_of_three_classes_is_not_served():
    assert adapter_of(LDA(), some_samples("plain"), some_labels(n_classes=3)) is None


def test_equations_that_are_all_but_singular_are_left_to_the_estimator():
    """The order in which a solver adds decides there, and it is another for many targets."""
    adapter = adapter_of(KernelRidge(), some_samples("offset"), np.arange(48.0) ** 0.5)
    assert adapter(whole_block(permutation_plan(48))).failed.all()


def test_single_precision_and_sparse_are_left_to_the_equations():
    block = whole_block(permutation_plan(48))
    X, y = some_samples("plain"), some_labels()
    for other in (X.astype(np.float32), csr_array(X)):
        assert adapter_of(RidgeClassifier(), other, y)(block).failed.all()


@pytest.mark.parametrize("model", [RidgeClassifier(), KNeighborsClassifier(), LDA()], ids=str)
def test_other_plans_are_left_to_the_loop(model, monkeypatch):
    X, y = some_samples("plain"), some_labels()
    served = []
    original = fits.find_adapter
    monkeypatch.setattr(fits, "find_adapter", lambda *a: served.append(original(*a)) or served[-1])
    bootstrap_error(model, X, y, n_resamples=20, random_state=0)
    cross_val_error(model, X, y, cv=4, random_state=0)
    # Folds that are drawn anew from the labels differ from one permutation to the next.
    permutation_test(model, X, y, cv=4, n_permutations=19, random_state=0)
    assert served
    assert not any(served)


def test_rules_that_are_not_kept_are_not_made_for_one_label_vector(monkeypatch):
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48, n_folds=48)
    assert adapter_of(RidgeClassifier(), X, y, plan) is not None
    monkeypatch.setattr("skeval._smoothers.adapter.KEPT_ELEMENTS", 100)
    assert adapter_of(RidgeClassifier(), X, y, plan) is None
    few = adapter_of(RidgeClassifier(), X, y)
    assert not few(whole_block(permutation_plan(48))).failed.any()
    assert not few._rules


def loop(monkeypatch, *arguments, **options):
    with monkeypatch.context() as patch:
        patch.setattr(fits, "find_adapter", lambda *_: None)
        return permutation_test(*arguments, **options)


def count_loop_fits(monkeypatch):
    done = []
    original = fits.Fitter.__call__
    monkeypatch.setattr(fits.Fitter, "__call__", lambda *a: done.append(0) or original(*a))
    return done


SCORERS = {
    "ridge": [None, "accuracy", "roc_auc", "balanced_accuracy", ["f1_macro", "roc_auc"]],
    "near neighbours": [None, "neg_log_loss", "roc_auc", "matthews_corrcoef"],
    "svd": [None, "neg_brier_score", "average_precision"],
}


@pytest.mark.parametrize(
    ("name", "scoring"), [(name, scoring) for name in SCORERS for scoring in SCORERS[name]]
)
def test_scorers_of_two_classes(name, scoring, monkeypatch):
    model = {**CLASSIFIERS, **TWO_CLASSES}[name]
    X, y = some_samples("plain"), (some_labels() == "b").astype(int)
    options = {"cv": list(StratifiedKFold(4).split(X, y)), "permutations": some_orders(48, 12)}
    expected = loop(monkeypatch, model, X, y, scoring=scoring, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(model, X, y, scoring=scoring, **options)
    assert len(done) <= 2
    tests = found.items() if isinstance(scoring, list) else [(None, found)]
    for metric, test in tests:
        other = expected[metric] if metric else expected
        assert test.statistic == pytest.approx(other.statistic, abs=1e-9)
        assert_allclose(test.null_distribution, other.null_distribution, atol=1e-9)
        assert test.pvalue == other.pvalue


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "roc_auc_ovr", "neg_log_loss"])
def test_scorers_of_three_classes(scoring, monkeypatch):
    X, y = some_samples("plain"), some_labels(n_classes=3)
    model = KNeighborsClassifier()
    folds = list(KFold(2, shuffle=True, random_state=1).split(X))
    options = {"cv": folds, "permutations": some_orders(48, 12), "scoring": scoring}
    expected = loop(monkeypatch, model, X, y, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(model, X, y, **options)
    assert not done
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-12)


@pytest.mark.parametrize(
    "scoring", [None, "r2", "neg_mean_squared_error", "neg_mean_absolute_error"]
)
@pytest.mark.parametrize("kind", ["numbers", "0 and 1", "nearly constant"])
def test_scorers_of_numbers(scoring, kind, monkeypatch):
    X = some_samples("plain")
    y = np.random.default_rng(0).normal(size=48)
    if kind == "0 and 1":  # with folds of one value, in which R^2 has no denominator
        y = (y > 1).astype(int)
    if kind == "nearly constant":
        y = np.where(y > 1, 0.3, 0.1)
    options = {"cv": KFold(12), "permutations": some_orders(48, 12), "scoring": scoring}
    expected = loop(monkeypatch, Ridge(), X, y, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(Ridge(), X, y, **options)
    assert not done
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-9)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error"])
def test_scorers_of_numbers_that_are_classes(scoring, monkeypatch):
    """They score the labels, not their codes."""
    X, y = some_samples("plain"), np.random.default_rng(0).choice([1, 5, 20], size=48)
    options = {"cv": KFold(3), "permutations": some_orders(48, 12), "scoring": scoring}
    expected = loop(monkeypatch, RidgeClassifier(), X, y, **options)
    found = permutation_test(RidgeClassifier(), X, y, **options)
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-12)


def test_scorers_of_classes_refuse_numbers():
    X, y = some_samples("plain"), np.random.default_rng(0).normal(size=48)
    with pytest.raises(ValueError, match="continuous"):
        permutation_test(Ridge(), X, y, cv=KFold(3), scoring="accuracy", n_permutations=12)


def test_scorers_that_look_at_the_model_get_it():
    def slope(model, X, y):
        return float(np.abs(model.coef_).sum())

    X, y = some_samples("plain"), some_labels()
    options = {"cv": KFold(3), "n_permutations": 12, "random_state": 0}
    test = permutation_test(RidgeClassifier(), X, y, scoring=slope, **options)
    assert test.statistic > 0


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(), LinearRegression()], ids=str)
def test_errors_are_those_of_the_estimator(model):
    X = some_samples("plain")
    X[5, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        permutation_test(model, X, np.arange(48.0), cv=KFold(4), n_permutations=19)


def test_kept_answers_are_the_same(tmp_path):
    X, y = some_samples("plain"), some_labels(n_classes=3)
    options = {"cv": KFold(3), "n_permutations": 19, "random_state": 0}
    plain = permutation_test(RidgeClassifier(), X, y, **options)
    for _ in range(2):
        kept = permutation_test(RidgeClassifier(), X, y, memory=tmp_path, **options)
        assert_array_equal(kept.null_distribution, plain.null_distribution)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["served", "left"])
def test_rules_stay_in_the_calling_process(dtype, monkeypatch):
    """What they leave to the estimator is spread."""
    X, y = some_samples("plain").astype(dtype), some_labels()
    options = {"cv": KFold(3), "n_permutations": 19, "random_state": 0}
    alone = permutation_test(RidgeClassifier(), X, y, **options)
    blocks, solve = [], fits.solve_block

    def solve_and_list(adapter, block):
        blocks.append(block)
        return solve(adapter, block)

    monkeypatch.setattr(fits, "solve_block", solve_and_list)
    spread = permutation_test(RidgeClassifier(), X, y, n_jobs=2, **options)
    assert_array_equal(spread.null_distribution, alone.null_distribution)
    assert sum(map(len, blocks)) == 3 * (1 + 19)


def test_groups_of_blocks_do_not_matter():
    """The first block of a sequential test is small, the others double."""
    X, y = some_samples("plain"), some_labels()
    options = {"cv": KFold(3), "n_permutations": 60, "random_state": 0}
    whole = permutation_test(RidgeClassifier(), X, y, **options)
    parts = permutation_test(RidgeClassifier(), X, y, max_exceedances=50, **options)
    n = parts.n_permutations
    assert_array_equal(parts.null_distribution, whole.null_distribution[:n])


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e10])
@pytest.mark.filterwarnings("ignore:Only one class", "ignore:the roc_auc of")
def test_an_outlier_makes_no_other_samples_tied(outlier):
    class Own(LinearDiscriminantAnalysis):
        """No adapter knows it."""

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    X[7, 0] = outlier
    options = {"cv": list(StratifiedKFold(5).split(X, y)), "scoring": "roc_auc"}
    found, expected = (
        permutation_test(model(), X, y, n_permutations=12, random_state=0, **options)
        for model in (LinearDiscriminantAnalysis, Own)
    )
    assert found.pvalue == expected.pvalue


def test_a_constant_that_no_mean_equals_leaves_the_fits_to_the_estimator():
    train = np.c_[np.arange(30.0), np.full(30, 0.3)]
    assert not has_exact_constants(train)  # the mean of thirty times 0.3 is another number
    assert has_exact_constants(np.c_[np.arange(30.0), np.full(30, 0.25)])


def test_blocks_that_stay_in_the_cache_change_no_number(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.resize(["a", "b"], 40)
    folds = list(StratifiedKFold(4).split(X, y))
    options = {"cv": folds, "n_permutations": 60, "random_state": 0}
    whole = permutation_test(RidgeClassifier(), X, y, **options)
    sizes = []
    solve = adapter.LabelFreeAdapter.__call__

    def count(self, block):
        sizes.append(len(block))
        return solve(self, block)

    monkeypatch.setattr(adapter.LabelFreeAdapter, "__call__", count)
    monkeypatch.setattr(adapter, "CACHED_ELEMENTS", 1)
    parts = permutation_test(RidgeClassifier(), X, y, **options)
    np.testing.assert_array_equal(parts.null_distribution, whole.null_distribution)
    assert max(sizes) == 4 * adapter.FEWEST_REPETITIONS
    assert sum(sizes) == 4 * 61
