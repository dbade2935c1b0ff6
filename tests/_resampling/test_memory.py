"""Finished work outlives the run: interrupted, killed, corrupted, changed."""

import functools
import importlib
import linecache
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pytest
import sklearn.svm
from helpers.crossed import each_value
from helpers.long_runs import RUNS, Logged, X, fits, y
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.svm import SVC

from skeval._adapters import trials
from skeval._resampling import fit_loop as loop
from skeval._resampling.memory import TaskHasher, cell_value, find_version
from skeval.model_selection import bootstrap_error, permutation_test
from skeval.svm import PerturbationResamplingSVC

# single fits on all samples
UNKEPT = {"CV2FeatureSelectionPipeline": 1, "choose_n_clusters": 2, "evaluate_clusterer": 4}
UNKEPT["evaluate"] = 2  # the check that a model depends on its labels keeps no fits
UNKEPT |= dict.fromkeys(["cluster_stability", "structure_test"], 1)
FOUND_AGAIN = {"evaluate": 1}  # the bootstrap has need of the fit of resubstitution
FITS_OF_A_JOB = dict.fromkeys(["predictive_power", "prediction_strength", "choose_n_clusters"], 2)
FITS_OF_A_JOB["evaluate_clusterer"] = 4  # two halves, each with two numbers of clusters


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    path = tmp_path / "fits"
    monkeypatch.setenv("FITS_LOG", str(path))
    return path


@pytest.fixture
def memory(tmp_path):
    return str(tmp_path / "memory")


@functools.cache
def run_alone(name):
    """Return what a run finds without a memory, and how many fits it does."""
    before = fits()
    return RUNS[name](), fits() - before


def fits_of(work):
    before = fits()
    work()
    return fits() - before


