"""A call that does not fit the arguments of a function is answered by the call that does."""

import re
from importlib import import_module
from inspect import Parameter, isfunction, signature, unwrap

import numpy as np
import pytest
from helpers import public_modules
from helpers.echo import AnswersNumbers
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import skeval
from skeval import evaluate, evaluate_clusterer, evaluate_predictions
from skeval.cluster import cluster_stability, pareto_dominance
from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.metrics import error_rate, roc_curve_band, score_decomposition, sentence_bleu_score
from skeval.metrics.cluster import between_cluster_distances
from skeval.model_selection import (
    GroupTimeSeriesSplit,
    bootstrap_error,
    cross_val_error,
    error_interval,
    feature_importance,
    holdout_error,
    learning_curve_band,
    metric_interval,
    permutation_test,
    score_interval,
    tuning_optimism,
)
from skeval.svm import PerturbationResamplingSVC

X, Y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2


def own_functions():
    """Return the public functions of the package whose arguments all have names."""
    found = {}
    for module in map(import_module, public_modules.MODULES):
        for name in module.__all__:
            function = getattr(module, name)
            if isfunction(function) and unwrap(function).__module__.startswith("skeval"):
                kinds = {each.kind for each in signature(function).parameters.values()}
                if kinds and Parameter.VAR_KEYWORD not in kinds:
                    found[name] = function
    return found


FUNCTIONS = own_functions()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_misspelled_argument_is_answered_by_the_right_one(function):
    names = [name for name in signature(function).parameters if len(name) > 3]
    for name in names:
        for typo in (f"{name}{name[-1]}", name[0] + name[2:]):
            if typo in signature(function).parameters:
                continue
            with pytest.raises(TypeError, match=rf"{function.__name__}\(\).*'{name}'\?"):
                function(**{typo: None})
    with pytest.raises(TypeError, match=r"'zzz'.* arguments are .*"):
        function(zzz=None)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_too_many_or_too_few_arguments_are_answered_by_the_call(function):
    call = signature(function).parameters.values()
    needed = [each.name for each in call if each.default is each.empty]
    shown = rf"{function.__name__}\({needed[0] if needed else ''}"
    with pytest.raises(TypeError, match=shown):
        function(*[X] * (len(call) + 1))
    if needed:
        with pytest.raises(TypeError, match=rf"{shown}.*'{needed[0]}'"):
            function()


@pytest.mark.parametrize("function", [evaluate, cross_val_error, permutation_test, score_interval])
def test_a_class_is_no_model(function):
    with pytest.raises(TypeError, match=r"^estimator .* GaussianNB\(...\)"):
        function(GaussianNB, X, Y)
    with pytest.raises(TypeError, match=r"^X .*'data'.*X\['data'\]"):
        function(GaussianNB(), {"data": X, "target": Y}, Y)


@pytest.mark.parametrize("function", [cross_val_error, error_interval, bootstrap_error])
def test_a_class_is_no_loss(function):
    with pytest.raises(TypeError, match=r"^loss must be a name or a function"):
        function(GaussianNB(), X, Y, loss=GaussianNB)


@pytest.mark.parametrize("percent", [2, 50, 95.5, 99])
def test_a_percentage_is_answered_by_its_fraction(percent):
    for call in (
        lambda: cross_val_error(GaussianNB(), X, Y, confidence_level=percent),
        lambda: roc_curve_band(Y, X[:, 0], confidence_level=percent),
    ):
        with pytest.raises(
            ValueError, match=rf"^confidence_level .*did you mean {percent / 100:g}"
        ):
            call()
    for beyond in (100, 1, 0, -5):
        with pytest.raises(ValueError, match=rf"^confidence_level .*got {beyond}[.]$"):
            cross_val_error(GaussianNB(), X, Y, confidence_level=beyond)


