"""Splitters and scorers that resample the whole procedure, and the optimism of tuning.

The module contains the splitters, the score computed from their results, the scorers, the optimism
of the best score by nested cross-validation or from the results of a search, and the
one-standard-error rule.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from skeval._adapters.runner import Runner
from skeval._inference.estimate import Estimate
from skeval._inference.intervals import corrected_error, normal_interval
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import (
    Params,
    check_params,
    fit_arguments,
    last_step,
    list_receivers,
    validate_inputs,
)
from skeval._resampling.plans import bootstrap_plan, check_class_sizes, make_repeated_plan
from skeval._resampling.sampling_units import drawing_units
from skeval.metrics._scorers import get_scorer, range_of, read_scoring
from skeval.model_selection._bootstrap import ErrorBootstrap, bootstrap_error
from skeval.model_selection._interval_methods import error_interval
from skeval.model_selection._permutation import permutation_test
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike
from skeval.utils._compat import RoutedScorer, num_samples

Quantity = Literal["low", "high", "value", "standard_error"]

RESUBSTITUTION_SHARE = 0.368
RETURNED = "run cross_validate with return_estimator=True"


class BootstrapSplit(BaseCrossValidator):
    """Bootstrap splitter, which trains on a resample and tests on the samples not drawn.

    It is a scikit-learn cross-validator for the argument `cv`. The mean test score is the
    out-of-bag score. The training indices contain repeated samples. With the same seed, the
    resamples are the same as in `bootstrap_error`. Groups passed to `split` are drawn as a whole.

    Parameters
    ----------
    n_splits : int, default=200
        Number of resamples.
    stratify : bool, default=False
        Whether to draw within each class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.

    See Also
    --------
    score_632 : Returns the .632 estimate from the scores of such a split.
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
            Samples. Only their number matters.
        y : array-like of shape (n_samples,), default=None
            Labels. Every resample has at least two classes. Numeric targets are ignored.
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
        classes = codes = None
        if y is not None:
            assert_all_finite(y, input_name="y")
            # whole numbers may be a regression target, not many classes
            with _checks.ignored_warnings(UserWarning):
                kind = type_of_target(y)
            if kind in ("binary", "multiclass"):
                classes, codes = np.unique(_checks.check_y("y", y), return_inverse=True)
        if self.stratify:
            if codes is None:
                raise ValueError("stratify=True needs class labels in y, got none.")
            check_class_sizes(classes, codes)
        # the resamples of bootstrap_error
        units = drawing_units(n_samples, codes if self.stratify else None, groups)
        plan = bootstrap_plan(units, self.n_splits, self.random_state, classes, codes)
        everything = np.arange(n_samples)
        for block in plan.blocks():
            for counts, test in zip(block.train, block.test, strict=True):
                yield np.repeat(everything, counts), np.flatnonzero(test)


