"""A fitted tree as plain arrays, and kernels that predict from one tree or the sum of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Optional

LEAF = -1  # no child


@storable
@dataclass(frozen=True)
class Tree:
    """A binary tree: node 0 is the root, children stand side by side (right = left + 1).

    A row goes left when ``x[feature] <= threshold``, or, at a category node, when bit
    ``x[feature]`` of ``category_left[category]`` is set; a missing value, or a level that the node
    never saw, goes left where ``missing_left`` says so.

    Attributes
    ----------
    feature : int32 array (n_nodes,)
        Column that the node asks about; -1 at a leaf.
    threshold : float64 array (n_nodes,)
        In the column's units; NaN at a leaf and at a category node; +inf parts missing from all
        values.
    missing_left : uint8 array (n_nodes,)
    category : int32 array (n_nodes,)
        Row of `category_left`; -1 where the node is no category node.
    category_left : uint64 array (n_category_nodes, n_words)
        One bit per level, 256 or more: the levels that go left.
    left : int32 array (n_nodes,)
        Left child, after which the right one stands; -1 at a leaf.
    value : float64 array (n_nodes, n_outputs)
        Class shares, means, or the Newton step -G / (H + l2).
    n_node_samples : int32 array (n_nodes,)
        Training rows in the node (a row that is drawn twice counts once).
    weight : float64 array (n_nodes,)
        Their total weight (times drawn x sample weight; the sum of second derivatives for Newton).
    impurity : float64 array (n_nodes,)
        Gini, entropy in bits, misclassification share, variance, or -G^2 / (2 (H + l2)).
    gain : float64 array (n_nodes,)
        What the split saves: weight x impurity of the node minus that of its children (for Newton
        the impurities themselves); 0 at a leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    category: np.ndarray
    category_left: np.ndarray
    left: np.ndarray
    value: np.ndarray
    n_node_samples: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    _stored = {
        "category": Array("i4", ("n_category",), low=-1),
        "category_left": Array("u8", (None, None)),
        "feature": Array("i4", ("n_category",), low=-1),
        "gain": Array("f8", ("n_category",)),
        "impurity": Array("f8", ("n_category",)),
        "left": Array("i4", ("n_category",), low=-1),
        "missing_left": Array("u1", ("n_category",)),
        "n_node_samples": Array("i4", ("n_category",), low=0),
        "right": Optional(Array("i4", ("n_category",), low=-1)),
        "threshold": Array("f8", ("n_category",), finite=False),
        "value": Array("f8", ("n_category", None)),
        "weight": Array("f8", ("n_category",), low=0.0),
    }

    def _check_loaded(self) -> None:
        """Refuse arrays that do not make a tree: the predicting kernels trust them."""
        nodes = np.arange(self.n_nodes)
        inner = self.left != LEAF
        lengths = {getattr(self, field.name).shape[0] for field in fields(self)[:4]}
        lengths |= {each.shape[0] for each in (self.left, self.value)}
        sound = (
            lengths == {self.n_nodes}
            and self.n_nodes > 0
            and (self.left[inner] > nodes[inner]).all()
            and (self.left[inner] < self.n_nodes - 1).all()
            and (self.feature[inner] >= 0).all()
            and (self.category >= -1).all()
            and (self.category < len(self.category_left)).all()
            and self.category_left.ndim == 2
            and self.value.ndim == 2
        )
        if not sound:
            raise ValueError("the arrays of a tree do not fit together")

    @property
    def n_nodes(self) -> int:
        return self.feature.size

    @property
    def right_child(self) -> np.ndarray:
        """Right child of each node; -1 at a leaf."""
        return np.where(self.left == LEAF, LEAF, self.left + 1).astype(np.int32)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.left == LEAF))

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def node_depth(self) -> np.ndarray:
        """Steps from the root to every node (children always stand after their parent)."""
        return depths(self.left)

    @property
    def max_depth(self) -> int:
        return int(self.node_depth.max())

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by its name, as a model file keeps them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Leaf of each row: node numbers (n_rows,). See `Forest` for the form of the rows."""
        return Forest.of([self]).apply(rows)[:, 0]

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Value of each row's leaf (n_rows, n_outputs)."""
        return self.value[self.apply(rows)]

    def decision_path(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes that each row passes: nodes[starts[i] : starts[i + 1]], the root first.

        Returns
        -------
        starts : int64 array (n_rows + 1,)
        nodes : int32 array
        """
        return self.paths_to(self.apply(rows))

    def paths_to(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes on the way to each leaf of a list, as in `decision_path`."""
        depth = self.node_depth
        starts = np.concatenate(([0], np.cumsum(depth[leaves] + 1)))
        nodes = np.empty(starts[-1], np.int32)
        climb(np.ascontiguousarray(leaves), parents(self.left), starts, nodes)
        return starts, nodes

    def importances(self, n_features: int) -> np.ndarray:
        """Mean decrease in impurity: gain of each column's splits per unit of training weight."""
        inner = self.left != LEAF
        gains = np.bincount(self.feature[inner], self.gain[inner], minlength=n_features)
        return gains / self.weight[0]


def one_split(
    feature: int,
    threshold: float,
    missing_left: bool,
    levels: np.ndarray | None,
    value: np.ndarray,
) -> Tree:
    """A tree of one split, or of one leaf.

    Parameters
    ----------
    feature : int
    threshold : float
    missing_left : bool
    levels : uint8 array of 256, optional
        1 for the levels that go left, where the column holds categories.
    value : ndarray of shape (3, n_outputs) or (1, n_outputs)
        Value of the root, the left and the right leaf.
    """
    n = len(value)
    is_split = n == 3
    masks = np.empty((0, 4), np.uint64)
    if is_split and levels is not None:
        masks = np.packbits(levels.astype(np.uint8), bitorder="little").view(np.uint64)[None]
    inner = np.arange(n) == (0 if is_split else -1)
    by_number = inner & (levels is None)
    return Tree(
        feature=np.where(inner, feature, -1).astype(np.int32),
        threshold=np.where(by_number, threshold, np.nan),
        missing_left=(inner & missing_left).astype(np.uint8),
        category=np.where(inner & (levels is not None), 0, -1).astype(np.int32),
        category_left=masks,
        left=np.where(inner, 1, LEAF).astype(np.int32),
        value=np.ascontiguousarray(value, np.float64),
        n_node_samples=np.ones(n, np.int32),
        weight=np.ones(n),
        impurity=np.zeros(n),
        gain=inner.astype(np.float64),
    )


@dataclass(frozen=True)
class Forest:
    """Many trees packed for fast prediction; make it with `Forest.of`.

    A node is sixteen bytes, one threshold and one word that holds the left child, the column and
    the flags, so that a step touches one cache line; leaves keep their values apart. Several rows
    descend side by side, so that the processor waits for their memory at the same time.

    Rows are float64 in C order, NaN for missing; a category column holds its level codes.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees.binning import Binner
    >>> from gnomon.trees.grower import GrowthRules, class_statistics, grow_tree
    >>> rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> binned = Binner().fit(rows).transform(rows)
    >>> tree = grow_tree(binned, class_statistics(np.array([0, 0, 1, 1]), 2), GrowthRules("gini"))
    >>> Forest.of([tree]).sum(np.array([[0.4], [1.6]]))
    array([[1., 0.],
           [0., 1.]])
    """

    words: np.ndarray
    masks: np.ndarray
    roots: np.ndarray
    plain: np.ndarray
    leaf_of_node: np.ndarray
    leaf_values: np.ndarray
    leaf_nodes: np.ndarray
    n_features: int

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        """Pack trees that have the same number of outputs."""
        if not trees:
            raise ValueError("A forest needs at least one tree.")
        first_nodes = np.cumsum([0] + [tree.n_nodes for tree in trees])
        first_masks = np.cumsum([0] + [len(tree.category_left) for tree in trees])
        if first_nodes[-1] >= 2**32:
            raise ValueError(f"{first_nodes[-1]} nodes; a packed forest holds at most 2^32 - 1.")
        words = np.empty((first_nodes[-1], 2), np.uint64)
        for t, tree in enumerate(trees):
            part = words[first_nodes[t] : first_nodes[t + 1]]
            _pack(tree, int(first_nodes[t]), int(first_masks[t]), part)
        is_leaf = np.concatenate([tree.left == LEAF for tree in trees])
        return cls(
            words=words,
            masks=_equally_wide(trees),
            roots=first_nodes[:-1],
            plain=np.array([len(tree.category_left) == 0 for tree in trees], np.uint8),
            leaf_of_node=np.cumsum(is_leaf, dtype=np.int32) - np.int32(1),
            leaf_values=np.concatenate([tree.value[tree.left == LEAF] for tree in trees]),
            leaf_nodes=np.concatenate([np.flatnonzero(tree.left == LEAF) for tree in trees]).astype(
                np.int32
            ),
            n_features=1 + max(int(tree.feature.max(initial=0)) for tree in trees),
        )

    @property
    def n_trees(self) -> int:
        return self.roots.size

    @property
    def n_outputs(self) -> int:
        return self.leaf_values.shape[1]

    def sum(self, rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Sum of all trees' values, added to out (n_rows, n_outputs); threads may take chunks."""
        rows = self._checked(rows)
        if out is None:
            out = np.zeros((rows.shape[0], self.n_outputs))
        add_trees(*self._question(rows), self.leaf_values, out)
        return out

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Leaf of each row in each tree: node numbers within the tree (n_rows, n_trees)."""
        rows = self._checked(rows)
        leaves = np.empty((rows.shape[0], self.n_trees), np.int32)
        find_leaves(*self._question(rows), leaves)
        return self.leaf_nodes[leaves]

    def _question(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        thresholds = self.words.view(np.float64)
        return rows, thresholds, self.words, self.masks, self.roots, self.plain, self.leaf_of_node

    def _checked(self, rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, np.float64)
        if rows.ndim != 2 or rows.shape[1] < self.n_features:
            raise ValueError(
                f"The rows have shape {rows.shape}; the trees ask about "
                f"column {self.n_features - 1}."
            )
        return rows


class PackedLater:
    """Trees that are packed when they first predict: many never do, and it takes memory.

    Parameters
    ----------
    trees : list of Tree
    """

    def __init__(self, trees: list[Tree]):
        self._trees = trees
        self._forest: Forest | None = None

    @property
    def forest(self) -> Forest:
        """The packed trees."""
        if self._forest is None:
            self._forest = Forest.of(self._trees)
        return self._forest

    def __getstate__(self) -> dict:
        return {"_trees": self._trees, "_forest": None}


# The second word of a node: bits 0 to 29 its column, 30 set where missing values go right, 31 at a
# category node, 32 to 63 its left child. A leaf is its own left child, to which everything goes.
MISSING_RIGHT_BIT = np.uint64(30)
CATEGORY_BIT = np.uint64(31)
TARGET_SHIFT = np.uint64(32)
COLUMN_MASK = np.uint64(2**30 - 1)
ZERO, ONE = np.uint64(0), np.uint64(1)
# So many rows descend side by side.
TOGETHER = 16
# A block of rows with about so many cells passes through all trees while it stays in the cache.
CELLS_IN_BLOCK = 2**18


def _equally_wide(trees: Sequence[Tree]) -> np.ndarray:
    """Level masks of all trees; a level beyond a narrower mask goes where missing values go."""
    width = max(tree.category_left.shape[1] for tree in trees)
    masks = []
    for tree in trees:
        asks_levels = np.flatnonzero(tree.category != -1)
        beyond = np.zeros(len(tree.category_left), np.uint64)
        beyond[tree.category[asks_levels]] = -tree.missing_left[asks_levels].astype(np.int64)
        n_more = width - tree.category_left.shape[1]
        masks.append(np.column_stack([tree.category_left] + [beyond] * n_more))
    return np.concatenate(masks)


def _pack(tree: Tree, first_node: int, first_mask: int, words: np.ndarray) -> None:
    """Write threshold (or mask number) and word of every node."""
    is_leaf = tree.left == LEAF
    is_category = tree.category != -1
    thresholds = np.where(is_category, tree.category + float(first_mask), tree.threshold)
    words[:, 0] = np.where(is_leaf, np.inf, thresholds).view(np.uint64)
    target = np.where(is_leaf, np.arange(tree.n_nodes), tree.left).astype(np.uint64)
    missing_right = ~is_leaf & (tree.missing_left == 0)
    words[:, 1] = (
        (target + np.uint64(first_node)) << TARGET_SHIFT
        | is_category.astype(np.uint64) << CATEGORY_BIT
        | missing_right.astype(np.uint64) << MISSING_RIGHT_BIT
        | np.where(is_leaf, 0, tree.feature).astype(np.uint64)
    )


@lean_subkernel
def descend_together(rows, first, thresholds, words, root, at):
    """Leaf nodes of the rows first .. first + TOGETHER - 1 into at, in a tree without categories.

    Without branches: one step of every row in turn, until none moves.
    """
    for r in range(TOGETHER):
        at[r] = root
    moved = ONE
    while moved != ZERO:
        moved = ZERO
        for r in range(TOGETHER):
            node = at[r]
            word = words[node, 1]
            value = rows[first + np.uint64(r), word & COLUMN_MASK]
            above = ONE if value > thresholds[node, 0] else ZERO
            missing = ONE if np.isnan(value) else ZERO
            onward = (word >> TARGET_SHIFT) + (above | (missing & (word >> MISSING_RIGHT_BIT)))
            moved |= onward ^ node
            at[r] = onward


@lean_subkernel
def descend_alone(rows, i, thresholds, words, masks, root):
    """Leaf node of row i, in any tree."""
    n_levels = 64.0 * masks.shape[1]
    node = root
    while True:
        word = words[node, 1]
        left = word >> TARGET_SHIFT
        if left == node:
            return node
        value = rows[i, word & COLUMN_MASK]
        right = (word >> MISSING_RIGHT_BIT) & ONE
        if (word >> CATEGORY_BIT) & ONE:
            if value >= 0.0 and value < n_levels:
                level = np.uint64(value)
                mask = masks[np.uint64(thresholds[node, 0]), level >> np.uint64(6)]
                right = ONE ^ ((mask >> (level & np.uint64(63))) & ONE)
        elif not np.isnan(value):
            right = ONE if value > thresholds[node, 0] else ZERO
        node = left + right


@lean_subkernel
def descend(rows, first, n, thresholds, words, masks, root, plain, at):
    """Leaf nodes of the rows first .. first + n - 1 into at."""
    if plain and n == TOGETHER:
        descend_together(rows, np.uint64(first), thresholds, words, np.uint64(root), at)
        return
    for r in range(n):
        at[r] = descend_alone(rows, first + r, thresholds, words, masks, np.uint64(root))


@kernel(
    "f8[:,:]",
    "f8[:,:]",
    "u8[:,:]",
    "u8[:,:]",
    "i8[:]",
    "u1[:]",
    "i4[:]",
    "f8[:,:]",
    "out f8[:,:]",
)
def add_trees(rows, thresholds, words, masks, roots, plain, leaf_of_node, leaf_values, out):
    """out (n, k) += value of every row's leaf in every tree. rows (n, d); the rest: Forest."""
    n = rows.shape[0]
    at = np.empty(TOGETHER, np.uint64)
    block = max(TOGETHER, CELLS_IN_BLOCK // max(rows.shape[1], 1))
    for start in range(0, n, block):
        end = min(start + block, n)
        for t in range(roots.size):
            for first in range(start, end, TOGETHER):
                m = min(TOGETHER, end - first)
                descend(rows, first, m, thresholds, words, masks, roots[t], plain[t], at)
                for r in range(m):
                    leaf = leaf_of_node[at[r]]
                    for k in range(out.shape[1]):
                        out[first + r, k] += leaf_values[leaf, k]


@kernel("f8[:,:]", "f8[:,:]", "u8[:,:]", "u8[:,:]", "i8[:]", "u1[:]", "i4[:]", "out i4[:,:]")
def find_leaves(rows, thresholds, words, masks, roots, plain, leaf_of_node, leaves):
    """Leaf of every row in every tree, numbered through all trees, into leaves (n, n_trees)."""
    n = rows.shape[0]
    at = np.empty(TOGETHER, np.uint64)
    for t in range(roots.size):
        for first in range(0, n, TOGETHER):
            m = min(TOGETHER, n - first)
            descend(rows, first, m, thresholds, words, masks, roots[t], plain[t], at)
            for r in range(m):
                leaves[first + r, t] = leaf_of_node[at[r]]


def parents(left: np.ndarray) -> np.ndarray:
    """Parent of every node; -1 for the root."""
    above = np.full(left.size, -1, np.int32)
    inner = np.flatnonzero(left != LEAF)
    above[left[inner]] = inner
    above[left[inner] + 1] = inner
    return above


@kernel("i4[:]")
def depths(left):
    """Depth of every node from its left children (n_nodes,)."""
    depth = np.zeros(left.size, np.int64)
    for node in range(left.size):
        if left[node] >= 0:
            depth[left[node]] = depth[node] + 1
            depth[left[node] + 1] = depth[node] + 1
    return depth


@kernel("i4[:]", "i4[:]", "i8[:]", "out i4[:]")
def climb(leaves, above, starts, nodes):
    """Nodes from the root to each leaf, from behind into nodes[starts[i] : starts[i + 1]]."""
    for i in range(leaves.size):
        node = leaves[i]
        for place in range(starts[i + 1] - 1, starts[i] - 1, -1):
            nodes[place] = node
            node = above[node]
