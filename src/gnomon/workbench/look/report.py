"""What `gnomon look` shows: a summary in the terminal, pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import show
from gnomon.table.kinds import Kind
from gnomon.workbench.analysis.associations import GROUPED
from gnomon.workbench.base.report import Report, drawn_together
from gnomon.workbench.look.rates import target_by_category
from gnomon.workbench.look.result import Look, level_counts

MOST_PRINTED_COLUMNS = 40  # judgement: a screen or two; the report has all
MOST_PRINTED_PAIRS = 6  # judgement: the strongest; the report has all
MOST_DISTRIBUTIONS = 12  # judgement: pictures; each adds to the report's size
MOST_ALONE = 5  # judgement: columns that predict the target alone; the report has all
MOST_CLASSES = 8  # judgement: one line of text
MOST_NOTES = 30  # judgement: notes of reading repeat each other in damaged files
MOST_HOLES = 50  # judgement: lines of a table, the strongest first
# Rows that histograms are made from.
MOST_BINNED = 20_000
MOST_TABLE_ROWS = 300
FEWEST_FOR_ELLIPSES = 10  # judgement: fewer distinct values are no cloud with a normal outline
LEAST_COMPLETE = 0.8  # judgement: of the rows are drawn
STYLES = {"bad": "red", "warning": "yellow", "note": "blue"}
MARKS = {"bad": "✕", "warning": "!", "note": "·"}


def printed(look: Look) -> Any:
    """What the terminal shows."""
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    from gnomon.table.summary import Summary

    n, d = look.table.shape
    parts: list[Any] = [Text(f"{n:,} rows, {d:,} columns"), Text("")]
    columns = list(look.columns)
    parts.append(Summary(columns[:MOST_PRINTED_COLUMNS]))
    if len(columns) > MOST_PRINTED_COLUMNS:
        parts.append(Text(f"... and {len(columns) - MOST_PRINTED_COLUMNS:,} more columns"))
    pairs = [pair for pair in look.associations if pair.is_beyond_chance][:MOST_PRINTED_PAIRS]
    if pairs:
        grid = RichTable(box=None, header_style="bold", pad_edge=False, title_justify="left")
        for heading in ("strongest associations", "", "strength", "p (corrected)", "measure"):
            is_name = heading in ("strongest associations", "")
            grid.add_column(heading, no_wrap=not is_name, overflow="fold")
        for pair in pairs:
            names = (Text(pair.first), Text(pair.second))
            grid.add_row(*names, f"{pair.strength:.3f}", readable_p(pair.p), pair.measure)
        parts += [Text(""), grid]
    if look.class_counts:
        parts += [Text(""), Text(class_balance(look))]
    best = [each for each in look.predictors if each[1] > 0][:MOST_ALONE]
    if look.predictors and not best:
        none = f"no column alone predicts {look.target} better than its mean, on unseen rows"
        parts += [Text(""), Text(none)]
    if best:
        grid = RichTable(box=None, header_style="bold", pad_edge=False)
        grid.add_column(Text(f"alone predicts {look.target}"), no_wrap=True)
        grid.add_column("explained share, on unseen rows", no_wrap=True)
        for name, share, error in best:
            grid.add_row(Text(name), f"{share:.1%} ± {error:.1%}")
        parts += [Text(""), grid]
    parts.append(Text(""))
    for finding in look.findings:
        line = Text(f"{MARKS[finding.kind]} ", style=STYLES[finding.kind])
        line.append(finding.text, style="bold" if finding.kind == "bad" else "default")
        line.append(f"\n  {finding.remedy}", style="dim")
        parts.append(line)
    if not look.findings:
        parts.append(Text("Nothing looks wrong.", style="green"))
    parts += [Text(f"  {limit}", style="dim") for limit in look.limits]
    return Group(*parts)


def class_balance(look: Look) -> str:
    """The shares of the classes of the target, in a line."""
    total = sum(look.class_counts.values())
    shares = [f"{name} {count / total:.1%}" for name, count in look.class_counts.items()]
    more = f" and {len(shares) - MOST_CLASSES:,} more" if len(shares) > MOST_CLASSES else ""
    return f"classes of {look.target}: {', '.join(shares[:MOST_CLASSES])}{more}"


def readable_p(p: float) -> str:
    """A p value as people write it."""
    if p != p:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def pictures_of(look: Look) -> dict[str, Callable[[str], Any]]:
    """The pictures of a table: functions of the theme, by name."""
    return drawn_together(lambda theme: figures_of(look, theme))


def figures_of(look: Look, theme: str = "light") -> dict[str, Any]:
    """The pictures of a table by name."""
    table, target = look.table, look.target
    found: dict[str, Any] = {}
    if target is not None:
        what, groups, overall = target_by_category(table, target, look.with_target)
        if groups:
            found["rates"] = show.rates_by_category(groups, what=what, overall=overall, theme=theme)
    found["roles"] = show.table_roles(table, target, theme=theme)
    if look.missing.counts:
        found["missing"] = show.missing_cells(
            look.missing.counts, look.missing.patterns, len(table), theme=theme
        )
    if look.class_counts:
        found["classes"] = show.category_bars(look.class_counts, name=target or "", theme=theme)
    if len(look.associations):
        found["associations"] = show.association_map(
            look.associations.matrix(),
            look.associations.names,
            p=look.associations.p_matrix(),
            theme=theme,
        )
    if len(look.overview.inputs) > 1:
        found["overview"] = show.overview_matrix(
            look.overview.share,
            look.overview.inputs,
            look.overview.outputs,
            error=look.overview.error,
            target=target,
            note=f"{look.overview.rows:,} rows, seed {look.settings.random_state}",
            theme=theme,
        )
    return found | _point_figures(look, theme) | _distributions(look, theme)


def _point_figures(look: Look, theme: str) -> dict[str, Any]:
    """Scatterplots of the columns of numbers that go together most."""
    columns = _related_numbers(look)
    if len(columns) < 2:
        return {}
    by = look.target if look.class_counts and len(look.class_counts) <= 8 else None
    common: dict[str, Any] = {"by": by, "random_state": look.settings.random_state, "theme": theme}
    found = {"scatterplots": show.scatterplot_matrix(look.table, columns[:5], **common)}
    distinct = {each.name: each.distinct for each in look.columns}
    spread = [name for name in columns if distinct[name] >= FEWEST_FOR_ELLIPSES]
    spread = _mostly_complete(look, spread, 2)
    if len(spread) > 1:
        found["ellipses"] = show.covariance_contours(look.table, spread, **common)
    complete = _mostly_complete(look, columns, 8)
    if len(complete) > 1:
        found["parallel"] = show.parallel_coordinates(look.table, complete, **common)
    return found


def _mostly_complete(look: Look, columns: list[str], most: int) -> list[str]:
    """The first columns that leave most rows without a missing cell: others are not drawn."""
    whole = np.ones(len(look.table), dtype=bool)
    found: list[str] = []
    for name in columns:
        present = whole & ~np.asarray(look.table.column(name).is_null(nan_is_null=True))
        if len(found) < most and present.mean() >= LEAST_COMPLETE:
            whole = present
            found.append(name)
    return found


def _related_numbers(look: Look) -> list[str]:
    """Columns of numbers, those of the strongest associations first, copies of others last."""
    usable = [e.name for e in look.columns if e.kind.is_numeric and (e.sd or 0) > 0]
    ranked: list[str] = []
    for pair in look.associations:
        names = {pair.first, pair.second}
        wanted = look.target in names if look.target is not None else pair.strength < 0.9999
        if wanted:
            ranked += [name for name in (pair.first, pair.second) if name in usable]
    return list(dict.fromkeys(ranked + usable))


def _distributions(look: Look, theme: str) -> dict[str, Any]:
    """A histogram of each column of numbers, bars of each column of categories."""
    table = look.table
    by = look.target if look.class_counts and len(look.class_counts) <= 8 else None
    sampled = table
    if len(table) > MOST_BINNED:
        from gnomon.show.points import drawn_rows

        sampled = table[drawn_rows(len(table), MOST_BINNED, look.settings.random_state)[0]]
    found: dict[str, Any] = {}
    for each in sorted(look.columns, key=_shown_first(look)):
        if len(found) == MOST_DISTRIBUTIONS:
            break
        if each.name == look.target and look.class_counts:
            continue
        key = f"values of {each.name}"
        if each.kind.is_numeric and each.median is not None:
            if sampled.column(each.name).null_count < len(sampled):
                found[key] = show.class_histograms(sampled, each.name, by, theme=theme)
        elif each.kind in GROUPED and each.distinct:
            counts = level_counts(table, each.name)
            found[key] = show.category_bars(counts, name=each.name, theme=theme)
    return found


def _shown_first(look: Look) -> Callable[[Any], int]:
    """Places of columns in the report: the target, those that go most with it, the others."""
    names = [name for pair in look.with_target for name in (pair.first, pair.second)]
    places = {name: k for k, name in enumerate(dict.fromkeys([look.target, *names]))}
    return lambda each: places.get(each.name, len(places))


CAPTIONS = {
    "roles": "The first rows; what a learner would see, predict and leave out.",
    "missing": "Filled squares mark the columns that are missing in the same rows.",
    "classes": "Rows by class of the target.",
    "rates": "The target in the levels of the categories that go most with it; all rows count.",
    "associations": "Pearson or Spearman for two numbers, corrected correlation ratio for a number "
    "and a category, corrected Cramer's V for two categories.",
    "overview": "A small tree on one column predicts another, on rows that it has not seen. "
    "Nothing is drawn where it does no better than the mean.",
    "scatterplots": "Select points in one panel to see them in all.",
    "ellipses": "Of a normal class, 39 and 86 percent of the rows lie within the two ellipses.",
    "parallel": "Drag along an axis to select rows.",
}


def report_of(look: Look) -> Report:
    """The report of a look at a table."""
    n, d = look.table.shape
    name = look.run.called or "a table"
    report = Report(f"A look at {name}", f"{n:,} rows · {d:,} columns" + _of_target(look))
    figures = figures_of(look)
    _findings_section(report, look)
    _target_section(report, look, figures)
    report.section("Columns").figure(figures.pop("roles"), CAPTIONS["roles"])
    _columns_table(report, look)
    if "missing" in figures:
        report.section("Missing cells").figure(figures.pop("missing"), CAPTIONS["missing"])
        _missing_tables(report, look)
    if "associations" in figures:
        report.section("Associations")
        report.figure(figures.pop("associations"), CAPTIONS["associations"])
        _associations_table(report, look)
    if "overview" in figures:
        report.section("Which column predicts which")
        report.figure(figures.pop("overview"), CAPTIONS["overview"])
        left_out = look.overview.left_out
        if left_out:
            listed = "; ".join(f"{column}: {reason}" for column, reason in left_out.items())
            report.text(f"Not predicted: {listed}.")
    points = [key for key in ("scatterplots", "ellipses", "parallel") if key in figures]
    if points:
        report.section("Points")
        for key in points:
            report.figure(figures.pop(key), CAPTIONS[key])
    if figures:
        report.section("Values")
        _distribution_note(report, look, len(figures))
        for figure in figures.values():
            report.figure(figure)
    _ending(report, look)
    return report


def _of_target(look: Look) -> str:
    return f" · target {look.target}" if look.target is not None else ""


def _findings_section(report: Report, look: Look) -> None:
    report.section("Findings")
    for finding in look.findings:
        report.verdict(f"{_sentence(finding.text)} {_sentence(finding.remedy)}", finding.kind)
    if not look.findings:
        report.verdict("Nothing looks wrong.", "good")
    for note in look.table.notes[:MOST_NOTES]:
        report.verdict(note, "note")
    if len(look.table.notes) > MOST_NOTES:
        more = len(look.table.notes) - MOST_NOTES
        report.verdict(f"{more:,} more notes of the reader are in the terminal.", "note")
    if look.with_target and not any(f.about == "leak" for f in look.findings):
        n = len(look.with_target)
        report.verdict(f"None of {n:,} columns gives the target away alone.", "good")
    for limit in look.limits:
        report.verdict(limit, "note")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _columns_table(report: Report, look: Look) -> None:
    headings = [
        "column",
        "kind",
        "missing",
        "distinct",
        "mean",
        "deviation",
        "minimum",
        "median",
        "maximum",
        "outliers",
        "most common",
        "bits",
        "reason for the kind",
    ]
    rows = [
        [
            each.name,
            str(each.kind),
            each.missing,
            each.distinct,
            each.mean,
            each.sd,
            each.minimum,
            each.median,
            each.maximum,
            each.outliers,
            each.most_common,
            each.entropy,
            look.table.schema[each.name].reason,
        ]
        for each in list(look.columns)[:MOST_TABLE_ROWS]
    ]
    left = len(look.columns) - len(rows)
    caption = "Kinds with their reasons, and statistics of every column."
    report.table(headings, rows, caption + (f" {left:,} more columns." if left else ""))


def _target_section(report: Report, look: Look, figures: dict[str, Any]) -> None:
    """Classes or values of the target, and what each column alone says of it."""
    if look.target is None:
        return
    values = figures.pop(f"values of {look.target}", None)
    classes, rates = figures.pop("classes", None), figures.pop("rates", None)
    if classes is not None or values is not None or rates is not None or look.predictors:
        report.section("The target")
    if rates is not None:
        report.figure(rates, CAPTIONS["rates"])
    if classes is not None:
        report.figure(classes, CAPTIONS["classes"])
    elif values is not None:
        report.figure(values)
    rows = [
        [name, f"{share:.1%}", f"± {error:.1%}"]
        for name, share, error in look.predictors[:MOST_TABLE_ROWS]
    ]
    if rows:
        report.table(
            ["column", "explained share", "standard error"],
            rows,
            "What each column alone says of the target, on rows not used to fit it. Below zero: it "
            "predicts worse than the mean.",
        )


def _missing_tables(report: Report, look: Look) -> None:
    pattern = look.missing
    report.text(f"{pattern.complete_rows:,} of {pattern.rows:,} rows have no missing cell.")
    if pattern.related:
        report.table(
            ["column", "whether it is missing goes with", "strength", "p (corrected)"],
            [[a, b, s, readable_p(p)] for a, b, s, p in pattern.related[:MOST_HOLES]],
            f"The strongest of {len(pattern.related):,} beyond chance, among {pattern.tested:,} "
            "pairs.",
        )
    elif pattern.tested:
        report.text(
            f"No other column says when cells are missing ({pattern.tested:,} pairs were tested)."
        )


def _associations_table(report: Report, look: Look) -> None:
    rows = [
        [
            pair.first,
            pair.second,
            pair.measure,
            pair.strength,
            pair.pearson,
            pair.spearman,
            readable_p(pair.p),
            pair.n,
        ]
        for pair in look.associations.pairs[:MOST_TABLE_ROWS]
    ]
    headings = ["first", "second", "measure", "strength", "Pearson", "Spearman"]
    report.table(
        [*headings, "p (corrected)", "rows"],
        rows,
        f"The strongest of {len(look.associations):,} pairs; p is corrected for their number "
        "(Holm). "
        "No p: too few rows for the test.",
    )


def _distribution_note(report: Report, look: Look, shown: int) -> None:
    usable = [e for e in look.columns if e.kind.is_numeric or e.kind in GROUPED]
    which = ", those that go most with the target" if look.with_target else ""
    said = f"Pictures of {shown} of {len(usable)} columns{which}."
    said = said if shown < len(usable) - 1 else ""
    if len(look.table) > MOST_BINNED:
        said += (
            f" Histograms are from {MOST_BINNED:,} of {len(look.table):,} rows, drawn with "
            f"seed {look.settings.random_state}; bars count all rows."
        )
    if said:
        report.text(said)


def _ending(report: Report, look: Look) -> None:
    report.section("What to do")
    report.text(
        "The steps that the findings ask for. Decide which to keep: a column that gives the "
        "target away must go, a constant one may, and outliers stay unless they are errors."
    )
    report.code(look.cleaning_script())
    if any(c.kind is Kind.IDENTIFIER for c in look.table.schema):
        report.text("Identifiers are left out by learners without being dropped.")
