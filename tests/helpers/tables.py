"""Warnings about tables, and options for a short report."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from skeval._resampling.sampling_units import validate_data
from skeval.report._data_checks import describe_table, run_checks, write_cautions

FEW = {"n_permutations": 0, "random_state": 0}


def write_data_warnings(X, target, groups, names, left_out):
    """Return the warnings about a table and the columns left out of it."""
    return write_cautions(run_checks(describe_table(X, target, groups, names, left_out)))


def warnings_of(X, y, groups=None, names=None):
    """Return the warnings about a table of classes."""
    target = validate_data(DecisionTreeClassifier(), np.zeros((len(y), 1)), y, None)[1]
    return write_data_warnings(X, target, groups, names, {})
