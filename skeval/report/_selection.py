"""What a pipeline selects: the features it chose from, by name, and how often it chose each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

__all__ = ["Selected", "align_selections", "read_selected"]


class Selected(NamedTuple):
    """What one fitted selector chose, and the names of what it chose from where they are known."""

    names: tuple[str, ...] | None
    support: np.ndarray


def read_selected(
    model: Pipeline, X: Any, y: Any, *, feature_names: tuple[str, ...] | None
) -> Selected:
    """Return what the last step of a fitted pipeline selects."""
    support = np.asarray(model[-1].get_support())
    names = feature_names if len(model) == 1 else _name_outputs(model[:-1], feature_names)
    known = names is not None and len(names) == len(support)
    return Selected(names if known else None, support)


def _name_outputs(steps: Pipeline, feature_names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names of what fitted steps put out, or None where they do not know them."""
    for given in (feature_names, None):
        try:
            return tuple(map(str, steps.get_feature_names_out(given)))
        except (AttributeError, TypeError, ValueError):  # a step has no names, or others
            continue
    return None


def align_selections(
    found: Sequence[Selected],
) -> tuple[np.ndarray, tuple[str, ...] | None] | None:
    """Return the selections as rows over the same features, and the names of these.

    Folds may choose from different features, such as the words of their own texts; there the names
    tell which is which, and what a fold lacks it did not select. None where there are no names.
    """
    first = found[0]
    if all(one.names == first.names for one in found) and (
        len({len(one.support) for one in found}) == 1
    ):
        return np.array([one.support for one in found]), first.names
    if any(one.names is None for one in found):
        return None
    names = list(dict.fromkeys(name for one in found for name in one.names or ()))
    place = {name: position for position, name in enumerate(names)}
    supports = np.zeros((len(found), len(names)), dtype=bool)
    for row, one in zip(supports, found, strict=True):
        row[[place[name] for name in one.names or ()]] = one.support
    return supports, tuple(names)
