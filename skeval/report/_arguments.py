"""Arguments of the reports: scorers, columns of a data frame, and existing predictions."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import issparse

from skeval._inference.estimate import Estimate, MetricExtra, Results
from skeval._inference.intervals import mirrored
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target, find_positive_name, units_of
from skeval.metrics import get_scorer
from skeval.metrics._regression import LOSSES, find_brier_losses
from skeval.metrics._table import REPORTED, find_row, unwrap
from skeval.model_selection import metric_interval
from skeval.model_selection._score_interval import measure_loss, measure_metrics, settle
from skeval.model_selection._subgroups import compare_subgroups
from skeval.model_selection._threshold import read_rule
from skeval.report._sentences import name_metric
from skeval.utils import _checks
from skeval.utils._checks import name_missing, naming
from skeval.utils._compat import metric_of_scorer, responses_of_scorer, score_function
from skeval.utils._text import name_of


def name_scorers(scoring: Any) -> dict[str, Any]:
    """Return the scorers in an argument `scoring`, with their names as keys."""
    if scoring is None:
        return {}
    parts = [scoring] if isinstance(scoring, str) or callable(scoring) else scoring
    if not isinstance(parts, list | tuple | set | dict):
        raise ValueError(
            f"scoring must be None, a name, a callable, or a list or dict of them, got {scoring!r}."
        )
    if not isinstance(parts, dict):
        # functions are named after themselves and their position
        functions = (getattr(score_function(part), "__name__", "scorer") for part in parts)
        functions = (name.strip("<>") for name in functions)
        names = [
            part if isinstance(part, str) else f"{name} {place}"
            for place, (part, name) in enumerate(zip(parts, functions, strict=True))
        ]
        parts = dict(zip(names, parts, strict=True))
    # callables must not have names of the report
    for name, part in parts.items():
        if name in RESERVED and not isinstance(part, str):
            raise ValueError(f"scoring must not have the name {name!r}, which the report uses.")
        if not (isinstance(part, str) or callable(part)):
            raise ValueError(f"scoring must contain names and callables, got {part!r}.")
    return {str(name): part for name, part in parts.items()}


RESERVED = {"error", "low", "high", *REPORTED}
"""Names with another meaning in a row of metrics."""


def take_column(argument: str, X: Any, values: Any) -> tuple[Any, Any]:
    """Return X and the values of an argument. A column of X with these values is removed."""
    column = find_column(argument, X, values)
    if isinstance(values, str):
        X = X[[name for name in X.columns if name != values]]
    return X, column


def find_column(argument: str, X: Any, values: Any) -> Any:
    """Return the values of an argument, or the column of the data frame that it names."""
    if not isinstance(values, str):
        return values
    if not hasattr(X, "columns"):
        raise ValueError(
            f"{argument} must have a value for each sample, got {values!r}. To name a "
            "column, pass a data frame as X."
        )
    if values not in X.columns:
        raise ValueError(
            f"{argument} must be a column of X or have a value for each sample, got "
            f"{name_missing(values, X.columns)[3:]}."
        )
    return X[values]


def check_feature_names(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the feature names, or the column names of a data frame."""
    # the names, one for each column
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    n = count_columns(X)
    if names is None:
        return None
    with naming("feature_names"):
        shape = np.shape(names)
    if shape != (n,):
        got = shape[0] if len(shape) == 1 else repr(names)
        raise ValueError(
            f"feature_names must have a name for each of {n or 'no'} features, got {got}."
        )
    return tuple(str(name) for name in names)


def count_columns(X: Any) -> int | None:
    """Return the number of columns of X, or None if samples are not rows (for example texts)."""
    try:
        shape = np.shape(X)
    except ValueError:  # rows of different length
        return None
    return shape[1] if len(shape) > 1 else None


