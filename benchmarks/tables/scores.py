"""Scores on test rows with standard errors, and the error of a difference of two, by bootstrap."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.tables.peers import Said

DRAWS = 200
LOWER_IS_BETTER = ("rmse", "log_loss")


def score(measure: str, y: np.ndarray, said: Said, rows: np.ndarray) -> float:
    """A measure on some of the test rows, greater for better; NaN where it cannot be taken."""
    y = y[rows]
    if measure == "rmse":
        return -float(np.sqrt(np.mean((y - said.predictions[rows]) ** 2)))
    if measure == "auc" and said.scores is not None:
        positive = y == said.classes[1]
        if positive.all() or not positive.any():
            return np.nan
        return float(roc_auc_score(positive, said.scores[rows, 1]))
    if measure == "log_loss":
        if said.scores is None or said.scores.min() < 0:
            return np.nan
        places = {name: place for place, name in enumerate(said.classes)}
        columns = np.array([places.get(each, -1) for each in y])
        given = np.where(columns >= 0, said.scores[rows, columns], 0.0)
        return float(np.log(np.clip(given, 1e-15, 1.0)).mean())
    return float(np.mean(y == said.predictions[rows]))


def draws_of(n: int) -> list[np.ndarray]:
    """Rows of bootstrap samples, the same for every learner."""
    rng = np.random.default_rng(0)
    return [rng.integers(0, n, n) for _ in range(DRAWS)]


def compared(measure: str, y: np.ndarray, ours: Said, theirs: dict[str, Said]) -> dict:
    """Score and standard error of ours; of each peer also the gap in standard errors of the gap."""
    whole, draws = np.arange(len(y)), draws_of(len(y))
    mine = np.array([score(measure, y, ours, rows) for rows in draws])
    found = {
        "score": score(measure, y, ours, whole),
        "error_of_score": float(np.nanstd(mine)),
        "peers": {},
    }
    for name, said in theirs.items():
        other = score(measure, y, said, whole)
        if np.isnan(other):
            continue
        gaps = mine - np.array([score(measure, y, said, rows) for rows in draws])
        error = float(np.nanstd(gaps))
        gap = found["score"] - other
        found["peers"][name] = {
            "score": other,
            "behind": 0.0 if gap >= 0 else -gap / max(error, 1e-12),
        }
    return found
