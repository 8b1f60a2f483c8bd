"""Random forests: many trees, each on a bootstrap sample, each node looking at a few columns drawn
at random.

The forest's answer is the mean of the trees' (class shares, or numbers). Trees that differ err
differently, and the mean errs less: with trees of variance s^2 and correlation r, the mean of B
trees has variance r s^2 + (1 - r) s^2 / B. The rows that a tree was not grown on test it for free
(out-of-bag).

Texts: 000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.ensemble as peer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Classifier, Data, Regressor, Takes
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.estimate import check_level
from gnomon.contract.inert import without_effect
from gnomon.engine.draw import MOST_REPETITIONS, WeightedDraw, canonical_order
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, HISTORY, Interval, StrOptions, Words, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, ListOf, Number, Object, Optional, Whole
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.trees.decision_tree import (
    EXACT_PARAMETERS,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    refuse_negative,
)
from gnomon.trees.exact import LARGEST, EqualRows, ExactRows, criterion_of, grow_exact
from gnomon.trees.grower import (
    BYTES_PER_BIN,
    Statistics,
    bootstrap_counts,
    class_statistics,
    grow_tree,
    histogram_slots,
)
from gnomon.trees.importance import PermutationImportance, correlated_columns
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
from gnomon.trees.naming import names_of_columns
from gnomon.trees.outputs import ManyClasses
from gnomon.trees.pruning import pruned_tree
from gnomon.trees.random_splits import grow_random
from gnomon.trees.tree import LEAF, Tree

BLOCK = 4096  # rows of a block that is predicted: a copy that stays in the cache
# One tree from a pair of seeds, and which rows its bootstrap sample left out.
Growth = Callable[[np.ndarray], "tuple[Tree, np.ndarray | None]"]
# Texts of parameters that classes here share, for their docstrings.
FOREST_PARAMETERS = """\
n_estimators : int
    Number of trees.
max_depth : int
    Most questions on a path; None for no limit.
min_samples_split : int or float
    Least rows in a node that is split; a float is a share of the sample.
min_samples_leaf : int or float
    Least rows in a leaf; a float is a share of the sample.
min_weight_fraction_leaf : float
    Least share of the total weight in a leaf.
max_features : int, float, {"sqrt", "log2"} or None
    Columns looked at in a node, drawn at random: a number, a share, or None for all.
max_leaf_nodes : int
    Grow best-first up to so many leaves; None for no limit.
min_impurity_decrease : float
    Least saving of a split, per unit of the total weight.
bootstrap : bool
    Grow each tree on a bootstrap sample; else on all rows.
oob_score : bool or callable
    Compute the out-of-bag accuracy, or the score of ``oob_score(y_true, y_pred)``.
n_jobs : int
    Threads; None for one per processor.
random_state : int, RandomState or None
    Of the samples and the draws of columns.
warm_start : bool
    Keep the trees of the last fit and add to them up to ``n_estimators``.
class_weight : {"balanced", "balanced_subsample"}, dict or list of dict
    Factors of the rows' weights by class; "balanced_subsample" by each tree's sample.
ccp_alpha : float
    Cost-complexity pruning of each tree: what a leaf costs, per unit of the total weight.
max_samples : int or float
    Draws of a bootstrap sample: a number, a share of the rows, or None for as many as rows.
monotonic_cst : array-like of int of shape (n_features,)
    1: the prediction must not fall with the column (for two classes: the probability of the
    second), -1: it must not rise, 0: no constraint. The trees are then grown exactly.
voting : {"shares", "trees", "rows"}
    What a leaf adds: its class shares; one vote for its commonest class (of equals the first);
    or one vote of each training row in it for its own class, so that great leaves count more.
oob_importance : int
    How often each column is shuffled among the rows that a tree was not grown on, to see how
    much worse the tree gets (``oob_importances_``); 0 for not at all.
keep_history : {"objective", "full"}
    What ``history_`` keeps of every tree: "full" also its size.
"""
# Texts of attributes that classes here share, for their docstrings.
FOREST_ATTRIBUTES = """\
classes_ : ndarray of shape (n_classes,)
    The classes, sorted.
estimators_ : list of DecisionTreeClassifier
    The trees as single decision trees.
trees_ : list of Tree
    The trees as arrays.
feature_importances_ : ndarray of shape (n_columns,)
    Savings by column, adding up to one. Biased towards columns of many values, and seen on the
    training rows; ``oob_importance`` is not.
oob_importances_ : PermutationImportance
    Rise of the error out of bag when a column is shuffled; only with ``oob_importance``.
oob_score_ : float
    Accuracy on rows left out by the trees that are asked; only with ``oob_score=True``.
oob_decision_function_ : ndarray of shape (n_samples, n_classes)
    Class shares from those trees; NaN for rows that every tree was grown on. Only with
    ``oob_score=True``.
history_ : History
    Mean impurity of the leaves after each tree.
n_features_in_ : int
    Number of columns seen in ``fit``.
oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    Answers of those trees; NaN for rows that every tree was grown on. Only with
    ``oob_score=True``.
oob_errors_ : ndarray of shape (n_asked, n_targets)
    Sizes of their errors, of the rows that a tree can be asked about, which
    `predict_interval` uses. Only with ``oob_score=True``.
