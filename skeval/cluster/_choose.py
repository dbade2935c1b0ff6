"""The number of clusters that the data predict."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from skeval.cluster._stability import (
    AGREEMENTS,
    STABILITY,
    Seed,
    check_points,
    halvings,
    standard_error,
)
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._random import root_seed
from skeval.utils._text import aligned

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NClustersChoice", "choose_n_clusters"]


@dataclass(frozen=True, eq=False)
class NClustersChoice:
    """A chosen number of clusters and the stability of every candidate.

    Attributes
    ----------
    n_clusters : int
        The choice.
    candidates : ndarray of shape (n_candidates,)
        The numbers of clusters that were tried, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean stability of each candidate and its standard error over the halvings.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Stability of each halving; a column holds the same halves for every candidate.
    method : str
        The measure of stability.
    threshold : float
        What the rule compares `values` with.
    rule : str
        The rule of the choice, in words.
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    method: str
    threshold: float
    rule: str

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per candidate."""
        import pandas as pd

        return pd.DataFrame(
            {
                self.method: self.values,
                "standard_error": self.standard_errors,
                "chosen": self.candidates == self.n_clusters,
            },
            index=pd.Index(self.candidates, name="n_clusters"),
        )

    def __str__(self) -> str:
        rows = [("rule", self.rule)]
        for k, value, error in zip(self.candidates, self.values, self.standard_errors, strict=True):
            mark = "  <- chosen" if k == self.n_clusters else ""
            rows.append((f"k = {k}", f"{value:.4f} +/- {error:.4f}{mark}"))
        return aligned(f"{self.n_clusters} clusters by {self.method}", rows)


@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(AGREEMENTS))],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "param_name": [str, None],
    },
    prefer_skip_nested_validation=True,
)
def choose_n_clusters(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    method: str = "prediction_strength",
    threshold: float = 0.8,
    n_repeats: int = 20,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice:
    """Choose the number of clusters that one half of the data predicts in the other.

    Every candidate is measured on the same random halves. With ``"prediction_strength"`` the
    choice is the largest k whose mean strength reaches `threshold`, and 1 if none does, since the
    strength of one cluster is 1. With ``"adjusted_rand"`` or ``"matched_accuracy"`` it is the
    largest k whose mean `predictive_power` lies within one standard error of the best.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1, and at least 2 unless the method is prediction strength.
    method : {"prediction_strength", "adjusted_rand", "matched_accuracy"}, \
            default="prediction_strength"
        The measure of stability.
    threshold : float, default=0.8
        Smallest strength of real clusters; only prediction strength reads it.
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
        1 shows a progress bar; more adds joblib's own lines.
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
    An agreement of whole partitions is 1 for one cluster whatever the data, so that only
    prediction strength, which compares with a threshold, can choose 1. The rule is that of R's
    fpc; the paper recommends a threshold of 0.8 to 0.9.

    References
    ----------
    .. [1] :doi:`Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength.
       Journal of Computational and Graphical Statistics 14, 511-528. <10.1198/106186005X59243>`

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
    clusterers = [clone(clusterer).set_params(**{name: int(k)}) for k in candidates]
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    root = root_seed(random_state)
    replicates = halvings(clusterers, X, AGREEMENTS[method], n_repeats, root, options)
    values, errors = replicates.mean(axis=1), standard_error(replicates)
    chosen, limit, rule = apply_rule(candidates, values, errors, method, threshold)
    return NClustersChoice(chosen, candidates, values, errors, replicates, method, limit, rule)


def apply_rule(
    candidates: np.ndarray, values: np.ndarray, errors: np.ndarray, method: str, threshold: float
) -> tuple[int, float, str]:
    """Return the choice, the limit that its value reaches, and the rule in words."""
    if method == "prediction_strength":
        limit, rule = float(threshold), f"largest k with strength >= {threshold:g}, else 1"
    else:
        best = int(np.argmax(values))
        limit = float(values[best] - errors[best])
        rule = "largest k within one standard error of the best"
    sufficient = candidates[values >= limit]
    return int(sufficient.max()) if sufficient.size else 1, limit, rule


def check_candidates(n_clusters: Iterable[int], method: str) -> np.ndarray:
    """Return the distinct candidates in ascending order, or raise."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    candidates = list(n_clusters)
    smallest = 1 if method == "prediction_strength" else 2
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
