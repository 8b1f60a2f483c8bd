"""Trees of every kind that the texts describe, put together from impurity, split and missing rule.

The grower is plain NumPy and looks at every midpoint (no bins). What can be combined: the impurity
(Gini, entropy with Laplace smoothing, gain ratio, misclassification, a matrix of costs, squared
error), how numbers and categories are divided (best threshold, all of them or a random sample;
levels by ordering, exhaustively, by coin flips, one against the rest, one branch each; or a wholly
random split), and what happens to missing cells (divided over the branches, sent by surrogates, or
taken as a value).

Texts: 000a 2.2 · 001 11.2-11.4 · 003 2.3 · 004 6.1.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Classifier, Data, Regressor, Takes
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, StrOptions, at_least, between, share, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Object, Optional, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.trees.distinct import CountedRows, CountsRows
from gnomon.trees.flexible_grower import Finder, Grower, Limits
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.impurity import Impurity, SquaredError, class_impurity
from gnomon.trees.learner import columns_per_node, normalized
from gnomon.trees.pruning import pruned_tree
from gnomon.trees.splits import BestOfColumns, LeastBranch, RandomSplit

BYTES_PER_NODE = 3500  # judgement: a node is a Python object with its question and counts
# Leaves as a share of the most that there can be: between classes that are told apart easily (next
# to none) and random ones (0.3).
CLASS_LEAVES = 0.09

GENERAL_CONSTRAINTS = {
    "max_depth": [None, whole(1)],
    "min_samples_split": [whole(2)],
    "min_samples_leaf": [whole(1)],
    "min_weight_fraction_leaf": [between(0, 0.5)],
    "min_impurity_decrease": [at_least(0)],
    "ccp_alpha": [at_least(0)],
    "random_state": SEED,
}

FLEXIBLE_CONSTRAINTS = {
    "split": [StrOptions({"best", "random"})],
    "categories": [StrOptions({"ordering", "exhaustive", "coin_flips", "value", "multiway"})],
    "n_tries": [None, whole(1)],
    "max_thresholds": [None, whole(1)],
    "missing": [StrOptions({"fractional", "surrogate", "category"})],
    "max_surrogates": [whole(1)],
    "max_features": [None, whole(1), share(), StrOptions({"sqrt", "log2"})],
    **GENERAL_CONSTRAINTS,
}
# Texts of parameters that classes of several files share, for their docstrings.
GENERAL_PARAMETERS = """\
split : {"best", "random"}
    Take the best question, or a random column cut at its value in a random row.
n_tries : int
    Random sets tried per column by "coin_flips"; None for twice the number of levels.
max_surrogates : int
    Surrogate questions kept per node.
max_features : int, float, {"sqrt", "log2"}
    Columns looked at in a node, drawn at random: a number, a share, or None for all.
max_depth : int
    Most questions on a path; None for no limit.
min_samples_split : int
    Least rows in a node that is split; a row of whole weight k counts k times.
min_samples_leaf : int
    Least rows with an answer in at least two branches.
min_weight_fraction_leaf : float
    The same as a share of the total weight.
min_impurity_decrease : float
    Least saving of a split, per unit of the total weight; 0 lets every split pass.
ccp_alpha : float
    Cost-complexity pruning: what a leaf costs, per unit of the total weight.
class_weight : dict or "balanced"
    Factors of the rows' weights by class.
random_state : int, RandomState or None
    Of the random splits, sets, thresholds and columns.
directions : {"means", "random", "optimised"}
    How a plane is found.
n_directions : int
    Random directions tried in a node.
standardize : bool
    Measure columns from their mean in units of their standard deviation.
