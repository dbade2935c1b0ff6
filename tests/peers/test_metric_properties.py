"""Scikit-learn's tests of what all metrics share."""

from peers.ours import CLASSES, SCORES
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.tests.test_common", CLASSES | SCORES))

DIFFERENT: dict[str, str] = {}
SLOW = {
    "test_multilabel_sample_weight_invariance[samples_roc_auc]",
    "test_continuous_multilabel_multioutput_permutations_invariance[samples_roc_auc]",
}
