"""Trees: one histogram grower under single trees, forests and boosting."""

from gnomon.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from gnomon.trees.random_forest import RandomForestClassifier, RandomForestRegressor
from gnomon.trees.tree import Tree

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Tree",
]
