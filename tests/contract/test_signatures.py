"""A class that bears a scikit-learn name takes that class's parameters: order, defaults, values."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import Hidden, make_constraint

import gnomon
from gnomon.contract import Regressor
from gnomon.contract.inert import INERT, Inert, without_effect
from tests.contract.cases import CLASSES, assert_same_bits, each, fit, make, outputs, problem


@functools.cache
def sklearn_classes() -> dict[str, type]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(all_estimators())


@functools.cache
def namesakes() -> dict[str, type]:
    """The exported classes that bear the name of an estimator of scikit-learn's."""
    found = {}
    for package in pkgutil.iter_modules(gnomon.__path__):
        module = importlib.import_module(f"gnomon.{package.name}") if package.ispkg else None
        for name in getattr(module, "__all__", ()):
            exported = getattr(module, name)
            if inspect.isclass(exported) and exported.__name__ in sklearn_classes():
                found[exported.__name__] = exported
    return found


def parameters(cls: type) -> list[inspect.Parameter]:
    return list(inspect.signature(cls).parameters.values())


def differences(ours: type, theirs: type) -> list[str]:
    """What a call of scikit-learn's class would find different in ours, in words."""
    asked, found = parameters(theirs), parameters(ours)
    names = [each.name for each in found]
    missing = [each.name for each in asked if each.name not in names]
    if missing:
        return [f"has no parameter {name!r}" for name in missing]
    if names[: len(asked)] != [each.name for each in asked]:
        return [f"orders its parameters {names}, and not {[each.name for each in asked]} first"]
    told = []
    for theirs_, ours_ in zip(asked, found):
        if not same_value(theirs_.default, ours_.default):
            told.append(f"{ours_.name}={ours_.default!r}, and not {theirs_.default!r}")
        if theirs_.kind is not ours_.kind:
            told.append(f"{ours_.name} is {ours_.kind.description}")
    for extra in found[len(asked) :]:
        if extra.kind is not inspect.Parameter.KEYWORD_ONLY:
            told.append(f"{extra.name}, which is not scikit-learn's, must be keyword-only")
    return told


def plain(value):
    """A number of NumPy's as Python's own, which prints alike before and after a model file."""
    return value.item() if isinstance(value, np.generic) else value


def same_value(one, other) -> bool:
    one, other = plain(one), plain(other)
    if isinstance(one, float) and isinstance(other, float) and np.isnan(one):
        return bool(np.isnan(other))
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize("name", sorted(namesakes()))
def test_a_namesake_takes_the_parameters_of_scikit_learn_in_order_with_their_defaults(name):
    assert differences(namesakes()[name], sklearn_classes()[name]) == []


@pytest.mark.parametrize("key", sorted(key for key in INERT if "." in key))
def test_a_parameter_without_effect_accepts_what_its_namesake_accepts(key):
    owner, name = key.split(".")
    assert accepted(INERT[key].accepts) == accepted(_constraints(owner)[name])


@each("cls", [cls for cls in CLASSES if getattr(cls, "_inert", ())])
def test_parameters_without_effect_accept_what_scikit_learn_accepts_and_change_nothing(cls, rng):
    for name in cls._inert:
        if cls.__name__ in sklearn_classes():
            theirs = _constraints(cls.__name__)[name]
            assert accepted(cls._parameter_constraints[name]) == accepted(theirs), name
    estimator = make(cls)
    X, y = problem(estimator, rng, n=40)
    expected = outputs(fit(estimator, X, y), X)
    others = {name: another(cls, name) for name in cls._inert}
    assert_same_bits(outputs(fit(make(cls, **others), X, y), X), expected)


def _constraints(name: str) -> dict[str, list]:
    return sklearn_classes()[name]._parameter_constraints


def accepted(constraints: list) -> set[str]:
    """Constraints in words that do not depend on the order of a set."""
    visible = [each for each in constraints if not isinstance(each, Hidden)]
    found = [make_constraint(each) for each in visible]
    return {repr(sorted(each.options)) if hasattr(each, "options") else str(each) for each in found}


def another(cls: type, name: str):
    """A value that the parameter may have and that is not its default."""
    default = inspect.signature(cls).parameters[name].default
    for constraint in map(make_constraint, cls._parameter_constraints[name]):
        for value in sorted(getattr(constraint, "options", ()), key=str):
            if value != default:
                return value
        for value in (not default, 7, 0.5, {}, None):
            if constraint.is_satisfied_by(value) and value != default:
                return value
    raise AssertionError(f"{cls.__name__}.{name} accepts its default only")


@without_effect("copy_X", "verbose")
class Shift(Regressor):
    """A number that is added.

    Use it for tests, and not for anything else.

    Parameters
    ----------
    by : float, default=0.0
        Is added.
    scale : float, default=1.0
        Multiplies.

    Attributes
    ----------
    n_features_in_ : int
    """

    _parameter_constraints = {"by": [float], "scale": [float]}

    def __init__(self, by=0.0, copy_X=True, scale=1.0, *, verbose=0):
        self.by = by
        self.copy_X = copy_X
        self.scale = scale
        self.verbose = verbose

    def _fit(self, data):
        pass


def test_parameters_without_effect_are_documented_in_the_order_of_the_signature():
    from numpydoc.docscrape import ClassDoc

    assert [entry.name for entry in ClassDoc(Shift)["Parameters"]] == [
        "by",
        "copy_X",
        "scale",
        "verbose",
    ]
    assert "Attributes" in Shift.__doc__
    assert "copy_X : bool, default=True\n    Has no effect here: the data" in Shift.__doc__


def test_parameters_without_effect_are_validated():
    with pytest.raises(ValueError, match="'copy_X' parameter of Shift must be"):
        Shift(copy_X="perhaps").fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_parameter_that_is_not_in_the_table_or_the_signature_is_refused():
    with pytest.raises(TypeError, match=r"INERT has no parameter 'by'"):
        without_effect("by")(Shift)
    with pytest.raises(TypeError, match="__init__ has no parameter 'tol'"):
        without_effect("tol")(Shift)
    with pytest.raises(TypeError, match="'scale' is documented already"):
        without_effect(scale=Inert([float], "float", "of a reason"))(Shift)
