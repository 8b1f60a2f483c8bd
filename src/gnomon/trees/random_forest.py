"""Random forests: many trees, each on a bootstrap sample, each node looking at a few columns drawn
at random.

The forest's answer is the mean of the trees' (class shares, or numbers). Trees that differ err
differently, and the mean errs less: with trees of variance s^2 and correlation r, the mean of B
trees has variance r s^2 + (1 - r) s^2 / B. The rows that a tree was not grown on test it for free
(out-of-bag).

Texts: 000a 2.5.4 · 001 9.5 · 003 2.2.4 · 004 10.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gnomon.contract import Classifier, Data, Regressor
from gnomon.engine.draw import WeightedDraw, canonical_order
from gnomon.engine.parameters import FLAG, HISTORY, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.threads import in_order
from gnomon.trees.grower import bootstrap_counts, grow_tree
from gnomon.trees.learner import (
    BYTES_PER_NODE,
    GROWTH_CONSTRAINTS,
    GrowsTrees,
    dense,
    normalised,
)
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

    def _most_steps(self) -> int:
        return self.n_estimators

    def _fit(self, data: Data) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs bootstrap=True: else no row is left out")
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
                out_of_bag.add(tree, left_out)
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
            self._keep_out_of_bag(out_of_bag, data)

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
    must be small. The prediction is the mean of the trees' class shares. Whole weights are
    repetitions, other weights are shares of the draws. Columns are binned as in
    `DecisionTreeClassifier`. Texts: 000a 2.5.4, 001 9.5, 003 2.2.4, 004 10.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "misclassification"}, default="gini"
        The impurity.
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
        Savings by column, adding up to one. Biased towards columns of many values.
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
        "criterion": [StrOptions({"gini", "entropy", "misclassification"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
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
        return self._mean_of_trees(rows)

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
        Savings by column, adding up to one. Biased towards columns of many values.
    oob_score_ : float
        R2 on rows left out by the trees that are asked; only with ``oob_score=True``.
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
    _parameter_constraints = dict(FOREST_CONSTRAINTS)

    def __init__(
        self,
        n_estimators=100,
        *,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _fit(self, data: Data) -> None:
        self._one_target = data.y.ndim == 1
        super()._fit(data)

    def _estimate(self, rows):
        values = self._mean_of_trees(rows)
        return values[:, 0] if self._one_target else values

    def _keep_out_of_bag(self, out_of_bag: OutOfBag, data: Data) -> None:
        answered = out_of_bag.n_trees > 0
        answers = out_of_bag.answers
        y = data.y.reshape(data.n_rows, -1)[answered]
        weights = data.weight_array[answered][:, None]
        spread = (weights * (y - np.average(y, axis=0, weights=weights[:, 0])) ** 2).sum()
        self.oob_score_ = float(1 - (weights * (y - answers[answered]) ** 2).sum() / spread)
        everyone = out_of_bag.for_all_rows(data.kept)
        self.oob_prediction_ = everyone[:, 0] if self._one_target else everyone
