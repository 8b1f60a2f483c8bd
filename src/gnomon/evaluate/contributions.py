"""Contributions: how much every column adds to one prediction (Shapley values).

Of a row x and background rows b, v(S) is the mean output for x in the columns S and b in the
others. The contribution of column j is its mean gain over all orders in which columns are set,

    phi_j = sum_S |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)),

so that the contributions add up to the output less the mean output of the background. Few columns
are enumerated; of many, orders are drawn, each with its reverse. The error is that of the drawn
orders, the background rows given; of a sum of functions of single columns, such as a linear model,
every order gives the same, and the error is zero.

Texts: 003 2.5 (explaining a decision) · 004 4.1 (models that can be read).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.table.table import Table

MOST_ENUMERATED = 40_000  # predictions for one row: half a second of boosted trees
MOST_COLUMNS = 30  # judgement: subsets to predict for grow with the columns; `most_columns` sets it
OTHERS = "(all other columns)"
ROUNDS = 2  # orders per background row, each with its reverse


@dataclass(repr=False)
class Contributions(Result):
    """What every column adds to the predictions of some rows.

    Attributes
    ----------
    names : list of str
        Columns; the last may stand for all others together.
    values, errors : ndarray of shape (n_rows, n_names)
        Contributions and their standard errors.
    base : float
        Mean output of the background rows.
    outputs : ndarray of shape (n_rows,)
        Outputs of the rows: ``base`` and the contributions of a row add up to it.
    what : str
        What the output is.
    n_background : int
    is_exact : bool
        Whether all orders of the columns were counted.
    """

    names: list[str]
    values: np.ndarray
    errors: np.ndarray
    base: float
    outputs: np.ndarray
    what: str
    n_background: int
    is_exact: bool

    def of_row(self, row: int, most: int = 5) -> list[tuple[str, float, float]]:
        """Column, contribution and error, the largest first.

        Parameters
        ----------
        row : int
        most : int, default=5

        Returns
        -------
        parts : list of (str, float, float)
        """
        order = np.argsort(-np.abs(self.values[row]), kind="stable")[:most]
        return [
            (self.names[j], float(self.values[row, j]), float(self.errors[row, j])) for j in order
        ]

    def to_table(self) -> Table:
        """One line per row and column.

        Returns
        -------
        table : Table
        """
        n, d = self.values.shape
        return Table.from_dict(
            {
                "row": np.repeat(np.arange(1, n + 1), d),
                "column": self.names * n,
                "contribution": self.values.ravel(),
                "error": self.errors.ravel(),
            }
        )

    def _title(self) -> str:
        how = "exact" if self.is_exact else "orders of columns drawn"
        return (
            f"Contributions to {self.what}; {self.base:.4g} on the mean of {self.n_background:,} "
            f"background rows ({how})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        order = np.argsort(-np.abs(self.values).mean(axis=0), kind="stable")
        return {
            "column": [self.names[j] for j in order],
            "mean |contribution|": np.abs(self.values).mean(axis=0)[order].tolist(),
        }


def contributions(
    model: Any,
    rows: Table,
    background: Table,
    *,
    target: Any = None,
    output: str = "probability",
    most_columns: int = MOST_COLUMNS,
    random_state: int = 0,
) -> Contributions:
    """How much every column adds to the predictions of a fitted model, for any model.

    Use it to say why one row is predicted as it is. A contribution is not an effect: columns that
    go together share theirs by the model, not by what causes what.

    Parameters
    ----------
    model : fitted estimator
    rows : Table
        The rows to explain.
    background : Table
        Rows to compare with, such as some training rows; the same columns.
    target : object, default=None
        The class whose probability is explained; by default the second of two classes, or of
        several the class predicted for the first row.
    output : {"probability", "margin"}, default="probability"
        Of classes: the probability, or the decision function, in which linear models add up.
    most_columns : int, default=30
        Beyond so many, those that change the output least by themselves are taken as one.
    random_state : int, default=0

    Returns
    -------
    found : Contributions

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> table = Table.from_dict({"a": [0.0, 1.0, 2.0, 4.0], "b": [1.0, 0.0, 2.0, 2.0]})
    >>> model = LinearRegression().fit(table, [1.0, 2.0, 7.0, 11.0])
    >>> found = contributions(model, table[:1], table)
    >>> bool(abs(found.values[0].sum() + found.base - found.outputs[0]) < 1e-9)
    True
    """
    if tuple(rows.columns) != tuple(background.columns):
        raise DataError("rows and background must have the same columns, in the same order")
    if not len(rows) or not len(background):
        raise DataError("there must be a row to explain and a background row at least")
    both = Table(
        pa.concat_tables([rows.arrow.cast(background.arrow.schema), background.arrow]),
        background.schema,
    )
    said, what = output_of(model, rows, target, output)
    outputs = said(both)
    players = players_of(said, both, len(rows), most_columns)
    found = [
        one_row(said, both, row, len(rows), players, np.random.default_rng([random_state, row]))
        for row in range(len(rows))
    ]
    return Contributions(
        [names[0] if len(names) == 1 else OTHERS for names in players],
        np.array([values for values, _, _ in found]),
        np.array([errors for _, errors, _ in found]),
        float(outputs[len(rows) :].mean()),
        outputs[: len(rows)],
        what,
        len(background),
        found[0][2],
    )


def output_of(model: Any, rows: Table, target: Any, output: str) -> tuple[Any, str]:
    """A function of rows that gives one number each, and what that number is."""
    if output not in ("probability", "margin"):
        raise DataError(f"output={output!r} is neither 'probability' nor 'margin'")
    classes = getattr(model, "classes_", None)
    if classes is None:
        return lambda table: np.asarray(model.predict(table), dtype=float), "the prediction"
    names = list(classes)
    if target is None:
        target = names[1] if len(names) == 2 else np.asarray(model.predict(rows[:1]))[0]
    if target not in names:
        raise DataError(f"target={target!r} is no class of the model; there are {names[:10]}")
    place = names.index(target)
    if output == "margin":
        if not hasattr(model, "decision_function"):
            raise DataError(f"{type(model).__name__} has no decision function: take 'probability'")

        def margin(table: Table) -> np.ndarray:
            values = np.asarray(model.decision_function(table), dtype=float)
            return values if values.ndim == 1 else values[:, place]

        return margin, f"the decision function of {names[-1] if len(names) == 2 else target}"
    if not hasattr(model, "predict_proba"):
        raise DataError(f"{type(model).__name__} has no probabilities: take output='margin'")
    return lambda table: np.asarray(model.predict_proba(table))[:, place], f"P({target})"


def players_of(said: Any, both: Table, n_rows: int, most: int) -> list[list[str]]:
    """The columns, each by itself; of very many, those of little effect as one."""
    names = list(both.columns)
    if len(names) <= most:
        return [[name] for name in names]
    n_background = len(both) - n_rows
    some = np.arange(n_rows, n_rows + min(n_background, 5))
    before = said(both[some])
    effects = []
    for name in names:
        takes = {each: some for each in names if each != name}
        takes[name] = np.zeros(len(some), dtype=int)
        effects.append(float(np.abs(said(mixed(both, takes)) - before).mean()))
    kept = set(np.argsort(effects, kind="stable")[-(most - 1) :].tolist())
    single = [[name] for place, name in enumerate(names) if place in kept]
    return [*single, [name for place, name in enumerate(names) if place not in kept]]


def mixed(both: Table, takes: dict[str, np.ndarray]) -> Table:
    """A table whose columns are taken from rows of their own."""
    columns = [both.column(name).take(pa.array(takes[name])) for name in both.columns]
    return Table(pa.table(columns, names=list(both.columns)), both.schema)


def one_row(
    said: Any,
    both: Table,
    row: int,
    n_rows: int,
    players: Sequence[list[str]],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Contributions to one row, their errors, and whether all orders were counted."""
    background = np.arange(n_rows, len(both))
    if 2 ** len(players) * len(background) <= MOST_ENUMERATED:
        return (*enumerated(said, both, row, background, players), True)
    return (*drawn(said, both, row, background, players, rng), False)


