"""The recipe for signals: representation checked first, then a forest and a vote."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.workbench.workflows.signals import signal_recipe


def waves(rng, n: int, pace: float, noise: float = 0.2) -> list[np.ndarray]:
    """Two channels of unequal length, of one pace and any phase."""
    found = []
    for _ in range(n):
        steps = np.arange(rng.integers(70, 140)) * pace + rng.uniform(0, 6)
        found.append(
            np.column_stack([np.sin(steps), np.cos(steps)])
            + noise * rng.normal(size=(len(steps), 2))
        )
    return found


@pytest.mark.covers("signal-recipe")
def test_signals_of_three_paces_are_told_apart_whatever_their_length(rng):
    signals = waves(rng, 20, 0.2) + waves(rng, 20, 0.7) + waves(rng, 20, 1.6)
    labels = np.repeat(["slow", "middle", "fast"], 20)
    found = signal_recipe(signals, labels, sizes=(4, 16), n_entries=20)
    place = found.sizes.index(found.chosen)
    assert found.within[place] < found.between[place]
    assert found.nearest[place].value == max(each.value for each in found.nearest)
    assert found.vote.value > 0.9
    assert found.vote.value == np.trace(found.confusion.counts) / len(labels)
    assert found.commonest == pytest.approx(1 / 3)
    new = waves(rng, 10, 0.2) + waves(rng, 10, 1.6)
    right = found.model.predict(new) == np.repeat(["slow", "fast"], 10)
    assert right.mean() > 0.8
    assert len(found._remarks()) == 1


@pytest.mark.covers("signal-recipe")
def test_labels_that_signals_know_nothing_of_are_said_to_be_guessed(rng):
    signals = waves(rng, 20, 0.5)
    labels = rng.permutation(np.repeat([0, 1], 10))  # each signal is there with either label
    both = np.concatenate([labels, 1 - labels])
    found = signal_recipe(signals + signals, both, sizes=(8,), n_entries=10)
    assert found.nearest[0].low <= found.commonest
    assert "no better than guessing" in str(found)


@pytest.mark.covers("signal-recipe")
def test_signals_of_one_person_stay_in_one_fold(rng):
    """With each signal there twice, folds that part the copies are fooled; groups are not."""
    signals = waves(rng, 24, 0.5)
    labels = rng.permutation(np.repeat([0, 1], 12))
    doubled, twice = signals + signals, np.tile(labels, 2)
    fooled = signal_recipe(doubled, twice, sizes=(8,), n_entries=30)
    honest = signal_recipe(doubled, twice, sizes=(8,), n_entries=30, groups=np.tile(range(24), 2))
    assert fooled.nearest[0].value > honest.nearest[0].value


def test_signals_that_are_too_short_or_have_no_label_are_refused(rng):
    signals = waves(rng, 6, 0.5)
    labels = [0, 0, 0, 1, 1, 1]
    with pytest.raises(DataError, match="the shortest"):
        signal_recipe(signals, labels, sizes=(500,))
    with pytest.raises(DataError, match="6 signals and 5 labels"):
        signal_recipe(signals, labels[:5])
    with pytest.raises(DataError, match="one class"):
        signal_recipe(signals, [0] * 6)
