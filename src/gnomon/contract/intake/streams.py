"""Scans: tables larger than memory, encoded chunk by chunk while a method passes over them.

Arrays of Dask are streams of rows that are numbers already; its data frames are read as Scans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import assert_all_finite

from gnomon.contract.data import Data, LazySource, ScanSource, column_weights
from gnomon.contract.intake.arrays import checked_weights, refuse_huge
from gnomon.contract.intake.frames import encoded, refuse_infinite, require_encoded
from gnomon.contract.intake.targets import checked_target, require_column, streamed_target
from gnomon.engine.config import settings
from gnomon.engine.errors import DataError
from gnomon.engine.sums import Cluster
from gnomon.table.encode import Columns, TableEncoder
from gnomon.table.scan import Scan
from gnomon.table.table import Table


def take_scan(learner: Any, scan: Scan, y: Any, sample_weight: Any) -> Data:
    """One pass to learn the codes; the passes of the method then stream."""
    for name, value, role in (("y", y, "target"), ("sample_weight", sample_weight, "weight")):
        if value is not None and not isinstance(value, str):
            raise DataError(f"for a Scan, {name} must be the name of a column, the {role}")
        if value is not None:
            require_column(scan.schema.names, value, role)
    target = streamed_target(learner, y)
    if sample_weight is not None:
        learner.weight_name_ = sample_weight
    out = {getattr(target, "name", None), sample_weight}
    features = [name for name in scan.schema.names if name not in out]
    # chunks of a stream are dense rows
    encoder = TableEncoder(learner.natively, dense=True)
    encoder.begin([scan.schema[name] for name in features])
    look = _everywhere(scan, Look(encoder, target, sample_weight))
    encoder, target, weighted = look.encoder, look.target, look.weighted
    if look.n_seen == 0:
        raise DataError("the scan has columns and no rows; there is nothing to learn from")
    n_rows = target.finish(learner)
    if n_rows == 0:
        raise DataError(f"every weight in column {sample_weight!r} is zero; nothing can be learnt")
    encoder.finish()
    learner.feature_names_in_ = np.array(features, dtype=object)
    learner.n_features_in_ = len(features)
    learner.encoder_ = encoder

    check = partial(refuse_unusable, encoder, clone(learner))
    weighted |= target.factors is not None
    source = ScanSource(scan, encoder, n_rows, target, sample_weight, weighted, check)
    if not streams(learner):
        require_encoded(learner, n_rows, encoder)
    return Data(source, encoder.columns, factors=target.factors)


@dataclass
class Look:
    """The first pass over a scan: what it learns of the columns, the target and the weights."""

    encoder: TableEncoder
    target: Any
    weight_name: str | None
    n_seen: int = 0
    weighted: bool = False

    def __call__(self, table: Table) -> None:
        """See some rows, after those before them."""
        weights = column_weights(table, self.weight_name) if self.weight_name else None
        self.encoder.look(table, weights)
        self.target.look(table, weights, self.n_seen)
        self.n_seen += len(table)
        self.weighted |= weights is not None and not np.isin(weights, (0, 1)).all()


def _everywhere(scan: Scan, look: Look) -> Look:
    """The look after it has seen all rows, where they are read: on the workers of a cluster."""
    executor = settings().executor
    if isinstance(executor, Cluster):
        found = executor.look_through(scan, look)
        if found is not None:
            return found
    for table in scan.chunks():
        look(table)
    return look


def refuse_unusable(encoder: TableEncoder, learner: Any, rows: np.ndarray) -> None:
    """Refuse encoded rows that a method cannot compute with."""
    refuse_infinite(encoder, rows)
    refuse_huge(learner, rows, encoder.columns.names)


def is_lazy_array(X: Any) -> bool:
    """Whether this is an array of Dask (or the like), whose rows are computed when needed."""
    return hasattr(X, "__dask_graph__") and getattr(X, "ndim", None) == 2 and hasattr(X, "chunks")


def is_lazy_frame(X: Any) -> bool:
    """Whether this is a data frame of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "columns") and hasattr(X, "partitions")


def take_lazy_array(learner: Any, X: Any, y: Any, sample_weight: Any) -> Data:
    """Rows that stay where they are computed; target and weights come here."""
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    y, sample_weight = (
        np.asarray(a) if hasattr(a, "__dask_graph__") else a for a in (y, sample_weight)
    )
    place = np.broadcast_to(np.zeros(1), X.shape)  # stands for rows of this shape in checks
    target = checked_target(learner, y, place)
    weights = checked_weights(sample_weight, place)
    factors = None
    if learner._target == "classes":
        factors, of_rows = learner._row_factors(target, weights)
        if of_rows is not None:
            weights = of_rows if weights is None else weights * of_rows
    if weights is not None and (weights == 0).any():
        raise DataError(
            "an array of Dask needs positive weights in all rows; leave the others out: X[w > 0]"
        )
    learner.n_features_in_ = int(X.shape[1])
    check = partial(_refuse_lazy, clone(learner))
    source = LazySource(X, target, weights, check)
    return Data(source, Columns.of_numbers(int(X.shape[1])), factors=factors)


def _refuse_lazy(learner: Any, rows: np.ndarray) -> None:
    assert_all_finite(rows, allow_nan=learner.natively.missing, input_name="X")
    refuse_huge(learner, rows)


def streams(learner: Any) -> bool:
    """Whether the learner works chunk by chunk and never gathers all rows."""
    return hasattr(learner, "_sums") or getattr(learner, "_takes_streams", False)


def scan_blocks(learner: Any, scan: Scan) -> Iterator[Any]:
    """The rows of a stream to predict for, as the method takes them, in blocks."""
    for table in scan.chunks():
        yield encoded(learner, table)