def name_rows(X: Any) -> Sequence[Any] | None:
    """Return the sample names from the index of a data frame, unless it only counts rows."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return list(index)


# --- existing predictions

PredictionKind = Literal["auto", "labels", "probabilities", "scores", "numbers"]
MAX_CLASSES = 20
"""Maximum number of distinct integers that are classes. Above it they are numbers."""
ANSWERS = {
    "labels": "accuracy",
    "probabilities": "brier_score",
    "scores": "roc_auc",
    "numbers": "root_mean_squared_error",
}
"""Main metric of each kind of predictions."""


class ParsedPredictions(NamedTuple):
    """Parsed predictions.

    Attributes
    ----------
    kind : {"labels", "probabilities", "scores", "numbers"}
    target : Target
        True values. With two classes, the second is positive.
    predicted : ndarray of shape (n_samples,)
        Class codes or numeric predictions. They are nan if there are only scores.
    response : ndarray of shape (n_samples, n_classes) or (n_samples,), or None
        Probabilities of all classes, or scores.
    threshold : float or None
    positive : object
        The class to which probabilities or scores of two classes refer, or None.
    original : ndarray
        The predictions as passed by the user.
    """

    kind: str
    target: Target
    predicted: np.ndarray
    response: np.ndarray | None
    threshold: float | None
    positive: Any
    original: np.ndarray

    @property
    def metric(self) -> str:
        """Main metric. For scores of many classes, the error of the class with the top score."""
        classes = self.target.classes
        many = classes is not None and len(classes) > 2
        return "accuracy" if self.kind == "scores" and many else ANSWERS[self.kind]

    @property
    def loss(self) -> str:
        """Loss that is compared with the baseline."""
        return {"numbers": "squared", "probabilities": "brier"}.get(self.kind, "zero_one")

    @property
    def score(self) -> np.ndarray:
        """Probability or score of the second of two classes."""
        scores = np.asarray(self.response)
        return scores[:, 1] if scores.ndim == 2 else scores

    def cut(self, threshold: float) -> ParsedPredictions:
        """Return the predictions, with labels obtained by thresholding the scores."""
        codes = (self.score >= threshold).astype(np.intp)
        return self._replace(predicted=codes, threshold=float(threshold))

    def losses(self) -> np.ndarray:
        """Return the loss of each sample, or nan if there are only scores."""
        if self.kind == "numbers":
            return LOSSES["squared"](self.target.y, self.predicted)
        if self.kind == "probabilities" and self.response is not None:
            return find_brier_losses(self.target.codes, self.response)
        wrong = (self.predicted != self.target.codes).astype(float)
        return np.where(np.isnan(self.predicted), np.nan, wrong)

    def find_answer(self, metrics: Mapping[str, Estimate]) -> Estimate:
        """Return the main metric, or the error rate for labels."""
        estimate = metrics[self.metric]
        if self.metric == "accuracy":
            return replace(mirror(estimate, estimate), name="error rate")
        return replace(estimate, name=name_metric(estimate.name))

    def measure_scoring(
        self, scoring: Any, confidence_level: float, skip: Container[str] = (), **options: Any
    ) -> dict[str, Estimate]:
        """Return the requested metrics with their intervals, except those to skip."""
        estimates = {}
        for name, part in name_scorers(scoring).items():
            called, function, better, arrays = self.read_metric(name, part)
            if called in skip:
                continue
            one = metric_interval(function, *arrays, confidence_level=confidence_level, **options)
            estimates[called] = replace(
                one, name=called, extra=MetricExtra(metric=called, greater_is_better=better)
            )
        return estimates

    def read_metric(
        self, name: str, scorer: Any
    ) -> tuple[str, Any, bool, tuple[np.ndarray, np.ndarray]]:
        """Return the name, function and direction of the metric of a scorer, and its arguments."""
        with naming("scoring"):
            scorer = get_scorer(scorer) if isinstance(scorer, str) else scorer
        # the metric of a scorer, with its fixed arguments
        function, better, response = scorer, True, None
        fixed: dict[str, Any] = {}
        if score_function(scorer) is not scorer:
            function, fixed, better = metric_of_scorer(scorer)
            function = partial(function, **fixed) if fixed else function
            response = responses_of_scorer(scorer)
        # the response that the metric requires
        row = find_row(unwrap(function)[0])
        if row is not None:
            response, better = row.response, row.greater_is_better
        arrays = self.target.y, self.choose_response(name, response)
        # two classes are 0 and 1, so that the second one is positive whatever its name
        if (
            self.target.n_classes == 2
            and response is not None
            and not {"pos_label", "labels"} & {*fixed}
        ):
            y_pred = self.predicted if "predict" in (response, *response) else arrays[1]
            arrays = self.target.codes, y_pred
        return name if better else name.removeprefix("neg_"), function, better, arrays

    def choose_response(self, name: str, response: Any) -> np.ndarray:
        """Return the input of a metric: labels, numbers, probabilities, scores, or the original."""
        if response is None:
            return self.original
        kinds = [response] if isinstance(response, str) else list(response)
        scores, classes = self.response, self.target.classes
        # labels or numbers
        if "predict" in kinds:
            if np.isnan(self.predicted).any():
                raise ValueError(f"scoring={name!r} needs labels: pass threshold=, got scores.")
            return self.predicted if classes is None else classes[self.predicted]
        # scores or probabilities
        if scores is None or ("decision_function" not in kinds and self.kind != "probabilities"):
            wanted = "scores or probabilities" if "decision_function" in kinds else "probabilities"
            raise ValueError(f"scoring={name!r} needs {wanted}, got {self.kind}.")
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def collect(self, groups: Any, sample_weight: Any, **_: Any) -> Predictions:
        """Return the predictions as one test set of a fixed model."""
        groups, weight = read_groups(groups, sample_weight, len(self.target))
        losses = self.losses()
        return join_predictions(self.target, groups, weight, self.predicted, losses, self.response)

    def measure_answer(self, predictions: Predictions, confidence_level: float) -> Estimate:
        """Return the main metric of some of the predictions, or the error rate for labels."""
        return self.find_answer(measure_metrics(predictions, confidence_level, [self.metric]))


def mirror(estimate: Estimate, answer: Estimate, best: float = 1.0) -> Estimate:
    """Return `best` minus an estimate with its interval, for example accuracy from the error."""
    of_answer = list(answer.limits.items())[:1]  # the default form
    return replace(
        estimate,
        value=best - answer.value,
        standard_error=answer.standard_error,
        limits={name: partial(mirrored, best, ends) for name, ends in of_answer},
        bounds=(best - answer.bounds[1], best - answer.bounds[0]),
    )


def join_predictions(
    target: Target,
    groups: Any,
    weight: np.ndarray,
    predicted: np.ndarray,
    loss: np.ndarray,
    response: np.ndarray | None,
) -> Predictions:
    """Return predictions as one test set of a fixed model."""
    zeros = np.broadcast_to(np.intp(0), len(target))  # takes no memory, whatever its length
    # a fixed model has a single test set, in which each sample is predicted once
    return Predictions(
        target=target,
        cases=units_of(target, groups),
        weight=weight,
        row=np.arange(len(target)),
        repeat=zeros,
        fold=zeros,
        predicted=predicted,
        loss=loss,
        response=response,
    )


def list_systems(y_true: Any, predictions: Any) -> dict[str, Any] | None:
    """Return the predictions of several models by name, or None for a single model."""
    if isinstance(predictions, Mapping):
        # a mapping, or a data frame whose columns are not classes
        systems = {str(name): columns for name, columns in predictions.items()}
    elif hasattr(predictions, "columns") and not is_wide(y_true):
        names = list(predictions.columns)
        if len(names) < 2 or match_columns(y_true, predictions) is not None:
            return None
        # columns that add up to 1 are probabilities of classes with other names
        columns = np.asarray(predictions)
        if columns.dtype.kind == "f" and np.allclose(columns.sum(axis=1), 1):
            return None
        systems = {str(name): predictions[name] for name in names}
    else:
        return None
    if len(systems) < 2:
        raise ValueError(f"predictions must contain at least two models, got {list(systems)}.")
    return systems


def match_columns(y_true: Any, predictions: Any) -> list[Any] | None:
    """Return the class of each column of a data frame, or None if a class has no column.

    Names are compared as text, so 1.0 is "1". "prediction_1" and "1" are columns of class 1.
    """

    def write(label: Any) -> str:
        whole = isinstance(label, Real) and not isinstance(label, bool) and label % 1 == 0
        return str(int(label)) if whole else str(label)

    classes = {write(label): label for label in np.unique(y_true).tolist()}
    texts = [write(name) for name in predictions.columns]
    for names in (texts, [text.rpartition("_")[2] for text in texts]):
        if classes.keys() <= set(names) and len(set(names)) == len(names):
            kind = float if np.asarray(y_true).dtype.kind in "iuf" else str
            with suppress(ValueError):  # a column whose name is no number
                return [classes[name] if name in classes else kind(name) for name in names]
    return None


def is_wide(y_true: Any) -> bool:
    """Whether there are several columns of targets."""
    with _checks.naming("y_true"):
        shape = getattr(y_true, "shape", None) or np.shape(y_true)
    return len(shape) > 1 and shape[1] > 1


def read_groups(groups: Any, sample_weight: Any, n: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the group of each sample, or None, and its weight."""
    weight = _checks.check_weights("sample_weight", sample_weight, n)
    if not weight.all():
        raise ValueError("sample_weight must be > 0, got 0. Leave these samples out.")
    return _checks.check_groups(groups, n, crossed=True), weight


