"""What a user's type checker and `help` see."""

import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from helpers.public_modules import MODULES
from sklearn.naive_bayes import GaussianNB

import skeval


def test_the_package_says_that_it_is_typed():
    """That mypy reads helpers/users_program.py as it should is for the job that checks types."""
    assert (Path(skeval.__file__).parent / "py.typed").is_file()


def list_callables():
    """Yield what a user calls, functions before classes and their methods, with a name."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing
            elif inspect.isclass(thing):
                yield f"{module.__name__}.{name}", thing
                for member, value in vars(thing).items():
                    function = getattr(value, "__func__", value)
                    if not member.startswith("_") and inspect.isfunction(function):
                        yield f"{module.__name__}.{name}.{member}", function


def test_help_names_kinds_of_data_in_a_word():
    """An alias, as `ArrayLike` is, is not spelled out as the union that it stands for."""
    for name, thing in list_callables():
        signature = inspect.signature(thing)
        kinds = [each.annotation for each in signature.parameters.values()]
        for kind in [*kinds, signature.return_annotation]:
            if kind is not inspect.Parameter.empty:
                text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
                assert len(text) <= 45, name
        if not is_dataclass(thing):  # a result has one parameter for each of its attributes
            assert len(str(signature)) < 680, name


def test_types_of_options_name_the_documented_options():
    """Methods that the docstring lists in a table, or elsewhere, are checked against the error."""
    n_checked = 0
    for name, thing in list_callables():
        function = inspect.unwrap(thing.__init__ if inspect.isclass(thing) else thing)
        if not hasattr(function, "__globals__"):
            continue
        for option, parameter in inspect.signature(function).parameters.items():
            named = str(parameter.annotation).removesuffix(" | None")
            kind = function.__globals__.get(named)
            documented = re.search(rf"(?m)^\s*{option} : \{{(.*?)\}}", inspect.getdoc(thing) or "")
            options = get_args(kind)
            if documented is None or {*map(type, options)} != {str}:
                continue
            assert set(options) == set(re.findall(r'"(.*?)"', documented[1])), name
            n_checked += 1
    assert n_checked >= 50


@pytest.mark.parametrize(
    ("function", "option"),
    [(skeval.error_interval, "method"), (skeval.permutation_test, "exchange")],
)
def test_types_of_methods_name_those_that_are_accepted(function, option):
    kind = get_type_hints(function)[option]
    with pytest.raises(ValueError, match=option) as error:
        function(GaussianNB(), [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], **{option: "no"})
    options = str(error.value).partition("one of ")[2].partition(";")[0]
    assert set(re.findall(r"'(.*?)'", options)) == set(get_args(kind))
