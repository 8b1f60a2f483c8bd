"""The command of a job, made from the declaration of its options."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.workbench.base.completion import example_names
from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import (
    complaints,
    console,
    print_json,
    say,
    shown_progress,
    workers_table,
)

READING_OPTIONS = (
    Option("sheet", str, None, "The sheet of an Excel file.", flag="sheet"),
    Option("table", str, None, "The table of a data base.", flag="table"),
    Option("sql", str, None, "The query of a data base.", flag="sql"),
    Option("encoding", str, None, "The encoding of a text file.", flag="encoding"),
    Option("member", str, None, "The file of a zip archive.", flag="member"),
    Option("kind", str, None, "The kind of a column: COLUMN=number.", flag="kind", many=True),
)
FILES = {
    "table": "The table: CSV, Parquet, Excel, a data base, a postgresql:// URL, a zip archive ...",
    "picture": "The picture: PNG, PGM, PBM, NPY or CSV.",
    "pictures": "A folder of pictures, or one picture: JPEG, PNG, GIF, BMP, TIFF, WebP ...",
    "function": "The function: FILE.py:NAME.",
}


def parameter(name: str, kind: Any, default: Any, info: Any) -> inspect.Parameter:
    """A parameter of a command, as Typer reads it."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def flag(each: Option) -> inspect.Parameter:
    """An option as a flag of the command line; the command checks what is required."""
    kind: Any = str if each.type is object else each.type
    repeated = " May be repeated." if each.many or each.repeats else ""
    allowed = f" One of: {', '.join(each.choices)}." if each.choices else ""
    info = typer.Option(
        f"--{each.flag}", help=each.help.split(". ")[0].rstrip(".") + "." + allowed + repeated
    )
    if each.complete is not None:
        info.autocompletion = each.complete
    if each.many or each.repeats:
        return parameter(each.name, list[kind] | None, None, info)
    if each.is_required or each.default is None:
        return parameter(each.name, kind | None, None, info)
    return parameter(each.name, kind, each.default, info)


@contextmanager
def on_workers(address: str | None, quiet: bool) -> Iterator[None]:
    """Sums of rows and independent fits go to the workers of a scheduler, where one is named."""
    if address is None:
        yield
        return
    from gnomon.distributed import connect
    from gnomon.engine.config import config

    with connect(address) as cluster, config(executor=cluster):
        # Dask logs a traceback where its scheduler is gone; the job tells what to do
        for name in [
            each for each in logging.root.manager.loggerDict if each.startswith("distributed")
        ]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if not quiet:
            say(f"{len(cluster.workers())} workers of {cluster.address}")
        yield
        if not quiet:
            console.print(workers_table(cluster.workers()))


