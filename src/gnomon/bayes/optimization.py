"""Bayesian optimization: expected improvement on kriging.

For functions so costly that each evaluation must be planned. The model is kriging of the values so
far over the unit cube of the space, with a range per dimension (`gnomon.bayes.surface`). Its
expected improvement is maximized from the best of many random places: real numbers along its
gradient, whole numbers and categories by trying their other values, by turns.

Texts: 004 1.2 (kriging and where to sample next).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from gnomon.bayes.surface import Surface, groups_of, log_gain
from gnomon.optimize.optimizer import optimizer
from gnomon.optimize.space import Real, Space, reflected
from gnomon.optimize.surrogate import SurrogateSearch, allowed_places, snapped

CANDIDATES = 1024  # random places among which searches start; 0.01 s
NEAR = 0.05  # deviation of a quarter of them around the best point
STARTS = 6  # local searches of a proposal
MOST_TURNS = 5  # turns of real numbers and other values in one search
MOST_VALUES = 20  # values of a whole number that are all tried; of more, those nearby


@optimizer("bayesian-optimization", "004 1.2", "bo", "kriging", "gp")
class BayesianOptimization(SurrogateSearch):
    """Search by expected improvement on a kriging model; for mixed spaces too.

    Parameters
    ----------
    surrogate : estimator, default=None
        A regressor with ``predict(X, return_std=True)``, such as `Kriging`, which has one range for
        all columns. By default kriging with a Matern 5/2 covariance and a range per dimension, the
        most probable under weak priors; whole numbers and categories have theirs too.
    n_initial : int, default=None
        Points of the first design; 3 more than dimensions by default.
    batch_size : int, default=1
        Points proposed at once, for evaluation in parallel.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> search = BayesianOptimization()
    >>> found = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], search, max_evaluations=12,
    ...                  random_state=0)
    >>> bool(found.fun < 1e-3)
    True
    """

    def __init__(self, surrogate: Any = None, *, n_initial: int | None = None, batch_size: int = 1):
        super().__init__(surrogate, n_initial=n_initial, batch_size=batch_size)

    def _search(self, run: Any) -> Any:
        self._theta: np.ndarray | None = None
        return super()._search(run)

    def _model(self, space: Space, known: np.ndarray, targets: np.ndarray) -> Any:
        if self.surrogate is not None:
            return super()._model(space, known, targets)
        model = Surface(known, targets, groups_of(space), self._theta)
        self._theta = model.theta
        return model

    def _best_place(
        self,
        model: Any,
        space: Space,
        known: np.ndarray,
        targets: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, float]:
        if self.surrogate is not None:
            return super()._best_place(model, space, known, targets, rng)
        return Proposal(model, space, known, targets).best(rng)


class Proposal:
    """The search for the place of the largest expected improvement."""

    def __init__(self, model: Surface, space: Space, known: np.ndarray, targets: np.ndarray):
        self.model, self.space, self.known = model, space, known
        self.least, self.center = float(targets.min()), known[int(np.argmin(targets))]
        sizes = [each.size for each in space.dimensions]
        ends = np.cumsum(sizes)
        self.parts = [slice(e - n, e) for e, n in zip(ends, sizes, strict=True)]
        smooth = [isinstance(each, Real) and each.step is None for each in space.dimensions]
        self.smooth = np.repeat(smooth, sizes)
        self.others = [k for k, each in enumerate(smooth) if not each]

    def scores(self, places: np.ndarray) -> np.ndarray:
        """Log of the expected improvement at places; -inf where they are not allowed."""
        mean, std = self.model.predict(places, return_std=True)
        found = np.log(std) + log_gain((self.least - mean) / std)[0]
        return np.where(allowed_places(self.space, places, self.known), found, -np.inf)

    def best(self, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """The place and its expected improvement."""
        size = self.known.shape[1]
        near = reflected(self.center + NEAR * rng.normal(size=(CANDIDATES // 4, size)))
        drawn = np.vstack([rng.random((CANDIDATES, size)), near])
        places = np.array([snapped(self.space, each) for each in drawn])
        scores = self.scores(places)
        found, score = places[int(np.argmax(scores))], float(scores.max())
        if score == -np.inf:
            return snapped(self.space, self.space.encode(self.space.sample(rng))), 0.0
        for start in self._starts(places, scores, rng):
            end = self._climb(start)
            reached = float(self.scores(end[None])[0])
            if reached > score:
                found, score = end, reached
        return found, float(np.exp(score))

    def _starts(
        self, places: np.ndarray, scores: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """The best places, and others with a chance that grows with their improvement."""
        chances = np.exp(scores - scores.max())
        top = np.argsort(-scores, kind="stable")[: STARTS // 2]
        chances[top] = 0.0
        others = np.flatnonzero(chances)
        count = min(STARTS - len(top), len(others))
        if not count:
            return places[top]
        drawn = rng.choice(others, count, replace=False, p=chances[others] / chances.sum())
        return places[np.concatenate([top, drawn])]

    def _climb(self, place: np.ndarray) -> np.ndarray:
        if not self.others:
            return self._along_gradient(place)
        for _ in range(MOST_TURNS):
            moved = self._other_values(self._along_gradient(place))
            if (moved == place).all():
                break
            place = moved
        return place

    def _along_gradient(self, place: np.ndarray) -> np.ndarray:
        if not self.smooth.any():
            return place
        whole = place.copy()

        def loss(part: np.ndarray) -> tuple[float, np.ndarray]:
            whole[self.smooth] = part
            value, slope = self.model.log_improvement(whole, self.least)
            return -value, -slope[self.smooth]

        bounds = [(0.0, 1.0)] * int(self.smooth.sum())
        found = minimize(loss, place[self.smooth], jac=True, method="L-BFGS-B", bounds=bounds)
        whole[self.smooth] = found.x
        return whole

    def _other_values(self, place: np.ndarray) -> np.ndarray:
        """Each number of steps and category at the value that is best, the others fixed."""
        for k in self.others:
            dimension, part = self.space.dimensions[k], self.parts[k]
            now = dimension.from_unit(place[part])
            near = dimension.values(MOST_VALUES + 1) if hasattr(dimension, "low") else []
            if not near or len(near) > MOST_VALUES:
                near = dimension.neighbors(now)
            trials = np.repeat(place[None], len(near) + 1, axis=0)
            for trial, value in zip(trials, near):
                trial[part] = dimension.to_unit(value)
            place = trials[int(np.argmax(self.scores(trials)))]
        return place
