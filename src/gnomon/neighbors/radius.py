"""Neighbours within a radius: all training rows that are near vote or are averaged.

Texts: 003 2.2.1 to 2.2.2 (weights by distance); the radius in place of k is scikit-learn's.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf
from gnomon.neighbors.outputs import ClassVotes
from gnomon.neighbors.queries import RadiusQueries
from gnomon.neighbors.stored import NEIGHBOR_PARAMETERS, RADIUS, SKLEARN_SEARCH, StoredRows


class RadiusNeighbors(RadiusQueries, StoredRows):
    """What classes and numbers share: training rows within the radius, and what each counts."""

    weights: Any

    def _near(self, rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of a query and a training row within the radius: places, indices and weights."""
        if rows is None:
            distances, indices = self.index_.others_within(float(self.radius))
        else:
            distances, indices = self.index_.within(rows, float(self.radius))
        places = np.repeat(np.arange(len(indices)), [len(each) for each in indices])
        which = np.concatenate([np.empty(0, np.int64), *indices])
        counted = np.concatenate([np.empty(0), *self._weighed(distances)])
        if self.weights_ is not None:
            counted = counted * self.weights_[which]
        return places, which, counted

    def _weighed(self, distances: list[np.ndarray]) -> list[np.ndarray]:
        if self.weights in ("uniform", None):
            return [np.ones(len(each)) for each in distances]
        if self.weights == "distance":
            return [_inverse(each) for each in distances]
        ragged = np.empty(len(distances), dtype=object)
        ragged[:] = distances
        return [np.asarray(each, dtype=np.float64) for each in self.weights(ragged)]


def _inverse(distances: np.ndarray) -> np.ndarray:
    """1 / distance; where some are zero, one for these and zero for all others."""
    zero = distances == 0
    if zero.any():
        return zero.astype(np.float64)
    return 1.0 / distances


