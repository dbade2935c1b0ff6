"""bootstrap_error against plain loops over clone, fit and predict."""

import pickle

import numpy as np
import pytest
from helpers.cases import plain
from helpers.crossed import each_value
from reference import bootstrap as reference
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import BootstrapSplit, bootstrap_error, resubstitution_error, score_632


def some_indices(y, n_resamples=8, seed=0):
    """Resamples that hold two classes and leave a sample out."""
    rng = np.random.default_rng(seed)
    y = np.asarray(y)
    rows = []
    while len(rows) < n_resamples:
        drawn = rng.integers(0, len(y), len(y))
        if len(np.unique(y[drawn])) > 1 and len(np.unique(drawn)) < len(y):
            rows.append(drawn)
    return np.array(rows)


def test_every_estimate_equals_the_plain_loops(case):
    indices = some_indices(case.y)
    Q = reference.out_of_bag_losses(case.estimator, plain(case), case.y, indices, case.loss)
    apparent, gamma = reference.apparent_and_no_information(
        case.estimator, plain(case), case.y, case.loss
    )
    for average, oob in (
        ("samples", reference.mean_over_samples(Q[:, np.isfinite(Q).any(axis=0)])),
        ("bootstraps", reference.mean_over_bootstraps(Q)),
    ):
        expected = {
            "oob": oob,
            ".632": reference.point632(apparent, oob),
            ".632+": reference.point632plus(apparent, oob, gamma),
        }
        for method in expected if average == "samples" else (".632+",):
            result = bootstrap_error(
                case.estimator, case.X, case.y, method=method, average=average, indices=indices
            )
            assert result.value == pytest.approx(expected[method], rel=1e-10)
            assert result.extra.oob == pytest.approx(oob, rel=1e-10)
            assert result.extra.resubstitution == pytest.approx(apparent, rel=1e-10, abs=1e-15)
            assert result.extra.no_information == pytest.approx(gamma, rel=1e-10)
            assert result.n_samples == np.isfinite(Q).any(axis=0).sum()
    np.testing.assert_allclose(result.replicates, np.nanmean(Q, axis=1), rtol=1e-10)


@each_value
@pytest.mark.parametrize(
    ("loss", "plain_loss"),
    [
        ("squared", reference.squared),
        ("absolute", reference.absolute),
        ("zero_one", reference.zero_one),
        (lambda true, predicted: np.abs(true - predicted) ** 1.5, lambda t, p: abs(t - p) ** 1.5),
    ],
)
@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_losses(iris, loss, plain_loss, dtype):
    X, y = iris[0][::4], (100 * iris[1][::4]).astype(dtype)
    estimator = KNeighborsClassifier(7)
    indices = some_indices(y, 6)
    Q = reference.out_of_bag_losses(estimator, X, y.astype(float), indices, plain_loss)
    apparent, gamma = reference.apparent_and_no_information(
        estimator, X, y.astype(float), plain_loss
    )
    if callable(loss) and dtype is np.uint8:
        y = y.astype(float)  # what a callable does with its dtype is its own affair
    result = bootstrap_error(estimator, X, y, loss=loss, indices=indices)
    known = Q[:, np.isfinite(Q).any(axis=0)]
    assert result.extra.oob == pytest.approx(reference.mean_over_samples(known))
    assert result.extra.resubstitution == pytest.approx(apparent)
    assert result.extra.no_information == pytest.approx(gamma)


def test_a_callable_named_like_a_loss_is_still_called(cancer):
    def zero_one(true, predicted):
        return 3.0 * (true != predicted)

    indices = some_indices(cancer[1], 5)
    own = bootstrap_error(GaussianNB(), *cancer, loss=zero_one, indices=indices, method=".632")
    built_in = bootstrap_error(GaussianNB(), *cancer, indices=indices, method=".632")
    assert own.value == pytest.approx(3 * built_in.value)
    assert own.interval_methods == ("normal",)
    assert own.loss != "zero_one"


