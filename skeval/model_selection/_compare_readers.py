"""Comparison of systems that several readers use on the same cases, and sizes of such studies."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

from skeval._inference import intervals
from skeval._inference.areas import find_area, unbiased
from skeval._inference.designs import ReaderStudy
from skeval._inference.estimate import Curve, Estimate
from skeval._inference.intervals import Limits
from skeval.metrics._table import find_row, range_of_metric, unwrap
from skeval.model_selection._comparison import (
    Comparison,
    ReaderComparison,
    check_method,
    spread_rows,
)
from skeval.model_selection._metric_interval import find_metric, make_statistic, name_metric
from skeval.model_selection._pair_tests import compare_study, correct
from skeval.utils import _checks
from skeval.utils._arrays import check_pairs, read_arrays
from skeval.utils._checks import Alternative, ReaderSampling

Floats = NDArray[np.float64]
COLUMNS = ("system", "reader", "case", "score", "truth")
"""Columns of a long table."""
MAX_TIMES = 1000
"""Largest number of planned cases, relative to the study."""


class Readings(NamedTuple):
    """Scores of readers, of shape (n_systems, n_readers, n_cases), and true values of the cases."""

    y_true: NDArray[Any]
    names: tuple[str, ...]
    readers: tuple[str, ...]
    scores: NDArray[Any]
    missing: NDArray[np.bool_]


@read_arrays
def compare_readers(
    y_true: ArrayLike | None,
    scores: Any,
    *,
    metric: Callable[..., float] | str = roc_auc_score,
    readers: ReaderSampling = "random",
    alternative: Alternative = "two-sided",
    groups: str | ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Comparison:
    r"""Compare systems that several readers use on the same cases (MRMC studies).

    For example, test whether radiologists read better with a system than without it, or with one
    modality than with another: each reader scores each case with each system. Both readers and
    cases are samples, and the interval accounts for both.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,) or None
        True value of each case; None if `scores` is a long table.
    scores : dict or data frame
        One of:

        - a dict of systems, each with an array of shape (n_readers, n_cases), where nan (None for
          text) marks a case that the reader has not read; readers are in the same order in all
          systems, and a data frame names them in its index;
        - a long table, a data frame or a dict of columns, with one row for each reading and the
          columns "system", "reader", "case", "score" and "truth". Missing rows are missing
          readings.
    metric : callable or str, default=roc_auc_score
        Metric of each reader, ``metric(y_true, scores) -> float``, or the name of a scorer. The
        covariance of the readers' values due to the sample of cases is DeLong's for the area
        under the ROC curve, and otherwise the jackknife's, which leaves out each case in turn.
    readers : {"random", "fixed"}, default="random"
        Whether readers are a sample of all readers, to whom the conclusion applies, or the only
        ones of interest.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the first minus the second of two systems.
    groups : array-like of shape (n_cases,) or str, default=None
        Patient of each case, if patients have several cases. Patients are then the sampling units.
        Of a long table, the name of a column.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, of the intervals of all differences together, and of the
        interval of each system.

    Returns
    -------
    comparison : Comparison
        With the `differences` of all pairs, their intervals and P-values (corrected by Holm's
        method), the `estimates` of the systems, and the `study`: values of single readers and
        components of the variance. Three or more systems have the test of equality as `omnibus`.

    Raises
    ------
    ValueError
        If there are fewer than two systems, or fewer than two readers and they are random; if a
        reader has not read two cases of each class with each system; if the metric is undefined for
        a reader; or if arrays differ in shape.
    TypeError
        If `scores` has neither of the two forms.

    See Also
    --------
    reader_study_size : Number of readers and cases for a required power.
    compare_predictions : Systems without readers.

    Notes
    -----
    The analysis follows Obuchowski and Rockette [1]_, with the degrees of freedom of Hillis [2]_.
    With J readers, I systems, MS(TR) the mean square of the interaction of systems and readers, and
    Cov2 and Cov3 the mean covariances of the values of two readers with the same system and with
    two systems, the standard error of a difference is

    .. math:: \sqrt{\tfrac{2}{J} D}, \quad D = MS(TR) + J \max(Cov2 - Cov3, 0), \quad
              \text{on } \frac{D^2 (I - 1)(J - 1)}{MS(TR)^2}

    degrees of freedom. The interval of a system uses its own readers and covariances; for values
    between 0 and 1 it is Student's on the logit scale (``confidence_interval(method="t")`` is the
    published one, which covers less near 1). With fixed readers, the variance of a difference is
    the variance of the mean over the readers, and the distribution is normal. A case that a reader
    has not read contributes nothing to the covariances of this reader. The analysis of the Van Dyke
    study (114 cases, 5 readers, 2 modalities) by the R package MRMCaov is reproduced: difference
    -.0438, standard error .0207, 15.07 degrees of freedom, [-.0879, .0003], P = .0512.

    Plan at least five readers: with three, the estimated degrees of freedom are often too large.
    :doc:`/validation` has the measured coverage and size, in populations after Roe and Metz [3]_.

    References
    ----------
    .. [1] Obuchowski, N. A. and Rockette, H. E. (1995). Hypothesis testing of diagnostic accuracy
       for multiple readers and multiple tests: an ANOVA approach with dependent observations.
       Communications in Statistics - Simulation and Computation 24, 285-308.
       https://doi.org/10.1080/03610919508813243
    .. [2] Hillis, S. L. (2007). A comparison of denominator degrees of freedom methods for multiple
       observer ROC analysis. Statistics in Medicine 26, 596-619.
       https://doi.org/10.1002/sim.2532
    .. [3] Roe, C. A. and Metz, C. E. (1997). Dorfman-Berbaum-Metz method for statistical analysis
       of multireader, multimodality receiver operating characteristic data: validation with
       computer simulation. Academic Radiology 4, 298-303.
       https://doi.org/10.1016/S1076-6332(97)80032-3

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import compare_readers
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(100) % 2
    >>> difficulty = rng.normal(size=100)
    >>> scores = {
    ...     name: 1.2 * gain * truth + difficulty + rng.normal(size=(6, 100))
    ...     for name, gain in {"alone": 1.0, "assisted": 1.5}.items()
    ... }
    >>> print(compare_readers(truth, scores))
    roc_auc_score, obuchowski_rockette, 95 % interval of each system
      assisted  0.8481 [0.7898, 0.8925]
      alone     0.7658 [0.6870, 0.8297]
    analysis of variance of readers and cases, 95 % interval
      alone - assisted  -0.0823 [-0.1327, -0.0320]  P = 0.00777
      alone scores lower than assisted; the difference is significant at 5 % (P = 0.0078).
      This applies to readers and cases like these.
    """
    _checks.check_option("readers", readers, ("random", "fixed"))
    _checks.check_confidence_level(confidence_level)
    metric = find_metric(metric)
    # one score of each case by each reader with each system
    columns = getattr(scores, "columns", scores if isinstance(scores, Mapping) else ())
    is_long = {"system", "reader"} <= set(map(str, columns))
    if is_long:
        readings, groups = _read_long(y_true, scores, groups)
    else:
        readings = _read_arrays(y_true, scores, groups)
    method = "obuchowski_rockette" if readers == "random" else "fixed_readers"
    check_method(method, alternative, len(readings.names))
    if len(readings.readers) < 2 and readers == "random":
        raise ValueError(
            "scores must have at least two readers if readers='random', got one; "
            "readers='fixed' applies to this reader alone."
        )
    # groups of the cases
    n_cases = len(readings.y_true)
    unit = _checks.number_groups(groups, n_cases)
    if unit is not None and unit.ndim > 1:
        raise ValueError("groups must be of one kind, such as patients, got crossed groups.")
    # value of each reader with each system, and the influence of each unit
    values, influence = _find_influence(metric, readings, unit)
    undefined = ~np.isfinite(values + influence.sum(axis=1).reshape(values.shape))
    if undefined.any():
        system, reader = np.argwhere(undefined)[0]
        raise ValueError(
            "metric must be defined for each reader, even without a single case, got nan for "
            f"{readings.readers[reader]} with {readings.names[system]}; leave out this reader, or "
            "choose another metric."
        )
    # analysis of variance of readers, with the covariance of the cases
    n_missing = int(readings.missing.sum())
    study = ReaderStudy(
        readings.readers, values, influence @ influence.T, n_cases, n_missing, readers == "random"
    )
    row, scoring, bounds = find_row(unwrap(metric)[0]), name_metric(metric), range_of_metric(metric)

    # the mean of each system over the readers, with its own interval
    estimates = {
        name: _estimate_system(study, place, scoring, bounds, confidence_level)
        for place, name in enumerate(readings.names)
    }
    return ReaderComparison(
        names=readings.names,
        values=values.mean(axis=1),
        tests=correct(compare_study(study, alternative), method, confidence_level, bounds),
        method=method,
        scoring=scoring,
        n_samples=n_cases,
        alternative=alternative,
        confidence_level=confidence_level,
        greater_is_better=row is None or row.greater_is_better,
        study=study,
        estimates=estimates,
    )


def _estimate_system(
    study: ReaderStudy, place: int, scoring: str, bounds: Limits, confidence_level: float
) -> Estimate:
    """Return the mean of a system over the readers."""
    value, (error, degrees) = float(study.values[place].mean()), study.of_system(place)
    limits = {"t": partial(intervals.normal_interval, value, error, degrees_of_freedom=degrees)}
    if bounds == (0, 1) and 0 < value < 1 and error > 0:
        make = partial(intervals.log_odds_interval, value, error, degrees_of_freedom=degrees)
        limits = {"logit": make, **limits}
    return Estimate(
        name=f"{scoring}, mean over {len(study.readers)} readers",
        value=value,
        standard_error=error,
        method="readers",
        limits=limits,
        bounds=bounds,
        n_samples=study.n_cases,
        confidence_level=confidence_level,
        details={"degrees_of_freedom": degrees, "n_readers": len(study.readers)},
    )


def _read_arrays(y_true: Any, scores: Any, groups: Any) -> Readings:
    """Read a dict of arrays of shape (n_readers, n_cases)."""
    if not isinstance(scores, Mapping) or len(scores) < 2:
        raise TypeError(
            "scores must be a dict of at least two systems, each with an array of shape "
            f"(n_readers, n_cases), or a table with the columns {', '.join(COLUMNS)}; got "
            f"{f'{len(scores)} system' if isinstance(scores, Mapping) else type(scores).__name__}."
        )
    if y_true is None:
        raise ValueError("y_true must contain the true value of each case, got None.")
    # columns of frames may name the cases
    cases = {name: array.T if hasattr(array, "T") else array for name, array in scores.items()}
    check_pairs({"y_true": y_true, "scores": cases, "groups": groups})
    labels = _checks.check_y("y_true", y_true)
    with _checks.naming("scores"):
        arrays = {str(name): np.asarray(array) for name, array in scores.items()}
    n_readers = {array.shape[:-1] for array in arrays.values()}
    for name, array in arrays.items():
        if array.ndim != 2 or array.shape[1] != len(labels) or len(n_readers) > 1:
            raise ValueError(
                f"scores[{name!r}] must have the shape (n_readers, n_cases), here (n, "
                f"{len(labels)}) with the same n for all systems, got {array.shape}."
            )
    # readers are named by the rows of frames
    frames = [array for array in scores.values() if hasattr(array, "iloc")]
    readers = {tuple(map(str, frame.index)) for frame in frames}
    if len(readers) > 1:
        raise ValueError("scores must name the same readers in the same order in all systems.")
    numbered = tuple(f"reader {j}" for j in range(1, 1 + max(n_readers)[0]))
    return _check_readings(labels, tuple(arrays), [*readers, numbered][0], [*arrays.values()])


def _read_long(y_true: Any, table: Any, groups: Any) -> tuple[Readings, Any]:
    """Read a table with one row for each reading, and the groups of its cases."""
    if y_true is not None:
        raise ValueError("y_true must be None for a long table, which has the column 'truth'.")
    columns = {str(key): np.asarray(table[key]) for key in getattr(table, "columns", table)}
    if not set(COLUMNS) <= set(columns):
        raise ValueError(f"scores must have the columns {COLUMNS}, got {tuple(columns)}.")
    if groups is not None and (not isinstance(groups, str) or groups not in columns):
        raise ValueError(
            f"groups must name a column of scores if they are a long table, {tuple(columns)}, got "
            f"{groups!r}."
        )
    _checks.check_same_length(**columns)
    # readings in a table; missing ones are nan or None
    score = columns["score"].astype(float if columns["score"].dtype.kind in "biuf" else object)
    keys = {name: columns[name] for name in COLUMNS[:3]}
    (systems, readers, cases), scores, (*_, place) = spread_rows(keys, score)
    # one true value, and one group, for each case
    of_cases: dict[str | None, Any] = {None: None}
    first = np.unique(place, return_index=True)[1]
    for name in ("truth",) if groups is None else ("truth", groups):
        _checks.check_complete(f"scores[{name!r}]", columns[name])
        of_cases[name] = columns[name][first]
        unequal = of_cases[name][place] != columns[name]
        if unequal.any():
            raise ValueError(
                f"scores[{name!r}] must be the same in all rows of a case, not in "
                f"{cases[place[unequal.argmax()]]}."
            )
    labels = _checks.check_y("scores['truth']", of_cases["truth"])
    names = tuple(map(str, systems)), tuple(map(str, readers))
    return _check_readings(labels, *names, scores), of_cases[groups]


def _check_readings(
    y_true: NDArray[Any], names: tuple[str, ...], readers: tuple[str, ...], scores: Any
) -> Readings:
    """Return the readings; raise unless each reader has read two cases of each class."""
    if len(names) < 2 or len(set(names)) < len(names) or len(set(readers)) < len(readers):
        raise ValueError(
            "scores must contain at least two systems, and systems and readers with different "
            f"names; got the systems {names} and the readers {readers}."
        )
    scores = np.stack(scores)
    missing = _checks.find_missing(scores.ravel()).reshape(scores.shape)
    if scores.dtype.kind == "f" and np.isinf(scores).any():
        raise ValueError("scores must be finite, or nan for a missing reading, got infinity.")
    # two read cases of each class, by each reader with each system
    classes, codes = np.unique(y_true, return_inverse=True)
    for system, reader in np.ndindex(scores.shape[:2]):
        read = ~missing[system, reader]
        n_read = (
            np.bincount(codes[read], minlength=2) if len(classes) == 2 else read.sum(keepdims=True)
        )
        if n_read.min() < 2:
            raise ValueError(
                f"scores must contain two cases{' of each class' * (len(n_read) == 2)} of each "
                f"reader with each system, got {' and '.join(map(str, n_read))} of "
                f"{readers[reader]} with {names[system]}; leave out this reader or this system."
            )
    return Readings(y_true, names, readers, scores, missing)


def _find_influence(
    metric: Callable[..., float], readings: Readings, unit: NDArray[np.intp] | None
) -> tuple[Floats, Floats]:
    """Return the values of a metric, (n_systems, n_readers), and the influence of each unit.

    The squares of the influence, (n_systems * n_readers, n_units), sum to the variance; it is 0 for
    units that are not read. It is DeLong's for areas, and the jackknife's for other metrics.
    """
    function, arguments = unwrap(metric)
    of_area, classes = function is roc_auc_score and not arguments, np.unique(readings.y_true)
    if of_area and len(classes) != 2:
        raise ValueError(
            "y_true must contain two classes for the area under the ROC curve, got "
            f"{len(classes)}; choose another metric."
        )
    units = np.arange(len(readings.y_true)) if unit is None else unit
    n_units, shape = int(units.max()) + 1, readings.scores.shape[:2]
    values, influence = np.empty(shape), np.zeros((*shape, n_units))
    for at in np.ndindex(shape):
        # the cases that a reader has read
        read = np.flatnonzero(~readings.missing[at])
        own, score = units[read], np.array(readings.scores[at][read].tolist())  # no objects
        if of_area:
            positive, weight = readings.y_true[read] == classes[1], np.ones(len(read))
            with _checks.naming("scores"):
                values[at], moved = find_area(positive, score.astype(float), weight)
            influence[at] = intervals.add_up(own, unbiased(moved, positive, weight), n_units)
            if unit is not None:  # corrected for the number of groups
                influence[at] *= np.sqrt(n_units / (n_units - 1))
            continue
        # the metric on all read cases, and without each unit
        statistic = make_statistic(metric, readings.y_true[read], score, None)
        present = np.unique(own)
        with _checks.naming("metric", "scores"):
            values[at] = statistic(np.arange(len(read)))
            left = np.array([statistic(np.flatnonzero(own != k)) for k in present])
        n = len(present)
        influence[at][present] = np.sqrt((n - 1) / n) * (left - left.mean())
    return values, influence.reshape(values.size, -1)


def reader_study_size(
    comparison: Comparison,
    *,
    difference: float | None = None,
    power: float = 0.8,
    n_readers: Sequence[int] = tuple(range(3, 15)),
) -> Curve:
    r"""Return the number of cases for a required power, by the number of readers.

    Plan the next study from the variance components of a pilot study or an earlier study.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare_readers`.
    difference : float, default=None
        True difference to detect; None uses the observed one of two systems.
    power : float, default=0.8
        Required probability of detecting the difference.
    n_readers : sequence of int, default=3 to 14
        Numbers of readers to consider.

    Returns
    -------
    curve : Curve
        `x` is the number of readers and `y` the number of cases with the same fraction of each
        class as in the study; nan if no 1,000-fold study of this many readers has the power. A
        column is the power with the number of cases of the study.

    Raises
    ------
    TypeError
        If `comparison` is not a result of `compare_readers`.
    ValueError
        If an argument lies outside its range, or the difference is 0.

    See Also
    --------
    compare_readers : Comparison of systems that several readers use.
    comparison_power : Sample size of comparisons without readers.

    Notes
    -----
    With the components of Obuchowski and Rockette, the variance of the interaction of readers and
    systems is :math:`\sigma_{TR}^2 = \max(0, MS(TR) - \sigma^2 + Cov1 + \max(Cov2 - Cov3, 0))`.
    The errors of the cases are inversely proportional to the number of cases, the number of readers
    divides the rest, and the power follows from the noncentral F distribution on Hillis' degrees of
    freedom [1]_, or from the noncentral t distribution for a one-sided `alternative` of the
    comparison. The level is divided by the number of pairs (Bonferroni); the power under Holm's
    correction is at least this. The components of a small study are uncertain,
    and so is the size. With two readers, the test had a size of .092 at the level .05.

    References
    ----------
    .. [1] Hillis, S. L., Obuchowski, N. A. and Berbaum, K. S. (2011). Power estimation for
       multireader ROC methods: an updated and unified approach. Academic Radiology 18, 129-142.
       https://doi.org/10.1016/j.acra.2010.09.007

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import compare_readers, reader_study_size
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(100) % 2
    >>> difficulty = rng.normal(size=100)
    >>> scores = {
    ...     name: 1.2 * gain * truth + difficulty + rng.normal(size=(6, 100))
    ...     for name, gain in {"alone": 1.0, "assisted": 1.5}.items()
    ... }
    >>> study = compare_readers(truth, scores)
    >>> print(reader_study_size(study, difference=0.05, n_readers=[4, 6, 8, 12]))
    cases for a power of 0.8 to detect a difference of 0.05
    n readers    n cases  power with 100 cases
            4  1079.0000                0.3098
            6   233.0000                0.5342
            8   134.0000                0.7029
           12    75.0000                0.8885
    """
    study = getattr(comparison, "study", None)
    if study is None:
        raise TypeError(
            f"comparison must be a result of compare_readers, got {type(comparison).__name__}."
        )
    # the difference, which a one-sided test must be able to detect
    if difference is None:
        if len(comparison.names) > 2:
            raise ValueError("difference must be passed if more than two systems were compared.")
        difference = comparison.difference.value
    if not isinstance(difference, Real) or not np.isfinite(difference) or difference == 0:
        raise ValueError(f"difference must be a number other than 0, got {difference!r}.")
    alternative = next(iter(comparison.differences.values())).alternative
    if alternative != "two-sided" and (difference > 0) != (alternative == "greater"):
        raise ValueError(
            f"difference must have the sign of the alternative of the comparison, {alternative!r}, "
            f"got {difference!r}."
        )
    # Bonferroni's level for all pairs
    level = comparison.level / len(comparison.differences)
    if not isinstance(power, Real) or not level < power < 1:
        raise ValueError(f"power must satisfy {level:.3g} < power < 1, got {power!r}.")
    least = 2 if study.random_readers else 1
    counts = sorted(
        {_checks.check_count("n_readers", n, least) for n in np.atleast_1d(n_readers).tolist()}
    )
    # smallest number of cases for each number of readers, by bisection
    sizes = range(1, 1 + MAX_TIMES * study.n_cases)
    needed = []
    for n in counts:
        of_cases = partial(study.power, difference, level, n, alternative=alternative)
        at = bisect_left(sizes, power, key=of_cases)
        needed.append(sizes[at] if at < len(sizes) else np.nan)
    return Curve(
        name=f"cases for a power of {power:g} to detect a difference of {difference:.4g}",
        axes=("n_readers", "n_cases"),
        x=np.array(counts, dtype=float),
        y=np.array(needed, dtype=float),
        columns={
            f"power with {study.n_cases} cases": np.array(
                [study.power(difference, level, n, study.n_cases, alternative) for n in counts]
            )
        },
        method=comparison.method,
    )
