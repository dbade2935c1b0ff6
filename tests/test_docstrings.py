"""Every public docstring is complete, by numpydoc's rules and by ours."""

import dataclasses
import importlib
import inspect

import pytest
from helpers.public_modules import MODULES
from numpydoc.validate import validate

# Not asked for: an extended summary where one line says it, See Also, a description of a return
# value that its type names already, and types alone on the first line of Returns, where
# scikit-learn too writes the name of the value.
NOT_ASKED = {"ES01", "SA01", "RT02", "RT03"}
# Results list their fields under Attributes, not Parameters, and are made by functions, whose
# examples show them; so do methods.
OF_RESULTS = {"PR01", "EX01"}
OF_METHODS = {"EX01", "RT01"}


def public_objects():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("skeval"):
                yield f"{module_name}.{name}", thing


OBJECTS = dict(public_objects())


def methods_of(thing):
    if not inspect.isclass(thing):
        return []
    return [
        name for name, value in vars(thing).items() if name[0] != "_" and inspect.isfunction(value)
    ]


def test_docstrings_are_complete():
    found = {}
    for path, thing in OBJECTS.items():
        asked_not = NOT_ASKED | (OF_RESULTS if is_result(thing) else set())
        found[path] = errors(path, asked_not)
        for method in methods_of(thing):
            found[f"{path}.{method}"] = errors(f"{path}.{method}", asked_not | OF_METHODS)
    assert {name: listed for name, listed in found.items() if listed} == {}


def is_result(thing):
    return dataclasses.is_dataclass(thing) or (
        inspect.isclass(thing) and thing.__name__.endswith("Display")
    )


def errors(path, asked_not):
    return [error for error in validate(path)["errors"] if error[0] not in asked_not]


@pytest.mark.parametrize("module_name", MODULES)
def test_all_is_what_there_is(module_name):
    module = importlib.import_module(module_name)
    assert sorted(module.__all__) == list(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
