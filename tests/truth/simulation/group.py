"""What `group` says of one cloud of many shapes, and of tables that have groups."""

from __future__ import annotations

import numpy as np

from gnomon.workbench.group.job import group
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import LAWS, as_dict, columns

ROWS = 200


def turned_square(rng, n):
    corner = rng.random((n, 2)) - 0.5
    return corner @ np.array([[1.0, 1.0], [-1.0, 1.0]])


def skewed_factor(rng, n):
    return rng.exponential(size=(n, 1)) * np.ones(4) + 0.3 * rng.normal(size=(n, 4))


def banana(rng, n):
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 + 0.5 * rng.normal(size=n)])


def funnel(rng, n):
    x = rng.normal(size=n)
    return np.column_stack([x, np.exp(x / 1.5) * rng.normal(size=n)])


def heavy_tails(rng, n):
    return rng.standard_t(3, size=(n, 3))


def crescent(rng, n):
    angle, radius = np.pi * rng.random(n), 1 + 0.15 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def triangle(rng, n):
    u, v = np.sort(rng.random((2, n)), axis=0)
    return np.column_stack([u, v])


def l_shape(rng, n):
    arm = rng.random(n) < 0.5
    long, wide = 2 * rng.random(n), 0.5 * rng.random(n)
    return np.column_stack([np.where(arm, long, wide), np.where(arm, wide, long)])


def noisy_line(rng, n):
    x = rng.random(n)
    return np.column_stack([x, x, -x]) + 0.05 * rng.normal(size=(n, 3))


def disc(rng, n):
    angle, radius = 2 * np.pi * rng.random(n), np.sqrt(rng.random(n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def lognormal(rng, n):
    return np.exp(rng.normal(size=(n, 3)))


def correlated_normal(rng, n):
    return rng.normal(size=(n, 3)) @ np.array([[1, 0.9, 0.5], [0, 0.4, 0.5], [0, 0, 0.7]])


CLOUDS = {
    each.__name__.replace("_", " "): each
    for each in (
        turned_square,
        skewed_factor,
        banana,
        funnel,
        heavy_tails,
        crescent,
        triangle,
        l_shape,
        noisy_line,
        disc,
        lognormal,
        correlated_normal,
    )
}


def clear(points: np.ndarray) -> bool:
    """Whether `group` says that there are groups."""
    return group(as_dict(points)).clear


@simulation("group", "groups", laws=tuple(CLOUDS), quick=1, quick_laws=1)
def one_cloud(shape: str, rng: np.random.Generator) -> Outcome:
    """One cloud of a shape."""
    return {"groups": clear(CLOUDS[shape](rng, ROWS))}


@simulation("group", "groups", quick=1, quick_laws=1)
def cloud_of_law(law: str, rng: np.random.Generator) -> Outcome:
    """Three independent columns of a law."""
    points = columns(law, rng, ROWS, 3)
    if law == "discrete":
        points = points + 0.1 * LAWS["normal"](rng, ROWS)[:, None]
    return {"groups": clear(points)}
