"""Stability of a clusterer: do the clusters of one half of the data predict those of the other?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from scipy.stats import sem
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from skeval._resampling.jobs import open_jobs
from skeval.cluster._agreements import AGREEMENTS, PREDICTION_STRENGTH, Agreement, holds
from skeval.cluster._reference import Draws
from skeval.metrics.cluster import silhouette_score
from skeval.metrics.cluster._samples import check_magnitude
from skeval.utils._checks import check_data, check_methods
from skeval.utils._compat import HasMethods, Interval, StrOptions, safe_indexing, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import repetition_rng, root_seed
from skeval.utils._text import ShownAsText, align_text, write_number, write_spread

__all__ = [
    "STABILITY",
    "Measure",
    "PredictivePower",
    "Seed",
    "agree_both_ways",
    "check_points",
    "mean_silhouette",
    "prediction_strength",
    "predictive_power",
    "run_halvings",
    "seed_clusterer",
]

Seed = int | RandomState | Generator | None

Measure = Callable[[list[Any], list[np.ndarray]], float]
"""Of the two halves and the labels of each."""

STABILITY = {
    "clusterer": [HasMethods(["fit_predict", "get_params", "set_params"])],
    "n_repeats": [Interval(Integral, 2, None, closed="left")],
    "n_jobs": [Integral, None],
    "verbose": [Integral, "boolean"],
}


@dataclass(frozen=True, eq=False)
class PredictivePower(ShownAsText):
    """How well the clusters of one half of the data predict those of the other half.

    Attributes
    ----------
    value : float
        Mean of `values`; 1 is best.
    standard_error : float
        Standard error of that mean over the random halvings of these data.
    values : ndarray of shape (n_repeats,)
        Agreement of each halving, the mean of its two directions.
    agreement : str
        What was measured: the name of the agreement.
    """

    value: float
    standard_error: float
    values: np.ndarray = field(repr=False)
    agreement: str

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per repeat."""
        return make_frame({self.agreement: self.values}, range(len(self.values)), "repeat")

    def __str__(self) -> str:
        rows = [
            ("agreement", self.agreement),
            ("mean", write_number(self.value)),
            ("standard error", write_spread(self.standard_error)),
            ("repeats", f"{len(self.values)}"),
        ]
        return align_text("predictive power", rows)


def seed_clusterer(clusterer: Any, rng: Generator) -> Any:
    """Return a clone whose open `random_state` parameters are drawn, nested ones too."""
    copy = clone(clusterer)
    names = [n for n in copy.get_params(deep=True) if n.split("__")[-1] == "random_state"]
    seeds = {name: int(rng.integers(2**31)) for name in sorted(names)}
    return copy.set_params(
        **{name: seed for name, seed in seeds.items() if copy.get_params()[name] is None}
    )


def transfer_labels(X_from: Any, labels: np.ndarray, X_to: Any) -> np.ndarray:
    """Give each sample of `X_to` the label of its nearest neighbour in `X_from`."""
    neighbours = NearestNeighbors(n_neighbors=1).fit(X_from)
    return labels[neighbours.kneighbors(X_to, return_distance=False)[:, 0]]


class Halving(NamedTuple):
    """One random halving: of the data, or of data without structure."""

    clusterer: Any
    n_clusters: int  # how many both halves must hold; 0 for any number
    rng: Generator
    of_reference: bool = False


def run_halving(
    X: Any, reference: Draws | None, measures: Sequence[Measure], job: Halving
) -> list[float]:
    """Return what the measures say of one random halving."""
    if reference is None or not job.of_reference:
        return compare_halves(X, measures, job)
    data = reference(job.rng)
    try:
        return compare_halves(data, measures, job)
    except ValueError as error:
        raise ValueError(
            "reference: the clusterer must take data without structure, too; 'permuted' keeps the "
            f"values of each column. It said: {error}"
        ) from error


