"""Algorithms for many problems at once, from arrays to arrays.

They know no estimators, validate nothing and use no randomness. "eq. (7) of newton" is equation (7)
of doc/derivations/newton.rst.
"""

from __future__ import annotations
