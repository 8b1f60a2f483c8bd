"""Recurrent networks for sequences: a label or a number for each sequence or for each of its steps.

The state after each step goes into the next (`gnomon.neural.cells`); a linear layer reads the last
state, or that of each step. The mean loss (cross-entropy, or half the squared error) is minimised
by Adam with gradients from back-propagation through time, whose length is held below a limit.

Texts: 001 9.1 · 004 9 (both name feedback connections only).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, SEED, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Flag, ListOf, Object, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.neural.cells import CELLS, Parameters, layer_shapes, run_layer, unroll_back
from gnomon.optimize.rules import AdamRule
from gnomon.sequence.emissions import number_rows
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences

LONGEST_GRADIENT = 5.0  # longer ones are shortened to this: one steep step must not undo many
# Texts of parameters that classes here share, for their docstrings.
RECURRENT_PARAMETERS = """\
n_units : int
    Units of each layer.
cell : {"simple", "lstm", "gru"}
    Simple units forget within tens of steps; gated ones keep what they need.
n_layers : int
alpha : float
    Half of it times the sum of squared parameters is added to the loss.
learning_rate : float
batch_size : int
    Sequences of a step.
max_iter : int
    Most passes over the sequences.
tol : float
    Least gain of a pass that counts as one.
n_iter_no_change : int
    Ends after so many passes without a gain.
random_state : int, RandomState, Generator or None
    Seed of the first parameters and of the order of sequences.
keep_history : {"objective", "full"}
    "full" keeps the parameters after every pass in ``history_.states``.
"""


class Padded(NamedTuple):
    """Sequences side by side, step by step.

    Attributes
    ----------
    X : ndarray of shape (n_steps, n, d)
        Zeros after the ends of shorter sequences.
    alive : ndarray of bool of shape (n_steps, n)
    """

    X: np.ndarray
    alive: np.ndarray

    @classmethod
    def of(cls, sequences: Sequence[np.ndarray]) -> Padded:
        """Pad sequences to the longest of them."""
        lengths = np.array([len(each) for each in sequences])
        X = np.zeros((lengths.max(), len(sequences), sequences[0].shape[1]))
        for place, each in enumerate(sequences):
            X[: len(each), place] = each
        return cls(X, np.arange(len(X))[:, None] < lengths)


class RecurrentNetwork(NamedTuple):
    """A stack of recurrent layers and a linear read-out; its parameters are one flat array.

    Attributes
    ----------
    cell : {"simple", "lstm", "gru"}
    n_inputs, n_units, n_layers, n_outputs : int
    each_step : bool
        Whether every step has an output, or the last one only.
    """

    cell: str
    n_inputs: int
    n_units: int
    n_layers: int
    n_outputs: int
    each_step: bool

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of all parameters, in the order of the flat array."""
        found: dict[str, tuple[int, ...]] = {}
        for layer in range(self.n_layers):
            n_inputs = self.n_units if layer else self.n_inputs
            found |= layer_shapes(self.cell, n_inputs, self.n_units, layer)
        return found | {
            "weight_out": (self.n_outputs, self.n_units),
            "bias_out": (self.n_outputs,),
        }

    def named(self, flat: np.ndarray) -> Parameters:
        """Views of the flat array, by name."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes().values()])
        parts = np.split(flat, ends[:-1])
        return {name: part.reshape(s) for (name, s), part in zip(self.shapes().items(), parts)}

    def flat(self, named: Parameters) -> np.ndarray:
        """The parameters in one array."""
        return np.concatenate([named[name].ravel() for name in self.shapes()])

    def first(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform in +-1 / sqrt(n_units), as in torch; an LSTM begins by remembering."""
        limit = 1.0 / np.sqrt(self.n_units)
        n = sum(int(np.prod(shape)) for shape in self.shapes().values())
        flat = rng.uniform(-limit, limit, n)
        if self.cell == "lstm":
            for layer in range(self.n_layers):
                self.named(flat)[f"bias_ih_l{layer}"][self.n_units : 2 * self.n_units] += 1.0
        return flat

    def outputs(self, flat: np.ndarray, batch: Padded) -> np.ndarray:
        """Of shape (n, n_outputs), or (n_steps, n, n_outputs) where each step has one."""
        parameters, rows = self.named(flat), batch.X
        for layer in range(self.n_layers):
            rows = run_layer(self.cell, parameters, layer, rows, batch.alive).outputs
        states = rows if self.each_step else rows[-1]
        return states @ parameters["weight_out"].T + parameters["bias_out"]

    def loss_and_gradient(
        self, flat: np.ndarray, batch: Padded, targets: np.ndarray, of_classes: bool
    ) -> tuple[float, np.ndarray]:
        """The mean loss of a batch and its gradient with respect to the flat array.

        targets (n, n_outputs) or (n_steps, n, n_outputs): numbers, or shares of classes.
        """
        parameters, rows = self.named(flat), [batch.X]
        runs = []
        for layer in range(self.n_layers):
            runs.append(run_layer(self.cell, parameters, layer, rows[-1], batch.alive))
            rows.append(runs[-1].outputs)
        states = rows[-1] if self.each_step else rows[-1][-1]
        outputs = states @ parameters["weight_out"].T + parameters["bias_out"]
        counted = batch.alive[:, :, None] if self.each_step else np.ones((len(outputs), 1))
        loss, slopes = mean_loss(outputs, targets, counted, of_classes)
        wide = slopes.reshape(-1, self.n_outputs)
        gradient = {
            "weight_out": wide.T @ states.reshape(-1, self.n_units),
            "bias_out": wide.sum(axis=0),
        }
        back = np.zeros_like(rows[-1])
        back[... if self.each_step else -1] = slopes @ parameters["weight_out"]
        for layer in range(self.n_layers - 1, -1, -1):
            back, found = unroll_back(
                self.cell, parameters, layer, rows[layer], batch.alive, runs[layer], back
            )
            gradient |= found
        return loss, self.flat(gradient)


