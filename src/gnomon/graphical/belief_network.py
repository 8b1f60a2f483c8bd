"""Belief networks: a directed graph without cycles and a table of probabilities for each node.

p(x_1 ... x_n) = product over nodes of p(x_i | parents of x_i). Any question "what of these, given
those?" is answered exactly, by elimination; the tables come from an expert, from counts, or both:

    p(v | parents) = (count(v, parents) + alpha + w expert(v | parents)) / their sum over v.

Texts: 001 15.2 · 002 "Directed graphical models" · 003 3.4 (network, tables, exact inference).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import Saved
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, ListOf, Text
from gnomon.graphical import dag
from gnomon.graphical.cells import coded_columns
from gnomon.graphical.elimination import (
    EliminationPlan,
    Factor,
    calibrate,
    eliminate,
    most_probable,
    plan,
)
from gnomon.graphical.elimination import require as require_memory
from gnomon.graphical.elimination_kernel import Recipe, recipe, sum_products
from gnomon.graphical.joint import JointTable, check_cells, level_position
from gnomon.sample.chains import NOT_MIXED, Chains
from gnomon.sample.diagnostics import effective_sample_size, r_hat
from gnomon.sample.draws import Seed
from gnomon.sample.network import CategoricalNode, Network

ROUNDING = 1e-6  # tables written to seven digits pass
MOST_RECIPES = 1000  # forms of questions that are remembered


class _Prepared(NamedTuple):
    """A form of question, worked out: which tables, and how to sum them."""

    forecast: EliminationPlan
    first: np.ndarray
    recipe: Recipe


@dataclass(repr=False)
class NetworkAnswer(Result):
    """Probabilities that a network gave, and by which way.

    Attributes
    ----------
    joint : JointTable
        Of the nodes asked for.
    figures : list of Estimate
        Cell by cell, the last node running fastest; draws have an error, exact answers none.
    method : str
        "exact" or "gibbs".
    why : str
        What decided between them: the width and the memory that exact inference needs.
    mixed : bool
        Of chains: whether they tell the same. True for exact answers.
    """

    joint: JointTable
    figures: list[Estimate]
    method: str
    why: str
    mixed: bool = True

    def _title(self) -> str:
        how = "exactly" if self.method == "exact" else "by Gibbs chains, approximately"
        return f"{', '.join(self.joint.names)} {how}"

    def _columns(self) -> dict[str, list]:
        return self.joint._columns() | {"probability": self.figures}

    def _remarks(self) -> list[str]:
        unmixed = [] if self.mixed else ["the chains HAVE NOT MIXED: do not use these figures yet"]
        return [self.why, *unmixed]


@method(
    task="infer",
    texts="003 3.4 · 001 15.2 · 002",
    use="Categorical variables with known links: any of them given any others.",
    avoid="One column to predict and no known structure: a classifier.",
    peers=("pgmpy.models.DiscreteBayesianNetwork", "pomegranate.bayesian_network.BayesianNetwork"),
    takes="graph",
    synonyms=("Bayesian network", "bayes net", "directed graphical model"),
)
class BeliefNetwork(Saved):
    """A belief (Bayesian) network of categorical variables.

    Use it where the structure is known (a fault tree, a diagnosis) and questions vary: any targets
    given any evidence. Not where nothing is known of the structure and only one column is to be
    predicted: a classifier needs fewer assumptions.

    Inference is exact; its cost is exponential in the width of the graph, which `forecast` gives
    beforehand. What would not fit into memory is refused; `answer` then uses Gibbs chains instead
    and reports it, and `sampler` gives the draws themselves.

    Texts: 003 3.4, 001 15.2, 002. The row of a table is chosen by all categorical parents; 003
    counts it in mixed radix (`row_index`), here each parent has an axis.

    Parameters
    ----------
    levels : mapping of str to sequence
        The values of every node.
    parents : mapping of str to sequence of str
        The parents of every node; nodes that are left out have none.
    tables : mapping of str to array-like
        One axis per parent, in order, and a last one for the node's values; rows sum to one.

    Attributes
    ----------
    levels, parents, tables : dict

    Examples
    --------
    >>> from gnomon.graphical import BeliefNetwork
    >>> net = BeliefNetwork({"A": "tf", "B": "tf", "C": "tf"}, {"B": ["A"], "C": ["B"]},
    ...                     {"A": [2/5, 3/5], "B": [[2/3, 1/3], [3/7, 4/7]],
    ...                      "C": [[1/2, 1/2], [1/3, 2/3]]})
    >>> round(net.query("B", A="t", C="t").probability(B="t"), 6)
    0.75
    """

    _stored = {
        "levels": DictOf(ListOf(Anything(), kind=tuple)),
        "parents": DictOf(ListOf(Text(), kind=tuple)),
        "tables": DictOf(Array("f8", low=0.0)),
    }

    def __init__(
        self,
        levels: Mapping[str, Sequence],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
    ):
        self.levels = {name: tuple(each) for name, each in levels.items()}
        self.parents = {name: tuple(parents.get(name, ())) for name in self.levels}
        self.tables = {
            name: np.array(tables[name], float) for name in self.levels if name in tables
        }
        strange = [name for name in (*parents, *tables) if name not in self.levels]
        self._check(strange)

    def _check(self, strange: Sequence[str] = ()) -> None:
        """Refuse what is no network."""
        lacking = [name for name in self.levels if name not in self.tables]
        if strange or lacking:
            raise DataError(
                f"every node needs levels and a table; {', '.join([*strange, *lacking])} lacks one"
            )
        dag.topological_order(self.parents)
        for name, table in self.tables.items():
            self._check_table(name, table)
            table.setflags(write=False)  # questions of a known form read a copy

    def _check_loaded(self) -> None:
        self._check([name for name in (*self.parents, *self.tables) if name not in self.levels])

    def _check_table(self, name: str, table: np.ndarray) -> None:
        shape = tuple(len(self.levels[each]) for each in (*self.parents[name], name))
        if table.shape != shape:
            raise DataError(
                f"the table of {name!r} has the shape {table.shape}; its parents "
                f"({', '.join(self.parents[name])}) and itself need {shape}"
            )
        if not np.isfinite(table).all() or (table < 0).any():
            raise DataError(f"the table of {name!r} holds numbers that are no probabilities")
        sums = table.sum(axis=-1)
        bad = np.argwhere(np.abs(sums - 1) > ROUNDING)
        if len(bad):
            place = tuple(bad[0])
            given = {p: self.levels[p][i] for p, i in zip(self.parents[name], place)}
            raise DataError(
                f"the probabilities of {name!r} given {given or 'nothing'} sum to "
                f"{float(sums[place]):.6g}, not 1"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order given."""
        return tuple(self.levels)

    @property
    def links(self) -> list[tuple[str, str]]:
        """All links, parent first."""
        return [(parent, name) for name, each in self.parents.items() for parent in each]

    @classmethod
    def fit(
        cls,
        data: Any,
        parents: Mapping[str, Sequence[str]],
        *,
        alpha: float = 0.0,
        expert: Mapping[str, ArrayLike] | None = None,
        expert_weight: float = 1.0,
        levels: Mapping[str, Sequence] | None = None,
        missing: str = "error",
    ) -> BeliefNetwork:
        """Tables from counts of a table of data, smoothed and mixed with an expert's numbers.

        Parameters
        ----------
        data : data frame, Table or mapping of columns
        parents : mapping of str to sequence of str
            The nodes and their parents; all are columns of the data.
        alpha : float, default=0
            Added to every count: 0 is maximum likelihood, 1 Laplace's rule; in general a
            symmetric Dirichlet prior, of which the posterior mean is taken.
        expert : mapping of str to array-like, default=None
            Tables that an expert gave, for some nodes.
        expert_weight : float, default=1
            Number of rows per combination of parents that the expert's tables count as.
        levels : mapping of str to sequence, default=None
            Values of some nodes, in order; those found in the data otherwise.
        missing : {"error", "available"}, default="error"
            Rows with missing cells: refuse, or count for each node the rows in which it and its
            parents are known (right where cells are missing at random).

        Returns
        -------
        network : BeliefNetwork

        Examples
        --------
        >>> rows = {"rain": ["y", "y", "n", "n"], "wet": ["y", "y", "n", "y"]}
        >>> BeliefNetwork.fit(rows, {"rain": (), "wet": ("rain",)}).tables["wet"].tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        if not alpha >= 0 or not expert_weight >= 0:
            raise DataError("alpha and expert_weight must not be negative")
        if missing not in ("error", "available"):
            raise DataError(f"missing={missing!r} is none of error, available")
        graph = {name: tuple(each) for name, each in parents.items()}
        for each in list(graph.values()):
            graph |= {name: () for name in each if name not in graph}
        dag.topological_order(graph)
        codes, found = coded_columns(data, tuple(graph), levels)
        if missing == "error":
            gaps = [name for name in graph if (codes[name] < 0).any()]
            if gaps:
                raise DataError(
                    f"the columns {', '.join(gaps)} have missing cells; fill them, or count what "
                    "is known with missing='available'"
                )
        judged = dict(expert or {})
        unknown = [name for name in judged if name not in graph]
        if unknown:
            raise DataError(
                f"expert has tables of {', '.join(unknown)}, which is not a node of parents"
            )
        tables = {}
        for name, each in graph.items():
            family = (*each, name)
            counts = _counts([codes[member] for member in family], [found[m] for m in family])
            counts = counts + alpha
            if name in judged:
                counts = counts + expert_weight * _rows(judged[name], counts.shape, name)
            tables[name] = _normalized(counts, name, each, found)
        return cls({name: found[name] for name in graph}, graph, tables)

    def _place(self, evidence: Mapping[str, Any]) -> dict[int, int]:
        """Evidence as positions of nodes and of their values."""
        names = self.names
        return {
            names.index(name): level_position(self.levels, name, value)
            for name, value in evidence.items()
        }

    @property
    def sizes(self) -> list[int]:
        """Number of values of each node."""
        return [len(each) for each in self.levels.values()]

    def factors(
        self, evidence: Mapping[str, Any] | None = None, wanted: Sequence[str] = ()
    ) -> list[Factor]:
        """Tables with evidence put in; with targets, only those that matter for them.

        Parameters
        ----------
        evidence : mapping of str to value, default=None
        wanted : sequence of str, default=()

        Returns
        -------
        factors : list of Factor
        """
        given = evidence or {}
        dag.check_nodes(self.parents, [*wanted, *given])
        held = self._place(given)
        places = {name: i for i, name in enumerate(self.levels)}
        chosen = dag.ancestors(self.parents, [*wanted, *given]) if wanted else self.levels
        found = []
        for name in self.levels:
            if name in chosen:
                scope = [places[each] for each in (*self.parents[name], name)]
                found.append(Factor.of(scope, self._logs[name]).at(held))
        return found

    @cached_property
    def _logs(self) -> dict[str, np.ndarray]:
        with np.errstate(divide="ignore"):
            return {name: np.log(table) for name, table in self.tables.items()}

    def forecast(self, /, *wanted: str, **evidence: Any) -> EliminationPlan:
        """Width, sizes and memory of exact inference, before it is done.

        Parameters
        ----------
        *wanted : str
            Targets; all marginals where none is named.
        **evidence : name=value

        Returns
        -------
        plan : EliminationPlan
        """
        factors = self.factors(evidence, wanted)
        kept = [self.names.index(name) for name in wanted]
        return plan([factor.scope for factor in factors], self.sizes, kept)

    def query(self, /, *wanted: str, **evidence: Any) -> JointTable:
        """The joint law of some nodes, given values of others, exactly.

        Parameters
        ----------
        *wanted : str
        **evidence : name=value

        Returns
        -------
        joint : JointTable
            Axes in the order asked for.
        """
        self._check_wanted(wanted, evidence)
        found = self._summed(wanted, evidence)
        table = self._summed_in_logarithms(wanted, evidence) if found is None else found[0]
        return JointTable(table, {name: self.levels[name] for name in wanted})

    @cached_property
    def _cells(self) -> tuple[np.ndarray, dict[str, int]]:
        """All tables in one array, and where each begins."""
        sizes = np.cumsum([0, *(table.size for table in self.tables.values())])
        cells = np.concatenate([table.ravel() for table in self.tables.values()])
        return cells, dict(zip(self.tables, sizes.tolist()))

    @cached_property
    def _known_forms(self) -> dict[tuple, _Prepared]:
        """Forms of questions that were asked before: nodes wanted, nodes given."""
        return {}

    def _prepared(self, wanted: tuple[str, ...], given: tuple[str, ...]) -> _Prepared:
        form = (wanted, given)
        if form not in self._known_forms:
            if len(self._known_forms) >= MOST_RECIPES:
                self._known_forms.clear()
            self._known_forms[form] = self._worked_out(wanted, given)
        return self._known_forms[form]

    def _worked_out(self, wanted: tuple[str, ...], given: tuple[str, ...]) -> _Prepared:
        dag.check_nodes(self.parents, [*wanted, *given])
        place = {name: i for i, name in enumerate(self.levels)}
        chosen = dag.ancestors(self.parents, [*wanted, *given])
        tables = {name: table for name, table in self.tables.items() if name in chosen}
        scopes = [[place[each] for each in (*self.parents[name], name)] for name in tables]
        held, kept = [place[name] for name in given], [place[name] for name in wanted]
        free = [[v for v in scope if v not in held] for scope in scopes]
        forecast = plan(free, self.sizes, kept)
        require_memory(forecast, f"the query of {', '.join(wanted) or 'the evidence'}")
        # `_cells` holds every table in C order, whatever the order of the table itself is
        strides = [
            [step // 8 for step in np.ascontiguousarray(table).strides] for table in tables.values()
        ]
        first = np.array([self._cells[1][name] for name in tables], dtype=np.int64)
        steps = recipe(scopes, strides, self.sizes, held, forecast, kept)
        return _Prepared(forecast, first, steps)

    def _summed(
        self, wanted: tuple[str, ...], evidence: Mapping[str, Any]
    ) -> tuple[np.ndarray, float] | None:
        """Table of the wanted nodes up to a factor, and its logarithm; None for nearly zero."""
        form = self._prepared(tuple(wanted), tuple(evidence))
        require_memory(form.forecast, f"the query of {', '.join(wanted) or 'the evidence'}")
        held = [level_position(self.levels, name, value) for name, value in evidence.items()]
        messages = np.empty(form.recipe.message_first[-1])
        scale = sum_products(
            self._cells[0], form.first, np.array(held, dtype=np.int64), *form.recipe, messages
        )
        if np.isnan(scale):
            return None
        answer = messages[form.recipe.message_first[-2] :]
        return answer.reshape([len(self.levels[name]) for name in wanted]), float(scale)

    def _summed_in_logarithms(self, wanted: Sequence[str], evidence: Mapping) -> np.ndarray:
        kept = [self.names.index(name) for name in wanted]
        table = eliminate(
            self.factors(evidence, wanted), self.sizes, kept, f"the query of {', '.join(wanted)}"
        )
        top = table.logs.max()
        if top == -np.inf:
            raise DataError(f"the evidence {evidence} has probability zero in this network")
        return np.exp(table.logs - top).transpose(np.argsort(np.argsort(kept)))

    def answer(
        self,
        wanted: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        method: str = "auto",
        n_draws: int = 2000,
        random_state: Seed = None,
    ) -> NetworkAnswer:
        """As `query`: exactly where the width allows it, else by Gibbs chains; it says which.

        Parameters
        ----------
        wanted : str or sequence of str
        evidence : mapping of str to value, default=None
        method : {"auto", "exact", "gibbs"}, default="auto"
            "auto" samples only what exact inference cannot hold in memory.
        n_draws : int, default=2000
            Draws of each of four chains.
        random_state : int, Generator or None

        Returns
        -------
        answer : NetworkAnswer

        Examples
        --------
        >>> net = BeliefNetwork({"a": "tf", "b": "tf"}, {"b": ["a"]},
        ...                     {"a": [0.4, 0.6], "b": [[0.7, 0.3], [0.2, 0.8]]})
        >>> net.answer("a", {"b": "t"}).method
        'exact'
        """
        if method not in ("auto", "exact", "gibbs"):
            raise DataError(f"method={method!r} is none of auto, exact, gibbs")
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        held = dict(evidence or {})
        self._check_wanted(names, held)
        forecast = self.forecast(*names, **held)
        needs = f"width {forecast.width}, {memory.readable(forecast.memory)}"
        fits = forecast.width < 64 and forecast.memory <= memory.limit()
        if method == "exact" or (method == "auto" and fits):
            joint = self.query(*names, **held)
            cells = joint.values.ravel().tolist()
            figures = [Estimate(cell, cell, cell, 1.0, 0.0, "exact") for cell in cells]
            return NetworkAnswer(joint, figures, "exact", f"exact inference needs {needs}")
        chains = self.sampler().gibbs(
            {name: float(value) for name, value in self._coded(held).items()},
            n_draws,
            random_state=random_state,
        )
        why = f"exact inference would need {needs}; the answer is a share of draws"
        return self._shares(names, chains, why)

    def _coded(self, evidence: Mapping[str, Any]) -> dict[str, int]:
        """Evidence as positions of values."""
        return {name: level_position(self.levels, name, v) for name, v in evidence.items()}

    def _shares(self, names: tuple[str, ...], chains: Chains, why: str) -> NetworkAnswer:
        shape = tuple(len(self.levels[name]) for name in names)
        codes = [chains.of(name).astype(np.int64) for name in names]
        flat = np.ravel_multi_index(tuple(codes), shape)
        mixed = all(
            r_hat(chains.of(name)) <= NOT_MIXED for name in names if np.ptp(chains.of(name))
        )
        figures = []
        for cell in range(int(np.prod(shape))):
            hits = (flat == cell).astype(float)
            share = float(hits.mean())
            worth = hits.size
            if 0 < share < 1:
                worth = min(max(effective_sample_size(hits, "mean"), 4.0), hits.size)
            interval = share_interval(share * worth, worth)
            figures.append(interval._replace(value=share, how=f"{worth:.0f} effective draws"))
        counts = np.bincount(flat.ravel(), minlength=int(np.prod(shape))).reshape(shape)
        joint = JointTable(counts, {name: self.levels[name] for name in names})
        return NetworkAnswer(joint, figures, "gibbs", why, mixed)

    def _check_wanted(self, wanted: Sequence[str], evidence: Mapping[str, Any]) -> None:
        if not wanted:
            raise DataError("name the nodes to ask for, or use marginals() for all")
        dag.check_nodes(self.parents, wanted)
        if len(set(wanted)) < len(wanted) or set(wanted) & set(evidence):
            raise DataError("the nodes of the query must be different and not be given")

    def marginals(self, /, **evidence: Any) -> dict[str, np.ndarray]:
        """Probabilities of the values of every free node, by a junction tree in two passes.

        Parameters
        ----------
        **evidence : name=value

        Returns
        -------
        marginals : dict of str to ndarray
        """
        tree = calibrate(self.factors(evidence), self.sizes, "the junction tree of the network")
        if tree.log_total == -np.inf:
            raise DataError(f"the evidence {evidence} has probability zero in this network")
        return {
            name: tree.marginal(i) for i, name in enumerate(self.levels) if name not in evidence
        }

    def log_probability(self, /, **event: Any) -> float:
        """Logarithm of the probability of values of some nodes (of the evidence).

        Parameters
        ----------
        **event : name=value

        Returns
        -------
        log_probability : float
            Minus infinity for what cannot happen.
        """
        if not event:
            return 0.0
        found = self._summed((), event)
        if found is not None:
            return float(np.log(found[0]) + found[1])
        factors = self.factors(event, tuple(event))
        return float(eliminate(factors, self.sizes, [], "the probability of evidence").logs)

    def most_probable(self, /, **evidence: Any) -> dict[str, Any]:
        """The most probable values of all free nodes together, given the evidence.

        Parameters
        ----------
        **evidence : name=value

        Returns
        -------
        values : dict of str to value
        """
        values, best = most_probable(self.factors(evidence), self.sizes)
        if best == -np.inf:
            raise DataError(f"the evidence {evidence} has probability zero in this network")
        names = self.names
        return {names[i]: self.levels[names[i]][value] for i, value in sorted(values.items())}

    def joint(self) -> JointTable:
        """The whole joint table by multiplication, refused where it is too large.

        Returns
        -------
        joint : JointTable
        """
        check_cells(self.sizes, "the joint table of the network")
        everything = range(len(self.levels))
        total = np.zeros(self.sizes)
        for factor in self.factors():
            total = total + factor.spread(everything)
        return JointTable(np.exp(total), self.levels)

    def enumerate(self, /, *wanted: str, **evidence: Any) -> JointTable:
        """As `query`, by writing the joint table down: the oracle of all other ways.

        Parameters
        ----------
        *wanted : str
        **evidence : name=value

        Returns
        -------
        joint : JointTable
        """
        self._check_wanted(wanted, evidence)
        joint = self.joint()
        return (joint.condition(**evidence) if evidence else joint).marginal(*wanted)

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

    def markov_blanket(self, name: str) -> set[str]:
        """Parents, children and their other parents.

        Parameters
        ----------
        name : str

        Returns
        -------
        blanket : set of str
        """
        return dag.markov_blanket(self.parents, name)

    def sampler(self) -> Network:
        """The same network for sampling (values as numbers 0, 1 ...), where width forbids more.

        Returns
        -------
        network : gnomon.sample.Network
        """
        return Network(
            [
                CategoricalNode(name, table / table.sum(axis=-1, keepdims=True), self.parents[name])
                for name, table in self.tables.items()
            ]
        )

    def simulate(self, n: int, random_state: Seed = None) -> dict[str, list]:
        """Rows drawn from the network, parents first.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        columns : dict of str to list
        """
        rng = np.random.default_rng(random_state)
        codes: dict[str, np.ndarray] = {}
        for name in dag.topological_order(self.parents):
            rows = self.tables[name][tuple(codes[parent] for parent in self.parents[name])]
            line = np.cumsum(np.broadcast_to(rows, (n, rows.shape[-1])), axis=1)
            codes[name] = (line <= rng.random((n, 1)) * line[:, -1:]).sum(axis=1)
        return {name: [self.levels[name][i] for i in codes[name]] for name in self.levels}

    def __repr__(self) -> str:
        return f"BeliefNetwork({len(self.levels)} nodes, {len(self.links)} links)"


def _counts(codes: list[np.ndarray], levels: list[tuple]) -> np.ndarray:
    """How often each combination occurs among rows where all are known."""
    shape = tuple(len(each) for each in levels)
    check_cells(shape, f"the table of a node with {len(shape) - 1} parents")
    known = np.all([each >= 0 for each in codes], axis=0)
    flat = np.ravel_multi_index(tuple(each[known] for each in codes), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def _rows(table: ArrayLike, shape: tuple[int, ...], name: str) -> np.ndarray:
    """An expert's table, checked to be probabilities."""
    found = np.asarray(table, dtype=float)
    sums = found.sum(axis=-1) if found.ndim else found
    if found.shape != shape or (found < 0).any() or np.abs(sums - 1).max() > ROUNDING:
        raise DataError(
            f"the expert's table of {name!r} must be probabilities of the shape {shape} whose rows "
            "sum to 1"
        )
    return found


def _normalized(
    counts: np.ndarray, name: str, parents: Sequence[str], levels: Mapping[str, tuple]
) -> np.ndarray:
    sums = counts.sum(axis=-1, keepdims=True)
    empty = np.argwhere(sums[..., 0] == 0)
    if len(empty):
        given = {parent: levels[parent][i] for parent, i in zip(parents, empty[0])}
        raise DataError(
            f"no row has {given or 'a value of it'}, so that the probabilities of {name!r} there "
            "are unknown; smooth with alpha > 0 or give an expert's table"
        )
    return counts / sums
