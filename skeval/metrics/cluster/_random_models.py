"""Rand index adjusted for chance under several models of random partitions.

Two samples are in the same cluster of a random partition with probability p. The Rand index of two
independent random partitions, with probabilities p_1 and p_2, has the expectation

.. math:: E = p_1 p_2 + (1 - p_1)(1 - p_2)     (1)

and the adjusted index is (RI - E) / (1 - E). For a fixed partition, and for all partitions with the
same cluster sizes, p is the fraction of pairs that are in the same cluster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from skeval.metrics._constraints import CONSTRAINTS
from skeval.metrics.cluster import _pairs
from skeval.utils._compat import StrOptions, validate_params
from skeval.utils._options import RandomModel

MODELS = ("n_clusters", "all", "permutation")


@validate_params(CONSTRAINTS | {"model": [StrOptions(set(MODELS))], "one_sided": ["boolean"]})
def model_adjusted_rand_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    model: RandomModel = "n_clusters",
    one_sided: bool = False,
) -> float:
    r"""Compute the Rand index adjusted for chance under a model of random partitions.

    .. math:: \frac{RI - E[RI]}{1 - E[RI]}

    with the expectation over random partitions [1]_. The maximum is 1, for equal partitions. The
    expectation under the model is 0, and agreement below chance gives negative values.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    model : {"n_clusters", "all", "permutation"}, default="n_clusters"
        Random partitions, all equally likely: those with the same number of clusters
        ("n_clusters"), all partitions of the samples ("all"), or those with the same cluster sizes
        ("permutation", the model of `adjusted_rand_score`).
    one_sided : bool, default=False
        Whether only `labels_pred` is random and `labels_true` is fixed, as known classes are. This
        makes no difference for "permutation".

    Returns
    -------
    float
        The adjusted index.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions.

    See Also
    --------
    adjusted_rand_score : The permutation model.

    Notes
    -----
    Choose the model by the algorithm: k-means fixes the number of clusters but not their sizes
    ("n_clusters"); a hierarchical or density-based algorithm that chooses the number suits "all";
    known classes are fixed (``one_sided=True``).

    In a uniform random partition into `K` clusters, two samples share a cluster with probability
    :math:`S(n-1, K) / S(n, K)`, the ratio of two Stirling numbers of the second kind, which tends
    to `1/K`; in a uniform random partition with any number of clusters with
    :math:`B(n-1) / B(n)`, the ratio of two Bell numbers. With these probabilities :math:`p_1, p_2`
    of the two partitions, :math:`E[RI] = p_1 p_2 + (1 - p_1)(1 - p_2)`. The ratios are computed
    directly, because the Stirling and Bell numbers overflow beyond 200 samples. The time grows at
    most with `n K`.

    Nearly all partitions of many samples have many small clusters, so under "all" a few large
    clusters may score far below 0.

    References
    ----------
    .. [1] Gates, A. J. and Ahn, Y.-Y. (2017). The impact of random models on clustering similarity.
       Journal of Machine Learning Research 18(87), 1-28.

    Examples
    --------
    >>> from skeval.metrics.cluster import model_adjusted_rand_score
    >>> classes, clusters = [0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> for model in ("permutation", "n_clusters", "all"):
    ...     print(f"{model_adjusted_rand_score(classes, clusters, model=model):.4f}")
    0.1600
    0.1428
    -0.2834
    >>> print(f"{model_adjusted_rand_score(classes, clusters, one_sided=True):.4f}")
    0.1438
    """
    table = _pairs.make_contingency(labels_true, labels_pred, None)
    pairs = _pairs.count_pairs(table)
    if pairs.identical:
        return 1.0
    n = int(table.total)
    shares = [(pairs.both + only) / pairs.total for only in (pairs.true_only, pairs.pred_only)]
    sizes = (table.row_sums, table.column_sums)
    # probability that two samples share a cluster: as observed, or of a uniform random partition
    together = list(shares)
    for side in () if model == "permutation" else (1,) if one_sided else (0, 1):
        n_clusters = int(np.count_nonzero(sizes[side]))
        together[side] = bell_ratio(n) if model == "all" else stirling_ratio(n, n_clusters)
    expected = together[0] * together[1] + (1 - together[0]) * (1 - together[1])  # eq. (1)
    return float((_pairs.rand(pairs) - expected) / (1 - expected))


def stirling_ratio(n: int, k: int) -> float:
    """Return S(n-1, k) / S(n, k) of the Stirling numbers of the second kind.

    From S(m, j) = j S(m-1, j) + S(m-1, j-1), the ratios u(m, j) = S(m, j-1) / S(m, j) follow

        u(m, j) = u(m-1, j) (j - 1 + u(m-1, j-1)) / (j + u(m-1, j)),   j < m,     (2)

    with u(m, 1) = 0 and u(m, m) = m (m-1) / 2, and S(n-1, k) / S(n, k) = 1 / (k + u(n-1, k)).
    """
    if k >= n:
        return 0.0
    ratios = np.zeros(k + 1)  # entry j is u(m, j)
    j = np.arange(k + 1)
    for m in range(2, n):
        filled = slice(2, min(m, k + 1))
        before = np.append(0.0, ratios[:-1])
        ratios[filled] = (ratios * (j - 1 + before) / np.maximum(j + ratios, 1))[filled]  # eq. (2)
        if m <= k:
            ratios[m] = m * (m - 1) / 2
        elif ratios[k] < 1e-18 * k:  # the limit 1 / k
            break
    return float(1 / (k + ratios[k]))


def bell_ratio(n: int) -> float:
    """Return B(n-1) / B(n) of the Bell numbers, by Dobinski's formula B(n) = sum k^n / k! / e.

    The ratio is the mean of 1/k with the weights k^n / k!, for n > 1.
    """
    k = np.arange(1.0, 2 * n + 20)  # the weights peak below n and decrease faster than 2^-k
    log_weight = n * np.log(k) - gammaln(k + 1)
    weight = np.exp(log_weight - log_weight.max())
    return float(np.sum(weight / k) / weight.sum())
