r"""Learning curves with confidence intervals, and their extrapolation to more training samples.

The training part of every fold is thinned: whole units (samples, or groups) are ordered, and the
first ones train. The training parts are therefore nested, and the test samples stay the same. The
error at each size is that of a repeated cross-validation, with the same interval.

The errors at all sizes are computed from the same test samples and are correlated. Their covariance
has two parts: the covariance of the influences of the units, inflated like the variance of a single
error, and the covariance between repeats. Curves are drawn around the measured curve with this
covariance. The power law :math:`e(m) = a + b m^{-c}` is fitted to the measured curve and to each
drawn curve; the variation between the fits shows how precise the law is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import combinations
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from skeval._adapters.runner import Runner, score_each
from skeval._inference.errors import mean_loss
from skeval._inference.estimate import Band, Curve, ErrorExtra, Estimate
from skeval._inference.intervals import Limits, bounds_of, normal_interval, percentile_limits
from skeval._resampling.inputs import LossLike, Params, validate_inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, draws_anew
from skeval._resampling.sampling_units import SamplingUnits, units_of
from skeval.metrics._scorers import range_of
from skeval.model_selection._interval_methods import (
    AUTO,
    RepeatedFolds,
    collect_repeats,
    count_in_time,
    plan_repeats,
    read_positive_weight,
)
from skeval.utils._checks import (
    ErrorScore,
    RandomStateLike,
    check_data,
    check_single_score,
    child_seed,
    repetition_rng,
    root_seed,
)
from skeval.utils._text import mean_loss_name, name_scoring, write_ends, write_number

Floats = NDArray[np.float64]

N_REPEATS, N_SIZES, MIN_SHARE = 5, 6, 0.15
MIN_SAMPLES, MIN_UNITS = 20, 5
EXPONENTS = np.geomspace(0.2, 2.0, 16)
"""Candidate exponents of the power law."""
N_DRAWS, MIN_SIZES = 1000, 4
QUANTILES = np.linspace(0.05, 3.05, 16)
"""Normal quantiles at which intervals are evaluated."""
LITTLE = 0.1
"""Gains below this fraction of the distance to the best value are called little."""
MIN_FIT = 0.01
"""P-value of the goodness of fit below which a law is rejected."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PowerLaw:
    r"""Power law of a learning curve, for larger training sets.

    The law is :math:`a + b (m / m_0)^{-c}`, where `m`
    is the number of training samples and :math:`m_0` the largest one measured. The attributes of
    the law are None if no power law fits.

    Attributes
    ----------
    n_samples : int
        Number of samples, `n`.
    n_groups : int or None
        Number of groups; None for independent samples.
    a, b, c : float or None
        Coefficients of the law: limit, height and exponent.
    at_all, at_twice : Estimate or None
        Error, or score, predicted with `n` and `2 n` samples.
    gain : Estimate or None
        Improvement from `n` to `2 n` samples.
    """

    n_samples: int
    n_groups: int | None = None
    a: float | None = None
    b: float | None = None
    c: float | None = None
    at_all: Estimate | None = field(default=None, repr=False)
    at_twice: Estimate | None = field(default=None, repr=False)
    gain: Estimate | None = field(default=None, repr=False)


