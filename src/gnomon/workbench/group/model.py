"""The model of `gnomon group`: a table's columns on one scale, and a fitted clusterer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator, Takes
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, DictOf, ListOf, Optional, Text, Whole
from gnomon.table import Table
from gnomon.table.codes import CategoryCode
from gnomon.table.encode import TableEncoder
from gnomon.table.kinds import Kind


@storable
class GroupModel(Estimator):
    """Groups of a table's rows; assigns new rows to them.

    Numbers are standardised, and the parts of a date so that together they count as one number. A
    category has one column per level, as it is: two rows of different levels, or of yes and no,
    are then as far apart as rows whose numbers differ by the root of two standard deviations, which
    is what rows drawn at random differ by. Texts and identifiers are not used.

    Parameters
    ----------
    clusterer : clusterer
        Fitted on `coordinates`, or to be fitted.

    Attributes
    ----------
    encoder_ : TableEncoder
    center_, scale_ : ndarray of shape (n_columns,)
        Coordinates are (numbers - centre) / scale.
    group_names_ : list of str
        A name for every group.
    left_out_ : dict of str to str
        Columns that are not used, and why.
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    """

    _parameter_constraints = {"clusterer": [object]}
    _stored = {
        "center_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",)),
        "group_names_": Optional(ListOf(Text())),
        "left_out_": DictOf(Text()),
        "n_clusters": Whole(1),
    }

    def __init__(self, clusterer: Any = None):
        self.clusterer = clusterer

    def fit_space(self, table: Table) -> GroupModel:
        """Learn how columns become coordinates.

        Parameters
        ----------
        table : Table

        Returns
        -------
        self : GroupModel
        """
        used, self.left_out_ = usable_columns(table)
        rows = table.select(used)
        self.feature_names_in_ = np.array(used, dtype=object)
        self.n_features_in_ = len(used)
        self.encoder_ = TableEncoder(Takes()).fit(rows)
        numbers = self.encoder_.transform(rows)
        self.center_, self.scale_ = numbers.mean(axis=0), numbers.std(axis=0)
        for code, span in zip(self.encoder_.codes, self.spans()):
            if isinstance(code, CategoryCode):
                self.scale_[span] = 1.0
            elif getattr(code, "flag", False):
                self.scale_[span] = np.sqrt(0.5)
            else:
                self.scale_[span] *= np.sqrt(max(len(code.names), 1))
        self.scale_[self.scale_ == 0] = 1.0
        return self

    def spans(self) -> list[slice]:
        """Which coordinates each column of the table has."""
        ends = np.cumsum([0, *(len(code.names) for code in self.encoder_.codes)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def missing_cells(self, n_rows: int) -> dict[str, str]:
        """Columns with missing cells among the rows that were fitted: how many, and their reading.

        Parameters
        ----------
        n_rows : int
        """
        found = {}
        for code in self.encoder_.codes:
            count = getattr(code, "n_missing", 0)
            if count:
                read_as = "mean"
                if isinstance(code, CategoryCode):
                    read_as = "levels' shares"
                elif getattr(code, "flag", False):
                    read_as = "share of yes"
                found[code.name] = f"{count / n_rows:.1%} of the cells, read as the {read_as}"
        return found

    def coordinates(self, table: Any) -> np.ndarray:
        """The rows as points.

        Parameters
        ----------
        table : Table or data frame
        """
        rows = Table.from_frame(table).select([str(name) for name in self.feature_names_in_])
        return (self.encoder_.transform(rows) - self.center_) / self.scale_

    def predict(self, table: Any) -> np.ndarray:
        """The group of each row; -1 for rows of none.

        Parameters
        ----------
        table : Table or data frame

        Returns
        -------
        groups : int array of shape (n_rows,)
        """
        return np.asarray(self.clusterer.predict(self.coordinates(table)), dtype=np.int64)


def usable_columns(table: Table) -> tuple[list[str], dict[str, str]]:
    """The columns that groups can be made from, and why the others cannot.

    Parameters
    ----------
    table : Table

    Returns
    -------
    used : list of str
    left_out : dict of str to str
    """
    used, left_out = [], {}
    for column in table.schema:
        values = table.column(column.name)
        if column.kind is Kind.IDENTIFIER:
            left_out[column.name] = "an identifier: every row has its own"
        elif column.kind is Kind.TEXT:
            left_out[column.name] = "text: words say little of how alike rows are"
        elif values.null_count == len(values):
            left_out[column.name] = "it has no value at all"
        elif len(values.drop_null().unique()) < 2:
            left_out[column.name] = "one value only"
        else:
            used.append(column.name)
    if not used:
        reasons = "; ".join(f"{name!r}: {why}" for name, why in left_out.items())
        raise DataError(f"no column of the table tells its rows apart: {reasons}")
    return used, left_out
