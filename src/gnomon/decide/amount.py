"""Amounts of a utility tree that are not known yet: unknowns, and arithmetic of them.

``x = Unknown("x")`` stands for a number that is given when the tree is solved; ``0.5 * x - 0.25``
is an amount made of it. The tree is then solved for given values, for an array of values, or for
the value at which the best decision changes.

Texts: 003 3.3.2 (thresholds of m(c) and of x).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError

Values = Mapping[str, Any]


class Amount:
    """A number that depends on unknowns; made by arithmetic with `Unknown`.

    Parameters
    ----------
    names : frozenset of str
        The unknowns that it depends on.
    text : str
        The formula, as printed.
    function : callable
        From a mapping of values to the number.

    Examples
    --------
    >>> from gnomon.decide import Unknown
    >>> profit = 2 * Unknown("x") - 1
    >>> profit
    2 * x - 1
    >>> profit.at({"x": 3})
    5.0
    """

    __array_ufunc__ = None  # so that numpy's numbers leave the arithmetic to this class

    def __init__(self, names: frozenset[str], text: str, function: Callable[[Values], Any]):
        self.names = names
        self.text = text
        self._function = function

    def at(self, values: Values) -> Any:
        """The number for given values of the unknowns.

        Parameters
        ----------
        values : mapping of str to float or ndarray

        Returns
        -------
        number : float or ndarray
        """
        missing = sorted(self.names - set(values))
        if missing:
            raise DataError(
                f"{self.text!r} depends on {', '.join(missing)}: give a value, for example "
                f"solve({missing[0]}=0.5), or ask for thresholds({missing[0]!r}, 0, 1)"
            )
        number = np.asarray(self._function(values), dtype=np.float64)
        return float(number) if number.ndim == 0 else number

    def __repr__(self) -> str:
        return self.text

    def _with(self, other: Any, sign: str, turned: bool = False) -> Amount:
        function = OPERATIONS[sign]
        mine, theirs = self, as_amount(other)
        first, second = (theirs, mine) if turned else (mine, theirs)
        text = f"{bracketed(first, sign)} {sign} {bracketed(second, sign, right=True)}"
        return Amount(
            first.names | second.names,
            text,
            lambda values: function(first._function(values), second._function(values)),
        )

    def __add__(self, other: Any) -> Amount:
        return self._with(other, "+")

    def __radd__(self, other: Any) -> Amount:
        return self._with(other, "+", turned=True)

    def __sub__(self, other: Any) -> Amount:
        return self._with(other, "-")

    def __rsub__(self, other: Any) -> Amount:
        return self._with(other, "-", turned=True)

    def __mul__(self, other: Any) -> Amount:
        return self._with(other, "*")

    def __rmul__(self, other: Any) -> Amount:
        return self._with(other, "*", turned=True)

    def __truediv__(self, other: Any) -> Amount:
        return self._with(other, "/")

    def __rtruediv__(self, other: Any) -> Amount:
        return self._with(other, "/", turned=True)

    def __neg__(self) -> Amount:
        return self._with(-1, "*", turned=True)


class Unknown(Amount):
    """A number that is not known yet.

    Parameters
    ----------
    name : str
        A name as of a Python variable.

    Examples
    --------
    >>> from gnomon.decide import Unknown
    >>> 1 - Unknown("p")
    1 - p
    """

    def __init__(self, name: str):
        if not name.isidentifier():
            raise DataError(f"an unknown is named like a Python variable, not {name!r}")
        super().__init__(frozenset({name}), name, lambda values: values[name])


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def bracketed(amount: Amount, sign: str, *, right: bool = False) -> str:
    """The formula of one side of an operation, in brackets where it needs them."""
    is_sum = " + " in amount.text or " - " in amount.text
    is_product = " * " in amount.text or " / " in amount.text
    needed = (is_sum and (sign in "*/" or (right and sign == "-"))) or (
        is_product and right and sign == "/"
    )
    return f"({amount.text})" if needed else amount.text


def as_amount(value: Any) -> Amount:
    """A number as an amount that depends on nothing."""
    if isinstance(value, Amount):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(f"an amount is a number or is made of Unknown, not {value!r}") from None
    if not np.isfinite(number):
        raise DataError(f"an amount must be finite, not {number}")
    return Amount(frozenset(), f"{number:g}", lambda values: number)
