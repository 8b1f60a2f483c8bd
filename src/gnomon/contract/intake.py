"""Intake: whatever the user gives, checked and turned into the rows that a method takes.

Arrays and sparse matrices go through scikit-learn's validation; data frames, Tables and Scans
through a `TableEncoder` that is fitted here and stored on the method as ``encoder_``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow.compute as pc
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
from gnomon.engine.threads import one_blas_thread
from gnomon.table.codes import as_numbers, dictionary
from gnomon.table.encode import Columns, TableEncoder
from gnomon.table.kinds import Kind
from gnomon.table.recode import as_strings
from gnomon.table.scan import Scan
from gnomon.table.table import Table

FLOATS = (np.float64, np.float32)
BOOLEANS = ((), ("false", "true"), ("0", "1"))


def take_in(learner, X, y, sample_weight) -> Data:
    """Everything that ``fit`` is given, ready for ``_fit``; sets the intake attributes."""
    for name in ("encoder_", "target_name_", "weight_name_", "feature_names_in_"):
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


def tables_of(learner, X) -> Iterator[Any]:
    """The rows to predict for, checked; tables stay tables (for methods made of other methods)."""
    if not hasattr(learner, "encoder_") or not (isinstance(X, (Table, Scan)) or is_frame(X)):
        yield from blocks_of(learner, X)
    else:
        for table in X.chunks() if isinstance(X, Scan) else [X]:
            yield _known_table(learner, table)


def given_to_callbacks(learner, X, y, sample_weight) -> dict[str, Any]:
    """What callbacks that score steps need; a target given by name is looked up when asked for."""
    target = y
    if isinstance(y, str):
        target = None if isinstance(X, Scan) else lambda: named_target(learner, as_table(X), y)
    metadata = None
    if sample_weight is not None and not isinstance(sample_weight, str):
        metadata = {"sample_weight": sample_weight}
    return {"X": X, "y": target, "metadata": metadata}


def take_more(learner, X, y, sample_weight) -> Data:
    """A further batch for ``partial_fit``: columns, codes and classes stay those of the first."""
    if isinstance(X, Scan):
        raise DataError("partial_fit takes batches in memory; fit streams a Scan by itself")
    if isinstance(y, str) or isinstance(sample_weight, str):
        X, y, sample_weight = split_off(learner, as_table(X), y, sample_weight)
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


def take_truth(learner, X, y, sample_weight) -> tuple[Any, Any, Any]:
    """Rows, true target and weights to score by; target and weights may be names of columns."""
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    if not names:
        return X, y, sample_weight
    if not (isinstance(X, (Table, Scan)) or is_frame(X)):
        raise DataError(
            f"{names[0]!r} is to be the name of a column, but X is no table; give the values"
        )
    rows = X if isinstance(X, Scan) else as_table(X)
    for name, role in ((y, "target"), (sample_weight, "weight")):
        if isinstance(name, str):
            _require_column(rows.columns, name, role)
    tables = list(rows.select(names).chunks()) if isinstance(rows, Scan) else [rows]
    if isinstance(y, str):
        y = np.concatenate([_truth(learner, table, y) for table in tables])
    if isinstance(sample_weight, str):
        sample_weight = np.concatenate([column_weights(table, sample_weight) for table in tables])
    return rows.drop(names), y, sample_weight


def _truth(learner, table: Table, name: str) -> np.ndarray:
    """The target column; yes and no in the letters of the learner's classes, as YES means yes."""
    column = table.schema[name]
    if column.kind is Kind.BOOLEAN and column.levels:
        learnt = {str(word).lower(): str(word) for word in getattr(learner, "classes_", ())}
        levels = tuple(learnt.get(word.lower(), word) for word in column.levels)
        table = table.with_schema(table.schema.set(name, levels=levels))
    return named_target(learner, table, name)


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
    harmless = isinstance(X, np.ndarray) and _squares_are_small(X, learner._largest)
    if harmless and y is not None and _is_plain(learner, X, reset):
        learner.n_features_in_ = X.shape[1]
        return X
    rows = validate_data(
        learner,
        X,
        y,
        reset=reset,
        accept_sparse="csr" if learner.natively.sparse else False,
        dtype=FLOATS,
        ensure_all_finite=not harmless and ("allow-nan" if learner.natively.missing else True),
    )
    rows = rows[0] if isinstance(rows, tuple) else rows
    if not harmless:
        _refuse_huge(learner, rows)
    return rows


