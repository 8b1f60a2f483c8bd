"""What can be replayed on the table of a session: a fit, a search for a tour, a PageRank."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from gnomon.engine.errors import DataError
from gnomon.engine.registry import Method, methods
from gnomon.optimize.optimizer import method_named, method_names
from gnomon.table import Table
from gnomon.workbench.web.code import Code
from gnomon.workbench.web.fitted import made, method_of, parameters_of, settled

LEARNT = ("classify", "regress")
MOST_STEPS = 3000  # of a replay: more make a figure that browsers draw slowly
SEARCHED = {"max_evaluations": 20_000, "random_state": 0}  # a second of work on 100 rows
DRAWN = "figure = show.replay(steps)  # and show.replay_rows(steps, {})"
SHOW = "from gnomon import show"


class Kind(NamedTuple):
    """One kind of replay.

    Attributes
    ----------
    settings : function of the method's name
        Which settings it takes.
    steps : function of (table, method, settings, columns, target)
        The steps, and a function that gives the rows over them.
    code : function of (method, settings, columns, target)
        The lines that do it.
    """

    settings: Callable[[str], set[str]]
    steps: Callable[..., tuple[Any, Callable[[], Any]]]
    code: Callable[..., Code]


def replayable() -> list[Method]:
    """Methods whose fit is kept step by step."""
    return [each for each in methods(takes="table") if "keep_history" in parameters_of(each)]


def searches() -> list[str]:
    """Methods of minimization that search among orders and show how they move."""
    return [name for name in method_names() if orders_rows(name)]


def orders_rows(name: str) -> bool:
    """Whether a method of minimization can be started on an order of rows."""
    cls = method_named(name)
    parameters = inspect.signature(cls).parameters.values()
    needed = [each for each in parameters if each.default is each.empty]
    return not cls.real_only and not needed and cls.open_ended


def replayed(
    table: Table,
    method: str,
    settings: dict[str, Any],
    columns: list[str],
    target: str | None,
    kind: str = "fit",
) -> dict[str, Any]:
    """The steps as figures of both themes, with their numbers and why they ended."""
    from gnomon.show import replay as drawn
    from gnomon.show import replay_rows

    steps, over = KINDS[kind].steps(table, method, settings, columns, target)
    if len(steps) > MOST_STEPS:
        raise DataError(
            f"the fit took {len(steps):,} steps, and {MOST_STEPS} can be shown: set max_iter lower"
        )
    figures = {"parameters": partial(drawn, steps)}
    numbers, without = list(range(len(steps))), ""
    try:
        moved = over()
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


def replay_code(
    method: str,
    settings: dict[str, Any],
    columns: list[str],
    target: str | None,
    kind: str = "fit",
) -> Code:
    """The lines of `replayed`."""
    return KINDS[kind].code(method, settings, columns, target)


def fit_settings(method: str) -> set[str]:
    """The settings of a fit that is replayed."""
    return set(parameters_of(method_of(method))) - {"keep_history"}


def fit_steps(table: Table, method: str, settings: Any, columns: Any, target: Any) -> Any:
    """The steps of a fit."""
    from gnomon.workbench.workflows import WatchRows, replay

    found = method_of(method)
    estimator = found.cls(**one_start(found, settings), keep_history="full")
    rows = table.select(columns)
    watch = WatchRows(rows, None if target is None else table.column(target).to_pylist())
    estimator.set_callbacks(watch)
    given = rows if target is None else table.select([*columns, target])
    steps = replay(estimator.fit(given) if target is None else estimator.fit(given, target))
    return steps, lambda: watch.over(steps)


def one_start(method: Method, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a fit that is replayed: a seed, and a single start unless more are requested."""
    single = {"n_init": 1} if "n_init" in parameters_of(method) else {}
    return single | settled(method, settings)


def fit_code(method: str, settings: Any, columns: Any, target: Any) -> Code:
    """The lines of `fit_steps`."""
    found = method_of(method)
    estimator, imports = made(found, one_start(found, settings) | {"keep_history": "full"})
    rows = f"table.select({columns!r})"
    given = f"table.select({[*columns, target]!r}), {target!r}" if target else rows
    truth = f", table.column({target!r}).to_pylist()" if target else ""
    return Code(
        (
            f"watch = WatchRows({rows}{truth})",
            f"steps = replay({estimator}.set_callbacks(watch).fit({given}))",
            DRAWN.format("watch.over(steps)"),
        ),
        (SHOW, "from gnomon.workbench.workflows import WatchRows, replay", *imports),
    )


def search_settings(method: str) -> set[str]:
    """The settings of a search: the method's own, the budget and the seed."""
    return {*inspect.signature(method_named(method)).parameters, *SEARCHED}


def search_given(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a search as `minimize` takes them."""
    own = {name: value for name, value in settings.items() if name not in SEARCHED}
    given = SEARCHED | {name: settings[name] for name in SEARCHED if name in settings}
    return {"method": method, **given} | ({"options": own} if own else {})


def search_steps(table: Table, method: str, settings: Any, columns: Any, target: Any) -> Any:
    """The steps of a search for the shortest tour through the rows."""
    from gnomon.optimize import minimize
    from gnomon.workbench.workflows import RowTour, replay

    tour = RowTour(table.select(columns))
    steps = replay(minimize(tour, tour.space, **search_given(method, settings)))
    return steps, lambda: tour.over(steps)


def search_code(method: str, settings: Any, columns: Any, target: Any) -> Code:
    """The lines of `search_steps`."""
    given = "".join(f", {k}={v!r}" for k, v in search_given(method, settings).items())
    return Code(
        (
            f"tour = RowTour(table.select({columns!r}))",
            f"steps = replay(minimize(tour, tour.space{given}))",
            DRAWN.format("tour.over(steps)"),
        ),
        (
            SHOW,
            "from gnomon.optimize import minimize",
            "from gnomon.workbench.workflows import RowTour, replay",
        ),
    )


def rank_steps(table: Table, method: str, settings: Any, columns: Any, target: Any) -> Any:
    """The steps of a PageRank of pages whose links are the rows."""
    from gnomon.sequence import pagerank
    from gnomon.workbench.workflows import LinkedPages, replay

    pages = LinkedPages(table, *columns)
    steps = replay(pagerank(pages.graph, **settings, keep_history="full"))
    return steps, lambda: pages.over(steps)


def rank_code(method: str, settings: Any, columns: Any, target: Any) -> Code:
    """The lines of `rank_steps`."""
    given = "".join(f", {k}={v!r}" for k, v in settings.items())
    return Code(
        (
            f"pages = LinkedPages(table, {columns[0]!r}, {columns[1]!r})",
            f"steps = replay(pagerank(pages.graph{given}, keep_history='full'))",
            DRAWN.format("pages.over(steps)"),
        ),
        (
            SHOW,
            "from gnomon.sequence import pagerank",
            "from gnomon.workbench.workflows import LinkedPages, replay",
        ),
    )


KINDS = {
    "fit": Kind(fit_settings, fit_steps, fit_code),
    "tour": Kind(search_settings, search_steps, search_code),
    "links": Kind(lambda method: {"alpha", "max_iter", "tol"}, rank_steps, rank_code),
}
