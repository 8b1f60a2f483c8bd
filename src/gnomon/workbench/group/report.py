"""What `gnomon group` shows: pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import show
from gnomon.cluster import AgglomerativeClustering, SelfOrganizingMap, silhouette
from gnomon.cluster.choice import ChoiceOfK
from gnomon.reduce import PCA
from gnomon.table import Table
from gnomon.workbench.base.report import Report, drawn_together
from gnomon.workbench.group.profile import NOTHING_TYPICAL, GroupProfile
from gnomon.workbench.group.result import HEADINGS, GroupResult
from gnomon.workbench.group.search import judged_places

FIRST, SECOND = "component 1", "component 2"
CAPTIONS = {
    "map": "Rows on the two directions in which they vary most, with the ellipses of each group's "
    "mean and covariance. Groups that overlap here may be separate in other directions.",
    "ellipsoids": "The groups in the three directions in which rows vary most; turn it to see.",
    "sizes": "Rows by group.",
    "silhouettes": "Every row's silhouette, sorted within its group: rows to the left of zero lie "
    "nearer to another group.",
    "silhouette by number": "How well groups are separated, by their number.",
    "stability by number": "How far halves of the rows agree, by the number of groups.",
    "tree": "Rows merged step by step (Ward); the slider moves the cut.",
    "planes": "A map of the rows, once for each of the columns in which groups differ most: "
    "columns that look alike go together. Colours are in the units of the column; of a category or "
    "of yes and no they are shares.",
}
ROUND_ONES = " That is no fault of groups of any shape: one may lie round another."
TREE_ROWS = 1_000  # judgement: a dendrogram of more leaves is a black band
MOST_PLANES = 6  # judgement: six columns make 15 planes


def pictures_of(result: GroupResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a grouping: functions of the theme, by name."""
    return drawn_together(lambda theme: figures_of(result, theme))


def figures_of(result: GroupResult, theme: str = "light") -> dict[str, Any]:
    """The pictures of a grouping by name."""
    names = {each.number: each.name for each in result.groups}
    labels = [names[label] for label in result.labels.tolist()]
    sizes = {each.name: each.rows for each in result.groups}
    points = result.model.coordinates(result.table)
    random_state = result.settings.random_state
    found = {}
    if points.shape[1] > 1:
        plane = PCA(2).fit_transform(points)
        columns = {FIRST: plane[:, 0].tolist(), SECOND: plane[:, 1].tolist(), "group": labels}
        found["map"] = _titled(
            show.covariance_contours(
                Table.from_dict(columns),
                [FIRST, SECOND],
                by="group",
                random_state=random_state,
                theme=theme,
            ),
            "The groups on a map of the rows",
        )
    if points.shape[1] > 2:
        found["ellipsoids"] = _titled(
            show.inertial_ellipsoids(points, labels, random_state=random_state, theme=theme),
            "The groups as ellipsoids",
        )
    bars = show.category_bars(sizes, name="group", theme=theme)
    found["sizes"] = _titled(bars, "How many rows each group has")
    taken = judged_places(len(points), random_state)
    taken = taken[result.labels[taken] >= 0]
    if len(set(result.labels[taken].tolist())) > 1:
        parted = silhouette(points[taken], [labels[place] for place in taken])
        found["silhouettes"] = show.silhouettes(parted, theme=theme)
    return found | _choices(result, theme) | _hierarchy_and_planes(result, points, theme)


def _titled(figure: Any, title: str) -> Any:
    """A figure under a title in the words of this job; what stands below it stays."""
    _, _, rest = figure.layout.title.text.partition("</b>")
    return figure.update_layout(title_text=f"<b>{title}</b>{rest}")