def _is_plain(learner, X: np.ndarray, reset: bool) -> bool:
    """Whether nothing is left to check of an array of finite floats: small fits notice the time."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0:
        return False
    if hasattr(learner, "feature_names_in_"):
        return False
    return reset or X.shape[1] == getattr(learner, "n_features_in_", None)


def _refuse_huge(learner, rows, names=None) -> None:
    """Numbers whose squares or products would overflow are refused, naming the column."""
    values = rows.data if sp.issparse(rows) else rows
    if values.size == 0 or not np.isfinite(learner._largest):
        return
    if _squares_are_small(values, learner._largest):
        return
    if float(max(np.nanmax(values, initial=0), -np.nanmin(values, initial=0))) <= learner._largest:
        return
    if sp.issparse(rows):
        raise DataError(f"{type(learner).__name__}: values beyond {learner._largest:g}; rescale")
    worst = np.unravel_index(np.nanargmax(np.abs(rows)), rows.shape)
    if names is None:
        names = getattr(learner, "feature_names_in_", None)
    column = repr(names[worst[1]]) if names is not None else str(worst[1])
    raise DataError(
        f"{type(learner).__name__} cannot compute with numbers beyond {learner._largest:g}: "
        f"column {column}, row {worst[0]} holds {rows[worst]:g}. Rescale the column or mark "
        "such values as missing"
    )


def _squares_are_small(values: np.ndarray, largest: float) -> bool:
    """Whether the sum of squares rules out missing and too large numbers: one fast pass."""
    if values.dtype != np.float64 or not (values.flags.c_contiguous or values.flags.f_contiguous):
        return False
    line = values.ravel(order="K")
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(line, line))
    return bool(np.isfinite(total) and total <= largest * largest)


def _require_shape(learner, X) -> None:
    """Refuse before the conversion to float allocates anything."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        learner._require_memory(*shape, getattr(X, "nnz", None))


def _data(learner, rows, y, sample_weight, columns: Columns) -> Data:
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
    factors = None
    if learner._target == "classes":
        totals = np.bincount(y, weights, minlength=len(learner.classes_))
        factors = learner._class_weights(totals)
        if factors is not None:
            weights = factors[y] if weights is None else weights * factors[y]
    kept = None
    if weights is not None and (weights == 0).any():
        kept = weights > 0
        if not kept.any():
            raise DataError(
                "the weight of every row is zero: there is nothing to learn from. "
                "Give weights of which some are positive"
            )
        rows, weights = rows[kept], weights[kept]
        y = None if y is None else y[kept]
    if weights is not None and (weights == 1).all():
        weights = None
    learner._require_memory(*rows.shape, rows.nnz if sp.issparse(rows) else None)
    return Data(ArraySource(rows, y, weights), columns, kept, factors=factors)


def _target(learner, y, rows, name: str = "y"):
    """The target as class codes or numbers, checked; sets ``classes_``."""
    if learner._target is None:
        return None
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None"
        )
    if learner._target == "classes":
        y = plain_target(y, name)
        y = column_or_1d(y, warn=True)
        check_consistent_length(rows, y)
        counted = _counted_classes(y)
        if counted is not None:
            learner.classes_, codes = counted
            return codes
        check_classification_targets(y)
        learner.classes_ = np.unique(y)
        return np.searchsorted(learner.classes_, y).astype(np.int64, copy=False)
    y = _numeric_target(learner, y, name)
    check_consistent_length(rows, y)
    return y


