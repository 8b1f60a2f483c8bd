"""Exact trees, grown by scikit-learn, and trees in scikit-learn's arrays.

scikit-learn's builder looks at every threshold, where gnomon's histogram grower looks at 255 per
column, and it knows criteria that cannot be added up in bins (absolute error, Poisson deviance). A
tree that it grows becomes a `Tree` of gnomon's, and a `Tree` without category nodes becomes an
object with scikit-learn's arrays, so that `sklearn.tree.export_text` and other tools read it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.tree._tree import Tree as ScikitLearnTree

from gnomon.contract import Data
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.trees.tree import LEAF, Tree

# Beyond, a number is no finite one in single precision.
LARGEST = float(np.finfo(np.float32).max)
# Sparse rows of at most so many cells are grown dense: 64 MB in single precision.
MOST_DENSE_CELLS = 2**24


def dense_if_small(rows: Any) -> Any:
    """Rows for scikit-learn's builder; sparse ones as a dense array where that takes little memory.

    The sparse builder adds up in another order, so that of two splits with equal gain it may take
    the other one.
    """
    if sp.issparse(rows) and rows.shape[0] * rows.shape[1] <= MOST_DENSE_CELLS:
        return rows.toarray()
    return rows


@dataclass(frozen=True)
class ExactRows:
    """Rows as scikit-learn's builder reads them: float32, columns of missing values marked.

    Attributes
    ----------
    rows : float32 ndarray, or csc_matrix
    has_missing : ndarray of bool of shape (n_columns,) or None
    """

    rows: Any
    has_missing: np.ndarray | None

    @classmethod
    def of(cls, rows) -> ExactRows:
        rows = dense_if_small(rows)
        if sp.issparse(rows):
            columns = sp.csc_matrix(rows, dtype=np.float32)
            columns.sort_indices()
            columns.indices = columns.indices.astype(np.int32, copy=False)
            columns.indptr = columns.indptr.astype(np.int32, copy=False)
            return cls(columns, None)
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(rows, np.float32)
        if np.isinf(single).any():
            raise DataError(
                "exact trees compare numbers in single precision, and some are beyond 3e38; "
                "rescale the columns"
            )
        rows = single
        missing = np.isnan(rows).any(axis=0)
        return cls(rows, missing if missing.any() else None)


class EqualRows:
    """Rows in canonical order, equal ones as one: so that repetitions are weights, to the bit.

    Attributes
    ----------
    first : ndarray of int
        Position of a row of each group.
    """

    def __init__(self, data: Data):
        self.order = canonical_order(data.rows, data.y)
        rows = data.rows[self.order]
        y = data.y.reshape(data.n_rows, -1)[self.order]
        differs = (y[1:] != y[:-1]).any(axis=1)
        if sp.issparse(rows):
            gap = rows[1:] != rows[:-1]
            differs |= np.asarray(gap.sum(axis=1)).ravel() > 0
        else:
            equal = (rows[1:] == rows[:-1]) | (np.isnan(rows[1:]) & np.isnan(rows[:-1]))
            differs |= ~equal.all(axis=1)
        self.starts = np.flatnonzero(np.concatenate([[True], differs]))
        self.first = self.order[self.starts]
        self.n_rows = data.n_rows

    def total(self, weights: np.ndarray | None) -> np.ndarray | None:
        """The weight of each group; None where all are one."""
        if weights is None:
            if len(self.starts) == self.n_rows:
                return None
            weights = np.ones(self.n_rows)
        return np.add.reduceat(weights[self.order], self.starts)


def criterion_of(name: str) -> str:
    """scikit-learn's former name of the squared error, with its warning."""
    if name != "friedman_mse":
        return name
    warnings.warn(
        'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in 1.11. It maps '
        'to `"squared_error"` as both were always equivalent.',
        FutureWarning,
        stacklevel=3,
    )
    return "squared_error"


def grow_exact(learner: Any, rows: ExactRows, y: np.ndarray, weights: np.ndarray | None) -> Tree:
    """Grow a tree with an estimator of scikit-learn's, which is changed.

    Parameters
    ----------
    learner : sklearn.tree.DecisionTreeClassifier, ExtraTreeRegressor ...
    rows : ExactRows
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class codes or numbers.
    weights : ndarray of shape (n_rows,), optional
    """
    y = np.ascontiguousarray(y, np.float64).reshape(len(y), -1)
    if weights is not None:
        weights = np.ascontiguousarray(weights, np.float64)
    learner._fit(
        rows.rows, y, weights, check_input=False, missing_values_in_feature_mask=rows.has_missing
    )
    return from_scikit_learn(learner.tree_)


def from_scikit_learn(theirs: ScikitLearnTree) -> Tree:
    """A tree of scikit-learn's as one of gnomon's, whose children stand side by side."""
    left, right = theirs.children_left, theirs.children_right
    old = _side_by_side(left, right)
    new = np.empty_like(old)
    new[old] = np.arange(old.size)
    inner = left[old] != LEAF
    weight, impurity = theirs.weighted_n_node_samples, theirs.impurity
    gain = np.zeros(old.size)
    nodes = old[inner]
    gain[inner] = weight[nodes] * impurity[nodes] - sum(
        weight[side[nodes]] * impurity[side[nodes]] for side in (left, right)
    )
    return Tree(
        feature=np.where(inner, theirs.feature[old], -1).astype(np.int32),
        threshold=np.where(inner, theirs.threshold[old], np.nan),
        missing_left=np.where(inner, theirs.missing_go_to_left[old], 0).astype(np.uint8),
        category=np.full(old.size, -1, np.int32),
        category_left=np.empty((0, 4), np.uint64),
        left=np.where(inner, new[left[old]], LEAF).astype(np.int32),
        value=theirs.value[old].reshape(old.size, -1),
        n_node_samples=theirs.n_node_samples[old].astype(np.int32),
        weight=weight[old],
        impurity=impurity[old],
        gain=gain,
    )


def _side_by_side(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Nodes level by level, so that siblings are neighbours: old numbers in the new order."""
    levels = [np.zeros(1, np.int64)]
    while levels[-1].size:
        inner = levels[-1][left[levels[-1]] != LEAF]
        levels.append(np.column_stack((left[inner], right[inner])).ravel())
    return np.concatenate(levels)


def as_scikit_learn(tree: Tree, n_features: int, n_classes: np.ndarray) -> ScikitLearnTree:
    """A tree without category nodes as an object of scikit-learn's, with the same node numbers.

    Parameters
    ----------
    tree : Tree
    n_features : int
    n_classes : ndarray of int of shape (n_outputs,)
        Classes of each output; ones where it predicts numbers.
    """
    if len(tree.category_left):
        raise ValueError(
            "this tree splits on sets of category levels, which scikit-learn's arrays cannot hold"
        )
    n_classes = np.asarray(n_classes, np.intp)
    made = ScikitLearnTree(n_features, n_classes, len(n_classes))
    nodes = np.zeros(tree.n_nodes, made.__getstate__()["nodes"].dtype)
    inner = tree.left != LEAF
    nodes["left_child"] = tree.left
    nodes["right_child"] = tree.right_child
    nodes["feature"] = np.where(inner, tree.feature, -2)
    nodes["threshold"] = np.where(inner, tree.threshold, -2.0)
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = tree.missing_left
    made.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(
                tree.value.reshape(tree.n_nodes, len(n_classes), int(n_classes.max())), np.float64
            ),
        }
    )
    return made
