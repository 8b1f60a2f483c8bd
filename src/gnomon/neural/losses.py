"""Losses of networks: a number for each row, and its gradient with respect to the output.

===================  =========================  ==========================================
loss                 output                     for a row
===================  =========================  ==========================================
SquaredLoss          estimates                  sum_k (o_k - t_k)^2 / 2
AbsoluteLoss         estimates                  sum_k |o_k - t_k|
CrossEntropy         scores before softmax      -log softmax(o)_t, or -sum_k t_k log p_k
BinaryCrossEntropy   scores before logistic     sum_k log(1 + e^o_k) - t_k o_k
PoissonLoss          log of the mean            sum_k e^o_k - t_k o_k
MixedLoss            parts side by side         the sum of the losses of the parts
===================  =========================  ==========================================

Softmax and logistic are inside the loss, where they cannot overflow: the last layer of such a
network has no activation, and ``link`` turns its output into probabilities. With squared error a
linear output unit estimates the mean of a normal target (001 6.2.2).

Texts: 000c 17.1.2 · 001 6.2.1-6.2.2 · 003 4.3 · 004 9.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from gnomon.engine.errors import DataError
from gnomon.neural.activations import ACTIVATIONS, softmax


class Loss:
    """The base of all losses."""

    name = ""

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loss of each row, and the gradient of their sum with respect to the output.

        Parameters
        ----------
        output : ndarray of shape (n_samples, ...)
        target : ndarray

        Returns
        -------
        losses : ndarray of shape (n_samples,)
        gradient : ndarray of the shape of output
        """
        raise NotImplementedError

    def link(self, output: np.ndarray) -> np.ndarray:
        """What the output means: probabilities or estimates."""
        return output

    def check(self, output_shape: tuple[int, ...], target: np.ndarray) -> None:
        """Refuse a target that does not fit the output."""
        if target.shape[1:] != output_shape and target.size != len(target) * np.prod(output_shape):
            raise DataError(
                f"the network gives {output_shape} numbers for a row; the target has shape "
                f"{target.shape[1:]}"
            )


def _sum_rows(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1).sum(axis=1)


class SquaredLoss(Loss):
    """Half the squared error, summed over the outputs."""

    name = "squared_error"

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        miss = output - target.reshape(output.shape)
        return 0.5 * _sum_rows(miss**2), miss


class AbsoluteLoss(Loss):
    """The absolute error, summed over the outputs."""

    name = "absolute_error"

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        miss = output - target.reshape(output.shape)
        return _sum_rows(np.abs(miss)), np.sign(miss)


class CrossEntropy(Loss):
    """Minus the log probability of the class, by softmax; targets are codes or probabilities."""

    name = "log_loss"

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shifted = output - output.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        gradient = e / total
        log_total = np.log(total[:, 0])
        if target.ndim == 1:
            rows = np.arange(len(output))
            losses = log_total - shifted[rows, target]
            gradient[rows, target] -= 1
            return losses, gradient
        mass = target.sum(axis=1)
        losses = mass * log_total - (target * shifted).sum(axis=1)
        return losses, gradient * mass[:, None] - target

    def link(self, output: np.ndarray) -> np.ndarray:
        return softmax(output)

    def check(self, output_shape: tuple[int, ...], target: np.ndarray) -> None:
        if target.ndim > 1:
            super().check(output_shape, target)
        elif len(output_shape) != 1 or (len(target) and target.max() >= output_shape[0]):
            n = int(target.max()) + 1
            raise DataError(
                f"there are {n} classes and the network has outputs of shape {output_shape}; "
                f"give its last layer {n} units"
            )


class BinaryCrossEntropy(Loss):
    """Minus the log probability of 0 or 1 (or a share between) for each output, by the logistic."""

    name = "binary_log_loss"

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        target = target.reshape(output.shape)
        softplus = np.maximum(output, 0) + np.log1p(np.exp(-np.abs(output)))
        losses = _sum_rows(softplus - target * output)
        return losses, expit(output) - target

    def link(self, output: np.ndarray) -> np.ndarray:
        return expit(output)


class PoissonLoss(Loss):
    """The Poisson deviance up to a constant; the output is the log of the mean."""

    name = "poisson"

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        target = target.reshape(output.shape)
        mean = self.link(output)
        return _sum_rows(mean - target * output), mean - target

    def link(self, output: np.ndarray) -> np.ndarray:
        return ACTIVATIONS["exponential"].value(output)


class MixedLoss(Loss):
    """Losses of parts of the output: labels of mixed kinds, side by side.

    Parameters
    ----------
    parts : list of (Loss, int)
        A loss and the outputs that it takes, in order. The target has a column of codes for a
        `CrossEntropy`, and as many columns as outputs for the others.
    """

    name = "mixed"

    def __init__(self, parts: list[tuple[Loss, int]]):
        self.parts = parts

    def _columns(self) -> Any:
        start = column = 0
        for loss, width in self.parts:
            columns = 1 if isinstance(loss, CrossEntropy) else width
            yield loss, slice(start, start + width), slice(column, column + columns)
            start, column = start + width, column + columns

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        target = target.reshape(len(output), -1)
        losses = np.zeros(len(output), dtype=output.dtype)
        gradient = np.empty_like(output)
        for loss, outputs, columns in self._columns():
            mine = target[:, columns]
            if isinstance(loss, CrossEntropy):
                mine = mine[:, 0].astype(np.intp)
            each, gradient[:, outputs] = loss(output[:, outputs], mine)
            losses += each
        return losses, gradient

    def link(self, output: np.ndarray) -> np.ndarray:
        parts = [loss.link(output[:, outputs]) for loss, outputs, _ in self._columns()]
        return np.concatenate(parts, axis=1)

    def check(self, output_shape: tuple[int, ...], target: np.ndarray) -> None:
        width = sum(width for _, width in self.parts)
        if output_shape != (width,):
            raise DataError(f"the losses take {width} outputs; the network gives {output_shape}")


LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (SquaredLoss, AbsoluteLoss, CrossEntropy, BinaryCrossEntropy, PoissonLoss)
}


def loss_of(loss: Any) -> Loss:
    """A loss, or that of a name.

    Parameters
    ----------
    loss : Loss or str
        "squared_error", "absolute_error", "log_loss", "binary_log_loss" or "poisson".

    Returns
    -------
    loss : Loss
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise DataError(f"there is no loss {loss!r}; choose one of {', '.join(LOSSES)}")
    return LOSSES[loss]()
