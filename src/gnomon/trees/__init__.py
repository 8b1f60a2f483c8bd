"""Trees: one histogram grower under single trees, forests and boosting."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.trees.anova import AnovaExpansion, anova_expansion
from gnomon.trees.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from gnomon.trees.conditions import Condition
from gnomon.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from gnomon.trees.export import export_text
from gnomon.trees.flexible_tree import FlexibleTreeClassifier, FlexibleTreeRegressor
from gnomon.trees.general_tree import GeneralTree
from gnomon.trees.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from gnomon.trees.importance import PermutationImportance
from gnomon.trees.isolation_forest import IsolationForest
from gnomon.trees.model_tree import ModelTreeRegressor
from gnomon.trees.oblique_tree import (
    GaussianTreeClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from gnomon.trees.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor
from gnomon.trees.pruning import PruningPath, cost_complexity_path, prune, reduced_error_prune
from gnomon.trees.random_forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.trees.rule_instances import RuleInstanceClassifier
from gnomon.trees.rule_list import RuleListClassifier
from gnomon.trees.rules import Rule, RuleList
from gnomon.trees.shrinkage import ShrinkageTable, shrinkage_table
from gnomon.trees.stump import DecisionStump, RegressionStump, decision_stump, regression_stump
from gnomon.trees.tree import Tree
from gnomon.trees.tree_rules import generalize, rules_from_tree

__all__ = [
    "AnovaExpansion",
    "Condition",
    "DecisionStump",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FlexibleTreeClassifier",
    "FlexibleTreeRegressor",
    "GaussianTreeClassifier",
    "GeneralTree",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "ModelTreeRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "PermutationImportance",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "PruningPath",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RegressionStump",
    "Rule",
    "RuleInstanceClassifier",
    "RuleList",
    "RuleListClassifier",
    "ShrinkageTable",
    "Tree",
    "anova_expansion",
    "cost_complexity_path",
    "decision_stump",
    "export_text",
    "generalize",
    "prune",
    "reduced_error_prune",
    "regression_stump",
    "rules_from_tree",
    "shrinkage_table",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "generalise": "generalize",
    },
)
