"""Training of several networks together: encoders with decoders, generators with critics.

The parameters of all networks are one flat array. A method gives a function of a part of a batch
that runs its networks forward and backward and writes their gradients; parts (shards) run on
threads and are added in order, as in `gnomon.neural.batches`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gnomon.contract import Data, Learner
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import HISTORY, JOBS, SEED, above, at_least, whole
from gnomon.engine.threads import Crew
from gnomon.neural.batches import Slots, generator, shard_bounds
from gnomon.neural.network import Network, Parameters
from gnomon.neural.trainer import rule_of

# part(slopes of each network, rows, factors of the rows, generator) -> share of the mean loss
Part = Callable[[list[Parameters], Any, np.ndarray, np.random.Generator], float]
LEARNING = {
    "solver": [str],
    "learning_rate_init": [above(0)],
    "batch_size": [whole(1)],
    "max_iter": [whole(1)],
    "tol": [at_least(0)],
    "n_iter_no_change": [whole(1)],
    "random_state": SEED,
    "n_jobs": JOBS,
    "keep_history": HISTORY,
}
# Texts of parameters that classes of several files share, for their docstrings.
JOINT_PARAMETERS = """\
n_components : int
    Numbers of a code.
hidden_layer_sizes : array-like of int
    Layers between columns and code; the decoder mirrors them.
activation : str
    Of the hidden layers: one of `gnomon.neural.ACTIVATIONS`.
output : {"identity", "sigmoid"}
    Identity for columns that are standardized, sigmoid for columns scaled to 0 to 1 (pixels).
noise : {"gaussian", "masking", "salt-and-pepper", "flip", "block"} or None
    Corruption of the rows that the encoder sees; see `corrupt_rows`.
noise_level : float
    Its amount.
corrupted_weight : float
    Weight of the squared error of cells that were changed.
alpha : float
    Half of it times the squared weights is added to the loss.
solver : str
    "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam" or "adamw".
learning_rate_init : float
batch_size : int
max_iter : int
    Most passes over the rows.
tol : float
    Least gain of a pass that counts as one.
n_iter_no_change : int
    Ends after so many passes without a gain.
random_state : int, RandomState, Generator or None
    Seed of the first parameters, of the order of rows and of noise.
n_jobs : int or None
    Threads; they change no bit.
keep_history : {"objective", "full"}
    "full" keeps the parameters after every pass in ``history_.states``.
unlabeled : array-like of shape (n, n_columns) or None
    Rows without labels, that pre-training sees beside those of ``fit``.
pretrain_iter : int
    Passes of the pre-training of each layer.
