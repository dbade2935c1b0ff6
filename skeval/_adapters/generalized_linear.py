"""Which fits of a LogisticRegression go to the solver, alone or behind transformers of its columns.

Answers are those of the optimum. scikit-learn's stop where the gradient falls below `tol`, at 1e-4
by default: its probabilities are that far from the optimum, and its labels differ for samples that
near to the boundary. Fits that `max_iter` may end before that are left to it, and so are those that
the solver does not bring to an end.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_array

from skeval._adapters.svc import SELECTORS, SelectedSVCAdapter, serves_selection
from skeval._adapters.svc_problems import TIED, Boxes, ColumnSteps, make_boxes, make_column_steps
from skeval._resampling.plan import FitOutput, PlanBlock
from skeval._resampling.task import Adapter, Target, Unserved, adapter_for
from skeval._solvers.logistic import LogisticBatch, solve_selected_logistic
from skeval._solvers.newton import stores_products, uses_features
from skeval.utils._compat import safe_split

__all__: list[str] = []

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
"""The others draw at random, or penalise the intercept."""

LARGEST_TOL = 1e-3
"""Who asks for a larger tolerance wants no optimum."""

MOST_UNKNOWNS = 400
"""Coefficients of one fit, of all classes, at most."""

SHARE_OF_STEPS = 0.5
"""A trial fit that takes more than this share of `max_iter` leaves all fits to scikit-learn."""

FEW_FITS, LARGEST_RATIO, USUAL_STEPS = 20, 30.0, 10
"""So few fits are not worth a trial, where columns differ in scale by more than this ratio, or
where the solver is slower than fits of scikit-learn that take so many steps."""

# Seconds of one core of a fit by scikit-learn: a call, and in a step the step itself, a sample, a
# number of X and a coefficient, of each class.
_CALL, _STEP, _SAMPLE, _NUMBER, _COEFFICIENT = 2.5e-3, 1.2e-4, 4.5e-8, 5e-10, 8e-8
# Those of a transformer before it: a call, and a number of X.
_TRANSFORM, _TRANSFORMED = 8e-4, 1e-8
# Newton's steps of one fit: on few features, and on Gram matrices. A batch must be faster by a
# margin.
_STEPS, _GRAM_STEPS, _MARGIN = 6, 8, 1.2
# Seconds of a batch and the trial before it, and of a product of two columns in a step: of those
# that all fits share, of a fit's own, and of shared ones that are made, and met by one fit first.
_BATCH, _SHARED_PRODUCT, _OWN_PRODUCT, _FIRST_PRODUCT = 5e-3, 2.5e-11, 1.1e-10, 1e-8


@adapter_for.register
def logistic_adapter(
    estimator: LogisticRegression, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter of a LogisticRegression and the transformers before it."""
    if type(estimator) is not LogisticRegression or target.classes is None:
        return None
    n_classes = target.n_classes
    penalised = find_penalty(estimator, n_classes)
    if isinstance(penalised, str):
        return Unserved(penalised)
    C = float(estimator.C) if penalised else 1.0
    boxes = make_boxes(C, estimator.class_weight, target)
    if boxes is None:
        return Unserved("class_weight does not give every class a positive weight")
    if issparse(X) or np.ndim(X) != 2 or not has_plain_columns(X):
        return Unserved("samples are served as a table of finite numbers in double precision")
    pipeline = make_pipeline(*transformers, estimator)
    if any(type(step) in SELECTORS for step in transformers):
        if n_classes > 2 or not penalised or not serves_selection(transformers, X):
            return Unserved(
                "features selected in each fit are served before two classes and a penalty, by "
                "SelectKBest or SelectPercentile(f_classif) on an array, with a scaler beside it"
            )
        return SelectedLogisticAdapter(pipeline, X, target, boxes)
    columns = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, columns)
    if steps is None:
        names = ", ".join(type(step).__name__ for step in transformers)
        return Unserved(f"no solver serves these transformers: {names}")
    n, p = columns.shape
    if not uses_features(n, p) and (n_classes > 2 or not penalised):
        return Unserved("many features are served for two classes and a penalty")
    if uses_features(n, p) and (n_classes if n_classes > 2 else 1) * (p + 1) > MOST_UNKNOWNS:
        return Unserved(f"a fit has more than {MOST_UNKNOWNS} coefficients")
    return LogisticAdapter(pipeline, X, target, boxes, steps, penalised)