@_checks.in_order()
def score_632(
    results: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    metric: str = "score",
    params: Params = None,
) -> float:
    r"""Return the .632 estimate of a score from ``cross_validate(..., cv=BootstrapSplit())``.

    With :math:`B` the mean out-of-bag score of the resamples and `A` the resubstitution score,

    .. math:: score_{.632} = 0.368\, A + 0.632\, B .

    Parameters
    ----------
    results : dict
        Result of ``cross_validate`` with ``return_estimator=True``.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The samples. `A` is the score of a clone of the estimator, fitted to all samples.
    y : array-like of shape (n_samples,)
        Class labels or numeric target.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer. Larger is better. None means `metric`, or the
        estimator's own `score` if `metric` is "score".
    metric : str, default="score"
        Name of the score in `results`, that is, the part of "test_accuracy" after "test\_".
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.

    Returns
    -------
    float
        The estimate, in the unit and direction of the scores.

    Raises
    ------
    TypeError
        If `results` is not such a dict.
    ValueError
        If `results` lacks the scores or the estimators, or is not from `BootstrapSplit`. If a
        score is not finite.

    See Also
    --------
    bootstrap_error : The .632 estimate of a loss, with its standard error.
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
            f"results must be the dict that cross_validate returns, got {type(results).__name__}."
        )
    _checks.check_same_length(X=X, y=y)
    with _checks.naming("X"):
        check_params(params, num_samples(X))
    # out-of-bag scores
    name = f"test_{metric}"
    for part, remedy in {name: "metric= names another", "estimator": RETURNED}.items():
        if part not in results:
            raise ValueError(f"results must contain {part!r}, got {sorted(results)}; {remedy}.")
    outside = _checks.check_data(
        f"results[{name!r}]", results[name], ensure_2d=False, dtype=float, estimator="score_632"
    )
    # bootstrap resamples contain repeated samples, and training sets of folds do not
    for train in results.get("indices", {}).get("train", ()):
        if len(np.unique(train)) == len(train):
            raise ValueError(
                "results must be from cv=BootstrapSplit(), got training sets without repeats."
            )
    # apparent score of one fit to all samples
    if scoring is None and metric != "score":
        scoring = metric
    with _checks.naming("X", "y"):
        fitted = clone(results["estimator"][0]).fit(X, y, **(params or {}))
    apparent = float(read_scoring(fitted, scoring)(fitted, X, y))
    # 0.368 A + 0.632 B
    return RESUBSTITUTION_SHARE * apparent + (1 - RESUBSTITUTION_SHARE) * float(outside.mean())


class WholeSample:
    """Splitter with a single split that trains and tests on all samples.

    It is a scikit-learn cross-validator for the argument `cv`. Use it with scorers that resample
    the whole procedure themselves, that is, `make_bootstrap_scorer`, `make_permutation_scorer` and
    `make_interval_scorer`. Any other score, such as "accuracy", is then the score on the training
    samples and is optimistic.

    The scored estimator must include the feature selection. After a selection on all samples,
    these scorers are optimistic too. They raise an error if they score the same labels with fewer
    or more columns than before, as in `RFECV` and `SequentialFeatureSelector`. They cannot detect
    a selection before the first call.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import WholeSample, make_bootstrap_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scoring = {"error_632": make_bootstrap_scorer(".632", n_resamples=30, random_state=0)}
    >>> res = cross_validate(KNeighborsClassifier(), X, y, cv=WholeSample(), scoring=scoring)
    >>> res["test_error_632"].round(3).tolist()
    [-0.039]
    """

    def __repr__(self) -> str:
        return "WholeSample()"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, 1.

        Parameters
        ----------
        X, y, groups : object
            Ignored, as in scikit-learn.

        Returns
        -------
        int
        """
        return 1

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield all samples as training and as test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. Only their number matters.
        y : object
            Ignored.
        groups : None
            Must be None. Pass groups to the function that makes the scorer.

        Yields
        ------
        train, test : int ndarray

        Raises
        ------
        ValueError
            If `groups` are passed.
        """
        if groups is not None:
            raise ValueError(
                "groups must not be passed to WholeSample, which does not use them. Pass groups= "
                "to the function that makes the scorer."
            )
        everything = np.arange(num_samples(X))
        yield everything, everything.copy()


class UntrainedModelError(BaseException):
    """Error of a scorer whose model was not trained on all samples and columns that it scores.

    scikit-learn replaces every `Exception` of a scorer by ``error_score``, which is nan by
    default. A search whose scores are all nan chooses its first candidate. This error ends the
    search.
    """


@dataclass(eq=False, repr=False)
class ProcedureScorer(RoutedScorer):
    """Scorer ``scorer(estimator, X, y)`` that returns minus an attribute of a result."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    attribute: str
    last_scored: tuple[np.ndarray, tuple[int, ...]] | None = field(default=None, init=False)
    """The labels scored last, and the number of columns of X."""
    resamples: ClassVar[bool] = True

    def __repr__(self) -> str:
        return self.name

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"last_scored": None}

    @property
    def _scored_by(self) -> Callable[..., Any]:
        return self.function

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Return the score, from clones fitted to resamples of `X` and `y`."""
        # a model of other samples, or of selected columns, is refused
        options = self.options | metadata
        self._check_trained_on(estimator, X, y, options)
        # the same labels with another number of columns; RFECV passes fewer and fewer columns, and
        # sequential selectors pass more and more
        labels, shape = np.array(y), X.shape[1:] if hasattr(X, "shape") else np.shape(X[0])
        before = self.last_scored
        if before is not None and shape != before[1] and np.array_equal(before[0], labels):
            raise UntrainedModelError(
                f"X must have the same columns in every call of scoring={self.name}, got "
                f"{before[1][0]} in an earlier call with these labels and {shape[0]} in this one. "
                "If columns were selected using the labels, as in RFECV, the score is far too "
                "high. Put the selector in a pipeline and search over its number of features. If "
                "the labels were not used, make one scorer for each set of columns."
            )
        self.last_scored = labels, shape
        return -float(attrgetter(self.attribute)(self.function(clone(estimator), X, y, **options)))

    def _check_trained_on(self, model: Any, X: Any, y: Any, options: dict[str, Any]) -> None:
        """Raise an error unless the model responds to X like a clone fitted to X and y.

        A model whose fits differ among themselves cannot be compared, so the function warns. The
        score is computed from clones alone, so it leaks no information.
        """
        n = num_samples(X)
        weight, params, groups = (options.get(k) for k in ("sample_weight", "params", "groups"))
        if weight is not None:
            weight = _checks.check_weights("sample_weight", weight, n)
        # a clone fitted to these samples must respond alike
        arguments = fit_arguments(model, X, params, weight, groups, np.arange(n))
        twin = respond(clone(model).fit(X, y, **arguments), X)
        # groups of our estimators change their own error only
        grouped = [getattr(part, "_fit_groups", None) for _, part in list_receivers(model)]
        has_groups = groups is not None or "groups" in {k.rpartition("__")[2] for k in params or ()}
        known = has_groups or all(group is None for group in grouped)
        if known and same_responses(respond(model, X), twin):
            return
        # random fits differ by their seed; a clone continues from the state of a generator
        seeds = {
            f"{name} to an integer": value
            for name, value in model.get_params().items()
            if name.rpartition("__")[2] == "random_state" and not isinstance(value, Integral)
        }
        # a second clone shows whether fits to the same samples differ
        again = respond(clone(model).fit(X, y, **arguments), X)
        if any(seed is not None for seed in seeds.values()) or not same_responses(again, twin):
            _checks.warn_user(
                f"two fits of {type(model).__name__} to the same samples differ, so "
                f"scoring={self.name} cannot check that cv is WholeSample(). The score is for the "
                f"{n} samples that were passed. Set {next(iter(seeds), 'the seed of its fits')}."
            )
            return
        raise UntrainedModelError(
            f"Pass cv=WholeSample() for scoring={self.name}, because the model must be trained on "
            f"all {n} samples that are scored, but a clone fitted to them predicts differently. If "
            "the fit used sample_weight, groups or params, also pass them to the scorer. A halving "
            "search needs an integer random_state."
        )


def respond(model: Any, X: Any) -> np.ndarray:
    """Return the decision values, probabilities or predictions of a model, the first it has."""
    method = next(m for m in ("decision_function", "predict_proba", "predict") if hasattr(model, m))
    response = getattr(model, method)(X)
    return np.hstack(response) if isinstance(response, list) else np.asarray(response)


def same_responses(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two arrays are equal, up to a small fraction of the spread of numbers."""
    if first.shape != second.shape or first.dtype.kind != "f" or second.dtype.kind != "f":
        return np.array_equal(first, second)
    finite = second[np.isfinite(second)]
    spread = np.ptp(finite) if finite.size else 0.0
    return np.allclose(first, second, rtol=1e-12, atol=1e-6 * spread, equal_nan=True)


