"""Gaussian mixtures from the same start, and kernel densities, against their peers."""

from functools import partial

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.mixture import GaussianMixture as Peer
from sklearn.neighbors import KernelDensity as PeerDensity

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.density import GaussianMixture, KernelDensity, grid_density


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


def normal_rows(d, n):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(2000, d))


def on_a_line(n):
    return normal_rows(1, n)


def in_space(n):
    return normal_rows(3, n)


for d, rows in ((1, on_a_line), (3, in_space)):
    Duel(
        name=f"kernel density at 2,000 places, {d} columns, relative error 0.001",
        peer="scikit-learn KernelDensity(rtol=1e-3)",
        data=rows,
        ours=lambda given: KernelDensity(bandwidth=0.3, tol=1e-3).fit(given[0]).score(given[1]),
        theirs=lambda given: (
            PeerDensity(bandwidth=0.3, rtol=1e-3).fit(given[0]).score(given[1]) / len(given[1])
        ),
        quality=lambda score, given: score,
        tolerance=1e-3,
        sizes=(10**4, 10**5),
        bar=10.0,
        repeats=3,
    )

Duel(
    name="kernel density on a grid of 512 points by FFT",
    peer="SciPy gaussian_kde, all pairs",
    data=on_a_line,
    ours=lambda given: grid_density(given[0], 0.1).density,
    theirs=lambda given: gaussian_kde(given[0][:, 0], 0.1 / given[0].std(ddof=1))(
        grid_density(given[0], 0.1).axes[0]
    ),
    quality=lambda density, given: float(density.max()),
    tolerance=1e-3,
    sizes=(10**4, 10**5),
    repeats=3,
)
