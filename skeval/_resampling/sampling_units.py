"""Targets, their sampling units, and statistics on resamples of the units.

A target contains the labels or numbers of the samples, their classes and their groups. Sampling
units are samples, groups or blocks of time, which are held out, resampled and counted as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import get_tags, indexable

from skeval.utils import _checks
from skeval.utils._compat import num_samples, safe_indexing

POSITIVE_WORDS = {
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("0.0", "1.0"),
    ("negative", "positive"), ("neg", "pos"), ("absent", "present"), ("-", "+"), ("-1", "1"),
    ("-1.0", "1.0"),
}  # fmt: skip
"""Pairs of class names. Predictions of 1 mean the second one, which is the positive class."""


def find_positive_name(classes: Sequence[Any]) -> int | None:
    """Return the place of the one of two classes that is named 1, yes, true or the like."""
    words = tuple(str(label).strip().lower() for label in classes)
    return next((place for place in (1, 0) if words[:: 2 * place - 1] in POSITIVE_WORDS), None)


@dataclass(frozen=True, eq=False)
class Target:
    """Target in the form of the user (`given`), and as arrays (`y`, `codes`).

    Several outputs, or labels, of a sample are columns of `y` and `codes`, without `classes`.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Class labels or numeric target.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels, or None for regression.
    codes : ndarray of shape (n_samples,)
        Indices into `classes`, or `y` itself for regression.
    given : ndarray or Series of shape (n_samples,)
        Target for the estimator. It is the Series of the user with its index and dtype, or
        otherwise `y`.
    groups : ndarray of shape (n_samples,) or None
        Groups of the samples, also for estimators that split by groups in their `fit`.
    outputs : tuple of str
        Names of the columns, empty for a single output.
    output_classes : tuple of ndarray
        The sorted labels of each column. Empty for regression and for a single output.
    positive : int or None
        Index of the positive one of two classes. None means the class named 1, yes or true, or else
        the rarer class.
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
        """Number of classes, or 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def positive_code(self) -> int:
        """Index of the positive one of two classes, by its name or as the rarer one.

        It is the second class if both are equally frequent.
        """
        if self.positive is not None or self.n_classes != 2 or self.classes is None:
            return 1 if self.positive is None else self.positive
        sizes = np.bincount(self.codes, minlength=2)
        named = find_positive_name(self.classes.tolist())
        return int(sizes[1] <= sizes[0]) if named is None else named

    def with_positive(self, pos_label: Any) -> Target:
        """Return the target with one of two classes as the positive one."""
        classes = [] if self.classes is None else self.classes.tolist()
        if len(classes) != 2 or not np.isscalar(pos_label) or pos_label not in classes:
            raise ValueError(
                f"pos_label must be None or one of two classes, got {pos_label!r}, but y has "
                f"{'the classes ' + ', '.join(map(repr, classes[:5])) if classes else 'numbers'}"
                f"{_checks.suggest(pos_label, map(str, classes)) if len(classes) == 2 else ''}."
            )
        return replace(self, positive=classes.index(pos_label))

    def encode(self, predicted: np.ndarray, n_tested: int) -> np.ndarray:
        """Return the predictions of some samples, with labels as codes and numbers unchanged."""
        predicted = np.asarray(predicted)
        shape = (n_tested, len(self.outputs)) if self.outputs else (n_tested,)
        # a single output may be predicted as a vector
        if len(self.outputs) == 1 and predicted.ndim == 1:
            predicted = predicted[:, None]
        if predicted.shape != shape:
            raise ValueError(
                f"estimator must return predictions of shape {shape}, got {predicted.shape}."
            )
        if self.output_classes:
            # a code for the class of each output
            columns = zip(self.output_classes, predicted.T, strict=True)
            codes = [find_codes(classes, np.array(column.tolist())) for classes, column in columns]
            return np.column_stack(codes)
        if self.classes is not None:
            return find_codes(self.classes, predicted)
        # finite numbers need no further check
        if predicted.dtype == np.float64 and np.isfinite(predicted).all():
            return predicted
        return check_numbers(predicted)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the labels of codes."""
        if self.output_classes:
            columns = zip(self.output_classes, codes.T, strict=True)
            return np.column_stack([classes[column] for classes, column in columns])
        return codes if self.classes is None else self.classes[codes]


