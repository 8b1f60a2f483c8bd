"""Hidden Markov models against full enumeration of all paths on tiny random models."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm, poisson

import gnomon
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.sequence import (
    CategoricalEmission,
    DurationHMM,
    GaussianEmission,
    HiddenMarkovModel,
    HMMClassifier,
    LagEmission,
    MixtureEmission,
    PoissonEmission,
    adapt_means,
    least_cost_path,
)
from gnomon.sequence.class_models import _free_numbers, _likelihood_slope, _set_free_numbers
from gnomon.sequence.hmm import posteriors


@contextmanager
def quiet():
    """Without the warning that EM was stopped early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        yield


def random_rows(rng, shape, zeros=0.0):
    rows = rng.gamma(0.7, size=shape) * (rng.random(shape) >= zeros)
    rows[..., 0] += 1e-3
    return rows / rows.sum(axis=-1, keepdims=True)


def random_hmm(rng, k=3, m=4, zeros=0.0, **options):
    return HiddenMarkovModel.known(
        random_rows(rng, (k,)),
        random_rows(rng, (k, k), zeros),
        CategoricalEmission(random_rows(rng, (k, m))),
        **options,
    )


def joint_table(model, sequence):
    """log p(X, Z) of every path, as an array with one axis for each step."""
    k = len(model.start_)
    logs = model.emission_.log_likelihood(model.emission_.rows(sequence))
    table = np.empty((k,) * len(sequence))
    with np.errstate(divide="ignore"):
        start, moves = np.log(model.start_), np.log(model.transition_)
    for path in product(range(k), repeat=len(sequence)):
        total = start[path[0]] + sum(logs[n, z] for n, z in enumerate(path))
        table[path] = total + sum(moves[a, b] for a, b in pairwise(path))
    return table


def marginal(table, axes):
    others = tuple(i for i in range(table.ndim) if i not in axes)
    return np.exp(logsumexp(table, axis=others) - logsumexp(table))


@pytest.fixture
def tiny(rng):
    model = random_hmm(rng)
    return model, model.sample(5, random_state=rng)[1]


@pytest.mark.covers("hmm-likelihood", "hmm-scaled-forward-backward")
@pytest.mark.parametrize("recursion", ["scaled", "log"])
def test_likelihood_is_the_sum_over_all_paths(rng, recursion):
    for _ in range(5):
        model = random_hmm(rng, zeros=0.3, recursion=recursion)
        sequence = model.sample(5, random_state=rng)[1]
        assert model.score([sequence]) == pytest.approx(logsumexp(joint_table(model, sequence)))


@pytest.mark.covers("hmm-forward-backward", "hmm-scaled-forward-backward")
@pytest.mark.parametrize("recursion", ["scaled", "log"])
def test_posteriors_of_states_and_pairs_are_those_of_enumeration(rng, recursion):
    for _ in range(5):
        model = random_hmm(rng, recursion=recursion)
        sequence = model.sample(5, random_state=rng)[1]
        table = joint_table(model, sequence)
        smooth = model.smooth([sequence])[0]
        pairs = model.pair_posteriors(sequence)
        for n in range(5):
            assert smooth[n] == pytest.approx(marginal(table, (n,)))
        for n in range(4):
            assert pairs[n] == pytest.approx(marginal(table, (n, n + 1)), abs=1e-12)
        logs = model.emission_.log_likelihood(model.emission_.rows(sequence))
        found = posteriors(model.start_, model.transition_, logs, np.array([0, 5]), recursion)
        assert found.pairs == pytest.approx(pairs.sum(axis=0))


@pytest.mark.covers("hmm-filtering")
def test_filtering_is_smoothing_of_what_was_seen_so_far_and_online_is_the_same(tiny):
    model, sequence = tiny
    filtered = model.filter([sequence])[0]
    online = model.online()
    for n in range(1, 6):
        assert filtered[n - 1] == pytest.approx(
            marginal(joint_table(model, sequence[:n]), (n - 1,))
        )
        assert online.update(sequence[n - 1]) == pytest.approx(filtered[n - 1])
        assert online.log_likelihood == pytest.approx(model.score([sequence[:n]]))
    assert filtered[-1] == pytest.approx(model.smooth([sequence])[0][-1])