"""


class Bootstrap:
    """Bootstrap samples of rows that depend neither on the rows' order nor on weight versus
    repetition.

    Whole weights are repetitions: as many draws as their sum, each from the rows written out. Other
    weights are shares: as many draws as rows, in proportion to the weights.
    """

    def __init__(self, data: Data, max_samples: int | float | None = None):
        self.n_rows = data.n_rows
        self.order = canonical_order(data.rows, data.y)
        self.weights = data.weights
        self.tickets = self._tickets()
        self.n_draws = draws_of(max_samples, self.n_tickets)

    def _tickets(self) -> np.ndarray | None:
        """Repetitions of each row in canonical order, where weights are whole."""
        if self.weights is None:
            return None
        whole_numbers = (self.weights == np.rint(self.weights)).all()
        if whole_numbers and self.weights.sum() <= MOST_REPETITIONS * self.n_rows:
            return self.weights[self.order].astype(np.int64)
        return None

    @property
    def n_tickets(self) -> int:
        """Rows to draw from, each as often as a whole weight says."""
        return self.n_rows if self.tickets is None else int(self.tickets.sum())

    def counts(self, seed: int) -> np.ndarray:
        """How often each row is drawn: int32 (n_rows,)."""
        if self.weights is not None and self.tickets is None:
            draw = WeightedDraw(self.order)
            drawn = draw(self.weights, np.random.default_rng(seed), self.n_draws)
            return np.bincount(drawn, minlength=self.n_rows).astype(np.int32)
        counts = bootstrap_counts(self.n_tickets, self.n_draws, seed)
        if self.tickets is not None:
            starts = np.cumsum(self.tickets) - self.tickets
            counts = np.add.reduceat(counts, starts).astype(np.int32)
        by_row = np.empty(self.n_rows, np.int32)
        by_row[self.order] = counts
        return by_row


def draws_of(max_samples: int | float | None, n_rows: int) -> int:
    """Number of draws of a bootstrap sample: all rows, a number, or a share of them."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, float):
        return max(round(n_rows * max_samples), 1)
    return int(max_samples)


class Drawn(NamedTuple):
    """What the rows of each tree are computed from again."""

    bootstrap: Bootstrap | None
    seeds: np.ndarray
    n_rows: int
    kept: np.ndarray | None

    def rows_of(self, tree: int) -> np.ndarray:
        """Positions of a tree's rows among those given, each as often as it was drawn."""
        rows = np.arange(self.n_rows) if self.kept is None else np.flatnonzero(self.kept)
        if self.bootstrap is not None:
            rows = np.repeat(rows, self.bootstrap.counts(int(self.seeds[tree])))
        return rows.astype(np.int32)


