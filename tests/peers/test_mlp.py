"""MLPClassifier and MLPRegressor against scikit-learn's from the same first weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import neural_network as peer

from gnomon.neural import MLPClassifier, MLPRegressor

PAIRS = [(MLPClassifier, peer.MLPClassifier), (MLPRegressor, peer.MLPRegressor)]
SETTINGS = [
    {"solver": "adam"},
    {"solver": "sgd", "learning_rate_init": 0.05},
    {"solver": "sgd", "learning_rate_init": 0.05, "nesterovs_momentum": False},
    {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5},
    {"activation": "logistic"},
    {"activation": "tanh", "alpha": 0.1},
]


def from_same_start(ours, theirs, X, y, weights=None, epochs=12, **options):
    """Both after so many epochs in the order of the table, from the peer's first weights."""
    shared = {"shuffle": False, "random_state": 0, "hidden_layer_sizes": (7, 5), **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = theirs(max_iter=1, learning_rate_init=1e-300, solver="sgd", **{
            k: v for k, v in shared.items() if k not in ("solver", "learning_rate_init")
        }).fit(X, y)  # fmt: skip
        start = [each.copy() for each in other.coefs_], [e.copy() for e in other.intercepts_]
        own = ours(max_iter=1, **shared).fit(X, y)
        own.set_params(warm_start=True, max_iter=epochs, tol=0.0)
        own.coefs_, own.intercepts_ = ([e.copy() for e in part] for part in start)
        own.t_, own.loss_curve_ = 0, []
        del own._solver
        own.best_loss_ = np.finfo(float).max
        own.fit(X, y, sample_weight=weights)
        peer_model = theirs(max_iter=1, warm_start=True, **shared).fit(X, y)
        for name, part in (("coefs_", start[0]), ("intercepts_", start[1])):
            for mine, each in zip(getattr(peer_model, name), part):
                mine[:] = each
        peer_model.set_params(max_iter=epochs, tol=0.0)
        peer_model.t_ = 0
        peer_model.fit(X, y, sample_weight=weights)
    return own, peer_model


@pytest.mark.covers("mlp", "network-l2-weight-decay", "network-weight-initialisation")
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_the_same_steps_are_taken_as_by_scikit_learn(ours, theirs, options, rng):
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, 3, 60) if ours is MLPClassifier else X @ rng.normal(size=4)
    # scikit-learn's Adam adds epsilon before the roots are corrected for the start, so it is tiny
    own, other = from_same_start(ours, theirs, X, y, batch_size=20, epsilon=1e-20, **options)
    within = 1e-7
    for mine, each in zip(own.coefs_, other.coefs_):
        np.testing.assert_allclose(mine, each, atol=within)
    np.testing.assert_allclose(own.loss_curve_[-1], other.loss_curve_[-1], atol=within)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_weights_have_the_precision_that_scikit_learn_gives_them(
    ours, theirs, precision, solver, rng
):
    X = rng.normal(size=(40, 3)).astype(precision)
    y = (X[:, 0] > 0).astype(precision)
    fitted = [
        each(hidden_layer_sizes=4, solver=solver, max_iter=2).fit(X, y) for each in (ours, theirs)
    ]
    own, other = ([part.dtype for part in each.coefs_ + each.intercepts_] for each in fitted)
    assert own == other


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_lbfgs_ends_as_low_as_scikit_learns(ours, theirs, rng):
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > X[:, 1]).astype(int) if ours is MLPClassifier else np.sin(X[:, 0])
    options = {"hidden_layer_sizes": 6, "solver": "lbfgs", "alpha": 1.0, "max_iter": 2000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = min(ours(random_state=s, **options).fit(X, y).loss_ for s in range(5))
        other = min(theirs(random_state=s, **options).fit(X, y).loss_ for s in range(5))
    assert own <= other * 1.05


def test_labels_side_by_side_are_given_in_the_shapes_of_scikit_learn(rng):
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = MLPClassifier(10, solver="lbfgs", random_state=0).fit(X, Y)
        other = peer.MLPClassifier(10, solver="lbfgs", random_state=0).fit(X, Y)
    assert own.predict_proba(X).shape == other.predict_proba(X).shape
    assert own.out_activation_ == other.out_activation_ == "logistic"
    assert (own.predict(X) == Y).mean() > 0.95


def test_label_matrices_may_mix_two_classes_and_more(rng):
    X = rng.normal(size=(120, 4))
    Y = np.stack(
        [
            np.where(X[:, 0] > 0, "yes", "no"),
            np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-0.5, 0.5])],
        ],
        axis=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = MLPClassifier(20, solver="lbfgs", alpha=0.01, random_state=0).fit(X, Y)
    assert (own.predict(X) == Y).mean() > 0.95
    assert [each.shape for each in own.predict_proba(X)] == [(120, 2), (120, 3)]


def test_partial_fit_goes_on_where_it_was(rng):
    X = rng.normal(size=(90, 4))
    y = (X[:, 0] > 0).astype(int)
    own = MLPClassifier(10, random_state=0, learning_rate_init=0.01)
    for _ in range(40):
        own.partial_fit(X, y, classes=[0, 1])
    assert own.n_iter_ == len(own.loss_curve_) == 40
    assert own.loss_curve_[-1] < 0.7 * own.loss_curve_[0]
    with pytest.raises(AttributeError, match="partial_fit"):
        MLPClassifier(solver="lbfgs").partial_fit  # noqa: B018


def test_early_stopping_keeps_the_weights_of_the_best_epoch(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + 0.8 * rng.normal(size=300) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = MLPClassifier(
            50,
            early_stopping=True,
            validation_fraction=0.3,
            learning_rate_init=0.02,
            random_state=0,
        ).fit(X, y)
    assert own.best_validation_score_ == max(own.validation_scores_)
    assert own.best_loss_ is None
