"""Classification by a belief network: the class is a parent of every column, and columns may
depend on each other.

    p(class | known cells)  is proportional to  p(class) sum over missing cells
                                                prod_j p(x_j | class, parents of x_j)

With no links between columns this is naive Bayes; with a tree of links (Chow and Liu 1968;
Friedman, Geiger and Goldszmidt 1997) columns that repeat each other no longer count twice. Missing
cells are summed out exactly, by elimination, for all rows of one pattern at once.

Texts: 003 3.4, 3.4.6 · 002 "Directed graphical models" · 001 15.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp, xlogy

from gnomon.contract import Classifier, Columns, Data, Takes
from gnomon.engine import memory
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.engine.parameters import JOBS, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object, Text
from gnomon.graphical import dag
from gnomon.graphical.belief_network import BeliefNetwork
from gnomon.graphical.elimination import Factor, eliminate, multiply
from gnomon.graphical.joint import check_cells
from gnomon.table.codes import OTHER, CategoryCode

CLASS = "class"
ROW, OWN = 0, 1  # in elimination: the rows of a block, and the class; columns follow
ROWS_AT_ONCE = 4096  # bounds the memory of indicators, rows times cells


@method(
    task="classify",
    texts="003 3.4, 3.4.6 · 002 directed graphical models · 001 15.2",
    use="On categories and binned numbers that depend on each other, with missing cells.",
    avoid="Where numbers matter finely: they are binned; boosted trees predict better there.",
    peers=("pgmpy.models.DiscreteBayesianNetwork", "weka BayesNet"),
)
class BeliefNetworkClassifier(Classifier):
    """Classes by a belief network in which the class is a parent of every column.

    Predicts by log p(class) + sum_j log p(x_j | class, parents of x_j), tables being smoothed
    counts, (count + alpha) / (sum + alpha n_values). Numbers are cut into bins of about equal
    weight. A missing cell, or a category never seen, is summed out: exactly what the network says
    when it is not known.

    Use it as the step after naive Bayes: where columns repeat each other, a tree of links keeps
    the probabilities honest at hardly more cost; and where the model itself is wanted, as
    ``network_`` answers any other question too. Do not use it for fine dependence on numbers or on
    many columns together.

    Links of ``structure="tree"``: the heaviest forest, a link weighing
    n I(x_i; x_j | class) - log(n) / 2 times the free cells that it adds, so that links which do
    not pay for their cells are left out.

    Texts: 003 3.4 (networks, tables from counts), 3.4.6 (naive Bayes as a network); 002, 001 15.2.
    The texts leave the choice of links to the expert: that is ``structure`` as a dict.

    Parameters
    ----------
    structure : {"tree", "naive"} or dict, default="tree"
        Links between columns: a forest found in the data, none, or for some columns the list of
        their parents, by name (for arrays "x0", "x1" ...).
    alpha : float, default=1.0
        Added to counts.
    n_bins : int, default=5
        Bins of a column of numbers, at most.
    n_jobs : int or None, default=None
        Threads of a prediction; None for all processors. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    network_ : BeliefNetwork
        All columns and the class, with their tables.
    class_node_ : str
        The name of the class in the network.
    links_ : list of tuple of str
        Links between columns, parent first.
    cuts_ : list of ndarray
        Where each column of numbers is cut; empty for categories.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.graphical import BeliefNetworkClassifier
    >>> rows = np.array([[0.0, 0.1], [0.2, 0.0], [1.0, 1.1], [1.2, 0.9]] * 5)
    >>> model = BeliefNetworkClassifier(n_bins=2).fit(rows, ["a", "a", "b", "b"] * 5)
    >>> model.predict([[0.1, np.nan], [np.nan, 1.0]])
    array(['a', 'b'], dtype='<U1')
    >>> round(model.network_.query("class", x0="above 0.6").probability(**{"class": "b"}), 3)
    0.917
    """

    natively = Takes(missing=True, categories=True)
    _parameter_constraints = {
        "structure": [StrOptions({"tree", "naive"}), dict],
        "alpha": [above(0)],
        "n_bins": [whole(2, 1000)],
        "n_jobs": JOBS,
    }
    _stored = {
        "class_node_": Text(),
        "cuts_": ListOf(Array("f", (None,)), "n_columns"),
        "links_": ListOf(ListOf(Text(), kind=tuple)),
        "network_": Object(("BeliefNetwork",)),
    }

    def __init__(self, structure="tree", alpha=1.0, n_bins=5, n_jobs=None):
        self.structure = structure
        self.alpha = alpha
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _working_memory(self, n_rows, n_columns):
        cells, rows = n_columns * self.n_bins, min(ROWS_AT_ONCE, n_rows)
        pairs = 0 if self.structure == "naive" else 2 * cells**2 + 2 * rows * cells
        return 8 * (2 * n_rows * n_columns + 8 * n_rows + pairs)

    def _memory_remedy(self):
        return "Use fewer rows or columns, fewer bins, or structure='naive'."

    def _fit(self, data: Data) -> None:
        if data.n_rows == 0:
            raise DataError("no row has a weight above zero; there is nothing to learn from")
        rows, weights, y = data.rows, data.weight_array, data.y
        columns = data.columns
        self.cuts_ = [
            np.empty(0) if levels else cut_points(rows[:, j], weights, self.n_bins)
            for j, levels in enumerate(columns.levels)
        ]
        sizes = [levels or len(cuts) + 1 for levels, cuts in zip(columns.levels, self.cuts_)]
        codes = self._codes(rows, sizes)
        n_classes = len(self.classes_)
        parents = self._structure(columns, codes, sizes, y, weights)
        tables = [_share(np.bincount(y, weights, minlength=n_classes) + self.alpha)]
        for j, above_it in enumerate(parents):
            members = [y, *(codes[:, k] for k in above_it), codes[:, j]]
            shape = (n_classes, *(sizes[k] for k in above_it), sizes[j])
            tables.append(_share(_counts(members, shape, weights) + self.alpha))
        self._keep_network(columns, sizes, parents, tables)

    def _codes(self, rows: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
        """The value of every cell as 0, 1 ...; -1 where it is not known."""
        codes = np.empty(rows.shape, dtype=np.int64)
        for j, cuts in enumerate(self.cuts_):
            column = rows[:, j]
            known = ~np.isnan(column)
            if len(cuts) or sizes[j] == 1:
                codes[:, j] = np.searchsorted(cuts, column, side="left")
            else:
                codes[:, j] = np.where(known, column, 0.0)
            codes[~known, j] = -1
        return codes

    def _structure(self, columns: Columns, codes, sizes, y, weights) -> list[tuple[int, ...]]:
        """The parents of every column among the columns."""
        if self.structure == "naive":
            return [()] * len(columns)
        if self.structure == "tree":
            score = link_scores(codes, sizes, y, weights, len(self.classes_))
            return heaviest_forest(score)
        place = {name: j for j, name in enumerate(columns.names)}
        given = {str(name): tuple(map(str, each)) for name, each in self.structure.items()}
        strange = [each for name in given for each in (name, *given[name]) if each not in place]
        if strange:
            raise DataError(
                f"structure names {strange[0]!r}, which is no column; the columns are "
                f"{', '.join(columns.names[:20])}"
            )
        graph = {name: given.get(name, ()) for name in columns.names}
        dag.topological_order(graph)
        return [tuple(place[each] for each in graph[name]) for name in columns.names]

    def _keep_network(self, columns: Columns, sizes, parents, tables) -> None:
        own = getattr(self, "target_name_", CLASS)
        while own in columns.names:
            own = f"{own} ({CLASS})"
        names = columns.names
        levels = {own: tuple(self.classes_.tolist())}
        levels |= dict(zip(names, self._values(columns, sizes)))
        graph = {own: ()} | {
            name: (own, *(names[k] for k in each)) for name, each in zip(names, parents)
        }
        self.class_node_ = own
        self.network_ = BeliefNetwork(levels, graph, dict(zip(levels, tables)))
        self.links_ = [(names[k], name) for name, each in zip(names, parents) for k in each]

    def _values(self, columns: Columns, sizes: Sequence[int]) -> list[tuple]:
        """Names of the values of every column: categories, or stretches of numbers."""
        known = {}
        for code in getattr(getattr(self, "encoder_", None), "codes", ()):
            if isinstance(code, CategoryCode):
                labels = tuple(map(str, [*code.values, OTHER] if code.lumped else code.values))
                known[code.name] = labels if len(set(labels)) == len(labels) else ()
        found = []
        for name, size, levels, cuts in zip(columns.names, sizes, columns.levels, self.cuts_):
            if levels:
                named = known.get(name, ())
                found.append(named if len(named) == size else tuple(map(str, range(size))))
            else:
                found.append(stretches(cuts))
        return found

    def _proba(self, rows) -> np.ndarray:
        sizes = self.network_.sizes[1:]
        codes = self._codes(rows, sizes)
        known = codes >= 0
        if known.all():
            return _normalized(self._log_joint(codes, known[0]))
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        logs = np.empty((len(rows), len(self.classes_)))
        for k, pattern in enumerate(patterns):
            members = np.flatnonzero(which.ravel() == k)
            logs[members] = self._log_joint(codes[members], pattern)
        return _normalized(logs)

    def _log_joint(self, codes: np.ndarray, known: np.ndarray) -> np.ndarray:
        """log p(class, known cells) of rows that know the same cells: (n, n_classes).

        The rows are one more variable of the elimination, which is never summed out.
        """
        network = self.network_
        names = network.names[1:]
        place = {name: j for j, name in enumerate(names)}
        needed = dag.ancestors(
            network.parents, [names[j] for j in np.flatnonzero(known)] + [self.class_node_]
        )
        kept = np.zeros((len(codes), len(self.classes_)))
        factors = [Factor((ROW, OWN), kept)]
        for name in network.names:
            if name in needed:
                family = [place.get(each, -1) for each in (*network.parents[name], name)]
                factors.append(_row_factor(np.log(network.tables[name]), family, codes, known))
        sizes = [len(codes), *network.sizes]
        if known.all():
            return multiply(factors, (ROW, OWN)).logs
        return eliminate(factors, sizes, (ROW, OWN), "the network of a row's missing cells").logs

    def _levels_seen(self) -> Sequence[int]:
        """Number of categories of every column; 0 for a column of numbers."""
        encoder = getattr(self, "encoder_", None)
        return [0] * len(self.cuts_) if encoder is None else encoder.columns.levels

    def _check_loaded(self) -> None:
        if not hasattr(self, "network_"):
            return
        names = self.network_.names
        fits = (
            names[0] == self.class_node_
            and len(names) == len(self.cuts_) + 1
            and all(
                len(self.network_.levels[name]) == (n_levels or len(cuts) + 1)
                for name, cuts, n_levels in zip(names[1:], self.cuts_, self._levels_seen())
            )
            and all(self.network_.parents[name][:1] == names[:1] for name in names[1:])
            and len(self.network_.levels[self.class_node_]) == len(self.classes_)
        )
        if not fits:
            raise ModelFileError("a BeliefNetworkClassifier whose network is not of its columns")


def cut_points(values: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Cuts of a column into bins of about equal weight, half-way between values that occur."""
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    ordered, line = values[known][order], np.cumsum(weights[known][order])
    if not len(ordered):
        return np.empty(0)
    last = np.flatnonzero(np.append(np.diff(ordered) > 0, True))
    ends, distinct = line[last], ordered[last]
    wanted = ends[-1] * np.arange(1, n_bins) / n_bins
    # a share that a cumulative weight only misses by rounding belongs before the cut
    places = np.unique(np.searchsorted(ends, wanted * (1 - 1e-12)))
    places = places[places < len(distinct) - 1]
    low, high = distinct[places], distinct[places + 1]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


