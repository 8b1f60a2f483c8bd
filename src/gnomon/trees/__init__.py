"""Trees: one histogram grower under single trees, forests and boosting."""

from gnomon.trees.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from gnomon.trees.conditions import Condition
from gnomon.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from gnomon.trees.export import export_text
from gnomon.trees.flexible_tree import FlexibleTreeClassifier, FlexibleTreeRegressor
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.model_tree import ModelTreeRegressor
from gnomon.trees.oblique_tree import (
    GaussianTreeClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from gnomon.trees.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor
from gnomon.trees.pruning import PruningPath, cost_complexity_path, prune, reduced_error_prune
from gnomon.trees.random_forest import RandomForestClassifier, RandomForestRegressor
from gnomon.trees.rule_instances import RuleInstanceClassifier
from gnomon.trees.rule_list import RuleListClassifier
from gnomon.trees.rules import Rule, RuleList
from gnomon.trees.tree import Tree
from gnomon.trees.tree_rules import generalise, rules_from_tree

__all__ = [
    "Condition",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "FlexibleTreeClassifier",
    "FlexibleTreeRegressor",
    "GaussianTreeClassifier",
    "GeneralTree",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ModelTreeRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "PruningPath",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Rule",
    "RuleInstanceClassifier",
    "RuleList",
    "RuleListClassifier",
    "Tree",
    "cost_complexity_path",
    "export_text",
    "generalise",
    "prune",
    "reduced_error_prune",
    "rules_from_tree",
]
