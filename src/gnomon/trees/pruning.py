"""Pruning: grow a large tree, then cut it back to what the data support.

Cost-complexity pruning minimises  C_a(T) = sum over leaves of W_m Q_m + a |T|  (Q the impurity or
error of a leaf, |T| the number of leaves). The node whose collapse raises the first term least per
leaf that it removes is the weakest link; collapsing weakest links one after the other gives a
nested sequence of trees that holds the minimiser for every a. Reduced-error pruning instead
collapses, from the leaves up, every node that does no better than a leaf on held-out rows.

Texts: 001 11.2 (cost-complexity, on sums) · 003 2.3.3 (reduced error).
"""

from __future__ import annotations

import copy
import heapq
from dataclasses import dataclass, field, replace

import numpy as np

from gnomon.contract import intake
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.learner import dense
from gnomon.trees.tree import LEAF, Tree, parents

RISKS = ("impurity", "misclassification")
NEAR = 1e-9  # prices that differ by less are one: the rest is rounding


@storable
@dataclass
class PruningPath:
    """The nested trees of cost-complexity pruning, from the largest to the root alone.

    Attributes
    ----------
    alphas : ndarray of shape (n_trees,)
        From which price of a leaf on each tree is the best, increasing; the first is 0.
    n_leaves : ndarray of shape (n_trees,)
    risks : ndarray of shape (n_trees,)
        The leaves' risk on the training rows: a sum over rows, or a mean, as the alphas are.
    collapse : ndarray of shape (n_nodes,)
        Price from which on each node of the grown tree is a leaf or gone.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    risks: np.ndarray
    collapse: np.ndarray = field(repr=False)
    _stored = {
        "alphas": Array("f8", ("n_alphas",)),
        "collapse": Array("f8", (None,)),
        "n_leaves": Array("i8", ("n_alphas",), low=0),
        "risks": Array("f8", ("n_alphas",)),
    }

    def __len__(self) -> int:
        return len(self.alphas)

    def __str__(self) -> str:
        lines = [f"{'alpha':>12} {'leaves':>8} {'risk':>12}"]
        rows = zip(self.alphas, self.n_leaves, self.risks)
        lines += [f"{alpha:12.6g} {leaves:8d} {risk:12.6g}" for alpha, leaves, risk in rows]
        return "\n".join(lines)


def cost_complexity_path(estimator, *, risk: str = "impurity", scale: str = "mean") -> PruningPath:
    """The whole pruning sequence of a fitted tree.

    Parameters
    ----------
    estimator : DecisionTree, FlexibleTree, ObliqueTree ... or their ``tree_``
    risk : {"impurity", "misclassification"}, default="impurity"
        The impurity that the tree was grown with, or the error rate (for classes).
    scale : {"mean", "sum"}, default="mean"
        Risks and prices per unit of the total weight (as the parameter ``ccp_alpha``), or summed
        over the rows (as in 001 11.2).

    Returns
    -------
    path : PruningPath

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor, cost_complexity_path
    >>> rows = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> model = DecisionTreeRegressor(max_leaf_nodes=3).fit(rows, [1, 1, 1, 1, 5, 5, 5, 9])
    >>> print(cost_complexity_path(model, scale="sum"))
           alpha   leaves         risk
               0        3            0
              12        2           12
              50        1           62
    """
    if scale not in ("mean", "sum"):
        raise ValueError(f'scale is "mean" or "sum", not {scale!r}')
    tree = grown_tree(estimator)
    family = Family.of(tree)
    unit = float(tree.weight[0]) if scale == "mean" else 1.0
    return weakest_links(family, node_risks(tree, risk) / unit)


def prune(estimator, alpha: float, *, risk: str = "impurity", scale: str = "mean"):
    """A fitted tree, pruned to the smallest one that is best when a leaf costs `alpha`.

    Parameters
    ----------
    estimator : fitted DecisionTree, FlexibleTree, ObliqueTree ...
        Stays as it is.
    alpha : float
        Price of a leaf.
    risk : {"impurity", "misclassification"}, default="impurity"
    scale : {"mean", "sum"}, default="mean"
        See `cost_complexity_path`.

    Returns
    -------
    estimator : of the same class
        A copy with the pruned tree.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor, prune
    >>> rows, y = [[1], [2], [3], [4], [5], [6], [7], [8]], [1, 1, 1, 1, 5, 5, 5, 9]
    >>> prune(DecisionTreeRegressor().fit(rows, y), alpha=12, scale="sum").get_n_leaves()
    2
    """
    path = cost_complexity_path(estimator, risk=risk, scale=scale)
    return with_tree(estimator, collapsed(grown_tree(estimator), path.collapse <= alpha))


def pruned_tree(tree: Tree | GeneralTree, alpha: float):
    """A grown tree pruned at a price of a leaf, by its own impurity, per unit of weight."""
    return collapsed(tree, cost_complexity_path(tree).collapse <= alpha)


def reduced_error_prune(estimator, X, y, sample_weight=None, *, ties: str = "prune"):
    """A fitted tree, pruned by its errors on rows that it was not grown on.

    From the leaves up, a node becomes a leaf where that makes no more errors on the given rows than
    what stands below it (classes: weight of wrong answers; numbers: squared error). The accuracy on
    these rows never falls. 003 2.3.3 leaves ties open.

    Parameters
    ----------
    estimator : fitted DecisionTree, FlexibleTree, ObliqueTree ...
        Stays as it is.
    X : array-like, data frame or Table
        Held-out rows.
    y : array-like or str
        Their target; the name of a column of X when X is a table.
    sample_weight : array-like, default=None
    ties : {"prune", "keep"}, default="prune"
        What to do with a node that makes as many errors as a leaf would.

    Returns
    -------
    estimator : of the same class
        A copy with the pruned tree.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier, reduced_error_prune
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "a"])
    >>> reduced_error_prune(model, [[1.1], [2.9], [4.2]], ["a", "a", "a"]).get_n_leaves()
    1
    """
    if ties not in ("prune", "keep"):
        raise ValueError(f'ties is "prune" or "keep", not {ties!r}')
    held = held_out(estimator, X, y, sample_weight)
    tree = grown_tree(estimator)
    errors = held_out_errors(tree, held, classes=hasattr(estimator, "classes_"))
    return with_tree(estimator, collapsed(tree, not_better(tree, errors, ties)))


@dataclass
class HeldOut:
    """Rows that a tree was not grown on, as the tree takes them."""

    rows: np.ndarray
    y: np.ndarray
    weights: np.ndarray


def held_out(model, X, y, sample_weight) -> HeldOut:
    """Held-out rows by the codes of a fitted model; classes it does not know stay wrong."""
    if isinstance(y, str):
        y = intake.named_target(model, intake.as_table(X), y)
    rows = np.concatenate([dense(block) for block in intake.blocks_of(model, X)])
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    y = np.asarray(y)
    if len(y) != len(rows):
        raise ValueError(f"X has {len(rows)} rows and y {len(y)}")
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
    if hasattr(model, "classes_"):
        place = np.searchsorted(model.classes_, y).clip(max=len(model.classes_) - 1)
        y = np.where(model.classes_[place] == y, place, -1)
    return HeldOut(rows, y, weights)


def held_out_errors(tree, held: HeldOut, classes: bool) -> np.ndarray:
    """What each node would err on the held-out rows that come by, were it a leaf."""
    places, nodes, parts = arrivals(tree, held.rows)
    weights = parts * held.weights[places]
    if classes:
        losses = (tree.value[nodes].argmax(axis=1) != held.y[places]).astype(np.float64)
    else:
        y = held.y.reshape(len(held.y), -1)
        losses = ((tree.value[nodes] - y[places]) ** 2).sum(axis=1)
    return np.bincount(nodes, weights * losses, minlength=tree.n_nodes)


def not_better(tree, errors: np.ndarray, ties: str) -> np.ndarray:
    """Inner nodes that a leaf replaces, deciding from the leaves up."""
    family = Family.of(tree)
    below = errors.copy()
    stop = np.zeros(len(errors), bool)
    tolerance = 1e-12 * errors[0]
    for node in family.inner[::-1]:
        subtree = below[family.children(node)].sum()
        gap = errors[node] - subtree
        stop[node] = gap <= tolerance if ties == "prune" else gap < -tolerance
        below[node] = errors[node] if stop[node] else subtree
    return stop


def arrivals(tree, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every visit of a row at a node: row, node, and the part of the row that comes there."""
    if isinstance(tree, GeneralTree):
        return tree.arrivals(rows)
    starts, nodes = tree.decision_path(rows)
    places = np.repeat(np.arange(len(rows)), np.diff(starts))
    return places, nodes.astype(np.int64), np.ones(len(nodes))