@method(
    task="classify",
    texts="003 2.2",
    use="Like KNeighborsClassifier, where rows are unevenly dense and a distance has a meaning.",
    avoid="Many columns: either none or nearly all rows are within a radius.",
    peers=("sklearn.neighbors.RadiusNeighborsClassifier",),
)
@without_effect("leaf_size")
@shared_parameters(NEIGHBOR_PARAMETERS)
class RadiusNeighborsClassifier(RadiusNeighbors, ClassVotes):
    """The class that most of the training rows within a radius have.

    P(class) is the share of the votes of the training rows at distance `radius` or less. Use it
    like `KNeighborsClassifier` where the rows are unevenly dense and a distance has a meaning of
    its own. Not in many columns, where either none or nearly all rows are within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        Rows at this distance or less vote.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Votes of one, of 1/d (rows at distance zero then decide alone), or by a function of an array
        of the distances of each row. None is "uniform".
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        As in `NearestNeighbors`; the result is the same.
    metric : str, Distance or callable, default="minkowski"
        How rows are compared: see `gnomon.neighbors.distance_of`. In a `Table`, and in a data frame
        that holds more than numbers, the columns of "minkowski" are divided by their deviation.
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        The class of a row that has no training row within the radius (one for each target); None
        raises an error there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        The classes, sorted; a list of them where there are several targets.
    outputs_2d_ : bool
        Whether there are several targets.
    outlier_label_ : list or None
        The class of rows without neighbours, for each target.
    codes_ : ndarray of int of shape (n_rows,) or (n_rows, n_targets)
        The class of each stored row, as a position in ``classes_``.
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_ : int
        Number of training rows.
    weights_ : ndarray of shape (n_rows,) or None
        Weights of the stored rows; None where all are one.
    distance_ : Distance
        The fitted distance.
    index_ : NeighbourIndex or GraphIndex
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
    >>> from gnomon.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]]), model.predict_proba([[1.0]]).round(2)
    (array([0]), array([[0.67, 0.33]]))
    """

    _parameter_constraints = (
        SKLEARN_SEARCH | RADIUS | {"outlier_label": [Real, str, "array-like", None]}
    )
    _stored = {
        "outlier_label_": ListOf(Anything()),
    }

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        outlier_label=None,
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _learn(self, X, y, sample_weight):
        super()._learn(X, y, sample_weight)
        self.outlier_label_ = self._outlier_labels()
        return self

    def _fit(self, data: Data) -> None:
        self._store(data)
        self._keep_codes(data.y)

    def _outlier_labels(self) -> list | None:
        several = self.classes_ if self.outputs_2d_ else [self.classes_]
        label = self.outlier_label
        if label is None:
            return None
        if isinstance(label, str) and label == "most_frequent":
            codes = self.codes_.reshape(len(self.codes_), -1)
            return [
                c[np.bincount(code, self.weights_).argmax()] for c, code in zip(several, codes.T)
            ]
        labels = [label] * len(several) if np.isscalar(label) else list(label)
        if len(labels) != len(several):
            raise ValueError(
                f"The length of outlier_label: {label} is inconsistent with the output length: "
                f"{len(several)}"
            )
        for classes, each in zip(several, labels):
            if not np.isscalar(each):
                raise TypeError(
                    f"The outlier_label of classes {classes} is supposed to be a scalar, got "
                    f"{each}."
                )
            if np.append(classes, each).dtype != classes.dtype:
                raise TypeError(
                    f"The dtype of outlier_label {each} is inconsistent with classes {classes} in "
                    "y."
                )
        return labels

    def _proba(self, rows) -> np.ndarray:
        places, indices, counted = self._near(rows)
        n = self.index_.n_rows if rows is None else rows.shape[0]
        total = int(self._starts()[-1])
        votes = np.zeros(n * total)
        for column in self._columns().T:
            cells = places * total + column[indices]
            votes += np.bincount(cells, counted, minlength=len(votes))
        votes = votes.reshape(n, total)
        for part in self._parts_of(votes):
            part /= np.maximum(part.sum(axis=1, keepdims=True), 1e-300)
        return votes

    def predict_proba(self, X) -> np.ndarray | list[np.ndarray]:
        """Probability of each class, for each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, none of which votes for itself.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or a list of one for each target
            Columns in the order of ``classes_``. A row without neighbours is of the class
            `outlier_label`; of none, with a warning, where that is not among the classes.
        """
        shares = self._each_query(self._proba, X)
        alone = ~shares.any(axis=1)
        parts = self._parts_of(shares)
        if alone.any():
            self._settle_outliers(parts, alone)
        return parts if self.outputs_2d_ else parts[0]

    def _settle_outliers(self, parts: list[np.ndarray], alone: np.ndarray) -> None:
        if self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {np.flatnonzero(alone)}, you can try using "
                "larger radius, giving a label for outliers, or considering removing them from "
                "your dataset."
            )
        several = self.classes_ if self.outputs_2d_ else [self.classes_]
        for part, classes, label in zip(parts, several, self.outlier_label_):
            known = np.flatnonzero(classes == label)
            if len(known):
                part[alone, known[0]] = 1.0
            else:
                warnings.warn(
                    f"Outlier label {label} is not in training classes. All class probabilities of "
                    "outliers will be assigned with 0.",
                    UserWarning,
                    stacklevel=4,
                )

    def predict(self, X) -> np.ndarray:
        """The class of most votes, for each row; `outlier_label` where no row votes.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, none of which votes for itself.

        Returns
        -------
        classes : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        proba = self.predict_proba(X)
        parts = proba if self.outputs_2d_ else [proba]
        best = np.column_stack([part.argmax(axis=1) for part in parts])
        found = self._decoded(best).reshape(best.shape)
        for target, part in enumerate(parts):
            alone = ~part.any(axis=1)
            if alone.any():
                assert self.outlier_label_ is not None
                label = np.asarray([self.outlier_label_[target]])
                found = found.astype(np.result_type(found, label), copy=False)
                found[alone, target] = label[0]
        return found if self.outputs_2d_ else found[:, 0]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._check_codes()


@method(
    task="regress",
    texts="003 2.2",
    use="Like KNeighborsRegressor, where rows are unevenly dense and a distance has a meaning.",
    avoid="Many columns: either none or nearly all rows are within a radius.",
    peers=("sklearn.neighbors.RadiusNeighborsRegressor",),
)
@without_effect("leaf_size")
@shared_parameters(NEIGHBOR_PARAMETERS)
class RadiusNeighborsRegressor(RadiusNeighbors, Regressor):
    """The mean target of the training rows within a radius.

    y(x) = sum w_j y_j / sum w_j over the training rows at distance `radius` or less; NaN, with a
    warning, where there are none. Use it like `KNeighborsRegressor` where the rows are unevenly
    dense and a distance has a meaning of its own. Not in many columns.

    Parameters
    ----------
    radius : float, default=1.0
        Rows at this distance or less are averaged.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal, 1/d (rows at distance zero then decide alone), or a function of an array of the
        distances of each row. None is "uniform".
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        As in `NearestNeighbors`; the result is the same.
    metric : str, Distance or callable, default="minkowski"
        How rows are compared: see `gnomon.neighbors.distance_of`. In a `Table`, and in a data frame
        that holds more than numbers, the columns of "minkowski" are divided by their deviation.

    Attributes
    ----------
    targets_ : ndarray of shape (n_rows,) or (n_rows, n_targets)
        The targets of the stored rows.
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_ : int
        Number of training rows.
    weights_ : ndarray of shape (n_rows,) or None
        Their weights; None where all are one.
    distance_ : Distance
        The fitted distance.
    index_ : NeighbourIndex or GraphIndex
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
    >>> from gnomon.neighbors import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    _many_targets = True
    _parameter_constraints = SKLEARN_SEARCH | RADIUS
    _stored = {
        "targets_": Array("f8", [("n_samples_fit_",), (None, None)]),
    }

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._store(data)
        self.targets_ = np.array(data.y, dtype=np.float64)

    def predict(self, X) -> np.ndarray:
        """The mean target of the training rows within the radius; NaN where there are none.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, each estimated from the others.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        found = self._each_query(self._estimate, X)
        if np.isnan(found).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        return found

    def _estimate(self, rows) -> np.ndarray:
        places, indices, counted = self._near(rows)
        n = self.index_.n_rows if rows is None else rows.shape[0]
        targets = self.targets_.reshape(len(self.targets_), -1)
        mass = np.bincount(places, counted, minlength=n)
        sums = [np.bincount(places, counted * each[indices], minlength=n) for each in targets.T]
        with np.errstate(invalid="ignore"):
            found = np.column_stack(sums) / mass[:, None]
        return found[:, 0] if self.targets_.ndim == 1 else found

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "targets_") and len(self.targets_) != self.index_.n_rows:
            raise ValueError("the targets are not as many as the stored rows")