def _counted_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Classes and codes of whole numbers close together, by counting; None for other labels.

    So many classes that scikit-learn would doubt that they are classes are left to it.
    """
    if y.dtype.kind not in "iu" or not len(y):
        return None
    low, high = int(y.min()), int(y.max())
    if high - low > len(y) // 2:
        return None
    places = np.subtract(y, low, dtype=np.int64)
    present = np.bincount(places) > 0
    classes = (np.flatnonzero(present) + low).astype(y.dtype)
    return classes, places if len(classes) == len(present) else (np.cumsum(present) - 1)[places]


def _numeric_target(learner, y, name: str) -> np.ndarray:
    if not learner._many_targets:
        y = column_or_1d(y, warn=True)
    try:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
    except (ValueError, TypeError) as error:
        raise _no_number(y, name) or error from None
    if y.size and np.abs(y).max() > learner._largest_target:
        raise DataError(
            f"the target {name!r} holds numbers beyond {learner._largest_target:g}; rescale it"
        )
    return y


def _no_number(y, name: str) -> DataError | None:
    """The error that names the first row whose target is no finite number; None if all are."""
    cells = np.asarray(y, dtype=object)
    cells = cells.reshape(len(cells), -1)
    missing = np.array([any(map(_is_missing, row)) for row in cells], dtype=bool)
    if missing.any():
        return _missing_target(missing, name)
    for row, values in enumerate(cells):
        for value in values.tolist():
            if not _is_finite(value):
                return DataError(
                    f"the target {name!r} must be finite numbers, and is {value!r} in row {row}; "
                    "put a number there, leave the row out, or take a classifier if these are "
                    "classes"
                )
    return None


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def _is_missing(value: Any) -> bool:
    different = value != value
    return value is None or not isinstance(different, (bool, np.bool_)) or bool(different)


def _missing_target(missing: np.ndarray, name: str) -> DataError:
    return DataError(
        f"the target {name!r} contains NaN: it is missing in {int(missing.sum()):,} of "
        f"{len(missing):,} rows (first: row {int(missing.argmax())}); leave those rows out or "
        "fill them in first"
    )


def plain_target(y, name: str) -> np.ndarray:
    """Labels as an array, none of them missing."""
    if is_frame(y) or hasattr(y, "__arrow_c_stream__") or hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in y.ravel()], dtype=bool)
    elif y.dtype.kind == "f":
        missing = np.isnan(y.ravel())
        if np.isinf(y).any():
            raise DataError(f"the target {name!r} contains infinity; Input y contains infinity")
    else:
        return y
    if missing.any():
        raise _missing_target(missing, name)
    return y


def _take_table(learner, X, y, sample_weight) -> Data:
    table, y, sample_weight = split_off(learner, as_table(X), y, sample_weight)
    is_whole = not isinstance(X, Table) and len(table.columns) == X.shape[1]
    _check_names(learner, X if is_whole else table, table, reset=True)
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
    _refuse_huge(learner, rows, encoder.columns.names)
    learner.encoder_ = encoder
    name = getattr(learner, "target_name_", "y")
    data = _data(learner, rows, _target(learner, y, rows, name), weights, encoder.columns)
    data.table = table
    return data


def _require_encoded(learner, n_rows: int, encoder: TableEncoder) -> None:
    n_columns = len(encoder.columns)
    if encoder.sparse:
        entries = n_rows * encoder.entries_per_row
        needed = 48 * entries + learner.forecast(n_rows, n_columns, entries)
    else:
        needed = 8 * n_rows * n_columns + learner.forecast(n_rows, n_columns)
    memory.require(
        needed,
        f"{type(learner).__name__}.fit on {n_rows:,} rows x {n_columns:,} columns "
        "(after categories and text have become numbers)",
        learner._memory_remedy(),
    )


def _refuse_infinite(encoder: TableEncoder, rows) -> None:
    if not np.isinf(rows.data if sp.issparse(rows) else rows).any():
        return
    if sp.issparse(rows):
        entries = rows.tocoo()
        first = int(np.argmax(np.isinf(entries.data)))
        row, column = entries.row[first], entries.col[first]
    else:
        row, column = np.argwhere(np.isinf(rows))[0]
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


def split_off(learner, table: Table, y, sample_weight):
    """Take target and weights out of the table where they are given by name."""
    if isinstance(y, str) and learner._target is not None:
        name, y = y, named_target(learner, table, y)
        learner.target_name_ = name
        table = table.drop(name)
    if isinstance(sample_weight, str):
        _require_column(table.columns, sample_weight, "weight")
        learner.weight_name_ = sample_weight
        sample_weight = column_weights(table, sample_weight)
        table = table.drop(learner.weight_name_)
    return table, y, sample_weight


def named_target(learner, table: Table, name: str) -> np.ndarray:
    """The target column of a table, as the learner's ``fit`` takes it: classes in their words.

    Parameters
    ----------
    learner : Learner
    table : Table
    name : str

    Returns
    -------
    y : ndarray of shape (n_samples,)
    """
    _require_column(table.columns, name, "target")
    column = class_column(table, name) if learner._target == "classes" else table.column(name)
    return _labels(column) if _is_text(column) else column.to_numpy()


def class_column(table: Table, name: str):
    """A column of classes; yes and no are classes of these names, true and false are booleans."""
    column = table.schema[name]
    written = tuple(word.lower() for word in column.levels or ())
    if column.kind is not Kind.BOOLEAN or written in BOOLEANS:
        return table.column(name)
    return as_strings(table.column(name), column)


def _labels(column) -> np.ndarray:
    """A column's values; text as an array of strings, unless some are missing."""
    values = column.to_pylist()
    return np.asarray(values, dtype=object if column.null_count else None)


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
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else "."
        raise DataError(
            f"the table has no column {name!r} to be the {role}{hint} "
            f"Its columns are: {', '.join(map(repr, list(columns)[:20]))}"
        )


