r"""Learning curves with confidence intervals, and their extrapolation to more training samples.

The training part of every fold is reduced. Whole units (samples, or groups) are ordered, and the
first ones train. The training parts are therefore nested, and the test samples stay the same.

The errors at all sizes are means over the same folds, so they are correlated. Curves are simulated
around the measured curve, with the correlation of the folds and the widths of the intervals. The
power law :math:`a + b m^{-c}` is fitted to the measured curve and to each simulated curve. The
variation between these fits estimates the precision of the power law.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.stats import rankdata, t

from skeval._adapters.runner import Runner, score_each
from skeval._inference.estimate import Band, Curve, Estimate
from skeval._inference.intervals import normal_quantile
from skeval._resampling.inputs import LossLike, Params, validate_inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, draws_anew
from skeval._resampling.sampling_units import units_of
from skeval.model_selection import _interval_methods
from skeval.model_selection._estimates import name_scores
from skeval.model_selection._score_interval import average_scores, warn_left_out
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike
from skeval.utils._text import write_ends, write_number

Floats = NDArray[np.float64]

N_REPEATS, N_SIZES, MIN_SHARE = 5, 6, 0.15
MIN_SAMPLES, MIN_UNITS = 20, 5
EXPONENTS = np.geomspace(0.2, 2.0, 16)
"""Candidate exponents of the power law."""
N_DRAWS, MIN_SIZES = 1000, 4
LITTLE = 0.1
"""Fraction of the distance to the best value below which gains are called little."""
MAX_PVALUE = 0.01
"""P-value below which a curve does not follow a power law."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MoreSamples:
    """Effect of more training samples, from the power law of a learning curve.

    Attributes
    ----------
    n_samples : int
        Number of samples, `n`.
    gain : Estimate or None
        Improvement from `n` to `2 n` samples, or None if no power law fits.
    """

    n_samples: int
    gain: Estimate | None = field(default=None, repr=False)


