"""Table of all prediction metrics, used by scorers, intervals and reports.

To add a metric, write its function and its row. A row contains:

- the range of the metric, its direction, and the response that it evaluates
- its influence function and its vectorized form for many fits
- its closed-form intervals. The functions that compute them stand above the rows, and the kind of
  the metric decides what else the row needs:

  - a function of the confusion table, ``OF_TABLE``: `from_table`. Most are ``partial(use_metric,
    f)``, where ``f`` in `skeval._inference.tables` returns the value and its gradient by cell
  - a mean over samples, ``OF_MEAN``, or ``OF_SHARE`` if its values lie in [0, 1]: `per_sample`
  - a proportion of samples, ``PROPORTION``: `counted`, if it refers to one class
  - a metric of one class against the rest: `side`

The `keywords` are the arguments of a function of scikit-learn for which the interval is right. For
a function of skeval, it is right for all arguments. The `targets` are the types of target. Anything
else has the interval of the bootstrap. Reports show metrics that are `reported`.

Clustering indices have tables of their own, `INTERNAL` and `EXTERNAL`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from inspect import signature
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import metrics as sk
from sklearn.utils.multiclass import type_of_target, unique_labels

from skeval._inference import areas, errors, intervals, tables
from skeval._inference.errors import TestLosses
from skeval._inference.intervals import PROPORTION_INTERVALS, Codes, Limits
from skeval._inference.tables import Cells, ConfusionTable, CountedClasses, FScore, ValueAndGradient
from skeval.metrics import _classification, _curves, _gains, _regression
from skeval.metrics._text import Sums, bleu_score, log_bleu_score, make_sums
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import metric_of_scorer

Arguments = Mapping[str, Any]
Array = NDArray[Any]
Floats = NDArray[np.float64]
Forms = dict[str, tuple[Callable[[float], Limits], float]]
"""Limits as a function of the confidence level, and standard error, for each method."""

SCORES = ("decision_function", "predict_proba")
ANY_NUMBER = -np.inf, np.inf
BINARY = frozenset({"binary"})
REGIONS = (
    _regression.interval_coverage, _regression.winkler_loss, _regression.mean_quantile_loss,
    _regression.set_coverage, _regression.mean_set_size,
)  # fmt: skip
"""Metrics of intervals, quantiles and sets, which do not predict `y_true` itself."""
EXPLAINED_VARIANCES = sk.r2_score, sk.explained_variance_score
"""Metrics that are meaningless for classes, even for ordered ones."""
CLASSES = frozenset({"binary", "multiclass"})
NUMBERS = CLASSES | {"continuous", "continuous-multioutput", "multiclass-multioutput"}
ROWS_OF_LABELS = NUMBERS | {"multilabel-indicator"}
SKLEARN_F = frozenset({"average", "labels", "pos_label", "zero_division"})
RESCALED = {"adjusted", "normalize", "scale_by_half"}
"""Keywords that change the range of a metric."""

BatchScore = Callable[["BatchPredictions"], Any]
"""Metric of each of many fits."""


BETWEEN = 3.5
"""Variance of a metric due to training sets, divided by its variance between repeats of the folds.

