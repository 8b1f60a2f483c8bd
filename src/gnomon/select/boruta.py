"""Boruta: a feature counts when it beats shuffled copies of all features, again and again.

In each round every column gets a shadow, its cells shuffled; a forest is grown on both, and a
feature has a hit when its importance exceeds the greatest of the shadows. Features with more hits
than fair coins would give (binomial test, corrected for the number of features and rounds) are
confirmed, those with fewer are rejected (Kursa and Rudnicki 2010). It finds all features that
matter, also those that matter only together and those that repeat each other.

Texts: 004 6.2, 7.1 (importance in forests; embedded selection).
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import scipy

from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, HasMethods, share, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Text
from gnomon.select.models import fitted, read_importances, require_kind
from gnomon.select.problem import Problem
from gnomon.select.selector import TASK, Selector
from gnomon.trees.random_forest import RandomForestClassifier, RandomForestRegressor

DEPTH = 8  # judgement: Boruta compares importances, for which shallow trees are enough


@method(
    task="filter",
    texts="004 6.2, 7.1",
    use="All features that matter, also in combinations, when forests suit the table.",
    avoid="A smallest sufficient set is wanted: copies of a feature are all kept.",
    peers=("Boruta (R)", "BorutaPy"),
)
class Boruta(Selector):
    """Keep the features whose importance in forests beats that of shuffled copies.

    Use it to find every feature that tells something, alone or with others. Do not use it for a
    smallest set: features that repeat each other are all kept. A feature's hits in n rounds are
    Binomial(n, 1/2) if it is no better than the best shadow.

    Texts: 004 6.2 (importance in forests), 7.1 (embedded selection).

    Parameters
    ----------
    estimator : estimator or None, default=None
        A learner with importances; None for a random forest of depth 8, which tries a third of
        the columns (the root of their number, for classes) at each split.
    n_estimators : int, default=100
        Trees of the forest, where no estimator is given.
    max_iter : int, default=20
        Rounds at most; it stops when every feature is decided.
    alpha : float, default=0.05
        Level of the tests, corrected for the number of features.
    keep_tentative : bool, default=False
        Keep features that are still undecided after the last round too.
    task : {"auto", "classify", "regress"}, default="auto"
        What the target is; "auto" takes text and whole numbers of at most 20 values as classes.
    n_jobs : int or None, default=None
        Threads of the forest.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles and the forests.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the hits after every round in ``history_.states``.

    Attributes
    ----------
    hits_ : ndarray of shape (n_features_in_,)
        Rounds in which each column beat all shadows; NaN where it cannot be used.
    decisions_ : list of str
        "confirmed", "rejected", "tentative" or "not used", per column.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept; where none is confirmed, the one with most hits, with a warning.
    ranking_ : ndarray of int of shape (n_features_in_,)
        1 for the most hits.
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
    n_iter_ : int
        Rounds that were made.
    history_ : History
        Number of undecided features after each round.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.select import Boruta
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> chosen = Boruta(n_estimators=30, random_state=0).fit(X, X[:, 1] * X[:, 2] > 0)
    >>> chosen.get_support(indices=True).tolist()
    [1, 2]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_estimators": [whole(1)],
        "max_iter": [whole(1)],
        "alpha": [share("neither")],
        "keep_tentative": FLAG,
        "task": TASK,
        "n_jobs": JOBS,
        "random_state": SEED,
        "keep_history": HISTORY,
    }
    _stored = {
        "decisions_": ListOf(Text(), "n_features_in_"),
        "hits_": Array("f8", ("n_features_in_",)),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=100,
        max_iter=20,
        alpha=0.05,
        keep_tentative=False,
        task="auto",
        n_jobs=None,
        random_state=None,
        keep_history="objective",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_iter = max_iter
        self.alpha = alpha
        self.keep_tentative = keep_tentative
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_history = keep_history

    def _most_steps(self) -> int:
        return self.max_iter

    def _select(self, problem: Problem) -> None:
        learner = self._learner(problem)
        require_kind(learner, problem)
        rng = self._rng()
        hits = np.zeros(problem.n_features)
        totals = np.zeros(problem.n_features)
        course = self._course("round", self.max_iter)
        for n_done, _ in enumerate(course, 1):
            found, shadows = self._round(problem, learner, rng)
            hits += found > shadows.max()
            totals += found
            undecided = self._decide(problem, hits, totals, n_done)
            converged = not undecided
            if course.end_step(
                undecided,
                converged=converged,
                state=partial(dict, hits=hits.copy()),
                attributes=self._public,
            ):
                break
        self.history_, self.n_iter_ = course.history, len(course.history)
        if "confirmed" not in self.decisions_:
            warnings.warn(
                "no feature is confirmed to beat shuffled ones; the one with most hits is kept "
                "where nothing else is",
                GnomonWarning,
                stacklevel=2,
            )

    def _learner(self, problem: Problem):
        if self.estimator is not None:
            return self.estimator
        settings = {"max_depth": DEPTH, "n_jobs": self.n_jobs}
        if problem.n_classes:
            return RandomForestClassifier(self.n_estimators, **settings)
        return RandomForestRegressor(self.n_estimators, max_features=1 / 3, **settings)

    def _round(self, problem: Problem, learner, rng) -> tuple[np.ndarray, np.ndarray]:
        """Importances of the features and of their shadows."""
        unit = problem.unit
        shadows = np.empty_like(unit)
        for columns in problem.members:
            shadows[:, columns] = unit[np.ix_(rng.permutation(problem.n_rows), columns)]
        model = fitted(learner, np.hstack([unit, shadows]), problem, int(rng.integers(2**31)))
        found = read_importances(model, 2 * unit.shape[1])
        own, shadow = found[: unit.shape[1]], found[unit.shape[1] :]
        return problem.by_feature(own), problem.by_feature(shadow)

    def _decide(self, problem: Problem, hits, totals, n_rounds: int) -> int:
        """Sort features into confirmed, rejected and tentative; how many are tentative."""
        d = problem.n_features
        confirmed = scipy.stats.binom.sf(hits - 1, n_rounds, 0.5) * d <= self.alpha
        rejected = scipy.stats.binom.cdf(hits, n_rounds, 0.5) * d <= self.alpha
        order = np.lexsort([-totals, -hits])
        kept = confirmed | (~rejected if self.keep_tentative else False)
        if not kept.any():
            kept = np.arange(d) == order[0]
        self.hits_ = self._spread(hits)
        words = np.where(confirmed, "confirmed", np.where(rejected, "rejected", "tentative"))
        self.decisions_ = ["not used"] * self.n_features_in_
        for place, word in zip(self._places, words, strict=True):
            self.decisions_[place] = str(word)
        self._keep_features(problem, np.flatnonzero(kept).tolist(), order)
        return int((~confirmed & ~rejected).sum())

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        forest = RandomForestRegressor(
            self.n_estimators, max_features=1 / 3, max_depth=DEPTH, n_jobs=self.n_jobs
        )
        grown = forest.forecast(n_rows, 2 * n_columns)
        return int(super()._working_memory(n_rows, 2 * n_columns) // 2 + grown)
