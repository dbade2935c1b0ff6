"""Scorers that resample the whole procedure, and the splitter for them."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from skeval._inference.errors import METHODS
from skeval._resampling.fit_params import fit_arguments, list_receivers
from skeval.model_selection._bootstrap import bootstrap_error
from skeval.model_selection._error_interval import error_interval
from skeval.model_selection._permutation import permutation_test
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import RoutedScorer, num_samples
from skeval.utils._options import ErrorBootstrap, Quantity


class WholeSample:
    """Splitter with one split: all samples for training and all for testing.

    A scikit-learn cross-validator for ``cv=``, for scorers that resample the whole procedure
    themselves: `make_bootstrap_scorer`, `make_permutation_scorer` and `make_interval_scorer`. Any
    other score, such as "accuracy", is the score on the training samples and is optimistic.

    The estimator that is scored must contain the selection of features. After a selection on all
    samples these scorers are optimistic too. They raise an error if they score the same labels with
    other columns than before, as in `RFECV` and `SequentialFeatureSelector`, and cannot detect a
    selection before the first call.

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


class UntrainedModelError(ValueError):
    """Error of a scorer whose model was not trained on all samples and columns that it scores."""


def refuse_model(model: Any, reason: str) -> NoReturn:
    """Raise, and make scikit-learn's warning about this error an error while the model exists.

    scikit-learn replaces the errors of a scorer by ``error_score``, nan by default, warns with the
    text of the error, and a search whose scores are all nan chooses its first candidate. Its loops
    delete a model after they have scored it.
    """
    filters, before = warnings.filters, list(warnings.filters)
    # the comment in the pattern makes a rule of its own for each model
    pattern = rf"(?s)(?#{id(model)}).*{UntrainedModelError.__name__}"
    warnings.filterwarnings("error", pattern)
    for rule in set(filters) - set(before):
        weakref.finalize(model, remove_filter, filters, rule)
    raise UntrainedModelError(reason)


def remove_filter(filters: Any, rule: Any) -> None:
    """Remove a rule from a list of warning filters, unless it has left the list already."""
    if rule in filters:
        filters.remove(rule)


