r"""Samples that belong together: how a sum varies between groups, nested or crossed.

An estimate deviates from what it estimates by about a sum of influence values,
:math:`\hat\theta - \theta \approx \sum_i \psi_i`. Those of a group are added up first, since its
samples err together:

.. math:: V = \sum_g a_g u_g^2, \qquad u_g = \sum_{i \in g} \psi_i .

**Few or unequal groups.** A group moves the estimate that its sum is held against, by its share
:math:`s_g` of the weight. The factor :math:`a_g` (:math:`1 / (1 - s_g)` where samples weigh the
same) makes the sum unbiased where samples are independent: CR2 of Bell and McCaffrey (2002). V is
known as well as its degrees of freedom say, Satterthwaite's :math:`(E V)^2 / (var V / 2)`,
where the samples of a group have the correlation that is found here (Imbens and Kolesar 2016). Of
groups of one size they are G - 1. Where the estimate has several parts that do not share their
weight, as the two classes of an area under a curve, each part is a stratum.

**Crossed groups**, as raters and items: the variance between the groups of one kind, plus that of
the other, less that of the groups of both, which is in each (Cameron, Gelbach and Miller 2011).
What the second adds to the largest is 0 at least, and the fewest degrees of freedom count.

References
----------
.. [1] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
   regression with multi-stage samples. Survey Methodology 28, 169-181.
.. [2] Imbens, G. W. and Kolesar, M. (2016). Robust standard errors in small samples: some practical
   advice. Review of Economics and Statistics 98, 701-712. :doi:`10.1162/REST_a_00552`
.. [3] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway
   clustering. Journal of Business & Economic Statistics 29, 238-249.
   :doi:`10.1198/jbes.2010.07136`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Codes",
    "Spread",
    "Totals",
    "add_up",
    "combine_ways",
    "count_groups",
    "describe_groups",
    "measure_sums",
    "spread_between",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
"""The group of each sample, numbered from 0, shape (n,); of crossed groups (n, n_kinds)."""


class Spread(NamedTuple):
    """How far an estimate is known.

    Attributes
    ----------
    covariance : ndarray of shape (k, k)
    degrees_of_freedom : float
        Infinity where samples are independent, 0 where a single group does not tell.
    n_groups : int or None
        Of the kind that has the fewest; None where samples are independent.
    correlation : tuple of float
        That of two samples of a group, in [0, 1]: one for each kind of groups.
    """

    covariance: Floats
    degrees_of_freedom: float = np.inf
    n_groups: int | None = None
    correlation: tuple[float, ...] = ()

    @property
    def variance(self) -> float:
        """That of the first part of the estimate."""
        return float(self.covariance[0, 0])

    @property
    def error(self) -> float:
        """The standard error of the first part of the estimate."""
        return float(np.sqrt(self.variance))

    @property
    def details(self) -> dict[str, Any]:
        """What a result tells of groups, nothing where there are none."""
        if self.n_groups is None:
            return {}
        together = self.correlation if len(self.correlation) > 1 else self.correlation[0]
        return {"n_groups": self.n_groups, "intraclass_correlation": together}


def count_groups(group: Codes) -> int:
    """Return the number of groups that have samples: of the kind with the fewest."""
    kinds = group.reshape(len(group), -1).T
    return min(int(np.count_nonzero(np.bincount(kind))) for kind in kinds)


def list_ways(group: Codes) -> Iterator[tuple[int, Codes]]:
    """Yield each kind of groups, and the groups of several kinds, with the sign of their variance.

    The kinds themselves come first.
    """
    if group.ndim == 1:
        yield 1, group
        return
    for n_kinds in range(1, group.shape[1] + 1):
        for kinds in combinations(range(group.shape[1]), n_kinds):
            code = group[:, kinds[0]]
            for kind in kinds[1:]:
                code = code * (int(group[:, kind].max()) + 1) + group[:, kind]
                if code.max() > 4 * len(code):  # else empty groups cost less than a sort
                    code = np.unique(code, return_inverse=True)[1].reshape(-1)
            yield (-1) ** (n_kinds + 1), code


def combine_ways(group: Codes, measure: Callable[[Codes], Spread]) -> Spread:
    """Return the spread over all kinds of groups, from that over each: ``measure(codes)``."""
    found = [(sign, measure(code)) for sign, code in list_ways(group)]
    if len(found) == 1:
        return found[0][1]
    kinds = [spread for _, spread in found[: group.shape[1]]]
    total = sum(sign * spread.covariance for sign, spread in found)
    first = max((spread.covariance for spread in kinds), key=np.trace)
    more = total - first
    if np.isfinite(more).all():  # what the other kinds add has no negative variance
        values, vectors = np.linalg.eigh(more)
        more = (vectors * values.clip(0.0)) @ vectors.T
    return Spread(
        first + more,
        min(spread.degrees_of_freedom for spread in kinds),
        min(spread.n_groups for spread in kinds if spread.n_groups is not None),
        tuple(spread.correlation[0] for spread in kinds),
    )


def spread_between(
    influence: Floats,
    group: Codes,
    weight: Floats | None = None,
    stratum: NDArray[np.intp] | None = None,
    leverage: Floats | None = None,
) -> Spread:
    """Return the covariance of a sum of influence values of grouped samples.

    Parameters
    ----------
    influence : ndarray of shape (n,) or (n, k)
        What each sample moves the estimate by; they add up to 0 in each stratum.
    group : ndarray of shape (n,) or (n, n_kinds)
    weight : ndarray of shape (n,), default=None
        What each sample counts: its influence is about so large. None counts all alike.
    stratum : ndarray of shape (n,), default=None
        The part of the estimate that each sample belongs to, numbered from 0.
    leverage : ndarray of shape (n,), default=None
        To what share each sample moves what its own influence is held against; None is the weight.
    """
    moved = influence.reshape(len(influence), -1)
    weight = np.ones(len(moved)) if weight is None else weight / (weight.max() or 1.0)
    part = np.zeros(len(moved), dtype=np.intp) if stratum is None else stratum
    n_parts = int(part.max()) + 1
    squares = np.einsum("ij,ij->i", moved, moved)
    counted = np.divide(squares, weight, out=np.zeros(len(moved)), where=weight > 0)
    totals = Totals(add_up(part, squares, n_parts), add_up(part, counted, n_parts))

    def measure(code: Codes) -> Spread:
        n_groups = int(code.max()) + 1
        cell = code if n_parts == 1 else code * n_parts + part
        added = [
            add_up(cell, each, n_groups * n_parts).reshape(n_groups, n_parts)
            for each in (weight, weight**2, *moved.T)
        ]
        share = added[0]
        if leverage is not None:
            share = add_up(cell, leverage, share.size).reshape(share.shape)
        return measure_sums(np.array(added[2:]), added[0], added[1], totals, share)

    return combine_ways(group, measure)


def add_up(code: Codes, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each code."""
    return np.bincount(code, values, size).astype(np.float64, copy=False)


