"""Gradient boosting regression: deviance by stage and importances of features."""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

X, y = make_friedman1(n_samples=6_000, n_features=12, noise=0.5, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=13)
model = GradientBoostingRegressor(
    n_estimators=400, max_depth=4, min_samples_split=5, learning_rate=0.02, random_state=0
).fit(X_train, y_train)
print(f"mean squared error {mean_squared_error(y_test, model.predict(X_test)):.4f}")
stages = [mean_squared_error(y_test, stage) for stage in model.staged_predict(X_test)]
print("after 100, 200, 300 trees", np.round(stages[99::100][:3], 4))
order = np.argsort(model.feature_importances_)[::-1]
print("features", order[:6], np.round(model.feature_importances_[order[:6]], 4))
