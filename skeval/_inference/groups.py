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
weight, as the two classes of an area under a curve, each part is a stratum. What a group moves the
two coefficients of a logistic regression by is no share: there each group is left out, CR3.

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
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

__all__ = [
    "Codes",
    "Design",
    "Spread",
    "Totals",
    "add_up",
    "combine_ways",
    "count_groups",
    "covariance_left_out",
    "describe_groups",
    "make_design",
    "measure_sums",
    "read_design",
    "spread_between",
    "spread_of_cells",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
"""The group of each sample, numbered from 0, shape (n,); of crossed groups (n, n_kinds)."""
Labels = NDArray[np.bool_] | NDArray[np.signedinteger[Any]]
"""Small numbers, from 0."""


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
    squares = counted = np.einsum("ij,ij->i", moved, moved)
    if weight is not None and weight.min() == weight.max():
        weight = None
    if weight is not None:
        weight = weight / weight.max()
        counted = np.divide(squares, weight, out=np.zeros(len(moved)), where=weight > 0)
    n_parts, totals = 1, Totals(squares.sum(keepdims=True), counted.sum(keepdims=True))
    if stratum is not None:
        n_parts = int(stratum.max()) + 1
        totals = Totals(*(add_up(stratum, values, n_parts) for values in (squares, counted)))

    def measure(code: Codes) -> Spread:
        n_groups = int(code.max()) + 1
        cell = code if stratum is None else code * n_parts + stratum

        def add(values: Floats | None) -> Floats:
            return add_up(cell, values, n_groups * n_parts).reshape(n_groups, n_parts)

        size = add(weight)
        squared = size if weight is None else add(weight**2)
        share = size if leverage is None else add(leverage)
        return measure_sums(
            np.array([add(column) for column in moved.T]), size, squared, totals, share
        )

    return combine_ways(group, measure)


def spread_of_cells(
    values: Floats, cell: Labels, group: Codes, weight: Floats | None = None
) -> Spread:
    """Return how far the weighted mean is known of what a sample counts by its cell.

    It is that of `spread_between`, from a table of groups and cells where this is small.
    """
    if weight is not None:
        weight = None if weight.min() == weight.max() else weight / weight.max()
    n_cells, n_groups = len(values), int(group.max()) + 1
    is_large = group.ndim > 1 or n_cells * n_groups > _LARGE * len(cell)
    place, size = (cell, n_cells) if is_large else (group * n_cells + cell, n_cells * n_groups)
    table = squares = add_up(place, weight, size).reshape(-1, n_cells)
    if weight is not None:
        squares = add_up(place, weight**2, size).reshape(-1, n_cells)
    whole, squared = table.sum(axis=0), squares.sum(axis=0)
    influence = (values - whole @ values / whole.sum()) / whole.sum()
    if is_large:
        moved = np.take(influence, cell)  # truth values, too, are places here
        return spread_between(moved if weight is None else weight * moved, group, weight)
    totals = Totals(np.array([squared @ influence**2]), np.array([whole @ influence**2]))
    counted, squares = (each.sum(axis=1, keepdims=True) for each in (table, squares))
    return measure_sums((table @ influence)[None, :, None], counted, squares, totals, counted)


_LARGE = 4
"""Tables of more entries than so many times the samples cost more than the samples do."""


def covariance_left_out(influence: Floats, own: Floats, group: Codes) -> Floats:
    r"""Return the covariance of k coefficients, each group left out in turn: CR3, in one step.

    .. math:: V = \sum_g d_g d_g', \qquad d_g = (I - H_g)^{-1} \sum_{i \in g} \psi_i

    `influence` :math:`\psi` has shape (n, k); `own` of shape (n, k, k) adds up to :math:`H_g`, by
    how much a group moves the coefficients that its own influence is held against, to I in all.
    """
    k = influence.shape[1]

    def measure(code: Codes) -> Spread:
        n_groups = int(code.max()) + 1
        sums, moved = (
            np.stack([add_up(code, column, n_groups) for column in each.reshape(-1, size).T], 1)
            for each, size in ((influence, k), (own, k * k))
        )
        rest = np.eye(k) - moved.reshape(-1, k, k)
        rest[np.linalg.det(rest) < _LEAST] = np.nan  # without the group there is no estimate
        left_out = np.linalg.solve(rest, sums[:, :, None])[:, :, 0]
        return Spread(left_out.T @ left_out, np.inf, n_groups, (0.0,))

    return combine_ways(group, measure).covariance


def add_up(code: Labels, values: Floats | None, size: int) -> Floats:
    """Return the sum of the values of each code, or how many it has."""
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
    inner = -np.roll(np.eye(columns.shape[1]), weight.shape[1], axis=0)
    np.fill_diagonal(inner[: weight.shape[1]], d.sum(axis=0))
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


class Design(NamedTuple):
    """Groups of a study that is planned: their size, and how alike two samples of one are.

    Of unequal sizes m the size is that of the group of an average sample, ``sum m^2 / sum m``.
    """

    size: float = 1.0
    correlation: float = 0.0

    @property
    def effect(self) -> float:
        """How many times as many samples as independent ones it takes, of many groups."""
        return 1 + (self.size - 1) * self.correlation

    def needed(self, n_independent: float, confidence_level: float) -> int:
        """Return how many samples have an interval as long as so many independent ones.

        It is the normal one of these and Student's of the groups.
        """
        tail = (1 - confidence_level) / 2

        def tells(n: int) -> float:
            quantile = stdtrit(n / self.size - 1, tail) / ndtri(tail)
            return float(n / self.effect / quantile**2)

        low, high = 0, int(np.ceil(2 * self.size))
        while tells(high) < n_independent:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if middle >= 2 * self.size and tells(middle) >= n_independent:
                high = middle
            else:
                low = middle
        return high

    def describe(self, n_samples: int) -> str:
        """Say how many groups that are, and what they cost."""
        return (
            f"{np.ceil(n_samples / self.size):.0f} groups of {self.size:.3g} samples "
            f"(intraclass correlation {self.correlation:.2g}, design effect {self.effect:.3g})"
        )


def read_design(group_size: float | None, intraclass_correlation: float | None) -> Design | None:
    """Return the groups that are planned, None for none; raise where half of them is missing."""
    if group_size is None and intraclass_correlation is None:
        return None
    if group_size is None or intraclass_correlation is None:
        raise ValueError(
            "group_size and intraclass_correlation must both be given, or none, got "
            f"{group_size!r} and {intraclass_correlation!r}."
        )
    return make_design(group_size, intraclass_correlation)


def make_design(group_size: float, intraclass_correlation: float) -> Design:
    """Return the groups that are planned; raise where they cannot be."""
    if not isinstance(group_size, Real) or not 1 <= group_size < np.inf:
        raise ValueError(f"group_size must be a finite number >= 1, got {group_size!r}.")
    if not isinstance(intraclass_correlation, Real) or not 0 <= intraclass_correlation <= 1:
        raise ValueError(
            f"intraclass_correlation must lie in [0, 1], got {intraclass_correlation!r}."
        )
    return Design(float(group_size), float(intraclass_correlation))


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
