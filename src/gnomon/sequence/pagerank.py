"""PageRank: the stationary distribution of a reader who follows links and sometimes jumps.

P = alpha A + (1 - alpha) 1 v',  A_ij = 1 / out(i) where i links to j. From a page without links
the reader jumps to a page drawn from v. With alpha < 1 the chain is irreducible and aperiodic, so
the power method converges; started at the scores of an earlier graph it needs few steps.

Texts: 002 L5888-5900, 6037-6269 · 004 1.Q.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.renamed import former_parameters


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """Pages and their links.

    Attributes
    ----------
    pages : list
    links : csr_array of shape (n, n)
        How often page i links to page j.
    dangling : list
        Pages without links.
    """

    pages: list
    links: sp.csr_array
    dangling: list


@dataclass(frozen=True, eq=False)
class PageRank:
    """Scores of pages.

    Attributes
    ----------
    scores : ndarray
        Share of time at each page; they sum to 1.
    n_steps : int
    change : float
        Sum of absolute changes in the last step.
    converged : bool
    n_dangling : int
        Pages without links, whose readers go anywhere.
    history_ : History
        The change in every step; with ``keep_history="full"`` the scores after it too.
    """

    scores: np.ndarray
    n_steps: int
    change: float
    converged: bool
    n_dangling: int
    history_: History = field(default_factory=History)

    def order(self) -> np.ndarray:
        """Numbers of the pages, best first; equals in their own order."""
        return np.argsort(-self.scores, kind="stable")


def link_graph(
    links: Iterable[tuple[Hashable, Hashable]], pages: Sequence[Hashable] | None = None
) -> LinkGraph:
    """A graph of links from pairs (from, to).

    Parameters
    ----------
    links : iterable of pairs
    pages : sequence, default=None
        All pages; by default those in the links, in the order in which they appear.

    Returns
    -------
    graph : LinkGraph

    Examples
    --------
    >>> graph = link_graph([("a", "b"), ("a", "c"), ("b", "c")])
    >>> graph.pages, graph.dangling
    (['a', 'b', 'c'], ['c'])
    """
    pairs = list(links)
    names = (
        list(dict.fromkeys(page for pair in pairs for page in pair))
        if pages is None
        else list(pages)
    )
    places = {page: i for i, page in enumerate(names)}
    for tail, head in pairs:
        for page in (tail, head):
            if page not in places:
                raise DataError(
                    f"the link {tail!r} -> {head!r} names a page that is not in `pages`"
                )
    ends = np.array([(places[a], places[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    n = len(names)
    table = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    lonely = np.flatnonzero(np.diff(table.indptr) == 0)
    return LinkGraph(names, table, [names[i] for i in lonely])


@former_parameters(personal="personalization", start="nstart")
def pagerank(
    links: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-10,
    nstart: Any = None,
    *,
    keep_history: str = "objective",
) -> PageRank:
    """PageRank of a graph, dense or sparse.

    Parameters have the names and the meaning of `networkx.pagerank`, except that `tol` bounds the
    change of all scores together and is smaller by default.

    Parameters
    ----------
    links : array-like, sparse or LinkGraph
        Weights of the links i -> j.
    alpha : float, default=0.85
        Damping: the probability of following a link at each step, at least 0 and less than 1.
        Otherwise the reader jumps to a page drawn from `personalization`.
    personalization : array-like, default=None
        Where readers jump to, in proportion; any page alike by default.
    max_iter : int, default=1000
    tol : float, default=1e-10
        Stop when the sum of absolute changes is below.
    nstart : array-like, default=None
        First scores, such as those of an earlier version of the graph.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the scores after every step too, for a replay.

    Returns
    -------
    result : PageRank

    Examples
    --------
    >>> result = pagerank([[0, 1, 1], [0, 0, 1], [1, 0, 0]])
    >>> result.scores.round(3)
    array([0.388, 0.215, 0.397])
    """
    rows = sp.csr_array(links.links if isinstance(links, LinkGraph) else links, dtype=np.float64)
    n = rows.shape[0]
    if rows.shape != (n, n) or n == 0:
        raise DataError(f"links have shape {rows.shape}; one row and one column for each page")
    if not 0 <= alpha < 1:
        raise DataError(f"alpha is {alpha}; it must be at least 0 and less than 1")
    if keep_history not in ("objective", "full"):
        raise DataError(f"keep_history is 'objective' or 'full', not {keep_history!r}")
    if len(rows.data) and (rows.data.min() < 0 or not np.isfinite(rows.data).all()):
        raise DataError("weights of links must be finite and not negative")
    out = np.asarray(rows.sum(axis=1)).ravel()
    dangling = out == 0
    share = np.divide(alpha, out, out=np.zeros(n), where=~dangling)
    jump = _distribution(personalization, n, "personalization")
    now = jump if nstart is None else _distribution(nstart, n, "nstart")
    into = sp.csr_array(rows.T)
    change = np.inf
    history = History()
    while len(history) < max_iter and not change <= tol:
        after = into @ (share * now)
        # the rest are readers at dangling pages and readers who jump
        after += (1 - after.sum()) * jump
        change = np.abs(after - now).sum()
        now = after
        history.objective.append(float(change))
        if keep_history == "full":
            history.states.append({"scores": now})
    converged = bool(change <= tol)
    history.stopped = "converged" if converged else "max_iter"
    return PageRank(now, len(history), float(change), converged, int(dangling.sum()), history)


def search_pages(
    query: str, texts: Sequence[str], scores: np.ndarray, pages: Sequence[Hashable] | None = None
) -> list:
    """Pages that hold all words of a query, best PageRank first.

    Parameters
    ----------
    query : str
    texts : sequence of str
        What stands on each page.
    scores : ndarray
        Their scores, as of `pagerank`.
    pages : sequence, default=None
        Their names; numbers by default.

    Returns
    -------
    found : list

    Examples
    --------
    >>> search_pages("red fish", ["one fish", "red fish two", "a fish in red"], [0.5, 0.2, 0.3])
    [2, 1]
    """
    wanted = set(query.lower().split())
    names = range(len(texts)) if pages is None else pages
    matches = [i for i, text in enumerate(texts) if wanted <= set(text.lower().split())]
    return [names[i] for i in sorted(matches, key=lambda i: (-scores[i], i))]


def _distribution(weights: Any, n: int, what: str) -> np.ndarray:
    if weights is None:
        return np.full(n, 1 / n)
    found = np.array(weights, dtype=float)
    if found.shape != (n,) or (found < 0).any() or not np.isfinite(found.sum()) or not found.any():
        raise DataError(f"{what} must hold {n} weights, not negative and not all zero")
    return found / found.sum()
