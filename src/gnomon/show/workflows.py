"""Flow diagrams: what happens to rows on their way from a table to an answer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from gnomon.show.theme import color, dress, faded, look

# Judgement: room for two or three lines of LONGEST_LINE letters.
BOX_WIDTH, BOX_HEIGHT, GAP = 1.0, 0.6, 0.35
LONGEST_LINE = 12

# The texts' own diagrams: steps and what follows them.
WORKFLOWS: dict[str, dict[str, list[str]]] = {
    "pipeline": {
        "rows x": ["features h"],
        "features h": ["classifier"],
        "classifier": ["answer y"],
    },
    "model selection": {
        "all rows": ["training rows", "validation rows", "test rows"],
        "training rows": ["fit each model"],
        "fit each model": ["error of each"],
        "validation rows": ["error of each"],
        "error of each": ["best model"],
        "best model": ["error to tell"],
        "test rows": ["error to tell"],
    },
    "cross-validation": {
        "all rows": ["deal k folds"],
        "deal k folds": ["k - 1 folds", "fold left out"],
        "k - 1 folds": ["fit"],
        "fit": ["score"],
        "fold left out": ["score"],
        "score": ["deal k folds", "mean and interval"],
    },
    "filter": {
        "training rows": ["fit filter"],
        "fit filter": ["training rows, filtered", "new rows, filtered"],
        "training rows, filtered": ["fit learner"],
        "new rows": ["new rows, filtered"],
        "new rows, filtered": ["predict"],
        "fit learner": ["predict"],
    },
    "stacking": {
        "training rows": ["learner 1", "learner 2", "learner 3"],
        "learner 1": ["predictions out of fold"],
        "learner 2": ["predictions out of fold"],
        "learner 3": ["predictions out of fold"],
        "predictions out of fold": ["learner on top"],
        "learner on top": ["answer y"],
    },
    "evolution": {
        "first population": ["fitness"],
        "fitness": ["select parents", "best found"],
        "select parents": ["cross and mutate"],
        "cross and mutate": ["fitness"],
    },
}


def workflow(
    what: str | Mapping[str, Sequence[str]] | Any, *, title: str | None = None, theme: str = "light"
) -> go.Figure:
    """Flow diagram of a workflow, of a pipeline or of any steps.

    Steps stand in columns, each to the right of what it needs; an arrow that leads back closes a
    loop and is dashed. Texts: 001, 003 4.1.6 and 004 3.1 draw such diagrams.

    Parameters
    ----------
    what : str, dict or estimator
        One of "pipeline", "model selection", "cross-validation", "filter", "stacking",
        "evolution"; or for each step the steps that follow it; or a pipeline, or an ensemble with
        ``estimators`` (and ``final_estimator``), of gnomon or scikit-learn.
    title : str, optional
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon import show
    >>> figure = show.workflow({"read": ["clean"], "clean": ["fit"], "fit": ["clean", "report"]})
    >>> [note.text for note in figure.layout.annotations if note.text]
    ['read', 'clean', 'fit', 'report']
    """
    steps, heading = _steps(what)
    columns, back = layers(steps)
    places, ways = _laid_out(steps, columns, back)
    figure = go.Figure()
    for step in (step for column in columns for step in column):
        x, y = places[step]
        figure.add_shape(
            type="rect",
            x0=x - BOX_WIDTH / 2,
            x1=x + BOX_WIDTH / 2,
            y0=y - BOX_HEIGHT / 2,
            y1=y + BOX_HEIGHT / 2,
            line={"color": color(0), "width": 1.5},
            fillcolor=faded(color(0)),
            layer="below",
        )
        figure.add_annotation(x=x, y=y, text=_wrapped(step), showarrow=False)
    colors = look(theme)
    lowest = min(y for _, y in places.values()) - BOX_HEIGHT / 2
    for way in ways:
        _draw(figure, way, colors.faint)
    for number, (step, after) in enumerate(sorted(back)):
        low = lowest - 0.25 * (number + 1)
        _draw(figure, _way_back(places[step], places[after], low), colors.strong, dash="dash")
    dress(figure, title or heading, theme)
    reach = BOX_WIDTH / 2 + 0.05
    figure.update_xaxes(visible=False, range=[-reach, places[columns[-1][0]][0] + reach])
    highest = max(y for _, y in places.values()) + BOX_HEIGHT / 2
    room = max(1.0 - highest, 0.2)
    figure.update_yaxes(visible=False, range=[lowest - 0.25 * len(back) - room, highest + room])
    figure.update_layout(showlegend=False, margin={"l": 20, "r": 20, "b": 20})
    return figure


def _laid_out(steps: Mapping[str, Sequence[str]], columns: list[list[str]], back) -> tuple:
    """Where the steps stand, and the points that each arrow to the right goes through.

    An arrow over several columns has a lane of its own in those between, so that it crosses no
    box; steps and lanes are put as high as what leads to them.
    """
    depth = {step: x for x, column in enumerate(columns) for step in column}
    lanes: list[list[Any]] = [list(column) for column in columns]
    chains = []
    for step, following in steps.items():
        for after in following:
            if (step, after) in back:
                continue
            between = [(step, after, x) for x in range(depth[step] + 1, depth[after])]
            for lane in between:
                lanes[lane[2]].append(lane)
            chains.append([step, *between, after])
    leads: dict[Any, list[Any]] = {}
    for chain in chains:
        for one, other in itertools.pairwise(chain):
            leads.setdefault(other, []).append(one)
    places: dict[Any, tuple[float, float]] = {}
    for x, column in enumerate(lanes):
        if x:
            column.sort(key=lambda each: -_mean(places[one][1] for one in leads[each]))
        for y, each in enumerate(column):
            places[each] = (BOX_WIDTH + GAP) * x, (len(column) - 1) / 2 - y
    ways = [_way([places[each] for each in chain]) for chain in chains]
    return {step: places[step] for step in depth}, ways


def _mean(values) -> float:
    values = list(values)
    return sum(values) / len(values)


def _way(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """From the right side of a box, along the lanes, to the left side of another box."""
    half = BOX_WIDTH / 2
    inner = [side for x, y in points[1:-1] for side in ((x - half, y), (x + half, y))]
    (x0, y0), (x1, y1) = points[0], points[-1]
    return [(x0 + half, y0), *inner, (x1 - half, y1)]


def _way_back(start, end, low: float) -> list[tuple[float, float]]:
    """From the bottom of a box, below all boxes, to the bottom of another box."""
    under = BOX_HEIGHT / 2
    shift = BOX_WIDTH / 4
    (x0, y0), (x1, y1) = start, end
    return [
        (x0 + shift, y0 - under),
        (x0 + shift, low),
        (x1 - shift, low),
        (x1 - shift, y1 - under),
    ]


def layers(steps: Mapping[str, Sequence[str]]) -> tuple[list[list[str]], set[tuple[str, str]]]:
    """Steps in columns, each right of those that lead to it; and the arrows that lead back.

    Examples
    --------
    >>> layers({"a": ["b"], "b": ["c", "a"]})
    ([['a'], ['b'], ['c']], {('b', 'a')})
    """
    names = list(dict.fromkeys([*steps, *(after for each in steps.values() for after in each)]))
    back = _arrows_back(steps, names)
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for step, following in steps.items():
            for after in following:
                if (step, after) not in back:
                    depth[after] = max(depth[after], depth[step] + 1)
    columns = [[name for name in names if depth[name] == d] for d in range(max(depth.values()) + 1)]
    return columns, back


def _arrows_back(steps: Mapping[str, Sequence[str]], names: list[str]) -> set[tuple[str, str]]:
    """Arrows to a step that is on the way to them, found by going deep first."""
    back: set[tuple[str, str]] = set()
    open_steps: list[str] = []
    done: set[str] = set()

    def visit(step: str) -> None:
        open_steps.append(step)
        for after in steps.get(step, ()):
            if after in open_steps:
                back.add((step, after))
            elif after not in done:
                visit(after)
        done.add(open_steps.pop())

    for name in names:
        if name not in done:
            visit(name)
    return back


def _steps(what: Any) -> tuple[dict[str, list[str]], str]:
    if isinstance(what, str):
        if what not in WORKFLOWS:
            raise ValueError(f"workflow is one of {', '.join(WORKFLOWS)}, not {what!r}")
        return WORKFLOWS[what], what.capitalize()
    if isinstance(what, Mapping):
        if not what:
            raise ValueError("there is no step to draw; give each step and those that follow it")
        return {step: list(following) for step, following in what.items()}, "Workflow"
    name = type(what).__name__
    if hasattr(what, "steps"):
        chain = ["rows", *(_title(step, part) for step, part in what.steps), "answer"]
        return {one: [other] for one, other in itertools.pairwise(chain)}, name
    if hasattr(what, "estimators"):
        members = [_title(*member) for member in what.estimators]
        top = getattr(what, "final_estimator", None)
        last = "answer" if top is None else _title("on top", top)
        steps = {"rows": members} | {member: [last] for member in members}
        return steps if top is None else steps | {last: ["answer"]}, name
    raise ValueError(
        f"{name} has neither steps nor estimators to draw; give a pipeline, an ensemble with "
        "estimators, the name of a workflow, or a dict of steps"
    )


def _title(name: str, part: Any) -> str:
    return f"{name}: {part if isinstance(part, str) else type(part).__name__}"


def _wrapped(text: str) -> str:
    """The text in lines that fit into a box."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= LONGEST_LINE:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def _draw(
    figure: go.Figure, way: list[tuple[float, float]], shade: str, dash: str = "solid"
) -> None:
    """A line through the points, with an arrow at its end."""
    path = "M " + " L ".join(f"{x},{y}" for x, y in way[:-1])
    if len(way) > 2:
        figure.add_shape(type="path", path=path, line={"color": shade, "width": 1.5, "dash": dash})
    (ax, ay), (x, y) = way[-2:]
    figure.add_annotation(
        ax=ax,
        ay=ay,
        x=x,
        y=y,
        axref="x",
        ayref="y",
        arrowhead=2,
        arrowwidth=1.5,
        arrowcolor=shade,
        text="",
    )
