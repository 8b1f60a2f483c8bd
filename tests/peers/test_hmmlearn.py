"""Hidden Markov models under hmmlearn's names give hmmlearn's numbers."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import gnomon
from gnomon import sequence
from gnomon.engine.errors import DataError

theirs = pytest.importorskip("hmmlearn.hmm")
NAMES = ("GaussianHMM", "GMMHMM", "CategoricalHMM", "MultinomialHMM", "PoissonHMM")
FITTED = ("startprob_", "transmat_", "means_", "covars_", "emissionprob_", "lambdas_", "weights_")
LENGTHS = [60, 1, 40, 19]


def rows_for(name: str, rng: np.random.Generator) -> np.ndarray:
    level = np.repeat([0, 1, 0, 1], 30)
    if name == "CategoricalHMM":
        return np.where(rng.random(120) < 0.8, level, rng.integers(0, 3, 120))[:, None]
    if name == "MultinomialHMM":
        chances = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])[level]
        return np.array([rng.multinomial(8, p) for p in chances])
    if name == "PoissonHMM":
        return rng.poisson(np.array([[2.0, 9.0], [8.0, 3.0]])[level])
    return 4.0 * level[:, None] + rng.normal(size=(120, 2))


def both(name: str, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sequence, name)(**options), getattr(theirs, name)(**options)


def fitted_values(model) -> dict[str, np.ndarray]:
    names = (
        "startprob_",
        "transmat_",
        "means_",
        "covars_",
        "emissionprob_",
        "lambdas_",
        "weights_",
    )
    return {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}


@pytest.mark.parametrize("name", NAMES)
def test_parameters_have_the_names_the_order_and_the_defaults_of_hmmlearn(name):
    ours, peer = (inspect.signature(getattr(where, name)) for where in (sequence, theirs))
    assert list(ours.parameters) == list(peer.parameters)
    assert ours == peer


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("GaussianHMM", {"covariance_type": "diag"}),
        ("GaussianHMM", {"covariance_type": "full", "means_weight": 2.0, "means_prior": 1.0}),
        ("GaussianHMM", {"covariance_type": "tied", "covars_weight": 5.0, "covars_prior": 0.1}),
        ("CategoricalHMM", {"startprob_prior": 1.5, "transmat_prior": 2.0}),
        ("CategoricalHMM", {"emissionprob_prior": 1.2, "n_features": 4}),
        ("MultinomialHMM", {"n_trials": 8}),
        ("PoissonHMM", {}),
    ],
)
def test_fits_and_answers_equal_those_of_hmmlearn(name, options, rng):
    X = rows_for(name, rng)
    ours, peer = both(name, n_components=2, random_state=3, n_iter=15, **options)
    ours.fit(X, LENGTHS)
    peer.fit(X, LENGTHS)
    expected = fitted_values(peer)
    for key, value in fitted_values(ours).items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-5, atol=1e-8, err_msg=key)
    np.testing.assert_allclose(list(ours.monitor_.history), list(peer.monitor_.history), rtol=1e-8)
    assert ours.score(X, LENGTHS) == pytest.approx(peer.score(X, LENGTHS))
    np.testing.assert_allclose(
        ours.predict_proba(X, LENGTHS), peer.predict_proba(X, LENGTHS), atol=1e-6
    )
    for algorithm in ("viterbi", "map"):
        mine, reference = (m.decode(X, LENGTHS, algorithm=algorithm) for m in (ours, peer))
        assert mine[0] == pytest.approx(reference[0])
        np.testing.assert_array_equal(mine[1], reference[1])
    for mine, reference in zip(ours.sample(30, random_state=1), peer.sample(30, random_state=1)):
        np.testing.assert_allclose(mine, reference, rtol=1e-4)
    assert ours.aic(X, LENGTHS) == pytest.approx(peer.aic(X, LENGTHS))
    assert ours.bic(X, LENGTHS) == pytest.approx(peer.bic(X, LENGTHS))


@pytest.mark.parametrize("kind", ["spherical", "diag", "full", "tied"])
def test_mixtures_of_normals_rise_to_the_maximum_of_hmmlearn(kind, rng):
    X = rows_for("GMMHMM", rng)
    X[::3] += [0.0, 6.0]
    options = {"n_components": 2, "n_mix": 2, "covariance_type": kind, "random_state": 0}
    ours, peer = both("GMMHMM", n_iter=200, tol=1e-6, **options)
    ours.fit(X, LENGTHS)
    peer.fit(X, LENGTHS)
    assert (np.diff(ours.history_) > -1e-6).all()
    assert ours.score(X, LENGTHS) >= peer.score(X, LENGTHS) - 0.05
    peer.set_params(n_iter=0)
    for key, value in fitted_values(peer).items():
        setattr(ours, key, value)
    assert ours.score(X, LENGTHS) == pytest.approx(peer.score(X, LENGTHS))


def test_a_spherical_model_has_one_variance_per_state(rng):
    X = rows_for("GaussianHMM", rng)
    model = sequence.GaussianHMM(2, "spherical", random_state=0).fit(X)
    assert model.covars_.shape == (2, 2, 2)
    np.testing.assert_allclose(model.covars_[:, 0, 0], model.covars_[:, 1, 1])
    assert (model.covars_[:, 0, 1] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_sequences_equals_rows_with_lengths_and_a_model_file_keeps_all(
    name, rng, tmp_path
):
    X = rows_for(name, rng)
    parts = np.split(X, np.cumsum(LENGTHS)[:-1])
    model = getattr(sequence, name)(n_components=2, random_state=0).fit(X, LENGTHS)
    again = getattr(sequence, name)(n_components=2, random_state=0).fit(parts)
    for key, value in fitted_values(model).items():
        np.testing.assert_array_equal(value, fitted_values(again)[key])
    loaded = gnomon.load(model.save(tmp_path / "hmm.gnomon"))
    assert loaded.score(X, LENGTHS) == model.score(X, LENGTHS) == model.score(parts)
    assert loaded.monitor_.history == model.monitor_.history
    with pytest.raises(DataError, match="lengths sum to 3"):
        model.score(X, [1, 2])


def test_the_history_holds_the_log_likelihood_before_each_update(rng):
    X = rows_for("GaussianHMM", rng)
    model = sequence.GaussianHMM(2, random_state=0, n_iter=4, tol=0.0).fit(X)
    assert len(model.history_) == model.n_iter_ == 4
    assert (np.diff(model.history_) > 0).all()