def check_numbers(predicted: np.ndarray) -> np.ndarray:
    """Return predictions as floats. Raise an error unless all are finite numbers."""
    wrong = np.ones(predicted.shape, dtype=bool)
    if predicted.dtype.kind not in "cmM":  # complex numbers and dates would lose a part
        with suppress(TypeError, ValueError):
            numbers = predicted.astype(np.float64)
            wrong = ~np.isfinite(numbers)
    if wrong.any():
        first = predicted[wrong].tolist()[0]
        raise ValueError(f"predictions of estimator must be finite numbers, got {first!r}.")
    return numbers


def find_codes(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the indices of predicted labels among the classes."""
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[codes] != labels
    if np.any(unknown):
        first = labels[unknown].tolist()[0]
        raise ValueError(f"estimator must predict labels that are in y, got {first!r}.")
    return codes


def read_outputs(estimator: Any, y: Any, groups: np.ndarray | None) -> Target:
    """Return the target of several outputs, or labels, of each sample."""
    is_frame = hasattr(y, "iloc")
    # columns by name
    given: Any = y.toarray() if issparse(y) else y if is_frame else np.asarray(y)
    columns = [given.iloc[:, k] if is_frame else given[:, k] for k in range(given.shape[1])]
    labels = is_classifier(estimator)
    names = getattr(
        y, "columns", [f"{'label' if labels else 'output'} {k}" for k in range(len(columns))]
    )
    names = tuple(map(str, names))
    if len(set(names)) < len(names):
        raise ValueError(f"y must have a different name for each column, got {list(names)[:10]}.")
    # each column is a target of its own
    read = [_checks.check_y("y", column) for column in columns]
    if is_frame:  # scikit-learn rejects columns of categories and of nullable integers
        given = type(y)(dict(zip(y.columns, read, strict=True)), index=y.index)
    # scikit-learn compares columns, so all must have one type
    texts = [column.dtype.kind not in "biuf" for column in read]
    if any(texts) and not all(texts):
        raise ValueError(
            "y must contain numbers in all columns or strings in all, got strings in column "
            f"{names[texts.index(True)]!r} and numbers in column {names[texts.index(False)]!r}."
        )
    if not labels:
        if any(texts):
            raise ValueError(
                f"y must contain numbers for a regressor, got strings in {names[0]!r}."
            )
        numbers = np.column_stack(read).astype(float)
        return Target(numbers, None, numbers, given, groups, names)
    # labels of a classifier as codes
    classes, codes = [], np.empty((len(read[0]), len(read)), dtype=np.intp)
    for k, column in enumerate(read):
        remedy = "Use a regressor, or convert the numbers to classes"
        _checks.refuse_fractions(f"column {names[k]!r} of y", column, remedy)
        present, codes[:, k] = np.unique(column, return_inverse=True)
        if set(present.tolist()) <= {0, 1}:  # a constant label can be predicted as the other one
            present, codes[:, k] = np.array([0, 1], dtype=column.dtype), column
        classes.append(present)
    return Target(codes, None, codes, given, groups, names, tuple(classes))


def validate_data(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    several: bool = False,
    name: str = "estimator",
) -> tuple[Any, Target, Any]:
    """Check estimator, X, y and groups, and return indexable X, the target and the groups.

    A target with several outputs is accepted if `several` is true. Error messages name the
    estimator by its argument `name`.
    """
    # refuse other kinds of models, and data in the place of another argument
    _checks.check_methods(name, estimator, "fit", "predict", "get_params")
    _checks.check_predicts_target(name, estimator)
    _checks.refuse_no_target(estimator, y)
    _checks.refuse_foreign_arrays(X=X, y=y)
    # samples, targets and groups belong together
    _checks.check_same_length(X=X, y=y)
    if getattr(X, "shape", ())[1:] == (0,):
        raise ValueError(f"X must have at least one column, got the shape {X.shape}.")
    groups = _checks.check_groups(groups, num_samples(y))
    values = np.asarray(y)
    are_labels = groups is not None and np.array_equal(groups, values)
    if are_labels and len(np.unique(values)) < len(values):
        raise ValueError(
            "groups must be what some samples share, such as a patient, got the values of y."
        )
    # make X indexable; the estimator itself checks its values
    _checks.refuse_mask("X", X)
    with _checks.naming("X"):
        (X,) = indexable(X)
    if get_tags(estimator).input_tags.pairwise:
        X = _checks.check_data("X", X, accept_sparse="csr")
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be a square matrix for this estimator, got {X.shape}.")
    if several and _checks.has_outputs(y):
        return X, read_outputs(estimator, y, groups), groups
    # a single output: numbers, or labels for a classifier
    y, passed = _checks.check_y("y", y), y
    passed = read_series(passed, y)
    if not is_classifier(estimator):
        refuse_classes(name, estimator, y)
        _checks.check_scale("y", y)
        return X, Target(y, None, y, passed, groups), groups
    _checks.check_classes("y", y)
    classes, codes = np.unique(y, return_inverse=True)
    return X, Target(y, classes, codes, passed, groups), groups


def refuse_classes(name: str, estimator: Any, y: np.ndarray) -> None:
    """Raise if an estimator is neither a classifier nor a regressor, and `y` may be classes."""
    few = y.dtype.kind in "iu" and len(np.unique(y)) <= _checks.MAX_SMALL_CLASSES
    if _checks.type_of_estimator(estimator) is None and (few or y.dtype.kind in "bUO"):
        kind = type(estimator).__name__
        raise TypeError(
            f"{name} must have the tags of a classifier or regressor, because y may be classes, "
            f"but {kind} has neither. Write class {kind}(ClassifierMixin, BaseEstimator), or "
            "RegressorMixin for a numeric target."
        )


class TooFewMembersError(ValueError):
    """Error for too few samples, groups, or members of a class."""


def read_series(given: Any, y: np.ndarray) -> Any:
    """Return a Series unchanged, and None for anything else.

    Numbers stored as objects, which scikit-learn does not accept as classes, get a numeric dtype.
    """
    if not hasattr(given, "iloc") or given.ndim != 1:
        return None
    dtype = getattr(given, "dtype", y.dtype)
    held_as_objects = dtype == np.dtype(object) and y.dtype != object
    return given.astype(y.dtype) if held_as_objects else given


def permute_labels(y: Any, order: np.ndarray | None) -> Any:
    """Return labels in another order. The index of a Series, which names the samples, is kept."""
    if order is None:
        return y
    labels = safe_indexing(y, order)
    return labels.set_axis(y.index) if hasattr(y, "set_axis") else labels


class UnitKind(Enum):
    """Kinds of sampling units, with the plurals that sentences use."""

    SAMPLE = "samples"
    GROUP = "groups"
    FOLD = "folds"
    TIME_BLOCK = "blocks of time"


@dataclass(frozen=True, eq=False)
class SamplingUnits:
    """Units that are assigned to folds, halves and resamples as a whole.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        Unit of each sample, numbered from 0 in the order of their first samples.
    stratum : int ndarray of shape (n_units,)
        Class of each unit (the most frequent class of a group), numbered like units. It is 0 for
        regression.
    clustered : bool
        Whether several losses of a unit are counted together.
    kind : UnitKind
        Kind of the units. FOLD is a set of samples that no fold from the user splits. SAMPLE is a
        sample, or its predictions by several models.
    crossed : int ndarray of shape (n_samples, n_kinds) or None
        Crossed groups, with one column for each kind. The units are the groups of the smallest
        kind.
    shares : ndarray of shape (n_units, n_labels) or None
        Fraction of samples with each label in each unit, which folds balance. None for a single
        target.
    """

    unit: np.ndarray
    stratum: np.ndarray
    clustered: bool = False
    kind: UnitKind = UnitKind.SAMPLE
    crossed: np.ndarray | None = None
    shares: np.ndarray | None = None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.stratum)

    @property
    def n_groups(self) -> int | None:
        """Number of units, or None if the units are single samples."""
        return None if self.kind is UnitKind.SAMPLE else self.n_units

    def mask(self, units: np.ndarray) -> np.ndarray:
        """Return which samples belong to some units, shape (n_samples,)."""
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return chosen[self.unit]

    def deal(self, units: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
        """Return a fold for each of some units, assigned in turn, class after class."""
        if self.shares is not None:
            return deal_labels(self.shares[units], n_folds, rng)
        # shuffle within classes, then deal class after class
        order = np.argsort(rng.random(len(units)))
        order = order[np.argsort(self.stratum[units][order], kind="stable")]
        fold = np.empty(len(units), dtype=np.intp)
        fold[order] = np.arange(len(units)) % n_folds
        return fold

    def spread(self, units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return some units in a random order with balanced classes in every interval.

        The units of a class are shuffled and placed at equal distances from a random start.
        """
        stratum, place = self.stratum[units], np.empty(len(units))
        for s in np.unique(stratum):
            members = np.flatnonzero(stratum == s)
            place[members] = (rng.permutation(len(members)) + rng.random()) / len(members)
        return units[np.argsort(place, kind="stable")]


def units_of(target: Target, groups: np.ndarray | None = None) -> SamplingUnits:
    """Return the samples of a target, or their groups, as units."""
    # strata: classes, or the rarest label of a sample
    classes = np.zeros(len(target), dtype=np.intp)
    if target.classes is not None:
        classes = number_by_appearance(target.codes)
    elif target.output_classes:
        classes = number_by_appearance(find_rarest_labels(target.codes))
    # an indicator of each class of each output but the first
    shares = None
    if target.output_classes:
        columns = zip(target.codes.T, target.output_classes, strict=True)
        levels = [codes[:, None] == np.arange(1, len(names)) for codes, names in columns]
        shares = np.hstack(levels).astype(float)
    if groups is None:
        return SamplingUnits(np.arange(len(target)), classes, shares=shares)
    crossed = None
    if groups.ndim == 2:
        # folds keep the groups of the smallest kind together
        crossed, groups = groups, groups[:, groups.max(axis=0).argmin()]
    # groups are the units
    unit = number_by_appearance(groups)
    n_groups = int(unit.max()) + 1
    if n_groups < 2:
        raise ValueError(f"groups must have at least two groups, got one: {groups.tolist()[0]!r}.")
    # the stratum of a group is its most frequent class
    members = np.zeros((n_groups, int(classes.max()) + 1), dtype=np.intp)
    np.add.at(members, (unit, classes), 1)
    if shares is not None:
        sums = np.zeros((n_groups, shares.shape[1]))
        np.add.at(sums, unit, shares)
        shares = sums / np.bincount(unit)[:, None]
    return SamplingUnits(unit, members.argmax(axis=1), True, UnitKind.GROUP, crossed, shares)


def deal_labels(labels: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return a fold for each row of labels, balanced label by label, the rarest first.

    This is iterative stratification [1]_. A row with the label goes to the fold that needs this
    label most, and among such folds to the one that needs most rows. The sizes of the folds differ
    by at most one.

    References
    ----------
    .. [1] Sechidis, K., Tsoumakas, G. and Vlahavas, I. (2011). On the stratification of multi-label
       data. ECML PKDD 2011, 145-158. :doi:`10.1007/978-3-642-23808-6_10`
    """
    n, fold = len(labels), np.full(len(labels), -1)
    # free places of each fold, and the number of each label that it still lacks
    room = rng.permutation((n + np.arange(n_folds)) // n_folds)
    lacks = np.tile(labels.sum(axis=0) / n_folds, (n_folds, 1))
    while (left := np.flatnonzero(fold < 0)).size:
        # rows with the rarest label left, or without any label
        sums = labels[left].sum(axis=0)
        rarest = int(np.argmin(np.where(sums > 0, sums, np.inf))) if sums.any() else None
        members = left if rarest is None else left[labels[left, rarest] > 0]
        for row in rng.permutation(members):
            wanted = room if rarest is None else np.where(room > 0, lacks[:, rarest], -np.inf)
            # the fold that lacks the label most, then most rows, then at random
            fold[row] = best = np.lexsort([rng.random(n_folds), room, wanted])[-1]
            lacks[best] -= labels[row]
            room[best] -= 1
    return fold


def find_rarest_labels(codes: np.ndarray) -> np.ndarray:
    """Return the rarest label of each sample, as a number, or 0 for a sample without labels.

    Folds that are stratified by it balance the labels, the rarest first.
    """
    # rank labels by frequency; a sample gets its rarest one
    held = codes > 0
    rank = np.argsort(np.argsort(held.sum(axis=0), kind="stable"))
    rarest = np.where(held, rank, len(rank)).min(axis=1)
    return np.asarray((rarest + 1) % (len(rank) + 1))


def number_by_appearance(values: np.ndarray) -> np.ndarray:
    """Number the values by their first appearance.

    Random draws then do not depend on the names of classes and groups.
    """
    # small integers need no sort
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() > len(values):
        values = np.unique(values, return_inverse=True)[1].reshape(-1)
    n = len(values)
    first = np.full(int(values.max()) + 1, n)
    first[values[::-1]] = np.arange(n)[::-1]  # the last assignment wins
    return np.argsort(np.argsort(first))[values]


@dataclass(frozen=True, eq=False)
class DrawingUnits:
    """Units that a bootstrap draws, which are samples or groups, overall or within strata.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        Unit of each sample, numbered from 0.
    strata : tuple of int ndarray
        The units of each stratum.
    n_groups : int or None
        Number of groups, or None if units are samples.
    crossed : tuple of DrawingUnits
        Groups of the other kinds, which have more groups.
    """

    unit: np.ndarray
    strata: tuple[np.ndarray, ...]
    n_groups: int | None = None
    crossed: tuple[DrawingUnits, ...] = ()

    @property
    def codes(self) -> NDArray[np.intp]:
        """Group of each sample, or one column for each kind of crossed groups."""
        if not self.crossed:
            return self.unit
        return np.column_stack([self.unit, *(units.unit for units in self.crossed)])

    @property
    def n_units(self) -> int:
        """Number of units."""
        return sum(len(units) for units in self.strata)

    @property
    def stratum(self) -> np.ndarray:
        """Stratum of each unit, shape (n_units,)."""
        stratum = np.empty(self.n_units, dtype=np.intp)
        for number, units in enumerate(self.strata):
            stratum[units] = number
        return stratum

    @property
    def left_out_probability(self) -> np.ndarray:
        """Probability ``(1 - 1/n)^n`` that a resample leaves each sample out."""
        sizes = np.array([len(units) for units in self.strata])
        return ((1 - 1 / sizes) ** sizes)[self.stratum][self.unit]

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return how often one resample contains each sample, shape (n_samples,).

        Each kind of crossed groups is drawn independently. The count of a sample is the product of
        the counts of its groups (the pigeonhole bootstrap of Owen 2007).
        """
        counts = np.zeros(self.n_units, dtype=np.intp)
        # draw as many units as each stratum has, with replacement
        for units in self.strata:
            drawn = rng.integers(0, len(units), size=len(units))
            counts[units] = np.bincount(drawn, minlength=len(units))
        held: np.ndarray = counts[self.unit]
        for units_of_kind in self.crossed:
            held = held * units_of_kind.draw(rng)
        return held


class ExchangedUnits(DrawingUnits):
    """Units whose predictions are swapped with probability one half."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return whether the predictions of each sample are swapped."""
        return rng.integers(0, 2, self.n_units)[self.unit]


def drawing_units(
    n_samples: int, codes: np.ndarray | None, groups: Any, *, crossed: bool = False
) -> DrawingUnits:
    """Return the samples (of each class if `codes`) or groups that a bootstrap draws.

    Groups may be `crossed` if no model is trained on the resamples.
    """
    if groups is not None and codes is not None:
        raise ValueError("stratify must be False with groups=, which may contain several classes.")
    if not crossed:
        groups = _checks.check_groups(groups, n_samples)
    # groups of each kind, the kind with the fewest groups first
    numbered = _checks.number_groups(groups, n_samples)
    if numbered is not None:
        kinds = [
            DrawingUnits(unit, (np.arange(unit.max() + 1),), int(unit.max()) + 1)
            for unit in numbered.reshape(n_samples, -1).T
        ]
        first, *others = sorted(kinds, key=lambda units: units.n_units)
        return replace(first, crossed=tuple(others))
    if n_samples < 2:
        raise ValueError(f"The data must contain at least 2 samples, got {n_samples}.")
    if codes is None:
        return DrawingUnits(np.arange(n_samples), (np.arange(n_samples),))
    # samples within their classes
    strata = tuple(np.flatnonzero(codes == code) for code in np.unique(codes))
    return DrawingUnits(np.arange(n_samples), strata)


Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.intp]], float]  # function of the indices of samples
_BLOCK = 100


