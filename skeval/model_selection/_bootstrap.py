"""Bootstrap estimates of losses and scores: out-of-bag, .632, .632+ and Harrell's correction.

The module begins with the two public functions, which share one plan and one loop over its fits.
The estimates of losses and of scores follow. For losses, a model predicts the samples that its
resample left out. For scores, each model predicts all samples. Its predictions are scored on the
resample that trained it, on all samples, and on the samples that the resample left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import is_classifier

from skeval._adapters.runner import Runner
from skeval._inference import errors, intervals
from skeval._inference.estimate import BootstrapExtra, Estimate, Results
from skeval._inference.intervals import Limits, LimitsByMethod
from skeval._resampling import fit_request, plans
from skeval._resampling.inputs import (
    FitOutput,
    Inputs,
    LossLike,
    Params,
    join_outputs,
    validate_inputs,
)
from skeval._resampling.sampling_units import DrawingUnits, drawing_units
from skeval.metrics._calibration import find_recalibration
from skeval.metrics._scorers import read_scoring
from skeval.model_selection import _estimates
from skeval.model_selection._estimates import NamedScore
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike
from skeval.utils._compat import is_plain_scorer, metric_of_scorer, safe_indexing, safe_split

ScoreBootstrap = Literal["oob", ".632", ".632+", "optimism"]

ErrorBootstrap = Literal["oob", ".632", ".632+"]

Counts = dict[str, Any]
BootstrapAverage = Literal["samples", "bootstraps"]

OPTIMISM = "optimism"
CALIBRATION = ("calibration_intercept", "calibration_slope")
"""Scores of two classes with a best value (0 or 1) and no direction."""
MAX_PAIRS = 2**18
"""Number of pairs of a label and a prediction above which permutations are drawn."""
N_BLOCKS = 100
"""Largest number of blocks of a jackknife."""
N_POOLED, N_POOLED_OF_MANY, MANY = 30, 10, 1000
"""Number of models whose predictions are pooled, and the smaller number above `MANY` samples."""
N_PERMUTATIONS = 100
"""Number of permutations for a scorer that uses more than predictions."""


@_checks.in_order()
def bootstrap_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: ErrorBootstrap = ".632+",
    n_resamples: int = 200,
    average: BootstrapAverage = "samples",
    stratify: bool = False,
    groups: Any = None,
    loss: LossLike = None,
    indices: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error by the bootstrap (out-of-bag, .632 or .632+).

    Each of `B` resamples, drawn with replacement, trains a model that predicts the samples left
    out. With `BI` the mean of these losses (out-of-bag) and `AE` the resubstitution error of one
    fit to all samples,

    .. math:: B_{.632} = 0.368\, AE + 0.632\, BI, \qquad B_{.632+} = (1 - w)\, AE + w\, BI .

    The weight `w` is at least 0.632 and increases with the relative overfitting.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    method : {"oob", ".632", ".632+"}, default=".632+"
        The estimate. "oob" is pessimistic, because a resample has only 63 % of the distinct
        samples. ".632" is optimistic if the estimator overfits.
    n_resamples : int, default=200
        Number `B` of resamples.
    average : {"samples", "bootstraps"}, default="samples"
        Definition of `BI`. "samples" averages the out-of-bag losses of each sample first (Efron's
        leave-one-out bootstrap). "bootstraps" averages the out-of-bag errors of the resamples.
    stratify : bool, default=False
        Whether to draw within each class, so that every resample has the same class sizes.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Whole groups are resampled.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    indices : int array-like of shape (n_resamples, n_samples), default=None
        Resamples to use instead of random ones. With `groups`, each must consist of whole groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples. Weights (``{"sample_weight": w}``) are
        used in the fits only. Losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses. Each step that
        accepts weights receives them unchanged. In the mean losses, only the ratios of weights
        matter. A weight is not a number of copies, so intervals count at most ``sum(w)^2 /
        sum(w^2)`` samples. The random draws ignore the weights.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. With the same seed, the
        first 100 of 200 resamples equal the resamples of a call with 100.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the resample,
        counts it and warns.

    Returns
    -------
    Estimate
        `replicates` contains the out-of-bag error of each resample. In `extra`, `resubstitution`
        is `AE`, `oob` is `BI`, `no_information` is :math:`\gamma`, `relative_overfitting` is `R`,
        and `weight` is the weight of the out-of-bag error. `n_redrawn` is the number of degenerate
        resamples that were drawn again.

    Raises
    ------
    ValueError
        If a class is too small to draw from, `n_resamples` < 1, `indices` are not resamples or
        split groups, or `stratify` is combined with `groups` or a regressor.
    TypeError
        If `sample_weight` is passed and a step of the estimator does not accept it. The message
        names the step.

    Notes
    -----
    :doc:`/user_guide/formulas` has the formulas, and :doc:`/validation` compares ".632+" with the
    methods of `error_interval`.

    Standard errors are computed with the infinitesimal jackknife [1]_ and corrected for the Monte
    Carlo noise of the resamples [2]_. For 0-1 loss, the interval is Wilson's, with the number of
    samples at which a proportion has this standard error. For squared and absolute loss, it is
    normal on the logarithmic scale. A resample that leaves out no sample, or contains only one
    class, is drawn again and counted.

    ".632" and ".632+" are far too low for models that fit any training set perfectly, such as
    forests and 1-nearest-neighbor. "oob" is too high if there are few samples per feature.

    ``mlxtend.evaluate.bootstrap_point632_score`` replaces `AE` by the error of each bootstrap
    model on all samples, so its .632 estimate is too large. If `BI` exceeds the no-information
    error, equation (32) of [1]_ keeps `BI` in the .632 part. This function replaces it throughout.

    References
    ----------
    .. [1] Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+
       bootstrap method. Journal of the American Statistical Association 92, 548-560.
       https://doi.org/10.1080/01621459.1997.10474007
    .. [2] Wager, S., Hastie, T. and Efron, B. (2014). Confidence intervals for random forests: the
       jackknife and the infinitesimal jackknife. Journal of Machine Learning Research 15,
       1625-1651.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import bootstrap_error
    >>> X, y = load_iris(return_X_y=True)
    >>> result = bootstrap_error(KNeighborsClassifier(n_neighbors=1), X, y, random_state=0)
    >>> result.extra.resubstitution, round(result.extra.oob, 3), round(result.value, 3)
    (0.0, 0.044, 0.029)
    """
    _checks.check_option("method", method, errors.METHODS)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    run |= {"loss": loss, "method": method, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, several=True, **run)
    _checks.check_option("average", average, ("samples", "bootstraps"))
    options: dict[str, Any] = {"average": average, "stratify": stratify, "indices": indices}
    # all three estimates share the fits, and only the requested one is returned
    runner, root = Runner(inputs), _checks.root_seed(random_state)
    return estimate_bootstraps(runner, root, n_resamples=n_resamples, **options)[method]


