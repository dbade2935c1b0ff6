"""Scikit-learn's tests of splitters, with the bootstrap in the place of `GroupShuffleSplit`."""

from peers.ours import SPLITTERS
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.model_selection.tests.test_split", SPLITTERS))

SIZES = "the share of a bootstrap resample is not set: it is what the draws leave out"
DIFFERENT = {
    "test_group_shuffle_split": SIZES,
    "test_group_shuffle_split_default_test_size": SIZES,
    "test_shuffle_split_empty_trainset[GroupShuffleSplit]": SIZES,
}
