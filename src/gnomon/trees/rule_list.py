"""Ordered rules learnt by separate-and-conquer: the surest leaf of a small tree, again and again.

A small tree is grown on the rows that no rule meets yet; the leaf whose accuracy has the best lower
bound becomes the next rule; its rows are set aside; and so on, until what is left is pure, small or
no better told apart (PART, Frank and Witten 1998). The last answer is the class shares of the rest.

Texts: 003 2.4 · 004 6 (introduction).
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Classifier, Data, Takes
from gnomon.engine.parameters import StrOptions, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object
from gnomon.trees.binning import Binner
from gnomon.trees.distinct import CountedRows, CountsRows
from gnomon.trees.grower import GrowthRules, class_statistics, grow_tree
from gnomon.trees.naming import has_columns, labels_of_model
from gnomon.trees.rules import EncodedColumns, Rule, RuleList
from gnomon.trees.tree import LEAF
from gnomon.trees.tree_rules import leaf_paths, leaf_rule, upper_error
from gnomon.trees.view import TreeView


@method(
    task="classify",
    texts="003 2.4 · 004 6",
    use="A handful of rules that people can read, check and argue with.",
    avoid="The best accuracy is wanted, or probabilities that vary smoothly.",
    peers=("Weka PART", "wittgenstein.RIPPER", "imodels.GreedyRuleListClassifier"),
)
class RuleListClassifier(CountsRows, Classifier):
    """An ordered list of if-then rules; the first that fires decides.

    Use it where people must read, check or argue with the model: a rule stands for itself once
    those before it did not fire. Not where accuracy counts most. Learnt greedily (finding the best
    rules is NP-hard, 003 2.4): small trees are grown on the rows not yet met, and their surest leaf
    becomes the next rule. Categories and missing cells are tested as they are. Texts: 003 2.4, 004
    6.

    Parameters
    ----------
    max_rules : int, default=20
        Most rules before the default.
    max_conditions : int, default=4
        Most tests in a rule (several about one column are joined to one).
    min_samples_rule : int, default=5
        Least training rows that a rule decides; a row of whole weight k counts k times.
    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    rules_ : RuleList
        The rules; prints itself, finds contradictions and gaps. Coverage and accuracy are those on
        the rows that earlier rules left.
    shares_ : ndarray of shape (n_rules + 1, n_classes)
        Class shares of each rule's rows; last, of the rows that no rule meets.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import RuleListClassifier
    >>> rows = [[1, 0], [2, 1], [3, 0], [7, 1], [8, 0], [9, 1], [9, 0], [8, 1]]
    >>> y = ["no", "no", "no", "yes", "no", "yes", "no", "yes"]
    >>> print(RuleListClassifier(min_samples_rule=1).fit(rows, y).rules_)
    1. if x1 <= 0.5 then no   [4 rows, 100% right]
    2. if x0 > 4.5 then yes   [3 rows, 100% right]
    else no
    """

    natively = Takes(missing=True, categories=True)
    _largest = np.inf
    _grows = True
    _parameter_constraints = {
        "max_rules": [whole(1)],
        "max_conditions": [whole(1)],
        "min_samples_rule": [whole(1)],
        "min_weight_fraction_leaf": [between(0, 0.5)],
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }
    _stored = {
        "rules_": Object(("RuleList",)),
        "shares_": Array("f8", (None, "n_classes"), low=0.0),
    }

    def __init__(
        self,
        max_rules=20,
        *,
        max_conditions=4,
        min_samples_rule=5,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
    ):
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_samples_rule = min_samples_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight

    def _fit(self, data: Data) -> None:
        sample = self._distinct(data)
        least = max(
            sample.least_weight(self.min_samples_rule),
            self.min_weight_fraction_leaf * float(sample.weights.sum()),
        )
        covering = Covering(self, sample, data.columns.is_category, self.max_conditions, least)
        rules: list[Rule] = []
        left = np.ones(sample.n_rows, bool)
        while left.any() and len(rules) < self.max_rules:
            found = covering.surest(left)
            if found is None:
                break
            rules.append(found[0])
            left &= ~found[1]
        rest = left if left.any() else np.ones(len(left), bool)
        last = np.bincount(sample.y[rest], sample.weights[rest], len(self.classes_))
        shares = [[rule.shares.get(c, 0.0) for c in self.classes_.tolist()] for rule in rules]
        self.shares_ = np.array([*shares, (last / last.sum()).tolist()])
        default = self.classes_.tolist()[int(last.argmax())]
        self.rules_ = RuleList(rules, default, getattr(self, "encoder_", None))

    def _proba(self, rows):
        columns = EncodedColumns(rows, labels_of_model(self))
        return self.shares_[self.rules_.fired_for(columns, len(rows))]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 12 * n_rows * n_columns + 100 * n_rows + 2**16 * n_columns + 2**20

    def _check_loaded(self) -> None:
        if not hasattr(self, "rules_"):
            return
        if self.shares_.shape != (len(self.rules_) + 1, len(self.classes_)):
            raise ValueError("a rule list has another number of shares than of rules")
        if not has_columns(self, self.rules_.columns):
            raise ValueError("a rule tests a column that the model does not have")


class Covering:
    """Grows small trees on some of the rows and gives their surest leaf as a rule."""

    def __init__(
        self,
        model,
        sample: CountedRows,
        kinds: np.ndarray,
        max_conditions: int,
        least_weight: float,
    ):
        weights = None if (sample.weights == 1).all() else sample.weights
        self.model = model
        self.n_rows = sample.n_rows
        self.binned = Binner().fit(sample.rows, weights, kinds, 1).transform(sample.rows, 1)
        self.statistics = class_statistics(sample.y, len(model.classes_), weights)
        self.growth = GrowthRules("gini", max_depth=max_conditions, min_weight_leaf=least_weight)
        self.unit = float(sample.weights.sum() / sample.counts.sum())

    def surest(self, taken: np.ndarray, label: int | None = None) -> tuple[Rule, np.ndarray] | None:
        """The surest rule for some rows, and which of them it meets; None where none helps.

        With `label`, the surest for that class: its share counts, not that of the commonest.
        """
        leaf_of_row = np.full(self.n_rows, -1, np.int32)
        tree = grow_tree(
            self.binned,
            self.statistics,
            self.growth,
            counts=taken.astype(np.int32),
            leaf_of_row=leaf_of_row,
        )
        right = tree.value.max(axis=1) if label is None else tree.value[:, label]
        n = tree.weight / self.unit
        doubt = np.array([upper_error(w * (1 - share), w) for w, share in zip(n, right)])
        leaves = np.flatnonzero(tree.left == LEAF)
        best = int(leaves[np.argmin(doubt[leaves])])
        if best == 0 or doubt[best] >= doubt[0]:
            return None
        view = TreeView.of_tree(self.model, tree)
        rule = leaf_rule(view, best, dict(leaf_paths(view))[best])
        return rule, taken & (leaf_of_row == best)
