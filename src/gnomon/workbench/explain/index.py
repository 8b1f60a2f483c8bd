"""The index of every public name: found by the name itself, by peers' names, synonyms and words.

A query matches whole words, so that "GAN" does not find "HartiganKMeans". Matches are ranked: the
name itself, a synonym or a peer's name, all words in the name, all words in the description.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gnomon
from gnomon.contract.result import Result
from gnomon.engine.registry import methods
from gnomon.workbench.explain.terms import TERMS

NAME, SYNONYM, IN_NAME, IN_SYNONYM, IN_TEXT = range(5)
SHORTEST_PREFIX = 4  # "cluster" finds "clustering"; shorter words must match as they are
ENDINGS = ("ies", "s", "ing", "ed")


@dataclass(frozen=True)
class Entry:
    """One public name or term.

    Attributes
    ----------
    name : str
        As it is imported, such as ``"trees.RandomForestClassifier"``; a command or a term as it is.
    kind : str
        ``"class"``, ``"function"``, ``"command"`` or ``"term"``.
    text : str
        One sentence.
    synonyms : tuple of str
        Other names, those of other libraries among them.
    """

    name: str
    kind: str
    text: str
    synonyms: tuple[str, ...] = field(default=(), repr=False)

    def rank(self, query: str) -> int | None:
        """How well the entry matches, 0 for best; None where it does not."""
        wanted = words(query)
        plain = "".join(wanted)
        if not plain:
            return None
        if plain in self._names:
            return NAME
        if plain in self._synonyms:
            return SYNONYM
        for rank, known in enumerate(self._words, IN_NAME):
            if all(any(same_word(word, each) for each in known) for word in wanted):
                return rank
        return None

    @functools.cached_property
    def _names(self) -> set[str]:
        return {"".join(words(each)) for each in (self.name, self.name.rpartition(".")[2])}

    @functools.cached_property
    def _synonyms(self) -> set[str]:
        short = [each.rpartition(".")[2] for each in self.synonyms]
        return {"".join(words(each)) for each in (*self.synonyms, *short)}

    @functools.cached_property
    def _words(self) -> tuple[set[str], set[str], set[str]]:
        """Words of the name; with those of the synonyms; with those of the text."""
        name = set(words(self.name.rpartition(".")[2]))
        synonyms = name.union(*(words(each) for each in self.synonyms))
        return name, synonyms, synonyms.union(words(self.name), words(self.text))


class Found(Result):
    """Public names that match a query, best first.

    Attributes
    ----------
    query : str
    entries : list of Entry
    """

    def __init__(self, query: str, entries: list[Entry]):
        self.query, self.entries = query, entries

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def _title(self) -> str:
        if not self.entries:
            return f"no public name matches {self.query!r}"
        return f"{len(self.entries):,} public names match {self.query!r}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "name": [each.name for each in self.entries],
            "kind": [each.kind for each in self.entries],
            "what it is": [each.text for each in self.entries],
        }


def find(query: str) -> Found:
    """Find public classes, functions, commands and terms by name, synonym or words.

    Parameters
    ----------
    query : str
        A name of gnomon or of another library, an abbreviation, or words.

    Returns
    -------
    found : Found
        Best matches first; prints as a table.

    Examples
    --------
    >>> import gnomon
    >>> gnomon.find("random forest").entries[0].name
    'trees.RandomForestClassifier'
    >>> len(gnomon.find("flibbertigibbet"))
    0
    """
    ranked = [(each.rank(query), each) for each in index()]
    matched = [(rank, each) for rank, each in ranked if rank is not None]
    return Found(query, [each for _, each in sorted(matched, key=lambda pair: pair[0])])


@functools.cache
def index() -> tuple[Entry, ...]:
    """Every public name of every package, the commands, and the terms of the field."""
    known = {each.cls: (*each.synonyms, *each.peers) for each in methods()}
    entries: dict[Any, Entry] = {}
    for package in packages():
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if not (inspect.isclass(thing) or callable(thing)):
                continue
            label = f"{package.__name__.removeprefix('gnomon.')}.{name}"
            kind = "class" if inspect.isclass(thing) else "function"
            entries[label] = Entry(label, kind, summary(thing), known.get(thing, ()))
    entries.update({each.name: each for each in commands()})
    terms = [
        Entry(name, "term", text, tuple(synonyms)) for name, (text, *synonyms) in TERMS.items()
    ]
    return (*entries.values(), *terms)


def packages() -> list[Any]:
    """The packages that list public names."""
    found = [each.name for each in pkgutil.iter_modules(gnomon.__path__) if each.ispkg]
    return [importlib.import_module(f"gnomon.{name}") for name in found]


def commands() -> list[Entry]:
    """The commands of the command line."""
    found = []
    app = importlib.import_module("gnomon.workbench.cli").app  # which has the command `explain`
    for each in app.registered_commands:
        name = each.name or each.callback.__name__.replace("_", "-")
        found.append(Entry(f"gnomon {name}", "command", summary(each.callback)))
    return found


def summary(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def words(text: str) -> list[str]:
    """The words of a name or sentence in lower case: CamelCase and snake_case are split."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", spaced)]


def same_word(wanted: str, known: str) -> bool:
    """Whether two words are the same but for an ending."""
    if wanted == known:
        return True
    stem = next((wanted[: -len(end)] for end in ENDINGS if wanted.endswith(end)), wanted)
    return len(stem) >= SHORTEST_PREFIX and known.startswith(stem)
