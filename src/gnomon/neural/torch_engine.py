"""The torch engine: the same description and the same steps, computed by torch.

`TorchTrainer` takes the place of `gnomon.neural.Trainer`: forward and backward pass are torch's (on
a processor or a GPU), while batches, draws, penalties and update rules are the same. So a run of
either engine from the same first parameters takes the same steps up to rounding. Only this module
imports torch (the extra ``deep``), and nothing imports it before it is asked for.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.engine.threads import Crew
from gnomon.neural.activations import LARGEST_EXPONENT, LEAK
from gnomon.neural.batches import generator, shard_bounds
from gnomon.neural.convolution import Windows, pair
from gnomon.neural.layers import Layer, dropped
from gnomon.neural.losses import CrossEntropy, MixedLoss
from gnomon.neural.network import INPUT, Network, Parameters
from gnomon.neural.pooling import bilinear_matrix
from gnomon.neural.trainer import Trainer

Tensor = Any


class Missing:
    """In the place of torch where it is not installed: whatever is called says so."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def needs_torch(*arguments: Any, **options: Any) -> Any:
            raise DataError(
                "the torch engine needs torch, which is not installed: pip install 'gnomon[deep]'"
            )

        return needs_torch


torch: Any = Missing()
F: Any = torch
with contextlib.suppress(ImportError):
    torch = importlib.import_module("torch")
    F = importlib.import_module("torch.nn.functional")

ACTIVATED: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda z: z,
    "linear": lambda z: z,
    "logistic": torch.sigmoid,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "leaky_relu": lambda z: F.leaky_relu(z, LEAK),
    "absolute": torch.abs,
    "elu": F.elu,
    "softplus": lambda z: torch.logaddexp(z, torch.zeros((), dtype=z.dtype, device=z.device)),
    "algebraic": lambda z: z / torch.sqrt(1 + z**2),
    "arctan": torch.arctan,
    "sine": torch.sin,
    "exponential": lambda z: torch.exp(torch.clamp(z, max=LARGEST_EXPONENT)),
    "softmax": lambda z: torch.softmax(z, dim=-1),
}


# Layers that draw one set of factors for all rows of a shard; the shards of networks with them
# are computed one after another, those of all others as one batch.
DRAWS_PER_SHARD = frozenset({"DropConnect"})


class TorchRun:
    """A forward pass in torch: whether it trains, its draws, and what layers leave for others.

    Parameters
    ----------
    training : bool
    shards : list of (int, Generator)
        Numbers of rows, and the generator that draws for them; none outside training.
    weights : Tensor or None
    """

    def __init__(
        self,
        training: bool,
        shards: Sequence[tuple[int, np.random.Generator]],
        weights: Tensor | None,
    ):
        self.training, self.shards, self.weights = training, shards, weights
        self.switches: dict[str, Any] = {}

    def factors(self, layer: Layer, shape: Any, rate: float, like: Tensor) -> Tensor:
        """Factors of dropout, drawn as the other engine draws them."""
        if not self.shards:
            raise DataError(f"{layer.kind} draws at random in training: give rng")
        if layer.kind in DRAWS_PER_SHARD:
            ((_, rng),) = self.shards
            drawn = dropped(tuple(shape), rate, rng, np.float64)
        else:
            parts = [dropped((n, *shape[1:]), rate, rng, np.float64) for n, rng in self.shards]
            drawn = np.concatenate(parts)
        return torch.as_tensor(drawn, dtype=like.dtype, device=like.device)


def _first(x: Tensor) -> Tensor:
    return x.permute(0, 3, 1, 2)


def _last(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1)


def _padded(x: Tensor, where: Windows, fill: float = 0.0) -> Tensor:
    """Channels first, with cells added around."""
    top, bottom, left, right = where.pad
    return F.pad(_first(x), (left, right, top, bottom), value=fill) if any(where.pad) else _first(x)


