"""Three ways to the plane of a linear machine, one step at a time.

All solve  min_w 1/2 |w|^2 + sum_i cost_i max(0, m_i - v_i . w)^k,  v_i = y_i x_i, and know how far
they are: any a in its box gives a lower bound, m . a - 1/2 |sum a_i v_i|^2 - 1/2 sum ridge_i a_i^2,
and the difference to the objective of the plane is the duality gap. The margins m_i are one for
classes; an error of a regression beyond epsilon is slack of two rows, of opposite signs.

`NewtonDescent` (k = 2) and `InteriorPoint` (k = 1) cost n d^2 a step and need few steps, whatever
the prices: the best where rows outnumber columns by far. The n x n system of the interior point
method is a diagonal plus products of d columns, so that only d x d are solved. `CoordinateDescent`
costs n d a step and needs many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from gnomon.engine.kernel import kernel
from gnomon.engine.products import inner
from gnomon.engine.threads import in_order

LEAST_MOVE = 1e-12  # LIBLINEAR's: smaller moves of a coordinate are left out
ROWS_AT_ONCE = 4096  # judgement: enough work for a thread
TO_THE_WALL = 0.995  # the usual share of the way to the nearest bound in interior-point methods
# judgement: a gap that grows tenfold after it was below a thousandth is rounding
ROUNDED, WORSE = 1e-3, 10.0
SHORTEST = 1e-10  # 33 halvings; shorter steps change no digit of the objective


@kernel(
    "f8[:,:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "i8[:]",
    "f8",
    "f8",
    "out f8[:]",
    "out f8[:]",
    "out i8[:]",
)
def descend_once(rows, sign, margin, bound, ridge, squares, order, low, high, alpha, plane, kept):
    """One pass of dual coordinate descent over the rows in order.

    rows (n, d), sign (n,) +1 or -1, margin (n,), bound (n,) of alpha (n,), ridge (n,) on the
    diagonal, squares (n,) = |x|^2 + ridge.
    Rows on a bound whose slope is beyond low or high (those of the pass before) are left out of
    kept. Gives how many are kept, and the least and greatest slope.
    """
    count = 0
    least = np.inf
    most = -np.inf
    d = rows.shape[1]
    for i in order:
        slope = sign[i] * np.dot(rows[i], plane) - margin[i] + ridge[i] * alpha[i]
        move = slope
        if alpha[i] <= 0.0:
            if slope > high:
                continue
            move = min(slope, 0.0)
        elif alpha[i] >= bound[i]:
            if slope < low:
                continue
            move = max(slope, 0.0)
        kept[count] = i
        count += 1
        least = min(least, move)
        most = max(most, move)
        if abs(move) > LEAST_MOVE and squares[i] > 0.0:
            before = alpha[i]
            alpha[i] = min(max(before - slope / squares[i], 0.0), bound[i])
            change = sign[i] * (alpha[i] - before)
            for j in range(d):
                plane[j] += change * rows[i, j]
    return count, least, most


class PlaneSearch:
    """The state of a running search.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The x_i, constant column included.
    sign : ndarray of shape (n,)
        The y_i, +1 or -1.
    cost : ndarray of shape (n,)
    squared : bool
        Whether slack is squared.
    tol : float
        Duality gap at which the search ends, as a share of the objective.
    n_jobs : int or None
    margin : ndarray of shape (n,) or None, default=None
        The m_i; None for ones.
    """

    def __init__(
        self,
        rows: np.ndarray,
        sign: np.ndarray,
        cost: np.ndarray,
        squared: bool,
        tol: float,
        n_jobs: Any,
        margin: np.ndarray | None = None,
    ):
        n = len(rows)
        self.margin = np.ones(n) if margin is None else margin
        self.rows, self.sign, self.cost, self.squared = rows, sign, cost, squared
        self.tol, self.n_jobs = tol, n_jobs
        self.ridge = 0.5 / cost if squared else np.zeros(n)
        self.bound = np.full(n, np.inf) if squared else cost
        self.alpha = np.zeros(n)
        self.plane = np.zeros(rows.shape[1])
        self.objective, self.dual_objective = self._primal(self.plane, np.zeros(n)), 0.0
        self.ended = False

    @property
    def gap(self) -> float:
        """Duality gap, as a share of the objective."""
        gap = self.objective - self.dual_objective
        return max(gap, 0.0) / max(abs(self.objective), np.finfo(np.float64).tiny)

    def step(self, rng: np.random.Generator) -> None:
        """One step; nothing after the end."""
        raise NotImplementedError

    def _primal(self, plane: np.ndarray, scores: np.ndarray) -> float:
        slack = np.maximum(self.margin - scores, 0.0)
        return float(0.5 * plane @ plane + self.cost @ (slack**2 if self.squared else slack))

    def _dual(self, alpha: np.ndarray, plane: np.ndarray) -> float:
        return float(self.margin @ alpha - 0.5 * plane @ plane - 0.5 * self.ridge @ alpha**2)

    def _scores(self, plane: np.ndarray) -> np.ndarray:
        parts = in_order(lambda here: np.dot(self.rows[here], plane), self._blocks(), self.n_jobs)
        return self.sign * np.concatenate(list(parts))

    def _combined(self, factors: np.ndarray) -> Any:
        """sum_i factors_i v_i."""
        factors = self.sign * factors
        parts = in_order(
            lambda here: inner(self.rows[here], factors[here]), self._blocks(), self.n_jobs
        )
        return sum(parts)

    def _products(self, factors: np.ndarray) -> Any:
        """sum_i factors_i v_i v_i'; rows of factor zero are not looked at."""

        def part(here: slice) -> np.ndarray:
            root = np.sqrt(factors[here])
            used = root > 0
            scaled = self.rows[here][used] * root[used, None]
            return inner(scaled, scaled)

        return sum(in_order(part, self._blocks(), self.n_jobs))

    def _blocks(self) -> list[slice]:
        starts = range(0, len(self.rows), ROWS_AT_ONCE)
        return [slice(start, start + ROWS_AT_ONCE) for start in starts]


