"""Linear SVMs on a Gram matrix, also where the solver would choose the features."""

import pytest

from skeval._solvers import newton
from skeval._solvers.linear_svm import LinearSVMBatch


def solve_on_gram_matrix(X, signs, box):
    """Return the solutions of linear SVMs by the solver for many features."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newton, "uses_features", lambda n_samples, n_features: False)
        return LinearSVMBatch(X).solve(signs, box)