@_checks.in_order()
def bootstrap_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    method: ScoreBootstrap = ".632+",
    n_resamples: int = 200,
    stratify: bool = False,
    groups: Any = None,
    indices: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate | Results:
    r"""Estimate one or several scores by the bootstrap, from one set of fits.

    Each of `B` resamples, drawn with replacement, trains a model. Let `A` be the score on all
    samples of one fit to all samples. Let :math:`S^b_{in}` and :math:`S^b_{all}` be the scores of
    model `b` on its resample and on all samples. Harrell's correction [1]_ is

    .. math:: S_{optimism} = A - \frac1B \sum_b (S^b_{in} - S^b_{all}) .

    The other methods apply the methods of `bootstrap_error` [2]_ to scores. Larger is better,
    except for calibration.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``. Larger is better.
        "calibration_slope" and "calibration_intercept" are also supported for two classes. Their
        best values are 1 and 0 (see `calibration_measures`). None means "accuracy" for classifiers
        and "r2" for regressors.
    method : {"oob", ".632", ".632+", "optimism"}, default=".632+"
        The estimate. "oob" is `O`, the mean score on the samples outside the resamples.
    n_resamples : int, default=200
        Number `B` of resamples.
    stratify : bool, default=False
        Whether to draw within each class, so that every resample has the same class sizes.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Whole groups are resampled.
    indices : int array-like of shape (n_resamples, n_samples), default=None
        Resamples to use instead of random ones. With `groups`, each must consist of whole groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in every score, which must accept them.
        The random draws ignore the weights.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. The resamples are the
        same as in `bootstrap_error`.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the resample,
        counts it and warns.

    Returns
    -------
    Estimate or dict
        One estimate, or a dict with one for each name if there are several scores. In `extra`,
        `resubstitution` is `A`, `oob` is `O`, and `optimism` is the mean optimism.
        `no_information` is the score that labels and predictions would have if they were
        independent (nan for "optimism"). `replicates` contains the out-of-bag scores or, for
        "optimism", `A` minus the optimism of each resample.

    Raises
    ------
    ValueError
        If a class has fewer than two members, a name is not a score, or calibration is requested
        without probabilities of two classes.
    TypeError
        If `sample_weight` is passed and the estimator or a score does not accept it, or if a scorer
        returns several numbers.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for the out-of-bag samples of some resamples, such as an area under
        the ROC curve with one class. These resamples are ignored.

    See Also
    --------
    bootstrap_error : Estimates mean losses, with any loss of single samples.
    score_interval : Estimates scores by repeated cross-validation.

    Notes
    -----
    "accuracy", "neg_log_loss", "neg_brier_score", "neg_mean_squared_error" and
    "neg_mean_absolute_error" are means of losses. Except for "optimism", estimates, standard errors
    and intervals then equal those from `bootstrap_error` with the sign changed. Intervals of other
    scores are Student's t. They are computed on the log-odds scale for scores with two bounds, and
    on the logarithmic scale for scores with an upper bound. :doc:`/user_guide/formulas` has the
    standard errors [3]_, and :doc:`/validation` has the measured coverage.

    Do not use "optimism", ".632" or ".632+" for models that fit their training samples too
    closely, such as trees, forests and nearest neighbors. Use "oob" for them. "oob" is too low if
    there are few samples per feature.

    Functions ``scorer(estimator, X, y)`` receive the models, which are kept until all are scored.

    References
    ----------
    .. [1] Harrell, F. E., Lee, K. L. and Mark, D. B. (1996). Multivariable prognostic models:
       issues in developing models, evaluating assumptions and adequacy, and measuring and reducing
       errors. Statistics in Medicine 15, 361-387.
       :doi:`10.1002/(SICI)1097-0258(19960229)15:4<361::AID-SIM168>3.0.CO;2-4`
    .. [2] Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+
       bootstrap method. Journal of the American Statistical Association 92, 548-560.
       :doi:`10.1080/01621459.1997.10474007`
    .. [3] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skeval.model_selection import bootstrap_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> results = bootstrap_score(
    ...     model, X[:, :5], y, scoring=["roc_auc", "calibration_slope"], method="optimism",
    ...     random_state=0,
    ... )
    >>> print(results)
    roc_auc            0.9810 [0.9678, 0.9889] (95 %, log_odds), optimism
    calibration_slope  1.0917 [0.8214, 1.3619] (95 %, t), optimism
    >>> extra = results["roc_auc"].extra
    >>> round(extra.resubstitution, 4), round(extra.optimism, 4)
    (0.982, 0.0011)
    """
    _checks.check_option("method", method, (*errors.METHODS, OPTIMISM))
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    run |= {"with_loss": False, "method": method, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, several=True, **run)
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    # bad scores and sizes raise before any fit
    scores = _estimates.name_scores(scoring)
    scorers = {name: read_scorer(inputs, score) for name, score in scores.items()}
    _checks.check_count("n_resamples", n_resamples, 2)
    root = _checks.root_seed(random_state)
    units, plan = plan_bootstrap(inputs, root, n_resamples, stratify, indices)
    # means of losses have the estimates of bootstrap_error
    means = {name: score for name, score in scores.items() if method != OPTIMISM and score.mean}
    losses = dict(zip(means, _estimates.losses_of(inputs, means.values()), strict=True))

    # outputs that losses and scores require, or the models
    methods = {"predict", *(loss.response for loss in losses.values())}
    if any(isinstance(scorer, CalibrationScorer) for scorer in scorers.values()):
        methods.add("predict_proba")
    methods |= set(fit_request.methods_of_scorers(list(scorers.values()), inputs))
    note = keep_model if any(needs_model(inputs, each) for each in scorers.values()) else None
    request = fit_request.FitRequest(tuple(sorted(methods)), note=note)

    # one set of fits for all losses and scores; each model predicts all samples
    runner = Runner(inputs)
    whole = _estimates.fit_to_all(runner, request)
    tallies: list[LossTally | ScoreTally] = [
        LossTally(inputs.with_options(losses=(losses[name],)), units, whole, score)
        if name in losses
        else ScoreTally(inputs, units, whole, score, scorers[name], root)
        for name, score in scores.items()
    ]
    everything = np.ones((1, plan.n_samples), dtype=bool)
    predicting = replace(plan, draw=lambda draw: replace(plan.draw(draw), test=everything))
    counts = run_resamples(runner, predicting, tallies, request)
    estimates = [tally.estimate(method, plan, counts) for tally in tallies]
    if isinstance(scoring, list | tuple | set | dict):
        return Results(zip(scores, estimates, strict=True))
    return estimates[0]


