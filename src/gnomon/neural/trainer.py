"""One step of training: forward and backward by shards, penalty, update rule.

Texts: 000c 17.2.1 · 001 6.5, 8.3 · 003 4.3.2 · 004 9.2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.engine.threads import Crew
from gnomon.neural.batches import Batch, Slots, generator, shard_bounds
from gnomon.neural.layers import Run
from gnomon.neural.losses import Loss
from gnomon.neural.network import Network, Parameters
from gnomon.neural.penalties import Penalty, max_norm
from gnomon.optimize.rules import (
    AdagradRule,
    AdamRule,
    MomentumRule,
    RMSpropRule,
    Rule,
)

PREDICTED_TOGETHER = 2**22  # numbers of the largest layer that a block of predictions may hold
RULES: dict[str, Any] = {
    "sgd": Rule,
    "momentum": MomentumRule,
    "nesterov": lambda **options: MomentumRule(nesterov=True, **options),
    "adagrad": AdagradRule,
    "rmsprop": RMSpropRule,
    "adam": AdamRule,
    "adamw": lambda **options: AdamRule(**({"weight_decay": 0.01} | options)),
}


def rule_of(solver: Any) -> Rule:
    """An update rule, or that of a name.

    Parameters
    ----------
    solver : Rule or str
        "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam" or "adamw".

    Returns
    -------
    rule : Rule
    """
    if isinstance(solver, Rule):
        return solver
    if solver not in RULES:
        raise DataError(f"there is no solver {solver!r}; choose one of {', '.join(RULES)}")
    return RULES[solver]()


class Trainer:
    """Trains the parameters of a network on batches.

    Parameters
    ----------
    network : Network
    parameters : Parameters
        Changed in place.
    loss : Loss
    rule : Rule
    penalty : Penalty, default=None
    penalty_per_row : bool, default=False
        The penalty is divided by the weight of the batch, as scikit-learn's is.
    largest_norm : float, default=None
        Of the weights into a unit (the max-norm constraint).
    frozen : tuple of str, default=()
        Nodes whose parameters stay.
    random_state : int, default=0
        Seed of the draws.
    """

    def __init__(
        self,
        network: Network,
        parameters: Parameters,
        loss: Loss,
        rule: Rule,
        *,
        penalty: Penalty | None = None,
        penalty_per_row: bool = False,
        largest_norm: float | None = None,
        frozen: tuple[str, ...] = (),
        random_state: int = 0,
    ):
        self.network, self.parameters = network, parameters
        self.loss, self.rule, self.random_state = loss, rule, random_state
        self.penalty, self.penalty_per_row = penalty, penalty_per_row
        self.largest_norm = largest_norm
        self._weights = network.slices("weight")
        self._statistics = [each for each in network.places if each.parameter.role == "statistic"]
        self._frozen = _places_of(network, frozen)
        self._slopes: list[Parameters] = []

    def gradient(
        self, x: Any, y: Any, weights: np.ndarray | None, crew: Crew, place: tuple[int, ...] = (0,)
    ) -> tuple[float, np.ndarray]:
        """Loss and gradient of the mean over a batch, without the penalty.

        Parameters
        ----------
        x : ndarray or sparse matrix of shape (n_samples, ...)
        y : ndarray of shape (n_samples, ...)
        weights : ndarray of shape (n_samples,) or None
        crew : Crew
        place : tuple of int
            Numbers of epoch and batch, that seed the draws.

        Returns
        -------
        loss : float
        gradient : ndarray of shape (n_stored,)
            Overwritten by the next call.
        """
        n = x.shape[0]
        total = float(n) if weights is None else float(weights.sum())
        bounds = shard_bounds(n, self.network.multiplications, self.network.across_rows)
        while len(self._slopes) < len(bounds):
            self._slopes.append(self.parameters.zeros())

        def shard(number: int) -> float:
            start, stop = bounds[number]
            mine = None if weights is None else weights[start:stop]
            part = x[start:stop].toarray() if sp.issparse(x) else x[start:stop]
            run = Run(True, partial(generator, self.random_state, *place, number), mine)
            output, tape = self.network.forward(self.parameters, part, run)
            losses, slope = self.loss(output, y[start:stop])
            factor = (
                1 / total if mine is None else (mine / total).reshape(-1, *[1] * (slope.ndim - 1))
            )
            slope = (slope * factor).astype(slope.dtype, copy=False)
            self.network.backward(
                self.parameters, tape, slope, self._slopes[number], to_input=False
            )
            return float(losses.sum() if mine is None else np.dot(mine, losses))

        parts = crew.each(shard, range(len(bounds)))
        gradient = self._slopes[0].flat
        for each in self._slopes[1 : len(bounds)]:
            gradient += each.flat
        return sum(parts) / total, gradient

    def step(
        self,
        x: Any,
        y: Any,
        weights: np.ndarray | None,
        learning_rate: float,
        crew: Crew,
        place: tuple[int, ...] = (0,),
    ) -> float:
        """One step on a batch; its loss with the penalty, before the step."""
        value, gradient = self.gradient(x, y, weights, crew, place)
        total = float(x.shape[0]) if weights is None else float(weights.sum())
        value += self.add_penalty(gradient, total)
        flat = self.parameters.flat
        for each in self._statistics:
            mine = slice(each.start, each.stop)
            flat[mine] += each.parameter.rate * (gradient[mine] - flat[mine])
        n = self.network.n_parameters
        for mine in self._frozen:
            gradient[mine] = 0
        before = [flat[mine].copy() for mine in self._frozen]
        flat[:n] += self.rule.step(flat[:n], gradient[:n], learning_rate)
        for mine, stays in zip(self._frozen, before):
            flat[mine] = stays
        self.constrain(learning_rate, total)
        return value

    def add_penalty(self, gradient: np.ndarray, total: float) -> float:
        """Add the gradient of the penalty; its value."""
        if self.penalty is None:
            return 0.0
        factor = 1 / total if self.penalty_per_row else 1.0
        value = 0.0
        for mine in self._weights:
            weights = self.parameters.flat[mine]
            value += factor * self.penalty.value(weights)
            self.penalty.add_gradient(weights, gradient[mine], factor)
        return value

    def constrain(self, learning_rate: float, total: float) -> None:
        """What follows a step: shrinkage to zero, the largest norm."""
        if self.penalty is not None:
            rate = learning_rate / total if self.penalty_per_row else learning_rate
            for mine in self._weights:
                self.penalty.shrink(self.parameters.flat[mine], rate)
        if self.largest_norm is not None:
            max_norm(self.parameters, self.largest_norm)

    def epoch(
        self,
        rows: Any,
        y: Any,
        slots: Slots,
        batch_size: int,
        learning_rate: float,
        number: int,
        crew: Crew,
    ) -> float:
        """Steps over all batches of an epoch; the mean loss of its rows.

        Parameters
        ----------
        rows : ndarray or sparse matrix
        y : ndarray
        slots : Slots
            Of these rows.
        batch_size : int
        learning_rate : float
        number : int
            Number of the epoch.
        crew : Crew

        Returns
        -------
        loss : float
        """
        total = summed = 0.0
        batches = slots.epoch(batch_size, generator(self.random_state, number))
        for place, batch in enumerate(batches, 1):
            value = self.step(
                rows[batch.rows],
                y[batch.rows],
                _typed(batch, self.parameters),
                learning_rate,
                crew,
                (number, place),
            )
            summed += value * batch.total
            total += batch.total
            if not np.isfinite(summed):
                break
        return summed / total

    def losses(self, rows: Any, y: Any) -> np.ndarray:
        """The loss of each row, without penalty, as the network predicts."""
        return np.concatenate(
            [
                self.loss(output, y[start : start + len(output)])[0]
                for start, output in predict_blocks(self.network, self.parameters, rows)
            ]
        )


def _typed(batch: Batch, parameters: Parameters) -> np.ndarray | None:
    return None if batch.weights is None else batch.weights.astype(parameters.flat.dtype)


def _places_of(network: Network, names: tuple[str, ...]) -> list[slice]:
    known = {node.name for node in network.nodes}
    for name in names:
        if name not in known:
            raise DataError(f"frozen names the layer {name!r}; the layers are {sorted(known)}")
    return [
        slice(each.start, each.stop)
        for each in network.places
        if each.path[0] in names and each.parameter.role != "statistic"
    ]


def rows_together(network: Network) -> int:
    """Rows whose largest layer fits in a block of predictions."""
    widest = max(int(np.prod(node.output_shape)) for node in network.nodes)
    return max(1, PREDICTED_TOGETHER // max(widest, int(np.prod(network.input_shape))))


def predict_blocks(network: Network, parameters: Parameters, rows: Any) -> Any:
    """Outputs of blocks of rows, each with its first row."""
    size = rows_together(network)
    for start in range(0, rows.shape[0], size):
        part = rows[start : start + size]
        part = part.toarray() if sp.issparse(part) else part
        yield start, network.predict(parameters, part)


def predict_all(network: Network, parameters: Parameters, rows: Any) -> np.ndarray:
    """The outputs of all rows, computed in blocks.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    rows : ndarray or sparse matrix of shape (n_samples, ...)

    Returns
    -------
    outputs : ndarray of shape (n_samples, *output_shape)
    """
    found = [output for _, output in predict_blocks(network, parameters, rows)]
    return np.concatenate(found) if found else np.empty((0, *network.output_shape))
