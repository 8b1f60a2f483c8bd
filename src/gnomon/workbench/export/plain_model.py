"""A fitted model as plain arrays: what an ONNX file or generated code is made of."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.prepare import DateParts, FilteredLearner, StandardScaler
from gnomon.table.codes import CategoryCode, NumberCode
from gnomon.trees.gradient_boosting import ExactBoosting
from gnomon.trees.tree import Tree

EXPORTED = (
    "linear models (LinearRegression, Ridge, Lasso, ElasticNet, LogisticRegression ...), decision "
    "trees, forests and gradient boosting"
)


@dataclass(frozen=True)
class PlainModel:
    """What a model computes, from a row of numbers.

    The scores of a row are ``intercept + coef @ x`` of a linear model, and
    ``intercept + scale * sum of the trees`` of trees; the link makes the answer of them.

    Attributes
    ----------
    names : list of str
        Columns of numbers that the model sees.
    codes : list or None
        Of a model that was fitted to a table: how its columns become numbers.
    classes : list or None
        None where a number is predicted.
    coef : ndarray of shape (n_scores, n_columns) or None
    trees : list of (Tree, int or None)
        Each with the score that it adds to; None where it has a value for every score.
    intercept : ndarray of shape (n_scores,)
    scale : float
    link : {"identity", "exp", "logistic", "softmax"}
    """

    names: list[str]
    codes: list[Any] | None
    classes: list[Any] | None
    coef: np.ndarray | None
    trees: Sequence[tuple[Tree, int | None]]
    intercept: np.ndarray
    scale: float
    link: str

    @property
    def n_scores(self) -> int:
        """Numbers before the link."""
        return len(self.intercept)


def plain_model(model: Any) -> PlainModel:
    """The arrays of a fitted model; refuses what has none that can be exported.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    plain : PlainModel
    """
    if isinstance(model, FilteredLearner):
        units = _units(model)
        return in_own_units(plain_model(model.estimator_), units)
    inner, encoder = _inner(model)
    names, codes = _columns(inner, encoder)
    classes = getattr(model, "classes_", None)  # those of a search's winner may be codes
    known = None if classes is None else np.asarray(classes).tolist()
    if known is not None and len(known) < 2:
        raise DataError("a model of one class has nothing to export")
    if hasattr(inner, "baseline_") and hasattr(inner, "trees_"):
        return _boosting(inner, names, codes, known)
    if isinstance(inner, ExactBoosting):
        return _exact_boosting(inner, names, codes, known)
    if hasattr(inner, "trees_"):
        trees = [(tree, None) for tree in inner.trees_]
        return _shares(names, codes, known, trees, 1 / len(trees))
    if hasattr(inner, "nodes_") and isinstance(inner.nodes_, Tree):
        return _shares(names, codes, known, [(inner.nodes_, None)], 1.0)
    if hasattr(inner, "coef_") and hasattr(inner, "intercept_"):
        return _linear(inner, names, codes, known)
    raise DataError(f"{type(inner).__name__} cannot be exported; these can: {EXPORTED}")


def _units(model: FilteredLearner) -> dict[str, tuple[float, float]]:
    """What a learner's filters subtract from every column of numbers, and divide it by."""
    found: dict[str, tuple[float, float]] = {}
    if model.target_filters_ or model.encoder_ is not None:
        raise DataError(
            f"FilteredLearner with a filter of its target or a learner of another "
            f"library cannot be exported; these can: {EXPORTED}"
        )
    for each in model.feature_filters_:
        changed = [int(place) for place in getattr(each, "positions_", ())]
        if not changed:
            continue
        names = [str(n) for n in getattr(each, "feature_names_in_", ())]
        names = names or [f"x{j}" for j in range(each.n_features_in_)]
        if isinstance(each, DateParts):
            name = names[changed[0]]
            raise DataError(
                f"column {name!r} is a date, whose parts cannot be exported; learn without it "
                f"(--without {name})"
            )
        if not isinstance(each, StandardScaler) or found:
            raise DataError(f"a learner after {type(each).__name__} cannot be exported")
        means = np.zeros(len(changed)) if each.mean_ is None else each.mean_
        scales = np.ones(len(changed)) if each.scale_ is None else each.scale_
        found = {
            names[place]: (float(mean), float(scale))
            for place, mean, scale in zip(changed, means, scales, strict=True)
        }
    return found


