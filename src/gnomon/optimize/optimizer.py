"""What every optimizer stands on: `ask` for points, `tell` their values.

A method is one generator, ``_search(run)``, that reads like its description: it yields the points
that it wants evaluated and gets their values back. From that come `ask` and `tell`, evaluations in
parallel (the points of one request), the same result for any number of threads, and resuming: the
generator is run again on the values that were recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gnomon.engine.draw import GREATEST_SEED
from gnomon.engine.errors import DataError
from gnomon.optimize.derivatives import CENTRAL, SECOND
from gnomon.optimize.space import Point, Space, as_space
from gnomon.optimize.trace import Change, Trace


class Request(NamedTuple):
    """Points that a method wants evaluated.

    Attributes
    ----------
    points : list
    want : str
        ``"value"``, ``"gradient"`` (and the value) or ``"hessian"`` (and both).
    resource : float or None
        What each evaluation may spend, for functions of (x, resource).
    center : object or None
        The point whose neighbors the points are, all of them and in order: a function with
        ``neighbor_values(center)`` is asked for all at once.
    """

    points: list[Any]
    want: str = "value"
    resource: float | None = None
    center: Any = None


class Answer(NamedTuple):
    """Values of the points of a request, and derivatives where they were wanted."""

    values: np.ndarray
    gradients: list[np.ndarray] | None = None
    hessians: list[np.ndarray] | None = None


class Failed(str):
    """The reason of an end without success."""

    __slots__ = ()


Search = Generator[Request, Answer, str]
Class = TypeVar("Class", bound=type)
METHODS: dict[str, type[Optimizer]] = {}


class Run:
    """One run of an optimizer: space, start, random numbers, trace, and how to ask for values."""

    def __init__(
        self,
        space: Space,
        trace: Trace,
        x0: Point | None = None,
        derivatives: frozenset[str] = frozenset(),
    ):
        self.space = space
        self.trace = trace
        self.derivatives = derivatives
        self.rng = np.random.default_rng(trace.random_state)
        self.n_iter = 0
        self._x0 = x0

    def start(self) -> Point:
        """The given start; otherwise the middle of bounds, or a random point."""
        if self._x0 is not None:
            return self._x0
        if not self.space.bounded:
            raise DataError("a space without bounds needs a start: give x0")
        if self.space.is_real:
            middle = self.space.decode(np.full(self.space.size, 0.5))
            if self.space.violation(middle) == 0:
                return middle
        return self.space.sample(self.rng)

    def random_or_start(self) -> Point:
        """The given start; otherwise a random point."""
        return self._x0 if self._x0 is not None else self.space.sample(self.rng)

    def restarted(self, x0: Point) -> Run:
        """The same run from another start: one trace, one stream of random numbers."""
        again = Run(self.space, self.trace, x0, self.derivatives)
        again.rng = self.rng
        return again

    @property
    def x0(self) -> Point | None:
        """The given start, if any."""
        return self._x0

    def change(self, name: str, before: Any, after: Any, why: str) -> None:
        """Record what the optimizer changed about itself."""
        self.trace.changes.append(Change(len(self.trace.values), name, before, after, why))

    def moved(self, point: Point, value: float) -> None:
        """Record an accepted iterate."""
        self.n_iter += 1
        self.trace.path.append((len(self.trace.values), point, float(value)))

    def values(
        self, points: Sequence[Point], resource: float | None = None
    ) -> Generator[Request, Answer, np.ndarray]:
        """Values of points."""
        answer = yield Request(list(points), "value", resource)
        return answer.values

    def neighbor_values(
        self, center: Point, points: Sequence[Point]
    ) -> Generator[Request, Answer, np.ndarray]:
        """Values of all neighbors of a point."""
        answer = yield Request(list(points), "value", None, center)
        return answer.values

    def value(self, point: Point) -> Generator[Request, Answer, float]:
        """The value of one point."""
        answer = yield Request([point])
        return float(answer.values[0])

    def slope(self, x: np.ndarray) -> Generator[Request, Answer, tuple[float, np.ndarray]]:
        """Value and gradient; by central differences where the function gives no gradient."""
        if "gradient" in self.derivatives:
            answer = yield Request([x], "gradient")
            assert answer.gradients is not None
            return float(answer.values[0]), answer.gradients[0]
        ahead, behind = self._sides(x, CENTRAL)
        answer = yield Request([x, *ahead, *behind])
        n = len(x)
        found = answer.values
        widths = np.array([ahead[j][j] - behind[j][j] for j in range(n)])
        return float(found[0]), (found[1 : n + 1] - found[n + 1 :]) / widths

    def curvature(
        self, x: np.ndarray
    ) -> Generator[Request, Answer, tuple[float, np.ndarray, np.ndarray]]:
        """Value, gradient and Hessian; by differences where the function gives none."""
        if "hessian" in self.derivatives:
            answer = yield Request([x], "hessian")
            assert answer.gradients is not None
            assert answer.hessians is not None
            return float(answer.values[0]), answer.gradients[0], answer.hessians[0]
        value, gradient = yield from self.slope(x)
        if "gradient" in self.derivatives:
            ahead, behind = self._sides(x, CENTRAL)
            answer = yield Request([*ahead, *behind], "gradient")
            assert answer.gradients is not None
            n = len(x)
            rows = [
                (answer.gradients[j] - answer.gradients[n + j]) / (ahead[j][j] - behind[j][j])
                for j in range(n)
            ]
            hessian = np.array(rows)
            return value, gradient, (hessian + hessian.T) / 2
        hessian = yield from self._second_differences(x, value)
        return value, gradient, hessian

    def _sides(self, x: np.ndarray, step: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        widths = step * np.maximum(1.0, np.abs(x))
        ahead, behind = [], []
        for j, width in enumerate(widths):
            up, down = x.copy(), x.copy()
            up[j] = min(x[j] + width, self.space.high[j])
            down[j] = max(x[j] - width, self.space.low[j])
            ahead.append(up)
            behind.append(down)
        return ahead, behind

    def _second_differences(
        self, x: np.ndarray, value: float
    ) -> Generator[Request, Answer, np.ndarray]:
        n = len(x)
        widths = SECOND * np.maximum(1.0, np.abs(x))
        steps = np.diag(widths)
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        points = [x + s * steps[i] + t * steps[j] for i, j in pairs for s, t in SIGNS]
        values = (yield from self.values(points)).reshape(-1, 4)
        hessian = np.empty((n, n))
        for (i, j), (pp, pm, mp, mm) in zip(pairs, values, strict=True):
            hessian[i, j] = hessian[j, i] = (pp - pm - mp + mm) / (4 * widths[i] * widths[j])
        return hessian


SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # corners of a mixed second difference


class Optimizer:
    """A method of minimization with `ask` and `tell`.

    A class gives ``_search(run)``: a generator that yields a `Request` and gets an `Answer`, and
    returns the reason why it ended.
    """

    name: ClassVar[str] = ""
    texts: ClassVar[str] = ""
    # "value", "gradient" or "hessian": what it uses beside values
    uses: ClassVar[str] = "value"
    # it has no end of its own: the budget is its end
    open_ended: ClassVar[bool] = False
    # only arrays of real numbers without steps
    real_only: ClassVar[bool] = False
    _run: Run | None = None

    def start(
        self,
        space: Any,
        *,
        x0: Any = None,
        random_state: int | None = None,
        derivatives: Sequence[str] = (),
        constraints: Sequence[Any] = (),
    ) -> Optimizer:
        """Begin a run; `ask` and `tell` follow.

        Parameters
        ----------
        space : Space, dimensions or bounds
        x0 : object, default=None
        random_state : int, default=None
        derivatives : sequence of {"gradient", "hessian"}, default=()
            What `tell` will be given beside values.
        constraints : sequence, default=()

        Returns
        -------
        self : Optimizer
        """
        where = as_space(space, constraints)
        self._check(where)
        seed = fresh_seed() if random_state is None else int(random_state)
        start = None if x0 is None else where.checked(x0)
        self._run = Run(where, Trace(self.name, seed, where), start, frozenset(derivatives))
        self._generator = self._search(self._run)
        self._ended: str | None = None
        self._next(None)
        return self

    def _check(self, space: Space) -> None:
        if self.real_only and not space.is_real:
            raise DataError(
                f"{self.name} is for real numbers without steps, and the space is {space!r}; use "
                "'evolution', 'annealing' or another method for mixed spaces"
            )

    def _search(self, run: Run) -> Search:
        raise NotImplementedError

    @property
    def run(self) -> Run:
        """The present run."""
        if self._run is None:
            raise DataError("call `start(space)` before `ask` and `tell`")
        return self._run

    @property
    def trace(self) -> Trace:
        """What has happened so far."""
        return self.run.trace

    @property
    def wants(self) -> str:
        """What the points that `ask` gives need: "value", "gradient" or "hessian"."""
        return self._request.want

    @property
    def resource(self) -> float | None:
        """What each evaluation may spend, where the method deals with that."""
        return self._request.resource

    @property
    def ended(self) -> str | None:
        """Why the method has ended; None while it goes on."""
        return self._ended

    def ask(self, n: int | None = None) -> list[Point]:
        """Points to evaluate next; they may be evaluated in parallel.

        Parameters
        ----------
        n : int, default=None
            At most so many; all that the method wants at once by default.

        Returns
        -------
        points : list
            Empty when all have been asked for and not all been told, or when the method has ended.
        """
        self.run  # noqa: B018 - an error where no run was begun
        if self._ended is not None:
            return []
        stop = len(self._request.points) if n is None else self._asked + n
        found = self._request.points[self._asked : stop]
        self._asked += len(found)
        return found

    def tell(
        self,
        points: Sequence[Point],
        values: Sequence[float],
        *,
        gradients: Sequence[Any] | None = None,
        hessians: Sequence[Any] | None = None,
    ) -> None:
        """Give the values of points that `ask` gave, in any order.

        Parameters
        ----------
        points : list
            Objects that `ask` returned.
        values : sequence of float
        gradients, hessians : sequence of array, default=None
            Where ``wants`` asked for them.
        """
        if len(points) != len(values):
            raise DataError(f"{len(points)} points and {len(values)} values were given")
        for number, point in enumerate(points):
            place = self._place(point)
            entry: tuple[Any, ...] = (float(values[number]),)
            if self._request.want != "value":
                if gradients is None:
                    raise DataError(f"{self.name} wants gradients with these values")
                entry += (np.asarray(gradients[number], dtype=float),)
            if self._request.want == "hessian":
                if hessians is None:
                    raise DataError(f"{self.name} wants Hessians with these values")
                entry += (np.asarray(hessians[number], dtype=float),)
            self._told[place] = entry
        if len(self._told) == len(self._request.points):
            self._advance()

    def _place(self, point: Point) -> int:
        for place, each in enumerate(self._request.points):
            if each is point and place not in self._told:
                return place
        raise DataError("tell got a point that `ask` did not give, or that it got before")

    def _advance(self) -> None:
        told = [self._told[k] for k in range(len(self._told))]
        trace = self.run.trace
        for point, entry in zip(self._request.points, told, strict=True):
            if self._request.resource is not None:
                trace.resources[len(trace)] = self._request.resource
            record(trace, point, *entry)
        columns = list(zip(*told, strict=True))
        answer = Answer(
            np.array(columns[0]),
            list(columns[1]) if len(columns) > 1 else None,
            list(columns[2]) if len(columns) > 2 else None,
        )
        self._next(answer)

    def _next(self, answer: Answer | None) -> None:
        self._asked = 0
        self._told: dict[int, tuple[Any, ...]] = {}
        try:
            self._request = (
                next(self._generator) if answer is None else self._generator.send(answer)
            )
        except StopIteration as end:
            self._ended = end.value
            self._request = Request([])

    def answered(self, answer: Answer) -> Request | None:
        """Go on with values that the trace holds already; the next request, None at the end."""
        self._next(answer)
        return None if self._ended is not None else self._request

    @property
    def request(self) -> Request | None:
        """The present request; None when the method has ended."""
        return None if self._ended is not None else self._request

    def __repr__(self) -> str:
        shown = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


def record(
    trace: Trace,
    point: Point,
    value: float,
    gradient: np.ndarray | None = None,
    hessian: np.ndarray | None = None,
) -> None:
    """Enter an evaluation in a trace."""
    number = len(trace.values)
    trace.points.append(point)
    trace.values.append(value)
    if gradient is not None:
        trace.gradients[number] = gradient
    if hessian is not None:
        trace.hessians[number] = hessian


def optimizer(name: str, texts: str = "", *synonyms: str) -> Callable[[Class], Class]:
    """Enter a class among the methods of `minimize`.

    Parameters
    ----------
    name : str
    texts : str
        Where the texts describe it.
    *synonyms : str

    Returns
    -------
    enter : callable
        A decorator of the class.
    """

    def enter(cls: Class) -> Class:
        cls.name, cls.texts = name, texts  # type: ignore[attr-defined]
        for each in (name, cls.__name__, *synonyms):
            METHODS[normal_name(each)] = cls  # type: ignore[assignment]
        return cls

    return enter


def normal_name(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return "".join(each for each in name.lower() if each.isalnum())


def method_names() -> list[str]:
    """The names of all methods of `minimize`.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> "cma-es" in method_names()
    True
    """
    return sorted({cls.name for cls in METHODS.values()})


def method_named(name: str) -> type[Optimizer]:
    """The class of a method by its name; other packages that have methods are loaded first.

    Parameters
    ----------
    name : str

    Returns
    -------
    cls : type
    """
    key = normal_name(name)
    if key not in METHODS:
        from gnomon.engine.registry import load_packages

        load_packages()
    if key not in METHODS:
        raise DataError(f"there is no method {name!r}; there are: {', '.join(method_names())}")
    return METHODS[key]


def fresh_seed() -> int:
    """A seed from the machine's entropy."""
    return int(np.random.SeedSequence().generate_state(1)[0] % GREATEST_SEED)
