"""`gnomon sign`: put a signature on a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.screen import console


def sign(
    model: Annotated[Path | None, typer.Argument(help="A model file.")] = None,
    key: Annotated[Path | None, typer.Option(help="Your private key, a file.")] = None,
    new_key: Annotated[
        Path | None, typer.Option(help="Make a private key there, and FILE.pub beside it.")
    ] = None,
) -> None:
    """Sign a model file, so that others can see that it is yours and unchanged.

    They load it with the public key: gnomon.load("model.gnomon", key="FILE.pub").

    Example: gnomon sign model.gnomon --new-key my.key
    """
    from gnomon.engine import signing
    from gnomon.engine.errors import ModelFileError

    if new_key is not None:
        private, public = signing.new_key(new_key)
        console.print(f"{private} is your private key; keep it to yourself", highlight=False)
        console.print(f"{public} is the public key; give it to those who load", highlight=False)
        key = key or private
    if model is None:
        if new_key is None:
            raise ModelFileError("name a model file to sign, or make a key with --new-key FILE")
        return
    if key is None:
        raise ModelFileError("signing needs a private key: --key FILE, or --new-key FILE")
    signing.sign(model, key)
    console.print(f"{model} is signed", highlight=False)
