"""Names of estimators, and what a notebook shows of results."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.metrics.cluster import pair_counts
from skeval.model_selection import ErrorEstimate, compare_classifiers, holdout_error
from skeval.utils._text import name_estimators

SCALED = make_pipeline(StandardScaler(), SVC())


@pytest.mark.parametrize(
    ("estimators", "names"),
    [
        ([SVC(), GaussianNB()], ["SVC", "GaussianNB"]),
        ([SCALED], ["SVC"]),
        ([SCALED, make_pipeline(StandardScaler(), GaussianNB())], ["SVC", "GaussianNB"]),
        ([SCALED, SVC()], ["StandardScaler + SVC", "SVC"]),
        ([SCALED, make_pipeline("passthrough", SVC())], ["StandardScaler + SVC", "SVC"]),
        ([make_pipeline(SCALED), SVC()], ["StandardScaler + SVC", "SVC"]),
        ([SVC(C=1), SVC(C=2)], ["SVC (1)", "SVC (2)"]),
    ],
)
def test_names(estimators, names):
    assert name_estimators(*estimators) == names


def test_a_comparison_tells_pipelines_apart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    other = make_pipeline(StandardScaler(), LogisticRegression())
    found = compare_classifiers(SCALED, other, X, y, cv=3, random_state=0)
    assert (found.name_a, found.name_b) == ("SVC", "LogisticRegression")


def test_a_notebook_shows_what_is_printed():
    result = holdout_error(["<b>"] * 5 + ["c"] * 5, ["c"] * 10)
    assert isinstance(result, ErrorEstimate)
    for one in (result, pair_counts([0, 0, 1], [0, 1, 1])):
        shown = one._repr_html_()
        assert shown.startswith("<pre>")
        assert str(one).splitlines()[1].split()[0] in shown
