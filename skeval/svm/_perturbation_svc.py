"""A support vector classifier that knows the error it will make, with an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skeval._resampling.folds import limit_folds
from skeval._resampling.progress import fit_task
from skeval.model_selection import ConfidenceInterval, Estimate, perturbation_interval
from skeval.utils._checks import check_count
from skeval.utils._compat import CallbackSupportMixin, with_callbacks

__all__ = ["PerturbationResamplingSVC"]

OF_RESAMPLING = {"random_state", "verbose"}
"""Parameters that `SVC` has, too, but that are not passed on to it."""


class PerturbationResamplingSVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Support vector classifier with a confidence interval of its error.

    `fit` fits `sklearn.svm.SVC`, cross-validates it, and repeats the fit under random weights of
    the samples, whose errors give a confidence interval around the cross-validated error; see
    `skeval.model_selection.perturbation_interval` for the definition.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of `SVC`.
    kernel : {"linear", "poly", "rbf", "sigmoid"} or callable, default="linear"
        Kernel of `SVC`. The theory is of the linear one.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels other than the linear one.
    coef0 : float, default=0.0
        Independent term of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether `SVC` shrinks its problem.
    tol : float, default=1e-3
        Tolerance of `SVC`.
    cache_size : float, default=200
        Size of its kernel cache, in MB.
    class_weight : dict or "balanced", default=None
        Factors of `C` by class, which multiply the random weights.
    max_iter : int, default=-1
        Limit of its iterations, -1 for none. Without a limit libsvm may go on for ever on features
        far from zero (say 1e8 + x), which are to be standardised.
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Shape of `decision_function` for more than two classes.
    break_ties : bool, default=False
        Whether `predict` breaks ties of more than two classes by the decision values.
    n_resamples : int, default=1000
        Number of perturbations. 0 skips cross-validation and perturbation, for a grid search.
    statistic : {"cross_validation", "resubstitution"}, default="cross_validation"
        What is perturbed; "resubstitution" is the published method, which needs many samples and
        few features, and a tenth of the fits.
    interval : {"wilson", "normal", "pivotal", "symmetric", "quantile"}, default=None
        Form of the interval; None is "wilson".
    confidence_level : float, default=0.95
        Nominal coverage.
    cv : int, splitter or iterable of (train, test), default=10
        Folds; a number larger than the smallest class is lowered to its size, with a warning.
    random_state : int, RandomState or None, default=None
        Seed of the folds and perturbations.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Attributes
    ----------
    svc_ : SVC
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    cv_error_ : float
        Cross-validated error.
    resubstitution_error_ : float
        Error on the training samples.
    statistics_ : ndarray of shape (n_resamples,)
        The perturbed statistics `W*`.
    confidence_interval_ : ConfidenceInterval
        The interval around `cv_error_`.
    perturbation_ : Estimate or None
        All of these, which can be read again at another level; None for ``n_resamples=0``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    skeval.model_selection.perturbation_interval : The same of any estimator.

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
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        n_resamples: int = 1000,
        statistic: str = "cross_validation",
        interval: str | None = None,
        confidence_level: float = 0.95,
        cv: Any = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory: Any = None,
    ) -> None:
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PerturbationResamplingSVC:
        """Fit the classifier, then estimate its error and the interval.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, which multiply the random ones.

        Returns
        -------
        self
        """
        check_count("n_resamples", self.n_resamples, 0)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        with fit_task(self, 3 if self.n_resamples else 0, X, y):
            self.svc_ = self._svc().fit(X, y, sample_weight)
            self.classes_ = self.svc_.classes_
            self.perturbation_ = None
            if self.n_resamples:
                self.perturbation_ = self._perturb(X, y, sample_weight)
        return self

    def _perturb(self, X: Any, y: np.ndarray, sample_weight: Any) -> Estimate:
        return perturbation_interval(
            self._svc(),
            X,
            y,
            n_resamples=self.n_resamples,
            statistic=self.statistic,
            interval=self.interval,
            confidence_level=self.confidence_level,
            cv=limit_folds(self.cv, np.unique(y, return_inverse=True)[1]),
            sample_weight=sample_weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            memory=self.memory,
        )

    def _svc(self) -> SVC:
        shared = vars(self).keys() & SVC().get_params().keys() - OF_RESAMPLING
        return SVC(**{name: getattr(self, name) for name in shared})

    def _get_perturbation(self) -> Estimate:
        check_is_fitted(self)
        if self.perturbation_ is None:
            raise AttributeError("n_resamples=0 skipped the estimation of the error.")
        return self.perturbation_

    @property
    def cv_error_(self) -> float:
        """Cross-validated error."""
        return self._get_perturbation().value

    @property
    def resubstitution_error_(self) -> float:
        """Error on the training samples."""
        apparent: float = self._get_perturbation().details["resubstitution"]
        return apparent

    @property
    def statistics_(self) -> np.ndarray:
        """The perturbed statistics `W*`, shape (n_resamples,)."""
        statistics: np.ndarray = self._get_perturbation().details["statistics"]
        return statistics

    @property
    def confidence_interval_(self) -> ConfidenceInterval:
        """The interval around the cross-validated error."""
        return self._get_perturbation().confidence_interval()

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, shape (1, n_features) for two classes; linear kernel only."""
        return self.svc_.coef_

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the decision functions."""
        return self.svc_.intercept_

    @property
    def n_iter_(self) -> np.ndarray:
        """Iterations of `SVC` for each pair of classes."""
        return self.svc_.n_iter_

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._check_data(X)
        return self.svc_.predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values, as `SVC` does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        X = self._check_data(X)
        return self.svc_.decision_function(X)

    def _check_data(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