def asked(
    said: Any, both: Table, row: int, owners: np.ndarray, sets: np.ndarray, players: Any
) -> np.ndarray:
    """Outputs for background rows whose columns in a set are those of the row."""
    takes: dict[str, np.ndarray] = {}
    for place, names in enumerate(players):
        taken = np.where(sets[:, place], row, owners)
        takes |= dict.fromkeys(names, taken)
    return said(mixed(both, takes))


def enumerated(
    said: Any, both: Table, row: int, background: np.ndarray, players: Sequence[list[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """The contributions over all subsets of the columns."""
    d = len(players)
    subsets = (np.arange(2**d)[:, None] >> np.arange(d)) & 1 == 1
    owners = np.tile(background, 2**d)
    values = asked(said, both, row, owners, np.repeat(subsets, len(background), axis=0), players)
    means = values.reshape(2**d, len(background)).mean(axis=1)
    sizes = subsets.sum(axis=1)
    found = np.empty(d)
    for j in range(d):
        without = np.flatnonzero(~subsets[:, j])
        weights = np.array(
            [factorial(int(s)) * factorial(d - int(s) - 1) / factorial(d) for s in sizes[without]]
        )
        found[j] = weights @ (means[without + (1 << j)] - means[without])
    return found, np.zeros(d)


def drawn(
    said: Any,
    both: Table,
    row: int,
    background: np.ndarray,
    players: Sequence[list[str]],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The contributions over drawn orders, each with its reverse, and their standard errors."""
    d, n = len(players), len(background)
    orders = np.array([rng.permutation(d) for _ in range(ROUNDS * n)])
    passes = np.concatenate([orders, orders[:, ::-1]])
    places = np.argsort(passes, axis=1)
    # step s of a pass has the columns that come before place s
    sets = (places[:, None, :] < np.arange(d + 1)[None, :, None]).reshape(-1, d)
    owners = np.repeat(np.tile(background, 2 * ROUNDS), d + 1)
    outputs = asked(said, both, row, owners, sets, players).reshape(len(passes), d + 1)
    gains = np.take_along_axis(np.diff(outputs, axis=1), places, axis=1)
    pairs = (gains[: len(orders)] + gains[len(orders) :]) / 2
    rounds = pairs.reshape(ROUNDS, n, d)
    spread = rounds.var(axis=0, ddof=1).sum(axis=0) / (ROUNDS * n**2)
    return rounds.mean(axis=(0, 1)), np.sqrt(spread)
