"""Convolutional networks for images as an estimator: any described layers, then the classes.

Minimises the mean log-loss of softmax over the classes plus alpha / 2 times the squared weights, by
Adam over batches.

Texts: 000c 17.1.3-17.2, 18.1 · 001 9 · 003 4.3.
"""

from __future__ import annotations

import functools
import warnings
from math import isqrt, prod
from typing import Any, ClassVar

import numpy as np

from gnomon.contract import Classifier, Data, Takes
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
from gnomon.engine.stored import Array, ListOf, Number, Text, TupleOf, Whole
from gnomon.engine.threads import Crew
from gnomon.neural.activations import softmax
from gnomon.neural.batches import Slots
from gnomon.neural.convolution import Conv2D
from gnomon.neural.diagnostics import input_findings, unit_findings
from gnomon.neural.initialization import INITIALIZATIONS
from gnomon.neural.layers import Dense, Flatten, Layer
from gnomon.neural.losses import CrossEntropy
from gnomon.neural.network import Network
from gnomon.neural.penalties import L2
from gnomon.neural.pooling import MaxPool2D
from gnomon.neural.trainer import RULES, Trainer, predict_all, rule_of

SMALL = (
    Conv2D(16, 3, "relu", padding="same"),
    MaxPool2D(2, padding="same"),
    Conv2D(32, 3, "relu", padding="same"),
    MaxPool2D(2, padding="same"),
    Flatten(),
    Dense(64, "relu"),
)


