"""Feature-subset ensembles: members that see different columns.

Each member gets a random subset of the columns, or one of the groups of columns that belong
together by meaning (say, one sensor each). It works where columns are highly redundant, so that a
member without some of them is nearly as good; a warning says when they are not.

Texts: 004 11.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.utils._param_validation import RealNotInt

from gnomon.contract import Classifier, Regressor
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import FLAG, JOBS, SEED, Interval, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object, Optional
from gnomon.ensemble.bagging import LEARNER
from gnomon.ensemble.base import Training
from gnomon.ensemble.committee import OfOneKind
from gnomon.ensemble.member import Member, fit_member, seeded

LITTLE_REDUNDANCY = 0.5  # judgement: below, columns that are left out have no substitute
ROWS_LOOKED_AT = 10_000  # error of a correlation is 0.01 at most, enough for a warning
SUBSET_CONSTRAINTS = {
    "estimator": LEARNER,
    "n_estimators": [whole(1)],
    "max_features": [whole(1), Interval(RealNotInt, 0, 1, closed="right")],
    "groups": [None, list, tuple, dict],
    "check_redundancy": FLAG,
    "n_jobs": JOBS,
    "random_state": SEED,
}


def redundancy(rows: np.ndarray) -> float:
    """How much of a column the others tell: mean over columns of the squared multiple correlation.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Finite numbers; constant columns are left out.

    Returns
    -------
    redundancy : float
        Between 0 (no column says anything of another) and 1 (each follows from the rest), linearly.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0)
    >>> round(redundancy(np.column_stack([x, -2 * x])), 6)
    1.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    size = np.abs(rows).max(axis=0, initial=0)
    rows = rows[:, size > 1e-150] / size[size > 1e-150]
    n, d = rows.shape
    if d < 2 or n < 3:
        return 0.0
    rows /= np.linalg.norm(rows, axis=0)
    correlation = rows.T @ rows
    # the ridge keeps the inverse finite; 1 - 1/diag(inverse) is then the multiple correlation
    inverse = np.linalg.inv(correlation + 1e-9 * np.eye(d))
    plain = 1.0 - 1.0 / np.diag(inverse)
    shrink = (n - 1) / max(n - d, 1)
    return float(np.clip(1.0 - shrink * (1.0 - plain), 0.0, 1.0).mean())