@dataclass
class Family:
    """Which node is below which: the same view of a binary `Tree` and a `GeneralTree`."""

    first_child: np.ndarray
    n_children: np.ndarray
    parent: np.ndarray

    @classmethod
    def of(cls, tree: Tree | GeneralTree) -> Family:
        if isinstance(tree, GeneralTree):
            parent = np.full(tree.n_nodes, -1, np.int64)
            for node in np.flatnonzero(tree.n_children):
                first = tree.first_child[node]
                parent[first : first + tree.n_children[node]] = node
            return cls(tree.first_child, tree.n_children, parent)
        n_children = np.where(tree.left == LEAF, 0, 2)
        return cls(tree.left, n_children, parents(tree.left).astype(np.int64))

    @property
    def inner(self) -> np.ndarray:
        return np.flatnonzero(self.n_children)

    def children(self, node: int) -> slice:
        return slice(self.first_child[node], self.first_child[node] + self.n_children[node])


def node_risks(tree, risk: str) -> np.ndarray:
    """Weight x impurity (or share of errors) of every node, were it a leaf."""
    if risk == "impurity":
        return tree.weight * tree.impurity
    if risk != "misclassification":
        raise ValueError(f"risk is one of {', '.join(RISKS)}, not {risk!r}")
    shares = tree.value
    if np.abs(shares.sum(axis=1) - 1).max() > 1e-6 or (shares < 0).any():
        raise ValueError('risk="misclassification" needs a classification tree; use "impurity"')
    return tree.weight * (1 - shares.max(axis=1))


