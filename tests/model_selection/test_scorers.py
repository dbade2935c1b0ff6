"""Scorers of whole procedures equal their functions, and refuse splits that they cannot use."""

import pickle
from functools import cache

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn import __version__, config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectKBest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.metrics import average_precision_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    WholeSample,
    bootstrap_error,
    error_interval,
    make_bootstrap_scorer,
    make_interval_scorer,
    make_permutation_scorer,
    permutation_test,
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
RUNS = {
    "oob": (
        make_bootstrap_scorer("oob", n_resamples=20, random_state=1),
        lambda m, X, y: (
            bootstrap_error(m, X, y, method="oob", n_resamples=20, random_state=1).value
        ),
    ),
    ".632": (
        make_bootstrap_scorer(".632", n_resamples=20, random_state=1),
        lambda m, X, y: (
            bootstrap_error(m, X, y, method=".632", n_resamples=20, random_state=1).value
        ),
    ),
    ".632+": (
        make_bootstrap_scorer(n_resamples=20, random_state=1),
        lambda m, X, y: bootstrap_error(m, X, y, n_resamples=20, random_state=1).value,
    ),
    "p": (
        make_permutation_scorer("accuracy", n_permutations=19, cv=3, random_state=1),
        lambda m, X, y: (
            permutation_test(
                m, X, y, scoring="accuracy", n_permutations=19, cv=3, random_state=1
            ).pvalue
        ),
    ),
    "low": (
        make_interval_scorer("low", n_repeats=2, n_folds=5, random_state=1),
        lambda m, X, y: (
            error_interval(m, X, y, n_repeats=2, n_folds=5, random_state=1).interval.low
        ),
    ),
    "high": (
        make_interval_scorer("high", n_repeats=2, n_folds=5, random_state=1),
        lambda m, X, y: (
            error_interval(m, X, y, n_repeats=2, n_folds=5, random_state=1).interval.high
        ),
    ),
    "perturbed": (
        make_interval_scorer("high", method="perturbation", n_resamples=40, random_state=1),
        lambda m, X, y: (
            error_interval(
                m, X, y, method="perturbation", n_resamples=40, random_state=1
            ).interval.high
        ),
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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_under_ordinary_folds_a_resampling_scorer_is_refused(n_jobs):
    X, y = two_classes()
    for scorer in SCORING.values():
        with pytest.raises(
            ValueError, match=r"cv must be WholeSample\(\).*30 training and 10 test"
        ):
            cross_validate(
                GaussianNB(), X, y, cv=4, scoring=scorer, error_score="raise", n_jobs=n_jobs
            )
    with pytest.warns(UserWarning, match="Scoring failed"):
        assert np.isnan(cross_val_score(GaussianNB(), X, y, cv=4, scoring=SCORING["p"])).all()


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
        with pytest.raises(ValueError, match=r"cv must be WholeSample\(\)"):
            LOOPS[loop](X, y, cv=4, scoring=SCORING[name])
    LOOPS[loop](X, y, cv=WholeSample(), scoring=SCORING["oob"])


def test_a_search_with_a_resampling_scorer_is_cross_validated_by_another_score():
    X, y = two_classes()
    search = GridSearchCV(
        SELECTING, {"svc__C": [0.1, 1.0]}, scoring=SCORING["oob"], cv=WholeSample()
    )
    scores = cross_validate(search, X, y, cv=3, scoring="accuracy", error_score="raise")
    assert scores["test_score"].min() > 0.5
    with pytest.raises(ValueError, match="cv must be WholeSample"):  # the score of the search
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
    assert scorer(GaussianNB(), X, y) == scorer(GaussianNB(), X, y) < 0
    generator = np.random.default_rng(0)
    first, second = (make_bootstrap_scorer(n_resamples=5, random_state=generator) for _ in "ab")
    assert first.options["random_state"] != second.options["random_state"]
    squared = make_bootstrap_scorer(".632", n_resamples=5, loss="squared", random_state=0)
    options = {"method": ".632", "n_resamples": 5, "random_state": 0}
    assert squared(Ridge(), X, X[:, 0]) == -bootstrap_error(Ridge(), X, X[:, 0], **options).value


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: make_bootstrap_scorer("633"), ValueError, "method must be one of"),
        (lambda: make_bootstrap_scorer(n_resamples=0), ValueError, "n_resamples must be"),
        (
            lambda: make_bootstrap_scorer(folds=3),
            TypeError,
            "folds is no argument of bootstrap_err",
        ),
        (lambda: make_interval_scorer("width"), ValueError, "quantity must be one of"),
        (lambda: make_permutation_scorer(["accuracy"]), TypeError, "scoring must be a single"),
        (lambda: make_permutation_scorer(n_permutations=0), ValueError, "n_permutations must be"),
        (lambda: make_permutation_scorer(refit=False, cv=3), TypeError, "cv is no argument for"),
    ],
)
def test_bad_options(make, error, message):
    with pytest.raises(error, match=message):
        make()


