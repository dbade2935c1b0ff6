"""Comparison of estimators on the same splits of one data set.

The module contains the comparison, followed by the scores of the fits for each test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import get_tags

from skeval._adapters.runner import Runner, score_each
from skeval._resampling.fit_request import FitRequest, StandIn, know_classes
from skeval._resampling.inputs import (
    RESPONSES,
    Inputs,
    Params,
    check_takes_weights,
    join_outputs,
    resolve_loss,
    validate_inputs,
)
from skeval._resampling.plans import draw_repeats, fold_plan, keeps_order, resolve_folds
from skeval._resampling.sampling_units import drawing_units, values_or_nan
from skeval.metrics._scorers import name_scoring, range_of, read_scoring
from skeval.model_selection import _comparison
from skeval.model_selection._comparison import Comparison
from skeval.model_selection._estimates import find_mean_loss
from skeval.model_selection._pair_tests import TESTS, ComparisonTest
from skeval.utils import _checks
from skeval.utils._checks import Alternative, ErrorScore, RandomStateLike, read_arrays

Named = Mapping[str, Any] | Sequence[Any]
"""Dict or list of estimators."""
Splits = list[tuple[np.ndarray, np.ndarray]]
N_REPEATS = 10
"""Number of repeats of the default folds of "corrected_t"."""


@read_arrays
def compare_classifiers(
    estimators: Named,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    method: ComparisonTest = "auto",
    scoring: Any = None,
    groups: ArrayLike | None = None,
    params: Params = None,
    sample_weight: Any = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    margin: float | None = None,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Comparison:
    r"""Return tests and intervals for the differences between classifiers on the same splits.

    Parameters
    ----------
    estimators : dict of str to classifier, or list of classifiers
        Two or more estimators with `fit` and `predict`. They are cloned. In a pipeline, selection
        and scaling are fitted on the training set of each split. In a list, each estimator is named
        after its class, or after the class of the last step of a pipeline.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimators, such as texts, or a square precomputed
        kernel.
    y : array-like of shape (n_samples,)
        Classes.
    cv : int, splitter or iterable, default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. All estimators use the same folds. None means 10
        folds, repeated ten times for "corrected_t" (10 x 10, [4]_).
    method : str, default="auto"
        "auto" is "corrected_t" in most cases. It is "time_blocks" if the folds keep the order of
        the samples, as in `sklearn.model_selection.TimeSeriesSplit`, and the score is a mean over
        samples, such as the accuracy.

        "corrected_t" is the corrected resampled t-test of Nadeau and Bengio on the scores of the
        splits, with the mean `n_test / n_train` of these splits. It has the most power with
        repeated K-fold (see Notes). "time_blocks" uses the scores of the tested samples in their
        order. `compare_predictions` describes it.

        The other methods pool the out-of-fold predictions, one for each sample, and treat the
        trained classifiers as fixed. "mcnemar" compares the accuracy by the exact
        test. "cochran_q" first tests all classifiers together. "bootstrap" compares
        any score.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer. Larger is better. None means the accuracy. With
        "bootstrap", a callable must use its samples only through the methods of the estimator.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. "bootstrap" draws whole
        groups. "mcnemar" uses the variance between groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. They
        are the same for all estimators.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit. Scores are not weighted.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the score of the first minus the score of the second estimator,
        that is, not 0, above 0 or below 0. The interval is always two-sided, and so is the test of
        more than two estimators.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1. With more than two estimators, it is the simultaneous
        coverage of all intervals.
    margin : float, default=None
        Largest difference between two scores that does not matter. If it is passed, the
        differences have P-values of non-inferiority (the first estimator is not worse by `margin`
        or more) and of equivalence.
    n_resamples : int, default=2000
        Number of resamples of "bootstrap". Simultaneous intervals use extreme quantiles and need
        about 1,000 resamples for every ten pairs.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the split for all
        estimators and warns ("corrected_t" only).

    Returns
    -------
    comparison : Comparison
        The result contains the `values` of all estimators, the `differences` of all pairs with
        intervals and P-values (corrected by Holm's method), and the `ranks`. `best` is the best
        estimator, and `tied` contains groups without significant differences.

    Raises
    ------
    TypeError
        If there are fewer than two estimators, one of them lacks `fit`, `predict` or `get_params`,
        classifiers are mixed with other estimators, or `method` is "mcnemar" and they are
        regressors.
    ValueError
        If `method` does not support `scoring`, if more than two estimators are compared one-sided,
        or if out-of-fold predictions are pooled and `cv` does not test every sample exactly once.

    Notes
    -----
    For `J` splits with differences :math:`d_j` of variance :math:`s^2`, the statistic is
    :math:`\bar d / \sqrt{(1/J + n_{test}/n_{train})\, s^2}`, with `J - 1` degrees of freedom. The
    plain t-test omits the ratio and rejects far too often, because training sets overlap.

    The corrected test on *one* set of 10 folds is very conservative and has little power, so the
    default repeats the folds. ``cv=10`` uses a single set, with a tenth of the fits. In time
    order, "time_blocks" has more power than "corrected_t", but is undefined if there are few
    samples with strong autocorrelation. :doc:`/validation` has the measured sizes of the tests.

    With more than two estimators, each of the `m` pairs has an interval at the level ``1 - (1 -
    confidence_level) / m`` (Bonferroni). Holm's P-values reject every hypothesis that these
    intervals exclude, and sometimes more.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366
    .. [2] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       https://doi.org/10.1162/089976698300017197
    .. [3] Agresti, A. and Min, Y. (2005). Simple improved confidence intervals for comparing
       matched proportions. Statistics in Medicine 24, 729-740. https://doi.org/10.1002/sim.1781
    .. [4] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests
       for comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
       https://doi.org/10.1007/978-3-540-24775-3_3

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import compare_classifiers
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> two = [GaussianNB(), KNeighborsClassifier()]
    >>> print(compare_classifiers(two, X, y, method="mcnemar", random_state=0))
    accuracy, mcnemar
      GaussianNB            0.9367
      KNeighborsClassifier  0.9297
    McNemar's test, 95 % interval
      GaussianNB - KNeighborsClassifier   0.0070 [-0.0170, 0.0310]  P = 0.67
      No significant difference at 5 % (P = 0.67). This is not evidence of equality. The
      difference may be anywhere from -0.017 to 0.031 (95 % CI). The test is for these
      predictions only; variation from retraining is not included.

    All pairs of three:

    >>> from sklearn.neighbors import NearestCentroid
    >>> estimators = {
    ...     "bayes": GaussianNB(),
    ...     "neighbors": KNeighborsClassifier(),
    ...     "centroid": NearestCentroid(),
    ... }
    >>> comparison = compare_classifiers(estimators, X, y, cv=10, random_state=0)
    >>> print(comparison)
    accuracy, corrected_t
      bayes      0.9367
      neighbors  0.9296
      centroid   0.8858
    corrected resampled t-test, 95 % simultaneous intervals
      bayes - neighbors     0.0071 [-0.0646, 0.0789]  P = 0.78
      bayes - centroid      0.0510 [-0.0074, 0.1094]  P = 0.065
      neighbors - centroid  0.0438 [-0.0026, 0.0902]  P = 0.065
      bayes has the highest score (corrected resampled t-test, level 5 % for all of 3 pairs). No
      significant difference from neighbors, centroid; this is not evidence of equality. See
      the intervals.
    >>> comparison.ranks["centroid"].interval.low
    1.0
    """
    options = EVIDENCE, method, confidence_level, margin, n_resamples
    margin = _comparison.check_options(*options)
    _checks.check_single_score(scoring)
    named = _comparison.name_listed("estimators", estimators)
    chosen, method = method, "corrected_t" if method == "auto" else method
    _comparison.check_method(method, alternative, len(named))
    _comparison.check_compared(named, method, groups)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(next(iter(named.values())), X, y, with_loss=False, **run)
    # weights are passed to every fit, so each estimator must accept them
    if inputs.weight is not None:
        for name, estimator in named.items():
            with _checks.naming(f"estimators[{name!r}]"):
                check_takes_weights(estimator)
    # a failed fit leaves samples without the prediction that a pooled test needs
    if method != "corrected_t" and inputs.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method={method!r}, which pools all predictions, got "
            f"{inputs.error_score!r}."
        )
    score = _comparison.choose_scoring(method, scoring, inputs.estimator)
    label, target = name_scoring(score), inputs.target

    # the same splits for all estimators, by default repeated folds for the t-test
    data = inputs.X, target, inputs.groups, random_state
    if cv is None and method == "corrected_t":
        folds, _ = draw_repeats(None, N_REPEATS, *data)
    else:
        folds = list(resolve_folds(cv, *data))
    alone = inputs.groups is None and inputs.error_score == "raise" and target.y.ndim == 1
    # neighbors in time may have correlated losses, so blocks of time are compared
    if chosen == "auto" and alone and keeps_order(cv, folds) and find_mean_loss(label):
        method = "time_blocks"
    tasks = [inputs.with_options(estimator=estimator) for estimator in named.values()]

    # what the test is given of all estimators, and the test of their differences
    compared = ComparedEstimators(tasks, folds, score, label, n_resamples, random_state)
    values, arguments = EVIDENCE[TESTS[method].evidence](compared)
    bounds = range_of(label, target.n_classes) if isinstance(score, str) else (-np.inf, np.inf)
    fields = {"names": tuple(named), "scoring": label, "n_samples": len(target), "margin": margin}
    return _comparison.compare_pairs(
        method, values, arguments, alternative, confidence_level, bounds, **fields
    )


class ComparedEstimators(NamedTuple):
    """Estimators on the same splits, and the arguments of each test.

    `score` is the name of a score, or a scorer, and `label` its name. Each method returns the
    scores of all estimators, and the arguments of the test.
    """

    tasks: list[Inputs]
    folds: Splits
    score: Any
    label: str
    n_resamples: int
    random_state: RandomStateLike

    def score_splits(self) -> tuple[np.ndarray, tuple[np.ndarray, float]]:
        """Return the scores on every split, and the ratio of test to training samples.

        Splits with a failed fit are omitted.
        """
        tasks, folds = self.tasks, self.folds
        if len(folds) < 2:
            raise ValueError(f"cv must make at least two splits, got {len(folds)}.")
        plan = fold_plan(len(tasks[0].target), folds)
        scores = np.column_stack([score_each(Runner(one), plan, self.score)[""] for one in tasks])
        if tasks[0].error_score != "raise":
            scores = scores[np.isfinite(scores).all(axis=1)]
            if len(scores) < 2:
                raise ValueError(
                    "at least two splits must have no failed fit for the comparison, got fewer."
                )
        ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
        return scores.mean(axis=0), (scores, ratio)

    def score_in_time(self) -> tuple[np.ndarray, tuple[np.ndarray]]:
        """Return the mean scores of the tested samples in order, shape (n_tested, n_names)."""
        mean, target = find_mean_loss(self.label), self.tasks[0].target
        if mean is None:
            required = "must be a mean over samples, such as 'accuracy'"
            raise ValueError(
                f"scoring {required}, if the folds are in time order, got {self.label!r}."
            )
        plan, columns = fold_plan(len(target), self.folds), []
        for inputs in self.tasks:
            loss = resolve_loss(mean.loss, target, inputs.estimator, f"scoring={self.label!r}")
            fits = Runner(inputs.with_options(losses=(loss,))).fits(plan)
            losses = np.vstack([loss.of_output(inputs.target, *answered) for answered in fits])
            # samples that no fold tests, such as those at the start, have no loss
            tested = ~np.isnan(losses).all(axis=0)
            columns.append(mean.best - np.nanmean(losses[:, tested], axis=0))
        scores = np.column_stack(columns)
        return scores.mean(axis=0), (scores,)

    def count_right(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray | None]]:
        """Return which samples each estimator predicts correctly, and their groups."""
        target, groups = self.tasks[0].target, self.tasks[0].groups
        replayed = [replay_out_of_fold(task, self.folds, ("predict",)) for task in self.tasks]
        right = np.array([each.predict(slice(None)) == target.y for each in replayed])
        return right.mean(axis=1), (right, _checks.number_groups(groups, len(target)))

    def draw(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Return the scores, and the scores on resamples of the out-of-fold responses."""
        inputs, target = self.tasks[0], self.tasks[0].target
        units = drawing_units(len(target), None, inputs.groups)
        scorer = know_classes(read_scoring(inputs.estimator, self.score), target.classes)

        def score(replayed: StandIn, rows: np.ndarray) -> float:
            return float(scorer(replayed, rows, target.y[rows]))

        scores = [
            partial(score, replay_out_of_fold(task, self.folds, RESPONSES)) for task in self.tasks
        ]
        values = np.array([of_task(np.arange(len(target))) for of_task in scores])
        root = _checks.root_seed(self.random_state)
        return values, (values, values_or_nan(scores, units, self.n_resamples, root, inputs.n_jobs))


EVIDENCE: dict[str, Callable[[ComparedEstimators], tuple[np.ndarray, tuple[Any, ...]]]] = {
    "splits": ComparedEstimators.score_splits,
    "right": ComparedEstimators.count_right,
    "resamples": ComparedEstimators.draw,
    "time": ComparedEstimators.score_in_time,
}
"""Method that returns the input of a test, for each kind of input."""


def replay_out_of_fold(inputs: Inputs, folds: Splits, methods: tuple[str, ...]) -> StandIn:
    """Fit on the training parts, and return a model that replays responses to the test parts."""
    target, tested = inputs.target, np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(target))):
        raise ValueError(
            "cv must test each sample exactly once for this method, which pools out-of-fold "
            "predictions. For other splits, use method='corrected_t'."
        )
    # fit to each training part, and note the classes of each model
    request = FitRequest(methods, note=_read_classes)
    fits = Runner(inputs).fits(fold_plan(len(target), folds), request)
    output = join_outputs([output for _, output in fits])
    # sorted classes of each model; none for numbers
    classes = [np.unique([] if seen is None else seen) for seen in output.notes or [None]]
    if any(not np.array_equal(seen, classes[0]) for seen in classes):
        raise ValueError(
            "cv must yield training sets that contain every class, got sets with the classes "
            f"{sorted({str(seen.tolist()) for seen in classes})}."
        )
    # responses in the order of the samples, with labels instead of codes
    order = np.argsort(output.rows)
    answers = {name: values[order] for name, values in output.responses.items()}
    if "predict" in answers:
        answers["predict"] = target.decode(answers["predict"])
    return StandIn(answers, get_tags(inputs.estimator), target.classes)


def _read_classes(model: Any, X: Any, y: Any) -> Any:
    return getattr(model, "classes_", None)
