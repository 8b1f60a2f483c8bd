"""Kernel machines of two classes for each pair of classes: votes, probabilities, coefficients.

The coefficients of all pairs share the union of the support vectors. They are stored in libsvm's
layout, as in scikit-learn: support vectors are sorted by class, and those of class i have, in row
j - 1 (j > i) or j (j < i) of ``dual_coef_``, their coefficient in the machine of classes i and j.

Texts: 001 8 · 002 L1532-1538 · 004 10.1.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from gnomon.contract import Classifier, Data
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.stored import Array
from gnomon.engine.threads import in_order
from gnomon.margin.kernels import Precomputed, dense
from gnomon.margin.machine import MEGABYTE, KernelMachine, MachineRows, WorkingSets
from gnomon.margin.platt import couple, fit_sigmoid, sigmoid
from gnomon.margin.working_set import COLUMNS_AT_ONCE, Solution

FOLDS = 5  # of Platt's sigmoids, as in libsvm
ROWS_AT_ONCE = 256  # held-out rows whose kernel values are computed together


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, the smaller code first."""
    return list(combinations(range(n_classes), 2))


def pair_votes(scores: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Votes of the pairs for each class, and sums of their scores.

    Parameters
    ----------
    scores : ndarray of shape (n, n_pairs)
        A score of zero or more is a vote for the second class of its pair.
    n_classes : int

    Returns
    -------
    votes : ndarray of int of shape (n, n_classes)
    sums : ndarray of shape (n, n_classes)
    """
    votes = np.zeros((len(scores), n_classes), dtype=np.int64)
    sums = np.zeros((len(scores), n_classes))
    for k, (a, b) in enumerate(class_pairs(n_classes)):
        for_b = scores[:, k] >= 0
        votes[:, b] += for_b
        votes[:, a] += ~for_b
        sums[:, b] += scores[:, k]
        sums[:, a] -= scores[:, k]
    return votes, sums


def votes_and_confidence(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes of pairs, plus less than half a vote by the sum of scores, which breaks ties."""
    votes, sums = pair_votes(scores, n_classes)
    return votes + sums / (3 * (np.abs(sums) + 1))


def by_class(coefficients: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """Coefficients of the pairs (n_pairs, n) in libsvm's layout (n_classes - 1, n)."""
    classes = _classes_of(n_support)
    table = np.zeros((len(n_support) - 1, len(classes)))
    for k, (a, b) in enumerate(class_pairs(len(n_support))):
        table[b - 1, classes == a] = coefficients[k, classes == a]
        table[a, classes == b] = coefficients[k, classes == b]
    return table


def by_pair(table: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """The reverse of `by_class`."""
    classes = _classes_of(n_support)
    pairs = class_pairs(len(n_support))
    coefficients = np.zeros((len(pairs), len(classes)))
    for k, (a, b) in enumerate(pairs):
        coefficients[k, classes == a] = table[b - 1, classes == a]
        coefficients[k, classes == b] = table[a, classes == b]
    return coefficients


def _classes_of(n_support: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(n_support)), n_support)


def _gives_probabilities(machine) -> bool:
    if getattr(machine, "probability", False) is not True:
        raise AttributeError(
            f"predict_proba is not available when probability=False: {type(machine).__name__} "
            "estimates probabilities only with probability=True, set before fit"
        )
    return True


class PairwiseMachine(KernelMachine, Classifier):
    """A machine of two classes for each pair; a class writes ``_two_classes``."""

    _stored = {
        "class_weight_": Array("f8", ("n_classes",), low=0.0),
        "probA_": Array("f8", ("n_probA",)),
        "probB_": Array("f8", ("n_probA",)),
    }

    def _two_classes(
        self, given: MachineRows, sign: np.ndarray, tell: WorkingSets | None = None
    ) -> tuple[np.ndarray, float, Any]:
        """Coefficients of the rows, the offset, and the solution.

        A matrix of similarities is of these rows alone, and may be changed.
        """
        raise NotImplementedError

    def _fit(self, data: Data) -> None:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise DataError(
                "The number of classes has to be greater than one; got 1 class: "
                f"{type(self).__name__} separates classes, and every row is of class "
                f"{self.classes_.tolist()[0]!r}"
            )
        self.class_weight_ = np.ones(n_classes) if data.factors is None else data.factors
        given = self._machine_rows(data)
        pairs = class_pairs(n_classes)
        tell = self._working_sets()
        coefficients = np.zeros((len(pairs), given.rows.shape[0]))
        intercepts = np.zeros(len(pairs))
        solutions: list[Solution] = []
        shared = self._shared(given) if len(pairs) > 1 else given
        of_class = [np.flatnonzero(given.y == each) for each in range(n_classes)]
        for k, pair in enumerate(pairs):
            places = np.sort(np.concatenate([of_class[pair[0]], of_class[pair[1]]]))
            sign = np.where(given.y[places] == pair[1], 1.0, -1.0)
            coefficients[k, places], intercepts[k], solution = self._two_classes(
                shared.part(places), sign, tell
            )
            solutions.append(solution)
            if tell.stop:
                break
        self._keep_pairs(given, coefficients, intercepts)
        self.dual_objective_ = np.array([-each.objective for each in solutions])
        self.kkt_violation_ = np.array([each.gap for each in solutions])
        self.n_steps_ = np.array([each.n_steps for each in solutions], dtype=np.int64)
        self._keep_course(solutions)
        self.n_iter_ = np.array([len(each.course) for each in solutions], dtype=np.int32)
        sigmoids = np.zeros((0, 2))
        if getattr(self, "probability", False) is True:
            sigmoids = np.array([self._pair_sigmoid(given, pair) for pair in pairs])
        self.probA_, self.probB_ = sigmoids[:, 0].copy(), -sigmoids[:, 1]

    def _shared(self, given: MachineRows) -> MachineRows:
        """The kernel values of all rows, computed once for all pairs, where the cache holds them.

        It holds them beside those of the largest pair, which are copied. Every value between two
        classes is needed by one pair, those within a class by all of its pairs.
        """
        n = given.rows.shape[0]
        of_pair = int(np.sort(np.bincount(given.y))[-2:].sum())
        if given.kernel.pairwise or 8 * (n**2 + of_pair**2) > self.cache_size * MEGABYTE:
            return given
        matrix = np.empty((n, n))
        borders = [(k, min(k + COLUMNS_AT_ONCE, n)) for k in range(0, n, COLUMNS_AT_ONCE)]
        blocks = [given.kernel.against(given.rows[start:stop]) for start, stop in borders]

        def part(first: int) -> None:
            here = slice(first, first + ROWS_AT_ONCE)
            for (start, stop), block in zip(borders, blocks):
                matrix[here, start:stop] = block(given.rows[here])

        for _ in in_order(part, range(0, n, ROWS_AT_ONCE), self.n_jobs, short=True):
            pass
        return MachineRows(Precomputed(), matrix, given.y, given.weights, given.origin)

    def _keep_pairs(
        self, given: MachineRows, coefficients: np.ndarray, intercepts: np.ndarray
    ) -> None:
        """Keep the support vectors; of several pairs with libsvm's layout and signs."""
        support = np.flatnonzero((coefficients != 0).any(axis=0))
        support = support[np.lexsort((given.origin[support], given.y[support]))]
        counts = np.bincount(given.y[support], minlength=len(self.classes_)).astype(np.int32)
        self.n_support_, kept = counts, coefficients[:, support]
        if len(counts) > 2:
            kept, intercepts = by_class(-kept, counts), -intercepts
        self._keep_support(given, support, kept, intercepts)

    def _pair_sigmoid(self, given: MachineRows, pair: tuple[int, int]) -> np.ndarray:
        """Platt's sigmoid of one pair, from scores of rows that the machine has not seen."""
        places = np.flatnonzero(np.isin(given.y, pair))
        positive = given.y[places] == pair[1]
        scores = np.empty(len(places))
        for held in self._folds(positive):
            seen = np.flatnonzero(~held) if not held.all() else np.arange(len(places))
            part = given.part(places[seen])
            sign = np.where(positive[seen], 1.0, -1.0)
            coefficients, intercept, _ = self._two_classes(part, sign)
            scores[held] = self._scores_of(given, places[held], part, coefficients) + intercept
        return fit_sigmoid(scores, positive, given.weights[places])

    def _folds(self, positive: np.ndarray) -> list[np.ndarray]:
        """Rows that are held out in turn, each fold with its share of both classes."""
        fewest = int(min(positive.sum(), (~positive).sum()))
        n_folds = min(FOLDS, fewest)
        if n_folds < 2:
            warnings.warn(
                f"{type(self).__name__}: a class has a single row, so that probabilities come from "
                "scores of training rows and are overconfident",
                GnomonWarning,
                stacklevel=2,
            )
            return [np.ones(len(positive), dtype=bool)]
        fold = np.empty(len(positive), dtype=np.int64)
        for side in (positive, ~positive):
            fold[side] = np.arange(side.sum()) % n_folds
        return [fold == k for k in range(n_folds)]

    @staticmethod
    def _scores_of(
        given: MachineRows, wanted: np.ndarray, part: MachineRows, coefficients: np.ndarray
    ) -> np.ndarray:
        used = np.flatnonzero(coefficients)
        if given.kernel.pairwise:
            columns = np.searchsorted(given.origin, part.origin[used])
            return given.rows[np.ix_(wanted, columns)] @ coefficients[used]
        if not len(used):
            return np.zeros(len(wanted))
        against = given.kernel.against(part.rows[used])
        scores = np.empty(len(wanted))
        for first in range(0, len(wanted), ROWS_AT_ONCE):
            here = slice(first, first + ROWS_AT_ONCE)
            scores[here] = against(given.rows[wanted[here]]) @ coefficients[used]
        return scores

    def _expansion_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Of several pairs the opposite signs of libsvm's: scores are for the second class."""
        table = dense(self.dual_coef_)
        if len(self.classes_) == 2:
            return table, self.intercept_
        return -by_pair(table, self.n_support_), -self.intercept_

    @property
    def coef_(self) -> Any:
        """Weights of the columns, one row per pair of classes; with the linear kernel only."""
        self._require_linear()
        table = dense(self.dual_coef_)
        pairs = table if len(self.classes_) == 2 else by_pair(table, self.n_support_)
        weights = pairs @ self.support_vectors_
        return sp.csr_array(weights) if sp.issparse(self.support_vectors_) else weights

    def decision_function(self, X) -> np.ndarray:
        """Scores: the signed f(x) of two classes; of more one per class, or one per pair.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Per class: the votes of the pairs plus less than half a vote for the sum of their
            scores. With ``decision_function_shape="ovo"`` of several classes f(x) of each pair,
            positive for its first class.
        """
        scores = self.pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        if getattr(self, "decision_function_shape", "ovr") == "ovo":
            return -scores
        return votes_and_confidence(scores, len(self.classes_))

    def pair_scores(self, X) -> np.ndarray:
        """f(x) of every pair of classes; above zero for the second class of the pair.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_pairs)
        """
        return self._each_block(self._expansions(), X)

    def predict(self, X) -> np.ndarray:
        """The class with most votes, for each row; of two classes, the second from score zero on.

        Classes with equal votes: the first of them, with ``break_ties=True`` that of the
        greatest `decision_function`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        break_ties = getattr(self, "break_ties", False)
        if break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        scores = self.pair_scores(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[(scores[:, 0] >= 0).astype(np.int64)]
        count = votes_and_confidence if break_ties else lambda *given: pair_votes(*given)[0]
        return self.classes_[count(scores, n_classes).argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class, for each row; only with ``probability=True``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        scores = self.pair_scores(X)
        if not len(self.probA_):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; fit again"
            )
        pairs = sigmoid(scores, np.column_stack([self.probA_, -self.probB_]))
        if len(self.classes_) == 2:
            return np.column_stack([1 - pairs[:, 0], pairs[:, 0]])
        first, second = np.array(class_pairs(len(self.classes_))).T
        return couple(pairs, first, second, len(self.classes_))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return super().predict_log_proba(X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * (n_columns // 2 + 10)

    def _kept_memory(self, n_rows: int) -> int:
        """Of several classes all kernel values and those of a pair, where the cache holds both."""
        shared = min(16 * n_rows**2, int(self.cache_size * MEGABYTE))
        return max(super()._kept_memory(n_rows), shared)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return super()._sparse_memory(n_rows, n_columns, n_entries) + 16 * 2 * n_entries
