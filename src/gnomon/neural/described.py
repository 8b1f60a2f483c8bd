"""Estimators of any described network: the layers are given, the fit and its record are here.

Minimises the mean loss of the rows plus alpha / 2 times the squared weights, by steps over batches.
Columns and numbers to predict are standardized first. With `early_stopping` a share of the rows is
put aside and the parameters of their least loss are kept; with `checkpoint` a fit that was killed
goes on with the same bits.

Texts: 000c 17.1-17.2, 18.1.1 · 001 6 · 003 4.3 · 004 9.2.
"""

from __future__ import annotations

import functools
import warnings
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gnomon.contract import Classifier, Data, Learner, Regressor, Takes
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import (
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    above,
    at_least,
    between,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Text, Whole
from gnomon.engine.threads import Crew
from gnomon.neural.activations import softmax
from gnomon.neural.autoencoder import Scaling
from gnomon.neural.batches import Slots
from gnomon.neural.diagnostics import course_findings, input_findings, unit_findings
from gnomon.neural.initialization import INITIALIZATIONS
from gnomon.neural.layers import Dense, Flatten, Layer
from gnomon.neural.losses import CrossEntropy, Loss, SquaredLoss
from gnomon.neural.network import Network
from gnomon.neural.penalties import L2
from gnomon.neural.trainer import RULES, Trainer, predict_all, rule_of
from gnomon.neural.training import Loop, Training
from gnomon.optimize.schedules import constant

SMALL = (Dense(64, "relu"),)
LOOKED_AT = 1000  # rows on which units are examined
LARGEST = np.finfo(np.float64).max

# What these parameters mean, for the docstrings of the classes that have them.
NETWORK_PARAMETERS = """\
solver : {"adam", "adamw", "sgd", "momentum", "nesterov", "adagrad", "rmsprop"}
    How steps follow from gradients.
learning_rate_init : float
    The step size.
batch_size : int
    Rows of a batch.
max_iter : int
    Most epochs.
alpha : float
    Weight of the penalty on the squared weights.
tol : float
    An epoch improves the loss where it is better by this much.
n_iter_no_change : int
    Epochs without improvement before the end.
early_stopping : float
    Share of rows put aside; with it, the weights of the epoch with the smallest loss on these
    rows are kept.
init : str
    First weights, one of `gnomon.neural.INITIALIZATIONS`.
init_scale : float or None
    Factor of the first weights; None for that of the rule.
checkpoint : str, Path or None
    A file that is written after each epoch; where it is there, the fit goes on from it.
class_weight : dict, "balanced" or None
    Weights of the classes.
dtype : {"float64", "float32"}
    What training computes in; float32 takes about half the time.
random_state : int, RandomState, Generator or None
    Seed of the first weights, the batches and dropout.
n_jobs : int or None
    Threads; the result does not depend on it.
keep_history : {"objective", "full"}
    "full" keeps the parameters after every epoch in ``history_.states``.
"""


class DescribedNetwork(Learner):
    """What estimators of a described network share."""

    natively = Takes()
    network_: str
    parameters_: np.ndarray
    loss_curve_: list[float]
    training_errors_: list[float]
    validation_losses_: list[float]
    validation_errors_: list[float]
    default_layers: ClassVar[tuple[Layer, ...]] = SMALL
    _largest = 1e50
    _stored: ClassVar[Any] = {
        "network_": Text(),
        "parameters_": Array("f", (None,)),
        "loss_curve_": ListOf(Number(finite=False)),
        "training_errors_": ListOf(Number()),
        "validation_losses_": ListOf(Number(finite=False)),
        "validation_errors_": ListOf(Number()),
        "findings_": ListOf(Text()),
        "n_iter_": Whole(1),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "layers": [list, tuple, str, None],
        "solver": [StrOptions(set(RULES))],
        "learning_rate_init": [above(0)],
        "batch_size": [whole(1)],
        "max_iter": [whole(1)],
        "alpha": [at_least(0)],
        "tol": [at_least(0)],
        "n_iter_no_change": [whole(1)],
        "early_stopping": [between(0, 1, closed="left")],
        "init": [StrOptions(set(INITIALIZATIONS))],
        "init_scale": [above(0), None],
        "checkpoint": [str, Path, None],
        "dtype": [StrOptions({"float64", "float32"})],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if n_columns == 0:
            return 0
        network = self._described(self._shape_of(n_columns), 2)
        numbers = sum(prod(node.output_shape) for node in network.nodes)
        batch = min(self.batch_size, n_rows)
        cells = batch * (10 * numbers + 4 * n_columns)
        return 8 * (cells + 6 * network.n_stored + 12 * n_rows + n_rows * n_columns)

    def _memory_remedy(self) -> str:
        return "Use smaller batches, smaller layers, or fewer rows."

    def _shape_of(self, n_columns: int) -> tuple[int, ...]:
        """The shape in which the network takes a row of columns."""
        return (n_columns,)

    def _described(self, shape: tuple[int, ...], n_outputs: int) -> Network:
        """The given layers, and a last one of the outputs."""
        layers: Any = self.default_layers if self.layers is None else self.layers
        if isinstance(layers, str):
            inner = Network.from_text(f"input {' '.join(map(str, shape))}\n{layers}")
        else:
            inner = Network(list(layers), shape)
        graph: dict[str, Any] = {n.name: (n.layer, list(n.inputs)) for n in inner.nodes}
        last: list[Layer] = [Dense(n_outputs)]
        if len(inner.output_shape) == 3:
            last.insert(0, Flatten())
        for number, layer in enumerate(last):
            graph[f"last{number + 1}"] = (layer, [list(graph)[-1]])
        return Network(graph, shape)

    def _fit_network(self, data: Data, rows: np.ndarray, target: np.ndarray, loss: Loss) -> None:
        """Train the network on rows in its shape; sets all attributes but those of scaling."""
        n_outputs = len(self.classes_) if isinstance(self, Classifier) else 1
        network = self._described(rows.shape[1:], n_outputs)
        seed = int(self._rng().integers(2**32))
        parameters = network.initial(
            np.random.default_rng(seed),
            init=self.init,
            scale=self.init_scale,
            dtype=np.dtype(self.dtype),
        )
        penalty = L2(self.alpha) if self.alpha else None
        rule = rule_of(self.solver)
        trainer = Trainer(network, parameters, loss, rule, penalty=penalty, random_state=seed)
        slots, aside = Slots(rows, data.y, data.weights), None
        if self.early_stopping:
            rng = np.random.default_rng([seed, 0, 1])
            labels = data.y if isinstance(self, Classifier) else None
            slots, aside = slots.split(self.early_stopping, rng, labels)
            if not len(aside.rows):
                raise DataError("early_stopping puts no row aside; give a greater share")
        self.network_ = network.as_text()
        self.findings_ = input_findings(rows)
        loop = Loop(
            trainer,
            rows,
            target,
            slots,
            Training(network, parameters, loss),
            constant(self.learning_rate_init),
            self.batch_size,
            n_iter_no_change=self.n_iter_no_change + 1,
            tol=self.tol,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
        )
        if aside is not None:
            loop.held_out = rows[aside.rows], target[aside.rows], aside.weights
            some = slots.batch(slots.chosen[: len(aside.rows)])  # type: ignore[index]
            loop.measured = rows[some.rows], target[some.rows], some.weights
        self._train(loop)
        with np.errstate(all="ignore"):
            course = loop.found
            self.findings_ += course_findings(
                course.losses, course.validation_losses, course.validation_errors
            )
            self.findings_ += unit_findings(network, parameters, rows[:LOOKED_AT])
        for each in self.findings_:
            warnings.warn(each, GnomonWarning, stacklevel=4)

    def _train(self, loop: Loop) -> None:
        found, flat = loop.found, loop.trainer.parameters.flat
        course = self._course("epoch", self.max_iter)
        loop.resume()
        with Crew(self.n_jobs) as crew, np.errstate(all="ignore"):
            for step in course:
                if step >= loop.epoch:
                    loop.make_epoch(crew)
                    loop.keep()
                failed = step >= found.n_iter
                value = found.losses[step] if not failed else min(loop.best, LARGEST)
                if course.end_step(
                    value,
                    failed or (loop.ended and step + 1 >= loop.epoch),
                    state=lambda: {"parameters": flat.copy()},
                    attributes=lambda: self._public() | self._so_far(found, flat.copy()),
                ):
                    break
        loop.end()
        self._keep(self._so_far(found, flat))
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        if found.stopped == "loss is not finite":
            self.findings_.append(
                f"training stopped in epoch {self.n_iter_}: the loss is not finite. Scale the "
                "inputs or decrease learning_rate_init"
            )

    def _so_far(self, found: Training, flat: np.ndarray) -> dict[str, Any]:
        return {
            "parameters_": flat,
            "loss_curve_": list(found.losses),
            "training_errors_": list(found.errors),
            "validation_losses_": list(found.validation_losses),
            "validation_errors_": list(found.validation_errors),
        }

    def _outputs(self, rows: np.ndarray) -> np.ndarray:
        """Outputs of the last layer, for rows in the shape of the network."""
        network = network_of(self.network_)
        parameters = network.from_flat(self.parameters_)
        return predict_all(network, parameters, rows).astype(np.float64, copy=False)

    def _rows_at_once(self, rows: Any) -> int:
        return 64

    def _check_network(self, input_shape: tuple[int, ...], n_outputs: int) -> None:
        """Refuse a loaded description that does not fit its parameters, columns and outputs."""
        network = Network.from_text(self.network_)
        network.from_flat(self.parameters_)
        if network.input_shape != tuple(input_shape) or network.output_shape != (n_outputs,):
            raise DataError(
                f"network_ takes rows of shape {network.input_shape} and gives shape "
                f"{network.output_shape}, not {tuple(input_shape)} and {(n_outputs,)}"
            )


@functools.lru_cache(maxsize=16)
def network_of(text: str) -> Network:
    """The network of a description; blocks of rows share it."""
    return Network.from_text(text)


class TableNetwork(Scaling, DescribedNetwork):
    """A described network of standardized columns."""

    output = "identity"  # columns are scaled to mean 0 and variance 1
    _stored: ClassVar[Any] = {
        **DescribedNetwork._stored,
        "mean_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",), low=0.0),
    }

    def __init__(
        self,
        layers=None,
        *,
        solver="adam",
        learning_rate_init=0.001,
        batch_size=64,
        max_iter=100,
        alpha=0.0001,
        tol=1e-4,
        n_iter_no_change=10,
        early_stopping=0.0,
        init="he_uniform",
        init_scale=None,
        checkpoint=None,
        dtype="float64",
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.layers = layers
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.alpha = alpha
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.init = init
        self.init_scale = init_scale
        self.checkpoint = checkpoint
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _scaled_rows(self, data: Data) -> np.ndarray:
        return self._learn_scaling(data).astype(self.dtype, copy=False)


@method(
    task="classify",
    texts="000c 17.1-17.2, 18.1.1 · 001 6 · 003 4.3 · 004 9.2",
    use="Classes from a network of layers of your own choice, on any table.",
    avoid="Plain dense layers: MLPClassifier; images: ConvNetClassifier; few rows: boosted trees.",
    peers=("skorch.NeuralNetClassifier", "torch.nn.Sequential"),
    synonyms=("neural network", "custom network", "deep learning", "network description"),
)
@shared_parameters(NETWORK_PARAMETERS)
class NetworkClassifier(TableNetwork, Classifier):
    """A network of described layers for classes.

    Minimises the mean log-loss of softmax over the classes plus alpha / 2 times the squared
    weights, over batches of standardized columns. Use it where the layers are to be chosen: depth,
    dropout, normalization, residual connections. For plain dense layers `MLPClassifier` has
    scikit-learn's interface; for few rows boosted trees are better.

    Parameters
    ----------
    layers : list of Layer or dict, str or None, default=None
        The layers before the last, which gives a score for each class: objects, plain values, or
        the text of a description without its line "input". None for a dense layer of 64 units.
    early_stopping : float, default=0.0
        Share of rows put aside; with it, the weights of the epoch with the smallest loss on these
        rows are kept, and errors are recorded after every epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    network_ : str
        The description of the whole network, which `gnomon.neural.Network.from_text` reads.
    parameters_ : ndarray
        All parameters in one array, in the order of the network.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which columns are standardized.
    loss_curve_ : list of float
        Mean loss of the training rows by epoch, penalty included.
    training_errors_ : list of float
        Share of wrong classes by epoch, among as many training rows as are put aside; empty without
        `early_stopping`.
    validation_losses_, validation_errors_ : list of float
        Loss and share of wrong classes of the rows put aside, by epoch.
    findings_ : list of str
        What is wrong with the training, in words.
    n_iter_ : int
        Epochs made.
    history_ : History
        The loss of each epoch.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    gnomon.train : Trains, watches and reports on such a network.

    Notes
    -----
    Texts: 000c 17.1-17.2, 18.1.1, 001 6, 003 4.3, 004 9.2.

    Examples
    --------
    >>> from gnomon.neural import NetworkClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> net = NetworkClassifier("Dense units=8 activation=tanh", learning_rate_init=0.1)
    >>> net.set_params(random_state=0).fit(X, ["no", "yes", "yes", "no"]).predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DescribedNetwork._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        layers=None,
        *,
        solver="adam",
        learning_rate_init=0.001,
        batch_size=64,
        max_iter=100,
        alpha=0.0001,
        tol=1e-4,
        n_iter_no_change=10,
        early_stopping=0.0,
        init="he_uniform",
        init_scale=None,
        checkpoint=None,
        class_weight=None,
        dtype="float64",
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        super().__init__(
            layers,
            solver=solver,
            learning_rate_init=learning_rate_init,
            batch_size=batch_size,
            max_iter=max_iter,
            alpha=alpha,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            early_stopping=early_stopping,
            init=init,
            init_scale=init_scale,
            checkpoint=checkpoint,
            dtype=dtype,
            random_state=random_state,
            n_jobs=n_jobs,
            keep_history=keep_history,
        )
        self.class_weight = class_weight

    def _fit(self, data: Data) -> None:
        self._fit_network(data, self._scaled_rows(data), data.y, CrossEntropy())

    def _proba(self, rows: Any) -> np.ndarray:
        return softmax(self._outputs(self._scaled(rows)))

    def _check_loaded(self) -> None:
        if "network_" in vars(self):
            self._check_network(self.mean_.shape, len(self.classes_))


@method(
    task="regress",
    texts="000c 17.1-17.2, 18.1.1 · 001 6 · 003 4.3 · 004 9.2",
    use="Numbers from a network of layers of your own choice, on any table.",
    avoid="Plain dense layers: MLPRegressor; few rows: boosted trees or a linear model.",
    peers=("skorch.NeuralNetRegressor", "torch.nn.Sequential"),
    synonyms=("neural network", "custom network", "deep learning", "network description"),
)
@shared_parameters(NETWORK_PARAMETERS)
class NetworkRegressor(TableNetwork, Regressor):
    """A network of described layers for numbers.

    Minimises half the mean squared error of the standardized target plus alpha / 2 times the
    squared weights, over batches of standardized columns. Use it where the layers are to be chosen:
    depth, dropout, normalization, residual connections. For plain dense layers `MLPRegressor` has
    scikit-learn's interface; for few rows boosted trees are better.

    Parameters
    ----------
    layers : list of Layer or dict, str or None, default=None
        The layers before the last, which gives the estimate: objects, plain values, or the text of
        a description without its line "input". None for a dense layer of 64 units.

    Attributes
    ----------
    network_ : str
        The description of the whole network, which `gnomon.neural.Network.from_text` reads.
    parameters_ : ndarray
        All parameters in one array, in the order of the network.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which columns are standardized.
    target_mean_, target_scale_ : float
        By which the target is standardized.
    loss_curve_ : list of float
        Mean loss of the training rows by epoch, penalty included.
    training_errors_, validation_errors_ : list of float
        Empty: numbers have no share of wrong classes.
    validation_losses_ : list of float
        Loss of the rows put aside, by epoch.
    findings_ : list of str
        What is wrong with the training, in words.
    n_iter_ : int
        Epochs made.
    history_ : History
        The loss of each epoch.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    gnomon.train : Trains, watches and reports on such a network.

    Notes
    -----
    Texts: 000c 17.1-17.2, 18.1.1, 001 6, 003 4.3, 004 9.2.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import NetworkRegressor
    >>> x = np.linspace(-2, 2, 200)[:, None]
    >>> net = NetworkRegressor("Dense units=32 activation=tanh", learning_rate_init=0.01)
    >>> net.set_params(random_state=0).fit(x, x[:, 0] ** 2).score(x, x[:, 0] ** 2) > 0.95
    True
    """

    _largest_target = 1e50
    _stored: ClassVar[Any] = {
        **TableNetwork._stored,
        "target_mean_": Number(),
        "target_scale_": Number(0.0),
    }

    def _fit(self, data: Data) -> None:
        values = distinct_rows(np.asarray(data.y, dtype=np.float64)[:, None], data.weight_array)
        share = values.weights / values.weights.sum()
        self.target_mean_ = float(share @ values.rows[:, 0])
        spread = float(np.sqrt(share @ (values.rows[:, 0] - self.target_mean_) ** 2))
        self.target_scale_ = spread if spread > 0 else 1.0
        target = ((data.y - self.target_mean_) / self.target_scale_)[:, None]
        self._fit_network(data, self._scaled_rows(data), target.astype(self.dtype), SquaredLoss())

    def _estimate(self, rows: Any) -> np.ndarray:
        return self._outputs(self._scaled(rows))[:, 0] * self.target_scale_ + self.target_mean_

    def _check_loaded(self) -> None:
        if "network_" in vars(self):
            self._check_network(self.mean_.shape, 1)
