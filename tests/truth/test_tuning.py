"""Search of parameters: agreement with exhaustive search, honest scores, tables inside folds."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from sklearn.metrics import accuracy_score, make_scorer

from gnomon import select
from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import cross_validation_estimates, one_standard_error
from gnomon.linear import LogisticRegression, Ridge, RidgeClassifier
from gnomon.neighbors import KNeighborsClassifier
from gnomon.optimize import Integer, Real
from gnomon.select import GridSearchCV, HalvingGridSearchCV, penalty_search, tune
from gnomon.table import Table


@pytest.fixture
def noisy(rng):
    X = rng.normal(size=(80, 6))
    return X, X[:, 0] + rng.normal(size=80)


@pytest.mark.covers("parameter-search-cv")
def test_every_method_of_tuning_finds_the_best_of_a_small_grid(noisy):
    X, y = noisy
    space = {"alpha": [0.01, 1.0, 100.0]}
    means = {
        alpha: cross_validation_estimates(Ridge(alpha), X, y, cv=5, pair_fits=0).mean
        for alpha in space["alpha"]
    }
    best = min(means, key=means.get)
    for method in ("grid", "random", "evolution"):
        found = tune(Ridge(), X, y, space, method=method, max_evaluations=60)
        assert found.best_params_ == {"alpha": best}
        assert found.best_score_ == pytest.approx(means[best])
        assert len(found.cv_results_["params"]) == 3  # none is fitted twice
        assert found.best_estimator_.alpha == best


@pytest.mark.covers("parameter-search-cv")
def test_the_honest_score_of_noise_is_chance_and_the_best_score_is_not(rng):
    X, y = rng.normal(size=(60, 4)), rng.permutation(np.arange(60) % 2)
    found = tune(
        KNeighborsClassifier(),
        X,
        y,
        {"n_neighbors": Integer(1, 25)},
        max_evaluations=15,
        nested=3,
        measure="accuracy",
    )
    assert found.best_score_ > 0.4
    assert found.honest_score.low < 0.6
    assert found.best_score_ >= found.cv_results_["mean_test_score"][0]
    assert "no part in the choice" in str(found)


@pytest.mark.covers("parameter-search-cv", "successive-halving")
def test_searches_of_scikit_learns_names_agree_with_it(noisy):
    X, y = noisy
    grid = {"alpha": [0.01, 1.0, 100.0]}
    ours = GridSearchCV(Ridge(), grid, cv=4).fit(X, y)
    theirs = model_selection.GridSearchCV(Ridge(), grid, cv=4).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    halved = HalvingGridSearchCV(Ridge(), grid, cv=2, random_state=0).fit(X, y)
    assert halved.best_params_["alpha"] in grid["alpha"]


def undefined_below(estimator, X, y):
    """Accuracy; NaN for alpha = 1 and where only one class is left."""
    if len(np.unique(y)) < 2 or estimator.alpha == 1.0:
        return np.nan
    return estimator.score(X, y)


@pytest.mark.covers("parameter-search-cv", "successive-halving")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("name", ["HalvingGridSearchCV", "HalvingRandomSearchCV"])
def test_candidates_without_a_score_rank_last_in_halving_as_in_scikit_learn(name, noisy):
    X, y = noisy
    labels = (y > np.median(y)).astype(int)
    alphas = {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, -1.0]}  # the last is refused by fit
    if name == "HalvingRandomSearchCV":
        grid = {"param_distributions": alphas, "n_candidates": 6}
    else:
        grid = {"param_grid": alphas}
    options = grid | {"cv": 2, "min_resources": len(y) // 4, "random_state": 3, "factor": 2}
    found = []
    for module in (select, model_selection):
        search = getattr(module, name)(RidgeClassifier(), scoring=undefined_below, **options)
        with pytest.warns(UserWarning, match="non-finite"):
            found.append(search.fit(X, labels))
    ours, theirs = found
    for of in ("mean_test_score", "rank_test_score", "iter", "n_resources"):
        np.testing.assert_array_equal(ours.cv_results_[of], theirs.cv_results_[of])
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == theirs.best_score_ > 0
    first = ours.cv_results_["rank_test_score"][ours.cv_results_["iter"] == 0]
    assert np.isnan(ours.cv_results_["mean_test_score"][: len(first)]).sum() == 2


@pytest.mark.covers("successive-halving")
def test_halving_fails_where_all_fits_fail_and_names_rounds_without_scores(noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="fits failed"):
        HalvingGridSearchCV(Ridge(), {"alpha": [-1.0, -2.0]}, cv=2).fit(X, y)
    search = HalvingGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, min_resources=2, factor=2)
    message = r"(?s)NaN in rounds with n_samples=2,.*Increase min_resources \(now 2\)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=GnomonWarning)
        with pytest.warns(GnomonWarning, match=message):
            search.fit(X, y)


@pytest.mark.covers("parameter-search-cv")
def test_tables_are_encoded_inside_the_folds(rng):
    frame = pd.DataFrame(
        {
            "place": rng.choice(["north", "south", None], 60),
            "size": rng.normal(size=60),
            "y": np.arange(60) % 2,
        }
    )
    frame["size"] += frame["y"]
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
    found = search.fit(Table.from_frame(frame), "y")
    assert list(found.feature_names_in_) == ["place", "size"]
    assert found.best_estimator_.encoder_ is not None
    assert not hasattr(found, "encoder_")
    assert len(found.predict(frame[["place", "size"]])) == 60


@pytest.mark.covers("penalty-weight-search", "one-standard-error-rule")
def test_penalty_curve_takes_the_strongest_within_one_standard_error(noisy):
    X, y = noisy
    found = penalty_search(Ridge(), X, y, low=1e-3, high=1e5, rule="one-standard-error")
    assert found.simplest >= found.best
    place = one_standard_error(found.means, found.errors, -found.values)
    assert found.simplest == found.values[place]
    assert found.best_estimator_.alpha == found.simplest
    np.testing.assert_allclose(found.values[1:] / found.values[:-1], 10)
    best = int(np.argmin(found.means))
    assert found.means[place] <= found.means[best] + found.errors[best]


@pytest.mark.covers("penalty-weight-search")
def test_a_best_penalty_at_the_edge_is_told(rng):
    X = rng.normal(size=(60, 2))
    with pytest.warns(GnomonWarning, match="edge"):
        found = penalty_search(Ridge(), X, X @ [1.0, 2.0], low=0.1, high=100)
    assert found.at_edge


def test_unknown_parameters_and_unnamed_spaces_are_refused(noisy):
    with pytest.raises(DataError, match="no parameters"):
        tune(Ridge(), *noisy, {"beta": Real(0, 1)})
    with pytest.raises(DataError, match="dict"):
        tune(Ridge(), *noisy, [(0, 1)])


@pytest.mark.covers("successive-halving")
@pytest.mark.parametrize("method", ["hyperband", "successive-halving"])
def test_halving_tunes_on_few_rows_first_and_chooses_by_scores_on_all(rng, method):
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=120)
    space = {"alpha": Real(1e-3, 1e5, log=True)}
    found = tune(Ridge(), X, y, space, method=method, max_evaluations=100, cv=3, random_state=1)
    rows = np.array(found.cv_results_["n_resources"])
    assert rows.max() == 80
    assert (rows < 40).sum() > (rows == 80).sum()
    full = np.array(found.cv_results_["mean_test_score"])[rows == 80]
    best = full.max() if found.greater_is_better else full.min()
    assert found.best_score_ == pytest.approx(best)
    assert found.best_params_["alpha"] < 1000


@pytest.mark.covers("parameter-search-cv")
@pytest.mark.parametrize("name", ["GridSearchCV", "HalvingGridSearchCV"])
def test_a_search_by_a_measure_without_a_target_names_it_and_the_remedy(name, noisy):
    X, _ = noisy
    grid = {"n_clusters": [2, 3]}
    for scoring in ("accuracy", make_scorer(accuracy_score)):
        search = getattr(select, name)(KMeans(random_state=0), grid, scoring=scoring)
        with pytest.raises(DataError, match=r"accuracy.*none is given: give y, or choose"):
            search.fit(X)
    by_own_score = getattr(select, name)(KMeans(random_state=0), grid).fit(X)
    assert np.isfinite(by_own_score.best_score_)
