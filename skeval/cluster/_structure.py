"""What an index of a clustering is worth: its P-value without structure, and its interval."""

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
from skeval.cluster._stability import REFERENCES, STABILITY, Draw, Draws, Seed
from skeval.metrics.cluster import silhouette_score
from skeval.metrics.cluster._indices import INDICES, MEAN, SUM
from skeval.metrics.cluster._indices import Index as Row
from skeval.metrics.cluster._pairs import check_labels
from skeval.utils import _checks
from skeval.utils._compat import Interval, StrOptions, safe_indexing, validate_params

__all__ = ["index_interval", "structure_test"]


SMALL = 0.05
GROWTHS = (MEAN, SUM)


def index_of_draw(clusterer: Any, reference: Draws, index: Index, draw: Draw) -> float:
    """Cluster a draw of data without structure and return the index, nan where undefined."""
    data = reference(draw.rng)
    labels = _stability.seed_clusterer(clusterer, draw.rng).fit_predict(data)
    return value_or_nan(index, data, np.asarray(labels))


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
    r"""Test whether an index of the clusters is better than in data without structure.

    An algorithm finds clusters in any data, and their index is never that of chance labels. So the
    same algorithm clusters :math:`B` draws of data without structure, and with :math:`T` the index
    of the data and :math:`T^*_b` those of the draws,

    .. math:: pvalue = \frac{1 + \#\{b : T^*_b \ge T\}}{1 + B} .

    In [1/(B+1), 1]. Small where there is structure, *and where columns are skewed or have heavy
    tails*, since "without structure" means uniform in a box. So where the P-value is at most 0.05
    against a box and the columns are not correlated, the test is repeated with the columns shuffled
    by themselves, which keeps their shapes; the result says so if that is not rejected.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict`; it is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data, points and not distances.
    index : callable, default=silhouette_score
        ``index(X, labels) -> float``.
    greater_is_better : bool, default=True
        Whether larger values of the index are better.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data ("uniform"), or in the box of the ranges of the features ("box"), or the data
        with every column shuffled by itself ("permuted"). "auto" is "uniform", or "permuted" for
        sparse X.
    n_references : int, default=199
        Number of draws :math:`B`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval of the P-value, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of draws computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    Test
        The index as `statistic`, `pvalue` with its Monte-Carlo interval `pvalue_interval`, the
        index of each draw as `null_distribution` (nan where undefined). In `details`: the
        `reference`; `n_exceedances`, how many draws were at least as good; `pvalue_permuted`, the
        P-value against shuffled columns, where that was computed; and the `caution` of it.

    Raises
    ------
    ValueError
        If the index is undefined on the data, if X has fewer than 4 samples or is malformed, if
        the clusterer takes precomputed distances, or a parameter is out of range.

    See Also
    --------
    gap_statistic : The same reference for the sum of squares, at several numbers of clusters.
    index_interval : How exact the index is.
    skeval.model_selection.NullDistributionDisplay : Draws the index among those without structure.

    Notes
    -----
    A draw where the index is undefined, such as one of a single cluster, counts as at least as
    good, which errs on the safe side.

    What is tested is "uniform in a box", or "columns independent", and not "one cluster". Of 100
    data sets of 80 samples each, K-means with k = 2 and with k = 3, 19 draws, the shares with a
    P-value of at most 0.05 were .07 and .08 for uniform squares and at most .01 for one Gaussian
    (in the plane, with standard deviations 4 : 1, in 10 dimensions) against "uniform", which is
    cautious there; and .05 to .08 against "permuted", whose hypothesis holds for all of these.
    Skewed columns are structure for "uniform": of 100 data sets of 80 samples in the plane, K-means
    with k = 2 and k = 3, 19 draws, the shares with a P-value of at most 0.05 were .50 and .69 for
    exponential columns, .21 and .31 for chi-squared ones with 4 degrees of freedom, .08 and .09 for
    half-normal ones. Of these 188 the `caution` came with 160; it is missing by chance where the
    columns happen to be correlated or to reject when shuffled. Heavy tails are structure for
    "uniform", too (.28 with k = 2 for Student's t with 3 degrees of freedom), and correlated
    columns for "permuted"; skewed columns that are correlated have no reference here. Clusters
    that show in single columns are there in shuffled columns, too, and a caution is no proof that
    there are none: of 100 data sets of three far clusters with shares .7, .2 and .1 on the corners
    of a right triangle, columns hardly correlated, 89 (k = 2) and 67 (k = 3) carry it; with equal
    shares 1 and 0. So the caution names both causes, and a histogram tells them apart. A single
    column has no second reference.

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
    kind, draws = _stability.resolve_reference(X, reference)
    root = _checks.root_seed(random_state)
    first = _stability.seed_clusterer(clusterer, _checks.repetition_rng(root, 0))
    statistic = check_index_value(index, X, np.asarray(first.fit_predict(X)))
    of_draws = root.spawn(1)[0]
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}

    def draw_null(reference: Draws) -> tuple[np.ndarray, int]:
        """Return the index of each draw, and how many are at least as good as that of the data."""
        measure = partial(index_of_draw, clusterer, reference, index)
        null = np.array(_stability.run_draws(measure, [(of_draws, n_references)], **options))
        return null, int(exceedances(sign * statistic, sign * null).sum())

    sign = 1 if greater_is_better else -1
    null, count = draw_null(draws)
    pvalue, pvalue_permuted, caution = (1 + count) / (1 + n_references), None, ""
    shuffle = _stability.shuffle_when_uncorrelated(X, kind) if pvalue <= SMALL else None
    if shuffle is not None:
        pvalue_permuted = (1 + draw_null(shuffle)[1]) / (1 + n_references)
        if pvalue_permuted > SMALL:
            as_good = f"as good an index (P = {pvalue_permuted:.2g})"
            caution = _stability.explain_by_columns(X, as_good)
    return Test(
        name=_stability.name_function(index),
        statistic=statistic,
        pvalue=pvalue,
        method="structure test",
        null_distribution=null,
        n_resamples=n_references,
        details={
            "reference": kind,
            "n_exceedances": count,
            "pvalue_permuted": pvalue_permuted,
            "caution": caution,
        },
        limits={"exact": partial(exact_interval, count, n_references)},
        confidence_level=confidence_level,
    )


Index = Callable[[Any, Any], float]
"""Of data and labels, or of two partitions."""


def find_row(index: Index) -> Row | None:
    """Return the row of an index of this package or of scikit-learn; None of any other.

    Of the forms of one function it is that of the bound arguments, else the first.
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
    """Return how an index grows with the number of samples, as given or as known, or raise."""
    row = find_row(index)
    known = row.growth if row else None
    if growth or known in GROWTHS:
        return str(growth or known)
    why = "rests on few samples and has no limit" if known else "is not known here"
    raise ValueError(
        "growth must say how the index grows with the number of samples: 'mean' if it has a limit, "
        "as a mean over samples, 'sum' if it grows in proportion, as a sum over them; "
        f"got None, and {_stability.name_function(index)} {why}."
    )


