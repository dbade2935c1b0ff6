"""Argument checks that scikit-learn lacks. Each error names argument, rule and value.

The module contains, in this order, the types of options (which let type checkers detect misspelled
options), checks of estimators and options, and checks of labels, predictions and binary scores.
The functions that turn a `random_state` into one root seed per call and one independent stream per
repetition follow. The last part checks the arguments of public functions as a whole, that is,
their types, arrays of other libraries and paired rows.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, getattr_static, isfunction, signature
from numbers import Integral, Real
from threading import current_thread, main_thread
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, check_random_state, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from skeval.utils._compat import (
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    array_namespace,
    convert_to_numpy,
    num_samples,
    validate_all_params,
)

ErrorScore = float | Literal["raise"]
Alternative = Literal["two-sided", "greater", "less"]
Noise = Literal["cluster", "drop", "singletons"]
Statistic = Literal["cross_validation", "resubstitution"]


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
RandomStateLike = int | RandomState | Generator | SeedSequence | None


def check_confidence_level(confidence_level: float) -> None:
    """Raise unless a confidence level lies strictly between 0 and 1."""
    least = np.finfo(float).eps  # limits of the interval would be equal
    if not isinstance(confidence_level, Real) or not least <= confidence_level < 1:
        raise ValueError(
            f"confidence_level must satisfy 0 < confidence_level < 1, got {confidence_level!r}"
            f"{suggest_fraction(confidence_level)}."
        )


def suggest_fraction(value: Any) -> str:
    """Return ", did you mean ...?" without the mark, with the fraction that a percentage means."""
    percent = isinstance(value, Real) and 1 < float(value) < 100
    return f" (did you mean {float(value) / 100:g}?)" if percent else ""


MAX_JOBS = 10_000
"""Largest number of workers."""


def check_jobs(n_jobs: Any, verbose: Any) -> None:
    """Raise an error unless `n_jobs` is None or a number of jobs, and `verbose` an integer."""
    number = isinstance(n_jobs, Integral) and 0 < abs(int(n_jobs)) <= MAX_JOBS
    if n_jobs is not None and (isinstance(n_jobs, bool) or not number):
        raise ValueError(
            f"n_jobs must be None or a nonzero integer from -{MAX_JOBS} to {MAX_JOBS}, got "
            f"{n_jobs!r}."
        )
    if not isinstance(verbose, Integral | np.bool_):
        raise ValueError(f"verbose must be an integer, got {verbose!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise an error unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


ORDERS = {"estimator": "(estimator, X, y)", "clusterer": "(clusterer, X)"}
"""Order of the arguments of functions that fit a model."""


def check_methods(name: str, value: Any, *methods: str) -> None:
    """Raise an error unless `value` is an instance with the methods."""
    refuse_class(name, value)
    if not all(_has_method(value, method) for method in methods):
        # suggest the function for such a value, or the order of the arguments
        needed = f"{', '.join(methods[:-1])} and {methods[-1]}"
        several = value.values() if isinstance(value, Mapping) else value
        several = several if isinstance(value, Mapping | list | tuple) else ()
        text = f"{name} must have the methods {needed}, got {type(value).__name__}."
        if isinstance(value, str) and "~" in value:
            text += " Instead of a formula, pass columns: frame[['a', 'b']] as X, frame['y'] as y."
        elif isinstance(value, str):
            text += " Pass an estimator, such as SVC(), instead of its name."
        elif "fit" in methods and (hasattr(value, "predict") or callable(value)):
            text += " Without a fit, call skeval.evaluate_predictions(y_true, predictions)."
        elif name == "estimator" and any(hasattr(one, "fit") for one in several):
            text += " skeval.evaluate and skeval.compare_classifiers accept several models."
        elif name in ORDERS and not is_no_table(value):
            text += f" The order of arguments is {ORDERS[name]}."
        elif name == "clusterer" and hasattr(value, "predict"):
            text += " skeval.evaluate(estimator, X, y) evaluates classifiers and regressors."
        raise TypeError(text)
    if "predict" in methods:
        refuse_untagged_classifier(name, value)


def refuse_class(name: str, value: Any) -> None:
    """Raise an error if a value is a class instead of an instance, or instead of a function."""
    if isinstance(value, type):
        kind = value.__name__
        if name in FUNCTIONS:
            raise TypeError(f"{name} must be a name or a function, got the class {kind}.")
        raise TypeError(f"{name} must be an instance, got the class {kind}. Pass {kind}(...).")


FUNCTIONS = {"scoring", "metric", "loss", "index", "agreement"}
"""Arguments that are names or functions."""


def refuse_untagged_classifier(name: str, value: Any) -> None:
    """Raise if an estimator is a classifier, but not by its tags. It would predict numbers.

    The type of a pipeline or a search may depend on the estimator inside.
    """
    if type_of_estimator(value) is not None:
        return
    # the estimator itself, and those inside a pipeline or a search
    parts = value.get_params().values() if hasattr(value, "get_params") else ()
    inside = [part for part in parts if hasattr(part, "fit") and not isinstance(part, type)]
    for part in [value, *inside]:
        # a method of the class itself, not one that the class takes from an estimator inside
        gives_probabilities = isfunction(getattr_static(type(part), "predict_proba", None))
        declared = getattr(part, "_estimator_type", None) == "classifier"
        meant = gives_probabilities or declared or isinstance(part, ClassifierMixin)
        if meant and type_of_estimator(part) is None:
            kind = type(part).__name__
            raise TypeError(
                f"{name} must have the tags of a classifier, but {kind} does not. Write class "
                f"{kind}(ClassifierMixin, BaseEstimator), with the bases in this order."
            )


def type_of_estimator(estimator: Any) -> str | None:
    """Return the type in the tags of an estimator, or None if it has none."""
    try:
        kind: str | None = get_tags(estimator).estimator_type
    except AttributeError:  # scikit-learn 1.7 and later require tags
        return None
    return kind


def check_predicts_target(argument: str, estimator: Any) -> None:
    """Raise an error if an estimator predicts no target: a clusterer or an outlier detector."""
    name = type(estimator).__name__
    kind = type_of_estimator(estimator)
    remedies = {
        "clusterer": "Use skeval.evaluate_clusterer(clusterer, X)",
        "outlier_detector": "Pass its scores to skeval.evaluate_predictions(y_true, scores)",
    }
    if kind in remedies:
        raise TypeError(
            f"{argument} must be a classifier or regressor, got the "
            f"{kind.replace('_', ' ')} {name}. {remedies[kind]}."
        )


def refuse_no_target(estimator: Any, y: Any) -> None:
    """Raise if there is no target. For a clusterer the error names `evaluate_clusterer`."""
    if y is None:
        for one in estimator.values() if isinstance(estimator, Mapping) else [estimator]:
            if not hasattr(one, "fit"):
                check_methods("estimator", one, "fit", "predict", "get_params")
            check_predicts_target("estimator", one)
        raise TypeError("y must contain the true labels or numbers, got None. Pass it after X.")


MAX_SMALL_CLASSES, MIN_CLASS_SIZE = 10, 5
"""Up to MAX_SMALL_CLASSES classes may be small. More need MIN_CLASS_SIZE members on average."""


def check_classes(name: str, y: np.ndarray) -> None:
    """Raise unless a target has two classes, several samples of each, and far fewer classes."""
    refuse_fractions(name, y, "Use a regressor, or convert the numbers to classes")
    # several classes
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} must contain at least two classes, got one: {classes.tolist()[0]!r}."
        )
    # spellings of one class; single letters may differ by case
    spelled: dict[str, Any] = {}
    for label in classes.tolist() if classes.dtype.kind in "OUT" else ():
        other = spelled.setdefault(" ".join(str(label).split()).casefold(), label)
        if other != label and len(str(label)) > 1:
            raise ValueError(
                f"{name} must spell each class in one way, got {other!r} and {label!r}, which "
                f"differ only in case or spaces. pandas.Series({name}).str.strip().str.lower() "
                "makes them equal."
            )
    # far fewer classes than samples
    single = len(classes) > MAX_SMALL_CLASSES and np.median(sizes) == 1
    many = single or len(classes) > max(MAX_SMALL_CLASSES, len(y) / MIN_CLASS_SIZE)
    if many or (len(classes) > 2 and sizes.max() == 1):
        raise ValueError(
            f"{name} must contain at least {MIN_CLASS_SIZE} samples of each class on average for "
            f"a classifier, got {len(classes)} classes for {len(y)} samples, such as "
            f"{classes.tolist()[0]!r}. For a numeric target, use a regressor. Otherwise, leave "
            "out classes with few samples."
        )
    # a sample of each class to train on, and one to test
    if sizes.min() == 1:
        listed = ", ".join(map(repr, classes[sizes == 1][:3].tolist()))
        raise ValueError(
            f"{name} must have at least two samples of each class, got one sample of class "
            f"{listed}. Merge such classes, or remove their samples."
        )
    with naming(name):
        check_classification_targets(y)


def refuse_fractions(name: str, y: np.ndarray, remedy: str) -> None:
    """Raise an error if labels of classes are numbers with decimals."""
    if y.dtype.kind == "f" and np.any(y % 1):
        number = y[y % 1 != 0][0]
        raise ValueError(f"{name} must contain classes, got the number {number:g}. {remedy}.")


def _has_method(value: Any, method: str) -> bool:
    if hasattr(value, method):
        return True
    # Stacking estimators delegate predict to the final estimator, so they lack it before fit.
    will_predict = method == "predict" and hasattr(type(value), method)
    tagged = will_predict and hasattr(value, "__sklearn_tags__")
    return tagged and (is_classifier(value) or is_regressor(value))


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return `value` as an int, or raise unless it is an integer of at least `minimum`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value!r}.")
    return int(value)


def in_order(**kinds: Callable[[Any], bool]) -> Callable[[FunctionT], FunctionT]:
    """Raise an error with the right call if the arguments of a function are wrong.

    The keywords name arguments in the order of the function. Each value is a function that returns
    whether an object is valid for the argument.
    """

    def decorate(function: FunctionT) -> FunctionT:
        check = check_calls(function, kinds)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return function(*args, **kwargs)

        return cast(FunctionT, checked)

    return decorate


def check_calls(
    function: Callable[..., Any], kinds: Mapping[str, Callable[[Any], bool]] = MappingProxyType({})
) -> Callable[[Sequence[Any], Mapping[str, Any]], None]:
    """Return a function that raises unless its arguments are valid in a call of `function`.

    An error suggests a similar name, or names the order of `kinds`, as in `in_order`.
    """
    name, form = function.__name__, signature(function)
    kinds_of = {key: one.kind for key, one in form.parameters.items()}
    call = f"{name}({', '.join(key for key, kind in kinds_of.items() if kind == BY_POSITION)})"
    open_ended = Parameter.VAR_KEYWORD in kinds_of.values()
    systems = {"estimators", "predictions", "scores"} & {*kinds_of}
    several = ", with several models as one list or dict, and" if systems else ","

    def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        # unknown names
        for key in () if open_ended else {*kwargs} - {*form.parameters}:
            hint = suggest(key, form.parameters)
            if key == "pos_label" and {"y_true", "y_pred"} <= {*form.parameters}:
                positive = repr(kwargs[key])
                hint = f". Pass y_true == {positive}, and y_pred == {positive} if it has labels"
            hint = hint or f". The arguments are {', '.join(form.parameters)}"
            raise TypeError(f"{name}() has no argument {key!r}{hint}.")
        # too many or too few
        try:
            given = form.bind(*args, **kwargs).arguments
        except TypeError as error:
            text = f"the call must be {call}{several} options by name: {error}."
            raise TypeError(text) from None
        # a wrong order
        if not all(check(given[key]) for key, check in kinds.items() if key in given):
            got = ", ".join(type(value).__name__ for value in given.values())
            raise TypeError(f"the order of arguments must be {call}, got ({got}).")
        # a model instead of its class
        for key, value in given.items():
            if isinstance(value, type) and hasattr(value, "fit"):
                refuse_class(key, value)

    return check


BY_POSITION = Parameter.POSITIONAL_OR_KEYWORD


def is_table(value: Any) -> bool:
    """Return whether a value can be data, that is, neither a mapping nor an estimator."""
    return not isinstance(value, Mapping) and not hasattr(value, "fit")


def is_no_table(value: Any) -> bool:
    """Return whether a value can be an estimator, a name or a mapping, but not data."""
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) or callable(item) for item in value)
    return not hasattr(value, "__array__") and not hasattr(value, "__dataframe__")


def check_option(name: str, value: str, options: Iterable[str]) -> str:
    """Return `value`, or raise unless it is one of the options."""
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(map(repr, options))
        got = shorten(repr(value))
        raise ValueError(f"{name} must be one of {listed}; got {got}{suggest(value, options)}.")
    return value


SYNONYMS = {
    **dict.fromkeys(("n_bootstraps", "n_bootstrap", "n_boot", "n_iter", "b"), "n_resamples"),
    **dict.fromkeys(("n_perm", "n_perms"), "n_permutations"),
    **dict.fromkeys(("folds", "n_splits", "k", "kfold"), "cv n_folds n_clusters"),
    **dict.fromkeys(("seed", "rng"), "random_state"),
    **dict.fromkeys(("ci", "alpha", "conf_level"), "confidence_level"),
    **dict.fromkeys(("metric", "metrics", "scorer"), "scoring metric"),
    "mse": "squared", "mae": "absolute", "scoring": "metric", "positive": "pos_label",
    "columns": "feature_names", "model": "estimator clusterer", "x_train": "X", "y_train": "y",
    "y": "labels_true", "sites": "groups",
}  # fmt: skip
"""Usual names of arguments in other packages, in lower case, and those of this package."""


def suggest(value: object, options: Iterable[str]) -> str:
    """Return ", did you mean ...?" without the mark, with the option that a value resembles."""
    # options by their names, or by what other packages call them
    word, options = str(value).lower(), tuple(options)
    for one in SYNONYMS.get(word, "").split():
        if one in options:
            return f" (did you mean {one!r}?)"
    named = {option.lower(): option for option in options}
    # and by their last words, and by initials, as "loo" of LeaveOneOut()
    known = {option.rpartition("_")[2].lower(): option for option in options}
    known |= {
        re.sub(r"(?<=[A-Za-z])[a-z]+|[()_]", "", option).lower(): option for option in options
    }
    for words, cutoff in ((named, 0.8), (known | named, 0.7)):
        for near in get_close_matches(word, words, n=1, cutoff=cutoff):
            return f" (did you mean {words[near]!r}?)"
    return ""


MAX_NAMES = 20
"""Number of names that an error lists."""


def name_missing(name: object, entries: Iterable[object]) -> str:
    """Return the message for an unknown name, with the most similar valid one."""
    names = list(map(str, entries))
    listed = ", ".join(map(repr, names[:MAX_NAMES]))
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"no {name!r}{suggest(name, names)}. There are {listed}{more}"


@contextmanager
def naming(*arguments: str, known: Iterable[str] = ()) -> Iterator[None]:
    """Prefix third-party validation errors with the argument name, unless they have a known one."""
    try:
        yield
    except (TypeError, ValueError) as error:
        named = {*arguments, *known} & set(re.findall(r"\w+", str(error)))
        # an error of a subclass may need other arguments
        if not arguments or named or type(error) not in (TypeError, ValueError):
            raise
        text = f": {error}"
        for pattern, plain in PLAIN.items():
            if found := re.search(pattern, str(error)):
                text = f" {found.expand(plain)}"
        raise type(error)(f"{' and '.join(arguments)}{text}") from error


PLAIN = {
    r"could not convert string to float: .*?('.{0,80}').*": r"must contain numbers, got \1.",
    r"argument must be a string or a real number, not '(\w+)'": r"must contain numbers, got \1.",
    r"should be a 1d array, got an array of shape (\(.*?\))": r"must have one dimension, got \1.",
    r"inhomogeneous shape": "must have rows of equal length.",
    r"Expected 2D array, got (\w+) array": r"must have rows and columns, got a \1 array.",
    r"Expected sequence or array-like, got <class '(?:.*\.)?(\w+)'>": r"must be an array, got \1.",
}
"""Messages of NumPy and scikit-learn, and what they mean for the argument."""


def check_data(name: str, data: Any, **options: Any) -> Any:
    """Return the result of `sklearn.utils.check_array`. Every error names the argument."""
    refuse_mask(name, data)
    if hasattr(data, "fit_predict"):
        raise TypeError(
            f"{name} must be an array, got {type(data).__name__}. Pass the labels, "
            "clusterer.fit_predict(X)."
        )
    dated = getattr(getattr(data, "dtype", None), "kind", "") in ("m", "M")
    if dated and options.get("dtype") is np.float64:
        raise TypeError(f"{name} must contain numbers, got {data.dtype}.")
    # scikit-learn sums the values to check that they are finite, and inf - inf warns
    with naming(name), np.errstate(invalid="ignore"):
        return check_array(plain_text(data), input_name=name, **options)


def check_weights(name: str, weights: Any, *shape: int | str) -> np.ndarray:
    """Return weights as floats, ones for None. Raise an error unless finite, >= 0 and no row all 0.

    A name in `shape` allows any size. ``"n_resamples", 100`` require rows of 100 weights.
    """
    if weights is None:
        return np.ones(int(shape[-1]))
    # numbers in the required shape
    weights = check_data(name, weights, ensure_2d=False, dtype=np.float64)
    if weights.ndim != len(shape) or weights.shape[-1] != shape[-1]:
        wanted = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        raise ValueError(f"{name} must have shape {wanted}, got {weights.shape}.")
    if weights.min() < 0:
        raise ValueError(f"{name} must be >= 0, got {weights.min():g}.")
    # a positive weight in each row
    weighted = weights.any(axis=-1)
    if not weighted.all():
        where = f" in row {np.argmin(weighted)}" if weights.ndim > 1 else ""
        raise ValueError(f"{name} must have at least one weight > 0, got only zeros{where}.")
    return weights


def refuse_foreign_arrays(**arrays: Any) -> None:
    """Raise an error if data for fits are arrays of another library of the Array API than NumPy."""
    for name, array in arrays.items():
        if is_foreign_array(array):
            raise TypeError(
                f"{name} must be a NumPy array, a sparse matrix or a data frame for repeated "
                f"fits, got an array of {type(array).__module__.partition('.')[0]}. Convert it to "
                "a NumPy array."
            )


def check_same_length(**arrays: Any) -> None:
    """Raise an error unless all arrays that are not None have the same number of samples."""
    provided = {name: array for name, array in arrays.items() if array is not None}
    sizes = {}
    for name, array in provided.items():
        with naming(name):
            sizes[name] = num_samples(array)
    if len(set(sizes.values())) > 1:
        turned = getattr(arrays.get("X"), "shape", ())[1:] == (sizes.get("y"),)
        raise ValueError(
            f"{' and '.join(sizes)} must have the same length, "
            f"got {' and '.join(map(str, sizes.values()))}.{' Did you mean X.T?' * turned}"
        )


def check_y(name: str, y: Any) -> np.ndarray:
    """Return `y` as a non-empty 1-D array without missing or infinite values."""
    # numbers or strings without missing values
    y = plain_text(y)
    if isinstance(y, list) and len({isinstance(label, str) for label in y}) > 1:
        raise ValueError(f"{name} must contain only numbers or only strings, got both.")
    check_complete(name, y)
    exact = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if isinstance(exact, np.dtype) and exact.kind in "biuf":  # scikit-learn converts Int64 to float
        y = y.to_numpy(exact)
    y = check_data(name, y, ensure_2d=False, dtype=None, estimator="skeval")
    # only y may have several outputs
    if name != "y" and has_outputs(y):
        raise ValueError(
            f"{name} must have one entry for each sample, got the shape {np.shape(y)}. If the "
            "columns are probabilities of the classes, the labels are "
            f"classes[{name}.argmax(axis=1)]."
        )
    with naming(name):
        return native_labels(name, column_or_1d(y))


def check_groups(groups: Any, n_samples: int, *, crossed: bool = False) -> np.ndarray | None:
    """Return the groups of samples as a 1-D array, None without groups. Raise if one is missing.

    Missing groups are an error, because such samples do not form one group. If there are several
    columns, kinds of groups that are nested in another kind, such as patients in sites, are
    dropped, and only the coarsest kind is used. If several kinds remain, they are crossed, such as
    raters and items. If `crossed` is True, the result is then an array of integers with one column
    per kind. Otherwise, crossed groups raise an error.
    """
    if groups is None:
        return None
    # a group for each sample
    if isinstance(groups, str | bytes):
        raise ValueError(
            f"groups must have a group for each of the {n_samples} samples, got {groups!r}. Pass "
            "the column of the data frame, not its name."
        )
    with naming("groups"):
        n_given = num_samples(groups)
    if n_given != n_samples:
        raise ValueError(
            f"groups must have a group for each of the {n_samples} samples, got {n_given}."
        )
    if np.ndim(groups) > 2:
        raise ValueError(f"groups must have at most two dimensions, got {np.ndim(groups)}.")
    if np.ndim(groups) < 2:
        return check_y("groups", np.asanyarray(groups))
    # kinds of groups in columns
    if hasattr(groups, "columns"):
        columns = [groups[name] for name in groups.columns]
    else:
        columns = list(groups.T if isinstance(groups, np.ndarray) else np.asarray(groups).T)
    if not columns:
        raise ValueError(f"groups must have at least one column, got shape ({n_samples}, 0).")
    named = [check_y("groups", np.asanyarray(column)) for column in columns]
    if len(named) == 1:
        return named[0]
    # kinds that are not nested in another one
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in named]
    firsts = [np.unique(code, return_index=True)[1] for code in codes]
    # drop a kind if another is constant in each of its groups; of equals, keep the first
    kept = [
        kind
        for kind, (own, first) in enumerate(zip(codes, firsts, strict=True))
        if not any(
            (place < kind or (place > kind and other.max() < own.max()))
            and np.all(other == other[first][own])
            for place, other in enumerate(codes)
        )
    ]
    if len(kept) == 1:
        return named[kept[0]]
    if not crossed:
        raise ValueError(
            "groups must have one column, or nested columns, for functions that fit models, got "
            f"{len(kept)} crossed columns. Pass the column whose groups are new in new samples. "
            "evaluate_predictions supports crossed groups."
        )
    return np.column_stack([codes[kind] for kind in kept])


def number_groups(groups: Any, n_samples: int, seen: np.ndarray | None = None) -> np.ndarray | None:
    """Return the group numbers, from 0, of the samples in `seen`, with at least two groups.

    Crossed groups have one column per kind.
    """
    groups = check_groups(groups, n_samples, crossed=True)
    if groups is None:
        return None
    groups = groups if seen is None or seen.all() else groups[seen]
    # number each kind
    columns = groups.reshape(len(groups), -1).T
    numbered = [number_values(column) for column in columns]
    for names, _ in numbered:
        if len(names) < 2:
            raise ValueError(
                f"groups must have at least two groups, got one: {names.tolist()[0]!r}."
            )
    codes = [code for _, code in numbered]
    return codes[0] if groups.ndim == 1 else np.column_stack(codes)


def number_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unique values and inverse, like `np.unique`, without sorting narrow integers."""
    # counts of a wide range would take more memory than the values
    low, high = 0, -1
    if values.dtype.kind in "iub" and values.size:
        low, high = int(values.min()), int(values.max())
    if not 0 <= high - low < max(1024, 4 * values.size):
        names, codes = np.unique(values, return_inverse=True)
        return names, codes.reshape(-1)
    # differences of small signed integers can overflow
    wide = values if values.dtype.kind == "u" else values.astype(np.int64, copy=False)
    codes = (wide - low if low else wide).astype(np.intp, copy=False)
    used = np.bincount(codes, minlength=high - low + 1) > 0
    names = np.flatnonzero(used).astype(values.dtype) + values.min()
    return names, codes if used.all() else (np.cumsum(used) - 1)[codes]


