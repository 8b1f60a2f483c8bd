"""Leaks: columns that give the target away, alone or together, and keys that repeat.

A leak makes a model look better than it will be. Four signs are looked for: one column alone does
nearly all; two or three columns of numbers sum to the target; rows with equal values of a key have
equal targets, so that rows of one key stand in training and test; a model is nearly perfect.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from gnomon.evaluate import cross_validation_estimates
from gnomon.table import Kind, Table
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor
from gnomon.workbench.analysis.associations import Association, associations_with
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.analysis.problem import LearningProblem
from gnomon.workbench.learn.evidence import Check, Evidence
from gnomon.workbench.look.findings import FEW, how_tied

GOLDEN = 0.95  # judgement: of what the model removes, by one column: the others add next to nothing
# of the error removed by one column: petal width alone removes 93% on iris, and is no leak
GOLDEN_GAIN = {"classify": 0.95, "regress": 0.9}
SURE = 0.98  # of the error removed by one column: a leak whatever the model does
# The odor of a mushroom removes 97% of the error, and is known before the target: from here on a
# column is called a leak, between this and GOLDEN_GAIN it is said to do nearly all.
LEAK_GAIN = {"classify": SURE, "regress": 0.9}
GOLDEN_ROWS = 3_000  # judgement: a leak shows in any 3,000 rows, and a fit per column stays short
GOLDEN_COLUMNS = 60  # judgement: the strongest by association; each costs the folds of a tree
FEWEST_ALONE = 5  # columns that are tried alone whatever the time
TIED_ROWS = 50_000  # judgement: associations are known to a hundredth; more rows only cost
MOST_SUMMANDS = 3  # judgement: totals of a table have two or three parts; more fit by chance
MOST_TO_ELIMINATE = 150  # columns: a second
EXACT = 1e-6  # of the variance is left over by a sum that gives the target exactly
FEWEST_KEYS = 10  # judgement: fewer keys can be pure by chance, or are a category
PURE = 0.99  # judgement: rows that have their key's commonest target; 1% of mistakes is let pass
TURNS = 0.25  # share of neighbouring keys between which the target changes
# Judgement: of the baseline's error removed; real tables seldom come so near.
NEARLY_PERFECT = {"classify": 0.995, "regress": 0.98}
FEWEST_PERFECT = 50  # judgement: fewer rows are often predicted without a fault by chance


def without(seen: Evidence, names: list[str]) -> str:
    """The remedy: the command that leaves columns out."""
    flags = " ".join(f"--without {quoted(name)}" for name in names)
    known = f"Is {names[0]!r}" if len(names) == 1 else f"Are {' and '.join(map(repr, names))}"
    return (
        f"{known} known before the target is? If not: gnomon learn {quoted(seen.source)} --target "
        f"{quoted(seen.problem.target)} {flags}"
    )


def quoted(word: str) -> str:
    """A word as a shell takes it."""
    return word if word and all(c.isalnum() or c in "._-/:" for c in word) else f"'{word}'"


def exact_sum(seen: Evidence) -> Check | None:
    """Do two or three columns of numbers sum to the target, each with some weight?"""
    problem = seen.problem
    names = [n for n in problem.features if seen.train.schema[n].kind.is_numeric]
    if problem.task != "regress" or len(names) < 2:
        return None
    rows = some_of(seen.train, GOLDEN_ROWS)
    block = rows.select(names).to_numpy().astype(float)
    y = problem.values(rows).astype(float)
    whole = np.isfinite(block).all(axis=1)
    limit = f"{MOST_SUMMANDS} columns or fewer leave less than {EXACT:g} of the variance"
    if whole.sum() < FEW or not y[whole].var() > 0:
        return Check("exact relation", "not made", "too few rows have no missing number.")
    chosen, left = summands(block[whole], y[whole])
    found = [names[j] for j in chosen]
    if left > EXACT or len(found) < 2:
        return Check("exact relation", "good", "no few columns sum to the target.", left, limit)
    listed = " and ".join(map(repr, found))
    text = f"{listed} together give the target exactly: a weighted sum leaves {left:.1g} of it."
    return Check("exact relation", "bad", text, left, limit, without(seen, found))


def summands(block: np.ndarray, y: np.ndarray) -> tuple[list[int], float]:
    """The fewest columns found whose weighted sum gives the target, and what remains of it.

    All columns first, which are then left out one by one, those of the least weight first, as long
    as the sum stays exact. Where rows are few for that, columns are taken one by one instead.
    """
    spread = block.std(axis=0)
    usable = np.flatnonzero(spread > 0)
    columns = (block[:, usable] - block[:, usable].mean(axis=0)) / spread[usable]
    target = (y - y.mean()) / y.std()
    if len(y) < 2 * len(usable) or len(usable) > MOST_TO_ELIMINATE:
        chosen, left = forward_sum(columns, target)
    else:
        chosen, left = backward_sum(columns, target)
    return [int(usable[j]) for j in chosen], left


def forward_sum(columns: np.ndarray, target: np.ndarray) -> tuple[list[int], float]:
    """Columns taken one by one, each the one that explains most of what is left; what remains."""
    chosen: list[int] = []
    rest, left = target, 1.0
    for _ in range(min(MOST_SUMMANDS, columns.shape[1])):
        basis = np.linalg.qr(columns[:, chosen])[0] if chosen else np.zeros((len(target), 0))
        free = columns - basis @ (basis.T @ columns)
        norms = np.linalg.norm(free, axis=0)
        shares = np.where(norms > 1e-9 * np.sqrt(len(target)), np.abs(free.T @ rest), 0.0)
        chosen.append(int(np.argmax(shares / np.maximum(norms, 1e-300))))
        left, fit = share_left(columns[:, chosen], target)
        rest = target - columns[:, chosen] @ fit
        if left <= EXACT:
            break
    return chosen, left


def backward_sum(columns: np.ndarray, target: np.ndarray) -> tuple[list[int], float]:
    """Columns of an exact sum that cannot be left out; none where no few columns give one."""
    corner = np.linalg.qr(np.column_stack([columns, target]), mode="r") / np.sqrt(len(target))
    columns, target = corner[:, :-1], corner[:, -1]
    left, weights = share_left(columns, target)
    if left > EXACT:
        return [], left
    kept = list(range(columns.shape[1]))
    for j in np.argsort(np.abs(weights), kind="stable").tolist():
        others = [each for each in kept if each != j]
        if others and share_left(columns[:, others], target)[0] <= EXACT:
            kept = others
    if len(kept) > MOST_SUMMANDS:
        return [], 1.0
    return kept, share_left(columns[:, kept], target)[0]


def share_left(columns: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """Share of the target's sum of squares that a weighted sum of columns leaves; the weights."""
    weights = np.linalg.lstsq(columns, target, rcond=None)[0]
    rest = target - columns @ weights
    return float(rest @ rest / (target @ target)), weights


