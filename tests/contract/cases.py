"""Every public estimator of the registry, with problems of its kind to try it on.

Nobody is left out: a parameter that has no default gets the same value in every method that has it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import traceback
import warnings
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from gnomon.contract import SumLearner
from gnomon.contract.over_scikit_learn import OverScikitLearn, is_peer
from gnomon.contract.peer_sums import PeerSums
from gnomon.engine.errors import GnomonError
from gnomon.engine.registry import methods
from gnomon.table import Table

CLASSES = [each.cls for each in methods("table") if not each.requires]
OVER_OTHERS = [cls for cls in CLASSES if issubclass(cls, OverScikitLearn)]
# a row without neighbours within the radius is an error otherwise
SMALL = {
    "n_estimators": 5,
    "outlier_label": "most_frequent",
    "novelty": True,  # new rows are not judged otherwise
    "perplexity": 3.0,
    "Cs": 2,
    "max_subpopulation": 1000,  # a tenth of the subsets of rows
    "layers": "Conv2D filters=12 kernel_size=3 padding=same activation=relu\nFlatten\n"
    "Dense units=64 activation=relu",
}
# methods whose passes take long, and whose contract does not depend on how many they make
FEW_PASSES = {
    "Autoencoder": 12,
    "ConvAutoencoder": 12,
    "DeepBeliefNetwork": 40,
    "GAN": 12,
    "HistGradientBoostingClassifier": 20,
    "HistGradientBoostingRegressor": 20,
    "LogisticRegressionCV": 20,
    "MomentMatchingGenerator": 12,
    "NetworkClassifier": 40,
    "PretrainedClassifier": 40,
    "SlicedGenerator": 12,
    "VariationalAutoencoder": 12,
}
# methods whose solver is chosen by cost, which repeated rows change: solvers agree within this
EXACT = {"LogisticRegression": 1e-9}
# methods whose learners are such methods unless others are given, by the parameter
OF_EXACT = {
    "BucketClassifier": "estimators",
    "FeatureWeightedStackingClassifier": "estimators",
    "GatingClassifier": "estimators",
    "SelfTrainingClassifier": "estimator",
}
LEAST_STEP = 0.3
RARE = 1e-4  # least probability by which logarithms are compared
ASKED = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score_samples",
    "transform",
)
FRAME = ("gnomon.contract.", "gnomon.prepare.base")
FRAMES = ("pandas", "polars", "arrow", "table")
MIDDLE_LEVELS = ("north", "south", "east")
WORDS = ("late", "delivery", "good", "price", "again", "broken", "thanks", "never", "service")


def parameters_of(cls: type) -> dict[str, inspect.Parameter]:
    """The constructor's parameters."""
    parameters = dict(inspect.signature(cls.__init__).parameters)
    parameters.pop("self")
    return parameters


def make(cls: type, **changes: Any):
    """An estimator of default parameters, small and seeded where it has such parameters."""
    known = parameters_of(cls)
    chosen = {name: value for name, value in SMALL.items() if name in known}
    if "layers" in chosen and "image_shape" not in known:
        chosen["layers"] = "Dense units=16 activation=relu"  # columns have no places
    if "n_components" in known and known["n_components"].default == "auto":
        chosen["n_components"] = 2  # few rows would ask for more components than columns
    if "n_components" in known and getattr(cls, "_many_targets", False):
        chosen["n_components"] = 1  # as many pairs of directions as there are targets
    if "cv" in known and "store_cv_results" not in known:  # there, no folds is leaving one out
        chosen["cv"] = 3
    if "n_estimators" in chosen and "learning_rate" in known:
        # few steps must be long ones
        chosen["learning_rate"] = max(known["learning_rate"].default, LEAST_STEP)
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in changes:
            chosen[name] = required(name, issubclass(cls, ClassifierMixin))
    if "handle_unknown" in known:  # values that other rows lack are an error otherwise
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
        chosen |= unknown if "unknown_value" in known else {"handle_unknown": "ignore"}
    if {"n_features_to_select", "cv", "direction"} <= set(known):
        chosen["n_features_to_select"] = 1  # half of the columns means a fit for each pair of them
    if "random_state" in known:
        chosen["random_state"] = 0
    if cls.__name__ in FEW_PASSES:
        chosen["max_iter"] = FEW_PASSES[cls.__name__]
    if cls.__name__ in EXACT:
        chosen["tol"] = EXACT[cls.__name__]
    if cls.__name__ in OF_EXACT:
        name = OF_EXACT[cls.__name__]
        chosen[name] = required(name, of_classes=True)
    return cls(**(chosen | changes))


