"""Bounds: how far an error on a sample can be from the true one, and how many rows that takes.

Each inequality ties together the number of rows n, the gap epsilon, the risk delta that the gap is
larger, and what is known of the loss or of the family of hypotheses. Give all but one; the missing
one is solved for.

    Chebyshev      delta = variance / (n eps^2)            any loss of finite variance
    Hoeffding      delta = 2 exp(-2 n eps^2 / span^2)      losses in an interval
    finite family  delta = 2 M exp(-2 n eps^2)             all M hypotheses at once

They hold for every distribution and are therefore loose: a plan and a reassurance, not an
estimate. For families that are not finite see `gnomon.evaluate.vc_bounds`.

Texts: 000a 3.1 and 3.2 · 001 3.5 and 4.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, inf, log, sqrt
from typing import Any

from gnomon.contract.estimate import check_inside_unit
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass(frozen=True, repr=False, eq=False)
class Bound(Result):
    """An inequality with all its quantities, one of which was solved for.

    Attributes
    ----------
    inequality : str
        Its name.
    n : float
        Rows.
    epsilon : float
        Gap between the error on the sample and the true error.
    delta : float
        Probability that the gap is larger.
    solved : str
        Which of them was asked for.
    given : dict of str to float
        The further quantities.
    """

    inequality: str
    n: float
    epsilon: float
    delta: float
    solved: str
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The quantity that was solved for."""
        return getattr(self, self.solved)

    def upper(self, error: float) -> float:
        """The true error is at most this, with probability 1 - delta, when the sample's is known.

        Parameters
        ----------
        error : float
            Mean loss on the sample.

        Returns
        -------
        bound : float
        """
        return error + self.epsilon

    def _title(self) -> str:
        return (
            f"{self.inequality}: with probability {1 - self.delta:.4g} the gap is at most "
            f"{self.epsilon:.4g} for {self.n:,.0f} rows"
        )

    def _columns(self) -> dict[str, list[Any]]:
        given = {name: [value] for name, value in self.given.items()}
        return {"n": [self.n], "epsilon": [self.epsilon], "delta": [self.delta], **given}

    def _remarks(self) -> list[str]:
        if self.delta >= 1 or self.epsilon >= self.given.get("span", inf):
            return ["the bound says nothing here: take more rows"]
        return []

    def __str__(self) -> str:
        return "\n".join([self._title(), *self._remarks()])


def hoeffding(
    *,
    n: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    span: float = 1.0,
    sides: int = 2,
) -> Bound:
    """Hoeffding's inequality: P(|mean - expectation| >= epsilon) <= 2 exp(-2 n eps^2 / span^2).

    Use it for the error rate of one hypothesis that was fixed before the rows were seen, such as a
    held-out error; not for the error on training rows (see `finite_family`, `vc_bound`). 001 prints
    the inequality with the wrong sign in its first form.

    Parameters
    ----------
    n : float, default=None
        Rows. Leave out exactly one of n, epsilon and delta.
    epsilon : float, default=None
        Gap.
    delta : float, default=None
        Probability of a larger gap.
    span : float, default=1.0
        Largest minus smallest possible loss; 1 for the 0-1 loss.
    sides : {1, 2}, default=2
        1 bounds the gap in one direction only, without the factor 2.

    Returns
    -------
    bound : Bound
        Its n is rounded up when solved for.

    Examples
    --------
    >>> print(hoeffding(n=1000, delta=0.05))
    Hoeffding: with probability 0.95 the gap is at most 0.04295 for 1,000 rows
    >>> hoeffding(epsilon=0.05, delta=0.05).n
    738
    """
    return _exponential("Hoeffding", n, epsilon, delta, 1.0, span, sides, {"span": span})


def finite_family(
    hypotheses: float,
    *,
    n: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    span: float = 1.0,
    sides: int = 2,
) -> Bound:
    """Bound for the best of M hypotheses, chosen by its error on the same rows (union bound).

    P(any of M gaps >= epsilon) <= 2 M exp(-2 n eps^2), so that with probability 1 - delta
    E_out <= E_in + sqrt(ln(2 M / delta) / (2 n)). Also for a validation set on which M models were
    compared. 000a 3.2.3 asks for one side only, without the factor 2 (``sides=1``).

    Parameters
    ----------
    hypotheses : float
        How many, M.
    n : float, default=None
        Rows. Leave out exactly one of n, epsilon and delta.
    epsilon : float, default=None
    delta : float, default=None
    span : float, default=1.0
        Largest minus smallest possible loss.
    sides : {1, 2}, default=2

    Returns
    -------
    bound : Bound

    Examples
    --------
    >>> round(finite_family(100, n=1000, delta=0.05).epsilon, 6)
    0.064397
    >>> finite_family(10, epsilon=0.05, delta=0.05, sides=1).n
    1060
    """
    check_at_least("hypotheses", hypotheses, 1)
    given = {"hypotheses": hypotheses, "span": span}
    return _exponential("Finite family", n, epsilon, delta, hypotheses, span, sides, given)


