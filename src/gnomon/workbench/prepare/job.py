"""The job `prepare`: filter, derive, join, group and pivot a table, with the script of it.

Every step is one SELECT that DuckDB runs on the table so far, without access to files, network or
settings; the run folder gets the table, the SQL of the steps and the script that repeats them.
Text: 004 chapter 5 (clean and structure data first).
"""

from __future__ import annotations

import time
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.prepare.options import JOB, ReshapeOptions
from gnomon.workbench.prepare.result import ReshapeResult
from gnomon.workbench.prepare.steps import prepared


@JOB.public
def reshape(table: Any, options: ReshapeOptions, request: Request) -> ReshapeResult:
    """Filter, derive, join, group and pivot a table; expressions are those of DuckDB's SQL.

    Use it before `gnomon.learn` where the table is not yet one row for each thing to predict. The
    steps are done in the order of the options. Filters that are fitted to training rows only
    (scaling, filling of missing cells) belong to learning, not here.

    Returns
    -------
    result : ReshapeResult

    Examples
    --------
    >>> import gnomon
    >>> sales = {"shop": ["a", "a", "b"], "price": [2.0, 3.0, 5.0], "pieces": [1, 2, 1]}
    >>> found = gnomon.reshape(
    ...     sales, derive=["paid=price*pieces"], group_by=["shop"], total=["paid=sum(paid)"]
    ... )
    >>> found.table.to_dict()
    {'shop': ['a', 'b'], 'paid': [8.0, 5.0]}
    """
    begin = time.perf_counter()
    rows = as_table(table)
    if not options.changed():
        raise DataError(
            "nothing to do: give --where, --derive, --join, --group-by, --pivot, --query, "
            "--select, --without or --sort"
        )
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        other = None if options.join is None else as_table(options.join)
        made, steps, notes = prepared(rows, other, options)
        for step in steps:
            run.decide(step.what, f"{step.rows:,} rows and {step.columns} columns are left")
        result = ReshapeResult((len(rows), len(rows.columns)), made, steps, run, options, notes)
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result
