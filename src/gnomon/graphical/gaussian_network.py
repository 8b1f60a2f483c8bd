"""Gaussian belief networks: every node is a linear function of its parents plus normal noise.

x_i = b_i + sum over parents j of c_ij x_j + e_i, e_i ~ N(0, v_i). The joint law is normal, with
mean (I - C)^-1 b and covariance (I - C)^-1 diag(v) (I - C)^-T, so every conditional law is a solve.

Texts: 002 "Directed graphical models" · 003 3.4 (continuous nodes; the text samples them, this is
the case that needs no sampling).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import Saved
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, ListOf, Number, Text
from gnomon.graphical import dag
from gnomon.sample.draws import Seed
from gnomon.table import Table


@dataclass(repr=False)
class NormalLaw(Result):
    """A joint normal distribution of named variables.

    Attributes
    ----------
    names : tuple of str
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)
    """

    names: tuple[str, ...]
    mean: np.ndarray
    covariance: np.ndarray

    def _title(self) -> str:
        return f"Normal law of {', '.join(self.names)}"

    def _columns(self) -> dict[str, list]:
        sd = np.sqrt(np.diag(self.covariance))
        return {"variable": list(self.names), "mean": self.mean.tolist(), "sd": sd.tolist()}


@method(
    task="infer",
    texts='002 "Directed graphical models" · 003 3.4',
    use="Numbers that depend on each other linearly along known links.",
    avoid="Bent relations or heavy tails: parameter_node and sampling.",
    peers=("pgmpy.models.LinearGaussianBayesianNetwork",),
    takes="graph",
    synonyms=("linear Gaussian network", "structural equations"),
)
class GaussianNetwork(Saved):
    """A belief network of linear Gaussian nodes, with exact inference.

    Use it for numbers that depend on each other about linearly. Not for bent relations or heavy
    tails: use `parameter_node` and sampling.

    Parameters
    ----------
    parents : mapping of str to sequence of str
        The parents of every node.
    coefficients : mapping of str to array-like
        One per parent; nodes without parents may be left out.
    intercepts : mapping of str to float
        Zero where left out.
    variances : mapping of str to float
        Variances of the noise; zero for a sum without noise.

    Attributes
    ----------
    parents, coefficients, intercepts, variances : dict

    Examples
    --------
    >>> from gnomon.graphical import GaussianNetwork
    >>> net = GaussianNetwork({"a": (), "b": ("a",)}, {"b": [2.0]}, {"a": 1.0}, {"a": 1, "b": 4})
    >>> law = net.query("a", b=4.0)
    >>> law.mean.tolist(), law.covariance.tolist()
    ([1.5], [[0.5]])
    """

    _stored = {
        "coefficients": DictOf(Array("f8", (None,))),
        "intercepts": DictOf(Number()),
        "parents": DictOf(ListOf(Text(), kind=tuple)),
        "variances": DictOf(Number()),
    }

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]],
        coefficients: Mapping[str, ArrayLike],
        intercepts: Mapping[str, float],
        variances: Mapping[str, float],
    ):
        self.parents = {name: tuple(each) for name, each in parents.items()}
        self.coefficients = {
            name: np.array(coefficients.get(name, ()), dtype=float) for name in self.parents
        }
        self.intercepts = {name: float(intercepts.get(name, 0.0)) for name in self.parents}
        dag.check_nodes(self.parents, [*coefficients, *intercepts, *variances])
        lacking = [name for name in self.parents if name not in variances]
        if lacking:
            raise DataError(f"the nodes {', '.join(lacking)} have no variance")
        self.variances = {name: float(variances[name]) for name in self.parents}
        self._check()

    def _check_loaded(self) -> None:
        self._check()

    def _check(self) -> None:
        dag.topological_order(self.parents)
        if self.intercepts.keys() != self.parents.keys():
            raise DataError("there must be an intercept for each node")
        for name, each in self.parents.items():
            if self.coefficients[name].shape != (len(each),):
                raise DataError(f"{name!r} needs a coefficient for each of its {len(each)} parents")
            if not self.variances[name] >= 0:
                raise DataError(f"the variance of {name!r} must not be negative")

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes."""
        return tuple(self.parents)

    @classmethod
    def fit(cls, data: Any, parents: Mapping[str, Sequence[str]]) -> GaussianNetwork:
        """Least squares of every node on its parents; variances by maximum likelihood.

        Parameters
        ----------
        data : data frame, Table or mapping of columns
            Numbers without missing cells.
        parents : mapping of str to sequence of str

        Returns
        -------
        network : GaussianNetwork
        """
        table = Table.from_frame(data)
        graph = {name: tuple(each) for name, each in parents.items()}
        for name in {each for family in graph.values() for each in family} - set(graph):
            graph[name] = ()
        columns = {name: _numbers(table, name) for name in graph}
        coefficients, intercepts, variances = {}, {}, {}
        for name, each in graph.items():
            y = columns[name]
            design = np.column_stack([np.ones(len(y)), *(columns[parent] for parent in each)])
            if np.linalg.matrix_rank(design) < design.shape[1]:
                raise DataError(
                    f"the parents of {name!r} are linearly dependent in the data, or there are "
                    "too few rows; leave a parent out"
                )
            solved = np.linalg.lstsq(design, y, rcond=None)[0]
            intercepts[name], coefficients[name] = solved[0], solved[1:]
            variances[name] = float(((y - design @ solved) ** 2).mean())
        return cls(graph, coefficients, intercepts, variances)

    def joint(self) -> NormalLaw:
        """The law of all nodes.

        Returns
        -------
        law : NormalLaw
        """
        place = {name: i for i, name in enumerate(self.parents)}
        d = len(place)
        mean, root = np.zeros(d), np.zeros((d, d))
        for name in dag.topological_order(self.parents):
            i = place[name]
            own = [place[parent] for parent in self.parents[name]]
            mean[i] = self.intercepts[name] + self.coefficients[name] @ mean[own]
            root[i] = self.coefficients[name] @ root[own]
            root[i, i] = np.sqrt(self.variances[name])
        return NormalLaw(self.names, mean, root @ root.T)

    def query(self, /, *wanted: str, **evidence: float) -> NormalLaw:
        """The law of some nodes given values of others, exactly.

        Parameters
        ----------
        *wanted : str
        **evidence : name=number

        Returns
        -------
        law : NormalLaw
        """
        dag.check_nodes(self.parents, [*wanted, *evidence])
        if not wanted or set(wanted) & set(evidence):
            raise DataError("name nodes to ask for that are not given")
        joint = self.joint()
        ask = [self.names.index(name) for name in wanted]
        held = [self.names.index(name) for name in evidence]
        mean, spread = joint.mean[ask], joint.covariance[np.ix_(ask, ask)]
        if held:
            between = joint.covariance[np.ix_(ask, held)]
            try:
                gain = np.linalg.solve(joint.covariance[np.ix_(held, held)], between.T).T
            except np.linalg.LinAlgError as error:
                raise DataError("the given nodes determine each other; give fewer") from error
            mean = mean + gain @ (np.array(list(evidence.values()), float) - joint.mean[held])
            spread = spread - gain @ between.T
        return NormalLaw(tuple(wanted), mean, (spread + spread.T) / 2)

    def d_separated(
        self, x: str | Sequence[str], y: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> bool:
        """Whether the graph alone makes x and y independent given some nodes.

        Parameters
        ----------
        x, y, given : str or sequence of str

        Returns
        -------
        separated : bool
        """
        return dag.d_separated(self.parents, x, y, given)

    def simulate(self, n: int, random_state: Seed = None) -> dict[str, np.ndarray]:
        """Rows drawn from the network.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        columns : dict of str to ndarray
        """
        rng = np.random.default_rng(random_state)
        columns: dict[str, np.ndarray] = {}
        for name in dag.topological_order(self.parents):
            value = self.intercepts[name] + np.sqrt(self.variances[name]) * rng.standard_normal(n)
            for weight, parent in zip(self.coefficients[name], self.parents[name]):
                value = value + weight * columns[parent]
            columns[name] = value
        return columns

    def __repr__(self) -> str:
        return f"GaussianNetwork({len(self.parents)} nodes)"


def _numbers(table: Table, name: str) -> np.ndarray:
    if name not in table:
        raise DataError(f"there is no column {name!r}; there are {', '.join(table.columns)}")
    try:
        column = np.array(table.column(name).to_pylist(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the column {name!r} does not hold numbers only") from error
    if not np.isfinite(column).all():
        raise DataError(f"the column {name!r} has missing or infinite cells; fill them first")
    return column
