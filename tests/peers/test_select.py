"""Selectors against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import feature_selection as peer
from sklearn.linear_model import LinearRegression

from gnomon import select
from gnomon.select import (
    FilterSelector,
    RecursiveElimination,
    SelectFromModel,
    mutual_information,
)


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(150, 6))
    return X, X[:, 0] - 2 * X[:, 3] + rng.normal(size=150)


@pytest.mark.covers("rank-pearson-correlation")
def test_correlations_are_those_of_r_regression(problem):
    X, y = problem
    ours = FilterSelector(score_func="correlation").fit(X, y).scores_
    np.testing.assert_allclose(ours, np.abs(peer.r_regression(X, y)), atol=1e-10)


@pytest.mark.covers("rank-correlation-ratio")
def test_p_of_the_correlation_ratio_is_that_of_f_classif(problem):
    X, y = problem
    classes = np.digitize(y, [-1, 1])
    ours = FilterSelector(score_func="correlation_ratio").fit(X, classes).p_values_
    np.testing.assert_allclose(ours, peer.f_classif(X, classes)[1], rtol=1e-6, atol=1e-14)


@pytest.mark.covers("recursive-feature-elimination")
def test_elimination_of_standardized_columns_keeps_what_rfe_keeps(problem):
    X, y = problem
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = peer.RFE(LinearRegression(), n_features_to_select=2).fit(Z, y)
    ours = RecursiveElimination(LinearRegression(), 2, step=1).fit(X, y)
    assert ours.get_support().tolist() == theirs.get_support().tolist()


@pytest.mark.covers("rank-mutual-information")
def test_neighbors_estimate_what_scikit_learns_do(problem):
    X, y = problem
    theirs = peer.mutual_info_regression(X[:, [3]], y, random_state=0)[0]
    assert abs(max(mutual_information(X[:, 3], y, method="knn"), 0) - theirs) < 0.05


def test_a_fitted_model_selects_features_without_another_fit():
    X = np.array([[0.0, 5.0], [1.0, 7.0], [8.0, 5.0], [9.0, 6.0]])
    model = LinearRegression().fit(X, X[:, 0])
    assert SelectFromModel(model, prefit=True).fit(X).get_support().tolist() == [True, False]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_half_of_the_columns_are_those_that_scikit_learn_selects_in_sequence(problem, direction):
    X, y = problem
    ours, theirs = (
        each.SequentialFeatureSelector(LinearRegression(), direction=direction, cv=3).fit(X, y)
        for each in (select, peer)
    )
    assert ours.n_features_to_select_ == 3
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
