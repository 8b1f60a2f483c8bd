"""Filter selection: rank features by a score of each, keep the best; MIFS and mRMR less redundancy.

Texts: 004 7.1 (filters), 7.2-7.5 (scores), 7.5 (MIFS), 15.4.1 (Fisher) · 002 "Feature
selection with AdaBoost" · 003 2.7.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, HasMethods, StrOptions, at_least
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Text, Whole
from gnomon.select.models import importances
from gnomon.select.problem import Problem
from gnomon.select.scores import SCORES, Scored, counts_of, information_of
from gnomon.select.selector import COUNT, TASK, Selector

ALONE = "each column is judged alone: columns that tell only together (XOR) rank low"


@method(
    task="filter",
    texts="004 7.1-7.5, 15.4.1 · 002 feature selection with AdaBoost · 003 2.7.1",
    use="Many columns, a quick first choice that does not depend on a learner.",
    avoid="Where columns tell only together (XOR): use WrapperSelector or Boruta.",
    peers=("sklearn.feature_selection.SelectKBest",),
)
class FilterSelector(Selector):
    """Keep the features with the best scores, each judged by itself.

    Use it first when there are many columns: it is fast and does not depend on a learner. Do not
    expect it to see combinations: of XOR it sees nothing. With ``redundancy`` it adds features
    one by one, maximising I(f; y) - beta sum_{s chosen} I(f; s) (MIFS) or with the mean over the
    chosen instead of beta times the sum (mRMR), so that copies are not chosen twice.

    Texts: 004 7.1-7.5 and 15.4.1, 002 "Feature selection with AdaBoost", 003 2.7.1; MIFS is
    Battiti's, which 004 cites without its formula. 004 eq. 7.5 has a minus sign too many.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many features to keep, or which share.
    score_func : str, callable or estimator, default="association"
        "association" (strength between 0 and 1 by kinds of columns), "correlation",
        "correlation_ratio", "chi2", "mutual_information", "fisher_index", "fisher_vector",
        "linear_weights" or "boosted_stumps"; a function of two columns; or a learner, which is
        fitted on standardised columns and asked for its weights or importances (those out of bag
        of a forest that has them).
    rank_by : {"score", "p"}, default="score"
        The score itself, or the p-value of its test where there is one: fairer between columns of
        many and of few levels.
    redundancy : {"mifs", "mrmr"} or None, default=None
        Count what a feature shares with those already chosen against it; the score is then mutual
        information.
    beta : float, default=0.7
        Weight of the redundancy in MIFS; 0.5 to 1 is usual.
    task : {"auto", "classify", "regress"}, default="auto"
        What the target is; "auto" takes text and whole numbers of at most 20 values as classes.
    random_state : int, RandomState instance or None, default=None
        Seed of the learner that gives the scores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column of the table; NaN where it cannot be used (identifiers).
    p_values_ : ndarray of shape (n_features_in_,)
        p of no relation; NaN where the score has no test.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept.
    ranking_ : ndarray of int of shape (n_features_in_,)
        1 for the best column, then 2, 3 ...
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
    >>> from gnomon.select import FilterSelector
    >>> rows = [[1.0, 5.0], [2.0, 1.0], [8.0, 2.0], [9.0, 4.0]]
    >>> FilterSelector(1).fit(rows, ["a", "a", "b", "b"]).get_support().tolist()
    [True, False]
    """

    _parameter_constraints = {
        "n_features_to_select": COUNT,
        "score_func": [StrOptions(set(SCORES)), callable, HasMethods(["fit"])],
        "rank_by": [StrOptions({"score", "p"})],
        "redundancy": [None, StrOptions({"mifs", "mrmr"})],
        "beta": [at_least(0)],
        "task": TASK,
        "random_state": SEED,
    }
    _stored = {
        "p_values_": Array("f8", ("n_features_in_",), finite=False),
        "scores_": Array("f8", ("n_features_in_",)),
    }

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        score_func="association",
        rank_by="score",
        redundancy=None,
        beta=0.7,
        task="auto",
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.score_func = score_func
        self.rank_by = rank_by
        self.redundancy = redundancy
        self.beta = beta
        self.task = task
        self.random_state = random_state

    def _select(self, problem: Problem) -> None:
        wanted = self._wanted(problem, self.n_features_to_select)
        if self.redundancy is not None:
            scores = SCORES["mutual_information"](problem).scores
            order = self._one_by_one(problem, scores, wanted)
            p_values = np.full(problem.n_features, np.nan)
        else:
            scores, p_values = scored(problem, self.score_func, self._rng())
            order = self._order(scores, p_values)
        self.scores_ = self._spread(scores)
        self.p_values_ = self._spread(p_values)
        self._keep_features(problem, order[:wanted], order)

    def _order(self, scores: np.ndarray, p_values: np.ndarray) -> np.ndarray:
        if self.rank_by == "score":
            return np.argsort(-scores, kind="stable")
        if np.isnan(p_values).any():
            raise DataError(
                f"rank_by='p' needs a score with a test, and score_func={self.score_func!r} has "
                "none; take 'association', 'correlation', 'correlation_ratio' or 'chi2'"
            )
        return np.lexsort([-scores, p_values])

    def _one_by_one(self, problem: Problem, relevance: np.ndarray, wanted: int) -> np.ndarray:
        """Greedy order: relevance less redundancy with what is chosen; the rest by relevance."""
        shared = np.zeros(problem.n_features)
        left = np.ones(problem.n_features, dtype=bool)
        order: list[int] = []
        while len(order) < wanted:
            factor = self.beta if self.redundancy == "mifs" else 1 / max(len(order), 1)
            value = np.where(left, relevance - factor * shared, -np.inf)
            chosen = int(np.argmax(value))
            order.append(chosen)
            left[chosen] = False
            for other in np.flatnonzero(left):
                counts = counts_of(
                    problem.codes[:, other], problem.codes[:, chosen], problem.weights
                )
                shared[other] += information_of(counts)
        rest = [j for j in np.argsort(-relevance, kind="stable") if left[j]]
        return np.array(order + rest)


def scored(problem: Problem, score: Any, rng: np.random.Generator) -> Scored:
    """Scores of all features by name, by a function of two columns, or by a learner."""
    if isinstance(score, str):
        return SCORES[score](problem)
    unknown = np.full(problem.n_features, np.nan)
    if hasattr(score, "fit"):
        found = importances(
            score, problem, np.arange(problem.unit.shape[1]), int(rng.integers(2**31))
        )
        return Scored(problem.by_feature(found), unknown)
    if problem.sample.weights.max() != problem.sample.weights.min():
        raise DataError("score_func= a function of two columns knows no weights; name a score")
    target = problem.target_codes if problem.n_classes else problem.y
    values = np.array([float(score(column, target)) for column in problem.sample.rows.T])
    if not np.isfinite(values).all():
        raise DataError("the function given as score_func= must return a finite number")
    return Scored(problem.greatest(values), unknown)


@storable
@dataclass(repr=False)
class FeatureRanking(Result):
    """Features in order of a score.

    Attributes
    ----------
    names : list of str
        The best first.
    scores, p_values : ndarray
        In the same order.
    score : str
        What they were ranked by.
    n_rows : int
    n_levels : int
        Levels of the target, or of its bins.
    """

    names: list[str]
    scores: np.ndarray
    p_values: np.ndarray
    score: str
    n_rows: int
    n_levels: int
    _stored = {
        "names": ListOf(Text(), "n_columns"),
        "scores": Array("f8", ("n_columns",), finite=False),
        "p_values": Array("f8", ("n_columns",), finite=False),
        "score": Text(),
        "n_rows": Whole(),
        "n_levels": Whole(),
    }

    def _title(self) -> str:
        return f"{len(self.names)} columns by {self.score.replace('_', ' ')}, {self.n_rows:,} rows"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"column": self.names, "score": self.scores.tolist()}
        if np.isfinite(self.p_values).any():
            columns["p"] = self.p_values.tolist()
        return columns

    def _remarks(self) -> list[str]:
        found = [ALONE]
        if self.score == "mutual_information" and self.n_rows < 50 * self.n_levels:
            found.append(
                f"{self.n_rows} rows are few: mutual information is overestimated, by about "
                "(levels - 1)(classes - 1) / (2 rows)"
            )
        return found


def rank_features(
    X: Any,
    y: Any,
    score: str | Callable | Any = "association",
    *,
    sample_weight: Any = None,
    task: str = "auto",
    rank_by: str = "score",
    random_state: int | None = None,
) -> FeatureRanking:
    """The columns of a table in order of how much each tells of the target.

    To look at; for choosing columns inside folds use `FilterSelector`, which this calls.

    Parameters
    ----------
    X : array-like, data frame or Table of shape (n, d)
    y : array-like or str
        The target, or its column's name.
    score : str, callable or estimator, default="association"
        See `FilterSelector`.
    sample_weight : array-like, default=None
    task : {"auto", "classify", "regress"}, default="auto"
    rank_by : {"score", "p"}, default="score"
    random_state : int or None

    Returns
    -------
    ranking : FeatureRanking

    Examples
    --------
    >>> rank_features([[1.0, 5.0], [2.0, 1.0], [8.0, 2.0], [9.0, 4.0]], [0, 0, 1, 1]).names
    ['x0', 'x1']
    """
    chosen = FilterSelector(
        1.0, score_func=score, task=task, rank_by=rank_by, random_state=random_state
    ).fit(X, y, sample_weight=sample_weight)
    names = getattr(chosen, "feature_names_in_", None)
    labels = [f"x{j}" for j in range(chosen.n_features_in_)] if names is None else list(names)
    order = [
        j for j in np.argsort(chosen.ranking_, kind="stable") if np.isfinite(chosen.scores_[j])
    ]
    n_rows = len(X) if hasattr(X, "__len__") else X.shape[0]
    n_levels = len(chosen.classes_) if chosen.target_kind_ == "classes" else 10
    label = score if isinstance(score, str) else getattr(score, "__name__", type(score).__name__)
    return FeatureRanking(
        [str(labels[j]) for j in order],
        chosen.scores_[order],
        chosen.p_values_[order],
        label,
        n_rows,
        n_levels,
    )
