"""The same data in every form that users hold them in."""

import numpy as np
import pandas as pd
from scipy import sparse

try:
    import polars
except ImportError:  # it is no dependency of skeval, not even of its tests
    polars = None


def read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def strided(array):
    """Every second entry, backwards: neither contiguous nor in order of memory."""
    array = np.asarray(array)
    wide = np.repeat(array[::-1], 2, axis=0)
    return wide[::-2]


def indexed(values, dtype=None):
    """A series whose index is no range."""
    return pd.Series(values, index=np.arange(len(values))[::-1] * 7, dtype=dtype)


# Forms of a vector of whole numbers; they hold the numbers themselves.
WHOLE = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "int8": lambda a: a.astype(np.int8),
    "int32": lambda a: a.astype(np.int32),
    "float32": lambda a: a.astype(np.float32),
    "float64": lambda a: a.astype(np.float64),
    "object": lambda a: a.astype(object),
    "big-endian": lambda a: a.astype(">i4"),
    "read-only": read_only,
    "strided": strided,
    "Series": indexed,
    "Series Int64": lambda a: indexed(a, "Int64"),
    "Series Int8": lambda a: indexed(a, "Int8"),
    "Series Float64": lambda a: indexed(a, "Float64"),
    "Series object": lambda a: indexed(a.astype(object)),
    "Series category": lambda a: indexed(pd.Categorical(a)),
    "Categorical": pd.Categorical,
    "Index": pd.Index,
    "Int64 array": lambda a: pd.array(a, dtype="Int64"),
    "pyarrow": lambda a: indexed(a, "int64[pyarrow]"),
}
# Forms of a vector of names.
NAMES = {
    "list": lambda a: a.tolist(),
    "object": lambda a: a.astype(object),
    "read-only": read_only,
    "strided": strided,
    "Series": lambda a: indexed(a.astype(object), object),
    "Series string": lambda a: indexed(a, "string"),
    "Series pyarrow": lambda a: indexed(a, "string[pyarrow]"),
    "Series category": lambda a: indexed(pd.Categorical(a)),
    "Categorical": pd.Categorical,
    "Index": pd.Index,
}
if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    NAMES["StringDType"] = lambda a: np.asarray(a).astype(np.dtypes.StringDType())
# Forms of a vector of truth values.
TRUTH = {
    "list": lambda a: a.tolist(),
    "object": lambda a: a.astype(object),
    "read-only": read_only,
    "strided": strided,
    "Series": indexed,
    "Series boolean": lambda a: indexed(a, "boolean"),
    "Series pyarrow": lambda a: indexed(a, "bool[pyarrow]"),
    "Categorical": pd.Categorical,
}
# Forms of a vector of fractions that float32 holds exactly.
FRACTIONS = {
    key: WHOLE[key]
    for key in ("list", "tuple", "float32", "object", "read-only", "strided", "Series", "Index")
} | {
    "Series Float64": lambda a: indexed(a, "Float64"),
    "Series Float32": lambda a: indexed(a, "Float32"),
    "pyarrow": lambda a: indexed(a, "double[pyarrow]"),
}
# Forms of a matrix of whole numbers.
MATRICES = {
    "lists": lambda a: a.tolist(),
    "float32": lambda a: a.astype(np.float32),
    "int64": lambda a: a.astype(np.int64),
    "int8": lambda a: a.astype(np.int8),
    "object": lambda a: a.astype(object),
    "big-endian": lambda a: a.astype(">f8"),
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "columns strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "DataFrame": lambda a: pd.DataFrame(a, index=np.arange(len(a))[::-1] * 7).add_prefix("x"),
    "DataFrame Int64": lambda a: pd.DataFrame(a).astype("Int64").add_prefix("x"),
    "DataFrame Float64": lambda a: pd.DataFrame(a).astype("Float64").add_prefix("x"),
    "DataFrame mixed": lambda a: pd.DataFrame(
        {
            f"x{j}": column.astype(kind)
            for j, (column, kind) in enumerate(zip(a.T, KINDS * 9, strict=False))
        }
    ),
    "sparse frame": lambda a: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(a)).add_prefix(
        "x"
    ),
}
KINDS = (np.int8, np.float32, np.float64)
SPARSE = {
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "csr array": sparse.csr_array,
    "csr int": lambda a: sparse.csr_matrix(a.astype(np.int64)),
}
if polars is not None:
    for forms in (WHOLE, NAMES, TRUTH, FRACTIONS):
        forms["polars"] = lambda a: polars.Series("name", a.tolist())
    NAMES["polars categorical"] = lambda a: polars.Series("name", a.tolist(), polars.Categorical)
    MATRICES["polars"] = lambda a: polars.DataFrame(a, schema=[f"x{j}" for j in range(a.shape[1])])
