"""The space of a search: what may vary, between which bounds, under which constraints.

A dimension is a number (`Real`, `Integer`), one of several values (`Categorical`), an order
(`Permutation`), a choice of items (`Subset`) or a bit string (`Bits`). Every dimension has three
views, so that every optimizer works on every space: values as the function is given them, single
steps to neighbors, and coordinates in a unit cube. Categories, orders and subsets have one
coordinate per item there (the largest, the ranks, the largest few), which is the random-key code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gnomon.engine.errors import DataError

MOST_DRAWS = 10_000  # random points tried before a space counts as empty under its constraints
INFEASIBLE = 1e100  # value of a point that breaks constraints, times 1 + its violation
NEIGHBOR_SHARE = 0.05  # step to a neighbor of a real number without steps, as a share of its range

Point = Any


class Dimension:
    """One thing that may vary; see `Real`, `Integer`, `Categorical` and so on."""

    size: int = 1

    def sample(self, rng: np.random.Generator) -> Any:
        """A value drawn uniformly."""
        return self.from_unit(rng.random(self.size))

    def neighbors(self, value: Any) -> list[Any]:
        """The values one step away."""
        raise NotImplementedError

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> Any:
        """A random value near one; ``scale`` is a share of the range for numbers."""
        near = self.neighbors(value)
        return near[rng.integers(len(near))] if near else value

    def to_unit(self, value: Any) -> np.ndarray:
        """Coordinates in the unit cube."""
        raise NotImplementedError

    def from_unit(self, unit: np.ndarray) -> Any:
        """The value that coordinates stand for."""
        raise NotImplementedError

    def values(self, count: int) -> list[Any]:
        """All values, or ``count`` evenly spread ones of a real number."""
        raise NotImplementedError

    def plain(self, value: Any) -> Any:
        """The value as plain data, for files."""
        return np.asarray(value).tolist()

    def restored(self, value: Any) -> Any:
        """The value from plain data."""
        return value

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class Real(Dimension):
    """A real number between two bounds.

    Parameters
    ----------
    low, high : float
        Bounds; infinite ones are for methods that start from a point.
    log : bool, default=False
        Search on a logarithmic scale.
    step : float, default=None
        Only low, low + step, low + 2 step and so on.

    Examples
    --------
    >>> Real(1e-3, 1e3, log=True).from_unit(np.array([0.5]))
    1.0
    """

    def __init__(
        self,
        low: float = -np.inf,
        high: float = np.inf,
        *,
        log: bool = False,
        step: float | None = None,
    ):
        self.low, self.high, self.log, self.step = float(low), float(high), log, step
        if not self.low <= self.high:
            raise DataError(f"the range {low} to {high} is empty: low must not be above high")
        if log and self.low <= 0:
            raise DataError(f"a logarithmic scale needs low > 0, not {low}")
        if step is not None and not step > 0:
            raise DataError(f"step must be above 0, not {step}")

    @property
    def bounded(self) -> bool:
        """Whether both bounds are finite."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    def _scaled(self) -> tuple[float, float]:
        if not self.bounded:
            raise DataError(
                f"{self!r} has no finite bounds; give low and high, or use a method that starts "
                "from x0 (such as 'l-bfgs')"
            )
        return (np.log(self.low), np.log(self.high)) if self.log else (self.low, self.high)

    def to_unit(self, value: Any) -> np.ndarray:
        low, high = self._scaled()
        at = np.log(value) if self.log else float(value)
        return np.array([(at - low) / (high - low) if high > low else 0.5])

    def from_unit(self, unit: np.ndarray) -> float:
        low, high = self._scaled()
        share = float(unit[0])
        if share <= 0 or share >= 1:
            return self.on_step(self.low if share <= 0 else self.high)
        value = low + share * (high - low)
        return self.on_step(float(np.exp(value)) if self.log else value)

    def on_step(self, value: float) -> float:
        """The nearest allowed value."""
        if self.step is not None:
            value = self.low + round((value - self.low) / self.step) * self.step
            if value > self.high:
                value -= self.step
        return min(max(value, self.low), self.high)

    def neighbors(self, value: Any) -> list[float]:
        if self.step is not None:
            near = [self.on_step(value - self.step), self.on_step(value + self.step)]
        else:
            at = self.to_unit(value)
            near = [self.from_unit(at - NEIGHBOR_SHARE), self.from_unit(at + NEIGHBOR_SHARE)]
        return [each for each in near if each != value]

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> float:
        moved = self.from_unit(reflected(self.to_unit(value) + scale * rng.normal(size=1)))
        if moved == value and self.step is not None:
            return super().neighbor(value, rng, scale)
        return moved

    def values(self, count: int) -> list[float]:
        if self.step is not None:
            n = int(np.floor((self.high - self.low) / self.step + 1e-9)) + 1
            return [self.low + k * self.step for k in range(n)]
        return [self.from_unit(np.array([share])) for share in np.linspace(0, 1, count)]