@pytest.mark.covers("hmm-instantaneous-estimate")
def test_estimate_without_history_is_bayes_rule_with_the_prior_of_its_step(tiny):
    model, sequence = tiny
    found = model.instantaneous([sequence])[0]
    for n, symbol in enumerate(sequence):
        gap = [None] * n + [symbol]
        assert found[n] == pytest.approx(model.smooth([gap])[0][n])


@pytest.mark.covers("viterbi")
def test_viterbi_finds_the_path_that_enumeration_finds(rng):
    for _ in range(10):
        model = random_hmm(rng, zeros=0.3)
        sequence = model.sample(5, random_state=rng)[1]
        table = joint_table(model, sequence)
        (path,), joint = model.decode([sequence])
        assert joint[0] == pytest.approx(table.max())
        assert model.log_joint(sequence, path) == pytest.approx(table.max())
        with np.errstate(divide="ignore"):
            logs = model.emission_.log_likelihood(model.emission_.rows(sequence))
            nodes = -logs
            nodes[0] -= np.log(model.start_)
            backward = least_cost_path(nodes, -np.log(model.transition_))
        assert backward.cost == pytest.approx(-table.max())


@pytest.mark.covers("viterbi")
def test_least_cost_path_with_edges_of_each_step_is_that_of_enumeration(rng):
    nodes, edges = rng.normal(size=(5, 3)), rng.normal(size=(4, 3, 3))
    costs = {
        path: sum(nodes[i, a] for i, a in enumerate(path))
        + sum(edges[i, path[i], path[i + 1]] for i in range(4))
        for path in product(range(3), repeat=5)
    }
    found = least_cost_path(nodes, edges)
    assert found.cost == pytest.approx(min(costs.values()))
    assert costs[tuple(found.path)] == pytest.approx(found.cost)
    assert found.to_go[-1] == pytest.approx(0)


@pytest.mark.covers("hmm-posterior-decoding")
def test_posterior_decoding_takes_the_best_state_of_each_step_and_warns_of_impossible_paths():
    moves = np.zeros((5, 5))
    moves[0, 1:4] = [0.4, 0.3, 0.3]
    moves[1, 0] = moves[2, 4] = moves[3, 4] = moves[4, 4] = 1
    model = HiddenMarkovModel.known(np.eye(5)[0], moves, CategoricalEmission(np.ones((5, 1))))
    # 1 is the best second state and leads back to 0; 2 and 3 together are likelier and lead to 4
    with pytest.warns(GnomonWarning, match="probability 0"):
        (path,), joint = model.decode([[0, 0, 0]], method="posterior")
    assert path == [0, 1, 4]
    assert joint[0] == -np.inf
    assert model.decode([[0, 0, 0]])[1][0] == pytest.approx(np.log(0.4))


@pytest.mark.covers("hmm-prediction")
def test_law_of_the_next_observation_is_the_ratio_of_likelihoods(tiny):
    model, sequence = tiny
    for ahead in (1, 2, 3):
        law = model.predict_observation(sequence, ahead)
        gap = [*sequence, *[None] * (ahead - 1)]
        for symbol in range(4):
            ratio = np.exp(model.score([[*gap, symbol]]) - model.score([sequence]))
            assert law.symbols[symbol] == pytest.approx(ratio)
            assert np.exp(law.log_density([symbol]))[0] == pytest.approx(ratio)


@pytest.mark.covers("hmm-discrete")
def test_a_missing_symbol_sums_over_all_symbols(tiny):
    model, sequence = tiny
    gap = [*sequence[:2], None, *sequence[3:]]
    filled = [model.score([[*sequence[:2], s, *sequence[3:]]]) for s in range(4)]
    assert model.score([gap]) == pytest.approx(logsumexp(filled))


@pytest.mark.covers("hmm-sampling")
def test_samples_have_the_marginals_of_the_model(rng):
    model = random_hmm(rng, k=2, m=3)
    draws = [model.sample(3, random_state=rng) for _ in range(4000)]
    states = np.array([z for z, _ in draws])
    symbols = np.array([x for _, x in draws])
    prior = model.start_ @ np.linalg.matrix_power(model.transition_, 2)
    law = prior @ model.emission_.table
    assert np.mean(states[:, 2] == 0) == pytest.approx(prior[0], abs=5 * 0.5 / 4000**0.5)
    assert np.mean(symbols[:, 2] == 1) == pytest.approx(law[1], abs=5 * 0.5 / 4000**0.5)


