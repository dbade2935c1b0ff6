"""Support vector machines with an honest error."""

__all__: list[str] = []
