r"""How the error falls with the number of training samples, and whether more would help.

The training part of every fold is thinned: whole units (samples, or groups) are put in an order,
and the first of them train. So the parts are nested, and what is tested stays the same. The answers
at each size are those of a repeated cross-validation, and so is their interval.

The errors at all sizes are of the same tested samples and vary together. Their covariance is that
of the influences of the units on the errors, inflated as the variance of one error is, and that
between repeats. Curves drawn with this covariance around the measured one are fitted by the law
:math:`e(m) = a + b m^{-c}` as that is, and tell what the law at hand is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import combinations
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from skeval._inference.errors import mean_loss
from skeval._inference.estimate import Band, Curve, Estimate, Limits
from skeval._inference.intervals import bounds_of, normal_interval
from skeval._inference.paired import percentile_limits
from skeval._resampling.fit_loop import fit_each, score_each
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import Params
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.losses import LossLike
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import SamplingUnits, units_of
from skeval._resampling.splitters import draws_anew
from skeval.metrics._scorers import range_of
from skeval.model_selection._error_interval import read_positive_weight
from skeval.model_selection._interval_methods import (
    AUTO,
    RepeatedFolds,
    average_repeats,
    count_in_time,
    find_inflation,
    plan_repeats,
)
from skeval.utils._checks import RandomStateLike, check_data, child_seed, repetition_rng, root_seed
from skeval.utils._text import mean_loss_name, name_scoring, write_ends, write_number

Floats = NDArray[np.float64]

N_REPEATS, N_SIZES, LEAST_SHARE = 5, 6, 0.15
MIN_SAMPLES, MIN_UNITS = 20, 5
EXPONENTS = np.geomspace(0.2, 2.0, 16)
"""The exponents of a law that are tried."""
N_DRAWS, LEAST_SIZES = 1000, 4
QUANTILES = np.linspace(0.05, 3.05, 16)
"""Normal quantiles at which intervals are read."""
LITTLE = 0.1
"""Share of what is missing to the best value, up to which a gain is called little."""
MIN_FIT = 0.01
"""P-value of its fit below which a law is not believed."""


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
    error_score: float | str = "raise",
) -> Curve:
    r"""Measure how the error falls with the number of training samples, and what more would do.

    The error at each size is that of a repeated cross-validation whose training parts are thinned:
    the same samples are tested, and smaller parts lie within larger ones. To the errors the law

    .. math:: e(m) = a + b \, (m / m_0)^{-c}

    is fitted, `m` training samples against the most that were measured, :math:`m_0`, with
    :math:`b \ge 0`, `c` from .2 to 2, and `a` not below the smallest loss. It extends to twice the
    number of samples and predicts the gain.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    train_sizes : array-like of shape (n_sizes,), default=None
        Shares of the training parts (floats up to 1), or numbers of training samples (integers), of
        which whole groups are taken. None makes six, in equal ratios, from 15 % (or 20 samples, of
        few samples from half) to all.
    cv : int, splitter or iterable of (train, test), default=None
        None means 10 folds. A number of folds, and a splitter with ``shuffle=True``, is drawn anew
        for each repeat. Where all folds test what comes after their training samples, as those of
        ``TimeSeriesSplit``, the most recent train; elsewhere they are drawn, stratified by class.
    n_repeats : int, default=None
        Number of repeats of folds that are drawn; None means 5.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together: held out together, and left out of training together.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scoring : str or callable, default=None
        A score in place of a loss, of which larger is better: the mean over the folds.
    params : dict, default=None
        Arguments of the estimator's `fit` by name.
    sample_weight : array-like of shape (n_samples,), default=None
        What each sample counts, in every fit and in the means of the losses.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals, and of the band of the whole law.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, of the parts that train, and of the drawn laws.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave it out, count and warn.

    Returns
    -------
    Curve
        `x` are mean numbers of training samples, `y` the errors with intervals at each, and then
        what the law says of all `n` samples and of `2 n`. ``columns["extrapolated"]`` marks these,
        ``columns["law"]`` is the law, `band` is meant to hold it whole. `details` has "a", "b" and
        "c" of the law; "at_all", "at_twice" and their difference "gain", each an `Estimate`; and
        "answer", the sentence. If no power law fits, "answer" contains the reason, and only the
        measured errors are returned.

    Raises
    ------
    ValueError
        If `train_sizes` do not make training sets of different sizes, a training set has one class
        only, or both `loss` and `scoring` are given.
    TypeError
        If `sample_weight` is given and the estimator takes none.

    See Also
    --------
    error_interval : The error for all samples, by more repeats.
    holdout_size : How many samples a test set takes.
    sklearn.model_selection.learning_curve : The scores alone.

    Notes
    -----
    Intervals at the measured sizes are those of `error_interval`, of a score those of Nadeau and
    Bengio [2]_ over the folds. Errors at all sizes are of the same tested samples and vary
    together: 1,000 curves are drawn with the correlations of the influences of the samples (or
    groups, or blocks of time) on the errors, and with the intervals for their distribution. The law
    is fitted to each, and the quantiles of what they say are the intervals of the gain and `2 n`.
    A law is not believed where so large a misfit is found in fewer than 1 % of curves drawn around
    it, nor where the error rises between two sizes for most samples (one-sided sign test, 1 % for
    all pairs of sizes), as it does below the interpolation peak of least squares. It is the law of
    Cortes et al. [1]_; nobody knows whether it goes on beyond the samples at hand. Mukherjee et al.
    [3]_ extrapolate likewise.

    In simulations (``benchmarks/coverage_learning_curve.py``: discriminant analysis, logistic
    regression, ridge regression and nearest neighbours; 100 or 400 samples; 9 cells of 100 sets)
    95 % intervals held the expected error at the measured sizes in .93 to 1.00, that of all samples
    in .94 to .98, that of twice the samples in .95 to 1.00, and the band all of them in .95 to .99;
    the interval of the gain in .98 to 1.00, so that it is too wide. Where there was nothing to
    learn, "would help" was said of none of 100 sets. These populations follow a power law or nearly
    so: nothing is promised where a curve bends beyond what was measured.

    Classes are spread evenly over the parts that train, and each part has at least one member of
    every class; the smallest error of data without signal is therefore somewhat too small.

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
      More samples would help: 300, twice as many, would make the mean squared error better
      by 106.7 [1.6462, 358.4], to 2933 [2120, 4001], if it goes on as up to 135, the
      largest size measured.
    samples 150
    ...
    """
    if loss is not None and scoring is not None:
        raise ValueError(f"loss must be None where scoring is given, got {loss!r}, {scoring!r}.")
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"loss": loss, "with_loss": scoring is None, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, groups, params=params, method=AUTO, **run)
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    root = root_seed(random_state)
    if n_repeats is None and (cv is None or isinstance(cv, Integral) or draws_anew(cv)):
        n_repeats = N_REPEATS
    folds = plan_repeats(inputs, child_seed(root, 0), cv=cv, n_repeats=n_repeats)
    thinned = Thinned(folds, units_of(inputs.target, inputs.groups), root, train_sizes)
    measure = measure_losses if scoring is None else partial(measure_scores, scoring=scoring)
    return draw_curve(measure(thinned), thinned, confidence_level, root)


class Thinned:
    """Fits of repeated folds on parts of their training samples.

    Attributes
    ----------
    folds : RepeatedFolds
    sizes : ndarray of shape (n_sizes,)
        Mean number of training samples.
    in_order : bool
        Whether all folds test what comes after their training samples; the most recent train then.
    """

    def __init__(
        self, folds: RepeatedFolds, cases: SamplingUnits, root: SeedSequence, train_sizes: Any
    ) -> None:
        self.folds, self.cases, self.root = folds, cases, child_seed(root, 1)
        plan = folds.plan
        blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
        known = [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]
        self.in_order = len(known) > 1 and all(train[-1] < test[0] for train, test in known)
        self.n_units = np.array([len(np.unique(cases.unit[train])) for train, _ in known])
        self.shares = read_sizes(train_sizes, [len(train) for train, _ in known], self.n_units)
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
        self.ratio = float(np.mean([len(test) / len(train) for train, test in known]))

    @property
    def n_sizes(self) -> int:
        """Number of sizes."""
        return len(self.shares)

    @property
    def inputs(self) -> Inputs:
        """The inputs of the folds."""
        return self.folds.inputs

    @lru_cache(1)  # noqa: B019
    def order(self, fit: int) -> NDArray[np.intp]:
        """Return the units that a fit trains on, those that remain in the smallest part first.

        Units are in a random order of which every stretch has its share of classes, after one of
        each class; or the most recent first.
        """
        rows = np.flatnonzero(self.folds.plan.draw(fit).train[0])
        unit = self.cases.unit[rows]
        if self.in_order:
            recent, first = np.unique(unit[::-1], return_index=True)
            return recent[np.argsort(first)]
        order = self.cases.spread(np.unique(unit), repetition_rng(self.root, fit))
        firsts = np.sort(np.unique(self.cases.stratum[order], return_index=True)[1])
        return np.concatenate([order[firsts], np.delete(order, firsts)])

    def draw(self, fit: int, share: float) -> PlanBlock:
        """Return a fit of the folds on a share of its training units."""
        block, order = self.folds.plan.draw(fit), self.order(fit)
        kept = self.cases.mask(order[: max(1, round(share * len(order)))])
        return PlanBlock(block.train * kept, block.test)

    @cached_property
    def plan(self) -> ResamplingPlan:
        """All fits, those of one fold after each other."""
        of_folds = self.folds.plan

        def draw(number: int) -> PlanBlock:
            fit, at = divmod(number, self.n_sizes)
            return self.draw(fit, self.shares[at])

        def describe(number: int) -> str:
            fit, at = divmod(number, self.n_sizes)
            which = of_folds.describe(fit) if of_folds.describe else ""
            return f"on {self.sizes[at]:g} samples {which}"

        n_fits = of_folds.n_fits * self.n_sizes
        return ResamplingPlan(of_folds.n_samples, n_fits, draw, describe=describe)


def read_sizes(
    train_sizes: Any, n_samples: Sequence[int], n_units: NDArray[np.intp]
) -> list[float]:
    """Return the shares of the training parts that sizes mean, by increasing size."""
    smallest, units = min(n_samples), int(n_units.min())
    if train_sizes is None:
        least = max(MIN_SAMPLES / smallest, MIN_UNITS / units)
        least = float(np.clip(least, LEAST_SHARE, 0.5))
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
        -1 where larger values are better, which the law is fitted to the negatives of.
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
    answers = list(fit_each(thinned.inputs, thinned.plan))
    by_size = [answers[at :: thinned.n_sizes] for at in range(thinned.n_sizes)]
    for size, each in zip(thinned.sizes, by_size, strict=True):
        if each.count(None) == len(each):
            raise ValueError(f"train_sizes must be large enough: all fits on {size:g} fail.")
    folds = count_in_time(thinned.folds, by_size[-1])
    inputs, plan = folds.inputs, folds.plan
    folds = folds._replace(ordered=False)  # its units are counted
    values, factors, of_units, of_repeats, by_unit = [], [], [], [], []
    for each in by_size:
        values.append(average_repeats(folds, each))
        factors.append(find_inflation(inputs, plan, each))
        unit, repeat = influences(inputs, plan, each)
        of_units.append(unit)
        of_repeats.append(repeat)
        by_unit.append(mean_by_unit(inputs, each))
    scale = np.sqrt(np.outer(factors, factors))
    covariance = scale * spread_of(np.array(of_units)) + spread_of(np.array(of_repeats))
    df = values[-1].degrees_of_freedom
    name, bounds = mean_loss_name(inputs.loss.name), bounds_of(inputs.loss.name)
    rise = find_rise(np.array([each.value for each in values]), np.array(by_unit))
    return Measured(name, 1, values, covariance, np.inf if df is None else df, bounds, rise)


def mean_by_unit(inputs: Inputs, answers: Sequence[FitOutput | None]) -> Floats:
    """Return the mean loss of each unit over its tests, nan where there is none."""
    known = [each for each in answers if each is not None]
    unit = inputs.units.unit[np.concatenate([each.rows for each in known])]
    losses = np.concatenate([inputs.loss_values(each) for each in known])
    with np.errstate(invalid="ignore"):
        return np.bincount(unit, losses, inputs.units.n_units) / np.bincount(
            unit, minlength=inputs.units.n_units
        )


def find_rise(errors: Floats, by_unit: Floats) -> tuple[int, int] | None:
    """Return the two sizes between which the error rises most, if it rises for most units.

    `errors` are the mean losses at each size and `by_unit`, shape (n_sizes, n_units), those of
    each unit. The one-sided sign test over units, corrected for the number of pairs of sizes, needs
    no variance of the losses, which is huge where the error peaks.
    """
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


def influences(
    inputs: Inputs, plan: ResamplingPlan, answers: Sequence[FitOutput | None]
) -> tuple[Floats, Floats]:
    """Return by how much each unit, and each repeat, moves the mean loss.

    Shapes (n_units,) and (n_repeats,).
    """
    known = [(fit // plan.n_folds, each) for fit, each in enumerate(answers) if each is not None]
    rows = np.concatenate([each.rows for _, each in known])
    repeat = np.concatenate([np.full(len(each.rows), number) for number, each in known])
    losses = np.concatenate([inputs.loss_values(each) for _, each in known])
    tested = inputs.count(rows, losses)
    weight = np.ones(len(rows)) if tested.weight is None else tested.weight
    moved = weight * (losses - mean_loss(tested)) / weight.sum()
    of_unit = np.bincount(inputs.units.unit[rows], moved, inputs.units.n_units)
    return of_unit.astype(float), np.bincount(repeat, moved, plan.n_repeats).astype(float)


def spread_of(influence: Floats) -> Floats:
    """Return the covariance of sums of influences, shape (n_sizes, n_terms), 0 of one term."""
    n = int(np.count_nonzero(np.any(influence != 0, axis=0)))
    return influence @ influence.T * (n / max(1, n - 1))


def measure_scores(thinned: Thinned, scoring: Any) -> Measured:
    """Return the mean score at each size, with the covariance of Nadeau and Bengio (2003)."""
    inputs = thinned.inputs
    found = score_each(inputs, thinned.plan, scoring)
    scores = np.array(found, dtype=float).reshape(-1, thinned.n_sizes)
    kept = scores[np.isfinite(scores).all(axis=1)]
    n = len(kept)
    if n < 2:
        raise ValueError(
            f"scoring must give numbers at every size in two folds at least, got {n} such folds."
        )
    covariance = (1 / n + thinned.ratio) * np.cov(kept, rowvar=False)
    classes = inputs.target.classes
    label = name_scoring(scoring)
    bounds = range_of(label, None if classes is None else len(classes))
    values = [
        Estimate(
            name=label,
            value=float(mean),
            standard_error=float(error),
            method="corrected_t",
            limits={"t": partial(normal_interval, mean, error, degrees_of_freedom=n - 1)},
            n_samples=len(inputs.target),
            n_failed=len(scores) - n,
            confidence_level=inputs.confidence_level,
            bounds=bounds,
        )
        for mean, error in zip(kept.mean(axis=0), np.sqrt(np.diag(covariance)), strict=True)
    ]
    return Measured(label, -1, values, covariance, n - 1.0, bounds)


class Law(NamedTuple):
    r"""Laws :math:`a + b (m / m_0)^{-c}`, `m_0` the largest size.

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
        """Return the heights at some sizes over `m_0`, shape (n_laws, n_sizes)."""
        return self.a[:, None] + self.b[:, None] * np.asarray(ratio) ** -self.c[:, None]