class IdentityPlus:
    """Solves (I + M) x = r for a positive semi-definite M."""

    def __init__(self, matrix: np.ndarray):
        matrix = matrix + np.eye(len(matrix))
        try:
            self.factor: Any = cho_factor(matrix)
            self.values = None
        except LinAlgError:
            # rounding has pushed an eigenvalue below one, where none can be
            values, self.vectors = np.linalg.eigh(matrix)
            self.values = np.maximum(values, 1.0)

    def solve(self, right: np.ndarray) -> np.ndarray:
        if self.values is None:
            return cho_solve(self.factor, right)
        return self.vectors @ ((self.vectors.T @ right) / self.values)


class NewtonDescent(PlaneSearch):
    """Newton's method on the plane itself: squared slack has a slope, and a bend almost everywhere.

    The best plane given which rows lie beyond their margin is a least squares problem.
    """

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.scores = np.zeros(len(self.rows))

    def step(self, rng: np.random.Generator) -> None:
        if self.ended:
            return
        slack = np.maximum(self.margin - self.scores, 0.0)
        slope = self.plane - 2.0 * self._combined(self.cost * slack)
        beyond = np.where(slack > 0, self.cost, 0.0)
        direction = -IdentityPlus(2.0 * self._products(beyond)).solve(slope)
        moved = self._scores(direction)
        length = self._step_length(direction, moved, float(slope @ direction))
        if length == 0:
            self.ended = True
            return
        self.plane = self.plane + length * direction
        self.scores = self.scores + length * moved
        self.objective = self._primal(self.plane, self.scores)
        self.alpha = 2.0 * self.cost * np.maximum(self.margin - self.scores, 0.0)
        self.dual_objective = self._dual(self.alpha, self._combined(self.alpha))
        self.ended = self.gap <= self.tol

    def _step_length(self, direction: np.ndarray, moved: np.ndarray, promised: float) -> float:
        """One, halved until the objective falls; zero where rounding hides any fall."""
        length = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            while length > SHORTEST:
                plane, scores = self.plane + length * direction, self.scores + length * moved
                found = self._primal(plane, scores)
                if found < self.objective and found <= self.objective + 1e-4 * length * promised:
                    return length
                length /= 2
        return 0.0


