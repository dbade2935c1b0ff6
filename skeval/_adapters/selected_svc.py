"""The fits of a univariate selection and a linear SVC, each of which selects its own columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, SelectPercentile, f_classif
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from skeval._adapters.svc_costs import FitShape, batch_pays
from skeval._adapters.svc_problems import Boxes, ColumnSteps, are_certain, is_served_scaler
from skeval._resampling.plan import FitOutput, PlanBlock
from skeval._resampling.task import Target
from skeval._solvers.f_statistics import TwoClassF
from skeval._solvers.linear_svm import solve_feature_svms, solve_training_svms
from skeval._solvers.newton import uses_features
from skeval.utils._checks import warn_user

__all__ = ["SELECTORS", "SelectedSVCAdapter", "serves_selection"]

NONE = -1
"""What stands for each feature of a fit that has not selected as many as the others."""

BLOCK_ELEMENTS = 2**22
"""One stack of selected columns or Gram matrices has about so many numbers at most."""


SELECTORS = (SelectKBest, SelectPercentile)
"""What selects the features of largest statistic, by their number or by their share."""

APART = 0.01
"""A percentile lies so far from either of two scores at least, in units of their difference."""


def serves_selection(steps: tuple, X: Any) -> bool:
    """Whether some steps are a selector and at most a scaler beside it, as computed here."""
    selectors = [step for step in steps if type(step) in SELECTORS]
    scalers = [step for step in steps if type(step) not in SELECTORS]
    return (
        len(selectors) == 1
        and len(scalers) <= 1
        and all(is_served_scaler(step) for step in scalers)
        and selects_as_we_do(selectors[0], X)
    )


def selects_as_we_do(selector: SelectKBest | SelectPercentile, X: Any) -> bool:
    """Whether the F statistics of these columns are computed here as `f_classif` does."""
    return (
        selector.score_func is f_classif
        and type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.int64)
        and count_selected(selector, X.shape[1]) > 0
        and bool(np.isfinite(X).all())
    )


def count_selected(selector: SelectKBest | SelectPercentile, p: int) -> int:
    """Return how many of p features of different scores are selected, 0 where that is not served.

    SelectPercentile takes the scores above a percentile of them, which lies between two.
    """
    if type(selector) is SelectKBest:
        served = isinstance(selector.k, Integral) and 1 <= int(selector.k) <= p
        return int(selector.k) if served else 0
    if not isinstance(selector.percentile, Real):
        return 0
    share = float(selector.percentile)
    if not 0 < share <= 100:
        return 0
    if share == 100:
        return p
    position = (p - 1) * ((100 - share) / 100)  # as numpy computes it
    below = int(position)
    certain = position == below or APART <= position - below <= 1 - APART
    return p - 1 - below if certain else 0


class SelectedSVCAdapter:
    """The fits of a selector by the F statistic and an SVC on the columns that each selects.

    A scaler may stand before the selector, or after it: scales do not change the statistic.
    """

    def __init__(self, pipeline: Pipeline, X: np.ndarray, target: Target, boxes: Boxes) -> None:
        steps = list(pipeline)[:-1]
        self.pipeline, self.X, self.target, self.boxes = pipeline, X, target, boxes
        self.selector = next(step for step in steps if type(step) in SELECTORS)
        self.k = count_selected(self.selector, X.shape[1])
        self._by_share = type(self.selector) is SelectPercentile
        scalers = [step for step in steps if step is not self.selector]
        numbers = X.astype(float)
        self._scaling = ColumnSteps(numbers, drops=False, scaler=next(iter(scalers), None))
        self._before = scalers if steps[0] is not self.selector else []
        # The two selectors treat ties unlike each other: of a share none is taken for certain.
        rounded = bool(self._before) or self._by_share
        self._statistics = TwoClassF(numbers, scaled=rounded)
        self._centred = np.ascontiguousarray((numbers - numbers.mean(axis=0)).T)

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, take less time here than in a loop."""
        n, p = self.X.shape
        scaled = len(self.pipeline) > 2
        shape = FitShape(n, p, self.k, selects=True, scaled=scaled)
        labels = self.target.decode(codes)
        return batch_pays(self.pipeline, self.X, labels, shape, n_fits, times)

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the decisions of a block."""
        trained, positive = block.train > 0, block.order_labels(self.target.codes) == 1
        solved = (trained & positive).any(axis=1) & (trained & ~positive).any(axis=1)
        values = np.full(block.train.shape, np.nan)
        if solved.any():
            values[solved] = self._solve(block.take(solved), positive[solved])
        return self.answer(block, values, solved)

    def answer(self, block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
        """Return what fits answer whose decision values (n_fits, n_samples) are solved."""
        return FitOutput.of_decisions(block, values, solved & are_certain(values, block.test))

    def solve_columns(
        self, columns: np.ndarray, positive: np.ndarray, box: np.ndarray
    ) -> np.ndarray:
        """Return decision values (B, n) on columns (B, n, k), nan where nothing is settled."""
        solve = solve_feature_svms if uses_features(*columns.shape[1:]) else solve_training_svms
        solution = solve(columns, np.where(positive, 1.0, -1.0), box)
        values: np.ndarray = solution.decision
        values[~self.boxes.settles(box, solution.alpha)] = np.nan
        return values

    def select(self, train: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return the features (n_fits, k) that the selector selects in each fit."""
        # Selectors take no weights. Counts repeat samples, any other positive weight is 1 to it.
        counts = (train if train.dtype.kind in "iu" else train > 0).astype(np.intp)
        selection = self._statistics.select(counts, positive, self.k)
        if selection.constant.any():
            constant = np.flatnonzero(selection.constant)
            warn_user(f"Features {constant} are constant in a training set.")
        features = selection.features.copy()  # (n_fits, k)
        undefined = self._by_share and selection.constant.any()
        for r in np.flatnonzero(~selection.certain | undefined):
            rows = np.repeat(np.arange(len(self.X)), counts[r])
            samples = self.X[rows]
            for scaler in self._before:
                weighted = train.dtype.kind == "f" and has_fit_parameter(scaler, "sample_weight")
                weights = {"sample_weight": train[r, rows]} if weighted else {}
                samples = clone(scaler).fit(samples, **weights).transform(samples)
            fitted = clone(self.selector).fit(samples, positive[r, rows])
            chosen = fitted.get_support(indices=True)
            # Ties may leave a share of the features smaller: such a fit is the estimator's.
            features[r] = chosen if len(chosen) == self.k else NONE
        return features

    def _solve(self, block: PlanBlock, positive: np.ndarray) -> np.ndarray:
        """Return the decision values of all samples, nan for fits that are not settled."""
        train, box = block.train, self.boxes(block)
        features = self.select(train, positive)
        scales = None
        if len(self.pipeline) > 2:
            scales = np.take_along_axis(self._scaling.maps(block).scale, features, axis=1)
        n, k = train.shape[1], features.shape[1]
        values = np.empty(train.shape)
        size = max(1, BLOCK_ELEMENTS // (n * (k if uses_features(n, k) else n + k)))
        for start in range(0, len(train), size):
            part = slice(start, start + size)
            columns = self._centred[features[part]].transpose(0, 2, 1)  # (fits, n, k)
            if scales is not None:
                columns = columns / scales[part][:, None, :]
            values[part] = self.solve_columns(columns, positive[part], box[part])
        values[features[:, 0] == NONE] = np.nan
        return values
