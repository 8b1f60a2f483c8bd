"""Linear-chain conditional random fields: labels of a sequence from any features of it.

p(x | y) = exp(-C(x; y)) / Z(y), with costs linear in the parameters,

    C(x; y) = sum_i sum_j theta_j phi_j(x_i, y_i) + sum_i sum_l eta_l psi_l(x_i, x_{i+1}).

Edge costs have no meaning as probabilities and cannot be counted. Learning minimises
sum [C(true) + log Z] (gradient: features of the truth less their expectations), or the structured
hinge  sum max(0, C(true) - min_x [C(x) - d(x, true)])  with d = epsilon times the number of wrong
labels, for which the best competitor comes from the usual dynamic programme with epsilon taken off
every node that is not the true one. Both have lambda theta'theta added.

Texts: 000c 14.2.2-14.3.4 (it prints the likelihood with the wrong sign and leaves V_1 out of Z) ·
003 1.9.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import Estimator
from gnomon.engine.storable import storable
from gnomon.sequence.chain import Seed
from gnomon.sequence.passes import best_log_paths, posteriors

LOSSES = ("likelihood", "hinge")


def token_features(words: Sequence[str]) -> list[dict[str, float]]:
    """Features of the words of a sentence: themselves, endings, shape, neighbours.

    Examples
    --------
    >>> sorted(token_features(["Big", "dog"])[1])[:4]
    ['bias', 'next=</s>', 'previous=big', 'suffix2=og']
    """
    lower = ["<s>", *(word.lower() for word in words), "</s>"]
    found = []
    for i, word in enumerate(words, start=1):
        names = [
            "bias",
            f"word={lower[i]}",
            f"suffix2={lower[i][-2:]}",
            f"suffix3={lower[i][-3:]}",
            f"previous={lower[i - 1]}",
            f"next={lower[i + 1]}",
        ]
        names += ["title"] * word.istitle() + ["upper"] * word.isupper()
        names += ["digit"] * any(letter.isdigit() for letter in word)
        found.append(dict.fromkeys(names, 1.0))
    return found


class FeatureSpace:
    """Names of features that tokens have, and sparse rows of them."""

    @staticmethod
    def collect(sequences: Sequence) -> list:
        """Names of all features, sorted; columns 0, 1 ... of arrays."""
        if _are_arrays(sequences):
            return list(range(np.asarray(sequences[0]).shape[1]))
        return sorted(
            {name for sequence in sequences for token in sequence for name in _named(token)}
        )

    @staticmethod
    def rows(sequences: Sequence, places: dict) -> sp.csr_array:
        """Rows of all tokens end to end; features that were not in training are left out."""
        if _are_arrays(sequences):
            return sp.csr_array(np.vstack([np.asarray(s, dtype=float) for s in sequences]))
        data: list[float] = []
        columns: list[int] = []
        pointers = [0]
        for sequence in sequences:
            for token in sequence:
                for name, value in _named(token).items():
                    if name in places:
                        columns.append(places[name])
                        data.append(float(value))
                pointers.append(len(data))
        shape = (len(pointers) - 1, len(places))
        return sp.csr_array((np.array(data), np.array(columns, dtype=int), pointers), shape=shape)


@storable
class ChainCRF(Estimator):
    """Linear-chain conditional random field, for sequences whose every step has a label.

    Use it to tag words, steps or windows from many overlapping features, where a hidden Markov
    model would have to explain the features themselves. Features of a step may look at the whole
    sequence. Learning needs inference for each gradient: with few labels for each step and no use
    of their order, a plain classifier is faster.

    Parameters
    ----------
    loss : {"likelihood", "hinge"}, default="likelihood"
        Conditional likelihood by L-BFGS, or the structured hinge by sub-gradients of small lots.
    alpha : float, default=1e-3
        lambda: times the sum of squared parameters, for each sequence.
    l1 : float, default=0.0
        Times the sum of absolute parameters, for each sequence; many become exactly zero.
    margin : float, default=1.0
        epsilon of the hinge, for each wrong label.
    features : callable, default=None
        ``features(sequence)`` of shape (length, n_labels, n_features): phi_j(label, step), with one
        parameter each. By default a step is a dict (or list) of features, or a row of numbers, and
        there is one parameter for each pair of feature and label.
    edges : array-like of shape (n_labels, n_labels, n_features), default=None
        psi_l; by default one indicator for each pair of labels.
    labels : sequence, default=None
        Names, in the order that `features` and `edges` use; those seen, sorted, by default.
    max_iter : int, default=200
        Steps of L-BFGS, or passes over the sequences.
    step : float, default=0.5
        First length of the steps on the hinge; they shrink as 1 / sqrt(passes).
    batch_size : int, default=8
        Sequences in a lot, of the hinge.
    tol : float, default=1e-5
        Of the gradient, of the likelihood.
    random_state : int, Generator or None, default=None
        Of the order of the lots.

    Attributes
    ----------
    labels_ : list
    node_weights_ : ndarray
        Parameters of nodes: (n_features, n_labels), or (n_features,) with `features`.
    edge_weights_ : ndarray
        (n_labels, n_labels), or (n_features,) with `edges`.
    feature_names_ : list
    history_ : list of float
        The objective, divided by the number of sequences.

    Notes
    -----
    Weights are scores here: the cost of the text is minus the score. Texts: 000c 14.2.2-14.3.4. On
    the hinge the mean of the parameters over the second half of the passes is kept.

    Examples
    --------
    >>> sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> tags = [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = ChainCRF().fit([token_features(s) for s in sentences], tags)
    >>> tagger.predict([token_features(["the", "cat", "barks"])])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        *,
        loss: str = "likelihood",
        alpha: float = 1e-3,
        l1: float = 0.0,
        margin: float = 1.0,
        features: Callable | None = None,
        edges: Any = None,
        labels: Sequence[Hashable] | None = None,
        max_iter: int = 200,
        step: float = 0.5,
        batch_size: int = 8,
        tol: float = 1e-5,
        random_state: Seed = None,
    ):
        self.loss = loss
        self.alpha = alpha
        self.l1 = l1
        self.margin = margin
        self.features = features
        self.edges = edges
        self.labels = labels
        self.max_iter = max_iter
        self.step = step
        self.batch_size = batch_size
        self.tol = tol
        self.random_state = random_state

    def fit(self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]) -> ChainCRF:
        """Learn from labelled sequences.

        Parameters
        ----------
        sequences : list of sequences
            Each a list of dicts or lists of features, or a table of numbers.
        labels : list of sequences
            Of the same lengths.

        Returns
        -------
        self : ChainCRF
        """
        if self.loss not in LOSSES:
            raise DataError(f"loss is one of {', '.join(LOSSES)}, not {self.loss!r}")
        if self.loss == "hinge" and self.l1:
            raise DataError("l1 goes with loss='likelihood' only")
        if [len(s) for s in sequences] != [len(path) for path in labels]:
            raise DataError("labels must have the lengths of their sequences")
        seen: set[Any] = {label for path in labels for label in path}
        self.labels_ = sorted(seen) if self.labels is None else list(self.labels)
        if not seen <= set(self.labels_):
            raise DataError(
                f"{sorted(seen - set(self.labels_), key=repr)} are not among the labels"
            )
        self.feature_names_ = [] if self.features else FeatureSpace.collect(sequences)
        problem = _Problem(self, sequences, labels)
        if self.loss == "likelihood":
            theta = self._by_likelihood(problem)
        else:
            theta = self._by_hinge(problem)
        self.node_weights_, self.edge_weights_ = problem.unpack(theta)
        return self

    def _by_likelihood(self, problem: _Problem) -> np.ndarray:
        self.history_: list[float] = []
        n = problem.n_sequences

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = problem.likelihood(theta)
            return value / n + self.alpha * theta @ theta, slope / n + 2 * self.alpha * theta

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12}
        if self.l1 == 0:
            found = minimize(
                objective,
                np.zeros(problem.size),
                jac=True,
                method="L-BFGS-B",
                options=options,
                callback=lambda intermediate_result: self.history_.append(
                    float(intermediate_result.fun)
                ),
            )
            self._warn_if_short(found)
            return found.x

        # theta = up - down with both not negative, so that the sum of absolute values is smooth
        def split_objective(parts: np.ndarray) -> tuple[float, np.ndarray]:
            up, down = np.split(parts, 2)
            value, slope = objective(up - down)
            return value + self.l1 * parts.sum(), np.r_[slope + self.l1, -slope + self.l1]

        found = minimize(
            split_objective,
            np.zeros(2 * problem.size),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * (2 * problem.size),
            options=options,
        )
        self._warn_if_short(found)
        self.history_.append(float(found.fun))
        up, down = np.split(found.x, 2)
        return up - down

    def _warn_if_short(self, found: Any) -> None:
        if found.nit >= self.max_iter:
            warnings.warn(
                f"L-BFGS had not converged after {self.max_iter} steps; raise max_iter or tol",
                GnomonWarning,
                stacklevel=4,
            )

    def _by_hinge(self, problem: _Problem) -> np.ndarray:
        rng = self._rng()
        theta = np.zeros(problem.size)
        mean = np.zeros(problem.size)
        self.history_ = []
        n = problem.n_sequences
        kept = 0
        for turn in range(self.max_iter):
            order = rng.permutation(n)
            length = self.step / np.sqrt(1 + turn)
            total = 0.0
            for first in range(0, n, self.batch_size):
                lot = order[first : first + self.batch_size]
                value, slope = problem.hinge(theta, lot)
                total += value
                theta = theta - length * (slope / len(lot) + 2 * self.alpha * theta)
            self.history_.append(total / n + self.alpha * float(theta @ theta))
            if turn >= self.max_iter // 2:
                mean += theta
                kept += 1
        return mean / kept

    def _scores(self, sequence: Any) -> tuple[np.ndarray, np.ndarray]:
        return _Problem(self, [sequence]).scores(self.node_weights_, self.edge_weights_)

    def costs(self, sequence: Any) -> tuple[np.ndarray, np.ndarray]:
        """Node costs (length, n_labels) and edge costs (n_labels, n_labels) of one sequence."""
        nodes, edges = self._scores(sequence)
        return -nodes, -edges

    def predict(self, sequences: Sequence) -> list[list]:
        """The best labels of each sequence as a whole."""
        found = []
        for sequence in sequences:
            nodes, edges = self._scores(sequence)
            path = _best(nodes, edges, np.array([0, len(nodes)]))
            found.append([self.labels_[k] for k in path])
        return found

    def predict_proba(self, sequences: Sequence) -> list[np.ndarray]:
        """Probability of each label at each step, of shape (length, n_labels)."""
        return [
            posteriors(
                np.ones(edges.shape[0]),
                np.exp(edges - edges.max()),
                nodes,
                np.array([0, len(nodes)]),
            ).states
            for nodes, edges in map(self._scores, sequences)
        ]

    def log_likelihood(
        self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]
    ) -> np.ndarray:
        """log p(labels | sequence) of each sequence."""
        theta = np.r_[self.node_weights_.ravel(), self.edge_weights_.ravel()]
        return np.array(
            [
                -_Problem(self, [sequence], [path]).likelihood(theta)[0]
                for sequence, path in zip(sequences, labels, strict=True)
            ]
        )

    def score(self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]) -> float:
        """Share of single labels that are right."""
        right = [
            a == b
            for path, truth in zip(self.predict(sequences), labels, strict=True)
            for a, b in zip(path, truth, strict=True)
        ]
        return float(np.mean(right))