def find_missing(values: np.ndarray) -> np.ndarray:
    """Return a mask of the missing values of a vector, that is, nan, NaT, None or pandas.NA."""
    if values.dtype.kind != "O":
        return values != values
    return np.array([is_missing(value) for value in values], dtype=bool)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, nan, or a missing value of pandas."""
    if value is None:
        return True
    same = value == value  # pandas.NA == pandas.NA is pandas.NA, not a boolean
    return not isinstance(same, bool | np.bool_) or not bool(same)


def check_single_score(scoring: Any) -> None:
    """Raise an error unless an argument `scoring` is one score."""
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be one name or one callable, got {scoring!r}. Call the function once "
            "for each score."
        )


def check_complete(name: str, y: Any) -> None:
    """Raise an error if objects, or a column of a data frame, have a missing value in any form."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind not in ("O", "T", "f", "M", "m") and not hasattr(y, "iloc"):
        return  # values that are never missing, and lists, which scikit-learn checks
    missing = find_missing(np.asarray(y).reshape(-1))
    if missing.any():
        raise ValueError(
            f"{name} must not contain missing values, got {missing.sum()} of {len(missing)}, the "
            f"first at position {missing.argmax()}. Leave these samples out."
        )


CODES = ({0, 1}, {-1, 1}, {1, 2})
"""Usual codes of two classes."""
MANY_LABELS = 10
"""Fewer labels may lack classes."""


