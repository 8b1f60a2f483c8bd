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
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Classifier, Data, Regressor
from gnomon.engine.draw import WeightedDraw, canonical_order
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, HISTORY, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.threads import in_order
from gnomon.trees.grower import bootstrap_counts, grow_tree
from gnomon.trees.importance import PermutationImportance, correlated_columns
from gnomon.trees.learner import (
    BYTES_PER_NODE,
    CLASS_CRITERION,
    GROWTH_CONSTRAINTS,
    VALUE_CRITERION,
    GrowsTrees,
    dense,
    normalised,
)
from gnomon.trees.naming import names_of_columns
from gnomon.trees.tree import LEAF, Tree

MOST_TICKETS_PER_ROW = 64
BLOCK = 4096


class Bootstrap:
    """Bootstrap samples of rows that depend neither on the rows' order nor on weight versus
    repetition.

    Whole weights are repetitions: as many draws as their sum, each from the rows written out. Other
    weights are shares: as many draws as rows, in proportion to the weights.
    """

    def __init__(self, data: Data):
        self.n_rows = data.n_rows
        self.order = canonical_order(data.rows, data.y)
        self.weights = data.weights
        self.tickets = self._tickets()

    def _tickets(self) -> np.ndarray | None:
        """Repetitions of each row in canonical order, where weights are whole."""
        if self.weights is None:
            return None
        whole_numbers = (self.weights == np.rint(self.weights)).all()
        if whole_numbers and self.weights.sum() <= MOST_TICKETS_PER_ROW * self.n_rows:
            return self.weights[self.order].astype(np.int64)
        return None

    @property
    def n_draws(self) -> int:
        return self.n_rows if self.tickets is None else int(self.tickets.sum())

    def counts(self, seed: int) -> np.ndarray:
        """How often each row is drawn: int32 (n_rows,)."""
        if self.weights is not None and self.tickets is None:
            draw = WeightedDraw(self.order)
            drawn = draw(self.weights, np.random.default_rng(seed), self.n_rows)
            return np.bincount(drawn, minlength=self.n_rows).astype(np.int32)
        counts = bootstrap_counts(self.n_draws, self.n_draws, seed)
        if self.tickets is not None:
            starts = np.cumsum(self.tickets) - self.tickets
            counts = np.add.reduceat(counts, starts).astype(np.int32)
        by_row = np.empty(self.n_rows, np.int32)
        by_row[self.order] = counts
        return by_row


class ManyTrees(GrowsTrees):
    """A learner whose model is a forest."""

    n_estimators: int
    bootstrap: bool
    oob_score: bool
    oob_importance: int
    trees_: list[Tree]

    def _most_steps(self) -> int:
        return self.n_estimators

    def _fit(self, data: Data) -> None:
        for name in ("oob_score", "oob_importance"):
            if getattr(self, name) and not self.bootstrap:
                given = getattr(self, name)
                raise ValueError(f"{name}={given} needs bootstrap=True: else no row is left out")
        vars(self).pop("oob_importances_", None)
        seeds = self._rng().integers(2**63, size=(self.n_estimators, 2))
        bootstrap = Bootstrap(data) if self.bootstrap else None
        factors = self._factors(data)
        if bootstrap:
            statistics = self._statistics(data, factors, bootstrap.n_draws)
            mean_factor = 1.0 if factors is None else np.average(factors, weights=data.weights)
            total_weight = float(bootstrap.n_draws * mean_factor)
        else:
            weights = data.weights if factors is None else data.weight_array * factors
            statistics = self._statistics(data, weights, None)
            total_weight = float(data.n_rows if weights is None else weights.sum())
        binned = self._binned(data)
        rules = self._rules(data.n_columns, total_weight)

        def grow(seed) -> tuple[Tree, np.ndarray | None]:
            counts = bootstrap.counts(int(seed[0])) if bootstrap else None
            tree = grow_tree(binned, statistics, rules, counts, int(seed[1]))
            return tree, None if counts is None else counts == 0

        course = self._course("tree", self.n_estimators)
        grown = in_order(grow, seeds, self.n_jobs)
        trees, out_of_bag = [], OutOfBag(data, statistics) if self.oob_score else None
        impurity = 0.0
        for _ in course:
            tree, left_out = next(grown)
            trees.append(tree)
            if out_of_bag is not None and left_out is not None:
                out_of_bag.add(self._voting(tree), left_out)
            impurity += leaf_impurity(tree)
            if course.end_step(impurity / len(trees), state=partial(shape_of, tree)):
                break
        grown.close()
        self.trees_ = trees
        self._pack()
        self._n_columns, self._n_outputs = data.n_columns, trees[0].n_outputs
        shares = [tree.importances(data.n_columns) for tree in trees]
        self.feature_importances_ = normalised(np.mean(shares, axis=0))
        self.history_ = course.history
        if out_of_bag is not None:
            tell_unasked(out_of_bag.n_trees, "tree")
            self._keep_out_of_bag(out_of_bag, data)
        if bootstrap and self.oob_importance:
            self.oob_importances_ = self._permuted(data, bootstrap, seeds)

    def _permuted(self, data: Data, bootstrap: Bootstrap, seeds: np.ndarray):
        """What shuffling each column costs on the rows that a tree was not grown on."""
        rows = np.ascontiguousarray(dense(data.rows), dtype=np.float64)

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

        The shares of trees that say a class are its probability by votes; the spread of numbers is
        an error bar of the model, and with full trees of single rows about that of a new row. Text:
        004 6.2. `gnomon.ensemble.member_distribution` gives shares, means and quantiles of it.

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
        nodes = self._n_nodes_at_most(int(n_rows * drawn) + 1)
        threads_growing = 3 * BYTES_PER_NODE * nodes
        return int(
            self._growing_memory(n_rows, n_columns)
            + threads_growing
            + self.n_estimators * 0.6 * BYTES_PER_NODE * nodes
        )


