"""The private scikit-learn names that skeval relies on still mean what they meant."""

from numbers import Integral

import numpy as np
import pytest

from skeval.utils import _compat


def test_every_listed_name_is_there():
    assert all(hasattr(_compat, name) for name in _compat.__all__)


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
