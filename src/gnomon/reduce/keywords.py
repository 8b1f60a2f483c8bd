"""Keywords of a map's blocks: what the words of documents say about where they lie.

Texts: 000a 6.3.3 (Figure 6.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass(repr=False)
class BlockKeywords(Result):
    """A map in blocks, each with the columns that go with lying there.

    Attributes
    ----------
    cuts : tuple of two ndarray
        Where the first and the second axis are cut.
    block : ndarray of shape (n, 2)
        Column and row of each item's block, from the lower left.
    keywords : dict of (int, int) to list of (str, float)
        Of each block: columns and their correlations with lying in it, the strongest first; only
        positive ones.
    counts : ndarray of shape (n_blocks, n_blocks)
        Items per block, by column and row.
    """

    cuts: tuple[np.ndarray, np.ndarray]
    block: np.ndarray
    keywords: dict[tuple[int, int], list[tuple[str, float]]]
    counts: np.ndarray

    def _title(self) -> str:
        return f"Keywords of {len(self.counts)} x {len(self.counts)} blocks of a map"

    def _columns(self) -> dict[str, list]:
        places = list(self.keywords)
        return {
            "block": [f"{a + 1}, {b + 1}" for a, b in places],
            "items": [int(self.counts[each]) for each in places],
            "keywords": [", ".join(word for word, _ in self.keywords[each]) for each in places],
        }


def block_keywords(
    places: Any, X: Any, names: Sequence[str], *, n_blocks: int = 3, n_words: int = 10
) -> BlockKeywords:
    """Cut a map into blocks of about equally many items per axis, and name what goes with each.

    For every block the columns that correlate most with lying in it: the words of documents, or
    any other columns that are counts or numbers. Correlations are of the map's own items, so that
    they describe and prove nothing.

    Parameters
    ----------
    places : array-like of shape (n, 2), or an object with ``places`` or ``embedding_``
    X : array-like or sparse matrix of shape (n, d)
        Counts of words, or other numbers, of the same items.
    names : sequence of d str
        The words.
    n_blocks : int, default=3
        Blocks along each axis, cut at quantiles.
    n_words : int, default=10
        Words per block, at most.

    Returns
    -------
    keywords : BlockKeywords

    Examples
    --------
    >>> places = [[0.0, 0.0], [0.1, 1.0], [1.0, 0.1], [1.1, 1.1]]
    >>> counts = [[3, 0], [3, 1], [0, 1], [0, 2]]
    >>> found = block_keywords(places, counts, ["cat", "dog"], n_blocks=2)
    >>> [word for word, _ in found.keywords[0, 0]]
    ['cat']
    """
    for name in ("places", "embedding_"):
        places = getattr(places, name, places)
    at = check_array(places, dtype=np.float64)
    table = check_array(X, dtype=np.float64, accept_sparse="csr")
    if at.shape[1] != 2:
        raise DataError(f"blocks are cut on a map of two coordinates, not {at.shape[1]}")
    if len(at) != table.shape[0] or len(names) != table.shape[1]:
        raise DataError(
            f"{len(at)} places and {len(names)} names do not fit a table of shape {table.shape}"
        )
    if not 1 <= n_blocks <= len(at):
        raise DataError(f"n_blocks={n_blocks} must lie between 1 and {len(at)}, the items")
    inner = np.arange(1, n_blocks) / n_blocks
    cuts = np.quantile(at[:, 0], inner), np.quantile(at[:, 1], inner)
    block = np.column_stack([np.searchsorted(cuts[c], at[:, c], side="left") for c in (0, 1)])
    number = block[:, 0] * n_blocks + block[:, 1]
    counts = np.bincount(number, minlength=n_blocks**2)
    strengths = _correlations(table, number, counts)
    keywords = {
        (a, b): _strongest(strengths[a * n_blocks + b], names, n_words)
        for a in range(n_blocks)
        for b in range(n_blocks)
    }
    return BlockKeywords(cuts, block, keywords, counts.reshape(n_blocks, n_blocks))


def _correlations(table, number: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Correlation of each column with lying in each block; 0 where either does not vary."""
    n = len(number)
    inside = sp.csr_array((np.ones(n), (number, np.arange(n))), (len(counts), n))
    sums = inside @ table
    sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums)
    mean = sums.sum(axis=0) / n
    squares = (
        np.asarray(table.multiply(table).sum(axis=0)).ravel()
        if sp.issparse(table)
        else (table**2).sum(axis=0)
    )
    spread = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
    share = counts / n
    size = np.outer(np.sqrt(share * (1 - share)), spread)
    together = sums / n - np.outer(share, mean)
    real = size > 1e-12 * max(float(np.abs(sums).max(initial=0.0)), 1e-300)
    return np.divide(together, size, out=np.zeros_like(together), where=real)


def _strongest(row: np.ndarray, names: Sequence[str], most: int) -> list[tuple[str, float]]:
    order = np.argsort(-row, kind="stable")[:most]
    return [(str(names[j]), float(row[j])) for j in order if row[j] > 0]
