"""Least squares with an L1 and L2 penalty: few columns at a time, and how far from the minimum.

Minimises  P(b) = |y - X b|^2 / 2 + sum_j l1_j |b_j| + l2_j b_j^2 / 2  of columns X and a target y
that are already centred and divided by the root of the rows' weight. Three ideas make it fast:

- only a *working set* of columns is looked at, the likeliest by their slopes X'r; it grows where a
  column outside breaks its optimality condition;
- within it everything is done on products of columns: sweeps of coordinate descent find which
  coefficients are zero, and Newton's step on the others, cut where a sign would change, gives
  them to the last digit;
- the *duality gap* bounds P(b) - min P; it says when to stop, and which columns must be zero in
  the minimum (gap-safe screening), so that they need not be looked at again.

Texts: 000 11.4.1 (whose solver is glmnet) · 002 "Lasso" · 004 8.3. Screening: Ndiaye, Fercoq,
Gramfort, Salmon, "Gap safe screening rules", JMLR 2017.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.linear.solve import EPS

SWEEPS = 8  # between two Newton steps
SWEEPS_ALONE = 4  # doublings of these sweeps before the first Newton step
SWEEPS_OF_ALL = 64  # sweeps over all columns before a working set is chosen
MOST_ROUNDS = 200  # of working sets; a dozen are usual
FEWEST_WORKING = 64  # columns that a working set begins with: smaller ones do not save time
SQUARE = 8  # rows and columns of a part that is transposed at once: 2 to 8 times as fast as 32
MOST_PRODUCTS = 3000  # columns whose products are kept: 72 MB


class Penalty(NamedTuple):
    """What an absolute value and half a square of every coefficient cost.

    With `positive`, negative coefficients are not allowed.
    """

    l1: float
    l2: float
    positive: bool = False

    @classmethod
    def of(cls, alpha: float, l1_ratio: float, positive: bool = False) -> Penalty:
        return cls(alpha * l1_ratio, alpha * (1.0 - l1_ratio), positive)

    def steepness(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes in the directions that are allowed from zero."""
        return slopes if self.positive else np.abs(slopes)


class Quadratic(Protocol):
    """The loss |y - X b|^2 / 2 through products of the columns X and the target y.

    Attributes
    ----------
    cross : ndarray of shape (p,)
        X'y.
    squares : ndarray of shape (p,)
        Squared lengths of the columns.
    total : float
        y'y.
    """

    cross: np.ndarray
    squares: np.ndarray
    total: float

    def products(self, columns: np.ndarray) -> np.ndarray:
        """X'X of some columns."""
        ...

    def slopes(self, support, values, columns=None) -> tuple[np.ndarray, float, float]:
        """X'r, y'r and r'r of the residual r of ``b[support] = values``; X of some columns."""
        ...


class GramQuadratic:
    """The loss by X'X and X'y: for more rows than columns."""

    def __init__(self, gram: np.ndarray, cross: np.ndarray, total: float):
        self.gram, self.cross, self.total = gram, cross, total
        self.squares = np.diag(gram).copy()

    def products(self, columns):
        return self.gram.take(columns, axis=0).take(columns, axis=1)

    def slopes(self, support, values, columns=None):
        slopes = self.cross - values @ self.gram[support]
        explained = float(values @ self.cross[support])
        residual = self.total - explained - float(values @ slopes[support])
        slopes = slopes if columns is None else slopes[columns]
        return slopes, self.total - explained, max(residual, 0.0)


