"""Scorers of whole procedures equal their functions, and refuse models of other samples."""

import pickle
import threading
import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers.crossed import each_value
from helpers.jobs import two_workers
from scipy.sparse import csr_matrix
from sklearn import __version__, config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegressionCV, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    WholeSample,
    bootstrap_error,
    bootstrap_score,
    compare_classifiers,
    error_interval,
    learning_curve_band,
    make_bootstrap_scorer,
    make_interval_scorer,
    make_permutation_scorer,
    permutation_test,
    score_interval,
)
from skeval.svm import PerturbationResamplingSVC

sklearn_version = tuple(map(int, __version__.split(".")[:2]))
SELECTING = make_pipeline(SelectKBest(k=2), SVC(kernel="linear"))
MODELS = {
    "pipeline": SELECTING,
    "perturbation": PerturbationResamplingSVC(estimator=SELECTING, n_resamples=20, cv=3),
    "perturbation behind a selection": make_pipeline(
        SelectKBest(k=2), PerturbationResamplingSVC(n_resamples=20, cv=3)
    ),
    "selection within": CV2FeatureSelectionPipeline(SelectKBest(k=2), cv=None),
    "search": GridSearchCV(SELECTING, {"svc__C": [0.1, 1.0]}, cv=3),
}
DRAWN = {"n_resamples": 20, "random_state": 1}
PERMUTED = {"scoring": "accuracy", "n_permutations": 19, "cv": 3, "random_state": 1}
FOLDS = {"n_repeats": 2, "n_folds": 5, "random_state": 1}
PERTURBED = {"method": "perturbation", "n_resamples": 40, "random_state": 1}
# Each scorer, and the function that it stands for.
RUNS = {
    method: (
        make_bootstrap_scorer(method, **DRAWN),
        lambda *data, method=method: bootstrap_error(*data, method=method, **DRAWN).value,
    )
    for method in ("oob", ".632", ".632+")
} | {
    "p": (
        make_permutation_scorer(**PERMUTED),
        lambda *data: permutation_test(*data, **PERMUTED).pvalue,
    ),
    "low": (
        make_interval_scorer("low", **FOLDS),
        lambda *data: error_interval(*data, **FOLDS).interval.low,
    ),
    "high": (
        make_interval_scorer("high", **FOLDS),
        lambda *data: error_interval(*data, **FOLDS).interval.high,
    ),
    "perturbed": (
        make_interval_scorer("high", **PERTURBED),
        lambda *data: error_interval(*data, **PERTURBED).interval.high,
    ),
}
SCORING = {name: scorer for name, (scorer, _) in RUNS.items()}


