"""Result classes: an estimate with its interval, a test with its P-value, and a curve.

Every function that estimates a number returns an `Estimate`. The number is `value`, whether it is
an error, a score or an index. Results of specific methods are attributes of `extra`. Results whose
names depend on the data are in `details`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, SupportsFloat, get_args

import numpy as np

from skeval._inference.intervals import ROUNDING, Limits, LimitsByMethod, clip_limits
from skeval.utils import _checks, _plotting, _text
from skeval.utils._text import DataFrame, ShownAsText

MAX_POINTS, N_POINTS_SHOWN = 12, 6
"""Curves with more points than `MAX_POINTS` are printed at `N_POINTS_SHOWN` points."""
MAX_X_WITH_DECIMALS = 10
"""Values up to this one are printed with four decimals."""


@dataclass(frozen=True)
class ConfidenceInterval(ShownAsText):
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        Limits, in the unit of the estimate.
    confidence_level : float
        Nominal coverage, between 0 and 1.
    method : str
        Name of the interval method.
    """

    low: float
    high: float
    confidence_level: float
    method: str

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        return f"{_text.write_ends(self.low, self.high)} ({level}, {self.method})"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[float]:
        """Yield both limits, as in ``low, high = estimate.interval``."""
        return iter((self.low, self.high))


