"""The batch path of selection and SVM against the loop: the same numbers, or not served."""

import numpy as np
import pandas as pd
import pytest
from helpers.adapters import adapter_of_steps
from helpers.cases import every_other
from helpers.crossed import each_value
from scipy.sparse import csr_matrix
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    f_classif,
    f_regression,
)
from sklearn.metrics import f1_score, hinge_loss, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters import fits
from skeval._adapters.column_steps import count_selected
from skeval._adapters.svc import SVCAdapter
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import bootstrap_error, cross_val_error, permutation_test

pytestmark = pytest.mark.usefixtures("always_solve")


def some_data(n=40, p=120, shift=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.repeat(["a", "b"], n // 2)
    X[y == "b", :5] += shift
    return X, y


def some_orders(n, n_permutations, seed=1):
    rng = np.random.RandomState(seed)
    return np.array([rng.permutation(n) for _ in range(n_permutations)])


def by_share(percentile, C=1.0):
    """The selection by a share of the features."""
    return make_pipeline(
        SelectPercentile(percentile=percentile), SVC(kernel="linear", C=C, tol=1e-8)
    )


def procedure(k=10, C=1.0):
    return make_pipeline(SelectKBest(k=k), SVC(kernel="linear", C=C, tol=1e-8))


def adapter_of(estimator, X, y):
    X, target, _ = validate_data(estimator, X, y)
    return adapter_of_steps(estimator, X, target)


def without_adapter(monkeypatch):
    monkeypatch.setattr(fits, "choose_solver", lambda *_, **__: None)


DATA = {
    "continuous": some_data(),
    "overlapping": (some_data(p=12)[0], some_data(p=12)[1]),
    "integers with ties": (some_data()[0].round(), some_data()[1]),
    "duplicated columns": (np.tile(some_data(p=30)[0], (1, 3)), some_data()[1]),
    "large offset": (some_data()[0] + 20, some_data()[1]),
    "unbalanced": (some_data()[0][8:], some_data()[1][8:]),
}


@pytest.mark.parametrize(
    ("data", "C"),
    [
        *((data, 1.0) for data in DATA),
        *((data, C) for data in ("continuous", "duplicated columns") for C in (0.01, 100.0)),
    ],
)
def test_same_null_distribution_as_scikit_learn(data, C):
    X, y = DATA[data]
    assert isinstance(adapter_of(procedure(C=C), X, y), SVCAdapter)
    cv = StratifiedKFold(3)
    ours = permutation_test(procedure(C=C), X, y, cv=cv, permutations=some_orders(len(y), 3))
    # A shift changes no fit, but libsvm keeps kernel values in single precision.
    near_zero = X - 20 if data == "large offset" else X
    score, null, pvalue = permutation_test_score(
        procedure(C=C), near_zero, y, cv=cv, n_permutations=3, random_state=1
    )
    assert ours.statistic == score
    assert ours.null_distribution.tolist() == null.tolist()
    assert ours.pvalue == pvalue


@pytest.mark.parametrize(("data", "percentile"), every_other(DATA, [5, 10]))
def test_a_share_of_the_features(data, percentile):
    X, y = DATA[data]
    assert isinstance(adapter_of(by_share(percentile), X, y), SVCAdapter)
    cv = StratifiedKFold(4)
    orders = some_orders(len(y), 4)
    ours = permutation_test(by_share(percentile), X, y, cv=cv, permutations=orders)
    near_zero = X - 20 if data == "large offset" else X
    score, null, _ = permutation_test_score(
        by_share(percentile), near_zero, y, cv=cv, n_permutations=4, random_state=1
    )
    assert ours.statistic == score
    assert ours.null_distribution.tolist() == null.tolist()


@pytest.mark.parametrize("p", [1, 2, 7, 11, 30, 101, 2000])
def test_the_number_that_a_percentile_selects(p):
    """It is that of scikit-learn, or the share is not served."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, p)), np.arange(12) % 2
    served = 0
    for percentile in (0, 1, 5, 10, 12.5, 33.3, 50, 90, 99.9, 100):
        selector = SelectPercentile(f_classif, percentile=percentile)
        n_selected = count_selected(selector, p)
        served += n_selected > 0
        if n_selected:
            assert selector.fit(X, y).get_support().sum() == n_selected
    assert served


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "balanced_accuracy", "average_precision", make_scorer(f1_score, pos_label="b")],
)
def test_other_scorers(scoring):
    X, y = some_data()
    if scoring == "average_precision":
        y = (y == "b").astype(int)
    options = {"cv": StratifiedKFold(4), "scoring": scoring}
    ours = permutation_test(procedure(), X, y, permutations=some_orders(40, 5), **options)
    score, null, _ = permutation_test_score(
        procedure(), X, y, n_permutations=5, random_state=1, **options
    )
    assert ours.statistic == pytest.approx(score, rel=1e-14)
    np.testing.assert_allclose(ours.null_distribution, null, rtol=1e-14)


def count_pipeline_fits(monkeypatch):
    fits = []
    original = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda *a, **k: fits.append(0) or original(*a, **k))
    return fits


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc", ["f1_macro", "roc_auc"]])
def test_the_batch_hardly_fits(scoring, monkeypatch):
    X, y = some_data()
    calls = count_pipeline_fits(monkeypatch)
    permutation_test(procedure(), X, y, cv=5, scoring=scoring, n_permutations=20, random_state=0)
    assert len(calls) < 105 / 2


class Looks:
    """Scorers that ask for more than predictions of the tested samples."""

    @staticmethod
    def coefficients(model, X, y):
        return float(np.abs(model[-1].coef_).sum())

    @staticmethod
    def half_of_the_samples(model, X, y):
        return float(np.mean(model.predict(X[::2]) == y[::2]))

    hinge = make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function")


@pytest.mark.parametrize("scoring", [Looks.coefficients, Looks.half_of_the_samples, Looks.hinge])
def test_scorers_that_need_the_estimator_get_it(scoring):
    X, y = some_data()
    options = {"cv": StratifiedKFold(4), "scoring": scoring}
    ours = permutation_test(procedure(), X, y, permutations=some_orders(40, 4), **options)
    score, null, _ = permutation_test_score(
        procedure(), X, y, n_permutations=4, random_state=1, **options
    )
    assert ours.statistic == pytest.approx(score, abs=1e-6)
    assert ours.null_distribution == pytest.approx(null, abs=1e-6)


def test_several_metrics():
    X, y = some_data()
    options = {"cv": StratifiedKFold(4), "permutations": some_orders(40, 8)}
    both = permutation_test(procedure(), X, y, scoring=["accuracy", "roc_auc"], **options)
    for name in both:
        one = permutation_test(procedure(), X, y, scoring=name, **options)
        assert both[name].null_distribution.tolist() == one.null_distribution.tolist()


@each_value
@pytest.mark.parametrize("final", ["pipeline", "cv2"])
@pytest.mark.parametrize("estimate", [cross_val_error, bootstrap_error])
def test_cross_validation_and_bootstrap(final, estimate, monkeypatch):
    X, y = some_data()
    estimator = (
        procedure()
        if final == "pipeline"
        else CV2FeatureSelectionPipeline(SelectKBest(k=10), procedure()[-1], cv=3, random_state=0)
    )
    options = {"random_state": 0} | ({"n_resamples": 30} if estimate is bootstrap_error else {})
    calls = count_pipeline_fits(monkeypatch)
    batch = estimate(estimator, X, y, **options)
    assert len(calls) < 20  # trial fits, of which the rounds of CV2 are six each
    without_adapter(monkeypatch)
    loop = estimate(estimator, X, y, **options)
    assert batch.value == loop.value
    assert batch.standard_error == loop.standard_error
    assert batch.replicates.tolist() == loop.replicates.tolist()


def test_same_features_as_the_loop():
    for X, y in DATA.values():
        adapter = adapter_of(procedure(), X, y)
        rng = np.random.default_rng(0)
        counts = np.array([np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y))] * 5)
        block = PlanBlock(counts, counts == 0, np.array([rng.permutation(len(y)) for _ in counts]))
        for features, fit in zip(adapter.solver.steps.selection(block), block, strict=True):
            selector = SelectKBest(k=10).fit(X[fit.training_rows], y[fit.order][fit.training_rows])
            assert features.tolist() == selector.get_support(indices=True).tolist()


def test_real_weights():
    X, y = some_data()
    adapter = adapter_of(procedure(), X, y)
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(6, 40)) * (rng.random((6, 40)) < 0.8)
    block = PlanBlock(weights, np.ones((6, 40), dtype=bool))
    for weight, output in zip(weights, adapter(block), strict=True):
        rows, decisions = weight > 0, output.decision
        model = procedure().fit(X[rows], y[rows], svc__sample_weight=weight[rows])
        assert decisions == pytest.approx(model.decision_function(X), abs=0.01)
        assert np.array(["a", "b"])[(decisions >= 0).astype(int)].tolist() == (
            model.predict(X).tolist()
        )


def test_decision_values_of_zero_are_of_the_second_class():
    """Two constant features: every decision value is 0."""
    X, y = np.zeros((20, 3)), np.repeat([0, 1], 10)
    X[:, 2] = np.tile([1.0, -1.0], 10)
    block = PlanBlock(np.ones((1, 20), dtype=int), np.ones((1, 20), dtype=bool))
    with pytest.warns(UserWarning, match="constant in a training set"):
        output = adapter_of(procedure(k=1), X, y)(block)
    assert not output.decision.any()
    assert output.predicted.all()


@each_value
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_samples_on_the_boundary_are_of_the_second_class(k, C):
    """Few whole numbers in few columns: the boundary often goes through a tested sample."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(40, 30)).astype(float), np.tile(["a", "b"], 20)
    train = np.repeat(np.arange(40)[None] % 4 > 0, 20, axis=0).astype(int)
    block = PlanBlock(train, train == 0, some_orders(40, 20))
    n_tied = 0
    outputs = adapter_of(procedure(k, C), X, y)(block)
    for fit, output in zip(block, outputs, strict=True):
        rows, labels = fit.training_rows, y[fit.order]
        model = procedure(k, C).fit(X[rows], labels[rows])
        values = model.decision_function(X[fit.test])
        tied = output.decision == 0
        n_tied += np.count_nonzero(tied)
        np.testing.assert_allclose(output.decision, values, atol=1e-5)
        assert output.predicted[tied].all()
        expected = model.predict(X[fit.test])[~tied] == "b"
        assert output.predicted[~tied].tolist() == expected.tolist()
    assert n_tied > 0


class SubclassedSVC(SVC):
    pass


NOT_SERVED = {
    "kernel": make_pipeline(SelectKBest(), SVC(kernel=rbf_kernel)),
    "iterations": make_pipeline(SelectKBest(), SVC(kernel="linear", max_iter=3)),
    "subclass": make_pipeline(SelectKBest(), SubclassedSVC(kernel="linear")),
    "score": make_pipeline(SelectKBest(f_regression), SVC(kernel="linear")),
    "all": make_pipeline(SelectKBest(k="all"), SVC(kernel="linear")),
    "none": make_pipeline(SelectKBest(k=0), SVC(kernel="linear")),
    "too many": make_pipeline(SelectKBest(k=121), SVC(kernel="linear")),
    "another selector": make_pipeline(VarianceThreshold(0.5), SVC(kernel="linear")),
    "another classifier": make_pipeline(SelectKBest(), DecisionTreeClassifier()),
    "scaled twice": make_pipeline(
        StandardScaler(), SelectKBest(), StandardScaler(), SVC(kernel="linear")
    ),
    "memory": make_pipeline(SelectKBest(), SVC(kernel="linear"), memory="nowhere"),
    "consensus": CV2FeatureSelectionPipeline(final="consensus"),
    "cv2 kernel": CV2FeatureSelectionPipeline(classifier=SVC(kernel=rbf_kernel)),
}


@pytest.mark.parametrize("name", NOT_SERVED)
def test_not_served(name):
    assert adapter_of(NOT_SERVED[name], *some_data()) is None


def test_data_that_are_not_served():
    X, y = some_data()
    assert adapter_of(procedure(), X, y) is not None
    assert adapter_of(procedure(), np.asfortranarray(X), y) is not None
    for other in (X.astype(np.float32), csr_matrix(X), pd.DataFrame(X), X.round().astype(np.int32)):
        assert adapter_of(procedure(), other, y) is None
    assert adapter_of(procedure(), X, np.tile([0, 1, 2, 3], 10)) is None
    X = X.copy()
    X[3, 3] = np.nan
    assert adapter_of(procedure(), X, y) is None


def test_passthrough_steps_do_not_matter():
    X, y = some_data()
    steps = [("first", "passthrough"), ("select", SelectKBest()), ("svm", SVC(kernel="linear"))]
    assert adapter_of(Pipeline(steps), X, y) is not None


def test_fortran_order_and_integers():
    X, y = some_data()
    for data in (np.asfortranarray(X), X.round().astype(np.int64)):
        options = {"cv": StratifiedKFold(4)}
        ours = permutation_test(procedure(), data, y, permutations=some_orders(40, 5), **options)
        _, null, _ = permutation_test_score(
            procedure(), data, y, n_permutations=5, random_state=1, **options
        )
        assert ours.null_distribution.tolist() == null.tolist()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of f_classif
def test_training_set_of_one_class_is_left_to_the_loop():
    X, y = some_data()
    folds = [(np.arange(20), np.arange(20, 40))]
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        cross_val_error(procedure(), X, y, cv=folds)
