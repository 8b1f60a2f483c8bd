"""Partial least squares and canonical correlation under scikit-learn's names.

    directions a, b of X and Y with  cov(X a, Y b)  (PLS) or  corr(X a, Y b)  (CCA)  greatest

scikit-learn's own classes, which take any table here. `CanonicalCorrelation` solves the eigenvalue
problem of the texts, with tests of how many directions there are; `NIPALS` shows the iterations.

Texts: 000a 7 (canonical correlation; partial least squares is not in the texts).
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn import cross_decomposition
from sklearn.cross_decomposition import _pls
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.recorded import Recorded, Steps, replaced
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, ListOf, Optional, Text, Whole


class PairedDirections(Recorded):
    """Directions of X and Y found in pairs, each by the power method."""

    _target = "numbers"
    _many_targets: ClassVar[bool] = True
    _keeps_rows = True  # the scores of the training rows, as scikit-learn's
    _stored = {
        "_n_features_out": Whole(1),
        "_norm_y_weights": Flag(),
        "_predict_1d": Optional(Flag()),
        "_x_mean": Array("f", ("n_columns",)),
        "_x_std": Array("f", ("n_columns",)),
        "_y_mean": Array("f", ("n_targets",)),
        "_y_std": Array("f", ("n_targets",)),
        "_x_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "_y_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "algorithm": Text(),
        "deflation_mode": Text(),
        "mode": Text(),
        "coef_": Array("f", ("n_targets", "n_columns")),
        "intercept_": Array("f", ("n_targets",)),
        "n_iter_": Optional(ListOf(Whole()) | Whole()),
        "x_loadings_": Array("f", ("n_columns", "n_components")),
        "x_rotations_": Array("f", ("n_columns", "n_components")),
        "x_weights_": Array("f", ("n_columns", "n_components")),
        "y_loadings_": Array("f", ("n_targets", "n_components")),
        "y_rotations_": Array("f", ("n_targets", "n_components")),
        "y_weights_": Array("f", ("n_targets", "n_components")),
        "x_scores_": Optional(Array("f", ("n_rows", "n_components"))),
        "y_scores_": Optional(Array("f", ("n_rows", "n_components"))),
    }

    def _most_steps(self) -> int:
        return self.max_iter * self.n_components

    def _watched(self, steps: Steps) -> Any:
        found = functools.partial(self._power_method, steps)
        return replaced(_pls, "_get_first_singular_vectors_power_method", found)

    def _power_method(
        self, steps: Steps, original: Any, X: np.ndarray, y: np.ndarray, **how: Any
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The pair of directions, with scikit-learn's bits; its steps are told.

        Direction a of X is that of the covariances of its columns with the scores of Y (mode "A")
        or of the regression of these scores on X ("B"), and b of Y likewise, by turns.
        """
        eps = np.finfo(X.dtype).eps
        varying = np.flatnonzero((np.abs(y) > eps).any(axis=0))
        if not len(varying):
            return original(X, y, **how)  # says that the rest of y is constant
        inverses = [_pls._pinv2_old(block) for block in (X, y)] if how["mode"] == "B" else None
        y_scores, before = y.T[varying[0]], np.full(X.shape[1], 100.0)
        for number in range(1, how["max_iter"] + 1):
            a = regressed(X, y_scores, inverses and inverses[0])
            a /= np.sqrt(np.dot(a, a)) + eps
            x_scores = np.dot(X, a)
            b = regressed(y, x_scores, inverses and inverses[1])
            if how["norm_y_weights"]:
                b /= np.sqrt(np.dot(b, b)) + eps
            y_scores = np.dot(y, b) / (np.dot(b, b) + eps)
            covariance = np.dot(x_scores, y_scores) / len(X)
            steps.report(-covariance, {"x_weights": a, "y_weights": b}, number=number)
            change, before = a - before, a
            if np.dot(change, change) < how["tol"] or y.shape[1] == 1:
                break
        if number == how["max_iter"]:
            warnings.warn("Maximum number of iterations reached", ConvergenceWarning, stacklevel=2)
        return a, b, number

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """A decomposition without steps (``algorithm="svd"``) is one."""
        if not steps.longest:
            weights = {"x_weights": self.x_weights_, "y_weights": self.y_weights_}
            covariances = (self._x_scores * self._y_scores).mean(axis=0)
            steps.report(-covariances.sum(), weights)


def regressed(block: np.ndarray, scores: np.ndarray, inverse: np.ndarray | None) -> np.ndarray:
    """A direction from scores: each column's own regression on them, or theirs on the columns."""
    if inverse is not None:
        return np.dot(inverse, scores)
    return np.dot(block.T, scores) / np.dot(scores, scores)


@method(
    task="regress",
    texts="000a 7",
    use="Many correlated columns, several targets.",
    avoid="Few independent columns: LinearRegression.",
    peers=("sklearn.cross_decomposition.PLSRegression",),
    on="scikit-learn",
)
class PLSRegression(PairedDirections, cross_decomposition.PLSRegression):
    """Regression on the directions of X that vary most together with the targets.

    Use it for many correlated columns, more than rows even; not for few independent ones.

    Attributes
    ----------
    history_ : History
        Minus the covariance of the scores after each step, one pair after the other.

    Examples
    --------
    >>> from gnomon.reduce import PLSRegression
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> PLSRegression(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """


@method(
    task="regress",
    texts="000a 7",
    use="Two blocks of columns of the same rows, to see what they share.",
    avoid="One target: PLSRegression.",
    peers=("sklearn.cross_decomposition.PLSCanonical",),
    on="scikit-learn",
)
class PLSCanonical(PairedDirections, cross_decomposition.PLSCanonical):
    """Pairs of directions of two blocks of columns with the greatest covariance.

    Use it to see what two blocks share; not to predict one target.

    Attributes
    ----------
    history_ : History
        Minus the covariance of the scores after each step, one pair after the other.

    Examples
    --------
    >>> from gnomon.reduce import PLSCanonical
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> PLSCanonical(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """


@method(
    task="regress",
    texts="000a 7",
    use="Two blocks of columns of the same rows, to see what they share.",
    avoid="More columns than rows: PLSCanonical.",
    peers=("sklearn.cross_decomposition.CCA",),
    on="scikit-learn",
)
class CCA(PairedDirections, cross_decomposition.CCA):
    """Pairs of directions of two blocks of columns with the greatest correlation.

    Use it to see what two blocks share; not with more columns than rows, where every correlation is
    one. `CanonicalCorrelation` is the texts' form, with tests.

    Attributes
    ----------
    history_ : History
        Minus the covariance of the scores after each step, one pair after the other.

    Examples
    --------
    >>> from gnomon.reduce import CCA
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> CCA(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """

    _copies = 4.5
    _squares = 2.0