def check_comparable(
    y_true: np.ndarray, name: str, labels: np.ndarray, *, of_part: bool = False
) -> None:
    """Raise if labels and classes have different names, which would count as wrong predictions.

    Names differ by type, by case or spaces, have none in common, or are codes of the same number
    of classes. `of_part` marks labels of a part of the samples, such as a fold, which may lack
    classes.
    """
    for argument, y in (("y_true", y_true), (name, labels)):
        if y.dtype.kind == "S":
            raise ValueError(f"{argument} must contain numbers, booleans or strings, got bytes.")
        remedy = "Use a metric of scores, such as 'roc_auc', or convert them, as by y_proba >= 0.5"
        refuse_fractions(argument, y, remedy)
    if not (len(y_true) and len(labels)):
        return
    # numbers are never equal to strings
    true, label = y_true[:1].tolist()[0], labels[:1].tolist()[0]
    if isinstance(true, str) != isinstance(label, str):
        raise ValueError(
            f"y_true and {name} must both contain numbers or both contain strings, got {true!r} "
            f"and {label!r}. Give both the same class names."
        )
    numbers = y_true.dtype.kind in "biuf" and labels.dtype.kind in "biuf"
    if numbers and (y_true.min(), y_true.max()) == (labels.min(), labels.max()):
        return  # none of the cases below, and faster
    classes, found = set(np.unique(y_true).tolist()), set(np.unique(labels).tolist())
    others = sorted(found - classes)
    if not others or classes <= found:
        return
    # names that differ by case or spaces
    plain = {str(one).strip().casefold() for one in classes if isinstance(one, str)}
    alike = [label for label in others if str(label).strip().casefold() in plain]
    # other names, or codes, of as many classes
    different = len(classes) > 1 and not found & classes
    different &= not of_part or len(found) == len(classes)
    shifted = [{one + by for one in classes} for by in (-1, 1) if numbers and len(classes) > 1]
    different |= found in shifted or (found in CODES and classes in CODES)
    if not alike and (len(labels) < MANY_LABELS or not different):
        return
    wrong, why = (alike, ", which differ only in case or spaces") if alike else (others, "")
    raise ValueError(
        f"{name} must contain the classes of y_true, {', '.join(map(repr, sorted(classes)[:5]))}, "
        f"got {', '.join(map(repr, wrong[:5]))}{why}. Give both the same class names."
    )


