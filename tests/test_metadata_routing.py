"""With metadata routing, what is requested arrives; checked against fits by hand."""

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metadata_routing import MetadataRouter

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.metrics import error_rate, make_clustering_scorer
from skeval.model_selection import (
    BootstrapSplit,
    WholeSample,
    bootstrap_error,
    make_bootstrap_scorer,
)
from skeval.svm import PerturbationResamplingSVC


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.r_[:80, 400:440]
    return X[chosen][:, :6], y[chosen]


def test_sample_weight_reaches_the_classifier_and_the_metric(data):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    svc = PerturbationResamplingSVC(n_resamples=0).set_fit_request(sample_weight=True)
    scorer = make_scorer(error_rate, greater_is_better=False).set_score_request(sample_weight=True)
    cv = list(GroupKFold(3).split(X, y, np.arange(len(y)) % 6))
    found = cross_validate(
        make_pipeline(MinMaxScaler(), svc), X, y, cv=cv, scoring=scorer,
        params={"sample_weight": weight},
    )["test_score"]  # fmt: skip
    for score, (train, test) in zip(found, cv, strict=True):
        scaler = MinMaxScaler().fit(X[train])
        fitted = svc.fit(scaler.transform(X[train]), y[train], sample_weight=weight[train])
        wrong = fitted.predict(scaler.transform(X[test])) != y[test]
        assert score == pytest.approx(-np.average(wrong, weights=weight[test]))


def test_groups_reach_the_inner_rounds(data):
    X, y = data
    groups = np.arange(len(y)) // 5
    model = CV2FeatureSelectionPipeline(SelectKBest(k=2), GaussianNB(), cv=GroupKFold(3))
    routed = make_pipeline(MinMaxScaler(), model.set_fit_request(groups=True))
    found = cross_validate(
        routed, X, y, cv=GroupKFold(4), params={"groups": groups}, return_estimator=True
    )
    splits = GroupKFold(4).split(X, y, groups)
    for fitted, (train, _) in zip(found["estimator"], splits, strict=True):
        scaled = MinMaxScaler().fit_transform(X[train])
        by_hand = model.fit(scaled, y[train], groups=groups[train])
        assert fitted[-1].cv2_error_ == by_hand.cv2_error_
        np.testing.assert_array_equal(fitted[-1].fold_supports_, by_hand.fold_supports_)