For R2, the ratio was 2.2 to 4.4 in six cells of 150 sets. The models were the mean, Lasso, ridge
and least squares, with 80 samples of 10 features, none or one of them informative.
"""

NOISE = 0.8
"""Standard deviations of the variance between repeats that are subtracted, as for the error."""


MODEL_WEIGHT = 20.0
"""Samples of the smaller class with the weight of the model variance of an out-of-fold area."""


class Folds(NamedTuple):
    """Models whose out-of-fold predictions are scored.

    Attributes
    ----------
    row, fit : int ndarray of shape (n_predictions,)
        Index of the tested sample of each prediction, numbered without gaps, and of the model that
        made the prediction.
    first : int ndarray of shape (n_samples,)
        First prediction of each tested sample.
    repeats : list
        One selection of predictions for each repeat.
    inflation : float
        Variance of a mean loss for the trained model, divided by the variance for independent
        losses.
    """

    row: NDArray[np.intp]
    fit: NDArray[np.intp]
    first: NDArray[np.intp]
    repeats: list[Any]
    inflation: float


class Sample(NamedTuple):
    """Targets, predictions or scores, and the value of the metric if it is known.

    Out-of-fold predictions have `folds`. All other arrays have one entry for each prediction.
    """

    y_true: Array
    y_pred: Array
    value: float = np.nan
    weight: Floats | None = None
    groups: Codes | None = None
    folds: Folds | None = None

    @property
    def n_samples(self) -> int:
        """Number of distinct samples."""
        return len(self.y_true if self.folds is None else self.folds.first)

    @property
    def independent(self) -> bool:
        """Whether the samples are independent, have equal weights and are tested by one model."""
        return self.weight is None and self.groups is None and self.folds is None

    def weigh(self) -> Floats:
        """Return the weight of each prediction."""
        return np.ones(len(self.y_true)) if self.weight is None else self.weight

    @property
    def parts(self) -> list[Any]:
        """One selection of predictions for each repeat."""
        return [slice(None)] if self.folds is None else self.folds.repeats

    @property
    def inflation(self) -> float:
        """Inflation of the variance of a mean loss, or 1 for a fixed model."""
        return 1.0 if self.folds is None else self.folds.inflation

    def inflate(
        self, variance: float, values: Iterable[float] = (), *, of_all: bool = False
    ) -> float:
        """Return the factor by which training sets increase the variance of a metric.

        `variance` is due to the tested samples alone. `values` contains the metric in each repeat
        of the folds, so it varies only because the training sets do. The factor is at least the
        inflation of mean losses, because metrics such as the explained variance of a useless model
        vary more. For metrics `of_all` classes, the noise of few repeats is subtracted, so that the
        balanced accuracy and the accuracy of balanced classes agree. The metrics of one class vary
        more between training sets, because the classes trade errors.
        """
        finite = np.array([value for value in values if np.isfinite(value)])
        if len(finite) < 2 or not variance > 0:
            return self.inflation
        if np.ptp(finite) <= intervals.ROUNDING * np.abs(finite).max():
            return self.inflation
        noise = NOISE * float(np.sqrt(2 / (len(finite) - 1))) if of_all else 0.0
        between = max(0.0, 1 - noise) * float(np.var(finite, ddof=1))
        return max(self.inflation, 1 + BETWEEN * between / variance)

    def find_means(self) -> Floats:
        """Return the prediction of a model without features, for each prediction.

        This is the mean of the samples that the fit does not test. If the fit tests all samples,
        as a fixed model does, it is the mean of all samples.
        """
        true, weight = self.y_true.astype(float), self.weigh()
        mean = float(np.average(true, weights=weight))
        if self.folds is None:
            return np.full(len(true), mean)
        first, fit = self.folds.first, self.folds.fit
        rest = weight[first].sum() - np.bincount(fit, weight)
        sums = weight[first] @ (true[first] - mean) - np.bincount(fit, weight * (true - mean))
        some = rest > intervals.ROUNDING * weight.sum()
        return mean + np.where(some, sums / np.where(some, rest, 1), 0.0)[fit]

    def measure_spread(self, means: Floats) -> tuple[float, float]:
        r"""Return the mean square of the predictions around `means`, and the part that is noise.

        The noise is due to the training samples. A jackknife that leaves out folds estimates it as
        the variance between repeats times :math:`(1 - 1/n) / (q - 1/n)`. Here `n` is the number of
        units, and `q` is the fraction that a model leaves out, which always includes the tested
        unit. The jackknife tends to be too large, not too small (Efron and Stein 1981). It is 0
        without repeats.
        """
        distance = self.y_pred - means
        spread = float(np.average(distance**2, weights=self.weight))
        if self.folds is None:
            return spread, 0.0
        # variance between repeats of the samples that were tested several times
        row, n_fits = self.folds.row, np.count_nonzero(np.bincount(self.folds.fit))
        times = np.bincount(row)
        moved = distance - (np.bincount(row, distance) / times)[row]
        # share of the units that a model leaves out besides the tested one
        n = self.n_samples if self.groups is None else intervals.count_groups(self.groups)
        share = len(row) / n_fits / self.n_samples - 1 / n
        if times.max() < 2 or not share > intervals.ROUNDING:
            return spread, 0.0
        return spread, float(moved @ moved / np.sum(times - 1)) * (1 - 1 / n) / share

    def average(self, losses: Floats, values: Iterable[float] = ()) -> tuple[float, float, float]:
        """Return the mean loss, its standard error for the trained model, and degrees of freedom.

        `values` contains one value per repeat if the losses are influences on another metric.
        """
        # variance of a single repeat, because all repeats test the same samples
        tested = [
            TestLosses(losses[part], *(None if each is None else each[part] for each in self[3:5]))
            for part in self.parts
        ]
        spreads = [errors.spread_of_mean(repeat) for repeat in tested]
        variance = float(np.mean([spread.variance for spread in spreads]))
        degrees = min(spread.degrees_of_freedom for spread in spreads)
        if self.groups is None:
            # degrees of freedom of the effective sample size
            size = self.n_samples * TestLosses(losses, self.weight).effective_size / len(losses)
            degrees = max(1.0, size / self.inflation - 1)
        else:
            # units whose means happen to agree do not tell how units vary: take that of samples
            alone = [repeat._replace(unit=None) for repeat in tested]
            least = float(np.mean([errors.spread_of_mean(repeat).variance for repeat in alone]))
            variance = variance if variance > 1e-20 * least else least
        mean = errors.mean_loss(TestLosses(losses, self.weight))
        return mean, float(np.sqrt(variance * self.inflate(variance, values))), degrees


Measured = tuple[float, Forms]
"""Value of a metric, and its closed forms, the best first."""


class Form(NamedTuple):
    """A closed form, with the names of its intervals and the function that computes them."""

    methods: tuple[str, ...]
    make: Callable[[Metric, Arguments, Sample], Measured]


class Reported(NamedTuple):
    """Metric as shown in a report.

    Attributes
    ----------
    name : str
        Name of scikit-learn's scorer, if there is one.
    label : str
        Name shown to readers.
    arguments : mapping
        Keyword arguments of the function.
    of_class : bool
        Whether the metric is computed separately for each class.
    """

    name: str
    label: str
    arguments: Arguments = MappingProxyType({})
    of_class: bool = False


@dataclass(frozen=True, eq=False)
class Metric:
    """Properties of a metric.

    Attributes
    ----------
    function : callable
        ``function(y_true, y_pred, **arguments) -> float``.
    range : tuple of two floats, or callable
        Smallest and largest value. They also bound every interval. A function returns them for a
        number of classes, which is None if unknown.
    greater_is_better : bool
    response : str or tuple of str
        Output of a classifier or regressor that the metric evaluates.
    required : tuple of str
        Names of arguments. At least one of them is required.
    interval : tuple of Form
        Closed-form intervals, the best first.
    keywords, targets : frozenset of str
        Arguments of a function of scikit-learn, and target types, that the closed forms support.
    from_table : callable or None
        ``from_table(table, order, arguments)`` attaches the metric, as a function of the counts, to
        a table with the classes in this order.
    counted : {"all", "y_true", "y_pred"}
        Samples in the denominator of a proportion, that is, all samples, the positive samples, or
        those predicted as positive.
    side : bool or None
        For a metric of one class against the rest, whether its samples belong to that class.
    per_sample : callable or None
        ``per_sample(y_true, y_pred, **arguments)`` returns an array of shape (n_samples,). Its
        mean is the metric or, with `root`, the square of the metric. For probabilities, `y_true`
        contains column numbers of `y_pred`.
    loss : str or None
        Name of a loss. The metric is its mean, or 1 minus its mean if greater is better.
    influence : callable or None
        ``influence(arguments, sample)`` returns the metric of scores, for two or more classes, and
        the influence of each sample on it. It returns None if these arguments have no such form.
        For a mean, the influence is `per_sample` minus the mean.
    batch : mapping of str to callable
        ``batch[average](predictions)`` returns the metric of each of many fits. The key is ""
        without average.
    sums : callable or None
        ``sums(**arguments)`` returns the metric of texts as a function of sums over sentences.
    reported : tuple of Reported
        Forms of the metric that a report shows by default.
    """

    function: Callable[..., float]
    range: Limits | Callable[[int | None], Limits] = (0.0, 1.0)
    greater_is_better: bool = True
    response: str | tuple[str, ...] = "predict"
    required: tuple[str, ...] = ()
    interval: tuple[Form, ...] = ()
    keywords: frozenset[str] = frozenset()
    targets: frozenset[str] = CLASSES
    from_table: Callable[..., ConfusionTable] | None = None
    counted: str = "all"
    side: bool | None = None
    per_sample: Callable[..., Floats] | None = None
    loss: str | None = None
    root: bool = False
    influence: Callable[[Arguments, Sample], areas.Ranking | None] | None = None
    batch: Mapping[str, BatchScore] = field(default_factory=dict)
    sums: Callable[..., Sums] | None = None
    reported: tuple[Reported, ...] = field(default=())

    @property
    def of_numbers(self) -> bool:
        """Whether the metric evaluates a numeric target."""
        return self.response == "predict" and self.from_table is None

    @property
    def name(self) -> str:
        """Name of the function without the suffix "_score", used for scorers."""
        return self.function.__name__.removesuffix("_score")

    @property
    def supported(self) -> frozenset[str]:
        """Arguments that the closed forms support."""
        if self.function.__module__.startswith("skeval"):
            return frozenset(signature(self.function).parameters) - {"sample_weight"}
        return self.keywords

    def bounds(self, n_classes: int | None = None) -> Limits:
        """Return the smallest and the largest value."""
        return self.range(n_classes) if callable(self.range) else self.range

    def find_batch(self, average: str) -> BatchScore | None:
        """Return the metric as a function of many fits. A mean loss requires no function."""
        if self.loss and self.per_sample and not average:
            return partial(mean_of_fits, self)
        return self.batch.get(average)


@dataclass(frozen=True)
class Averaged:
    """Class-wise precision, recall, F or Jaccard index with a default average.

    `average` is "class_weight" if the argument `class_weight` defines the average.
    """

    value: str
    average: str = "binary"
    absent_count: bool = True

    def __call__(self, table: ConfusionTable, order: Array, arguments: Arguments) -> ConfusionTable:
        average: Any = self.average
        # the average: of the row, or of an argument of the metric
        if average == "class_weight":
            average = arguments.get("class_weight", "log_inverse")
        elif average == "binary":
            average = arguments.get("average", "binary")
        binary = isinstance(average, str) and average == "binary"
        # the classes that are averaged come first
        labels = arguments.get("labels")
        n_chosen = 1 if binary else len(order) if labels is None else len(labels)
        chosen = np.arange(len(table.counts)) < n_chosen
        if not self.absent_count:
            chosen &= table.counts.sum(axis=1) > 0
        # weights that do not vary with the counts
        support = table.counts.sum(axis=1)[:n_chosen]
        fixed = average = "macro" if binary else average
        if not isinstance(average, str) or average == "log_inverse":
            # 1 / log n_c is singular at one sample, so the weights stay fixed at the class sizes
            fixed = _classification.class_weights(average, order[:n_chosen], support)
            average = average if isinstance(average, str) else fixed
        # the metric of the fractions of the cells, and its gradient
        beta, n = float(arguments.get("beta", 1.0)), table.counts.sum()
        score = FScore(self.value, fixed, beta, chosen)
        metric: ValueAndGradient = partial(tables.f_score_gradient, score=score, n=n)
        return table._replace(metric=metric, score=FScore(self.value, average, beta, chosen))


def use_hits(table: ConfusionTable, *_: Any, hit: float = 1.0) -> ConfusionTable:
    """Return the numbers of wrong and correct predictions, with the accuracy or the error rate."""
    right = np.eye(len(table.counts), dtype=np.intp)
    return table.merge(right, partial(tables.mean_cost, costs=np.array([1 - hit, hit])))


def use_costs(table: ConfusionTable, order: Array, arguments: Arguments) -> ConfusionTable:
    """Return the table with the mean cost, or nan if the cost matrix lacks an observed class."""
    shape = table.counts.shape
    named = {name: value for name, value in arguments.items() if name != "labels"}
    costs = np.full(shape, np.nan)
    if np.shape(named.get("cost_matrix", costs)) == shape:
        costs = _classification.costs_of_cells(order, **named)
    return table._replace(metric=partial(tables.mean_cost, costs=costs))


def use_kappa(table: ConfusionTable, _: Array, arguments: Arguments) -> ConfusionTable:
    """Return the table with Cohen's kappa."""
    # weight of the disagreement of each two classes
    ranks = np.arange(len(table.counts))
    power = {None: 0, "linear": 1, "quadratic": 2}[arguments.get("weights")]
    distance = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    disagreement = distance**power if power else np.sign(distance)
    return table._replace(metric=partial(tables.kappa, disagreement=disagreement))