def key_of_rows(seen: Evidence) -> Check | None:
    """Do rows with equal values of a column always have the same target?"""
    if seen.problem.parted_by is not None:
        return None
    kinds = (Kind.INTEGER, Kind.CATEGORY, Kind.ORDERED, Kind.TEXT)
    rows = some_of(seen.train, TIED_ROWS)
    y = seen.problem.values(rows)
    codes = np.unique(y, return_inverse=True)[1]
    for name in seen.problem.features:
        if rows.schema[name].kind in kinds and is_key(rows, name, codes):
            text = (
                f"rows with the same {name!r} have the same target, and stand in training and test "
                "rows both: a model can learn the key by heart."
            )
            remedy = (
                f"If {name!r} numbers persons, series or batches, keep their rows together: gnomon "
                f"learn {quoted(seen.source)} --target {quoted(seen.problem.target)} --groups "
                f"{quoted(name)}"
            )
            limit = f"{PURE:.0%} of the rows, of {FEWEST_KEYS} keys or more"
            return Check("rows of one key", "bad", text, np.nan, limit, remedy)
    return Check("rows of one key", "good", "no column is a key that repeats.")


def is_key(rows: Table, name: str, y: np.ndarray) -> bool:
    """Whether a column is a key: it repeats, fixes the target, and its order says nothing of it."""
    column = rows.column(name)
    cells = np.array([str(each) for each in column.to_pylist()], dtype=object)
    if rows.schema[name].kind is Kind.INTEGER and column.null_count == 0:
        cells = column.to_numpy()
    keys, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
    if len(keys) < FEWEST_KEYS or np.median(counts) < 2 or len(keys) > len(y) / 2:
        return False
    order = np.lexsort((y, places))
    values, of = y[order], places[order]
    runs = np.r_[True, (values[1:] != values[:-1]) | (of[1:] != of[:-1])]
    lengths = np.diff(np.r_[np.flatnonzero(runs), len(y)])
    largest = np.zeros(len(keys), dtype=int)
    np.maximum.at(largest, of[runs], lengths)
    if largest.sum() < PURE * len(y):
        return False
    first = y[order][np.r_[True, of[1:] != of[:-1]]]
    return bool(np.mean(first[1:] != first[:-1]) >= TURNS)


def too_good(seen: Evidence) -> Check | None:
    """Is the model nearly perfect?"""
    if seen.chosen == BASELINE:
        return None
    removed, limit = share_removed(seen), NEARLY_PERFECT[seen.problem.task]
    found = f"{removed:.1%} of the baseline's error is removed on the folds."
    said = f"{limit:.1%} or more, of {FEWEST_PERFECT} rows or more"
    if removed < limit or len(seen.train) < FEWEST_PERFECT:
        return Check("nearly perfect", "good", found, removed, said)
    strongest = seen.importance.names[int(seen.importance.order[0])]
    return Check("nearly perfect", "warning", found, removed, said, without(seen, [strongest]))