class Integer(Dimension):
    """A whole number between two bounds, both allowed.

    Parameters
    ----------
    low, high : int
    log : bool, default=False
        Search on a logarithmic scale.
    step : int, default=1

    Examples
    --------
    >>> Integer(1, 5).neighbors(1)
    [2]
    """

    def __init__(self, low: int, high: int, *, log: bool = False, step: int = 1):
        if int(low) != low or int(high) != high or int(step) != step:
            raise DataError(f"bounds and step of an Integer are whole numbers: {low}, {high}")
        if low > high:
            raise DataError(f"the range {low} to {high} is empty: low must not be above high")
        if log and low <= 0:
            raise DataError(f"a logarithmic scale needs low > 0, not {low}")
        if step < 1:
            raise DataError(f"step must be at least 1, not {step}")
        self.low, self.high, self.log, self.step = int(low), int(high), log, int(step)

    @property
    def bounded(self) -> bool:
        """Always."""
        return True

    def _scaled(self) -> tuple[float, float]:
        # half a step beyond both ends, so that all values are equally likely
        low, high = self.low - 0.5 * self.step, self.high + 0.5 * self.step
        return (np.log(max(low, 0.5)), np.log(high)) if self.log else (low, high)

    def to_unit(self, value: Any) -> np.ndarray:
        low, high = self._scaled()
        at = np.log(value) if self.log else float(value)
        return np.array([(at - low) / (high - low)])

    def from_unit(self, unit: np.ndarray) -> int:
        low, high = self._scaled()
        at = low + min(max(float(unit[0]), 0.0), 1.0) * (high - low)
        return self.on_step(float(np.exp(at)) if self.log else at)

    def on_step(self, value: float) -> int:
        """The nearest allowed value."""
        n = (self.high - self.low) // self.step
        return self.low + min(max(round((value - self.low) / self.step), 0), n) * self.step

    def neighbors(self, value: Any) -> list[int]:
        near = (value - self.step, value + self.step)
        return [int(each) for each in near if self.low <= each <= self.high]

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> int:
        moved = self.from_unit(reflected(self.to_unit(value) + scale * rng.normal(size=1)))
        return moved if moved != value else super().neighbor(value, rng, scale)

    def values(self, count: int) -> list[int]:
        return list(range(self.low, self.high + 1, self.step))


class Categorical(Dimension):
    """One of several values without an order.

    Parameters
    ----------
    values : sequence
        At least one; all different.

    Examples
    --------
    >>> Categorical(["rbf", "linear"]).neighbors("rbf")
    ['linear']
    """

    def __init__(self, values: Sequence[Any]):
        self.categories = list(values)
        if not self.categories:
            raise DataError("a Categorical needs at least one value")
        if len({repr(each) for each in self.categories}) < len(self.categories):
            raise DataError(f"a Categorical has each value once: {self.categories}")
        self.size = len(self.categories)

    def index(self, value: Any) -> int:
        """The place of a value in the list."""
        for place, each in enumerate(self.categories):
            if each is value or (type(each) is type(value) and each == value):
                return place
        try:
            return self.categories.index(value)
        except ValueError:
            raise DataError(f"{value!r} is not among the values {self.categories}") from None

    def neighbors(self, value: Any) -> list[Any]:
        place = self.index(value)
        return [each for k, each in enumerate(self.categories) if k != place]

    def to_unit(self, value: Any) -> np.ndarray:
        unit = np.full(self.size, 0.25)
        unit[self.index(value)] = 0.75
        return unit

    def from_unit(self, unit: np.ndarray) -> Any:
        return self.categories[int(np.argmax(unit))]

    def values(self, count: int) -> list[Any]:
        return list(self.categories)

    def plain(self, value: Any) -> int:
        return self.index(value)

    def restored(self, value: Any) -> Any:
        return self.categories[value]

    def __repr__(self) -> str:
        return f"Categorical({self.categories!r})"


