"""Measures under scikit-learn's names give its numbers, and an interval where one is asked for."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn import metrics

from gnomon import evaluate
from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError

LABELS = ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "cohen_kappa"]
SCORES = ["roc_auc", "average_precision"]


def problem(name: str, rng) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, 60)
    if name == "r2":
        return y + rng.normal(size=60), y.astype(float)
    noisy = y + rng.normal(size=60)
    return (y, noisy) if name in SCORES else (y, (noisy > 0.5).astype(int))


@pytest.mark.parametrize("name", [*LABELS, *SCORES, "r2"])
def test_a_score_is_that_of_scikit_learn_and_the_value_of_its_estimate(name, rng):
    ours, theirs = (getattr(each, f"{name}_score") for each in (evaluate, metrics))
    y, answer = problem(name, rng)
    weights = rng.integers(1, 4, 60)
    assert ours(y, answer) == theirs(y, answer)
    weighted = ours(y, answer, sample_weight=weights)
    assert weighted == theirs(y, answer, sample_weight=weights)
    found = ours(y, answer, sample_weight=weights, confidence_level=0.9)
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(weighted)
    assert found.low <= found.value <= found.high
    taken = list(inspect.signature(ours).parameters)
    assert taken == [*inspect.signature(theirs).parameters, "confidence_level"]


def test_an_interval_of_another_kind_of_score_is_refused(rng):
    y, answer = problem("f1", rng)
    assert evaluate.f1_score(y, answer, average="macro") > 0
    with pytest.raises(DataError, match="average"):
        evaluate.f1_score(y, answer, average="macro", confidence_level=0.95)
