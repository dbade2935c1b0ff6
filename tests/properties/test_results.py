"""Results and estimators travel: they are frozen, copied, pickled and cloned."""

import copy
import pickle
import warnings
from dataclasses import FrozenInstanceError, fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from helpers.families import FAMILIES, STUMP, TREE, is_result, public_names
from helpers.outcomes import numbers
from helpers.sound import RNG, X, Y, sound_calls
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skeval
from skeval.datasets import make_gaussian_classes
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.metrics.cluster import internal_indices
from skeval.model_selection import (
    compare_classifiers,
    holdout_size,
    metric_interval,
    permutation_test,
)
from skeval.svm import PerturbationResamplingSVC

FEW = {"include": "all", "cv": 3, "n_permutations": 2, "random_state": 0}
LOOSE = {  # made by more than data
    "holdout_size": lambda: holdout_size(0.1, 0.03),
    "make_gaussian_classes": lambda: make_gaussian_classes(20, 3, random_state=0),
    "permutation tests": lambda: permutation_test(
        PerturbationResamplingSVC(n_resamples=0, cv=3),
        X,
        Y,
        cv=3,
        n_permutations=2,
        scoring=["accuracy", "f1"],
        random_state=0,
    ),
    "methods side by side": lambda: FAMILIES["unsupervised"]["choose_n_clusters"](
        X, method=["silhouette", "adjusted_rand"]
    ),
    "an estimate of an index": lambda: internal_indices(
        np.repeat(X, 20, axis=0) + RNG.normal(size=(20 * len(X), X.shape[1])),
        np.repeat(Y, 20),
        max_pairs=20_000,
        random_state=0,
        indices=["silhouette"],
    )["silhouette"],
    "a difference": lambda: compare_classifiers([TREE, STUMP], X, Y, cv=3).difference,
    "several reports": lambda: skeval.evaluate({"one": TREE, "two": STUMP}, X, Y, **FEW),
    "several labels": lambda: skeval.evaluate_predictions(
        np.column_stack([Y, Y[::-1]]), np.column_stack([Y, Y]), random_state=0
    ),
    "several outputs": lambda: skeval.evaluate(
        TREE, X, np.column_stack([Y, Y[::-1]]), cv=2, random_state=0
    ),
    "a metric of a report": lambda: skeval.evaluate(TREE, X, Y, **FEW).metrics["accuracy"],
    "subgroups": lambda: metric_interval("accuracy", Y, Y[::-1], by=np.arange(len(Y)) % 2),
    "an interval": lambda: FAMILIES["classes"]["holdout_error"](Y, Y[::-1]).confidence_interval(),
}


@pytest.fixture(scope="module")
def made():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = {name: FAMILIES[family][name](*data) for family, name, data in sound_calls()}
        return {name: make() for name, make in LOOSE.items()} | calls


@pytest.fixture(scope="module")
def results(made):
    return [result for result in made.values() if is_dataclass(result)]


def test_every_result_is_made_here(results):
    classes = {name for name, member in public_names().items() if is_result(member)}
    displays = {name for name in classes if name.endswith("Display")}
    made = {kind.__name__ for result in results for kind in type(result).__mro__}
    assert made >= classes - displays


def test_results_are_frozen_copied_and_pickled(results):
    for result in results:
        for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
            assert type(again) is type(result)
            assert str(again) == str(result)
            np.testing.assert_array_equal(numbers(again), numbers(result))
        with pytest.raises(FrozenInstanceError):
            setattr(result, fields(result)[0].name, None)


WITHOUT_A_PICTURE = {
    "calibration_measures",
    "external_indices",
    "holdout_size",
    "internal_indices",
    "methods side by side",
    "score_decomposition",
    "threshold_measures",
}


def test_every_result_is_drawn_or_says_that_it_is_not(made):
    plt = pytest.importorskip("matplotlib.pyplot")
    refused = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, result in made.items():
            if hasattr(result, "to_dict") and hasattr(result, "plot"):
                try:
                    assert result.plot().ax_.has_data(), name
                except (TypeError, ValueError) as error:
                    refused[name] = str(error)
            plt.close("all")
    assert set(refused) == WITHOUT_A_PICTURE
    assert refused["holdout_size"] == (
        "There is no plot for a result of type HoldoutSize. Print it, or use to_dict()."
    )


@pytest.mark.parametrize("wrong", ["roc", 5, ["roc"]])
def test_a_result_is_drawn_on_axes_alone(results, wrong):
    pytest.importorskip("matplotlib.pyplot")
    for result in results:
        if hasattr(result, "plot") and type(result).__name__ in ("Estimate", "EvaluationReport"):
            with pytest.raises(TypeError, match="ax must be None or axes of matplotlib"):
                result.plot(wrong)


def test_entries_are_found_by_name(made):
    report = skeval.evaluate(TREE, X, Y, **FEW)
    metrics = report.metrics
    for name in ("accuracy", "roc_auc", "recall of 1"):
        assert report[name] is metrics[name] is getattr(metrics, name)
    assert report["resubstitution"] is report.estimates["resubstitution"]
    for read, kind in ((metrics.__getitem__, KeyError), (report.__getitem__, KeyError)):
        with pytest.raises(
            kind, match=r"no 'roc_aux' .did you mean 'roc_auc'.* There are 'accuracy'"
        ):
            read("roc_aux")
    with pytest.raises(AttributeError, match=r"no 'roc_aux' .did you mean 'roc_auc'"):
        _ = metrics.roc_aux
    assert not hasattr(metrics, "__array__")


def test_a_file_needs_a_folder(made, tmp_path):
    report = skeval.evaluate(TREE, X, Y, **FEW)
    for write in (report.to_json, report.to_markdown):
        with pytest.raises(FileNotFoundError, match="path must be in an existing folder"):
            write(tmp_path / "none" / "report")
    assert not list(tmp_path.iterdir())


ESTIMATORS = [
    CV2FeatureSelectionPipeline(SelectKBest(k=2), cv=3, random_state=0),
    PerturbationResamplingSVC(n_resamples=3, cv=3, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_estimators_are_cloned_copied_and_pickled(estimator):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = clone(estimator).fit(frame, Y)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), clone(fitted)):
        again = again if hasattr(again, "classes_") else again.fit(frame, Y)
        np.testing.assert_array_equal(again.predict(frame), fitted.predict(frame))
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        assert repr(again.get_params()) == repr(estimator.get_params())
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_selected_features_keep_their_names(container):
    library = pytest.importorskip(container)
    frame = library.DataFrame({"a": X[:, 0], "noise": RNG.normal(size=24), "c": X[:, 2]})
    rule = clone(ESTIMATORS[0]).set_output(transform=container)
    out = rule.fit(frame, Y).transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == ["a", "c"] == rule.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), X[:, [0, 2]])
    behind = make_pipeline(StandardScaler(), clone(ESTIMATORS[0])).set_output(transform=container)
    assert list(behind.fit(frame, Y).transform(frame).columns) == ["a", "c"]