@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_does_only_the_rest(name, memory, monkeypatch):
    whole, n_fits = run_alone(name)
    before = fits()
    monkeypatch.setenv("FITS_LIMIT", str(before + n_fits // 2))
    with pytest.raises(KeyboardInterrupt):
        RUNS[name](memory=memory)
    monkeypatch.setenv("FITS_LIMIT", "-1")
    resumed = RUNS[name](memory=memory)
    np.testing.assert_array_equal(resumed, whole)
    done_again = fits() - before - n_fits + FOUND_AGAIN.get(name, 0)
    at_once = FITS_OF_A_JOB.get(name, 1)
    assert 0 <= done_again <= at_once + UNKEPT.get(name, 0)


@pytest.mark.parametrize("name", RUNS)
def test_all_is_kept_and_nothing_is_changed(name, memory):
    whole, n_fits = run_alone(name)
    before = fits()
    first = RUNS[name](memory=memory)
    done = fits()
    assert done - before == n_fits - FOUND_AGAIN.get(name, 0)
    with joblib.parallel_config(backend="threading"):
        again = RUNS[name](memory=memory, n_jobs=2 if name == "bootstrap_error" else 1)
    assert fits() - done == UNKEPT.get(name, 0)
    np.testing.assert_array_equal(first, whole)
    np.testing.assert_array_equal(again, whole)


# One of each loop: over fits, over permutations, over halvings.
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("bootstrap_error", "sequential"),
        pytest.param("permutation_test", "threading", marks=pytest.mark.slow),
        pytest.param("predictive_power", "threading", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_does_only_the_rest(name, backend, memory, log, tmp_path):
    whole, n_fits = run_alone(name)
    log.unlink(missing_ok=True)
    killed = subprocess.Popen(
        [sys.executable, "-c", "from helpers.long_runs import main; main()", name, memory, backend],
        env=os.environ | {"FITS_SECONDS": "0.02", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    deadline = time.monotonic() + 60
    while fits() < 2 * n_fits // 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    kept = len([*pathlib.Path(memory).rglob("output.pkl")])
    assert kept > 0
    log.unlink()
    np.testing.assert_array_equal(RUNS[name](memory=memory), whole)
    assert fits() == n_fits - kept * FITS_OF_A_JOB.get(name, 1)


def test_more_resamples_are_added_to_the_fewer(memory):
    options = {"random_state": 0, "memory": memory}
    few = bootstrap_error(Logged(), X, y, n_resamples=20, **options)
    added = fits_of(lambda: bootstrap_error(Logged(), X, y, n_resamples=50, **options))
    assert added == 30
    more = bootstrap_error(Logged(), X, y, n_resamples=50, **options)
    np.testing.assert_array_equal(more.replicates[:20], few.replicates)


def estimate(memory, *, shift=0.0, X=X, y=y, **options):
    options = {"n_resamples": 20, "random_state": 0} | options
    return bootstrap_error(Logged(shift), X, y, memory=memory, **options)


@pytest.mark.parametrize(
    "change",
    [{"shift": 0.1}, {"X": X + 1}, {"y": 1 - y}, {"random_state": 1}, {"error_score": np.nan}],
    ids=str,
)
def test_what_determines_the_numbers_is_in_the_key(memory, change):
    estimate(memory)
    of_all = not {"random_state", "error_score"} & set(change)  # the fit on all samples has neither
    assert fits_of(lambda: estimate(memory, **change)) == 20 + of_all


@pytest.mark.parametrize(
    "change",
    [{"n_jobs": 2}, {"loss": "absolute"}, {"average": "bootstraps"}, {"X": np.asfortranarray(X)}],
    ids=str,
)
def test_what_does_not_determine_the_fits_is_not(memory, change):
    estimate(memory)
    with joblib.parallel_config(backend="threading"):
        assert fits_of(lambda: estimate(memory, **change)) == (21 if "X" in change else 0)


def test_a_fitted_estimator_is_the_same_as_an_unfitted_one(memory):
    estimator = Logged()
    for n_fits in (21, 0):
        work = lambda: bootstrap_error(  # noqa: E731
            estimator, X, y, n_resamples=20, random_state=0, memory=memory
        )
        assert fits_of(work) == n_fits
        estimator.means_ = [0.0, 1.0]


def test_without_a_seed_nothing_is_found_again(memory):
    first, second = (estimate(memory, random_state=None).replicates for _ in range(2))
    assert not np.array_equal(first, second)


SCORER = """
def score(y_true, y_pred):
    return {}

def unrelated():
    return {}
"""


def test_the_source_of_a_function_of_the_user_is_in_the_key(memory, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "own_scores.py"
    module.write_text(SCORER.format("float((y_true == y_pred).mean())", 1))
    own = importlib.import_module("own_scores")

    def statistic():
        scorer = make_scorer(own.score)
        options = {"n_permutations": 4, "cv": 2, "random_state": 0, "memory": memory}
        return permutation_test(Logged(), X, y, scoring=scorer, **options).statistic

    first = statistic()
    module.write_text(SCORER.format("float((y_true == y_pred).mean()) + 1", 1))
    importlib.reload(own)
    assert statistic() == pytest.approx(first + 1)
    module.write_text(SCORER.format("float((y_true == y_pred).mean()) + 1", 2))
    importlib.reload(own)
    assert fits_of(statistic) == 0


@each_value
@pytest.mark.parametrize("pattern", ["output.pkl", "metadata.json", "func_code.py", "*"])
@pytest.mark.parametrize("keep", [0, 0.5], ids=["empty", "half"])
def test_what_is_corrupted_is_computed_again(memory, pattern, keep, caplog):
    whole = estimate(memory).replicates
    for path in pathlib.Path(memory).rglob(pattern):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(estimate(memory).replicates, whole)
    if pattern == "output.pkl":
        assert "Exception while loading results" in caplog.text
        assert fits() == 42
    assert fits_of(lambda: estimate(memory)) == 0


@pytest.mark.parametrize("entry", ["text", None, 3, [None] * 4, {"a": 1}, ("other", [1, 2, 3])])
@pytest.mark.parametrize("estimator", [Logged(), SVC(kernel="linear")], ids=str)
def test_entries_of_another_type_are_computed_again(memory, entry, estimator):
    options = {"n_resamples": 20, "random_state": 0, "memory": memory}
    whole = bootstrap_error(estimator, X, y, **options).replicates
    for path in pathlib.Path(memory).rglob("output.pkl"):
        joblib.dump(entry, path)
    n_fits = fits()
    for n_runs in (2, 2):
        np.testing.assert_array_equal(bootstrap_error(estimator, X, y, **options).replicates, whole)
        assert fits() == n_runs * n_fits


@pytest.mark.parametrize("open_memory", [pathlib.Path, joblib.Memory], ids=["path", "Memory"])
def test_any_kind_of_memory(memory, open_memory):
    whole = estimate(open_memory(memory)).replicates
    np.testing.assert_array_equal(estimate(memory).replicates, whole)
    assert fits() == 21


@pytest.mark.parametrize("estimator", [Logged(), SVC(kernel="linear")], ids=str)
def test_a_memory_that_maps_files(memory, estimator):
    options = {"n_resamples": 20, "random_state": 0}
    plain = bootstrap_error(estimator, X, y, **options)
    mapped = joblib.Memory(memory, mmap_mode="r", verbose=0)
    for _ in range(2):
        found = bootstrap_error(estimator, X, y, memory=mapped, **options)
        np.testing.assert_array_equal(found.replicates, plain.replicates)


def counted(function, calls):
    def counting(*args):
        calls.append(len(args[-1]))
        return function(*args)

    return counting


def test_solvers_resume_too(memory, monkeypatch):
    """Many fits at once are one result, in parts of bounded size."""

    scale = X[:, :4].std(axis=0)

    def null(**options):
        options = {"n_permutations": 199, "cv": 3, "random_state": 0} | options
        estimator = SVC(kernel="linear")
        return permutation_test(estimator, X[:, :4] / scale, y, **options).null_distribution

    monkeypatch.setattr(loop, "SOLVED_ELEMENTS", 0)
    whole, calls = null(), []
    monkeypatch.setattr(trials.BlockSolver, "solve", counted(trials.BlockSolver.solve, calls))
    np.testing.assert_array_equal(null(memory=memory), whole)
    # Whole repetitions, at most 256 fits at once.
    assert calls == [255, 255, 90]
    null(memory=memory)
    assert len(calls) == 3


@pytest.mark.usefixtures("always_solve")
def test_a_solver_behind_an_estimator(memory, monkeypatch):
    calls = []
    monkeypatch.setattr(trials.BlockSolver, "solve", counted(trials.BlockSolver.solve, calls))
    for _ in range(2):
        svc = PerturbationResamplingSVC(n_resamples=100, cv=5, random_state=0, memory=memory)
        _ = svc.fit(X[:, :4] / X[:, :4].std(axis=0), y).cv_error_
    assert sum(calls) == 1 + 5 + 500


def test_a_lambda_is_told_by_its_code(memory):
    def statistic(shift):
        scorer = make_scorer(lambda y_true, y_pred: accuracy_score(y_true, y_pred) + shift)
        options = {"cv": 3, "n_permutations": 3, "random_state": 0, "memory": memory}
        return permutation_test(Logged(), X, y, scoring=scorer, **options).statistic

    assert statistic(1) == pytest.approx(statistic(0) + 1)
    assert fits_of(lambda: statistic(1)) == 0


def test_a_task_that_cannot_be_pickled_is_refused(memory):
    scorer = functools.partial(accuracy_of, lock=threading.Lock())
    with pytest.raises(TypeError, match=r"memory needs .* pickled"):
        permutation_test(Logged(), X, y, scoring=scorer, cv=3, n_permutations=3, memory=memory)


def accuracy_of(model, X, y, *, lock):
    with lock:
        return accuracy_score(y, model.predict(X))


@pytest.mark.parametrize("wrong", [3, Logged()], ids=str)
def test_memory_must_be_one(wrong):
    with pytest.raises(ValueError, match="memory"):
        estimate(wrong)


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


@each_value
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


@each_value
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


def hash_of(code):
    return TaskHasher().hash(code)


def namespace(text, **names):
    exec(text, names := {"__name__": "__main__"} | names)
    return names


def test_a_program_from_standard_input_finds_its_results_under_every_hash_seed(
    outputs, tmp_path, capsys
):
    """In another process, where its code has the same hash, wherever it stands."""
    program = PARTS.format(value=1) + (
        "from skeval._resampling.memory import TaskHasher\n"
        f"print([TaskHasher().hash(each) for each in ({', '.join(NAMES)})])"
    )
    here = outputs(written() + RUN + ONCE + program, by="-")
    text, kept = capsys.readouterr().out, n_kept(tmp_path)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another than here
    done = subprocess.run(
        [sys.executable, "-", tmp_path / "kept", tmp_path / "lines"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
        input=written() + RUN + ONCE + "\n" + program,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "lines").read_text().splitlines() == 2 * here
    assert n_kept(tmp_path) == kept > 0
    assert done.stdout == text


@pytest.mark.parametrize("name", NAMES)
def test_another_value_has_another_hash(name):
    first, again, other = (
        hash_of(namespace(PARTS.format(value=value))[name]) for value in (1, 1, 2)
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
        hash_of(namespace(body.format(value=value))["Whole"]) for value in (1, 1, 2)
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
def test_other_code_has_another_hash(pair):
    first, second = (namespace(f"def f(a, b):\n {body}")["f"] for body in pair)
    assert hash_of(first) != hash_of(second)


def test_names_of_parameters_count():
    first, second = (namespace(f"def f({given}):\n return 1")["f"] for given in ("a, b", "b, a"))
    assert hash_of(first) != hash_of(second)


def test_what_a_program_changes_is_in_it():
    Counter = namespace("class Counter:\n n = 0\n def f(self):\n  return 1")["Counter"]
    before = hash_of(Counter)
    Counter.n += 1
    assert hash_of(Counter) != before
    Counter.n -= 1
    assert hash_of(Counter) == before
    f = namespace("def f(a, b=1, *, c=2):\n return a")["f"]
    before = hash_of(f)
    f.__defaults__ = (3,)
    assert hash_of(f) != before
    f.__defaults__, f.__kwdefaults__ = (1,), {"c": 3}
    assert hash_of(f) != before


def test_only_installed_packages_are_known_by_their_versions():
    assert find_version(sklearn.svm.SVC) == sklearn.__version__
    assert find_version(np.mean) == np.__version__
    assert find_version(Path) == sys.version
    assert find_version(namespace) is None


def test_an_empty_cell_of_a_closure():
    assert cell_value(types.CellType()) is None
    assert cell_value(types.CellType(3)) == 3
