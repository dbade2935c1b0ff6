"""Displays of binary classifier scores and of calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skeval._inference.estimate import Curve
from skeval.metrics import _calibration, _curves
from skeval.utils._checks import check_groups, check_option, check_y, naming
from skeval.utils._compat import num_samples, response_values, safe_indexing
from skeval.utils._plotting import CURVE_DISPLAYS, CurveDisplay
from skeval.utils._text import name_estimators


class ScoreDisplay(CurveDisplay):
    """Curve of a binary score with its intervals. Subclasses define `_compute`."""

    pos_label: Any = None
    _compute: ClassVar[Callable[..., Curve]]
    _responses: ClassVar[tuple[str, ...]] = ("predict_proba", "decision_function")
    """Methods that provide the score. The first one available is used, as by scikit-learn."""
    _is_calibration: ClassVar[bool] = False
    """Whether probabilities of all classes are used, and each sample may be tested only once."""

    @classmethod
    def _score(
        cls, response_method: str, pos_label: object, estimator: Any, X: Any
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the score of each row of X, and the arguments of the curve such as `pos_label`."""
        check_is_fitted(estimator)
        check_option("response_method", response_method, ("auto", *cls._responses))
        methods = list(cls._responses) if response_method == "auto" else response_method
        score, positive = response_values(estimator, X, methods, pos_label)
        if np.ndim(score) == 1:
            return score, {"pos_label": positive}
        if not cls._is_calibration:
            raise ValueError(f"estimator must have two classes, got {len(estimator.classes_)}.")
        return score, {"pos_label": pos_label, "labels": estimator.classes_}

    @classmethod
    def _find_curve(cls, y_true: ArrayLike, y_score: ArrayLike, options: dict[str, Any]) -> Curve:
        """Return the curve of a score."""
        return cls._compute(y_true, y_score, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, exactly two.
        y_score : array-like of shape (n_samples,)
            Target scores. Higher values indicate the positive class. A calibration curve requires
            the probability of the positive class, or of each class.
        name : str, default=None
            Name shown in the legend.
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.
        **kwargs : dict
            Arguments of the function listed under See Also, such as `pos_label` and
            `sample_weight`, and options of `plot`. All other arguments are passed to
            `matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : object of this class
        """
        # arguments of the curve function; the others are options of the plot
        kwargs.pop("drop_intermediate", None)  # of scikit-learn's displays; all points are kept
        names = set(signature(cls._compute).parameters) & set(kwargs)
        options = {argument: kwargs.pop(argument) for argument in names}
        display = cls(cls._find_curve(y_true, y_score, options), name=name)
        display.pos_label = options.get("pos_label")
        return display.plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: object = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted classifier with two classes. For a calibration curve, more classes are supported.
        X : array-like of shape (n_samples, n_features)
            Held-out samples.
        y : array-like of shape (n_samples,)
            Classes of the samples.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Method that provides the score. "auto" uses `predict_proba` or, if it is missing,
            `decision_function`. Net benefit and calibration require `predict_proba`.
        pos_label : int, float, bool or str, default=None
            The positive class. None means the second of ``estimator.classes_``. For a calibration
            curve of more than two classes, None means the class with the largest probability.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        score, options = cls._score(response_method, pos_label, estimator, X)
        kwargs.setdefault("name", name_estimators(estimator)[0])
        return cls.from_predictions(y, score, **options, **kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one curve from the out-of-fold scores of a cross-validation.

        Each sample is scored by models that were fitted without it. Scores from repeated folds are
        averaged, but a calibration curve requires that each sample is tested at most once. Samples
        that are in no test fold are omitted. The curve combines scores of different models, so
        these must have the same scale, as probabilities do.

        Parameters
        ----------
        cv_results : dict
            Result of `sklearn.model_selection.cross_validate` with ``return_estimator=True`` and
            ``return_indices=True``.
        X : array-like of shape (n_samples, n_features)
            The samples passed to the cross-validation.
        y : array-like of shape (n_samples,)
            Classes of the samples.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Method that provides the score, as in `from_estimator`.
        pos_label : int, float, bool or str, default=None
            The positive class. None means the second of the ``classes_`` of the estimators.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. Only the weights of tested samples are passed to `from_predictions`.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient. Only the groups of tested samples are passed
            to `from_predictions`.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        with naming("X", "y"):
            check_consistent_length(X, y, sample_weight)
        needed, n_samples = {"estimator", "indices"}, num_samples(X)
        groups = check_groups(groups, n_samples, crossed=True)
        if not isinstance(cv_results, Mapping) or not needed <= set(cv_results):
            raise ValueError(
                "cv_results must be the result of cross_validate with return_estimator=True and "
                f"return_indices=True, got {type(cv_results).__name__} without them."
            )
        # tested samples of each fold
        models, tests = cv_results["estimator"], [*map(np.asarray, cv_results["indices"]["test"])]
        last = max(int(rows.max()) for rows in tests)
        if last >= n_samples:
            raise ValueError(
                f"X must have the rows of cv_results, 0 to {last}, got {n_samples} rows."
            )
        counts = np.bincount(np.concatenate(tests), minlength=n_samples)
        if cls._is_calibration and counts.max() > 1:
            raise ValueError(
                f"cv_results must test a sample at most once, got {counts.max()} times."
            )
        # scores by the model of each fold, which must have the same classes
        parts = [
            cls._score(response_method, pos_label, model, safe_indexing(X, rows))
            for model, rows in zip(models, tests, strict=True)
        ]
        first, options = parts[0]
        if any(not np.array_equal(options[k], other[k]) for _, other in parts for k in options):
            raise ValueError("cv_results must contain estimators fitted to the same classes.")
        # mean over the folds that test a sample; the others are left out
        sums, tested = np.zeros((n_samples, *first.shape[1:])), counts > 0
        for rows, (scores, _) in zip(tests, parts, strict=True):
            np.add.at(sums, rows, scores)
        score = (sums[tested].T / counts[tested]).T
        for name, values in {"sample_weight": sample_weight, "groups": groups}.items():
            if values is not None:
                kwargs[name] = np.asarray(values)[tested]
        kwargs.setdefault("name", f"{name_estimators(models[0])[0]}, out of fold")
        return cls.from_predictions(check_y("y", y)[tested], score, **options, **kwargs)


class RateDisplay(ScoreDisplay):
    """Curve of two rates with a step at each threshold.

    `plot` accepts the options of scikit-learn's display of the same name.
    """

    _axes: ClassVar = {"xlim": (-0.01, 1.01), "ylim": (-0.01, 1.01), "aspect": "equal"}

    def _draw(
        self,
        ax: Any,
        *,
        name: str | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: dict[str, Any] | None = None,
        despine: bool = False,
        **kwargs: Any,
    ) -> None:
        """Draw the curve and the line of an uninformative score."""
        self.name = name or self.name
        self.chance_level_: Any = None
        if plot_chance_level:
            style = {"color": "0.5", "linewidth": 1, "linestyle": "--", **(chance_level_kw or {})}
            self.chance_level_ = self._draw_chance_level(ax, **style)
        super()._draw(ax, **{**(curve_kwargs or {}), **kwargs})
        if despine:
            ax.spines[["top", "right"]].set_visible(False)

    def _draw_chance_level(self, ax: Any, **style: Any) -> Any:
        """Draw and return the line of an uninformative score."""
        raise NotImplementedError

    def _find_points(self) -> Any:
        return self.curve.extra.points.T


class RocCurveDisplay(RateDisplay, sklearn.metrics.RocCurveDisplay):
    """ROC curve with pointwise intervals and a simultaneous band.

    The arguments and attributes are those of scikit-learn's display, with three differences. The
    chance line is drawn unless ``plot_chance_level=False``, all points of the curve are kept, and
    `from_cv_results` draws one curve of the out-of-fold scores. ``kind="gains"`` draws a chart of
    cumulative gains. Its x, which `fpr` also contains, is the fraction of all samples.

    Parameters
    ----------
    curve : Curve
        Result of `roc_curve_band`.
    name : str, default=None
        Name shown in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains `ax_`.
    line_, chance_level_ : matplotlib Line2D
        The curve, and the line of an uninformative score. The latter is None if it is not drawn.

    See Also
    --------
    roc_curve_band : Computes the curve.

    Examples
    --------
    >>> from skeval.metrics import RocCurveDisplay
    >>> display = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.curve.area.value
    0.75
    """

    _compute = staticmethod(_curves.roc_curve_band)
    _area, _corner = "AUC", "lower right"

    @property
    def fpr(self) -> np.ndarray:
        """False-positive rate at each threshold."""
        return self.curve.extra.points[:, 0]

    @property
    def tpr(self) -> np.ndarray:
        """True-positive rate at each threshold."""
        return self.curve.extra.points[:, 1]

    @property
    def roc_auc(self) -> float:
        """Area under the curve."""
        return self.curve.area.value

    def _draw_chance_level(self, ax: Any, **style: Any) -> Any:
        return ax.plot([0, 1], [0, 1], **{"label": "chance", **style})[0]


class PrecisionRecallDisplay(RateDisplay, sklearn.metrics.PrecisionRecallDisplay):
    """Precision-recall curve with pointwise intervals and a simultaneous band.

    The arguments and attributes are those of scikit-learn's display, with three differences. The
    line of the prevalence is drawn unless ``plot_chance_level=False``, all points of the curve are
    kept, and `from_cv_results` draws one curve of the out-of-fold scores. ``break_even=True`` of
    `plot` marks the point where precision equals recall.

    Parameters
    ----------
    curve : Curve
        Result of `precision_recall_curve_band`.
    name : str, default=None
        Name shown in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains `ax_`.
    line_, chance_level_ : matplotlib Line2D
        The curve, and the line of the prevalence. The latter is None if it is not drawn.
    point_ : matplotlib Line2D or None
        The break-even point.

    See Also
    --------
    precision_recall_curve_band : Computes the curve.

    Examples
    --------
    >>> from skeval.metrics import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(display.curve.area.value, 4)
    0.8333
    """

    _compute = staticmethod(_curves.precision_recall_curve_band)
    _area = "AP"
    _style: ClassVar = {"drawstyle": "steps-pre"}

    def _draw(self, ax: Any, *, break_even: bool = False, **kwargs: Any) -> None:
        super()._draw(ax, **kwargs)
        self.point_: Any = None
        if break_even:
            value, color = self.curve.extra.break_even_point, self.line_.get_color()
            label = f"break-even {value:.3f}"
            (self.point_,) = ax.plot(value, value, "o", color=color, label=label)
            ax.legend(fontsize="small")

    @property
    def recall(self) -> np.ndarray:
        """Recall at each threshold, decreasing to 0."""
        return np.append(self.curve.extra.points[::-1, 0], 0.0)

    @property
    def precision(self) -> np.ndarray:
        """Precision at each threshold. The last value is 1."""
        return np.append(self.curve.extra.points[::-1, 1], 1.0)

    @property
    def average_precision(self) -> float:
        """Average precision."""
        return self.curve.area.value

    @property
    def prevalence_pos_label(self) -> float:
        """Fraction of positives, that is, the precision of an uninformative score."""
        return self.curve.extra.prevalence

    def _draw_chance_level(self, ax: Any, **style: Any) -> Any:
        prevalence = self.curve.extra.prevalence
        return ax.axhline(prevalence, **{"label": f"prevalence {prevalence:.3f}", **style})


class CostCurveDisplay(ScoreDisplay):
    """Cost curve, the normalized expected cost against P(+)cost.

    `from_predictions` draws the curve of `cost_curve`, or of `cost_curve_band` if
    `confidence_level`, `baseline` or `groups` is passed. The option ``lines=True`` of `plot` also
    draws the line of each threshold, for curves without an interval.

    Parameters
    ----------
    curve : Curve
        Result of `cost_curve` or `cost_curve_band`.
    name : str, default=None
        Name shown in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    cost_curve : Computes the curve.
    cost_curve_band : Computes the curve with an interval, or a difference of two curves.

    Examples
    --------
    >>> from skeval.metrics import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_xlabel()
    'P(+)cost'
    """

    _compute = staticmethod(_curves.cost_curve_band)
    _axes: ClassVar = {
        "xlabel": "P(+)cost",
        "ylabel": "Normalized expected cost",
        "xlim": (0, 1),
        "ylim": (0, 0.52),
    }

    @classmethod
    def _find_curve(cls, y_true: ArrayLike, y_score: ArrayLike, options: dict[str, Any]) -> Curve:
        """Return the curve, with an interval if a level, a baseline or groups are passed."""
        band_options = ("confidence_level", "baseline", "groups")
        if any(options.get(name) is not None for name in band_options):
            args = {name: value for name, value in options.items() if value is not None}
            return _curves.cost_curve_band(y_true, y_score, **args)
        data = {name: options.get(name) for name in ("pos_label", "sample_weight")}
        return _curves.cost_curve(y_true, y_score, **data)

    def _draw(self, ax: Any, *, lines: bool = False, **kwargs: Any) -> None:
        super()._draw(ax, **kwargs)
        if lines and self.curve.extra.lines is not None:
            ax.plot([0, 1], self.curve.extra.lines.T, color="0.85", linewidth=0.5, zorder=0)

    def _draw_reference(self, ax: Any, **style: Any) -> None:
        label = "better trivial classifier"
        ax.plot([0, 0.5, 1], [0, 0.5, 0], linestyle="--", label=label, **style)


class NetBenefitDisplay(ScoreDisplay):
    """Decision curve, the net benefit against the threshold, with pointwise intervals.

    Parameters
    ----------
    curve : Curve
        Result of `net_benefit`.
    name : str, default=None
        Name shown in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    net_benefit : Computes the curve.

    Examples
    --------
    >>> from skeval.metrics import NetBenefitDisplay
    >>> display = NetBenefitDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_ylabel()
    'Net benefit'
    """

    _compute = staticmethod(_curves.net_benefit)
    _responses = ("predict_proba",)

    _axes: ClassVar = {"xlabel": "Threshold probability", "ylabel": "Net benefit"}

    def _draw_reference(self, ax: Any, **style: Any) -> None:
        curve = self.curve
        ax.axhline(0, linestyle="--", label="treat none", **style)
        ax.plot(curve.x, curve.columns["treat_all"], label="treat all", **style)
        # the net benefit is at most the prevalence, and has no lower bound
        top = max(curve.extra.prevalence, float(curve.high[0])) * 1.05
        ax.set(xlim=(curve.x.min(), curve.x.max()), ylim=(-top / 3, top))


_N_BARS = 40  # of the histogram


class ReliabilityDisplay(ScoreDisplay):
    """Calibration curve with intervals, a band for a calibrated model, and a histogram.

    The options ``band=False`` and ``histogram=False`` of `plot` omit the band and the histogram of
    the probabilities. Other options are passed to `matplotlib.axes.Axes.errorbar`.

    Parameters
    ----------
    curve : Curve
        Result of `reliability_curve`.
    name : str, default=None
        Name shown in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains `ax_`.
    errorbar_ : matplotlib ErrorbarContainer
        Points with their intervals.
    band_ : matplotlib PolyCollection or None
        The band of a calibrated model.
    histogram_ : matplotlib BarContainer or None
        Histogram of the probabilities.

    See Also
    --------
    reliability_curve : Computes the curve.

    Examples
    --------
    >>> from skeval.metrics import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(
    ...     [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.9], n_bins=2
    ... )
    >>> display.ax_.get_xlabel()
    'Mean predicted probability (positive class: 1)'
    """

    _compute = staticmethod(_calibration.reliability_curve)
    _responses = ("predict_proba",)
    _is_calibration = True

    def _draw(self, ax: Any, *, band: bool = True, histogram: bool = True, **kwargs: Any) -> None:
        """Draw the points with their intervals, the diagonal, the band and the histogram."""
        curve, columns = self.curve, self.curve.columns
        level = f"{100 * curve.confidence_level:g} %"
        self.band_: Any = None
        self.histogram_: Any = None
        if histogram:  # behind the curve, a fifth as high as the axes
            axes, extra = ax.twinx(), curve.extra
            edges = np.linspace(0, 1, _N_BARS + 1)
            options = {"weights": extra.sample_weight, "color": "C0", "alpha": 0.3}
            heights, _, self.histogram_ = axes.hist(extra.y_proba, edges, **options)
            axes.set(ylim=(0, 5 * heights.max()), yticks=[], box_aspect=1)
            ax.set_zorder(axes.get_zorder() + 1)
            ax.patch.set_visible(False)
        # one diagonal for all curves of these axes
        if "calibrated" not in (line.get_label() for line in ax.lines):
            ax.plot([0, 1], [0, 1], linestyle=":", color="0.5", linewidth=1, label="calibrated")
        # band of the observed fractions of a calibrated model
        if band:
            ends = columns["calibrated_low"], columns["calibrated_high"]
            shade = {"color": "0.5", "alpha": 0.2, "linewidth": 0}
            label = f"{level} band if calibrated"
            self.band_ = ax.fill_between(curve.x, *ends, label=label, **shade)
        # points with their intervals
        reach = np.array([curve.y - curve.low, curve.high - curve.y])
        options = {"marker": "o", "capsize": 3, "linewidth": 1.2, "markersize": 4}
        options |= {"yerr": np.maximum(reach, 0)}
        label = f"{self.name or 'observed'}, {level} intervals"
        self.errorbar_: Any = ax.errorbar(curve.x, curve.y, **{**options, "label": label, **kwargs})
        # the labels have the class unless the axes already show another class
        event = f" (positive class: {curve.extra.pos_label})"
        if curve.extra.pos_label is None:
            event = " (of the predicted class)"
        if ax.get_xlabel() not in ("", f"Mean predicted probability{event}"):
            event = ""
        labels = {
            "xlabel": f"Mean predicted probability{event}",
            "ylabel": f"Observed fraction{event}",
        }
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, **labels)
        ax.legend(loc="best", fontsize="small")


CURVE_DISPLAYS |= {
    "ROC curve": RocCurveDisplay,
    "cumulative gains": RocCurveDisplay,
    "precision-recall curve": PrecisionRecallDisplay,
    "cost curve": CostCurveDisplay,
    "difference of cost": CostCurveDisplay,
    "net benefit": NetBenefitDisplay,
    "difference of net benefit": NetBenefitDisplay,
    "calibration curve": ReliabilityDisplay,
}
