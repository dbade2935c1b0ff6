"""Mask Rand indices: label images, soft masks, array libraries, bad input."""

from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from reference.external import mask_rand
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import adjusted_rand_score, make_scorer, rand_score

from skeval.metrics.cluster import mask_adjusted_rand_score, mask_rand_score
from skeval.model_selection import metric_interval


def masks_of(labels, dtype=bool):
    """Return one mask per positive label; 0 is the background."""
    return np.stack([labels == k for k in range(1, labels.max() + 2)]).astype(dtype)


def images(seed=0, shape=(9, 14)):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 4, shape)
    return true, np.where(rng.random(shape) < 0.6, true, rng.integers(0, 3, shape))


def numpy_arrays(masks, dtype="bool"):
    return masks.astype(dtype)


def strict_arrays(masks, dtype="bool"):
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return xp.asarray(masks.astype(dtype))


def torch_tensors(masks, dtype="bool"):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.asarray(masks.astype(float)).to(getattr(torch, dtype))


LIBRARIES = [numpy_arrays, strict_arrays, torch_tensors]


@each_value
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32", "float64"])
def test_hard_masks_equal_scikit_learn_on_the_label_image(library, dtype):
    true, pred = images()
    masks = library(masks_of(true), dtype), library(masks_of(pred), dtype)
    expected = rand_score(true.ravel(), pred.ravel())
    assert mask_rand_score(*masks) == pytest.approx(expected, abs=1e-14)
    expected = adjusted_rand_score(true.ravel(), pred.ravel())
    assert mask_adjusted_rand_score(*masks) == pytest.approx(expected, abs=1e-14)


@each_value
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("dtype", "accuracy"), [("float32", 1e-6), ("float64", 1e-12)])
def test_soft_masks_equal_the_formula(library, dtype, accuracy):
    rng = np.random.default_rng(1)
    true = rng.dirichlet(np.ones(4), (6, 7)).transpose(2, 0, 1)[:3]
    pred = rng.random((2, 6, 7))
    pred /= np.maximum(pred.sum(axis=0), 1)  # some pixels have no background
    masks = library(true, dtype), library(pred, dtype)
    assert mask_rand_score(*masks) == pytest.approx(mask_rand(true, pred), abs=accuracy)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_tensors(dtype):
    true, pred = images()
    masks = torch_tensors(masks_of(true), dtype), torch_tensors(masks_of(pred), dtype)
    assert mask_rand_score(*masks) == pytest.approx(rand_score(true.ravel(), pred.ravel()))


def test_tensors_that_carry_gradients_and_mixed_dtypes():
    true, pred = images()
    masks = torch_tensors(masks_of(true), "float32"), torch_tensors(masks_of(pred), "float64")
    masks[0].requires_grad_()
    assert mask_rand_score(*masks) == pytest.approx(rand_score(true.ravel(), pred.ravel()))


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(2)
    true, pred = rng.dirichlet(np.ones(3), (2, 5, 9)).transpose(0, 3, 1, 2)
    whole = mask_rand_score(true, pred)
    monkeypatch.setattr("skeval.metrics.cluster._external.BLOCK", 7)
    assert mask_rand_score(true, pred) == pytest.approx(whole, abs=1e-14)


def test_counts_of_large_images_are_exact():
    # 2^24 + 2^18 pixels: beyond the whole numbers of float32
    true = np.zeros((1, 4160, 4096), dtype=bool)
    pred = true.copy()
    true[0, :, :1] = True
    n, column = 4160 * 4096, 4160
    apart, total = column * (n - column), n * (n - 1) // 2
    assert mask_rand_score(true, pred) == (total - apart) / total


def test_volumes_lists_and_no_masks():
    true, pred = images(shape=(2, 3, 4))
    assert mask_rand_score(masks_of(true), masks_of(pred)) == pytest.approx(
        rand_score(true.ravel(), pred.ravel())
    )
    assert mask_rand_score([[[1, 0]]], [[[0, 1]]]) == 1.0
    nothing = np.zeros((0, 2, 2), dtype=bool)
    assert mask_rand_score(nothing, nothing) == 1.0
    assert mask_rand_score(nothing, np.array([[[1, 1], [0, 0]]])) == pytest.approx(
        rand_score([0, 0, 0, 0], [1, 1, 0, 0])
    )


