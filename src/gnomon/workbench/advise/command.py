"""The command ``gnomon advise``."""

from __future__ import annotations

from typing import Any

from gnomon.engine.errors import DataError
from gnomon.workbench.advise.options import JOB
from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import say

FUNCTION = Option(
    "function",
    str,
    None,
    "A function as FILE.py:NAME: advise an optimizer for it instead.",
    flag="function",
)
BOUNDS = Option(
    "bounds",
    list[str],
    [],
    "What the function may be given: LOW:HIGH or NAME=LOW:HIGH, as of `minimize`.",
    flag="bound",
)


class AdviseCommand(JobCommand):
    """Say which methods fit a table, and why, by the rules of the texts.

    A run folder is written where --name is given.

    Example: gnomon advise sales.csv --target churn --try

    With --function FILE.py:NAME it says which optimizer fits a function instead.
    """

    job = JOB
    suffix = "advice"
    own = (FUNCTION, BOUNDS)

    def run(self, words: dict[str, Any]) -> None:
        if words[FUNCTION.name] is None:
            super().run(words)
            return
        from gnomon.workbench.minimize.advice import optimizer_advice
        from gnomon.workbench.minimize.function import problem_of

        problem = problem_of(words[FUNCTION.name], words[BOUNDS.name])
        if problem.space is None:
            raise DataError(
                "what may the function be given? Say it with --bound LOW:HIGH for each argument, "
                "or in the file: a variable `space` with Real, Integer, Categorical ... of "
                "gnomon.optimize, or pairs (low, high)"
            )
        advice = optimizer_advice(
            problem.function, problem.space, gradient=problem.gradient is not None
        )
        say(str(advice))