@pytest.mark.parametrize(
    ("cv", "meant"),
    [
        (0.3, r"ShuffleSplit\(test_size=0.3\)"),
        ("10", "10"),
        (10.0, "10"),
        (-0.3, None),
        (1.5, None),
    ],
)
def test_folds_that_are_no_number(cv, meant):
    end = rf" \(did you mean {meant}\?\)[.]$" if meant else r"[.]$"
    with pytest.raises(ValueError, match=rf"^cv .*got {re.escape(repr(cv))}{end}"):
        cross_val_error(GaussianNB(), X, Y, cv=cv)


def test_a_swapped_selector_and_classifier():
    parts = SVC(), SelectKBest(k=2)
    for call in (
        lambda: CV2FeatureSelectionPipeline(*parts).fit(X, Y),
        lambda: evaluate(CV2FeatureSelectionPipeline(*parts), X, Y),
        lambda: selection_bias(*parts, X, Y),
    ):
        with pytest.raises(TypeError, match=r"^selector and classifier look swapped"):
            call()
    # a classifier may transform, too
    both = CV2FeatureSelectionPipeline(SelectKBest(k=2), LinearDiscriminantAnalysis()).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    with pytest.raises(TypeError, match=r"^classifier must be a classifier"):
        CV2FeatureSelectionPipeline(SelectKBest(k=2), Ridge()).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "name", "meant"),
    [
        (make_pipeline(SelectKBest(k=2), SVC()), "C", "svc__C"),
        (CV2FeatureSelectionPipeline(SelectKBest(k=2), SVC()), "k", "selector__k"),
        (SVC(), "c", "C"),
        (SVC(), "zzz", None),
    ],
)
def test_a_grid_of_parameters_that_the_estimator_lacks(model, name, meant):
    hint = f".*'{meant}'" if meant else r"[.]$"
    for function in (evaluate, cross_val_error, tuning_optimism):
        for grid in ({name: [1, 2]}, [{name: [1, 2]}]):
            with pytest.raises(ValueError, match=rf"^param_grid .*'{name}'{hint}"):
                function(GridSearchCV(model, grid), X, Y)
        with pytest.raises(ValueError, match=rf"^param_distributions .*'{name}'{hint}"):
            function(make_pipeline(RandomizedSearchCV(model, {name: [1, 2]})), X, Y)


def test_a_parameter_of_a_part_is_suggested_by_the_estimator():
    for model, name, meant in (
        (CV2FeatureSelectionPipeline(SelectKBest(k=2), SVC()), "C", "classifier__C"),
        (PerturbationResamplingSVC(estimator=make_pipeline(SVC())), "svc__C", "estimator__svc__C"),
        (PerturbationResamplingSVC(), "c", "C"),
    ):
        for call in (
            lambda model=model, name=name: model.set_params(**{name: 1.0}),
            lambda model=model, name=name: GridSearchCV(model, {name: [1.0]}).fit(X, Y),
        ):
            with pytest.raises(ValueError, match=rf"^params .*'{name}'.*'{meant}'"):
                call()
        assert clone(model).set_params(**{meant: 2.0}).get_params()[meant] == 2.0


def test_a_grid_that_replaces_a_step_has_the_parameters_of_the_new_one():
    steps = make_pipeline(SelectKBest(k=2), GaussianNB())
    grid = {"gaussiannb": [SVC()], "gaussiannb__C": [1.0]}
    assert 0 <= cross_val_error(GridSearchCV(steps, grid, cv=2), X, Y, cv=2).value <= 1


@pytest.mark.parametrize("answer", [np.nan, np.inf, "x", 1j, None])
@pytest.mark.parametrize(
    "function", [permutation_test, feature_importance, score_interval, cross_val_error]
)
def test_predictions_that_are_no_numbers(function, answer):
    with pytest.raises(ValueError, match=r"predictions of estimator must be finite numbers, got "):
        function(AnswersNumbers(answer), X, X[:, 0])


