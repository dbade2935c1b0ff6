"""Which pipelines of a selection and a linear SVM are served by the batch engines, and how.

Served are ``SelectKBest(f_classif)`` followed by a linear two-class ``SVC``, as a pipeline or as
a `CV2FeatureSelectionPipeline`. The answers are those of the loop: what rounding or the tolerance
of libsvm could decide differently is fitted again by scikit-learn itself.
"""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.svm import SVC

from skeval.feature_selection._batch import TwoClassF
from skeval.feature_selection._cv2 import CV2FeatureSelectionPipeline
from skeval.model_selection._plan import PlanBlock
from skeval.model_selection._predict import BatchDecisions, batch_engine, selection_engine
from skeval.model_selection._target import Target
from skeval.svm._batch import solve_gram_svms
from skeval.svm._engine import loop_decision
from skeval.svm._tolerance import columns_of, doubtful_fits, residual_bound

__all__ = ["KBestSVMEngine"]

_GRAM_ELEMENTS = 2**22


class KBestSVMEngine:
    """Select k features by F statistic and fit a linear SVM, for all fits of a block at once."""

    def __init__(
        self, selector: SelectKBest, classifier: SVC, X: np.ndarray, target: Target
    ) -> None:
        self.selector = selector
        self.classifier = classifier
        self.X = X
        self.target = target
        numbers = X.astype(float)
        self._statistics = TwoClassF(numbers)
        self._squares = np.ascontiguousarray((numbers * numbers).T)
        self._centred = np.ascontiguousarray((numbers - numbers.mean(axis=0)).T)

    def __call__(self, block: PlanBlock) -> BatchDecisions:
        """Return decisions whose signs are those of the loop."""
        return self.as_in_loop(block, ranks=False)

    def as_in_loop(self, block: PlanBlock, *, ranks: bool) -> BatchDecisions:
        """Return decisions whose signs, and if asked order within a fit, are those of the loop."""
        trained, positive = block.train > 0, self._labels(block) == 1
        solved = (trained & positive).any(axis=1) & (trained & ~positive).any(axis=1)
        decisions = np.full(block.train.shape, np.nan)
        if solved.any():
            decisions[solved] = self._decide_solvable(block.take(solved), positive[solved], ranks)
        return BatchDecisions(decisions, solved)

    def _decide_solvable(self, block: PlanBlock, positive: np.ndarray, ranks: bool) -> np.ndarray:
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        features = self.select(counts.astype(np.intp), positive)
        decisions, doubtful = self._solve(features, positive, block, ranks)
        for r in np.flatnonzero(doubtful):
            selected = self.X[:, features[r]]
            decisions[r] = loop_decision(self.classifier, selected, positive[r], block.train[r])
        return decisions

    def _labels(self, block: PlanBlock) -> np.ndarray:
        codes = self.target.codes
        return (
            np.broadcast_to(codes, block.train.shape) if block.order is None else codes[block.order]
        )

    def select(self, counts: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return the features (n_fits, k) that the selector selects in each fit."""
        features, certain, constant = self._statistics.select(counts, positive, self.selector.k)
        if constant.any():
            warnings.warn(
                f"Features {np.flatnonzero(constant)} are constant in a training set.", stacklevel=2
            )
        for r in np.flatnonzero(~certain):
            rows = np.repeat(np.arange(len(self.X)), counts[r])
            fitted = clone(self.selector).fit(self.X[rows], positive[r, rows])
            features[r] = fitted.get_support(indices=True)
        return features

    def _solve(
        self, features: np.ndarray, positive: np.ndarray, block: PlanBlock, ranks: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the decision values of all samples, and which fits libsvm may see otherwise."""
        n = block.train.shape[1]
        decisions, doubtful = np.empty(block.train.shape), np.empty(len(block), dtype=bool)
        size = max(1, _GRAM_ELEMENTS // (n * (n + features.shape[1])))
        for start in range(0, len(block), size):
            part = slice(start, start + size)
            columns = self._centred[features[part]]
            gram = np.matmul(columns.transpose(0, 2, 1), columns)
            box = float(self.classifier.C) * block.train[part]
            signs = np.where(positive[part], 1.0, -1.0)
            decisions[part], alpha = solve_on_training(gram, signs, box)
            norms = np.sqrt(self._squares[features[part]].sum(axis=1))
            doubtful[part] = doubtful_fits(
                columns_of(gram),
                signs,
                box,
                alpha,
                decisions[part],
                block.test[part],
                residual_bound(self.classifier.tol, norms, alpha),
                ranks=ranks,
            )
        return decisions, doubtful


def solve_on_training(
    gram: np.ndarray, signs: np.ndarray, box: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return decision values of all samples and alpha (B, n), nan where not converged.

    The solver is given the training samples alone; problems that have fewer than the largest are
    filled up with samples of box 0.
    """
    trained = box > 0
    rows = np.argsort(~trained, axis=1, kind="stable")[:, : trained.sum(axis=1).max()]
    problems = np.arange(len(box))[:, None]
    inner = gram[problems[:, :, None], rows[:, :, None], rows[:, None, :]]
    found = solve_gram_svms(inner, signs[problems, rows], box[problems, rows])
    alpha = np.zeros(box.shape)
    alpha[problems, rows] = found.alpha
    decisions = np.matmul(gram, (signs * alpha)[:, :, None])[:, :, 0] + found.intercept[:, None]
    return decisions, alpha


@selection_engine.register(SelectKBest)
def pipeline_engine(
    selector: SelectKBest, classifier: Any, X: Any, target: Target, transformers: tuple
) -> KBestSVMEngine | None:
    """Return the engine of SelectKBest in front of a linear SVM."""
    if transformers or not is_served(selector, classifier, X, target):
        return None
    return KBestSVMEngine(selector, classifier, X, target)


@batch_engine.register(CV2FeatureSelectionPipeline)
def cv2_engine(
    pipeline: CV2FeatureSelectionPipeline, X: Any, target: Target, transformers: tuple
) -> KBestSVMEngine | None:
    """Return the same engine: the inner rounds do not change the predictions of a refit."""
    if transformers or type(pipeline) is not CV2FeatureSelectionPipeline:
        return None
    if pipeline.final != "refit" or pipeline.consensus_threshold is not None:
        return None
    if getattr(X, "ndim", 0) != 2:
        return None
    selector, classifier = pipeline._selector(X.shape[1]), pipeline._classifier()
    if not is_served(selector, classifier, X, target):
        return None
    return KBestSVMEngine(selector, classifier, X, target)


def is_served(selector: Any, classifier: Any, X: Any, target: Target) -> bool:
    """Whether the batch gives what the loop would give."""
    return (
        type(selector) is SelectKBest
        and selector.score_func is f_classif
        and type(classifier) is SVC
        and classifier.kernel == "linear"
        and classifier.class_weight is None
        and classifier.max_iter == -1
        and target.classes is not None
        and len(target.classes) == 2
        and type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.int64)
        and isinstance(selector.k, Integral)
        and 1 <= int(selector.k) <= X.shape[1]
        and bool(np.isfinite(X).all())
    )
