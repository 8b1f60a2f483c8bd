"""Decision trees: questions about one column at a time, until the rows of a leaf are alike.

Greedy: at each node the split with the greatest saving  W I(node) - W_l I(left) - W_r I(right)  is
taken, with impurity I the Gini index 1 - sum_k p_k^2, the entropy -sum_k p_k log2 p_k, the
misclassification share 1 - max_k p_k, or the variance. Numbers are split at thresholds, categories
into two sets of levels; missing cells go to the side where they save more.

Rows of numbers are split at every threshold, by scikit-learn's builder; tables with categories, and
the misclassification share, by gnomon's histogram grower.

Texts: 000a 2.5 · 001 9.2 · 002 "Tree classifiers" · 003 2.2 · 004 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.tree as peer
from sklearn.base import clone
from sklearn.tree._tree import Tree as ScikitLearnTree
from sklearn.tree._tree import ccp_pruning_path
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.parameters import StrOptions, at_least
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Object, Optional, Whole
from gnomon.trees.exact import (
    LARGEST,
    EqualRows,
    ExactRows,
    as_scikit_learn,
    criterion_of,
    grow_exact,
)
from gnomon.trees.grower import grow_tree
from gnomon.trees.learner import (
    BYTES_PER_NODE,
    CLASS_CRITERION,
    GROWTH_CONSTRAINTS,
    HISTOGRAM_CRITERIA,
    VALUE_CRITERION,
    GrowsTrees,
    columns_per_node,
    normalized,
)
from gnomon.trees.outputs import ManyClasses
from gnomon.trees.pruning import pruned_tree
from gnomon.trees.tree import Tree

EXACT_PARAMETERS = (
    "criterion",
    "splitter",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
)
TREE_CONSTRAINTS = {
    "splitter": [StrOptions({"best", "random"})],
    "ccp_alpha": [at_least(0)],
    "monotonic_cst": ["array-like", None],
    **GROWTH_CONSTRAINTS,
}
# Texts of parameters that classes here share, for their docstrings.
TREE_PARAMETERS = """\
splitter : {"best", "random"}
    Look at every threshold, or at one random threshold per column.
max_depth : int
    Most questions on a path; None for no limit.
min_samples_split : int or float
    Least rows in a node that is split; a float is a share of all rows.
min_samples_leaf : int or float
    Least rows in a leaf; a float is a share of all rows.
min_weight_fraction_leaf : float
    Least share of the total weight in a leaf.
max_features : int, float, {"sqrt", "log2"}
    Columns looked at in a node, drawn at random: a number, a share, or None for all.
random_state : int, RandomState or None
    Of the draws of columns and random thresholds, and of the order in which columns with equal
    splits are tried.
max_leaf_nodes : int
    Grow best-first up to so many leaves; None for no limit.
min_impurity_decrease : float
    Least saving of a split, per unit of the total weight.
ccp_alpha : float
    Cost-complexity pruning: what a leaf costs, per unit of the total weight.
n_jobs : int
    Threads for the bins of tables with categories; None for one per processor.
