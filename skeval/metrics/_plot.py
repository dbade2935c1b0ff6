"""Displays of the score of a classifier of two classes, and of calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skeval.metrics._calibration import CalibrationCurve, calibration_curve
from skeval.metrics._checks import check_binary_scores
from skeval.metrics._cost import CostCurve, CostCurveBand, cost_curve, cost_curve_band
from skeval.metrics._curves import (
    NetBenefit,
    net_benefit,
    precision_recall_curve_band,
    roc_curve_band,
)
from skeval.metrics._ranking import break_even_point
from skeval.utils._checks import check_groups, check_y, naming
from skeval.utils._compat import num_samples, safe_indexing
from skeval.utils._plotting import Display
from skeval.utils._text import name_estimators

__all__ = [
    "BreakEvenDisplay",
    "CalibrationDisplay",
    "CostCurveDisplay",
    "NetBenefitDisplay",
    "PrecisionRecallDisplay",
    "RocCurveDisplay",
]


def _positive_scores(
    estimator: Any, X: ArrayLike, pos_label: object, responses: tuple[str, ...]
) -> tuple[np.ndarray, object]:
    """Return the score of the positive class for each row of X, and that class."""
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", [])
    if len(classes) != 2:
        raise ValueError(f"estimator must be a classifier of two classes, got {len(classes)}.")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise ValueError(f"pos_label must be one of {list(classes)}, got {pos_label!r}.")
    response = next((name for name in responses if hasattr(estimator, name)), None)
    if response is None:
        raise ValueError(
            f"estimator must have {' or '.join(responses)}, got {type(estimator).__name__}."
        )
    score = getattr(estimator, response)(X)
    if response == "decision_function":
        return (score if positive == classes[1] else -score), positive
    return score[:, list(classes).index(positive)], positive


def _out_of_fold_scores(
    cv_results: Any, X: ArrayLike, n_samples: int, pos_label: object, responses: tuple[str, ...]
) -> tuple[np.ndarray, object]:
    """Return the mean score of each sample over the folds that test it, nan where none does."""
    estimators, tested = _read_folds(cv_results, n_samples)
    sums, counts = np.zeros(n_samples), np.zeros(n_samples)
    positive: object = None
    for estimator, test in zip(estimators, tested, strict=True):
        score, positive = _positive_scores(estimator, safe_indexing(X, test), pos_label, responses)
        np.add.at(sums, test, score)
        np.add.at(counts, test, 1)
    return np.divide(sums, counts, out=np.full(n_samples, np.nan), where=counts > 0), positive


def _read_folds(cv_results: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the estimators of a cross-validation, and the rows that each was tested on."""
    needed = {"estimator", "indices"}
    if not isinstance(cv_results, Mapping) or not needed <= set(cv_results):
        raise ValueError(
            "cv_results must be what cross_validate returns with return_estimator=True and "
            "return_indices=True, got "
            f"{sorted(cv_results) if isinstance(cv_results, Mapping) else type(cv_results)}."
        )
    tested = [np.asarray(rows) for rows in cv_results["indices"]["test"]]
    last = max(int(rows.max()) for rows in tested)
    if last >= n_samples:
        raise ValueError(
            f"X must be what cv_results come from: a fold tests sample {last}, "
            f"X has {n_samples} samples."
        )
    return list(cv_results["estimator"]), tested


