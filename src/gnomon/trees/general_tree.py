"""A fitted tree with any number of branches per node and any kind of question, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Flag, Object
from gnomon.trees.questions import NONE, UNKNOWN, Questions, consecutive


@storable
@dataclass(frozen=True)
class GeneralTree:
    """A tree: node 0 is the root, the children of a node stand side by side, after it.

    A row that a node's question does not answer (its cell is missing) asks the node's surrogates in
    turn; where none answers it goes down every branch with the branch's share of the training
    weight (`fractional`), or down the heaviest.

    Attributes
    ----------
    questions : Questions
        One per node; of kind 0 at a leaf.
    first_child : int32 array (n_nodes,)
        -1 at a leaf.
    n_children : int32 array (n_nodes,)
        0 at a leaf.
    value : float64 array (n_nodes, n_outputs)
        Class shares or means.
    weight : float64 array (n_nodes,)
        Training weight in the node, parts of rows included; 0 where a branch was empty.
    count : float64 array (n_nodes,)
        Training rows in the node, likewise.
    impurity : float64 array (n_nodes,)
    gain : float64 array (n_nodes,)
        Weight x impurity that the split saved; 0 at a leaf.
    share : float64 array (n_nodes,)
        Share of the parent's rows with an answer that came here; 1 at the root.
    fractional : bool
    surrogates : Questions
    first_surrogate : int64 array (n_nodes + 1,)
        The surrogates of node t are first_surrogate[t] .. first_surrogate[t + 1] - 1, best first.
    agreement : float64 array (n_surrogates,)
        Share of the rows with both answers that the surrogate sent like its question.
    """

    questions: Questions
    first_child: np.ndarray
    n_children: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    count: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    share: np.ndarray
    fractional: bool
    surrogates: Questions
    first_surrogate: np.ndarray
    agreement: np.ndarray
    _stored = {
        "agreement": Array("f8", (None,)),
        "count": Array("f8", ("n_count",), low=0.0),
        "first_child": Array("i4", ("n_count",), low=-1, below="n_count"),
        "first_surrogate": Array("i8", (None,), low=0),
        "fractional": Flag(),
        "gain": Array("f8", ("n_count",)),
        "impurity": Array("f8", ("n_count",)),
        "n_children": Array("i4", ("n_count",), low=0),
        "questions": Object(("Questions",)),
        "share": Array("f8", ("n_count",), low=0.0),
        "surrogates": Object(("Questions",)),
        "value": Array("f8", ("n_count", None)),
        "weight": Array("f8", ("n_count",), low=0.0),
    }

    @property
    def n_nodes(self) -> int:
        return len(self.first_child)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.n_children == 0))

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def node_depth(self) -> np.ndarray:
        """Steps from the root to every node."""
        depth = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(self.n_children):
            first = self.first_child[node]
            depth[first : first + self.n_children[node]] = depth[node] + 1
        return depth

    @property
    def max_depth(self) -> int:
        return int(self.node_depth.max())

    def arrivals(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every visit of a row at a node: row, node and the part of the row that came there."""
        places, nodes = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        parts = np.ones(len(rows))
        visits = [(places, nodes, parts)]
        while True:
            going = self.n_children[nodes] > 0
            if not going.any():
                return tuple(np.concatenate(each) for each in zip(*visits))
            places, nodes, parts = self._step(rows, places[going], nodes[going], parts[going])
            visits.append((places, nodes, parts))

    def leaves(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, leaf and part of the row, for each leaf that a row reaches."""
        places, nodes = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        parts = np.ones(len(rows))
        ended = []
        while len(nodes):
            going = self.n_children[nodes] > 0
            ended.append((places[~going], nodes[~going], parts[~going]))
            places, nodes, parts = self._step(rows, places[going], nodes[going], parts[going])
        return tuple(np.concatenate(each) for each in zip(*ended))

    def _step(self, rows, places, nodes, parts):
        """From inner nodes to their children."""
        branches = self.questions.branches(nodes, rows, places)
        self._ask_surrogates(branches, nodes, rows, places)
        unknown = branches == UNKNOWN
        if self.fractional and unknown.any():
            return self._divided(places, nodes, parts, branches, unknown)
        branches[unknown] = self._heaviest(nodes[unknown])
        return places, self.first_child[nodes] + branches, parts

    def _ask_surrogates(self, branches, nodes, rows, places) -> None:
        if not len(self.surrogates):
            return
        turn = 0
        asking = np.flatnonzero(branches == UNKNOWN)
        while len(asking):
            which = self.first_surrogate[nodes[asking]] + turn
            there = which < self.first_surrogate[nodes[asking] + 1]
            asking, which = asking[there], which[there]
            branches[asking] = self.surrogates.branches(which, rows, places[asking])
            asking = asking[branches[asking] == UNKNOWN]
            turn += 1

    def _divided(self, places, nodes, parts, branches, unknown):
        """Rows without an answer go down every branch that training rows took."""
        known = ~unknown
        at = nodes[unknown]
        owner = np.repeat(np.flatnonzero(unknown), self.n_children[at])
        children = consecutive(self.first_child[at], self.n_children[at])
        taken = self.share[children] > 0
        owner, children = owner[taken], children[taken]
        return (
            np.concatenate([places[known], places[owner]]),
            np.concatenate([self.first_child[nodes[known]] + branches[known], children]),
            np.concatenate([parts[known], parts[owner] * self.share[children]]),
        )

    def _heaviest(self, nodes: np.ndarray) -> np.ndarray:
        asked, position = np.unique(nodes, return_inverse=True)
        shares = [self.share[first : first + n] for first, n in self._families(asked)]
        heaviest = np.array([int(np.argmax(each)) for each in shares], np.int64)
        return heaviest[position]

    def _families(self, nodes: np.ndarray) -> list[tuple[int, int]]:
        return list(zip(self.first_child[nodes], self.n_children[nodes]))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Value of each row's leaf, the mean over its leaves if divided: (n_rows, n_outputs)."""
        places, leaves, parts = self.leaves(rows)
        answers = np.zeros((len(rows), self.n_outputs))
        np.add.at(answers, places, parts[:, None] * self.value[leaves])
        return answers

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """The leaf that holds the greatest part of each row (the first of equals)."""
        places, leaves, parts = self.leaves(rows)
        order = np.lexsort((leaves, -parts, places))
        first = np.flatnonzero(np.diff(places[order], prepend=-1))
        return leaves[order[first]]

    def importances(self, n_features: int) -> np.ndarray:
        """Saving of each column's questions per unit of training weight."""
        asked = (self.n_children > 0) & (self.questions.feature >= 0)
        gains = np.maximum(self.gain[asked], 0.0)
        return np.bincount(self.questions.feature[asked], gains, n_features) / self.weight[0]

    def collapsed(self, stop: np.ndarray) -> GeneralTree:
        """The tree in which the nodes marked in `stop` (n_nodes,) are leaves."""
        keep = np.zeros(self.n_nodes, bool)
        keep[0] = True
        inner = (self.n_children > 0) & ~stop
        for node in np.flatnonzero(self.n_children):
            if keep[node] and inner[node]:
                first = self.first_child[node]
                keep[first : first + self.n_children[node]] = True
        kept = np.flatnonzero(keep)
        number = np.cumsum(keep) - 1
        inner = inner[kept]
        n_surrogates = np.where(inner, np.diff(self.first_surrogate)[kept], 0)
        surrogates = consecutive(self.first_surrogate[kept], n_surrogates)
        questions = self.questions.taken(kept)
        questions.kind[~inner] = NONE
        questions.feature[~inner] = -1
        return GeneralTree(
            questions=questions,
            first_child=np.where(inner, number[self.first_child[kept]], -1).astype(np.int32),
            n_children=np.where(inner, self.n_children[kept], 0).astype(np.int32),
            value=self.value[kept],
            weight=self.weight[kept],
            count=self.count[kept],
            impurity=self.impurity[kept],
            gain=np.where(inner, self.gain[kept], 0.0),
            share=self.share[kept],
            fractional=self.fractional,
            surrogates=self.surrogates.taken(surrogates),
            first_surrogate=np.concatenate([[0], np.cumsum(n_surrogates)]),
            agreement=self.agreement[surrogates],
        )

    def _check_loaded(self) -> None:
        """Refuse arrays that do not make a tree: descending would not end."""
        n = self.n_nodes
        one_each = ("n_children", "value", "weight", "count", "impurity", "gain", "share")
        inner = self.n_children > 0
        last = self.first_child.astype(np.int64) + self.n_children
        sound = (
            n > 0
            and all(len(getattr(self, name)) == n for name in one_each)
            and len(self.questions) == n
            and self.value.ndim == 2
            and (self.first_child[inner] > np.flatnonzero(inner)).all()
            and (last[inner] <= n).all()
            and len(self.first_surrogate) == n + 1
            and self.first_surrogate[0] == 0
            and (np.diff(self.first_surrogate) >= 0).all()
            and self.first_surrogate[-1] == len(self.surrogates) == len(self.agreement)
            and self._branches_exist(inner)
        )
        if not sound:
            raise ValueError("the arrays of a tree do not fit together")

    def _branches_exist(self, inner: np.ndarray) -> bool:
        """Whether no question, nor surrogate, sends to a child that is not there."""
        asked = self.questions
        owner = np.repeat(np.arange(self.n_nodes), np.diff(self.first_surrogate))
        return (
            _within(asked, np.flatnonzero(inner), self.n_children[inner])
            and (asked.kind[inner] != NONE).all()
            and _within(self.surrogates, np.arange(len(owner)), self.n_children[owner])
        )


def _within(questions: Questions, which: np.ndarray, n_children: np.ndarray) -> bool:
    for name in ("low", "high", "missing"):
        branches = getattr(questions, name)[which]
        if ((branches < UNKNOWN) | (branches >= n_children)).any():
            return False
    if (questions.n_gaussians[which] > n_children).any():
        return False
    for question, n in zip(which, n_children):
        first = questions.first_level[question]
        levels = questions.level_branch[first : first + questions.n_levels[question]]
        if len(levels) and (levels.min() < UNKNOWN or levels.max() >= n):
            return False
    return True
