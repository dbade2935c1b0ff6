"""The CV2 pipeline: an estimator like any other, honest by construction."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from reference import selection as reference
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import (
    RFECV,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from skeval.feature_selection import (
    CV2FeatureSelectionPipeline,
    selection_bias,
    selection_stability,
)
from skeval.model_selection import cross_val_error, perturbation_interval


def planted(n=60, p=100, n_planted=4, shift=2.0, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.repeat(["case", "control"], n // 2)
    X[y == "case", :n_planted] += shift
    return X, y


SELECTION = "SelectKBest takes no weights, and libsvm stops within its tolerance"
NOT_EQUIVALENT = {
    "check_sample_weight_equivalence_on_dense_data": SELECTION,
    "check_sample_weight_equivalence_on_sparse_data": SELECTION,
}


@pytest.mark.filterwarnings("ignore")  # sklearn's checks fit tiny classes: fewer folds, warned of
def test_scikit_learn_checks():
    check_estimator(CV2FeatureSelectionPipeline(cv=None), expected_failed_checks=NOT_EQUIVALENT)


def test_weights_that_cannot_be_used_are_refused():
    X, y = planted()
    no_weights = CV2FeatureSelectionPipeline(SelectKBest(k=3), KNeighborsClassifier())
    with pytest.raises(TypeError, match="KNeighborsClassifier does not"):
        no_weights.fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="sample_weight"):
        CV2FeatureSelectionPipeline().fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="sample_weight must be >= 0, got -1"):
        CV2FeatureSelectionPipeline().fit(X, y, sample_weight=-np.ones(len(y)))


def test_rounds_against_a_plain_loop():
    X, y = planted()
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    selecting = CV2FeatureSelectionPipeline(SelectKBest(k=6), cv=cv).fit(X, y)
    wrong, supports = [], []
    for train, test in cv.split(X, y):
        selector = SelectKBest(f_classif, k=6).fit(X[train], y[train])
        classifier = SVC(kernel="linear").fit(X[train][:, selector.get_support()], y[train])
        wrong += list(classifier.predict(X[test][:, selector.get_support()]) != y[test])
        supports.append(selector.get_support())
    assert selecting.cv2_error_ == np.mean(wrong)
    assert selecting.fold_supports_.tolist() == np.array(supports).tolist()
    assert selecting.selection_frequency_.tolist() == np.mean(supports, axis=0).tolist()
    assert selecting.stability_.value == selection_stability(supports).value


def test_refit_is_the_pipeline_on_all_samples():
    X, y = planted()
    selecting = CV2FeatureSelectionPipeline(SelectKBest(k=6), SVC(), cv=3).fit(X, y)
    plain = make_pipeline(SelectKBest(k=6), SVC()).fit(X, y)
    assert selecting.decision_function(X).tolist() == plain.decision_function(X).tolist()
    assert selecting.predict(X).tolist() == plain.predict(X).tolist()
    assert selecting.transform(X).tolist() == plain[0].transform(X).tolist()
    assert selecting.get_support().tolist() == plain[0].get_support().tolist()


def test_cv_none_skips_the_rounds():
    X, y = planted()
    selecting = CV2FeatureSelectionPipeline(cv=None).fit(X, y)
    assert not hasattr(selecting, "cv2_error_")
    assert not hasattr(selecting, "fold_supports_")
    assert not hasattr(selecting, "stability_")
    assert selecting.get_support().sum() == 20


def test_consensus_against_the_definition():
    """Weak signal and repeated rounds: frequencies tie, ranks decide."""
    X, y = planted(n=40, p=40, shift=0.5)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    selecting = CV2FeatureSelectionPipeline(SelectKBest(k=7), cv=cv, final="consensus").fit(X, y)
    supports, ranks = [], []
    for train, _ in cv.split(X, y):
        scores = [reference.f_statistic(X[train, j].tolist(), y[train].tolist()) for j in range(40)]
        ranks.append(reference.descending_ranks(scores))
        supports.append([rank <= 7 for rank in ranks[-1]])
    expected = reference.consensus(supports, ranks, 7)
    assert selecting.get_support(indices=True).tolist() == expected
    classifier = SVC(kernel="linear").fit(X[:, expected], y)
    assert selecting.predict(X).tolist() == classifier.predict(X[:, expected]).tolist()
    assert selecting.transform(X).tolist() == X[:, expected].tolist()


def test_multiclass_strings_and_sparse():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, size=(90, 30)).astype(float), np.tile(["a", "b", "c"], 30)
    X[y == "b", 4] += 5
    X[y == "c", 7] += 5
    dense = CV2FeatureSelectionPipeline(SelectKBest(k=2), random_state=0).fit(X, y)
    text = y.astype(np.dtypes.StringDType()) if hasattr(np.dtypes, "StringDType") else y
    sparse = CV2FeatureSelectionPipeline(SelectKBest(k=2), random_state=0).fit(csr_matrix(X), text)
    assert dense.get_support(indices=True).tolist() == [4, 7]
    assert dense.cv2_error_ == sparse.cv2_error_ < 0.1
    assert sparse.predict(csr_matrix(X)).tolist() == dense.predict(X).tolist()
    assert dense.decision_function(X).shape == (90, 3)


def test_small_class_makes_fewer_folds():
    X, y = planted(p=30)
    rows = np.r_[:4, 30:60]
    with pytest.warns(UserWarning, match="the 4 samples of a class, so 4 folds"):
        selecting = CV2FeatureSelectionPipeline(random_state=0).fit(X[rows], y[rows])
    assert len(selecting.fold_supports_) == 4


def test_class_of_one():
    X, y = planted(p=30)
    with pytest.raises(ValueError, match="2 samples of each class, but the smallest class has 1"):
        CV2FeatureSelectionPipeline().fit(X[29:60], y[29:60])


def test_selecting_nothing_is_an_error():
    X, y = planted(n=20, p=50, shift=0)
    nothing = SelectFdr(alpha=1e-9)
    with pytest.raises(ValueError, match="at least one of the 50 features, got none"):
        CV2FeatureSelectionPipeline(nothing, cv=KFold(4, shuffle=True)).fit(X, y)
    with pytest.raises(ValueError, match="at least one of the 50 features, got none"):
        CV2FeatureSelectionPipeline(nothing, cv=None).fit(X, y)


def test_weights_that_leave_nothing_tested():
    X, y = planted()
    test = np.r_[0:5, 30:35]
    weights = np.ones(60)
    weights[test] = 0
    split = [(np.setdiff1d(np.arange(60), test), test)]
    selecting = CV2FeatureSelectionPipeline(classifier=GaussianNB(), cv=split)
    with pytest.raises(
        ValueError, match="sample_weight must be positive for at least one training sample"
    ):
        selecting.fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must be positive for at least one test"):
        perturbation_interval(GaussianNB(), X, y, cv=split, sample_weight=weights, n_resamples=5)


@pytest.mark.filterwarnings("ignore:sample_weight does not reach SelectKBest")
@pytest.mark.parametrize("kind", ["SelectFromModel", "search"])
def test_weights_reach_what_a_selector_or_a_search_hands_them_on_to(kind):
    rng = np.random.default_rng(0)
    y, heavy = np.tile([0, 1], 40), np.arange(80) >= 40
    weights, X = np.where(heavy, 5.0, 0.01), rng.normal(size=(80, 20))
    X[~heavy, 0] += 3 * y[~heavy]  # the feature of the samples that count for nothing
    X[heavy, 1] += 2 * y[heavy]
    rule = LogisticRegression()
    selector = {
        "SelectFromModel": SelectFromModel(rule, max_features=1, threshold=-np.inf),
        "search": SelectKBest(k=20),
    }[kind]
    classifier = GridSearchCV(rule, {"C": [1.0]}, cv=2) if kind == "search" else rule
    folds = list(StratifiedKFold(4).split(X, y))
    model = CV2FeatureSelectionPipeline(selector, classifier, cv=folds)
    model.fit(X, y, sample_weight=weights)
    if kind != "search":
        assert model.get_support(indices=True).tolist() == [1]
    wrong = np.zeros(80)
    for train, test in folds:
        given = {"sample_weight": weights[train]}
        fitted = clone(selector).fit(X[train], y[train], **({} if kind == "search" else given))
        tail = clone(rule).fit(fitted.transform(X[train]), y[train], **given)
        wrong[test] = tail.predict(fitted.transform(X[test])) != y[test]
    assert model.cv2_error_ == pytest.approx(np.average(wrong, weights=weights))


def test_weights_that_do_not_reach_the_selector_are_told():
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.tile([0, 1], 15)
    rule = LogisticRegression()
    model = CV2FeatureSelectionPipeline(RFECV(rule, cv=3), rule, cv=None)
    model.fit(X, y, sample_weight=np.ones(30))
    for selector in (RFECV(rule, cv=3), make_pipeline(StandardScaler(), SelectKBest(k=2))):
        model = CV2FeatureSelectionPipeline(selector, rule, cv=None)
        with pytest.warns(UserWarning, match="sample_weight does not reach (RFECV|SelectKBest)"):
            model.fit(X, y, sample_weight=np.arange(1, 31))


@each_value
@pytest.mark.filterwarnings("ignore:sample_weight does not reach SelectKBest")
@pytest.mark.parametrize("kind", ["array", "frame", "sparse"])
@pytest.mark.parametrize("cv", [4, GroupKFold(3), None, "explicit"])
def test_samples_of_weight_zero_take_no_part_in_anything(kind, cv):
    X, y = planted()
    rows, groups = np.arange(60) % 3 != 0, np.arange(60) // 2
    data = {"frame": pd.DataFrame, "sparse": csr_matrix}.get(kind, np.asarray)(X)
    part = data[rows]
    if cv == "explicit":
        cv = list(KFold(4, shuffle=True, random_state=0).split(X))
        within = [[np.cumsum(rows)[fold[rows[fold]]] - 1 for fold in folds] for folds in cv]
    options = {"classifier": SVC(kernel="linear"), "cv": cv, "random_state": 0}
    model = CV2FeatureSelectionPipeline(SelectKBest(k=3), **options)
    weights = rows * np.arange(1.0, 61)
    groups = None if isinstance(cv, list) else groups
    found = clone(model).fit(data, y, weights, groups)
    alone = clone(model).set_params(cv=within if isinstance(cv, list) else cv)
    alone.fit(part, y[rows], weights[rows], None if groups is None else groups[rows])
    assert found.get_support().tolist() == alone.get_support().tolist()
    assert found.decision_function(data).tolist() == alone.decision_function(data).tolist()
    assert cv is None or found.cv2_error_ == alone.cv2_error_


def test_an_out_of_bag_score_of_noise_is_near_chance():
    """Bagging leaves samples out by a weight of 0."""
    X, y = np.random.default_rng(0).normal(size=(50, 1000)), np.arange(50) % 2
    rule = CV2FeatureSelectionPipeline(SelectKBest(k=20), cv=None)
    bagging = BaggingClassifier(rule, 25, oob_score=True, random_state=0)
    assert bagging.fit(X, y).oob_score_ < 0.6


@pytest.mark.parametrize("kind", ["SelectKBest", "PCA", "consensus"])
def test_whole_number_weights_are_repeated_rows_for_a_step_without_weights(kind):
    X, y = planted(shift=0.8)
    counts = np.random.default_rng(0).multinomial(60, np.full(60, 1 / 60))
    selector = {"PCA": PCA(3, svd_solver="full")}.get(kind, SelectKBest(k=3))
    selector = make_pipeline(StandardScaler(), selector)
    folds = list(StratifiedKFold(4).split(X, y))
    final = "consensus" if kind == "consensus" else "refit"
    model = CV2FeatureSelectionPipeline(selector, cv=folds, final=final).fit(X, y, counts)

    def fit_plain(rows):
        select = clone(selector).fit(X[rows], y[rows])
        return select, SVC(kernel="linear").fit(select.transform(X[rows]), y[rows])

    # the copies of a sample stay in one part of a fold
    wrong, chosen = np.zeros(60), []
    for train, test in folds:
        select, classifier = fit_plain(np.repeat(train, counts[train]))
        wrong[test] = classifier.predict(select.transform(X[test])) != y[test]
        chosen.append(select[-1].get_support().tolist() if kind != "PCA" else None)
    assert model.cv2_error_ == pytest.approx(np.average(wrong, weights=counts))
    rows = np.repeat(np.arange(60), counts)
    if kind == "consensus":
        assert model.fold_supports_.tolist() == chosen
        scale = StandardScaler().fit(X[rows])
        assert_allclose(model.preprocessor_.transform(X), scale.transform(X))
    else:
        select, classifier = fit_plain(rows)
        expected = classifier.decision_function(select.transform(X))
        assert model.decision_function(X).tolist() == expected.tolist()


def test_a_selector_may_read_columns_of_a_data_frame_by_name():
    X, y = planted(p=6)
    frame = pd.DataFrame(X).add_prefix("gene").assign(sex=np.where(np.arange(60) % 3, "f", "m"))
    encode = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")
    selector = make_pipeline(encode, SelectKBest(k=3))
    model = CV2FeatureSelectionPipeline(selector, cv=5, random_state=0).fit(frame, y)
    plain = make_pipeline(selector, SVC(kernel="linear"))
    assert model.cv2_error_ == cross_val_error(plain, frame, y, cv=5, random_state=0).value
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.predict(frame).tolist() == plain.fit(frame, y).predict(frame).tolist()
    with pytest.raises(ValueError, match="names should match"):
        model.predict(frame[frame.columns[::-1]])


def test_a_regressor_and_missing_labels_are_refused_and_attributes_of_rounds_explained():
    X, y = planted(p=6)
    with pytest.raises(TypeError, match="classifier must be a classifier, got LinearRegression"):
        CV2FeatureSelectionPipeline(SelectKBest(k=2), LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="y must not contain missing values"):
        CV2FeatureSelectionPipeline().fit(X, np.where(np.arange(60) == 3, None, y))
    with pytest.raises(AttributeError, match="cv2_error_ needs inner rounds, which cv=None skips"):
        CV2FeatureSelectionPipeline(cv=None).fit(X, y).cv2_error_  # noqa: B018


def test_a_grid_sets_the_parameters_of_the_default_parts():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4], y[::4]
    grid = {"selector__k": [1, 5], "classifier__C": [0.01, 1.0]}
    model = CV2FeatureSelectionPipeline(cv=None)
    search = GridSearchCV(model, grid, cv=2).fit(X[:, :8], y)
    best = search.best_estimator_
    assert best.support_.sum() == search.best_params_["selector__k"]
    assert search.best_params_["classifier__C"] == best.classifier_.C
    assert best.classifier_.kernel == "linear"
    assert model.selector is None
    with pytest.raises(ValueError, match="Invalid parameter 'p' for estimator SelectKBest"):
        model.set_params(selector__p=3)


def test_log_probabilities_are_those_of_the_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    model = CV2FeatureSelectionPipeline(SelectKBest(k=3), GaussianNB(), cv=None).fit(X, y)
    expected = model.classifier_.predict_log_proba(X[:, model.support_])
    np.testing.assert_array_equal(model.predict_log_proba(X), expected)
    assert not hasattr(CV2FeatureSelectionPipeline(), "predict_log_proba")  # an SVC has none


def test_labels_are_read_as_everywhere():
    """A column of labels is no outer product, and labels of another type are not all wrong."""

    class Column(GaussianNB):
        def predict(self, X):
            return super().predict(X)[:, None]

    class Texts(GaussianNB):
        def predict(self, X):
            return super().predict(X).astype(str)

    X, y = load_breast_cancer(return_X_y=True)
    X, y, selector = X[::8], y[::8], SelectKBest(k=3)
    plain, column = (
        CV2FeatureSelectionPipeline(selector, model, cv=4, random_state=0).fit(X, y).cv2_error_
        for model in (GaussianNB(), Column())
    )
    assert plain == column
    with pytest.raises(ValueError, match=r"must predict labels that are in y, got '[01]'"):
        CV2FeatureSelectionPipeline(selector, Texts(), cv=4).fit(X, y)


@pytest.mark.filterwarnings("ignore:(.* times in fits. )?k=3 is greater:UserWarning")
@pytest.mark.parametrize("make", [RFECV, SequentialFeatureSelector])
def test_fewer_columns_than_k_are_all_taken_as_in_a_pipeline(make):
    """So that a selector outside can offer one, two or three columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    X[:, 2] += 3 * y
    ours = CV2FeatureSelectionPipeline(SelectKBest(k=3), GaussianNB(), cv=None)
    theirs = make_pipeline(SelectKBest(k=3), GaussianNB())
    options = {"cv": 3}
    if make is RFECV:
        # scikit-learn's selector reads the importances of the final classifier
        options["importance_getter"] = lambda model: np.ones(model.n_features_in_)
    else:
        options["n_features_to_select"] = 2
    one, other = (make(model, **options).fit(X, y) for model in (ours, theirs))
    np.testing.assert_array_equal(one.support_, other.support_)
    with pytest.warns(UserWarning, match="k=3 is greater than n_features=2"):
        assert ours.fit(X[:, :2], y).selector_.get_support().all()
    with pytest.raises(ValueError, match="selector must select at most the 2 features of X"):
        selection_bias(SelectKBest(k=3), GaussianNB(), X[:, :2], y)
