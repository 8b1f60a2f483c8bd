"""``gnomon workers start 4`` and ``gnomon workers show ADDRESS``."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.live import Live

from gnomon.workbench.base.screen import LOOK_EVERY, console, workers_table

workers = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Workers of a Dask cluster: start some on this machine, or show what they do.",
)


@workers.command()
def start(
    n: Annotated[int, typer.Argument(help="Worker processes.", min=1)] = 2,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory that each may use, such as 4GB; an equal share by default."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the scheduler; 0 for any free one.")] = 8786,
) -> None:
    """Start a scheduler and workers on this machine, and show what they do until Ctrl-C.

    Use them from another terminal: gnomon learn file.csv --target y --workers ADDRESS.
    """
    from gnomon.distributed import local

    with local(n, memory=memory, port=port) as cluster:
        console.print(f"scheduler: {cluster.address}", highlight=False)
        console.print(f"use it: gnomon learn ... --workers {cluster.address}", highlight=False)
        console.print("stop it: Ctrl-C")
        if not console.is_terminal:
            while True:
                time.sleep(LOOK_EVERY)
        _watch(cluster)


@workers.command()
def show(
    address: Annotated[str, typer.Argument(help="Address of the scheduler.")],
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C.")] = False,
    logs: Annotated[int, typer.Option(help="Last lines of the log of each worker.", min=0)] = 0,
) -> None:
    """Show memory, tasks and results held by each worker of a scheduler, and their logs."""
    from gnomon.distributed import connect

    with connect(address) as cluster:
        if watch:
            _watch(cluster)
        console.print(workers_table(cluster.workers()))
        if logs:
            for worker, lines in cluster.logs(logs).items():
                console.print(worker)
                for line in lines:
                    console.print(f"  {line}", markup=False, highlight=False)


def _watch(cluster: Any) -> None:
    with Live(workers_table(cluster.workers()), console=console) as live:
        while True:
            time.sleep(LOOK_EVERY)
            live.update(workers_table(cluster.workers()))