class OutOfBag:
    """Sums of the answers of trees for rows that they were not grown on."""

    def __init__(self, data: Data, statistics):
        self.rows = data.rows
        self.sums = np.zeros((data.n_rows, len(statistics.offset)))
        self.n_trees = np.zeros(data.n_rows)

    def add(self, tree: Tree, left_out: np.ndarray) -> None:
        places = np.flatnonzero(left_out)
        for start in range(0, len(places), BLOCK):
            block = places[start : start + BLOCK]
            rows = self.rows[block]
            rows = np.ascontiguousarray(dense(rows), dtype=np.float64)
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
            f"{member} can be asked about them: oob_score_ is of the others, and their answers "
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
    "oob_score": FLAG,
    "oob_importance": [whole(0)],
    "keep_history": HISTORY,
    **GROWTH_CONSTRAINTS,
}


@method(
    task="classify",
    texts="000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10",
    use="A strong first model on any table, without tuning.",
    avoid="The model must be read by people, be small, or answer beyond the seen range.",
    peers=("sklearn.ensemble.RandomForestClassifier", "lightgbm.LGBMClassifier(rf)"),
)
class RandomForestClassifier(ManyTrees, Classifier):
    """The mean of many trees, each grown on a bootstrap sample with columns drawn at random in
    each node.

    Use it as a strong first model on any table: it needs no tuning, no scaling, and takes
    categories and missing cells as they are. Not where people must read the model, or where it
    must be small. The trees' leaves vote by their class shares; 000a 2.2.5 (Procedure 2.10) has two
    other rules, one vote per tree or one per training row, and none is always better. Whole weights
    are repetitions, other weights are shares of the draws. Columns are binned as in
    `DecisionTreeClassifier`. Texts: 000a 2.5.4, 001 9.5, 003 2.2.4, 004 10.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
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
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns looked at in a node, drawn at random: a number, a share, or None for all.
    max_leaf_nodes : int, default=None
        Grow best-first up to so many leaves; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least saving of a split, per unit of the total weight.
    bootstrap : bool, default=True
        Grow each tree on a bootstrap sample; else on all rows.
    oob_score : bool, default=False
        Compute the out-of-bag accuracy.
    voting : {"shares", "trees", "rows"}, default="shares"
        What a leaf adds: its class shares; one vote for its commonest class (of equals the first);
        or one vote of each training row in it for its own class, so that great leaves count more.
    oob_importance : int, default=0
        How often each column is shuffled among the rows that a tree was not grown on, to see how
        much worse the tree gets (``oob_importances_``); 0 for not at all.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.
    random_state : int, RandomState or None, default=None
        Of the samples and the draws of columns.
    n_jobs : int, default=None
        Threads; None for one per processor.
    keep_history : {"objective", "full"}, default="objective"
        What ``history_`` keeps of every tree: "full" also its size.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    trees_ : list of Tree
        The trees.
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
        "class_weight": [None, dict, StrOptions({"balanced"})],
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
        voting="shares",
        oob_importance=0,
        class_weight=None,
        random_state=None,
        n_jobs=None,
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
        self.voting = voting
        self.oob_importance = oob_importance
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _class_weights(self, totals: np.ndarray) -> None:
        """Class weights are no repetitions: they weigh the drawn rows (`_factors`)."""

    def _factors(self, data: Data) -> np.ndarray | None:
        totals = np.bincount(data.y, data.weights, minlength=len(self.classes_))
        factors = Classifier._class_weights(self, totals)
        return None if factors is None else factors[data.y]

    def _proba(self, rows):
        votes = self._sum_of_trees(rows)
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
        answers = out_of_bag.answers
        answered = out_of_bag.n_trees > 0
        right = answers[answered].argmax(axis=1) == data.y[answered]
        self.oob_score_ = float(np.average(right, weights=data.weight_array[answered]))
        self.oob_decision_function_ = out_of_bag.for_all_rows(data.kept)


@method(
    task="regress",
    texts="000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10",
    use="A strong first model on any table, without tuning.",
    avoid="The model must be read by people, be small, or answer beyond the seen range.",
    peers=("sklearn.ensemble.RandomForestRegressor",),
)
class RandomForestRegressor(ManyTrees, Regressor):
    """The mean of many regression trees, each grown on a bootstrap sample.

    Use it as a strong first model on any table; not where people must read the model, where it must
    be small, or beyond the seen range. The prediction is the mean of the trees' numbers. Details
    as in `RandomForestClassifier`. Texts: 000a 2.5.4, 001 9.5, 003 2.2.4, 004 10.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
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
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns looked at in a node, drawn at random: a number, a share, or None for all.
    max_leaf_nodes : int, default=None
        Grow best-first up to so many leaves; None for no limit.
    min_impurity_decrease : float, default=0.0
        Least saving of a split, per unit of the total weight.
    bootstrap : bool, default=True
        Grow each tree on a bootstrap sample; else on all rows.
    oob_score : bool, default=False
        Compute the out-of-bag R2.
    oob_importance : int, default=0
        How often each column is shuffled among the rows that a tree was not grown on, to see how
        much worse the tree gets (``oob_importances_``); 0 for not at all.
    random_state : int, RandomState or None, default=None
        Of the samples and the draws of columns.
    n_jobs : int, default=None
        Threads; None for one per processor.
    keep_history : {"objective", "full"}, default="objective"
        What ``history_`` keeps of every tree: "full" also its size.

    Attributes
    ----------
    trees_ : list of Tree
        The trees.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values, and seen on the
        training rows; ``oob_importance`` is not.
    oob_importances_ : PermutationImportance
        Rise of the error out of bag when a column is shuffled; only with ``oob_importance``.
    oob_score_ : float
        R2 on rows left out by the trees that are asked; only with ``oob_score=True``. As in
        `score`, a target that does not vary gives 1 where it is met and 0 where not.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Answers of those trees; NaN for rows that every tree was grown on. Only with
        ``oob_score=True``.
    history_ : History
        Mean variance of the leaves after each tree.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import RandomForestRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = RandomForestRegressor(50, random_state=0).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> bool(model.predict([[1.5]])[0] < 2 < 4 < model.predict([[8.5]])[0])
    True
    """

    _many_targets = True
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
        oob_importance=0,
        random_state=None,
        n_jobs=None,
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
        self.oob_importance = oob_importance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

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
        answers = out_of_bag.answers
        y = data.y.reshape(data.n_rows, -1)[answered]
        weights = data.weight_array[answered][:, None]
        spread = (weights * (y - np.average(y, axis=0, weights=weights[:, 0])) ** 2).sum()
        missed = (weights * (y - answers[answered]) ** 2).sum()
        self.oob_score_ = float(1 - missed / spread if spread > 0 else missed == 0)
        everyone = out_of_bag.for_all_rows(data.kept)
        self.oob_prediction_ = everyone[:, 0] if self._one_target else everyone