def make_scorer_of(
    name: str, function: Callable[..., Any], attribute: str, options: dict[str, Any]
) -> ProcedureScorer:
    """Return the scorer of a function. Raise an error if it has no such argument."""
    parameters = inspect.signature(function).parameters.keys()
    unknown = sorted(options.keys() - (parameters - {"estimator", "X", "y"}))
    if unknown:
        raise TypeError(f"{unknown[0]} is not an argument of {function.__name__}.")
    # one seed for all calls: candidates of a search are compared on the same resamples
    options["random_state"] = _checks.small_seed(options["random_state"])
    return ProcedureScorer(name, function, options, attribute)


def make_bootstrap_scorer(
    method: ErrorBootstrap = ".632+",
    *,
    n_resamples: int = 200,
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer:
    """Make a scorer that returns minus the bootstrap estimate of the error.

    The scorer fits clones of the estimator to resamples of the samples that it scores, so it
    requires ``cv=WholeSample()``. It first fits one clone to all these samples. If the clone and
    the scored model respond to them differently, it raises an error, which ends a search for any
    ``error_score``. This happens with other folds, and if the scorer lacks the groups, weights or
    other arguments of the fit. For a random estimator without an integer `random_state`, the
    comparison is impossible, so the scorer warns.

    Parameters
    ----------
    method : {"oob", ".632", ".632+"}, default=".632+"
        The estimate, as in `bootstrap_error`.
    n_resamples : int, default=200
        Number of resamples. Each requires one fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. If it is None or a
        generator, one seed is drawn when the scorer is made, so all candidates of a search use the
        same draws.
    **options : dict
        Other arguments of `bootstrap_error`, such as `loss`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float`` returns minus the estimated error, in [-1, 0] for 0-1
        loss. Larger is better. The score equals ``-bootstrap_error(...).value`` with the same
        seed. The scorer can be pickled.

    Raises
    ------
    ValueError
        If `method` is unknown or `n_resamples` < 1.
    TypeError
        If `bootstrap_error` has no such option.

    See Also
    --------
    bootstrap_error : The estimate with its standard error and interval.
    BootstrapSplit : The same resamples as a splitter.

    Notes
    -----
    The best score of a search is optimistic. `tuning_optimism` estimates the bias.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import WholeSample, make_bootstrap_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_bootstrap_scorer(n_resamples=30, random_state=0)
    >>> grid = {"n_neighbors": [1, 30, 120]}
    >>> search = GridSearchCV(KNeighborsClassifier(), grid, scoring=scorer, cv=WholeSample())
    >>> search.fit(X, y).best_params_
    {'n_neighbors': 1}
    >>> round(float(search.best_score_), 3)
    -0.028
    """
    _checks.check_option("method", method, get_args(ErrorBootstrap))
    n_resamples = _checks.check_count("n_resamples", n_resamples)
    options |= {"method": method, "n_resamples": n_resamples, "random_state": random_state}
    name = f"make_bootstrap_scorer({method!r})"
    return make_scorer_of(name, bootstrap_error, "value", options)


def make_interval_scorer(
    quantity: Quantity = "high", *, random_state: RandomStateLike = None, **options: Any
) -> ProcedureScorer:
    """Make a scorer that returns minus a limit of the confidence interval of the error.

    With ``quantity="high"``, a search chooses the model with the lowest upper limit of the error.
    The interval is computed by `error_interval`. The scorer requires ``cv=WholeSample()`` and the
    arguments of the fit, as described in `make_bootstrap_scorer`.

    Parameters
    ----------
    quantity : {"low", "high", "value", "standard_error"}, default="high"
        Lower limit, upper limit, estimated error, or its standard error.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. If it is None or a
        generator, one seed is drawn when the scorer is made, so all candidates of a search use the
        same draws.
    **options : dict
        Other arguments of `error_interval`, such as ``method="perturbation"``,
        `confidence_level`, `loss`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float`` returns minus the quantity. Larger is better. The
        score equals ``-error_interval(...).interval.high`` (or another quantity) with the same
        seed. The scorer can be pickled.

    Raises
    ------
    ValueError
        If `quantity` is unknown.
    TypeError
        If `error_interval` has no such option.

    See Also
    --------
    error_interval : All methods, with their measured coverage.

    Notes
    -----
    The coverage applies to a single model. After a search over many candidates, the coverage of
    the interval of the best one is below the nominal level.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import WholeSample, make_interval_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> options = {"n_repeats": 2, "random_state": 0}
    >>> scoring = {name: make_interval_scorer(name, **options) for name in ("low", "high")}
    >>> res = cross_validate(KNeighborsClassifier(), X, y, cv=WholeSample(), scoring=scoring)
    >>> bool(0 < -res["test_low"][0] < -res["test_high"][0] < 0.1)
    True
    """
    _checks.check_option("quantity", quantity, get_args(Quantity))
    attribute = f"interval.{quantity}" if quantity in ("low", "high") else quantity
    options["random_state"] = random_state
    name = f"make_interval_scorer({quantity!r})"
    return make_scorer_of(name, error_interval, attribute, options)


def make_permutation_scorer(
    scoring: Any = None,
    *,
    n_permutations: int = 1000,
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer:
    """Make a scorer that returns minus the P-value of a permutation test.

    The test is `permutation_test`. The whole procedure is repeated for every permutation of the
    labels. The scorer requires ``cv=WholeSample()`` and the arguments of the fit, as described in
    `make_bootstrap_scorer`.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Name from `get_scorer_names`, or a scorer. Larger is better. None means the `score` of the
        estimator.
    n_permutations : int, default=1000
        Number `P` of permutations.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. If it is None or a
        generator, one seed is drawn when the scorer is made, so all candidates of a search use the
        same draws.
    **options : dict
        Other arguments of `permutation_test`, such as `cv`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float`` returns minus the P-value, from -1 to ``-1/(P + 1)``.
        Larger is better. The score equals ``-permutation_test(...).pvalue`` with the same seed.
        The scorer can be pickled.

    Raises
    ------
    TypeError
        If `permutation_test` has no such option, or `scoring` has several scores.
    ValueError
        If `n_permutations` < 1, or `scoring` is an unknown name.

    See Also
    --------
    permutation_test : The test itself, with the null distribution.

    Notes
    -----
    Candidates of a search that score higher than on every permutation tie at ``-1/(P + 1)``, and
    the search selects the first of them. If all candidates are better than chance, search by the
    score itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import NearestCentroid
    >>> from skeval.model_selection import WholeSample, make_permutation_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> options = {"n_permutations": 99, "random_state": 0}
    >>> scoring = {"p": make_permutation_scorer("accuracy", **options)}
    >>> cross_validate(NearestCentroid(), X, y, cv=WholeSample(), scoring=scoring)["test_p"]
    array([-0.01])
    """
    _checks.check_single_score(scoring)
    if isinstance(scoring, str):
        get_scorer(scoring)  # an unknown name raises an error here, and not in the search
    n_permutations = _checks.check_count("n_permutations", n_permutations)
    options |= {"scoring": scoring, "random_state": random_state, "n_permutations": n_permutations}
    name = f"make_permutation_scorer(n_permutations={n_permutations})"
    return make_scorer_of(name, permutation_test, "pvalue", options)


@_checks.in_order()
def tuning_optimism(
    search: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the optimism of the best score of a search, by nested cross-validation.

    The best score of a search is optimistic, because it is the maximum over many settings. In each
    fold `j` of the outer cross-validation, the whole search runs on the training part and has the
    best mean score :math:`s_j`. Its tuned model has the score :math:`t_j` on the held-out samples.
    Then

    .. math:: optimism = \frac1J \sum_j (s_j - t_j) .

    Parameters
    ----------
    search : estimator
        `GridSearchCV`, `RandomizedSearchCV`, a halving search, or another search with the
        attributes `cv_results_`, `best_index_` and `best_params_`, or a pipeline that ends with a
        search.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    cv : int, splitter or iterable of (train, test), default=5
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together.
    n_repeats : int, default=1
        Number of repeats with newly shuffled folds. If it exceeds 1, `cv` must be an integer.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. For the inner folds, see
        `params`.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. The
        estimator is the search, so pass ``{"groups": groups}`` if it splits by groups.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit. Scores are not weighted.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
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
        Treatment of a failed search. "raise" raises the error. ``numpy.nan`` omits its fold,
        counts it and warns.

    Returns
    -------
    Estimate
        `value` is the optimism. In `extra`, `inner_score` and `nested_score` are the means of its
        two parts, and `inner_scores` and `nested_scores` contain one value for each fold of all
        repeats, nan if undefined. `settings` contains the chosen settings, the most frequent
        first, and `counts` the number of searches that chose each of them. `n_failed` is the
        number of searches that failed.

    Raises
    ------
    TypeError
        If `search` is not a search or a pipeline that ends with one.
    ValueError
        If the search does not refit, `cv` has only one fold, or `n_repeats` exceeds 1 and `cv` is
        not an integer.

    Warns
    -----
    UserWarning
        If the optimism exceeds two standard errors.
    UndefinedMetricWarning
        If a score is undefined in a fold, which is omitted, or is the same in all folds.

    See Also
    --------
    tuning_bias : Estimates the optimism without nested cross-validation.
    refit_one_se : Chooses the simplest model within one standard error of the best.

    Notes
    -----
    The search runs once on each training part. Inner models are trained on fewer samples than the
    model that is tested in the outer fold, so the optimism is smaller than the effect of selection
    alone.

    The interval is the corrected resampled t [1]_ over the folds of all repeats, as in
    `selection_bias`. It is for the mean optimism for samples of this size. Several repeats make it
    shorter. :doc:`/validation` has the measured coverage. If the optimism does not vary over the
    folds, the interval is nan, with a warning.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366
    .. [2] Cawley, G. C. and Talbot, N. L. C. (2010). On over-fitting in model selection and
       subsequent selection bias in performance evaluation. Journal of Machine Learning Research 11,
       2079-2107.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import tuning_optimism
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)  # nothing to find
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(range(1, 21, 2))}, cv=3)
    >>> result = tuning_optimism(search, X, y, random_state=0)
    >>> round(result.extra.inner_score, 3), round(result.extra.nested_score, 3)
    (0.65, 0.6)
    """
    # a search that refits, on each training part
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    run |= {"name": "search", "with_loss": False, "confidence_level": confidence_level}
    inputs = validate_inputs(search, X, y, several=True, **run)
    data = inputs.X, inputs.target, inputs.groups
    plan, _ = make_repeated_plan(cv, n_repeats, *data, random_state)

    # results of all searches, and the ratios of test to training
    searches: list[Searched] = []
    sizes: list[np.ndarray] = []
    request = FitRequest((), note=read_search)
    for block, output in Runner(inputs).fits(plan, request):
        searches += [note or NO_SEARCH for note in output.notes or [None] * len(output)]
        sizes += [block.test.sum(axis=1) / np.count_nonzero(block.train, axis=1)]
    result = summarize_searches(searches, float(np.mean(np.concatenate(sizes))), confidence_level)
    if result.value > 2 * result.standard_error:
        _checks.warn_user(
            "the best score of the search is optimistic, because it is the best of many settings. "
            f"It is {result.extra.inner_score:.3f} on average, but the tuned models score "
            f"{result.extra.nested_score:.3f} on held-out samples. Report the latter."
        )
    return result


class Searched(NamedTuple):
    """Result of a search on a training part.

    Attributes
    ----------
    inner, nested : float
        Best score of the search, and score of its model on the test part, or nan if undefined.
    setting : dict or None
        Chosen setting.
    width : float
        Largest possible difference between two scores.
    """

    inner: float
    nested: float
    setting: dict[str, Any] | None
    width: float = np.inf


NO_SEARCH = Searched(np.nan, np.nan, None)
"""Result of a failed search."""


def read_search(model: Any, X: Any, y: Any) -> Searched:
    """Return the result of a fitted search, or of a pipeline that ends with one."""
    search = last_step(model)
    if not all(hasattr(search, name) for name in ("cv_results_", "best_params_", "best_index_")):
        raise TypeError(
            "search must have cv_results_, best_index_ and best_params_ when it is fitted, or be "
            f"a pipeline that ends in such a search, got {type(search).__name__}."
        )

    # the refit metric: its name, or the name bound to its function
    refit, results = getattr(search, "refit", True), search.cv_results_
    metric: Any = "score"
    if getattr(search, "multimetric_", False):
        metric = refit.keywords.get("metric") if isinstance(refit, partial) else refit
    if not isinstance(metric, str) or f"mean_test_{metric}" not in results:
        raise ValueError(
            "search with several metrics must name one as refit, or bind it to `metric` with "
            f"functools.partial, got refit={refit!r}."
        )
    inner = float(results[f"mean_test_{metric}"][search.best_index_])
    # with several metrics and a function as `refit`, the search has no `score` method
    scorer = getattr(search, "scorer_", None)
    of_metric: Any = scorer[metric] if isinstance(scorer, Mapping) else scorer
    if isinstance(refit, str) or metric == "score":
        nested = model.score(X, y)
    else:
        scores = of_metric(model, X, y)
        nested = scores[metric] if isinstance(scores, Mapping) else scores
    # range of the score, which is the accuracy of classifiers by default
    is_accuracy = getattr(search, "scoring", "") is None and is_classifier(search)
    width = float(np.ptp(range_of("accuracy" if is_accuracy else of_metric)))
    return Searched(inner, float(nested), dict(search.best_params_), width)


def summarize_searches(folds: list[Searched], ratio: float, confidence_level: float) -> Estimate:
    """Return the optimism from the searches on training parts."""
    # folds with both scores
    inner, nested = np.array([(fold.inner, fold.nested) for fold in folds]).T
    defined = np.isfinite(inner) & np.isfinite(nested)
    if defined.sum() < 2:
        raise ValueError(
            f"search must have a score in at least two folds of cv, got {defined.sum()} of "
            f"{len(folds)}."
        )
    if not defined.all():
        _checks.warn_undefined(
            f"{np.sum(~defined)} of {len(folds)} folds have no score and are left out."
        )
    # mean difference, with the variance of overlapping training sets
    differences = inner[defined] - nested[defined]
    optimism, error = float(differences.mean()), corrected_error(differences, ratio)
    limits = partial(normal_interval, optimism, error, degrees_of_freedom=len(differences) - 1)
    width = min(fold.width for fold in folds)
    # chosen settings, the most frequent first
    chosen = [fold.setting for fold in folds if fold.setting is not None]
    by_text = {repr(sorted(setting.items())): setting for setting in chosen}
    counted = Counter(repr(sorted(setting.items())) for setting in chosen).most_common()
    return Estimate(
        name="optimism of tuning",
        value=optimism,
        standard_error=error,
        method="cross_validation",
        limits={"corrected_t": limits},
        bounds=(-width, width),
        replicates=differences,
        extra=TuningExtra(
            inner_score=float(inner[defined].mean()),
            nested_score=float(nested[defined].mean()),
            inner_scores=inner,
            nested_scores=nested,
            settings=tuple(by_text[text] for text, _ in counted),
            counts=np.array([n for _, n in counted]),
            n_failed=sum(fold is NO_SEARCH for fold in folds),
        ),
        confidence_level=confidence_level,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class TuningExtra:
    """Scores of a search. `tuning_optimism` describes the attributes."""

    inner_score: float
    nested_score: float
    inner_scores: np.ndarray = field(repr=False)
    nested_scores: np.ndarray = field(repr=False)
    settings: tuple[dict[str, Any], ...]
    counts: np.ndarray = field(repr=False)
    n_failed: int


def read_split_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of the candidates of a search, shape (n_splits, n_candidates).

    They are nan if a fit failed. They are also nan for candidates of the earlier rounds of a
    halving search, because these use fewer samples.
    """
    if not isinstance(cv_results, Mapping):
        raise TypeError(
            "cv_results must be the table of a fitted search, its cv_results_, got "
            f"{type(cv_results).__name__}."
        )
    # scores by split and candidate
    columns: list[np.ndarray] = []
    while f"split{len(columns)}_test_{metric}" in cv_results:
        columns.append(cv_results[f"split{len(columns)}_test_{metric}"])
    if len(columns) < 2:
        raise ValueError(
            f"cv_results must have scores of at least two splits for the metric {metric!r}, got "
            f"{len(columns)}."
        )
    scores = _checks.check_data("cv_results", columns, dtype=float, ensure_all_finite=False)
    # a candidate with a failed fit cannot be compared
    scores = np.where(np.isfinite(scores).all(axis=0), scores, np.nan)
    # earlier rounds of a halving search used fewer samples
    if "iter" in cv_results:
        rounds = np.asarray(cv_results["iter"])
        scores = np.where(rounds == rounds.max(), scores, np.nan)
    if np.isnan(scores).all():
        raise ValueError(f"cv_results must have a candidate with {metric!r} in all splits.")
    return scores


