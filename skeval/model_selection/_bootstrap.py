"""The bootstrap: out-of-bag error, .632 and .632+; a splitter; models selected by .632."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from skeval._adapters.fits import fit_plan
from skeval._inference.errors import (
    METHODS,
    combine,
    no_information,
    out_of_bag_influence,
    sampling_influence,
    standard_error,
    weigh_values,
)
from skeval._inference.estimate import BootstrapExtra, Estimate
from skeval._inference.intervals import row_means
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import Params, count_effective
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.losses import LossLike
from skeval._resampling.plans import (
    PlanBlock,
    ResamplingPlan,
    bootstrap_plan,
    check_class_sizes,
    plan_resamples,
)
from skeval._resampling.sampling_units import DrawingUnits, drawing_units
from skeval.metrics._scorers import read_scoring
from skeval.model_selection._estimates import estimate_error, fit_to_all, size_of_error
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike, ignored_warnings
from skeval.utils._compat import MetadataRequester, num_samples
from skeval.utils._options import BootstrapAverage, ErrorBootstrap, ErrorScore


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
    r"""Estimate the error by the bootstrap: out-of-bag, .632 or .632+.

    Each of `B` resamples, drawn with replacement, trains a model that predicts the samples it left
    out. With `BI` the mean of their losses (out-of-bag) and `AE` the resubstitution error of one
    fit to all samples,

    .. math:: B_{.632} = 0.368\, AE + 0.632\, BI, \qquad B_{.632+} = (1 - w)\, AE + w\, BI .

    The weight `w` is at least 0.632 and increases with the relative overfitting.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns are several labels or numbers of each sample.
    method : {"oob", ".632", ".632+"}, default=".632+"
        The estimate. "oob" is pessimistic (it trains on 63 % of the distinct samples), ".632"
        optimistic when the estimator overfits.
    n_resamples : int, default=200
        Number `B` of resamples.
    average : {"samples", "bootstraps"}, default="samples"
        `BI` is the mean over samples of their out-of-bag loss (Efron's leave-one-out bootstrap), or
        the mean over resamples of the error on the samples that each left out.
    stratify : bool, default=False
        Draw within each class, so that every resample keeps the class sizes.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Whole groups are resampled.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    indices : int array-like of shape (n_resamples, n_samples), default=None
        Use these resamples instead of drawing any; with `groups` they must draw whole groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples. Weights (``{"sample_weight": w}``) are
        used in the fits only; losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses. Each step that
        accepts weights receives them unchanged; in the mean losses only their ratios matter. A
        weight is not a number of copies: intervals count at most ``sum(w)^2 / sum(w^2)`` samples.
        Samples are drawn without regard to them.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. The first 100 of 200
        resamples are the 100 of the same seed.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise the error, or leave out the resample, count it and warn.

    Returns
    -------
    Estimate
        `replicates` holds the out-of-bag error of each resample. In `extra`, `resubstitution` is
        `AE`, `oob` is `BI`, `no_information` is :math:`\gamma`, `relative_overfitting` is `R`,
        `weight` is the weight of the out-of-bag error, and `n_redrawn` is the number of degenerate
        resamples that were drawn again.

    Raises
    ------
    ValueError
        If a class is too small to draw from, `n_resamples` < 1, `indices` are not resamples or
        split groups, or `stratify` is combined with `groups` or a regressor.
    TypeError
        If `sample_weight` is passed and a step of the estimator does not accept it; the step is
        named.

    Notes
    -----
    :doc:`/user_guide/formulas` has the formulas and :doc:`/validation` the measured coverage.

    Standard errors come from the infinitesimal jackknife [1]_, corrected for the Monte Carlo noise
    of the finite number of resamples [2]_. The interval is Wilson's for 0-1 loss, with the number
    of samples at which a proportion has this standard error, and normal on the logarithmic scale
    for squared and absolute loss. A resample that leaves nothing out, or has one class only, is
    drawn again and counted.

    ".632" and ".632+" are far too low for models that fit any training set perfectly, such as
    forests and 1-nearest-neighbor. "oob" is too high with few samples per feature.

    ``mlxtend.evaluate.bootstrap_point632_score`` uses the error of each bootstrap model on all
    samples in place of `AE`, which makes its .632 estimate too large. If `BI` exceeds the
    no-information error, equation (32) of [1]_ keeps `BI` in the .632 part; here it is replaced
    throughout.

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
    _checks.check_option("method", method, METHODS)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"confidence_level": confidence_level}
    per_sample = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(
        estimator, X, y, loss=loss, method=method, several=True, **per_sample, **run
    )
    _checks.check_option("average", average, ("samples", "bootstraps"))
    estimates = estimate_bootstraps(
        inputs,
        _checks.root_seed(random_state),
        n_resamples=n_resamples,
        average=average,
        stratify=stratify,
        indices=indices,
    )
    return estimates[method]


