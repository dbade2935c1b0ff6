"""Comparison of estimators on the same splits of one data set, and their scores on several.

From top to bottom: the comparison, the scores of the fits for each test, the loop over data sets,
and the power and sample size of comparisons, by simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike
from sklearn.utils import get_tags

from skeval._adapters.runner import Runner, score_plan
from skeval._inference.estimate import Curve
from skeval._inference.paired import mcnemar, tail_probability
from skeval._inference.ranks import signed_rank_pvalues
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
from skeval.metrics._scorers import range_of
from skeval.model_selection._comparison import (
    Comparison,
    DatasetComparison,
    Difference,
    ReaderComparison,
    SplitComparison,
    check_estimators,
    check_margin,
    check_method,
    check_named,
    choose_scoring,
    name_listed,
    resolve_scorer,
)
from skeval.model_selection._estimates import find_mean_loss
from skeval.model_selection._pair_tests import METHODS, correct
from skeval.utils import _checks
from skeval.utils._arrays import validate_params
from skeval.utils._checks import (
    Alternative,
    ComparisonTest,
    ErrorScore,
    RandomStateLike,
    check_option,
    repetition_rng,
    root_seed,
)
from skeval.utils._compat import Interval
from skeval.utils._text import name_scoring

Named = Mapping[str, Any] | Sequence[Any]
"""Estimators by name, or a list of estimators."""
Splits = list[tuple[np.ndarray, np.ndarray]]
TESTS = ("corrected_t", "bootstrap", "mcnemar", "time_blocks")
"""Tests for fits."""
N_REPEATS = 10
"""Number of repeats of the default folds of "corrected_t"."""


@_checks.in_order(estimators=None, X=None, y=None)
@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "y": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
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
    r"""Test and interval for the difference of classifiers, on the same splits.

    Parameters
    ----------
    estimators : dict of str to classifier, or list of classifiers
        Two or more estimators with `fit` and `predict`; they are cloned. A pipeline keeps selection
        and scaling inside the splits. In a list, the name of each is its class, and of a
        pipeline the class of its last step.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimators: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Classes.
    cv : int, splitter or iterable, default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. All estimators have the same folds. None means 10 folds, repeated ten times
        for "corrected_t" (10 x 10, [4]_).
    method : str, default="auto"
        "auto" is "corrected_t", or "time_blocks" if the folds keep the order of the samples, as
        in `sklearn.model_selection.TimeSeriesSplit`, and the score is a mean over samples,
        such as the accuracy. "corrected_t" is the corrected resampled t-test of Nadeau and Bengio
        on the scores of the splits, with the mean `n_test / n_train` of these splits; it has the
        most power with repeated K-fold (see Notes). The other methods pool the out-of-fold
        predictions, one per sample, and treat the trained classifiers as fixed: "mcnemar" for
        accuracy (exact with fewer than 25 discordant samples), "bootstrap" for any score.
        "time_blocks" is described in `compare_predictions`; it uses the scores of the tested
        samples, in their order.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. None is the accuracy. A
        callable under "bootstrap" must use its samples only through the methods of the estimator.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. "bootstrap" draws whole
        groups; "mcnemar" uses the variance between groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. They
        are the same for all estimators.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit; scores are not weighted.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the score of the first minus the score of the second: that it is
        not 0, above 0 or below 0. The interval is always two-sided, and so is the test of more than
        two estimators.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1; with more than two estimators, of all intervals together.
    margin : float, default=None
        Largest difference of two scores that does not matter. The differences then have P-values of
        non-inferiority (the first system is not worse by `margin` or more) and of equivalence.
    n_resamples : int, default=2000
        Number of resamples of "bootstrap". Simultaneous intervals use extreme quantiles and need
        about 1,000 resamples for every ten pairs.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise the error, or leave out the split for all estimators and
        warn ("corrected_t" only).

    Returns
    -------
    comparison : Comparison
        With the `values` of all estimators, the `differences` of all pairs with intervals and
        P-values (corrected by Holm's method), the `ranks`, the `best` estimator, and the groups
        that are `tied`.

    Raises
    ------
    TypeError
        If there are fewer than two estimators, one lacks `fit`, `predict` or `get_params`,
        classifiers are mixed with other estimators, or `method` is "mcnemar" and they are
        regressors.
    ValueError
        If `method` does not accept `scoring`, if more than two estimators are compared one-sided,
        or if out-of-fold predictions are pooled and `cv` does not test every sample exactly once.

    Notes
    -----
    For `J` splits with differences :math:`d_j` of variance :math:`s^2`, the statistic is
    :math:`\bar d / \sqrt{(1/J + n_{test}/n_{train})\, s^2}`, on `J - 1` degrees of freedom. The
    plain t-test omits the ratio and rejects far too often, because training sets overlap.

    The corrected test on *one* set of 10 folds is very conservative and has little power. The
    default therefore repeats the folds; ``cv=10`` uses a single set, with a tenth of the fits. In
    time order, "time_blocks" has more power than "corrected_t", but is undefined if samples are few
    and strongly autocorrelated. :doc:`/validation` has the measured sizes.

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
      GaussianNB - KNeighborsClassifier   0.0070 [-0.0170, 0.0310]  P = 0.665
      No significant difference at 5 % (P = 0.67). This is not evidence of equality. The
      difference may be anywhere from -0.017 to 0.031 (95 % CI). This applies to these
      predictions; variation from retraining is not included.

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
    corrected resampled t, 95 % simultaneous intervals
      bayes - neighbors     0.0071 [-0.0646, 0.0789]  P = 0.777
      bayes - centroid      0.0510 [-0.0074, 0.1094]  P = 0.065
      neighbors - centroid  0.0438 [-0.0026, 0.0902]  P = 0.065
      bayes has the highest score (corrected resampled t, level 5 % for all of 3 pairs). No
      significant difference from neighbors, centroid; this is not evidence of equality,
      see the intervals.
    >>> comparison.ranks["centroid"].interval.low
    1.0
    """
    _checks.check_confidence_level(confidence_level)
    margin = check_margin(margin)
    _checks.check_option("method", method, ("auto", *TESTS))
    named = name_listed("estimators", estimators)
    chosen, method = method, "corrected_t" if method == "auto" else method
    check_method(method, alternative, len(named))
    check_estimators(named, method, groups)
    inputs = validate_inputs(
        next(iter(named.values())),
        X,
        y,
        with_loss=False,
        groups=groups,
        sample_weight=sample_weight,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
    )
    if inputs.weight is not None:
        for name, estimator in named.items():
            with _checks.naming(f"estimators[{name!r}]"):
                check_takes_weights(estimator)
    if method != "corrected_t" and inputs.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method={method!r}, which pools the predictions of "
            f"all samples, got {inputs.error_score!r}."
        )
    score = choose_scoring(method, scoring, inputs.estimator)
    label, target = name_scoring(score), inputs.target

    # the same splits for all estimators, by default repeated folds for the t-test
    data = inputs.X, target, inputs.groups, random_state
    if cv is None and method == "corrected_t":
        folds, _ = draw_repeats(None, N_REPEATS, *data)
    else:
        folds = list(resolve_folds(cv, *data))
    alone = inputs.groups is None and inputs.error_score == "raise" and target.y.ndim == 1
    if chosen == "auto" and alone and keeps_order(cv, folds) and find_mean_loss(label):
        method = "time_blocks"
    tasks = [inputs.with_estimator(estimator) for estimator in named.values()]

    # the scores of the fits, and the test of their differences
    kind: type[Comparison] = Comparison
    fields: dict[str, Any] = {}
    test = METHODS[method].test
    if method == "corrected_t":
        scores, ratio = score_splits(tasks, folds, resolve_scorer(score))
        values, tests = scores.mean(axis=0), test(scores, ratio, alternative)
        kind, fields = SplitComparison, {"split_scores": scores, "test_train_ratio": ratio}
    elif method == "mcnemar":
        replayed = [replay_out_of_fold(task, folds, ("predict",)) for task in tasks]
        right = np.array([each.predict(slice(None)) == target.y for each in replayed])
        groups = _checks.number_groups(inputs.groups, len(target))
        values, tests = right.mean(axis=1), test(right, groups, alternative)
    elif method == "bootstrap":
        root = _checks.root_seed(random_state)
        values, resampled = draw_scores(tasks, folds, resolve_scorer(score), n_resamples, root)
        tests = test(values, resampled, alternative)
    else:
        scores = score_in_time(tasks, folds, label)
        values, tests = scores.mean(axis=0), test(scores, alternative)
    bounds = range_of(label, target.n_classes) if isinstance(score, str) else (-np.inf, np.inf)
    return kind(
        names=tuple(named),
        values=values,
        tests=correct(tests, method, confidence_level, bounds),
        method=method,
        scoring=label,
        n_samples=len(target),
        alternative=alternative,
        confidence_level=confidence_level,
        margin=margin,
        **fields,
    )


def score_splits(tasks: list[Inputs], folds: Splits, scorer: Any) -> tuple[np.ndarray, float]:
    """Return the scores of all estimators on every split, and the ratio of test to training.

    Splits with a failed fit are left out.
    """
    if len(folds) < 2:
        raise ValueError(f"cv must make at least two splits, got {len(folds)}.")
    plan = fold_plan(len(tasks[0].target), folds)
    scores = np.column_stack(
        [np.concatenate(list(score_plan(Runner(inputs), plan, scorer))) for inputs in tasks]
    )
    if tasks[0].error_score != "raise":
        scores = scores[np.isfinite(scores).all(axis=1)]
        if len(scores) < 2:
            raise ValueError("error_score=numpy.nan leaves fewer than two splits to compare on.")
    return scores, float(np.mean([len(test) / len(train) for train, test in folds]))


def score_in_time(tasks: list[Inputs], folds: Splits, label: str) -> np.ndarray:
    """Return the mean scores of the tested samples in order, shape (n_tested, n_names)."""
    mean = find_mean_loss(label)
    if mean is None:
        required = "a mean over samples in time order, such as 'accuracy'"
        raise ValueError(f"scoring must be {required}, got {label!r}.")
    plan, scores = fold_plan(len(tasks[0].target), folds), []
    for inputs in tasks:
        loss = resolve_loss(mean.loss, inputs.target, inputs.estimator, f"scoring={label!r}")
        fits = Runner(inputs.with_options(losses=(loss,))).fits(plan)
        losses = np.vstack([loss.of_output(inputs.target, *answered) for answered in fits])
        tested = ~np.isnan(losses).all(axis=0)
        scores.append(mean.best - np.nanmean(losses[:, tested], axis=0))
    return np.column_stack(scores)


def draw_scores(
    tasks: list[Inputs], folds: Splits, scorer: Any, n_resamples: int, root: SeedSequence
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of all estimators, and on resamples of out-of-fold responses."""
    target = tasks[0].target
    units = drawing_units(len(target), None, tasks[0].groups)
    scorer = know_classes(scorer, target.classes)

    def score(replayed: StandIn, rows: np.ndarray) -> float:
        return float(scorer(replayed, rows, target.y[rows]))

    scores = [partial(score, replay_out_of_fold(task, folds, RESPONSES)) for task in tasks]
    values = np.array([of_task(np.arange(len(target))) for of_task in scores])
    return values, values_or_nan(scores, units, n_resamples, root, tasks[0].n_jobs)


def replay_out_of_fold(inputs: Inputs, folds: Splits, methods: tuple[str, ...]) -> StandIn:
    """Fit on the training parts, and return a model that replays responses to the test parts."""
    target, tested = inputs.target, np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(target))):
        raise ValueError(
            "cv must test every sample exactly once where out-of-fold predictions are pooled; "
            "method='corrected_t' supports any splits."
        )
    request = FitRequest(methods, note=_read_classes)
    fits = Runner(inputs).fits(fold_plan(len(target), folds), request)
    output = join_outputs([output for _, output in fits])
    # sorted classes of each model; none for numbers
    classes = [np.unique([] if seen is None else seen) for seen in output.notes or [None]]
    if any(not np.array_equal(seen, classes[0]) for seen in classes):
        raise ValueError(
            "cv must leave every class in every training part, got parts with the classes "
            f"{sorted({str(seen.tolist()) for seen in classes})}."
        )
    order = np.argsort(output.rows)
    answers = {name: values[order] for name, values in output.responses.items()}
    if "predict" in answers:
        answers["predict"] = target.decode(answers["predict"])
    return StandIn(answers, get_tags(inputs.estimator), target.classes)


