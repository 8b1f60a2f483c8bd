"""Gaussian mixtures by brute force: densities, steps of EM, missing cells."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError

FORMS = ("full", "tied", "diag", "spherical")


def dense(covariances: np.ndarray, form: str, k: int, d: int) -> np.ndarray:
    """Covariances of any form as k matrices."""
    if form == "full":
        return covariances
    if form == "tied":
        return np.array([covariances] * k)
    if form == "diag":
        return np.array([np.diag(each) for each in covariances])
    return np.array([each * np.eye(d) for each in covariances])


def random_start(form: str, k: int, d: int, rng) -> dict:
    """Weights, means and precisions to start from."""
    shapes = {"full": (k,), "tied": (), "diag": (k, d), "spherical": (k,)}
    if form in ("diag", "spherical"):
        precisions = rng.uniform(0.5, 2, shapes[form])
    else:
        roots = rng.normal(size=(*shapes[form], d, d))
        precisions = roots @ np.swapaxes(roots, -1, -2) + 0.5 * np.eye(d)
    return {
        "weights_init": rng.dirichlet(np.full(k, 3.0)),
        "means_init": rng.normal(size=(k, d)),
        "precisions_init": precisions,
    }


def covariances_of(start: dict, form: str, k: int, d: int) -> np.ndarray:
    given = start["precisions_init"]
    inverse = 1 / given if form in ("diag", "spherical") else np.linalg.inv(given)
    return dense(inverse, form, k, d)


def log_joint(rows, weights, means, covariances) -> np.ndarray:
    """log of weight times the marginal density of the observed cells, row by row; (n, k)."""
    logs = np.empty((len(rows), len(weights)))
    for i, row in enumerate(rows):
        seen = ~np.isnan(row)
        for k, (mean, cov) in enumerate(zip(means, covariances)):
            log = 0.0
            if seen.any():
                part = cov[np.ix_(seen, seen)]
                log = multivariate_normal(mean[seen], part).logpdf(row[seen])
            logs[i, k] = np.log(weights[k]) + log
    return logs


def em_step(rows, row_weights, weights, means, covariances, form):
    """One step of EM with missing cells, by the formulas of conditional expectation."""
    d = rows.shape[1]
    shares = log_joint(rows, weights, means, covariances)
    shares = np.exp(shares - logsumexp(shares, axis=1, keepdims=True)) * row_weights[:, None]
    new_means, new_covariances = [], []
    for k, (mean, cov) in enumerate(zip(means, covariances)):
        completed = rows.copy()
        spread = np.zeros((d, d))
        for i, row in enumerate(rows):
            gone = np.isnan(row)
            if not gone.any():
                continue
            seen = ~gone
            gain = cov[np.ix_(gone, seen)] @ np.linalg.pinv(cov[np.ix_(seen, seen)])
            completed[i, gone] = mean[gone] + gain @ (row[seen] - mean[seen])
            rest = cov[np.ix_(gone, gone)] - gain @ cov[np.ix_(seen, gone)]
            spread[np.ix_(gone, gone)] += shares[i, k] * rest
        total = shares[:, k].sum()
        center = shares[:, k] @ completed / total
        off = completed - center
        new_means.append(center)
        new_covariances.append(((shares[:, [k]] * off).T @ off + spread) / total)
    new_weights = shares.sum(axis=0) / row_weights.sum()
    own = np.array(new_covariances)
    if form == "tied":
        own = np.array([np.tensordot(new_weights, own, axes=1)] * len(own))
    if form in ("diag", "spherical"):
        own = np.array([np.diag(np.diag(each)) for each in own])
    if form == "spherical":
        own = np.array([np.trace(each) / d * np.eye(d) for each in own])
    return new_weights, np.array(new_means), own


def fitted(model: GaussianMixture, rows, weights=None) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, sample_weight=weights)


@pytest.mark.covers("gaussian-mixture-em")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share_missing", [0.0, 0.3, 0.7])
def test_a_step_of_em_is_that_of_the_definition(form, share_missing, rng):
    n, k, d = 70, 3, 4
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    rows[rng.random(rows.shape) < share_missing] = np.nan
    rows[0] = 1.0
    row_weights = rng.uniform(0.2, 2, n)
    start = random_start(form, k, d, rng)
    model = GaussianMixture(k, covariance_type=form, max_iter=1, reg_covar=0, **start)
    fitted(model, rows, row_weights)
    before = start["weights_init"], start["means_init"], covariances_of(start, form, k, d)
    weights, means, covariances = em_step(rows, row_weights, *before, form)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.means_, means, rtol=1e-7, atol=1e-9)
    found = dense(model.covariances_, form, k, d)
    np.testing.assert_allclose(found, covariances, rtol=1e-7, atol=1e-9)
    likelihood = row_weights @ logsumexp(log_joint(rows, *before), axis=1) / row_weights.sum()
    assert model.history_[0] == pytest.approx(likelihood, rel=1e-10)


@pytest.mark.covers("gaussian-mixture-em")
@pytest.mark.parametrize("form", FORMS)
def test_densities_of_rows_with_gaps_are_marginal_densities(form, rng):
    rows = rng.normal(size=(300, 4)) + 3 * rng.integers(0, 2, size=(300, 1))
    model = GaussianMixture(3, covariance_type=form, random_state=0, max_iter=300).fit(rows)
    some = rows[:40].copy()
    some[rng.random(some.shape) < 0.4] = np.nan
    some[7] = np.nan
    covariances = dense(model.covariances_, form, 3, 4)
    logs = log_joint(some, model.weights_, model.means_, covariances)
    log_density = logsumexp(logs, axis=1)
    np.testing.assert_allclose(model.score_samples(some), log_density, rtol=1e-9, atol=1e-9)
    shares = np.exp(logs - log_density[:, None])
    np.testing.assert_allclose(model.predict_proba(some), shares, atol=1e-10)
    assert np.array_equal(model.predict(some), shares.argmax(axis=1))
    assert model.score_samples(some)[7] == pytest.approx(0, abs=1e-12)


@pytest.mark.covers("gaussian-mixture-em")
def test_monotone_gaps_give_the_closed_form_of_maximum_likelihood(rng):
    x = rng.normal(size=400)
    y = 2 * x + rng.normal(size=400)
    seen = 250
    rows = np.column_stack([x, np.where(np.arange(400) < seen, y, np.nan)])
    model = GaussianMixture(1, tol=1e-14, max_iter=5000, reg_covar=0).fit(rows)
    slope = np.cov(x[:seen], y[:seen], ddof=0)[0, 1] / x[:seen].var()
    mean = y[:seen].mean() + slope * (x.mean() - x[:seen].mean())
    rest = (y[:seen] - slope * x[:seen]).var()
    expected = [[x.var(), slope * x.var()], [slope * x.var(), rest + slope**2 * x.var()]]
    np.testing.assert_allclose(model.means_[0], [x.mean(), mean], atol=1e-5)
    np.testing.assert_allclose(model.covariances_[0], expected, atol=1e-4)


def test_a_row_without_any_value_changes_no_mean(rng):
    rows = rng.normal(size=(60, 2))
    more = np.vstack([rows, [[np.nan, np.nan]] * 5])
    start = {"means_init": rows[:2], "weights_init": [0.5, 0.5], "precisions_init": [np.eye(2)] * 2}
    few = fitted(GaussianMixture(1, tol=1e-13, max_iter=1000, reg_covar=0), rows)
    many = fitted(GaussianMixture(1, tol=1e-13, max_iter=1000, reg_covar=0), more)
    np.testing.assert_allclose(few.means_, many.means_, atol=1e-6)
    np.testing.assert_allclose(few.covariances_, many.covariances_, atol=1e-5)
    once = fitted(GaussianMixture(2, max_iter=1, **start), more)
    assert np.isfinite(once.lower_bound_)


def test_the_density_integrates_to_one(rng):
    rows = rng.normal(size=(100, 1)) * [[3.0]]
    model = GaussianMixture(2, random_state=0, max_iter=500).fit(rows)
    grid = np.linspace(-60, 60, 200001)[:, None]
    assert np.exp(model.score_samples(grid)).sum() * (120 / 200000) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_drawn_rows_have_the_moments_of_the_mixture(form, rng):
    rows = rng.normal(size=(500, 2)) @ [[1.0, 0.4], [0.0, 0.5]] + rng.integers(0, 2, (500, 1))
    model = fitted(GaussianMixture(2, covariance_type=form, random_state=0), rows)
    drawn, labels = model.sample(40000, random_state=rng)
    covariances = dense(model.covariances_, form, 2, 2)
    for k in range(2):
        own = drawn[labels == k]
        sd = np.sqrt(np.diagonal(covariances[k]))
        assert (np.abs(own.mean(axis=0) - model.means_[k]) < 6 * sd / np.sqrt(len(own))).all()
        slack = 8 * np.outer(sd, sd) / np.sqrt(len(own))
        assert (np.abs(np.cov(own.T) - covariances[k]) < slack).all()
    shares = np.bincount(labels, minlength=2) / len(labels)
    np.testing.assert_allclose(shares, model.weights_, atol=0.02)


def test_a_collapsed_component_is_named_with_the_remedy():
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    with pytest.raises(ValueError, match=r"component 0 .*collapsed.*reg_covar"):
        GaussianMixture(1, reg_covar=0).fit(rows)


def test_a_component_without_rows_is_kept_at_weight_zero_with_a_warning():
    rows = np.concatenate([np.linspace(-1, 1, 30), np.linspace(2, 4, 30)])[:, None]
    model = GaussianMixture(
        3,
        means_init=[[0.0], [3.0], [1e6]],
        weights_init=[0.4, 0.4, 0.2],
        precisions_init=np.ones((3, 1, 1)),
        max_iter=500,
    )
    with pytest.warns(ConvergenceWarning, match=r"\[2\].*lost all their rows"):
        model.fit(rows)
    assert model.weights_[2] == 0
    assert np.isfinite(model.score_samples(rows)).all()


def test_a_column_without_any_value_is_refused_by_name():
    with pytest.raises(DataError, match=r"column 'x1' has no value in any row"):
        GaussianMixture(1).fit([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights_init": [0.5, 0.6]}, r"weights_init must .* add up to 1"),
        ({"means_init": [[0.0]]}, r"means_init has shape \(1, 1\); it should have \(2, 1\)"),
        ({"precisions_init": -np.ones((2, 1, 1))}, r"precisions_init must be positive definite"),
        ({"covariance": -np.ones((2, 1, 1))}, r"covariance must be positive definite"),
        ({"covariance": np.ones((3, 3))}, r"covariance has shape \(3, 3\)"),
    ],
)
def test_starts_that_mean_nothing_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2, **parameters).fit([[0.0], [1.0], [2.0], [3.5]])


def test_more_components_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"n_components = 3, n_samples = 2"):
        GaussianMixture(3).fit([[0.0], [1.0]])


@pytest.mark.parametrize("form", FORMS)
def test_a_narrow_component_far_from_the_others_keeps_its_precision(form, rng):
    narrow = 1e-4 * rng.normal(size=(500, 3)) + 1e4
    rows = np.vstack([narrow, rng.normal(size=(500, 3))])
    model = GaussianMixture(
        2, covariance_type=form, random_state=0, reg_covar=0, tol=1e-10, max_iter=500
    ).fit(rows)
    if form == "tied":
        pooled = (np.cov(narrow.T, ddof=0) + np.cov(rows[500:].T, ddof=0)) / 2
        np.testing.assert_allclose(model.covariances_, pooled, rtol=1e-6)
        return
    first = int(model.means_[:, 0].argmax())
    expected = np.cov(narrow.T, ddof=0)
    found = dense(model.covariances_, form, 2, 3)[first]
    np.testing.assert_allclose(np.trace(found), np.trace(expected), rtol=1e-5)


def test_the_end_of_every_start_is_shown_and_the_best_is_kept(rng):
    rows = rng.normal(size=(60, 2)) + rng.choice([-3.0, 0.0, 3.0], size=(60, 1))
    model = GaussianMixture(
        3, init_params="random_from_data", n_init=5, max_iter=500, random_state=1
    ).fit(rows)
    assert model.ends_.shape == (5,)
    assert model.ends_.max() == model.lower_bound_ == model.history_[-1]


@pytest.mark.parametrize("form", ["tied", "diag", "spherical"])
def test_passes_with_and_without_gaps_agree(form, rng):
    """A row that says nothing makes the general way of rows with gaps be taken."""
    rows = rng.normal(size=(300, 3)) + 4 * rng.integers(0, 2, (300, 1))
    with_gap = np.vstack([rows, np.full(3, np.nan)])
    start = {"means_init": rows[:4], "max_iter": 5, "tol": 0, "covariance_type": form}
    with pytest.warns(ConvergenceWarning):
        one = GaussianMixture(4, **start).fit(rows, sample_weight=np.full(300, 1.5))
    with pytest.warns(ConvergenceWarning):
        other = GaussianMixture(4, **start).fit(with_gap, sample_weight=[1.5] * 300 + [1e-12])
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-8, atol=1e-8)


def test_a_warm_start_goes_on_where_the_last_fit_ended(rng):
    rows = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 2])
    common = {"n_components": 2, "tol": 0.0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = GaussianMixture(max_iter=4, warm_start=True, **common).fit(rows).fit(rows)
        once = GaussianMixture(max_iter=8, **common).fit(rows)
    np.testing.assert_allclose(twice.means_, once.means_)


@pytest.mark.parametrize(
    "start", ["kmeans", "k-means++", "random", "random_from_data", "uniform", "k-means"]
)
def test_every_start_leads_to_two_groups_far_apart(rng, start):
    rows = np.concatenate([rng.normal(size=(80, 1)), rng.normal(size=(80, 1)) + 8])
    model = GaussianMixture(2, init_params=start, n_init=5, max_iter=500, tol=1e-6, random_state=0)
    np.testing.assert_allclose(np.sort(model.fit(rows).means_.ravel()), [0, 8], atol=0.6)
