"""The number of clusters that the data predict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from scipy.stats import sem

from skeval.cluster._agreements import AGREEMENTS, PREDICTION_STRENGTH, SMALLEST
from skeval.cluster._candidates import check_candidates, resolve_parameter, with_n_clusters
from skeval.cluster._choice import NClustersChoice, NClustersComparison
from skeval.cluster._gap import SQUARED, check_sizes, choose_by_gap, compute_dispersions, read_gap
from skeval.cluster._reference import (
    REFERENCES,
    Draws,
    explain_by_columns,
    resolve_reference,
    shuffle_when_uncorrelated,
)
from skeval.cluster._rules import (
    GAP,
    SILHOUETTE,
    compute_limits,
    describe_rule,
    gap_limits,
    pick_candidate,
    silhouette_limits,
)
from skeval.cluster._stability import (
    STABILITY,
    Measure,
    Seed,
    agree_both_ways,
    check_points,
    mean_silhouette,
    run_halvings,
)
from skeval.utils._checks import check_option
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._seeds import root_seed

__all__ = ["choose_n_clusters"]

MEASURES: dict[str, Measure] = {
    name: partial(agree_both_ways, agreement) for name, agreement in AGREEMENTS.items()
} | {SILHOUETTE: mean_silhouette}
METHODS = (*MEASURES, GAP)


class Trial(NamedTuple):
    """What every method needs to try candidates."""

    X: Any
    clusterer: Any
    parameter: str
    kind: str
    draws: Draws
    n_repeats: int
    threshold: float
    root: SeedSequence
    options: dict[str, Any]


@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(METHODS)), list, tuple],
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
    method: str | Sequence[str] = "prediction_strength",
    threshold: float = 0.8,
    reference: str = "auto",
    n_repeats: int = 20,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice | NClustersComparison:
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

    With ``"silhouette"`` the mean silhouette of the halves, each clustered by itself, must exceed
    the prediction limit of one more draw of the reference, of 95 % for all candidates together; the
    choice is the smallest k within one standard error of the best of these, else 1. ``"gap"`` is
    the gap statistic of all samples by its own rule, see `gap_statistic`. A list sets several
    methods side by side.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1, and at least 2 unless the method is prediction strength or the
        gap, which always takes 1 as well. In a list, methods that cannot take 1 leave it out.
    method : str or list of str, default="prediction_strength"
        "prediction_strength", "adjusted_rand", "matched_accuracy", "silhouette" or "gap"; a list
        sets several side by side, on the same clusterings of the same halves.
    threshold : float, default=0.8
        Smallest strength of real clusters; only prediction strength reads it.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data ("uniform") or in that of the ranges of the features ("box"), or the data
        with every column shuffled by itself ("permuted"), which keeps the values of a column and so
        takes from it no groups that it shows alone. "auto" is "uniform", or "permuted" for sparse
        X.
    n_repeats : int, default=20
        Number of random halvings, at least 2, and of draws of data without structure.
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
    NClustersChoice or NClustersComparison
        The choice, its rule, and the curve of values with standard errors; of several methods their
        choices by name.

    Raises
    ------
    ValueError
        If there is no candidate or one is out of range, if the parameter for the number of
        clusters is not found or not unique, if the clusterer takes precomputed distances, or if
        X has fewer than 4 samples, is not finite or of a size whose squares are not.

    See Also
    --------
    prediction_strength : The measure by default.
    gap_statistic : The gap alone, with its dispersions.
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
    the tests require of prediction strength 1 in at least 95 % of data sets. In 25 Gaussian data
    sets of 50 samples the silhouette chose 1 in 24, the gap in 25. Skewed and heavy-tailed data are
    not uniform either. Of 30 data sets of 80 samples each in the plane (exponential, chi-squared
    with 4 and Student's t with 3 degrees of freedom, log-normal; K-means, k to 5, 10 halvings) all
    methods but the silhouette chose 1 in all; the silhouette chose more in 2 exponential and 3
    log-normal ones. So where k > 1 is chosen against a box and the columns are not correlated, the
    choice is held against columns shuffled by themselves as well, and its `caution` says if it
    fails there; its `edge` says how near the limit it is.

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
    methods = [method] if isinstance(method, str) else _check_methods(method)
    n_clusters = list(n_clusters) if isinstance(n_clusters, Iterable) else n_clusters
    candidates = {name: _candidates_of(name, n_clusters, len(methods)) for name in methods}
    if GAP in methods:
        check_sizes(X, candidates[GAP])
    parameter = resolve_parameter(clusterer, param_name)
    trial = Trial(
        X,
        clusterer,
        parameter,
        *resolve_reference(X, reference),
        n_repeats,
        float(threshold),
        root_seed(random_state),
        {"n_jobs": n_jobs, "verbose": verbose, "memory": memory},
    )
    choices = _choose_all(trial, candidates)
    choices = _explain_choices(trial, choices)
    if isinstance(method, str):
        return choices[method]
    return NClustersComparison({name: choices[name] for name in methods})


def _check_methods(methods: Sequence[str]) -> list[str]:
    """Return the names of distinct methods, or raise."""
    if not methods:
        raise ValueError("method must hold at least one name, got none.")
    return list(dict.fromkeys(check_option("method", name, METHODS) for name in methods))


def _choose_all(trial: Trial, candidates: dict[str, np.ndarray]) -> dict[str, NClustersChoice]:
    """Return the choice of each method among its own candidates."""
    choices = _choose_by_halves(trial, {k: v for k, v in candidates.items() if k != GAP})
    if GAP in candidates:
        choices[GAP] = _choose_by_gap(trial, candidates[GAP])
    return choices


def _explain_choices(
    trial: Trial, choices: dict[str, NClustersChoice]
) -> dict[str, NClustersChoice]:
    """Add a caution to choices that columns shuffled by themselves do not allow."""
    chosen = {name: found.n_clusters for name, found in choices.items() if found.n_clusters > 1}
    shuffle = shuffle_when_uncorrelated(trial.X, trial.kind) if chosen else None
    if shuffle is None:
        return choices
    candidates = {
        name: np.arange(1, k + 1) if name == GAP else np.array([k]) for name, k in chosen.items()
    }
    again = _choose_all(trial._replace(kind="permuted", draws=shuffle), candidates)
    cautions = {
        name: explain_by_columns(trial.X, f"k = {k} as well")
        for name, k in chosen.items()
        if again[name].n_clusters == 1
    }
    return choices | {name: replace(choices[name], caution=text) for name, text in cautions.items()}


def _candidates_of(method: str, n_clusters: Iterable[int], n_methods: int) -> np.ndarray:
    """Return the candidates of a method; beside others, a method leaves out what it cannot take."""
    takes_one = method in (PREDICTION_STRENGTH, GAP)
    if not takes_one and n_methods > 1:
        n_clusters = [k for k in check_candidates(n_clusters, 1, method).tolist() if k > 1]
    candidates = check_candidates(n_clusters, 1 if takes_one else 2, method)
    return np.union1d(candidates, 1) if method == GAP else candidates


def _choose_by_halves(
    trial: Trial, candidates: dict[str, np.ndarray]
) -> dict[str, NClustersChoice]:
    """Return the choice of each method that measures halves; all see the same halves."""
    if not candidates:
        return {}
    union = np.unique(np.concatenate(list(candidates.values())))
    possible = union * SMALLEST <= trial.X.shape[0] // 2
    clusterers = with_n_clusters(trial.clusterer, trial.parameter, union[possible])
    measures = tuple(MEASURES[method] for method in candidates)
    table = np.zeros((len(measures), 2, len(union), trial.n_repeats))
    table[:, :, possible] = run_halvings(
        clusterers, trial.X, trial.draws, measures, trial.n_repeats, trial.root, trial.options
    )
    return {
        method: _read_choice(trial, method, own, values[:, np.isin(union, own)])
        for (method, own), values in zip(candidates.items(), table, strict=True)
    }


def _read_choice(
    trial: Trial, method: str, candidates: np.ndarray, both: np.ndarray
) -> NClustersChoice:
    """Return the choice that the (2, K, n_repeats) values of data and reference make."""
    (values, base), (errors, base_errors) = both.mean(axis=-1), sem(both, axis=-1)
    if method == SILHOUETTE:
        limits = silhouette_limits(values, errors, both[1])
    else:
        limits = compute_limits(values, errors, base, method, trial.threshold)
    return NClustersChoice(
        n_clusters=pick_candidate(candidates, values, limits, base, method),
        candidates=candidates,
        values=values,
        standard_errors=errors,
        replicates=both[0],
        reference_values=base,
        reference_standard_errors=base_errors,
        reference_replicates=both[1],
        limits=limits,
        method=method,
        reference=trial.kind,
        threshold=trial.threshold,
        rule=describe_rule(method, trial.threshold),
    )


def _choose_by_gap(trial: Trial, candidates: np.ndarray) -> NClustersChoice:
    """Return the choice of the gap statistic, whose reference has a gap of 0."""
    clusterers = with_n_clusters(trial.clusterer, trial.parameter, candidates)
    root = SeedSequence(trial.root.entropy, spawn_key=trial.root.spawn_key)  # without children
    logs, reference_logs = compute_dispersions(
        trial.X, clusterers, trial.draws, SQUARED, trial.n_repeats, root, trial.options
    )
    gap, errors = read_gap(logs, reference_logs)
    limits, base = gap_limits(gap, errors), np.zeros(len(candidates))
    return NClustersChoice(
        n_clusters=choose_by_gap(candidates, gap, limits),
        candidates=candidates,
        values=gap,
        standard_errors=errors,
        replicates=reference_logs - logs[:, None],
        reference_values=base,
        reference_standard_errors=sem(reference_logs, axis=1),
        reference_replicates=reference_logs - reference_logs.mean(axis=1, keepdims=True),
        limits=limits,
        method=GAP,
        reference=trial.kind,
        threshold=trial.threshold,
        rule=describe_rule(GAP, trial.threshold),
    )