def plan_bootstrap(
    inputs: Inputs,
    root: SeedSequence,
    n_resamples: int,
    *,
    stratify: bool = False,
    indices: Any = None,
) -> tuple[DrawingUnits, ResamplingPlan]:
    """Return the units that are resampled, and a plan of fits to drawn or passed resamples."""
    target = inputs.target
    _checks.check_flag("stratify", stratify)
    if stratify and target.classes is None:
        several = " with several columns of y" if target.outputs else ""
        raise ValueError(
            f"stratify=True needs a classifier, got {type(inputs.estimator).__name__}{several}."
        )
    n_resamples = _checks.check_count("n_resamples", n_resamples)
    check_class_sizes(target.classes, target.codes)
    units = drawing_units(len(target), target.codes if stratify else None, inputs.groups)
    codes = None if target.classes is None else target.codes
    if indices is not None:
        return units, plan_resamples(indices, units, codes)
    return units, bootstrap_plan(units, n_resamples, root, target.classes, codes)


def estimate_bootstraps(
    inputs: Inputs,
    root: SeedSequence,
    *,
    n_resamples: int = 200,
    average: str = "samples",
    **options: Any,
) -> dict[str, Estimate]:
    """Return the out-of-bag, .632 and .632+ estimates of one set of fits."""
    units, plan = plan_bootstrap(inputs, root, n_resamples, **options)
    tally = LossTally(inputs, units)
    counts = run_resamples(inputs, plan, [tally])
    # no estimate is defined without the fit to all samples
    whole = fit_to_all(inputs.with_options(error_score="raise"))
    return {
        method: tally.estimate(method, plan, whole, counts, average=average) for method in METHODS
    }


class Tally(Protocol):
    """One loss or score: what the loop keeps of the predictions of each resample's model."""

    def add(self, block: PlanBlock, output: FitOutput) -> None:
        """Take in the predictions of the models of some resamples."""


def run_resamples(
    inputs: Inputs,
    plan: ResamplingPlan,
    tallies: Sequence[Tally],
    request: FitRequest | None = None,
) -> dict[str, int]:
    """Fit each resample once for all losses and scores, and return the numbers of fits."""
    n_redrawn = n_failed = 0
    for block, output in fit_plan(inputs, plan, request):
        n_redrawn += block.n_redrawn
        n_failed += int(output.failed.sum())
        for tally in tallies:
            tally.add(block, output)
    n_fits = {"n_fits": plan.n_fits + 1, "n_resamples": plan.n_fits}
    return {**n_fits, "n_redrawn": n_redrawn, "n_failed": n_failed}


class LossTally:
    """Out-of-bag losses: sums over resamples for each sample, and means for each resample.

    Equations refer to Efron and Tibshirani (1997).
    """

    def __init__(self, inputs: Inputs, units: DrawingUnits) -> None:
        self.inputs, self.units = inputs, units
        n, weights = len(inputs.target), inputs.relative_weight
        self.odds = (1 if weights is None else weights) / units.left_out_probability
        self.sums, self.tests = np.zeros(n), np.zeros(n)
        self.errors: list[np.ndarray] = []
        self.scores: list[np.ndarray] = []

    def add(self, block: PlanBlock, output: FitOutput) -> None:
        """Add the losses of the samples that each resample left out."""
        inputs = self.inputs
        losses = inputs.loss.of_output(inputs.target, *choose_left_out(block, output))
        counted = np.nan_to_num(losses)
        self.sums += counted.sum(axis=0)
        self.tests += np.isfinite(losses).sum(axis=0)
        self.errors.append(row_means(losses, inputs.relative_weight))
        self.scores.append(np.where(output.failed, np.nan, counted @ self.odds))

    @property
    def sample_errors(self) -> np.ndarray:
        """The mean loss of each sample; for an untested sample, the mean of the others."""
        tested = self.tests > 0
        means = np.divide(self.sums, self.tests, where=tested, out=np.zeros(len(tested)))
        means[~tested] = means[tested].mean()
        return means

    def estimate(
        self,
        method: str,
        plan: ResamplingPlan,
        whole: FitOutput,
        counts: dict[str, int],
        *,
        average: str = "samples",
    ) -> Estimate:
        """Return the estimate from the out-of-bag losses and the fit to all samples."""
        inputs, units = self.inputs, self.units
        target, loss, weights = inputs.target, inputs.loss, inputs.relative_weight

        # AE: error of this fit on its own samples
        truth, predictions = loss.pair(target, target.codes, whole)
        losses = weigh_values(loss(truth, predictions), weights)
        apparent = float(losses.mean())

        # BI, eq. (17): mean over samples of the error of the models that left the sample out
        errors, sample_errors = np.concatenate(self.errors), self.sample_errors
        values = weigh_values(sample_errors, weights) if average == "samples" else errors
        oob = float(np.nanmean(values))

        # gamma, eq. (27): mean loss over all pairs of a label and a prediction
        pairs = None if loss.name == "zero_one" else loss
        gamma, gamma_values = no_information(truth, predictions, pairs, weights)

        # eq. (24) for .632, eq. (29) to (32) for .632+
        combined = combine(method, apparent, oob, gamma)

        # influence of each unit on AE, BI (infinitesimal jackknife, eq. (36) to (40)) and gamma
        drawn = (block.train for block in plan.blocks())
        scores = np.concatenate(self.scores)
        error = standard_error(
            combined.gradient,
            sampling_influence(losses, units),
            out_of_bag_influence(sample_errors, scores, drawn, units, weights),
            sampling_influence(gamma_values, units),
        )
        tested = self.tests > 0
        size = int(tested.sum()) if weights is None else count_effective(weights[tested])
        return estimate_error(
            inputs.with_options(method=method),
            combined.error,
            error,
            errors,
            extra=BootstrapExtra,
            n_samples=int(tested.sum()),
            n_groups=units.n_groups,
            effective_n_samples=size_of_error(inputs, combined.error, error, size, units.n_groups),
            degrees_of_freedom=np.inf if units.n_groups is None else units.n_groups - 1.0,
            resubstitution=apparent,
            oob=oob,
            no_information=gamma,
            relative_overfitting=combined.relative_overfitting,
            weight=combined.weight,
            parameters={"n_resamples": len(errors), "average": average},
            **counts,
        )


