"""Recorded: classes of scikit-learn that loop, with the history of their steps.

scikit-learn's loops keep no record. Where the body of a loop is a function that is looked up in a
module, `replaced` puts one that reports every step in its place, for the fitting thread only.
Where it is compiled, the steps are made again after the fit, at about its cost. A solution without
steps is one step. A callback that asks to stop ends the fit: it is repeated with ``max_iter`` at
the steps that were made.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import threading
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.over_scikit_learn import OverScikitLearn, peer_before
from gnomon.engine.history import Course
from gnomon.engine.parameters import HISTORY

KEEP_HISTORY = """keep_history : {"objective", "full"}, default="objective"
    Whether ``history_`` also keeps the state after each step.
"""


class Recorded(OverScikitLearn):
    """Mixin for a class of scikit-learn that loops: adds ``keep_history`` and ``history_``.

    A method overrides `_watched`, to report steps while scikit-learn's code runs, or
    `_made_again`, to report them afterwards.
    """

    _own_parameters: ClassVar[str] = KEEP_HISTORY
    _is_watched = True
    n_iter_: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        peer = peer_before(cls)
        if peer is not None:
            cls.__init__ = with_history(peer.__init__)  # type: ignore[method-assign]
            constraints = {**cls._parameter_constraints, "keep_history": HISTORY}
            cls._parameter_constraints = constraints

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        peer = super()._fit_peer
        if fit.func.__name__ == "partial_fit":  # type: ignore[attr-defined]
            return peer(fit, rows, given)
        drawn_from = copy.deepcopy(getattr(self, "random_state", None))
        before = copy.deepcopy(self._public())  # with warm_start, the steps begin there
        steps = Steps(self)
        try:
            with self._watched(steps):
                result = peer(fit, rows, given)
            self._made_again(steps, rows, given)
        except StoppedError:
            changed = {"max_iter": steps.longest}
            if drawn_from is not None:
                changed["random_state"] = drawn_from
            for name in self._public():
                delattr(self, name)
            self.__dict__.update(before)
            with self._changed(changed):
                result = peer(fit, rows, given)
        if self.n_iter_ is None:  # a solution without iterations
            self.n_iter_ = 1
        self.history_ = steps.ended(self.n_iter_, self.max_iter)
        return result

    @contextlib.contextmanager
    def _changed(self, changed: dict[str, Any]) -> Iterator[None]:
        """With other parameters meanwhile, and without a warning that steps were few."""
        asked = {name: getattr(self, name) for name in changed}
        self.__dict__.update(changed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                yield
        finally:
            self.__dict__.update(asked)

    def _watched(self, steps: Steps) -> contextlib.AbstractContextManager[Any]:
        """Inside it, scikit-learn's code reports its steps."""
        return contextlib.nullcontext()

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """Report the steps of the fit that has ended, where it did not do so itself."""


class StoppedError(Exception):
    """A callback requested a stop."""


class Steps:
    """The steps of a fit of scikit-learn's, as they are reported."""

    def __init__(self, learner: Any) -> None:
        full = learner.keep_history == "full"
        most = learner._most_steps()
        self.learner = learner
        self.course = Course(learner, learner._during[0], "step", most, full, learner._given)
        self.running = iter(self.course)
        self.longest = 0

    def report(
        self,
        objective: float,
        state: dict[str, Any],
        attributes: dict[str, Any] | None = None,
        number: int | None = None,
    ) -> None:
        """A step was made.

        Parameters
        ----------
        objective : float
        state : dict of arrays and numbers
            What ``keep_history="full"`` keeps of the step.
        attributes : dict or None, default=None
            The attributes of an estimator that is fitted so far, for callbacks.
        number : int or None, default=None
            Which step of its loop it is, where there are several loops.
        """
        next(self.running)
        self.longest = max(self.longest, number or len(self.course.history) + 1)
        kept = {name: np.array(value) for name, value in state.items()}
        with self.learner._outside_fit() as of_table:
            stop = self.course.end_step(
                objective,
                state=lambda: kept,
                attributes=None if attributes is None else lambda: attributes | of_table,
            )
        if stop:
            raise StoppedError

    def ended(self, n_iter: Any, max_iter: int | None) -> Any:
        """The history, once all steps are made."""
        history = self.course.history
        if history.stopped != "callback":
            went_on = max_iter is not None and np.max(n_iter, initial=0) >= max_iter
            history.stopped = "max_iter" if went_on else "converged"
        return history


def with_history(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor of scikit-learn's class with the further parameter ``keep_history``."""
    signature = inspect.signature(init)
    last = inspect.Parameter("keep_history", inspect.Parameter.KEYWORD_ONLY, default="objective")

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, keep_history: str = "objective", **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.keep_history = keep_history

    parameters = [*signature.parameters.values(), last]
    __init__.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return __init__


_IN_PLACE: ContextVar[dict[tuple[Any, str], Any]] = ContextVar("_IN_PLACE")
_IN_USE: dict[tuple[Any, str], tuple[Any, int]] = {}
_LOCK = threading.Lock()


@contextlib.contextmanager
def replaced(module: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """While the block runs, this thread's calls of ``module.name`` go to the function.

    Other threads' calls go to the original, which is put back when nobody needs another.

    Parameters
    ----------
    module : module
    name : str
    function : callable
        Is called with the original as its first argument.
    """
    place = module, name
    with _LOCK:
        original, users = _IN_USE.get(place, (getattr(module, name), 0))
        _IN_USE[place] = original, users + 1
        if not users:
            setattr(module, name, functools.wraps(original)(_by_thread(place, original)))
    token = _IN_PLACE.set({**_IN_PLACE.get({}), place: functools.partial(function, original)})
    try:
        yield
    finally:
        _IN_PLACE.reset(token)
        with _LOCK:
            original, users = _IN_USE.pop(place)
            if users > 1:
                _IN_USE[place] = original, users - 1
            else:
                setattr(module, name, original)


def _by_thread(place: tuple[Any, str], original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _IN_PLACE.get({}).get(place, original)(*args, **kwargs)

    return call


def minimizing(
    told: Callable[[int, float, np.ndarray], None],
) -> contextlib.AbstractContextManager[None]:
    """Inside it, ``scipy.optimize.minimize`` tells of each of its iterations.

    Parameters
    ----------
    told : callable
        Gets the number of the iteration, from 1, the objective and the parameters after it.
    """

    def minimize(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        numbers = itertools.count(1)

        def callback(intermediate_result: optimize.OptimizeResult) -> None:
            told(next(numbers), intermediate_result.fun, intermediate_result.x)

        return original(*args, **{**kwargs, "callback": callback})

    return replaced(optimize, "minimize", minimize)
