"""Samples that belong together are not so many independent ones."""

import inspect
import math
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.public_modules import MODULES
from numpy.testing import assert_allclose, assert_array_equal
from reference.metric_intervals import clustered_variance
from scipy.stats import t
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.metrics import (
    CostCurveDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
    calibration_measures,
    cost_curve_band,
    error_rate,
    expected_calibration_error,
    net_benefit,
    precision_recall_curve_band,
    reliability_curve,
    roc_curve_band,
)
from skeval.model_selection import (
    BootstrapSplit,
    GroupTimeSeriesSplit,
    bootstrap_error,
    bootstrap_score,
    compare_classifiers,
    compare_predictions,
    compare_scores,
    cross_val_error,
    error_interval,
    feature_importance,
    holdout_error,
    learning_curve_band,
    metric_interval,
    new_site_error,
    permutation_test,
    perturbation_interval,
    resubstitution_error,
    score_interval,
    threshold_measures,
    tuning_optimism,
)
from skeval.report import evaluate, evaluate_predictions
from skeval.svm import PerturbationResamplingSVC

RNG = np.random.default_rng(0)
GROUPS = np.repeat([f"patient {g}" for g in range(12)], RNG.integers(1, 9, 12))
X = RNG.normal(size=(len(GROUPS), 2)) + np.unique(GROUPS, return_inverse=True)[1][:, None] % 3
Y = (X[:, 0] + RNG.normal(size=len(GROUPS)) > 1).astype(int)
LOGISTIC = LogisticRegression()


def grouped_error(losses, tests, groups):
    """The reference: losses and numbers of tests of each sample; CR2 by loops."""
    error = sum(losses) / sum(tests)
    influence = [
        (loss - error * count) / sum(tests) for loss, count in zip(losses, tests, strict=True)
    ]
    return math.sqrt(clustered_variance(influence, list(groups), tests, tests))


def test_standard_error_is_that_of_the_groups():
    result = cross_val_error(LOGISTIC, X, Y, cv=LeaveOneGroupOut(), groups=GROUPS)
    losses = []
    for group in GROUPS:
        rest = group != GROUPS
        rule = LogisticRegression().fit(X[rest], Y[rest])
        losses.append(rule.predict(X) != Y)
    losses = [float(row[i]) for i, row in enumerate(losses)]
    assert_allclose(result.value, np.mean(losses))
    assert_allclose(result.standard_error, grouped_error(losses, [1] * len(Y), GROUPS))
    assert result.n_groups == 12
    assert "groups " in str(result)
    apparent = resubstitution_error(
        LOGISTIC, X, Y, groups=pd.Series(GROUPS, index=range(5, 5 + len(Y)))
    )
    assert_allclose(
        apparent.standard_error, grouped_error(apparent.replicates, [1] * len(Y), GROUPS)
    )


def test_one_group_says_nothing():
    split = list(GroupShuffleSplit(1, test_size=1, random_state=0).split(X, Y, GROUPS))
    with pytest.warns(UndefinedMetricWarning, match="standard error for a single group"):
        result = cross_val_error(LOGISTIC, X, Y, cv=split, groups=GROUPS)
    assert np.isnan(result.standard_error)
    interval = result.confidence_interval()
    assert (interval.low, interval.high) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["mcnemar", "cochran_q", "delong", "max_t"])