def _check_names(learner, X, table: Table, reset: bool) -> None:
    _check_feature_names(learner, X.arrow if isinstance(X, Table) else X, reset=reset)
    _check_n_features(learner, table.arrow, reset=reset)


def _encoded(learner, X) -> np.ndarray:
    """Rows of a table, by the codes that were fitted."""
    encoder = getattr(learner, "encoder_", None)
    if encoder is None:
        table = without_roles(learner, as_table(X))
        X = table.to_pandas() if isinstance(X, Table) or table.shape[1] < X.shape[1] else X
        return _checked_array(learner, X, None, reset=False)
    rows = encoder.transform(_known_table(learner, X))
    _refuse_infinite(encoder, rows)
    _refuse_huge(learner, rows, encoder.columns.names)
    return rows


def _known_table(learner, X) -> Table:
    """X as a table of the columns that were fitted, in their order."""
    whole = as_table(X)
    table = without_roles(learner, whole)
    _check_names(learner, X if len(table.columns) == len(whole.columns) else table, table, False)
    if len(table) == 0:
        raise DataError("the table has columns and no rows; there is nothing to predict for")
    names = learner.encoder_.names_in
    table = table if tuple(table.columns) == names else table.select(names)
    return learner.encoder_.as_learnt(table)


def without_roles(learner, table: Table) -> Table:
    """The table without the columns that were target and weights in ``fit``."""
    for role in ("target_name_", "weight_name_"):
        name = getattr(learner, role, None)
        if name is not None and name in table.columns:
            table = table.drop(name)
    return table


class _ClassTarget:
    """Class codes of a target column, chunk by chunk, once its classes are known."""

    def __init__(self, name: str):
        self.name = name
        self.totals: dict[Any, float] = {}
        self.rows: dict[Any, int] = {}
        self.factors: np.ndarray | None = None

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        column = class_column(table, self.name)
        _refuse_missing(column, self.name, offset)
        values, codes = dictionary(column)
        totals = np.bincount(codes, weights, minlength=len(values))
        rows = np.bincount(codes, None if weights is None else weights > 0, minlength=len(values))
        for value, total, count in zip(values, totals, rows):
            self.totals[value] = self.totals.get(value, 0.0) + float(total)
            self.rows[value] = self.rows.get(value, 0) + int(count)

    def finish(self, learner) -> int:
        """Set the classes and their factors; how many rows have a positive weight."""
        values = sorted(self.totals)
        learner.classes_ = np.array(values)
        check_classification_targets(learner.classes_)
        self.position = {value: code for code, value in enumerate(values)}
        factors = learner._class_weights(np.array([self.totals[value] for value in values]))
        counts = np.array([self.rows[value] for value in values])
        if factors is not None and (factors != 1).any():
            self.factors = factors
            counts = counts[factors > 0]
        return int(counts.sum())

    def encode(self, table: Table) -> np.ndarray:
        values, codes = dictionary(class_column(table, self.name))
        return np.array([self.position[v] for v in values], dtype=np.int64)[codes]


