"""The passes over distances: arrays in, arrays out."""

from __future__ import annotations
