"""Bayes' rule, optimal decisions, Gaussian and plug-in classifiers against brute force."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from gnomon.bayes import (
    GaussianClassifier,
    GenerativeClassifier,
    HypothesisSet,
    NaiveBayes,
    bayes_decision,
    bayes_risk,
    bayes_rule,
    compare_generative,
    expected_costs,
    odds_to_probability,
    probability_to_odds,
    simplicity_prior,
)
from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.table.generate import Clouds


def two_clouds(rng, n=300, d=3, k=3):
    y = rng.permutation(np.arange(n) % k)
    mixing = rng.normal(size=(k, d, d))
    centers = rng.normal(scale=3, size=(k, d))
    rows = centers[y] + np.einsum("nij,nj->ni", mixing[y], rng.normal(size=(n, d)))
    return rows, y


@pytest.mark.covers("bayes-rule")
def test_a_posterior_is_a_share_of_the_joint_table(rng):
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
    prior = joint.sum(axis=1)
    for outcome in range(4):
        belief = bayes_rule(prior, joint[:, outcome] / prior)
        np.testing.assert_allclose(belief.posterior, joint[:, outcome] / joint[:, outcome].sum())
        assert belief.evidence == pytest.approx(joint[:, outcome].sum())


@pytest.mark.covers("bayes-rule")
def test_observations_in_any_order_and_all_at_once_give_one_posterior(rng):
    prior, likelihood = rng.dirichlet(np.ones(4)), rng.random((5, 4))
    whole = bayes_rule(prior, likelihood).posterior
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3]):
        belief = bayes_rule(prior, likelihood[order[0]])
        for i in order[1:]:
            belief = belief.update(likelihood[i])
        np.testing.assert_allclose(belief.posterior, whole, rtol=1e-10)


@pytest.mark.covers("bayes-rule")
def test_posterior_odds_are_prior_odds_times_the_bayes_factor(rng):
    prior = rng.dirichlet(np.ones(2))
    belief = bayes_rule(prior, rng.random(2), ["rain", "dry"])
    factor = belief.bayes_factor("rain", "dry")
    assert belief.odds("rain", "dry") == pytest.approx(prior[0] / prior[1] * factor)
    assert odds_to_probability(belief.odds("rain", "dry")) == pytest.approx(belief.posterior[0])
    assert probability_to_odds(belief.posterior[0]) == pytest.approx(belief.odds("rain", "dry"))
    assert odds_to_probability(np.inf) == 1.0


@pytest.mark.covers("bayes-rule")
def test_the_probability_of_not_both_is_that_of_one_or_the_other_missing():
    joint = np.array([[0.1, 0.2], [0.3, 0.4]])
    not_both = 1 - joint[1, 1]
    assert not_both == pytest.approx(joint[0].sum() + joint[:, 0].sum() - joint[0, 0])


@pytest.mark.covers("bayes-rule")
def test_impossible_observations_and_wrong_priors_are_refused():
    with pytest.raises(DataError, match="no hypothesis"):
        bayes_rule([0.5, 0.5, 0.0], [0.0, 0.0, 1.0])
    with pytest.raises(DataError, match="1 together"):
        bayes_rule([0.5, 0.6], [1, 1])
    with pytest.raises(DataError, match="not negative"):
        bayes_rule([0.5, 0.5], [1, -1])


@pytest.mark.covers("bayes-optimal-classifier")
def test_no_rule_of_a_finite_problem_has_less_risk_than_bayes(rng):
    share, proba = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(3), 4)
    costs = rng.random((3, 3)) * (1 - np.eye(3))
    for matrix in (None, costs):
        each = expected_costs(proba, matrix)
        rules = itertools.product(range(3), repeat=4)
        least = min(share @ each[np.arange(4), list(rule)] for rule in rules)
        found = bayes_risk(proba, weights=share, costs=matrix)
        assert found.risk.value == pytest.approx(least)
        assert share @ each[np.arange(4), found.decisions] == pytest.approx(least)


@pytest.mark.covers("bayes-optimal-classifier")
def test_equal_costs_decide_for_the_most_probable_and_break_ties_at_random(rng):
    proba = np.tile([[0.4, 0.4, 0.2]], (2000, 1))
    codes = bayes_decision(proba, random_state=rng)
    assert set(codes) == {0, 1}
    assert (codes == 0).mean() == pytest.approx(0.5, abs=0.08)
    assert bayes_risk([[0.7, 0.3]], weights=[1.0]).risk.value == pytest.approx(0.3)


@pytest.mark.covers("bayes-optimal-classifier")
def test_the_risk_of_two_normal_classes_is_the_mass_beyond_the_middle(rng):
    oracle = Clouds([[0.0], [2.0]])
    drawn = oracle.sample(4000, rng)
    found = bayes_risk(oracle.proba, drawn.X)
    assert abs(found.risk.value - stats.norm.cdf(-1)) < 6 * found.risk.error
    errors = (found.decisions != drawn.y).mean()
    assert errors == pytest.approx(stats.norm.cdf(-1), abs=0.04)


@pytest.mark.covers("bayes-optimal-hypotheses")
def test_the_optimal_prediction_is_the_sum_over_all_hypotheses(rng):
    m, n, k = 6, 15, 3
    tables = rng.dirichlet(np.ones(k), (m, n))  # P(y | h, x) for x = 0 .. n-1
    prior = rng.dirichlet(np.ones(m))
    y = rng.integers(0, k, n)
    voices = [lambda x, t=t: t[np.asarray(x, int)] for t in tables]
    found = HypothesisSet(voices, prior).learn(np.arange(n), y)
    weights = prior * np.prod(tables[:, np.arange(n), y], axis=1)
    weights /= weights.sum()
    np.testing.assert_allclose(found.posterior, weights, rtol=1e-9)
    expected = np.einsum("m,mnk->nk", weights, tables)
    np.testing.assert_allclose(found.predict_proba(np.arange(n)), expected, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(np.arange(n)), expected.argmax(axis=1))


@pytest.mark.covers("bayes-optimal-hypotheses")
def test_the_true_hypothesis_wins_and_many_rows_do_not_underflow(rng):
    chances = np.array([0.3, 0.5, 0.7])
    voices = [lambda x, p=p: np.tile([1 - p, p], (len(x), 1)) for p in chances]
    y = (rng.random(20_000) < 0.7).astype(int)
    found = HypothesisSet(voices, simplicity_prior([1, 2, 3])).learn(np.zeros((len(y), 1)), y)
    np.testing.assert_allclose(found.posterior, [0, 0, 1], atol=1e-9)


@pytest.mark.covers("bayes-optimal-hypotheses")
def test_the_best_hypothesis_alone_may_be_wrong_where_the_others_agree():
    said = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    voices = [lambda x, p=p: np.tile(p, (len(x), 1)) for p in said]
    found = HypothesisSet(voices, [0.4, 0.3, 0.3])
    assert found.predict([[0]]).tolist() == [0]
    assert said[found.posterior.argmax()].argmax() == 1
    with pytest.raises(DataError, match="probabilities"):
        HypothesisSet([3]).predict([[0]])


def log_joint_by_hand(rows, y, at, covariance, shared):
    """log p(class) + log N(x), each class written out with NumPy and SciPy."""
    codes = np.unique(y)
    own = [np.cov(rows[y == k].T, ddof=0).reshape(rows.shape[1], -1) for k in codes]
    shares = [(y == k).mean() for k in codes]
    if shared:
        own = [sum(s * c for s, c in zip(shares, own))] * len(codes)
    joint = []
    for k, each, share in zip(codes, own, shares):
        if covariance != "full":
            each = np.diag(np.diag(each))
        if covariance == "isotropic":
            each = np.eye(len(each)) * np.trace(each) / len(each)
        law = stats.multivariate_normal(rows[y == k].mean(axis=0), each)
        joint.append(np.log(share) + law.logpdf(at))
    return np.column_stack(joint)


@pytest.mark.covers("gaussian-classifier")
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("covariance", ["full", "diagonal", "isotropic"])
def test_the_gaussian_classifier_is_bayes_rule_written_out(rng, covariance, shared):
    rows, y = two_clouds(rng)
    model = GaussianClassifier(covariance, shared=shared, var_smoothing=0).fit(rows, y)
    expected = log_joint_by_hand(rows, y, rows[:50], covariance, shared)
    found = model.predict_joint_log_proba(rows[:50])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    log_proba = expected - logsumexp(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(rows[:50]), log_proba, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(model.predict(rows[:50]), expected.argmax(axis=1))
    whole = log_joint_by_hand(rows, y, rows, covariance, shared)
    assert model.history_[-1] == pytest.approx(-whole[np.arange(len(y)), y].mean(), rel=1e-8)


@pytest.mark.covers("gaussian-classifier")
@pytest.mark.parametrize("covariance", ["full", "diagonal", "isotropic"])
def test_any_shared_covariance_gives_hyperplanes(rng, covariance):
    rows, y = two_clouds(rng)
    model = GaussianClassifier(covariance, shared=True).fit(rows, y)
    linear = rows @ model.coef_.T + model.intercept_
    gaps = model.predict_joint_log_proba(rows) - linear
    np.testing.assert_allclose(gaps - gaps[:, :1], 0, atol=1e-6)


@pytest.mark.covers("gaussian-classifier")
def test_uniform_priors_decide_by_the_densities_alone(rng):
    rows, y = two_clouds(rng, k=2)
    keep = (y == 0) | (np.arange(len(y)) % 5 == 0)
    model = GaussianClassifier(priors="uniform").fit(rows[keep], y[keep])
    given = GaussianClassifier(priors=[0.5, 0.5]).fit(rows[keep], y[keep])
    np.testing.assert_array_equal(model.predict_proba(rows), given.predict_proba(rows))
    shares = GaussianClassifier().fit(rows[keep], y[keep]).class_prior_
    assert shares[0] > 0.7


@pytest.mark.covers("gaussian-classifier")
def test_shrinkage_leads_from_own_to_shared_covariances(rng):
    rows, y = two_clouds(rng)
    whole = GaussianClassifier(shrinkage=1.0).fit(rows, y)
    shared = GaussianClassifier(shared=True).fit(rows, y)
    np.testing.assert_allclose(
        whole.predict_proba(rows), shared.predict_proba(rows), rtol=1e-6, atol=1e-9
    )
    half = GaussianClassifier(shrinkage=0.5, var_smoothing=0).fit(rows, y)
    own = GaussianClassifier(var_smoothing=0).fit(rows, y)
    expected = (own.covariances_ + shared.covariances_) / 2
    np.testing.assert_allclose(half.covariances_, expected, rtol=1e-6)


@pytest.mark.covers("gaussian-classifier")
def test_a_far_mean_loses_no_digits_even_where_the_first_rows_mislead(rng):
    rows, y = two_clouds(rng, n=20_000, d=2, k=2)
    rows = rows[np.argsort(y, kind="stable")]
    y = np.sort(y)
    rows[0] += 1e7
    far = GaussianClassifier().fit(rows[1:] + 1e6, y[1:])
    near = GaussianClassifier().fit(rows[1:], y[1:])
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-6, atol=1e-8)


@pytest.mark.covers("gaussian-classifier")
def test_a_thin_class_is_warned_of_and_a_flat_one_refused_without_smoothing(rng):
    rows = rng.normal(size=(12, 4))
    y = np.array([0] * 9 + [1] * 3)
    with pytest.warns(GnomonWarning, match="class '1'"):
        GaussianClassifier().fit(rows, y)
    with pytest.raises(DataError, match="not positive definite"):
        GaussianClassifier(var_smoothing=0).fit(rows, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianClassifier(shared=True).fit(rows, y)


@pytest.mark.covers("plug-in-bayes-classifier")
def test_any_density_is_turned_round_by_bayes_rule(rng):
    rows, y = two_clouds(rng)
    template = GaussianMixture(2, random_state=3)
    model = GenerativeClassifier(template).fit(rows, y)
    logs = np.column_stack(
        [
            np.log((y == k).mean())
            + GaussianMixture(2, random_state=3).fit(rows[y == k]).score_samples(rows)
            for k in range(3)
        ]
    )
    expected = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.covers("plug-in-bayes-classifier")
def test_one_normal_per_class_is_the_gaussian_classifier(rng):
    rows, y = two_clouds(rng)
    plug_in = GenerativeClassifier(GaussianMixture(1, reg_covar=0)).fit(rows, y)
    direct = GaussianClassifier(var_smoothing=0).fit(rows, y)
    np.testing.assert_allclose(
        plug_in.predict_log_proba(rows), direct.predict_log_proba(rows), rtol=1e-6, atol=1e-6
    )


@pytest.mark.covers("plug-in-bayes-classifier")
def test_costs_move_the_decision_and_given_priors_the_probabilities(rng):
    rows, y = two_clouds(rng, k=2)
    costs = [[0, 1], [9, 0]]
    model = GenerativeClassifier(costs=costs).fit(rows, y)
    proba = model.predict_proba(rows)
    np.testing.assert_array_equal(model.predict(rows), (proba[:, 1] * 9 > proba[:, 0]).astype(int))
    tilted = GenerativeClassifier(priors=[0.9, 0.1]).fit(rows, y).predict_proba(rows)
    plain = GenerativeClassifier(priors="uniform").fit(rows, y).predict_proba(rows)
    with np.errstate(all="ignore"):
        ratio = (tilted[:, 0] / tilted[:, 1]) / (plain[:, 0] / plain[:, 1])
    seen = (plain > 1e-12).all(axis=1) & (tilted > 1e-12).all(axis=1)
    np.testing.assert_allclose(ratio[seen], 9.0, rtol=1e-5)


@pytest.mark.covers("plug-in-bayes-classifier")
def test_a_density_of_another_library_is_taken_and_zero_everywhere_gives_the_priors(rng):
    from sklearn.neighbors import KernelDensity

    rows, y = two_clouds(rng, k=2)
    model = GenerativeClassifier(KernelDensity(kernel="tophat", bandwidth=2.0)).fit(rows, y)
    far = model.predict_proba(rows[:1] + 1e3)
    np.testing.assert_allclose(far[0], model.class_prior_)
    with pytest.raises(DataError, match="class"):
        GenerativeClassifier(GaussianMixture(500)).fit(rows, y)


@pytest.mark.covers("generative-versus-discriminative")
def test_the_comparison_uses_one_set_of_splits_and_finds_the_crossing(rng):
    from sklearn.linear_model import LogisticRegression

    rows, y = two_clouds(rng, n=240, d=2, k=2)
    found = compare_generative(
        NaiveBayes(), LogisticRegression(), rows, y, sizes=[12, 60, 180], cv=5, random_state=1
    )
    ours = found.generative.samples["validation"]
    theirs = found.discriminative.samples["validation"]
    for figure, a, b in zip(found.differences, ours, theirs):
        assert figure.value == pytest.approx((a - b).mean(), abs=1e-12)
        assert figure.low <= figure.value <= figure.high
    same = compare_generative(NaiveBayes(), NaiveBayes(), rows, y, sizes=[60, 180], cv=5)
    assert [figure.value for figure in same.differences] == [0.0, 0.0]
    assert same.crossing is None


@pytest.mark.covers("generative-versus-discriminative")
def test_the_crossing_is_where_the_difference_changes_sign_in_log_rows():
    from gnomon.bayes.comparison import GenerativeVersusDiscriminative
    from gnomon.evaluate import Estimate

    gaps = [Estimate(v, v, v) for v in (-0.1, -0.05, 0.05, 0.1)]
    found = GenerativeVersusDiscriminative(None, None, [10, 100, 1000, 10_000], gaps)
    assert found.crossing == pytest.approx(10**2.5)
    never = GenerativeVersusDiscriminative(None, None, [10, 100, 1000, 10_000], gaps[::-1])
    assert never.crossing is None
