"""Finding the split of a node: thresholds of numbers, sets of levels of categories, or at random.

Each finder looks at a `Pool` (the rows in a node) and gives a `Candidate`, or None where nothing
parts the rows. Savings are  W I(pool) - sum_b W_b I(branch b)  over the rows whose cell is there,
so that a column with many missing cells saves less (as in C4.5).

Texts: 000a 2.2.2 (Procedures 2.6, 2.7) · 001 11.2, 11.4 · 003 2.3.1, 2.3.2 · 004 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.trees.binning import midpoints
from gnomon.trees.impurity import Impurity
from gnomon.trees.questions import AT_MOST, BELOW, LEVELS, UNKNOWN, Questions, make_question

BLOCK_CELLS = 2**17  # numbers of a block: 1 MB
MOST_LEVELS_EXHAUSTIVE = 16  # 32,767 divisions
FEW_LEVELS = 10  # 511 divisions are all tried; of more levels, orders are
MANY = 0.3  # C4.5's rule
ROUNDING = 1e-9  # sums of weights differ by less from what they should be


@dataclass
class Pool:
    """The rows in a node.

    Attributes
    ----------
    rows : float64 array (n, d)
        All training rows.
    places : int array (m,)
        Those in the node.
    y : array (m,) or (m, n_targets)
        Their targets.
    weights, counts : float64 arrays (m,)
        Their weights and numbers of rows, as far as they are in the node.
    levels : int array (d,)
        Number of categories of each column; 0 for numbers.
    columns : int array
        Columns that may still part the rows.
    """

    rows: np.ndarray
    places: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    levels: np.ndarray
    columns: np.ndarray

    def column(self, j: int) -> np.ndarray:
        return self.rows[self.places, j]


@dataclass(frozen=True)
class LeastBranch:
    """The least rows and weight, of those with an answer, that a branch must get."""

    samples: float = 1
    weight: float = 0.0

    def allows(self, counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        enough = weights >= self.weight * (1 - ROUNDING)
        return enough & (counts >= self.samples - ROUNDING) & (counts > 0)


@dataclass
class Candidate:
    """A question with what it saves and the weights of its branches."""

    question: Questions
    saving: float
    branch_weights: np.ndarray


@dataclass(frozen=True)
class BestOfColumns:
    """Finds the best question about one column.

    Parameters
    ----------
    impurity : Impurity
    categories : {"ordering", "exhaustive", "coin_flips", "value", "multiway"}
        Which sets of levels are tried.
    missing_is_value : bool
        Missing cells are one more level; those of numbers go with either side, or alone.
    least : LeastBranch
        Asked of both branches, of at least two where there are more.
    n_tries : int or None
        Coin flips per category column; None for twice its levels.
    max_thresholds : int or None
        Thresholds tried per column: midpoints of so many and one values drawn at random.
    max_features : int or None
        Columns looked at, drawn at random.
    by_ratio : bool
        Choose by saving over split information among the columns of at least average saving.
    """

    impurity: Impurity
    categories: str = "ordering"
    missing_is_value: bool = False
    least: LeastBranch = LeastBranch()
    n_tries: int | None = None
    max_thresholds: int | None = None
    max_features: int | None = None
    by_ratio: bool = False

    def __call__(self, pool: Pool, rng: np.random.Generator) -> Candidate | None:
        sampled = self._sampled_rows(pool, rng)
        for columns in self._batches(pool.columns, rng):
            found: dict[int, Cut | Candidate | None] = {}
            found |= self.cuts(pool, columns[pool.levels[columns] == 0], sampled)
            for j in columns[pool.levels[columns] > 0]:
                found[int(j)] = self.of_category(pool, int(j), rng)
            chosen = self._chosen(found, pool)
            if chosen is not None:
                return chosen
        return None

    def _batches(self, columns: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """All columns, or some drawn at random; more of them while none parts the rows."""
        if self.max_features is None or self.max_features >= len(columns):
            yield columns
            return
        shuffled = rng.permutation(columns)
        for start in range(0, len(columns), self.max_features):
            yield np.sort(shuffled[start : start + self.max_features])

    def _sampled_rows(self, pool: Pool, rng: np.random.Generator) -> np.ndarray | None:
        if self.max_thresholds is None or len(pool.places) <= self.max_thresholds + 1:
            return None
        return drawn_rows(pool.weights, self.max_thresholds + 1, rng)

    def _chosen(self, found: dict[int, Cut | Candidate | None], pool: Pool) -> Candidate | None:
        there = {j: found[j] for j in sorted(found) if found[j] is not None}
        if not there:
            return None
        worth = {j: each.saving for j, each in there.items()}
        if self.by_ratio:
            worth = self._ratios(there, pool)
        j = max(worth, key=lambda column: worth[column])
        best = there[j]
        return best.candidate(j) if isinstance(best, Cut) else best

    def _ratios(self, there: dict[int, Cut | Candidate], pool: Pool) -> dict[int, float]:
        """Gain ratios of the columns of at least average saving.

        As in C4.5, a column with a branch for every third row or more does not raise the average.
        """
        weight, n_rows = float(pool.weights.sum()), float(pool.counts.sum())
        usual = [c.saving for c in there.values() if len(c.branch_weights) < MANY * n_rows]
        savings = usual or [each.saving for each in there.values()]
        average = float(np.mean(savings)) - ROUNDING * weight
        return {j: gain_ratio(c, weight) for j, c in there.items() if c.saving >= average}

    def cuts(
        self, pool: Pool, columns: np.ndarray, sampled: np.ndarray | None = None
    ) -> dict[int, Cut | None]:
        """The best threshold of each of some columns of numbers."""
        addends = self.impurity.addends(pool.y, pool.weights)
        cells = len(pool.places) * (addends.shape[1] + 2)
        size = max(BLOCK_CELLS // cells, 1)
        found: dict[int, Cut | None] = {}
        for start in range(0, len(columns), size):
            block = columns[start : start + size]
            values = pool.rows[np.ix_(pool.places, block)]
            if sampled is None:
                layout = sorted_layout(values, addends, pool)
            else:
                layout = binned_layout(values, values[sampled], addends, pool)
            found |= {int(j): cut for j, cut in zip(block, self._best_cuts(layout))}
        return found

    def _best_cuts(self, layout: Layout) -> list[Cut | None]:
        """The best threshold of every column."""
        running, known, parts = layout.running, layout.known, layout.parts
        best = BestCut(parts.shape[1])
        if not self.missing_is_value:
            self._try(best, running, Running.none_of(known), known, parts, UNKNOWN)
        else:
            everything = running.last
            missing = everything.without(known)
            self._try(best, running, missing, everything, parts, 0)
            self._try(best, running, Running.none_of(known), everything, parts, 1)
            best.missing[missing.counts == 0] = UNKNOWN
            self._try_missing_apart(best, known, everything, missing)
        return best.cuts(layout.thresholds(best.position))

    def _try(self, best, running, missing, total, parts, branch: int) -> None:
        """Cut every column after every value, with the missing cells in the low branch or not."""
        counts = running.counts[:-1] + missing.counts
        weights = running.weights[:-1] + missing.weights
        fits = parts & self.least.allows(counts, weights)
        fits &= self.least.allows(total.counts - counts, total.weights - weights)
        if not fits.any():
            return
        sums = running.sums[:-1] + missing.sums
        savings = -self.impurity.total(sums)
        savings -= self.impurity.total(total.sums - sums)
        savings += self.impurity.total(total.sums)
        best.take(np.where(fits, savings, -np.inf), weights, total.weights, branch)

    def _try_missing_apart(self, best, known, everything, missing) -> None:
        fits = self.least.allows(missing.counts, missing.weights)
        fits &= self.least.allows(known.counts, known.weights)
        savings = self.impurity.total(everything.sums)
        savings = savings - self.impurity.total(missing.sums) - self.impurity.total(known.sums)
        best.take_missing_apart(np.where(fits, savings, -np.inf), known.weights, missing.weights)

    def of_category(self, pool: Pool, j: int, rng: np.random.Generator) -> Candidate | None:
        """The best question about a category column."""
        table = LevelTable.of(pool, j, self.impurity, self.missing_is_value)
        if len(table.present) < 2:
            return None
        if self.categories == "multiway":
            return self._multiway(table, j)
        return self._best_sets(table, j, self._sets(table, j, rng))

    def _multiway(self, table: LevelTable, j: int) -> Candidate | None:
        enough = self.least.allows(table.counts, table.weights)
        if np.count_nonzero(enough) < 2:
            return None
        saving = float(self.impurity.total(table.total) - self.impurity.total(table.sums).sum())
        n_levels = table.n_levels
        question = make_question(
            LEVELS,
            feature=j,
            level_branch=np.arange(n_levels),
            missing=n_levels if table.missing_is_level else UNKNOWN,
        )
        weights = np.zeros(n_levels + table.missing_is_level)
        weights[table.present] = table.weights
        return Candidate(question, saving, weights)

    def _best_sets(self, table: LevelTable, j: int, left: np.ndarray) -> Candidate | None:
        """The best of some divisions of the levels in two, rows of `left`."""
        counts, weights = left @ table.counts, left @ table.weights
        fits = self.least.allows(counts, weights)
        fits &= self.least.allows(table.counts.sum() - counts, table.weights.sum() - weights)
        left = left[fits]
        if not len(left):
            return None
        sums = left @ table.sums
        whole = float(self.impurity.total(table.total))
        savings = whole - self.impurity.total(sums) - self.impurity.total(table.total - sums)
        k = int(np.argmax(savings))
        branch = np.full(table.n_levels + 1, UNKNOWN)
        branch[table.present] = np.where(left[k], 0, 1)
        question = make_question(
            LEVELS, feature=j, level_branch=branch[: table.n_levels], missing=int(branch[-1])
        )
        weight = float(left[k] @ table.weights)
        weights = np.array([weight, table.weights.sum() - weight])
        return Candidate(question, float(savings[k]), weights)

    def _sets(self, table: LevelTable, j: int, rng: np.random.Generator) -> np.ndarray:
        """Divisions of the present levels in two: one row each, True for the left set."""
        q = len(table.present)
        if self.categories == "value":
            return np.eye(q, dtype=bool)
        if self.categories == "coin_flips":
            tries = self.n_tries if self.n_tries is not None else 2 * q
            flips = rng.random((tries, q)) < 0.5
            return flips[flips.any(axis=1) & ~flips.all(axis=1)]
        if self.categories == "exhaustive":
            if q > MOST_LEVELS_EXHAUSTIVE:
                raise DataError(
                    f"column {j} has {q} categories in a node: all {2 ** (q - 1) - 1:,} divisions "
                    f"are too many (at most {MOST_LEVELS_EXHAUSTIVE} categories). Use "
                    'categories="ordering", or fewer categories'
                )
            return all_divisions(q)
        return self._by_order(table)

    def _by_order(self, table: LevelTable) -> np.ndarray:
        """Sets of neighbours in the order that holds the best division, where one is known."""
        q = len(table.present)
        scores = self.impurity.level_scores(table.sums)
        if scores is None:
            if q <= FEW_LEVELS:
                return all_divisions(q)
            scores = first_principal_scores(table.sums)
        rank = np.empty(q, np.int64)
        rank[np.argsort(scores, kind="stable")] = np.arange(q)
        return rank[None, :] < np.arange(1, q)[:, None]


@dataclass
class Running:
    """Sums, numbers of rows and weights, running along axis 0 or at one place of each column."""

    sums: np.ndarray
    counts: np.ndarray
    weights: np.ndarray

    def at(self, position: np.ndarray) -> Running:
        column = np.arange(len(position))
        return Running(
            self.sums[position, column],
            self.counts[position, column],
            self.weights[position, column],
        )

    @property
    def last(self) -> Running:
        return Running(self.sums[-1], self.counts[-1], self.weights[-1])

    def without(self, other: Running) -> Running:
        return Running(
            self.sums - other.sums, self.counts - other.counts, self.weights - other.weights
        )

    @classmethod
    def none_of(cls, other: Running) -> Running:
        return cls(*(np.zeros_like(each) for each in (other.sums, other.counts, other.weights)))


@dataclass
class Cut:
    """A threshold of one column."""

    threshold: float
    saving: float
    branch_weights: np.ndarray
    missing: int

    def candidate(self, j: int) -> Candidate:
        question = make_question(
            AT_MOST, feature=j, threshold=float(self.threshold), missing=self.missing
        )
        return Candidate(question, float(self.saving), self.branch_weights)


class BestCut:
    """The best cut of every column so far."""

    def __init__(self, n_columns: int):
        self.saving = np.full(n_columns, -np.inf)
        self.position = np.zeros(n_columns, np.int64)
        self.missing = np.full(n_columns, UNKNOWN)
        self.weights = np.zeros((n_columns, 2))
        self.is_apart = np.zeros(n_columns, bool)

    def take(self, savings, low_weights, total_weights, branch: int) -> None:
        position = np.argmax(savings, axis=0)
        column = np.arange(len(position))
        better = savings[position, column] > self.saving
        self.saving[better] = savings[position, column][better]
        self.position[better] = position[better]
        self.missing[better] = branch
        low = low_weights[position, column]
        self.weights[better] = np.column_stack([low, total_weights - low])[better]

    def take_missing_apart(self, savings, known_weights, missing_weights) -> None:
        better = savings > self.saving
        self.saving[better] = savings[better]
        self.is_apart[better] = True
        self.missing[better] = 1
        self.weights[better] = np.column_stack([known_weights, missing_weights])[better]

    def cuts(self, thresholds: np.ndarray) -> list[Cut | None]:
        """The cuts of the columns at given thresholds; None where nothing was found."""
        thresholds = np.where(self.is_apart, np.inf, thresholds)
        return [
            None if saving == -np.inf else Cut(*rest)
            for saving, *rest in zip(
                self.saving, thresholds, self.saving, self.weights, self.missing.tolist()
            )
        ]


@dataclass
class Layout:
    """Columns laid out for the search: one place after the other, a cut after each.

    Attributes
    ----------
    running : Running
        Sums along the places of every column; missing cells come last.
    known : Running
        Sums over the cells that are there.
    parts : bool array (n_places - 1, c)
        After which places a column can be cut.
    thresholds : callable
        Positions of one cut per column to the thresholds (c,) there.
    """

    running: Running
    known: Running
    parts: np.ndarray
    thresholds: Callable[[np.ndarray], np.ndarray]


def sorted_layout(values: np.ndarray, addends: np.ndarray, pool: Pool) -> Layout:
    """Every value (m, c) in its sorted place, cuts half-way between neighbours."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    running = Running(
        np.cumsum(addends[order], axis=0),
        np.cumsum(pool.counts[order], axis=0),
        np.cumsum(pool.weights[order], axis=0),
    )
    n_known = np.count_nonzero(~np.isnan(values), axis=0)
    known = running.at(np.maximum(n_known - 1, 0))
    for each in (known.sums, known.counts, known.weights):
        each[n_known == 0] = 0.0

    def half_way(position: np.ndarray) -> np.ndarray:
        column = np.arange(len(position))
        above = np.minimum(position + 1, len(ordered) - 1)
        with np.errstate(invalid="ignore"):
            return midpoints(ordered[position, column], ordered[above, column])

    return Layout(running, known, ordered[:-1] < ordered[1:], half_way)


