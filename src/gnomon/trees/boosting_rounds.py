"""The rounds of boosting: derivatives of the loss, a tree (or one per class), new scores.

Everything that is added up over rows is a sum of whole numbers, or of blocks of rows whose borders
depend on the number of rows only; so the model does not depend on the order of the rows, on weight
versus repetition, or on the number of threads.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gnomon.engine.draw import MOST_REPETITIONS
from gnomon.engine.threads import Crew
from gnomon.trees import boosting_kernel as kernels
from gnomon.trees.boosting_grower import (
    BoostingRules,
    Derivatives,
    GrownTree,
    PackedTable,
    Workshop,
)
from gnomon.trees.losses import Loss
from gnomon.trees.tree import LEAF, Tree

ROWS_AT_ONCE = 2**14  # 2**11 took 1.06 of a fit's time, 2**17 0.98 (50,000 x 10)
NONE = np.empty(0, np.int64)
ALONE = Crew(1)  # trees of several classes grow on a thread each


@dataclass
class Target:
    """Target and weights of some rows.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
    counts : int64 array of shape (n_rows,) or empty
        Whole weights: how often each row stands there. Empty where all stand once.
    shares : float64 array of shape (n_rows,) or None
        Weights that are not whole, and factors of classes.
    counts_shares : bool
        Whether rows are counted by these, since they say how often a row stands there.
    """

    y: np.ndarray
    counts: np.ndarray
    shares: np.ndarray | None
    counts_shares: bool = False

    @classmethod
    def of(
        cls, y: np.ndarray, weights: np.ndarray | None, factors: np.ndarray | None = None
    ) -> Target:
        """Weights as repetitions where they are whole numbers, else as shares.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
        weights : ndarray of shape (n_rows,) or None
        factors : ndarray of shape (n_rows,), optional
            Factors that are in the weights already.
        """
        if weights is None:
            return cls(y, NONE, None)
        plain = weights if factors is None else weights / factors
        counts = np.rint(plain)
        whole = np.allclose(plain, counts, rtol=1e-12, atol=0)
        if not whole or counts.sum() > MOST_REPETITIONS * len(counts):
            return cls(y, NONE, weights, counts_shares=True)
        return cls(y, NONE if (counts == 1).all() else counts.astype(np.int64), factors)

    @property
    def is_plain(self) -> bool:
        """Whether every row stands there once."""
        return not self.counts.size and self.shares is None

    @property
    def n_rows(self) -> int:
        """Rows, each as often as it stands there, rounded up."""
        if self.counts_shares:
            return math.ceil(math.fsum(self.weights))
        return int(self.counts.sum()) if self.counts.size else self.y.size

    def tally(self) -> tuple[np.ndarray, int]:
        """Whole numbers that count the rows, and how many of them make one row."""
        if not self.counts_shares or self.shares is None:
            return self.counts, 1
        unit = 2 ** max(0, min(30, 60 - math.frexp(math.fsum(self.shares))[1]))
        return np.rint(self.shares * unit).astype(np.int64), unit

    @property
    def weights(self) -> np.ndarray:
        if self.is_plain:
            return np.ones(self.y.size)
        if self.shares is None:
            return self.counts.astype(np.float64)
        return self.shares * self.counts if self.counts.size else self.shares

    def with_counts(self, counts: np.ndarray) -> Target:
        """The same rows, standing there as often as `counts` says."""
        return dataclasses.replace(self, counts=counts)

    def select(self, rows: np.ndarray) -> Target:
        counts = self.counts[rows] if self.counts.size else NONE
        shares = None if self.shares is None else self.shares[rows]
        return Target(self.y[rows], counts, shares, self.counts_shares)


class Tickets:
    """Draws of rows without replacement that do not depend on their order.

    Rows stand in canonical order, each with as many tickets as it has repetitions.

    Parameters
    ----------
    order : ndarray of int
        From `gnomon.engine.draw.canonical_order`.
    target : Target
    """

    def __init__(self, order: np.ndarray, target: Target):
        self.order = order
        self.counts = target.counts[self.order] if target.counts.size else None

    def draw(self, share: float, seed: int, strata: np.ndarray | None = None) -> np.ndarray:
        """How often each row is drawn: int64 (n_rows,).

        Parameters
        ----------
        share : float
            Share of all tickets.
        seed : int
        strata : int array of shape (n_rows,), optional
            The share is drawn from each stratum by itself.
        """
        if strata is None:
            return self._drawn(share, seed, np.arange(self.order.size))
        drawn = np.zeros(self.order.size, np.int64)
        sorted_strata = strata[self.order]
        for stratum in np.unique(strata):
            places = np.flatnonzero(sorted_strata == stratum)
            drawn += self._drawn(share, seed + int(stratum), places)
        return drawn

    def _drawn(self, share: float, seed: int, places: np.ndarray) -> np.ndarray:
        counts = None if self.counts is None else self.counts[places]
        n_tickets = places.size if counts is None else int(counts.sum())
        tickets = np.zeros(n_tickets, np.int64)
        kernels.draw_without_replacement(round(share * n_tickets), n_tickets, seed, tickets)
        if counts is not None:
            tickets = np.add.reduceat(tickets, np.cumsum(counts) - counts)
        drawn = np.zeros(self.order.size, np.int64)
        drawn[self.order[places]] = tickets
        return drawn


class Scored:
    """Rows with their raw scores: adds trees to them and measures the loss.

    Parameters
    ----------
    table : PackedTable
    target : Target
    loss : Loss
    baseline : float64 array of shape (n_scores,)
    crew : Crew
    rows_at_once : int, optional
        Rows of the blocks whose losses are added up.
    """

    def __init__(
        self,
        table: PackedTable,
        target: Target,
        loss: Loss,
        baseline: np.ndarray,
        crew: Crew,
        rows_at_once: int | None = None,
    ):
        self.table = table
        self.target = target
        self.loss = loss
        self.crew = crew
        self.scores = np.repeat(baseline[:, None], target.y.size, axis=1)
        self.weights = target.weights
        self.total_weight = math.fsum(self.weights)
        self.rows_at_once = ROWS_AT_ONCE if rows_at_once is None else rows_at_once

    @property
    def _starts(self) -> range:
        """Where the blocks of rows start that are worked on at once."""
        return range(0, self.target.y.size, self.rows_at_once)

    def add(self, k: int, coded: CodedTree, rows: np.ndarray, crew: Crew) -> None:
        """Add a tree's values to the k-th score of some rows, which it was not grown on."""
        tree = coded.tree
        values = np.ascontiguousarray(tree.value[:, 0])

        def add_block(start: int) -> None:
            some = rows[start : start + self.rows_at_once]
            kernels.add_by_codes(
                self.table.codes, some, tree.feature, tree.left, coded.masks, values, self.scores[k]
            )

        crew.each(add_block, range(0, rows.size, self.rows_at_once))

    def add_round(self, round_: list[CodedTree]) -> None:
        """Add the trees of a round to the scores of all rows."""
        rows = np.arange(self.target.y.size, dtype=np.uint32)
        for k, coded in enumerate(round_):
            self.add(k, coded, rows, self.crew)

    def mean_loss(self) -> float:
        """The mean loss, by weight."""
        return sum(self.block_losses()) / self.total_weight

    def block_losses(self) -> list[float]:
        """The loss of each block of rows, by weight."""

        def measure(start: int) -> float:
            block = slice(start, start + self.rows_at_once)
            values = self.loss.values(self.target.y[block], self.scores[:, block])
            return float(values @ self.weights[block])

        return self.crew.each(measure, self._starts)


