"""What single trees and forests share: parameters, bins, growth rules and prediction."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from gnomon.contract import Data, Learner, Takes
from gnomon.engine.parameters import (
    JOBS,
    SEED,
    StrOptions,
    Words,
    at_least,
    between,
    meant,
    share,
    whole,
)
from gnomon.engine.stored import CLASSES, Optional
from gnomon.engine.threads import resolve_jobs
from gnomon.trees.binning import Binned, Binner
from gnomon.trees.grower import GrowthRules, Statistics, class_statistics, value_statistics
from gnomon.trees.tree import PackedLater, Tree

# Arrays of a `Tree` of one output, 57 bytes, and the packed copy that predicts, 26.
BYTES_PER_NODE = 90
# Nodes of a tree of random classes, as a share of the most that there can be.
CLASS_NODES = 0.3
CLASS_CRITERION = [Words({"gini", "entropy", "misclassification"}, {"log_loss": "entropy"})]
VALUE_CRITERION = [StrOptions({"squared_error", "absolute_error", "friedman_mse", "poisson"})]
# What histograms can add up, and the class of the criterion in gnomon's own words.
HISTOGRAM_CRITERIA = {"gini", "entropy", "misclassification", "squared_error"}

GROWTH_CONSTRAINTS = {
    "max_depth": [None, whole(1)],
    "min_samples_split": [whole(2), share()],
    "min_samples_leaf": [whole(1), share("neither")],
    "min_weight_fraction_leaf": [between(0, 0.5)],
    "max_features": [None, whole(1), share(), StrOptions({"sqrt", "log2"})],
    "max_leaf_nodes": [None, whole(2)],
    "min_impurity_decrease": [at_least(0)],
    "random_state": SEED,
    "n_jobs": JOBS,
}


class GrowsTrees(Learner):
    """A learner that grows trees on histograms.

    Numbers are only compared, so that their size and scale do not matter; missing cells and
    categories are split on as they are.
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _largest = np.inf
    _transient = ("_packed",)

    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_features: int | float | str | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    n_jobs: int | None
    classes_: np.ndarray
    _stored = {
        "classes_": Optional(CLASSES),
    }

    def __getattr__(self, name: str):
        is_fitted_value = name.endswith("_") and not name.startswith("_")
        if is_fitted_value and "n_features_in_" not in vars(self):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: {name} is known after fit"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _rules(self, n_rows: int, n_features: int, total_weight: float) -> GrowthRules:
        return GrowthRules(
            criterion=meant(self, "criterion"),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_split=max(rows_of(self.min_samples_split, n_rows), 2),
            min_samples_leaf=rows_of(self.min_samples_leaf, n_rows),
            min_weight_leaf=self.min_weight_fraction_leaf * total_weight,
            min_impurity_decrease=float(self.min_impurity_decrease),
            max_features=columns_per_node(self.max_features, n_features),
        )

    def _binned(self, data: Data) -> Binned:
        threads = resolve_jobs(self.n_jobs)
        binner = Binner().fit(data.rows, data.weights, data.columns.is_category, threads)
        return binner.transform(data.rows, threads)

    def _statistics(self, data: Data, weights: np.ndarray | None, draws: int | None) -> Statistics:
        if self._target == "classes":
            return class_statistics(data.y, len(self.classes_), weights, draws)
        return value_statistics(data.y, weights, draws)

    def _n_nodes_at_most(self, n_rows: int) -> int:
        """Nodes of the largest tree that the parameters allow."""
        leaves = max(n_rows // rows_of(self.min_samples_leaf, n_rows), 1)
        most = getattr(self, "max_leaf_nodes", None)
        if most is not None:
            leaves = min(leaves, most)
        if self.max_depth is not None:
            leaves = min(leaves, 2 ** min(self.max_depth, 60))
        return 2 * leaves

    def _n_nodes_likely(self, n_rows: int) -> int:
        """Nodes of a tree that separates all rows: of classes that cannot be told apart, fewer."""
        most = self._n_nodes_at_most(n_rows)
        return int(CLASS_NODES * most) if self._target == "classes" else most

    def _growing_memory(self, n_rows: int, n_columns: int) -> int:
        """Bins of all cells, and per thread the sorted column and the rows in the nodes."""
        threads = resolve_jobs(self.n_jobs)
        histograms = 3 * 256 * 8 * n_columns
        return n_rows * n_columns + threads * (60 * n_rows + histograms) + 80 * n_rows

    def _memory_remedy(self) -> str:
        return "Limit the trees by max_depth or max_leaf_nodes, or use fewer rows."

    def _sum_of_trees(self, rows) -> np.ndarray:
        """Sum of the trees' values for a block of rows."""
        return self._packed.forest.sum(self._as_grown(rows))

    def _as_grown(self, rows) -> np.ndarray:
        """Rows as the trees were grown on: exact trees compare numbers in single precision."""
        rows = dense(rows)
        return rows.astype(np.float32) if vars(self).get("_is_exact") else rows

    def _pack(self) -> None:
        """Have the trees packed for prediction; not saved, since it follows from them."""
        self._packed = PackedLater(self._voting_trees())

    def _voting_trees(self) -> list[Tree]:
        """The trees with values as they are added up."""
        return self._all_trees()

    def _all_trees(self) -> list[Tree]:
        raise NotImplementedError

    def apply(self, X) -> np.ndarray:
        """The leaf that each row falls into.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,) or (n_samples, n_trees)
            Numbers of nodes within their tree.
        """
        return self._each_block(self._leaves, X)

    def _leaves(self, rows) -> np.ndarray:
        return self._packed.forest.apply(self._as_grown(rows))

    def _check_loaded(self) -> None:
        if vars(self).keys().isdisjoint(("n_features_in_", "nodes_", "trees_")):
            return
        for tree in self._all_trees():
            if tree.feature.max(initial=-1) >= self._n_columns:
                raise ValueError("a tree tests a column that the model does not have")
            if tree.n_outputs != self._n_outputs:
                raise ValueError("a tree has another number of outputs than the model")
        self._pack()


def columns_per_node(max_features: int | float | str | None, n_features: int) -> int | None:
    """How many columns a node looks at; None for all."""
    if max_features is None:
        return None
    if max_features == "sqrt":
        return max(math.isqrt(n_features), 1)
    if max_features == "log2":
        return max(int(math.log2(n_features)), 1)
    if isinstance(max_features, float):
        return max(int(max_features * n_features), 1)
    return min(int(max_features), n_features)


def rows_of(least: int | float, n_rows: int) -> int:
    """A least number of rows, which may be given as a share of all."""
    return math.ceil(least * n_rows) if isinstance(least, float) else int(least)


def dense(rows) -> np.ndarray:
    """Rows as the kernels read them."""
    return rows.toarray() if sp.issparse(rows) else rows


def normalized(importances: np.ndarray) -> np.ndarray:
    """Importances that add up to one; all zero where no split gained anything."""
    total = importances.sum()
    return importances / total if total > 0 else importances
