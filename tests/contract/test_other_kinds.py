"""What is registered, and the contract of methods that take something other than a table.

Every exported class with ``fit`` is registered. Methods of sequences, networks, ratings and indexes
keep the parts of the contract that do not depend on a table of rows.
"""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gnomon.density import Distribution, ExponentialFamily
from gnomon.engine.registry import KINDS, ROOMS, find, methods
from gnomon.linear.inference import NoSummary
from gnomon.neighbors import Distance
from tests.contract.cases import each, make

# parts that methods are made of: they have ``fit`` and are no methods themselves
PARTS = (Distance, Distribution, ExponentialFamily)
NETWORKS = {method.cls for method in methods("graph")}  # their ``fit`` is a constructor
ESTIMATORS = [method.cls for method in methods() if method.cls not in NETWORKS]
NEED_NO_FIT = {
    "path",
    "non_zeros",
    "pieces",
    "save",
    "forecast",
    "get_metadata_routing",
    "get_params",
}
WHOLE = {"length", "n_steps", "n", "k", "budget"}


def exported_classes() -> list[type]:
    found = []
    for name in ROOMS:
        if name == "contract" or importlib.util.find_spec(f"gnomon.{name}") is None:
            continue
        package = importlib.import_module(f"gnomon.{name}")
        members = (getattr(package, each) for each in package.__all__)
        found += [member for member in members if inspect.isclass(member)]
    return found


def test_every_exported_class_with_fit_is_registered():
    registered = {method.cls for method in methods()}
    missing = [
        cls.__name__
        for cls in exported_classes()
        if hasattr(cls, "fit") and not issubclass(cls, PARTS) and cls not in registered
    ]
    assert missing == []


def test_every_kind_of_input_is_known_and_every_method_has_one():
    assert {method.takes for method in methods()} <= set(KINDS)
    with pytest.raises(ValueError, match="sequences"):
        methods("sequence")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("hmm", "HiddenMarkovModel"),
        ("hidden markov", "HiddenMarkovModel"),
        ("random forest", "RandomForestClassifier"),
        ("conditional random field", "ChainCRF"),
        ("Bayesian network", "BeliefNetwork"),
        ("sklearn.neighbors.NearestNeighbors", "NearestNeighbors"),
        ("collaborative filtering", "NeighborRecommender"),
    ],
)
def test_methods_are_found_by_their_usual_names(words, name):
    assert name in {method.name for method in find(words)}


def test_a_search_lists_the_method_of_that_name_first():
    assert find("nearest neighbors")[0].name == "NearestNeighbors"


def public_methods(cls: type) -> list[str]:
    """Names of methods of gnomon's that an object answers, apart from ``fit`` and its kin."""
    found = []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        own = getattr(inspect.unwrap(member), "__module__", "") if callable(member) else ""
        plain = not name.startswith(("_", "fit", "partial_fit", "set_")) and inspect.isfunction(
            member
        )
        if plain and own.startswith("gnomon") and name not in NEED_NO_FIT:
            found.append(name)
    return found


def given(method) -> list:
    """Values for the parameters of a method that have no default."""
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    wanted = [
        parameter
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty and parameter.kind < parameter.VAR_POSITIONAL
    ]
    return [2 if each.name in WHOLE else rows for each in wanted]


def outcome(method) -> None:
    found = method(*given(method))
    if inspect.isgenerator(found):
        next(found)


@each("cls", ESTIMATORS)
def test_every_public_method_before_fit_says_that_the_estimator_is_not_fitted(cls):
    estimator = make(cls)
    wrong = []
    for name in public_methods(cls):
        try:
            outcome(getattr(estimator, name))
        except (NotFittedError, NoSummary):  # a penalized fit never has a summary
            continue
        except Exception as error:
            wrong.append(f"{name}: {error!r}")
        else:
            wrong.append(f"{name}: no error")
    assert wrong == []
