"""Scans: tables larger than memory, encoded chunk by chunk while a method passes over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.contract.data import Data, ScanSource, column_weights
from gnomon.contract.intake.arrays import refuse_huge
from gnomon.contract.intake.frames import encoded, refuse_infinite, require_encoded
from gnomon.contract.intake.targets import require_column, streamed_target
from gnomon.engine.errors import DataError
from gnomon.table.encode import TableEncoder
from gnomon.table.scan import Scan


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
        refuse_infinite(encoder, rows)
        refuse_huge(learner, rows, encoder.columns.names)

    weighted |= target.factors is not None
    source = ScanSource(scan, encoder, n_rows, target, sample_weight, weighted, check)
    if not _streams(learner):
        require_encoded(learner, n_rows, encoder)
    return Data(source, encoder.columns, factors=target.factors)


def _streams(learner: Any) -> bool:
    """Whether the learner works chunk by chunk and never gathers all rows."""
    return hasattr(learner, "_sums")


def scan_blocks(learner: Any, scan: Scan) -> Iterator[Any]:
    """The rows of a stream to predict for, as the method takes them, in blocks."""
    for table in scan.chunks():
        yield encoded(learner, table)
