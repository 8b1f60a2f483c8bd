"""Every named option of every method keeps the contract, not only the defaults.

Options are read from the table that validates parameters: each word or flag, one at a time. An
option that the usual problem does not suit says so, and is tried on one that does (`NEEDS`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import StrOptions

import gnomon
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.reduce import PCA
from tests.contract.cases import (
    CLASSES,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    each,
    fit,
    make,
    marks_missing,
    mixed_problem,
    outputs,
    parameters_of,
    problem,
    takes_weights,
)
from tests.contract.test_weights import repetitions


class Needs(NamedTuple):
    """What an option needs beside itself: other rows, another target, further parameters."""

    rows: Callable[[np.ndarray], np.ndarray] | None = None
    target: Callable[[np.ndarray], np.ndarray] | None = None
    parameters: dict[str, Any] = {}


def counts(values: np.ndarray) -> np.ndarray:
    return np.rint(np.abs(values)) + 1


def shares(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def signs(values: np.ndarray) -> np.ndarray:
    return (values > np.median(values)).astype(float)


def two_classes(y: np.ndarray) -> np.ndarray:
    return np.where(y == "no", "no", "yes") if y.dtype.kind == "U" else signs(y)


def places(X: np.ndarray) -> np.ndarray:
    """Latitudes and longitudes."""
    return 80 * np.tanh(X[:, :2] / 10)


def distances(X: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X[:, None] - X, axis=-1)


def similarities(X: np.ndarray) -> np.ndarray:
    return X @ X.T


def combiner(estimator):
    """A learner of the estimator's kind that combines the answers of others."""
    return LogisticRegression() if is_classifier(estimator) else LinearRegression()


def one_target(estimator):
    """A value of the target."""
    return "no" if is_classifier(estimator) else 1.0


def affinities(X: np.ndarray) -> np.ndarray:
    return np.exp(-distances(X))