@_checks.in_order()
def tuning_bias(cv_results: Mapping[str, Any], *, metric: str = "score") -> float:
    r"""Estimate the optimism of the best score of a search from its results, without new fits.

    With :math:`s_k(\lambda)` the score of candidate :math:`\lambda` in fold `k` of `K`, and
    :math:`\hat\lambda` the candidate with the best mean score,

    .. math:: bias = \frac1K \sum_k \big( \max_\lambda s_k(\lambda) - s_k(\hat\lambda) \big) .

    This is the estimate of Tibshirani and Tibshirani [1]_. It compares the best candidate of each
    fold with the candidate chosen over all folds. It is never negative. The best score minus the
    bias estimates the score of the tuned model.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search with split scores. Larger is better.
    metric : str, default="score"
        Name of the metric if the search has several.

    Returns
    -------
    bias : float
        The bias, in the unit of the score.

    Raises
    ------
    TypeError
        If `cv_results` is not a dict, for example because it is the search itself.
    ValueError
        If `cv_results` lacks the metric, or has fewer than two splits.

    See Also
    --------
    tuning_optimism : Nested estimate of the same quantity, with an interval.

    Notes
    -----
    Candidates that failed in a fold are omitted, as are all but the last round of a halving
    search. With few settings, the estimate is about half of the nested estimate
    (:doc:`/validation`).

    References
    ----------
    .. [1] Tibshirani, R. J. and Tibshirani, R. (2009). A bias correction for the minimum error rate
       in cross-validation. The Annals of Applied Statistics 3, 822-829.
       https://doi.org/10.1214/08-AOAS224

    Examples
    --------
    >>> from skeval.model_selection import tuning_bias
    >>> results = {"split0_test_score": [0.9, 0.8, 0.7], "split1_test_score": [0.6, 0.8, 0.9]}
    >>> round(tuning_bias(results), 6)  # the last is best on average: 0.9 - 0.7 and 0.9 - 0.9
    0.1
    """
    scores = read_split_scores(cv_results, metric)
    # best score of each split, less that of the chosen candidate
    best = int(np.nanargmax(scores.mean(axis=0)))
    return float(np.mean(np.nanmax(scores, axis=1) - scores[:, best]))