def noise(seed, n_samples=30, n_features=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, n_features)), np.repeat([0, 1], n_samples // 2)


@cache
def two_classes(shift=1.0):
    X, y = noise(0, 40, 4)
    X[y == 1, :2] += shift
    return X, y


def test_each_scorer_equals_its_function_in_one_cross_validate():
    X, y = two_classes()
    res = cross_validate(SELECTING, X, y, cv=WholeSample(), scoring=SCORING, error_score="raise")
    for name, (_, function) in RUNS.items():
        assert res[f"test_{name}"].tolist() == [-function(SELECTING, X, y)], name


@pytest.mark.parametrize("name", SCORING)
def test_a_search_keeps_its_best_score_and_estimator(name):
    X, y = two_classes()
    scorer, function = RUNS[name]
    scorer = pickle.loads(pickle.dumps(scorer))
    grid = {"selectkbest__k": [1, 2]}
    search = GridSearchCV(SELECTING, grid, scoring=scorer, cv=WholeSample(), error_score="raise")
    search.fit(X, y)
    expected = [-function(clone(SELECTING).set_params(selectkbest__k=k), X, y) for k in (1, 2)]
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert search.best_score_ == max(expected)
    assert search.best_estimator_.predict(X).shape == y.shape


def test_under_ordinary_folds_a_resampling_scorer_is_refused():
    X, y = two_classes()
    for scorer in SCORING.values():
        for error_score in ("raise", np.nan, 0):
            with pytest.raises(BaseException, match=r"^Pass cv=WholeSample\(\).*all 10 samples"):
                cross_validate(GaussianNB(), X, y, cv=4, scoring=scorer, error_score=error_score)


OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
LOOPS = {
    "search": lambda X, y, **options: GridSearchCV(
        GaussianNB(), {}, error_score="raise", **options
    ).fit(X, y),
    "permutation_test_score": lambda X, y, **options: permutation_test_score(
        GaussianNB(), X, y, n_permutations=1, **options
    ),
    "learning_curve": lambda X, y, **options: learning_curve(
        GaussianNB(), X, y, train_sizes=[1.0], error_score="raise", **options
    ),
    "incremental learning_curve": lambda X, y, **options: learning_curve(
        GaussianNB(),
        X,
        y,
        train_sizes=[1.0],
        error_score="raise",
        exploit_incremental_learning=True,
        **options,
    ),
    "RFECV": lambda X, y, **options: RFECV(SVC(kernel="linear"), **options).fit(X, y),
    "LogisticRegressionCV": lambda X, y, **options: LogisticRegressionCV(Cs=2, **options).fit(X, y),
}


@pytest.mark.filterwarnings("ignore::FutureWarning:sklearn")
@pytest.mark.parametrize("loop", LOOPS)
def test_every_loop_of_scikit_learn_over_folds_is_refused(loop):
    X, y = two_classes()
    for name in (".632+", "p", "high"):
        with pytest.raises(BaseException, match=r"^Pass cv=WholeSample\(\)"):
            LOOPS[loop](X, y, cv=4, scoring=SCORING[name])
    # RFECV selects features on the whole sample; the model that older versions of
    # LogisticRegressionCV score is not the fit of its parameters, so it is refused
    refused = loop == "RFECV" or (loop == "LogisticRegressionCV" and OLD)
    if not refused:
        LOOPS[loop](X, y, cv=WholeSample(), scoring=SCORING["oob"])


SMALL = {
    ".632": make_bootstrap_scorer(".632", n_resamples=3, random_state=0),
    "p": make_permutation_scorer("accuracy", n_permutations=3, cv=2, random_state=0),
    "high": make_interval_scorer("high", n_repeats=1, n_folds=2, random_state=0),
}
KINDS = {
    "svc": SVC(kernel="linear", C=0.1),
    "pipeline": SELECTING,
    "neighbors": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(5, random_state=0),
    "predict only": NearestCentroid(),
    "search": GridSearchCV(SELECTING, {"svc__C": [0.1, 1.0]}, cv=2),
    "bagging": BaggingClassifier(GaussianNB(), 3, random_state=0),
    "stacking": StackingClassifier([("one", GaussianNB()), ("two", SVC())], cv=2),
    "calibration": CalibratedClassifierCV(GaussianNB(), cv=2),
}


@pytest.mark.parametrize(
    ("kind", "name"), [*((kind, ".632") for kind in KINDS), ("tree", "p"), ("tree", "high")]
)
def test_a_model_of_other_samples_is_refused_and_one_of_these_samples_is_not(kind, name):
    X, y = two_classes()
    model, scorer = KINDS[kind], SMALL[name]
    scores = cross_val_score(model, X, y, cv=WholeSample(), scoring=scorer)
    assert scores.tolist() == [scorer(clone(model).fit(X, y), X, y)]
    train, test = np.arange(40) % 3 > 0, np.arange(40) % 3 == 0
    rule = clone(model).fit(X[train], y[train])
    order = np.random.default_rng(0).permutation(40)
    for samples, labels in ((X[test], y[test]), (X, y), (X[order], y)):
        with pytest.raises(BaseException, match="the model must be trained on all"):
            scorer(rule, samples, labels)
    with pytest.raises(BaseException, match="the model must be trained on all"):
        permutation_importance(
            clone(model).fit(X, y), X, y, scoring=scorer, n_repeats=2, random_state=0
        )
    with pytest.raises(BaseException, match="the model must be trained on all"):
        cross_val_score(
            model, X, y, cv=3, scoring=lambda model, X, y: scorer(model, np.array(X), y)
        )


def quietly(scoring, **options):
    """Search between chance and a learner with all warnings ignored."""
    X, y = two_classes()
    steps = {"gaussiannb": [DummyClassifier(), GaussianNB()]}
    several = {"scoring": {"one": scoring}, "refit": "one"} if options.pop("several", 0) else {}
    options = {"scoring": scoring, "cv": 3} | several | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = options.pop("make", GridSearchCV)
        return make(make_pipeline(GaussianNB()), steps, **options).fit(X, y).best_params_


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"several": True},
        pytest.param({"n_jobs": 2}, marks=pytest.mark.slow),  # processes start
        {"error_score": 0.0},
        {"make": partial(RandomizedSearchCV, n_iter=2, random_state=0)},
        {"make": HalvingGridSearchCV},
        {"make": HalvingGridSearchCV, "cv": WholeSample(), "min_resources": 20},
    ],
    ids=str,
)
def test_no_search_chooses_its_first_candidate_for_want_of_scores(options):
    before = list(warnings.filters)
    with pytest.raises(BaseException, match="halving search needs an integer random_s"):
        quietly(SMALL[".632"], **options)
    assert warnings.filters == before
    seeded = {"random_state": 0} if options.get("make") is HalvingGridSearchCV else {}
    chosen = quietly(SMALL[".632"], **options | seeded | {"cv": WholeSample()})
    assert isinstance(chosen["gaussiannb"], GaussianNB)