def weakest_links(family: Family, risks: np.ndarray) -> PruningPath:
    """Collapse weakest links until the root alone is left.

    A heap of the inner nodes by their links; a collapse changes those above it only, which are
    entered anew (entries that are out of date are passed over).
    """
    links = _Links(family, risks)
    collapse = np.zeros(len(risks))
    collapse[family.inner] = np.inf
    steps = [(0.0, int(links.leaves[0]), float(links.risk[0]))]
    alpha = 0.0
    while links.heap:
        strength, node = heapq.heappop(links.heap)
        if not links.is_current(node, strength):
            continue
        if strength > alpha * (1 + NEAR):
            alpha = strength
        for gone in links.collapse(node):
            collapse[gone] = alpha
        step = (alpha, int(links.leaves[0]), float(links.risk[0]))
        if alpha == steps[-1][0]:
            steps[-1] = step
        else:
            steps.append(step)
    alphas, n_leaves, risk_sums = (np.array(each) for each in zip(*steps))
    return PruningPath(alphas, n_leaves, risk_sums, collapse)


class _Links:
    """The state of weakest-link pruning: leaves and risk below every node, links in a heap."""

    def __init__(self, family: Family, risks: np.ndarray):
        self.first = family.first_child.tolist()
        self.n_children = family.n_children.tolist()
        self.parent = family.parent.tolist()
        self.own = risks.tolist()
        self.risk = risks.tolist()
        self.leaves = [1] * len(risks)
        self.tolerance = 1e-12 * float(np.abs(risks).max(initial=0.0))
        self.is_inner = [n > 0 for n in self.n_children]
        inner = family.inner.tolist()
        for node in reversed(inner):
            self.risk[node] = sum(self.risk[child] for child in self.children(node))
            self.leaves[node] = sum(self.leaves[child] for child in self.children(node))
        self.heap = [(self.strength(node), node) for node in inner]
        heapq.heapify(self.heap)

    def children(self, node: int) -> range:
        return range(self.first[node], self.first[node] + self.n_children[node])

    def strength(self, node: int) -> float:
        """What a leaf must cost for the node to be better alone."""
        saved = self.own[node] - self.risk[node]
        return saved / (self.leaves[node] - 1) if saved > self.tolerance else 0.0

    def is_current(self, node: int, strength: float) -> bool:
        return self.is_inner[node] and strength == self.strength(node)

    def collapse(self, node: int) -> list[int]:
        """Make a node a leaf; the inner nodes that are so no longer."""
        gone, waiting = [], [node]
        while waiting:
            at = waiting.pop()
            if self.is_inner[at]:
                self.is_inner[at] = False
                gone.append(at)
                waiting += self.children(at)
        rise, fewer = self.own[node] - self.risk[node], self.leaves[node] - 1
        above = node
        while above >= 0:
            self.risk[above] += rise
            self.leaves[above] -= fewer
            if self.is_inner[above]:
                heapq.heappush(self.heap, (self.strength(above), above))
            above = self.parent[above]
        return gone


def collapsed(tree, stop: np.ndarray):
    """The tree in which the marked nodes are leaves."""
    if isinstance(tree, GeneralTree):
        return tree.collapsed(stop & (tree.n_children > 0))
    inner = (tree.left != LEAF) & ~stop
    keep = np.zeros(tree.n_nodes, bool)
    keep[0] = True
    for node in np.flatnonzero(tree.left != LEAF):
        if keep[node] and inner[node]:
            keep[tree.left[node] : tree.left[node] + 2] = True
    kept = np.flatnonzero(keep)
    number = np.cumsum(keep) - 1
    inner = inner[kept]
    category = np.where(inner, tree.category[kept], -1)
    masks = category >= 0
    left = np.where(inner, number[tree.left[kept]], LEAF).astype(np.int32)
    return replace(
        tree,
        feature=np.where(inner, tree.feature[kept], -1).astype(np.int32),
        threshold=np.where(inner, tree.threshold[kept], np.nan),
        missing_left=np.where(inner, tree.missing_left[kept], 0).astype(np.uint8),
        category=np.where(masks, np.cumsum(masks) - 1, -1).astype(np.int32),
        category_left=tree.category_left[category[masks]],
        left=left,
        value=tree.value[kept],
        n_node_samples=tree.n_node_samples[kept],
        weight=tree.weight[kept],
        impurity=tree.impurity[kept],
        gain=np.where(inner, tree.gain[kept], 0.0),
    )


def grown_tree(model):
    """The tree of a model in gnomon's arrays; of a tree, itself."""
    return getattr(model, "nodes_", None) or getattr(model, "tree_", model)


def with_tree(model, tree):
    """A copy of a fitted model with another tree."""
    other = copy.copy(model)
    other._take_tree(tree)
    return other
