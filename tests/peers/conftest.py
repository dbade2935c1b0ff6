"""What the installed tests of peers need, and the differences from them.

A module of tests may list its `DIFFERENT` tests, by name, with the reason: they must fail, so that
a difference that is none any more leaves the list. Those in `SLOW` run with -m slow.
"""

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a marker of scikit-learn's tests")


@pytest.fixture
def global_random_seed():
    """The seed of scikit-learn's own tests, whose conftest is not loaded here."""
    return 42


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(config, items):
    ours = [item for item in items if hasattr(getattr(item, "module", None), "REACH")]
    others = [item for item in ours if not item.module.REACH.of_case(item.obj, parameters(item))]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    for item in ours:
        names = {item.name, item.originalname}
        for name in names & item.module.DIFFERENT.keys():
            item.add_marker(pytest.mark.xfail(reason=item.module.DIFFERENT[name], strict=True))
        if names & getattr(item.module, "SLOW", set()):
            item.add_marker(pytest.mark.slow)
        # warnings are no errors in the suites of peers, but where a test says so
        item.add_marker(pytest.mark.filterwarnings("ignore"), append=False)


def parameters(item):
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []
