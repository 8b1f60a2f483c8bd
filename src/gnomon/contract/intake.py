"""Intake: whatever the user gives, checked and turned into the rows that a method takes.

Arrays and sparse matrices go through scikit-learn's validation; data frames, Tables and Scans
through a `TableEncoder` that is fitted here and stored on the method as ``encoder_``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from gnomon.contract.data import Data, ScanSource, column_weights
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.sums import ArraySource
from gnomon.table.encode import Columns, TableEncoder
from gnomon.table.kinds import Kind
from gnomon.table.scan import Scan
from gnomon.table.table import Table

FLOATS = (np.float64, np.float32)


def take_in(learner, X, y, sample_weight) -> Data:
    """Everything that ``fit`` is given, ready for ``_fit``; sets the intake attributes."""
    for name in ("encoder_", "target_name_", "feature_names_in_"):
        vars(learner).pop(name, None)
    if isinstance(X, Scan):
        return _take_scan(learner, X, y, sample_weight)
    if isinstance(X, Table) or is_frame(X):
        return _take_table(learner, X, y, sample_weight)
    _require_shape(learner, X)
    rows = _checked_array(learner, X, y, reset=True)
    columns = Columns.of_numbers(rows.shape[1])
    return _data(learner, rows, _target(learner, y, rows), sample_weight, columns)


def blocks_of(learner, X, largest: float | None = None) -> Iterator[Any]:
    """The rows to predict for, as the method takes them; a Scan in several blocks."""
    if isinstance(X, Scan):
        yield from _scan_blocks(learner, X)
    elif isinstance(X, Table) or is_frame(X):
        yield _encoded(learner, X)
    else:
        encoder = getattr(learner, "encoder_", None)
        if encoder is not None and not encoder.only_numbers:
            raise DataError(
                f"this {type(learner).__name__} was fitted on a table whose columns are not all "
                "numbers; give a data frame or Table with the same columns, not a bare array"
            )
        yield _checked_array(learner, X, None, reset=False)


def given_to_callbacks(X, y, sample_weight) -> dict[str, Any]:
    """What callbacks that score steps need; a target given by name is looked up when asked for."""
    target = y
    if isinstance(y, str):
        target = None if isinstance(X, Scan) else lambda: np.asarray(as_table(X).column(y))
    metadata = None
    if sample_weight is not None and not isinstance(sample_weight, str):
        metadata = {"sample_weight": sample_weight}
    return {"X": X, "y": target, "metadata": metadata}


def take_more(learner, X, y, sample_weight) -> Data:
    """A further batch for ``partial_fit``: columns, codes and classes stay those of the first."""
    if isinstance(X, Scan):
        raise DataError("partial_fit takes batches in memory; fit streams a Scan by itself")
    if isinstance(y, str) or isinstance(sample_weight, str):
        X, y, sample_weight = _split_off(learner, as_table(X), y, sample_weight)
    rows = next(blocks_of(learner, X))
    encoder = getattr(learner, "encoder_", None)
    columns = encoder.columns if encoder is not None else Columns.of_numbers(rows.shape[1])
    known = getattr(learner, "classes_", None)
    try:
        target = _target(learner, y, rows)
        if known is not None:
            target = use_classes(learner, target, known)
    finally:
        if known is not None:
            learner.classes_ = known
    return _data(learner, rows, target, sample_weight, columns)


def use_classes(learner, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes by a given list of sorted classes, which becomes ``classes_``."""
    seen, learner.classes_ = learner.classes_, classes
    unknown = seen[~np.isin(seen, classes)]
    if len(unknown):
        raise ValueError(
            f"y holds the class {unknown[0]!r}, which is not among those that were announced: "
            f"{classes.tolist()}"
        )
    return np.searchsorted(classes, seen)[codes].astype(np.int64)