def find_penalty(estimator: LogisticRegression, n_classes: int) -> bool | str:
    """Return whether the squares of coefficients are penalised, or why a fit is not served.

    Versions differ: `penalty` becomes `l1_ratio` and an infinite `C`, `multi_class` goes.
    """
    multi_class = getattr(estimator, "multi_class", "deprecated")
    if estimator.solver not in SOLVERS:
        return f"the optimum is that of the solvers {', '.join(SOLVERS)}"
    if estimator.penalty not in ("l2", "deprecated", None) or estimator.l1_ratio not in (None, 0):
        return "absolute values of coefficients are penalised"
    if multi_class == "ovr" or (multi_class == "multinomial" and n_classes == 2):
        return f"multi_class={multi_class!r} is no single model of these classes"
    if not estimator.fit_intercept:
        return "fit_intercept is False"
    if estimator.tol > LARGEST_TOL:
        return f"tol is larger than {LARGEST_TOL}"
    return estimator.penalty is not None and bool(np.isfinite(estimator.C))


def has_plain_columns(X: Any) -> bool:
    """Whether X holds finite numbers of double precision, or integers."""
    X = np.asarray(X)
    return X.dtype in (np.float64, np.int64) and bool(np.isfinite(X).all())


class LogisticAdapter:
    """The fits of a LogisticRegression and of the transformers before it."""

    def __init__(
        self,
        pipeline: Pipeline,
        X: Any,
        target: Target,
        boxes: Boxes,
        steps: ColumnSteps,
        penalised: bool,
    ) -> None:
        self.pipeline, self.X, self.target = pipeline, X, target
        self.boxes, self.steps, self.penalised = boxes, steps, penalised
        self._n_classes = int(target.codes.max()) + 1
        self._batch: LogisticBatch | None = None

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, end in time and sooner than in a loop."""
        n, p = self.steps.X.shape
        scaled = self.steps.scaler is not None
        seconds = batch_seconds(n, p, self._n_classes, n_fits, scaled=scaled)
        if n_fits < FEW_FITS and not scaled:
            deviations = self.steps.X.std(axis=0)
            deviations = deviations[deviations > 0]
            if len(deviations) and np.ptp(np.log(deviations)) > np.log(LARGEST_RATIO):
                return False
        labels = self.target.decode(codes)
        return trial_pays(
            self.pipeline, self.X, labels, times * seconds, self._n_classes, few=n_fits < FEW_FITS
        )

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return log odds and probabilities."""
        if not self.boxes.serves_logistic(block):
            return FitOutput(block.test, np.ones(len(block), dtype=bool))
        if self._batch is None:
            self._batch = LogisticBatch(self.steps.X)
        codes, scales = self.target.codes, None
        codes = codes if block.order is None else codes[block.order]
        maps = None
        if self.steps.drops or self.steps.scaler is not None:
            maps = self.steps.maps(block)
            # A column that is dropped is constant in the fit, and gets no coefficient anyway.
            scales = np.where(np.isfinite(maps.scale), maps.scale, 1.0)
        solution = self._batch.solve(
            codes, self.boxes(block), scales=scales, penalised=self.penalised
        )
        solved = solution.converged
        if maps is not None:
            solved = solved & (maps.n_kept > 0)
        return answer(block, solution.decision, solved)


