"""Choice of the number of clusters by sequential tests, stability, silhouette or gap.

Each method computes a value and a limit for each candidate. It compares them with the results of
the same clusterer on reference data without structure. The module contains the methods that
measure halves of the data, the gap statistic, the sequential tests, and the test of a single
clustering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy.sparse import issparse
from scipy.stats import sem, t
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import Details, Result, Results, Test
from skeval._inference.intervals import ROUNDING, exact_interval
from skeval._inference.paired import exceedances
from skeval.cluster import _references, _stability
from skeval.cluster._references import Draws
from skeval.cluster._stability import Draw, Measure, Seed
from skeval.metrics._scorers import name_scoring
from skeval.metrics.cluster import compactness_score, silhouette_score, within_cluster_distances
from skeval.utils import _checks, _text
from skeval.utils._checks import validate_params
from skeval.utils._compat import Interval, StrOptions, safe_indexing
from skeval.utils._text import DataFrame

Reference = Literal["auto", "uniform", "box", "permuted"]

StructureReference = Literal["auto", "uniform", "box", "permuted", "unimodal"]

GapMetric = Literal["sqeuclidean", "euclidean"]

GAP, SEQUENTIAL, SILHOUETTE = "gap", "sequential", "silhouette"
LEVEL, LEVEL_MORE = 0.05, 0.025
"""Levels of the first test of the sequential method, of one cluster, and of the later tests."""


class Trial(NamedTuple):
    """Inputs shared by all methods."""

    X: Any
    clusterer: Any
    parameter: str
    kind: str
    draws: Draws
    n_repeats: int
    threshold: float
    root: SeedSequence
    options: dict[str, Any]

    def copy_root(self) -> SeedSequence:
        """Return a copy of `root` that has not spawned any children."""
        return SeedSequence(self.root.entropy, spawn_key=self.root.spawn_key)

    def with_n_clusters(self, candidates: np.ndarray) -> dict[int, Any]:
        """Return a clone of the clusterer for each number of clusters."""
        copies = {k: clone(self.clusterer) for k in candidates.tolist()}
        return {k: copy.set_params(**{self.parameter: k}) for k, copy in copies.items()}


def check_candidates(n_clusters: Iterable[int], smallest: int, method: str = "") -> np.ndarray:
    """Return the validated, distinct candidates in ascending order."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(
            f"n_clusters must contain several numbers, such as range(2, 11), got {n_clusters!r}."
        )
    # integers in range
    candidates = list(n_clusters)
    wrong = [
        k for k in candidates if isinstance(k, bool) or not isinstance(k, Integral) or k < smallest
    ]
    if wrong or not candidates:
        got = f"{wrong[0]!r}" if wrong else "no candidate"
        text = f" for method={method!r}" if method else ""
        raise ValueError(f"n_clusters must contain integers >= {smallest}{text}, got {got}.")
    return np.unique(np.asarray(candidates, dtype=np.int64))


def resolve_parameter(clusterer: Any, param_name: str | None) -> str:
    """Return the validated parameter for the number of clusters. None finds it if it is unique."""
    # a parameter by name, or the only one of the usual names
    names = sorted(clusterer.get_params(deep=True))
    if param_name is not None:
        return _checks.check_option("param_name", param_name, names)
    for ending in ("n_clusters", "n_components"):
        matches = [name for name in names if name.split("__")[-1] == ending]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ValueError(f"param_name must name the parameter to vary, {' or '.join(matches)}.")
    raise ValueError(
        f"param_name must be passed, because {type(clusterer).__name__} has neither n_clusters "
        "nor n_components. skeval.metrics.cluster.dbcv_score evaluates its labels without it."
    )