class Result(ShownAsText):
    """Base class of results, which prints and converts them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        shown = {item.name: getattr(self, item.name) for item in fields(self) if item.repr}  # type: ignore[arg-type]
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in shown.items()
        }

    def to_frame(self) -> DataFrame:
        """Return the numbers of `to_dict` as a data frame with one row. Requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame([self.to_dict()])

    def to_latex(self, **options: Any) -> str:
        """Return names, estimates and intervals as a LaTeX table. Requires pandas and jinja2.

        Parameters
        ----------
        **options : dict
            Options of `pandas.DataFrame.to_latex`, such as `caption` or `float_format`. `columns`
            selects columns of `to_frame`.

        Returns
        -------
        str
        """
        return _text.write_latex(self.to_frame(), **options)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result. Requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or array-like with one for each panel, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        display
            Display of the type of the result, with the drawn artists as attributes.

        Raises
        ------
        TypeError
            If there is no display for this type of result.
        ValueError
            If the results of a mapping cannot share an axis.
        """
        return _plotting.draw_result(self, ax=ax)


Details = Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultWithLimits(Result):
    """Result with a confidence interval of `value` or of a P-value at any confidence level.

    `limits` maps the name of each interval method to a function from the confidence level to two
    limits. Without methods, the limits are nan. Intervals are clipped to `bounds`, the smallest
    and largest possible value.
    """

    limits: LimitsByMethod = field(default_factory=dict, repr=False)
    confidence_level: float = field(default=0.95, repr=False)
    bounds: Limits = field(default=(-np.inf, np.inf), repr=False)
    allow_point: bool = field(default=False, repr=False)

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """Names of the methods that `confidence_interval` supports, the default first."""
        return tuple(self.limits)

    def confidence_interval(
        self,
        confidence_level: float | None = None,
        method: str | None = None,
        alternative: _checks.Alternative = "two-sided",
    ) -> ConfidenceInterval:
        """Return a confidence interval without computing the result again.

        If the values do not vary and the interval would have no width, it is nan, with a warning.

        Parameters
        ----------
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1, and above 0.5 for a one-sided interval. None means
            the level of the result.
        method : str, default=None
            One of `interval_methods`. None means the first. If there are no methods, the limits
            are nan.
        alternative : {"two-sided", "greater", "less"}, default="two-sided"
            Type of interval, as in SciPy. "greater" returns only a lower limit, and "less" only an
            upper limit. The other limit is the smallest or largest possible value.

        Returns
        -------
        ConfidenceInterval
        """
        # level and method
        level = self.confidence_level if confidence_level is None else confidence_level
        _checks.check_confidence_level(level)
        _checks.check_option("alternative", alternative, get_args(_checks.Alternative))
        one_sided = alternative != "two-sided"
        if one_sided and level <= 0.5:
            raise ValueError(
                f"confidence_level must be above 0.5 for alternative={alternative!r}, got {level}."
            )
        methods = self.interval_methods
        if not methods and method is None:
            return ConfidenceInterval(np.nan, np.nan, float(level), "none")
        method = _checks.check_option("method", methods[0] if method is None else method, methods)
        # a one-sided interval has one limit of the two-sided interval with twice the error
        of_two = 2 * level - 1 if one_sided else level
        low, high = clip_limits(self.limits[method](of_two), self.bounds)
        # values that do not vary do not determine an interval
        equal = low == high or high - low <= ROUNDING * max(abs(low), abs(high)) < np.inf
        if equal and not self.allow_point:
            both = f"both of its limits are {low:.6g}"
            _checks.warn_undefined(f"The interval is undefined (nan), because {both}.")
            low = high = np.nan
        if alternative == "greater" and not np.isnan(low):
            high = float(self.bounds[1])
        elif alternative == "less" and not np.isnan(low):
            low = float(self.bounds[0])
        return ConfidenceInterval(low, high, float(level), method)


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultWithValue(ResultWithLimits):
    """Number with its standard error and confidence interval."""

    name: str
    value: float
    standard_error: float
    method: str
    n_samples: int | None = None
    extra: Any = None

    def __post_init__(self) -> None:
        _ = self.interval  # warns at once if there is none

    # a result is its value in a float, a format, and a comparison with a number
    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __lt__(self, other: SupportsFloat) -> bool:
        return self.value < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return self.value > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return self.value >= float(other)

    @cached_property
    def interval(self) -> ConfidenceInterval:
        """Interval of `value` by the first of `interval_methods`, at `confidence_level`."""
        return self.confidence_interval()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the interval, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "method": self.method,
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.interval.low,
            "high": self.interval.high,
            "confidence_level": self.interval.confidence_level,
            "interval": self.interval.method,
            "n_samples": self.n_samples,
            **_keep_plain(self),
        }

    def _lines(self) -> list[tuple[str, str]]:
        """Return label and text of each line below the title."""
        ends = _text.write_ends(self.interval.low, self.interval.high)
        rows = [
            ("value", _text.write_number(self.value)),
            ("standard error", _text.write_spread(self.standard_error)),
        ]
        if self.limits:
            level = f"{100 * self.confidence_level:g} % interval"
            rows.append((level, f"{ends} ({self.interval.method})"))
        if self.n_samples is not None:
            rows.append(("samples", f"{self.n_samples}"))
        return [*rows, *_list_details(_keep_plain(self))]

    def __str__(self) -> str:
        named_below = self.method == self.interval.method
        title = self.name if named_below else f"{self.name} ({self.method})"
        return _text.align_text(title, self._lines())


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate(ResultWithValue):
    """Point estimate with its standard error and confidence interval.

    Attributes
    ----------
    name : str
        Name of the estimated quantity, such as "error rate" or "area under the ROC curve".
    value : float
        Point estimate.
    standard_error : float
        Estimated standard error, or nan if unknown.
    interval : ConfidenceInterval
        Interval of `value` by the first of `interval_methods`.
    method : str
        Estimation method, as passed to the argument `method`.
    n_samples : int or None
        Number of distinct samples used.
    replicates : ndarray
        Numbers whose mean is `value`, or its bootstrap replicates. Empty if there are none.
    n_groups : int or None
        Number of groups, or None for independent samples.
    effective_n_samples : float or None
        Number of independent samples whose mean would have this standard error, or None if
        unknown.
    intraclass_correlation : float, tuple of float or None
        Correlation of samples in a group, one value for each kind of crossed groups. None without
        groups.
    loss : str
        Name of the loss whose mean is `value`. Empty for other quantities.
    extra : object
        Further results of the method as attributes, or None if there are none. They are described
        in the function that returns the estimate. For example, errors and scores of procedures have
        the number of fits (``extra.n_fits``), and the bootstrap has its out-of-bag error
        (``extra.oob``).
    details : mapping
        Further results with names that depend on the data.
    confidence_level : float
        Nominal coverage of `interval`.
    limits : mapping of str to callable
        Function from a confidence level to two limits, for each interval method. Empty for
        descriptive values.
    bounds : tuple of two floats
        Smallest and largest possible value, to which intervals are clipped.
    allow_point : bool
        Whether an interval may have zero width, which is possible for ranks and order statistics.
    """

    replicates: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    details: Details = field(default_factory=dict)
    loss: str = ""
    n_groups: int | None = None
    effective_n_samples: float | None = None
    intraclass_correlation: float | tuple[float, ...] | None = None

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimate, or the results of its method in `extra`. Requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or array-like with one for each panel, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        display
            Display of the type of the result, with the drawn artists as attributes.
        """
        draw = _plotting.draw_result.dispatch(type(self.extra))
        if draw is _plotting.draw_result.dispatch(object):
            draw = _plotting.draw_result
        return draw(self, ax=ax)

    def __str__(self) -> str:
        caution = self.details.get("caution")
        return f"{super().__str__()}\n! {caution}" if caution else super().__str__()


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorExtra:
    """Fields of `extra` for the estimated error or score of a procedure.

    Attributes
    ----------
    n_resamples : int or None
        Number of resamples, or None if the method does not resample.
    n_undefined : int or None
        Number of resamples or fits without a defined value, which are omitted.
    n_fits : int or None
        Number of fits, including those that failed.
    n_failed : int
        Number of failed fits that were omitted (``error_score=numpy.nan`` only).
    degrees_of_freedom : float or None
        Degrees of freedom of Student's t quantile, or None for the normal quantile.
    fold_mean : float or None
        Mean of the fold errors of a single cross-validation. In contrast, `value` is the mean over
        samples.
    no_interval : {"", "few_large_losses", "few_groups", "unstable_models", "too_wide"}
        Reason why the interval is nan. Empty if there is an interval.
    parameters : dict
        Parameters of the method.
    by_output : dict of Estimate
        Error of each output or label if a sample has several. Otherwise empty.
    """

    n_resamples: int | None = None
    n_undefined: int | None = None
    n_fits: int | None = None
    n_failed: int = 0
    degrees_of_freedom: float | None = None
    fold_mean: float | None = None
    no_interval: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by_output: Mapping[str, Estimate] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class BootstrapExtra(ErrorExtra):
    r"""Terms of the formulas in `bootstrap_error`. For a score, the terms are scores.

    Attributes
    ----------
    resubstitution : float
        Error of a model trained on all samples, on the same samples (`AE`).
    oob : float
        Error on the samples that are not in the resample, averaged over resamples (`BI`).
    no_information : float
        Mean loss over all pairs of a label and a prediction (:math:`\gamma`).
    relative_overfitting : float
        `R`, from 0 (no overfitting) to 1 (no better than no information).
    weight : float
        Weight of the out-of-bag error in the estimate.
    optimism : float or None
        Mean optimism, or None unless the method is "optimism".
    n_redrawn : int
        Number of degenerate resamples that were drawn again.
    """

    resubstitution: float
    oob: float
    no_information: float
    relative_overfitting: float
    weight: float
    optimism: float | None = None
    n_redrawn: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class PerturbationExtra(ErrorExtra):
    """Results of perturbation resampling.

    Attributes
    ----------
    statistic : {"cross_validation", "resubstitution"}
        The perturbed error.
    resubstitution : float
        Error of one fit on all samples, on these samples.
    statistics : ndarray of shape (n_resamples,)
        Perturbed statistic `W*` of each resample.
    """

    statistic: str
    resubstitution: float
    statistics: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class HoldoutExtra(ErrorExtra):
    """Results for the classes of a test set.

    Attributes
    ----------
    n_errors : float
        Number of errors, or a sum of weights if samples have weights.
    classes : ndarray of shape (n_classes,)
        Classes in the test set.
    class_errors : ndarray of shape (n_classes,)
        Error rate of each class.
    class_sizes : ndarray of shape (n_classes,)
        Effective number of samples of each class.
    priors : ndarray of shape (n_classes,) or None
        Prior of each class, or None for random sampling.
    variance_reduction : float or None
        Variance of the same number of samples drawn at random, minus `standard_error` squared. It
        is positive if selective sampling reduced the variance. None for random sampling.
    """

    n_errors: float
    classes: np.ndarray = field(repr=False)
    class_errors: np.ndarray = field(repr=False)
    class_sizes: np.ndarray = field(repr=False)
    priors: np.ndarray | None = field(default=None, repr=False)
    variance_reduction: float | None = None


