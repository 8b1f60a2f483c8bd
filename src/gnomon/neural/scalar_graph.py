"""Back-propagation on a graph of numbers, readable in one sitting.

Every `Scalar` knows the numbers that it was computed from and its derivative with respect to each.
The gradient of the last one is found by walking the graph backwards once:

    grad[u_n] = 1;  grad[u_j] = sum over the children i of j of grad[u_i] du_i / du_j

so that the cost is proportional to the number of edges, and not of paths.

Texts: 001 9.5.4 (algorithms 6.1 and 6.2).
"""

from __future__ import annotations

import math


class Scalar:
    """A number in a graph.

    Parameters
    ----------
    value : float
    parents : list of (Scalar, float), default=()
        The numbers that it is computed from, each with the derivative with respect to it.

    Attributes
    ----------
    gradient : float
        The derivative of the number whose ``backward`` was called with respect to this one.

    Examples
    --------
    >>> x, y = Scalar(3.0), Scalar(2.0)
    >>> z = x * y + x.tanh() * x
    >>> _ = z.backward()
    >>> y.gradient
    3.0
    """

    def __init__(self, value: float, parents: list[tuple[Scalar, float]] | None = None):
        self.value = float(value)
        self.parents = parents or []
        self.gradient = 0.0

    def __repr__(self) -> str:
        return f"Scalar({self.value:.6g}, gradient={self.gradient:.6g})"

    def __add__(self, other: Scalar | float) -> Scalar:
        other = _scalar(other)
        return Scalar(self.value + other.value, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: Scalar | float) -> Scalar:
        other = _scalar(other)
        return Scalar(self.value * other.value, [(self, other.value), (other, self.value)])

    def __pow__(self, power: float) -> Scalar:
        return Scalar(self.value**power, [(self, power * self.value ** (power - 1))])

    def __neg__(self) -> Scalar:
        return self * -1.0

    def __sub__(self, other: Scalar | float) -> Scalar:
        return self + -_scalar(other)

    def __truediv__(self, other: Scalar | float) -> Scalar:
        return self * _scalar(other) ** -1.0

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: float) -> Scalar:
        return _scalar(other) - self

    def exp(self) -> Scalar:
        """The exponential."""
        value = math.exp(self.value)
        return Scalar(value, [(self, value)])

    def log(self) -> Scalar:
        """The natural logarithm."""
        return Scalar(math.log(self.value), [(self, 1 / self.value)])

    def tanh(self) -> Scalar:
        """The hyperbolic tangent."""
        value = math.tanh(self.value)
        return Scalar(value, [(self, 1 - value**2)])

    def logistic(self) -> Scalar:
        """The logistic function."""
        return (0.5 * self).tanh() * 0.5 + 0.5

    def relu(self) -> Scalar:
        """The number, or 0 where it is negative."""
        return Scalar(max(self.value, 0.0), [(self, float(self.value > 0))])

    def backward(self) -> int:
        """Set the gradient of every number that this one depends on.

        Returns
        -------
        n_edges : int
            Edges that were passed, each once.
        """
        order = _ordered(self)
        for each in order:
            each.gradient = 0.0
        self.gradient = 1.0
        n_edges = 0
        for child in reversed(order):
            for parent, derivative in child.parents:
                parent.gradient += child.gradient * derivative
                n_edges += 1
        return n_edges


def _scalar(value: Scalar | float) -> Scalar:
    return value if isinstance(value, Scalar) else Scalar(value)


def _ordered(last: Scalar) -> list[Scalar]:
    """All numbers that the last one depends on, each after those it was computed from."""
    order: list[Scalar] = []
    done: set[int] = set()
    waiting: list[tuple[Scalar, bool]] = [(last, False)]
    while waiting:
        node, parents_done = waiting.pop()
        if parents_done:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            waiting.append((node, True))
            waiting.extend((parent, False) for parent, _ in node.parents)
    return order