def plan_bootstrap(
    inputs: Inputs,
    root: SeedSequence,
    n_resamples: int,
    stratify: bool = False,
    indices: Any = None,
) -> tuple[DrawingUnits, plans.ResamplingPlan]:
    """Return the units that are resampled, and a plan of fits to drawn or passed resamples."""
    target = inputs.target
    _checks.check_flag("stratify", stratify)
    # strata are classes, so numeric targets have none
    if stratify and target.classes is None:
        raise ValueError(
            f"stratify=True needs a classifier, got {type(inputs.estimator).__name__}. Several "
            "columns of y are not supported."
        )
    n_resamples = _checks.check_count("n_resamples", n_resamples)
    # resamples of samples, of samples in each class, or of groups
    plans.check_class_sizes(target.classes, target.codes)
    units = drawing_units(len(target), target.codes if stratify else None, inputs.groups)
    codes = None if target.classes is None else target.codes
    if indices is not None:
        return units, plans.plan_resamples(indices, units, codes)
    return units, plans.bootstrap_plan(units, n_resamples, root, target.classes, codes)


def run_resamples(
    runner: Runner,
    plan: plans.ResamplingPlan,
    tallies: Sequence[LossTally | ScoreTally],
    request: fit_request.FitRequest | None = None,
) -> Counts:
    """Fit each resample once for all losses and scores, and return the numbers of fits."""
    n_redrawn = n_failed = 0
    for block, output in runner.fits(plan, request):
        n_redrawn += block.n_redrawn
        n_failed += int(output.failed.sum())
        for tally in tallies:
            tally.add(block, output)
    n_fits = {"n_fits": plan.n_fits + 1, "n_resamples": plan.n_fits}
    return {**n_fits, "n_redrawn": n_redrawn, "n_failed": n_failed}