def _choices(result: GroupResult, theme: str) -> dict[str, Any]:
    """Silhouette and stability of the chosen method by the number of groups, where it is asked."""
    method = result.chosen.method
    if result.chosen.any_shape:
        return {}
    tried = sorted({each.k: each for each in result.groupings if each.method == method}.items())
    if len(tried) < 2:
        return {}
    found = {}
    for measure in ("silhouette", "stability"):
        figures = [getattr(each, measure) for _, each in tried]
        ks, chosen = [k for k, _ in tried], result.chosen.k
        choice = ChoiceOfK(ks, figures, chosen, [chosen], f"{measure} of {method}", True)
        found[f"{measure} by number"] = show.choice_of_k(choice, theme=theme)
    return found


def _hierarchy_and_planes(result: GroupResult, points: np.ndarray, theme: str) -> dict[str, Any]:
    """The tree of merges of some rows, and a self-organising map's planes of the columns."""
    rows = points[judged_places(len(points), result.settings.random_state)]
    tree = AgglomerativeClustering(result.chosen.k).fit(rows[:TREE_ROWS]).dendrogram_
    found = {"tree": show.dendrogram(tree, n_clusters=result.chosen.k, theme=theme)}
    names = result.model.encoder_.columns.names
    if len(names) > 1:
        planes = SelfOrganizingMap(random_state=result.settings.random_state).fit(rows)
        planes.prototypes_ = planes.prototypes_ * result.model.scale_ + result.model.center_
        found["planes"] = show.component_planes(
            planes, _telling(points, result.labels), names=list(names), theme=theme
        )
    return found


def _telling(points: np.ndarray, labels: np.ndarray) -> list[int]:
    """The columns in which the means of the groups differ most, in the order of the table."""
    means = np.array([points[labels == each].mean(axis=0) for each in np.unique(labels)])
    shares = np.bincount(np.unique(labels, return_inverse=True)[1]) / len(labels)
    between = shares @ (means - shares @ means) ** 2
    return sorted(np.argsort(-between, kind="stable")[:MOST_PLANES].tolist())


def _effect(trait: Any) -> list[str]:
    return [f"{value:.2f}" for value in (trait.effect, trait.low, trait.high)]


def _profile_lines(group: GroupProfile) -> list[list[Any]]:
    """A group's lines of the table: one for each trait, its name beside the first."""
    if not group.traits:
        return [[group.name, group.rows, NOTHING_TYPICAL, "", "", ""]]
    return [
        [*(["", ""] if place else [group.name, group.rows]), str(trait), *_effect(trait)]
        for place, trait in enumerate(group.traits)
    ]


def report_of(result: GroupResult) -> Report:
    """The report of a grouping."""
    source = result.run.called or "a table"
    subtitle = f"{len(result.table):,} rows · {result.model.n_features_in_} columns"
    report = Report(f"Groups of {source}", subtitle)
    figures = figures_of(result)
    report.section("Are there groups?").text(result.verdict())
    for said in result.notes:
        report.text(said)
    if result.missing():
        report.table(["column", "missing"], list(result.missing().items()))
    report.section("The groups")
    for key in ("map", "ellipsoids", "sizes"):
        if key in figures:
            report.figure(figures.pop(key), CAPTIONS[key])
    report.text(
        f"{result.caution()} An effect is a difference of means in standard deviations, or Cohen's "
        "h of a level's shares."
    )
    rows = [line for each in result.groups for line in _profile_lines(each)]
    headings = ["group", "rows", "what sets it apart", "effect", "95% low", "high"]
    report.table(headings, rows)
    report.section("Groupings that competed")
    for key, figure in figures.items():
        round_ones = result.chosen.any_shape and key == "silhouettes"
        report.figure(figure, CAPTIONS[key] + (ROUND_ONES if round_ones else ""))
    report.table(
        HEADINGS,
        result.board(),
        "Silhouette: nearer to the own group than to the next one, from -1 to 1. Stability: halves "
        "of the rows, grouped apart, agree (adjusted Rand index, 1 is wholly). Both with their "
        "standard errors. Density: emptier between groups than inside, from -1 to 1; below 0 they "
        "are cut through dense places.",
    )
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
