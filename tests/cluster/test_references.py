"""Reference data without structure: form, ranges, and the closest unimodal distribution."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.references import Recorder, draw_references
from reference import sequential as reference
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array
from scipy.stats import kstest, norm, spearmanr
from sklearn.utils import check_array

from skeval.cluster import choose_n_clusters
from skeval.cluster._references import (
    MAX_SHAPE,
    N_MODES,
    compare_shapes,
    divide_range,
    fit_columns,
    fit_shape,
    fit_sinh_arcsinh,
    fit_unimodal,
    measure_shape,
)


def frame_of(values):
    """Return a frame with two columns of one name, if scikit-learn accepts them."""
    frame = pd.DataFrame(values, columns=["a", "b", "a"])
    try:
        check_array(frame)
    except ValueError:
        frame.columns = ["a", "b", "c"]
    return frame


@each_value
@pytest.mark.parametrize("reference", ["uniform", "box", "permuted", "unimodal"])
@pytest.mark.parametrize("kind", ["array", "float32", "frame", "sparse"])
def test_reference_has_the_form_of_the_data(reference, kind):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)) * [1, 5, 0]
    X = {
        "array": values,
        "float32": values.astype(np.float32),
        "frame": frame_of(values),
        "sparse": csr_array(values),
    }[kind]
    if reference != "permuted" and kind == "sparse":
        with pytest.raises(
            ValueError, match=f"reference='{reference}' needs dense X, got sparse X"
        ):
            draw_references(X, reference)
        return
    (found,) = draw_references(X, reference)
    assert type(found) is type(X)
    assert found.shape == X.shape
    dense = found.toarray() if kind == "sparse" else np.asarray(found)
    original = X.toarray() if kind == "sparse" else np.asarray(X)
    assert dense.dtype == original.dtype
    if kind == "frame":
        assert found.columns.tolist() == X.columns.tolist()
    np.testing.assert_allclose(dense[:, 2], original[:, 2], atol=1e-12)
    if reference == "permuted":
        np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(original, axis=0))
        assert not np.array_equal(dense, original)
    elif reference == "box":
        assert (dense >= original.min(axis=0) - 1e-6).all()
        assert (dense <= original.max(axis=0) + 1e-6).all()
    elif reference == "uniform":
        center, axes = original.mean(axis=0), np.linalg.svd(original - original.mean(axis=0))[2]
        inside, scores = (dense - center) @ axes.T, (original - center) @ axes.T
        assert (inside.max(axis=0) <= scores.max(axis=0) + 1e-5).all()
        assert (inside.min(axis=0) >= scores.min(axis=0) - 1e-5).all()


@pytest.mark.parametrize("seed", range(4))
def test_column_on_a_lattice_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.poisson(2, size=15), rng.poisson(1, size=9) + 5]) + 0.5
    edges, shares, step = divide_range(values)
    assert step == 1
    y = np.append(0.0, np.cumsum(shares))
    modes = np.unique(np.searchsorted(y[1:], np.linspace(0, 1 - 1e-9, N_MODES)))
    (fitted,) = fit_columns(values[:, None])
    best = np.abs(np.array(reference.unimodal(edges, y, modes)) - y).max()
    assert np.abs(fitted.probabilities - y).max() == pytest.approx(best)
    of_modes = [reference.unimodal(edges, y, [mode]) for mode in modes]  # some are as close
    assert any(np.allclose(fitted.probabilities, one) for one in of_modes)
    np.testing.assert_array_equal(fitted.knots, edges)


SAMPLES = {
    "normal": lambda rng: rng.normal(size=80),
    "skewed": lambda rng: rng.exponential(size=80),
    "heavy-tailed": lambda rng: rng.standard_t(2, size=80),
    "uniform": lambda rng: rng.uniform(size=80),
    "two groups": lambda rng: np.append(rng.normal(size=60), rng.normal(5, size=20)),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_shape_is_likely_unimodal_and_equivariant(name):
    values = SAMPLES[name](np.random.default_rng(0))
    likelihood, quantile = fit_shape(values)
    # the normal distribution is one of the shapes
    assert likelihood >= norm.logpdf(values, *norm.fit(values)).sum() - 1e-2
    # quantiles are concave up to the mode and convex above: their steps decrease, then increase
    steps = np.diff(quantile(np.linspace(0.005, 0.995, 400)))
    signs = np.sign(np.diff(steps)[np.abs(np.diff(steps)) > 1e-9 * np.ptp(values)])
    assert steps.min() >= 0
    assert np.all(np.diff(signs) >= 0)
    moved, moved_quantile = fit_shape(3 * values - 7)
    assert moved == pytest.approx(likelihood - 80 * np.log(3), abs=1e-2)
    np.testing.assert_allclose(moved_quantile(0.3), 3 * quantile(0.3) - 7, rtol=1e-2)


def test_a_uniform_sample_has_bounds_and_a_normal_one_has_none():
    rng = np.random.default_rng(0)
    uniform, normal = (np.sort(SAMPLES[name](rng)) for name in ("uniform", "normal"))
    low, high = fit_shape(uniform)[1](np.array([0.0, 1.0]))
    assert uniform[0] - 0.02 < low < uniform[0]
    assert uniform[-1] < high < uniform[-1] + 0.02
    assert fit_shape(normal)[1](np.array([1e-9]))[0] < normal[0] - 1


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("n", [12, 62])
def test_shapes_are_those_of_a_search_within_the_bounds(name, n):
    rng = np.random.default_rng(1)
    bounds = [(-size, size) for size in MAX_SHAPE]
    for _ in range(8):
        values = SAMPLES[name](rng)[-n:]
        values = (values - np.median(values)) / values.std()
        fitted, loss = fit_sinh_arcsinh(values)
        assert (np.abs(fitted) <= MAX_SHAPE).all()

        # the gradient, and the search from the fitted shape
        def measure(shape, values=values):
            return measure_shape(shape, values)[0]

        assert measure(fitted) == pytest.approx(loss)
        moved = np.clip(fitted, -0.99 * MAX_SHAPE, 0.99 * MAX_SHAPE)
        gradient = measure_shape(moved, values)[1]
        np.testing.assert_allclose(gradient, approx_fprime(moved, measure), atol=1e-4)
        best = minimize(measure, fitted, bounds=bounds).fun
        # of the beta distribution if that is larger
        assert fit_shape(values)[0] >= -n * (best + 1e-3)


@pytest.mark.parametrize(("skewness", "tail"), [(0.6, 1.0), (-0.8, 0.9), (0.3, 0.8)])
def test_no_sinh_arcsinh_shape_is_likelier_than_the_fitted_one(skewness, tail):
    """A search without derivatives starts at the shape that drew the values."""
    values = np.sinh((np.arcsinh(np.random.default_rng(0).normal(size=150)) + skewness) / tail)

    def loss(parameters):
        location, scale, epsilon, delta = parameters
        place = (values - location) / scale
        bent = delta * np.arcsinh(place) - epsilon
        slope = delta * np.cosh(bent) / scale / np.sqrt(1 + place**2)
        return -np.sum(norm.logpdf(np.sinh(bent)) + np.log(slope))

    best = minimize(loss, [0.0, 1.0, skewness, tail], method="Nelder-Mead").fun
    assert fit_shape(values)[0] >= -best - 0.05


def test_shapes_of_two_groups_differ_and_ties_are_not_compared():
    rng, labels = np.random.default_rng(0), np.arange(80) >= 60
    one, two = np.sort(SAMPLES["normal"](rng)), SAMPLES["two groups"](rng)
    assert compare_shapes(two, labels) > 5 > compare_shapes(one, labels)
    assert compare_shapes(1 - 4 * two, labels) == pytest.approx(
        compare_shapes(two, labels), abs=0.1
    )
    assert compare_shapes(np.round(two), labels) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_extremes_are_as_far_out_as_in_the_data_but_keep_their_sign(sign):
    values = sign * np.array([0.1, 1.0, 2.5, 4.0, 9.0])
    ends = sign * divide_range(values)[0][[0, -1]][::sign]
    np.testing.assert_allclose(ends, [0.0, 11.5])
    middle = sign * np.array([0.55, 1.75, 3.25, 6.5])
    np.testing.assert_allclose(divide_range(values)[0][1:-1], np.sort(middle))
    assert divide_range(values + 20)[0][[0, -1]] == pytest.approx(
        np.sort(sign * np.array([-0.35, 11.5])) + 20
    )


def test_unimodal_draws_keep_shapes_and_correlation():
    rng = np.random.default_rng(0)
    X = np.exp(rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=400))
    (draw,) = draw_references(X, "unimodal")
    for column, drawn in zip(X.T, draw.T, strict=True):
        assert kstest(column, drawn).pvalue > 0.01
    assert abs(spearmanr(*draw.T).statistic - spearmanr(*X.T).statistic) < 0.1


CUTS = {
    "five levels": [-1.2, -0.4, 0.4, 1.2],
    "skewed": [0.8, 1.2, 1.6, 2.0],
    "halves": [0],
    "one in ten": [1.28],
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_ties_do_not_weaken_the_correlation(name, sign):
    rng, n = np.random.default_rng(0), 4000
    latent = rng.multivariate_normal([0, 0, 0], 0.36 * np.eye(3) + 0.64, size=n)
    X = sign ** np.arange(3) * (np.digitize(latent, CUTS[name]) + 1.0)
    fitted = fit_unimodal(X)
    np.testing.assert_allclose(
        fitted.root.T @ fitted.root,
        np.cov(latent.T) * np.outer(sign ** np.arange(3), sign ** np.arange(3)),
        atol=0.07,
    )
    (drawn,) = draw_references(X, "unimodal")
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(X.T), atol=0.06)


def test_correlation_of_halves_is_the_arcsine_law():
    X = np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [40, 40, 20, 20], axis=0).astype(float)
    root = fit_unimodal(X).root
    assert (root.T @ root)[0, 1] == pytest.approx(np.sin(np.pi / 2 / 3), abs=1e-3)


def test_equal_and_opposite_columns():
    values = (np.arange(60) % 3 == 0).astype(float)
    X = np.column_stack([values, values, 1 - values])
    (drawn,) = draw_references(X, "unimodal")
    np.testing.assert_allclose(np.corrcoef(drawn.T)[0], [1, 1, -1])


@pytest.mark.parametrize(("df", "low", "high"), [(3, 0.2, 0.5), (np.inf, 0, 0.03)])
def test_extreme_values_coincide_as_in_the_data(df, low, high):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    if np.isfinite(df):
        X /= np.sqrt(rng.chisquare(df, size=(600, 1)))
    fitted = fit_unimodal(X)
    assert low <= fitted.tail <= high
    pairs = np.triu_indices(5, 1)
    own, drawn = (
        spearmanr(np.abs(values)).statistic[pairs].mean()
        for values in (X, *draw_references(X, "unimodal"))
    )
    assert abs(own - drawn) < 0.06


def test_few_levels_have_a_gaussian_copula():
    X = np.digitize(np.random.default_rng(0).normal(size=(80, 4)), [-1, 0, 1]).astype(float)
    assert fit_unimodal(X).tail == 0
    assert fit_unimodal(np.arange(30.0)[:, None]).tail == 0


def test_two_groups_become_one():
    values = np.r_[np.linspace(-1, 1, 50), np.linspace(9, 11, 50)][:, None]
    (draw,) = draw_references(values, "unimodal")
    assert np.mean((draw > 2) & (draw < 8)) > 0.25


def test_counts_and_constants_stay_on_their_lattice():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(3, 200), rng.random(200) < 0.1, np.ones(200)]).astype(float)
    (draw,) = draw_references(X, "unimodal")
    assert set(np.unique(draw[:, 0])) <= set(range(int(X[:, 0].max()) + 1))
    assert set(np.unique(draw[:, 1])) == {0, 1}
    assert abs(draw[:, 1].mean() - X[:, 1].mean()) < 0.1
    assert (draw[:, 2] == 1).all()


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, csr_array])
def test_each_cluster_has_its_own_population(make):
    """The second test, of more clusters than the three found, draws from each of the three."""
    labels, seen = np.arange(60) % 3, []
    X = np.random.default_rng(0).uniform(0.5, 1, size=(60, 2)) + 10 * labels[:, None]
    choice = choose_n_clusters(
        Recorder(seen=seen), make(X), n_clusters=[2, 3, 4], method="sequential", random_state=0
    )
    assert choice.n_clusters == 3
    draw = seen[-1][1]
    assert type(draw) is type(make(X))
    values = draw.toarray() if make is csr_array else np.asarray(draw)
    np.testing.assert_array_equal(values // 10, np.repeat(labels[:, None], 2, axis=1))
    assert not np.array_equal(values, X)