def required(name: str, of_classes: bool):
    """What to give for a parameter that has no default, to a classifier or another estimator."""
    from gnomon.cluster import VectorQuantizer
    from gnomon.ensemble.named import different_regressors
    from gnomon.linear import LinearRegression, LogisticRegression
    from gnomon.neighbors import KNeighborsClassifier

    given = {
        "estimator": partial(make, LogisticRegression if of_classes else LinearRegression),
        "estimators": exact_classifiers if of_classes else different_regressors,
        "regressor": LinearRegression,
        "classifier": KNeighborsClassifier,
        "quantizer": VectorQuantizer,
        "param_grid": lambda: {"fit_intercept": [True, False]},
        "param_distributions": lambda: {"fit_intercept": [True, False]},
    }
    return given[name]()


def exact_classifiers() -> list[tuple[str, Any]]:
    """Classifiers that err differently, each so exact that repeated rows do not change it."""
    from gnomon.ensemble.named import different_classifiers

    return [
        (name, each.set_params(tol=EXACT[type(each).__name__]))
        if type(each).__name__ in EXACT
        else (name, each)
        for name, each in different_classifiers()
    ]


def peer_of(cls: type) -> type:
    """The class of scikit-learn's that computes for a class of OVER_OTHERS."""
    return next(base for base in cls.__mro__ if is_peer(base))


def having(*names: str) -> list[type]:
    """The classes whose constructor has all these parameters, with an effect."""
    return [
        cls
        for cls in CLASSES
        if set(names) <= set(parameters_of(cls)) - getattr(cls, "_inert", frozenset())
    ]


def summing() -> list[type]:
    """The classes that learn by sums, so that they stream."""
    return [cls for cls in CLASSES if issubclass(cls, SumLearner)]


def streaming() -> list[type]:
    """The classes that take rows chunk by chunk: those by sums, here or in scikit-learn's code."""
    return [cls for cls in CLASSES if issubclass(cls, (SumLearner, PeerSums))]


def each(argument: str, classes: list[type]) -> pytest.MarkDecorator:
    """Parametrise a test over classes, by their names."""
    return pytest.mark.parametrize(argument, classes, ids=[cls.__name__ for cls in classes])


def each_path(argument: str, classes: list[type]) -> pytest.MarkDecorator:
    """Parametrise a test of the frame: the first class of every path; the others are slow tests."""
    first = {frame_path(cls): cls for cls in reversed(classes)}
    slow = {cls: () if cls is first[frame_path(cls)] else pytest.mark.slow for cls in classes}
    cases = [pytest.param(cls, id=cls.__name__, marks=slow[cls]) for cls in classes]
    return pytest.mark.parametrize(argument, cases)


@functools.cache
def frame_path(cls: type) -> tuple:
    """The code of the frame that the class runs through, and what decides its branches."""
    estimator = make(cls)
    code = [getattr(cls, name, None) for name in ("fit", "_learn", "_each_block")]
    bases = [base for base in cls.__mro__ if base.__module__.startswith(FRAME)]
    decides = [getattr(estimator, name, None) for name in ("natively", "_target", "_many_targets")]
    return (*code, *bases, *decides)


every_method = each("cls", CLASSES)
every_path = each_path("cls", CLASSES)


def batches(classes: list[type], count: int = 3) -> pytest.MarkDecorator:
    """Parametrise a test over parts of the classes, where one process serves many of them."""
    parts = [classes[i::count] for i in range(count)]
    return pytest.mark.parametrize("classes", parts, ids=[f"part {i}" for i in range(count)])


class Failures:
    """Collects the failures of many cases, so that one test names them all."""

    def __init__(self):
        self.found: list[str] = []

    def __enter__(self) -> Failures:
        return self

    @contextlib.contextmanager
    def case(self, name: str):
        """A failure in this block is kept under the name of the case; the test goes on."""
        try:
            yield
        except (Exception, pytest.fail.Exception):
            self.found.append(f"--- {name}\n{traceback.format_exc(limit=-4)}")

    def __exit__(self, kind, error, trace) -> None:
        if self.found and kind is None:
            pytest.fail(f"{len(self.found)} cases fail\n" + "\n".join(self.found), pytrace=False)


def takes_weights(estimator) -> bool:
    return has_fit_parameter(estimator, "sample_weight")


def needs_target(estimator) -> bool:
    return (
        is_classifier(estimator)
        or is_regressor(estimator)
        or get_tags(estimator).target_tags.required
        or getattr(estimator, "_target", None) is not None
    )


def needs_classes(estimator) -> bool:
    return is_classifier(estimator) or getattr(estimator, "_target", None) == "classes"


