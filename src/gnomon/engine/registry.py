"""The registry: every public method and what it is for; catalogues and tests read it.

A class that a package exports and that has ``fit`` is registered with ``@method`` (parts of
methods, such as distances and distributions, are not methods). ``takes`` says what ``fit`` is
given; each kind has its contract tests.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gnomon.engine.storable import storable
from gnomon.engine.synonyms import synonyms_of

PACKAGES = (
    "prepare",
    "contract",
    "evaluate",
    "optimize",
    "neighbors",
    "bayes",
    "linear",
    "margin",
    "trees",
    "cluster",
    "density",
    "reduce",
    "select",
    "sequence",
    "graphical",
    "sample",
    "text",
    "neural",
    "vision",
    "ensemble",
    "semi",
    "decide",
    "show",
)

# modules outside the packages whose classes stand in model files
STORED_ELSEWHERE = ("gnomon.workbench.group.model",)

# what `fit` is given, by the value of `Method.takes`
KINDS = {
    "table": "rows and columns: an array, a data frame, a Table",
    "sequences": "a list of sequences, or their rows end to end with `lengths`",
    "graph": "the variables of a network, their links, and a table of their values",
    "distances": "a square matrix of distances between samples",
    "index": "rows that are stored and searched for the neighbors of other rows",
    "texts": "texts (a list or a column), or counts of their words",
    "ratings": "ratings of items by users, as triples or as a table with missing cells",
    "images": "an array (n, height, width) or (n, height, width, channels), or rows of pixels",
    "scenes": "images with the boxes and classes of the objects in them",
}

Class = TypeVar("Class", bound=type)
_methods: dict[str, Method] = {}


@dataclass(frozen=True)
class Method:
    """One public method.

    Attributes
    ----------
    cls : type
    task : str
        ``"classify"``, ``"regress"``, ``"group"``, ``"density"``, ``"reduce"``, ``"filter"``,
        ``"label"`` (a label for each step of a sequence), ``"forecast"`` (the next values of a
        sequence), ``"search"`` (neighbors) or ``"infer"`` (any variables given any others).
    texts : str
        Where the texts describe it.
    use : str
        When to use it, in one sentence.
    avoid : str
        When not to.
    peers : tuple of str
        The libraries' classes that do the same.
    on : str
        ``"own"``, or the library that it stands on.
    takes : str
        What ``fit`` is given: one of `KINDS`.
    synonyms : tuple of str
        Other usual names and abbreviations, for searches.
    requires : str
        The optional package without which it cannot run; empty for most.
    """

    cls: type
    task: str
    texts: str
    use: str
    avoid: str
    peers: tuple[str, ...] = ()
    on: str = "own"
    takes: str = "table"
    synonyms: tuple[str, ...] = ()
    requires: str = ""

    @property
    def name(self) -> str:
        return self.cls.__name__

    @property
    def package(self) -> str:
        """The package that exports it."""
        return self.cls.__module__.split(".")[1]

    def matches(self, words: str) -> bool:
        """Whether every word occurs in the name, the synonyms, the peers or the description."""
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name)
        parts = (self.name, spaced, self.package, self.task, self.takes, self.use, self.avoid)
        text = " ".join((*parts, *self.peers, *self.synonyms)).lower()
        return all(word in text for word in words.lower().split())


def method(
    *,
    task: str,
    texts: str,
    use: str,
    avoid: str,
    peers: tuple[str, ...] = (),
    on: str = "own",
    takes: str = "table",
    synonyms: tuple[str, ...] = (),
    requires: str = "",
) -> Callable[[Class], Class]:
    """Enter a class in the registry; its objects may then be saved.

    The parameters are the attributes of `Method`.
    """
    if takes not in KINDS:
        raise ValueError(f"takes is one of {', '.join(KINDS)}, not {takes!r}")

    def enter(cls: Class) -> Class:
        storable(cls)
        names = tuple(dict.fromkeys((*synonyms, *synonyms_of(cls.__name__))))
        _methods[cls.__name__] = Method(
            cls, task, texts, use, avoid, tuple(peers), on, takes, names, requires
        )
        return cls

    return enter


def methods(takes: str | None = None) -> list[Method]:
    """The public methods, by package and name: all, or those whose `takes` is the one given."""
    if takes is not None and takes not in KINDS:
        raise ValueError(f"takes is one of {', '.join(KINDS)}, not {takes!r}")
    load_packages()
    found = [each for each in _methods.values() if takes in (None, each.takes)]
    return sorted(found, key=lambda each: (PACKAGES.index(each.package), each.name))


def find(words: str) -> list[Method]:
    """The public methods that match all words; those that bear the words as a name come first.

    Parameters
    ----------
    words : str
        For example ``"random forest"``, ``"hmm"`` or ``"sklearn.decomposition.PCA"``.

    Returns
    -------
    methods : list of Method
    """
    wanted = words.lower().replace(" ", "")

    def rank(each: Method) -> bool:
        names = (each.name, *each.synonyms, *(peer.split(".")[-1] for peer in each.peers))
        return wanted not in {name.lower().replace(" ", "") for name in names}

    return sorted((each for each in methods() if each.matches(words)), key=rank)


def load_packages() -> None:
    """Import every package that this version has, so that its methods and kernels are declared.

    What else may stand in a model file is declared too.
    """
    packages = [f"gnomon.{name}" for name in PACKAGES]
    for name in (*packages, *STORED_ELSEWHERE):
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
