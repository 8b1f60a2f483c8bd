"""What members say of rows that they have not learnt from, and how well they do on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.parameters import whole
from gnomon.ensemble.base import Training
from gnomon.ensemble.lots import Fold, Part
from gnomon.ensemble.member import Member, fit_member, seeded

SMALLEST = 1e-15  # keeps a loss finite: 34.5 where a member is sure and wrong
FOLDS = [whole(2), list, tuple]


class Entries(NamedTuple):
    """Held-out rows of one or several folds, one after the other.

    Attributes
    ----------
    positions : ndarray of int
        Rows; one whose weight lies in several folds stands in each.
    weights : ndarray of float
    """

    positions: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, parts: list[Part]) -> Entries:
        return cls(
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.weight_array for part in parts]),
        )


def say(member: Member, rows, n_classes: int) -> np.ndarray:
    """Probabilities (n, n_classes) of a classifier, or estimates (n, 1) where there are no
    classes.
    """
    if n_classes:
        return member.proba(rows, n_classes)
    return member.estimate(rows)[:, None]


def out_of_fold(
    learner,
    name: str,
    training: Training,
    folds: list[Fold],
    n_classes: int,
    seed: int,
    saying: Callable[[Member, Any, int], np.ndarray] = say,
) -> tuple[np.ndarray, list[Member]]:
    """A learner fitted on each fold: what it says of the entries left out, and the fold members."""
    said, members = [], []
    for number, fold in enumerate(folds):
        fresh = seeded(learner, seed, False)
        member = fit_member(fresh, name, training, fold.learn, seed=seed + number)
        said.append(saying(member, training.rows[fold.held.positions], n_classes))
        members.append(member)
    return np.vstack(said), members


def loss_of(said: np.ndarray, y: np.ndarray, measure: str) -> np.ndarray:
    """Loss per row: "error", "log_loss" or "brier" of probabilities; "squared", "absolute" of
    numbers.
    """
    if measure == "squared":
        return (said[:, 0] - y) ** 2
    if measure == "absolute":
        return np.abs(said[:, 0] - y)
    right = said[np.arange(len(y)), y]
    if measure == "log_loss":
        return -np.log(np.maximum(right, SMALLEST))
    if measure == "brier":
        return (said**2).sum(axis=1) - 2 * right + 1
    return (said.argmax(axis=1) != y).astype(np.float64)


def mean_loss(said: np.ndarray, y: np.ndarray, weights: np.ndarray, measure: str) -> float:
    """Weighted mean of the loss."""
    return float(weights @ loss_of(said, y, measure) / weights.sum())
