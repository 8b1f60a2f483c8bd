"""Pictures of sequences show what the models say."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.sequence import CategoricalEmission, HiddenMarkovModel, MarkovChain
from gnomon.show import chain_graph, state_probabilities, state_trellis, trellis_replay


@pytest.fixture
def model():
    law = CategoricalEmission([[0.5, 0.5], [0.1, 0.9]], ["a", "b"])
    return HiddenMarkovModel.known([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], law, ["calm", "wild"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_graph_of_a_chain_names_its_classes_and_writes_every_probability(theme):
    chain = MarkovChain([[0.25, 0.5, 0.25], [0, 1, 0], [0, 0, 1]], ["x", "y", "z"])
    figure = chain_graph(chain, theme=theme)
    written = [note.text for note in figure.layout.annotations if note.text]
    assert sorted(written) == ["0.25", "0.25", "0.5", "1", "1"]
    legends = [trace.name for trace in figure.data if trace.name]
    assert legends == [
        "closed, period 1: y",
        "closed, period 1: z",
        "transient: x",
        "absorbing (double circle)",
    ]
    with pytest.raises(ValueError, match="at most 20"):
        chain_graph(MarkovChain(np.eye(21)))


def test_areas_of_states_are_their_probabilities(model):
    smooth = model.smooth(["abba"])[0]
    figure = state_probabilities(smooth, model.states_, path=model.predict(["abba"])[0])
    assert np.column_stack([figure.data[k].y for k in range(2)]) == pytest.approx(smooth)


def test_trellis_draws_the_best_path(model):
    figure = state_trellis(model, "abba")
    drawn = next(trace for trace in figure.data if trace.name == "best path (Viterbi)")
    assert [model.states_[k] for k in drawn.y] == model.predict(["abba"])[0]


@pytest.mark.covers("trellis-diagram")
def test_replay_of_the_trellis_ends_in_the_best_path_and_writes_costs_to_go(model):
    nodes, edges = model.costs("abba")
    figure = trellis_replay(nodes, edges, model.states_)
    assert len(figure.frames) == 5
    assert len(figure.frames[3].data[1].x or ()) == 0
    assert [model.states_[k] for k in figure.frames[-1].data[1].y] == model.predict(["abba"])[0]
    first = [float(text) for text in figure.frames[-1].data[2].text[:2]]
    assert min(first) == pytest.approx(-model.decode(["abba"])[1][0], abs=0.006)
    assert figure.frames[0].data[2].text[:2] == ("", "")
    with pytest.raises(ValueError, match="cannot be read"):
        trellis_replay(np.zeros((50, 2)), np.zeros((2, 2)))
