"""How often the tests over data sets find a difference where there is none."""

import numpy as np
import pytest
from scipy import stats

from skeval._inference.paired import holm
from skeval._inference.ranks import critical_difference, friedman, rank_rows, signed_rank_pvalue

N, K = 15, 5


def count_rejections(n_simulations, noise):
    """Return how many simulations call any pair different: Wilcoxon, Nemenyi, Iman-Davenport."""
    rng = np.random.default_rng(0)
    rows, columns = np.triu_indices(K, 1)
    counts = np.zeros(3, dtype=int)
    furthest = critical_difference(N, K, 0.95)
    for _ in range(n_simulations):
        scores = rng.normal(size=(N, K)) * noise
        found = [
            signed_rank_pvalue(scores[:, a] - scores[:, b])[0]
            for a, b in zip(rows, columns, strict=True)
        ]
        ranks = rank_rows(scores)
        wilcoxon = holm(np.array(found)).min() <= 0.05
        counts += [
            wilcoxon,
            np.ptp(ranks.mean(axis=0)) >= furthest,
            friedman(ranks).details["f_pvalue"] <= 0.05,
        ]
    return counts


def test_all_keep_their_level_where_all_are_equal():
    counts = count_rejections(200, 1.0)
    assert (stats.binom.sf(counts - 1, 200, 0.06) > 0.001).all()


@pytest.mark.slow
def test_wilcoxon_keeps_its_level_where_some_vary_more_and_nemenyi_does_not():
    wilcoxon, nemenyi, f = count_rejections(4000, np.array([30.0, 1.0, 30.0, 1.0, 30.0])) / 4000
    print(f"Wilcoxon {wilcoxon:.3f}, Nemenyi {nemenyi:.3f}, Iman-Davenport {f:.3f}")
    assert wilcoxon < 0.05
    assert nemenyi > 0.055
    assert f > 0.055
