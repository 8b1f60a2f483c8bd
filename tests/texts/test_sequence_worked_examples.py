"""Worked examples of the texts on chains, hidden Markov models and random fields."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    MarkovChain,
    MarkovModel,
    least_cost_path,
    posteriors,
)


@pytest.mark.covers("markov-chain")
def test_virus_of_000b_worked_example_13_5():
    for rate, two, twenty in (
        (0.2, [0.66, 0.17, 0.17], [0.3339, 0.3331, 0.3331]),
        (0.9, [0.4150, 0.2925, 0.2925], [0.3333, 0.3333, 0.3333]),
    ):
        table = np.full((3, 3), rate / 2) + np.eye(3) * (1 - 1.5 * rate)
        chain = MarkovChain(table, ["one", "two", "three"])
        assert chain.distribution(2, "one") == pytest.approx(two, abs=5e-5)
        assert chain.distribution(20, "one") == pytest.approx(twenty, abs=5e-5)


@pytest.mark.covers("markov-chain-simulation", "absorption-probability")
def test_coin_until_two_heads_of_000b_worked_example_13_3(rng):
    coin = MarkovChain([[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0, 1]], ["start", "H", "HH"], [1, 0, 0])
    ended = [coin.distribution(n)[2] for n in range(13)]
    assert np.diff(ended)[1:5] == pytest.approx([1 / 4, 1 / 8, 1 / 8, 3 / 32])
    assert 1 - ended[10] == pytest.approx(9 / 64)
    assert coin.hitting_time(["HH"])[0] == pytest.approx(6)
    more = coin.event_probability(lambda p: p[:, 10] != 2, 10, 20_000, random_state=rng)
    assert more.value == pytest.approx(9 / 64, abs=5 * 0.35 / 20_000**0.5)


@pytest.mark.covers("absorption-probability")
def test_die_until_five_then_six_of_000b_problem_13_1():
    die = MarkovChain([[5 / 6, 1 / 6, 0], [4 / 6, 1 / 6, 1 / 6], [0, 0, 1]], start=[1, 0, 0])
    ended = np.diff([die.distribution(n)[2] for n in range(8)])
    assert ended[1:4] == pytest.approx([1 / 36, 1 / 36, 35 / 1296])
    # the printed recurrence is wrong; this one holds
    assert ended[2:] == pytest.approx(ended[1:-1] - np.r_[0, ended[1:-2]] / 36)


@pytest.mark.covers("stationary-distribution", "markov-power-method")
def test_two_states_of_003_converge_geometrically():
    chain = MarkovChain([[0.5, 0.5], [0.8, 0.2]], start=[1, 0])
    assert chain.stationary() == pytest.approx([8 / 13, 5 / 13])
    for t in range(6):
        assert abs(chain.distribution(t)[0] - 8 / 13) == pytest.approx(5 / 13 * 0.3**t)


@pytest.mark.covers("markov-chain")
def test_number_of_parameters_of_order_m_is_repaired():
    assert MarkovModel(2).fit(["abcabc"]).n_parameters == 3**2 * 2


@pytest.mark.covers(
    "hmm-likelihood", "viterbi", "hmm-forward-backward", "baum-welch", "hmm-prediction"
)
def test_small_model_of_001():
    start, moves = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
    law = CategoricalEmission([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    model = HiddenMarkovModel.known(start, moves, law)
    seen = [[0, 1, 2]]
    assert np.exp(model.score(seen)) == pytest.approx(0.03628, abs=1e-8)
    expected = [[0.876516, 0.123484], [0.622933, 0.377067], [0.212128, 0.787872]]
    assert model.smooth(seen)[0] == pytest.approx(np.array(expected), abs=1e-6)
    paths, joint = model.decode(seen)
    assert paths == [[0, 0, 1]]
    assert np.exp(joint[0]) == pytest.approx(0.01512)
    assert model.predict_observation(seen[0]).symbols == pytest.approx(
        [0.285455, 0.346364, 0.368181], abs=1e-6
    )
    step = HiddenMarkovModel(emission=law, start=start, transition=moves, max_iter=1, tol=0)
    with pytest.warns(UserWarning, match="did not converge"):
        step.fit(seen)
    assert step.transition_ == pytest.approx(
        np.array([[0.502353, 0.497647], [0.163436, 0.836564]]), abs=1e-6
    )
    assert step.emission_.table[0] == pytest.approx([0.512110, 0.363953, 0.123937], abs=1e-6)
    assert step.history_ == pytest.approx([-3.316489, -2.708301], abs=1e-6)


@pytest.mark.covers("baum-welch", "viterbi")
def test_small_model_of_000b():
    start, moves = [0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]]
    law = CategoricalEmission([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    model = HiddenMarkovModel.known(start, moves, law)
    seen = [[0, 1, 2, 2, 0]]
    assert np.exp(model.score(seen)) == pytest.approx(0.00353014, abs=1e-8)
    assert model.predict(seen) == [[0, 0, 1, 1, 0]]
    assert model.smooth(seen)[0][:, 0] == pytest.approx(
        [0.855009, 0.519968, 0.114252, 0.123124, 0.600557], abs=1e-6
    )
    step = HiddenMarkovModel(emission=law, start=start, transition=moves, max_iter=1, tol=0)
    with pytest.warns(UserWarning, match="did not converge"):
        step.fit(seen)
    assert step.start_ == pytest.approx([0.855009, 0.144991], abs=1e-6)
    assert step.transition_ == pytest.approx(
        np.array([[0.476210, 0.523790], [0.247140, 0.752860]]), abs=1e-6
    )
    assert step.emission_.table[1] == pytest.approx([0.195341, 0.172234, 0.632424], abs=1e-6)


@pytest.mark.covers("hmm-supervised-counting")
def test_counting_of_000c_problem_14_1():
    pairs = [
        ("111111000000", "aaaaaabbbbbb"),
        ("000000111111", "bbbbbbaaaaaa"),
        ("0001111000", "bbbaaaabbb"),
        ("000000", "aaaaaa"),
        ("111111", "bbbbbb"),
    ]
    model = HiddenMarkovModel(2, "categorical").fit([y for _, y in pairs], [x for x, _ in pairs])
    assert model.states_ == ["0", "1"]
    assert model.start_ == pytest.approx([0.6, 0.4])
    assert model.transition_ == pytest.approx(np.array([[19 / 21, 2 / 21], [0.1, 0.9]]))
    assert model.emission_.table[:, 0] == pytest.approx([0.25, 16 / 22])
    seen, path = "aaaaaabbbabb", "111111000000"
    assert model.predict([seen]) == [list(path)]
    joint = model.log_joint(seen, path)
    assert np.exp(joint) == pytest.approx(1.2571127e-4, rel=1e-6)
    assert np.exp(joint - model.score([seen])) == pytest.approx(0.31948374, rel=1e-6)


@pytest.mark.covers("crf-linear-chain")
def test_costs_of_a_chain_of_000c():
    nodes = np.array([[0, 1], [0.5, 0], [1, 0.2]])
    edges = np.array([[0, 1], [2, 0.5]])
    best = least_cost_path(nodes, edges)
    assert (best.path.tolist(), best.cost) == ([0, 0, 0], 1.5)
    found = posteriors(np.ones(2), np.exp(-edges), -nodes, np.array([0, 3]))
    assert found.log_likelihood[0] == pytest.approx(-0.28911072)
    assert found.states[:, 1] == pytest.approx([0.18975948, 0.43116397, 0.64794567])
