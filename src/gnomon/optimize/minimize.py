"""`minimize`: one face of all optimizers, with budgets, callbacks, resuming and one trace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.optimize.optimizer import (
    Answer,
    Failed,
    Optimizer,
    Request,
    fresh_seed,
    method_named,
    record,
)
from gnomon.optimize.space import INFEASIBLE, Point, Space, as_space
from gnomon.optimize.trace import Trace, recorded

ON_ERROR = ("raise", "skip")
SMALL_DIMENSION = 20  # columns up to which CMA-ES is preferred to differential evolution


class _BudgetUsed(Exception):
    """The budget ends within a request."""


def minimize(
    fun: Callable[..., Any],
    space: Any,
    method: str | Optimizer = "auto",
    *,
    x0: Any = None,
    jac: Callable[[np.ndarray], Any] | bool | None = None,
    hess: Callable[[np.ndarray], Any] | None = None,
    constraints: Sequence[Any] = (),
    max_evaluations: int | None = 1000,
    max_seconds: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = 1,
    callback: Callable[..., Any] | None = None,
    on_error: str = "raise",
    vectorized: bool = False,
    resume: Trace | str | Path | None = None,
    trace_file: str | Path | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """Minimize a function over a space, by any method of this package.

    Parameters
    ----------
    fun : callable
        Function of a point: an array for spaces of numbers, otherwise see `Space`. With
        ``jac=True``, it returns (value, gradient). Methods that look at all neighbors of a point
        ask its ``neighbor_values(point)`` where it has that (see `QuadraticAssignment`).
    space : Space, dimensions, bounds, or array
        What varies. A plain array of numbers is a start, as in SciPy: the space is then all real
        vectors.
    method : str or Optimizer, default="auto"
        A name of `method_names`, or an optimizer. "auto" chooses by the space and what the function
        gives; `suggest` says why.
    x0 : object, default=None
        A start.
    jac : callable or True, default=None
        The gradient; methods that need it take central differences otherwise.
    hess : callable, default=None
        The Hessian.
    constraints : sequence, default=()
        See `Space`. A point that breaks them is not evaluated; it counts as worse than every
        allowed point, and the less the violation, the better.
    max_evaluations : int or None, default=1000
    max_seconds : float, default=None
        Ends the search after the evaluation during which the time runs out.
    target : float, default=None
        Stop at a value at most this.
    patience : int, default=None
        Stop after so many evaluations without a better value.
    random_state : int, default=None
        Seed; the same seed gives the same result for any ``n_jobs``.
    n_jobs : int or None, default=1
        Threads that evaluate the points of one request.
    callback : callable, default=None
        Called as ``callback(intermediate_result)`` after each request, with ``x``, ``fun`` and
        ``nfev``; raising StopIteration or returning True stops the search.
    on_error : {"raise", "skip"}, default="raise"
        What to do when the function raises or gives NaN: stop with an error that names the point,
        or record it, count it as infinite and go on.
    vectorized : bool, default=False
        The function takes a list of points (for spaces of numbers a matrix, one point per row) and
        returns their values.
    resume : Trace, str or Path, default=None
        A trace of an earlier run of the same search: its evaluations are not repeated.
    trace_file : str or Path, default=None
        A file that gets every evaluation at once, as lines of JSON.
    options : dict, default=None
        Parameters of the method, where it is given by name.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        With ``x``, ``fun``, ``nit``, ``nfev``, ``njev``, ``nhev``, ``success``, ``message``,
        ``method`` and ``history``, the `Trace`.

    Examples
    --------
    >>> found = minimize(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-5, 5), (-5, 5)], random_state=0)
    >>> bool(found.fun < 1e-8)
    True
    >>> minimize(lambda x: x @ x, [3.0, 4.0], "bfgs", jac=lambda x: 2 * x).x.round(6).tolist()
    [0.0, 0.0]
    """
    if on_error not in ON_ERROR:
        raise DataError(f"on_error is one of {ON_ERROR}, not {on_error!r}")
    where, start = _space_and_start(space, x0, constraints)
    chosen = _optimizer(method, where, jac, hess, start, options, max_evaluations)
    earlier = None if resume is None else recorded(resume)
    if earlier is not None and random_state is None:
        random_state = earlier.random_state
    seed = fresh_seed() if random_state is None else int(random_state)
    derivatives = (["gradient"] if jac else []) + (["hessian"] if jac and hess else [])
    chosen.start(where, x0=start, random_state=seed, derivatives=derivatives)
    evaluate = _Evaluator(fun, jac, hess, where, n_jobs, on_error, vectorized, chosen.trace)
    driver = _Driver(
        chosen, evaluate, max_evaluations, max_seconds, target, patience, callback, earlier
    )
    if trace_file is None:
        return driver.drive(lambda: None)
    with Path(trace_file).open("w", encoding="utf-8") as file:
        file.write(chosen.trace.header())
        written = 0

        def write() -> None:
            nonlocal written
            for number in range(written, len(chosen.trace)):
                file.write(chosen.trace.line(number))
            written = len(chosen.trace)
            file.flush()

        return driver.drive(write)


def _space_and_start(space: Any, x0: Any, constraints: Sequence[Any]) -> tuple[Space, Any]:
    is_start = isinstance(space, np.ndarray) and space.ndim < 2
    if isinstance(space, Sequence) and space:
        is_start = all(isinstance(each, int | float | np.number) for each in space)
    if is_start:
        if x0 is not None:
            raise DataError("the second argument is a start already; give bounds there, or no x0")
        x0 = np.atleast_1d(np.asarray(space, dtype=float))
        space = [(-np.inf, np.inf)] * len(x0)
    where = as_space(space, constraints)
    return where, None if x0 is None else where.checked(x0)


def _optimizer(
    method: Any,
    space: Space,
    jac: Any,
    hess: Any,
    x0: Any,
    options: dict[str, Any] | None,
    max_evaluations: int | None,
) -> Optimizer:
    if isinstance(method, Optimizer):
        if options:
            raise DataError("options are for methods given by name; set them on the optimizer")
        return method
    if method == "auto":
        method = suggest(space, jac=bool(jac), hess=bool(hess), max_evaluations=max_evaluations)[0]
    cls = method_named(method)
    try:
        return cls(**(options or {}))
    except TypeError as error:
        raise DataError(f"options of {cls.name}: {error}") from None


def suggest(
    space: Any,
    *,
    jac: bool = False,
    hess: bool = False,
    max_evaluations: int | None = 1000,
    convex: bool | None = None,
) -> tuple[str, str]:
    """The method that fits a space and what the function gives, and why.

    Parameters
    ----------
    space : Space, dimensions or bounds
    jac, hess : bool, default=False
        Whether the function gives a gradient, a Hessian.
    max_evaluations : int or None, default=1000
    convex : bool, default=None
        Whether the function is known to be convex.

    Returns
    -------
    name, why : str

    Examples
    --------
    >>> from gnomon.optimize import Permutation
    >>> suggest(Permutation(12))[0]
    'reactive-tabu-search'
    """
    where = as_space(space)
    if where.is_single and hasattr(where.dimensions[0], "steps"):
        return "reactive-tabu-search", "one order, subset or bit string: local search with memory"
    if not where.is_real:
        return "evolution", "a mixed space: crossover and mutation know every kind of value"
    if hess and not where.constraints and not np.isfinite([where.low, where.high]).any():
        return "newton", "the Hessian is given: damped Newton converges quadratically"
    if (jac or not where.bounded) and not where.constraints:
        what = "a gradient is given" if jac else "no bounds to sample within"
        return "l-bfgs", f"{what}: quasi-Newton converges superlinearly in little memory"
    if convex and not where.constraints:
        return "l-bfgs", "convex and smooth: the local minimum is the global one"
    if not where.bounded:
        return "nelder-mead", "no gradient and no bounds: a simplex needs only values"
    if max_evaluations is not None and max_evaluations < 10 * where.size:
        return "nelder-mead", "very few evaluations for the number of columns: a local search"
    if where.size > SMALL_DIMENSION and max_evaluations and max_evaluations < 100 * where.size:
        return "affine-shaker", "many columns and few evaluations: a cheap local search"
    return "cma-es", "bounded real numbers without gradient: learns scales and correlations"


class _Evaluator:
    """Values of points, with constraints, errors and threads."""

    def __init__(
        self,
        fun: Callable[..., Any],
        jac: Any,
        hess: Any,
        space: Space,
        n_jobs: int | None,
        on_error: str,
        vectorized: bool,
        trace: Trace,
    ):
        self.fun, self.jac, self.hess, self.space = fun, jac, hess, space
        self.n_jobs = 1 if n_jobs == 1 else resolve_jobs(n_jobs)
        self.on_error, self.vectorized, self.trace = on_error, vectorized, trace
        self.n_jac = self.n_hess = 0
        constrained = bool(space.constraints)
        self.of_neighbors = None if constrained else getattr(fun, "neighbor_values", None)

    def __call__(self, request: Request, count: int) -> list[tuple[Any, ...]]:
        """The first ``count`` points of a request: (value,), (value, gradient) and so on."""
        points = request.points[:count]
        together = self.at_once(request, count)
        if together is not None:
            return [(each,) for each in together.tolist()]
        begun = len(self.trace)
        numbered = list(enumerate(points, begun))

        def one(item: tuple[int, Point]) -> tuple[Any, ...]:
            return self._one(item[1], request, item[0])

        if self.n_jobs == 1 or len(points) == 1:
            found = [one(item) for item in numbered]
        else:
            found = list(in_order(one, numbered, self.n_jobs))
        if request.want != "value":
            self.n_jac += len(found)
        if request.want == "hessian":
            self.n_hess += len(found)
        return found

    def at_once(self, request: Request, count: int) -> np.ndarray | None:
        """Values of the first ``count`` points where one call gives all; None where none does."""
        if self.of_neighbors is not None and request.center is not None:
            left = self.of_neighbors(request.center)[-len(request.points) :]  # not those replayed
            return left[:count]
        if request.want == "value" and self.vectorized:
            return self._together(request.points[:count])
        return None

    def _one(self, point: Point, request: Request, number: int) -> tuple[Any, ...]:
        if self.space.constraints:
            violation = self.space.violation(point)
            if violation > 0:
                return self._infeasible(point, violation, request.want)
        arguments = (point,) if request.resource is None else (point, request.resource)
        try:
            found = self.fun(*arguments)
            if request.want == "value":
                value = found[0] if self.jac is True else found
                return (self._number(value, point, number),)
            if self.jac is True:
                value, gradient = found
            else:
                value, gradient = found, self.jac(point)
            slope = np.asarray(gradient, dtype=float)
            entry: tuple[Any, ...] = (self._number(value, point, number), slope)
            if entry[1].shape != np.shape(point) or not np.isfinite(entry[1]).all():
                raise DataError(
                    f"the gradient at {point!r} is {entry[1]!r}: it must be finite and have the "
                    "shape of the point"
                )
            if request.want == "hessian":
                entry += (np.asarray(self.hess(point), dtype=float),)
            return entry
        except DataError:
            raise
        except StopIteration:
            raise
        except Exception as error:
            if self.on_error == "raise" or request.want != "value":
                raise DataError(
                    f"the function raised {type(error).__name__} ({error}) in evaluation "
                    f"{number + 1} at {point!r}; on_error='skip' goes on without it"
                ) from error
            self.trace.failures.append((number, f"{type(error).__name__}: {error}"))
            return (math.inf,)

    def _infeasible(self, point: Point, violation: float, want: str) -> tuple[Any, ...]:
        if want != "value":
            raise DataError(
                f"a gradient was wanted at {point!r}, which breaks the constraints by "
                f"{violation:.3g}; use 'interior-point' or a method without gradients"
            )
        return (INFEASIBLE * (1.0 + violation),)

    def _number(self, found: Any, point: Point, number: int) -> float:
        value = float(found)
        if value == value:
            return value
        if self.on_error == "raise":
            raise DataError(
                f"the function gave NaN in evaluation {number + 1} at {point!r}; on_error='skip' "
                "counts it as infinite"
            )
        self.trace.failures.append((number, "NaN"))
        return math.inf

    def _together(self, points: list[Point]) -> np.ndarray:
        over = np.zeros(len(points))
        if self.space.constraints:
            over = np.array([self.space.violation(each) for each in points])
        allowed = points if not over.any() else [p for p, v in zip(points, over) if v == 0]
        values = INFEASIBLE * (1.0 + over)
        if allowed:
            single = self.space.is_numeric or self.space.is_single
            found = np.asarray(self.fun(np.array(allowed) if single else allowed), dtype=float)
            if found.shape != (len(allowed),):
                raise DataError(
                    f"a vectorized function of {len(allowed)} points must return as many values, "
                    f"and gave shape {found.shape}"
                )
            values[over == 0] = found
        for place in np.flatnonzero(np.isnan(values)):
            values[place] = self._number(np.nan, points[place], len(self.trace) + int(place))
        return values


class _Driver:
    """The loop of a search: requests to values, until a budget, a target or the end."""

    def __init__(
        self,
        optimizer: Optimizer,
        evaluate: _Evaluator,
        max_evaluations: int | None,
        max_seconds: float | None,
        target: float | None,
        patience: int | None,
        callback: Callable[..., Any] | None,
        earlier: Any,
    ):
        if max_evaluations is None and max_seconds is None and optimizer.open_ended:
            raise DataError(f"{optimizer.name} has no end of its own: give a budget")
        if max_evaluations is not None and max_evaluations < 1:
            raise DataError(f"max_evaluations must be at least 1, not {max_evaluations}")
        self.optimizer, self.evaluate, self.trace = optimizer, evaluate, optimizer.trace
        self.max_evaluations = math.inf if max_evaluations is None else max_evaluations
        self.max_seconds, self.target, self.patience = max_seconds, target, patience
        self.callback, self.earlier, self.replayed = callback, earlier, 0
        self.begin = time.perf_counter()
        self.best, self.best_at, self.most = math.inf, 0, -math.inf

    def drive(self, write: Callable[[], None]) -> OptimizeResult:
        request, message, success = self.optimizer.request, "", False
        with np.errstate(over="ignore", invalid="ignore"):
            while request is not None:
                reason = self._stop()
                if reason:
                    message, success = reason
                    break
                try:
                    answer = self._answer(request)
                except _BudgetUsed:
                    write()
                    continue
                write()
                if self._called():
                    message = "stopped by the callback"
                    break
                request = self.optimizer.answered(answer)
        if request is None:
            message = str(self.optimizer.ended)
            success = not isinstance(self.optimizer.ended, Failed)
        self.trace.seconds = time.perf_counter() - self.begin
        return self._result(message, success)

    def _stop(self) -> tuple[str, bool] | None:
        done = len(self.trace)
        if self.target is not None and self.best <= self.target:
            return f"reached the target {self.target:g}", True
        if self.best == -math.inf:
            return "the function is unbounded: it gave -inf", False
        if done >= self.max_evaluations:
            return f"used the budget of {done} evaluations", self.optimizer.open_ended
        if self.max_seconds is not None and time.perf_counter() - self.begin > self.max_seconds:
            return f"used the budget of {self.max_seconds:g} s", self.optimizer.open_ended
        if self.patience is not None and done - self.best_at >= self.patience:
            return f"no better value in {self.patience} evaluations", True
        return None

    def _answer(self, request: Request) -> Answer:
        count = len(request.points)
        left = self.max_evaluations - len(self.trace)
        if self.earlier is None and request.resource is None and count <= left:
            together = self.evaluate.at_once(request, count)
            if together is not None:  # a step of tabu search: 0.09 instead of 0.12 ms
                self._enter_values(request.points, together.tolist())
                return Answer(together)
        entries = self._replay(request)
        left = self.max_evaluations - len(self.trace)
        new = min(count - len(entries), int(min(left, count)))
        if new > 0:
            rest = request._replace(points=request.points[len(entries) :])
            found = self.evaluate(rest, new)
            if request.want == "value" and request.resource is None:
                self._enter_values(rest.points[:new], [entry[0] for entry in found])
            else:
                for point, entry in zip(rest.points, found):
                    self._enter(point, entry, request.resource)
            entries += found
        if len(entries) < count:
            raise _BudgetUsed
        columns = list(zip(*entries, strict=True))
        return Answer(
            np.array(columns[0]),
            list(columns[1]) if len(columns) > 1 else None,
            list(columns[2]) if len(columns) > 2 else None,
        )

    def _enter_values(self, points: list[Point], values: list[float]) -> None:
        """Enter several values at once, which is three times faster than one by one."""
        least = min(values)
        if least < self.best:
            self.best, self.best_at = least, len(self.trace) + values.index(least) + 1
        self.trace.points += points
        self.trace.values += values

    def _enter(self, point: Point, entry: tuple[Any, ...], resource: float | None) -> None:
        if resource is not None:
            self.trace.resources[len(self.trace)] = resource
            if resource > self.most:  # values of smaller resources are not comparable
                self.most, self.best = resource, math.inf
            elif resource < self.most:
                record(self.trace, point, *entry)
                return
        record(self.trace, point, *entry)
        if entry[0] < self.best:
            self.best, self.best_at = entry[0], len(self.trace)

    def _replay(self, request: Request) -> list[tuple[Any, ...]]:
        """What the trace of an earlier run says of the points of a request."""
        entries: list[tuple[Any, ...]] = []
        if self.earlier is None:
            return entries
        space = self.trace.space
        for point in request.points:
            if self.replayed >= len(self.earlier.entries):
                break
            stored = self.earlier.entries[self.replayed]
            if stored["x"] != space.plain(point):
                raise DataError(
                    f"evaluation {self.replayed + 1} of the trace is at {stored['x']}, and this "
                    f"search asks for {space.plain(point)}: resume with the same space, method, "
                    "options, start and random_state"
                )
            entry: tuple[Any, ...] = (float(stored["fun"]),)
            if request.want != "value":
                entry += (np.array(stored["jac"], dtype=float),)
            if request.want == "hessian":
                entry += (np.array(stored["hess"], dtype=float),)
            self.replayed += 1
            self._enter(point, entry, request.resource)
            entries.append(entry)
        return entries

    def _called(self) -> bool:
        if self.callback is None or not self.trace.values:
            return False
        best = max(self.best_at - 1, 0)
        seen = OptimizeResult(
            x=self.trace.points[best], fun=self.trace.values[best], nfev=len(self.trace)
        )
        try:
            return bool(self.callback(seen))
        except StopIteration:
            return True

    def _result(self, message: str, success: bool) -> OptimizeResult:
        trace, run = self.trace, self.optimizer.run
        if not trace.values:
            raise DataError("nothing was evaluated: the budget is too small")
        best = trace.best_index
        if trace.values[best] >= INFEASIBLE and trace.space.constraints:
            message, success = f"no point that keeps the constraints was found; {message}", False
        if trace.values[best] == math.inf:
            message, success = f"every evaluation failed or was infinite; {message}", False
        return OptimizeResult(
            x=trace.points[best],
            fun=trace.values[best],
            nit=run.n_iter,
            nfev=len(trace),
            njev=self.evaluate.n_jac,
            nhev=self.evaluate.n_hess,
            success=success,
            message=message,
            method=self.optimizer.name,
            history=trace,
        )
