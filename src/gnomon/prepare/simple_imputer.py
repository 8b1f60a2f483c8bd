"""Missing cells filled as scikit-learn's SimpleImputer does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn import impute
from sklearn.utils._param_validation import MissingValues

from gnomon.contract.inert import without_effect
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, Optional, Text
from gnomon.prepare.base import COLUMNS
from gnomon.prepare.wrapped import Unweighted
from gnomon.table.kinds import Kind

WORDS = (Kind.CATEGORY, Kind.ORDERED, Kind.TEXT)


@method(
    task="filter",
    texts="000c 16.1.1 · 003 2.1.9.4",
    use="As the first thing to try for missing numbers.",
    avoid="Many missing cells, or cells that are missing for a reason: use a method that knows.",
    peers=("sklearn.impute.SimpleImputer",),
    on="scikit-learn",
)
@without_effect("copy")
class SimpleImputer(Unweighted):
    """Missing numbers become the column's mean, median, most frequent value, or a constant.

    Use it as the first thing to try. Not for many missing cells, nor where cells are missing for
    a reason. `Impute` fills columns of all kinds of a table at once; `KNNImputer` and
    `RegressionImpute` look at the other columns.

    Texts: 000c 16.1.1, 003 2.1.9.4. On arrays it is scikit-learn's class. Of a table, columns of
    numbers are filled, by "most_frequent" and "constant" columns of words too; others pass through
    (scikit-learn refuses a table with words for means and medians).

    Parameters
    ----------
    missing_values : int, float, str or None, default=nan
        What marks a missing cell of an array.
    strategy : {"mean", "median", "most_frequent", "constant"} or callable, default="mean"
        What a missing cell becomes.
    fill_value : str or number or None, default=None
        The constant, for ``strategy="constant"``; 0 or "missing_value" for None.
    add_indicator : bool, default=False
        Whether columns that mark what was missing are added.
    keep_empty_features : bool, default=False
        Whether columns without any value are kept.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns of a table, and all columns of an array.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_columns,)
        What missing cells of each column concerned become.
    words_ : dict
        What missing cells of each column of words become, by its name.
    indicator_ : MissingIndicator or None
        scikit-learn's, with ``add_indicator=True``.
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
    >>> from gnomon.prepare import SimpleImputer
    >>> SimpleImputer().fit_transform([[1.0], [float("nan")], [3.0]]).ravel()
    array([1., 2., 3.])
    """

    natively = Takes(missing=True, sparse=True)
    _fills = True
    _why_not = "what was missing is not known afterwards"
    _peer = impute.SimpleImputer
    _inner_classes = (impute.MissingIndicator,)
    _kept_apart = ("indicator_",)
    _one_to_one = False
    _parameter_constraints = {
        "missing_values": [MissingValues()],
        "strategy": [StrOptions({"mean", "median", "most_frequent", "constant"}), callable],
        "fill_value": "no_validation",
        "add_indicator": FLAG,
        "keep_empty_features": FLAG,
        "columns": COLUMNS,
    }
    _stored = {
        "statistics_": Array("Of", (None,), missing=True),
        "words_": Optional(DictOf(Text())),
    }

    def __init__(
        self,
        *,
        missing_values=np.nan,
        strategy="mean",
        fill_value=None,
        copy=True,
        add_indicator=False,
        keep_empty_features=False,
        columns=None,
    ):
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.columns = columns

    @property
    def indicator_(self):
        """scikit-learn's ``MissingIndicator``, or None without ``add_indicator``."""
        return self._inner().indicator_

    def _keep_array(self, inner):
        super()._keep_array(inner)
        self.words_ = {}

    def _fit_columns(self, grid, columns, weights):
        self.words_ = {}
        super()._fit_columns(grid, columns, weights)
        if self.columns is None and self.strategy in ("most_frequent", "constant"):
            for position, column in enumerate(columns):
                if column.kind in WORDS and (word := self._word(grid.column(position))) is not None:
                    self.words_[column.name] = word

    def _word(self, column: pa.ChunkedArray) -> str | None:
        if self.strategy == "constant":
            return "missing_value" if self.fill_value is None else str(self.fill_value)
        counts = pc.value_counts(column.drop_null().cast(pa.string())).to_pylist()
        if not counts:
            return None
        most = max(each["counts"] for each in counts)
        return min(each["values"] for each in counts if each["counts"] == most)

    def _changed(self, grid):
        values, passed = super()._changed(grid)
        words = getattr(self, "words_", {})  # which files of former versions lack
        for place, position in enumerate(passed):
            word = words.get(grid.names[position]) if position >= 0 else None
            if word is None or not (column := grid.column(position)).null_count:
                continue
            filled = pc.fill_null(column.cast(pa.string()), word)
            is_coded = pa.types.is_dictionary(column.type)
            values[place], passed[place] = filled.dictionary_encode() if is_coded else filled, -1
        return values, passed
