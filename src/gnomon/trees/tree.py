"""A fitted tree as plain arrays, and kernels that predict from one tree or the sum of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.storable import storable

LEAF = -1


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
    left, right : int32 arrays (n_nodes,)
        Children; -1 at a leaf.
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
    right: np.ndarray
    value: np.ndarray
    n_node_samples: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray

    def _check_loaded(self) -> None:
        """Refuse arrays that do not make a tree: the predicting kernels trust them."""
        nodes = np.arange(self.n_nodes)
        inner = self.left != LEAF
        lengths = {getattr(self, field.name).shape[0] for field in fields(self)[:4]}
        lengths |= {each.shape[0] for each in (self.left, self.right, self.value)}
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
        leaves = self.apply(rows)
        depth = self.node_depth
        starts = np.concatenate(([0], np.cumsum(depth[leaves] + 1)))
        nodes = np.empty(starts[-1], np.int32)
        climb(leaves, parents(self.left), starts, nodes)
        return starts, nodes

    def importances(self, n_features: int) -> np.ndarray:
        """Mean decrease in impurity: gain of each column's splits per unit of training weight."""
        inner = self.left != LEAF
        gains = np.bincount(self.feature[inner], self.gain[inner], minlength=n_features)
        return gains / self.weight[0]


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
    leaf_values: np.ndarray
    leaf_nodes: np.ndarray
    first_leaves: np.ndarray
    n_features: int

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        """Pack trees that have the same number of outputs."""
        if not trees:
            raise ValueError("A forest needs at least one tree.")
        roots = np.cumsum([0] + [tree.n_nodes for tree in trees])
        first_leaves = np.cumsum([0] + [tree.n_leaves for tree in trees])
        first_masks = np.cumsum([0] + [len(tree.category_left) for tree in trees])
        words = np.empty((roots[-1], 2), np.int64)
        leaf_values = np.empty((first_leaves[-1], trees[0].n_outputs))
        leaf_nodes = np.empty(first_leaves[-1], np.int32)
        for t, tree in enumerate(trees):
            leaves = np.flatnonzero(tree.left == LEAF)
            leaf_values[first_leaves[t] : first_leaves[t + 1]] = tree.value[leaves]
            leaf_nodes[first_leaves[t] : first_leaves[t + 1]] = leaves
            words[roots[t] : roots[t + 1]] = _pack(tree, roots[t], first_leaves[t], first_masks[t])
        n_features = 1 + max(int(tree.feature.max(initial=0)) for tree in trees)
        masks = _equally_wide(trees)
        return cls(words, masks, roots[:-1], leaf_values, leaf_nodes, first_leaves, n_features)

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
        add_trees(
            rows,
            self.words.view(np.float64),
            self.words,
            self.masks,
            self.roots,
            self.leaf_values,
            out,
        )
        return out

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Leaf of each row in each tree: node numbers within the tree (n_rows, n_trees)."""
        rows = self._checked(rows)
        leaves = np.empty((rows.shape[0], self.n_trees), np.int32)
        find_leaves(rows, self.words.view(np.float64), self.words, self.masks, self.roots, leaves)
        return self.leaf_nodes[leaves]

    def _checked(self, rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, np.float64)
        if rows.ndim != 2 or rows.shape[1] < self.n_features:
            raise ValueError(
                f"The rows have shape {rows.shape}; the trees ask about "
                f"column {self.n_features - 1}."
            )
        return rows


# A node's word: bits 0..29 column, 30 missing goes left, 31 category node, 32.. left child or -1 -
# leaf.
MISSING_LEFT_BIT = 30
CATEGORY_BIT = 31
TARGET_SHIFT = 32
COLUMN_MASK = (1 << MISSING_LEFT_BIT) - 1


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


def _pack(tree: Tree, first_node: int, first_leaf: int, first_mask: int) -> np.ndarray:
    words = np.empty((tree.n_nodes, 2), np.int64)
    inner = tree.left != LEAF
    is_category = tree.category != -1
    thresholds = np.where(is_category, tree.category + float(first_mask), tree.threshold)
    words[:, 0] = thresholds.view(np.int64)
    target = np.where(inner, tree.left + first_node, 0)
    target[~inner] = -1 - (first_leaf + np.arange(np.count_nonzero(~inner)))
    words[:, 1] = (
        (target.astype(np.int64) << TARGET_SHIFT)
        | (is_category.astype(np.int64) << CATEGORY_BIT)
        | (tree.missing_left.astype(np.int64) << MISSING_LEFT_BIT)
        | np.where(inner, tree.feature, 0)
    )
    return words


@subkernel
def has_level(masks, which, level):
    word = masks[which, level >> 6]
    return np.int64((word >> np.uint64(level & 63)) & np.uint64(1)) != 0


@subkernel
def goes_left(value, threshold, word, masks):
    """Whether a value goes left at an inner node."""
    if word >> CATEGORY_BIT & 1:
        if value >= 0.0 and value < 64.0 * masks.shape[1]:
            return has_level(masks, np.int64(threshold), np.int64(value))
        return (word >> MISSING_LEFT_BIT & 1) != 0
    if np.isnan(value):
        return (word >> MISSING_LEFT_BIT & 1) != 0
    return value <= threshold


@subkernel
def leaf_of(rows, i, thresholds, words, masks, root):
    """The leaf (its number among all leaves) that row i reaches from a root."""
    node = root
    word = words[node, 1]
    while word >= 0:
        left = goes_left(rows[i, word & COLUMN_MASK], thresholds[node, 0], word, masks)
        node = (word >> TARGET_SHIFT) + (0 if left else 1)
        word = words[node, 1]
    return -1 - (word >> TARGET_SHIFT)


@kernel("f8[:,:]", "f8[:,:]", "i8[:,:]", "u8[:,:]", "i8[:]", "f8[:,:]", "out f8[:,:]")
def add_trees(rows, thresholds, words, masks, roots, leaf_values, out):
    """out (n, k) += value of every row's leaf in every tree. rows (n, d); the rest: Forest."""
    block = 512
    for first in range(0, rows.shape[0], block):
        last = min(first + block, rows.shape[0])
        for t in range(roots.size):
            for i in range(first, last):
                leaf = leaf_of(rows, i, thresholds, words, masks, roots[t])
                for k in range(out.shape[1]):
                    out[i, k] += leaf_values[leaf, k]


@kernel("f8[:,:]", "f8[:,:]", "i8[:,:]", "u8[:,:]", "i8[:]", "out i4[:,:]")
def find_leaves(rows, thresholds, words, masks, roots, leaves):
    """Leaf of every row in every tree, numbered through all trees, into leaves (n, n_trees)."""
    for t in range(roots.size):
        for i in range(rows.shape[0]):
            leaves[i, t] = leaf_of(rows, i, thresholds, words, masks, roots[t])


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
