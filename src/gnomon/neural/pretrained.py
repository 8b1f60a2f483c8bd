"""Classifiers whose layers are first trained without labels.

Each layer is the code of an autoencoder, or the hidden units of a restricted Boltzmann machine, of
the layer below it; or all layers are the encoder of one autoencoder, whose decoder is dropped. An
output layer of small random weights is put on top, and all layers are then trained together on the
labels by the mean of -log p(class).

Texts: 000c 19.2.3 (one autoencoder, then fine-tuning) · 004 9.3-9.3.2 (greedy pre-training by
autoencoders; deep belief networks are named) · 003 4.5.1, 4.6.2; Hinton, Osindero and Teh (2006),
Bengio et al. (2007).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from gnomon.contract import Classifier, Data
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, at_least, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.neural.autoencoder import Autoencoder, Scaling
from gnomon.neural.joint import JOINT_PARAMETERS, LEARNING, Joint, JointLearner
from gnomon.neural.layers import Dense, Run
from gnomon.neural.losses import CrossEntropy
from gnomon.neural.network import Network, Parameters
from gnomon.neural.rbm import BernoulliRBM

OUTPUT_SCALE = 0.01  # of the first weights of the output layer, which must not disturb the layers


class PretrainedLayers(Scaling, JointLearner, Classifier):
    """What both classifiers share: pre-trained layers, an output layer, fine-tuning."""

    output = "sigmoid"  # columns are scaled to lie between 0 and 1
    _largest = 1e30
    _stored: ClassVar[Any] = {
        "parameters_": Array("f8", (None,)),
        "mean_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",), low=0.0),
    }

    def _network(self, n_columns: int, n_classes: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes]
        return Network([*hidden, Dense(n_classes)], n_columns)

    def _pretrained(self, rows: np.ndarray, weights: Any, rng: Any) -> list[tuple[Any, Any]]:
        """Weights and biases of the hidden layers, each trained on the codes of the one below."""
        found = []
        for units in self.hidden_layer_sizes:
            weight, bias, rows = self._layer(int(units), rows, weights, int(rng.integers(2**31)))
            found.append((weight, bias))
        return found

    def _layer(self, units: int, rows: np.ndarray, weights: Any, seed: int) -> tuple[Any, Any, Any]:
        """Weights and biases of a layer that codes rows, and their codes."""
        raise NotImplementedError

    def _all_rows(self, rows: np.ndarray, data: Data) -> tuple[np.ndarray, Any]:
        """The rows and those without labels, scaled, and their weights."""
        if self.unlabeled is None:
            return rows, data.weights
        more = np.asarray(self.unlabeled, dtype=np.float64)
        if more.ndim != 2 or more.shape[1] != data.n_columns:
            raise DataError(
                f"unlabeled rows need {data.n_columns} columns of numbers; "
                f"they have shape {more.shape}"
            )
        both = np.concatenate([rows, np.clip(self._scaled(more), 0, 1)])
        return both, np.concatenate([data.weight_array, np.ones(len(more))])

    def _fit(self, data: Data) -> None:
        n_classes, rng = len(self.classes_), self._rng()
        rows = self._learn_scaling(data)
        joint = Joint([self._network(data.n_columns, n_classes)])
        joint.draw(rng)
        places = joint.parameters[0]
        layers = self._pretrained(*self._all_rows(rows, data), rng)
        for place, (weight, bias) in enumerate(layers, 1):
            places[f"dense{place}"]["weight"][:] = weight
            places[f"dense{place}"]["bias"][:] = bias
        last = places[f"dense{len(self.hidden_layer_sizes) + 1}"]["weight"]
        last[:] = OUTPUT_SCALE * rng.standard_normal(last.shape)
        loss = CrossEntropy()

        def part(slopes: list[Parameters], x: Any, factors: np.ndarray, draws: Any) -> float:
            network, parameters = joint.networks[0], joint.parameters[0]
            outputs, tape = network.forward(parameters, x[:, :-1], Run(True))
            losses, slope = loss(outputs, x[:, -1].astype(np.intp))
            slope = factors[:, None] * slope
            network.backward(parameters, tape, slope, slopes[0], to_input=False)
            return float(factors @ losses)

        def attributes(flat: np.ndarray) -> dict[str, Any]:
            return {"parameters_": flat.copy()}

        labeled = np.column_stack([rows, data.y])
        self._descend(joint, labeled, data, part, attributes, alpha=self.alpha)

    def _proba(self, rows: Any) -> np.ndarray:
        network = self._network(len(self.mean_), len(self.classes_))
        outputs = network.predict(network.from_flat(self.parameters_), self._scaled(rows))
        return softmax(outputs, axis=1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        widths = [max(n_columns, 1), *(int(units) for units in self.hidden_layer_sizes)]
        joint = Joint([self._network(widths[0], 10)])
        codes = 8 * 2 * n_rows * max(widths)
        return self._training_memory(n_rows, n_columns, joint) + codes

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "parameters_"):
            needed = self._network(len(self.mean_), len(self.classes_)).n_stored
            if len(self.parameters_) != needed:
                raise ValueError(f"parameters_ must be {needed} numbers")


PRETRAINING: dict[str, Any] = {
    "hidden_layer_sizes": ["array-like"],
    "unlabeled": ["array-like", None],
    "pretrain_iter": [whole(1)],
    "pretrain_learning_rate": [between(0, 1e6, "neither")],
    "alpha": [at_least(0)],
    **LEARNING,
}


@method(
    task="classify",
    texts="000c 19.2.3 · 004 9.3.1 · 003 4.5.1",
    use="Few labelled rows beside many without labels, from columns such as pixels.",
    avoid="Many labelled rows: MLPClassifier learns as well without pre-training.",
    peers=("torch",),
    synonyms=(
        "greedy layer-wise pre-training",
        "stacked autoencoders",
        "autoencoder then fine-tune",
        "fine-tuning",
    ),
)
@shared_parameters(JOINT_PARAMETERS)
class PretrainedClassifier(PretrainedLayers):
    """A network whose layers are pre-trained as denoising autoencoders, then fine-tuned.

    Each layer minimises ``|D(E(noise(h))) - h|^2 / 2`` for the codes h of the layer below, or all
    layers together for the rows themselves; the decoder is dropped, a layer for the classes is
    added, and all layers minimise the mean of ``-log p(class)``. Use it where few rows have labels
    and many have none (``unlabeled``). Not for many labelled rows, where `MLPClassifier` does as
    well.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int, default=(64,)
        Units of each layer.
    pretraining : {"layers", "whole"}, default="layers"
        "layers" trains one autoencoder for each layer, from the first to the last; "whole" trains
        one autoencoder whose encoder has all layers.
    noise_level : float, default=0.2
        Share of the numbers set to zero before a layer codes them.
    max_iter : int, default=200
        Most passes of fine-tuning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    parameters_ : ndarray
        All parameters of the network, in one array.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which columns are scaled to lie between 0 and 1.
    n_iter_ : int
        Passes of fine-tuning.
    history_ : History
        Mean loss of each of these.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.2.3 (``pretraining="whole"``), 004 9.3.1 ("layers"). To give the codes to another
    learner instead of fine-tuning, use `gnomon.semi.RepresentationClassifier` with `Autoencoder`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gnomon.neural import PretrainedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PretrainedClassifier((16,), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _parameter_constraints = {
        "pretraining": [StrOptions({"layers", "whole"})],
        "activation": [str],
        "noise_level": [between(0, 1)],
        **PRETRAINING,
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (64,),
        *,
        unlabeled: Any = None,
        pretraining: str = "layers",
        activation: str = "logistic",
        noise_level: float = 0.2,
        pretrain_iter: int = 30,
        pretrain_learning_rate: float = 0.003,
        alpha: float = 1e-4,
        solver: str = "adam",
        learning_rate_init: float = 0.01,
        batch_size: int = 32,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.unlabeled = unlabeled
        self.pretraining = pretraining
        self.activation = activation
        self.noise_level = noise_level
        self.pretrain_iter = pretrain_iter
        self.pretrain_learning_rate = pretrain_learning_rate
        self.alpha = alpha
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _pretrained(self, rows: np.ndarray, weights: Any, rng: Any) -> list[tuple[Any, Any]]:
        if self.pretraining == "layers" or not len(self.hidden_layer_sizes):
            return super()._pretrained(rows, weights, rng)
        sizes = [int(units) for units in self.hidden_layer_sizes]
        return self._encoder(sizes, rows, weights, int(rng.integers(2**31)))[0]

    def _layer(self, units: int, rows: np.ndarray, weights: Any, seed: int) -> tuple[Any, Any, Any]:
        ((weight, bias),), coder = self._encoder([units], rows, weights, seed)
        return weight, bias, coder.transform(rows)

    def _encoder(
        self, sizes: list[int], rows: np.ndarray, weights: Any, seed: int
    ) -> tuple[list[tuple[Any, Any]], Autoencoder]:
        """Weights and biases of the layers of a fitted encoder, for rows that are not scaled."""
        coder = Autoencoder(
            sizes[-1],
            hidden_layer_sizes=sizes[:-1],
            activation=self.activation,
            code_activation=self.activation,
            output="sigmoid",
            noise="masking",
            noise_level=self.noise_level,
            alpha=0.0,
            learning_rate_init=self.pretrain_learning_rate,
            batch_size=self.batch_size,
            max_iter=self.pretrain_iter,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        coder.fit(rows, sample_weight=weights)
        views = coder._joint().parameters[0]
        layers = [views[f"dense{place}"] for place in range(1, len(sizes) + 1)]
        found = [(each["weight"], each["bias"]) for each in layers]
        first = found[0][0] / coder.scale_[:, None]
        found[0] = first, found[0][1] - coder.mean_ @ first
        return found, coder


@method(
    task="classify",
    texts="004 9.3.2",
    use="Few labelled rows beside many without labels; for comparison with older results.",
    avoid="Everything else: MLPClassifier, PretrainedClassifier.",
    synonyms=("dbn", "stacked rbm", "layer-wise pre-training"),
)
@shared_parameters(JOINT_PARAMETERS)
class DeepBeliefNetwork(PretrainedLayers):
    """A network whose layers are pre-trained as restricted Boltzmann machines, then fine-tuned.

    Each layer raises the mean of ``log p(h)`` of the codes h of the layer below; all layers then
    minimise the mean of ``-log p(class)``. Use it to reproduce such results, or where few rows have
    labels. Not where many have: `MLPClassifier` needs no pre-training.

    Parameters
    ----------
    hidden_layer_sizes : array-like of int, default=(64,)
        Units of each layer, all logistic.
    max_iter : int, default=200
        Most passes of fine-tuning.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first parameters, of the order of rows and of sampled units.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    parameters_ : ndarray
        All parameters of the network, in one array.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which columns are scaled to lie between 0 and 1.
    n_iter_ : int
        Passes of fine-tuning.
    history_ : History
        Mean loss of each of these.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    BernoulliRBM : The layers.

    Notes
    -----
    Texts: 004 9.3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gnomon.neural import DeepBeliefNetwork
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DeepBeliefNetwork((16,), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    activation = "logistic"
    _parameter_constraints = PRETRAINING

    def __init__(
        self,
        hidden_layer_sizes: Any = (64,),
        *,
        unlabeled: Any = None,
        pretrain_iter: int = 10,
        pretrain_learning_rate: float = 0.1,
        alpha: float = 1e-4,
        solver: str = "adam",
        learning_rate_init: float = 0.01,
        batch_size: int = 32,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.unlabeled = unlabeled
        self.pretrain_iter = pretrain_iter
        self.pretrain_learning_rate = pretrain_learning_rate
        self.alpha = alpha
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _layer(self, units: int, rows: np.ndarray, weights: Any, seed: int) -> tuple[Any, Any, Any]:
        machine = BernoulliRBM(
            units,
            learning_rate=self.pretrain_learning_rate,
            batch_size=self.batch_size,
            n_iter=self.pretrain_iter,
            random_state=seed,
        ).fit(rows, sample_weight=weights)
        return machine.components_.T, machine.intercept_hidden_, machine.transform(rows)
