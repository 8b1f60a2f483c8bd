"""Recursive elimination: fit, drop the features of least weight, fit again, until few are left.

Texts: 004 7.1 (usual with a linear support vector machine), 7 introduction (weights after
normalisation).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gnomon.engine.parameters import JOBS, SEED, HasMethods, share, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.select.criteria import LearnerFolds, LeastSquaresFolds
from gnomon.select.models import importances, require_kind
from gnomon.select.problem import Fold, Problem
from gnomon.select.scores import ridge_weights
from gnomon.select.selector import COUNT, TASK, Selector


@method(
    task="filter",
    texts="004 7.1",
    use="Many columns and a learner with weights or importances: far fewer fits than a search.",
    avoid="Learners whose weights say little (many correlated columns share one weight).",
    peers=("sklearn.feature_selection.RFE", "sklearn.feature_selection.RFECV"),
)
class RecursiveElimination(Selector):
    """Drop the features with the least weight, refit, and so on.

    Use it with a learner that has weights or importances and columns too many for a wrapper: there
    are about log(d) / step fits. Not where columns go together in groups: they share a weight and
    fall one by one. Columns are standardised, so that weights can be compared; the columns of a
    category count as one group. How many to keep is chosen by cross-validation where not given:
    each fold eliminates on its own training rows.

    Texts: 004 7.1 (with a linear SVM); 003 2.7.1 (ranking by logistic weights).

    Parameters
    ----------
    estimator : estimator or None, default=None
        A learner with ``coef_`` or importances; None for ridge regression from sums.
    n_features_to_select : int, float or None, default=None
        How many features to keep, or which share; None to choose by cross-validation.
    step : int or float, default=0.2
        Features dropped at each fit: a number, or a share of those left (one at least).
    n_folds : int, default=5
        Folds of the choice; equal rows stay together.
    task : {"auto", "classify", "regress"}, default="auto"
        What the target is; "auto" takes text and whole numbers of at most 20 values as classes.
    n_jobs : int or None, default=None
        Threads; folds side by side.
    random_state : int, RandomState instance or None, default=None
        Seed of folds and learner.

    Attributes
    ----------
    sizes_ : ndarray of int
        Numbers of features that were left after each fit.
    scores_, errors_ : ndarray
        Score on held-out rows of each size and its standard error; NaN with a given number.
    history_ : History
        The best score of each fold; only where the number was chosen.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept.
    ranking_ : ndarray of int of shape (n_features_in_,)
        1 for the last to be eliminated.
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
    >>> from gnomon.select import RecursiveElimination
    >>> X = np.random.default_rng(0).normal(size=(50, 5))
    >>> chosen = RecursiveElimination(n_features_to_select=1).fit(X, 3 * X[:, 4] + X[:, 1])
    >>> chosen.get_support(indices=True).tolist()
    [4]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_features_to_select": [None, *COUNT],
        "step": [whole(1), share("neither")],
        "n_folds": [whole(2)],
        "task": TASK,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "errors_": Array("f8", ("n_features_in_",), finite=False),
        "scores_": Array("f8", ("n_features_in_",), finite=False),
        "sizes_": Array("i8", ("n_features_in_",), low=0),
    }

    def __init__(
        self,
        estimator=None,
        n_features_to_select=None,
        *,
        step=0.2,
        n_folds=5,
        task="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.n_folds = n_folds
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, problem: Problem) -> None:
        rng = self._rng()
        seed = int(rng.integers(2**31))
        if self.estimator is not None:
            require_kind(self.estimator, problem)
        self.sizes_ = np.array(self._left_after_each_fit(problem.n_features))
        self.scores_ = self.errors_ = np.full(len(self.sizes_), np.nan)
        if self.n_features_to_select is None:
            folds = problem.folds(self.n_folds, rng)
            values = self._watched(
                in_order(lambda fold: self._scores_of(problem, fold, seed), folds, self.n_jobs),
                len(folds),
            )
            self.scores_ = values.mean(axis=0)
            self.errors_ = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            best = self.scores_ >= self.scores_.max() - 1e-12
            wanted = int(self.sizes_[best].min())
        else:
            wanted = self._wanted(problem, self.n_features_to_select)
        order = next(in_order(lambda whole: self._order(whole, seed), [problem], 1))
        self._keep_features(problem, order[:wanted], order)

    def _watched(self, found: Iterable[list[float]], n_folds: int) -> np.ndarray:
        """Scores of the folds, told to callbacks as they come; two at least if they ask to stop."""
        scored: list[list[float]] = []
        course = self._course("fold", n_folds)
        for _, each in zip(course, found):
            scored.append(each)
            if course.end_step(max(each)) and len(scored) > 1:
                break
        self.history_ = course.history
        return np.array(scored)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        folds = 8 * n_rows * n_columns * resolve_jobs(self.n_jobs)
        return super()._working_memory(n_rows, n_columns) + folds

    def _most_steps(self) -> int:
        return self.n_folds if self.n_features_to_select is None else 0

    def _left_after_each_fit(self, n_features: int) -> list[int]:
        sizes = [n_features]
        while sizes[-1] > 1:
            drop = self.step if isinstance(self.step, int) else int(self.step * sizes[-1])
            sizes.append(max(sizes[-1] - max(drop, 1), 1))
        return sizes

    def _order(self, problem: Problem, seed: int) -> list[int]:
        """All features, the last to be eliminated first."""
        left = list(range(problem.n_features))
        gone: list[int] = []
        for size in self._left_after_each_fit(problem.n_features)[1:]:
            weights = self._weights(problem, left, seed)
            worst = np.argsort(weights, kind="stable")[: len(left) - size]
            gone += [left[k] for k in worst]
            left = [j for k, j in enumerate(left) if k not in set(worst.tolist())]
        return (gone + left)[::-1]

    def _weights(self, problem: Problem, left: list[int], seed: int) -> np.ndarray:
        columns = problem.columns(left)
        if self.estimator is None:
            found = ridge_weights(problem.unit[:, columns], problem.targets, problem.weights)
        else:
            found = importances(self.estimator, problem, columns, seed)
        whole = np.zeros(problem.unit.shape[1])
        whole[columns] = found
        return problem.by_feature(whole)[left]

    def _scores_of(self, problem: Problem, fold: Fold, seed: int) -> list[float]:
        """Score on a fold of every size, the features eliminated on its training rows."""
        order = self._order(problem.part(fold.learn), seed)
        scores: LeastSquaresFolds | LearnerFolds = (
            LeastSquaresFolds(problem, [fold])
            if self.estimator is None
            else LearnerFolds(problem, [fold], self.estimator, None, seed)
        )
        return [scores.held(tuple(sorted(order[:size])), fold) for size in self.sizes_.tolist()]
