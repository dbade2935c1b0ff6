"""Scikit-learn's tests of what all indices of clusterings share."""

from peers.ours import PARTITIONS
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.cluster.tests.test_common", PARTITIONS))

DIFFERENT: dict[str, str] = {}
