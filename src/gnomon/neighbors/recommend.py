"""Recommending by neighbours: what people of similar taste think of a thing.

Users are rows, items columns, and most cells are missing. The rating of an item by a user is the
mean rating of the k most similar users who rated it: filling a hole by nearest rows.

Texts: 003 2.2.3.2, 2.2.6.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.contract.intake import as_table, is_frame
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import StrOptions, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import LABELS, Array, Number
from gnomon.table.table import Table

SIMILARITIES = {"pearson", "cosine", "adjusted_cosine"}
USERS_TOGETHER = 256  # judgement: bounds memory at 256 rows of similarities to all users


class Ratings(NamedTuple):
    """Predicted ratings.

    Attributes
    ----------
    ratings : ndarray of shape (n,)
    neighbors : ndarray of int of shape (n,)
        How many similar users each is the mean of.
    source : ndarray of str of shape (n,)
        "neighbors", or what stood in for them: "item mean", "user mean" or "overall mean".
    """

    ratings: np.ndarray
    neighbors: np.ndarray
    source: np.ndarray


@method(
    task="regress",
    texts="003 2.2.3.2, 2.2.6",
    use="Ratings that users have not given yet, from users with similar ratings.",
    avoid="Users or items without any rating.",
    peers=("surprise.KNNWithMeans",),
    takes="ratings",
    synonyms=("collaborative filtering", "recommender system"),
)
class NeighborRecommender(Estimator):
    """Ratings by the most similar users who know the item (collaborative filtering).

    Use it where many people rated some of many things and nothing else is known. Not for items or
    users without ratings (cold start): an item that no user of any similarity rated gets the
    user's mean, a user without ratings the item's mean, both the overall mean; ``source`` says so.

    Similarities: "pearson" (cells less the row's mean), "cosine" (cells as they are),
    "adjusted_cosine" (cells less the column's mean); missing cells drop out. Which one serves is
    best decided on ratings kept back. Texts: 003 2.2.3.2, 2.2.6.

    Parameters
    ----------
    n_neighbors : int, default=20
        Users whose ratings of an item are combined, fewer where fewer rated it.
    similarity : {"pearson", "cosine", "adjusted_cosine"}, default="pearson"
    weights : {"uniform", "similarity"}, default="uniform"
        Plain mean, or by similarity where it is positive.

    Attributes
    ----------
    users_, items_ : ndarray
        Their names, sorted.
    ratings_ : csr_array of shape (n_users, n_items)
        Known ratings; one may be 0, being stored.
    user_means_, item_means_ : ndarray
    overall_mean_ : float

    Examples
    --------
    >>> from gnomon.neighbors import NeighborRecommender
    >>> nan = float("nan")
    >>> rows = [[5, 4, 1, nan], [5, 5, 1, 2], [1, 2, 5, 5], [4, 5, 2, 1]]
    >>> model = NeighborRecommender(2).fit(rows)
    >>> model.predict([0], [3]).ratings
    array([1.5])
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "similarity": [StrOptions(SIMILARITIES)],
        "weights": [StrOptions({"uniform", "similarity"})],
    }
    _stored = {
        "_directions": Array("f8", ("n_directions", "n_directions_1"), sparse=True),
        "item_means_": Array("f8", ("n_directions_1",)),
        "items_": Array(LABELS, ("n_directions_1",)),
        "overall_mean_": Number(),
        "ratings_": Array("f8", ("n_directions", "n_directions_1"), sparse=True),
        "user_means_": Array("f8", ("n_directions",)),
        "users_": Array(LABELS, ("n_directions",)),
    }

    def __init__(self, n_neighbors=20, *, similarity="pearson", weights="uniform"):
        self.n_neighbors = n_neighbors
        self.similarity = similarity
        self.weights = weights

    @validated
    def fit(self, users, items=None, ratings=None) -> NeighborRecommender:
        """Learn from triples, or from a table of users by items.

        Parameters
        ----------
        users : array-like, data frame or Table
            The user of each rating; or, where `items` is None, a table of users by items with
            missing cells (columns of a frame name the items).
        items : array-like, default=None
            The item of each rating.
        ratings : array-like, default=None
            The ratings; several of one user and item are averaged.

        Returns
        -------
        self : NeighborRecommender
        """
        if items is None:
            users, items, ratings = _triples(users)
        users, items = np.asarray(users), np.asarray(items)
        ratings = np.asarray(ratings, dtype=np.float64)
        if not len(users) == len(items) == len(ratings):
            raise DataError("users, items and ratings differ in number")
        if len(ratings) == 0 or not np.isfinite(ratings).all():
            raise DataError("there are no ratings, or some are not finite numbers")
        self.users_, rows = np.unique(users, return_inverse=True)
        self.items_, columns = np.unique(items, return_inverse=True)
        shape = len(self.users_), len(self.items_)
        cells, place = np.unique(rows.astype(np.int64) * shape[1] + columns, return_inverse=True)
        counts = np.bincount(place)
        means = np.bincount(place, ratings) / counts
        rows, columns = cells // shape[1], cells % shape[1]
        starts = np.searchsorted(rows, np.arange(shape[0] + 1))
        self.ratings_ = sp.csr_array((means, columns, starts), shape=shape)
        self.overall_mean_ = float(means.mean())
        self.user_means_ = np.bincount(rows, means) / np.bincount(rows)
        self.item_means_ = np.bincount(columns, means) / np.bincount(columns)
        self._directions = self._unit_rows(means, rows, columns, starts)
        return self

    def _unit_rows(self, values, rows, columns, starts) -> sp.csr_array:
        if self.similarity == "pearson":
            values = values - self.user_means_[rows]
            low = np.minimum.reduceat(self.ratings_.data, starts[:-1])
            high = np.maximum.reduceat(self.ratings_.data, starts[:-1])
            values[(low == high)[rows]] = 0.0
        elif self.similarity == "adjusted_cosine":
            values = values - self.item_means_[columns]
        lengths = np.sqrt(np.bincount(rows, values**2))
        values = values / np.where(lengths > 0, lengths, 1.0)[rows]
        return sp.csr_array((values, columns, starts), shape=self.ratings_.shape)

    def similarities(self, user) -> np.ndarray:
        """Similarity of a user to all users, between -1 and 1; 0 where nothing is in common.

        Parameters
        ----------
        user : object

        Returns
        -------
        similarities : ndarray of shape (n_users,)
        """
        place = self._places(self.users_, np.array([user]))[0]
        if place < 0:
            raise DataError(f"the user {user!r} has no ratings; nothing is known of their taste")
        return self._similar(np.array([place]))[0]

    def _similar(self, places: np.ndarray) -> np.ndarray:
        return np.asarray((self._directions[places] @ self._directions.T).todense())

    def predict(self, users, items) -> Ratings:
        """Ratings of items by users, pair by pair.

        A user's own rating of the item, if there is one, is not looked at.

        Parameters
        ----------
        users, items : array-like of shape (n,)

        Returns
        -------
        ratings : Ratings
        """
        users, items = np.atleast_1d(users), np.atleast_1d(items)
        if users.shape != items.shape:
            raise DataError(f"{len(users)} users and {len(items)} items: give pairs")
        rows, columns = self._places(self.users_, users), self._places(self.items_, items)
        found = np.full(len(users), self.overall_mean_)
        counts = np.zeros(len(users), dtype=np.int64)
        source = np.full(len(users), "overall mean", dtype=object)
        for known, means, name in (
            (rows, self.user_means_, "user mean"),
            (columns, self.item_means_, "item mean"),
        ):
            there = known >= 0
            found[there], source[there] = means[known[there]], name
        both = np.flatnonzero((rows >= 0) & (columns >= 0))
        by_item = sp.csc_array(self.ratings_)
        there = np.unique(rows[both])
        for start in range(0, len(there), USERS_TOGETHER):
            some = there[start : start + USERS_TOGETHER]
            similar = dict(zip(some.tolist(), self._similar(some)))
            for i in both[np.isin(rows[both], some)]:
                near = similar[int(rows[i])]
                rating, count = self._of_neighbors(by_item, rows[i], columns[i], near)
                if count:
                    found[i], counts[i], source[i] = rating, count, "neighbors"
                else:
                    found[i], source[i] = self.user_means_[rows[i]], "user mean"
        return Ratings(found, counts, source.astype(str))

    def _of_neighbors(
        self, by_item: sp.csc_array, row: int, column: int, similar: np.ndarray
    ) -> tuple[float, int]:
        part = slice(by_item.indptr[column], by_item.indptr[column + 1])
        raters, ratings = by_item.indices[part], by_item.data[part]
        others = raters != row
        raters, ratings = raters[others], ratings[others]
        if not len(raters):
            return np.nan, 0
        order = np.lexsort([raters, -similar[raters]])[: self.n_neighbors]
        weights = np.ones(len(order))
        if self.weights == "similarity":
            weights = np.maximum(similar[raters[order]], 0.0)
            if not weights.sum() > 0:
                weights = np.ones(len(order))
        return float(weights @ ratings[order] / weights.sum()), len(order)

    def recommend(self, user, n: int = 10) -> list[tuple[Any, float]]:
        """The items, not rated by a user yet, that promise the best ratings.

        Parameters
        ----------
        user : object
        n : int, default=10

        Returns
        -------
        items : list of (item, rating)
            Best first; of equal ratings the one that sorts first. For an unknown user the items of
            the best mean.
        """
        place = self._places(self.users_, np.array([user]))[0]
        if place < 0:
            order = np.lexsort([np.arange(len(self.items_)), -self.item_means_])[:n]
            return [(self.items_[j].item(), float(self.item_means_[j])) for j in order]
        rated = self.ratings_.indices[self.ratings_.indptr[place] : self.ratings_.indptr[place + 1]]
        left = np.setdiff1d(np.arange(len(self.items_)), rated)
        found = self.predict(np.repeat(np.array([user]), len(left)), self.items_[left]).ratings
        order = np.lexsort([left, -found])[:n]
        return [(self.items_[left[i]].item(), float(found[i])) for i in order]

    @staticmethod
    def _places(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Positions of names in a sorted list; -1 for those that are not there."""
        places = np.searchsorted(known, asked)
        places = np.minimum(places, len(known) - 1)
        return np.where(known[places] == asked, places, -1)


def _triples(table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """User, item and rating of each known cell of a table of users by items."""
    names: np.ndarray
    if isinstance(table, Table) or is_frame(table):
        table = as_table(table)
        names = np.array(table.columns)
        cells = np.column_stack(
            [table.column(name).to_numpy().astype(np.float64) for name in table.columns]
        )
    else:
        cells = np.asarray(table, dtype=np.float64)
        if cells.ndim != 2:
            raise DataError("give users, items and ratings, or a table of users by items")
        names = np.arange(cells.shape[1])
    rows, columns = np.nonzero(~np.isnan(cells))
    return rows, names[columns], cells[rows, columns]
