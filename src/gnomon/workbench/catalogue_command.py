"""The commands that look things up: ``methods``, ``examples``, ``theory``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.workbench.screen import complaints, print_json, print_table, say

if TYPE_CHECKING:
    from gnomon.engine.registry import Method

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def methods(
    word: Annotated[str, typer.Argument(help="A room, or a word to look for.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the methods: what each is for, when not to use it, where the texts describe it.

    Examples:

      gnomon methods trees

      gnomon methods "missing values"
    """
    from gnomon.engine.registry import find
    from gnomon.engine.registry import methods as registered

    wanted = word.lower()
    in_room = [each for each in registered() if each.room == wanted]
    found = in_room or find(wanted)
    if not found:
        rooms = ", ".join(sorted({each.room for each in registered()}))
        complaints.print(f"no method matches {word!r}; the rooms are: {rooms}", markup=False)
        raise typer.Exit(1)
    if as_json:
        kept = ("name", "room", "task", "takes", "use", "avoid", "texts", "peers", "synonyms", "on")
        print_json([{key: getattr(each, key) for key in kept} for each in found])
        return
    print_table(
        ["method", "what for"],
        [[f"{m.name}\n{m.room}: {m.task}", about(m)] for m in found],
        f"{len(found)} methods",
    )


def about(method: Method) -> str:
    """When to use a method, when not, and where it is described."""
    made = "" if method.on == "own" else f"; on {method.on}"
    return f"{method.use}\nNot: {method.avoid}\nTexts: {method.texts}{made}\n"


def examples(as_json: AsJson = False) -> None:
    """List the bundled example tables.

    Example: gnomon learn --example wine --target cultivar
    """
    from gnomon.table import examples as bundled

    found = bundled()
    if as_json:
        print_json(found)
        return
    print_table(["example", "what it is"], list(found.items()))


def theory(
    rows: Annotated[int, typer.Option(help="Number of rows.", min=1)] = 1000,
    dimension: Annotated[float, typer.Option(help="VC dimension of the learner.")] = 10,
    hypotheses: Annotated[float, typer.Option(help="Models that were compared.")] = 1,
    epsilon: Annotated[float, typer.Option(help="Gap of errors that may be borne.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Chance of a larger gap.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """What theory promises: how far the error on new rows may lie from that on known ones.

    Hoeffding's bound for one and for several models, the VC bound, the rows that a bound asks for,
    and the dimensions that a random projection needs.

    Example: gnomon theory --rows 5000 --dimension 20 --hypotheses 7
    """
    from gnomon.evaluate import (
        finite_family,
        hoeffding,
        johnson_lindenstrauss_dimension,
        vc_gap,
        vc_sample_complexity,
    )

    one = hoeffding(n=rows, delta=delta).epsilon
    family = finite_family(hypotheses, n=rows, delta=delta).epsilon
    needed = hoeffding(epsilon=epsilon, delta=delta).n
    lines = {
        f"gap of one model, tested on {rows:,} rows (Hoeffding)": one,
        f"gap of the best of {hypotheses:g} models, chosen on {rows:,} rows": family,
        f"gap on {rows:,} training rows at VC dimension {dimension:g}": vc_gap(
            rows, dimension, delta
        ),
        f"test rows for a gap of {epsilon:g}": needed,
        f"training rows for a gap of {epsilon:g} at VC dimension {dimension:g}": (
            vc_sample_complexity(epsilon, delta, dimension).n
        ),
        f"dimensions that keep distances of {rows:,} points within {epsilon:.0%}": (
            johnson_lindenstrauss_dimension(rows, epsilon, delta)
        ),
    }
    if as_json:
        print_json(lines)
        return
    print_table(
        ["with probability " + f"{1 - delta:.0%}", "figure"],
        [
            [name, f"{value:,.4g}" if value < 10 else f"{value:,.0f}"]
            for name, value in lines.items()
        ],
    )
    say("Bounds hold for every data distribution, so they are wide; `gnomon learn` measures.")


def verify(
    word: Annotated[str, typer.Argument(help="A method; all by default.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare numbers of gnomon with other packages and worked numbers, here and now.

    Example: gnomon verify PCA
    """
    from gnomon.workbench.verification import verify as compared

    found = compared(word)
    columns = found._columns()
    if as_json:
        print_json([dict(zip(columns, row)) for row in zip(*columns.values())])
    else:
        rows = [
            [f"{c:.6g}" if isinstance(c, float) else c for c in r] for r in zip(*columns.values())
        ]
        print_table(list(columns), rows, str(found).splitlines()[0])
    if not found.right:
        raise typer.Exit(1)


def conventions(as_json: AsJson = False) -> None:
    """Where texts and other programs define things differently, and how to switch.

    Example: gnomon conventions
    """
    from gnomon.workbench.verification import conventions as both

    columns = both()._columns()
    if as_json:
        print_json([dict(zip(columns, row)) for row in zip(*columns.values())])
        return
    print_table(list(columns), list(zip(*columns.values())))


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
    from gnomon.workbench.help_entries import KINDS, help_entries

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
