"""The installed tests of statsmodels for McNemar's test."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from statsmodels.stats import contingency_tables
from statsmodels.stats.tests import test_contingency_tables as peer

from skeval.model_selection import compare_predictions

THEIRS = contingency_tables.mcnemar
calls = []


def ours(table, exact=True, correction=True):
    """Ours for the exact test."""
    only_a, only_b = (int(np.asarray(table)[cell]) for cell in ((0, 1), (1, 0)))
    if not exact:
        return THEIRS(table, exact=exact, correction=correction)
    calls.append((exact, only_a, only_b))
    a = np.repeat([1.0, 0.0], [only_a, only_b])
    systems = {"a": np.append(a, 1), "b": np.append(1 - a, 1)}
    found = compare_predictions(np.ones(len(a) + 1), systems, method="mcnemar").difference
    return SimpleNamespace(statistic=found.statistic, pvalue=found.pvalue)


def test_mcnemar():
    with patch.object(contingency_tables, "mcnemar", ours):
        peer.test_mcnemar()
    assert calls
