"""The steps before an estimator that let it take a table of numbers with gaps and of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skeval.datasets._tables import ColumnTable

__all__ = ["count_columns", "describe_preparation", "make_preparation"]

FEW = 4


def make_preparation(table: ColumnTable, *, scale: bool) -> list[Any]:
    """Return the transformers that a table needs: medians for what is missing, columns for texts.

    They are steps of the pipeline that is evaluated, so that each fold learns them by itself.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    imputers = [SimpleImputer(strategy="median", keep_empty_features=True)]
    numeric = [*(imputers if table.missing else []), *([StandardScaler()] if scale else [])]
    if not table.texts:
        return numeric
    numbers = [column for column in range(table.X.shape[1]) if column not in table.texts]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [(encoder, table.texts)]
    if numbers:
        parts.insert(0, (make_pipeline(*numeric) if numeric else "passthrough", numbers))
    return [make_column_transformer(*parts, verbose_feature_names_out=False)]


def describe_preparation(table: ColumnTable) -> str:
    """Say what is done to missing values and texts, "" where there are neither."""
    said = []
    if table.missing:
        said.append(f"medians for missing numbers ({_list_names(table, table.missing)})")
    if table.texts:
        said.append(f"a column for each text ({_list_names(table, table.texts)})")
    return f", {' and '.join(said)} within every fold" if said else ""


def _list_names(table: ColumnTable, columns: Sequence[int]) -> str:
    """Return the names of a few columns."""
    names = ", ".join(table.feature_names[column] for column in columns[:FEW])
    return names + (f" and {len(columns) - FEW} more" if len(columns) > FEW else "")


def count_columns(table: ColumnTable) -> int:
    """Return how many columns reach the estimator: a text column makes one for each text."""
    n_texts = sum(len(set(table.X[:, column])) for column in table.texts)
    return table.X.shape[1] - len(table.texts) + n_texts
