"""Instability of predictions: models of resamples compared with the model of all samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from skeval._adapters.fits import fit_plan
from skeval._inference.estimate import Result
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import Params
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval.metrics._validation import find_smooth_curve
from skeval.model_selection._bootstrap import plan_bootstrap
from skeval.model_selection._bootstrap_score import predict_all
from skeval.model_selection._estimates import fit_to_all
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._plotting import Display, draw_result
from skeval.utils._text import align_text, make_frame, write_number

GRID = np.linspace(0.01, 0.99, 99)
"""Probabilities at which calibration curves are computed."""


def prediction_instability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 200,
    threshold: float | None = None,
    stratify: bool = False,
    groups: Any = None,
    indices: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> PredictionInstability:
    r"""Measure how much each prediction varies between bootstrap samples of the training data.

    A model is fitted to each of `B` bootstrap resamples and predicts all `n` samples [1]_. With
    :math:`\hat p_i` the prediction of the model fitted to all samples, and :math:`\hat p_i^b` that
    of the model of resample `b`, the mean absolute prediction error (MAPE) of sample `i` and the
    classification instability index are

    .. math:: MAPE_i = \frac1B \sum_b |\hat p_i^b - \hat p_i| , \qquad
        CII_i = \frac1B \sum_b 1[\hat c_i^b \neq \hat c_i] ,

    with :math:`\hat c` the predicted class. Smaller is better, 0 is best.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba`, or a regressor. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    n_resamples : int, default=200
        Number `B` of resamples.
    threshold : float, default=None
        Probability from which the second of two classes is predicted; None uses `predict`.
    stratify : bool, default=False
        Draw within each class.
    groups : array-like of shape (n_samples,), default=None
        Draw whole groups instead of samples.
    indices : int array-like of shape (n_resamples, n_samples), default=None
        Use these resamples instead of drawing any.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, in every fit, in the means over samples and in calibration curves.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples, which are the same as in `bootstrap_error` and `bootstrap_score`.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise the error, or leave out the resample, count it and warn.

    Returns
    -------
    PredictionInstability
        `mape` and `classification_instability` hold a value for each sample; `plot` draws the
        instability plot and, for two classes, the calibration instability plot.

    Raises
    ------
    ValueError
        If a classifier has no `predict_proba`, `threshold` is not a probability of two classes, or
        a class has fewer than two members.

    See Also
    --------
    bootstrap_score : Scores of the procedure, corrected for optimism, with the same resamples.

    Notes
    -----
    The model of a resample was trained on about 63 % of the samples that it predicts, so the
    instability is somewhat larger for new samples. Instability is not an error: a model that
    ignores its training samples has a MAPE of 0. For more than two classes, MAPE is the mean over
    the classes.

    References
    ----------
    .. [1] Riley, R. D. and Collins, G. S. (2023). Stability of clinical prediction models developed
       using statistical or machine learning methods. Biometrical Journal 65, 2200302.
       https://doi.org/10.1002/bimj.202200302

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import prediction_instability
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = prediction_instability(GaussianNB(), X[:100, :3], y[:100], random_state=0)
    >>> print(result)
    prediction instability
      mean MAPE     0.0280
      largest MAPE  0.1404 (sample 9)
      other class   3.0 % of the predictions
      samples       100
      resamples     200
    """
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    per_sample = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(estimator, X, y, with_loss=False, **per_sample, **run)
    check_threshold(inputs, threshold)
    target, root = inputs.target, _checks.root_seed(random_state)
    _, plan = plan_bootstrap(inputs, root, n_resamples, stratify=stratify, indices=indices)
    methods = ("predict",) if target.classes is None else ("predict", "predict_proba")
    request = FitRequest(methods)

    whole = fit_to_all(inputs.with_options(error_score="raise"), request)
    predictions, classes = read_predictions(inputs, whole, threshold)
    resampled, changed, n_failed = [], [], 0
    for _, output in fit_plan(inputs, predict_all(plan), request):
        n_failed += int(output.failed.sum())
        for one in output:
            if not one.failed[0]:
                values, labels = read_predictions(inputs, one, threshold)
                resampled.append(values)
                changed.append(labels != classes)
    several = np.array(resampled)

    weight = np.ones(len(target)) if inputs.weight is None else inputs.weight
    mape = np.abs(several - predictions).mean(axis=0)
    curves = None
    if target.n_classes == 2:
        event = target.codes == 1
        all_models = [predictions, *several]
        curves = np.array([find_smooth_curve(event, p, weight, GRID) for p in all_models])
    mape = mape if mape.ndim == 1 else mape.mean(axis=1)
    index = None if target.classes is None else np.mean(changed, axis=0)
    low, high = np.quantile(several, [0.025, 0.975], axis=0)
    return PredictionInstability(
        n_samples=len(target),
        n_resamples=len(several),
        n_failed=n_failed,
        mean_mape=float(np.average(mape, weights=weight)),
        mean_classification_instability=(
            None if index is None else float(np.average(index, weights=weight))
        ),
        predictions=predictions,
        resampled=several,
        low=low,
        high=high,
        mape=mape,
        classification_instability=index,
        calibration_curves=curves,
    )


def check_threshold(inputs: Inputs, threshold: Any) -> None:
    """Raise unless there are probabilities, and for a threshold two classes."""
    if inputs.target.classes is not None and "predict_proba" not in inputs.responses:
        raise ValueError(
            "estimator must have predict_proba or be a regressor, got "
            f"{type(inputs.estimator).__name__}; CalibratedClassifierCV adds probabilities."
        )
    if threshold is None:
        return
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if inputs.target.n_classes != 2 or not real or not 0 < threshold < 1:
        raise ValueError(
            "threshold must be a probability between 0 and 1 of the second of two classes, got "
            f"{threshold!r} for {inputs.target.n_classes} classes."
        )


def read_predictions(
    inputs: Inputs, output: FitOutput, threshold: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions of all samples as numbers or probabilities, and as classes."""
    if inputs.target.classes is None:
        return output.predicted, output.predicted
    if output.probability is None:
        raise ValueError("estimator must predict a probability of each class; a model did not.")
    probability = output.probability
    if inputs.target.n_classes == 2:
        probability = probability[:, 1]
    return probability, output.predicted if threshold is None else probability >= threshold


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionInstability(Result):
    """Instability of the predictions of a procedure over bootstrap resamples.

    Attributes
    ----------
    n_samples, n_resamples, n_failed : int
        Number of samples, of resamples with a model, and of fits that failed.
    mean_mape : float
        Mean of `mape` over the samples.
    mean_classification_instability : float or None
        Mean of `classification_instability` over the samples.
    predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Numbers, or probabilities of the second of two classes or of each of more, by the model
        fitted to all samples.
    resampled : ndarray of shape (n_resamples, n_samples, ...)
        The same by the model of each resample.
    low, high : ndarray of the shape of `predictions`
        Quantiles .025 and .975 of `resampled`: the 95 % instability interval.
    mape : ndarray of shape (n_samples,)
        Mean absolute difference of `resampled` from `predictions`.
    classification_instability : ndarray of shape (n_samples,) or None
        Share of the models of resamples that predict another class than the model of all samples;
        None for regressors.
    calibration_curves : ndarray of shape (1 + n_resamples, 99) or None
        Frequency of the second of two classes among the samples at the predicted probabilities .01
        to .99, of the model of all samples first; nan where a model predicts no such probability.
    """

    n_samples: int
    n_resamples: int
    n_failed: int
    mean_mape: float
    mean_classification_instability: float | None
    predictions: np.ndarray = field(repr=False)
    resampled: np.ndarray = field(repr=False)
    low: np.ndarray = field(repr=False)
    high: np.ndarray = field(repr=False)
    mape: np.ndarray = field(repr=False)
    classification_instability: np.ndarray | None = field(repr=False)
    calibration_curves: np.ndarray | None = field(repr=False)

    def to_frame(self) -> Any:
        """Return one row for each sample; requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        names = ["mape"] if self.predictions.ndim > 1 else ["predictions", "low", "high", "mape"]
        if self.classification_instability is not None:
            names.append("classification_instability")
        rows = zip(*(getattr(self, name) for name in names), strict=True)
        return make_frame([dict(zip(names, row, strict=True)) for row in rows])

    def __str__(self) -> str:
        most = int(np.argmax(self.mape))
        rows = [
            ("mean MAPE", write_number(self.mean_mape)),
            ("largest MAPE", f"{write_number(float(self.mape[most]))} (sample {most})"),
            ("samples", f"{self.n_samples}"),
            ("resamples", f"{self.n_resamples}"),
        ]
        if self.mean_classification_instability is not None:
            share = f"{100 * self.mean_classification_instability:.1f} %"
            rows.insert(2, ("other class", f"{share} of the predictions"))
        if self.n_failed:
            rows.append(("failed fits", f"{self.n_failed}"))
        return align_text("prediction instability", rows)


MAX_LINES = 100
"""Largest number of calibration curves that are drawn."""


@dataclass(kw_only=True, eq=False, repr=False)
class InstabilityDisplay(Display):
    """Instability plot: predictions of resampled models against predictions of the final model.

    For two classes a second panel has the calibration curve of each model on all samples. It is
    recommended to use `from_result` to create a display, or `plot` of a result.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Predictions of the model fitted to all samples.
    resampled : ndarray of shape (n_resamples, n_samples, ...)
        Predictions of the models of the resamples.
    low, high : ndarray of the shape of `predictions`
        Limits of the 95 % instability interval of each prediction.
    calibration_curves : ndarray of shape (1 + n_resamples, 99) or None
        Calibration curves; the first belongs to the model of all samples.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure used by `plot`; `axes_` has all panels.
    points_ : matplotlib PathCollection
        The predictions of the models of resamples.
    curves_ : list of matplotlib Line2D
        The calibration curves.

    See Also
    --------
    prediction_instability : Computes the predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from skeval.model_selection import InstabilityDisplay, prediction_instability
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = prediction_instability(Ridge(), X, y, n_resamples=20, random_state=0)
    >>> InstabilityDisplay.from_result(result).ax_.get_ylabel()
    'models of resamples'
    """

    predictions: np.ndarray
    resampled: np.ndarray
    low: np.ndarray
    high: np.ndarray
    calibration_curves: np.ndarray | None

    @property
    def _panels(self) -> list[str]:
        """Return the names of the panels."""
        return ["predictions"] + ["calibration"] * (self.calibration_curves is not None)

    def _find_size(self, **options: Any) -> tuple[float, float]:
        """Return the size of a figure with square panels."""
        return 4.8, 4.4 * len(self._panels)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the points with their intervals, and the calibration curves."""
        x, y = self.predictions.ravel(), self.resampled.reshape(len(self.resampled), -1)
        drawn = {"s": 4, "color": "0.6", "alpha": 0.3, "linewidths": 0, "rasterized": True}
        self.points_ = ax.scatter(np.tile(x, len(y)), y.ravel(), **(drawn | kwargs))
        order = np.argsort(x)
        for ends, label in ((self.low, "95 % of the models"), (self.high, None)):
            ax.scatter(x[order], ends.ravel()[order], s=5, color="C1", label=label)
        span = [np.min(x), np.max(x)]
        ax.plot(span, span, color="C0", linewidth=1, label="same prediction")
        ax.set(xlabel="model of all samples", ylabel="models of resamples")
        ax.legend(fontsize="small")
        self.curves_: list[Any] = []
        if self.calibration_curves is None:
            return
        below = self.axes_[1]
        for curve in self.calibration_curves[MAX_LINES:0:-1]:
            self.curves_ += below.plot(GRID, curve, color="0.6", linewidth=0.6, alpha=0.6)
        own = {"color": "C1", "linewidth": 1.8, "label": "model of all samples"}
        self.curves_ += below.plot(GRID, self.calibration_curves[0], **own)
        below.plot([0, 1], [0, 1], color="C0", linewidth=1, label="perfect calibration")
        below.set(xlabel="predicted probability", ylabel="frequency among all samples")
        below.legend(fontsize="small")


draw_result.register(PredictionInstability, InstabilityDisplay.from_result)
