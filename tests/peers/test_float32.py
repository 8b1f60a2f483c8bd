"""float32 rows give float32 attributes and results where scikit-learn's classes give them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.linear_model
import sklearn.mixture

import gnomon
from gnomon import density, linear, reduce

ANSWERS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")
CASES = {
    **{
        f"mixture, {form}": (density.GaussianMixture, {"n_components": 2, "covariance_type": form})
        for form in ("full", "tied", "diag", "spherical")
    },
    "two classes": (linear.SGDClassifier, {}),
    "average": (linear.SGDClassifier, {"loss": "log_loss", "average": True}),
    "regression": (linear.SGDRegressor, {"eta0": 0.001}),
    "components": (reduce.PCA, {"n_components": 2}),
}
PEERS = {
    density.GaussianMixture: sklearn.mixture.GaussianMixture,
    linear.SGDClassifier: sklearn.linear_model.SGDClassifier,
    linear.SGDRegressor: sklearn.linear_model.SGDRegressor,
    reduce.PCA: sklearn.decomposition.PCA,
}


@pytest.mark.parametrize("case", CASES)
def test_types_are_those_of_scikit_learn(case, rng, tmp_path):
    ours, options = CASES[case]
    X = (rng.normal(size=(120, 4)) + 6 * (np.arange(120)[:, None] % 2)).astype(np.float32)
    y = X[:, 0] if case == "regression" else np.arange(120) % (3 if case == "average" else 2)
    theirs = PEERS[ours](random_state=0, **options).fit(X, y)
    model = ours(random_state=0, **options).fit(X, y)
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    arrays = {k: v for k, v in vars(theirs).items() if k.endswith("_") and np.ndim(v)}
    for name, values in arrays.items():
        if name != "lower_bounds_":
            assert getattr(model, name).dtype == values.dtype, name
    for name in ANSWERS:
        if hasattr(theirs, name):
            found, expected = getattr(model, name)(X), getattr(theirs, name)(X)
            assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(found, getattr(loaded, name)(X))
            if name == "score_samples":
                np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("form", ["full", "tied"])
def test_mixtures_of_dependent_float32_columns_are_sampled_and_continued(form, rng):
    one = 100 * rng.normal(size=(200, 1))
    X = np.hstack([one, one, one + rng.normal(size=(200, 1))]).astype(np.float32)
    model = density.GaussianMixture(1, covariance_type=form, random_state=0, warm_start=True)
    model.fit(X)
    covariance = model.covariances_.reshape(3, 3)
    drawn, _ = model.sample(20_000)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0.05)
    before = model.lower_bound_
    assert model.fit(X).lower_bound_ == pytest.approx(before, rel=1e-3)
