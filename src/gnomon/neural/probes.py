"""Looking into a network through gradients of its input.

The gradient with respect to the input says which numbers of a row matter. Followed uphill it makes
an input that excites a unit; followed towards another class by small steps it makes an adversarial
example, an input that looks the same and is classified otherwise.

Texts: 000c 17.2.3 (adversarial examples), 18.1 (what excites a unit), 19.2.3 (perceptual loss; its
formula prints a comma for the minus) · 001 9.5.3 (Jacobians) · 003 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.neural.activations import softmax
from gnomon.neural.layers import Run
from gnomon.neural.losses import Loss, loss_of
from gnomon.neural.network import Network, Parameters


def input_gradient(
    network: Network, parameters: Parameters, X: Any, y: Any, *, loss: Loss | str = "log_loss"
) -> np.ndarray:
    """The gradient of the loss of each row with respect to its input.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    X : array-like of shape (n_samples, ...)
    y : array-like
    loss : Loss or str, default="log_loss"

    Returns
    -------
    gradient : ndarray of shape (n_samples, *input_shape)
    """
    output, tape = network.forward(parameters, X)
    slope = loss_of(loss)(output, np.asarray(y))[1]
    gradient = network.backward(parameters, tape, slope)[1]
    assert gradient is not None
    return gradient


def network_jacobian(network: Network, parameters: Parameters, x: Any) -> np.ndarray:
    """The derivatives of all outputs with respect to all inputs, at one row.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    x : array-like of shape (*input_shape,)

    Returns
    -------
    jacobian : ndarray of shape (n_outputs, n_inputs)
    """
    n_outputs = prod(network.output_shape)
    rows = np.repeat(np.asarray(x, dtype=np.float64)[None], n_outputs, axis=0)
    output, tape = network.forward(parameters, rows)
    each = np.eye(n_outputs).reshape(output.shape)
    gradient = network.backward(parameters, tape, each)[1]
    assert gradient is not None
    return gradient.reshape(n_outputs, -1)


@dataclass(repr=False)
class AdversarialExample(Result):
    """An input that is classified otherwise.

    Attributes
    ----------
    original, changed : ndarray
        The input and the one that was found.
    before, after : int
        The class of each.
    target : int
        The class that was aimed at.
    probability : float
        Of the target, for the changed input.
    norm : float
        Euclidean norm of the change.
    n_iter : int
    """

    original: np.ndarray
    changed: np.ndarray
    before: int
    after: int
    target: int
    probability: float
    norm: float
    n_iter: int

    @property
    def fooled(self) -> bool:
        """Whether the target was reached."""
        return self.after == self.target

    def _title(self) -> str:
        state = "reached" if self.fooled else "not reached"
        return f"class {self.before} to {self.target} {state} by a change of norm {self.norm:.3g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {"class": ["before", "after"], "code": [self.before, self.after]}


def adversarial_example(
    network: Network,
    parameters: Parameters,
    x: Any,
    target: int,
    *,
    penalty: float = 0.01,
    step: float = 0.05,
    max_iter: int = 200,
    bounds: tuple[float, float] | None = None,
    probability: float = 0.9,
) -> AdversarialExample:
    """A small change of one input that makes a network give another class.

    Goes down the gradient of -log P(target | x + d) + penalty |d|^2, by steps of one length.

    Parameters
    ----------
    network : Network
        Of scores before softmax.
    parameters : Parameters
    x : array-like of shape (*input_shape,)
    target : int
        The class to reach.
    penalty : float, default=0.01
        Weight of the squared change.
    step : float, default=0.05
        Length of a step.
    max_iter : int, default=200
    bounds : (float, float), default=None
        Smallest and greatest value of an input, such as (0, 1) for pixels.
    probability : float, default=0.9
        Ends when the target has at least this probability.

    Returns
    -------
    found : AdversarialExample
    """
    if not 0 <= target < network.output_shape[0]:
        raise DataError(f"the network has {network.output_shape[0]} classes; there is no {target}")
    original = np.asarray(x, dtype=parameters.flat.dtype).reshape(network.input_shape)
    changed = original.copy()
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        slope = input_gradient(network, parameters, changed[None], np.array([target]))[0]
        slope = slope + 2 * penalty * (changed - original)
        changed = changed - step * slope / max(float(np.linalg.norm(slope)), 1e-12)
        if bounds is not None:
            changed = np.clip(changed, *bounds)
        if _probability(network, parameters, changed, target) >= probability:
            break
    scores = network.predict(parameters, np.stack([original, changed]))
    return AdversarialExample(
        original,
        changed,
        int(scores[0].argmax()),
        int(scores[1].argmax()),
        int(target),
        _probability(network, parameters, changed, target),
        float(np.linalg.norm(changed - original)),
        n_iter,
    )


def _probability(network: Network, parameters: Parameters, x: np.ndarray, target: int) -> float:
    return float(softmax(network.predict(parameters, x[None]))[0, target])


def activation_maximization(
    network: Network,
    parameters: Parameters,
    layer: str,
    unit: int,
    *,
    penalty: float = 0.01,
    step: float = 0.1,
    max_iter: int = 100,
    random_state: int = 0,
) -> np.ndarray:
    """An input that excites a unit: ascent on its mean output minus penalty times the squares.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    layer : str
        The name of a node.
    unit : int
        A unit, or a channel of an image.
    penalty : float, default=0.01
    step : float, default=0.1
        Length of a step.
    max_iter : int, default=100
    random_state : int, default=0
        Seed of the small random input that it starts from.

    Returns
    -------
    x : ndarray of shape (*input_shape,)
    """
    head = head_of(network, layer)
    if not 0 <= unit < head.output_shape[-1]:
        raise DataError(f"layer {layer!r} has {head.output_shape[-1]} units; there is no {unit}")
    own = own_parameters(head, parameters)
    rng = np.random.default_rng(random_state)
    x = rng.normal(0, 0.1, network.input_shape).astype(parameters.flat.dtype)
    for _ in range(max_iter):
        output, tape = head.forward(own, x[None], Run())
        each = np.zeros_like(output)
        each[..., unit] = 1 / prod(output.shape[1:-1])
        slope = head.backward(own, tape, each)[1]
        assert slope is not None
        uphill = slope[0] - 2 * penalty * x
        x = x + step * uphill / max(float(np.linalg.norm(uphill)), 1e-12)
    return x


def head_of(network: Network, layer: str) -> Network:
    """The part of a network up to a node, which is its output.

    Parameters
    ----------
    network : Network
    layer : str

    Returns
    -------
    head : Network
    """
    by_name = {node.name: node for node in network.nodes}
    if layer not in by_name:
        raise DataError(f"there is no layer {layer!r}; the layers are {list(by_name)}")
    needed = {layer}
    for node in reversed(network.nodes):
        if node.name in needed:
            needed |= set(node.inputs)
    graph = {n.name: (n.layer, list(n.inputs)) for n in network.nodes if n.name in needed}
    return Network(graph, network.input_shape)


def own_parameters(network: Network, parameters: Parameters) -> Parameters:
    """The parameters of a network that another network with layers of the same names has.

    Parameters
    ----------
    network : Network
    parameters : Parameters
        Parameters of a network with at least these layers.

    Returns
    -------
    own : Parameters
        A copy.
    """
    known = {place.path: place for place in parameters.places}
    own = network.from_flat(np.empty(network.n_stored, dtype=parameters.flat.dtype))
    for place in network.places:
        other = known.get(place.path)
        if other is None or other.parameter.shape != place.parameter.shape:
            raise DataError(f"the parameters have no {'.'.join(place.path)} of this shape")
        own.flat[place.start : place.stop] = parameters.flat[other.start : other.stop]
    return own


class PerceptualLoss(Loss):
    """Differences of images as a network sees them: of the outputs of some of its layers.

    L = sum_i w_i |d_i(output) - d_i(target)|^2 / size_i + pixel_weight |output - target|^2 / 2

    Parameters
    ----------
    network : Network
        A trained classifier.
    parameters : Parameters
        Of it; they stay.
    layers : dict of str to float
        Its layers d_i and their weights.
    pixel_weight : float, default=0.0
        Weight of the squared error itself.
    """

    name = "perceptual"

    def __init__(
        self,
        network: Network,
        parameters: Parameters,
        layers: dict[str, float],
        pixel_weight: float = 0.0,
    ):
        self.parts = []
        for layer, weight in layers.items():
            head = head_of(network, layer)
            self.parts.append((head, own_parameters(head, parameters), weight))
        self.pixel_weight = pixel_weight

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        target = target.reshape(output.shape)
        miss = output - target
        losses = 0.5 * self.pixel_weight * (miss**2).reshape(len(miss), -1).sum(axis=1)
        gradient = self.pixel_weight * miss
        for head, own, weight in self.parts:
            seen, tape = head.forward(own, output)
            wanted = head.predict(own, target)
            size = prod(head.output_shape)
            differs = seen - wanted
            losses = losses + weight / size * (differs**2).reshape(len(miss), -1).sum(axis=1)
            back = head.backward(own, tape, 2 * weight / size * differs)[1]
            assert back is not None
            gradient = gradient + back.reshape(output.shape)
        return losses, gradient