NEEDS = {
    ("metric", "chi_square"): Needs(rows=counts),
    ("sublinear_tf", True): Needs(rows=counts),
    ("metric", "great_circle"): Needs(rows=places),
    ("metric", "haversine"): Needs(rows=lambda X: np.radians(places(X))),
    ("metric", "precomputed"): Needs(rows=distances),
    ("metric", "mahalanobis"): Needs(parameters={"metric_params": {"VI": np.eye(4)}}),
    ("metric", "seuclidean"): Needs(parameters={"metric_params": {"V": np.ones(4)}}),
    ("affinity", "precomputed"): Needs(rows=affinities),
    ("affinity", "precomputed_nearest_neighbors"): Needs(rows=distances),
    ("kernel", "precomputed"): Needs(rows=similarities),
    ("kernel", "chi2"): Needs(rows=counts),
    ("kernel", "additive_chi2"): Needs(rows=counts),
    ("models", "multinomial"): Needs(rows=counts),
    ("models", "poisson"): Needs(rows=counts),
    ("family", "binomial"): Needs(target=signs),
    ("family", "bernoulli"): Needs(rows=signs),
    ("family", "beta"): Needs(rows=shares),
    ("link", "cloglog"): Needs(target=signs, parameters={"family": "binomial"}),
    ("link", "logit"): Needs(target=signs, parameters={"family": "binomial"}),
    ("link", "probit"): Needs(target=signs, parameters={"family": "binomial"}),
    ("link", "log"): Needs(target=counts),
    ("link", "sqrt"): Needs(target=counts),
    ("link", "negative binomial"): Needs(target=counts, parameters={"family": "negative binomial"}),
    ("loss", "absolute"): Needs(parameters={"penalty": "l1"}),
    ("loss", "quantile"): Needs(parameters={"penalty": "l1"}),
    ("loss", "logistic"): Needs(target=signs),
    ("loss", "poisson"): Needs(target=counts),
    ("loss", "gamma"): Needs(target=counts),
    ("loss", "exponential"): Needs(target=two_classes),
    ("scaled_trees", True): Needs(target=two_classes, parameters={"loss": "exponential"}),
    ("refit", True): Needs(parameters={"early_stopping": True, "n_iter_no_change": 2}),
    ("criterion", "poisson"): Needs(target=counts),
    ("oob_score", True): Needs(parameters={"bootstrap": True}),
    ("stack_method", "decision_function"): Needs(
        parameters={"estimators": [("line", LogisticRegression())]}
    ),
    ("method", "hessian"): Needs(parameters={"n_neighbors": 10}),
    ("method", "box-cox"): Needs(rows=counts),
    ("penalty", "l1"): Needs(parameters={"solver": "saga"}),
    ("penalty", "elasticnet"): Needs(parameters={"solver": "saga", "l1_ratios": (0.5,)}),
    ("penalty", "matrix"): Needs(parameters={"matrix": np.eye(4)}),
    ("disconnected", "refuse"): Needs(parameters={"n_neighbors": 40}),
    ("bandwidth", "improved-sheather-jones"): Needs(rows=lambda X: X[:, :1]),
    ("dual", True): Needs(target=two_classes, parameters={"solver": "liblinear"}),
    ("solver", "lbfgs"): Needs(parameters={"positive": True}),
    ("solver", "liblinear"): Needs(target=two_classes),
    ("solver", "lanczos"): Needs(parameters={"n_components": 2}),
    ("task", "classify"): Needs(target=signs),
    ("score_func", "boosted_stumps"): Needs(target=signs),
    ("score_func", "fisher_index"): Needs(target=signs),
    ("score_func", "fisher_vector"): Needs(target=signs),
    ("strategy", "constant"): Needs(parameters={"constant": one_target}),
    ("strategy", "quantile"): Needs(parameters={"quantile": 0.5}),
    ("shrinkage", "auto"): Needs(parameters={"solver": "eigen"}),
    ("mode", "k_best"): Needs(parameters={"param": 2}),
    ("param", "all"): Needs(parameters={"mode": "k_best"}),
    ("min_resources", "exhaust"): Needs(parameters={"n_candidates": 2}),
    ("passthrough", True): Needs(parameters={"final_estimator": combiner}),
    ("beta_loss", "kullback-leibler"): Needs(parameters={"solver": "mu"}),
    ("beta_loss", "itakura-saito"): Needs(rows=counts, parameters={"solver": "mu"}),
    ("learning_rate", "pa1"): Needs(parameters={"loss": "epsilon_insensitive"}),
    ("learning_rate", "pa2"): Needs(parameters={"loss": "epsilon_insensitive"}),
}
for affinity in ("chi2", "cosine", "linear", "poly", "polynomial", "sigmoid"):
    NEEDS["affinity", affinity] = Needs(rows=counts)  # a graph has no negative weights
for family in ("gamma", "inverse gaussian", "negative binomial", "poisson", "tweedie"):
    NEEDS["family", family] = Needs(rows=counts, target=counts)
for family in ("exponential", "geometric", "inverse-gamma", "multinomial"):
    NEEDS["family", family] = Needs(rows=counts)
# A normal target has no best coefficients under this link: they grow without bound, and a fit ends
# anywhere on a flat objective. The reciprocal of a root of a sum of columns has.
TARGETS = {
    ("link", "inverse squared"): lambda X: (
        (1 + 0.05 * np.sin(7 * X[:, 1])) / np.sqrt(2 + X[:, 0] / np.abs(X[:, 0]).max())
    ),
    # a mean above zero, whatever the weights
    ("link", "log"): lambda X: np.exp(X[:, 0] / np.abs(X[:, 0]).max()) + 0.05 * np.sin(7 * X[:, 1]),
}
# A square matrix is not repeated by rows; these rules count rows, whatever their weight, as
# scikit-learn's do.
UNWEIGHTED = {
    ("metric", "precomputed"),
    ("kernel", "precomputed"),
    ("bandwidth", "scott"),
    ("bandwidth", "silverman"),
    ("bandwidth", "improved-sheather-jones"),
}
# Options that scikit-learn's class computes, and it takes no weights with them: they are refused.
WITHOUT_WEIGHTS = {
    ("KBinsDiscretizer", "quantile_method", "closest_observation"),
    ("KBinsDiscretizer", "quantile_method", "hazen"),
    ("KBinsDiscretizer", "quantile_method", "interpolated_inverted_cdf"),
    ("KBinsDiscretizer", "quantile_method", "linear"),
    ("KBinsDiscretizer", "quantile_method", "median_unbiased"),
    ("KBinsDiscretizer", "quantile_method", "normal_unbiased"),
    ("KBinsDiscretizer", "quantile_method", "weibull"),
}
# Options that scikit-learn's class computes, which cannot place new rows: expected failures, named
# in the summary of the run. The list may only shrink.
OPEN = {("SpectralEmbedding", "affinity")}
# Functions, fitted members and the first factors of NMF are given by the caller, and no model file
# holds a function.
SCORERS = set(get_scorer_names())  # one table of names for all who judge: one of them is tried
UNFITTED = ("refit", False)  # a search that fits nothing in the end predicts nothing
OF_CALLABLES = {("of", "rows"), ("metric", "pyfunc"), ("cv", "prefit"), ("prefit", True)}
OF_CALLABLES |= {("init", "custom")}


