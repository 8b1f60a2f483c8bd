"""What the columns of a table look like: means, quartiles, missing values, outliers.

Texts: 004 chapter 5, appendix (descriptive statistics, box plots).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.engine.notebook import table_html
from gnomon.engine.threads import in_order
from gnomon.table.display import cell_text
from gnomon.table.kinds import Kind
from gnomon.table.recode import as_strings
from gnomon.table.schema import Column, Schema, no_such_column

if TYPE_CHECKING:
    from gnomon.table.table import Table

Whiskers = Literal["iqr", "range", "sd", "percentile"]
IQR_FACTOR = 1.5  # Tukey's fences
MOST_CODES = 10  # whole numbers of so few values are codes or marks, of which none is an outlier
HEADINGS = ("column", "kind", "missing", "distinct", "outliers", "values")


@dataclass(frozen=True)
class FiveNumbers:
    """Five-number summary of a sample, with the whiskers and outliers of its box plot.

    Attributes
    ----------
    minimum, lower_quartile, median, upper_quartile, maximum : float
    whiskers : {"iqr", "range", "sd", "percentile"}
        The rule by which the whiskers are drawn.
    low, high : float
        Ends of the whiskers.
    outliers : ndarray
        Values outside the whiskers, sorted. They are flagged, never dropped: an outlier is a wrong
        measurement, or the distribution has heavy tails.
    n, n_missing : int
    """

    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    whiskers: Whiskers
    low: float
    high: float
    outliers: np.ndarray
    n: int
    n_missing: int

    @property
    def iqr(self) -> float:
        """Interquartile range."""
        return self.upper_quartile - self.lower_quartile

    def is_outlier(self, values: Any) -> np.ndarray:
        """Which of some values lie outside the whiskers; missing values do not."""
        values = _as_floats(values)
        return (values < self.low) | (values > self.high)

    def __repr__(self) -> str:
        numbers = (
            self.minimum,
            self.lower_quartile,
            self.median,
            self.upper_quartile,
            self.maximum,
        )
        listed = ", ".join(f"{number:.6g}" for number in numbers)
        return (
            f"FiveNumbers({listed}; whiskers by {self.whiskers} {self.low:.6g} to {self.high:.6g}, "
            f"{len(self.outliers)} of {self.n} outside)"
        )


def five_numbers(values: Any, whiskers: Whiskers = "iqr") -> FiveNumbers:
    """Minimum, quartiles and maximum of a sample, and the outliers that a box plot would show.

    Quartiles are interpolated linearly (definition 7 of Hyndman and Fan, as in NumPy, pandas and
    R).

    Parameters
    ----------
    values : array-like or Arrow array
        Numbers; NaN and missing ones are counted and left out.
    whiskers : {"iqr", "range", "sd", "percentile"}
        ``"iqr"``: to the farthest value within 1.5 interquartile ranges of the box. For a normal
        distribution that is about 2.7 standard deviations on both sides, 99.3 % of the values.
        ``"range"``: minimum and maximum, no outliers. ``"sd"``: one standard deviation around the
        mean. ``"percentile"``: 9th and 91st percentile.

    Returns
    -------
    FiveNumbers

    Notes
    -----
    Text: 004 chapter 5, appendix.

    Examples
    --------
    >>> found = five_numbers([1, 2, 3, 4, 100])
    >>> found.median, found.iqr, found.outliers.tolist()
    (3.0, 2.0, [100.0])
    """
    numbers = _as_floats(values)
    known = np.sort(numbers[~np.isnan(numbers)])
    if not len(known):
        raise DataError("There are no values to summarise: all are missing.")
    return _five_of_sorted(known, len(numbers) - len(known), whiskers)


def _five_of_sorted(known: np.ndarray, n_missing: int, whiskers: Whiskers) -> FiveNumbers:
    scale = _safe_scale(known)
    q1, q2, q3 = np.quantile(known / scale, [0.25, 0.5, 0.75]) * scale
    low, high = _whisker_ends(known, q1, q3, whiskers)
    return FiveNumbers(
        minimum=float(known[0]),
        lower_quartile=float(q1),
        median=float(q2),
        upper_quartile=float(q3),
        maximum=float(known[-1]),
        whiskers=whiskers,
        low=float(low),
        high=float(high),
        outliers=known[(known < low) | (known > high)],
        n=len(known),
        n_missing=n_missing,
    )


def _safe_scale(known: np.ndarray) -> float:
    """A power of two to divide values near the end of the range by, so that none overflows."""
    largest = float(np.abs(known[[0, -1]]).max())
    return 2.0**1000 if 2.0**1000 < largest < np.inf else 1.0


def _whisker_ends(
    known: np.ndarray, q1: float, q3: float, whiskers: Whiskers
) -> tuple[float, float]:
    if whiskers == "range":
        return known[0], known[-1]
    if whiskers == "percentile":
        scale = _safe_scale(known)
        return tuple(np.quantile(known / scale, [0.09, 0.91]) * scale)
    if whiskers == "sd":
        scale = _safe_scale(known)
        middle = (known / scale).mean() * scale
        spread = (known / scale).std(ddof=1) * scale if len(known) > 1 else 0.0
        return middle - spread, middle + spread
    if whiskers == "iqr":
        scale = _safe_scale(known)
        reach = IQR_FACTOR * (q3 / scale - q1 / scale)
        inside = known[
            (known / scale >= q1 / scale - reach) & (known / scale <= q3 / scale + reach)
        ]
        return (inside[0], inside[-1]) if len(inside) else (q1, q3)
    raise DataError(
        f"whiskers={whiskers!r} is not known; use 'iqr', 'range', 'sd' or 'percentile'."
    )


def entropy(values: Any) -> float:
    """Entropy of the values' frequencies, in bits; missing values are left out.

    ``-sum_v p_v log2 p_v``: 0 when all values are equal, ``log2 k`` when k values are equally
    frequent.

    Examples
    --------
    >>> entropy(["a", "b", "a", "b"])
    1.0
    """
    counts = pc.value_counts(_as_arrow(values).drop_null()).field("counts").to_numpy()
    if not len(counts):
        return math.nan
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


@dataclass(frozen=True)
class ColumnSummary:
    """Statistics of one column; what does not apply to its kind is None."""

    name: str
    kind: Kind
    rows: int
    missing: int
    distinct: int
    mean: float | None = None
    sd: float | None = None
    minimum: Any = None
    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    maximum: Any = None
    iqr: float | None = None
    outliers: int | None = None
    most_common: str | None = None
    most_common_count: int | None = None
    entropy: float | None = None


class Summary:
    """Statistics of all columns of a table, as `describe` gives them; prints itself as a table.

    Examples
    --------
    >>> from gnomon.table import Table
    >>> summary = Table.from_dict({"x": [1.0, 2.0, 6.0], "c": ["a", "b", "a"]}).describe()
    >>> summary["x"].mean, summary["c"].most_common
    (3.0, 'a')
    >>> summary.to_table().shape
    (2, 17)
    """

    def __init__(self, columns: list[ColumnSummary]):
        self.columns = {column.name: column for column in columns}

    def __getitem__(self, name: str) -> ColumnSummary:
        try:
            return self.columns[name]
        except KeyError:
            raise no_such_column(name, self.columns) from None

    def __iter__(self) -> Any:
        return iter(self.columns.values())

    def __len__(self) -> int:
        return len(self.columns)

    def to_table(self) -> Table:
        """One row per column of the described table."""
        from gnomon.table.table import Table

        kinds = ", ".join(Kind).split(", ")
        fields = {
            "name": Kind.TEXT,
            "kind": Kind.CATEGORY,
            "rows": Kind.INTEGER,
            "missing": Kind.INTEGER,
            "distinct": Kind.INTEGER,
            "minimum": Kind.TEXT,
            "maximum": Kind.TEXT,
            "outliers": Kind.INTEGER,
            "most_common": Kind.TEXT,
            "most_common_count": Kind.INTEGER,
        }
        columns, arrays = [], []
        for name in ColumnSummary.__dataclass_fields__:
            kind = fields.get(name, Kind.NUMBER)
            levels = tuple(kinds) if kind is Kind.CATEGORY else None
            columns.append(Column(name, kind, "a statistic", levels))
            arrays.append(_statistic([getattr(each, name) for each in self], kind, levels))
        arrow = pa.table(arrays, names=[column.name for column in columns])
        return Table(arrow, Schema(columns))

    def __rich__(self) -> Any:
        from rich.table import Table as RichTable

        grid = RichTable(header_style="bold", pad_edge=False, box=None)
        for heading in HEADINGS:  # a narrow window breaks the values, and keeps names whole
            grid.add_column(heading, no_wrap=heading != HEADINGS[-1], overflow="fold")
        for each in self:
            grid.add_row(*(_markup_safe(cell) for cell in _cells(each)))
        return grid

    def __repr__(self) -> str:
        rows = [HEADINGS, *(_cells(each) for each in self)]
        widths = [max(len(row[position]) for row in rows) for position in range(len(HEADINGS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return table_html(HEADINGS, map(_cells, self))


def describe(table: Any) -> Summary:
    """Statistics of every column, as its kind allows.

    All kinds: missing and distinct values, most common value. Numbers and whole numbers: mean,
    standard deviation (with n - 1), quartiles, interquartile range, how many values the 1.5 IQR
    rule flags. Categories, booleans: entropy in bits. Dates: first and last.

    Parameters
    ----------
    table : Table or data frame

    Returns
    -------
    Summary
        ``summary["column"].mean``; `Summary.to_table` for a table.

    Notes
    -----
    Text: 004 chapter 5, appendix. Infinite values are left out of mean, deviation, quartiles and
    outliers, which they would turn into NaN; minimum and maximum show them.

    Examples
    --------
    >>> from gnomon.table import Table
    >>> describe(Table.from_dict({"x": [1, 2, 3, 4, 100]}))["x"].outliers
    1
    """
    from gnomon.table.table import Table

    table = Table.from_frame(table)
    return Summary(list(in_order(lambda column: _summarize(table, column), table.schema)))


def _summarize(table: Table, column: Column) -> ColumnSummary:
    values = table.column(column.name)
    common = {
        "name": column.name,
        "kind": column.kind,
        "rows": len(values),
        "missing": values.null_count,
    }
    known = values.drop_null()
    if not len(known):
        return ColumnSummary(**common, distinct=0)
    if column.kind.is_numeric:
        return ColumnSummary(**common, **_of_numbers(known, column))
    common |= {"distinct": _distinct(values), **_most_common(known, column)}
    if column.kind is Kind.DATETIME:
        ends = pc.min_max(known)
        return ColumnSummary(
            **common, minimum=str(ends["min"].as_py()), maximum=str(ends["max"].as_py())
        )
    if column.kind in (Kind.TEXT, Kind.IDENTIFIER):
        return ColumnSummary(**common)
    return ColumnSummary(**common, entropy=entropy(known))


def _of_numbers(known: pa.ChunkedArray, column: Column) -> dict[str, Any]:
    """Statistics of numbers, all from one sort."""
    in_order_of_size = np.sort(known.to_numpy())
    counted = _most_common_number(in_order_of_size, known.type, column)
    numbers = in_order_of_size.astype(np.float64, copy=False)
    finite = numbers[np.isfinite(numbers)]
    extremes = {"minimum": float(numbers.min()), "maximum": float(numbers.max()), **counted}
    if not len(finite):
        return extremes
    box = _five_of_sorted(finite, 0, "iqr")
    scale = _safe_scale(finite)
    mean = float((finite / scale).mean() * scale)
    sd = float((finite / scale).std(ddof=1) * scale) if len(finite) > 1 else None
    return {
        **extremes,
        "mean": mean,
        "sd": sd,
        "lower_quartile": box.lower_quartile,
        "median": box.median,
        "upper_quartile": box.upper_quartile,
        "iqr": box.iqr,
        "outliers": len(box.outliers),
    }


def _most_common_number(
    in_order_of_size: np.ndarray, stored: pa.DataType, column: Column
) -> dict[str, Any]:
    """Distinct values and the most frequent one, from runs of equal numbers."""
    changes = np.flatnonzero(in_order_of_size[1:] != in_order_of_size[:-1]) + 1
    starts = np.concatenate([[0], changes])
    lengths = np.diff(np.append(starts, len(in_order_of_size)))
    longest = int(lengths.argmax())
    found = {"distinct": len(starts), "most_common": None, "most_common_count": None}
    if lengths[longest] == 1 and len(starts) > 1:
        return found
    value = pa.array(in_order_of_size[starts[longest], None], stored)
    written = as_strings(pa.chunked_array([value]), column)
    return found | {"most_common": written[0].as_py(), "most_common_count": int(lengths[longest])}


def _distinct(values: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(values.type):
        values = values.cast(pa.string())
    return pc.count_distinct(values, mode="only_valid").as_py()


def _most_common(known: pa.ChunkedArray, column: Column) -> dict[str, Any]:
    """The most frequent value as text, the lowest among equals; None if all differ."""
    counts = pc.value_counts(known.cast(pa.string()) if _is_coded(known) else known)
    frequency = counts.field("counts").to_numpy()
    most = int(frequency.max())
    if most == 1 and len(frequency) > 1:
        return {"most_common": None, "most_common_count": None}
    tied = counts.field("values").filter(pa.array(frequency == most))
    first = pc.min(tied.cast(pa.int8())).cast(pa.bool_()) if _is_truth(tied) else pc.min(tied)
    written = as_strings(pa.chunked_array([pa.array([first.as_py()], tied.type)]), column)
    return {"most_common": written[0].as_py(), "most_common_count": most}


def _is_coded(values: pa.ChunkedArray) -> bool:
    return pa.types.is_dictionary(values.type)


def _is_truth(values: pa.Array) -> bool:
    return pa.types.is_boolean(values.type)


def _cells(each: ColumnSummary) -> tuple[str, ...]:
    missing = f"{each.missing:,} ({each.missing / each.rows:.0%})" if each.missing else "-"
    coded = each.kind is Kind.INTEGER and each.distinct <= MOST_CODES < each.rows
    outliers = "-" if each.outliers is None or coded else f"{each.outliers:,}"
    values = _of_values(each)
    return cell_text(each.name), str(each.kind), missing, f"{each.distinct:,}", outliers, values


def _of_values(each: ColumnSummary) -> str:
    """The middle, the spread and the ends of a column in a few words."""
    if each.mean is not None:
        mean, least, greatest = map(four_digits, (each.mean, each.minimum, each.maximum))
        spread = "" if each.sd is None else f" ± {four_digits(each.sd)}"
        return f"{mean}{spread}, {least} to {greatest}"
    if each.minimum is not None:
        return f"{cell_text(each.minimum)} to {cell_text(each.maximum)}"
    if not each.most_common_count:
        return "-"
    share = each.most_common_count / (each.rows - each.missing)
    mostly = f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"
    mostly += f" {cell_text(each.most_common)}"
    if each.entropy is None:
        return mostly
    return f"{mostly}, {each.entropy:.3g} bit{'' if each.entropy == 1 else 's'}"


def four_digits(value: float) -> str:
    """Four digits, or all of a longer whole part; powers of ten only where it is huge or tiny.

    Parameters
    ----------
    value : float

    Returns
    -------
    text : str
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"


def _markup_safe(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)


def _statistic(values: list[Any], kind: Kind, levels: tuple[str, ...] | None) -> pa.Array:
    if kind is Kind.NUMBER:
        return pa.array(values, pa.float64())
    if kind is Kind.INTEGER:
        return pa.array(values, pa.int64())
    words = pa.array([None if value is None else str(value) for value in values], pa.string())
    if levels is None:
        return words
    codes = pc.index_in(words, value_set=pa.array(levels))
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels))


def _as_arrow(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
    return pa.array(values, from_pandas=True)


def _as_floats(values: Any) -> np.ndarray:
    if isinstance(values, pa.ChunkedArray):
        return values.cast(pa.float64(), safe=False).to_numpy()
    if isinstance(values, pa.Array):
        return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if isinstance(values, list):
        values = [np.nan if value is None else value for value in values]
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise DataError(
            f"One column of numbers is expected, not an array of shape {numbers.shape}."
        )
    return numbers
