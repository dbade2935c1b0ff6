"""Many linear SVMs at once against a loop of SVC, case by case (name them to choose)."""

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from _harness import colon, growth_slope, paired_ratio
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._solvers.linear_svm import LinearSVMBatch
from skeval._solvers.splits import ColumnScales


def exponential(rng, n_problems, n):
    weights = rng.exponential(size=(n_problems, n))
    return weights / weights.mean(axis=1, keepdims=True)


def counts(rng, n_problems, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=n_problems).astype(float)


def folds(rng, n_problems, n):
    """0/1 weights of 10 folds, drawn anew for every 10 problems."""
    order = np.argsort(rng.random((n_problems // 10, 1, n)), axis=2)
    held_out = order * 10 // n == np.arange(10)[:, None]
    return (~held_out).reshape(-1, n).astype(float)


def colon_signs():
    X, y, name = colon()
    return X, np.where(y == y[0], -1.0, 1.0), name


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, 2.0 * y - 1.0


def gaussian(n=5000, p=20):
    rng = np.random.default_rng(0)
    y = np.resize([-1.0, 1.0], n)
    X = rng.normal(size=(n, p))
    X[:, :5] += 0.4 * y[:, None]
    return X, y


def svc_loop(X, signs, box):
    """The peer: fit and predict, one problem after another."""
    signs = np.broadcast_to(signs, box.shape)
    loop = (
        SVC(kernel="linear").fit(X, y, sample_weight=C) for y, C in zip(signs, box, strict=True)
    )
    return np.stack([svm.predict(X) for svm in loop])


def scaled_svc_loop(X, y, box):
    def predict(C):
        model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
        model.fit(X, y, standardscaler__sample_weight=C, svc__sample_weight=C)
        return model.predict(X)

    return np.stack([predict(C) for C in box])


def batch(X, signs, box, scale_weights=None):
    scales = None if scale_weights is None else ColumnScales(X).deviations(scale_weights)
    return LinearSVMBatch(X).solve(signs, box, scales=scales)


def check(ours, peer):
    """SVC's default tolerance leaves a few labels near the boundary open."""
    share = np.mean((ours.decision > 0) != (peer > 0))
    print(f"converged {ours.converged.mean():.4f}, labels that differ {share:.1e}")
    if not (ours.converged.all() and share < 1e-3):
        raise AssertionError("the two sides disagree")


def shared(data, weights, n_problems, scaled=False):
    X, y = data()[:2]
    box = weights(np.random.default_rng(1), n_problems, len(y))
    if scaled:
        return partial(batch, X, y, box, box), partial(scaled_svc_loop, X, y, box)
    return partial(batch, X, y, box), partial(svc_loop, X, y, box)


def colon_permuted(n_problems=200):
    X, y = colon_signs()[:2]
    signs = np.random.default_rng(2).permuted(np.tile(y, (n_problems, 1)), axis=1)
    box = np.ones(signs.shape)
    return partial(batch, X, signs, box), partial(svc_loop, X, signs, box)


def standard_breast_cancer():
    X, y = breast_cancer()
    return StandardScaler().fit_transform(X), y


def crossed(rng, n_problems, n):
    return folds(rng, n_problems, n) * exponential(rng, n_problems, n)


CASES: dict[str, Callable] = {
    "colon-exp": partial(shared, colon_signs, exponential, 1000),
    "colon-counts": partial(shared, colon_signs, counts, 1000),
    "colon-permuted": colon_permuted,
    "bc-exp": partial(shared, standard_breast_cancer, exponential, 1000),
    "bc-counts": partial(shared, standard_breast_cancer, counts, 1000),
    "bc-folds-exp": partial(shared, standard_breast_cancer, crossed, 1000),
    "bc-scaled-exp": partial(shared, breast_cancer, exponential, 500, scaled=True),
    "bc-scaled-counts": partial(shared, breast_cancer, counts, 500, scaled=True),
    "gaussian-5000": partial(shared, gaussian, exponential, 100),
}


def sweep():
    rng = np.random.default_rng(4)

    def work(n_problems, n, p):
        X, y = gaussian(n, p)
        box = exponential(rng, n_problems, n)
        LinearSVMBatch(X).solve(y, box)

    growth_slope("problems, n=500, p=20", [100, 400, 1600], lambda B: work(B, 500, 20))
    growth_slope("samples, p=20, B=100", [500, 2000, 8000], lambda n: work(100, n, 20))
    growth_slope("features, n=2000, B=100", [5, 20, 80], lambda p: work(100, 2000, p))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="*", help=", ".join(CASES))
    parser.add_argument("--sweep", action="store_true", help="print how the cost grows instead")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.sweep:
        sweep()
    else:
        for name in arguments.case or CASES:
            print(name)
            paired_ratio(*CASES[name](), check=check, rounds=arguments.rounds)
