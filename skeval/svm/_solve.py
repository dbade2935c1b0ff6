"""Decision values of many linear SVMs, whatever it takes: the batch engine, else SVC."""

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.svm._batch import LinearSVMBatch

__all__ = ["solve_linear_svms"]


def solve_linear_svms(
    batch: LinearSVMBatch,
    signs: np.ndarray,
    box: np.ndarray,
    *,
    scale_weights: np.ndarray | None = None,
    tol: float = 1e-6,
) -> np.ndarray:
    """Return the decision values (B, n) of all samples under B linear SVMs.

    Parameters are those of `LinearSVMBatch.solve`; problems that the engine gives back unsolved
    are solved one by one by SVC with the tolerance `tol`.
    """
    solution = batch.solve(signs, box, scale_weights=scale_weights)
    decision, signs = solution.decision, np.broadcast_to(signs, box.shape)
    for problem in np.flatnonzero(~solution.converged):
        X = batch.X
        if scale_weights is not None:
            X = StandardScaler().fit(X, sample_weight=scale_weights[problem]).transform(X)
        decision[problem] = _solve_one(X, signs[problem], box[problem], tol, problem)
    return decision


def _solve_one(X, signs, box, tol, problem):
    trained = box > 0
    if len(np.unique(signs[trained])) < 2:
        raise ValueError(
            "box must leave samples of both classes to train on, "
            f"got one class in problem {problem}."
        )
    svm = SVC(C=1.0, kernel="linear", tol=tol)
    svm.fit(X[trained], signs[trained], sample_weight=box[trained])
    return svm.decision_function(X)
