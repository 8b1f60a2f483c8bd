"""Where there are data: how far a setting is from the nearest measured rows.

Numbers are scaled to their range; another level of a category is a distance of one. A place is
supported where its nearest row is no farther than rows are from each other: the 99th percentile of
the distances of measured rows to their nearest neighbors, and at least 0.05 of the range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree

from gnomon.contract.columns import Rows
from gnomon.engine.errors import DataError

LEAST_REACH = 0.05  # of the range: a grid of 20 places along a column is supported everywhere
ROWS_FOR_REACH = 2_000  # rows whose neighbors are looked up; the percentile hardly moves beyond


class Support:
    """The measured rows in some columns, for questions how far a setting is from them.

    Parameters
    ----------
    rows : Rows
    columns : sequence of str
    """

    def __init__(self, rows: Rows, columns: Sequence[str]):
        self.columns = list(columns)
        self._codes: dict[str, dict[object, int]] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        for name in self.columns:
            self._learn(name, rows.values(name))
        known = self._scaled({name: rows.values(name) for name in self.columns})
        complete = ~np.isnan(known).any(axis=1)
        if not complete.any():
            raise DataError(f"no row has values in all of {', '.join(self.columns)}")
        self._places = np.flatnonzero(complete)
        self._tree = cKDTree(known[complete])
        step = max(len(self._places) // ROWS_FOR_REACH, 1)
        sample = known[complete][::step]
        among = self._tree.query(sample, k=min(2, len(self._places)))[0]
        apart = among[:, -1] if among.ndim == 2 else np.zeros(1)
        self.reach = max(float(np.quantile(apart, 0.99)), LEAST_REACH)

    def _learn(self, name: str, values: np.ndarray) -> None:
        if values.dtype.kind == "f":
            known = values[~np.isnan(values)]
            if len(known) == 0:
                raise DataError(f"column {name!r} has no values")
            self._ends[name] = float(known.min()), float(np.ptp(known)) or 1.0
        else:
            levels = sorted({v for v in values.tolist() if v is not None}, key=str)
            self._codes[name] = {level: code for code, level in enumerate(levels)}

    def _scaled(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        parts = []
        for name in self.columns:
            values = np.asarray(columns[name])
            if name in self._ends:
                low, width = self._ends[name]
                parts.append(((values.astype(np.float64) - low) / width)[:, None])
            else:
                codes = self._codes[name]
                places = np.array([codes.get(v, -1) for v in values.tolist()])
                one_hot = (places[:, None] == np.arange(len(codes))) / np.sqrt(2.0)
                parts.append(np.where(places[:, None] < 0, np.nan, one_hot))
        return np.hstack(parts)

    def distance(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Distance of settings to their nearest measured rows; infinite for unknown levels.

        Parameters
        ----------
        columns : mapping of str to ndarray
            Values of the columns, one per setting.

        Returns
        -------
        distances : ndarray
        """
        scaled = self._scaled(columns)
        known = ~np.isnan(scaled).any(axis=1)
        found = np.full(len(scaled), np.inf)
        if known.any():
            found[known] = self._tree.query(scaled[known])[0]
        return found

    def holds(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which settings are supported by data."""
        return self.distance(columns) <= self.reach

    def nearest(self, columns: Mapping[str, np.ndarray], n: int) -> np.ndarray:
        """Places of the n nearest measured rows of each setting, of shape (n_settings, n)."""
        n = min(n, len(self._places))
        found = self._tree.query(self._scaled(columns), k=n)[1]
        return self._places[found.reshape(-1, n)]
