"""Checks of arguments that scikit-learn does not have; each names argument, rule and value.

Those of labels, predictions and scores of two classes follow; at the end stands what a
`random_state` becomes: one entropy per call, one independent stream per repetition.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import unique_labels

from skeval.utils._compat import num_samples

__all__ = [
    "RandomStateLike",
    "check_binary_scores",
    "check_comparable",
    "check_complete",
    "check_confidence_level",
    "check_count",
    "check_data",
    "check_flag",
    "check_groups",
    "check_jobs",
    "check_labels",
    "check_methods",
    "check_option",
    "check_predictions",
    "check_probabilities",
    "check_rope",
    "check_same_length",
    "check_square",
    "check_targets",
    "check_weights",
    "check_y",
    "child_seed",
    "classes_of",
    "give_nan",
    "is_missing",
    "naming",
    "native_labels",
    "number_groups",
    "positive_label",
    "repetition_rng",
    "root_seed",
    "scale_weights",
    "share_dtype",
    "small_seed",
    "warn_undefined",
    "warn_user",
]

RandomStateLike = int | RandomState | Generator | SeedSequence | None


def check_confidence_level(confidence_level: float) -> None:
    """Raise unless a nominal level lies strictly between 0 and 1."""
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level must fulfil 0 < confidence_level < 1, got {confidence_level!r}."
        )


def check_jobs(n_jobs: Any, verbose: Any) -> None:
    """Raise unless `n_jobs` is None or an integer, and `verbose` a number or a flag."""
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise ValueError(f"n_jobs must be None or an integer, got {n_jobs!r}.")
    if not isinstance(verbose, Real):
        raise ValueError(f"verbose must be an integer, got {verbose!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


ONLY_PREDICTS = (
    " What predicts only, and cannot be fitted again, is evaluated by its predictions: "
    "skeval.evaluate_predictions(y_true, predictions)."
)


def check_methods(name: str, value: Any, *methods: str) -> None:
    """Raise unless `value` is an object, and no class, with the methods."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be an instance, got the class {value.__name__}.")
    if not all(_has_method(value, method) for method in methods):
        needed = f"{', '.join(methods[:-1])} and {methods[-1]}"
        text = f"{name} must have the methods {needed}, got {type(value).__name__}."
        if "fit" in methods and (hasattr(value, "predict") or callable(value)):
            text += ONLY_PREDICTS
        raise TypeError(text)


def _has_method(value: Any, method: str) -> bool:
    if hasattr(value, method):
        return True
    # A stacking predicts as its final estimator does, so it has no predict before it is fitted.
    will_predict = method == "predict" and hasattr(type(value), method)
    tagged = will_predict and hasattr(value, "__sklearn_tags__")
    return tagged and (is_classifier(value) or is_regressor(value))


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return `value` as an int, or raise unless it is an integer of at least `minimum`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value!r}.")
    return int(value)


def check_rope(rope: Any) -> float:
    """Return half the width of a region of practical equivalence, or raise unless it is >= 0."""
    if not isinstance(rope, Real) or isinstance(rope, bool) or not 0 <= float(rope) < np.inf:
        raise ValueError(f"rope must be a number >= 0, got {rope!r}.")
    return float(rope)


def check_option(name: str, value: str, options: Iterable[str]) -> str:
    """Return `value`, or raise unless it is one of the options."""
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")
    return value


