"""How strongly the columns of a table go together, whatever their kinds, and beyond chance or not.

Number and number: Pearson's r (a straight line) and Spearman's rho (any rising or falling curve).
Number and category: the correlation ratio, corrected for the number of groups,
epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k). Category and category: Cramer's V with Bergsma's
correction, phi~^2 = max(0, chi2 / n - (k - 1)(l - 1) / (n - 1)),
V = sqrt(phi~^2 / min(k~ - 1, l~ - 1)), k~ = k - (k - 1)^2 / (n - 1). All lie between 0 and 1 (r and
rho between -1 and 1), so that pairs of different kinds can be compared. Every pair is tested, and p
is corrected for the number of pairs (Holm).

Texts: 004 7.2 (correlation), 7.3 (correlation ratio), 7.4 (chi-square) · 000b 7 (correlations).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import special

from gnomon.engine.ranks import ranks
from gnomon.engine.threads import in_order
from gnomon.evaluate.significance import adjusted_p_values
from gnomon.table.kinds import Kind
from gnomon.table.table import Table

GROUPED = (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
NUMBERED = (Kind.NUMBER, Kind.INTEGER, Kind.DATETIME)
DAY = 86_400_000_000  # microseconds
# Rows from which ranks are taken; more are drawn from, which the result says.
MOST_RANKED = 200_000
ROWS_AT_ONCE = 8192
# Cells of a table of counts per row, up to which they are counted in one array.
DENSE = 4


@dataclass(frozen=True)
class Groups:
    """A column of categories: the number of each row's level, -1 where missing."""

    codes: np.ndarray
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Association:
    """How two columns go together.

    Attributes
    ----------
    first, second : str
        The columns; a number comes before a category.
    measure : {"correlation", "correlation ratio", "Cramer's V"}
    strength : float
        Between 0 and 1, corrected for chance where categories are involved; of two numbers, the
        greater of \\|r\\| and \\|rho\\|.
    pearson, spearman : float or None
        Of two numbers.
    p : float
        Of no association, corrected for the number of pairs; NaN where no test holds.
    n : int
        Rows in which both are known.
    """

    first: str
    second: str
    measure: str
    strength: float
    p: float
    n: int
    pearson: float | None = None
    spearman: float | None = None

    @property
    def is_beyond_chance(self) -> bool:
        """Whether p, corrected, is at most 0.05."""
        return bool(self.p <= 0.05)


@dataclass(frozen=True)
class Associations:
    """The associations of all pairs of columns.

    Attributes
    ----------
    names : list of str
        The columns that were compared.
    pairs : list of Association
        The strongest first.
    ranked_rows, random_state : int
        How many rows Spearman's rho is from, and the seed by which they were drawn.
    """

    names: list[str]
    pairs: list[Association]
    ranked_rows: int
    random_state: int

    def __iter__(self) -> Iterator[Association]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def matrix(self) -> np.ndarray:
        """Strengths by pair of `names`, with the sign of Spearman's rho for two numbers."""
        place = {name: k for k, name in enumerate(self.names)}
        found = np.full((len(place), len(place)), np.nan)
        np.fill_diagonal(found, 1.0)
        for pair in self.pairs:
            value = pair.strength
            if pair.spearman is not None and _main(pair) < 0:
                value = -value
            i, j = place[pair.first], place[pair.second]
            found[i, j] = found[j, i] = value
        return found

    def p_matrix(self) -> np.ndarray:
        """Corrected p by pair of `names`; NaN on the diagonal."""
        place = {name: k for k, name in enumerate(self.names)}
        found = np.full((len(place), len(place)), np.nan)
        for pair in self.pairs:
            i, j = place[pair.first], place[pair.second]
            found[i, j] = found[j, i] = pair.p
        return found

    def between(self, first: str, second: str) -> Association | None:
        """The association of two columns, in either order."""
        wanted = {first, second}
        return next((pair for pair in self.pairs if {pair.first, pair.second} == wanted), None)


