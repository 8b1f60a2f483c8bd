"""Harmonic functions on a graph: every unlabeled value is the weighted mean of its neighbors.

Minimizes  1/2 sum_ij w_ij (f_i - f_j)^2  with f given on labeled rows, so that on the others
f_u = (D_uu - W_uu)^-1 W_ul f_l. It is the probability that a random walk from a row meets a label
of the class first, and the voltage of a network of resistors. `relax_laplace` does it on a grid.

Texts: 004 17.1.2 (eqs 17.2-17.7).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.history import Course
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, JOBS, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Number, Text
from gnomon.semi.graph import GraphLabels, Points, neighbor_edges, normalized, reached_from

FEW_UNKNOWNS = 2000  # a direct solve of a graph of ten neighbors takes 0.1 s
GAMMAS = 2.0 ** np.arange(-4, 5)  # times one over the median squared distance of neighbors
SMOOTHING = 0.01  # share of equal probabilities when bandwidths are compared by entropy

# told how to get the values, and the size of the step; says whether to stop
Step = Callable[[Callable[[], np.ndarray], float], bool]


class Laplacian(NamedTuple):
    """The matrix D - W of the free points of a graph; the values of the others count as 0.

    Attributes
    ----------
    edges : csr_array of shape (n_points, n_points)
        W, of the others too: a copy without them would be as large.
    degrees : ndarray of shape (n_points,)
    free : ndarray of bool of shape (n_points,)
    """

    edges: sp.csr_array
    degrees: np.ndarray
    free: np.ndarray

    def image(self, values: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """(D - W) values; `curvature` takes the products of values and image of each column."""
        image = self.edges @ values
        take_from_degrees(self.degrees, self.free, values, image, curvature)
        return image


@kernel("f8[:]", "b1[:]", "f8[:,:]", "out f8[:,:]", "out f8[:]")
def take_from_degrees(degrees: Any, free: Any, values: Any, image: Any, curvature: Any) -> None:
    """Make W v to D v - W v, zero where points are not free; v' times it for each column."""
    curvature[:] = 0.0
    for i in range(len(values)):
        for c in range(values.shape[1]):
            image[i, c] = degrees[i] * values[i, c] - image[i, c] if free[i] else 0.0
            curvature[c] += values[i, c] * image[i, c]


@kernel("f8[:]", "f8[:]", "f8[:,:]", "f8[:,:]", "out f8[:,:]", "out f8[:,:]", "out f8[:]")
def step_along(
    length: Any, degrees: Any, direction: Any, image: Any, values: Any, residual: Any, energy: Any
) -> None:
    """Move values and residual along the direction; the residual's squares over the degrees."""
    energy[:] = 0.0
    for i in range(len(values)):
        for c in range(values.shape[1]):
            values[i, c] += length[c] * direction[i, c]
            residual[i, c] -= length[c] * image[i, c]
            energy[c] += residual[i, c] * residual[i, c] / degrees[i]


@kernel("f8[:]", "f8[:]", "f8[:,:]", "out f8[:,:]")
def turn_direction(share: Any, degrees: Any, residual: Any, direction: Any) -> None:
    """Write the residual over the degrees plus a share of the former direction."""
    for i in range(len(direction)):
        for c in range(direction.shape[1]):
            direction[i, c] = residual[i, c] / degrees[i] + share[c] * direction[i, c]


def conjugate_gradients(
    graph: Laplacian, wanted: np.ndarray, max_iter: int, tol: float, seen: Step
) -> np.ndarray:
    """Solve (D - W) x = wanted for several columns at once, preconditioned by the degrees.

    ``seen(x, residual)`` is called after every step with a function that gives x and the largest
    relative residual of a column, and says whether to stop. `wanted` is overwritten.
    """
    residual = np.ascontiguousarray(wanted)
    values = np.zeros_like(residual)
    direction = residual / graph.degrees[:, None]
    energy = np.einsum("ij,ij->j", residual, direction)
    lengths = np.sqrt(np.maximum(energy, np.finfo(np.float64).tiny))
    curvature, after = np.empty_like(energy), np.empty_like(energy)
    for _ in range(max_iter):
        image = graph.image(direction, curvature)
        length = np.where(curvature > 0, energy / np.where(curvature > 0, curvature, 1.0), 0.0)
        step_along(length, graph.degrees, direction, image, values, residual, after)
        del image  # the next one takes its place
        if seen(lambda: values, float((np.sqrt(after) / lengths).max(initial=0.0))):
            break
        share = np.where(energy > 0, after / np.where(energy > 0, energy, 1.0), 0.0)
        turn_direction(share, graph.degrees, residual, direction)
        energy[:] = after
    return values