class ManyTrees(GrowsTrees):
    """A learner whose model is a forest."""

    _transient = ("_packed", "_members", "_samples")
    _splitter = "best"
    _member: ClassVar[type]

    n_estimators: int
    criterion: str
    bootstrap: bool
    oob_score: bool | Callable
    oob_importance: int
    warm_start: bool
    ccp_alpha: float
    max_samples: int | float | None
    monotonic_cst: Any
    random_state: Any
    trees_: list[Tree]
    _stored = {
        "_is_exact": Optional(Flag()),
        "_n_columns": Whole(1),
        "_n_outputs": Whole(1),
        "feature_importances_": Array("f8", ("n_columns",)),
        "oob_importances_": Optional(Object(("PermutationImportance",))),
        "trees_": ListOf(Object(("Tree",)), "n_estimators"),
    }

    def _most_steps(self) -> int:
        return self.n_estimators

    def _fit(self, data: Data) -> None:
        self._check_bootstrap()
        before = self._trees_before()
        for name in ("oob_importances_", "oob_errors_"):
            vars(self).pop(name, None)
        self._is_exact = self._must_be_exact(data)
        self._n_columns = data.n_columns
        seeds = self._rng().integers(2**63, size=(self.n_estimators, 2))
        bootstrap = Bootstrap(data, self.max_samples) if self.bootstrap else None
        make_growth = self._exact_growth if self._is_exact else self._histogram_growth
        self._samples = Drawn(bootstrap, seeds[:, 0], data.n_rows, data.kept)
        grow = make_growth(data, bootstrap)
        course = self._course("tree", self.n_estimators)
        grown = in_order(grow, seeds[len(before) :], self.n_jobs, anywhere=True)
        trees: list[Tree] = []
        out_of_bag = OutOfBag(data, self._as_grown) if self.oob_score else None
        impurity = 0.0
        for step in course:
            tree, left_out = (
                (before[step], self._left_out(bootstrap, seeds[step]))
                if step < len(before)
                else next(grown)
            )
            trees.append(tree)
            if out_of_bag is not None and left_out is not None:
                out_of_bag.add(self._voting(tree), left_out)
            impurity += leaf_impurity(tree)
            if course.end_step(impurity / len(trees), state=partial(shape_of, tree)):
                break
        grown.close()
        self.trees_ = trees
        self._pack()
        self._n_outputs = trees[0].n_outputs
        self.feature_importances_ = self._mean_importances(data.n_columns)
        self.history_ = course.history
        if out_of_bag is not None:
            tell_unasked(out_of_bag.n_trees, "tree")
            self._keep_out_of_bag(out_of_bag, data)
        if bootstrap and self.oob_importance:
            self.oob_importances_ = self._permuted(data, bootstrap, seeds)

    def _check_bootstrap(self) -> None:
        for name in ("oob_score", "oob_importance"):
            if getattr(self, name) and not self.bootstrap:
                raise ValueError(
                    f"Out of bag estimation only available if bootstrap=True: {name}="
                    f"{getattr(self, name)} needs rows that are left out"
                )
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                "`bootstrap=True` or set `max_sample=None`."
            )

    def _trees_before(self) -> list[Tree]:
        """The trees of an earlier fit that ``warm_start`` keeps."""
        before = vars(self).get("trees_", []) if self.warm_start else []
        if len(before) > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(before)} when warm_start==True"
            )
        if before and len(before) == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=2,
            )
        return before

    @staticmethod
    def _left_out(bootstrap: Bootstrap | None, seed: np.ndarray) -> np.ndarray | None:
        return None if bootstrap is None else bootstrap.counts(int(seed[0])) == 0

    def _must_be_exact(self, data: Data) -> bool:
        """Whether the parameters ask for what histograms cannot do."""
        needed = (
            self._splitter == "random"
            or self.criterion not in {*HISTOGRAM_CRITERIA, "log_loss"}
            or self.monotonic_cst is not None
            or (self._target == "classes" and data.y.ndim == 2)
        )
        if needed and data.columns.is_category.any():
            raise ValueError(
                f"this {type(self).__name__} needs columns of numbers, and the table has "
                "categories: encode them first, or take the default criterion without constraints"
            )
        return needed

    def _histogram_growth(self, data: Data, bootstrap: Bootstrap | None) -> Growth:
        factors = self._factors(data)
        if bootstrap:
            statistics = self._statistics(data, factors, bootstrap.n_draws)
            mean_factor = 1.0 if factors is None else np.average(factors, weights=data.weights)
            total_weight = float(bootstrap.n_draws * mean_factor)
            n_rows = bootstrap.n_draws
        else:
            weights = data.weights if factors is None else data.weight_array * factors
            statistics = self._statistics(data, weights, None)
            total_weight = float(data.n_rows if weights is None else weights.sum())
            n_rows = data.n_rows
        binned = self._binned(data)
        rules = self._rules(n_rows, data.n_columns, total_weight)

        def grow(seed) -> tuple[Tree, np.ndarray | None]:
            counts = bootstrap.counts(int(seed[0])) if bootstrap else None
            drawn = statistics if counts is None else self._drawn(statistics, data, counts)
            tree = grow_tree(binned, drawn, rules, counts, int(seed[1]))
            if self.ccp_alpha > 0:
                tree = pruned_tree(tree, self.ccp_alpha)
            return tree, None if counts is None else counts == 0

        return grow

    def _drawn(self, statistics: Statistics, data: Data, counts: np.ndarray) -> Statistics:
        """The statistics for one bootstrap sample, where they depend on it."""
        return statistics

    def _exact_growth(self, data: Data, bootstrap: Bootstrap | None) -> Growth:
        groups = EqualRows(data)
        rows = ExactRows.of(data.rows[groups.first])
        y = data.y[groups.first]
        factors = self._factors(data)
        given = {name: getattr(self, name) for name in EXACT_PARAMETERS if name != "splitter"}
        given |= {"criterion": criterion_of(self.criterion), "splitter": self._splitter}
        if self.criterion == "poisson":
            refuse_negative(data.y)

        def by_scikit_learn(weights, seed: int) -> Tree:
            learner = self._new_member()._peer(**given, random_state=seed % 2**31)
            return grow_exact(learner, rows, y, weights)

        drawn = self._random_growth(rows, y)

        def grow(seed) -> tuple[Tree, np.ndarray | None]:
            counts = bootstrap.counts(int(seed[0])) if bootstrap else None
            weights = data.weights if counts is None else counts.astype(np.float64)
            if factors is not None:
                weights = factors if weights is None else weights * factors
            tree = (drawn or by_scikit_learn)(groups.total(weights), int(seed[1]))
            return tree, None if counts is None else counts == 0

        return grow

    def _random_growth(self, rows: ExactRows, y: np.ndarray) -> Callable | None:
        """A tree of random thresholds from weights and a seed; None where scikit-learn grows it."""
        n_classes = len(self.classes_) if self._target == "classes" and y.ndim == 1 else 0
        if (
            self._splitter != "random"
            or self.criterion not in {"gini", "entropy", "log_loss", "squared_error"}
            or self.monotonic_cst is not None
            or self.max_leaf_nodes is not None
            or rows.has_missing is not None
            or sp.issparse(rows.rows)
            or y.ndim > 1
            or n_classes > np.iinfo(np.uint16).max
        ):
            return None
        columns = np.ascontiguousarray(rows.rows.T)
        targets = y.astype(np.uint16 if n_classes else np.float64)
        d, n_rows = columns.shape

        def grow(weights: np.ndarray | None, seed: int) -> Tree:
            total = float(n_rows if weights is None else weights.sum())
            limits = self._rules(n_rows, d, total)
            tree = grow_random(columns, targets, weights, n_classes, limits, seed)
            return pruned_tree(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

        return grow

    def _mean_importances(self, n_columns: int) -> np.ndarray:
        """Importances of the trees that split, each adding up to one, averaged."""
        shares = [
            normalized(tree.importances(n_columns)) for tree in self.trees_ if tree.n_nodes > 1
        ]
        return normalized(np.mean(shares, axis=0)) if shares else np.zeros(n_columns)

    @property
    def estimator(self) -> Any:
        """What a tree is, not fitted."""
        return self._new_member()

    @property
    def estimator_(self) -> Any:
        """What a tree is, not fitted."""
        check_is_fitted(self)
        return self._new_member()

    def _new_member(self) -> Any:
        names = inspect.signature(self._member).parameters
        given = {name: getattr(self, name) for name in names if name in vars(self)}
        return self._member(**given | {"splitter": self._splitter, "n_jobs": None})

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of each tree, as often as they were drawn; not in a model file."""
        drawn = vars(self).get("_samples")
        if drawn is None:
            raise AttributeError("estimators_samples_ is known after fit, until the model is saved")
        return [drawn.rows_of(tree) for tree in range(len(self.trees_))]

    @property
    def estimators_(self) -> list:
        """The trees as single decision trees; those of classes predict numbers of classes."""
        if "trees_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'estimators_'")
        members = vars(self).get("_members")
        if members is None or members[0] is not self.trees_:
            members = self._members = (self.trees_, [self._as_member(t) for t in self.trees_])
        return members[1]

    def _as_member(self, tree: Tree) -> Any:
        made = self._new_member()
        made.random_state = None
        made._is_exact = self._is_exact
        made._n_columns, made._n_outputs = self._n_columns, self._n_outputs
        made.n_features_in_ = self._n_columns
        made.max_features_ = columns_per_node(self.max_features, self._n_columns) or self._n_columns
        made._take_tree(tree)
        return made

    def __len__(self) -> int:
        return len(self.trees_)

    def __getitem__(self, index):
        return self.estimators_[index]

    def __iter__(self):
        return iter(self.estimators_)

    def decision_path(self, X) -> tuple[sp.csr_matrix, np.ndarray]:
        """The nodes that each row passes in all trees.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        passed : csr_matrix of shape (n_samples, n_nodes)
            1 where a row passes a node; the trees side by side.
        first_nodes : ndarray of shape (n_trees + 1,)
            Tree t has the columns first_nodes[t] to first_nodes[t + 1] - 1.
        """
        leaves = self.apply(X)
        parts = []
        for t, tree in enumerate(self.trees_):
            starts, nodes = tree.paths_to(leaves[:, t])
            shape = (len(leaves), tree.n_nodes)
            parts.append(sp.csr_matrix((np.ones(len(nodes), np.int64), nodes, starts), shape))
        first = np.cumsum([0] + [tree.n_nodes for tree in self.trees_])
        return sp.hstack(parts, format="csr"), first

    def _permuted(self, data: Data, bootstrap: Bootstrap, seeds: np.ndarray):
        """What shuffling each column costs on the rows that a tree was not grown on."""
        rows = np.ascontiguousarray(self._as_grown(data.rows), dtype=np.float64)

        def of_tree(each) -> tuple[float, np.ndarray, float]:
            tree, seed = each
            places = bootstrap.order[(bootstrap.counts(int(seed[0])) == 0)[bootstrap.order]]
            rng = np.random.default_rng([*seed.tolist(), 1])
            return self._permuted_tree(tree, rows[places], data, places, rng)

        parts = list(in_order(of_tree, list(zip(self.trees_, seeds)), self.n_jobs))
        asked = [(before, after) for before, after, weight in parts if weight > 0]
        if not asked:
            raise ValueError(
                f"oob_importance={self.oob_importance} needs rows that a tree was not grown on, "
                f"and all {data.n_rows} were drawn by each tree; give more rows or trees"
            )
        intact = np.array([before for before, _ in asked])
        return PermutationImportance(
            names_of_columns(self),
            np.array([after for _, after in asked]) - intact[:, None, None],
            float(intact.mean()),
            "misclassification" if self._target == "classes" else "squared error",
            correlated_columns(rows, names_of_columns(self)),
        )

    def _permuted_tree(self, tree: Tree, rows, data: Data, places, rng):
        """Loss of a tree on its rows left out, the same by column and repeat, and their weight."""
        weights = data.weight_array[places]
        after = np.zeros((data.n_columns, self.oob_importance))
        if weights.sum() == 0:
            return 0.0, after, 0.0
        y = data.y[places]
        before = self._loss_of_tree(tree, rows, y, weights)
        after[:] = before
        for j in np.unique(tree.feature[tree.feature >= 0]):
            kept = rows[:, j].copy()
            for repeat in range(self.oob_importance):
                rows[:, j] = rng.permutation(kept)
                after[j, repeat] = self._loss_of_tree(tree, rows, y, weights)
            rows[:, j] = kept
        return before, after, float(weights.sum())

    def _loss_of_tree(self, tree: Tree, rows, y, weights) -> float:
        raise NotImplementedError

    def _voting(self, tree: Tree) -> Tree:
        """The tree with values as they are added up over the forest."""
        return tree

    def _voting_trees(self) -> list[Tree]:
        return [self._voting(tree) for tree in self.trees_]

    def predict_each(self, X) -> np.ndarray:
        """What every tree says by itself: the spread behind the forest's answer.

        The shares of trees that say a class are its probability by votes. The spread of numbers
        tells how much trees differ; it is no interval for a new row (of 95% bands of it 75 to 90%
        hold one), which `predict_interval` gives. Text: 004 6.2.
        `gnomon.ensemble.member_distribution` gives shares, means and quantiles of it.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        said : ndarray of shape (n_samples, n_trees) or (n_samples, n_trees, n_targets)
            Classes, or numbers.
        """
        leaves = self.apply(X)
        values = [tree.value[leaves[:, t]] for t, tree in enumerate(self.trees_)]
        return self._answers(np.stack(values, axis=1))

    def _answers(self, values: np.ndarray) -> np.ndarray:
        """Answers of the trees from the values of their leaves (n_rows, n_trees, n_outputs)."""
        raise NotImplementedError

    def proximity(self, X, others=None) -> np.ndarray:
        """How alike rows are to the forest: the share of the trees in which two fall into one leaf.

        Use it as a similarity for maps, groups and outliers where columns have no common unit.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        others : array-like, data frame or Table, default=None
            The rows to compare with; by default X itself.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_others)
        """
        one = self._leaf_indicators(X)
        other = one if others is None else self._leaf_indicators(others)
        return np.asarray((one @ other.T).todense()) / len(self.trees_)

    def _leaf_indicators(self, X) -> sp.csr_matrix:
        """One column per node of the forest, 1 at the leaves of a row."""
        leaves = self.apply(X)
        first = np.cumsum([0] + [tree.n_nodes for tree in self.trees_])
        columns = (leaves + first[:-1]).ravel()
        starts = np.arange(0, columns.size + 1, leaves.shape[1])
        return sp.csr_matrix((np.ones(columns.size), columns, starts), (len(leaves), first[-1]))

    def _factors(self, data: Data) -> np.ndarray | None:
        """Factors of the rows' weights beside the weights themselves, which are drawn by."""
        return None

    def _keep_out_of_bag(self, out_of_bag: OutOfBag, data: Data) -> None:
        """Set the attributes that out-of-bag answers give."""
        raise NotImplementedError

    def _all_trees(self) -> list[Tree]:
        return self.trees_

    def _mean_of_trees(self, rows) -> np.ndarray:
        return self._sum_of_trees(rows) / len(self.trees_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        drawn = 0.64 if self.bootstrap else 1.0
        nodes = self._n_nodes_likely(int(n_rows * drawn) + 1)
        threads_growing = 3 * BYTES_PER_NODE * nodes
        return int(
            self._growing_memory(n_rows, n_columns)
            + self._open_histograms(n_rows, n_columns)
            + threads_growing
            + self.n_estimators * 0.6 * BYTES_PER_NODE * nodes
        )

    def _open_histograms(self, n_rows: int, n_columns: int) -> int:
        """Histograms of the nodes that each thread has open, where nodes try all columns."""
        if self._splitter == "random":
            return 0
        tried = columns_per_node(self.max_features, n_columns)
        n_sums = 2  # of values, or of two classes: how many there are is not known before the fit
        slots = histogram_slots(
            n_rows, n_columns, n_sums, self.max_leaf_nodes, tried is None or tried >= n_columns
        )
        return resolve_jobs(self.n_jobs) * slots * 256 * BYTES_PER_BIN * n_sums * n_columns


class OutOfBag:
    """Sums of the answers of trees for rows that they were not grown on."""

    def __init__(self, data: Data, as_grown: Callable):
        self.rows = data.rows
        self.as_grown = as_grown
        self.sums = np.zeros((data.n_rows, 0))
        self.n_trees = np.zeros(data.n_rows)

    def add(self, tree: Tree, left_out: np.ndarray) -> None:
        if not self.sums.shape[1]:
            self.sums = np.zeros((len(self.sums), tree.n_outputs))
        places = np.flatnonzero(left_out)
        for start in range(0, len(places), BLOCK):
            block = places[start : start + BLOCK]
            rows = self.rows[block]
            rows = np.ascontiguousarray(self.as_grown(rows), dtype=np.float64)
            self.sums[block] += tree.predict(rows)
        self.n_trees[places] += 1

    @property
    def answers(self) -> np.ndarray:
        """Mean answers; NaN for rows that every tree was grown on."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.n_trees[:, None]

    def for_all_rows(self, kept: np.ndarray | None) -> np.ndarray:
        """Mean answers for the rows as given; NaN also for those of weight zero."""
        if kept is None:
            return self.answers
        everyone = np.full((len(kept), self.sums.shape[1]), np.nan)
        everyone[kept] = self.answers
        return everyone


def tell_unasked(times: np.ndarray, member: str) -> None:
    """Say how many rows an out-of-bag score leaves out, as every member was fitted on them.

    Parameters
    ----------
    times : ndarray of shape (n_rows,)
        How many members were not fitted on each row.
    member : str
        What a member is called.
    """
    unasked = int((times == 0).sum())
    if unasked == len(times):
        raise ValueError(
            f"oob_score=True needs rows that a {member} was not fitted on, and all {unasked:,} "
            f"were drawn by each {member}; give more rows or {member}s"
        )
    if unasked:
        warnings.warn(
            f"{unasked:,} of {len(times):,} rows were drawn by every {member}, so that no "
            f"{member} can predict them out of bag: oob_score_ is of the others, and their answers "
            f"are NaN. More {member}s (n_estimators) leave fewer rows out",
            GnomonWarning,
            stacklevel=2,
        )


def shape_of(tree: Tree) -> dict[str, float]:
    """What a replay shows of a tree: its size and how pure its leaves are."""
    return {
        "n_leaves": float(tree.n_leaves),
        "depth": float(tree.max_depth),
        "leaf_impurity": leaf_impurity(tree),
    }


def leaf_impurity(tree: Tree) -> float:
    """Mean impurity of a tree's leaves, by weight."""
    leaves = tree.left == LEAF
    return float(tree.weight[leaves] @ tree.impurity[leaves] / tree.weight[0])


FOREST_CONSTRAINTS = {
    "n_estimators": [whole(1)],
    "bootstrap": FLAG,
    "oob_score": [*FLAG, callable],
    "warm_start": FLAG,
    "ccp_alpha": [at_least(0)],
    "max_samples": [None, Interval(RealNotInt, 0, None, closed="neither"), whole(1)],
    "monotonic_cst": ["array-like", None],
    "oob_importance": [whole(0)],
    "keep_history": HISTORY,
    **GROWTH_CONSTRAINTS,
}


class ForestClassifier(ManyTrees, ManyClasses):
    """What forests of classes share."""

    _member = DecisionTreeClassifier
    voting: str
    class_weight: Any
    _stored = {
        "oob_decision_function_": Optional(Array("f8", (None, "n_classes"), finite=False)),
        "oob_score_": Optional(Number()),
    }

    def _take_in(self, X, y, sample_weight) -> Data:
        if sp.issparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported.")
        data = super()._take_in(X, y, sample_weight)
        if self.oob_score and self.n_outputs_ > 1 and max(self.n_classes_) > 2:
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates: several columns with "
                f"more than two classes ({max(self.n_classes_)}). Set oob_score=False"
            )
        return data

    def _class_weights(self, totals: np.ndarray) -> None:
        """Class weights are no repetitions: they weigh the drawn rows (`_factors`)."""

    def _row_factors(self, y: np.ndarray, weights: np.ndarray | None) -> tuple[Any, Any]:
        if self.class_weight == "balanced_subsample":
            return None, None
        return super()._row_factors(y, weights)

    def _factors(self, data: Data) -> np.ndarray | None:
        if data.y.ndim == 2 or self.class_weight in (None, "balanced_subsample"):
            return None
        totals = np.bincount(data.y, data.weights, minlength=len(self.classes_))
        factors = Classifier._class_weights(self, totals)
        return None if factors is None else factors[data.y]

    def _drawn(self, statistics: Statistics, data: Data, counts: np.ndarray) -> Statistics:
        if self.class_weight != "balanced_subsample":
            return statistics
        totals = np.bincount(data.y, counts, minlength=len(self.classes_))
        factors = totals.sum() / (np.count_nonzero(totals) * np.maximum(totals, 1))
        return class_statistics(data.y, len(self.classes_), factors[data.y], int(counts.sum()))

    def _as_member(self, tree: Tree) -> Any:
        made = super()._as_member(tree)
        made.class_weight = None
        if isinstance(self.classes_, list):
            made.classes_ = [np.arange(float(len(each))) for each in self.classes_]
        else:
            made.classes_ = np.arange(float(len(self.classes_)))
        return made

    def _proba(self, rows):
        votes = self._sum_of_trees(rows)
        if isinstance(self.classes_, list):
            return votes / len(self.trees_)
        return votes / votes.sum(axis=1, keepdims=True)

    def _voting(self, tree: Tree) -> Tree:
        if self.voting == "rows":
            return dataclasses.replace(tree, value=tree.value * tree.weight[:, None])
        if self.voting == "trees":
            votes = np.eye(tree.n_outputs)[tree.value.argmax(axis=1)]
            return dataclasses.replace(tree, value=votes)
        return tree

    def _answers(self, values: np.ndarray) -> np.ndarray:
        return self.classes_[values.argmax(axis=2)]

    def _loss_of_tree(self, tree: Tree, rows, y, weights) -> float:
        wrong = tree.predict(rows).argmax(axis=1) != y
        return float(np.average(wrong, weights=weights))

    def _keep_out_of_bag(self, out_of_bag: OutOfBag, data: Data) -> None:
        everyone = out_of_bag.for_all_rows(data.kept)
        answers, answered = out_of_bag.answers, out_of_bag.n_trees > 0
        if isinstance(self.classes_, list):
            found = self._by_output(answers[answered])
            predicted = np.column_stack([each.argmax(axis=1) for each in found])
            width = everyone.shape[1] // self.n_outputs_
            shape = (len(everyone), self.n_outputs_, width)
            self.oob_decision_function_ = everyone.reshape(shape).transpose(0, 2, 1)
        else:
            predicted = answers[answered].argmax(axis=1)
            self.oob_decision_function_ = everyone
        truth = data.y[answered]
        if callable(self.oob_score):
            if not isinstance(self.classes_, list):
                truth, predicted = self.classes_[truth], self.classes_[predicted]
            self.oob_score_ = self.oob_score(truth, predicted)
        elif truth.ndim == 2:
            self.oob_score_ = float(np.mean((truth == predicted).all(axis=1)))
        else:
            weights = data.weight_array[answered]
            self.oob_score_ = float(accuracy_score(truth, predicted, sample_weight=weights))