class ScoreDisplay(Display):
    """A display of the score of a classifier of two classes, made by its `from_predictions`."""

    _responses: ClassVar[tuple[str, ...]] = ("decision_function", "predict_proba")
    """Which of a classifier's responses are its score, the first that it has."""
    _responses_of_folds: ClassVar[tuple[str, ...]] = ("predict_proba", "decision_function")
    """The same for several fitted classifiers, whose probabilities have one scale."""

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: ArrayLike, **kwargs: Any) -> Self:
        """Draw the curve of a score; each display says which options it takes."""
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, pos_label: object = None, **kwargs: Any
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier
            Fitted; its `decision_function`, or else `predict_proba`, gives the score. Net benefit
            takes `predict_proba` alone.
        X : array-like of shape (n_samples, n_features)
            Held-out samples.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of ``estimator.classes_``.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        score, positive = _positive_scores(estimator, X, pos_label, cls._responses)
        kwargs.setdefault("name", name_estimators(estimator)[0])
        return cls.from_predictions(y, score, pos_label=positive, **kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one curve of the out-of-fold scores of a cross-validation.

        Each sample is scored by the models that were fitted without it. Over repeated folds its
        scores are averaged; a sample that no fold tests is left out. The scores of different
        models meet in one curve, so that they must share a scale: `predict_proba` is taken where
        there is one.

        Parameters
        ----------
        cv_results : dict
            As `sklearn.model_selection.cross_validate` returns it with ``return_estimator=True``
            and ``return_indices=True``.
        X : array-like of shape (n_samples, n_features)
            The samples that were cross-validated.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of the ``classes_`` of the estimators.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to `from_predictions` for the samples that are tested.
        groups : array-like of shape (n_samples,), default=None
            Passed to `from_predictions` for the samples that are tested.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        if groups is not None and "groups" not in signature(cls.from_predictions).parameters:
            raise ValueError(f"groups must be None for {cls.__name__}, which has no band of them.")
        with naming("X", "y"):
            check_consistent_length(X, y, sample_weight)
        groups = check_groups(groups, num_samples(X))
        score, positive = _out_of_fold_scores(
            cv_results, X, num_samples(X), pos_label, cls._responses_of_folds
        )
        tested = ~np.isnan(score)
        given = {"sample_weight": sample_weight, "groups": groups}
        for name, values in given.items():
            if values is not None:
                kwargs[name] = np.asarray(values)[tested]
        kwargs.setdefault("name", name_estimators(cv_results["estimator"][0])[0])
        labels = check_y("y", y)[tested]
        return cls.from_predictions(labels, score[tested], pos_label=positive, **kwargs)


def draw_bands(ax: Any, x: np.ndarray, band: Any, color: Any) -> None:
    """Shade the interval at each x of a curve, and more faintly the band of the whole."""
    level = f"{100 * band.confidence_level:g} %"
    style: dict[str, Any] = {"color": color, "linewidth": 0}
    ax.fill_between(
        x, band.low, band.high, alpha=0.25, label=f"{level} interval at each point", **style
    )
    ax.fill_between(
        x,
        band.simultaneous_low,
        band.simultaneous_high,
        alpha=0.12,
        label=f"{level} band of the whole curve",
        **style,
    )


@dataclass(eq=False, repr=False)
class BandDisplay(ScoreDisplay):
    """A curve of a score, its intervals and its band: what ROC and precision-recall share.

    A subclass says what computes the band, which of its fields are the horizontal axis and the area
    under the curve, what the area is called, and how the axes are named.
    """

    band: Any
    _: KW_ONLY
    name: str | None = None

    _compute: ClassVar[Callable[..., Any]]
    _across: ClassVar[str]
    _area: ClassVar[str]
    _short: ClassVar[str]
    _axes: ClassVar[dict[str, str]]
    _style: ClassVar[dict[str, Any]] = {}
    _corner: ClassVar[str] = "best"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 1000,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            The share of each sample in the rates.
        groups : array-like of shape (n_samples,), default=None
            For samples that belong together.
        confidence_level : float, default=0.95
            Coverage of the interval at each point, of the band and of the interval of the area.
        n_resamples : int, default=1000
            Curves that are simulated for the band of the whole.
        random_state : int, RandomState, Generator or None, default=None
            Draws the simulated curves.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : object of this class
        """
        band = cls._compute(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        return cls(band, name=name).plot(ax, **kwargs)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the curve, its bands, and a score without information."""
        band = self.band
        area, ends = getattr(band, self._area), getattr(band, f"{self._area}_interval")
        self._draw_chance(ax, color="0.5", linewidth=1, linestyle="--")
        label = (
            f"{self.name or 'score'} ({self._short} {area:.3f}, {ends.low:.3f} to {ends.high:.3f})"
        )
        (self.line_,) = ax.plot(*band.points.T, **{"label": label, **self._style, **kwargs})
        draw_bands(ax, getattr(band, self._across), band, self.line_.get_color())
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", **self._axes)
        ax.legend(loc=self._corner, fontsize="small")

    def _draw_chance(self, ax: Any, **style: Any) -> None:
        """Draw the curve of a score without information."""
        raise NotImplementedError


class RocCurveDisplay(BandDisplay):
    """ROC curve with its interval at each point and the band of the whole curve.

    Parameters
    ----------
    band : RocCurveBand
        The curve and its bands.
    name : str, default=None
        What the legend calls the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    roc_curve_band : The numbers.

    Examples
    --------
    >>> from skeval.metrics import RocCurveDisplay
    >>> display = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.band.area
    0.75
    """

    _compute = staticmethod(roc_curve_band)
    _across, _area, _short = "false_positive_rate", "area", "AUC"
    _axes: ClassVar = {"xlabel": "False-positive rate", "ylabel": "True-positive rate"}
    _corner = "lower right"

    def _draw_chance(self, ax: Any, **style: Any) -> None:
        ax.plot([0, 1], [0, 1], label="chance", **style)


class PrecisionRecallDisplay(BandDisplay):
    """Precision-recall curve with its interval at each recall and the band of the whole curve.

    Parameters
    ----------
    band : PrecisionRecallCurveBand
        The curve and its bands.
    name : str, default=None
        What the legend calls the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    precision_recall_curve_band : The numbers.
    BreakEvenDisplay : The curve with its break-even point.

    Examples
    --------
    >>> from skeval.metrics import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(display.band.average_precision, 4)
    0.8333
    """

    _compute = staticmethod(precision_recall_curve_band)
    _across, _area, _short = "recall", "average_precision", "AP"
    _axes: ClassVar = {"xlabel": "Recall", "ylabel": "Precision"}
    _style: ClassVar = {"drawstyle": "steps-pre"}

    def _draw_chance(self, ax: Any, **style: Any) -> None:
        ax.axhline(self.band.prevalence, label=f"prevalence {self.band.prevalence:.3f}", **style)


@dataclass(eq=False, repr=False)
class BreakEvenDisplay(ScoreDisplay):
    """Precision-recall curve with the point where the two are equal.

    Parameters
    ----------
    precision, recall : ndarray of shape (n_cuts,)
        As `precision_recall_curve` returns them.
    break_even : float
        The value of `break_even_point`.
    average_precision : float
        The area under the steps.
    prevalence : float
        Fraction of positive samples, the precision of a score without information.
    name : str, default=None
        What the legend calls the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.
    point_ : matplotlib Line2D
        The break-even point.

    See Also
    --------
    break_even_point : The number.

    Examples
    --------
    >>> from skeval.metrics import BreakEvenDisplay
    >>> display = BreakEvenDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.break_even
    0.5
    """

    precision: np.ndarray
    recall: np.ndarray
    _: KW_ONLY
    break_even: float
    average_precision: float
    prevalence: float
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> BreakEvenDisplay:
        """Draw the curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : BreakEvenDisplay
        """
        positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
        if not positive[weight > 0].any():
            raise ValueError("y_true must hold a positive sample, got none.")
        precision, recall, _ = precision_recall_curve(positive, score, sample_weight=weight)
        display = cls(
            precision,
            recall,
            break_even=break_even_point(positive, score, sample_weight=weight),
            average_precision=average_precision_score(positive, score, sample_weight=weight),
            prevalence=float(np.average(positive, weights=weight)),
            name=name,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the curve, its break-even point on the diagonal, and the prevalence."""
        faint: dict[str, Any] = {"color": "0.6", "linewidth": 1}
        ax.plot([0, 1], [0, 1], linestyle=":", label="precision = recall", **faint)
        ax.axhline(
            self.prevalence, linestyle="--", label=f"prevalence {self.prevalence:.3f}", **faint
        )
        label = f"{self.name or 'score'} (AP {self.average_precision:.3f})"
        (self.line_,) = ax.plot(self.recall, self.precision, **{"label": label, **kwargs})
        (self.point_,) = ax.plot(
            self.break_even,
            self.break_even,
            "o",
            color=self.line_.get_color(),
            label=f"break-even {self.break_even:.3f}",
        )
        ax.set(xlabel="Recall", ylabel="Precision", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        ax.legend(loc="best")


@dataclass(eq=False, repr=False)
class CostCurveDisplay(ScoreDisplay):
    """Cost curve: normalised expected cost against P(+)cost.

    Parameters
    ----------
    curve : CostCurve or None
        The curve; None where only the band of a difference is drawn.
    band : CostCurveBand, default=None
        Its interval, or the difference of two curves with its interval.
    name : str, default=None
        What the legend calls it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    cost_curve : The numbers.

    Examples
    --------
    >>> from skeval.metrics import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_xlabel()
    'P(+)cost'
    """

    curve: CostCurve | None
    _: KW_ONLY
    band: CostCurveBand | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        baseline: ArrayLike | None = None,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float | None = None,
        n_resamples: int = 1000,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        lines: bool = False,
        **kwargs: Any,
    ) -> CostCurveDisplay:
        """Draw the cost curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        baseline : array-like of shape (n_samples,), default=None
            A second score: the difference of the two curves is drawn, at `confidence_level` 0.95 by
            default.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            The share of each sample in the rates.
        confidence_level : float, default=None
            Pointwise coverage of a band; None draws none.
        n_resamples : int, default=1000
            Resamples of the band.
        random_state : int, RandomState, Generator or None, default=None
            Draws the resamples.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        lines : bool, default=False
            Draw the line of every threshold as well.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : CostCurveDisplay
        """
        curve = band = None
        if baseline is None:
            curve = cost_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        if baseline is not None or confidence_level is not None:
            band = cost_curve_band(
                y_true,
                y_score,
                baseline=baseline,
                pos_label=pos_label,
                sample_weight=sample_weight,
                confidence_level=0.95 if confidence_level is None else confidence_level,
                n_resamples=n_resamples,
                random_state=random_state,
            )
        return cls(curve, band=band, name=name).plot(ax, lines=lines, **kwargs)

    def _draw(self, ax: Any, *, lines: bool = False, **kwargs: Any) -> None:
        """Draw the curve, its band, and the two trivial classifiers."""
        difference = self.band is not None and self.band.is_difference
        if difference:
            ax.axhline(0, color="0.5", linewidth=1, linestyle="--")
        else:
            trivial: dict[str, Any] = {"color": "0.5", "linewidth": 1, "linestyle": "--"}
            ax.plot([0, 0.5, 1], [0, 0.5, 0], label="better trivial classifier", **trivial)
        if lines and self.curve is not None:
            ends = self.curve.lines.T
            ax.plot([0, 1], ends, color="0.85", linewidth=0.5, zorder=0)
        (self.line_,) = ax.plot(*self._points(), **{"label": self._label(), **kwargs})
        if self.band is not None:
            ax.fill_between(
                self.band.probability_cost,
                self.band.low,
                self.band.high,
                color=self.line_.get_color(),
                alpha=0.2,
                linewidth=0,
                label=f"{100 * self.band.confidence_level:g} % interval at each point",
            )
        what = "Difference of normalised expected cost" if difference else None
        ax.set(xlabel="P(+)cost", ylabel=what or "Normalised expected cost", xlim=(0, 1))
        if not difference:
            ax.set_ylim(0, 0.52)
        ax.legend(loc="best")

    def _points(self) -> tuple[np.ndarray, np.ndarray]:
        if self.curve is not None:
            return self.curve.probability_cost, self.curve.normalized_expected_cost
        if self.band is None:
            raise ValueError("CostCurveDisplay needs a curve or a band, got neither.")
        return self.band.probability_cost, self.band.cost

    def _label(self) -> str:
        name = self.name or ("difference" if self.curve is None else "cost curve")
        return name if self.curve is None else f"{name} (area {self.curve.area:.3f})"


@dataclass(eq=False, repr=False)
class NetBenefitDisplay(ScoreDisplay):
    """Decision curve: net benefit against the threshold, with its interval.

    Parameters
    ----------
    curve : NetBenefit
        The net benefit of a model, or the difference of two.
    name : str, default=None
        What the legend calls the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    net_benefit : The numbers.

    Examples
    --------
    >>> from skeval.metrics import NetBenefitDisplay
    >>> display = NetBenefitDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_ylabel()
    'Net benefit'
    """

    curve: NetBenefit
    _: KW_ONLY
    name: str | None = None
    _responses: ClassVar[tuple[str, ...]] = ("predict_proba",)
    _responses_of_folds: ClassVar[tuple[str, ...]] = ("predict_proba",)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        baseline: ArrayLike | None = None,
        thresholds: ArrayLike | None = None,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> NetBenefitDisplay:
        """Draw the decision curve of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two at most.
        y_score : array-like of shape (n_samples,)
            Predicted probabilities of the positive class.
        baseline : array-like of shape (n_samples,), default=None
            Probabilities of a second model: the difference of the two curves is drawn.
        thresholds : array-like of shape (n_thresholds,), default=None
            Where to find it, in [0, 1); None is 0.01, 0.02, ..., 0.99.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        groups : array-like of shape (n_samples,), default=None
            For samples that belong together.
        confidence_level : float, default=0.95
            Coverage at each threshold.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : NetBenefitDisplay
        """
        curve = net_benefit(
            y_true,
            y_score,
            baseline=baseline,
            thresholds=thresholds,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            confidence_level=confidence_level,
        )
        return cls(curve, name=name).plot(ax, **kwargs)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the curve, its interval, and what treating all and none would gain."""
        curve, difference = self.curve, self.curve.is_difference
        faint: dict[str, Any] = {"color": "0.5", "linewidth": 1}
        name = self.name or ("difference" if difference else "model")
        (self.line_,) = ax.plot(
            curve.thresholds, curve.net_benefit, **{"label": name, "zorder": 3, **kwargs}
        )
        ax.fill_between(
            curve.thresholds,
            curve.low,
            curve.high,
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
            label=f"{100 * curve.confidence_level:g} % interval at each threshold",
        )
        ax.axhline(0, linestyle="--", label=None if difference else "treat none", **faint)
        if not difference:
            ax.plot(curve.thresholds, curve.treat_all, label="treat all", **faint)
            top = max(curve.prevalence, float(curve.high[0])) * 1.05
            ax.set_ylim(-top / 3, top)
        what = "Difference of net benefit" if difference else "Net benefit"
        ax.set(xlabel="Threshold probability", ylabel=what)
        ax.set_xlim(curve.thresholds.min(), curve.thresholds.max())
        ax.legend(loc="best", fontsize="small")


_CELLS = 40  # of the histogram


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Calibration curve with intervals, the band of a calibrated model, and the scores.

    Parameters
    ----------
    curve : CalibrationCurve
        What is drawn.
    name : str, default=None
        What the legend calls it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    errorbar_ : matplotlib ErrorbarContainer
        The points with their intervals.
    band_ : matplotlib PolyCollection or None
        The band of a calibrated model.
    histogram_ : matplotlib BarContainer or None
        The probabilities.

    See Also
    --------
    calibration_curve : The numbers.

    Examples
    --------
    >>> from skeval.metrics import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions(
    ...     [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.9], n_bins=2
    ... )
    >>> display.ax_.get_xlabel()
    'Mean predicted probability (positive class: 1)'
    """

    curve: CalibrationCurve
    _: KW_ONLY
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        method: str = "clopper_pearson",
        confidence_level: float = 0.95,
        pos_label: object = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        band: bool = True,
        histogram: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Draw the curve of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes.
        y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probability of the positive class, or of each class.
        n_bins : int, default=10
            Number of bins.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of equally many samples, or of equal width.
        method : {"clopper_pearson", "wilson"}, default="clopper_pearson"
            The interval of each bin.
        confidence_level : float, default=0.95
            Nominal coverage in each bin by itself, of the interval and of the band.
        pos_label : int, float, bool or str, default=None
            The positive class, as in `calibration_curve`; of several columns, None draws how often
            the class of the largest probability is the true one.
        labels : array-like of shape (n_classes,), default=None
            The class of each column of `y_proba`; None is the sorted classes of `y_true`.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        band : bool, default=True
            Draw the band of a calibrated model.
        histogram : bool, default=True
            Draw the probabilities at the foot.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.errorbar` for the points.

        Returns
        -------
        display : CalibrationDisplay
        """
        curve = calibration_curve(
            y_true,
            y_proba,
            n_bins=n_bins,
            strategy=strategy,
            method=method,
            confidence_level=confidence_level,
            pos_label=pos_label,
            labels=labels,
            sample_weight=sample_weight,
        )
        return cls(curve, name=name).plot(ax, band=band, histogram=histogram, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, pos_label: object = None, **kwargs: Any
    ) -> CalibrationDisplay:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `predict_proba`.
        X : array-like of shape (n_samples, n_features)
            Held-out samples.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of two, and of more whichever is the likeliest.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : CalibrationDisplay
        """
        probability, classes = _predict_classes(estimator, X)
        kwargs.setdefault("name", name_estimators(estimator)[0])
        chosen = _choose_class(classes, pos_label)
        return cls.from_predictions(y, probability, pos_label=chosen, labels=classes, **kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Draw one curve of the out-of-fold probabilities of a cross-validation.

        Parameters
        ----------
        cv_results : dict
            Of ``cross_validate`` of scikit-learn with ``return_estimator=True`` and
            ``return_indices=True``; no sample may be tested twice.
        X : array-like of shape (n_samples, n_features)
            The samples that were given to it.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of two, and of more whichever is the likeliest.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : CalibrationDisplay
        """
        estimators, tested = _read_folds(cv_results, num_samples(X))
        _check_tested_once(tested)
        parts = [
            _predict_classes(estimator, safe_indexing(X, rows))
            for estimator, rows in zip(estimators, tested, strict=True)
        ]
        classes = parts[0][1]
        if any(list(found) != list(classes) for _, found in parts):
            raise ValueError("cv_results must hold estimators that all saw the same classes.")
        rows = np.concatenate(tested)
        weight = None if sample_weight is None else safe_indexing(sample_weight, rows)
        kwargs.setdefault("name", f"{name_estimators(estimators[0])[0]}, out of fold")
        probability = np.vstack([found for found, _ in parts])
        chosen = _choose_class(classes, pos_label)
        options = {"pos_label": chosen, "labels": classes, "sample_weight": weight, **kwargs}
        return cls.from_predictions(safe_indexing(y, rows), probability, **options)

    def _draw(self, ax: Any, *, band: bool = True, histogram: bool = True, **kwargs: Any) -> None:
        """Draw the points with their intervals, the diagonal, the band and the probabilities."""
        curve, ax = self.curve, ax
        level = f"{100 * curve.confidence_level:g} %"
        self.band_ = self.histogram_ = None
        if histogram:
            self.histogram_ = self._draw_histogram()
        if "calibrated" not in (line.get_label() for line in ax.lines):
            ax.plot([0, 1], [0, 1], linestyle=":", color="0.4", linewidth=1, label="calibrated")
        if band:
            self.band_ = ax.fill_between(
                curve.mean_predicted,
                curve.band_low,
                curve.band_high,
                color="0.5",
                alpha=0.2,
                linewidth=0,
                label=f"{level} band if calibrated",
            )
        reach = np.array([curve.observed - curve.low, curve.high - curve.observed])
        options = {"fmt": "o-", "capsize": 3, "linewidth": 1.2, "markersize": 4}
        label = f"{self.name or 'observed'}, {level} intervals"
        self.errorbar_ = ax.errorbar(
            curve.mean_predicted,
            curve.observed,
            yerr=np.maximum(reach, 0),
            **{**options, "label": label, **kwargs},
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, **self._axis_labels())
        ax.legend(loc="best", fontsize="small")

    def _axis_labels(self) -> dict[str, str]:
        """Return what the axes show; of which class, unless curves of several meet there."""
        event = f" (positive class: {self.curve.pos_label})"
        if self.curve.pos_label is None:
            event = " (of the predicted class)"
        labels = "Mean predicted probability", "Observed fraction"
        drawn = self.ax_.get_xlabel()
        if drawn and drawn != labels[0] + event:
            event = ""
        return {"xlabel": labels[0] + event, "ylabel": labels[1] + event}

    def _draw_histogram(self) -> Any:
        """Draw the probabilities behind the curve, a fifth as high as the axes."""
        foot = self.ax_.twinx()
        cells = np.linspace(0, 1, _CELLS + 1)
        heights, _, bars = foot.hist(
            self.curve.y_proba, cells, weights=self.curve.sample_weight, color="C0", alpha=0.3
        )
        foot.set(ylim=(0, 5 * heights.max()), yticks=[], box_aspect=1)
        self.ax_.set_zorder(foot.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        return bars


def _predict_classes(estimator: Any, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of all classes for each row of X, and the classes."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator must be a classifier with predict_proba, got {type(estimator).__name__}."
        )
    return np.asarray(estimator.predict_proba(X)), estimator.classes_


def _choose_class(classes: np.ndarray, pos_label: object) -> object:
    return classes[1].item() if pos_label is None and len(classes) == 2 else pos_label


def _check_tested_once(tested: list[np.ndarray]) -> None:
    times = np.bincount(np.concatenate(tested)).max()
    if times > 1:
        raise ValueError(
            f"cv_results must test a sample once, got one that is tested {times} times: its "
            "predictions are not independent, and intervals would be too short."
        )