def learning_curve_band(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    train_sizes: Any = None,
    cv: Any = None,
    n_repeats: int | None = None,
    groups: Any = None,
    loss: LossLike = None,
    scoring: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Curve:
    r"""Estimate the error by number of training samples, and the gain from more samples.

    The error at each size is that of a repeated cross-validation whose training parts are thinned:
    the test samples stay the same, and smaller training parts lie within larger ones. The power law

    .. math:: e(m) = a + b \, (m / m_0)^{-c}

    is fitted to the errors, where `m` is the number of training samples and :math:`m_0` the largest
    measured one, with :math:`b \ge 0`, `c` from .2 to 2, and `a` at least the smallest loss. It is
    extrapolated to twice the number of samples, which predicts the gain.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns are several labels or numbers of each sample.
    train_sizes : array-like of shape (n_sizes,), default=None
        Shares of the training parts (floats up to 1), or numbers of training samples (integers);
        groups are kept whole. None means six geometrically spaced sizes, from 15 % (at least 20
        samples, at most half) to all.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. None means 10. A number of folds, or a splitter with ``shuffle=True``,
        draws new folds for each repeat. If all folds test samples after their training samples, as
        ``TimeSeriesSplit`` does, the most recent samples train; otherwise training samples are
        drawn at random, stratified by class.
    n_repeats : int, default=None
        Number of repeats if folds are drawn; None means 5.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. Training sets are reduced
        by whole groups.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier" for the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. It replaces the loss, and its
        values are averaged over the folds.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the intervals and of the simultaneous band of the
        fitted curve.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit raises: raise the error, or skip the fit, count it and warn.

    Returns
    -------
    Curve
        `x` has the mean numbers of training samples and `y` the errors, with intervals; the last
        entries are the predictions of the law for all `n` samples and for `2 n`, marked in
        ``columns["extrapolated"]``. ``columns["law"]`` is the fitted law and `band` its
        simultaneous confidence band. In `extra`, `at_all` and `at_twice` are the two predictions,
        `gain` is their difference, and `a`, `b` and `c` are the coefficients. `answer` is the
        conclusion as a sentence. If no power law fits, it contains the reason, and only the
        measured errors are returned.

    Raises
    ------
    ValueError
        If `train_sizes` do not make training sets of different sizes, a training set has one class
        only, or both `loss` and `scoring` are given.
    TypeError
        If `sample_weight` is given and the estimator does not support it.

    See Also
    --------
    error_interval : The error for all samples, from more repeats.
    holdout_size : Number of test samples required.
    sklearn.model_selection.learning_curve : The scores alone.

    Notes
    -----
    Intervals at the measured sizes are those of `error_interval`; a score has the interval of
    Nadeau and Bengio [2]_ over the folds. Errors at all sizes are computed from the same test
    samples and are correlated. Therefore 1,000 curves are drawn whose quantiles at each size are
    the intervals, and whose errors are as correlated as the influences of the samples (or groups,
    or blocks of time) on the errors. The law is fitted to each curve; the quantiles of its
    predictions are the intervals of the gain and of the error at `2 n`. A law is rejected if fewer
    than 1 % of the curves drawn around it have an equally large misfit, or if the error rises
    between two sizes for most samples (one-sided sign test, 1 % for all pairs of sizes), as it does
    below the interpolation peak of least squares. The law is that of Cortes et al. [1]_; whether it
    continues beyond the available samples is unknown. Mukherjee et al. [3]_ extrapolate in the same
    way.

    :doc:`/validation` has the measured coverage. It is not guaranteed if a curve bends beyond the
    measured sizes.

    Training parts are stratified, and each has at least one member of every class; on data without
    signal the error at the smallest size is therefore somewhat too low.

    References
    ----------
    .. [1] Cortes, C., Jackel, L. D., Solla, S. A., Vapnik, V. and Denker, J. S. (1994). Learning
       curves: asymptotic values and rate of convergence. Advances in Neural Information Processing
       Systems 6, 327-334.
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366
    .. [3] Mukherjee, S., Tamayo, P., Rogers, S., Rifkin, R., Engle, A., Campbell, C., Golub, T. R.
       and Mesirov, J. P. (2003). Estimating dataset size requirements for classifying DNA
       microarray data. Journal of Computational Biology 10, 119-142.
       https://doi.org/10.1089/106652703321825928

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from skeval.model_selection import learning_curve_band
    >>> X, y = load_diabetes(return_X_y=True)
    >>> curve = learning_curve_band(Ridge(alpha=0.01), X[:150], y[:150], random_state=0)
    >>> print(curve)  # doctest: +ELLIPSIS
    learning curve
      More samples would help: with 300, twice as many, the mean squared error would improve
      by 106.7 [1.6462, 358.4] to 2933 [2120, 4001], if the trend up to 135, the largest size
      measured, continues.
    samples 150
    ...
    """
    if loss is not None and scoring is not None:
        raise ValueError(f"loss must be None if scoring is given, got {loss!r}, {scoring!r}.")
    check_single_score(scoring)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"loss": loss, "with_loss": scoring is None, "confidence_level": confidence_level}
    run |= {"method": AUTO, "several": True}
    inputs = validate_inputs(estimator, X, y, groups, params=params, **run)
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    root = root_seed(random_state)
    if n_repeats is None and (cv is None or isinstance(cv, Integral) or draws_anew(cv)):
        n_repeats = N_REPEATS
    # folds, thinned to each size, and the error or score at each size
    folds = plan_repeats(inputs, child_seed(root, 0), cv=cv, n_repeats=n_repeats)
    thinned = Thinned(folds, units_of(inputs.target, inputs.groups), root, train_sizes)
    measure = measure_losses if scoring is None else partial(measure_scores, scoring=scoring)
    return draw_curve(measure(thinned), thinned, confidence_level, root)