def _checked_array(learner, X, y, reset: bool):
    if not reset:
        y = "no_validation"
    elif y is None and learner._target is not None:
        y = None
    else:
        y = "no_validation"
    rows = validate_data(
        learner,
        X,
        y,
        reset=reset,
        accept_sparse="csr" if learner.natively.sparse else False,
        dtype=FLOATS,
        ensure_all_finite="allow-nan" if learner.natively.missing else True,
    )
    rows = rows[0] if isinstance(rows, tuple) else rows
    _refuse_huge(learner, rows)
    return rows


def _refuse_huge(learner, rows) -> None:
    """Numbers whose squares or products would overflow are refused, naming the column."""
    values = rows.data if sp.issparse(rows) else rows
    if values.size == 0 or not np.isfinite(learner._largest):
        return
    if max(np.nanmax(values, initial=0), -np.nanmin(values, initial=0)) <= learner._largest:
        return
    if sp.issparse(rows):
        raise DataError(f"{type(learner).__name__}: values beyond {learner._largest:g}; rescale")
    worst = np.unravel_index(np.nanargmax(np.abs(rows)), rows.shape)
    names = getattr(learner, "feature_names_in_", None)
    column = repr(names[worst[1]]) if names is not None else str(worst[1])
    raise DataError(
        f"{type(learner).__name__} cannot compute with numbers beyond {learner._largest:g}: "
        f"column {column}, row {worst[0]} holds {rows[worst]:g}. Rescale the column or mark "
        "such values as missing"
    )


def _require_shape(learner, X) -> None:
    """Refuse before the conversion to float allocates anything."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        learner._require_memory(*shape)


def _data(learner, rows, y, sample_weight, columns: Columns) -> Data:
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
    factors = learner._class_weights(y) if learner._target == "classes" else None
    if factors is not None:
        weights = factors if weights is None else weights * factors
    kept = None
    if weights is not None and (weights == 0).any():
        kept = weights > 0
        rows, weights = rows[kept], weights[kept]
        y = None if y is None else y[kept]
    if weights is not None and (weights == 1).all():
        weights = None
    learner._require_memory(*rows.shape)
    return Data(ArraySource(rows, y, weights), columns, kept)


def _target(learner, y, rows, name: str = "y"):
    """The target as class codes or numbers, checked; sets ``classes_``."""
    if learner._target is None:
        return None
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None"
        )
    if learner._target == "classes":
        y = _plain_target(y, name)
        y = column_or_1d(y, warn=True)
        check_consistent_length(rows, y)
        check_classification_targets(y)
        learner.classes_ = np.unique(y)
        return np.searchsorted(learner.classes_, y).astype(np.int64, copy=False)
    y = _numeric_target(learner, y, name)
    check_consistent_length(rows, y)
    return y


def _numeric_target(learner, y, name: str) -> np.ndarray:
    if learner._many_targets:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
    else:
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
    if y.size and np.abs(y).max() > learner._largest_target:
        raise DataError(
            f"the target {name!r} holds numbers beyond {learner._largest_target:g}; rescale it"
        )
    return y


def _plain_target(y, name: str) -> np.ndarray:
    """Labels as an array, none of them missing."""
    if is_frame(y) or hasattr(y, "__arrow_c_stream__") or hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in y.ravel()], dtype=bool)
    elif y.dtype.kind == "f":
        missing = np.isnan(y.ravel())
        if np.isinf(y).any():
            raise DataError(f"the target {name!r} contains infinity; Input y contains infinity")
    else:
        return y
    if missing.any():
        raise DataError(
            f"the target {name!r} contains NaN: it is missing in {int(missing.sum()):,} of "
            f"{len(missing):,} rows (first: row {int(missing.argmax())}); leave those rows out or "
            "fill them in first"
        )
    return y


def _take_table(learner, X, y, sample_weight) -> Data:
    table, y, sample_weight = _split_off(learner, as_table(X), y, sample_weight)
    original = X if not isinstance(X, Table) and not hasattr(learner, "target_name_") else table
    _check_names(learner, original, table, reset=True)
    if len(table) == 0:
        raise DataError("the table has columns and no rows; there is nothing to learn from")
    learner._require_memory(*table.shape)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, np.empty((len(table), 1)), dtype=np.float64, ensure_non_negative=True
        )
    encoder = TableEncoder(learner.natively).fit(table, weights)
    _require_encoded(learner, len(table), encoder)
    rows = encoder.transform(table)
    _refuse_infinite(encoder, rows)
    _refuse_huge(learner, rows)
    learner.encoder_ = encoder
    name = getattr(learner, "target_name_", "y")
    return _data(learner, rows, _target(learner, y, rows, name), weights, encoder.columns)


def _require_encoded(learner, n_rows: int, encoder: TableEncoder) -> None:
    n_columns = len(encoder.columns)
    memory.require(
        8 * n_rows * n_columns + learner.forecast(n_rows, n_columns),
        f"{type(learner).__name__}.fit on {n_rows:,} rows x {n_columns:,} columns "
        "(after categories and text have become numbers)",
        learner._memory_remedy(),
    )


def _refuse_infinite(encoder: TableEncoder, rows: np.ndarray) -> None:
    infinite = np.isinf(rows)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(
            f"column {encoder.columns.names[column]!r}, row {row} is infinite; "
            "mark it as missing or put a finite number there"
        )


def is_frame(X) -> bool:
    """Whether X is a data frame of a kind that narwhals knows (pandas, polars, Arrow ...)."""
    return nw.dependencies.is_into_dataframe(X)


def as_table(X) -> Table:
    """A Table of any frame; a frame's columns of numbers are numbers, whatever they look like."""
    if isinstance(X, Table):
        return X
    table = Table.from_frame(X)
    schema = table.schema
    for column in schema:
        if column.kind is Kind.IDENTIFIER and _is_numeric(table.column(column.name).type):
            schema = schema.set(column.name, kind="number")
    return table if schema is table.schema else table.with_schema(schema)


