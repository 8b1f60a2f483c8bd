"""Invariances of hidden Markov models and chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.sequence import CategoricalEmission, HiddenMarkovModel, MarkovChain, NGramModel


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 40))
def test_renaming_hidden_states_changes_no_likelihood(seed, k, length):
    rng = np.random.default_rng(seed)
    start, moves = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k)
    table = rng.dirichlet(np.ones(3), k)
    order = rng.permutation(k)
    one = HiddenMarkovModel.known(start, moves, CategoricalEmission(table))
    other = HiddenMarkovModel.known(
        start[order], moves[np.ix_(order, order)], CategoricalEmission(table[order])
    )
    seen = [rng.integers(0, 3, length)]
    assert other.score(seen) == pytest.approx(one.score(seen))
    assert other.smooth(seen)[0] == pytest.approx(one.smooth(seen)[0][:, order], abs=1e-9)
    assert one.decode(seen)[1][0] <= one.score(seen) + 1e-9


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_every_chain_has_an_equilibrium_in_each_closed_class(seed, n):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    table[np.arange(n), rng.integers(0, n, n)] += 0.5
    table /= table.sum(axis=1, keepdims=True)
    chain = MarkovChain(table)
    found = chain.stationary_of_classes()
    assert len(found) == sum(chain.structure().closed)
    assert found @ table == pytest.approx(found)
    assert chain.absorption().probability.sum(axis=1) == pytest.approx(1)


@given(st.lists(st.text("abc", min_size=1, max_size=20), min_size=1, max_size=4), st.integers(1, 3))
def test_a_smoothed_ngram_model_gives_every_text_a_chance(texts, n):
    model = NGramModel(n, alphabet="abcd").fit(texts)
    assert np.isfinite(model.log_likelihood("dcbad"))
