"""Methods of the registry on the table of a session: the columns that they make."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.registry import Method, methods
from gnomon.table import Kind, Table
from gnomon.workbench.web.code import Code

MAPPED, GROUPED = "reduce", "group"


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
        Names of the new columns.
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
    estimator, imports = made(found, settled(found, settings))
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


def made(method: Method, settings: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """An estimator as Python writes it, and its import."""
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    imports = (f"from gnomon.{method.package} import {method.name}",)
    return f"{method.name}({given})", imports
