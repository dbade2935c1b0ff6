"""Feature selection inside the cross-validation, the bias of selection outside, and stability.

The module begins with the pipeline. Each round selects features and fits the classifier on a
training part, and predicts the test part. The bias of selection on all samples before the
cross-validation, and the stability of the selected features over training sets, follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from scipy.stats import rankdata
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skeval._adapters.runner import UNKNOWN, Runner, Solver, supports
from skeval._inference.estimate import Estimate
from skeval._inference.intervals import ROUNDING, corrected_error, normal_interval, row_means
from skeval._resampling import inputs as _inputs
from skeval._resampling import plans
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.progress import fit_task
from skeval._resampling.sampling_units import Target
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike
from skeval.utils._compat import CallbackSupportMixin, params_of_rows, safe_indexing, with_callbacks

Final = Literal["refit", "consensus"]

StabilityMeasure = Literal["nogueira", "kuncheva", "jaccard"]

DEFAULT_N_FEATURES = 20

OF_SELECTION = ("support_", "stability_", "selection_frequency_", "fold_supports_")
"""Attributes of a selection of columns. They are missing for extracted features."""
OF_ROUNDS = ("cv2_error_", "stability_", "selection_frequency_", "fold_supports_")
"""Attributes of the inner rounds. They are missing with ``cv=None``."""


def classifier_has(method: str) -> Callable[[Any], bool]:
    """Return whether the classifier of a pipeline, fitted or not, has a method."""

    def check(pipeline: CV2FeatureSelectionPipeline) -> bool:
        return hasattr(getattr(pipeline, "classifier_", pipeline._classifier()), method)

    return check


class CV2FeatureSelectionPipeline(
    _inputs.HintsAtParams, CallbackSupportMixin, SelectorMixin, ClassifierMixin, BaseEstimator
):
    """Feature selection and classifier as one estimator, with its cross-validated error.

    `fit` runs a cross-validation that repeats the selection on every training part, so no test
    label leaks into the selection. It then fits the final classifier. An estimate is optimistic if
    features are selected on all samples and only the classifier is cross-validated (CV1). On pure
    noise (50 samples, 5000 features, the best 20), the error estimated by CV1 is near 0.05, and by
    CV2 near 0.5.

    Parameters
    ----------
    selector : transformer, default=None
        A selector, an extraction (`PCA`, `PLSRegression`, `LinearDiscriminantAnalysis`), or a
        pipeline of transformers such as ``make_pipeline(StandardScaler(), SelectKBest())``. All
        its steps are refitted in every round. A data frame is passed to the selector unchanged, so
        a `ColumnTransformer` may use column names. PLS is fitted to indicators of the classes.
        None means ``SelectKBest(f_classif, k=20)``, or all features if there are fewer than 20.
    classifier : classifier, default=None
        Classifier for the selected or extracted features. None means ``SVC(kernel="linear")``.
    cv : int, splitter, iterable of (train, test) or None, default=10
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. Splitters may repeat the folds. If a class has
        fewer members than folds, the number of folds is reduced to its size, with a warning. None
        skips the rounds. The error is then not estimated, and a grid search over ``selector__k``
        is faster.
    final : {"refit", "consensus"}, default="refit"
        "refit" selects once more on all samples. "consensus" keeps the features that the rounds
        selected most often. Their number is the mean number in the rounds. Ties are broken by the
        mean rank over the rounds, then by index. "consensus" requires a selector that keeps
        columns of `X`. Other steps of the selector, such as scaling, are fitted on all samples.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Attributes
    ----------
    cv2_error_ : float
        Error rate over all held-out predictions of the rounds. They repeat `selector` and
        `classifier`, but no step before this estimator. It does not exist with ``cv=None``.
    fold_supports_ : bool ndarray of shape (n_rounds, n_features)
        Features selected in each round. It does not exist if ``cv=None`` or if `selector` extracts
        new features and thus keeps no columns of `X`.
    selection_frequency_ : ndarray of shape (n_features,)
        Fraction of the rounds that selected each feature. It does not exist if ``cv=None`` or if
        `selector` extracts new features.
    stability_ : Estimate
        Stability of the selected features over the rounds (Nogueira's measure). It does not exist
        if ``cv=None`` or if `selector` extracts new features.
    support_ : bool ndarray of shape (n_features,)
        Features of the final classifier, as returned by `get_support`. It does not exist with an
        extraction.
    selector_ : transformer
        The selector fitted on all samples. It exists only with ``final="refit"``.
    preprocessor_ : Pipeline
        The steps of `selector` that do not select, fitted on all samples. It exists only with
        ``final="consensus"``.
    classifier_ : classifier
        The classifier fitted on the final features of all samples.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has string column names.

    See Also
    --------
    selection_bias : Compares CV1 with CV2 on the same folds.
    selection_stability : Other measures of stability.

    Notes
    -----
    `cv2_error_` is the error of the *procedure*, including the selection. With
    ``final="consensus"``, it is still the error of a selection in one training part, because the
    consensus depends on all labels. To estimate the error of the consensus, cross-validate this
    estimator as a whole. The rounds do not repeat steps of a pipeline before this estimator, so
    put such steps into `selector`.

    With metadata routing enabled, selector and classifier receive what they request, as the steps
    of a pipeline do. By default, the errors and the inner folds use `sample_weight` and `groups`.

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

    __metadata_request__fit: ClassVar = {"sample_weight": True, "groups": True}

    def __init__(
        self,
        selector: Any = None,
        classifier: Any = None,
        *,
        cv: Any = 10,
        final: Final = "refit",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory: Any = None,
    ) -> None:
        self.selector = selector
        self.classifier = classifier
        self.cv = cv
        self.final = final
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> CV2FeatureSelectionPipeline:
        """Run the rounds, then select the final features and fit the classifier on them.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. The classifier receives them, and so does the selector if its `fit`
            accepts them, as in `SelectFromModel` and `RFE`. If it does not, as in `SelectKBest`,
            integer weights, such as the counts of a bootstrap sample, repeat the rows in each fit,
            unless their mean exceeds 10. Errors are weighted means. Samples of weight 0 are omitted
            everywhere, including the selection.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient. Groups are never split. Steps that split by
            groups, such as a search, receive the groups.
        **params : dict
            Other arguments that the selector or the classifier requests. They require metadata
            routing.

        Returns
        -------
        CV2FeatureSelectionPipeline
            The fitted estimator.
        """
        self._check_parameters()
        # forget an earlier fit
        for name in {*OF_SELECTION, *OF_ROUNDS}:
            self.__dict__.pop(name, None)
        y = _checks.plain_text(y)
        _checks.check_complete("y", y)
        # data
        _checks.check_same_length(X=X, y=y)
        X, y = self._check_samples(X, y, ensure_min_samples=2)
        check_classification_targets(y)
        groups = _checks.check_groups(groups, len(y))
        selector = self._selector(X.shape[1])
        weights, cv = None, self.cv
        if sample_weight is not None:
            if not _inputs.is_routed(self):
                _inputs.check_takes_weights(self._classifier())
            weights = _checks.check_weights("sample_weight", sample_weight, len(y))
            params = params_of_rows(X, params, np.flatnonzero(weights))
            X, y, weights, groups, cv = _inputs.drop_unweighted(X, y, weights, groups, cv)
        self._fit_groups = groups
        metadata = {"sample_weight": weights, "groups": groups} | params
        metadata = {name: value for name, value in metadata.items() if value is not None}
        # counts repeat rows in the final fit; the rounds repeat those of their training parts
        rows, final = _inputs.repeat_rows(selector, X, metadata)
        arguments = _inputs.route_fit(self, final, selector=selector, classifier=self._classifier())
        self.classes_: np.ndarray
        # classes
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must contain at least two classes, got one: {self.classes_.tolist()[0]!r}."
            )
        # rounds, then the final fit
        with fit_task(self, int(self.cv is not None), X, y):
            if self.cv is not None:
                target = Target(y, self.classes_, codes)
                self._store_rounds(self._run_rounds(X, target, metadata, cv), target, weights)
            X = X if isinstance(rows, slice) else safe_indexing(X, rows)
            self._fit_final(selector, X, y[rows], final, arguments)
        return self

    def _check_parameters(self) -> None:
        classifier = self._classifier()
        if self.selector is not None:
            check_order(self.selector, classifier)
            _checks.check_methods("selector", self.selector, "fit", "transform")
        _checks.check_methods("classifier", classifier, "fit", "predict")
        if not is_classifier(classifier):
            raise TypeError(f"classifier must be a classifier, got {type(classifier).__name__}.")
        _checks.check_option("final", self.final, ("refit", "consensus"))
        if self.final == "consensus" and self.cv is None:
            raise ValueError("cv must not be None for final='consensus', which uses inner rounds.")

    def _check_samples(self, X: Any, *y: Any, **checks: Any) -> Any:
        """Return validated samples. A data frame stays one, for selectors that read its columns."""
        frame = hasattr(X, "columns") and self.selector is not None
        checks |= {"accept_sparse": "csr", "dtype": None if frame else "numeric"}
        finite = not get_tags(self).input_tags.allow_nan
        checked = validate_data(self, X, *y, ensure_all_finite=finite, **checks)
        if not frame:
            return checked
        return (X, checked[1]) if y else X

    def _selector(self, n_features: int) -> Any:
        if self.selector is None:
            return SelectKBest(k=min(DEFAULT_N_FEATURES, n_features))
        return prepare_selector(self.selector)

    def _classifier(self) -> Any:
        # None as the seed would advance the global generator
        return SVC(kernel="linear", random_state=0) if self.classifier is None else self.classifier

    def _run_rounds(
        self, X: Any, target: Target, metadata: dict[str, Any], cv: Any
    ) -> list[_inputs.FitOutput]:
        """Fit the pipeline without inner rounds on the training part of each fold."""
        _checks.check_jobs(self.n_jobs, self.verbose)
        # a fit for each fold
        if isinstance(cv, Integral) and int(cv) > 1 and np.bincount(target.codes).min() < 2:
            raise ValueError(
                f"cv={cv} inner folds need at least 2 samples of each class, but the smallest "
                "class has 1. cv=None skips the inner folds."
            )
        cv = plans.limit_folds(cv, target.codes)
        folds = plans.resolve_folds(cv, X, target, metadata.get("groups"), self.random_state)
        # without inner folds, the pipeline is fitted once for each fold
        inputs = _inputs.Inputs(
            CV2FeatureSelectionPipeline(self.selector, self.classifier, cv=None),
            X,
            target,
            params=metadata,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            memory=self.memory,
        )
        # predictions and selection of each fit
        fits = Runner(inputs).fits(plans.fold_plan(len(target), folds), FitRequest(note=read_round))
        return [output for _, outputs in fits for output in outputs]

    def _store_rounds(
        self, rounds: list[_inputs.FitOutput], target: Target, weights: np.ndarray | None
    ) -> None:
        # error of all held-out predictions
        tested = np.concatenate([output.rows for output in rounds])
        wrong = np.concatenate([output.predicted for output in rounds]) != target.codes[tested]
        weights = None if weights is None else weights[tested]
        self.cv2_error_: float = _inputs.mean_of_tested(wrong, weights)
        # selected columns, if the selector keeps columns
        selections = [one for output in rounds for one in output.notes or () if one is not None]
        if len(selections) == len(rounds):
            self.fold_supports_: np.ndarray = np.array(
                [selection.support for selection in selections]
            )
            self.selection_frequency_: np.ndarray = self.fold_supports_.mean(axis=0)
            self.stability_: Estimate = measure_stability(self.fold_supports_)
            self._fold_ranks = np.array([selection.ranks for selection in selections])
        elif self.final == "consensus":
            raise ValueError(
                "final='consensus' needs a selector that keeps columns of X, but "
                f"{type(self.selector).__name__} makes new features. Use final='refit'."
            )

    def _fit_final(
        self,
        selector: Any,
        X: Any,
        y: np.ndarray,
        metadata: dict[str, Any],
        arguments: dict[str, dict[str, Any]],
    ) -> None:
        if self.final == "consensus":
            # the most often selected features, ties by mean rank and then by position
            order = np.lexsort((self._fold_ranks.mean(axis=0), -self.fold_supports_.sum(axis=0)))
            chosen = np.zeros(len(order), dtype=bool)
            chosen[order[: int(np.rint(self.fold_supports_.sum(axis=1).mean()))]] = True
            # steps that do not select are fitted to all samples
            preprocessor = clone(Pipeline([("preprocessing", without_selection(selector))]))
            self.preprocessor_: Any = preprocessor.fit(
                X, y, **_inputs.params_of_part(preprocessor, metadata)
            )
            kept = cast("SelectedColumns", read_selection(self.preprocessor_, X.shape[1])).support
            self.support_: np.ndarray = chosen & kept
            self._columns = self.support_[kept]
        else:
            self.selector_: Any = clone(selector).fit(X, y, **arguments["selector"])
            selection = read_selection(self.selector_, X.shape[1])
            if selection is not None:
                self.support_ = selection.support
        # classifier on the final features
        classifier = clone(self._classifier())
        selected = self._select(X, "fit", metadata)
        self.classifier_: Any = classifier.fit(selected, y, **arguments["classifier"])
        # the error of the classifier itself would ignore the selection
        final = _inputs.last_step(getattr(self.classifier_, "best_estimator_", self.classifier_))
        if hasattr(final, "_withhold_estimates"):
            final._withhold_estimates(
                "The error of the classifier ignores the feature selection, which used all labels. "
                "Use cv2_error_ of the CV2FeatureSelectionPipeline, or use "
                "PerturbationResamplingSVC(estimator=make_pipeline(selector, SVC()))."
            )

    def _select(self, X: Any, method: str, params: dict[str, Any]) -> Any:
        """Return the final features of X for a call of `method` with the arguments `params`."""
        params = _inputs.route_call(self, method, params, "selector", "transform")
        if self.final == "refit":
            return self.selector_.transform(X, **params)
        return safe_indexing(self.preprocessor_.transform(X, **params), self._columns, axis=1)

    def _respond(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        """Return the output of a method of the classifier for the final features of X."""
        selected = self._check_and_select(X, method, params)
        routed = _inputs.route_call(self, method, params, "classifier", method)
        return getattr(self.classifier_, method)(selected, **routed)

    def _check_and_select(self, X: Any, method: str, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        return self._select(self._check_samples(X, reset=False), method, params)

    @property
    def _own_error(self) -> str | None:
        """Attribute with the error of the procedure, which ignores steps before it."""
        return None if self.cv is None else "cv2_error_"

    def __getattr__(self, name: str) -> Any:
        """Raise an error with the reason why an attribute of selection or rounds is missing."""
        if name not in OF_SELECTION and name not in OF_ROUNDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        check_is_fitted(self)
        if self.cv is None and name in OF_ROUNDS:
            raise AttributeError(f"{name} needs inner rounds, which cv=None skips.")
        raise AttributeError(
            f"{name} needs a selector that keeps columns of X, but {type(self.selector).__name__} "
            "makes new features."
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected or extracted features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of `X`. None means `feature_names_in_`, or x0, x1 and so on.

        Returns
        -------
        ndarray of str
            One name for each column of `transform`.
        """
        check_is_fitted(self)
        if hasattr(self, "support_"):
            return super().get_feature_names_out(input_features)
        return self.selector_.get_feature_names_out()

    def transform(self, X: Any, **params: Any) -> Any:
        """Return the final features of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments that `transform` of the selector requests, as in a pipeline.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_selected)
            Input of the classifier.
        """
        return self._check_and_select(X, "transform", params)

    @property
    def fitted_steps(self) -> tuple[Any, Any]:
        """Fitted selector and classifier, for the comparison with a solver."""
        return self.selector_, self.classifier_

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Return the predicted class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments of the classifier, or arguments that the parts request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self._respond("predict", X, params)

    @available_if(classifier_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """Return the decision values of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments of the classifier, or arguments that the parts request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Output of the classifier.
        """
        return self._respond("decision_function", X, params)

    @available_if(classifier_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return the class probabilities of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments of the classifier, or arguments that the parts request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Output of the classifier.
        """
        return self._respond("predict_proba", X, params)

    @available_if(classifier_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return the logarithms of the class probabilities of the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments of the classifier, or arguments that the parts request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Output of the classifier.
        """
        return self._respond("predict_log_proba", X, params)

    def set_params(self, **params: Any) -> CV2FeatureSelectionPipeline:
        """Set parameters of this estimator and of its parts, including the default parts.

        Parameters
        ----------
        **params : dict
            Parameters with their names, such as `cv`, ``selector__k`` or ``classifier__C``.

        Returns
        -------
        CV2FeatureSelectionPipeline
            The estimator itself.
        """
        # a part that is set as a whole, or is not None, is not replaced by its default
        defaults = {
            "selector": self._selector(DEFAULT_N_FEATURES),
            "classifier": self._classifier(),
        }
        for part, default in defaults.items():
            if getattr(self, part) is None and any(name.startswith(f"{part}__") for name in params):
                params = {part: default} | params
        super().set_params(**params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the requests of the parts, and this estimator's requests for weights and groups.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__)
        router.add_self_request(super().get_metadata_routing())
        router.add(selector=self._selector(DEFAULT_N_FEATURES), method_mapping=_inputs.OF_SELECTOR)
        return router.add(classifier=self._classifier(), method_mapping=_inputs.OF_CLASSIFIER)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = [get_tags(self._selector(DEFAULT_N_FEATURES)), get_tags(self._classifier())]
        tags.input_tags.sparse = all(part.input_tags.sparse for part in parts)
        tags.input_tags.allow_nan = all(part.input_tags.allow_nan for part in parts)
        if parts[1].classifier_tags is not None:  # fit refuses other estimators
            tags.classifier_tags.multi_class = parts[1].classifier_tags.multi_class
        return tags


@supports.register(CV2FeatureSelectionPipeline)
def support_refit(
    pipeline: CV2FeatureSelectionPipeline, X: Any, target: Target, transformers: tuple
) -> Solver | str:
    """Return the solver of the selector and classifier that make all predictions after a refit.

    The inner rounds do not change the final selector and classifier.
    """
    own = transformers or type(pipeline) is not CV2FeatureSelectionPipeline
    if own or pipeline.final != "refit" or getattr(X, "ndim", 0) != 2:
        return UNKNOWN
    return supports(pipeline._classifier(), X, target, (pipeline._selector(X.shape[1]),))


def check_order(selector: Any, classifier: Any) -> None:
    """Raise an error if the selector and the classifier are in each other's place."""
    if not hasattr(selector, "transform") and hasattr(classifier, "transform"):
        raise TypeError(
            "selector and classifier look swapped, got "
            f"{type(selector).__name__} and {type(classifier).__name__}. The selector is first."
        )


def read_round(model: Any, X: Any, y: Any) -> SelectedColumns | None:
    """Return the columns that an inner round selected, or None for extraction."""
    return read_selection(model.selector_, X.shape[1])


@_checks.in_order(classifier=_checks.is_no_table)
def selection_bias(
    selector: Any,
    classifier: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    n_repeats: int = 1,
    groups: Any = None,
    params: _inputs.Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Measure the bias of selecting or extracting features outside the cross-validation.

    CV1 selects on all samples and cross-validates only the classifier. CV2 repeats the selection
    in every training part. Let :math:`e^1_{ir}` and :math:`e^2_{ir}` be the 0-1 losses of sample
    `i` in repeat `r`, on the same folds. Then

    .. math:: bias = \frac1n \sum_i d_i , \qquad
        d_i = \operatorname{mean}_r (e^2_{ir} - e^1_{ir}) .

    The bias lies in [-1, 1]. 0 means no bias. If it is above 0, CV1 is optimistic.

    Parameters
    ----------
    selector : transformer
        A selector, an extraction (`PCA`, `PLSRegression`, `LinearDiscriminantAnalysis`), or a
        pipeline of transformers. PLS is fitted to indicators of the classes.
    classifier : classifier
        Any scikit-learn classifier.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels.
    cv : int, splitter or iterable of (train, test), default=10
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together.
    n_repeats : int, default=1
        Number of repeats with newly shuffled folds. If it exceeds 1, `cv` must be an integer.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. The
        steps are "selector" and "classifier", as in ``{"classifier__sample_weight": w}``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit. Errors are not weighted.
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
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the fold from both
        errors, counts it and warns.

    Returns
    -------
    Estimate
        `value` is the bias, with its interval. `replicates` contains the bias of each repeat. In
        `extra`, `cv1_error` and `cv2_error` are the error rates with the features selected once on
        all samples and in every training part. `cv1_errors` and `cv2_errors` contain the values of
        each repeat, and `n_failed` is the number of folds with a failed fit.

    Raises
    ------
    ValueError
        If the selector requires more features than there are or selects none, `y` has only one
        class, `cv` has a single fold, or `n_repeats` exceeds 1 and `cv` is not an integer.

    Warns
    -----
    UserWarning
        If the bias exceeds two standard errors.

    Notes
    -----
    The interval is the corrected resampled t [2]_ over the folds of all repeats. Its variance is
    the variance of the `J` fold differences times ``1/J + n_test/n_train``. An interval from the
    variation over repeats would be too narrow, because this measures only the effect of shuffling.

    References
    ----------
    .. [1] Ambroise, C. and McLachlan, G. J. (2002). Selection bias in gene extraction on the basis
       of microarray gene-expression data. Proceedings of the National Academy of Sciences 99,
       6562-6566. https://doi.org/10.1073/pnas.102102699
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.svm import SVC
    >>> from skeval.feature_selection import selection_bias
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(50, 5000)), np.repeat([0, 1], 25)  # nothing to find
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     result = selection_bias(SelectKBest(k=20), SVC(kernel="linear"), X, y, random_state=0)
    >>> result.extra.cv1_error, result.extra.cv2_error
    (0.08, 0.4)
    """
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"params": params, "name": "classifier", "confidence_level": confidence_level}
    check_order(selector, classifier)
    inputs = _inputs.validate_inputs(classifier, X, y, groups, loss="zero_one", **run)
    # selector and classifier for these data
    X, target = inputs.X if hasattr(inputs.X, "shape") else np.asarray(inputs.X), inputs.target
    if len(X.shape) != 2:
        raise ValueError(f"X must have the shape (n_samples, n_features), got {X.shape}.")
    _checks.check_methods("selector", selector, "fit", "transform")
    k = getattr(selector, "k", None)
    if isinstance(k, Integral) and int(k) > X.shape[1]:
        raise ValueError(f"selector must select at most the {X.shape[1]} features of X, got k={k}.")
    selector = prepare_selector(selector)
    if target.classes is None:
        raise TypeError(f"classifier must be a classifier, got {type(classifier).__name__}.")
    # both procedures on the same folds
    plan, repeat_of = plans.make_repeated_plan(
        cv, n_repeats, X, target, inputs.groups, random_state
    )
    inside = Pipeline([("selector", selector), ("classifier", classifier)])
    if sample_weight is not None:
        weight = _inputs.read_weight(inside, sample_weight, params, len(target))
        inputs = inputs.with_options(weight=weight)
    inputs = inputs.with_options(estimator=inside, X=X)
    result = compare_selections(inputs, (inside[:1], inside[1:]), plan, repeat_of)
    # warn of a bias
    if result.value > 2 * result.standard_error:
        selects = any(hasattr(step, "get_support") for step in list_steps(selector))
        _checks.warn_user(
            f"the error is {result.extra.cv1_error:.3f} with features "
            f"{'selected' if selects else 'extracted'} on all samples before cross-validation "
            f"(CV1), but {result.extra.cv2_error:.3f} with this step inside the loop (CV2). "
            "Report the CV2 error."
        )
    return result


def compare_selections(
    inputs: _inputs.Inputs,
    parts: tuple[Pipeline, Pipeline],
    plan: plans.ResamplingPlan,
    repeat_of: np.ndarray,
) -> Estimate:
    """Return the bias from fitting the first part of an estimator to all samples.

    The second part is fitted to the output of the first one, on the folds of a plan.
    """
    head, tail = parts
    X, everything = inputs.X, np.arange(len(inputs.target))
    # select once, on all samples
    params = _inputs.params_of_part(head, inputs.params)
    arguments = _inputs.fit_arguments(head, X, params, inputs.weight, inputs.groups, everything)
    selected = clone(head).fit(X, inputs.target.given, **arguments)
    check_selects(selected)
    later = {"estimator": tail, "X": selected.transform(X)}
    outside = inputs.with_options(params=_inputs.params_of_part(tail, inputs.params), **later)
    # errors of the folds without and with the selection inside
    cv1, cv2 = fold_errors(outside, plan), fold_errors(inputs, plan)
    done = np.flatnonzero(np.isfinite(cv1) & np.isfinite(cv2))
    if not len(done):
        raise ValueError("selector or classifier failed in every fold.")
    blocks = [plan.draw(fold) for fold in done.tolist()]
    n_train = np.array([np.count_nonzero(block.train) for block in blocks])
    n_test = np.array([np.count_nonzero(block.test) for block in blocks])
    # errors of each repeat, pooled over its held-out predictions
    repeat = np.unique(repeat_of[done], return_inverse=True)[1]
    cv1_errors, cv2_errors = (
        np.bincount(repeat, errors[done] * n_test) / np.bincount(repeat, n_test)
        for errors in (cv1, cv2)
    )
    bias = float(np.mean(cv2_errors - cv1_errors))
    # training sets overlap, so the variance is corrected (Nadeau and Bengio 2003)
    error = corrected_error(cv2[done] - cv1[done], float(np.mean(n_test / n_train)))
    options: dict[str, Any] = {"bounds": (-1.0, 1.0), "degrees_of_freedom": len(done) - 1}
    return Estimate(
        name="selection bias",
        value=bias,
        standard_error=error,
        method="cross_validation",
        limits={"corrected_t": partial(normal_interval, bias, error, **options)},
        replicates=cv2_errors - cv1_errors,
        extra=BiasExtra(
            cv1_error=float(cv1_errors.mean()),
            cv2_error=float(cv2_errors.mean()),
            cv1_errors=cv1_errors,
            cv2_errors=cv2_errors,
            n_failed=len(cv1) - len(done),
        ),
        confidence_level=inputs.confidence_level,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class BiasExtra:
    """Errors of both procedures.

    Attributes
    ----------
    cv1_error : float
        Error rate with the features selected once, on all samples (CV1).
    cv2_error : float
        Error rate with the features selected in every training part (CV2).
    cv1_errors, cv2_errors : ndarray of shape (n_repeats,)
        Error rates CV1 and CV2 in each repeat.
    n_failed : int
        Number of folds in which a fit failed.
    """

    cv1_error: float
    cv2_error: float
    cv1_errors: np.ndarray = field(repr=False)
    cv2_errors: np.ndarray = field(repr=False)
    n_failed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class StabilityExtra:
    """Selections of the rounds.

    Attributes
    ----------
    n_rounds : int
        Number of rounds.
    selected_ever : int
        Number of features that were selected in any round.
    selected_always : int
        Number of features that were selected in all rounds.
    frequency : ndarray of shape (n_features,)
        Fraction of the rounds that selected each feature.
    """

    n_rounds: int
    selected_ever: int
    selected_always: int
    frequency: np.ndarray = field(repr=False)


def fold_errors(inputs: _inputs.Inputs, plan: plans.ResamplingPlan) -> np.ndarray:
    """Return the 0-1 error of each fold of a plan."""
    loss = _inputs.resolve_loss("zero_one", inputs.target)
    blocks = Runner(inputs).fits(plan)
    errors = [row_means(loss.of_output(inputs.target, block, output)) for block, output in blocks]
    return np.concatenate(errors)


@_checks.in_order()
def selection_stability(
    supports: Any, *, method: StabilityMeasure = "nogueira", confidence_level: float = 0.95
) -> Estimate:
    r"""Measure the stability of a feature selection over resampled training sets.

    Let :math:`h_j` be the fraction of the `R` rounds that selected feature `j` of `p`, :math:`S_r`
    the features of round `r`, and :math:`\bar k` the mean number of selected features. Then

    .. math::

        \Phi_{Nogueira} &= 1 - \frac{\frac1p \sum_j \frac{R}{R-1} h_j (1 - h_j)}
            {\frac{\bar k}{p} \left(1 - \frac{\bar k}{p}\right)}, \\
        \Phi_{Kuncheva} &= \operatorname{mean}_{r<s}
            \frac{|S_r \cap S_s| - k^2/p}{k - k^2/p}, \\
        \Phi_{Jaccard} &= \operatorname{mean}_{r<s} \frac{|S_r \cap S_s|}{|S_r \cup S_s|} .

    All measures are at most 1, which means that all rounds select the same features. The first two
    are at least :math:`-1/(R-1)`, and their expectation is 0 for features drawn at random.
    Jaccard's measure lies in [0, 1] and is *not* corrected for chance. It increases with
    :math:`\bar k / p`.

    Parameters
    ----------
    supports : bool array-like of shape (n_rounds, n_features)
        Row `r` marks the features of round `r`, as returned by `get_support`.
    method : {"nogueira", "kuncheva", "jaccard"}, default="nogueira"
        Name of the measure. "kuncheva" requires the same number of features in every round.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.

    Returns
    -------
    Estimate
        The measure as `value`, with its interval. In `extra`, `frequency` is the fraction of the
        rounds that selected each feature, `n_rounds` is the number of rounds, and `selected_ever`
        and `selected_always` are numbers of features selected in any and in all rounds. The value
        and its interval are nan, with an `UndefinedMetricWarning`, if the measure is 0/0. This
        happens for a single round, if no feature or every feature is selected (Nogueira, Kuncheva),
        or for a pair of empty rounds (Jaccard).

    Raises
    ------
    ValueError
        If `supports` is not a matrix of truth values, or `method` is "kuncheva" and the rounds
        select different numbers of features.

    Notes
    -----
    If all rounds select the same number of features, the first two measures and their intervals
    are equal, because :math:`\sum_j R h_j^2 = k + (R-1)\, \mathrm{mean}_{r<s} |S_r \cap S_s|`.

    The interval is normal. It is based on Theorem 7 and Corollary 9 of [1]_ for Nogueira's
    measure, and on Hoeffding's projection of a U-statistic of order two for Jaccard's. It is
    asymptotic in the number of rounds, and nan for two rounds of equal size and for equal rounds.
    It assumes independent rounds. The folds of one cross-validation are dependent, and bootstrap
    rounds are less so.

    References
    ----------
    .. [1] Nogueira, S., Sechidis, K. and Brown, G. (2018). On the stability of feature selection
       algorithms. Journal of Machine Learning Research 18 (174), 1-54.
    .. [2] Kuncheva, L. I. (2007). A stability index for feature selection. Proceedings of the
       IASTED International Conference on Artificial Intelligence and Applications, 390-395.

    Examples
    --------
    >>> from skeval.feature_selection import selection_stability
    >>> supports = [[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0]]
    >>> result = selection_stability(supports)
    >>> round(result.value, 4)
    0.5556
    >>> result.extra.frequency.round(2).tolist()
    [1.0, 1.0, 0.67, 0.33, 0.0, 0.0]
    """
    _checks.check_option("method", method, MEASURES)
    _checks.check_confidence_level(confidence_level)
    chosen = check_supports(supports)
    sizes = chosen.sum(axis=1)
    # Kuncheva's index is defined for a single number of features
    if method == "kuncheva" and sizes.min() < sizes.max():
        raise ValueError(
            "method='kuncheva' needs the same number of features in every round, got "
            f"{sizes.min()} to {sizes.max()}. method='nogueira' accepts any numbers."
        )
    result = measure_stability(chosen, method, confidence_level)
    if np.isnan(result.value):
        _checks.warn_undefined(
            f"the {method} stability of {len(chosen)} round(s) is undefined (0/0) and set to nan."
        )
    return result


def measure_stability(
    chosen: np.ndarray, method: str = "nogueira", confidence_level: float = 0.95
) -> Estimate:
    """Return the stability of validated rounds. An undefined value is nan, without a warning."""
    # a single round has nothing to compare with
    value, variance = (np.nan, np.nan) if len(chosen) < 2 else MEASURES[method](chosen)
    # equal rounds give no estimate of the variance
    error = float(np.sqrt(variance)) if variance > ROUNDING**2 else np.nan
    frequency = chosen.mean(axis=0)
    limits = {"normal": partial(normal_interval, float(value), error, bounds=(-1.0, 1.0))}
    return Estimate(
        name="stability of the selection",
        value=float(value),
        standard_error=error,
        method=method,
        limits=limits,
        extra=StabilityExtra(
            n_rounds=len(chosen),
            selected_ever=int(np.count_nonzero(frequency)),
            selected_always=int(np.sum(frequency == 1)),
            frequency=frequency,
        ),
        confidence_level=confidence_level,
    )


def check_supports(supports: Any) -> np.ndarray:
    """Return the rounds as a bool matrix."""
    chosen = _checks.check_data("supports", supports, dtype=None, estimator="skeval")
    if not np.isin(chosen, (0, 1)).all():
        raise ValueError(
            "supports must contain 0 or 1 (or bool) for each round and feature, got "
            f"{chosen[~np.isin(chosen, (0, 1))].tolist()[0]!r}."
        )
    return chosen.astype(bool)


def nogueira(chosen: np.ndarray) -> tuple[float, float]:
    """Return the measure of Nogueira et al. (2018) and its variance (their Theorem 7)."""
    n_rounds, p = chosen.shape
    h = chosen.mean(axis=0)
    share = h.mean()  # kbar / p
    chance = share * (1 - share)
    if not 0 < np.count_nonzero(chosen) < chosen.size:
        return np.nan, np.nan
    value = 1 - n_rounds / (n_rounds - 1) * np.mean(h * (1 - h)) / chance
    shares = chosen.mean(axis=1)  # k_i / p
    bracket = 2 * shares * share - shares - share + 1
    influence = (chosen @ h / p - shares * share + value / 2 * bracket) / chance
    return value, 4 / n_rounds * float(np.var(influence))


def jaccard(chosen: np.ndarray) -> tuple[float, float]:
    """Return the mean pairwise Jaccard index and its variance by projection."""
    n_rounds = len(chosen)
    both = chosen.astype(float) @ chosen.T
    sizes = chosen.sum(axis=1)
    either = sizes[:, None] + sizes - both
    pairs = ~np.eye(n_rounds, dtype=bool)
    if not either[pairs].all():
        return np.nan, np.nan
    of_round = np.divide(both, either, where=pairs, out=np.zeros_like(both)).sum(axis=1)
    of_round /= n_rounds - 1
    return float(of_round.mean()), 4 / n_rounds * float(np.var(of_round))


MEASURES = {"nogueira": nogueira, "kuncheva": nogueira, "jaccard": jaccard}


class SelectedColumns(NamedTuple):
    """Columns that a fitted selector keeps, and their ranks, both of shape (n_features,)."""

    support: np.ndarray
    ranks: np.ndarray


class ClassScores(TransformerMixin, BaseEstimator):
    """Transformer that regresses on class indicators, which gives PLS for classification.

    The scores of `PLSRegression` depend on a numeric target. Its `fit_transform` returns a pair,
    so it cannot be a step of a pipeline.
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any) -> ClassScores:
        """Fit the transformer to one indicator column per class, or one column for two classes."""
        self.transformer_ = clone(self.transformer).fit(X, LabelBinarizer().fit_transform(y))
        return self

    def transform(self, X: Any) -> Any:
        """Return the scores of X."""
        check_is_fitted(self)
        return self.transformer_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the scores."""
        return self.transformer_.get_feature_names_out(input_features)


def prepare_selector(selector: Any) -> Any:
    """Return the selector. Transformers that are regressors are fitted to class indicators."""
    if isinstance(selector, Pipeline):
        if not any(prepare_selector(step) is not step for _, step in selector.steps):
            return selector
        steps = [(name, prepare_selector(step)) for name, step in selector.steps]
        return clone(selector).set_params(steps=steps)
    # RFE(SVR()) has the tags of a regressor, but is a selector
    is_selector = hasattr(selector, "get_support")
    if not is_selector and hasattr(selector, "transform") and is_regressor(selector):
        return ClassScores(selector)
    return selector


def without_selection(selector: Any) -> Any:
    """Return the preprocessing of a selector, that is, the steps that do not select."""
    if isinstance(selector, Pipeline):
        return Pipeline([(name, without_selection(step)) for name, step in selector.steps])
    return "passthrough" if hasattr(selector, "get_support") else selector


def list_steps(selector: Any) -> Iterator[Any]:
    """Yield the steps of a selector, including the steps of nested pipelines."""
    if isinstance(selector, Pipeline):
        for _, step in selector.steps:
            yield from list_steps(step)
    elif selector is not None and selector != "passthrough":
        yield selector


def check_selects(selector: Any) -> None:
    """Raise an error if a step of a fitted selector selects no feature."""
    for step in list_steps(selector):
        if hasattr(step, "get_support") and not np.any(support := step.get_support()):
            raise ValueError(
                f"selector must select at least one of the {len(support)} features, got none."
            )


def read_selection(selector: Any, n_features: int) -> SelectedColumns | None:
    """Return the columns that a fitted selector keeps, or None if it makes new features."""
    check_selects(selector)
    columns, ranks = np.arange(n_features), np.full(n_features, float(n_features))
    for step in list_steps(selector):
        support = step_support(step, len(columns))
        if support is None:
            return None
        # columns that an earlier step dropped keep the worst rank
        step_ranks = feature_ranks(step)
        if step_ranks is not None:
            ranks[columns] = step_ranks
        columns = columns[support]
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = True
    return SelectedColumns(mask, ranks)


def step_support(step: Any, n_features: int) -> np.ndarray | None:
    """Return the mask of the columns that a fitted step keeps, or None if it makes new features."""
    if hasattr(step, "get_support"):
        return np.asarray(step.get_support())
    if not hasattr(step, "get_feature_names_out"):
        return None
    # a column is kept if its name is; extraction returns new names
    names = getattr(step, "feature_names_in_", None)
    if names is None:
        names = np.array([f"column {j}" for j in range(n_features)], dtype=object)
    kept = np.isin(names, names_out := step.get_feature_names_out(names))
    return kept if np.count_nonzero(kept) == len(names_out) else None


def feature_ranks(selector: Any) -> np.ndarray | None:
    """Return the rank of each feature, where 1 is best, or None if a selector has no ranking.

    Ranks come from `ranking_` (recursive elimination) or `scores_` (univariate selection). An
    undefined score ranks last.
    """
    if hasattr(selector, "ranking_"):
        return np.asarray(selector.ranking_, dtype=float)
    if hasattr(selector, "scores_"):
        scores = np.where(np.isnan(selector.scores_), -np.inf, selector.scores_)
        _, places = np.unique(-scores, return_inverse=True)  # older rankdata fails for infinities
        return rankdata(places)
    return None