RANGE_OF_NUMBERS = 1e-150, 1e150
"""Ranges whose squares neither underflow nor overflow."""


def check_scale(name: str, y: np.ndarray) -> None:
    """Raise an error if the squares of differences between numbers underflow or overflow."""
    spread = float(np.ptp(y / 2) * 2) if y.dtype.kind in "iuf" else 0.0
    low, high = RANGE_OF_NUMBERS
    if spread and not low < spread < high:
        raise ValueError(
            f"{name} must have a range between {low:g} and {high:g}, so that squares fit into "
            f"double precision, got {spread:.3g}. Choose another unit."
        )


def refuse_swapped(name: str, y_true: np.ndarray, y_pred: np.ndarray) -> None:
    """Raise if `y_true` contains probabilities and the predictions contain two class labels."""
    if y_true.dtype.kind != "f" or y_true.ndim != 1 or y_pred.ndim != 1 or not len(y_true):
        return
    if not (y_true.min() >= 0 and y_true.max() <= 1 and np.any(y_true % 1)):
        return
    two = set(np.unique(y_pred.astype(str) if y_pred.dtype == object else y_pred).tolist())
    if two in CODES or (len(two) == 2 and all(isinstance(one, str) for one in two)):
        raise ValueError(
            f"y_true and {name} look swapped: y_true has fractions between 0 and 1, and {name} "
            f"has two classes. The order is (y_true, {name})."
        )