@dataclass(frozen=True)
class CodedTree:
    """A tree that can also be followed by the codes of a row.

    Attributes
    ----------
    tree : Tree
        Its values are what is added to the scores.
    masks : uint64 array of shape (n_nodes, 4)
        The codes that go left at each node, a bit each.
    """

    tree: Tree
    masks: np.ndarray


class Booster(Scored):
    """The training rows of a boosted model, and one round after another.

    Parameters
    ----------
    table : PackedTable
    target : Target
    loss : Loss
    baseline : float64 array of shape (n_scores,)
    crew : Crew
    rules : BoostingRules
    learning_rate : float
    keep_losses : bool
        Keep the loss of each row, to compare rounds on rows that were not drawn.
    rows_at_once : int, optional
        Rows of the blocks whose losses are added up.
    """

    def __init__(
        self,
        table: PackedTable,
        target: Target,
        loss: Loss,
        baseline: np.ndarray,
        crew: Crew,
        rules: BoostingRules,
        learning_rate: float,
        keep_losses: bool = False,
        rows_at_once: int | None = None,
    ):
        super().__init__(table, target, loss, baseline, crew, rows_at_once)
        self.rules = rules
        self.learning_rate = learning_rate
        n = target.y.size
        self.gradients = np.empty((loss.n_scores, n))
        # Second derivatives that are all one need no room.
        self._is_unit = loss.constant and target.shares is None
        self.hessians = np.empty((loss.n_scores, 0 if self._is_unit else n))
        self.row_losses = np.empty(n if keep_losses else 0)
        self._sums = np.full((2, loss.n_scores), float(target.n_rows))
        n_side_by_side = min(loss.n_scores, crew.size)
        self._workshops = [
            Workshop(table, rules, target.n_rows, crew.size if place == 0 else 1)
            for place in range(n_side_by_side)
        ]
        self._packed = [np.empty(n, np.int64) for _ in self._workshops]
        self._leaves = [np.empty(n, np.uint32) for _ in self._workshops]
        self._tally, self._per_row = target.tally()
        self._everyone = np.arange(n, dtype=np.uint32)

    def derive(self) -> float:
        """Derivatives of the loss at the scores; returns the mean loss."""
        self.loss.begin_round(self.target.y, self.scores, self.weights)
        mean, sizes = added_blocks(self.derive_blocks(), self.total_weight)
        self._sums[: len(sizes)] = sizes
        return mean

    def derive_blocks(self) -> list[tuple[float, np.ndarray]]:
        """Derivatives at the scores; of each block of rows its loss and sizes of derivatives."""
        loss, target = self.loss, self.target
        counts = target.counts

        def derive_block(start: int) -> tuple[float, np.ndarray]:
            block = slice(start, start + self.rows_at_once)
            gradients, hessians = self.gradients[:, block], self.hessians[:, block]
            losses = loss.derivatives(target.y[block], self.scores[:, block], gradients, hessians)
            if target.shares is not None:
                if loss.constant:
                    hessians[:] = 1
                gradients *= target.shares[block]
                hessians *= target.shares[block]
            if self.row_losses.size:
                self.row_losses[block] = losses
            # second derivatives are never negative
            sizes = [
                [kernels.sum_of_sizes(row, counts[block]) for row in derivatives]
                for derivatives in (gradients, hessians)
                if derivatives.size
            ]
            return float(losses @ self.weights[block]), np.array(sizes)

        return self.crew.each(derive_block, self._starts)

    def round(self, drawn: np.ndarray, seeds: list[int]) -> list[CodedTree]:
        """Grow the trees of one round, one per score, and add them to the scores.

        Parameters
        ----------
        drawn : int64 array of shape (n_rows,) or empty
            How often each row is drawn in this round; empty: all rows are.
        seeds : list of int
            Of the draws of columns, one per tree.
        """
        draw = self._draw(drawn)
        n_scores, n_threads = self.loss.n_scores, self.crew.size
        trees: dict[int, CodedTree] = {}
        # As many trees at once as there are threads; those that are left over share all threads.
        n_side_by_side = n_scores - n_scores % n_threads if n_threads > 1 else 0
        for first in range(0, n_side_by_side, n_threads):

            def grow(worker: int, n_workers: int, first: int = first) -> None:
                k = first + worker
                trees[k] = self._grow(k, draw, seeds[k], worker, ALONE)

            self.crew.shares(grow)
        for k in range(n_side_by_side, n_scores):
            trees[k] = self._grow(k, draw, seeds[k], 0, self.crew)
        return [trees[k] for k in range(n_scores)]

    def _draw(self, drawn: np.ndarray) -> Draw:
        if not drawn.size:
            return Draw(self.target.counts, None, None)
        taken = drawn > 0
        counts = drawn if self.target.counts.size else NONE
        return Draw(counts, self._everyone[taken], self._everyone[~taken])

    def _grow(self, k: int, draw: Draw, seed: int, place: int, crew: Crew) -> CodedTree:
        """Grow the tree of the k-th score and add it to the scores."""
        derivatives = Derivatives(
            self.gradients[k],
            self.hessians[k],
            draw.counts,
            self._tally if self.target.counts_shares else draw.counts,
            self._per_row,
            float(self._sums[0, k]),
            float(self._sums[1, k]),
            self._is_unit,
        )
        packed = self._packed[place]
        total = self._pack(derivatives, packed, crew)
        if draw.taken is not None:
            total = int(packed[draw.taken].sum())
        grown = self._workshops[place].grow(derivatives, packed, draw.taken, total, seed, crew)
        leaves = self._leaves[place]
        if draw.taken is not None:
            leaves.fill(grown.tree.n_nodes)
        self._tell_leaves(grown.pieces, grown.index, leaves, crew)
        values = self.learning_rate * self._values(grown, leaves, derivatives, crew)
        coded = CodedTree(dataclasses.replace(grown.tree, value=values[:, None]), grown.masks)
        self._add_leaves(leaves, np.append(values, 0.0), self.scores[k], crew)
        if draw.left_out is not None:
            self.add(k, coded, draw.left_out, crew)
        return coded

    def _add_leaves(
        self, leaves: np.ndarray, values: np.ndarray, scores: np.ndarray, crew: Crew
    ) -> None:
        """scores += the value of each row's leaf."""

        def add_block(start: int) -> None:
            block = slice(start, start + self.rows_at_once)
            kernels.add_to_scores(leaves[block], values, scores[block])

        crew.each(add_block, self._starts)

    def _pack(self, derivatives: Derivatives, packed: np.ndarray, crew: Crew) -> int:
        """Both derivatives of all rows as one whole number each; returns their sum."""
        gradient_scale, hessian_scale, shift = derivatives.coarse_scales()

        def pack_block(start: int) -> int:
            block = slice(start, start + self.rows_at_once)
            return kernels.pack(
                derivatives.gradients[block],
                derivatives.hessians[block],
                derivatives.counts[block] if derivatives.counts.size else NONE,
                gradient_scale,
                hessian_scale,
                shift,
                packed[block],
            )

        return sum(crew.each(pack_block, self._starts))

    @staticmethod
    def _tell_leaves(pieces: np.ndarray, index: np.ndarray, leaves: np.ndarray, crew: Crew) -> None:
        """The leaf of each row that the tree was grown on."""
        crew.shares(
            lambda worker, n_workers: kernels.tell_leaves(pieces, index, worker, n_workers, leaves)
        )

    def _values(
        self, grown: GrownTree, leaves: np.ndarray, derivatives: Derivatives, crew: Crew
    ) -> np.ndarray:
        """Values of all nodes that lower the true loss most, before shrinkage.

        Rows that the tree was not grown on have the leaf after the last.
        """
        tree = grown.tree
        scales = derivatives.fine_scales()
        sums = self._sums_of_leaves(leaves, tree.n_nodes, derivatives, scales, crew)
        values = values_of_nodes(tree, sums, scales, self.loss, self.rules.l2)
        if self.loss.needs_rows:
            values = self._values_from_rows(grown, values, derivatives.counts)
        directions = self.table.columns[kernels.DIRECTION]
        return in_direction(tree, values, directions) if directions.any() else values

    @staticmethod
    def _sums_of_leaves(
        leaves: np.ndarray,
        n_nodes: int,
        derivatives: Derivatives,
        scales: tuple[float, float],
        crew: Crew,
    ) -> np.ndarray:
        """Both derivatives of the rows of each leaf as whole numbers (n_nodes, 2)."""

        def add_up(worker: int, n_workers: int) -> np.ndarray:
            sums = np.zeros((n_nodes + 1, 2), np.int64)
            some = slice(*(leaves.size * part // n_workers for part in (worker, worker + 1)))
            kernels.add_up_leaves(
                leaves[some],
                derivatives.gradients[some],
                derivatives.hessians[some],
                derivatives.counts[some],
                *scales,
                sums,
            )
            return sums

        return sum(crew.shares(add_up))[:-1]

    def _values_from_rows(
        self, grown: GrownTree, values: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Values of leaves that need the rows themselves; above them their means."""
        weights = self.weights if self.target.shares is not None or not counts.size else counts
        residuals = self.target.y - self.scores[0]
        tree, values = grown.tree, values.copy()
        for leaf, rows in grown.rows_of_leaves():
            values[leaf] = self.loss.step_of_rows(residuals[rows], weights[rows])
        for node in np.flatnonzero(tree.left != LEAF)[::-1]:
            below = [tree.left[node], tree.left[node] + 1]
            values[node] = np.average(values[below], weights=tree.n_node_samples[below])
        return values


def added_blocks(
    blocks: list[tuple[float, np.ndarray]], total_weight: float
) -> tuple[float, np.ndarray]:
    """The mean loss, and the sizes of the derivatives, from those of blocks in their order."""
    mean = sum(part for part, _ in blocks) / total_weight
    sizes = sum(sizes for _, sizes in blocks)
    if not (math.isfinite(mean) and np.isfinite(sizes).all()):
        raise ValueError(
            "the loss has grown beyond all numbers; use a smaller learning_rate, or rescale "
            "the target"
        )
    return mean, sizes


def values_of_nodes(
    tree: Tree, sums: np.ndarray, scales: tuple[float, float], loss: Loss, l2: float
) -> np.ndarray:
    """Values of all nodes from the sums of derivatives over leaves (n_nodes, 2), which change."""
    is_leaf = tree.left == LEAF
    for node in np.flatnonzero(~is_leaf)[::-1]:
        sums[node] = sums[tree.left[node]] + sums[tree.left[node] + 1]
    return loss.step(sums[:, 0] / scales[0], sums[:, 1] / scales[1], is_leaf, l2)


class Draw(NamedTuple):
    """The rows of a round: how often each is drawn, which are drawn at all, and which are not."""

    counts: np.ndarray
    taken: np.ndarray | None
    left_out: np.ndarray | None


def in_direction(tree: Tree, values: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Values that rise (1) or fall (-1) with the columns that have a direction.

    From the root down, both children of a split by such a column are put on their side of the
    middle between them, and all below them stay there.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees.binning import Binner
    >>> from gnomon.trees.grower import GrowthRules, grow_tree, value_statistics
    >>> rows = np.array([[0.0], [1.0]])
    >>> binned = Binner().fit(rows).transform(rows)
    >>> tree = grow_tree(binned, value_statistics([5.0, 1.0]), GrowthRules("squared_error"))
    >>> in_direction(tree, tree.value[:, 0], np.array([1]))
    array([3., 3., 3.])
    """
    values = values.copy()
    low, high = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    for node in range(tree.n_nodes):
        values[node] = min(max(values[node], low[node]), high[node])
        if tree.left[node] == LEAF:
            continue
        left, right = tree.left[node], tree.left[node] + 1
        low[[left, right]], high[[left, right]] = low[node], high[node]
        direction = directions[tree.feature[node]]
        if direction != 0:
            middle = np.clip(values[[left, right]], low[node], high[node]).mean()
            lower, upper = (left, right) if direction > 0 else (right, left)
            high[lower] = low[upper] = middle
    return values
