"""Boosting on the workers of a cluster: histograms come back, splits go out.

Every worker holds the codes, targets and scores of its rows. The sums that choose a split are whole
numbers, so they have the same bits wherever rows are added up; losses are added in the blocks of
one machine. So the model is the one that threads would fit.

Workers change what they hold: scores, derivatives, the rows of each node. A worker that does not
have the state that the next step needs (it died, or the rows have moved) answers nothing, and is
told how to make it anew: the trees of the rounds before, and the steps of this one.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.config import settings
from gnomon.engine.sums import ArraySource, Cluster, Source
from gnomon.trees import boosting_kernel as kernels
from gnomon.trees import boosting_rounds as rounds
from gnomon.trees.boosting_grower import (
    BoostingRules,
    Derivatives,
    GrownTree,
    PackedTable,
    Workshop,
)
from gnomon.trees.boosting_rounds import (
    ALONE,
    NONE,
    Booster,
    CodedTree,
    Scored,
    Target,
    added_blocks,
    in_direction,
    values_of_nodes,
)
from gnomon.trees.losses import Loss
from gnomon.trees.streamed_rows import HeldTable

# Cells from which on workers pay: one thread grows a tree on so many in a quarter of a second, and
# its twenty or so messages take as long.
FEWEST_CELLS = 2**26
SUMS, COUNTS = range(2)
Wanted = tuple[int, int]  # a node, and whether its derivatives or its rows are added up


@dataclass(frozen=True)
class Setup:
    """What workers know of a fit beside their rows.

    Attributes
    ----------
    columns : int64 array of shape (3, n_columns)
    loss : Loss
        After its `begin`.
    baseline : float64 array of shape (n_scores,)
    rules : BoostingRules
    n_nodes : int
        Nodes of a tree that is growing, at most.
    per_row : int
        As in `Derivatives`.
    fields : tuple of str
        What the columns of the target are: y, counts, shares.
    dtype : dtype
        Of y.
    counts_shares : bool
        As in `Target`.
    """

    columns: np.ndarray
    loss: Loss
    baseline: np.ndarray
    rules: BoostingRules
    n_nodes: int
    per_row: int
    fields: tuple[str, ...]
    dtype: Any
    counts_shares: bool

    @classmethod
    def of(
        cls, table: PackedTable, target: Target, loss: Loss, baseline: np.ndarray, **more: Any
    ) -> Setup:
        """What workers know of a table and a target; more for those that grow trees."""
        fields = tuple(name for name, _ in columns_of(target))
        of_target = (fields, target.y.dtype, target.counts_shares)
        growing = {"rules": BoostingRules(), "n_nodes": 0, "per_row": 1} | more
        return cls(table.columns, loss, baseline, **growing, **dict(zip(OF_TARGET, of_target)))

    def table(self, rows: np.ndarray) -> PackedTable:
        """The table of some rows of codes."""
        codes = np.ascontiguousarray(rows.T)
        d, n = codes.shape
        words = np.empty((n, -(-d // kernels.COLUMNS_PER_WORD)), np.uint64)
        kernels.pack_codes(codes, 0, n, words)
        no_sets, no_borders = np.empty((0, d), np.uint8), np.empty((d, 0))
        return PackedTable(codes, words, self.columns, no_sets, no_borders, {})

    def target(self, stacked: np.ndarray) -> Target:
        """The target of some rows, from the columns in which it was sent."""
        found = {name: stacked[:, place].copy() for place, name in enumerate(self.fields)}
        return Target(
            found["y"].astype(self.dtype),
            found["counts"].astype(np.int64) if "counts" in found else NONE,
            found.get("shares"),
            self.counts_shares,
        )


OF_TARGET = ("fields", "dtype", "counts_shares")


def columns_of(target: Target) -> list[tuple[str, np.ndarray]]:
    """The columns of a target that are not empty."""
    columns = {"y": target.y, "counts": target.counts, "shares": target.shares}
    return [(name, array) for name, array in columns.items() if array is not None and array.size]


def rows_on_workers(table: PackedTable, target: Target) -> Source:
    """The codes of a table as rows, with the target beside them."""
    stacked = np.column_stack([np.asarray(a, np.float64) for _, a in columns_of(target)])
    if isinstance(table, HeldTable):
        return table.source(stacked)
    return ArraySource(table.codes.T, stacked, size=rounds.ROWS_AT_ONCE)


class HeldPart(Booster):
    """The rows of a worker, and how far boosting has come on them.

    Parameters
    ----------
    setup : Setup
    held : HeldRows
        Codes as rows; see `gnomon.distributed.remote`.
    fit : str
        The fit that this is part of.
    """

    def __init__(self, setup: Setup, held: Any, fit: str):
        super().__init__(
            setup.table(held.rows),
            setup.target(held.y),
            setup.loss,
            setup.baseline,
            ALONE,
            setup.rules,
            learning_rate=1.0,
            rows_at_once=held.size,
        )
        self.fit, self.clock = fit, 0
        if self.target.counts_shares:
            self._tally = np.rint(self.target.shares * setup.per_row).astype(np.int64)
        shop = self._workshops[0]
        self.work = shop._workspaces[0]
        self.state = shop._state._replace(
            packed=self._packed[0],
            tally=self._tally if self.target.counts_shares else self.target.counts,
            nodes=np.empty((setup.n_nodes, kernels.N_NODE_FIELDS), np.int64),
            masks=np.empty((setup.n_nodes, 4), np.uint64),
            blocks=np.empty((kernels.MOST_JOBS, kernels.N_BLOCK_FIELDS), np.int64),
        )
        self.middle = np.empty(setup.n_nodes, np.int64)
        self.score = 0

    def derivatives(self) -> Derivatives:
        """Of the score whose tree grows; sums are those of all rows, which the client has."""
        k = self.score
        gradients, hessians = self.gradients[k], self.hessians[k]
        counts = self.target.counts
        return Derivatives(gradients, hessians, counts, NONE, 1, 0.0, 0.0, self._is_unit)

    def histograms(self, wanted: list[Wanted]) -> np.ndarray:
        """Histograms of nodes (n_wanted, n_groups, CELLS)."""
        found = np.empty((len(wanted), self.table.words.shape[1], kernels.CELLS), np.int64)
        pairs = np.array(wanted, np.int64).reshape(-1, 2)
        kernels.fill_wanted(self.state, self.work, pairs, found)
        return found

    def make_children(self, made: list[tuple[int, int]]) -> None:
        """Rows of the children of nodes that were split: pairs of a node and its left child."""
        nodes = self.state.nodes
        for node, left in made:
            start, end = nodes[node, [kernels.START, kernels.END]]
            for child, first, last in (
                (left, start, self.middle[node]),
                (left + 1, self.middle[node], end),
            ):
                nodes[child, [kernels.START, kernels.END, kernels.BUFFER]] = first, last, 0


@dataclass(frozen=True)
class Derive:
    """Derivatives at the scores: loss and sizes of each block of rows."""

    def __call__(self, part: HeldPart) -> list[tuple[float, np.ndarray]]:
        return part.derive_blocks()


@dataclass(frozen=True)
class Begin:
    """Begin the tree of a score: the sum of the packed derivatives, and the root's histograms."""

    score: int
    scales: tuple[float, float, int]

    def __call__(self, part: HeldPart) -> tuple[int, np.ndarray]:
        part.score = self.score
        derivatives = part.derivatives()
        total = kernels.pack(
            derivatives.gradients,
            derivatives.hessians,
            derivatives.counts,
            *self.scales,
            part.state.packed,
        )
        part.state.index[0] = part._everyone
        root = part.state.nodes[0]
        root[[kernels.START, kernels.END, kernels.BUFFER]] = 0, part._everyone.size, 0
        return total, part.histograms([(0, SUMS)])


