"""The stack: learners that were compared, joined with weights learnt from the folds.

Models made during selection are not thrown away (004 11). What every learner said of the rows of a
fold, having learnt from the others, is kept: the weights that minimize the squared error are learnt
from it, without a further fit,

    min_a  sum_i sum_k ([y_i = k] - sum_m a_m p_m(k | x_i))^2,   a >= 0,  sum_m a_m = 1.

The stack is judged fold by fold with weights that were learnt without the rows of that fold (of
rows in time, from earlier folds alone), and fitted with those of all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.ensemble import VotingClassifier, VotingRegressor
from gnomon.ensemble.stacking import convex_weights
from gnomon.evaluate import CrossValidation, Measure
from gnomon.evaluate.cross_validation import scored
from gnomon.evaluate.fold_run import Fold, Problem
from gnomon.evaluate.measures import Said
from gnomon.workbench.analysis.portfolio import BASELINE, STACK, Entrant

LEAST_WEIGHT = 0.02  # of a member: below it, a fit of its own is not worth the time
COMPLEXITY = 5  # judgement: a stack ranks as the most complex where scores tie


def blended(
    task: str, entrants: Sequence[Entrant], results: Sequence[CrossValidation]
) -> tuple[Entrant, CrossValidation] | str:
    """The stack of the learners that saw every fold, or why there is none.

    Parameters
    ----------
    task : {"classify", "regress"}
    entrants : sequence of Entrant
    results : sequence of CrossValidation
        Of some of the entrants, on the same splits.

    Returns
    -------
    stack : (Entrant, CrossValidation) or str
    """
    members = [each for each in results if each.name != BASELINE and is_complete(each, task)]
    if len(members) < 2:
        return "there are no two learners to join that saw all folds"
    weights = weights_from(members, range(len(members[0].splits)))
    kept = np.flatnonzero(weights >= LEAST_WEIGHT)
    if len(kept) < 2:
        return f"{members[int(weights.argmax())].name} would have all the weight"
    members, weights = [members[m] for m in kept], weights[kept] / weights[kept].sum()
    learners = {each.name: each.learner for each in entrants}
    named = [(each.name, learners[each.name]) for each in members]
    shares = [float(round(each, 3)) for each in weights]
    if task == "classify":
        learner: Any = VotingClassifier(named, voting="soft", weights=shares)
    else:
        learner = VotingRegressor(named, weights=shares)
    entrant = Entrant(STACK, learner, COMPLEXITY, weights_in_words(named, shares))
    return entrant, judged(members)


def weights_in_words(named: list[tuple[str, Any]], shares: list[float]) -> str:
    """The members and their weights."""
    listed = ", ".join(f"{name} {share:.0%}" for (name, _), share in zip(named, shares))
    return f"weights of the members by the folds: {listed}"


def is_complete(result: CrossValidation, task: str) -> bool:
    """Whether a learner has for every fold the predictions that the stack needs."""
    said = [fold.said for fold in (*result.folds, *result.pair_folds)]
    if task != "classify":
        return all(each is not None for each in said)
    return all(each is not None and each.probabilities is not None for each in said)


def judged(members: list[CrossValidation]) -> CrossValidation:
    """The stack on the splits of its members, each with weights of the other splits."""
    first = members[0]
    folds = [
        joined([each.folds[k] for each in members], weights_for(members, k), first.measures)
        for k in range(len(first.splits))
    ]
    problem = Problem(None, first.y, "", first.classes, None)
    found = scored(STACK, first.splits, first.measures, problem, folds, True)
    found.n_columns, found.pairs = first.n_columns, first.pairs
    found.pair_folds = [
        joined(
            [each.pair_folds[place] for each in members],
            weights_from(members, [k for k in range(first.splits.n_folds) if k not in pair]),
            first.measures,
        )
        for place, pair in enumerate(first.pairs)
    ]
    return found


def weights_for(members: list[CrossValidation], k: int) -> np.ndarray:
    """Weights that were learnt without the rows of split k, or in time from those before it."""
    splits = members[0].splits
    numbers = range(k) if splits.ordered else [j for j in range(len(splits)) if j != k]
    return weights_from(members, numbers, hidden=splits[k][1])


def weights_from(
    members: list[CrossValidation], numbers: Sequence[int], hidden: Any = ()
) -> np.ndarray:
    """The weights of the members by their predictions in some splits; equal ones of none.

    Hidden rows, which other repetitions of the folds test too, are not looked at.
    """
    first = members[0]
    equal = np.full(len(members), 1 / len(members))
    outputs, targets = [], []
    for k in numbers:
        rows = first.splits[k][1]
        open_rows = ~np.isin(rows, hidden)
        said = [outputs_of(each.folds[k].said, open_rows) for each in members]
        outputs.append(np.stack(said, axis=-1).reshape(-1, len(members)))
        targets.append(target_of(first, rows[open_rows]))
    if not sum(map(len, targets)):
        return equal
    stacked, target = np.concatenate(outputs), np.concatenate(targets)
    return convex_weights(stacked, target, np.ones(len(target)))


def outputs_of(said: Any, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Probabilities of all classes, or the number, of some rows."""
    found = said.predictions if said.probabilities is None else said.probabilities
    return np.asarray(found, dtype=float)[rows]


def target_of(result: CrossValidation, rows: np.ndarray) -> np.ndarray:
    """What the outputs should be."""
    assert result.y is not None
    y = result.y[rows]
    if result.classes is None:
        return y.astype(float)
    return (y[:, None] == np.asarray(result.classes)[None, :]).astype(float).reshape(-1)


def joined(folds: list[Fold], weights: np.ndarray, measures: list[Measure]) -> Fold:
    """The predictions of the stack for a fold, from those of its members."""
    first = folds[0].said
    assert first is not None
    mean = np.tensordot(weights, np.stack([outputs_of(fold.said) for fold in folds]), axes=1)
    if first.probabilities is None:
        said = Said(mean)
    else:
        classes = np.asarray(first.classes)
        scores = mean[:, 1] if len(classes) == 2 else None
        said = Said(classes[mean.argmax(axis=1)], mean, scores, classes)
    # what the stack says of training rows is not known; its size is that of its members
    values = {f"train {each.name}": np.nan for each in measures}
    sizes = [each.name for each in measures if each.needs == "estimator"]
    values |= {name: float(sum(fold.values.get(name, np.nan) for fold in folds)) for name in sizes}
    return Fold(
        said,
        values,
        sum(fold.fit_seconds for fold in folds),
        sum(fold.predict_seconds for fold in folds),
    )
