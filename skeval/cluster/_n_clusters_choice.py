"""Chosen number of clusters, and the inputs that all methods of choosing it share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from scipy.stats import sem
from sklearn.base import clone

from skeval._inference.estimate import Details, Result
from skeval.cluster._references import REFERENCE_WORDS, Draws
from skeval.utils import _text
from skeval.utils._text import DataFrame

GAP, SEQUENTIAL, SILHOUETTE = "gap", "sequential", "silhouette"
LEVEL, LEVEL_MORE = 0.05, 0.025
"""Levels of the first test of the sequential method, of one cluster, and of the later tests."""

RISE = 3
"""Standard errors by which the gap must exceed the gap of the choice to be reported."""


class Trial(NamedTuple):
    """Inputs shared by all methods."""

    X: Any
    clusterer: Any
    parameter: str
    kind: str
    draws: Draws
    n_repeats: int
    threshold: float
    root: SeedSequence
    options: dict[str, Any]

    def copy_root(self) -> SeedSequence:
        """Return a copy of `root` that has not spawned any children."""
        return SeedSequence(self.root.entropy, spawn_key=self.root.spawn_key)

    def with_n_clusters(self, candidates: np.ndarray) -> dict[int, Any]:
        """Return a clone of the clusterer for each number of clusters."""
        copies = {k: clone(self.clusterer) for k in candidates.tolist()}
        return {k: copy.set_params(**{self.parameter: k}) for k, copy in copies.items()}


def check_candidates(n_clusters: Iterable[int], smallest: int, method: str) -> np.ndarray:
    """Return the validated, distinct candidates in ascending order."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    # integers in range
    candidates = list(n_clusters)
    wrong = [
        k for k in candidates if isinstance(k, bool) or not isinstance(k, Integral) or k < smallest
    ]
    if wrong or not candidates:
        got = f"{wrong[0]!r}" if wrong else "no candidate"
        raise ValueError(
            f"n_clusters must contain integers >= {smallest} for method={method!r}, got {got}."
        )
    return np.unique(np.asarray(candidates, dtype=np.int64))


def resolve_parameter(clusterer: Any, param_name: str | None) -> str:
    """Return the validated parameter for the number of clusters, or by None the only one."""
    # a parameter by name, or the only one of the usual names
    names = sorted(clusterer.get_params(deep=True))
    if param_name is not None and not (isinstance(param_name, str) and param_name in names):
        raise ValueError(
            f"param_name must be a parameter of {type(clusterer).__name__}, got {param_name!r}."
        )
    if param_name is not None:
        return param_name
    for ending in ("n_clusters", "n_components"):
        matches = [name for name in names if name.split("__")[-1] == ending]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ValueError(f"param_name must say which of {', '.join(matches)} to set.")
    raise ValueError(
        "param_name must name the parameter for the number of clusters: "
        f"{type(clusterer).__name__} has neither n_clusters nor n_components; "
        "skeval.metrics.cluster.dbcv_score judges labels without such a parameter."
    )


