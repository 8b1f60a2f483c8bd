"""Selection of features against scikit-learn's, with the same learner and number of folds."""

from typing import NamedTuple

import numpy as np
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, Ridge

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED
from gnomon.select import Forward, RecursiveElimination, WrapperSelector

USEFUL = 5


class Task(NamedTuple):
    rows: np.ndarray
    y: np.ndarray


def straight(n: int) -> Task:
    """Thirty columns, five of which make the target."""
    rng = np.random.default_rng(SEED)
    rows = rng.normal(size=(n, 30))
    return Task(rows, rows[:, :USEFUL] @ np.arange(1.0, USEFUL + 1) + rng.normal(size=n))


def explained(selector, task: Task) -> float:
    """Share of the variance that least squares on the chosen columns explains."""
    rows = task.rows[:, selector.get_support()]
    return float(LinearRegression().fit(rows, task.y).score(rows, task.y))


Duel(
    name="forward selection of 5 of 30 columns, least squares, 5 folds",
    peer="scikit-learn SequentialFeatureSelector",
    data=straight,
    ours=lambda task: WrapperSelector(search=Forward(most=USEFUL), random_state=0).fit(*task),
    theirs=lambda task: SequentialFeatureSelector(
        LinearRegression(), n_features_to_select=USEFUL, cv=5
    ).fit(*task),
    quality=explained,
    tolerance=1e-3,
    sizes=(10**4, 10**5),
    repeats=3,
)

Duel(
    name="recursive elimination of 30 columns, number by 5 folds",
    peer="scikit-learn RFECV",
    data=straight,
    ours=lambda task: RecursiveElimination(step=1, random_state=0).fit(*task),
    theirs=lambda task: RFECV(Ridge(), step=1, cv=5).fit(*task),
    quality=explained,
    tolerance=1e-3,
    sizes=(10**4, 10**5),
    repeats=3,
)
