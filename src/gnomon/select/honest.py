"""Is a selection to be believed? Its bias when done outside the folds, and its stability.

Selecting on all rows and then cross-validating the learner lets the test rows choose the features:
pure noise then looks predictable. `selection_bias` shows both figures side by side.
`selection_stability` repeats the selection on resamples and says how alike the choices are
(Nogueira, Sechidis and Brown 2018): 1 for always the same, 0 for no better than chance.

Texts: 004 7.1, 7.6 · 003 2.7.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gnomon.contract import intake
from gnomon.contract.estimate import Estimate, normal_quantile, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.progress import Progress, told
from gnomon.table.table import Table


@dataclass(repr=False)
class SelectionBias(Result):
    """Scores of a selector and a learner: selected inside each fold, and outside of all.

    Attributes
    ----------
    inside : Estimate
        The honest one: features chosen on the training rows of each fold.
    outside : Estimate
        Features chosen once on all rows, then the learner cross-validated.
    measure : str
    """

    inside: Estimate
    outside: Estimate
    measure: str

    @property
    def bias(self) -> float:
        """Outside less inside."""
        return self.outside.value - self.inside.value

    def _title(self) -> str:
        return f"{self.measure} with features selected inside and outside the folds"

    def _columns(self) -> dict[str, list]:
        return {
            "selected": ["inside the folds (honest)", "outside (biased)"],
            self.measure: [self.inside, self.outside],
        }

    def _remarks(self) -> list[str]:
        return [f"selecting outside changes the figure by {self.bias:+.3g}"]


def selection_bias(
    selector: Any,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    measures: Any = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> SelectionBias:
    """Cross-validate a selector with a learner, honestly, and show what doing it wrongly gives.

    Parameters
    ----------
    selector : selector
    estimator : estimator
    X : array-like, data frame or Table
    y : array-like
    cv, measures : see `gnomon.evaluate.cross_validation_estimates`
    random_state : int or None, default=0
    n_jobs : int or None

    Returns
    -------
    found : SelectionBias

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.select import FilterSelector
    >>> rng = np.random.default_rng(0)
    >>> noise, y = rng.normal(size=(50, 300)), rng.normal(size=50)
    >>> found = selection_bias(FilterSelector(5), LinearRegression(), noise, y, measures="r2")
    >>> bool(found.bias > 0)
    True
    """
    together = Pipeline([("select", clone(selector)), ("learn", clone(estimator))])
    chosen = clone(selector).fit(X, y)
    settings = {
        "cv": cv,
        "measures": measures,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "pair_fits": 0,
    }
    inside = cross_validation_estimates(together, X, y, **settings)
    outside = cross_validation_estimates(
        clone(estimator), np.asarray(chosen.transform(X)), y, **settings
    )
    name = inside.measures[0].name if hasattr(inside, "measures") else "score"
    return SelectionBias(inside.figure(), outside.figure(), str(name))


@dataclass(repr=False)
class SelectionStability(Result):
    """How alike the choices of a selector are on resamples.

    Attributes
    ----------
    names : list of str
    chosen : ndarray of bool of shape (n_resamples, n_features)
    score : Estimate
        1 for always the same features, 0 for what chance gives.
    """

    names: list[str]
    chosen: np.ndarray
    score: Estimate

    @property
    def frequencies(self) -> list[Estimate]:
        """Share of resamples in which each feature was chosen."""
        n = len(self.chosen)
        return [share_interval(float(times), n) for times in self.chosen.sum(axis=0)]

    def _title(self) -> str:
        return f"Stability {self.score} over {len(self.chosen)} resamples"

    def _columns(self) -> dict[str, list]:
        order = np.argsort(-self.chosen.sum(axis=0), kind="stable")
        figures = self.frequencies
        return {
            "column": [self.names[j] for j in order],
            "chosen": [figures[j] for j in order],
        }


def selection_stability(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 30,
    random_state: int | None = 0,
    confidence_level: float = 0.95,
    progress: Progress = None,
) -> SelectionStability:
    """Repeat a selection on random halves of the rows and compare the choices.

    Parameters
    ----------
    selector : selector
        With ``get_support``.
    X : array-like, data frame or Table of shape (n, d)
    y : array-like of shape (n,)
    n_resamples : int, default=30
    random_state : int or None, default=0
    confidence_level : float, default=0.95
    progress : bool or callable, default=None

    Returns
    -------
    found : SelectionStability

    Examples
    --------
    >>> from gnomon.select import FilterSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> found = selection_stability(FilterSelector(2), X, X[:, 0] + X[:, 5])
    >>> found.score.value > 0.8
    True
    """
    rng = np.random.default_rng(random_state)
    rows = X if isinstance(X, (Table, np.ndarray)) else _indexable(X)
    target = np.asarray(y)
    n = len(target)
    chosen = []
    with told(progress, "resamples") as tell:
        for number in range(n_resamples):
            half = np.sort(rng.permutation(n)[: n // 2])
            fitted = clone(selector).fit(rows[half], target[half])
            chosen.append(np.asarray(fitted.get_support()))
            tell(number + 1, n_resamples)
    names = [str(name) for name in getattr(fitted, "feature_names_in_", [])]
    names = names or [f"x{j}" for j in range(len(chosen[0]))]
    masks = np.array(chosen)
    return SelectionStability(names, masks, stability_score(masks, confidence_level))


def stability_score(chosen: ArrayLike, confidence_level: float = 0.95) -> Estimate:
    """Stability of several choices of features, with its error bar.

    1 - mean_f s_f^2 / (k/d (1 - k/d)), with s_f^2 the unbiased variance of "f is chosen" over the
    M choices and k the mean number chosen. It is 1 where all choices are the same, 0 on average
    where they are random, and does not depend on how many features are chosen.

    Parameters
    ----------
    chosen : array-like of bool of shape (M, d)
    confidence_level : float, default=0.95

    Returns
    -------
    score : Estimate
        NaN where all features, or none, are always chosen.

    Examples
    --------
    >>> stability_score([[1, 0, 0], [1, 0, 0]]).value
    1.0
    """
    masks = np.asarray(chosen, dtype=np.float64)
    if masks.ndim != 2 or len(masks) < 2:
        raise DataError("stability compares two choices or more, each a row of 0 and 1")
    m, d = masks.shape
    sizes, shares = masks.sum(axis=1), masks.mean(axis=0)
    mean = sizes.mean() / d
    spread = mean * (1 - mean)
    if spread == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), confidence_level)
    value = float(1 - (m / (m - 1) * shares * (1 - shares)).mean() / spread)
    each = masks @ shares / d - sizes * mean / d
    each += value / 2 * (2 * mean * sizes / d - sizes / d - mean + 1)
    each /= spread
    error = float(np.sqrt(4 / m**2 * ((each - each.mean()) ** 2).sum()))
    half = normal_quantile(confidence_level) * error
    how = "normal (Nogueira et al. 2018)"
    return Estimate(value, value - half, value + half, confidence_level, error, how)


def _indexable(X: Any) -> Any:
    return intake.as_table(X) if intake.is_frame(X) else np.asarray(X)
