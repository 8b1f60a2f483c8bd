"""Targets: class codes or numbers from labels, arrays and columns, in memory or streamed."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.types
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from gnomon.engine.errors import DataError
from gnomon.engine.missing import is_missing
from gnomon.table.codes import as_numbers, dictionary
from gnomon.table.kinds import Kind
from gnomon.table.recode import as_strings
from gnomon.table.table import Table

BOOLEANS = ((), ("false", "true"), ("0", "1"))


def checked_target(learner: Any, y: Any, rows: Any, name: str = "y") -> np.ndarray | None:
    """The target as class codes or numbers, checked; sets ``classes_``.

    A learner with ``_many_targets`` takes a target of several columns: its codes or numbers have
    shape (n_samples, n_outputs), and ``classes_`` is a list of arrays.

    Parameters
    ----------
    learner : Learner
    y : array-like or None
    rows : ndarray or sparse matrix
        Must be of the same length.
    name : str
        What errors call the target.

    Returns
    -------
    target : ndarray or None
    """
    if learner._target is None:
        return None
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None"
        )
    if learner._target == "classes":
        if getattr(learner, "_unlabeled", False):
            return partial_codes(learner, y, rows, name)
        return _class_codes(learner, plain_target(y, name), rows)
    numbers = _numeric_target(learner, y, name)
    require_same_length(rows, numbers)
    return numbers


def require_same_length(rows: Any, y: np.ndarray) -> None:
    """Refuse a target that has not one entry for each row."""
    if getattr(rows, "shape", ())[:1] != y.shape[:1]:
        check_consistent_length(rows, y)  # slow, with scikit-learn's message


def _class_codes(learner: Any, y: np.ndarray, rows: Any) -> np.ndarray:
    if learner._many_targets and y.ndim == 2 and y.shape[1] > 1:
        require_same_length(rows, y)
        check_classification_targets(y)
        found = [np.unique(column, return_inverse=True) for column in y.T]
        learner.classes_ = [classes for classes, _ in found]
        return np.stack([codes for _, codes in found], axis=1).astype(np.int64, copy=False)
    if y.ndim != 1:  # small fits notice the time of the check
        y = column_or_1d(y, warn=True)
    require_same_length(rows, y)
    counted = _counted_classes(y)
    if counted is not None:
        learner.classes_, codes = counted
        return codes
    check_classification_targets(y)
    learner.classes_ = np.unique(y)
    return np.searchsorted(learner.classes_, y).astype(np.int64, copy=False)


def partial_codes(learner: Any, y: Any, rows: Any, name: str = "y") -> np.ndarray:
    """Class codes of a target of which some rows have no label: -1 there; sets ``classes_``.

    A missing cell (None, NaN) has no label. The number -1 has none as in scikit-learn, where the
    learner says so (``_minus_one = "always"``); for others it is a class where there is one other
    class, as in a problem of classes -1 and 1.
    """
    labels = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    labels = column_or_1d(labels, warn=True)
    require_same_length(rows, labels)
    known = ~(_missing_labels(labels) | _marked(learner, labels))
    if not known.any():
        raise DataError(
            f"the target {name!r} has no label in any of its {len(labels):,} rows; give the class "
            "of some rows (unlabeled rows are missing cells, or -1)"
        )
    codes = np.full(len(labels), -1, dtype=np.int64)
    some = labels[known]
    some = np.asarray(some.tolist()) if some.dtype.kind == "O" else some
    codes[known] = _class_codes(learner, plain_target(some, name), some)
    return codes


def _missing_labels(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind == "O":
        return np.array([is_missing(value) for value in labels], dtype=bool)
    return np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)


def _marked(learner: Any, labels: np.ndarray) -> np.ndarray:
    """Rows whose -1 says that they have no label."""
    if labels.dtype.kind == "O":
        marked = np.array([_is_minus_one(value) for value in labels], dtype=bool)
    elif labels.dtype.kind in "if":
        marked = labels == -1
    else:
        return np.zeros(len(labels), dtype=bool)
    if learner._minus_one == "always" or not marked.any():
        return marked
    others = labels[~(marked | _missing_labels(labels))]
    return np.zeros(len(labels), dtype=bool) if len(set(others.tolist())) == 1 else marked


def _is_minus_one(value: Any) -> bool:
    return (
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and value == -1
    )


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


def use_classes(learner: Any, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes by a given list of sorted classes, which becomes ``classes_``."""
    seen, learner.classes_ = learner.classes_, classes
    unknown = seen[~np.isin(seen, classes)]
    if len(unknown):
        raise ValueError(
            f"y holds the class {unknown[0]!r}, which is not among the known classes "
            f"{classes.tolist()}"
        )
    return np.searchsorted(classes, seen)[codes].astype(np.int64)


