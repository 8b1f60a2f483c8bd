"""The job `minimize`: the least value of a function in a Python file, by one or several methods.

Every evaluation is written to the run folder at once; a run that was killed goes on from there.
Texts: 003 4.1 · 004 1.3.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.optimize import minimize as search
from gnomon.optimize import suggest
from gnomon.table import Table
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.minimize.function import problem_of
from gnomon.workbench.minimize.options import JOB, MinimizeOptions
from gnomon.workbench.minimize.result import Minimum


@JOB.public
def minimize(function: Any, options: MinimizeOptions, request: Request) -> Minimum:
    """Find the least value of a function, by one or several methods.

    The function is given as ``FILE.py:NAME`` or itself. It takes one argument for each bound, or a
    point: an array where the bounds are of numbers without names, otherwise a dict. The file may
    hold its space in a variable ``space`` and its gradient in ``NAME_gradient``.

    Returns
    -------
    result : Minimum

    Examples
    --------
    >>> import gnomon
    >>> found = gnomon.minimize(lambda x: (x[0] - 2) ** 2, bounds=["0:5"], max_evaluations=200)
    >>> round(float(found.x[0]), 3)
    2.0
    """
    begin = time.perf_counter()
    problem = problem_of(function, options.bounds)
    if problem.space is None:
        raise DataError(
            f"what may {problem.name} be given? Say it with --bound LOW:HIGH for each argument, or "
            "with a variable `space` in the file"
        )
    data = Table.from_dict({"source": problem.text.splitlines() or [problem.name]})
    source = problem.source or request.source
    with Run.begin(request.folder, data, source, options, JOB.name) as run:
        methods = options.methods
        if not methods:
            name, why = suggest(
                problem.space,
                jac=problem.gradient is not None,
                max_evaluations=options.max_evaluations,
            )
            run.decide(f"method {name}", why)
            methods = [name]
        results = {}
        for place, name in enumerate(methods):
            request.progress(name, place, len(methods))
            results[name] = _searched(problem, name, options, request)
        result = Minimum(problem, results, options, run, time.perf_counter() - begin)
        run.finish(result)
    request.progress("done", len(methods), len(methods))
    return result


def _searched(problem: Any, name: str, options: MinimizeOptions, request: Request) -> Any:
    """One method, with its trace in the run folder; evaluations of an earlier part are kept."""
    file = None if request.folder is None else Path(request.folder) / f"trace-{name}.jsonl"
    earlier = file if file is not None and file.exists() else None
    return search(
        problem.function,
        problem.space,
        name,
        x0=options.start or None,
        jac=problem.gradient,
        max_evaluations=options.max_evaluations,
        max_seconds=options.max_seconds,
        target=options.target,
        on_error=options.on_error,
        random_state=options.random_state,
        resume=earlier,
        trace_file=file,
    )