def read_predictions(
    y_true: Any, predictions: Any, kind: str, labels: Any, pos_label: Any, threshold: Any
) -> ParsedPredictions:
    """Return the parsed predictions of a kind."""
    _checks.check_same_length(y_true=y_true, predictions=predictions)
    # true values, and predictions as a column or as columns
    y = _hold_text(_checks.check_y("y_true", y_true))
    if isinstance(predictions, str | bytes):
        raise ValueError(f"predictions must have one entry for each sample, got {predictions!r}.")
    if np.ndim(predictions) == 2:
        values = _checks.check_data("predictions", predictions, dtype=np.float64)
        values = values[:, 0] if values.shape[1] == 1 else values
    else:
        values = _checks.native_labels("predictions", predictions)
        values = _hold_text(_checks.check_y("predictions", values))
    # true values and predictions may have been passed in the wrong order
    if kind == "auto":
        _checks.refuse_swapped("predictions", y, values)
    # labels coded as 0 and 1
    hard = translate_labels(y, values, pos_label) if kind in ("auto", "labels") else None
    if hard is not None:
        kind, values, pos_label = "labels", hard, None
    # the kind, and the options that it allows
    if kind == "auto":
        kind = find_kind(y, values)
    if labels is None and values.ndim == 2 and hasattr(predictions, "columns"):
        labels = match_columns(y, predictions) or list(predictions.columns)
    _refuse_unused(kind, values, labels, pos_label, threshold)
    if kind == "numbers":
        return _read_numbers(y, values)
    if kind == "labels":
        return _read_labels(y, values)
    if values.ndim == 2:
        read = _read_columns(y, values, kind, labels, pos_label, threshold)
        return read._replace(original=values)
    return _read_scores(y, values, kind, pos_label, threshold)


