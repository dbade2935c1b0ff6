"""Indices of clusterings: external, internal, and of segmentation masks."""

__all__: list[str] = []
