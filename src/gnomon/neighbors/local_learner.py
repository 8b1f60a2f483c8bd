"""A learner trained anew on the neighbours of every query.

Texts: 003 2.2.3.3 (whose title calls it a distance metric; what it describes is a local learner).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from gnomon.contract import Classifier, Data, Regressor, Takes
from gnomon.contract.docstrings import shared_attributes
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HasMethods, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object, Whole
from gnomon.neighbors.distances import MinkowskiDistance
from gnomon.neighbors.stored import SEARCH, Neighborhood, StoredRows

PARAMETERS = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_neighbors": [whole(1)],
    "alpha": [above(0)],
} | SEARCH
# Texts of attributes that classes here share, for their docstrings.
LOCAL_ATTRIBUTES = """\
n_samples_fit_ : int
    Number of training rows.
n_neighbors_ : int
    Rows that a model is fitted on.
rows_ : ndarray of shape (n_rows, n_columns)
    The training rows.
weights_ : ndarray of shape (n_rows,) or None
    Their weights; None where all are one.
units_ : MinkowskiDistance
    Deviations of the columns, in which planes are fitted.
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
"""


class LocalLearner(StoredRows):
    """What classes and numbers share: neighbourhoods, and one fit for queries that share theirs."""

    natively = Takes()
    _stored = {
        "n_neighbors_": Whole(1),
        "rows_": Array("f8", ("n_samples_fit_", "n_columns")),
        "units_": Object(("MinkowskiDistance",)),
    }

    def _keep_all(self, data: Data) -> None:
        self._store(data)
        total = self.index_.n_rows if self.weights_ is None else float(self.weights_.sum())
        self.n_neighbors_ = max(min(self.n_neighbors, int(total * (1 + 1e-9))), 1)
        self.rows_ = np.array(data.rows, dtype=np.float64)
        self.units_ = MinkowskiDistance(units="deviation").fit(self.rows_, None, data.weights)

    def _planes(self, rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Heights at the queries of ridge planes through their neighbours. targets (n, t)"""
        queries, stored = self.units_.coordinates(rows), self.units_.coordinates(self.rows_)
        found = np.empty((len(rows), targets.shape[1]))
        for near in self._neighborhoods(rows, self.n_neighbors_):
            found[near.places] = ridge_heights(
                queries[near.places],
                stored[near.indices],
                targets[near.indices],
                near.counted,
                self.alpha,
            )
        return found

    def _fitted_answers(self, rows: np.ndarray, answer: Any, out: np.ndarray) -> np.ndarray:
        """Let ``answer(model, rows)`` fill `out`; queries of the same neighbours share a model."""
        together: dict[bytes, list[int]] = {}
        neighbors: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        for near in self._neighborhoods(rows, self.n_neighbors_):
            for place, members, counted in _each(near):
                key = members.tobytes() + counted.tobytes()
                together.setdefault(key, []).append(place)
                neighbors[key] = members, counted
        for key, places in together.items():
            out[places] = answer(*neighbors[key], rows[places])
        return out

    def _local_model(self, targets: np.ndarray, members: np.ndarray, counted: np.ndarray) -> Any:
        model = clone(self.estimator)
        weights = {} if (counted == 1).all() else {"sample_weight": counted}
        if weights and not has_fit_parameter(model, "sample_weight"):
            raise DataError(
                f"{type(model).__name__} takes no sample_weight, which rows of other weights than "
                "one and rows tied at the distance of the k-th neighbour need"
            )
        return model.fit(self.rows_[members], targets[members], **weights)

    def _rows_at_once(self, rows) -> int:
        return int(
            np.clip(2**20 // (self.n_neighbors * (rows.shape[1] + self.n_neighbors)), 1, 512)
        )

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "rows_") and (
            self.rows_.ndim != 2 or len(self.rows_) != self.index_.n_rows
        ):
            raise ValueError("the rows and their index differ in number")