@dataclass(frozen=True, kw_only=True)
class MetricExtra:
    """A metric in a report, with its name in scikit-learn, its class, and its direction."""

    metric: str = ""
    label: str | None = None
    greater_is_better: bool | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Test(ResultWithLimits):
    """Result of a hypothesis test.

    Attributes
    ----------
    name : str
        Name of the statistic, such as "accuracy" or "silhouette_score".
    statistic : float
        Value of the statistic.
    pvalue : float
        Probability of a statistic at least as extreme under the null hypothesis.
    method : str
        Name of the test.
    pvalue_interval : ConfidenceInterval or None
        Interval for the P-value of infinitely many resamples, or None if `pvalue` is exact.
    null_distribution : ndarray of shape (n_resamples,)
        Statistic of each resample.
    n_resamples : int
        Number of resamples.
    n_exceedances : int or None
        Number of resamples with a statistic at least as extreme as the observed one, or None if
        there are no resamples.
    caution : str
        Sentence on the limits of the P-value. It is usually empty.
    stopped : bool or None
        Whether a sequential permutation test has stopped early. None for other tests.
    exchanged : str
        Units that a permutation test permutes. Empty if they are single samples.
    null_hypothesis : str
        Null hypothesis in words. Empty if single samples are permuted.
    details : mapping
        Further results of the test.
    limits : mapping of str to callable
        Function from a confidence level to the limits of `pvalue_interval`, for each method. Empty
        if `pvalue` is exact.
    """

    __test__ = False  # pytest would collect a class with this name

    name: str
    statistic: float
    pvalue: float
    method: str
    null_distribution: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    n_resamples: int = 0
    details: Details = field(default_factory=dict)
    n_exceedances: int | None = None
    caution: str = field(default="", repr=False)
    stopped: bool | None = None
    exchanged: str = ""
    null_hypothesis: str = ""

    @property
    def pvalue_interval(self) -> ConfidenceInterval | None:
        """Interval for the P-value of infinitely many resamples, or None if `pvalue` is exact."""
        return self.confidence_interval() if self.limits else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        ends: dict[str, Any] = {}
        if self.limits:
            low, high = self.confidence_interval()
            ends = {"pvalue_low": low, "pvalue_high": high}
            ends["confidence_level"] = float(self.confidence_level)
        return {
            "name": self.name,
            "method": self.method,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            **ends,
            "n_resamples": self.n_resamples,
            **_keep_plain(self),
        }

    def __str__(self) -> str:
        rows = [("statistic", _text.write_number(self.statistic))]
        if len(self.null_distribution):
            null = self.null_distribution[~np.isnan(self.null_distribution)]
            spread = "undefined"
            if null.size:
                spread = f"{_text.write_number(null.mean())} (sd {_text.write_spread(null.std())})"
            rows.append(("under the null hypothesis", spread))
        rows.append(("P-value", _text.write_pvalue(self.pvalue)))
        if self.limits:
            low, high = self.confidence_interval()
            text = f"[{low:.4g}, {high:.4g}] ({100 * self.confidence_level:g} %)"
            rows.append(("Monte Carlo interval", text))
        if self.n_resamples:
            rows.append(("resamples", f"{self.n_resamples}"))
        rows += _list_details(_keep_plain(self))
        text = _text.align_text(f"{self.method} ({self.name})", rows)
        return f"{text}\n! {self.caution}" if self.caution else text