def _is_numeric(arrow_type) -> bool:
    import pyarrow.types as types

    return types.is_integer(arrow_type) or types.is_floating(arrow_type)


def _split_off(learner, table: Table, y, sample_weight):
    """Take target and weights out of the table where they are given by name."""
    if isinstance(y, str) and learner._target is not None:
        _require_column(table.columns, y, "target")
        learner.target_name_ = y
        column = table.column(y)
        table = table.drop(y)
        y = np.asarray(column.to_pylist(), dtype=object) if _is_text(column) else column.to_numpy()
    if isinstance(sample_weight, str):
        _require_column(table.columns, sample_weight, "weight")
        name, sample_weight = sample_weight, column_weights(table, sample_weight)
        table = table.drop(name)
    return table, y, sample_weight


def _is_text(column) -> bool:
    import pyarrow.types as types

    return (
        not (
            types.is_integer(column.type)
            or types.is_floating(column.type)
            or types.is_boolean(column.type)
        )
        or column.null_count > 0
    )


def _require_column(columns, name: str, role: str) -> None:
    if name not in columns:
        import difflib

        near = difflib.get_close_matches(name, columns, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
        raise DataError(
            f"the table has no column {name!r} to be the {role}{hint} "
            f"Its columns are: {', '.join(map(repr, list(columns)[:20]))}"
        )


def _check_names(learner, X, table: Table, reset: bool) -> None:
    _check_feature_names(learner, X.arrow if isinstance(X, Table) else X, reset=reset)
    _check_n_features(learner, table.arrow, reset=reset)


def _encoded(learner, X) -> np.ndarray:
    """Rows of a table, by the codes that were fitted."""
    table = as_table(X)
    target = getattr(learner, "target_name_", None)
    if target is not None and target in table.columns:
        table = table.drop(target)
        X = table
    encoder = getattr(learner, "encoder_", None)
    if encoder is None:
        if isinstance(X, Table):
            X = X.to_pandas()
        return _checked_array(learner, X, None, reset=False)
    _check_names(learner, X, table, reset=False)
    if len(table) == 0:
        raise DataError("the table has columns and no rows; there is nothing to predict for")
    if tuple(table.columns) != encoder.names_in:
        table = table.select(encoder.names_in)
    rows = encoder.transform(table)
    _refuse_infinite(encoder, rows)
    _refuse_huge(learner, rows)
    return rows


class _ClassTarget:
    """Class codes of a target column, chunk by chunk, once its classes are known."""

    def __init__(self, name: str):
        self.name = name
        self.values: set = set()

    def look(self, table: Table, offset: int) -> None:
        column = table.column(self.name)
        _refuse_missing(column, self.name, offset)
        self.values |= set(column.unique().to_pylist())

    def finish(self, learner) -> None:
        learner.classes_ = np.array(sorted(self.values))
        self.position = {value: code for code, value in enumerate(sorted(self.values))}

    def encode(self, table: Table) -> np.ndarray:
        from gnomon.table.codes import dictionary

        values, codes = dictionary(table.column(self.name))
        return np.array([self.position[v] for v in values], dtype=np.int64)[codes]


class _NumberTarget:
    """The numbers of a target column, chunk by chunk."""

    def __init__(self, name: str):
        self.name = name

    def look(self, table: Table, offset: int) -> None:
        _refuse_missing(table.column(self.name), self.name, offset)

    def finish(self, learner) -> None:
        pass

    def encode(self, table: Table) -> np.ndarray:
        from gnomon.table.codes import as_numbers

        return as_numbers(table.column(self.name), self.name)


def _refuse_missing(column, name: str, offset: int) -> None:
    if column.null_count:
        first = column.is_null().to_numpy().argmax()
        raise DataError(
            f"the target {name!r} is missing in row {offset + int(first):,}; leave such rows out "
            "(with a SQL 'where') or fill them in first"
        )


def _take_scan(learner, scan: Scan, y, sample_weight) -> Data:
    """One pass to learn the codes; the passes of the method then stream."""
    for name, value, role in (("y", y, "target"), ("sample_weight", sample_weight, "weight")):
        if value is not None and not isinstance(value, str):
            raise DataError(f"for a Scan, {name} must be the name of a column, the {role}")
        if value is not None:
            _require_column(scan.schema.names, value, role)
    if learner._target is not None and y is None:
        raise DataError(f"{type(learner).__name__} requires y: give the name of the target column")
    target = None
    if learner._target is not None:
        learner.target_name_ = y
        target = _ClassTarget(y) if learner._target == "classes" else _NumberTarget(y)
    out = {name for name in (y if target else None, sample_weight) if name}
    features = [name for name in scan.schema.names if name not in out]
    encoder = TableEncoder(learner.natively)
    encoder.begin([scan.schema[name] for name in features])
    n_rows = 0
    for table in scan.chunks():
        weights = column_weights(table, sample_weight) if sample_weight else None
        encoder.look(table, weights)
        if target is not None:
            target.look(table, n_rows)
        n_rows += len(table)
    if n_rows == 0:
        raise DataError("the scan has columns and no rows; there is nothing to learn from")
    encoder.finish()
    if target is not None:
        target.finish(learner)
    learner.feature_names_in_ = np.array(features, dtype=object)
    learner.n_features_in_ = len(features)
    learner.encoder_ = encoder
    source = ScanSource(scan, encoder, n_rows, target, sample_weight)
    if not _streams(learner):
        _require_encoded(learner, n_rows, encoder)
    return Data(source, encoder.columns)


def _streams(learner) -> bool:
    """Whether the learner works chunk by chunk and never gathers all rows."""
    return hasattr(learner, "_sums")


def _scan_blocks(learner, scan: Scan) -> Iterator[np.ndarray]:
    for table in scan.chunks():
        yield _encoded(learner, table)