class ColumnQuadratic:
    """The loss by the columns themselves: for more columns than rows.

    Parameters
    ----------
    columns : ndarray of shape (p, n) or csc_array of shape (n, p)
        Dense: centred columns, one per line. Sparse: not centred.
    y : ndarray of shape (n,)
    means, root : ndarray of shape (p,) and (n,)
        Sparse only: the column X_j is ``columns[:, j] - means[j] * root``; root'root = 1.
    known : tuple of two ndarrays of shape (p,), default=None
        Squared lengths of the columns and their products with y, where these are known.
    """

    def __init__(self, columns, y: np.ndarray, means=None, root=None, known=None):
        self.columns, self.y, self.means, self.root = columns, y, means, root
        self.sparse = sp.issparse(columns)
        self.total = float(y @ y)
        self.cross = self._along(y, None) if known is None else known[1]
        if known is not None:
            self.squares = known[0]
        elif self.sparse:
            squares = np.asarray(columns.multiply(columns).sum(axis=0)).ravel() - means**2
            self.squares = np.maximum(squares, 0.0)
        else:
            self.squares = np.einsum("jn,jn->j", columns, columns)
        self._forget()

    def _forget(self) -> None:
        self.place = np.full(len(self.cross), -1)
        self.known = np.empty(0, dtype=np.int64)
        self.gram = np.empty((0, 0))

    def _along(self, vector: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        if self.sparse:
            chosen = self.columns if columns is None else self.columns[:, columns]
            means = self.means if columns is None else self.means[columns]
            return np.asarray(chosen.T @ vector) - means * (self.root @ vector)
        if columns is None:
            return self.columns @ vector
        out = np.empty(len(columns))
        column_products(self.columns, columns, vector, out)
        return out

    def products(self, columns):
        new = columns[self.place[columns] < 0]
        if len(self.known) + len(new) > MOST_PRODUCTS:
            self._forget()
            new = columns
        if len(new):
            self._learn_products(new)
        places, size = self.place[columns], len(self.known)
        return self.gram[:size, :size].take(places, axis=0).take(places, axis=1)

    def _learn_products(self, new: np.ndarray) -> None:
        known = np.concatenate([self.known, new])
        old, size = len(self.known), len(known)
        if size > len(self.gram):
            room = max(size, min(2 * size, MOST_PRODUCTS))
            gram = np.empty((room, room))
            gram[:old, :old] = self.gram[:old, :old]
            self.gram = gram
        block = self._between(known, new)
        self.gram[:size, old:size] = block
        self.gram[old:size, :old] = block[:old].T
        self.place[new] = np.arange(old, size)
        self.known = known

    def outer(self) -> np.ndarray:
        """X X', of shape (n, n)."""
        if not self.sparse:
            return self.columns.T @ self.columns
        middle = np.outer(self.columns @ self.means, self.root)
        center = (self.means @ self.means) * np.outer(self.root, self.root)
        return (self.columns @ self.columns.T).toarray() - middle - middle.T + center

    def across(self, vectors: np.ndarray) -> np.ndarray:
        """Products of the columns with vectors (m, n), of shape (m, p)."""
        if not self.sparse:
            return vectors @ self.columns.T
        return (self.columns.T @ vectors.T).T - np.outer(vectors @ self.root, self.means)

    def _between(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        if self.sparse:
            products = (self.columns[:, one].T @ self.columns[:, other]).toarray()
            return products - np.outer(self.means[one], self.means[other])
        return self.columns[one] @ self.columns[other].T

    def residual(self, coef: np.ndarray) -> np.ndarray:
        """y - X b."""
        if self.sparse:
            return self.y - (self.columns @ coef - self.root * (self.means @ coef))
        support = np.flatnonzero(coef)
        return self.y - coef[support] @ self.columns[support]

    def descend(
        self, candidates, penalty: Penalty, still: float, sweeps: int, residual, coef
    ) -> None:
        """A sweep over all candidates, then sweeps over those that are not zero, in place."""
        if not self.sparse:
            descend_on_columns(
                self.columns, self.squares, candidates, *penalty, still, sweeps, residual, coef
            )
            return
        shift = descend_on_sparse_columns(
            sparse_columns(self.columns),
            SparseSums(self.means, self.squares, float(self.root @ residual)),
            candidates,
            *penalty,
            still,
            sweeps,
            residual,
            coef,
        )
        residual += shift * self.root

    def slopes(self, support, values, columns=None):
        if self.sparse:
            fitted = self.columns[:, support] @ values - self.root * (self.means[support] @ values)
        else:
            fitted = values @ self.columns[support]
        residual = self.y - fitted
        return self._along(residual, columns), float(self.y @ residual), float(residual @ residual)


class Solution(NamedTuple):
    """Coefficients of one penalty.

    Attributes
    ----------
    coef : ndarray of shape (p,)
    slopes : ndarray of shape (p,)
        X'r at these coefficients.
    objective : float
        P(coef).
    gap : float
        P(coef) is at most so far above the minimum.
    rounds : int
        Working sets that were tried.
    working : ndarray of int
        The last of them.
    """

    coef: np.ndarray
    slopes: np.ndarray
    objective: float
    gap: float
    rounds: int
    working: np.ndarray


def nothing_chosen(problem: Quadratic) -> Solution:
    """The solution where the penalty is so great that all coefficients are zero."""
    p = len(problem.cross)
    nobody = np.empty(0, dtype=np.int64)
    return Solution(np.zeros(p), problem.cross, problem.total / 2, 0.0, 0, nobody)


def started(problem: Quadratic, coef: np.ndarray) -> Solution:
    """A first solution at given coefficients."""
    coef = np.where(problem.squares > 0, coef, 0.0)
    support = np.flatnonzero(coef)
    slopes, *_ = problem.slopes(support, coef[support])
    return Solution(coef, slopes, np.inf, np.inf, 0, support)


def minimize(
    problem: Quadratic,
    penalty: Penalty,
    tol: float,
    start: Solution,
    max_iter: int = MOST_ROUNDS,
) -> Solution:
    """The minimum from a near one, such as the solution of a greater penalty.

    Parameters
    ----------
    problem : Quadratic
    penalty : Penalty
    tol : float
        The duality gap that ends it, as a share of half of y'y; 0 for the last digits.
    start : Solution
    max_iter : int, default=200
        Most sweeps over all columns, or most working sets.

    Returns
    -------
    solution : Solution
    """
    l1, l2, _ = penalty
    enough = tol * problem.total / 2
    near = None
    if enough and isinstance(problem, GramQuadratic):
        near = swept(problem, penalty, enough, start, max_iter)
    elif enough:
        near = swept_on_columns(problem, penalty, enough, start, max_iter)
    if near is not None:
        return near
    usable = problem.squares > 0
    coef, slopes = start.coef.copy(), start.slopes
    support = np.flatnonzero(coef)
    _, along, residual = problem.slopes(support, coef[support], support)
    gap, scale, _ = duality(slopes, along, residual, coef, penalty)
    candidates = np.flatnonzero(usable & may_matter(slopes, coef, scale, gap, problem, penalty))
    working = enlarged(support, slopes, candidates, penalty, np.empty(0, dtype=np.int64))
    seen = slopes[candidates]
    rounds = 0
    while rounds < min(max_iter, MOST_ROUNDS):
        rounds += 1
        coef[working] = on_products(
            problem.products(working),
            problem.cross[working],
            coef[working],
            l1,
            l2,
            problem.total,
            enough / 2,
            penalty.positive,
        )
        support = working[coef[working] != 0]
        seen, along, residual = problem.slopes(support, coef[support], candidates)
        gap, scale, objective = duality(seen, along, residual, coef[candidates], penalty)
        if gap <= max(enough, 64 * EPS * problem.total):
            break
        full = np.zeros(len(coef))
        full[candidates] = seen
        larger = enlarged(support, full, candidates, penalty, working)
        if len(larger) == len(working) and np.isin(larger, working).all():
            break
        working = larger
    if len(candidates) < len(coef):
        slopes, *_ = problem.slopes(support, coef[support])
    else:
        slopes = seen
    return Solution(coef, slopes, objective, gap, rounds, working)


def to_last_digits(problem: Quadratic, penalty: Penalty, near: Solution) -> Solution | None:
    """The minimum itself from a solution that is near it; None where it takes more than a step.

    Where the same columns have coefficients, with the same signs, one Newton step on these is the
    minimum, and the slopes of all columns prove it.
    """
    l1, l2, positive = penalty
    support = np.flatnonzero(near.coef)
    size = max(float(np.abs(problem.cross).max(initial=0.0)), l1)
    if len(support) and l1 > 0:
        k = len(support)
        values, whole = newton_on_support(
            problem.products(support),
            problem.cross[support],
            near.coef[support],
            np.full(k, l1),
            np.full(k, l2),
            positive=positive,
        )
        slopes, along, residual = problem.slopes(support, values)
        pulls = penalty.steepness(slopes) - l1
        pulls[support] = 0.0
        if whole and (pulls[problem.squares > 0] <= 64 * EPS * size).all():
            coef = np.zeros(len(near.coef))
            coef[support] = values
            gap, _, objective = duality(slopes, along, residual, coef, penalty)
            return Solution(coef, slopes, objective, gap, near.rounds, support)
    return None


def swept(
    problem: GramQuadratic, penalty: Penalty, enough: float, start: Solution, max_iter: int
) -> Solution | None:
    """The minimum to a gap by few sweeps over all columns; None where these do not do.

    With all products at hand, that a column stays at zero costs one comparison: near the minimum
    choosing columns first would cost more.
    """
    coef = start.coef.copy()
    slopes = problem.cross - problem.gram @ coef
    most = min(SWEEPS_OF_ALL, max_iter)
    sweeps = descend_to_gap(
        problem.gram, problem.cross, problem.total, *penalty, enough, most, slopes, coef
    )
    if sweeps > most and max_iter > most:
        return None
    slopes = problem.cross - problem.gram @ coef
    along = problem.total - float(problem.cross @ coef)
    residual = max(along - float(coef @ slopes), 0.0)
    gap, _, objective = duality(slopes, along, residual, coef, penalty)
    if gap > enough and max_iter > most:
        return None
    return Solution(coef, slopes, objective, gap, min(sweeps, most), np.flatnonzero(coef))


def swept_on_columns(
    problem: ColumnQuadratic, penalty: Penalty, enough: float, start: Solution, max_iter: int
) -> Solution | None:
    """The minimum to a gap by sweeps over the columns themselves; None where these do not do.

    Sweeps run over the coefficients that are not zero until they hardly change, and over all that
    the gap has not shown to be zero in between: most columns are read a few times in all.
    """
    coef = start.coef.copy()
    residual = problem.residual(coef)
    sizes = np.sqrt(problem.squares + penalty.l2)
    candidates = np.flatnonzero(problem.squares > 0)
    if not len(candidates) or (problem.sparse and problem.columns.indptr.dtype != np.int32):
        return None
    slopes, sweeps, most = start.slopes, 0, min(SWEEPS_OF_ALL, max_iter)
    while True:
        along, left = float(problem.y @ residual), float(residual @ residual)
        gap, scale, objective = duality(slopes, along, left, coef, penalty)
        if gap <= enough:
            chosen = np.flatnonzero(coef)
            return Solution(coef, slopes, objective, gap, max(sweeps, 1), chosen)
        if sweeps >= most:
            return None
        matter = may_matter(slopes, coef, scale, gap, problem, penalty)
        candidates = candidates[matter[candidates]]
        sweeps += 1
        still = np.sqrt(0.1 * enough) / sizes.max()
        problem.descend(candidates, penalty, still, min(SWEEPS_OF_ALL, max_iter), residual, coef)
        slopes = problem._along(residual, None)


def duality(slopes, along: float, residual: float, coef, penalty: Penalty):
    """Duality gap, the scale of its dual point, and the objective.

    The squared penalty is read as further rows, sqrt(l2) I with target zero. The dual point is the
    residual times the best scale of those that satisfy |X'r - l2 b| <= l1 (X'r - l2 b <= l1 where
    coefficients must be positive). Without l1 the squared penalty's strong convexity bounds it.
    """
    l1, l2, _ = penalty
    pulls = slopes - l2 * coef
    steepest = float(penalty.steepness(pulls).max(initial=0.0))
    size = residual + l2 * float(coef @ coef)
    objective = size / 2 + l1 * float(np.abs(coef).sum())
    if l1 == 0 and l2 > 0:
        free = np.where(coef > 0, pulls, np.maximum(pulls, 0.0)) if penalty.positive else pulls
        return float(free @ free) / (2 * l2), 1.0, objective
    most = l1 / steepest if steepest > 0 else 1.0
    scale = min(max(along / size if size > 0 else 1.0, -most), most)
    dual = scale * along - scale**2 * size / 2
    return max(objective - dual, 0.0), scale, objective


def may_matter(slopes, coef, scale, gap, problem: Quadratic, penalty: Penalty) -> np.ndarray:
    """Columns that the gap does not prove to be zero in the minimum."""
    radius = np.sqrt(2 * gap)
    lengths = np.sqrt(problem.squares + penalty.l2)
    pulls = penalty.steepness(scale * (slopes - penalty.l2 * coef))
    return (pulls + radius * lengths >= penalty.l1) | (coef != 0)


def enlarged(support, slopes, candidates, penalty: Penalty, working) -> np.ndarray:
    """The support, the columns that break their condition and, to fill up, the nearest to it."""
    most = max(FEWEST_WORKING, len(support) // 2)
    inside = np.zeros(len(slopes), dtype=bool)
    inside[working] = inside[support] = True
    others = candidates[~inside[candidates]]
    steepness = penalty.steepness(slopes[others])
    order = np.argsort(-steepness, kind="stable")[:most]
    wanted = others[order][steepness[order] > (0.0 if not len(working) else penalty.l1)]
    kept = support if not len(working) else working
    return np.union1d(kept, wanted)


def on_products(gram, cross, start, l1, l2, total=0.0, enough=0.0, positive=False) -> np.ndarray:
    """The minimiser for few columns, by X'X and X'y: to the last digits, or to a gap.

    Parameters
    ----------
    gram : ndarray of shape (k, k)
    cross, start : ndarray of shape (k,)
    l1, l2 : float or ndarray of shape (k,)
        Penalties of each coefficient.
    total : float, default=0.0
        y'y, of which the gap is computed.
    enough : float, default=0.0
        The duality gap (of these columns) that ends it early.
    positive : bool, default=False
        Whether no coefficient may be negative.
    """
    k = len(cross)
    if k == 0:
        return start
    l1, l2 = np.broadcast_to(np.float64(l1), k).copy(), np.broadcast_to(np.float64(l2), k).copy()
    gram = np.ascontiguousarray(gram)
    coef = start.copy()
    slopes = cross - gram @ coef
    size = max(float(np.abs(cross).max(initial=0.0)), float(l1.max(initial=0.0)))
    if enough:
        # a gap that is not small needs no exact solution: sweeps alone are cheaper
        for doubled in range(SWEEPS_ALONE):
            descend(gram, slopes, coef, l1, l2, SWEEPS << doubled, positive)
            if gap_of(slopes, cross, coef, l1, l2, total, positive) <= enough:
                return coef
    ahead, _ = newton_on_support(gram, cross, coef, l1, l2, project=True, positive=positive)
    if value_of(gram, cross, ahead, l1, l2) < value_of(gram, cross, coef, l1, l2):
        coef = ahead
        slopes = cross - gram @ coef
    for rounds in range(MOST_ROUNDS):
        change = descend(gram, slopes, coef, l1, l2, SWEEPS * 2 ** min(rounds, 4), positive)
        if enough and gap_of(slopes, cross, coef, l1, l2, total, positive) <= enough:
            break
        coef, whole = newton_on_support(gram, cross, coef, l1, l2, positive=positive)
        slopes = cross - gram @ coef
        pulls = slopes if positive else np.abs(slopes)
        breach = np.where(coef != 0, 0.0, pulls - l1).max(initial=0.0)
        still = change <= 16 * EPS * np.abs(coef).max(initial=0.0)
        if breach <= 64 * EPS * size and (whole or still):
            break
    return coef


def value_of(gram, cross, coef, l1, l2) -> float:
    """P(coef) less y'y / 2."""
    return float(coef @ (gram @ coef / 2 - cross) + l1 @ np.abs(coef) + l2 @ coef**2 / 2)


def gap_of(slopes, cross, coef, l1, l2, total: float, positive: bool) -> float:
    """The duality gap of columns that all have the same penalty."""
    along = total - float(cross @ coef)
    residual = max(along - float(coef @ slopes), 0.0)
    return duality(slopes, along, residual, coef, Penalty(l1[0], l2[0], positive))[0]


def newton_on_support(gram, cross, coef, l1, l2, project=False, positive=False):
    """Newton's step of the coefficients that are not zero, cut where the first sign would change.

    Where X'X is singular there, a step along which the loss stays. Gives the new coefficients and
    whether the step was Newton's whole one.
    """
    support = np.flatnonzero(coef)
    if not len(support):
        return coef, True
    signs = np.sign(coef[support])
    matrix = gram[np.ix_(support, support)]
    matrix[np.diag_indices(len(support))] += l2[support]
    now, penalized = coef[support], (l1[support] > 0) | positive
    factor = positive_factor(matrix)
    if factor is None:
        step = null_direction(matrix, l1[support] * signs)
        crossing = penalized & (now * step < 0)
    else:
        right = cross[support] - l1[support] * signs
        step = scipy.linalg.cho_solve(factor, right, check_finite=False) - now
        crossing = penalized & (np.sign(now + step) != signs)
    reach = np.full(len(now), np.inf)
    reach[crossing] = -now[crossing] / step[crossing]
    moved = coef.copy()
    nearest = reach.min()
    if nearest == np.inf:
        moved[support] = now if factor is None else now + step
        return moved, factor is not None
    if project:
        moved[support] = np.where(crossing, 0.0, now + step)
        return moved, False
    values = now + nearest * step
    values[reach <= nearest] = 0.0
    moved[support] = values
    return moved, False


def positive_factor(matrix: np.ndarray):
    """The Cholesky factor, or None where the matrix is numerically singular."""
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    smallest = np.diag(factor[0]).min() ** 2
    return factor if smallest > len(matrix) * EPS * matrix.max() else None


def null_direction(matrix: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """A direction that changes no fitted value, turned so that the penalty does not rise.

    Along it a coefficient can be brought to zero for nothing: some minimum has no more columns
    than their rank.
    """
    _, vectors = scipy.linalg.eigh(matrix, subset_by_index=[0, 0], check_finite=False)
    direction = vectors[:, 0]
    return direction if costs @ direction <= 0 else -direction


@kernel("f8[:,:]", "out f8[:]", "out f8[:]", "f8[:]", "f8[:]", "i8", "b1")
def descend(gram, slopes, coef, l1, l2, sweeps, positive):
    """Sweeps of coordinate descent; slopes = cross - gram coef are kept. The last largest change.

    gram (k, k) symmetric; slopes, coef, l1, l2 (k,). One change costs k multiplications; a
    coefficient that stays costs one comparison.
    """
    k = len(coef)
    largest = 0.0
    for _ in range(sweeps):
        largest = 0.0
        for j in range(k):
            curvature = gram[j, j] + l2[j]
            if curvature <= 0.0:
                continue
            before = coef[j]
            pull = slopes[j] + gram[j, j] * before
            if pull > l1[j]:
                after = (pull - l1[j]) / curvature
            elif pull < -l1[j] and not positive:
                after = (pull + l1[j]) / curvature
            else:
                after = 0.0
            if after != before:
                step = after - before
                coef[j] = after
                largest = max(largest, abs(step))
                for i in range(k):
                    slopes[i] -= step * gram[j, i]
        if largest == 0.0:
            break
    return largest


@kernel("f8[:,:]", "f8[:]", "f8", "f8", "f8", "b1", "f8", "i8", "out f8[:]", "out f8[:]")
def descend_to_gap(gram, cross, total, l1, l2, positive, enough, sweeps, slopes, coef):
    """Sweeps of coordinate descent until the duality gap is small; how many, else sweeps + 1.

    gram (k, k) symmetric; cross, slopes = cross - gram coef and coef (k,). The gap is that of
    `duality`, and costs less than the change of three coefficients.
    """
    k = len(coef)
    for sweep in range(1, sweeps + 1):
        for j in range(k):
            length, before = gram[j, j], coef[j]
            pull = slopes[j] + length * before
            if length <= 0.0 or (before == 0.0 and abs(pull) <= l1):
                continue
            after = np.sign(pull) * max(abs(pull) - l1, 0.0) / (length + l2)
            if positive and after < 0.0:
                after = 0.0
            step = after - before
            if step != 0.0:
                coef[j] = after
                for i in range(k):
                    slopes[i] -= step * gram[j, i]
        fitted = remaining = squares = sizes = steepest = 0.0
        for j in range(k):
            fitted += cross[j] * coef[j]
            remaining += slopes[j] * coef[j]
            squares += coef[j] * coef[j]
            sizes += abs(coef[j])
            down = slopes[j] - l2 * coef[j]
            steepest = max(steepest, down if positive else abs(down))
        along = total - fitted
        size = max(along - remaining, 0.0) + l2 * squares
        most = l1 / steepest if steepest > 0.0 else 1.0
        scale = min(max(along / size if size > 0.0 else 1.0, -most), most)
        gap = size / 2.0 + l1 * sizes - scale * along + scale * scale * size / 2.0
        # a little less than enough, since the slopes are computed anew afterwards
        if gap <= 0.99 * enough:
            return sweep
    return sweeps + 1


def _product(one, other):
    total = 0.0
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


product = lean_subkernel(_product, reordered=True)


@lean_subkernel
def descend_one(column, square, l1, l2, positive, residual, before):
    """The best coefficient of one column, with the residual kept; gives it."""
    pull = product(column, residual) + square * before
    after = np.sign(pull) * max(abs(pull) - l1, 0.0) / (square + l2)
    if positive and after < 0.0:
        after = 0.0
    step = after - before
    if step != 0.0:
        for i in range(len(residual)):
            residual[i] -= step * column[i]
    return after


@kernel("f8[:,:]", "f8[:]", "i8[:]", "f8", "f8", "b1", "f8", "i8", "out f8[:]", "out f8[:]")
def descend_on_columns(
    columns, squares, candidates, l1, l2, positive, still, sweeps, residual, coef
):
    """A sweep over all candidates, then sweeps over the coefficients that are not zero.

    columns (p, n), squares (p,) of their lengths, candidates (m,), residual (n,) = y - b'columns,
    coef (p,). The inner sweeps end where no coefficient changes by more than `still`.
    """
    for j in candidates:
        coef[j] = descend_one(columns[j], squares[j], l1, l2, positive, residual, coef[j])
    for _ in range(sweeps):
        largest = 0.0
        for j in candidates:
            before = coef[j]
            if before != 0.0:
                coef[j] = descend_one(columns[j], squares[j], l1, l2, positive, residual, before)
                largest = max(largest, abs(coef[j] - before))
        if largest <= still:
            break


class SparseColumns(NamedTuple):
    """The cells of a sparse table by columns: data and indices (nnz,), indptr (p + 1,)."""

    data: Annotated[np.ndarray, "f8[:]"]
    indices: Annotated[np.ndarray, "i4[:]"]
    indptr: Annotated[np.ndarray, "i4[:]"]


class SparseSums(NamedTuple):
    """means (p,) and squared lengths (p,) of centred columns, and root'r, which no step changes."""

    means: Annotated[np.ndarray, "f8[:]"]
    squares: Annotated[np.ndarray, "f8[:]"]
    along_root: Annotated[float, "f8"]


def sparse_columns(columns: sp.csc_array) -> SparseColumns:
    return SparseColumns(columns.data, columns.indices, columns.indptr)


@lean_subkernel
def descend_one_sparse(columns, sums, j, l1, l2, positive, shift, residual, before):
    """The best coefficient of one sparse column, and the shift after it; see the kernel below."""
    start, stop = columns.indptr[j], columns.indptr[j + 1]
    square, mean = sums.squares[j], sums.means[j]
    pull = (shift - sums.along_root) * mean + square * before
    for place in range(start, stop):
        pull += columns.data[place] * residual[columns.indices[place]]
    after = np.sign(pull) * max(abs(pull) - l1, 0.0) / (square + l2)
    if positive and after < 0.0:
        after = 0.0
    step = after - before
    if step != 0.0:
        for place in range(start, stop):
            residual[columns.indices[place]] -= step * columns.data[place]
        shift += step * mean
    return after, shift


@kernel(SparseColumns, SparseSums, "i8[:]", "f8", "f8", "b1", "f8", "i8", "out f8[:]", "out f8[:]")
def descend_on_sparse_columns(
    columns, sums, candidates, l1, l2, positive, still, sweeps, residual, coef
):
    """`descend_on_columns` of sparse columns; the residual comes out less shift * root. The shift.

    A centred column is X_j - means[j] root, with X_j'root = means[j]: a change of its coefficient
    changes the residual where X_j has cells, and everywhere by a multiple of the root.
    """
    shift = 0.0
    for j in candidates:
        coef[j], shift = descend_one_sparse(
            columns, sums, j, l1, l2, positive, shift, residual, coef[j]
        )
    for _ in range(sweeps):
        largest = 0.0
        for j in candidates:
            before = coef[j]
            if before != 0.0:
                coef[j], shift = descend_one_sparse(
                    columns, sums, j, l1, l2, positive, shift, residual, before
                )
                largest = max(largest, abs(coef[j] - before))
        if largest <= still:
            break
    return shift


def sums_of_columns(columns: sp.csc_array, root: np.ndarray, y: np.ndarray):
    """Products (p,) of sparse columns with root (n,), with themselves and with y (n,)."""
    if columns.indptr.dtype != np.int32:
        squares = np.asarray(columns.multiply(columns).sum(axis=0)).ravel()
        return columns.T @ root, squares, columns.T @ y
    means, squares, cross = (np.empty(columns.shape[1]) for _ in range(3))
    sums_of_sparse_columns(sparse_columns(columns), root, y, means, squares, cross)
    return means, squares, cross


@kernel(SparseColumns, "f8[:]", "f8[:]", "out f8[:]", "out f8[:]", "out f8[:]")
def sums_of_sparse_columns(columns, root, y, means, squares, cross):
    """Products (p,) of sparse columns with root (n,), with themselves and with y (n,)."""
    for j in range(len(means)):
        along, square, product_y = 0.0, 0.0, 0.0
        for place in range(columns.indptr[j], columns.indptr[j + 1]):
            value, i = columns.data[place], columns.indices[place]
            along += value * root[i]
            square += value * value
            product_y += value * y[i]
        means[j], squares[j], cross[j] = along, square, product_y


@kernel("f8|f4[:,:]", "out f8[:,:]")
def write_columns(rows, columns):
    """The transpose of rows (n, p) to columns (p, n), by squares of a size that is known when it
    is compiled: they stay in registers."""
    n, p = rows.shape
    whole_rows, whole_columns = n - n % SQUARE, p - p % SQUARE
    for first in range(0, whole_rows, SQUARE):
        for start in range(0, whole_columns, SQUARE):
            square = rows[first : first + SQUARE, start : start + SQUARE]
            turned = columns[start : start + SQUARE, first : first + SQUARE]
            for j in range(SQUARE):
                for i in range(SQUARE):
                    turned[j, i] = square[i, j]
        for j in range(whole_columns, p):
            for i in range(first, first + SQUARE):
                columns[j, i] = rows[i, j]
    for i in range(whole_rows, n):
        for j in range(p):
            columns[j, i] = rows[i, j]


@kernel("out f8[:,:]", "f8[:]", "f8[:]", "f8[:]", "out f8[:]", "out f8[:]")
def center_columns(columns, location, root, y, squares, cross):
    """Center each line of columns (p, n) and multiply it by root (n,), in place.

    squares (p,) and cross (p,) are the products of a line with itself and with y (n,).
    """
    for j in range(len(columns)):
        line = columns[j]
        for i in range(len(root)):
            line[i] = (line[i] - location[j]) * root[i]
        squares[j], cross[j] = product(line, line), product(line, y)


@kernel("f8[:,:]", "i8[:]", "f8[:]", "out f8[:]")
def column_products(columns, chosen, vector, out):
    """Products of some lines of `columns` (p, n) with a vector (n,), to out (len(chosen),)."""
    for place in range(len(chosen)):
        out[place] = np.dot(columns[chosen[place]], vector)
