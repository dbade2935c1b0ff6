"""How often do the intervals of metric_interval hold the metric of the population?

The tables of ``doc/validation.rst`` for `metric_interval` are the output of this script. Metrics of
labels are judged on multinomial tables (each distinct one once), the others on normal scores and on
errors.

    python benchmarks/coverage_metric_interval.py --n-sets 2000 [--part labels|scores|losses|groups]
"""

import argparse
import warnings
from functools import partial

import numpy as np
from scipy import stats
from sklearn import metrics as sk

from skeval.metrics import macro_fbeta_score
from skeval.model_selection import metric_interval

LABELS = {
    "F1": sk.f1_score,
    "macro F": partial(sk.f1_score, average="macro"),
    "F of means": macro_fbeta_score,
    "weighted F": partial(sk.f1_score, average="weighted"),
    "balanced": sk.balanced_accuracy_score,
    "MCC": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "Jaccard": partial(sk.jaccard_score, average="macro"),
}


def covered(metric, truth, draw, n_sets, **options):
    """Return the share of intervals that hold the truth, and the median of their widths."""
    seen, widths = [], []
    for _ in range(n_sets):
        sample = draw()
        if sample is None:
            continue
        interval = metric_interval(metric, *sample, **options).interval
        seen.append(truth in interval)
        widths.append(interval.high - interval.low)
    return np.mean(seen), np.median(widths)


def labels(n_sets, **options):
    for priors in ([0.5, 0.5], [0.9, 0.1], [1 / 3] * 3, [0.8, 0.1, 0.1]):
        k = len(priors)
        for rate in (0.8, 0.95):
            p = np.full((k, k), (1 - rate) / (k - 1))
            np.fill_diagonal(p, rate)
            p *= np.array(priors)[:, None]
            for n in (30, 100):
                tables = np.random.default_rng(0).multinomial(n, p.ravel(), n_sets)
                tables = tables[(tables.reshape(-1, k, k).sum(axis=2) > 0).all(axis=1)]
                distinct, times = np.unique(tables, axis=0, return_counts=True)
                for name, metric in LABELS.items():
                    if name == "F1" and k > 2:
                        continue
                    truth = metric(*np.indices((k, k)).reshape(2, -1), sample_weight=p.ravel())
                    hits = np.zeros(len(distinct))
                    for i, table in enumerate(distinct):
                        pair = np.repeat(np.indices((k, k)).reshape(2, -1), table, axis=1)
                        hits[i] = truth in metric_interval(metric, *pair, **options).interval
                    share = times @ hits / times.sum()
                    print(f"{k} {priors[-1]:.2f} {rate} {n:4d} {name:12s} {share:.3f}", flush=True)


def scores(n_sets, **options):
    rng = np.random.default_rng(0)
    for prior in (0.5, 0.1):
        for shift in (1.19, 2.33):  # areas of .80 and .95
            recall = np.linspace(1e-4, 1 - 1e-4, 4001)
            false = stats.norm.sf(shift + stats.norm.ppf(1 - recall))
            precision = np.mean(prior * recall / (prior * recall + (1 - prior) * false))
            area = stats.norm.cdf(shift / 2**0.5)
            for n in (30, 100):

                def draw(n=n, shift=shift, prior=prior):
                    y = (rng.random(n) < prior).astype(int)
                    return (y, rng.normal(size=n) + shift * y) if 0 < y.sum() < n else None

                for metric, truth in (
                    (sk.roc_auc_score, area),
                    (sk.average_precision_score, precision),
                ):
                    share, width = covered(metric, truth, draw, n_sets, **options)
                    print(
                        f"{prior} {area:.2f} {n:4d} {metric.__name__} {share:.3f} {width:.2f}",
                        flush=True,
                    )


def losses(n_sets, **options):
    rng = np.random.default_rng(0)
    draws = {
        "normal": (lambda n: rng.normal(size=n), 1.0),
        "Laplace": (lambda n: rng.laplace(size=n), 2.0),
        "t5": (lambda n: rng.standard_t(5, size=n), 5 / 3),
        "t3": (lambda n: rng.standard_t(3, size=n), 3.0),
        "log-normal": (lambda n: rng.lognormal(size=n), np.exp(2)),
    }
    for name, (draw, truth) in draws.items():
        for n in (30, 100):
            for method in ("hall", "t", "bca"):
                share, width = covered(
                    sk.mean_squared_error,
                    truth,
                    lambda draw=draw, n=n: (np.zeros(n), draw(n)),
                    n_sets if method != "bca" else n_sets // 10,
                    method=method,
                    n_resamples=400,
                    **options,
                )
                print(f"{name} {n:4d} {method:5s} {share:.3f} {width / truth:.2f}", flush=True)


def groups(n_sets, **options):
    """Error rates of groups of 10 differ: beta(4, 16); one of predictions of two classes."""
    rng = np.random.default_rng(0)
    for n_groups in (3, 5, 10, 30):
        unit = np.repeat(np.arange(n_groups), 10)

        def draw(unit=unit, n_groups=n_groups):
            y = rng.integers(0, 2, len(unit))
            wrong = rng.random(len(unit)) < rng.beta(4, 16, n_groups)[unit]
            return y, np.where(wrong, 1 - y, y), unit

        def of(metric, method, n_groups=n_groups, draw=draw):
            hits = []
            for seed in range(n_sets if method == "auto" else n_sets // 10):
                y, p, unit = draw()
                found = metric_interval(
                    metric, y, p, groups=unit, method=method, n_resamples=400, random_state=seed
                )
                hits.append(0.8 in found.interval)
            return np.mean(hits)

        for metric in (sk.accuracy_score, partial(sk.f1_score, average="macro")):
            print(
                n_groups, metric, *(f"{m} {of(metric, m):.3f}" for m in ("auto", "bca")), flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-sets", type=int, default=2000)
    parser.add_argument("--part", choices=["labels", "scores", "losses", "groups"])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in (labels, scores, losses, groups):
        if chosen.part in (None, part.__name__):
            part(chosen.n_sets)
