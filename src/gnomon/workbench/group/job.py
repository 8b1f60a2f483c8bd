"""The job `group`: from a table to named groups of its rows, or the statement that there are none.

Columns become coordinates on one scale; clusterers of different natures compete over the numbers of
groups; each grouping is judged by how well groups are parted (silhouettes; the density index for
groups of any shape) and by whether other rows would give the same groups (halves of the table,
grouped apart). The best parted of the stable ones is chosen, and compared with what the same method
makes of rows without groups. Texts: 000a 8 · 001 20 · 004 8 and 9.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.group.model import GroupModel
from gnomon.workbench.group.options import JOB, GroupOptions
from gnomon.workbench.group.profile import profiles
from gnomon.workbench.group.result import GroupResult
from gnomon.workbench.group.search import MOST_JUDGED, fitted, parted_as_made, search
from gnomon.workbench.group.tendency import tendency_of

FEWEST_ROWS = 10  # judgement: two groups of five rows; fewer cannot be told from chance


@JOB.public
def group(table: Any, options: GroupOptions, request: Request) -> GroupResult:
    """Find groups of a table's rows, name them, and say whether they can be trusted.

    Use it to see which kinds of rows there are when nothing is to be predicted. Where a column is
    to be predicted, use `gnomon.learn`. Groupings are judged on at most 2,000 rows, drawn with
    `random_state`; the chosen one is made of all rows.

    Returns
    -------
    result : GroupResult

    Examples
    --------
    >>> import gnomon
    >>> found = gnomon.group("example:iris", without=["species"], groups=3)
    >>> sorted(each.rows for each in found.groups)
    [47, 50, 53]
    """
    begin = time.perf_counter()
    tell, random_state = request.progress, options.random_state
    rows = as_table(table)
    require_sensible(rows, options)
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        notes: list[str] = []

        def note(what: str, why: str) -> None:
            run.decide(what, why)
            notes.append(f"{what[:1].upper()}{what[1:]}: {why}.")

        model = GroupModel().fit_space(rows.drop(options.without))
        points = model.coordinates(rows)
        run.decide(
            f"groups are made from {model.n_features_in_} columns",
            "; ".join(f"{name}: {why}" for name, why in model.left_out_.items())
            or "all columns tell rows apart",
        )
        for name, how in model.missing_cells(len(rows)).items():
            run.decide(f"{name} has missing cells: {how}", "groups need a place for every row")
        if len(points) > MOST_JUDGED:
            note(
                f"groupings are judged on {MOST_JUDGED:,} of {len(points):,} rows, drawn with seed "
                f"{random_state}",
                "distances of all pairs of rows would take too long",
            )
        competed = search(points, options, tell, note)
        chosen = competed[0].grouping
        tell("clouds without groups", 0, 0)
        tendency = tendency_of(points, chosen, random_state, model.spans())
        run.decide(f"{chosen.method} with {chosen.k} groups is chosen", chosen.remark)
        tell(f"grouping all rows by {chosen.method}", 0, 0)
        model.clusterer = fitted(competed[0], points, random_state, note)
        labels = np.asarray(model.predict(rows))
        chosen = parted_as_made(chosen, points, labels, random_state)
        groupings = [chosen, *(each.grouping for each in competed[1:])]
        found = profiles(rows, labels, options.without)
        model.n_clusters = int(labels.max()) + 1
        model.group_names_ = [each.name for each in found if each.number >= 0]
        result = GroupResult(
            rows, options, model, labels, found, groupings, chosen, tendency, run, notes
        )
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_sensible(table: Table, options: GroupOptions) -> None:
    """Refuse what cannot be grouped."""
    for name in options.without:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(table) < FEWEST_ROWS:
        raise DataError(
            f"the table has {len(table)} rows; groups of fewer than {FEWEST_ROWS} rows can be seen "
            "by looking at them"
        )
    for name, value in (("groups", options.groups), ("most", options.most)):
        if value is not None and not 2 <= value <= len(table) // 2:
            raise DataError(
                f"{name}={value} must lie between 2 and half the number of rows, {len(table) // 2}"
            )
