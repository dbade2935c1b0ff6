"""Drawing of a calibration curve with its intervals and the band of a calibrated model."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skeval.metrics._calibration import CalibrationCurve, calibration_curve
from skeval.utils._compat import num_samples, safe_indexing
from skeval.utils._plotting import axes_and_figure
from skeval.utils._text import name_estimators

__all__ = ["CalibrationDisplay"]

_CELLS = 40  # of the histogram


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
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
        y_prob: ArrayLike,
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
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
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
            The class of each column of `y_prob`; None is the sorted classes of `y_true`.
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
            y_prob,
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

    def plot(
        self, ax: Any = None, *, band: bool = True, histogram: bool = True, **kwargs: Any
    ) -> CalibrationDisplay:
        """Draw the points with their intervals, the diagonal, the band and the probabilities.

        Parameters
        ----------
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
        self : CalibrationDisplay
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        curve, ax = self.curve, self.ax_
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
        return self

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
            self.curve.y_prob, cells, weights=self.curve.sample_weight, color="C0", alpha=0.3
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


def _read_folds(cv_results: dict[str, Any], n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the estimators of a cross-validation, and the rows that each was tested on."""
    if "estimator" not in cv_results or "indices" not in cv_results:
        raise ValueError(
            "cv_results must come from cross_validate with return_estimator=True and "
            "return_indices=True."
        )
    tested = [np.asarray(rows) for rows in cv_results["indices"]["test"]]
    times = np.bincount(np.concatenate(tested))
    if len(times) > n_samples:
        raise ValueError(f"X must hold the {len(times)} samples of cv_results, got {n_samples}.")
    if times.max() > 1:
        raise ValueError(
            f"cv_results must test a sample once, got one that is tested {times.max()} times: its "
            "predictions are not independent, and intervals would be too short."
        )
    return list(cv_results["estimator"]), tested
