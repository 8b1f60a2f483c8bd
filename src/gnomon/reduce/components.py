"""How many components to keep: by gap, knee, share, cross-validation, or against noise.

Texts: 000a 5.1 (the knee of the eigenvalues) · 002 "PCA" (spectral gap).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gnomon.contract.numbers import number_rows
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.reduce.nipals import factorize

WAYS = ("gap", "knee", "share", "cross-validation", "parallel")


@dataclass(repr=False)
class ComponentChoice(Result):
    """A proposal of how many components to keep, with what it rests on.

    Attributes
    ----------
    n_components : int
    how : str
    variances : ndarray of shape (d,)
        Along components, in falling order (divisor n).
    criterion : ndarray
        What was compared, one figure per number of components (see `how`).
    reference : ndarray or None
        Of "parallel": the quantile of the variances of noise.
    """

    n_components: int
    how: str
    variances: np.ndarray
    criterion: np.ndarray
    reference: np.ndarray | None = None

    def _title(self) -> str:
        return f"Keep {self.n_components} of {len(self.variances)} components (by {self.how})"

    def _columns(self) -> dict[str, list]:
        total = max(float(self.variances.sum()), 1e-300)
        columns = {
            "component": list(range(1, len(self.variances) + 1)),
            "variance": list(self.variances),
            "share so far": list(np.cumsum(self.variances) / total),
        }
        if self.reference is not None:
            columns["of noise"] = list(self.reference)
        return columns


def choose_components(
    X: Any,
    how: str = "gap",
    *,
    share: float = 0.9,
    most: int | None = None,
    n_splits: int = 5,
    n_noise: int = 50,
    quantile: float = 0.95,
    random_state: Any = None,
) -> ComponentChoice:
    """Propose how many principal components to keep; look at the scree plot too.

    Parameters
    ----------
    X : array-like of shape (n, d)
    how : {"gap", "knee", "share", "cross-validation", "parallel"}, default="gap"
        "gap": before the largest ratio of consecutive variances on the scale of logarithms of what
        stands above rounding (the spectral gap). "knee": the point of the scree plot farthest from
        the line between its ends. "share": as few as explain `share` of the variance.
        "cross-validation": cells are left out and predicted from the others (not whole rows: these
        would always favour more); the fewest within a standard error of the least error.
        "parallel": those whose variance exceeds that quantile of the variances of tables with each
        column shuffled by itself.
    share : float, default=0.9
    most : int or None, default=None
        Look at no more than so many components; None for all (10 in cross-validation).
    n_splits : int, default=5
        Folds of cells.
    n_noise : int, default=50
        Shuffled tables.
    quantile : float, default=0.95
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    choice : ComponentChoice

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 8)) + 0.01 * rng.normal(size=(100, 8))
    >>> choose_components(X).n_components
    2
    """
    if how not in WAYS:
        raise DataError(f"how={how!r} is none of {', '.join(WAYS)}")
    rows = number_rows(X)
    centered = rows - rows.mean(axis=0)
    variances = np.linalg.svd(centered, compute_uv=False) ** 2 / len(rows)
    if variances[0] <= 0:
        raise DataError("the rows do not vary: there is no component to keep")
    top = len(variances) if most is None else min(most, len(variances))
    rng = check_random_state(random_state)
    reference = None
    if how == "gap":
        criterion, n = _largest_gap(variances, top)
    elif how == "knee":
        criterion, n = _knee(variances[:top])
    elif how == "share":
        criterion = np.cumsum(variances) / variances.sum()
        n = int(np.searchsorted(criterion, share * (1 - 1e-12))) + 1
    elif how == "cross-validation":
        few = min(10 if most is None else most, len(variances) - 1)
        criterion, n = _by_cells(rows, max(few, 1), n_splits, rng)
    else:
        drawn = [_noise_variances(centered, rng) for _ in range(n_noise)]
        reference = np.quantile(drawn, quantile, axis=0)
        above = variances > reference
        n = int(np.argmin(above)) if not above.all() else len(variances)
        criterion = variances - reference
    return ComponentChoice(n, how, variances, criterion, reference)


def _largest_gap(variances: np.ndarray, top: int) -> tuple[np.ndarray, int]:
    real = variances[: top + 1]
    floor = max(variances[0] * 1e-14, 1e-300)
    ratios = np.log(np.maximum(real[:-1], floor) / np.maximum(real[1:], floor))
    return (ratios, int(np.argmax(ratios)) + 1) if len(ratios) else (np.zeros(1), 1)


def _knee(variances: np.ndarray) -> tuple[np.ndarray, int]:
    if len(variances) < 3:
        return np.zeros(len(variances)), 1
    x = np.linspace(0, 1, len(variances))
    y = (variances - variances[-1]) / max(variances[0] - variances[-1], 1e-300)
    below = 1 - x - y
    return below, max(int(np.argmax(below)), 1)


def _by_cells(rows: np.ndarray, most: int, n_splits: int, rng) -> tuple[np.ndarray, int]:
    fold = rng.permutation(np.arange(rows.size) % n_splits).reshape(rows.shape)
    errors = np.zeros((n_splits, most + 1))
    for k in range(n_splits):
        hidden = fold == k
        kept = np.where(hidden, np.nan, rows)
        if np.isnan(kept).all(axis=0).any():
            raise DataError("too few rows to leave out cells of every column; use fewer n_splits")
        means = np.broadcast_to(np.nanmean(kept, axis=0), rows.shape)
        errors[k, 0] = ((rows - means)[hidden] ** 2).mean()
        for n in range(1, most + 1):
            model = factorize(kept, n, max_iter=200, tol=1e-6)
            guess = model.mean + model.scores @ model.components
            errors[k, n] = ((rows - guess)[hidden] ** 2).mean()
    means = errors.mean(axis=0)
    best = int(np.argmin(means))
    doubt = errors[:, best].std(ddof=1) / np.sqrt(n_splits) if n_splits > 1 else 0.0
    return means, max(int(np.argmax(means <= means[best] + doubt)), 1)


def _noise_variances(centered: np.ndarray, rng) -> np.ndarray:
    shuffled = np.column_stack([rng.permutation(column) for column in centered.T])
    return np.linalg.svd(shuffled, compute_uv=False) ** 2 / len(centered)
