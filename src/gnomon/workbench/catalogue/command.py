"""The commands that look things up: ``methods``, ``examples``, ``theory``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.workbench.base.screen import complaints, print_json, print_table, say
from gnomon.workbench.base.shared_options import AsJson

MOST_NAMES = 12  # a screen of names; gnomon.find lists all

if TYPE_CHECKING:
    from gnomon.engine.registry import Method


def methods(
    words: Annotated[
        list[str] | None, typer.Argument(help="A package, or words to look for.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods: what each is for, when not to use it, where the texts describe it.

    Where no method matches, the functions and terms that do are listed.

    Examples:

      gnomon methods trees

      gnomon methods missing values
    """
    from gnomon.engine.registry import find
    from gnomon.engine.registry import methods as registered

    word = " ".join(words or ())
    wanted = word.lower()
    in_package = [each for each in registered() if each.package == wanted]
    found = in_package or find(wanted)
    if not found and _other_names(word, as_json):
        return
    if not found:
        packages = ", ".join(sorted({each.package for each in registered()}))
        complaints.print(f"no method matches {word!r}; the packages are: {packages}", markup=False)
        raise typer.Exit(1)
    if as_json:
        about_it = ("use", "avoid", "texts", "peers", "synonyms", "on")
        kept = ("name", "package", "task", "takes", *about_it)
        print_json([{key: getattr(each, key) for key in kept} for each in found])
        return
    print_table(
        ["method", "what for"],
        [[f"{m.name}\n{m.package}: {m.task}", about(m)] for m in found],
        f"{len(found)} methods",
    )


def _other_names(word: str, as_json: bool) -> bool:
    """Show the functions, classes and terms that match, if any; say whether there are any."""
    from gnomon.workbench.explain.index import find

    entries = find(word).entries
    if as_json or not entries:
        return False  # the list of methods has other fields
    rows = [[each.name, each.text] for each in entries[:MOST_NAMES]]
    print_table(["name", "what it is"], rows, f"no method, but {len(entries)} other names")
    return True


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
    at_dimension = f"at VC dimension {dimension:g}"
    lines = [
        (f"gap of one model, tested on {rows:,} rows", "Hoeffding", one),
        (f"gap of the best of {hypotheses:g} models, chosen on {rows:,} rows", "union", family),
        (
            f"gap on {rows:,} training rows {at_dimension}",
            "VC growth",
            vc_gap(rows, dimension, delta),
        ),
        (f"test rows for a gap of {epsilon:g} of one model", "Hoeffding", needed),
        (
            f"training rows for a gap of {epsilon:g} {at_dimension}",
            "VC growth",
            vc_sample_complexity(epsilon, delta, dimension, form="growth").n,
        ),
        (
            f"dimensions that keep distances of {rows:,} points within {epsilon:.0%}",
            "JL",
            johnson_lindenstrauss_dimension(rows, epsilon, delta),
        ),
    ]
    if as_json:
        print_json({f"{what} ({bound})": value for what, bound, value in lines})
        return
    print_table(
        ["with probability " + f"{1 - delta:.0%}", "bound", "figure"],
        [
            [what, bound, f"{value:,.4g}" if value < 10 else f"{value:,.0f}"]
            for what, bound, value in lines
        ],
    )
    say(
        "Bounds: Hoeffding's for one model; its union over the models compared; Vapnik and "
        "Chervonenkis' with the growth function (Sauer's sum); JL: Johnson and Lindenstrauss."
    )
    say("Bounds hold for every data distribution, so they are wide; `gnomon learn` measures.")


def workflows(as_json: AsJson = False) -> None:
    """List the workflows of the texts: functions for one method or one question.

    Example: gnomon workflows
    """
    from gnomon.workbench import workflows as all_of_them

    found = {
        name: (getattr(all_of_them, name).__doc__ or "").partition("\n")[0]
        for name in all_of_them.__all__
    }
    if as_json:
        print_json(found)
        return
    print_table(["gnomon.workbench.workflows", "what it does"], list(found.items()))