class Results(dict[Any, Any], Result):
    """Mapping from names to results or numbers, for example one result for each metric.

    Entries are also attributes. For example, ``metrics.roc_auc`` is ``metrics["roc_auc"]``.

    Attributes
    ----------
    less_the_rest : dict of Estimate
        For a metric in subgroups, the difference of each subgroup from all other samples.
        Otherwise empty.
    largest_difference : Estimate or None
        For a metric in two or more subgroups, the largest minus the smallest value.
    """

    less_the_rest: Mapping[Any, Estimate] = MappingProxyType({})
    largest_difference: Estimate | None = None

    def __repr__(self) -> str:
        return dict.__repr__(self)

    def __missing__(self, name: Any) -> Any:
        raise KeyError(_checks.name_missing(name, self))

    def __getattr__(self, name: str) -> Any:
        """Return an entry with this name."""
        if name in self:
            return self[name]
        raise AttributeError(name if name.startswith("_") else _checks.name_missing(name, self))

    def to_dict(self) -> dict[str, Any]:
        """Return the results as dicts and the numbers unchanged, without arrays.

        Returns
        -------
        dict
        """
        return {
            str(key): value.to_dict() if isinstance(value, Result) else value
            for key, value in self.items()
            if not isinstance(value, np.ndarray)
        }

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each result or number. Requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        rows = self.to_dict()
        frames = [row if isinstance(row, dict) else {"value": row} for row in rows.values()]
        return _text.make_frame(frames, list(rows))

    def __str__(self) -> str:
        lines, blocks = [], []
        for key, value in self.items():
            # values have a line each, and other results follow as blocks
            if isinstance(value, ResultWithValue):
                number, interval = _text.write_number(value.value), value.interval
                ends = "" if np.isnan(interval.low) else f" {interval}"
                method = "" if value.method in ("", interval.method) else f", {value.method}"
                lines.append((str(key), f"{number}{ends}{method}"))
            elif isinstance(value, Result):
                blocks.append(str(value))
            elif not isinstance(value, np.ndarray):
                whole = isinstance(value, int | str)
                lines.append((str(key), str(value) if whole else _text.write_number(value)))
        width = max((len(key) for key, _ in lines), default=0)
        return "\n".join([*(f"{key:<{width}}  {text}" for key, text in lines), *blocks])


