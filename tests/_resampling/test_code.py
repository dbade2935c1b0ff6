"""The text of code: different for different code, the same in every process."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.svm

from skeval._resampling.cache import describe_code, find_version

PARTS = """
import functools
import numpy as np

def plain(a, b=(1, {value}), *, c="x"):
    return [a in {{"one", "two", "three", "four"}} for _ in range(2)]

def factory(value, array):
    def inner(a):
        return inner(a - 1) if a else (value, array)
    return inner

closure = factory({value}, np.arange(3))

class Whole:
    attribute = [{value}, {{"b", "a", "c", "d"}}, object(), np]

    def __call__(self):
        return (lambda: {value})()

    @staticmethod
    def static():
        return {value}

    @classmethod
    def of_class(cls):
        return {value}

    @property
    def computed(self):
        return {value}

    @functools.cached_property
    def once(self):
        return {value}

    @functools.lru_cache
    def many(self):
        return {value}

    class Inner:
        def method(self):
            return {value}
"""
NAMES = ["plain", "closure", "Whole"]


def namespace(text, **names):
    exec(text, names := {"__name__": "__main__"} | names)
    return names


def test_the_same_under_every_hash_seed():
    program = PARTS.format(value=1) + (
        "from skeval._resampling.cache import describe_code\n"
        f"print([describe_code(each) for each in ({', '.join(NAMES)})])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", "\n" * int(seed) + program],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(texts) == 1
    assert " at 0x" not in texts.pop()


@pytest.mark.parametrize("name", NAMES)
def test_another_value_is_another_text(name):
    first, again, other = (
        describe_code(namespace(PARTS.format(value=value))[name]) for value in (1, 1, 2)
    )
    assert first == again != other


MEMBERS = {
    "method": "def f(self):\n  return {value}",
    "static": "@staticmethod\n def f():\n  return {value}",
    "class": "@classmethod\n def f(cls):\n  return {value}",
    "property": "@property\n def f(self):\n  return {value}",
    "lambda": "f = lambda self: (lambda: {value})",
    "cached": "@functools.cached_property\n def f(self):\n  return {value}",
    "lru_cache": "@functools.lru_cache\n def f(self):\n  return {value}",
    "partial": "f = functools.partial(lambda a: {value}, 1)",
    "nested": "class Inner:\n  def f(self):\n   return {value}",
}


@pytest.mark.parametrize("member", MEMBERS)
def test_every_kind_of_member(member):
    body = f"import functools\nclass Whole:\n {MEMBERS[member]}\n"
    first, again, other = (
        describe_code(namespace(body.format(value=value))["Whole"]) for value in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    "pair",
    [
        ("return a - b", "return b - a"),
        ("return 1", "return 1.0"),
        ("return 1", "return True"),
        ("return a.mean()", "return a.sum()"),
        ("return a in {1, 2}", "return a in {1, 3}"),
        ("try:\n  return a\n except ValueError:\n  return b", "return a"),
    ],
)
def test_other_code_is_another_text(pair):
    first, second = (namespace(f"def f(a, b):\n {body}")["f"] for body in pair)
    assert describe_code(first) != describe_code(second)


def test_names_of_parameters_count():
    first, second = (namespace(f"def f({given}):\n return 1")["f"] for given in ("a, b", "b, a"))
    assert describe_code(first) != describe_code(second)


def test_what_a_program_changes_is_in_it():
    Counter = namespace("class Counter:\n n = 0\n def f(self):\n  return 1")["Counter"]
    before = describe_code(Counter)
    Counter.n += 1
    assert describe_code(Counter) != before
    Counter.n -= 1
    assert describe_code(Counter) == before
    f = namespace("def f(a, b=1, *, c=2):\n return a")["f"]
    before = describe_code(f)
    f.__defaults__ = (3,)
    assert describe_code(f) != before
    f.__defaults__, f.__kwdefaults__ = (1,), {"c": 3}
    assert describe_code(f) != before


def test_only_installed_packages_are_known_by_their_versions():
    assert find_version(sklearn.svm.SVC) == ("sklearn", sklearn.__version__)
    assert find_version(np.mean) == ("numpy", np.__version__)
    assert find_version(namespace) is None
    assert find_version(Path) is None  # no version
    assert find_version(functools.partial(namespace)) is None
