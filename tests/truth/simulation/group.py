"""What `group` says of one cloud of many shapes, and of tables that have groups."""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import GnomonError
from gnomon.table import Table
from gnomon.workbench.group import search
from gnomon.workbench.group.model import GroupModel
from gnomon.workbench.group.options import METHODS, GroupOptions
from gnomon.workbench.group.tendency import LEVEL, tendency_of
from gnomon.workbench.group.valley import valley_p
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import LAWS, as_dict, columns

# rows of a table, and the greatest number of groups that competes: more of both would take longer
ROWS, MOST = 200, 5


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
    """Whether `group` says that there are groups, by its parts; stops as soon as that is decided.

    Nine tenths of the job's time go to figures that decide nothing: the stability of groupings that
    are separated worse than the chosen one, and clouds without groups where no valley is.
    `test_simulation.py` compares it with the job itself.
    """
    options, table = GroupOptions(most=MOST), Table.from_dict(as_dict(points))
    rows = GroupModel().fit_space(table)
    places = rows.coordinates(table)
    able = candidates(places, options)
    stable = stable_ones(able, places, options.random_state)
    if not stable:
        return False
    chosen = search.ranked(stable, places)[0]
    if valley_p(places, chosen.labels, options.random_state) > LEVEL:
        return False
    return tendency_of(places, chosen.grouping, options.random_state, rows.spans()).found


def candidates(rows: np.ndarray, options: GroupOptions) -> list[search.Judged]:
    """All groupings that compete, their stability not known."""
    numbers = search.allowed_numbers(options, rows, silent)
    jobs = [(name, k, np.nan) for name in METHODS if name != "DBSCAN" for k in numbers]
    jobs += [("DBSCAN", 0, share) for share in search.dense_shares(rows)]
    found = (search.separated(*job, rows, options.random_state) for job in jobs)
    return [each for each in found if each is not None]


def stable_ones(
    found: list[search.Judged], rows: np.ndarray, random_state: int
) -> list[search.Judged]:
    """The stable groupings among which the job chooses: those of any shape, and of the others those
    whose silhouette is within one standard error of the best stable one."""
    able = [each for each in found if not each.grouping.is_cut] or found
    kept, close = {}, -np.inf
    order = sorted(range(len(able)), key=lambda i: -able[i].grouping.silhouette.value)
    for i in order:
        grouping = able[i].grouping
        if not grouping.any_shape and grouping.silhouette.value < close:
            continue
        agreement = agreement_of_stable(grouping, rows, random_state)
        if agreement is None:
            continue
        kept[i] = search.with_stability(able[i], agreement)
        if not grouping.any_shape:
            close = max(close, grouping.silhouette.value - grouping.silhouette.error)
    return [kept[i] for i in sorted(kept)]


def agreement_of_stable(
    grouping: search.Grouping, rows: np.ndarray, random_state: int
) -> list[float] | None:
    """The agreement of all pairs of halves; None as soon as their mean cannot be enough."""
    k = 0 if grouping.any_shape else grouping.k
    agreement: list[float] = []
    try:
        for each in search.half_agreements(
            grouping.method, k, grouping.dense_share, rows, random_state
        ):
            agreement.append(each)
            most = sum(agreement) + search.HALVES - len(agreement)
            if most < search.HALVES * search.STABLE - 1e-9:
                return None
    except (ValueError, GnomonError):
        return None
    return agreement if np.mean(agreement) >= search.STABLE else None


def silent(*_: object) -> None:
    """Neither progress nor notes."""


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
