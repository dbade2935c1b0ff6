"""Targets: labels or numbers, with the classes and groups of the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags, indexable

from skeval.utils import _checks
from skeval.utils._compat import num_samples, safe_indexing
from skeval.utils._samples import refuse_mask


@dataclass(frozen=True, eq=False)
class Target:
    """Target in the form of the user (`given`), and as arrays (`y`, `codes`).

    Several outputs, or labels, of a sample are columns of `y` and `codes`, without `classes`.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Labels or numbers.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels; None for regression.
    codes : ndarray of shape (n_samples,)
        Positions in `classes`; `y` itself for regression.
    given : ndarray or Series of shape (n_samples,)
        Target for the estimator: the Series of the user with its index and dtype, otherwise `y`.
    groups : ndarray of shape (n_samples,) or None
        Groups of the samples, also for estimators that split by groups in their `fit`.
    outputs : tuple of str
        Names of the columns; empty for a single output.
    output_classes : tuple of ndarray
        The sorted labels of each column; empty for numbers and for a single output.
    positive : int or None
        Position of the positive of two classes; None means the rarer class.
    """

    y: np.ndarray
    classes: np.ndarray | None
    codes: np.ndarray
    given: Any = None
    groups: np.ndarray | None = None
    outputs: tuple[str, ...] = ()
    output_classes: tuple[np.ndarray, ...] = ()
    positive: int | None = None

    def __post_init__(self) -> None:
        if self.given is None:
            object.__setattr__(self, "given", self.y)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def positive_code(self) -> int:
        """Position of the positive of two classes: the second if both are equally frequent."""
        if self.positive is not None or self.n_classes != 2:
            return 1 if self.positive is None else self.positive
        sizes = np.bincount(self.codes, minlength=2)
        return int(sizes[1] <= sizes[0])

    def with_positive(self, pos_label: Any) -> Target:
        """Return the target with one of two classes as the positive one."""
        classes = [] if self.classes is None else self.classes.tolist()
        if len(classes) != 2 or np.ndim(pos_label) > 0 or pos_label not in classes:
            raise ValueError(
                f"pos_label must be None or one of two classes, got {pos_label!r}; y has "
                f"{'the classes ' + ', '.join(map(repr, classes[:5])) if classes else 'numbers'}."
            )
        return replace(self, positive=classes.index(pos_label))

    def encode(self, predicted: np.ndarray, n_tested: int) -> np.ndarray:
        """Return the predictions of some samples: labels as codes, numbers as they are."""
        predicted = np.asarray(predicted)
        if self.outputs:
            return encode_outputs(self, predicted, n_tested)
        if predicted.shape != (n_tested,):
            raise ValueError(
                f"estimator must predict one value for each sample, shape ({n_tested},), "
                f"got an array of shape {predicted.shape}."
            )
        if self.classes is None:
            what = "predictions of estimator"
            return _checks.check_data(what, predicted, ensure_2d=False, dtype=np.float64)
        codes = np.searchsorted(self.classes, predicted).clip(max=len(self.classes) - 1)
        unknown = self.classes[codes] != predicted
        if np.any(unknown):
            first = predicted[unknown].tolist()[0]
            raise ValueError(f"estimator must predict labels that are in y, got {first!r}.")
        return codes

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the labels of codes."""
        if self.output_classes:
            columns = zip(self.output_classes, codes.T, strict=True)
            return np.column_stack([classes[column] for classes, column in columns])
        return codes if self.classes is None else self.classes[codes]


def encode_outputs(target: Target, predicted: np.ndarray, n_tested: int) -> np.ndarray:
    """Return predictions of several outputs, of shape (n_tested, n_outputs), labels as codes."""
    shape = (n_tested, len(target.outputs))
    if shape[1] == 1 and predicted.ndim == 1:
        predicted = predicted[:, None]
    if predicted.shape != shape:
        raise ValueError(
            f"estimator must predict every column of y, shape {shape}, got an array of shape "
            f"{predicted.shape}."
        )
    if not target.output_classes:
        return _checks.check_data("predictions of estimator", predicted, dtype=np.float64)
    codes = np.empty(shape, dtype=np.intp)
    for k, classes in enumerate(target.output_classes):
        column = np.asarray(predicted[:, k].tolist())
        codes[:, k] = np.searchsorted(classes, column).clip(max=len(classes) - 1)
        unknown = classes[codes[:, k]] != column
        if np.any(unknown):
            raise ValueError(
                f"estimator must predict labels that are in y, got {column[unknown].tolist()[0]!r} "
                f"in column {target.outputs[k]!r}."
            )
    return codes


