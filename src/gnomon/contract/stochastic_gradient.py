"""StochasticGradient: what scikit-learn's linear models by stochastic gradient descent share here.

A row on which the model errs moves the coefficients: w <- w - eta (dL/dw + alpha dR/dw), one row
after the other, pass after pass. scikit-learn's code does it. Weighted or repeated rows are put in
canonical order and whole weights are written out, so that a weight is so many repetitions; other
rows are drawn as scikit-learn draws them, with its result to the bit. A pass over sparse rows gives
what one over dense rows gives (scikit-learn takes a hundredth of the intercept's steps there), but
may be the last sooner or later: the norm by which scikit-learn's code stops is that of the columns
in which the last row is not zero.
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.linear_model import _stochastic_gradient
from sklearn.linear_model._stochastic_gradient import LEARNING_RATE_TYPES, PENALTY_TYPES
from sklearn.utils.extmath import row_norms
from sklearn.utils.parallel import delayed

from gnomon.contract.recorded import Recorded, Steps, replaced
from gnomon.contract.written_out import WrittenOut, is_weighted_or_repeated
from gnomon.engine.estimator import Takes
from gnomon.engine.stored import Array, Number, Optional

# below these, scikit-learn's code multiplies the weights by their common factor
LEAST_FACTORS = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-6}
_CLASS = contextvars.ContextVar("_CLASS", default=0)  # which class is learnt against the others


class StochasticGradient(Recorded, WrittenOut):
    """Mixin that stands before a class of scikit-learn's `_stochastic_gradient`.

    A method overrides `_objective`.
    """

    natively = Takes(sparse=True)
    _largest = 1e20
    _transient: ClassVar[tuple[str, ...]] = ("_loss_function_",)  # is made from the parameters
    _stored = {
        "intercept_": Array("f", (None,)),
        "t_": Number(),
        "_standard_coef": Optional(Array("f", [("n_columns",), (None, "n_columns")])),
        "_standard_intercept": Optional(Array("f", (None,))),
        "_average_coef": Optional(Array("f", [("n_columns",), (None, "n_columns")])),
        "_average_intercept": Optional(Array("f", (None,))),
    }
    coef_: Any
    intercept_: Any
    shuffle: bool

    def _objective(self, rows: Rows, call: Call, coef: np.ndarray, intercept: float) -> float:
        """What the history records of a pass over the rows of one class against the others."""
        raise NotImplementedError

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        return self.shuffle and is_weighted_or_repeated(rows, given)

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        if getattr(self, "coef_", None) is not None:  # scikit-learn's code trusts this number
            self.n_features_in_ = self.coef_.shape[-1]
        module = _stochastic_gradient
        with (
            replaced(module, "make_dataset", with_whole_intercepts),
            replaced(module, "Parallel", in_this_context),
        ):
            return super()._fit_peer(fit, rows, given)

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        """Keep what every class against the others is learnt from, and the order of its rows."""
        self._passes: dict[int, list[Pass]] = {}
        begun: dict[int, Rows] = {}

        def make_dataset(original: Any, X: Any, y: Any, weights: Any, random_state: Any) -> Any:
            same_draws = copy.deepcopy(random_state)
            dataset, _ = original(X, y, weights, random_state=same_draws)
            begun[_CLASS.get()] = Rows(X, y, weights, dataset)
            return with_whole_intercepts(original, X, y, weights, random_state)

        def sgd_function(original: Any, input_dtype: Any) -> Callable[..., Any]:
            def sgd(*args: Any) -> Any:
                rows = begun.pop(_CLASS.get())
                before = Call._make([*map(np.array, args[:4]), *args[4:]])
                found = original(input_dtype)(*args)
                self._passes[_CLASS.get()] = self._passes_of(
                    original(input_dtype), rows, before, found
                )
                return found

            return sgd

        module = _stochastic_gradient
        try:
            with (
                replaced(module, "make_dataset", make_dataset),
                replaced(module, "_get_plain_sgd_function", sgd_function),
            ):
                yield
        except BaseException:
            del self._passes
            raise

    def _passes_of(
        self, sgd: Callable[..., Any], rows: Rows, call: Call, found: tuple[Any, ...]
    ) -> list[Pass]:
        """The planes after each pass of a fit that has ended.

        scikit-learn's code asks a function for a score after each pass where it stops early: the
        fit is made again with such a function. Where the learning rate adapts itself to a loss that
        is not seen outside, the end is all that is known.
        """
        n_passes = found[-1]
        passes: list[Pass] = []

        def keep(coef: np.ndarray, intercept: float) -> float:
            coef, intercept = np.array(coef), float(intercept)
            objective = self._objective(rows, call, coef, intercept)
            passes.append(Pass(len(passes) + 1, coef, intercept, objective))
            return float(len(passes))

        if call.learning_rate != LEARNING_RATE_TYPES["adaptive"]:
            factors = call.factors_of_weights(rows, n_passes)

            def score(coef: np.ndarray, intercept: float) -> float:
                return keep(coef * factors[len(passes)], intercept)

            again = call._replace(
                dataset=rows.dataset,
                intercept=float(call.intercept),
                average_coef=None if call.average_coef.dtype == object else call.average_coef,
                average_intercept=float(call.average_intercept),
                early_stopping=True,
                score=score,
                n_iter_no_change=n_passes + 1,
                max_iter=n_passes,
                tol=-np.inf,
                verbose=0,
            )
            sgd(*again)
            passes.pop()
        keep(*found[:2])
        return [*passes[:-1], passes[-1]._replace(number=n_passes)]

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """Each pass of all classes; a class that has ended stays as it is."""
        by_class = [passes for _, passes in sorted(self.__dict__.pop("_passes").items())]
        for number in range(max(map(len, by_class))):
            now = [passes[min(number, len(passes) - 1)] for passes in by_class]
            coef = np.stack([each.coef for each in now])
            intercept = np.array([each.intercept for each in now])
            attributes = {
                "coef_": coef.reshape(np.shape(self.coef_)),
                "intercept_": intercept,
                "t_": self.t_,
            }
            if hasattr(self, "classes_"):
                attributes["classes_"] = self.classes_
            steps.report(
                sum(each.objective for each in now),
                {"coef": attributes["coef_"], "intercept": intercept},
                attributes,
                number=max(each.number for each in now),
            )


def with_whole_intercepts(original: Any, *args: Any, **kwargs: Any) -> tuple[Any, float]:
    """scikit-learn's rows; the intercept takes whole steps, so that sparse rows are as dense ones.

    scikit-learn's takes a hundredth of a step for sparse rows.
    """
    return original(*args, **kwargs)[0], 1.0


def in_this_context(original: Any, **options: Any) -> Callable[..., Any]:
    """joblib's threads, where fits of one class each see what is replaced in this thread.

    The fits are listed here: joblib would list the later ones on a thread of its own.
    """
    context = contextvars.copy_context()

    def of_class(fit: Any, estimator: Any, number: int, *args: Any, **kwargs: Any) -> Any:
        _CLASS.set(number)
        return fit(estimator, number, *args, **kwargs)

    def in_context(fit: Any, *args: Any, **kwargs: Any) -> Any:
        return context.copy().run(of_class, fit, *args, **kwargs)

    def run(tasks: Any) -> Any:
        listed = [
            delayed(in_context)(task.function, *args, **kwargs) for task, args, kwargs in tasks
        ]
        return original(**options)(listed)

    return run


class Pass(NamedTuple):
    """A plane after a pass over the rows, which pass it was, and the objective."""

    number: int
    coef: np.ndarray
    intercept: float
    objective: float


class Rows(NamedTuple):
    """Rows, targets and weights of one class against the others, in the order of a fit's begin."""

    X: Any
    y: np.ndarray
    weights: np.ndarray
    dataset: Any