def associations(
    table: Any, columns: Iterable[str] | None = None, *, random_state: int = 0
) -> Associations:
    """How strongly each pair of columns goes together, from all rows in which both are known.

    Use it to see which columns say the same, and which could matter for a target; not as a proof of
    cause, and not to choose columns before rows are set aside for testing. Text and identifiers
    are left out. Ranks (Spearman) are taken among the known values of each column; infinite values
    count as missing.

    Parameters
    ----------
    table : Table or data frame
    columns : iterable of str, default=None
        By default all columns of numbers, categories, booleans and dates.
    random_state : int, default=0
        Seed of the 200,000 rows that ranks are taken from where there are more.

    Returns
    -------
    Associations

    Notes
    -----
    The tests: Student's t of r or rho (p is the smaller of the two, doubled), F of the correlation
    ratio, chi-square; the last has no p where there is less than one row per cell of the table of
    counts.

    Examples
    --------
    >>> from gnomon.table import example
    >>> found = associations(example("iris"))
    >>> found.pairs[0].first, found.pairs[0].second, round(found.pairs[0].strength, 2)
    ('petal_length', 'species', 0.97)
    """
    table = Table.from_frame(table)
    names = [name for name in columns or table.columns if _is_comparable(table, name)]
    numbers, groups = comparable_columns(table, names)
    standard = dict(zip(numbers, in_order(Standard.of, numbers.values(), short=True)))
    ranked = _drawn(len(table), random_state)
    found = [
        *_of_numbers(numbers, standard, ranked),
        *_of_mixed(standard, groups),
        *_of_groups(groups),
    ]
    return Associations(
        names, _strongest_first(_corrected(found)), min(len(table), MOST_RANKED), random_state
    )


def associations_with(
    table: Any, column: str, others: Iterable[str] | None = None, *, random_state: int = 0
) -> list[Association]:
    """How strongly one column goes with each of some others, the strongest first.

    The same measures as `associations`, at a cost that grows with the number of columns, not of
    their pairs: use it for a target in a wide table. p is corrected for the number of columns.

    Parameters
    ----------
    table : Table or data frame
    column : str
        Of numbers, categories, booleans or dates; there are no associations with another.
    others : iterable of str, default=None
        By default all others of these kinds.
    random_state : int, default=0
        Seed of the 200,000 rows that ranks are taken from where there are more.

    Returns
    -------
    list of Association

    Examples
    --------
    >>> from gnomon.table import example
    >>> [pair.first for pair in associations_with(example("iris"), "species")][:2]
    ['petal_length', 'petal_width']
    """
    table = Table.from_frame(table)
    if not _is_comparable(table, column):
        return []
    drawn = _drawn(len(table), random_state)
    given = table.columns if others is None else others
    names = [name for name in given if name != column and _is_comparable(table, name)]
    one = _Side.of(table, column, drawn)

    def measured(name: str) -> Association:
        return _of_sides(one, _Side.of(table, name, drawn, ranked=one.groups is None))

    return _strongest_first(_corrected(list(in_order(measured, names, short=True))))


@dataclass(frozen=True)
class _Side:
    """One column of a pair: numbers and their ranks, or groups."""

    name: str
    standard: Standard | None = None
    ranked: Standard | None = None
    groups: Groups | None = None

    @classmethod
    def of(
        cls, table: Table, name: str, drawn: np.ndarray | slice, *, ranked: bool = True
    ) -> _Side:
        """A column; groups are not compared with ranks, which take as long as all else."""
        if table.schema[name].kind in GROUPED:
            return cls(name, groups=as_groups(table, name))
        numbers = as_numbers(table.column(name))
        standard = Standard.of(numbers)
        return cls(name, standard, Standard.of(ranks(numbers[drawn])) if ranked else None)


