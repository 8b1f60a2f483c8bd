"""k nearest neighbours: the class that most of the nearest training rows have.

    p(class | x) = (n_class + l / c) / (k + l),   n_class: votes among the k nearest rows

with votes of one, of 1 / (d + d0)^q by distance d, or of exp(-d^2 / (2 sigma^2)) over all rows. An
answer may be withheld unless the winner has more than a given number of votes.

Texts: 000a 1.2 · 000b 8.3.2 · 001 13.7 · 003 2.2.1 to 2.2.2, 3.3.7 · 004 2.1.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from gnomon.contract import Data
from gnomon.contract.docstrings import shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.neighbors.outputs import ClassVotes
from gnomon.neighbors.queries import NearestQueries
from gnomon.neighbors.stored import NEIGHBOR_PARAMETERS, SKLEARN_SEARCH, WEIGHING, WeighedNeighbors


@method(
    task="classify",
    texts="000a 1.2 · 003 2.2, 3.3.7 · 004 2.1",
    use="As a first model where a distance makes sense: no training, any number of classes.",
    avoid="Many columns that say nothing, fast answers from many rows, little memory.",
    peers=("sklearn.neighbors.KNeighborsClassifier",),
)
@without_effect("leaf_size")
@shared_parameters(NEIGHBOR_PARAMETERS)
class KNeighborsClassifier(NearestQueries, WeighedNeighbors, ClassVotes):
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
    is over the k nearest.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows that vote.
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        Votes of one; of 1/(d + offset)^power; of exp(-d^2/(2 bandwidth^2)) for all training rows,
        near or not; or a function of an array of distances. None is "uniform".
    power : float, default=1.0
        The exponent q of "distance"; any number (0 gives votes of one).
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

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        The classes, sorted; a list of them where there are several targets.
    outputs_2d_ : bool
        Whether there are several targets.
    codes_ : ndarray of int of shape (n_rows,) or (n_rows, n_targets)
        The class of each stored row, as a position in ``classes_``.
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_ : int
        Number of training rows.
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
        | SKLEARN_SEARCH
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
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
        power=1.0,
        offset=0.0,
        bandwidth="auto",
        smoothing=0.0,
        proba_neighbors=None,
        votes=None,
        unknown="unknown",
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.power = power
        self.offset = offset
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.proba_neighbors = proba_neighbors
        self.votes = votes
        self.unknown = unknown

    def _fit(self, data: Data) -> None:
        self._store(data)
        self._keep_codes(data.y)
        self._learn_bandwidth(data.rows)

    def _shares(self, rows, k: int) -> np.ndarray:
        """Share of the votes that each class has, of all targets side by side."""
        self._require_neighbors(k)
        if self.weights == "gaussian":
            return self._kernel_means(rows, self._indicators())
        parts = []
        for near in self._weighed(rows, k):
            parts.append((near.places, self._counted_votes(near.indices, near.counted)))
        if len(parts) == 1:
            shares = parts[0][1]
        else:
            shares = np.empty((sum(len(places) for places, _ in parts), parts[0][1].shape[1]))
            for places, part in parts:
                shares[places] = part
        return shares

    def _proba(self, rows) -> np.ndarray:
        k = self.n_neighbors if self.proba_neighbors is None else self.proba_neighbors
        shares = self._shares(rows, k)
        for part in self._parts_of(shares):
            part[:] = (k * part + self.smoothing / part.shape[1]) / (k + self.smoothing)
            part /= part.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X) -> np.ndarray:
        """The class of most votes, for each row; `unknown` where these are too few.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, none of which votes for itself.

        Returns
        -------
        classes : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        verdict = self._each_query(self._verdict, X)
        best = self._decoded(np.abs(verdict) - 1)
        if self.votes is None:
            return best
        verdict = verdict.reshape(best.shape)
        answers = np.where(verdict > 0, best.astype(object), self.unknown)
        of_one_type = isinstance(self.unknown, str) == (best.dtype.kind == "U")
        return np.array(answers.tolist()) if of_one_type else answers

    def _verdict(self, rows) -> np.ndarray:
        """The winner's place counted from one; negative where it has too few votes."""
        # rounded, so that votes which differ by the order in which they were added only are tied
        parts = self._parts_of(np.round(self._shares(rows, self.n_neighbors), 12))
        winner = np.column_stack([part.argmax(axis=1) for part in parts]) + 1
        if self.votes is None:
            return winner
        needed = self.n_neighbors - 1 if self.votes == "all" else self.votes
        won = np.column_stack([part.max(axis=1) for part in parts]) * self.n_neighbors
        return np.where(won > needed + 1e-9, winner, -winner)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._check_codes()
