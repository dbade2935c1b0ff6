"""Properties of error_interval that hold for every method."""

import re

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.error_tasks import NUMBERS, TASKS, N, X, Y, splits_of, tasks
from numpy.testing import assert_allclose
from reference import intervals as reference
from sklearn import metrics as sk
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import cross_val_error, error_interval, resubstitution_error

SMALL = {  # a few fits of each method
    "resubstitution": {},
    "cross_validation": {"cv": 4},
    "leave_one_out": {},
    "holdout": {},
    "cv_wald": {"n_folds": 4},
    "corrected_t": {"n_repeats": 6, "test_size": 0.2},
    "nested_cv": {"n_folds": 4, "n_repeats": 2},
    "repeated_cv": {"n_folds": 4, "n_repeats": 2},
    "oob": {"n_resamples": 10},
    ".632": {"n_resamples": 10},
    ".632+": {"n_resamples": 10},
    "perturbation": {"n_resamples": 8, "n_folds": 3},
}
WEIGHTED = [name for name in SMALL if name not in ("oob", ".632", ".632+")]


BAYES = GaussianNB()
GROUPS = np.repeat(np.arange(13), 2)
every_method = pytest.mark.parametrize("method", SMALL)


def numbers(result):
    rest = result.to_dict()
    return [*rest.values(), *result.replicates.tolist()]


def test_every_method_is_tried():
    with pytest.raises(ValueError, match="method must be") as refused:
        error_interval(BAYES, X, Y, method="no such")
    names = str(refused.value).partition("one of ")[2].partition("; ")[0]
    assert set(SMALL) == set(re.findall(r"'([^']+)'", names)) - {"auto", "no such"}
    # those that take weights are tried with them
    for method in SMALL.keys() - set(WEIGHTED):
        with pytest.raises(ValueError, match="sample_weight"):
            error_interval(
                BAYES, X, Y, method=method, sample_weight=np.arange(1, N + 1), **SMALL[method]
            )
    chosen = error_interval(BAYES, X, Y, random_state=0)
    assert chosen.method == "repeated_cv"
    assert chosen.extra.parameters == {"n_folds": 10, "n_repeats": 4}


@every_method
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_intervals_scale_with_the_loss(method, loss):
    options = {"method": method, "loss": loss, "random_state": 3, **SMALL[method]}
    plain = error_interval(Ridge(), X, NUMBERS, **options)
    scaled = error_interval(Ridge(), X, 8 * NUMBERS, **options)
    factor = 64 if loss == "squared" else 8
    for one, other in zip(
        (plain.value, plain.interval.low, plain.interval.high),
        (scaled.value, scaled.interval.low, scaled.interval.high),
        strict=True,
    ):
        assert_allclose(other, factor * one, rtol=1e-10)
    assert plain.interval.low >= 0
    for form in set(plain.interval_methods) - {
        "pivotal",
        "symmetric",
        "quantile",
    }:  # whose quantiles take 2,000 draws here
        assert plain.confidence_interval(0.999, form).low >= 0


class Certain(GaussianNB):
    """Gives its prediction the probability 1."""

    def predict_proba(self, X):
        return (self.predict(X)[:, None] == self.classes_).astype(float)


@every_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_losses_of_certain_probabilities_are_multiples_of_errors(method, n_classes):
    rows = n_classes > Y
    options = {"method": method, "random_state": 3, **SMALL[method]}
    data = X[rows, 2:], np.array(list("abc"))[Y[rows]]
    errors = error_interval(Certain(), *data, **options)
    factors = {"log_loss": -np.log(np.finfo(float).eps), "brier": 1.0 if n_classes == 2 else 2.0}
    for loss, factor in factors.items():
        found = error_interval(Certain(), *data, loss=loss, **options)
        assert found.value == pytest.approx(factor * errors.value)
        assert_allclose(found.replicates, factor * errors.replicates, rtol=1e-12)
        assert 0 <= found.interval.low <= found.value < found.interval.high


