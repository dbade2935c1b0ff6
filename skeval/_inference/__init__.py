"""Intervals, standard errors and tests, computed from arrays of numbers."""

from __future__ import annotations