def options_of(cls: type) -> list[tuple[str, object]]:
    """Each word or flag that a parameter may be, other than its default."""
    found = []
    for name, constraints in cls._parameter_constraints.items():
        if name in getattr(cls, "_inert", ()):  # test_signatures proves that it changes nothing
            continue
        default = parameters_of(cls)[name].default
        for constraint in constraints:
            if isinstance(constraint, StrOptions) and constraint.options >= SCORERS:
                choices = ["balanced_accuracy" if is_classifier(make(cls)) else "r2"]
            elif isinstance(constraint, StrOptions):
                choices = sorted(constraint.options)
            elif constraint == "boolean":
                choices = [False, True]
            else:
                continue
            found += [(name, choice) for choice in choices if choice != default]
    return found


SEARCHES = [cls for cls in CLASSES if issubclass(cls, BaseSearchCV)]
OPTIONS = [
    (cls, name, value)
    for cls in CLASSES
    for name, value in options_of(cls)
    if (name, value) not in OF_CALLABLES and not (cls in SEARCHES and (name, value) == UNFITTED)
]
every_option = pytest.mark.parametrize(
    ("cls", "name", "value"), OPTIONS, ids=[f"{c.__name__}-{n}={v}" for c, n, v in OPTIONS]
)


def on_one_thread(cls: type, chosen: dict, X, y) -> dict[str, np.ndarray]:
    """What the option gives on one thread."""
    with gnomon.config(n_jobs=1):
        return outputs(fit(make(cls, **chosen), X, y), X)


def suited(cls: type, name: str, value, rng: np.random.Generator) -> tuple[dict, Any, Any, dict]:
    """Parameters, rows and target with which the option gives a result, and this result."""
    chosen = {name: value}
    if name == "metric" and "linkage" in parameters_of(cls):
        chosen["linkage"] = "average"  # Ward's takes Euclidean distances only
    X, y = problem(make(cls, **chosen), rng)
    y = TARGETS[name, value](X) if (name, value) in TARGETS else y
    try:
        return chosen, X, y, on_one_thread(cls, chosen, X, y)
    except Exception as error:
        refused = error
    if (cls.__name__, name) in OPEN:
        pytest.xfail(f"gives no answer for new rows: {refused!r}")
    assert_clear(refused)
    assert name in str(refused) or str(value) in str(refused).lower(), repr(refused)
    assert (name, value) in NEEDS, f"refused, and NEEDS does not say what it needs: {refused}"
    needs = NEEDS[name, value]
    for other, given in needs.parameters.items():
        chosen |= {other: given(make(cls)) if callable(given) else given}
    X = X if needs.rows is None else needs.rows(X)
    y = y if needs.target is None or y is None else needs.target(y)
    return chosen, X, y, on_one_thread(cls, chosen, X, y)


