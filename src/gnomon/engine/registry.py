"""The registry: every public method and what it is for; catalogues and tests read it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gnomon.engine.storable import storable

ROOMS = (
    "table",
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

# reading a table needs no estimator: what the room `table` registers is imported apart
DECLARED_IN = {"table": "gnomon.table.filters"}
# beside the rooms: classes whose objects stand in model files
STORED_BESIDE_ROOMS = ("gnomon.workbench.group_model",)

Class = TypeVar("Class", bound=type)
_methods: dict[str, Method] = {}


@dataclass(frozen=True)
class Method:
    """One public method.

    Attributes
    ----------
    cls : type
    task : str
        ``"classify"``, ``"regress"``, ``"group"``, ``"density"``, ``"reduce"`` or ``"filter"``.
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
    """

    cls: type
    task: str
    texts: str
    use: str
    avoid: str
    peers: tuple[str, ...] = ()
    on: str = "own"

    @property
    def name(self) -> str:
        return self.cls.__name__

    @property
    def room(self) -> str:
        return self.cls.__module__.split(".")[1]


def method(
    *, task: str, texts: str, use: str, avoid: str, peers: tuple[str, ...] = (), on: str = "own"
) -> Callable[[Class], Class]:
    """Enter a class in the registry; its objects may then be saved."""

    def enter(cls: Class) -> Class:
        storable(cls)
        _methods[cls.__name__] = Method(cls, task, texts, use, avoid, tuple(peers), on)
        return cls

    return enter


def methods() -> list[Method]:
    """All public methods, by room and name."""
    load_rooms()
    return sorted(_methods.values(), key=lambda each: (ROOMS.index(each.room), each.name))


def load_rooms() -> None:
    """Import every room that this version has, so that its methods and kernels are declared.

    What else may stand in a model file is declared too.
    """
    rooms = [DECLARED_IN.get(room, f"gnomon.{room}") for room in ROOMS]
    for name in (*rooms, *STORED_BESIDE_ROOMS):
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
