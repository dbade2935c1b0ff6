"""P-values and confidence intervals of clustering indices."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import Estimate, Test
from skeval._inference.intervals import exact_interval, normal_interval
from skeval._inference.paired import exceedances
from skeval.cluster import _stability
from skeval.cluster._references import REFERENCES, Draws, resolve_reference
from skeval.cluster._stability import STABILITY, Draw, Seed
from skeval.metrics.cluster import silhouette_score
from skeval.metrics.cluster._indices import INDICES, MEAN, SUM
from skeval.metrics.cluster._indices import Index as Row
from skeval.metrics.cluster._pairs import check_labels
from skeval.utils import _checks
from skeval.utils._compat import Interval, StrOptions, safe_indexing, validate_params

MIN_SAMPLES = 10
"""Minimum number of samples of an interval: the index varies among halves of 5."""
GROWTHS = (MEAN, SUM)


def index_of_draw(clusterer: Any, reference: Draws, index: Index, draw: Draw) -> float:
    """Cluster a draw of reference data and return the index, nan if undefined."""
    data = reference(draw.rng)
    labels = _stability.fit_labels(_stability.seed_clusterer(clusterer, draw.rng), data)
    return value_or_nan(index, data, labels)


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
    reference: str = "auto",
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
        Nominal coverage of the interval of the P-value, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the clusterer's own `random_state` if that is None.
    n_jobs : int, default=None
        Number of draws computed in parallel through joblib; results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache for finished fits. An interrupted run that restarts with the same arguments and an int
        `random_state` only computes the remaining fits; see :doc:`/user_guide/scale`.

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
    index_interval : Computes a confidence interval of the index.
    skeval.model_selection.NullDistributionDisplay : Draws the index and its null distribution.

    Notes
    -----
    A draw with an undefined index, for example with a single cluster, counts as at least as good,
    which is conservative.

    The null hypothesis is a unimodal distribution. Skewed, heavy-tailed or correlated columns are
    compatible with it: in 185 data sets of this kind the sequential tests of `choose_n_clusters`,
    which use the same reference, rejected 2 times.
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
    statistic = check_index_value(index, X, _stability.fit_labels(first, X))
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    measure = partial(index_of_draw, clusterer, draws, index)
    seeds = [(root.spawn(1)[0], n_references)]
    null = np.array(_stability.run_draws(measure, seeds, **options))
    sign = 1 if greater_is_better else -1
    count = int(exceedances(sign * statistic, sign * null).sum())
    return Test(
        name=_stability.name_function(index),
        statistic=statistic,
        pvalue=(1 + count) / (1 + n_references),
        method="structure test",
        null_distribution=null,
        n_resamples=n_references,
        n_exceedances=count,
        details={"reference": kind},
        limits={"exact": partial(exact_interval, count, n_references)},
        confidence_level=confidence_level,
    )


Index = Callable[[Any, Any], float]
"""Function of data and labels, or of two partitions."""


def find_row(index: Index) -> Row | None:
    """Return the row of an index of this package or scikit-learn; None for others.

    If a function has several forms, bound arguments select the form, by default the first.
    """
    function, bound = index, dict[str, Any]()
    while isinstance(function, partial):
        bound, function = function.keywords | bound, function.func
    package = str(getattr(function, "__module__", "")).split(".")[0]
    rows = [row for row in INDICES if row.function_name == _stability.name_function(function)]
    if package not in ("skeval", "sklearn") or not rows:
        return None
    return max(rows, key=lambda row: row.bound.items() <= bound.items() and len(row.bound))


def growth_of(index: Index, growth: str | None) -> str:
    """Return the validated or tabulated growth of an index with the number of samples."""
    row = find_row(index)
    tabulated = row.growth if row else None
    if growth or tabulated in GROWTHS:
        return str(growth or tabulated)
    why = "rests on few samples and has no limit" if tabulated else "is not known here"
    raise ValueError(
        "growth must say how the index grows with the number of samples: 'mean' if it has a limit, "
        "as a mean over samples, 'sum' if it grows in proportion, as a sum over them; "
        f"got None, and {_stability.name_function(index)} {why}."
    )


def check_index_value(index: Index, *arguments: Any) -> float:
    """Return the index of all samples; raise if it is undefined."""
    value = float(index(*arguments))
    if not np.isfinite(value):
        raise ValueError(f"index must have a finite value on the data, got {value}.")
    return value


def value_or_nan(index: Index, *arguments: Any) -> float:
    """Return the index; nan if it is not finite or raises `ValueError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            value = float(index(*arguments))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan


def partition_rows(X: Any, partition: Any, rows: np.ndarray, rng: Generator) -> np.ndarray:
    """Return fixed labels of some rows, or cluster only these rows."""
    if isinstance(partition, np.ndarray):
        return partition[rows]
    clusterer = _stability.seed_clusterer(partition, rng)
    return _stability.fit_labels(clusterer, safe_indexing(X, rows))


def index_of_half(X: Any, partitions: tuple[Any, ...], index: Index, half: Draw) -> float:
    """Return the index on a random half, with fixed labels or clusterers fitted to the half."""
    rows = _stability.half_of(X.shape[0], half.rng)
    labels = [partition_rows(X, partition, rows, half.rng) for partition in partitions]
    data = [safe_indexing(X, rows), *labels] if len(labels) == 1 else labels
    return value_or_nan(index, *data)


@validate_params(
    STABILITY
    | {
        "index": [callable],
        "growth": [StrOptions(set(GROWTHS)), None],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
    }
)
def index_interval(
    index: Index,
    X: Any,
    labels: Any,
    labels_other: Any = None,
    *,
    growth: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 200,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Estimate:
    r"""Compute a confidence interval of a clustering index by subsampling.

    The index :math:`I_b` is computed on random halves of :math:`m = \lfloor n/2 \rfloor` of the
    :math:`n` samples, without replacement. From their variation, the standard error of the index of
    all samples is

    .. math:: se = \Big(\frac nm\Big)^g \sqrt{\frac{m}{n - m}}\; sd_b(I_b) ,
        \qquad I \mp z_{1 - a/2}\, se ,

    with :math:`g = 0` for an index that has a limit, such as a mean over samples, and :math:`g = 1`
    for an index that grows in proportion to n, such as a sum over samples, whose value and
    variation on a half are half as large.

    Parameters
    ----------
    index : callable
        ``index(X, labels) -> float``, such as `silhouette_score`; with two partitions
        ``index(labels, labels_other) -> float``, such as `adjusted_rand_score`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data; distances are not supported.
    labels : array-like of shape (n_samples,) or clusterer
        A partition, or a clusterer with `fit_predict`. A clusterer is fitted to all samples for the
        value and to each half separately, so that its own variation is included.
    labels_other : array-like of shape (n_samples,) or clusterer, default=None
        The other partition, for an index that compares two.
    growth : {"mean", "sum"} or None, default=None
        Growth of the index with n: :math:`g = 0` ("mean") or :math:`g = 1` ("sum"). None selects it
        for functions of this package and of scikit-learn: `compactness_score` with ``unit="sum"``,
        `calinski_harabasz_score` and `connectivity_score` are sums, `dunn_score` is neither and
        raises an error, all others are means. Required for custom functions.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_resamples : int, default=200
        Number of halves, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halves and of a clusterer's own `random_state` if that is None.
    n_jobs : int, default=None
        Number of halves computed in parallel through joblib; results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache for finished values; see :doc:`/user_guide/scale`.

    Returns
    -------
    Estimate
        Estimate with the index as `value`, its `standard_error` and `interval`, and its values on
        the halves as `replicates` (nan if undefined); `details` contain the growth.

    Raises
    ------
    ValueError
        If `growth` is None for a custom index or the Dunn index, if an index of this package or of
        scikit-learn requires a different number of partitions, if the index is undefined on the
        data or defined on fewer than two halves, if X has fewer than 10 samples or is invalid, or a
        parameter is out of range.

    Warns
    -----
    UndefinedMetricWarning
        If the index is undefined on some halves, which are omitted.

    See Also
    --------
    structure_test : Computes the P-value of an index against data without structure.
    skeval.model_selection.metric_interval : Computes intervals of prediction metrics.

    Notes
    -----
    Halves are used because a bootstrap draws samples twice, and a duplicate is a neighbor at
    distance 0. For the K-means clusters below, the silhouette on bootstrap samples was 0.01 to 0.04
    too large, and nominal 95 % percentile intervals had a coverage of 56 to 87 % at n = 60 and 81
    to 94 % at n = 200.

    The limits are clipped to the range of the index for functions of this package and of
    scikit-learn, but not for custom functions.

    The interval is for the mean of the index over samples of size n. Coverage was simulated at
    nominal 95 % on 250 data sets, with K-means with k = 3 (three separate, three overlapping and
    one Gaussian in the plane, three overlapping in 10 dimensions). For the silhouette it was .944,
    .936, .992, .960 at n = 60 and .952, .968, .988, .972 at n = 200 with the clusterer refitted,
    and .944, .932, .972, .888 and .952, .964, .968, .924 with fixed labels. For the adjusted Rand
    index of K-means and Ward's method (three overlapping clusters, n = 60, 160 data sets) it was
    .95 with both refitted and .73 with fixed labels, which ignore that another sample would be
    clustered differently. Pass the clusterer if it is fast.

    For indices that grow with n (K-means with k = 3, three overlapping clusters in the plane, n =
    60, 200 data sets, 50 halves), the coverage for the sum of squared errors,
    `calinski_harabasz_score` and `connectivity_score` was .950, .960, .945 with fixed labels and
    .965, .965, .970 with the clusterer refitted. Without the factor n/m it would have been .635,
    .690, .755 and .655, .705, .775. If clusters touch, the connectivity grows more slowly than n,
    and its interval is conservative.

    *The Dunn index is not supported*: it depends on three samples, has no such limit,
    and its mean depends on n; the coverage of a normal interval of its logarithm was .79 to .89.

    References
    ----------
    .. [1] Politis, D. N., Romano, J. P. and Wolf, M. (1999). Subsampling. Springer.
       https://doi.org/10.1007/978-1-4612-1554-7

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import index_interval
    >>> from skeval.metrics.cluster import silhouette_score
    >>> X = load_iris().data
    >>> print(index_interval(silhouette_score, X, KMeans(3, n_init=2), random_state=0))
    silhouette_score (halves)
      value           0.5528
      standard error  0.0255
      95 % interval   [0.5028, 0.6028] (normal)
      samples         150
      growth          mean
    """
    _checks.check_confidence_level(confidence_level)
    growth, row = growth_of(index, growth), find_row(index)
    passed = [value for value in (labels, labels_other) if value is not None]
    X, partitions = _check_partitions(X, passed)
    if row is not None and row.is_internal != (len(passed) == 1):
        rule = "None" if row.is_internal else "another partition"
        takes = "X and one partition" if row.is_internal else "two partitions"
        got = type(labels_other).__name__ if row.is_internal else "None"
        raise ValueError(
            f"labels_other must be {rule} for {row.function_name}, an index of {takes}, got {got}."
        )
    root = _checks.root_seed(random_state)
    rng, n = _checks.repetition_rng(root, 0), X.shape[0]
    fitted = [partition_rows(X, partition, np.arange(n), rng) for partition in partitions]
    value = check_index_value(index, *([X, *fitted] if len(fitted) == 1 else fitted))
    measure, half_seed = partial(index_of_half, X, partitions, index), root.spawn(1)[0]
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    replicates = np.array(_stability.run_draws(measure, [(half_seed, n_resamples)], **options))
    defined = _drop_undefined(replicates)
    half = n // 2
    scale = (n / half if growth == SUM else 1.0) * np.sqrt(half / (n - half))
    error = float(np.std(defined, ddof=1) * scale)
    low, high = (row.low, row.high) if row else (-np.inf, np.inf)
    return Estimate(
        name=_stability.name_function(index),
        value=value,
        standard_error=error,
        method="halves",
        n_samples=n,
        replicates=replicates,
        details={"growth": growth},
        limits={"normal": partial(normal_interval, value, error)},
        bounds=(min(low, value), max(high, value)),  # rounding may exceed the bounds
        confidence_level=confidence_level,
    )


def _check_partitions(X: Any, values: list[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the validated data and partitions: label arrays or clones of clusterers."""
    checked = _checks.check_data("X", X, accept_sparse="csr", ensure_min_samples=MIN_SAMPLES)
    X = X if hasattr(X, "iloc") else checked
    partitions = []
    for name, value in zip(("labels", "labels_other"), values, strict=False):
        if hasattr(value, "fit_predict"):
            X = _stability.check_points(value, X)
            partitions.append(clone(value))
            continue
        if np.ndim(value) != 1:
            raise ValueError(
                f"{name} must be a 1-D array of labels or a clusterer with fit_predict, got "
                f"{value!r}."
            )
        partitions.append(check_labels(value, name))
        _checks.check_same_length(**{"X": X, name: partitions[-1]})
    return X, tuple(partitions)


def _drop_undefined(values: np.ndarray) -> np.ndarray:
    """Return the values that are not nan; raise if there are fewer than two."""
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        raise ValueError(
            "index must be defined on halves of the data, got no finite value on "
            f"{len(values) - len(defined)} of {len(values)}."
        )
    if len(defined) < len(values):
        _checks.warn_undefined(
            f"The index is undefined on {len(values) - len(defined)} of {len(values)} halves, "
            "which were left out."
        )
    return defined
