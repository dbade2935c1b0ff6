"""The Rand index under models of random partitions, against enumeration and CluSim."""

from math import comb

import numpy as np
import pytest
from helpers.crossed import each_value
from reference.external import model_adjusted_rand
from scipy.special import stirling2
from sklearn.metrics import adjusted_rand_score

from skeval.metrics.cluster import model_adjusted_rand_score
from skeval.metrics.cluster._external import MODELS, bell_ratio, stirling_ratio

PAIRS = [
    ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]),
    ([0, 0, 1, 2, 2], [0, 1, 1, 1, 0]),
    ([0, 1, 0, 1, 2], [0, 0, 0, 0, 0]),
    ([0, 0, 0, 0, 1, 1], [0, 1, 0, 1, 2, 2]),
    ([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]),
    ([0, 0], [0, 1]),
]


@each_value
@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("true", "pred"), PAIRS)
def test_against_all_partitions(true, pred, model, one_sided):
    value = model_adjusted_rand_score(true, pred, model=model, one_sided=one_sided)
    expected = model_adjusted_rand(true, pred, model, one_sided)
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_permutation_model_is_that_of_scikit_learn(seed):
    true, pred = np.random.default_rng(seed).integers(0, 5, (2, 80))
    expected = adjusted_rand_score(true, pred)
    for one_sided in (False, True):
        value = model_adjusted_rand_score(true, pred, model="permutation", one_sided=one_sided)
        assert value == pytest.approx(expected, abs=1e-12)


# clusim.sim.adjrand_index(pred, true, random_model=...) of CluSim 0.4, with "perm", "num", "num1",
# "all" and "all1"; its one-sided models fix the second partition.
CLUSIM = {
    ("permutation", False): -0.04590480792461943,
    ("n_clusters", False): -0.024618188100066277,
    ("n_clusters", True): -0.040625061760862634,
    ("all", False): -2.358818768720425,
    ("all", True): -0.5960058702549135,
}


@pytest.mark.parametrize(("model", "one_sided"), CLUSIM)
def test_against_clusim(model, one_sided):
    true, pred = np.arange(40) % 4, np.arange(40) ** 2 % 7 // 2
    value = model_adjusted_rand_score(true, pred, model=model, one_sided=one_sided)
    assert value == pytest.approx(CLUSIM[model, one_sided], abs=1e-10)


@pytest.mark.parametrize("n", [2, 3, 7, 30, 60])
def test_ratios_of_stirling_numbers_are_exact(n):
    for k in range(1, n + 1):
        exact = int(stirling2(n - 1, k, exact=True)) / int(stirling2(n, k, exact=True))
        assert stirling_ratio(n, k) == pytest.approx(exact, rel=1e-13)


def test_ratios_of_bell_numbers_are_exact():
    bell = [1]
    for n in range(1, 120):
        bell.append(sum(comb(n - 1, i) * bell[i] for i in range(n)))
        assert n == 1 or bell_ratio(n) == pytest.approx(bell[n - 1] / bell[n], rel=1e-12)


@each_value
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("one_sided", [False, True])
def test_chance_is_zero_and_equal_partitions_are_one(model, one_sided):
    for labels in ([], [0], [0, 0], [0, 1], list("abba"), [3, 3, 1, 2]):
        assert model_adjusted_rand_score(labels, labels, model=model, one_sided=one_sided) == 1.0
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 400)
    values = [
        model_adjusted_rand_score(
            true if one_sided else rng.integers(0, 3, 400), rng.integers(0, 3, 400)
        )
        for _ in range(50)
    ]
    assert abs(np.mean(values)) < 0.01