def _hold_text(values: np.ndarray) -> np.ndarray:
    """Return text with object dtype (as in files and data frames) as a string dtype."""
    return values.astype(str) if values.dtype.kind == "O" else values


def translate_labels(y: np.ndarray, predictions: np.ndarray, pos_label: Any) -> np.ndarray | None:
    """Return predictions of 0 and 1, or -1 and 1, as the two classes of `y` that they encode.

    Return None if the predictions have other values or are already classes of `y`.
    """
    classes = np.unique(y).tolist()
    if len(classes) != 2 or predictions.ndim != 1 or predictions.dtype.kind not in "biuf":
        return None
    # at most two distinct values
    distinct = np.unique(predictions[:1000])  # enough to recognize most scores
    if len(distinct) <= 2:
        distinct = np.unique(predictions)
    values = set(distinct.tolist())
    if len(values) > 2 or values <= set(classes):
        return None
    if not (values <= {0, 1} or values <= {-1, 1}):
        # two other whole numbers are more likely classes of another coding than scores
        if len(values) == 2 and all(value % 1 == 0 for value in values):
            raise ValueError(
                f"predictions must contain the classes of y_true, {classes[0]!r} and "
                f"{classes[1]!r}, or scores of one of them, got only the numbers {min(values):g} "
                f"and {max(values):g}. If they are labels, use the same class names in both. "
                "Otherwise pass kind='scores'."
            )
        return None
    # which class 1 stands for: by the option, or by words such as "yes"
    if pos_label is not None:
        _checks.positive_label(classes, pos_label)
        place: int | None = classes.index(pos_label)
    else:
        place = find_positive_name(classes)
    if place is None:
        raise ValueError(
            f"pos_label must be passed if y_true has {classes[0]!r} and {classes[1]!r} and "
            f"predictions have {min(values):g} and {max(values):g}: it is the class that 1 stands "
            "for. Pass kind='probabilities' if the predictions are probabilities."
        )
    return np.where(predictions == 1, classes[place], classes[1 - place])


