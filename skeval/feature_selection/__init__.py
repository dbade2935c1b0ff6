"""Feature selection inside the resampling loop."""

__all__: list[str] = []