def refuse_swapped_data(X: Any, y: Any) -> None:
    """Raise an error if `X` or `y` is a string, `X` a mapping, or `X` a vector and `y` a table."""
    if isinstance(X, str):
        raise TypeError(
            f"X must be a table of features, got the string {X!r}. Read a file with "
            "pandas.read_csv, and select columns with frame[['a', 'b']]."
        )
    if isinstance(X, Mapping):
        keys = ", ".join(map(repr, list(X)[:5]))
        # data sets of scikit-learn are mappings with data and target
        remedy = "X['data'] as X, and X['target'] as y" if "data" in X else "pandas.DataFrame(X)"
        raise TypeError(f"X must be a table of features, got the keys {keys}. Pass {remedy}.")
    if isinstance(y, str):
        y = y.partition("~")[0].strip()  # a formula
        raise TypeError(
            f"y must contain the label or number of each sample, got the string {y!r}. With a data "
            f"frame, pass frame[{y!r}] as y, and frame.drop(columns={y!r}) as X."
        )
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("b", "i", "u", "f") and np.ndim(X) == 1 and getattr(y, "ndim", 1) == 2:
        raise ValueError(
            f"X and y look swapped: X has the shape {np.shape(X)}, and y has {np.shape(y)}. The "
            "order is (estimator, X, y)."
        )


def refuse_shuffled_index(columns: Mapping[str, Any], may_share: bool = True) -> None:
    """Raise if a column has another index than the first, or its labels in another order.

    An index 0, 1, ... next to other labels is ignored, as in scikit-learn, because it may have
    been reset. `may_share`: whether it may share some of these labels.
    """
    indexes = {name: index_of(values) for name, values in columns.items()}
    indexes = {name: index for name, index in indexes.items() if index is not None}
    for name, other in indexes.items():
        first, index = next(iter(indexes.items()))
        if len(other) != len(index) or index.equals(other):
            continue
        same = index.is_unique and other.is_unique and set(index) == set(other)
        shares = index.isin(other).any()
        # an index 0, 1, ... may have been reset, so it is ignored
        reset = list(range(len(index))) in (index.tolist(), other.tolist())
        if reset and not same and (may_share or not shares):
            continue
        # the remedy matches the rows by their labels
        match = f"Pass {name}.loc[{first}.index] to match the rows by index. " if same else ""
        if not same and shares:
            match = f"Pass {first}.loc[common] and {name}.loc[common], where common = "
            match += f"{first}.index.intersection({name}.index), to match the rows by index. "
        raise ValueError(
            f"{name} must have the index of {first}, in the same order, got a different one. "
            f"{match}If row i of both is the same sample, pass {name}.to_numpy()."
        )


