"""Gaussian mixtures: number of components and kind of covariance by BIC."""

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV

rng = np.random.RandomState(0)
stretched = rng.standard_normal((30_000, 8)) @ rng.standard_normal((8, 8))
shifted = 0.7 * rng.standard_normal((30_000, 8)) + np.linspace(-4, 4, 8)
X = np.concatenate([stretched, shifted])


def minus_bic(estimator, X):
    return -estimator.bic(X)


grid = {"n_components": [1, 2, 3, 4], "covariance_type": ["spherical", "tied", "diag", "full"]}
search = GridSearchCV(GaussianMixture(random_state=0), grid, scoring=minus_bic, cv=3).fit(X)
print("best", search.best_params_, f"{-search.best_score_:.1f}")
for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
    print(params["n_components"], params["covariance_type"], f"{-score:.1f}")
