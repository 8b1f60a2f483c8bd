"""What `minimize` gives back: the least value, where it is, and the trace of each method."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.optimize import OptimizeResult

from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.minimize.function import Problem
from gnomon.workbench.minimize.options import MinimizeOptions


@dataclass(repr=False)
class Minimum(JobResult):
    """The least value found by one or several methods.

    Attributes
    ----------
    problem : Problem
    results : dict of str to OptimizeResult
        Of each method.
    settings : MinimizeOptions
    run : Run
    seconds : float
    """

    problem: Problem
    results: dict[str, OptimizeResult]
    settings: MinimizeOptions
    run: Run
    seconds: float = 0.0

    @property
    def best(self) -> OptimizeResult:
        """The result of the method with the least value."""
        return min(self.results.values(), key=lambda each: each.fun)

    @property
    def x(self) -> Any:
        """Where the least value is."""
        return self.best.x

    @property
    def fun(self) -> float:
        """The least value."""
        return float(self.best.fun)

    def summary(self) -> dict[str, Any]:
        """What was found, as plain data."""
        space = self.best.history.space
        return as_json(
            {
                "fun": self.fun,
                "x": dict(zip(self.problem.labels, space.values(self.x), strict=True)),
                "method": self.best.method,
                "methods": {
                    name: {
                        "fun": float(each.fun),
                        "evaluations": each.nfev,
                        "message": each.message,
                        "changes": len(each.history.changes),
                        "failures": len(each.history.failures),
                    }
                    for name, each in self.results.items()
                },
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write every evaluation, and what the methods changed about themselves."""
        with (folder / "evaluations.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["method", "evaluation", "value", "point"])
            for name, each in self.results.items():
                trace = each.history
                for number, value in enumerate(trace.values):
                    point = trace.space.plain(trace.points[number])
                    writer.writerow([name, number + 1, value, point])
        with (folder / "changes.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["method", "evaluation", "what", "before", "after", "why"])
            for name, each in self.results.items():
                for change in each.history.changes:
                    writer.writerow([name, *vars(change).values()])

    @property
    def same_if(self) -> str:
        """Whether a repetition finds the same least value, as an expression."""
        return f"result.fun == {self.fun!r}"

    def __str__(self) -> str:
        lines = [f"least value of {self.problem.name}: {self.fun:.8g}"]
        found = self.summary()["x"]
        lines += [f"   {name} = {shown(value)}" for name, value in found.items()]
        for name, each in sorted(self.results.items(), key=lambda item: item[1].fun):
            trace = each.history
            lines.append(
                f"{name}: {each.fun:.6g} in {each.nfev:,} evaluations; {each.message}; it changed "
                f"itself {len(trace.changes):,} times"
            )
            if trace.failures:
                number, why = trace.failures[0]
                lines.append(
                    f"   {len(trace.failures):,} evaluations failed and were skipped, the first "
                    f"in evaluation {number + 1}: {why}"
                )
        return "\n".join(lines)


def shown(value: Any) -> str:
    """A value of the point, numbers to eight digits."""
    return f"{value:.8g}" if isinstance(value, float) else str(value)