def native_labels(name: str, y: Any) -> Any:
    """Convert numbers and booleans in an object array to their native dtype.

    scikit-learn accepts only strings in object arrays, but columns of data frames often contain
    other labels. Anything else is returned unchanged.
    """
    if getattr(y, "dtype", None) != np.dtype(object):
        return y
    objects = np.asarray(y)
    # strings are what scikit-learn accepts in object arrays
    if all(isinstance(label, str) for label in objects.flat):
        return y
    # every label must keep its value in the new dtype
    native = np.array(objects.tolist())
    alike = native.dtype.kind in "biuf" and native.shape == objects.shape
    if not alike or len(set(native.tolist())) < len(set(objects.tolist())):
        kinds = ", ".join(sorted({type(label).__name__ for label in objects.flat}))
        raise ValueError(
            f"{name} must contain only numbers of at most 64 bits, booleans or strings, got "
            f"{kinds}."
        )
    return native


def share_dtype(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors in a common dtype that can represent the values of both."""
    text = [vector.dtype.kind in "SU" for vector in (a, b)]
    shared = np.result_type(a, b) if text[0] == text[1] else np.dtype(object)
    return a.astype(shared), b.astype(shared)


def give_nan(reason: str) -> float:
    """Warn that a metric is undefined on these data, and return nan."""
    warn_undefined(f"{reason} The metric is nan.")
    return float("nan")


def warn_undefined(message: str) -> None:
    """Warn about an undefined value at the line that called the public function."""
    warn_user(message, UndefinedMetricWarning)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the public function, the first one outside the libraries."""
    if any(issubclass(category, kind) and re.match(start, message) for kind, start in _muted.get()):
        return
    # find the first caller outside of the libraries
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_LIBRARIES = ("skeval", "sklearn", "joblib")

_muted: ContextVar[tuple[tuple[type[Warning], str], ...]] = ContextVar("muted", default=())


@contextmanager
def ignored_warnings(category: type[Warning] = Warning, start: str = "") -> Iterator[None]:
    """Ignore warnings of a category whose message starts with a regular expression.

    Filters belong to the process, so only the main thread changes them. In other threads, only the
    warnings of this package are ignored.
    """
    if current_thread() is main_thread():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", start, category)
            yield
        return
    token = _muted.set((*_muted.get(), (category, start)))
    try:
        yield
    finally:
        _muted.reset(token)


def scale_weights(
    sample_weight: ArrayLike | None, n_samples: int
) -> tuple[NDArray[np.float64], float]:
    """Return weights of at most 1, and the power of 2 that scales them back.

    This is for metrics that depend only on ratios of weights. No sum or product of the scaled
    weights overflows.
    """
    weight = check_weights("sample_weight", sample_weight, n_samples)
    # a power of 2 changes no digit
    exponent = int(np.frexp(weight.max())[1])
    if sample_weight is None or exponent in (0, 1):
        return weight, 1.0
    return np.ldexp(weight, -exponent), float(np.ldexp(1.0, exponent))


def check_predictions(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Return labels as 1-D arrays of numbers or text. Indicator matrices are returned unchanged."""
    check_same_length(y_true=y_true, y_pred=y_pred)
    if num_samples(y_true) == 0:  # scikit-learn before 1.7 would compute 0/0
        raise ValueError("y_true must contain at least one sample, got 0.")
    with naming("y_true", "y_pred"):
        if has_outputs(y_true) and has_outputs(y_pred):
            unique_labels(y_true, y_pred)  # raises for numbers other than indicators
            return y_true, y_pred
    true, pred = check_y("y_true", y_true), check_y("y_pred", y_pred)
    check_comparable(true, "y_pred", pred, of_part=True)
    if true.dtype.kind == "O" or pred.dtype.kind == "O":
        return true.astype(str), pred.astype(str)
    return true, pred


def has_outputs(y: Any) -> bool:
    """Return whether y has several columns, or is a sparse matrix of labels."""
    return issparse(y) or (count_dimensions(y) == 2 and np.shape(y)[1] > 1)


def plain_text(y: Any) -> Any:
    """Return text of NumPy's StringDType in a dtype that other packages support."""
    if getattr(getattr(y, "dtype", None), "kind", "") == "T":
        objects = y.astype(object)
        return objects if find_missing(objects.ravel()).any() else objects.astype(str)
    return y


def check_labels(
    y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None
) -> tuple[ArrayLike, ArrayLike, NDArray[np.generic]]:
    """Return the result of `check_predictions`, and the classes in order.

    The classes are `labels`, if passed, which must be distinct. Otherwise, they are all that
    occur, sorted.
    """
    y_true, y_pred = check_predictions(y_true, y_pred)
    if labels is None:
        return y_true, y_pred, classes_of(y_true, y_pred)
    with naming("labels"):
        classes = column_or_1d(labels)
        n_distinct = len(set(classes.tolist()))
    if n_distinct == 0:
        raise ValueError("labels must name at least one class, got an empty list.")
    if n_distinct < len(classes):
        raise ValueError(f"labels must not repeat a class, got {classes.tolist()}.")
    return y_true, y_pred, classes


def classes_of(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.generic]:
    """Return the sorted classes that occur, or for indicator matrices the column indices."""
    if np.ndim(y_true) == 1 and np.ndim(y_pred) == 1:
        return np.union1d(np.unique(y_true), np.unique(y_pred))
    return np.arange(np.shape(y_true)[1])


def check_binary_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    name: str = "y_score",
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return (is positive, score, weight relative to the largest), each of shape (n_samples,).

    `name` is the name of the argument with the scores.
    """
    check_same_length(**{"y_true": y_true, name: y_score, "sample_weight": sample_weight})
    labels = check_y("y_true", y_true)
    refuse_swapped(name, labels, np.asarray(y_score))
    score = read_column(name, y_score)
    # the positive one of two classes
    classes = unique_labels(labels).tolist()
    if len(classes) > 2:
        raise ValueError(f"y_true must contain two classes, got {len(classes)}: {classes[:10]}.")
    positive = labels == positive_label(classes, pos_label)
    return positive, score, scale_weights(sample_weight, len(score))[0]


def read_column(name: str, values: Any) -> NDArray[np.float64]:
    """Return one number for each sample. Raise an error if there is a column for each class."""
    values = check_data(name, values, ensure_2d=False, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] > 1:
        few = values.shape[1] == 2
        which = f"of the positive class, {name}[:, 1]" if few else "of one class against the others"
        raise ValueError(
            f"{name} must have one column, got the shape {values.shape}. Pass the column {which}."
        )
    with naming(name):
        column: NDArray[np.float64] = column_or_1d(values)
    return column


def check_probabilities(name: str, probabilities: NDArray[np.float64]) -> None:
    """Raise an error unless all probabilities lie between 0 and 1."""
    outside = probabilities[(probabilities < 0) | (probabilities > 1)]
    if len(outside):
        hint = suggest_fraction(outside[0])
        raise ValueError(f"{name} must lie between 0 and 1, got {outside[0]:g}{hint}.")


MOST_DECIMALS = 6
"""Probabilities with more decimals count as unrounded. The sum of 32-bit floats may deviate by half
a unit of this decimal per column."""
HALF_PRECISION = 2.0**-12
"""Largest rounding error of probabilities that are 16-bit floats."""
PROBABILITY_TOLERANCE = 1e-6
"""Tolerance of the limits 0 and 1 of rows of probabilities."""


def normalize_rows(columns: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return rows of probabilities that sum to 1, or None if they are something else.

    A sum may deviate from 1 by half a unit of the last decimal for each column, as sums of rounded
    probabilities do. The row is then divided by the sum.
    """
    if not (columns.min() >= -PROBABILITY_TOLERANCE and columns.max() <= 1 + PROBABILITY_TOLERANCE):
        return None
    sums = columns.sum(axis=1)
    largest = float(np.abs(sums - 1).max())
    if largest <= 1e-9:
        return columns
    # the decimals to which all probabilities are rounded; 32-bit floats have seven digits
    decimals, half = 1, bool((columns == columns.astype(np.float16)).all())
    while decimals < MOST_DECIMALS and np.abs(columns - columns.round(decimals)).max() > 1e-7:
        decimals += 1
    # rounded rows may deviate from 1 by the rounding of each column
    unit = HALF_PRECISION if half else 0.5 * 10.0**-decimals
    if largest > columns.shape[1] * unit + 1e-9:
        return None
    if decimals < MOST_DECIMALS and not half:  # 32-bit floats of equal decimals stay tied
        columns = columns.round(decimals)
    clipped = columns.clip(0.0, 1.0)
    return clipped / clipped.sum(axis=1, keepdims=True)


def check_rows(name: str, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of probabilities that sum to 1. Raise an error if they are something else."""
    rows = normalize_rows(columns)
    if rows is not None:
        return rows
    sums = columns.sum(axis=1)
    raise ValueError(
        f"{name} must have a column of probabilities for each class, and rows that sum to 1, got "
        f"a sum of {sums[np.abs(sums - 1).argmax()]:.4g} and values from {columns.min():.4g} to "
        f"{columns.max():.4g}. For one class, pass its column only."
    )


def positive_label(classes: list[object], pos_label: object) -> object:
    """Return the positive class. Raise an error if it is neither passed nor obvious."""
    if pos_label is None:
        if set(classes) <= {0, 1} or set(classes) <= {-1, 1}:
            return 1
        raise ValueError(
            "pos_label must be passed unless the classes are 0 and 1, or -1 and 1, got the "
            f"classes {classes}."
        )
    if count_dimensions(pos_label) or (len(classes) == 2 and pos_label not in classes):
        hint = suggest(pos_label, map(str, classes))
        raise ValueError(
            f"pos_label must be one of the classes {classes}, got {pos_label!r}{hint}."
        )
    return pos_label


def root_seed(random_state: RandomStateLike) -> SeedSequence:
    """Convert a `random_state` to the root seed of a call.

    An int is the entropy itself. A generator is advanced once, so that two calls with the same
    generator differ. None means NumPy's global generator, which `numpy.random.seed` seeds.
    """
    if random_state is None:
        random_state = check_random_state(None)
    if isinstance(random_state, SeedSequence):  # passed on within the package
        return random_state
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, got {random_state}.")
        return SeedSequence(int(random_state))
    if isinstance(random_state, Generator):
        return SeedSequence(random_state.integers(0, 2**32, size=4).tolist())
    if isinstance(random_state, RandomState):
        return SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint64).tolist())
    raise TypeError(
        "random_state must be None, an int, a RandomState or a Generator, got "
        f"{type(random_state).__name__}."
    )


def small_seed(random_state: RandomStateLike) -> int:
    """Convert a `random_state` to an int that any scikit-learn splitter accepts.

    An int below 2**32 is returned unchanged, so it can be passed again with the same effect.
    """
    root = root_seed(random_state)
    if isinstance(random_state, Integral) and random_state < 2**32:
        return int(random_state)
    return int(root.generate_state(1)[0])


def child_seed(root: SeedSequence, use: int) -> SeedSequence:
    """Return the seed of one of several uses of a root seed."""
    return SeedSequence(root.entropy, spawn_key=(*root.spawn_key, use))


def repetition_rng(root: SeedSequence, repetition: int) -> Generator:
    """Return the random stream of one repetition, that is, child `repetition` of ``root.spawn``.

    Each repetition has its own child, so any block of repetitions can be drawn separately. The
    first 100 of 200 repetitions equal the repetitions of a run with 100.
    """
    return np.random.default_rng(child_seed(root, repetition))


def is_foreign_array(value: Any) -> bool:
    """Return whether a value is an array of a library of the Array API other than NumPy."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    return hasattr(value, "__array_namespace__") or type(value).__module__ == "torch"


def index_of(values: Any) -> Any:
    """Return the index of a Series or data frame, or None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def count_dimensions(X: Any) -> int:
    """Return the number of dimensions of data, or 1 for samples that differ in length."""
    try:
        return np.ndim(X)
    except ValueError:
        return 1


def refuse_mask(name: str, values: Any) -> None:
    """Raise if NumPy masks some of the values, since most functions would use what is below."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} must not have masked values, got {np.ma.count_masked(values)} of "
            f"{values.size}. Leave these samples out, or fill in missing values: {name}.filled()."
        )


CONSTRAINTS: dict[str, list[object] | str] = {
    "y_true": ["array-like"],
    "y_pred": ["array-like"],
    "y_score": ["array-like"],
    "y_proba": ["array-like"],
    "baseline": ["array-like", None],
    "labels_true": "no_validation",  # check_labels has the better message
    "labels_pred": "no_validation",
    "labels": ["array-like", None],
    "pos_label": [Real, str, "boolean", None],
    "sample_weight": ["array-like", None],
    "groups": ["array-like", None],
    "beta": [Interval(Real, 0, None, closed="both")],
    "zero_division": [Options(Real, {0.0, 1.0}), "nan", StrOptions({"warn"})],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 1, None, closed="left")],
    "n_points": [Interval(Integral, 2, None, closed="left")],
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "strategy": [StrOptions({"quantile", "uniform"})],
    "random_state": ["random_state", Generator],
}
"""Argument constraints of all metrics. `validate_params` ignores those that a function lacks."""