@method(
    task="classify",
    texts="000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10",
    use="A strong first model on any table, without tuning.",
    avoid="The model must be read by people, be small, or answer beyond the seen range.",
    peers=("sklearn.ensemble.RandomForestClassifier", "lightgbm.LGBMClassifier(rf)"),
)
@without_effect("verbose")
@shared_parameters(FOREST_PARAMETERS)
@shared_attributes(FOREST_ATTRIBUTES)
class RandomForestClassifier(ForestClassifier):
    """The mean of many trees, each grown on a bootstrap sample with columns drawn at random in
    each node.

    Use it as a strong first model on any table: it needs no tuning, no scaling, and takes
    categories and missing cells as they are. Not where people must read the model, or where it
    must be small. The trees' leaves vote by their class shares; 000a 2.2.5 (Procedure 2.10) has two
    other rules, one vote per tree or one per training row, and none is always better. Whole weights
    are repetitions, other weights are shares of the draws. Columns are cut in at most 255 bins of
    equal weight; monotone constraints and targets of several columns are grown exactly, as in
    `DecisionTreeClassifier`. Texts: 000a 2.5.4, 001 9.5, 003 2.2.4, 004 10.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification", "log_loss"}, default="gini"
        The impurity; "log_loss" is another word for "entropy".

    Attributes
    ----------
    classes_, estimators_, trees_, feature_importances_, oob_importances_, oob_score_
    oob_decision_function_, history_, n_features_in_

    Examples
    --------
    >>> from gnomon.trees import RandomForestClassifier
    >>> rows = [[1.0, 7.0], [2.0, 1.0], [8.0, 3.0], [9.0, 5.0]]
    >>> model = RandomForestClassifier(50, random_state=0).fit(rows, ["a", "a", "b", "b"])
    >>> model.predict([[1.5, 4.0], [8.5, 4.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        "criterion": CLASS_CRITERION,
        "class_weight": [None, dict, list, StrOptions({"balanced", "balanced_subsample"})],
        "voting": [StrOptions({"shares", "trees", "rows"})],
        **FOREST_CONSTRAINTS,
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        voting="shares",
        oob_importance=0,
        keep_history="objective",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.oob_importance = oob_importance
        self.keep_history = keep_history


class ForestRegressor(ManyTrees, Regressor):
    """What forests of numbers share."""

    _many_targets = True
    _member = DecisionTreeRegressor
    _stored = {
        "oob_errors_": Optional(Array("f8", finite=False)),
        "_oob_weights": Optional(Array("f8")),
        "_one_target": Flag(),
        "oob_prediction_": Optional(Array("f8", (None,), finite=False)),
        "oob_score_": Optional(Number()),
    }

    @property
    def n_outputs_(self) -> int:
        """Number of columns of the target."""
        return self._n_outputs

    def _as_member(self, tree: Tree) -> Any:
        made = super()._as_member(tree)
        made._one_target = self._one_target
        return made

    def _fit(self, data: Data) -> None:
        self._one_target = data.y.ndim == 1
        super()._fit(data)

    def _estimate(self, rows):
        values = self._mean_of_trees(rows)
        return values[:, 0] if self._one_target else values

    def _answers(self, values: np.ndarray) -> np.ndarray:
        return values[:, :, 0] if self._one_target else values

    def _loss_of_tree(self, tree: Tree, rows, y, weights) -> float:
        gap = tree.predict(rows) - y.reshape(len(rows), -1)
        return float(np.average((gap * gap).mean(axis=1), weights=weights))

    def _keep_out_of_bag(self, out_of_bag: OutOfBag, data: Data) -> None:
        answered = out_of_bag.n_trees > 0
        answers = out_of_bag.answers[answered]
        y = data.y.reshape(data.n_rows, -1)[answered]
        if callable(self.oob_score):
            one = self._one_target
            self.oob_score_ = self.oob_score(*(v[:, 0] if one else v for v in (y, answers)))
        else:
            weights = data.weight_array[answered]
            self.oob_score_ = float(
                r2_score(y, answers, sample_weight=weights, multioutput="variance_weighted")
            )
        everyone = out_of_bag.for_all_rows(data.kept)
        self.oob_prediction_ = everyone[:, 0] if self._one_target else everyone
        self.oob_errors_ = np.abs(y - answers)
        self._oob_weights = data.weight_array[answered]

    def predict_interval(self, X, confidence_level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Intervals for new rows: the prediction plus and minus a quantile of out-of-bag errors.

        Out-of-bag conformal prediction (Johansson, Bostrom, Lofstrom and Linusson 2014): the errors
        of training rows, each by the trees that were not grown on it, stand for those of new rows.
        The intervals hold new rows that are like the training rows at their level, whatever the law
        of the noise (94 to 95% of 95% intervals, in 20 tables of each of six laws); all have the
        same width. Quantiles of the trees' own answers
        (`predict_each`) hold too few of them, as they leave the noise of a new row out.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        confidence_level : float, default=0.95

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Infinite where the training rows are too few for the level.
        """
        check_is_fitted(self)
        check_level(confidence_level)
        if not hasattr(self, "oob_errors_"):
            raise AttributeError("predict_interval needs errors out of bag: set oob_score=True")
        half = np.array([self._oob_quantile(each, confidence_level) for each in self.oob_errors_.T])
        middle = self.predict(X)
        half = half[0] if self._one_target else half
        return middle - half, middle + half

    def _oob_quantile(self, errors: np.ndarray, confidence_level: float) -> float:
        """The error that a new row exceeds in one less `confidence_level` of cases."""
        order = np.argsort(errors, kind="stable")
        counted = np.cumsum(self._oob_weights[order])
        wanted = confidence_level * (counted[-1] + counted[-1] / len(order))
        place = int(np.searchsorted(counted, wanted * (1 - 1e-12)))
        return float(errors[order[place]]) if place < len(order) else np.inf


