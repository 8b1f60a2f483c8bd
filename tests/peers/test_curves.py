"""Curves beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.model_selection import validation_curve as their_validation_curve
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from gnomon.evaluate import validation_curve_estimates


@pytest.mark.covers("validation-curve")
def test_scores_of_every_fold_are_scikit_learns(rng):
    X = rng.standard_normal((90, 2))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    values = [1, 5, 20]
    ours = validation_curve_estimates(
        KNeighborsClassifier(), X, y, "n_neighbors", values, cv=folds, measures="accuracy"
    )
    train, test = their_validation_curve(
        KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=values, cv=folds
    )
    assert ours.samples["training"] == pytest.approx(train)
    assert ours.samples["validation"] == pytest.approx(test)


@pytest.mark.covers("validation-curve")
def test_squared_errors_of_trees_are_scikit_learns(rng):
    X = rng.uniform(size=(80, 1))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.standard_normal(80)
    folds = KFold(4)
    learner = DecisionTreeRegressor(random_state=0)
    ours = validation_curve_estimates(learner, X, y, "max_depth", [1, 4], cv=folds)
    _, test = their_validation_curve(
        learner,
        X,
        y,
        param_name="max_depth",
        param_range=[1, 4],
        cv=folds,
        scoring="neg_mean_squared_error",
    )
    assert ours.samples["validation"] == pytest.approx(-test)
    assert ours.values("validation") == pytest.approx(-test.mean(axis=1), rel=1e-6)
