"""Scorers that resample the whole procedure, and the splitter for them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from operator import attrgetter
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier

from skeval._inference.errors import METHODS
from skeval.metrics._scorers import read_scoring
from skeval.model_selection._bootstrap import bootstrap_error
from skeval.model_selection._error_interval import error_interval
from skeval.model_selection._permutation import draw_orders, permutation_result, permutation_test
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import RoutedScorer, ScoredFold, num_samples, scored_fold


class WholeSample:
    """Splitter with one split: all samples for training and all for testing.

    A scikit-learn cross-validator for ``cv=``, for scorers that resample the whole procedure
    themselves: `make_bootstrap_scorer`, `make_permutation_scorer` and `make_interval_scorer`. Any
    other score, such as "accuracy", is the score on the training samples and is optimistic.

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
            Samples; only their number matters.
        y : object
            Ignored.
        groups : None
            Must be None: pass groups to the function that makes the scorer.

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
                "groups must not be passed to WholeSample, which would not keep them together; "
                "pass groups= to the function that makes the scorer."
            )
        everything = np.arange(num_samples(X))
        yield everything, everything.copy()


@dataclass(eq=False, repr=False)
class ProcedureScorer(RoutedScorer):
    """Scorer ``scorer(estimator, X, y)`` that returns minus an attribute of a result."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    attribute: str

    def __repr__(self) -> str:
        return self.name

    @property
    def _scored_by(self) -> Callable[..., Any]:
        return self.function

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Return the score, from clones fitted to resamples of `X` and `y`."""
        options, fold = self.options | metadata, scored_fold(X)
        if fold is not None:
            self.check_fold(fold, options)
        result = self.function(clone(estimator), X, y, **options)
        return -float(attrgetter(self.attribute)(result))

    def check_fold(self, fold: ScoredFold, options: dict[str, Any]) -> None:
        """Raise unless all samples are scored, and the scorer has all arguments of the fit."""
        if set(fold.train) != set(fold.test):
            raise ValueError(
                f"cv must be WholeSample() for scoring={self.name}, which resamples the samples "
                f"that it scores; got a split with {len(fold.train)} training and "
                f"{len(fold.test)} test samples, of which it would see the test samples only."
            )
        requested = self.get_metadata_routing().score.requests
        refused = [name for name, request in requested.items() if request is False]
        accepted = {*options, *(options.get("params") or {}), *refused}
        for name, value in fold.fit_params.items():
            argument = name.rpartition("__")[2]
            if value is not None and not accepted & {name, argument}:
                own = argument in inspect.signature(self.function).parameters
                remedy = f"{argument}=" if own else f"params={{{name!r}: ...}}"
                raise ValueError(
                    f"params must not hold {name!r} alone: the fits of scoring={self.name} would "
                    f"not use it; pass {remedy} to the function that makes the scorer, too."
                )


def make_scorer_of(
    name: str, function: Callable[..., Any], attribute: str, **options: Any
) -> ProcedureScorer:
    """Return the scorer of a function; raise if it has no such argument."""
    parameters = inspect.signature(function).parameters.keys()
    unknown = sorted(options.keys() - (parameters - {"estimator", "X", "y"}))
    if unknown:
        raise TypeError(f"{unknown[0]} is no argument of {function.__name__}.")
    # one seed for all calls: candidates of a search are compared on the same resamples
    options["random_state"] = _checks.small_seed(options["random_state"])
    return ProcedureScorer(name, function, options, attribute)