def validate_params(constraints: Mapping[str, Any]) -> Callable[[FunctionT], FunctionT]:
    """Return scikit-learn's parameter validation, which runs after `read_arrays`."""
    check: Callable[[FunctionT], FunctionT] = validate_all_params(
        constraints, prefer_skip_nested_validation=True
    )

    def decorate(function: FunctionT) -> FunctionT:
        return read_arrays(check(function))

    return decorate


def read_arrays(function: FunctionT) -> FunctionT:
    """Return a function of labels, scores or samples that accepts arrays of any library.

    Functions of true values refuse arguments whose index has the same labels in another order,
    because rows are paired by position.
    """
    check, names = check_calls(function), list(signature(function).parameters)
    plain = not CALLED & set(names)
    checked = OF_SAMPLES if set(TRUTH) & set(names) else set()

    @wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        # arrays of other libraries, and their rows
        arrays = [to_numpy(value) for value in args]
        kwargs = {name: to_numpy(value) for name, value in kwargs.items()}
        named = dict(zip(names, arrays, strict=False)) | kwargs
        if isinstance(named.get("random_state"), bool):
            root_seed(named["random_state"])  # raises
        check_pairs({name: named[name] for name in names if name in checked & {*named}})
        # frames of a column for each class
        wide = RESPONSES & checked & {*named} if named.get("labels") is None else ()
        for name in wide:
            if hasattr(named[name], "columns") and np.ndim(named.get("y_true", 0)) == 1:
                classes = {*np.asarray(named["y_true"]).tolist()}
                order = sorted(classes, key=lambda one: (str(type(one)), one))
                check_column_names(order, name, named[name])
        # errors of other packages name the arguments with data
        mine = plain and not callable(named.get("metric"))
        sized = [name for name in names if hasattr(named.get(name), "__len__")] if mine else []
        data = [name for name in sized if not isinstance(named[name], str | bytes)]
        try:
            with naming(*data, known=names):
                return function(*arrays, **kwargs)
        except InvalidParameterError as error:
            raise InvalidParameterError(rephrase(str(error), named)) from None

    return cast(FunctionT, converted)


