"""Sets of features side by side: each raw, or by its leading principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Text
from gnomon.prepare.base import NumberFilter, position_of, weighted_mean
from gnomon.table.grid import Grid, is_table
from gnomon.table.schema import Column, Schema
from gnomon.table.table import Table, understood


@method(
    task="filter",
    texts="000a exercises 7.2 and 7.3",
    use="Several descriptions of the same rows, each to count with as many columns as the others.",
    avoid="One set of features: PCA does that and more.",
    peers=("sklearn.pipeline.FeatureUnion",),
)
class FeatureSets(NumberFilter):
    """Named sets of number columns side by side, each raw or by its principal components.

    The columns of set "color" come out as ``color:name`` or, reduced, as ``color:0, color:1
    ...``. Use it when rows are described in several ways (000a joins fifteen sets of image
    features) and a large set shall not drown a small one. The way back is exact for raw sets, and
    the projection on the components for reduced ones; a column in several sets comes back from
    the first.

    Texts: 000a exercises 7.2 and 7.3, which take canonical variables where this takes principal
    components.

    Parameters
    ----------
    sets : dict of str to list of columns, or None, default=None
        Columns of each set, by name or position; None for one set ``all`` of all number columns.
    n_components : int or None, default=None
        Components to keep of each set (at most its columns); None keeps the columns as they are.

    Attributes
    ----------
    places_ : list of ndarray of int
        For each set, its columns among the columns concerned.
    means_ : list of ndarray
        Mean of each set's columns; zeros for a raw set.
    bases_ : list of ndarray
        The components of each set, one per row; the identity for a raw set.
    names_ : list of str
        Names of the sets.
    fill_ : ndarray of shape (n_columns,)
        What holes of a table are read as, the columns' means; only after a fit on a table.
    positions_ : ndarray of int
        Positions of the columns concerned.
    kinds_ : list of str
        Kinds of all columns seen in ``fit``.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.prepare import FeatureSets
    >>> both = FeatureSets({"size": [0, 1], "age": [2]}).fit([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> both.get_feature_names_out().tolist()
    ['size:x0', 'size:x1', 'age:x2']
    """

    _one_to_one = False
    _parameter_constraints = {"sets": [dict, None], "n_components": [whole(1), None]}
    _stored = {
        "bases_": ListOf(Array("f8", (None, None))),
        "means_": ListOf(Array("f8", (None,))),
        "names_": ListOf(Text()),
        "places_": ListOf(Array("i8", (None,), low=0, below="n_columns")),
    }

    def __init__(self, sets=None, *, n_components=None):
        self.sets = sets
        self.n_components = n_components

    def _asked(self):
        if self.sets is None:
            return None
        if not self.sets:
            raise DataError("sets is empty; name at least one set of columns, or give None")
        return [column for columns in self.sets.values() for column in columns]

    def _fit_columns(self, grid, columns, weights):
        positions = self.positions_.tolist()
        given = {"all": positions} if self.sets is None else self.sets
        self.names_ = [str(name) for name in given]
        self.places_ = []
        for members in given.values():
            found = [position_of(member, grid.names) for member in members]
            self.places_.append(np.array([positions.index(each) for each in found], dtype=np.int64))
        block = self._training_block(grid, weights)
        self.means_, self.bases_ = [], []
        for places in self.places_:
            mean, basis = self._reduced(block[:, places], weights)
            self.means_.append(mean)
            self.bases_.append(basis)

    def _reduced(self, block: np.ndarray, weights: np.ndarray | None):
        n_columns = block.shape[1]
        if self.n_components is None or n_columns == 0:
            return np.zeros(n_columns), np.eye(n_columns)
        mean = weighted_mean(block, weights)
        centered = block - mean
        scaled = centered if weights is None else centered * weights[:, np.newaxis]
        _, vectors = np.linalg.eigh(scaled.T @ centered)
        basis = vectors[:, ::-1][:, : self.n_components].T
        leading = basis[np.arange(len(basis)), np.abs(basis).argmax(axis=1)]
        return mean, basis * np.where(leading < 0, -1.0, 1.0)[:, np.newaxis]

    def _forward(self, block):
        return np.hstack(
            [
                (block[:, places] - mean) @ basis.T
                for places, mean, basis in zip(self.places_, self.means_, self.bases_)
            ]
        )

    def _backward(self, block):
        values = np.empty((len(block), len(self.positions_)))
        stop = block.shape[1]
        for places, mean, basis in reversed([*zip(self.places_, self.means_, self.bases_)]):
            start = stop - len(basis)
            values[:, places] = block[:, start:stop] @ basis + mean
            stop = start
        return values

    def _new_names(self, names):
        new = []
        for name, places, basis in zip(self.names_, self.places_, self.bases_):
            if self.n_components is None:
                new += [f"{name}:{names[place]}" for place in places]
            else:
                new += [f"{name}:{number}" for number in range(len(basis))]
        return new

    def _working_memory(self, n_rows, n_columns):
        return 8 * (n_rows * (n_columns + 4) + 2 * n_columns**2)


def concatenate(sets: dict[str, Any]) -> Table:
    """Several descriptions of the same rows as one table, with the sets' names before the columns'.

    Parameters
    ----------
    sets : dict of str to array, data frame or Table
        Of one number of rows, in one order.

    Returns
    -------
    table : Table
        Columns ``set:column``.

    Examples
    --------
    >>> from gnomon.prepare import concatenate
    >>> concatenate({"size": [[1.0], [2.0]], "age": [[30.0], [40.0]]}).columns
    ('size:x0', 'age:x0')
    """
    if not sets:
        raise DataError("there is nothing to concatenate; give at least one set")
    names, values, known, lengths = [], [], [], {}
    for prefix, X in sets.items():
        grid = Grid.of(X if is_table(X) else np.atleast_2d(np.asarray(X)), kinds=True)
        lengths[prefix] = grid.n_rows
        for position, column in enumerate(grid.columns):
            name = f"{prefix}:{column.name}"
            names.append(name)
            values.append(grid.column(position))
            known.append(Column(name, column.kind, column.reason, levels=column.levels))
    if len(set(lengths.values())) > 1:
        raise DataError(f"the sets differ in their number of rows: {lengths}")
    return understood(pa.table(values, names=names), Schema(known))
