"""Selection and classifier as one estimator, selection refitted in every round.

A round selects and fits on a training part and predicts the rest; the features that the rounds
agree on are the consensus.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skeval._inference.estimate import Estimate
from skeval._resampling.fits import fit_plan
from skeval._resampling.folds import fold_plan, limit_folds, resolve_folds
from skeval._resampling.progress import fit_task
from skeval._resampling.questions import Questions
from skeval._resampling.task import (
    Adapter,
    Target,
    Task,
    Unserved,
    adapter_for,
    check_takes_weights,
    group_parameters,
    mean_of_tested,
    weight_parameters,
)
from skeval.feature_selection._stability import selection_stability
from skeval.utils._checks import (
    RandomStateLike,
    check_groups,
    check_jobs,
    check_methods,
    check_option,
    check_weights,
    warn_user,
)
from skeval.utils._compat import CallbackSupportMixin, with_callbacks

__all__ = [
    "CV2FeatureSelectionPipeline",
    "check_selector",
    "check_support",
    "consensus_support",
    "default_selector",
    "feature_ranks",
]

DEFAULT_N_FEATURES = 20


def classifier_has(method: str) -> Callable[[Any], bool]:
    """Return whether the classifier of a pipeline, fitted or not, has a method."""

    def check(pipeline: CV2FeatureSelectionPipeline) -> bool:
        return hasattr(getattr(pipeline, "classifier_", pipeline._classifier()), method)

    return check


class CV2FeatureSelectionPipeline(
    CallbackSupportMixin, SelectorMixin, ClassifierMixin, BaseEstimator
):
    """Feature selection and classifier as one estimator, with its honest error (CV2).

    `fit` runs the rounds of a cross-validation in which the selection is refitted on every
    training part, so that no test label leaks into it, and then fits the final classifier.
    Selecting on all samples first and cross-validating only the classifier (CV1) is optimistic: on
    pure noise (50 samples, 5000 features, the best 20) it finds an error near 0.05, CV2 near 0.5.

    Parameters
    ----------
    selector : transformer with `get_support`, default=None
        Any scikit-learn selector. None means ``SelectKBest(f_classif, k=20)``, or all features
        where there are fewer than 20.
    classifier : classifier, default=None
        What is fitted on the selected features. None means ``SVC(kernel="linear")``.
    cv : int, splitter, iterable of (train, test) or None, default=10
        The inner rounds; repeated splitters are welcome. A number of folds is shuffled with
        `random_state` and stratified; where a class has fewer members, as many folds are made as
        it has, with a warning. None skips the rounds: nothing is estimated, and a grid
        search over ``selector__k`` does not pay for them.
    final : {"refit", "consensus"}, default="refit"
        Select once more on all samples, or keep the features that the rounds selected most often
        (as many as they select on average, ties by mean rank over the rounds, then by index).
    consensus_threshold : float, default=None
        With ``final="consensus"``: keep the features selected in at least this fraction of the
        rounds instead, in (0, 1].
    random_state : int, RandomState, Generator or None, default=None
        Seed of the shuffling when `cv` is a number.
    n_jobs : int, default=None
        Number of joblib workers for the rounds.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished rounds are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Attributes
    ----------
    cv2_error_ : float
        Error rate over all held-out predictions of the rounds, 0 is best; not with ``cv=None``.
    fold_supports_ : bool ndarray of shape (n_rounds, n_features)
        Features selected in each round; not with ``cv=None``.
    selection_frequency_ : ndarray of shape (n_features,)
        Fraction of the rounds that selected each feature; not with ``cv=None``.
    stability_ : Estimate
        Nogueira's measure over the rounds; not with ``cv=None``.
    support_ : bool ndarray of shape (n_features,)
        Features of the final classifier, also `get_support`.
    selector_ : transformer
        The selector fitted on all samples; only with ``final="refit"``.
    classifier_ : classifier
        The classifier fitted on the final features of all samples.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, when `X` has string column names.

    See Also
    --------
    selection_bias : CV1 against CV2 on the same folds.
    selection_stability : Other measures of stability.

    Notes
    -----
    `cv2_error_` is the error of the *procedure*, selection included. With ``final="consensus"``
    it is that of selecting in one training part; the consensus itself has seen every label, and
    its error is estimated by cross-validating this estimator as a whole.

    References
    ----------
    .. [1] Ambroise, C. and McLachlan, G. J. (2002). Selection bias in gene extraction on the basis
       of microarray gene-expression data. Proceedings of the National Academy of Sciences 99,
       6562-6566. https://doi.org/10.1073/pnas.102102699

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from skeval.feature_selection import CV2FeatureSelectionPipeline
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 500)), np.repeat(["case", "control"], 30)
    >>> X[y == "case", :3] += 2
    >>> model = CV2FeatureSelectionPipeline(SelectKBest(k=3), random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [0, 1, 2]
    >>> round(model.cv2_error_, 3), round(model.stability_.value, 3)
    (0.05, 1.0)
    """

    def __init__(
        self,
        selector: Any = None,
        classifier: Any = None,
        *,
        cv: Any = 10,
        final: str = "refit",
        consensus_threshold: float | None = None,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory: Any = None,
    ) -> None:
        self.selector = selector
        self.classifier = classifier
        self.cv = cv
        self.final = final
        self.consensus_threshold = consensus_threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> CV2FeatureSelectionPipeline:
        """Run the rounds, then select the final features and fit the classifier on them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the classifier, in the selector if its `fit` takes them or
            hands them on (`SelectFromModel` and `RFE` do, `SelectKBest` does not), and in the
            errors.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, for `cv` and for what else splits by groups, such as a search.

        Returns
        -------
        CV2FeatureSelectionPipeline
            The fitted estimator.
        """
        self._check_parameters()
        X, y = validate_data(
            self, X, y, ensure_min_samples=2, accept_sparse="csr", ensure_all_finite=self._finite
        )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least two classes, got one: {self.classes_.tolist()[0]!r}."
            )
        selector = self._selector(X.shape[1])
        check_selector(selector, X.shape[1])
        weights = self._check_weights(sample_weight, selector, X)
        groups = check_groups(groups, X.shape[0])
        with fit_task(self, int(self.cv is not None), X, y):
            if self.cv is not None:
                target = Target(y, self.classes_, codes)
                self._store_rounds(self._run_rounds(X, target, weights, groups), target, weights)
            self._fit_final(selector, X, y, weights, groups)
        return self

    def _check_weights(self, sample_weight: Any, selector: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        check_takes_weights(self._classifier())
        inner = getattr(selector, "estimator", None)
        weighted = weight_parameters(selector, np.ones(1))
        if not weighted and inner is not None and weight_parameters(inner, np.ones(1)):
            warn_user(
                f"sample_weight does not reach the {type(inner).__name__} by which the selector "
                f"({type(selector).__name__}) chooses, whose fit does not hand it on: features are "
                "selected without weights."
            )
        return check_weights("sample_weight", sample_weight, X.shape[0])

    def _check_parameters(self) -> None:
        if self.selector is not None:
            check_methods("selector", self.selector, "transform", "get_support")
        check_methods("classifier", self._classifier(), "fit", "predict")
        check_option("final", self.final, ("refit", "consensus"))
        if self.final == "consensus" and self.cv is None:
            raise ValueError("final='consensus' needs the inner rounds, got cv=None.")
        if self.consensus_threshold is None:
            return
        if self.final != "consensus":
            raise ValueError("consensus_threshold needs final='consensus', got final='refit'.")
        if not isinstance(self.consensus_threshold, Real) or not 0 < self.consensus_threshold <= 1:
            raise ValueError(
                "consensus_threshold must fulfil 0 < consensus_threshold <= 1, got "
                f"{self.consensus_threshold!r}."
            )

    @property
    def _finite(self) -> bool:
        return not get_tags(self).input_tags.allow_nan

    def _selector(self, n_features: int) -> Any:
        return default_selector(n_features) if self.selector is None else self.selector

    def _classifier(self) -> Any:
        return SVC(kernel="linear") if self.classifier is None else self.classifier

    def _run_rounds(
        self, X: Any, target: Target, weights: np.ndarray | None, groups: Any
    ) -> list[tuple[np.ndarray, Round]]:
        """Fit the pipeline without inner rounds on the training part of each fold."""
        check_jobs(self.n_jobs, self.verbose)
        given = {"sample_weight": weights, "groups": groups}
        cv = limit_inner_folds(self.cv, target)
        folds = list(resolve_folds(cv, X, target, groups, self.random_state))
        plan = fold_plan(len(target), folds)
        task = Task(
            CV2FeatureSelectionPipeline(self.selector, self.classifier, cv=None),
            X,
            target,
            params={name: value for name, value in given.items() if value is not None},
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            memory=self.memory,
        )
        fits = fit_plan(task, plan, Questions((), note=read_round))
        rounds = [found for _, output in fits for found in output.notes or ()]
        return [(np.sort(test), result) for (_, test), result in zip(folds, rounds, strict=True)]

    def _store_rounds(
        self, rounds: list[tuple[np.ndarray, Round]], target: Target, weights: np.ndarray | None
    ) -> None:
        tested = np.concatenate([test for test, _ in rounds])
        wrong = np.concatenate([done.predicted for _, done in rounds]) != target.y[tested]
        given = None if weights is None else weights[tested]
        self.cv2_error_ = mean_of_tested(wrong, given)
        self.fold_supports_ = np.array([done.support for _, done in rounds])
        self.selection_frequency_ = self.fold_supports_.mean(axis=0)
        self._fold_ranks = np.array([done.ranks for _, done in rounds])

    def _fit_final(
        self,
        selector: Any,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
    ) -> None:
        if self.final == "consensus":
            self.support_ = consensus_support(
                self.fold_supports_, self._fold_ranks, self.consensus_threshold
            )
            if not self.support_.any():
                raise ValueError(
                    f"consensus_threshold={self.consensus_threshold} leaves no feature: the most "
                    f"frequent one has frequency {self.selection_frequency_.max():.3g}."
                )
        else:
            self.selector_ = fit_part(selector, X, y, weights, groups)
            self.support_ = check_support(self.selector_)
        self.classifier_ = fit_part(self._classifier(), self._select(X), y, weights, groups)

    def _select(self, X: Any) -> Any:
        return X[:, self.support_] if self.final == "consensus" else self.selector_.transform(X)

    def _check_and_select(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=self._finite, reset=False)
        return self._select(X)

    @property
    def stability_(self) -> Estimate:
        """Nogueira's measure of the stability of the selection over the rounds."""
        check_is_fitted(self, "fold_supports_")
        return selection_stability(self.fold_supports_)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Reduce X to the final features.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_selected)
            What the classifier sees.
        """
        return self._check_and_select(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        reduced = self._check_and_select(X)
        return self.classifier_.predict(reduced)

    @available_if(classifier_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As the classifier gives them.
        """
        reduced = self._check_and_select(X)
        return self.classifier_.decision_function(reduced)

    @available_if(classifier_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            As the classifier gives them.
        """
        reduced = self._check_and_select(X)
        return self.classifier_.predict_proba(reduced)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = [get_tags(self._selector(DEFAULT_N_FEATURES)), get_tags(self._classifier())]
        tags.input_tags.sparse = all(part.input_tags.sparse for part in parts)
        tags.input_tags.allow_nan = all(part.input_tags.allow_nan for part in parts)
        tags.classifier_tags.multi_class = parts[1].classifier_tags.multi_class
        return tags


@adapter_for.register(CV2FeatureSelectionPipeline)
def adapter_of_refit(
    pipeline: CV2FeatureSelectionPipeline, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter of selector and classifier: the rounds do not change the refit.

    So all fits of the estimator are those of a pipeline of the two, where nothing else is final.
    """
    if transformers or type(pipeline) is not CV2FeatureSelectionPipeline:
        return None
    if pipeline.final != "refit" or pipeline.consensus_threshold is not None:
        return None
    if getattr(X, "ndim", 0) != 2:
        return None
    selector = pipeline._selector(X.shape[1])
    return adapter_for(pipeline._classifier(), X, target, (selector,))


def default_selector(n_features: int) -> SelectKBest:
    """Return the selector that None stands for."""
    return SelectKBest(k=min(DEFAULT_N_FEATURES, n_features))


def check_selector(selector: Any, n_features: int) -> None:
    """Raise unless `selector` has `get_support` and asks for no more features than there are."""
    check_methods("selector", selector, "transform", "get_support")
    k = getattr(selector, "k", None)
    if isinstance(k, Integral) and int(k) > n_features:
        raise ValueError(f"selector must select at most the {n_features} features of X, got k={k}.")


class Round(NamedTuple):
    """The features that one inner round selected, their ranks, and its predictions."""

    support: np.ndarray
    ranks: np.ndarray
    predicted: np.ndarray


def read_round(model: Any, X: Any, y: Any) -> Round:
    """Return the result of a round from its pipeline, which was fitted without inner rounds."""
    ranks = feature_ranks(model.selector_, X.shape[1])
    return Round(model.support_, ranks, model.predict(X))


def fit_part(
    part: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
) -> Any:
    """Fit a clone of the selector or classifier, with weights and groups where it takes them."""
    given = {**weight_parameters(part, weights), **group_parameters(part, groups)}
    return clone(part).fit(X, y, **given)


def limit_inner_folds(cv: Any, target: Target) -> Any:
    """Return `cv`, with a warning fewer folds where the smallest class has too few members."""
    if isinstance(cv, Integral) and int(cv) > 1 and np.bincount(target.codes).min() < 2:
        raise ValueError(
            f"cv={cv} inner folds need at least 2 members of each class, the smallest has 1; "
            "cv=None does without them."
        )
    return limit_folds(cv, target.codes)


def check_support(selector: Any) -> np.ndarray:
    """Return the support of a fitted selector; raise if it is empty."""
    support = selector.get_support()
    if not support.any():
        raise ValueError(
            f"selector must select at least one of the {len(support)} features, it selected none."
        )
    return support


def consensus_support(
    supports: np.ndarray, ranks: np.ndarray, threshold: float | None = None
) -> np.ndarray:
    """Return the mask of the features selected most often, or in a fraction of the rounds.

    Parameters
    ----------
    supports : bool ndarray of shape (n_rounds, n_features)
    ranks : ndarray of shape (n_rounds, n_features)
        Rank of each feature in each round, 1 is best; it breaks ties of the frequency.
    threshold : float or None
        Keep the features with at least this frequency; None keeps as many as the rounds select on
        average.
    """
    times = supports.sum(axis=0)
    if threshold is not None:
        return times / len(supports) >= threshold
    order = np.lexsort((ranks.mean(axis=0), -times))  # ties that remain are broken by position
    mask = np.zeros(len(times), dtype=bool)
    mask[order[: int(np.rint(supports.sum(axis=1).mean()))]] = True
    return mask


def feature_ranks(selector: Any, n_features: int) -> np.ndarray:
    """Return the rank that a fitted selector gives each feature, 1 is best; equal if it has none.

    Taken from `ranking_` (recursive elimination) or `scores_` (univariate selection); an undefined
    score ranks last.
    """
    if hasattr(selector, "ranking_"):
        return np.asarray(selector.ranking_, dtype=float)
    if hasattr(selector, "scores_"):
        scores = np.where(np.isnan(selector.scores_), -np.inf, selector.scores_)
        _, places = np.unique(-scores, return_inverse=True)  # older rankdata fails for infinities
        return rankdata(places)
    return np.ones(n_features)
