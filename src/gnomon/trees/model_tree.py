"""Model trees: a regression tree with a linear model in each leaf.

The tree is grown by squared error; every node gets a ridge regression of its rows,
minimising  sum_i w_i (y_i - a - b . z_i)^2 + alpha |b|^2  in columns z of unit deviation; from the
leaves up, a node whose own model is expected to err no more than its subtree becomes a leaf (mean
absolute residual x (n + v) / (n - v), v the model's effective number of parameters); and the leaf
models are smoothed towards those of the nodes above, p' = (n p + k q) / (n + k), so that
predictions jump less at the borders. Smoothed models are linear again and are stored as such.

Text: 004 6.1 (named there; the procedure is that of M5, Quinlan 1992, and M5', Wang and Witten
1997, with ridge in place of their dropping of columns).
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Data, Learner, Regressor
from gnomon.engine.parameters import FLAG, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object
from gnomon.engine.threads import one_blas_thread
from gnomon.trees.binning import Binner
from gnomon.trees.distinct import CountedRows, counted_rows
from gnomon.trees.grower import GrowthRules, grow_tree, value_statistics
from gnomon.trees.pruning import arrivals, collapsed
from gnomon.trees.tree import LEAF, Tree, parents


@method(
    task="regress",
    texts="004 6.1",
    use="Targets that are roughly linear in parts: fewer leaves and smoother than a plain tree.",
    avoid="Predictions far beyond the seen rows (lines run on), or columns that are mostly gaps.",
    peers=("Weka M5P", "R Cubist", "LightGBM linear_tree"),
)
class ModelTreeRegressor(Regressor, Learner):
    """A regression tree with a linear model in each leaf.

    Use it where the target is roughly linear in parts: it needs far fewer leaves than a plain tree
    and follows slopes. Not where predictions are asked for far beyond the training rows, since the
    lines run on. Grown by squared error, ridge regression in every node, pruned from the leaves up
    by the residuals x (n + v) / (n - v), leaf models smoothed towards those above. Categories
    become one column per level and missing cells the mean, since the models need numbers. Text:
    004 6.1.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty of the coefficients, in units of one row, columns scaled to unit deviation:
        small leaves lean towards their mean.
    smoothing : float, default=15.0
        Weight k, in rows, of the model above when a prediction is smoothed; 0 for none.
    prune : bool, default=True
        Replace a subtree by its node's model where that is expected to err no more.
    max_depth : int, default=None
        Most questions on a path; None for no limit.
    min_samples_leaf : int, default=10
        Least rows in a leaf; a row of whole weight k counts k times.

    Attributes
    ----------
    tree_ : Tree
        The tree; its values are the means of the nodes.
    coef_ : ndarray of shape (n_nodes, n_columns)
        Slopes of every node's model, smoothed in the leaves.
    intercept_ : ndarray of shape (n_nodes,)
        Their constants.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import ModelTreeRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = ModelTreeRegressor(alpha=0, smoothing=0).fit(x, np.abs(x[:, 0]))
    >>> model.predict([[-0.5], [0.8]]).round(6)
    array([0.5, 0.8])
    """

    _parameter_constraints = {
        "alpha": [at_least(0)],
        "smoothing": [at_least(0)],
        "prune": FLAG,
        "max_depth": [None, whole(1)],
        "min_samples_leaf": [whole(1)],
    }
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "intercept_": Array("f8", ("n_coef",)),
        "tree_": Object(("Tree",)),
    }

    def __init__(
        self, alpha=1.0, *, smoothing=15.0, prune=True, max_depth=None, min_samples_leaf=10
    ):
        self.alpha = alpha
        self.smoothing = smoothing
        self.prune = prune
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def _fit(self, data: Data) -> None:
        sample = counted_rows(data)
        tree = self._grow(sample)
        with one_blas_thread():
            models = NodeModels(tree, sample, float(self.alpha))
        if self.prune:
            stop = models.no_worse_than_their_subtrees(sample)
            tree, models = collapsed(tree, stop), models.kept(stop)
        slopes, constants = models.smoothed(tree, float(self.smoothing))
        self.tree_ = tree
        self.coef_, self.intercept_ = slopes, constants

    def _grow(self, sample: CountedRows) -> Tree:
        weights = None if (sample.weights == 1).all() else sample.weights
        binned = Binner().fit(sample.rows, weights, n_jobs=1).transform(sample.rows, 1)
        rules = GrowthRules(
            criterion="squared_error",
            max_depth=self.max_depth,
            min_weight_leaf=sample.least_weight(self.min_samples_leaf),
        )
        return grow_tree(binned, value_statistics(sample.y, weights), rules)

    def _estimate(self, rows):
        leaves = self.tree_.apply(rows)
        return np.einsum("ij,ij->i", rows, self.coef_[leaves]) + self.intercept_[leaves]

    def apply(self, X) -> np.ndarray:
        """The leaf that each row falls into.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes.
        """
        return self._each_block(self.tree_.apply, X)

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        n_leaves : int
        """
        return self.tree_.n_leaves

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        leaves = max(n_rows // self.min_samples_leaf, 1)
        if self.max_depth is not None:
            leaves = min(leaves, 2 ** min(self.max_depth, 60))
        table = (8 * 4 + 2) * n_rows * n_columns
        models = 2 * leaves * (40 * n_columns + 300)
        visits = 24 * n_rows * min(2 * int(np.log2(leaves + 1)) + 2, 60)
        return table + models + visits + 16 * n_columns**2 + 80 * n_rows + 2**21

    def _memory_remedy(self) -> str:
        return "Limit the tree by max_depth or min_samples_leaf, or use fewer rows."

    def _check_loaded(self) -> None:
        if not hasattr(self, "tree_"):
            return
        n, d = self.tree_.n_nodes, self.coef_.shape[1]
        if self.coef_.shape[0] != n or self.intercept_.shape != (n,):
            raise ValueError("a model tree has another number of models than of nodes")
        if self.tree_.feature.max(initial=-1) >= d:
            raise ValueError("a tree tests a column that the model does not have")


class NodeModels:
    """A ridge regression of the rows of every node.

    Attributes
    ----------
    slopes : float64 array (n_nodes, d)
    constants, errors, counts : float64 arrays (n_nodes,)
        `errors` are the expected absolute errors on new rows, added up over the node's rows.
    """

    def __init__(self, tree: Tree, sample: CountedRows, alpha: float):
        self.tree = tree
        d = sample.rows.shape[1]
        shares = sample.weights / sample.weights.sum()
        self.center = shares @ sample.rows
        spread = np.array([shares @ (x - c) ** 2 for x, c in zip(sample.rows.T, self.center)])
        self.scale = np.where(spread > 0, np.sqrt(spread), 1.0)
        self.unit = float(sample.weights.sum() / sample.counts.sum())
        self.slopes = np.zeros((tree.n_nodes, d))
        self.constants = np.zeros(tree.n_nodes)
        self.errors = np.zeros(tree.n_nodes)
        self.counts = np.zeros(tree.n_nodes)
        places, nodes, _ = arrivals(tree, sample.rows)
        order = np.argsort(nodes, kind="stable")
        places, starts = places[order], np.searchsorted(nodes[order], np.arange(tree.n_nodes + 1))
        for node in range(tree.n_nodes):
            self._fit(node, sample.part(places[starts[node] : starts[node + 1]]), alpha)

    def _fit(self, node: int, part: CountedRows, alpha: float) -> None:
        points = (part.rows - self.center) / self.scale
        weights = part.weights / self.unit
        total = weights.sum()
        mean, y_mean = weights @ points / total, weights @ part.y / total
        points -= mean
        y = part.y - y_mean
        slopes, parameters = ridge(points, y, weights, alpha)
        residuals = np.abs(y - points @ slopes)
        n = part.counts.sum()
        v = 1 + parameters
        factor = (n + v) / max(n - v, 0.5)
        self.slopes[node] = slopes / self.scale
        self.constants[node] = y_mean - slopes @ (mean + self.center / self.scale)
        self.errors[node] = factor * float(weights @ residuals)
        self.counts[node] = n

    def no_worse_than_their_subtrees(self, sample: CountedRows) -> np.ndarray:
        """Inner nodes whose own model is expected to err no more than what stands below."""
        below = self.errors.copy()
        stop = np.zeros(len(below), bool)
        for node in np.flatnonzero(self.tree.left != LEAF)[::-1]:
            left = self.tree.left[node]
            subtree = below[left] + below[left + 1]
            stop[node] = self.errors[node] <= subtree
            below[node] = self.errors[node] if stop[node] else subtree
        return stop

    def kept(self, stop: np.ndarray) -> NodeModels:
        """The models of the nodes that are left when the marked ones become leaves."""
        keep = np.zeros(self.tree.n_nodes, bool)
        keep[0] = True
        for node in np.flatnonzero(self.tree.left != LEAF):
            if keep[node] and not stop[node]:
                keep[self.tree.left[node] : self.tree.left[node] + 2] = True
        rest = object.__new__(NodeModels)
        for name in ("slopes", "constants", "errors", "counts"):
            setattr(rest, name, getattr(self, name)[keep])
        return rest

    def smoothed(self, tree: Tree, k: float) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and constants, those of the leaves smoothed by all models above them."""
        slopes, constants = self.slopes.copy(), self.constants.copy()
        above = parents(tree.left)
        if k == 0:
            return slopes, constants
        for leaf in np.flatnonzero(tree.left == LEAF):
            node = leaf
            while above[node] >= 0:
                share = self.counts[node] / (self.counts[node] + k)
                node = above[node]
                slopes[leaf] = share * slopes[leaf] + (1 - share) * self.slopes[node]
                constants[leaf] = share * constants[leaf] + (1 - share) * self.constants[node]
        return slopes, constants


def ridge(
    points: np.ndarray, y: np.ndarray, weights: np.ndarray, alpha: float
) -> tuple[np.ndarray, float]:
    """Slopes of centred columns, and their effective number of parameters.

    Directions that the rows do not span get no slope where alpha is 0.
    """
    root = np.sqrt(weights)[:, None]
    left, lengths, right = np.linalg.svd(points * root, full_matrices=False)
    spanned = lengths > 1e-10 * max(lengths.max(initial=0.0), 1e-300)
    shrink = np.where(spanned, lengths / np.where(spanned, lengths**2 + alpha, 1.0), 0.0)
    slopes = right.T @ (shrink * (left.T @ (y * root[:, 0])))
    return slopes, float((shrink * lengths).sum())