def test_losses_of_probabilities_are_those_of_scikit_learn():
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    rng, words = np.random.default_rng(2), np.array(list("zax"))[Y]
    weight = rng.uniform(0.5, 2, N)
    for loss, peer in (("log_loss", sk.log_loss), ("brier", mean_brier)):
        means = []
        for train, test in folds:
            shares = (
                LogisticRegression(tol=1e-10).fit(X[train], words[train]).predict_proba(X[test])
            )
            means.append(peer(words[test], shares, labels=["a", "x", "z"]))
        found = cross_val_error(LogisticRegression(tol=1e-10), X, words, cv=folds, loss=loss)
        assert_allclose(found.replicates, means, atol=1e-6)
        expected = np.average(means, weights=[len(test) for _, test in folds])
        assert found.value == pytest.approx(expected, abs=1e-6)
        own = resubstitution_error(BAYES, X, words, loss=loss, sample_weight=weight)
        shares = BAYES.fit(X, words, weight).predict_proba(X)
        expected = peer(words, shares, labels=["a", "x", "z"], sample_weight=weight)
        assert own.value == pytest.approx(expected)


def mean_brier(y_true, shares, *, labels, sample_weight=None):
    truth = np.array(y_true)[:, None] == np.array(labels)
    return np.average(np.sum((shares - truth) ** 2, axis=1), weights=sample_weight)


@every_method
def test_a_loss_of_ones_own_that_is_negative(method):
    def gain(y_true, y_pred):
        return -np.exp(-np.abs(y_true - y_pred))

    options = {"method": method, "random_state": 3, **SMALL[method]}
    result = error_interval(Ridge(), X, NUMBERS, loss=gain, **options)
    assert result.value < 0
    assert result.interval.low < result.interval.high


@every_method
@pytest.mark.parametrize(("grouped", "wrong"), [(False, False), (True, True)])
def test_no_error_seen_is_no_certainty(method, grouped, wrong):
    apart = X + 50 * (np.arange(N) % 2)[:, None]
    groups = GROUPS.reshape(-1, 2).T.ravel() if grouped else None  # 2 samples of one class each
    model = Contrary() if wrong else WeightedLDA()
    options = {"method": method, "random_state": 3, **SMALL[method]}
    result = error_interval(model, apart, np.arange(N) % 2, groups=groups, **options)
    low, high = result.interval.low, result.interval.high
    if wrong and method == ".632+":
        assert result.value == pytest.approx(0.368 + 0.632 * 0.5)  # of no information
        assert low < high
        return
    assert result.value == wrong
    n = 13 if grouped else N
    n = n / 3 if method == "holdout" else n
    assert (1 - low if wrong else high) > 0.9 * 3.8 / (n + 3.8)
    assert result.effective_n_samples <= n + 1


class WeightedLDA(LinearDiscriminantAnalysis):
    """Takes weights, as perturbation asks, and does without."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class Contrary(WeightedLDA):
    """Wrong wherever the rule that it has learned is right."""

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, super().predict(X))]


@every_method
def test_groups_are_held_out_whole_and_counted(method):
    seen = []

    class Witness(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            self.trained_ = set(X[:, 0])
            return super().fit(X, y)

        def predict(self, X):
            seen.append((self.trained_, set(X[:, 0])))
            return super().predict(X)

    rows = np.column_stack([GROUPS, X])
    names = np.array([f"patient {g}" for g in GROUPS])
    options = {"method": method, "random_state": 3, **SMALL[method]}
    result = error_interval(Witness(), rows, Y, groups=names, **options)
    assert result.n_groups == (5 if method == "holdout" else 13)
    if method not in {"oob", ".632", ".632+", "resubstitution", "perturbation"}:
        assert all(not trained & tested for trained, tested in seen)
    renamed = error_interval(Witness(), rows, Y, groups=100 - GROUPS, **options)
    by_name = {"oob", ".632", ".632+", "cross_validation", "leave_one_out", "resubstitution"}
    if method not in by_name:  # of the last, sums of groups in another order differ by rounding
        assert numbers(renamed) == numbers(result)
    assert "groups" in str(result)


@tasks
def test_groups_of_one_sample_are_samples(task):
    """But for Student's quantile."""
    model, y, loss, _ = TASKS[task]
    for method in ("holdout", "cv_wald", "corrected_t", "nested_cv"):
        options = {"method": method, "loss": loss, "random_state": 3, **SMALL[method]}
        alone = error_interval(model, X, y, **options)
        grouped = error_interval(model, X, y, groups=np.arange(N), **options)
        assert_allclose(grouped.value, alone.value, rtol=1e-12)
        inflated = np.sqrt(N / (N - 1)) if method == "cv_wald" else 1
        assert_allclose(grouped.standard_error, inflated * alone.standard_error, rtol=1e-12)