def find_kind(y: np.ndarray, predictions: np.ndarray) -> str:
    """Return the kind of the predictions."""
    # a column for each class
    if predictions.ndim == 2:
        if _are_probabilities(predictions):
            return "probabilities"
        sums = predictions.sum(axis=1)
        if np.allclose(sums, 1) or (predictions.min() >= 0 and predictions.max() <= 1):
            row = int(np.argmax(np.abs(sums - 1) - predictions.min(axis=1)))
            raise ValueError(
                "predictions must be at least 0 and add up to 1 in each row if they are "
                f"probabilities, row {row} has {predictions[row].tolist()[:5]}. Pass kind='scores' "
                "if they are scores, and use compare_predictions for several models."
            )
        return "scores"
    # texts are labels
    if predictions.dtype.kind not in "iuf":
        return "labels"
    # fractions, or many distinct whole numbers, are no classes
    classes = np.unique(y)
    if y.dtype.kind in "iuf" and (np.any(y % 1 != 0) or len(classes) > MAX_CLASSES):
        return "numbers"
    # values of the classes, or scores of two classes
    if y.dtype.kind in "biuf" and np.isin(predictions, classes).all():
        return "labels"
    # whole numbers that contain the classes are labels, some of a class that y_true lacks
    if y.dtype.kind in "iuf" and not np.any(predictions % 1):
        distinct = np.unique(predictions)
        if np.isin(classes, distinct).all() and len(distinct) <= MAX_CLASSES:
            return "labels"
    if len(classes) > 2:
        if y.dtype.kind not in "iuf" or not np.any(predictions % 1 != 0):
            return "labels"
        if _are_probabilities(predictions):
            raise ValueError(
                f"predictions must have a column of probabilities for each of the {len(classes)} "
                "classes of y_true, got one column of fractions between 0 and 1; kind='numbers' "
                "evaluates them as predictions of a number."
            )
        return "numbers"
    return "probabilities" if _are_probabilities(predictions) else "scores"


def _are_probabilities(values: np.ndarray) -> bool:
    """Whether numbers lie in [0, 1] and sum to 1, up to rounding."""
    if values.ndim == 2:
        return _checks.normalize_rows(values) is not None
    tolerance = _checks.PROBABILITY_TOLERANCE
    return bool(values.min() >= -tolerance and values.max() <= 1 + tolerance)


def _refuse_unused(
    kind: str, predictions: np.ndarray, labels: Any, pos_label: Any, cut: Any
) -> None:
    """Raise an error if an option is undefined for predictions of this kind."""
    # options that scores have
    if kind in ("labels", "numbers"):
        for name, value in (("threshold", cut), ("pos_label", pos_label), ("labels", labels)):
            if value is not None:
                raise ValueError(f"{name} must be None if predictions are {kind}, got {value!r}.")
        if predictions.ndim == 2:
            raise ValueError(
                f"predictions must have shape (n_samples,) if they are {kind}, got "
                f"{predictions.shape}."
            )
    elif predictions.ndim == 1 and labels is not None:
        raise ValueError("labels must be None if predictions have one column.")
    if cut is None:
        return
    # thresholds of probabilities
    rule = read_rule(cut)
    if kind == "probabilities" and isinstance(rule, float) and not 0 <= rule <= 1:
        raise ValueError(
            "threshold must lie in [0, 1] if predictions are probabilities, got "
            f"{cut!r}{_checks.suggest_fraction(cut)}. Write 50 % as 0.5."
        )


def _read_numbers(y: np.ndarray, predictions: np.ndarray) -> ParsedPredictions:
    """Return true and predicted numbers."""
    _checks.check_scale("y_true", y)
    y, predictions = (
        _checks.check_data(name, values, ensure_2d=False, dtype=np.float64)
        for name, values in (("y_true", y), ("predictions", predictions))
    )
    return ParsedPredictions(
        "numbers", Target(y, None, y), predictions, None, None, None, predictions
    )


EXACT_BELOW = np.float64(2**53)
"""Largest range of integers that 64-bit floats represent exactly."""


