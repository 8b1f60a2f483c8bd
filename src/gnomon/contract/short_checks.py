"""Methods of scikit-learn's classes with short checks of plain arrays.

scikit-learn's ``validate_data`` finds out whether an array is a data frame or series of one of many
libraries before it looks at it: 30 to 50 microseconds, which is most of the time of a prediction
for one row. Of an array of finite floats with as many columns as in ``fit`` nothing is left to
find out, and one pass over its numbers tells that it is one. Here are functions of the same names
and meaning that do this first and call scikit-learn's for all else, and what makes a copy of a
method that calls them.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Iterator
from types import CellType, FunctionType
from typing import Any

import numpy as np
from sklearn.utils import _indexing as indexing
from sklearn.utils import multiclass, validation
from sklearn.utils.metaestimators import available_if

# Parameters of scikit-learn's checks that matter for what an array of floats is not: sparse, of
# infinite numbers, of many dimensions, or named in a message.
HARMLESS = frozenset(
    {
        "accept_sparse",
        "accept_large_sparse",
        "ensure_all_finite",
        "allow_nd",
        "estimator",
        "input_name",
    }
)
OF_TARGET = ("multi_output", "y_numeric")
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def is_finite(X: Any) -> bool:
    """Whether X is an array of finite floats in one piece of memory; False for some huge ones."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in FLOATS:
        return False
    if X.size == 0 or not X.flags.forc:
        return False
    return squares_are_finite(X.ravel(order="K"))


def squares_are_finite(line: np.ndarray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(line, line)))


def is_line(y: Any) -> bool:
    """Whether y is a plain array of one dimension, of numbers that are not missing or infinite."""
    if type(y) is not np.ndarray or y.ndim != 1 or not y.size or not y.flags.c_contiguous:
        return False
    return y.dtype.kind in "biu" or (y.dtype in FLOATS and squares_are_finite(y))


def as_checked(X: np.ndarray, params: dict[str, Any]) -> np.ndarray | None:
    """What ``check_array`` returns for rows of finite floats; None where it must tell."""
    for name, value in params.items():
        if name in HARMLESS or name in ("dtype", "copy"):
            continue
        if name == "order":
            known = value is None or (
                value in ("C", "F")
                and (X.flags.c_contiguous if value == "C" else X.flags.f_contiguous)
            )
        elif name == "force_writeable":
            known = not value or X.flags.writeable or params.get("copy", False)
        elif name == "ensure_min_samples":
            known = len(X) >= value
        elif name == "ensure_min_features":
            known = X.shape[1] >= value
        elif name == "ensure_2d":
            known = bool(value)
        elif name == "ensure_non_negative":
            known = not value or X.min() >= 0
        else:
            known = False
        if not known:
            return None
    kinds = params.get("dtype")
    kinds = tuple(kinds) if isinstance(kinds, (list, tuple)) else (kinds,)
    if kinds in ((None,), ("numeric",)) or X.dtype in kinds:
        return X.copy(order="K") if params.get("copy") else X
    wanted = np.dtype(kinds[0])
    wider = wanted.kind == "f" and wanted.itemsize >= X.dtype.itemsize
    return X.astype(wanted) if wider or wanted.kind == "i" else None


def check_array(array: Any, *args: Any, **params: Any) -> Any:
    """scikit-learn's function of this name, short for rows of finite floats."""
    if not args and is_finite(array):
        found = as_checked(array, params)
        if found is not None:
            return found
    return validation.check_array(array, *args, **params)


def validate_data(
    _estimator: Any,
    /,
    X: Any = "no_validation",
    y: Any = "no_validation",
    reset: bool = True,
    **params: Any,
) -> Any:
    """scikit-learn's function of this name, short for rows of finite floats without names."""
    found = None
    if y is not None and is_finite(X) and "feature_names_in_" not in vars(_estimator):
        n_columns = X.shape[1]
        if reset or getattr(_estimator, "n_features_in_", n_columns) == n_columns:
            of_rows = {name: value for name, value in params.items() if name not in OF_TARGET}
            found = X if of_rows.pop("skip_check_array", False) else as_checked(X, of_rows)
    if found is None:
        return validation.validate_data(_estimator, X, y, reset, **params)
    if reset:
        _estimator.n_features_in_ = X.shape[1]
    if isinstance(y, str) and y == "no_validation":
        return found
    if not params.get("skip_check_array", False):
        of_target = {name: params[name] for name in OF_TARGET if name in params}
        y = _check_y(y, **of_target, estimator=_estimator)
        if len(X) != y.shape[0]:
            validation.check_consistent_length(X, y)
    return found, y


def _check_y(y: Any, *args: Any, **params: Any) -> Any:
    """scikit-learn's function of this name, short for a line of finite numbers."""
    return y if is_line(y) else validation._check_y(y, *args, **params)