class _NumberTarget:
    """The numbers of a target column, chunk by chunk."""

    factors = None

    def __init__(self, name: str):
        self.name = name
        self.n_rows = 0
        self.largest = 0.0

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        _refuse_missing(table.column(self.name), self.name, offset)
        numbers = self.encode(table)
        self.largest = max(self.largest, np.abs(numbers).max(initial=0.0))
        self.n_rows += len(numbers) if weights is None else int((weights > 0).sum())

    def finish(self, learner) -> int:
        if self.largest > learner._largest_target:
            raise DataError(
                f"the target {self.name!r} holds numbers beyond {learner._largest_target:g}; "
                "rescale it"
            )
        return self.n_rows

    def encode(self, table: Table) -> np.ndarray:
        return as_numbers(table.column(self.name), self.name)


class _NoTarget:
    """Counts rows where a method has no target."""

    factors = None

    def __init__(self):
        self.n_rows = 0

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        self.n_rows += len(table) if weights is None else int((weights > 0).sum())

    def finish(self, learner) -> int:
        return self.n_rows

    def encode(self, table: Table) -> None:
        return None


def _refuse_missing(column, name: str, offset: int) -> None:
    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if missing.any():
        raise DataError(
            f"the target {name!r} is missing in row {offset + int(missing.argmax()):,}; leave such "
            "rows out (with a SQL 'where') or fill them in first"
        )


def _take_scan(learner, scan: Scan, y, sample_weight) -> Data:
    """One pass to learn the codes; the passes of the method then stream."""
    for name, value, role in (("y", y, "target"), ("sample_weight", sample_weight, "weight")):
        if value is not None and not isinstance(value, str):
            raise DataError(f"for a Scan, {name} must be the name of a column, the {role}")
        if value is not None:
            _require_column(scan.schema.names, value, role)
    target = _scan_target(learner, y)
    if sample_weight is not None:
        learner.weight_name_ = sample_weight
    out = {getattr(target, "name", None), sample_weight}
    features = [name for name in scan.schema.names if name not in out]
    # chunks of a stream are dense rows
    encoder = TableEncoder(replace(learner.natively, many_levels=False))
    encoder.begin([scan.schema[name] for name in features])
    n_seen, weighted = 0, False
    for table in scan.chunks():
        weights = column_weights(table, sample_weight) if sample_weight else None
        encoder.look(table, weights)
        target.look(table, weights, n_seen)
        n_seen += len(table)
        weighted |= weights is not None and not np.isin(weights, (0, 1)).all()
    if n_seen == 0:
        raise DataError("the scan has columns and no rows; there is nothing to learn from")
    n_rows = target.finish(learner)
    if n_rows == 0:
        raise DataError(f"every weight in column {sample_weight!r} is zero; nothing can be learnt")
    encoder.finish()
    learner.feature_names_in_ = np.array(features, dtype=object)
    learner.n_features_in_ = len(features)
    learner.encoder_ = encoder

    def check(rows: np.ndarray) -> None:
        _refuse_infinite(encoder, rows)
        _refuse_huge(learner, rows, encoder.columns.names)

    weighted |= target.factors is not None
    source = ScanSource(scan, encoder, n_rows, target, sample_weight, weighted, check)
    if not _streams(learner):
        _require_encoded(learner, n_rows, encoder)
    return Data(source, encoder.columns, factors=target.factors)


def _scan_target(learner, y: str | None) -> _ClassTarget | _NumberTarget | _NoTarget:
    if learner._target is None:
        return _NoTarget()
    if y is None:
        raise DataError(f"{type(learner).__name__} requires y: give the name of the target column")
    learner.target_name_ = y
    return _ClassTarget(y) if learner._target == "classes" else _NumberTarget(y)


def _streams(learner) -> bool:
    """Whether the learner works chunk by chunk and never gathers all rows."""
    return hasattr(learner, "_sums")


def _scan_blocks(learner, scan: Scan) -> Iterator[np.ndarray]:
    for table in scan.chunks():
        yield _encoded(learner, table)