def _of_sides(one: _Side, other: _Side) -> Association:
    if one.groups is not None and other.groups is not None:
        return _of_two_groups((one.name, other.name), one.groups, other.groups)
    if one.groups is not None:
        return _of_sides(other, one)
    assert one.standard is not None
    if other.groups is not None:
        return _of_number_and_groups((one.name, other.name), one.standard, other.groups)
    assert one.ranked is not None
    assert other.standard is not None
    assert other.ranked is not None
    straight, n = pearson_matrix([one.standard, other.standard])
    curved, n_ranked = pearson_matrix([one.ranked, other.ranked])
    names = (one.name, other.name)
    return _of_two_numbers(names, straight[0, 1], curved[0, 1], n[0, 1], n_ranked[0, 1])


def _strongest_first(pairs: list[Association]) -> list[Association]:
    return sorted(pairs, key=lambda pair: -np.nan_to_num(pair.strength, nan=-1.0))


def _drawn(n: int, random_state: int) -> np.ndarray | slice:
    """The rows that ranks are taken from."""
    if n <= MOST_RANKED:
        return slice(None)
    return np.sort(np.random.default_rng(random_state).choice(n, MOST_RANKED, replace=False))


def comparable_columns(
    table: Table, names: Iterable[str]
) -> tuple[dict[str, np.ndarray], dict[str, Groups]]:
    """Columns of numbers (dates in days), NaN where missing; and columns of categories."""
    numbers, groups = {}, {}
    for name in names:
        kind = table.schema[name].kind
        if kind in NUMBERED:
            numbers[name] = as_numbers(table.column(name))
        elif kind in GROUPED:
            groups[name] = as_groups(table, name)
    return numbers, groups


def as_numbers(values: pa.ChunkedArray) -> np.ndarray:
    """Numbers, or dates in days since 1970, as floats; NaN where missing or infinite."""
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        moments = values.cast(pa.timestamp("us", getattr(values.type, "tz", None)))
        numbers = moments.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy() / DAY
    else:
        numbers = values.cast(pa.float64(), safe=False).to_numpy()  # beyond 2^53, rounded
    infinite = np.isinf(numbers)
    return np.where(infinite, np.nan, numbers) if infinite.any() else numbers


def as_groups(table: Table, name: str) -> Groups:
    """A column of categories or booleans as codes."""
    values = table.column(name).combine_chunks()
    if pa.types.is_boolean(values.type):
        codes = pc.fill_null(values.cast(pa.int8()), -1).to_numpy(zero_copy_only=False)
        return Groups(codes.astype(np.int64), table.schema[name].levels or ("false", "true"))
    codes = pc.fill_null(values.indices, -1).to_numpy(zero_copy_only=False)
    return Groups(codes.astype(np.int64), tuple(values.dictionary.to_pylist()))


