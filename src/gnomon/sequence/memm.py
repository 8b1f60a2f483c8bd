"""Maximum entropy Markov models, and their label bias.

p(x | y) = p(x_1 | y_1) prod_i p(x_i | x_{i-1}, y_i), each factor a logistic classifier of the next
state, normalised for each state by itself. So a state with one successor pays nothing for going
there whatever is measured, and paths through states with few successors win. `ChainCRF` is
normalised as a whole and has no such bias.

Texts: 000c 14.2.1 (the measurement in its third factor has a wrong index; the caption of its figure
names the wrong successor of state 1).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import HasMethods, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf, Object
from gnomon.engine.threads import one_blas_thread
from gnomon.sequence.costs import least_cost_path
from gnomon.sequence.crf import FeatureSpace
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences


@method(
    task="label",
    texts="000c 14.2.1",
    use="To show the label bias, and to compare with ChainCRF.",
    avoid="Everything else: it has the label bias.",
    takes="sequences",
    synonyms=("memm", "maximum-entropy Markov model"),
)
class MaxEntMarkovModel(SequenceEstimator):
    """Labels of a sequence by a classifier of the next label; for teaching and for comparison.

    Use it to see the label bias, and to compare. Not for results: `ChainCRF` has no label bias. A
    warning names the labels that always had the same successor.

    Parameters
    ----------
    alpha : float, default=1e-3
        Times the sum of squared weights, for each step.
    max_iter : int, default=200
    classifier : estimator, default=None
        Any classifier with ``predict_proba`` that takes sparse rows, copied for each previous
        label; logistic regression with `alpha` and `max_iter` by default.

    Attributes
    ----------
    labels_ : list
    feature_names_ : list
    classifiers_ : list
        Of each previous label; None where one label only followed, or without `classifier`.
    successors_ : ndarray of bool of shape (n_labels + 1, n_labels)
        Which labels followed which in training; the last row is that of the first step.
    weights_ : ndarray of shape (n_labels + 1, n_features, n_labels)

    Notes
    -----
    Maximises sum log p(x_i | x_{i-1}, y_i) - alpha sum w^2 for each previous label. Texts: 000c
    14.2.1.

    Examples
    --------
    >>> from gnomon.sequence import MaxEntMarkovModel
    >>> model = MaxEntMarkovModel().fit([[["wet"], ["dry"], ["dry"], ["wet"], ["wet"]]],
    ...                                 [["R", "S", "S", "R", "R"]])
    >>> model.predict([[["wet"], ["dry"]]])
    [['R', 'S']]
    """

    _parameter_constraints = {
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "classifier": [HasMethods(["fit", "predict_proba"]), None],
    }
    _stored = {
        "classifiers_": ListOf(Object() | None, "n_classifiers"),
        "feature_names_": ListOf(Anything(), "n_feature_names"),
        "labels_": ListOf(Anything(), "n_labels"),
        "successors_": Array("b", ("n_classifiers", "n_labels")),
        "weights_": Array("f8", ("n_classifiers", "n_feature_names", "n_labels")),
    }

    def __init__(self, *, alpha: float = 1e-3, max_iter: int = 200, classifier: Any = None):
        self.alpha = alpha
        self.max_iter = max_iter
        self.classifier = classifier

    @fits("labels")
    def fit(self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]) -> MaxEntMarkovModel:
        """Learn one classifier for each previous label.

        Parameters
        ----------
        sequences : list of sequences
            Steps as in `ChainCRF`.
        labels : list of sequences

        Returns
        -------
        self : MaxEntMarkovModel
        """
        if [len(s) for s in sequences] != [len(path) for path in labels]:
            raise DataError("labels must have the lengths of their sequences")
        seen: set[Any] = {label for path in labels for label in path}
        self.labels_ = sorted(seen)
        self.feature_names_ = FeatureSpace.collect(sequences)
        codes = {label: k for k, label in enumerate(self.labels_)}
        now = np.array([codes[x] for path in labels for x in path])
        k = len(self.labels_)
        before = np.array(
            [p for path in labels for p in [k, *(codes[x] for x in path[:-1])][: len(path)]]
        )
        rows = self._rows(sequences)
        self.successors_ = np.zeros((k + 1, k), dtype=bool)
        self.successors_[before, now] = True
        self.weights_ = np.zeros((k + 1, rows.shape[1] if self.classifier is None else 0, k))
        self.classifiers_: list[Any] = [None] * (k + 1)
        for previous in np.flatnonzero(self.successors_.sum(axis=1) > 1).tolist():
            chosen = before == previous
            if self.classifier is None:
                self._fit_one(previous, rows[chosen], now[chosen])
            else:
                self.classifiers_[previous] = clone(self.classifier).fit(rows[chosen], now[chosen])
        few = np.flatnonzero(self.successors_[:k].sum(axis=1) == 1)
        if len(few):
            warnings.warn(
                f"label bias: {[self.labels_[j] for j in few]} were always followed by one label, "
                "so no measurement can change what comes next; use ChainCRF",
                GnomonWarning,
                stacklevel=2,
            )
        return self

    def _rows(self, sequences: Sequence) -> sp.csr_array:
        return FeatureSpace.rows(sequences, {name: j for j, name in enumerate(self.feature_names_)})

    def _fit_one(self, previous: int, rows: sp.csr_array, now: np.ndarray) -> None:
        allowed = np.flatnonzero(self.successors_[previous])
        truth = (now[:, None] == allowed).astype(float)
        shape = (rows.shape[1], len(allowed))

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            scores = rows @ flat.reshape(shape)
            logs = scores - logsumexp(scores, axis=1, keepdims=True)
            slope = rows.T @ (np.exp(logs) - truth)
            value = -(logs * truth).sum() + self.alpha * len(now) * flat @ flat
            return value, slope.ravel() + 2 * self.alpha * len(now) * flat

        with one_blas_thread():
            found = minimize(
                loss,
                np.zeros(np.prod(shape)),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter},
            )
        self.weights_[previous][:, allowed] = found.x.reshape(shape)

    def log_transitions(self, sequence: Any) -> np.ndarray:
        """log p(x_i = b | x_{i-1} = a, y_i), of shape (length, n_labels + 1, n_labels)."""
        rows = self._rows([sequence])
        if self.classifier is None:
            scores = np.stack([rows @ weights for weights in self.weights_], axis=1)
            return local_log_probabilities(scores, self.successors_)
        scores = np.zeros((rows.shape[0], len(self.successors_), len(self.labels_)))
        for previous, fitted in enumerate(self.classifiers_):
            if fitted is not None:
                with np.errstate(divide="ignore"):
                    logs = np.log(fitted.predict_proba(rows))
                scores[:, previous, fitted.classes_] = logs
        return local_log_probabilities(scores, self.successors_)

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[list]:
        """The best path of labels of each sequence."""
        return [
            [self.labels_[k] for k in decode_local(self.log_transitions(sequence)).path]
            for sequence in sequences
        ]

    @of_sequences("labels")
    def score(self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]) -> float:
        """Share of single labels that are right."""
        pairs = zip(self.predict(sequences), labels, strict=True)
        return float(
            np.mean([a == b for path, truth in pairs for a, b in zip(path, truth, strict=True)])
        )


@dataclass(frozen=True, eq=False)
class LabelBias:
    """Label bias: how much normalization at every state makes a model ignore observations.

    Attributes
    ----------
    out_degree : ndarray of int
        Successors of each state.
    sway : ndarray of shape (n_states,)
        Most that the measurements change any transition probability out of each state; 0 for
        states with one successor.
    local_path, global_path : ndarray of int
        Best paths when the same scores are normalised for each state, and as a whole.
    local_cost, global_cost : float
    """

    out_degree: np.ndarray
    sway: np.ndarray
    local_path: np.ndarray
    global_path: np.ndarray
    local_cost: float
    global_cost: float


def label_bias(successors: Any, scores: Any) -> LabelBias:
    """Decode the same scores with and without normalization at every state.

    Parameters
    ----------
    successors : array-like of bool of shape (n_states, n_states)
        Which states may follow which.
    scores : array-like of shape (n_steps, n_states)
        What the measurement at each step says for each state.

    Returns
    -------
    result : LabelBias

    Notes
    -----
    Texts: 000c 14.2.1, figure 14.2.

    Examples
    --------
    State 0 leads to 3 only, so a measurement that is strong evidence against 3 has no effect:

    >>> ways = [[0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    >>> found = label_bias(ways, [[0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, -10]])
    >>> found.local_path, found.global_path
    (array([1, 0, 3]), array([1, 2, 0]))
    """
    ways = np.asarray(successors, dtype=bool)
    table = np.asarray(scores, dtype=float)
    if not ways.any(axis=1).all():
        raise DataError("every state needs a successor")
    allowed = np.vstack([ways, np.ones(len(ways), dtype=bool)])
    logs = local_log_probabilities(np.repeat(table[:, None], len(allowed), axis=1), allowed)
    chances = np.exp(logs[:, :-1])
    local = decode_local(logs)
    whole = least_cost_path(-table, np.where(ways, 0.0, np.inf))
    return LabelBias(
        ways.sum(axis=1),
        (chances.max(axis=0) - chances.min(axis=0)).max(axis=1),
        local.path,
        whole.path,
        local.cost,
        whole.cost,
    )


def local_log_probabilities(scores: np.ndarray, successors: np.ndarray) -> np.ndarray:
    """Softmax over the allowed successors of each previous state, as logarithms."""
    masked = np.where(successors, scores, -np.inf)
    total = logsumexp(masked, axis=2, keepdims=True)
    return np.where(successors, masked - np.where(np.isfinite(total), total, 0.0), -np.inf)


def decode_local(logs: np.ndarray):
    """Best path of edges with log probabilities (length, n_states + 1, n_states)."""
    nodes = np.zeros((len(logs), logs.shape[2]))
    nodes[0] = -logs[0, -1]
    return least_cost_path(nodes, -logs[1:, :-1])
