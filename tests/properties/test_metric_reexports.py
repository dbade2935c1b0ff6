"""What scikit-learn computes by our definition is scikit-learn's own function."""

import pytest
import sklearn.metrics

import skeval.metrics

REEXPORTED = [
    "accuracy_score",
    "auc",
    "average_precision_score",
    "confusion_matrix",
    "f1_score",
    "fbeta_score",
    "mean_absolute_error",
    "mean_squared_error",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "root_mean_squared_error",
]


@pytest.mark.parametrize("name", REEXPORTED)
def test_is_the_function_of_scikit_learn(name):
    assert getattr(skeval.metrics, name) is getattr(sklearn.metrics, name)


def test_the_list_is_complete():
    foreign = [
        name
        for name in skeval.metrics.__all__
        if getattr(skeval.metrics, name).__module__.startswith("sklearn")
    ]
    assert sorted(foreign) == REEXPORTED


def test_all_is_sorted_and_there():
    names = skeval.metrics.__all__
    assert names == sorted(names)
    assert all(hasattr(skeval.metrics, name) for name in names)