def problem(
    estimator, rng: np.random.Generator, n: int = 80, d: int = 4, whole: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows around three centres, and a target of the estimator's kind that depends on them."""
    group = np.arange(n) % 3
    centers = rng.normal(scale=3, size=(3, d))
    X = centers[group] + rng.normal(size=(n, d))
    if whole:
        X = np.rint(4 * X)
    return fitting(estimator, X), target(estimator, X, group, rng)


def fitting(estimator, X: np.ndarray) -> np.ndarray:
    return np.abs(X) if get_tags(estimator).input_tags.positive_only else X


def target(estimator, X: np.ndarray, group: np.ndarray, rng: np.random.Generator):
    """A target of the estimator's kind for rows in three groups; None where it has none."""
    if needs_classes(estimator):
        return np.array(["no", "perhaps", "yes"])[group]
    if needs_target(estimator):
        X = np.clip(X, -1e6, 1e6)
        if get_tags(estimator).target_tags.positive_only:
            return 1.0 + np.abs(X).sum(axis=1) + group + 0.1 * rng.random(len(X))
        return X @ np.linspace(1, 2, X.shape[1]) + group + 0.1 * rng.normal(size=len(X))
    return None


def mixed_columns(rng: np.random.Generator, n: int, unseen: bool = False) -> dict[str, Any]:
    """Columns of every kind with missing cells; with `unseen`, values that other tables lack."""
    gone = rng.random((6, n)) < 0.1
    levels = (*MIDDLE_LEVELS, "elsewhere") if unseen else MIDDLE_LEVELS
    words = (*WORDS, "unheard") if unseen else WORDS
    grades = ["low", "middle", "high"]
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    sentences = [" ".join(rng.choice(words, rng.integers(2, 7))) for _ in range(n)]
    return {
        "size": np.where(gone[0], np.nan, np.round(np.abs(rng.normal(5, 2, n)), 2)),
        "count": rng.integers(0, 30, n),
        "place": _with_gaps(rng.choice(levels, n).tolist(), gone[1]),
        "grade": pd.Categorical(_with_gaps(rng.choice(grades, n).tolist(), gone[2]), grades),
        "member": rng.random(n) < 0.4,
        "since": pd.Series(days).mask(gone[3]),
        "remark": _with_gaps(sentences, gone[4]),
    }


def _with_gaps(values: list, gone: np.ndarray) -> list:
    return [None if missing else value for value, missing in zip(values, gone)]


def mixed_problem(estimator, rng: np.random.Generator, n: int = 90) -> tuple[pd.DataFrame, Any]:
    """A mixed table and a target of the estimator's kind."""
    frame = pd.DataFrame(mixed_columns(rng, n))
    group = np.arange(n) % 3
    frame["count"] += 10 * group
    return frame, target(estimator, frame[["count"]].to_numpy(dtype=float), group, rng)


def as_frame(frame: pd.DataFrame, kind: str):
    """The same table as another library's."""
    if kind == "pandas":
        return frame
    if kind == "polars":
        return pl.from_pandas(frame)
    if kind == "arrow":
        return pa.Table.from_pandas(frame, preserve_index=False)
    return Table.from_frame(frame)


def fit(estimator, X, y=None, **more):
    """Fit without the warnings that small problems bring."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **more)


@dataclass(frozen=True)
class Fitted:
    """An estimator that many tests look at and none may change, with the rows that it learnt from.

    Attributes
    ----------
    estimator : Estimator
    X : ndarray of shape (80, 4) or DataFrame of 90 rows
    y : ndarray or None
    new : the same as X
        Rows to predict for; those of a table hold missing and unseen values.
    before : tuple
        Copies of X and y that were made before the fit.
    """

    estimator: Any
    X: Any
    y: Any
    new: Any
    before: tuple[Any, Any]

    @functools.cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """What the estimator says of the rows that it learnt from."""
        return outputs(self.estimator, self.X)

    @functools.cached_property
    def outputs_of_new(self) -> dict[str, np.ndarray]:
        return outputs(self.estimator, self.new)


@functools.cache
def fitted_on_numbers(cls: type, seed: int) -> Fitted:
    """The class fitted to an array of numbers, once for all tests."""
    estimator, rng = make(cls), rng_of(cls, seed)
    X, y = problem(estimator, rng)
    return _fitted(estimator, X, y, X[::3])


@functools.cache
def fitted_on_table(cls: type, seed: int) -> Fitted:
    """The class fitted to a mixed table, once for all tests."""
    estimator, rng = make(cls), rng_of(cls, seed)
    frame, y = mixed_problem(estimator, rng)
    return _fitted(estimator, frame, y, pd.DataFrame(mixed_columns(rng, 30, unseen=True)))


def _fitted(estimator, X, y, new) -> Fitted:
    before = X.copy(), None if y is None else y.copy()
    return Fitted(fit(estimator, X, y), X, y, new, before)


def rng_of(cls: type, seed: int) -> np.random.Generator:
    """A generator for the class, from the run's seed."""
    return np.random.default_rng([seed, zlib.crc32(cls.__name__.encode())])


def outputs(estimator, X) -> dict[str, np.ndarray]:
    """All that a fitted estimator says of rows, by method, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answers(estimator, X)


def answers(estimator, X) -> dict[str, np.ndarray]:
    """All that a fitted estimator says of rows, by method."""
    asked = [name for name in ASKED if hasattr(estimator, name)]
    assert asked, f"{type(estimator).__name__} says nothing of new rows"
    return {name: as_array(getattr(estimator, name)(X)) for name in asked}


def as_array(result) -> np.ndarray:
    if hasattr(result, "toarray"):
        return result.toarray()
    if isinstance(result, Table):
        return result.to_pandas().to_numpy()
    if hasattr(result, "to_numpy"):
        return result.to_numpy()
    if isinstance(result, list):  # several outputs
        return np.concatenate([np.asarray(each) for each in result])
    return np.asarray(result)


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Outputs that are the same in every bit (NaN equals NaN)."""
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].shape == values.shape, name
        assert digest(found[name]) == digest(values), _difference(name, found[name], values)