def ridge_heights(
    queries: np.ndarray, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray, alpha: float
) -> np.ndarray:
    """Height at each query of the ridge plane through its own rows.

    Minimises sum_j w_j (y_j - b0 - b'(x_j - mean))^2 + lambda |b|^2 with lambda = alpha times the
    mean of w_j |x_j - mean|^2, solved in the space of rows or of columns, whichever is smaller.

    Parameters
    ----------
    queries : ndarray of shape (n, d)
    rows : ndarray of shape (n, k, d)
    targets : ndarray of shape (n, k, t)
    weights : ndarray of shape (n, k)
    alpha : float

    Returns
    -------
    heights : ndarray of shape (n, t)
    """
    share = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
    center, level = (share * rows).sum(axis=1), (share * targets).sum(axis=1)
    root = np.sqrt(weights)[:, :, None]
    centered = (rows - center[:, None]) * root
    rest = (targets - level[:, None]) * root
    across = centered.transpose(0, 2, 1)
    few_rows = rows.shape[1] <= rows.shape[2]
    products = centered @ across if few_rows else across @ centered
    spread = np.trace(products, axis1=1, axis2=2)
    ridge = np.where(spread > 0, alpha * spread / weights.sum(axis=1), 1.0)
    diagonal = np.arange(products.shape[1])
    products[:, diagonal, diagonal] += ridge[:, None]
    if few_rows:
        slopes = across @ np.linalg.solve(products, rest)
    else:
        slopes = np.linalg.solve(products, across @ rest)
    return level + ((queries - center)[:, None] @ slopes)[:, 0]


def _each(near: Neighborhood):
    """Each query's place, the neighbours that count, sorted, and how much each does."""
    for place, indices, counted in zip(near.places.tolist(), near.indices, near.counted):
        members = np.flatnonzero(counted > 0)
        members = members[np.argsort(indices[members])]
        yield place, indices[members], counted[members]


@method(
    task="regress",
    texts="003 2.2.3.3",
    use="A relation that is simple nearby and not as a whole, with a learner that is fast to fit.",
    avoid="Fast answers: a model is fitted for each; few rows; many columns.",
)
@shared_attributes(LOCAL_ATTRIBUTES)
class LocalRegressor(LocalLearner, Regressor):
    """Any regressor, trained on the nearest rows of each query in predict.

    Minimises the learner's own objective over the k nearest rows only. Use it where a relation is
    simple nearby (a plane) and not as a whole, with a learner that is fast to fit: a model is
    fitted for every set of neighbours that queries have, once per call. Not where answers must be
    fast. Without an estimator it fits ridge planes, the usual case, all at once.

    Texts: 003 2.2.3.3.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Fitted on columns of numbers; None for a ridge plane.
    n_neighbors : int, default=20
        Rows that a model is fitted on, or all where there are fewer; rows tied with the last of
        them share its weight.
    alpha : float, default=0.01
        Ridge of the planes, in units of the neighbours' mean square distance from their mean.
    metric : str, Distance or callable, default="standardized"
        How rows are compared: see `gnomon.neighbors.distance_of`.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How the nearest rows are found.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_, n_neighbors_, rows_
    targets_ : ndarray of shape (n_rows,)
        Their targets.
    weights_, units_, distance_, index_, encoder_, target_name_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neighbors import LocalRegressor
    >>> x = np.linspace(0, 6, 200)
    >>> model = LocalRegressor(n_neighbors=9).fit(x[:, None], np.sin(x))
    >>> model.predict([[1.0]]).round(2)
    array([0.84])
    """

    _parameter_constraints = PARAMETERS
    _stored = {
        "targets_": Array("f8", ("n_samples_fit_",)),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_neighbors=20,
        alpha=0.01,
        metric="standardized",
        algorithm="auto",
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._keep_all(data)
        self.targets_ = np.array(data.y, dtype=np.float64)

    def _estimate(self, rows):
        if self.estimator is None:
            return self._planes(rows, self.targets_[:, None])[:, 0]

        def answer(members, counted, some):
            return self._local_model(self.targets_, members, counted).predict(some)

        return self._fitted_answers(rows, answer, np.empty(len(rows)))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "targets_") and self.targets_.shape != (self.index_.n_rows,):
            raise ValueError("the targets are not as many as the stored rows")


