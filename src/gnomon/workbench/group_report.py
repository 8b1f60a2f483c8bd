"""What `gnomon group` shows: pictures, and a report."""

from __future__ import annotations

from typing import Any

from gnomon import show
from gnomon.reduce import PCA
from gnomon.table import Table
from gnomon.workbench.group import GroupResult
from gnomon.workbench.report import Report

FIRST, SECOND = "first principal component", "second principal component"
CAPTIONS = {
    "map": "Rows on the two directions in which they vary most, with the ellipses of each group's "
    "mean and covariance. Groups that overlap here may be parted in other directions.",
    "sizes": "Rows by group.",
}


def figures_of(result: GroupResult, theme: str = "light") -> dict[str, Any]:
    """The pictures of a grouping by name."""
    names = {each.number: each.name for each in result.groups}
    labels = [names[label] for label in result.labels.tolist()]
    sizes = {each.name: each.rows for each in result.groups}
    found = {"sizes": show.category_bars(sizes, name="group", theme=theme)}
    points = result.model.coordinates(result.table)
    if points.shape[1] > 1:
        plane = PCA(2).fit_transform(points)
        columns = {FIRST: plane[:, 0].tolist(), SECOND: plane[:, 1].tolist(), "group": labels}
        found["map"] = show.covariance_contours(
            Table.from_dict(columns),
            [FIRST, SECOND],
            by="group",
            seed=result.settings.seed,
            theme=theme,
        )
    return found


def report_of(result: GroupResult) -> Report:
    """The report of a grouping."""
    source = result.run.record["source"] or "a table"
    subtitle = f"{len(result.table):,} rows · {result.model.n_features_in_} columns"
    report = Report(f"Groups of {source}", subtitle)
    figures = figures_of(result)
    report.section("Are there groups?").text(result.verdict())
    report.section("The groups")
    for key in ("map", "sizes"):
        if key in figures:
            report.figure(figures.pop(key), CAPTIONS[key])
    report.text(
        "Groups were made from these columns: effects describe them and prove nothing. An effect "
        "is a difference of means in standard deviations, or Cohen's h of a level's shares."
    )
    rows = [
        [each.name, each.rows, str(trait), trait.effect, trait.low, trait.high]
        for each in result.groups
        for trait in each.traits
    ]
    headings = ["group", "rows", "what sets it apart", "effect", "95% low", "high"]
    report.table(headings, rows)
    report.section("Groupings that competed")
    for figure in figures.values():
        report.figure(figure)
    headings = ["method", "groups", "silhouette", "stability", "remark"]
    report.table(
        headings,
        result.board(),
        "Silhouette: nearer to the own group than to the next one, from -1 to 1. Stability: halves "
        "of the rows, grouped apart, agree (adjusted Rand index, 1 is wholly).",
    )
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