@dataclass(frozen=True)
class Split:
    """Split the rows of nodes.

    Gives the rows and counts on the left (2, n_nodes), and histograms of one side of each node,
    where that side is 0 or 1.
    """

    made: list[tuple[int, int]]
    nodes: list[int]
    features: list[int]
    masks: np.ndarray
    sides: list[int]

    def __call__(self, part: HeldPart) -> tuple[np.ndarray, np.ndarray]:
        part.make_children(self.made)
        state = part.state
        state.masks[self.nodes] = self.masks
        state.nodes[self.nodes, kernels.FEATURE] = self.features
        blocks = state.blocks[: len(self.nodes)]
        blocks[:, kernels.B_NODE] = self.nodes
        blocks[:, kernels.B_START] = state.nodes[self.nodes, kernels.START]
        blocks[:, kernels.B_END] = state.nodes[self.nodes, kernels.END]
        state.lists[kernels.NUMBERS, kernels.N_BLOCKS] = len(self.nodes)
        kernels.part_blocks(state, part.work)
        part.middle[self.nodes] = blocks[:, kernels.B_START] + blocks[:, kernels.B_LEFT_ROWS]
        lefts = blocks[:, [kernels.B_LEFT_ROWS, kernels.B_LEFT_COUNT]].T.copy()
        return lefts, self._histograms(part)

    def _histograms(self, part: HeldPart) -> np.ndarray:
        """A side's rows are those of its node for a moment, until children have numbers."""
        nodes = part.state.nodes
        asked = [(node, side) for node, side in zip(self.nodes, self.sides) if side >= 0]
        before = nodes[self.nodes].copy()
        for node, side in asked:
            nodes[node, kernels.START if side else kernels.END] = part.middle[node]
        found = part.histograms([(node, SUMS) for node, _ in asked])
        nodes[self.nodes] = before
        return found


