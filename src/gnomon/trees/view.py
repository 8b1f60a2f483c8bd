"""One view of every fitted tree, for prints, rules and pictures: nodes, branches and conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import intake
from gnomon.trees.conditions import Condition, Interval, LevelSet, NumberSet
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.learner import dense
from gnomon.trees.naming import labels_of_model
from gnomon.trees.pruning import Family, arrivals
from gnomon.trees.questions import AT_MOST, BELOW, GAUSSIAN, LEVELS, LINEAR, UNKNOWN, Questions
from gnomon.trees.tree import Tree

MOST_TERMS = 4  # judgement: of an oblique split; longer sums are not read


@dataclass
class TreeView:
    """A fitted tree as people see it.

    Attributes
    ----------
    model : fitted estimator
    tree : Tree or GeneralTree
    names : list of str
        Columns.
    levels : list of (list or None)
        Labels of their levels; None for numbers.
    classes : ndarray or None
    """

    model: Any
    tree: Tree | GeneralTree
    names: list[str]
    levels: list[list | None]
    classes: np.ndarray | None

    @classmethod
    def of(cls, model, tree: Tree | GeneralTree | None = None) -> TreeView:
        """The view of a model's tree, or of one of its trees."""
        check_is_fitted(model)
        if tree is None:
            tree = getattr(model, "nodes_", None) or getattr(model, "tree_", None)
        if tree is None:
            raise TypeError(
                f"{type(model).__name__} is not one tree; give one of its trees_ as well"
            )
        return cls.of_tree(model, tree)

    @classmethod
    def of_tree(cls, model, tree: Tree | GeneralTree) -> TreeView:
        """The view of a tree with the names of a model that may still be learning."""
        labels = labels_of_model(model)
        levels = [each for _, each in labels.values()]
        return cls(model, tree, list(labels), levels, getattr(model, "classes_", None))

    @property
    def family(self) -> Family:
        return Family.of(self.tree)

    @property
    def n_rows(self) -> np.ndarray:
        """Training rows in each node."""
        return self.tree.count if isinstance(self.tree, GeneralTree) else self.tree.n_node_samples

    def children(self, node: int) -> list[int]:
        family = self.family
        below = family.children(node)
        return list(range(below.start, below.stop)) if family.n_children[node] else []

    def condition(self, node: int, branch: int, missing: bool = True) -> Condition | None:
        """What a row must be to take a branch; None where that is no test of one column.

        With `missing`, the condition says also whether missing cells and levels that were never
        seen take it; without, it is what people read.
        """
        if isinstance(self.tree, Tree):
            return self._binary_condition(node, branch, missing)
        return self._general_condition(self.tree.questions, node, branch, missing)

    def branch_text(self, node: int, branch: int, digits: int = 4, missing: bool = False) -> str:
        """The branch's condition in words."""
        condition = self.condition(node, branch, missing)
        if condition is not None:
            return condition.text(digits)
        assert isinstance(self.tree, GeneralTree)
        questions = self.tree.questions
        if questions.kind[node] == LINEAR:
            sign = "<" if branch == questions.low[node] else ">="
            terms = self._terms(questions.directions[questions.place[node]], digits)
            return f"{terms} {sign} {questions.threshold[node]:.{digits}g}"
        if questions.kind[node] == GAUSSIAN:
            return f"most like normal cloud {branch + 1} of {questions.n_gaussians[node]}"
        return ""

    def _terms(self, direction: np.ndarray, digits: int) -> str:
        """The greatest terms of a linear combination."""
        order = np.argsort(-np.abs(direction), kind="stable")[:MOST_TERMS]
        used = [j for j in order if direction[j] != 0]
        text = " ".join(f"{direction[j]:+.{digits}g} {self.names[j]}" for j in used)
        more = np.count_nonzero(direction) - len(used)
        return text.removeprefix("+") + (f" + {more} more" if more > 0 else "")

    def _binary_condition(self, node: int, branch: int, told: bool) -> Condition:
        tree = self.tree
        assert isinstance(tree, Tree)
        j = int(tree.feature[node])
        missing = told and bool(tree.missing_left[node]) == (branch == 0)
        if tree.category[node] < 0:
            return self._threshold(j, float(tree.threshold[node]), branch == 0, True, missing)
        mask = tree.category_left[tree.category[node]]
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little").astype(bool)
        labels = self.levels[j]
        if labels is None:
            labels = list(range(len(bits)))
        left = [label for code, label in enumerate(labels) if bits[code]]
        right = [label for code, label in enumerate(labels) if not bits[code]]
        here, there = (left, right) if branch == 0 else (right, left)
        if missing:
            return Condition(self.names[j], LevelSet(frozenset(there), True, True))
        return Condition(self.names[j], LevelSet(frozenset(here), False, False))

    def _general_condition(
        self, questions: Questions, which: int, branch: int, told: bool = True
    ) -> Condition | None:
        kind, j = questions.kind[which], int(questions.feature[which])
        goes_here = int(questions.missing[which]) == branch
        missing = told and goes_here
        if kind in (AT_MOST, BELOW):
            is_low = branch == questions.low[which]
            threshold = float(questions.threshold[which])
            return self._threshold(j, threshold, is_low, kind == AT_MOST, missing)
        if kind == LEVELS:
            first = int(questions.first_level[which])
            branches = questions.level_branch[first : first + int(questions.n_levels[which])]
            labels = self._labels(j, len(branches))
            here = [labels[code] for code in np.flatnonzero(branches == branch)]
            missing |= goes_here and not here
            there = [
                labels[c] for c in np.flatnonzero((branches != branch) & (branches != UNKNOWN))
            ]
            if not missing:
                return Condition(self.names[j], LevelSet(frozenset(here), False, False))
            if not here:
                return Condition(self.names[j], LevelSet(frozenset(), False, True))
            return Condition(self.names[j], LevelSet(frozenset(there), True, True))
        return None

    def _labels(self, j: int, n: int) -> list:
        labels = self.levels[j]
        return list(range(n)) if labels is None else labels

    def _threshold(
        self, j: int, threshold: float, is_low: bool, closed: bool, missing: bool
    ) -> Condition:
        if threshold == np.inf:
            return Condition(self.names[j], NumberSet((Interval(),) if is_low else (), not is_low))
        if is_low:
            interval = Interval(high=threshold, high_in=closed)
        else:
            interval = Interval(low=threshold, low_in=not closed)
        return Condition(self.names[j], NumberSet((interval,), missing))

    def surrogate_texts(self, node: int, digits: int = 4) -> list[str]:
        """The surrogates of a node: the test that sends to its first branch, and the agreement."""
        tree = self.tree
        if isinstance(tree, Tree):
            return []
        texts = []
        for which in range(tree.first_surrogate[node], tree.first_surrogate[node + 1]):
            condition = self._general_condition(tree.surrogates, which, 0)
            assert condition is not None
            texts.append(f"{condition.text(digits)} (agrees {tree.agreement[which]:.0%})")
        return texts

    def value_text(self, node: int, digits: int = 4) -> str:
        """What the node predicts, in words."""
        value = self.tree.value[node]
        if self.classes is None:
            return ", ".join(f"{each:.{digits}g}" for each in value)
        order = np.argsort(-value, kind="stable")
        shown = [k for k in order if value[k] >= 0.005]
        if len(shown) == 1:
            return str(self.classes[shown[0]])
        text = ", ".join(f"{self.classes[k]} {value[k]:.0%}" for k in shown[:3])
        return text + (" ..." if len(shown) > 3 else "")

    def visits(self, X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, node and part of the row, for every node that a row passes."""
        blocks = [dense(block) for block in intake.blocks_of(self.model, X)]
        rows = np.ascontiguousarray(np.concatenate(blocks), dtype=np.float64)
        return arrivals(self.tree, rows)
