"""Whether rows without a target help: compared on folds of the labeled rows, used only if so.

The chosen learner is compared with two ways to use the rows without a target, its self-training and
harmonic functions on a graph of neighbors, on the same folds. A way is taken only where the mean
difference of accuracy is positive beyond chance (corrected t test, both tests together at 0.05).
Texts: 004 17.1, 17.1.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from gnomon.engine.errors import GnomonWarning
from gnomon.evaluate import corrected_t_test
from gnomon.semi import HarmonicLabelPropagation, SelfTrainingClassifier
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import stacked

FOLDS = 10  # judgement: few labels: ten folds leave nine tenths of them for learning
LEVEL = 0.05  # of both tests together
FEWEST_UNLABELED = 20  # judgement: fewer rows add next to nothing to what labels say
MOST_LABELED = 2_000  # beyond it the labels say nearly all
MOST_ROWS = 20_000  # judgement: graphs of neighbors are solved in each of ten folds


@dataclass(frozen=True)
class UnlabeledUse:
    """What the comparison of one way to use unlabeled rows gave.

    Attributes
    ----------
    name : str
    learner : estimator
        Not fitted.
    difference : Estimate
        Accuracy with the unlabeled rows minus accuracy without, over the folds.
    p : float
    """

    name: str
    learner: Any
    difference: Any
    p: float

    @property
    def helps(self) -> bool:
        """Whether the difference is positive beyond chance."""
        return bool(self.difference.value > 0 and self.p < LEVEL / len(WAYS))

    def __str__(self) -> str:
        shown = f"{100 * self.difference.value:+.1f} points of accuracy"
        return f"{self.name}: {shown} on {FOLDS} folds (p {self.p:.2g})"


def self_training(learner: Any) -> Any:
    """The chosen learner, which labels rows that it is sure of."""
    if not hasattr(learner, "predict_proba"):
        return None
    return SelfTrainingClassifier(clone(learner), threshold=0.9)


def harmonic(learner: Any) -> Any:
    """Harmonic functions on the graph of neighbors in standard units."""
    return HarmonicLabelPropagation(metric="standardized", tol=1e-6)


WAYS = {"self-training": self_training, "harmonic functions": harmonic}


def usable(n_labeled: int, n_unlabeled: int, y: np.ndarray) -> str:
    """Why unlabeled rows are not tried; empty where they are."""
    if n_unlabeled < FEWEST_UNLABELED:
        return f"fewer than {FEWEST_UNLABELED} rows"
    if n_labeled > MOST_LABELED or n_labeled + n_unlabeled > MOST_ROWS:
        return f"more than {MOST_LABELED:,} labels, or {MOST_ROWS:,} rows in all"
    if np.unique(y, return_counts=True)[1].min() < FOLDS:
        return f"a class has fewer than {FOLDS} labeled rows, so that folds cannot be compared"
    return ""


def joined(one: Table, other: Table) -> Table:
    """The rows of two tables of the same columns, one after the other."""
    return Table(stacked(one, other), one.schema)


def with_marks(y: np.ndarray, n_unlabeled: int) -> np.ndarray:
    """Labels followed by missing ones."""
    labels = np.empty(len(y) + n_unlabeled, dtype=object)
    labels[: len(y)] = y.tolist()
    return labels


def compared(
    learner: Any, rows: Table, y: np.ndarray, unlabeled: Table, random_state: int
) -> list[UnlabeledUse]:
    """Every way to use unlabeled rows against the learner of labels alone, on the same folds.

    Parameters
    ----------
    learner : classifier
        Not fitted.
    rows, unlabeled : Table
        Inputs with and without a known target.
    y : ndarray
    random_state : int

    Returns
    -------
    uses : list of UnlabeledUse
    """
    folds = list(
        StratifiedKFold(FOLDS, shuffle=True, random_state=random_state).split(
            np.zeros((len(y), 1)), y
        )
    )
    alone = [_accuracy(clone(learner).fit(rows[a], y[a]), rows[b], y[b]) for a, b in folds]
    found = []
    for name, way in WAYS.items():
        candidate = way(learner)
        if candidate is None:
            continue
        scores = []
        for a, b in folds:
            model = fit_with(clone(candidate), rows[a], y[a], unlabeled)
            scores.append(_accuracy(model, rows[b], y[b]))
        test = corrected_t_test(scores, alone, 1 / (FOLDS - 1))
        found.append(UnlabeledUse(name, candidate, test.difference, float(test.p)))
    return found


def fit_with(model: Any, rows: Table, y: np.ndarray, unlabeled: Table) -> Any:
    """The model fitted to labeled and unlabeled rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)  # rows that no label reaches
        return model.fit(joined(rows, unlabeled), with_marks(y, len(unlabeled)))


def _accuracy(model: Any, rows: Table, y: np.ndarray) -> float:
    return float((np.asarray(model.predict(rows)) == y).mean())
