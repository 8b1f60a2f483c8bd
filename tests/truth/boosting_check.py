"""A slow second opinion on boosted trees, straight from the definitions.

Every tree is followed on the rows that it was grown on. At every node all splits are tried: the one
taken must not be beaten, a leaf must have none that is allowed, and nodes must have been split in
the order of their gains. Leaf values must be those that the loss asks for.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gnomon.trees.binning import Binner
from gnomon.trees.tree import LEAF, Tree

MISSING = 255
# Derivatives are rounded to 29 bits of their sum where both share a word.
CLOSE = 1e-5
LEAST_GAIN = 1e-6


@dataclass
class Limits:
    """The parameters of a boosted model that shape its trees."""

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian_leaf: float = 1e-3
    min_impurity_decrease: float = 0.0
    l2_regularization: float = 0.0
    category_smoothing: float = 10.0
    max_features: int | None = None
    directions: np.ndarray | None = None
    sets: list[set[int]] = field(default_factory=list)

    @classmethod
    def of(cls, model, directions=None, sets=()) -> Limits:
        names = [name for name in cls.__dataclass_fields__ if hasattr(model, name)]
        return cls(**{n: getattr(model, n) for n in names}, directions=directions, sets=list(sets))


@dataclass
class Split:
    """One way to part the rows of a node."""

    gain: float
    column: int
    left: np.ndarray
    values: tuple[float, float]


class TreeCheck:
    """All splits of all nodes of one tree.

    Parameters
    ----------
    codes : uint8 array of shape (n_columns, n_rows)
        Bins of the rows that the tree was grown on.
    is_category : bool array of shape (n_columns,)
    gradients, hessians : arrays of shape (n_rows,)
        Times the weights.
    counts : array of shape (n_rows,)
        How often each row stands there.
    limits : Limits
    sums : tuple of float
        Sum of absolute gradients and of hessians of all rows, drawn or not.
    """

    def __init__(self, codes, is_category, gradients, hessians, counts, limits: Limits, sums):
        self.codes, self.is_category = codes, is_category
        self.g, self.h, self.counts = gradients, hessians, counts
        self.limits = limits
        self.unit = sums[0] ** 2 / (2 * sums[1])

    def gain(self, left: np.ndarray, right: np.ndarray, l2: float, bounds) -> Split | None:
        """What a split gains, with both values; None where a side is too light."""
        limits = self.limits
        for side in (left, right):
            if self.counts[side].sum() < limits.min_samples_leaf * (1 - 1e-9):
                return None
            if self.h[side].sum() < limits.min_hessian_leaf:
                return None
        saved = [self.saving(side, l2, bounds) for side in (left, right, np.append(left, right))]
        gain = saved[0][0] + saved[1][0] - saved[2][0]
        return Split(gain, -1, left, (saved[0][1], saved[1][1]))

    def saving(self, side: np.ndarray, l2: float, bounds) -> tuple[float, float]:
        g, h = self.g[side].sum(), self.h[side].sum() + l2
        value = float(np.clip(-g / h, *bounds)) if h > 0 else 0.0
        return float(-(g * value + h * value * value / 2)), value

    def splits_of(self, rows: np.ndarray, column: int, bounds) -> Iterator[Split]:
        """Every allowed split of some rows by one column."""
        codes = self.codes[column][rows]
        parts = self.sets_of_codes(codes, rows) if self.is_category[column] else cuts(codes)
        direction = 0 if self.limits.directions is None else self.limits.directions[column]
        for goes_left, l2 in parts:
            split = self.gain(
                rows[goes_left], rows[~goes_left], self.limits.l2_regularization + l2, bounds
            )
            if split is not None and direction * (split.values[1] - split.values[0]) >= 0:
                split.column = column
                yield split

    def sets_of_codes(self, codes: np.ndarray, rows: np.ndarray):
        levels = np.unique(codes)
        extra = self.limits.category_smoothing if levels.size > 4 else 0.0
        l2 = self.limits.l2_regularization + extra
        # ordering finds the best of all sets only where no side can be too small
        if l2 == 0 and levels.size <= 4 and self.limits.min_samples_leaf == 1:
            for size in range(1, levels.size):
                for chosen in itertools.combinations(levels, size):
                    yield np.isin(codes, chosen), 0.0
            return
        keys = [
            self.g[rows[codes == k]].sum() / (self.h[rows[codes == k]].sum() + l2) for k in levels
        ]
        # equal but for rounding: the lower level comes first
        keys = np.round(np.array(keys) / max(np.abs(keys).max(), 1e-300), 7)
        order = levels[np.argsort(keys, kind="stable")]
        for size in range(1, levels.size):
            yield np.isin(codes, order[:size]), extra

    def columns_of(self, path: frozenset[int]) -> list[int]:
        everyone = range(len(self.codes))
        if not self.limits.sets:
            return list(everyone)
        alive = [each for each in self.limits.sets if path <= each]
        return [j for j in everyone if any(j in each for each in alive)]

    def best(self, rows: np.ndarray, depth: int, bounds, path: frozenset[int]) -> Split | None:
        """The best split of a node; None where there is none that gains enough."""
        if self.limits.max_depth is not None and depth >= self.limits.max_depth:
            return None
        found = [s for j in self.columns_of(path) for s in self.splits_of(rows, j, bounds)]
        return max(found, key=lambda split: split.gain, default=None)

    @property
    def least_gain(self) -> float:
        return max(self.limits.min_impurity_decrease, LEAST_GAIN * self.unit)

    def check(self, tree: Tree, sides) -> None:
        """Fail unless the tree is one that best-first growth gives.

        ``sides(node, rows)`` says which of some rows go left at a node.
        """
        limits, slack = self.limits, CLOSE * self.unit
        rows = {0: np.arange(self.g.size)}
        bounds = {0: (-np.inf, np.inf)}
        paths: dict[int, frozenset[int]] = {0: frozenset()}
        depth = tree.node_depth
        bests: dict[int, Split | None] = {}
        frontier: list[tuple[float, int]] = []

        def enter(node: int) -> None:
            found = self.best(rows[node], depth[node], bounds[node], paths[node])
            bests[node] = found
            if found is not None and found.gain > self.least_gain - slack:
                heapq.heappush(frontier, (-found.gain, node))

        enter(0)
        n_leaves, waiting = 1, []
        most = np.inf if limits.max_leaf_nodes is None else limits.max_leaf_nodes
        while frontier:
            gain, node = heapq.heappop(frontier)
            if tree.left[node] == LEAF:
                waiting.append(-gain)
                continue
            in_order = not waiting or max(waiting) <= -gain + slack
            assert in_order or limits.max_features, "a better node was passed over"
            taken = self.taken(tree, node, rows[node], sides, bounds[node], paths[node])
            best = bests[node]
            assert best is not None
            if limits.max_features is None:
                assert taken.gain >= best.gain - slack, (node, taken.gain, best.gain)
            assert np.isclose(tree.gain[node], taken.gain, rtol=1e-4, atol=slack)
            assert taken.gain > self.least_gain - slack
            below = bounds_below(tree, node, taken, bounds[node], limits.directions)
            for child, side in zip((tree.left[node], tree.right_child[node]), (True, False)):
                goes = np.isin(rows[node], taken.left) == side
                rows[child] = rows[node][goes]
                bounds[child] = below[0 if side else 1]
                paths[child] = paths[node] | {int(tree.feature[node])}
                enter(int(child))
            n_leaves += 1
        assert n_leaves == tree.n_leaves <= most, "a node without an allowed split was split"
        if tree.n_leaves < most and limits.max_features is None:
            assert max(waiting, default=0.0) <= self.least_gain + slack, "growth ended early"

    def taken(self, tree: Tree, node: int, rows, sides, bounds, path) -> Split:
        column = int(tree.feature[node])
        assert column in self.columns_of(path)
        goes_left = sides(node, rows)
        options = list(self.splits_of(rows, column, bounds))
        same = [s for s in options if np.array_equal(np.sort(s.left), np.sort(rows[goes_left]))]
        assert same, "the split taken is not among those allowed"
        assert same[0].gain >= max(s.gain for s in options) - CLOSE * self.unit
        return same[0]


def cuts(codes: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Every threshold between present bins, with missing cells on either side."""
    values = np.unique(codes[codes != MISSING])
    absent = codes == MISSING
    for cut in values[:-1]:
        yield (codes <= cut) & ~absent, 0.0
        if absent.any():
            yield (codes <= cut) | absent, 0.0
    if absent.any() and values.size:
        yield ~absent, 0.0
        yield absent, 0.0


