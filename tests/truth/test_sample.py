"""Samplers against exact answers: enumeration, known laws, and calibration by simulation.

Calibration (Gandy and Scott 2020): with a parameter from its prior and data given it, the parameter
is a draw of the posterior. Put at a random place of a stationary reversible chain, its rank among
the chain's draws is exactly uniform, however short the chain is and however slowly it mixes.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import beta

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.sample import (
    CategoricalNode,
    DensityNode,
    GaussianWalk,
    Gibbs,
    Hamiltonian,
    Metropolis,
    MetropolisHastings,
    MixtureWalk,
    Network,
    Slice,
    Target,
    autocorrelation,
    burn_in,
    categorical,
    chi_square,
    compare_chains,
    dirichlet,
    effective_sample_size,
    expectation,
    f_ratio,
    from_energy,
    gamma,
    gaussian_mixture,
    hill_climb,
    importance,
    inverse_cdf,
    mixture_posterior,
    polar_normal,
    posterior,
    potts_gibbs,
    potts_log_density,
    r_hat,
    rejection,
    rejection_box,
    reservoir_categorical,
    sample_chains,
    student_t,
    thinning_lag,
)
from gnomon.sample.network import NetworkSampler

RARE = 1e-7
NOISE = 0.7
SLOPE = np.array([[1.0, 0.5], [0.2, 1.0]])


def agrees(draws, law) -> bool:
    """Whether independent draws may be of a law."""
    return stats.kstest(draws, law).pvalue > RARE


def uniform(ranks, n_ranks: int) -> bool:
    counts = np.bincount(ranks, minlength=n_ranks)
    return stats.chisquare(counts).pvalue > RARE


def quietly(*arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return sample_chains(*arguments, **more)


def linear_posterior(y: np.ndarray) -> Target:
    """theta ~ N(0, I), y = SLOPE theta + noise: log posterior and its gradient."""
    return posterior(
        lambda t: -0.5 * float(((y - SLOPE @ t) ** 2).sum()) / NOISE**2,
        lambda t: -0.5 * float(t @ t),
        2,
        gradient=lambda t: SLOPE.T @ (y - SLOPE @ t) / NOISE**2 - t,
    )


def linear_conditionals(y: np.ndarray):
    precision = SLOPE.T @ SLOPE / NOISE**2 + np.eye(2)
    pull = SLOPE.T @ y / NOISE**2

    def conditional(j: int):
        def draw(theta, rng):
            other = 1 - j
            mean = (pull[j] - precision[j, other] * theta[other]) / precision[j, j]
            return rng.normal(mean, 1 / np.sqrt(precision[j, j]))

        return draw

    return [conditional(0), conditional(1)]


def stretch(x, rng):
    return x + rng.normal(0, 0.5 + 0.3 * np.tanh(x[0]), 2)


def log_stretch(to, given):
    sd = 0.5 + 0.3 * np.tanh(given[0])
    return -2 * np.log(sd) - 0.5 * float(((to - given) ** 2).sum()) / sd**2


SAMPLERS = {
    "Metropolis": lambda y: Metropolis(GaussianWalk(0.8), adapt=False),
    "mixture of walks": lambda y: Metropolis(MixtureWalk([GaussianWalk(0.2), GaussianWalk(2.0)])),
    "Metropolis-Hastings": lambda y: MetropolisHastings(stretch, log_stretch),
    "Gibbs": lambda y: Gibbs(linear_conditionals(y), scan="random"),
    "slice": lambda y: Slice(1.5, adapt=False),
    "Hamiltonian": lambda y: Hamiltonian(0.35, 4, adapt=False),
}
COVERED = {
    "Metropolis": ["unnormalised-target"],
    "mixture of walks": ["metropolis-mixture-proposal"],
    "Metropolis-Hastings": ["metropolis-hastings"],
    "Gibbs": ["gibbs-sampler"],
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.covers(*COVERED.get(name, []))) for name in SAMPLERS],
)
def test_a_sampler_is_calibrated(name, rng):
    n_runs, length = 240, 12
    ranks = np.empty((n_runs, 2), dtype=int)
    for run in range(n_runs):
        theta = rng.normal(size=2)
        y = SLOPE @ theta + NOISE * rng.normal(size=2)
        sampler, target = SAMPLERS[name](y), linear_posterior(y)
        place = int(rng.integers(length))
        walks = []
        for n in (place, length - 1 - place):
            walker = sampler.begin(target, theta)
            walks.append(walker.advance(n, rng).draws)
        others = np.concatenate(walks)
        ties = (others == theta).sum(axis=0)
        below = (others < theta).sum(axis=0)
        ranks[run] = below + [rng.integers(t + 1) for t in ties]
    assert uniform(ranks[:, 0], length)
    assert uniform(ranks[:, 1], length)


@pytest.mark.covers("gibbs-sampler")
def test_fixed_scan_and_one_coordinate_slices_reach_the_exact_posterior(rng):
    y = np.array([1.0, -0.5])
    exact = np.linalg.inv(SLOPE.T @ SLOPE / NOISE**2 + np.eye(2))
    mean = exact @ SLOPE.T @ y / NOISE**2
    for sampler in (Gibbs(linear_conditionals(y)), Slice(), Hamiltonian()):
        found = quietly(linear_posterior(y), sampler, 1500, random_state=rng)
        errors = np.array([figure.error for figure in found.means()])
        assert (np.abs([f.value for f in found.means()] - mean) < 6 * errors + 0.01).all()
        np.testing.assert_allclose(np.cov(found.flat.T), exact, atol=0.2)


@pytest.mark.covers("mcmc-driver", "adaptive-metropolis")
def test_adaptation_finds_scales_in_the_warm_up_and_freezes(rng):
    covariance = np.array([[25.0, 0.9], [0.9, 0.04]])
    target = gaussian_mixture([[3.0, -1.0]], [covariance])
    starts = rng.normal(size=(4, 2))
    found = quietly(target, Metropolis(), 6000, n_warmup=2000, starts=starts, random_state=rng)
    assert (found.acceptance > 0.12).all()
    assert (found.acceptance < 0.45).all()
    assert found.r_hat().max() < 1.1
    np.testing.assert_allclose(np.cov(found.flat.T), covariance, rtol=0.5)
    walker = found.walkers[0]
    before = walker.proposal
    walker.advance(50, rng)
    assert walker.proposal is before


def test_the_compiled_chain_is_the_interpreted_one(rng):
    means = rng.normal(size=(3, 2))
    spreads = np.array([np.diag(rng.uniform(0.5, 2, 2)) + 0.2 for _ in range(3)])
    target = gaussian_mixture(means, spreads, rng.uniform(0.5, 1, 3))
    plain = Target(target.log_density, 2)
    seed = int(rng.integers(2**31))
    runs = []
    for each in (target, plain):
        walker = Metropolis(GaussianWalk(1.3)).begin(each, np.zeros(2))
        runs.append(walker.advance(300, np.random.default_rng(seed)))
    np.testing.assert_allclose(runs[0].draws, runs[1].draws, atol=1e-9)
    np.testing.assert_allclose(runs[0].log_density, runs[1].log_density, atol=1e-9)


@pytest.mark.covers("unnormalised-target")
def test_a_factor_on_the_density_changes_no_draw():
    seed = 5
    runs = [
        quietly(
            Target(lambda x, c=c: -0.5 * float(x @ x) + c, 2), Metropolis(), 50, random_state=seed
        )
        for c in (0.0, 1234.0)
    ]
    np.testing.assert_array_equal(runs[0].draws, runs[1].draws)


@pytest.mark.covers("unnormalised-target")
def test_gradients_of_ready_targets_are_their_slopes(rng):
    targets = [
        gaussian_mixture(rng.normal(size=(2, 3)), np.array([np.eye(3), 2 * np.eye(3)])),
        mixture_posterior(rng.normal(size=20), 3, sd=0.7),
        linear_posterior(rng.normal(size=2)),
        from_energy(lambda x: float((x**4).sum()), 2, temperature=3.0, gradient=lambda x: 4 * x**3),
    ]
    for target in targets:
        x = rng.normal(size=target.dimension)
        for j in range(target.dimension):
            step = np.eye(target.dimension)[j] * 1e-5
            slope = (target(x + step) - target(x - step)) / 2e-5
            assert target.gradient(x)[j] == pytest.approx(slope, abs=1e-5, rel=1e-5)


def test_a_mixture_target_is_scipys_density(rng):
    means, weights = rng.normal(size=(2, 2)), [0.3, 0.7]
    spreads = np.array([[[2.0, 0.5], [0.5, 1.0]], np.eye(2)])
    target = gaussian_mixture(means, spreads, weights)
    x = rng.normal(size=2)
    density = sum(
        w * stats.multivariate_normal(m, c).pdf(x) for w, m, c in zip(weights, means, spreads)
    )
    assert target(x) == pytest.approx(np.log(density))


@pytest.mark.covers("metropolis-mixture-proposal")
def test_small_steps_stay_in_one_mode_and_a_mixture_of_steps_visits_both(rng):
    target = gaussian_mixture([[-10.0], [10.0]], np.ones((2, 1, 1)))
    starts = [[-10.0], [10.0]]
    with pytest.warns(GnomonWarning, match="not mixed"):
        small = sample_chains(
            target, Metropolis(GaussianWalk(0.5), adapt=False), 2000, starts=starts, random_state=0
        )
    assert not small.has_mixed
    assert "NOT MIXED" in str(small)
    both = Metropolis(MixtureWalk([GaussianWalk(1.0), GaussianWalk(20.0)], [0.5, 0.5]))
    large = quietly(target, both, 20_000, starts=starts, random_state=rng)
    shares = (large.of(0) > 0).mean(axis=1)
    assert (np.abs(shares - 0.5) < 0.15).all()


@pytest.mark.covers("metropolis-belief-network")
def test_metropolis_on_whole_numbers_reaches_the_binomial_law(rng):
    law = stats.binom(8, 0.3)
    target = Target(lambda x: float(law.logpmf(x[0])), 1)
    walk = Metropolis(GaussianWalk(2.0), whole=True, adapt=False)
    found = quietly(target, walk, 4000, starts=[[2], [3]], random_state=rng)
    shares = np.bincount(found.flat[:, 0].astype(int), minlength=9) / found.flat.size
    np.testing.assert_allclose(shares, law.pmf(np.arange(9)), atol=0.07)


@pytest.mark.covers("gaussian-random-walk")
def test_the_variance_of_a_random_walk_grows_with_every_step(rng):
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    walk = GaussianWalk(covariance)
    ends = np.array([walk.path([1.0, 2.0], 9, random_state=rng)[-1] for _ in range(3000)])
    np.testing.assert_allclose(np.cov(ends.T) / 9, covariance, atol=0.4)
    steps = np.diff(GaussianWalk(0.5).path([0.0], 4000, random_state=rng)[:, 0])
    assert agrees(steps, stats.norm(0, 0.5).cdf)


@pytest.mark.covers("monte-carlo-expectation")
def test_the_error_bar_of_an_expectation_holds_the_truth_as_often_as_it_says(rng):
    hits = sum(
        abs(expectation(rng.exponential(size=400)).value - 1) < 3 / np.sqrt(400) for _ in range(200)
    )
    assert hits >= 185
    inside = 0
    for _ in range(100):
        noise = rng.normal(size=3000)
        chain = np.empty(3000)
        chain[0] = noise[0] / np.sqrt(1 - 0.81)
        for i in range(1, 3000):
            chain[i] = 0.9 * chain[i - 1] + noise[i]
        figure = expectation(chain, correlated=True)
        inside += figure.low <= 0 <= figure.high
    assert inside >= 78


@pytest.mark.covers("normal-polar-sampler")
def test_polar_draws_are_normal_and_pi_over_four_of_the_points_are_kept(rng):
    found = polar_normal(20_000, 2.0, 3.0, random_state=rng)
    assert agrees(found.values, stats.norm(2, 3).cdf)
    share = stats.binomtest(round(found.acceptance * found.n_tried), found.n_tried, np.pi / 4)
    assert share.pvalue > RARE
    assert len(polar_normal(0).values) == 0
    pairs = polar_normal(10_000, random_state=rng).values.reshape(-1, 2)
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.1


@pytest.mark.covers("categorical-reservoir-sampler")
def test_one_pass_draws_have_the_shares_of_the_weights(rng):
    weights = [0.0, 3.0, 1.0, 0.0, 6.0]
    drawn = [reservoir_categorical(enumerate(weights), random_state=rng) for _ in range(4000)]
    at_once = categorical(weights, 4000, random_state=rng)
    for counts in (np.bincount(drawn, minlength=5), np.bincount(at_once, minlength=5)):
        assert counts[0] == counts[3] == 0
        assert stats.chisquare(counts[[1, 2, 4]], [1200, 400, 2400]).pvalue > RARE
    with pytest.raises(DataError, match="positive"):
        reservoir_categorical([("a", 0.0)])
    with pytest.raises(DataError, match="weight"):
        categorical([1.0, -1.0], 3)


@pytest.mark.covers("inverse-cdf-sampler")
def test_inversion_gives_the_law_with_and_without_the_inverse(rng):
    assert agrees(
        inverse_cdf(lambda u: np.tan(np.pi * (u - 0.5)), 3000, random_state=rng), "cauchy"
    )
    law = stats.gamma(2.5)
    solved = inverse_cdf(None, 400, cdf=law.cdf, support=(0, np.inf), random_state=rng)
    assert agrees(solved, law.cdf)
    both = inverse_cdf(None, 300, cdf=stats.norm(50, 2).cdf, random_state=rng)
    assert agrees(both, stats.norm(50, 2).cdf)


@pytest.mark.covers("samplers-from-normal")
@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda rng: chi_square(4, 3000, random_state=rng), stats.chi2(4)),
        (lambda rng: student_t(5, 3000, random_state=rng), stats.t(5)),
        (lambda rng: student_t(1, 3000, random_state=rng), stats.cauchy()),
        (lambda rng: f_ratio(3, 8, 3000, random_state=rng), stats.f(3, 8)),
        (lambda rng: gamma(3.7, 3000, random_state=rng), stats.gamma(3.7)),
        (lambda rng: gamma(0.4, 3000, random_state=rng), stats.gamma(0.4)),
        (lambda rng: dirichlet([2.0, 3.0, 4.0], 3000, random_state=rng)[:, 1], stats.beta(3, 6)),
    ],
    ids=["chi-square", "t", "Cauchy", "F", "gamma", "gamma below one", "Dirichlet"],
)
def test_laws_made_of_normal_draws_are_those_laws(draw, law, rng):
    assert agrees(draw(rng), law.cdf)


@pytest.mark.covers("rejection-box")
def test_draws_under_a_box_are_of_the_density_whatever_its_factor(rng):
    def density(x):
        return 7 * np.exp(-x) * (1 + np.sin(3 * x))

    found = rejection_box(density, (0, 4), 3000, random_state=rng)
    area = integrate.quad(density, 0, 4)[0]
    assert agrees(
        found.draws,
        lambda x: np.array([integrate.quad(density, 0, v)[0] / area for v in np.atleast_1d(x)]),
    )
    share = stats.binomtest(found.n_kept, found.n_tried, area / (found.bound * 4))
    assert share.pvalue > RARE
    assert abs(found.normalizer.value - area) < 0.2 * area
    with pytest.raises(DataError, match="exceeds the bound"):
        rejection_box(density, (0, 4), 500, bound=1.0, random_state=rng)


@pytest.mark.covers("rejection-sampling")
def test_rejection_from_a_proposal_gives_the_target_and_its_acceptance(rng):
    bound = np.sqrt(2 * np.pi / np.e)
    found = rejection(
        stats.norm.logpdf,
        lambda n, g: g.standard_cauchy(n),
        stats.cauchy.logpdf,
        3000,
        bound=bound,
        random_state=rng,
    )
    assert agrees(found.draws, stats.norm.cdf)
    assert stats.binomtest(found.n_kept, found.n_tried, 1 / bound).pvalue > RARE
    with pytest.raises(DataError, match="exceeds the bound"):
        rejection(
            stats.cauchy.logpdf,
            lambda n, g: g.standard_normal(n),
            stats.norm.logpdf,
            2000,
            bound=1.3,
            random_state=rng,
        )
    with pytest.raises(DataError, match="too low"):
        rejection(
            stats.norm.logpdf,
            lambda n, g: g.standard_cauchy(n),
            stats.cauchy.logpdf,
            100,
            bound=1e8,
            most_tried=2000,
            random_state=rng,
        )


def test_importance_weights_give_means_and_the_constant_and_say_when_few_draws_count(rng):
    def log_t(v):
        return -3 * np.log1p(v * v / 5) - np.log(np.sqrt(5) * beta(0.5, 2.5))

    x = rng.standard_t(5, 20_000)
    found = importance(lambda v: -v * v / 2 + 3.0, x, log_t)
    second = found.expectation(lambda v: v * v)
    assert abs(second.value - 1) < 8 * second.error
    constant = found.normalizer
    assert abs(constant.value - np.exp(3.0) * np.sqrt(2 * np.pi)) < 8 * constant.error
    assert 0 < found.effective_size <= len(x)
    with pytest.warns(GnomonWarning, match="few draws count"):
        importance(lambda v: -((v - 30) ** 2), x, log_t)


def ar1(phi: float, n: int, rng, m: int = 1) -> np.ndarray:
    """Stationary chains x_i = phi x_{i-1} + noise."""
    noise = rng.normal(size=(m, n))
    chain = np.empty((m, n))
    chain[:, 0] = noise[:, 0] / np.sqrt(1 - phi**2)
    for i in range(1, n):
        chain[:, i] = phi * chain[:, i - 1] + noise[:, i]
    return chain


@pytest.mark.covers("autocorrelation-burn-in-thinning")
def test_autocorrelation_is_the_sum_of_products_and_falls_geometrically_in_an_ar_chain(rng):
    short = rng.normal(size=30)
    centered = short - short.mean()
    brute = [centered[: 30 - lag] @ centered[lag:] / (centered @ centered) for lag in range(30)]
    np.testing.assert_allclose(autocorrelation(short), brute, atol=1e-12)
    chain = ar1(0.8, 50_000, rng)[0]
    np.testing.assert_allclose(autocorrelation(chain, 6), 0.8 ** np.arange(7), atol=0.08)
    assert 8 <= thinning_lag(chain) <= 22
    assert autocorrelation(np.ones(5)).tolist() == [1.0] * 5


@pytest.mark.covers("autocorrelation-burn-in-thinning")
def test_effective_sizes_of_ar_chains_are_the_known_ones(rng):
    for phi in (0.0, 0.5, 0.9):
        chains = ar1(phi, 20_000, rng, 4)
        expected = 80_000 * (1 - phi) / (1 + phi)
        for kind in ("mean", "bulk"):
            found = effective_sample_size(chains, kind)
            assert 0.6 * expected < found < 1.6 * expected
    assert effective_sample_size(ar1(0.5, 5000, rng, 4), "tail") < 20_000
    assert effective_sample_size(np.ones((2, 10))) == 1.0


@pytest.mark.covers("autocorrelation-burn-in-thinning")
def test_burn_in_is_what_a_drift_needs(rng):
    chains = rng.normal(size=(4, 2000))
    assert burn_in(chains) == 0
    drift = np.where(np.arange(2000) < 300, 8.0, 0.0) * np.array([[-1], [1], [-1], [1]])
    assert 200 <= burn_in(chains + drift) <= 500
    assert burn_in(chains + np.array([[0], [9], [0], [9]])) == 2000


@pytest.mark.covers("gelman-rubin-rhat")
def test_r_hat_is_its_formula_and_each_kind_sees_more(rng):
    chains = rng.normal(size=(3, 40)) + np.array([[0.0], [0.4], [1.0]])
    within = np.mean([np.var(c, ddof=1) for c in chains])
    between = 40 * np.var(chains.mean(axis=1), ddof=1)
    classic = np.sqrt((39 / 40 * within + between / 40) / within)
    assert r_hat(chains, "classic") == pytest.approx(classic)
    steady = rng.normal(size=(4, 2000))
    assert all(r_hat(steady, kind) < 1.03 for kind in ("classic", "split", "rank"))
    drifting = steady + np.linspace(-2, 2, 2000)
    assert r_hat(drifting, "classic") < 1.05 < r_hat(drifting, "split")
    unequal = steady * np.array([[1.0], [1.0], [1.0], [6.0]])
    assert r_hat(unequal, "split") < 1.05 < r_hat(unequal, "rank")
    assert r_hat([[1.0] * 6, [2.0] * 6], "classic") == np.inf


@pytest.mark.covers("chain-two-sample-convergence")
def test_two_sample_tests_reject_chains_apart_and_hardly_ever_those_of_one_law(rng):
    agree = sum(compare_chains(ar1(0.6, 3000, rng, 3)).agree for _ in range(30))
    assert agree >= 24
    apart = ar1(0.6, 3000, rng, 3) + np.array([[0.0], [0.0], [2.0]])
    found = compare_chains(apart)
    assert not found.agree
    assert found.p_values[0] > found.p_values[1]


@pytest.mark.covers("posterior-density-estimate")
def test_density_and_means_of_draws_are_those_of_the_target(rng):
    target = gaussian_mixture([[-2.0], [2.0]], np.full((2, 1, 1), 0.5), [0.3, 0.7])
    found = quietly(target, Metropolis(GaussianWalk(3.0), adapt=False), 8000, random_state=rng)
    points, density = found.density(0)
    truth = np.exp([target([x]) for x in points])
    assert np.abs(density - truth).max() < 0.12
    borders, heights = found.density(0, bins=30)
    assert (heights * np.diff(borders)).sum() == pytest.approx(1)
    mean = found.expectation(lambda x: x[0])
    assert abs(mean.value - 0.8) < 7 * mean.error
    thinned = found.thinned()
    assert thinned.draws.shape[1] < found.draws.shape[1]
    assert abs(autocorrelation(thinned.of(0)[0])[1]) < 0.25


@pytest.mark.covers("mcmc-driver")
def test_threads_change_no_draw_and_starts_of_density_zero_are_refused():
    target = gaussian_mixture([[0.0, 1.0]], [np.eye(2)])
    runs = [quietly(target, Metropolis(), 200, random_state=3, n_jobs=n) for n in (1, 3)]
    np.testing.assert_array_equal(runs[0].draws, runs[1].draws)
    positive = Target(lambda x: -x[0] if x[0] > 0 else -np.inf, 1)
    with pytest.raises(DataError, match="zero at the start"):
        sample_chains(positive, Slice(), 10, starts=[[-1.0]])
    with pytest.raises(DataError, match="nan"):
        sample_chains(Target(lambda x: np.nan, 1), Slice(), 10, starts=[[0.0]])
    with pytest.raises(DataError, match="gradient"):
        sample_chains(positive, Hamiltonian(), 10, starts=[[1.0]])


def random_network(rng) -> Network:
    """Four nodes of two or three values; every node may depend on those before it."""
    sizes = rng.integers(2, 4, 4)
    nodes = []
    for j, size in enumerate(sizes):
        parents = [k for k in range(j) if rng.random() < 0.6]
        table = rng.dirichlet(np.full(size, 2.0), tuple(sizes[k] for k in parents))
        nodes.append(CategoricalNode(f"n{j}", table, tuple(f"n{k}" for k in parents)))
    return Network(list(rng.permutation(np.array(nodes, dtype=object))))


def enumerated(network: Network, evidence: dict) -> dict[str, np.ndarray]:
    """Marginal probabilities of every node given the evidence, from the whole joint table."""
    names = [node.name for node in network.nodes]
    sizes = [node.n_values for node in network.nodes]
    marginals = {name: np.zeros(size) for name, size in zip(names, sizes)}
    for values in itertools.product(*map(range, sizes)):
        state = dict(zip(names, values))
        if all(state[name] == value for name, value in evidence.items()):
            mass = np.exp(network.log_density(state))
            for name in names:
                marginals[name][state[name]] += mass
    return {name: mass / mass.sum() for name, mass in marginals.items()}


@pytest.mark.covers("gibbs-belief-network", "forward-rejection-belief-network")
def test_gibbs_and_rejection_agree_with_enumeration_on_random_networks(rng):
    for _ in range(3):
        network = random_network(rng)
        evidence = {"n3": 1}
        exact = enumerated(network, evidence)
        rejected = network.reject(evidence, 1500, random_state=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chains = network.gibbs(evidence, 700, random_state=rng)
        for name in ("n0", "n1", "n2"):
            for value, share in enumerate(exact[name]):
                drawn = int((rejected.draws[name] == value).sum())
                assert stats.binomtest(drawn, 1500, share).pvalue > RARE
                assert abs((chains.of(name) == value).mean() - share) < 0.15


@pytest.mark.covers("forward-rejection-belief-network")
def test_rare_and_real_evidence_is_spoken_of():
    rare = Network([CategoricalNode("a", [0.999, 0.001])])
    with pytest.warns(GnomonWarning, match="agree with the evidence"):
        rare.reject({"a": 1}, 20, random_state=0)
    with pytest.raises(DataError, match="too rare"):
        rare.reject({"a": 1}, 20, most_tried=10, random_state=0)
    real = Network([DensityNode("x", lambda v: -v * v / 2, lambda g: g.normal())])
    with pytest.raises(DataError, match="real number"):
        real.reject({"x": 0.0}, 5)
    with pytest.raises(DataError, match="cycle"):
        Network(
            [
                CategoricalNode("a", [[0.5, 0.5]] * 2, ("b",)),
                CategoricalNode("b", [[0.5, 0.5]] * 2, ("a",)),
            ]
        )


@pytest.mark.covers("metropolis-belief-network", "gibbs-belief-network")
def test_real_and_whole_nodes_beside_categories_reach_the_exact_posterior(rng):
    """kind ~ fair coin, x ~ N(+-2, 1), count ~ Poisson(3 or 6); x and kind given the count."""
    means, rates = np.array([-2.0, 2.0]), np.array([3.0, 6.0])
    network = Network(
        [
            CategoricalNode("kind", [0.5, 0.5]),
            DensityNode(
                "x",
                lambda v, k: -0.5 * (v - means[int(k)]) ** 2,
                lambda g, k: g.normal(means[int(k)]),
                ("kind",),
            ),
            DensityNode(
                "count",
                lambda v, k: float(stats.poisson.logpmf(v, rates[int(k)])),
                lambda g, k: g.poisson(rates[int(k)]),
                ("kind",),
                whole=True,
            ),
            DensityNode(
                "seen",
                lambda v, x: -0.5 * (v - x) ** 2,
                lambda g, x: g.normal(x),
                ("x",),
            ),
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = network.gibbs({"seen": 0.3, "count": 5}, 1500, random_state=rng)
    weights = stats.norm(means, np.sqrt(2)).pdf(0.3) * stats.poisson(rates).pmf(5)
    weights /= weights.sum()
    mean = weights @ ((means + 0.3) / 2)
    assert abs(found.of("kind").mean() - weights[1]) < 0.12
    assert abs(found.of("x").mean() - mean) < 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = network.gibbs({"kind": 1}, 1500, random_state=rng).of("count")
    assert abs(counts.mean() - 6) < 0.8
    assert (counts == np.rint(counts)).all()


def test_impossible_evidence_is_named():
    network = Network(
        [CategoricalNode("a", [0.5, 0.5]), CategoricalNode("b", [[1.0, 0.0]] * 2, ("a",))]
    )
    with pytest.raises(DataError, match="probability zero"):
        network.gibbs({"b": 1}, 10, random_state=0)


@pytest.mark.covers("potts-gibbs")
@pytest.mark.parametrize("scan", ["sequential", "checkerboard"])
def test_potts_sweeps_reach_the_enumerated_law_on_a_tiny_grid(scan, rng):
    shape, liking, q = (2, 3), 0.6, 2
    field = rng.normal(0, 0.5, (*shape, q))
    states = np.array(list(itertools.product(range(q), repeat=6))).reshape(-1, *shape)
    logs = np.array([potts_log_density(each, liking, field) for each in states])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    found = potts_gibbs(
        shape, liking, 30_000, field=field, n_burn_in=200, keep_every=1, scan=scan, random_state=rng
    )
    codes = found.kept.reshape(len(found.kept), -1) @ 2 ** np.arange(5, -1, -1)
    shares = np.bincount(codes, minlength=64) / len(codes)
    assert 0.5 * np.abs(shares - law).sum() < 0.06
    exact = np.einsum("s,sijk->ijk", law, states[..., None] == np.arange(q))
    np.testing.assert_allclose(found.marginals, exact, atol=0.04)
    assert found.energy[-1] == pytest.approx(-potts_log_density(found.states, liking, field))


@pytest.mark.covers("potts-gibbs")
def test_the_free_ising_chain_has_its_closed_form(rng):
    n, liking = 8, 0.9
    logs = [
        potts_log_density(np.array([states]), liking)
        for states in itertools.product((0, 1), repeat=n)
    ]
    assert np.exp(logs).sum() == pytest.approx(2 * (1 + np.exp(liking)) ** (n - 1))
    found = potts_gibbs((1, n), liking, 8000, n_burn_in=100, keep_every=1, random_state=rng)
    equal = (found.kept[:, 0, 1:] == found.kept[:, 0, :-1]).mean()
    assert abs(equal - np.exp(liking) / (1 + np.exp(liking))) < 0.03


def test_hill_climbing_never_ends_lower_and_annealing_leaves_a_lower_hill(rng):
    target = gaussian_mixture([[0.0], [8.0]], np.ones((2, 1, 1)), [0.02, 0.98])
    start = np.array([0.5])
    best, height = hill_climb(target, start, proposal=GaussianWalk(0.3), random_state=rng)
    assert height >= target(start)
    assert abs(best[0]) < 0.5
    found = [
        hill_climb(
            target,
            start,
            proposal=GaussianWalk(1.5),
            n_steps=3000,
            first_temperature=6.0,
            random_state=rng,
        )[0][0]
        for _ in range(6)
    ]
    assert max(found) > 6


@pytest.mark.covers("potts-gibbs")
def test_a_very_cold_grid_against_a_strong_field_is_drawn_without_overflow():
    field = np.zeros((4, 4, 2))
    field[..., 1] = 5000.0
    found = potts_gibbs((4, 4), 900.0, 30, field=field, start=np.zeros((4, 4)), random_state=0)
    assert (found.states == 1).all()
    stuck = potts_gibbs((4, 4), 900.0, 30, field=field / 5, start=np.zeros((4, 4)), random_state=0)
    assert np.isfinite(stuck.energy).all()


@pytest.mark.covers("potts-gibbs")
@pytest.mark.parametrize("scan", ["sequential", "checkerboard"])
def test_laws_by_look_up_draw_what_weights_draw(scan, rng):
    seed, q = int(rng.integers(2**31)), int(rng.integers(2, 6))
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    options = {"n_states": q, "scan": scan, "random_state": seed}
    looked_up = potts_gibbs(shape, 0.7, 20, **options)
    weighed = potts_gibbs(shape, 0.7, 20, field=np.zeros((*shape, q)), **options)
    np.testing.assert_array_equal(looked_up.states, weighed.states)
    np.testing.assert_allclose(looked_up.energy, weighed.energy)


@pytest.mark.covers("potts-gibbs", "gibbs-belief-network")
def test_threads_change_no_state_of_grids_and_networks(rng):
    seed = int(rng.integers(2**31))
    grids = [
        potts_gibbs(
            (700, 700), 0.9, 2, n_states=3, scan="checkerboard", random_state=seed, n_jobs=jobs
        ).states
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*grids)
    net = Network(
        [
            CategoricalNode("a", [0.3, 0.7]),
            CategoricalNode("b", [[0.5, 0.5], [0.1, 0.9]], ("a",)),
        ]
    )
    chains = [net.gibbs({"b": 1}, 200, random_state=seed, n_jobs=jobs).draws for jobs in (1, 2)]
    np.testing.assert_array_equal(*chains)


def chain_ranks(walkers, truth: np.ndarray, length: int, rng: np.random.Generator) -> np.ndarray:
    """Rank of the truth among draws of a reversible chain through it; ties broken by lot."""
    place = int(rng.integers(length))
    parts = [walkers().advance(n, rng).draws for n in (place, length - 1 - place)]
    others = np.concatenate(parts)
    ties, below = (others == truth).sum(axis=0), (others < truth).sum(axis=0)
    return below + np.array([rng.integers(t + 1) for t in ties])


@pytest.mark.covers("gibbs-belief-network", "metropolis-belief-network")
@pytest.mark.parametrize("kind", ["categories", "with a density"])
def test_chains_over_networks_are_calibrated(kind, rng):
    table = rng.dirichlet([1.5, 1.5, 1.5], size=2)
    nodes = [
        CategoricalNode("a", rng.dirichlet([2, 2])),
        CategoricalNode("b", table, ("a",)),
        CategoricalNode("c", rng.dirichlet([1.5, 1.5], size=(2, 3)), ("a", "b")),
    ]
    if kind == "with a density":
        nodes.append(
            DensityNode(
                "d",
                lambda v, b: -0.5 * (v - b) ** 2,
                lambda rng, b: rng.normal(b),
                ("b",),
                step=1.5,
            )
        )
    network = Network(nodes)
    free = tuple(name for name in network.order if name != "c")
    n_runs, length = 240, 8
    ranks = np.empty((n_runs, len(free)), dtype=int)
    for run in range(n_runs):
        drawn = network.forward(rng)
        truth = np.array([drawn[name] for name in free])
        held = {"c": drawn["c"]}
        target = Target(
            lambda x, held=held: network.log_density(held | dict(zip(free, x))), len(free)
        )
        sampler = NetworkSampler(network, held, free)
        ranks[run] = chain_ranks(lambda: sampler.begin(target, truth), truth, length, rng)  # noqa: B023
    for j in range(len(free)):
        assert uniform(ranks[:, j], length)


@pytest.mark.covers("potts-gibbs")
@pytest.mark.parametrize("scan", ["sequential", "checkerboard"])
def test_a_sweep_leaves_the_law_of_a_grid_as_it_is(scan, rng):
    shape, liking, n = (2, 2), 0.8, 1500
    states = np.array(list(itertools.product(range(2), repeat=4))).reshape(-1, *shape)
    law = np.exp([potts_log_density(each, liking) for each in states])
    law /= law.sum()
    ended = np.zeros(16)
    for start in rng.choice(16, size=n, p=law):
        found = potts_gibbs(shape, liking, 1, start=states[start], scan=scan, random_state=rng)
        ended[int(found.states.ravel() @ [8, 4, 2, 1])] += 1
    assert stats.chisquare(ended, n * law).pvalue > RARE
