"""Estimators whose fit does not see the labels, or sees them by way of two means only.

They belong to subpackages of scikit-learn that have no counterpart here, so their adapters stand
together.
"""

from __future__ import annotations

from skeval._smoothers import discriminant, linear, neighbours  # noqa: F401 (register adapters)

__all__: list[str] = []