@method(
    task="classify",
    texts="003 2.2.3.3",
    use="Boundaries that are simple nearby and not as a whole, with a learner fast to fit.",
    avoid="Fast answers: a model is fitted for each; few rows; many columns.",
)
@shared_attributes(LOCAL_ATTRIBUTES)
class LocalClassifier(LocalLearner, Classifier):
    """Any classifier, trained on the nearest rows of each query in predict.

    Minimises the learner's own objective over the k nearest rows only. Use it where boundaries are
    simple nearby (a plane) and not as a whole; neighbours of one class need no model. A model is
    fitted for every set of neighbours that queries have, once per call: not where answers must be
    fast. Without an estimator it fits ridge planes to the classes' indicators, whose heights, cut
    to 0 and 1 and divided by their sum, are the probabilities.

    Texts: 003 2.2.3.3.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Fitted on columns of numbers; None for ridge planes.
    n_neighbors : int, default=20
        Rows that a model is fitted on, or all where there are fewer; rows tied with the last of
        them share its weight.
    alpha : float, default=0.01
        Ridge of the planes, in units of the neighbours' mean square distance from their mean.
    metric : str, Distance or callable, default="standardized"
        How rows are compared: see `gnomon.neighbors.distance_of`.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How the nearest rows are found.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    codes_ : ndarray of int of shape (n_rows,)
        The class of each stored row, as a position in ``classes_``.
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_, n_neighbors_, rows_, weights_, units_, distance_, index_, encoder_
    target_name_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neighbors import LocalClassifier
    >>> x = np.linspace(0, 1, 100)
    >>> model = LocalClassifier(n_neighbors=10).fit(x[:, None], np.where(x < 0.5, "low", "high"))
    >>> model.predict([[0.3], [0.8]])
    array(['low', 'high'], dtype='<U4')
    """

    _parameter_constraints = PARAMETERS
    _stored = {
        "codes_": Array("i8", ("n_samples_fit_",), low=0, below="n_classes"),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_neighbors=20,
        alpha=0.01,
        metric="standardized",
        algorithm="auto",
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        if self.estimator is not None and not is_classifier(self.estimator):
            raise DataError(f"{type(self.estimator).__name__} is not a classifier")
        self._keep_all(data)
        self.codes_ = np.array(data.y, dtype=np.int64)

    def _proba(self, rows):
        n_classes = len(self.classes_)
        if self.estimator is not None:
            return self._fitted_answers(rows, self._local_proba, np.empty((len(rows), n_classes)))
        targets = (self.codes_[:, None] == np.arange(n_classes)).astype(np.float64)
        heights = np.clip(self._planes(rows, targets), 0.0, 1.0)
        return heights / heights.sum(axis=1, keepdims=True)

    def _local_proba(self, members, counted, some) -> np.ndarray:
        present = np.unique(self.codes_[members])
        proba = np.zeros((len(some), len(self.classes_)))
        if len(present) == 1:
            proba[:, present[0]] = 1.0
            return proba
        model = self._local_model(self.codes_, members, counted)
        if hasattr(model, "predict_proba"):
            proba[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(some)
        else:
            proba[np.arange(len(some)), np.asarray(model.predict(some), dtype=np.int64)] = 1.0
        return proba

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "codes_"):
            return
        if self.codes_.shape != (self.index_.n_rows,) or self.codes_.dtype != np.int64:
            raise ValueError("the classes of the stored rows are not as many as the rows")
        if self.codes_.min() < 0 or self.codes_.max() >= len(self.classes_):
            raise ValueError("a stored row has a class that is not there")