def _numeric_target(learner: Any, y: Any, name: str) -> np.ndarray:
    if type(y) is np.ndarray and y.dtype == np.float64 and y.ndim == 1 and len(y):
        largest = np.abs(y).max()  # not a number where one of them is none
        if largest <= learner._largest_target and largest < np.inf:
            return y
    if not learner._many_targets:
        y = column_or_1d(y, warn=True)
    try:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
    except (ValueError, TypeError) as error:
        raise _no_number(y, name) or error from None
    if y.size and np.abs(y).max() > learner._largest_target:
        raise _huge_target(learner, name)
    return y


def _huge_target(learner: Any, name: str) -> DataError:
    return DataError(
        f"the target {name!r} holds numbers beyond {learner._largest_target:g}; rescale it"
    )


def _no_number(y: Any, name: str) -> DataError | None:
    """The error that names the first row whose target is no finite number; None if all are."""
    cells = np.asarray(y, dtype=object)
    cells = cells.reshape(len(cells), -1)
    missing = np.array([any(map(is_missing, row)) for row in cells], dtype=bool)
    if missing.any():
        return _missing_target(missing, name)
    for row, values in enumerate(cells):
        for value in values.tolist():
            if not _is_finite(value):
                return DataError(
                    f"the target {name!r} must be finite numbers, and is {value!r} in row {row}; "
                    "put a number there, leave the row out, or use a classifier if these are "
                    "classes"
                )
    return None


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def _missing_target(missing: np.ndarray, name: str) -> DataError:
    return DataError(
        f"the target {name!r} contains NaN: it is missing in {int(missing.sum()):,} of "
        f"{len(missing):,} rows (first: row {int(missing.argmax())}); leave those rows out or "
        "fill them in first"
    )


def plain_target(y: Any, name: str) -> np.ndarray:
    """Labels as an array, none of them missing."""
    if hasattr(y, "__arrow_c_stream__") or hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in y.ravel()], dtype=bool)
    elif y.dtype.kind == "f":
        missing = np.isnan(y.ravel())
        if np.isinf(y).any():
            raise DataError(f"the target {name!r} contains infinity; Input y contains infinity")
    else:
        return y
    if missing.any():
        raise _missing_target(missing, name)
    return y


def named_target(learner: Any, table: Table, name: str) -> np.ndarray:
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
    require_column(table.columns, name, "target")
    column = class_column(table, name) if learner._target == "classes" else table.column(name)
    return _labels(column) if _is_text(column) else column.to_numpy()


def true_target(learner: Any, table: Table, name: str) -> np.ndarray:
    """The target column; booleans in the spelling of the learner's classes ("YES" means "yes")."""
    column = table.schema[name]
    if column.kind is Kind.BOOLEAN and column.levels:
        learnt = {str(word).lower(): str(word) for word in getattr(learner, "classes_", ())}
        levels = tuple(learnt.get(word.lower(), word) for word in column.levels)
        table = table.with_schema(table.schema.set(name, levels=levels))
    return named_target(learner, table, name)


def class_column(table: Table, name: str) -> Any:
    """A column of classes; yes and no are classes of these names, true and false are booleans."""
    column = table.schema[name]
    written = tuple(word.lower() for word in column.levels or ())
    if column.kind is not Kind.BOOLEAN or written in BOOLEANS:
        return table.column(name)
    return as_strings(table.column(name), column)


def _labels(column: Any) -> np.ndarray:
    """A column's values; text as an array of strings, unless some are missing."""
    values = column.to_pylist()
    return np.asarray(values, dtype=object if column.null_count else None)


def _is_text(column: Any) -> bool:
    types = pyarrow.types
    known = (types.is_integer, types.is_floating, types.is_boolean)
    return column.null_count > 0 or not any(check(column.type) for check in known)


