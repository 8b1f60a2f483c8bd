"""The shortest tour through rows: a search over orders that can be replayed (004 1.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import _safe_indexing

from gnomon.engine.errors import DataError
from gnomon.optimize import Permutation
from gnomon.reduce import PCA
from gnomon.table import Table
from gnomon.workbench.workflows.fit_replay import Replay
from gnomon.workbench.workflows.rows_over_steps import PLANE, RowsOverSteps, every_few, plane


class RowTour:
    """The length of a closed tour through rows: a function of their order, to be minimized.

    Parameters
    ----------
    rows : table
        Columns of any kind; the distance of rows is that of their codes.
    most_rows : int, default=100
        Where there are more, rows at equal distances in the table are visited.

    Attributes
    ----------
    shown : ndarray
        Which rows are visited.
    distances : ndarray of shape (n_shown, n_shown)
    space : Permutation

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> from gnomon.workbench.workflows import replay
    >>> tour = RowTour([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    >>> found = minimize(tour, tour.space, "annealing", max_evaluations=200, random_state=0)
    >>> found.fun
    8.0
    >>> moved = tour.over(replay(found))
    """

    def __init__(self, rows: Any, *, most_rows: int = 100) -> None:
        self.shown = every_few(len(rows), most_rows)
        if len(self.shown) < 3:
            raise DataError(f"a tour needs at least 3 rows, not {len(self.shown)}")
        taken = rows[self.shown] if isinstance(rows, Table) else _safe_indexing(rows, self.shown)
        self._places = np.asarray(PCA().fit_transform(taken))  # all components: distances stay
        self.distances = cdist(self._places, self._places)
        self.space = Permutation(len(self.shown))

    def __call__(self, order: np.ndarray) -> float:
        return float(self.distances[order, np.roll(order, -1)].sum())

    def over(self, steps: Replay) -> RowsOverSteps:
        """The tour after each step of a search.

        Parameters
        ----------
        steps : Replay
            Steps of a search that minimized this function.

        Returns
        -------
        rows : RowsOverSteps
        """
        orders = [np.asarray(state["x"]) for state in steps.states]
        if any(order.shape != self.shown.shape for order in orders):
            raise DataError(f"{steps.method} did not search for a tour through these rows")
        return RowsOverSteps(
            numbers=list(range(len(steps))),
            rows=self.shown,
            places=[plane(self._places)] * len(steps),
            answers=None,
            truth=None,
            centers=None,
            edges=None,
            axes=PLANE,
            orders=orders,
        )
