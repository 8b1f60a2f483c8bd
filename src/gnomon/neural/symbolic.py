"""Derivatives as expressions: back-propagation that adds nodes to the graph.

`gradient` walks the graph of an expression backwards and builds, for each variable, a new
expression of its derivative. As that is an expression like any other, it can be differentiated
again. Each node's derivative is built once and kept (the table of `build_grad`), and only nodes on
a path from the variable to the result are visited.

Texts: 001 9.5.6-9.5.7 (algorithms 6.5 and 6.6).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gnomon.engine.errors import DataError

OPERATIONS: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "^": lambda a, b: a**b,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
}


class Expression:
    """A node: a variable, a constant, or an operation on other nodes.

    Parameters
    ----------
    operation : str
        "variable", "constant", or one of `OPERATIONS`.
    inputs : tuple of Expression, default=()
    label : str or float, default=""
        The name of a variable or the value of a constant.

    Examples
    --------
    >>> x = variable("x")
    >>> slope = gradient(x**3, x)
    >>> slope.value(x=2.0), gradient(slope, x).value(x=2.0)
    (12.0, 12.0)
    """

    def __init__(
        self, operation: str, inputs: tuple[Expression, ...] = (), label: str | float = ""
    ):
        self.operation, self.inputs, self.label = operation, inputs, label

    def __add__(self, other: Expression | float) -> Expression:
        other = _expression(other)
        if 0.0 in (self.label, other.label) and "constant" in (self.operation, other.operation):
            return other if self.label == 0.0 else self
        return Expression("+", (self, other))

    def __mul__(self, other: Expression | float) -> Expression:
        other = _expression(other)
        for one, rest in ((self, other), (other, self)):
            if one.operation == "constant" and one.label in (0.0, 1.0):
                return one if one.label == 0.0 else rest
        return Expression("*", (self, other))

    def __pow__(self, power: float) -> Expression:
        return Expression("^", (self, _expression(power)))

    def __neg__(self) -> Expression:
        return self * -1.0

    def __sub__(self, other: Expression | float) -> Expression:
        return self + -_expression(other)

    def __truediv__(self, other: Expression | float) -> Expression:
        return self * _expression(other) ** -1.0

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        if not self.inputs:
            return f"{self.label:g}" if isinstance(self.label, float) else self.label
        if len(self.inputs) == 1:
            return f"{self.operation}({self.inputs[0]!r})"
        return f"({self.inputs[0]!r} {self.operation} {self.inputs[1]!r})"

    def value(self, **variables: float) -> float:
        """The number for values of the variables; each node is computed once."""
        known: dict[int, float] = {}
        for node in ordered(self):
            if node.operation == "constant":
                known[id(node)] = float(node.label)
            elif node.operation == "variable":
                if node.label not in variables:
                    raise DataError(f"give a value of the variable {node.label!r}")
                known[id(node)] = variables[str(node.label)]
            else:
                given = [known[id(each)] for each in node.inputs]
                known[id(node)] = OPERATIONS[node.operation](*given)
        return known[id(self)]

    def derivative(self, place: int) -> Expression:
        """The derivative with respect to one of its inputs, as an expression."""
        x = self.inputs[0]
        if self.operation == "+":
            return _expression(1.0)
        if self.operation == "*":
            return self.inputs[1 - place]
        if self.operation == "^":
            power = self.inputs[1].label
            return float(power) * x ** (float(power) - 1)
        return {
            "exp": lambda: self,
            "log": lambda: x**-1.0,
            "tanh": lambda: 1.0 + -(self**2.0),
            "sin": lambda: cos(x),
            "cos": lambda: -sin(x),
        }[self.operation]()


def _expression(value: Expression | float) -> Expression:
    if isinstance(value, Expression):
        return value
    return Expression("constant", label=float(value))


def variable(name: str) -> Expression:
    """A variable of a name."""
    return Expression("variable", label=name)


def exp(x: Expression) -> Expression:
    """The exponential."""
    return Expression("exp", (x,))


def log(x: Expression) -> Expression:
    """The natural logarithm."""
    return Expression("log", (x,))


def tanh(x: Expression) -> Expression:
    """The hyperbolic tangent."""
    return Expression("tanh", (x,))


def sin(x: Expression) -> Expression:
    """The sine."""
    return Expression("sin", (x,))


def cos(x: Expression) -> Expression:
    """The cosine."""
    return Expression("cos", (x,))


def ordered(last: Expression) -> list[Expression]:
    """All nodes of an expression, each after its inputs."""
    order: list[Expression] = []
    done: set[int] = set()
    waiting: list[tuple[Expression, bool]] = [(last, False)]
    while waiting:
        node, inputs_done = waiting.pop()
        if inputs_done:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            waiting.append((node, True))
            waiting.extend((each, False) for each in node.inputs)
    return order


def gradient(of: Expression, by: Expression) -> Expression:
    """The derivative of an expression with respect to a variable, as an expression.

    Parameters
    ----------
    of : Expression
    by : Expression

    Returns
    -------
    slope : Expression
    """
    order = ordered(of)
    depends = {id(by)}
    for node in order:
        if any(id(each) in depends for each in node.inputs):
            depends.add(id(node))
    table: dict[int, Expression] = {id(of): _expression(1.0)}
    for node in reversed(order):
        if id(node) not in depends or id(node) not in table:
            continue
        for place, each in enumerate(node.inputs):
            if id(each) in depends:
                part = table[id(node)] * node.derivative(place)
                table[id(each)] = table[id(each)] + part if id(each) in table else part
    return table[id(by)] if id(by) in depends and id(by) in table else _expression(0.0)
