"""Rows during a fit: where a method places them, or what it predicts for them, after each step.

`WatchRows` is a callback of scikit-learn's kind. Every method that offers the estimator of each
step to callbacks can be watched; rows stay on the plane of their first two principal components
unless the method itself places them, and centers and prototypes are projected on the same plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.reduce import PCA
from gnomon.workbench.workflows.fit_replay import MOST_STEPS, Replay

# names of states that are points among the rows
POINTS = ("cluster_centers", "means", "prototypes", "medoids", "seeds", "points")
PLANE = ("first principal component", "second principal component")


@dataclass(frozen=True)
class RowsOverSteps:
    """Rows and centers on a plane, after some of the steps of a fit.

    Attributes
    ----------
    numbers : list of int
        Numbers of the steps, from 0; the first and the last are among them.
    rows : ndarray of shape (n_shown,)
        Which rows are followed.
    places : list of ndarray of shape (n_shown, 2)
        Of the rows, after each of the steps.
    answers : list of ndarray of shape (n_shown,) or None
        Groups or classes of the rows.
    truth : ndarray of shape (n_shown,) or None
        The target.
    centers : list of ndarray of shape (n_centers, 2) or None
    edges : ndarray of shape (n_edges, 2) or None
        Which centers are neighbours on a grid.
    axes : tuple of str
        What the plane shows.
    orders : list of ndarray of shape (n_shown,) or None
        A closed tour through the rows, after each of the steps.
    sizes : list of ndarray of shape (n_shown,) or None
        How much each row counts, after each of the steps.
    links : ndarray of shape (n_links, 2) or None
        Which rows are linked, all along.
    names : list of str or None
        Names of the rows; their numbers otherwise.
    """

    numbers: list[int]
    rows: np.ndarray
    places: list[np.ndarray]
    answers: list[np.ndarray] | None
    truth: np.ndarray | None
    centers: list[np.ndarray] | None
    edges: np.ndarray | None
    axes: tuple[str, str]
    orders: list[np.ndarray] | None = None
    sizes: list[np.ndarray] | None = None
    links: np.ndarray | None = None
    names: list[str] | None = None


class WatchRows:
    """A callback that follows rows through a fit.

    Parameters
    ----------
    rows : table
        As ``predict`` or ``transform`` takes them.
    target : array-like, default=None
        The target of the rows, where the method has one.
    most_rows, most_steps : int, default=1000, 120
        Where there are more, rows and steps at equal distances are followed.

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.table import example
    >>> from gnomon.workbench.workflows import replay
    >>> rows = example("iris").select(["petal_length", "petal_width"])
    >>> watch = WatchRows(rows)
    >>> model = KMeans(3, n_init=1, random_state=0, keep_history="full")
    >>> moved = watch.over(replay(model.set_callbacks(watch).fit(rows)))
    >>> moved.places[0].shape, moved.centers[0].shape
    ((150, 2), (3, 2))
    """

    def __init__(
        self, rows: Any, target: Any = None, *, most_rows: int = 1000, most_steps: int = MOST_STEPS
    ) -> None:
        self.shown = every_few(len(rows), most_rows)
        self.rows = rows[self.shown]
        self.target = None if target is None else np.asarray(target)[self.shown]
        self.most_steps = most_steps

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin anew."""
        self._stride, self._seen = 1, 0
        self._kept: dict[int, tuple[str, np.ndarray]] = {}

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is left open."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A step begins."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> None:
        """Keep what the estimator of this step does with the rows.

        Parameters
        ----------
        estimator, context : object
        fitted_estimator : estimator, default=None
            As the fit stands.
        """
        inside = context.parent is not None
        number = self._seen if inside else self._seen - 1
        self._seen += inside
        if fitted_estimator is None or number in self._kept or (inside and number % self._stride):
            return
        found = outcome(fitted_estimator, self.rows)
        if found is not None:
            self._kept[number] = found
        if len(self._kept) > self.most_steps:
            self._stride *= 2
            self._kept = {k: v for k, v in self._kept.items() if k % self._stride == 0}

    def over(self, steps: Replay) -> RowsOverSteps:
        """What was seen, in the order of the steps.

        Parameters
        ----------
        steps : Replay
            Steps of the same fit.

        Returns
        -------
        rows : RowsOverSteps
        """
        numbers = sorted(self._kept)
        if not numbers or (len(numbers) == 1 and len(steps) > 1):
            raise DataError(f"{steps.method} does nothing with rows before its last step")
        if self._seen != len(steps):
            raise DataError(
                f"{steps.method} made {self._seen} steps in several courses, and the history has "
                f"the {len(steps)} of one of them: with one start (n_init=1) rows can be followed"
            )
        ways = {self._kept[number][0] for number in numbers}
        found = [self._kept[number][1] for number in numbers]
        if ways == {"transform"}:
            places = [plane(each) for each in found]
            axes = ("first coordinate", "second coordinate")
            return RowsOverSteps(numbers, self.shown, places, None, self.target, None, None, axes)
        if self.target is not None and not hasattr(steps.model, "classes_"):
            places = [np.column_stack([self.target, each]).astype(float) for each in found]
            axes = ("observed", "predicted")
            return RowsOverSteps(numbers, self.shown, places, None, None, None, None, axes)
        components = PCA().fit(self.rows)
        placed = plane(np.asarray(components.transform(self.rows)))
        centers = centers_of(steps, numbers, components)
        return RowsOverSteps(
            numbers,
            self.shown,
            [placed] * len(numbers),
            found,
            self.target,
            centers,
            None if centers is None else edges_of(steps.model),
            PLANE,
        )


def outcome(model: Any, rows: Any) -> tuple[str, np.ndarray] | None:
    """What a model does with rows: predictions, or else places."""
    for name in ("predict", "transform"):
        if hasattr(model, name):
            found = np.asarray(getattr(model, name)(rows))
            return (name, found) if name == "transform" or found.ndim == 1 else None
    return None


def centers_of(steps: Replay, numbers: list[int], components: Any) -> list[np.ndarray] | None:
    """Centers or prototypes after some steps, projected on the plane of the rows."""
    name = next((each for each in POINTS if each in steps.states[0]), None)
    if name is None:
        return None
    found = [np.asarray(steps.states[number][name], dtype=float) for number in numbers]
    if any(each.shape[1:] != components.mean_.shape for each in found):
        return None
    return [plane((each - components.mean_) @ components.components_.T) for each in found]


def edges_of(model: Any) -> np.ndarray | None:
    """Pairs of cells that are neighbours on the grid of a map."""
    if not hasattr(model, "grid_distances"):
        return None
    gaps = np.triu(model.grid_distances())
    nearest = gaps[gaps > 0].min(initial=np.inf)
    return np.argwhere((gaps > 0) & (gaps < 1.01 * nearest))


def plane(places: np.ndarray) -> np.ndarray:
    """The first two coordinates; a single one has the second 0."""
    places = np.asarray(places, dtype=float).reshape(len(places), -1)
    return np.column_stack([places, np.zeros(len(places))])[:, :2]


def every_few(n: int, most: int) -> np.ndarray:
    """Numbers below n at equal distances, at most so many.

    Examples
    --------
    >>> every_few(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.arange(0, n, max(-(-n // most), 1))
