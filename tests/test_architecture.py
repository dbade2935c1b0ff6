"""The rules that keep the package simple, read from its source."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from helpers import public_modules

import skeval

# What was reached. A change that raises a number says why in its commit.
LINES_OF_CODE = 33_083
PUBLIC_NAMES = 130

ROOT = Path(skeval.__file__).parent
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}

# A floor may import those above it in this list, and itself.
FLOORS = [
    ["_version", "utils"],
    ["_inference", "_solvers"],
    ["metrics", "datasets"],
    ["_resampling"],
    ["_adapters"],
    ["model_selection", "cluster"],
    ["svm", "feature_selection"],
    ["report"],
    ["_commands"],
]
DISTANCES = ["metrics/cluster/_distance_pass.py", "metrics/cluster/_distances.py"]
KERNELS = DISTANCES + [name for name in MODULES if name.startswith("_solvers/")]
# Arrays in, arrays out: no validation, no randomness, no estimator.
NOT_IN_KERNELS = (
    "sklearn.base",
    "sklearn.utils.validation",
    "sklearn.utils.check_array",
    "skeval.utils._checks",
    "skeval._resampling",
)
NUMBERS = [name for name in MODULES if name.startswith("_inference/")]
# Numbers in, numbers out: no estimator, and no loop over fits.
NOT_IN_INFERENCE = ("sklearn.base", "sklearn.model_selection", "skeval._resampling")
OPTIONAL = {"matplotlib", "pandas", "tqdm", "jinja2", "dask", "distributed", "polars"}
DERIVATIONS = Path(__file__).parents[1] / "doc" / "derivations"
EQUATION = re.compile(
    r"(?:eqs?\. \(?|# \()(?P<number>\d+)\)?(?: and \(\d+\))?"
    r"(?:\s+of\s+(?:doc/derivations/)?(?P<page>\w+)(?:\.rst)?)?"
    r"|Numbers in parentheses are.*?doc/derivations/(?P<from_here>\w+)\.rst",
    re.DOTALL,
)


@cache
def tree(module):
    """Return what a module says, parsed."""
    return ast.parse(MODULES[module].read_text())


@cache
def nodes(module):
    """Return all parts of the tree of a module."""
    return list(ast.walk(tree(module)))


@cache
def imports(module, *, late=True):
    """Return the dotted names that a module imports, inside functions too if `late`."""
    names = []
    for node in nodes(module) if late else at_import(tree(module).body):
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


def floor_of(package):
    return next(i for i, floor in enumerate(FLOORS) if package in floor)


def functions(module):
    return [node for node in nodes(module) if isinstance(node, ast.FunctionDef)]


def lines_of_code(module):
    """Count the lines that are neither blank nor comments nor part of a docstring."""
    texts = {
        line
        for node in nodes(module)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    lines = enumerate(MODULES[module].read_text().splitlines(), 1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and at not in texts
        for at, line in lines
    )


def imported_modules(module):
    """Return the files of the package that a file imports, wherever it does."""
    found = set()
    for name in imports(module):
        parts = name.split(".")
        if parts[0] != "skeval":
            continue
        for known in (parts, parts[:-1]):
            path = "/".join(known[1:])
            files = {f"{path}.py", f"{path}/__init__.py"} if path else {"__init__.py"}
            if files & set(MODULES):
                found |= files & set(MODULES)
                break
    return found - {module}


def circles():
    """Return the groups of files that import each other, by repeatedly dropping the leaves."""
    graph = {module: imported_modules(module) for module in MODULES}
    while leaves := {module for module, used in graph.items() if not used}:
        graph = {module: used - leaves for module, used in graph.items() if module not in leaves}
    return graph


def test_kernels_take_arrays_and_return_arrays():
    used = {(module, name) for module in KERNELS for name in imports(module)}
    assert not {each for each in used if each[1].startswith(NOT_IN_KERNELS)}
    assert not [module for module in KERNELS if "default_rng" in MODULES[module].read_text()]


def test_inference_takes_numbers_and_returns_numbers():
    used = {(module, name) for module in NUMBERS for name in imports(module)}
    assert not {each for each in used if each[1].startswith(NOT_IN_INFERENCE)}


def test_private_names_of_scikit_learn_are_imported_in_one_file():
    private = {
        (module, name)
        for module in MODULES
        for name in imports(module)
        if name.startswith("sklearn") and any(part[0] == "_" for part in name.split("."))
    }
    assert {module for module, _ in private} == {"utils/_compat.py"}


def test_floors_import_only_what_lies_below():
    upward = {
        (module, name)
        for module in MODULES
        if "/" in module
        for name in imports(module)
        if name.startswith("skeval.")
        for package, used in [(module.split("/")[0], name.split(".")[1])]
        if used != package and floor_of(used) >= floor_of(package)
    }
    assert not upward


def test_the_loop_over_fits_knows_no_solver():
    used = {
        name for module in MODULES if module.startswith("_resampling/") for name in imports(module)
    }
    assert not {name for name in used if name.startswith("skeval._solvers")}


def test_no_file_imports_itself_by_way_of_others():
    assert circles() == {}


def test_optional_packages_are_imported_late():
    early = {
        (module, name)
        for module in MODULES
        for name in imports(module, late=False)
        if name.split(".")[0] in OPTIONAL
    }
    assert not early


def test_results_do_not_import_their_plots():
    plots = "_plot.py", "__init__.py"
    results = [name for name in MODULES if not name.endswith(plots)]
    assert not {
        (name, used)
        for name in results
        if not name.startswith("report/")  # a page shows displays
        for used in imports(name)
        if "._plot." in used  # utils._plotting is below all
    }


def test_warning_filters_change_in_the_main_thread_only():
    # `ignored_warnings` and `run_job` ask for the thread; commands run in a process of their own
    changing = {n for n, path in MODULES.items() if "warnings.catch_warnings(" in path.read_text()}
    commands = {name for name in changing if name.startswith(("__main__", "_commands/"))}
    example = {"feature_selection/_cv2.py"}
    assert changing - commands - example == {"utils/_checks.py", "_resampling/jobs.py"}


def test_the_package_does_not_grow():
    assert sum(map(lines_of_code, MODULES)) <= LINES_OF_CODE
    public = {
        name
        for module in map(import_module, public_modules.MODULES)
        for name in module.__all__
        if getattr(getattr(module, name), "__module__", "skeval").startswith("skeval")
    }
    assert len(public) <= PUBLIC_NAMES


def test_every_function_says_what_it_returns():
    silent = {
        (module, function.name)
        for module in MODULES
        for function in functions(module)
        if function.returns is None
    }
    assert not silent


@pytest.mark.parametrize("module", [name for name in KERNELS if "__init__" not in name])
def test_kernels_name_equations_that_their_pages_have(module):
    """``eq. (7) of newton`` is an equation of that page, ``# (7)`` of the page named last."""
    text = MODULES[module].read_text()
    first = re.search(r"doc/derivations/(\w+)\.rst", text)
    page = first and first[1]
    cited = []
    for found in EQUATION.finditer(text):
        page = found["from_here"] or page
        if found["number"]:
            cited.append((int(found["number"]), found["page"] or page))
    assert cited
    if not DERIVATIONS.is_dir():
        pytest.skip("doc/ is not beside the tests")
    for number, page in cited:
        equations = (DERIVATIONS / f"{page}.rst").read_text().count(":label:")
        assert 1 <= number <= equations
