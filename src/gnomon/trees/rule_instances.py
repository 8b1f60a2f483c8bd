"""Rules as partially specified instances: one model between rules, nearest neighbours and trees.

A rule specifies some columns (a value, an interval, a set of levels) and leaves the others open.
Its distance from a row is the L^p norm of how far the row lies outside, over the specified columns
only; a row is answered by the rules that it satisfies, and where there are none by all rules with
weights 1 / d^q. Rules that specify every column exactly are instances, and the model is a nearest
neighbour model; the leaves of a tree as rules give the tree; in between lie rules learnt by greedy
covering. The surfaces of equal distance are balls in the specified and planes in the open columns.

Text: 003 2.4 (which leaves the training open; finding the best rules is NP-hard).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.contract import Classifier, Data, Takes
from gnomon.engine.parameters import StrOptions, above, at_least, between, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, DictOf, Object, Optional
from gnomon.trees.binning import Binner
from gnomon.trees.conditions import Condition, Interval, LevelSet, NumberSet, is_missing
from gnomon.trees.distinct import CountedRows, CountsRows
from gnomon.trees.grower import GrowthRules, class_statistics, grow_tree
from gnomon.trees.naming import labels_of_model
from gnomon.trees.rule_list import Covering
from gnomon.trees.rules import EncodedColumns, Rule, RuleList
from gnomon.trees.tree_rules import leaf_paths, leaf_rule
from gnomon.trees.view import TreeView

CELLS_AT_ONCE = 2**19  # distances of a block: 4 MB


@storable
@dataclass
class Specified:
    """Rules as boxes in the columns of encoded rows.

    Attributes
    ----------
    low, high : float64 arrays (n_rules, d)
        Ends of the intervals of numbers; infinite where a column is open.
    accepts_missing : bool array (n_rules, d)
    levels : dict of int to bool array (n_rules, n_levels)
        Which levels of a category column pass.
    scale : float64 array (d,)
        Units of distance.
    """

    low: np.ndarray
    high: np.ndarray
    accepts_missing: np.ndarray
    levels: dict[int, np.ndarray]
    scale: np.ndarray
    _stored = {
        "accepts_missing": Array("b", ("n_accepts_missing", "n_accepts_missing_1")),
        "high": Array("f8", ("n_accepts_missing", "n_accepts_missing_1"), finite=False),
        "levels": DictOf(Array("b", (None, None))),
        "low": Array("f8", ("n_accepts_missing", "n_accepts_missing_1"), finite=False),
        "scale": Array("f8", ("n_accepts_missing_1",)),
    }

    def distances(self, rows: np.ndarray, p: float) -> np.ndarray:
        """L^p distance of every row from every rule: (n_rows, n_rules); 0 where satisfied."""
        total = np.zeros((len(rows), len(self.low)))
        exact = self._exact & ~np.isnan(rows).any(axis=0)
        if exact.any():
            points, centers = rows[:, exact] / self.scale[exact], self.low[:, exact]
            measure = {"metric": "chebyshev"} if np.isinf(p) else {"metric": "minkowski", "p": p}
            total = cdist(points, centers / self.scale[exact], **measure)
            total = total if np.isinf(p) else total**p
        for j in np.flatnonzero(~exact):
            gap = self._outside(rows[:, j], j)
            total = np.maximum(total, gap) if np.isinf(p) else total + gap**p
        return total if np.isinf(p) else total ** (1 / p)

    @property
    def _exact(self) -> np.ndarray:
        """Columns of numbers of which every rule asks one value."""
        exact = (self.low == self.high).all(axis=0)
        exact[list(self.levels)] = False
        return exact

    def _outside(self, values: np.ndarray, j: int) -> np.ndarray:
        """How far values lie outside the rules' sets; 1 for another level or a missing cell."""
        missing = np.isnan(values)
        if j in self.levels:
            passes = self.levels[j]
            codes = np.where(missing, 0, values).astype(np.int64).clip(0, passes.shape[1] - 1)
            gap = 1.0 - passes.T[codes]
        else:
            known = np.where(missing, 0.0, values)[:, None]
            gap = np.maximum(self.low[:, j] - known, known - self.high[:, j]).clip(0.0)
            gap /= self.scale[j]
            gap[:, self.low[:, j] > self.high[:, j]] = 1.0
        gap[missing] = 1.0 - self.accepts_missing[:, j]
        return gap