def column_or_1d(y: Any, **params: Any) -> Any:
    """scikit-learn's function of this name, short for a line of finite numbers."""
    if params.keys() <= {"warn", "input_name"} and is_line(y):
        return y
    return validation.column_or_1d(y, **params)


def check_classification_targets(y: Any) -> None:
    """scikit-learn's function of this name, short for whole numbers that are close together."""
    whole = is_line(y) and y.dtype.kind in "iu"
    if not whole or int(y.max()) - int(y.min()) >= len(y) // 2:  # else at most half are different
        multiclass.check_classification_targets(y)


def unique_labels(*ys: Any, **params: Any) -> Any:
    """scikit-learn's function of this name, short for one line of whole numbers."""
    if len(ys) == 1 and not params and is_line(ys[0]) and ys[0].dtype.kind in "iu":
        return np.unique(ys[0])
    return multiclass.unique_labels(*ys, **params)


def check_is_fitted(estimator: Any, attributes: Any = None, **params: Any) -> None:
    """scikit-learn's function of this name, short for what has the attributes of a fit."""
    wanted = "n_features_in_" if attributes is None else attributes
    has_own_way = hasattr(type(estimator), "__sklearn_is_fitted__")
    named = isinstance(wanted, str) and not (params or has_own_way or isinstance(estimator, type))
    if named and wanted in vars(estimator):
        return
    validation.check_is_fitted(estimator, attributes, **params)


def _safe_indexing(X: Any, indices: Any, *, axis: int = 0) -> Any:
    """scikit-learn's function of this name, short for chosen rows or columns of an array."""
    plain = type(X) is np.ndarray and type(indices) is np.ndarray
    if plain and X.ndim == 2 and indices.ndim == 1 and indices.dtype.kind in "bi":
        return X[indices] if axis == 0 else X[:, indices]
    return indexing._safe_indexing(X, indices, axis=axis)


# A name in scikit-learn's modules, what it stands for there, and here.
SHORT: dict[str, tuple[Any, Any]] = {
    "check_array": (validation.check_array, check_array),
    "validate_data": (validation.validate_data, validate_data),
    "check_is_fitted": (validation.check_is_fitted, check_is_fitted),
    "_safe_indexing": (indexing._safe_indexing, _safe_indexing),
    "_check_y": (validation._check_y, _check_y),
    "column_or_1d": (validation.column_or_1d, column_or_1d),
    "check_classification_targets": (
        multiclass.check_classification_targets,
        check_classification_targets,
    ),
    "unique_labels": (multiclass.unique_labels, unique_labels),
}


def with_short_checks(function: Any) -> Any:
    """A copy of a function of scikit-learn's that calls the short checks; other things as is.

    Functions that it wraps (that stand in its closure) are copied likewise. A copy reads the names
    of its module as they were when it was made.
    """
    if hasattr(function, "check") and hasattr(function, "fn"):  # of available_if
        made = with_short_checks(function.fn)
        return function if made is function.fn else available_if(function.check)(made)
    if not isinstance(function, FunctionType):
        return function
    cells = tuple(map(_copied, function.__closure__ or ()))
    calls = not SHORT.keys().isdisjoint(function.__code__.co_names)
    if not calls and all(map(operator.is_, cells, function.__closure__ or ())):
        return function
    names = _with_checks(function.__module__) if calls else function.__globals__
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__.update(function.__dict__)
    return made


def _copied(cell: CellType) -> CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # an empty cell
        return cell
    made = with_short_checks(held)
    return cell if made is held else CellType(made)


@functools.cache
def _with_checks(module: str) -> dict[str, Any]:
    """The names of a module of scikit-learn's, its checks replaced by the short ones."""
    names = dict(vars(sys.modules[module]))
    for name, (original, short) in SHORT.items():
        if names.get(name) is original:
            names[name] = short
    return names


SHORT["_check_partial_fit_first_call"] = (
    multiclass._check_partial_fit_first_call,
    with_short_checks(multiclass._check_partial_fit_first_call),
)


def methods_with_short_checks(peer: type) -> Iterator[tuple[str, Any]]:
    """Names and copies of a class's methods that call checks, its own or inherited."""
    for name in dir(peer):
        for base in peer.__mro__:
            if name in vars(base):
                method = vars(base)[name]
                if base.__module__.startswith("sklearn.") and not name.startswith("__"):
                    made = with_short_checks(method)
                    if made is not method:
                        yield name, made
                break


@functools.cache
def with_short_methods(peer: Any) -> Any:
    """A subclass of a class of scikit-learn's whose methods call the short checks."""
    return type(peer.__name__, (peer,), dict(methods_with_short_checks(peer)))