def binned_layout(
    values: np.ndarray, sample: np.ndarray, addends: np.ndarray, pool: Pool
) -> Layout:
    """Values (m, c) between the midpoints of a sample of them: one place per gap, no sorting."""
    cuts = [_midpoints_of(column) for column in sample.T]
    n_places = max(map(len, cuts)) + 2
    statistics = np.column_stack([addends, pool.counts, pool.weights])
    sums = np.zeros((n_places, len(cuts), statistics.shape[1]))
    for j, (column, at) in enumerate(zip(values.T, cuts)):
        place = np.searchsorted(at, column, side="left")
        place[np.isnan(column)] = n_places - 1
        for k, statistic in enumerate(statistics.T):
            sums[:, j, k] = np.bincount(place, statistic, n_places)
    sums = np.cumsum(sums, axis=0)
    running = Running(sums[..., :-2], sums[..., -2], sums[..., -1])
    known = running.at(np.full(len(cuts), n_places - 2))
    n_cuts = np.array([len(at) for at in cuts])
    parts = np.arange(n_places - 1)[:, None] < n_cuts

    def at_midpoints(position: np.ndarray) -> np.ndarray:
        return np.array([at[k] if len(at) else np.nan for at, k in zip(cuts, position)])

    return Layout(running, known, parts, at_midpoints)