class System(NamedTuple):
    """The equations of the values of the points without label in parts with one.

    Attributes
    ----------
    free : ndarray of int
        These points, in rising order.
    edges : csr_array
        Weights between all points.
    labels : csr_array of shape (n_points, n_classes)
        A one at the class of every labeled point.
    """

    free: np.ndarray
    edges: sp.csr_array
    labels: sp.csr_array

    @classmethod
    def of(cls, edges: sp.csr_array, points: Points, reached: np.ndarray) -> System:
        """That of the points that a label reaches."""
        given = np.flatnonzero(points.labeled)
        places = (given, points.codes[given])
        shape = (len(points.codes), points.n_classes)
        labels = sp.csr_array((np.ones(len(given)), places), shape=shape)
        return cls(np.flatnonzero(reached & ~points.labeled), edges, labels)

    def pull(self) -> np.ndarray:
        """W_ul times the labels, of shape (n_free, n_classes)."""
        return (self.edges @ self.labels)[self.free].toarray()

    def _inside(self) -> tuple[sp.csr_array, np.ndarray]:
        """Weights between the free points, and the sum of all weights of each."""
        rows = self.edges[self.free]
        return sp.csr_array(rows[:, self.free]), np.asarray(rows.sum(axis=1)).ravel()

    def direct(self) -> np.ndarray:
        """The solution by a sparse factorization."""
        inside, degrees = self._inside()
        matrix = sp.csc_array(sp.diags_array(degrees) - inside)
        return splu(matrix, permc_spec="MMD_AT_PLUS_A").solve(np.ascontiguousarray(self.pull()))

    def relaxed(self, max_iter: int, tol: float, seen: Step) -> np.ndarray:
        """Each value becomes the weighted mean of its neighbors, again and again."""
        inside, degrees = self._inside()
        pull = self.pull()
        values = np.zeros_like(pull)
        for _ in range(max_iter):
            after = (inside @ values + pull) / degrees[:, None]
            change = float(np.abs(after - values).max(initial=0.0))
            values[:] = after
            if seen(lambda: values, change):
                break
        return values

    def by_conjugate_gradients(self, max_iter: int, tol: float, seen: Step) -> np.ndarray:
        """Conjugate gradients for all classes at once."""
        if 2 * len(self.free) < self.labels.shape[0]:  # then a copy of their edges is small
            graph = Laplacian(*self._inside(), np.ones(len(self.free), dtype=bool))
            return conjugate_gradients(graph, self.pull(), max_iter, tol, seen)
        free = np.zeros(self.labels.shape[0], dtype=bool)
        free[self.free] = True
        pull = (self.edges @ self.labels).toarray()
        pull[~free] = 0.0
        graph = Laplacian(self.edges, np.asarray(self.edges.sum(axis=1)).ravel(), free)

        def seen_all(values: Callable[[], np.ndarray], size: float) -> bool:
            return seen(lambda: values()[self.free], size)

        return conjugate_gradients(graph, pull, max_iter, tol, seen_all)[self.free]


