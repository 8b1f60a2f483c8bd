"""Gaussian mixtures from the same start, and kernel densities, against their peers."""

from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.mixture import GaussianMixture as Peer
from sklearn.neighbors import KernelDensity as PeerDensity

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.density import GaussianMixture, KernelDensity, grid_density


def data(n):
    return clouds(n, 20, 10)


def first_precisions(shape, rows):
    spread = 1 / rows.var(axis=0)
    return {
        "full": np.array([np.diag(spread)] * 10),
        "tied": np.diag(spread),
        "diag": np.array([spread] * 10),
        "spherical": np.full(10, spread.mean()),
    }[shape]


def run(cls, shape, rows):
    return cls(
        10,
        covariance_type=shape,
        weights_init=np.full(10, 0.1),
        means_init=rows[:10].copy(),
        precisions_init=first_precisions(shape, rows),
        max_iter=15,
        tol=0,
        random_state=0,
    ).fit(rows)


for shape in ("full", "tied", "diag", "spherical"):
    Duel(
        name=f"Gaussian mixture, {shape} covariances, 20 columns, 10 components, 15 steps",
        peer="scikit-learn GaussianMixture",
        data=data,
        ours=partial(run, GaussianMixture, shape),
        theirs=partial(run, Peer, shape),
        quality=lambda model, rows: float(model.score(rows)),
        tolerance=1e-2,
        bar=3.0,
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
        ours=lambda given: (
            KernelDensity(bandwidth=0.3, tol=1e-3).fit(given[0]).score(given[1]) / len(given[1])
        ),
        theirs=lambda given: (
            PeerDensity(bandwidth=0.3, rtol=1e-3).fit(given[0]).score(given[1]) / len(given[1])
        ),
        quality=lambda score, given: score,
        tolerance=1e-3,
        sizes=(10**4, 10**5),
        bar=10.0,
        repeats=3,
    )


def absent(package):
    return "" if find_spec(package) else f"{package} is not installed"


def our_grid(points, given):
    return grid_density(given[0], 0.1, n_points=int(np.max(points))).density


def peer_grid(points, given):
    from KDEpy import FFTKDE

    return FFTKDE(kernel="gaussian", bw=0.1).fit(given[0])(points)[1]


def on_a_plane(n_rows):
    return normal_rows(2, n_rows)


for d, points, rows in ((1, 512, on_a_line), (2, (256, 256), on_a_plane)):
    Duel(
        name=f"kernel density on a grid by FFT, {d} columns, {points} points",
        peer="KDEpy FFTKDE",
        data=rows,
        ours=partial(our_grid, points),
        theirs=partial(peer_grid, points),
        quality=lambda density, given: float(density.max()),
        tolerance=2e-3,
        repeats=5,
        missing=partial(absent, "KDEpy"),
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
