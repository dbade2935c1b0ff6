"""The private scikit-learn names that skeval relies on still mean what they meant."""

from numbers import Integral

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.svm import SVC

from skeval._adapters.logistic import find_penalty
from skeval.utils import _compat


def test_validate_params_names_argument_rule_and_value():
    @_compat.validate_params(
        {"n": [_compat.Interval(Integral, 1, None, closed="left")]},
        prefer_skip_nested_validation=True,
    )
    def function(n):
        return n

    assert function(1) == 1
    with pytest.raises(ValueError, match=r"'n' parameter of .*function.*\[1, inf\).* Got 0"):
        function(0)


def test_safe_indexing_takes_rows():
    assert _compat.safe_indexing(np.arange(6).reshape(3, 2), [2]).tolist() == [[4, 5]]


class Without:
    """An object like another one that lacks some attributes, as in another version."""

    def __init__(self, inner, *names):
        self.inner, self.names = inner, names

    def __getattr__(self, name):
        if name in self.names:
            raise AttributeError(name)
        return getattr(self.inner, name)


@pytest.mark.parametrize("missing", ["penalty", "l1_ratio", "multi_class", "n_jobs"])
def test_logistic_regression_without_removed_parameters(missing):
    estimator = Without(LogisticRegression(), missing)
    assert find_penalty(estimator, 2) is True
    assert find_penalty(Without(LogisticRegression(C=np.inf), missing), 2) is False


@pytest.mark.parametrize("missing", ["_parameter_constraints", "_validate_params"])
def test_parameters_that_cannot_be_validated_are_left_to_fit(missing):
    assert _compat.has_valid_params(Without(SVC(C=-1.0), missing))
    assert not _compat.has_valid_params(SVC(C=-1.0))


@pytest.mark.parametrize("missing", ["_score_func", "_kwargs", "_sign", "_response_method"])
def test_a_scorer_without_its_parts_is_not_read(missing, monkeypatch):
    scorer = get_scorer("roc_auc")
    assert _compat.is_plain_scorer(scorer)
    monkeypatch.delattr(scorer, missing)
    assert not _compat.is_plain_scorer(scorer)
