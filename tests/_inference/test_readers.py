"""Obuchowski and Rockette's analysis of readers: published numbers, brute force, power."""

import numpy as np
from numpy.testing import assert_allclose
from reference import readers as reference
from scipy import stats

from skeval._inference.designs import ReaderStudy

# Van Dyke et al. (1993) as analyzed in the article on the R package MRMCaov: areas of five readers
# with two modalities, and components of their covariance by DeLong.
AREAS = np.array(
    [
        [0.9196457, 0.8587762, 0.9038647, 0.9731079, 0.8297907],
        [0.9478261, 0.9053140, 0.9217391, 0.9993559, 0.9299517],
    ]
)
BY_DELONG = 0.0007921325, 0.0003420090, 0.0003395265, 0.0002358497
BY_JACKKNIFE = 0.0008022883, 0.0003466137, 0.0003440748, 0.0002390284


def spread_out(components, n_systems, n_readers):
    """Return a covariance with these components."""
    variance, same_reader, same_system, neither = components
    one = np.eye(n_readers, dtype=bool)
    own = np.where(one, variance, same_system)
    other = np.where(one, same_reader, neither)
    return np.block(
        [[own if i == k else other for k in range(n_systems)] for i in range(n_systems)]
    )


def van_dyke(components=BY_DELONG, *, random_readers=True):
    return ReaderStudy(
        tuple("12345"), AREAS, spread_out(components, 2, 5), 114, random_readers=random_readers
    )


def draw_study(n_systems, n_readers, seed=0, **options):
    rng = np.random.default_rng(seed)
    values = 0.8 + 0.05 * rng.normal(size=(n_systems, n_readers))
    factors = rng.normal(size=(n_systems * n_readers, 30)) / 100
    factors += rng.normal(size=30) / 100  # shared by all
    names = tuple(map(str, range(n_readers)))
    return ReaderStudy(names, values, factors @ factors.T / 30, 100, **options)


def test_published_analysis_of_van_dyke():
    study = van_dyke()
    assert_allclose(study.mean_squares, (0.004796171, 0.0005510306), rtol=2e-6)
    assert_allclose(study.components, BY_DELONG)
    error, degrees = study.of_difference(0, 1)
    assert_allclose((error, degrees), (0.0206825, 15.06611), rtol=3e-6)
    assert_allclose(study.test_equality(), (4.484854, 0.05123303), rtol=3e-6)


def test_published_analysis_of_van_dyke_with_fixed_readers():
    error, degrees = van_dyke(BY_JACKKNIFE, random_readers=False).of_difference(0, 1)
    assert_allclose(error, 0.01871748, rtol=3e-6)
    assert degrees == np.inf


def test_fixed_readers():
    study = draw_study(2, 6, random_readers=False)
    expected = reference.analyze_fixed(study.values, study.covariance)[1]
    assert_allclose(study.of_difference(0, 1).error, expected)
    assert_allclose(study.of_system(1).error ** 2, study.covariance[6:, 6:].mean())


def test_readers_without_differences_have_the_error_of_the_cases():
    covariance = spread_out((4e-4, 3e-4, 2e-4, 1e-4), 2, 4)
    values = np.array([[0.8] * 4, [0.9] * 4])
    error, degrees = ReaderStudy(tuple("abcd"), values, covariance, 50).of_difference(0, 1)
    assert_allclose(error**2, 2 * 1e-4)
    assert degrees == np.inf


def test_power_of_the_study_itself():
    study = van_dyke()
    error, degrees = study.of_difference(0, 1)
    noncentral = stats.nct(degrees, 0.05 / error)
    critical = stats.t.ppf(0.975, degrees)
    expected = noncentral.sf(critical) + noncentral.cdf(-critical)
    assert_allclose(study.power(0.05, 0.05, 5, 114), expected, rtol=1e-6)


def test_power_of_fixed_readers():
    study = van_dyke(random_readers=False)
    error = study.of_difference(0, 1).error / np.sqrt(3)  # three times as many cases
    z = stats.norm.ppf(0.975)
    expected = stats.norm.sf(z - 0.05 / error) + stats.norm.cdf(-z - 0.05 / error)
    assert_allclose(study.power(0.05, 0.05, 5, 3 * 114), expected)


def test_power_increases_with_readers_and_cases():
    study = van_dyke()
    powers = np.array(
        [[study.power(0.03, 0.05, j, n) for n in (20, 114, 10**6)] for j in (3, 10, 30)]
    )
    assert (np.diff(powers, axis=0) > 0).all()
    assert (np.diff(powers, axis=1) > 0).all()


def test_a_study_without_errors_has_power_1():
    study = ReaderStudy(("a", "b"), np.array([[0.7, 0.7], [0.8, 0.8]]), np.zeros((4, 4)), 50)
    assert study.power(0.1, 0.05, 5, 100) == 1
