"""The batch solver against the loop over a grid of shapes: does a loop ever win a fit it solves?

``python benchmarks/solver_cost.py`` prints a line for each (task, pipeline, n, p, C, classes) and
the worst ratio last; ``--n 500 --p 10`` takes one shape, ``--served`` only what the adapters take.
Both sides are skeval's own function: the loop is the same estimator as a subclass, which no
adapter serves.
"""

import argparse
import itertools
import time
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from skeval._adapters.registry import NoSolver, ask_steps
from skeval._resampling.target import validate_data
from skeval.model_selection import bootstrap_error, cross_val_error, permutation_test


class Looped(SVC):
    """The peer: an SVC that no adapter knows."""


SHAPES = [
    (60, 5), (60, 200), (60, 2000), (200, 10), (200, 100), (500, 10), (500, 100), (600, 350),
    (800, 500), (1000, 20), (1500, 600), (2000, 20), (3000, 300), (10000, 5),
]  # fmt: skip
SHIFTS = {"noise": 0.0, "overlapping": 0.4, "separable": 3.0}
PIPELINES = {
    "bare": lambda svc, p: svc,
    "standardised": lambda svc, p: make_pipeline(StandardScaler(), svc),
    "k-best": lambda svc, p: make_pipeline(SelectKBest(k=min(10, p)), svc),
}
TASKS = {
    "10 folds": partial(cross_val_error, cv=10, random_state=0),
    "bootstrap": partial(bootstrap_error, n_resamples=40, random_state=0),
    "permutation": partial(permutation_test, cv=5, n_permutations=9, random_state=0),
}
N_FITS = {"10 folds": 10, "bootstrap": 40, "permutation": 50}


def classes(n, p, shift):
    """Return two classes that differ in five features."""
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], n)
    X = rng.normal(size=(n, p))
    X[:, :5] += shift * (2 * y - 1)[:, None]
    return X, y


def real():
    """Yield two real sets."""
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", StandardScaler().fit_transform(X), y
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, (3, 8))
    yield "digits 3 8", X[rows], y[rows] == 3


def sets(shapes):
    if shapes == SHAPES:
        yield from real()
    for (n, p), (name, shift) in itertools.product(shapes, SHIFTS.items()):
        yield name, *classes(n, p, shift)


def too_long(pipeline, X, y, C):
    """Whether one fit takes libsvm so many steps that a grid of them would take a day."""
    svc = SVC(kernel="linear", C=C, max_iter=10**7 // len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PIPELINES[pipeline](svc, X.shape[1]).fit(X, y)
        steps = getattr(model, "n_iter_", None)
        steps = model[-1].n_iter_ if steps is None else steps
    return steps[0] >= svc.max_iter


def timed(work):
    start = time.process_time()  # one thread: what else the machine does is left out
    found = work()
    return time.process_time() - start, found


def ratio(task, pipeline, X, y, C, rounds):
    """Return the median of the paired ratios, whether an adapter serves, and if both agree."""
    served, looped = (
        PIPELINES[pipeline](svc(kernel="linear", C=C), X.shape[1]) for svc in (SVC, Looped)
    )
    pairs = []
    for _ in range(rounds):
        ours, mine = timed(lambda: TASKS[task](served, X, y))
        theirs, peer = timed(lambda: TASKS[task](looped, X, y))
        pairs.append((theirs / ours, theirs))
    statistic = "statistic" if task == "permutation" else "value"
    apart = abs(getattr(mine, statistic) - getattr(peer, statistic))
    return (*np.median(pairs, axis=0), apart)


def is_served(task, pipeline, X, y, C):
    """Whether an adapter would take a task of this kind."""
    model = PIPELINES[pipeline](SVC(kernel="linear", C=C), X.shape[1])
    X, target, _ = validate_data(model, X, y)
    adapter = ask_steps(model, X, target)
    return not isinstance(adapter, NoSolver | None) and adapter.pays(N_FITS[task], None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, help="samples, of one shape instead of the grid")
    parser.add_argument("--p", type=int, help="its features", default=10)
    parser.add_argument("--served", action="store_true", help="skip what is left to the loop")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    shapes = [(arguments.n, arguments.p)] if arguments.n else SHAPES
    warnings.simplefilter("ignore")
    worst = (np.inf, "nothing was run")
    for (name, X, y), pipeline, C in itertools.product(sets(shapes), PIPELINES, (0.01, 1.0, 100.0)):
        if too_long(pipeline, X, y, C):
            continue
        for task, n_fits in N_FITS.items():
            serves = is_served(task, pipeline, X, y, C)
            if (arguments.served and not serves) or (n_fits > 10 and X.size > 100_000):
                continue
            if task == "permutation" and C > 1:
                continue  # labels without a relation: libsvm takes minutes
            r, seconds, apart = ratio(task, pipeline, X, y, C, arguments.rounds)
            where = f"{task:12s} {pipeline:12s} {X.shape[0]:5d} x {X.shape[1]:<4d} C={C:<6g} {name}"
            mark = "served" if serves else "loop"
            print(f"{r:6.2f}  {seconds:8.3f} s  {mark:6s} {apart:.4f}  {where}", flush=True)
            worst = min(worst, (r, where))
    print(f"worst: {worst[1]}")
    print(f"ratio: {worst[0]:.2f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
