"""The command ``gnomon learn``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from gnomon.workbench.completion import example_names, run_names
from gnomon.workbench.screen import (
    complaints,
    console,
    print_json,
    print_table,
    say,
    shown_progress,
)

NO_MODEL = 3
WIDE = 100
CHECKED_ROWS = 1_000


def learn(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    example: Annotated[
        str | None,
        typer.Option(
            help="Use a bundled example table instead of a file.", autocompletion=example_names
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(help="Time ('60s', '5min'), or fits of learners ('40': repeatable)."),
    ] = "60s",
    measure: Annotated[
        str | None,
        typer.Option(help="accuracy, balanced_accuracy, log_loss, auc ...; rmse, mae, r2."),
    ] = None,
    task: Annotated[str, typer.Option(help="auto, classify or regress.")] = "auto",
    choose: Annotated[
        str, typer.Option(help="one-standard-error (simplest of equals) or best.")
    ] = "one-standard-error",
    learner: Annotated[
        list[str] | None, typer.Option(help="Try this learner only; may be repeated.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column whose equal values stay together (persons).")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of moments: train on the past, test on the future.")
    ] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Folds; by default by rows.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Repetitions of the folds.")] = None,
    test_share: Annotated[float, typer.Option(help="Share of rows put aside to test.")] = 0.25,
    seed: Annotated[
        int, typer.Option(help="Seed of the splits and of random learners.", min=0)
    ] = 0,
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs"),
    name: Annotated[str | None, typer.Option(help="Name of this run's folder.")] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            help="Go on with this run (its name, its folder, or 'last').", autocompletion=run_names
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model here too.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 where nothing beats the baseline.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find what predicts a column best, and how well.

    Test rows are put aside first and used once. Learners, the baseline among them, are compared on
    the same folds. All is written to a run folder as it comes: a killed run goes on with --resume.

    Examples:

      gnomon learn sales.csv --target churn

      gnomon learn sales.csv --target churn --budget 40 --measure auc

      gnomon learn --example customers --target churn

      gnomon learn --resume last
    """
    from gnomon.engine.modelfile import load
    from gnomon.workbench.budget import Budget
    from gnomon.workbench.given import as_table, source_of
    from gnomon.workbench.learn import learn as run
    from gnomon.workbench.runs import find_run, new_name
    from gnomon.workbench.runs import resume as go_on

    if resume is not None:
        folder = find_run(resume, runs)
        with stopped_cleanly(folder), shown_progress("resuming") as tell:
            result = go_on(folder, progress=tell)
    else:
        if (file is None) == (example is None):
            raise typer.BadParameter("give a file, or --example NAME, or --resume RUN")
        if target is None:
            raise typer.BadParameter("give the column to predict: --target NAME")
        given = f"example:{example}" if example is not None else str(file)
        allowance = Budget.of(budget)
        table = as_table(given)
        if not as_json:
            show_table(given, table)
        folder = runs / (name or new_name(runs, source_of(given), target))
        with stopped_cleanly(folder), shown_progress("learning") as tell:
            result = run(
                table,
                target,
                task=task,
                measure=measure,
                learners=learner or None,
                budget=allowance,
                choose=choose,
                folds=folds,
                repeats=repeats,
                test_share=test_share,
                groups=groups,
                time=time,
                seed=seed,
                source=source_of(given),
                folder=folder,
                progress=tell,
            )
    written = [result.save(save)] if save is not None else []
    model = folder / "model.gnomon"
    inputs = result.problem.inputs(result.test_table[: min(CHECKED_ROWS, result.n_test)])
    if not (load(model).predict(inputs) == result.model.predict(inputs)).all():
        raise RuntimeError(f"the model read back from {model} predicts differently")
    if as_json:
        print_json(result.summary() | {"folder": str(folder)})
    else:
        show_result(result)
        show_folder(folder, written)
    if strict and not result.beats_baseline:
        raise typer.Exit(NO_MODEL)


class stopped_cleanly:
    """Says what is kept and how to go on when a run is stopped by the user."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if kind is KeyboardInterrupt:
            complaints.print(
                f"stopped; what was computed is kept in {escape(str(self.folder))}. Go on with: "
                f"gnomon learn --resume {escape(str(self.folder))}",
                highlight=False,
                soft_wrap=True,
            )


def show_table(given: str, table: Any) -> None:
    """What was read."""
    console.print(
        f"[bold]{escape(given)}[/bold]: {len(table):,} rows, {len(table.columns)} columns",
        highlight=False,
    )
    for note in table.notes:
        say(f"  · {note}")


def show_result(result: Any) -> None:
    """The problem, the board, the verdict, the checks."""
    for label, text in result.problem.card():
        console.print(f"[dim]{label:>14}[/dim]  {escape(text)}", highlight=False)
    print_board(result)
    for name, why in result.plan.left_out.items():
        say(f"did not compete: {name} ({why})")
    chosen = next((d for d in result.decisions if d["what"] == f"{result.chosen} is chosen"), None)
    if chosen is not None:
        say(f"{chosen['what']}: {chosen['why']}.")
    style = "bold green" if result.beats_baseline else "bold red"
    console.print(escape(result.verdict()), style=style, highlight=False)
    console.print(f"[bold]{escape(result.test_sentence())}[/bold]", highlight=False)
    made = [each for each in result.checks if each.verdict != "not made"]
    good = sum(each.verdict == "good" for each in made)
    say(f"{len(made)} checks were made; {good} found nothing.")
    for check in result.worries:
        colour = "red" if check.verdict == "bad" else "yellow"
        console.print(
            f"[{colour}]![/{colour}] [bold]{escape(check.name)}[/bold]: "
            f"{escape(check.finding)} {escape(check.remedy)}",
            highlight=False,
        )


def print_board(result: Any) -> None:
    """The learners, best first; in a narrow window without memory and size."""
    wide = console.width >= WIDE
    rows = []
    for line in result.leaderboard_lines():
        name, p = line["learner"], line["p_against_best"]
        cells = [
            f"{name} *" if line["chosen"] else name,
            str(result.board[name].figure()),
            "" if p is None or p != p else ("<0.001" if p < 0.001 else f"{p:.3f}"),
            f"{line['fit_seconds']:.2f} s",
            f"{line['predict_seconds']:.3f} s",
        ]
        if wide:
            size = line["model_kb"]
            cells += [
                f"{line['memory_mb']:,.0f} MB",
                "" if size is None else f"{size:,.0f} kB",
            ]
        rows.append(cells)
    headings = ["learner", result.measure, "p", "fit", "predict", "memory", "model"]
    print_table(
        headings if wide else headings[:-2],
        rows,
        f"{result.measure}, {result.plan.splits.how} of {result.n_train:,} rows",
        "* chosen. 95% intervals; p against the best, all pairs counted; per fold.",
    )


def show_folder(folder: Path, written: list[Path]) -> None:
    """What was written, and what can be done with it."""
    console.print(f"wrote [bold]{escape(str(folder))}[/bold]:", highlight=False)
    say("  report.html, leaderboard.csv, fold_scores.csv, model.gnomon, run.json, again.py")
    for path in written:
        say(f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")
    say(f"next: gnomon predict {folder} NEW_FILE")