@method(
    task="classify",
    texts="004 17.1.2",
    use="Few labels and many unlabeled rows along curved groups; up to some 100,000 rows.",
    avoid="One or two labels per class (PoissonLearning); wrong labels (LabelSpreading).",
    peers=("sklearn.semi_supervised.LabelPropagation", "graphlearning.ssl.laplace"),
    synonyms=("gaussian fields", "label propagation", "semi-supervised"),
)
class HarmonicLabelPropagation(GraphLabels):
    """Harmonic functions: an unlabeled row's value is the weighted mean of its neighbors'.

    Minimizes ``1/2 sum_ij w_ij (f_i - f_j)^2`` with f fixed at labeled rows, on a graph of nearest
    neighbors: ``f_u = (D_uu - W_uu)^-1 W_ul f_l`` by a direct solve, by conjugate gradients or by
    relaxation. The value is the probability that a random walk meets a label of that class first.
    Use it for few labels and classes along curves or in groups. With one or two labels per class
    values are nearly the same everywhere, which ``class_prior`` corrects: it scales them so that
    each class gets its share of the mass. `PoissonLearning` is made for so few labels.

    Unlabeled rows have a missing cell as target, or -1 where two other classes are left. Rows that
    no label reaches are unknown: their probabilities are equal, and ``transduction_`` marks them.
    A new row gets the mean of its neighbors' probabilities. Texts: 004 17.1.2.

    Parameters
    ----------
    n_neighbors : int, default=10
        Edges of each different row.
    gamma : float, "local", "entropy" or None, default="local"
        Weights of edges: ``exp(-gamma d^2)``; "local": ``exp(-d^2 / (s_i s_j))`` with the distances
        s of the farthest neighbors; "entropy": the gamma of nine whose probabilities are surest;
        None: all one.
    class_prior : {"labels", "uniform"}, array-like of shape (n_classes,) or None, default="labels"
        Shares of the classes that the values are scaled to (class mass normalization); None: the
        harmonic values themselves.
    solver : {"auto", "direct", "cg", "relaxation"}, default="auto"
        "auto": direct for at most 2,000 unlabeled points, else conjugate gradients.
    metric : str or callable, default="euclidean"
        Distance of rows, see `gnomon.neighbors.distance_of`.
    max_iter : int, default=10000
        Most steps of "cg" and "relaxation".
    tol : float, default=1e-10
        Largest relative residual ("cg") or change of a value ("relaxation") at the end.
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
    gamma_ : float or str
        The bandwidth that was used.
    solver_ : str
        The solver that was used.
    index_ : NeighborIndex
        The points.
    history_ : History
        Residual or change of each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import HarmonicLabelPropagation
    >>> rows = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = HarmonicLabelPropagation(1, gamma=None, class_prior=None)
    >>> model = model.fit(rows, [0, None, None, 1])
    >>> model.label_distributions_[:, 1].round(3).tolist()
    [0.0, 0.333, 0.667, 1.0]
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "gamma": [above(0), StrOptions({"local", "entropy"}), None],
        "class_prior": [StrOptions({"labels", "uniform"}), "array-like", None],
        "solver": [StrOptions({"auto", "direct", "cg", "relaxation"})],
        "metric": [str, callable],
        "max_iter": [whole(1)],
        "tol": [above(0)],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {"gamma_": Number() | Text() | None, "solver_": Text()}

    def __init__(
        self,
        n_neighbors=10,
        *,
        gamma="local",
        class_prior="labels",
        solver="auto",
        metric="euclidean",
        max_iter=10000,
        tol=1e-10,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.class_prior = class_prior
        self.solver = solver
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
            found = self._solved(points, prior, course)
        self._keep(found)
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _solved(self, points: Points, prior: np.ndarray | None, course: Course) -> dict[str, Any]:
        near = self.index_.others(self._asked(len(points.weights)), self.n_jobs)
        self.gamma_ = self.gamma
        if self.gamma == "entropy":
            self.gamma_ = surest_gamma(near, points)
        edges = neighbor_edges(near, self.gamma_)
        reached, _ = reached_from(edges, points.labeled)
        system = System.of(edges, points, reached)
        few = len(system.free) <= FEW_UNKNOWNS
        self.solver_ = ("direct" if few else "cg") if self.solver == "auto" else self.solver
        finish = partial(self._scaled, points, system, reached, prior)
        values = self._solve(system, course, finish)
        return finish(values)

    def _solve(self, system: System, course: Course, finish: Any) -> np.ndarray:
        """The values of the free points; each step is one of the course."""
        steps = iter(course)
        next(steps)

        def seen(values: Callable[[], np.ndarray], size: float) -> bool:
            ended = self._end_step(course, size, lambda: finish(values()))
            return ended or next(steps, None) is None

        if not len(system.free) or self.solver_ == "direct":
            values = system.direct() if len(system.free) else system.pull()
            seen(lambda: values, 0.0)
        elif self.solver_ == "cg":
            values = system.by_conjugate_gradients(self.max_iter, self.tol, seen)
        else:
            values = system.relaxed(self.max_iter, self.tol, seen)
        if course.history.stopped == "max_iter":
            warnings.warn(
                f"{self.solver_} ended after max_iter={self.max_iter} steps at "
                f"{course.history[-1]:.1e}; increase max_iter or tol (now {self.tol:g})",
                ConvergenceWarning,
                stacklevel=2,
            )
        return values

    def _scaled(
        self, points: Points, system: System, reached: np.ndarray, prior: Any, values: np.ndarray
    ) -> dict[str, Any]:
        """Probabilities of all points from the values of the free ones."""
        free = np.clip(values, 0.0, 1.0)
        if prior is not None and len(free):
            masses = points.weights[system.free] @ normalized(free)
            free = normalized(free) * (prior / np.where(masses > 0, masses, 1.0))
        distributions = points.one_hot()
        distributions[system.free] = free
        return self._found(distributions, reached)


def prior_of(given: Any, points: Points, classes: np.ndarray) -> np.ndarray | None:
    """Shares of the classes that sum to one; None where values are not to be scaled."""
    if given is None:
        return None
    if isinstance(given, str):
        k = points.n_classes
        return points.class_shares() if given == "labels" else np.full(k, 1.0 / k)
    shares = np.asarray(given, dtype=np.float64)
    if shares.shape != (len(classes),) or not (shares > 0).all():
        raise DataError(
            f"class_prior must be {len(classes)} positive numbers, one per class "
            f"({', '.join(map(str, classes[:8]))}), not {given!r}"
        )
    return shares / shares.sum()


def surest_gamma(near: Any, points: Points) -> float:
    """The bandwidth whose harmonic function has the least mean entropy, of nine."""
    squares = near.distances**2
    typical = float(np.median(squares)) or 1.0

    def entropy(gamma: float) -> float:
        edges = neighbor_edges(near, gamma)
        reached, _ = reached_from(edges, points.labeled)
        system = System.of(edges, points, reached)
        if not len(system.free):
            return 0.0
        values = system.by_conjugate_gradients(200, 1e-6, lambda _, size: size < 1e-6)
        shares = normalized(np.clip(values, 0.0, 1.0))
        shares = (1 - SMOOTHING) * shares + SMOOTHING / shares.shape[1]
        return float(-(shares * np.log(shares)).sum(axis=1).mean())

    gammas = GAMMAS / typical
    return float(gammas[int(np.argmin([entropy(gamma) for gamma in gammas]))])


@dataclass
class Relaxation(Result):
    """Values of a grid that are the means of their neighbors.

    Attributes
    ----------
    values : ndarray
        The grid.
    n_iter : int
        Steps that were made.
    change : float
        The largest change of a value in the last step.
    states : list of ndarray
        The grid after each step, where they were kept.
    """

    values: np.ndarray
    n_iter: int
    change: float
    states: list[np.ndarray]


def relax_laplace(
    values: Any,
    fixed: Any,
    *,
    conductance: Any = None,
    max_iter: int = 10000,
    tol: float = 1e-6,
    keep_history: bool = False,
) -> Relaxation:
    """Solve Laplace's equation on a grid by relaxation, some values given.

    Every free value becomes the mean of its neighbors along the axes (eqs 17.4-17.5), weighted by
    the products of their conductances where these are given. At the border of the grid there are
    fewer neighbors. Texts: 004 17.1.2.

    Parameters
    ----------
    values : array-like
        A grid of one or more dimensions; the first guess where values are free.
    fixed : array-like of bool
        Where values are given and stay.
    conductance : array-like, default=None
        Positive numbers of the shape of the grid; None for equal ones.
    max_iter : int, default=10000
    tol : float, default=1e-6
        Largest change of a value in a step at which it ends.
    keep_history : bool, default=False
        Whether the grid after each step is kept.

    Returns
    -------
    relaxation : Relaxation

    Examples
    --------
    >>> found = relax_laplace([0.0, 0.0, 0.0, 3.0], [True, False, False, True])
    >>> found.values.round(3).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    grid = np.array(values, dtype=np.float64)
    stays = np.asarray(fixed, dtype=bool)
    if stays.shape != grid.shape or not grid.size:
        raise DataError(f"fixed has shape {stays.shape} and values {grid.shape}; they must agree")
    if not np.isfinite(grid).all():
        raise DataError("values must be finite; give a first guess where they are free, such as 0")
    if not stays.any():
        raise DataError("no value is fixed: every constant is a solution; fix one value or more")
    strength = np.ones_like(grid) if conductance is None else np.asarray(conductance, np.float64)
    if strength.shape != grid.shape or not (strength > 0).all():
        raise DataError("conductance must be positive numbers of the shape of the grid")
    totals = strength * _neighbor_sums(strength)
    totals = np.where(totals > 0, totals, 1.0)
    states: list[np.ndarray] = []
    change, n_iter = np.inf, 0
    for _ in range(max_iter):
        means = strength * _neighbor_sums(strength * grid) / totals
        after = np.where(stays, grid, means)
        change, n_iter = float(np.abs(after - grid).max()), n_iter + 1
        grid = after
        if keep_history:
            states.append(grid.copy())
        if change < tol:
            return Relaxation(grid, n_iter, change, states)
    warnings.warn(
        f"values still change by {change:.1e} after max_iter={max_iter} steps; increase max_iter "
        f"or tol (now {tol:g})",
        ConvergenceWarning,
        stacklevel=2,
    )
    return Relaxation(grid, n_iter, change, states)


def _neighbor_sums(grid: np.ndarray) -> np.ndarray:
    """The sum of the values before and after each one along every axis."""
    total = np.zeros_like(grid)
    for axis in range(grid.ndim):
        moved, sums = np.moveaxis(grid, axis, 0), np.moveaxis(total, axis, 0)
        sums[1:] += moved[:-1]
        sums[:-1] += moved[1:]
    return total
