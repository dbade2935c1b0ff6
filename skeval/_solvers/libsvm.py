"""C-SVMs of libsvm, one at a time, without the validation that ``SVC`` adds to every call.

libsvm solves eq. (1) of svm up to a tolerance, and its solution depends on its steps. With the
arrays and options that ``SVC`` passes to libsvm, the decision values equal those of ``SVC`` to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skeval._solvers.optimum import find_solvable
from skeval.utils import _compat

_NO_WEIGHTS = np.empty(0)
_C_SVC = 0


class LibsvmOptions(NamedTuple):
    """Options of an ``SVC`` for libsvm."""

    kernel: str
    C: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    tol: float = 1e-3
    shrinking: bool = True
    cache_size: float = 200.0


def has_libsvm() -> bool:
    """Return whether this version of scikit-learn has the routines that are called here."""
    return _compat.libsvm is not None


def decide_by_libsvm(
    options: LibsvmOptions,
    train: np.ndarray,
    codes: np.ndarray,
    test: np.ndarray,
    *,
    gamma: float = 0.0,
    class_weight: np.ndarray = _NO_WEIGHTS,
    sample_weight: np.ndarray = _NO_WEIGHTS,
) -> np.ndarray:
    """Return decision values (n_test, n_pairs) of a fit; positive ones favor the lower code.

    `train` (n, p) and `test` (n_test, p) are C-contiguous, or kernel values (n, n), (n_test, n);
    `codes` (n,) are the classes 0, 1, ..., all present.
    """
    kernel = {
        "kernel": options.kernel,
        "degree": options.degree,
        "coef0": options.coef0,
        "gamma": gamma,
        "cache_size": options.cache_size,
    }
    _compat.libsvm.set_verbosity_wrap(0)
    # support, support vectors, their number by class, coefficients, intercepts, probA, probB
    *model, _, _ = _compat.libsvm.fit(
        train,
        codes.astype(float),
        svm_type=_C_SVC,
        C=options.C,
        tol=options.tol,
        shrinking=options.shrinking,
        class_weight=class_weight,
        sample_weight=sample_weight,
        **kernel,
    )
    values: np.ndarray = _compat.libsvm.decision_function(test, *model, svm_type=_C_SVC, **kernel)
    return values


def solve_each(
    gram_of: Callable[[int], np.ndarray],
    signs: np.ndarray,
    box: np.ndarray,
    counts: np.ndarray,
    *,
    rows: np.ndarray,
    n_samples: int,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the decision values (B, n_samples) and alpha (B, m) of B problems, one by one.

    Problem ``b`` trains on the samples `rows` (m,), with `signs` (m,) or (B, m), `box` (B, m) and
    `counts` (B, m); ``gram_of(b)`` returns their kernel values (m, n_samples) with all samples.
    Decision values are nan for a problem without training samples of both classes.
    """
    signs = np.broadcast_to(signs, box.shape)
    decision, alphas = np.full((len(box), n_samples), np.nan), np.zeros(box.shape)
    for problem in find_solvable(signs, box) if has_libsvm() else ():
        # repeated samples are separate rows, as in the estimator's own fit
        count = counts[problem] if counts.dtype.kind in "iu" else counts[problem] > 0
        trained = np.repeat(np.arange(len(rows)), np.where(box[problem] > 0, count, 0))
        K = gram_of(problem)
        beta, intercept = solve_on_gram(
            K[trained][:, rows[trained]],
            signs[problem, trained],
            (box[problem] / np.maximum(count, 1))[trained],
            tol=tol,
        )
        support = np.flatnonzero(beta)
        np.add.at(alphas[problem], trained, np.abs(beta))
        decision[problem] = beta[support] @ K[trained[support]] + intercept
    return decision, alphas


def solve_on_gram(
    K: np.ndarray, signs: np.ndarray, box: np.ndarray, *, tol: float
) -> tuple[np.ndarray, float]:
    """Return beta (n,) and the intercept of one problem on its Gram matrix (n, n).

    `signs` (n,) of -1 and +1, both present; `box` (n,) positive.
    """
    _compat.libsvm.set_verbosity_wrap(0)
    support, _, _, coef, intercept, *_ = _compat.libsvm.fit(
        np.ascontiguousarray(K),
        -signs,  # the lower code is the positive class
        svm_type=_C_SVC,
        kernel="precomputed",
        C=1.0,
        tol=tol,
        sample_weight=box,
    )
    beta = np.zeros(len(signs))
    beta[support] = coef[0]
    return beta, float(intercept[0])