def choose_left_out(block: PlanBlock, output: FitOutput) -> tuple[PlanBlock, FitOutput]:
    """Return the predictions of the out-of-bag samples of models that may have predicted more."""
    left_out = block.train == 0
    if np.array_equal(block.test, left_out):
        return block, output
    kept = left_out[output.mask]
    return replace(block, test=left_out), FitOutput(
        left_out,
        output.failed,
        None if output.predicted is None else output.predicted[kept],
        probability=None if output.probability is None else output.probability[kept],
    )


def bootstrap(inputs: Inputs, root: SeedSequence, *, n_resamples: int = 200) -> Estimate:
    """Combine the out-of-bag and the training error, as `bootstrap_error`: B + 1 fits."""
    _checks.check_count("n_resamples", n_resamples, 2)
    groups = None if inputs.units.n_groups is None else inputs.units.unit
    numbered = inputs.with_options(target=replace(inputs.target, groups=groups))
    return estimate_bootstraps(numbered, root, n_resamples=n_resamples)[inputs.method]


class BootstrapSplit(MetadataRequester):
    """Bootstrap splitter: trains on a resample and tests on the samples not drawn.

    A scikit-learn cross-validator for ``cv=``. The mean test score is the out-of-bag score. The
    training indices repeat samples. With the same seed, the resamples are those of
    `bootstrap_error`. Groups passed to `split` are drawn as a whole.

    Parameters
    ----------
    n_splits : int, default=200
        Number of resamples.
    stratify : bool, default=False
        Draw within each class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.

    See Also
    --------
    score_632 : The .632 estimate of the scores of such a split.
    make_bootstrap_scorer : Model selection by the .632 estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import BootstrapSplit, score_632
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = BootstrapSplit(50, random_state=0)
    >>> res = cross_validate(KNeighborsClassifier(), X, y, cv=cv, return_estimator=True)
    >>> round(float(res["test_score"].mean()), 3), round(score_632(res, X, y), 3)
    (0.961, 0.963)
    """

    # scikit-learn passes groups to this splitter, with metadata routing and without
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self, n_splits: int = 200, *, stratify: bool = False, random_state: RandomStateLike = None
    ) -> None:
        _checks.check_flag("stratify", stratify)
        self.n_splits: int = _checks.check_count("n_splits", n_splits)
        self.stratify = stratify
        self.random_state = random_state

    def __repr__(self) -> str:
        names = ("n_splits", "stratify", "random_state")
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({values})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Ignored, as in scikit-learn.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the training indices, with repetitions, and the test indices of each resample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; only their number matters.
        y : array-like of shape (n_samples,), default=None
            Labels; every resample has at least two classes. Targets of regression are ignored.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient. Whole groups are resampled.

        Yields
        ------
        train, test : int ndarray

        Raises
        ------
        ValueError
            If lengths differ, `y` or `groups` contain nan, or every resample has one class or
            leaves no sample out.
        """
        _checks.check_same_length(X=X, y=y, groups=groups)
        n_samples = num_samples(X)
        classes, codes = _encode_classes(y)
        if self.stratify:
            if codes is None:
                raise ValueError("stratify=True needs class labels in y.")
            check_class_sizes(classes, codes)
        units = drawing_units(n_samples, codes if self.stratify else None, groups)
        plan = bootstrap_plan(units, self.n_splits, self.random_state, classes, codes)
        everything = np.arange(n_samples)
        for block in plan.blocks():
            for counts, test in zip(block.train, block.test, strict=True):
                yield np.repeat(everything, counts), np.flatnonzero(test)


def _encode_classes(y: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    if y is None:
        return None, None
    assert_all_finite(y, input_name="y")
    # Whole numbers may be a regression target, not many classes.
    with ignored_warnings(UserWarning):
        kind = type_of_target(y)
    if kind not in ("binary", "multiclass"):
        return None, None
    return np.unique(_checks.check_y("y", y), return_inverse=True)


RESUBSTITUTION_SHARE = 0.368


def score_632(
    results: Mapping[str, Any],
    X: Any = None,
    y: Any = None,
    *,
    scoring: Any = None,
    metric: str = "score",
    params: Params = None,
) -> float:
    r"""Return the .632 estimate of a score from ``cross_validate(..., cv=BootstrapSplit())``.

    With :math:`B` the mean out-of-bag score of the resamples, `A` the resubstitution score,

    .. math:: score_{.632} = 0.368\, A + 0.632\, B .

    Parameters
    ----------
    results : dict
        The dict that ``cross_validate`` returned, run with ``return_estimator=True`` or
        ``return_train_score=True``.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), default=None
        The samples. With them, `A` is exact: the score of a clone of the estimator, fitted to all
        samples. Without them, `A` is approximated by the mean score of the estimators on their own
        resamples, without another fit.
    y : array-like of shape (n_samples,), default=None
        The labels or numbers.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. Only with `X`. None means
        `metric`, or the estimator's own `score` for a `metric` of "score".
    metric : str, default="score"
        Name of the score in `results`: the part of "test_accuracy" after "test\_".
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Only
        with `X`.

    Returns
    -------
    float
        In the unit and direction of the scores.

    Raises
    ------
    TypeError
        If `results` is not such a dict.
    ValueError
        If `results` lacks the scores, or the required estimators or training scores, or is not from
        `BootstrapSplit`; if a score is not finite; or if only one of `X` and `y` is passed.

    See Also
    --------
    bootstrap_error : The same for a loss, with its standard error.
    make_bootstrap_scorer : The estimate as a scorer.

    Notes
    -----
    The mean of ``results["test_score"]`` is the out-of-bag score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import BootstrapSplit, score_632
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = BootstrapSplit(50, random_state=0)
    >>> res = cross_validate(KNeighborsClassifier(), X, y, cv=cv, return_estimator=True)
    >>> round(score_632(res, X, y), 3)
    0.963
    """
    if not isinstance(results, Mapping):
        raise TypeError(
            f"results must be the dict of cross_validate, got {type(results).__name__}."
        )
    if (X is None) != (y is None):
        raise ValueError("X and y must be given both or not at all.")
    for name, value in {"scoring": scoring, "params": params}.items():
        if X is None and value is not None:
            raise ValueError(f"{name} must be None without X and y, got {value!r}.")
    outside = read_scores(results, f"test_{metric}")
    for train in results.get("indices", {}).get("train", ()):
        if len(np.unique(train)) == len(train):
            raise ValueError(
                "results must be from cv=BootstrapSplit(), got training samples without repeats."
            )
    if X is None:
        hint = "return_train_score=True, or give X and y"
        apparent = float(read_scores(results, f"train_{metric}", hint).mean())
    else:
        if "estimator" not in results:
            raise ValueError("results must hold estimators: run with return_estimator=True.")
        if scoring is None and metric != "score":
            scoring = metric
        fitted = clone(results["estimator"][0]).fit(X, y, **(params or {}))
        apparent = float(read_scoring(fitted, scoring)(fitted, X, y))
    return RESUBSTITUTION_SHARE * apparent + (1 - RESUBSTITUTION_SHARE) * float(outside.mean())


def read_scores(
    results: Mapping[str, Any], name: str, remedy: str = "metric= names another"
) -> np.ndarray:
    """Return a vector of scores from the dict of ``cross_validate``."""
    if name not in results:
        raise ValueError(f"results must hold {name!r}, got {sorted(results)}; {remedy}.")
    scores: np.ndarray = _checks.check_data(
        f"results[{name!r}]", results[name], ensure_2d=False, dtype=float, estimator="score_632"
    )
    return scores
