"""Networks of dense layers against scikit-learn's."""

import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier as Peer
from sklearn.neural_network import MLPRegressor as PeerRegressor

from benchmarks.duels.duel import Duel
from gnomon.neural import MLPClassifier, MLPRegressor


def mixed_signs(n):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 20))
    return rows, (rows[:, 0] * rows[:, 1] + rows[:, 2] > 0).astype(int)


def waves(n):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 20))
    return rows, np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2]


def fitted(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*data)


def score(model, data) -> float:
    return float(model.score(*data))


Duel(
    name="MLPClassifier, 20 columns, 100 units, 10 epochs",
    peer="scikit-learn MLPClassifier",
    data=mixed_signs,
    ours=lambda data: fitted(MLPClassifier(max_iter=10, random_state=0), data),
    theirs=lambda data: fitted(Peer(max_iter=10, random_state=0), data),
    quality=score,
    tolerance=0.02,
    sizes=(2000, 10**5),
)

Duel(
    name="MLPRegressor, 20 columns, 100 units, 10 epochs",
    peer="scikit-learn MLPRegressor",
    data=waves,
    ours=lambda data: fitted(MLPRegressor(max_iter=10, random_state=0), data),
    theirs=lambda data: fitted(PeerRegressor(max_iter=10, random_state=0), data),
    quality=score,
    tolerance=0.05,
    sizes=(2000, 10**5),
)
