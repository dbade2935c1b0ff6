"""Warnings about tables, and options for a short report."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval._resampling.sampling_units import validate_data
from skeval.report._data_checks import describe_table, run_checks, write_cautions

FEW = {"n_permutations": 0, "random_state": 0}


def check_table(X, y, groups=None, names=None, left_out=(), *, numbers=None):
    """Return the results of the checks of a table, of `numbers` if `y` has floats."""
    numbers = np.asarray(y).dtype.kind == "f" if numbers is None else numbers
    model = DecisionTreeRegressor() if numbers else DecisionTreeClassifier()
    target = validate_data(model, np.zeros((len(y), 1)), y, None)[1]
    return run_checks(describe_table(X, target, groups, names, dict(left_out)))


def write_data_warnings(X, y, groups=None, names=None, left_out=(), **options):
    """Return the warnings about a table and the columns left out of it."""
    return write_cautions(check_table(X, y, groups, names, left_out, **options))


def warnings_of(X, y, groups=None, names=None):
    """Return the warnings about a table of classes."""
    return write_data_warnings(X, y, groups, names, numbers=False)
