"""P-value of a whole procedure, by permutation of the labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple, Unpack, get_args, overload

import numpy as np
from numpy.random import SeedSequence
from scipy.stats import beta

from skeval._adapters.runner import Runner, Scores, score_plan, split_by_metric
from skeval._inference import paired
from skeval._inference.estimate import Results, Test
from skeval._inference.intervals import Limits, exact_interval
from skeval._inference.paired import StoppingRule
from skeval._resampling.inputs import FitOptions, Params, validate_inputs
from skeval._resampling.plans import make_permutation_plan
from skeval.metrics._scorers import name_scoring
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike

Orders = Callable[[int], np.ndarray]
"""The order of the labels in each repetition."""


One = str | Callable[..., float] | None
Several = list[str] | tuple[str, ...] | dict[str, Any] | Callable[..., dict[str, float]]


class PermutationOptions(FitOptions, total=False):
    """Options of `permutation_test` other than `scoring`, which sets the type of the result."""

    cv: Any
    n_permutations: int
    exchange: ExchangeName
    permutations: Any
    max_exceedances: int | None
    alpha: float | None


@overload
def permutation_test(
    estimator: Any, X: Any, y: Any, *, scoring: One = None, **options: Unpack[PermutationOptions]
) -> Test: ...
@overload
def permutation_test(
    estimator: Any, X: Any, y: Any, *, scoring: Several, **options: Unpack[PermutationOptions]
) -> Results: ...
@_checks.in_order()
def permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    n_permutations: int = 1000,
    groups: Any = None,
    exchange: ExchangeName = "auto",
    permutations: Any = None,
    max_exceedances: int | None = None,
    alpha: float | None = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Test | Results:
    r"""Test whether a procedure predicts labels better than chance.

    The labels are permuted, which keeps the class proportions (but see `groups`). The *whole*
    procedure, including folds, selection, tuning and classifier, is repeated on each of `P`
    permutations. Let :math:`T` be the score on the observed labels, and :math:`T^*_b` the score on
    permutation `b`. Then

    .. math:: pvalue = \frac{1 + \#\{b : T^*_b \ge T\}}{1 + P} .

    Scores that agree to 1e-12, relative to their scale, are ties. The P-value lies in [1/(P+1), 1]
    and is never 0. If labels and features are independent, ``P(pvalue <= a) <= a`` for every `a`.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it. The test does not account for earlier choices that used `y`.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. None means 10. The folds are drawn again for each
        permutation of the labels, so that they stay stratified. They are not stratified for
        regression or multilabel targets.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``. Larger is better. None means
        the `score` of the estimator. Several scores use the same fits.
    n_permutations : int, default=1000
        Number `P` of permutations. At most ``n_samples - 1`` of them are rotations.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. See `exchange`. The groups are also passed to
        `cv`.
    exchange : str, default="auto"
        Which labels are permuted, which determines the hypothesis that is tested. The result has
        it as `null_hypothesis`. "samples" permutes all labels. "within_groups" permutes labels
        within each group. "whole_groups" moves the labels of a group to another group. If each
        group has a single label, this keeps the number of groups per class (and the number of
        samples per class only if all groups have the same size). Otherwise, only groups of the
        same size are swapped.

        "blocks" and "rotations" are for samples in time order. "blocks" permutes blocks of
        consecutive labels that are as long as the correlation lasts. "rotations" rotates the whole
        series. A series of `n` samples has ``n - 1`` rotations, and each is used at most once, so
        the smallest P-value is ``1 / n``.

        "auto" is "samples" without `groups`. With `groups`, it is "whole_groups" if each group has
        a single label, and "within_groups" otherwise.
    permutations : int array-like of shape (n_permutations, n_samples), default=None
        Permutations to use instead of random ones. Permutation `b` has the labels
        ``y[permutations[b]]``.
    max_exceedances : int, default=None
        Stop as soon as this many permutations have at least the observed score (`h` in [2]_). A
        large P-value then requires few permutations. With several metrics, each stops separately.
    alpha : float, default=None
        Stop as soon as it is clear whether the P-value exceeds this level. A P-value far from 0.05
        then requires 10 to 120 permutations. With several metrics, each stops separately.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples. They stay with the samples when the
        labels are permuted, so they must not be computed from the labels.
        In contrast, ``class_weight="balanced"`` is computed again in every fit.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit. Scores are not weighted.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the interval of the P-value.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. With the same seed, the
        first 100 of 200 permutations equal the permutations of a call with 100.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` uses the mean score of
        the other folds and warns. A permutation without any successful fit counts as an
        exceedance.

    Returns
    -------
    Test or dict of str to Test
        The score is `statistic`, and the P-value is `pvalue`. `pvalue_interval` is its Monte Carlo
        interval. This is the Clopper-Pearson interval, or an interval for the negative binomial
        distribution if the test stopped early. `null_distribution` contains the scores of permuted
        labels, `n_exceedances` is the number of exceedances, and `stopped` is whether a sequential
        test stopped early. If `scoring` has several metrics, the result is a dict with one test for
        each.

    Raises
    ------
    ValueError
        If no labels can be permuted, for example because each group has one label
        ("within_groups"), no two groups have the same size ("whole_groups"), or a series has fewer
        than three independent blocks. If `y` has only one class, lengths differ, rows of
        `permutations` are not permutations, or the score of the observed labels is undefined. If
        the folds test later samples than they train on, as with ``TimeSeriesSplit``, and no
        `permutations` are passed.

    Warns
    -----
    UndefinedMetricWarning
        If the score of a permutation is undefined. It counts as an exceedance.
    UserWarning
        If some groups have one label and others several. Only labels in the latter are permuted,
        so the test is whether the procedure is better than chance within groups.

    See Also
    --------
    make_permutation_scorer : The P-value as a scorer.

    Notes
    -----
    The score is the mean over folds. If a test set has a single sample, or lacks a class, and the
    score is not a mean over samples (such as Matthews' correlation), the score is computed from
    all test sets together.

    ``sklearn.model_selection.permutation_test_score`` gives the same null distribution for the
    same permutations and folds if scores depend only on predicted labels and are means over folds.
    Probability scores may differ by up to 0.01, because some estimators, such as
    ``LogisticRegression``, stop before the optimum, which a fast solver reaches. There are three
    further differences. In scikit-learn, the default seed is fixed, so repeated calls use the same
    permutations. Scores that differ by rounding errors are not ties there. An undefined null score
    counts against the null hypothesis.

    If a test with `max_exceedances` stops at permutation `L`, its P-value is ``h/L``. Otherwise, it
    is the P-value above. Let `c` be the number of permutations up to `L` with at least the observed
    score. With `alpha`, the P-value is the probability under the null hypothesis that
    ``(1+c)/(1+L)`` is at most its observed value [3]_. All three P-values are valid, that is,
    ``P(pvalue <= a) <= a`` for every `a`.

    Some texts print ``c/P`` instead of ``(1+c)/(1+P)``, which is too small [1]_.

    References
    ----------
    .. [1] Phipson, B. and Smyth, G. K. (2010). Permutation P-values should never be zero.
       Statistical Applications in Genetics and Molecular Biology 9, 39.
       https://doi.org/10.2202/1544-6115.1585
    .. [2] Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78,
       301-304. https://doi.org/10.1093/biomet/78.2.301
    .. [3] Fay, M. P., Kim, H.-J. and Hachey, M. (2007). On using truncated sequential probability
       ratio test boundaries for Monte Carlo implementation of hypothesis tests. Journal of
       Computational and Graphical Statistics 16, 946-967.
       https://doi.org/10.1198/106186007X257025

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import NearestCentroid
    >>> from skeval.model_selection import permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> result = permutation_test(
    ...     NearestCentroid(), X[:, :1], y, cv=5, n_permutations=99, random_state=0
    ... )
    >>> result.pvalue
    0.01
    """
    _checks.check_option("exchange", exchange, get_args(ExchangeName))
    if max_exceedances is not None:
        max_exceedances = _checks.check_count("max_exceedances", max_exceedances)
    if alpha is not None:
        if not isinstance(alpha, Real) or not 0 < alpha < 1:
            hint = _checks.suggest_fraction(alpha)
            raise ValueError(f"alpha must satisfy 0 < alpha < 1, got {alpha!r}{hint}.")
        if max_exceedances is not None:
            raise ValueError(
                f"alpha must be None if max_exceedances={max_exceedances!r}, got {alpha!r}."
            )
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"sample_weight": sample_weight, "params": params, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, groups, with_loss=False, several=True, **run)
    root = _checks.root_seed(random_state)
    if permutations is not None:
        orders = check_orders(permutations, len(inputs.target))
        chosen, n_permutations = Exchange(orders.__getitem__, in_time=True), len(orders)
    else:
        n_permutations = _checks.check_count("n_permutations", n_permutations)
        chosen = draw_orders(inputs.target.y, inputs.groups, root, exchange)
        # no permutation is used twice if their number is limited
        n_permutations = min(n_permutations, chosen.n_orders or n_permutations)
    rule = None
    if max_exceedances is not None:
        # stop at a number of exceedances (Besag and Clifford 1991)
        low, high = np.full((2, n_permutations), [[-1], [max_exceedances]])
        rule = StoppingRule(low, high)
    elif alpha is not None:
        rule = paired.stop_when_decided(n_permutations, alpha)
    return compare_with_permutations(
        Runner(inputs), cv, scoring, chosen, n_permutations, root, rule
    )


def compare_with_permutations(
    runner: Runner,
    cv: Any,
    scoring: Any,
    exchange: Exchange,
    n_permutations: int,
    root: SeedSequence,
    rule: StoppingRule | None = None,
) -> Test | Results:
    """Return the test of each metric, or of the only one, from fits to permuted labels.

    With a stopping rule, it ends with the block in which the tests of all metrics have stopped.
    """
    inputs = runner.inputs
    # fits of all permutations
    data, order_of = (cv, inputs.X, inputs.target), exchange.orders
    plan = make_permutation_plan(*data, order_of, n_permutations, root, in_time=exchange.in_time)
    # scores of the observed labels, then of the permutations
    first_block = None if rule is None else 1 + rule.earliest
    scores, stops = list[Scores](), dict[str, int | None]()
    for part in score_plan(runner, plan, scoring, first_block=first_block, several=True, pool=True):
        scores += part
        if rule is not None:
            by_metric = split_by_metric(scores).items()
            stops = {key: rule.stop(paired.exceedances(v[0], v[1:])) for key, v in by_metric}
            if all(stops.values()):
                break
    # the test of each metric
    tests = {}
    for key, values in split_by_metric(scores).items():
        name = key or ("score" if scoring is None else name_scoring(scoring))
        statistic, null = float(values[0]), values[1:]
        if np.isnan(statistic):
            raise ValueError(f"the {name} of the observed labels must be defined, got nan.")
        if np.isnan(null).any():
            _checks.warn_undefined(
                f"the {name} of {np.isnan(null).sum()} of {len(null)} permutations is undefined. "
                "They count as at least as good as the observed labels."
            )
        # P-value of Phipson and Smyth (2010), or of a sequential test that stopped
        stop = stops.get(key)
        exceeding, null = paired.exceedances(statistic, null)[:stop], null[:stop]
        count = int(exceeding.sum())
        pvalue = (1 + count) / (1 + len(null))
        if rule is not None and stop is not None:
            pvalue = rule.pvalue(count, stop)
        tests[key] = Test(
            name=name,
            statistic=statistic,
            pvalue=pvalue,
            method="permutation test",
            null_distribution=null,
            n_resamples=len(null),
            n_exceedances=count,
            stopped=stop is not None,
            exchanged=exchange.units,
            null_hypothesis=exchange.null,
            limits={"exact": partial(_pvalue_limits, exceeding, stop is not None)},
            confidence_level=inputs.confidence_level,
        )
    return tests[""] if "" in tests else Results(tests)


class Exchange(NamedTuple):
    """Permutations of the labels, with the null hypothesis that they test."""

    orders: Orders
    """Returns the order of the labels in each repetition."""
    units: str = ""
    """What is exchanged, if not samples."""
    null: str = ""
    """The null hypothesis in words, if samples are not exchanged."""
    in_time: bool = False
    """Whether the folds may keep the order of the samples."""
    n_orders: int | None = None
    """Number of orders, if each is used at most once."""


def check_orders(permutations: Any, n_samples: int) -> np.ndarray:
    """Return permutations passed by the user, rows of sample indices, as an int array."""
    with _checks.naming("permutations"):
        orders = np.asarray(permutations)
    if orders.ndim != 2 or orders.shape[1] != n_samples or not len(orders):
        raise ValueError(
            f"permutations must have shape (n_permutations, {n_samples}), got {orders.shape}."
        )
    wrong = np.flatnonzero((np.sort(orders, axis=1) != np.arange(n_samples)).any(axis=1))
    if orders.dtype.kind not in "iu" or len(wrong):
        row = wrong[0] if len(wrong) else 0
        raise ValueError(
            f"permutations must contain each index from 0 to {n_samples - 1} once in each row, "
            f"but row {row} does not."
        )
    return orders.astype(np.intp)


def draw_orders(y: np.ndarray, groups: Any, root: SeedSequence, exchange: str = "auto") -> Exchange:
    """Return the order of the labels in repetition `r`, and the null hypothesis."""
    unit = None if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    # what is exchangeable under the null hypothesis
    if exchange == "auto":
        exchange = "samples"
        if unit is not None:  # whole groups if each has a single label
            first = y[np.unique(unit, return_index=True)[1]]
            pure = bool(np.all(first[unit] == y))
            exchange = "whole_groups" if pure else "within_groups"
    if unit is None and exchange.endswith("groups"):
        raise ValueError(f"groups must be passed for exchange={exchange!r}, got None.")
    if exchange == "samples":
        return Exchange(lambda r: _checks.repetition_rng(root, r).permutation(len(y)))
    return EXCHANGES[exchange](y, unit, root)


def _exchange_within(y: np.ndarray, unit: np.ndarray, root: SeedSequence) -> Exchange:
    """Permute labels within groups."""
    members, pure = _list_members(y, unit)
    # a group with a single label stays the same
    if pure.all():
        raise ValueError(
            "exchange='within_groups' changes no label, because each group has a single label. "
            "'whole_groups' permutes the labels of groups."
        )
    if pure.any():
        _checks.warn_user(
            f"{pure.sum()} of {len(members)} groups have a single label and do not contribute to "
            "this test, which permutes labels within groups. To test differences between groups, "
            "remove the groups that have several labels."
        )

    def draw(r: int) -> np.ndarray:
        rng, order = _checks.repetition_rng(root, r), np.empty(len(y), dtype=np.intp)
        for rows in members:
            order[rows] = rng.permutation(rows)
        return order

    return Exchange(draw, "within groups", "within a group, labels and features are independent")


def _exchange_whole(y: np.ndarray, unit: np.ndarray, root: SeedSequence) -> Exchange:
    """Swap the labels of groups, of equal size unless each group has one label."""
    members, pure = _list_members(y, unit)
    sizes = np.array([len(rows) for rows in members])
    first = np.array([rows[0] for rows in members])
    # groups with several labels need a partner of the same size
    if not pure.all() and len(np.unique(sizes)) == len(sizes):
        raise ValueError(
            "exchange='whole_groups' needs two groups of the same size if a group has several "
            f"labels, got groups of {np.sort(sizes).tolist()[:10]} samples. 'within_groups' "
            "permutes the labels within each group."
        )

    def draw(r: int) -> np.ndarray:
        rng, order = _checks.repetition_rng(root, r), np.empty(len(y), dtype=np.intp)
        if pure.all():
            # each group has one label, so groups of all sizes exchange them
            return first[rng.permutation(len(first))][unit]
        # groups of equal size exchange their labels
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            for group, other in zip(alike, rng.permutation(alike), strict=True):
                order[members[group]] = members[other]
        return order

    null = "the labels of a group and the features of a group are independent"
    return Exchange(draw, "whole groups", null)


def _list_members(y: np.ndarray, unit: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the samples of each group, and whether it has a single label."""
    members = [np.flatnonzero(unit == group) for group in range(int(unit.max()) + 1)]
    return members, np.array([bool(np.all(y[rows] == y[rows[0]])) for rows in members])


def _exchange_blocks(y: np.ndarray, unit: Any, root: SeedSequence) -> Exchange:
    """Permute blocks of a series from a random start."""
    n, blocks = len(y), _divide_series(y, "blocks")

    def draw(r: int) -> np.ndarray:
        rng = _checks.repetition_rng(root, r)
        turned = (np.arange(n) + rng.integers(n)) % n
        return np.concatenate([turned[blocks == b] for b in rng.permutation(int(blocks[-1]) + 1)])

    null = "labels and features are independent series, each correlated only within blocks"
    return Exchange(draw, "blocks", null, in_time=True)


def _rotate(y: np.ndarray, unit: Any, root: SeedSequence) -> Exchange:
    """Rotate a series, by each shift once in random order, except 0, which changes nothing."""
    _divide_series(y, "rotations")  # raise for a short series
    n = len(y)
    shifts = 1 + _checks.repetition_rng(root, 0).permutation(n - 1)
    null = "labels and features are independent series, and the labels are stationary"

    def draw(r: int) -> np.ndarray:
        return (np.arange(n) + shifts[r % (n - 1)]) % n

    return Exchange(draw, "rotations", null, in_time=True, n_orders=n - 1)


ExchangeName = Literal["auto", "samples", "within_groups", "whole_groups", "blocks", "rotations"]
EXCHANGES: dict[str, Callable[[np.ndarray, Any, SeedSequence], Exchange]] = {
    "within_groups": _exchange_within,
    "whole_groups": _exchange_whole,
    "blocks": _exchange_blocks,
    "rotations": _rotate,
}
"""Functions of labels, number of the group of each sample, and seed, by `exchange`."""
MAX_KINDS = 20
"""Number of distinct labels above which they are treated as numbers."""


def _divide_series(y: np.ndarray, exchange: str) -> np.ndarray:
    """Return the block of each label. Blocks are as long as the longest memory of the series."""
    series = []
    for column in np.reshape(y, (len(y), -1)).T:
        # a series for each class, or the numbers themselves
        kinds = np.unique(column) if len(np.unique(column)) <= MAX_KINDS else ()
        own = [(column == kind).astype(np.float64) for kind in kinds]
        series += own or [np.asarray(column, dtype=float)]
    blocks = paired.divide_time(max(series, key=paired.autocorrelation))
    if blocks is None:
        raise ValueError(
            f"exchange={exchange!r} needs more samples, because neighboring samples are "
            f"correlated, so that {len(y)} samples contain fewer than three independent blocks."
        )
    return blocks


def _pvalue_limits(exceeding: np.ndarray, stopped: bool, confidence_level: float) -> Limits:
    n_permutations, n_exceedances = len(exceeding), int(exceeding.sum())
    low, high = exact_interval(n_exceedances, n_permutations, confidence_level)
    if stopped and exceeding[-1]:  # one exceedance fewer in the permutations before
        tail, before = (1 - confidence_level) / 2, n_permutations - n_exceedances
        high = float(beta.isf(tail, n_exceedances, before)) if before else 1.0
    return low, high
