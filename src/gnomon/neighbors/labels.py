"""Several labels of any kind at once: the mean of numbers, the mode of categories.

Texts: 003 2.2.1, 2.2.2.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gnomon.contract.intake import as_table, is_frame
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import JOBS, at_least, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, DictOf, ListOf, Object, Text
from gnomon.neighbors.search import NearestNeighbors
from gnomon.neighbors.stored import METRIC, inverse_powers
from gnomon.table.codes import as_numbers, dictionary
from gnomon.table.kinds import Kind
from gnomon.table.table import Table

NUMBERS = (Kind.NUMBER, Kind.INTEGER)


@method(
    task="classify",
    texts="003 2.2.1, 2.2.2",
    use="Rows with several labels of different kinds, predicted from their neighbors.",
    avoid="One label: KNeighborsClassifier, KNeighborsRegressor.",
    takes="index",
    synonyms=("multi-output", "mixed labels"),
)
class NeighborLabels(Estimator):
    """A vector of labels of mixed kinds from the nearest rows, each label as the baseline would.

    Numbers get the (weighted) mean of the k nearest rows' labels, all else the label of most
    weight, of equal weights the one that sorts first. With k = n and power 0 it is the baseline,
    with k = 1 the label vector of the nearest row. Missing labels are left out.

    Use it where rows have several labels of different kinds. Not for one label:
    `KNeighborsClassifier` and `KNeighborsRegressor` do more. Texts: 003 2.2.1, 2.2.2.

    Parameters
    ----------
    n_neighbors : int, default=5
    power : float, default=0.0
        Neighbours weigh 1/d^power; rows at distance zero then decide alone.
    metric : str, Distance or callable, default="standardized"
    n_jobs : int or None, default=None

    Attributes
    ----------
    search_ : NearestNeighbors
    labels_ : Table
        The labels of the stored rows.

    Examples
    --------
    >>> from gnomon.neighbors import NeighborLabels
    >>> from gnomon.table import Table
    >>> labels = {"price": [10.0, 20.0, 90.0], "color": ["red", "red", "blue"]}
    >>> model = NeighborLabels(2).fit([[0.0], [1.0], [9.0]], Table.from_dict(labels))
    >>> model.predict([[0.4]]).arrow.to_pylist()
    [{'price': 15.0, 'color': 'red'}]
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "power": [at_least(0)],
        "metric": METRIC,
        "n_jobs": JOBS,
    }
    _stored = {
        "_columns": DictOf(ListOf(Anything())),
        "_numbers": ListOf(Text()),
        "search_": Object(("NearestNeighbors",)),
    }

    def __init__(self, n_neighbors=5, *, power=0.0, metric="standardized", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.power = power
        self.metric = metric
        self.n_jobs = n_jobs

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "_columns"):
            n_rows = self.search_.index_.n_rows
            for name, values in self._columns.items():
                if not isinstance(name, str) or len(values) != n_rows:
                    raise ValueError("the labels have no names, or are not those of the rows")
            columns = {name: pa.array(values) for name, values in self._columns.items()}
            for name in self._numbers:
                kind = columns[name].type
                if not (
                    pa.types.is_floating(kind) or pa.types.is_integer(kind) or kind == pa.null()
                ):
                    raise ValueError("a column of numbers holds something else")

    @validated
    def fit(self, X, labels) -> NeighborLabels:
        """Store rows and their labels.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n, n_columns)
        labels : data frame, Table or array-like of shape (n, n_labels)

        Returns
        -------
        self : NeighborLabels
        """
        if not (isinstance(labels, Table) or is_frame(labels)):
            block = np.asarray(labels)
            block = block.reshape(len(block), -1)
            labels = Table.from_dict({f"y{j}": block[:, j].tolist() for j in range(block.shape[1])})
        table = as_table(labels)
        names = [column.name for column in table.schema]
        self._columns = {name: table.column(name).to_pylist() for name in names}
        self._numbers = [column.name for column in table.schema if column.kind in NUMBERS]
        self.search_ = NearestNeighbors(
            n_neighbors=self.n_neighbors, metric=self.metric, n_jobs=self.n_jobs
        ).fit(X)
        if len(table) != self.search_.index_.n_rows:
            raise DataError(
                f"X has {self.search_.index_.n_rows} rows and there are {len(table)} labels"
            )
        return self

    @property
    def labels_(self) -> Table:
        """The labels of the stored rows."""
        return Table.from_dict(self._columns)

    def predict(self, X) -> Table:
        """The labels of each row.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n, n_columns)

        Returns
        -------
        labels : Table
        """
        distances, indices = self.search_.kneighbors(X)
        weights = (
            inverse_powers(distances, self.power, 0.0) if self.power else np.ones(distances.shape)
        )
        columns = {name: self._combined(name, indices, weights) for name in self._columns}
        return Table(pa.table(columns))

    def _combined(self, name: str, indices: np.ndarray, weights: np.ndarray) -> pa.Array:
        values = pa.chunked_array([pa.array(self._columns[name])])
        if name in self._numbers:
            numbers = as_numbers(values, name)[indices]
            known = np.where(np.isnan(numbers), 0.0, weights)
            mass = known.sum(axis=1)
            means = (known * np.nan_to_num(numbers)).sum(axis=1) / np.where(mass > 0, mass, 1.0)
            return pa.array(means, mask=mass == 0)
        levels, codes = dictionary(values)
        rank = np.argsort(np.argsort(np.array([str(level) for level in levels]), kind="stable"))
        near = codes[indices]
        votes = np.zeros((len(near), len(levels)))
        for j in range(near.shape[1]):
            known = np.flatnonzero(near[:, j] >= 0)
            votes[known, rank[near[known, j]]] += weights[known, j]
        by_rank = [levels[i] for i in np.argsort(rank)]
        best = votes.argmax(axis=1)
        none = votes.sum(axis=1) == 0
        return pa.array([None if gone else by_rank[b] for b, gone in zip(best, none)])
