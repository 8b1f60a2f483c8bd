"""Trees that choose their own size: grown large, then pruned by what held-out rows say.

Cost-complexity pruning gives nested trees T_0 > T_1 > ... with prices of a leaf a_0 < a_1 < ...;
each fold of a cross-validation grows its own large tree and prunes it at the prices
sqrt(a_k a_{k+1}), and its held-out rows give the risk of every size. The size of least risk is
taken, or the smallest whose risk is within one standard error of it. Reduced-error pruning instead
holds a share of the rows out and needs one large tree only.

Texts: 001 11.2 (five- or ten-fold cross-validation) · 003 2.3.3.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Classifier, Data, Regressor, Takes
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.parameters import JOBS, SEED, StrOptions, between, meant, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Number, Object, Optional, Whole
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.trees.binning import Binner
from gnomon.trees.decision_tree import OneTree
from gnomon.trees.distinct import CountedRows, CountsRows, folds_of_distinct_rows
from gnomon.trees.grower import GrowthRules, class_statistics, grow_tree, value_statistics
from gnomon.trees.learner import CLASS_CRITERION, CLASS_NODES
from gnomon.trees.pruning import (
    HeldOut,
    arrivals,
    collapsed,
    cost_complexity_path,
    held_out_errors,
    not_better,
)
from gnomon.trees.tree import Tree, parents

PRUNED_CONSTRAINTS = {
    "rule": [StrOptions({"one_standard_error", "least_error", "reduced_error"})],
    "n_folds": [whole(2)],
    "validation_fraction": [between(0, 1, "neither")],
    "ties": [StrOptions({"prune", "keep"})],
    "max_depth": [None, whole(1)],
    "min_samples_leaf": [whole(1)],
    "min_weight_fraction_leaf": [between(0, 0.5)],
    "random_state": SEED,
    "n_jobs": JOBS,
}
# Texts of parameters that classes here share, for their docstrings.
PRUNED_PARAMETERS = """\
rule : {"one_standard_error", "least_error", "reduced_error"}
    The smallest tree within one standard error of the least cross-validated error, that of
    least error, or reduced-error pruning by a part that is held out.
n_folds : int
    Folds of the cross-validation.
validation_fraction : float
    Share of the rows held out for reduced-error pruning.
max_depth : int
    Most questions on a path; None for no limit.
min_samples_leaf : int
    Least rows in a leaf; a row of whole weight k counts k times.
min_weight_fraction_leaf : float
    The same as a share of the total weight.
random_state : int, RandomState or None
    Of the folds, or of the part held out.
n_jobs : int
    Threads over the folds; None for one per processor.