@dataclass(frozen=True, eq=False)
class NClustersChoice(Result):
    """Chosen number of clusters, and the values of all candidates.

    Depending on `method`, the values are silhouettes of all samples, stabilities, silhouettes of
    halves, or gaps. The gap of a candidate is compared with the gap of the next candidate. The gap
    of the reference is 0.

    Attributes
    ----------
    n_clusters : int
        The chosen number of clusters.
    candidates : ndarray of shape (n_candidates,)
        Candidate numbers of clusters, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error over the halvings. The gap is infinite if the
        samples within each cluster are identical, and its standard error is s_k. The sequential
        method has a single value, whose standard error is nan.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each halving. Each column has the same halves for every candidate. For the gap, it
        has the same draw of the reference. The sequential method has one column.
    reference_values : ndarray of shape (n_candidates,)
        Mean over the draws of data without structure. Methods that split the data into halves use
        one halving of each draw. The attribute `reference_standard_errors` contains the standard
        errors.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Value for each random draw of reference data.
    limits : ndarray of shape (n_candidates,)
        Value that each candidate must reach to be chosen.
    method : str
        Name of the measure.
    reference : {"uniform", "box", "permuted", "unimodal"}
        Kind of reference data without structure.
    rule : str
        Sentence that states how the number of clusters was chosen.
    pvalue : float
        P-value of the test of one cluster against more than one. It is nan unless the method is
        sequential.
    pvalue_more : float
        P-value of more than `n_clusters` clusters, from the sequential method. It is nan for other
        methods. It is also nan if `n_clusters` is 1 (see `pvalue`) or the largest candidate.
    cautions : tuple of str
        Sentences about columns or shapes for which the reference of the sequential method is
        invalid. The tuple is empty for other methods.
    details : mapping
        For the gap, it contains the arrays "log_dispersions" of shape (n_candidates,) and
        "reference_log_dispersions" of shape (n_candidates, n_repeats).
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    reference_values: np.ndarray
    reference_replicates: np.ndarray = field(repr=False)
    limits: np.ndarray
    method: str
    reference: str
    rule: str
    pvalue: float = np.nan
    pvalue_more: float = np.nan
    cautions: tuple[str, ...] = ()
    details: Details = field(default_factory=dict, repr=False)

    @property
    def reference_standard_errors(self) -> np.ndarray:
        """Standard error of each of `reference_values` over the draws."""
        return sem(self.reference_replicates, axis=1)

    @property
    def edge(self) -> str:
        """Sentence about a test of the sequential method with P near its level, or empty."""
        tests = (1, self.pvalue, LEVEL), (self.n_clusters, self.pvalue_more, LEVEL_MORE)
        for k, pvalue, level in tests:
            if level / 2 < pvalue <= 2 * level:
                return (
                    f"Narrow decision: P = {_text.write_pvalue(pvalue)} for more than "
                    f"{_text.count(k, 'cluster')}, close to the limit of {level}, so that another "
                    "random_state may choose differently."
                )
        return ""

    @property
    def gap_increases(self) -> bool:
        """Whether the gap still increases at the largest candidate, so that its rule is not met."""
        return self.method == GAP and self.n_clusters == self.candidates[-1] > self.candidates[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions, a narrow decision, and rules that no candidate meets, as sentences."""
        notes, last = [*self.cautions, self.edge], self.candidates[-1]
        if self.n_clusters not in self.candidates and self.method != SEQUENTIAL:
            notes.append(
                "No candidate meets the rule, so one cluster is chosen by default. It was not "
                "evaluated."
            )
        if self.gap_increases:
            notes.append(f"The gap still increases at the largest k, {last}. Try more clusters.")
        return tuple(filter(None, notes))

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each candidate."""
        return _text.make_frame(
            {
                self.method: self.values,
                "standard_error": self.standard_errors,
                "reference": self.reference_values,
                "reference_standard_error": self.reference_standard_errors,
                "limit": self.limits,
                "chosen": self.candidates == self.n_clusters,
            },
            self.candidates,
            "n_clusters",
        )

    def __str__(self) -> str:
        # rule and P-values
        rows = [("rule", self.rule), ("reference", _references.REFERENCE_WORDS[self.reference])]
        for k, pvalue in ((1, self.pvalue), (self.n_clusters, self.pvalue_more)):
            if np.isfinite(pvalue):
                title = f"more than {_text.count(k, 'cluster')}"
                rows.append((title, f"P = {_text.write_pvalue(pvalue)}"))
        # a line for each candidate
        numbers = self.values, self.standard_errors, self.reference_values, self.limits
        for k, value, error, reference, least in zip(self.candidates, *numbers, strict=True):
            limit = "none" if np.isneginf(least) else _text.write_number(least)
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = _text.write_number(value)
            if np.isfinite(error):
                text += f" +/- {_text.write_number(error)}" if error > 0 else " (no variation)"
            text += f", reference {_text.write_number(reference)}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        text = _text.align_text(f"{_text.count(self.n_clusters, 'cluster')} by {self.method}", rows)
        return "\n".join([text, *(f"! {note}" for note in self.notes)])


MIN_REFERENCES = 39
"""Smallest number of draws whose P-value can be as small as the levels."""

SHARE = 2 / 3
"""Required fraction of the distance from the reference to 1. See `choose_n_clusters`."""

MEASURES: dict[str, Measure] = {
    name: partial(_stability.agree_both_ways, agreement)
    for name, agreement in _stability.AGREEMENTS.items()
} | {SILHOUETTE: _stability.mean_silhouette}
"""Measure of two halves and their labels, for each method."""

_BEST, _LEAST = (
    "k that is within one standard error of the best and",
    "at least 2/3 of the distance from the reference to 1, else 1",
)
RULES = {
    **dict.fromkeys(MEASURES, f"largest {_BEST} {_LEAST}"),
    _stability.PREDICTION_STRENGTH: f"largest k with strength >= {{threshold:g}} and {_LEAST}",
    SILHOUETTE: f"smallest {_BEST} above the reference, else 1",
}
"""Rule of the choice in words, for each method."""

METHODS = (SEQUENTIAL, *MEASURES, GAP)
TAKE_ONE = {SEQUENTIAL, _stability.PREDICTION_STRENGTH, GAP}
"""Methods whose candidates include 1."""


@_checks.in_order(clusterer=_checks.is_no_table)
@validate_params(
    _stability.STABILITY
    | {
        "method": [StrOptions(set(METHODS)), list, tuple],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "reference": [StrOptions(set(_references.REFERENCES))],
        "n_references": [Interval(Integral, MIN_REFERENCES, None, closed="left")],
        "param_name": [str, None],
    }
)
def choose_n_clusters(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    method: str | Sequence[str] = "sequential",
    threshold: float = 0.8,
    reference: StructureReference = "auto",
    n_repeats: int = 20,
    n_references: int = 39,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice | Results:
    r"""Choose the number of clusters, which may be one.

    The default method tests the number of clusters in steps, as forward selection tests variables.
    The first hypothesis is a single cluster, that is, a unimodal distribution, which may be skewed,
    heavy-tailed or correlated. Let :math:`\ell` be the difference in log-likelihood between two
    normal populations and one unimodal population, on the line through the centers of two clusters.
    With the mean silhouette :math:`s_k` of the clustering with k clusters, the test statistic is

    .. math:: \max\left(z(\ell), \max_k z(s_k) - 2\right) .

    Here, z standardizes by the mean and the standard deviation in simulated data of this kind. If
    the statistic is significant at 5 %, the k with the largest silhouette becomes the next
    hypothesis, with k unimodal clusters. It is tested against more clusters with :math:`\max_k
    z(s_k)`. After a rejection, the next hypothesis has the k whose silhouette exceeds the mean
    :math:`r_k` of the simulated data the most, relative to the largest possible excess:
    :math:`(s_k - r_k) / (1 - r_k)`. The choice is the k of the first test that does not reject.

    The other methods measure the stability of halves, or the dispersion. Each candidate is
    computed on the same random halves of the data, and compared with halves of simulated data
    without structure. With the mean stability :math:`s_k` and its mean in the reference
    :math:`r_k`, a candidate is sufficient if

    .. math:: \frac{s_k - r_k}{1 - r_k} \ge \frac23 .

    A ratio of 1 means full agreement of the halves, and 0 the agreement for data without
    structure. With ``"prediction_strength"``, the mean must also reach `threshold`, and the choice
    is the largest sufficient k. With ``"adjusted_rand"`` and ``"matched_accuracy"``, it is the
    largest k whose mean `predictive_power` lies within one standard error of the best sufficient
    one. The choice is 1 if no candidate is sufficient.

    With ``"silhouette"``, the mean silhouette of the separately clustered halves must exceed a
    prediction limit for one more draw of the reference, 95 % simultaneously for all candidates.
    The choice is the smallest k within one standard error of the best of these, or 1 if there is
    none. ``"gap"`` is the gap statistic of all samples with its own rule (see `gap_statistic`). If
    a list of methods is passed, the choices are compared.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbors use Euclidean distances on X as passed, so scale X first.
    n_clusters : iterable of int, default=range(1, 11)
        Candidate numbers of clusters. The smallest allowed number is 1 for "sequential",
        "prediction_strength" and "gap", and 2 for the others. "sequential" and "gap" always test
        1. In a list, methods that do not support 1 omit it.
    method : str or list of str, default="sequential"
        "sequential", "prediction_strength", "adjusted_rand", "matched_accuracy", "silhouette" or
        "gap". A list compares several.
    threshold : float, default=0.8
        Smallest strength of real clusters. Only prediction strength uses it.
    reference : {"auto", "uniform", "box", "permuted", "unimodal"}, default="auto"
        Reference data without structure. "uniform" draws points uniformly in the bounding box of
        the data along the principal axes, and "box" along the features. "permuted" permutes each
        column of the data separately, which preserves groups that are visible in a single column.
        "unimodal" draws points from the closest unimodal distribution (see Notes). "auto" is
        "uniform", or "permuted" for sparse X. The sequential method always uses "unimodal", or for
        sparse X "permuted" within clusters.
    n_repeats : int, default=20
        Number of random halvings, or draws of the gap statistic, at least 2. The sequential method
        does not use it.
    n_references : int, default=39
        Maximum number of draws for each test of the sequential method, at least 39. A test without
        evidence stops after 13 or 26.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None means `n_clusters` or
        `n_components`, also in a pipeline if it is unique.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice or dict of str to NClustersChoice
        The choice, its rule, and the curve of values with standard errors. For a list of methods,
        a dict of the choices.

    Raises
    ------
    ValueError
        If there is no candidate or one is out of range, if the parameter for the number of
        clusters is not found or not unique, if the clusterer requires precomputed distances, or if
        X has fewer than 4 samples, is not finite, or has infinite squares.

    See Also
    --------
    predictive_power : Computes the agreement of halves.
    gap_statistic : Computes only the gap, with its dispersions.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    With 60 samples in all, the test finds a cluster of 10 samples at a distance of five standard
    deviations from a larger cluster. It does not find elongated parallel clusters if K-means cuts
    across them. If the columns are on a lattice or X is sparse, the test uses only silhouettes,
    which may miss a small cluster.

    The columns of the unimodal reference are smooth unimodal distributions, either sinh-arcsinh
    distributions [3]_ or beta distributions. Values on a lattice, such as counts, remain on it.
    Their distribution functions are convex up to a mode and concave above, and close to the
    empirical ones in Kolmogorov's distance. A t copula joins the columns. It has the rank
    correlations of the data, and degrees of freedom for which extreme values coincide as often as
    in the data. The latent correlations reproduce the correlations of tied values. Extreme values
    that many columns share are reproduced only approximately, so the silhouette of the data counts
    as 0 if a cluster has fewer than 3 samples.

    The reference does not cover columns that are functions of others (indicator columns of a
    category, fractions that sum to 1), curved clouds (a circle, a sphere, a banana, a funnel) and
    uniform clouds whose edges are not parallel to the axes (a rotated square). One such cloud is
    often split into several clusters. The `notes` report dependent columns, and chosen clusters
    without a dip of the density between neighboring centers. Classes that differ in binary items
    may be missed, because one strong factor also explains such items.

    With more than 2,000 samples, the silhouettes are computed for a random sample of 2,000, or for
    1,500 of each half if a half has more. P-values are Monte Carlo P-values, and `n_references`
    determines their resolution. :doc:`/user_guide/clustering` has a table of how often each method
    is correct.

    A halving counts as 0 for k clusters if either half does not have k clusters of at least 3
    samples. In a cluster of one sample, no pair can be separated, and more than n/6 clusters
    cannot occur in a half. The paper [1]_ and R's fpc compare the strength itself with 0.8 to 0.9,
    which reports two clusters for an elongated cloud that is split in the middle. The limit of two
    thirds was determined by simulation. The reference is the same as for the gap statistic [2]_.

    The choice assumes clusters of the kind that the algorithm finds. K-means, Ward's method and
    spherical mixtures find round clusters and split others. The silhouette is also largest for
    round clusters. For elongated clusters, such as in a Gaussian mixture with full covariances, use
    ``"prediction_strength"`` or ``"adjusted_rand"``. The `notes` of a choice report narrow
    decisions, and rules that no candidate meets.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.
       https://doi.org/10.1198/106186005X59243
    .. [2] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293
    .. [3] Jones, M. C. and Pewsey, A. (2009). Sinh-arcsinh distributions. Biometrika 96, 761-780.
       https://doi.org/10.1093/biomet/asp053

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import choose_n_clusters
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> choice = choose_n_clusters(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 5), n_repeats=5, random_state=0
    ... )
    >>> choice.n_clusters
    3
    """
    # methods and their candidates
    X = _stability.check_points(clusterer, X)
    if not method:
        raise ValueError("method must contain at least one name, got none.")
    names = [method] if isinstance(method, str) else method
    methods = list(dict.fromkeys(_checks.check_option("method", name, METHODS) for name in names))
    n_clusters = list(n_clusters) if isinstance(n_clusters, Iterable) else n_clusters
    candidates = {name: _candidates_of(name, n_clusters, len(methods)) for name in methods}
    for name in {SEQUENTIAL, GAP} & {*methods}:
        check_sizes(X, candidates[name])
    # all methods share the inputs, and those of halves the halves
    trial = Trial(
        X,
        clusterer,
        resolve_parameter(clusterer, param_name),
        *_references.resolve_reference(X, reference),
        n_repeats,
        float(threshold),
        _checks.root_seed(random_state),
        {"n_jobs": n_jobs, "verbose": verbose, "memory": memory},
    )
    choices = _choose_by_halves(trial, {k: v for k, v in candidates.items() if k in MEASURES})
    if GAP in candidates:
        choices[GAP] = choose_by_gap(trial, candidates[GAP])
    # the sequential tests refer to unimodal data
    if SEQUENTIAL in candidates:
        unimodal = trial._replace(kind=_references.name_reference(X, "auto", "unimodal"))
        choices[SEQUENTIAL] = choose_sequentially(unimodal, candidates[SEQUENTIAL], n_references)
    if isinstance(method, str):
        return choices[method]
    return Results({name: choices[name] for name in methods})


def _candidates_of(method: str, n_clusters: Iterable[int], n_methods: int) -> np.ndarray:
    """Return the candidates of a method. If there are several methods, omit 1 if unsupported."""
    # with several methods, each omits what it does not support
    takes_one = method in TAKE_ONE
    if not takes_one and n_methods > 1:
        n_clusters = [k for k in check_candidates(n_clusters, 1, method).tolist() if k > 1]
    candidates = check_candidates(n_clusters, 1 if takes_one else 2, method)
    if method == SEQUENTIAL:  # the first test is of one cluster
        return check_candidates(candidates[candidates > 1].tolist() or [1], 2, method)
    return np.union1d(candidates, 1) if method == GAP else candidates


def _choose_by_halves(
    trial: Trial, candidates: dict[str, np.ndarray]
) -> dict[str, NClustersChoice]:
    """Return the choice of each method that measures halves. All use the same halves."""
    if not candidates:
        return {}
    # k clusters of the smallest size must fit into a half; a larger k has the value 0
    union = np.unique(np.concatenate(list(candidates.values())))
    possible = union * _stability.SMALLEST <= trial.X.shape[0] // 2
    clusterers = trial.with_n_clusters(union[possible])
    # all measures of the same halves
    measures = [MEASURES[name] for name in candidates]
    table = np.zeros((len(measures), 2, len(union), trial.n_repeats))
    table[:, :, possible] = _stability.run_halvings(
        clusterers, trial.X, trial.draws, measures, trial.n_repeats, trial.root, trial.options
    )
    return {
        method: _make_choice(trial, method, own, values[:, np.isin(union, own)])
        for (method, own), values in zip(candidates.items(), table, strict=True)
    }


def find_limits(
    method: str, values: np.ndarray, errors: np.ndarray, reference: np.ndarray, threshold: float
) -> np.ndarray:
    """Return the required value of each candidate.

    `values` and `errors` of shape (K,) are means and standard errors. `reference` of shape (K, B)
    contains the values on reference data, and `threshold` is the smallest strength of real
    clusters.
    """
    base = reference.mean(axis=1)
    limits = base + SHARE * (1 - base)
    if method == _stability.PREDICTION_STRENGTH:
        return np.maximum(limits, threshold)
    if method == SILHOUETTE:
        # simultaneous upper prediction limits for one more draw of the reference
        n_candidates, n_draws = reference.shape
        quantile = t.isf(LEVEL / n_candidates, n_draws - 1)
        limits = base + quantile * reference.std(axis=1, ddof=1) * np.sqrt(1 + 1 / n_draws)
    # all but the best sufficient candidate must come within one standard error of it
    sufficient = np.flatnonzero((values >= limits) & (values > base))
    if not sufficient.size:
        return limits
    best = sufficient[np.argmax(values[sufficient])]
    raised = np.maximum(limits, values[best] - errors[best])
    raised[best] = limits[best]
    return raised


def _make_choice(
    trial: Trial, method: str, candidates: np.ndarray, both: np.ndarray
) -> NClustersChoice:
    """Return the choice from the (2, K, n_repeats) values of data and reference."""
    # means over the repeats, for the data and the reference
    (values, base), errors = both.mean(axis=-1), sem(both[0], axis=-1)
    limits = find_limits(method, values, errors, both[1], trial.threshold)
    # one cluster if no candidate reaches its limit
    reached = candidates[(values >= limits) & (values > base)]
    pick = np.min if method == SILHOUETTE else np.max
    return NClustersChoice(
        n_clusters=int(pick(reached)) if reached.size else 1,
        candidates=candidates,
        values=values,
        standard_errors=errors,
        replicates=both[0],
        reference_values=base,
        reference_replicates=both[1],
        limits=limits,
        method=method,
        reference=trial.kind,
        rule=RULES[method].format(threshold=trial.threshold),
    )


# The gap statistic.

SQUARED: Final = "sqeuclidean"


@_checks.in_order(clusterer=_checks.is_no_table)
@validate_params(
    _stability.STABILITY
    | {
        "reference": [StrOptions(set(_references.REFERENCES))],
        "metric": [StrOptions({SQUARED, "euclidean"})],
        "n_references": [Interval(Integral, 2, None, closed="left")],
        "param_name": [str, None],
    }
)
def gap_statistic(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    reference: Reference = "auto",
    metric: GapMetric = SQUARED,
    n_references: int = 100,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice:
    r"""Return the gap statistic for several numbers of clusters.

    The dispersion of k clusters :math:`C_r` of :math:`n_r` samples is

    .. math:: W_k = \sum_{r=1}^k \frac{1}{2 n_r} \sum_{i, j \in C_r} d_{ij} .

    For squared distances, it is the sum of squares around the centroids. It decreases as clusters
    are added, even in data without structure. The gap is the additional decrease,

    .. math:: gap(k) = \frac1B \sum_{b=1}^B \log W^*_{kb} - \log W_k , \qquad
        s_k = \sqrt{1 + 1/B}\; sd_b(\log W^*_{kb}) .

    Here, :math:`W^*_{kb}` is the dispersion of the clusters in the b-th draw of data without
    structure. The choice is the smallest k with :math:`gap(k) \ge gap(k+1) - s_{k+1}`. It may be
    1.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict` and a parameter for the number of clusters. It is
        not fitted for a single cluster, which contains all samples.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are computed on X as passed, so scale X first.
    n_clusters : iterable of int, default=range(1, 11)
        Candidate numbers of clusters, at least 1 and fewer than the samples. The rule compares
        each candidate with the next.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure. "uniform" draws points uniformly in the bounding box of
        the data along the principal axes, and "box" along the features. "permuted" permutes each
        column of the data separately. "auto" is "uniform", or "permuted" for sparse X.
    metric : {"sqeuclidean", "euclidean"}, default="sqeuclidean"
        The distance :math:`d` in the dispersion.
    n_references : int, default=100
        Number of draws :math:`B` of reference data, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None means `n_clusters` or
        `n_components`, also in a pipeline if it is unique.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice
        The choice. `values` contains the gaps, `standard_errors` contains s_k, and `details`
        contains the logarithms of the dispersions.

    Raises
    ------
    ValueError
        If a candidate is out of range, if the parameter for the number of clusters is not found or
        not unique, or if the clusterer requires precomputed distances. If X has fewer than 4
        samples or only equal samples, is not finite, or has infinite squares. If the reference data
        do not have more distinct points than clusters.

    See Also
    --------
    choose_n_clusters : Compares the gap with prediction strength and the silhouette.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    ``clusGap`` of the R package cluster sums plain distances, unless ``d.power = 2``. The example
    in the paper and the default of this function use squared distances (``metric="euclidean"``
    gives plain distances). ``clusGap`` divides the variance by B - 1, whereas the paper and this
    function divide it by B. Its default rule differs from the rule of the paper, which it calls
    "Tibs2001SEmax". Label -1, noise, counts as one cluster.

    The rule may fail for nested clusters, because the gap may decrease and increase again. It also
    assumes compact clusters, which W describes well.

    References
    ----------
    .. [1] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import gap_statistic
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> result = gap_statistic(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 6), n_references=20, random_state=0
    ... )
    >>> result.n_clusters
    3
    """
    X = _stability.check_points(clusterer, X)
    candidates = check_candidates(n_clusters, 1)
    check_sizes(X, candidates)
    # the same draws of the reference for every candidate
    trial = Trial(
        X,
        clusterer,
        resolve_parameter(clusterer, param_name),
        *_references.resolve_reference(X, reference),
        n_references,
        0.0,
        _checks.root_seed(random_state),
        {"n_jobs": n_jobs, "verbose": verbose, "memory": memory},
    )
    return choose_by_gap(trial, candidates, metric)


def choose_by_gap(trial: Trial, candidates: np.ndarray, metric: str = SQUARED) -> NClustersChoice:
    """Return the choice of the gap statistic. The gap of the reference is 0."""
    # log dispersions of the data, (K,), and of the draws, (K, B), the same for all candidates
    root = trial.copy_root()
    of_reference = root.spawn(1)[0]
    clusterers = trial.with_n_clusters(candidates)
    measure = partial(measure_dispersions, trial.X, trial.draws, clusterers, metric)
    draws = [(root, 1), (of_reference, trial.n_repeats)]
    measured = np.transpose(_stability.run_draws(measure, draws, **trial.options))
    logs, reference_logs = measured[:, 0], measured[:, 1:]
    # a dispersion of 0 has no logarithm
    if not np.isfinite(reference_logs).all():
        raise ValueError(
            "n_clusters must be smaller: a draw of the reference has as few distinct points."
        )
    # gaps and their standard errors s_k, equations (3) and (6) of the paper
    gap = reference_logs.mean(axis=1) - logs
    errors = reference_logs.std(axis=1) * np.sqrt(1 + 1 / trial.n_repeats)
    limits = np.append((gap - errors)[1:], -np.inf)  # no limit for the last candidate
    chosen = int(candidates[gap >= limits].min())
    return NClustersChoice(
        n_clusters=chosen,
        candidates=candidates,
        values=gap,
        standard_errors=errors,
        replicates=reference_logs - logs[:, None],
        reference_values=np.zeros(len(candidates)),
        reference_replicates=reference_logs - reference_logs.mean(axis=1, keepdims=True),
        limits=limits,
        method=GAP,
        reference=trial.kind,
        rule="smallest k whose gap is within one standard error of the gap of the next k",
        details={"log_dispersions": logs, "reference_log_dispersions": reference_logs},
    )


def measure_dispersions(
    X: Any, reference: Draws, clusterers: dict[int, Any], metric: str, job: Draw
) -> list[float]:
    """Cluster the data or a draw of the reference, and return the log dispersions.

    The pooled dispersion within clusters is equation (2) of the paper.
    """
    data, logs = reference(job.rng) if job.of_reference else X, []
    for k, clusterer in _stability.seed_alike(clusterers, job.rng).items():
        labels = np.zeros(data.shape[0]) if k == 1 else _stability.fit_labels(clusterer, data)
        if metric == SQUARED:
            total = compactness_score(data, labels, unit="sum", noise="cluster")
        else:
            distances = within_cluster_distances(data, labels, metric=metric, noise="cluster")
            total = np.sum(distances["mean"] * (distances["size"] - 1) / 2)
        logs.append(float(np.log(total)) if total > 0 else -np.inf)
    return logs


def check_sizes(X: Any, candidates: np.ndarray) -> None:
    """Raise an error unless there are more samples than clusters and two distinct samples."""
    if candidates.max() >= X.shape[0]:
        raise ValueError(
            f"n_clusters must be less than the {X.shape[0]} samples of X, got {candidates.max()}."
        )
    if compactness_score(X, np.zeros(X.shape[0]), unit="sum") == 0:
        raise ValueError("X must contain at least two distinct samples, got one.")


# Sequential tests.

BLOCK = 13
"""Number of draws after which a test may stop."""

MAX_ROWS = 2000
"""Number of samples above which the silhouette is computed on a random sample of them."""

HANDICAP = 2.0
"""Number subtracted from a standardized silhouette before its comparison. See `make_step`.

Without it, the many silhouettes reduce the power to find a small cluster. Shared heavy tails of
many columns, which the reference reproduces only approximately, would also count as clusters.
"""

RULE = (
    f"one cluster if P > {LEVEL}, otherwise the k with the largest silhouette s; while "
    f"P <= {LEVEL_MORE} for more clusters, the k with the largest (s - r) / (1 - r), where r is "
    "the reference"
)


class Step(NamedTuple):
    """Test of k clusters against more clusters.

    `values` of shape (K + 1,) contains the silhouettes of the candidates and the comparison of
    shapes of two clusters. `draws` of shape (K + 1, B) contains the values of the reference, and
    `limits` of shape (K + 1,) the smallest values that reject.
    """

    candidates: np.ndarray
    values: np.ndarray
    draws: np.ndarray
    limits: np.ndarray
    pvalue: float

    @property
    def excess(self) -> np.ndarray:
        """The (K,) excesses ``(value - reference) / (1 - reference)`` of silhouettes."""
        mean = self.draws[:-1].mean(axis=1)
        return scale_differences(self.values[:-1] - mean, 1 - mean)


def choose_sequentially(trial: Trial, candidates: np.ndarray, n_references: int) -> NClustersChoice:
    """Return the number of clusters of the last rejected test, or 1."""
    root, clusterers = trial.copy_root(), trial.with_n_clusters(candidates)
    partitions, values = cluster_with_each(clusterers, trial.X, _checks.repetition_rng(root, 0))
    silhouettes = values[:-1]
    n_clusters, labels, steps = 1, np.zeros(trial.X.shape[0]), list[Step]()
    while np.any(left := candidates > n_clusters):
        # test the current number of clusters against all larger ones
        tried = {k: clusterers[k] for k in candidates[left].tolist()}
        # reference data without structure within the current clusters
        measure = partial(measure_partitions, _references.refer_to_clusters(trial.X, labels), tried)
        level = LEVEL_MORE if steps else LEVEL
        draw = partial(_stability.run_draws, measure, **trial.options)
        own = np.append(silhouettes[left], 0 if steps else values[-1])
        step = run_test(candidates[left], own, draw, root, n_references, level)
        steps.append(step)
        if step.pvalue > level:
            break
        # against one cluster the excess favors too many: the reference is nearly bimodal too
        best = np.argmax(step.excess if steps[1:] else step.values[:-1])
        n_clusters = int(step.candidates[best])
        labels = partitions[n_clusters]
    # the first test is of one cluster, the last decided
    first, last = steps[0], steps[-1]
    cautions = _references.list_cautions(trial.X, labels) if n_clusters > 1 else ()
    tests_more = last is not first and last.candidates[0] > n_clusters
    return NClustersChoice(
        n_clusters=n_clusters,
        candidates=candidates,
        values=silhouettes,
        standard_errors=np.full(len(candidates), np.nan),
        replicates=silhouettes[:, None],
        reference_values=first.draws[:-1].mean(axis=1),
        reference_replicates=first.draws[:-1],
        limits=first.limits[:-1],
        method=SEQUENTIAL,
        reference=trial.kind,
        rule=RULE,
        pvalue=first.pvalue,
        pvalue_more=last.pvalue if tests_more else np.nan,
        cautions=cautions,
    )


def run_test(
    candidates: np.ndarray,
    values: np.ndarray,
    draw: Callable[[list[tuple[SeedSequence, int]]], list[Any]],
    root: SeedSequence,
    n_references: int,
    level: float,
) -> Step:
    """Test against more clusters. Stop early if enough draws exceed the data for no rejection.

    After an early stop, the P-value is computed from the draws so far (Besag and Clifford, 1991).
    """
    # blocks of draws, until a rejection is impossible
    draws, allowed = np.empty((len(values), 0)), int(level * (n_references + 1)) - 1
    while draws.shape[1] < n_references:
        size = min(BLOCK, n_references - draws.shape[1])
        draws = np.concatenate([draws, np.array(draw([(root.spawn(1)[0], size)])).T], axis=1)
        step = make_step(candidates, values, draws, level)
        n_better = step.pvalue * (1 + draws.shape[1]) - 1
        if n_better > allowed + 1.5:  # one more, because later draws change the standardization
            break
    return step


def measure_partitions(reference: Draws, clusterers: dict[int, Any], draw: Draw) -> np.ndarray:
    """Return the values of the clusters in a draw of the reference."""
    return cluster_with_each(clusterers, reference(draw.rng), draw.rng, smallest=1)[1]


def cluster_with_each(
    clusterers: dict[int, Any], X: Any, rng: Generator, smallest: int = _stability.SMALLEST
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Return the labels of each clusterer, and the (K + 1,) values.

    The values are the mean silhouettes, and the comparison of shapes of two clusters along the
    line through their centers, or 0 without two clusters.
    """
    partitions = {
        k: _stability.fit_labels(clusterer, X)
        for k, clusterer in _stability.seed_alike(clusterers, rng).items()
    }
    n = X.shape[0]
    rows = np.arange(n) if n <= MAX_ROWS else np.sort(rng.choice(n, MAX_ROWS, replace=False))
    data = X if n <= MAX_ROWS else safe_indexing(X, rows)
    values = [measure_silhouette(data, own[rows], k, smallest) for k, own in partitions.items()]
    shapes = 0.0
    if 2 in partitions and not issparse(data):
        shapes = compare_two(np.asarray(data, dtype=np.float64), partitions[2][rows])
    return partitions, np.array([*values, shapes])


def compare_two(points: np.ndarray, labels: np.ndarray) -> float:
    """Compare shapes of two clusters on the line through their centers. 0 for other numbers.

    Each point is left out of the center of its own cluster. With more features than points, the
    centers would otherwise separate any two groups of points.
    """
    kept = labels != _references.NOISE
    points, labels = points[kept] - points[kept].mean(axis=0), labels[kept]
    names, sizes = np.unique(labels, return_counts=True)
    if len(names) != 2 or sizes.min() < _stability.SMALLEST:
        return 0.0
    # products of each point with the sums of both clusters, without its own square
    member = labels[:, None] == names
    products = points @ (points.T @ member) - member * np.sum(points**2, axis=1, keepdims=True)
    places = products / (sizes - member)
    return _references.compare_shapes(places[:, 1] - places[:, 0], labels)


def measure_silhouette(X: Any, labels: np.ndarray, n_clusters: int, smallest: int) -> float:
    """Return the mean silhouette, or 0 if a cluster has fewer than `smallest` samples.

    A few extreme samples from a heavy tail are not a cluster of the data. In a draw of the
    reference they count as one, so that the silhouettes of such a population are as large.
    """
    sizes = np.unique(labels[labels != _references.NOISE], return_counts=True)[1]
    if len(sizes) < n_clusters or sizes.min() < smallest:
        return 0.0
    return float(silhouette_score(X, labels, noise="singletons"))


def make_step(candidates: np.ndarray, values: np.ndarray, draws: np.ndarray, level: float) -> Step:
    """Test by the largest standardized value of all candidates.

    The data and each draw are standardized by the mean and standard deviation of all others. For a
    single row, the test is then a rank test.
    """
    # moments of each row without the value itself, from its deviation
    table = np.column_stack([values, draws])
    n, mean = table.shape[1], table.mean(axis=1, keepdims=True)
    deviations, variance = table - mean, table.var(axis=1, ddof=1, keepdims=True)
    others = ((n - 1) * variance - deviations**2 * n / (n - 1)) / (n - 2)
    scores = scale_differences(deviations * n / (n - 1), np.sqrt(np.maximum(others, 0)))
    # where shapes can be compared, a silhouette must be much larger than in the reference
    handicap = np.full(len(values), HANDICAP if np.ptp(table[-1]) > ROUNDING else 0.0)
    handicap[-1] = 0
    largest = (scores - handicap[:, None]).max(axis=0)
    # smallest values that would reject
    critical = np.sort(largest[1:])[::-1][max(int(level * n), 1) - 1] + handicap
    spread = draws.std(axis=1, ddof=1)
    return Step(
        candidates,
        values,
        draws,
        draws.mean(axis=1)
        + np.multiply(critical, spread, out=np.zeros(len(spread)), where=spread > 0),
        float(np.mean(largest >= largest[0])),
    )


def scale_differences(differences: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Divide by scales. For a scale of 0, equal values are 0 and others infinite."""
    unequal = np.where(np.abs(differences) > ROUNDING, np.copysign(np.inf, differences), 0.0)
    return np.divide(differences, scales, out=unequal, where=scales > ROUNDING)


def index_of_draw(clusterer: Any, reference: Draws, index: Index, draw: Draw) -> float:
    """Cluster a draw of reference data and return the index, or nan if undefined."""
    data = reference(draw.rng)
    labels = _stability.fit_labels(_stability.seed_clusterer(clusterer, draw.rng), data)
    with _checks.ignored_warnings(UndefinedMetricWarning):
        try:
            value = float(index(data, labels))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan


@_checks.in_order(clusterer=_checks.is_no_table)
@validate_params(
    _stability.STABILITY
    | {
        "index": [callable],
        "greater_is_better": ["boolean"],
        "reference": [StrOptions(set(_references.REFERENCES))],
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
    random labels. Therefore, the same algorithm clusters :math:`B` draws of reference data without
    structure. Let :math:`T` be the index of the data, and :math:`T^*_b` the index of draw `b`.
    Then

    .. math:: pvalue = \frac{1 + \#\{b : T^*_b \ge T\}}{1 + B} .

    The P-value lies in [1/(B+1), 1]. It is small if the data have more structure than a unimodal
    distribution with the same rank correlations. The mean silhouette may miss a small cluster
    beside a large cluster. `choose_n_clusters` finds it by the shape of the distribution.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer or pipeline with `fit_predict`. It is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are not supported.
    index : callable, default=silhouette_score
        ``index(X, labels) -> float``.
    greater_is_better : bool, default=True
        Whether larger values of the index are better.
    reference : {"auto", "unimodal", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure. "unimodal" draws points from a unimodal distribution
        fitted to the data (see `choose_n_clusters`). "uniform" draws points uniformly in the
        bounding box of the data along the principal axes, and "box" along the features. "permuted"
        permutes each column of the data separately. "auto" is "unimodal", or "permuted" for sparse
        X.
    n_references : int, default=199
        Number of draws :math:`B` of reference data.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the interval of the P-value.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Returns
    -------
    Test
        The index is `statistic`, and the P-value is `pvalue`, with its Monte Carlo interval
        `pvalue_interval`. `null_distribution` contains the index of each draw (nan where
        undefined), `n_exceedances` is the number of draws at least as good, and `details` has the
        `reference`.

    Raises
    ------
    ValueError
        If the index is undefined on the data, if X has fewer than 4 samples or is invalid, if the
        clusterer requires precomputed distances, or if a parameter is out of range.

    See Also
    --------
    gap_statistic : Compares the sum of squares with reference data, for several numbers of
        clusters.
    skeval.model_selection.NullDistributionDisplay : Draws the index and its null distribution.

    Notes
    -----
    A draw with an undefined index, for example with a single cluster, counts as at least as good,
    which is conservative.

    The null hypothesis is a unimodal distribution, whose columns may be skewed, heavy-tailed,
    discrete or correlated. It does not cover columns that are functions of others, curved clouds,
    and heavy tails that many columns share (see `choose_n_clusters`). The `caution` of the result
    reports dependent columns and clusters without a gap. "uniform" and "box" treat skewed and
    heavy-tailed columns as structure, because they are not uniform. "permuted" treats correlated
    columns as structure.

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
    kind, draws = _references.resolve_reference(X, reference, "unimodal")
    # index of the clusters of X
    root = _checks.root_seed(random_state)
    first = _stability.seed_clusterer(clusterer, _checks.repetition_rng(root, 0))
    labels = _stability.fit_labels(first, X)
    statistic = float(index(X, labels))
    if not np.isfinite(statistic):
        raise ValueError(f"index must be finite for the clusters of X, got {statistic}.")
    # the same clusterer and index in draws of the reference
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    measure = partial(index_of_draw, clusterer, draws, index)
    null = np.array(_stability.run_draws(measure, [(root.spawn(1)[0], n_references)], **options))
    # a draw with an undefined index counts as at least as good
    sign = 1 if greater_is_better else -1
    count = int(exceedances(sign * statistic, sign * null).sum())
    pvalue = (1 + count) / (1 + n_references)
    return Test(
        name=name_scoring(index),
        statistic=statistic,
        pvalue=pvalue,
        method="structure test",
        null_distribution=null,
        n_resamples=n_references,
        n_exceedances=count,
        details={"reference": kind},
        caution=" ".join(_references.list_cautions(X, labels) if pvalue <= LEVEL else ()),
        limits={"exact": partial(exact_interval, count, n_references)},
        confidence_level=confidence_level,
    )


Index = Callable[[Any, Any], float]
"""Function of data and labels."""
