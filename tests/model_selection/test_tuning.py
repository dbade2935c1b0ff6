"""The best inner score of a search against its nested score."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from scipy.stats import binom, norm, t
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.model_selection import refit_one_se, tuning_optimism

NEIGHBOURS = {"n_neighbors": [1, 3, 9]}
SEARCH = GridSearchCV(KNeighborsClassifier(), NEIGHBOURS, cv=2)
TALKS = "ignore:the best score of the search"
pytestmark = pytest.mark.filterwarnings(TALKS)


def noise(n=48, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)), np.repeat(["a", "b"], n // 2)


def test_against_a_plain_loop():
    X, y = noise()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    found = tuning_optimism(SEARCH, X, y, cv=cv, confidence_level=0.9)
    inner, nested, chosen = [], [], []
    for train, test in cv.split(X, y):
        search = clone(SEARCH).fit(X[train], y[train])
        inner.append(search.best_score_)
        nested.append(search.score(X[test], y[test]))
        chosen.append(search.best_params_["n_neighbors"])
    np.testing.assert_allclose(found.extra.inner_scores, inner)
    np.testing.assert_allclose(found.extra.nested_scores, nested)
    differences = np.subtract(inner, nested)
    assert found.value == pytest.approx(differences.mean())
    assert found.value == pytest.approx(found.extra.inner_score - found.extra.nested_score)
    # Nadeau and Bengio (2003): 12 of 48 tested in each of 4 folds
    expected = np.sqrt((1 / 4 + 12 / 36) * np.var(differences, ddof=1))
    assert found.standard_error == pytest.approx(expected)
    assert found.interval.low == pytest.approx(differences.mean() - t.ppf(0.95, 3) * expected)
    # two accuracies differ by at most 1
    assert tuple(found.confidence_interval(1 - 1e-9)) == found.bounds == (-1, 1)
    counts = {
        setting["n_neighbors"]: n
        for setting, n in zip(found.extra.settings, found.extra.counts, strict=True)
    }
    assert counts == {n: chosen.count(n) for n in set(chosen)}
    assert found.extra.counts.tolist() == sorted(found.extra.counts, reverse=True)


def test_searches_of_every_kind():
    X, y = noise()
    base = KNeighborsClassifier()
    several = {"scoring": ["f1_macro", "accuracy"], "refit": "f1_macro"}
    searches = {
        "random": RandomizedSearchCV(base, NEIGHBOURS, n_iter=2, cv=2, random_state=0),
        "halving": HalvingGridSearchCV(base, {"n_neighbors": [1, 2, 3]}, cv=2, random_state=0),
        "several": GridSearchCV(base, NEIGHBOURS, cv=2, **several),
        "one se": GridSearchCV(base, NEIGHBOURS, cv=2, refit=refit_one_se),
        "piped": make_pipeline(SelectKBest(k=2), SEARCH),
        "piped twice": make_pipeline(SelectKBest(k=2), make_pipeline(SEARCH)),
    }
    for name, search in searches.items():
        found = tuning_optimism(search, X, y, cv=2, random_state=0)
        assert np.isfinite(found.value), name
        assert found.extra.counts.sum() == 2


def test_numbers_repeats_and_groups():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    groups = np.repeat(np.arange(10), 4)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 100.0]}, cv=GroupKFold(2), refit=True)
    found = tuning_optimism(
        search, X, X["a"], cv=2, n_repeats=2, groups=groups, params={"groups": groups}
    )
    assert len(found.extra.nested_scores) == 4
    assert found.extra.settings == ({"alpha": 0.1},)
    assert found.extra.counts.tolist() == [4]
    assert "inner score" in str(found)
    assert set(found.to_dict()) >= {"value", "low", "high", "inner_score"}


def test_a_fold_without_a_score_is_left_out():
    X, y = noise()

    class Undefined(GridSearchCV):
        def score(self, X, y):
            return np.nan if len(y) == 15 else super().score(X, y)

    folds = [(np.arange(s, 48), np.arange(s)) for s in (10, 15, 20)]
    folds = [(np.r_[a[::-1], b[:0]], b) for a, b in folds]
    search = Undefined(KNeighborsClassifier(), NEIGHBOURS, cv=2)
    with pytest.warns(UndefinedMetricWarning, match="1 of 3 folds have no score"):
        found = tuning_optimism(search, X, y, cv=folds)
    known = found.extra.inner_scores[[0, 2]] - found.extra.nested_scores[[0, 2]]
    assert found.value == pytest.approx(known.mean())


class Failing(GridSearchCV):
    """A search that cannot be fitted to so many samples."""

    def __init__(self, estimator, param_grid, *, cv=None, fails=0):
        super().__init__(estimator, param_grid, cv=cv)
        self.fails = fails

    def fit(self, X, y):
        if len(y) == self.fails:
            raise RuntimeError("cannot be fitted")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:1 of 3 folds have no score", "ignore:1 of 3 fits failed")
def test_a_search_that_fails_is_left_out_and_counted():
    X, y = noise()
    folds = [(np.arange(s, 48), np.arange(s)) for s in (10, 15, 20)]
    whole = tuning_optimism(Failing(KNeighborsClassifier(), NEIGHBOURS, cv=2), X, y, cv=folds)
    search = Failing(KNeighborsClassifier(), NEIGHBOURS, cv=2, fails=33)
    with pytest.raises(RuntimeError, match="cannot be fitted"):
        tuning_optimism(search, X, y, cv=folds)
    with pytest.warns(FitFailedWarning, match="1 of 3 fits failed"):
        found = tuning_optimism(search, X, y, cv=folds, error_score=np.nan)
    kept = np.asarray(whole.replicates)[[0, 2]]
    assert_allclose(found.replicates, kept)
    assert (found.extra.n_failed, found.extra.counts.sum()) == (1, 2)


def score_twice(model, X, y):
    return {"accuracy": np.mean(model.predict(X) == y), "size": len(y)}


@each_value
@pytest.mark.parametrize("scoring", [["f1_macro", "accuracy"], score_twice])
@pytest.mark.parametrize("wrap", [lambda search: search, partial(make_pipeline, StandardScaler())])
def test_a_metric_bound_to_a_refit_is_the_metric(scoring, wrap):
    """The same search with that metric alone finds the same."""
    X, y = noise()
    rule = partial(refit_one_se, metric="accuracy")
    several, one = (
        GridSearchCV(KNeighborsClassifier(), NEIGHBOURS, cv=3, scoring=asked, refit=refit)
        for asked, refit in ((scoring, rule), ("accuracy", refit_one_se))
    )
    found = tuning_optimism(wrap(several), X, y, cv=3, random_state=0)
    expected = tuning_optimism(wrap(one), X, y, cv=3, random_state=0)
    assert_allclose(found.extra.inner_scores, expected.extra.inner_scores)
    assert_allclose(found.extra.nested_scores, expected.extra.nested_scores)
    assert found.extra.settings == expected.extra.settings
    assert found.interval.low == expected.interval.low


@pytest.mark.parametrize(
    ("search", "options", "error", "message"),
    [
        (GaussianNB(), {}, TypeError, "search must have cv_results_"),
        (make_pipeline(GaussianNB()), {}, TypeError, "search must have cv_results_"),
        (
            clone(SEARCH).set_params(refit=False),
            {},
            ValueError,
            "a metric or a function, got False",
        ),
        (
            SEARCH,
            {"cv": StratifiedKFold(2), "n_repeats": 2},
            ValueError,
            "cv must be a number of folds if n_repeats=2",
        ),
        (
            SEARCH,
            {"cv": [(range(0, 40, 2), range(1, 40, 2))]},
            ValueError,
            "must make at least two",
        ),
        (
            GridSearchCV(GaussianNB(), {}, scoring=["f1_macro", "accuracy"], refit=lambda _: 0),
            {},
            ValueError,
            "search with several metrics must name one",
        ),
        (
            GridSearchCV(
                GaussianNB(),
                {},
                scoring=["f1_macro", "accuracy"],
                refit=partial(lambda results, metric: 0, metric="f1"),
            ),
            {},
            ValueError,
            "search with several metrics must name one",
        ),
    ],
)
def test_refusals(search, options, error, message):
    with pytest.raises(error, match=message):
        tuning_optimism(search, *noise(), **{"cv": 2, **options})


def covered(n, rate, n_sets, search, cv):
    """Return how many intervals hold the mean optimism of the data sets."""
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, 3))
        X[:, 0] += 2 * norm.isf(rate) * y
        found.append(tuning_optimism(search, X, y, cv=cv, random_state=seed))
    truth = np.mean([result.value for result in found])
    return sum(result.interval.low <= truth <= result.interval.high for result in found)


@pytest.mark.simulated
def test_it_covers_in_93_of_100_data_sets_at_least():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=2)
    assert binom.cdf(covered(50, 0.5, 11, search, 3), 11, 0.93) > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_it_covers_whatever_there_is_to_find(n, rate):
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 13, 17]}, cv=3)
    assert binom.cdf(covered(n, rate, 60, search, 5), 60, 0.93) > 0.001
