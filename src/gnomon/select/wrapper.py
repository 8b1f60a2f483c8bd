"""Wrapper selection: subsets are judged by how well a learner does with them on held-out rows.

Search x learner x score in one frame. The folds of the search lie inside the training rows, so that
a pipeline of a selector and a learner is evaluated honestly; the score of the winning subset itself
is too good, since it was chosen for it (see `selection_bias`).

Texts: 004 7.1 · 003 2.7.1 · 000b 11.1.4.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import JOBS, SEED, HasMethods, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Text, Whole
from gnomon.select.criteria import Criterion, Subset, criterion_of
from gnomon.select.problem import Problem
from gnomon.select.searches import AlongRanking, Visit
from gnomon.select.selector import TASK, Selector

UNKNOWN_STEPS = 100_000  # for the progress of a search that does not know its length


@storable
@dataclass(repr=False)
class SelectionTrace(Result):
    """What a search visited, step by step.

    Attributes
    ----------
    names : list of str
        All features.
    subsets : list of list of int
        The features of each step.
    scores, errors : ndarray
        Score of each step (larger is better) and its standard error over folds.
    changes : list of str
        "start", "add", "remove" ...
    features : list of int
        The feature that came or went; -1 where several did.
    chosen : int
        The step whose subset was kept.
    measure : str
        What the score is.
    """

    names: list[str]
    subsets: list[list[int]]
    scores: np.ndarray
    errors: np.ndarray
    changes: list[str]
    features: list[int]
    chosen: int
    measure: str
    _stored = {
        "changes": ListOf(Text(), "n_changes"),
        "chosen": Whole(),
        "errors": Array("f8", ("n_changes",), finite=False),
        "features": ListOf(Whole(-1), "n_changes"),
        "measure": Text(),
        "names": ListOf(Text()),
        "scores": Array("f8", ("n_changes",)),
        "subsets": ListOf(ListOf(Whole()), "n_changes"),
    }

    @property
    def sizes(self) -> np.ndarray:
        """Number of features at each step."""
        return np.array([len(each) for each in self.subsets])

    @property
    def labels(self) -> list[str]:
        """Each step in a few words."""
        return [
            f"{change} {self.names[feature]}" if feature >= 0 else change
            for change, feature in zip(self.changes, self.features, strict=True)
        ]

    def _title(self) -> str:
        kept = ", ".join(self.names[j] for j in self.subsets[self.chosen])
        return f"{len(self.subsets)} steps; kept after step {self.chosen}: {kept}"

    def _columns(self) -> dict[str, list]:
        return {
            "step": self.labels,
            "features": self.sizes.tolist(),
            self.measure: self.scores.tolist(),
            "standard error": self.errors.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [
            "the score of the chosen subset is too good, since it was chosen for it: evaluate the "
            "selector and the learner together, by cross-validation (selection_bias)"
        ]


@method(
    task="filter",
    texts="004 7.1 · 003 2.7.1, 2.7.1.1 · 000b 11.1.4",
    use="The features that a given learner can make the most of.",
    avoid="Very many columns with a slow learner (filter first), or few rows: it overfits.",
    peers=("sklearn.feature_selection.SequentialFeatureSelector", "mlxtend SFS and EFS"),
)
class WrapperSelector(Selector):
    """Search for the subset of features with which a learner does best on held-out rows.

    Use it when a learner is chosen and tens of columns are to become few. Do not use it on few
    rows and many columns: the more subsets are tried, the better the best looks by chance; nor
    report the score of the chosen subset as an estimate. Maximises over subsets S the mean over
    folds of the score of the learner on S, or minimises AIC or BIC.

    Texts: 004 7.1, 003 2.7.1 (brute force, backward with its ranking and trace, forward, beam,
    evolution), 000b 11.1.4 (forward and backward with AIC, BIC or cross-validation).

    Parameters
    ----------
    estimator : estimator or None, default=None
        The learner; None for least squares (on indicators of classes), computed from sums.
    search : search or None, default=None
        `Forward`, `Backward`, `Floating`, `Beam`, `Exhaustive`, `Evolution` or `AlongRanking`;
        None for ``AlongRanking()``, one evaluation per feature.
    criterion : {"cv", "aic", "bic"}, default="cv"
        Held-out score, or an information criterion of a linear learner.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn's; None for accuracy, or for the share of variance explained.
    rule : {"best", "one_se"}, default="best"
        Keep the best subset visited, or the smallest within one standard error of it.
    n_features_to_select : int or None, default=None
        Keep the best visited subset of this size; None for any size.
    n_folds : int, default=5
        Folds, inside the rows given to ``fit``; equal rows stay together.
    task : {"auto", "classify", "regress"}, default="auto"
        What the target is; "auto" takes text and whole numbers of at most 20 values as classes.
    n_jobs : int or None, default=None
        Threads; subsets side by side.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the search and the learner.

    Attributes
    ----------
    trace_ : SelectionTrace
        What was visited.
    score_ : float
        Score of the chosen subset; too good as an estimate.
    n_evaluations_ : int
        Subsets that were scored.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which columns are kept; where none improves on no feature at all, the best single one.
    ranking_ : ndarray of int of shape (n_features_in_,)
        1 for the best: the last to be removed, or the first to be added and kept.
    columns_ : ndarray of int
        The columns of numbers that ``transform`` gives.
    history_ : History
        Score of each step.
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
    >>> from gnomon.select import Backward, WrapperSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> chosen = WrapperSelector(search=Backward(), random_state=0).fit(X, X[:, 2] - X[:, 0])
    >>> chosen.get_support(indices=True).tolist()
    [0, 2]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "search": [None, HasMethods(["steps"])],
        "criterion": [StrOptions({"cv", "aic", "bic"})],
        "scoring": [None, str, callable],
        "rule": [StrOptions({"best", "one_se"})],
        "n_features_to_select": [None, whole(1)],
        "n_folds": [whole(2)],
        "task": TASK,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "n_evaluations_": Whole(),
        "score_": Number(),
        "trace_": Object(("SelectionTrace",)),
    }

    def __init__(
        self,
        estimator=None,
        search=None,
        *,
        criterion="cv",
        scoring=None,
        rule="best",
        n_features_to_select=None,
        n_folds=5,
        task="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.search = search
        self.criterion = criterion
        self.scoring = scoring
        self.rule = rule
        self.n_features_to_select = n_features_to_select
        self.n_folds = n_folds
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _most_steps(self) -> int:
        return UNKNOWN_STEPS

    def _select(self, problem: Problem) -> None:
        rng = self._rng()
        scores = criterion_of(
            problem, self.estimator, self.criterion, self.scoring, self.n_folds, rng, self.n_jobs
        )
        search = AlongRanking() if self.search is None else self.search
        visits: list[Visit] = []
        steps = search.steps(problem, scores, rng)
        course = self._course("step", UNKNOWN_STEPS)
        for visit, _ in zip(steps, course):
            visits.append(visit)
            self._keep_visits(problem, visits, scores)
            if course.end_step(visit.score.value, attributes=self._public):
                break
        if course.history.stopped == "max_iter":
            course.history.stopped = "done"
        self.history_ = course.history
        if not self.trace_.subsets[self.trace_.chosen]:
            warnings.warn(
                "no feature improves on none; the best single one is kept, for want of better",
                GnomonWarning,
                stacklevel=2,
            )

    def _keep_visits(self, problem: Problem, visits: list[Visit], scores: Criterion) -> None:
        chosen = self._chosen(visits)
        kept = visits[chosen].subset or best_single(scores)
        measure = {"aic": "-AIC", "bic": "-BIC"}.get(self.criterion)
        if measure is None:
            measure = "accuracy" if problem.n_classes else "variance explained"
            measure = measure if self.scoring is None else str(self.scoring)
        self.trace_ = SelectionTrace(
            problem.names,
            [list(map(int, visit.subset)) for visit in visits],
            np.array([visit.score.value for visit in visits]),
            np.array([visit.score.error for visit in visits]),
            [visit.change for visit in visits],
            [int(visit.feature) for visit in visits],
            chosen,
            measure,
        )
        self.score_ = visits[chosen].score.value
        self.n_evaluations_ = len(scores.known)
        self._keep_features(problem, kept, ranked(problem, visits, kept))

    def _chosen(self, visits: list[Visit]) -> int:
        """The step whose subset is kept; among equals the smallest, then the first."""
        able = [k for k, visit in enumerate(visits) if visit.subset] or [0]
        if self.n_features_to_select is not None:
            able = [k for k in able if len(visits[k].subset) == self.n_features_to_select] or able
        best = min(able, key=lambda k: (-visits[k].score.value, len(visits[k].subset), k))
        if self.rule == "best" or not np.isfinite(visits[best].score.error):
            return best
        enough = visits[best].score.value - visits[best].score.error
        near = [k for k in able if visits[k].score.value >= enough]
        return min(near, key=lambda k: (len(visits[k].subset), -visits[k].score.value, k))

    def best_subsets(self, n: int = 5) -> list[list[int]]:
        """The best different subsets that were visited, as positions of columns of the table.

        Give them to ``gnomon.ensemble.FeatureSubsetClassifier(groups=...)``, which combines the
        models made during the selection instead of keeping one.

        Parameters
        ----------
        n : int, default=5

        Returns
        -------
        subsets : list of list of int
        """
        check_is_fitted(self)
        if n < 1:
            raise DataError(f"n={n} must be at least 1")
        places = {name: j for j, name in enumerate(getattr(self, "feature_names_in_", []))}
        trace = self.trace_
        order = np.argsort(-trace.scores, kind="stable")
        distinct = dict.fromkeys(tuple(trace.subsets[k]) for k in order if trace.subsets[k])
        found = [[places.get(trace.names[j], j) for j in subset] for subset in distinct]
        return found[:n]


def best_single(scores: Criterion) -> Subset:
    """The best subset of one feature that was scored; the first feature where none was."""
    singles = [subset for subset in scores.known if len(subset) == 1]
    return max(singles, key=lambda subset: scores.known[subset].value, default=(0,))


def ranked(problem: Problem, visits: list[Visit], kept: Subset) -> list[int]:
    """All features, the best first: kept ones first, then by how long they stayed in the search.

    Of a removal trace it is the reverse order of removal.
    """
    stayed = np.zeros(problem.n_features)
    first = np.full(problem.n_features, len(visits))
    for step, visit in enumerate(visits):
        for feature in visit.subset:
            stayed[feature] += 1
            first[feature] = min(first[feature], step)
    return sorted(range(problem.n_features), key=lambda j: (j not in kept, -stayed[j], first[j], j))
