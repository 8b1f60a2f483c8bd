"""Importances of features by a forest: by impurity and by permutation."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

X, y = make_classification(
    n_samples=6_000, n_features=20, n_informative=4, n_redundant=2, random_state=0, shuffle=False
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)
forest = RandomForestClassifier(n_estimators=200, random_state=0).fit(X_train, y_train)
print(f"accuracy {forest.score(X_test, y_test):.4f}")
order = np.argsort(forest.feature_importances_)[::-1]
print("by impurity", order[:6], np.round(forest.feature_importances_[order[:6]], 4))
result = permutation_importance(forest, X_test, y_test, n_repeats=3, random_state=42)
order = np.argsort(result.importances_mean)[::-1]
print("by permutation", order[:6], np.round(result.importances_mean[order[:6]], 4))
