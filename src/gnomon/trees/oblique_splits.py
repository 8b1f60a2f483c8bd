"""Splits that ask about all columns at once: a hyperplane, or the density of normal clouds.

* means (003 2.3.2.3): the hyperplane half-way between the means of two groups, orthogonal to the
  line between them; the groups are the two classes, or the rows on either side of the labels' mean
  along the first principal component of the labels.
* random: of some random directions, the one with the best threshold.
* optimised: from the better of the two above and the best single column, coefficient by
  coefficient, each moved to where the impurity is least (OC1, Murthy et al. 1994).
* Gaussian (003 2.3.2.4): a normal distribution per class; a row goes to the branch of the class of
  greatest posterior density.

Texts: 003 2.3.2.3-2.3.2.4 · 004 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.trees.binning import midpoints
from gnomon.trees.impurity import Impurity
from gnomon.trees.questions import GAUSSIAN, LINEAR, make_question
from gnomon.trees.splits import ROUNDING, BestOfColumns, Candidate, LeastBranch, Pool, measured

MOST_MOVES = 200  # judgement: bounds a climb by moves that each gain next to nothing


@dataclass(frozen=True)
class ObliqueSplit:
    """Finds a linear question.

    Parameters
    ----------
    impurity : Impurity
    how : {"means", "random", "optimised"}
    center, scale : float64 arrays (d,)
        Columns are measured from `center` in units of `scale`.
    least : LeastBranch
    n_directions : int
        Random directions tried.
    """

    impurity: Impurity
    how: str
    center: np.ndarray
    scale: np.ndarray
    least: LeastBranch
    n_directions: int

    def __call__(self, pool: Pool, rng: np.random.Generator) -> Candidate | None:
        points = (pool.rows[pool.places] - self.center) / self.scale
        if self.how == "means":
            return self._candidate(pool, between_means(points, pool.y, pool.weights))
        best = self._best_random(pool, points, rng)
        if self.how == "random":
            return self._candidate(pool, best)
        return self._optimized(pool, points, best, rng)

    def _candidate(self, pool: Pool, plane: Plane | None) -> Candidate | None:
        """A plane in the columns' own units, as a question with its saving."""
        if plane is None:
            return None
        direction = plane.direction / self.scale
        threshold = plane.threshold + float(direction @ self.center)
        question = make_question(LINEAR, threshold=threshold, direction=direction)
        return measured(pool, question, self.impurity, self.least)

    def _best_random(
        self, pool: Pool, points: np.ndarray, rng: np.random.Generator
    ) -> Plane | None:
        directions = rng.normal(size=(self.n_directions, points.shape[1]))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        planes = [self._best_threshold(pool, points, each) for each in directions]
        return best_of(planes)

    def _best_threshold(
        self, pool: Pool, points: np.ndarray, direction: np.ndarray
    ) -> Plane | None:
        """The best plane orthogonal to a direction."""
        finder = BestOfColumns(self.impurity, least=self.least)
        projected = Pool(
            (points @ direction)[:, None],
            np.arange(len(points)),
            pool.y,
            pool.weights,
            pool.counts,
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
        )
        cut = finder.cuts(projected, np.zeros(1, np.int64))[0]
        return None if cut is None else Plane(direction, float(cut.threshold), float(cut.saving))

    def _optimized(
        self, pool: Pool, points: np.ndarray, random: Plane | None, rng: np.random.Generator
    ) -> Candidate | None:
        starts = [random, *self._axis_planes(pool, points)]
        means = between_means(points, pool.y, pool.weights)
        if means is not None:
            starts.append(self._best_threshold(pool, points, means.direction))
        best = best_of(starts)
        if best is None:
            return None
        addends = self.impurity.addends(pool.y, pool.weights)
        since_better = 0
        for visit in range(MOST_MOVES):
            if visit % points.shape[1] == 0:
                order = rng.permutation(points.shape[1])
            j = int(order[visit % points.shape[1]])
            moved = self._moved(pool, points, addends, best, j)
            better = moved is not None and moved.saving > best.saving * (1 + ROUNDING)
            best = moved if better else best
            since_better = 0 if better else since_better + 1
            if since_better == points.shape[1]:
                break
        return self._candidate(pool, best)

    def _axis_planes(self, pool: Pool, points: np.ndarray) -> list[Plane]:
        """The best plane across each single column."""
        finder = BestOfColumns(self.impurity, least=self.least)
        d = points.shape[1]
        scaled = Pool(
            points,
            np.arange(len(points)),
            pool.y,
            pool.weights,
            pool.counts,
            np.zeros(d, np.int64),
            np.arange(d),
        )
        cuts = finder.cuts(scaled, np.arange(d))
        units = np.eye(d)
        return [
            Plane(units[j], float(cut.threshold), float(cut.saving))
            for j, cut in cuts.items()
            if cut is not None
        ]

    def _moved(
        self, pool: Pool, points: np.ndarray, addends: np.ndarray, plane: Plane, j: int
    ) -> Plane | None:
        """The plane with the best coefficient of one column, then the best threshold, if better.

        Row i lies above the plane where  a_j x_ij > t - sum_{k != j} a_k x_ik;  as a_j grows, rows
        with x_ij > 0 rise above it and rows with x_ij < 0 sink below, each at its own value of a_j.
        """
        x = points[:, j]
        moving = np.flatnonzero(x)
        if len(moving) < 2:
            return None
        rest = plane.threshold - (points @ plane.direction - plane.direction[j] * x)
        turning = rest[moving] / x[moving]
        order = np.argsort(turning, kind="stable")
        moving, turning = moving[order], turning[order]
        above_first = np.zeros(len(x), bool)
        above_first[x < 0] = True
        above_first[x == 0] = rest[x == 0] < 0
        sign = np.sign(x[moving])
        rising = np.cumsum(addends[moving] * sign[:, None], axis=0)
        above = addends[above_first].sum(axis=0) + rising
        parts = np.flatnonzero(turning[:-1] < turning[1:])
        if not len(parts):
            return None
        total = addends.sum(axis=0)
        above = np.maximum(above[parts], 0.0) if (addends >= 0).all() else above[parts]
        left = self.impurity.total(total - above) + self.impurity.total(above)
        k = int(np.argmin(left))
        if float(self.impurity.total(total) - left[k]) <= plane.saving * (1 + ROUNDING):
            return None
        direction = plane.direction.copy()
        direction[j] = midpoints(turning[parts[k]], turning[parts[k] + 1])
        length = np.linalg.norm(direction)
        if not 0 < length < np.inf:
            return None
        return self._best_threshold(pool, points, direction / length)


