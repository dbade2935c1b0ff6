"""Resampling, inputs, plans, the loop over fits, jobs and their cache."""

from __future__ import annotations
