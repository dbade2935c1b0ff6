"""The installed tests of another package, run with our functions in the place of theirs.

Nothing is copied: the installed module of tests is executed a second time, under no name, while
the package exports ours. Its tables of metrics and the values that it parametrizes with hold ours
then, and the expected values stay what they are.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from types import CodeType, FunctionType
from unittest.mock import patch

EXPORTERS = ("sklearn.metrics", "sklearn.metrics.cluster", "sklearn.model_selection")


def swapped_tests(module, ours):
    """Return what a module of tests defines, less the tests that do not reach our functions.

    Parameters
    ----------
    module : str
        Name of the installed module.
    ours : dict
        What takes the place of each public function of the package.
    """
    importlib.import_module(module)  # whatever it imports must be loaded with theirs
    spec = importlib.util.find_spec(module)
    peer = importlib.util.module_from_spec(spec)
    with ExitStack() as swapped:
        for exporter in map(importlib.import_module, EXPORTERS):
            for name in ours.keys() & vars(exporter).keys():
                swapped.enter_context(patch.object(exporter, name, ours[name]))
        spec.loader.exec_module(peer)
    reach = Reach(vars(peer), ours.values())
    kept = {
        name: value
        for name, value in vars(peer).items()
        if not name.startswith("__") and not (name.startswith("test") and not reach(value))
    }
    return kept | {"REACH": reach}


class Reach:
    """Whether a value of a module uses one of a set of functions, or leads to one."""

    def __init__(self, namespace, functions):
        self.namespace, self.functions = namespace, list(functions)

    def __call__(self, value, *, tables=True, seen=()):
        """Whether it does; without `tables`, through functions alone."""
        if any(value is ours or type(value) is ours for ours in self.functions):
            return True
        if isinstance(value, partial):
            return self(value.func)
        if tables and isinstance(value, Mapping):
            return self(list(value.values()), seen=seen)
        if tables and isinstance(value, list | tuple):
            return any(self(entry, seen=seen) for entry in value)
        if not isinstance(value, FunctionType) or value in seen:
            return False
        leads_to = [self.namespace.get(name) for name in names_of(value.__code__)]
        if tables:
            leads_to += [mark.args for mark in getattr(value, "pytestmark", [])]
        return any(self(entry, tables=tables, seen=(*seen, value)) for entry in leads_to)

    def of_case(self, test, parameters):
        """Whether a test does with these values of its parameters."""
        if not parameters or self(test, tables=False):
            return True
        return any(self(value) or self.of_name(value) for value in parameters)

    def of_name(self, name):
        """Whether a table of metrics holds one of the functions under a name."""
        tables = [table for table in self.namespace.values() if isinstance(table, dict)]
        return isinstance(name, str) and any(self(table.get(name)) for table in tables)


def names_of(code):
    """Return the global names that a function and the functions inside it use."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(names_of, inner))
