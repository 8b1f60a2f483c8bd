"""The rest of the budget: boosting's settings for the final model, changed one at a time.

Folds compare learners with few settings each, as every fit is repeated there. Where boosting is
chosen and seconds are left, its settings are changed one after the other on one fold, and a change
is kept where the loss on the fold's test rows is less. These are training rows of the run, so the
test rows stay unseen. How many settings were tried is recorded: with as many, a repetition ends at
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.ensemble.held_out import loss_of
from gnomon.evaluate.fold_run import seeded
from gnomon.table import Table
from gnomon.trees.boosting_average import averaged

USUAL_RATE = 0.1  # scikit-learn's default learning_rate
# Judgement: so many leaves and rows of a leaf that most tables lie well inside.
LEAVES, LEAST_IN_LEAF = (4, 128), (5, 500)
STRENGTHS = (0.0, 10.0, 100.0)  # of l2_regularization; LightGBM smooths categories with 10
# Rounds without a gain that end a fit: of 75,000 rows 8 leaves stop after 285 to 367 rounds with 15
# (rmse 0.523 to 0.534), after 465 with 60 (0.519).
PATIENCE = 60
USUALLY_TRIED = 10  # settings until no change helps, on five tables
SLOWER = 1.5  # judgement: the next fit may take so much longer than the longest before it


# Of 75,000 rows rmse 0.522 with one, 0.516 with two, 0.513 with five (noise 0.5); 45,151, 44,700
# and 44,451 on California; log loss 0.2806, 0.2799 and 0.2798 on Adult.
MOST_COPIES = 5


@dataclass
class Refined:
    """The settings that did best.

    Attributes
    ----------
    learner : estimator
        Not fitted.
    tried : int
        Settings that were tried, the candidates of the usual search among them.
    changed : dict
        The settings that differ from the defaults of the portfolio, by name.
    seconds : float
        Of the fit with them.
    """

    learner: Any
    tried: int
    changed: dict[str, Any]
    seconds: float

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:.3g}" for name, value in self.changed.items())


def refined(
    candidates: list[Any],
    inputs: Table,
    y: np.ndarray,
    fold: tuple[np.ndarray, np.ndarray],
    scoring: str,
    random_state: int,
    goes_on: Callable[[int, float, float], bool],
) -> Refined:
    """Change settings one at a time, as long as there is time, and keep what lowers the loss.

    Parameters
    ----------
    candidates : list of estimator
        Boosting with the settings that are compared first.
    inputs : Table
    y : ndarray
    fold : (ndarray, ndarray)
        Rows to learn from and rows to judge by.
    scoring : str
        A loss of the search: of classes, "error" is judged by the finer "log_loss".
    random_state : int
    goes_on : callable
        ``goes_on(tried, longest, best)``: whether another fit may begin, by the seconds of the
        longest fit and of the best one so far.

    Returns
    -------
    refined : Refined
    """
    learnt, held = fold
    rows, values, asked, truth = inputs[learnt], y[learnt], inputs[held], y[held]
    measure = "log_loss" if scoring == "error" else scoring
    longest = 0.0

    def judged(learner: Any) -> tuple[float, float]:
        nonlocal longest
        begin = perf_counter()
        model = seeded(learner, random_state, 0).fit(rows, values)
        seconds = perf_counter() - begin
        longest = max(longest, seconds)
        return mean_loss(model, asked, truth, measure), seconds

    # seeds are given for every fit: one that is set already would make all copies equal
    unseeded = {"n_iter_no_change": PATIENCE, "random_state": None}
    candidates = [clone(each).set_params(**unseeded) for each in candidates]
    found = [(*judged(each), each) for each in candidates]
    best = [min(found, key=lambda each: each[0])]
    usual, tried = best[0][2].get_params(), len(candidates)
    seen = {settings_of(each) for each in candidates}
    for params in changes(lambda: best[-1][2], seen):
        loss, seconds, learner = best[-1]
        if not goes_on(tried, longest, seconds):
            break
        learner = clone(learner).set_params(**params)
        tried += 1
        new, took = judged(learner)
        if new < loss:
            best.append((new, took, learner))
    _, seconds, learner = best[-1]
    now = learner.get_params()
    changed = {n: now[n] for n in TUNED if n == "max_leaf_nodes" or now[n] != usual[n]}
    return Refined(learner, tried, changed, seconds)


def averaged_fits(
    learner: Any,
    inputs: Table,
    y: np.ndarray,
    random_state: int,
    goes_on: Callable[[int, float], bool],
) -> tuple[Any, int]:
    """Boosting fitted with one seed after the other, averaged to one model.

    Parameters
    ----------
    learner : estimator
    inputs : Table
    y : ndarray
    random_state : int
    goes_on : callable
        ``goes_on(made, longest)``: whether another fit may begin.

    Returns
    -------
    model : fitted estimator
    made : int
        Fits of which it is the average.
    """
    models: list[Any] = []
    longest = 0.0
    while not models or goes_on(len(models), longest):
        begin = perf_counter()
        models.append(seeded(learner, random_state, len(models)).fit(inputs, y))
        longest = max(longest, perf_counter() - begin)
    return averaged(models), len(models)


TUNED = (
    "max_leaf_nodes",
    "l2_regularization",
    "max_features",
    "learning_rate",
    "min_samples_leaf",
)


def settings_of(learner: Any) -> tuple[Any, ...]:
    """The settings that are searched."""
    params = learner.get_params()
    return tuple(params[name] for name in TUNED)


def changes(best: Callable[[], Any], seen: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Changes of the best settings so far, kind by kind, until none gives anything new."""
    while True:
        before = len(seen)
        for move in MOVES:
            now = best()
            params = move(now.get_params())
            if params is None:
                continue
            wanted = settings_of(clone(now).set_params(**params))
            if wanted not in seen:
                seen.add(wanted)
                yield params
        if len(seen) == before:
            return


