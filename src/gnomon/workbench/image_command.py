"""The command ``gnomon image``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.screen import say, shown_progress


def image(
    file: Annotated[Path, typer.Argument(help="The picture: PNG, PGM, PBM, NPY or CSV.")],
    task: Annotated[str, typer.Option(help="denoise or segment.")] = "denoise",
    strength: Annotated[float, typer.Option(help="How much neighbours like to agree.")] = 1.0,
    noise: Annotated[
        float, typer.Option(help="Of two values: the share of pixels that are flipped.")
    ] = 0.1,
    segments: Annotated[int, typer.Option(help="How many segments to cut into.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of draws.", min=0)] = 0,
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs"),
    name: Annotated[str | None, typer.Option(help="Name of this run's folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Clean a noisy picture, or cut it into segments: neighbouring pixels like to agree.

    The run folder gets answer.png, answer.npy, report.html and run.json.

    Examples:

      gnomon image scan.png --strength 1.5

      gnomon image field.png --task segment --segments 4
    """
    from gnomon.workbench.image import image as work
    from gnomon.workbench.runs import new_name

    folder = runs / (name or new_name(runs, str(file), "image"))
    with shown_progress("looking at pixels") as tell:
        result = work(
            file,
            task=task,
            strength=strength,
            noise=noise,
            n_segments=segments,
            seed=seed,
            folder=folder,
            progress=tell,
        )
    if as_json:
        typer.echo(result.to_json())
        return
    say(str(result))
    say(f"wrote {folder}: answer.png, answer.npy, report.html")