def has_outputs(y: Any) -> bool:
    """Return whether y has several columns, or is a sparse matrix of labels."""
    try:
        return issparse(y) or (np.ndim(y) == 2 and np.shape(y)[1] > 1)
    except ValueError:  # rows that differ in length
        return False


def read_outputs(estimator: Any, y: Any, groups: np.ndarray | None) -> Target:
    """Return the target of several outputs, or labels, of each sample."""
    is_frame = hasattr(y, "iloc")
    given: Any = y.toarray() if issparse(y) else y if is_frame else np.asarray(y)
    columns = [given.iloc[:, k] if is_frame else given[:, k] for k in range(given.shape[1])]
    labels = is_classifier(estimator)
    names = getattr(
        y, "columns", [f"{'label' if labels else 'output'} {k}" for k in range(len(columns))]
    )
    names = tuple(map(str, names))
    if len(set(names)) < len(names):
        raise ValueError(f"y must have a name for each column, got {list(names)[:10]}.")
    read = [_checks.check_y("y", column) for column in columns]
    if is_frame:  # scikit-learn rejects columns of categories and of nullable integers
        given = type(y)(dict(zip(y.columns, read, strict=True)), index=y.index)
    # scikit-learn compares columns, so all must have one type
    texts = [column.dtype.kind not in "biuf" for column in read]
    if any(texts) and not all(texts):
        raise ValueError(
            "y must hold numbers in all columns or texts in all, which scikit-learn compares; got "
            f"texts in column {names[texts.index(True)]!r} and numbers in column "
            f"{names[texts.index(False)]!r}."
        )
    if not labels:
        if any(texts):
            raise ValueError(f"y must hold numbers for a regressor, got texts in {names[0]!r}.")
        numbers = np.column_stack(read).astype(float)
        return Target(numbers, None, numbers, given, groups, names)
    classes, codes = [], np.empty((len(read[0]), len(read)), dtype=np.intp)
    for k, column in enumerate(read):
        if column.dtype.kind == "f" and np.any(column % 1):
            number = column[column % 1 != 0][0]
            raise ValueError(
                f"y must hold classes for a classifier, got the number {number:g} in column "
                f"{names[k]!r}; use a regressor, or make classes of the numbers."
            )
        present, codes[:, k] = np.unique(column, return_inverse=True)
        if set(present.tolist()) <= {0, 1}:  # a constant label can be predicted as the other one
            present, codes[:, k] = np.array([0, 1], dtype=column.dtype), column
        classes.append(present)
    return Target(codes, None, codes, given, groups, names, tuple(classes))


def validate_data(
    estimator: Any, X: Any, y: Any, groups: Any = None, *, several: bool = False
) -> tuple[Any, Target, Any]:
    """Check estimator, X, y and groups; return indexable X, the target and the groups.

    A target with several outputs is accepted if `several` is true.
    """
    _checks.check_methods("estimator", estimator, "fit", "predict", "get_params")
    _checks.check_predicts_target(estimator)
    _checks.refuse_foreign_arrays(X=X, y=y)
    with _checks.naming("X"):
        num_samples(X)
    _checks.check_same_length(X=X, y=y)
    groups = _checks.check_groups(groups, num_samples(y))
    refuse_mask("X", X)
    with _checks.naming("X"):
        (X,) = indexable(X)
    if get_tags(estimator).input_tags.pairwise:
        X = _checks.check_square(X)
    if several and has_outputs(y):
        return X, read_outputs(estimator, y, groups), groups
    y, passed = _checks.check_y("y", y), y
    passed = read_series(passed, y)
    if not is_classifier(estimator):
        return X, Target(y, None, y, passed, groups), groups
    _checks.check_classes("y", y)
    classes, codes = np.unique(y, return_inverse=True)
    return X, Target(y, classes, codes, passed, groups), groups


class TooFewMembersError(ValueError):
    """Error for too few samples, groups, or members of a class."""


def read_series(given: Any, y: np.ndarray) -> Any:
    """Return a Series unchanged, None for anything else.

    Numbers stored as objects, which scikit-learn does not accept as classes, get a dtype.
    """
    if not hasattr(given, "iloc") or given.ndim != 1:
        return None
    dtype = getattr(given, "dtype", y.dtype)
    held_as_objects = dtype == np.dtype(object) and y.dtype != object
    return given.astype(y.dtype) if held_as_objects else given


def permute_labels(y: Any, order: np.ndarray | None) -> Any:
    """Return labels in another order; the index of a Series, which names the samples, stays."""
    if order is None:
        return y
    labels = safe_indexing(y, order)
    return labels.set_axis(y.index) if hasattr(y, "set_axis") else labels
