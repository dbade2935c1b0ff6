"""PerturbationResamplingSVC is a scikit-learn classifier with an honest error."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from skeval.datasets import make_gaussian_classes
from skeval.model_selection import perturbation_interval
from skeval.svm import PerturbationResamplingSVC

pytestmark = pytest.mark.filterwarnings(
    "ignore:the resubstitution error:UserWarning", "ignore:cv=10 exceeds:UserWarning"
)

LIBSVM = "libsvm stops within its tolerance, so weights equal repetitions only nearly; as for SVC"


@parametrize_with_checks(
    [PerturbationResamplingSVC(n_resamples=2, cv=2)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": LIBSVM,
        "check_sample_weight_equivalence_on_sparse_data": LIBSVM,
    },
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    sample = make_gaussian_classes(80, 3, separation=2, random_state=0)
    return sample.X, np.array(["no", "yes"])[sample.y]


def test_it_is_the_svc_and_the_interval(data):
    X, y = data
    model = PerturbationResamplingSVC(C=0.5, n_resamples=60, random_state=3).fit(X, y)
    plain = SVC(C=0.5, kernel="linear").fit(X, y)
    expected = perturbation_interval(
        SVC(C=0.5, kernel="linear"), X, y, n_resamples=60, random_state=3
    )
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_array_equal(model.statistics_, expected.details["statistics"])
    assert model.cv_error_ == expected.value
    assert model.resubstitution_error_ == expected.details["resubstitution"]
    assert (model.confidence_interval_.low, model.confidence_interval_.high) == (
        expected.interval.low,
        expected.interval.high,
    )


def test_weights_are_multiplied_in(data):
    X, y = data
    own = np.linspace(0.2, 3, len(y))
    model = PerturbationResamplingSVC(n_resamples=20, class_weight={"no": 2.0}, random_state=0).fit(
        X, y, sample_weight=own
    )
    svc = SVC(kernel="linear", class_weight={"no": 2.0})
    expected = perturbation_interval(svc, X, y, n_resamples=20, sample_weight=own, random_state=0)
    np.testing.assert_array_equal(model.coef_, svc.fit(X, y, own).coef_)
    np.testing.assert_array_equal(model.statistics_, expected.details["statistics"])


def test_grid_search_pays_for_no_perturbation(data):
    X, y = data
    grid = GridSearchCV(PerturbationResamplingSVC(n_resamples=0), {"C": [0.1, 1]}, cv=3)
    best = grid.fit(X, y).best_estimator_
    assert best.perturbation_ is None
    with pytest.raises(AttributeError, match="n_resamples=0 skipped the estimation"):
        _ = best.cv_error_


def test_refitting_without_resamples_forgets_the_old_error(data):
    model = PerturbationResamplingSVC(n_resamples=5, random_state=0).fit(*data)
    assert model.cv_error_ > 0
    assert not hasattr(model.set_params(n_resamples=0).fit(*data), "cv_error_")
    assert model.n_iter_.min() >= 1


def test_pipeline_cross_validate_clone_and_pickle(data):
    X, y = data
    model = make_pipeline(StandardScaler(), PerturbationResamplingSVC(n_resamples=5))
    assert cross_validate(model, X, y, cv=3)["test_score"].min() > 0.6
    fitted = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    assert fitted[-1].confidence_interval_.confidence_level == 0.95


def test_multiclass_sparse_and_other_kernels():
    X, y = load_iris(return_X_y=True)
    model = PerturbationResamplingSVC(kernel="rbf", n_resamples=10, random_state=0)
    dense = model.fit(X, y).statistics_
    assert model.decision_function(X).shape == (150, 3)
    sparse = clone(model).fit(csr_array(X), y).statistics_
    np.testing.assert_allclose(sparse, dense, atol=1e-12)


def test_small_classes_lower_the_folds(data):
    X, y = data
    few = np.concatenate([np.flatnonzero(y == "no")[:6], np.flatnonzero(y == "yes")[:20]])
    with pytest.warns(UserWarning, match="the smallest class has 6: 6 folds"):
        PerturbationResamplingSVC(n_resamples=2).fit(X[few], y[few])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        _ = PerturbationResamplingSVC().cv_error_
