"""k nearest neighbours: the class that most of the nearest training rows have.

    p(class | x) = (n_class + l / c) / (k + l),   n_class: votes among the k nearest rows

with votes of one, of 1 / (d + d0)^q by distance d, or of exp(-d^2 / (2 sigma^2)) over all rows. An
answer may be withheld unless the winner has more than a given number of votes.

Texts: 000a 1.2 · 000b 8.3.2 · 001 13.7 · 003 2.2.1 to 2.2.2, 3.3.7 · 004 2.1.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from gnomon.contract import Classifier, Data
from gnomon.engine.parameters import StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.neighbors.stored import SEARCH, WEIGHING, WeighedNeighbours


@method(
    task="classify",
    texts="000a 1.2 · 003 2.2, 3.3.7 · 004 2.1",
    use="As a first model where a distance makes sense: no training, any number of classes.",
    avoid="Many columns that say nothing, fast answers from many rows, little memory.",
    peers=("sklearn.neighbors.KNeighborsClassifier",),
)
class KNeighborsClassifier(WeighedNeighbours, Classifier):
    """The class that most of the nearest training rows have.

    P(class) = (n_class + l / c) / (k + l) for n_class of k votes and c classes, l = ``smoothing``.
    Use it as a first model wherever distances make sense: it needs no training and follows any
    boundary. With one neighbour its error tends to at most twice the Bayes risk; with all rows
    and equal votes it is the baseline. Not for many columns that say nothing (they drown the
    others), and not where answers must be fast: all rows are kept and compared.

    Rows that are tied at the distance of the k-th share the votes that are left; of equal votes the
    class that sorts first wins. An even k invites ties. With weights by distance, rows at distance
    zero decide alone. A row of weight two counts as two neighbours.

    Texts: 000a 1.2 (nearest neighbour, (k, l) rule; at most 3 neighbours in practice), 000b 8.3.2
    (``metric="chi_square"``), 003 2.2.1 to 2.2.3 (weights 1/d^q, the Gaussian over all rows with
    sigma the mean distance to the k-th neighbour) and 3.3.7 (the distribution), 004 2.1 (weights
    1/(d + d0), unanimity). 004 says that for d0 to infinity its mean is over all training rows: it
    is over the k nearest. scikit-learn's default is ``metric="euclidean"``, that of 003 too.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows that vote.
    weights : {"uniform", "distance", "gaussian"} or callable, default="uniform"
        Votes of one; of 1/(d + offset)^power; of exp(-d^2/(2 bandwidth^2)) for all training rows,
        near or not; or a function of an array of distances.
    power : float, default=1.0
        The exponent q of "distance"; any number (0 gives votes of one).
    offset : float, default=0.0
        The d0 of "distance": larger lets far rows count more.
    bandwidth : float or "auto", default="auto"
        The sigma of "gaussian"; "auto" is the mean distance of training rows to their k-th
        neighbour.
    smoothing : float, default=0.0
        The l of the probabilities: rows that are thought to be spread evenly over all classes.
    proba_neighbors : int or None, default=None
        Rows that make up the probabilities, best many more than decide the class; None for
        n_neighbors.
    votes : int, "all" or None, default=None
        Answer only where the winner has more votes than this, else `unknown`: the (k, l) rule;
        "all" asks for unanimity. None: always answer.
    unknown : object, default="unknown"
        What is answered where votes are too few.
    metric : str, Distance or callable, default="standardised"
        How rows are compared: see `gnomon.neighbors.distance_of`.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How the nearest rows are found; all give the same: see `gnomon.neighbors.index`.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    codes_ : ndarray of int of shape (n_rows,)
        The class of each stored row, as a position in ``classes_``.
    weights_ : ndarray of shape (n_rows,) or None
        Weights of the stored rows; None where all are one.
    bandwidth_ : float or None
        The sigma of "gaussian"; None with other weights.
    distance_ : Distance
        The fitted distance.
    index_ : NeighbourIndex
        The stored rows, ready for searches.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import pandas as pd
    >>> from gnomon.neighbors import KNeighborsClassifier
    >>> rows = pd.DataFrame({"gender": ["m", "f", "m"], "siblings": [4, 0, 1], "age": [35, 12, 17]})
    >>> model = KNeighborsClassifier(1).fit(rows, ["blue", "pink", "black"])
    >>> model.predict(pd.DataFrame({"gender": ["f"], "siblings": [1], "age": [75]}))
    array(['blue'], dtype='<U5')
    """

    _parameter_constraints = (
        WEIGHING
        | SEARCH
        | {
            "smoothing": [at_least(0)],
            "proba_neighbors": [whole(1), None],
            "votes": [whole(0), StrOptions({"all"}), None],
            "unknown": [str, Real, None],
        }
    )

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        power=1.0,
        offset=0.0,
        bandwidth="auto",
        smoothing=0.0,
        proba_neighbors=None,
        votes=None,
        unknown="unknown",
        metric="standardised",
        algorithm="auto",
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.power = power
        self.offset = offset
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.proba_neighbors = proba_neighbors
        self.votes = votes
        self.unknown = unknown
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._store(data)
        self._require_neighbours(self.n_neighbors)
        if self.proba_neighbors is not None:
            self._require_neighbours(self.proba_neighbors, "proba_neighbors")
        self.codes_ = np.array(data.y, dtype=np.int64)
        self._learn_bandwidth(np.asarray(data.rows, dtype=np.float64))

    def _shares(self, rows: np.ndarray, k: int) -> np.ndarray:
        """Share of the votes that each class has."""
        n_classes = len(self.classes_)
        if self.weights == "gaussian":
            targets = (self.codes_[:, None] == np.arange(n_classes)).astype(np.float64)
            return self._kernel_means(rows, targets)
        shares = np.zeros(len(rows) * n_classes)
        for near in self._weighed(rows, k):
            cells = near.places[:, None] * n_classes + self.codes_[near.indices]
            shares += np.bincount(cells.ravel(), near.counted.ravel(), minlength=len(shares))
        # so that votes which are equal but for rounding tie, whichever way their parts were added
        return np.round(shares.reshape(len(rows), n_classes), 12)

    def _proba(self, rows):
        k = self.n_neighbors if self.proba_neighbors is None else self.proba_neighbors
        shares = self._shares(rows, k)
        shares = (k * shares + self.smoothing / shares.shape[1]) / (k + self.smoothing)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X) -> np.ndarray:
        """The class of most votes, for each row; `unknown` where these are too few.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        verdict = self._each_block(self._verdict, X)
        best = self.classes_[np.abs(verdict) - 1]
        if self.votes is None:
            return best
        answers = np.where(verdict > 0, best.astype(object), self.unknown)
        of_one_type = isinstance(self.unknown, str) == (self.classes_.dtype.kind == "U")
        return np.array(answers.tolist()) if of_one_type else answers

    def _verdict(self, rows: np.ndarray) -> np.ndarray:
        """The winner's place counted from one; negative where it has too few votes."""
        shares = self._shares(rows, self.n_neighbors)
        winner = shares.argmax(axis=1) + 1
        if self.votes is None:
            return winner
        needed = self.n_neighbors - 1 if self.votes == "all" else self.votes
        won = shares.max(axis=1) * self.n_neighbors
        return np.where(won > needed + 1e-9, winner, -winner)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "codes_"):
            return
        if self.codes_.shape != (self.index_.n_rows,) or self.codes_.dtype != np.int64:
            raise ValueError("the classes of the stored rows are not as many as the rows")
        if self.codes_.min() < 0 or self.codes_.max() >= len(self.classes_):
            raise ValueError("a stored row has a class that is not there")
