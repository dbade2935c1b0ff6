"""Honest evaluation of pattern-recognition systems for scikit-learn users."""

__version__ = "0.1.0.dev0"

__all__ = ["__version__"]
