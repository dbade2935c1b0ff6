"""Scikit-learn's tests of indices of one partition."""

from peers.ours import PARTITIONS
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.cluster.tests.test_unsupervised", PARTITIONS))

SINGLETONS = "a partition into singletons has a value"
DIFFERENT = {
    "test_correct_labelsize": SINGLETONS,
    "test_calinski_harabasz_score": SINGLETONS,
    "test_davies_bouldin_score": SINGLETONS,
}