def values_of_draws(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    n_resamples: int,
    root: SeedSequence,
    n_jobs: int | None,
) -> Floats:
    """Return a vector for each resample as a column, nan where it is not finite.

    The argument of `compute` is the number of times that a resample contains each sample.
    """
    # each job draws a block of resamples
    starts = range(0, n_resamples, _BLOCK)
    blocks = [range(start, min(start + _BLOCK, n_resamples)) for start in starts]
    jobs = (delayed(_block_values)(compute, units, root, block) for block in blocks)
    values = np.concatenate(list(Parallel(n_jobs=n_jobs)(jobs))).T
    values[~np.isfinite(values)] = np.nan
    return values


def values_or_nan(statistics: Sequence[Statistic], *plan: Any) -> Floats:
    """Return statistics on the same resamples, one row each, nan where one is undefined.

    `plan` contains the arguments of `values_of_draws` after the first.
    """
    return values_of_draws(partial(_value_each, statistics), *plan)


def mean_held(scores: Floats, weight: Floats | None, counts: NDArray[np.intp]) -> Floats:
    """Return the mean of each row of scores, weighted by the counts in the resample."""
    held = counts if weight is None else counts * weight
    with np.errstate(invalid="ignore"):  # the mean of no sample is nan
        means: Floats = scores @ held / held.sum()
    return means