# a pool of "multiprocessing" may wait for ever when it is ended after an error
@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("multiprocessing", marks=pytest.mark.slow)]
)
def test_a_refusal_ends_a_search_on_every_backend(backend):
    before = set(threading.enumerate())
    with two_workers(backend), pytest.raises(BaseException, match=r"^Pass cv=WholeSample\(\)"):
        quietly(SMALL[".632"], n_jobs=2)
    # the other thread of the search changes warning filters until its fit ends
    for thread in set(threading.enumerate()) - before:
        thread.join()


def test_a_random_estimator_is_scored_with_a_warning():
    X, y = two_classes(0.0)
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    hint = "Set randomforestclassifier__random_state to an integer"
    for seed in (None, np.random.RandomState(0)):
        model.set_params(randomforestclassifier__random_state=seed)
        with pytest.warns(UserWarning, match=hint) as caught:
            scores = cross_val_score(model, X, y, cv=WholeSample(), scoring=SMALL[".632"])
        assert -1 <= scores[0] <= 0
        assert len(caught) == 1


SELECTORS = {
    "RFECV": lambda **run: RFECV(SVC(kernel="linear"), step=0.5, **run),
    "RFECV, two workers": lambda **run: RFECV(SVC(kernel="linear"), step=0.5, n_jobs=2, **run),
    "forward": lambda **run: SequentialFeatureSelector(GaussianNB(), n_features_to_select=2, **run),
    "backward": lambda **run: SequentialFeatureSelector(GaussianNB(), direction="backward", **run),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selection_on_all_samples_is_refused(name):
    X, y = noise(0, n_features=8)
    copying = partial(copy_labels, make_bootstrap_scorer("oob", n_resamples=3, random_state=0))
    plain = make_bootstrap_scorer("oob", n_resamples=3, random_state=0)
    # older versions cannot send a function of a test file to workers
    for scorer in (plain,) if "workers" in name else (plain, copying):
        selector = SELECTORS[name](cv=WholeSample(), scoring=scorer)
        with pytest.raises(BaseException, match=r"^X must have the same columns"):
            selector.fit(X, y)


def copy_labels(scorer, model, X, y):
    return scorer(model, X, list(y))


@pytest.mark.parametrize("make", [np.asarray, csr_matrix, pd.DataFrame])
def test_other_columns_of_the_same_samples_need_another_scorer(make):
    X, y = make(noise(0, n_features=8)[0]), np.repeat(["a", "b"], 15)
    scorer = make_bootstrap_scorer("oob", n_resamples=3, random_state=0)
    model = SVC(kernel="linear")

    def score(X, y):
        return scorer(clone(model).fit(X, y), X, y)

    first = score(X, y)
    assert score(X, y) == first
    assert score(make(noise(1, n_features=8)[0]), y) != first  # other samples with these labels
    assert score(X, y) == first
    part = X.iloc[:, 2:] if make is pd.DataFrame else X[:, 2:]
    for labels in (y, y.tolist()):  # the first refusal changes nothing
        with pytest.raises(
            BaseException, match=r"got 8 in an earlier call.*and 6 in.*make one scorer for each"
        ):
            score(part, labels)
    assert score(part, y[::-1]) < 0
    scorer = make_bootstrap_scorer("oob", n_resamples=3, random_state=0)
    assert score(part, y) < 0


@pytest.mark.parametrize(
    "function",
    [
        permutation_test,
        score_interval,
        bootstrap_score,
        learning_curve_band,
        lambda model, X, y, **options: compare_classifiers([model, SVC()], X, y, **options),
    ],
    ids=lambda function: function.__name__,
)
def test_our_functions_score_models_that_folds_have_fitted(function):
    X, y = two_classes()
    for scorer in SMALL.values():
        with pytest.raises(ValueError, match="scoring must not be a scorer that fits models"):
            function(GaussianNB(), X, y, scoring=scorer)


def test_a_search_with_a_resampling_scorer_is_cross_validated_by_another_score():
    X, y = two_classes()
    search = GridSearchCV(
        SELECTING, {"svc__C": [0.1, 1.0]}, scoring=SCORING["oob"], cv=WholeSample()
    )
    scores = cross_validate(search, X, y, cv=3, scoring="accuracy", error_score="raise")
    assert scores["test_score"].min() > 0.5
    with pytest.raises(BaseException, match="Pass cv=WholeSample"):  # the score of the search
        cross_validate(search, X, y, cv=3, error_score="raise")


def test_groups_go_to_the_scorer():
    X, y = two_classes()
    groups = np.arange(len(y)) // 4
    scorer = make_bootstrap_scorer(n_resamples=10, groups=groups, random_state=0)
    expected = bootstrap_error(GaussianNB(), X, y, n_resamples=10, groups=groups, random_state=0)
    scores = cross_val_score(GaussianNB(), X, y, cv=WholeSample(), scoring=scorer)
    assert scores.tolist() == [-expected.value]
    with pytest.raises(ValueError, match="groups must not be passed to WholeSample"):
        cross_val_score(GaussianNB(), X, y, groups=groups, cv=WholeSample(), scoring=scorer)


def test_one_seed_for_all_calls():
    X, y = two_classes(0.3)
    scorer = make_bootstrap_scorer(n_resamples=5)
    model = GaussianNB().fit(X, y)
    assert scorer(model, X, y) == scorer(model, X, y) < 0
    generator = np.random.default_rng(0)
    first, second = (make_bootstrap_scorer(n_resamples=5, random_state=generator) for _ in "ab")
    assert first.options["random_state"] != second.options["random_state"]
    squared = make_bootstrap_scorer(".632", n_resamples=5, loss="squared", random_state=0)
    options = {"method": ".632", "n_resamples": 5, "random_state": 0}
    assert (
        squared(Ridge().fit(X, X[:, 0]), X, X[:, 0])
        == -bootstrap_error(Ridge(), X, X[:, 0], **options).value
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: make_bootstrap_scorer("633"), ValueError, "method must be one of"),
        (lambda: make_bootstrap_scorer(n_resamples=0), ValueError, "n_resamples must be"),
        (lambda: make_bootstrap_scorer(folds=3), TypeError, "folds is not an argument of"),
        (lambda: make_interval_scorer("width"), ValueError, "quantity must be one of"),
        (lambda: make_permutation_scorer(["accuracy"]), TypeError, "scoring must be one name"),
        (lambda: make_permutation_scorer(n_permutations=0), ValueError, "n_permutations must be"),
        (lambda: make_permutation_scorer(refit=False), TypeError, "refit is not an argument of"),
    ],
)
def test_bad_options(make, error, message):
    with pytest.raises(error, match=message):
        make()