def stronger(params: dict[str, Any]) -> dict[str, Any] | None:
    """A stronger penalty on the values of leaves, so that rare categories move little."""
    place = STRENGTHS.index(params["l2_regularization"])
    return {"l2_regularization": STRENGTHS[place + 1]} if place + 1 < len(STRENGTHS) else None


def fewer_columns(params: dict[str, Any]) -> dict[str, Any] | None:
    """Every split looks at half of the columns."""
    return {"max_features": 0.5} if params["max_features"] == 1.0 else None


def slower(params: dict[str, Any]) -> dict[str, Any] | None:
    """Half the step, twice the rounds and twice the patience; once, as averaging does the rest.

    With a quarter of the step and the same patience, fits on 75,000 rows end too early: rmse 0.530
    instead of 0.523.
    """
    rate = params["learning_rate"] / 2
    if rate < USUAL_RATE / 2:
        return None
    return {
        "learning_rate": rate,
        "max_iter": 2 * params["max_iter"],
        "n_iter_no_change": 2 * params["n_iter_no_change"],
    }


def larger_leaves(params: dict[str, Any]) -> dict[str, Any] | None:
    """Five times the rows of a leaf."""
    rows = 5 * params["min_samples_leaf"]
    return {"min_samples_leaf": rows} if rows <= LEAST_IN_LEAF[1] else None


def more_leaves(params: dict[str, Any]) -> dict[str, Any] | None:
    """Twice the leaves of a tree."""
    leaves = 2 * params["max_leaf_nodes"]
    return {"max_leaf_nodes": leaves} if leaves <= LEAVES[1] else None


def fewer_leaves(params: dict[str, Any]) -> dict[str, Any] | None:
    """Half the leaves of a tree."""
    leaves = params["max_leaf_nodes"] // 2
    return {"max_leaf_nodes": leaves} if leaves >= LEAVES[0] else None


# In the order of what they gained on three tables of 15,000 to 75,000 rows.
MOVES = (stronger, fewer_columns, slower, larger_leaves, fewer_leaves, more_leaves)


def mean_loss(model: Any, rows: Table, y: np.ndarray, measure: str) -> float:
    """The mean loss of a fitted model on rows whose class, if they have one, it has seen."""
    if measure in ("squared", "absolute"):
        return float(loss_of(np.asarray(model.predict(rows))[:, None], y, measure).mean())
    codes = np.searchsorted(model.classes_, y)
    known = (codes < len(model.classes_)) & (model.classes_[codes % len(model.classes_)] == y)
    said = model.predict_proba(rows)[known]
    return float(loss_of(said, codes[known], measure).mean()) if known.any() else np.inf