def make_bootstrap_scorer(
    method: str = ".632+",
    *,
    n_resamples: int = 200,
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer:
    """Make a scorer that returns minus the bootstrap estimate of the error.

    The scorer fits clones of the estimator to resamples of the samples that it scores, so it
    requires ``cv=WholeSample()``. With other folds it raises an error, which `cross_validate` turns
    into nan with a warning unless ``error_score="raise"``. It also raises if `cross_validate`
    passes groups, weights or other arguments to `fit` that it does not have itself.

    Parameters
    ----------
    method : {"oob", ".632", ".632+"}, default=".632+"
        The estimate, as in `bootstrap_error`.
    n_resamples : int, default=200
        Number of resamples, each of which takes one fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples. None and generators draw one seed when the scorer is made, so all
        candidates of a search use the same resamples.
    **options : dict
        Other arguments of `bootstrap_error`, such as `loss`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float``, minus the estimated error, in [-1, 0] for 0-1 loss;
        larger is better. It equals ``-bootstrap_error(...).value`` with the same seed, and can be
        pickled.

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
    The best score of a search is optimistic; `tuning_optimism` estimates the bias.

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
    _checks.check_option("method", method, METHODS)
    return make_scorer_of(
        f"make_bootstrap_scorer({method!r})",
        bootstrap_error,
        "value",
        method=method,
        n_resamples=_checks.check_count("n_resamples", n_resamples),
        random_state=random_state,
        **options,
    )


QUANTITIES = {
    "value": "value",
    "low": "interval.low",
    "high": "interval.high",
    "standard_error": "standard_error",
}
"""Attributes of an `Estimate` by the name of the quantity."""


def make_interval_scorer(
    quantity: str = "high", *, random_state: RandomStateLike = None, **options: Any
) -> ProcedureScorer:
    """Make a scorer that returns minus a limit of the confidence interval of the error.

    With ``quantity="high"`` a search chooses the model with the lowest upper limit of the error.
    The interval comes from `error_interval`. The scorer requires ``cv=WholeSample()`` and the
    arguments of the fit, as in `make_bootstrap_scorer`.

    Parameters
    ----------
    quantity : {"low", "high", "value", "standard_error"}, default="high"
        Lower limit, upper limit, estimated error, or its standard error.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. None and generators draw one seed when the scorer is made.
    **options : dict
        Other arguments of `error_interval`, such as ``method="perturbation"``,
        `confidence_level`, `loss`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float``, minus the quantity; larger is better. It equals
        ``-error_interval(...).interval.high`` (or another quantity) with the same seed, and can be
        pickled.

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
    Coverage holds for a single model. After a search over many candidates, the interval of the best
    one covers its error less often than the nominal level.

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
    _checks.check_option("quantity", quantity, QUANTITIES)
    return make_scorer_of(
        f"make_interval_scorer({quantity!r})",
        error_interval,
        QUANTITIES[quantity],
        random_state=random_state,
        **options,
    )


def make_permutation_scorer(
    scoring: Any = None,
    *,
    n_permutations: int = 1000,
    refit: bool = True,
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer | FixedRuleScorer:
    """Make a scorer that returns minus the P-value of a permutation test.

    With ``refit=True`` the test is `permutation_test`: the whole procedure is repeated for every
    permutation of the labels. It requires ``cv=WholeSample()`` and the arguments of the fit, as in
    `make_bootstrap_scorer`. With ``refit=False`` the fitted model is kept, and only the labels of
    the scored samples are permuted. This tests whether *this model* predicts *these labels* better
    than chance. The samples must not have trained the model, so it requires ordinary folds.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        The score, as in `permutation_test`.
    n_permutations : int, default=1000
        Number `P` of permutations.
    refit : bool, default=True
        Whether the procedure is fitted again to permuted labels.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. None and generators draw one seed when the scorer is made.
    **options : dict
        With ``refit=True`` other arguments of `permutation_test`, such as `cv`, `groups` or
        `n_jobs`; ``refit=False`` has none.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float``, minus the P-value, from -1 to ``-1/(P + 1)``; larger
        is better. With ``refit=True`` it equals ``-permutation_test(...).pvalue`` with the same
        seed. It can be pickled.

    Raises
    ------
    TypeError
        If `permutation_test` has no such option, an option is passed with ``refit=False``, or
        `scoring` has several scores.
    ValueError
        If `n_permutations` < 1; when called, if the folds are not as described above, or the score
        of the observed labels is undefined.

    See Also
    --------
    permutation_test : The test itself, with the null distribution.

    Notes
    -----
    P-values of the folds of one cross-validation are dependent: neither their mean nor their
    minimum is a P-value.

    Candidates of a search that beat every permutation tie at ``-1/(P + 1)``, and the first of them
    is selected. Use the score itself for the search if all candidates are better than chance.

    Outside of scikit-learn's folds, ``refit=False`` fits a clone to the scored samples and raises
    an error if it equals the model, which was then trained on them. Estimators with random fits
    require a `random_state` for this. The check cannot detect a model that was trained on only some
    of the samples, or with sample weights.

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
    >>> scorer = make_permutation_scorer("accuracy", refit=False, **options)
    >>> cross_validate(NearestCentroid(), X, y, cv=3, scoring=scorer)["test_score"]
    array([-0.01, -0.01, -0.01])
    """
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be a single score, a name or a callable, got {scoring!r}; make a scorer "
            "for each score."
        )
    _checks.check_flag("refit", refit)
    n_permutations = _checks.check_count("n_permutations", n_permutations)
    name = f"make_permutation_scorer(n_permutations={n_permutations}, refit={refit})"
    if refit:
        return make_scorer_of(
            name,
            permutation_test,
            "pvalue",
            scoring=scoring,
            n_permutations=n_permutations,
            random_state=random_state,
            **options,
        )
    if options:
        raise TypeError(f"{min(options)} is no argument for refit=False, which runs no folds.")
    return FixedRuleScorer(name, scoring, n_permutations, _checks.small_seed(random_state))


@dataclass(eq=False, repr=False)
class FixedRuleScorer(RoutedScorer):
    """Scorer ``(estimator, X, y) -> -P`` of a fitted model on samples that did not train it."""

    name: str
    scoring: Any
    n_permutations: int
    random_state: int

    def __repr__(self) -> str:
        return self.name

    @property
    def _scored_by(self) -> Callable[..., Any]:
        return permutation_test

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Return minus the P-value of the predictions for `X` under permutation of `y`."""
        y = _checks.check_y("y", y)
        if is_classifier(estimator) and not hasattr(estimator, "classes_"):
            raise ValueError("estimator must be fitted for refit=False; fit it, or use refit=True.")
        check_held_out(estimator, X, y)
        score = read_scoring(estimator, self.scoring)
        rule = RememberedRule(estimator, X)
        groups = metadata.pop("groups", None)
        draw = draw_orders(y, groups, _checks.root_seed(self.random_state)).orders
        observed = float(score(rule, X, y, **metadata))
        if np.isnan(observed):
            raise ValueError("scoring must be defined on the observed labels, got nan.")
        null = [float(score(rule, X, y[draw(r)], **metadata)) for r in range(self.n_permutations)]
        return -permutation_result("score", observed, np.array(null), None).pvalue


RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class RememberedRule:
    """A fitted estimator that computes its responses to some samples only once."""

    def __init__(self, estimator: Any, X: Any) -> None:
        self.estimator, self.X = estimator, X
        self.responses: dict[str, np.ndarray] = {}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.estimator, name)
        if name not in RESPONSES:
            return attribute

        @wraps(attribute)  # scikit-learn reads the name
        def respond(X: Any) -> np.ndarray:
            if X is not self.X:
                return attribute(X)
            if name not in self.responses:
                self.responses[name] = attribute(X)
            return self.responses[name]

        return respond

    def score(self, X: Any, y: Any, **metadata: Any) -> float:
        """Return the score of the estimator's own method, on the remembered responses."""
        return type(self.estimator).score(self, X, y, **metadata)


def check_held_out(estimator: Any, X: Any, y: np.ndarray) -> None:
    """Raise if the samples trained the estimator."""
    fold = scored_fold(X)
    if fold is not None:
        n_both = np.isin(fold.test, fold.train).sum()
        if n_both:
            raise ValueError(
                "cv must hold samples out for make_permutation_scorer(refit=False); "
                f"{n_both} of {len(fold.test)} test samples trained the rule. Use ordinary folds, "
                "or refit=True with WholeSample()."
            )
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            states = {hash_state(clone(estimator).fit(X, y)) for _ in range(2)}
    except (TypeError, ValueError):  # a rule that cannot be cloned, or fitted to these samples
        return
    if len(states) > 1:
        raise ValueError(
            "estimator must give the same rule in every fit for make_permutation_scorer("
            "refit=False) outside of folds, which otherwise cannot check that it was trained on "
            "other samples. Set its random_state, or use folds."
        )
    if hash_state(estimator) in states:
        raise ValueError(
            "estimator must be trained on other samples for make_permutation_scorer(refit=False); "
            "a clone fitted to X and y is the same rule. Score held-out samples, or use refit=True."
        )


def hash_state(estimator: Any) -> str:
    """Return a hash of a fitted estimator, or of the best estimator of a search."""
    state: str = joblib.hash(vars(getattr(estimator, "best_estimator_", estimator)))
    return state
