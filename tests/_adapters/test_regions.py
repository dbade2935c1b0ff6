"""The regions in which solvers run."""

import re
from pathlib import Path

import pytest

from skeval._adapters import regions
from skeval._adapters.regions import Sizes

LAST = [
    (regions.linear, Sizes(21, 2000, 5, 32), {"n_fits": 20, "n_samples": 4000, "n_classes": 33}),
    (regions.discriminant, Sizes(10, 500, 5, 32), {"n_fits": 9, "n_classes": 33}),
    (
        regions.naive,
        Sizes(11, 50_000, 50, 32),
        {"n_fits": 10, "n_samples": 80_000, "n_features": 80, "n_classes": 33},
    ),
    (
        regions.neighbors,
        Sizes(20, 2000, 5, 32, 7000),
        {"n_fits": 19, "n_samples": 2001, "n_classes": 33, "n_tested": 6999},
    ),
    (regions.neighbors, Sizes(20, 600, 5, 32), {"n_fits": 19}),
    (regions.logistic, Sizes(5, 100, 5), {"n_fits": 4}),
    (
        regions.logistic,
        Sizes(50, 300, 99),
        {"n_fits": 37, "n_samples": 301, "n_features": 100, "n_classes": 3},
    ),
    (regions.linear_svc, Sizes(10, 500, 5), {"n_fits": 9}),
    (regions.linear_svc, Sizes(30, 500, 5, 3), {"n_fits": 29, "n_classes": 4}),
    (regions.linear_svc, Sizes(1, 1000, 5), {"n_samples": 999, "n_classes": 3}),
    (regions.linear_svc, Sizes(100, 500, 5, 5), {"n_classes": 6}),
    (regions.kernel_svc, Sizes(10, 600, 5), {"n_fits": 9, "n_samples": 601, "n_classes": 3}),
    (regions.kernel_svc, Sizes(100, 600, 5, 5), {"n_classes": 6}),
]


@pytest.mark.parametrize(("region", "inside", "beyond"), LAST)
def test_each_limit_is_the_last_size_inside(region, inside, beyond):
    assert region(inside)
    for name, size in beyond.items():
        assert not region(inside._replace(**{name: size})), name


@pytest.mark.parametrize("region", regions.REGIONS)
def test_the_table_names_the_limits_of_the_rule(region, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "doc" / "_extensions")
    solver, conditions = pytest.importorskip("solver_regions").describe(region)
    assert solver
    (fewest,) = re.findall(r"at least (\d+) fits", conditions)
    smallest, many = Sizes(int(fewest), 50), Sizes(10_000, 50)
    assert region(smallest)
    assert not region(smallest._replace(n_fits=int(fewest) - 1))
    for size, what in re.findall(r"at most (\d+) (classes|samples)", conditions):
        inside = many._replace(**{f"n_{what}": int(size)})
        assert region(inside)
        assert not region(inside._replace(**{f"n_{what}": int(size) + 1}))
