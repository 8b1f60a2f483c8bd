"""Penalties of linear models: what a vector of coefficients costs, and the least sum with a loss.

Every penalty P minimises  b'H b / 2 - c'b + a P(b)  for a positive semi-definite H: squared losses
are of this form, and others are so locally. What is chosen decides what becomes of coefficients:

- ``Tikhonov``: b'G b. Shrinks all; G = I is the ridge, G = diag(order) leaves low orders free.
- ``NetPenalty``: r |b|_1 + (1 - r) |b|^2 / 2. Sets single coefficients to zero (r = 1: the lasso).
- ``Group``: sum_g sqrt(size of g) |b_g|_2. Sets whole groups of coefficients to zero.
- ``Power``: sum_j |b_j|^p. Convex from p = 1 on; below, sparser, with many local minima.
- ``Subset``: the number of coefficients that are not zero (p = 0).
- ``Largest``: max_j |b_j| (p infinite). Makes the large ones equal.

Texts: 001 7.2.1-7.2.4 · 002 "Lp regression" · 003 4.4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, subkernel
from gnomon.linear.coordinate_descent import on_products
from gnomon.linear.solve import EPS, symmetric_solve

SWEEPS = 10  # judgement: cheap sweeps before a Newton step, which solves a system
MOST_ROUNDS = 500  # judgement: the bound is for dependent columns, where sweeps creep
MOST_SUBSET_COLUMNS = 15  # 32,768 subsets, each a small system
ROOT = {"xtol": 1e-300, "rtol": 4 * EPS, "maxiter": 500}


class Penalty:
    """A penalty: its value, and the least sum with a quadratic."""

    convex: ClassVar[bool] = True

    def value(self, coef: np.ndarray) -> float:
        """P(coef)."""
        raise NotImplementedError

    def minimum(self, gram, cross, weight: float, start) -> np.ndarray:
        """The b of least ``b'gram b / 2 - cross'b + weight P(b)``.

        Without weight the one of least norm.

        Parameters
        ----------
        gram : ndarray of shape (p, p)
        cross, start : ndarray of shape (p,)
        weight : float

        Returns
        -------
        coef : ndarray of shape (p,)
        """
        if weight == 0:
            return symmetric_solve(gram, cross)
        return self._minimum(gram, cross, weight, start)

    def _minimum(self, gram, cross, weight, start) -> np.ndarray:
        raise NotImplementedError

    def total(self, gram, cross, weight: float, coef) -> float:
        """The sum that `minimum` makes least."""
        return float(coef @ (gram @ coef / 2 - cross)) + weight * self.value(coef)


@dataclass(frozen=True, eq=False)
class Tikhonov(Penalty):
    """b'G b for a symmetric positive semi-definite G."""

    matrix: np.ndarray

    @classmethod
    def uniform(cls, n_columns: int) -> Tikhonov:
        """|b|^2: every coefficient alike."""
        return cls(np.eye(n_columns))

    @classmethod
    def of(cls, given, n_columns: int) -> Tikhonov:
        """From a matrix, or from the factor of each squared coefficient."""
        matrix = np.asarray(given, dtype=np.float64)
        matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
        if matrix.shape != (n_columns, n_columns):
            raise DataError(
                f"the penalty's matrix is of shape {matrix.shape} and there are {n_columns} "
                "columns (without the constant); give one row and column for each, or one factor"
            )
        if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
            raise DataError("the penalty's matrix must be finite and symmetric; use (G + G') / 2")
        lowest = float(np.linalg.eigvalsh(matrix)[0]) if n_columns else 0.0
        if lowest < -1e-10 * np.abs(matrix).max(initial=0.0):
            raise DataError(
                f"the penalty's matrix has the eigenvalue {lowest:.3g}: below zero it would reward "
                "large coefficients without end. Give a positive semi-definite one, such as D'D"
            )
        return cls(matrix)

    def value(self, coef):
        return float(coef @ self.matrix @ coef)

    def _minimum(self, gram, cross, weight, start):
        return symmetric_solve(gram + 2 * weight * self.matrix, cross)


@dataclass(frozen=True)
class NetPenalty(Penalty):
    """r |b|_1 + (1 - r) |b|^2 / 2."""

    l1_ratio: float = 1.0

    def value(self, coef):
        squares = (1 - self.l1_ratio) * float(coef @ coef) / 2
        return self.l1_ratio * float(np.abs(coef).sum()) + squares

    def _minimum(self, gram, cross, weight, start):
        l1, l2 = weight * self.l1_ratio, weight * (1 - self.l1_ratio)
        used = np.diag(gram) > 0
        coef = np.zeros(len(cross))
        products = np.ascontiguousarray(gram[np.ix_(used, used)])
        coef[used] = on_products(products, cross[used], start[used], l1, l2)
        return coef