LAWS = {
    "categorical": lambda: "categorical",
    "gaussian-full": lambda: GaussianEmission("full"),
    "gaussian-diagonal": lambda: GaussianEmission("diagonal"),
    "gaussian-tied": lambda: GaussianEmission("tied"),
    "poisson": lambda: "poisson",
    "mixture": lambda: MixtureEmission(2),
    "lags": lambda: LagEmission(2),
}


def data_for(law, rng, lengths=(30, 1, 45)):
    if law == "categorical":
        return [rng.integers(0, 3, n).tolist() for n in lengths]
    if law == "poisson":
        return [rng.poisson(rng.choice([1, 8], n)).astype(float) for n in lengths]
    centers = rng.normal(0, 3, (3, 2))
    return [centers[rng.integers(0, 3, n)] + rng.normal(size=(n, 2)) for n in lengths]


@pytest.mark.covers("baum-welch", "hmm-continuous", "hmm-autoregressive")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("topology", ["any", "left-to-right"])
def test_no_step_of_baum_welch_lowers_the_likelihood(law, topology, rng):
    sequences = data_for(law, rng)
    model = HiddenMarkovModel(
        3, LAWS[law](), topology=topology, max_iter=25, tol=0, random_state=int(rng.integers(1e6))
    )
    with quiet():
        model.fit(sequences)
    rises = np.diff(model.history_)
    assert rises.min() > -1e-6 * abs(model.history_[0])
    assert model.score(sequences) == pytest.approx(model.history_[-1], rel=1e-9)


@pytest.mark.covers("baum-welch")
def test_one_step_of_baum_welch_is_expected_counts_by_enumeration(rng):
    model = random_hmm(rng, k=2, m=3)
    sequences = [model.sample(n, random_state=rng)[1] for n in (4, 3)]
    start, moves, shows = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
    for sequence in sequences:
        table = joint_table(model, sequence)
        start += marginal(table, (0,))
        for n, symbol in enumerate(sequence):
            shows[:, symbol] += marginal(table, (n,))
            if n:
                moves += marginal(table, (n - 1, n))
    with quiet():
        learned = HiddenMarkovModel(
            emission=CategoricalEmission(model.emission_.table),
            start=model.start_,
            transition=model.transition_,
            max_iter=1,
            tol=0,
        ).fit(sequences)
    assert learned.start_ == pytest.approx(start / start.sum())
    assert learned.transition_ == pytest.approx(moves / moves.sum(axis=1, keepdims=True))
    assert learned.emission_.table == pytest.approx(shows / shows.sum(axis=1, keepdims=True))


@pytest.mark.covers("baum-welch-frozen")
def test_frozen_parts_do_not_move_and_the_likelihood_still_rises(rng):
    sequences = data_for("categorical", rng)
    moves = random_rows(rng, (3, 3))
    with quiet():
        model = HiddenMarkovModel(
            emission=CategoricalEmission(symbols=[0, 1, 2]),
            start=[0.2, 0.3, 0.5],
            transition=moves,
            frozen=("start", "transition"),
            max_iter=15,
            tol=0,
            random_state=0,
        ).fit(sequences)
    assert model.start_.tolist() == [0.2, 0.3, 0.5]
    assert np.array_equal(model.transition_, moves)
    assert np.diff(model.history_).min() > -1e-9
    with pytest.raises(DataError, match="frozen and not given"):
        HiddenMarkovModel(2, frozen=("transition",)).fit([[1.0, 2.0]])


@pytest.mark.covers("hmm-left-to-right")
def test_left_to_right_models_begin_first_never_go_back_and_keep_their_jump(rng):
    sequences = [np.repeat([0.0, 5, 10, 15], 6) + rng.normal(0, 0.5, 24) for _ in range(4)]
    with quiet():
        model = HiddenMarkovModel(
            4, topology="left-to-right", max_jump=1, n_init=3, random_state=int(rng.integers(1e6))
        ).fit(sequences)
    assert model.start_.tolist() == [1, 0, 0, 0]
    k = np.arange(4)
    outside = (k[None, :] < k[:, None]) | (k[None, :] > k[:, None] + 1)
    assert not model.transition_[outside].any()
    for path in model.predict(sequences):
        assert set(np.diff(path)) <= {0, 1}
        assert path[0] == 0