@_checks.in_order()
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
    r"""Estimate the error as a function of the number of training samples, and extrapolate it.

    Each fold is repeated with smaller training parts. The test samples stay the same, and larger
    training parts contain the smaller parts. The error at each size is the mean over the folds. The
    power law

    .. math:: e(m) = a + b \, (m / m_0)^{-c}

    is fitted to the errors. Here, `m` is the number of training samples, and :math:`m_0` the
    largest measured number. The constraints are :math:`b \ge 0`, `c` from .2 to 2, and `a` at least
    the smallest possible loss. The law is extrapolated to twice the number of samples. The gain is
    the predicted improvement.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    train_sizes : array-like of shape (n_sizes,), default=None
        Two or more fractions of the training parts (floats up to 1), or numbers of training samples
        (integers). Groups are kept whole. None means six geometrically spaced sizes up to the whole
        training part. The smallest size is 15 % of the training part, but at least 20 samples and
        at most half of it.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. None means 10. If `cv` is an integer or a splitter
        with ``shuffle=True``, each repeat has new folds. If all folds test samples after their
        training samples, as ``TimeSeriesSplit`` does, smaller training parts contain the most
        recent samples. Otherwise, training samples are drawn at random, stratified by class.
    n_repeats : int, default=None
        Number of repeats if folds are drawn. None means 5.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split, and training parts are
        reduced by whole groups.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer. Larger is better. It replaces the loss.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the intervals and of the simultaneous band of the
        fitted curve.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the fit, counts it
        and warns.

    Returns
    -------
    Curve
        `x` contains the mean numbers of training samples, and `y` the errors, with intervals. The
        last two entries are the predictions of the law for `n` and `2 n` samples. They are marked
        in ``columns["extrapolated"]``. ``columns["law"]`` is the fitted law, and `band` its
        simultaneous confidence band. ``extra.gain`` is the difference between the two predictions.
        `answer` is the conclusion as a sentence. If no power law fits, `answer` has the reason,
        and only the measured errors are returned.

    Raises
    ------
    ValueError
        If `train_sizes` do not give training sets of different sizes, a training set has only one
        class, or both `loss` and `scoring` are passed.
    TypeError
        If `sample_weight` is passed and the estimator does not support it.

    See Also
    --------
    error_interval : The error of the estimator trained on all samples.
    holdout_size : The required number of test samples.
    sklearn.model_selection.learning_curve : The scores alone.

    Notes
    -----
    The interval at each measured size comes from the corrected resampled t-test of Nadeau and
    Bengio [2]_ over the folds, as in ``error_interval(method="corrected_t")``. The errors at all
    sizes are means over the same folds, so they are correlated. Therefore, 1,000 curves are
    simulated with the correlation of the folds, and their quantiles at each size equal the interval
    limits. The law [1]_ is fitted to each curve. The quantiles of its predictions are the intervals
    of the gain and of the error at `2 n`. Mukherjee et al. [3]_ extrapolate in the same way. The
    data cannot confirm that the law continues beyond the available samples. No law is fitted if the
    error rises between two sizes (corrected t-test of the ranks, 1 % for all pairs of sizes), as it
    does below the interpolation peak of least squares.

    :doc:`/validation` has the measured coverage. It is not guaranteed if the slope of a curve
    changes abruptly beyond the measured sizes.

    Training parts are stratified, and each has at least one member of every class. If the features
    contain no information, the error at the smallest size is therefore slightly too low.

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
      by 87.84 [2.7358, 328.9] to 2957 [2185, 3955], if the trend up to 135, the largest
      size measured, continues.
    samples 150
    ...
    """
    if loss is not None and scoring is not None:
        raise ValueError(f"loss must be None if scoring is passed, got {loss!r} and {scoring!r}.")
    _checks.check_single_score(scoring)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"loss": loss, "with_loss": scoring is None, "confidence_level": confidence_level}
    run |= {"method": "corrected_t", "several": True, "params": params}
    inputs = validate_inputs(estimator, X, y, groups, **run)
    inputs = _interval_methods.add_positive_weight(inputs, sample_weight)
    root = _checks.root_seed(random_state)
    # repeats by default, if folds can be drawn again
    if n_repeats is None and (cv is None or isinstance(cv, Integral) or draws_anew(cv)):
        n_repeats = N_REPEATS
    # folds, thinned to each size, and the error or score of each
    seeds = [_checks.child_seed(root, part) for part in range(3)]
    folds = _interval_methods.plan_repeats(inputs, seeds[0], cv=cv, n_repeats=n_repeats)
    thinned, sizes, ratio = thin_folds(folds, seeds[1], train_sizes)
    if scoring is None:
        label = "error"
        values, _ = _interval_methods.mean_losses(Runner(inputs), thinned)
        average = partial(_interval_methods.average_subsamples, inputs)
    else:
        ((label, score),) = name_scores(scoring).items()
        values = score_each(Runner(inputs), thinned, scoring)[""]
        average = partial(average_scores, inputs, score)
    # folds with a number at every size, and the corrected interval of each size
    by_fold = values.reshape(-1, len(sizes))
    kept = by_fold[np.isfinite(by_fold).all(axis=1)]
    if len(kept) < 2:
        worst = sizes[np.isfinite(by_fold).sum(axis=0).argmin()]
        raise ValueError(
            "train_sizes must be larger, so that two folds or more have a score at every size, got "
            f"{len(kept)}. Fits to {worst:g} samples fail, or have no score, most often."
        )
    warn_left_out(label, len(by_fold) - len(kept), len(by_fold))
    measured = [average(column, ratio, {}) for column in kept.T]
    return extrapolate_curve(len(inputs.target), sizes, measured, kept, ratio, seeds[2])