class Thinned:
    """Repeated folds with thinned training sets.

    Attributes
    ----------
    folds : RepeatedFolds
    sizes : ndarray of shape (n_sizes,)
        Mean number of training samples.
    in_order : bool
        Whether all folds test samples after their training samples; the most recent ones train.
    """

    def __init__(
        self, folds: RepeatedFolds, cases: SamplingUnits, root: SeedSequence, train_sizes: Any
    ) -> None:
        self.folds, self.cases, self.root = folds, cases, child_seed(root, 1)
        self.inputs, plan = folds.inputs, folds.plan
        # training and test samples of all folds
        blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
        splits = [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]
        self.in_order = len(splits) > 1 and all(train[-1] < test[0] for train, test in splits)
        # sizes as shares of the training units
        self.n_units = np.array([len(np.unique(cases.unit[train])) for train, _ in splits])
        self.shares = read_sizes(train_sizes, [len(train) for train, _ in splits], self.n_units)
        self.n_sizes = len(self.shares)
        # mean numbers of training samples, which must increase
        counts = [
            [np.count_nonzero(self.draw(fit, share).train) for share in self.shares]
            for fit in range(plan.n_fits)
        ]
        self.sizes = np.mean(counts, axis=0)
        if not np.all(np.diff(self.sizes) > 0):
            raise ValueError(
                "train_sizes must make training sets of different sizes, got "
                f"{self.sizes.tolist()} samples on average."
            )
        self.ratio = float(np.mean([len(test) / len(train) for train, test in splits]))

    @lru_cache(1)  # noqa: B019
    def order(self, fit: int) -> NDArray[np.intp]:
        """Return the training units of a fit in the order of their entry.

        The order is random and stratified, and starts with one unit of each class; for folds in
        time order the most recent units come first.
        """
        rows = np.flatnonzero(self.folds.plan.draw(fit).train[0])
        unit = self.cases.unit[rows]
        if self.in_order:
            recent, first = np.unique(unit[::-1], return_index=True)
            return recent[np.argsort(first)]
        # one unit of each class comes first
        order = self.cases.spread(np.unique(unit), repetition_rng(self.root, fit))
        firsts = np.sort(np.unique(self.cases.stratum[order], return_index=True)[1])
        return np.concatenate([order[firsts], np.delete(order, firsts)])

    def draw(self, fit: int, share: float) -> PlanBlock:
        """Return a fold with a share of its training units."""
        block, order = self.folds.plan.draw(fit), self.order(fit)
        kept = self.cases.mask(order[: max(1, round(share * len(order)))])
        return replace(block, train=block.train * kept)

    @cached_property
    def plan(self) -> ResamplingPlan:
        """All fits, ordered by fold and size."""
        of_folds = self.folds.plan

        def draw(number: int) -> PlanBlock:
            fit, at = divmod(number, self.n_sizes)
            return self.draw(fit, self.shares[at])

        n_fits = of_folds.n_fits * self.n_sizes
        return ResamplingPlan(of_folds.n_samples, n_fits, draw, single_fits=True)


