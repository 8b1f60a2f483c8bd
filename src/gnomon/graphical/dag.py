"""Directed graphs without cycles: order, blanket, d-separation.

A path is blocked by Z where it has a chain or fork through a node of Z, or a collider outside Z
with no descendant in Z. x and y are d-separated by Z where every path is blocked; then they are
independent given Z in every network of that graph.

Texts: 001 15.2 · 002 "Directed graphical models" · 003 3.4, 3.4.3 (Markov blanket).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.engine.errors import DataError

Parents = Mapping[str, Sequence[str]]


def topological_order(parents: Parents) -> tuple[str, ...]:
    """The nodes, parents before children.

    Parameters
    ----------
    parents : mapping of str to sequence of str
        The parents of every node.

    Returns
    -------
    order : tuple of str

    Examples
    --------
    >>> topological_order({"wet": ("rain",), "rain": ()})
    ('rain', 'wet')
    """
    for name, each in parents.items():
        if len(set(each)) < len(each):
            raise DataError(f"{name!r} names a parent twice: {', '.join(each)}")
        for parent in each:
            if parent not in parents:
                raise DataError(f"{name!r} has the parent {parent!r}, which is not a node")
    open_parents = {name: len(each) for name, each in parents.items()}
    followers = children_of(parents)
    ready = [name for name, count in open_parents.items() if count == 0]
    for name in ready:
        for child in followers[name]:
            open_parents[child] -= 1
            if open_parents[child] == 0:
                ready.append(child)
    if len(ready) < len(parents):
        rest = ", ".join(repr(name) for name in parents if name not in set(ready))
        raise DataError(f"the network has a cycle among {rest}; remove a link")
    return tuple(ready)


def children_of(parents: Parents) -> dict[str, list[str]]:
    """The children of every node.

    Parameters
    ----------
    parents : mapping of str to sequence of str

    Returns
    -------
    children : dict of str to list of str

    Examples
    --------
    >>> children_of({"wet": ("rain",), "rain": ()})
    {'wet': [], 'rain': ['wet']}
    """
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, each in parents.items():
        for parent in each:
            children[parent].append(name)
    return children


def ancestors(parents: Parents, names: Iterable[str]) -> set[str]:
    """The named nodes and all that lead to them.

    Parameters
    ----------
    parents : mapping of str to sequence of str
    names : iterable of str

    Returns
    -------
    found : set of str

    Examples
    --------
    >>> sorted(ancestors({"a": (), "b": ("a",), "c": ("b",)}, ["b"]))
    ['a', 'b']
    """
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents[name]
    return found


def markov_blanket(parents: Parents, name: str) -> set[str]:
    """Parents, children and the children's other parents: given them, no other node matters.

    Parameters
    ----------
    parents : mapping of str to sequence of str
    name : str

    Returns
    -------
    blanket : set of str

    Examples
    --------
    >>> sorted(markov_blanket({"a": (), "b": (), "c": ("a", "b")}, "a"))
    ['b', 'c']
    """
    check_nodes(parents, [name])
    children = children_of(parents)[name]
    blanket = set(parents[name]) | set(children)
    for child in children:
        blanket |= set(parents[child])
    return blanket - {name}


def d_separated(
    parents: Parents, x: str | Iterable[str], y: str | Iterable[str], given: Iterable[str] = ()
) -> bool:
    """Whether every path from x to y is blocked by the given nodes.

    Parameters
    ----------
    parents : mapping of str to sequence of str
    x, y : str or iterable of str
    given : str or iterable of str, default=()

    Returns
    -------
    separated : bool

    Notes
    -----
    A ball runs from x along the links ("Bayes ball"); each node is met at most twice, from a child
    and from a parent, so the cost is linear in the number of links.

    Examples
    --------
    >>> collider = {"a": (), "b": (), "c": ("a", "b")}
    >>> d_separated(collider, "a", "b"), d_separated(collider, "a", "b", "c")
    (True, False)
    """
    first, second, held = ({each} if isinstance(each, str) else set(each) for each in (x, y, given))
    check_nodes(parents, first | second | held)
    if first & second or (first | second) & held:
        raise DataError("x, y and the given nodes must be different nodes")
    children = children_of(parents)
    opened = ancestors(parents, held)
    waiting = [(name, "from child") for name in first]
    met: set[tuple[str, str]] = set()
    while waiting:
        name, way = waiting.pop()
        if (name, way) in met:
            continue
        met.add((name, way))
        if name in second and name not in held:
            return False
        passes_down = name not in held
        passes_up = name not in held if way == "from child" else name in opened
        if passes_up:
            waiting += [(parent, "from child") for parent in parents[name]]
        if passes_down:
            waiting += [(child, "from parent") for child in children[name]]
    return True


def check_nodes(parents: Parents, names: Iterable[str]) -> None:
    for name in names:
        if name not in parents:
            raise DataError(f"there is no node {name!r}; there are {', '.join(parents)}")
