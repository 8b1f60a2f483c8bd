"""Transductive net: a network that is made sure of the unlabeled rows it is given.

Minimizes the cross-entropy of the labeled rows plus the mean entropy of the probabilities of the
unlabeled ones, so that the border between classes leaves them aside (low-density separation). The
share of the entropy rises in stages, since it alone is smallest where all rows are of one class;
a term that holds the mean probabilities near the shares of the classes prevents that.

Texts: 003 4.5.5 (the heading only) · 004 17.1 (low-density separation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax

from gnomon.contract import Data
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.parameters import HISTORY, SEED, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread
from gnomon.semi.graph import FewLabels, Points, labels_of
from gnomon.semi.harmonic import prior_of
from gnomon.semi.small_net import SmallNet, descend

STAGES = (0.0, 0.25, 0.5, 1.0)  # share of the weight of unlabeled rows in each quarter of the steps


@method(
    task="classify",
    texts="003 4.5.5 · 004 17.1",
    use="Few labels, many unlabeled rows, and a curved border through thin regions.",
    avoid="Classes that overlap: being sure of every row is then wrong.",
    synonyms=("entropy regularization", "semi-supervised", "transduction", "neural network"),
)
class TransductiveNetClassifier(FewLabels):
    """A network of one hidden layer whose border avoids the unlabeled rows.

    Minimizes ``mean_l -log p(y | x) + weight_unlabeled (mean_u H(p(x)) + KL(prior, mean_u p)) +
    alpha / 2 |W|^2`` by L-BFGS, the second term in rising stages. Use it for few labels and a
    curved border through thin regions. Not where classes overlap. The KL term keeps the shares of
    the classes, so that not all rows become one class. Unlabeled rows have a missing cell as
    target, or -1 where two other classes are left. Texts: 003 4.5.5 (the heading only), 004 17.1.

    Parameters
    ----------
    n_hidden : int, default=16
        Units of the hidden layer.
    weight_unlabeled : float, default=0.3
        Weight of the unlabeled rows.
    alpha : float, default=1e-3
        Weight of the squared weights.
    class_prior : {"labels", "uniform"}, array-like of shape (n_classes,) or None, default="labels"
        Shares of the classes among unlabeled rows; None: not held.
    max_iter : int, default=200
        Most steps, in four stages.
    random_state : int, RandomState instance or None, default=None
        First weights.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the weights of every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All weights of the network.
    center_, scale_ : ndarray of shape (n_columns,)
        What rows are standardized by.
    transduction_ : ndarray of shape (n_samples,)
        The class of every row that ``fit`` was given; given labels stay.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    history_ : History
        The objective of each step, in the weights of its stage.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import TransductiveNetClassifier
    >>> rows = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = TransductiveNetClassifier(random_state=0).fit(rows, [0, None, None, None, None, 1])
    >>> model.transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _largest = 1e50
    _keeps_rows = True  # the classes of the rows
    _parameter_constraints = {
        "n_hidden": [whole(1)],
        "weight_unlabeled": [at_least(0)],
        "alpha": [at_least(0)],
        "class_prior": [StrOptions({"labels", "uniform"}), "array-like", None],
        "max_iter": [whole(1)],
        "random_state": SEED,
        "keep_history": HISTORY,
    }
    _stored = {
        "weights_": Array("f8", (None,)),
        "center_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",)),
        "transduction_": Array("biufUSO", ("n_given",)),
    }

    def __init__(
        self,
        n_hidden=16,
        *,
        weight_unlabeled=0.3,
        alpha=1e-3,
        class_prior="labels",
        max_iter=200,
        random_state=None,
        keep_history="objective",
    ):
        self.n_hidden = n_hidden
        self.weight_unlabeled = weight_unlabeled
        self.alpha = alpha
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.random_state = random_state
        self.keep_history = keep_history

    def _net(self) -> SmallNet:
        return SmallNet(len(self.center_), self.n_hidden, len(self.classes_))

    def _fit(self, data: Data) -> None:
        found = distinct_rows(data.rows, data.weight_array, data.y)
        points = Points(found.rows, found.weights, found.y, found.places, len(self.classes_))
        prior = prior_of(self.class_prior, points, self.classes_)
        prior = None if prior is None else np.maximum(prior, 1e-9)
        self.center_, self.scale_ = standard_units(points.rows, points.weights)
        rows = standardized(points.rows, self.center_, self.scale_)
        self.weights_ = self._net().start(self._rng())
        course = self._course("iteration", self.max_iter)
        steps, ended = iter(course), False

        def seen(weights: np.ndarray, objective: float) -> bool:
            nonlocal ended
            if next(steps, None) is None:
                return True
            self.weights_ = weights
            ended = course.end_step(
                objective,
                state=lambda: {"weights": weights.copy()},
                attributes=lambda: self._public() | {"weights_": weights.copy()},
            )
            return ended

        stages = STAGES if points.labeled.sum() < len(points.weights) else STAGES[:1]
        for stage in stages:
            if ended:
                break
            objective = self._objective(rows, points, prior, stage * self.weight_unlabeled)
            most = max(self.max_iter // len(stages), 1)
            with one_blas_thread():
                self.weights_ = descend(objective, self.weights_, most, seen)
        if course.history.stopped == "done":
            course.history.stopped = "converged"
        self.history_, self.n_iter_ = course.history, len(course.history)
        self._keep_labels(points, rows, data.kept)

    def _objective(self, rows: np.ndarray, points: Points, prior: Any, pull: float) -> Any:
        net, alpha = self._net(), self.alpha
        given = points.labeled
        of_labels = np.where(given, points.weights, 0.0) / points.weights[given].sum()
        free = np.where(given, 0.0, points.weights)
        free = free / (free.sum() or 1.0)
        labels = points.one_hot()

        def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
            hidden, outputs = net.outputs(weights, rows)
            logs = log_softmax(outputs, axis=1)
            shares = np.exp(logs)
            value, slope = net.decay(weights, alpha)
            value += -float(of_labels @ (labels * logs).sum(axis=1))
            error = of_labels[:, None] * (shares * labels.sum(axis=1, keepdims=True) - labels)
            if pull:
                entropy = -(shares * logs).sum(axis=1)
                inner = -(logs + entropy[:, None])  # gradient of the entropy over the shares
                value += pull * float(free @ entropy)
                error += pull * free[:, None] * shares * inner
                if prior is not None:
                    mean = np.maximum(free @ shares, 1e-12)
                    value += pull * float(prior @ np.log(prior / mean))
                    outer = -prior / mean
                    centered = outer - (shares * outer).sum(axis=1, keepdims=True)
                    error += pull * free[:, None] * shares * centered
            return value, slope + net.slope(weights, rows, hidden, error)

        return objective

    def _keep_labels(self, points: Points, rows: np.ndarray, kept: np.ndarray | None) -> None:
        codes = self._net().outputs(self.weights_, rows)[1].argmax(axis=1)
        codes = np.where(points.labeled, points.codes, codes)[points.places]
        if kept is not None:
            every = np.full(len(kept), -1, dtype=np.int64)
            every[kept] = codes
            codes = every
        self.transduction_ = labels_of(codes, self.classes_)

    def _proba(self, rows: Any) -> np.ndarray:
        standard = standardized(rows, self.center_, self.scale_)
        outputs = self._net().outputs(self.weights_, standard)[1]
        return np.exp(log_softmax(outputs, axis=1))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        weights = 500 * n_columns * self.n_hidden
        return 8 * n_rows * (2 * n_columns + 8 * self.n_hidden + 20) + weights

    def _check_loaded(self) -> None:
        if hasattr(self, "weights_") and len(self.weights_) != sum(self._net().sizes):
            raise ValueError("weights_ do not fit the network")


def standard_units(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and deviations of columns; one where a column is constant."""
    total = weights.sum()
    largest = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
    center = largest * (weights @ (rows / largest)) / total
    spread = largest * np.sqrt(weights @ ((rows - center) / largest) ** 2 / total)
    return center, np.where(spread > 1e-12 * largest, spread, largest)


def standardized(rows: np.ndarray, center: Any, scale: Any) -> np.ndarray:
    """Rows in standard units, on a grid of 2^-32: a long search amplifies the last bits of a mean.

    Weighting a row and repeating it round differently; on the grid both give the same network.
    """
    return np.rint((rows - center) / scale * 2.0**32) / 2.0**32
