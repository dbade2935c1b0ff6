"""The forms of what is found: an estimate with its interval, and a test with its P-value.

Whatever estimates a number returns an `Estimate`: the number is `value`, whether it is an error, a
score, a difference or an index, and what only some methods find stands in `details`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skeval.utils import _text
from skeval.utils._checks import check_confidence_level, check_option, warn_undefined
from skeval.utils._plotting import draw_result
from skeval.utils._text import DataFrame, ShownAsText

__all__ = [
    "ANSWER",
    "Band",
    "ConfidenceInterval",
    "Curve",
    "Details",
    "Estimate",
    "Limits",
    "LimitsByMethod",
    "Result",
    "Results",
    "Test",
]

Limits = tuple[float, float]
LimitsByMethod = Mapping[str, Callable[[float], Limits]]
_ROUNDING = 1e-12  # a relative width
MOST_POINTS, FEW_POINTS = 12, 6
"""A curve of more points than these is printed at these."""
LONGEST_UNIT = 10
"""An axis that goes further is printed without decimals that say nothing."""


@dataclass(frozen=True)
class ConfidenceInterval(ShownAsText):
    """A two-sided confidence interval.

    Attributes
    ----------
    low, high : float
        Its ends, in the unit of the estimate.
    confidence_level : float
        Nominal coverage, between 0 and 1.
    method : str
        How it was made.
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


class Result(ShownAsText):
    """What every result does: it prints itself, and is a dict, a row of a frame and a picture."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # type: ignore[arg-type]
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in shown.items()
        }

    def to_frame(self) -> DataFrame:
        """Return the numbers of `to_dict` as a frame of one row; requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame([self.to_dict()])

    def to_latex(self, **options: Any) -> str:
        """Return `to_frame` as a LaTeX table; requires pandas and jinja2.

        Parameters
        ----------
        **options : dict
            Those of `pandas.DataFrame.to_latex`, as `columns`, `caption` or `float_format`.

        Returns
        -------
        str
        """
        text: str = self.to_frame().to_latex(**{"escape": True, "float_format": "%.4g"} | options)
        return text

    def plot(self, ax: Any = None) -> Any:
        """Draw the result; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or array-like of one for each panel, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display
            That which fits the result, with what was drawn in its attributes.

        Raises
        ------
        TypeError
            If no display draws such a result.
        ValueError
            If the results of a mapping have no axis in common.
        """
        return draw_result(self, ax)


