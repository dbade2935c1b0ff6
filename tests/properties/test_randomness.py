"""An integer seed gives the same numbers, for any number of workers; other seeds give others."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import skeval
import skeval.cluster as cl
import skeval.model_selection as ms

X, Y = make_classification(60, 4, flip_y=0.3, random_state=0)
BAYES, NEAREST = GaussianNB(), KNeighborsClassifier(3)
TWO = [BAYES, NEAREST]
A, B = (model.fit(X[:30], Y[:30]).predict(X) for model in TWO)
SEARCH = GridSearchCV(NEAREST, {"n_neighbors": [1, 5]}, cv=2)
FEW = {"n_resamples": 20}
POINTS, KMEANS = X[:40], KMeans(n_init=1)

CALLS = {
    "bootstrap_error": lambda **o: ms.bootstrap_error(BAYES, X, Y, **FEW, **o),
    "bootstrap_score": lambda **o: ms.bootstrap_score(
        BAYES, X, Y, scoring="roc_auc", n_resamples=5, **o
    ),
    "cross_val_error": lambda **o: ms.cross_val_error(BAYES, X, Y, cv=4, **o),
    "error_interval": lambda **o: ms.error_interval(BAYES, X, Y, n_repeats=2, **o),
    "score_interval": lambda **o: ms.score_interval(BAYES, X, Y, scoring="f1", n_repeats=2, **o),
    "perturbation_interval": lambda **o: ms.perturbation_interval(
        RidgeClassifier(), X, Y, n_resamples=50, cv=3, **o
    ),
    "permutation_test": lambda **o: ms.permutation_test(BAYES, X, Y, n_permutations=19, **o),
    "stopped": lambda **o: ms.permutation_test(
        BAYES, X, Y[::-1], n_permutations=40, max_exceedances=3, **o
    ),
    "corrected_t": lambda **o: ms.compare_classifiers(TWO, X, Y, cv=5, **o),
    "fits": lambda **o: ms.compare_classifiers(TWO, X, Y, method="bootstrap", **FEW, **o),
    "permutation": lambda **o: ms.compare_predictions(Y, [A, B], method="permutation", **FEW, **o),
    "bootstrap": lambda **o: ms.compare_predictions(Y, [A, B], method="bootstrap", **FEW, **o),
    "tuning_optimism": lambda **o: ms.tuning_optimism(SEARCH, X, Y, cv=3, **o),
    "learning_curve_band": lambda **o: ms.learning_curve_band(BAYES, X, Y, n_repeats=2, **o),
    "predictive_power": lambda **o: cl.predictive_power(KMeans(4, n_init=1), POINTS, **o),
    "cluster_stability": lambda **o: cl.cluster_stability(
        KMeans(4, n_init=1), POINTS, n_resamples=4, **o
    ),
    "structure_test": lambda **o: cl.structure_test(KMEANS, POINTS, n_references=5, **o),
    "gap_statistic": lambda **o: cl.gap_statistic(
        KMEANS, POINTS, n_clusters=[1, 2, 3], n_references=4, **o
    ),
    "sequential": lambda **o: cl.choose_n_clusters(KMEANS, POINTS, n_clusters=[2, 3], **o),
    "evaluate": lambda **o: skeval.evaluate(BAYES, X, Y, include="all", n_permutations=5, **o),
    "evaluate_clusterer": lambda **o: skeval.evaluate_clusterer(
        KMeans(n_init=1, init="random"), X, n_clusters=(7, 8), n_repeats=2, **o
    ),
}


def numbers_of(result):
    """Return the numbers of a result, with its replicates."""
    extra = getattr(result, "extra", None)
    replicates = getattr(result, "replicates", getattr(result, "null_distribution", None))
    if isinstance(result, ms.Comparison):
        replicates = result.difference.extra.replicates
    return [repr(result.to_dict()), *np.ravel(replicates).tolist(), repr(extra)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_numbers_depend_on_the_seed_and_on_nothing_else(name):
    call = CALLS[name]
    found = numbers_of(call(random_state=0))
    with parallel_config(backend="threading"):
        assert numbers_of(call(random_state=0, n_jobs=2)) == found
    assert numbers_of(call(random_state=1)) != found
    fixed = numbers_of(call(random_state=np.random.RandomState(0)))
    assert numbers_of(call(random_state=np.random.RandomState(0))) == fixed
