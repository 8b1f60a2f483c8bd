"""The command ``gnomon predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.workbench.base.screen import (
    complaints,
    print_json,
    print_table,
    say,
)
from gnomon.workbench.base.shared_options import AsJson

SHOWN = 3  # judgement: a look; the file has the reasons of all rows


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, or a run folder.")],
    file: Annotated[str | None, typer.Argument(help="The table with the new rows.")] = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of an Excel file.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of a data base.")] = None,
    sql: Annotated[str | None, typer.Option(help="The query of a data base.")] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of a text file.")] = None,
    member: Annotated[str | None, typer.Option(help="The file of a zip archive.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="The kind of a column: COLUMN=number. May be repeated."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where predictions are written: .csv, .tsv, .parquet.")
    ] = Path("predictions.csv"),
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy this column too (an identifier).")
    ] = None,
    undecided: Annotated[
        float | None,
        typer.Option(help="Mark rows whose best class is less probable than this."),
    ] = None,
    queue: Annotated[
        Path | None, typer.Option(help="Write the undecided rows here, for people to answer.")
    ] = None,
    explain: Annotated[
        Path | None,
        typer.Option(help="Write here how much every column adds to each prediction."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="What if: COLUMN=VALUE[,VALUE ...]. Without FILE, of a typical row."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a saved model about new rows.

    Columns are found by name; further ones are ignored. Text that a spreadsheet would run as a
    formula is written with a ' before it. --explain says why (of 100 rows at most), --set what
    would be predicted if columns had other values.

    Examples:

      gnomon predict runs/sales-churn-1 new.csv --keep customer_id

      gnomon predict model.gnomon new.csv --undecided 0.6 --queue ask.csv

      gnomon predict runs/sales-churn-1 new.csv --explain why.csv

      gnomon predict runs/sales-churn-1 --set price=10,20,30 --set plan=basic
    """
    from gnomon.engine.errors import DataError
    from gnomon.table.table import require_writable
    from gnomon.workbench.base.given import with_reading
    from gnomon.workbench.base.whole_file import written
    from gnomon.workbench.predict.job import predict as ask

    if queue is not None and undecided is None:
        raise typer.BadParameter("--queue needs --undecided, such as --undecided 0.6")
    reading: dict[str, Any] = {"sheet": sheet, "table": table, "sql": sql, "encoding": encoding}
    reading |= {"member": member, "kind": kind}
    source = None if file is None else with_reading(file, reading)
    if set_:
        show_outcomes(model, source, set_, as_json)
        return
    if source is None:
        raise typer.BadParameter("give a file with the new rows, or --set COLUMN=VALUE")
    for place in (out, queue, explain):
        if place is not None:
            require_writable(place)
    found = ask(model, source, undecided=undecided)
    predicted = found.table
    for name in reversed(keep or []):
        if name not in found.rows.columns:
            raise DataError(f"--keep {name}: there is no such column in {file}")
        predicted = with_first(found.rows, name, predicted)
    written(predicted, out)
    if queue is not None:
        written(found.queue(), queue)
    for note in found.notes:
        complaints.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    if as_json:
        scored = {} if found.score is None else {found.score[0]: found.score[1]}
        print_json(
            {
                "rows": len(found),
                "out": str(out),
                "undecided": len(found.undecided),
                "score": scored,
                "notes": found.notes,
            }
        )
        return
    say(f"wrote {out}: {len(found):,} predictions ({', '.join(predicted.columns)})")
    if explain is not None:
        show_reasons(model, found.rows, explain)
    if found.score is not None:
        say(found.score_sentence())
    if undecided is not None:
        where = f", written to {queue}" if queue is not None else ""
        say(f"{len(found.undecided):,} rows are undecided (below {undecided:g}){where}")


def show_reasons(model: Path, rows: Any, path: Path) -> None:
    """Write the contributions of columns to predictions, and print those of the first rows."""
    from gnomon.workbench.base.whole_file import written
    from gnomon.workbench.predict.explanation import MOST_EXPLAINED, explained
    from gnomon.workbench.predict.job import saved

    fitted, sample = saved(model)
    if len(rows) > MOST_EXPLAINED:
        say(f"the first {MOST_EXPLAINED} of {len(rows):,} rows are explained")
        rows = rows[:MOST_EXPLAINED]
    found = explained(fitted, rows, sample)
    written(found.to_table(), path)
    say(f"wrote {path}: contributions to {found.what}, {found.base:.4g} on the mean")
    for row in range(min(len(rows), SHOWN)):
        parts = [
            f"{name} {value:+.3g}" + (f" ± {error:.1g}" if error > 0 else "")
            for name, value, error in found.of_row(row)
        ]
        head = f"row {row + 1}: {found.what} {found.outputs[row]:.4g}"
        say(f"{head} = mean and {', '.join(parts)} ...")


def show_outcomes(model: Path, source: str | None, words: list[str], as_json: bool) -> None:
    """Print what would be predicted if columns had other values."""
    from gnomon.workbench.base.given import as_table
    from gnomon.workbench.predict.explanation import changes_of, outcomes
    from gnomon.workbench.predict.job import saved

    fitted, sample = saved(model)
    rows = None if source is None else as_table(source)
    found = outcomes(fitted, sample, changes_of(words), rows)
    if as_json:
        print_json(found.to_dict())
        return
    if rows is None:
        say("other columns as in a typical training row: medians and commonest categories")
    cells = found.to_dict()
    lines = [
        [f"{each:.4g}" if isinstance(each, float) else str(each) for each in line]
        for line in zip(*cells.values())
    ]
    print_table(list(cells), lines, "what would be predicted")


def with_first(rows: Any, name: str, table: Any) -> Any:
    """A table with a column of the rows put first."""
    from gnomon.table import Schema, Table

    arrow = table.arrow.add_column(0, name, rows.column(name))
    return Table(arrow, Schema([rows.schema[name], *table.schema]))
