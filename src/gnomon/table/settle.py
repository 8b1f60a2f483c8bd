"""Arrow columns of any type, settled to the few types that tables hold.

Half, single and double floats and all integers stay; decimals, times and durations become numbers;
nested columns are flattened or written as JSON text; NaN becomes missing. Changes are reported.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.table.errors import ReadError

MOST_BYTES = 2**31 - 1  # Arrow's plain strings have 32-bit offsets


def flattened(arrow: pa.Table) -> tuple[pa.Table, list[str]]:
    """The table with the fields of its structs as columns of their own, named ``outer.inner``."""
    notes = []
    while any(pa.types.is_struct(field.type) for field in arrow.schema):
        nested = [field.name for field in arrow.schema if pa.types.is_struct(field.type)]
        notes.append(f"The fields of {', '.join(map(repr, nested))} are columns of their own.")
        arrow = arrow.flatten()
    return arrow, notes


def settled(values: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The column in one of the types that tables hold, and what was changed, in sentences."""
    if isinstance(values.type, pa.BaseExtensionType):
        if values.type.extension_name == "pandas.period":
            return _settle_periods(values, name)
        values = pa.chunked_array(
            [chunk.storage for chunk in values.chunks], values.type.storage_type
        )
    kind_of = values.type
    if pa.types.is_floating(kind_of):
        return _settle_floats(values, name)
    for applies, settle in _RULES:
        if applies(kind_of):
            return settle(values, name)
    return values, ()


def _settle_periods(values: pa.ChunkedArray, name: str) -> Any:
    starts = pa.chunked_array([pa.array(values.to_pandas().dt.to_timestamp(), from_pandas=True)])
    return starts, (f"Column {name!r}: periods are kept as the moments at which they start.",)


def _settle_floats(values: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    nans = pc.is_nan(values)
    count = pc.sum(nans.cast(pa.int64())).as_py() or 0
    if not count:
        return values, ()
    values = pc.if_else(nans, pa.scalar(None, values.type), values)
    return values, (f"Column {name!r}: {count:,} NaN taken as missing.",)


def _settle_strings(values: pa.ChunkedArray, name: str) -> Any:
    large = any(chunk.nbytes > MOST_BYTES for chunk in values.chunks)
    return values.cast(pa.large_string() if large else pa.string()), ()


def _settle_decimals(values: pa.ChunkedArray, name: str) -> Any:
    if values.type.scale == 0:
        try:
            return values.cast(pa.int64()), ()
        except pa.ArrowInvalid:
            pass
    floats = values.cast(pa.float64(), safe=False)
    if values.type.precision <= 15:
        return floats, ()
    rounded = (
        f"Column {name!r}: decimals of {values.type.precision} digits rounded to floating point."
    )
    return floats, (rounded,)


def _settle_times(values: pa.ChunkedArray, name: str) -> Any:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
    whole = pa.int32() if values.type.bit_width == 32 else pa.int64()
    seconds = pc.divide(values.cast(whole).cast(pa.float64(), safe=False), float(per_second))
    return seconds, (f"Column {name!r}: times and durations are kept in seconds.",)


def _settle_dictionary(values: pa.ChunkedArray, name: str) -> Any:
    ordered = values.type.ordered
    values = values.unify_dictionaries()
    target = pa.dictionary(pa.int32(), pa.string(), ordered)
    chunks = []
    for chunk in values.chunks:
        words, _ = settled(pa.chunked_array([chunk.dictionary]), name)
        words = words.cast(pa.string()).combine_chunks()
        indices = chunk.indices.cast(pa.int32())
        words, indices = _distinct_words(words, indices)
        chunks.append(pa.DictionaryArray.from_arrays(indices, words, ordered=ordered))
    return pa.chunked_array(chunks, target), ()


def _distinct_words(words: pa.Array, indices: pa.Array) -> tuple[pa.Array, pa.Array]:
    """A dictionary without the missing or repeated entries that Arrow allows."""
    distinct = words.unique().drop_null()
    if len(distinct) == len(words):
        return words, indices
    place = pc.index_in(words, value_set=distinct)
    return distinct, place.take(indices)


def _settle_binary(values: pa.ChunkedArray, name: str) -> Any:
    try:
        return values.cast(pa.string()), (f"Column {name!r}: bytes read as UTF-8 text.",)
    except pa.ArrowInvalid:
        raise ReadError(
            "holds bytes that are not text",
            column=name,
            remedy="Leave this column out with columns=[...] or drop it from the frame.",
        ) from None


def _refuse_intervals(values: pa.ChunkedArray, name: str) -> Any:
    raise ReadError(
        "holds intervals of months, days and nanoseconds, which are no fixed length of time",
        column=name,
        remedy="Turn them into numbers first, in SQL for instance by epoch(...), or leave this "
        "column out.",
    )


def _settle_nested(values: pa.ChunkedArray, name: str) -> Any:
    written = [
        None if value is None else json.dumps(value, default=str, ensure_ascii=False)
        for value in values.to_pylist()
    ]
    note = f"Column {name!r}: lists are kept as JSON text."
    return pa.chunked_array([pa.array(written, pa.string())]), (note,)


def _is_odd_string(kind_of: pa.DataType) -> bool:
    return pa.types.is_large_string(kind_of) or pa.types.is_string_view(kind_of)


def _is_binary(kind_of: pa.DataType) -> bool:
    return (
        pa.types.is_binary(kind_of)
        or pa.types.is_large_binary(kind_of)
        or pa.types.is_fixed_size_binary(kind_of)
        or pa.types.is_binary_view(kind_of)
    )


def _is_time(kind_of: pa.DataType) -> bool:
    return pa.types.is_time(kind_of) or pa.types.is_duration(kind_of)


_RULES = (
    (_is_odd_string, _settle_strings),
    (pa.types.is_decimal, _settle_decimals),
    (_is_time, _settle_times),
    (pa.types.is_date64, lambda values, name: (values.cast(pa.date32()), ())),
    (pa.types.is_dictionary, _settle_dictionary),
    (_is_binary, _settle_binary),
    (pa.types.is_interval, _refuse_intervals),
    (pa.types.is_nested, _settle_nested),
)