@dataclass(frozen=True, eq=False)
class NClustersChoice(Result):
    """Chosen number of clusters, and the values of all candidates.

    The values are silhouettes of all samples, stabilities, silhouettes of halves or gaps, depending
    on `method`. The gap of a candidate is compared with the gap of the next candidate; the
    reference has a gap of 0.

    Attributes
    ----------
    n_clusters : int
        The chosen number of clusters.
    candidates : ndarray of shape (n_candidates,)
        Candidate numbers of clusters, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error over the halvings. The gap is infinite if the
        samples within each cluster are identical; its standard error is s_k. The sequential method
        has a single value, whose standard error is nan.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each halving. A column refers to the same halves, or for the gap to the same draw
        of the reference, for every candidate. The sequential method has one column.
    reference_values : ndarray of shape (n_candidates,)
        Mean over the draws of data without structure, each halved once by methods that halve the
        data. The attribute `reference_standard_errors` contains its standard errors.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each draw of the reference.
    limits : ndarray of shape (n_candidates,)
        Required value of each candidate.
    method : str
        Measure of the choice.
    reference : {"uniform", "box", "permuted", "unimodal"}
        Reference data without structure.
    threshold : float
        Smallest strength of real clusters for any reference; only used by prediction strength.
    rule : str
        Rule of the choice, in words.
    pvalue : float
        P-value of more than one cluster; only the sequential method computes it, otherwise nan.
    pvalue_more : float
        P-value of more than `n_clusters` clusters by the sequential method; nan if `n_clusters` is
        1, which `pvalue` tests, or the largest candidate, and for other methods.
    cautions : tuple of str
        Sentences about columns or shapes for which the reference of the sequential method is not
        valid; empty for other methods.
    details : mapping
        For the gap, the arrays "log_dispersions" of shape (n_candidates,) and
        "reference_log_dispersions" of shape (n_candidates, n_repeats).
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    reference_values: np.ndarray
    reference_replicates: np.ndarray = field(repr=False)
    limits: np.ndarray
    method: str
    reference: str
    threshold: float
    rule: str
    pvalue: float = np.nan
    pvalue_more: float = np.nan
    cautions: tuple[str, ...] = ()
    details: Details = field(default_factory=dict, repr=False)

    @property
    def reference_standard_errors(self) -> np.ndarray:
        """Standard error of each of `reference_values` over the draws."""
        return sem(self.reference_replicates, axis=1)

    @property
    def margins(self) -> np.ndarray:
        """Distance of each value above its limit; negative if below, 0 if both are infinite."""
        same = self.values == self.limits
        return np.subtract(self.values, self.limits, out=np.zeros(len(same)), where=~same)

    @property
    def edge(self) -> str:
        """Sentence about a narrow decision; empty if the decision is clear.

        A decision is narrow if a value is within two standard errors of its limit, or the P-value
        of the sequential method within a factor of two of its level. The standard errors are over
        halvings or, for the gap, over draws of the reference; other draws may lead to another
        choice.
        """
        if self.method == SEQUENTIAL:
            tests = (1, self.pvalue, LEVEL), (self.n_clusters, self.pvalue_more, LEVEL_MORE)
            for k, pvalue, level in tests:
                if level / 2 < pvalue <= 2 * level:
                    return (
                        f"Narrow decision: P = {_text.write_pvalue(pvalue)} for more than "
                        f"{_text.count(k, 'cluster')}, with a limit of {level}, so other draws may "
                        "choose differently."
                    )
            return ""
        ours, errors = self.candidates == self.n_clusters, self.standard_errors
        decides = (self.candidates > 1) | (self.method == GAP)  # only the gap has a limit at 1
        # if the smallest sufficient k is chosen, larger candidates are irrelevant, and vice versa
        if self.method in (SILHOUETTE, GAP):
            rivals = ~np.any(ours) | (self.candidates < self.n_clusters)
        else:
            rivals = self.candidates > self.n_clusters
        if self.method == GAP:  # the margin is a difference of two gaps in the same draws
            with np.errstate(invalid="ignore"):
                errors = np.append(sem(np.diff(self.replicates, axis=0), axis=1), np.nan)
        eligible = decides & ((rivals & (self.margins < 0)) | (ours & np.isfinite(self.margins)))
        near = eligible & (np.abs(self.margins) < 2 * errors)
        if not near.any():
            return ""
        # the narrowest margin
        row = np.flatnonzero(near)[np.argmin(np.abs(self.margins[near]))]
        k, value, margin = self.candidates[row], self.values[row], self.margins[row]
        verb = "reaches" if margin >= 0 else "misses"
        others = "draws of the reference" if self.method == GAP else "halvings"
        return (
            f"Narrow decision: k = {k} {verb} the limit of {self.limits[row]:.3f} by "
            f"{abs(margin):.3f} "
            f"({_text.write_with_spread(value, self.standard_errors[row])}), so other "
            f"{others} may choose differently."
        )

    @property
    def gap_increases(self) -> bool:
        """Whether the gap still increases at the largest candidate, so that its rule is not met."""
        return self.method == GAP and self.n_clusters == self.candidates[-1] > self.candidates[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Cautions, a narrow decision, or a rule that no candidate meets, in sentences."""
        # cautions about the data, and a narrow decision
        notes = [*self.cautions, self.edge]
        tried, last = self.candidates, self.candidates[-1]
        if self.n_clusters not in tried and self.method != SEQUENTIAL:
            notes.append(
                "No candidate meets the rule, so one cluster is chosen, which was not tried."
            )
        if self.gap_increases:
            notes.append(f"No candidate meets the rule: the gap still increases at k = {last}.")
        if self.method == GAP and np.isfinite(self.values).all():
            # a later rise of the gap
            chosen = self.values[tried == self.n_clusters]
            later = tried > self.n_clusters
            rises = np.where(later, (self.values - chosen) / self.standard_errors, 0)
            if rises.max() > RISE:
                notes.append(
                    f"The gap rises again after the first peak, at k = {tried[np.argmax(rises)]} "
                    f"by {rises.max():.0f} standard errors, so the rule may miss clusters."
                )
        return tuple(filter(None, notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the replicates, ready for JSON."""
        errors = self.reference_standard_errors.tolist()
        return super().to_dict() | {"reference_standard_errors": errors}

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate."""
        return _text.make_frame(
            {
                self.method: self.values,
                "standard_error": self.standard_errors,
                "reference": self.reference_values,
                "reference_standard_error": self.reference_standard_errors,
                "limit": self.limits,
                "chosen": self.candidates == self.n_clusters,
            },
            self.candidates,
            "n_clusters",
        )

    def __str__(self) -> str:
        # rule and P-values
        rows = [("rule", self.rule), ("reference", REFERENCE_WORDS[self.reference])]
        for k, pvalue in ((1, self.pvalue), (self.n_clusters, self.pvalue_more)):
            if np.isfinite(pvalue):
                title = f"more than {_text.count(k, 'cluster')}"
                rows.append((title, f"P = {_text.write_pvalue(pvalue)}"))
        for k, value, error, reference, least in zip(
            self.candidates,
            self.values,
            self.standard_errors,
            self.reference_values,
            self.limits,
            strict=True,
        ):
            limit = "none" if np.isneginf(least) else _text.write_number(least)
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = _text.write_number(value)
            if np.isfinite(error):
                text += f" +/- {_text.write_spread(error)}"
            text += f", reference {_text.write_number(reference)}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        text = _text.align_text(f"{_text.count(self.n_clusters, 'cluster')} by {self.method}", rows)
        return "\n".join([text, *(f"! {note}" for note in self.notes)])
