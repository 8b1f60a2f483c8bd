"""Distributions and linkage under SciPy's names give SciPy's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

from gnomon import cluster, density
from gnomon.engine.errors import DataError

PAIRS = {
    "normal": (lambda: density.Normal().member(mean=1.0, variance=4.0), stats.norm(1, 2)),
    "gamma": (lambda: density.Gamma().member(shape=2.0, rate=0.5), stats.gamma(2, scale=2)),
    "beta": (lambda: density.Beta().member(a=2.0, b=3.0), stats.beta(2, 3)),
    "exponential": (lambda: density.Exponential().member(rate=2.0), stats.expon(scale=0.5)),
    "poisson": (lambda: density.Poisson().member(rate=3.0), stats.poisson(3)),
    "student": (lambda: density.StudentT(4.0, 1.0, 2.0), stats.t(4, 1, 2)),
    "uniform": (lambda: density.Uniform(1.0, 4.0), stats.uniform(1, 3)),
}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_distribution_has_the_functions_of_scipy(name, rng):
    make, theirs = PAIRS[name]
    ours = make()
    x = theirs.rvs(20, random_state=np.random.default_rng(rng.integers(2**31)))
    q = rng.uniform(0.01, 0.99, size=9)
    density_of = theirs.pmf if name == "poisson" else theirs.pdf
    np.testing.assert_allclose(ours.pdf(x), density_of(x), rtol=1e-10)
    np.testing.assert_allclose(ours.logpdf(x), np.log(density_of(x)), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-10)
    np.testing.assert_allclose(ours.sf(x), theirs.sf(x), rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(ours.ppf(q), theirs.ppf(q), rtol=1e-10)
    drawn = ours.rvs(2000, random_state=int(rng.integers(2**31)))
    assert abs(drawn.mean() - theirs.mean()) < 6 * theirs.std() / np.sqrt(2000)


def test_mixtures_and_samples_have_cumulative_distributions(rng):
    parts = [density.Uniform(0.0, 1.0), density.Uniform(2.0, 4.0)]
    mixture = density.Mixture(parts, np.array([0.25, 0.75]))
    np.testing.assert_allclose(mixture.cdf([0.5, 1.5, 3.0]), [0.125, 0.25, 0.625])
    items = rng.normal(size=30)
    sample = density.EmpiricalDistribution(items)
    np.testing.assert_array_equal(sample.ppf([0.0, 1.0]), [items.min(), items.max()])
    np.testing.assert_allclose(sample.sf(items.max()), 0.0)


def test_a_family_without_a_cumulative_distribution_says_so():
    member = density.MultivariateNormal(2).member(mean=[0.0, 0.0], covariance=np.eye(2))
    with pytest.raises(DataError, match="MultivariateNormal has no cumulative"):
        member.cdf([[0.0, 0.0]])


@pytest.mark.parametrize(
    "method", ["single", "complete", "average", "weighted", "centroid", "median", "ward"]
)
@pytest.mark.parametrize("condensed", [False, True])
def test_linkage_matrices_are_those_of_scipy(method, condensed, rng):
    X = rng.normal(size=(25, 3))
    given = pdist(X) if condensed else X
    found, expected = cluster.linkage(given, method), hierarchy.linkage(given, method)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_leaves_are_ordered_as_by_scipy(rng):
    X = rng.normal(size=(20, 2))
    found = cluster.linkage(X, "average", optimal_ordering=True)
    expected = hierarchy.linkage(X, "average", optimal_ordering=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
