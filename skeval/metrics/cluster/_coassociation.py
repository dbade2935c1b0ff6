"""The co-association matrix of a partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skeval.metrics.cluster._labels import check_labels
from skeval.metrics.cluster._pairs import encode
from skeval.utils._compat import validate_params

__all__ = ["coassociation_matrix"]


@validate_params({"labels": ["array-like"], "sparse_output": ["boolean"]})
def coassociation_matrix(
    labels: ArrayLike, *, sparse_output: bool = True
) -> csr_array | np.ndarray:
    """Compute which samples a partition puts together.

    ``C[i, j] = 1[u_i = u_j]``: symmetric, with 1 on the diagonal. The mean of the matrices of
    several clusterings is the evidence that two samples belong together.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The partition; integers, strings or other hashable labels.
    sparse_output : bool, default=True
        Return a sparse array, whose size is the sum of the squared cluster sizes, or a dense one.

    Returns
    -------
    csr_array or ndarray of shape (n_samples, n_samples), dtype int64
        The co-association matrix.

    Raises
    ------
    ValueError
        If the labels are not 1-D or are fractions.

    See Also
    --------
    minkowski_score : Distance of two such matrices, computed without them.

    References
    ----------
    .. [1] Fred, A. L. N. and Jain, A. K. (2005). Combining multiple clusterings using evidence
       accumulation. IEEE Transactions on Pattern Analysis and Machine Intelligence 27, 835-850.
       https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> from skeval.metrics.cluster import coassociation_matrix
    >>> coassociation_matrix([0, 1, 0], sparse_output=False)
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """
    codes, n_codes = encode(check_labels(labels, "labels"))
    if not sparse_output:
        return (codes[:, None] == codes[None, :]).astype(np.int64)
    n_samples = len(codes)
    members = csr_array(
        (np.ones(n_samples, np.int64), codes, np.arange(n_samples + 1)), shape=(n_samples, n_codes)
    )
    together = csr_array(members @ members.T)
    together.sort_indices()
    return together
