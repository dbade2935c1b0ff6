"""The number of clusters that the data predict."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import sem
from sklearn.base import clone

from skeval.cluster._agreements import AGREEMENTS, PREDICTION_STRENGTH, SMALLEST
from skeval.cluster._reference import REFERENCES, resolve_reference
from skeval.cluster._stability import STABILITY, Seed, check_points, run_halvings
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import root_seed
from skeval.utils._text import align_text

__all__ = ["NClustersChoice", "check_candidates", "choose_n_clusters", "resolve_parameter"]

SHARE = 2 / 3
"""Least share of the way from the reference to 1; by simulation, see the notes."""

REFERENCE_WORDS = {
    "uniform": "points drawn uniformly in the principal box of the data",
    "permuted": "the data with every column shuffled by itself",
}


@dataclass(frozen=True, eq=False)
class NClustersChoice:
    """A chosen number of clusters and the stability of every candidate.

    Attributes
    ----------
    n_clusters : int
        The choice.
    candidates : ndarray of shape (n_candidates,)
        The numbers of clusters that were asked for, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean stability of each candidate and its standard error over the halvings.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Stability of each halving; a column holds the same halves for every candidate.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same of data without structure: the mean over as many draws, each halved once.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Stability of each draw.
    limits : ndarray of shape (n_candidates,)
        What the value of each candidate had to reach.
    method : str
        The measure of stability.
    reference : {"uniform", "permuted"}
        The data without structure.
    threshold : float
        Smallest strength of real clusters, whatever the reference.
    rule : str
        The rule of the choice, in words.
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    reference_values: np.ndarray
    reference_standard_errors: np.ndarray
    reference_replicates: np.ndarray = field(repr=False)
    limits: np.ndarray
    method: str
    reference: str
    threshold: float
    rule: str

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate."""
        return make_frame(
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
        rows = [("rule", self.rule), ("reference", REFERENCE_WORDS[self.reference])]
        for k, *numbers in zip(
            self.candidates,
            self.values,
            self.standard_errors,
            self.reference_values,
            self.limits,
            strict=True,
        ):
            value, error, reference, limit = (f"{number:.4f}" for number in numbers)
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = f"{value} +/- {error}, reference {reference}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        noun = "cluster" if self.n_clusters == 1 else "clusters"
        return align_text(f"{self.n_clusters} {noun} by {self.method}", rows)


@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(AGREEMENTS))],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "reference": [StrOptions(set(REFERENCES))],
        "param_name": [str, None],
    }
)
def choose_n_clusters(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    method: str = "prediction_strength",
    threshold: float = 0.8,
    reference: str = "auto",
    n_repeats: int = 20,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice:
    r"""Choose the number of clusters that one half of the data predicts in the other.

    K-means cuts a long cloud in the middle in both halves alike, and uniform noise hardly less.
    So every candidate is measured on the same random halves of the data, and on halves of draws of
    data without structure. With :math:`s_k` the mean stability and :math:`r_k` its mean in
    the reference, a candidate is sufficient if

    .. math:: \frac{s_k - r_k}{1 - r_k} \ge \frac23 ,

    where 1 is full agreement of the halves, and 0 that of the halves of noise. With
    ``"prediction_strength"`` it must also reach `threshold`, and the choice is the largest
    sufficient k; with ``"adjusted_rand"`` or ``"matched_accuracy"`` the largest whose mean
    `predictive_power` lies within one standard error of the best sufficient one. It is 1 if no
    candidate is sufficient.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1, and at least 2 unless the method is prediction strength.
    method : str, default="prediction_strength"
        The measure of stability: "prediction_strength", "adjusted_rand" or "matched_accuracy".
    threshold : float, default=0.8
        Smallest strength of real clusters; only prediction strength reads it.
    reference : {"auto", "uniform", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data, or the data with every column shuffled by itself, which keeps the values of
        a column and so takes from it no groups that it shows alone. "auto" is "uniform", or
        "permuted" for sparse X.
    n_repeats : int, default=20
        Number of random halvings, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None finds `n_clusters` or
        `n_components`, in a pipeline too if it is unique there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of halvings computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice
        The choice, its rule, and the curve of values with standard errors.

    Raises
    ------
    ValueError
        If there is no candidate or one is out of range, if the parameter for the number of
        clusters is not found or not unique, if the clusterer takes precomputed distances, or if
        X has fewer than 4 samples, is not finite or of a size whose squares are not.

    See Also
    --------
    prediction_strength : The measure by default.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    A halving carries no evidence of k clusters, and counts 0, where either half lacks k clusters
    of 3 samples or more: a cluster of one sample has no pair that could be separated, and what
    halves cannot hold (k above n/6) or an algorithm does not find is not there. The paper [1]_
    compares the strength itself with 0.8 to 0.9, as does R's fpc; that takes the cut through the
    middle of a long cloud for two clusters. The two thirds were found by simulation; the
    reference is that of the gap statistic [2]_.

    The choice presumes clusters of the kind that the algorithm looks for: K-means, Ward's method
    and spherical mixtures look for round ones, and cut others. Without structure (Gaussian and
    uniform noise, n from 8 to 200, 200 points with 8 outliers; K-means, Ward and single linkage)
    the tests require 1 in at least 95 % of data sets. Skewed and heavy-tailed data are not uniform
    either: the reference does not answer for what follows from that.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.
       https://doi.org/10.1198/106186005X59243
    .. [2] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

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
    X = check_points(clusterer, X)
    candidates = check_candidates(n_clusters, method)
    name = resolve_parameter(clusterer, param_name)
    kind, draws = resolve_reference(X, reference)
    possible = candidates * SMALLEST <= X.shape[0] // 2
    clusterers = {
        k: clone(clusterer).set_params(**{name: k}) for k in candidates[possible].tolist()
    }
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    root, agreement = root_seed(random_state), AGREEMENTS[method]
    both = np.zeros((2, len(candidates), n_repeats))
    both[:, possible] = run_halvings(clusterers, X, draws, agreement, n_repeats, root, options)
    (values, base), (errors, base_errors) = both.mean(axis=-1), sem(both, axis=-1)
    limits = compute_limits(values, errors, base, method, threshold)
    chosen = candidates[(values >= limits) & (values > base)]
    return NClustersChoice(
        n_clusters=int(chosen.max(initial=1)),
        candidates=candidates,
        values=values,
        standard_errors=errors,
        replicates=both[0],
        reference_values=base,
        reference_standard_errors=base_errors,
        reference_replicates=both[1],
        limits=limits,
        method=method,
        reference=kind,
        threshold=float(threshold),
        rule=describe_rule(method, threshold),
    )


def compute_limits(
    values: np.ndarray, errors: np.ndarray, base: np.ndarray, method: str, threshold: float
) -> np.ndarray:
    """Return what the value of each candidate must reach, given those of the reference."""
    limits = base + SHARE * (1 - base)
    if method == PREDICTION_STRENGTH:
        return np.maximum(limits, threshold)
    sufficient = np.flatnonzero((values >= limits) & (values > base))
    if not sufficient.size:
        return limits
    best = sufficient[np.argmax(values[sufficient])]
    return np.maximum(limits, values[best] - errors[best])


def describe_rule(method: str, threshold: float) -> str:
    """Return the rule of a method."""
    least = "at least 2/3 of the way from the reference to 1"
    if method == PREDICTION_STRENGTH:
        return f"largest k with strength >= {threshold:g} and {least}, else 1"
    return f"largest k within one standard error of the best and {least}, else 1"


def check_candidates(n_clusters: Iterable[int], method: str) -> np.ndarray:
    """Return the distinct candidates in ascending order, or raise."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    candidates = list(n_clusters)
    smallest = 1 if method == PREDICTION_STRENGTH else 2
    wrong = [k for k in candidates if not isinstance(k, Integral) or k < smallest]
    if wrong or not candidates:
        got = f"{wrong[0]!r}" if wrong else "no candidate"
        raise ValueError(
            f"n_clusters must hold integers >= {smallest} for method={method!r}, got {got}."
        )
    return np.unique(np.asarray(candidates, dtype=np.int64))


def resolve_parameter(clusterer: Any, param_name: str | None) -> str:
    """Return the parameter for the number of clusters, given or found."""
    if param_name is None:
        return find_parameter(clusterer)
    if not isinstance(param_name, str) or param_name not in clusterer.get_params(deep=True):
        raise ValueError(
            f"param_name must be a parameter of {type(clusterer).__name__}, got {param_name!r}."
        )
    return param_name


def find_parameter(clusterer: Any) -> str:
    """Return the name of the one parameter that sets the number of clusters."""
    names = sorted(clusterer.get_params(deep=True))
    for ending in ("n_clusters", "n_components"):
        found = [name for name in names if name.split("__")[-1] == ending]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"param_name must say which of {', '.join(found)} to set.")
    raise ValueError(
        "param_name must name the parameter for the number of clusters: "
        f"{type(clusterer).__name__} has neither n_clusters nor n_components."
    )
