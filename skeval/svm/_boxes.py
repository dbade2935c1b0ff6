"""The boxes ``0 <= alpha_i <= C_i`` of an SVC: its C, the weights of classes and of samples."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight

from skeval._resampling.plan import PlanBlock
from skeval._resampling.target import Target
from skeval._solvers.active_set import strictly_free

__all__ = ["Boxes", "make_boxes"]


def make_boxes(classifier: SVC, target: Target) -> Boxes | None:
    """Return the boxes of a classifier; None where its `class_weight` leaves a class no room."""
    if classifier.class_weight == "balanced":
        return Boxes(classifier, target, None)
    try:
        of_class = compute_class_weight(classifier.class_weight, classes=target.classes, y=target.y)
    except (TypeError, ValueError):  # which SVC will raise, too
        return None
    room = np.all(np.isfinite(of_class) & (of_class > 0))
    return Boxes(classifier, target, of_class) if room else None


class Boxes:
    """What multiplies the penalty of each training sample: ``C_i = C * class * sample weight``.

    "balanced" weighs a class by the training samples of a fit, as scikit-learn does it: a sample
    that is repeated counts as often, one that is weighted counts once.
    """

    def __init__(self, classifier: SVC, target: Target, of_class: np.ndarray | None) -> None:
        self._C = float(classifier.C)
        self._codes, self._n_classes = target.codes, int(target.codes.max()) + 1
        self._of_class = of_class  # (n_classes,); None where they depend on the fit

    def settles(self, box: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Return the fits (n_fits,) of which libsvm finds the same intercept.

        It is not unique where every sample is at a bound, as where both classes have the same sum
        of boxes and are all at the upper one. Libsvm takes the middle then, unless sums of rounded
        class weights leave one of them a little below its bound.
        """
        if self._of_class is not None and np.all(self._of_class == 1.0):
            return np.ones(len(box), dtype=bool)
        return np.asarray(strictly_free(box, alpha).any(axis=1))

    def __call__(self, block: PlanBlock) -> np.ndarray:
        """Return the boxes (n_fits, n_samples) of the fits of a block."""
        codes = block.order_labels(self._codes)
        if self._of_class is not None:
            return self._C * block.train * self._of_class[codes]
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        members = np.stack([(counts * (codes == c)).sum(axis=1) for c in range(self._n_classes)], 1)
        total = members.sum(axis=1, keepdims=True)
        weights = total / (self._n_classes * np.maximum(members, 1))  # (n_fits, n_classes)
        return self._C * block.train * np.take_along_axis(weights, codes, axis=1)
