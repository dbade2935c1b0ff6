"""The commands of ``python -m skeval``, one module each, not part of the public interface."""
