"""The command ``gnomon networks``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.screen import print_json, print_table, say
from gnomon.workbench.base.shared_options import AsJson

Folder = Annotated[
    Path | None, typer.Option("--folder", help="Folder of the register; your own by default.")
]
Add = Annotated[
    Path | None, typer.Option("--add", help="Enter the network of this run or model file.")
]
Name = Annotated[str | None, typer.Option("--name", help="Its name; that of the run by default.")]
Note = Annotated[list[str] | None, typer.Option("--note", help="KEY=VALUE. May be repeated.")]


def networks(
    folder: Folder = None,
    add: Add = None,
    name: Name = None,
    note: Note = None,
    as_json: AsJson = False,
) -> None:
    """List trained networks that are kept for reuse, or enter one.

    An entry is a safetensors file with the parameters, the description of the network and the
    scaling of its columns; gnomon.neural.NetworkRegister reads it.

    Examples:

      gnomon networks --add runs/digits-network-1 --name digits --note license=CC0

      gnomon networks
    """
    from gnomon.neural import NetworkRegister

    register = NetworkRegister(folder)
    if add is not None:
        from gnomon.engine.modelfile import load

        file = add / "model.gnomon" if add.is_dir() else add
        about = dict(each.split("=", 1) for each in note or [] if "=" in each)
        entered = register.add(name or add.stem, load(file), about={"source": str(add)} | about)
        say(f"wrote {entered}")
    found = {each: register.about(each) for each in register.names()}
    if as_json:
        print_json(found)
        return
    if not found:
        say(f"there are no networks in {register.folder}; enter one with --add RUN")
        return
    lines = [
        [each, told.pop("parameters"), told.pop("network"), "; ".join(map(": ".join, told.items()))]
        for each, told in found.items()
    ]
    print_table(["name", "parameters", "network", "about"], lines)
