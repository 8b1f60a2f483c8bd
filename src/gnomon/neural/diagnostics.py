"""What goes wrong in training, found and named in words.

Texts: 000c 17.1.2 (dead units, scaled inputs), 17.2.1 (loss is not error) · 004 9.2 (vanishing
gradients, saturated units).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.neural.layers import Run
from gnomon.neural.losses import loss_of
from gnomon.neural.network import Network, Parameters

ROWS_LOOKED_AT = 1000  # judgement: shares of rows come with an error of 0.016 at most
# Ratio of the largest to the smallest typical size of columns from which inputs are not scaled.
UNEVEN = 100.0
LARGE = 30.0  # typical size of a column beyond which a first layer is saturated or unstable
# Ratio of the gradients of the first and the last layer, per weight, below which they vanish.
VANISHING = 1e-4
MANY_DEAD = 0.4


@dataclass(repr=False)
class UnitReport(Result):
    """Units that give the same on all rows, layer by layer.

    Attributes
    ----------
    layers : list of str
    units : list of int
        Units (channels) of each layer.
    dead : list of float
        Share that gives zero on every row.
    saturated : list of float
        Share of outputs within 1% of the ends of the range of a bounded activation.
    """

    layers: list[str]
    units: list[int]
    dead: list[float]
    saturated: list[float]

    def _title(self) -> str:
        worst = max(self.dead, default=0.0)
        return f"at most {worst:.0%} of the units of a layer are dead"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "layer": self.layers,
            "units": self.units,
            "dead": self.dead,
            "saturated": self.saturated,
        }


# Ends of the range of each activation.
BOUNDS: dict[str, tuple[float, float]] = {
    "logistic": (0, 1),
    "sigmoid": (0, 1),
    "tanh": (-1, 1),
    "algebraic": (-1, 1),
}
BOUNDS["arctan"] = (-np.pi / 2, np.pi / 2)


def unit_report(network: Network, parameters: Parameters, X: Any) -> UnitReport:
    """The share of dead and of saturated units in each layer.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    X : array-like of shape (n_samples, ...)

    Returns
    -------
    report : UnitReport
    """
    outputs = network.forward(parameters, X)[1].outputs
    layers, units, dead, saturated = [], [], [], []
    for node in network.nodes:
        function = getattr(node.layer, "activation", getattr(node.layer, "function", None))
        if function is None or function in ("identity", "linear", "softmax"):
            continue
        flat = outputs[node.name].reshape(-1, node.output_shape[-1])
        layers.append(node.name)
        units.append(flat.shape[1])
        dead.append(float((flat == 0).all(axis=0).mean()))
        low, high = BOUNDS.get(function, (-np.inf, np.inf))
        near = 0.01 * (high - low) if np.isfinite(high) else 0.0
        ends = (flat < low + near) | (flat > high - near)
        saturated.append(float(ends.mean()) if near else 0.0)
    return UnitReport(layers, units, dead, saturated)


@dataclass(repr=False)
class GradientReport(Result):
    """Typical size of the gradient of a weight, layer by layer.

    Attributes
    ----------
    layers : list of str
    gradients : list of float
        Root mean square over the weights of the layer.
    ratio : float
        The first layer's by the last one's.
    """

    layers: list[str]
    gradients: list[float]

    @property
    def ratio(self) -> float:
        last = self.gradients[-1] if self.gradients else 0.0
        return self.gradients[0] / last if last > 0 else 1.0

    def _title(self) -> str:
        return f"gradients of the first layer are {self.ratio:.2g} times those of the last"

    def _columns(self) -> dict[str, list[Any]]:
        return {"layer": self.layers, "gradient": self.gradients}


def gradient_report(
    network: Network, parameters: Parameters, X: Any, y: Any, loss: Any = "squared_error"
) -> GradientReport:
    """The size of the gradients of each layer, from the first to the last.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    X : array-like of shape (n_samples, ...)
    y : array-like
    loss : Loss or str, default="squared_error"

    Returns
    -------
    report : GradientReport
    """
    output, tape = network.forward(parameters, X, Run())
    slope = loss_of(loss)(output, np.asarray(y))[1] / len(output)
    slopes, _ = network.backward(parameters, tape, slope.astype(output.dtype), to_input=False)
    layers, sizes = [], []
    for place in network.places:
        if place.parameter.role == "weight":
            layers.append(".".join(place.path[:-1]))
            part = slopes.flat[place.start : place.stop]
            sizes.append(float(np.sqrt(np.mean(part**2))))
    return GradientReport(layers, sizes)


def input_findings(rows: np.ndarray) -> list[str]:
    """What is wrong with the scale of the inputs, in words; empty where nothing is.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_columns)

    Returns
    -------
    findings : list of str
    """
    flat = np.asarray(rows[:ROWS_LOOKED_AT], dtype=np.float64).reshape(
        len(rows[:ROWS_LOOKED_AT]), -1
    )
    with np.errstate(over="ignore"):
        sizes = np.sqrt(np.mean(flat**2, axis=0))
    used = sizes[sizes > 0]
    if not len(used):
        return []
    least, most = float(used.min()), float(used.max())
    varying = flat.std(axis=0) > 0
    if most > LARGE:
        return [
            f"inputs are not scaled: columns have typical sizes from {least:.3g} to {most:.3g}; "
            "standardise them (gnomon.prepare.StandardScaler)"
        ]
    wide = sizes[varying & (sizes > 0)]
    if len(wide) and wide.max() > UNEVEN * wide.min() and flat.shape[1] <= 100:
        return [
            f"inputs are not scaled: columns differ in size by a factor of "
            f"{wide.max() / wide.min():.3g}; standardise them (gnomon.prepare.StandardScaler)"
        ]
    return []


def unit_findings(network: Network, parameters: Parameters, rows: np.ndarray) -> list[str]:
    """Layers with many dead or saturated units, in words."""
    report = unit_report(network, parameters, rows[:ROWS_LOOKED_AT])
    found = []
    for layer, dead, saturated in zip(report.layers, report.dead, report.saturated):
        if dead > MANY_DEAD:
            found.append(
                f"{dead:.0%} of the units of layer {layer!r} are dead (zero on every row): use a "
                "smaller learning rate, scaled inputs, or leaky_relu"
            )
        if saturated > 0.9:
            found.append(
                f"{saturated:.0%} of the outputs of layer {layer!r} are saturated, so that it "
                "hardly learns: use smaller first weights, scaled inputs, or relu"
            )
    return found


def gradient_findings(
    network: Network, parameters: Parameters, rows: np.ndarray, y: np.ndarray, loss: Any
) -> list[str]:
    """Vanishing gradients, in words."""
    some = slice(0, ROWS_LOOKED_AT)
    report = gradient_report(network, parameters, rows[some], y[some], loss)
    if len(report.gradients) > 2 and report.gradients[-1] > 0 and report.ratio < VANISHING:
        return [
            f"gradients vanish: those of layer {report.layers[0]!r} are {report.ratio:.1g} times "
            f"those of {report.layers[-1]!r}; use relu, batch normalisation, residual layers or "
            "fewer layers"
        ]
    return []


def course_findings(losses: list[float], validation: list[float], errors: list[float]) -> list[str]:
    """What the curves of loss and error say, in words.

    Parameters
    ----------
    losses : list of float
        Of training, by epoch.
    validation : list of float
        Losses of validation rows.
    errors : list of float
        Error rates of validation rows.

    Returns
    -------
    findings : list of str
    """
    found = []
    rises = np.diff(losses[-20:]) > 0
    worse = (
        len(losses) >= 4
        and (losses[-1] > losses[0] or rises.mean() > 0.45)
        and losses[-1] > 1.05 * min(losses)
    )
    if worse or (len(losses) > 1 and losses[-1] > 2 * losses[0] > 0):
        found.append(
            f"the step is too large: the loss ends at {losses[-1]:.3g} after {min(losses):.3g}; "
            "decrease the learning rate"
        )
    best = int(np.argmin(validation)) if validation else 0
    if errors and best < len(validation) - 1 and min(errors[best + 1 :]) < errors[best]:
        found.append(
            f"loss is not error: the validation loss is smallest after epoch {best + 1}, and the "
            f"error after epoch {int(np.argmin(errors)) + 1}"
        )
    return found
