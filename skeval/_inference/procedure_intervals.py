"""Published intervals of the error of a procedure: from losses to an estimate and its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval._inference.influence import no_information
from skeval._inference.paired_tests import corrected_error
from skeval._inference.point632 import combine
from skeval._inference.tested import (
    Tested,
    concatenate_tested,
    design_effect,
    mean_loss,
    variance_of_mean,
)

__all__ = [
    "INFLATION",
    "NestedErrors",
    "NestedFold",
    "conservative_z",
    "corrected_t",
    "five_by_two",
    "nested_errors",
    "nested_interval",
    "replace_one",
    "resampled_plus",
    "within_fold_error",
]

Floats = NDArray[np.float64]
LossFn = Callable[[NDArray, NDArray], NDArray]
Estimate = tuple[float, float]  # an error and its standard error
INFLATION = 1.55
"""Mean squared deviation of repeated cross-validation from the risk, over its naive variance."""


def within_fold_error(folds: Sequence[Tested]) -> float:
    """Return ``s / sqrt(n)``, ``s^2`` the mean over folds of the variance in the fold.

    The second variance of Bayle et al. (2020).
    """
    sizes = np.array([len(fold.losses) for fold in folds])
    variances = sizes * np.array([variance_of_mean(fold) for fold in folds])
    return float(np.sqrt(np.mean(variances) / sizes.sum()))


def corrected_t(means: Floats, test_train_ratio: float) -> Estimate:
    """Return the mean of subsamplings and ``sd sqrt(1/J + n2/n1)``: Nadeau & Bengio (2003)."""
    return float(means.mean()), corrected_error(means, test_train_ratio)


def conservative_z(whole: Floats, halves: Floats) -> Estimate:
    """Return the mean of subsamplings, and how far halves of the sample disagree about it.

    ``s^2 = sum_m (a_m - b_m)^2 / (2 M)``: Nadeau & Bengio (2003). `whole` has shape (J,),
    `halves` (M, 2, J); what is nan is left out.
    """
    complete = halves[np.all(np.isfinite(halves).any(axis=2), axis=1)]
    means = np.nanmean(complete, axis=2)
    gaps = means[:, 0] - means[:, 1]
    return float(np.nanmean(whole)), float(np.sqrt(np.sum(gaps**2) / (2 * len(gaps))))


def five_by_two(means: Floats) -> Estimate:
    """Return the first of five times two folds, and ``s``: Dietterich (1998).

    ``s^2 = (1/5) sum_r sum_k (p_rk - mean p_r)^2``; `means` has shape (5, 2).
    """
    spread = np.sum((means - means.mean(axis=1, keepdims=True)) ** 2, axis=1)
    return float(means[0, 0]), float(np.sqrt(np.nanmean(spread)))


def replace_one(error: float, base: float, replaced: Floats, n: int) -> Estimate:
    """Return the cross-validated error of all, and ``s / sqrt(n)``: Austern & Zhou (2020).

    ``s^2 = (n/4) sum_i (m_0 - m_i)^2`` over the replacements; those that are nan are made up for.
    """
    done = np.isfinite(replaced)
    total = np.sum((base - replaced[done]) ** 2) * len(replaced) / done.sum()
    return error, float(np.sqrt(n / 4 * total / n))


class NestedFold(NamedTuple):
    """A fold under nesting: its losses, and those within.

    Attributes
    ----------
    outer : Tested
        Losses of the fold, by the rule trained without it.
    inner : Tested
        Losses of all other folds, each by the rule trained without it and without the fold.
    """

    outer: Tested
    inner: Tested


class NestedErrors(NamedTuple):
    """What nested cross-validation finds.

    Attributes
    ----------
    outer, inner : float
        Mean losses: the cross-validated error, and that of rules trained on a fold less.
    mse : float
        Estimated mean squared deviation of the inner error from the risk; may be negative.
    naive : float
        Variance that the inner error would have if losses were independent.
    """

    outer: float
    inner: float
    mse: float
    naive: float


def nested_errors(folds: Sequence[NestedFold], n_folds: int, n: int) -> NestedErrors:
    """Return the errors and the mean squared error of Bates, Hastie & Tibshirani (2024, alg. 1).

    With ``a = (mean e_in - mean e_out)^2`` and ``b = var(e_out) / |fold|``, the mean squared error
    is ``(K-1)/K mean(a - b)`` over the folds of all repeats.
    """
    gaps = [
        (mean_loss(fold.inner) - mean_loss(fold.outer)) ** 2 - variance_of_mean(fold.outer)
        for fold in folds
    ]
    known = [gap for gap in gaps if np.isfinite(gap)]
    mse = (n_folds - 1) / n_folds * float(np.mean(known)) if known else np.nan
    inner = concatenate_tested([fold.inner for fold in folds])
    naive = float(np.var(inner.losses, ddof=1)) / n * design_effect([f.inner for f in folds])
    outer = mean_loss(concatenate_tested([fold.outer for fold in folds]))
    return NestedErrors(outer, mean_loss(inner), mse, naive)


def nested_interval(found: NestedErrors, n_folds: int) -> Estimate:
    """Return the inner error less its bias, and the root of the mean squared error.

    The bias of a rule trained on a fold less is ``(1 + (K-2)/K) (inner - outer)``. The standard
    error is held between the naive one and sqrt(K) times that.
    """
    bias = (1 + (n_folds - 2) / n_folds) * (found.inner - found.outer)
    mse = np.clip(np.nan_to_num(found.mse, nan=found.naive), found.naive, n_folds * found.naive)
    return found.inner - bias, float(np.sqrt(mse))


def resampled_plus(
    truth: NDArray,
    predictions: NDArray,
    losses: Floats,
    oob: NDArray[np.bool_],
    loss_fn: LossFn | None,
) -> tuple[float, float]:
    """Return .632+ and the resubstitution error of a sample.

    `predictions` are those of the rule fitted to all cases, for these; `losses` of shape
    (1 + n_resamples, n_cases) those of this rule and of the rules of the resamples; `oob` of shape
    (n_resamples, n_cases) says which cases a resample leaves out.
    """
    apparent = float(losses[0].mean())
    known = np.isfinite(losses[1:])
    counts = (oob & known).sum(axis=0)
    sums = np.where(oob & known, losses[1:], 0).sum(axis=0)
    tested = counts > 0
    out_of_bag = float(np.mean(sums[tested] / counts[tested]))
    gamma = no_information(truth, predictions, loss_fn)[0]
    return combine(".632+", apparent, out_of_bag, gamma).error, apparent
