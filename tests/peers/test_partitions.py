"""Scikit-learn's tests of indices that compare two partitions."""

from peers.ours import PARTITIONS
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.cluster.tests.test_supervised", PARTITIONS))

DIFFERENT: dict[str, str] = {}