@pytest.mark.covers("hmm-supervised-counting", "hmm-discrete")
def test_known_states_are_counted(rng):
    truth = random_hmm(rng, k=2, m=3)
    draws = [truth.sample(n, random_state=rng) for n in (30, 20, 10)]
    names = [["cold" if z else "warm" for z in states] for states, _ in draws]
    model = HiddenMarkovModel(2, CategoricalEmission(symbols=[0, 1, 2])).fit(
        [x for _, x in draws], names
    )
    moves, shows, starts = np.zeros((2, 2)), np.zeros((2, 3)), np.zeros(2)
    for path, (_, symbols) in zip(names, draws, strict=True):
        codes = [model.states_.index(name) for name in path]
        starts[codes[0]] += 1
        np.add.at(shows, (codes, symbols), 1)
        np.add.at(moves, (codes[:-1], codes[1:]), 1)
    seen = len(model.states_)
    assert model.start_ == pytest.approx((starts / starts.sum())[:seen])
    for found, counts in ((model.transition_, moves), (model.emission_.table, shows)):
        sums = counts.sum(axis=1)
        for k in range(seen):
            if sums[k]:
                assert found[k] == pytest.approx(counts[k][: found.shape[1]] / sums[k])


@pytest.mark.covers("hmm-discrete")
def test_labels_of_some_steps_hold_their_states(rng):
    sequences = [np.r_[rng.normal(0, 1, 20), rng.normal(14, 1, 20)]]
    labels = [["low", *[None] * 38, "high"]]
    model = HiddenMarkovModel(2, random_state=1).fit(sequences, labels)
    assert model.states_ == ["high", "low"]
    path = model.predict(sequences)[0]
    assert path[0] == "low"
    assert path[-1] == "high"
    assert path.count("low") == 20


@pytest.mark.covers("hmm-continuous")
def test_log_densities_of_emissions_are_those_of_scipy(rng):
    rows = rng.normal(size=(6, 2))
    spread = np.array([np.cov(rng.normal(size=(2, 9))) for _ in range(3)])
    means = rng.normal(size=(3, 2))
    full = GaussianEmission("full", means=means, covariances=spread).log_likelihood(rows)
    slim = np.array([np.diag(np.diag(s)) for s in spread])
    diagonal = GaussianEmission("diagonal", means=means, covariances=slim).log_likelihood(rows)
    for k in range(3):
        assert full[:, k] == pytest.approx(multivariate_normal(means[k], spread[k]).logpdf(rows))
        assert diagonal[:, k] == pytest.approx(multivariate_normal(means[k], slim[k]).logpdf(rows))
    partly = rows.copy()
    partly[0, 1] = np.nan
    law = GaussianEmission("diagonal", means=means, covariances=slim)
    alone = norm(means[:, 0], np.sqrt(slim[:, 0, 0])).logpdf(rows[0, 0])
    assert law.log_likelihood(law.rows(partly))[0] == pytest.approx(alone)
    rates = rng.gamma(2, size=(2, 1))
    counts = rng.poisson(2, 5)
    found = PoissonEmission(rates).log_likelihood(counts[:, None].astype(float))
    assert found == pytest.approx(np.array([poisson(r[0]).logpmf(counts) for r in rates]).T)
    with pytest.raises(DataError, match="diagonal"):
        GaussianEmission("full").rows(partly)


@pytest.mark.covers("hmm-continuous")
def test_regimes_of_gaussians_are_found_again(rng):
    truth = HiddenMarkovModel.known(
        [0.5, 0.5],
        [[0.95, 0.05], [0.1, 0.9]],
        GaussianEmission(means=[[0.0], [8.0]], covariances=[[[1.0]], [[1.0]]]),
    )
    states, series = truth.sample(1500, random_state=rng)
    model = HiddenMarkovModel(2, n_init=2, random_state=int(rng.integers(1e6))).fit([series])
    order = np.argsort(model.emission_.means[:, 0])
    assert model.emission_.means[order, 0] == pytest.approx([0, 8], abs=0.4)
    assert model.transition_[order][:, order] == pytest.approx(truth.transition_, abs=0.08)
    found = np.argsort(order)[model.predict([series])[0]]
    assert np.mean(found == states) > 0.99


@pytest.mark.covers("hmm-viterbi-training")
def test_viterbi_training_never_lowers_the_best_joint_probability(rng):
    sequences = data_for("gaussian", rng)
    with quiet():
        model = HiddenMarkovModel(
            2, GaussianEmission("diagonal"), training="viterbi", max_iter=20, random_state=0
        ).fit(sequences)
    assert np.diff(model.history_).min() > -1e-6 * abs(model.history_[0])
    assert model.decode(sequences)[1].sum() == pytest.approx(model.history_[-1])


