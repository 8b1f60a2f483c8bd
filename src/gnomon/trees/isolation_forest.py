"""Isolation forest: rows that random splits part from the others after few steps are outliers.

    s(x) = 2 ^ (-E[h(x)] / c(m)),    c(m) = 2 (ln(m - 1) + 0.5772) - 2 (m - 1) / m

h(x) is the depth of the leaf of x in a tree grown on m rows by splits at random (a random column, a
random threshold within it), plus c(rows in the leaf); c(m) is the mean depth of a search that fails
in a binary search tree of m rows. Scores near 1 are those of outliers, usual rows have about 0.5.

Texts: 000a 2.5.4 · 001 9.5 (random trees); the method is that of Liu, Ting and Zhou (2008).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import OutlierMixin
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils._param_validation import RealNotInt

from gnomon.contract import Data, Takes
from gnomon.contract.inert import without_effect
from gnomon.contract.learner import Learner
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import FLAG, JOBS, SEED, Interval, StrOptions, whole
from gnomon.engine.quantiles import repeated_quantiles
from gnomon.engine.registry import method
from gnomon.engine.stored import ListOf, Number, Object, Whole
from gnomon.engine.threads import in_order
from gnomon.trees.exact import ExactRows, grow_exact
from gnomon.trees.random_forest import Bootstrap
from gnomon.trees.tree import LEAF, PackedLater, Tree

FEW_ROWS = 256  # of each tree, with max_samples="auto", as in the paper
CELLS_AT_ONCE = 2**22  # of sparse rows that are scored as dense ones, 32 MB
USUAL = -0.5  # the border that the paper draws, for contamination="auto"


@method(
    task="density",
    texts="000a 2.5.4 · 001 9.5",
    use="Outliers of large tables with many columns; a first look at anomalies.",
    avoid="Outliers that are so only beside their neighbors: LocalOutlierFactor.",
    peers=("sklearn.ensemble.IsolationForest",),
    synonyms=("isolation trees", "iforest", "outlier detection", "anomaly detection"),
)
@without_effect("verbose")
class IsolationForest(OutlierMixin, Learner):
    """Outliers by the depth at which random splits isolate them: +1 for usual rows, -1 else.

    s(x) = 2 ^ (-E[h(x)] / c(m)), with h(x) the depth of x in a tree of m rows. Use it for large
    tables of many columns: trees are small, whatever the number of rows. Not for outliers that are
    so only beside their neighbors: `LocalOutlierFactor`.

    Texts: 000a 2.5.4, 001 9.5 (random trees). Trees are scikit-learn's; rows are drawn in an order
    that does not depend on the order of the table, so that scores differ from those of
    scikit-learn's class as those of another ``random_state`` do, and whole weights are repetitions.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : int, float or "auto", default="auto"
        Rows of each tree, or their share; 256 for "auto", or all where there are fewer.
    contamination : float or "auto", default="auto"
        Share of the rows of ``fit`` that are called outliers, at most 0.5; "auto" for scores above
        0.5.
    max_features : int or float, default=1.0
        Columns of each tree, or their share, drawn without replacement.
    bootstrap : bool, default=False
        Whether rows are drawn with replacement. Rows with weights that are no whole numbers always
        are, in proportion to the weights.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows, columns and splits.
    warm_start : bool, default=False
        Whether another ``fit`` keeps the trees and adds those that lack to ``n_estimators``.

    Attributes
    ----------
    trees_ : list of Tree
        The trees; ``value`` of a leaf is its depth plus c(rows in it).
    max_samples_ : int
        Rows of each tree.
    history_ : History
        Mean depth of the rows of the trees so far.
    offset_ : float
        Rows whose ``score_samples`` is less are outliers.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import IsolationForest
    >>> rows = [[-1.1], [0.3], [0.5], [0.2], [0.4], [100.0]]
    >>> IsolationForest(random_state=0).fit(rows).predict([[0.1], [0.0], [90.0]]).tolist()
    [1, 1, -1]
    """

    natively = Takes(missing=True, sparse=True)
    _grows = True
    _transient = ("_packed",)
    _parameter_constraints = {
        "n_estimators": [whole(1)],
        "max_samples": [StrOptions({"auto"}), whole(1), Interval(RealNotInt, 0, 1, closed="right")],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "max_features": [whole(1), Interval(RealNotInt, 0, 1, closed="right")],
        "bootstrap": FLAG,
        "n_jobs": JOBS,
        "random_state": SEED,
        "warm_start": FLAG,
    }
    _stored = {
        "history_": Object(("History",)),
        "max_samples_": Whole(1),
        "offset_": Number(),
        "trees_": ListOf(Object(("Tree",))),
        "_n_columns": Whole(1),
    }

    def __init__(
        self,
        *,
        n_estimators=100,
        max_samples="auto",
        contamination="auto",
        max_features=1.0,
        bootstrap=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _most_steps(self) -> int:
        return self.n_estimators

    def _fit(self, data: Data) -> None:
        before = self._trees_before(data)
        self._n_columns = data.n_columns
        pool = Bootstrap(data)
        self.max_samples_ = self._sample_size(pool.n_tickets)
        seeds = self._rng().integers(2**63, size=self.n_estimators)
        grow = self._growth(data, pool)
        course = self._course("tree", self.n_estimators)
        new = in_order(grow, seeds[len(before) :], self.n_jobs, anywhere=True)
        trees: list[Tree] = []
        total = 0.0
        for step in course:
            trees.append(before[step] if step < len(before) else next(new))
            leaves = trees[-1].left == LEAF
            depths = trees[-1].value[leaves, 0]
            total += float(np.average(depths, weights=trees[-1].n_node_samples[leaves]))
            if course.end_step(total / len(trees)):
                break
        new.close()
        self.history_ = course.history
        self.trees_ = trees
        self._pack()
        self.offset_ = USUAL
        if self.contamination != "auto":
            share = np.array([self.contamination])
            scores = self._scores(data.rows)
            self.offset_ = float(repeated_quantiles(scores, data.weights, share)[0])

    def _trees_before(self, data: Data) -> list[Tree]:
        known = self.trees_ if self.warm_start and "trees_" in vars(self) else []
        if len(known) > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)="
                f"{len(known)} when warm_start==True"
            )
        if known and self._n_columns != data.n_columns:
            raise DataError(
                f"warm_start=True: the trees know {self._n_columns} columns, and there are "
                f"{data.n_columns}"
            )
        return list(known)

    def _sample_size(self, n_rows: int) -> int:
        if self.max_samples == "auto":
            return min(FEW_ROWS, n_rows)
        if not isinstance(self.max_samples, Integral):
            return max(int(self.max_samples * n_rows), 1)
        if self.max_samples > n_rows:
            warnings.warn(
                f"max_samples ({self.max_samples}) is greater than the total number of samples "
                f"({n_rows}). max_samples will be set to n_samples for estimation.",
                GnomonWarning,
                stacklevel=2,
            )
        return min(int(self.max_samples), n_rows)

    def _growth(self, data: Data, pool: Bootstrap) -> Callable[[Any], Tree]:
        """A function that grows the tree of a seed."""
        size, n_columns = self.max_samples_, data.n_columns
        asked = self.max_features
        n_taken = asked if isinstance(asked, Integral) else max(int(asked * n_columns), 1)
        if n_taken > n_columns:
            raise ValueError("max_features must be in (0, n_features]")
        depth = math.ceil(math.log2(max(size, 2)))
        tickets = pool.order if pool.tickets is None else np.repeat(pool.order, pool.tickets)
        by_share = pool.weights is not None and pool.tickets is None

        def drawn(rng: np.random.Generator) -> np.ndarray:
            """Places among the tickets; one that is drawn twice counts once, as in scikit-learn."""
            if by_share:
                line = WeightedDraw(np.arange(len(tickets)))
                return np.unique(line(pool.weights[tickets], rng, size))
            if self.bootstrap:
                return np.unique(rng.integers(len(tickets), size=size))
            return np.sort(rng.permutation(len(tickets))[:size])

        def grow(seed: Any) -> Tree:
            rng = np.random.default_rng(seed)
            rows = data.rows[tickets[drawn(rng)]]
            columns = np.arange(n_columns)
            if n_taken < n_columns:
                columns = np.sort(rng.permutation(n_columns)[:n_taken])
                rows = rows[:, columns]
            learner = ExtraTreeRegressor(
                max_features=1, max_depth=depth, random_state=int(rng.integers(2**31))
            )
            tree = grow_exact(learner, ExactRows.of(rows), rng.random(rows.shape[0]), None)
            inner = tree.left != LEAF
            asked_about = np.where(inner, columns[np.where(inner, tree.feature, 0)], -1)
            lengths = tree.node_depth + mean_depth(tree.n_node_samples)
            return replace(tree, feature=asked_about.astype(np.int32), value=lengths[:, None])

        return grow

    def _pack(self) -> None:
        self._packed = PackedLater(self.trees_)

    def _check_loaded(self) -> None:
        if not hasattr(self, "trees_"):
            return
        inside = all(int(tree.feature.max(initial=-1)) < self._n_columns for tree in self.trees_)
        if not self.trees_ or not inside or {tree.n_outputs for tree in self.trees_} != {1}:
            raise ValueError("the trees do not fit the columns")
        self._pack()

    def _scores(self, rows: Any) -> np.ndarray:
        """Minus the scores of a block of rows, compared in single precision as trees are grown."""
        if sp.issparse(rows):
            step = max(CELLS_AT_ONCE // rows.shape[1], 1)
            starts = range(0, rows.shape[0], step)
            return np.concatenate([self._scores(rows[i : i + step].toarray()) for i in starts])
        with np.errstate(over="ignore"):
            single = np.asarray(rows, np.float32).astype(np.float64)
        depth = self._packed.forest.sum(single)[:, 0]
        most = len(self.trees_) * float(mean_depth(np.array([self.max_samples_]))[0])
        return -(2.0 ** (-depth / most)) if most > 0 else np.full(len(depth), -0.5)

    def score_samples(self, X) -> np.ndarray:
        """Minus the score of each row: less for outliers, about -0.5 for usual rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self._each_block(self._scores, X)

    def decision_function(self, X) -> np.ndarray:
        """``score_samples`` minus ``offset_``: below zero for outliers.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X) -> np.ndarray:
        """1 for usual rows, -1 for outliers.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        inside : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        nodes = 2 * FEW_ROWS if self.max_samples == "auto" else 2 * n_rows
        drawn = min(nodes // 2, n_rows)
        return 8 * (3 * drawn * n_columns + 4 * n_rows) + 100 * nodes * self.n_estimators


def mean_depth(n_rows: np.ndarray) -> np.ndarray:
    """c(m): the mean depth of a search that fails in a binary search tree of m rows.

    Examples
    --------
    >>> mean_depth(np.array([1, 2, 256])).round(3)
    array([ 0.   ,  1.   , 10.245])
    """
    n = np.asarray(n_rows, np.float64)
    large = np.maximum(n, 3.0)
    found = 2.0 * (np.log(large - 1.0) + np.euler_gamma) - 2.0 * (large - 1.0) / large
    return np.where(n <= 1, 0.0, np.where(n == 2, 1.0, found))