@dataclass(frozen=True, eq=False)
class Group(Penalty):
    """sum_g sqrt(size of g) |b_g|_2, by blocks of coefficients and Newton's steps."""

    groups: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, labels: ArrayLike, n_columns: int) -> Group:
        """From a label per column; equal labels make a group."""
        labels = np.asarray(labels)
        if labels.shape != (n_columns,):
            raise DataError(
                f"groups has {labels.size} labels and there are {n_columns} columns; give one each"
            )
        _, codes = np.unique(labels, return_inverse=True)
        return cls(tuple(np.flatnonzero(codes == code) for code in range(codes.max() + 1)))

    def value(self, coef):
        return float(sum(np.sqrt(len(g)) * np.linalg.norm(coef[g]) for g in self.groups))

    def _minimum(self, gram, cross, weight, start):
        blocks = [(g, *np.linalg.eigh(gram[np.ix_(g, g)])) for g in self.groups]
        return settled(
            lambda coef: self._sweep(gram, cross, weight, blocks, coef),
            lambda coef: self._newton(gram, cross, weight, coef),
            gram,
            start,
        )

    def _sweep(self, gram, cross, weight, blocks, coef):
        coef = coef.copy()
        for g, values, vectors in blocks:
            slope = cross[g] - gram[g] @ coef + vectors @ (values * (vectors.T @ coef[g]))
            coef[g] = least_block(values, vectors, slope, weight * np.sqrt(len(g)))
        return coef

    def _newton(self, gram, cross, weight, coef):
        support = np.flatnonzero(coef)
        slope = gram @ coef - cross
        curve = gram.copy()
        for g in self.groups:
            length = np.linalg.norm(coef[g])
            if length > 0:
                pull = weight * np.sqrt(len(g)) / length
                slope[g] += pull * coef[g]
                unit = coef[g] / length
                curve[np.ix_(g, g)] += pull * (np.eye(len(g)) - np.outer(unit, unit))
        return lower_after(
            self, gram, cross, weight, coef, newton_step(coef, support, slope, curve)
        )


def least_block(values, vectors, slope, weight: float) -> np.ndarray:
    """The b of least b'H b / 2 - slope'b + weight |b|, by the eigenvectors of H.

    Where b is not zero its length v solves sum_i (d_i / (e_i v + weight))^2 = 1 with d = V'slope.
    """
    along = vectors.T @ slope
    seen = values > len(values) * EPS * max(values[-1], 0.0)
    along, values = along[seen], values[seen]
    length = float(np.linalg.norm(along))
    if length <= weight or not seen.any():
        return np.zeros(len(slope))

    def excess(v: float) -> float:
        return float(np.linalg.norm(along / (values * v + weight))) - 1.0

    most = (length - weight) / values[0] * (1 + 1e-9)
    v = brentq(excess, 0.0, most, **ROOT) if excess(most) < 0 else most
    return vectors[:, seen] @ (along * v / (values * v + weight))


@dataclass(frozen=True)
class Power(Penalty):
    """sum_j |b_j|^p for 0 < p < infinity other than 1 and 2, coefficient by coefficient.

    Below p = 1 several starts are made, one of them by reweighted least squares whose weights
    |b|^(p - 2) are blunted less and less, and the lowest end is kept; it need not be the lowest of
    all.
    """

    p: float
    starts: tuple[np.ndarray, ...] = ()

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return self.p >= 1

    def value(self, coef):
        return float((np.abs(coef) ** self.p).sum())

    def _minimum(self, gram, cross, weight, start):
        if self.convex:
            return self._from(gram, cross, weight, start)
        best = None
        for each in self._starts(gram, cross, weight, start):
            coef = self._from(gram, cross, weight, each)
            total = self.total(gram, cross, weight, coef)
            if best is None or total < best[0] - 1e-12 * abs(best[0]):
                best = total, coef
        assert best is not None
        return best[1]

    def _starts(self, gram, cross, weight, start):
        yield start
        yield np.zeros(len(cross))
        plain = symmetric_solve(gram, cross)
        yield plain
        yield self._reweighted(gram, cross, weight, plain)
        yield NetPenalty().minimum(gram, cross, weight, start)
        for each in self.starts:
            yield plain * each

    def _reweighted(self, gram, cross, weight, coef):
        size = float(np.abs(coef).max(initial=0.0))
        for blunt in size * 10.0 ** -np.arange(9.0):
            for _ in range(10 if blunt else 0):
                factors = weight * self.p * (coef**2 + blunt**2) ** (self.p / 2 - 1)
                coef = symmetric_solve(gram + np.diag(factors), cross)
        return np.where(np.abs(coef) > 1e-6 * size, coef, 0.0)

    def _from(self, gram, cross, weight, start):
        return settled(
            lambda coef: self._sweep(gram, cross, weight, coef),
            lambda coef: self._newton(gram, cross, weight, coef),
            gram,
            start,
        )

    def _sweep(self, gram, cross, weight, coef):
        coef = coef.copy()
        power_sweeps(np.ascontiguousarray(gram), cross - gram @ coef, coef, weight, self.p, SWEEPS)
        return coef

    def _newton(self, gram, cross, weight, coef):
        support = np.flatnonzero(np.abs(coef) > 1e-100)
        sizes = np.abs(coef[support])
        slope, curve = gram @ coef - cross, gram.copy()
        slope[support] += weight * self.p * np.sign(coef[support]) * sizes ** (self.p - 1)
        curve[support, support] += weight * self.p * (self.p - 1) * sizes ** (self.p - 2)
        return lower_after(
            self, gram, cross, weight, coef, newton_step(coef, support, slope, curve)
        )