class Band(NamedTuple):
    """Limits of a simultaneous band for the whole curve, each of shape (n_points,)."""

    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve(Result):
    """Estimated curve with pointwise intervals and a simultaneous band.

    Attributes
    ----------
    name : str
        Name of the curve, such as "ROC curve".
    axes : tuple of two str
        Names of `x` and `y`.
    x, y : ndarray of shape (n_points,)
        Points of the curve, with `x` increasing.
    low, high : ndarray of shape (n_points,), or None
        Limits of the pointwise interval at each `x`, or None if there is none.
    band : Band or None
        ``band.low`` and ``band.high`` are the limits of a simultaneous band for the whole curve.
    thresholds : ndarray or None
        Threshold of the score at each point, or None if points have no threshold.
    area : Estimate or None
        Area under the curve with its interval, or None if it was not computed.
    confidence_level : float
        Nominal coverage of the interval at each point, of the band, and of the interval of the
        area.
    method : str
        Name of the interval method.
    columns : mapping of str to ndarray of shape (n_points,)
        Further values at each point, with their names as keys.
    answer : str
        Conclusion in words, printed above the points. Usually empty.
    extra : object
        Further results as attributes, or None if there are none. The function that returns the
        curve describes them.
    """

    name: str
    axes: tuple[str, str]
    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    low: np.ndarray | None = field(default=None, repr=False)
    high: np.ndarray | None = field(default=None, repr=False)
    band: Band | None = field(default=None, repr=False)
    thresholds: np.ndarray | None = field(default=None, repr=False)
    area: Estimate | None = None
    confidence_level: float = 0.95
    method: str = "none"
    columns: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    answer: str = field(default="", repr=False)
    extra: Any = field(default=None, repr=False)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Any:
        """Draw the curve. Requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, which may have other curves. None creates a new figure.
        name : str, default=None
            Name in the legend. None means the name of the curve.

        Returns
        -------
        display
            Display of the curve, with the drawn artists as attributes.
        """
        return _plotting.draw_curve(self, ax=ax, name=name)

    def at(self, x: Any) -> np.ndarray:
        """Return the height of the curve at each `x`, by linear interpolation."""
        places = np.asarray(x, dtype=float)
        first, last = self.x[[0, -1]]
        if not ((places >= first) & (places <= last)).all():
            raise ValueError(
                f"{self.axes[0]} must lie in [{first:g}, {last:g}], got {places.tolist()}."
            )
        return np.interp(places, self.x, self.y)

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {self.axes[0]: self.x, self.axes[1]: self.y}
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low, "high": self.high}
        if self.band is not None:
            columns |= {"band_low": self.band.low, "band_high": self.band.high}
        return columns | dict(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the points as lists, and the numbers without other arrays, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "method": self.method,
            **{name: column.tolist() for name, column in self._columns().items()},
            "area": None if self.area is None else self.area.to_dict(),
            "confidence_level": self.confidence_level,
            **_keep_plain(self),
        }

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each point. Requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame(self._columns())

    def __str__(self) -> str:
        # conclusion, area and numbers
        lines = [self.name]
        if self.answer:
            lines.append(_text.fill_text(self.answer))
        if self.area is not None:
            suffix = f", {self.area.interval}" if np.isfinite(self.area.interval.low) else ""
            lines.append(f"area {_text.write_number(self.area.value)}{suffix}")
        values = {k: value for k, value in _keep_plain(self).items() if not isinstance(value, bool)}
        lines += [f"{key} {text}" for key, text in _list_details(values)]
        # columns of the points
        head = [axis.replace("_", " ") for axis in self.axes]
        across = "{:.6g}" if np.abs(self.x).max() > MAX_X_WITH_DECIMALS else "{:.4f}"
        parts: list[Iterable[str]] = [map(across.format, self.x), map("{:.4f}".format, self.y)]
        level = f"{100 * self.confidence_level:g} % interval"
        if self.low is not None and self.high is not None:
            head.append(level)
            parts.append(map(_text.write_ends, self.low, self.high))
        if self.band is not None:
            head.append("band of the law" if "law" in self.columns else "whole curve")
            parts.append(map(_text.write_ends, *self.band))
        for name, column in self.columns.items():
            head.append(name.replace("_", " "))
            write = "{:.4f}".format if column.dtype.kind == "f" else str
            parts.append(map(write, column))
        # some points of a long curve
        n_shown = len(self.x) if len(self.x) <= MAX_POINTS else N_POINTS_SHOWN
        shown = np.linspace(0, len(self.x) - 1, n_shown).astype(int)
        rows = list(zip(*parts, strict=True))
        left = {at for at, name in enumerate(head) if name.startswith((level, "whole", "band"))}
        return "\n".join(
            [*lines, *_text.align_rows([head, *(rows[at] for at in shown)], left=left)]
        )


