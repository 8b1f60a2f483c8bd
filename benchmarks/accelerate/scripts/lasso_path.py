"""Lasso and elastic net: paths of coefficients, and the penalty by cross-validation."""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.linear_model import ElasticNetCV, LassoCV, enet_path, lasso_path
from sklearn.preprocessing import StandardScaler

X, y = make_regression(n_samples=600, n_features=300, n_informative=20, noise=20.0, random_state=0)
X = StandardScaler().fit_transform(X)
alphas, path, _ = lasso_path(X, y, eps=5e-3)
print("lasso: coefficients that are not zero", np.count_nonzero(path, axis=0)[::20])
alphas, path, _ = enet_path(X, y, eps=5e-3, l1_ratio=0.8)
print("elastic net: coefficients that are not zero", np.count_nonzero(path, axis=0)[::20])
model = LassoCV(cv=10).fit(X, y)
print(f"lasso alpha {model.alpha_:.3f}, {np.count_nonzero(model.coef_)} coefficients")
model = ElasticNetCV(cv=10, l1_ratio=[0.5, 0.9]).fit(X, y)
print(f"elastic net alpha {model.alpha_:.3f}, {np.count_nonzero(model.coef_)} coefficients")