def _midpoints_of(values: np.ndarray) -> np.ndarray:
    seen = np.unique(values[~np.isnan(values)])
    return midpoints(seen[:-1], seen[1:])


@dataclass
class LevelTable:
    """Sums by level of a category column, for the levels that the pool holds.

    Attributes
    ----------
    present : int array (q,)
        The levels; n_levels stands for missing, where that is a level.
    sums, counts, weights : arrays of q rows
    total : array
        The sums over all of them.
    """

    present: np.ndarray
    sums: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    total: np.ndarray
    n_levels: int
    missing_is_level: bool

    @classmethod
    def of(cls, pool: Pool, j: int, impurity: Impurity, missing_is_level: bool) -> LevelTable:
        values = pool.column(j)
        n_levels = int(pool.levels[j])
        gone = np.isnan(values)
        codes = np.where(gone, n_levels, values).astype(np.int64)
        used = slice(None) if missing_is_level or not gone.any() else ~gone
        codes = codes[used]
        addends = impurity.addends(pool.y[used], pool.weights[used])
        present, position = np.unique(codes, return_inverse=True)
        q = len(present)
        sums = np.empty((q, addends.shape[1]))
        for s, column in enumerate(addends.T):
            sums[:, s] = np.bincount(position, column, q)
        counts = np.bincount(position, pool.counts[used], q)
        weights = np.bincount(position, pool.weights[used], q)
        total = sums.sum(axis=0)
        return cls(present, sums, counts, weights, total, n_levels, missing_is_level)