def _read_labels(y: np.ndarray, predictions: np.ndarray) -> ParsedPredictions:
    """Return true and predicted classes."""
    # labels that were stored as floats, such as 1.0, are the integer classes
    if (
        y.dtype.kind in "biu"
        and predictions.dtype.kind == "f"
        and np.all(predictions % 1 == 0)
        and np.all(np.abs(predictions) < EXACT_BELOW)
    ):
        predictions = predictions.astype(y.dtype)
    _checks.check_comparable(y, "predictions", predictions)
    # classes that are true or predicted
    classes = np.union1d(y, predictions)
    if len(classes) < 2:
        raise ValueError(
            f"y_true must contain at least two classes, got one: {classes.tolist()[0]!r}."
        )
    target = Target(y, classes, np.searchsorted(classes, y))
    codes = np.searchsorted(classes, predictions)
    return ParsedPredictions("labels", target, codes, None, None, None, predictions)


def _read_scores(
    y: np.ndarray, predictions: np.ndarray, kind: str, pos_label: Any, threshold: Any
) -> ParsedPredictions:
    """Return probabilities or scores of the positive class."""
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(
            f"y_true must contain two classes if predictions are {kind} of shape (n_samples,), got "
            f"{len(classes)}: {classes.tolist()[:10]}."
        )
    if predictions.dtype.kind not in "biuf":
        raise ValueError(f"predictions must contain numbers if kind={kind!r}.")
    # the positive class is the second
    if pos_label is not None and _checks.positive_label(classes.tolist(), pos_label) == classes[0]:
        classes = classes[::-1]
    target = Target(y, classes, (y == classes[1]).astype(np.intp), positive=1)
    score = predictions.astype(float)
    response = score
    # probabilities may leave [0, 1] by rounding only, and decide at 0.5 by default
    if kind == "probabilities":
        if not _are_probabilities(score):
            outside = score[(score < 0) | (score > 1)][0]
            raise ValueError(
                f"predictions must lie in [0, 1] to be probabilities, got {outside}. Give "
                "predictions / 100 if they are percentages."
            )
        score = score.clip(0.0, 1.0)
        threshold = 0.5 if threshold is None else threshold
        response = np.array([1 - score, score]).T  # contiguous columns
    # scores give no labels until there is a threshold
    nothing = np.full(len(y), np.nan)
    read = ParsedPredictions(
        kind, target, nothing, response, None, classes.tolist()[1], predictions
    )
    return read.cut(float(threshold)) if isinstance(threshold, Real) else read


def _read_columns(
    y: np.ndarray, columns: np.ndarray, kind: str, labels: Any, pos_label: Any, threshold: Any
) -> ParsedPredictions:
    """Return probabilities or scores of every class."""
    # one name for each column, all classes of y among them
    present = np.unique(y)
    names = present if labels is None else _checks.check_y("labels", labels)
    distinct = set(names.tolist())
    complete = len(names) == len(distinct) == columns.shape[1] and distinct >= {*present.tolist()}
    if not complete:
        raise ValueError(
            f"labels must contain the class name of each column of predictions, {columns.shape[1]} "
            f"in all, and every class of y_true, got {names.tolist()[:10]} for the classes "
            f"{present.tolist()[:10]}. To compare several models, call "
            "skeval.model_selection.compare_predictions."
        )
    # columns in the order of the sorted classes
    order = np.argsort(names)
    classes, columns = names[order], columns[:, order]
    if kind == "probabilities":
        columns = _checks.check_rows("predictions", columns)
    if len(classes) == 2:
        # two classes have one score, of the positive class
        one = columns[:, 1] if kind == "probabilities" else columns[:, 1] - columns[:, 0]
        if pos_label is None:
            codes = np.searchsorted(classes, y)
            pos_label = classes.tolist()[Target(y, classes, codes).positive_code]
        if pos_label == classes.tolist()[0]:
            one = 1 - one if kind == "probabilities" else -one
        if kind == "scores" and threshold is None:
            threshold = 0.0
        return _read_scores(y, one, kind, pos_label, threshold)
    for name, value in (("threshold", threshold), ("pos_label", pos_label)):
        if value is not None:
            raise ValueError(f"{name} must be None if there are {len(classes)} classes.")
    # the class with the highest score is predicted
    target = Target(y, classes, np.searchsorted(classes, y))
    return ParsedPredictions(kind, target, columns.argmax(axis=1), columns, None, None, columns)


# --- predictions of several labels per sample

OF_LABELS = ("precision", "recall", "f1", "roc_auc", "average_precision")
"""Metrics of each label, whose mean over the labels is shown as well."""