def _read_classes(model: Any, X: Any, y: Any) -> Any:
    return getattr(model, "classes_", None)


@validate_params(
    {
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
def run_over_datasets(
    estimators: Mapping[str, Any],
    datasets: Mapping[str, Any],
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Mapping[str, ArrayLike] | None = None,
    sample_weight: Mapping[str, ArrayLike] | None = None,
    params: Mapping[str, Params] | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> dict[str, dict[str, dict[str, Any]]]:
    """Score several classifiers on several data sets, on the same splits of each.

    With `memory`, an interrupted run resumes: finished fits are loaded, not repeated.

    Parameters
    ----------
    estimators : dict of str to classifier
        The classifiers, or regressors.
    datasets : dict of str to (X, y) or callable
        Data sets. A callable without arguments that returns a data set is called when needed, so
        that only one data set is in memory at a time.
    cv : int, splitter or iterable, default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. None means 10.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. None is "accuracy" for
        classifiers and "r2" for regressors.
    groups : dict of str to array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. One array for each data
        set, by its name.
    sample_weight : dict of str to array-like of shape (n_samples,), default=None
        Sample weights. One array for each data set, by its name; they are used in every fit, and
        scores are not weighted.
    params : dict of str to dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. One
        dict for each data set, by its name.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. Must be an int if
        `memory` is used and `cv` is a number, because new folds would not match the cache.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it. The fits of one classifier on one
        data set run in parallel with the active joblib backend, which may be a cluster.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit raises: raise the error, or give its split the score nan and warn. For
        `compare_scores`, such a score is missing.

    Returns
    -------
    scores : dict of str to dict of str to dict
        For each data set and classifier ``test_score``, the scores of the splits, and ``indices``,
        their ``train`` and ``test`` samples, as in `sklearn.model_selection.cross_validate`:
        input of ``compare_scores(scores, over="datasets")``.

    Raises
    ------
    TypeError
        If `estimators` or `datasets` is not a dict of names, or an estimator lacks a method.
    ValueError
        If a data set has another form, groups, weights or parameters name an unknown data set, or
        `memory` is used and the folds would be random.

    Notes
    -----
    The error of a failed fit has a note that names the classifier and the data set; with `memory`,
    finished fits are kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skeval.model_selection import run_over_datasets
    >>> scores = run_over_datasets(
    ...     {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)},
    ...     {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)},
    ...     cv=5,
    ...     random_state=0,
    ... )
    >>> scores["wine"]["bayes"]["test_score"].round(3).tolist()
    [0.972, 1.0, 1.0, 0.971, 0.971]
    """
    check_named("estimators", estimators, 1)
    check_named("datasets", datasets, 1)
    check_estimators(estimators, "corrected_t", None)
    # options of each data set, by its name
    by_dataset: dict[str, Any] = {
        "groups": {} if groups is None else groups,
        "sample_weight": {} if sample_weight is None else sample_weight,
        "params": {} if params is None else params,
    }
    for name, values in by_dataset.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"{name} must be a dict of data sets, got {values!r}.")
        for dataset in values:
            _checks.check_option(name, dataset, datasets)
    if memory is not None and random_state is None and (cv is None or isinstance(cv, Integral)):
        raise ValueError(
            "random_state must be an int if memory is given and cv is a number of folds, got None: "
            "new folds would not be found in the cache."
        )
    # the score and the seed of all runs
    first = next(iter(estimators.values()))
    scorer = resolve_scorer(choose_scoring("corrected_t", scoring, first))
    root = _checks.root_seed(random_state)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name, dataset in datasets.items():
        dataset = dataset() if callable(dataset) else dataset
        if not isinstance(dataset, tuple | list) or len(dataset) != 2:
            raise ValueError(
                f"datasets[{name!r}] must be (X, y) or a function that returns it, got "
                f"{type(dataset).__name__}."
            )
        options = {option: values.get(name) for option, values in by_dataset.items()}
        results[name], at = {}, f"on the data set {name!r}"
        try:
            X, y = dataset
            # the same folds for all estimators
            inputs = validate_inputs(first, X, y, with_loss=False, **options, **run)
            folds = list(resolve_folds(cv, inputs.X, inputs.target, inputs.groups, root))
            plan = fold_plan(len(inputs.target), folds)
            train, test = (list(part) for part in zip(*folds, strict=True))
            for label, estimator in estimators.items():
                at = f"{label!r} on the data set {name!r}"
                if inputs.weight is not None:
                    check_takes_weights(estimator)
                blocks = score_plan(Runner(inputs.with_estimator(estimator)), plan, scorer)
                results[name][label] = {
                    "test_score": np.array([score for block in blocks for score in block]),
                    "indices": {"train": train, "test": test},
                }
        except Exception as error:
            error.add_note(f"run_over_datasets was at work {at}.")
            raise
    return results


MAX_TIMES = 1000
"""Maximum size of a simulated study, relative to the available samples."""
MIN_SIZE, MAX_DATASETS = 5, 2000
"""Minimum size of a simulated study, and its maximum number of data sets."""
CLOSE = 0.05
"""Relative distance of two sizes at which the bisection stops."""
FRACTION_TOLERANCE = 1e-12
"""Tolerance for a difference of accuracies that equals the fraction of discordant samples."""

DrawPvalues = Callable[[int, int, Generator], np.ndarray]
"""Function of a size, a number of studies and a generator: P-values of simulated studies."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RequiredSize:
    """Size of a study with the required power; `comparison_power` describes the attributes."""

    value: int | None
    difference: float
    level: float
    power: float


@validate_params(
    {
        "difference": [Real, None],
        "power": [Interval(Real, 0, 1, closed="neither")],
        "n_simulations": [Interval(Integral, 20, None, closed="left")],
        "random_state": ["random_state", Generator],
    }
)
def comparison_power(
    comparison: Comparison,
    *,
    pair: tuple[str, str] | None = None,
    difference: float | None = None,
    power: float = 0.8,
    n_simulations: int = 1000,
    random_state: RandomStateLike = None,
) -> Curve:
    r"""Estimate the number of data sets, or samples, required to detect a difference.

    Studies of increasing size are simulated from an available result, and each is tested as the
    result was.

    Parameters
    ----------
    comparison : Comparison
        Available result. Over several data sets, their differences are drawn with replacement and
        two classifiers are compared by Wilcoxon's test. On one data set, "mcnemar" draws the
        numbers of samples that only one of them classifies correctly; the other methods draw the
        difference and its standard error, which decreases with the square root of the number of
        samples. Several pairs are tested at Bonferroni's level. A result with `groups` is extended
        by similar groups, with Student's t for the number of groups.
    pair : (str, str), default=None
        Names of the two to compare; None means the best two, or the only two in their order.
    difference : float, default=None
        Assumed true difference, such as the smallest one that matters to you. None means the
        observed difference, which is as uncertain as the result.
    power : float, default=0.8
        Required probability of detecting the difference.
    n_simulations : int, default=1000
        Simulated studies of each size; 1000 estimate a power of 0.8 with a margin of 0.025.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.

    Returns
    -------
    curve : Curve
        `x` has the simulated sizes and `y` the share of studies that detect the difference;
        `answer` is a sentence. In `extra`, `value` is the required size, None if no simulated size
        has the power, and `difference`, `level` and `power` are the assumptions. For scores of
        splits it is not below the available size, because models trained on fewer samples are
        different models.

    Raises
    ------
    TypeError
        If `comparison` is not a `Comparison`.
    ValueError
        If a name is not one of those compared, the number of samples or the standard error is
        unknown, or the groups of the result are crossed.

    Notes
    -----
    Whether models trained on more samples would differ by more or less is not predicted: for
    samples, this is the power of a larger test set, or of larger folds with unchanged models. The
    power for the *observed* difference contains no more information than its P-value.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import comparison_power, compare_predictions
    >>> y = np.tile([0, 1], 50)
    >>> a, b = (np.where(np.arange(100) % n == 0, 1 - y, y) for n in (12, 8))
    >>> result = compare_predictions(y, [a, b], method="mcnemar")
    >>> curve = comparison_power(result, n_simulations=200, random_state=0)
    >>> curve.extra.value
    576
    """
    if difference is not None and not np.isfinite(difference):
        raise ValueError(f"difference must be finite, got {difference!r}.")
    if not isinstance(comparison, Comparison):
        raise TypeError(f"comparison must be a Comparison, got {type(comparison).__name__}.")
    if isinstance(comparison, ReaderComparison):
        raise ValueError(
            "comparison must not be of several readers: reader_study_size plans readers and cases."
        )
    # the pair, by default the best two
    over_datasets = isinstance(comparison, DatasetComparison)
    if pair is None:
        best = comparison.order[:2].tolist()
        a, b = (comparison.names[at] for at in (best if over_datasets else sorted(best)))
    else:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"pair must contain two names, got {pair!r}.")
        a, b = (check_option("pair", name, comparison.names) for name in pair)
    result = comparison[a, b]
    assumed = result.value if difference is None else float(difference)

    # studies of data sets have the observed differences, shifted to the assumed one
    if isinstance(comparison, DatasetComparison):
        first, second = (comparison.scores[:, comparison.names.index(name)] for name in (a, b))
        shifted = first - second
        if difference is not None:
            shifted = shifted - result.value + difference
        unit, least, start, most = "data sets", MIN_SIZE, MIN_SIZE, MAX_DATASETS

        def draw_datasets(size: int, n_studies: int, rng: Generator) -> np.ndarray:
            return signed_rank_pvalues(rng.choice(shifted, (n_studies, size)))[0]

        draw_pvalues: DrawPvalues = draw_datasets
    else:
        unit, n = "samples", result.n_samples or 0
        draw_pvalues, least = _plan_samples(comparison, result, assumed)
        start, most = max(least, n // 8), max(MAX_TIMES * n, least)

    # power by size; the search simulates only the sizes that it needs
    level = comparison.level / len(comparison.differences)
    root, powers = root_seed(random_state), {}

    def simulate(size: int) -> float:
        pvalues = draw_pvalues(size, n_simulations, repetition_rng(root, size))
        # a missing P-value counts as no rejection
        powers[size] = float(np.mean(pvalues <= level))
        return powers[size]

    n_needed = _search(simulate, power, start, least, most)
    sizes = sorted(powers)
    answer = (
        f"About {n_needed} {unit} like these would detect a difference of {assumed:.4g} with a "
        f"power of {power:g}."
    )
    if n_needed is None:
        answer = (
            f"No study with up to {sizes[-1]} {unit} would detect a difference of {assumed:.4g} "
            f"with a power of {power:g}."
        )
    elif isinstance(comparison, SplitComparison) and n_needed == least:
        answer = (
            f"The available {n_needed} {unit} detect a difference of {assumed:.4g} with a power "
            f"of {powers[n_needed]:.2g}. Whether fewer would suffice is unknown."
        )
    return Curve(
        name=f"power for a difference of {assumed:.4g} at level {level:.3g}",
        axes=(f"n_{unit.replace(' ', '')}", "power"),
        x=np.array(sizes),
        y=np.array([powers[size] for size in sizes]),
        method=comparison.method,
        answer=answer,
        extra=RequiredSize(value=n_needed, difference=assumed, level=level, power=float(power)),
    )


def _plan_samples(
    comparison: Comparison, result: Difference, assumed: float
) -> tuple[DrawPvalues, int]:
    """Return the P-values of studies of other sizes, as a function, and the smallest size."""
    n, error, extra = result.n_samples, result.standard_error, result.extra
    if n is None or not np.isfinite(error) or error == 0:
        raise ValueError(
            "comparison must have a number of samples and a standard error, got "
            f"n_samples={n!r} and standard_error={error!r}."
        )
    if isinstance(extra.intraclass_correlation, tuple):
        raise ValueError(
            "comparison must not be of crossed groups: a larger study may have more of either kind."
        )
    # groups like those of the result; models trained on fewer samples of splits are other models
    splits = comparison.split_scores if isinstance(comparison, SplitComparison) else None
    group_size = n / extra.n_groups if extra.n_groups and splits is None else None
    least = max(MIN_SIZE, int(np.ceil(2 * group_size))) if group_size else MIN_SIZE
    least = least if splits is None else n
    if extra.only_a is not None and group_size is None:
        # draw discordant samples: their observed fraction, split by the assumed difference
        discordant = (extra.only_a + (extra.only_b or 0)) / n
        if not abs(assumed) <= discordant + FRACTION_TOLERANCE:
            raise ValueError(
                f"difference must be <= {discordant:.4g} in size, the fraction of samples that one "
                f"of the two alone gets right, got {assumed!r}."
            )
        of_each = [(discordant + assumed) / 2, (discordant - assumed) / 2]
        cells = np.clip([*of_each, 1 - sum(of_each)], 0.0, 1.0)

        def draw_discordant(size: int, n_studies: int, rng: Generator) -> np.ndarray:
            only_a, only_b, _ = rng.multinomial(size, cells, n_studies).T
            return mcnemar(only_a, only_b, result.alternative)[1]

        return draw_discordant, least

    # draw the difference, and for splits or groups also its standard error
    def draw_difference(size: int, n_studies: int, rng: Generator) -> np.ndarray:
        degrees = np.inf if splits is None else len(splits) - 1.0
        if group_size is not None:
            degrees = size / group_size - 1
        statistics = rng.normal(assumed / (error * np.sqrt(n / size)), size=n_studies)
        if np.isfinite(degrees):
            statistics /= np.sqrt(rng.chisquare(degrees, n_studies) / degrees)
        return tail_probability(statistics, result.alternative, degrees)

    return draw_difference, least


def _search(
    simulate: Callable[[int], float], power: float, start: int, least: int, most: int
) -> int | None:
    """Return the smallest size with the required power, by doubling or halving and bisection."""
    # double, or halve, until the power crosses the required one
    low, high = start, start
    if simulate(start) < power:
        while low == high or simulate(high) < power:
            if high == most:
                return None
            low, high = high, min(2 * high, most)
    else:
        while low == high and high > least:
            low = max(least, high // 2)
            if simulate(low) >= power:
                high = low
    # bisection to within 5 %
    while high - low > max(1, CLOSE * high):
        middle = (low + high) // 2
        if simulate(middle) < power:
            low = middle
        else:
            high = middle
    return high
