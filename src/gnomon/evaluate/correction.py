"""Learned correction of predicted probabilities.

A learner goes from what was predicted to what is right: trained on predictions of rows that the
first learner has not seen (out of fold), it corrects over- and underconfident probabilities.
Texts: 003 3.3.7. `calibration` shows whether it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.fold_run import seeded, with_target
from gnomon.evaluate.intake import label_column, number_block, plain, probability_block

TINY = 1e-12  # log of a probability of zero becomes -27.6 instead of infinite


@dataclass
class Correction:
    """A fitted map from predicted to corrected probabilities.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    method : str
    maps : list
        One isotonic map per class, or the one learner of all.
    """

    classes: np.ndarray
    method: str
    maps: list[Any]

    def apply(self, proba: Any) -> np.ndarray:
        """Corrected probabilities.

        Parameters
        ----------
        proba : array-like of shape (n, n_classes) or (n,)
            Of the second class where there is one column.

        Returns
        -------
        corrected : ndarray of shape (n, n_classes)
        """
        proba = _block(proba, len(self.classes))
        if self.method == "isotonic":
            raised = np.column_stack([m.predict(p) for m, p in zip(self.maps, proba.T)])
            totals = raised.sum(axis=1, keepdims=True)
            even = np.full(raised.shape, 1 / len(self.classes))
            return np.divide(raised, totals, out=even, where=totals > 0)
        return np.asarray(self.maps[0].predict_proba(_logs(proba)))


def correct_probabilities(
    y: Any, proba: Any, method: Any = "platt", classes: Any = None
) -> Correction:
    """Learn to correct probabilities from predictions of unseen rows and what was true.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    proba : array-like of shape (n, n_classes) or (n,)
        Probabilities predicted for rows that the learner was not fitted on.
    method : {"platt", "isotonic"} or classifier, default="platt"
        A logistic curve of the log-probabilities, few parameters, for some dozens of rows on; a
        rising step function per class, for some thousand rows; or any classifier, which then
        sees the log-probabilities as columns.
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; sorted classes of y by default.

    Returns
    -------
    correction : Correction

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> y = rng.random(4000) < p
    >>> too_sure = p**3 / (p**3 + (1 - p) ** 3)
    >>> corrected = correct_probabilities(y, too_sure).apply(too_sure)[:, 1]
    >>> bool(np.abs(corrected - p).mean() < 0.02)
    True
    """
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    codes, proba, names = probability_block(y, proba, classes)
    if len(np.unique(codes)) < 2:
        raise DataError("all rows are of one class: there is nothing to correct by")
    if isinstance(method, str) and method not in ("platt", "isotonic"):
        raise DataError(f"method={method!r} is none of platt, isotonic, or a classifier")
    if isinstance(method, str) and method == "isotonic":
        maps = [
            IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(column, codes == k)
            for k, column in enumerate(proba.T)
        ]
        return Correction(names, "isotonic", maps)
    learner = LogisticRegression(C=1e6, max_iter=1000) if isinstance(method, str) else clone(method)
    learner.fit(_logs(proba), codes)
    if len(learner.classes_) != len(names):
        missing = np.setdiff1d(np.arange(len(names)), learner.classes_)
        raise DataError(
            f"the class {plain(names[missing[0]])!r} is not among the rows to correct by"
        )
    return Correction(
        names, "platt" if isinstance(method, str) else type(method).__name__, [learner]
    )


@dataclass
class CorrectedModel:
    """A fitted learner whose probabilities are corrected.

    Attributes
    ----------
    model : estimator
        Fitted on all rows.
    correction : Correction
        Learnt from predictions out of fold.
    classes_ : ndarray
    """

    model: Any
    correction: Correction
    classes_: np.ndarray

    def predict_proba(self, X: Any) -> np.ndarray:
        """Corrected probabilities of the classes.

        Parameters
        ----------
        X : array-like, frame or Table

        Returns
        -------
        proba : ndarray of shape (n, n_classes)
        """
        return self.correction.apply(self.model.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

        Parameters
        ----------
        X : array-like, frame or Table

        Returns
        -------
        classes : ndarray of shape (n,)
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def fit_corrected(
    estimator: Any,
    X: Any,
    y: Any,
    method: Any = "platt",
    *,
    cv: Any = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CorrectedModel:
    """Fit a classifier on all rows, and a correction on its predictions out of fold.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    method : {"platt", "isotonic"} or classifier, default="platt"
    cv : "auto", int, Splits, splitter or list of pairs, default=5
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    model : CorrectedModel

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> fit_corrected(GaussianNB(), X, y).predict_proba(X[:1]).shape
    (1, 3)
    """
    found = cross_validation_estimates(
        estimator,
        X,
        y,
        cv=cv,
        measures="brier",
        pair_fits=0,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    if found.failures:
        raise DataError(f"the learner failed: {found.failures[0]}")
    assert found.y is not None
    assert found.classes is not None
    rows, said = found.out_of_fold()
    correction = correct_probabilities(found.y[rows], said.probabilities, method, found.classes)
    X, y = with_target(X, y)
    model = seeded(estimator, random_state, 0).fit(X, label_column(y, "y"))
    return CorrectedModel(model, correction, found.classes)


def _block(proba: Any, k: int) -> np.ndarray:
    proba = number_block(proba, "proba")
    proba = np.column_stack([1 - proba, proba]) if proba.ndim == 1 else proba
    if proba.shape[1] != k:
        raise DataError(f"the correction is of {k} classes, not of {proba.shape[1]}")
    return proba


def _logs(proba: np.ndarray) -> np.ndarray:
    """Log-probabilities; of two classes the log-odds alone, as the rest follows."""
    logs = np.log(np.maximum(proba, TINY))
    return logs[:, [1]] - logs[:, [0]] if logs.shape[1] == 2 else logs
