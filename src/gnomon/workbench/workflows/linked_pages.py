"""Rows that are links from one page to another, and their pages during a PageRank (002 L6037)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from gnomon.engine.errors import DataError
from gnomon.reduce import stress_map
from gnomon.sequence import link_graph
from gnomon.workbench.workflows.fit_replay import MOST_STEPS, Replay
from gnomon.workbench.workflows.rows_over_steps import RowsOverSteps, every_few, plane


class LinkedPages:
    """The graph of a table whose rows are links; rows without one of both ends are left out.

    Parameters
    ----------
    table : Table
    tail, head : str
        The columns with the page that a link is on and the page that it leads to.
    most_pages : int, default=100
        How many are drawn, those with the greatest scores; all are scored.

    Attributes
    ----------
    graph : LinkGraph

    Examples
    --------
    >>> from gnomon.sequence import pagerank
    >>> from gnomon.table import Table
    >>> from gnomon.workbench.workflows import replay
    >>> table = Table.from_dict({"page": ["a", "a", "b", "c"], "leads to": ["b", "c", "c", "a"]})
    >>> pages = LinkedPages(table, "page", "leads to")
    >>> steps = replay(pagerank(pages.graph, keep_history="full"))
    >>> pages.over(steps).names
    ['c', 'a', 'b']
    """

    def __init__(self, table: Any, tail: str, head: str, *, most_pages: int = 100) -> None:
        columns = (table.column(name).to_pylist() for name in (tail, head))
        pairs = [pair for pair in zip(*columns, strict=True) if None not in pair]
        if not pairs:
            raise DataError(f"no row has both {tail!r} and {head!r}")
        self.graph = link_graph(pairs)
        self.most_pages = most_pages

    def over(self, steps: Replay) -> RowsOverSteps:
        """The pages, as large as their scores after each step.

        Parameters
        ----------
        steps : Replay
            Of `gnomon.sequence.pagerank` on this graph.

        Returns
        -------
        rows : RowsOverSteps
        """
        scores = steps.path("scores")
        if scores.shape[1] != len(self.graph.pages):
            raise DataError(f"{steps.method} scored other pages")
        shown = np.argsort(-scores[-1], kind="stable")[: self.most_pages]
        links = self.graph.links[shown][:, shown].tocoo()
        ends = np.sort(np.column_stack([links.row, links.col]), axis=1)
        ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
        numbers = sorted({*every_few(len(steps), MOST_STEPS).tolist(), len(steps) - 1})
        return RowsOverSteps(
            numbers=numbers,
            rows=shown,
            places=[plane(laid_out(ends, len(shown)))] * len(numbers),
            answers=None,
            truth=None,
            centers=None,
            edges=None,
            axes=("", ""),
            sizes=[scores[number, shown] for number in numbers],
            links=ends,
            names=[str(self.graph.pages[page]) for page in shown],
        )


def laid_out(ends: np.ndarray, n: int) -> np.ndarray:
    """Places of nodes, as far apart as the links between them are many; parts lie side by side."""
    table = sp.csr_array((np.ones(len(ends)), ends.T), shape=(n, n))
    steps = shortest_path(table, directed=False, unweighted=True)
    reached = np.isfinite(steps)
    steps[~reached] = 1 + steps[reached].max()
    return np.asarray(stress_map(steps, max_iter=300, tol=1e-6).places) if n > 2 else steps