def read_sizes(
    train_sizes: Any, n_samples: Sequence[int], n_units: NDArray[np.intp]
) -> list[float]:
    """Return training sizes as increasing shares of the training parts."""
    # default: geometrically spaced sizes
    smallest, units = min(n_samples), int(n_units.min())
    if train_sizes is None:
        least = max(MIN_SAMPLES / smallest, MIN_UNITS / units)
        least = float(np.clip(least, MIN_SHARE, 0.5))
        return np.geomspace(least, 1, min(N_SIZES, max(2, units // 2))).tolist()
    sizes = check_data("train_sizes", train_sizes, dtype=None, ensure_2d=False)
    whole = sizes.dtype.kind in "iu"
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or len(np.unique(sizes)) < len(sizes):
        raise ValueError(
            f"train_sizes must be different numbers, shares or counts, got {sizes.tolist()}."
        )
    if sizes.min() <= 0 or sizes.max() > (smallest if whole else 1):
        most = f"integers from 1 to {smallest}" if whole else "shares above 0 and at most 1"
        raise ValueError(f"train_sizes must be {most} of training samples, got {sizes.tolist()}.")
    shares = np.sort(sizes) / (smallest if whole else 1)
    return shares.tolist()


class Measured(NamedTuple):
    """The errors at all sizes.

    Attributes
    ----------
    name : str
    sign : int
        -1 if larger values are better; the law is then fitted to the negated values.
    values : sequence of Estimate
    covariance : ndarray of shape (n_sizes, n_sizes)
    df : float
    bounds : tuple of float
        The smallest and the largest value.
    rise : tuple of int or None
        Positions of two sizes between which the loss of most samples rises; None if there are none.
    """

    name: str
    sign: int
    values: Sequence[Estimate]
    covariance: Floats
    degrees_of_freedom: float
    bounds: Limits
    rise: tuple[int, int] | None = None


def measure_losses(thinned: Thinned) -> Measured:
    """Return the mean loss at each size, with the covariance of the means."""
    # fits of each size; one of them must succeed
    outputs = list(Runner(thinned.inputs).each(thinned.plan))
    by_size = [outputs[at :: thinned.n_sizes] for at in range(thinned.n_sizes)]
    for size, of_size in zip(thinned.sizes, by_size, strict=True):
        if of_size.count(None) == len(of_size):
            raise ValueError(f"train_sizes must be large enough: all fits on {size:g} fail.")
    # use the units of the largest size
    folds = count_in_time(thinned.folds, by_size[-1])
    inputs, units = folds.inputs, folds.inputs.units
    values, factors, of_units, of_repeats, by_unit = [], [], [], [], []
    for of_size in by_size:
        estimate, predictions = collect_repeats(folds, of_size)
        values.append(estimate)
        factors.append(predictions.inflation)

        # influence of each unit, and of each repeat, on the mean loss
        tested = inputs.count(predictions.row, predictions.loss)
        weight = np.ones(len(tested.losses)) if tested.weight is None else tested.weight
        moved = weight * (tested.losses - mean_loss(tested)) / weight.sum()
        unit = units.unit[predictions.row]
        of_units.append(np.bincount(unit, moved, units.n_units))
        of_repeats.append(np.bincount(predictions.repeat, moved, folds.plan.n_repeats))
        with np.errstate(invalid="ignore"):  # units that were never tested
            sums, tests = (np.bincount(unit, of, units.n_units) for of in (tested.losses, None))
            by_unit.append(sums / tests)
    # covariance of the units, inflated, and of the repeats
    scale = np.sqrt(np.outer(factors, factors))
    covariance = scale * spread_of(np.array(of_units)) + spread_of(np.array(of_repeats))
    df = values[-1].extra.degrees_of_freedom
    name = mean_loss_name(inputs.loss.name)
    bounds = bounds_of(inputs.loss.name, inputs.target.n_classes)
    rise = find_rise(np.array([estimate.value for estimate in values]), np.array(by_unit))
    return Measured(name, 1, values, covariance, np.inf if df is None else df, bounds, rise)


def find_rise(errors: Floats, by_unit: Floats) -> tuple[int, int] | None:
    """Return the two sizes between which the error rises most, if it rises for most units.

    `errors` are the mean losses at each size; `by_unit`, shape (n_sizes, n_units), has the mean
    loss of each unit. The one-sided sign test over units, corrected for the number of pairs of
    sizes, does not use the variance of the losses, which is huge near an error peak.
    """
    # sign test of each pair of sizes
    pairs = list(combinations(range(len(errors)), 2))
    rises = []
    for first, second in pairs:
        more, less = (
            np.count_nonzero(sign * (by_unit[second] - by_unit[first]) > 0) for sign in (1, -1)
        )
        pvalue = binom.sf(more - 1, more + less, 0.5)
        if errors[second] > errors[first] and pvalue < MIN_FIT / len(pairs):
            rises.append((errors[second] - errors[first], (first, second)))
    return max(rises)[1] if rises else None


def spread_of(influence: Floats) -> Floats:
    """Return the covariance of sums of influences, shape (n_sizes, n_terms); 0 for one term."""
    n = int(np.count_nonzero(np.any(influence != 0, axis=0)))
    return influence @ influence.T * (n / max(1, n - 1))


def measure_scores(thinned: Thinned, scoring: Any) -> Measured:
    """Return the mean score at each size, with the covariance of Nadeau and Bengio (2003)."""
    inputs = thinned.inputs
    fold_scores = score_each(Runner(inputs), thinned.plan, scoring)
    scores = np.array(fold_scores, dtype=float).reshape(-1, thinned.n_sizes)
    # folds with a score at every size
    kept = scores[np.isfinite(scores).all(axis=1)]
    n = len(kept)
    if n < 2:
        raise ValueError(
            f"scoring must give numbers at every size in at least two folds, got {n} such folds."
        )
    # variance of overlapping training sets
    covariance = (1 / n + thinned.ratio) * np.cov(kept, rowvar=False)
    classes = inputs.target.classes
    label = name_scoring(scoring)
    bounds = range_of(scoring, None if classes is None else len(classes))
    values = [
        Estimate(
            name=label,
            value=float(mean),
            standard_error=float(error),
            method="corrected_t",
            limits={"t": partial(normal_interval, mean, error, degrees_of_freedom=n - 1)},
            n_samples=len(inputs.target),
            extra=ErrorExtra(n_failed=len(scores) - n),
            confidence_level=inputs.confidence_level,
            bounds=bounds,
        )
        for mean, error in zip(kept.mean(axis=0), np.sqrt(np.diag(covariance)), strict=True)
    ]
    return Measured(label, -1, values, covariance, n - 1.0, bounds)


class Law(NamedTuple):
    r"""Power laws :math:`a + b (m / m_0)^{-c}`, where `m_0` is the largest size.

    Attributes
    ----------
    a, b, c : ndarray of shape (n_laws,)
    misfit : ndarray of shape (n_laws,)
        Weighted sum of squared residuals.
    """

    a: Floats
    b: Floats
    c: Floats
    misfit: Floats

    def at(self, ratio: Any) -> Floats:
        """Return the values at sizes relative to `m_0`, shape (n_laws, n_sizes)."""
        return self.a[:, None] + self.b[:, None] * np.asarray(ratio) ** -self.c[:, None]


def fit_law(ratio: Floats, values: Floats, weight: Floats, least: float) -> Law:
    """Return the least-squares law for each row of values, shape (n_laws, n_sizes).

    The constraints are ``a >= least`` and ``b >= 0``; for each exponent both have a closed form.
    """
    weight = weight / weight.sum()
    best = np.full((4, len(values)), np.inf)
    for c in EXPONENTS:  # grid search; a and b by weighted linear regression on z
        z = ratio**-c
        mean, height = weight @ z, values @ weight
        b = (values - height[:, None]) @ (weight * (z - mean)) / (weight @ (z - mean) ** 2)
        a = height - b * mean
        flat, bound = b < 0, a < least
        # active constraints: refit the other coefficient
        b[bound] = np.maximum(0, (values[bound] - least) @ (weight * z) / (weight @ z**2))
        a[bound] = least
        a[flat], b[flat] = np.maximum(least, height[flat]), 0.0
        misfit = (values - a[:, None] - b[:, None] * z) ** 2 @ weight
        better = misfit < best[-1]
        best[:, better] = np.array([a, b, np.full(len(a), c), misfit])[:, better]
    return Law._make(best)


def draw_deviations(measured: Measured, rng: np.random.Generator) -> Floats:
    """Return deviations from the measured curve, shape (N_DRAWS, n_sizes).

    A Gaussian copula with the correlations of the errors: each deviation is the distance of a limit
    of the interval from the value, at a random confidence level. The quantiles of the draws are
    therefore the intervals at each size.
    """
    # correlated normal values
    spread = np.sqrt(np.diag(measured.covariance))
    spread[spread == 0] = np.inf  # constant losses are uncorrelated with all others
    correlation = measured.covariance / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(values.clip(0)) @ vectors.T
    normal = rng.standard_normal((N_DRAWS, len(spread))) @ root
    # limits of the interval at the level of each normal quantile
    levels = 2 * ndtr(QUANTILES) - 1
    deviations = np.empty_like(normal)
    for at, estimate in enumerate(measured.values):
        ends = [estimate.confidence_interval(level) for level in levels.tolist()]
        limits = np.array([*(end.low for end in ends[::-1]), *(end.high for end in ends)])
        finite = limits[np.isfinite(limits)]  # with few units, high levels have infinite limits
        limits = np.clip(limits, finite.min(), finite.max())
        places = np.concatenate([-QUANTILES[::-1], QUANTILES])
        deviations[:, at] = np.interp(normal[:, at], places, limits) - estimate.value
    return measured.sign * deviations


def extrapolate(
    measured: Measured, sizes: Floats, rng: np.random.Generator
) -> tuple[tuple[Law, Law] | None, str]:
    """Return the law of a measured curve, and laws of curves drawn around it.

    They are None if the law is rejected, with the reason.
    """
    # reasons against a power law
    if measured.rise is not None:
        first, second = measured.rise
        return None, (
            f"the error rises from {write_number(measured.values[first].value)} with "
            f"{sizes[first]:g} training samples to {write_number(measured.values[second].value)} "
            f"with {sizes[second]:g}, so the curve does not follow a power law"
        )
    if len(sizes) < MIN_SIZES:
        return None, f"a power law requires {MIN_SIZES} sizes, and there are {len(sizes)}"
    values = measured.sign * np.array([estimate.value for estimate in measured.values])
    widths = np.array(
        [estimate.interval.high - estimate.interval.low for estimate in measured.values]
    )
    if not np.all(np.isfinite(values) & np.isfinite(widths) & (widths > 0)):
        return None, "the error has no interval at one of the sizes"
    # the law of the measured errors, weighted by their precision
    ratio, least = sizes / sizes[-1], min(b * measured.sign for b in measured.bounds)
    weight = widths**-2.0
    law = fit_law(ratio, values[None], weight, least)
    off = draw_deviations(measured, rng)
    alike = fit_law(ratio, law.at(ratio) + off, weight, least)
    # parametric bootstrap of the goodness of fit
    pvalue = (1 + np.sum(alike.misfit >= law.misfit)) / (1 + N_DRAWS)
    if pvalue < MIN_FIT:
        return None, "the measured errors do not follow a power law"
    return (law, fit_law(ratio, values + off, weight, least)), ""


def draw_curve(measured: Measured, thinned: Thinned, level: float, root: SeedSequence) -> Curve:
    """Return the measured curve with its power law, up to twice the samples."""
    n, sign, sizes = len(thinned.inputs.target), measured.sign, thinned.sizes
    # measured errors with their intervals
    intervals = [estimate.interval for estimate in measured.values]
    rows = [(e.value, i.low, i.high) for e, i in zip(measured.values, intervals, strict=True)]
    laws, why = extrapolate(measured, thinned.sizes, repetition_rng(child_seed(root, 2), 0))
    x, columns = thinned.sizes, dict[str, Any]()
    band: Band | None = None
    predicted: dict[str, Any] = {}
    if laws is not None:
        fitted, drawn = laws
        x = np.append(x, [n, 2 * n] if n > x[-1] else [2 * n])
        ratio = x / thinned.sizes[-1]
        # the power law at sizes up to twice the number of samples
        law, draws = sign * fitted.at(ratio)[0], sign * drawn.at(ratio)
        # simultaneous band of the drawn laws, in units of their standard deviations
        spread = draws.std(axis=0, ddof=1)
        off = np.abs(draws - law) / np.where(spread > 0, spread, np.inf)
        half = np.quantile(off.max(axis=1), level) * spread
        band = Band(np.clip(law - half, *measured.bounds), np.clip(law + half, *measured.bounds))
        # predictions for all samples, and the gain from twice as many
        of_n = int(np.argmax(x >= n))
        predicted = {
            "at_all": predict(measured.name, law[of_n], draws[:, of_n], level),
            "at_twice": predict(measured.name, law[-1], draws[:, -1], level),
            "gain": predict(
                f"gain of twice the samples, {measured.name}",
                sign * (law[of_n] - law[-1]),
                sign * (draws[:, of_n] - draws[:, -1]),
                level,
            ),
        }
        rows += [
            (e.value, e.interval.low, e.interval.high)
            for e in list(predicted.values())[2 - (len(x) - len(rows)) : 2]
        ]
        columns = {"law": law, "extrapolated": x > thinned.sizes[-1]}
        a, b, c = (float(values[0]) for values in fitted[:3])
        predicted |= {"a": sign * a, "b": sign * b, "c": c}
    # the curve, with its conclusion
    best = sign * min(bound * sign for bound in measured.bounds)
    y, low, high = np.array(rows).T
    return Curve(
        name="learning curve",
        axes=("training_samples", measured.name.replace(" ", "_")),
        x=x,
        y=y,
        low=low,
        high=high,
        band=band,
        confidence_level=level,
        method=measured.values[-1].method,
        columns=columns,
        answer=write_answer(predicted, n, why, best, sizes[-1]),
        extra=PowerLaw(n_samples=n, n_groups=thinned.inputs.units.n_groups, **predicted),
    )


def limits_around(value: float, draws: Floats, confidence_level: float) -> Limits:
    """Return the quantiles of draws, widened to include the value.

    Near the smallest possible loss, all draws may lie above the value.
    """
    low, high = percentile_limits(draws, confidence_level)
    return min(low, value), max(high, value)


def predict(name: str, value: float, draws: Floats, level: float) -> Estimate:
    """Return the prediction of a law, with the quantiles of the drawn laws as interval."""
    return Estimate(
        name=name,
        value=float(value),
        standard_error=float(np.std(draws, ddof=1)),
        method="power_law",
        limits={"power_law": partial(limits_around, float(value), draws)},
        replicates=draws,
        confidence_level=level,
        allow_point=True,
    )


def write_answer(
    predicted: Mapping[str, Estimate], n: int, why: str, best: float, largest: float
) -> str:
    """Return the conclusion on more samples as a sentence.

    `best` is the best possible value and `largest` the largest measured size. A gain is called
    little relative to the distance to `best`, not to its standard error, so that the wording does
    not depend on the precision.
    """
    if why:
        return f"The effect of more samples is unknown: {why}."
    # the gain is compared with the distance to the best value
    after, before, gain = (predicted[name] for name in ("at_twice", "at_all", "gain"))
    verdict = "More samples may help, or not"
    if gain.interval.high < LITTLE * abs(before.value - best) < np.inf:
        verdict = f"More samples would bring little, less than a tenth of the way to {best:g}"
    elif gain.interval.low > 0:
        verdict = "More samples would help"
    gained = f"{write_number(gain.value)} {write_ends(gain.interval.low, gain.interval.high)}"
    return (
        f"{verdict}: with {2 * n}, twice as many, the {after.name} would improve by {gained} to "
        f"{write_number(after.value)} {write_ends(after.interval.low, after.interval.high)}, if "
        f"the trend up to {largest:.0f}, the largest size measured, continues."
    )