def mean_loss(
    outputs: np.ndarray, targets: np.ndarray, counted: np.ndarray, of_classes: bool
) -> tuple[float, np.ndarray]:
    """Mean cross-entropy, or mean of half the squared error, and its slopes."""
    total = counted.sum()
    if of_classes:
        logs = log_softmax(outputs, axis=-1)
        return float(-(counted * targets * logs).sum() / total), (
            counted * (np.exp(logs) - targets) / total
        )
    errors = counted * (outputs - targets)
    return float(0.5 * (errors**2).sum() / total), errors / total


CONSTRAINTS: dict[str, Any] = {
    "n_units": [whole(1)],
    "cell": [StrOptions(set(CELLS))],
    "n_layers": [whole(1)],
    "alpha": [at_least(0)],
    "learning_rate": [above(0)],
    "batch_size": [whole(1)],
    "max_iter": [whole(1)],
    "tol": [at_least(0)],
    "n_iter_no_change": [whole(1)],
    "random_state": SEED,
    "keep_history": HISTORY,
}


class RecurrentEstimator(SequenceEstimator):
    """What the classifier and the regressor of sequences share."""

    _of_classes = False
    _parameter_constraints = CONSTRAINTS
    _stored: ClassVar[Any] = {
        "parameters_": DictOf(Array("f8")),
        "mean_": Array("f8", ("n_features_in_",)),
        "scale_": Array("f8", ("n_features_in_",)),
        "n_outputs_": Whole(1),
        "each_step_": Flag(),
        "history_": Object(("History",)),
        "n_iter_": Whole(),
    }

    def __init__(
        self,
        n_units: int = 32,
        *,
        cell: str = "gru",
        n_layers: int = 1,
        alpha: float = 1e-4,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        keep_history: str = "objective",
    ):
        self.n_units = n_units
        self.cell = cell
        self.n_layers = n_layers
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.keep_history = keep_history

    def _most_steps(self) -> int:
        return self.max_iter

    def _network(self) -> RecurrentNetwork:
        return RecurrentNetwork(
            self.cell,
            self.n_features_in_,
            self.n_units,
            self.n_layers,
            self.n_outputs_,
            self.each_step_,
        )

    def _take_in(self, sequences: Sequence) -> list[np.ndarray]:
        """Rows of numbers, standardized once fitted."""
        found = [known_rows(each, place) for place, each in enumerate(sequences)]
        if not found:
            raise DataError("there are no sequences to learn from")
        if hasattr(self, "mean_"):
            self._require_columns(found)
            found = [(each - self.mean_) / self.scale_ for each in found]
        return found

    def _require_columns(self, sequences: list[np.ndarray]) -> None:
        for place, each in enumerate(sequences):
            if each.shape[1] != self.n_features_in_:
                raise DataError(
                    f"sequence {place} has {each.shape[1]} columns; "
                    f"the network was fitted to {self.n_features_in_}"
                )

    def _standardize(self, sequences: Sequence) -> list[np.ndarray]:
        self.__dict__.pop("mean_", None)
        rows = self._take_in(sequences)
        self.n_features_in_ = rows[0].shape[1]
        self._require_columns(rows)
        together = np.concatenate(rows)
        self.mean_ = together.mean(axis=0)
        spread = together.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        return [(each - self.mean_) / self.scale_ for each in rows]

    def _learn(self, sequences: list[np.ndarray], targets: list[np.ndarray]) -> None:
        """Minimise by Adam; the parameters of the pass with the lowest loss are kept."""
        network, rng = self._network(), self._rng()
        flat, rule = network.first(rng), AdamRule()
        lowest, best, since = np.inf, flat, 0
        course = self._course("pass", self.max_iter)
        with one_blas_thread():
            for _ in course:
                losses = 0.0
                for places in shuffled(len(sequences), self.batch_size, rng):
                    batch = Padded.of([sequences[i] for i in places])
                    wanted = targets_of([targets[i] for i in places], self.each_step_)
                    loss, slope = network.loss_and_gradient(flat, batch, wanted, self._of_classes)
                    losses += loss * len(places) / len(sequences)
                    flat = flat + rule.step(flat, self._bounded(flat, slope), self.learning_rate)
                since = 0 if losses < lowest - self.tol else since + 1
                if losses < lowest:
                    lowest, best = losses, flat
                if course.end_step(
                    losses,
                    since >= self.n_iter_no_change,
                    state=partial(dict, parameters=flat.copy()),
                    attributes=partial(self._so_far, network, flat, len(course.history) + 1),
                ):
                    break
        self.parameters_ = {name: part.copy() for name, part in network.named(best).items()}
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _so_far(self, network: RecurrentNetwork, flat: np.ndarray, n_iter: int) -> dict[str, Any]:
        named = {name: part.copy() for name, part in network.named(flat).items()}
        return self._public() | {"parameters_": named, "n_iter_": n_iter}

    def _bounded(self, flat: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The gradient with the penalty, no longer than the limit."""
        slope = slope + self.alpha * flat
        length = float(np.sqrt(slope @ slope))
        if not np.isfinite(length):
            raise DataError(
                "the loss is no longer finite: decrease learning_rate "
                f"(now {self.learning_rate}), or shorten the sequences"
            )
        return slope * min(1.0, LONGEST_GRADIENT / max(length, 1e-300))

    def _outputs(self, sequences: Sequence) -> list[np.ndarray]:
        """Of each sequence: (n_outputs,), or (length, n_outputs) where each step has an output."""
        rows, network = self._take_in(sequences), self._network()
        flat, found = network.flat(self.parameters_), []
        with one_blas_thread():
            for each in rows:
                out = network.outputs(flat, Padded.of([each]))
                found.append(out[:, 0] if self.each_step_ else out[0])
        return found

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "parameters_"):
            if self.n_layers > len(self.parameters_):
                raise ValueError(f"n_layers={self.n_layers} needs more parameters_ than there are")
            shapes = self._network().shapes()
            found = {name: part.shape for name, part in self.parameters_.items()}
            if found != shapes:
                raise ValueError(f"parameters_ must have the shapes {shapes}")


def known_rows(sequence: Any, place: int) -> np.ndarray:
    """A sequence as rows of numbers, of which none is missing."""
    rows = number_rows(sequence)
    if not len(rows):
        raise DataError(f"sequence {place} is empty; leave it out")
    if np.isnan(rows).any():
        raise DataError(
            f"step {int(np.argwhere(np.isnan(rows))[0][0])} of sequence {place} has a missing "
            "value; fill it first"
        )
    return rows


def shuffled(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Places of n sequences in random order, `size` at a time."""
    order = rng.permutation(n)
    return (order[start : start + size] for start in range(0, n, size))


def targets_of(parts: list[np.ndarray], each_step: bool) -> np.ndarray:
    """Targets of a batch: (n, k), or padded (n_steps, n, k)."""
    return Padded.of(parts).X if each_step else np.stack(parts)


def has_value_per_step(sequences: Sequence, y: Sequence) -> bool:
    """Whether y holds a value for each step; lengths that do not fit are an error."""
    if len(y) != len(sequences):
        raise DataError(f"{len(sequences)} sequences have {len(y)} targets")
    scalar = [isinstance(each, str) or not hasattr(each, "__len__") for each in y]
    if all(scalar):
        return False
    for place, (sequence, values) in enumerate(zip(sequences, y)):
        if scalar[place] or len(values) != len(sequence):
            raise DataError(
                f"sequence {place} has {len(sequence)} steps and "
                f"{1 if scalar[place] else len(values)} target values; "
                "give one value for each sequence, or one for each step"
            )
    return True


@method(
    task="classify",
    texts="001 9.1 · 004 9",
    use="Labels of sequences, or of each of their steps, that depend on what came long before.",
    avoid="Few or short sequences: HMMClassifier, ChainCRF.",
    peers=("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU"),
    takes="sequences",
    synonyms=("rnn", "lstm", "gru", "recurrent neural network", "back-propagation through time"),
)
@shared_parameters(RECURRENT_PARAMETERS)
class RecurrentClassifier(RecurrentEstimator):
    """Classes of sequences, or of their steps, by a recurrent network.

    Minimises the mean of ``-log p(class)`` by Adam and back-propagation through time. Use it for
    many sequences whose label depends on the order of what happens in them. Not for few or short
    ones: `HMMClassifier` and `ChainCRF` have less to learn.

    Parameters
    ----------

    Attributes
    ----------
    classes_ : list
    parameters_ : dict of str to ndarray
        With torch's names and shapes; ``weight_out`` and ``bias_out`` are of the read-out.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        By which rows are standardized.
    each_step_ : bool
        Whether it was given a label for each step.
    n_outputs_ : int
    n_features_in_ : int
    n_iter_ : int
        Passes made.
    history_ : History
        Mean loss of each pass.

    Notes
    -----
    Texts: 001 9.1, 004 9. Gradients longer than 5 are shortened to that length.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import RecurrentClassifier
    >>> rng = np.random.default_rng(0)
    >>> sequences = [rng.normal(size=8) for _ in range(60)]
    >>> first = ["up" if each[0] > 0 else "down" for each in sequences]
    >>> model = RecurrentClassifier(8, max_iter=60, random_state=0).fit(sequences, first)
    >>> model.score(sequences, first) > 0.9
    True
    """

    _of_classes = True
    _stored = {"classes_": ListOf(Anything(), "n_outputs_")}

    @fits("y")
    def fit(self, sequences: Sequence, y: Sequence) -> RecurrentClassifier:
        """Learn from labelled sequences.

        Parameters
        ----------
        sequences : list of sequences
            Numbers, or rows of numbers, step by step.
        y : sequence
            The class of each sequence, or a sequence with the class of each of its steps.

        Returns
        -------
        self : RecurrentClassifier
        """
        rows = self._standardize(sequences)
        self.each_step_ = has_value_per_step(rows, y)
        labels = [list(each) for each in y] if self.each_step_ else [[each] for each in y]
        seen: set[Any] = {label for each in labels for label in each}
        self.classes_ = sorted(seen)
        self.n_outputs_ = len(self.classes_)
        codes = {label: k for k, label in enumerate(self.classes_)}
        one_hot = np.eye(self.n_outputs_)
        wanted = [one_hot[[codes[label] for label in each]] for each in labels]
        self._learn(rows, wanted if self.each_step_ else [each[0] for each in wanted])
        return self

    @of_sequences()
    def predict_proba(self, sequences: Sequence) -> Any:
        """Probabilities of the classes: (n, n_classes), or a list of (length, n_classes)."""
        found = [softmax(each, axis=-1) for each in self._outputs(sequences)]
        return found if self.each_step_ else np.stack(found)

    @of_sequences()
    def predict(self, sequences: Sequence) -> list:
        """The most probable class of each sequence, or a list of those of its steps."""
        best = [each.argmax(axis=-1) for each in self._outputs(sequences)]
        if self.each_step_:
            return [[self.classes_[k] for k in each] for each in best]
        return [self.classes_[int(k)] for k in best]

    @of_sequences("y")
    def score(self, sequences: Sequence, y: Sequence[Any]) -> float:
        """Share of right classes, of sequences or of steps."""
        found = self.predict(sequences)
        if not self.each_step_:
            return float(np.mean([a == b for a, b in zip(found, y, strict=True)]))
        pairs = [zip(a, b, strict=True) for a, b in zip(found, y, strict=True)]
        return float(np.mean([a == b for pair in pairs for a, b in pair]))


@method(
    task="regress",
    texts="001 9.1 · 004 9",
    use="Numbers that depend on the order of a sequence: for each of its steps, or at its end.",
    avoid="One short series: ETSModel, Autoregression; a quick first try: EchoStateRegressor.",
    peers=("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU"),
    takes="sequences",
    synonyms=("rnn", "lstm", "gru", "recurrent neural network", "back-propagation through time"),
)
@shared_parameters(RECURRENT_PARAMETERS)
class RecurrentRegressor(RecurrentEstimator):
    """Numbers for sequences, or for their steps, by a recurrent network.

    Minimises the mean of half the squared error by Adam and back-propagation through time. Use it
    for many sequences. Not for one short series, where `ETSModel` has less to learn.

    Parameters
    ----------

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        With torch's names and shapes; ``weight_out`` and ``bias_out`` are of the read-out.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        By which rows are standardized.
    target_mean_, target_scale_ : ndarray of shape (n_outputs_,)
        By which targets are standardized.
    each_step_ : bool
        Whether it was given a number for each step.
    n_outputs_ : int
    n_features_in_ : int
    n_iter_ : int
        Passes made.
    history_ : History
        Mean loss of each pass, of standardized targets.

    Notes
    -----
    Without targets it learns the next row from the rows before it. Texts: 001 9.1, 004 9.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import RecurrentRegressor
    >>> wave = np.sin(0.3 * np.arange(200))
    >>> model = RecurrentRegressor(8, max_iter=60, random_state=0).fit(list(wave.reshape(10, 20)))
    >>> bool(abs(model.forecast_rows(wave[:50], 3)[:, 0] - wave[50:53]).max() < 0.3)
    True
    """

    _stored = {
        "target_mean_": Array("f8", ("n_outputs_",)),
        "target_scale_": Array("f8", ("n_outputs_",)),
    }

    @fits("y")
    def fit(self, sequences: Sequence, y: Sequence | None = None) -> RecurrentRegressor:
        """Learn from sequences with numbers, or the next row of each sequence.

        Parameters
        ----------
        sequences : list of sequences
            Numbers, or rows of numbers, step by step.
        y : sequence, default=None
            A number for each sequence, or a sequence with a number (or row of numbers) for each of
            its steps; the next row of the sequence itself by default.

        Returns
        -------
        self : RecurrentRegressor
        """
        rows = self._standardize(sequences)
        if y is None:
            if min(len(each) for each in rows) < 2:
                raise DataError("a sequence of one step has no next row; give y, or leave it out")
            wanted = [each[1:] for each in rows]
            rows = [each[:-1] for each in rows]
            self.each_step_ = True
            self.target_mean_, self.target_scale_ = self.mean_, self.scale_
        else:
            self.each_step_ = has_value_per_step(rows, y)
            parts = y if self.each_step_ else [[each] for each in y]
            numbers = [known_rows(each, place) for place, each in enumerate(parts)]
            together = np.concatenate(numbers)
            spread = together.std(axis=0)
            self.target_mean_ = together.mean(axis=0)
            self.target_scale_ = np.where(spread > 0, spread, 1.0)
            wanted = [(each - self.target_mean_) / self.target_scale_ for each in numbers]
        self.n_outputs_ = wanted[0].shape[1]
        self._learn(rows, wanted if self.each_step_ else [each[0] for each in wanted])
        return self

    @of_sequences()
    def predict(self, sequences: Sequence) -> Any:
        """Numbers of each sequence, or a list of those of its steps; 1-D where it is one number."""
        found = [e * self.target_scale_ + self.target_mean_ for e in self._outputs(sequences)]
        if self.n_outputs_ == 1:
            found = [each[..., 0] for each in found]
        return found if self.each_step_ else np.array(found)

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Rows after the end of a sequence, each from the rows before it and those forecast.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, n_features_in_)
        n_steps : int, default=1

        Returns
        -------
        rows : ndarray of shape (n_steps, n_features_in_)
        """
        if not self.each_step_ or self.n_outputs_ != self.n_features_in_:
            raise DataError("forecast_rows needs a network that was fitted without y")
        rows = number_rows(sequence)
        for _ in range(n_steps):
            following = self._outputs([rows])[0][-1] * self.target_scale_ + self.target_mean_
            rows = np.vstack([rows, following])
        return rows[len(rows) - n_steps :]

    @of_sequences("y")
    def score(self, sequences: Sequence, y: Sequence | None = None) -> float:
        """R2 over all numbers; of the next row where it was fitted without y."""
        if y is None:
            y = [number_rows(each)[1:] for each in sequences]
            sequences = [number_rows(each)[:-1] for each in sequences]
        found = np.concatenate([np.ravel(each) for each in self.predict(sequences)])
        truth = np.concatenate([np.ravel(each) for each in y])
        return float(1 - ((truth - found) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
