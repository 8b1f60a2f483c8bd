"""Boltzmann machines: variables that are -1 or +1, with a weight on every pair.

    log p(u) = sum over pairs i < j of theta_ij u_i u_j + sum_i b_i u_i - log Z.

A positive weight likes agreement. Each pair is counted once: the double sum of 000 15.1 visits it
twice, but the mean-field update of 15.3 fits one visit.

Texts: 000 15.1, 15.1.1, 15.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import Saved
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array
from gnomon.graphical.forest import Labeling
from gnomon.graphical.mean_field import MeanField, mean_field
from gnomon.graphical.modes import graph_cut, iterated_modes
from gnomon.graphical.pairwise import PairwiseMarginals, PairwiseModel, weighted_edges
from gnomon.graphical.pairwise_gibbs import PairwiseSampler
from gnomon.sample.chains import Chains, sample_chains
from gnomon.sample.draws import Seed
from gnomon.sample.target import Target

SIGNS = np.array([-1.0, 1.0])  # the two values of a variable


@storable
class BoltzmannMachine(Saved):
    """A Boltzmann machine over variables of -1 and +1.

    Use it for binary images and for other pairs that agree or differ. Exact where the graph has a
    small width; mean field or Gibbs otherwise.

    Texts: 000 15.1; biases are 000's links to known variables.

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (n, n)
        Symmetric, zero on the diagonal.
    biases : array-like of shape (n,), default=None
        Zero where None.

    Attributes
    ----------
    edges : ndarray of shape (m, 2)
    weights : ndarray of shape (m,)
    biases : ndarray of shape (n,)

    Examples
    --------
    >>> pair = BoltzmannMachine([[0, 1.0], [1.0, 0]])
    >>> pair.energy([1, 1]), pair.energy([1, -1])
    (-1.0, 1.0)
    """

    _stored = {
        "edges": Array("i8", ("n_edges", 2), low=0),
        "weights": Array("f8", ("n_edges",)),
        "biases": Array("f8", ("n_units",)),
    }

    def __init__(self, weights: Any, biases: ArrayLike | None = None):
        n, self.edges, self.weights = weighted_edges(weights)
        self.biases = np.zeros(n) if biases is None else np.array(biases, dtype=np.float64)
        self._check()

    def _check_loaded(self) -> None:
        self._check()

    def _check(self) -> None:
        n = len(self.biases) if self.biases.ndim == 1 else 0
        inside = not len(self.edges) or (self.edges.min() >= 0 and self.edges.max() < n)
        if not n or not inside or self.weights.shape != (len(self.edges),):
            raise DataError("weights and biases of the Boltzmann machine do not fit together")
        if not np.isfinite(self.weights).all() or not np.isfinite(self.biases).all():
            raise DataError("weights and biases must be finite numbers")

    def energy(self, u: ArrayLike) -> float:
        """E(u) = -log p(u) - log Z.

        Parameters
        ----------
        u : array-like of shape (n,)
            Of -1 and +1.

        Returns
        -------
        energy : float
        """
        signs = np.asarray(u, dtype=np.float64)
        if signs.shape != self.biases.shape or not (np.abs(signs) == 1).all():
            raise DataError(f"give {len(self.biases)} values that are -1 or +1")
        pairs = signs[self.edges].prod(axis=1)
        return float(-self.weights @ pairs - self.biases @ signs)

    def model(self) -> PairwiseModel:
        """The same law as a pairwise model; value 0 stands for -1 and value 1 for +1.

        Returns
        -------
        model : PairwiseModel
        """
        levels, which = np.unique(self.weights, return_inverse=True)
        tables = -levels[:, None, None] * np.outer(SIGNS, SIGNS)
        n = len(self.biases)
        return PairwiseModel._of(
            -self.biases[:, None] * SIGNS,
            np.full(n, 2, dtype=np.int64),
            self.edges,
            tables if len(tables) else np.zeros((1, 2, 2)),
            np.asarray(which, dtype=np.int64),
            0.0,
        )

    def target(self) -> Target:
        """log p up to a constant, for the samplers of `gnomon.sample`.

        Returns
        -------
        target : Target
        """
        return Target(lambda u: -self.energy(u), len(self.biases))

    def given(self, evidence: Mapping[int, int]) -> tuple[BoltzmannMachine, np.ndarray]:
        """The machine of the other variables: known ones become biases of their neighbours.

        Parameters
        ----------
        evidence : mapping of int to {-1, 1}

        Returns
        -------
        machine : BoltzmannMachine
        free : ndarray of int
            Which variables are left.
        """
        n = len(self.biases)
        known = np.zeros(n)
        for i, sign in evidence.items():
            if not 0 <= i < n or sign not in (-1, 1):
                raise DataError(f"variable {i} cannot have the value {sign}; give -1 or 1")
            known[i] = sign
        free = np.flatnonzero(known == 0)
        if not len(free):
            raise DataError("every variable is known; energy(u) is all there is to say")
        biases = self.biases.copy()
        np.add.at(biases, self.edges[:, 0], self.weights * known[self.edges[:, 1]])
        np.add.at(biases, self.edges[:, 1], self.weights * known[self.edges[:, 0]])
        kept = (known[self.edges] == 0).all(axis=1)
        made = BoltzmannMachine.__new__(BoltzmannMachine)
        made.edges = (np.cumsum(known == 0) - 1)[self.edges[kept]]
        made.weights, made.biases = self.weights[kept], biases[free]
        return made, free

    def exact(self) -> PairwiseMarginals:
        """log Z and marginals by a junction tree; refused where the width is too large.

        Returns
        -------
        marginals : PairwiseMarginals
            Value 0 stands for -1, value 1 for +1.
        """
        return self.model().exact()

    def mean_field(self, start: str | ArrayLike = "data", **options: Any) -> MeanField:
        """Mean field: pi_i = sigmoid(2 s_i), one variable after the other.

        Parameters
        ----------
        start : {"data", "uniform", "random"} or array-like of shape (n, 2), default="data"
        **options
            As of `mean_field`: max_iter, tol, random_state.

        Returns
        -------
        found : MeanField
            ``q[:, 1]`` is pi.
        """
        return mean_field(self.model(), start, **options)

    def mode(self, **options: Any) -> Labeling:
        """The values of least energy: by a cut where no weight is negative, else a local search.

        Parameters
        ----------
        **options
            As of `iterated_modes`; unused by the cut.

        Returns
        -------
        labeling : Labeling
            Value 0 stands for -1; it says whether it is proved best.
        """
        if not len(self.weights) or self.weights.min() >= 0:
            return graph_cut(self.model())
        return iterated_modes(self.model(), **options)

    def gibbs(
        self,
        n_draws: int,
        *,
        n_chains: int = 4,
        n_warmup: int = 200,
        random_state: Seed = None,
    ) -> Chains:
        """Chains of -1 and +1: p(u_i = 1 | others) = sigmoid(2 s_i).

        Parameters
        ----------
        n_draws : int
        n_chains : int, default=4
        n_warmup : int, default=200
        random_state : int, Generator or None

        Returns
        -------
        chains : Chains
        """
        rng = np.random.default_rng(random_state)
        n = len(self.biases)
        starts = rng.choice(SIGNS, size=(n_chains, n))
        sampler = PairwiseSampler(self.model(), values=tuple(SIGNS))
        return sample_chains(
            None, sampler, n_draws, starts=starts, n_warmup=n_warmup, random_state=rng
        )

    def __repr__(self) -> str:
        return f"BoltzmannMachine({len(self.biases):,} variables, {len(self.edges):,} weights)"
