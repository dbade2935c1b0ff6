"""Rand indices of segmentation masks, for arrays of any library and device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skeval.metrics.cluster._pairs import PairCounts, adjusted_rand, rand
from skeval.utils._checks import check_flag, give_nan, naming
from skeval.utils._compat import array_namespace, device, widest_float_dtype

# pixels per block: counts stay exact in float32, and the converted copy stays small
BLOCK = 1 << 18
# tolerance for the sum of soft masks at a pixel, because half precision rounds coarsely
SUM_TOLERANCE = 0.01


def mask_rand_score(masks_true: Any, masks_pred: Any, *, per_image: bool = False) -> float:
    """Compute the Rand index of two segmentations, passed as stacks of masks.

    With ``T[s, r] = sum_pixels true_s pred_r``, its margins a and b and its total N, ``RI = 1 -
    [(sum a_s^2 + sum b_r^2)/2 - sum T^2] / [N (N - 1)/2]``. This is the share of pairs of pixels
    that both segmentations put together or both put apart. For hard masks it lies in [0, 1] and
    equals the Rand index of the label images; larger is better, 1 means identical.

    Parameters
    ----------
    masks_true : array of shape (n_masks_true, height, width) or (n_masks_true, ...)
        The reference: one mask per segment, hard (bool, or all values 0 and 1) or soft (values
        in [0, 1] that sum to at most 1 at each pixel). Pixels that no mask covers form an
        additional segment, the background, ``clip(1 - sum of the masks, 0, 1)``. Any Array API
        library: NumPy, PyTorch, CuPy, JAX...
    masks_pred : array of shape (n_masks_pred, height, width) or (n_masks_pred, ...)
        The prediction, with the same image shape, library and device; the number of masks may
        differ.
    per_image : bool, default=False
        If True, the first axis counts images, and the result is the mean index over images. Each
        image is one mask of shape (height, width), or a stack of masks. Use it in `make_scorer`;
        `metric_interval` sets it, because its samples are images.

    Returns
    -------
    float
        The index; nan if its denominator is 0.

    Raises
    ------
    ValueError
        If the images differ in shape or device, or have no pixels; if a value is outside [0, 1] or
        nan; if hard masks overlap, or soft masks sum to more than 1 at a pixel.
    TypeError
        If the masks come from different array libraries or are not real numbers.

    Warns
    -----
    UndefinedMetricWarning
        If the segmentations differ and the denominator is 0, for example with fewer than two
        pixels.

    Notes
    -----
    Sums over pixels are computed on the device of the masks, in float64 if the masks are float64
    and otherwise in float32, over blocks small enough to be exact for hard masks. Blocks are added
    in the widest float type of the device. Soft masks are interpreted as segment probabilities,
    independent between the two segmentations, so the score of a soft mask with itself is below 1.

    References
    ----------
    .. [1] Rand, W. M. (1971). Objective criteria for the evaluation of clustering methods. Journal
       of the American Statistical Association 66, 846-850.
       https://doi.org/10.1080/01621459.1971.10482356

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics.cluster import mask_rand_score
    >>> true = np.array([[[1, 1, 0], [0, 0, 0]]])
    >>> pred = np.array([[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]])
    >>> round(mask_rand_score(true, pred), 4)
    0.9333
    """
    return _mean_index(rand, masks_true, masks_pred, per_image)


def mask_adjusted_rand_score(masks_true: Any, masks_pred: Any, *, per_image: bool = False) -> float:
    """Compute the adjusted Rand index of two segmentations, passed as stacks of masks.

    With the pair counts of the table T of `mask_rand_score`,
    ``ARI = 2 (SS DD - SD DS) / [(SS + SD)(SD + DD) + (SS + DS)(DS + DD)]``. The maximum 1 means
    identical segmentations; 0 is expected by chance, and negative values are worse than chance. For
    hard masks it equals the adjusted Rand index of the label images.

    Parameters
    ----------
    masks_true : array of shape (n_masks_true, height, width) or (n_masks_true, ...)
        The reference masks, hard or soft, see `mask_rand_score`.
    masks_pred : array of shape (n_masks_pred, height, width) or (n_masks_pred, ...)
        The prediction, with the same image shape, library and device; the number of masks may
        differ.
    per_image : bool, default=False
        If True, the first axis counts images, and the result is the mean index over images. Each
        image is one mask of shape (height, width), or a stack of masks. Use it in `make_scorer`
        and `metric_interval`, whose samples are images.

    Returns
    -------
    float
        The index; nan if its denominator is 0.

    Raises
    ------
    ValueError
        If the images differ in shape or device, or have no pixels; if a value is outside [0, 1] or
        nan; if hard masks overlap, or soft masks sum to more than 1 at a pixel.
    TypeError
        If the masks come from different array libraries or are not real numbers.

    Warns
    -----
    UndefinedMetricWarning
        If the segmentations differ and the denominator is 0, for example with fewer than two
        pixels.

    Notes
    -----
    Unlike the foreground variant (FG-ARI) common for object discovery, the background counts as
    a segment like any other.

    References
    ----------
    .. [1] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2,
       193-218. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics.cluster import mask_adjusted_rand_score
    >>> true = np.array([[[1, 1, 0], [0, 0, 0]]])
    >>> pred = np.array([[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]])
    >>> round(mask_adjusted_rand_score(true, pred), 4)
    0.8649
    """
    return _mean_index(adjusted_rand, masks_true, masks_pred, per_image)


def _mean_index(formula: Any, masks_true: Any, masks_pred: Any, per_image: bool) -> float:
    """Return the index of one image, or the mean over images on the first axis."""
    check_flag("per_image", per_image)
    if not per_image:
        return _index(formula, mask_pair_counts(masks_true, masks_pred))
    true, pred = check_is_array(masks_true, "masks_true"), check_is_array(masks_pred, "masks_pred")
    if min(true.ndim, pred.ndim) < 3 or true.shape[0] != pred.shape[0] or not true.shape[0]:
        raise ValueError(
            "masks_true and masks_pred must have shape (n_images, height, width) or (n_images, "
            f"n_masks, height, width) with per_image=True, got {tuple(true.shape)} and "
            f"{tuple(pred.shape)}."
        )
    values = []
    for i in range(true.shape[0]):
        # a single mask of shape (height, width) becomes a stack of one
        pair = (one[None, ...] if one.ndim == 2 else one for one in (true[i, ...], pred[i, ...]))
        values.append(_index(formula, mask_pair_counts(*pair)))
    return float(np.mean(values))


def _index(formula: Any, pairs: PairCounts) -> float:
    try:
        return formula(pairs)
    except ZeroDivisionError:
        return give_nan(
            "The Rand index has the denominator 0, as where the masks hold no pair of pixels."
        )


def mask_pair_counts(masks_true: Any, masks_pred: Any) -> PairCounts:
    """Return the pair counts of the table ``T``; they are integers for hard masks."""
    true, pred, xp = check_masks(masks_true, masks_pred)
    dtype = xp.float64 if xp.float64 in (true.dtype, pred.dtype) else xp.float32
    wide = widest_float_dtype(xp, device(true))
    table: Any = 0.0
    for block in zip(
        split_into_blocks(true, dtype, xp), split_into_blocks(pred, dtype, xp), strict=True
    ):
        segments, others = (add_background(masks, xp) for masks in block)
        table = xp.astype(xp.matmul(segments, others.T), wide) + table
    a, b = xp.sum(table, axis=1), xp.sum(table, axis=0)
    total = float(xp.sum(table))
    in_true, in_pred, in_both = (float(xp.sum(sizes * sizes)) for sizes in (a, b, table))
    return PairCounts(
        (in_both - total) / 2,
        (in_true - in_both) / 2,
        (in_pred - in_both) / 2,
        (total**2 - in_true - in_pred + in_both) / 2,
    )


def split_into_blocks(masks: Any, dtype: Any, xp: Any) -> Iterator[Any]:
    """Yield the masks in a dtype and shape (n_masks, pixels), `BLOCK` pixels at a time."""
    n_pixels = int(np.prod(masks.shape[1:]))
    flat = xp.reshape(masks, (masks.shape[0], n_pixels))
    for start in range(0, n_pixels, BLOCK):
        yield xp.astype(flat[:, start : min(start + BLOCK, n_pixels)], dtype, copy=False)


def add_background(block: Any, xp: Any) -> Any:
    """Append the background, the uncovered part of each pixel, as a mask."""
    rest = 1.0 - xp.sum(block, axis=0)
    return xp.concat([block, xp.where(rest > 0, rest, xp.zeros_like(rest))[None, :]], axis=0)


def check_masks(masks_true: Any, masks_pred: Any) -> tuple[Any, Any, Any]:
    """Return both validated stacks of masks and their namespace."""
    true, pred = check_is_array(masks_true, "masks_true"), check_is_array(masks_pred, "masks_pred")
    try:
        xp = array_namespace(true, pred)
    except TypeError as error:
        kinds = f"{type(true).__module__} and {type(pred).__module__}"
        raise TypeError(
            f"masks_true and masks_pred must be arrays of one Array API library, got {kinds}."
        ) from error
    if tuple(true.shape[1:]) != tuple(pred.shape[1:]):
        raise ValueError(
            "masks_true and masks_pred must have the same image shape, got "
            f"{tuple(true.shape[1:])} and {tuple(pred.shape[1:])}."
        )
    if device(true) != device(pred):
        raise ValueError(
            "masks_true and masks_pred must be on the same device, got "
            f"{device(true)} and {device(pred)}."
        )
    check_values(true, "masks_true", xp)
    check_values(pred, "masks_pred", xp)
    return true, pred, xp


def check_is_array(masks: Any, name: str) -> Any:
    """Return nested lists as a NumPy array, a tensor without its gradient, others unchanged."""
    if isinstance(masks, (list, tuple)):
        with naming(name):
            return np.asarray(masks)
    if not (hasattr(masks, "shape") and hasattr(masks, "dtype")):
        raise TypeError(f"{name} must be an array, got {type(masks).__name__}.")
    return masks.detach() if hasattr(masks, "detach") else masks


def check_values(masks: Any, name: str, xp: Any) -> None:
    """Raise unless the masks are images of values in [0, 1], disjoint if they are hard."""
    if masks.ndim < 3 or 0 in masks.shape[1:]:
        raise ValueError(
            f"{name} must have shape (n_masks, height, width), with at least one pixel, "
            f"got {tuple(masks.shape)}."
        )
    if not xp.isdtype(masks.dtype, ("bool", "integral", "real floating")):
        raise TypeError(f"{name} must hold real numbers or bool, got dtype {masks.dtype}.")
    if not masks.shape[0]:
        return
    hard, most = True, 0.0
    for block in split_into_blocks(
        masks, xp.float64 if masks.dtype == xp.float64 else xp.float32, xp
    ):
        low, high = float(xp.min(block)), float(xp.max(block))
        if not (low >= 0 and high <= 1):
            wrong = low if not low >= 0 else high
            raise ValueError(f"{name} must hold values in [0, 1], got {wrong:g}.")
        hard = hard and bool(xp.all((block == 0) | (block == 1)))
        most = max(most, float(xp.max(xp.sum(block, axis=0))))
    if most > 1 + (0 if hard else SUM_TOLERANCE):
        rule = "not overlap where they are hard" if hard else "sum to at most 1 at each pixel"
        raise ValueError(
            f"{name} must {rule}, got {most:g} at a pixel. For one mask per image use "
            "per_image=True."
        )
