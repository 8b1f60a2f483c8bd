"""Utility trees: decisions, chances and leaves, rolled back to the best decision.

    U(leaf) = its utility,  U(chance) = sum_o P(o) U(child_o),  U(decision) = max_d U(child_d),
    U(payment) = U(child) - price

The value of the root is what the best policy gives on average. Only what lies ahead counts: what
was paid on the way to a node is the same for all its branches and changes no decision.

A number of the tree may be an `Unknown`; `UtilityTree.thresholds` then gives the values at which
the best decision changes. Information has a value because decisions may follow it: the tree in
which a chance is known in advance, averaged over its outcomes, less the tree in which it is not.

Texts: 003 3.3.2-3.3.5. The text's EU(test) of the Mars mission, 0.146, uses 0.321 where 0.368
belongs; the right value is 0.0286. Its Walmarket rule is printed with ">" for "<".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

from gnomon.contract.result import Result
from gnomon.decide.amount import Amount, Values, as_amount
from gnomon.engine.errors import DataError

# probabilities that are written with few digits may miss one by this much
SUM_TOLERANCE = 1e-6
# places at which thresholds are looked for; two within one step of each other are not seen apart
PLACES = 2_001
SIDE = 201  # places along each axis of a map of regions


class Node:
    """A part of a utility tree: `Decision`, `Chance`, `Payment` or `Leaf`."""

    name: str = ""

    def children(self) -> dict[str, Node]:
        """The branches, by their names."""
        return {}


@dataclass(eq=False)
class Leaf(Node):
    """An end of the tree, with its utility.

    Parameters
    ----------
    utility : float or Amount
    name : str, default=""
    """

    utility: Any
    name: str = ""

    def __post_init__(self) -> None:
        self.amount = as_amount(self.utility)


@dataclass(eq=False)
class Payment(Node):
    """A price that is paid before going on.

    Parameters
    ----------
    price : float or Amount
    then : Node or number
        What follows.
    name : str, default=""
    """

    price: Any
    then: Any
    name: str = ""

    def __post_init__(self) -> None:
        self.amount = as_amount(self.price)
        self.then = as_node(self.then)

    def children(self) -> dict[str, Node]:
        return {"": self.then}


@dataclass(eq=False)
class Decision(Node):
    """A choice: the branch of the greatest expected utility is taken.

    Parameters
    ----------
    options : mapping of str to Node or number
        What may be chosen; of equally good options the first is taken.
    name : str, default=""
    """

    options: Mapping[str, Any]
    name: str = ""

    def __post_init__(self) -> None:
        if not self.options:
            raise DataError(f"the decision {self.name or '(unnamed)'!r} has no option")
        self.options = {str(key): as_node(node) for key, node in self.options.items()}

    def children(self) -> dict[str, Node]:
        return dict(self.options)


@dataclass(eq=False)
class Chance(Node):
    """An uncertain event.

    Parameters
    ----------
    outcomes : mapping of str to (probability, Node or number)
        A probability may be None for one outcome, which then has the rest.
    name : str, default=""
        Chances of one name are the same event wherever they stand in the tree; below one of
        its outcomes, the outcome is known.
    """

    outcomes: Mapping[str, tuple[Any, Any]]
    name: str = ""
    _probabilities: dict[str, Amount | None] = field(init=False, repr=False)
    _nodes: dict[str, Node] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        label = self.name or "(unnamed)"
        if not self.outcomes:
            raise DataError(f"the chance {label!r} has no outcome")
        self._probabilities, self._nodes = {}, {}
        for key, given in self.outcomes.items():
            if not isinstance(given, Sequence) or len(given) != 2:
                raise DataError(
                    f"outcome {key!r} of the chance {label!r} must be (probability, what follows), "
                    f"not {given!r}"
                )
            probability, node = given
            self._probabilities[str(key)] = None if probability is None else as_amount(probability)
            self._nodes[str(key)] = as_node(node)
        if sum(each is None for each in self._probabilities.values()) > 1:
            raise DataError(f"only one outcome of the chance {label!r} may have probability None")

    @classmethod
    def from_model(cls, model: Any, row: Any, then: Mapping[Any, Any], name: str = "") -> Chance:
        """A chance whose probabilities a fitted classifier gives for one row.

        Parameters
        ----------
        model : fitted classifier
            Has ``predict_proba`` and ``classes_``.
        row : array-like or data frame of one row
        then : mapping of class to Node or number
            What follows for each class of the model.
        name : str, default=""

        Returns
        -------
        chance : Chance
        """
        classes = list(model.classes_.tolist())
        if set(classes) != set(then):
            raise DataError(f"the model's classes are {classes}, the branches {list(then)}")
        proba = np.asarray(model.predict_proba(row))
        if len(proba) != 1:
            raise DataError(f"give one row, not {len(proba)}")
        given = {str(c): (float(p), then[c]) for c, p in zip(classes, proba[0])}
        return cls(given, name)

    def children(self) -> dict[str, Node]:
        return dict(self._nodes)

    def probabilities(self, values: Values) -> dict[str, Any]:
        """The probability of each outcome, for given values of the unknowns."""
        found: dict[str, Any] = {
            key: each.at(values) for key, each in self._probabilities.items() if each is not None
        }
        total: Any = sum(found.values(), 0.0)
        rest = next((key for key, each in self._probabilities.items() if each is None), None)
        if rest is not None:
            found[rest] = 1.0 - total
            total = 1.0
        self._check(found, total)
        return {key: found[key] for key in self._probabilities}

    def _check(self, found: dict[str, Any], total: Any) -> None:
        label = self.name or "(unnamed)"
        for key, probability in found.items():
            wrong = (np.asarray(probability) < -SUM_TOLERANCE) | (
                np.asarray(probability) > 1 + SUM_TOLERANCE
            )
            if wrong.any():
                value = np.asarray(probability)[wrong].ravel()[0] if wrong.ndim else probability
                raise DataError(
                    f"outcome {key!r} of the chance {label!r} has probability {value:g}, which is "
                    "not between 0 and 1"
                )
        if np.abs(np.asarray(total) - 1.0).max() > SUM_TOLERANCE:
            raise DataError(
                f"the probabilities of the chance {label!r} add up to {np.max(total):g}, not to 1; "
                "give None for the outcome that has the rest"
            )


def as_node(given: Any) -> Node:
    """A node; a number or an amount is a leaf."""
    return given if isinstance(given, Node) else Leaf(given)


@dataclass(repr=False)
class Solution(Result):
    """A solved utility tree: the value of the root and the best option of every decision.

    Attributes
    ----------
    value : float
        Expected utility of the best policy, of what lies ahead.
    best : str or None
        The best option of the root, where the root is a decision.
    options : dict of str to float
        Expected utility of each option of the root.
    decisions : list of (path, best option, value)
        All decisions that the tree holds, from the root on.
    sunk : float
        What was paid before the root; it changes no decision.
    """

    value: float
    best: str | None
    options: dict[str, float]
    decisions: list[tuple[str, str, float]]
    sunk: float = 0.0

    def _title(self) -> str:
        chosen = f": {self.best}" if self.best else ""
        return f"Expected utility {self.value:.6g}{chosen}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "decision": [path for path, _, _ in self.decisions],
            "best": [best for _, best, _ in self.decisions],
            "expected utility": [value for _, _, value in self.decisions],
        }

    def _remarks(self) -> list[str]:
        found = [f"{option}: {value:.6g}" for option, value in self.options.items()]
        lines = [f"Options of the first decision: {', '.join(found)}."] if found else []
        if self.sunk:
            lines.append(f"{self.sunk:g} was paid before; it does not count any more.")
        return lines


@dataclass(repr=False)
class Thresholds(Result):
    """Ranges of an unknown and the best option in each.

    Attributes
    ----------
    unknown : str
    edges : list of float
        Ends of the ranges; those between the first and the last are the thresholds.
    best : list of str
        The best option in each range.
    """

    unknown: str
    edges: list[float]
    best: list[str]

    @property
    def values(self) -> list[float]:
        """The values of the unknown at which the best decision changes."""
        return self.edges[1:-1]

    def _title(self) -> str:
        where = ", ".join(f"{each:.8g}" for each in self.values) or "no value"
        return f"The best decision changes at {self.unknown} = {where}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            f"{self.unknown} from": self.edges[:-1],
            "to": self.edges[1:],
            "best": list(self.best),
        }


@dataclass(repr=False)
class Regions(Result):
    """The best option over a grid of two unknowns.

    Attributes
    ----------
    unknowns : tuple of str
    x, y : ndarray
        The grid's places.
    codes : ndarray of int of shape (len(y), len(x))
        Place in ``options`` of the best one.
    options : list of str
    value : ndarray of shape (len(y), len(x))
        Expected utility of the best option.
    """

    unknowns: tuple[str, str]
    x: np.ndarray
    y: np.ndarray
    codes: np.ndarray
    options: list[str]
    value: np.ndarray

    def _title(self) -> str:
        return f"Best decision over {self.unknowns[0]} and {self.unknowns[1]}"

    def _columns(self) -> dict[str, list[Any]]:
        shares = np.bincount(self.codes.ravel(), minlength=len(self.options)) / self.codes.size
        return {"option": list(self.options), "share of the area": shares.tolist()}


class UtilityTree:
    """A tree of decisions and chances.

    Parameters
    ----------
    root : Node
    sunk : float, default=0.0
        What was paid before the root.

    Examples
    --------
    >>> from gnomon.decide import Chance, Decision, UtilityTree
    >>> play = Chance({"win": (0.1, 5.0), "lose": (None, -1.0)})
    >>> tree = UtilityTree(Decision({"play": play, "refuse": 0.0}))
    >>> tree.solve().best
    'refuse'
    """

    def __init__(self, root: Any, sunk: float = 0.0):
        self.root = as_node(root)
        self.sunk = sunk
        self._require_tree()

    def _require_tree(self) -> None:
        """No node may lie on a path to itself."""
        on_path: set[int] = set()

        def visit(node: Node, path: tuple[str, ...]) -> None:
            if id(node) in on_path:
                raise DataError(
                    f"the branch {' > '.join(path) or 'of the root'} leads back to a node above; "
                    "a utility tree has no cycles"
                )
            on_path.add(id(node))
            for key, child in node.children().items():
                visit(child, (*path, key) if key else path)
            on_path.remove(id(node))

        visit(self.root, ())

    def nodes(self) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Every node with the path to it, from the root on.

        Yields
        ------
        path : tuple of str
            Names of the branches.
        node : Node
        """
        waiting: list[tuple[tuple[str, ...], Node]] = [((), self.root)]
        while waiting:
            path, node = waiting.pop(0)
            yield path, node
            waiting += [((*path, key) if key else path, n) for key, n in node.children().items()]

    @property
    def unknowns(self) -> set[str]:
        """Names of the unknowns that the tree holds."""
        found: set[str] = set()
        for _, node in self.nodes():
            if isinstance(node, (Leaf, Payment)):
                found |= node.amount.names
            elif isinstance(node, Chance):
                known = [each for each in node._probabilities.values() if each is not None]
                found |= frozenset().union(*(each.names for each in known))
        return found

    def value(self, node: Node | None = None, /, **values: Any) -> Any:
        """Expected utility of the best policy from a node on.

        Parameters
        ----------
        node : Node, default=None
            The root where left out.
        **values : float or ndarray
            Values of the unknowns; an array gives a value for each.

        Returns
        -------
        value : float or ndarray
        """
        return self._rolled_back(node or self.root, values, {})

    def _rolled_back(self, node: Node, values: Values, known: Mapping[str, Any]) -> Any:
        """Roll back; ``known`` replaces the probabilities of chances by name."""
        if isinstance(node, Leaf):
            return node.amount.at(values)
        if isinstance(node, Payment):
            return self._rolled_back(node.then, values, known) - node.amount.at(values)
        below = {
            key: self._rolled_back(each, values, after(node, key, known))
            for key, each in node.children().items()
        }
        if isinstance(node, Decision):
            best = np.maximum.reduce(np.broadcast_arrays(*below.values()))
            return float(best) if np.ndim(best) == 0 else best
        assert isinstance(node, Chance)
        shares = known[node.name] if node.name in known else node.probabilities(values)
        return sum(shares[key] * below[key] for key in below)

    def solve(self, **values: float) -> Solution:
        """The best option of every decision.

        Parameters
        ----------
        **values : float
            Values of the unknowns.

        Returns
        -------
        solution : Solution
        """
        decisions = []
        for path, node in self.nodes():
            if isinstance(node, Decision):
                options = self._options(node, values)
                best = max(options, key=options.__getitem__)
                label = " > ".join(path) or node.name or "first decision"
                decisions.append((label, best, options[best]))
        root = self.root
        first = self._options(root, values) if isinstance(root, Decision) else {}
        chosen = max(first, key=first.__getitem__) if first else None
        return Solution(float(self.value(**values)), chosen, first, decisions, self.sunk)

    def _options(self, node: Decision, values: Values) -> dict[str, Any]:
        return {key: self._rolled_back(each, values, {}) for key, each in node.children().items()}

    def after(self, *path: str, **values: float) -> UtilityTree:
        """The tree that is left after some branches were taken; what was paid is sunk.

        Parameters
        ----------
        *path : str
            Names of the branches, from the root on.
        **values : float
            Values of the unknowns that prices on the way depend on.

        Returns
        -------
        tree : UtilityTree
        """
        node, sunk = self.root, self.sunk
        for key in path:
            while isinstance(node, Payment):
                sunk, node = sunk + node.amount.at(values), node.then
            if key not in node.children():
                known = ", ".join(node.children()) or "none: it is a leaf"
                raise DataError(f"there is no branch {key!r}; the branches here are {known}")
            node = node.children()[key]
        while isinstance(node, Payment):
            sunk, node = sunk + node.amount.at(values), node.then
        return UtilityTree(node, sunk)

    def _root_decision(self) -> Decision:
        if not isinstance(self.root, Decision):
            raise DataError("the root must be a Decision, so that there is a choice that changes")
        return self.root

    def _require_unknowns(self, wanted: set[str], values: Values) -> None:
        open_ones = self.unknowns - set(values)
        if open_ones != wanted:
            raise DataError(
                f"the unknowns without a value are {sorted(open_ones) or 'none'}; thresholds are "
                f"sought for {sorted(wanted)}: give values for the others by name"
            )

    def thresholds(self, unknown: str, low: float, high: float, **values: float) -> Thresholds:
        """The values of an unknown at which the best first decision changes.

        Parameters
        ----------
        unknown : str
        low, high : float
            The range that is looked through, in 2,000 steps; each change is then found to full
            precision.
        **values : float
            Values of the other unknowns.

        Returns
        -------
        thresholds : Thresholds

        Examples
        --------
        >>> from gnomon.decide import Chance, Decision, Unknown, UtilityTree
        >>> game = Chance({"win": (Unknown("p"), 3.0), "lose": (None, -1.0)})
        >>> UtilityTree(Decision({"play": game, "refuse": 0.0})).thresholds("p", 0, 1).values
        [0.25]
        """
        if not low < high:
            raise DataError(f"low must be below high; they are {low:g} and {high:g}")
        root = self._root_decision()
        self._require_unknowns({unknown}, values)
        places = np.linspace(low, high, PLACES)

        def utilities(place: Any) -> np.ndarray:
            found = self._options(root, {**values, unknown: place}).values()
            return np.stack(np.broadcast_arrays(*found, place)[:-1])

        best = utilities(places).argmax(axis=0)
        names = list(root.children())
        edges, ranges = [float(low)], [names[best[0]]]
        for i in np.flatnonzero(np.diff(best)):
            before, after = best[i], best[i + 1]

            def lead(place: float, one: int = before, other: int = after) -> float:
                found = utilities(place)
                return float(found[one] - found[other])

            edges.append(crossing(lead, places[i], places[i + 1]))
            ranges.append(names[after])
        return Thresholds(unknown, [*edges, float(high)], ranges)

    def regions(
        self,
        x: tuple[str, float, float],
        y: tuple[str, float, float],
        **values: float,
    ) -> Regions:
        """The best first decision over a rectangle of two unknowns.

        Parameters
        ----------
        x, y : (str, float, float)
            Name and range of an unknown.
        **values : float
            Values of the other unknowns.

        Returns
        -------
        regions : Regions
        """
        root = self._root_decision()
        self._require_unknowns({x[0], y[0]}, values)
        across, up = np.linspace(*x[1:], SIDE), np.linspace(*y[1:], SIDE)
        grid = np.meshgrid(across, up)
        found = self._options(root, {**values, x[0]: grid[0], y[0]: grid[1]})
        utilities = np.stack([np.broadcast_to(each, grid[0].shape) for each in found.values()])
        return Regions(
            (x[0], y[0]),
            across,
            up,
            utilities.argmax(axis=0),
            list(found),
            utilities.max(axis=0),
        )

    def value_of_information(
        self,
        chance: str,
        likelihood: Mapping[str, Mapping[str, float]] | None = None,
        **values: float,
    ) -> float:
        """What it is worth to learn of a chance before the first decision.

        Parameters
        ----------
        chance : str
            Name of the chance. Its probabilities must be the same wherever it stands: what is
            decided does not change them.
        likelihood : mapping of str to mapping of str to float, default=None
            Of an imperfect signal: for each signal the probability of it given each outcome. The
            chance itself (perfect information) where left out.
        **values : float
            Values of the unknowns.

        Returns
        -------
        value : float
            0 where no decision would change.

        Examples
        --------
        >>> from gnomon.decide import Chance, Decision, UtilityTree
        >>> rain = Chance({"wet": (0.3, -10.0), "dry": (0.7, 5.0)}, "rain")
        >>> tree = UtilityTree(Decision({"go out": rain, "stay": 0.0}))
        >>> round(tree.value_of_information("rain"), 6)
        3.0
        """
        prior = self._prior_of(chance, values)
        signals = likelihood or {key: {key: 1.0} for key in prior}
        self._check_likelihood(signals, prior)
        with_it = 0.0
        for given in signals.values():
            joint = {key: share * given.get(key, 0.0) for key, share in prior.items()}
            total = sum(joint.values())
            if total > 0:
                posterior = {key: share / total for key, share in joint.items()}
                with_it += total * self._rolled_back(self.root, values, {chance: posterior})
        gain = float(with_it - self._rolled_back(self.root, values, {chance: prior}))
        return max(gain, 0.0)  # rounding may leave less than nothing

    def _prior_of(self, chance: str, values: Values) -> dict[str, float]:
        found = [
            node.probabilities(values)
            for _, node in self.nodes()
            if isinstance(node, Chance) and node.name == chance
        ]
        if not found:
            names = sorted({n.name for _, n in self.nodes() if isinstance(n, Chance) and n.name})
            raise DataError(f"there is no chance {chance!r}; the tree has {names or 'no names'}")
        for other in found[1:]:
            same = other.keys() == found[0].keys() and np.allclose(
                list(other.values()), list(found[0].values()), rtol=0, atol=SUM_TOLERANCE
            )
            if not same:
                raise DataError(
                    f"the chance {chance!r} has different probabilities in different places, so it "
                    "depends on what is decided; information on it has no value of its own"
                )
        return found[0]

    @staticmethod
    def _check_likelihood(
        signals: Mapping[str, Mapping[str, float]], prior: Mapping[str, float]
    ) -> None:
        for key in prior:
            total = sum(given.get(key, 0.0) for given in signals.values())
            if abs(total - 1.0) > SUM_TOLERANCE:
                raise DataError(
                    f"the probabilities of the signals given {key!r} add up to {total:g}, not to 1"
                )


def after(node: Node, outcome: str, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is known below a branch: the outcome of an event that has a name."""
    if not isinstance(node, Chance) or not node.name:
        return known
    return {**known, node.name: {key: float(key == outcome) for key in node.children()}}


def crossing(lead: Any, low: float, high: float) -> float:
    """Where a difference of utilities changes its sign between two places."""
    if lead(low) == 0:
        return float(low)
    if lead(high) == 0:
        return float(high)
    return float(brentq(lead, low, high, xtol=1e-300, rtol=8 * np.finfo(float).eps))