@_checks.in_order()
def refit_one_se(
    cv_results: Mapping[str, Any],
    *,
    complexity: Callable[[dict[str, Any]], Any] | None = None,
    metric: str = "score",
) -> int:
    """Return the index of the simplest candidate within one standard error of the best.

    Use it as the argument `refit` of a search. It is the one-standard-error rule of Breiman et al.
    [1]_. The standard error belongs to the mean split score of the best candidate, that is, the
    standard deviation of its split scores divided by the square root of their number.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search.
    complexity : callable, default=None
        ``complexity(params)`` returns a number or a tuple, smaller for simpler candidates. None
        assumes that the grid is ordered from the simplest to the most complex candidate. Pass it
        with `functools.partial`.
    metric : str, default="score"
        Name of the metric if the search has several. Pass it with `functools.partial`.

    Returns
    -------
    int
        Index in ``cv_results["params"]``. If candidates are equally simple, the better score
        decides.

    Raises
    ------
    ValueError
        If `cv_results` lacks the metric, or has fewer than two splits.

    Notes
    -----
    The example of scikit-learn uses `std_test_score`, the standard deviation of single splits, as
    the standard error. It therefore chooses even simpler models.

    References
    ----------
    .. [1] Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J. (1984). Classification and
       Regression Trees. Wadsworth, section 3.4.3.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import refit_one_se
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid, rule = {"n_neighbors": [1, 3, 5, 9, 15, 25]}, KNeighborsClassifier()
    >>> GridSearchCV(rule, grid).fit(X, y).best_params_
    {'n_neighbors': 9}
    >>> smoothest = partial(refit_one_se, complexity=lambda params: -params["n_neighbors"])
    >>> GridSearchCV(rule, grid, refit=smoothest).fit(X, y).best_params_
    {'n_neighbors': 25}
    """
    if complexity is not None and not callable(complexity):
        raise ValueError(f"complexity must be None or a function of params, got {complexity!r}.")
    scores = read_split_scores(cv_results, metric)
    means = scores.mean(axis=0)
    best = int(np.nanargmax(means))
    # candidates within one standard error of the best
    error = np.std(scores[:, best], ddof=1) / np.sqrt(len(scores))
    close = np.flatnonzero(means >= means[best] - error - (1e-12 * abs(means[best]))).tolist()
    if complexity is None:
        return close[0]
    # the simplest; ties are broken by the score, then by position
    params = cv_results["params"]
    return min(close, key=lambda at: (complexity(params[at]), -means[at], at))