def fit_law(ratio: Floats, values: Floats, weight: Floats, least: float) -> Law:
    """Return the law of least squares for each row of values, shape (n_laws, n_sizes).

    `a` is `least` at least, `b` is 0 at least; for each exponent both follow in closed form.
    """
    weight = weight / weight.sum()
    best = np.full((4, len(values)), np.inf)
    for c in EXPONENTS:
        z = ratio**-c
        mean, height = weight @ z, values @ weight
        b = (values - height[:, None]) @ (weight * (z - mean)) / (weight @ (z - mean) ** 2)
        a = height - b * mean
        flat, bound = b < 0, a < least
        b[bound] = np.maximum(0, (values[bound] - least) @ (weight * z) / (weight @ z**2))
        a[bound] = least
        a[flat], b[flat] = np.maximum(least, height[flat]), 0.0
        misfit = (values - a[:, None] - b[:, None] * z) ** 2 @ weight
        better = misfit < best[-1]
        best[:, better] = np.array([a, b, np.full(len(a), c), misfit])[:, better]
    return Law._make(best)


def draw_deviations(measured: Measured, rng: np.random.Generator) -> Floats:
    """Return deviations from the measured curve, shape (N_DRAWS, n_sizes).

    Each is one of the end of an interval from its value, at a level that is drawn: so the
    intervals at all sizes are those of the draws, whose ranks have the correlations of the errors.
    """
    spread = np.sqrt(np.diag(measured.covariance))
    spread[spread == 0] = np.inf  # no loss varies at a size: it goes with no other
    correlation = measured.covariance / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(values.clip(0)) @ vectors.T
    normal = rng.standard_normal((N_DRAWS, len(spread))) @ root
    levels = 2 * ndtr(QUANTILES) - 1
    deviations = np.empty_like(normal)
    for at, each in enumerate(measured.values):
        ends = [each.confidence_interval(level) for level in levels.tolist()]
        known = np.array([*(end.low for end in ends[::-1]), *(end.high for end in ends)])
        finite = known[np.isfinite(known)]  # few units have no end at a high level
        known = np.clip(known, finite.min(), finite.max())
        places = np.concatenate([-QUANTILES[::-1], QUANTILES])
        deviations[:, at] = np.interp(normal[:, at], places, known) - each.value
    return measured.sign * deviations