class ParsedLabels(NamedTuple):
    """Parsed predictions of several labels per sample.

    Attributes
    ----------
    kind : {"labels", "probabilities"}
    target : Target
        Target whose outputs are the labels.
    response : ndarray of shape (n_samples, n_labels)
        Probabilities, or the predicted labels.
    predicted : int ndarray of shape (n_samples, n_labels)
        Predicted labels.
    threshold : float or None
    """

    kind: str
    target: Target
    response: np.ndarray
    predicted: np.ndarray
    threshold: float | None
    positive: None = None

    @property
    def loss(self) -> str:
        """Loss that is compared with the baseline."""
        return "brier" if self.kind == "probabilities" else "zero_one"

    @property
    def losses(self) -> np.ndarray:
        """Brier score of each sample. For labels, it is the fraction of wrong labels."""
        wrong = (self.target.codes - self.response) ** 2
        return np.asarray(np.mean(wrong, axis=1, dtype=float))

    def collect(self, groups: Any, sample_weight: Any, **_: Any) -> Predictions:
        """Return the predictions as one test set of a fixed model."""
        sampling = read_groups(groups, sample_weight, len(self.target))
        return join_predictions(self.target, *sampling, self.predicted, self.losses, None)

    def measure_answer(self, predictions: Predictions, confidence_level: float) -> Estimate:
        """Return the Hamming loss, or the Brier score."""
        name = "Brier score" if self.kind == "probabilities" else "Hamming loss"
        one = measure_loss(predictions, name, predictions.loss)
        return settle(one, 2, predictions.cases.n_units, confidence_level)

    def measure_labels(self, answer: Estimate, confidence_level: float, **sampling: Any) -> Results:
        """Return the metrics of all labels, their averages, and the metrics of each label."""
        true, metrics = self.target.codes, {answer.name: answer}
        # rankings are undefined for a label that all samples or none have
        varied, options = (
            np.ptp(true, axis=0) > 0,
            sampling | {"confidence_level": confidence_level},
        )

        def measure(key: str, metric: str, label: str | None, *arrays: np.ndarray) -> None:
            one = metric_interval(metric, *arrays, **options)
            extra = MetricExtra(metric=metric, label=label)
            metrics[key] = replace(one, name=key, extra=extra)

        # the accuracy of "all labels are right", which should be true for every sample
        right = np.all(true == self.predicted, axis=1)
        measure("exact match", "accuracy", None, np.ones(len(right), dtype=bool), right)
        for name in OF_LABELS:
            ranked = name in ("roc_auc", "average_precision")
            if ranked and self.kind == "labels":
                continue
            # the mean over the labels for which the metric is defined
            judged, chosen = (self.response, varied) if ranked else (self.predicted, varied | True)
            if chosen.sum() > 1:
                metric = name if ranked else f"{name}_macro"
                measure(f"{name}_macro", metric, None, true[:, chosen], judged[:, chosen])
            for k in np.flatnonzero(varied):
                label = self.target.outputs[k]
                key = name_of(name, label, metrics)
                measure(key, name, label, true[:, k], judged[:, k])
        return Results(metrics)


