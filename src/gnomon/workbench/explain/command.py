"""The command ``gnomon explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.workbench.base.screen import complaints, print_json, say
from gnomon.workbench.base.shared_options import AsJson


def explain(
    word: Annotated[str, typer.Argument(help="What to look for.")],
    kind: Annotated[
        str | None, typer.Option(help="fact, procedure, example or remember; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look a word up: facts, procedures, examples that run, and what to remember.

    Example: gnomon explain boosting --kind procedure
    """
    from gnomon.workbench.explain.entries import KINDS, help_entries

    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="--kind")
    found = help_entries(word, kind)
    if not found:
        complaints.print(f"nothing is known about {word!r}", markup=False)
        raise typer.Exit(1)
    if as_json:
        print_json([vars(each) for each in found])
        return
    for each in found:
        say(f"{each.kind}: {each.title}" + (f"  ({each.texts})" if each.texts else ""))
        say(each.text + "\n")