def _keep_plain(result: Any) -> dict[str, Any]:
    """Return a dict of the numbers and texts that are specific to a result.

    They are the fields after `details`, the fields of `extra`, and the details, without arrays and
    empty values.
    """
    # fields after `details`, fields of `extra`, then the details
    names = [item.name for item in fields(result)]
    special = names[names.index("details") + 1 :] if "details" in names else []
    values = {name: getattr(result, name) for name in special}
    extra = getattr(result, "extra", None)
    if extra is not None:
        values |= {item.name: getattr(extra, item.name) for item in fields(extra)}
    values |= getattr(result, "details", {})
    plain = (str, int, float, bool, np.number, np.bool_)
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
        if isinstance(value, plain) and value != ""
    }


def _list_details(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and text of each value. `n_groups` becomes "groups"."""
    shown = {key: value for key, value in values.items() if key != "caution"}
    n_failed = shown.pop("n_failed", 0)
    rows = [("failed fits", str(n_failed))] if n_failed else []
    return rows + [
        (
            " ".join(part for part in key.split("_") if part != "n"),
            _text.write_number(value) if isinstance(value, float) else str(value),
        )
        for key, value in shown.items()
    ]


_plotting.draw_result.register(ResultWithValue, _plotting.EstimatesDisplay.from_result)
_plotting.draw_result.register(Test, _plotting.NullDistributionDisplay.from_result)
_plotting.draw_result.register(Results, _plotting.draw_mapping)
_plotting.draw_result.register(Curve, _plotting.draw_curve)