@contextmanager
def naming(*arguments: str) -> Iterator[None]:
    """Let an error of the checks within, which are not ours, say which argument it means."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if set(arguments) & set(re.findall(r"\w+", str(error))):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{' and '.join(arguments)}: {error}") from error


def check_data(name: str, data: Any, **options: Any) -> Any:
    """Return what `sklearn.utils.check_array` returns; every error names the argument."""
    # scikit-learn adds the numbers to see whether they are finite, and inf - inf warns
    with naming(name), np.errstate(invalid="ignore"):
        return check_array(data, input_name=name, **options)


def check_square(X: Any) -> Any:
    """Return the kernels or distances between all samples as an array that splits can index."""
    X = check_data("X", X, accept_sparse="csr")
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be square, a kernel or distance between each two samples, for this estimator; "
            f"got shape {X.shape}."
        )
    return X


def check_weights(name: str, weights: Any, *shape: int | str) -> np.ndarray:
    """Return weights as floats, ones for None; raise unless finite, >= 0 and no row all 0.

    `shape` holds a name where any size will do: ``"n_resamples", 100`` are rows of 100.
    """
    if weights is None:
        return np.ones(int(shape[-1]))
    weights = check_data(name, weights, ensure_2d=False, dtype=np.float64)
    if weights.ndim != len(shape) or weights.shape[-1] != shape[-1]:
        wanted = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        raise ValueError(f"{name} must have shape {wanted}, got {weights.shape}.")
    if weights.min() < 0:
        raise ValueError(f"{name} must be >= 0, got {weights.min():g}.")
    weighted = weights.any(axis=-1)
    if not weighted.all():
        where = f" in row {np.argmin(weighted)}" if weights.ndim > 1 else ""
        raise ValueError(f"{name} must hold a weight > 0, got only zeros{where}.")
    return weights


def check_same_length(**arrays: Any) -> None:
    """Raise unless the arrays that are given (not None) have the same number of samples."""
    given = {name: array for name, array in arrays.items() if array is not None}
    with naming(*given):
        sizes = {name: num_samples(array) for name, array in given.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"{' and '.join(sizes)} must have the same length, "
            f"got {' and '.join(map(str, sizes.values()))}."
        )


def check_y(name: str, y: Any) -> np.ndarray:
    """Return `y` as a non-empty 1-D array without missing or infinite values."""
    check_complete(name, y)
    y = check_data(name, y, ensure_2d=False, dtype=None, estimator="skeval")
    with naming(name):
        return native_labels(name, column_or_1d(y))


def check_groups(groups: Any, n_samples: int, *, crossed: bool = False) -> np.ndarray | None:
    """Return the groups of samples as a 1-D array, None for none; raise where one is missing.

    Samples whose group is not known are not one group. Of several columns those are left out whose
    groups lie within those of another, as patients in sites: the coarsest counts. What is left of
    crossed ones, as raters and items, is an array of numbers with a column for each kind where
    `crossed` says that they can be dealt with; elsewhere it is refused.
    """
    if groups is None:
        return None
    if isinstance(groups, str | bytes):
        raise ValueError(
            f"groups must hold a group for each of the {n_samples} samples, got {groups!r}; of a "
            "data frame give the column itself."
        )
    with naming("groups"):
        n_given = num_samples(groups)
    if n_given != n_samples:
        raise ValueError(
            f"groups must hold a group for each of the {n_samples} samples, got {n_given}."
        )
    if np.ndim(groups) != 2:
        return _check_group_names(groups, n_samples)
    if hasattr(groups, "columns"):
        columns = [groups[name] for name in groups.columns]
    else:
        columns = list(groups.T if isinstance(groups, np.ndarray) else np.asarray(groups).T)
    if not columns:
        raise ValueError(f"groups must have a column at least, got shape ({n_samples}, 0).")
    named = [_check_group_names(column, n_samples) for column in columns]
    if len(named) == 1:
        return named[0]
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in named]
    kept = _find_coarsest(codes)
    if len(kept) == 1:
        return named[kept[0]]
    if not crossed:
        raise ValueError(
            "groups must be of one kind, or nested, where models are fitted, got "
            f"{len(kept)} kinds that cross: no folds keep the groups of all of them apart and "
            "train on what is left. Give the kind in which new samples will be new; or predict "
            "each sample by a model that has seen none of its groups, and give the predictions to "
            "evaluate_predictions, which takes crossed groups."
        )
    return np.column_stack([codes[kind] for kind in kept])


def _find_coarsest(codes: list[np.ndarray]) -> list[int]:
    """Return which of several kinds of groups lie within no other; the first of those alike."""
    kept = list(range(len(codes)))
    for one in range(len(codes)):
        first = np.unique(codes[one], return_index=True)[1]
        for other in kept:
            held = bool(np.all(codes[other] == codes[other][first][codes[one]]))
            if held and other != one and (other < one or codes[other].max() < codes[one].max()):
                kept.remove(one)
                break
    return kept


def number_groups(groups: Any, n_samples: int, seen: np.ndarray | None = None) -> np.ndarray | None:
    """Return the numbers of the groups of the samples that are seen, from 0; two at least.

    Crossed groups have a column for each kind.
    """
    groups = check_groups(groups, n_samples, crossed=True)
    if groups is None:
        return None
    groups = groups if seen is None or seen.all() else groups[seen]
    columns = groups.reshape(len(groups), -1).T
    numbered = [_number(column) for column in columns]
    for names, _ in numbered:
        if len(names) < 2:
            raise ValueError(
                f"groups must hold at least two groups, got one: {names.tolist()[0]!r}."
            )
    codes = [code for _, code in numbered]
    return codes[0] if groups.ndim == 1 else np.column_stack(codes)


def _number(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted names, and the number of each; whole numbers near 0 are not sorted."""
    if (
        names.dtype.kind in "iu"
        and len(names)
        and names.min() >= 0
        and names.max() < 4 * len(names)
    ):
        known = np.bincount(names) > 0
        codes = names.astype(np.intp, copy=False)
        return np.flatnonzero(known), codes if known.all() else (np.cumsum(known) - 1)[codes]
    found, codes = np.unique(names, return_inverse=True)
    return found, codes.reshape(-1)


