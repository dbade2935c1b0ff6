"""A support vector classifier with a confidence interval for its error."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from time import process_time
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_memory, validate_data

from skeval._adapters.runner import UNKNOWN, Solver, supports
from skeval._resampling import inputs
from skeval._resampling.plans import limit_folds
from skeval._resampling.progress import fit_task, tell, write_seconds
from skeval._resampling.sampling_units import Target
from skeval.model_selection import ConfidenceInterval, Estimate, perturbation_interval
from skeval.utils import _checks
from skeval.utils._checks import Statistic
from skeval.utils._compat import CallbackSupportMixin, params_of_rows, safe_indexing, with_callbacks

PerturbationInterval = Literal["wilson", "normal", "pivotal", "symmetric", "quantile"]

DecisionShape = Literal["ovo", "ovr"]

SVC_PARAMETERS = frozenset(SVC().get_params()) - {"probability", "random_state", "verbose"}
"""Parameters shared with `SVC`. The seed and the verbosity of this estimator are its own."""

OF_RESAMPLING = frozenset(
    {"perturbation_", "cv_error_", "resubstitution_error_", "statistics_", "confidence_interval_"}
)
"""Attributes that run the resampling when they are first read."""


MAX_RATIO = 100.0
"""Ratio of largest to smallest spread of columns above which a fit takes much longer."""
SOLVED = 0.1
"""Time of a fit by a solver, relative to that of `SVC`."""


def attribute_of_svc(name: str, doc: str) -> Any:
    """Return a property that reads an attribute of the fitted `SVC`."""

    def read(model: PerturbationResamplingSVC) -> Any:
        check_is_fitted(model)
        return getattr(model.svc_, name)

    return property(read, doc=doc)


class PerturbationResamplingSVC(
    inputs.HintsAtParams, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    r"""Support vector classifier with a confidence interval for its error.

    `fit` fits `sklearn.svm.SVC`. The resampling runs when `cv_error_`, `confidence_interval_` or
    another of its results is first read. The procedure is then cross-validated, and its fits are
    repeated with random sample weights. The errors of these fits give a confidence interval for the
    cross-validated error, which `skeval.model_selection.perturbation_interval` defines. The first
    reading takes the time of `n_resamples` cross-validations, or less with a solver. A warning
    states the number of fits if they will take more than a minute. A cross-validation or grid
    search that does not read an interval is as fast as with `SVC`.

    .. warning::
        The resampling does not repeat the steps before this estimator. In
        ``make_pipeline(SelectKBest(k=20), PerturbationResamplingSVC())`` the selection uses the
        labels of all samples, so `cv_error_` and the interval are far too low. On pure noise with
        50 samples and 2,000 features, the error is 0. Put the steps inside, as in
        ``PerturbationResamplingSVC(estimator=make_pipeline(SelectKBest(k=20), SVC()))``. Functions
        and scorers of skeval warn about such a pipeline.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of `SVC`.
    kernel : {"linear", "poly", "rbf", "sigmoid"} or callable, default="linear"
        Kernel of `SVC`. The theory assumes the linear kernel.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient for "rbf", "poly" and "sigmoid".
    coef0 : float, default=0.0
        Independent term of the kernels "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether to use the shrinking heuristic.
    tol : float, default=1e-3
        Tolerance for the stopping criterion.
    cache_size : float, default=200
        Size of the kernel cache, in MB.
    class_weight : dict or "balanced", default=None
        Factors of `C` for each class. They multiply the random weights.
    max_iter : int, default=-1
        Maximum number of iterations, or -1 for no limit. Without a limit, libsvm may not stop if
        features are far from zero (such as 1e8 + x). Standardize such features.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Shape of `decision_function` with more than two classes.
    break_ties : bool, default=False
        Whether `predict` breaks ties of more than two classes by the decision values, as in `SVC`.
    estimator : SVC or Pipeline that ends in one, default=None
        The procedure. All its steps, including selection and scaling, are fitted in every fold and
        for every perturbation. None means an `SVC` with the parameters above. If a procedure is
        passed, the parameters above must have their default values.
    n_resamples : int, default=1000
        Number of perturbations. 0 skips the estimation of the error.
    statistic : {"cross_validation", "resubstitution"}, default="cross_validation"
        The perturbed error. "resubstitution" is the published method. It requires many samples and
        few features, and needs a tenth of the fits.
    interval : {"wilson", "normal", "pivotal", "symmetric", "quantile"}, default=None
        Form of the interval. None means "wilson".
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    cv : int, splitter or iterable of (train, test), default=10
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. If an integer is larger than the smallest class, it
        is reduced to the size of this class, with a warning.
    random_state : int, RandomState or None, default=None
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
    estimator_ : SVC or Pipeline
        The fitted procedure.
    svc_ : SVC
        The last step of `estimator_`.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    cv_error_ : float
        Cross-validated error. It repeats `estimator`, but no step before this estimator.
    resubstitution_error_ : float
        Error of the fitted model on its training samples.
    statistics_ : ndarray of shape (n_resamples,)
        The perturbed statistics `W*`.
    confidence_interval_ : ConfidenceInterval
        The interval for `cv_error_`.
    perturbation_ : Estimate or None
        The complete result, or None with ``n_resamples=0``.
    n_features_in_ : int
        Number of features seen during fit.
    support_ : ndarray of shape (n_support_vectors,)
        Indices of the support vectors in the training samples.

    See Also
    --------
    skeval.model_selection.perturbation_interval : Computes the interval for any estimator.
    skeval.model_selection.make_interval_scorer : Makes a scorer from the interval.

    Notes
    -----
    The other attributes of `SVC`, such as `support_vectors_`, `dual_coef_` and `coef_`, are read
    from `svc_`.

    `fit` keeps a copy of the samples until the error is read, and fixes the seed of the
    resampling, so that the interval is always the same. A model that is pickled before its error
    is read contains the samples. Until then, ``dir`` does not list the results of the resampling,
    so that a display of the model in a notebook does not compute them.

    With metadata routing enabled, the steps of `estimator` receive what they request, as in a
    pipeline. By default, the error and the folds use `sample_weight` and `groups`.

    References
    ----------
    .. [1] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning Research
       9, 521-540.

    Examples
    --------
    >>> from skeval.datasets import make_gaussian_classes
    >>> from skeval.svm import PerturbationResamplingSVC
    >>> data = make_gaussian_classes(100, 3, separation=2, random_state=0)
    >>> svc = PerturbationResamplingSVC(n_resamples=200, random_state=0).fit(data.X, data.y)
    >>> svc.confidence_interval_.low < svc.cv_error_ < svc.confidence_interval_.high
    True
    """

    __metadata_request__fit: ClassVar = {"groups": True}
    _resample: partial[Estimate] | None
    """Call that estimates the error, until it is made."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        max_iter: int = -1,
        decision_function_shape: DecisionShape = "ovr",
        break_ties: bool = False,
        estimator: Any = None,
        n_resamples: int = 1000,
        statistic: Statistic = "cross_validation",
        interval: PerturbationInterval | None = None,
        confidence_level: float = 0.95,
        cv: Any = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory: Any = None,
    ) -> None:
        # parameters of SVC
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        # the procedure and its resampling
        self.estimator = estimator
        self.n_resamples = n_resamples
        self.statistic = statistic
        self.interval = interval
        self.confidence_level = confidence_level
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> PerturbationResamplingSVC:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, or other input of the first step of `estimator`.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. They multiply the random weights, and every step that accepts weights
            receives them. If a step accepts no weights, and the weights are integers, such as the
            counts of a bootstrap sample, each row is repeated as often as its weight. If the mean
            weight exceeds 10, rows are not repeated. The resampling then fits this step without
            weights. Samples of weight 0 are omitted.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient. Groups are never split. Steps that split by
            groups, such as a search, receive the groups.
        **params : dict
            Other arguments that steps of `estimator` request. They require metadata routing.

        Returns
        -------
        self
        """
        # parameters and data
        self._check_parameters()
        X, y = self._check_samples(X, y)
        groups, cv = _checks.check_groups(groups, len(y)), self.cv
        procedure, rows = self._procedure(), np.arange(len(y))
        if sample_weight is not None:
            weights = _checks.check_weights("sample_weight", sample_weight, len(y))
            rows = np.flatnonzero(weights)
            params = params_of_rows(X, params, rows)
            X, y, sample_weight, groups, cv = inputs.drop_unweighted(X, y, weights, groups, cv)
        # counts of a bootstrap sample repeat rows for the steps that accept no weights
        metadata = {"sample_weight": sample_weight, "groups": groups} | params
        metadata = {name: value for name, value in metadata.items() if value is not None}
        repeated, metadata = inputs.repeat_rows(procedure, X, metadata)
        if self.estimator is None:
            arguments = params | inputs.weight_parameters(procedure, sample_weight)
        else:
            arguments = inputs.route_fit(self, metadata, estimator=procedure)["estimator"]
        # the user may change X before the error is read, so one copy serves the fit and the error
        X, y = (deepcopy(X), np.array(y)) if self.n_resamples else (X, y)
        start = process_time()
        with fit_task(self, 0, X, y):
            X_fitted = X if isinstance(repeated, slice) else safe_indexing(X, repeated)
            self.estimator_: Any = clone(procedure).fit(X_fitted, y[repeated], **arguments)
        self._seconds = process_time() - start
        self.svc_: Any = inputs.last_step(self.estimator_)
        self.classes_: np.ndarray = self.svc_.classes_
        # indices of samples are those before the samples of weight 0 were left out
        self.support_: np.ndarray = rows[repeated][self.svc_.support_]
        # the error is estimated when it is first read
        self._withhold_estimates("n_resamples=0 skips the estimation of the error.")
        self._fit_groups = groups
        if not self.n_resamples:
            self.perturbation_: Estimate | None = None
        else:
            # the parameters may change, too
            own = self.get_params(deep=False).keys() - SVC_PARAMETERS - {"estimator"}
            options = {name: getattr(self, name) for name in own}
            options |= {"sample_weight": sample_weight, "groups": deepcopy(groups), "cv": cv}
            options |= {"params": deepcopy(params) or None}
            options["random_state"] = _checks.root_seed(self.random_state)
            options["cv"] = limit_folds(cv, np.unique(y, return_inverse=True)[1])
            self._resample = partial(perturbation_interval, clone(procedure), X, y, **options)
            self._is_routed = get_config()["enable_metadata_routing"]
        return self

    def _check_parameters(self) -> None:
        for name in ("kernel", "estimator"):
            _checks.refuse_class(name, getattr(self, name))
        _checks.check_jobs(self.n_jobs, self.verbose)
        check_memory(self.memory)
        _checks.check_count("n_resamples", self.n_resamples, 0)
        _checks.check_option("statistic", self.statistic, get_args(Statistic))
        if self.interval is not None:
            _checks.check_option("interval", self.interval, get_args(PerturbationInterval))
        _checks.check_confidence_level(self.confidence_level)
        if self.estimator is None:
            return
        # the procedure ends in an SVC, which has its own parameters
        final = inputs.last_step(self.estimator)
        if not isinstance(final, SVC):
            raise TypeError(
                "estimator must be an SVC or a pipeline that ends in an SVC, got the last step "
                f"{type(final).__name__}. perturbation_interval accepts any estimator."
            )
        # parameters of SVC set here would have no effect
        defaults = type(self)().get_params(deep=False)
        changed = [name for name in sorted(SVC_PARAMETERS) if name in defaults]
        changed = [name for name in changed if getattr(self, name) != defaults[name]]
        if changed:
            raise ValueError(
                f"{changed[0]} must have its default value if estimator is passed, got "
                f"{getattr(self, changed[0])!r}. Set it in the SVC of estimator."
            )

    def _check_samples(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        y = _checks.plain_text(y)
        _checks.check_complete("y", y)
        _checks.check_same_length(X=X, y=y)
        if self.estimator is None:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        else:  # its first step checks X, which may contain texts
            y = validate_data(self, X="no_validation", y=y)  # drops feature names
            validate_data(self, X, skip_check_array=True)
        check_classification_targets(y)
        return X, y

    def _procedure(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        shared = vars(self).keys() & SVC_PARAMETERS
        # the seed is of probabilities only; None would advance the global generator
        return SVC(**{name: getattr(self, name) for name in shared}, random_state=0)

    def __getattr__(self, name: str) -> Any:
        """Run the resampling when one of its results is first read, and keep all results.

        Displays of scikit-learn read all attributes that ``dir`` lists, so these attributes run
        nothing.
        """
        if name not in OF_RESAMPLING:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        check_is_fitted(self)
        if self._resample is None:
            raise AttributeError(self._not_estimable)
        (procedure, X, y), options = self._resample.args, self._resample.keywords
        self._announce_fits(X, y, **options)
        # random weights are no counts
        if options["sample_weight"] is not None:
            inputs.warn_unweighted(procedure, options["sample_weight"])
        with config_context(enable_metadata_routing=self._is_routed):
            result = self._resample()
        # results become attributes, so later readings do not run this method
        self._resample, self.perturbation_ = None, result
        self.cv_error_: float = result.value
        self.resubstitution_error_: float = result.extra.resubstitution
        self.statistics_: np.ndarray = result.extra.statistics
        self.confidence_interval_: ConfidenceInterval = result.interval
        return vars(self)[name]

    def _announce_fits(self, X: Any, y: np.ndarray, **options: Any) -> None:
        """Report the number of fits that follow. Warn if they take more than a minute."""
        n_folds = check_cv(options["cv"]).get_n_splits(X, y, options["groups"])
        by_fold = options["statistic"] == "cross_validation"
        # each draw of weights repeats the fits, in every fold if it is cross-validated
        n_fits = n_folds + 1 + options["n_resamples"] * (n_folds if by_fold else 1)
        # columns of very different scales slow the fits, and no solver agrees with them
        unscaled = False
        if self.estimator is None and isinstance(X, np.ndarray) and self.kernel != "precomputed":
            spread = X.std(axis=0)
            unscaled = bool(spread.max() > MAX_RATIO * np.min(spread[spread > 0], initial=np.inf))
        seconds = self._seconds * n_fits * (1.0 if unscaled else SOLVED)
        text = f"the error needs {n_fits} fits, about {write_seconds(seconds)}"
        if options["verbose"]:
            tell(f"skeval: {text}")
        if seconds > 60:
            remedy = "n_resamples=200, or statistic='resubstitution', needs fewer"
            if unscaled:
                remedy = (
                    "the columns of X differ in scale, which slows the fits. Put the scaling "
                    "inside, estimator=make_pipeline(StandardScaler(), SVC(kernel='linear'))"
                )
            _checks.warn_user(f"{text}; {remedy}.")

    @property
    def _own_error(self) -> str | None:
        """Attribute with the error of the procedure, which ignores steps before it."""
        return "cv_error_" if self.n_resamples else None

    def _withhold_estimates(self, reason: str) -> None:
        """Make every error estimate raise an error that states this reason."""
        self._not_estimable, self._resample = reason, None
        for name in OF_RESAMPLING & vars(self).keys():
            delattr(self, name)

    coef_: Any = attribute_of_svc("coef_", "Weights of the features, for a linear kernel only.")
    intercept_: Any = attribute_of_svc("intercept_", "Intercepts of the decision functions.")
    n_iter_: Any = attribute_of_svc("n_iter_", "Number of iterations for each pair of classes.")
    support_vectors_: Any = attribute_of_svc("support_vectors_", "Support vectors.")
    dual_coef_: Any = attribute_of_svc("dual_coef_", "Coefficients of the support vectors.")
    n_support_: Any = attribute_of_svc("n_support_", "Number of support vectors of each class.")
    fit_status_: Any = attribute_of_svc("fit_status_", "0 if the fit converged, 1 otherwise.")
    shape_fit_: Any = attribute_of_svc("shape_fit_", "Shape of the training samples of the `SVC`.")
    class_weight_: Any = attribute_of_svc("class_weight_", "Factors of `C` by class.")

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments that the steps of `estimator` request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._respond("predict", X, params)

    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """Return the decision values, as `SVC` does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        **params : dict
            Arguments that the steps of `estimator` request, as in a pipeline.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._respond("decision_function", X, params)

    def _respond(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if self.estimator is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        else:
            params = inputs.route_call(self, method, params, "estimator", method)
        return getattr(self.estimator_, method)(X, **params)

    def get_metadata_routing(self) -> MetadataRequest | MetadataRouter:
        """Return the requests of an `SVC`, or of the steps of `estimator`.

        Returns
        -------
        MetadataRequest or MetadataRouter
        """
        own = super().get_metadata_routing()
        if self.estimator is None:
            return own
        if own.fit.requests["sample_weight"] is None:  # the steps of the estimator decide
            own.fit.add_request(param="sample_weight", alias=True)
        router = MetadataRouter(owner=type(self).__name__).add_self_request(own)
        return router.add(estimator=self.estimator, method_mapping=inputs.OF_CLASSIFIER)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._procedure()).input_tags
        return tags


@supports.register(PerturbationResamplingSVC)
def support_procedure(
    estimator: PerturbationResamplingSVC, X: Any, target: Target, transformers: tuple
) -> Solver | str:
    """Return the solver of the `SVC` that the estimator fits, which predicts the same labels."""
    if type(estimator) is not PerturbationResamplingSVC or estimator.estimator is not None:
        return UNKNOWN
    return supports(estimator._procedure(), X, target, transformers)
