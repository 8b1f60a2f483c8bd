"""Searches of parameters with several targets, and with folds given as positions of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection

from gnomon import select
from gnomon.linear import Ridge


@pytest.mark.parametrize("name", ["GridSearchCV", "RandomizedSearchCV"])
def test_an_estimator_of_several_targets_is_searched(rng, name):
    X = rng.normal(size=(30, 3))
    Y = X @ rng.normal(size=(3, 2))
    more = {"n_iter": 2, "random_state": 0} if name == "RandomizedSearchCV" else {}
    ours = getattr(select, name)(Ridge(), {"alpha": [0.1, 10.0]}, **more).fit(X, Y)
    peer = getattr(model_selection, name)(Ridge(), {"alpha": [0.1, 10.0]}, **more).fit(X, Y)
    assert ours.best_params_ == peer.best_params_
    assert ours.best_score_ == pytest.approx(peer.best_score_)
    assert ours.predict(X).shape == (30, 2)


def test_folds_given_as_positions_stay_where_some_rows_weigh_nothing(rng):
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=30)
    weights = np.where(np.arange(30) % 5 == 0, 0.0, 1.0)
    folds = list(model_selection.KFold(3).split(X))
    ours, peer = (
        cls(Ridge(), {"alpha": [0.1, 10.0]}, cv=folds).fit(X, y, sample_weight=weights)
        for cls in (select.GridSearchCV, model_selection.GridSearchCV)
    )
    assert ours.best_params_ == peer.best_params_
    np.testing.assert_allclose(ours.best_estimator_.coef_, peer.best_estimator_.coef_)