def test_standard_error_of_groups_is_the_sandwich():
    result = error_interval(BAYES, X, Y, method="holdout", groups=GROUPS, random_state=1)
    (split,) = splits_of("classes", "holdout", random_state=1, groups=GROUPS)
    assert len(set(GROUPS[split[1]])) == 5
    expected = reference.grouped_variance(result.replicates, GROUPS[split[1]])
    assert_allclose(result.standard_error**2, expected, rtol=1e-12)
    assert result.extra.degrees_of_freedom == pytest.approx(4)


@pytest.mark.parametrize("method", WEIGHTED)
def test_equal_weights_are_no_weights(method):
    options = {"method": method, "random_state": 3, **SMALL[method]}
    for model, y in ((BAYES, Y), (Ridge(), NUMBERS)):
        plain = error_interval(model, X, y, **options)
        weighted = error_interval(model, X, y, sample_weight=np.ones(N), **options)
        assert_allclose(weighted.value, plain.value, rtol=1e-10)
        tolerance = 1 / N if method == "cv_wald" else 1e-9
        assert_allclose(weighted.standard_error, plain.standard_error, rtol=tolerance)


@pytest.mark.parametrize("method", WEIGHTED)
def test_weights_train_and_count(method):
    weight = np.random.default_rng(7).uniform(0.5, 3, N)
    options = {"method": method, "random_state": 3, **SMALL[method]}
    result = error_interval(Ridge(), X, NUMBERS, sample_weight=weight, **options)
    unweighted = error_interval(Ridge(), X, NUMBERS, **options)
    assert result.value != unweighted.value
    if method == "cv_wald":
        losses = np.empty(N)
        for train, test in splits_of("numbers", method, random_state=3, **SMALL[method]):
            model = Ridge().fit(X[train], NUMBERS[train], sample_weight=weight[train])
            losses[test] = (NUMBERS[test] - model.predict(X[test])) ** 2
        assert_allclose(result.value, np.average(losses, weights=weight), rtol=1e-10)
    with pytest.raises(TypeError, match="estimator must accept sample_weight in fit"):
        error_interval(KNeighborsClassifier(), X, Y, sample_weight=weight, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "holdout", "n_folds": 5}, "n_folds is not a parameter of"),
        ({"method": "leave_one_out", "n_repeats": 5}, "n_repeats is not a parameter of"),
        ({"n_resamples": 5}, "n_resamples is not a parameter of method='repeated_cv'"),
        ({"method": "nested_cv", "n_folds": 2}, "n_folds must be from 3 to 13 for method='nested"),
        ({"method": "nested_cv", "n_folds": 14}, "n_folds must be from 3 to 13 .*, got 14"),
        ({"method": "cv_wald", "n_folds": 27}, "n_folds must be from 2 to 26 for .* 26 samples"),
        ({"method": "cv_wald", "variance": "cr1"}, "variance must be one of 'all_pairs', 'within"),
        ({"method": "holdout", "test_size": 25}, "test_size must leave at least 2 of 26 samples"),
        ({"method": "holdout", "test_size": 1.5}, "test_size must be a fraction between 0 and 1"),
        ({"method": "corrected_t", "n_repeats": 1}, "n_repeats must be an integer >= 2, got 1"),
        ({"groups": np.zeros(N)}, r"groups must have at least two groups, got one: 0\.0"),
        ({"method": ".632+", "sample_weight": np.ones(N)}, "sample_weight must be None for method"),
        ({"sample_weight": np.r_[0, np.ones(N - 1)]}, "sample_weight must be > 0, got 0"),
        ({"sample_weight": np.ones(3)}, r"sample_weight must have shape \(26,\), got \(3,\)"),
        ({"method": "perturbation", "error_score": np.nan}, "error_score must be 'raise' for"),
        ({"loss": "hinge"}, "loss must be None, a callable or one of"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        error_interval(BAYES, X, Y, **options)


def test_a_pipeline_that_cannot_fit_a_small_class():
    """The method and the class are named."""
    y = np.where(np.arange(N) < 5, "rare", "common")
    model = CalibratedClassifierCV(GaussianNB(), cv=4)
    with pytest.raises(ValueError, match=r"'nested_cv'.*class 'rare'"):
        error_interval(model, X, y, method="nested_cv", random_state=0)


def test_training_sets_of_one_class_are_refused():
    y = np.where(np.arange(N) < 2, "rare", "common")
    groups = np.maximum(np.arange(N), 1)  # both members of the class are one group
    with pytest.raises(ValueError, match=r"class 'common' only .*class 'rare'.* 2"):
        error_interval(BAYES, X, y, method="cv_wald", groups=groups, random_state=0)


def test_errors_of_other_types_stay_and_say_which_fit():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise KeyError("no key")

    with pytest.raises(KeyError) as caught:
        error_interval(Broken(), X, Y, method="holdout")
    assert "method='holdout': estimator failed on " in caught.value.__notes__[0]


class Unsteady:
    """Raises where the numbers of the training rows add up to an even number."""

    def fit(self, X, y, sample_weight=None):
        if len(np.unique(X[:, 0])) < N and int(X[:, 0].sum()) % 2 == 0:
            raise RuntimeError("no fit for this sum")
        return super().fit(X, y)


class Fragile(Unsteady, GaussianNB):
    pass


class FragileRidge(Unsteady, Ridge):
    pass


FAILING = ["cv_wald", "corrected_t", "nested_cv", "repeated_cv"]
FAILING += ["oob", ".632+"]


@each_value
@pytest.mark.parametrize("method", FAILING)
@pytest.mark.parametrize(("model", "y"), [(Fragile(), Y), (FragileRidge(), NUMBERS)])
def test_failed_fits_are_left_out(model, y, method):
    rows = np.column_stack([np.arange(N), X])
    more = {"n_repeats": 6} if "n_repeats" in SMALL[method] else {}
    options = {"method": method, "random_state": 1, **SMALL[method], **more}
    with pytest.warns(FitFailedWarning, match="fits failed"):
        result = error_interval(model, rows, y, error_score=np.nan, **options)
    assert 0 < result.extra.n_failed < result.extra.n_fits
    assert 0 <= result.interval.low < result.interval.high < np.inf
    assert "failed fits" in str(result)
    if method == "corrected_t":  # J finished fits have J - 1 degrees of freedom
        finished = result.extra.n_fits - result.extra.n_failed
        assert result.extra.degrees_of_freedom == finished - 1


def test_few_samples_lower_the_default_number_of_folds():
    rows = np.r_[np.flatnonzero(Y == 0)[:6], np.flatnonzero(Y == 1)[:6]]
    for method, most in {"repeated_cv": 6, "nested_cv": 5, "cv_wald": 6}.items():
        result = error_interval(BAYES, X[rows], Y[rows], method=method, random_state=0)
        assert result.extra.parameters["n_folds"] == most


def test_leaving_one_out_is_not_repeated():
    result = error_interval(BAYES, X, Y, n_folds=N, random_state=0)
    assert result.extra.n_fits == N
    rows = [np.flatnonzero(np.arange(N) != i) for i in range(N)]
    wrong = [BAYES.fit(X[rest], Y[rest]).predict(X[[i]])[0] != Y[i] for i, rest in enumerate(rows)]
    assert result.value == pytest.approx(np.mean(wrong), rel=1e-12)
