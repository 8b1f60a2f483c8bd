"""Four kinds of help, as the index of 000 has them: facts, procedures, examples, remember this.

Facts and examples come from the methods themselves, so that they cannot grow stale; procedures
name the functions that do them.
"""

from __future__ import annotations

import doctest
import importlib
from dataclasses import dataclass

from gnomon.engine.registry import methods
from gnomon.workbench.explain.index import Entry

KINDS = ("fact", "procedure", "example", "remember")


@dataclass(frozen=True)
class HelpEntry:
    """One entry.

    Attributes
    ----------
    kind : str
        ``"fact"``, ``"procedure"``, ``"example"`` or ``"remember"``.
    title, text : str
    texts : str
        Where the texts say it.
    """

    kind: str
    title: str
    text: str
    texts: str = ""

    def matches(self, query: str) -> bool:
        """Whether every word of the query occurs in the title or the text."""
        return Entry(self.title, self.kind, self.text).rank(query) is not None


# what to do, the function or command that does it, where it is described
PROCEDURES = (
    ("find what predicts a column", "gnomon.workbench.learn.job:learn", "000 1.3.1"),
    ("look at a table first", "gnomon.workbench.look.job:look", "004 5"),
    ("choose a method", "gnomon.workbench.advise.job:advise", "002 5"),
    ("tune boosted trees", "gnomon.workbench.workflows.single_method:tune_boosting", "001 13.10"),
    (
        "grow a tree and prune it",
        "gnomon.workbench.workflows.single_method:grow_and_prune",
        "001 11",
    ),
    ("verify a gradient", "gnomon.optimize.derivatives:check_gradient", "003 5"),
    ("repair a regression", "gnomon.workbench.workflows.repair:repair_regression", "000 10.4.3"),
    ("read training curves", "gnomon.workbench.workflows.curve_reading:read_curves", "000 16.2"),
    ("replay a fit", "gnomon.workbench.workflows.fit_replay:replay", "001 8"),
    ("compare two tables", "gnomon.workbench.analysis.diagnosis:shift_check", "000 8"),
    (
        "name the groups that were found",
        "gnomon.workbench.workflows.named_groups:name_groups",
        "004 8",
    ),
)

REMEMBER = (
    (
        "test rows",
        "Use test rows once, at the end: rows that chose something are not new.",
        "000 1",
    ),
    ("baseline", "A figure means nothing without that of naming the commonest class.", "000 1"),
    ("scaling", "Distances and penalties depend on units: scale the columns alike first.", "000 1"),
    (
        "folds",
        "Everything that learns from rows belongs inside the folds: filters, choices.",
        "001 7",
    ),
    ("error bars", "A difference within its error bar is no difference.", "003 2"),
    ("outliers", "A removed outlier may be the discovery: look at each.", "000 10"),
    ("loss", "Loss can improve with no change of error; compare by what you care about.", "000 16"),
    ("local minima", "k-means and mixtures end in local minima: start several times.", "000 8"),
    ("simple first", "Among equals take the simplest.", "004 4"),
)


def help_entries(word: str = "", kind: str | None = None) -> list[HelpEntry]:
    """Entries that have a word, of one kind or of all.

    Parameters
    ----------
    word : str, default=""
    kind : {"fact", "procedure", "example", "remember"}, default=None

    Returns
    -------
    entries : list of HelpEntry

    Examples
    --------
    >>> [each.title for each in help_entries("gradient", "procedure")]
    ['verify a gradient']
    """
    entries = [HelpEntry("remember", *each) for each in REMEMBER]
    entries += [procedure(*each) for each in PROCEDURES]
    for each in methods():
        fact = f"{each.use} Not: {each.avoid}"
        entries.append(HelpEntry("fact", each.name, fact, each.texts))
        entries += [HelpEntry("example", each.name, code) for code in examples_of(each.cls)]
    return [
        each for each in entries if kind in (None, each.kind) and (not word or each.matches(word))
    ]


def procedure(title: str, place: str, texts: str) -> HelpEntry:
    """A procedure, described by the first lines of the function that does it."""
    module, name = place.split(":")
    document = getattr(importlib.import_module(module), name).__doc__ or ""
    paragraphs = document.split("\n\n")
    steps = " ".join(" ".join(paragraphs[:2]).split())
    return HelpEntry("procedure", title, f"{module}.{name}: {steps}", texts)


def examples_of(cls: type) -> list[str]:
    """The example of a method's docstring, as one piece that runs."""
    found = doctest.DocTestParser().get_examples(cls.__doc__ or "")
    if not found:
        return []
    return ["".join(f">>> {each.source}{each.want}" for each in found)]
