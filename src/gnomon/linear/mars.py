"""MARS: a sum of products of hinges max(0, x - t) and max(0, t - x), grown in pairs and pruned.

Forward, every step takes the term B, the column x and the knot t for which the pair of
B max(0, x - t) and B max(0, t - x) lowers the squared error most. Backward, terms are removed one
by one, the least missed first, and the model of least

    GCV = (RSS / W) / (1 - C / W)^2,   C = terms + penalty * (terms - 1) / 2

is kept. All knots of a column are judged in one walk along its sorted values: beside B, the pair
spans B x and h = B max(0, x - t), and with Q the orthonormal terms so far, h'r, h'h and Q'h are
running sums, so that a knot costs as much as a term and not a fit.

Text: 001 13.7, table 10.1 (a column of a comparison); Friedman 1991 is the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from gnomon.contract import Data, Regressor
from gnomon.contract.result import Result
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import JOBS, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Text, Whole
from gnomon.engine.sums import rows_per_chunk
from gnomon.engine.threads import in_order, one_blas_thread
from gnomon.linear.basis import location_and_scale
from gnomon.linear.inference import column_names

DEPENDENT = 1e-9  # share of its square that a basis function must add beyond the others
BETTER = 1e-9  # a gain that is greater by less is rounding, and the first one stays
NEARLY_PERFECT = 1e-12  # what is left of the squares is rounding of a perfect fit
RUN_CHANCE = 0.05  # Friedman's alpha: the chance of a run of noise that a pair may resist


class Factor(NamedTuple):
    """One factor of a term: column, knot and side (1 above, -1 below, 0 for the straight x - t)."""

    column: int
    knot: float
    side: int


@storable
@dataclass(repr=False)
class AnovaTable(Result):
    """The parts of a MARS model by the columns that act together in them.

    Attributes
    ----------
    columns : list of str
        The columns of each part, joined by " x ".
    n_terms : list of int
    deviations : list of float
        Standard deviation of the part over the training rows: how much it moves predictions.
    gcv_without : list of float
        GCV of the model without the part; the more above ``gcv``, the more it matters.
    gcv : float
        Of the whole model.
    """

    columns: list[str]
    n_terms: list[int]
    deviations: list[float]
    gcv_without: list[float]
    gcv: float
    _stored = {
        "columns": ListOf(Text(), "n_columns"),
        "deviations": ListOf(Number(), "n_columns"),
        "gcv": Number(),
        "gcv_without": ListOf(Number(), "n_columns"),
        "n_terms": ListOf(Whole(), "n_columns"),
    }

    def _title(self) -> str:
        return f"Parts of the model (GCV {self.gcv:.4g})"

    def _columns(self) -> dict[str, list]:
        return {
            "columns": self.columns,
            "terms": self.n_terms,
            "standard deviation": self.deviations,
            "GCV without": self.gcv_without,
        }


@method(
    task="regress",
    texts="001 13.7 table 10.1",
    use="A readable model that bends and lets few columns act together; chooses columns itself.",
    avoid="Very smooth or very ragged relations (splines, boosting), strongly correlated columns.",
    peers=("R earth", "py-earth"),
)
class MARS(Regressor):
    """Multivariate adaptive regression splines: a sum of products of hinges.

    f(x) = c + sum_m a_m prod_k max(0, +-(x_v - t)), found by adding pairs of hinges greedily and
    pruning by generalised cross-validation (GCV). Use it where a few columns bend or act together,
    and the model is to be read: ``terms()`` and ``anova_`` say what it found. Units and monotone
    rescaling of columns hardly matter, irrelevant columns are left out. Not for strongly
    correlated columns (which of them is taken is chance), nor far beyond the training rows,
    where hinges go on straight. Steps are greedy: columns that act only together, such as
    x1 * x2 with neither acting alone, may be missed.

    Texts: 001 13.7 names it in a table; built after Friedman (1991). Knots are the training values
    at even steps of the sorted column, as far apart as Friedman's minimum span says.

    Parameters
    ----------
    max_degree : int, default=1
        Most columns that act together in a term; 1 gives an additive model.
    max_terms : int or None, default=None
        Most terms before pruning; None for min(200, max(20, 2 * n_columns)) + 1.
    max_knots : int, default=64
        Most knots tried in a column.
    penalty : float or None, default=None
        What a knot costs in GCV, in coefficients; None for 2 in additive models, else 3.
    threshold : float, default=0.001
        Growing stops when a step adds less than this to R2.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_terms,)
        Coefficients of the terms; the first term is the constant.
    columns_ : ndarray of int of shape (n_terms, max_degree)
        Column of each factor of a term; -1 where a term has fewer.
    knots_ : ndarray of shape (n_terms, max_degree)
        Knots of the factors.
    sides_ : ndarray of int of shape (n_terms, max_degree)
        1 for max(0, x - t), -1 for max(0, t - x), 0 for x - t.
    gcv_ : float
        GCV of the model.
    pruning_ : ndarray of shape (n_sizes, 2)
        Number of terms and GCV along the pruning.
    anova_ : AnovaTable
        The parts of the model by columns.
    history_ : History
        Mean squared error after each pair.
    n_iter_ : int
        Number of steps.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import MARS
    >>> x = np.arange(101.0)[:, None]
    >>> model = MARS(max_knots=100).fit(x, 1 + 2 * np.maximum(0, x[:, 0] - 50))
    >>> bool(np.allclose(model.predict([[30.0], [60.0]]), [1, 21]))
    True
    """

    _parameter_constraints = {
        "max_degree": [whole(1)],
        "max_terms": [None, whole(1)],
        "max_knots": [whole(1)],
        "penalty": [None, at_least(0.0)],
        "threshold": [at_least(0.0)],
        "n_jobs": JOBS,
    }
    _stored = {
        "anova_": Object(("AnovaTable",)),
        "coef_": Array("f8", ("n_coef",)),
        "columns_": Array("i8", ("n_coef", "n_columns_1"), low=-1, below="n_columns"),
        "gcv_": Number(),
        "knots_": Array("f8", ("n_coef", "n_columns_1")),
        "pruning_": Array("f8", (None, 2)),
        "sides_": Array("i8", ("n_coef", "n_columns_1"), low=-1),
    }

    def __init__(
        self,
        max_degree=1,
        *,
        max_terms=None,
        max_knots=64,
        penalty=None,
        threshold=0.001,
        n_jobs=None,
    ):
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.max_knots = max_knots
        self.penalty = penalty
        self.threshold = threshold
        self.n_jobs = n_jobs

    @property
    def _largest(self) -> float:  # type: ignore[override]
        """Numbers whose highest product stays finite."""
        return float(10 ** (200 / (self.max_degree + 1)))

    def _terms_at_most(self, n_columns: int) -> int:
        return int(self.max_terms or min(200, max(20, 2 * n_columns)) + 1)

    def _most_steps(self) -> int:
        return self._terms_at_most(getattr(self, "n_features_in_", 100))

    def _fit(self, data: Data) -> None:
        weights = data.weight_array
        center, scale = location_and_scale(data.rows, weights)
        rows = (np.ascontiguousarray(data.rows, dtype=np.float64) - center) / scale
        level, spread = location_and_scale(data.y[:, None], weights)
        y = (data.y - level[0]) / spread[0]
        grower = Grower(
            rows, y, weights, self._terms_at_most(data.n_columns), int(self.max_degree), self.n_jobs
        )
        grower.knots = knots_of(grower.columns, grower.orders, weights, int(self.max_knots))
        with one_blas_thread():
            self._grow(grower, float(spread[0]) ** 2)
            pruning = pruned(grower.design(), grower.target, weights.sum(), self._penalty())
        self._describe(grower, pruning, center, scale, float(level[0]), float(spread[0]))

    def _penalty(self) -> float:
        if self.penalty is not None:
            return float(self.penalty)
        return 2.0 if self.max_degree == 1 else 3.0

    def _grow(self, grower: Grower, variance: float) -> None:
        """Pairs of hinges, one step each, until enough, or nothing is gained."""
        course = self._course("pair", self._terms_at_most(len(grower.columns)))
        start = before = grower.error()
        for _ in course:
            grown = grower.step()
            now = grower.error()
            gained = before - now
            before = now
            small = gained <= self.threshold * start or now <= NEARLY_PERFECT * start
            if course.end_step(variance * now, not grown or small):
                break
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _describe(self, grower, pruning: Pruning, center, scale, confidence_level, spread) -> None:
        """The kept terms in the user's units."""
        terms = [grower.terms[k] for k in pruning.kept]
        shape = len(terms), int(self.max_degree)
        self.columns_ = np.full(shape, -1, dtype=np.int64)
        self.knots_, self.sides_ = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        factor = np.full(len(terms), spread)
        for m, term in enumerate(terms):
            for k, (column, knot, side) in enumerate(term):
                self.columns_[m, k], self.sides_[m, k] = column, side
                self.knots_[m, k] = knot * scale[column] + center[column]
                factor[m] /= scale[column]
        self.coef_ = pruning.coef * factor
        self.coef_[0] += confidence_level
        self.pruning_ = pruning.path * np.array([1.0, spread**2])
        self.gcv_ = float(self.pruning_[:, 1].min())
        self.anova_ = self._anova(grower, pruning, spread)

    def _anova(self, grower, pruning: Pruning, spread: float) -> AnovaTable:
        """Parts by columns; without a part S the squared error rises by a_S' (G^-1_SS)^-1 a_S."""
        names, weight = column_names(self), float(grower.weights.sum())
        share, root = grower.weights / weight, np.sqrt(grower.weights)
        groups: dict[tuple[int, ...], list[int]] = {}
        for m in range(1, len(pruning.kept)):
            used = tuple(sorted(int(c) for c in self.columns_[m] if c >= 0))
            groups.setdefault(used, []).append(m)
        table = AnovaTable([], [], [], [], self.gcv_)
        for used in sorted(groups, key=lambda columns: (len(columns), columns)):
            members = groups[used]
            values = grower.values[[pruning.kept[m] for m in members]].T
            part = values @ pruning.coef[members] / root
            inverse = pruning.inverse[np.ix_(members, members)]
            rise = float(pruning.coef[members] @ np.linalg.solve(inverse, pruning.coef[members]))
            n_left = len(pruning.kept) - len(members)
            without = gcv(pruning.error + rise, n_left, weight, self._penalty()) * spread**2
            table.columns.append(" x ".join(names[c] for c in used))
            table.n_terms.append(len(members))
            table.deviations.append(float(spread * np.sqrt(share @ (part - share @ part) ** 2)))
            table.gcv_without.append(float(without))
        return table

    def _estimate(self, rows) -> np.ndarray:
        return self._design(rows) @ self.coef_

    def _design(self, rows: np.ndarray) -> np.ndarray:
        """The terms of a block of rows, of shape (n, n_terms)."""
        design = np.ones((len(rows), len(self.coef_)))
        for m, k in zip(*np.nonzero(self.columns_ >= 0)):
            gap = rows[:, self.columns_[m, k]] - self.knots_[m, k]
            side = self.sides_[m, k]
            design[:, m] *= np.maximum(side * gap, 0.0) if side else gap
        return design

    def _rows_at_once(self, rows) -> int:
        return rows_per_chunk(rows.shape[1] + 2 * len(self.coef_))

    def terms(self) -> dict[str, float]:
        """The model in words: each term with its coefficient.

        Returns
        -------
        terms : dict of str to float
            Such as ``{"1": 3.0, "max(0, x0 - 5)": 2.0}``.
        """
        names = column_names(self)
        found = {}
        for m, coef in enumerate(self.coef_):
            used = np.flatnonzero(self.columns_[m] >= 0)
            parts = [
                factor_name(names[self.columns_[m, k]], self.knots_[m, k], self.sides_[m, k])
                for k in used
            ]
            found[" * ".join(parts) or "1"] = float(coef)
        return found

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        terms = self._terms_at_most(n_columns) + 2
        return 8 * n_rows * (4 * terms + 4 * n_columns + 16)

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or a smaller max_terms."

    def _check_loaded(self) -> None:
        if not hasattr(self, "coef_"):
            return
        shape = (len(self.coef_), int(self.max_degree))
        if any(each.shape != shape for each in (self.columns_, self.knots_, self.sides_)):
            raise ValueError("the parts of the terms differ in shape")
        if self.columns_.dtype.kind != "i" or self.sides_.dtype.kind != "i":
            raise ValueError("columns and sides of terms must be whole numbers")