def largest_family(n: float, epsilon: float, delta: float, sides: int = 2) -> float:
    """How many hypotheses may be compared on n rows before the gap exceeds epsilon.

    M = delta exp(2 n eps^2) / sides.

    Parameters
    ----------
    n : float
    epsilon : float
    delta : float
    sides : {1, 2}, default=2

    Returns
    -------
    hypotheses : float
        Below 1 when even one is too many.

    Examples
    --------
    >>> round(largest_family(1000, 0.05, 0.05), 2)
    3.71
    """
    check_probability(delta)
    check_at_least("n", n, 1)
    return delta / checked_sides(sides) * exp(min(2 * n * epsilon**2, 700.0))


def _exponential(
    name: str,
    n: float | None,
    epsilon: float | None,
    delta: float | None,
    hypotheses: float,
    span: float,
    sides: int,
    given: dict[str, Any],
) -> Bound:
    """Solve delta = sides M exp(-2 n eps^2 / span^2) for what is missing."""
    solved = _missing(n=n, epsilon=epsilon, delta=delta)
    check_at_least("span", span, 0, above=True)
    count = checked_sides(sides) * hypotheses
    if n is not None and epsilon is not None:
        delta = min(count * exp(-2 * n * (epsilon / span) ** 2), 1.0)
    elif n is not None and delta is not None:
        epsilon = span * sqrt(log(count / delta) / (2 * n))
    else:
        assert epsilon is not None
        assert delta is not None
        n = whole_rows(log(count / delta) / 2 * (span / epsilon) ** 2)
    return Bound(name, n, epsilon, delta, solved, given)


def chebyshev(
    variance: float,
    *,
    n: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
) -> Bound:
    """Chebyshev's inequality: P(|mean - expectation| >= epsilon) <= variance / (n eps^2).

    Use it for losses without a largest value but with a known variance; for losses in an interval
    Hoeffding's is far smaller when delta is small. One hypothesis, fixed beforehand.

    Parameters
    ----------
    variance : float
        Variance of the loss; at most span^2 / 4, so 0.25 for the 0-1 loss.
    n : float, default=None
        Rows. Leave out exactly one of n, epsilon and delta.
    epsilon : float, default=None
    delta : float, default=None

    Returns
    -------
    bound : Bound

    Examples
    --------
    >>> round(chebyshev(0.25, n=1000, delta=0.05).epsilon, 6)
    0.070711
    """
    solved = _missing(n=n, epsilon=epsilon, delta=delta)
    check_at_least("variance", variance, 0)
    if n is not None and epsilon is not None:
        delta = min(variance / (n * epsilon**2), 1.0)
    elif n is not None and delta is not None:
        epsilon = sqrt(variance / (delta * n))
    else:
        assert epsilon is not None
        assert delta is not None
        n = whole_rows(variance / (delta * epsilon**2))
    return Bound("Chebyshev", n, epsilon, delta, solved, {"variance": variance})


def _missing(**quantities: float | None) -> str:
    """The one quantity that was left out; the others are checked."""
    missing = [name for name, value in quantities.items() if value is None]
    if len(missing) != 1:
        raise DataError(
            f"give all but one of {', '.join(quantities)}; "
            f"{len(quantities) - len(missing)} were given"
        )
    for name, value in quantities.items():
        if value is None:
            continue
        if name == "delta":
            check_probability(value)
        else:
            check_at_least(name, value, 0, above=True)
    return missing[0]


def checked_sides(sides: int) -> int:
    if sides not in (1, 2):
        raise DataError(f"sides={sides!r} must be 1 or 2")
    return sides


def check_probability(delta: float) -> None:
    check_inside_unit("delta", delta, 0.05)


def check_at_least(name: str, value: float, low: float, above: bool = False) -> None:
    if not (value > low if above else value >= low):
        raise DataError(f"{name}={value} must be {'above' if above else 'at least'} {low}")


def whole_rows(exact: float) -> int:
    """A whole number of rows, not one too many for rounding."""
    return max(ceil(exact - 1e-9), 1)