class Subset(Penalty):
    """The number of coefficients that are not zero, by trying every set of columns."""

    convex = False

    def value(self, coef):
        return float(np.count_nonzero(coef))

    def _minimum(self, gram, cross, weight, start):
        columns = np.flatnonzero(np.diag(gram) > 0)
        if len(columns) > MOST_SUBSET_COLUMNS:
            raise DataError(
                f"the best subset of {len(columns)} columns would need 2^{len(columns)} fits; use "
                f"p=0.5 or p=1 instead, or at most {MOST_SUBSET_COLUMNS} columns"
            )
        best, least = np.zeros(len(cross)), 0.0
        for size in range(1, len(columns) + 1):
            for chosen in combinations(columns, size):
                some = np.array(chosen)
                found = symmetric_solve(gram[np.ix_(some, some)], cross[some])
                total = weight * size - float(cross[some] @ found) / 2
                if total < least - 1e-12 * abs(least):
                    best, least = np.zeros(len(cross)), total
                    best[some] = found
        return best


class Largest(Penalty):
    """max_j |b_j|: the size of the box that it pays to stay in."""

    def value(self, coef):
        return float(np.abs(coef).max(initial=0.0))

    def _minimum(self, gram, cross, weight, start):
        if np.abs(cross).sum() <= weight:
            return np.zeros(len(cross))
        widest = self.value(symmetric_solve(gram, cross))

        def excess(size: float) -> float:
            coef = within_box(gram, cross, size)
            return float(np.abs(cross - gram @ coef).sum()) - weight

        if widest == 0 or excess(widest) >= 0:
            return within_box(gram, cross, widest)
        return within_box(gram, cross, brentq(excess, 0.0, widest, **ROOT))


def within_box(gram, cross, size: float) -> np.ndarray:
    """The b of least b'gram b / 2 - cross'b with no |b_j| beyond `size`."""
    gram = np.ascontiguousarray(gram)

    def sweep(coef):
        coef = coef.copy()
        box_sweeps(gram, cross - gram @ coef, coef, size, SWEEPS)
        return coef

    def newton(coef):
        free = np.flatnonzero((np.abs(coef) < size) & (np.diag(gram) > 0))
        moved = newton_step(coef, free, gram @ coef - cross, gram)
        step = moved - coef
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (size - coef) / step, (-size - coef) / step)
        share = min(1.0, float(np.where(step == 0, 1.0, room).min(initial=1.0)))
        return np.clip(coef + share * step, -size, size)

    return settled(sweep, newton, gram, np.zeros(len(cross)))


def settled(sweep: Callable, newton: Callable, gram, start) -> np.ndarray:
    """Sweeps and Newton's steps in turn until the coefficients stay where they are."""
    coef, lengths = start.copy(), np.sqrt(np.diag(gram))
    for _ in range(MOST_ROUNDS):
        before, coef = coef, newton(sweep(coef))
        size = float((np.abs(coef) * lengths).max(initial=0.0))
        if float((np.abs(coef - before) * lengths).max(initial=0.0)) <= 16 * EPS * size:
            break
    return coef


def newton_step(coef, support, slope, curve) -> np.ndarray:
    """Coefficients after Newton's step of those in the support."""
    moved = coef.copy()
    if len(support):
        small = curve[np.ix_(support, support)]
        lengths = np.sqrt(np.maximum(np.abs(np.diag(small)), np.finfo(float).tiny))
        scaled = small / lengths[:, None] / lengths
        try:
            factor = scipy.linalg.cho_factor(scaled, check_finite=False)
        except scipy.linalg.LinAlgError:
            return moved
        if np.diag(factor[0]).min() ** 2 <= len(support) * EPS:
            return moved
        step = scipy.linalg.cho_solve(factor, slope[support] / lengths, check_finite=False)
        moved[support] -= step / lengths
    return moved