class InteriorPoint(PlaneSearch):
    """Primal-dual interior point method on the dual, with Mehrotra's predictor and corrector.

    With g the slope of the dual, z and s the multipliers of a >= 0 and a <= bound, follows
    g - z + s = 0, z a = mu, s (bound - a) = mu to mu = 0.
    """

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.alpha = 0.5 * self.bound
        self.plane = self._combined(self.alpha)
        self.lower = np.ones(len(self.rows))
        self.upper = np.ones(len(self.rows))
        self._look()

    def _look(self) -> None:
        self.scores = self._scores(self.plane)
        self.objective = self._primal(self.plane, self.scores)
        self.dual_objective = self._dual(self.alpha, self.plane)

    def step(self, rng: np.random.Generator) -> None:
        if self.ended:
            return
        alpha, room = self.alpha, self.bound - self.alpha
        if min(alpha.min(), room.min()) <= 0:  # rounding leaves no way to go on inside the box
            self.ended = True
            return
        residual = self.scores - self.margin - self.lower + self.upper
        diagonal = self.lower / alpha + self.upper / room
        system = IdentityPlus(self._products(1.0 / diagonal))

        def solved(right: np.ndarray) -> np.ndarray:
            scaled = right / diagonal
            return scaled - self._scores(system.solve(self._combined(scaled))) / diagonal

        def direction(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
            """Newton's step where z a is to become low and s (bound - a) high."""
            right = -residual + low / alpha - self.lower - high / room + self.upper
            move = solved(right)
            # refined once: columns of unlike scale cost digits
            move += solved(right - diagonal * move - self._scores(self._combined(move)))
            return (
                move,
                low / alpha - self.lower - self.lower * move / alpha,
                high / room - self.upper + self.upper * move / room,
            )

        gap = float(alpha @ self.lower + room @ self.upper)
        n = 2 * len(alpha)
        move, low, high = direction(np.zeros(len(alpha)), np.zeros(len(alpha)))
        length = self._longest(move, low, high)
        rest = float(
            (alpha + length * move) @ (self.lower + length * low)
            + (room - length * move) @ (self.upper + length * high)
        )
        target = (max(rest, 0.0) / gap) ** 3 * gap / n
        move, low, high = direction(target - move * low, target + move * high)
        length = TO_THE_WALL * self._longest(move, low, high)
        self.alpha = alpha + length * move
        self.lower = self.lower + length * low
        self.upper = self.upper + length * high
        before, best = vars(self).copy(), self.gap
        self.plane = self._combined(self.alpha)
        self._look()
        if best < ROUNDED and self.gap > WORSE * best:
            # near the end rounding alone makes the gap grow, and every step would add to it
            vars(self).update(before, alpha=alpha, ended=True)
            return
        self.ended = self.gap <= self.tol or length < SHORTEST

    def _longest(self, move: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
        """The longest step, up to one, that keeps all that must be positive so."""
        longest = 1.0
        pairs = (
            (self.alpha, move),
            (self.bound - self.alpha, -move),
            (self.lower, low),
            (self.upper, high),
        )
        for value, change in pairs:
            falling = change < 0
            if falling.any():
                longest = min(longest, float((value[falling] / -change[falling]).min()))
        return longest


class CoordinateDescent(PlaneSearch):
    """Dual coordinate descent in random order, with shrinking.

    One variable is solved for exactly by one product of a row with the plane; rows that stand
    firmly on a bound are left out until the others have converged.
    """

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows) + self.ridge
        self.active = np.arange(len(self.rows))
        self.kept = np.empty(len(self.rows), dtype=np.int64)
        self.low, self.high = -np.inf, np.inf
        self.enough = 0.1

    def step(self, rng: np.random.Generator) -> None:
        if self.ended:
            return
        order = rng.permutation(self.active)
        count, least, most = descend_once(
            self.rows,
            self.sign,
            self.margin,
            self.bound,
            self.ridge,
            self.squares,
            order,
            self.low,
            self.high,
            self.alpha,
            self.plane,
            self.kept,
        )
        self.dual_objective = self._dual(self.alpha, self.plane)
        if count and most - least > self.enough:
            self.active = np.sort(self.kept[:count])
            self.low = least if least < 0 else -np.inf
            self.high = most if most > 0 else np.inf
            return
        # those left out are looked at again, and the gap over all rows
        self.objective = self._primal(self.plane, self._scores(self.plane))
        self.ended = self.gap <= self.tol
        self.enough /= 2
        self.active = np.arange(len(self.rows))
        self.low, self.high = -np.inf, np.inf
