"""The command line: one command per job; `gnomon COMMAND --help` says what each does."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from gnomon.workbench.advise.command import AdviseCommand
from gnomon.workbench.again.command import again
from gnomon.workbench.base.screen import complaints, console, interrupt, progress_bar
from gnomon.workbench.catalogue.command import examples, methods, theory, workflows
from gnomon.workbench.compare.command import compare
from gnomon.workbench.decide.command import DecideCommand
from gnomon.workbench.detect.command import DetectCommand
from gnomon.workbench.explain.command import explain
from gnomon.workbench.export.command import export
from gnomon.workbench.forecast.command import ForecastCommand
from gnomon.workbench.group.command import GroupCommand
from gnomon.workbench.image.command import ImageCommand
from gnomon.workbench.label.command import LabelCommand
from gnomon.workbench.learn.command import LearnCommand
from gnomon.workbench.look.command import LookCommand
from gnomon.workbench.map.command import MapCommand
from gnomon.workbench.minimize.command import MinimizeCommand
from gnomon.workbench.networks.command import networks
from gnomon.workbench.predict.command import predict
from gnomon.workbench.prepare.command import PrepareCommand
from gnomon.workbench.rules.command import RulesCommand
from gnomon.workbench.runs.command import runs
from gnomon.workbench.search.command import SearchCommand
from gnomon.workbench.sign.command import sign
from gnomon.workbench.topics.command import TopicsCommand
from gnomon.workbench.train.command import TrainCommand
from gnomon.workbench.verify.command import conventions, levels, verify
from gnomon.workbench.web.command import open_in_browser
from gnomon.workbench.workers.command import workers

# processes that compile at once: each takes half a gigabyte (measured: 480 MB)
MOST_COMPILERS = 8
JOB_COMMANDS = (
    LearnCommand,
    ForecastCommand,
    GroupCommand,
    MapCommand,
    RulesCommand,
    TopicsCommand,
    SearchCommand,
    PrepareCommand,
    ImageCommand,
    DetectCommand,
    AdviseCommand,
    LookCommand,
    DecideCommand,
    MinimizeCommand,
    LabelCommand,
    TrainCommand,
)
OTHERS = (
    predict,
    export,
    compare,
    runs,
    again,
    methods,
    networks,
    workflows,
    examples,
    theory,
    explain,
    conventions,
    levels,
    verify,
    sign,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Machine learning from a raw table to a decision that a person can defend. "
    "Begin with: gnomon learn --example customers --target churn",
)
for each in JOB_COMMANDS:
    app.command(each.job.name)(each().function())
for other in OTHERS:
    app.command()(other)
app.command("open")(open_in_browser)
app.add_typer(workers, name="workers")


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
    from gnomon.engine.registry import load_packages
    from gnomon.engine.threads import processors

    load_packages()
    with progress_bar() as bar:
        task = bar.add_task("warming kernels", total=len(kernel.KERNELS))
        for name in kernel.warm(min(processors(), MOST_COMPILERS)):
            bar.update(task, advance=1, description=f"warm: {name.rpartition('.')[2]}")
    console.print(f"{len(kernel.KERNELS)} kernels are warm")


def main() -> None:
    """Run a command; errors of the user are printed in one line, without a traceback."""
    from gnomon.engine.errors import GnomonError, GnomonWarning

    said: set[str] = set()

    def say(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, GnomonWarning) and str(message) not in said:
            said.add(str(message))
            complaints.print("[yellow]note:[/yellow]", end=" ")
            complaints.print(str(message), markup=False, highlight=False)

    warnings.showwarning = say
    signal.signal(signal.SIGTERM, interrupt)
    try:
        app()
    except GnomonError as error:
        complaints.print("[red]error:[/red]", end=" ")
        complaints.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        complaints.print("stopped")
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