def stretches(cuts: np.ndarray) -> tuple[str, ...]:
    """Names of the bins between cuts."""
    if not len(cuts):
        return ("any",)
    named = [f"{cut:.6g}" for cut in cuts]
    if len(set(named)) < len(named):
        named = [repr(float(cut)) for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(named)]
    return (f"up to {named[0]}", *between, f"above {named[-1]}")


def link_scores(
    codes: np.ndarray, sizes: Sequence[int], y: np.ndarray, weights: np.ndarray, n_classes: int
) -> np.ndarray:
    """What a link between two columns gains: n I(i; j | class) less log(n) / 2 per added cell.

    Counts of all pairs of values are one product of indicator columns per class and block of rows.
    Cells that are not known count in no pair.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    memory.require(
        48 * int(starts[-1]) ** 2 + 16 * ROWS_AT_ONCE * int(starts[-1]),
        f"the pairs of values of {len(sizes):,} columns",
        "Use fewer bins, recode categories of many levels, or structure='naive'.",
    )
    gain = np.zeros((len(sizes), len(sizes)))
    for k in range(n_classes):
        members = np.flatnonzero(y == k)
        counts = np.zeros((starts[-1], starts[-1]))
        for begin in range(0, len(members), ROWS_AT_ONCE):
            part = members[begin : begin + ROWS_AT_ONCE]
            marks = _indicators(codes[part], starts)
            counts += (marks * weights[part][:, None]).T @ marks
        gain += _information(counts, starts[:-1])
    total = float(weights.sum())
    free = np.asarray(sizes) - 1
    cost = 0.5 * np.log(max(total, 1.0)) * n_classes * np.outer(free, free)
    return gain - cost


def _indicators(codes: np.ndarray, starts: np.ndarray) -> np.ndarray:
    marks = np.zeros((len(codes), starts[-1]))
    rows, columns = np.nonzero(codes >= 0)
    marks[rows, starts[columns] + codes[rows, columns]] = 1.0
    return marks


def _information(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """n times the mutual information of every pair of columns, from counts of pairs of values."""
    by_column = np.add.reduceat(counts, starts, axis=1)
    both = np.add.reduceat(np.add.reduceat(xlogy(counts, counts), starts, axis=1), starts, axis=0)
    one = np.add.reduceat(xlogy(by_column, by_column), starts, axis=0)
    total = np.add.reduceat(by_column, starts, axis=0)
    return both - one - one.T + xlogy(total, total)


def heaviest_forest(scores: np.ndarray) -> list[tuple[int, ...]]:
    """The parent of every node in the forest of largest total score (Kruskal); roots have none.

    Links of no positive score are left out. Scores that differ by rounding only are ties, which go
    to the first pair.
    """
    d = len(scores)
    rounded = np.round(scores, 9 - int(np.ceil(np.log10(np.abs(scores).max(initial=1.0)))))
    first, second = np.triu_indices(d, 1)
    order = np.argsort(-rounded[first, second], kind="stable")
    group = list(range(d))
    links: list[list[int]] = [[] for _ in range(d)]
    for e in order:
        i, j = int(first[e]), int(second[e])
        if rounded[i, j] <= 0:
            break
        if group[i] != group[j]:
            old, new = group[j], group[i]
            group = [new if each == old else each for each in group]
            links[i].append(j)
            links[j].append(i)
    parents: list[tuple[int, ...] | None] = [None] * d
    for root in range(d):
        if parents[root] is None:
            parents[root] = ()
            waiting = [root]
            for node in waiting:
                for other in links[node]:
                    if parents[other] is None:
                        parents[other] = (node,)
                        waiting.append(other)
    return [each or () for each in parents]


def _counts(members: list[np.ndarray], shape: tuple[int, ...], weights: np.ndarray) -> np.ndarray:
    """Weight of every combination among rows where all members are known."""
    check_cells(shape, f"the table of a column with {len(shape) - 2} parents among the columns")
    known = np.all([each >= 0 for each in members], axis=0)
    flat = np.ravel_multi_index(tuple(each[known] for each in members), shape)
    return np.bincount(flat, weights[known], minlength=int(np.prod(shape))).reshape(shape)


def _normalized(logs: np.ndarray) -> np.ndarray:
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _share(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum(axis=-1, keepdims=True)


def _row_factor(
    logs: np.ndarray, family: list[int], codes: np.ndarray, known: np.ndarray
) -> Factor:
    """A table with the known cells of rows put in, as a factor over rows, class and the others."""
    held = [axis for axis, j in enumerate(family) if j >= 0 and known[j]]
    free = [axis for axis in range(len(family)) if axis not in held]
    scope = [family[axis] + 2 for axis in free]
    turned = logs.transpose(held + free)
    if not held:
        return Factor.of(scope, turned)
    return Factor.of([ROW, *scope], turned[tuple(codes[:, family[axis]] for axis in held)])