def estimate_bootstraps(
    runner: Runner, root: SeedSequence, n_resamples: int, average: str = "samples", **options: Any
) -> dict[str, Estimate]:
    """Return the out-of-bag, .632 and .632+ estimates of one set of fits."""
    units, plan = plan_bootstrap(runner.inputs, root, n_resamples, **options)
    tally = LossTally(runner.inputs, units, _estimates.fit_to_all(runner))
    counts = run_resamples(runner, plan, [tally])
    return {method: tally.estimate(method, plan, counts, average) for method in errors.METHODS}


def bootstrap(runner: Runner, root: SeedSequence, *, n_resamples: int = 200) -> Estimate:
    """Combine the out-of-bag and the training error, as `bootstrap_error`, with B + 1 fits."""
    _checks.check_count("n_resamples", n_resamples, 2)
    inputs = runner.inputs
    groups = inputs.units.unit if inputs.units.clustered else None
    # resample the counted units as groups
    numbered = runner.with_options(target=replace(inputs.target, groups=groups))
    return estimate_bootstraps(numbered, root, n_resamples=n_resamples)[inputs.method]


class LossTally:
    """Out-of-bag losses, sums over resamples for each sample, and means for each resample.

    Equations refer to Efron and Tibshirani (1997).
    """

    def __init__(
        self, inputs: Inputs, units: DrawingUnits, whole: FitOutput, named: NamedScore | None = None
    ) -> None:
        self.inputs, self.units, self.named = inputs, units, named
        n, weights = len(inputs.target), inputs.relative_weight
        # AE: losses of the fit to all samples on these samples
        self.pair = inputs.loss.pair(inputs.target, inputs.target.codes, whole)
        self.apparent = errors.weigh_values(inputs.loss(*self.pair), weights)
        self.odds = (1 if weights is None else weights) / units.left_out_probability
        self.sums, self.tests = np.zeros(n), np.zeros(n)
        self.errors: list[np.ndarray] = []
        self.scores: list[np.ndarray] = []

    def add(self, block: plans.PlanBlock, output: FitOutput) -> None:
        """Add the losses of the samples that each resample left out."""
        inputs = self.inputs
        # sums for each sample, and the mean of each resample
        losses = inputs.loss.of_output(inputs.target, block, output)
        losses[block.train > 0] = np.nan  # models of scores predict all samples
        counted = np.nan_to_num(losses)
        self.sums += counted.sum(axis=0)
        self.tests += np.isfinite(losses).sum(axis=0)
        self.errors.append(intervals.row_means(losses, inputs.relative_weight))
        self.scores.append(np.where(output.failed, np.nan, counted @ self.odds))

    def estimate(
        self, method: str, plan: plans.ResamplingPlan, counts: Counts, average: str = "samples"
    ) -> Estimate:
        """Return the estimate of the error, or of the score that is named."""
        inputs, units, weights = self.inputs, self.units, self.inputs.relative_weight
        # mean loss of each sample over the models that left it out, eq. (17); a sample in every
        # training set gets the mean of the others
        of_fits, tested = np.concatenate(self.errors), self.tests > 0
        sample_errors = np.divide(self.sums, self.tests, where=tested, out=np.zeros(len(tested)))
        of_tested = None if weights is None else weights[tested]
        sample_errors[~tested] = np.average(sample_errors[tested], weights=of_tested)
        # AE, BI, and gamma, eq. (27): mean loss over all pairs of a label and a prediction
        values = errors.weigh_values(sample_errors, weights) if average == "samples" else of_fits
        apparent, oob = float(self.apparent.mean()), float(np.nanmean(values))
        pairs = None if inputs.loss.name == "zero_one" else inputs.loss
        gamma, gamma_values = errors.no_information(*self.pair, pairs, weights)
        # eq. (24) for .632, eq. (29) to (32) for .632+
        combined = errors.combine(method, apparent, oob, gamma)
        # influence of each unit on AE, BI (infinitesimal jackknife, eq. (36) to (40)) and gamma
        drawn, scores = (block.train for block in plan.blocks()), np.concatenate(self.scores)
        error = errors.standard_error(
            combined.gradient,
            errors.sampling_influence(self.apparent, units),
            errors.out_of_bag_influence(sample_errors, scores, drawn, units, weights),
            errors.sampling_influence(gamma_values, units),
        )
        # effective number of samples, for the interval of an error rate
        n_tested = int(tested.sum())
        size = n_tested if of_tested is None else intervals.size_from_weights(of_tested)
        numbers = combined.error, error, size, units.n_groups
        estimate = _estimates.estimate_error(
            inputs.with_options(method=method),
            combined.error,
            error,
            of_fits,
            extra=BootstrapExtra,
            n_samples=n_tested,
            n_groups=units.n_groups,
            effective_n_samples=_estimates.size_of_rate(inputs, *numbers),
            degrees_of_freedom=np.inf if units.n_groups is None else units.n_groups - 1.0,
            resubstitution=apparent,
            oob=oob,
            no_information=gamma,
            relative_overfitting=combined.relative_overfitting,
            weight=combined.weight,
            parameters={"n_resamples": len(of_fits), "average": average},
            **counts,
        )
        if self.named is None or self.named.mean is None:
            return estimate
        # the score is the best value minus the loss
        parts = {"resubstitution": apparent, "oob": oob, "no_information": gamma}
        parts = {name: self.named.mean.best - part for name, part in parts.items()}
        extra = replace(estimate.extra, **parts)
        return _estimates.to_score(inputs, self.named, estimate, extra=extra)


