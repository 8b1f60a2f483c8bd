"""Convolutional networks for images as an estimator: any described layers, then the classes.

Minimises the mean log-loss of softmax over the classes plus alpha / 2 times the squared weights, by
Adam over batches.

Texts: 000c 17.1.3-17.2, 18.1 · 001 9 · 003 4.3.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, ClassVar

import numpy as np

from gnomon.contract import Classifier, Data
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import TupleOf, Whole
from gnomon.neural.activations import softmax
from gnomon.neural.convolution import Conv2D
from gnomon.neural.described import NETWORK_PARAMETERS, DescribedNetwork
from gnomon.neural.layers import Dense, Flatten
from gnomon.neural.losses import CrossEntropy
from gnomon.neural.pooling import MaxPool2D

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
@shared_parameters(NETWORK_PARAMETERS)
class ConvNetClassifier(DescribedNetwork, Classifier):
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

    default_layers = SMALL
    image_shape_: tuple[int, ...]
    _stored: ClassVar[Any] = {
        **DescribedNetwork._stored,
        "image_shape_": TupleOf((Whole(1), Whole(1), Whole(1))),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DescribedNetwork._parameter_constraints,
        "image_shape": [tuple, list, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
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
        init_scale=None,
        checkpoint=None,
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
        self.init_scale = init_scale
        self.checkpoint = checkpoint
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if "image_shape_" in vars(self):
            del self.image_shape_
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

    def _fit(self, data: Data) -> None:
        self.image_shape_ = self._shape_of(data.n_columns)
        rows = data.rows.reshape(-1, *self.image_shape_).astype(self.dtype, copy=False)
        self._fit_network(data, rows, data.y, CrossEntropy())

    def _proba(self, rows: Any) -> np.ndarray:
        return softmax(self._outputs(rows.reshape(-1, *self.image_shape_)))

    def _check_loaded(self) -> None:
        if "network_" in vars(self):
            self._check_network(self.image_shape_, len(self.classes_))


def flat_images(X: Any) -> Any:
    """Images with four axes as rows of columns; anything else as it is."""
    if getattr(X, "ndim", 0) == 4:
        return X.reshape(len(X), -1)
    return X
