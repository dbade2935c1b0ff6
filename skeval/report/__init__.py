"""Every estimate of one classifier side by side."""

__all__: list[str] = []