def cramers_v(first: np.ndarray, second: np.ndarray) -> tuple[float, float, int]:
    """Bias-corrected Cramer's V of two columns of codes (-1: missing), its p, and the rows used.

    Examples
    --------
    >>> codes = np.array([0, 1, 2] * 20)
    >>> v, p, n = cramers_v(codes, codes)
    >>> round(v, 6), n
    (1.0, 60)
    """
    both = (first >= 0) & (second >= 0)
    a, b = (first, second) if both.all() else (first[both], second[both])
    n = len(a)
    if not n:
        return np.nan, np.nan, 0
    rows, columns = np.bincount(a), np.bincount(b)
    k, l = int((rows > 0).sum()), int((columns > 0).sum())  # noqa: E741
    if min(k, l) < 2:
        return np.nan, np.nan, n
    cells, counts = _cell_counts(a, b, len(columns), len(rows) * len(columns) <= DENSE * n)
    shares = counts.astype(np.float64) ** 2 / rows[cells // len(columns)]
    phi2 = max(float((shares / columns[cells % len(columns)]).sum()) - 1.0, 0.0)
    p = float(special.chdtrc((k - 1) * (l - 1), n * phi2)) if n >= k * l else np.nan
    most = min(k - (k - 1) ** 2 / (n - 1), l - (l - 1) ** 2 / (n - 1)) - 1 if n > 1 else 0.0
    if most <= 1e-9:
        return np.nan, p, n
    corrected = max(0.0, phi2 - (k - 1) * (l - 1) / (n - 1))
    return float(min(np.sqrt(corrected / most), 1.0)), p, n


def _cell_counts(
    a: np.ndarray, b: np.ndarray, width: int, dense: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the cells that occur in a table of counts, and how often each does."""
    cells = a * width + b
    if not dense:
        return np.unique(cells, return_counts=True)
    counts = np.bincount(cells)
    kept = np.flatnonzero(counts)
    return kept, counts[kept]


@dataclass(frozen=True)
class Standard:
    """A column of numbers with mean 0 and deviation 1.

    Attributes
    ----------
    values : ndarray
        0 where missing; all 0 where the column has one value.
    known : ndarray of bool or None
        None where nothing is missing.
    """

    values: np.ndarray
    known: np.ndarray | None

    @classmethod
    def of(cls, numbers: np.ndarray) -> Standard:
        missing = np.isnan(numbers)
        known = ~missing if missing.any() else None
        x = numbers if known is None else numbers[known]
        largest = max(float(x.max()), -float(x.min())) if len(x) else 0.0
        if largest == 0:
            return cls(np.zeros(len(numbers)), known)
        x = x / largest
        x -= x.mean()
        deviation = np.sqrt(float(x @ x) / len(x))
        x = x / deviation if deviation > 1e-15 else np.zeros(len(x))
        if known is None:
            return cls(x, None)
        values = np.zeros(len(numbers))
        values[known] = x
        return cls(values, known)


def ratio_of_groups(numbers: Standard, codes: np.ndarray) -> tuple[float, float, int]:
    """Corrected correlation ratio (epsilon) of numbers and codes, its p, and the rows used.

    Examples
    --------
    >>> values, codes = np.array([1.0, 2, 3, 5, 6, 7, 9]), np.array([0, 0, 0, 1, 1, 1, 1])
    >>> round(ratio_of_groups(Standard.of(values), codes)[0] ** 2, 4)
    0.739
    """
    places = codes + 1
    sizes = np.bincount(places, numbers.known)[1:]
    sums = np.bincount(places, numbers.values)[1:]
    used = sizes > 0
    k, n = int(used.sum()), int(sizes.sum())
    if k < 2 or n <= k:
        return np.nan, np.nan, n
    without_group = float((numbers.values[codes < 0] ** 2).sum()) if (codes < 0).any() else 0.0
    center = sums.sum() ** 2 / n
    total = float(numbers.values @ numbers.values) - without_group - center
    if total <= 1e-12 * n:
        return np.nan, np.nan, n
    between = float((sums[used] ** 2 / sizes[used]).sum()) - center
    within = total - between
    if within <= 1e-12 * total:
        return 1.0, 0.0, n
    f = max(between, 0.0) / (k - 1) / (within / (n - k))
    epsilon2 = 1 - within / total * (n - 1) / (n - k)
    return float(np.sqrt(max(epsilon2, 0.0))), float(special.fdtrc(k - 1, n - k, f)), n


def pearson_matrix(columns: list[Standard]) -> tuple[np.ndarray, np.ndarray]:
    """Correlations of all pairs of columns, and the rows of each pair, missing cells left out.

    Parameters
    ----------
    columns : list of Standard

    Returns
    -------
    correlations, rows : ndarrays of shape (d, d)
        NaN where a column has one value in the rows of a pair.
    """
    length, complete = len(columns[0].values), all(column.known is None for column in columns)

    def part(start: int) -> tuple[np.ndarray, ...]:
        """Sums of some rows: products, and where cells are missing, counts, sums and squares."""
        rows = slice(start, start + ROWS_AT_ONCE)
        scaled = np.stack([column.values[rows] for column in columns])
        if complete:
            return (scaled @ scaled.T,)
        mask = np.ones_like(scaled)
        for line, column in zip(mask, columns):
            if column.known is not None:
                line[:] = column.known[rows]
        return scaled @ scaled.T, mask @ mask.T, scaled @ mask.T, (scaled**2) @ mask.T

    totals = [0.0 * entry for entry in part(length)]
    for entries in in_order(part, range(0, length, ROWS_AT_ONCE), short=True):
        for total, entry in zip(totals, entries):
            total += entry
    if complete:
        (products,) = totals
        n = np.full(products.shape, float(length))
        sums = np.zeros_like(products)
        squares = np.repeat(np.diag(products)[:, None], len(columns), axis=1)
    else:
        products, n, sums, squares = totals
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = squares / n - (sums / n) ** 2
        spread[spread < 1e-12] = np.nan
        covariance = products / n - (sums / n) * (sums / n).T
        found = covariance / np.sqrt(spread * spread.T)
    return np.clip(found, -1.0, 1.0), n.astype(np.int64)


def _of_numbers(
    numbers: dict[str, np.ndarray], standard: dict[str, Standard], ranked: np.ndarray | slice
) -> list[Association]:
    if len(numbers) < 2:
        return []
    straight, n = pearson_matrix(list(standard.values()))
    curved, n_ranked = pearson_matrix(
        list(in_order(lambda values: Standard.of(ranks(values[ranked])), numbers.values()))
    )
    names = list(numbers)
    return [
        _of_two_numbers((names[i], names[j]), straight[i, j], curved[i, j], n[i, j], n_ranked[i, j])
        for i, j in combinations(range(len(names)), 2)
    ]


def _of_two_numbers(
    names: tuple[str, str], r: float, rho: float, n: int, n_ranked: int
) -> Association:
    r, rho, n = float(r), float(rho), int(n)
    p = min(2 * min(_p_of_r(r, n), _p_of_r(rho, int(n_ranked))), 1.0)
    return Association(*names, "correlation", max(abs(r), abs(rho)), p, n, r, rho)


def _p_of_r(r: float, n: int) -> float:
    if np.isnan(r) or n < 3:
        return np.nan
    if abs(r) >= 1:
        return 0.0
    return float(2 * special.stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / (1 - r * r))))


def _of_mixed(standard: dict[str, Standard], groups: dict[str, Groups]) -> list[Association]:
    pairs = [(number, group) for number in standard for group in groups]

    def measured(pair: tuple[str, str]) -> Association:
        return _of_number_and_groups(pair, standard[pair[0]], groups[pair[1]])

    return list(in_order(measured, pairs, short=True))


def _of_number_and_groups(names: tuple[str, str], numbers: Standard, groups: Groups) -> Association:
    strength, p, n = ratio_of_groups(numbers, groups.codes)
    return Association(*names, "correlation ratio", strength, p, n)


def _of_groups(groups: dict[str, Groups]) -> list[Association]:
    def measured(pair: tuple[str, str]) -> Association:
        return _of_two_groups(pair, groups[pair[0]], groups[pair[1]])

    return list(in_order(measured, list(combinations(groups, 2)), short=True))


def _of_two_groups(names: tuple[str, str], first: Groups, second: Groups) -> Association:
    strength, p, n = cramers_v(first.codes, second.codes)
    return Association(*names, "Cramer's V", strength, p, n)


def _corrected(found: list[Association]) -> list[Association]:
    tested = [k for k, pair in enumerate(found) if not np.isnan(pair.p)]
    if not tested:
        return found
    raised = adjusted_p_values([found[k].p for k in tested])
    for k, p in zip(tested, raised):
        found[k] = replace(found[k], p=float(p))
    return found


def _main(pair: Association) -> float:
    """Of r and rho the stronger one."""
    assert pair.pearson is not None
    assert pair.spearman is not None
    return max(pair.pearson, pair.spearman, key=abs)


def _is_comparable(table: Table, name: str) -> bool:
    return table.schema[name].kind in (*NUMBERED, *GROUPED)
