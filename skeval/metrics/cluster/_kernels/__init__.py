"""The passes over distances: arrays in, arrays out."""

__all__: list[str] = []
