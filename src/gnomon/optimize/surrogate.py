"""Search with a surrogate: a model of the function says where the next evaluation is worth most.

After a spread first design, a regressor that knows its uncertainty is fitted to all values. The
next point has the largest expected improvement on the best value f:
EI(x) = (f - m) Phi(z) + s phi(z), z = (f - m) / s, with the model's mean m and deviation s. Several
points at once are chosen one after the other, each taken as if its value were the model's mean.
`gnomon.bayes.BayesianOptimization` has kriging as its model.

Texts: 004 1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search
from gnomon.optimize.populations import first_population
from gnomon.optimize.space import Space, reflected

CANDIDATES = 512  # random places of a round: scoring them takes milliseconds; not tuned
ROUNDS = 4  # rounds that look closer around the best candidates
SAME = 1e-9  # in the unit cube: nearer places are one place


class SurrogateSearch(Optimizer):
    """Search by expected improvement on any regressor with ``predict(X, return_std=True)``.

    Parameters
    ----------
    surrogate : estimator
    n_initial : int, default=None
        Points of the first design; 3 more than dimensions by default.
    batch_size : int, default=1
        Points proposed at once.
    """

    open_ended = True

    def __init__(self, surrogate: Any, *, n_initial: int | None = None, batch_size: int = 1):
        if batch_size < 1:
            raise DataError(f"batch_size must be at least 1, not {batch_size}")
        self.surrogate, self.n_initial, self.batch_size = surrogate, n_initial, batch_size

    def _search(self, run: Run) -> Search:
        space = run.space
        size = self.n_initial or len(space.dimensions) + 3
        units = np.array([snapped(space, each) for each in first_population(run, size)])
        values = yield from run.values(space.decode_all(units))
        while True:
            best = int(np.argmin(values))
            run.moved(space.decode(units[best]), values[best])
            proposed, gain = self._proposals(space, units, values, run.rng)
            run.change("expected improvement", 0.0, gain, "of the proposed point, by the model")
            new = yield from run.values(space.decode_all(proposed))
            units, values = np.vstack([units, proposed]), np.concatenate([values, new])

    def _model(self, space: Space, known: np.ndarray, targets: np.ndarray) -> Any:
        """The fitted model of the values so far."""
        return clone(self.surrogate).fit(known, targets)

    def _best_place(
        self,
        model: Any,
        space: Space,
        known: np.ndarray,
        targets: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, float]:
        """The place of the largest expected improvement, and the improvement."""
        return best_improvement(model, space, known, targets, rng)

    def _proposals(
        self, space: Space, units: np.ndarray, values: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, float]:
        known, targets = units, tamed(values)
        chosen, first = [], 0.0
        for k in range(self.batch_size):
            model = self._model(space, known, targets)
            point, gain = self._best_place(model, space, known, targets, rng)
            first = gain if k == 0 else first
            chosen.append(point)
            known = np.vstack([known, point])
            targets = np.append(targets, model.predict(point[None])[0])
        return np.array(chosen), first


def tamed(values: np.ndarray) -> np.ndarray:
    """Values of mean 0 and deviation 1; infinite and far ones at the largest usual one."""
    finite = values[np.isfinite(values) & (values < 1e99)]
    if not len(finite):
        return np.zeros(len(values))
    high = np.median(finite) + 5 * max(float(np.median(finite) - finite.min()), 1e-300)
    capped = np.minimum(np.where(np.isfinite(values), values, high), high)
    spread = float(capped.std())
    return (capped - capped.mean()) / (spread if spread > 0 else 1.0)


def snapped(space: Space, unit: np.ndarray) -> np.ndarray:
    """Coordinates of the point that coordinates stand for: whole numbers and categories settle."""
    if space.is_real:
        return np.clip(unit, 0.0, 1.0)
    return space.encode(space.decode(unit))


def expected_improvement(mean: np.ndarray, std: np.ndarray, best: float) -> np.ndarray:
    """Expected improvement on the best value.

    Parameters
    ----------
    mean, std : ndarray of shape (n,)
    best : float

    Returns
    -------
    improvement : ndarray of shape (n,)

    Examples
    --------
    >>> expected_improvement(np.array([0.0]), np.array([1.0]), 0.0).round(4).tolist()
    [0.3989]
    """
    safe = np.maximum(std, 1e-12)
    z = (best - mean) / safe
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return (best - mean) * ndtr(z) + safe * density


def best_improvement(
    model: Any,
    space: Space,
    known: np.ndarray,
    targets: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """The place of the largest expected improvement: random places, then closer around the best."""
    n = known.shape[1]
    best = float(targets.min())
    center = known[int(np.argmin(targets))]
    near = center + 0.05 * rng.normal(size=(CANDIDATES // 4, n))
    places = np.vstack([rng.random((CANDIDATES, n)), reflected(near)])
    width = 0.1
    found, gain = center, -np.inf
    for _ in range(ROUNDS + 1):
        places = np.array([snapped(space, each) for each in places])
        allowed = allowed_places(space, places, known)
        if allowed.any():
            places = places[allowed]
            mean, std = model.predict(places, return_std=True)
            gains = expected_improvement(np.asarray(mean), np.asarray(std), best)
            order = np.argsort(-gains, kind="stable")
            if gains[order[0]] > gain:
                found, gain = places[order[0]], float(gains[order[0]])
            leaders = places[order[:8]]
        else:
            leaders = rng.random((8, n))
        steps = width * rng.normal(size=(8, 32, n))
        around = leaders[rng.integers(len(leaders), size=8), None] + steps
        places = reflected(around.reshape(-1, n))
        width /= 3
    if gain == -np.inf:
        found, gain = snapped(space, space.encode(space.sample(rng))), 0.0
    return found, gain


def allowed_places(space: Space, places: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Places that keep the constraints and were not evaluated before."""
    gaps = np.abs(places[:, None] - known[None]).max(axis=2).min(axis=1)
    allowed = gaps > SAME
    if space.constraints:
        allowed &= [space.violation(space.decode(each)) == 0 for each in places]
    return allowed
