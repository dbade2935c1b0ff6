"""Do several classifiers that judged the same samples differ in accuracy?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from skeval._inference.split_tests import cochran_q_statistic
from skeval.model_selection._comparison_checks import check_named
from skeval.utils._checks import check_comparable, check_same_length, check_y
from skeval.utils._text import (
    ShownAsText,
    align_text,
    fill_text,
    say_pvalue,
    write_number,
    write_pvalue,
)

__all__ = ["CochranQ", "cochran_q"]


@dataclass(frozen=True, eq=False)
class CochranQ(ShownAsText):
    """Whether the accuracies of several classifiers on the same samples differ.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    accuracies : ndarray of shape (n_classifiers,)
        Fraction of the samples that each predicts right.
    statistic, pvalue : float
        Cochran's Q, and its P-value by the chi-squared distribution.
    n_samples : int
        Number of samples.
    n_discordant : int
        Samples that some predict right and some do not; the others do not count.
    """

    names: tuple[str, ...]
    accuracies: np.ndarray = field(repr=False)
    statistic: float
    pvalue: float
    n_samples: int
    n_discordant: int

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        if self.pvalue <= 0.05:
            return (
                f"The accuracies differ by more than chance ({say_pvalue(self.pvalue)}); which of "
                "them do, it does not say: compare pairs, with Holm's correction."
            )
        return (
            f"No difference is shown at 5 % ({say_pvalue(self.pvalue)}), which is no proof that "
            "the classifiers are equal."
        )

    def __str__(self) -> str:
        rows = [(n, write_number(a)) for n, a in zip(self.names, self.accuracies, strict=True)]
        rows += [("Q", f"{self.statistic:.4g}"), ("P-value", write_pvalue(self.pvalue))]
        rows.append(("samples that count", f"{self.n_discordant} of {self.n_samples}"))
        return align_text("Cochran's Q", rows) + "\n" + fill_text(self.conclusion)


def cochran_q(y_true: ArrayLike, predictions: Mapping[str, Any]) -> CochranQ:
    r"""Test whether several classifiers are right equally often on the same samples.

    McNemar's test for more than two: with :math:`G_j` the number of samples that classifier `j` of
    `k` predicts right, and :math:`L_i` the number of classifiers that predict sample `i` right,

    .. math:: Q = \frac{k (k - 1) \sum_j (G_j - \bar G)^2}{\sum_i L_i (k - L_i)} ,

    chi-squared on `k - 1` degrees of freedom.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    predictions : dict of str to array-like of shape (n_samples,)
        What each of two classifiers or more predicts.

    Returns
    -------
    result : CochranQ
        With `statistic` and `pvalue`.

    Raises
    ------
    TypeError
        If `predictions` is no dict of two names at least.
    ValueError
        If the lengths differ, or text is compared with numbers.

    Notes
    -----
    The distribution holds for many discordant samples, 24 or more say.

    References
    ----------
    .. [1] Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37,
       256-266. https://doi.org/10.1093/biomet/37.3-4.256

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import cochran_q
    >>> y = np.tile([0, 1], 40)
    >>> errors = {"a": 8, "b": 9, "c": 16}
    >>> flipped = {name: np.where(np.arange(80) < n, 1 - y, y) for name, n in errors.items()}
    >>> print(cochran_q(y, flipped))
    Cochran's Q
      a                   0.9000
      b                   0.8875
      c                   0.8000
      Q                   14.25
      P-value             0.000805
      samples that count  8 of 80
      The accuracies differ by more than chance (P = 0.0008); which of them do, it does not
      say: compare pairs, with Holm's correction.
    """
    check_named("predictions", predictions, 2)
    truth = check_y("y_true", y_true)
    right = []
    for name, predicted in predictions.items():
        labels = check_y(f"predictions[{name!r}]", predicted)
        check_same_length(**{"y_true": truth, f"predictions[{name!r}]": labels})
        check_comparable(truth, f"predictions[{name!r}]", labels)
        right.append(np.asarray(labels == truth))
    found = np.array(right)
    statistic = cochran_q_statistic(found)
    of_sample = found.sum(axis=0)
    return CochranQ(
        names=tuple(predictions),
        accuracies=found.mean(axis=1),
        statistic=statistic,
        pvalue=float(stats.chi2.sf(statistic, len(found) - 1)),
        n_samples=len(truth),
        n_discordant=int(np.sum((of_sample > 0) & (of_sample < len(found)))),
    )