@method(
    task="regress",
    texts="000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10",
    use="A strong first model on any table, without tuning.",
    avoid="The model must be read by people, be small, or answer beyond the seen range.",
    peers=("sklearn.ensemble.RandomForestRegressor",),
)
@without_effect("verbose")
@shared_parameters(FOREST_PARAMETERS)
@shared_attributes(FOREST_ATTRIBUTES)
class RandomForestRegressor(ForestRegressor):
    """The mean of many regression trees, each grown on a bootstrap sample.

    Use it as a strong first model on any table; not where people must read the model, where it must
    be small, or beyond the seen range. The prediction is the mean of the trees' numbers. Details
    as in `RandomForestClassifier`. Texts: 000a 2.5.4, 001 9.5, 003 2.2.4, 004 10.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        What a split saves. All but "squared_error" are grown exactly, and slowly.
    oob_score : bool or callable, default=False
        Compute the out-of-bag R2, or the score of ``oob_score(y_true, y_pred)``.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
        The trees as single decision trees.
    trees_, feature_importances_, oob_importances_
    oob_score_ : float
        R2 on rows left out by the trees that are asked; only with ``oob_score=True``. As in
        `score`, a target that does not vary gives 1 where it is met and 0 where not.
    oob_prediction_, oob_errors_
    history_ : History
        Mean variance of the leaves after each tree.
    n_features_in_

    Examples
    --------
    >>> from gnomon.trees import RandomForestRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = RandomForestRegressor(50, random_state=0).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> bool(model.predict([[1.5]])[0] < 2 < 4 < model.predict([[8.5]])[0])
    True
    """

    _parameter_constraints = {"criterion": VALUE_CRITERION, **FOREST_CONSTRAINTS}

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        oob_importance=0,
        keep_history="objective",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.oob_importance = oob_importance
        self.keep_history = keep_history


