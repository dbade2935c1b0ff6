"""The names at the top level, which are imported where they are first used."""

import subprocess
import sys

import pytest

import skeval


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_every_name_is_there():
    assert set(skeval.__all__) <= set(dir(skeval))
    assert all(hasattr(skeval, name) for name in dir(skeval))
    assert {"evaluate", "metrics", "model_selection", "svm"} <= set(dir(skeval))
    assert {name for name in dir(skeval) if name.startswith("_")} == {"__version__"}
    with pytest.raises(AttributeError, match="module 'skeval' has no attribute 'evaluat'"):
        skeval.evaluat  # noqa: B018
    for name, home in {
        "bootstrap_error": "model_selection",
        "dunn_score": "metrics.cluster",
    }.items():
        with pytest.raises(AttributeError, match=rf"{name}'\. It is in skeval\.{home}$"):
            getattr(skeval, name)


def test_names_are_imported_as_they_are_used_solvers_with_any_and_no_extra_but_to_draw():
    """Adapters are registered before the first is asked for, whatever was imported."""
    code = (
        "import sys\n"
        "for name in 'matplotlib', 'matplotlib.pyplot', 'jinja2':\n"
        "    sys.modules[name] = None\n"
        "import skeval\n"
        "print('evaluate' in dir(skeval), 'sklearn' in sys.modules)\n"
        "import contextlib, io, numpy as np\n"
        "from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Fisher\n"
        "from sklearn.model_selection import KFold\n"
        "from sklearn.neighbors import KNeighborsClassifier\n"
        "from sklearn.svm import SVC\n"
        "from skeval.model_selection import permutation_test\n"
        "print('skeval.svm' in sys.modules)\n"
        "X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2\n"
        "options = {'cv': KFold(3), 'n_permutations': 300, 'verbose': 1, 'random_state': 0}\n"
        "with contextlib.redirect_stderr(io.StringIO()) as told:\n"
        "    for rule in SVC(kernel='linear'), KNeighborsClassifier(), Fisher():\n"
        "        permutation_test(rule, X, y, **options)\n"
        "print(told.getvalue().count('skeval used a solver'))\n"
        "from skeval import evaluate\n"
        "print(evaluate is skeval.evaluate, skeval.datasets.__name__, 'sklearn' in sys.modules)\n"
        "import skeval.report\n"
        "print(skeval.metrics.error_rate([0], [0]) == 0)\n"
        "result = skeval.metrics.roc_curve_band([0, 1], [0, 1], n_resamples=2)\n"
        "try:\n    result.plot()\n"
        "except ImportError as error:\n    print(error)"
    )
    needed = ["a", "display", "needs", "matplotlib:", "pip", "install", "matplotlib"]
    served = ["False", "3"]
    names = ["True", "skeval.datasets", "True", "True"]
    assert run(code) == ["True", "False", *served, *names, *needed]


def test_nothing_starts_a_process_or_a_thread_unless_it_is_asked_to():
    """In a browser there are neither: the import and each kind of report do without."""
    code = (
        "import _thread, multiprocessing.process, os, subprocess, threading\n"
        "import sklearn.base  # older versions of NumPy ask the processor by a process\n"
        "def forbid(*args, **kwargs):\n"
        "    raise AssertionError('a process or a thread was started')\n"
        "threading.Thread.start = _thread.start_new_thread = os.fork = os.posix_spawn = forbid\n"
        "subprocess.Popen.__init__ = multiprocessing.process.BaseProcess.start = forbid\n"
        "import numpy as np, skeval\n"
        "from sklearn.cluster import KMeans\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "skeval.evaluate(DecisionTreeRegressor(), X, X[:, 0], budget=0.5)\n"
        "skeval.evaluate_predictions(X[:, 0], X[:, 1])\n"
        "skeval.evaluate_clusterer(KMeans(n_init=1), X, n_clusters=[2], n_repeats=2)\n"
        "print('done')\n"
    )
    assert run(code) == ["done"]