def test_dates_are_no_predictions_of_numbers():
    with pytest.raises(ValueError, match=r"predictions of estimator must be finite numbers, got "):
        cross_val_error(AnswersNumbers(np.datetime64("2020-01-01")), X, X[:, 0])


def test_one_hot_columns_are_one_target():
    columns = np.eye(3)[np.arange(30) % 3]
    probabilities = np.random.default_rng(0).dirichlet([1, 1, 1], 30)
    with pytest.raises(ValueError, match=r"^y_true .*argmax"):
        evaluate_predictions(columns, probabilities)
    with pytest.raises(ValueError, match=r"y_true\.argmax\(axis=1\)"):
        metric_interval("accuracy", columns, columns.argmax(axis=1))
    # probabilities of independent labels, and rows with several labels
    several = np.vstack([[[1, 1, 0]], columns[1:]])
    for truth, given in ((columns, probabilities / 2), (several, probabilities)):
        assert evaluate_predictions(truth, given).n_samples == 30


def test_numbers_of_jobs_and_options_are_no_booleans():
    for n_jobs in (True, 10**9, -(10**9), 10_001, 0):
        for call in (
            lambda n_jobs=n_jobs: between_cluster_distances(X, Y, n_jobs=n_jobs),
            lambda n_jobs=n_jobs: cross_val_error(GaussianNB(), X, Y, n_jobs=n_jobs),
        ):
            with pytest.raises(ValueError, match=r"^n_jobs "):
                call()
    for verbose in (np.nan, 1.5):
        with pytest.raises(ValueError, match=r"^verbose "):
            cross_val_error(GaussianNB(), X, Y, verbose=verbose)
    with pytest.raises(ValueError, match=r"^n_resamples .*got True"):
        roc_curve_band(Y, X[:, 0], n_resamples=True)


@pytest.mark.parametrize("priors", [1j, "x", object(), [[0.5], [0.5, 1]]])
def test_values_that_are_no_numbers_are_those_of_their_argument(priors):
    with pytest.raises((TypeError, ValueError), match=r"^priors must"):
        holdout_error(Y, Y, priors=priors)


def test_names_of_columns_need_a_column():
    for call in (
        lambda: evaluate(GaussianNB(), X, Y, by="sex"),
        lambda: evaluate_predictions(Y, Y, by="sex"),
        lambda: evaluate_predictions(Y, Y, by={}),
        lambda: metric_interval("accuracy", Y, Y, by=[[1], [1, 2]]),
    ):
        with pytest.raises(ValueError, match=r"^by must"):
            call()


@pytest.mark.parametrize("function", [evaluate, cross_val_error, tuning_optimism])
def test_a_search_that_does_not_refit_predicts_nothing(function):
    for refit in (False, True):
        search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, refit=refit, cv=2)
        if refit:
            assert function(search, X, Y, cv=2, random_state=0) is not None
            continue
        with pytest.raises(ValueError, match=r"^refit of (estimator|search) must be True"):
            function(search, X, Y)


@pytest.mark.parametrize("metric", [error_rate, accuracy_score])
def test_a_metric_is_no_scorer(metric):
    better = metric is accuracy_score
    scorer = make_scorer(metric, greater_is_better=better)
    for function in (score_interval, permutation_test):
        call = rf"make_scorer\({metric.__name__}, greater_is_better={better}\)"
        with pytest.raises(TypeError, match=f"^scoring must .*{call}"):
            function(GaussianNB(), X, Y, scoring=metric)
    assert np.isfinite(score_interval(GaussianNB(), X, Y, scoring=scorer, random_state=0).value)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1"])
def test_a_score_of_classes_for_numbers(scoring):
    with pytest.raises(ValueError, match=rf"^scoring='{scoring}' .*r2"):
        evaluate(Ridge(), X, X[:, 0], scoring=scoring)
    with pytest.raises(ValueError, match=r"^scoring='r2' .*'accuracy'"):
        evaluate(GaussianNB(), X, Y, scoring="r2")


