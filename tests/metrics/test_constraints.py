"""Shared constraints refuse invalid arguments of every metric that has them."""

from inspect import signature

import pytest

import skeval.metrics
import skeval.metrics.cluster
from skeval.metrics._constraints import CONSTRAINTS

INVALID = {
    "sample_weight": 1.0,
    "groups": 1.0,
    "labels": 1.0,
    "baseline": 1.0,
    "pos_label": [1],
    "beta": -1.0,
    "zero_division": 0.5,
    "confidence_level": 1.0,
    "n_resamples": 0,
    "n_points": 1,
    "n_bins": 0,
    "strategy": "kmeans",
    "random_state": "seed",
}
DATA = [name for name in CONSTRAINTS if name not in INVALID]


def list_cases():
    modules = (skeval.metrics, skeval.metrics.cluster)
    functions = {name: getattr(module, name) for module in modules for name in module.__all__}
    for function in functions.values():
        constraints = getattr(function, "_skl_parameter_constraints", {})
        if not constraints.keys() >= CONSTRAINTS.keys():
            continue
        for name in sorted(INVALID.keys() & signature(function).parameters.keys()):
            if constraints[name] is CONSTRAINTS[name]:  # not replaced for this function
                yield pytest.param(function, name, id=f"{function.__name__}-{name}")


CASES = list(list_cases())


def test_every_constraint_belongs_to_a_metric():
    used = {name for case in CASES for name in signature(case.values[0]).parameters}
    assert set(DATA) <= used
    assert {case.values[1] for case in CASES} == set(INVALID)


@pytest.mark.parametrize(("function", "name"), CASES)
def test_invalid_arguments_are_refused_by_name(function, name):
    required = [p.name for p in signature(function).parameters.values() if p.default is p.empty]
    # other arguments than data are functions: those of `expected_loss`
    arguments = {
        key: [0, 1] if key in CONSTRAINTS or key == "matrices" else abs for key in required
    }
    arguments[name] = INVALID[name]
    with pytest.raises(ValueError, match=rf"'{name}' parameter of .*{function.__name__}"):
        function(**arguments)
