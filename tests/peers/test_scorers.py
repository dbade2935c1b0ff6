"""Scikit-learn's tests of scorers by name."""

import sklearn.metrics
from peers.ours import SCORERS
from peers.swapped import swapped_tests

from skeval.metrics import get_scorer_names

globals().update(swapped_tests("sklearn.metrics.tests.test_score_objects", SCORERS))

# Their tables of data and estimators are by the names of their own scorers.
UNLISTED = "no data are listed for a scorer that scikit-learn does not have"
OF_OURS = sorted(set(get_scorer_names()) - set(sklearn.metrics.get_scorer_names()))
DIFFERENT = {f"test_scorer_memmap_input[{name}]": UNLISTED for name in OF_OURS} | {
    "test_classification_scorer_sample_weight": UNLISTED
}