def test_groups_are_drawn_whole_by_a_routed_bootstrap(data):
    X, y = data
    groups = np.arange(len(y)) // 5
    cv = BootstrapSplit(5, random_state=0)
    found = cross_validate(
        GaussianNB(), X, y, cv=cv, params={"groups": groups}, return_indices=True
    )["indices"]
    for train, test in zip(found["train"], found["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])
    by_hand = [train for train, _ in cv.split(X, y, groups)]
    assert all(np.array_equal(a, b) for a, b in zip(found["train"], by_hand, strict=True))
    ungrouped = cross_validate(GaussianNB(), X, y, cv=cv, params={})["test_score"]
    assert len(ungrouped) == 5


class Recorder(GaussianNB):
    """Classifier that keeps the weights of its last fit."""

    def fit(self, X, y, sample_weight=None):
        self.weights_ = sample_weight
        return super().fit(X, y, sample_weight)


class RecordingSVC(SVC):
    """SVC that keeps the weights of its fit."""

    def fit(self, X, y, sample_weight=None):
        self.weights_ = sample_weight
        return super().fit(X, y, sample_weight)


SCALER = MinMaxScaler()
PARTS = {
    "CV2": (lambda part: CV2FeatureSelectionPipeline(SCALER, part, cv=3), Recorder),
    "consensus": (
        lambda part: CV2FeatureSelectionPipeline(SelectKBest(k=3), part, cv=3, final="consensus"),
        Recorder,
    ),
    "no rounds": (lambda part: CV2FeatureSelectionPipeline(SCALER, part, cv=None), Recorder),
    "perturbation": (lambda part: PerturbationResamplingSVC(estimator=part), RecordingSVC),
    "perturbed pipeline": (
        lambda part: PerturbationResamplingSVC(estimator=make_pipeline(SCALER, part)),
        RecordingSVC,
    ),
}


def last_weights(model):
    return (model.svc_ if hasattr(model, "svc_") else model.classifier_).weights_


@pytest.mark.filterwarnings("ignore:sample_weight does not reach SelectKBest")
@pytest.mark.parametrize("kind", PARTS)
def test_parts_receive_the_weights_that_they_request(data, kind):
    make, part = PARTS[kind]
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    weight[::5] = 0
    kept = weight > 0
    unset = make(part())
    assert isinstance(unset.get_metadata_routing(), MetadataRouter)
    assert last_weights(clone(unset).fit(X, y)) is None
    with pytest.raises(UnsetMetadataPassedError, match=rf"not requested for {part.__name__}\.fit"):
        unset.fit(X, y, sample_weight=weight)
    refusing = make(part().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=weight)
    assert last_weights(refusing) is None
    requested = make(part().set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(last_weights(requested), weight[kept])
    renamed = make(part().set_fit_request(sample_weight="w"))
    assert last_weights(clone(renamed).fit(X, y, w=weight)).tolist() == weight.tolist()
    # rows of weight 0 are left out of other arguments, too
    both = clone(renamed).fit(X, y, sample_weight=weight, w=np.arange(len(y)))
    np.testing.assert_array_equal(last_weights(both), np.flatnonzero(kept))
    model = clone(renamed).set_score_request(sample_weight=False)
    fitted = cross_validate(model, X, y, cv=2, params={"w": weight}, return_estimator=True)
    assert all(last_weights(one) is not None for one in fitted["estimator"])
    with config_context(enable_metadata_routing=False):
        assert last_weights(clone(unset).fit(X, y, sample_weight=weight)) is not None
        with pytest.raises(TypeError, match=r"unexpected.* argument 'w'"):
            clone(unset).fit(X, y, w=weight)


def test_selectors_receive_the_weights_that_they_request(data):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    classifier = GaussianNB().set_fit_request(sample_weight=False)
    for request in (None, False, True):
        tree = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=request)
        model = CV2FeatureSelectionPipeline(SelectFromModel(tree), classifier, cv=3)
        if request is None:
            with pytest.raises(UnsetMetadataPassedError, match=r"DecisionTreeClassifier\.fit"):
                model.fit(X, y, sample_weight=weight)
            continue
        model.fit(X, y, sample_weight=weight)
        plain = clone(tree).fit(X, y, weight if request else None)
        np.testing.assert_array_equal(
            model.selector_.estimator_.feature_importances_, plain.feature_importances_
        )


def test_a_perturbation_follows_the_requests_of_its_fit(data):
    X, y = data
    svc = SVC(kernel="linear").set_fit_request(sample_weight=True)
    inner = make_pipeline(MinMaxScaler(), svc)
    model = PerturbationResamplingSVC(estimator=inner, n_resamples=10, cv=3, random_state=0)
    model.fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
    with config_context(enable_metadata_routing=False):
        read_later = model.cv_error_
    assert read_later == clone(model).fit(X, y, sample_weight=np.linspace(1, 2, len(y))).cv_error_


class Multiplier(TransformerMixin, BaseEstimator):
    """Transformer that multiplies samples by a number for each."""

    def fit(self, X, y=None):
        return self

    def fit_transform(self, X, y=None, factor=None):
        return self.transform(X, factor)

    def transform(self, X, factor=None):
        return X if factor is None else X * factor[:, None]


class ShiftedSVC(SVC):
    """SVC whose responses take an argument."""

    def predict(self, X, flip=False):
        predicted = super().predict(X)
        return predicted[::-1] if flip else predicted

    def decision_function(self, X, flip=False):
        values = super().decision_function(X)
        return -values if flip else values


@pytest.mark.parametrize("routed", [True, False])
@pytest.mark.parametrize("kind", ["CV2", "perturbation"])
def test_responses_pass_their_arguments_on_as_a_pipeline_does(data, kind, routed):
    X, y = data
    factor = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    with config_context(enable_metadata_routing=routed):
        multiplier, svc = Multiplier(), ShiftedSVC(kernel="linear", C=0.01)
        params = {"flip": True}
        if routed:
            multiplier.set_transform_request(factor=True)
            svc.set_predict_request(flip=True).set_decision_function_request(flip=True)
            params |= {"factor": factor}
        pipeline = make_pipeline(multiplier, svc)
        model = {
            "CV2": CV2FeatureSelectionPipeline(multiplier, svc, cv=3 if routed else None),
            "perturbation": PerturbationResamplingSVC(estimator=pipeline, n_resamples=0),
        }[kind]
        fit = {"factor": factor} if routed else {}
        pipeline, model = clone(pipeline).fit(X, y, **fit), clone(model).fit(X, y, **fit)
        # without routing, only predict of a pipeline takes arguments
        for method in ("predict", "decision_function") if routed else ("predict",):
            expected = getattr(pipeline, method)(X, **params)
            np.testing.assert_array_equal(getattr(model, method)(X, **params), expected)
            assert not np.array_equal(getattr(model, method)(X), expected)
        with pytest.raises(TypeError, match="other"):
            model.predict(X, other=1)
        if routed and kind == "CV2":
            np.testing.assert_array_equal(
                model.transform(X, factor=factor), multiplier.transform(X, factor)
            )


def spread(X, labels, sample_weight=None):
    return np.average(X[:, 0] * labels, weights=sample_weight)


SCORERS = {
    "clustering": (lambda: make_clustering_scorer(spread), KMeans(2, n_init=1, random_state=0))
}


@each_value
@pytest.mark.parametrize("several", [False, True])
def test_requested_weights_reach_a_scorer_of_a_procedure(data, several):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.01, 9, size=len(y))
    model = GaussianNB().set_fit_request(sample_weight="w")
    options = {"n_resamples": 5, "random_state": 0}

    def score(scorer):
        scoring = {"score": scorer} if several else scorer
        run = {"cv": WholeSample(), "scoring": scoring, "params": {"w": weight}}
        return cross_validate(model, X, y, **run)["test_score"].tolist()

    weighted = make_bootstrap_scorer(**options).set_score_request(sample_weight="w")
    expected = bootstrap_error(GaussianNB(), X, y, sample_weight=weight, **options)
    assert score(weighted) == [-expected.value]
    assert score(make_bootstrap_scorer(sample_weight=weight, **options)) == [-expected.value]
    with pytest.raises(BaseException, match="the model must be trained on all"):
        score(make_bootstrap_scorer(**options))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", SCORERS)
def test_sample_weight_reaches_our_scorers_where_it_is_requested(data, name, several):
    make, estimator = SCORERS[name]
    estimator = clone(estimator).set_fit_request(sample_weight=False)
    y = data[1]
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + 0.3 * y[:, None]
    weight = np.random.default_rng(1).uniform(0.01, 9, size=len(y)) ** 4
    cv = list(GroupKFold(3).split(X, y, np.arange(len(y)) % 6))

    def scores(scorer, **params):
        scoring = {"score": scorer} if several else scorer
        return cross_validate(estimator, X, y, cv=cv, scoring=scoring, params=params)["test_score"]

    found = scores(make().set_score_request(sample_weight="w"), w=weight)
    expected = [
        make()(
            clone(estimator).fit(X[train], y[train]), X[test], y[test], sample_weight=weight[test]
        )
        for train, test in cv
    ]
    np.testing.assert_array_equal(found, expected)
    plain = scores(make())
    assert not np.array_equal(found, plain)
    weighs = make().set_score_request(sample_weight=True)
    np.testing.assert_array_equal(scores(weighs, sample_weight=weight), found)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        scores(make(), sample_weight=weight)
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(RuntimeError, match="enable_metadata_routing=True"),
    ):
        make().set_score_request(sample_weight=True)
