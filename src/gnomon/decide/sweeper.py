"""The sweeper: what a fitted model predicts as one or two of its inputs are swept.

All other inputs are fixed: at given values, or at the median (the commonest level) of the data.
Places without data are marked: a model says something there too, and nobody knows whether it holds.

Texts: 004 9.1 (Fig. 9.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.columns import Rows, grid_of
from gnomon.contract.result import Result
from gnomon.decide.support import Support
from gnomon.engine.errors import DataError


@dataclass(repr=False)
class Sweep(Result):
    """Predictions over one or two swept inputs.

    Attributes
    ----------
    names : tuple of str
        The swept inputs.
    places : tuple of ndarray
        The places along each.
    values : ndarray
        Predictions, of shape (n,) or (n_second, n_first).
    supported : ndarray of bool
        Where there are data, of the shape of ``values``.
    fixed : dict
        What the other inputs were set to.
    label : str
        What is predicted.
    """

    names: tuple[str, ...]
    places: tuple[np.ndarray, ...]
    values: np.ndarray
    supported: np.ndarray
    fixed: dict[str, Any]
    label: str

    @property
    def best(self) -> dict[str, Any]:
        """The supported place of the greatest prediction."""
        where = np.unravel_index(
            np.where(self.supported, self.values, -np.inf).argmax(), self.values.shape
        )
        return {
            name: places[i] for name, places, i in zip(self.names, self.places, reversed(where))
        }

    def _title(self) -> str:
        outside = 1 - self.supported.mean()
        return f"{self.label} over {' and '.join(self.names)} ({outside:.0%} of it without data)"

    def _columns(self) -> dict[str, list[Any]]:
        grid = np.meshgrid(*self.places)
        columns = {n: g.ravel().tolist() for n, g in zip(self.names, grid)}
        columns[self.label] = self.values.ravel().tolist()
        return columns | {"data near it": self.supported.ravel().tolist()}

    def _remarks(self) -> list[str]:
        return [f"Fixed: {', '.join(f'{k} = {v}' for k, v in self.fixed.items())}."]


def sweep(
    model: Any,
    X: Any,
    over: str | int | Sequence[str | int],
    *,
    fixed: Mapping[str, Any] | None = None,
    class_: Any = None,
    n_points: int = 50,
) -> Sweep:
    """What a fitted model predicts as one or two inputs change and all others are fixed.

    Parameters
    ----------
    model : fitted regressor or classifier
    X : array-like, data frame or Table
        The rows that it learned from: they give the ranges, the usual values and where there are
        data.
    over : column, or two of them
        Names, or positions in an array.
    fixed : mapping of str to object, default=None
        Values of other inputs; medians and the commonest levels where left out.
    class_ : object, default=None
        Of a classifier, the class whose probability is shown; the last where left out.
    n_points : int, default=50
        Places along each input.

    Returns
    -------
    sweep : Sweep

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.decide import sweep
    >>> from gnomon.linear import LinearRegression
    >>> X = np.random.default_rng(0).uniform(size=(100, 3))
    >>> found = sweep(LinearRegression().fit(X, X[:, 0] + X[:, 1]), X, (0, 1), n_points=5)
    >>> found.values.shape
    (5, 5)
    """
    rows = Rows(X)
    chosen = [over] if isinstance(over, (str, int, np.integer)) else list(over)
    names = [rows.name(each) for each in chosen]
    fixed = dict(fixed or {})
    if not 1 <= len(names) <= 2 or len(set(names)) != len(names):
        raise DataError("sweep over one input or two different ones")
    unknown = (set(names) | set(fixed)) - set(rows.names)
    if unknown:
        raise DataError(
            f"there is no input {', '.join(sorted(unknown))}; the inputs are {rows.names}"
        )
    if set(fixed) & set(names):
        raise DataError("an input is swept or fixed, not both")
    places = tuple(grid_of(rows.values(name), n_points)[0] for name in names)
    grid = [each.ravel() for each in np.meshgrid(*places)]
    settled = {n: fixed.get(n, usual(rows.values(n))) for n in rows.names if n not in names}
    start = rows.taken(np.zeros(len(grid[0]), dtype=np.int64))
    asked = start.replaced({**settled, **{n: g.tolist() for n, g in zip(names, grid)}})
    values, label = predictions(model, asked.X, class_)
    shape = tuple(len(each) for each in reversed(places))
    near = [*names, *fixed]
    columns = dict(zip(names, grid)) | {
        n: np.full(len(grid[0]), v, object) for n, v in fixed.items()
    }
    for name in fixed:
        if rows.values(name).dtype.kind == "f":
            columns[name] = columns[name].astype(np.float64)
    supported = Support(rows, near).holds(columns)
    return Sweep(
        tuple(names), places, values.reshape(shape), supported.reshape(shape), settled, label
    )


def usual(values: np.ndarray) -> Any:
    """The median of numbers (of whole ones a whole number), the commonest of other values."""
    if values.dtype.kind == "f":
        numbers = np.sort(values[~np.isnan(values)])
        return float(numbers[(len(numbers) - 1) // 2]) if len(numbers) else None
    counts = Counter(each for each in values.tolist() if each is not None)
    return min(counts, key=lambda each: (-counts[each], str(each))) if counts else None


def predictions(model: Any, rows: Any, class_: Any = None) -> tuple[np.ndarray, str]:
    """Predictions of a regressor, or probabilities of a class, and what they are."""
    if not hasattr(model, "classes_"):
        return np.asarray(model.predict(rows), dtype=np.float64), "prediction"
    classes = list(model.classes_)
    if class_ is not None and class_ not in classes:
        raise DataError(f"the model has no class {class_!r}; its classes are {classes}")
    place = len(classes) - 1 if class_ is None else classes.index(class_)
    return np.asarray(model.predict_proba(rows))[:, place], f"probability of {classes[place]}"
