"""Rules read off a tree: one per leaf, and shorter ones that may overlap.

Every path from the root to a leaf is a rule; its conditions are joined to at most one per column.
Such rules cover everything and contradict nowhere. `generalize` drops the conditions that the data
do not support (as C4.5rules does), which makes rules shorter, lets them overlap, and so needs an
order and a default.

Text: 004 6 (introduction: rules read off a tree do not contradict each other).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy

from gnomon.trees.conditions import Condition, simplified
from gnomon.trees.rules import Rule, RuleList
from gnomon.trees.view import TreeView

DOUBT = 0.25  # one-sided: the true error share exceeds the bound with this probability


def rules_from_tree(estimator, *, tree=None) -> RuleList:
    """The rules of a fitted tree: one per leaf, with coverage and accuracy on the training rows.

    The list says what the tree says, also of missing cells where the tree sends them down one
    branch; a tree that divides such rows, or asks surrogates, is more than rules, and here they get
    the root's answer. Use `generalize` for shorter rules.

    Parameters
    ----------
    estimator : fitted tree, or a forest together with one of its trees
        With questions about one column each.
    tree : Tree or GeneralTree, default=None
        One of the forest's ``trees_``.

    Returns
    -------
    rules : RuleList

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier, rules_from_tree
    >>> rows, y = [[1.0], [2.0], [5.0], [8.0]], ["a", "a", "b", "a"]
    >>> print(rules_from_tree(DecisionTreeClassifier().fit(rows, y)))
    1. if x0 <= 3.5 then a   [2 rows, 100% right]
    2. if 3.5 < x0 <= 6.5 then b   [1 row, 100% right]
    3. if x0 > 6.5 then a   [1 row, 100% right]
    else a
    """
    view = TreeView.of(estimator, tree)
    rules = [leaf_rule(view, leaf, path) for leaf, path in leaf_paths(view)]
    return RuleList(rules, label_of(view, 0), getattr(estimator, "encoder_", None))


def leaf_paths(view: TreeView) -> list[tuple[int, tuple[Condition, ...]]]:
    """Every leaf that training rows reached, with the joined conditions of its path."""
    found = []
    waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        children = view.children(node)
        if not children:
            if view.tree.weight[node] > 0:
                found.append((node, simplified(path)))
            continue
        for branch, child in reversed(list(enumerate(children))):
            condition = view.condition(node, branch)
            if condition is None:
                raise ValueError(
                    f"node {node} asks about several columns at once, which no rule can say; "
                    "rules are read off trees with questions about single columns"
                )
            waiting.append((child, (*path, condition)))
    return found


def leaf_rule(view: TreeView, leaf: int, conditions: tuple[Condition, ...]) -> Rule:
    """The rule of a leaf."""
    tree = view.tree
    value, coverage = tree.value[leaf], float(tree.weight[leaf])
    if view.classes is None:
        spread = float(np.sqrt(max(tree.impurity[leaf], 0.0)))
        return Rule(conditions, label_of(view, leaf), None, coverage, spread)
    names = view.classes.tolist()
    shares = {names[k]: float(value[k]) for k in np.flatnonzero(value)}
    return Rule(conditions, label_of(view, leaf), shares, coverage, float(value.max()))


def label_of(view: TreeView, node: int):
    """What a node predicts, as a plain value."""
    value = view.tree.value[node]
    if view.classes is not None:
        return view.classes.tolist()[int(value.argmax())]
    if len(value) == 1:
        return float(value[0])
    return {f"y{k}": float(each) for k, each in enumerate(value)}


def generalize(
    rules: RuleList, columns: Mapping[str, np.ndarray], y: np.ndarray, weights: np.ndarray
) -> RuleList:
    """Shorter rules in order of their expected accuracy, with a default.

    Each rule loses, one by one, the condition whose loss lowers its pessimistic error most (the
    upper bound of its error share that is exceeded with probability 1/4), as long as that does not
    rise. Rules that became equal are kept once; the default is the commonest label of the rows that
    no rule meets.

    Parameters
    ----------
    rules : RuleList
        Of classes.
    columns : mapping of str to ndarray
        The rows, by column.
    y : ndarray of shape (n,)
        Their classes.
    weights : ndarray of shape (n,)

    Returns
    -------
    rules : RuleList
    """
    shorter = [_shortened(rule, columns, y, weights) for rule in rules]
    unique = list({(rule.conditions, rule.label): rule for rule in shorter}.values())
    order = np.argsort([_doubt(rule) for rule in unique], kind="stable")
    ordered = RuleList([unique[k] for k in order], rules.default, rules.encoder)
    fired = ordered.fired_for(columns, len(y))
    left = fired < 0
    rest = y[left] if left.any() else y
    rest_weights = weights[left] if left.any() else weights
    labels, codes = np.unique(rest, return_inverse=True)
    ordered.default = labels.tolist()[int(np.bincount(codes, rest_weights).argmax())]
    return ordered


def _shortened(rule: Rule, columns, y: np.ndarray, weights: np.ndarray) -> Rule:
    best = _measured(rule.conditions, rule.label, columns, y, weights)
    while best.conditions:
        fewer = [
            _measured(
                best.conditions[:k] + best.conditions[k + 1 :], rule.label, columns, y, weights
            )
            for k in range(len(best.conditions))
        ]
        candidate = min(fewer, key=_doubt)
        if _doubt(candidate) > _doubt(best):
            break
        best = candidate
    return best


def _measured(conditions, label, columns, y: np.ndarray, weights: np.ndarray) -> Rule:
    fired = Rule(conditions, label).fires(columns, len(y))
    coverage = float(weights[fired].sum())
    labels, codes = np.unique(y[fired], return_inverse=True)
    by_label = np.bincount(codes, weights[fired], len(labels))
    shares = {name: float(w) / coverage for name, w in zip(labels.tolist(), by_label)}
    return Rule(tuple(conditions), label, shares, coverage, shares.get(label, 0.0))


def _doubt(rule: Rule) -> float:
    """Pessimistic error share of a rule."""
    assert rule.coverage is not None
    assert rule.accuracy is not None
    right = rule.coverage * rule.accuracy
    return upper_error(rule.coverage - right, rule.coverage)


def upper_error(wrong: float, total: float) -> float:
    """Upper bound of an error share, exceeded with probability 1/4 (Clopper-Pearson).

    Examples
    --------
    >>> round(upper_error(0.0, 6.0), 3)
    0.206
    """
    if total <= 0 or wrong >= total:
        return 1.0
    return float(scipy.stats.beta.ppf(1 - DOUBT, wrong + 1, total - wrong))
