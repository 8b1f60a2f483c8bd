"""What shuffling a column costs: its importance, seen on rows that the trees were not grown on.

Of each tree, the loss on its rows left out is measured with a column as it is and with its cells
shuffled among these rows. The mean rise over trees is the column's importance; in percent of the
intact loss it can be compared between tables. Impurity savings favour columns of many values, since
they are seen on training rows; this measure does not.

Text: 004 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gnomon.contract.result import Result
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Array, ListOf, Number, Text

# Judgement: columns that explain two thirds of each other hide each other's importance.
STRONG = 0.8


@storable
@dataclass(repr=False)
class PermutationImportance(Result):
    """How much worse trees get on their rows left out when a column is shuffled.

    Attributes
    ----------
    names : list of str
        The columns.
    rises : ndarray of shape (n_trees, n_columns, n_repeats)
        Loss with the column shuffled less loss as it is, of each tree.
    intact : float
        Mean loss of the trees on their rows left out.
    measure : str
        The loss.
    correlated : list of tuple
        Pairs of columns (names, rank correlation) that go together by more than 0.8: each may take
        the place of the other, so that both look less important than they are.

    Examples
    --------
    >>> import numpy as np
    >>> found = PermutationImportance(["a", "b"], np.array([[[0.2], [0.0]], [[0.1], [0.0]]]), 0.1,
    ...                               "misclassification", [])
    >>> found.percent.round(6).tolist()
    [150.0, 0.0]
    """

    names: list[str]
    rises: np.ndarray
    intact: float
    measure: str
    correlated: list[tuple[str, str, float]]
    _stored = {
        "correlated": ListOf(Anything()),
        "intact": Number(),
        "measure": Text(),
        "names": ListOf(Text()),
        "rises": Array("f8", (None, None, None)),
    }

    @property
    def importances(self) -> np.ndarray:
        """Mean rise over trees of each column and repeat (n_columns, n_repeats)."""
        return self.rises.mean(axis=0)

    @property
    def mean(self) -> np.ndarray:
        """Mean rise of each column."""
        return self.rises.mean(axis=(0, 2))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over trees; NaN of a single tree.

        Trees share their rows, so that it tells how the forest, not the sample, was drawn.
        """
        n_trees = len(self.rises)
        if n_trees < 2:
            return np.full(self.rises.shape[1], np.nan)
        return self.rises.mean(axis=2).std(axis=0, ddof=1) / np.sqrt(n_trees)

    @property
    def percent(self) -> np.ndarray:
        """Mean rise in percent of the intact loss; infinite where that is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 100 * self.mean / self.intact

    def _title(self) -> str:
        n_trees, _, n_repeats = self.rises.shape
        return (
            f"Rise of the {self.measure} out of bag when a column is shuffled "
            f"({n_trees} trees, {n_repeats} repeats; intact {self.intact:.4g})"
        )

    def _columns(self) -> dict[str, list]:
        order = np.argsort(-self.mean, kind="stable")
        return {
            "column": [self.names[j] for j in order],
            "rise": self.mean[order].tolist(),
            "standard error": self.standard_error[order].tolist(),
            "percent": self.percent[order].tolist(),
        }

    def _remarks(self) -> list[str]:
        return [
            f"{one} and {other} go together (rank correlation {r:.2f}): each hides the other"
            for one, other, r in self.correlated[:10]
        ]


def correlated_columns(
    rows: np.ndarray, names: list[str], least: float = STRONG
) -> list[tuple[str, str, float]]:
    """Pairs of columns whose ranks are correlated by more than `least`, the strongest first.

    Missing cells take the middle rank.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
    names : list of str
    least : float

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(5.0)
    >>> correlated_columns(np.column_stack([x, x**3, [2, 0, 1, 0, 2]]), ["a", "b", "c"])
    [('a', 'b', 1.0)]
    """
    ranks = scipy.stats.rankdata(rows, axis=0, nan_policy="omit")
    ranks = np.nan_to_num(ranks - np.nanmean(ranks, axis=0))
    length = np.sqrt((ranks * ranks).sum(axis=0))
    known = np.flatnonzero(length > 0)
    unit = ranks[:, known] / length[known]
    strength = unit.T @ unit
    pairs = [
        (names[known[i]], names[known[j]], round(float(strength[i, j]), 12))
        for i, j in zip(*np.triu_indices(len(known), 1))
        if abs(strength[i, j]) > least
    ]
    return sorted(pairs, key=lambda pair: -abs(pair[2]))
