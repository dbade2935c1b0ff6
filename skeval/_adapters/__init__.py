"""Adapters: each recognizes an estimator of scikit-learn and passes its fits to a solver.

Every module registers its adapters on import; all of them are imported here, so that a new module
need not be listed.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
