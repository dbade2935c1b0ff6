"""The private scikit-learn names that skeval relies on still mean what they meant."""

import re
from numbers import Integral
from pathlib import Path

import numpy as np
import pytest

import skeval
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


def test_private_names_are_imported_nowhere_else():
    private = re.compile(r"from sklearn[\w.]*\._\w+|from sklearn[\w.]* import .*\b_\w+")
    root = Path(skeval.__file__).parent
    guilty = [
        path.name
        for path in root.rglob("*.py")
        if path.name != "_compat.py" and private.search(path.read_text(encoding="utf-8"))
    ]
    assert guilty == []
