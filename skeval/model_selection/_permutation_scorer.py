"""The P-value of a fitted rule on held-out samples, as a scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np

from skeval.model_selection._permutation import permutation_result
from skeval.utils._checks import check_count, check_flag, check_option, check_y
from skeval.utils._routing import RoutedScorer
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed

__all__ = ["PermutationScorer", "make_permutation_scorer"]

RESPONSES = ("predict", "decision_function", "predict_proba")


@dataclass(eq=False, repr=False)
class PermutationScorer(RoutedScorer):
    """A scorer ``(estimator, X, y) -> -log10 P``; made by `make_permutation_scorer`."""

    metric: Callable[..., float]
    n_permutations: int
    greater_is_better: bool
    response_method: str
    random_state: RandomStateLike
    metric_kwargs: dict[str, Any]

    def __repr__(self) -> str:
        name = getattr(self.metric, "__name__", repr(self.metric))
        return f"make_permutation_scorer({name}, n_permutations={self.n_permutations})"

    @property
    def _scored_by(self) -> Callable[..., float]:
        return self.metric

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Return ``-log10 P`` of the predictions for `X` under permutation of `y`.

        Parameters
        ----------
        estimator : estimator
            Fitted on other samples.
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Held-out samples.
        y : array-like of shape (n_samples,)
            Their labels.
        **metadata : dict
            Further arguments of the metric, such as `sample_weight`; they stay with the samples
            and their predictions while the labels are shuffled.

        Returns
        -------
        float
            From 0 to ``log10(n_permutations + 1)``; larger is better.
        """
        y = check_y("y", y)
        response = self._response(estimator, X)
        root = root_seed(self.random_state)
        orders = [repetition_rng(root, r).permutation(len(y)) for r in range(self.n_permutations)]
        null = np.array([self._score(y[order], response, metadata) for order in orders])
        statistic = self._score(y, response, metadata)
        if np.isnan(statistic):
            raise ValueError("metric must be defined on the observed labels, got nan.")
        return abs(log10(permutation_result("score", statistic, null, None).pvalue))

    def _response(self, estimator: Any, X: Any) -> np.ndarray:
        response = getattr(estimator, self.response_method)(X)
        if self.response_method == "predict" or response.shape[1:] not in ((), (2,)):
            return response
        positive = self._positive_class(estimator)
        if self.response_method == "predict_proba":
            return response[:, positive]
        return response if positive == 1 else -response

    def _positive_class(self, estimator: Any) -> int:
        """Return which of two classes `pos_label` names, the second by default."""
        pos_label = self.metric_kwargs.get("pos_label")
        if pos_label is None or not hasattr(estimator, "classes_"):
            return 1
        classes = np.asarray(estimator.classes_).tolist()
        if pos_label not in classes:
            raise ValueError(f"pos_label must be one of the classes {classes}, got {pos_label!r}.")
        return classes.index(pos_label)

    def _score(self, y: np.ndarray, response: np.ndarray, metadata: dict[str, Any]) -> float:
        value = float(self.metric(y, response, **self.metric_kwargs | metadata))
        return value if self.greater_is_better else -value


def make_permutation_scorer(
    metric: Callable[..., float],
    *,
    n_permutations: int = 1000,
    greater_is_better: bool = True,
    response_method: str = "predict",
    random_state: RandomStateLike = None,
    **metric_kwargs: Any,
) -> PermutationScorer:
    r"""Make a scorer of the P-value of a fitted rule on held-out samples, ``-log10 P``.

    The rule stays as it is and only the held-out labels are shuffled: with :math:`T` the metric of
    the labels and :math:`T^*_b` that of permutation `b` of `P`,

    .. math:: score = -\log_{10} pvalue, \qquad
        pvalue = \frac{1 + \#\{b : T^*_b \ge T\}}{1 + P} .

    It answers "does this rule predict these labels better than chance": 2 stands for a P-value of
    0.01, and ``10**-score`` is the P-value. It lies in [0, log10(P + 1)]; larger is better, as of
    every scorer.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, response, **metric_kwargs) -> float``.
    n_permutations : int, default=1000
        Number `P` of permutations.
    greater_is_better : bool, default=True
        Whether a larger metric is better; False for a loss.
    response_method : {"predict", "decision_function", "predict_proba"}, default="predict"
        What of the estimator the metric is given. With two classes that is the probability, or
        the decision value, of the class `pos_label` in `metric_kwargs`, by default of the second.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the permutations. With an int every call uses the same.
    **metric_kwargs : dict
        Handed on to `metric`.

    Returns
    -------
    PermutationScorer
        A picklable callable ``scorer(estimator, X, y) -> float``; its `set_score_request` asks
        for metadata, such as `sample_weight`, which the metric then gets.

    Raises
    ------
    TypeError
        If `metric` is not callable.
    ValueError
        If `n_permutations` < 1 or `response_method` is unknown; when called, if the metric of the
        observed labels is undefined, or `pos_label` is none of two classes.

    See Also
    --------
    permutation_test : Re-runs the whole procedure, and so tests the procedure, not one rule.

    Notes
    -----
    The P-values of the folds of one cross-validation are dependent: neither their mean nor their
    smallest is a P-value.

    A search that maximizes the score prefers the model with the least chance of doing as well by
    luck. Models that beat every permutation tie at ``log10(n_permutations + 1)``, the first of
    them is taken: choose by the metric itself where all are better than chance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import accuracy_score
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import make_permutation_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = make_permutation_scorer(accuracy_score, n_permutations=99, random_state=0)
    >>> cross_validate(KNeighborsClassifier(), X, y, cv=3, scoring=scorer)["test_score"].tolist()
    [2.0, 2.0, 2.0]
    """
    if not callable(metric):
        raise TypeError(f"metric must be callable, got {metric!r}.")
    check_option("response_method", response_method, RESPONSES)
    check_flag("greater_is_better", greater_is_better)
    n_permutations = check_count("n_permutations", n_permutations)
    return PermutationScorer(
        metric, n_permutations, greater_is_better, response_method, random_state, metric_kwargs
    )