def bounds_below(tree: Tree, node: int, taken: Split, bounds, directions):
    """Bounds of the values left and right of a split."""
    direction = 0 if directions is None else directions[tree.feature[node]]
    if direction == 0:
        return bounds, bounds
    middle = sum(taken.values) / 2
    lower, upper = (bounds[0], middle), (middle, bounds[1])
    return (lower, upper) if direction > 0 else (upper, lower)


def goes_left(tree: Tree, node: int, rows: np.ndarray) -> np.ndarray:
    """Which rows go left at a node, by the definition of `Tree`."""
    column = rows[:, tree.feature[node]]
    absent = np.isnan(column)
    missing = bool(tree.missing_left[node])
    if tree.category[node] < 0:
        with np.errstate(invalid="ignore"):
            return np.where(absent, missing, column <= tree.threshold[node])
    mask = tree.category_left[tree.category[node]]
    levels = np.where(absent, 0, column).astype(int)
    bits = (mask[levels // 64] >> (levels % 64).astype(np.uint64)) & np.uint64(1)
    return np.where(absent, missing, bits == 1)


def leaves_of(tree: Tree, rows: np.ndarray) -> np.ndarray:
    """The leaf of every row, one step after another."""
    at = np.zeros(len(rows), int)
    for node in range(tree.n_nodes):
        here = np.flatnonzero(at == node)
        if tree.left[node] != LEAF and here.size:
            left = goes_left(tree, node, rows[here])
            at[here] = np.where(left, tree.left[node], tree.right_child[node])
    return at


def derivatives(loss: str, y, F, *, alpha=0.9, delta=np.inf):
    """Both derivatives by the loss's formula, shapes (n_scores, n); y as in `Boosted`."""
    if loss in ("squared_error", "huber"):
        r = residuals(y, F) if loss == "squared_error" else y - F[0]
        return np.clip(-r, -delta, delta)[None], np.ones_like(F)
    if loss in ("absolute_error", "quantile"):
        below, above = (1.0, 1.0) if loss == "absolute_error" else (alpha, 1 - alpha)
        r = residuals(y, F)
        return np.where(r > 0, -below, np.where(r < 0, above, 0.0))[None], np.ones_like(F)
    if loss == "poisson":
        return np.exp(F) - y, np.exp(F)
    if loss == "gamma":
        return 1 - y * np.exp(-F), y * np.exp(-F)
    if loss == "exponential":
        sign = 2 * y - 1
        return -sign * np.exp(-sign * F), np.exp(-sign * F)
    if len(F) == 1:
        p = 1 / (1 + np.exp(-F))
        return p - y, p * (1 - p)
    p = np.exp(F) / np.exp(F).sum(axis=0)
    k = len(F)
    return p - (np.arange(k)[:, None] == y), k / (k - 1) * p * (1 - p)


def residuals(y, F) -> np.ndarray:
    """y - F; zero where it is rounding of a fit that is exact."""
    r = y - F[0]
    return np.where(np.abs(r) < 2.0**-46 * np.abs(y).max(), 0.0, r)


def mean_loss(loss: str, y, F, weights, *, alpha=0.9, delta=np.inf) -> float:
    """The weighted mean of the loss at scores (n_scores, n)."""
    if loss in ("squared_error", "huber"):
        r = np.abs(F[0] - y)
        values = np.where(r <= delta, r * r / 2, delta * (r - delta / 2))
    elif loss in ("absolute_error", "quantile"):
        r = y - F[0]
        values = np.abs(r) if loss == "absolute_error" else np.maximum(alpha * r, (alpha - 1) * r)
    elif loss == "poisson":
        values = np.exp(F[0]) - y * F[0]
    elif loss == "gamma":
        values = y * np.exp(-F[0]) + F[0]
    elif loss == "exponential":
        values = np.exp(-(2 * y - 1) * F[0])
    elif len(F) == 1:
        values = np.logaddexp(0, -(2 * y - 1) * F[0])
    else:
        values = np.log(np.exp(F).sum(axis=0)) - F[y, np.arange(y.size)]
    return float(np.average(values, weights=weights))


class ModelCheck:
    """A fitted boosted model against the definitions, round by round."""

    def __init__(self, model, rows, y, weights=None, *, is_category=None, drawn=None, **limits):
        self.model, self.rows = model, rows
        self.loss = model.loss
        self.weights = np.ones(len(rows)) if weights is None else np.asarray(weights, float)
        used = self.weights > 0
        self.rows, self.weights, y = rows[used], self.weights[used], np.asarray(y)[used]
        if hasattr(model, "classes_"):
            y = np.searchsorted(model.classes_, y)
        self.y = y
        shape = self.rows.shape[1]
        self.is_category = np.zeros(shape, bool) if is_category is None else is_category
        given = None if weights is None else self.weights
        binned = Binner().fit(self.rows, given, self.is_category).transform(self.rows)
        self.codes = binned.codes
        self.drawn = drawn
        self.limits = Limits.of(model, **limits)
        self.F = np.repeat(model.baseline_[:, None], len(y), axis=1)

    def options(self) -> dict[str, float]:
        alpha = getattr(self.model, "alpha", 0.9)
        if self.loss != "huber":
            return {"alpha": alpha}
        residuals = np.abs(self.y - self.F[0])
        order = np.argsort(residuals, kind="stable")
        line = np.cumsum(self.weights[order])
        place = np.searchsorted(line, alpha * line[-1] * (1 - 1e-12))
        delta = residuals[order[place]]
        if np.isclose(line[place], alpha * line[-1], rtol=1e-12) and place + 1 < len(order):
            delta = (delta + residuals[order[place + 1]]) / 2
        return {"delta": float(delta)}

    def check(self, table=None) -> None:
        """Fail unless every round is as the definitions have it.

        ``table`` holds the rows as the model takes them, where they are not plain numbers.
        """
        model = self.model
        given = self.rows if table is None else table
        n_scores = len(model.baseline_)
        for number in range(model.n_estimators_):
            options = self.options()
            g, h = derivatives(self.loss, self.y, self.F, **options)
            trees = model.trees_[n_scores * number : n_scores * (number + 1)]
            drawn = None if self.drawn is None else self.drawn[number]
            moves = []
            for k, tree in enumerate(trees):
                self.check_tree(tree, g[k], h[k], drawn)
                self.check_values(tree, g[k], h[k], drawn, options)
                moves.append(tree.value[leaves_of(tree, self.rows), 0])
            self.F = self.F + moves
            if number < len(model.history_.objective):
                now = mean_loss(self.loss, self.y, self.F, self.weights, **self.options())
                np.testing.assert_allclose(
                    model.history_.objective[number], now, rtol=1e-6, atol=1e-9 * self.size()
                )
        said = model.decision_function(given) if hasattr(model, "classes_") else None
        if said is None:
            said = model.predict(given)
            F = np.exp(self.F[0]) if self.loss in ("poisson", "gamma") else self.F[0]
            np.testing.assert_allclose(said, F, rtol=1e-9, atol=1e-12 * self.size())
        else:
            F = self.F[0] if n_scores == 1 else self.F.T
            np.testing.assert_allclose(said, F, rtol=1e-9, atol=1e-12)

    def size(self) -> float:
        scale = float(np.abs(self.y).max(initial=0.0))
        return scale**2 if self.loss in ("squared_error", "huber") else max(scale, 1e-300)

    def taken(self, drawn) -> tuple[np.ndarray, np.ndarray]:
        """The rows of a round, and their weights."""
        if drawn is None:
            return np.arange(len(self.y)), self.weights
        at = np.flatnonzero(drawn)
        return at, drawn[at].astype(float)

    def check_tree(self, tree: Tree, g, h, drawn) -> None:
        at, weights = self.taken(drawn)
        sums = (np.abs(g) @ self.weights, h @ self.weights)
        if sums[0] == 0:
            assert tree.n_nodes == 1
            return
        check = TreeCheck(
            self.codes[:, at], self.is_category, g[at] * weights, h[at] * weights, weights,
            self.limits, sums,
        )  # fmt: skip
        rows = self.rows[at]
        check.check(tree, lambda node, some: goes_left(tree, node, rows[some]))

    def check_values(self, tree: Tree, g, h, drawn, options) -> None:
        at, weights = self.taken(drawn)
        leaves = leaves_of(tree, self.rows)[at]
        if self.limits.directions is not None or getattr(self.model, "scaled_trees", False):
            return
        for leaf in np.unique(leaves):
            some = at[leaves == leaf]
            w = weights[leaves == leaf]
            value = tree.value[leaf, 0] / self.model.learning_rate
            self.check_leaf(value, some, w, g[some] @ w, h[some] @ w, options)

    def check_leaf(self, value: float, some, w, G: float, H: float, options) -> None:
        l2 = self.limits.l2_regularization
        if self.loss in ("squared_error", "log_loss"):
            scale = np.abs(self.y).max() if self.loss == "squared_error" else 1.0
            assert np.isclose(value, -G / (H + l2), rtol=1e-6, atol=1e-9 * scale)
        elif l2 == 0 and np.isfinite(value):
            self.check_line_search(value, some, w, options)

    def check_line_search(self, value: float, some, w, options) -> None:
        """No other value of the leaf lowers the loss itself more."""
        y, F = self.y[some], self.F[:, some]
        if self.loss == "poisson" and not y.any():
            return
        if self.loss == "exponential" and np.unique(y).size == 1:
            return
        by_logarithm = self.loss in ("poisson", "gamma", "exponential")
        spread = 1.0 if by_logarithm else np.ptp(y - F[0]) + abs(value) + 1e-300
        steps = spread * np.geomspace(1e-4, 1, 9)
        others = np.concatenate([value - steps, value + steps])
        here = mean_loss(self.loss, y, F + value, w, **options)
        for other in others:
            there = mean_loss(self.loss, y, F + other, w, **options)
            rounding = 1e-9 * max(abs(here), abs(there)) + 1e-12 * np.abs(y).max()
            assert here <= there + rounding