class Permutation(Dimension):
    """An order of the numbers 0 to n - 1; neighbors have two places swapped.

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> len(Permutation(4).neighbors(np.arange(4)))
    6
    """

    def __init__(self, n: int):
        self.size = _whole("n of a Permutation", n)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return rng.permutation(self.size)

    @property
    def n_attributes(self) -> int:
        """Pairs of a place and an item."""
        return self.size**2

    def steps(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The orders one step away, one per row, and the attributes that each sets and removes."""
        i, j = self._pairs
        moved = np.repeat(np.asarray(value)[None], len(i), axis=0)
        rows = np.arange(len(i))
        first, second = value[i], value[j]
        moved[rows, i], moved[rows, j] = second, first
        i, j = i * self.size, j * self.size
        return moved, np.stack([i + second, j + first], 1), np.stack([i + first, j + second], 1)

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, ...]:
        return np.triu_indices(self.size, 1)

    def neighbors(self, value: Any) -> list[np.ndarray]:
        return list(self.steps(np.asarray(value))[0])

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> np.ndarray:
        swapped = np.array(value)
        if self.size > 1:
            i, j = rng.choice(self.size, 2, replace=False)
            swapped[i], swapped[j] = value[j], value[i]
        return swapped

    def to_unit(self, value: Any) -> np.ndarray:
        unit = np.empty(self.size)
        unit[np.asarray(value)] = (np.arange(self.size) + 0.5) / self.size
        return unit

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        return np.argsort(unit, kind="stable")

    def values(self, count: int) -> list[np.ndarray]:
        from itertools import permutations

        return [np.array(each) for each in permutations(range(self.size))]

    def restored(self, value: Any) -> np.ndarray:
        return np.array(value)

    def __repr__(self) -> str:
        return f"Permutation({self.size})"


class Bits(Dimension):
    """A string of n bits, as an array of bool; neighbors differ in one bit.

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> len(Bits(5).neighbors(np.zeros(5, bool)))
    5
    """

    def __init__(self, n: int):
        self.size = _whole("n of Bits", n)

    @property
    def n_attributes(self) -> int:
        """One for each bit."""
        return self.size

    def steps(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bit strings one step away, one per row, and twice the bits that each step flips."""
        return self._flipped(value, np.arange(self.size)[:, None])

    def _flipped(
        self, value: np.ndarray, bits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        moved = np.repeat(np.asarray(value, bool)[None], len(bits), axis=0)
        moved[np.arange(len(bits))[:, None], bits] ^= True
        return moved, bits, bits

    def neighbors(self, value: Any) -> list[np.ndarray]:
        return list(self.steps(value)[0])

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> np.ndarray:
        flipped = np.array(value, bool)
        flipped[rng.integers(self.size)] ^= True
        return flipped

    def to_unit(self, value: Any) -> np.ndarray:
        return np.where(value, 0.75, 0.25)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        return np.asarray(unit) > 0.5

    def values(self, count: int) -> list[np.ndarray]:
        codes = np.arange(2**self.size)[:, None] >> np.arange(self.size)
        return list((codes & 1).astype(bool))

    def restored(self, value: Any) -> np.ndarray:
        return np.array(value, bool)


class Subset(Bits):
    """Some of n items, as an array of bool; with ``k``, exactly k of them.

    Neighbors have one item more or less; with ``k``, one item exchanged.

    Parameters
    ----------
    n : int
    k : int, default=None

    Examples
    --------
    >>> int(Subset(6, k=2).sample(np.random.default_rng(0)).sum())
    2
    """

    def __init__(self, n: int, k: int | None = None):
        super().__init__(n)
        if k is not None and not 0 < k <= n:
            raise DataError(f"a Subset of {n} items cannot have {k} of them")
        self.k = k

    def steps(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The subsets one step away, one per row, and twice the items that each step changes."""
        if self.k is None:
            return super().steps(value)
        inside, outside = np.flatnonzero(value), np.flatnonzero(~np.asarray(value, bool))
        pairs = np.stack(np.meshgrid(inside, outside, indexing="ij"), axis=-1)
        return self._flipped(value, pairs.reshape(-1, 2))

    def neighbor(self, value: Any, rng: np.random.Generator, scale: float = 0.1) -> np.ndarray:
        if self.k is None:
            return super().neighbor(value, rng, scale)
        exchanged = np.array(value, bool)
        inside, outside = np.flatnonzero(exchanged), np.flatnonzero(~exchanged)
        if len(outside):
            exchanged[[rng.choice(inside), rng.choice(outside)]] ^= True
        return exchanged

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        if self.k is None:
            return super().from_unit(unit)
        chosen = np.zeros(self.size, bool)
        chosen[np.argsort(-np.asarray(unit), kind="stable")[: self.k]] = True
        return chosen

    def values(self, count: int) -> list[np.ndarray]:
        found = super().values(count)
        return found if self.k is None else [each for each in found if each.sum() == self.k]

    def __repr__(self) -> str:
        return f"Subset(n={self.size}, k={self.k})"


class Space:
    """What a search varies: dimensions, by name or by place, and constraints.

    The function is given an array where all dimensions are numbers; the value itself where there
    is one dimension of another kind; a dict where dimensions have names; a list otherwise.

    Parameters
    ----------
    dimensions : Dimension, or sequence or dict of Dimension
        A pair (low, high) is a `Real`, a list of other values a `Categorical`.
    constraints : sequence, default=()
        ``scipy.optimize.LinearConstraint`` (of spaces of numbers), ``NonlinearConstraint``, SciPy's
        dicts with ``"type"`` and ``"fun"``, or functions of the point that are <= 0 where it is
        allowed.

    Examples
    --------
    >>> space = Space({"C": Real(0.01, 100, log=True), "kernel": ["rbf", "linear"]})
    >>> space.decode(np.array([0.0, 0.2, 0.9]))
    {'C': 0.01, 'kernel': 'linear'}
    >>> Space([(0, 1), (0, 1)], constraints=[lambda x: x.sum() - 1]).violation(np.array([1.0, 0.5]))
    0.5
    """

    def __init__(self, dimensions: Any, constraints: Sequence[Any] = ()):
        self.names: list[str] | None = None
        if isinstance(dimensions, Mapping):
            self.names, dimensions = list(dimensions), list(dimensions.values())
        single = isinstance(dimensions, Dimension)
        self.dimensions: list[Any] = [
            _dimension(each) for each in ([dimensions] if single else dimensions)
        ]
        if not self.dimensions:
            raise DataError("the space is empty: give at least one dimension")
        numbers = all(isinstance(each, Real | Integer) for each in self.dimensions)
        self.is_numeric = numbers and self.names is None
        self.is_real = self.is_numeric and all(
            isinstance(each, Real) and each.step is None for each in self.dimensions
        )
        self.is_single = len(self.dimensions) == 1 and self.names is None and not numbers
        self.size = sum(each.size for each in self.dimensions)
        ends = np.cumsum([each.size for each in self.dimensions])
        self._parts = [slice(e - d.size, e) for e, d in zip(ends, self.dimensions, strict=True)]
        # whether every number has finite bounds
        self.bounded = all(getattr(each, "bounded", True) for each in self.dimensions)
        is_linear = self.is_real and not any(each.log for each in self.dimensions)
        self._plain = is_linear and self.bounded
        if numbers:
            self.low = np.array([float(each.low) for each in self.dimensions])
            self.high = np.array([float(each.high) for each in self.dimensions])
        given = [constraints] if not isinstance(constraints, Sequence) else constraints
        self.constraints = [_violation_of(each) for each in given]

    def values(self, point: Point) -> list[Any]:
        """The values of the dimensions, in order."""
        if self.names is not None:
            return [point[name] for name in self.names]
        if self.is_single:
            return [point]
        return list(point)

    def point(self, values: Sequence[Any]) -> Point:
        """What the function is given for values of the dimensions."""
        if self.is_numeric:
            return np.array(values, dtype=float)
        if self.names is not None:
            return dict(zip(self.names, values, strict=True))
        return values[0] if self.is_single else list(values)

    def decode(self, unit: np.ndarray) -> Point:
        """The point that coordinates in the unit cube stand for."""
        if self._plain:
            return self.low + np.clip(unit, 0.0, 1.0) * (self.high - self.low)
        pairs = zip(self.dimensions, self._parts, strict=True)
        return self.point([each.from_unit(unit[part]) for each, part in pairs])

    def decode_all(self, units: np.ndarray) -> list[Point]:
        """The points that rows of coordinates stand for; many at once cost little more than one."""
        if self._plain:
            return list(self.low + np.clip(units, 0.0, 1.0) * (self.high - self.low))
        return [self.decode(each) for each in units]

    def encode(self, point: Point) -> np.ndarray:
        """Coordinates of a point in the unit cube."""
        pairs = zip(self.dimensions, self.values(point), strict=True)
        return np.concatenate([each.to_unit(value) for each, value in pairs])

    def sample(self, rng: np.random.Generator) -> Point:
        """A random point that keeps the constraints."""
        for _ in range(MOST_DRAWS):
            if self._plain:
                found = self.low + rng.random(self.size) * (self.high - self.low)
            else:
                found = self.point([each.sample(rng) for each in self.dimensions])
            if not self.constraints or self.violation(found) == 0:
                return found
        raise DataError(
            f"none of {MOST_DRAWS:,} random points keeps the constraints: they contradict each "
            "other or the bounds, or allow too small a part; relax them or give x0"
        )

    def samples(self, rng: np.random.Generator, count: int) -> list[Point]:
        """Several random points that keep the constraints."""
        if self._plain and not self.constraints:
            return list(self.low + rng.random((count, self.size)) * (self.high - self.low))
        return [self.sample(rng) for _ in range(count)]

    def violation(self, point: Point) -> float:
        """By how much the constraints are broken, summed; 0 for an allowed point."""
        return float(sum(each(point) for each in self.constraints))

    def neighbors(self, point: Point) -> list[Point]:
        """The points that differ by one step in one dimension."""
        values = self.values(point)
        found = []
        for place, each in enumerate(self.dimensions):
            for value in each.neighbors(values[place]):
                found.append(self.point([*values[:place], value, *values[place + 1 :]]))
        return found

    def neighbor(self, point: Point, rng: np.random.Generator, scale: float = 0.1) -> Point:
        """A random point that differs in one dimension."""
        values = self.values(point)
        place = int(rng.integers(len(values)))
        values[place] = self.dimensions[place].neighbor(values[place], rng, scale)
        return self.point(values)

    def checked(self, point: Any) -> Point:
        """A point given by a user, as the function takes it, or an error that names what is wrong.

        Parameters
        ----------
        point : array-like, dict or value

        Returns
        -------
        point : object
        """
        if self.is_numeric:
            x = np.array(point, dtype=float).ravel()
            if len(x) != len(self.dimensions):
                raise DataError(f"x0 has {len(x)} numbers, the space {len(self.dimensions)}")
            if not np.isfinite(x).all():
                raise DataError("x0 must be finite")
            outside = np.flatnonzero((x < self.low) | (x > self.high))
            if len(outside):
                j = int(outside[0])
                raise DataError(
                    f"x0[{j}] = {x[j]} is outside its bounds {self.low[j]} to {self.high[j]}"
                )
            return x
        if self.names is not None and set(point) != set(self.names):
            raise DataError(f"x0 must have the names {self.names}")
        return self.point(self.values(point))

    def plain(self, point: Point) -> list[Any]:
        """A point as plain data, for files."""
        pairs = zip(self.dimensions, self.values(point), strict=True)
        return [each.plain(value) for each, value in pairs]

    def restored(self, values: Sequence[Any]) -> Point:
        """A point from plain data."""
        pairs = zip(self.dimensions, values, strict=True)
        return self.point([each.restored(value) for each, value in pairs])

    def __repr__(self) -> str:
        if self.names is None:
            return f"Space({self.dimensions!r})"
        return f"Space({dict(zip(self.names, self.dimensions, strict=True))!r})"


def as_space(given: Any, constraints: Sequence[Any] = ()) -> Space:
    """A space from what a user gives: a Space, dimensions, bounds or SciPy's ``Bounds``.

    Parameters
    ----------
    given : Space, Dimension, dict, sequence or scipy.optimize.Bounds
    constraints : sequence, default=()
        Added to those of a Space.

    Returns
    -------
    space : Space

    Examples
    --------
    >>> as_space([(0, 1), (-5, 5)]).high.tolist()
    [1.0, 5.0]
    """
    if isinstance(given, Space):
        if not constraints:
            return given
        pairs = given.dimensions
        whole = dict(zip(given.names, pairs, strict=True)) if given.names else pairs
        joined = Space(whole, constraints)
        joined.constraints = [*given.constraints, *joined.constraints]
        return joined
    if hasattr(given, "lb") and hasattr(given, "ub"):
        given = list(zip(np.ravel(given.lb), np.ravel(given.ub), strict=True))
    return Space(given, constraints)


def reflected(unit: np.ndarray) -> np.ndarray:
    """Coordinates beyond the unit cube mirrored back at its faces."""
    folded = np.mod(unit, 2.0)
    return np.where(folded > 1.0, 2.0 - folded, folded)


def _whole(name: str, value: Any) -> int:
    if int(value) != value or value < 1:
        raise DataError(f"{name} is a whole number of at least 1, not {value!r}")
    return int(value)


def _dimension(given: Any) -> Dimension:
    if isinstance(given, Dimension):
        return given
    is_pair = isinstance(given, tuple) and len(given) == 2
    if is_pair and all(isinstance(each, int | float | np.number) for each in given):
        return Real(*given)
    if isinstance(given, np.ndarray) and given.shape == (2,):
        return Real(*given.tolist())
    if isinstance(given, Iterable) and not isinstance(given, str):
        return Categorical(list(given))
    raise DataError(
        f"{given!r} is no dimension: give Real, Integer, Categorical, Permutation, Subset, Bits, "
        "a pair (low, high) or a list of values"
    )


def _violation_of(given: Any) -> Callable[[Point], float]:
    if isinstance(given, LinearConstraint):
        A = np.atleast_2d(np.asarray(given.A, dtype=float))
        return lambda point: _beyond(A @ np.asarray(point, dtype=float), given.lb, given.ub)
    if isinstance(given, NonlinearConstraint):
        return lambda point: _beyond(given.fun(point), given.lb, given.ub)
    if isinstance(given, Mapping):
        high = 0.0 if given["type"] == "eq" else np.inf
        arguments = given.get("args", ())
        return lambda point: _beyond(given["fun"](point, *arguments), 0.0, high)
    if callable(given):
        return lambda point: _beyond(given(point), -np.inf, 0.0)
    raise DataError(
        f"{given!r} is no constraint: give a LinearConstraint, a NonlinearConstraint, a dict of "
        "SciPy's form, or a function that is <= 0 where a point is allowed"
    )


def _beyond(value: ArrayLike, low: ArrayLike, high: ArrayLike) -> float:
    at = np.asarray(value, dtype=float)
    over = np.maximum(at - high, 0.0) + np.maximum(low - at, 0.0)
    return float(np.where(over > 1e-12, over, 0.0).sum())