@method(
    task="classify",
    texts="003 2.4",
    use="Rules that answer also near their borders and for rows that none of them meets.",
    avoid="The best accuracy is wanted, or (with every row a rule) tables are large.",
    peers=("imodels.SlipperClassifier",),
)
class RuleInstanceClassifier(CountsRows, Classifier):
    """Rules that specify some columns; rows that none of them meets are answered by the nearest.

    Use it as a rule learner without gaps, or to go by steps from nearest neighbours to trees: the
    rules come from greedy covering (class by class), from the leaves of a tree, or from the rows
    themselves. Not where accuracy counts most. A row is answered by the mean class shares of the
    rules that it satisfies, else by all rules, weighted by  coverage / d^q  with d the L^p distance
    over the specified columns (numbers in units of their deviation, a wrong level counts 1). Text:
    003 2.4, which gives the model and leaves the training open.

    Parameters
    ----------
    rules : {"covering", "leaves", "rows"}, default="covering"
        Where the rules come from: learnt one after the other, leaves of a tree, training rows.
    p : float, default=2.0
        Which norm measures distance; ``np.inf`` for the greatest difference.
    q : float, default=4.0
        How fast a rule's say falls with distance; large for the nearest rule only.
    max_rules : int, default=20
        Most rules of "covering" for each class.
    max_conditions : int, default=4
        Most tests in a rule of "covering" or "leaves".
    min_samples_rule : int, default=5
        Least training rows of such a rule; a row of whole weight k counts k times.
    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    rules_ : RuleList
        The rules; only without ``rules="rows"``, whose rules are the rows.
    specified_ : Specified
        The rules as boxes.
    shares_ : ndarray of shape (n_rules, n_classes)
        Class shares of the training rows that satisfy each rule.
    coverage_ : ndarray of shape (n_rules,)
        Weight of these rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import RuleInstanceClassifier
    >>> rows = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [8.0, 9.0], [9.0, 8.0], [9.0, 9.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = RuleInstanceClassifier(rules="rows").fit(rows, y)
    >>> model.predict([[2.0, 1.0], [7.0, 7.0]]).tolist()
    ['a', 'b']
    """

    natively = Takes(missing=True, categories=True)
    _grows = True
    _parameter_constraints = {
        "rules": [StrOptions({"covering", "leaves", "rows"})],
        "p": [at_least(1)],
        "q": [above(0)],
        "max_rules": [whole(1)],
        "max_conditions": [whole(1)],
        "min_samples_rule": [whole(1)],
        "min_weight_fraction_leaf": [between(0, 0.5)],
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }
    _stored = {
        "coverage_": Array("f8", ("n_coverage",)),
        "rules_": Optional(Object(("RuleList",))),
        "shares_": Array("f8", ("n_coverage", "n_classes"), low=0.0),
        "specified_": Object(("Specified",)),
    }

    def __init__(
        self,
        rules="covering",
        *,
        p=2.0,
        q=4.0,
        max_rules=20,
        max_conditions=4,
        min_samples_rule=5,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
    ):
        self.rules = rules
        self.p = p
        self.q = q
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_samples_rule = min_samples_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight

    def _fit(self, data: Data) -> None:
        vars(self).pop("rules_", None)
        sample = self._distinct(data)
        levels = np.array(data.columns.levels, np.int64)
        scale = deviations(sample)
        if self.rules == "rows":
            self.specified_ = specified_by_rows(sample.rows, levels, scale)
            self.shares_ = np.eye(len(self.classes_))[sample.y]
            self.coverage_ = sample.weights
            return
        rules = self._learnt_rules(sample, data.columns.is_category)
        labels = labels_of_model(self)
        columns = EncodedColumns(sample.rows, labels)
        fired = np.array([rule.fires(columns, sample.n_rows) for rule in rules])
        weights = (fired * sample.weights) @ np.eye(len(self.classes_))[sample.y]
        self.coverage_ = weights.sum(axis=1)
        self.shares_ = weights / self.coverage_[:, None]
        self.specified_ = specified_by_rules(rules, labels, levels, scale)
        self.rules_ = RuleList(rules, None, getattr(self, "encoder_", None))

    def _learnt_rules(self, sample: CountedRows, kinds: np.ndarray) -> list[Rule]:
        least = max(
            sample.least_weight(self.min_samples_rule),
            self.min_weight_fraction_leaf * float(sample.weights.sum()),
        )
        if self.rules == "leaves":
            return self._leaves(sample, kinds, least)
        covering = Covering(self, sample, kinds, self.max_conditions, least)
        rules = [rule for k in np.unique(sample.y) for rule in self._of_class(covering, sample, k)]
        if not rules:
            return self._leaves(sample, kinds, least)
        named = {rule.label for rule in rules}
        unnamed = [k for k in np.unique(sample.y) if self.classes_.tolist()[k] not in named]
        return rules + [self._box(sample, k, rules) for k in unnamed]

    def _of_class(self, covering: Covering, sample: CountedRows, k: int) -> list[Rule]:
        """Rules for one class: those of its rows that a rule meets are set aside, others stay."""
        rules: list[Rule] = []
        left = sample.y == k
        while left.any() and len(rules) < self.max_rules:
            found = covering.surest(left | (sample.y != k), k)
            if found is None:
                break
            rules.append(replace(found[0], label=self.classes_.tolist()[k]))
            left &= ~found[1]
        return rules

    def _box(self, sample: CountedRows, k: int, rules: list[Rule]) -> Rule:
        """A box round the rows of a class without rules, in the columns that others ask about."""
        asked = list(dict.fromkeys(c.column for rule in rules for c in rule.conditions))
        columns = EncodedColumns(sample.rows[sample.y == k], labels_of_model(self))
        conditions = [Condition(name, surroundings(columns[name])) for name in asked]
        return Rule(tuple(conditions), self.classes_.tolist()[k])

    def _leaves(self, sample: CountedRows, kinds: np.ndarray, least: float) -> list[Rule]:
        """The leaves of one tree as rules."""
        weights = None if (sample.weights == 1).all() else sample.weights
        binned = Binner().fit(sample.rows, weights, kinds, 1).transform(sample.rows, 1)
        statistics = class_statistics(sample.y, len(self.classes_), weights)
        growth = GrowthRules("gini", max_depth=self.max_conditions, min_weight_leaf=least)
        view = TreeView.of_tree(self, grow_tree(binned, statistics, growth))
        return [leaf_rule(view, leaf, path) for leaf, path in leaf_paths(view)]

    def _proba(self, rows):
        answers = np.empty((len(rows), len(self.classes_)))
        size = max(CELLS_AT_ONCE // len(self.shares_), 1)
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            distances = self.specified_.distances(block, float(self.p))
            satisfied = distances == 0
            says = np.where(satisfied.any(axis=1, keepdims=True), satisfied, 0.0)
            unmet = ~satisfied.any(axis=1)
            nearest = distances[unmet].min(axis=1, keepdims=True)
            says[unmet] = self.coverage_ * (nearest / distances[unmet]) ** self.q
            answers[start : start + size] = says @ self.shares_ / says.sum(axis=1, keepdims=True)
        return answers

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        kept = 40 * n_rows * n_columns if self.rules == "rows" else 0
        rules = self.max_rules + 2 ** min(self.max_conditions, 20)
        learning = 12 * n_rows * n_columns + 3 * n_rows * min(rules, n_rows)
        return kept + learning + 100 * n_rows + 2**16 * n_columns + 2**20

    def _check_loaded(self) -> None:
        if not hasattr(self, "specified_"):
            return
        boxes, n = self.specified_, len(self.shares_)
        sound = (
            boxes.low.shape == boxes.high.shape == boxes.accepts_missing.shape
            and boxes.low.ndim == 2
            and len(boxes.low) == n == len(self.coverage_)
            and self.shares_.shape == (n, len(self.classes_))
            and boxes.scale.shape == (boxes.low.shape[1],)
            and all(len(each) == n and each.shape[1] > 0 for each in boxes.levels.values())
            and not (np.isnan(boxes.low).any() or np.isnan(boxes.high).any())
        )
        if not sound or n == 0:
            raise ValueError("the arrays of the rules do not fit together")


def surroundings(values: np.ndarray) -> NumberSet | LevelSet:
    """The least interval, or set of levels, that holds all values of a column."""
    missing = is_missing(values)
    known = values[~missing]
    if values.dtype.kind != "f":
        return LevelSet(frozenset(known.tolist()), False, bool(missing.any()))
    ends = [Interval(float(known.min()), float(known.max()), True, True)] if len(known) else []
    return NumberSet(tuple(ends), bool(missing.any()))


def deviations(sample: CountedRows) -> np.ndarray:
    """Standard deviation of every column over the cells that are there; 1 where it is zero."""
    scale = np.ones(sample.rows.shape[1])
    for j, column in enumerate(sample.rows.T):
        known = ~np.isnan(column)
        if known.any():
            shares = sample.weights[known] / sample.weights[known].sum()
            mean = shares @ column[known]
            spread = float(np.sqrt(shares @ (column[known] - mean) ** 2))
            scale[j] = spread if spread > 0 else 1.0
    return scale


def specified_by_rows(rows: np.ndarray, levels: np.ndarray, scale: np.ndarray) -> Specified:
    """Every row as a rule that specifies all of its cells; missing cells leave a column open."""
    missing = np.isnan(rows)
    low, high = np.where(missing, -np.inf, rows), np.where(missing, np.inf, rows)
    passes = {}
    for j in np.flatnonzero(levels):
        allowed = np.zeros((len(rows), levels[j]), bool)
        here = np.flatnonzero(~missing[:, j])
        allowed[here, rows[here, j].astype(np.int64)] = True
        allowed[missing[:, j]] = True
        passes[int(j)] = allowed
    return Specified(low, high, missing, passes, scale)


def specified_by_rules(
    rules: list[Rule], labels: dict, levels: np.ndarray, scale: np.ndarray
) -> Specified:
    """Rules as boxes; an end that does not belong to an interval is moved to the next number."""
    shape = len(rules), len(levels)
    low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
    missing = np.ones(shape, bool)
    passes = {int(j): np.ones((len(rules), levels[j]), bool) for j in np.flatnonzero(levels)}
    for k, rule in enumerate(rules):
        for condition in rule.conditions:
            j, names = labels[condition.column]
            region = condition.region
            missing[k, j] = region.missing
            if isinstance(region, LevelSet):
                named = names if names is not None else list(range(levels[j]))
                passes[j][k] = [(name in region.values) != region.others for name in named]
            elif isinstance(region, NumberSet):
                low[k, j], high[k, j] = _ends(region)
    return Specified(low, high, missing, passes, scale)


def _ends(region: NumberSet) -> tuple[float, float]:
    if not region.intervals:
        return np.inf, -np.inf
    first, last = region.intervals[0], region.intervals[-1]
    low = first.low if first.low_in else np.nextafter(first.low, np.inf)
    high = last.high if last.high_in else np.nextafter(last.high, -np.inf)
    return low if np.isfinite(first.low) else -np.inf, high if np.isfinite(last.high) else np.inf