def test_no_information_below_resubstitution_gives_no_relative_overfitting():
    class Contrary(KNeighborsClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    result = bootstrap_error(Contrary(1), X, y, n_resamples=20, random_state=0)
    assert result.extra.resubstitution == 1
    assert result.extra.no_information == 0.5
    assert result.extra.relative_overfitting == 0
    assert result.extra.weight == 0.632
    assert result.value == pytest.approx(0.368 + 0.632 * 0.5)


@pytest.mark.parametrize("stratify", [False, True])
def test_split_yields_the_resamples_of_bootstrap_error(cancer, stratify):
    X, y = cancer
    split = BootstrapSplit(20, stratify=stratify, random_state=3)
    indices = [train for train, _ in split.split(X, y)]
    drawn = bootstrap_error(
        GaussianNB(), X, y, n_resamples=20, stratify=stratify, random_state=3, average="bootstraps"
    )
    given = bootstrap_error(
        GaussianNB(), X, y, indices=indices, stratify=stratify, average="bootstraps"
    )
    np.testing.assert_array_equal(drawn.replicates, given.replicates)
    assert drawn.value == given.value
    assert drawn.standard_error == pytest.approx(given.standard_error, rel=1e-12)


def test_stratified_resamples_keep_the_class_sizes(iris):
    y = iris[1][:120]
    for train, _ in BootstrapSplit(20, stratify=True, random_state=0).split(iris[0][:120], y):
        assert np.bincount(y[train]).tolist() == [50, 50, 20]


def test_groups_are_never_split(cancer):
    X, y = cancer
    groups = np.random.default_rng(0).choice([f"g{i}" for i in range(15)], len(y))
    splits = list(BootstrapSplit(20, random_state=1).split(X, y, groups))
    for train, test in splits:
        assert sorted({*groups[train], *groups[test]}) == sorted(set(groups))
        assert not set(groups[train]) & set(groups[test])
        counts = np.bincount(train, minlength=len(y))
        times_drawn = [set(counts[groups == group]) for group in np.unique(groups)]
        assert all(len(times) == 1 for times in times_drawn)
        assert sum(times.pop() for times in times_drawn) == len(np.unique(groups))
    by_hand = [np.mean(GaussianNB().fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in splits]
    options = {"n_resamples": 20, "random_state": 1, "average": "bootstraps", "method": "oob"}
    result = bootstrap_error(GaussianNB(), X, y, groups=groups.tolist(), **options)
    np.testing.assert_allclose(result.replicates, by_hand)
    assert result.n_groups == 15
    alone = bootstrap_error(GaussianNB(), X, y, groups=np.arange(len(y)), **options)
    samples = bootstrap_error(GaussianNB(), X, y, **options)
    assert alone.value == samples.value  # groups of one are samples
    assert alone.standard_error == pytest.approx(samples.standard_error)


def test_degenerate_resamples_are_drawn_again_and_counted():
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 0, 1, 1])
    result = bootstrap_error(
        KNeighborsClassifier(1), X, y, n_resamples=150, random_state=0, method="oob"
    )
    # one class only: (3^5 + 2^5) / 5^5; nothing left out: 5! / 5^5
    probability = (3**5 + 2**5 + 120) / 5**5
    expected = 150 * probability / (1 - probability)
    assert abs(result.extra.n_redrawn - expected) < 3 * expected**0.5
    for train, test in BootstrapSplit(150, random_state=0).split(X, y):
        assert len(set(y[train])) == 2
        assert len(test)
    assert f"redrawn               {result.extra.n_redrawn}" in str(result)
    assert np.isfinite(result.replicates).all()


def test_a_regressor_may_train_on_equal_numbers():
    X, y = np.arange(8.0)[:, None], np.repeat([1.0, 2.0], 4)
    result = bootstrap_error(Ridge(), X, y, n_resamples=20, random_state=0)
    assert result.loss == "squared"
    interval = result.confidence_interval()
    assert 0 <= interval.low < result.value < interval.high


def test_resubstitution_is_the_part_of_the_bootstrap(case):
    alone = resubstitution_error(case.estimator, case.X, case.y)
    within = bootstrap_error(case.estimator, case.X, case.y, n_resamples=2, random_state=0)
    assert alone.value == within.extra.resubstitution
    apparent, _ = reference.apparent_and_no_information(
        case.estimator, plain(case), case.y, case.loss
    )
    assert alone.value == pytest.approx(apparent, rel=1e-12)
    assert alone.replicates.shape == (len(case.y),)
    assert alone.standard_error == pytest.approx(
        alone.replicates.std() / len(case.y) ** 0.5, abs=1e-15
    )


def run(model, data, n=25, seed=2, **options):
    cv = BootstrapSplit(n, random_state=seed)
    return cross_validate(model, *data, cv=cv, return_estimator=True, **options)