class _Problem:
    """Sequences of a field laid end to end: scores of labels, losses and their slopes."""

    def __init__(self, model: ChainCRF, sequences: Sequence, labels: Sequence | None = None):
        self.model = model
        self.n_labels = len(model.labels_)
        self.n_sequences = len(sequences)
        self.bounds = np.cumsum([0, *(len(s) for s in sequences)]).astype(np.int64)
        if model.features is not None:
            self.joint = np.concatenate(
                [np.asarray(model.features(s), dtype=float) for s in sequences]
            )
            if self.joint.ndim != 3 or self.joint.shape[1] != self.n_labels:
                raise DataError(
                    f"features gave shape {self.joint.shape}; (length, {self.n_labels} labels, "
                    "n_features) is needed"
                )
            self.node_shape: tuple[int, ...] = (self.joint.shape[2],)
        else:
            places = {name: j for j, name in enumerate(model.feature_names_)}
            self.rows = FeatureSpace.rows(sequences, places)
            self.node_shape = (len(model.feature_names_), self.n_labels)
        self.pair = None if model.edges is None else np.asarray(model.edges, dtype=float)
        self.edge_shape = (self.n_labels,) * 2 if self.pair is None else (self.pair.shape[2],)
        if labels is not None:
            codes = {label: k for k, label in enumerate(model.labels_)}
            self.truth = np.array([codes[x] for path in labels for x in path], dtype=np.int64)

    @property
    def size(self) -> int:
        return int(np.prod(self.node_shape) + np.prod(self.edge_shape))

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cut = int(np.prod(self.node_shape))
        return theta[:cut].reshape(self.node_shape), theta[cut:].reshape(self.edge_shape)

    def scores(self, node_weights, edge_weights, part=slice(None)) -> tuple[np.ndarray, np.ndarray]:
        if self.model.features is not None:
            nodes = self.joint[part] @ node_weights
        else:
            nodes = self.rows[part] @ node_weights
        edges = edge_weights if self.pair is None else self.pair @ edge_weights
        return np.ascontiguousarray(nodes), np.ascontiguousarray(edges)

    def slope(
        self, node_excess: np.ndarray, edge_excess: np.ndarray, part=slice(None)
    ) -> np.ndarray:
        """Sum of features weighted by the excess of labels and of pairs of labels."""
        if self.model.features is not None:
            nodes = np.einsum("nk,nkj->j", node_excess, self.joint[part])
        else:
            nodes = (self.rows[part].T @ node_excess).ravel()
        if self.pair is None:
            return np.r_[nodes, edge_excess.ravel()]
        return np.r_[nodes, np.einsum("ab,abl->l", edge_excess, self.pair)]

    def likelihood(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """-sum log p(truth) and its gradient."""
        nodes, edges = self.scores(*self.unpack(theta))
        top = edges.max()
        found = posteriors(np.ones(self.n_labels), np.exp(edges - top), nodes, self.bounds)
        steps = np.maximum(np.diff(self.bounds) - 1, 0).sum()
        true_nodes = np.eye(self.n_labels)[self.truth]
        true_edges = _pair_counts(self.truth, self.bounds, self.n_labels)
        score = (nodes * true_nodes).sum() + (edges * true_edges).sum()
        value = found.log_likelihood.sum() + steps * top - score
        return float(value), self.slope(found.states - true_nodes, found.pairs - true_edges)

    def hinge(self, theta: np.ndarray, lot: np.ndarray) -> tuple[float, np.ndarray]:
        """Structured hinge of some sequences, and a sub-gradient."""
        weights = self.unpack(theta)
        total, slope = 0.0, np.zeros(self.size)
        eye = np.eye(self.n_labels)
        for r in lot:
            part = slice(self.bounds[r], self.bounds[r + 1])
            truth = self.truth[part]
            nodes, edges = self.scores(*weights, part)
            augmented = nodes + self.model.margin * (1 - eye[truth])
            bounds = np.array([0, len(truth)])
            rival = _best(augmented, edges, bounds)
            excess_nodes = eye[rival] - eye[truth]
            excess_edges = _pair_counts(rival, bounds, self.n_labels) - _pair_counts(
                truth, bounds, self.n_labels
            )
            gap = (excess_nodes * nodes).sum() + (excess_edges * edges).sum()
            gap += self.model.margin * (rival != truth).sum()
            if gap > 0:
                total += gap
                slope += self.slope(excess_nodes, excess_edges, part)
        return total, slope


def segment_scores(
    truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of whole segments in labels such as B-NP, I-NP, O.

    Examples
    --------
    >>> segment_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    (0.5, 0.5, 0.5)
    """
    real = {(r, *s) for r, path in enumerate(truth) for s in _segments(path)}
    said = {(r, *s) for r, path in enumerate(predicted) for s in _segments(path)}
    hits = len(real & said)
    precision = hits / len(said) if said else 0.0
    recall = hits / len(real) if real else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _segments(path: Sequence[str]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    begin, kind = None, ""
    for i, label in enumerate([*path, "O"]):
        mark, _, name = label.partition("-")
        if begin is not None and (mark != "I" or name != kind):
            found.append((begin, i, kind))
            begin = None
        if mark in ("B", "I") and begin is None:
            begin, kind = i, name
    return found


def _best(nodes: np.ndarray, edges: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    return best_log_paths(np.zeros(nodes.shape[1]), edges, nodes, bounds.astype(np.int64))[0]


def _pair_counts(path: np.ndarray, bounds: np.ndarray, n_labels: int) -> np.ndarray:
    counts = np.zeros((n_labels, n_labels))
    within = np.ones(max(len(path) - 1, 0), dtype=bool)
    inner_ends = bounds[1:-1]
    within[inner_ends[(inner_ends > 0) & (inner_ends < len(path))] - 1] = False
    np.add.at(counts, (path[:-1][within], path[1:][within]), 1.0)
    return counts


def _named(token: Any) -> dict:
    return token if isinstance(token, dict) else dict.fromkeys(token, 1.0)


def _are_arrays(sequences: Sequence) -> bool:
    return len(sequences) > 0 and isinstance(sequences[0], np.ndarray)
