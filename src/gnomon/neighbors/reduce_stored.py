"""Fewer stored rows: pruning with a hold-out set, and prototypes in place of rows.

Texts: 003 2.2.4.1 · 004 2.1 and chapter 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.cluster.kmeans import KMeans
from gnomon.contract.estimate import Estimate, mean_interval, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.neighbors.distances import Distance, distance_of
from gnomon.neighbors.index import NeighborIndex

METHODS = ("systematic", "satisficing", "none")


@dataclass(frozen=True)
class PrunedSet(Result):
    """Which stored rows are kept.

    Attributes
    ----------
    kept : ndarray of int
        Numbers of the rows that are kept, rising.
    n_stored : int
        How many there were.
    removed : ndarray of int
        Rows that were removed one by one, in their order.
    losses : ndarray of shape (len(removed) + 1,)
        Mean hold-out loss at the start and after each removal.
    homogeneous : ndarray of int
        Rows that the pre-filter dropped before.
    """

    kept: np.ndarray
    n_stored: int
    removed: np.ndarray
    losses: np.ndarray
    homogeneous: np.ndarray

    @property
    def memory_saved(self) -> float:
        """Share of the stored rows that are gone."""
        return 1.0 - len(self.kept) / self.n_stored

    def _title(self) -> str:
        return "Pruned stored set"

    def _columns(self) -> dict[str, list]:
        return {
            "stored": [self.n_stored],
            "dropped as homogeneous": [len(self.homogeneous)],
            "kept": [len(self.kept)],
            "hold-out loss before": [float(self.losses[0])],
            "after": [float(self.losses[: self.n_stored - len(self.kept) + 1].min())],
        }


def prune_stored_set(
    X,
    y,
    X_hold,
    y_hold,
    *,
    method: str = "systematic",
    n_neighbors: int = 1,
    homogeneous: bool = False,
    small: float = 0.1,
    trials: int = 10,
    metric: Any = "standardized",
    random_state: int | None = None,
) -> PrunedSet:
    """Remove stored rows that nearest neighbours can do without, judged by a hold-out set.

    "systematic" removes, again and again, the row whose removal leaves the least hold-out loss,
    down to `n_neighbors` rows, and keeps the smallest set of the least loss met on the way. (The
    text's cost of m n^3 falls to m n k^2: a removal concerns only those hold-out rows that have it
    among their neighbours.) "satisficing" tries rows at random and removes one at once when that
    gives a smaller loss than each of the previous `trials` did; it ends after as many trials in
    vain as rows are left. The loss is the share of errors, or the mean squared error of a target of
    floats.

    ``homogeneous=True`` first drops rows whose `n_neighbors` nearest others all have one class, or
    targets whose deviation is at most `small` of the deviation of all; of each class one row stays.

    The hold-out loss of the set that is chosen is too good an estimate: judge on other rows.
    Texts: 003 2.2.4.1.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
    y : array-like of shape (n,)
        Classes, or numbers where they are floats.
    X_hold : array-like of shape (m, n_columns)
    y_hold : array-like of shape (m,)
    method : {"systematic", "satisficing", "none"}, default="systematic"
        "none" for the pre-filter alone.
    n_neighbors : int, default=1
    homogeneous : bool, default=False
    small : float, default=0.1
    trials : int, default=10
        The u of satisficing.
    metric : str, Distance or callable, default="standardized"
    random_state : int or None, default=None

    Returns
    -------
    pruned : PrunedSet

    Examples
    --------
    >>> rows, classes = [[0], [1], [2], [10], [11], [12]], list("aaabbb")
    >>> pruned = prune_stored_set(rows, classes, [[0.5], [11.5]], ["a", "b"])
    >>> len(pruned.kept), pruned.losses.min()
    (2, np.float64(0.0))
    """
    if method not in METHODS:
        raise DataError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    rows, hold = np.asarray(X, dtype=np.float64), np.asarray(X_hold, dtype=np.float64)
    target, wanted, is_class = _targets(y, y_hold)
    if len(rows) != len(target) or len(hold) != len(wanted):
        raise DataError("rows and targets differ in number")
    if not 1 <= n_neighbors <= len(rows):
        raise DataError(f"n_neighbors={n_neighbors} of {len(rows)} stored rows")
    distance = distance_of(metric).fit(rows)
    dropped = np.empty(0, dtype=np.int64)
    if homogeneous:
        dropped = _homogeneous(distance, rows, target, is_class, n_neighbors, small)
    start = np.setdiff1d(np.arange(len(rows)), dropped)
    state = _HoldOut(distance.pairwise(hold, rows), target, wanted, is_class, n_neighbors, start)
    removed: list[int] = []
    losses = [state.loss]
    rng = np.random.default_rng(random_state)
    steps = {"systematic": _systematic, "satisficing": _satisficing, "none": lambda *_: iter(())}
    for row in steps[method](state, rng, trials):
        removed.append(row)
        losses.append(state.loss)
    least = min(losses)
    last = max(i for i, loss in enumerate(losses) if loss <= least * (1 + 1e-12))
    kept = np.setdiff1d(start, removed[:last])
    return PrunedSet(
        kept,
        len(rows),
        np.array(removed[:last], dtype=np.int64),
        np.array(losses[: last + 1]),
        dropped,
    )


class _HoldOut:
    """Hold-out rows, their stored rows by distance, and the loss of the rows still alive."""

    def __init__(self, distances, target, wanted, is_class: bool, k: int, start: np.ndarray):
        self.target, self.wanted, self.is_class, self.k = target, wanted, is_class, k
        self.alive = np.zeros(distances.shape[1], dtype=bool)
        self.alive[start] = True
        self.order = np.argsort(distances, axis=1, kind="stable")
        self.near = np.array([self._nearest(i) for i in range(len(self.order))], dtype=np.int64)
        self.losses = self._losses(self.near[:, :k], self.wanted)

    @property
    def loss(self) -> float:
        return float(self.losses.mean())

    @property
    def n_alive(self) -> int:
        return int(self.alive.sum())

    def _nearest(self, i: int) -> np.ndarray:
        """The k nearest rows alive, and the next one (the last again where there is none)."""
        found = self.order[i][self.alive[self.order[i]]][: self.k + 1]
        return np.pad(found, (0, self.k + 1 - len(found)), mode="edge")

    def _losses(self, near: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        values = self.target[near]
        if not self.is_class:
            return (values.mean(axis=1) - wanted) ** 2
        n_classes = int(self.target.max()) + 1
        votes = (values[:, :, None] == np.arange(n_classes)).sum(axis=1)
        return (votes.argmax(axis=1) != wanted).astype(np.float64)

    def changes(self) -> np.ndarray:
        """By how much the total loss rises when each row is removed."""
        rise = np.zeros(len(self.alive))
        for j in range(self.k):
            others = np.delete(self.near, j, axis=1)
            np.add.at(rise, self.near[:, j], self._losses(others, self.wanted) - self.losses)
        return rise

    def change(self, row: int) -> float:
        """By how much the total loss rises when one row is removed."""
        concerned = np.flatnonzero((self.near[:, : self.k] == row).any(axis=1))
        if not len(concerned):
            return 0.0
        others = np.array([line[line != row][: self.k] for line in self.near[concerned]])
        losses = self._losses(others, self.wanted[concerned])
        return float((losses - self.losses[concerned]).sum())

    def remove(self, row: int) -> None:
        self.alive[row] = False
        concerned = np.flatnonzero((self.near == row).any(axis=1))
        for i in concerned.tolist():
            self.near[i] = self._nearest(i)
        self.losses[concerned] = self._losses(
            self.near[concerned, : self.k], self.wanted[concerned]
        )


def _systematic(state: _HoldOut, rng, trials: int):
    while state.n_alive > state.k:
        alive = np.flatnonzero(state.alive)
        rise = state.changes()[alive]
        row = int(alive[np.flatnonzero(rise <= rise.min() + 1e-12 * (1 + abs(rise.min())))[0]])
        state.remove(row)
        yield row


def _satisficing(state: _HoldOut, rng, trials: int):
    if trials < 1:
        raise DataError(f"trials={trials}: at least one earlier trial is needed to compare with")
    recent: list[float] = []
    in_vain = 0
    while state.n_alive > state.k and in_vain < state.n_alive + trials:
        row = int(rng.choice(np.flatnonzero(state.alive)))
        rise = state.change(row)
        if len(recent) == trials and rise < min(recent):
            state.remove(row)
            recent, in_vain = [], 0
            yield row
            continue
        recent = [*recent, rise][-trials:]
        in_vain += 1


def _homogeneous(distance: Distance, rows, target, is_class: bool, k: int, small: float):
    """Rows whose neighbours all say the same; of each class one row stays."""
    if len(rows) <= k:
        return np.empty(0, dtype=np.int64)
    near = NeighborIndex(distance, rows).others(k).indices
    values = target[near]
    if is_class:
        same = (values == values[:, :1]).all(axis=1)
        kept_one = {int(target[i]) for i in np.flatnonzero(~same)}
        for i in np.flatnonzero(same):
            if int(target[i]) not in kept_one:
                kept_one.add(int(target[i]))
                same[i] = False
    else:
        same = values.std(axis=1) <= small * target.std()
        if same.all():
            same[0] = False
    dropped = np.flatnonzero(same)
    return dropped[: max(len(rows) - k, 0)]


def _targets(y, y_hold) -> tuple[np.ndarray, np.ndarray, bool]:
    y, y_hold = np.asarray(y), np.asarray(y_hold)
    if y.dtype.kind == "f":
        return y.astype(np.float64), y_hold.astype(np.float64), False
    classes = np.unique(y)
    codes = np.searchsorted(classes, y)
    known = np.isin(y_hold, classes)
    wanted = np.where(known, np.searchsorted(classes, np.where(known, y_hold, classes[0])), -1)
    return codes, wanted, True


@dataclass(frozen=True)
class Prototypes(Result):
    """Rows that stand for many, and what that costs.

    Attributes
    ----------
    rows : ndarray of shape (n_prototypes, n_columns)
    targets : ndarray of shape (n_prototypes,)
        Their classes, or mean targets.
    weights : ndarray of shape (n_prototypes,)
        Training rows that each stands for.
    n_stored : int
        Rows that there were.
    before, after : Estimate or None
        Accuracy (or mean squared error) of nearest neighbours on the hold-out set, with all rows
        and with prototypes.
    """

    rows: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_stored: int
    before: Estimate | None = None
    after: Estimate | None = None

    @property
    def memory_saved(self) -> float:
        """Share of the stored rows that are not needed any more."""
        return 1.0 - len(self.rows) / self.n_stored

    def _title(self) -> str:
        return f"{len(self.rows):,} prototypes of {self.n_stored:,} rows"

    def _columns(self) -> dict[str, list]:
        return {
            "stored": ["all rows", "prototypes"],
            "rows": [self.n_stored, len(self.rows)],
            "hold-out": [self.before, self.after],
        }


def prototypes(
    X,
    y,
    n_prototypes: int = 10,
    *,
    X_hold=None,
    y_hold=None,
    n_neighbors: int = 1,
    random_state: int | None = None,
) -> Prototypes:
    """Cluster centres in place of the rows that nearest neighbours would store.

    Each class is grouped by k-means into at most `n_prototypes` clusters (so many in all, by rows
    and target together, where the target is of floats); their centres are the new memory. With a
    hold-out set the report says what is lost for the memory that is saved. Texts: 004 2.1 and 12.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
        Numbers, in units in which Euclidean distances make sense.
    y : array-like of shape (n,)
        Classes, or numbers where they are floats.
    n_prototypes : int, default=10
        Per class; in all where y holds floats.
    X_hold, y_hold : array-like, default=None
        Rows to compare nearest neighbours with all rows and with prototypes on.
    n_neighbors : int, default=1
        Neighbors of that comparison.
    random_state : int or None, default=None

    Returns
    -------
    prototypes : Prototypes

    Examples
    --------
    >>> found = prototypes([[0.0], [1.0], [10.0], [12.0]], ["a", "a", "b", "b"], 1)
    >>> found.rows.ravel(), found.targets, found.memory_saved
    (array([ 0.5, 11. ]), array(['a', 'b'], dtype='<U1'), 0.5)
    """
    rows, target = np.asarray(X, dtype=np.float64), np.asarray(y)
    if len(rows) != len(target):
        raise DataError(f"X has {len(rows)} rows and y {len(target)}")
    if n_prototypes < 1:
        raise DataError(f"n_prototypes={n_prototypes}: at least one is needed")
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    if target.dtype.kind == "f":
        spread = max(rows.std(), 1e-300) / max(target.std(), 1e-300)
        both = np.column_stack([rows, target * spread])
        centers, counts = _centers(both, n_prototypes, random_state)
        found.append((centers[:, :-1], centers[:, -1] / spread, counts))
    else:
        for each in np.unique(target):
            centers, counts = _centers(rows[target == each], n_prototypes, random_state)
            found.append((centers, np.repeat(np.array([each]), len(centers)), counts))
    new_rows, new_targets, counts = (np.concatenate(part) for part in zip(*found))
    before = after = None
    if X_hold is not None and y_hold is not None:
        hold, wanted = np.asarray(X_hold, dtype=np.float64), np.asarray(y_hold)
        before = _score(rows, target, None, hold, wanted, n_neighbors)
        after = _score(new_rows, new_targets, counts, hold, wanted, n_neighbors)
    return Prototypes(new_rows, new_targets, counts, len(rows), before, after)


def _centers(rows: np.ndarray, k: int, random_state) -> tuple[np.ndarray, np.ndarray]:
    different = len(np.unique(rows, axis=0))
    model = KMeans(min(k, different), n_init=1, random_state=random_state).fit(rows)
    return model.cluster_centers_, np.bincount(model.labels_, minlength=len(model.cluster_centers_))


def _score(rows, targets, counts, hold, wanted, k: int) -> Estimate:
    from gnomon.neighbors.classify import KNeighborsClassifier
    from gnomon.neighbors.regress import KNeighborsRegressor

    k = min(k, len(rows))
    if targets.dtype.kind == "f":
        model = KNeighborsRegressor(k, metric="euclidean").fit(rows, targets)
        return mean_interval((model.predict(hold) - wanted) ** 2)
    right = KNeighborsClassifier(k, metric="euclidean").fit(rows, targets).predict(hold) == wanted
    return share_interval(int(right.sum()), len(right))
