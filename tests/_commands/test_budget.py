"""Lines of progress on standard error."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from skeval._resampling.progress import progress_lines
from skeval.model_selection import cross_val_error


def test_lines_of_progress_come_when_they_are_due(capsys):
    rng = np.random.default_rng(0)
    task = GaussianNB(), rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    with progress_lines(0):
        cross_val_error(*task, cv=4)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("skeval: 4 of 4 fits of this step, ")
    with progress_lines(3600):
        cross_val_error(*task, cv=4)
    cross_val_error(*task, cv=4)
    assert capsys.readouterr().err == ""
