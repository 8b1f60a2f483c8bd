"""A hierarchy of class labels: coarsen them to any level, and score predictions at any level.

Texts: 000c 18.1.1 (cat, felid, carnivore ... animal; CIFAR-100's superclasses).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, DictOf
from gnomon.table.grid import label_array


class HierarchyScore(NamedTuple):
    """How well predictions agree with the truth in a hierarchy.

    Attributes
    ----------
    accuracy : dict of int to float
        Share of rows whose label is right when both are coarsened to a level (0 is the root).
    precision, recall, f1 : float
        Of the sets of ancestors (without the root): shared ones over predicted, over true ones.
    distance : float
        Mean number of steps in the tree from the prediction to the truth.
    """

    accuracy: dict[int, float]
    precision: float
    recall: float
    f1: float
    distance: float


@storable
class Hierarchy:
    """A tree of class labels.

    Parameters
    ----------
    parents : mapping of label to label
        Each label's parent. Labels that are nobody's child are under one common root.

    Examples
    --------
    >>> from gnomon.table import Hierarchy
    >>> mammals = {"cat": "mammal", "dog": "mammal", "mammal": "animal"}
    >>> animals = Hierarchy(mammals | {"crow": "bird", "bird": "animal"})
    >>> animals.ancestors("cat")
    ['animal', 'mammal', 'cat']
    >>> animals.coarsen(["cat", "crow", "dog"], level=1).tolist()
    ['mammal', 'bird', 'mammal']
    >>> animals.common("cat", "crow")
    'animal'
    """

    _stored = {
        "parents": DictOf(Anything()),
    }

    def __init__(self, parents: Mapping[Any, Any]):
        self.parents = dict(parents)
        self._check_loaded()

    @classmethod
    def from_paths(cls, paths: Iterable[Iterable[Any]]) -> Hierarchy:
        """The tree of paths from the most general label to the most special.

        Examples
        --------
        >>> Hierarchy.from_paths([["animal", "bird", "crow"], ["animal", "fish"]]).leaves
        ['fish', 'crow']
        """
        parents: dict[Any, Any] = {}
        for path in paths:
            labels = list(path)
            for parent, child in pairwise(labels):
                if parents.get(child, parent) != parent:
                    raise DataError(
                        f"{child!r} stands under {parents[child]!r} and under {parent!r}; "
                        "a label has one parent"
                    )
                parents[child] = parent
        return cls(parents)

    def _check_loaded(self) -> None:
        for label in self.parents:
            seen = {label}
            while label in self.parents:
                label = self.parents[label]
                if label in seen:
                    raise DataError(f"{label!r} is its own ancestor; a hierarchy has no circles")
                seen.add(label)

    @property
    def labels(self) -> list[Any]:
        """All labels, general ones first."""
        known = set(self.parents) | set(self.parents.values())
        return sorted(known, key=lambda label: (len(self.ancestors(label)), str(label)))

    @property
    def leaves(self) -> list[Any]:
        """The labels without children."""
        inner = set(self.parents.values())
        return [label for label in self.labels if label not in inner]

    @property
    def depth(self) -> int:
        """The level of the deepest label; roots are at level 0."""
        return max((len(self.ancestors(label)) - 1 for label in self.parents), default=0)

    def ancestors(self, label: Any) -> list[Any]:
        """The path from the root to a label, both included."""
        if label not in self.parents and label not in set(self.parents.values()):
            raise DataError(f"the hierarchy has no label {label!r}")
        path = [label]
        while path[-1] in self.parents:
            path.append(self.parents[path[-1]])
        return path[::-1]

    def coarsen(self, labels: Any, level: int) -> np.ndarray:
        """Each label's ancestor at a level; labels that stand higher stay as they are.

        Parameters
        ----------
        labels : array-like
        level : int
            0 for the roots.

        Returns
        -------
        labels : ndarray
        """
        if level < 0:
            raise DataError(f"level must be 0 or more, not {level}")
        values = label_array(labels).tolist()
        at_level = {
            label: self.ancestors(label)[: level + 1][-1] for label in dict.fromkeys(values)
        }
        return np.array([at_level[label] for label in values])

    def common(self, one: Any, other: Any) -> Any:
        """The most special label that is an ancestor of both, or None."""
        shared = [a for a, b in zip(self.ancestors(one), self.ancestors(other)) if a == b]
        return shared[-1] if shared else None

    def distance(self, one: Any, other: Any) -> int:
        """Steps from one label to the other through the tree; separate roots are one step apart."""
        first, second = self.ancestors(one), self.ancestors(other)
        shared = sum(a == b for a, b in zip(first, second))
        return len(first) + len(second) - 2 * shared - (1 if shared == 0 else 0)

    def score(self, y_true: Any, y_pred: Any) -> HierarchyScore:
        """Agreement of predictions with the truth, at every level and over paths.

        Parameters
        ----------
        y_true, y_pred : array-like

        Returns
        -------
        score : HierarchyScore

        Examples
        --------
        >>> tree = Hierarchy({"cat": "mammal", "dog": "mammal", "mammal": "animal"})
        >>> tree.score(["cat", "dog"], ["dog", "dog"]).accuracy
        {0: 1.0, 1: 1.0, 2: 0.5}
        """
        truth, guess = label_array(y_true).tolist(), label_array(y_pred).tolist()
        if len(truth) != len(guess) or not truth:
            raise DataError(f"y_true has {len(truth)} labels and y_pred {len(guess)}")
        accuracy = {
            level: float(np.mean(self.coarsen(truth, level) == self.coarsen(guess, level)))
            for level in range(self.depth + 1)
        }
        paths = [(self._below_root(a), self._below_root(b)) for a, b in zip(truth, guess)]
        shared = sum(len(a & b) for a, b in paths)
        predicted, true = sum(len(b) for _, b in paths), sum(len(a) for a, _ in paths)
        precision = shared / predicted if predicted else 1.0
        recall = shared / true if true else 1.0
        f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
        steps = float(np.mean([self.distance(a, b) for a, b in zip(truth, guess)]))
        return HierarchyScore(accuracy, precision, recall, f1, steps)

    def _below_root(self, label: Any) -> set[Any]:
        path = self.ancestors(label)
        roots = {each for each in self.parents.values() if each not in self.parents}
        return set(path[1:] if len(roots) == 1 else path)

    def __repr__(self) -> str:
        return (
            f"Hierarchy({len(self.labels)} labels, {len(self.leaves)} leaves, depth {self.depth})"
        )