def test_an_impossible_observation_is_named_with_its_place():
    model = HiddenMarkovModel.known(
        [1, 0], [[0.5, 0.5], [0, 1]], CategoricalEmission([[1, 0, 0], [0, 1, 0]])
    )
    assert model.log_likelihood([[0, 2], [0, 1]]).tolist() == [-np.inf, pytest.approx(np.log(0.5))]
    for call in (model.smooth, model.filter, model.predict):
        with pytest.raises(DataError, match="observation 1 of sequence 1 is impossible"):
            call([[0, 1], [0, 2]])
    with pytest.raises(DataError, match="sequence 0: 'x' at position 1"):
        model.predict([[0, "x"]])
    with pytest.raises(DataError, match=r"sums to 0\.9"):
        HiddenMarkovModel.known([0.5, 0.4], np.eye(2), CategoricalEmission(np.eye(2)))


@pytest.mark.covers("hmm-scaled-forward-backward")
def test_a_state_that_is_far_less_likely_than_an_unreachable_one_does_not_underflow():
    law = GaussianEmission(means=[[0.0], [100.0]], covariances=[[[1.0]], [[1.0]]])
    model = HiddenMarkovModel.known([1, 0], np.eye(2), law)
    far = [[0.0, 100.0]]
    expected = norm.logpdf([0.0, 100.0]).sum()
    assert model.score(far) == pytest.approx(expected)
    assert model.smooth(far)[0].tolist() == model.filter(far)[0].tolist() == [[1, 0], [1, 0]]
    assert model.predict(far) == [[0, 0]]


def test_models_are_saved_and_loaded(rng, tmp_path):
    for emission in ("categorical", "gaussian", "poisson"):
        sequences = data_for(emission, rng)
        with quiet():
            model = HiddenMarkovModel(2, emission, max_iter=3, random_state=0).fit(sequences)
        back = gnomon.load(model.save(tmp_path / f"{emission}.gnomon"))
        assert back.score(sequences) == model.score(sequences)
    labels = ["a", "b", "a"]
    with quiet():
        machine = HMMClassifier(HiddenMarkovModel(1, "poisson")).fit(sequences, labels)
    back = gnomon.load(machine.save(tmp_path / "classes.gnomon"))
    assert np.array_equal(back.predict_proba(sequences), machine.predict_proba(sequences))


@pytest.mark.covers("hmm-classifier")
def test_classes_follow_bayes_rule_of_their_models(rng):
    one, two = random_hmm(rng), random_hmm(rng)
    texts = [one.sample(25, random_state=rng)[1] for _ in range(8)]
    texts += [two.sample(30, random_state=rng)[1] for _ in range(4)]
    labels = ["one"] * 8 + ["two"] * 4
    prototype = HiddenMarkovModel(2, "categorical", alpha=0.5, max_iter=10, random_state=0)
    with quiet():
        machine = HMMClassifier(prototype).fit(texts, labels)
    scores = np.column_stack([m.log_likelihood(texts) for m in machine.models_])
    joint = scores + np.log([8 / 12, 4 / 12])
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert machine.predict_proba(texts) == pytest.approx(expected)
    with quiet():
        even = HMMClassifier(prototype, priors={"one": 1, "two": 1}).fit(texts, labels)
    assert even.log_priors_ == pytest.approx(np.log([0.5, 0.5]))


@pytest.mark.covers("hmm-discriminative-training")
def test_gradient_of_the_discriminative_fit_is_that_of_differences_and_it_raises_the_posterior(rng):
    model = random_hmm(rng, k=2, m=3)
    texts = [model.sample(6, random_state=rng)[1] for _ in range(3)]
    weights = rng.normal(size=3)
    at = _free_numbers(model)
    slope = _likelihood_slope(model, texts, weights)

    def value(numbers):
        _set_free_numbers(model, numbers)
        return float(weights @ model.log_likelihood(texts))

    step = 1e-5
    for j in range(len(at)):
        nudge = np.zeros(len(at))
        nudge[j] = step
        difference = (value(at + nudge) - value(at - nudge)) / (2 * step)
        assert slope[j] == pytest.approx(difference, abs=1e-5)
    other = random_hmm(rng, k=2, m=3)
    texts = [m.sample(10, random_state=rng)[1] for m in (model, other) for _ in range(10)]
    labels = [0] * 10 + [1] * 10
    prototype = HiddenMarkovModel(
        2, CategoricalEmission(symbols=[0, 1, 2], alpha=0.5), alpha=0.5, max_iter=10, random_state=0
    )
    with quiet():
        plain = HMMClassifier(prototype).fit(texts, labels)
        sharp = HMMClassifier(prototype, discriminative=True).fit(texts, labels)

    def posterior(machine):
        return np.log(machine.predict_proba(texts)[np.arange(20), labels]).sum()

    assert posterior(sharp) >= posterior(plain) - 1e-9