@dataclass(eq=False, repr=False)
class ProcedureScorer(RoutedScorer):
    """Scorer ``scorer(estimator, X, y)`` that returns minus an attribute of a result."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    attribute: str
    last_scored: tuple[set[int], set[int]] | None = field(default=None, init=False)
    """Hashes of the last labels, and of the columns that they were scored with."""
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
        options = self.options | metadata
        self._check_trained_on(estimator, X, y, options)
        self._check_columns(estimator, X, y)
        result = self.function(clone(estimator), X, y, **options)
        return -float(attrgetter(self.attribute)(result))

    def _check_columns(self, model: Any, X: Any, y: Any) -> None:
        """Raise if the same labels were scored with some of these columns, but not with all.

        `RFECV` passes fewer and fewer columns, sequential selectors more and more.
        """
        labels, columns = hash_columns(y), hash_columns(X)
        if self.last_scored is not None and self.last_scored[0] == labels:
            before = self.last_scored[1]
            if columns != before and columns & before:
                refuse_model(
                    model,
                    f"X must have the same columns in every call of scoring={self.name}, which "
                    f"scored these labels with {len(before)} columns, got {len(columns)}, some of "
                    "them the same: the model was not trained on all columns, and if they were "
                    "selected with the labels, as in RFECV, its score is far too high. Put the "
                    "selector in a pipeline and search over its number of features; for sets of "
                    "columns that were chosen without the labels, make one scorer each.",
                )
        self.last_scored = labels, columns

    def _check_trained_on(self, model: Any, X: Any, y: Any, options: dict[str, Any]) -> None:
        """Raise unless the model responds to X as a clone that is fitted to X and y does."""
        n = num_samples(X)
        weight, params, groups = (options.get(k) for k in ("sample_weight", "params", "groups"))
        if weight is not None:
            weight = _checks.check_weights("sample_weight", weight, n)
        arguments = fit_arguments(model, X, params, weight, groups, np.arange(n))
        twin = clone(model).fit(X, y, **arguments)
        # groups of our estimators change their own error only
        grouped = [getattr(part, "_fit_groups", None) for _, part in list_receivers(model)]
        has_groups = groups is not None or "groups" in {k.rpartition("__")[2] for k in params or ()}
        known = has_groups or all(group is None for group in grouped)
        if known and same_responses(respond(model, X), respond(twin, X)):
            return
        seeds = [
            name
            for name, value in model.get_params().items()
            if name.rpartition("__")[2] == "random_state" and not isinstance(value, Integral)
        ]
        refuse_model(
            model,
            f"cv must be WholeSample() for scoring={self.name}: the model was not trained on the "
            f"{n} samples that are scored, since a clone fitted to them differs. If it was, pass "
            "sample_weight, groups and params of its fit to the scorer, too"
            + (f"; if its fits are random, set {seeds[0]} to an integer" if seeds else "")
            + ". A halving search needs an integer random_state.",
        )


def hash_columns(X: Any) -> set[int]:
    """Return the hashes of the columns of a table."""
    if issparse(X):
        X = X.tocsc()
        parts = [slice(*ends) for ends in pairwise(X.indptr)]
        return {hash((X.indices[j].tobytes(), X.data[j].tobytes())) for j in parts}
    table = np.asarray(X)
    rows = np.ascontiguousarray(table.T if table.ndim == 2 else table.reshape(1, -1))
    numeric = table.dtype.kind in "biuf"
    return {hash(row.tobytes() if numeric else repr(row.tolist())) for row in rows}


def respond(model: Any, X: Any) -> np.ndarray:
    """Return the decision values, probabilities or predictions of a model, whichever it has."""
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
    method: ErrorBootstrap = ".632+",
    *,
    n_resamples: int = 200,
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer:
    """Make a scorer that returns minus the bootstrap estimate of the error.

    The scorer fits clones of the estimator to resamples of the samples that it scores, so it
    requires ``cv=WholeSample()``. It first fits one clone to all these samples and raises an error,
    whatever ``error_score`` is, if the model that it scores responds to them differently. This
    happens with other folds, if the scorer lacks the groups, weights or other arguments of the fit,
    and if a random estimator has no integer `random_state`.

    Parameters
    ----------
    method : {"oob", ".632", ".632+"}, default=".632+"
        The estimate, as in `bootstrap_error`.
    n_resamples : int, default=200
        Number of resamples, each of which takes one fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. None and generators
        draw one seed when the scorer is made, so all candidates of a search use the same draws.
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
    quantity: Quantity = "high", *, random_state: RandomStateLike = None, **options: Any
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
        Seed of the random draws; an int gives the same result in each call. None and generators
        draw one seed when the scorer is made, so all candidates of a search use the same draws.
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
    random_state: RandomStateLike = None,
    **options: Any,
) -> ProcedureScorer:
    """Make a scorer that returns minus the P-value of a permutation test.

    The test is `permutation_test`: the whole procedure is repeated for every permutation of the
    labels. The scorer requires ``cv=WholeSample()`` and the arguments of the fit, as in
    `make_bootstrap_scorer`.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. None means the `score` of the
        estimator.
    n_permutations : int, default=1000
        Number `P` of permutations.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. None and generators
        draw one seed when the scorer is made, so all candidates of a search use the same draws.
    **options : dict
        Other arguments of `permutation_test`, such as `cv`, `groups` or `n_jobs`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y) -> float``, minus the P-value, from -1 to ``-1/(P + 1)``; larger
        is better. It equals ``-permutation_test(...).pvalue`` with the same seed, and can be
        pickled.

    Raises
    ------
    TypeError
        If `permutation_test` has no such option, or `scoring` has several scores.
    ValueError
        If `n_permutations` < 1.

    See Also
    --------
    permutation_test : The test itself, with the null distribution.

    Notes
    -----
    Candidates of a search that beat every permutation tie at ``-1/(P + 1)``, and the first of them
    is selected. Use the score itself for the search if all candidates are better than chance.

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
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be a single score, a name or a callable, got {scoring!r}; make a scorer "
            "for each score."
        )
    n_permutations = _checks.check_count("n_permutations", n_permutations)
    return make_scorer_of(
        f"make_permutation_scorer(n_permutations={n_permutations})",
        permutation_test,
        "pvalue",
        scoring=scoring,
        n_permutations=n_permutations,
        random_state=random_state,
        **options,
    )
