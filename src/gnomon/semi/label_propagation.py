"""Label propagation and label spreading: labels walk along a graph of similar rows.

Propagation repeats  F <- P F  with P = D^-1 W and puts the given labels back after every step;
spreading repeats  F <- alpha S F + (1 - alpha) Y  with S = D^-1/2 W D^-1/2, which lets labels
change where their surroundings disagree.

Texts: 004 17.1.2 (eqs 17.2-17.7) · 003 2.8.
"""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot

from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, JOBS, Interval, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.semi.graph import GraphLabels, Points, normalized, squared_distances

CELLS_OF_BLOCK = 2**17  # of kernel values to new rows, 1 MB
# Texts of attributes that classes here share, for their docstrings.
PROPAGATION_ATTRIBUTES = """\
X_ : ndarray or csr_array of shape (n_points, n_features)
    The different rows.
classes_ : ndarray of shape (n_classes,)
    The classes.
label_distributions_ : ndarray of shape (n_samples, n_classes)
    Probabilities of the classes of every row.
transduction_ : ndarray of shape (n_samples,)
    The class of every row; -1, "" or None where nothing is known.
reached_ : ndarray of bool of shape (n_points,)
    Which points a label reaches.
point_distributions_ : ndarray of shape (n_points, n_classes)
    Probabilities of the different rows.
point_weights_ : ndarray of shape (n_points,)
    Their weights.
place_ : ndarray of int of shape (n_samples,)
    The point of every row; -1 for rows of weight zero.
index_ : NeighborIndex
    The points.
history_ : History
    The change of each step.
n_iter_ : int
    Number of steps.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""
# Texts of parameters that classes here share, for their docstrings.
PROPAGATION_PARAMETERS = """\
kernel : {"knn", "rbf"} or callable
    Weights of the graph; a function gets two arrays of rows and gives a matrix of weights.
gamma : float
    Of the kernel "rbf".
n_neighbors : int
    Neighbors of a row, itself included, for the kernel "knn".
max_iter : int
    Most steps.
n_jobs : int or None
    Threads; the result does not depend on it.
keep_history : {"objective", "full"}
    "full" keeps the probabilities after every step, for a replay.
"""


class Propagates(GraphLabels):
    """What propagation and spreading share: kernels, the loop, new rows."""

    _minus_one = "always"
    _parameter_constraints = {
        "kernel": [StrOptions({"rbf", "knn"}), callable],
        "gamma": [at_least(0)],
        "n_neighbors": [whole(1)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }

    def _spread(self, points: Points) -> None:
        step = self._step_of(self._edges(points), points)
        labels = points.one_hot()
        now = labels
        given = points.labeled
        course = self._course("iteration", self.max_iter)
        for _ in course:
            after = step(now, labels, given)
            change = float(np.abs(after - now).sum())
            now = after
            if self._end_step(course, change, partial(self._found_in, now)):
                break
        if course.history.stopped == "max_iter":
            warnings.warn(
                f"max_iter={self.max_iter} was reached without convergence. Increase max_iter "
                "or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(self._found_in(now))
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _found_in(self, values: np.ndarray) -> dict[str, Any]:
        return self._found(values, values.sum(axis=1) > 0)

    def _step_of(self, edges: Any, points: Points) -> Any:
        raise NotImplementedError

    def _edges(self, points: Points) -> Any:
        """Kernel values of all pairs, dense; or ones for the nearest points, sparse."""
        if self.kernel == "knn":
            k = min(self.n_neighbors, len(points.weights))
            found = self.index_.search(self.index_.stored, k, self.n_jobs)
            ones = np.ones(found.indices.size)
            starts = np.arange(0, found.indices.size + 1, k)
            shape = (len(points.weights),) * 2
            return sp.csr_array((ones, found.indices.ravel(), starts), shape)
        values = self._kernel_values(points.rows, points.rows)
        if values.min(initial=0.0) < 0:
            raise DataError(
                f"the kernel gives negative values (the least is {values.min():.3g}); weights of a "
                "graph must be zero or more"
            )
        return values

    def _kernel_values(self, rows: Any, others: Any) -> np.ndarray:
        if callable(self.kernel):
            values = np.asarray(self.kernel(rows, others), dtype=np.float64)
            if values.shape != (rows.shape[0], others.shape[0]):
                raise DataError(
                    f"the kernel gives an array of shape {values.shape} for {rows.shape[0]} and "
                    f"{others.shape[0]} rows; it must give one value per pair"
                )
            return values
        return np.exp(-np.minimum(self.gamma * squared_distances(rows, others), 745.0))

    def _proba(self, rows: Any) -> np.ndarray:
        if self.kernel == "knn":
            k = min(self.n_neighbors, self.index_.n_rows)
            return normalized(self._known()[self.index_.nearest(rows, k).indices].sum(axis=1))
        if callable(self.kernel):
            return normalized(self._kernel_values(rows, self.X_) @ self._known())
        squares = self.gamma * squared_distances(rows, self.X_)
        nearest = np.where(self.reached_, squares, np.inf).min(axis=1, keepdims=True)
        # the nearest point has weight one, so that no row is too far for the kernel
        with np.errstate(over="ignore"):
            return normalized(np.exp(np.minimum(nearest - squares, 0.0)) @ self._known())

    def _known(self) -> np.ndarray:
        """Distributions of the points by their weights, zero where they are unknown."""
        known = self.point_weights_ * self.reached_
        return known[:, None] * self.point_distributions_

    def _rows_at_once(self, rows: Any) -> int:
        return max(CELLS_OF_BLOCK // self.index_.n_rows, 16)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if self.kernel == "knn":
            return super()._working_memory(n_rows, n_columns)
        return 8 * n_rows * (2 * n_rows + 2 * n_columns + 60)

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or kernel='knn', whose graph has n_neighbors edges per row."


@method(
    task="classify",
    texts="004 17.1.2",
    use="Few labels and many unlabeled rows whose classes are separated by gaps.",
    avoid="Wrong labels (LabelSpreading); more than 10,000 rows with kernel='rbf'.",
    peers=("sklearn.semi_supervised.LabelPropagation",),
    synonyms=("semi-supervised", "transduction"),
)
@shared_attributes(PROPAGATION_ATTRIBUTES)
@shared_parameters(PROPAGATION_PARAMETERS)
class LabelPropagation(Propagates):
    """Labels walk along a graph of similar rows; given labels stay as they are.

    Repeats ``F <- D^-1 W F`` with ``w_ij = exp(-gamma |x_i - x_j|^2)``, or one for nearest
    neighbors, and puts the given labels back after each step. Use it for few labels and classes
    with gaps between them; not where labels may be wrong. The limit is the harmonic function that
    `HarmonicLabelPropagation` computes directly.

    Rows without a label are marked by -1 or a missing cell. A row that no label reaches is unknown:
    its probabilities are equal and ``transduction_`` has the mark there, with a warning.
    Texts: 004 17.1.2.

    Parameters
    ----------
    tol : float, default=1e-3
        Least change of all values in a step.

    Attributes
    ----------
    X_, classes_, label_distributions_, transduction_, reached_, point_distributions_
    point_weights_, place_, index_, history_, n_iter_, n_features_in_

    Examples
    --------
    >>> from gnomon.semi import LabelPropagation
    >>> model = LabelPropagation(gamma=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, -1, -1, 1])
    >>> model.transduction_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=20,
        n_neighbors=7,
        max_iter=1000,
        tol=1e-3,
        n_jobs=None,
        keep_history="objective",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _step_of(self, edges: Any, points: Points) -> Any:
        weighted = edges * points.weights if not sp.issparse(edges) else edges @ _diagonal(points)
        totals = np.asarray(weighted.sum(axis=1)).ravel()
        scale = 1.0 / np.where(totals > 0, totals, 1.0)

        def step(now: np.ndarray, labels: np.ndarray, given: np.ndarray) -> np.ndarray:
            after = safe_sparse_dot(weighted, now) * scale[:, None]
            sums = after.sum(axis=1, keepdims=True)
            after /= np.where(sums > 0, sums, 1.0)
            return np.where(given[:, None], labels, after)

        return step


