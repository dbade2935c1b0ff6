"""The rules that keep the package simple, read from its source."""

import ast
from pathlib import Path

import pytest

import skeval

ROOT = Path(skeval.__file__).parent
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}

# Arrays in, arrays out: no validation, no randomness, no estimators.
ENGINES = [
    "feature_selection/_batch.py",
    "metrics/cluster/_distance_pass.py",
    "metrics/cluster/_distances.py",
    "metrics/cluster/_nearest_farthest.py",
    "metrics/cluster/_neighbours.py",
    "model_selection/_bca.py",
    "model_selection/_bootstrap_variance.py",
    "model_selection/_delong.py",
    "model_selection/_point632.py",
    "svm/_active_set.py",
    "svm/_batch.py",
    "svm/_interior_point.py",
    "svm/_newton.py",
    "svm/_scales.py",
    "svm/_screening.py",
    "svm/_solver.py",
    "svm/_tolerance.py",
]
NOT_IN_ENGINES = (
    "sklearn.base",
    "sklearn.utils.validation",
    "sklearn.utils.check_array",
    "skeval.utils._checks",
    "skeval.utils._compat.validate_params",
    "skeval.utils._random",
)
# A package may import those before it, and itself.
LAYERS = [
    ["utils"],
    ["metrics", "datasets"],
    ["model_selection", "cluster"],
    ["svm"],
    ["feature_selection"],
    ["report"],
    ["_commands"],
]
OPTIONAL = {"matplotlib", "pandas", "tqdm", "jinja2", "dask", "distributed", "polars"}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def imports(module, *, late=True):
    """Return the dotted names that a module imports, inside functions too if `late`."""
    names = []
    for node in ast.walk(TREES[module]) if late else at_import(TREES[module].body):
        if isinstance(node, ast.Import):
            names += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{name.name}" for name in node.names]
    return names


def at_import(body):
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ast.walk(node)


def allowed_for(package):
    depth = next(i for i, layer in enumerate(LAYERS) if package in layer)
    return {package}.union(*LAYERS[:depth])


def functions(module):
    return [node for node in ast.walk(TREES[module]) if isinstance(node, ast.FunctionDef)]


def lines_of_code(function):
    """Count the lines below the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("module", ENGINES)
def test_engines_take_arrays_and_return_arrays(module):
    assert not [name for name in imports(module) if name.startswith(NOT_IN_ENGINES)]
    assert "default_rng" not in MODULES[module].read_text()


def test_private_names_of_scikit_learn_are_imported_in_one_file():
    private = {
        (module, name)
        for module in MODULES
        for name in imports(module)
        if name.startswith("sklearn") and any(part[0] == "_" for part in name.split("."))
    }
    assert {module for module, _ in private} == {"utils/_compat.py"}


def test_packages_import_only_what_lies_below():
    upward = {
        (module, name)
        for module in MODULES
        if "/" in module
        for name in imports(module)
        if name.startswith("skeval.")
        and name.split(".")[1] not in allowed_for(module.split("/")[0]) | {"__version__"}
    }
    assert not upward


def test_optional_packages_are_imported_late():
    early = {
        (module, name)
        for module in MODULES
        for name in imports(module, late=False)
        if name.split(".")[0] in OPTIONAL
    }
    assert not early


def test_results_do_not_import_their_plots():
    results = [name for name in MODULES if "/_plot/" not in name and "__init__" not in name]
    assert not {name for name in results if any("._plot" in used for used in imports(name))}


def test_files_and_functions_stay_short():
    long_files = {name for name, path in MODULES.items() if path.read_text().count("\n") >= 400}
    long_functions = {
        (module, function.name)
        for module in MODULES
        for function in functions(module)
        if lines_of_code(function) >= 40
    }
    assert not long_files
    assert not long_functions


def test_every_module_lists_its_names():
    def lists(module):
        found = [
            ast.unparse(node)
            for node in TREES[module].body
            if isinstance(node, ast.Assign | ast.AnnAssign)
        ]
        return [text for text in found if text.startswith("__all__")]

    assert not {module for module in MODULES if len(lists(module)) != 1}