"""


class PrunedTree(CountsRows, OneTree):
    """What both pruned trees share."""

    natively = Takes(missing=True, categories=True)

    rule: str
    n_folds: int
    validation_fraction: float
    ties: str
    _stored = {
        "_n_columns": Whole(1),
        "_n_outputs": Whole(1),
        "alpha_": Optional(Number()),
        "cv_risk_": Optional(Array("f8", ("n_cv_risk",))),
        "cv_standard_error_": Optional(Array("f8", ("n_cv_risk",))),
        "pruning_path_": Optional(Object(("PruningPath",))),
    }

    def _fit(self, data: Data) -> None:
        for name in ("alpha_", "pruning_path_", "cv_risk_", "cv_standard_error_"):
            vars(self).pop(name, None)
        sample = self._distinct(data)
        self._kinds = data.columns.is_category
        rng = self._rng()
        self._n_columns = data.n_columns
        if self.rule == "reduced_error":
            tree = self._reduced(sample, rng)
        else:
            tree = self._cross_validated(sample, rng)
        self._n_outputs = tree.n_outputs
        del self._kinds
        self._take_tree(tree)

    def _grow(self, sample: CountedRows) -> Tree:
        weights = None if (sample.weights == 1).all() else sample.weights
        binned = Binner().fit(sample.rows, weights, self._kinds, 1).transform(sample.rows, 1)
        if self._target == "classes":
            statistics = class_statistics(sample.y, len(self.classes_), weights)
        else:
            statistics = value_statistics(sample.y, weights)
        least = max(
            sample.least_weight(self.min_samples_leaf),
            self.min_weight_fraction_leaf * float(sample.weights.sum()),
        )
        rules = GrowthRules(
            criterion=meant(self, "criterion") if self._target == "classes" else "squared_error",
            max_depth=self.max_depth,
            min_weight_leaf=least if self.min_samples_leaf > 1 or least > 1 else 0.0,
        )
        return grow_tree(binned, statistics, rules)

    def _strata(self, sample: CountedRows) -> np.ndarray | None:
        return sample.y if self._target == "classes" else None

    def _reduced(self, sample: CountedRows, rng: np.random.Generator) -> Tree:
        """A tree grown on some rows and pruned by the others."""
        if sample.n_rows < 2:
            return self._grow(sample)
        held = self._held_out(sample, rng)
        tree = self._grow(sample.part(np.flatnonzero(~held)))
        test = sample.part(np.flatnonzero(held))
        errors = held_out_errors(
            tree, HeldOut(test.rows, test.y, test.weights), self._target == "classes"
        )
        return collapsed(tree, not_better(tree, errors, self.ties))

    def _held_out(self, sample: CountedRows, rng: np.random.Generator) -> np.ndarray:
        """Which rows are held out: a share of them, of every class where there are classes."""
        dealt = rng.permutation(sample.n_rows)
        strata = self._strata(sample)
        if strata is not None:
            dealt = dealt[np.argsort(strata[dealt], kind="stable")]
        passed = np.floor(np.arange(sample.n_rows + 1) * self.validation_fraction + 0.5)
        held = np.zeros(sample.n_rows, bool)
        held[dealt] = np.diff(passed) > 0
        if held.all():
            held[dealt[0]] = False
        return held

    def _cross_validated(self, sample: CountedRows, rng: np.random.Generator) -> Tree:
        """The tree of the size that cross-validation chooses."""
        tree = self._grow(sample)
        path = cost_complexity_path(tree, risk=self._pruning_risk())
        prices = np.sqrt(path.alphas * np.append(path.alphas[1:], path.alphas[-1]))
        risk, error = self._risk_of_sizes(sample, prices, rng)
        best = int(np.flatnonzero(risk == risk.min())[-1])
        if self.rule == "one_standard_error":
            best = int(np.flatnonzero(risk <= risk[best] + error[best])[-1])
        self.pruning_path_ = path
        self.cv_risk_, self.cv_standard_error_ = risk, error
        self.alpha_ = float(path.alphas[best])
        return collapsed(tree, path.collapse <= self.alpha_)

    def _pruning_risk(self) -> str:
        return "impurity"

    def _risk_of_sizes(
        self, sample: CountedRows, prices: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean loss on held-out rows at every price of a leaf, with its standard error."""
        n_folds = min(self.n_folds, sample.n_rows)
        if n_folds < 2:
            return np.zeros(len(prices)), np.zeros(len(prices))
        fold = folds_of_distinct_rows(sample, n_folds, rng, self._strata(sample))

        def losses(k: int) -> np.ndarray:
            tree = self._grow(sample.part(np.flatnonzero(fold != k)))
            path = cost_complexity_path(tree, risk=self._pruning_risk())
            held = sample.part(np.flatnonzero(fold == k))
            return losses_of_sizes(tree, path.collapse, held, prices, self._target == "classes")

        first, second = sum(in_order(losses, range(n_folds), self.n_jobs))
        weight, n = sample.weights.sum(), sample.counts.sum()
        risk = first / weight
        spread = np.maximum(second / weight - risk**2, 0.0)
        return risk, np.sqrt(spread / n)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        copies = 8 * n_rows * n_columns * (1 + threads)
        growing = n_rows * (120 + 2 * n_columns) + 256 * 192 * n_columns
        nodes = 2 * max(n_rows // self.min_samples_leaf, 1)
        if self.max_depth is not None:
            nodes = min(nodes, 2 ** min(self.max_depth + 1, 60))
        if self._target == "classes":
            nodes = int(CLASS_NODES / 2 * nodes)  # the tree and those of folds, of part of the rows
        return copies + 2**21 + (1 + threads) * (growing + 600 * nodes)


def losses_of_sizes(
    tree: Tree, collapse: np.ndarray, held: CountedRows, prices: np.ndarray, classes: bool
) -> np.ndarray:
    """Sums of weighted losses and of their squares at increasing prices of a leaf: (2, n_prices).

    A row is answered by the first node on its path that is a leaf at the price, so that a node
    answers for the prices from its own collapse up to its parent's.
    """
    places, nodes, _ = arrivals(tree, held.rows)
    if classes:
        losses = (tree.value[nodes].argmax(axis=1) != held.y[places]).astype(np.float64)
    else:
        y = held.y.reshape(len(held.y), -1)
        losses = ((tree.value[nodes] - y[places]) ** 2).sum(axis=1)
    above = parents(tree.left)
    until = np.where(above >= 0, collapse[above], np.inf)
    first = np.searchsorted(prices, collapse[nodes], side="left")
    last = np.searchsorted(prices, until[nodes], side="left")
    weights = held.weights[places]
    sums = np.empty((2, len(prices)))
    for row, amount in enumerate((weights * losses, weights * losses**2)):
        change = np.bincount(first, amount, len(prices) + 1)
        change -= np.bincount(last, amount, len(prices) + 1)
        sums[row] = np.cumsum(change)[:-1]
    return np.maximum(sums, 0.0)


@method(
    task="classify",
    texts="001 11.2-11.3 · 003 2.3.3",
    use="A readable tree of the right size, without tuning.",
    avoid="The best accuracy is wanted (a forest or boosting wins).",
    peers=("R rpart (with prune)", "Weka REPTree"),
)
@shared_parameters(PRUNED_PARAMETERS)
class PrunedTreeClassifier(PrunedTree, Classifier):
    """A classification tree that is grown large and pruned to the size that held-out rows prefer.

    Use it for one readable tree without tuning; not where accuracy counts most. Minimises the
    cross-validated error rate over the trees of cost-complexity pruning,  sum_m W_m Q_m + a |T|,
    or prunes by the errors on rows held out. Growing, categories and missing cells: as
    `DecisionTreeClassifier`. Equal rows are in one fold, so that none is learnt from and tested on.
    001 11.2 prices a leaf in sums over rows; here prices are per unit of the total weight, so that
    they mean the same in folds of any size. Texts: 001 11.2-11.3, 003 2.3.3.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification", "log_loss"}, default="gini"
        The impurity by which the tree is grown; "log_loss" is another word for "entropy".
    risk : {"misclassification", "impurity"}, default="misclassification"
        What cost-complexity pruning adds up over the leaves.
    ties : {"prune", "keep"}, default="prune"
        What reduced-error pruning does with a node that errs as often as a leaf would.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : sklearn.tree._tree.Tree
        The pruned tree in scikit-learn's arrays; ``nodes_`` where a node splits sets of levels.
    nodes_ : Tree
        The pruned tree in gnomon's arrays, with sets of levels and gains.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    alpha_ : float
        The price of a leaf that was chosen; with cost-complexity pruning.
    pruning_path_ : PruningPath
        All trees of the sequence; with cost-complexity pruning.
    cv_risk_ : ndarray of shape (n_trees,)
        Cross-validated error rate of each; with cost-complexity pruning.
    cv_standard_error_ : ndarray of shape (n_trees,)
        Its standard error; with cost-complexity pruning.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    prune : Prunes a fitted tree at a given price.
    reduced_error_prune : Prunes a fitted tree by given rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import PrunedTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.uniform(size=(300, 2))
    >>> y = (rows[:, 0] > 0.5) ^ (rng.uniform(size=300) < 0.1)
    >>> PrunedTreeClassifier(random_state=0).fit(rows, y).get_n_leaves()
    2
    """

    _parameter_constraints = {
        "criterion": CLASS_CRITERION,
        "risk": [StrOptions({"misclassification", "impurity"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **PRUNED_CONSTRAINTS,
    }

    def __init__(
        self,
        criterion="gini",
        *,
        rule="one_standard_error",
        risk="misclassification",
        n_folds=10,
        validation_fraction=0.3,
        ties="prune",
        max_depth=None,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
        random_state=None,
        n_jobs=None,
    ):
        self.criterion = criterion
        self.rule = rule
        self.risk = risk
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction
        self.ties = ties
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _pruning_risk(self) -> str:
        return self.risk

    def _proba(self, rows):
        return self._sum_of_trees(rows)


@method(
    task="regress",
    texts="001 11.2 · 003 2.3.3",
    use="A readable regression tree of the right size, without tuning.",
    avoid="The best accuracy is wanted, or a smooth curve, or values beyond those seen.",
    peers=("R rpart (with prune)", "Weka REPTree"),
)
@shared_parameters(PRUNED_PARAMETERS)
class PrunedTreeRegressor(PrunedTree, Regressor):
    """A regression tree that is grown large and pruned to the size that held-out rows prefer.

    Use it for one readable tree without tuning; not where accuracy counts most. Minimises the
    cross-validated squared error over the trees of cost-complexity pruning, or prunes by the errors
    on rows held out. Details as in `PrunedTreeClassifier`. Texts: 001 11.2, 003 2.3.3.

    Parameters
    ----------
    ties : {"prune", "keep"}, default="prune"
        What reduced-error pruning does with a node that errs as much as a leaf would.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        The pruned tree in scikit-learn's arrays; ``nodes_`` where a node splits sets of levels.
    nodes_ : Tree
        The pruned tree in gnomon's arrays, with sets of levels and gains.
    feature_importances_ : ndarray of shape (n_columns,)
        Savings by column, adding up to one. Biased towards columns of many values.
    alpha_ : float
        The price of a leaf that was chosen; with cost-complexity pruning.
    pruning_path_ : PruningPath
        All trees of the sequence; with cost-complexity pruning.
    cv_risk_ : ndarray of shape (n_trees,)
        Cross-validated mean squared error of each; with cost-complexity pruning.
    cv_standard_error_ : ndarray of shape (n_trees,)
        Its standard error; with cost-complexity pruning.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import PrunedTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.uniform(size=(300, 2))
    >>> y = 5.0 * (rows[:, 0] > 0.5) + rng.normal(size=300)
    >>> PrunedTreeRegressor(random_state=0).fit(rows, y).get_n_leaves()
    2
    """

    _many_targets = True
    _parameter_constraints = dict(PRUNED_CONSTRAINTS)
    _stored = {
        "_one_target": Flag(),
    }

    def __init__(
        self,
        *,
        rule="one_standard_error",
        n_folds=10,
        validation_fraction=0.3,
        ties="prune",
        max_depth=None,
        min_samples_leaf=5,
        min_weight_fraction_leaf=0.0,
        random_state=None,
        n_jobs=None,
    ):
        self.rule = rule
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction
        self.ties = ties
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        super()._fit(data)
        self._one_target = data.y.ndim == 1

    def _estimate(self, rows):
        values = self._sum_of_trees(rows)
        return values[:, 0] if self._one_target else values
