"""The regions in which solvers run."""

from dataclasses import fields
from math import inf
from pathlib import Path

import pytest

from skeval._adapters.regions import REGIONS, Region, Sizes

INSIDE = Sizes(100, 1000, 9)


@pytest.mark.parametrize(
    ("limit", "sizes"),
    [
        ({"min_fits": 100}, {"n_fits": 99}),
        ({"min_fits": 90, "samples_per_fit": 100}, {"n_samples": 1100}),
        ({"min_fits": 91, "numbers_per_fit": 1000}, {"n_features": 10}),
        ({"max_samples": 1000}, {"n_samples": 1001}),
        ({"max_classes": 2}, {"n_classes": 3}),
        ({"max_products": 1e5}, {"n_features": 10}),
        ({"products_per_fit": 1e3}, {"n_fits": 99}),
        ({"products_per_fit": 1e3}, {"n_classes": 3}),
        ({"min_fits": 50, "per_pair": True}, {"n_classes": 3}),
        ({"min_fits": 200, "large": 1000}, {"n_samples": 999}),
        ({"min_fits": 200, "large": 1000}, {"n_classes": 3}),
        ({"lists": 5, "distances_per_fit": 5e4}, {"n_fits": 99}),
        ({"lists": 5, "distances_per_fit": 5e4}, {"n_samples": 1001}),
    ],
)
def test_each_limit_is_the_last_size_inside(limit, sizes):
    region = Region("", **limit)
    assert region.contains(INSIDE)
    assert not region.contains(INSIDE._replace(**sizes))


def test_tested_samples_pay_for_distances():
    region = Region("", lists=5)
    assert region.contains(INSIDE._replace(n_tested=5000))
    assert not region.contains(INSIDE._replace(n_tested=4999))


@pytest.mark.parametrize("region", REGIONS.values())
def test_the_table_names_every_limit(region, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "doc" / "_extensions")
    describe = pytest.importorskip("solver_regions").describe
    words = " ".join(describe(region)).replace(",", "")
    for field in fields(region):
        value = getattr(region, field.name)
        if isinstance(value, int | float) and 1 < value < inf:
            assert f"{value:.0f}" in words
