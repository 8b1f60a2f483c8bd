"""The command ``gnomon explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.workbench.base.screen import complaints, print_json, say
from gnomon.workbench.base.shared_options import AsJson

MOST_NAMES = 12  # a screen of names; gnomon.find lists all


def explain(
    words: Annotated[list[str], typer.Argument(help="What to look for.")],
    kind: Annotated[
        str | None, typer.Option(help="fact, procedure, example or remember; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look a name or a term up: what it is, facts, procedures, examples that run.

    Public names are found by their own names, by those of other libraries, and by words.

    Examples:

      gnomon explain random forest

      gnomon explain boosting --kind procedure
    """
    from gnomon.workbench.explain.entries import KINDS, help_entries
    from gnomon.workbench.explain.index import find

    word = " ".join(words)
    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="--kind")
    named = [] if kind else find(word).entries
    found = help_entries(word, kind)
    if not found and not named:
        complaints.print(f"nothing is known about {word!r}", markup=False)
        raise typer.Exit(1)
    if as_json:
        print_json([vars(each) for each in (*named, *found)])
        return
    for entry in named[:MOST_NAMES]:
        say(f"{entry.kind}: {entry.name}\n{entry.text}\n")
    if len(named) > MOST_NAMES:
        say(f"... and {len(named) - MOST_NAMES:,} more names: gnomon.find({word!r}) lists them\n")
    for each in found:
        say(f"{each.kind}: {each.title}" + (f"  ({each.texts})" if each.texts else ""))
        say(each.text + "\n")