class JobCommand:
    """A command; a subclass names its job and says what is shown.

    Attributes
    ----------
    job : Job
    own : tuple of Option
        Options of the command alone, such as ``--save``.
    suffix : str
        Ends the names of run folders; empty for the name of the target.
    failure : str
        What ``--strict`` ends with an error for; empty where there is no such option.
    failure_code : int
    """

    job: Job
    own: tuple[Option, ...] = ()
    suffix = ""
    failure = ""
    failure_code = 3

    def function(self) -> Any:
        """The function that Typer calls."""

        def command(**words: Any) -> None:
            self.run(words)

        command.__signature__ = inspect.Signature(self.parameters())  # type: ignore[attr-defined]
        command.__annotations__ = {}
        command.__doc__ = self.__doc__
        command.__name__ = self.job.name
        return command

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of the command: what it is given, its options, where it writes."""
        declared = [each for each in self.job.options.declared() if each.flag]
        is_table = self.job.subject == "table"
        file = typer.Argument(help=FILES[self.job.subject])
        found = [parameter("file", str | None, None, file)]
        if is_table:
            info = typer.Option(help="Use a bundled example table instead of a file.")
            info.autocompletion = example_names
            found.append(parameter("example", str | None, None, info))
            taken = {each.name for each in (*declared, *self.own)}
            found += [flag(each) for each in READING_OPTIONS if each.name not in taken]
        found += [flag(each) for each in (*declared, *self.own)]
        runs = typer.Option(help="Folder of the run folders.")
        found.append(parameter("runs", Path, Path("runs"), runs))
        workers = typer.Option(
            help="Address of a Dask scheduler, such as tcp://host:8786: its workers hold the rows "
            "and run the folds. `gnomon workers start 4` starts some on this machine."
        )
        found.append(parameter("workers", str | None, None, workers))
        name = typer.Option(help="Name of this run's folder.")
        found.append(parameter("name", str | None, None, name))
        report = typer.Option(help="Write the report to this HTML file too.")
        found.append(parameter("report", Path | None, None, report))
        if self.failure:
            strict = typer.Option("--strict", help=self.failure)
            found.append(parameter("strict", bool, False, strict))
        as_json = typer.Option("--json", help="Print the result as JSON.")
        return [*found, parameter("as_json", bool, False, as_json)]

    def run(self, words: dict[str, Any]) -> None:
        """Do the job with the words of the command line, and show what it found."""
        from gnomon.workbench.base.budget import counted_from_here

        with counted_from_here():
            self.run_whole(words)

    def run_whole(self, words: dict[str, Any]) -> None:
        """Read what is given, do the job, show what it found."""
        given, begun = self.given(words), self.options(words)
        folder = self.folder(words, given)
        subject: Any = given
        if self.job.subject == "table":
            subject = self.table(given)
            if not words["as_json"]:
                self.before(given, subject)
        with on_workers(words["workers"], quiet=words["as_json"]):
            result = self.work(words | begun, subject, given, folder)
        self.end(words, result, folder)

    def work(self, words: dict[str, Any], subject: Any, given: str, folder: Path | None) -> Any:
        """The result of the job."""
        from gnomon.workbench.base.given import source_of

        source = source_of(given) if self.job.subject == "table" else None
        with self.stopping(folder), shown_progress(self.job.name) as tell:
            return self.job.function(
                subject, source=source, folder=folder, progress=tell, **self.options(words)
            )

    def given(self, words: dict[str, Any]) -> str:
        """The file or the example that the command is given."""
        file, example = words["file"], words.get("example")
        if (file is None) == (example is None):
            raise typer.BadParameter(
                "give a file, or --example NAME" if "example" in words else "give a file"
            )
        if example is not None:
            return f"example:{example}"
        from gnomon.workbench.base.given import with_reading

        taken = {each.name for each in self.job.options.declared()}
        asked = {each.name: words.get(each.name) for each in READING_OPTIONS}
        return with_reading(str(file), {k: v for k, v in asked.items() if k not in taken})

    def options(self, words: dict[str, Any]) -> dict[str, Any]:
        """The options of the job, by name."""
        found = {}
        for each in self.job.options.declared():
            if not each.flag:
                continue
            value = words[each.name]
            if each.repeats and isinstance(value, list):
                value = value[0] if value and len(value) == 1 else value
            if each.is_required and not value:
                raise typer.BadParameter(f"give --{each.flag}: {each.help}")
            found[each.name] = (value or None) if each.many else value
        return found

    def folder(self, words: dict[str, Any], given: str) -> Path | None:
        """The run folder; None where none is written."""
        from gnomon.table.sql import without_secret
        from gnomon.workbench.base.runs import new_name

        if words["name"] is None and not self.job.always_written:
            return None
        ending = self.suffix or words["target"][0]
        name = words["name"] or new_name(words["runs"], without_secret(given), ending)
        folder: Path = words["runs"] / name
        return folder

    def table(self, given: str) -> Any:
        """The table; the modules of the job are loaded while it is read."""
        from gnomon.workbench.base.given import as_table

        with shown_progress(f"reading {given}"), ThreadPoolExecutor(1) as aside:
            table = aside.submit(as_table, given)
            _ = self.job.function
            return table.result()

    def end(self, words: dict[str, Any], result: Any, folder: Path | None) -> None:
        """Show the result, say what was written, and end as ``--strict`` asks."""
        written = self.written(words, result)
        if words["report"] is not None:
            written.append(result.report(words["report"]))
        if words["as_json"]:
            print_json(result.summary() | ({} if folder is None else {"folder": str(folder)}))
        else:
            self.show(result)
            if folder is not None:
                names = sorted(each.name for each in folder.iterdir() if each.is_file())
                say(f"wrote {folder}: {', '.join(names)}")
                self.after(folder)
        for path in written:
            line = f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)"
            complaints.print(line, markup=False, highlight=False)
        if words.get("strict") and self.failed(result):
            raise typer.Exit(self.failure_code)

    def before(self, given: str, table: Any) -> None:
        """What is shown of the table before the work begins."""

    def stopping(self, folder: Path | None) -> AbstractContextManager[Any]:
        """What is done where the user stops the work."""
        return nullcontext()

    def show(self, result: Any) -> None:
        """Print the result."""
        say(str(result))

    def after(self, folder: Path) -> None:
        """What can be done next."""

    def written(self, words: dict[str, Any], result: Any) -> list[Path]:
        """Write what further options ask for."""
        return []

    def failed(self, result: Any) -> bool:
        """Whether ``--strict`` ends with an error."""
        return False
