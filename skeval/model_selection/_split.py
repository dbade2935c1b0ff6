"""The bootstrap as a scikit-learn splitter, and model selection by .632."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from skeval._resampling.units import (
    bootstrap_plan,
    check_class_sizes,
    drawing_units,
)
from skeval.model_selection._searches import read_split_scores
from skeval.utils._checks import check_count, check_data, check_flag, check_same_length, check_y
from skeval.utils._compat import MetadataRequester, num_samples
from skeval.utils._seeds import RandomStateLike

__all__ = ["BootstrapSplit", "refit_632", "score_632"]


class BootstrapSplit(MetadataRequester):
    """Bootstrap resamples as train sets, the samples that they leave out as test sets.

    A scikit-learn cross-validator for ``cv=``. The training indices repeat samples; the same seed
    gives the resamples of `bootstrap_error`. Groups that are passed to `split` are drawn whole.

    Parameters
    ----------
    n_splits : int, default=200
        Number of resamples.
    stratify : bool, default=False
        Draw within each class.
    include_resubstitution : bool, default=False
        Put a split (all, all) first, for `score_632` and `refit_632`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples.

    See Also
    --------
    score_632 : The .632 estimate of the scores of such a split.
    refit_632 : Model selection by it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import BootstrapSplit, score_632
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = BootstrapSplit(50, include_resubstitution=True, random_state=0)
    >>> scores = cross_validate(KNeighborsClassifier(), X, y, cv=cv)["test_score"]
    >>> round(score_632(scores, cv=cv), 3)
    0.963
    """

    # Groups that reach a splitter are its own, with metadata routing as without.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 200,
        *,
        stratify: bool = False,
        include_resubstitution: bool = False,
        random_state: RandomStateLike = None,
    ) -> None:
        check_flag("stratify", stratify)
        check_flag("include_resubstitution", include_resubstitution)
        self.n_splits = check_count("n_splits", n_splits)
        self.stratify = stratify
        self.include_resubstitution = include_resubstitution
        self.random_state = random_state

    def __repr__(self) -> str:
        names = ("n_splits", "stratify", "include_resubstitution", "random_state")
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
        return self.n_splits + bool(self.include_resubstitution)

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the training indices, with repetitions, and the test indices of each resample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; only their number matters.
        y : array-like of shape (n_samples,), default=None
            Labels, of which every resample holds two; anything but labels is not looked at.
        groups : array-like of shape (n_samples,), default=None
            Groups that are drawn whole.

        Yields
        ------
        train, test : int ndarray

        Raises
        ------
        ValueError
            If lengths differ, `y` or `groups` hold nan, or no resample has two classes and a
            sample left out.
        """
        check_same_length(X=X, y=y, groups=groups)
        n_samples = num_samples(X)
        classes, codes = _encode_classes(y)
        if self.stratify:
            if codes is None:
                raise ValueError("stratify=True needs class labels in y.")
            check_class_sizes(classes, codes)
        units = drawing_units(n_samples, codes if self.stratify else None, groups)
        plan = bootstrap_plan(units, self.n_splits, self.random_state, classes, codes)
        everything = np.arange(n_samples)
        if self.include_resubstitution:
            yield everything, everything
        for block in plan.blocks():
            for counts, test in zip(block.train, block.test, strict=True):
                yield np.repeat(everything, counts), np.flatnonzero(test)


def _encode_classes(y: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    if y is None:
        return None, None
    assert_all_finite(y, input_name="y")
    with warnings.catch_warnings():  # Whole numbers may be a regression target, not many classes.
        warnings.simplefilter("ignore", UserWarning)
        kind = type_of_target(y)
    if kind not in ("binary", "multiclass"):
        return None, None
    return np.unique(check_y("y", y), return_inverse=True)


def check_resubstitution(cv: Any, n_scores: int) -> None:
    """Raise unless so many scores are those of a splitter that puts (all, all) first."""
    if not isinstance(cv, BootstrapSplit) or not cv.include_resubstitution:
        raise ValueError(
            "cv must be the BootstrapSplit(include_resubstitution=True) that made the scores, as "
            f"the first of them has to be the resubstitution score; got {cv!r}."
        )
    if n_scores != cv.get_n_splits():
        raise ValueError(
            f"cv must have made the scores, of which there are {n_scores}; it makes "
            f"{cv.get_n_splits()}."
        )


def score_632(scores: Any, *, cv: BootstrapSplit) -> float:
    """Return the .632 estimate ``0.368 scores[0] + 0.632 mean(scores[1:])`` of any score.

    Parameters
    ----------
    scores : array-like of shape (1 + n_resamples,)
        The resubstitution score, then the out-of-bag score of each resample, as `cv` yields them.
    cv : BootstrapSplit
        The splitter that made the scores, with ``include_resubstitution=True``. Scores do not show
        whether the first is that of resubstitution, without which the estimate is wrong.

    Returns
    -------
    float
        In the unit and direction of the scores; the mean is that over resamples.

    Raises
    ------
    TypeError
        If `scores` is a dict, such as ``cross_validate`` returns, or a search.
    ValueError
        If `scores` is not a vector of finite numbers, or not what `cv` yields.

    See Also
    --------
    bootstrap_error : The same of a loss, with its standard error.

    Examples
    --------
    >>> from skeval.model_selection import BootstrapSplit, score_632
    >>> cv = BootstrapSplit(2, include_resubstitution=True)
    >>> round(score_632([1.0, 0.8, 0.9], cv=cv), 4)
    0.9052
    """
    if isinstance(scores, Mapping) or hasattr(scores, "fit"):
        raise TypeError(
            "scores must be a vector, such as cross_validate(...)['test_score'] or the split "
            f"scores of a candidate, got {type(scores).__name__}."
        )
    values = check_data("scores", scores, ensure_2d=False, dtype=float, estimator="score_632")
    if values.ndim != 1:
        raise ValueError(f"scores must be a vector, got shape {values.shape}.")
    check_resubstitution(cv, len(values))
    return float(0.368 * values[0] + 0.632 * values[1:].mean())


def refit_632(cv_results: Mapping[str, Any], *, cv: BootstrapSplit, metric: str = "score") -> int:
    """Return the index of the candidate with the best .632 score, for ``refit=``.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search.
    cv : BootstrapSplit
        The splitter of that search, with ``include_resubstitution=True``; bind it with
        `functools.partial`.
    metric : str, default="score"
        The metric of a search with several; bind it, too.

    Returns
    -------
    int
        Position in ``cv_results["params"]``. Note that `mean_test_score` of such a search mixes
        the resubstitution score in; `score_632` of a candidate's split scores is the estimate.

    Raises
    ------
    ValueError
        If `cv_results` has no such metric, or not as many scores as `cv` makes splits.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import BootstrapSplit, refit_632
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = BootstrapSplit(30, include_resubstitution=True, random_state=0)
    >>> grid = {"n_neighbors": [1, 15, 120]}
    >>> best = partial(refit_632, cv=cv)
    >>> GridSearchCV(KNeighborsClassifier(), grid, cv=cv, refit=best).fit(X, y).best_params_
    {'n_neighbors': 1}
    """
    scores = read_split_scores(cv_results, metric)
    check_resubstitution(cv, len(scores))
    estimates = 0.368 * scores[0] + 0.632 * scores[1:].mean(axis=0)
    if np.isnan(estimates).all():
        raise ValueError(f"cv_results holds no candidate whose {metric!r} is a number throughout.")
    return int(np.nanargmax(estimates))