def use_metric(metric: ValueAndGradient, table: ConfusionTable, *_: Any) -> ConfusionTable:
    """Return the table with a metric of its cell fractions."""
    return table._replace(metric=metric)


def find_costs(y_true: Array, y_pred: Array, *, labels: Any = None, **costs: Any) -> Floats:
    """Return the cost of each decision."""
    labels = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
    table = _classification.costs_of_cells(labels, **costs)
    return _classification.costs_of_samples(y_true, y_pred, labels, table)


def find_hits(y_true: Array, y_pred: Array, hit: float = 1.0) -> Floats:
    """Return `hit` for each sample whose label is predicted, and ``1 - hit`` for each other one."""
    return np.where(y_true == y_pred, hit, 1 - hit)


def find_errors(name: str, y_true: Array, y_pred: Array) -> Floats:
    """Return the loss of each sample, averaged over its outputs."""
    losses: Floats = _regression.LOSSES[name](y_true, y_pred)
    return losses.reshape(len(losses), -1).mean(axis=1)


def unwrap(metric: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function inside a `functools.partial`, and the keywords fixed there."""
    if isinstance(metric, partial) and not metric.args:
        return metric.func, dict(metric.keywords)
    return metric, {}


def explain_undefined(metric: Callable[..., Any], y_true: Any, y_pred: Any) -> str:
    """Return why a metric of one class, or Matthews' correlation, is 0/0, or "" if it is defined.

    scikit-learn then returns 0, or the argument `zero_division`.
    """
    function, arguments = unwrap(metric)
    row, true, pred = find_row(function), np.asarray(y_true), np.asarray(y_pred)
    if row is None or row.side is not None or true.ndim != 1 or pred.ndim != 1:
        return ""
    # the correlation with a constant is 0/0
    if function is sk.matthews_corrcoef:
        constant = [name for name, y in (("y_true", true), ("y_pred", pred)) if np.all(y == y[0])]
        return f"{constant[0]} contains one class" if constant else ""
    of_both = isinstance(row.from_table, Averaged) and row.from_table.value in ("f", "jaccard")
    if arguments.get("average", "binary") != "binary" or not (of_both or row.counted != "all"):
        return ""
    # samples in the denominator
    positive, ranks = arguments.get("pos_label", 1), row.from_table is None
    parts = [true] * (of_both or row.counted == "y_true")
    parts += [pred] * (of_both or row.counted == "y_pred")
    if any(np.any(part == positive) for part in parts):
        return ""
    # scikit-learn refuses two other classes
    labels = np.unique(true) if ranks else np.union1d(true, pred)
    if len(labels) > 1 and positive not in labels.tolist():
        return ""
    texts = {"y_true": "y_true contains", "y_pred": "y_pred contains", "all": "both contain"}
    return f"{texts[row.counted]} no sample of class {positive!r}"


def fix_labels(metric: Callable[..., Any], y_true: Any, sets: Any) -> Callable[..., Any]:
    """Return a metric that also names the columns of prediction sets for subsets of the samples."""
    function, arguments = unwrap(metric)
    named = "labels" in arguments or getattr(sets, "ndim", 1) < 2
    if named or function not in (_regression.set_coverage, _regression.mean_set_size):
        return metric
    return partial(metric, labels=np.unique(y_true).tolist())


def make_closed_forms(metric: Callable[..., Any], sample: Sample) -> Forms:
    """Return the closed forms that apply to the metric and the data, the best first."""
    # the row of the metric; without one there is no closed form
    function, arguments = unwrap(metric)
    row = find_row(function)
    if row is None or not row.interval:
        return {}
    kind, more = type_of_target(sample.y_true), set(arguments) - row.supported
    if kind == "multilabel-indicator" and kind not in row.targets and more <= {"average"}:
        return make_label_forms(row, arguments, sample)
    # areas of several classes
    if kind == "multiclass" and row.influence is not None:
        ranking = None if more else row.influence(arguments, sample)
        if ranking is None or not _agree(ranking.value, sample.value):
            return {}
        return close_area(ranking, sample)
    if more or kind not in row.targets:
        return {}
    # a mean does not depend on samples of weight 0
    if row.from_table is None and sample.weight is not None and sample.folds is None:
        seen, groups = sample.weight > 0, sample.groups
        groups = None if groups is None else groups[seen]
        true, pred, weight = sample.y_true[seen], sample.y_pred[seen], sample.weight[seen]
        sample = Sample(true, pred, sample.value, weight, groups)
    # a rate of one class against the rest is a rate of a binary table
    if row.side is not None:
        label = arguments.get("pos_label")
        true, pred = ((y == (1 if label is None else label)) == row.side for y in sample[:2])
        sample, arguments = sample._replace(y_true=true, y_pred=pred), {"pos_label": True}
    forms: Forms = {}
    for form in row.interval:
        if form is PROPORTION and arguments.get("average", "binary") != "binary":
            continue
        # weighted or grouped samples have the score and log intervals alone
        methods = form.methods
        if not sample.independent:
            methods = tuple(name for name in methods if name in ("score", "log"))
        if methods and not np.isfinite(sample.value):
            forms |= dict.fromkeys(methods, NO_LIMITS)
        elif methods:
            value, made = form.make(row, arguments, sample)
            made = made if _agree(value, sample.value) else {}
            forms |= {name: made[name] for name in methods if name in made}
    return forms


NO_LIMITS = intervals.give_no_limits, np.nan


def make_label_forms(row: Metric, arguments: Arguments, sample: Sample) -> Forms:
    """Return the score interval of a multilabel metric, if there is one.

    Samples, or groups of samples, are the sampling units, so labels of the same unit may be
    dependent. Both arrays have shape (n_samples, n_labels).
    """
    if sample.y_true.shape != sample.y_pred.shape:
        return {}
    # one entry for each sample and label, with the sample as unit
    n, n_labels = sample.y_true.shape
    unit = np.arange(n) if sample.groups is None else np.asarray(sample.groups)
    weight = None if sample.weight is None else np.repeat(sample.weight, n_labels)
    flat = Sample(
        sample.y_true.ravel(),
        sample.y_pred.ravel(),
        sample.value,
        weight,
        np.repeat(unit, n_labels, axis=0),
    )
    # rankings: a mean over the labels, or of all entries
    ranked = row.function in (sk.roc_auc_score, sk.average_precision_score)
    average = arguments.get("average", "macro" if ranked else "binary")
    if ranked and average in ("micro", "macro"):
        value, forms = use_label_ranking(row, sample if average == "macro" else flat)
        return forms if _agree(value, sample.value) else {}
    table = None
    if row.function in (sk.accuracy_score, sk.zero_one_loss):
        # a sample is correct if all of its labels are
        exact = np.all(sample.y_true == sample.y_pred, axis=1)
        flat = sample._replace(y_true=np.ones(n, dtype=bool), y_pred=exact)
        table = count_table(row, arguments, *flat[:2], sample.weight)
    elif row.function is sk.hamming_loss or average == "micro":
        if "average" in arguments:  # scorers by name pass pos_label=None, which has no meaning here
            arguments = {**arguments, "average": "binary", "pos_label": 1}
        table = count_table(row, arguments, *flat[:2], weight)
    elif isinstance(row.from_table, Averaged) and average in ("macro", "weighted"):
        table = count_labels(row.from_table, arguments, sample, flat)
    # the interval must be for the number that scikit-learn returns
    if table is None:
        return {}
    value, form = tables.score_form(table, flat.groups, known=sample.value)
    return {"score": form} if _agree(value, sample.value) else {}


def count_labels(
    averaged: Averaged, arguments: Arguments, sample: Sample, flat: Sample
) -> ConfusionTable:
    """Return one table of shape (n_labels, 2, 2) for all labels, with the averaged metric."""
    # cell of each entry: label, truth and prediction
    label = np.tile(np.arange(sample.y_true.shape[1]), len(sample.y_true))
    cell = 4 * label + 2 * (flat.y_true == 1) + (flat.y_pred == 1)
    cells = Cells(cell, flat.weight, 4 * (int(label.max()) + 1))
    counts = cells.counts.reshape(-1, 2, 2)
    score = FScore(
        averaged.value, arguments["average"], float(arguments.get("beta", 1.0)), np.ones(2, bool)
    )
    place = np.arange(cells.n_cells)
    return ConfusionTable(counts, cells, place, partial(tables.mean_of_labels, score=score))


def use_label_ranking(row: Metric, columns: Sample) -> Measured:
    """Return the score interval of the mean area, or mean average precision, over the columns."""
    true, score = (values.reshape(len(values), -1) for values in columns[:2])
    weight = columns.weigh()
    seen = weight > 0  # precision is undefined before the first sample with weight
    groups = None if columns.groups is None else columns.groups[seen]
    # a ranking for each column of labels
    terms = [
        areas.Term(slice(None), own == 1, column.astype(float))
        for own, column in zip(true[seen].T, score[seen].T, strict=True)
    ]
    is_area = row.function is sk.roc_auc_score
    result = areas.rank_terms(terms, weight[seen], groups, of_area=is_area)
    if is_area:
        return result.value, close_area(result, columns)
    # a precision is a proportion of the positives
    size = intervals.size_of_proportion(result.value, result.error, result.sizes[0])
    hits, degrees = result.value * size, result.degrees_of_freedom
    limits = partial(intervals.wilson_interval, hits, size, degrees_of_freedom=degrees)
    return result.value, {"score": (limits, result.error)}


def rank_classes(arguments: Arguments, sample: Sample) -> areas.Ranking | None:
    """Return the area for two classes, or the one-vs-rest or one-vs-one area for more.

    For more than two classes, the average is "macro" or "weighted".
    """
    # codes of the classes, and the arguments of the metric
    classes, codes = np.unique(sample.y_true, return_inverse=True)
    k, labels = len(classes), arguments.get("labels")
    kind, average = arguments.get("multi_class"), arguments.get("average", "macro")
    limit, weight = arguments.get("max_fpr"), sample.weigh()
    # two classes: one ranking
    if k == 2 and sample.y_pred.ndim == 1:
        terms = [areas.Term(slice(None), codes == 1, sample.y_pred.astype(float))]
        data = codes == 1, terms[0].score, weight
        known = None if limit is None else [areas.partial_area(*data, limit)]
        return areas.rank_terms(terms, weight, sample.groups, of_area=True, areas=known)
    # several classes: one ranking of each class against the rest, or of each pair
    in_order = labels is None or np.array_equal(labels, classes)
    if limit is not None or not in_order or sample.y_pred.shape != (len(codes), k):
        return None
    if average not in ("macro", "weighted"):
        return None
    score, is_class = sample.y_pred.astype(float), codes[:, None] == np.arange(k)
    if kind == "ovr":
        members = is_class
        terms = [areas.Term(slice(None), is_class[:, a], score[:, a]) for a in range(k)]
    elif kind == "ovo":
        # each pair of classes is ranked by the scores of either class
        pairs = [(a, b) for a in range(k) for b in range(k) if a != b]
        members = np.column_stack([is_class[:, a] | is_class[:, b] for a, b in pairs])
        rows = map(np.flatnonzero, members.T)
        terms = [
            areas.Term(row, is_class[:, a], score[:, a])
            for row, (a, _) in zip(rows, pairs, strict=True)
        ]
    else:
        return None
    if average == "macro":
        return areas.rank_terms(terms, weight, sample.groups, of_area=True, in_pairs=kind == "ovo")
    # shares of the terms by the frequencies of their classes
    part = weight[:, None] / weight.sum() * members / members[0].sum()
    shares = part.sum(axis=0)

    def drift(values: Floats) -> Floats:
        """Return the influence on the mean by the frequencies of the classes."""
        return part @ values - weight / weight.sum() * (shares @ values)

    options: dict[str, Any] = {"shares": shares, "drift": drift, "in_pairs": kind == "ovo"}
    return areas.rank_terms(terms, weight, sample.groups, of_area=True, **options)


def rank_out_of_fold(sample: Sample, codes: Array) -> tuple[areas.Ranking, float]:
    """Return the mean one-vs-rest area over classes, and the part of the ranks that is noise.

    `codes` are integers, or booleans for the area of one class. An area compares only samples that
    were scored by the same model.
    """
    assert sample.folds is not None
    row, fit, first, *_ = sample.folds
    weight, groups = sample.weigh()[first], sample.groups
    groups = None if groups is None else groups[first]
    columns = sample.y_pred.reshape(len(fit), -1).astype(float)
    classes = [True] if codes.dtype == bool else range(columns.shape[1])

    # areas of one class against the rest, within each fold
    of_classes = [
        areas.find_area(codes == label, columns[:, c], weight, row=row, fold=fit)
        for c, label in enumerate(classes)
    ]
    terms = [areas.Term(slice(None), codes[first] == label, weight) for label in classes]
    noise = find_rank_noise(sample, columns)
    if len(terms) > 1:
        return areas.rank_terms(terms, weight, groups, of_area=True, areas=of_classes), noise
    # one class: the variance between its samples or groups, and the effective sizes
    own, (value, influence) = terms[0].positive, of_classes[0]
    if np.isnan(value):
        return areas.Ranking(np.nan, np.nan, (1.0, 1.0), np.inf, influence), noise
    spread = areas.spread_of_areas(influence[:, None], own, weight, groups)
    positives, negatives = (areas.count_effective(side, weight, groups) for side in (own, ~own))
    sizes, degrees = (positives, negatives), spread.degrees_of_freedom
    return areas.Ranking(value, spread.error, sizes, degrees, influence), noise


def find_rank_noise(sample: Sample, columns: Floats) -> float:
    """Return the fraction of the variance of out-of-fold ranks that is due to training samples.

    Ranks are taken in each repeat, because the scores of an estimator may have any scale.
    """
    if len(columns) == sample.n_samples:  # without repeats, there is no estimate
        return 0.0
    spread, ranks = np.zeros(2), np.empty(len(columns))
    for column in columns.T:
        for part in sample.parts:
            # number of samples below each one, with half of the ties
            every = np.ones(len(column[part]), dtype=bool)
            ranked = areas.rank_scores(~every, column[part])
            ranks[part] = ranked.find_wins(every) - len(every) / 2
        spread += sample._replace(y_pred=ranks).measure_spread(np.zeros(len(ranks)))
    return min(1.0, float(spread[1] / spread[0])) if spread[0] > 0 else 0.0


def close_area(result: areas.Ranking, sample: Sample, noise: float = 0.0) -> Forms:
    """Return the score interval of an area, or of a mean of areas.

    Out of fold, a variance below the variance in the model of the interval is shrunk toward it,
    because it is too small by chance for areas near 0 or 1. Training sets widen the interval by the
    fraction of the ranks that is `noise`, as in `intervals.inflate_area`.
    """
    area, error, sizes, degrees, _ = result
    inflation, options = 1.0, {"degrees_of_freedom": degrees}
    if sample.folds is not None:
        error = intervals.shrink_area_variance(area, error**2, sizes, MODEL_WEIGHT) ** 0.5
        inflation = options["inflation"] = max(sample.inflation, 1 + noise)
        inflation = max(inflation, intervals.inflate_area(area, sizes))
    limits = partial(intervals.area_interval, area, error, sizes, **options)
    return {"score": (limits, error * inflation**0.5)}


def _agree(value: float, expected: float) -> bool:
    return bool(abs(value - expected) <= 1e-9 * max(1.0, abs(expected)))


def _use_normal(value: float, error: float, name: str) -> Forms:
    """Return the normal interval and, as `name`, the interval on the log-odds scale."""
    bounded = partial(intervals.normal_interval, value, error, bounds=(0.0, 1.0))
    on_log_odds = partial(intervals.log_odds_interval, value, error)
    return {"normal": (bounded, error), name: (on_log_odds, error)}


def use_table(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return intervals of a function of the confusion table."""
    table = count_table(row, arguments, *sample[:2], sample.weight)
    return close_table(table, sample.groups, sample.value)


def close_table(
    table: ConfusionTable, groups: Codes | None, known: float | None = None
) -> Measured:
    """Return the metric of a confusion table and its intervals."""
    value, form = tables.score_form(table, groups, known=known)
    if table.score is None:
        return value, {"score": form}
    error = float(np.sqrt(tables.delta_variance(table.counts, table.score)[1]))
    return value, {"score": form} | _use_normal(value, error, "delta")


def close_side(
    metric: Callable[..., float], counted: CountedClasses, groups: Codes | None
) -> tuple[float, Forms]:
    """Return a rate of one class of a binary table, and its intervals as in `make_closed_forms`."""
    # the binary table, and the samples that the rate refers to
    row = find_row(metric)
    assert row is not None
    table = arrange(row, {"pos_label": True}, counted.choose(row.side))
    whole = float(table.counts.sum(axis=0 if row.counted == "y_pred" else 1)[0])
    if not whole:
        warn_undefined(f"{row.name} is 0/0, nan: there is no such sample.")
        return np.nan, {"score": (intervals.give_no_limits, np.nan)}
    value, forms = close_table(table, groups)
    if groups is not None or counted.cells.weight is not None:
        return value, {"score": forms["score"]}
    return value, intervals.close_proportion(value, round(whole * value), whole) | forms


def use_proportion(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return intervals of a proportion."""
    value, n = sample.value, len(sample.y_true)
    if row.counted != "all":
        counted = sample.y_pred if row.counted == "y_pred" else sample.y_true
        n = int(np.sum(counted == arguments.get("pos_label", 1)))
    if n == 0:
        return np.nan, {}
    hits = round(value * n) if row.response == "predict" else value * n
    return value, intervals.close_proportion(value, hits, n)


def use_precision(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return intervals of the average precision, treated as a proportion of the positives.

    Weighted or grouped samples have the variance of its influence.
    """
    positive = sample.y_true == arguments.get("pos_label", 1)
    if sample.folds is None and not sample.independent:
        return use_label_ranking(row, sample._replace(y_true=positive.astype(int)))
    # independent samples have a proportion of the positives
    if sample.folds is None:
        value, n = sample.value, float(positive.sum())
        if np.isnan(value):
            value = areas.average_precision(positive, sample.y_pred, sample.weigh()) if n else 0.0
        value = min(1.0, value)
        return value, intervals.close_proportion(value, value * n, n) if n else {}
    # scores of different models have no common scale; each repeat ranks all samples
    first, weight, groups = sample.folds.first, sample.weigh(), sample.groups
    aligned, values = sample.y_pred.astype(float), list[float]()
    for part in sample.parts:
        ranked = positive[part], aligned[part], weight[part]
        aligned[part] = areas.align_scores(*ranked, sample.folds.fit[part])
        if np.isnan(aligned[part]).any():
            return np.nan, {}
        values.append(areas.average_precision(positive[part], aligned[part], weight[part]))
    value = min(1.0, float(np.mean(values)))  # rounding may exceed it
    groups = None if groups is None else groups[first]
    size = areas.count_effective(positive[first], weight[first], groups)
    size /= sample.inflate(value * (1 - value) / size, values)
    return value, intervals.close_proportion(value, value * size, size)


def use_mean(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return intervals of a mean loss, or of its square root if the metric is a root."""
    losses = find_sample_losses(row, arguments, *sample[:2])
    return close_mean(losses, sample, bounded=row.response == "predict_proba", root=row.root)


def find_sample_losses(row: Metric, arguments: Arguments, y_true: Array, y_pred: Array) -> Floats:
    """Return the per-sample values whose mean is the metric. The labels come from `y_true`."""
    assert row.per_sample is not None
    if row.response != "predict_proba":
        return row.per_sample(y_true, y_pred, **arguments)
    # columns of the true classes, and a column for each class
    labels, positive = arguments.get("labels"), arguments.get("pos_label")
    y_true = y_true if positive is None else y_true == positive
    codes = np.searchsorted(np.unique(y_true if labels is None else labels), y_true)
    shares = y_pred.astype(float, copy=False)
    return row.per_sample(
        codes, np.column_stack([1 - shares, shares]) if y_pred.ndim == 1 else shares
    )


def close_mean(losses: Floats, sample: Sample, *, bounded: bool, root: bool = False) -> Measured:
    """Return the mean of losses, or its root, with its intervals.

    Nonnegative losses have Student's t interval on the log scale. The interval is undefined if it
    would be too wide to be useful.
    """
    mean, error, degrees = sample.average(losses)
    if sample.groups is None:
        tested = TestLosses(losses, sample.weight)
        size = sample.n_samples
        degrees = errors.degrees_of_mean(tested, size, sample.inflation, bounded=bounded)
    forms: dict[str, Callable[[float], Limits]] = {}
    # an interval too wide to be useful is left undefined
    if errors.is_too_wide(mean, error, degrees):
        forms["log"] = intervals.give_no_limits
    elif not np.any(losses < 0):
        args = mean, error
        forms["log"] = partial(intervals.log_interval, *args, degrees_of_freedom=degrees)
    # these intervals assume independent samples of equal weight
    if sample.independent:
        forms |= {name: partial(intervals.mean_interval, losses, name) for name in ("hall", "t")}
    if root:
        # standard error of a square root by the delta method
        mean = mean**0.5
        error = error / (2 * mean) if mean else 0.0
        forms = {name: partial(intervals.rescaled, np.sqrt, form) for name, form in forms.items()}
    return mean, {name: (limits, error) for name, limits in forms.items()}


def use_share(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return Wilson's interval for the mean of values between 0 and 1, from their variance."""
    values = find_sample_losses(row, arguments, *sample[:2])
    mean, error, degrees = sample.average(values)
    # number of samples of a proportion with this standard error
    groups = sample.groups
    size = float(len(values) if groups is None else intervals.count_groups(groups))
    size = intervals.size_from_variance(mean * (1 - mean) * (error > 0), error, np.inf, size)
    limits = partial(intervals.wilson_interval, mean * size, size, degrees_of_freedom=degrees)
    return mean, {"score": (limits, error)}


def limit_explained(
    value: float,
    ratio: tuple[float, float, float],
    difference: tuple[float, float, float],
    spread: tuple[float, float],
    scale: float,
    inflation: float,
    level: float,
) -> Limits:
    """Return the limits of the explained variance of out-of-fold predictions.

    `ratio` is 1 minus the explained variance, and `difference` the squared error minus the error of
    the mean, which is the `scale`. Both are given with their standard error and degrees of freedom.
    That of the ratio is due to the samples alone. `spread` is the one of `measure_spread`. The
    limits exclude 0 if and only if the difference from the error of the mean is significant. A test
    of this difference has more power than a test of a ratio with a varying denominator. The limits
    always include the `value`.
    """
    smallest, largest = errors.difference_limits(*difference, spread[0], level, spread[1])
    # limits of the ratio, in units of the error of the mean
    spreads = spread[0] / scale, spread[1] / scale
    most, least = errors.explained_limits(*ratio, *spreads, inflation, level)
    # predictions of the mean differ from it by rounding errors
    low, high = 1 - least, 1 - most
    negligible, beside = intervals.ROUNDING * scale, np.finfo(float).tiny
    low = max(low, beside) if largest < -negligible else min(low, 0.0)
    high = min(high, -beside) if smallest > negligible else max(high, 0.0)
    return min(low, value), max(high, value)


def use_top(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return Wilson's interval of precision, recall or lift at k."""
    if sample.folds is not None:
        return np.nan, {}
    data = *sample[:2], arguments.get("pos_label"), sample.weight, sample.groups
    checked = _curves.check_curve_sample(*data, one_class=True)
    top = _gains.find_top(*checked.arrays, arguments.get("k", 0.1), checked.group)
    value, error, limits = top.close(row.name.removesuffix("_at_k"))
    return value, {"score": (limits, error)}


def use_separation(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return the interval of the Kolmogorov-Smirnov statistic."""
    if sample.folds is not None:
        return np.nan, {}
    data = *sample[:2], arguments.get("pos_label"), sample.weight, sample.groups
    checked = _curves.check_curve_sample(*data)
    rates = _gains.find_separation(*checked.arrays)
    # standard error of a difference of rates at one threshold
    sizes = np.array(checked.sizes)
    error = float(np.sqrt(np.sum(rates * (1 - rates) / sizes)))
    return float(rates[0] - rates[1]), {"score": (partial(_gains.ks_limits, rates, sizes), error)}


def use_explained(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return the explained variance, 1 minus a ratio of mean squares, and its interval."""
    true, pred, weight = sample.y_true.astype(float), sample.y_pred.astype(float), sample.weight
    mean = float(np.average(true, weights=weight))
    total = float(np.average((true - mean) ** 2, weights=weight))
    if not total > 0:
        return np.nan, {}
    squares = (true - pred) ** 2

    # influence of each sample on the ratio of two means
    ratio = errors.mean_loss(TestLosses(squares, weight)) / total
    moved = (squares - ratio * (true - mean) ** 2) / total
    _, error, degrees = sample.average(moved)
    # the variance about the mean of n samples is 1 - 1/n of that about the true one
    size = sample.n_samples * TestLosses(squares, weight).effective_size / len(squares)
    unbiased = ratio * (1 - 1 / size)
    of_ratio = partial(intervals.log_interval, unbiased, error, degrees_of_freedom=degrees)
    limits: Callable[[float], Limits] = partial(intervals.mirrored, 1.0, of_ratio)
    if sample.folds is not None:
        # squared error of the mean, and spread of the predictions around it
        means = sample.find_means()
        losses, (spread, noise) = (true - means) ** 2, sample.measure_spread(means)
        scale = float(np.average(losses, weights=weight))
        difference = sample.average(squares - losses)
        # standard error of samples alone, and with the training sets
        of_samples = unbiased, error / sample.inflation**0.5, degrees
        error = of_samples[1] * max(sample.inflation, 1 + noise / spread if spread else 1.0) ** 0.5
        parts = 1 - ratio, of_samples, difference, (spread, noise), scale, sample.inflation
        limits = partial(limit_explained, *parts)
    if errors.is_too_wide(unbiased, error, degrees):
        limits = intervals.give_no_limits
    return 1 - ratio, {"log": (limits, error)}


def use_area(row: Metric, arguments: Arguments, sample: Sample) -> Measured:
    """Return intervals of an area. With equal weights the variance is DeLong's."""
    max_fpr = arguments.get("max_fpr")
    if sample.folds is not None:
        if max_fpr is not None:
            return np.nan, {}
        result, noise = rank_out_of_fold(sample, sample.y_true)  # one class against the rest
        return result.value, close_area(result, sample, noise)
    # the class of roc_auc_score is the last one
    label = arguments.get("pos_label")
    if row.function is sk.roc_auc_score:
        label = np.unique(sample.y_true).tolist()[-1]
    positive, score = sample.y_true == (1 if label is None else label), sample.y_pred.astype(float)
    data = positive, score, sample.weigh(), sample.groups
    ranked = _curves.CurveSample(*data, confidence_level=0.95, max_fpr=max_fpr)
    if ranked.positive.all() or not ranked.positive.any():
        return np.nan, {}
    value = ranked.measured.value if np.isnan(sample.value) else sample.value
    # a single group has no variance between groups
    if sample.groups is not None and intervals.count_groups(sample.groups) == 1:
        return value, {}
    limits, error = ranked.area_form(value)
    return value, {"score": (limits, error)} | _use_normal(value, error, "delong")


def count_table(
    row: Metric, arguments: Arguments, y_true: Array, y_pred: Array, weight: Floats | None
) -> ConfusionTable:
    """Return the confusion table of the samples, with the metric."""
    return arrange(row, arguments, tables.count_cells(y_true, y_pred, weight))


def arrange(row: Metric, arguments: Arguments, counted: CountedClasses) -> ConfusionTable:
    """Return the table with classes in the order of the metric, and attach the metric."""
    assert row.from_table is not None
    # the classes of the metric first, then those that occur besides
    classes, labels = np.unique(counted.classes), arguments.get("labels")
    order = classes if labels is None else np.asarray(labels)
    if arguments.get("average", getattr(row.from_table, "average", None)) == "binary":
        order = np.asarray([arguments.get("pos_label", 1)])
    order = np.concatenate([order, np.setdiff1d(classes, order)])
    return row.from_table(counted.order_by(order), order, arguments)


# Metrics of many fits at once, from tables and ranks. Scores that are undefined, or cause a warning
# of scikit-learn, are nan here: the scorer itself computes them again.


class BatchPredictions:
    """Predictions of the successful fits, one fit after another, with the true labels.

    Parameters
    ----------
    true : ndarray of shape (n_predictions,)
        Class codes, or numeric targets.
    output : FitOutput
    n_classes : int
    """

    def __init__(self, true: np.ndarray, output: Any, n_classes: int) -> None:
        self.true = true
        self.output = output
        self.predicted = output.predicted
        self.sizes = output.sizes[~output.failed]
        self.n_classes = n_classes

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the predictions of each fit. Every fit has at least one."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(values, starts)

    @cached_property
    def table(self) -> np.ndarray:
        """Confusion matrices, shape (n_classes, n_classes, n_fits)."""
        k, n_fits = self.n_classes, len(self.sizes)
        # one bincount over (true, predicted, fit)
        pair = (self.true * k + self.predicted) * n_fits
        cell = pair + np.repeat(np.arange(n_fits), self.sizes)
        return np.bincount(cell, minlength=k * k * n_fits).reshape(k, k, n_fits)

    @cached_property
    def hits(self) -> np.ndarray:
        """Number of correct predictions of each class, shape (n_classes, n_fits)."""
        return np.diagonal(self.table).T

    @cached_property
    def members(self) -> np.ndarray:
        """Number of tested samples of each class, shape (n_classes, n_fits)."""
        return self.table.sum(axis=1)

    @cached_property
    def named(self) -> np.ndarray:
        """Number of predictions of each class, shape (n_classes, n_fits)."""
        return self.table.sum(axis=0)

    @cached_property
    def of_second(self) -> np.ndarray:
        """Scores of the second class. Scores that differ by rounding errors are tied."""
        if self.output.decision is not None:
            return self.output.tie_decision()
        return self.output.probability[:, 1]


def group_by_size(sizes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield fits of equal size, and the positions of their predictions, (n_fits, size)."""
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        fits = np.flatnonzero(sizes == size)
        yield fits, starts[fits][:, None] + np.arange(size)


def divide(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return fractions, nan for a denominator of 0."""
    return over / np.where(under > 0, under, np.nan)


def mean_of_fits(row: Metric, predictions: BatchPredictions) -> np.ndarray:
    """Return the mean loss of each fit, or the root of it."""
    predicted, known = predictions.predicted, {}
    if row.response == "predict_proba":
        shares, k = predictions.output.probability, predictions.n_classes
        predicted, known = shares[:, 1] if k == 2 else shares, {"labels": np.arange(k)}
    losses = find_sample_losses(row, known, predictions.true, predicted)
    means = predictions.sums(losses) / predictions.sizes
    return np.sqrt(means) if row.root else means


def balanced_accuracy(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean recall of the classes present, or nan if an absent class is predicted."""
    absent = predictions.members == 0
    shares = np.where(absent, 0.0, predictions.hits / np.maximum(predictions.members, 1))
    mean = shares.sum(axis=0) / (~absent).sum(axis=0)
    return np.where((absent & (predictions.named > 0)).any(axis=0), np.nan, mean)


def accuracy_of_fits(predictions: BatchPredictions) -> np.ndarray:
    """Return the fraction of correct predictions, which is also the micro F1 score."""
    return predictions.hits.sum(axis=0) / predictions.sizes


def f1(predictions: BatchPredictions) -> np.ndarray:
    """Return the F1 score of the second class."""
    return divide(2 * predictions.hits[1], predictions.members[1] + predictions.named[1])


def f1_macro(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean F1 score over the classes that are present or predicted."""
    both = predictions.members + predictions.named
    scores = np.where(both > 0, 2 * predictions.hits / np.maximum(both, 1), 0.0)
    return scores.sum(axis=0) / (both > 0).sum(axis=0)


def precision(predictions: BatchPredictions) -> np.ndarray:
    """Return the precision of the second class."""
    return divide(predictions.hits[1], predictions.named[1])


def recall(predictions: BatchPredictions) -> np.ndarray:
    """Return the recall of the second class."""
    return divide(predictions.hits[1], predictions.members[1])


def matthews(predictions: BatchPredictions) -> np.ndarray:
    """Return Matthews' correlation of true and predicted classes, 0 if either is constant."""
    # covariance of true and predicted classes, and the two variances
    n = predictions.sizes.astype(float)
    members, named = predictions.members.astype(float), predictions.named.astype(float)
    covariance = predictions.hits.sum(axis=0) * n - (members * named).sum(axis=0)
    both = (n**2 - (named**2).sum(axis=0)) * (n**2 - (members**2).sum(axis=0))
    return np.where(both > 0, covariance / np.sqrt(np.maximum(both, 1.0)), 0.0)


def kappa_of_fits(predictions: BatchPredictions) -> np.ndarray:
    """Return Cohen's kappa, nan if there is only one class."""
    by_chance = (predictions.members * (predictions.named / predictions.sizes)).sum(axis=0)
    wrong = predictions.sizes - predictions.hits.sum(axis=0)
    return 1 - divide(wrong, predictions.sizes - by_chance)


def roc_auc(predictions: BatchPredictions) -> np.ndarray:
    """Return the area under the ROC curve, nan if a class is absent."""
    values = np.empty(len(predictions.sizes))
    for fits, at in group_by_size(predictions.sizes):
        own, ranks = predictions.true[at] == 1, rankdata(predictions.of_second[at], axis=1)
        n = own.sum(axis=1)
        # ranks of the positives above those that they have among themselves
        wins = (own * ranks).sum(axis=1) - n * (n + 1) / 2
        values[fits] = divide(wins, n * (own.shape[1] - n))
    return values


def average_precision(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean precision at the samples of the second class, or nan if a class is absent."""
    values, score = np.full(len(predictions.sizes), np.nan), predictions.of_second
    for fit, end in enumerate(np.cumsum(predictions.sizes)):
        part = slice(end - predictions.sizes[fit], end)
        own = predictions.true[part] == 1
        if own.any() and not own.all():
            values[fit] = areas.average_precision(own, score[part], np.ones(len(own)))
    return values


def r2(predictions: BatchPredictions) -> np.ndarray:
    """Return the explained variance, or nan if the target is constant."""
    true, sizes = predictions.true.astype(float), predictions.sizes
    # mean of the tested labels of each fit
    means = np.repeat(predictions.sums(true) / sizes, sizes)
    total = predictions.sums((true - means) ** 2)
    unexplained = predictions.sums((true - predictions.predicted) ** 2)
    # a variance of the order of rounding errors is left to scikit-learn
    defined = total > 1e-20 * predictions.sums(true**2)
    return 1 - unexplained / np.where(defined, total, np.nan)


PROPORTION = Form(tuple(PROPORTION_INTERVALS), use_proportion)
OF_AVERAGE_PRECISION = Form(("wilson", "score"), use_precision)
OF_TABLE = Form(("score",), use_table)
OF_F_TABLE = Form(("score", "delta", "normal"), use_table)
OF_AREA = Form(("score", "delong", "normal"), use_area)
OF_MEAN = Form(("log", "hall", "t"), use_mean)
OF_SHARE = Form(("score",), use_share)
OF_TOP = Form(("score",), use_top)
OF_SEPARATION = Form(("score",), use_separation)
OF_EXPLAINED = Form(("log",), use_explained)

ERRORS: dict[str, Any] = {
    "greater_is_better": False, "interval": (PROPORTION, OF_TABLE), "loss": "zero_one",
    "from_table": partial(use_hits, hit=0.0), "per_sample": partial(find_hits, hit=0.0),
}  # fmt: skip
F: dict[str, Any] = {"interval": (OF_F_TABLE,), "keywords": SKLEARN_F}
SIDE: dict[str, Any] = {"interval": (PROPORTION, OF_F_TABLE), "keywords": SKLEARN_F}
OF_RECALL = SIDE | {"counted": "y_true", "from_table": Averaged("recall")}
OF_PRECISION = SIDE | {"counted": "y_pred", "from_table": Averaged("precision")}
CORRELATION: dict[str, Any] = {"range": (-1.0, 1.0), "interval": (OF_TABLE,)}
PROBABILITIES: dict[str, Any] = {
    "greater_is_better": False, "response": "predict_proba", "interval": (OF_MEAN,),
}  # fmt: skip
RANKING: dict[str, Any] = {"response": SCORES, "targets": BINARY}
LOSS: dict[str, Any] = {"range": (0.0, np.inf), "greater_is_better": False}
MEAN_LOSS = LOSS | {"interval": (OF_MEAN,), "targets": CLASSES | {"continuous"}}
SQUARED = MEAN_LOSS | {"loss": "squared", "per_sample": partial(find_errors, "squared")}
ABSOLUTE = MEAN_LOSS | {"loss": "absolute", "per_sample": partial(find_errors, "absolute")}
EXPLAINED: dict[str, Any] = {"range": (-np.inf, 1.0)}


def find_percentages(y_true: Array, y_pred: Array) -> Floats:
    """Return the absolute error of each sample, relative to the true value."""
    smallest = np.finfo(float).eps
    return np.asarray(np.abs(y_pred - y_true) / np.maximum(np.abs(y_true), smallest))


def score_rows(
    function: Callable[..., float], y_true: Array, y_pred: Array, **arguments: Any
) -> Floats:
    """Return a metric of each row, which contains several labels or documents."""
    rows = zip(y_true[:, None], y_pred[:, None], strict=True)
    return np.array([function(*row, **arguments) for row in rows], dtype=float)


METRICS: tuple[Metric, ...] = (
    # labels: functions of the confusion table
    Metric(
        sk.accuracy_score, interval=(PROPORTION, OF_TABLE), from_table=use_hits, loss="zero_one",
        per_sample=find_hits, reported=(Reported("accuracy", "accuracy"),),
    ),
    Metric(
        sk.balanced_accuracy_score, interval=(OF_TABLE,),
        from_table=Averaged("recall", "macro", absent_count=False),
        batch={"": balanced_accuracy},
        reported=(Reported("balanced_accuracy", "balanced accuracy"),),
    ),
    Metric(
        sk.precision_score, **OF_PRECISION,
        batch={"": precision, "binary": precision},
        reported=(Reported("precision", "precision", of_class=True),),
    ),
    Metric(
        sk.recall_score, **OF_RECALL,
        batch={"": recall, "binary": recall},
        reported=(Reported("recall", "recall", of_class=True),),
    ),
    Metric(
        sk.f1_score, **F, from_table=Averaged("f"),
        batch={"": f1, "binary": f1, "macro": f1_macro, "micro": accuracy_of_fits},
        reported=(
            Reported("f1_macro", "macro F1", {"average": "macro"}),
            Reported("f1", "F1", of_class=True),
        ),
    ),
    Metric(
        sk.fbeta_score, required=("beta",), from_table=Averaged("f"),
        **F | {"keywords": SKLEARN_F | {"beta"}},
    ),
    Metric(
        sk.matthews_corrcoef, **CORRELATION, from_table=partial(use_metric, tables.phi),
        batch={"": matthews},
        reported=(Reported("matthews_corrcoef", "Matthews correlation"),),
    ),
    Metric(
        sk.cohen_kappa_score, **CORRELATION, keywords=frozenset({"weights"}), from_table=use_kappa,
        batch={"": kappa_of_fits}, reported=(Reported("cohen_kappa", "Cohen kappa"),),
    ),
    Metric(sk.jaccard_score, **F | {"interval": (OF_TABLE,)}, from_table=Averaged("jaccard")),
    Metric(
        _classification.geometric_mean_score, interval=(OF_TABLE,),
        from_table=partial(use_metric, tables.geometric_mean),
    ),
    Metric(_classification.sensitivity_score, side=True, **OF_RECALL),
    Metric(_classification.specificity_score, side=False, **OF_RECALL),
    Metric(_classification.ppv_score, side=True, **OF_PRECISION),
    Metric(_classification.npv_score, side=False, **OF_PRECISION),
    *(
        Metric(function, **ERRORS)
        for function in (_classification.error_rate, sk.zero_one_loss, sk.hamming_loss)
    ),
    Metric(_classification.macro_fbeta_score, **F, from_table=Averaged("f_of_means", "macro")),
    Metric(_classification.micro_fbeta_score, **F, from_table=Averaged("f_of_means", "micro")),
    Metric(
        _classification.weighted_fbeta_score, **F,
        from_table=Averaged("f_of_means", "class_weight"),
    ),
    Metric(
        _classification.cost_sensitive_error, range=ANY_NUMBER, greater_is_better=False,
        required=("cost_matrix", "false_positive_cost"), interval=(OF_TABLE, OF_MEAN),
        from_table=use_costs, per_sample=find_costs,
    ),
    # probabilities and scores of classes
    Metric(
        sk.top_k_accuracy_score, response=SCORES, interval=(PROPORTION,),
        keywords=frozenset({"k", "labels"}),
    ),
    Metric(
        sk.log_loss, **PROBABILITIES, range=intervals.bounds_of("log_loss"), loss="log_loss",
        keywords=frozenset({"labels"}), per_sample=_regression.find_log_losses,
        reported=(Reported("log_loss", "log loss"),),
    ),
    Metric(
        sk.brier_score_loss, **PROBABILITIES, loss="brier",
        keywords=frozenset({"labels", "pos_label"}), per_sample=_regression.find_brier_losses,
        range=lambda n_classes: (0.0, 1.0 if n_classes == 2 else 2.0),
        reported=(Reported("brier_score", "Brier score"),),
    ),
    Metric(
        sk.roc_auc_score, **RANKING, interval=(OF_AREA,), influence=rank_classes,
        keywords=frozenset({"average", "labels", "max_fpr", "multi_class"}),
        batch={"": roc_auc}, reported=(Reported("roc_auc", "area under the ROC curve"),),
    ),
    Metric(
        sk.average_precision_score, **RANKING, interval=(OF_AVERAGE_PRECISION,),
        keywords=frozenset({"pos_label"}), counted="y_true",
        batch={"": average_precision},
        reported=(Reported("average_precision", "average precision"),),
    ),
    Metric(_curves.ranking_loss, **RANKING, greater_is_better=False, interval=(OF_AREA,)),
    *(
        Metric(
            function, **RANKING, interval=(OF_TOP,),
            range=(0.0, np.inf if function is _gains.lift_at_k else 1.0),
        )
        for function in (_gains.precision_at_k, _gains.recall_at_k, _gains.lift_at_k)
    ),
    Metric(_gains.ks_statistic, **RANKING, interval=(OF_SEPARATION,)),
    Metric(_curves.break_even_point, response=SCORES),
    Metric(_curves.expected_cost, range=ANY_NUMBER, greater_is_better=False, response=SCORES),
    # mean over the rows of several labels, or of the documents of each query
    *(
        Metric(
            function, response=SCORES, greater_is_better=better, targets=ROWS_OF_LABELS,
            range=(0.0, 1.0 if share else np.inf), interval=(OF_SHARE if share else OF_MEAN,),
            keywords=frozenset({"k", "log_base", "ignore_ties"}),
            per_sample=partial(score_rows, function),
        )
        for function, better, share in (
            (sk.ndcg_score, True, True), (sk.dcg_score, True, False),
            (sk.label_ranking_average_precision_score, True, True),
            (sk.label_ranking_loss, False, True), (sk.coverage_error, False, False),
        )
    ),
    # numbers
    Metric(
        sk.r2_score, **EXPLAINED, interval=(OF_EXPLAINED,), batch={"": r2},
        targets=CLASSES | {"continuous"},
        reported=(Reported("r2", "R2"),),
    ),
    Metric(
        sk.root_mean_squared_error, **SQUARED, root=True,
        reported=(Reported("root_mean_squared_error", "root mean squared error"),),
    ),
    Metric(
        sk.mean_absolute_error, **ABSOLUTE | {"targets": NUMBERS},
        reported=(Reported("mean_absolute_error", "mean absolute error"),),
    ),
    Metric(sk.mean_squared_error, **SQUARED | {"targets": NUMBERS}),
    Metric(sk.mean_absolute_percentage_error, **MEAN_LOSS, per_sample=find_percentages),
    Metric(
        sk.mean_squared_log_error, **MEAN_LOSS,
        per_sample=lambda y_true, y_pred: (np.log1p(y_true) - np.log1p(y_pred)) ** 2,
    ),
    Metric(
        sk.mean_pinball_loss, **MEAN_LOSS, keywords=frozenset({"alpha"}),
        per_sample=lambda y_true, y_pred, alpha=0.5: _regression.find_quantile_losses(
            y_true, y_pred[:, None], [alpha]
        ),
    ),
    Metric(
        _regression.smape, **MEAN_LOSS | {"range": (0.0, 2.0)},
        per_sample=_regression.find_symmetric_percentages,
    ),
    Metric(
        _regression.mase, **MEAN_LOSS, required=("y_train",),
        per_sample=_regression.find_scaled_errors,
    ),
    # prediction intervals, sets and quantiles
    Metric(
        _regression.interval_coverage, targets=CLASSES | {"continuous"},
        interval=(PROPORTION, OF_SHARE), per_sample=_regression.find_covered,
    ),
    Metric(
        _regression.set_coverage, interval=(PROPORTION, OF_SHARE),
        per_sample=partial(_regression.measure_sets, "coverage"),
    ),
    Metric(
        _regression.mean_set_size, **MEAN_LOSS | {"targets": CLASSES},
        per_sample=partial(_regression.measure_sets, "size"),
    ),
    Metric(_regression.winkler_loss, **MEAN_LOSS, per_sample=_regression.find_winklers),
    Metric(
        _regression.mean_quantile_loss, **MEAN_LOSS, required=("quantiles",),
        per_sample=_regression.find_quantile_losses,
    ),
    *(
        Metric(function, **LOSS)
        for function in (
            _regression.error_norm, sk.max_error, sk.mean_gamma_deviance, sk.mean_poisson_deviance,
            sk.median_absolute_error, sk.root_mean_squared_log_error,
        )
    ),
    *(
        Metric(function, **EXPLAINED)
        for function in (
            sk.explained_variance_score, sk.d2_absolute_error_score, sk.d2_log_loss_score,
            sk.d2_pinball_score, sk.d2_tweedie_score,
        )
    ),
    # text
    Metric(bleu_score, sums=partial(make_sums, np.exp)),
    Metric(log_bleu_score, range=(-np.inf, 0.0), sums=partial(make_sums, float)),
)  # fmt: skip
METRICS += tuple(  # scikit-learn has scorers for these, but no public functions
    Metric(metric_of_scorer(sk.get_scorer(name))[0], range=(0.0, np.inf), greater_is_better=better)
    for name, better in (
        ("positive_likelihood_ratio", True),
        ("neg_negative_likelihood_ratio", False),
    )
)
if hasattr(sk, "d2_brier_score"):  # since scikit-learn 1.8
    METRICS += (Metric(sk.d2_brier_score, response="predict_proba", **EXPLAINED),)

ROWS = {row.function: row for row in METRICS}
REPORTED = {reported.name: reported for row in METRICS for reported in row.reported}
REPORTED_ROWS = {reported.name: row for row in METRICS for reported in row.reported}


def find_row(function: Callable[..., Any]) -> Metric | None:
    """Return the row of a metric, or None."""
    return ROWS.get(function) if isinstance(function, Hashable) else None


def find_sums(metric: Any) -> Sums | None:
    """Return the sums behind a metric of texts, with the options of a `partial`, or None."""
    function, arguments = unwrap(metric)
    row = find_row(function)
    return None if row is None or row.sums is None else row.sums(**arguments)


def range_of_metric(
    metric: Callable[..., float], n_classes: int | None = None
) -> tuple[float, float]:
    """Return the range of a metric, with infinite limits if unknown."""
    function, arguments = unwrap(metric)
    row = find_row(function)
    return ANY_NUMBER if row is None or RESCALED & set(arguments) else row.bounds(n_classes)