def rephrase(text: str, arguments: Mapping[str, Any]) -> str:
    """Return a message of scikit-learn's validation in the words of this package, with a hint."""
    found = re.fullmatch(
        r"The '(\w+)' parameter of \w+ must be (.*)\. Got .* instead\.", text, re.S
    )
    if found is None or found[1] not in arguments:
        return text
    name, rule = found.groups()
    value, options = arguments[name], sorted(re.findall(r"'([^']*)'[,}]", rule))
    rule = re.sub(r"a str among \{.*\}", f"one of {', '.join(map(repr, options))}", rule)
    rule = re.sub(r"an instance of '(?:[\w.]*\.)?(\w+)'", r"a \1", rule)
    hint = suggest(value, options) if isinstance(value, str) else ""
    hint = hint or (suggest_fraction(value) if "(0.0, 1.0)" in rule else "")
    return f"{name} must be {rule}, got {shorten(repr(value))}{hint}."


def shorten(text: str) -> str:
    """Return a text in one line of at most 80 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."


CALLED = {"estimator", "estimators", "clusterer", "metrics", "scoring"}
"""Arguments that raise their own errors, such as a metric that is not a name."""


def to_numpy(value: Any) -> Any:
    """Return arrays of other libraries, in dicts and lists too, as NumPy arrays."""
    if is_foreign_array(value):
        return convert_to_numpy(value, array_namespace(value))
    if hasattr(value, "column_names") and hasattr(value, "to_pandas"):  # a table of Arrow
        return value.to_pandas()
    if is_foreign(value):
        return np.asarray(value)
    if isinstance(value, Mapping) and any(map(is_foreign, value.values())):
        return {name: to_numpy(item) for name, item in value.items()}
    if isinstance(value, list | tuple) and value and is_foreign(value[0]):
        return [to_numpy(item) for item in value]
    return value


def is_foreign(value: Any) -> bool:
    """Return whether a value is an array of the Array API or of PyArrow."""
    return is_foreign_array(value) or type(value).__module__ == "pyarrow.lib"


TRUTH = ("y_true", "labels_true", "references")
"""Arguments with the true values of the samples."""
OF_SAMPLES = {
    *TRUTH, "y_pred", "y_score", "y_proba", "predictions", "baseline",
    "labels_pred", "hypotheses", "sample_weight", "groups", "by", "within",
}  # fmt: skip
"""Arguments with an entry for each sample, or dicts and lists of such arrays."""


RESPONSES = {"y_pred", "y_score", "y_proba"}
"""Arguments that may have a column for each class."""


def check_pairs(arguments: Mapping[str, Any]) -> None:
    """Raise if arguments have different indexes, masked values, or are sparse."""
    arrays = dict(name_arrays(arguments))
    for name, values in arrays.items():
        refuse_mask(name, values)
        # a sparse matrix is useful for several labels only
        if issparse(values) and (values.ndim < 2 or values.shape[1] == 1):
            raise TypeError(
                f"{name} must be a dense array, got a sparse one. Use {name}.toarray().ravel()."
            )
    refuse_shuffled_index(arrays, may_share=False)


def check_column_names(classes: list[Any], name: str, frame: Any) -> None:
    """Raise if the columns of a data frame are named after the classes, in another order."""
    columns = list(frame.columns)
    for names, labels in ((columns, classes), (list(map(str, columns)), list(map(str, classes)))):
        if set(names) == set(labels) and names != labels:
            ordered = [columns[names.index(label)] for label in labels]
            raise ValueError(
                f"{name} must have its columns in the order of the classes, got {columns}. Pass "
                f"{name}[{ordered}]."
            )


def name_arrays(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield arrays with their names, those in dicts and lists one by one."""
    for name, values in arguments.items():
        if isinstance(values, Mapping):
            yield from ((f"{name}[{key!r}]", value) for key, value in values.items())
        elif isinstance(values, list | tuple):
            yield name, values
            for key, value in enumerate(values):
                if index_of(value) is None and not isinstance(value, np.ma.MaskedArray):
                    break
                yield f"{name}[{key}]", value
        else:
            yield name, values
