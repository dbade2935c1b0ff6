"""P-values of clustering indices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import Test
from skeval._inference.intervals import exact_interval
from skeval._inference.paired import exceedances
from skeval.cluster import _stability
from skeval.cluster._n_clusters_choice import LEVEL
from skeval.cluster._references import (
    REFERENCES,
    Draws,
    caution_about_columns,
    caution_about_shape,
    caution_about_sizes,
    resolve_reference,
)
from skeval.cluster._stability import STABILITY, Draw, Seed
from skeval.metrics.cluster import silhouette_score
from skeval.utils import _checks
from skeval.utils._checks import StructureReference, ignored_warnings
from skeval.utils._compat import Interval, StrOptions, validate_params


def index_of_draw(clusterer: Any, reference: Draws, index: Index, draw: Draw) -> float:
    """Cluster a draw of reference data and return the index, nan if undefined."""
    data = reference(draw.rng)
    labels = _stability.fit_labels(_stability.seed_clusterer(clusterer, draw.rng), data)
    with ignored_warnings(UndefinedMetricWarning):
        try:
            value = float(index(data, labels))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan


@_checks.in_order(clusterer=_checks.is_no_table, X=None)
@validate_params(
    STABILITY
    | {
        "index": [callable],
        "greater_is_better": ["boolean"],
        "reference": [StrOptions(set(REFERENCES))],
        "n_references": [Interval(Integral, 1, None, closed="left")],
    }
)
def structure_test(
    clusterer: Any,
    X: Any,
    *,
    index: Index = silhouette_score,
    greater_is_better: bool = True,
    reference: StructureReference = "auto",
    n_references: int = 199,
    confidence_level: float = 0.95,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Test:
    r"""Test whether a clustering index is better than in data without structure.

    A clustering algorithm returns clusters for any data, and their index differs from the index of
    random labels. Therefore the same algorithm clusters :math:`B` draws of reference data without
    structure. With the index :math:`T` of the data and :math:`T^*_b` of the draws,

    .. math:: pvalue = \frac{1 + \#\{b : T^*_b \ge T\}}{1 + B} .

    The P-value lies in [1/(B+1), 1]. It is small if the data have more structure than a unimodal
    distribution with the same rank correlations.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict`; it is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data; distances are not supported.
    index : callable, default=silhouette_score
        ``index(X, labels) -> float``.
    greater_is_better : bool, default=True
        Whether larger values of the index are better.
    reference : {"auto", "unimodal", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure: points from the closest unimodal distribution
        ("unimodal", see `choose_n_clusters`), uniform in the bounding box of the data along the
        principal axes ("uniform") or along the features ("box"), or the data with each column
        permuted separately ("permuted"). "auto" is "unimodal", or "permuted" for sparse X.
    n_references : int, default=199
        Number of draws :math:`B` of reference data.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the interval of the P-value.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.

    Returns
    -------
    Test
        The index as `statistic`, `pvalue` with its Monte-Carlo interval `pvalue_interval`, the
        index of each draw as `null_distribution` (nan where undefined), the number of draws at
        least as good as `n_exceedances`, and in `details` the `reference`.

    Raises
    ------
    ValueError
        If the index is undefined on the data, if X has fewer than 4 samples or is invalid, if the
        clusterer takes precomputed distances, or a parameter is out of range.

    See Also
    --------
    gap_statistic : Compares the sum of squares with the same reference, for several numbers of
        clusters.
    skeval.model_selection.NullDistributionDisplay : Draws the index and its null distribution.

    Notes
    -----
    A draw with an undefined index, for example with a single cluster, counts as at least as good,
    which is conservative.

    The null hypothesis is a unimodal distribution, whose columns may be skewed, heavy-tailed,
    discrete or correlated. Columns that follow from others, curved clouds and heavy tails that many
    columns share are not covered, see `choose_n_clusters`; the `caution` of the result reports
    dependent columns, clusters without a gap, and a cluster of less than a tenth of the samples.
    With 100 samples of a multivariate t distribution, two clusters had P <= 0.05 in 2 of 40 data
    sets (3 degrees of freedom, 8 columns) and in 7 of 40 (5 degrees of freedom, 20 columns).
    "uniform" and "box" treat skewed and heavy-tailed columns as structure, because they are not
    uniform, and "permuted" treats correlated columns as structure.

    References
    ----------
    .. [1] Jain, A. K. and Dubes, R. C. (1988). Algorithms for clustering data. Prentice Hall.
    .. [2] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import structure_test
    >>> X = load_iris().data
    >>> result = structure_test(KMeans(3, n_init=2), X, n_references=19, random_state=0)
    >>> result.pvalue
    0.05
    """
    _checks.check_confidence_level(confidence_level)
    X = _stability.check_points(clusterer, X)
    kind, draws = resolve_reference(X, reference, "unimodal")
    root = _checks.root_seed(random_state)
    first = _stability.seed_clusterer(clusterer, _checks.repetition_rng(root, 0))
    labels = _stability.fit_labels(first, X)
    statistic = float(index(X, labels))
    if not np.isfinite(statistic):
        raise ValueError(f"index must have a finite value on the data, got {statistic}.")
    # the same clusterer and index in draws of the reference
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    measure = partial(index_of_draw, clusterer, draws, index)
    seeds = [(root.spawn(1)[0], n_references)]
    null = np.array(_stability.run_draws(measure, seeds, **options))
    # a draw with an undefined index counts as at least as good
    sign = 1 if greater_is_better else -1
    count = int(exceedances(sign * statistic, sign * null).sum())
    cautions = []
    if (1 + count) / (1 + n_references) <= LEVEL:
        cautions = [
            caution_about_columns(X),
            caution_about_shape(X, labels),
            caution_about_sizes(labels),
        ]
    return Test(
        name=_stability.name_function(index),
        statistic=statistic,
        pvalue=(1 + count) / (1 + n_references),
        method="structure test",
        null_distribution=null,
        n_resamples=n_references,
        n_exceedances=count,
        details={"reference": kind},
        caution=" ".join(filter(None, cautions)),
        limits={"exact": partial(exact_interval, count, n_references)},
        confidence_level=confidence_level,
    )


Index = Callable[[Any, Any], float]
"""Function of data and labels."""