def test_one_pixel():
    assert mask_rand_score([[[1]]], [[[0]]]) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="no pair of pixels"):
        assert np.isnan(mask_rand_score([[[0.5]]], [[[0.5]]]))


GOOD = np.zeros((1, 2, 2))


@each_value
@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (np.ones((2, 2, 2)), "must not overlap if they are 0 or 1, got 2 at a pixel"),
        (np.ones((2, 2, 2), dtype=bool), "must not overlap if they are 0 or 1, got 2"),
        (np.full((2, 2, 2), 0.9), "must sum to at most 1 at each pixel, got 1.8 at a pixel"),
        (np.full((1, 2, 2), 255, dtype=np.uint8), r"must contain values in \[0, 1\], got 255"),
        (np.full((1, 2, 2), -0.5), r"must contain values in \[0, 1\], got -0.5"),
        (np.full((1, 2, 2), np.nan), r"must contain values in \[0, 1\], got nan"),
        (np.zeros((1, 2, 3)), r"same image shape, got .*\(2, 3\)"),
        (np.zeros((2, 2)), r"same image shape, got .*\(2,\)"),
    ],
)
@pytest.mark.parametrize("score", [mask_rand_score, mask_adjusted_rand_score])
def test_bad_values(score, masks, message):
    with pytest.raises(ValueError, match=message):
        score(GOOD, masks)
    with pytest.raises(ValueError, match="must"):
        score(masks, GOOD)


@pytest.mark.parametrize("library", [strict_arrays, torch_tensors])
def test_mixed_array_libraries(library):
    with pytest.raises(TypeError, match="masks_true and masks_pred: "):
        mask_rand_score(library(GOOD), GOOD)


def test_different_devices():
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    there = xp.asarray(GOOD, device=xp.Device("device1"))
    with pytest.raises(ValueError, match="device"):
        mask_rand_score(xp.asarray(GOOD), there)
    assert mask_rand_score(there, there) == 1.0


@pytest.mark.parametrize("score", [mask_rand_score, mask_adjusted_rand_score])
def test_the_mean_over_images(score):
    rng = np.random.default_rng(0)
    true = rng.random((15, 6, 6)) < 0.4
    pred = true ^ (rng.random(true.shape) < 0.1)
    values = [score(a[None], b[None]) for a, b in zip(true, pred, strict=True)]
    assert score(true, pred, per_image=True) == pytest.approx(np.mean(values))
    stacks = true[:, None], pred[:, None]
    assert score(*stacks, per_image=True) == pytest.approx(np.mean(values))
    scorer = make_scorer(score, per_image=True)
    assert scorer(DummyImages(pred), pred, true) == pytest.approx(np.mean(values))
    result = metric_interval(
        partial(score, per_image=True), true, pred, n_resamples=100, random_state=0
    )
    assert result.value == pytest.approx(np.mean(values))
    assert result.n_samples == 15
    # the bootstrap over images has the standard error of a mean
    assert result.standard_error == pytest.approx(np.std(values) / np.sqrt(15), rel=0.3)
    with pytest.raises(ValueError, match=r"overlap if they are 0 or 1.*use per_image=True"):
        score(true, pred)
    with pytest.raises(ValueError, match=r"got \(15, 6, 6\) and \(14, 6, 6\)"):
        score(true, pred[1:], per_image=True)
    with pytest.raises(ValueError, match=r"got \(6, 6\) and \(6, 6\)"):
        score(true[0], pred[0], per_image=True)


class DummyImages(BaseEstimator):
    """Predicts the masks that it is constructed with."""

    def __init__(self, masks):
        self.masks = masks

    def predict(self, X):
        return self.masks
