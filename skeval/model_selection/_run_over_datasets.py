"""The experiment itself: several classifiers, several data sets, the same splits for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence

from skeval._resampling.fits import score_plan
from skeval._resampling.folds import fold_plan, resolve_folds
from skeval._resampling.task import read_task
from skeval.model_selection._comparison_checks import (
    check_estimators,
    check_named,
    choose_scoring,
    resolve_scorer,
)
from skeval.utils._compat import validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike, root_seed
from skeval.utils._text import ShownAsText, align_text, name_scoring, write_number

__all__ = ["DatasetScores", "run_over_datasets"]


@dataclass(frozen=True, eq=False)
class DatasetScores(ShownAsText, Mapping):
    """Scores of several classifiers on the splits of several data sets.

    It is a mapping of data sets to dicts of classifiers to scores: ``scores["iris"]["svm"]`` is an
    array of shape (n_splits,). `compare_over_datasets` takes it as it is.

    Attributes
    ----------
    scoring : str
        Name of the score.
    names : tuple of str
        The classifiers.
    scores : dict of str to dict of str to ndarray
        Scores of the splits by data set and classifier.
    test_fraction : float
        Mean size of a test set, relative to the data set: what the hierarchical test takes.
    """

    scoring: str
    names: tuple[str, ...]
    scores: dict[str, dict[str, np.ndarray]] = field(repr=False)
    test_fraction: float

    def __getitem__(self, dataset: str) -> dict[str, np.ndarray]:
        return self.scores[dataset]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self) -> DataFrame:
        """Return one row for each data set, classifier and split: the long form.

        Returns
        -------
        pandas.DataFrame
        """
        rows = [
            {"dataset": dataset, "classifier": name, "split": split, "score": score}
            for dataset, by_name in self.scores.items()
            for name, scores in by_name.items()
            for split, score in enumerate(scores.tolist())
        ]
        return make_frame(rows)

    def __str__(self) -> str:
        means = {
            name: [float(np.mean(by_name[name])) for by_name in self.scores.values()]
            for name in self.names
        }
        numbers = {
            name: [
                write_number(each) for each in (float(np.mean(listed)), min(listed), max(listed))
            ]
            for name, listed in means.items()
        }
        rows = [
            (name, f"{mean}  ({least} to {most})") for name, (mean, least, most) in numbers.items()
        ]
        title = f"{self.scoring} on {len(self)} data sets: mean (lowest to highest)"
        return align_text(title, rows)


@validate_params(
    {
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
def run_over_datasets(
    estimators: Mapping[str, Any],
    datasets: Mapping[str, Any],
    *,
    cv: Any = None,
    scoring: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> DatasetScores:
    """Score several classifiers on several data sets, on the same splits of each.

    With `memory` it goes on where it was killed: what is finished is read, not fitted again.

    Parameters
    ----------
    estimators : dict of str to classifier
        The classifiers, or regressors.
    datasets : dict of str to (X, y), (X, y, groups), Table or callable
        The data sets, also as `load_table` returns them; a callable without arguments that returns
        one is called when it is its turn, so that only one need be in memory.
    cv : int, splitter or iterable, default=None
        Folds, as in `cross_val_error`; None means 10.
    scoring : str or callable, default=None
        A name of `get_scorer` or a scorer; None is the accuracy, of regressors R2.
    random_state : int, RandomState, Generator or None, default=None
        Draws the folds. With `memory`, and folds by number, an int, for folds that are drawn anew
        are not found again.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it. The fits of one classifier on
        one data set run side by side, through whatever joblib backend is active, a cluster too.
    verbose : int, default=0
        1 shows a progress bar for the fits of each classifier on each data set.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.

    Returns
    -------
    scores : DatasetScores
        The scores of all splits, for `compare_over_datasets`.

    Raises
    ------
    TypeError
        If `estimators` or `datasets` is no dict of names, or an estimator lacks a method.
    ValueError
        If a data set is none, or `memory` is given and folds would be drawn anew.

    Notes
    -----
    An error in a fit is raised with a note that names the classifier and the data set; what was
    finished before it is kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skeval.model_selection import run_over_datasets
    >>> scores = run_over_datasets(
    ...     {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)},
    ...     {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)},
    ...     cv=5,
    ...     random_state=0,
    ... )
    >>> print(scores)
    accuracy on 2 data sets: mean (lowest to highest)
      bayes  0.9682  (0.9533 to 0.9830)
      tree   0.9346  (0.9159 to 0.9533)
    """
    check_named("estimators", estimators, 1)
    check_named("datasets", datasets, 1)
    words = {f"estimators[{name!r}]": estimator for name, estimator in estimators.items()}
    check_estimators(words, "corrected_t", None)
    if memory is not None and random_state is None and (cv is None or isinstance(cv, Integral)):
        raise ValueError(
            "random_state must be an int where memory is given and cv is a number of folds, got "
            "None: folds that are drawn anew are not found again."
        )
    scoring = choose_scoring("corrected_t", scoring, next(iter(estimators.values())))
    run = _Run(
        estimators=dict(estimators),
        cv=cv,
        scoring=scoring,
        scorer=resolve_scorer(scoring),
        root=root_seed(random_state),
        options={"n_jobs": n_jobs, "verbose": verbose, "memory": memory},
    )
    found = {name: run.score_dataset(name, dataset) for name, dataset in datasets.items()}
    return DatasetScores(
        scoring=name_scoring(scoring),
        names=tuple(estimators),
        scores={name: scores for name, (scores, _) in found.items()},
        test_fraction=float(np.mean([fraction for _, fraction in found.values()])),
    )


@dataclass(frozen=True)
class _Run:
    """What is done on each data set."""

    estimators: dict[str, Any]
    cv: Any
    scoring: Any
    scorer: Any
    root: SeedSequence
    options: dict[str, Any]

    def score_dataset(self, name: str, dataset: Any) -> tuple[dict[str, np.ndarray], float]:
        """Return the scores of all estimators, and the mean fraction that is tested."""
        X, y, groups = _read_dataset(name, dataset)
        scores = {}
        at = f"on the data set {name!r}"
        try:
            first = next(iter(self.estimators.values()))
            task = read_task(first, X, y, groups=groups, with_loss=False, **self.options)
            target = task.target
            folds = list(resolve_folds(self.cv, task.X, target, task.groups, self.root))
            plan = fold_plan(len(target), folds)
            for estimator_name, estimator in self.estimators.items():
                at = f"{estimator_name!r} on the data set {name!r}"
                blocks = score_plan(task.of(estimator), plan, self.scorer, self.scoring)
                scores[estimator_name] = np.array([score for block in blocks for score in block])
        except Exception as error:
            error.add_note(f"run_over_datasets was at work {at}.")
            raise
        return scores, float(np.mean([len(test) / len(target) for _, test in folds]))


def _read_dataset(name: str, dataset: Any) -> tuple[Any, Any, Any]:
    """Return X, y and groups of a data set, or of what a callable returns."""
    if callable(dataset):
        dataset = dataset()
    if hasattr(dataset, "X") and hasattr(dataset, "y"):
        dataset = dataset.X, dataset.y
    if not isinstance(dataset, tuple | list) or len(dataset) not in (2, 3):
        raise ValueError(
            f"datasets[{name!r}] must be (X, y), (X, y, groups) or a function that returns one, "
            f"got {type(dataset).__name__}."
        )
    X, y, *groups = dataset
    return X, y, groups[0] if groups else None