def _check_group_names(groups: Any, n_samples: int) -> np.ndarray:
    """Return the group of each sample; raise where one is missing."""
    values = np.asarray(groups)
    if values.ndim != 1:
        raise ValueError(f"groups must have shape ({n_samples},), got {values.shape}.")
    if type(groups) is np.ndarray and values.dtype.kind in "iu" and n_samples:
        return values  # of whole numbers none is missing
    missing = find_missing(values)
    if isinstance(groups, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(groups).reshape(-1)
    if missing.any():
        raise ValueError(
            f"groups must name the group of each sample, {missing.sum()} of {n_samples} are "
            f"missing, the first at position {missing.argmax()}; leave these samples out, or give "
            "each a name of its own if it belongs to no other."
        )
    return check_y("groups", values)


def find_missing(values: np.ndarray) -> np.ndarray:
    """Return which values of a vector are missing: nan, NaT, None or pandas.NA."""
    if values.dtype.kind != "O":
        unequal: np.ndarray = values != values
        return unequal
    return np.array([is_missing(value) for value in values], dtype=bool)


def is_missing(value: Any) -> bool:
    """Whether a value is None, nan, or what pandas has in their place."""
    if value is None:
        return True
    same = value == value  # pandas.NA compares as itself, which is no boolean
    return not isinstance(same, bool | np.bool_) or not bool(same)


def check_complete(name: str, y: Any) -> None:
    """Raise where objects, or a column of a data frame, hold a missing value in any form."""
    if getattr(y, "dtype", None) != np.dtype(object) and not hasattr(y, "iloc"):
        return  # numbers, which scikit-learn checks
    missing = find_missing(np.asarray(y).reshape(-1))
    if missing.any():
        raise ValueError(
            f"{name} must hold no missing values, got {missing.sum()} among {len(missing)}, the "
            f"first at position {missing.argmax()}."
        )


def check_comparable(y_true: np.ndarray, name: str, labels: np.ndarray) -> None:
    """Raise where labels cannot be equal, rather than count every prediction as wrong."""
    for argument, y in (("y_true", y_true), (name, labels)):
        if y.dtype.kind == "f" and np.any(y != np.floor(y)):
            raise ValueError(
                f"{argument} must hold class labels, got the number {y[y != np.floor(y)][0]:g}; "
                "scores and regression targets have no error rate."
            )
    true, label = y_true[:1].tolist()[0], labels[:1].tolist()[0]
    if isinstance(true, str) != isinstance(label, str):
        raise ValueError(
            f"y_true and {name} must both hold numbers or both hold strings, got {true!r} and "
            f"{label!r}."
        )


def native_labels(name: str, y: Any) -> Any:
    """Return numbers and booleans that are held as objects in the dtype of their own.

    scikit-learn takes no labels but strings from an array of objects; a column of a data frame
    often holds others. Whatever is no array of objects is returned as it is.
    """
    if getattr(y, "dtype", None) != np.dtype(object):
        return y
    objects = np.asarray(y)
    if all(isinstance(label, str) for label in objects.flat):
        return y
    native = np.array(objects.tolist())
    alike = native.dtype.kind in "biuf" and native.shape == objects.shape
    if not alike or len(set(native.tolist())) < len(set(objects.tolist())):
        kinds = ", ".join(sorted({type(label).__name__ for label in objects.flat}))
        raise ValueError(f"{name} must hold numbers, booleans or strings alone, got {kinds}.")
    return native


def share_dtype(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors in one dtype that holds the values of either."""
    text = [each.dtype.kind in "SU" for each in (a, b)]
    shared = np.result_type(a, b) if text[0] == text[1] else np.dtype(object)
    return a.astype(shared), b.astype(shared)


def check_targets(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both label vectors as 1-D arrays of the same, positive, length."""
    check_same_length(y_true=y_true, y_pred=y_pred)
    return check_y("y_true", y_true), check_y("y_pred", y_pred)


def give_nan(reason: str) -> float:
    """Warn that a metric has no value on these data, and return nan in its place."""
    warn_undefined(f"{reason} The metric is nan.")
    return float("nan")


def warn_undefined(message: str) -> None:
    """Warn of a 0/0 at the line that called the public function."""
    warn_user(message, UndefinedMetricWarning)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the public function: the first one outside the libraries."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_LIBRARIES = ("skeval", "sklearn", "joblib")


def scale_weights(
    sample_weight: ArrayLike | None, n_samples: int
) -> tuple[NDArray[np.float64], float]:
    """Return weights of at most 1, and the power of 2 by which `check_weights` has them larger.

    For metrics in which only the ratios of weights count: no sum or product of them overflows.
    """
    weight = check_weights("sample_weight", sample_weight, n_samples)
    exponent = int(np.frexp(weight.max())[1])
    if sample_weight is None or exponent in (0, 1):
        return weight, 1.0
    return np.ldexp(weight, -exponent), float(np.ldexp(1.0, exponent))


def check_predictions(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Return labels as 1-D arrays of numbers or text, or indicator matrices as they are."""
    with naming("y_true", "y_pred"):
        check_consistent_length(y_true, y_pred)
        if num_samples(y_true) == 0:  # scikit-learn before 1.7 would compute 0/0
            raise ValueError("y_true must hold at least one sample, got 0.")
        true, pred = _read_plain_labels(y_true), _read_plain_labels(y_pred)
        if true is not None and pred is not None and _is_text(true) == _is_text(pred):
            return true, pred
        assert_all_finite(y_true, input_name="y_true")
        assert_all_finite(y_pred, input_name="y_pred")
        y_true, y_pred = native_labels("y_true", y_true), native_labels("y_pred", y_pred)
        unique_labels(y_true, y_pred)  # raises unless both are of one kind
        return _flatten_labels("y_true", y_true), _flatten_labels("y_pred", y_pred)


def _read_plain_labels(y: Any) -> NDArray[np.generic] | None:
    """Return whole numbers, booleans or text in one dimension as an array, None for all else."""
    if isinstance(y, list) and len({isinstance(label, str) for label in y}) == 1:
        try:
            y = np.array(y)
        except ValueError:  # the rows differ in length
            return None
    elif hasattr(y, "to_numpy") and isinstance(getattr(y, "dtype", None), np.dtype):
        y = y.to_numpy()
    if getattr(getattr(y, "dtype", None), "kind", None) == "S":
        raise ValueError("classes must be numbers, booleans or strings, got bytes.")
    if type(y) is not np.ndarray or y.ndim != 1:
        return None
    if y.dtype.kind == "f":
        return y if np.isfinite(y).all() and (y == np.floor(y)).all() else None
    return y if y.dtype.kind in "biuU" else None


def _is_text(labels: NDArray[np.generic]) -> bool:
    return labels.dtype.kind == "U"


def _flatten_labels(name: str, y: Any) -> Any:
    """Return labels as an array of numbers or text; an indicator matrix as it is."""
    if issparse(y):
        return y
    labels = native_labels(name, np.asarray(y))
    if labels.ndim > 1 and labels.shape[1] > 1:
        return y
    return labels.ravel().astype(str) if labels.dtype.kind == "O" else labels.ravel()


def check_labels(
    y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None
) -> tuple[ArrayLike, ArrayLike, NDArray[np.generic]]:
    """Return what `check_predictions` does, and the classes in order.

    Those given, without repeats, or all that occur, sorted.
    """
    y_true, y_pred = check_predictions(y_true, y_pred)
    return y_true, y_pred, classes_of(y_true, y_pred) if labels is None else _check_classes(labels)


def classes_of(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.generic]:
    """Return the classes that occur, sorted; of indicator matrices the columns."""
    if np.ndim(y_true) == 1 and np.ndim(y_pred) == 1:
        return np.union1d(np.unique(y_true), np.unique(y_pred))
    return np.arange(np.shape(y_true)[1])


def _check_classes(labels: ArrayLike) -> NDArray[np.generic]:
    with naming("labels"):
        given = column_or_1d(labels)
    if len(given) == 0:
        raise ValueError("labels must name at least one class, got an empty list.")
    if len(set(given.tolist())) < len(given):
        raise ValueError(f"labels must not repeat a class, got {given.tolist()}.")
    return given


def check_binary_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    name: str = "y_score",
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return (is positive, score, weight relative to the largest), each of shape (n_samples,).

    `name` is the argument that holds the scores.
    """
    with naming("y_true", name):
        check_consistent_length(y_true, y_score, sample_weight)
    labels = check_y("y_true", y_true)
    score = check_data(name, y_score, ensure_2d=False, dtype=np.float64)
    with naming(name):
        score = column_or_1d(score)
    classes = unique_labels(labels).tolist()
    if len(classes) > 2:
        raise ValueError(f"y_true must hold two classes, got {len(classes)}: {classes[:10]}.")
    positive = labels == positive_label(classes, pos_label)
    return positive, score, scale_weights(sample_weight, len(score))[0]


def check_probabilities(name: str, probabilities: NDArray[np.float64]) -> None:
    """Raise unless all lie between 0 and 1."""
    outside = probabilities[(probabilities < 0) | (probabilities > 1)]
    if len(outside):
        raise ValueError(f"{name} must lie between 0 and 1, got {outside[0]:g}.")


def positive_label(classes: list[object], pos_label: object) -> object:
    """Return the class that counts as positive; raise where it is not said and not clear."""
    if pos_label is None:
        if set(classes) <= {0, 1} or set(classes) <= {-1, 1}:
            return 1
        raise ValueError(
            "pos_label must be given unless y_true takes values in {0, 1} or {-1, 1}, "
            f"got the classes {classes}."
        )
    if len(classes) == 2 and pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes {classes}, got {pos_label!r}.")
    return pos_label


def root_seed(random_state: RandomStateLike) -> SeedSequence:
    """Turn any scikit-learn `random_state` into the root seed of a call.

    None gives fresh entropy from the operating system, an int is that entropy, and a generator
    is advanced once, so that two calls with the same generator differ.
    """
    if random_state is None:
        return SeedSequence()
    if isinstance(random_state, SeedSequence):  # only passed on inside the package
        return random_state
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, got {random_state}.")
        return SeedSequence(int(random_state))
    if isinstance(random_state, Generator):
        return SeedSequence(random_state.integers(0, 2**32, size=4).tolist())
    if isinstance(random_state, RandomState):
        return SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint64).tolist())
    raise TypeError(
        "random_state must be None, an int, a numpy RandomState or a numpy Generator, "
        f"got {type(random_state).__name__}."
    )


def small_seed(random_state: RandomStateLike) -> int:
    """Turn any scikit-learn `random_state` into an int that any of its splitters takes.

    An int below 2**32 stands for itself, so the result can be given back for the same numbers.
    """
    root = root_seed(random_state)
    if isinstance(random_state, Integral) and random_state < 2**32:
        return int(random_state)
    return int(root.generate_state(1)[0])


def child_seed(root: SeedSequence, use: int) -> SeedSequence:
    """Return the root of one of several uses of a root."""
    return SeedSequence(root.entropy, spawn_key=(*root.spawn_key, use))


def repetition_rng(root: SeedSequence, repetition: int) -> Generator:
    """Return the stream of one repetition: child `repetition` of ``root.spawn``.

    The child is addressed directly, so any block of repetitions can be drawn on its own and the
    first 100 of 200 repetitions are the 100.
    """
    return np.random.default_rng(child_seed(root, repetition))