def test_tests_of_pairs_count_groups(method):
    """Copies in a group tell nothing new; groups of one are samples, but for Student's law."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=(2, N)) + LABELS
    two = list(score if method == "delong" else (score > 0.5).astype(int))
    plain = compare_predictions(LABELS, two, method=method).difference
    alone = compare_predictions(LABELS, two, method=method, groups=np.arange(N)).difference
    assert_allclose(alone.standard_error, plain.standard_error, rtol=0.02)
    copies = [np.tile(each, 5) for each in (LABELS, *two)]
    found = compare_predictions(
        copies[0], copies[1:], method=method, groups=np.tile(np.arange(N), 5)
    ).difference
    assert_allclose(found.standard_error, alone.standard_error, rtol=0.02)
    assert_allclose(found.extra.intraclass_correlation, 1)


N = 48
UNITS, LABELS, TRUTH = np.repeat(np.arange(12), 4), np.tile([0, 1], 24), np.tile([0, 0, 1, 1], 12)
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, N)
# a sample tells its group and its weight, so that a fit can see whether it is given its own
TABLE = np.c_[np.random.default_rng(2).normal(size=(N, 2)) + LABELS[:, None], UNITS, WEIGHTS]
FEW = {"cv": 3, "random_state": 0}
SIZES = {"train_sizes": [0.5, 1.0], "n_repeats": 2}
# not leave-one-out, whose fits are those of cross-validation
QUICK = {"include": ["holdout", "bootstrap", "permutation"], "cv": 3}
QUICK |= {"n_permutations": 2}


def rank_last(X, y):
    return np.arange(4)


def fit_all(estimator, **given):
    """The calls of every public function that fits an estimator and takes groups."""
    model = GaussianNB()
    weighted = {name: value for name, value in given.items() if name == "sample_weight"}
    groups = {name: value for name, value in given.items() if name == "groups"}
    by_name = groups | ({"params": weighted} if weighted else {})
    inputs = estimator, TABLE, LABELS
    cases = [
        (evaluate, inputs, QUICK | {"random_state": 0} | given),
        (error_interval, inputs, {"n_folds": 3, "n_repeats": 2} | given),
        (learning_curve_band, inputs, FEW | SIZES | given),
        (cross_val_error, inputs, FEW | given),
        (resubstitution_error, inputs, given),
        (bootstrap_error, inputs, {"n_resamples": 3, "random_state": 0} | given),
        (perturbation_interval, inputs, {"n_resamples": 2} | FEW | given),
        (permutation_test, inputs, {"n_permutations": 2} | FEW | by_name),
        (tuning_optimism, inputs, FEW | by_name),
    ]
    if not weighted:
        cases += [
            (score_interval, inputs, {"n_repeats": 3} | groups),
            (feature_importance, inputs, {"n_repeats": 2, "n_permutations": 1} | groups),
            (compare_classifiers, ([estimator, model], *inputs[1:]), FEW | groups),
            (selection_bias, (SelectKBest(rank_last, k=2), *inputs), FEW | groups),
        ]
    return by_function(cases)


def by_function(cases):
    """Name calls by their functions."""
    return {case[0].__name__: case for case in cases}


def take_groups():
    """The calls of every public function that takes groups, for groups to be given."""
    data, score = (TABLE, LABELS), np.linspace(0, 1, N)
    bayes, pair, drawn = GaussianNB(), (TRUTH, score), {"n_resamples": 9, "random_state": 0}
    searched = GridSearchCV(bayes, {"var_smoothing": [1e-9, 1e-3]}, cv=2)
    of_pairs = {"method": "permutation", "metric": error_rate}
    cases = [
        (tuning_optimism, (searched, *data), FEW),
        (new_site_error, (bayes, *data), {}),
        (bootstrap_score, (LogisticRegression(), *data), {"n_resamples": 3, "random_state": 0}),
        (holdout_error, (TRUTH, LABELS), {}),
        (metric_interval, (error_rate, TRUTH, LABELS), drawn | {"method": "percentile"}),
        (compare_predictions, (TRUTH, [LABELS, 1 - TRUTH]), drawn | of_pairs),
        (roc_curve_band, pair, drawn),
        (precision_recall_curve_band, pair, drawn),
        (cost_curve_band, pair, drawn),
        (net_benefit, pair, {}),
        (evaluate_predictions, pair, {}),
        (reliability_curve, pair, {"n_bins": 2}),
        (expected_calibration_error, pair, {"n_bins": 2}),
        (calibration_measures, (TRUTH, 0.1 + 0.8 * score), {}),
        (threshold_measures, pair, {"n_resamples": 20, "random_state": 0}),
    ]
    selecting = CV2FeatureSelectionPipeline(SelectKBest(k=2), bayes, cv=GroupKFold(3))
    perturbed = PerturbationResamplingSVC(n_resamples=3, cv=2, random_state=0)
    items = np.column_stack([score, score[::-1], LABELS])
    calls = {
        "CV2FeatureSelectionPipeline.fit": selecting.fit,
        "PerturbationResamplingSVC.fit": lambda *data, groups: (
            clone(perturbed).fit(*data, groups=groups).cv_error_
        ),
        "compare_scores": lambda *_, groups: compare_scores(
            items, over="items", groups=groups, random_state=0
        ),
        "BootstrapSplit.split": lambda *data, groups: list(
            BootstrapSplit(3, random_state=0).split(*data, groups)
        ),
        "GroupTimeSeriesSplit.split": lambda *data, groups: list(
            GroupTimeSeriesSplit(3, other_groups=True).split(*data, groups)
        ),
    }
    folds = list(StratifiedKFold(2).split(*data))
    found = cross_validate(bayes, *data, cv=folds, return_estimator=True, return_indices=True)
    displays = ReliabilityDisplay, NetBenefitDisplay, PrecisionRecallDisplay, RocCurveDisplay
    shown = {
        f"{display.__name__}.from_cv_results": (
            display.from_cv_results,
            (found, *data),
            drawn if display is CostCurveDisplay else {},
        )
        for display in (CostCurveDisplay, *displays)
    }
    fits = fit_all(bayes) | by_function(cases)
    return fits | {name: (call, data, {}) for name, call in calls.items()} | shown


def test_every_public_function_with_groups_has_a_case():
    names = set()
    for module in map(import_module, MODULES):
        for name in module.__all__:
            public = getattr(module, name)
            parts = {name: public}
            if inspect.isclass(public):
                parts = {f"{name}.{key}": getattr(public, key) for key in dir(public)}
            for key, part in parts.items():
                helper = key.rpartition(".")[2].startswith(("_", "set_", "get_"))
                if inspect.isroutine(part) and callable(part) and not helper:
                    names |= {key} if "groups" in inspect.signature(part).parameters else set()
    names.remove("WholeSample.split")  # it refuses groups: nothing is held out
    assert names == set(take_groups())


BAD_GROUPS = {
    "nan": np.where(UNITS == 3, np.nan, UNITS),
    "None": np.where(UNITS == 3, None, UNITS.astype(str)),
    "pandas": pd.Series(UNITS).where(UNITS != 3).astype("Int64"),
    "NaT": np.where(UNITS == 3, np.datetime64("NaT"), UNITS.astype("M8[D]")),
    "mask": np.ma.masked_array(UNITS, UNITS == 3),
    "three dimensions": np.zeros((N, 2, 2)),
    "too few": UNITS[:-1],
}


@each_value
@pytest.mark.parametrize("bad", BAD_GROUPS)
@pytest.mark.parametrize("name", take_groups())
def test_bad_groups_are_refused_by_name(name, bad):
    function, arguments, options = take_groups()[name]
    few = bad in ("three dimensions", "too few")
    message = "groups must" if few else r"groups must .*(missing|masked) values, got 4 of 48"
    with pytest.raises(ValueError, match=message):
        function(*arguments, groups=BAD_GROUPS[bad], **options)


@pytest.mark.parametrize("name", fit_all(None))
def test_a_column_of_groups_is_a_vector(name):
    function, arguments, options = take_groups()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vector, column = (
            function(*arguments, groups=each, **options | {"random_state": 0})
            if name != "resubstitution_error"
            else function(*arguments, groups=each, **options)
            for each in (UNITS, pd.DataFrame({"patient": UNITS}))
        )
    assert str(vector) == str(column)


class Seen:
    """What fits were given that is their own, over clones."""

    def __init__(self):
        self.groups = self.weights = 0


SEEN = Seen()


class GroupSearch(GridSearchCV):
    """A search that checks that it is given the groups of its samples."""

    def fit(self, X, y=None, **params):
        assert_array_equal(params["groups"], np.asarray(X)[:, -2])
        SEEN.groups += 1
        return super().fit(X, y, **params)


class WeighedBayes(GaussianNB):
    """A classifier that checks that it is given the weights of its samples."""

    def fit(self, X, y, sample_weight=None):
        ratio = sample_weight / np.asarray(X)[:, -1]
        assert_allclose(ratio, ratio[0])
        SEEN.weights += 1
        return super().fit(X, y, sample_weight)


SMOOTHING = {"var_smoothing": [1e-9]}


def make_weighed(routed):
    model = WeighedBayes()
    if routed:
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    return GridSearchCV(model, SMOOTHING, cv=2, error_score="raise")


@each_value
@pytest.mark.parametrize(("behind", "routed"), [(0, True), (1, False), (2, True)])
@pytest.mark.parametrize("name", fit_all(None))
def test_a_search_that_splits_by_groups_is_given_those_of_its_samples(name, behind, routed):
    if name == "perturbation_interval" and routed:
        return  # it asks for weights, which the classifier does not
    if name == "evaluate" and behind != 1:
        return  # it makes some hundred fits
    with config_context(enable_metadata_routing=routed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GroupSearch(GaussianNB(), SMOOTHING, cv=GroupKFold(2))
        for _ in range(behind):
            search = make_pipeline("passthrough", search)
        function, arguments, options = fit_all(search, groups=UNITS)[name]
        SEEN.groups = 0
        function(*arguments, **options)
    assert SEEN.groups > 0


def make_silent_pipeline(estimator, routed):
    """Return a pipeline whose score wants no weights, as scikit-learn 1.6 must be told."""
    model = make_pipeline("passthrough", estimator)
    return model.set_score_request(sample_weight=False) if routed else model


@each_value
@pytest.mark.parametrize(
    ("kind", "routed"),
    [
        ("search", False),
        ("pipeline", True),
        ("pipeline in search", False),
        ("pipeline in search", True),
        ("search in pipeline", False),
    ],
)
@pytest.mark.parametrize("name", fit_all(None, sample_weight=WEIGHTS))
def test_weights_reach_the_classifier_in_a_search_or_a_pipeline(name, kind, routed):
    if name == "perturbation_interval":
        return  # the weights of a perturbation are random
    if name == "evaluate" and kind != "pipeline in search":
        return  # it makes some hundred fits
    if name in ("permutation_test", "tuning_optimism") and not routed and "pipeline" in kind:
        return  # arguments by name are those of fit, as in cross_validate
    if name == "tuning_optimism" and kind == "pipeline":
        return  # no search
    with config_context(enable_metadata_routing=routed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = make_weighed(routed)
        model = {
            "search": search,
            "pipeline": make_pipeline("passthrough", search.estimator),
            "pipeline in search": GridSearchCV(
                make_silent_pipeline(search.estimator, routed),
                {"weighedbayes__var_smoothing": [1e-9]}, cv=2, error_score="raise",
            ),
            "search in pipeline": make_pipeline("passthrough", search),
        }[kind]  # fmt: skip
        function, arguments, options = fit_all(model, sample_weight=WEIGHTS)[name]
        SEEN.weights = 0
        function(*arguments, **options)
    assert SEEN.weights > 0


def test_what_takes_no_weights_is_named():
    search = GridSearchCV(make_pipeline(StandardScaler(), KNeighborsClassifier()), {}, cv=2)
    for function in (cross_val_error, error_interval, bootstrap_error, evaluate):
        with pytest.raises(TypeError, match=r"last step 'kneighborsclassifier' .* does not"):
            function(search, TABLE, LABELS, sample_weight=WEIGHTS)
        with (
            config_context(enable_metadata_routing=True),
            pytest.raises(TypeError, match="must request sample_weight by set_fit_request"),
        ):
            function(search, TABLE, LABELS, sample_weight=WEIGHTS)


def test_given_resamples_draw_groups_whole():
    rng = np.random.default_rng(0)
    drawn = [np.repeat(4 * rng.integers(0, 12, 12), 4) + np.tile(np.arange(4), 12) for _ in "abc"]
    found = bootstrap_error(GaussianNB(), TABLE, LABELS, indices=drawn, groups=UNITS)
    assert len(found.replicates) == 3
    split = [*drawn, rng.integers(0, N, N)]
    with pytest.raises(ValueError, match=r"all samples of a group equally often .* row 3 does not"):
        bootstrap_error(GaussianNB(), TABLE, LABELS, indices=split, groups=UNITS)
    assert len(bootstrap_error(GaussianNB(), TABLE, LABELS, indices=split).replicates) == 4


CROSSED = np.c_[np.repeat(np.arange(6), 8), np.tile(np.arange(8), 6)]
NESTED = np.c_[UNITS, np.arange(N) // 2, UNITS % 3]
REFUSES = set(fit_all(None)) | {
    "PerturbationResamplingSVC.fit",
    "CV2FeatureSelectionPipeline.fit",
    "BootstrapSplit.split",
    "GroupTimeSeriesSplit.split",
    "bootstrap_score",
    "new_site_error",
}
"""What fits models, of which no folds keep two crossed kinds apart, or exchanges whole groups."""


@pytest.mark.parametrize("name", take_groups())
def test_what_every_function_does_with_several_kinds_of_groups(name):
    """The coarsest of nested groups count; crossed ones are refused where models are fitted."""
    function, arguments, options = take_groups()[name]
    seeded = dict(options)
    if name in ("calibration_measures", "evaluate_predictions"):
        seeded["random_state"] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in REFUSES:
            with pytest.raises(ValueError, match=r"groups must .*2 crossed columns"):
                function(*arguments, groups=CROSSED, **seeded)
            return
        if name == "compare_predictions":
            with pytest.raises(
                ValueError, match="groups must not be crossed for method='permutation'"
            ):
                function(*arguments, groups=CROSSED, **seeded)
            seeded |= {"method": "bootstrap"}
        nested, coarsest, crossed = (
            function(*arguments, groups=each, **seeded) for each in (NESTED, UNITS % 3, CROSSED)
        )
    if not name.endswith("from_cv_results"):  # whose text is an address
        assert str(nested) == str(coarsest)
    assert crossed is not None


@pytest.mark.parametrize("step", [1, -1])
def test_nested_kinds_are_the_coarsest_where_models_are_fitted(step):
    X = np.random.default_rng(0).normal(size=(N, 2))
    nested, coarsest = (
        cross_val_error(GaussianNB(), X, LABELS, cv=3, groups=each, random_state=0)
        for each in (NESTED[:, ::step], UNITS % 3)
    )
    assert str(nested) == str(coarsest)


def difference_of(values, groups):
    """Return the difference of two systems with these differences of scores."""
    scores = {"a": values, "b": np.zeros(len(values))}
    return compare_predictions(None, scores, groups=groups).difference


def test_crossed_groups_are_those_of_statsmodels():
    """Cameron, Gelbach and Miller (2011), of groups of one size, whose factors are G / (G - 1)."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    a, b = np.repeat(np.arange(8), 30), np.tile(np.repeat(np.arange(6), 5), 8)
    values = rng.normal(size=8)[a] + rng.normal(size=6)[b] + rng.normal(size=240)
    model, parts = sm.OLS(values, np.ones(240)), []
    for group, size in ((a, 8), (b, 6), (6 * a + b, 48)):
        options = {"groups": group, "use_correction": False}
        fitted = model.fit(cov_type="cluster", cov_kwds=options)
        parts.append(size / (size - 1) * fitted.bse[0] ** 2)
    found = difference_of(values, pd.DataFrame({"rater": a, "item": b}))
    assert_allclose(found.standard_error**2, parts[0] + parts[1] - parts[2])
    assert_allclose(difference_of(values, a).standard_error ** 2, parts[0])


def test_degrees_of_freedom_are_satterthwaites():
    """By the matrix of the quadratic form; G - 1 of groups of one size, whatever they share."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 20, 7)
    group = np.repeat(np.arange(7), sizes)
    found = difference_of(rng.normal(size=7)[group] + rng.normal(size=sizes.sum()), group)
    together, share = found.extra.intraclass_correlation, sizes / sizes.sum()
    centering = np.eye(7) - share[:, None]
    covariance = centering @ np.diag(sizes + sizes * (sizes - 1) * together) @ centering.T
    root = np.diag(1 / np.sqrt(1 - share))
    values = np.linalg.eigvalsh(root @ covariance @ root)
    degrees = values.sum() ** 2 / np.sum(values**2)
    equal = difference_of(rng.normal(size=28), np.repeat(np.arange(7), 4))
    for one, expected in ((found, degrees), (equal, 6)):
        quantile = (one.interval.high - one.value) / one.standard_error
        assert_allclose(quantile, t.isf(0.025, expected))