def thin_folds(
    folds: _interval_methods.RepeatedFolds, root: SeedSequence, train_sizes: Any
) -> tuple[ResamplingPlan, Floats, float]:
    """Return all fits by fold and size, the mean sizes, and the ratio of test to training."""
    plan, units = folds.plan, units_of(folds.inputs.target, folds.inputs.groups)
    # training and test samples of each fold, and whether they are in time order
    blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
    splits = [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]
    in_order = len(splits) > 1 and all(train[-1] < test[0] for train, test in splits)
    n_train = min(len(train) for train, _ in splits)
    # shares of the training units, by default geometrically spaced
    if train_sizes is None:
        n_units = min(len(np.unique(units.unit[train])) for train, _ in splits)
        least = np.clip(max(MIN_SAMPLES / n_train, MIN_UNITS / n_units), MIN_SHARE, 0.5)
        given = shares = np.geomspace(least, 1, min(N_SIZES, max(2, n_units // 2)))
    else:
        with _checks.naming("train_sizes"):
            given = np.atleast_1d(train_sizes)
        exact = given.dtype if given.dtype.kind in "iu" else np.float64
        given = _checks.check_data("train_sizes", given, ensure_2d=False, dtype=exact)
        # whole numbers count samples of the smallest training part, and others are fractions
        shares = np.unique(given) / (n_train if given.dtype.kind in "iu" else 1)

    def draw(number: int) -> PlanBlock:
        fit, at = divmod(number, len(shares))
        block, unit = plan.draw(fit), units.unit[splits[fit][0]]
        if in_order:
            # the most recent units train
            recent, first = np.unique(unit[::-1], return_index=True)
            order = recent[np.argsort(first)]
        else:
            # random stratified order, after one unit of each class
            order = units.spread(np.unique(unit), _checks.repetition_rng(root, fit))
            firsts = np.sort(np.unique(units.stratum[order], return_index=True)[1])
            order = np.concatenate([order[firsts], np.delete(order, firsts)])
        kept = units.mask(order[: max(1, round(shares[at] * len(order)))])
        return replace(block, train=block.train * kept)

    n_fits = plan.n_fits * len(shares)
    counts = [np.count_nonzero(draw(number).train) for number in range(n_fits)]
    sizes = np.reshape(counts, (-1, len(shares))).mean(axis=0)
    distinct = len(given) == len(shares) > 1 and np.all(np.diff(sizes) > 0)
    if not (distinct and shares[0] > 0 and shares[-1] <= 1):
        raise ValueError(
            f"train_sizes must be at least two different numbers above 0, at most {n_train} "
            f"training samples or a fraction of 1, got {np.asarray(train_sizes).tolist()}."
        )
    # n2/n1 of the whole folds, for the corrected variance
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    return ResamplingPlan(plan.n_samples, n_fits, draw, single_fits=True), sizes, ratio


def find_obstacle(
    sizes: Floats, values: Floats, widths: Floats, errors: Floats, ratio: float
) -> str:
    """Return the reason why no power law can be fitted, or an empty string.

    `errors` has shape (n_folds, n_sizes). Ranks are tested, because the variance of losses is very
    large near the interpolation peak of least squares.
    """
    first, second = np.triu_indices(errors.shape[1], 1)
    ranks, means = rankdata(errors, axis=None).reshape(errors.shape), errors.mean(axis=0)
    # corrected t-test of the rise of the ranks, for each pair of sizes
    rise, n = ranks[:, second] - ranks[:, first], len(ranks)
    spread = rise.std(axis=0, ddof=1) * np.sqrt(1 / n + ratio)
    pvalue = t.sf(rise.mean(axis=0) / np.maximum(spread, 1e-9), n - 1)
    rises = np.where(pvalue < MAX_PVALUE / len(first), means[second] - means[first], 0.0)
    if rises.max() > 0:
        # the two sizes between which the error rises most
        rise = first[rises.argmax()], second[rises.argmax()]
        before, after = (f"{write_number(values[at])} with {sizes[at]:g}" for at in rise)
        reason = f"the error rises from {before} training samples to {after}"
        return f"{reason}, so the curve does not follow a power law"
    if len(sizes) < MIN_SIZES:
        return f"a power law requires {MIN_SIZES} sizes, and the curve has {len(sizes)}"
    if not np.all(np.isfinite(widths) & (np.ptp(errors, axis=0) > 0)):
        return "the error has no interval or does not vary at one of the sizes"
    return ""


def fit_laws(sizes: Floats, values: Floats, weight: Floats, least: float, x: Floats) -> Floats:
    """Return the least-squares law of each row of values at `x`.

    The constraints are ``a >= least`` and ``b >= 0``. For each exponent, both have a closed form.
    """
    weight = weight / weight.sum()
    curves, misfits = np.empty((len(values), len(x))), np.full(len(values), np.inf)
    for c in EXPONENTS:  # grid search; a and b by weighted linear regression on z
        z = (sizes / sizes[-1]) ** -c
        mean, height = weight @ z, values @ weight
        b = (values - height[:, None]) @ (weight * (z - mean)) / (weight @ (z - mean) ** 2)
        b = np.maximum(0, b)
        a = height - b * mean
        # a at its constraint: refit b
        bound = a < least
        b[bound] = np.maximum(0, (values[bound] - least) @ (weight * z) / (weight @ z**2))
        a[bound] = least
        # for each curve, the exponent with the smallest weighted misfit
        misfit = (values - a[:, None] - b[:, None] * z) ** 2 @ weight
        better = misfit < misfits
        misfits[better] = misfit[better]
        curves[better] = (a[:, None] + b[:, None] * (x / sizes[-1]) ** -c)[better]
    return curves


def extrapolate_curve(
    n: int, sizes: Floats, measured: list[Estimate], kept: Floats, ratio: float, root: SeedSequence
) -> Curve:
    """Return the measured curve with its power law, up to twice the number `n` of samples.

    `kept` contains the errors or scores by fold. The law is fitted to the negated scores.
    """
    name, bounds, level = measured[0].name, measured[0].bounds, measured[0].confidence_level
    # the law describes errors, so scores change their sign
    sign = 1 if measured[0].loss else -1
    x, (y, low, high) = sizes, np.array([(each.value, *each.interval) for each in measured]).T
    columns, band, gain = dict[str, Any](), None, None
    # without a law, the curve ends at the measured sizes
    obstacle = find_obstacle(sizes, y, high - low, sign * kept, ratio)
    answer = f"The effect of more samples is unknown, because {obstacle}."
    if not obstacle:
        # correlated deviations, normal on each side of a value, whose quantiles are its interval
        moved = kept - kept.mean(axis=0)
        z = _checks.repetition_rng(root, 0).standard_normal((N_DRAWS, len(moved)))
        z = z @ (moved / np.linalg.norm(moved, axis=0))
        drawn = y + z * np.where(z > 0, high - y, y - low) / normal_quantile(level)
        # laws of the measured curve and of the drawn ones, for all samples and for twice as many
        x = np.append(sizes, [n, 2 * n] if n > sizes[-1] else [2 * n])
        curves, least = sign * np.vstack([y, drawn]), min(sign * bound for bound in bounds)
        laws = sign * fit_laws(sizes, curves, (high - low) ** -2.0, least, x)
        law, draws = laws[0], laws[1:]
        columns = {"law": law, "extrapolated": x > sizes[-1]}
        # simultaneous band of the drawn laws, in units of their standard deviations
        spread = draws.std(axis=0, ddof=1)
        off = np.abs(draws - law) / np.where(spread > 0, spread, np.inf)
        half = np.quantile(off.max(axis=1), level) * spread
        band = Band(np.clip(law - half, *bounds), np.clip(law + half, *bounds))
        # predictions and gain
        ends = limits_around(law[len(sizes) :], draws[:, len(sizes) :], level)
        y, low, high = np.append(y, law[len(sizes) :]), *np.hstack([(low, high), ends])
        gains = sign * (laws[:, np.argmax(x >= n)] - laws[:, -1])
        gain = Estimate(
            name=f"gain from twice the samples, {name}",
            value=float(gains[0]),
            standard_error=float(np.std(gains[1:], ddof=1)),
            method="power_law",
            limits={"power_law": partial(limits_around, float(gains[0]), gains[1:])},
            replicates=gains[1:],
            confidence_level=level,
            allow_point=True,
        )
        # a gain is small relative to the distance to the best possible value, so that the wording
        # does not depend on the precision
        best, verdict = bounds[0 if sign > 0 else 1], "More samples may or may not help"
        if gain.interval.high < LITTLE * (abs(y[-1] - best) + gain.value) < np.inf:
            verdict = f"More samples would bring little, less than a tenth of the way to {best:g}"
        elif gain.interval.low > 0:
            verdict = "More samples would help"
        answer = (
            f"{verdict}: with {2 * n}, twice as many, the {name} would improve by "
            f"{write_number(gain.value)} {write_ends(*gain.interval)} to {write_number(y[-1])} "
            f"{write_ends(low[-1], high[-1])}, if the trend up to {sizes[-1]:.0f}, the largest "
            "size measured, continues."
        )
    return Curve(
        name="learning curve",
        axes=("training_samples", name.replace(" ", "_")),
        x=x,
        y=y,
        low=low,
        high=high,
        band=band,
        confidence_level=level,
        method=measured[0].method,
        columns=columns,
        answer=answer,
        extra=MoreSamples(n_samples=n, gain=gain),
    )


def limits_around(value: Any, draws: Floats, confidence_level: float) -> tuple[Any, Any]:
    """Return the quantiles of draws, widened to include the value.

    Near the smallest possible loss, all draws may lie above the value.
    """
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    low, high = np.quantile(draws, tails, axis=0)
    return np.minimum(low, value), np.maximum(high, value)
