"""Kernel density: choose the bandwidth by cross-validation, then evaluate the density."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

rng = np.random.RandomState(1)
X = np.concatenate([rng.normal(0, 1, 2_400), rng.normal(5, 1, 3_600)])[:, np.newaxis]
rng.shuffle(X)
search = GridSearchCV(KernelDensity(), {"bandwidth": np.logspace(-1.5, 0.5, 12)}, cv=5).fit(X)
print(f"bandwidth {search.best_params_['bandwidth']:.4f}, log-likelihood {search.best_score_:.4f}")
grid = np.linspace(-5, 10, 2_000)[:, np.newaxis]
density = np.exp(search.best_estimator_.score_samples(grid))
print("mass on the grid", np.round(density.mean() * 15, 6))
print("highest density at", np.round(grid[density.argmax(), 0], 3))