def check_index_value(index: Index, *arguments: Any) -> float:
    """Return the index of all samples, or raise where it is undefined."""
    value = float(index(*arguments))
    if not np.isfinite(value):
        raise ValueError(f"index must have a finite value on the data, got {value}.")
    return value


def value_or_nan(index: Index, *arguments: Any) -> float:
    """Return the index, nan where it has no finite value or refuses a partition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            value = float(index(*arguments))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan


def partition_rows(X: Any, partition: Any, rows: np.ndarray, rng: Generator) -> np.ndarray:
    """Return the labels of some rows, given or found by clustering these rows alone."""
    if isinstance(partition, np.ndarray):
        return partition[rows]
    return np.asarray(_stability.seed_clusterer(partition, rng).fit_predict(safe_indexing(X, rows)))


def index_of_half(X: Any, partitions: tuple[Any, ...], index: Index, half: Draw) -> float:
    """Return the index on a random half of the data, of partitions that are fixed or found."""
    rows = _stability.half_of(X.shape[0], half.rng)
    found = [partition_rows(X, each, rows, half.rng) for each in partitions]
    data = [safe_indexing(X, rows), *found] if len(found) == 1 else found
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
    r"""Confidence interval of an index of clusterings: how it varies between samples of this size.

    The index :math:`I_b` is computed on random halves of :math:`m = \lfloor n/2 \rfloor` of the
    :math:`n` samples, without replacement. They vary around their mean as much as the index of all
    samples does around its own, so that

    .. math:: se = \Big(\frac nm\Big)^g \sqrt{\frac{m}{n - m}}\; sd_b(I_b) ,
        \qquad I \mp z_{1 - a/2}\, se ,

    with :math:`g = 0` for an index that has a limit, such as a mean over the samples, and
    :math:`g = 1` for one that grows as n, such as a sum over them, which is half as large on a
    half and varies half as much.

    Parameters
    ----------
    index : callable
        ``index(X, labels) -> float``, such as `silhouette_score`; with two partitions
        ``index(labels, labels_other) -> float``, such as `adjusted_rand_score`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data, points and not distances.
    labels : array-like of shape (n_samples,) or clusterer
        A partition; or a clusterer with `fit_predict`, which clusters all samples for the value
        and each half by itself, so that its own variation counts.
    labels_other : array-like of shape (n_samples,) or clusterer, default=None
        The other partition, of an index of two.
    growth : {"mean", "sum"} or None, default=None
        How the index grows with n: :math:`g = 0` ("mean") or :math:`g = 1` ("sum"). None knows it
        of the functions of this package and of scikit-learn: `compactness_score` with
        ``unit="sum"``, `calinski_harabasz_score` and `connectivity_score` are sums, `dunn_score` is
        neither and refused, all others are means. Of a function of your own it must be said.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_resamples : int, default=200
        Number of halves, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halves and of a clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of halves computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished values are kept; see :doc:`/user_guide/scale`.

    Returns
    -------
    Estimate
        The index as `value`, its `standard_error` and `interval`, and its values on the halves as
        `replicates`, nan where undefined; the growth is in `details`.

    Raises
    ------
    ValueError
        If `growth` is None for an index of your own or for Dunn's, if the index is undefined on
        the data or on all but one half, if X has fewer than 4 samples or is malformed, or a
        parameter is out of range.

    Warns
    -----
    UndefinedMetricWarning
        If the index is undefined on some halves, which are left out.

    See Also
    --------
    structure_test : The P-value of an index against data without structure.
    skeval.model_selection.metric_interval : Metrics of predictions.

    Notes
    -----
    Why halves: a bootstrap draws samples twice, and a duplicate is a neighbour at distance 0. Of
    the K-means clusters below the silhouette on bootstrap samples was 0.01 to 0.04 too large, and
    percentile intervals of nominally 95 % covered 56 to 87 % at n = 60, 81 to 94 % at n = 200.

    The ends are cut off at the range of the index, which is known of the functions of this package
    and of scikit-learn, not of your own.

    The interval is for the mean of the index over samples of size n. Measured at nominal 95 %, 250
    data sets, K-means with k = 3 (three separate, three overlapping and one Gaussian in the plane,
    three overlapping in 10 dimensions): the silhouette covered .944, .936, .992, .960 at n = 60 and
    .952, .968, .988, .972 at n = 200 with the clusterer refitted, and .944, .932, .972, .888 and
    .952, .964, .968, .924 with its labels given. The adjusted Rand index of K-means and Ward's
    method (three overlapping clusters, n = 60, 160 data sets) covered .95 with both refitted and
    .73 with their labels given: fixed labels hide that another sample is clustered otherwise. So
    give the clusterer where it fits fast.

    Of indices that grow with n, K-means with k = 3, three overlapping clusters in the plane,
    n = 60, 200 data sets, 50 halves: the sum of squared errors, `calinski_harabasz_score` and
    `connectivity_score` covered .950, .960, .945 with the labels given and .965, .965, .970 with
    the clusterer refitted; without the factor n/m they would have covered .635, .690, .755 and
    .655, .705, .775. Where clusters touch, the connectivity grows more slowly than n, and its
    interval is wider than it need be.

    *Not for the Dunn index*: it rests on three samples, has no such limit, and its mean depends on
    n; a normal interval of its logarithm covered .79 to .89.

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
    given = [each for each in (labels, labels_other) if each is not None]
    X, partitions = _check_partitions(X, given)
    root = _checks.root_seed(random_state)
    rng, n = _checks.repetition_rng(root, 0), X.shape[0]
    found = [partition_rows(X, each, np.arange(n), rng) for each in partitions]
    value = check_index_value(index, *([X, *found] if len(found) == 1 else found))
    measure, of_halves = partial(index_of_half, X, partitions, index), root.spawn(1)[0]
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    replicates = np.array(_stability.run_draws(measure, [(of_halves, n_resamples)], **options))
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
        bounds=(min(low, value), max(high, value)),  # which rounding may have passed
        confidence_level=confidence_level,
    )


def _check_partitions(X: Any, given: list[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return the data and the partitions, labels as arrays and clusterers as clones."""
    checked = _checks.check_data("X", X, accept_sparse="csr", ensure_min_samples=4)
    X = X if hasattr(X, "iloc") else checked
    partitions = []
    for name, each in zip(("labels", "labels_other"), given, strict=False):
        if hasattr(each, "fit_predict"):
            X = _stability.check_points(each, X)
            partitions.append(clone(each))
            continue
        partitions.append(check_labels(each, name))
        _checks.check_same_length(**{"X": X, name: partitions[-1]})
    return X, tuple(partitions)


def _drop_undefined(values: np.ndarray) -> np.ndarray:
    """Return the values that are defined, or raise where these are fewer than two."""
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        raise ValueError(
            "index must be defined on halves of the data, got no finite value on "
            f"{len(values) - len(defined)} of {len(values)}."
        )
    if len(defined) < len(values):
        _checks.warn_undefined(
            f"The index is undefined on {len(values) - len(defined)} of {len(values)} halves, "
            "which are left out."
        )
    return defined