pretrain_learning_rate : float
"""


class Joint:
    """Networks whose parameters are one flat array.

    Parameters
    ----------
    networks : sequence of Network
    flat : ndarray of shape (n_stored,), default=None
        All their parameters; zeros by default.
    dtype : data-type, default=float64
    """

    def __init__(self, networks: Sequence[Network], flat: Any = None, dtype: Any = np.float64):
        self.networks = list(networks)
        ends = np.cumsum([0, *(network.n_stored for network in self.networks)]).tolist()
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        self.flat = np.zeros(ends[-1], dtype=dtype) if flat is None else np.asarray(flat)
        if self.flat.shape != (ends[-1],):
            raise DataError(
                f"the networks store {ends[-1]:,} numbers; the array has shape {self.flat.shape}"
            )
        self.parameters = self.views(self.flat)
        self._slopes: list[np.ndarray] = []

    def views(self, flat: np.ndarray) -> list[Parameters]:
        """The parameters of each network as views of a flat array."""
        return [net.from_flat(flat[mine]) for net, mine in zip(self.networks, self.slices)]

    def draw(self, rng: np.random.Generator, init: str = "glorot_uniform") -> None:
        """Draw the first parameters."""
        for network, mine in zip(self.networks, self.slices):
            self.flat[mine] = network.initial(rng, init=init, dtype=self.flat.dtype).flat

    @property
    def multiplications(self) -> int:
        """Of a forward pass of all networks for one row."""
        return sum(network.multiplications for network in self.networks)

    def gradient(
        self,
        part: Part,
        rows: Any,
        weights: np.ndarray | None,
        crew: Crew,
        seed: Sequence[int],
        across_rows: bool = False,
    ) -> tuple[float, np.ndarray]:
        """Mean loss of a batch and its gradient, which the next call overwrites."""
        n = len(rows)
        factors = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        factors = factors.astype(self.flat.dtype)
        bounds = shard_bounds(n, self.multiplications, across_rows)
        while len(self._slopes) < len(bounds):
            self._slopes.append(np.zeros_like(self.flat))

        def shard(number: int) -> float:
            start, stop = bounds[number]
            rng = generator(*seed, number)
            slopes = self.views(self._slopes[number])
            return part(slopes, rows[start:stop], factors[start:stop], rng)

        losses = crew.each(shard, range(len(bounds)))
        gradient = self._slopes[0]
        for each in self._slopes[1 : len(bounds)]:
            gradient += each
        return float(sum(losses)), gradient

    def add_weight_decay(self, gradient: np.ndarray, alpha: float) -> float:
        """Add the gradient of alpha / 2 times the squared weights; its value."""
        value = 0.0
        for network, mine in zip(self.networks, self.slices):
            for place in network.slices("weight"):
                weights = self.flat[mine][place]
                value += 0.5 * alpha * float(weights @ weights)
                gradient[mine][place] += alpha * weights
        return value


class JointLearner(Learner):
    """A learner whose fit is passes over batches with several networks trained together.

    A method has the parameters of `LEARNING`.
    """

    def _descend(
        self,
        joint: Joint,
        rows: np.ndarray,
        data: Data,
        part: Part,
        attributes: Callable[[np.ndarray], dict[str, Any]],
        *,
        alpha: float = 0.0,
        across_rows: bool = False,
    ) -> None:
        """Minimise the mean loss by the solver; sets the attributes of the last parameters."""
        seed = int(self._rng().integers(2**31))
        rule = rule_of(self.solver)

        def step(batch: Any, weights: Any, place: tuple[int, ...], crew: Crew) -> float:
            value, gradient = joint.gradient(
                part, batch, weights, crew, (seed, *place), across_rows
            )
            if alpha:
                value += joint.add_weight_decay(gradient, alpha)
            joint.flat += rule.step(joint.flat, gradient, self.learning_rate_init)
            return value

        self._pass_over(joint.flat, rows, data, step, attributes, seed)

    def _pass_over(
        self,
        flat: np.ndarray,
        rows: np.ndarray,
        data: Data,
        step: Callable[[Any, Any, tuple[int, ...], Crew], float],
        attributes: Callable[[np.ndarray], dict[str, Any]],
        seed: int,
        can_converge: bool = True,
    ) -> None:
        """Passes of steps over batches, told to callbacks; stops where the loss is not finite."""
        slots = Slots(rows, weights=data.weights)
        lowest, since = np.inf, 0
        course = self._course("pass", self.max_iter)
        with Crew(self.n_jobs) as crew, np.errstate(over="ignore", invalid="ignore"):
            for turn in course:
                before, loss, total = flat.copy(), 0.0, 0.0
                batches = slots.epoch(self.batch_size, generator(seed, turn + 1))
                for number, batch in enumerate(batches, 1):
                    value = step(rows[batch.rows], batch.weights, (turn + 1, number), crew)
                    loss, total = loss + value * batch.total, total + batch.total
                loss /= total
                broken = not (np.isfinite(loss) and np.isfinite(flat).all())
                if broken:
                    flat[:] = before
                    loss = course.history.objective[-1] if course.history.objective else 0.0
                    self._warn_of_overflow(turn + 1)
                since = 0 if loss < lowest - self.tol else since + 1
                lowest = min(lowest, loss)
                if course.end_step(
                    loss,
                    broken or (can_converge and since >= self.n_iter_no_change),
                    state=partial(dict, parameters=flat.copy()),
                    attributes=partial(self._so_far, attributes, flat.copy(), turn + 1),
                ):
                    break
        self._keep(attributes(flat))
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _so_far(self, attributes: Any, flat: np.ndarray, n_iter: int) -> dict[str, Any]:
        return self._public() | attributes(flat) | {"n_iter_": n_iter}

    def _warn_of_overflow(self, turn: int) -> None:
        warnings.warn(
            f"training stopped in pass {turn}: the loss is not finite, most likely because the "
            f"step is too large; decrease learning_rate_init (now {self.learning_rate_init}). "
            "The parameters are those of the pass before",
            GnomonWarning,
            stacklevel=2,
        )

    def _training_memory(self, n_rows: int, n_columns: int, joint: Joint) -> int:
        """Bytes of scaled rows, of parameters with gradients, and of the layers of a batch."""
        widths = sum(
            int(np.prod(node.output_shape)) for net in joint.networks for node in net.nodes
        )
        batch = min(self.batch_size, n_rows)
        return 8 * (
            2 * n_rows * (n_columns + 2) + 8 * len(joint.flat) + 2 * batch * (widths + n_columns)
        )
