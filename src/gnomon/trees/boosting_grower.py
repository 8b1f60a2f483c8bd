"""Growing the trees of a boosted model: the tables, rules and memory around the kernels.

A tree is grown on first and second derivatives of a loss, g and h, one of each per row. The step
that lowers the loss most in a leaf, to second order, is  -G / (H + l2)  with sums over the leaf's
rows, and the split is best that maximises

    G_left^2 / (H_left + l2) + G_right^2 / (H_right + l2) - G^2 / (H + l2).

Texts: 001 13.8 to 13.11.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gnomon.engine.threads import Crew
from gnomon.trees import boosting_kernel as kernels
from gnomon.trees.binning import Binned, midpoints
from gnomon.trees.grower import _masks_of_levels
from gnomon.trees.tree import LEAF, Tree

# Judgement: 256 MB at most; histograms are computed again where they do not fit.
HISTOGRAM_ROOM = 2**28
# Gains that differ by so many rounding errors are equal, and the first split is taken. A weight
# that is no whole number is rounded otherwise than the rows that it stands for.
TIE, TIE_OF_SHARES = 0.03, 8.0
# A split that gains less than this share of (sum |g|)^2 / sum h / 2 fits rounding errors.
LEAST_GAIN = 1e-6
# Nanoseconds of work, very nearly, that are not worth waking a thread.
WORTH_A_THREAD = 100_000
SEARCH, PART, JOIN, FILL = range(4)


@dataclass(frozen=True)
class PackedTable:
    """Binned columns as the boosting kernels read them: the codes of eight columns in one word.

    Attributes
    ----------
    codes : uint8 array of shape (n_columns, n_rows)
        Column by column, for parting rows.
    words : uint64 array of shape (n_rows, n_groups)
        Row by row, eight columns in a word, for histograms.
    columns : int64 array of shape (3, n_columns)
        Number of value bins, 1 for levels without an order, and direction (-1, 0, 1) of a monotone
        constraint.
    sets : uint8 array of shape (n_sets, n_columns)
        The columns that may meet on a path, 1 where a column is in a set; none for all.
    thresholds : float64 array of shape (n_columns, 256)
        The border above each bin.
    levels : dict of int to int64 array
        As in `Binned`.
    """

    codes: np.ndarray
    words: np.ndarray
    columns: np.ndarray
    sets: np.ndarray
    thresholds: np.ndarray
    levels: dict[int, np.ndarray]

    @classmethod
    def of(
        cls,
        binned: Binned,
        directions: np.ndarray | None = None,
        sets: np.ndarray | None = None,
        crew: Crew | None = None,
    ) -> PackedTable:
        """Pack binned columns.

        Parameters
        ----------
        binned : Binned
        directions : int array of shape (n_columns,), optional
            1: the prediction must not fall with the column, -1: it must not rise.
        sets : uint8 array of shape (n_sets, n_columns), optional
            The columns that may meet on a path.
        crew : Crew, optional
        """
        d = binned.n_features
        n_groups = -(-d // kernels.COLUMNS_PER_WORD)
        n_rows = binned.n_rows
        words = np.empty((n_rows, n_groups), np.uint64)

        def fill(start: int) -> None:
            kernels.pack_codes(binned.codes, start, min(start + kernels.TILE, n_rows), words)

        for_each = crew.each if crew is not None else _one_by_one
        for_each(fill, range(0, n_rows, kernels.TILE))
        columns = np.zeros((3, d), np.int64)
        columns[: kernels.DIRECTION] = binned.columns
        columns[kernels.DIRECTION] = 0 if directions is None else directions
        sets = np.empty((0, d), np.uint8) if sets is None else sets
        return cls(binned.codes, words, columns, sets, _bin_borders(binned), binned.levels)

    def of_rows(self, places: np.ndarray) -> PackedTable:
        """Some of the rows."""
        codes = self.codes.take(places, axis=1)
        return dataclasses.replace(self, codes=codes, words=self.words[places])

    @property
    def n_rows(self) -> int:
        return self.words.shape[0]

    @property
    def n_columns(self) -> int:
        return self.columns.shape[1]


def _one_by_one(function, items) -> list:
    return [function(item) for item in items]


def _bin_borders(binned: Binned) -> np.ndarray:
    """Threshold above each bin (n_columns, 256); +inf above the last, which parts missing cells."""
    low, high = binned.edges
    borders = np.full((binned.n_features, kernels.N_CODES), np.inf)
    for j, n_bins in enumerate(binned.columns[0]):
        n_cuts = max(n_bins - 1, 0)
        borders[j, :n_cuts] = midpoints(high[j, :n_cuts], low[j, 1:n_bins])
    return borders


@dataclass(frozen=True)
class BoostingRules:
    """Where a boosted tree stops.

    Parameters
    ----------
    max_leaf_nodes : int, optional
    max_depth : int, optional
    min_samples_leaf : int
        Least number of rows on each side of a split.
    min_hessian_leaf : float
        Least sum of second derivatives on each side.
    min_gain : float
        A split must gain more.
    max_features : int, optional
        Columns drawn at random for each node.
    l2 : float
        Penalty on the values of leaves.
    category_l2 : float
        Added to it where a set of more than four levels is chosen.
    """

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian_leaf: float = 1e-3
    min_gain: float = 0.0
    max_features: int | None = None
    l2: float = 0.0
    category_l2: float = 10.0

    def most_leaves(self, n_rows: int) -> int:
        """Leaves of the largest tree that these rules allow."""
        leaves = max(n_rows // self.min_samples_leaf, 1)
        if self.max_leaf_nodes is not None:
            leaves = min(leaves, self.max_leaf_nodes)
        if self.max_depth is not None:
            leaves = min(leaves, 2 ** min(self.max_depth, 40))
        return leaves


@dataclass(frozen=True)
class Derivatives:
    """First and second derivative of the loss per row, and how they become whole numbers.

    Attributes
    ----------
    gradients, hessians : float64 arrays of shape (n_rows,)
        Second derivatives may be empty where all are one.
    counts : int64 array of shape (n_rows,) or empty
        How often each row stands in the table; empty where all stand once.
    tally : int64 array of shape (n_rows,) or empty
        What each row adds to the number of rows in a leaf, in units of 1 / per_row; where these
        are rounded weights, a leaf may lack a 4096th of a row.
    per_row : int
    gradient_sum, hessian_sum : float
        Sums of absolute gradients and of second derivatives, times counts.
    constant : bool
        The second derivative is one everywhere, so that its sums count rows.
    """

    gradients: np.ndarray
    hessians: np.ndarray
    counts: np.ndarray
    tally: np.ndarray
    per_row: int
    gradient_sum: float
    hessian_sum: float
    constant: bool

    def coarse_scales(self) -> tuple[float, float, int]:
        """Scales of both derivatives in a packed word, and the bits of the second."""
        if self.constant:
            shift = _bits(self.hessian_sum) + 1
            return _scale(self.gradient_sum, 61 - shift), 1.0, shift
        # Each row counts one unit at least, so that rows use some of the room.
        n_rows = self.counts.sum() if self.counts.size else self.gradients.size
        shift = 32 if n_rows < 2**28 else 36
        return _scale(self.gradient_sum, 61 - shift), _scale(self.hessian_sum, shift - 2), shift

    def tally_of(self, rows: np.ndarray) -> int:
        """What some rows add to the number of rows in a leaf."""
        return int(self.tally[rows].sum()) if self.tally.size else rows.size

    def least_gain(self) -> float:
        """Gains below are rounding: a millionth of what one step could gain at most.

        Where no row has any curvature left, every gain is.
        """
        if self.hessian_sum == 0:
            return math.inf
        return LEAST_GAIN * self.gradient_sum**2 / (2 * self.hessian_sum)

    def fine_scales(self) -> tuple[float, float]:
        """Scales for exact sums over leaves."""
        return _scale(self.gradient_sum, 60), _scale(self.hessian_sum, 60)


def _bits(value: float) -> int:
    """The least e with value < 2^e, the same for sums that differ by rounding."""
    return math.frexp(value * (1 + 2.0**-20))[1]


def _scale(total: float, bits: int) -> float:
    """A power of two that makes a total fit into so many bits."""
    return math.ldexp(1.0, min(bits - _bits(total), 1000)) if total > 0 else 1.0


@dataclass(frozen=True)
class GrownTree:
    """A tree with its training rows.

    Attributes
    ----------
    tree : Tree
        Values are the Newton steps of packed (rounded) derivatives.
    masks : uint64 array of shape (n_nodes, 4)
        The codes that go left at each node, a bit each.
    index : uint32 array of shape (2, n_taken)
        Rows in the order of the leaves; valid until the next tree is grown.
    pieces : int64 array of shape (n_pieces, 4)
        Leaf, row of `index`, and start and end of its rows there; a leaf may have several pieces.
    """

    tree: Tree
    masks: np.ndarray
    index: np.ndarray
    pieces: np.ndarray

    def rows_of_leaves(self) -> Iterator[tuple[int, np.ndarray]]:
        """Every leaf and its training rows."""
        parts: dict[int, list[np.ndarray]] = {}
        for leaf, buffer, start, end in self.pieces.tolist():
            parts.setdefault(leaf, []).append(self.index[buffer, start:end])
        for leaf, rows in parts.items():
            yield leaf, np.concatenate(rows)


class Workshop:
    """Memory to grow trees in, one after another, all on tables of the same shape.

    Parameters
    ----------
    table : PackedTable
    rules : BoostingRules
    n_rows : int
        Rows of the table, each counted as often as it stands there.
    n_threads : int
        Threads that will work on one tree.
    """

    def __init__(self, table: PackedTable, rules: BoostingRules, n_rows: int, n_threads: int = 1):
        self.table = table
        self.rules = rules
        self._leaves = leaves = min(rules.most_leaves(n_rows), max(table.n_rows, 1))
        n_rows, n_groups = table.n_rows, table.words.shape[1]
        spare = min(leaves, kernels.MOST_JOBS)
        self._n_nodes = 2 * (leaves + spare) + 1
        n_slots = max(1, HISTOGRAM_ROOM // (n_groups * kernels.CELLS * 8))
        n_slots = min(n_slots, leaves + leaves // 4 + 2)
        # With few groups of columns, threads share the rows of great nodes instead.
        self._n_sharing = n_threads if n_groups < 4 * n_threads else 1
        n_shared = kernels.MOST_SHARED * self._n_sharing if self._n_sharing > 1 else 0
        restricted = self._max_features < table.n_columns or len(table.sets) > 0
        self._state = kernels.State(
            codes=table.codes,
            words=table.words,
            packed=np.empty(0, np.int64),
            tally=np.empty(0, np.int64),
            columns=table.columns,
            members=table.sets,
            index=np.empty((2, n_rows), np.uint32),
            hists=np.empty((n_slots + n_shared, n_groups, kernels.CELLS), np.int64),
            nodes=np.empty((self._n_nodes, kernels.N_NODE_FIELDS), np.int64),
            reals=np.empty((self._n_nodes, 3)),
            masks=np.empty((self._n_nodes, 4), np.uint64),
            found_gain=np.empty((self._n_nodes, n_groups)),
            found=np.empty((self._n_nodes, n_groups, 4), np.int64),
            found_masks=np.empty((self._n_nodes, n_groups, 4), np.uint64),
            allowed=np.empty((self._n_nodes if restricted else 0, table.n_columns), np.uint8),
            alive=np.empty((self._n_nodes if restricted else 0, len(table.sets)), np.uint8),
            lists=np.empty((kernels.N_LISTS, max(self._n_nodes, n_slots, 16)), np.int64),
            blocks=np.empty((n_rows // kernels.BLOCK + kernels.MOST_JOBS + 1, 7), np.int64),
            deck=np.empty(table.n_columns, np.int64),
        )
        self._workspaces = [self._workspace(n_groups) for _ in range(n_threads)]

    @staticmethod
    def _workspace(n_groups: int) -> kernels.Workspace:
        return kernels.Workspace(
            tile=np.empty(kernels.TILE, np.int64),
            tile_words=np.empty((n_groups, kernels.TILE), np.uint64),
            hists=np.empty((2, n_groups, kernels.CELLS), np.int64),
            whole=np.empty((3, kernels.N_CODES), np.int64),
            real=np.empty((2, kernels.N_CODES)),
            sides=np.empty(kernels.N_CODES, np.uint8),
        )

    @property
    def _max_features(self) -> int:
        d = self.table.n_columns
        return d if self.rules.max_features is None else min(self.rules.max_features, d)

    def grow(
        self,
        derivatives: Derivatives,
        packed: np.ndarray,
        taken: np.ndarray | None,
        total: int,
        seed: int = 0,
        crew: Crew | None = None,
    ) -> GrownTree:
        """Grow one tree.

        Parameters
        ----------
        derivatives : Derivatives
        packed : int64 array of shape (n_rows,)
            From `kernels.pack` with the derivatives' coarse scales.
        taken : uint32 array, optional
            The rows to grow on; by default all.
        total : int
            Sum of the packed derivatives of these rows.
        seed : int
            Seed of the draws of columns.
        crew : Crew, optional
            Threads that share the work; without it the tree grows on this one.
        """
        index = self._state.index
        if taken is None:
            index[0] = np.arange(self.table.n_rows, dtype=np.uint32)
        else:
            index = np.empty((2, taken.size), np.uint32)
            index[0] = taken
        state = self._state._replace(packed=packed, tally=derivatives.tally, index=index)
        root = derivatives.tally_of(index[0]), total, seed
        if crew is None or crew.size == 1:
            rules = self._packed_rules(derivatives, 1)
            kernels.grow_alone(state, rules, self._workspaces[0], *root)
        else:
            rules = self._packed_rules(derivatives, self._n_sharing)
            self._grow_together(state, rules, crew, root)
        return self._harvest(index, derivatives)

    def _grow_together(
        self,
        state: kernels.State,
        rules: kernels.Rules,
        crew: Crew,
        root: tuple[int, int, int],
    ) -> None:
        """The steps of a tree, each shared by the threads where it is worth it."""
        n_groups = self.table.words.shape[1]
        numbers = state.lists[kernels.NUMBERS]

        def share(task: int, cost: int) -> None:
            def job(worker: int, n_workers: int) -> None:
                kernels.do_share(state, rules, self._workspaces[worker], task, worker, n_workers)

            if cost < WORTH_A_THREAD:
                job(0, 1)
            else:
                crew.shares(job)

        n_parted = state.index.shape[1]
        growing = kernels.start_tree(state, rules, *root)
        while growing:
            search_cost = kernels.SEARCH_COST * int(numbers[kernels.N_JOBS])
            if numbers[kernels.IS_SHARED]:
                share(FILL, WORTH_A_THREAD)
            else:
                search_cost += n_parted
            share(SEARCH, 4 * search_cost * n_groups)
            growing = kernels.plan(state, rules) > 0
            if growing:
                some = state.blocks[: numbers[kernels.N_BLOCKS]]
                n_parted = int((some[:, kernels.B_END] - some[:, kernels.B_START]).sum())
                share(PART, 2 * n_parted)
                if kernels.settle(state, rules):
                    share(JOIN, n_parted)

    def _packed_rules(self, derivatives: Derivatives, n_sharing: int) -> kernels.Rules:
        rules = self.rules
        gradient_scale, hessian_scale, shift = derivatives.coarse_scales()
        least_weight = max(rules.min_hessian_leaf * hessian_scale, 1.0)
        if derivatives.constant:
            least_weight = max(least_weight, float(rules.min_samples_leaf))
        gain_unit = 0.5 * hessian_scale / gradient_scale**2
        return kernels.Rules(
            shift=shift,
            max_depth=2**62 if rules.max_depth is None else rules.max_depth,
            max_leaves=self._leaves,
            min_leaf=rules.min_samples_leaf * derivatives.per_row - (derivatives.per_row >> 12),
            max_features=self._max_features,
            bounded=int(self.table.columns[kernels.DIRECTION].any()),
            most_nodes=self._n_nodes,
            n_workers=n_sharing,
            least_weight=least_weight,
            least_gain=max(rules.min_gain, derivatives.least_gain()) / gain_unit,
            l2=rules.l2 * hessian_scale,
            category_l2=rules.category_l2 * hessian_scale,
            tie=TIE_OF_SHARES if derivatives.per_row > 1 else TIE,
        )

    def _harvest(self, index: np.ndarray, derivatives: Derivatives) -> GrownTree:
        """The committed nodes as a tree, and the rows of its leaves."""
        n = int(self._state.lists[kernels.NUMBERS, kernels.N_NODES])
        nodes, reals, masks = (
            array[:n] for array in (self._state.nodes, self._state.reals, self._state.masks)
        )
        state, parent = nodes[:, kernels.STATE], nodes[:, kernels.PARENT]
        is_kept = np.ones(n, bool)
        is_kept[1:] = state[parent[1:]] == kernels.COMMITTED
        new = np.cumsum(is_kept) - 1
        owner = np.where(is_kept, new, -1)
        for node in np.flatnonzero(~is_kept):
            owner[node] = owner[parent[node]]
        ends = np.flatnonzero((state == kernels.CLOSED) | (state == kernels.OPEN))
        pieces = np.empty((ends.size, 4), np.int64)
        pieces[:, kernels.P_LEAF] = owner[ends]
        pieces[:, kernels.P_BUFFER :] = nodes[ends][:, [kernels.BUFFER, kernels.START, kernels.END]]
        tree, masks = self._tree(nodes[is_kept], reals[is_kept], masks[is_kept], new, derivatives)
        return GrownTree(tree, masks, index, pieces)

    @staticmethod
    def _n_samples(nodes: np.ndarray, derivatives: Derivatives) -> np.ndarray:
        """Rows in each node: repeated ones as often as they stand there."""
        if derivatives.per_row == 1:
            return nodes[:, kernels.COUNT].astype(np.int32)
        return (nodes[:, kernels.END] - nodes[:, kernels.START]).astype(np.int32)

    def _tree(self, nodes, reals, masks, new, derivatives: Derivatives) -> tuple[Tree, np.ndarray]:
        gradient_scale, hessian_scale, shift = derivatives.coarse_scales()
        inner = nodes[:, kernels.STATE] == kernels.COMMITTED
        feature = np.where(inner, nodes[:, kernels.FEATURE], -1).astype(np.int32)
        is_category = inner & (self.table.columns[kernels.IS_CATEGORY][feature] == 1)
        threshold = np.full(len(nodes), np.nan)
        by_number = inner & ~is_category
        threshold[by_number] = self.table.thresholds[
            feature[by_number], nodes[by_number, kernels.CUT]
        ]
        left = np.full(len(nodes), LEAF, np.int32)
        left[inner] = new[nodes[inner, kernels.LEFT]]
        category = np.full(len(nodes), -1, np.int32)
        category[is_category] = np.arange(np.count_nonzero(is_category))
        gradient = (nodes[:, kernels.TOTAL] >> shift) / gradient_scale
        hessian = (nodes[:, kernels.TOTAL] & ((1 << shift) - 1)) / hessian_scale
        score = gradient**2 / (hessian + self.rules.l2)
        gain_unit = 0.5 * hessian_scale / gradient_scale**2
        masks = np.where(inner[:, None], masks, np.uint64(0))
        tree = Tree(
            feature=feature,
            threshold=threshold,
            missing_left=np.where(inner, nodes[:, kernels.MISSING_LEFT], 0).astype(np.uint8),
            category=category,
            category_left=_masks_of_levels(
                masks[is_category], feature[is_category], self.table.levels
            ),
            left=left,
            value=(-gradient / (hessian + self.rules.l2))[:, None],
            n_node_samples=self._n_samples(nodes, derivatives),
            weight=hessian,
            impurity=-0.5 * score,
            gain=np.where(inner, reals[:, kernels.GAIN], 0.0) * gain_unit,
        )
        return tree, masks