def _difference(name: str, found: np.ndarray, expected: np.ndarray) -> str:
    if found.dtype.kind != "f" or expected.dtype.kind != "f":
        return f"{name} differs"
    return f"{name} differs by as much as {np.nanmax(np.abs(found - expected))}"


def digest(values: np.ndarray) -> str:
    """A fingerprint of an array's values."""
    if values.dtype.kind == "O":
        content = repr(values.tolist()).encode()
    else:
        if values.dtype.kind == "f":  # one zero and one NaN, whatever their sign
            values = np.where(np.isnan(values), np.nan, values + 0.0)
        content = np.ascontiguousarray(values)
    return hashlib.sha256(memoryview(content)).hexdigest()


def assert_close(found, expected, rtol: float = 1e-6, atol: float = 1e-6) -> None:
    """Outputs that agree up to rounding."""
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if values.dtype.kind == "f":
            # a change of p by atol is one of log p by atol / p
            scale = np.maximum(np.exp(values), RARE) if name == "predict_log_proba" else 1.0
            np.testing.assert_allclose(
                found[name] * scale, values * scale, rtol=rtol, atol=atol, err_msg=name
            )
        elif values.dtype.kind == "O":
            pd.testing.assert_frame_equal(
                pd.DataFrame(found[name]), pd.DataFrame(values), rtol=rtol, atol=atol
            )
        else:
            told = told_apart(expected, atol) if name == "predict" else slice(None)
            np.testing.assert_array_equal(found[name][told], values[told], err_msg=name)


def told_apart(expected, atol: float) -> np.ndarray | slice:
    """Rows of whose classes one is more probable than the others; rounding decides a tie."""
    proba = expected.get("predict_proba")
    if proba is None or proba.ndim != 2 or proba.shape[1] < 2:
        return slice(None)
    second, first = np.sort(proba, axis=1)[:, -2:].T
    return first - second > atol


def assert_clear(error: Exception, naming: str = "") -> None:
    """The error is one that a user can act on."""
    assert naming in str(error), repr(error)
    assert isinstance(error, (ValueError, GnomonError)), repr(error)
    assert not isinstance(error, np.linalg.LinAlgError), repr(error)
    assert len(str(error)) > 20, repr(error)


def marks_missing(estimator) -> bool:
    """Whether NaN in its output means something.

    A filter may hand on missing cells; a mean of the rows within a radius is NaN where there is no
    row, as in scikit-learn.
    """
    if hasattr(estimator, "predict"):
        return is_regressor(estimator) and "radius" in parameters_of(type(estimator))
    return estimator.natively.missing


def assert_sound(found: dict[str, np.ndarray], missing: bool = False) -> None:
    """No infinity, and no NaN unless it marks missing cells; probabilities are such."""
    for name, values in found.items():
        if values.dtype.kind not in "fc":
            continue
        assert missing or not np.isnan(values).any(), f"{name} holds NaN"
        if name == "predict_log_proba":
            assert (values <= 1e-9).all(), name
        else:
            assert not np.isinf(values).any(), f"{name} holds infinity"
        if name == "predict_proba":
            np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-9)
            assert values.min() >= 0


def result_or_clear_error(estimator, X, y, warned=None) -> dict[str, np.ndarray] | None:
    """What the estimator says after learning, sound in all; None after a clear error.

    Warnings of NumPy's are put into the list `warned`, where one is given.
    """
    found = None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = answers(estimator.fit(X, y), X)
        except Exception as error:
            assert_clear(error)
    if warned is not None:
        warned += [str(each.message) for each in told if each.category is RuntimeWarning]
    if found is not None:
        assert_sound(found, missing=marks_missing(estimator))
    return found
