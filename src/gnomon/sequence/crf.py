"""Linear-chain conditional random fields: labels of a sequence from any features of it.

p(x | y) = exp(-C(x; y)) / Z(y), with costs linear in the parameters,

    C(x; y) = sum_i sum_j theta_j phi_j(x_i, y_i) + sum_i sum_l eta_l psi_l(x_i, x_{i+1}).

Edge costs have no meaning as probabilities and cannot be counted. Learning minimises
sum [C(true) + log Z] (gradient: features of the truth less their expectations), or the structured
hinge  sum max(0, C(true) - min_x [C(x) - d(x, true)])  with d = epsilon times the number of wrong
labels, for which the best competitor comes from the usual dynamic programme with epsilon taken off
every node that is not the true one. Both have lambda theta'theta added.

Why it is fast: features are sparse rows, and only pairs of feature and label that occur have a
parameter, so that these stay in the processor's cache; the commonest features add whole rows, as
vectors; sequences are shared among threads; the features of the truth are summed once.

Texts: 000c 14.2.2-14.3.4 (it prints the likelihood with the wrong sign and leaves V_1 out of Z) ·
003 1.9.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, minimize

from gnomon.engine import memory
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import JOBS, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf
from gnomon.engine.threads import in_order, one_blas_thread
from gnomon.sequence.chain import Seed
from gnomon.sequence.learner import SEEDS, SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import (
    best_log_paths,
    pair_counts,
    path_log_joint,
    posteriors,
    several_best,
)

CHOICES = {
    "loss": ("likelihood", "hinge"),
    "solver": ("lbfgs", "sgd"),
    "pairs": ("seen", "all"),
}
MEMORY_OF_LBFGS = 10  # SciPy's default
STEPS_LOOKED_BACK = 10  # as CRFsuite looks back for its stopping rule
MOST_BLOCKS = 8  # each holds a gradient of its own
LEAST_BLOCK = 2000  # steps of sequences; shorter blocks are not worth a thread
COMMON_PARAMETERS = 2**17  # 1 MB of weights that stays in the cache
SMALLEST_SCALE = 1e-6  # the common factor is multiplied in before it loses digits
STEPS = ("i8[:]", "i8[:]", "i4[:]", "f8[:]")
PAIRS = ("i4[:]", "i4[:]")


class FeatureSpace:
    """Names of features that tokens have, and sparse rows of them."""

    @staticmethod
    def collect(sequences: Sequence, min_count: int = 1) -> list:
        """Names of features that occur so often, commonest first; columns 0, 1 ... of arrays."""
        if _are_arrays(sequences):
            return list(range(np.asarray(sequences[0]).shape[1]))
        counts = Counter[Any]()
        for sequence in sequences:
            for token in sequence:
                counts.update(iter(token))
        kept = [name for name, count in counts.items() if count >= min_count]
        return sorted(kept, key=lambda name: (-counts[name], name))

    @staticmethod
    def rows(sequences: Sequence, places: dict) -> sp.csr_array:
        """Rows of all tokens end to end; features that were not in training are left out."""
        if _are_arrays(sequences):
            return sp.csr_array(np.vstack([np.asarray(s, dtype=float) for s in sequences]))
        data: list[float] = []
        columns: list[int] = []
        pointers = [0]
        known = places.keys()
        for sequence in sequences:
            for token in sequence:
                named = token if isinstance(token, dict) else dict.fromkeys(token, 1.0)
                if not named.keys() <= known:
                    named = {name: value for name, value in named.items() if name in places}
                columns.extend(map(places.__getitem__, named))
                data.extend(named.values())
                pointers.append(len(data))
        shape = (len(pointers) - 1, len(places))
        values = np.array(data, dtype=float)
        if not np.isfinite(values).all():
            token = np.searchsorted(pointers, np.flatnonzero(~np.isfinite(values))[0], "right") - 1
            raise DataError(f"step {token} (of all sequences end to end) has a feature that is NaN")
        # classifiers of other libraries take short index numbers only
        index = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64
        places_of = np.array(columns, dtype=index), np.array(pointers, dtype=index)
        return sp.csr_array((values, *places_of), shape=shape)


@method(
    task="label",
    texts="000c 14.2.2-14.3.4",
    use="A label for every step of a sequence, from many overlapping features.",
    avoid="Labels that do not depend on their neighbors: a plain classifier is faster.",
    peers=("sklearn_crfsuite.CRF", "pycrfsuite.Trainer"),
    takes="sequences",
    synonyms=(
        "crf",
        "conditional random field",
        "sequence tagging",
        "structured SVM",
        "named entities",
    ),
)
class ChainCRF(SequenceEstimator):
    """Linear-chain conditional random field, for sequences whose every step has a label.

    Use it to tag words, steps or windows from many overlapping features, where a hidden Markov
    model would have to explain the features themselves. Features of a step may look at the whole
    sequence. Learning needs inference for each gradient: with few labels for each step and no use
    of their order, a plain classifier is faster.

    Parameters
    ----------
    loss : {"likelihood", "hinge"}, default="likelihood"
        Conditional likelihood, or the structured hinge (max-margin, with inference that is
        augmented by the loss), which is learned by sub-gradients of small lots.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        Of the likelihood: whole gradients, or those of small lots, which come near sooner where
        there are very many sequences.
    alpha : float, default=1e-3
        lambda: times the sum of squared parameters, for each sequence.
    l1 : float, default=0.0
        Times the sum of absolute parameters, for each sequence; many become exactly zero. With
        "lbfgs" only.
    margin : float, default=1.0
        epsilon of the hinge, for each wrong label.
    pairs : {"seen", "all"}, default="seen"
        Which pairs of feature and label have a parameter: those that occur together in training,
        or all, so that a feature can also speak against labels it was never seen with.
    min_count : int, default=1
        Features that occur less often are left out.
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
        First length of the steps of "sgd" and on the hinge; they shrink as 1 / sqrt(passes).
    batch_size : int, default=8
        Sequences in a lot.
    tol : float, default=1e-5
        L-BFGS stops where the largest entry of the gradient is below this, or where ten steps
        together lowered the objective by less than this share of it.
    n_jobs : int, default=None
        Threads; the same result for any number.
    random_state : int, Generator or None, default=None
        Seed of the order of the lots.

    Attributes
    ----------
    labels_ : list
    feature_names_ : list
        Commonest first.
    theta_ : ndarray
        All parameters: those of nodes, then those of edges.
    history_ : History
        The objective after each iteration, divided by the number of sequences.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    Weights are scores here: the cost of the text is minus the score. Texts: 000c 14.2.2-14.3.4. In
    small lots the mean of the parameters over the second half of the passes is kept.

    Examples
    --------
    >>> from gnomon.sequence import ChainCRF, token_features
    >>> sentences = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> tags = [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = ChainCRF().fit([token_features(s) for s in sentences], tags)
    >>> tagger.predict([token_features(["the", "cat", "barks"])])
    [['D', 'N', 'V']]
    """

    _parameter_constraints = {
        "loss": [StrOptions({"likelihood", "hinge"})],
        "solver": [StrOptions({"lbfgs", "sgd"})],
        "alpha": [at_least(0)],
        "l1": [at_least(0)],
        "margin": [at_least(0)],
        "pairs": [StrOptions({"seen", "all"})],
        "min_count": [whole(1)],
        "features": [callable, None],
        "edges": ["array-like", None],
        "labels": ["array-like", str, None],
        "max_iter": [whole(1)],
        "step": [above(0)],
        "batch_size": [whole(1)],
        "tol": [at_least(0)],
        "n_jobs": JOBS,
        "random_state": SEEDS,
    }
    _stored = {
        "feature_names_": ListOf(Anything(), "n_names"),
        "labels_": ListOf(Anything(), "n_labels"),
        "pair_labels_": Array("i4", ("n_pairs",), low=0, below="n_labels"),
        "pair_starts_": Array("i4", ("n_names + 1",), low=0, high="n_pairs", rising=True),
        "theta_": Array("f8", (None,)),
    }

    def __init__(
        self,
        *,
        loss: str = "likelihood",
        solver: str = "lbfgs",
        alpha: float = 1e-3,
        l1: float = 0.0,
        margin: float = 1.0,
        pairs: str = "seen",
        min_count: int = 1,
        features: Callable | None = None,
        edges: Any = None,
        labels: Sequence[Hashable] | None = None,
        max_iter: int = 200,
        step: float = 0.5,
        batch_size: int = 8,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.l1 = l1
        self.margin = margin
        self.pairs = pairs
        self.min_count = min_count
        self.features = features
        self.edges = edges
        self.labels = labels
        self.max_iter = max_iter
        self.step = step
        self.batch_size = batch_size
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fits("labels")
    def fit(self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]) -> ChainCRF:
        """Learn from labelled sequences.

        Parameters
        ----------
        sequences : list of sequences
            Each a list of dicts or lists of features, or a table of numbers.
        labels : list of sequences
            Labels of the same lengths.

        Returns
        -------
        self : ChainCRF
        """
        self._check_options(sequences, labels)
        seen: set[Any] = {label for path in labels for label in path}
        self.labels_ = sorted(seen) if self.labels is None else list(self.labels)
        if not seen <= set(self.labels_):
            raise DataError(
                f"{sorted(seen - set(self.labels_), key=repr)} are not among the labels"
            )
        self.feature_names_ = (
            [] if self.features else FeatureSpace.collect(sequences, self.min_count)
        )
        problem = _Problem(self, sequences, labels)
        self._fit_course = self._course("iteration", self.max_iter)
        if self.loss == "likelihood" and self.solver == "lbfgs":
            self.theta_ = self._by_lbfgs(problem)
        else:
            self.theta_ = self._by_lots(problem)
        self.history_ = self._fit_course.history
        self.n_iter_ = len(self.history_)
        del self._fit_course
        return self

    def _most_steps(self) -> int:
        return self.max_iter

    def _check_loaded(self) -> None:
        if not hasattr(self, "theta_"):
            return
        nodes = len(self.theta_) - self._n_edge_weights
        pairs = self.pair_starts_
        spans = self.features is not None or (pairs[0] == 0 and pairs[-1] == nodes)
        if not self.labels_ or nodes < 0 or not spans:
            raise ValueError("the parameters are not one for each pair of feature and label")
        if self.features is None and len(self.pair_labels_) != nodes:
            raise ValueError("the parameters are not one for each pair of feature and label")
        if self.edges is not None and np.shape(self.edges)[:2] != (len(self.labels_),) * 2:
            raise ValueError("the edges are not of the labels")

    @property
    def _n_edge_weights(self) -> int:
        return len(self.labels_) ** 2 if self.edges is None else np.shape(self.edges)[2]

    def _check_options(self, sequences: Sequence, labels: Sequence) -> None:
        if self.l1 and (self.loss == "hinge" or self.solver == "sgd"):
            raise DataError("l1 goes with loss='likelihood' and solver='lbfgs' only")
        if len(sequences) == 0:
            raise DataError("there are no sequences")
        lengths = [len(s) for s in sequences], [len(path) for path in labels]
        if lengths[0] != lengths[1]:
            wrong = next(
                (r for r, (a, b) in enumerate(zip(*lengths, strict=False)) if a != b),
                min(map(len, lengths)),
            )
            raise DataError(
                f"labels must have the lengths of their sequences: see sequence {wrong}"
            )

    @property
    def node_weights_(self) -> np.ndarray:
        """Parameters of nodes: (n_features, n_labels), or (n_features,) with `features`."""
        return self._split_theta()[0]

    @property
    def edge_weights_(self) -> np.ndarray:
        """Parameters of edges: (n_labels, n_labels), or (n_features,) with `edges`."""
        return self._split_theta()[1]

    def _split_theta(self) -> tuple[np.ndarray, np.ndarray]:
        nodes, edges = np.split(self.theta_, [len(self.theta_) - self._n_edge_weights])
        if self.features is None:
            shape = (len(self.feature_names_), len(self.labels_))
            nodes = sp.csr_array((nodes, self.pair_labels_, self.pair_starts_), shape).toarray()
        return nodes, edges if self.edges is not None else edges.reshape(len(self.labels_), -1)

    def _by_lbfgs(self, problem: _Problem) -> np.ndarray:
        n, size = problem.n_sequences, problem.size
        memory.require(
            8 * size * (2 * MEMORY_OF_LBFGS + MOST_BLOCKS + 6) * (1 + (self.l1 > 0)),
            f"ChainCRF with {size:,} parameters",
            "Use pairs='seen', a higher min_count, or solver='sgd'.",
        )

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = problem.likelihood(theta)
            slope /= n
            slope += 2 * self.alpha * theta
            return value / n + self.alpha * theta @ theta, slope

        # theta = up - down with both not negative, so that the sum of absolute values is smooth
        def split_objective(parts: np.ndarray) -> tuple[float, np.ndarray]:
            up, down = np.split(parts, 2)
            value, slope = objective(up - down)
            return value + self.l1 * parts.sum(), np.r_[slope + self.l1, -slope + self.l1]

        course = self._fit_course
        steps = iter(course)

        def note(intermediate_result: Any) -> None:
            next(steps, None)
            past = [*course.history, float(intermediate_result.fun)]
            slow = False
            if len(past) > STEPS_LOOKED_BACK:
                lowered = past[-1 - STEPS_LOOKED_BACK] - past[-1]
                slow = bool(lowered < self.tol * abs(past[-1]))
            if course.end_step(past[-1], slow):
                raise StopIteration

        # products of vectors are too short to be shared by threads of BLAS
        with one_blas_thread():
            found = minimize(
                split_objective if self.l1 else objective,
                np.zeros(2 * size if self.l1 else size),
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(0, np.inf) if self.l1 else None,
                options={
                    "maxiter": self.max_iter,
                    "gtol": self.tol,
                    "ftol": 1e-12,
                    "maxcor": MEMORY_OF_LBFGS,
                },
                callback=note,
            )
        if found.nit >= self.max_iter:
            course.history.stopped = "max_iter"
            warnings.warn(
                f"L-BFGS did not converge; increase max_iter (now {self.max_iter}) or tol (now "
                f"{self.tol})",
                GnomonWarning,
                stacklevel=7,
            )
        elif course.history.stopped == "done":
            course.history.stopped = "converged"
        if self.l1:
            up, down = np.split(found.x, 2)
            return up - down
        return found.x

    def _by_lots(self, problem: _Problem) -> np.ndarray:
        """Steps against the gradient of a few sequences each; shrinking is one number for all."""
        rng = self._rng()
        theta, scale = np.zeros(problem.size), 1.0
        mean, kept = np.zeros(problem.size), 0
        n = problem.n_sequences
        loss = problem.hinge if self.loss == "hinge" else problem.lot_likelihood
        course = self._fit_course
        for turn in course:
            order = rng.permutation(n)
            length = self.step / np.sqrt(1 + turn)
            total = 0.0
            for first in range(0, n, self.batch_size):
                lot = order[first : first + self.batch_size]
                # theta is scale times what is stored: shrinking touches no parameter
                shrunk = scale * max(1 - 2 * length * self.alpha, 0.0)
                if shrunk < SMALLEST_SCALE:
                    theta *= shrunk
                    scale, shrunk = 1.0, 1.0
                total += loss(theta, lot, scale, -length / (len(lot) * shrunk))
                scale = shrunk
            if turn >= self.max_iter // 2:
                mean += scale * theta
                kept += 1
            value = total / n + self.alpha * float(theta @ theta) * scale**2
            if course.end_step(value):
                break
        return mean / kept if kept else scale * theta

    def _problem(self, sequences: Sequence, labels: Sequence | None = None) -> _Problem:
        return _Problem(self, sequences, labels, (self.pair_starts_, self.pair_labels_))

    def costs(self, sequence: Any) -> tuple[np.ndarray, np.ndarray]:
        """Node costs (length, n_labels) and edge costs (n_labels, n_labels) of one sequence."""
        nodes, edges = self._problem([sequence]).scores(self.theta_)
        return -nodes, -edges

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[list]:
        """The best labels of each sequence as a whole."""
        if len(sequences) == 0:
            return []
        problem = self._problem(sequences)
        nodes, edges = problem.scores(self.theta_)
        path, _ = best_log_paths(np.zeros(len(edges)), edges, nodes, problem.bounds)
        return [
            [self.labels_[k] for k in part.tolist()]
            for part in np.split(path, problem.bounds[1:-1])
        ]

    def k_best(self, sequence: Any, n_paths: int) -> tuple[list[list], np.ndarray]:
        """The most probable labellings of one sequence, best first, and their log p(labels | X).

        Parameters
        ----------
        sequence : sequence
        n_paths : int

        Returns
        -------
        paths : list of list
        log_likelihood : ndarray
        """
        problem = self._problem([sequence])
        nodes, edges = problem.scores(self.theta_)
        paths, reached = several_best(np.zeros(len(edges)), edges, nodes, n_paths)
        total = _field(nodes, edges, problem.bounds).log_likelihood[0]
        total += (len(nodes) - 1) * edges.max()
        return [[self.labels_[k] for k in path] for path in paths], reached - total

    @of_sequences()
    def predict_proba(self, sequences: Sequence) -> list[np.ndarray]:
        """Probability of each label at each step, of shape (length, n_labels)."""
        if len(sequences) == 0:
            return []
        problem = self._problem(sequences)
        found = _field(*problem.scores(self.theta_), problem.bounds).states
        return np.split(found, problem.bounds[1:-1])

    @of_sequences("labels")
    def log_likelihood(
        self, sequences: Sequence, labels: Sequence[Sequence[Hashable]]
    ) -> np.ndarray:
        """log p(labels | sequence) of each sequence."""
        problem = self._problem(sequences, labels)
        nodes, edges = problem.scores(self.theta_)
        weights = np.exp(edges - edges.max())
        ones = np.ones(len(edges))
        joint = path_log_joint(ones, weights, nodes, problem.truth, problem.bounds)
        return joint - posteriors(ones, weights, nodes, problem.bounds).log_likelihood

    @of_sequences("labels")
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

    def __init__(
        self,
        model: ChainCRF,
        sequences: Sequence,
        labels: Sequence | None = None,
        known_pairs: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self.model = model
        self.n_labels = len(model.labels_)
        self.n_sequences = len(sequences)
        self.bounds = np.cumsum([0, *(len(s) for s in sequences)]).astype(np.int64)
        if labels is not None:
            codes = {label: k for k, label in enumerate(model.labels_)}
            self.truth = np.array([codes[x] for path in labels for x in path], dtype=np.int64)
        self.nodes = (
            _JointNodes(model, sequences)
            if model.features is not None
            else _SparseNodes(model, sequences)
        )
        if known_pairs is None:
            known_pairs = self.nodes.choose_pairs(self)
            model.pair_starts_, model.pair_labels_ = known_pairs
        self.nodes.take_pairs(*known_pairs)
        self.pair = None if model.edges is None else np.asarray(model.edges, dtype=float)
        self.n_edges = self.n_labels**2 if self.pair is None else self.pair.shape[2]
        self.size = self.nodes.size + self.n_edges
        self._truth_sums: np.ndarray | None = None

    def edge_scores(self, theta: np.ndarray) -> np.ndarray:
        weights = theta[self.nodes.size :]
        if self.pair is None:
            return np.ascontiguousarray(weights.reshape(self.n_labels, self.n_labels))
        return self.pair @ weights

    def edge_slope(self, excess: np.ndarray) -> np.ndarray:
        if self.pair is None:
            return excess.ravel()
        return np.einsum("ab,abl->l", excess, self.pair)

    def scores(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        everything = np.arange(self.bounds[-1])
        return self.nodes.scores(theta, everything), self.edge_scores(theta)

    def truth_sums(self) -> np.ndarray:
        """Features of the truth, summed: minus their expectation it is the slope."""
        if self._truth_sums is None:
            sums = np.zeros(self.size)
            steps = np.arange(self.bounds[-1])
            self.nodes.add_slope(np.eye(self.n_labels)[self.truth], steps, 1.0, sums)
            counts = pair_counts(self.truth, self.bounds, self.n_labels)
            sums[self.nodes.size :] = self.edge_slope(counts)
            self._truth_sums = sums
        return self._truth_sums

    def blocks(self) -> list[tuple[int, int]]:
        """Borders of a few batches of sequences of about equal length."""
        count = int(np.clip(self.bounds[-1] // LEAST_BLOCK, 1, MOST_BLOCKS))
        cuts = np.searchsorted(self.bounds, np.linspace(0, self.bounds[-1], count + 1)[1:-1])
        edges = np.unique(np.r_[0, cuts, self.n_sequences])
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def likelihood(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """-sum log p(truth) and its gradient."""
        edges = self.edge_scores(theta)
        truth = self.truth_sums()
        table = self.nodes.common_rows(theta)

        def expected(block: tuple[int, int]) -> tuple[float, np.ndarray, np.ndarray]:
            bounds = self.bounds[block[0] : block[1] + 1]
            steps = np.arange(bounds[0], bounds[-1])
            found = _field(self.nodes.scores(theta, steps, table), edges, bounds - bounds[0])
            sums = self.nodes.sums(found.states, steps)
            return float(found.log_likelihood.sum()), sums, found.pairs

        moves = np.maximum(np.diff(self.bounds) - 1, 0).sum()
        value = moves * edges.max() - theta @ truth
        slope = -truth
        pairs = np.zeros(edges.shape)
        for part, sums, block_pairs in in_order(expected, self.blocks(), self.model.n_jobs):
            value += part
            slope[: self.nodes.size] += sums
            pairs += block_pairs
        slope[self.nodes.size :] += self.edge_slope(pairs)
        return float(value), slope

    def lot_likelihood(self, theta, lot: np.ndarray, scale: float, factor: float) -> float:
        """-sum log p(truth) of some sequences; `factor` times its slope is added to theta."""
        steps, bounds = self._lot(lot)
        truth = self.truth[steps]
        nodes, edges = scale * self.nodes.scores(theta, steps), scale * self.edge_scores(theta)
        found = _field(nodes, edges, bounds)
        value = found.log_likelihood.sum() + np.maximum(np.diff(bounds) - 1, 0).sum() * edges.max()
        excess_pairs = found.pairs - pair_counts(truth, bounds, self.n_labels)
        true_nodes = np.eye(self.n_labels)[truth]
        value -= (nodes * true_nodes).sum()
        value -= (edges * pair_counts(truth, bounds, self.n_labels)).sum()
        self._descend(theta, found.states - true_nodes, excess_pairs, steps, factor)
        return float(value)

    def hinge(self, theta, lot: np.ndarray, scale: float = 1.0, factor: float = 0.0) -> float:
        """Structured hinge of some sequences; `factor` times a sub-gradient is added to theta."""
        steps, bounds = self._lot(lot)
        truth = self.truth[steps]
        eye = np.eye(self.n_labels)
        nodes, edges = scale * self.nodes.scores(theta, steps), scale * self.edge_scores(theta)
        augmented = nodes + self.model.margin * (1 - eye[truth])
        rival, _ = best_log_paths(np.zeros(self.n_labels), edges, augmented, bounds)
        excess_nodes = eye[rival] - eye[truth]
        excess_pairs = pair_counts(rival, bounds, self.n_labels)
        excess_pairs -= pair_counts(truth, bounds, self.n_labels)
        # the truth is among the rivals, so no gap is below zero
        gap = (excess_nodes * augmented).sum() + (excess_pairs * edges).sum()
        self._descend(theta, excess_nodes, excess_pairs, steps, factor)
        return float(gap)

    def _descend(self, theta, node_excess, pair_excess, steps, factor: float) -> None:
        if factor != 0:
            self.nodes.add_slope(node_excess, steps, factor, theta)
            theta[self.nodes.size :] += factor * self.edge_slope(pair_excess)

    def _lot(self, lot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [np.arange(self.bounds[r], self.bounds[r + 1]) for r in lot]
        bounds = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return np.concatenate(parts), bounds


class _SparseNodes:
    """Node scores from sparse features of steps, one parameter for each pair with a label."""

    def __init__(self, model: ChainCRF, sequences: Sequence):
        places = {name: j for j, name in enumerate(model.feature_names_)}
        rows = FeatureSpace.rows(sequences, places)
        if rows.shape[1] != len(places):
            raise DataError(f"steps have {rows.shape[1]} features, the field {len(places)}")
        self.n_labels = len(model.labels_)
        self.rows = (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)
        self.n_features = len(places)

    def choose_pairs(self, problem: _Problem) -> tuple[np.ndarray, np.ndarray]:
        k = self.n_labels
        if problem.model.pairs == "all":
            starts = np.arange(self.n_features + 1) * k
            return _short(starts), _short(np.tile(np.arange(k), self.n_features))
        pointers, columns, _ = self.rows
        truth = np.repeat(problem.truth, np.diff(pointers))
        seen = np.unique(columns * np.int64(k) + truth, sorted=True)
        starts = np.searchsorted(seen, np.arange(self.n_features + 1) * k)
        return _short(starts), _short(seen % k)

    def take_pairs(self, starts: np.ndarray, labels: np.ndarray) -> None:
        self.pairs = (starts, labels)
        self.size = len(labels)
        n_common = min(self.n_features, COMMON_PARAMETERS // self.n_labels)
        n_places = int(starts[n_common])
        features = np.repeat(np.arange(n_common), np.diff(starts[: n_common + 1]))
        self.common = (n_common, n_places, (features, labels[:n_places]))

    def common_rows(self, theta: np.ndarray) -> np.ndarray:
        """Parameters of the commonest features, as whole rows."""
        n_common, n_places, at = self.common
        rows = np.zeros((n_common, self.n_labels))
        rows[at] = theta[:n_places]
        return rows

    def scores(self, theta: np.ndarray, steps, common: np.ndarray | None = None) -> np.ndarray:
        found = np.zeros((len(steps), self.n_labels))
        rows = found[:0] if common is None else common
        node_scores(steps, *self.rows, *self.pairs, theta, rows, found)
        return found

    def sums(self, weights: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Features of some steps summed, by the weights of labels."""
        n_common, n_places, at = self.common
        sums, rows = np.zeros(self.size), np.zeros((n_common, self.n_labels))
        node_slope(steps, *self.rows, *self.pairs, weights, 1.0, rows, sums)
        sums[:n_places] = rows[at]
        return sums

    def add_slope(self, excess, steps: np.ndarray, factor: float, slope: np.ndarray) -> None:
        none = np.empty((0, self.n_labels))
        node_slope(steps, *self.rows, *self.pairs, excess, factor, none, slope)


class _JointNodes:
    """Node scores from features of step and label together, one parameter for each feature."""

    def __init__(self, model: ChainCRF, sequences: Sequence):
        assert model.features is not None
        self.table = np.concatenate([np.asarray(model.features(s), dtype=float) for s in sequences])
        if self.table.ndim != 3 or self.table.shape[1] != len(model.labels_):
            raise DataError(
                f"features gave shape {self.table.shape}; (length, {len(model.labels_)} labels, "
                "n_features) is needed"
            )
        self.size = self.table.shape[2]

    def choose_pairs(self, problem: _Problem) -> tuple[np.ndarray, np.ndarray]:
        return _short(np.zeros(1)), _short(np.zeros(0))

    def take_pairs(self, starts: np.ndarray, labels: np.ndarray) -> None:
        """There are none to take."""

    def common_rows(self, theta: np.ndarray) -> np.ndarray:
        return np.empty((0, 0))

    def scores(self, theta: np.ndarray, steps, common: np.ndarray | None = None) -> np.ndarray:
        return self.table[steps] @ theta[: self.size]

    def sums(self, weights: np.ndarray, steps: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkj->j", weights, self.table[steps])

    def add_slope(self, excess, steps: np.ndarray, factor: float, slope: np.ndarray) -> None:
        slope[: self.size] += factor * np.einsum("nk,nkj->j", excess, self.table[steps])


@kernel(*STEPS, *PAIRS, "f8[:]", "f8[:,:]", "out f8[:,:]")
def node_scores(steps, pointers, columns, values, starts, labels, theta, rows, found):
    """Add up the parameters of the features of some steps, label by label: found (len(steps), K).

    Step n has the features ``columns[pointers[n] : pointers[n + 1]]``; feature j has a parameter
    for the labels ``labels[starts[j] : starts[j + 1]]``, at the same places of theta. The first
    features, the commonest, may have their parameters in whole rows (any, K) too: these are added
    without looking up labels.
    """
    n_labels = found.shape[1]
    n_rows = len(rows)
    for i in range(len(steps)):
        scores = found[i]
        for entry in range(pointers[steps[i]], pointers[steps[i] + 1]):
            feature = columns[entry]
            value = values[entry]
            if feature < n_rows:
                for k in range(n_labels):
                    scores[k] += value * rows[feature, k]
            else:
                for place in range(starts[feature], starts[feature + 1]):
                    scores[labels[place]] += value * theta[place]


@kernel(*STEPS, *PAIRS, "f8[:,:]", "f8", "out f8[:,:]", "out f8[:]")
def node_slope(steps, pointers, columns, values, starts, labels, excess, factor, rows, slope):
    """Add factor x excess (len(steps), K) to the parameters of the features of some steps.

    Arguments as in `node_scores`; features with a row add to it.
    """
    n_labels = excess.shape[1]
    n_rows = len(rows)
    for i in range(len(steps)):
        more = excess[i]
        for entry in range(pointers[steps[i]], pointers[steps[i] + 1]):
            feature = columns[entry]
            value = factor * values[entry]
            if feature < n_rows:
                for k in range(n_labels):
                    rows[feature, k] += value * more[k]
            else:
                for place in range(starts[feature], starts[feature + 1]):
                    slope[place] += value * more[labels[place]]


def _short(numbers: np.ndarray) -> np.ndarray:
    """Numbers of parameters in half the memory, as lookups of them are what learning waits for."""
    if len(numbers) and numbers.max() > np.iinfo(np.int32).max:
        raise DataError(f"{numbers.max():,} parameters are too many: use a higher min_count")
    return numbers.astype(np.int32)


def _field(nodes: np.ndarray, edges: np.ndarray, bounds: np.ndarray):
    """Posteriors of a field; log Z lacks the largest edge score for each move."""
    return posteriors(np.ones(len(edges)), np.exp(edges - edges.max()), nodes, bounds)


def _are_arrays(sequences: Sequence) -> bool:
    return len(sequences) > 0 and isinstance(sequences[0], np.ndarray)