def compare_halves(X: Any, measures: Sequence[Measure], job: Halving) -> list[float]:
    """Cluster both halves and measure them; 0 where they do not hold enough clusters."""
    order = job.rng.permutation(X.shape[0])
    halves = [safe_indexing(X, part) for part in np.array_split(order, 2)]
    labels = [
        np.asarray(seed_clusterer(job.clusterer, job.rng).fit_predict(half)) for half in halves
    ]
    if not all(holds(own, job.n_clusters) for own in labels):
        return [0.0] * len(measures)
    return [measure(halves, labels) for measure in measures]


def agree_both_ways(agreement: Agreement, halves: list[Any], labels: list[np.ndarray]) -> float:
    """Transfer the clusters of either half to the other, and average the agreement."""
    forth = agreement(labels[1], transfer_labels(halves[0], labels[0], halves[1]))
    back = agreement(labels[0], transfer_labels(halves[1], labels[1], halves[0]))
    return (float(forth) + float(back)) / 2


def mean_silhouette(halves: list[Any], labels: list[np.ndarray]) -> float:
    """Return the mean silhouette of both halves; that of noise is 0, as is that of one cluster."""
    if any(len(np.unique(own)) < 2 for own in labels):
        return 0.0
    pairs = zip(halves, labels, strict=True)
    return float(np.mean([silhouette_score(X, own, noise="singletons") for X, own in pairs]))


def run_halvings(
    clusterers: dict[int, Any],
    X: Any,
    reference: Draws | None,
    measures: Sequence[Measure],
    n_repeats: int,
    root: SeedSequence,
    options: dict[str, Any],
) -> np.ndarray:
    """Return the (n_measures, 2, n_clusterers, n_repeats) values: of the data and the reference.

    The clusterers go by the number of clusters that halves must hold; all meet the same halves,
    of the data and of the same draws of the reference. Without a reference there is 1 row, not 2.
    """
    roots = {False: root} if reference is None else {False: root, True: root.spawn(1)[0]}
    shape = (len(roots), len(clusterers), n_repeats)
    halve = partial(run_halving, X, reference, measures)
    with open_jobs(halve, total=int(np.prod(shape)), **options) as run:
        values = run(
            Halving(clone(clusterer), k, repetition_rng(own_root, repeat), of_reference)
            for of_reference, own_root in roots.items()
            for k, clusterer in clusterers.items()
            for repeat in range(n_repeats)
        )
    return np.moveaxis(np.reshape(values, (*shape, len(measures))), -1, 0)


def check_points(clusterer: Any, X: Any) -> Any:
    """Return numeric data with enough samples to halve; a data frame stays one."""
    check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    if any(isinstance(v, str) and "precomputed" in v for v in clusterer.get_params().values()):
        raise ValueError(
            "clusterer must take points: parts of them, or others drawn beside them, are clustered "
            f"as well; got one of precomputed distances or affinities, {clusterer!r}."
        )
    checked = check_data("X", X, accept_sparse="csr", ensure_min_samples=4)
    check_magnitude(checked)
    return X if hasattr(X, "iloc") else checked


def name_agreement(agreement: str | Agreement) -> str:
    """Return the name of an agreement given by name or as a function."""
    if isinstance(agreement, str):
        return agreement
    return getattr(agreement, "__name__", type(agreement).__name__)


