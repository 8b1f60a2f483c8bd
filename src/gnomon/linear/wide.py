"""More columns than rows: why plain least squares says nothing there, and what to do instead.

With no more rows than columns least squares fits every target exactly in infinitely many ways, so
that its coefficients and its error on the rows of the fit mean nothing. A bet on sparsity (few
columns matter) makes the question answerable: the lasso or the elastic net, with the penalty chosen
by cross-validation.

Texts: 000 11.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.linear.elastic_net import ElasticNet, Lasso
from gnomon.linear.inference import NoSummary, column_names
from gnomon.linear.least_squares import LinearRegression

PENALTIES = ("lasso", "elastic net", "none")


EXACT = 1e-7  # duality gap: the columns in use do not depend on when the solver stops


@dataclass(repr=False)
class WideRegression(Result):
    """A regression that chose a few of many columns.

    Attributes
    ----------
    model : Lasso or ElasticNet
        The fitted model, with its cross-validated path in ``path_``.
    n_rows, n_columns : int
    names : list of str
        The columns that were chosen, the largest coefficient first.
    coefficients : ndarray
        Theirs.
    validated_error, standard_error : float
        Cross-validated mean squared error at the chosen penalty, and its standard error.
    baseline_error : float
        That of the mean alone: the first penalty of the path.
    """

    model: Any
    n_rows: int
    n_columns: int
    names: list[str]
    coefficients: np.ndarray
    validated_error: float
    standard_error: float
    baseline_error: float

    def _title(self) -> str:
        return (
            f"{len(self.names)} of {self.n_columns:,} columns chosen from {self.n_rows:,} rows "
            f"(alpha {self.model.alpha_:.4g})"
        )

    def _columns(self) -> dict[str, list]:
        return {"column": self.names, "coefficient": self.coefficients.tolist()}

    def _remarks(self) -> list[str]:
        lines = [
            f"cross-validated mean squared error {self.validated_error:.4g} (standard error "
            f"{self.standard_error:.4g}); without columns {self.baseline_error:.4g}"
        ]
        if self.n_columns >= self.n_rows:
            lines.append(
                "other columns may do as well as those chosen: with more columns than rows the "
                "choice is not unique, and coefficients have no standard errors"
            )
        return lines


def wide_regression(
    X: Any,
    y: Any,
    *,
    penalty: str = "lasso",
    choose: str = "1se",
    l1_ratio: float = 0.5,
    cv: int = 10,
    random_state: int | None = 0,
) -> WideRegression:
    """Regress on many columns, more than rows even, and report those that were chosen.

    Use it where few of many columns matter. Columns should be scaled alike first. Not for standard
    errors, nor where all columns matter a little (`Ridge`). Without a penalty it refuses a table of
    no more rows than columns, as its fit would mean nothing. Texts: 000 11.4.2.

    Parameters
    ----------
    X : array-like, data frame or Table of shape (n, p)
    y : array-like or str
        The target, or the name of its column.
    penalty : {"lasso", "elastic net", "none"}, default="lasso"
        The elastic net keeps correlated columns together; ``"none"`` is least squares.
    choose : {"1se", "min"}, default="1se"
        The penalty: the greatest within one standard error of the least validated error, or that of
        the least.
    l1_ratio : float, default=0.5
        Of the elastic net.
    cv : int, default=10
    random_state : int or None, default=0
        Deals the folds.

    Returns
    -------
    result : WideRegression

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import wide_regression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 200))
    >>> y = 3 * X[:, 7] - 2 * X[:, 90] + 0.1 * rng.normal(size=40)
    >>> wide_regression(X, y).names[:2]
    ['x7', 'x90']
    """
    if penalty not in PENALTIES:
        raise DataError(f"penalty={penalty!r} is none of {', '.join(map(repr, PENALTIES))}")
    if penalty == "none":
        _plain(X, y)
    model = (
        Lasso(choose, tol=EXACT, cv=cv, random_state=random_state)
        if penalty == "lasso"
        else ElasticNet(choose, l1_ratio=l1_ratio, tol=EXACT, cv=cv, random_state=random_state)
    ).fit(X, y)
    path = model.path_
    place = path.place_min if choose == "min" else path.place_1se
    names = column_names(model)
    chosen = np.flatnonzero(model.coef_)
    chosen = chosen[np.argsort(-np.abs(model.coef_[chosen]), kind="stable")]
    return WideRegression(
        model,
        _n_rows(X),
        len(names),
        [names[j] for j in chosen],
        model.coef_[chosen],
        float(path.errors[place]),
        float(path.standard_errors[place]),
        float(path.errors[0]),
    )


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _plain(X: Any, y: Any) -> NoReturn:
    """Refuse least squares where it means nothing, and name it where it means something."""
    model = LinearRegression().fit(X, y)
    n, p = _n_rows(X), len(column_names(model))
    if n <= p + 1:
        raise NoSummary(
            f"{n:,} rows cannot determine {p:,} columns and a constant: least squares fits every "
            "target exactly, in infinitely many ways, so that neither its coefficients nor its "
            "error mean anything. Use penalty='lasso' or penalty='elastic net', which bet on few "
            "columns, or Ridge"
        )
    raise DataError(
        f"{n:,} rows are more than {p:,} columns: penalty='none' is LinearRegression, which has "
        "standard errors; use that"
    )
