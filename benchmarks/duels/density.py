"""Gaussian mixtures against scikit-learn's, from the same first means and covariances."""

from functools import partial

import numpy as np
from sklearn.mixture import GaussianMixture as Peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.density import GaussianMixture


def data(n):
    return clouds(n, 20, 10)


def run(cls, shape, rows):
    spread = 1 / rows.var(axis=0)
    return cls(
        10,
        covariance_type=shape,
        weights_init=np.full(10, 0.1),
        means_init=rows[:10].copy(),
        precisions_init=np.array([np.diag(spread) if shape == "full" else spread] * 10),
        max_iter=15,
        tol=0,
        random_state=0,
    ).fit(rows)


for shape, bar in (("full", 3.0), ("diag", 1.0)):
    Duel(
        name=f"Gaussian mixture, {shape} covariances, 20 columns, 10 components, 15 steps",
        peer="scikit-learn GaussianMixture",
        data=data,
        ours=partial(run, GaussianMixture, shape),
        theirs=partial(run, Peer, shape),
        quality=lambda model, rows: float(model.score(rows)),
        tolerance=1e-2,
        bar=bar,
        repeats=3,
    )