@dataclass(frozen=True)
class Fill:
    """Histograms of nodes."""

    made: list[tuple[int, int]]
    wanted: list[Wanted]

    def __call__(self, part: HeldPart) -> np.ndarray:
        part.make_children(self.made)
        return part.histograms(self.wanted)


@dataclass(frozen=True)
class Leaves:
    """Exact sums of derivatives over the leaves (n_nodes, 2).

    ends: for each node without children that are kept, its leaf and itself.
    """

    made: list[tuple[int, int]]
    ends: np.ndarray
    n_nodes: int
    scales: tuple[float, float]

    def __call__(self, part: HeldPart) -> np.ndarray:
        part.make_children(self.made)
        leaf, node = self.ends.T
        pieces = np.empty((len(leaf), 4), np.int64)
        pieces[:, kernels.P_LEAF] = leaf
        fields = [kernels.BUFFER, kernels.START, kernels.END]
        pieces[:, kernels.P_BUFFER :] = part.state.nodes[node][:, fields]
        leaves = part._leaves[0]
        part._tell_leaves(pieces, part.state.index, leaves, ALONE)
        derivatives = part.derivatives()
        return part._sums_of_leaves(leaves, self.n_nodes, derivatives, self.scales, ALONE)


@dataclass(frozen=True)
class Add:
    """Add the values of the last tree's leaves to its score."""

    values: np.ndarray

    def __call__(self, part: HeldPart) -> None:
        part._add_leaves(part._leaves[0], self.values, part.scores[part.score], ALONE)


Step = Derive | Begin | Split | Fill | Leaves | Add


@dataclass(frozen=True)
class Request:
    """The next steps of a fit, for rows that are as far as `clock` says; None where they are not.

    Attributes
    ----------
    fit : str
    clock : int
        How many requests there were before.
    steps : list of Step
    """

    fit: str
    clock: int
    steps: list[Step]

    def __call__(self, held: Any) -> Any:
        part = held.scratch.get("boosting")
        if part is None or part.fit != self.fit:
            return None
        with held.scratch["lock"]:
            if part.clock != self.clock:
                return None
            return self._done(part)

    def _done(self, part: HeldPart) -> Any:
        part.clock = -1  # a request that fails half-way leaves nothing to go on from
        for step in self.steps:
            result = step(part)
        part.clock = self.clock + 1
        return result


@dataclass(frozen=True)
class Anew(Request):
    """The same where nothing is known: from the rounds before, and all steps of this round."""

    setup: Setup
    trees: list[list[CodedTree]]

    def __call__(self, held: Any) -> Any:
        with held.scratch.setdefault("lock", threading.Lock()):
            part = HeldPart(self.setup, held, self.fit)
            for round_ in self.trees:
                part.add_round(round_)
            result = self._done(part)
            held.scratch["boosting"] = part
            return result


