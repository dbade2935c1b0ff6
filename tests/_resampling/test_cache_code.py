"""After a change of code nothing old is found again, wherever the code was written."""

import linecache
import os
import subprocess
import sys
from types import ModuleType

import pytest

BASE = """
from sklearn.base import BaseEstimator, ClassifierMixin

class Base(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = [0, 1]
        return self

    def predict(self, X):
        return (X[:, 0] > {cut}).astype(int)

class A(Base):
    pass

def rate(y_true, y_pred, penalty={penalty}):
    return float((y_true != y_pred).mean()) + penalty
"""
RUN = """
import sys
import numpy as np
from sklearn.metrics import make_scorer
from skeval.model_selection import bootstrap_error, permutation_test
X = np.linspace(-1, 1, 20).reshape(-1, 1)
y = np.arange(20) // 10

def measure():
    options = {"random_state": 0, "memory": sys.argv[1]}
    error = bootstrap_error(A(), X, y, n_resamples=20, **options).value
    scoring = make_scorer(rate)
    test = permutation_test(A(), X, y, cv=2, scoring=scoring, n_permutations=3, **options)
    return f"{error:.6f} {test.statistic:.6f}"

"""
ONCE = """
with open(sys.argv[2], "a") as lines:
    print(measure(), file=lines)
"""


def written(cut=0.0, penalty=0):
    return BASE.format(cut=cut, penalty=penalty)


def executed(**changes):
    return f"exec({written(**changes)!r})\n"


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """Run texts as programs that share a memory; return the lines each of them measured."""
    program, lines = tmp_path / "program.py", tmp_path / "lines"
    monkeypatch.setattr(sys, "argv", ["-", str(tmp_path / "kept"), str(lines)])

    def run(*texts, by):
        for text in texts:
            main = ModuleType("__main__")
            monkeypatch.setitem(sys.modules, "__main__", main)
            if by == "file":
                program.write_text(text)
                linecache.clearcache()  # two writes within one tick of the clock
                main.__file__ = str(program)
            exec(compile(text, program if by == "file" else "<stdin>", "exec"), vars(main))
        return lines.read_text().splitlines()

    return run


def n_kept(tmp_path):
    return len([*(tmp_path / "kept").rglob("output.pkl")])


@pytest.mark.parametrize("by", ["file", "-"])
@pytest.mark.parametrize("code", [written, executed])
def test_a_base_class_and_a_default_are_in_the_key(outputs, tmp_path, by, code):
    programs = [code(**change) + RUN + ONCE for change in ({}, {"cut": 0.5}, {"penalty": 1})]
    first, cut, penalty = outputs(*programs, by=by)
    assert float(first.split()[0]) == 0 < float(cut.split()[0])
    assert float(penalty.split()[1]) == pytest.approx(float(first.split()[1]) + 1)
    kept = n_kept(tmp_path)
    assert outputs(*programs[::-1], by=by)[3:] == [penalty, cut, first]
    assert n_kept(tmp_path) == kept


@pytest.mark.parametrize("by", ["file", "-"])
def test_redefined_in_one_program(outputs, by):
    redefined = written() + RUN + ONCE + executed(cut=0.5) + ONCE
    first, second = outputs(redefined, by=by)
    assert first.split()[0] == "0.000000" != second.split()[0]


CHANGES = {
    "class attribute": "Base.cut = 0.5",
    "default": "rate.__defaults__ = (1,)",
    "default by keyword": "rate.__kwdefaults__ = {'penalty': 1}",
}
CUT_IN_CLASS = (
    BASE.replace("class Base(", "class Base(", 1)
    .replace("    def fit(", "    cut = {cut}\n\n    def fit(")
    .replace("X[:, 0] > {cut}", "X[:, 0] > self.cut")
)
BY_KEYWORD = CUT_IN_CLASS.replace("y_pred, penalty", "y_pred, *, penalty")


@pytest.mark.parametrize("by", ["file", "-"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_while_a_program_runs_is_in_the_key(outputs, by, change):
    """The source says what it said before; its text alone would find the older result."""
    text = BY_KEYWORD if change == "default by keyword" else CUT_IN_CLASS
    program = text.format(cut=0.0, penalty=0) + RUN + ONCE + CHANGES[change] + "\n" + ONCE
    first, second = outputs(program, by=by)
    assert first != second


def test_a_method_put_into_a_class_is_in_the_key(outputs):
    patch = "def predict(self, X):\n    return (X[:, 0] > 0.5).astype(int)\nA.predict = predict\n"
    first, second = outputs(written() + RUN + ONCE + patch + ONCE, by="file")
    assert first != second


def test_a_module_that_says_its_version_may_be_edited_all_the_same(outputs, tmp_path, monkeypatch):
    version = '__version__ = "1"\n'
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for cut in (0.0, 0.55):
        (tmp_path / "own.py").write_text(version + written(cut=cut))
        sys.modules.pop("own", None)
        lines = outputs("from own import A, rate\n" + RUN + ONCE, by="file")
    assert lines[0] != lines[1]


def test_a_program_from_standard_input_finds_its_results_in_another_process(tmp_path):
    kept = []
    for seed in "12":
        subprocess.run(
            [sys.executable, "-", tmp_path / "kept", tmp_path / "lines"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            input=written() + RUN + ONCE,
            text=True,
            check=True,
        )
        kept.append(n_kept(tmp_path))
    assert kept[0] == kept[1] > 0
