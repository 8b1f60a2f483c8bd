"""A grower for every kind of tree: impurity x split finder x rule for missing cells.

Plain NumPy, node by node, without recursion: clear rather than fast (the histogram grower is the
fast one). Rows are distinct and in canonical order, so that neither their order nor repetition in
place of weight changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gnomon.trees.distinct import CountedRows
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.impurity import Impurity
from gnomon.trees.questions import NONE, UNKNOWN, Questions, joined, make_question
from gnomon.trees.splits import ROUNDING, Candidate, Pool
from gnomon.trees.surrogates import Surrogate, surrogates_of

Finder = Callable[[Pool, np.random.Generator], Candidate | None]


@dataclass(frozen=True)
class Limits:
    """When to stop, and what to do with missing cells.

    Attributes
    ----------
    max_depth : int or None
    min_samples_split : float
        Least rows in a node that is split.
    min_impurity_decrease : float
        Least saving per unit of the total weight; 0 never stops.
    missing : {"fractional", "surrogate", "category"}
    max_surrogates : int
    """

    max_depth: int | None = None
    min_samples_split: float = 2
    min_impurity_decrease: float = 0.0
    missing: str = "fractional"
    max_surrogates: int = 5


@dataclass
class Node:
    """One node while the tree grows."""

    value: np.ndarray
    weight: float
    count: float
    impurity: float
    share: float
    question: Questions | None = None
    gain: float = 0.0
    first_child: int = -1
    n_children: int = 0
    surrogates: list[Surrogate] = field(default_factory=list)


@dataclass
class Open:
    """A node whose rows are still to be looked at."""

    number: int
    depth: int
    places: np.ndarray
    weights: np.ndarray
    counts: np.ndarray


class Grower:
    """Grows one tree.

    Parameters
    ----------
    sample : CountedRows
    levels : int array (d,)
        Number of categories of each column; 0 for numbers.
    impurity : Impurity
    finder : callable
        Pool and generator to the Candidate that is taken, or None.
    limits : Limits
    rng : Generator
    """

    def __init__(
        self,
        sample: CountedRows,
        levels: np.ndarray,
        impurity: Impurity,
        finder: Finder,
        limits: Limits,
        rng: np.random.Generator,
    ):
        self.sample = sample
        self.levels = levels
        self.impurity = impurity
        self.finder = finder
        self.limits = limits
        self.rng = rng
        self.total_weight = float(sample.weights.sum())
        self.nodes: list[Node] = []

    def grow(self) -> GeneralTree:
        """The tree."""
        everyone = np.arange(self.sample.n_rows)
        root = Open(0, 0, everyone, self.sample.weights, self.sample.counts)
        self.nodes.append(self._node(root, share=1.0))
        waiting = [root]
        while waiting:
            waiting += self._split(waiting.pop())
        return self._tree()

    def _node(self, at: Open, share: float) -> Node:
        sums = self.impurity.addends(self.sample.y[at.places], at.weights).sum(axis=0)
        weight = float(at.weights.sum())
        return Node(
            value=self.impurity.value(sums),
            weight=weight,
            count=float(at.counts.sum()),
            impurity=float(self.impurity.total(sums)) / weight,
            share=share,
        )

    def _split(self, at: Open) -> list[Open]:
        """Split a node where that is allowed and possible; its children that hold rows."""
        node = self.nodes[at.number]
        y = self.sample.y[at.places]
        if (
            self.impurity.is_pure(y)
            or node.count < self.limits.min_samples_split - ROUNDING
            or at.depth == self.limits.max_depth
        ):
            return []
        pool = Pool(
            self.sample.rows,
            at.places,
            y,
            at.weights,
            at.counts,
            self.levels,
            np.arange(len(self.levels)),
        )
        candidate = self.finder(pool, self.rng)
        if candidate is None or self._saves_too_little(candidate):
            return []
        return self._divide(at, node, pool, candidate)

    def _saves_too_little(self, candidate: Candidate) -> bool:
        least = self.limits.min_impurity_decrease * self.total_weight
        return least > 0 and candidate.saving < least

    def _divide(self, at: Open, node: Node, pool: Pool, candidate: Candidate) -> list[Open]:
        question = candidate.question
        which = np.zeros(len(at.places), np.int64)
        branches = question.branches(which, self.sample.rows, at.places)
        known = branches != UNKNOWN
        n_children = len(candidate.branch_weights)
        by_branch = np.bincount(branches[known], at.weights[known], n_children)
        if np.count_nonzero(by_branch) < 2:
            return []
        node.question, node.gain = question, candidate.saving
        node.first_child, node.n_children = len(self.nodes), n_children
        shares = by_branch / by_branch.sum()
        if self.limits.missing == "surrogate":
            node.surrogates = surrogates_of(
                pool, branches, int(question.feature[0]), n_children, self.limits.max_surrogates
            )
            self._ask_surrogates(branches, node.surrogates, at.places)
        if self.limits.missing != "fractional":
            branches[branches == UNKNOWN] = int(shares.argmax())
        return self._children(at, node, branches, shares)

    def _ask_surrogates(
        self, branches: np.ndarray, surrogates: list[Surrogate], places: np.ndarray
    ) -> None:
        for surrogate in surrogates:
            asking = np.flatnonzero(branches == UNKNOWN)
            which = np.zeros(len(asking), np.int64)
            answers = surrogate.question.branches(which, self.sample.rows, places[asking])
            branches[asking] = answers

    def _children(
        self, at: Open, node: Node, branches: np.ndarray, shares: np.ndarray
    ) -> list[Open]:
        children = []
        for branch, share in enumerate(shares):
            chosen = np.flatnonzero((branches == branch) | ((branches == UNKNOWN) & (share > 0)))
            if not len(chosen):
                self.nodes.append(Node(node.value, 0.0, 0.0, 0.0, 0.0))
                continue
            part = np.where(branches[chosen] == UNKNOWN, share, 1.0)
            child = Open(
                len(self.nodes),
                at.depth + 1,
                at.places[chosen],
                at.weights[chosen] * part,
                at.counts[chosen] * part,
            )
            self.nodes.append(self._node(child, float(share)))
            children.append(child)
        return children

    def _tree(self) -> GeneralTree:
        nodes, width = self.nodes, self.sample.rows.shape[1]
        nothing = make_question(NONE)
        surrogates = [each for node in nodes for each in node.surrogates]
        n_surrogates = [len(node.surrogates) for node in nodes]
        return GeneralTree(
            questions=joined([node.question or nothing for node in nodes], width),
            first_child=np.array([node.first_child for node in nodes], np.int32),
            n_children=np.array([node.n_children for node in nodes], np.int32),
            value=np.array([node.value for node in nodes]),
            weight=np.array([node.weight for node in nodes]),
            count=np.array([node.count for node in nodes]),
            impurity=np.array([node.impurity for node in nodes]),
            gain=np.array([node.gain for node in nodes]),
            share=np.array([node.share for node in nodes]),
            fractional=self.limits.missing == "fractional",
            surrogates=joined([each.question for each in surrogates], width),
            first_surrogate=np.cumsum([0, *n_surrogates]),
            agreement=np.array([each.agreement for each in surrogates]),
        )