def factor_name(name: str, knot: float, side: int) -> str:
    """A factor of a term, as one writes it."""
    if not side:
        return f"({name} - {knot:.5g})"
    return f"max(0, {name} - {knot:.5g})" if side > 0 else f"max(0, {knot:.5g} - {name})"


class Grower:
    """The forward pass: terms so far, an orthonormal basis of them, what is left of the target.

    Everything is multiplied by the roots of the weights, so that plain products are weighted ones.
    """

    def __init__(self, rows, y, weights, max_terms: int, max_degree: int, n_jobs):
        self.weights = weights
        root = np.sqrt(weights)
        self.columns = np.ascontiguousarray(rows.T)
        self.orders = np.argsort(-self.columns, axis=1, kind="stable")
        self.knots: np.ndarray = np.empty((len(self.columns), 0))
        self.target = root * y
        self.max_terms, self.max_degree, self.n_jobs = max_terms, max_degree, n_jobs
        n = len(y)
        self.values = np.empty((max_terms + 1, n))
        self.basis = np.zeros((n, max_terms + 1))
        self.terms: list[tuple[Factor, ...]] = []
        self.residual = self.target.copy()
        self.add((), root)

    def design(self) -> np.ndarray:
        """The terms so far, of shape (n, n_terms)."""
        return self.values[: len(self.terms)].T

    def error(self) -> float:
        """Weighted mean squared error."""
        return float(self.residual @ self.residual / self.weights.sum())

    def add(self, term: tuple[Factor, ...], values: np.ndarray) -> bool:
        """Take a term in, unless it depends on those that are there."""
        k = len(self.terms)
        length = np.sqrt(values @ values)
        direction = values.copy()
        for _ in range(2):
            direction -= self.basis[:, :k] @ (self.basis[:, :k].T @ direction)
        left = np.sqrt(direction @ direction)
        if not left > np.sqrt(DEPENDENT) * length:
            return False
        direction /= left
        self.basis[:, k] = direction
        self.values[k] = values
        self.residual -= direction * (direction @ self.residual)
        self.terms.append(term)
        return True

    def step(self) -> bool:
        """Add the pair of hinges that lowers the error most; False where none is left."""
        room = self.max_terms - len(self.terms)
        if room < 1 or self.error() == 0:
            return False
        best = self._best_pair()
        if best is None:
            return False
        parent, column, knot = best
        gap = self.columns[column] - knot
        values, term = self.values[parent], self.terms[parent]
        if np.isnan(knot):
            return self.add((*term, Factor(column, 0.0, 0)), values * self.columns[column])
        grown = self.add((*term, Factor(column, knot, 1)), values * np.maximum(gap, 0.0))
        if room > 1:
            below = values * np.maximum(-gap, 0.0)
            grown = self.add((*term, Factor(column, knot, -1)), below) or grown
        return grown

    def _best_pair(self) -> tuple[int, int, float] | None:
        """Parent term, column and knot of the greatest gain; of equal ones the first."""
        d = len(self.columns)
        together = max(1, 2**19 // (self.basis.shape[0] * len(self.terms)))
        jobs = [
            (parent, first, min(first + together, d))
            for parent, term in enumerate(self.terms)
            if len(term) < self.max_degree
            for first in range(0, d, together)
        ]
        best, found = 0.0, None
        for (parent, first, _), (gains, picks) in zip(
            jobs, in_order(self._judge, jobs, self.n_jobs, short=True)
        ):
            for v, gain in enumerate(gains):
                if gain > best * (1 + BETTER):
                    best = gain
                    column = first + v
                    knot = self.knots[column, picks[v]] if picks[v] >= 0 else np.nan
                    found = parent, column, float(knot)
        total = self.target @ self.target
        return found if best > NEARLY_PERFECT * total else None

    def _judge(self, job) -> tuple[np.ndarray, np.ndarray]:
        parent, first, last = job
        allowed = np.ones(len(self.columns), dtype=bool)
        allowed[[factor.column for factor in self.terms[parent]]] = False
        gains, picks = np.zeros(last - first), np.full(last - first, -1)
        judge_hinges(
            self.columns,
            self.orders,
            self.knots,
            self.values[parent],
            self.basis,
            len(self.terms),
            self.residual,
            first,
            allowed,
            gains,
            picks,
        )
        return gains, picks


def knots_of(columns: np.ndarray, orders: np.ndarray, weights, max_knots: int) -> np.ndarray:
    """Knots of each column, falling, padded with NaN; of shape (n_columns, max_knots).

    Values at even steps of the weight along the sorted column, at least Friedman's minimum span
    apart and his end span from the ends.
    """
    d = len(columns)
    total = weights.sum()
    span = -np.log2(-np.log(1 - RUN_CHANCE) / (d * max(total, 1.0))) / 2.5
    end = min((3 - np.log2(RUN_CHANCE / d)) / total, 0.5)
    count = int(np.clip((1 - 2 * end) * total / max(span, 1.0), 1, max_knots))
    marks = np.linspace(end, 1 - end, count) if count > 1 else np.array([0.5])
    knots = np.full((d, max_knots), np.nan)
    for j in range(d):
        line = np.cumsum(weights[orders[j]])
        places = np.searchsorted(line, marks * total * (1 - 1e-12))
        falling = columns[j][orders[j]]
        found = np.unique(falling[np.minimum(places, len(line) - 1)])[::-1]
        inside = found[(found < falling[0]) & (found > falling[-1])]
        knots[j, : len(inside)] = inside
    return knots


def gcv(error: float, n_terms: int, weight: float, penalty: float) -> float:
    """Generalised cross-validation; infinite where the terms use up the rows."""
    cost = n_terms + penalty * (n_terms - 1) / 2
    return float(error / weight / (1 - cost / weight) ** 2) if cost < weight else np.inf


class Pruning(NamedTuple):
    """The terms kept: places, coefficients, (design'design)^-1, squared error; GCV by size."""

    kept: list[int]
    coef: np.ndarray
    inverse: np.ndarray
    error: float
    path: np.ndarray


def pruned(design: np.ndarray, target: np.ndarray, weight: float, penalty: float) -> Pruning:
    """The terms of least GCV along the removal of terms, the least missed first.

    Removing term j raises the squared error by a_j^2 / (G^-1)_jj; G^-1 without j follows from G^-1
    by one outer product. The kept terms are solved for anew, without what rounding has gathered.
    """
    kept = list(range(design.shape[1]))
    coef, inverse, error = solved(design, target)
    best, chosen = gcv(error, len(kept), weight, penalty), kept.copy()
    path = [(float(len(kept)), best)]
    while len(kept) > 1:
        rises = coef[1:] ** 2 / np.diag(inverse)[1:]
        j = 1 + int(np.argmin(rises))
        error += float(rises[j - 1])
        step = inverse[:, j] / inverse[j, j]
        coef = np.delete(coef - step * coef[j], j)
        inverse = np.delete(np.delete(inverse - np.outer(step, inverse[j]), j, 0), j, 1)
        del kept[j]
        now = gcv(error, len(kept), weight, penalty)
        path.append((float(len(kept)), now))
        if now <= best * (1 + BETTER):
            best, chosen = now, kept.copy()
    return Pruning(chosen, *solved(design[:, chosen], target), np.array(path))


def solved(design: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, (design'design)^-1 and squared error, by an orthogonal factorisation."""
    q, r = np.linalg.qr(design)
    inverse_root = scipy.linalg.solve_triangular(r, np.eye(len(r)), check_finite=False)
    along = q.T @ target
    left = target - q @ along
    return inverse_root @ along, inverse_root @ inverse_root.T, float(left @ left)


@kernel(
    "f8[:,:]",
    "i8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "f8[:,:]",
    "i8",
    "f8[:]",
    "i8",
    "b1[:]",
    "out f8[:]",
    "out i8[:]",
)
def judge_hinges(
    columns, orders, knots, parent, basis, used, residual, first, allowed, gains, picks
):
    """For some columns the best knot and how much its pair with `parent` lowers the squared error.

    columns, orders (d, n), orders by falling value; knots (d, k) falling, NaN at the end; parent,
    residual (n,); basis (n, >= used) orthonormal. gains, picks are of the columns from `first`
    on; pick -1 means that the straight term does as well as any knot.
    """
    n = len(parent)
    straight = np.empty(n)
    left = np.empty(n)
    shadow = np.empty(used)
    heights = np.empty(used + 1)
    moments = np.empty(used + 1)
    for v in range(len(gains)):
        gains[v] = 0.0
        picks[v] = -1
        j = first + v
        if not allowed[j]:
            continue
        size = 0.0
        shadow[:] = 0.0
        for i in range(n):
            straight[i] = parent[i] * columns[j, i]
            size += straight[i] * straight[i]
            for m in range(used):
                shadow[m] += straight[i] * basis[i, m]
        rest = 0.0
        along = 0.0
        for i in range(n):
            total = 0.0
            for m in range(used):
                total += shadow[m] * basis[i, m]
            straight[i] -= total
            rest += straight[i] * straight[i]
            along += straight[i] * residual[i]
        if rest > DEPENDENT * size:
            scale = 1.0 / np.sqrt(rest)
            along *= scale
        else:
            scale = 0.0
            along = 0.0
        for i in range(n):
            straight[i] *= scale
            left[i] = residual[i] - along * straight[i]
        gains[v] = along * along
        heights[:] = 0.0
        moments[:] = 0.0
        s0 = s1 = s2 = c0 = c1 = 0.0
        place = 0
        for k in range(knots.shape[1]):
            knot = knots[j, k]
            if np.isnan(knot):
                break
            while place < n and columns[j, orders[j, place]] > knot:
                i = orders[j, place]
                x = columns[j, i]
                b = parent[i]
                place += 1
                if b == 0.0:
                    continue
                bx = b * x
                s0 += b * b
                s1 += b * bx
                s2 += bx * bx
                c0 += b * left[i]
                c1 += bx * left[i]
                for m in range(used):
                    heights[m] += b * basis[i, m]
                    moments[m] += bx * basis[i, m]
                heights[used] += b * straight[i]
                moments[used] += bx * straight[i]
            square = s2 - 2.0 * knot * s1 + knot * knot * s0
            known = 0.0
            for m in range(used + 1):
                part = moments[m] - knot * heights[m]
                known += part * part
            new = square - known
            if new > DEPENDENT * square and square > 0.0:
                cross = c1 - knot * c0
                gain = along * along + cross * cross / new
                if gain > gains[v] * (1.0 + BETTER):
                    gains[v] = gain
                    picks[v] = k