def require_column(columns: Any, name: str, role: str) -> None:
    """Refuse the name of a column that is not there, with the nearest names."""
    if name in columns:
        return
    near = difflib.get_close_matches(name, columns, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else "."
    raise DataError(
        f"the table has no column {name!r} to be the {role}{hint} "
        f"Its columns are: {', '.join(map(repr, list(columns)[:20]))}"
    )


class ClassTarget:
    """Class codes of a target column, chunk by chunk, once its classes are known."""

    def __init__(self, name: str):
        self.name = name
        self.totals: dict[Any, float] = {}
        self.rows: dict[Any, int] = {}
        self.factors: np.ndarray | None = None

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        """Count the classes of some rows; `offset` rows were seen before."""
        column = class_column(table, self.name)
        _refuse_missing(column, self.name, offset)
        values, codes = dictionary(column)
        totals = np.bincount(codes, weights, minlength=len(values))
        rows = np.bincount(codes, None if weights is None else weights > 0, minlength=len(values))
        for value, total, count in zip(values, totals, rows):
            self.totals[value] = self.totals.get(value, 0.0) + float(total)
            self.rows[value] = self.rows.get(value, 0) + int(count)

    def finish(self, learner: Any) -> int:
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
        """The class codes of some rows."""
        values, codes = dictionary(class_column(table, self.name))
        return np.array([self.position[v] for v in values], dtype=np.int64)[codes]


class PartialTarget(ClassTarget):
    """Class codes of a target column of which some rows have no label."""

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        """Count the classes of some rows; `offset` rows were seen before."""
        values, codes = dictionary(class_column(table, self.name))
        given = np.ones(len(codes)) if weights is None else weights
        for code, value in [*enumerate(values), (-1, None)]:
            own = codes == code
            self.totals[value] = self.totals.get(value, 0.0) + float(given[own].sum())
            self.rows[value] = self.rows.get(value, 0) + int((given[own] > 0).sum())

    def finish(self, learner: Any) -> int:
        """Set the classes; how many rows have a positive weight."""
        n_rows = sum(self.rows.values())
        values = np.array([*self.totals, None], dtype=object)[:-1]
        without = _missing_labels(values) | _marked(learner, values)
        known = sorted(values[~without].tolist())
        if not known:
            raise DataError(
                f"the target {self.name!r} has no label in any row; give the class of some rows"
            )
        learner.classes_ = np.array(known)
        check_classification_targets(learner.classes_)
        self.position = {value: code for code, value in enumerate(known)}
        return n_rows

    def encode(self, table: Table) -> np.ndarray:
        """The class codes of some rows; -1 where there is no label."""
        values, codes = dictionary(class_column(table, self.name))
        return np.array([*(self.position.get(v, -1) for v in values), -1], dtype=np.int64)[codes]


class NumberTarget:
    """The numbers of a target column, chunk by chunk."""

    factors = None

    def __init__(self, name: str):
        self.name = name
        self.n_rows = 0
        self.largest = 0.0

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        """Check the numbers of some rows; `offset` rows were seen before."""
        _refuse_missing(table.column(self.name), self.name, offset)
        numbers = self.encode(table)
        self.largest = max(self.largest, np.abs(numbers).max(initial=0.0))
        self.n_rows += len(numbers) if weights is None else int((weights > 0).sum())

    def finish(self, learner: Any) -> int:
        """How many rows have a positive weight."""
        if self.largest > learner._largest_target:
            raise _huge_target(learner, self.name)
        return self.n_rows

    def encode(self, table: Table) -> np.ndarray:
        """The numbers of some rows."""
        return as_numbers(table.column(self.name), self.name)


class NoTarget:
    """Counts rows where a method has no target."""

    factors = None

    def __init__(self) -> None:
        self.n_rows = 0

    def look(self, table: Table, weights: np.ndarray | None, offset: int) -> None:
        """Count some rows."""
        self.n_rows += len(table) if weights is None else int((weights > 0).sum())

    def finish(self, learner: Any) -> int:
        """How many rows have a positive weight."""
        return self.n_rows

    def encode(self, table: Table) -> None:
        """There is no target."""
        return None


def streamed_target(learner: Any, y: str | None) -> ClassTarget | NumberTarget | NoTarget:
    """What gives the target of the chunks of a stream; sets ``target_name_``."""
    if learner._target is None:
        return NoTarget()
    if y is None:
        raise DataError(f"{type(learner).__name__} requires y: give the name of the target column")
    learner.target_name_ = y
    if getattr(learner, "_unlabeled", False):
        return PartialTarget(y)
    return ClassTarget(y) if learner._target == "classes" else NumberTarget(y)


def _refuse_missing(column: Any, name: str, offset: int) -> None:
    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if missing.any():
        raise DataError(
            f"the target {name!r} is missing in row {offset + int(missing.argmax()):,}; leave such "
            "rows out (with a SQL 'where') or fill them in first"
        )
