"""Names of earlier versions: they still work, with a warning that gives the name of today."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

from gnomon.engine.synonyms import CALLED_HERE, USED_UNCHANGED

# names of classes in model files of earlier versions, and their names of today
FORMER_CLASSES: dict[str, str] = {}

# parameters of every package that were renamed at once: former name, name or names of today
VOCABULARY: dict[str, str | tuple[str, ...]] = {
    "level": ("confidence_level", "alpha"),
    "confidence": "confidence_level",
    "seed": "random_state",
    "n_folds": ("cv", "n_splits"),
    "splits": "cv",
    "n_splits": "cv",
    "max_steps": "max_iter",
    "max_turns": "max_iter",
    "max_passes": "max_iter",
    "n_rounds": "max_iter",
    "n_sweeps": "max_iter",
    "n_starts": "n_init",
    "n_tries": "n_init",
    "n_restarts": "n_init",
    "tolerance": "tol",
    "learner": "estimator",
    "learners": "estimators",
    "model": "estimator",
    "models": "estimators",
    "centre": "center",
    "centres": "centers",
    "colours": "colors",
    "minimise": "minimize",
    "neighbours": "neighbors",
    "normalise": "normalize",
    "normalised": "normalized",
    "penalise_intercept": "penalize_intercept",
    "quantiser": "quantizer",
    "regularisation": "regularization",
    "standardise": "standardize",
}

# classes that have a new meaning under their name: an object in a file of an earlier version that
# holds this value is of the class that keeps the earlier meaning
FORMER_MEANINGS = {
    "KNNImputer": ("n_jobs", "NeighborImputer"),
    "Perceptron": ("pick", "PocketPerceptron"),
}

# fitted attributes of earlier versions in model files, and their names of today
FORMER_FITTED = {"centre_": "center_", "centres_": "centers_", "target_centre_": "target_center_"}


def former_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that answers to its former names with a `FutureWarning`.

    Model files that hold an object of a former class name are read as today's class.

    Parameters
    ----------
    module : str
        The module's ``__name__``.
    names : mapping of str to str
        Each former name, and its name of today in the same module; or ``"package.module:name"``
        where it has moved.

    Returns
    -------
    getattr : callable

    Examples
    --------
    In a module::

        __getattr__ = former_names(__name__, {"Agglomerative": "AgglomerativeClustering"})
    """
    for former, today in names.items():
        FORMER_CLASSES[former] = today.rpartition(":")[2]

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{_hint(name)}")
        home, _, today = names[name].rpartition(":")
        home = home or module
        warnings.warn(
            f"{module}.{name} is now {home}.{today}; the former name will be removed",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(home), today)

    return __getattr__


def _hint(name: str) -> str:
    """What to use for a name of another library, as the end of a message.

    An import statement replaces the error of an attribute by its own, so that a warning gives the
    hint as well.
    """
    if name in CALLED_HERE:
        hint = f"gnomon calls it {CALLED_HERE[name]}"
    elif name in USED_UNCHANGED:
        hint = (
            "scikit-learn's own works with gnomon's estimators unchanged: "
            f"from {USED_UNCHANGED[name]} import {name}"
        )
    else:
        return ""
    warnings.warn(hint, UserWarning, stacklevel=3)
    return f"; {hint}"


def former_parameters(**names: str) -> Callable[[Any], Any]:
    """Let a class or function take parameters by their former names, with a `FutureWarning`.

    The signature shows the names of today only. Model files that hold a class's former parameters
    are read.

    Parameters
    ----------
    **names : str
        Each former name, and its name of today.

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> import warnings
    >>> from gnomon.engine.renamed import former_parameters
    >>> @former_parameters(n_starts="n_init")
    ... def run(n_init=1):
    ...     return n_init
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     run(n_starts=5)
    5
    >>> print(caught[0].message)
    run: the parameter n_starts is now n_init; the former name will be removed
    """

    def wrap(function: Callable[..., Any], title: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            for former in names.keys() & named.keys():
                today = names[former]
                if today in named:
                    raise TypeError(f"{title}: give {today}, not also {former}, its former name")
                warnings.warn(
                    f"{title}: the parameter {former} is now {today}; the former name will be "
                    "removed",
                    FutureWarning,
                    stacklevel=2,
                )
                named[today] = named.pop(former)
            return function(*given, **named)

        return called

    def decorate(target: Any) -> Any:
        if not isinstance(target, type):
            return wrap(target, target.__name__)
        target.__init__ = wrap(target.__init__, target.__name__)  # type: ignore[misc]
        target._former_parameters = names  # type: ignore[attr-defined]
        return target

    return decorate


def accept_former_vocabulary(package: dict[str, Any]) -> None:
    """Let the public functions, classes and methods of a package take the names of `VOCABULARY`.

    Parameters
    ----------
    package : dict
        ``globals()`` of the package's ``__init__``; its ``__all__`` lists what is public.
    """
    for name in package["__all__"]:
        public = package.get(name)
        if inspect.isfunction(public):
            package[name] = with_former_vocabulary(public)
        elif inspect.isclass(public):
            for method, function in list(vars(public).items()):
                if inspect.isfunction(function) and (method == "__init__" or method[0] != "_"):
                    setattr(public, method, with_former_vocabulary(function))


def with_former_vocabulary(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, taking the names of `VOCABULARY` too where it has the names of today."""
    parameters = inspect.signature(function).parameters
    names = {
        former: today
        for former in VOCABULARY
        if former not in parameters and (today := _today_among(former, parameters))
    }
    if not names:
        return function
    accepting = former_parameters(**names)(function)
    home = sys.modules.get(function.__module__)
    if getattr(home, function.__name__, None) is function:
        setattr(home, function.__name__, accepting)
    return accepting


def former_attributes(**names: str) -> Callable[[type], type]:
    """Let the objects of a class answer to former names of attributes, with a `FutureWarning`.

    Parameters
    ----------
    **names : str
        Each former name of an attribute or method, and its name of today.

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> import warnings
    >>> from gnomon.engine.renamed import former_attributes
    >>> @former_attributes(colour="color")
    ... class Pen:
    ...     color = "red"
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Pen().colour
    'red'
    >>> print(caught[0].message)
    Pen.colour is now Pen.color; the former name will be removed
    """

    def decorate(cls: type) -> type:
        for former, today in names.items():
            setattr(cls, former, property(_warning_getter(cls.__name__, former, today)))
        return cls

    return decorate


def _warning_getter(owner: str, former: str, today: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        warnings.warn(
            f"{owner}.{former} is now {owner}.{today}; the former name will be removed",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(self, today)

    return get


def class_of_today(name: str, stored: Collection[str]) -> str:
    """The name of today of a class that a model file holds with values of these names."""
    mark, today = FORMER_MEANINGS.get(name, ("", name))
    return today if mark in stored else FORMER_CLASSES.get(name, name)


def name_of_today(cls: type, stored: str) -> str:
    """The name of today of a parameter or attribute that a model file of a class holds."""
    former = getattr(cls, "_former_parameters", {})
    if stored in former:
        return former[stored]
    if not hasattr(cls, "get_params"):
        return FORMER_FITTED.get(stored, stored)
    parameters = inspect.signature(cls).parameters
    if stored not in parameters and (today := _today_among(stored, parameters)):
        return today
    return FORMER_FITTED.get(stored, stored)


def _today_among(former: str, parameters: Collection[str]) -> str | None:
    """The name of today that a function has for a former one."""
    today = VOCABULARY.get(former, ())
    return next((each for each in _several(today) if each in parameters), None)


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
