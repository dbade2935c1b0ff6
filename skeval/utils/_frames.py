"""Data frames of results; pandas is optional, and imported where a frame is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = "pandas.DataFrame"

__all__ = ["DataFrame", "make_frame"]


def make_frame(data: Any, index: Any = None, name: str | None = None) -> DataFrame:
    """Return columns by name, or rows as dicts, with an index of that name if one is given."""
    import pandas as pd

    return pd.DataFrame(data, index=None if index is None else pd.Index(index, name=name))