class Call(NamedTuple):
    """The arguments of scikit-learn's compiled descent, in its order."""

    coef: np.ndarray
    intercept: Any
    average_coef: Any
    average_intercept: Any
    loss: Any
    penalty: int
    alpha: float
    l1_ratio: float
    dataset: Any
    validation_mask: np.ndarray
    early_stopping: bool
    score: Any
    n_iter_no_change: int
    max_iter: int
    tol: float
    fit_intercept: int
    verbose: int
    shuffle: int
    seed: int
    weight_positive: float
    weight_negative: float
    learning_rate: int
    eta0: float
    power_t: float
    one_class: int
    t: float
    intercept_decay: float
    average: Any

    def is_trained_on(self) -> np.ndarray:
        """Of each row, whether it is not kept for validation."""
        return ~np.asarray(self.validation_mask, dtype=bool)

    def factors_of_weights(self, rows: Rows, n_passes: int) -> np.ndarray:
        """The common factor that scikit-learn's code keeps apart from the weights, by pass.

        A penalty on squares multiplies all weights at each row, which it does to one number.
        """
        factors = np.ones(n_passes)
        if self.penalty < PENALTY_TYPES["l2"]:
            return factors
        moving = self.is_trained_on()
        if self.learning_rate == LEARNING_RATE_TYPES["pa1"]:  # leaves rows of zeros out
            moving = moving & (row_norms(rows.X, squared=True) > 0)
        n_steps = np.count_nonzero(moving)
        squares = 1 - (0.0 if self.penalty == PENALTY_TYPES["l2"] else self.l1_ratio)
        least = LEAST_FACTORS[self.coef.dtype]
        factor = 1.0
        for number in range(n_passes):
            t = self.t + number * n_steps + np.arange(n_steps)
            shrinking = np.maximum(0.0, 1 - squares * self.alpha * self.learning_rates(t))
            while True:
                line = factor * np.cumprod(shrinking)
                small = np.flatnonzero(line < least)
                if not len(small):
                    break
                factor, shrinking = 1.0, shrinking[small[0] + 1 :]
            factor = factors[number] = line[-1] if len(line) else factor
        return factors

    def learning_rates(self, t: np.ndarray) -> np.ndarray:
        if self.learning_rate == LEARNING_RATE_TYPES["optimal"]:
            # the slope of every loss is at most one at the place that scikit-learn starts from
            first = np.sqrt(1 / np.sqrt(self.alpha))
            return 1 / (self.alpha * (1 / (first * self.alpha) + t - 1))
        if self.learning_rate == LEARNING_RATE_TYPES["invscaling"]:
            return self.eta0 / t**self.power_t
        return np.full(len(t), self.eta0)