@every_option
def test_an_option_keeps_the_contract(cls, name, value, rng, tmp_path, small_chunks):
    """A sound result, also from a file, of the same bits on any number of threads, by weights."""
    chosen, X, y, expected = suited(cls, name, value, rng)
    with gnomon.config(n_jobs=3):
        estimator = fit(make(cls, **chosen), X, y)
        found = outputs(estimator, X)
    assert_sound(found, missing=marks_missing(estimator))
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, X), found)
    assert_same_bits(found, expected)
    falls_back = hasattr(estimator, "peer_")  # to a class of scikit-learn's that takes no weights
    if falls_back or (cls.__name__, name, value) in WITHOUT_WEIGHTS:
        assert_weights_refused(cls, chosen, X, y, rng)
    elif takes_weights(estimator) and (name, value) not in UNWEIGHTED:
        assert_weights_repeat(cls, chosen, X, y, rng)


def assert_weights_refused(cls: type, chosen: dict, X, y, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=r"sample.weight") as refused:
        fit(make(cls, **chosen), X, y, sample_weight=rng.integers(1, 4, len(X)))
    assert_clear(refused.value)


def assert_weights_repeat(cls: type, chosen: dict, X, y, rng: np.random.Generator) -> None:
    weights = rng.integers(1, 4, len(X))
    rows = repetitions(cls, weights, rng, shuffle=chosen.get("shuffle", True))
    weighted = fit(make(cls, **chosen), X, y, sample_weight=weights)
    repeated = fit(make(cls, **chosen), X[rows], None if y is None else y[rows])
    assert_close(outputs(weighted, X), outputs(repeated, X))


@pytest.mark.parametrize(("name", "value"), sorted(OF_CALLABLES))
def test_an_option_for_functions_is_refused_without_one(name, value, rng):
    for cls in CLASSES:
        if (name, value) in options_of(cls):
            estimator = make(cls, **{name: value})
            with pytest.raises(ValueError, match=f"{name}={value!r}"):
                fit(estimator, *problem(estimator, rng))


@each("cls", SEARCHES)
def test_a_search_without_refit_keeps_its_scores_and_predicts_nothing(cls, rng, tmp_path):
    X, y = problem(make(cls), rng, n=90)  # of 80, the first fold of a halving has one row to judge
    expected = fit(make(cls), X, y)
    assert np.isfinite(expected.best_score_)
    search = fit(make(cls, refit=False), X, y)
    loaded = gnomon.load(search.save(tmp_path / "search.gnomon"))
    assert loaded.best_params_ == search.best_params_ == expected.best_params_
    assert loaded.best_score_ == search.best_score_ == expected.best_score_
    assert not hasattr(search, "predict")


@each("cls", SEARCHES)
def test_a_search_over_a_transformer_transforms_as_the_best_one(cls, rng):
    X = rng.normal(size=(90, 4)) * [4, 2, 1, 1]
    grid = next(name for name in parameters_of(cls) if name.startswith("param_"))
    search = fit(make(cls, estimator=PCA(), **{grid: {"n_components": [1, 2]}}), X)
    best = fit(PCA(**search.best_params_), X)
    assert_same_bits(outputs(search, X), {"transform": best.transform(X)} | outputs(best, X))


@pytest.mark.slow
@every_option
def test_an_option_takes_a_mixed_table_or_says_why_not(cls, name, value, rng):
    estimator = make(cls, **{name: value})
    frame, y = mixed_problem(estimator, rng)
    try:
        fit(estimator, frame, y)
        found = outputs(estimator, frame)
    except Exception as error:
        assert_clear(error)
        return
    assert_sound(found, missing=marks_missing(estimator))


@pytest.mark.slow
@every_option
def test_an_option_gives_the_same_bits_of_many_rows_for_any_number_of_threads(
    cls, name, value, rng
):
    X, y = problem(make(cls), rng, n=1400, d=130)
    results, refused = [], None
    for n_jobs in (1, 3):
        with gnomon.config(n_jobs=n_jobs):
            try:
                results.append(outputs(fit(make(cls, **{name: value}), X, y), X))
            except Exception as error:
                refused = error
                break
    if refused is None:
        assert_same_bits(*results)
    else:
        assert_clear(refused)
        assert name in str(refused) or str(value) in str(refused).lower(), repr(refused)
