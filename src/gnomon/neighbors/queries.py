"""The nearest training rows, or those within a radius, and graphs of them.

Where no rows are given, the training rows are asked for, and no row is its own neighbour.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gnomon.contract.intake import blocks_of
from gnomon.engine.errors import DataError
from gnomon.neighbors.index import Neighbors


def _checked_mode(mode: str) -> str:
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" '
            "instead"
        )
    return mode


class NearestQueries:
    """``kneighbors`` and ``kneighbors_graph``."""

    index_: Any
    n_neighbors: Any
    n_jobs: Any

    def kneighbors(
        self, X=None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Neighbors | np.ndarray:
        """The nearest training rows of each row, nearest first.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan, default=None
            None for the training rows themselves, of which none is its own neighbour.
        n_neighbors : int, default=None
            None for the parameter of the estimator.
        return_distance : bool, default=True

        Returns
        -------
        neighbors : Neighbours
            ``distances`` and ``indices``, each of shape (n_samples, n_neighbors); of equal
            distance the row of smaller number comes first. Only the indices where
            `return_distance` is False.
        """
        check_is_fitted(self)
        k = self._checked_neighbors(n_neighbors, X is None)
        if X is None:
            found = self.index_.others(k, self.n_jobs)
        else:
            parts = [self.index_.search(rows, k, self.n_jobs) for rows in blocks_of(self, X)]
            found = parts[0] if len(parts) == 1 else Neighbors(*map(np.concatenate, zip(*parts)))
        return found if return_distance else found.indices

    def _checked_neighbors(self, n_neighbors, among_others: bool) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise DataError(f"Expected n_neighbors > 0. Got {k}")
        n = self.index_.n_rows
        if k > n - among_others:
            sign = "<" if among_others else "<="
            raise DataError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {n}: there are {n} training rows"
            )
        return int(k)

    def kneighbors_graph(
        self, X=None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sp.csr_matrix:
        """The graph of nearest training rows as a sparse matrix.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan, default=None
            None for the training rows themselves, of which none is its own neighbour.
        n_neighbors : int, default=None
            None for the parameter of the estimator.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; distances of zero are stored.

        Returns
        -------
        graph : csr_matrix of shape (n_samples, n_samples_fit)
        """
        found = self.kneighbors(X, n_neighbors)
        n, k = found.indices.shape
        distances = found.distances.ravel()
        values = np.ones(n * k) if _checked_mode(mode) == "connectivity" else distances
        starts = np.arange(0, n * k + 1, k)
        return sp.csr_matrix((values, found.indices.ravel(), starts), shape=(n, self.index_.n_rows))


class RadiusQueries:
    """``radius_neighbors`` and ``radius_neighbors_graph``."""

    index_: Any
    radius: Any
    n_jobs: Any

    def radius_neighbors(
        self,
        X=None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ):
        """The training rows within a radius of each row; there may be none.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan, default=None
            None for the training rows themselves, of which none is its own neighbour.
        radius : float, default=None
            None for the parameter of the estimator. A distance of exactly the radius is within.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Whether the nearest come first; else rows come by their number.

        Returns
        -------
        distances : ndarray of shape (n_samples,) of arrays
            Only where `return_distance` is True.
        indices : ndarray of shape (n_samples,) of arrays of int
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        reach = float(self.radius if radius is None else radius)
        if X is None:
            near, which = self.index_.others_within(reach)
        else:
            near, which = [], []
            for distances, indices in self._each_block(self._within(reach), X):
                near.append(distances)
                which.append(indices)
        if not sort_results:
            orders = [np.argsort(each) for each in which]
            near = [each[order] for each, order in zip(near, orders)]
            which = [each[order] for each, order in zip(which, orders)]
        return (_ragged(near), _ragged(which)) if return_distance else _ragged(which)

    def _within(self, radius: float):
        def found(rows) -> np.ndarray:
            pairs = list(zip(*self.index_.within(rows, radius)))
            return np.array([*pairs, None], dtype=object)[:-1]

        return found

    def radius_neighbors_graph(
        self,
        X=None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> sp.csr_matrix:
        """The graph of training rows within a radius, as a sparse matrix.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan, default=None
            None for the training rows themselves, of which none is its own neighbour.
        radius : float, default=None
            None for the parameter of the estimator.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; distances of zero are stored.
        sort_results : bool, default=False
            Whether the nearest come first; else rows come by their number.

        Returns
        -------
        graph : csr_matrix of shape (n_samples, n_samples_fit)
        """
        distances, indices = self.radius_neighbors(X, radius, sort_results=sort_results)
        counts = [len(each) for each in indices]
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        places = np.concatenate([np.empty(0, np.int64), *indices])
        values = np.ones(len(places))
        if _checked_mode(mode) == "distance":
            values = np.concatenate([np.empty(0), *distances])
        shape = (len(indices), self.index_.n_rows)
        return sp.csr_matrix((values, places, starts), shape=shape)


def _ragged(parts: list[np.ndarray]) -> np.ndarray:
    """An array of arrays of different lengths."""
    found = np.empty(len(parts), dtype=object)
    for place, part in enumerate(parts):
        found[place] = part
    return found