@dataclass(frozen=True)
class CalibrationScorer:
    """Scorer of the intercept or slope of a logistic recalibration, for two classes."""

    position: int

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        # the second class is the event
        event = np.asarray(y == estimator.classes_[1])
        p = estimator.predict_proba(X)[:, 1]
        return float(find_recalibration(event, p, weight)[self.position])


def read_scorer(inputs: Inputs, score: NamedScore) -> Any:
    """Return a scorer. Raise an error if it cannot score this estimator, or use weights."""
    part = score.scoring
    # calibration is no scorer of scikit-learn
    if isinstance(part, str) and part in CALIBRATION:
        if inputs.target.n_classes != 2 or "predict_proba" not in inputs.responses:
            raise ValueError(
                f"scoring={part!r} needs two classes and an estimator with predict_proba, got "
                f"{inputs.target.n_classes} classes and {type(inputs.estimator).__name__}."
            )
        return CalibrationScorer(CALIBRATION.index(part))
    # any other scorer, which must accept the weights
    scorer = fit_request.know_classes(read_scoring(inputs.estimator, part), inputs.target.classes)
    fit_request.check_scorers(inputs, {score.label: scorer})
    function = metric_of_scorer(scorer)[0] if is_plain_scorer(scorer) else scorer
    if inputs.weight is not None and "sample_weight" not in signature(function).parameters:
        raise TypeError(
            f"scoring must accept sample_weight if it is passed, but {score.label!r} does not. "
            "params={'sample_weight': ...} weights only the fits."
        )
    return scorer


