"""Normalisation layers: by the batch, by groups of channels, by neighbouring channels.

Batch normalisation takes off the mean of each channel over the batch and divides by its standard
deviation, then scales and shifts: g (x - m) / sqrt(v + eps) + b. Prediction uses running means of m
and v. The text's form uses the statistics of earlier batches in training too, as constants
(``statistics="lagged"``). Group normalisation does the same within each row (or, as the text writes
it, over the batch) for groups of channels.

Texts: 000c 17.2.4 (batch), 19.2 (group), 18.1.3 (local response).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural.layers import (
    Layer,
    Parameter,
    Run,
    Shape,
    Views,
    layer,
    require_positive,
)


@layer
class BatchNorm(Layer):
    """Batch normalisation of each column or channel.

    Parameters
    ----------
    epsilon : float, default=1e-5
        Added to the variance.
    rate : float, default=0.1
        How far the running mean and variance move to those of a batch.
    statistics : {"batch", "lagged"}, default="batch"
        What training normalises by: the batch itself, or the running values as constants, which is
        the text's form.
    name : str, default=None
    """

    epsilon: float = 1e-5
    rate: float = 0.1
    statistics: str = "batch"
    name: str | None = None
    across_rows: ClassVar[bool] = True

    def output_shape(self, shape: Any) -> Shape:
        if self.statistics not in ("batch", "lagged"):
            raise DataError(
                f"BatchNorm: statistics is 'batch' or 'lagged', not {self.statistics!r}"
            )
        return shape

    def parameters(self, shape: Any) -> dict[str, Any]:
        channels = (shape[-1],)
        return {
            "gain": Parameter(channels, "gain"),
            "shift": Parameter(channels, "bias"),
            "mean": Parameter(channels, "statistic", start=0.0, rate=self.rate),
            "variance": Parameter(channels, "statistic", start=1.0, rate=self.rate),
        }

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        flat = x.reshape(-1, x.shape[-1])
        shares = _shares(x, run.weights)
        mean, variance = p["mean"], p["variance"]
        seen = None
        if run.training:
            batch_mean = shares @ flat
            batch_variance = shares @ (flat - batch_mean) ** 2
            n = 1 / (shares @ shares)  # as many rows of equal weight
            seen = batch_mean, batch_variance * (n / max(n - 1, 1))
            if self.statistics == "batch":
                mean, variance = batch_mean, batch_variance
        scale = 1 / np.sqrt(variance + self.epsilon)
        unit = (flat - mean) * scale
        fixed = not run.training or self.statistics == "lagged"
        kept = unit, scale, None if fixed else shares, seen
        return (unit * p["gain"] + p["shift"]).reshape(x.shape), kept

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        unit, scale, shares, seen = kept
        flat = gradient.reshape(unit.shape)
        (flat * unit).sum(axis=0, out=slopes["gain"])
        flat.sum(axis=0, out=slopes["shift"])
        if seen is not None:
            slopes["mean"][:], slopes["variance"][:] = seen
        flat = flat * p["gain"]
        if shares is not None:
            along = (flat * unit).sum(axis=0)
            flat = flat - shares[:, None] * (flat.sum(axis=0) + unit * along)
        return (flat * scale).reshape(gradient.shape)


def _shares(x: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """What each row of channels counts in a mean over the batch; they sum to one."""
    cells = x[0, ..., 0].size
    if weights is None:
        return np.full(len(x) * cells, 1 / (len(x) * cells), dtype=x.dtype)
    return np.repeat(weights / (weights.sum() * cells), cells).astype(x.dtype)


@layer
class GroupNorm(Layer):
    """Normalisation of groups of channels, within each row.

    Parameters
    ----------
    groups : int
        Must divide the number of channels; 1 is layer normalisation.
    epsilon : float, default=1e-5
    over : {"row", "batch"}, default="row"
        Mean and variance over the cells and channels of a group in each row, or in the whole batch
        (the text's form).
    name : str, default=None
    """

    groups: int
    epsilon: float = 1e-5
    over: str = "row"
    name: str | None = None

    @property
    def across_rows(self) -> bool:  # type: ignore[override]
        return self.over == "batch"

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, groups=self.groups)
        if self.over not in ("row", "batch"):
            raise DataError(f"GroupNorm: over is 'row' or 'batch', not {self.over!r}")
        if shape[-1] % self.groups:
            raise self.refuse(shape, f"channels divisible by {self.groups} groups")
        return shape

    def parameters(self, shape: Any) -> dict[str, Any]:
        channels = (shape[-1],)
        return {"gain": Parameter(channels, "gain"), "shift": Parameter(channels, "bias")}

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        parts = x.reshape(len(x), -1, self.groups, x.shape[-1] // self.groups)
        axes = (1, 3) if self.over == "row" else (0, 1, 3)
        mean = parts.mean(axis=axes, keepdims=True)
        scale = 1 / np.sqrt(((parts - mean) ** 2).mean(axis=axes, keepdims=True) + self.epsilon)
        unit = (parts - mean) * scale
        return unit.reshape(x.shape) * p["gain"] + p["shift"], (unit, scale, axes)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        unit, scale, axes = kept
        rows = tuple(range(gradient.ndim - 1))
        (gradient * unit.reshape(gradient.shape)).sum(axis=rows, out=slopes["gain"])
        gradient.sum(axis=rows, out=slopes["shift"])
        g = (gradient * p["gain"]).reshape(unit.shape)
        level = g.mean(axis=axes, keepdims=True)
        along = (g * unit).mean(axis=axes, keepdims=True)
        return (scale * (g - level - unit * along)).reshape(gradient.shape)


@layer
class LocalResponseNorm(Layer):
    """Each number divided by a power of the squares of neighbouring channels (AlexNet).

    y_k = x_k / (k0 + alpha / size * sum of x^2 over `size` channels around k)^beta.

    Parameters
    ----------
    size : int, default=5
    alpha : float, default=1e-4
    beta : float, default=0.75
    k : float, default=2.0
    name : str, default=None
    """

    size: int = 5
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 2.0
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, size=self.size)
        return shape

    def _around(self, values: np.ndarray, before: int) -> np.ndarray:
        """Sums over `size` channels, from `before` before each."""
        after = self.size - 1 - before
        wide = np.zeros((*values.shape[:-1], values.shape[-1] + self.size - 1), dtype=values.dtype)
        wide[..., before : wide.shape[-1] - after] = values
        return np.lib.stride_tricks.sliding_window_view(wide, self.size, axis=-1).sum(axis=-1)

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        base = self.k + self.alpha / self.size * self._around(x**2, self.size // 2)
        return x * base**-self.beta, (x, base)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        x, base = kept
        inner = gradient * x * base ** (-self.beta - 1)
        after = self.size - 1 - self.size // 2
        summed = self._around(inner, after)
        return gradient * base**-self.beta - 2 * self.beta * self.alpha / self.size * x * summed
