"""Further classes of scikit-learn under its names: its numbers, and what is added to them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
import sklearn.covariance
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.mixture
import sklearn.neighbors
from scipy import stats
from scipy.spatial import distance

import gnomon
from gnomon import density
from gnomon.cluster import OPTICS, SpectralClustering
from gnomon.engine.errors import DataError
from gnomon.linear import Lars, Lasso, LassoLars
from gnomon.margin import KernelRidge

COVARIANCES = ["LedoitWolf", "OAS", "MinCovDet"]


def rows_of(rng, n=60, d=4):
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3


@pytest.mark.parametrize("name", COVARIANCES)
def test_scores_of_a_covariance_are_the_normal_density_of_scipy(name, rng):
    X, new = rows_of(rng), rows_of(rng, 9)
    options = {"random_state": 0} if name == "MinCovDet" else {}
    model = getattr(density, name)(**options).fit(X)
    theirs = getattr(sklearn.covariance, name)(**options).fit(X)
    np.testing.assert_array_equal(model.covariance_, theirs.covariance_)
    np.testing.assert_array_equal(model.mahalanobis(new), theirs.mahalanobis(new))
    law = stats.multivariate_normal(model.location_, model.covariance_)
    np.testing.assert_allclose(model.score_samples(new), law.logpdf(new), rtol=1e-9)
    assert model.score(new) == theirs.score(new)


def test_the_density_of_columns_that_depend_on_each_other_is_within_their_space(rng):
    X = rng.normal(size=(50, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    model = density.MinCovDet(random_state=0, support_fraction=1.0).fit(X)
    law = stats.multivariate_normal(model.location_, model.covariance_, allow_singular=True)
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-7)


def test_distances_of_rows_of_a_table_are_those_of_its_encoded_rows(rng):
    frame = pd.DataFrame({"size": rng.normal(size=40), "place": rng.choice(["a", "b"], 40)})
    model = density.LedoitWolf().fit(frame)
    rows = np.column_stack([frame["size"], frame["place"] == "a", frame["place"] == "b"])
    expected = sklearn.covariance.LedoitWolf().fit(rows.astype(float))
    np.testing.assert_allclose(model.mahalanobis(frame), expected.mahalanobis(rows), rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_bayesian_mixture_and_its_course_are_those_of_scikit_learn(kind, rng, tmp_path):
    X = rng.normal(size=(90, 2)) + 6 * (np.arange(90)[:, None] % 2)
    options = {"n_components": 4, "covariance_type": kind, "random_state": 0, "max_iter": 30}
    theirs = sklearn.mixture.BayesianGaussianMixture(**options)
    ours = density.BayesianGaussianMixture(**options, keep_history="full")
    np.testing.assert_array_equal(ours.fit_predict(X), theirs.fit_predict(X))
    np.testing.assert_array_equal(ours.weights_, theirs.weights_)
    assert ours.n_iter_ == len(ours.history_) == theirs.n_iter_
    bounds = np.ravel(theirs.lower_bounds_)
    np.testing.assert_array_equal(ours.history_.objective, -bounds)
    np.testing.assert_array_equal(ours.history_.states[-1]["means"], theirs.means_)
    loaded = gnomon.load(ours.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "alpha": 0.1}, {"kernel": "chi2"}])
def test_kernel_ridge_gives_scikit_learns_numbers_for_its_own_rows_and_others(options, rng):
    X, new = abs(rng.normal(size=(40, 3))), abs(rng.normal(size=(9, 3)))
    Y = rng.normal(size=(40, 2))
    theirs = sklearn.kernel_ridge.KernelRidge(**({"gamma": 1.0} | options)).fit(X, Y)
    ours = KernelRidge(**({} if options.get("kernel") == "chi2" else {"gamma": 1.0}) | options)
    np.testing.assert_array_equal(ours.fit(X, Y).dual_coef_, theirs.dual_coef_)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_kernel_ridge_refuses_negative_values_for_kernels_of_counts_by_name(rng):
    with pytest.raises(DataError, match="kernel='chi2'"):
        KernelRidge(kernel="chi2").fit(rng.normal(size=(9, 2)), rng.normal(size=9))


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "precomputed"])
@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_spectral_clustering_has_scikit_learns_groups_and_places_its_rows_in_them(
    affinity, assign_labels, rng, tmp_path
):
    X = rng.normal(size=(60, 3)) + 4 * (np.arange(60) % 3)[:, None]
    X = np.exp(-distance.cdist(X, X)) if affinity == "precomputed" else X
    given = {"affinity": affinity, "assign_labels": assign_labels, "random_state": 0}
    theirs = sklearn.cluster.SpectralClustering(3, **given).fit(X)
    ours = SpectralClustering(3, **given).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    loaded = gnomon.load(ours.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict(X), theirs.labels_)


@pytest.mark.parametrize("affinity", ["linear", "sigmoid", "precomputed"])
def test_negative_affinities_are_refused_by_name(affinity, rng):
    X = rng.normal(size=(20, 20))
    with pytest.raises(DataError, match=f"affinity='{affinity}'"):
        SpectralClustering(2, affinity=affinity).fit(X + X.T)


@pytest.mark.parametrize(
    "options", [{}, {"cluster_method": "dbscan", "eps": 1.0}, {"metric": "cosine"}]
)
def test_optics_orders_rows_as_scikit_learn_and_places_them_in_their_groups(options, rng, tmp_path):
    X = rng.normal(size=(60, 3)) + 4 * (np.arange(60) % 3)[:, None]
    theirs = sklearn.cluster.OPTICS(**options).fit(X)
    ours = OPTICS(**options).fit(X)
    for name in ("ordering_", "reachability_", "labels_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    loaded = gnomon.load(ours.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict(X), theirs.labels_)


def test_optics_places_new_rows_by_its_metric():
    X = np.array([[1.0, 0.0], [2.0, 0.1], [3.0, 0.1], [0.0, 9.0], [0.1, 8.0], [0.1, 5.0]])
    model = OPTICS(min_samples=2, metric="cosine", cluster_method="dbscan", eps=0.1).fit(X)
    assert model.predict([[30.0, 0.0], [0.0, 0.5]]).tolist() == model.labels_[[0, 3]].tolist()


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("options", [{}, {"fit_path": False}, {"fit_intercept": False}])
def test_models_by_least_angles_are_those_of_scikit_learn(options, several, rng, tmp_path):
    X = rng.normal(size=(50, 4))
    y = X @ [3.0, 0.0, -1.0, 0.5] + rng.normal(size=50)
    y = np.column_stack([y, X[:, 1] + rng.normal(size=50)]) if several else y
    for ours, theirs in (
        (Lars(**options), sklearn.linear_model.Lars(**options)),
        (LassoLars(0.05, **options), sklearn.linear_model.LassoLars(0.05, **options)),
    ):
        np.testing.assert_array_equal(ours.fit(X, y).coef_, theirs.fit(X, y).coef_)
        loaded = gnomon.load(ours.save(tmp_path / "model.gnomon"))
        np.testing.assert_array_equal(loaded.predict(X), theirs.predict(X))


def test_the_course_of_the_lasso_by_least_angles_falls_to_the_minimum(rng):
    X = rng.normal(size=(60, 5))
    y = X @ [3.0, 0.0, -1.0, 0.5, 0.0] + rng.normal(size=60)
    model = LassoLars(0.1, keep_history="full").fit(X, y)
    exact = Lasso(alpha=0.1, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-8)
    assert (np.diff(model.history_.objective) <= 1e-12).all()
    away = y - exact.predict(X)
    costs = away @ away / 120 + 0.1 * np.abs(exact.coef_).sum()
    assert model.history_[-1] == pytest.approx(costs)
    np.testing.assert_array_equal(model.history_.states[-1]["coef"], model.coef_)