@method(
    task="classify",
    texts="000a 2.5.4 · 001 9.5",
    use="A forest whose trees differ more, at less cost per tree: columns of numbers, much noise.",
    avoid="The table has categories, or the model must be read by people.",
    peers=("sklearn.ensemble.ExtraTreesClassifier",),
    on="scikit-learn",
    synonyms=("extremely randomized trees",),
)
@without_effect("verbose")
@shared_parameters(FOREST_PARAMETERS)
@shared_attributes(FOREST_ATTRIBUTES)
class ExtraTreesClassifier(ForestClassifier):
    """The mean of many trees whose thresholds are drawn at random: classes from numbers.

    In each node one threshold is drawn per column looked at, uniformly between its least and
    greatest value, and the best of these is taken. The trees differ more than those of a random
    forest, so that their mean varies less, and each is biased a little more. Use it where columns
    are numbers and noise is strong; not for categories, which must be encoded first. Trees of
    sparse rows, missing values, several targets, constraints, other criteria or ``max_leaf_nodes``
    are grown by scikit-learn's builder. Texts: 000a 2.5.4, 001 9.5.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity; "log_loss" is another word for "entropy".

    Attributes
    ----------
    classes_, estimators_, trees_, feature_importances_, oob_importances_, oob_score_
    oob_decision_function_, history_, n_features_in_

    Examples
    --------
    >>> from gnomon.trees import ExtraTreesClassifier
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = ExtraTreesClassifier(50, random_state=0).fit(rows, ["a", "a", "b", "b"])
    >>> model.predict([[1.5], [8.5]]).tolist()
    ['a', 'b']
    """

    natively = Takes(missing=True, sparse=True)
    _splitter = "random"
    _largest = LARGEST
    _parameter_constraints = {
        "criterion": [Words({"gini", "entropy"}, {"log_loss": "entropy"})],
        "class_weight": [None, dict, list, StrOptions({"balanced", "balanced_subsample"})],
        "voting": [StrOptions({"shares", "trees", "rows"})],
        **FOREST_CONSTRAINTS,
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        voting="shares",
        oob_importance=0,
        keep_history="objective",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.oob_importance = oob_importance
        self.keep_history = keep_history


@method(
    task="regress",
    texts="000a 2.5.4 · 001 9.5",
    use="A forest whose trees differ more, at less cost per tree: columns of numbers, much noise.",
    avoid="The table has categories, or the model must be read by people.",
    peers=("sklearn.ensemble.ExtraTreesRegressor",),
    on="scikit-learn",
    synonyms=("extremely randomized trees",),
)
@without_effect("verbose")
@shared_parameters(FOREST_PARAMETERS)
@shared_attributes(FOREST_ATTRIBUTES)
class ExtraTreesRegressor(ForestRegressor):
    """The mean of many trees whose thresholds are drawn at random: numbers from numbers.

    In each node one threshold is drawn per column looked at, uniformly between its least and
    greatest value, and the best of these is taken. The trees differ more than those of a random
    forest, so that their mean varies less, and each is biased a little more. Use it where columns
    are numbers and noise is strong; not for categories, which must be encoded first. Trees of
    sparse rows, missing values, several targets, constraints, other criteria or ``max_leaf_nodes``
    are grown by scikit-learn's builder. Texts: 000a 2.5.4, 001 9.5.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
            default="squared_error"
        What a split saves. All but "squared_error" are grown exactly, and slowly.
    oob_score : bool or callable, default=False
        Compute the out-of-bag R2, or the score of ``oob_score(y_true, y_pred)``.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
        The trees as single decision trees.
    trees_, feature_importances_, oob_importances_
    oob_score_ : float
        R2 on rows left out by the trees that are asked; only with ``oob_score=True``. As in
        `score`, a target that does not vary gives 1 where it is met and 0 where not.
    oob_prediction_, oob_errors_
    history_ : History
        Mean variance of the leaves after each tree.
    n_features_in_

    Examples
    --------
    >>> from gnomon.trees import ExtraTreesRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = ExtraTreesRegressor(50, random_state=0).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> bool(model.predict([[1.5]])[0] < 2 < 4 < model.predict([[8.5]])[0])
    True
    """

    natively = Takes(missing=True, sparse=True)
    _splitter = "random"
    _largest = LARGEST
    _parameter_constraints = {"criterion": VALUE_CRITERION, **FOREST_CONSTRAINTS}

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        oob_importance=0,
        keep_history="objective",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.oob_importance = oob_importance
        self.keep_history = keep_history


# scikit-learn's tools ask whether a model is one of scikit-learn's forests: these have the
# same attributes.
for _ours in (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
):
    getattr(peer, _ours.__name__).register(_ours)
