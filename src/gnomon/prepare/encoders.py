"""Encoders of categories under scikit-learn's names: one-hot columns, whole numbers, target means.

Every column is read as categories, whatever it holds, as scikit-learn does. The classes are its
own; they take any table here: cells of pandas frames, polars frames, Arrow tables and `Table` are
the same categories, and a missing cell is a category of its own.

Texts: 000c 15.1.2, 16.1.2 · 001 6.1, 14.2.1 · 003 2.1.9.1 (one-hot) · 000b exercise 10.11 (scores).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import intake
from gnomon.contract.intake.targets import plain_target
from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.missing import is_missing
from gnomon.engine.registry import method
from gnomon.engine.stored import (
    CLASSES,
    Array,
    DictOf,
    Flag,
    ListOf,
    Number,
    Optional,
    Text,
    Whole,
)
from gnomon.table.scan import Scan
from gnomon.table.table import Table

WORDS = "OUSM"  # kinds of arrays of cells that are no numbers: text and dates


class MixedCellsError(DataError, TypeError):
    """A column holds cells that have no common order; a TypeError in scikit-learn."""


class CellEncoder(OverScikitLearn):
    """An encoder of scikit-learn's whose columns hold categories of any kind."""

    natively = Takes(missing=True, categories=True)
    _keeps_cells = True
    _grows = True  # with the categories of its columns
    _stored = {
        "categories_": ListOf(Array("biufUSOMm", (None,), finite=False), "n_features_in_"),
        "_infrequent_enabled": Flag(),
        "_infrequent_indices": Optional(ListOf(Array("i", (None,), low=0) | None)),
        "_default_to_infrequent_mappings": Optional(ListOf(Array("i", (None,), low=0) | None)),
    }

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        if (isinstance(X, Table) or intake.is_frame(X)) and not X.shape[1]:
            raise DataError(f"{type(self).__name__}: the table has no columns (0 feature(s))")
        y = given.get("y")
        if not isinstance(y, str):
            return self._cells(X), given, {}
        X, y, _ = intake.split_off(self, intake.as_table(X), y, None)
        of_table = {"target_name_": self.__dict__.pop("target_name_")} if self._target else {}
        return self._cells(X), {**given, "y": y}, of_table

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        try:
            return super()._fit_peer(fit, rows, given)
        except TypeError as error:
            if "uniformly strings or numbers" not in str(error):
                raise
            raise MixedCellsError(f"{error}: give cells of one type in each column") from None

    def _cells(self, X: Any) -> Any:
        """A table as a frame that scikit-learn reads column by column; arrays as they are."""
        if isinstance(X, Scan):
            X = X.read()
        if not isinstance(X, Table) and (hasattr(X, "iloc") or not intake.is_frame(X)):
            return X
        frame = intake.as_table(X).to_pandas()
        for place, name in enumerate(frame.columns):
            column = frame[name]
            if column.dtype.kind == "O" and column.isna().any():
                known = self.categories_[place] if hasattr(self, "categories_") else ()
                mark = None if any(each is None for each in known) else np.nan
                cells = np.array([mark if is_missing(cell) else cell for cell in column], object)
                frame[name] = cells
        return frame

    def _checked(self, X: Any) -> Any:
        """The cells, as what was learnt from holds them."""
        if not hasattr(self, "categories_"):
            return X
        X = self._cells(X)
        if hasattr(X, "iloc"):
            self._refuse_words(X)
        elif hasattr(self, "feature_names_in_"):
            self._refuse_bare_numbers(X)
        return X

    def _refuse_words(self, frame: Any) -> None:
        """Text in a column of numbers is a mistake rather than an unknown category."""
        for place, name in enumerate(frame.columns[: len(self.categories_)]):
            if self.categories_[place].dtype.kind in WORDS or len(frame) == 0:
                continue
            column = frame[name] if frame.columns.is_unique else frame.iloc[:, place]
            if all(isinstance(cell, str) for cell in column):
                raise DataError(
                    f"column {name!r} holds text ({column.iloc[0]!r} in row 0) and held numbers in "
                    "fit; give columns as in the training table"
                )

    def _refuse_bare_numbers(self, X: Any) -> None:
        if getattr(X, "dtype", np.dtype(object)).kind not in "biuf":
            return
        for name, known in zip(self.feature_names_in_, self.categories_):
            if known.dtype.kind in WORDS and not any(isinstance(each, float) for each in known[:1]):
                raise DataError(
                    f"this {type(self).__name__} was fitted on a table whose column {name!r} is "
                    "not of numbers; give a table with the same columns, not an array of numbers"
                )

    def _as_frame(self, X: Any) -> Any:
        check_is_fitted(self)
        table = X.read() if isinstance(X, Scan) else intake.as_table(X)
        return self._cells(intake.without_roles(self, table))

    def _example_row(self) -> Any:
        """The first category of each column, to try out what was read from a model file."""
        if not hasattr(self, "categories_"):
            return None
        if hasattr(self, "feature_names_in_"):
            cells = [pa.array(known[:1], from_pandas=True) for known in self.categories_]
            return pa.table(cells, names=[str(name) for name in self.feature_names_in_])
        return np.array([[known[0] for known in self.categories_]])

    def _check_loaded(self) -> None:
        if not hasattr(self, "categories_"):
            return
        for name in ("_infrequent_indices", "_default_to_infrequent_mappings"):
            for known, places in zip(self.categories_, getattr(self, name, ())):
                if places is not None and len(places) and places.max() >= len(known):
                    raise ValueError("infrequent categories are none of the categories")