class Extrapolated(NamedTuple):
    """The law of a curve, and those of curves that it might have been.

    Attributes
    ----------
    law : Law
        Of the curve itself.
    draws : Law
        Of the curves drawn around it.
    """

    law: Law
    draws: Law


def extrapolate(
    measured: Measured, sizes: Floats, rng: np.random.Generator
) -> tuple[Extrapolated | None, str]:
    """Return the law of a measured curve; None, and why, where it is not to be believed."""
    if measured.rise is not None:
        first, second = measured.rise
        return None, (
            f"the error rises from {write_number(measured.values[first].value)} with "
            f"{sizes[first]:g} training samples to {write_number(measured.values[second].value)} "
            f"with {sizes[second]:g}, so the curve does not follow a power law"
        )
    if len(sizes) < LEAST_SIZES:
        return None, f"a law takes {LEAST_SIZES} sizes, and there are {len(sizes)}"
    values = measured.sign * np.array([each.value for each in measured.values])
    widths = np.array([each.interval.high - each.interval.low for each in measured.values])
    if not np.all(np.isfinite(values) & np.isfinite(widths) & (widths > 0)):
        return None, "the error has no interval at one of the sizes"
    ratio, least = sizes / sizes[-1], min(b * measured.sign for b in measured.bounds)
    weight = widths**-2.0
    law = fit_law(ratio, values[None], weight, least)
    off = draw_deviations(measured, rng)
    alike = fit_law(ratio, law.at(ratio) + off, weight, least)
    pvalue = (1 + np.sum(alike.misfit >= law.misfit)) / (1 + N_DRAWS)
    if pvalue < MIN_FIT:
        return None, "what was measured does not fall by a power law"
    return Extrapolated(law, fit_law(ratio, values + off, weight, least)), ""