def read_labels(
    y_true: Any, predictions: Any, kind: str, threshold: Any, labels: Any
) -> ParsedLabels:
    """Return the parsed predictions of a kind."""
    # columns in the order of those of y_true
    names, columns = (getattr(table, "columns", None) for table in (y_true, predictions))
    if names is not None and columns is not None and [*columns] != [*names]:
        raise ValueError(
            "predictions must have the columns of y_true, in the same order, got "
            f"{[*columns][:10]}: predictions[y_true.columns] has it."
        )
    # true and predicted values of the same shape
    y, values = _read_wide("y_true", y_true), _read_wide("predictions", predictions)
    binary = bool(np.isin(y, (0, 1)).all())
    # one-hot columns with predictions that add up to 1 are one class per sample
    if binary and np.all(y.sum(axis=1) == 1) and _checks.normalize_rows(values) is not None:
        raise ValueError(
            "y_true must have one column if samples have one class, got one-hot columns. Pass "
            "numpy.asarray(y_true).argmax(axis=1)."
        )
    if not binary:
        raise ValueError(
            "y_true with several columns must contain 0 and 1, which indicate the labels of a "
            "sample. If samples have several numbers or classes, evaluate each column separately."
        )
    if values.shape != y.shape:
        raise ValueError(
            f"predictions must have the shape of y_true, {y.shape}, got {values.shape}."
        )
    # distinct names
    names = names if labels is None else labels
    names = [f"label {k}" for k in range(y.shape[1])] if names is None else names
    names = tuple(map(str, names))
    if len(set(names)) != y.shape[1]:
        raise ValueError(f"labels must name each of {y.shape[1]} columns once, got {names[:10]}.")
    codes = y.astype(np.intp)
    target = Target(codes, None, codes, outputs=names, output_classes=(np.arange(2),) * len(names))
    # the kind, and its threshold
    whole = bool(np.isin(values, (0, 1)).all())
    kind = ("labels" if whole else "probabilities") if kind == "auto" else kind
    if kind not in ("labels", "probabilities") or (kind == "labels" and not whole):
        raise ValueError(
            "kind must be 'labels' (only 0 and 1) or 'probabilities' for several labels, got "
            f"{kind!r}."
        )
    if kind == "labels":
        if threshold is not None:
            raise ValueError(
                f"threshold must be None if predictions are labels, got {threshold!r}."
            )
        return ParsedLabels(kind, target, values.astype(int), values.astype(int), None)
    # probabilities of several labels need not add up to 1
    if values.min() < 0 or values.max() > 1:
        outside = values[(values < 0) | (values > 1)][0]
        raise ValueError(
            f"predictions must lie in [0, 1] to be probabilities of several labels, got "
            f"{outside:g}. If they are scores, pass the labels 0 and 1 instead."
        )
    cut = 0.5 if threshold is None else threshold
    if isinstance(cut, bool) or not isinstance(cut, Real):
        raise ValueError(f"threshold must be a number for several labels per sample, got {cut!r}.")
    return ParsedLabels(kind, target, values, (values >= cut).astype(int), float(cut))


def _read_wide(name: str, values: Any) -> np.ndarray:
    """Return one column of numbers for each label.

    Forests of scikit-learn return for each label the probabilities of both classes.
    """
    if issparse(values):
        values = values.toarray()
    if isinstance(values, list) and np.ndim(values) == 3 and np.shape(values)[-1] == 2:
        values = np.asarray(values)[:, :, 1].T
    return _checks.check_data(name, values, ensure_2d=False, dtype=np.float64)


def measure_slices(
    predictions: Predictions,
    by: Any,
    metric: str | None,
    confidence_level: float,
    measure_main: Callable[[np.ndarray], Estimate],
) -> Results | None:
    """Return a metric, or the main estimate of some samples, in each subgroup, if there are any."""
    if by is None:
        return None

    def measure(chosen: np.ndarray) -> Estimate:
        """Return the estimate of some samples."""
        if metric is None:
            return measure_main(chosen)
        # a rare class is judged by its own metric in each subgroup, too
        part = choose_samples(predictions, chosen)
        one = measure_metrics(part, confidence_level, [metric])[metric]
        return replace(one, name=name_metric(metric))

    return compare_subgroups(by, len(predictions.target), measure, confidence_level)


def choose_samples(predictions: Predictions, chosen: np.ndarray) -> Predictions:
    """Return the out-of-fold predictions of some samples."""
    target, cases = predictions.target, predictions.cases
    codes, kept = target.codes[chosen], chosen[predictions.row]
    y = target.y[chosen]
    # the positive class remains that of all samples
    part = replace(target, y=y, codes=codes, given=y, positive=target.positive_code)
    # the units of these samples, numbered from 0
    rows, unit = np.cumsum(chosen) - 1, np.unique(cases.unit[chosen], return_inverse=True)[1]
    strata = np.zeros(int(unit.max()) + 1, dtype=np.intp)
    crossed = None if cases.crossed is None else cases.crossed[chosen]
    names = "repeat", "fold", "predicted", "loss", "response", "decision"
    taken: Any = {
        name: None if (one := getattr(predictions, name)) is None else one[kept] for name in names
    }
    return replace(
        predictions,
        target=part,
        cases=replace(cases, unit=unit.reshape(-1), stratum=strata, crossed=crossed),
        weight=predictions.weight[chosen],
        row=rows[predictions.row[kept]],
        scores={},
        **taken,
    )
