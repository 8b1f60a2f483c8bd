"""What a duel is: two ways to do the same work, and the check that both reached the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DUELS: list[Duel] = []


@dataclass(frozen=True)
class Duel:
    """One head-to-head.

    Attributes
    ----------
    name : str
        What is done, with the columns and settings that matter.
    peer : str
        Whom we meet.
    data : callable
        ``data(n_rows)`` makes the data; the same on both sides.
    ours, theirs : callable
        ``ours(data)`` does the work that is timed and returns its result.
    quality : callable
        ``quality(result, data)`` is the figure that must agree on both sides.
    tolerance : float
        How far our figure may be worse than theirs, as a share of theirs.
    higher_is_better : bool
        In which direction "worse" lies.
    sizes : tuple of int
        Rows.
    bar : float
        The least time ratio (theirs / ours) that we want at 10^5 rows and more.
    repeats : int
        Timed runs of each side, in turns.
    missing : callable
        ``missing()`` says why the duel cannot be held here; nothing where it can.
    """

    name: str
    peer: str
    data: Callable[[int], Any]
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    quality: Callable[[Any, Any], float]
    tolerance: float = 1e-6
    higher_is_better: bool = True
    sizes: tuple[int, ...] = (10**4, 10**5, 10**6)
    bar: float = 1.0
    repeats: int = 5
    missing: Callable[[], str] = str

    def __post_init__(self):
        DUELS.append(self)

    def reached(self, ours: float, theirs: float) -> bool:
        """Whether our quality is as good as theirs within the tolerance."""
        gap = theirs - ours if self.higher_is_better else ours - theirs
        return gap <= self.tolerance * max(abs(theirs), 1e-12)