def draw_curve(measured: Measured, thinned: Thinned, level: float, root: SeedSequence) -> Curve:
    """Return the measured curve with its law, up to twice the samples."""
    n, sign, sizes = len(thinned.inputs.target), measured.sign, thinned.sizes
    intervals = [each.interval for each in measured.values]
    rows = [(e.value, i.low, i.high) for e, i in zip(measured.values, intervals, strict=True)]
    found, why = extrapolate(measured, thinned.sizes, repetition_rng(child_seed(root, 2), 0))
    x, band, columns = thinned.sizes, None, {}
    details: dict[str, Any] = {"n_samples": n, "n_groups": thinned.inputs.units.n_groups}
    if found is not None:
        x = np.append(x, [n, 2 * n] if n > x[-1] else [2 * n])
        ratio = x / thinned.sizes[-1]
        law, draws = sign * found.law.at(ratio)[0], sign * found.draws.at(ratio)
        band = hold_whole(law, draws, level, measured.bounds)
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
        details |= {"a": sign * float(found.law.a[0]), "b": sign * float(found.law.b[0])}
        details |= {"c": float(found.law.c[0]), **predicted}
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
        answer=write_answer(details, n, why, best, sizes[-1]),
        details=details,
    )


def hold_whole(law: Floats, draws: Floats, level: float, bounds: Limits) -> Band:
    """Return the band that holds a share of the drawn laws whole, in units of their spreads."""
    spread = draws.std(axis=0, ddof=1)
    off = np.abs(draws - law) / np.where(spread > 0, spread, np.inf)
    half = np.quantile(off.max(axis=1), level) * spread
    return Band(np.clip(law - half, *bounds), np.clip(law + half, *bounds))