def keep_model(model: Any, X: Any, y: Any) -> Any:
    return model


def needs_model(inputs: Inputs, scorer: Any) -> bool:
    """Return whether a scorer may use more than the predictions of the model."""
    if isinstance(scorer, CalibrationScorer):
        return False
    return bool(inputs.target.outputs) or not is_plain_scorer(scorer)


class ScoreTally:
    """Scores of the predictions that the model of each resample made for all samples."""

    def __init__(
        self,
        inputs: Inputs,
        units: DrawingUnits,
        whole: FitOutput,
        named: NamedScore,
        scorer: Any,
        root: SeedSequence,
    ) -> None:
        self.inputs, self.units, self.whole = inputs, units, whole
        self.scorer, self.label, self.root = scorer, named.label, _checks.child_seed(root, 0)
        self.bounds = named.bounds(inputs.target.n_classes)
        self.needs_model = needs_model(inputs, scorer)
        self.scores: list[np.ndarray] = []
        # how often each sample was drawn, and the predictions for all samples, of some models
        self.pooled: list[tuple[np.ndarray, FitOutput]] = []
        self.n_pooled = N_POOLED if len(inputs.target) <= MANY else N_POOLED_OF_MANY
        # apparent score, of the model on its own training samples
        self.apparent = self.score(whole, np.arange(len(inputs.target)))
        if np.isnan(self.apparent) and inputs.method != "oob":
            raise ValueError(
                f"scoring {self.label!r} must be defined for the model of all samples on these "
                "samples, got nan. method='oob' does not use this score."
            )

    def add(self, block: plans.PlanBlock, output: FitOutput) -> None:
        """Score the models of some resamples, and keep the predictions of the first ones.

        Scores on the resample, on all samples and out of bag have the shape (n_fits, 3). The score
        on the resample is computed only for "optimism". Undefined scores are nan, for example the
        AUC of out-of-bag samples of one class.
        """
        scores = np.full((len(output), 3), np.nan)
        everything = np.arange(block.train.shape[1])
        for fit, of_fit in enumerate(output):
            if output.failed[fit]:
                continue
            # the resample, all samples, and the samples that were left out
            drawn = np.repeat(everything, block.train[fit])
            rows = (drawn, everything, np.flatnonzero(block.train[fit] == 0))
            for part in (0, 1, 2) if self.inputs.method == OPTIMISM else (1, 2):
                scores[fit, part] = self.try_score(of_fit, rows[part], trained=drawn)
            if not self.needs_model and len(self.pooled) < self.n_pooled:
                self.pooled.append((block.train[fit], of_fit))
        self.scores.append(scores)

    def score(
        self,
        output: FitOutput,
        rows: np.ndarray,
        samples: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        trained: np.ndarray | None = None,
    ) -> float:
        """Return the score of some rows of predictions. Rows may repeat.

        Labels and weights belong to `samples`, which is `rows` by default. `weight` replaces
        the weights. `trained` contains the training samples of the model.
        """
        inputs, target = self.inputs, self.inputs.target
        samples = rows if samples is None else samples
        y = safe_indexing(target.given, samples)
        if weight is None and inputs.relative_weight is not None:
            weight = inputs.relative_weight[samples]
        # scorers that do not accept weights get none
        arguments = {} if weight is None else {"sample_weight": weight}
        X: Any = rows
        # the model predicts if the scorer needs it, or else its stored outputs are used
        if self.needs_model:
            (model,) = output.notes or (None,)
            X, _ = safe_split(model, inputs.X, target.given, rows, trained)
        else:
            model = fit_request.StandIn.of_output(output, inputs.tags, target)
        # one number, nan if it is not finite
        score = self.scorer(model, X, y, **arguments)
        fit_request.check_one_number(self.label, score)
        return float(score) if np.isfinite(score) else np.nan

    def try_score(self, output: FitOutput, rows: np.ndarray, **options: Any) -> float:
        """Return a score, or nan if it is undefined."""
        with _checks.ignored_warnings(UserWarning):  # a summary counts undefined scores
            try:
                return self.score(output, rows, **options)
            except ValueError:
                return np.nan

    def score_unrelated(self) -> float:
        """Return the no-information score, over all pairs of a label and a prediction."""
        n, whole, weight = len(self.inputs.target), self.whole, self.inputs.relative_weight
        everything, rng = np.arange(n), np.random.default_rng(_checks.child_seed(self.root, 0))
        if self.needs_model:
            orders = [rng.permutation(n) for _ in range(N_PERMUTATIONS)]
            scores = [self.score(whole, everything, order, weight, everything) for order in orders]
            return float(np.mean(scores))
        # all pairs, or random permutations if there are too many
        rows, samples = np.repeat(everything, n), np.tile(everything, n)
        if n * n > MAX_PAIRS:
            orders = [rng.permutation(n) for _ in range(math.ceil(MAX_PAIRS / n))]
            rows, samples = np.tile(everything, len(orders)), np.concatenate(orders)
        pairs = None if weight is None else weight[rows] * weight[samples]
        return self.score(whole, rows, samples, pairs)

    def estimate(self, method: str, _: plans.ResamplingPlan, counts: Counts) -> Estimate:
        """Return the estimate from the scores of the fit to all samples and of resamples."""
        inputs, units, apparent = self.inputs, self.units, self.apparent
        inside, everywhere, outside = np.concatenate(self.scores).T
        # replicates of the estimate; undefined ones do not count
        replicates = apparent - (inside - everywhere) if method == OPTIMISM else outside
        _estimates.check_enough(inputs, replicates)
        n_undefined = int(np.isnan(replicates).sum())
        # failed fits have no score either, but this warning does not count them
        if n_undefined > counts["n_failed"]:
            _checks.warn_undefined(
                f"scoring {self.label!r} is undefined for {n_undefined - counts['n_failed']} of "
                f"{len(replicates)} resamples, which are left out."
            )
        oob = float(np.nanmean(outside)) if np.isfinite(outside).any() else np.nan
        if method == OPTIMISM:
            # Harrell et al. (1996): mean excess of the score on the resample over all samples
            gamma = weight = overfitting = np.nan
            value = float(np.nanmean(replicates))
        else:
            gamma = self.score_unrelated()
            # overfitting moves a calibration score toward its no-information value
            sign = 1.0 if self.label in CALIBRATION and gamma > apparent else -1.0
            combined = errors.combine(method, sign * apparent, sign * oob, sign * gamma)
            weight, overfitting = combined.weight, combined.relative_overfitting
            # the out-of-bag score may be defined where the apparent score is not
            value = oob if method == "oob" else sign * combined.error
        # standard error, and Student's t limits on a scale that keeps the score in its range
        error = self.measure_spread(everywhere, outside)
        limits = limit_score(value, error, units.n_units - 1.0, self.bounds)
        if "none" in limits:
            _checks.warn_undefined(
                f"scoring {self.label!r} is {value:.4g} and has no useful interval, because its "
                f"standard error is {error:.4g}."
            )
        return Estimate(
            name=self.label,
            value=value,
            standard_error=error,
            method=method,
            replicates=replicates,
            limits=limits,
            bounds=self.bounds,
            confidence_level=inputs.confidence_level,
            n_samples=len(inputs.target),
            n_groups=units.n_groups,
            extra=BootstrapExtra(
                resubstitution=apparent,
                oob=oob,
                no_information=gamma,
                relative_overfitting=overfitting,
                weight=weight,
                optimism=apparent - value if method == OPTIMISM else None,
                n_undefined=n_undefined,
                degrees_of_freedom=units.n_units - 1.0,
                parameters={"n_resamples": counts["n_resamples"]},
                **counts,
            ),
        )

    def measure_spread(self, everywhere: np.ndarray, outside: np.ndarray) -> float:
        """Return the standard error, from the variances of test sets and of models."""
        units = self.units
        inflation = errors.MIN_INFLATION + errors.SMALL_SAMPLE_INFLATION / units.n_units
        if self.needs_model:
            # the variance of out-of-bag scores, for a test set of n samples
            share = float(np.mean(units.left_out_probability))
            defined = outside[np.isfinite(outside)]
            return math.sqrt(inflation) * intervals.corrected_error(defined, share / (1 - share))
        models = np.var(everywhere[np.isfinite(everywhere)], ddof=1)
        return math.sqrt(inflation * self.jackknife(units.unit) ** 2 + models)

    def jackknife(self, unit: np.ndarray) -> float:
        """Return the standard error of the score of out-of-bag predictions of several models.

        The jackknife leaves out blocks of units, for all models at once.
        """
        n, pooled = len(unit), join_outputs([output for _, output in self.pooled])
        # out-of-bag samples of each model, as rows of the joined predictions
        fit, samples = np.nonzero(np.array([counts for counts, _ in self.pooled]) == 0)
        rows = fit * n + samples
        # units in at most N_BLOCKS blocks, in random order
        rng = np.random.default_rng(_checks.child_seed(self.root, 1))
        block = (rng.permutation(unit.max() + 1) % N_BLOCKS)[unit][samples]
        kept = [block != one for one in np.unique(block)]
        scores = np.array([self.try_score(pooled, rows[k], samples=samples[k]) for k in kept])
        # delete-a-block jackknife, corrected for samples that are always drawn
        defined = scores[np.isfinite(scores)]
        if len(defined) < 2:
            return np.nan
        variance = (len(defined) - 1) * float(np.var(defined))
        return math.sqrt(variance * len(np.unique(samples)) / n)


def limit_score(value: float, error: float, degrees: float, bounds: Limits) -> LimitsByMethod:
    """Return Student's t interval of a score, computed on a scale that keeps it in its range."""
    (low, high), precision = bounds, {"degrees_of_freedom": degrees}
    plain = {"t": partial(intervals.normal_interval, value, error, bounds=bounds, **precision)}
    if not np.isfinite([value, error]).all():
        return {"none": intervals.give_no_limits}
    # log-odds between two bounds, logarithms below one bound, so that limits are possible scores
    if np.isfinite(low) and low < value < high:
        span = high - low
        unit = partial(intervals.log_odds_interval, (value - low) / span, error / span, **precision)
        return {"log_odds": partial(intervals.stretch, low, span, unit), **plain}
    if np.isfinite(high) and value < high:
        # a distance from the best score has a useful upper limit, as a loss has
        if errors.is_too_wide(high - value, error, degrees):
            return {"none": intervals.give_no_limits}
        log = partial(intervals.log_interval, high - value, error, **precision)
        return {"log": partial(intervals.mirrored, high, log), **plain}
    return plain