@pytest.mark.covers("speaker-adaptation-mllr")
def test_adapted_means_find_the_map_of_a_new_speaker_and_raise_the_likelihood(rng):
    means = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    model = HiddenMarkovModel.known(
        np.full(4, 0.25),
        np.full((4, 4), 0.25),
        GaussianEmission("diagonal", means=means, covariances=np.tile(np.eye(2), (4, 1, 1))),
    )
    turn, shift = np.array([[1.1, 0.1], [-0.1, 0.95]]), np.array([0.8, -0.5])
    speaker = HiddenMarkovModel.known(
        model.start_,
        model.transition_,
        GaussianEmission(
            "diagonal", means=means @ turn.T + shift, covariances=model.emission_.covariances
        ),
    )
    said = [speaker.sample(400, random_state=rng)[1]]
    scores = [adapt_means(model, said, n_iter=n).score(said) for n in (0, 1, 3, 6)]
    assert scores[0] == model.score(said)
    assert np.diff(scores).min() > -1e-8
    assert adapt_means(model, said).emission_.means == pytest.approx(
        speaker.emission_.means, abs=0.5
    )


@pytest.mark.covers("hmm-autoregressive")
def test_weights_on_lags_of_two_regimes_are_found_again(rng):
    truth = HiddenMarkovModel.known(
        [0.5, 0.5],
        [[0.98, 0.02], [0.02, 0.98]],
        LagEmission(1, weights=[[[0.0], [0.9]], [[0.0], [-0.9]]], covariances=[[[1.0]], [[1.0]]]),
    )
    _, series = truth.sample(3000, random_state=rng)
    with quiet():
        model = HiddenMarkovModel(
            2, LagEmission(1), n_init=4, random_state=int(rng.integers(1e6))
        ).fit([series])
    assert np.sort(model.emission_.weights[:, 1, 0]) == pytest.approx([-0.9, 0.9], abs=0.15)


@pytest.mark.covers("hmm-explicit-duration")
def test_duration_model_is_the_sum_over_all_stays(rng):
    k, longest, n = 2, 3, 5
    model = DurationHMM(k, max_duration=longest)
    model.start_ = random_rows(rng, (k,))
    model.transition_ = np.array([[0.0, 1.0], [1.0, 0.0]])
    model.durations_ = random_rows(rng, (k, longest))
    model.emission_ = CategoricalEmission(random_rows(rng, (k, 3)))
    sequence = rng.integers(0, 3, n).tolist()
    table = model.emission_.table

    def total(at, state):
        """p(the rest from a stay in `state` that begins at `at`)."""
        if at >= n:
            return 1.0
        found = 0.0
        for stay in range(1, longest + 1):
            seen = sequence[at : at + stay]
            shown = np.prod(table[state, seen])
            onward = 1.0 if at + stay >= n else total(at + stay, 1 - state)
            found += model.durations_[state, stay - 1] * shown * onward
        return found

    expected = sum(model.start_[s] * total(0, s) for s in range(k))
    assert model.score([sequence]) == pytest.approx(np.log(expected))


@pytest.mark.covers("hmm-explicit-duration")
def test_durations_are_learned_and_no_step_lowers_the_likelihood(rng):
    series = np.concatenate([np.repeat([0.0, 6.0], 4) for _ in range(12)])
    series += rng.normal(0, 0.3, len(series))
    model = DurationHMM(2, max_duration=6, tol=0, max_iter=20, random_state=0).fit(
        [series, series[:21]]
    )
    assert np.diff(model.history_).min() > -1e-6 * abs(model.history_[0])
    assert model.durations_[:, 3].min() > 0.8
    states, shown = model.sample(40, random_state=rng)
    assert len(states) == len(shown) == 40