def in_own_units(plain: PlainModel, units: dict[str, tuple[float, float]]) -> PlainModel:
    """A linear model of standardized columns as one of the columns as they are.

    Parameters
    ----------
    plain : PlainModel
    units : dict of str to (float, float)
        Column to mean and scale: the model sees (x - mean) / scale.

    Returns
    -------
    plain : PlainModel
    """
    if not units:
        return plain
    if plain.coef is None:
        raise DataError("trees of standardized columns cannot be exported")
    coef, intercept = plain.coef.copy(), plain.intercept.copy()
    for place, name in enumerate(plain.names):
        mean, scale = units.get(name, (0.0, 1.0))
        coef[:, place] /= scale
        intercept -= coef[:, place] * mean
    codes = plain.codes and [_code_in_own_units(each, units) for each in plain.codes]
    return replace(plain, coef=coef, intercept=intercept, codes=codes)


def _code_in_own_units(code: Any, units: dict[str, tuple[float, float]]) -> Any:
    """A code whose mean, which stands for missing cells, is that of the column as it is."""
    if not isinstance(code, NumberCode) or code.name not in units:
        return code
    mean, scale = units[code.name]
    found = copy(code)
    found.mean = mean + scale * code.mean
    return found


def _inner(model: Any) -> tuple[Any, Any]:
    """The model that predicts, of a search its winner; and what turns tables into numbers."""
    encoder = getattr(model, "encoder_", None)
    if hasattr(model, "best_name_") and len(getattr(model, "members_", ())) == 1:
        member = model.members_[0]
        if member.columns is None:
            inner, own = _inner(member.estimator)
            return inner, own or member.encoder or encoder
    return model, encoder


def _columns(inner: Any, encoder: Any) -> tuple[list[str], list[Any] | None]:
    """Names of the numbers that a model sees, and the codes of a table's columns."""
    if encoder is None:
        count = int(inner.n_features_in_)
        return [
            str(n) for n in getattr(inner, "feature_names_in_", [f"x{j}" for j in range(count)])
        ], None
    for code in encoder.codes:
        if not isinstance(code, (NumberCode, CategoryCode)):
            raise DataError(
                f"column {code.name!r} is a date or text, whose code cannot be exported; learn "
                f"without it (--without {code.name})"
            )
    return list(encoder.columns.names), list(encoder.codes)


def _shares(
    names: list[str],
    codes: list[Any] | None,
    classes: list[Any] | None,
    trees: Sequence[tuple[Tree, int | None]],
    scale: float,
) -> PlainModel:
    width = trees[0][0].value.shape[1]
    if width != (1 if classes is None else len(classes)):
        raise DataError("trees of several targets cannot be exported")
    return PlainModel(names, codes, classes, None, trees, np.zeros(width), scale, "identity")


def _boosting(
    model: Any, names: list[str], codes: list[Any] | None, classes: list[Any] | None
) -> PlainModel:
    width = len(model.baseline_)
    trees = [(tree, place % width) for place, tree in enumerate(model.trees_)]
    if classes is not None:
        link = "logistic" if width == 1 else "softmax"
    else:
        link = {"poisson": "exp", "gamma": "exp"}.get(str(model.loss), "identity")
    return PlainModel(
        names, codes, classes, None, trees, np.asarray(model.baseline_, float), 1.0, link
    )


def _exact_boosting(
    model: ExactBoosting, names: list[str], codes: list[Any] | None, classes: list[Any] | None
) -> PlainModel:
    if model._start is None:
        raise DataError(f"{type(model).__name__} with init= of an estimator cannot be exported")
    width = model.n_trees_per_iteration_
    trees = [(tree, place % width) for place, tree in enumerate(model.trees_)]
    link, factor = "identity", 1.0
    if classes is not None:
        link = "logistic" if width == 1 else "softmax"
        factor = 2.0 if model.loss == "exponential" else 1.0  # its scores are half log odds
    start = factor * np.asarray(model._start, dtype=np.float64)
    return PlainModel(names, codes, classes, None, trees, start, factor * model.learning_rate, link)


def _linear(
    model: Any, names: list[str], codes: list[Any] | None, classes: list[Any] | None
) -> PlainModel:
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(coef)).copy()
    if coef.shape[1] != len(names):
        raise DataError(f"{type(model).__name__} has no coefficient for every column")
    link = "identity"
    if classes is not None:
        if not hasattr(model, "predict_proba"):
            raise DataError(f"{type(model).__name__} has no probabilities; it is not exported")
        link = "logistic" if len(coef) == 1 else "softmax"
    elif len(coef) > 1:
        raise DataError("a model of several targets cannot be exported")
    return PlainModel(names, codes, classes, coef, [], intercept, 1.0, link)