def all_divisions(q: int) -> np.ndarray:
    """All 2^(q-1) - 1 divisions of q things in two sets that are not empty: bool (..., q).

    Examples
    --------
    >>> all_divisions(3).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 0]])
    """
    codes = np.arange(1, 2 ** (q - 1))
    return (codes[:, None] >> np.arange(q) & 1).astype(bool)


def first_principal_scores(sums: np.ndarray) -> np.ndarray:
    """Levels along the first principal component of their class shares (or means), by weight."""
    if (sums >= 0).all():
        weights = sums.sum(axis=1)
        points = sums / weights[:, None]
    else:
        n_targets = (sums.shape[1] - 1) // 2
        weights = sums[:, 0]
        points = sums[:, 1 : 1 + n_targets] / weights[:, None]
    centered = points - weights @ points / weights.sum()
    _, vectors = np.linalg.eigh((centered * weights[:, None]).T @ centered)
    return centered @ vectors[:, -1]


def gain_ratio(candidate: Cut | Candidate, weight: float) -> float:
    """Saving over the split's own entropy; rows without an answer count as a branch (C4.5)."""
    unknown = max(weight - candidate.branch_weights.sum(), 0.0)
    shares = np.append(candidate.branch_weights, unknown) / weight
    shares = shares[shares > ROUNDING]
    information = -float((shares * np.log2(shares)).sum())
    return candidate.saving / (weight * information) if information > 0 else -np.inf


