"""Helpers shared by the subpackages; not part of the public interface."""

__all__: list[str] = []
