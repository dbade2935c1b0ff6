"""Comparison of predictions or scores of the same samples, from any program.

The module contains the public function and its validation of arguments. The compared predictions
with their scores for each test, and areas under ROC curves, follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, roc_auc_score

from skeval._inference.areas import rank_scores
from skeval._inference.intervals import Codes, Spread, size_from_weights, spread_between
from skeval._resampling.sampling_units import (
    DrawingUnits,
    ExchangedUnits,
    drawing_units,
    mean_held,
    mean_signed,
    values_of_draws,
    values_or_nan,
    warn_of_undefined,
)
from skeval.metrics._scorers import name_scoring
from skeval.metrics._table import Sample, find_row, find_sums, unwrap
from skeval.model_selection._comparison import (
    Comparison,
    check_method,
    check_options,
    compare_pairs,
    name_listed,
)
from skeval.model_selection._metric_interval import (
    check_columns,
    find_metric,
    find_range,
    find_sample_values,
    naming_cause,
    read_probabilities,
    repr_metric,
    score_within,
)
from skeval.model_selection._pair_tests import TESTS, ComparisonTest, Joint, list_pairs
from skeval.model_selection._subgroups import read_units
from skeval.utils import _checks
from skeval.utils._checks import Alternative, RandomStateLike, read_arrays
from skeval.utils._compat import is_plain_scorer


@_checks.in_order(y_true=lambda value: not callable(value))
@read_arrays
def compare_predictions(
    y_true: Any,
    predictions: Any,
    *,
    metric: Callable[..., float] | str | None = None,
    method: ComparisonTest = "auto",
    groups: ArrayLike | None = None,
    horizon: int | None = None,
    within: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    margin: float | None = None,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Comparison:
    r"""Return tests and intervals for differences between predictions for the same samples.

    The function is like `compare_classifiers`, but for existing predictions or scores from any
    program. The models are fixed, and samples are independent unless `groups` are passed.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or None
        True values, or the references for `bleu_score`. None means that `predictions` contains the
        score of each sample, where larger is better ("max_t" only).
    predictions : dict of str to array-like, list of array-like, or data frame
        Predictions of two or more models for the same samples, each of shape (n_samples,) or
        (n_samples, n_classes), as `metric` requires. In a data frame, each column is a model. For
        a table with one row for each score, see `compare_scores`.
    metric : callable or str, default=None
        ``metric(y_true, prediction)`` or the name of a scorer, for "max_t", "permutation" and
        "bootstrap". None means the accuracy, or for "delong" the area under the ROC curve. For
        `bleu_score`, also with options fixed by `functools.partial`, n-gram counts are resampled,
        so each text is read only once.
    method : str, default="auto"
        "auto" is "permutation" for two models ("delong" for the area under the ROC curve). It is
        "max_t" for more models, and for two models with `groups` or without `y_true`.

        "max_t" compares the studentized difference of each pair with the distribution of the
        largest one of all pairs. Intervals, P-values, the intervals of the `ranks` and the
        intervals of the scores (in `extra`, including the best model's) therefore hold
        simultaneously [7]_ [8]_, for any number of models. "permutation" swaps the two predictions
        of each sample at random. The P-value is exact if the two models are exchangeable, and the
        interval inverts the test. "bootstrap" resamples the samples. With few groups its
        interval is too narrow (see Notes). "mcnemar" counts the samples that exactly one of two
        models predicts correctly. "cochran_q" first tests whether all models are correct equally
        often. "delong" compares areas under ROC curves. With two classes, the second one in sorted
        order is positive. With more, the metric is "roc_auc_ovr" or "roc_auc_ovo". The metric
        ``partial(roc_auc_score, max_fpr=0.1)`` compares partial areas.

        The last two methods are for samples in time order with correlated errors. They compare the
        accuracy or a `metric` that is a mean loss, such as `sklearn.metrics.mean_absolute_error`.
        "time_blocks" uses blocks of consecutive samples that are as long as the correlation lasts.
        "diebold_mariano" [5]_ is for forecasts `horizon` steps ahead, with the correction of [6]_.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. "permutation" and "bootstrap" swap or draw whole groups.
        "max_t", "mcnemar", "cochran_q" and "delong" compute standard errors between groups.
        Predictions of crossed groups cannot be swapped.
    horizon : int, default=None
        Number of steps that a forecast looks ahead ("diebold_mariano"). None means 1.
    within : array-like of shape (n_samples,), default=None
        Unit of each sample, such as a task, subject, query or image. The metric is computed in
        each unit, and the paired differences of the units are compared ("max_t"). See
        `metric_interval`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are passed to the metric ("max_t", "permutation", "bootstrap").
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the score of the first model minus the score of the second model.
        More than two models can only be compared "two-sided".
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1. With more than two models, it is the simultaneous
        coverage of all intervals.
    margin : float, default=None
        Largest difference between two scores that does not matter. If it is passed, the
        differences have P-values of non-inferiority (the first model is not worse by `margin` or
        more) and of equivalence.
    n_resamples : int, default=2000
        Number of permutations or resamples.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.

    Returns
    -------
    comparison : Comparison
        The result contains the `values` of all models, and the `differences` of all pairs with
        intervals and P-values (corrected by Holm's method).

    Raises
    ------
    TypeError
        If there are fewer than two models.
    ValueError
        If lengths differ, a prediction is missing, text is compared with numbers, the method does
        not use a passed option, or `margin` allows every difference.

    Notes
    -----
    *"max_t".* If the metric is a mean over samples, the covariance of the scores is computed from
    one value for each sample or group. For areas under ROC curves it is DeLong's covariance, and
    for other metrics a bootstrap covariance. The distribution of the largest statistic is simulated
    by 10,000 normal draws with this covariance [7]_. The quantile of a pair is from Student's t
    distribution for the number of units. If scores are 0 or 1, the interval is Agresti and Min's,
    which does not collapse with few samples. P-values step down, that is, after a significant pair,
    the others are compared with the largest of the remaining pairs.

    *Ranks.* The rank of a model is at least 1 plus the number of significantly better models, and
    at most the number of models that are not significantly worse [8]_. Percentiles of bootstrap
    ranks are not a valid interval. For models of equal performance, they often exclude the true
    rank, 1. :doc:`/validation` has the false-positive rate of "max_t" for equal models. With few
    groups, the intervals of "bootstrap" are too narrow.

    The P-value of "permutation" is :math:`(1 + \#\{|d^*| \ge |d|\}) / (1 + B)`. Its interval
    contains each difference `c` for which the same test of :math:`|d^* - \bar s c|` against
    :math:`|d - c|` has a larger P-value than the level, where :math:`\bar s` is the mean sign of
    the samples in the permutation, -1 for a swap [9]_. With "bootstrap", the interval also inverts
    the test. It is symmetric around `d`.

    With :math:`G_j` the number of samples that model `j` of `k` predicts correctly, and
    :math:`L_i` the number of models that predict sample `i` correctly, Cochran's statistic is

    .. math:: Q = \frac{k (k - 1) \sum_j (G_j - \bar G)^2}{\sum_i L_i (k - L_i)} .

    It is the `omnibus` of the result. Its distribution is chi-squared with `k - 1` degrees of
    freedom if there are about 24 or more discordant samples [2]_.

    *BLEU.* Resampled sentences [3]_ and swapped translations [4]_ have the same scores as in
    sacrebleu. The P-value of "permutation" counts permutations with a difference *at least* as
    large as observed, whereas sacrebleu counts only larger ones. The P-value of "bootstrap" uses
    the distance of each replicate from the observed difference. Sacrebleu uses the absolute value
    of each difference minus their mean. The two agree only if all differences have the same sign.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
       https://doi.org/10.2307/2531595
    .. [2] Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37,
       256-266. https://doi.org/10.1093/biomet/37.3-4.256
    .. [3] Koehn, P. (2004). Statistical significance tests for machine translation evaluation.
       EMNLP 2004, 388-395.
    .. [4] Riezler, S. and Maxwell, J. T. (2005). On some pitfalls in automatic evaluation and
       significance testing for MT. ACL Workshop on Intrinsic and Extrinsic Evaluation Measures,
       57-64.
    .. [5] Diebold, F. X. and Mariano, R. S. (1995). Comparing predictive accuracy. Journal of
       Business and Economic Statistics 13, 253-263.
       https://doi.org/10.1080/07350015.1995.10524599
    .. [6] Harvey, D., Leybourne, S. and Newbold, P. (1997). Testing the equality of prediction
       mean squared errors. International Journal of Forecasting 13, 281-291.
       https://doi.org/10.1016/S0169-2070(96)00719-4
    .. [7] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general
       parametric models. Biometrical Journal 50, 346-363. https://doi.org/10.1002/bimj.200810425
    .. [8] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks
       with applications to mobility across neighbourhoods and academic achievement across
       countries. Review of Economic Studies 91, 476-518. https://doi.org/10.1093/restud/rdad006

    .. [9] Hartigan, J. A. (1969). Using subsample values as typical values. Journal of the
       American Statistical Association 64, 1303-1317.
       https://doi.org/10.1080/01621459.1969.10501057

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import compare_predictions
    >>> y = np.tile([0, 1], 40)
    >>> a, b = y.copy(), y.copy()
    >>> a[:6] = 1 - a[:6]
    >>> b[4:24] = 1 - b[4:24]
    >>> comparison = compare_predictions(y, {"a": a, "b": b}, method="mcnemar")
    >>> print(comparison)
    accuracy, mcnemar
      a  0.9250
      b  0.7500
    McNemar's test, 95 % interval
      a - b   0.1750 [0.0622, 0.2792]  P = 0.0043
      a scores higher than b; the difference is significant at 5 % (P = 0.0043). The test is
      for these predictions only; variation from retraining is not included.
    >>> comparison["a", "b"].extra.only_a
    18
    """
    margin = check_options(EVIDENCE, method, confidence_level, margin, n_resamples)
    _checks.check_jobs(n_jobs, 0)
    if not (metric is None or isinstance(metric, str) or callable(metric)):
        raise TypeError(f"metric must be a function, a name or None, got {metric!r}.")
    if metric is not None and (isinstance(metric, str) or is_plain_scorer(metric)):
        metric = find_metric(metric)
    # models by name
    named = name_listed("predictions", predictions, "prediction")

    # the test, and the options that it takes
    if method == "auto":
        alone = within is None and groups is None and y_true is not None
        method = choose_test(metric, y_true, len(named), sample_weight) if alone else "max_t"
    check_method(method, alternative, len(named))
    # DeLong's test always compares areas, so an area is not passed on as an option
    own = None if method == "delong" and is_area(metric) else metric
    options = {"metric": own, "groups": groups, "horizon": horizon, "sample_weight": sample_weight}
    if method != "max_t" and y_true is None:
        raise ValueError(f"y_true must not be None for method={method!r}. 'max_t' supports None.")
    for name, value in options.items():
        if value is not None and name not in EVIDENCE[TESTS[method].evidence].options:
            raise ValueError(f"{name} must be None for method={method!r}, got {value!r}.")
    # validated arrays, or the metric in each unit
    places = range(len(named)) if isinstance(predictions, list | tuple) else named
    scored = TESTS[method].scoring or ("accuracy" if metric is None else name_scoring(metric))
    source = ComparedPredictions(
        names=tuple(named),
        words=[f"predictions[{place!r}]" for place in places],
        truth=y_true,
        vectors=list(named.values()),
        metric=metric,
        groups=groups,
        horizon=1 if horizon is None else _checks.check_count("horizon", horizon),
        weight=sample_weight,
        scoring="score" if y_true is None else scored,
        n_resamples=n_resamples,
        root=_checks.root_seed(random_state),
        n_jobs=n_jobs,
    )
    source = read_compared(source) if within is None else average_units(source, method, within)
    # scores of the models, and the tests of their differences
    values, arguments = EVIDENCE[TESTS[method].evidence].read(source)
    known = find_row(unwrap(metric or accuracy_score)[0])
    return compare_pairs(
        method,
        values,
        arguments,
        alternative,
        confidence_level,
        find_bounds(metric, y_true, source.vectors, margin),
        names=source.names,
        scoring=source.scoring,
        n_samples=source.n_samples,
        greater_is_better=known is None or known.greater_is_better,
        margin=margin,
    )


def choose_test(metric: Any, y_true: Any, n_models: int, weight: Any) -> ComparisonTest:
    """Return the test of independent predictions for ``method="auto"``."""
    if n_models > 2:
        return "max_t"
    if is_area(metric) and weight is None:
        sizes = np.unique(_checks.check_y("y_true", y_true), return_counts=True)[1]
        if len(sizes) >= 2 and sizes.min() > 1:
            return "delong"
    return "permutation"


def find_bounds(
    metric: Any, y_true: Any, vectors: list[np.ndarray], margin: float | None
) -> tuple[float, float]:
    """Return the range of a metric. Raise an error if the margin allows every difference."""
    low, high = find_range(metric or accuracy_score, vectors[0])
    # scores of samples may be any numbers
    if y_true is None and not np.isin(np.array(vectors), (0, 1)).all():
        low, high = -np.inf, np.inf
    if margin is not None and margin >= high - low:
        raise ValueError(
            f"margin must be below {high - low:g}, the range of the metric, got {margin:g}. Write "
            "one percentage point as 0.01."
        )
    return low, high


def average_units(source: ComparedPredictions, method: str, within: Any) -> ComparedPredictions:
    """Return the values of the metric in each unit, in place of the predictions."""
    if method != "max_t" or source.groups is not None:
        raise ValueError("within must be None unless method='max_t' and groups are None.")
    truth, metric = source.truth, source.metric or accuracy_score
    if truth is None:  # predictions are scores of the samples
        metric, truth = _mean_score, np.zeros(len(source.vectors[0]))
    units = read_units(within, len(truth))
    named = dict(zip(source.words, source.vectors, strict=True))
    values, kept = score_within(metric, truth, named, source.weight, units)
    scoring = f"{source.scoring}, {kept.text}"
    scores = replace(source, truth=None, metric=None, vectors=[*values], weight=None)
    return read_compared(replace(scores, scoring=scoring))


def _mean_score(_: Any, scores: Any, sample_weight: Any = None) -> float:
    return float(np.average(scores, weights=sample_weight))


def read_compared(compared: ComparedPredictions) -> ComparedPredictions:
    """Return validated arrays, with n-gram counts in place of sentences for a metric of texts."""
    metric, truth, weight = compared.metric, compared.truth, compared.weight
    named = list(zip(compared.words, compared.vectors, strict=True))
    # texts are read once, as n-gram counts
    sums = find_sums(metric)
    if sums is not None:
        if weight is not None:
            raise ValueError(f"sample_weight must be None for {compared.scoring}.")
        counts = []
        for word, sentences in named:
            with _checks.naming("y_true", word):
                counts.append(sums.read(truth, sentences))
        if len(counts[0]) < 2:
            raise ValueError(f"y_true must contain at least two sentences, got {len(counts[0])}.")
        metric = partial(_score_counts, sums)
        return replace(compared, truth=np.arange(len(counts[0])), vectors=counts, metric=metric)
    vectors = []
    if truth is None:
        # scores of samples have no true values, so a metric cannot apply to them
        if metric is not None:
            raise ValueError(
                "metric must be None if y_true is None and predictions are scores of samples, got "
                f"{repr_metric(metric)}."
            )
        vectors = [as_scores(*each, "if y_true is None") for each in named]
        _checks.check_same_length(**dict(zip(compared.words, vectors, strict=True)))
    else:
        truth = _checks.check_y("y_true", truth)
        for word, values in named:
            # one or two dimensions, with samples in the first
            with _checks.naming(word):
                vector = np.asarray(values)
            if vector.shape[1:] == (1,):
                vector = vector[:, 0]
            if vector.ndim not in (1, 2) or not vector.size:
                got = f"got shape {vector.shape}"
                raise ValueError(f"{word} must have one entry or row per sample, {got}.")
            _checks.check_complete(word, vector)
            # swapped arguments, or probabilities that do not sum to 1, raise an error
            check_columns(metric, truth, word, vector)
            vectors.append(read_probabilities(metric, word, truth, vector))
            _checks.check_same_length(**{"y_true": truth, word: vectors[-1]})
    if weight is not None:
        weight = _checks.check_weights("sample_weight", weight, len(vectors[0]))
    return replace(compared, truth=truth, vectors=vectors, weight=weight)


def _score_counts(sums: Any, _: np.ndarray, rows: np.ndarray) -> float:
    """Return the metric of texts from the counts of their sentences."""
    return float(sums.score(rows.sum(axis=0)))


def as_scores(name: str, scores: Any, when: str = "for method='delong'") -> np.ndarray:
    """Return one finite number for each sample."""
    with _checks.naming(name):
        values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        got = f"got the shape {values.shape}. Pass the column of the positive class, {name}[:, 1]"
        raise ValueError(f"{name} must have one score per sample {when}, {got}.")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        got = f"{values[place]} at position {place}"
        raise ValueError(f"{name} must contain finite scores {when}, got {got}.")
    return values


@dataclass(frozen=True)
class ComparedPredictions:
    """Predictions of the same samples.

    `words` contains the names of the predictions in error messages.
    """

    names: tuple[str, ...]
    words: list[str]
    truth: Any
    vectors: list[Any]
    metric: Callable[..., float] | None
    groups: Any
    horizon: int
    weight: Any
    scoring: str
    n_resamples: int
    root: SeedSequence
    n_jobs: int | None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.vectors[0] if self.truth is None else self.truth)

    @property
    def group(self) -> Codes | None:
        """Group number of each sample, or one column for each kind of crossed groups."""
        return _checks.number_groups(self.groups, self.n_samples)

    def find_areas(self) -> tuple[np.ndarray, tuple[np.ndarray, Spread]]:
        """Return areas under ROC curves, and the same areas with their covariance.

        The second of two classes is positive.
        """
        classes, codes = np.unique(self.truth, return_inverse=True)
        counts, of_two, group = np.bincount(codes), len(classes) == 2, self.group
        if len(classes) < 2 or counts.min() < 2:
            raise ValueError(
                "y_true must have at least two classes with at least two samples each for "
                f"method='delong', got {len(classes)} classes, the smallest of size {counts.min()}."
            )
        # the row of the area has its influence function
        row, arguments = find_row(roc_auc_score), unwrap(self.metric)[1] if self.metric else {}
        assert row is not None
        assert row.influence is not None
        # area of each model, and the influence of each sample on it
        values, influence = [], []
        for word, vector in zip(self.words, self.vectors, strict=True):
            score = as_scores(word, vector) if of_two else vector
            sample = Sample(self.truth, score, np.nan, None, group)
            ranking = row.influence(arguments, sample)
            if ranking is None:
                raise ValueError(
                    f"y_true must contain two classes for method='delong', got {len(classes)}."
                )
            values.append(ranking.value)
            influence.append(ranking.influence)
        areas, moved = np.array(values), np.column_stack(influence)
        # without groups, samples are independent within the classes
        spread = Spread(moved.T @ moved)
        if group is not None:
            spread = spread_between(moved, group, stratum=codes if of_two else None)
        return areas, (areas, spread)

    def count_right(self) -> tuple[np.ndarray, tuple[np.ndarray, Codes | None]]:
        """Return the accuracies, and which samples each model predicts correctly."""
        right = []
        for word, vector in zip(self.words, self.vectors, strict=True):
            if vector.ndim > 1:
                raise ValueError(
                    f"{word} must contain one label per sample if metric is None, got the shape "
                    f"{vector.shape}. If the columns are probabilities, the labels are "
                    f"classes[{word}.argmax(axis=1)]."
                )
            labels = _checks.check_y(word, vector)
            _checks.check_comparable(self.truth, word, labels)
            right.append(labels == self.truth)
        return np.mean(right, axis=1), (np.array(right), self.group)

    def _score_samples(self) -> np.ndarray | None:
        """Return per-sample scores whose mean is the metric, or None."""
        if self.truth is None:
            return np.array(self.vectors, dtype=float)
        if self.metric is None:
            return self.count_right()[1][0].astype(float)
        scores = [
            find_sample_values(self.metric, self.truth, each, self.weight) for each in self.vectors
        ]
        return None if any(each is None for each in scores) else np.array(scores)

    def _score(self, vector: np.ndarray, rows: Any) -> float:
        """Return the metric of some samples. The area is computed without scikit-learn's checks."""
        weight = None if self.weight is None else self.weight[rows]
        if self._positive is not None:
            return rank_scores(self._positive[rows], vector[rows], weight).area
        metric = cast("Callable[..., float]", self.metric)
        weighted = {} if weight is None else {"sample_weight": weight}
        return float(metric(self.truth[rows], vector[rows], **weighted))

    def _score_exchanged(self, first: np.ndarray, second: np.ndarray, rows: np.ndarray) -> float:
        """Return the difference of two models after a swap of some samples."""
        one, other = first.copy(), second.copy()
        one[rows], other[rows] = second[rows], first[rows]
        return self._score(one, slice(None)) - self._score(other, slice(None))

    @cached_property
    def _positive(self) -> np.ndarray | None:
        """Samples of the second of two classes if the metric is their whole area, or None."""
        if self.metric is None or not is_area(self.metric):
            return None
        partly = unwrap(self.metric)[1].get("max_fpr") is not None
        if partly or any(np.ndim(each) != 1 for each in (self.truth, *self.vectors)):
            return None
        classes = np.unique(self.truth)
        return np.asarray(self.truth == classes[1]) if len(classes) == 2 else None

    def _are_counts(self, of_samples: np.ndarray) -> bool:
        """Whether counts suffice for resamples, that is, for independent scores of 0 or 1."""
        independent = self.groups is None and self.weight is None
        return independent and bool(np.isin(of_samples, (0, 1)).all())

    def _sign_exchanged(self, rows: Any) -> float:
        """Return the mean sign of the samples, -1 for those whose predictions are swapped."""
        weight = np.ones(self.n_samples) if self.weight is None else self.weight
        return float(1 - 2 * weight[rows].sum() / weight.sum())

    def _score_all(self, of_samples: np.ndarray | None) -> np.ndarray:
        """Return the score of each model on all samples, the mean of its values `of_samples`."""
        if of_samples is not None:
            values = np.average(of_samples, axis=1, weights=self.weight)
        else:
            metric, values = cast("Callable[..., float]", self.metric), np.empty(len(self.names))
            weighted = {} if self.weight is None else {"sample_weight": self.weight}
            for place, (word, vector) in enumerate(zip(self.words, self.vectors, strict=True)):
                with _checks.naming("metric"), naming_cause(metric, self.truth, vector, word):
                    values[place] = float(metric(self.truth, vector, **weighted))
        if not np.isfinite(values).all():
            raise ValueError(f"metric must be finite on all samples, got {values.tolist()}.")
        return values

    def draw(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Return the scores of all models, and their scores on the same resamples."""
        units = drawing_units(self.n_samples, None, self.groups, crossed=True)
        plan = units, self.n_resamples, self.root, self.n_jobs
        of_samples = self._score_samples()
        values = self._score_all(of_samples)
        with _checks.naming("metric"):
            if of_samples is None:
                # no mean over samples: each model is scored again on each resample
                scores = [partial(self._score, vector) for vector in self.vectors]
                resampled = values_or_nan(scores, *plan)
            elif self._are_counts(of_samples):
                # the number of samples of each pattern of right and wrong predictions; patterns in
                # the order of the samples, so that the order of the models does not matter
                _, first, counts = np.unique(
                    of_samples, axis=1, return_index=True, return_counts=True
                )
                order, n = np.argsort(first), self.n_samples
                rng = _checks.repetition_rng(self.root, 0)
                drawn = rng.multinomial(n, counts[order] / n, self.n_resamples)
                resampled = of_samples[:, first[order]] @ drawn.T / n
            else:
                # the mean over a resample needs only the scores of the samples
                means = partial(mean_held, of_samples, self.weight)
                resampled = values_of_draws(means, *plan)
        return values, (values, resampled)

    def exchange(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Return `draw` with the differences of swapped pairs, (n_pairs, n_resamples)."""
        # predictions of two models are exchanged for whole units
        shapes = {vector.shape for vector in self.vectors}
        if len(shapes) > 1:
            raise ValueError(
                f"predictions must have the same shape for method='permutation', got {shapes}."
            )
        units = drawing_units(self.n_samples, None, self.groups, crossed=True)
        if units.crossed:
            raise ValueError(
                "groups must not be crossed for method='permutation', which permutes whole "
                "groups. 'max_t', 'mcnemar', 'delong' and 'bootstrap' support crossed groups."
            )
        exchanged = ExchangedUnits(units.unit, units.strata, units.n_groups)
        plan = exchanged, self.n_resamples, self.root, self.n_jobs
        of_samples = self._score_samples()

        # the difference of each pair and the mean sign of the samples, for each exchange
        values, exchanges = self._score_all(of_samples), []
        for at, (a, b) in enumerate(list_pairs(len(self.names)).tolist()):
            if of_samples is None:
                pair = _checks.share_dtype(self.vectors[a], self.vectors[b])
                swapped = partial(self._score_exchanged, *pair)
                exchanges.append(values_or_nan((swapped, self._sign_exchanged), *plan))
            elif self._are_counts(of_samples):
                # the samples of each difference that keep their sign, those of the model that
                # predicts the first discordant sample correctly first
                own, n = of_samples[a] - of_samples[b], self.n_samples
                sign = own[np.argmax(own != 0)] or 1.0
                sizes = np.array([np.sum(own == kind) for kind in (sign, -sign, 0)])
                rng = _checks.repetition_rng(self.root, 1 + at)
                kept = rng.binomial(sizes, 0.5, (self.n_resamples, 3))
                signs = (2 * kept - sizes) / n
                exchanges.append(np.array([sign * (signs[:, 0] - signs[:, 1]), signs.sum(axis=1)]))
            else:
                own = of_samples[a] - of_samples[b]
                signed = partial(mean_signed, np.array([own, np.ones_like(own)]), self.weight)
                exchanges.append(values_of_draws(signed, *plan))
        differences, signs = np.array(exchanges).swapaxes(0, 1)
        return values, (values, differences, signs)

    def score_in_time(self, *horizon: int) -> tuple[np.ndarray, tuple[Any, ...]]:
        """Return the mean loss or accuracy of each model, its values by sample, and the horizon."""
        n = self.n_samples
        if 2 * self.horizon >= n:
            raise ValueError(f"horizon must be below half of the samples, {n}, got {self.horizon}.")
        scores = self._score_samples()
        if scores is None:
            raise ValueError(
                "metric must be None or a mean of losses, such as mean_squared_error, for data in "
                f"time order, got {self.scoring}."
            )
        return scores.mean(axis=1), (scores.T, *horizon)

    def join(self) -> tuple[np.ndarray, tuple[Joint, SeedSequence]]:
        """Return the scores of all models, and the same scores with their covariance."""
        units = drawing_units(self.n_samples, None, self.groups, crossed=True)
        scores = self._score_samples()
        if scores is not None:
            # a mean over samples has the covariance of the sample scores
            joint = self._join_means(scores, units)
        elif is_area(self.metric) and self.weight is None and self.truth.ndim == 1:
            # areas have the covariance of their influence functions
            values, (_, spread) = self.find_areas()
            degrees = spread.degrees_of_freedom
            joint = Joint(values, spread.covariance, degrees, None, units.n_groups, spread.groups)
        else:
            # any other metric: the covariance of its resamples
            values, (_, resampled) = self.draw()
            warn_of_undefined(resampled.sum(axis=0))
            drawn = resampled[:, np.isfinite(resampled).all(axis=0)]
            if drawn.shape[1] < 2:
                raise ValueError("metric must be defined on at least two resamples, got fewer.")
            degrees = np.inf if units.n_groups is None else units.n_groups - 1.0
            joint = Joint(values, np.atleast_2d(np.cov(drawn)), degrees, None, units.n_groups)
        return joint.values, (joint, self.root)

    def _join_means(self, scores: np.ndarray, units: DrawingUnits) -> Joint:
        """Return the means of per-sample scores, and their covariance."""
        weight = np.ones(self.n_samples) if self.weight is None else self.weight
        size, weight = size_from_weights(weight), weight / weight.sum()
        values = scores @ weight
        moved = (scores - values[:, None]) * weight
        rates = np.isin(scores, (0.0, 1.0)).all() and self.weight is None
        n_rates = self.n_samples if rates else None
        if units.n_groups is not None:
            spread = spread_between(moved.T, units.codes, weight)
            degrees, n_groups = spread.degrees_of_freedom, units.n_groups
            return Joint(values, spread.covariance, degrees, n_rates, n_groups, spread.groups)
        # a single sample with weight has no spread
        degrees = np.inf if n_rates else max(size - 1.0, 1e-12)
        factor = 1.0 if n_rates else size / degrees
        return Joint(values, factor * moved @ moved.T, degrees, n_rates)


def is_area(metric: Any) -> bool:
    """Whether a metric is the area under the ROC curve of two or more classes."""
    function, arguments = unwrap(metric)
    averaged = arguments.get("average", "macro") in ("macro", "weighted")
    known = {"multi_class", "average", "max_fpr"}
    return function is roc_auc_score and averaged and set(arguments) <= known


class Evidence(NamedTuple):
    """Options of one kind of test, and the method that returns its scores and arguments."""

    options: set[str]
    read: Callable[[ComparedPredictions], tuple[np.ndarray, tuple[Any, ...]]]


RESAMPLING = {"metric", "groups", "sample_weight"}
EVIDENCE = {
    "exchanges": Evidence(RESAMPLING, ComparedPredictions.exchange),
    "resamples": Evidence(RESAMPLING, ComparedPredictions.draw),
    "joint": Evidence(RESAMPLING, ComparedPredictions.join),
    "right": Evidence({"groups"}, ComparedPredictions.count_right),
    "areas": Evidence({"groups"}, ComparedPredictions.find_areas),
    "time": Evidence({"metric"}, ComparedPredictions.score_in_time),
    "forecasts": Evidence({"metric", "horizon"}, lambda one: one.score_in_time(one.horizon)),
}
"""Method that returns the input of a test, for each kind of input."""
