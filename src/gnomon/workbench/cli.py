"""The command line: ``gnomon learn``, ``gnomon methods``, ``gnomon warm``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Machine learning from a raw table to a decision that a person can defend.",
)
console = Console()
complaints = Console(stderr=True)


@app.callback()
def gnomon(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=lambda asked: asked and say_version()),
    ] = False,
) -> None:
    pass


def say_version() -> None:
    from gnomon import __version__

    console.print(f"gnomon {__version__}")
    raise typer.Exit()


@app.command()
def warm() -> None:
    """Compile the kernels now, so that no later run waits for it."""
    from gnomon.engine import kernel
    from gnomon.engine.registry import load_rooms

    load_rooms()
    with progress_bar() as bar:
        task = bar.add_task("warming kernels", total=len(kernel.KERNELS))
        for done in kernel.warm():
            bar.update(task, advance=1, description=f"warm: {done.function.__name__}")
        bar.update(task, description=f"{len(kernel.KERNELS)} kernels are warm")


@app.command()
def methods(
    word: Annotated[str, typer.Argument(help="A room, or a word to look for.")] = "",
) -> None:
    """List the methods: what each is for, when not to use it, where the texts describe it.

    Example: gnomon methods trees
    """
    from gnomon.engine.registry import methods as registered

    wanted = word.lower()
    found = [
        each
        for each in registered()
        if wanted in (each.room, "")
        or wanted in f"{each.name} {each.task} {each.use} {each.avoid} {each.peers}".lower()
    ]
    if not found:
        rooms = ", ".join(sorted({each.room for each in registered()}))
        complaints.print(f"no method matches {word!r}; the rooms are: {rooms}")
        raise typer.Exit(1)
    listing = RichTable(title=f"{len(found)} methods", title_justify="left")
    for heading in ("room", "method", "task", "use it", "not", "texts"):
        listing.add_column(heading, overflow="fold")
    for each in found:
        listing.add_row(each.room, each.name, each.task, each.use, each.avoid, each.texts)
    console.print(listing)


@app.command()
def learn(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    target: Annotated[str, typer.Option(help="The column to predict.")] = ...,  # type: ignore[assignment]
    example: Annotated[
        str | None, typer.Option(help="Use a bundled example table instead of a file.")
    ] = None,
    save: Annotated[Path, typer.Option(help="Where the best model is written.")] = Path(
        "model.gnomon"
    ),
    folds: Annotated[int, typer.Option(min=2, help="Folds of the comparison.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of the comparison.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the splits and of random learners.")] = 0,
) -> None:
    """Find what predicts a column best, and how well.

    Example: gnomon learn sales.csv --target churn
    """
    from gnomon.engine.modelfile import load
    from gnomon.table import example as bundled
    from gnomon.table import read
    from gnomon.workbench.learn import learn as run

    if (file is None) == (example is None):
        raise typer.BadParameter("give a file, or --example NAME")
    table = bundled(example) if example is not None else read(file)
    where = f"the example {example!r}" if example is not None else file
    console.print(f"[bold]{where}[/bold]: {len(table):,} rows, {len(table.columns)} columns")
    for note in table.notes:
        console.print(f"  · {note}", highlight=False)
    console.print(table.describe())
    with progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def tell(name: str, total: int, done: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        result = run(table, target, n_folds=folds, n_repeats=repeats, seed=seed, progress=tell)
    console.print(leaderboard(result, folds, repeats))
    say_verdict(result)
    path = result.model.save(save)
    again = load(path)
    same = (again.predict(result.test_table) == result.model.predict(result.test_table)).all()
    if not same:
        raise RuntimeError(f"the model read back from {path} predicts differently")
    console.print(
        f"wrote [bold]{path}[/bold] ({path.stat().st_size / 1000:,.0f} kB); read back, it gives "
        "the same predictions on the test rows"
    )


def leaderboard(result, n_folds: int, n_repeats: int) -> RichTable:
    """The compared learners, best first, as a printed table."""
    board = RichTable(
        title=f"{result.measure} over {n_repeats} x {n_folds} folds of {result.n_train:,} rows",
        caption="95% intervals, and p against the best, allow for overlapping training rows",
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
    )
    board.add_column("learner", no_wrap=True)
    for heading in ("mean", "95% interval", "p", "fit", "predict"):
        board.add_column(heading, justify="right", no_wrap=True)
    for place, each in enumerate(result.scores):
        figure = each.interval()
        p = "" if place == 0 else readable_p(each.p_against(result.best))
        board.add_row(
            each.name,
            f"{figure.value:.3f}",
            f"{figure.low:.3f} to {figure.high:.3f}",
            p,
            f"{each.fit_seconds:.2f} s",
            f"{each.predict_seconds:.2f} s",
        )
    return board


def readable_p(p: float) -> str:
    """A p value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def say_verdict(result) -> None:
    """What the figures mean, in words."""
    best, baseline = result.best, result.baseline
    if result.beats_baseline:
        console.print(
            f"{best.name} beats the baseline ({baseline.mean:.4f}) beyond chance "
            f"(p = {best.p_against(baseline):.2g})."
        )
    else:
        console.print(
            f"[bold]No learner beats the baseline ({baseline.mean:.4f}) beyond chance:[/bold] this "
            "table, as it is, does not predict the target. Do not act on the model."
        )
    console.print(
        f"On the {result.n_test:,} test rows, used once: {result.measure} "
        f"[bold]{result.test.value:.4f}[/bold], 95% interval {result.test.low:.4f} to "
        f"{result.test.high:.4f}."
    )


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def main() -> None:
    """Run a command; errors that a user can mend are said in a line, without a traceback."""
    from gnomon.engine.errors import GnomonError, GnomonWarning

    said: set[str] = set()

    def say(message, category, *_, **__):
        if issubclass(category, GnomonWarning) and str(message) not in said:
            said.add(str(message))
            complaints.print(f"[yellow]note:[/yellow] {message}", highlight=False)

    warnings.showwarning = say
    try:
        app()
    except GnomonError as error:
        complaints.print(f"[red]error:[/red] {error}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        complaints.print("stopped")
        sys.exit(130)