# A fixed rule


def held_out(n=40, shift=0.7, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * n, 3)), np.tile([0, 1], n)
    X[y == 1] += shift
    return X[:n], y[:n], X[n:], y[n:]


def fixed(scoring="accuracy", **options):
    options = {"n_permutations": 19, "random_state": 3} | options
    return make_permutation_scorer(scoring, refit=False, **options)


@each_value
@pytest.mark.parametrize("labels", [(0, 1), ("control", "case")])
@pytest.mark.parametrize(
    "scoring",
    [
        None,
        "accuracy",
        "neg_log_loss",
        "roc_auc",
        "f1_macro",
        make_scorer(average_precision_score, response_method="decision_function", pos_label="case"),
    ],
    ids=str,
)
def test_a_fixed_rule_against_a_plain_loop(scoring, labels):
    X, y, test, truth = held_out()
    if callable(scoring) and labels == (0, 1):
        labels = ("control", "case")  # pos_label names one of them
    y, truth = np.array(labels)[y], np.array(labels)[truth]
    model = LogisticRegression().fit(X, y)
    plain = model.score if scoring is None else None

    def score(labels):
        if plain:
            return plain(test, labels)
        from sklearn.metrics import get_scorer

        return (get_scorer(scoring) if isinstance(scoring, str) else scoring)(model, test, labels)

    children = np.random.SeedSequence(3).spawn(19)
    null = [score(truth[np.random.default_rng(c).permutation(len(truth))]) for c in children]
    expected = (1 + np.sum(np.array(null) >= score(truth) - 1e-12)) / 20
    assert fixed(scoring)(model, test, truth) == -expected


def test_a_fixed_rule_predicts_once():
    X, y, test, truth = held_out()
    calls = []

    class Counted(GaussianNB):
        def predict(self, X):
            calls.append(len(X))
            return super().predict(X)

    def run(n):
        calls.clear()
        fixed(n_permutations=n)(Counted().fit(X, y), test, truth)
        return len(calls)

    assert run(3) == run(99)