"""


class OneTree(GrowsTrees):
    """A learner whose model is one tree, ``nodes_``."""

    ccp_alpha: float
    nodes_: Tree
    _former_parameters = {"tree_": "nodes_"}
    _transient = ("_packed", "_arrays")
    _stored = {
        "feature_importances_": Array("f8", ("n_columns",)),
        "nodes_": Object(("Tree",)),
    }

    @property
    def tree_(self) -> ScikitLearnTree | Tree:
        """The nodes in scikit-learn's arrays; ``nodes_`` where some split sets of levels."""
        if "nodes_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'tree_'")
        if len(self.nodes_.category_left):
            return self.nodes_
        arrays = vars(self).get("_arrays")
        if arrays is None or arrays[0] is not self.nodes_:
            made = as_scikit_learn(self.nodes_, self._n_columns, self._class_counts())
            arrays = self._arrays = (self.nodes_, made)
        return arrays[1]

    def _class_counts(self) -> np.ndarray:
        """Number of classes by output; ones for numbers."""
        if self._target == "numbers":
            return np.ones(self._n_outputs, np.intp)
        listed = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        return np.array([len(classes) for classes in listed], np.intp)

    def _take_tree(self, tree: Tree) -> None:
        """Make a tree the model: the grown one, or one that was pruned."""
        self.nodes_ = tree
        self._pack()
        self.feature_importances_ = normalized(tree.importances(self._n_columns))

    def _all_trees(self) -> list[Tree]:
        return [self.nodes_]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return self._growing_memory(n_rows, n_columns) + (
            3 * BYTES_PER_NODE * self._n_nodes_likely(n_rows)
        )

    def _leaves(self, rows) -> np.ndarray:
        return super()._leaves(rows)[:, 0]

    def decision_path(self, X) -> sp.csr_matrix:
        """The nodes that each row passes.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        passed : csr_matrix of shape (n_samples, n_nodes)
            1 where a row passes a node.
        """
        leaves = self.apply(X)
        starts, nodes = self.nodes_.paths_to(leaves)
        shape = (len(leaves), self.nodes_.n_nodes)
        return sp.csr_matrix((np.ones(len(nodes), np.int64), nodes, starts), shape)

    def get_depth(self) -> int:
        """Most questions on a path from the root to a leaf.

        Returns
        -------
        depth : int
        """
        check_is_fitted(self)
        return self.nodes_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        n_leaves : int
        """
        check_is_fitted(self)
        return self.nodes_.n_leaves


class DecisionTree(OneTree):
    """What both decision trees share: growth by the exact builder or by histograms."""

    _peer: type
    criterion: str
    splitter: str
    monotonic_cst: Any
    random_state: Any
    _stored = {
        "_is_exact": Optional(Flag()),
        "_n_columns": Whole(1),
        "_n_outputs": Whole(1),
        "max_features_": Optional(Whole()),
    }

    def fit(self, X, y=None, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            A numeric array is taken as it is; NaN is a missing cell. A data frame may hold text,
            categories, dates, booleans and missing values.
        y : array-like or str, default=None
            The target; the name of a column of X when X is a table.
        sample_weight : array-like or str, default=None
            Weights of the rows; weight two is the same as the row standing there twice.
        check_input : bool, default=True
            Has no effect here: what is given is always checked.

        Returns
        -------
        self : object
        """
        return super().fit(X, y, sample_weight)

    def _fit(self, data: Data) -> None:
        self._n_columns = data.n_columns
        self.max_features_ = columns_per_node(self.max_features, data.n_columns) or data.n_columns
        self._is_exact = self._can_be_exact(data)
        tree = self._exact(data) if self._is_exact else self._by_histograms(data)
        self._n_outputs = tree.n_outputs
        self._take_tree(tree)

    def _can_be_exact(self, data: Data) -> bool:
        if self.criterion == "misclassification" or data.columns.is_category.any():
            return False
        values = data.rows.data if sp.issparse(data.rows) else data.rows
        with np.errstate(invalid="ignore"):
            return not (np.abs(values) > LARGEST).any()

    def _exact(self, data: Data) -> Tree:
        given = {name: getattr(self, name) for name in EXACT_PARAMETERS}
        learner = self._peer(**given | {"criterion": criterion_of(self.criterion)})
        learner.random_state = self._seed()
        if self.criterion == "poisson":
            refuse_negative(data.y)
        rows, y, weights = data.rows, data.y, data.weights
        if self.min_samples_split == 2 and self.min_samples_leaf == 1:
            groups = EqualRows(data)  # where rows are not counted, repetitions are weights
            if weights is not None or len(groups.first) < data.n_rows:
                rows, y = rows[groups.first], y[groups.first]
                weights = groups.total(weights)
        return grow_exact(learner, ExactRows.of(rows), y, weights)

    def _seed(self) -> Any:
        state = self.random_state
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31))
        return check_random_state(state)

    def _by_histograms(self, data: Data) -> Tree:
        for name, needs in (("monotonic_cst", None), ("splitter", "best")):
            if getattr(self, name) is not needs and getattr(self, name) != needs:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs columns of numbers up to 3e38 and a "
                    "criterion other than 'misclassification'; encode the categories first"
                )
        if self.criterion not in {*HISTOGRAM_CRITERIA, "log_loss"}:
            raise ValueError(
                f"criterion={self.criterion!r} needs columns of numbers up to 3e38; encode the "
                "categories first, or take 'squared_error'"
            )
        total_weight = float(data.weight_array.sum())
        tree = grow_tree(
            self._binned(data),
            self._statistics(data, data.weights, None),
            self._rules(data.n_rows, data.n_columns, total_weight),
            seed=int(self._rng().integers(2**63)),
        )
        return pruned_tree(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    def cost_complexity_pruning_path(self, X, y, sample_weight=None) -> Bunch:
        """The prices of a leaf at which cost-complexity pruning cuts the full tree back.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
        sample_weight : array-like, default=None

        Returns
        -------
        path : Bunch
            ``ccp_alphas`` and ``impurities``, the total impurity of the leaves, ascending.
        """
        grown = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return Bunch(**ccp_pruning_path(grown.tree_))


def refuse_negative(y: np.ndarray) -> None:
    """Refuse a target that no Poisson mean can have."""
    if np.any(y < 0):
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression "
            "(criterion='poisson')."
        )
    if np.sum(y) <= 0:
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression "
            "(criterion='poisson')."
        )


