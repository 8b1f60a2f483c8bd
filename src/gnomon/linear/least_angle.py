"""Least angle regression: a path of linear models, from one without columns to least squares.

    b moves along the direction that makes the same angle with every active column

until another column correlates as much with the residual and becomes active too. So the path is a
chain of straight pieces, and all of it costs about as much as one solution of least squares.
scikit-learn's own class, which takes any table here; `Lasso` computes its path by coordinate
descent.

Texts: 000 10.4.2 · 001 3.4 (subsets of columns); the algorithm is that of Efron and others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.contract.plain_defaults import plain_defaults
from gnomon.contract.recorded import Recorded, Steps
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Optional, Whole
from gnomon.linear.least_squares import independent_columns

TEXTS = "000 10.4.2 · 001 3.4"


class LeastAngle(OverScikitLearn):
    """What the methods by least angles share: what they store, and their memory."""

    _copies = 1.3
    _squares = 7.0  # the Gram matrix, its factor, and the path
    _target = "numbers"
    _many_targets = True
    _stored = {
        "active_": Optional(ListOf(Whole()) | ListOf(ListOf(Whole()))),
        "alphas_": Array("f", (None,)) | ListOf(Array("f", (None,))),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "coef_path_": Optional(
            Array("f", ("n_columns", None)) | ListOf(Array("f", ("n_columns", None)))
        ),
        "intercept_": Number() | Array("f", (None,)),
        "n_iter_": Whole() | ListOf(Whole()),
    }

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        result = super()._fit_peer(fit, rows, given)
        for name in ("active_", "n_iter_"):  # whole numbers of NumPy's, which files do not hold
            if hasattr(self, name):
                setattr(self, name, plain_numbers(getattr(self, name)))
        return result


def plain_numbers(value: Any) -> Any:
    """A whole number, or lists of such, as Python's own."""
    return [plain_numbers(each) for each in value] if isinstance(value, list) else int(value)


@method(
    task="regress",
    texts=TEXTS,
    use="The order in which columns enter a linear model; a model of a given number of columns.",
    avoid="Noisy or strongly correlated columns, of which it takes one and then the other.",
    peers=("sklearn.linear_model.Lars",),
    on="scikit-learn",
    synonyms=("least angle regression", "lars", "forward stagewise"),
)
@plain_defaults
class Lars(LeastAngle, linear_model.Lars):
    """Linear regression by least angles: columns enter one after the other.

    Use it to see in which order columns enter, or for a model of a given number of them; not for
    noisy or strongly correlated columns, for which `LassoCV` and `RidgeCV` choose a penalty.
    Of a table's columns, those that are combinations of columns before them (the last level of a
    category is) keep the coefficient zero; least squares would not be unique.

    Examples
    --------
    >>> from gnomon.linear import Lars
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0.0, 2.0, 4.0, 6.0]
    >>> Lars(n_nonzero_coefs=1).fit(X, y).active_
    [0]
    """

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        if "encoder_" in self._during[1]:
            rows = without_combinations(rows, self.fit_intercept)
        return super()._fit_peer(fit, rows, given)


def without_combinations(rows: np.ndarray, intercept: bool) -> np.ndarray:
    """The rows with zeros in columns that are combinations of columns before them.

    A column of zeros never correlates with the residual, so it does not enter. Where there are
    as many columns as rows the path ends before it needs all of them, and any may enter.
    """
    if len(rows) <= rows.shape[1] + intercept:
        return rows
    centered = rows - rows.mean(axis=0) if intercept else rows
    alone = np.zeros_like(rows)
    kept = independent_columns(centered.T @ centered)
    alone[:, kept] = rows[:, kept]
    return alone


@method(
    task="regress",
    texts=TEXTS,
    use="The whole path of the lasso, exactly, where it has few pieces.",
    avoid="Many rows or columns (Lasso, LassoCV); strongly correlated columns.",
    peers=("sklearn.linear_model.LassoLars",),
    on="scikit-learn",
    synonyms=("lasso path", "least angle regression", "homotopy"),
)
@plain_defaults
class LassoLars(Recorded, LeastAngle, linear_model.LassoLars):
    """The lasso by least angles: all solutions from the largest penalty down to ``alpha``.

    Use it for the exact path of solutions and the penalties at which columns enter or leave
    (``alphas_``, ``coef_path_``); not for many rows or columns, for which `Lasso` is faster, nor
    for strongly correlated columns.

    Attributes
    ----------
    history_ : History
        The objective for ``alpha`` after each step of the path; several targets one by one.

    Examples
    --------
    >>> from gnomon.linear import LassoLars
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0.0, 2.0, 4.0, 6.0]
    >>> LassoLars(alpha=0.1).fit(X, y).coef_.round(2).tolist()
    [1.92, 0.0]
    """

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        rows, y = np.asarray(rows, dtype=float), np.asarray(given["y"], dtype=float)
        paths, several = self._paths(rows, y), y.ndim > 1
        targets = y.reshape(len(rows), -1)
        center, middle = np.zeros(rows.shape[1]), np.zeros(targets.shape[1])
        if self.fit_intercept:
            center, middle = rows.mean(axis=0), targets.mean(axis=0)
        coef = np.zeros((targets.shape[1], rows.shape[1]))
        for target, path in enumerate(paths):
            for number in range(1, path.shape[1]):
                coef[target] = path[:, number]
                away = targets - middle - (rows - center) @ coef.T
                costs = (away**2).sum() / (2 * len(rows)) + self.alpha * np.abs(coef).sum()
                found = coef.copy() if several else coef[0].copy()
                constants = middle - coef @ center
                attributes = {
                    "coef_": found,
                    "intercept_": constants if several else constants[0],
                    "n_iter_": number,
                }
                steps.report(float(costs), {"coef": found}, attributes, number)

    def _paths(self, rows: Any, y: Any) -> list[np.ndarray]:
        """Coefficients after each step, for each target."""
        path = getattr(self, "coef_path_", None)
        if path is None:
            given = {name: getattr(self, name) for name in linear_model.LassoLars().get_params()}
            again = linear_model.LassoLars(**{**given, "fit_path": True, "copy_X": True})
            path = again.fit(rows, y).coef_path_
        return path if isinstance(path, list) else [path]