Details = Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultWithLimits(Result):
    """A result whose numbers make an interval at any confidence level, of `value` or of a P-value.

    It is given the ends of its intervals by method, as functions of the level; without any, the
    ends are nan. No interval ends beyond `bounds`, the smallest and the largest value that there
    can be.
    """

    limits: LimitsByMethod = field(default_factory=dict, repr=False)
    confidence_level: float = field(default=0.95, repr=False)
    bounds: Limits = field(default=(-np.inf, np.inf), repr=False)
    allow_point: bool = field(default=False, repr=False)

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        return tuple(self.limits)

    def confidence_interval(
        self, confidence_level: float | None = None, method: str | None = None
    ) -> ConfidenceInterval:
        """Read an interval off the numbers of the result, without computing them again.

        Where nothing varies and the interval would have no width, it is nan, with a warning.

        Parameters
        ----------
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1; None keeps that of the result.
        method : str, default=None
            One of `interval_methods`; None takes the first. Where there is none the ends are nan.

        Returns
        -------
        ConfidenceInterval
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        check_confidence_level(level)
        methods = self.interval_methods
        if not methods and method is None:
            return ConfidenceInterval(np.nan, np.nan, float(level), "none")
        method = check_option("method", methods[0] if method is None else method, methods)
        low, high = np.clip(self.limits[method](level), *self.bounds).tolist()
        if not self.allow_point:
            low, high = require_width((low, high))
        return ConfidenceInterval(low, high, float(level), method)


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate(ResultWithLimits):
    """A number that was estimated, and how far it is known.

    Attributes
    ----------
    name : str
        What was estimated, in words: "error rate", "area under the ROC curve".
    value : float
        The point estimate, in the unit of what was estimated.
    standard_error : float
        Its estimated standard error, in the same unit; nan where it is not known.
    method : str
        How it was estimated: the string that the argument `method` takes.
    n_samples : int or None
        Number of distinct samples that it rests on.
    n_failed : int
        Number of fits that failed and were left out (``error_score=numpy.nan`` only).
    replicates : ndarray
        What `value` was averaged from, or its bootstrap replicates; empty where there are none.
    details : mapping
        What else the method found, by name.
    interval : ConfidenceInterval
        That of `value`, by the first of `interval_methods`.
    confidence_level : float
        Nominal coverage of `interval`.
    limits : mapping of str to callable
        By the name of each interval method, the function from a confidence level to two ends;
        empty where only the data at hand are described.
    bounds : tuple of two floats
        The smallest and the largest value that there can be; no interval ends beyond them.
    allow_point : bool
        Whether an interval may hold one value alone, as those of ranks and order statistics may.
    """

    name: str
    value: float
    standard_error: float
    method: str
    n_samples: int | None = None
    n_failed: int = 0
    replicates: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    details: Details = field(default_factory=dict)
    interval: ConfidenceInterval = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", self.confidence_interval())

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
            "n_failed": self.n_failed,
            **_keep_plain(self.details),
        }

    def _lines(self) -> list[tuple[str, str]]:
        """Return the lines of the printed result below its title."""
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
        if self.n_failed:
            rows.append(("failed fits", f"{self.n_failed}"))
        return [*rows, *_list_details(self.details)]

    def __str__(self) -> str:
        named_below = self.method == self.interval.method
        title = self.name if named_below else f"{self.name} ({self.method})"
        return _write_result(title, self._lines(), self.details)


@dataclass(frozen=True, eq=False, kw_only=True)
class Test(ResultWithLimits):
    """A test of a hypothesis by what the statistic is where the hypothesis holds.

    Attributes
    ----------
    name : str
        The statistic: "accuracy", "silhouette_score".
    statistic : float
        Its value for the data.
    pvalue : float
        Probability, if the hypothesis holds, of a statistic at least as extreme.
    method : str
        Which test it is.
    pvalue_interval : ConfidenceInterval or None
        Where the P-value of infinitely many resamples lies; None where `pvalue` is exact.
    null_distribution : ndarray of shape (n_resamples,)
        The statistics of the resamples.
    n_resamples : int
        How many were made.
    details : mapping
        What else was found, by name; a "caution" is a sentence to read before quoting the P-value.
    limits : mapping of str to callable
        By the name of each method, the function from a confidence level to the ends of
        `pvalue_interval`; empty where `pvalue` is exact.
    """

    __test__: ClassVar[bool] = False  # pytest takes a class of this name for one of its own

    name: str
    statistic: float
    pvalue: float
    method: str
    null_distribution: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    n_resamples: int = 0
    details: Details = field(default_factory=dict)

    @property
    def pvalue_interval(self) -> ConfidenceInterval | None:
        """Where the P-value of infinitely many resamples lies; None where `pvalue` is exact."""
        return self.confidence_interval() if self.limits else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        known: dict[str, Any] = {}
        if self.limits:
            interval = self.confidence_interval()
            known = {
                "pvalue_low": interval.low,
                "pvalue_high": interval.high,
                "confidence_level": interval.confidence_level,
            }
        return {
            "name": self.name,
            "method": self.method,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            **known,
            "n_resamples": self.n_resamples,
            **_keep_plain(self.details),
        }

    def _lines(self) -> list[tuple[str, str]]:
        """Return the lines of the printed result below its title."""
        rows = [("statistic", _text.write_number(self.statistic))]
        if len(self.null_distribution):
            null = self.null_distribution[~np.isnan(self.null_distribution)]
            spread = "undefined"
            if null.size:
                spread = f"{_text.write_number(null.mean())} (sd {_text.write_spread(null.std())})"
            rows.append(("under the hypothesis", spread))
        rows.append(("P-value", _text.write_pvalue(self.pvalue, 4)))
        if self.limits:
            interval = self.confidence_interval()
            ends = f"[{interval.low:.4g}, {interval.high:.4g}]"
            level = f"{100 * self.confidence_level:g} %"
            rows.append(("its Monte-Carlo interval", f"{ends} ({level})"))
        if self.n_resamples:
            rows.append(("resamples", f"{self.n_resamples}"))
        return [*rows, *_list_details(self.details)]

    def __str__(self) -> str:
        return _write_result(f"{self.method} ({self.name})", self._lines(), self.details)


class Results(dict[Any, Any], Result):
    """Results or numbers by name: those of several metrics, or all that one call computes.

    Attributes
    ----------
    largest_difference : Estimate or None
        Of a metric in subgroups of the samples: the largest difference between two of them. Its
        `details` name the `first`, which has the larger value, the `second`, and the number of
        pairs, `n_pairs`; its interval holds its level for all pairs at once. None where no two
        have an interval, and of all else.
    less_the_rest : dict of Estimate
        Of a metric in subgroups that are held against all other samples: the differences; else
        empty.
    """

    __repr__ = dict.__repr__
    largest_difference: Estimate | None = None
    less_the_rest: Mapping[Any, Estimate] = MappingProxyType({})

    def __missing__(self, name: Any) -> Any:
        raise KeyError(f"no {name!r}; there are {', '.join(map(repr, self))}")

    def to_dict(self) -> dict[str, Any]:
        """Return what each result is as a dict, and the numbers as they are, without arrays.

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
        """Return one row for each result or number; requires pandas.

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
            if isinstance(value, Estimate):
                known, error = _text.write_number(value.value), value.standard_error
                told = f"{known} +/- {_text.write_spread(error)} ({value.method})"
                lines.append((str(key), told))
            elif isinstance(value, Result):
                blocks.append(str(value))
            elif not isinstance(value, np.ndarray):
                whole = isinstance(value, int | str)
                lines.append((str(key), str(value) if whole else _text.write_number(value)))
        width = max((len(key) for key, _ in lines), default=0)
        return "\n".join([*(f"{key:<{width}}  {text}" for key, text in lines), *blocks])


CAUTION, ANSWER = "caution", "answer"
"""The names of details that are sentences of their own, below the numbers and above them."""


def _write_result(title: str, lines: list[tuple[str, str]], details: Details) -> str:
    """Return the printed result, with its caution at the end."""
    text = _text.align_text(title, lines)
    return f"{text}\n! {details[CAUTION]}" if details.get(CAUTION) else text


class Band(NamedTuple):
    """The ends of a band that is meant to hold a whole curve, shape (n_points,) each."""

    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve(Result):
    """A curve that was estimated, and how far it is known.

    Attributes
    ----------
    name : str
        What it is, in words: "ROC curve".
    axes : tuple of two str
        What `x` and `y` are.
    x, y : ndarray of shape (n_points,)
        The curve, by increasing `x`.
    low, high : ndarray of shape (n_points,), or None
        Ends of the interval at each `x` by itself; None where there is none.
    band : Band or None
        ``band.low`` and ``band.high`` are meant to hold the whole curve at once.
    thresholds : ndarray or None
        Thresholds of a score; the function says of what.
    area : Estimate or None
        The area under the curve.
    confidence_level : float
        Nominal coverage of the interval at each point, of the band and of the area's interval.
    method : str
        How intervals were made.
    columns : mapping of str to ndarray of shape (n_points,)
        What else there is at each point, by name.
    details : mapping
        What else was found, by name.
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
    details: Details = field(default_factory=dict, repr=False)

    def at(self, x: Any) -> np.ndarray:
        """Return the height of the curve at each of some `x`, on straight lines between points."""
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
            **_keep_plain(self.details),
        }

    def to_frame(self) -> DataFrame:
        """Return a row for each point; requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame(self._columns())

    def __str__(self) -> str:
        lines = [self.name]
        if self.details.get(ANSWER):
            lines.append(_text.fill_text(self.details[ANSWER]))
        if self.area is not None:
            known = f", {self.area.interval}" if np.isfinite(self.area.interval.low) else ""
            lines.append(f"area {_text.write_number(self.area.value)}{known}")
        told = {k: each for k, each in self.details.items() if not isinstance(each, bool)}
        lines += [f"{key} {text}" for key, text in _list_details(told)]
        head = [axis.replace("_", " ") for axis in self.axes]
        across = "{:.6g}" if np.abs(self.x).max() > LONGEST_UNIT else "{:.4f}"
        parts: list[Iterable[str]] = [map(across.format, self.x), map("{:.4f}".format, self.y)]
        level = f"{100 * self.confidence_level:g} % interval"
        if self.low is not None and self.high is not None:
            head.append(level)
            parts.append(map(_text.write_ends, self.low, self.high))
        if self.band is not None:
            head.append("whole curve")
            parts.append(map(_text.write_ends, *self.band))
        for name, column in self.columns.items():
            head.append(name.replace("_", " "))
            write = "{:.4f}".format if column.dtype.kind == "f" else str
            parts.append(map(write, column))
        n_shown = len(self.x) if len(self.x) <= MOST_POINTS else FEW_POINTS
        shown = np.linspace(0, len(self.x) - 1, n_shown).astype(int)
        rows = list(zip(*parts, strict=True))
        left = {at for at, name in enumerate(head) if name in (level, "whole curve")}
        return "\n".join(
            [*lines, *_text.align_rows([head, *(rows[at] for at in shown)], left=left)]
        )


def _keep_plain(details: Details) -> dict[str, Any]:
    """Return the details that are numbers, words or nothing."""
    plain = (str, int, float, bool, np.number, np.bool_, type(None))
    return {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in details.items()
        if isinstance(value, plain)
    }


def _list_details(details: Details) -> list[tuple[str, str]]:
    """Return the details that are numbers or words as lines: `n_groups` is "groups"."""
    return [
        (
            " ".join(part for part in key.split("_") if part != "n"),
            _text.write_number(value) if isinstance(value, float) else str(value),
        )
        for key, value in _keep_plain(details).items()
        if value is not None and key not in (CAUTION, ANSWER)
    ]


def require_width(limits: Limits) -> Limits:
    """Return the limits; nan with a warning where they coincide."""
    low, high = limits
    if low != high and not high - low <= _ROUNDING * max(abs(low), abs(high)) < np.inf:
        return limits
    warn_undefined(
        f"The interval is undefined, nan: nothing varies around {low:.6g}, so that the data do not "
        "say how the estimate would."
    )
    return np.nan, np.nan