class FeatureSubsets(OfOneKind):
    """Mixin: members of one kind on all rows, each seeing some columns."""

    _stored = {
        "feature_names_in_": Optional(Array("O", ("n_features_in_",))),
        "members_": ListOf(Object(("Member",)), "n_estimators"),
        "redundancy_": Optional(Number()),
    }

    def _most_steps(self) -> int:
        return self.n_estimators if self.groups is None else max(len(self.groups), 1)

    def _subsets(self, seeds: Sequence[int]) -> list[tuple[str, np.ndarray]]:
        n_columns = self.n_features_in_
        if self.groups is not None:
            return self._named_groups(n_columns)
        size = self.max_features
        if isinstance(size, float):
            size = max(round(size * n_columns), 1)
        size = min(size, n_columns)
        drawn = [np.random.default_rng([seed, 2]).permutation(n_columns)[:size] for seed in seeds]
        return [(f"columns {np.sort(each).tolist()}", np.sort(each)) for each in drawn]

    def _named_groups(self, n_columns: int) -> list[tuple[str, np.ndarray]]:
        groups = self.groups
        pairs = groups.items() if isinstance(groups, dict) else enumerate(groups, start=1)
        found = [(str(name), self._positions(columns, n_columns)) for name, columns in pairs]
        if not found:
            raise ValueError("groups is empty; name the columns of each member")
        return found

    def _positions(self, columns, n_columns: int) -> np.ndarray:
        names = list(getattr(self, "feature_names_in_", []))
        positions = []
        for column in columns:
            if isinstance(column, str):
                if column not in names:
                    raise DataError(
                        f"groups names the column {column!r}, which the table does not have; "
                        f"its columns are: {', '.join(map(repr, names[:20])) or 'without names'}"
                    )
                column = names.index(column)
            if not 0 <= int(column) < n_columns:
                raise DataError(f"groups names column {column}; there are {n_columns}")
            positions.append(int(column))
        if not positions:
            raise ValueError("a group of columns is empty")
        return np.array(positions, dtype=np.int64)

    def _fit_ensemble(self, training: Training) -> None:
        n_members = self._most_steps()
        seeds = self._seeds(n_members)
        subsets = self._subsets(seeds)
        turns = self._in_turns(n_members)
        self._look_at_redundancy(training, subsets)
        jobs = list(zip(turns, subsets, seeds, strict=True))
        part = training.whole()

        def fit(job) -> Member:
            (_, learner), (name, columns), seed = job
            fresh = seeded(learner, seed, True)
            return fit_member(fresh, name, training, part, columns=columns, seed=seed)

        self.members_ = self._fit_each(jobs, fit, len, lambda members: {"members_": members})

    def _look_at_redundancy(self, training: Training, subsets) -> None:
        vars(self).pop("redundancy_", None)
        leaves_out = any(len(columns) < self.n_features_in_ for _, columns in subsets)
        if not self.check_redundancy or not leaves_out:
            return
        rows = training.numbers[training.lots.order[:: -(-training.n_rows // ROWS_LOOKED_AT)]]
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        usable = not np.isnan(rows).any() and np.abs(rows).max(initial=0) < 1e100
        self.redundancy_ = redundancy(rows) if usable else 0.0
        if self.redundancy_ < LITTLE_REDUNDANCY:
            warnings.warn(
                f"the columns are hardly redundant (each is explained by the others to a share of "
                f"{self.redundancy_:.2f}): members that lack some of them may be much worse. Raise "
                "max_features, or use bagging",
                GnomonWarning,
                stacklevel=7,
            )


@method(
    task="classify",
    texts="004 11.3",
    use="Many highly redundant columns, or groups of columns that each suffice (one per sensor).",
    avoid="Few columns that all matter: every member lacks something.",
    peers=("sklearn.ensemble.BaggingClassifier",),
)
class FeatureSubsetClassifier(FeatureSubsets, Classifier):
    """Members that see different columns: mean probability or vote.

    Use it with many highly redundant columns, or with groups of columns that each suffice; not
    where few columns all matter (a warning tells how redundant they are). The answer is the mean of
    p_m(k | x_S_m) over the subsets S_m. Texts: 004 11.3.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full decision tree.
    n_estimators : int, default=10
        Number of members, where columns are drawn at random.
    max_features : int or float, default=0.5
        Columns that each member sees: a number or a share.
    groups : list of lists or dict of lists, default=None
        The columns of each member, by name or position; None to draw them at random.
    voting : {"soft", "hard", "geometric"}, default="soft"
        Mean of probabilities, share of votes, or geometric mean of probabilities.
    check_redundancy : bool, default=True
        Measure how redundant the columns are (on at most 10,000 rows), and warn where they are not.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the draws of columns and of the members.

    Attributes
    ----------
    members_ : list of Member
        The fitted members with their columns; ``estimators_`` lists their learners.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    redundancy_ : float
        Mean share of a column that the others tell; only with ``check_redundancy=True`` and where
        members leave columns out.
    history_ : History
        The number of members so far.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import FeatureSubsetClassifier
    >>> rows = [[1.0, 1.1], [2.0, 2.1], [8.0, 8.1], [9.0, 9.2]]
    >>> model = FeatureSubsetClassifier(groups=[[0], [1]]).fit(rows, ["a", "a", "b", "b"])
    >>> model.predict([[0.0, 0.0], [10.0, 10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        **SUBSET_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard", "geometric"})],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_features=0.5,
        groups=None,
        voting="soft",
        check_redundancy=True,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.groups = groups
        self.voting = voting
        self.check_redundancy = check_redundancy
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="004 11.3",
    use="Many highly redundant columns, or groups of columns that each suffice (one per sensor).",
    avoid="Few columns that all matter: every member lacks something.",
    peers=("sklearn.ensemble.BaggingRegressor",),
)
class FeatureSubsetRegressor(FeatureSubsets, Regressor):
    """Members that see different columns: the mean of their estimates.

    Use it with many highly redundant columns, or with groups of columns that each suffice; not
    where few columns all matter (a warning tells how redundant they are). The answer is the mean of
    g_m(x_S_m) over the subsets S_m. Texts: 004 11.3.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree.
    n_estimators : int, default=10
        Number of members, where columns are drawn at random.
    max_features : int or float, default=0.5
        Columns that each member sees: a number or a share.
    groups : list of lists or dict of lists, default=None
        The columns of each member, by name or position; None to draw them at random.
    check_redundancy : bool, default=True
        Measure how redundant the columns are (on at most 10,000 rows), and warn where they are not.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the draws of columns and of the members.

    Attributes
    ----------
    members_ : list of Member
        The fitted members with their columns; ``estimators_`` lists their learners.
    redundancy_ : float
        Mean share of a column that the others tell; only with ``check_redundancy=True`` and where
        members leave columns out.
    history_ : History
        The number of members so far.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import FeatureSubsetRegressor
    >>> rows = [[1.0, 1.1], [2.0, 2.1], [8.0, 8.1], [9.0, 9.2]]
    >>> model = FeatureSubsetRegressor(groups=[[0], [1]]).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[0.0, 0.0], [10.0, 10.0]]).tolist()
    [1.0, 5.0]
    """

    _parameter_constraints = SUBSET_CONSTRAINTS

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_features=0.5,
        groups=None,
        check_redundancy=True,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.groups = groups
        self.check_redundancy = check_redundancy
        self.n_jobs = n_jobs
        self.random_state = random_state