def _dense(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    z = x @ p["weight"]
    return ACTIVATED[layer.activation](z + p["bias"] if layer.bias else z)


def _maxout(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    z = x @ p["weight"] + p["bias"]
    return z.reshape(len(x), layer.units, layer.pieces).max(dim=2).values


def _dropout(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    if not run.training or layer.rate == 0:
        return x
    return x * run.factors(layer, x.shape, layer.rate, x)


def _dropconnect(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    weight = p["weight"]
    if run.training and layer.rate:
        weight = weight * run.factors(layer, weight.shape, layer.rate, x)
    return ACTIVATED[layer.activation](x @ weight + p["bias"])


def _conv(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    where = layer._windows(tuple(x.shape[1:]))
    z = F.conv2d(
        _padded(x, where),
        p["weight"].permute(3, 2, 0, 1),
        p["bias"] if layer.bias else None,
        where.stride,
        0,
        where.dilation,
        layer.groups,
    )
    return ACTIVATED[layer.activation](_last(z))


def _conv_transpose(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    z = F.conv_transpose2d(
        _first(x),
        p["weight"].permute(3, 2, 0, 1),
        p["bias"] if layer.bias else None,
        pair(layer.stride),
        pair(layer.padding),
        pair(layer.output_padding),
    )
    return ACTIVATED[layer.activation](_last(z))


def _max_pool(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    where = layer._windows(tuple(x.shape[1:]))
    whole = _padded(x, where, -torch.inf)
    found, places = F.max_pool2d(whole, where.kernel, where.stride, return_indices=True)
    if layer.name is not None:
        run.switches[layer.name] = places, where
    return _last(found)


def _mean_pool(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    where = layer._windows(tuple(x.shape[1:]))
    ones = torch.ones((1, *x.shape[1:3], 1), dtype=x.dtype, device=x.device)
    sums = [
        F.avg_pool2d(_padded(each, where), where.kernel, where.stride, divisor_override=1)
        for each in (x, ones)
    ]
    return _last(sums[0] / sums[1])


def _max_unpool(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    places, where = run.switches[layer.of]
    height, width = where.padded
    found = F.max_unpool2d(
        _first(x), places, where.kernel, where.stride, (0, 0), output_size=(height, width)
    )
    top, _, left, _ = where.pad
    return _last(found[:, :, top : top + where.height, left : left + where.width])


def _mean_unpool(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    height, width = pair(layer.size)
    return x.repeat_interleave(height, dim=1).repeat_interleave(width, dim=2)


def _upsample(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    height, width = pair(layer.size)
    down = torch.as_tensor(bilinear_matrix(x.shape[1], height), dtype=x.dtype, device=x.device)
    across = torch.as_tensor(bilinear_matrix(x.shape[2], width), dtype=x.dtype, device=x.device)
    return torch.einsum("rh,nhwc,sw->nrsc", down, x, across)


def _batch_norm(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    flat = x.reshape(-1, x.shape[-1])
    mean, variance = p["mean"].detach(), p["variance"].detach()
    if run.training:
        cells = flat.shape[0] // x.shape[0]
        weights = run.weights
        if weights is None:
            weights = torch.ones(x.shape[0], dtype=x.dtype, device=x.device)
        shares = (weights / (weights.sum() * cells)).repeat_interleave(cells)
        batch_mean = shares @ flat
        batch_variance = shares @ (flat - batch_mean) ** 2
        n = float(1 / (shares @ shares))
        s["mean"][:] = batch_mean.detach().cpu().numpy()
        s["variance"][:] = (batch_variance.detach() * (n / max(n - 1, 1))).cpu().numpy()
        if layer.statistics == "batch":
            mean, variance = batch_mean, batch_variance
    unit = (flat - mean) / torch.sqrt(variance + layer.epsilon)
    return (unit * p["gain"] + p["shift"]).reshape(x.shape)


def _group_norm(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    parts = x.reshape(len(x), -1, layer.groups, x.shape[-1] // layer.groups)
    axes = (1, 3) if layer.over == "row" else (0, 1, 3)
    mean = parts.mean(dim=axes, keepdim=True)
    variance = ((parts - mean) ** 2).mean(dim=axes, keepdim=True)
    unit = (parts - mean) / torch.sqrt(variance + layer.epsilon)
    return unit.reshape(x.shape) * p["gain"] + p["shift"]


def _local_response(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    before = layer.size // 2
    wide = F.pad(x**2, (before, layer.size - 1 - before))
    base = layer.k + layer.alpha / layer.size * wide.unfold(-1, layer.size, 1).sum(dim=-1)
    return x * base**-layer.beta


def _prelu(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    return torch.clamp(x, min=0) + p["slope"] * torch.clamp(x, max=0)


def _add(layer: Any, p: Any, s: Any, x: list[Tensor], run: TorchRun) -> Tensor:
    total = x[0]
    for each in x[1:]:
        total = total + each
    return ACTIVATED[layer.activation](total)


def _chain(layers: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    for place, each in enumerate(layers):
        x = run_layer(each, p.get(str(place), {}), s.get(str(place), {}), x, run)
    return x


def _residual(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    out = _chain(layer.layers, p.get("inner", {}), s.get("inner", {}), x, run)
    projection = layer.projection(tuple(x.shape[1:]))
    shortcut = x
    if projection is not None:
        shortcut = run_layer(projection, p["projection"], {}, x, run)
    return ACTIVATED[layer.activation](out + shortcut)


def _parallel(layer: Any, p: Any, s: Any, x: Tensor, run: TorchRun) -> Tensor:
    parts = [
        run_layer(each, p.get(str(i), {}), s.get(str(i), {}), x, run)
        for i, each in enumerate(layer.layers)
    ]
    return torch.cat(parts, dim=-1)


RUNS: dict[str, Callable[[Any, Any, Any, Any, TorchRun], Tensor]] = {
    "Dense": _dense,
    "Maxout": _maxout,
    "Dropout": _dropout,
    "DropConnect": _dropconnect,
    "Activation": lambda layer, p, s, x, run: ACTIVATED[layer.function](x),
    "PReLU": _prelu,
    "Flatten": lambda layer, p, s, x, run: x.reshape(len(x), -1),
    "Reshape": lambda layer, p, s, x, run: x.reshape(len(x), *layer.shape),
    "Add": _add,
    "Stack": lambda layer, p, s, x, run: torch.cat(x, dim=-1),
    "Conv2D": _conv,
    "ConvTranspose2D": _conv_transpose,
    "MaxPool2D": _max_pool,
    "MeanPool2D": _mean_pool,
    "MaxUnpool2D": _max_unpool,
    "MeanUnpool2D": _mean_unpool,
    "Upsample2D": _upsample,
    "BatchNorm": _batch_norm,
    "GroupNorm": _group_norm,
    "LocalResponseNorm": _local_response,
    "Sequential": lambda layer, p, s, x, run: _chain(layer.layers, p, s, x, run),
    "Residual": _residual,
    "Parallel": _parallel,
}


def run_layer(layer: Layer, p: Any, s: Any, x: Any, run: TorchRun) -> Tensor:
    """The output of a layer in torch; an error for a layer that this engine lacks."""
    if layer.kind not in RUNS:
        raise DataError(f"the torch engine has no layer {layer.kind}; use the own engine")
    return RUNS[layer.kind](layer, p, s, x, run)


def _draws_per_shard(layer: Any) -> bool:
    inside = layer.inside() if hasattr(layer, "inside") else ()
    return layer.kind in DRAWS_PER_SHARD or any(_draws_per_shard(each) for each in inside)


def torch_loss(loss: Any, output: Tensor, target: Tensor) -> Tensor:
    """The loss of each row in torch."""
    if isinstance(loss, MixedLoss):
        total = torch.zeros(len(output), dtype=output.dtype, device=output.device)
        target = target.reshape(len(output), -1)
        for part, outputs, columns in loss._columns():
            mine = target[:, columns]
            if isinstance(part, CrossEntropy):
                mine = mine[:, 0].long()
            total = total + torch_loss(part, output[:, outputs], mine)
        return total
    if loss.name == "log_loss":
        return F.cross_entropy(output, target, reduction="none")
    target = target.reshape(output.shape)
    per_output = {
        "squared_error": lambda: 0.5 * (output - target) ** 2,
        "absolute_error": lambda: (output - target).abs(),
        "binary_log_loss": lambda: F.softplus(output) - target * output,
        "poisson": lambda: ACTIVATED["exponential"](output) - target * output,
    }
    if loss.name not in per_output:
        raise DataError(f"the torch engine has no loss {loss.name!r}; use the own engine")
    return per_output[loss.name]().reshape(len(output), -1).sum(dim=1)


class TorchTrainer(Trainer):
    """A trainer whose forward and backward passes are torch's.

    Parameters
    ----------
    *given, **options
        Those of `gnomon.neural.Trainer`.
    device : str, default="cpu"
        "cuda" computes on a GPU.
    """

    def __init__(self, *given: Any, device: str = "cpu", **options: Any):
        super().__init__(*given, **options)
        self.device = device
        self._seen = self.parameters.zeros()
        self._slope = self.parameters.zeros()
        self._together = not any(_draws_per_shard(node.layer) for node in self.network.nodes)

    def gradient(
        self, x: Any, y: Any, weights: np.ndarray | None, crew: Crew, place: tuple[int, ...] = (0,)
    ) -> tuple[float, np.ndarray]:
        """Loss and gradient of the mean over a batch, without the penalty; as `Trainer` has it."""
        n = x.shape[0]
        total = float(n) if weights is None else float(weights.sum())
        bounds = shard_bounds(n, self.network.multiplications, self.network.across_rows)
        shards = [
            (start, stop, generator(self.random_state, *place, number))
            for number, (start, stop) in enumerate(bounds)
        ]
        leaves = parameter_tensors(self.parameters, self.device)
        for leaf in leaves:
            leaf.requires_grad_()
        views = torch_views(self.network, leaves)
        target, summed = torch.from_numpy(np.ascontiguousarray(y)).to(self.device), 0.0
        for several in [shards] if self._together else [[each] for each in shards]:
            start, stop = several[0][0], several[-1][1]
            part = x[start:stop].toarray() if sp.issparse(x) else x[start:stop]
            mine = None
            if weights is not None:
                mine = torch.from_numpy(weights[start:stop]).to(self.device)
            run = TorchRun(True, [(end - begin, rng) for begin, end, rng in several], mine)
            output = self.run(views, self._as_tensor(part), run)
            losses = torch_loss(self.loss, output, target[start:stop])
            value = (losses if mine is None else losses * mine).sum() / total
            value.backward()
            summed += float(value.detach())
        gradient = self._slope.flat
        for (_, _, first, last), leaf in zip(self.network.places, leaves):
            gradient[first:last] = 0 if leaf.grad is None else leaf.grad.reshape(-1).cpu().numpy()
        for each in self._statistics:
            gradient[each.start : each.stop] = self._seen.flat[each.start : each.stop]
        return summed, gradient

    def _as_tensor(self, rows: np.ndarray) -> Tensor:
        rows = self.network.rows(rows, self.parameters.flat.dtype)
        return torch.from_numpy(np.ascontiguousarray(rows)).to(self.device)

    def run(self, views: Any, x: Tensor, run: TorchRun) -> Tensor:
        """The output of the network for a tensor of rows."""
        return forward(self.network, views, self._seen.views, x, run)


def forward(network: Network, views: Any, seen: Any, x: Tensor, run: TorchRun) -> Tensor:
    """The output of a network in torch, node by node."""
    values = {INPUT: x}
    for node in network.nodes:
        given: Any = [values[name] for name in node.inputs]
        given = given[0] if node.layer.n_inputs == 1 else given
        own, mine = views.get(node.name, {}), seen.get(node.name, {})
        values[node.name] = run_layer(node.layer, own, mine, given, run)
    return values[network.nodes[-1].name]


def parameter_tensors(parameters: Parameters, device: str) -> list[Tensor]:
    """A tensor of each parameter, on a processor without a copy.

    They are not slices of one tensor, since the gradient of each slice would be as long as all
    parameters together.
    """
    return [
        torch.from_numpy(parameters.flat[start:stop].reshape(parameter.shape)).to(device)
        for _, parameter, start, stop in parameters.places
    ]


def torch_views(network: Network, tensors: Sequence[Tensor]) -> dict[str, Any]:
    """Tensors of parameters by node and name, as `Parameters` has them."""
    found: dict[str, Any] = {}
    for place, tensor in zip(network.places, tensors):
        inner = found
        for key in place.path[:-1]:
            inner = inner.setdefault(key, {})
        inner[place.path[-1]] = tensor
    return found


def torch_predict(
    network: Network, parameters: Parameters, X: Any, device: str = "cpu"
) -> np.ndarray:
    """The output of a network for some rows, computed by torch.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    X : array-like of shape (n_samples, ...)
    device : str, default="cpu"

    Returns
    -------
    output : ndarray of shape (n_samples, *output_shape)
    """
    rows = np.ascontiguousarray(network.rows(X, parameters.flat.dtype))
    with torch.no_grad():
        tensors = parameter_tensors(parameters, device)
        x = torch.from_numpy(rows).to(device)
        run = TorchRun(False, (), None)
        return forward(network, torch_views(network, tensors), {}, x, run).cpu().numpy()
