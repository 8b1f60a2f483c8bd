"""Stability selection: which features does a learner choose again and again, on halves of the rows?

On each half of the rows the lasso path is followed until q features have entered (or a learner's q
largest importances are taken). A feature is kept when it is chosen in at least a share pi of the
halves; the expected number of features kept wrongly is then at most q^2 / ((2 pi - 1) d)
(Meinshausen and Buehlmann 2010). Halves come in complementary pairs (Shah and Samworth 2013).

Texts: 004 7.1, 8.3 (selection inside training: the lasso).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import JOBS, SEED, HasMethods, between, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole
from gnomon.engine.threads import in_order
from gnomon.select.models import importances, require_kind
from gnomon.select.problem import Problem
from gnomon.select.selector import TASK, Selector


@method(
    task="filter",
    texts="004 7.1, 8.3",
    use="Few rows and many columns, when chosen columns will be believed in.",
    avoid="Highly correlated columns: none of them is chosen every time.",
    peers=("stability-selection", "sklearn.feature_selection.SelectFromModel"),
)
class StabilitySelector(Selector):
    """Keep the features that the lasso, or another learner, chooses on most halves of the rows.

    Use it when the choice itself matters and must not hang on single rows. Do not use it on copies
    of columns: they take turns and none is stable. With q features chosen on each half and a share
    pi asked for, at most q^2 / ((2 pi - 1) d) features are kept wrongly, on average
    (``expected_errors_``).

    Texts: 004 7.1 and 8.3 (embedded selection by the lasso).

    Parameters
    ----------
    estimator : estimator or None, default=None
        A learner with weights or importances, of which the largest count; None for the lasso path.
    n_features_per_half : int or None, default=None
        The number q; None for the root of 0.8 d, rounded down, one at least.
    threshold : float, default=0.6
        The share pi of halves in which a kept feature was chosen; above one half.
    n_halves : int, default=50
        Halves of the rows, in complementary pairs.
    task : {"auto", "classify", "regress"}, default="auto"
        What the target is; "auto" takes text and whole numbers of at most 20 values as classes.
    n_jobs : int or None, default=None
        Threads; halves side by side.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and the learner.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features_in_,)
        Share of halves in which each column was chosen; NaN where it cannot be used.
    n_halves_ : int
        Halves that were looked at: fewer than asked for where a callback stopped the fit.
    history_ : History
        After each half, how many columns have been chosen in the wanted share so far.
    expected_errors_ : float
        Bound on the number of columns kept wrongly, on average.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept; where none is stable, the most frequent one, with a warning.
    ranking_ : ndarray of int of shape (n_features_in_,)
        1 for the most frequent.
    columns_ : ndarray of int
        The columns of numbers that ``transform`` gives.
    target_kind_ : str
        "classes" or "numbers".
    classes_ : ndarray
        The classes, where the target has such.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.select import StabilitySelector
    >>> X = np.random.default_rng(0).normal(size=(80, 10))
    >>> chosen = StabilitySelector(random_state=0).fit(X, X[:, 3] - X[:, 7])
    >>> chosen.get_support(indices=True).tolist()
    [3, 7]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_features_per_half": [None, whole(1)],
        "threshold": [between(0.5, 1, closed="right")],
        "n_halves": [whole(2)],
        "task": TASK,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "expected_errors_": Number(),
        "frequencies_": Array("f8", ("n_features_in_",), low=0.0),
        "n_halves_": Whole(),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_features_per_half=None,
        threshold=0.6,
        n_halves=50,
        task="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_features_per_half = n_features_per_half
        self.threshold = threshold
        self.n_halves = n_halves
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, problem: Problem) -> None:
        if problem.n_rows < 4:
            raise DataError(
                "four different rows or more are needed to look at halves of them "
                f"(n_samples={problem.n_rows})"
            )
        if self.estimator is not None:
            require_kind(self.estimator, problem)
        d = problem.n_features
        q = min(self.n_features_per_half or max(int(np.sqrt(0.8 * d)), 1), d)
        rng = self._rng()
        seed = int(rng.integers(2**31))
        halves: list[np.ndarray] = []
        while len(halves) < self.n_halves:
            dealt = rng.permutation(problem.n_rows)
            cut = problem.n_rows // 2
            halves += [np.sort(dealt[:cut]), np.sort(dealt[cut : 2 * cut])]
        halves = halves[: self.n_halves]

        def choose(half: np.ndarray) -> np.ndarray:
            return self._chosen_on(problem.part(half), q, seed)

        with warnings.catch_warnings():
            # the path drops copies of columns, as is due
            warnings.simplefilter("ignore", ConvergenceWarning)
            chosen = self._watched(in_order(choose, halves, self.n_jobs))
        shares = chosen.mean(axis=0)
        self.n_halves_ = len(chosen)
        order = np.argsort(-shares, kind="stable")
        kept = np.flatnonzero(shares >= self.threshold)
        if not len(kept):
            warnings.warn(
                f"no feature is chosen in {self.threshold:.0%} of the halves; the most frequent "
                f"one ({shares.max():.0%}) is kept. The choice is not stable",
                GnomonWarning,
                stacklevel=2,
            )
            kept = order[:1]
        self.frequencies_ = self._spread(shares)
        self.expected_errors_ = float(q * q / ((2 * self.threshold - 1) * d))
        self._keep_features(problem, kept.tolist(), order)

    def _watched(self, found: Iterable[np.ndarray]) -> np.ndarray:
        """What the halves chose, told to callbacks as it comes; fewer where these stop the fit."""
        chosen: list[np.ndarray] = []
        course = self._course("half", self.n_halves)
        for _, each in zip(course, found):
            chosen.append(each)
            stable = (np.mean(chosen, axis=0) >= self.threshold).sum()
            if course.end_step(stable):
                break
        self.history_ = course.history
        return np.array(chosen)

    def _most_steps(self) -> int:
        return self.n_halves

    def frequency(self, column: int | str, confidence_level: float = 0.95) -> Estimate:
        """How often a column was chosen, with its interval.

        Parameters
        ----------
        column : int or str
            Position or name.
        confidence_level : float, default=0.95

        Returns
        -------
        share : Estimate
        """
        place = column
        if isinstance(column, str):
            place = list(getattr(self, "feature_names_in_", [])).index(column)
        hits = float(self.frequencies_[place]) * self.n_halves_
        return share_interval(hits, self.n_halves_, confidence_level)

    def _chosen_on(self, half: Problem, q: int, seed: int) -> np.ndarray:
        if self.estimator is not None:
            columns = np.arange(half.unit.shape[1])
            weights = half.by_feature(importances(self.estimator, half, columns, seed))
            best = np.argsort(-weights, kind="stable")[:q]
            chosen = np.zeros(half.n_features, dtype=bool)
            chosen[best[weights[best] > 0]] = True
            return chosen
        return first_on_the_path(half, q)


def first_on_the_path(problem: Problem, q: int) -> np.ndarray:
    """Which features enter the lasso path first, q of them; of several classes the union."""
    unit, share = problem.unit, problem.weights / problem.weights.sum()
    owner = np.empty(unit.shape[1], dtype=np.int64)
    for feature, columns in enumerate(problem.members):
        owner[columns] = feature
    gram = inner(unit, share[:, None] * unit)
    moments = inner(unit, share[:, None] * problem.targets)
    chosen = np.zeros(problem.n_features, dtype=bool)
    targets = moments.T[:1] if problem.n_classes in (0, 2) else moments.T
    for moment in targets:
        if np.abs(moment).max() <= 1e-12:
            continue
        path = lars_path_gram(
            Xy=moment, Gram=gram, n_samples=problem.n_rows, max_iter=4 * q, method="lasso"
        )[2]
        entered: list[int] = []
        for step in path.T:
            for column in np.flatnonzero(step):
                if owner[column] not in entered:
                    entered.append(int(owner[column]))
            if len(entered) >= q:
                break
        chosen[entered[:q]] = True
    return chosen