class ClusterBooster:
    """A `Booster` whose rows are on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
    table, target, loss, baseline, rules, learning_rate
        As in `Booster`.
    """

    def __init__(
        self,
        cluster: Cluster,
        table: PackedTable,
        target: Target,
        loss: Loss,
        baseline: np.ndarray,
        rules: BoostingRules,
        learning_rate: float,
    ):
        self.cluster, self.table, self.target = cluster, table, target
        self.loss, self.rules, self.learning_rate = loss, rules, learning_rate
        self.total_weight = math.fsum(target.weights)
        self.grower = ClusterWorkshop(table, rules, target.n_rows)
        self._tally, per_row = target.tally()
        self._is_unit = loss.constant and target.shares is None
        self._sums = np.full((2, loss.n_scores), float(target.n_rows))
        growing = {"rules": rules, "n_nodes": self.grower._n_nodes, "per_row": per_row}
        self.setup = Setup.of(table, target, loss, baseline, **growing)
        self._source = rows_on_workers(table, target)
        self._fit = uuid.uuid4().hex
        self._clock = 0
        self._trees: list[list[CodedTree]] = []
        self._added: list[CodedTree] = []
        self._steps: list[Step] = []
        self._pending: list[Step] = []

    def derive(self) -> float:
        """Derivatives of the loss at the scores; returns the mean loss."""
        if self._added:
            self._trees.append(self._added)
        # made anew, the rows get the trees of the last round with those before
        self._added, self._steps = [], []
        parts = self.ask(Derive())
        blocks = [block for part in parts for block in part]
        mean, sizes = added_blocks(blocks, self.total_weight)
        self._sums[: len(sizes)] = sizes
        return mean

    def round(self, drawn: np.ndarray, seeds: list[int]) -> list[CodedTree]:
        """Grow the trees of one round, one per score; all rows are drawn."""
        for k, seed in enumerate(seeds):
            self._added.append(self._grow(k, seed))
        return self._added

    def ask(self, step: Step) -> list[Any]:
        """What the step gives on each part of the rows."""
        found: dict[int, Any] = {}
        if self._clock:
            request = Request(self._fit, self._clock, [*self._pending, step])
            found = dict(self.cluster.on_parts(request, self._source) or ())
        if not isinstance(step, Derive):
            self._steps += self._pending
        self._pending = []
        self._steps.append(step)
        lost = [number for number, result in found.items() if result is None]
        if lost or not found:
            request = Anew(self._fit, self._clock, self._steps, self.setup, self._trees)
            found.update(self.cluster.on_parts(request, self._source, lost or None) or ())
        self._clock += 1
        return [found[number] for number in sorted(found)]

    def _grow(self, k: int, seed: int) -> CodedTree:
        n = self.target.y.size
        nothing = np.broadcast_to(np.float64(0.0), n)
        derivatives = Derivatives(
            nothing,
            nothing,
            self.target.counts,
            self._tally if self.target.counts_shares else self.target.counts,
            self.setup.per_row,
            float(self._sums[0, k]),
            float(self._sums[1, k]),
            self._is_unit,
        )
        parts = self.ask(Begin(k, derivatives.coarse_scales()))
        total, root = sum(part[0] for part in parts), sum(part[1] for part in parts)
        grown, ends = self.grower.grow_with(self, derivatives, total, root[0], seed)
        scales = derivatives.fine_scales()
        leaves = Leaves(self.grower.new_children(), ends, grown.tree.n_nodes, scales)
        sums = sum(self.ask(leaves))
        values = values_of_nodes(grown.tree, sums, scales, self.loss, self.rules.l2)
        directions = self.table.columns[kernels.DIRECTION]
        if directions.any():
            values = in_direction(grown.tree, values, directions)
        values = self.learning_rate * values
        self._pending.append(Add(np.append(values, 0.0)))
        return CodedTree(dataclasses.replace(grown.tree, value=values[:, None]), grown.masks)


