"""The commands of ``python -m skeval``, one module each, not part of the public interface."""

from __future__ import annotations

BUNDLED = ("breast_cancer", "iris", "wine", "digits")
