"""Hopfield network: an associative memory of patterns of plus and minus one.

The weights are W = sum_p s_p s_p' without their diagonal (Hebb's rule). Recall sets one unit after
the other to the sign of its input, s_i <- sign(sum_j w_ij s_j), which never raises the energy
E(s) = -s'W s / 2, until no unit changes. About 0.138 patterns per unit can be stored; with the
pseudo-inverse rule, W is the projection onto the span of the patterns, which also stores
correlated ones.

Texts: 003 4.8 names it; Hopfield (1982), Amit, Gutfreund and Sompolinsky (1985), Personnaz, Guyon
and Dreyfus (1985).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from gnomon.contract import Step, SumLearner, Transformer
from gnomon.engine.parameters import Interval, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import chunks_memory

MOST_SWEEPS = 1000  # recall ends after a few; the bound is for ties that rounding breaks
RANK_TOL = 1e-10  # eigenvalues of patterns below this share of the largest are rounding


@method(
    task="reduce",
    texts="003 4.8",
    use="Recall of a few stored patterns from corrupted ones; a demonstration of attractors.",
    avoid="More than 0.1 patterns per column, or numbers: nearest neighbors recall any rows.",
    peers=("hopfieldnetwork",),
    synonyms=("associative memory", "attractor network", "Hebbian storage"),
)
class HopfieldNetwork(OneToOneFeatureMixin, Transformer, SumLearner):
    """Store patterns of plus and minus one, and recall them from corrupted ones.

    Recall lowers ``E(s) = -s'W s / 2`` unit by unit. Use it to recall few patterns, at most a tenth
    of the number of columns, and to show how energies work; not for numbers or many rows, where
    nearest neighbors recall better.

    Parameters
    ----------
    rule : {"hebb", "pseudo-inverse"}, default="hebb"
        How patterns are stored: the sum of their products, or the projection onto their span, which
        takes correlated patterns and as many as there are columns.
    threshold : float, default=0.0
        Values above it count as plus one, all others as minus one.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_features)
        Symmetric, with zeros on the diagonal.
    n_patterns_ : float
        Total weight of the stored rows.
    n_iter_ : int
        Always 1: one pass over the rows.
    history_ : History
        Mean energy of the stored patterns.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 003 4.8. Units are visited in the order of the columns; a unit whose input is zero stays.

    Examples
    --------
    >>> from gnomon.neural import HopfieldNetwork
    >>> memory = HopfieldNetwork().fit([[1, 1, 1, -1, -1, -1], [1, -1, 1, -1, 1, -1]])
    >>> memory.transform([[-1, 1, 1, -1, -1, -1]])
    array([[ 1.,  1.,  1., -1., -1., -1.]])
    """

    _parameter_constraints = {
        "rule": [StrOptions({"hebb", "pseudo-inverse"})],
        "threshold": [Interval(Real, None, None, closed="neither")],
    }
    _stored = {
        "weights_": Array("f8", ("n_columns", "n_columns")),
        "n_patterns_": Number(0.0),
    }

    def __init__(self, *, rule: str = "hebb", threshold: float = 0.0):
        self.rule = rule
        self.threshold = threshold

    def _states(self, rows: Any) -> np.ndarray:
        return np.where(rows > self.threshold, 1.0, -1.0)

    def _sums(self, state: Any, chunk: Any) -> tuple:
        s = self._states(chunk.rows)
        return (s * chunk.weights[:, None]).T @ s, chunk.weights.sum()

    def _update(self, state: Any, total: tuple) -> Step:
        products, n_patterns = total
        weights = span_projection(products) if self.rule == "pseudo-inverse" else products.copy()
        energy = -0.5 * float((weights * products).sum() - weights.trace() * n_patterns)
        np.fill_diagonal(weights, 0.0)
        found = {"weights_": weights, "n_patterns_": float(n_patterns)}
        return Step(found, energy / n_patterns, True)

    def _attributes(self, state: Any) -> dict[str, Any]:
        return dict(state)

    def _map(self, rows: Any) -> np.ndarray:
        return recall(self._states(rows), self.weights_)

    def energy(self, X: Any) -> np.ndarray:
        """The energy of the pattern that each row stands for.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        energy : ndarray of shape (n_samples,)
        """
        return self._each_block(lambda rows: energy(self._states(rows), self.weights_), X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        chunks = chunks_memory(n_rows, n_columns, None)
        return chunks + 8 * (3 * n_columns**2 + 4 * n_rows)

    def _memory_remedy(self) -> str:
        return "Use fewer columns: the weights are a square matrix of them."


def span_projection(products: np.ndarray) -> np.ndarray:
    """The projection onto the span of patterns, from the sum of their outer products."""
    values, vectors = np.linalg.eigh(products)
    basis = vectors[:, values > RANK_TOL * values[-1]]
    return basis @ basis.T


def energy(states: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """-s'W s / 2 of each row of states."""
    return -0.5 * np.einsum("ij,ij->i", states @ weights, states)


def recall(states: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Set units to the signs of their inputs, one after the other, until none changes.

    Parameters
    ----------
    states : ndarray of shape (n, d)
        Of plus and minus one.
    weights : ndarray of shape (d, d)

    Returns
    -------
    states : ndarray of shape (n, d)
    """
    states = states.copy()
    active = np.arange(len(states))
    for _ in range(MOST_SWEEPS):
        now = states[active]
        changed = np.zeros(len(now), dtype=bool)
        for unit in range(now.shape[1]):
            field = now @ weights[unit]
            new = np.where(field == 0, now[:, unit], np.sign(field))
            changed |= new != now[:, unit]
            now[:, unit] = new
        states[active] = now
        active = active[changed]
        if not len(active):
            break
    return states