class ClusterWorkshop(Workshop):
    """Grows trees by histograms that workers add up."""

    def grow_with(
        self,
        booster: ClusterBooster,
        derivatives: Derivatives,
        total: int,
        root: np.ndarray,
        seed: int,
    ) -> tuple[GrownTree, np.ndarray]:
        """A tree, and for each node without kept children its leaf and itself.

        Parameters
        ----------
        booster : ClusterBooster
        derivatives : Derivatives
            Without those of rows.
        total : int
            Sum of the packed derivatives.
        root : int64 array of shape (n_groups, CELLS)
            Histograms of all rows.
        seed : int
        """
        self._split: list[int] = []
        tally = derivatives.tally
        count = int(tally.sum()) if tally.size else self.table.n_rows
        rules = self._packed_rules(derivatives, 1)
        state = self._state
        growing = kernels.start_tree(state, rules, count, total, seed)
        known: dict[Wanted, np.ndarray] = {(0, SUMS): root}
        while growing:
            given = self._given(booster, known)
            kernels.search_all_given(state, rules, self._workspaces[0], given)
            growing = kernels.plan(state, rules) > 0
            if growing:
                known = self._split_nodes(booster, rules)
        n_nodes = int(state.lists[kernels.NUMBERS, kernels.N_NODES])
        is_end = np.isin(state.nodes[:n_nodes, kernels.STATE], (kernels.CLOSED, kernels.OPEN))
        grown = self._harvest(state.index, derivatives)
        ends = np.column_stack([grown.pieces[:, kernels.P_LEAF], np.flatnonzero(is_end)])
        return grown, ends

    def new_children(self) -> list[tuple[int, int]]:
        """Nodes with children that workers do not know yet, each with its left child."""
        nodes = self._state.nodes
        expanded = (kernels.EXPANDED, kernels.COMMITTED)
        made = [
            (node, int(nodes[node, kernels.LEFT]))
            for node in self._split
            if nodes[node, kernels.STATE] in expanded
        ]
        self._split = []
        return made

    def _split_nodes(
        self, booster: ClusterBooster, rules: kernels.Rules
    ) -> dict[Wanted, np.ndarray]:
        """Split the rows of the chosen nodes; histograms of the children that look the lesser."""
        state, numbers = self._state, self._state.lists[kernels.NUMBERS]
        nodes = state.lists[kernels.BATCH, : numbers[kernels.N_BATCH]].tolist()
        sides = [self._likely_lesser(node, rules) for node in nodes]
        features = state.nodes[nodes, kernels.FEATURE].tolist()
        made = self.new_children()
        parts = booster.ask(Split(made, nodes, features, state.masks[nodes], sides))
        lefts, hists = sum(part[0] for part in parts), sum(part[1] for part in parts)
        self._split = nodes
        blocks = state.blocks[: numbers[kernels.N_BLOCKS]]
        _, first = np.unique(blocks[:, kernels.B_NODE], return_index=True)
        blocks[:, [kernels.B_LEFT_ROWS, kernels.B_LEFT_COUNT]] = 0
        # blocks of a node are added up: all of its rows are told in the first
        for place in first:
            number = nodes.index(blocks[place, kernels.B_NODE])
            blocks[place, [kernels.B_LEFT_ROWS, kernels.B_LEFT_COUNT]] = lefts[:, number]
        kernels.settle(state, rules)
        known, asked = {}, [(node, side) for node, side in zip(nodes, sides) if side >= 0]
        for (node, side), hist in zip(asked, hists):
            if state.nodes[node, kernels.STATE] == kernels.EXPANDED:
                known[int(state.nodes[node, kernels.LEFT]) + side, SUMS] = hist
        return known

    def _likely_lesser(self, node: int, rules: kernels.Rules) -> int:
        """The side that has the lesser sum of second derivatives; -1 where none will be split."""
        fields, numbers = self._state.nodes[node], self._state.lists[kernels.NUMBERS]
        is_last = numbers[kernels.N_LEAVES] + 1 >= rules.max_leaves
        if is_last or fields[kernels.DEPTH] + 1 >= rules.max_depth:
            return -1
        mask = (1 << rules.shift) - 1
        left, total = (int(fields[k]) & mask for k in (kernels.LEFT_TOTAL, kernels.TOTAL))
        return 0 if 2 * left <= total else 1

    def _given(self, booster: ClusterBooster, known: dict[Wanted, np.ndarray]) -> np.ndarray:
        """The histograms that the search takes, in its order."""
        wanted = list(self._wanted())
        nodes, hists = self._state.nodes, self._state.hists
        for node, kind in wanted:
            parent = nodes[node, kernels.PARENT]
            sibling = 2 * int(nodes[parent, kernels.LEFT]) + 1 - node
            if (node, kind) not in known and kind == SUMS and (sibling, SUMS) in known:
                slot = nodes[parent, kernels.SLOT]
                if slot >= 0:
                    known[node, SUMS] = hists[slot] - known[sibling, SUMS]
        missing = [each for each in wanted if each not in known]
        if missing:
            found = sum(booster.ask(Fill(self.new_children(), missing)))
            known.update(zip(missing, found))
        if not wanted:
            return np.empty((0, *hists.shape[1:]), np.int64)
        return np.stack([known[each] for each in wanted])

    def _wanted(self) -> Iterator[Wanted]:
        """What `kernels.search_all_given` takes, in its order."""
        nodes, lists = self._state.nodes, self._state.lists
        for job in range(lists[kernels.NUMBERS, kernels.N_JOBS]):
            node, kind = int(lists[kernels.JOB_NODE, job]), lists[kernels.JOB_KIND, job]
            kept = nodes[node, kernels.SLOT] >= 0
            left = int(nodes[node, kernels.LEFT])
            if kind == kernels.ROOT:
                yield node, SUMS
            elif kind == kernels.RECOUNT:
                if not kept:
                    yield node, SUMS
                yield node, COUNTS
            elif kept:
                rows = [
                    nodes[each, kernels.END] - nodes[each, kernels.START] for each in (left, node)
                ]
                yield (left if 2 * rows[0] <= rows[1] else left + 1), SUMS
            else:
                for child in (left, left + 1):
                    if nodes[child, kernels.STATE] == kernels.OPEN:
                        yield child, SUMS