@method(
    task="classify",
    texts="004 17.1.2",
    use="Few labels, some of them perhaps wrong, and many unlabeled rows.",
    avoid="Labels that must stay as given (LabelPropagation).",
    peers=("sklearn.semi_supervised.LabelSpreading",),
    synonyms=("semi-supervised", "transduction"),
)
@shared_attributes(PROPAGATION_ATTRIBUTES)
@shared_parameters(PROPAGATION_PARAMETERS)
class LabelSpreading(Propagates):
    """Labels spread along a graph of similar rows and may change where neighbors disagree.

    Repeats ``F <- alpha D^-1/2 W D^-1/2 F + (1 - alpha) Y`` (Zhou and others), whose limit is
    ``(1 - alpha) (I - alpha S)^-1 Y``. Use it for few labels that may be wrong. Not where labels
    must stay as given.

    Rows without a label are marked by -1 or a missing cell. A row that no label reaches is unknown:
    its probabilities are equal and ``transduction_`` has the mark there, with a warning.
    Texts: 004 17.1.2.

    Parameters
    ----------
    alpha : float, default=0.2
        Share of a row's value that comes from its neighbors, between 0 and 1.
    tol : float, default=1e-3
        Least change of all values in a step.

    Attributes
    ----------
    X_, classes_, label_distributions_, transduction_, reached_, point_distributions_
    point_weights_, place_, index_, history_, n_iter_, n_features_in_

    Examples
    --------
    >>> from gnomon.semi import LabelSpreading
    >>> model = LabelSpreading(gamma=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, -1, -1, 1])
    >>> model.transduction_.tolist()
    [0, 0, 1, 1]
    """

    _parameter_constraints = {
        **Propagates._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=20,
        n_neighbors=7,
        alpha=0.2,
        max_iter=30,
        tol=1e-3,
        n_jobs=None,
        keep_history="objective",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _step_of(self, edges: Any, points: Points) -> Any:
        """A row's copies are neighbors of it, the row itself is not."""
        own = np.maximum(points.weights - 1.0, 0.0) / points.weights
        if sp.issparse(edges):
            edges.setdiag(0.0)
            edges = sp.csr_array(edges + sp.diags_array(own))
        else:
            np.fill_diagonal(edges, own)
        weighted = edges @ _diagonal(points) if sp.issparse(edges) else edges * points.weights
        degrees = edges.T @ points.weights
        scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
        alpha = self.alpha

        def step(now: np.ndarray, labels: np.ndarray, given: np.ndarray) -> np.ndarray:
            moved = safe_sparse_dot(weighted, now * scale[:, None]) * scale[:, None]
            return alpha * moved + (1.0 - alpha) * labels

        return step


def _diagonal(points: Points) -> Any:
    return sp.diags_array(points.weights)
