"""What every estimator of texts inherits: any source of texts, callbacks, counts of words.

Texts are a list of strings, a column of a data frame, of an Arrow table or of a `Table`, a table
with one column of text, or a `Scan` with such a column, which is read chunk by chunk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.callback import with_callbacks

from gnomon.contract import intake
from gnomon.contract.docstrings import with_peer
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import HasMethods, validated
from gnomon.engine.stored import Array, Object, Optional, Text, Whole
from gnomon.table.kinds import Kind
from gnomon.table.scan import Scan
from gnomon.table.table import Table


class TextEstimator(Estimator):
    """An estimator whose ``fit`` takes texts."""

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Tell the callbacks of the begin and the end of a fit that runs inside."""
        context = self._init_callback_context(max_subtasks=self._most_steps())
        context.call_on_fit_task_begin(estimator=self)
        yield
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public)

    def _example_row(self) -> list[str] | None:
        """A text, to try out what was read from a model file; None before a fit."""
        return ["a word"] if self._public() else None


def fits(fit: Callable[..., Any]) -> Callable[..., Any]:
    """What every ``fit`` of texts does first: check parameters and report to callbacks."""

    @functools.wraps(fit)
    def reported(self: Any, *args: Any, **named: Any) -> Any:
        with self._reported():
            return fit(self, *args, **named)

    return validated(with_callbacks(reported))


def texts_of(X: Any) -> Iterable[Any]:
    """Texts, one after the other, from whatever holds them.

    Parameters
    ----------
    X : list of str, column, data frame, Table or Scan
        Missing cells of a column are texts without words.

    Returns
    -------
    texts : iterable
        A list, or a generator where X is a `Scan` or a generator.

    Examples
    --------
    >>> texts_of(Table.from_dict({"remark": ["a red cat", None]}))
    ['a red cat', '']
    """
    if isinstance(X, (str, bytes)):
        raise DataError(
            "one string was given where texts are expected (Iterable over raw text documents "
            "expected, string object received): give a list, [text] for a single one"
        )
    if isinstance(X, Scan):
        name = text_column(X.schema)
        return (text for chunk in X.select([name]).chunks() for text in cells(chunk.column(name)))
    if intake.is_frame(X) or isinstance(X, Table):
        table = intake.as_table(X)
        return cells(table.column(text_column(table.schema)))
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        return cells(X)
    if nw.dependencies.is_into_series(X):
        return cells(nw.from_native(X, series_only=True).to_arrow())
    if isinstance(X, np.ndarray) and X.ndim > 1:
        if X.shape[1] != 1:
            raise DataError(f"texts are one column; the array has shape {X.shape}: give one of it")
        return X.ravel()
    return X


def text_column(schema: Any) -> str:
    """The name of the only column, or of the only one of text."""
    names = schema.names
    found = names if len(names) == 1 else schema.of_kind(Kind.TEXT)
    if len(found) == 1:
        return found[0]
    raise DataError(
        f"the table has {len(found)} columns of text among {', '.join(names[:8])}: give one "
        "column, as in table.select(['name'])"
    )


def cells(column: Any) -> list[Any]:
    """The cells of a column; missing ones are empty texts."""
    return ["" if cell is None else cell for cell in column.to_pylist()]


def is_counts(X: Any) -> bool:
    """Whether X is a table of numbers, one row per document, and not texts."""
    if sp.issparse(X):
        return True
    if intake.is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return all(dtype.is_numeric() for dtype in frame.schema.values())
    if isinstance(X, (list, tuple)) and len(X) and not isinstance(X[0], (str, bytes)):
        X = np.asarray(X)
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb"


class CountModel(TextEstimator):
    """A model of counts of words; texts are counted first by a vectorizer.

    Class attributes that a method may set: ``_weights`` (whether rows may be any weights that are
    not negative, rather than whole numbers).
    """

    _weights: ClassVar[bool] = False
    _stored = {
        "n_features_in_": Whole(1),
        "vectorizer_": Optional(Object(("TextEstimator",))),
        "terms_": Array("O", ("n_features_in_",), entry=Text()),
    }
    _vectorizer_constraints: ClassVar[dict[str, Any]] = {
        "vectorizer": [HasMethods(["fit_transform", "transform", "get_feature_names_out"]), None]
    }

    def _check_loaded(self) -> None:
        vocabulary = getattr(vars(self).get("vectorizer_"), "vocabulary_", None)
        if vocabulary is not None and len(vocabulary) != self.n_features_in_:
            raise ValueError(
                f"has {self.n_features_in_} terms, and its vectorizer has {len(vocabulary)}"
            )

    def _usual_vectorizer(self) -> Any:
        """What counts texts where the parameter `vectorizer` is None."""
        raise NotImplementedError

    def _learned_rows(self, X: Any) -> sp.csr_array:
        """Counts of the texts, or the counts themselves; sets ``terms_`` and ``vectorizer_``."""
        self.__dict__.pop("vectorizer_", None)
        if is_counts(X):
            rows = self._checked(X)
            names = X.columns if intake.is_frame(X) else (f"term {j}" for j in range(rows.shape[1]))
            self.terms_ = np.array([str(name) for name in names], dtype=object)
        else:
            given = self.vectorizer
            self.vectorizer_ = self._usual_vectorizer() if given is None else clone(given)
            rows = self._checked(self.vectorizer_.fit_transform(X))
            self.terms_ = np.asarray(self.vectorizer_.get_feature_names_out(), dtype=object)
        self.n_features_in_ = rows.shape[1]
        if rows.shape[0] == 0 or rows.nnz == 0:
            raise DataError(f"{type(self).__name__}: no document holds a word; give other texts")
        return rows

    def _rows(self, X: Any) -> sp.csr_array:
        """Counts of new texts in the vocabulary that was learned, or new counts."""
        n_columns = self.n_features_in_
        if not is_counts(X):
            if "vectorizer_" not in vars(self):
                raise DataError(
                    f"{type(self).__name__} was fitted to counts: give counts of the same "
                    f"{n_columns} terms, not texts"
                )
            X = self.vectorizer_.transform(X)
        rows = self._checked(X)
        if rows.shape[1] != n_columns:
            raise DataError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{n_columns} features as input: one column for each term"
            )
        return rows

    def _checked(self, X: Any) -> sp.csr_array:
        if intake.is_frame(X):
            X = nw.from_native(X, eager_only=True).to_numpy()
        rows = sp.csr_array(X, dtype=np.float64)
        if rows.nnz and not 0 <= rows.indices.min() <= rows.indices.max() < rows.shape[1]:
            raise DataError(f"{type(self).__name__}: a sparse row names a column that is not there")
        rows.sum_duplicates()
        bad = ~np.isfinite(rows.data) | (rows.data < 0)
        if not self._weights:
            bad |= rows.data != np.rint(rows.data)
        if bad.any():
            place = np.flatnonzero(bad)[0]
            row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
            kind = "a number, 0 or more" if self._weights else "a whole number, 0 or more"
            raise DataError(
                f"{type(self).__name__}: row {row}, column {rows.indices[place]} holds "
                f"{rows.data[place]:g}; each cell must be {kind}"
            )
        rows.eliminate_zeros()
        return rows


def documented_by(peer: type) -> Callable[[type], type]:
    """Put the texts of scikit-learn's parameters and attributes before those of a class's own."""

    def decorate(cls: type) -> type:
        cls.__doc__ = with_peer(cls.__doc__ or "", peer)
        return cls

    return decorate
