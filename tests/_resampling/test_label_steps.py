"""Warnings about estimators behind a step that has seen the labels."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import bootstrap_error, cross_val_error, make_bootstrap_scorer
from skeval.svm import PerturbationResamplingSVC

SELECT, SCALE = SelectKBest(k=2), StandardScaler()
SVM = PerturbationResamplingSVC(n_resamples=10, cv=2)
CV2 = CV2FeatureSelectionPipeline(SelectKBest(k=1), cv=2)
INSIDE = PerturbationResamplingSVC(estimator=make_pipeline(SELECT, SVC()), n_resamples=10, cv=2)
COLUMNS = ColumnTransformer([("chosen", SELECT, [0, 1, 2]), ("rest", "passthrough", [3])])
BIASED = {
    "pipeline": make_pipeline(SELECT, SVM),
    "selector in a pipeline": make_pipeline(make_pipeline(SCALE, SELECT), SVM),
    "estimator in a pipeline": make_pipeline(SELECT, make_pipeline(SCALE, SVM)),
    "union": make_pipeline(make_union(PCA(1), SELECT), SVM),
    "columns": make_pipeline(COLUMNS, SVM),
    "no get_support": make_pipeline(LinearDiscriminantAnalysis(), SVM),
    "search": make_pipeline(SELECT, GridSearchCV(SVM, {"C": [1.0]}, cv=2)),
    "pipeline in a search": GridSearchCV(make_pipeline(SELECT, SVM), {}, cv=2),
    "selection by the estimator": RFE(PerturbationResamplingSVC(n_resamples=5), step=0.5),
    "ensemble": StackingClassifier([("one", make_pipeline(SELECT, SVM)), ("two", SVC())], cv=2),
    "CV2 behind a selector": make_pipeline(SELECT, CV2),
    "CV2 behind CV2": make_pipeline(CV2, SCALE, SVM),
}
UNBIASED = {
    "alone": SVM,
    "scaled": make_pipeline(SCALE, PCA(2), SVM),
    "inside": INSIDE,
    "inside behind a scaler": make_pipeline(SCALE, INSIDE),
    "nothing estimated": make_pipeline(SELECT, PerturbationResamplingSVC(n_resamples=0)),
    "no rounds": make_pipeline(SELECT, CV2FeatureSelectionPipeline(SelectKBest(k=1), cv=None)),
    "CV2": CV2,
}


def run(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 4)), np.arange(24) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_error(estimator, X, y, cv=2, random_state=0)
        bootstrap_error(estimator, X, y, n_resamples=2, random_state=0)
        if hasattr(estimator, "decision_function"):
            scorer = make_bootstrap_scorer(n_resamples=2, random_state=0)
            scorer(estimator.fit(X, y), X, y)
    return [str(one.message) for one in caught if "ignores the step" in str(one.message)]


@pytest.mark.parametrize("kind", BIASED)
def test_an_error_of_its_own_behind_a_step_that_uses_labels_is_a_warning(kind):
    assert len(run(BIASED[kind])) >= 2


@pytest.mark.parametrize("kind", UNBIASED)
def test_other_pipelines_do_not_warn(kind):
    assert run(UNBIASED[kind]) == []


def find_own_errors(estimator):
    """Yield the fitted parts that have an error of their own, those of a search included."""
    if getattr(estimator, "_own_error", None):
        yield estimator
    parts = [step for _, step in getattr(estimator, "steps", ())]
    names = [name for name in ("best_estimator_", "estimator_") if hasattr(estimator, name)]
    parts += [getattr(estimator, name) for name in names] + getattr(estimator, "estimators_", [])
    for part in parts:
        yield from find_own_errors(part)


@pytest.mark.parametrize("kind", [*BIASED, *UNBIASED])
def test_reading_an_error_warns_where_the_estimator_is_fitted_alone(kind):
    rng = np.random.default_rng(0)
    model = clone((BIASED | UNBIASED)[kind]).fit(rng.normal(size=(24, 4)), np.arange(24) % 2)
    for part in find_own_errors(model):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(part, part._own_error)
        warned = any("ignores the step" in str(one.message) for one in caught)
        behind = kind != "CV2 behind CV2" or part is model[-1]
        assert warned == (kind in BIASED and behind), kind
