"""Algorithms for many problems at once, from arrays to arrays.

They use no estimators, no validation and no randomness. "eq. (7) of newton" is equation (7)
of doc/derivations/newton.rst.
"""

from __future__ import annotations