@dataclass(frozen=True)
class Watch:
    """The losses of rows that watch, after the trees of further rounds.

    Gives the loss of each block of rows; None where the rows are not as far as `n_rounds` says and
    there is no setup to make them so.

    Attributes
    ----------
    fit : str
    n_rounds : int
        Rounds before these.
    trees : list of list of CodedTree
        Those of the further rounds.
    setup : Setup or None
    """

    fit: str
    n_rounds: int
    trees: list[list[CodedTree]]
    setup: Setup | None = None

    def __call__(self, held: Any) -> list[float] | None:
        with held.scratch.setdefault("watching lock", threading.Lock()):
            fit, n_rounds, part = held.scratch.pop("watching", (None, -1, None))
            if self.setup is not None:
                setup = self.setup
                given = (setup.table(held.rows), setup.target(held.y), setup.loss, setup.baseline)
                part = Scored(*given, ALONE, held.size)
            elif fit != self.fit or n_rounds != self.n_rounds:
                return None
            for round_ in self.trees:
                part.add_round(round_)
            held.scratch["watching"] = self.fit, self.n_rounds + len(self.trees), part
            return part.block_losses()


class ClusterWatcher:
    """A `Scored` whose rows are on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
    table, target, loss, baseline
        As in `Scored`.
    """

    def __init__(
        self,
        cluster: Cluster,
        table: PackedTable,
        target: Target,
        loss: Loss,
        baseline: np.ndarray,
    ):
        self.cluster = cluster
        self.total_weight = math.fsum(target.weights)
        self.setup = Setup.of(table, target, loss, baseline)
        self._source = rows_on_workers(table, target)
        self._fit = uuid.uuid4().hex
        self._trees: list[list[CodedTree]] = []
        self._n_added = 0

    def add_round(self, round_: list[CodedTree]) -> None:
        """Add the trees of a round to the scores of all rows."""
        self._trees.append(round_)

    def mean_loss(self) -> float:
        """The mean loss, by weight."""
        found: dict[int, Any] = {}
        if self._n_added:
            watch = Watch(self._fit, self._n_added, self._trees[self._n_added :])
            found = dict(self.cluster.on_parts(watch, self._source) or ())
        lost = [number for number, result in found.items() if result is None]
        if lost or not found:
            watch = Watch(self._fit, 0, self._trees, self.setup)
            found.update(self.cluster.on_parts(watch, self._source, lost or None) or ())
        self._n_added = len(self._trees)
        return sum(loss for number in sorted(found) for loss in found[number]) / self.total_weight


def watcher_on_workers(
    table: PackedTable, target: Target, loss: Loss, baseline: np.ndarray
) -> ClusterWatcher | None:
    """What watches rows that are on the workers of the executor; None where they are here."""
    executor = settings().executor
    if not isinstance(table, HeldTable) or not isinstance(executor, Cluster):
        return None
    return ClusterWatcher(executor, table, target, loss, baseline)


def worth_workers(n_rows: int, n_columns: int, loss: Loss) -> bool:
    """Whether rounds on workers are possible, and cost less than they save."""
    if loss.needs_rows or n_rows <= rounds.ROWS_AT_ONCE:
        return False
    return n_rows * n_columns >= FEWEST_CELLS


def booster_on_workers(
    table: PackedTable,
    target: Target,
    loss: Loss,
    baseline: np.ndarray,
    rules: BoostingRules,
    learning_rate: float,
) -> ClusterBooster | None:
    """A booster on the workers of the executor.

    None without workers, for a small table, and where sums do not suffice: medians of leaves need
    the rows themselves.
    """
    executor = settings().executor
    if not isinstance(executor, Cluster) or not worth_workers(table.n_rows, table.n_columns, loss):
        return None
    return ClusterBooster(executor, table, target, loss, baseline, rules, learning_rate)
