"""Decision trees: questions about one column at a time, until the rows of a leaf are alike.

Greedy: at each node the split with the greatest saving  W I(node) - W_l I(left) - W_r I(right)  is
taken, with impurity I the Gini index 1 - sum_k p_k^2, the entropy -sum_k p_k log2 p_k, the
misclassification share 1 - max_k p_k, or the variance. Numbers are split at thresholds, categories
into two sets of levels; missing cells go to the side where they save more.

Texts: 000a 2.5 · 001 9.2 · 002 "Tree classifiers" · 003 2.2 · 004 9.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Classifier, Data, Regressor
from gnomon.engine.parameters import StrOptions, at_least
from gnomon.engine.registry import method
from gnomon.trees.grower import grow_tree
from gnomon.trees.learner import (
    BYTES_PER_NODE,
    CLASS_CRITERION,
    GROWTH_CONSTRAINTS,
    VALUE_CRITERION,
    GrowsTrees,
    normalised,
)
from gnomon.trees.pruning import pruned_tree
from gnomon.trees.tree import Tree


class OneTree(GrowsTrees):
    """A learner whose model is one tree."""

    ccp_alpha: float

    def _fit(self, data: Data) -> None:
        total_weight = float(data.weight_array.sum())
        tree = grow_tree(
            self._binned(data),
            self._statistics(data, data.weights, None),
            self._rules(data.n_columns, total_weight),
            seed=int(self._rng().integers(2**63)),
        )
        if self.ccp_alpha > 0:
            tree = pruned_tree(tree, self.ccp_alpha)
        self._n_columns, self._n_outputs = data.n_columns, tree.n_outputs
        self._take_tree(tree)

    def _take_tree(self, tree: Tree) -> None:
        """Make a tree the model: the grown one, or one that was pruned."""
        self.tree_ = tree
        self._pack()
        self.feature_importances_ = normalised(tree.importances(self._n_columns))

    def _all_trees(self) -> list[Tree]:
        return [self.tree_]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return self._growing_memory(n_rows, n_columns) + (
            3 * BYTES_PER_NODE * self._n_nodes_at_most(n_rows)
        )

    def _leaves(self, rows) -> np.ndarray:
        return super()._leaves(rows)[:, 0]

    def get_depth(self) -> int:
        """Most questions on a path from the root to a leaf.

        Returns
        -------
        depth : int
        """
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        n_leaves : int
        """
        return self.tree_.n_leaves


@method(
    task="classify",
    texts="000a 2.5 · 001 9.2 · 002 Tree classifiers · 003 2.2 · 004 9",
    use="A model that people can read and follow, on mixed columns with missing cells.",
    avoid="The best accuracy is wanted (a forest or boosting wins), or smooth boundaries.",
    peers=("sklearn.tree.DecisionTreeClassifier",),
)
class DecisionTreeClassifier(OneTree, Classifier):
    """A tree of questions that ends in classes.

    Use it where a person must read or defend each prediction; not where accuracy counts most (one
    tree varies much from sample to sample). At each node it takes the split that saves most
    impurity, W I - W_l I_l - W_r I_r. Columns are cut in at most 255 bins of equal weight first (a
    column with no more than 255 different values loses nothing), so that a split costs a pass over
    bins. Categories and missing cells are split on as they are. A full tree fits the training
    rows: limit its depth, leaves or rows per leaf. Texts: 000a 2.5, 001 9.2, 003 2.2, 004 9.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification", "log_loss"}, default="gini"
        The impurity; "log_loss" is another word for "entropy".
    max_depth : int, default=None
        Most questions on a path; None for no limit.
    min_samples_split : int, default=2
        Least rows in a node that is split.
    min_samples_leaf : int, default=1
        Least rows in a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Columns looked at in a node, drawn at random: a number, a share, or None for all.
    max_leaf_nodes : int, default=None
        Grow best-first up to so many leaves; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least saving of a split, per unit of the total weight.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: what a leaf costs, per unit of the total weight.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.
    random_state : int, RandomState or None, default=None
        Of the draws of columns.
    n_jobs : int, default=None
        Threads for the bins; None for one per processor.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : Tree
        The nodes as arrays.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    RandomForestClassifier : Many trees, more accurate.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> model.predict([[3.0], [7.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        "criterion": CLASS_CRITERION,
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "ccp_alpha": [at_least(0)],
        **GROWTH_CONSTRAINTS,
    }

    def __init__(
        self,
        criterion="gini",
        *,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        random_state=None,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _proba(self, rows):
        return self._sum_of_trees(rows)


@method(
    task="regress",
    texts="000a 2.5 · 001 9.2 · 003 2.2 · 004 9",
    use="A model that people can read and follow, on mixed columns with missing cells.",
    avoid="The best accuracy is wanted, or a smooth curve, or values beyond those seen.",
    peers=("sklearn.tree.DecisionTreeRegressor",),
)
class DecisionTreeRegressor(OneTree, Regressor):
    """A tree of questions that ends in numbers.

    Use it where a person must read or defend each prediction; not for smooth curves, nor beyond
    the seen range (a leaf gives the mean of its training rows). Takes the split that saves most
    squared error. Binning, categories and missing cells: as `DecisionTreeClassifier`. Several
    targets are fitted by one tree. Texts: 000a 2.5, 001 9.2, 003 2.2, 004 9.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        What a split saves; there is this one.
    max_depth : int, default=None
        Most questions on a path; None for no limit.
    min_samples_split : int, default=2
        Least rows in a node that is split.
    min_samples_leaf : int, default=1
        Least rows in a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Columns looked at in a node, drawn at random: a number, a share, or None for all.
    max_leaf_nodes : int, default=None
        Grow best-first up to so many leaves; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least saving of a split, per unit of the total weight.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: what a leaf costs, per unit of the total weight.
    random_state : int, RandomState or None, default=None
        Of the draws of columns.
    n_jobs : int, default=None
        Threads for the bins; None for one per processor.

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[3.0], [7.0]])
    array([1., 5.])
    """

    _many_targets = True
    _parameter_constraints = {
        "criterion": VALUE_CRITERION,
        "ccp_alpha": [at_least(0)],
        **GROWTH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        random_state=None,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        super()._fit(data)
        self._one_target = data.y.ndim == 1

    def _estimate(self, rows):
        values = self._sum_of_trees(rows)
        return values[:, 0] if self._one_target else values