LEARNERS = [
    GaussianNB(),
    KNeighborsClassifier(1),
    SELECTING,
    GridSearchCV(SELECTING, {"svc__C": [0.1, 1.0]}, cv=3),
    RandomForestClassifier(10, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_a_rule_trained_on_the_same_samples_is_refused(model):
    X, y = noise(0)
    with pytest.raises(ValueError, match="estimator must be trained on other samples"):
        fixed()(clone(model).fit(X, y), X, y)
    with pytest.raises(ValueError, match="30 of 30 test samples trained the rule"):
        cross_validate(model, X, y, cv=WholeSample(), scoring=fixed(), error_score="raise")
    X, y, test, truth = held_out(shift=0.7)
    assert -1 <= fixed()(clone(model).fit(X, y), test, truth) <= -0.05


def test_a_random_learner_needs_folds():
    X, y, test, truth = held_out(shift=1.0)
    forest = RandomForestClassifier(5)
    for samples in ((X, y), (test, truth)):
        with pytest.raises(ValueError, match=r"Set its random_state, or use folds\."):
            fixed()(forest.fit(X, y), *samples)
    assert cross_val_score(forest, X, y, cv=2, scoring=fixed(), error_score="raise").max() < 0


def test_a_search_chooses_the_rule_that_is_better_than_chance():
    _, _, X, y = held_out(shift=1.0)
    pipeline = make_pipeline(GaussianNB())
    rules = {"gaussiannb": [DummyClassifier(strategy="uniform", random_state=0), GaussianNB()]}
    search = GridSearchCV(pipeline, rules, scoring=fixed(n_permutations=99), cv=3).fit(X, y)
    assert isinstance(search.best_params_["gaussiannb"], GaussianNB)
    assert fixed(n_permutations=3)(GaussianNB().fit(X[:20], y[:20]), X[20:], y[20:]) == -0.25
    assert repr(fixed()) == "make_permutation_scorer(n_permutations=19, refit=False)"


# Noise


@pytest.mark.parametrize(
    ("name", "seeds"),
    [(name, range(1)) for name in MODELS if name != "search"]
    + [pytest.param(name, range(20), marks=pytest.mark.slow) for name in MODELS],
)
def test_on_noise_nothing_is_better_than_chance(name, seeds):
    scoring = {name: SCORING[name] for name in (".632+", "p", "high")}
    claims = dict.fromkeys([*scoring, "fixed"], 0)
    for seed in seeds:
        X, y = noise(seed)
        model = MODELS[name]
        res = cross_validate(model, X, y, cv=WholeSample(), scoring=scoring, error_score="raise")
        claims["p"] += -res["test_p"][0] <= 0.05
        claims["high"] += -res["test_high"][0] < 0.5
        claims[".632+"] += -res["test_.632+"][0] < 0.25
        split = KFold(2, shuffle=True, random_state=seed)
        pvalues = cross_val_score(model, X, y, cv=split, scoring=fixed(), error_score="raise")
        claims["fixed"] += -pvalues[0] <= 0.05
        if name == "search":
            continue
        search = GridSearchCV(model, {}, cv=WholeSample(), scoring=scoring["high"]).fit(X, y)
        assert search.best_score_ == res["test_high"][0]
    assert all(count <= max(1, len(seeds) // 20) for count in claims.values()), claims


def test_a_permutation_scorer_of_a_fitted_rule_refuses_one_that_is_not():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    scorer = make_permutation_scorer("accuracy", n_permutations=9, refit=False)
    with pytest.raises(ValueError, match="estimator must be fitted for refit=False"):
        scorer(make_pipeline(StandardScaler(), SVC()), X, y)


@each_value
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
    with pytest.raises(ValueError, match=f"params must not hold .*{name}.* pass {name}= to the"):
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


def test_a_fitted_rule_may_be_scored_on_other_samples_too_and_needs_a_score():
    X, y = two_classes()
    half = np.arange(40) % 2 == 0
    rule = SVC().fit(X[half], y[half])

    def on_five(estimator, X, y):
        few = np.mean(estimator.predict(X[:5]) == y[:5])
        return float(few + np.mean(estimator.predict(X) == y))

    scorer = make_permutation_scorer(on_five, n_permutations=19, refit=False, random_state=0)
    assert -1 <= scorer(rule, X[~half], y[~half]) <= -0.05
    undefined = make_permutation_scorer(lambda *_: np.nan, n_permutations=19, refit=False)
    with pytest.raises(ValueError, match="scoring must be defined on the observed labels"):
        undefined(rule, X[~half], y[~half])
    assert repr(WholeSample()) == "WholeSample()"
