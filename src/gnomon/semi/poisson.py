"""Poisson learning: labels are sources and sinks of a flow on the graph of rows.

Solves  L u = sum over labels of (y_j - mean y) delta_j  with the Laplacian L = D - W, and gives a
row the class of its largest value. Unlike the harmonic function it stays informative with one label
per class, where fixed labels become spikes in a constant.

Texts: 004 17.1.2 (for very few labels beyond it: Calder, Cook, Thorpe, Slepcev 2020).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine.history import Course
from gnomon.engine.parameters import HISTORY, JOBS, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.semi.graph import GraphLabels, Points, neighbor_edges, normalized, reached_from
from gnomon.semi.harmonic import Laplacian, conjugate_gradients, prior_of

STEEPNESS = 2.0  # of probabilities in units of the spread of values; they are not calibrated
BALANCE_ROUNDS = 100  # judgement: the bound is for shares out of reach


@method(
    task="classify",
    texts="004 17.1.2",
    use="One to five labels per class and many unlabeled rows.",
    avoid="Many labels: HarmonicLabelPropagation or an ordinary classifier.",
    peers=("graphlearning.ssl.poisson",),
    synonyms=("semi-supervised", "label propagation"),
)
class PoissonLearning(GraphLabels):
    """Labels as sources of a flow on the graph of rows, for one to five labels per class.

    Solves ``L u = sum_j (y_j - mean y) delta_j`` on a graph of nearest neighbors, L = D - W, by
    conjugate gradients; a row's class is its largest value, with factors of the classes chosen so
    that each class gets its share ``class_prior`` of the rows. Use it for very few labels. With
    many labels prefer `HarmonicLabelPropagation`, whose values are probabilities; here they are a
    softmax of the values in units of their spread, which ranks but is not calibrated.

    Unlabeled rows have a missing cell as target, or -1 where two other classes are left. Rows that
    no label reaches are unknown: their probabilities are equal, and ``transduction_`` marks them.
    Texts: 004 17.1.2.

    Parameters
    ----------
    n_neighbors : int, default=10
        Edges of each different row.
    gamma : float, "local" or None, default="local"
        Weights of edges, as in `HarmonicLabelPropagation`.
    class_prior : {"labels", "uniform"}, array-like of shape (n_classes,) or None, default="labels"
        Shares of the classes among all rows; None: no factors.
    metric : str or callable, default="euclidean"
        Distance of rows, see `gnomon.neighbors.distance_of`.
    max_iter : int, default=1000
        Most steps of conjugate gradients.
    tol : float, default=1e-6
        Largest relative residual at the end.
    n_jobs : int or None, default=None
        Threads of the search of neighbors; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the probabilities after every step, for a replay.

    Attributes
    ----------
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
        The residual of each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import PoissonLearning
    >>> rows = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> model = PoissonLearning(n_neighbors=2).fit(rows, ["a", None, None, None, None, "b"])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "gamma": [above(0), StrOptions({"local"}), None],
        "class_prior": [StrOptions({"labels", "uniform"}), "array-like", None],
        "metric": [str, callable],
        "max_iter": [whole(1)],
        "tol": [above(0)],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }

    def __init__(
        self,
        n_neighbors=10,
        *,
        gamma="local",
        class_prior="labels",
        metric="euclidean",
        max_iter=1000,
        tol=1e-6,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.class_prior = class_prior
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _spread(self, points: Points) -> None:
        prior = prior_of(self.class_prior, points, self.classes_)
        course = self._course("iteration", self.max_iter)
        if len(points.weights) == 1:
            found = self._found(points.one_hot(), points.labeled)
        else:
            found = self._flow(points, prior, course)
        self._keep(found)
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _flow(self, points: Points, prior: np.ndarray | None, course: Course) -> dict[str, Any]:
        near = self.index_.others(self._asked(len(points.weights)), self.n_jobs)
        edges = neighbor_edges(near, self.gamma)
        reached, part = reached_from(edges, points.labeled)
        sources, means = self._sources(points, part)
        degrees = np.asarray(edges.sum(axis=1)).ravel()
        steps = iter(course)
        next(steps)
        finish = partial(self._probabilities, points, reached, means[part], prior)

        def seen(values: Callable[[], np.ndarray], size: float) -> bool:
            ended = self._end_step(course, size, lambda: finish(_centered(values(), part, degrees)))
            return ended or next(steps, None) is None

        graph = Laplacian(edges, degrees, np.ones(len(degrees), dtype=bool))
        values = conjugate_gradients(graph, sources, self.max_iter, self.tol, seen)
        return finish(_centered(values, part, degrees))

    def _sources(self, points: Points, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels minus the mean label of their part of the graph; and these means."""
        given = points.labeled
        labels = points.one_hot() * points.weights[:, None]
        n_parts = part.max() + 1
        sums = np.zeros((n_parts, points.n_classes))
        np.add.at(sums, part, labels)
        means = normalized(sums)
        sources = labels - np.where(given, points.weights, 0.0)[:, None] * means[part]
        return sources, means

    def _probabilities(
        self, points: Points, reached: np.ndarray, means: np.ndarray, prior: Any, values: np.ndarray
    ) -> dict[str, Any]:
        """A softmax of the values; the mean label of a part where its labels are of one class."""
        values = values / (np.abs(values).max(initial=0.0) or 1.0)
        spread = np.sqrt((points.weights @ values**2) / points.weights.sum()).max()
        scores = STEEPNESS * values / (spread if spread > 0 else 1.0)
        # a part whose labels are of one class has no flow: its mean label decides
        scores = np.where((means == 1.0).any(axis=1, keepdims=True), 50.0 * means, scores)
        if prior is not None:
            scores = scores + balancing_shift(scores[reached], points.weights[reached], prior)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        given = points.labeled
        shares[given] = points.one_hot()[given]
        return self._found(shares, reached)


def _centered(values: np.ndarray, part: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Values whose mean by degree is zero in each part of the graph."""
    n_parts = part.max() + 1
    sums = sp.csr_array((degrees, (part, np.arange(len(part)))), (n_parts, len(part)))
    totals = np.asarray(sums.sum(axis=1)).ravel()
    return values - ((sums @ values) / totals[:, None])[part]


def balancing_shift(scores: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """What is added to the score of each class so that classes get their shares of the rows.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
    weights : ndarray of shape (n,)
    prior : ndarray of shape (n_classes,)
        The wanted shares of the probability mass.

    Returns
    -------
    shift : ndarray of shape (n_classes,)
    """
    shift = np.zeros(len(prior))
    for _ in range(BALANCE_ROUNDS):
        moved = scores + shift
        shares = normalized(np.exp(moved - moved.max(axis=1, keepdims=True)))
        masses = (weights @ shares) / weights.sum()
        if np.abs(masses - prior).max() < 1e-3:
            break
        shift += 0.5 * np.log(prior / np.maximum(masses, 1e-12))
    return shift