@method(
    task="classify",
    texts="000a 2.5 · 001 9.2 · 002 Tree classifiers · 003 2.2 · 004 9",
    use="A model that people can read and follow, on mixed columns with missing cells.",
    avoid="The best accuracy is wanted (a forest or boosting wins), or smooth boundaries.",
    peers=("sklearn.tree.DecisionTreeClassifier",),
)
@shared_parameters(TREE_PARAMETERS)
class DecisionTreeClassifier(DecisionTree, ManyClasses):
    """A tree of questions that ends in classes.

    Use it where a person must read or defend each prediction; not where accuracy counts most (one
    tree varies much from sample to sample). At each node it takes the split that saves most
    impurity, W I - W_l I_l - W_r I_r. Rows of numbers are split at every threshold, as in
    scikit-learn (in single precision). Tables with categories, and the misclassification share, are
    cut in at most 255 bins of equal weight per column; categories are split into two sets of levels
    as they are. Missing cells go to the side where they save more. A full tree fits the training
    rows: limit its depth, leaves or rows per leaf. The target may have several columns. Texts: 000a
    2.5, 001 9.2, 003 2.2, 004 9.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification", "log_loss"}, default="gini"
        The impurity; "log_loss" is another word for "entropy".
    class_weight : dict, list of dict or "balanced", default=None
        Factors of the rows' weights by class; a list has one per column of the target.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        For two classes: 1 if the probability of the second must not fall with the column, -1 if it
        must not rise, 0 for no constraint.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : sklearn.tree._tree.Tree
        The nodes in scikit-learn's arrays (``children_left``, ``threshold`` ...); ``nodes_`` where
        a node splits sets of levels.
    nodes_ : Tree
        The nodes in gnomon's arrays, with sets of levels and gains.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    max_features_ : int
        Columns looked at in a node.
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

    _peer = peer.DecisionTreeClassifier
    _parameter_constraints = {
        "criterion": CLASS_CRITERION,
        "class_weight": [None, dict, list, StrOptions({"balanced"})],
        **TREE_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
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
@shared_parameters(TREE_PARAMETERS)
class DecisionTreeRegressor(DecisionTree, Regressor):
    """A tree of questions that ends in numbers.

    Use it where a person must read or defend each prediction; not for smooth curves, nor beyond
    the seen range (a leaf gives the mean of its training rows). Takes the split that saves most
    squared error. Binning, categories and missing cells: as `DecisionTreeClassifier`. Several
    targets are fitted by one tree. Texts: 000a 2.5, 001 9.2, 003 2.2, 004 9.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        What a split saves. Tables with categories take "squared_error" only.
    monotonic_cst : array-like of int of shape (n_features,), default=None
        1: the prediction must not fall with the column, -1: it must not rise, 0: no constraint.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        The nodes in scikit-learn's arrays (``children_left``, ``threshold`` ...); ``nodes_`` where
        a node splits sets of levels.
    nodes_ : Tree
        The nodes in gnomon's arrays, with sets of levels and gains.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    max_features_ : int
        Columns looked at in a node.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[3.0], [7.0]])
    array([1., 5.])
    """

    _peer = peer.DecisionTreeRegressor
    _many_targets = True
    _parameter_constraints = {"criterion": VALUE_CRITERION, **TREE_CONSTRAINTS}
    _stored = {
        "_one_target": Flag(),
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.n_jobs = n_jobs

    @property
    def n_outputs_(self) -> int:
        """Number of columns of the target."""
        return self._n_outputs

    def _fit(self, data: Data) -> None:
        super()._fit(data)
        self._one_target = data.y.ndim == 1

    def _estimate(self, rows):
        values = self._sum_of_trees(rows)
        return values[:, 0] if self._one_target else values


# scikit-learn's exports ask whether a model is one of scikit-learn's trees: these have the
# same attributes.
peer.DecisionTreeClassifier.register(DecisionTreeClassifier)
peer.DecisionTreeRegressor.register(DecisionTreeRegressor)