@dataclass
class Plane:
    """Points x with ``x . direction = threshold``, and what the split by it saves."""

    direction: np.ndarray
    threshold: float
    saving: float = 0.0


def best_of(planes: list[Plane | None]) -> Plane | None:
    there = [each for each in planes if each is not None]
    return max(there, key=lambda each: each.saving) if there else None


def between_means(points: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Plane | None:
    """The plane half-way between the means of two groups of rows; None where these coincide."""
    upper = label_groups(y, weights)
    if upper is None:
        return None
    means = [weights[side] @ points[side] / weights[side].sum() for side in (~upper, upper)]
    direction = means[1] - means[0]
    if not direction.any():
        return None
    return Plane(direction, float(direction @ (means[0] + means[1]) / 2))


def label_groups(y: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Rows whose label lies above the mean along the labels' first principal component.

    Classes are unit vectors, so that two classes are the two groups (the second is the upper);
    None where all labels are one.
    """
    if y.dtype.kind in "iu":
        present, codes = np.unique(y, return_inverse=True)
        if len(present) < 2:
            return None
        if len(present) == 2:
            return codes == 1
        share = np.bincount(codes, weights) / weights.sum()
        _, vectors = np.linalg.eigh(np.diag(share) - np.outer(share, share))
        first = vectors[:, -1]
        return (first - share @ first >= 0)[codes]
    labels = y.reshape(len(y), -1)
    centered = labels - weights @ labels / weights.sum()
    _, vectors = np.linalg.eigh((centered * weights[:, None]).T @ centered)
    first = vectors[:, -1]
    upper = centered @ (first * np.sign(first[np.argmax(np.abs(first))])) >= 0
    return upper if upper.any() and not upper.all() else None


@dataclass(frozen=True)
class GaussianSplit:
    """Finds the division of the rows by a normal distribution per class.

    Parameters
    ----------
    impurity : Impurity
    rule : {"posterior", "distance"}
        By  log prior - 1/2 log det C - 1/2 (x - m)' C^-1 (x - m),  or by the last term alone.
    shrinkage : float
        Share of the node's own variances in every class covariance.
    least : LeastBranch
    """

    impurity: Impurity
    rule: str
    shrinkage: float
    least: LeastBranch

    def __call__(self, pool: Pool, rng: np.random.Generator) -> Candidate | None:
        points = pool.rows[pool.places]
        node_variance = covariance(points, pool.weights, pool.counts)[1].diagonal()
        clouds = []
        for k in np.unique(pool.y):
            mine = pool.y == k
            cloud = self._cloud(points[mine], pool.weights[mine], pool.counts[mine], node_variance)
            if cloud is None:
                return None
            clouds.append(cloud)
        priors = np.bincount(pool.y, pool.weights)
        priors = priors[priors > 0] / priors.sum()
        offsets = np.zeros(len(clouds))
        if self.rule == "posterior":
            offsets = np.log(priors) + np.array([cloud.log_scale for cloud in clouds])
        question = make_question(
            GAUSSIAN,
            means=np.array([cloud.mean for cloud in clouds]),
            whiteners=np.array([cloud.whitener for cloud in clouds]),
            offsets=offsets,
            width=points.shape[1],
        )
        candidate = measured(pool, question, self.impurity, self.least)
        if candidate is not None:
            missing = len(clouds) - len(candidate.branch_weights)
            candidate.branch_weights = np.append(candidate.branch_weights, np.zeros(missing))
        return candidate

    def _cloud(self, points, weights, counts, node_variance) -> Cloud | None:
        """Mean, whitener and log of the density's scale; None where the covariance is singular."""
        mean, own = covariance(points, weights, counts)
        shrunk = (1 - self.shrinkage) * own + self.shrinkage * np.diag(node_variance)
        varies = node_variance > 0
        used = shrunk[np.ix_(varies, varies)]
        lengths = np.sqrt(node_variance[varies])
        values, vectors = np.linalg.eigh(used / np.outer(lengths, lengths))
        if not len(values) or values[0] <= ROUNDING * values[-1]:
            return None
        whitener = np.zeros(own.shape)
        whitener[np.ix_(varies, varies)] = vectors / np.sqrt(values) / lengths[:, None]
        return Cloud(mean, whitener, float(-0.5 * np.log(values).sum()))


@dataclass
class Cloud:
    mean: np.ndarray
    whitener: np.ndarray
    log_scale: float


def covariance(
    points: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean, and covariance with divisor n - 1 (n the number of rows); zero for a single row."""
    shares = weights / weights.sum()
    mean = shares @ points
    centered = points - mean
    n = counts.sum()
    second = (centered * shares[:, None]).T @ centered
    return mean, second * n / (n - 1) if n > 1 else np.zeros_like(second)
