"""Worked examples of the texts on Bayes' rule, posteriors and densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gnomon.bayes import DirichletMultinomial, NormalMeanPosterior
from gnomon.density import Dirichlet, Multinomial, StudentT


@pytest.mark.covers("normal-mean-posterior")
def test_002_posterior_of_a_mean_has_the_texts_sigma_n_as_its_variance():
    posterior = NormalMeanPosterior(2.0, 25.0, noise=1.5**2).update([4, 5.5, 3.2, 6.1])
    assert posterior.mean == pytest.approx(4.640587, abs=1e-6)
    assert posterior.variance == pytest.approx(0.550122, abs=1e-6)


@pytest.mark.covers("normal-mean-posterior")
def test_002_prior_mass_between_minus_three_and_seven():
    prior = NormalMeanPosterior(2.0, 25.0, noise=1.0)
    assert prior.interval(0.682689492).low == pytest.approx(-3.0, abs=1e-6)
    assert prior.interval(0.682689492).high == pytest.approx(7.0, abs=1e-6)


@pytest.mark.covers("dirichlet-distribution")
@pytest.mark.parametrize(("a", "height"), [(0.8, 1.5217), (1, 2), (1.8, 3.9523), (10, 24.2648)])
def test_002_dirichlet_plots_are_of_the_parameter_per_category(a, height):
    center = np.full((1, 3), 1 / 3)
    assert Dirichlet(3).member(alpha=[a] * 3).density(center)[0] == pytest.approx(height, abs=1e-4)
    same = Dirichlet(3).of_concentration([1 / 3] * 3, 3 * a)
    assert same.density(center)[0] == pytest.approx(height, abs=1e-4)


@pytest.mark.covers("dirichlet-multinomial-posterior")
def test_002_one_observation_of_the_third_category():
    posterior = DirichletMultinomial([1.8, 1.8, 1.8]).update([2])
    np.testing.assert_allclose(posterior.mean, [0.28125, 0.28125, 0.4375])
    assert posterior.concentration == pytest.approx(6.4)


@pytest.mark.covers("multinomial-distribution")
def test_002_two_of_three_draws():
    member = Multinomial(2).member(probabilities=[0.3, 0.7])
    assert member.density([[2, 1]])[0] == pytest.approx(3 * 0.3**2 * 0.7)


@pytest.mark.covers("continuous-mixture")
def test_002_student_densities_of_gamma_precisions():
    for (a, b), x, expected in [
        ((1, 1), 0.0, 0.353553),
        ((1, 1), 1.0, 0.192450),
        ((2, 3), 1.0, 0.208266),
        ((5, 1), 3.0, 7.37158e-5),
    ]:
        law = StudentT(2 * a, 0.0, np.sqrt(b / a))
        assert law.density([x])[0] == pytest.approx(expected, rel=1e-5)
        assert law.density([x])[0] == pytest.approx(stats.t.pdf(x, 2 * a, scale=np.sqrt(b / a)))