def mean_signed(differences: Floats, weight: Floats | None, exchanged: NDArray[np.intp]) -> Floats:
    """Return the mean of each row of differences, with the sign of swapped samples changed."""
    means: Floats = np.average(differences * (1 - 2 * exchanged), axis=1, weights=weight)
    return means


def leave_one_out_values(statistic: Statistic, units: DrawingUnits) -> list[Floats]:
    """Return the statistic without each unit where it is defined, as one array per stratum."""
    values = [
        np.array([_value_or_nan(statistic, np.flatnonzero(units.unit != u)) for u in stratum])
        for stratum in units.strata
    ]
    n_undefined = sum(int(np.isnan(stratum).sum()) for stratum in values)
    if n_undefined:
        _checks.warn_undefined(
            f"The acceleration of BCa ignores {n_undefined} of the {units.n_units} samples or "
            "groups, because the metric is undefined without one of them."
        )
    return [stratum[np.isfinite(stratum)] for stratum in values if np.isfinite(stratum).any()]


def warn_of_undefined(values: Floats) -> None:
    """Warn about resamples without a value."""
    n = int(np.isnan(values).sum())
    if n:
        _checks.warn_undefined(
            f"The metric is undefined on {n} of {len(values)} resamples, which are left out."
        )


def _block_values(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    root: SeedSequence,
    block: range,
) -> Floats:
    return np.array(
        [compute(units.draw(_checks.repetition_rng(root, b))) for b in block], dtype=float
    )


def _value_each(statistics: Sequence[Statistic], counts: NDArray[np.intp]) -> Floats:
    indices = np.repeat(np.arange(len(counts)), counts)
    return np.array([_value_or_nan(statistic, indices) for statistic in statistics])


def _value_or_nan(statistic: Statistic, indices: NDArray[np.intp]) -> float:
    """Return the statistic of a resample, or nan if it is undefined there."""
    with _checks.ignored_warnings(UndefinedMetricWarning):
        try:
            return statistic(indices)
        except ValueError:
            return np.nan