@method(
    task="classify",
    texts="000c 17.1.3-17.2, 18.1 · 001 9 · 003 4.3",
    use="Images of one size, where patterns may lie anywhere in them.",
    avoid="Tables whose neighboring columns have nothing in common: MLPClassifier or trees.",
    peers=("torch.nn.Conv2d", "skorch.NeuralNetClassifier"),
    synonyms=("cnn", "convolutional neural network", "deep learning", "image classifier"),
)
class ConvNetClassifier(Classifier):
    """A convolutional network for classes of images.

    Minimises the mean log-loss plus alpha / 2 times the squared weights over batches. Use it for
    images of one size. For tables whose neighboring columns have nothing in common use
    `MLPClassifier` or trees.

    Parameters
    ----------
    layers : list of Layer or dict, str or None, default=None
        The layers before the last, which gives a score for each class: objects, plain values, or
        the text of a description without its line "input". None for two 3x3 convolutions of 16 and
        32 filters with max pooling and a dense layer of 64 units.
    image_shape : tuple of int or None, default=None
        (height, width, channels) of the columns of a row; None for that of images given with four
        axes, else a square grey image, or one row of cells where that is impossible.
    solver : {"adam", "adamw", "sgd", "momentum", "nesterov", "adagrad", "rmsprop"}, \
            default="adam"
        How steps follow from gradients.
    learning_rate_init : float, default=0.001
        The step size.
    batch_size : int, default=64
        Rows of a batch.
    max_iter : int, default=20
        Most epochs.
    alpha : float, default=0.0001
        Weight of the penalty on the squared weights.
    tol : float, default=0.0001
        An epoch improves the loss where it is better by this much.
    n_iter_no_change : int, default=10
        Epochs without improvement before the end.
    early_stopping : float, default=0.0
        Share of rows put aside; with it, the weights of the epoch with the smallest loss on these
        rows are kept.
    init : str, default="he_uniform"
        First weights, one of `gnomon.neural.INITIALIZATIONS`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    dtype : {"float64", "float32"}, default="float64"
        What training computes in; float32 takes about half the time.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first weights, the batches and dropout.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the parameters after every epoch in ``history_.states``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    network_ : str
        The description of the whole network, which `gnomon.neural.Network.from_text` reads.
    parameters_ : ndarray
        All parameters in one array, in the order of the network.
    image_shape_ : tuple of int
        Height, width and channels.
    validation_losses_ : list of float
        Loss of the rows put aside, by epoch; empty where there are none.
    findings_ : list of str
        What is wrong with the training, in words.
    n_iter_ : int
        Epochs made.
    history_ : History
        The loss of each epoch.
    n_features_in_ : int
        Number of columns seen in ``fit``: cells times channels.

    See Also
    --------
    MLPClassifier : Dense layers, for columns that have no order.

    Notes
    -----
    Texts: 000c 17.1.3-17.2, 18.1, 001 9. Pixels are taken as they are given: scale them, say to
    between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import ConvNetClassifier
    >>> bars = np.zeros((20, 4, 4, 1))
    >>> for i in range(20):
    ...     bars[i, :, i % 4] = 1.0 if i < 10 else 0.0
    ...     bars[i, i % 4] = 0.0 if i < 10 else 1.0
    >>> kind = ["column"] * 10 + ["row"] * 10
    >>> net = ConvNetClassifier(max_iter=60, random_state=0).fit(bars, kind)
    >>> net.score(bars, kind)
    1.0
    """

    natively = Takes()
    _largest = 1e50
    _stored: ClassVar[Any] = {
        "network_": Text(),
        "parameters_": Array("f", (None,)),
        "image_shape_": TupleOf((Whole(1), Whole(1), Whole(1))),
        "validation_losses_": ListOf(Number(finite=False)),
        "findings_": ListOf(Text()),
        "n_iter_": Whole(1),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "layers": [list, tuple, str, None],
        "image_shape": [tuple, list, None],
        "solver": [StrOptions(set(RULES))],
        "learning_rate_init": [above(0)],
        "batch_size": [whole(1)],
        "max_iter": [whole(1)],
        "alpha": [at_least(0)],
        "tol": [at_least(0)],
        "n_iter_no_change": [whole(1)],
        "early_stopping": [between(0, 1, closed="left")],
        "init": [StrOptions(set(INITIALIZATIONS))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "dtype": [StrOptions({"float64", "float32"})],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }

    def __init__(
        self,
        layers=None,
        *,
        image_shape=None,
        solver="adam",
        learning_rate_init=0.001,
        batch_size=64,
        max_iter=20,
        alpha=0.0001,
        tol=1e-4,
        n_iter_no_change=10,
        early_stopping=0.0,
        init="he_uniform",
        class_weight=None,
        dtype="float64",
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.layers = layers
        self.image_shape = image_shape
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.alpha = alpha
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.init = init
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if n_columns == 0:
            return 0
        network = self._described(self._shape_of(n_columns), 2)
        numbers = sum(prod(node.output_shape) for node in network.nodes)
        batch = min(self.batch_size, n_rows)
        cells = batch * (30 * numbers + 4 * n_columns)
        return 8 * (cells + 12 * network.n_stored + 12 * n_rows + n_rows * n_columns)

    def _memory_remedy(self) -> str:
        return "Use smaller batches, smaller layers, or fewer rows."

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Any:
        vars(self).pop("image_shape_", None)
        if getattr(X, "ndim", 0) == 4:
            self.image_shape_ = tuple(int(size) for size in np.shape(X)[1:])
            wanted = self.image_shape
            if wanted is not None and tuple(wanted) != self.image_shape_:
                raise DataError(f"images have shape {self.image_shape_}, not image_shape={wanted}")
        return super()._take_in(flat_images(X), y, sample_weight)

    def _each_block(self, function: Any, X: Any) -> Any:
        return super()._each_block(function, flat_images(X))

    def _shape_of(self, n_columns: int) -> tuple[int, int, int]:
        given = vars(self).get("image_shape_", self.image_shape)
        if given is None:
            side = isqrt(n_columns)
            given = (side, side, 1) if side * side == n_columns else (1, n_columns, 1)
        height, width, channels = (int(size) for size in given)
        if height * width * channels != n_columns:
            raise DataError(
                f"image_shape {tuple(given)} has {height * width * channels} numbers; the rows "
                f"have {n_columns} columns"
            )
        return height, width, channels

    def _described(self, shape: tuple[int, int, int], n_classes: int) -> Network:
        layers: Any = SMALL if self.layers is None else self.layers
        if isinstance(layers, str):
            size = " ".join(map(str, shape))
            inner = Network.from_text(f"input {size}\n{layers}")
        else:
            inner = Network(list(layers), shape)
        graph: dict[str, Any] = {n.name: (n.layer, list(n.inputs)) for n in inner.nodes}
        last: list[Layer] = [Dense(n_classes)]
        if len(inner.output_shape) == 3:
            last.insert(0, Flatten())
        for number, layer in enumerate(last):
            graph[f"last{number + 1}"] = (layer, [list(graph)[-1]])
        return Network(graph, shape)

    def _fit(self, data: Data) -> None:
        self.image_shape_ = self._shape_of(data.n_columns)
        network = self._described(self.image_shape_, len(self.classes_))
        self.network_ = network.as_text()
        seed = int(self._rng().integers(2**32))
        parameters = network.initial(
            np.random.default_rng(seed), init=self.init, dtype=np.dtype(self.dtype)
        )
        rows = data.rows.reshape(-1, *self.image_shape_).astype(self.dtype, copy=False)
        trainer = Trainer(
            network,
            parameters,
            CrossEntropy(),
            rule_of(self.solver),
            penalty=L2(self.alpha) if self.alpha else None,
            random_state=seed,
        )
        slots, aside = Slots(rows, data.y, data.weights), None
        if self.early_stopping:
            rng = np.random.default_rng([seed, 0, 1])
            slots, aside = slots.split(self.early_stopping, rng, data.y)
            if not len(aside.rows):
                raise DataError("early_stopping puts no row aside; give a greater share")
        self.validation_losses_ = []
        self.findings_ = input_findings(rows)
        self._train(trainer, slots, aside, rows, data.y)
        for each in self.findings_:
            warnings.warn(each, GnomonWarning, stacklevel=4)

    def _train(self, trainer: Trainer, slots: Slots, aside: Any, rows: Any, y: np.ndarray) -> None:
        flat = trainer.parameters.flat
        course = self._course("epoch", self.max_iter)
        best, least, stalled = None, np.inf, 0
        with Crew(self.n_jobs) as crew, np.errstate(all="ignore"):
            failed = False
            for step in course:
                before = flat.copy()
                value = trainer.epoch(
                    rows, y, slots, self.batch_size, self.learning_rate_init, step + 1, crew
                )
                failed = not (np.isfinite(value) and np.isfinite(flat).all())
                if failed:
                    flat[:] = before
                    value = least if np.isfinite(least) else np.finfo(np.float64).max
                judged = value
                if aside is not None:
                    losses = trainer.losses(rows[aside.rows], y[aside.rows])
                    judged = float(np.average(losses, weights=aside.weights))
                    self.validation_losses_.append(judged)
                stalled = 0 if judged < least - self.tol else stalled + 1
                if judged < least:
                    least, best = judged, flat.copy() if aside is not None else None
                if course.end_step(
                    value,
                    failed or stalled > self.n_iter_no_change,
                    state=lambda: {"parameters": flat.copy()},
                    attributes=lambda: {**self._public(), "parameters_": flat.copy()},
                ):
                    break
        if best is not None:
            flat[:] = best
        self.parameters_ = flat
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        if failed:
            self.findings_.append(
                f"training stopped in epoch {self.n_iter_}: the loss is not finite. Scale the "
                "pixels or decrease learning_rate_init"
            )
        with np.errstate(all="ignore"):
            self.findings_ += unit_findings(trainer.network, trainer.parameters, rows[:1000])

    def _proba(self, rows: Any) -> np.ndarray:
        network = network_of(self.network_)
        parameters = network.from_flat(self.parameters_)
        images = rows.reshape(-1, *self.image_shape_)
        return softmax(predict_all(network, parameters, images).astype(np.float64, copy=False))

    def _rows_at_once(self, rows: Any) -> int:
        return 64

    def _check_loaded(self) -> None:
        if "network_" not in vars(self):
            return
        network = Network.from_text(self.network_)
        network.from_flat(self.parameters_)
        if network.input_shape != tuple(self.image_shape_) or network.output_shape != (
            len(self.classes_),
        ):
            raise DataError("network_, image_shape_ and classes_ do not fit together")


@functools.lru_cache(maxsize=16)
def network_of(text: str) -> Network:
    """The network of a description; blocks of rows share it."""
    return Network.from_text(text)


def flat_images(X: Any) -> Any:
    """Images with four axes as rows of columns; anything else as it is."""
    if getattr(X, "ndim", 0) == 4:
        return X.reshape(len(X), -1)
    return X
