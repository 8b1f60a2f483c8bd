"""Nearest neighbors: the number of neighbors by cross-validation, for classes and for numbers."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = make_classification(
    n_samples=20_000, n_features=10, n_informative=8, n_classes=4, random_state=0
)
pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier(weights="distance"))
search = GridSearchCV(pipeline, {"kneighborsclassifier__n_neighbors": [1, 5, 15, 40]}, cv=5)
search.fit(X, y)
print(search.best_params_, np.round(search.cv_results_["mean_test_score"], 4))
target = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
search = GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [2, 8, 20]}, cv=5).fit(X, target)
print(search.best_params_, np.round(search.cv_results_["mean_test_score"], 4))
