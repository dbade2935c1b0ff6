"""Scikit-learn's tests of metrics of scores."""

from peers.ours import SCORES
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.tests.test_ranking", SCORES))

DIFFERENT = {
    "test_roc_curve_toydata": "a warning of one class has other words",
    "test_auc_score_non_binary_class": "a warning of one class has other words",
}