def lower_after(penalty: Penalty, gram, cross, weight, coef, moved) -> np.ndarray:
    """The step, halved until the sum falls; where it does not, the place before it."""
    least = penalty.total(gram, cross, weight, coef)
    for _ in range(20):
        kept = np.where(moved * coef < 0, coef, moved)
        if penalty.total(gram, cross, weight, kept) <= least:
            return kept
        moved = (coef + moved) / 2
    return coef


@subkernel
def least_power(h, c, weight, p):
    """The t >= 0 of least h t^2 / 2 - c t + weight t^p, for c >= 0 and h > 0."""
    low, high = 0.0, c / h
    if p < 1.0:
        low = (weight * p * (1.0 - p) / h) ** (1.0 / (2.0 - p))
        if low >= high or h * low - c + weight * p * low ** (p - 1.0) >= 0.0:
            return 0.0
    for _ in range(200):
        t = 0.5 * (low + high)
        if t <= low or t >= high:
            break
        if h * t - c + weight * p * t ** (p - 1.0) > 0.0:
            high = t
        else:
            low = t
    if p < 1.0 and h * high * high / 2.0 - c * high + weight * high**p >= 0.0:
        return 0.0
    return high


@kernel("f8[:,:]", "out f8[:]", "out f8[:]", "f8", "f8", "i8")
def power_sweeps(gram, slopes, coef, weight, p, sweeps):
    """Each coefficient in turn to its best place. gram (k, k); slopes = cross - gram coef (k,)."""
    for _ in range(sweeps):
        for j in range(len(coef)):
            h = gram[j, j]
            if h <= 0.0:
                continue
            c = slopes[j] + h * coef[j]
            best = least_power(h, abs(c), weight, p)
            if c < 0.0:
                best = -best
            change = best - coef[j]
            if change != 0.0:
                coef[j] = best
                for i in range(len(coef)):
                    slopes[i] -= change * gram[j, i]


@kernel("f8[:,:]", "out f8[:]", "out f8[:]", "f8", "i8")
def box_sweeps(gram, slopes, coef, size, sweeps):
    """Each coefficient in turn to its best place within -size and size. Shapes as above."""
    for _ in range(sweeps):
        for j in range(len(coef)):
            h = gram[j, j]
            if h <= 0.0:
                continue
            best = min(max(coef[j] + slopes[j] / h, -size), size)
            change = best - coef[j]
            if change != 0.0:
                coef[j] = best
                for i in range(len(coef)):
                    slopes[i] -= change * gram[j, i]


def lp_penalty(p: float, starts: tuple[np.ndarray, ...] = ()) -> Penalty:
    """The penalty sum_j |b_j|^p; the number of non-zeros for p = 0, the largest for p infinite."""
    if p == 0:
        return Subset()
    if p == 1:
        return NetPenalty()
    return Largest() if np.isinf(p) else Power(float(p), starts)


def order_factors(n_columns: int, intercept: bool) -> np.ndarray:
    """The order of each column of powers: 1, 2 ... beside a constant, else 0, 1 ..."""
    return np.arange(n_columns, dtype=np.float64) + intercept


def lp_decay(weights, p: float, rate: float) -> np.ndarray:
    """Weights after one step of gradient descent down an lp penalty: w - rate sign(w) |w|^(p - 1).

    The rule to add to stochastic gradient steps. It makes no exact zeros: small weights of p <= 1
    jump about zero by the rate. `LpRegression` finds the minimum itself.

    Texts: 003 4.4.2.3 (which leaves out the absolute value, so that negative weights would grow or
    have no power; the factor p is part of the rate).

    Parameters
    ----------
    weights : array-like
    p : float
        Above zero.
    rate : float
        Learning rate times the penalty's weight.

    Returns
    -------
    weights : ndarray

    Examples
    --------
    >>> from gnomon.linear import lp_decay
    >>> lp_decay([4.0, -4.0, 0.0], p=1.5, rate=0.1)
    array([ 3.8, -3.8,  0. ])
    """
    weights = np.asarray(weights, dtype=np.float64)
    if not p > 0:
        raise DataError(f"p={p!r}: the penalty |w|^p has a slope for p above zero only")
    sizes = np.abs(weights)
    with np.errstate(divide="ignore"):
        slope = np.where(sizes > 0, sizes ** (p - 1), 0.0)
    return weights - rate * np.sign(weights) * slope