"""


class OneGeneralTree(CountsRows):
    """A learner whose model is one `GeneralTree`."""

    natively = Takes(missing=True, categories=True)
    _largest = np.inf

    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    ccp_alpha: float
    _stored = {
        "_n_columns": Whole(1),
        "tree_": Object(("GeneralTree",)),
    }

    def _fit(self, data: Data) -> None:
        sample = self._distinct(data)
        levels = np.array(data.columns.levels, np.int64)
        impurity = self._impurity(sample)
        finder = self._finder(sample, levels, impurity)
        with one_blas_thread():
            tree = Grower(sample, levels, impurity, finder, self._limits(), self._rng()).grow()
        if self.ccp_alpha > 0:
            tree = pruned_tree(tree, self.ccp_alpha)
        self._n_columns = data.n_columns
        self._take_tree(tree)

    def _impurity(self, sample: CountedRows) -> Impurity:
        return SquaredError(sample.y, sample.weights)

    def _finder(self, sample: CountedRows, levels: np.ndarray, impurity: Impurity) -> Finder:
        raise NotImplementedError

    def _least(self, sample: CountedRows) -> LeastBranch:
        weight = self.min_weight_fraction_leaf * float(sample.weights.sum())
        return LeastBranch(self.min_samples_leaf, weight)

    def _limits(self) -> Limits:
        return Limits(self.max_depth, self.min_samples_split, float(self.min_impurity_decrease))

    def _take_tree(self, tree: GeneralTree) -> None:
        """Make a tree the model: the grown one, or one that was pruned."""
        self.tree_ = tree

    def apply(self, X) -> np.ndarray:
        """The leaf that each row falls into (the greatest part of it, where it is divided).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes.
        """
        return self._each_block(self.tree_.apply, X)

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

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        leaves = max(n_rows // self.min_samples_leaf, 1)
        if self.max_depth is not None:
            leaves = min(leaves, 2 ** min(self.max_depth, 60))
        if self._target == "classes":
            leaves = int(CLASS_LEAVES * leaves)
        copy, search = 8 * n_rows * n_columns, 250 * n_rows + 2**21
        return copy + search + BYTES_PER_NODE * leaves

    def _memory_remedy(self) -> str:
        return "Limit the tree by max_depth or min_samples_leaf, or use fewer rows."

    def _check_loaded(self) -> None:
        if not hasattr(self, "tree_"):
            return
        asked = [self.tree_.questions, self.tree_.surrogates]
        widths = {each.directions.shape[1] for each in asked if len(each.directions)}
        if any(each.feature.max(initial=-1) >= self._n_columns for each in asked) or (
            widths - {self._n_columns}
        ):
            raise ValueError("a tree tests a column that the model does not have")


class FlexibleTree(OneGeneralTree):
    """What both flexible trees share."""

    split: str
    categories: str
    n_tries: int | None
    max_thresholds: int | None
    missing: str
    max_surrogates: int
    max_features: int | float | str | None
    _stored = {
        "feature_importances_": Array("f8", ("n_columns",)),
    }

    def _finder(self, sample: CountedRows, levels: np.ndarray, impurity: Impurity) -> Finder:
        missing_is_value = self.missing == "category"
        if self.split == "random":
            categories = self.categories if self.categories != "ordering" else "value"
            return RandomSplit(impurity, categories, missing_is_value, self._least(sample))
        return BestOfColumns(
            impurity,
            self.categories,
            missing_is_value,
            self._least(sample),
            self.n_tries,
            self.max_thresholds,
            columns_per_node(self.max_features, len(levels)),
            by_ratio=getattr(self, "criterion", None) == "gain_ratio",
        )

    def _limits(self) -> Limits:
        return Limits(
            self.max_depth,
            self.min_samples_split,
            float(self.min_impurity_decrease),
            self.missing,
            self.max_surrogates,
        )

    def _take_tree(self, tree: GeneralTree) -> None:
        super()._take_tree(tree)
        self.feature_importances_ = normalized(tree.importances(self._n_columns))


@method(
    task="classify",
    texts="000a 2.2 · 001 11.3-11.4 · 003 2.3 · 004 6.1",
    use="A tree by the rules of CART, C4.5 or ID3: costs, surrogates, multiway splits ...",
    avoid="Speed or many rows count: DecisionTreeClassifier grows a plain tree much faster.",
    peers=("R rpart", "Weka J48", "sklearn.tree.DecisionTreeClassifier"),
)
@shared_parameters(GENERAL_PARAMETERS)
class FlexibleTreeClassifier(FlexibleTree, Classifier):
    """A classification tree with a choice of impurity, kind of split and rule for missing cells.

    Use it to grow a tree by the rules of a given school: CART (Gini, surrogates, costs), C4.5 (gain
    ratio, multiway splits, divided rows), or a random tree for an ensemble. Not for speed: plain
    NumPy, some ten thousand rows a second. At each node the question with the greatest saving
    W I - sum_b W_b I_b is taken, over the rows whose cell is there; a node is divided while it is
    impure, also by a question that saves nothing (that is how exclusive-or is learnt), unless
    `min_impurity_decrease` forbids it. Texts: 000a 2.2, 001 11.3-11.4, 003 2.3, 004 6.1.

    Where the texts leave things open: an empty branch takes its parent's shares; equal savings go
    to the first column; a threshold lies half-way between the values that it parts, a random pivot
    on the value itself (below it to the left). With more than two classes no ordering of the levels
    is known to hold the best division: up to ten levels all divisions are tried, beyond that those
    along the first principal component of the class shares. A matrix of costs has no effect on the
    Gini index of two classes (001 11.4), so there the classes are weighted by their costs.

    For several labels at once (multi-label) fit `FlexibleTreeRegressor` on their 0/1 columns: the
    sum of their variances is half the sum of their Gini indices, and the leaf means are the shares.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio", "misclassification"}, default="gini"
        The impurity. "gain_ratio": entropy saved over the entropy of the split itself, among the
        columns of at least average saving; keeps off columns with a value per row.
    smoothing : float, default=0.0
        Laplace smoothing of the entropy: so many more rows, evenly divided over the classes.
    categories : {"ordering", "exhaustive", "coin_flips", "value", "multiway"}, default="ordering"
        Which divisions of the levels are tried: the best two sets, found by ordering; all; random
        sets; one level against the rest; one branch per level. Two branches are the default, since
        many branches leave few rows in each.
    max_thresholds : int, default=None
        Thresholds tried per column: midpoints of the values of so many and one rows drawn at
        random; None for all midpoints.
    missing : {"fractional", "surrogate", "category"}, default="fractional"
        Divide a row over the branches by their shares; send it as the best similar question about
        another column would; or take "missing" as one more value, which a split may use.
    loss_matrix : array-like of shape (n_classes, n_classes), default=None
        Cost of calling class k (row) class m (column), in the order of the sorted classes. Splits
        use the Gini index with costs (two classes: the classes weighted), and the class of least
        expected cost is predicted.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : GeneralTree
        The nodes as arrays; `gnomon.trees.export_text` prints them.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    loss_matrix_ : ndarray of shape (n_classes, n_classes)
        The costs, where they were given.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    DecisionTreeClassifier : Plain trees, much faster.

    Examples
    --------
    >>> from gnomon.trees import FlexibleTreeClassifier, export_text
    >>> rows, y = [[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    >>> print(export_text(FlexibleTreeClassifier("entropy").fit(rows, y)))
    all: 4 rows, a 50%, b 50%
    ├─ x0 <= 5: 2 rows, a
    └─ x0 > 5: 2 rows, b
    """

    _parameter_constraints = {
        "criterion": [StrOptions({"gini", "entropy", "gain_ratio", "misclassification"})],
        "smoothing": [at_least(0)],
        "loss_matrix": [None, "array-like"],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **FLEXIBLE_CONSTRAINTS,
    }

    _stored = {"loss_matrix_": Optional(Array("f8", ("n_classes", "n_classes")) | None)}

    def __init__(
        self,
        criterion="gini",
        *,
        smoothing=0.0,
        split="best",
        categories="ordering",
        n_tries=None,
        max_thresholds=None,
        missing="fractional",
        max_surrogates=5,
        loss_matrix=None,
        max_features=None,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        random_state=None,
    ):
        self.criterion = criterion
        self.smoothing = smoothing
        self.split = split
        self.categories = categories
        self.n_tries = n_tries
        self.max_thresholds = max_thresholds
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.loss_matrix = loss_matrix
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.random_state = random_state

    def _impurity(self, sample: CountedRows) -> Impurity:
        if self.smoothing > 0 and self.criterion not in ("entropy", "gain_ratio"):
            raise ValueError(
                f"smoothing={self.smoothing:g} smooths the entropy and criterion is "
                f'"{self.criterion}"; use criterion="entropy", or smoothing=0'
            )
        vars(self).pop("loss_matrix_", None)
        costs = None
        if self.loss_matrix is not None:
            costs = self.loss_matrix_ = checked_costs(self.loss_matrix, self.classes_)
            if len(costs) > 2 and self.criterion != "gini":
                raise ValueError(
                    "a loss_matrix of more than two classes changes the Gini index; "
                    f'use criterion="gini", not "{self.criterion}"'
                )
        return class_impurity(self.criterion, len(self.classes_), float(self.smoothing), costs)

    def _proba(self, rows):
        return self.tree_.predict(rows)

    def predict(self, X) -> np.ndarray:
        """The class, for each row: most probable, or of least expected cost.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        costs = getattr(self, "loss_matrix_", None)
        if costs is None:
            return super().predict(X)
        best = self._each_block(lambda rows: (self._proba(rows) @ costs).argmin(axis=1), X)
        return self.classes_[best]


def checked_costs(loss_matrix, classes: np.ndarray) -> np.ndarray:
    """A matrix of misclassification costs as an array, or an error that says what is wrong."""
    costs = np.array(loss_matrix, dtype=np.float64)
    k = len(classes)
    if costs.shape != (k, k):
        raise DataError(
            f"loss_matrix has shape {costs.shape} and there are {k} classes: give one row per true "
            f"class and one column per predicted class, in the order {classes.tolist()}"
        )
    if not np.isfinite(costs).all() or (costs < 0).any() or np.diag(costs).any():
        raise DataError(
            "loss_matrix must hold costs that are zero or more, and zero on the diagonal "
            "(a right answer costs nothing)"
        )
    if not costs.any(axis=1).all():
        raise DataError(
            f"loss_matrix: mistaking class {classes[int(np.argmin(costs.any(axis=1)))]!r} costs "
            "nothing, so that it never needs to be distinguished; give it a cost or leave it out"
        )
    return costs


@method(
    task="regress",
    texts="001 11.2 · 003 2.3 · 004 6.1",
    use="A regression tree with surrogates, divided rows, multiway or random splits.",
    avoid="Speed or many rows count: DecisionTreeRegressor grows a plain tree much faster.",
    peers=("R rpart", "sklearn.tree.DecisionTreeRegressor"),
)
@shared_parameters(GENERAL_PARAMETERS)
class FlexibleTreeRegressor(FlexibleTree, Regressor):
    """A regression tree with a choice of kind of split and rule for missing cells.

    Use it where a tree must treat missing cells or categories by a given rule; not for speed. Takes
    the split that saves most squared error. Several targets are fitted by one tree, and 0/1
    targets make it a multi-label classification tree by the summed Gini index. All else as in
    `FlexibleTreeClassifier`. Texts: 001 11.2, 003 2.3, 004 6.1.

    Parameters
    ----------
    categories : {"ordering", "exhaustive", "coin_flips", "value", "multiway"}, default="ordering"
        Which divisions of the levels are tried; see `FlexibleTreeClassifier`.
    max_thresholds : int, default=None
        Thresholds tried per column, of values drawn at random; None for all midpoints.
    missing : {"fractional", "surrogate", "category"}, default="fractional"
        Divide a row over the branches; send it by a similar question; take it as a value.

    Attributes
    ----------
    tree_ : GeneralTree
        The nodes as arrays; `gnomon.trees.export_text` prints them.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import FlexibleTreeRegressor
    >>> rows, y = [[1.0], [2.0], [8.0], [9.0]], [1.0, 1.0, 5.0, 5.0]
    >>> model = FlexibleTreeRegressor(min_samples_leaf=1).fit(rows, y)
    >>> model.predict([[3.0], [7.0]])
    array([1., 5.])
    """

    _many_targets = True
    _parameter_constraints = dict(FLEXIBLE_CONSTRAINTS)
    _stored = {
        "_one_target": Flag(),
    }

    def __init__(
        self,
        *,
        split="best",
        categories="ordering",
        n_tries=None,
        max_thresholds=None,
        missing="fractional",
        max_surrogates=5,
        max_features=None,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=5,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        random_state=None,
    ):
        self.split = split
        self.categories = categories
        self.n_tries = n_tries
        self.max_thresholds = max_thresholds
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        super()._fit(data)
        self._one_target = data.y.ndim == 1

    def _estimate(self, rows):
        values = self.tree_.predict(rows)
        return values[:, 0] if self._one_target else values
