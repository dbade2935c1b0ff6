"""What a user's type checker and `help` see."""

import inspect
import os
import subprocess
import sys
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest
from helpers.public_modules import MODULES

import skeval

PROGRAM = """
from skeval import compare_classifiers, error_interval, evaluate, metric_interval
from skeval.metrics.cluster import silhouette_score

X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
report = evaluate(object(), X, y, n_bootstraps=10)
reveal_type(report)
reveal_type(error_interval(object(), X, y).interval.low)
reveal_type(metric_interval("accuracy", y, y))
reveal_type(compare_classifiers([object(), object()], X, y).difference.pvalue)
reveal_type(silhouette_score(X, y))
evaluate(object(), X, y, n_bootstraps="many")
"""
SEEN = [
    "skeval.report._report.EvaluationReport",
    "float",
    "skeval._inference.estimate.Estimate",
    "float",
    "float",
]


def test_a_users_program_has_types(tmp_path):
    """mypy, outside of the package, finds them by py.typed; and what is wrong is found."""
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\n[mypy-sklearn.*,scipy.*,joblib.*]\nignore_missing_imports = true\n"
        "follow_imports = skip\n"
    )
    words = ["--strict", "--config-file", "mypy.ini", "--cache-dir", os.devnull, "program.py"]
    root = str(Path(skeval.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": "" if "site-packages" in root else root},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    seen = [line.partition('"')[2].rstrip('"') for line in lines if "Revealed type" in line]
    assert seen == SEEN
    (wrong,) = (line for line in lines if ": error:" in line)
    assert 'No overload variant of "evaluate" matches' in wrong


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


CALLABLES = dict(list_callables())


@pytest.mark.parametrize("name", CALLABLES)
def test_help_names_kinds_of_data_in_a_word(name):
    """An alias, as `ArrayLike` is, is not spelt out as the union that it stands for."""
    signature = inspect.signature(CALLABLES[name])
    kinds = [each.annotation for each in signature.parameters.values()]
    for kind in [*kinds, signature.return_annotation]:
        if kind is not inspect.Parameter.empty:
            assert len(kind if isinstance(kind, str) else inspect.formatannotation(kind)) <= 45
    result = is_dataclass(CALLABLES[name])  # users read it, and seldom build it
    assert len(str(signature)) < (900 if result else 650)