class Totals(NamedTuple):
    """Of each part the sum of squared influence values, and of these over the weights."""

    squares: Floats
    counted: Floats


def measure_sums(
    sums: Floats, weight: Floats, squares: Floats, totals: Totals, leverage: Floats
) -> Spread:
    r"""Return the spread of one kind of groups.

    `sums` of influence values have shape (k, n_groups, n_parts), the sums of weights, of squared
    weights and of leverages (n_groups, n_parts). With :math:`D_{gc}` the variance of the sum of a
    group, in a part whose scale is :math:`v_c`, and :math:`\rho` the correlation in it,

    .. math:: D_{gc} = v_c \sum_{i, j \in g} w_i w_j \rho^{[i \ne j]}, \qquad
              C = diag(\sum_c D_c) + \sum_c (s_c s_c' T_c - s_c D_c' - D_c s_c'),

    C is the covariance of the sums less their shares of the whole, :math:`T_c = \sum_g D_{gc}`.
    """
    share = leverage / leverage.sum(axis=0)
    scale = totals.squares / squares.sum(axis=0)
    if not scale.any():  # nothing varies, and the degrees of freedom are those of any scale
        scale = np.ones(len(scale))
    correlation = find_correlation(sums, weight, squares, totals)
    factor = _expected(scale * squares, share)
    of_group = sums.sum(axis=2)
    covariance = (of_group * factor) @ of_group.T
    d = scale * (squares + correlation * (weight**2 - squares))
    # C is diag(d) + U K U' with the columns share and d of each part.
    columns = np.concatenate([share, d], axis=1)
    n_parts = weight.shape[1]
    inner = np.block(
        [
            [np.diag(d.sum(axis=0)), -np.eye(n_parts)],
            [-np.eye(n_parts), np.zeros((n_parts, n_parts))],
        ]
    )
    own, lost = d.sum(axis=1), np.einsum("gi,ij,gj->g", columns, inner, columns)
    gram = inner @ (columns.T @ (factor[:, None] * columns))
    mean = float(factor @ (own + lost))
    square = float(factor**2 @ (own**2 + 2 * own * lost) + np.trace(gram @ gram))
    degrees = mean**2 / square if square > 0 else 0.0
    n_groups = int(np.count_nonzero(weight.sum(axis=1)))
    return Spread(covariance, degrees, n_groups, (correlation,))


def _expected(d: Floats, share: Floats) -> Floats:
    """Return the variance of the sum of each group over what is left of it; 0 without samples."""
    own = d.sum(axis=1)
    left = (d * (1 - 2 * share) + share**2 * d.sum(axis=0)).sum(axis=1)
    return np.divide(own, left, out=np.where(own > 0, np.nan, 0.0), where=left > _LEAST * own)


_LEAST = 1e-12


def find_correlation(sums: Floats, weight: Floats, squares: Floats, totals: Totals) -> float:
    """Return the correlation of two samples of a group, in [0, 1], by the analysis of variance."""
    whole = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.nansum(sums**2 / weight, axis=(0, 1)) / totals.counted
        alone = np.nansum(squares / weight, axis=0)
    means, pairs = squares.sum(axis=0) / whole, np.sum(weight**2, axis=0) / whole
    known = np.isfinite(between)
    top = between * (whole - means) - (alone - means)
    bottom = whole - pairs - alone + means - between * (means - pairs)
    top, bottom = top[known].sum(), bottom[known].sum()
    return float(np.clip(top / bottom, 0.0, 1.0)) if bottom > 0 else 0.0


def describe_groups(n_samples: int, details: Mapping[str, Any]) -> str:
    """Say how alike the samples of a group are, and how many independent ones they are worth.

    `details` are those of a result; the text is empty where they tell nothing of groups.
    """
    known = details.get("intraclass_correlation")
    if known is None:
        return ""
    together = " and ".join(f"{each:.2f}" for each in np.atleast_1d(known))
    kinds = "crossed groups" if np.ndim(known) else "groups"
    text = f"Two samples of a group are alike with a correlation of {together}"
    effective = details.get("effective_n_samples")
    if effective is None or not np.isfinite(effective):
        return f"{text}: intervals count {kinds}."
    return (
        f"{text}: {n_samples} samples in {kinds} tell as much as {effective:.3g} independent ones."
    )
