"""What a user's type checker and `help` see."""

import inspect
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

from helpers.public_modules import MODULES

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
            assert len(str(signature)) < 650, name
