"""The table of what parameters may be, in scikit-learn's terms (one place, should they move)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    make_constraint,
)

__all__ = [
    "FLAG",
    "HISTORY",
    "JOBS",
    "SEED",
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "Words",
    "above",
    "are_allowed",
    "at_least",
    "between",
    "meant",
    "pair",
    "share",
    "validated",
    "whole",
]

validated = _fit_context(prefer_skip_nested_validation=True)

FLAG = ["boolean"]
SEED = ["random_state"]
HISTORY = [StrOptions({"objective", "full"})]
JOBS = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]


def are_allowed(cls: type, parameters: Mapping[str, Any]) -> bool:
    """Whether each parameter satisfies one of the constraints that the class has for it."""
    constraints, defaults = _constraints_of(cls), _defaults_of(cls)
    return all(
        value is defaults.get(name, _NOTHING)
        or any(each.is_satisfied_by(value) for each in constraints[name])
        for name, value in parameters.items()
        if name in constraints
    )


_NOTHING = object()


@functools.cache
def _defaults_of(cls: Any) -> dict[str, Any]:
    """The defaults of a class that satisfy its constraints: most fits have most of them."""
    constraints = _constraints_of(cls)
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls.__init__).parameters.items()
        if any(each.is_satisfied_by(parameter.default) for each in constraints.get(name, ()))
    }


@functools.cache
def _constraints_of(cls: Any) -> dict[str, list[Any]]:
    """The table of a class as scikit-learn's objects, which it makes anew at every validation."""
    return {
        name: [make_constraint(each) for each in allowed]
        for name, allowed in cls._parameter_constraints.items()
        if allowed != "no_validation"
    }


def whole(low: int, high: int | None = None) -> Interval:
    """A whole number from `low` on, up to `high` where given (both allowed)."""
    return Interval(Integral, low, high, closed="both" if high is not None else "left")


def at_least(low: float) -> Interval:
    """A real number that is `low` or more."""
    return Interval(Real, low, None, closed="left")


def above(low: float) -> Interval:
    """A real number greater than `low`."""
    return Interval(Real, low, None, closed="neither")


def share(closed: str = "right") -> Interval:
    """A share between 0 and 1; a whole number is none (it may mean a count beside it)."""
    return Interval(RealNotInt, 0, 1, closed=closed)


def between(low: float, high: float, closed: str = "both") -> Interval:
    """A real number between two others."""
    return Interval(Real, low, high, closed=closed)


class Pair(Options):
    """Two whole numbers that are each `low` or more, as a tuple, list or array."""

    def __init__(self, low: int):
        super().__init__(object, set())
        self.low = low

    def is_satisfied_by(self, val: Any) -> bool:
        if not isinstance(val, (tuple, list, np.ndarray)) or len(val) != 2:
            return False
        return all(isinstance(each, Integral) and int(each) >= self.low for each in val)

    def __str__(self) -> str:
        return f"two whole numbers, each {self.low} or more"


def pair(low: int) -> Pair:
    """Two whole numbers (height and width, say), each `low` or more."""
    return Pair(low)


class Words(StrOptions):
    """Words that a parameter may be, some of them another library's words for one of the others.

    The parameter stays as it was given; a method reads it by `meant`.

    Parameters
    ----------
    options : iterable of str
    synonyms : mapping of str to str
        The other words, and the option that each stands for.
    """

    def __init__(self, options: Iterable[str], synonyms: Mapping[str, str]):
        super().__init__({*options, *synonyms})
        self.synonyms = synonyms


def meant(estimator: Any, name: str) -> Any:
    """A parameter's value, or the option that it is a synonym of."""
    value = getattr(estimator, name)
    for constraint in estimator._parameter_constraints[name]:
        if isinstance(constraint, Words) and isinstance(value, str):
            return constraint.synonyms.get(value, value)
    return value
