"""What a user's type checker and `help` see."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import skeval

PROGRAM = """
from skeval import compare_classifiers, error_interval, evaluate, metric_interval
from skeval.metrics.cluster import silhouette_score

X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
report = evaluate(object(), X, y, n_bootstraps=10)
reveal_type(report)
reveal_type(error_interval(object(), X, y).interval.low)
reveal_type(metric_interval("accuracy", y, y))
reveal_type(compare_classifiers(object(), object(), X, y).pvalue)
reveal_type(silhouette_score(X, y))
evaluate(object(), X, y, n_bootstraps="many")
"""
SEEN = [
    "skeval.report._report.EvaluationReport",
    "float",
    "skeval.model_selection._metric_result.MetricInterval",
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


FUNCTIONS = sorted(name for name in skeval.__all__ if inspect.isfunction(getattr(skeval, name)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_names_kinds_of_data_in_a_word(name):
    text = str(inspect.signature(getattr(skeval, name)))
    assert len(text) < 800
    assert "_Buffer" not in text
    assert "numpy.random" not in text
