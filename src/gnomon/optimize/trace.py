"""The trace of a search: every evaluation, the best so far, and what the optimizer changed.

A trace is written as lines of JSON while a search runs, so that nothing is lost when it is killed;
`gnomon.optimize.minimize` continues from it.

Texts: 004 1.3 (an optimizer that adjusts itself reports what it changed and why).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize.space import Space

FORMAT = 1  # rises with every change that older versions cannot read


@dataclass(frozen=True)
class Change:
    """What an optimizer changed about itself.

    Attributes
    ----------
    evaluation : int
        Evaluations done before it.
    name : str
        What was changed, such as ``"step"``, ``"temperature"`` or ``"prohibition"``.
    before, after : float or str
    why : str
    """

    evaluation: int
    name: str
    before: Any
    after: Any
    why: str


@dataclass(repr=False)
class Trace(Result):
    """What happened in a search.

    Attributes
    ----------
    method : str
    random_state : int
        The seed of the run.
    space : Space
    points : list
        Every point evaluated, in order.
    values : list of float
    gradients, hessians : dict of int to ndarray
        By the number of the evaluation, where the function gave them.
    changes : list of Change
    path : list of (int, point, float)
        The accepted iterates: evaluations done, place and value.
    failures : list of (int, str)
        Evaluations that raised or gave NaN, where they were skipped.
    resources : dict of int to float
        What an evaluation was allowed to spend, by its number, for methods that vary it.
    seconds : float
    """

    method: str
    random_state: int
    space: Space
    points: list[Any] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    gradients: dict[int, Any] = field(default_factory=dict)
    hessians: dict[int, Any] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    path: list[tuple[int, Any, float]] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)
    resources: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def best(self) -> np.ndarray:
        """The least value so far, after each evaluation; of those with the most resource."""
        return np.minimum.accumulate(self._comparable())

    @property
    def best_index(self) -> int:
        """The number of the evaluation with the least value, of those with the most resource."""
        return int(np.argmin(self._comparable()))

    def _comparable(self) -> np.ndarray:
        values = np.array(self.values, dtype=float)
        if self.resources:
            most = max(self.resources.values())
            for number, resource in self.resources.items():
                if resource < most:
                    values[number] = np.inf
        return values

    def _title(self) -> str:
        least = f", least value {min(self.values):.6g}" if self.values else ""
        return f"{self.method}: {len(self)} evaluations{least}, {len(self.changes)} self-changes"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "evaluation": list(range(1, len(self) + 1)),
            "value": list(self.values),
            "best": self.best.tolist(),
            "point": [str(self.space.plain(each)) for each in self.points],
        }

    def _remarks(self) -> list[str]:
        return [
            f"after {each.evaluation}: {each.name} {_short(each.before)} -> "
            f"{_short(each.after)}: {each.why}"
            for each in self.changes[-5:]
        ]

    def save(self, path: str | Path) -> Path:
        """Write the trace as lines of JSON.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        path : Path
        """
        target = Path(path)
        with target.open("w", encoding="utf-8") as file:
            file.write(self.header())
            for number in range(len(self)):
                file.write(self.line(number))
        return target

    def header(self) -> str:
        """The first line of the file."""
        head = {
            "gnomon_trace": FORMAT,
            "method": self.method,
            "random_state": self.random_state,
            "space": repr(self.space),
        }
        return json.dumps(head) + "\n"

    def line(self, number: int) -> str:
        """One evaluation as a line of JSON."""
        entry: dict[str, Any] = {
            "x": self.space.plain(self.points[number]),
            "fun": self.values[number],
        }
        if number in self.gradients:
            entry["jac"] = np.asarray(self.gradients[number]).tolist()
        if number in self.hessians:
            entry["hess"] = np.asarray(self.hessians[number]).tolist()
        return json.dumps(entry) + "\n"


@dataclass
class Recorded:
    """Evaluations of an earlier run, in order, and the seed that it had."""

    random_state: int
    method: str
    entries: list[dict[str, Any]]


def recorded(given: Trace | str | Path) -> Recorded:
    """The evaluations of a trace or of its file; a half-written last line is left out.

    Parameters
    ----------
    given : Trace, str or Path

    Returns
    -------
    recorded : Recorded
    """
    if isinstance(given, Trace):
        lines = [given.header(), *(given.line(k) for k in range(len(given)))]
    else:
        path = Path(given)
        if not path.exists():
            raise DataError(f"there is no trace at {path}")
        lines = path.read_text(encoding="utf-8").splitlines()
    entries = []
    for number, line in enumerate(lines):
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            if number == len(lines) - 1:
                break
            raise DataError(f"line {number + 1} of the trace is no JSON") from None
    if not entries or "gnomon_trace" not in entries[0]:
        raise DataError("this is no trace: its first line must hold `gnomon_trace`")
    head = entries[0]
    return Recorded(head["random_state"], head["method"], entries[1:])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
