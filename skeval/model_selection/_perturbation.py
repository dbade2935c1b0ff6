"""A confidence interval of the error by perturbation resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from skeval._inference.draws import DRAWN, check_enough_draws, limits_of_draws
from skeval._inference.estimate import Estimate
from skeval._inference.proportions import list_forms
from skeval._resampling.fits import Outputs, fit_plan
from skeval._resampling.folds import Folds, fold_plan, resolve_folds
from skeval._resampling.plan import PlanBlock, ResamplingPlan, concatenate_blocks, whole_plan
from skeval._resampling.target import Loss, LossLike, Target
from skeval._resampling.task import Task, read_task
from skeval._resampling.weights import (
    Params,
    check_takes_weights,
    mean_of_tested,
    weight_parameters,
)
from skeval.model_selection._estimates import Outcome, Settings, conclude, find_error
from skeval.utils._checks import (
    check_confidence_level,
    check_count,
    check_option,
    check_weights,
    warn_user,
)
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import write_number

__all__ = ["find_perturbed", "make_weighted_plan", "perturbation_interval"]

STATISTICS = ("resubstitution", "cross_validation")

Draw = Callable[[int], np.ndarray]


def perturbation_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 1000,
    statistic: str = "cross_validation",
    interval: str | None = None,
    confidence_level: float = 0.95,
    cv: Any = 10,
    groups: Any = None,
    loss: LossLike = None,
    weights: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> Estimate:
    r"""Return a confidence interval of the error by perturbation resampling.

    The fit is repeated under random sample weights :math:`G_i`, independent of the data, with mean
    and variance 1; for a support vector machine that minimises
    :math:`\sum_i G_i \{(1 - y_i f(x_i))_+ + \lambda w'w\}` [1]_. With :math:`e_i` the loss of
    sample `i`, :math:`\hat\theta` the fit without weights and :math:`\theta^*` that under weights,

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i(\theta^*) - AE(\hat\theta) \}

    imitates the deviation of the error from its estimate (``statistic="resubstitution"``, that of
    [1]_). ``statistic="cross_validation"``, which is not in [1]_, runs the cross-validation again
    under the weights, which enter training and evaluation:

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i^{CV}(\theta^*) - CV \} .

    With :math:`se = sd(W^*)/\sqrt n` and :math:`q_u` the quantiles of `W*`, the interval around the
    cross-validated error `CV` is

    - "wilson", for 0-1 loss: Wilson's interval of the proportion `CV` of
      :math:`\min(n, CV(1-CV)/se^2)` samples, of `n` where `CV` is 0 or 1,
    - "log", for squared and absolute loss: :math:`CV \exp(\mp z_{1-a/2}\, se/CV)`,
    - "normal": :math:`CV \mp z_{1-a/2}\, se`,
    - "pivotal": :math:`[CV - q_{1-a/2}/\sqrt n,\; CV - q_{a/2}/\sqrt n]`,
    - "symmetric": :math:`CV \mp q_{1-a}(|W^*|)/\sqrt n`,
    - "quantile": :math:`CV \mp q_{1-a/2}/\sqrt n`, as some notes print it; for comparison only,

    clipped to the range of the loss. The first two do not leave it, and are the default.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor whose `fit` takes `sample_weight`, or a pipeline that ends in
        one; within a pipeline every step that takes weights is given them.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    n_resamples : int, default=1000
        Number of perturbations.
    statistic : {"cross_validation", "resubstitution"}, default="cross_validation"
        What is perturbed. The default takes as many fits again as there are folds, and is the one
        whose coverage was measured to hold; see Notes.
    interval : str, default=None
        Form of the interval: one of the above, or for 0-1 loss another that `cross_val_error` has;
        None is "wilson" for 0-1 loss, "log" for squared and absolute loss, "normal" for a loss of
        your own.
    confidence_level : float, default=0.95
        Nominal coverage.
    cv : int, splitter or iterable of (train, test), default=10
        Folds, as in `cross_val_error`; repeated splitters are averaged for each sample.
    groups : array-like of shape (n_samples,), default=None
        Groups for the splitter.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    weights : array-like of shape (n_resamples, n_samples), default=None
        Use these perturbations `G` instead of drawing them from the exponential distribution.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, other than weights, as ``cross_validate`` of
        scikit-learn takes them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples themselves; they multiply `G` in training and evaluation.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds and perturbations.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave it out and warn; a repetition of which no
        fit is left has no draw.

    Returns
    -------
    Estimate
        `value` is the cross-validated error, `replicates` are its perturbations,
        ``CV + W*/sqrt(n)``, which can be read again at another level or in another form; `details`
        has "statistics" (`W*`), "statistic", "resubstitution" (error of the fit on all samples on
        those samples), "loss" and "n_resamples".

    Raises
    ------
    TypeError
        If the estimator does not take `sample_weight`; the step is named.
    ValueError
        If `weights` are negative, all zero in a row or of the wrong shape; if there are too few
        perturbations for the quantile asked; if `interval` does not fit the loss; if classes are
        more than two and the loss is not 0-1.

    Warns
    -----
    UserWarning
        If the resubstitution error is below half the cross-validated one: `W*` degenerates when
        the estimator overfits, and ``statistic="cross_validation"`` is the one to use.

    Notes
    -----
    The theory of [1]_, for "resubstitution", is that of many samples and few features. On
    simulated data (two Gaussian classes, 50 to 200 samples, 5 to 200 features, 400 sets each)
    the nominal 95 % interval "normal" covered the error of the fitted rule in 0 to 94 %, in more
    than 90 % only with 100 samples or more and 5 weakly separated features. With
    "cross_validation" it covered in 94 to 99 % where there were at least five samples for each
    feature and the class means three standard deviations apart at most, but in 83 to 93 % where
    there were as many features as samples or more. The user guide has the table.

    Where classes are easy few errors are seen, or none, and "normal" falls short of all that: it
    is the reason for "wilson". Coverage of the error of the fitted rule by nominal 95 % intervals,
    mean width in parentheses (linear discriminant analysis of two Gaussian classes whose means are
    `d` standard deviations apart in one of `p` features, 10 folds, 100 perturbations; 300 data
    sets for p = 4, 200 for p = 15):

    ===  ==  ===  =====  ===========  ===========  ===========  ===========
    n    p   d    error  CV           CV           training     training
                         normal       wilson       normal       wilson
    ===  ==  ===  =====  ===========  ===========  ===========  ===========
    40   4   4    .031   .91 (.10)    .99 (.17)    .62 (.05)    .97 (.13)
    100  4   4    .026   .91 (.06)    .95 (.09)    .79 (.05)    .93 (.07)
    40   4   2.5  .126   .95 (.25)    .97 (.28)    .80 (.15)    .92 (.20)
    100  4   2.5  .113   .96 (.15)    .98 (.15)    .89 (.12)    .95 (.13)
    40   4   1.2  .309   .98 (.40)    .99 (.37)    .89 (.26)    .93 (.27)
    100  4   1.2  .291   .97 (.23)    .98 (.22)    .93 (.18)    .95 (.18)
    40   15  4    .069   .98 (.21)    .93 (.31)    .14 (.02)    .88 (.17)
    100  15  4    .036   .97 (.09)    .95 (.14)    .59 (.03)    .92 (.08)
    40   15  2.5  .193   .95 (.36)    .95 (.37)    .34 (.06)    .86 (.24)
    100  15  2.5  .136   .98 (.20)    .98 (.20)    .67 (.08)    .92 (.13)
    40   15  1.2  .372   .99 (.43)    .99 (.40)    .56 (.14)    .91 (.28)
    100  15  1.2  .323   .99 (.27)    1.00 (.26)   .84 (.15)    .91 (.18)
    ===  ==  ===  =====  ===========  ===========  ===========  ===========

    "wilson" with "resubstitution" is never shorter than Wilson's interval of `n` independent
    samples, and where the fit separates the classes it is that interval.

    A fit depends on the ratios of the weights only: they are divided by their mean over the
    training samples. Notes that print :math:`W^* = n^{1/2} \sum_i G_i |y_i - f(x_i)|` lack the
    centring and have a factor `n` too much; that quantity has no limit.

    References
    ----------
    .. [1] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning Research
       9, 521-540.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skeval.model_selection import perturbation_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = perturbation_interval(RidgeClassifier(), X, y, n_resamples=50, random_state=0)
    >>> result.interval.low < result.value < result.interval.high
    True
    """
    check_confidence_level(confidence_level)
    check_takes_weights(estimator)
    task = read_task(
        estimator,
        X,
        y,
        groups=groups,
        loss=loss,
        sample_weight=sample_weight,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
        method="perturbation",
    )
    fold_root, draw_root = root_seed(random_state).spawn(2)
    forms, asked = (*list_forms(task.loss.name), *DRAWN), f"interval of {task.loss.name!r} loss"
    form = check_option(asked, forms[0] if interval is None else interval, forms)
    folds = resolve_folds(cv, task.X, task.target, task.groups, np.random.default_rng(fold_root))
    settings = {"n_resamples": n_resamples, "statistic": statistic, "weights": weights}
    shown: dict[str, Any] = {"form": form, "confidence_level": confidence_level}
    outcome = find_perturbed(task, folds, draw_root, settings, **shown)
    return conclude(task, outcome, **shown)


def find_perturbed(
    task: Task,
    folds: Folds,
    root: np.random.SeedSequence,
    settings: Settings,
    *,
    form: str = "normal",
    confidence_level: float = 0.95,
) -> Outcome:
    """Return the error over folds, with the spread of it or of the training error.

    It raises where there are too few draws for a form of interval.
    """
    statistic = settings.get("statistic", "cross_validation")
    loss, target, n = task.loss, task.target, len(task.target)
    check_loss(loss, target)
    check_params_without_weights(task)
    check_option("statistic", statistic, STATISTICS)
    sample_weight = np.ones(n) if task.weight is None else task.weight
    n_resamples, draw = choose_draws(settings.get("weights"), settings["n_resamples"], root, n)
    check_enough_draws(n_resamples, confidence_level, form)
    plans = {"resubstitution": whole_plan(n), "cross_validation": fold_plan(n, folds)}

    def losses(base: ResamplingPlan, n_repetitions: int, draw: Draw) -> Iterator[np.ndarray]:
        plan = make_weighted_plan(base, n_repetitions, draw, sample_weight)
        return compute_mean_losses(task, fit_plan(task, plan), plan.fits_per_repetition)

    errors, sizes = {}, {}
    for name, base in plans.items():
        (plain,) = losses(base, 1, lambda _: np.ones(n))
        tested = np.isfinite(plain[0])
        errors[name] = mean_of_tested(plain[0][tested], sample_weight[tested])
        sizes[name] = compute_effective_size(sample_weight[tested])
    perturbed = losses(plans[statistic], n_resamples, draw)
    statistics = compute_statistics(perturbed, draw, sample_weight, errors[statistic])
    error, apparent = errors["cross_validation"], errors["resubstitution"]
    if statistic == "resubstitution" and apparent < error / 2:
        warn_of_overfitting(apparent, error)
    check_enough_draws(len(statistics), confidence_level, form)
    deviations = statistics / np.sqrt(n)
    spread = float(np.std(statistics, ddof=1) / np.sqrt(n))
    found = find_error(error, spread, error + deviations, sizes["cross_validation"], loss=loss.name)
    details = {
        "statistic": statistic,
        "resubstitution": apparent,
        "statistics": statistics,
        "n_resamples": len(statistics),
    }
    forms = {name: partial(limits_of_draws, error, deviations, form=name) for name in DRAWN}
    n_fits = sum(base.n_fits for base in plans.values()) + n_resamples * plans[statistic].n_fits
    return Outcome([found._replace(forms=forms, details=details)], n_fits)


def check_params_without_weights(task: Task) -> None:
    """Raise where weights among the arguments of `fit` would take the place of the perturbed."""
    weights = weight_parameters(task.estimator, np.ones(len(task.target)))
    twice = sorted(weights.keys() & (task.params or {}).keys())
    if twice:
        raise ValueError(
            f"params must not hold {twice[0]!r}, which is perturbed; give sample_weight= for it."
        )


def check_loss(loss: Loss, target: Target) -> None:
    """Raise when a loss of numbers is asked of more than two classes."""
    of_numbers = loss.response == "predict" and loss.name != "zero_one"
    if of_numbers and target.classes is not None and len(target.classes) > 2:
        raise ValueError(
            "loss must be 'zero_one', 'log_loss' or 'brier' for more than two classes, got "
            f"{loss.name!r} for {len(target.classes)} classes."
        )


def compute_effective_size(weights: np.ndarray) -> float:
    """Return ``(sum w)^2 / sum w^2``, how many samples of equal weight say as much."""
    relative = weights / weights.max()  # The square of a weight may overflow.
    return float(relative.sum() ** 2 / np.sum(relative**2))


def choose_draws(
    weights: Any, n_resamples: int, root: np.random.SeedSequence, n_samples: int
) -> tuple[int, Draw]:
    """Return how many weightings there are, and what gives each.

    Weights that are not given are drawn, with mean and variance 1.
    """
    if weights is None:
        n_resamples = check_count("n_resamples", n_resamples)
        return n_resamples, lambda r: repetition_rng(root, r).exponential(size=n_samples)
    given = check_weights("weights", weights, "n_resamples", n_samples)
    return len(given), given.__getitem__


def make_weighted_plan(
    base: ResamplingPlan, n_resamples: int, draw: Draw, sample_weight: np.ndarray
) -> ResamplingPlan:
    """Repeat all fits of a plan under each of the perturbations.

    The weights are divided by their mean over the training samples, so that the penalty of the fit
    is perturbed with its loss.
    """
    fits = concatenate_blocks([base.draw(r) for r in range(base.n_repetitions)])
    sizes = fits.train.sum(axis=1, keepdims=True)

    def draw_weighted(repetition: int) -> PlanBlock:
        perturbed = fits.train * draw(repetition)
        perturbed *= sample_weight * (sizes / perturbed.sum(axis=1, keepdims=True))
        return PlanBlock(perturbed, fits.test)

    return ResamplingPlan(base.n_samples, n_resamples, draw_weighted, len(fits), weighted=True)


def compute_mean_losses(
    task: Task, outputs: Outputs, fits_per_repetition: int
) -> Iterator[np.ndarray]:
    """Yield the mean loss of each sample in each repetition, nan where it is never tested."""
    for block, output in outputs:
        losses = task.loss.of_output(task.target, block, output)
        losses = losses.reshape(-1, fits_per_repetition, len(task.target))
        tests = np.isfinite(losses).sum(axis=1)
        with np.errstate(invalid="ignore"):
            yield np.nansum(losses, axis=1) / tests


def compute_statistics(
    losses: Iterable[np.ndarray], draw: Draw, sample_weight: np.ndarray, error: float
) -> np.ndarray:
    """Return ``W* = n^(-1/2) sum_i G_i {e_i - error}`` of each repetition.

    Where `m` samples alone are tested, the sum over them is multiplied by ``n / m``: `W*` over the
    root of `n` stays their mean. Repetitions of which all fits failed are left out.
    """
    statistics: list[float] = []
    for repetition, row in enumerate(chain.from_iterable(losses)):
        tested = np.isfinite(row)
        if not tested.any():
            continue
        share = sample_weight[tested] / sample_weight[tested].mean()
        perturbation = draw(repetition)[tested] * share
        total = perturbation @ (row[tested] - error)
        statistics.append(float(total * np.sqrt(len(row)) / tested.sum()))
    return np.array(statistics)


def warn_of_overfitting(apparent: float, error: float) -> None:
    """Say that the resubstitution statistic has degenerated."""
    warn_user(
        f"the resubstitution error ({write_number(apparent)}) is below half the cross-validated "
        f"error ({write_number(error)}): the estimator overfits and the interval is too short; use "
        "statistic='cross_validation'."
    )