def limits_around(value: float, draws: Floats, confidence_level: float) -> Limits:
    """Return the quantiles of draws, widened to the value where a bound pushes all draws past it.

    Near the smallest loss no law lies below the bound, but drawn curves lie above.
    """
    low, high = percentile_limits(draws, confidence_level)
    return min(low, value), max(high, value)


def predict(name: str, value: float, draws: Floats, level: float) -> Estimate:
    """Return what a law says, with the quantiles of what the drawn laws say."""
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


def write_answer(details: Mapping[str, Any], n: int, why: str, best: float, largest: float) -> str:
    """Return the sentence on what more samples would bring; `best` is the best value there is.

    `largest` is the largest size that was measured.

    How little a gain is must not depend on how badly the error is known: it is held against what is
    missing, and not against its standard error.
    """
    if why:
        return f"What more samples would bring cannot be said: {why}."
    after, before, gain = details["at_twice"], details["at_all"], details["gain"]
    verdict = "More samples may help, or not"
    if gain.interval.high < LITTLE * abs(before.value - best) < np.inf:
        verdict = f"More samples would bring little, less than a tenth of the way to {best:g}"
    elif gain.interval.low > 0:
        verdict = "More samples would help"
    gained = f"{write_number(gain.value)} {write_ends(gain.interval.low, gain.interval.high)}"
    return (
        f"{verdict}: {2 * n}, twice as many, would make the {after.name} better by {gained}, to "
        f"{write_number(after.value)} {write_ends(after.interval.low, after.interval.high)}, if it "
        f"goes on as up to {largest:.0f}, the largest size measured."
    )
