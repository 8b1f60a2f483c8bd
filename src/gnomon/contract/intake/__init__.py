"""Intake: whatever the user gives, checked and turned into the rows that a method takes.

One module per kind of input: `arrays` (NumPy, lists, sparse matrices), `frames` (data frames and
Tables), `streams` (Scans), and `targets` for the target of all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.contract.data import Data, column_weights
from gnomon.contract.intake.arrays import (
    assembled,
    checked_array,
    checked_weights,
    require_shape,
    require_square,
)
from gnomon.contract.intake.frames import (
    as_table,
    encoded,
    is_frame,
    known_table,
    split_off,
    take_frame,
    without_roles,
)
from gnomon.contract.intake.streams import (
    is_lazy_array,
    is_lazy_frame,
    scan_blocks,
    streams,
    take_lazy_array,
    take_scan,
)
from gnomon.contract.intake.targets import (
    checked_target,
    class_column,
    named_target,
    plain_target,
    require_column,
    true_target,
    use_classes,
)
from gnomon.engine.errors import DataError
from gnomon.table.encode import Columns
from gnomon.table.scan import Scan, scan
from gnomon.table.table import Table

__all__ = [
    "as_table",
    "blocks_of",
    "class_column",
    "given_to_callbacks",
    "is_frame",
    "named_target",
    "plain_target",
    "split_off",
    "tables_of",
    "take_in",
    "take_more",
    "take_truth",
    "use_classes",
    "without_roles",
]


def take_in(learner: Any, X: Any, y: Any, sample_weight: Any) -> Data:
    """Everything that ``fit`` is given, ready for ``_fit``; sets the intake attributes."""
    for name in ("encoder_", "target_name_", "weight_name_", "feature_names_in_"):
        vars(learner).pop(name, None)
    pairwise = learner._is_pairwise()
    if is_lazy_frame(X):
        X = scan(X)
    if isinstance(X, Scan):
        return take_scan(learner, X, y, sample_weight)
    if is_lazy_array(X) and streams(learner):
        return take_lazy_array(learner, X, y, sample_weight)
    if isinstance(X, Table) or (is_frame(X) and not pairwise):
        return take_frame(learner, X, y, sample_weight)
    require_shape(learner, X)
    rows = checked_array(learner, X, y, reset=True)
    if pairwise:
        require_square(learner, rows)
    target = checked_target(learner, y, rows)
    weights = checked_weights(sample_weight, rows)
    columns = Columns.of_numbers(rows.shape[1])
    return assembled(learner, rows, target, weights, columns, fits=rows is X)


def blocks_of(learner: Any, X: Any) -> Iterator[Any]:
    """The rows to predict for, as the method takes them; a Scan in several blocks."""
    if is_lazy_frame(X):
        X = scan(X)
    if isinstance(X, Scan):
        yield from scan_blocks(learner, X)
    elif is_lazy_array(X):
        for part in X.blocks.ravel() if X.numblocks[1] == 1 else X.rechunk({1: -1}).blocks.ravel():
            yield checked_array(learner, np.asarray(part), None, reset=False)
    elif isinstance(X, Table) or is_frame(X):
        yield encoded(learner, X)
    else:
        encoder = getattr(learner, "encoder_", None)
        if encoder is not None and not encoder.only_numbers:
            raise DataError(
                f"this {type(learner).__name__} was fitted on a table whose columns are not all "
                "numbers; give a data frame or Table with the same columns, not a bare array"
            )
        yield checked_array(learner, X, None, reset=False)


def tables_of(learner: Any, X: Any) -> Iterator[Any]:
    """The rows to predict for, checked; tables stay tables (for methods made of other methods)."""
    if not hasattr(learner, "encoder_") or not (isinstance(X, (Table, Scan)) or is_frame(X)):
        yield from blocks_of(learner, X)
    else:
        for table in X.chunks() if isinstance(X, Scan) else [X]:
            yield known_table(learner, table)


def given_to_callbacks(learner: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """What callbacks that score steps need; a target given by name is looked up when needed."""
    target = y
    if isinstance(y, str):
        target = None if isinstance(X, Scan) else lambda: named_target(learner, as_table(X), y)
    metadata = None
    if sample_weight is not None and not isinstance(sample_weight, str):
        metadata = {"sample_weight": sample_weight}
    return {"X": X, "y": target, "metadata": metadata}


def take_more(learner: Any, X: Any, y: Any, sample_weight: Any) -> Data:
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
        target = checked_target(learner, y, rows)
        if known is not None and target is not None:
            target = use_classes(learner, target, known)
    finally:
        if known is not None:
            learner.classes_ = known
    return assembled(learner, rows, target, checked_weights(sample_weight, rows), columns)


def take_truth(learner: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Rows, true target and weights to score by; target and weights may be names of columns."""
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    if not names:
        return X, y, sample_weight
    if not (isinstance(X, (Table, Scan)) or is_frame(X)):
        raise DataError(
            f"{names[0]!r} names a column, but X is not a table; give the values instead"
        )
    rows = X if isinstance(X, Scan) else as_table(X)
    for name, role in ((y, "target"), (sample_weight, "weight")):
        if isinstance(name, str):
            require_column(rows.columns, name, role)
    tables = list(rows.select(names).chunks()) if isinstance(rows, Scan) else [rows]
    if isinstance(y, str):
        y = np.concatenate([true_target(learner, table, y) for table in tables])
    if isinstance(sample_weight, str):
        sample_weight = np.concatenate([column_weights(table, sample_weight) for table in tables])
    return rows.drop(names), y, sample_weight