def drawn_rows(weights: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions drawn with replacement, in proportion to the weights."""
    line = np.cumsum(weights)
    drawn = np.searchsorted(line, rng.random(size) * line[-1], side="right")
    return np.minimum(drawn, len(weights) - 1)


@dataclass(frozen=True)
class RandomSplit:
    """Draws a column that parts the rows, then a place to cut it, without looking at the target.

    A number is cut below its value in a random row of the pool (a row of the least value parts
    nothing and is not drawn). A category is divided in one branch per level ("multiway"), in random
    sets ("coin_flips"), or in a random level and the rest.
    """

    impurity: Impurity
    categories: str = "value"
    missing_is_value: bool = False
    least: LeastBranch = LeastBranch()

    def __call__(self, pool: Pool, rng: np.random.Generator) -> Candidate | None:
        for j in rng.permutation(pool.columns):
            cut = self._category if pool.levels[j] else self._number
            candidate = cut(pool, int(j), rng)
            if candidate is not None:
                return candidate
        return None

    def _number(self, pool: Pool, j: int, rng: np.random.Generator) -> Candidate | None:
        values = pool.column(j)
        known = ~np.isnan(values)
        if not known.any():
            return None
        able = known & (values > np.min(values[known]))
        if not able.any():
            return self._missing_apart(pool, j, known)
        row = np.flatnonzero(able)[drawn_rows(pool.weights[able], 1, rng)[0]]
        missing = int(rng.integers(2)) if self.missing_is_value else UNKNOWN
        question = make_question(BELOW, feature=j, threshold=float(values[row]), missing=missing)
        return self._measured(pool, question)

    def _missing_apart(self, pool: Pool, j: int, known: np.ndarray) -> Candidate | None:
        if not self.missing_is_value or known.all():
            return None
        return self._measured(pool, make_question(AT_MOST, feature=j, threshold=np.inf, missing=1))

    def _category(self, pool: Pool, j: int, rng: np.random.Generator) -> Candidate | None:
        table = LevelTable.of(pool, j, self.impurity, self.missing_is_value)
        q = len(table.present)
        if q < 2:
            return None
        branch = np.full(table.n_levels + 1, UNKNOWN)
        if self.categories == "multiway":
            branch[:] = np.arange(table.n_levels + 1)
            if not self.missing_is_value:
                branch[-1] = UNKNOWN
        elif self.categories == "coin_flips":
            branch[table.present] = _coin_flips(q, rng)
        else:
            chosen = table.present[drawn_rows(table.weights, 1, rng)[0]]
            branch[table.present] = (table.present != chosen).astype(np.int64)
        question = make_question(
            LEVELS, feature=j, level_branch=branch[: table.n_levels], missing=int(branch[-1])
        )
        return self._measured(pool, question)

    def _measured(self, pool: Pool, question: Questions) -> Candidate | None:
        """The question with its saving; None where fewer than two branches get enough rows."""
        return measured(pool, question, self.impurity, self.least)


def _coin_flips(q: int, rng: np.random.Generator) -> np.ndarray:
    """A coin for each of q levels, thrown again while all fall alike."""
    while True:
        flips = rng.integers(2, size=q)
        if 0 < flips.sum() < q:
            return flips


def measured(
    pool: Pool, question: Questions, impurity: Impurity, least: LeastBranch
) -> Candidate | None:
    """A question with what it saves; None where fewer than two branches get enough rows."""
    branches = question.branches(np.zeros(len(pool.places), np.int64), pool.rows, pool.places)
    known = branches != UNKNOWN
    n_branches = int(branches.max()) + 1
    if n_branches < 2:
        return None
    branches = branches[known]
    counts = np.bincount(branches, pool.counts[known], n_branches)
    weights = np.bincount(branches, pool.weights[known], n_branches)
    if np.count_nonzero(least.allows(counts, weights)) < 2:
        return None
    addends = impurity.addends(pool.y[known], pool.weights[known])
    sums = np.stack([np.bincount(branches, each, n_branches) for each in addends.T], axis=1)
    saving = float(impurity.total(sums.sum(axis=0)) - impurity.total(sums).sum())
    return Candidate(question, saving, weights)
