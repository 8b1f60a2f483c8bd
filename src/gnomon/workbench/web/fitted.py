"""Methods of the registry on the table of a session: columns that they make, and their steps."""

from __future__ import annotations

import inspect
import json
from functools import partial
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.registry import Method, methods
from gnomon.table import Kind, Table
from gnomon.workbench.web.code import Code

MAPPED, GROUPED, LEARNT = "reduce", "group", ("classify", "regress")
MOST_STEPS = 3000  # of a replay: more make a figure that browsers draw slowly


def method_of(name: str) -> Method:
    """A method of the registry by its name."""
    for each in methods(takes="table"):
        if each.name == name:
            return each
    raise DataError(f"there is no method {name!r} of tables")


def parameters_of(method: Method) -> dict[str, Any]:
    """Names and defaults of a method's settings."""
    found = inspect.signature(method.cls).parameters.values()
    return {
        each.name: each.default for each in found if each.default is not inspect.Parameter.empty
    }


def makers() -> list[Method]:
    """Methods that place rows on a map, or part them in groups."""
    return [each for each in methods(takes="table") if each.task in (MAPPED, GROUPED)]


def replayable() -> list[Method]:
    """Methods whose fit is kept step by step."""
    return [each for each in methods(takes="table") if "keep_history" in parameters_of(each)]


def usual_columns(table: Table) -> list[str]:
    """Columns that distances can be made of: numbers, categories and booleans."""
    taken = (Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN, Kind.CATEGORY, Kind.ORDERED)
    return list(table.schema.of_kind(*taken))


def settled(method: Method, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with a seed where the method takes one, so that the same columns come again."""
    seeded = "random_state" in parameters_of(method)
    return ({"random_state": 0} if seeded else {}) | settings


def with_columns(
    table: Table, method: str, settings: dict[str, Any], columns: list[str]
) -> tuple[Table, list[str]]:
    """The table with the columns that a method makes: coordinates, or the number of the group.

    Returns
    -------
    table : Table
    names : list of str
        Of the new columns.
    """
    found = method_of(method)
    estimator = found.cls(**settled(found, settings))
    given = table.select(columns)
    if found.task == GROUPED:
        name = f"{method} group"
        return table.with_column(name, estimator.fit_predict(given), kind="category"), [name]
    places = np.asarray(estimator.fit_transform(given))
    names = [f"{method} {axis + 1}" for axis in range(min(places.shape[1], 2))]
    for axis, name in enumerate(names):
        table = table.with_column(name, places[:, axis])
    return table, names


def columns_code(method: str, settings: dict[str, Any], columns: list[str]) -> Code:
    """The lines of `with_columns`."""
    found = method_of(method)
    estimator, imports = _made(found, settled(found, settings))
    if found.task == GROUPED:
        return Code(
            (
                f"groups = {estimator}.fit_predict(table.select({columns!r}))",
                f'table = table.with_column("{method} group", groups, kind="category")',
            ),
            imports,
        )
    return Code(
        (
            f"places = np.asarray({estimator}.fit_transform(table.select({columns!r})))",
            "for axis in range(min(places.shape[1], 2)):",
            f'    table = table.with_column(f"{method} {{axis + 1}}", places[:, axis])',
        ),
        ("import numpy as np", *imports),
    )


def _made(method: Method, settings: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    imports = (f"from gnomon.{method.package} import {method.name}",)
    return f"{method.name}({given})", imports


def replayed(
    table: Table, method: str, settings: dict[str, Any], columns: list[str], target: str | None
) -> dict[str, Any]:
    """The steps of a fit as figures of both themes, with their numbers and why it ended."""
    from gnomon.show import replay as drawn
    from gnomon.show import replay_rows
    from gnomon.workbench.workflows import WatchRows, replay

    found = method_of(method)
    estimator = found.cls(**one_start(found, settings), keep_history="full")
    rows = table.select(columns)
    watch = WatchRows(rows, None if target is None else table.column(target).to_pylist())
    estimator.set_callbacks(watch)
    given = rows if target is None else table.select([*columns, target])
    steps = replay(estimator.fit(given) if target is None else estimator.fit(given, target))
    if len(steps) > MOST_STEPS:
        raise DataError(
            f"the fit took {len(steps):,} steps, and {MOST_STEPS} can be shown: set max_iter lower"
        )
    figures = {"parameters": partial(drawn, steps)}
    numbers, without = list(range(len(steps))), ""
    try:
        moved = watch.over(steps)
    except DataError as error:
        without = str(error)
    else:
        numbers = moved.numbers
        figures["rows"] = partial(replay_rows, steps, moved)
    return {
        "steps": len(steps),
        "numbers": numbers,
        "stopped": steps.stopped,
        "method": method,
        "without_rows": without,
        "figures": {
            name: {theme: json.loads(draw(theme=theme).to_json()) for theme in ("light", "dark")}
            for name, draw in figures.items()
        },
    }


def one_start(method: Method, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a fit that is replayed: a seed, and a single start unless more are requested."""
    single = {"n_init": 1} if "n_init" in parameters_of(method) else {}
    return single | settled(method, settings)


def replay_code(
    method: str, settings: dict[str, Any], columns: list[str], target: str | None
) -> Code:
    """The lines of `replayed`."""
    found = method_of(method)
    full = one_start(found, settings) | {"keep_history": "full"}
    estimator, imports = _made(found, full)
    rows = f"table.select({columns!r})"
    given = f"table.select({[*columns, target]!r}), {target!r}" if target else rows
    truth = f", table.column({target!r}).to_pylist()" if target else ""
    return Code(
        (
            f"watch = WatchRows({rows}{truth})",
            f"steps = replay({estimator}.set_callbacks(watch).fit({given}))",
            "figure = show.replay(steps)  # and show.replay_rows(steps, watch.over(steps))",
        ),
        (
            "from gnomon import show",
            "from gnomon.workbench.workflows import WatchRows, replay",
            *imports,
        ),
    )
