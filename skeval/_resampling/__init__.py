"""Resampling: inputs, plans, the loop over fits, and jobs with their cache."""

from __future__ import annotations