class ReversibleEncoder(CellEncoder):
    """An encoder whose numbers can be decoded."""

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The categories that encoded rows stand for.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_encoded)
            As ``transform`` gives it.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        peer: Any = super()
        try:
            return peer.inverse_transform(X.to_numpy() if isinstance(X, Table) else X)
        except IndexError:
            raise DataError(
                f"{type(self).__name__}.inverse_transform: a number stands for no category, or for "
                "an infrequent one of a column with missing cells; give rows as transform does"
            ) from None


@method(
    task="filter",
    texts="000c 15.1.2, 16.1.2 · 001 6.1, 14.2.1 · 003 2.1.9.1",
    use="Categories for a method that takes numbers; rare levels together in one column.",
    avoid="Columns of very many levels (TargetEncoder); methods that take categories (trees).",
    peers=("sklearn.preprocessing.OneHotEncoder",),
    on="scikit-learn",
)
class OneHotEncoder(ReversibleEncoder, preprocessing.OneHotEncoder):
    """Each column to one column of zeros and ones per category.

    Use it to give categories to a method that takes numbers, with levels that are rare or unknown
    as you choose; all columns are read as categories. Not for columns of very many levels, nor for
    methods that take categories as they are. `OneHot` differs: it changes columns of categories
    only, passes the others on, and a missing cell is the shares of the levels.

    Examples
    --------
    >>> from gnomon.prepare import OneHotEncoder
    >>> encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    >>> encoder.fit_transform([["dog"], ["cat"], ["dog"]])
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    >>> encoder.transform([["mouse"]])
    array([[0., 0.]])
    """

    _stored = {
        "drop_idx_": Array("O", ("n_features_in_",)) | None,
        "_drop_idx_after_grouping": Array("O", ("n_features_in_",)) | None,
        "_n_features_outs": ListOf(Whole(), "n_features_in_"),
    }

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the categories of the rows and encode them.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        X_new : sparse matrix or array of shape (n_samples, n_encoded)
        """
        return self.fit(X, y).transform(X)  # which sees whether a frame of sparse rows is asked for

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "categories_"):
            return
        for name in ("drop_idx_", "_drop_idx_after_grouping"):
            places = getattr(self, name)
            for known, place in zip(self.categories_, () if places is None else places):
                within = isinstance(place, (int, np.integer)) and 0 <= place < len(known)
                if place is not None and not within:
                    raise ValueError("a dropped category is none of the categories")
        if list(self._compute_n_features_outs()) != self._n_features_outs:
            raise ValueError("the numbers of new columns are not those of the categories")

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        levels = min(n_rows, self.max_categories or 100)
        return 8 * (8 * n_rows + 4 * levels * n_columns)


@method(
    task="filter",
    texts="000b exercise 10.11 · 003 2.1.9.1",
    use="Levels with an order, or methods that take the numbers of categories.",
    avoid="Levels without an order for methods that take numbers as distances: OneHotEncoder.",
    peers=("sklearn.preprocessing.OrdinalEncoder",),
    on="scikit-learn",
    synonyms=("label encoding",),
)
class OrdinalEncoder(ReversibleEncoder, preprocessing.OrdinalEncoder):
    """Each column to the numbers 0, 1, 2 ... of its categories.

    Use it for levels with an order (list them in ``categories``; they are sorted otherwise), or for
    methods that read numbers as categories. Not for levels without an order where a method would
    take the numbers as distances: `OneHotEncoder`. `OrdinalScores` gives scores of your choice.

    Examples
    --------
    >>> from gnomon.prepare import OrdinalEncoder
    >>> encoder = OrdinalEncoder(categories=[["low", "middle", "high"]])
    >>> encoder.fit_transform([["high"], ["low"], ["middle"]]).ravel()
    array([2., 0., 1.])
    >>> encoder.inverse_transform([[2.0]])
    array([['high']], dtype=object)
    """

    _stored = {
        "_missing_indices": DictOf(Whole()),
    }


@method(
    task="filter",
    texts="003 2.1.9.1 · 001 4.4",
    use="Columns of very many levels, by the mean of the target in each.",
    avoid="Few levels (OneHotEncoder), or few rows per level and a target that is mostly noise.",
    peers=("sklearn.preprocessing.TargetEncoder",),
    on="scikit-learn",
    synonyms=("mean encoding", "impact encoding", "likelihood encoding", "high cardinality"),
)
class TargetEncoder(CellEncoder, preprocessing.TargetEncoder):
    """Each category to the mean of the target in it, drawn towards the mean of all rows.

    Use it for columns of very many levels. ``fit_transform`` encodes each fold of the training rows
    by the others, so that no row sees its own target; ``fit(X, y).transform(X)`` does not. Not for
    few levels, for which `OneHotEncoder` loses nothing.

    Examples
    --------
    >>> from gnomon.prepare import TargetEncoder
    >>> rows, y = [["a"], ["a"], ["b"], ["b"]], [1.5, 2.5, 7.5, 8.5]
    >>> TargetEncoder(smooth=0.0).fit(rows, y).transform([["a"], ["b"], ["never seen"]]).ravel()
    array([2., 8., 5.])
    """

    _stored = {
        "encodings_": ListOf(Array("f8", (None,), finite=False)),
        "target_mean_": Number() | Array("f8", ("n_classes",)),
        "target_type_": Text(("continuous", "binary", "multiclass")),
        "classes_": CLASSES | None,
    }

    @property
    def _target(self) -> str:  # type: ignore[override]
        return {"auto": "any", "continuous": "numbers"}.get(self.target_type, "classes")

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        name = given.get("y")
        if name is None:
            raise ValueError("TargetEncoder requires y to be passed, but the target y is None")
        rows, given, of_table = super()._taken(X, given, more)
        if of_table or hasattr(rows, "iloc"):
            given["y"] = plain_target(given["y"], name if isinstance(name, str) else "y")
        return rows, given, of_table

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "encodings_"):
            return
        n_classes = len(self.classes_) if self.target_type_ == "multiclass" else 1
        found = [len(means) for means in self.encodings_]
        if found != [len(known) for known in self.categories_ for _ in range(n_classes)]:
            raise ValueError("the means of the target are not those of the categories")
        if np.shape(self.target_mean_) != ((n_classes,) if n_classes > 1 else ()):
            raise ValueError("the mean of the target is not that of its classes")
