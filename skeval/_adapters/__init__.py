"""Estimators of scikit-learn that a solver serves: each is recognised, and its fits handed on.

Every module here registers adapters as it is imported, and all of them are imported with the
package, so that a new one needs to be named nowhere.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
