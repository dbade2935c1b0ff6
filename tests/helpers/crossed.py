"""Tests of several parameters, without every pair of their values."""

from itertools import cycle, islice

import pytest


def each_value(test):
    """Join the parametrizations of a test: as many cases as the longest has, each value in one."""
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    names, columns = [], []
    for mark in marks:
        given, values = mark.args
        given = given.replace(",", " ").split() if isinstance(given, str) else list(given)
        names += given
        ids = mark.kwargs.get("ids")
        ids = ids if callable(ids) or ids is None else list(ids)
        columns.append([as_param(each, len(given), ids, at) for at, each in enumerate(values)])
    n_cases = max(map(len, columns))
    cases = [
        pytest.param(
            *(value for part in parts for value in part.values),
            marks=[mark for part in parts for mark in part.marks],
            id="-".join(part.id for part in parts) if all(part.id for part in parts) else None,
        )
        for parts in zip(*(islice(cycle(column), n_cases) for column in columns), strict=True)
    ]
    test.pytestmark = [mark for mark in test.pytestmark if mark.name != "parametrize"]
    return pytest.mark.parametrize(names, cases)(test)


def as_param(value, n_names, ids, at):
    """Return the values of a case with their marks and name."""
    if hasattr(value, "marks"):  # pytest.param
        return value
    values = [value] if n_names == 1 else value
    name = "-".join(map(ids, values)) if callable(ids) else ids and ids[at]
    if name is None and isinstance(value, str | int | float):
        name = str(value)
    return pytest.param(*values, id=name)
