"""Permutation importance over folds: against a loop, kinds of data, groups of columns, errors."""

import numpy as np
import pandas as pd
import pytest
from reference.importance import mean_drops
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval.model_selection import feature_importance

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:80, :4], Y[:80]


def values(importance):
    return {name: (one.value, *one.confidence_interval()) for name, one in importance.items()}


def values_of(data, estimator=None, **options):
    options = {"n_folds": 4, "n_repeats": 2, "random_state": 0} | options
    return values(feature_importance(estimator or Ridge(0.1), data, Y, **options))


def test_mean_and_interval_of_a_loop():
    # other folds and permutations of the same samples
    importance = feature_importance(
        Ridge(0.1), X, Y, n_folds=4, n_repeats=1, n_permutations=100, random_state=0
    )
    folds = [KFold(4, shuffle=True, random_state=seed) for seed in range(15)]
    expected, spread = mean_drops(Ridge(0.1), X, Y, folds)
    for column, one in importance.items():
        assert abs(one.value - expected[column]) < 4 * spread[column]
        drops = one.replicates
        error = np.sqrt((1 / 4 + 1 / 3) * np.var(drops, ddof=1))
        assert one.standard_error == pytest.approx(error)


def test_copies_are_shuffled_together():
    copied = np.column_stack([X, X[:, 2]])
    alone, both = values_of(copied, max_correlation=1), values_of(copied.tolist())
    assert set(both) == {"0", "1", "2 + 4", "3"}
    # a copy hides the use of a column that is shuffled alone
    assert both["2 + 4"][0] > alone["2"][0] + alone["4"][0]


def test_columns_without_use_and_text_columns():
    iris, y = load_iris(return_X_y=True, as_frame=True)
    iris["noise"] = np.random.default_rng(0).permutation(len(y))
    iris["kind"] = pd.Categorical(["a", "b", "c"] * 50)
    # the codes change no prediction, so their drop does not vary
    with pytest.warns(UndefinedMetricWarning, match="both of its limits are 0"):
        scores = feature_importance(
            make_pipeline(CategoriesToCodes(), LinearDiscriminantAnalysis()),
            iris,
            y,
            scoring="balanced_accuracy",
            n_folds=5,
            n_repeats=2,
            random_state=0,
        )
    assert next(iter(scores)) == "sepal length (cm) + petal length (cm) + petal width (cm)"
    assert scores["noise"].interval.low <= 0.02
    assert abs(scores["noise"].value) < 0.02
    assert scores["kind"].value == 0
    assert np.isnan(scores["kind"].interval.low)


class CategoriesToCodes:
    """Step that needs the dtype of the categories, so that it must survive the shuffling."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.assign(kind=X["kind"].cat.codes)

    def get_params(self, deep=True):
        return {}


@pytest.mark.parametrize(
    ("options", "message"), [({"n_permutations": 0}, "n_permutations"), ({"n_folds": 1}, "n_folds")]
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        values_of(X, **options)


def test_samples_without_columns():
    texts = ["good day", "bad day", "good man", "bad man"] * 5
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    with pytest.raises(ValueError, match="X must have columns"):
        feature_importance(model, texts, [0, 1] * 10)
    with pytest.raises(ValueError, match="X must have columns"):
        feature_importance(SVC(kernel="precomputed"), np.eye(20), [0, 1] * 10)
