"""Helpers shared by the subpackages, not part of the public interface."""