def test_names_of_the_package_are_suggested():
    with pytest.raises(AttributeError) as error:
        skeval.evalute  # noqa: B018
    assert (error.value.name, error.value.obj) == ("evalute", skeval)


ROWS = np.random.default_rng(1).random((4, 3))
RAGGED = [[1], [1, 2]]


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "X": lambda wrong: evaluate_clusterer(KMeans(2), wrong),
        "permutations": lambda wrong: permutation_test(GaussianNB(), X, Y, permutations=wrong),
        "train_sizes": lambda wrong: learning_curve_band(GaussianNB(), X, Y, train_sizes=wrong),
        "feature_names": lambda wrong: evaluate(GaussianNB(), X, Y, feature_names=wrong),
        "greater_is_better": lambda wrong: pareto_dominance(ROWS, greater_is_better=wrong),
        "time": lambda wrong: next(GroupTimeSeriesSplit(2, time=wrong).split(X, Y, Y)),
        "hypothesis": lambda wrong: sentence_bleu_score("the cat", wrong),
        "pos_label": lambda wrong: evaluate_predictions(Y, X[:, 0], pos_label=wrong),
        "metric": lambda wrong: metric_interval(wrong, Y, Y),
        "labels": lambda wrong: between_cluster_distances(X, wrong),
    }.items(),
)
def test_values_of_a_wrong_kind_are_those_of_their_argument(name, call):
    for wrong in (RAGGED, {}, np.zeros((2, 2, 2))):
        with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
            call(wrong)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: between_cluster_distances(X, Y, metric="euclid"), "euclidean"),
        (lambda: cluster_stability(KMeans(2), X, method="bootstrp"), "bootstrap"),
        (lambda: roc_curve_band(Y, X[:, 0], kind="gain"), "gains"),
    ],
)
def test_an_option_of_another_name_is_suggested(call, meant):
    with pytest.raises(ValueError, match=rf"got '\w+' \(did you mean '{meant}'\?\)[.]$"):
        call()


def test_the_value_of_an_error_is_short():
    for wrong in ("x" * 100_000, [list(range(1000))] * 9):
        for call in (
            lambda wrong=wrong: roc_curve_band(Y, X[:, 0], kind=wrong),
            lambda wrong=wrong: bootstrap_error(GaussianNB(), X, Y, method=wrong),
        ):
            with pytest.raises(
                ValueError, match=r"^(kind|method) must be one of .*got .*"
            ) as error:
                call()
            assert len(str(error.value)) < 200


def test_parts_that_always_run_are_not_offered():
    with pytest.raises(ValueError, match=r"^include must") as error:
        evaluate(GaussianNB(), X, Y, include="zzz")
    offered = set(re.findall(r"'(\w+)'", str(error.value))) - {"auto", "all", "zzz"}
    described = evaluate.__doc__.split("include : ")[1].split("budget : ")[0]
    assert offered == set(re.findall(r'"(\w+)"', described)) - {"auto", "all"}
    assert evaluate(GaussianNB(), X, Y, include="resubstitution", n_permutations=0).n_samples == 40


def test_all_arguments_have_a_name():
    assert error_rate(y_true=Y, y_pred=1 - Y) == 1.0
    named = cross_val_error(y=Y, X=X, estimator=GaussianNB(), cv=3, random_state=0)
    assert named.value == cross_val_error(GaussianNB(), X, Y, cv=3, random_state=0).value


def test_the_whole_name_counts_before_its_last_word():
    with pytest.raises(TypeError, match=r"'label' \(did you mean 'labels'"):
        score_decomposition(Y, X[:, 0], label=[0, 1])  # pos_label ends with it
    with pytest.raises(TypeError, match=r"'sizes' \(did you mean 'train_sizes'"):
        learning_curve_band(GaussianNB(), X, Y, sizes=[10])