# Noise


@pytest.mark.filterwarnings("ignore:cv_error_ of PerturbationResamplingSVC ignores the step")
@pytest.mark.parametrize(
    ("name", "seeds"),
    [(name, range(1)) for name in MODELS if name != "search"]
    + [pytest.param(name, range(20), marks=pytest.mark.slow) for name in MODELS],
)
def test_on_noise_nothing_is_better_than_chance(name, seeds):
    scoring = {name: SCORING[name] for name in (".632+", "p", "high")}
    claims = dict.fromkeys(scoring, 0)
    for seed in seeds:
        X, y = noise(seed)
        model = MODELS[name]
        res = cross_validate(model, X, y, cv=WholeSample(), scoring=scoring, error_score="raise")
        claims["p"] += -res["test_p"][0] <= 0.05
        claims["high"] += -res["test_high"][0] < 0.5
        claims[".632+"] += -res["test_.632+"][0] < 0.25
        if name == "search":
            continue
        search = GridSearchCV(model, {}, cv=WholeSample(), scoring=scoring["high"]).fit(X, y)
        assert search.best_score_ == res["test_high"][0]
    assert all(count <= max(1, len(seeds) // 20) for count in claims.values()), claims


@each_value
@pytest.mark.filterwarnings("ignore:cv_error_ of PerturbationResamplingSVC ignores the step")
@pytest.mark.filterwarnings("ignore:sample_weight does not reach SelectKBest")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["groups", "sample_weight"])
def test_arguments_of_the_fit_alone_are_an_error_and_reach_a_scorer_that_has_them(model, name):
    if model == "search" or (model, name) == ("pipeline", "groups"):
        pytest.skip("its fit takes no such argument")
    X, y = two_classes()
    values = {"groups": np.arange(40) // 2, "sample_weight": np.arange(1.0, 41)}[name]
    behind = {"pipeline": "svc__", "perturbation behind a selection": "perturbationresamplingsvc__"}
    run = {"cv": WholeSample(), "params": {behind.get(model, "") + name: values}}
    alone = make_bootstrap_scorer("oob", n_resamples=5, random_state=0)
    with pytest.raises(
        BaseException, match="If the fit used sample_weight, groups or params, also pass"
    ):
        cross_validate(MODELS[model], X, y, scoring=alone, error_score="raise", **run)
    both = make_bootstrap_scorer("oob", n_resamples=5, random_state=0, **{name: values})
    scores = cross_validate(MODELS[model], X, y, scoring=both, error_score="raise", **run)
    expected = bootstrap_error(
        MODELS[model], X, y, method="oob", n_resamples=5, random_state=0, **{name: values}
    )
    assert scores["test_score"].tolist() == [-expected.value]


def test_other_arguments_of_the_fit_are_params_of_the_scorer():
    X, y = two_classes()
    params = {"svc__sample_weight": np.arange(1.0, 41)}
    scorer = make_bootstrap_scorer("oob", n_resamples=5, random_state=0, params=params)
    run = {"cv": WholeSample(), "params": params, "error_score": "raise"}
    scores = cross_validate(SELECTING, X, y, scoring=scorer, **run)
    expected = bootstrap_error(
        SELECTING, X, y, method="oob", n_resamples=5, random_state=0, params=params
    )
    assert scores["test_score"].tolist() == [-expected.value]


def test_a_refused_request_is_no_error():
    X, y = two_classes()
    with config_context(enable_metadata_routing=True):
        model = SVC().set_fit_request(sample_weight=True)
        scorer = make_bootstrap_scorer("oob", n_resamples=5, random_state=0)
        run = {"cv": WholeSample(), "params": {"sample_weight": np.ones(40)}}
        refusing = scorer.set_score_request(sample_weight=False)
        score = cross_validate(model, X, y, scoring=refusing, error_score="raise", **run)
    expected = bootstrap_error(SVC(), X, y, method="oob", n_resamples=5, random_state=0).value
    assert score["test_score"].tolist() == [-expected]


@pytest.mark.skipif(sklearn_version < (1, 7), reason="searches pass no weights to scorers")
@pytest.mark.parametrize("several", [False, True])
def test_a_search_passes_its_weights_to_the_scorers(several):
    X, y = two_classes()
    weights = np.arange(1.0, 41)
    scorer = make_bootstrap_scorer("oob", n_resamples=5, random_state=0)
    scoring = {"oob": scorer} if several else scorer
    options = {"scoring": scoring, "refit": "oob" if several else True, "error_score": "raise"}
    search = GridSearchCV(SVC(), {"C": [1.0]}, cv=WholeSample(), **options)
    search.fit(X, y, sample_weight=weights)
    run = {"method": "oob", "n_resamples": 5, "random_state": 0, "sample_weight": weights}
    assert search.best_score_ == -bootstrap_error(SVC(), X, y, **run).value


def test_an_unknown_score_is_refused_before_the_search():
    with pytest.raises(ValueError, match="'acuracy'"):
        make_permutation_scorer("acuracy")
    for scoring in ("accuracy", None, get_scorer("accuracy")):
        make_permutation_scorer(scoring)
