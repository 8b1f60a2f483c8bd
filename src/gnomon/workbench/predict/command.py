"""The command ``gnomon predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.workbench.base.screen import (
    complaints,
    print_json,
    say,
)
from gnomon.workbench.base.shared_options import AsJson


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, or a run folder.")],
    file: Annotated[Path, typer.Argument(help="The table with the new rows.")],
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
    as_json: AsJson = False,
) -> None:
    """Ask a saved model about new rows.

    Columns are found by name; further ones are ignored. Text that a spreadsheet would run as a
    formula is written with a ' before it.

    Examples:

      gnomon predict runs/sales-churn-1 new.csv --keep customer_id

      gnomon predict model.gnomon new.csv --undecided 0.6 --queue ask.csv
    """
    from gnomon.engine.errors import DataError
    from gnomon.workbench.base.whole_file import written
    from gnomon.workbench.predict.job import predict as ask

    if queue is not None and undecided is None:
        raise typer.BadParameter("--queue needs --undecided, such as --undecided 0.6")
    found = ask(model, file, undecided=undecided)
    table = found.table
    for name in reversed(keep or []):
        if name not in found.rows.columns:
            raise DataError(f"--keep {name}: there is no such column in {file}")
        table = with_first(found.rows, name, table)
    written(table, out)
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
    say(f"wrote {out}: {len(found):,} predictions ({', '.join(table.columns)})")
    if found.score is not None:
        say(found.score_sentence())
    if undecided is not None:
        where = f", written to {queue}" if queue is not None else ""
        say(f"{len(found.undecided):,} rows are undecided (below {undecided:g}){where}")


def with_first(rows: Any, name: str, table: Any) -> Any:
    """A table with a column of the rows put first."""
    from gnomon.table import Schema, Table

    arrow = table.arrow.add_column(0, name, rows.column(name))
    return Table(arrow, Schema([rows.schema[name], *table.schema]))
