"""Error bars of coefficients by drawing rows again: for every linear model, penalised ones too.

Texts: 004 5.3 (bootstrap of the parameters of a fit) · 002 "Bootstrap".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.evaluate.bootstrap import Bootstrap, bootstrap
from gnomon.evaluate.fold_run import with_target
from gnomon.linear.inference import column_names


def coefficient_bootstrap(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 500,
    method: str = "percentile",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Bootstrap:
    """Bias, standard error and interval of each coefficient, by fitting again on drawn rows.

    Use it where a model has no formula for them: robust, quantile and penalised regressions. The
    shrinkage of a penalty is a bias that drawing rows does not show: intervals are those of the
    penalised coefficient, not of the true one. Rows must be independent. Not for a lasso's zeros,
    of which the bootstrap is not consistent. Texts: 004 5.3.

    Parameters
    ----------
    estimator : estimator
        A linear model with ``coef_`` for one target; clones of it are fitted.
    X : array-like, data frame or Table of shape (n, p)
    y : array-like or str
        The target, or the name of its column.
    n_resamples : int, default=500
    method : {"percentile", "basic", "normal", "bca", "expanded"}, default="percentile"
        The interval, see `gnomon.evaluate.bootstrap`; the last two fit n more times.
    confidence_level : float, default=0.95
    random_state : int or None, default=0
    n_jobs : int or None, default=None
        Threads; does not change the result.

    Returns
    -------
    result : Bootstrap
        Entries are the constant, where there is one, and the coefficients, with their names.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import RobustRegression, coefficient_bootstrap
    >>> x = np.arange(30.0)[:, None]
    >>> y = 2 * x[:, 0] + np.random.default_rng(0).normal(size=30)
    >>> found = coefficient_bootstrap(RobustRegression(), x, y, n_resamples=100)
    >>> found.names
    ['(intercept)', 'x0']
    >>> print(found.interval()[1])
    1.995 (1.970 to 2.022)
    """
    X, y = with_target(X, y)
    whole = clone(estimator).fit(X, y)
    if not hasattr(whole, "coef_") or np.ndim(whole.coef_) != 1:
        raise DataError(
            f"{type(estimator).__name__} has no coef_ of one target to bootstrap; give a linear "
            "model, or use gnomon.evaluate.bootstrap with a statistic of your own"
        )
    constant = bool(getattr(estimator, "fit_intercept", True))
    names = ["(intercept)"] * constant + column_names(whole)

    def coefficients(rows, targets) -> np.ndarray:
        fitted = clone(estimator).fit(rows, targets)
        if len(fitted.coef_) + constant != len(names):
            raise DataError(
                "a draw of rows lacks a level of some category, so that coefficients differ from "
                "draw to draw; merge rare levels, or encode the table first"
            )
        return np.concatenate([[fitted.intercept_] * constant, fitted.coef_])

    found = bootstrap(
        coefficients,
        X,
        np.asarray(y),
        n_resamples=n_resamples,
        method=method,
        confidence_level=confidence_level,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return replace(found, names=names)