def golden_column(seen: Evidence) -> Check:
    """Does one column alone do nearly all? Then it may give the target away."""
    features = [name for name in seen.problem.features if name != seen.problem.time]
    pairs = seen.ties
    strengths = single_columns(seen, features, pairs)
    tied = tied_columns(seen, pairs)
    if not strengths and not tied:
        return Check("leak", "not made", "no column could be tried alone.")
    both = strengths | {k: max(v, strengths.get(k, v)) for k, v in tied.items()}
    name, alone = max(both.items(), key=lambda each: each[1])
    least = GOLDEN_GAIN[seen.problem.task]
    limit = f"one column alone removes over {least:.0%} of the baseline's error"
    removed = f"removes {alone:.0%} of the baseline's error"
    found = f"the strongest column alone, {name!r}, {removed}."
    if alone >= least and alone > strengths.get(name, -np.inf):
        pair = next(each for each in pairs if name in (each.first, each.second))
        found = f"{name!r} alone {removed}: it {how_tied(pair)}."
    untried = sum(each not in both for each in features)
    if untried:
        found += f" {untried:,} of {len(features):,} columns were not tried alone."
    nearly_all = alone >= GOLDEN * share_removed(seen) or alone >= SURE
    if alone < least or not nearly_all:
        return Check("leak", "good", found, alone, limit)
    verdict = "bad" if alone >= LEAK_GAIN[seen.problem.task] else "warning"
    return Check("leak", verdict, found, alone, limit, without(seen, [name]))


def ties_of(problem: LearningProblem, train: Table) -> list[Association]:
    """Associations of the columns with the target, the strongest first."""
    features = [name for name in problem.features if name != problem.time]
    return associations_with(some_of(train, TIED_ROWS), problem.target, features)


def other_than(target: str, pair: Association) -> str:
    """The column of a pair that is not the target."""
    return pair.second if pair.first == target else pair.first


def tied_columns(seen: Evidence, pairs: list[Association]) -> dict[str, float]:
    """Share of a number's error that a line or a curve through one column of numbers removes.

    A tree of few leaves cannot follow a column that is the target in another unit; r and rho can.
    A target that rises with a date has a trend, and is not the date in another unit.
    """
    if seen.problem.task == "classify":
        return {}
    found = {}
    for pair in pairs:
        name = other_than(seen.problem.target, pair)
        is_moment = seen.train.schema[name].kind is Kind.DATETIME
        if pair.measure == "correlation" and not is_moment and pair.n >= FEW:
            found[name] = float(1 - np.sqrt(1 - pair.strength**2))
    return {name: share for name, share in found.items() if np.isfinite(share)}


def share_removed(seen: Evidence) -> float:
    """Share of the baseline's error that the chosen learner removes on the folds."""
    is_class = seen.problem.task == "classify"
    scores = [
        float(np.nanmean(each.scores["accuracy" if is_class else "rmse"]))
        for each in (seen.scores, seen.baseline)
    ]
    test, base = (1 - score if is_class else score for score in scores)
    return 1 - test / base if base > 0 else 0.0


def single_columns(
    seen: Evidence, features: list[str], pairs: list[Association]
) -> dict[str, float]:
    """Share of the baseline's error that a small tree on one column removes, on other rows.

    Of many columns those are tried that matter most to the model or go most with the target.
    """
    rows = some_of(seen.train, GOLDEN_ROWS)
    y = seen.problem.values(rows)
    is_class = seen.problem.task == "classify"
    kind = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    measure = "error" if is_class else "mse"
    base = error_without_columns(y, is_class)
    if not base > 0:
        return {}
    important = [seen.importance.names[j] for j in seen.importance.order]
    associated = [other_than(seen.problem.target, pair) for pair in pairs]
    turns = dict.fromkeys(n for both in zip_longest(important, associated) for n in both)
    tried = [n for n in turns if n in features and rows.schema[n].kind is not Kind.TEXT]
    found = {}
    for place, name in enumerate(tried[:GOLDEN_COLUMNS]):
        if place >= FEWEST_ALONE and not seen.in_time():
            break
        result = cross_validation_estimates(
            kind(max_depth=4, min_samples_leaf=5),
            rows.select([name]),
            y,
            cv=2,
            measures=measure,
        )
        if not result.failures:
            left = result.mean_over_folds() / base
            found[name] = 1 - (left if is_class else np.sqrt(left))
    return found


def some_of(rows: Table, most: int) -> Table:
    """At most so many rows, drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), most, replace=False))]


def error_without_columns(y: np.ndarray, is_class: bool) -> float:
    """The error of the best constant."""
    if is_class:
        return 1 - np.unique(y, return_counts=True)[1].max() / len(y)
    return float(np.var(y))