@validate_params(STABILITY | {"agreement": [StrOptions(set(AGREEMENTS)), callable]})
def predictive_power(
    clusterer: Any,
    X: Any,
    *,
    n_repeats: int = 20,
    agreement: str | Agreement = "adjusted_rand",
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> PredictivePower:
    """Measure how well the clusters of one half of the data predict those of the other.

    The samples are split at random into two halves and each is clustered by itself. Every sample
    of the second half takes the cluster of its nearest neighbour in the first; the agreement of
    these with the second half's own clusters is averaged with that of the other direction, and
    over `n_repeats` splits. 1 is best; 0 is expected by chance with ``"adjusted_rand"``.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict`; it is cloned. It needs no `predict`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_repeats : int, default=20
        Number of random halvings, at least 2.
    agreement : {"adjusted_rand", "matched_accuracy", "prediction_strength"} or callable, \
            default="adjusted_rand"
        The adjusted Rand index; the share of equal labels under the best one-to-one matching of
        clusters (the Hungarian algorithm); that of `prediction_strength`; or a function
        ``(labels, predicted) -> float`` of a half's own and of its transferred labels.
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
    PredictivePower
        The mean, its standard error and the agreement of every halving.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite or of a size whose squares are not, if the
        clusterer takes precomputed distances, or a parameter is out of range.

    See Also
    --------
    prediction_strength : The same with the agreement of the worst cluster.
    choose_n_clusters : The number of clusters that is predicted best.

    Notes
    -----
    One cluster always agrees with itself: values for a single cluster are 1 whatever the data.
    The standard error is that of the mean over random halvings of these data; it says how exact
    `n_repeats` makes the value, not how the value would vary with new data.

    Label -1, the noise of DBSCAN, is no cluster. A sample that is noise on both sides (of its own
    half and by its neighbour) does not count; one that is noise on one side is alone there, and
    has no equal in the matched accuracy. Where no two samples of a half are in one cluster, there
    is no evidence of clusters, and the agreement is 0. A function gets the labels as they are.

    References
    ----------
    .. [1] Lange, T., Roth, V., Braun, M. L. and Buhmann, J. M. (2004). Stability-based validation
       of clustering solutions. Neural Computation 16, 1299-1323.
       https://doi.org/10.1162/089976604773717621

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import predictive_power
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> print(predictive_power(KMeans(3, n_init=2), X, n_repeats=5, random_state=0))
    predictive power
      agreement       adjusted_rand
      mean            1.0000
      standard error  unknown
      repeats         5
    """
    X = check_points(clusterer, X)
    measure = AGREEMENTS[agreement] if isinstance(agreement, str) else agreement
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    root = root_seed(random_state)
    measures = (partial(agree_both_ways, measure),)
    values = run_halvings({0: clusterer}, X, None, measures, n_repeats, root, options)[0, 0, 0]
    error = float(sem(values))
    return PredictivePower(float(values.mean()), error, values, name_agreement(agreement))


@validate_params(STABILITY)
def prediction_strength(
    clusterer: Any,
    X: Any,
    *,
    n_repeats: int = 20,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> PredictivePower:
    """Measure the prediction strength of a clusterer (Tibshirani and Walther).

    Of each cluster of a half, the share of its pairs of samples that the clusters of the other
    half, transferred by nearest neighbours, keep together; of these shares the smallest. It is
    averaged over both directions and over `n_repeats` random halvings. In [0, 1]; larger is
    better, and values above 0.8 to 0.9 are held to show real clusters [1]_.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict`; it is cloned. It needs no `predict`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_repeats : int, default=20
        Number of random halvings, at least 2.
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
    PredictivePower
        The mean, its standard error and the strength of every halving.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite or of a size whose squares are not, if the
        clusterer takes precomputed distances, or a parameter is out of range.

    See Also
    --------
    predictive_power : The same with an agreement of the whole partitions.
    choose_n_clusters : The largest number of clusters of sufficient strength.

    Notes
    -----
    The paper transfers clusters to the nearest centroid, which suits K-means; the nearest
    neighbour serves any clusterer. A cluster of fewer than 3 samples in a half carries no evidence
    and counts 0 (in R's fpc one of a single sample counts 1). Label -1, the noise of DBSCAN, is no
    cluster: samples of noise have no strength of their own, and are kept together with nothing;
    the strength of noise alone is 0. That of a single cluster of all samples is always 1. The
    standard error is that of the mean over random halvings of these data.

    K-means cuts a long cloud in the middle, the same way in both halves, and so does it uniform
    noise: a large strength by itself is no evidence of groups. `choose_n_clusters` compares it with
    that of data without structure.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.
       https://doi.org/10.1198/106186005X59243

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import prediction_strength
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> prediction_strength(KMeans(3, n_init=2), X, n_repeats=5, random_state=0).value
    1.0
    """
    return predictive_power(
        clusterer,
        X,
        n_repeats=n_repeats,
        agreement=PREDICTION_STRENGTH,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
    )
