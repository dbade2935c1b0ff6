"""The kinds of data that every estimate must serve; which pairs of cases are tried."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from reference.bootstrap import squared, zero_one
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier


class Case(NamedTuple):
    estimator: Any
    X: Any
    y: Any
    loss: Any = zero_one


def few_of(load, n_samples, seed=0):
    data = load()
    rows = np.random.default_rng(seed).choice(len(data.target), n_samples, replace=False)
    return data.data[rows], data.target[rows]


def text_case():
    words = {"ham": ["lunch", "meet", "friend", "offer"], "spam": ["money", "offer", "win", "meet"]}
    rng = np.random.default_rng(3)
    labels = ["ham", "spam"] * 15
    X = [" ".join(rng.choice(words[label], 4)) for label in labels]
    return Case(make_pipeline(CountVectorizer(), MultinomialNB()), X, labels)


def make_cases():
    X_iris, y_iris = few_of(load_iris, 45)
    names = load_iris().target_names[y_iris]
    frame = pd.DataFrame(X_iris, columns=list("abcd"), index=np.arange(45) * 7 + 3)
    X_cancer, y_cancer = few_of(load_breast_cancer, 60)
    X_diabetes, y_diabetes = few_of(load_diabetes, 50)
    selecting = make_pipeline(
        StandardScaler(), SelectKBest(k=5), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)
    )
    counts = sparse.csr_matrix(np.floor(X_iris * 2))
    return {
        "two classes": Case(KNeighborsClassifier(3), X_cancer, y_cancer),
        "regressor": Case(Ridge(), X_diabetes, y_diabetes, squared),
        "pipeline": Case(selecting, X_cancer, y_cancer),
        "multiclass": Case(GaussianNB(), X_iris, y_iris),
        "string labels": Case(GaussianNB(), X_iris, names),
        "negative labels": Case(KNeighborsClassifier(3), X_cancer, 2 * y_cancer - 1),
        "bool labels": Case(KNeighborsClassifier(3), X_cancer, y_cancer.astype(bool)),
        "sparse": Case(MultinomialNB(), counts, y_iris),
        "sparse coo": Case(MultinomialNB(), counts.tocoo(), y_iris),
        "pandas": Case(GaussianNB(), frame, pd.Series(names, index=frame.index, name="kind")),
        "categorical": Case(DecisionTreeClassifier(random_state=0), frame, pd.Categorical(names)),
        "lists": Case(KNeighborsClassifier(3), X_iris.tolist(), names.tolist()),
        "text": text_case(),
    }


CASES = make_cases()


def plain(case):
    """X that the plain loops can index by rows."""
    return case.X.tocsr() if sparse.issparse(case.X) else case.X


def every_other(rows, columns):
    """Return every other pair, as on a chessboard: each row meets half of the columns.

    For what is told apart by its row or by its column, and hardly by both. Entries of `columns`
    that are tuples become several arguments.
    """
    return [
        (row, *(column if isinstance(column, tuple) else (column,)))
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
        if (i + j) % 2 == 0
    ]