def test_the_mean_is_the_out_of_bag_score_and_score_632_the_estimate(cancer):
    options = {"n_resamples": 25, "average": "bootstraps", "random_state": 2}
    result = bootstrap_error(GaussianNB(), *cancer, method=".632", **options)
    res = run(GaussianNB(), cancer)
    assert res["test_score"].mean() == pytest.approx(1 - result.extra.oob)
    np.testing.assert_allclose(1 - res["test_score"], result.replicates)
    assert score_632(res, *cancer) == pytest.approx(1 - result.value)


def test_score_632_of_several_scores(cancer):
    res = run(GaussianNB(), cancer, scoring=["accuracy", "neg_log_loss"])
    one = run(GaussianNB(), cancer, scoring="neg_log_loss")
    several = score_632(res, *cancer, scoring="neg_log_loss", metric="neg_log_loss")
    assert several == score_632(one, *cancer, scoring="neg_log_loss")
    assert several == score_632(res, *cancer, metric="neg_log_loss")


def test_score_632_fits_with_the_arguments_of_the_fits(cancer):
    X, y = cancer
    params = {"sample_weight": np.linspace(0.1, 9, len(y))}
    res = run(GaussianNB(), cancer, params=params)
    apparent = GaussianNB().fit(X, y, **params).score(X, y)
    expected = 0.368 * apparent + 0.632 * res["test_score"].mean()
    assert score_632(res, X, y, params=params) == pytest.approx(expected)
    assert score_632(res, X, y) != score_632(res, X, y, params=params)


def test_score_632_refuses_folds_without_repeated_samples(cancer):
    options = {"return_estimator": True, "return_indices": True}
    assert score_632(run(GaussianNB(), cancer, return_indices=True), *cancer) > 0.5
    with pytest.raises(ValueError, match=r"results must be from cv=BootstrapSplit\(\)"):
        score_632(cross_validate(GaussianNB(), *cancer, cv=3, **options), *cancer)


def test_regression_target_of_whole_numbers_is_no_set_of_classes():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    assert np.all(y == np.floor(y))
    assert min(np.unique(y, return_counts=True)[1]) == 1
    res = run(Ridge(), (X, y), 5, 0, scoring="neg_mean_squared_error")
    result = bootstrap_error(
        Ridge(), X, y, method=".632", n_resamples=5, random_state=0, average="bootstraps"
    )
    found = score_632(res, X, y, scoring="neg_mean_squared_error")
    assert found == pytest.approx(-result.value)


def test_repr_pickle_and_seed():
    cv = BootstrapSplit(3, stratify=True, random_state=1)
    assert repr(cv) == "BootstrapSplit(n_splits=3, random_state=1, stratify=True)"
    X, y = np.zeros((10, 1)), np.repeat([0, 1], 5)

    def trains(split):
        return [train.tolist() for train, _ in split.split(X, y)]

    assert trains(cv) == trains(cv) == trains(pickle.loads(pickle.dumps(cv)))
    assert trains(BootstrapSplit(3)) != trains(BootstrapSplit(3))
    moving = BootstrapSplit(3, random_state=np.random.RandomState(0))
    assert trains(moving) != trains(moving)


def test_a_sample_that_is_never_out_of_bag_has_no_part_in_the_weighted_mean():
    rng = np.random.default_rng(1)
    y = np.arange(30) % 2
    X, w = rng.normal(size=(30, 2)) + y[:, None], rng.uniform(0.2, 3, 30)
    indices = some_indices(y, n_resamples=4, seed=1)
    losses = np.full((4, 30), np.nan)
    for loss, drawn in zip(losses, indices, strict=True):
        left_out = np.setdiff1d(np.arange(30), drawn)
        model = GaussianNB().fit(X[drawn], y[drawn], sample_weight=w[drawn])
        loss[left_out] = model.predict(X[left_out]) != y[left_out]
    tested = np.isfinite(losses).any(axis=0)
    assert not tested.all()
    expected = np.average(np.nanmean(losses[:, tested], axis=0), weights=w[tested])
    result = bootstrap_error(GaussianNB(), X, y, method="oob", indices=indices, sample_weight=w)
    assert result.value == pytest.approx(expected, rel=1e-12)


def test_200_resamples_are_drawn_unless_another_number_is_asked_for():
    X, y = np.random.default_rng(0).normal(size=(12, 1)), np.arange(12) % 2
    found = bootstrap_error(GaussianNB(), X, y, groups=np.arange(12) // 2, random_state=0)
    assert len(found.replicates) == found.extra.n_resamples == 200
