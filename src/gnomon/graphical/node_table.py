"""Nodes whose parameters stand in a table of constants and of other nodes.

The table of a node has one row for each combination of its categorical parents and one column for
each parameter of its law. A cell is a number, or the name of another (continuous) node whose value
is the parameter: so a mean or a variance can itself be uncertain. The row of values v_1, v_2 ... of
parents with m_1, m_2 ... values is v_1 + m_1 v_2 + m_1 m_2 v_3 + ...

Texts: 003 3.4.2.1 (the m x k table, inverse-gamma nodes for variances).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from scipy.special import gammaln, xlogy

from gnomon.engine.errors import DataError
from gnomon.sample.network import DensityNode

Cell = float | str


@dataclass(frozen=True)
class Law:
    """A law of one number: names of its parameters, log density and draws."""

    parameters: tuple[str, ...]
    log_density: Callable[..., float]
    draw: Callable[..., float]
    whole: bool = False


def _normal(value: float, mean: float, variance: float) -> float:
    if variance <= 0:
        return -np.inf
    return float(-0.5 * (np.log(2 * np.pi * variance) + (value - mean) ** 2 / variance))


def _gamma(value: float, shape: float, rate: float) -> float:
    if value <= 0 or shape <= 0 or rate <= 0:
        return -np.inf
    powers = xlogy(shape - 1, value) + shape * np.log(rate)
    return float(powers - rate * value - gammaln(shape))


def _inverse_gamma(value: float, shape: float, scale: float) -> float:
    if value <= 0 or shape <= 0 or scale <= 0:
        return -np.inf
    powers = shape * np.log(scale) - (shape + 1) * np.log(value)
    return float(powers - scale / value - gammaln(shape))


def _poisson(value: float, rate: float) -> float:
    if value < 0 or value != np.floor(value) or rate <= 0:
        return -np.inf
    return float(xlogy(value, rate) - rate - gammaln(value + 1))


LAWS: dict[str, Law] = {
    "normal": Law(
        ("mean", "variance"), _normal, lambda rng, mean, var: rng.normal(mean, np.sqrt(var))
    ),
    "gamma": Law(("shape", "rate"), _gamma, lambda rng, shape, rate: rng.gamma(shape) / rate),
    "inverse gamma": Law(
        ("shape", "scale"), _inverse_gamma, lambda rng, shape, scale: scale / rng.gamma(shape)
    ),
    "poisson": Law(("rate",), _poisson, lambda rng, rate: rng.poisson(rate), whole=True),
}


def row_index(values: Sequence[int], sizes: Sequence[int]) -> int:
    """The row of a parameter table for values of the categorical parents, in mixed radix.

    Parameters
    ----------
    values : sequence of int
    sizes : sequence of int
        Number of values of each parent; the first parent runs fastest.

    Returns
    -------
    row : int

    Examples
    --------
    >>> row_index([1, 2], [2, 3])
    5
    """
    row, step = 0, 1
    for value, size in zip(values, sizes, strict=True):
        if not 0 <= value < size:
            raise DataError(f"a parent with {size} values cannot have the value {value}")
        row += step * int(value)
        step *= size
    return row


def parameter_node(
    name: str,
    law: str,
    cells: Sequence[Sequence[Cell]],
    categories: Mapping[str, int] | None = None,
    *,
    step: float = 1.0,
) -> DensityNode:
    """A node of a belief network whose parameters are constants or other nodes.

    Use it in `gnomon.sample.Network` beside categorical nodes; chains by Gibbs and Metropolis then
    treat uncertain means and variances as any other node.

    Parameters
    ----------
    name : str
    law : {"normal", "gamma", "inverse gamma", "poisson"}
        With the parameters (mean, variance), (shape, rate), (shape, scale), (rate).
    cells : sequence of sequence of float or str
        One row per combination of the categories' values (`row_index`), one column per
        parameter; a string names a node.
    categories : mapping of str to int, default=None
        The categorical parents, and how many values each has.
    step : float, default=1
        Width of the Metropolis step, adapted in the warm-up.

    Returns
    -------
    node : DensityNode

    Examples
    --------
    >>> from gnomon.sample import CategoricalNode, Network
    >>> net = Network([CategoricalNode("sex", [0.5, 0.5]),
    ...                parameter_node("spread", "inverse gamma", [[3.0, 100.0]]),
    ...                parameter_node("height", "normal", [[165.0, "spread"], [178.0, "spread"]],
    ...                               {"sex": 2})])
    >>> round(net.log_density({"sex": 1, "spread": 50.0, "height": 178.0}), 3)
    -8.094
    """
    if law not in LAWS:
        raise DataError(f"law={law!r} is none of {', '.join(LAWS)}")
    kind = LAWS[law]
    sizes = dict(categories or {})
    rows = [tuple(row) for row in cells]
    if len(rows) != prod(sizes.values()):
        raise DataError(
            f"the table of {name!r} has {len(rows)} rows; its categories have "
            f"{prod(sizes.values())} combinations"
        )
    if any(len(row) != len(kind.parameters) for row in rows):
        raise DataError(f"a {law} node needs the columns {', '.join(kind.parameters)}")
    referred = tuple(dict.fromkeys(cell for row in rows for cell in row if isinstance(cell, str)))
    if name in referred or set(referred) & set(sizes):
        raise DataError(f"a cell of {name!r} refers to the node itself or to a category")
    look_up = _TableLookUp(
        rows, tuple(sizes.values()), {each: i for i, each in enumerate(referred)}
    )
    return DensityNode(
        name,
        lambda value, *given: kind.log_density(value, *look_up(given)),
        lambda rng, *given: kind.draw(rng, *look_up(given)),
        (*sizes, *referred),
        kind.whole,
        step,
    )


@dataclass(frozen=True)
class _TableLookUp:
    """The parameters of a node, given values of its categories and of the nodes in its cells."""

    rows: list[tuple[Cell, ...]]
    sizes: tuple[int, ...]
    place: dict[str, int]

    def __call__(self, given: Sequence[float]) -> list[float]:
        n = len(self.sizes)
        row = self.rows[row_index([int(value) for value in given[:n]], self.sizes)]
        return [
            float(given[n + self.place[cell]]) if isinstance(cell, str) else cell for cell in row
        ]


def plate(nodes: Sequence, n: int) -> list:
    """Repeat nodes n times (a plate): copies refer to copies inside, and share what is outside.

    Parameters
    ----------
    nodes : sequence of CategoricalNode or DensityNode
    n : int

    Returns
    -------
    copies : list of nodes
        Named ``x[0]``, ``x[1]`` ...

    Examples
    --------
    >>> x = parameter_node("x", "normal", [["mean", 1.0]])
    >>> [(node.name, node.parents) for node in plate([x], 2)]
    [('x[0]', ('mean',)), ('x[1]', ('mean',))]
    """
    if n < 1:
        raise DataError(f"a plate has one copy at least, not {n}")
    inside = {node.name for node in nodes}
    return [
        replace(
            node,
            name=f"{node.name}[{i}]",
            parents=tuple(f"{p}[{i}]" if p in inside else p for p in node.parents),
        )
        for i in range(n)
        for node in nodes
    ]
