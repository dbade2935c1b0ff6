"""Every public docstring is complete, by numpydoc's rules and by ours."""

import dataclasses
import importlib
import inspect
import re

import pytest
from helpers.public_modules import MODULES
from numpydoc.validate import validate

# Not asked for: an extended summary where one line says it, See Also, a description of a return
# value that its type names already, and types alone on the first line of Returns, where
# scikit-learn too writes the name of the value.
NOT_ASKED = {"ES01", "SA01", "RT02", "RT03"}
# Results list their fields under Attributes, not Parameters, and are made by functions, whose
# examples show them; so do methods.
OF_RESULTS = {"PR01", "EX01"}
OF_METHODS = {"EX01", "RT01"}


def public_objects():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("skeval"):
                yield f"{module_name}.{name}", thing


OBJECTS = dict(public_objects())


def methods_of(thing):
    if not inspect.isclass(thing):
        return []
    return [
        name for name, value in vars(thing).items() if name[0] != "_" and inspect.isfunction(value)
    ]


def test_docstrings_are_complete():
    found = {}
    for path, thing in OBJECTS.items():
        asked_not = NOT_ASKED | (OF_RESULTS if is_result(thing) else set())
        found[path] = errors(path, asked_not)
        for method in methods_of(thing):
            found[f"{path}.{method}"] = errors(f"{path}.{method}", asked_not | OF_METHODS)
    assert {name: listed for name, listed in found.items() if listed} == {}


def is_result(thing):
    return dataclasses.is_dataclass(thing) or (
        inspect.isclass(thing) and thing.__name__.endswith("Display")
    )


def errors(path, asked_not):
    return [error for error in validate(path)["errors"] if error[0] not in asked_not]


@pytest.mark.parametrize("module_name", MODULES)
def test_all_is_what_there_is(module_name):
    module = importlib.import_module(module_name)
    assert sorted(module.__all__) == list(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


# One text for each option of one type, with which its description starts; what is peculiar to a
# function follows.
FOLDS = (
    "Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified "
    "by class, and groups are kept together."
)
CACHE = (
    "Cache of finished fits. If `random_state` is an int, a repeated call after an interruption "
    "computes only the remaining fits. See :doc:`/user_guide/scale`."
)
PARAMS = "Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``."
SCORES = "One score or several, as in scikit-learn's ``cross_validate``. Larger is better."
TEXTS = {
    "confidence_level : float": "Nominal coverage, between 0 and 1",
    "cv : int, splitter": FOLDS,
    "groups : array-like of shape (n_samples,)": "Group of each sample, such as the",
    "memory : str, path-like": CACHE,
    "n_jobs : int, default": "Number of joblib workers. Results do not depend on it.",
    "n_jobs : int or None": "Number of threads. Results do not depend on it.",
    "params : dict": PARAMS,
    "random_state : int": "Seed of the random draws. An int gives the same result in each call.",
    "sample_weight : array-like of shape (n_samples,)": "Sample weights.",
    "scoring : str or callable, default": "Name from `get_scorer_names`, or a scorer. Larger is",
    "scoring : str, callable, list, tuple or dict": SCORES,
    "verbose : int": "1 shows progress. Larger values add joblib's messages.",
}


def test_an_option_has_one_text():
    used, other = set(), {}
    for path, thing in OBJECTS.items():
        for member in [thing, *(getattr(thing, name) for name in methods_of(thing))]:
            text = (inspect.getdoc(member) or "").partition("\nParameters\n")[2]
            parameters = re.split(r"\n\w+\n---", text)[0]
            for head, body in re.findall(r"(?m)^(\w+ : .*)\n((?:    .*(?:\n|$))+)", parameters):
                for key in filter(head.startswith, TEXTS):
                    used.add(key)
                    if not " ".join(body.split()).startswith(TEXTS[key]):
                        other[path, head] = body
    assert other == {}
    assert used == set(TEXTS)
