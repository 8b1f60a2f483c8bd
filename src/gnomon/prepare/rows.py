"""Changes of rows: leave some out (and say which), or add noise to their cells.

These are functions, not fitted transformers: a transformer gives one row per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from gnomon.engine.errors import DataError
from gnomon.prepare.base import position_of
from gnomon.table.grid import Grid, is_table, label_array, n_rows_of, take_rows
from gnomon.table.kinds import Kind


@dataclass(frozen=True)
class KeptRows:
    """What is left of a table after rows were left out, and why they were.

    Attributes
    ----------
    X : array, frame or Table
        The rows that are left, in the make that was given.
    y : array or None
        Their labels.
    kept : ndarray of bool
        Which of the given rows are left.
    reasons : dict
        How many rows each column (or each class) cost.
    classes : tuple
        The classes that are kept, where rows were chosen by class.
    """

    X: Any
    y: Any
    kept: np.ndarray
    reasons: dict[Any, int] = field(default_factory=dict)
    classes: tuple = ()

    @property
    def n_dropped(self) -> int:
        """How many rows were left out."""
        return int((~self.kept).sum())

    def __repr__(self) -> str:
        lines = [f"{int(self.kept.sum()):,} of {len(self.kept):,} rows kept"]
        lines += [f"  {name!r} cost {cost:,}" for name, cost in self.reasons.items()]
        return "\n".join(lines)

    def also(self, X: Any, y: Any) -> KeptRows:
        """The rows of another table whose class was kept here: test rows by the training rows."""
        if not self.classes:
            raise DataError("only drop_rare_classes chooses by class; call the function again")
        return drop_rare_classes(X, y, keep=self.classes)


def drop_incomplete_rows(
    X: Any, y: Any = None, columns: Sequence[str | int] | None = None
) -> KeptRows:
    """Leave out the rows that miss a value (listwise deletion), and say which columns cost them.

    Acceptable when few rows are incomplete, wasteful otherwise; fill the holes instead
    (`Impute`). Texts: 000a 1.3.2, 000b exercise 11.4, 000c exercise 16.7.

    Parameters
    ----------
    X : array-like, data frame or Table
    y : array-like or None
        Labels: they move with the rows. A missing label costs its row, too.
    columns : list of str or int, or None
        Columns that must be complete; None for all.

    Returns
    -------
    kept : KeptRows
        A row that misses several values counts for each of their columns.

    Examples
    --------
    >>> from gnomon.prepare import drop_incomplete_rows
    >>> drop_incomplete_rows([[1.0, 2.0], [float("nan"), 3.0]], ["a", "b"])
    1 of 2 rows kept
      'x0' cost 1
    """
    table = X if is_table(X) else check_array(X, dtype=None, ensure_all_finite="allow-nan")
    grid = Grid.of(table, kinds=False)
    names = grid.names
    wanted = range(len(names)) if columns is None else [position_of(c, names) for c in columns]
    missing = {names[position]: _holes(grid, position) for position in wanted}
    if y is not None:
        if n_rows_of(y) != grid.n_rows:
            raise DataError(f"X has {grid.n_rows:,} rows and y {n_rows_of(y):,}")
        missing["y"] = np.array([value is None or value != value for value in label_array(y)])
    kept = ~np.any(list(missing.values()), axis=0) if missing else np.ones(grid.n_rows, bool)
    if not kept.any():
        worst = max(missing, key=lambda name: int(missing[name].sum()))
        raise DataError(
            f"no row is complete; {worst!r} misses {int(missing[worst].sum()):,} of "
            f"{grid.n_rows:,} values. Leave such columns out or fill them (Impute)"
        )
    reasons = {name: int(holes.sum()) for name, holes in missing.items() if holes.any()}
    return KeptRows(take_rows(table, kept), take_rows(y, kept), kept, reasons)


def _holes(grid: Grid, position: int) -> np.ndarray:
    if grid.arrow is None:
        return np.isnan(grid.original[:, position])
    column = grid.column(position)
    return column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False).astype(bool)


def drop_rare_classes(X: Any, y: Any, fewest: int = 10, keep: Sequence | None = None) -> KeptRows:
    """Leave out the rows of classes with few rows, and say which classes went.

    A class of a few rows cannot be learnt nor split in training and test. Choose on training
    rows, then treat others alike: ``result.also(X_test, y_test)``. Texts: 000b exercise 11.4
    (fewer than 10).

    Parameters
    ----------
    X : array-like, data frame or Table
    y : array-like
        Labels.
    fewest : int
        Classes with fewer rows go.
    keep : sequence or None
        The classes to keep, whatever their size; None to choose by ``fewest``.

    Returns
    -------
    kept : KeptRows

    Examples
    --------
    >>> from gnomon.prepare import drop_rare_classes
    >>> drop_rare_classes([[1], [2], [3]], ["a", "a", "b"], fewest=2)
    2 of 3 rows kept
      'b' cost 1
    """
    X = X if is_table(X) else np.asarray(X)
    labels = label_array(y)
    check_consistent_length(labels, np.empty(n_rows_of(X)))
    values, counts = np.unique(labels, return_counts=True)
    sizes = dict(zip(values.tolist(), counts.tolist()))
    if keep is None:
        classes = tuple(value for value, size in sizes.items() if size >= fewest)
    else:
        classes = tuple(keep)
    kept = np.isin(labels, np.array(classes, dtype=labels.dtype)) if classes else labels != labels
    if not kept.any():
        raise DataError(
            f"no class has {fewest} rows or more: the largest has {int(counts.max(initial=0))}"
            if keep is None
            else f"no row is of one of the classes {list(classes)!r}"
        )
    gone = {value: size for value, size in sizes.items() if value not in classes}
    return KeptRows(take_rows(X, kept), take_rows(y, kept), kept, gone, classes)


def add_noise(
    X: Any, sd: float | Sequence[float], random_state=None, columns: Sequence | None = None
) -> Any:
    """A copy with normal noise added to each number.

    For studies of denoising and robustness. Texts: 000a 5.1.7 and exercise 5.10 (sd 0.1, 0.2,
    0.5, 1 per entry).

    Parameters
    ----------
    X : array-like, data frame or Table
    sd : float or sequence of float
        Standard deviation of the noise, for all columns or for each.
    random_state : int, RandomState instance or None
    columns : list of str or int, or None
        Columns to change; None for all number columns.

    Returns
    -------
    X_new : array, data frame or Table
        Of the kind that was given.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.prepare import add_noise
    >>> add_noise(np.zeros((2, 3)), 0.5, random_state=0).shape
    (2, 3)
    """
    sds = np.asarray(sd, dtype=np.float64)
    if np.any(sds < 0) or not np.all(np.isfinite(sds)):
        raise DataError(f"sd must be zero or more, not {sd!r}")

    def noisy(block: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        if sds.ndim and sds.shape != (block.shape[1],):
            raise DataError(f"sd has {sds.size} entries, and {block.shape[1]} columns are changed")
        return block + rng.standard_normal(block.shape) * sds

    return _with_changed_numbers(X, columns, noisy, random_state)


def mask_cells(
    X: Any,
    *,
    probability: float | None = None,
    cells: float | None = None,
    value: float = 0.0,
    random_state=None,
    columns: Sequence | None = None,
) -> Any:
    """A copy in which each number is replaced, with some probability, by zero or by a hole.

    For studies of denoising and of missing values. Texts: 000a 5.1.7 and exercise 5.10, where
    each of iris' 600 entries is set to zero with probability w/600: ``cells=w``.

    Parameters
    ----------
    X : array-like, data frame or Table
    probability : float or None
        Probability for each entry.
    cells : float or None
        How many entries to expect, instead of a probability.
    value : float
        What is put there; NaN for a hole.
    random_state : int, RandomState instance or None
    columns : list of str or int, or None
        Columns to change; None for all number columns.

    Returns
    -------
    X_new : array, data frame or Table
        Of the kind that was given.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.prepare import mask_cells
    >>> mask_cells(np.ones((2, 2)), probability=1.0)
    array([[0., 0.],
           [0., 0.]])
    """
    if (probability is None) == (cells is None):
        raise DataError("give either probability=... or cells=..., the number of entries to expect")

    def masked(block: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        share = probability if cells is None else cells / max(block.size, 1)
        assert share is not None
        if not 0 <= share <= 1:
            raise DataError(f"the probability of a masked entry is {share:g}, not within 0 and 1")
        return np.where(rng.random_sample(block.shape) < share, value, block)

    return _with_changed_numbers(X, columns, masked, random_state)


def _with_changed_numbers(X: Any, columns, change, random_state) -> Any:
    if not is_table(X):
        X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    grid = Grid.of(X, kinds=True)
    names = grid.names
    if columns is None:
        numeric = (Kind.NUMBER, Kind.INTEGER)
        positions = [p for p, column in enumerate(grid.columns) if column.kind in numeric]
    else:
        positions = [position_of(column, names) for column in columns]
    new = change(grid.numbers(positions), check_random_state(random_state))
    values, passed = [], []
    for position in range(len(names)):
        place = positions.index(position) if position in positions else -1
        values.append(grid.passed(position) if place < 0 else new[:, place])
        passed.append(position if place < 0 else -1)
    return grid.rebuilt(names, values, passed, "default")
