"""Scikit-learn's tests of metrics of class labels."""

from peers.ours import CLASSES
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.metrics.tests.test_classification", CLASSES))

DIFFERENT = {
    "test_prf_warnings": "a warning of 0/0 has other words, and names the classes",
    "test_fscore_warnings[warn]": "a warning of 0/0 has other words, and names the classes",
}
