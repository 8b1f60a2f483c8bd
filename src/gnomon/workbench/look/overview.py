"""Which column predicts which: a matrix of what each column alone says about each other one.

Cell (i, j) is the share of the squared deviation of column j that a small tree on column i
explains, on rows that the tree has not seen: 1 - sum (y - tree(x))^2 / sum (y - mean)^2, with the
mean of the tree's rows as the baseline. A category counts by the 0/1 columns of its levels, so
that the share is that of Brier's score. Unlike a correlation it is not symmetric, and it sees any
shape of dependence. Texts: 003 addendum (Waffles' overview).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.engine.threads import in_order
from gnomon.table.kinds import Kind
from gnomon.table.table import Table
from gnomon.trees import DecisionTreeRegressor
from gnomon.workbench.analysis.associations import GROUPED, NUMBERED, as_groups, as_numbers

MOST_LEVELS = 30  # judgement: a tree predicts few classes well, and its time grows with them
MOST_INPUT_LEVELS = 200  # judgement: a split over more levels fits noise
FEWEST_ROWS = 20  # judgement: with fewer test rows a share of variance is noise
DEPTH = 4  # 16 leaves: bends and steps of one column are found, noise is not


@dataclass(frozen=True)
class Overview:
    """What each column alone says about each other one.

    Attributes
    ----------
    inputs, outputs : list of str
    share : ndarray of shape (n_inputs, n_outputs)
        Explained share of the deviation; 0 is no better than the mean, below 0 is worse; NaN where
        it was not measured (the diagonal, too few rows, an output without variation).
    error : ndarray of shape (n_inputs, n_outputs)
        Its standard error.
    rows, of_rows, random_state : int
        How many rows were drawn of how many, and by which seed; half of them fit the trees.
    left_out : dict of str to str
        Columns that could not be outputs or inputs, and why.
    """

    inputs: list[str]
    outputs: list[str]
    share: np.ndarray
    error: np.ndarray
    rows: int
    of_rows: int
    random_state: int
    left_out: dict[str, str] = field(default_factory=dict)

    def of(self, output: str) -> list[tuple[str, float, float]]:
        """The inputs by what they say of an output, best first: name, share, standard error."""
        if output not in self.outputs:
            return []
        j = self.outputs.index(output)
        found = [
            (name, float(self.share[i, j]), float(self.error[i, j]))
            for i, name in enumerate(self.inputs)
            if not np.isnan(self.share[i, j])
        ]
        return sorted(found, key=lambda each: -each[1])


def which_predicts_which(
    table: Any,
    columns: Iterable[str] | None = None,
    *,
    outputs: Iterable[str] | None = None,
    rows: int = 4000,
    random_state: int = 0,
) -> Overview:
    """Measure for every ordered pair of columns how well the first alone predicts the second.

    Use it for a first look: which columns repeat each other, which give a target away, which say
    nothing. Not for choosing columns for a model: two that say nothing alone can say all together.

    Parameters
    ----------
    table : Table or data frame
    columns : iterable of str, default=None
        By default all columns of numbers, categories, booleans and dates.
    outputs : iterable of str, default=None
        Predict these of the columns only; all by default.
    rows : int, default=4000
        Draw at most so many rows.
    random_state : int, default=0
        Seed of the drawn rows and the halves.

    Returns
    -------
    Overview

    Examples
    --------
    >>> from gnomon.table import example
    >>> found = which_predicts_which(example("iris"), random_state=1)
    >>> name, share, error = found.of("species")[0]
    >>> name.startswith("petal"), share > 0.7
    (True, True)
    """
    table = Table.from_frame(table)
    names = list(columns) if columns is not None else list(table.columns)
    drawn, first_half = _drawn_rows(len(table), rows, random_state)
    sample = table if len(drawn) == len(table) else table[drawn]
    blocks, left_out = _outputs(sample, names)
    wanted = set(names if outputs is None else outputs)
    predicted = {name: block for name, block in blocks.items() if name in wanted}
    inputs = [name for name in names if left_out.get(name, _ONLY_INPUT) == _ONLY_INPUT]

    def row(name: str) -> list[tuple[float, float]]:
        tree_input = _input(sample, name)
        return [
            (np.nan, np.nan) if name == other else _explained(tree_input, values, first_half)
            for other, values in predicted.items()
        ]

    found = np.array(list(in_order(row, inputs, short=True)))
    found = found.reshape(len(inputs), len(predicted), 2)
    return Overview(
        inputs,
        list(predicted),
        found[:, :, 0],
        found[:, :, 1],
        len(drawn),
        len(table),
        random_state,
        left_out,
    )


_ONLY_INPUT = f"more than {MOST_LEVELS} levels: predicted from, not predicted"


def _drawn_rows(n: int, most: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of drawn rows, in order, and which of them belong to the half that is fitted."""
    rng = np.random.default_rng(random_state)
    drawn = np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
    half = np.zeros(len(drawn), dtype=bool)
    half[rng.permutation(len(drawn))[: (len(drawn) + 1) // 2]] = True
    return drawn, half


def _outputs(sample: Table, names: list[str]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Outputs as blocks of numbers with NaN where missing, and the columns that cannot be."""
    outputs, left_out = {}, {}
    for name in names:
        kind = sample.schema[name].kind
        if kind in NUMBERED:
            values = as_numbers(sample.column(name))
            scale = np.nanmax(np.abs(values)) if not np.isnan(values).all() else 0.0
            block = (values / scale if scale > 0 else values)[:, None]
        elif kind in GROUPED:
            codes = as_groups(sample, name).codes
            present, places = np.unique(codes[codes >= 0], return_inverse=True)
            if len(present) > MOST_LEVELS:
                many = len(present) > MOST_INPUT_LEVELS
                left_out[name] = f"more than {MOST_INPUT_LEVELS} levels" if many else _ONLY_INPUT
                continue
            block = np.full((len(codes), len(present)), np.nan)
            block[codes >= 0] = np.eye(len(present))[places]
        else:
            left_out[name] = f"{'an' if kind is Kind.IDENTIFIER else 'a'} {kind} column"
            continue
        if len(np.unique(block[~np.isnan(block).any(axis=1)], axis=0)) < 2:
            left_out[name] = "one value only"
            continue
        outputs[name] = block
    return outputs, left_out


def _input(sample: Table, name: str) -> Any:
    if sample.schema[name].kind in GROUPED:
        return sample.select([name])
    return as_numbers(sample.column(name))[:, None]


def _explained(tree_input: Any, block: np.ndarray, first_half: np.ndarray) -> tuple[float, float]:
    """The share of the deviation that a tree explains on the other half, and its error."""
    known = ~np.isnan(block).any(axis=1)
    train, test = np.flatnonzero(known & first_half), np.flatnonzero(known & ~first_half)
    if min(len(train), len(test)) < FEWEST_ROWS:
        return np.nan, np.nan
    seen, unseen = block[train], block[test]
    baseline = ((unseen - seen.mean(axis=0)) ** 2).sum(axis=1)
    if np.ptp(seen, axis=0).max() == 0 or baseline.sum() == 0:
        return np.nan, np.nan
    y = seen[:, 0] if seen.shape[1] == 1 else seen
    tree = DecisionTreeRegressor(
        max_depth=DEPTH, min_samples_leaf=max(2, len(train) // 200), n_jobs=1
    ).fit(tree_input[train], y)
    said = tree.predict(tree_input[test]).reshape(len(test), -1)
    missed = ((unseen - said) ** 2).sum(axis=1)
    ratio = missed.sum() / baseline.sum()
    error = np.sqrt(((missed - ratio * baseline) ** 2).sum()) / baseline.sum()
    return float(1 - ratio), float(error)
