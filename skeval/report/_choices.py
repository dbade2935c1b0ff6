"""What `evaluate` may be told, and what it chooses where it is told nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np

from skeval._resampling.folds import DEFAULT_FOLDS, default_folds, resolve_splitter, seed_splitter
from skeval._resampling.target import LossLike, Target
from skeval.report._cautions import Caution
from skeval.utils._checks import check_count, check_flag
from skeval.utils._seeds import RandomStateLike, root_seed

__all__ = [
    "Counts",
    "Options",
    "check_counts",
    "check_left_out",
    "choose_leave_one_out",
    "choose_splitter",
    "count_classes",
]

LEAVE_ONE_OUT_LIMIT = 1000


class Options(TypedDict, total=False):
    """The keywords of `evaluate`, for the types of its two forms."""

    cv: Any
    n_bootstraps: int
    n_permutations: int
    n_resamples: int
    leave_one_out: bool | None
    confidence_level: float
    loss: LossLike
    scoring: Any
    groups: Any
    by: Any
    sample_weight: Any
    feature_names: Sequence[str] | None
    left_out: Any
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: float | str


class Counts(NamedTuple):
    """How many resamples of each kind there are."""

    bootstraps: int
    permutations: int
    perturbations: int


def check_counts(n_bootstraps: Any, n_permutations: Any, n_resamples: Any) -> Counts:
    """Return the numbers of resamples; 0 does without permutations and perturbations."""
    return Counts(
        check_count("n_bootstraps", n_bootstraps),
        check_count("n_permutations", n_permutations, 0),
        check_count("n_resamples", n_resamples, 0),
    )


def check_left_out(left_out: Any, n_samples: int) -> dict[str, np.ndarray]:
    """Return the columns that are no features by name; each must have a value for each sample."""
    if left_out is None:
        return {}
    if not hasattr(left_out, "items"):
        raise ValueError(
            f"left_out must be a dict or a data frame of columns, got {type(left_out).__name__}."
        )
    columns = {str(name): np.asarray(column) for name, column in left_out.items()}
    for name, column in columns.items():
        if column.shape != (n_samples,):
            raise ValueError(
                f"left_out must hold a value for each of {n_samples} samples, {name!r} has shape "
                f"{column.shape}."
            )
    return columns


def choose_leave_one_out(asked: bool | None, n_samples: int) -> bool:
    """Return whether to leave each sample out in turn: as asked, or where samples are few."""
    if asked is None:
        return n_samples <= LEAVE_ONE_OUT_LIMIT
    check_flag("leave_one_out", asked)
    return asked


def choose_splitter(cv: Any, target: Target, groups: Any, seed: int) -> tuple[Any, list[Caution]]:
    """Return what splits, and a note where there are fewer folds than usual."""
    cv, notes = choose_folds(cv, target, groups)
    splitter = resolve_splitter(cv, target, groups, seed)
    return seed_splitter(splitter, root_seed(seed)), notes


def choose_folds(cv: Any, target: Target, groups: Any) -> tuple[Any, list[Caution]]:
    """Return `cv`, or ten folds, or as many as the data allow and a note of it."""
    if cv is not None:
        return cv, []
    n_folds = default_folds(target, groups)
    what = f"There are {n_folds} {'samples' if groups is None else 'groups'}"
    if target.classes is not None:
        sizes = np.bincount(target.codes)
        if 2 <= sizes.min() <= n_folds:
            n_folds = int(sizes.min())
            what = f"Class {target.classes[sizes.argmin()]} has {n_folds} members"
    if n_folds == DEFAULT_FOLDS:
        return n_folds, []
    text = (
        f"{what}, fewer than {DEFAULT_FOLDS} folds need: the row of cross-validation has {n_folds}."
    )
    return n_folds, [Caution("few-folds", text)]


def count_classes(target: Target, weight: np.ndarray | None = None) -> dict[Any, Any] | None:
    """Return the number of samples of each class, or what they weigh."""
    if target.classes is None:
        return None
    sizes = np.bincount(target.codes, weight)
    return dict(zip(target.classes.tolist(), sizes.tolist(), strict=True))