class SelectedLogisticAdapter(SelectedSVCAdapter):
    """The fits of a selector and a LogisticRegression on the columns that each selects."""

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, end in time and sooner than in a loop."""
        n, p = self.X.shape
        k = self.k
        seconds = 4 * solve_seconds(n, k, 2, _OWN_PRODUCT) + 4e-9 * n * p + _BATCH / n_fits
        labels = self.target.decode(codes)
        return uses_features(n, k) and trial_pays(
            self.pipeline, self.X, labels, times * seconds, 2, few=n_fits < FEW_FITS
        )

    def answer(self, block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
        """Return log odds and probabilities."""
        return answer(block, values, solved & self.boxes.serves_logistic(block))

    def solve_columns(
        self, columns: np.ndarray, positive: np.ndarray, box: np.ndarray
    ) -> np.ndarray:
        """Return the log odds (B, n) of problems on their columns (B, n, k)."""
        return solve_selected_logistic(columns, positive.astype(np.intp), box).decision


def answer(block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
    """Return what fits answer whose decision values (n_fits, n_samples, ...) are solved.

    A fit in which rounding decides on a tested sample is left to the estimator.
    """
    if values.ndim == 2:
        gap = np.abs(values)
    else:
        ranked = np.sort(values, axis=2)
        gap = ranked[..., -1] - ranked[..., -2]
    doubtful = block.test & ~(gap > TIED)
    solved = solved & ~doubtful.any(axis=1)
    decision = values[block.test & solved[:, None]]
    if values.ndim == 2:
        predicted = (decision > 0).astype(np.intp)
        probability = np.column_stack([1.0 - expit(decision), expit(decision)])
    else:
        predicted, probability = decision.argmax(axis=1), softmax(decision, axis=1)
    return FitOutput(block.test, ~solved, predicted, decision, probability)


def batch_seconds(n: int, p: int, n_classes: int, n_fits: int, *, scaled: bool) -> float:
    """Return the time of one of so many fits by the solver, fitted to measured ones."""
    if not uses_features(n, p):
        gram = 8.5e-11 * n**2 * p if scaled else 0.0
        steps = _GRAM_STEPS * (2e-5 + 1e-8 * n**2 + 7e-11 * n**3)
        return gram + steps + _BATCH / n_fits
    if not stores_products(n, p + 1):
        return solve_seconds(n, p, n_classes, _OWN_PRODUCT) + _BATCH / n_fits
    start = _BATCH + 1.2e-6 * n + _FIRST_PRODUCT * n * (p + 1) ** 2
    return solve_seconds(n, p, n_classes, _SHARED_PRODUCT) + start / n_fits


def solve_seconds(n: int, p: int, n_classes: int, product: float) -> float:
    """Return the time of Newton's steps on few features, given that of a product of columns."""
    K = n_classes if n_classes > 2 else 1
    pairs, size = K * (K + 1) // 2, K * (p + 1)
    products = product * n * (p + 1) ** 2 * pairs
    return _STEPS * (2e-5 + 6e-8 * n * K + products + 5e-11 * size**3)


def trial_pays(
    pipeline: Pipeline, X: Any, labels: np.ndarray, seconds: float, n_classes: int, *, few: bool
) -> bool:
    """Whether fits end long before `max_iter`, and so many seconds each are less than they take.

    A fit to half of the samples tells how many steps a fit takes. Of a few fits it is a large part,
    and made only where fits of the usual number of steps would take longer than the solver.
    """
    n, p = np.shape(X)
    estimator = pipeline[-1]
    call = _CALL + (len(pipeline) - 1) * (_TRANSFORM + _TRANSFORMED * n * p)
    most_steps = estimator.max_iter * SHARE_OF_STEPS
    n_steps = min(most_steps, USUAL_STEPS) if few else most_steps
    if _MARGIN * seconds > call + n_steps * step_seconds(n, p, n_classes):
        return False
    half = np.concatenate([np.flatnonzero(labels == name)[::2] for name in np.unique(labels)])
    trial = clone(pipeline)
    samples, names = safe_split(trial, X, labels, half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            n_steps = float(np.max(trial.fit(samples, names)[-1].n_iter_))
        except Exception:  # The loop meets the same, and raises or leaves the fit out.
            return False
    return n_steps <= most_steps and _MARGIN * seconds <= call + n_steps * step_seconds(
        n, p, n_classes
    )


def step_seconds(n: int, p: int, n_classes: int) -> float:
    """Return the time that scikit-learn takes for a step."""
    K = n_classes if n_classes > 2 else 1
    return _STEP + K * (_SAMPLE * n + _NUMBER * n * p + _COEFFICIENT * p)
