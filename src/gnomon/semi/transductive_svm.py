"""Transductive support vector machine: a plane that keeps unlabeled rows out of its margin too.

Minimizes  1/2 |w|^2 + C sum_labeled h(y f(x)) + C' sum_unlabeled h(|f(x)|)  with the hinge loss h
(or its square). The second sum is not convex: a plane through the gap between rows is one of many
minima. Deterministic annealing finds low ones. Continuation raises C' from nearly zero, so that
the plane stays near that of the labels; among documents of weak groups it is right more often,
though its minimum may be higher (`benchmarks/semi/few_labels.py`). Every unlabeled row has a
probability p of the second class; for given p the plane is an ordinary SVM in which the row stands
on both sides with costs p and 1 - p, and for a given plane
p = 1 / (1 + exp((C'(h(f) - h(-f)) + nu) / T)). nu keeps the share of each class, and T falls until
all p are 0 or 1.

Texts: 004 17.1.1 (eq 17.1, deterministic annealing).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data, ScoringClassifier, Takes
from gnomon.engine.parameters import HISTORY, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.margin import LinearSVC
from gnomon.semi.graph import FewLabels, Points, labels_of
from gnomon.semi.harmonic import prior_of

# Pairs of a temperature, in units of the cost of an unlabeled row, and a part of that cost.
ANNEALING = [(10.0 * 1.5**-k, 1.0) for k in range(18)]
CONTINUATION = [(0.05, 2.0**k) for k in range(-10, 1)]
SCHEDULES = {
    "continuation": (CONTINUATION,),
    "annealing": (ANNEALING,),
    "both": (ANNEALING, CONTINUATION),
}
TURNS = 10  # most turns between plane and probabilities at one temperature
TINY_COST = 1e-5  # of the largest: less is left out, as it makes the solvers' matrices singular
MOST_DENSE_CELLS = 10_000_000  # 80 MB: sparse rows of fewer cells are centered as dense ones
OFFSET_SCALE = 10.0  # of the constant column: the offset is hardly penalized
TOLERANCE = 1e-6  # of a plane: turns add up the errors of looser ones


@method(
    task="classify",
    texts="004 17.1.1",
    use="Few labels and many unlabeled rows of many columns, such as documents.",
    avoid="Classes without a gap between them: compare with LinearSVC of the labels alone.",
    peers=("SVM-light", "SVMlin"),
    synonyms=("TSVM", "S3VM", "transductive SVM", "semi-supervised"),
)
class TransductiveSVC(FewLabels, ScoringClassifier):
    """A linear support vector machine that keeps unlabeled rows out of its margin.

    Minimizes ``1/2 |w|^2 + C sum_l h(y f) + C' sum_u h(|f|)``, h the squared hinge: probabilities
    of the unlabeled rows and the plane by turns, at rising C' or at falling temperature
    (``search``), with the share of each class held at ``class_prior``. Use it for few labels in
    many columns (documents). Not where classes overlap without a gap. Several classes: one against
    the rest. Unlabeled rows have a missing cell as target, or -1 where two other classes are left.
    Texts: 004 17.1.1, which has the hinge itself, ``loss="hinge"``.

    Parameters
    ----------
    C : float, default=1.0
        Cost of labeled rows.
    C_unlabeled : float, default=0.1
        Cost of all unlabeled rows together, as a share of that of all labeled ones.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        What a row inside the margin costs.
    class_prior : {"labels", "uniform"}, array-like of shape (n_classes,) or None, default="labels"
        Shares of the classes among unlabeled rows; None: not held.
    search : {"continuation", "annealing", "both"}, default="continuation"
        Which minimum is found. "continuation": from the plane of the labels, by raising C'; it
        changes least, and is the safer choice where groups are weak, as among documents.
        "annealing": deterministic annealing, as in 004. "both": the lower one of both.
    max_iter : int, default=500
        Most turns of planes and probabilities in all.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the planes of every turn.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_columns)
        The planes.
    intercept_ : ndarray of shape (1 or n_classes,)
        Their offsets.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    transduction_ : ndarray of shape (n_samples,)
        The class of every row that ``fit`` was given; given labels stay.
    history_ : History
        The objective at each turn, of all planes one after the other.
    n_iter_ : int
        Number of turns.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import TransductiveSVC
    >>> rows = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = TransductiveSVC().fit(rows, [None, None, 0, None, 1, None])
    >>> model.transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    natively = Takes(sparse=True)
    _largest = 1e50
    _keeps_rows = True  # the classes of the rows
    _parameter_constraints = {
        "C": [above(0)],
        "C_unlabeled": [above(0)],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "class_prior": [StrOptions({"labels", "uniform"}), "array-like", None],
        "search": [StrOptions(set(SCHEDULES))],
        "max_iter": [whole(1)],
        "keep_history": HISTORY,
    }
    _stored = {
        "coef_": Array("f8", ("n_planes", "n_columns")),
        "intercept_": Array("f8", ("n_planes",)),
        "transduction_": Array("biufUSO", ("n_given",)),
    }

    def __init__(
        self,
        C=1.0,
        *,
        C_unlabeled=0.1,
        loss="squared_hinge",
        class_prior="labels",
        search="continuation",
        max_iter=500,
        keep_history="objective",
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
        self.class_prior = class_prior
        self.search = search
        self.max_iter = max_iter
        self.keep_history = keep_history

    def _fit(self, data: Data) -> None:
        points, center = self._centered(data)
        prior = prior_of(self.class_prior, points, self.classes_)
        codes = [1] if points.n_classes == 2 else list(range(points.n_classes))
        self.coef_ = np.zeros((len(codes), points.rows.shape[1]))
        self.intercept_ = np.zeros(len(codes))
        course = self._course("iteration", self.max_iter)
        steps = iter(course)
        if len(np.unique(points.codes[points.labeled])) > 1:
            for plane, code in enumerate(codes):
                share = None if prior is None else float(prior[code])
                problem = TwoSides(points, code, self.C, self.C_unlabeled, self.loss)
                self._search(problem, plane, share, center, course, steps)
        elif next(steps, None) is not None:
            self._only_class(points)
            course.end_step(0.0, True, state=self._planes_now, attributes=self._public)
        if course.history.stopped == "done":
            course.history.stopped = "converged"
        self.history_, self.n_iter_ = course.history, len(course.history)
        if course.history.stopped == "max_iter":
            warnings.warn(
                f"annealing ended after max_iter={self.max_iter} turns; increase max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep_labels(points, data.kept)
        self.intercept_ = self._about_zero(center)["intercept_"]

    def _centered(self, data: Data) -> tuple[Points, np.ndarray]:
        """Points around their mean, which the offset of a plane is small at.

        Large sparse ones stay as they are: their offset is penalized a little.
        """
        points = Points.of(data, len(self.classes_))
        if sp.issparse(points.rows):
            if np.prod(points.rows.shape) > MOST_DENSE_CELLS:
                return points, np.zeros(points.rows.shape[1])
            points = points._replace(rows=points.rows.toarray())
        center = points.weights @ (points.rows / points.weights.sum())
        return points._replace(rows=points.rows - center), center

    def _only_class(self, points: Points) -> None:
        """Where the labels are of one class, planes that give every row this class."""
        self.intercept_[:] = -1.0
        code = int(points.codes.max())
        if points.n_classes > 2:
            self.intercept_[code] = 1.0
        elif points.n_classes == 2:
            self.intercept_[0] = 2.0 * code - 1.0

    def _about_zero(self, center: np.ndarray) -> dict[str, np.ndarray]:
        """The offsets for rows that are not centered."""
        return {"intercept_": self.intercept_ - self.coef_ @ center}

    def _planes_now(self) -> dict[str, Any]:
        return {"coef": self.coef_.copy(), "intercept": self.intercept_.copy()}

    def _search(self, problem, plane: int, share: Any, center, course, steps) -> None:
        """The better plane of two searches of one class against the others."""

        def end_step(objective: float) -> None:
            course.end_step(
                objective,
                state=self._planes_now,
                attributes=lambda: self._public() | self._about_zero(center),
            )

        self._plane(problem.supervised(), plane, problem)
        ends = []
        for schedule in SCHEDULES[self.search] if problem.n_free else ():
            scores = self._plane(problem.supervised(), plane, problem)
            scores = self._follow(schedule, problem, scores, plane, share, end_step, course, steps)
            objective = problem.objective(self.coef_[plane], scores)
            ends.append((objective, self.coef_[plane].copy(), self.intercept_[plane]))
        if ends:
            best = min(range(len(ends)), key=lambda end: ends[end][0])
            _, self.coef_[plane], self.intercept_[plane] = ends[best]
        if course.history.stopped != "callback" and next(steps, None) is not None:
            scores = problem.scores(self.coef_[plane], self.intercept_[plane])
            objective = problem.objective(self.coef_[plane], scores)
            end_step(objective)

    def _follow(
        self, schedule, problem, scores, plane, share, end_step, course, steps
    ) -> np.ndarray:
        """Plane and probabilities by turns, along temperatures and costs of unlabeled rows."""
        second = np.full(problem.n_free, 0.5)
        for temperature, part in schedule:
            for _ in range(TURNS):
                before = second
                second = problem.probabilities(scores, temperature, share)
                if np.abs(second - before).max() < 1e-3 and part == 1.0:
                    break
                if course.history.stopped == "callback" or next(steps, None) is None:
                    return scores
                scores = self._plane(problem.weighted(second, part), plane, problem)
                objective = problem.objective(self.coef_[plane], scores)
                end_step(objective)
                if part < 1.0:
                    break
        return scores

    def _plane(self, given: tuple[Any, np.ndarray, np.ndarray], plane: int, problem) -> np.ndarray:
        """Fit an SVM to weighted rows on two sides; the scores of all points."""
        rows, sides, costs = given
        model = LinearSVC(
            C=1.0,
            loss=self.loss,
            dual=self.loss == "hinge",
            tol=TOLERANCE,
            max_iter=10_000,
            intercept_scaling=OFFSET_SCALE,
        ).set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows, sides, sample_weight=costs)
        self.coef_[plane], self.intercept_[plane] = model.coef_[0], model.intercept_[0]
        return problem.scores(self.coef_[plane], self.intercept_[plane])

    def _keep_labels(self, points: Points, kept: np.ndarray | None) -> None:
        codes = self._codes_of(self._scores(points.rows))
        codes = np.where(points.labeled, points.codes, codes)[points.places]
        if kept is not None:
            every = np.full(len(kept), -1, dtype=np.int64)
            every[kept] = codes
            codes = every
        self.transduction_ = labels_of(codes, self.classes_)

    def _codes_of(self, scores: np.ndarray) -> np.ndarray:
        if scores.shape[1] == 1:
            return (scores[:, 0] >= 0).astype(np.int64) * (len(self.classes_) > 1)
        return scores.argmax(axis=1)

    def _scores(self, rows: Any) -> np.ndarray:
        return np.asarray(rows @ self.coef_.T) + self.intercept_

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (8 * n_columns + 30)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return 100 * n_entries + 8 * (60 * n_rows + 12 * n_columns) + 2**24


class TwoSides:
    """Labeled and unlabeled points of one class against the others.

    Parameters
    ----------
    points : Points
    code : int
    cost : float
        Of labeled points.
    unlabeled : float
        Cost of all unlabeled points, as a share of that of the labeled ones.
    loss : {"hinge", "squared_hinge"}
    """

    def __init__(self, points: Points, code: int, cost: float, unlabeled: float, loss: str):
        self.points = points
        self.power = 2 if loss == "squared_hinge" else 1
        self.given = points.labeled
        self.sides = np.where(points.codes == code, 1, -1)[self.given]
        self.costs = cost * points.weights[self.given]
        self.n_free = int((~self.given).sum())
        weights = points.weights[~self.given]
        total = weights.sum() if self.n_free else 1.0
        self.free_costs = unlabeled * self.costs.sum() * weights / total
        self.free_rows = points.rows[~self.given]

    def supervised(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows, sides and costs of the labels alone."""
        return self.points.rows[self.given], self.sides, self.costs

    def scores(self, plane: np.ndarray, offset: float) -> np.ndarray:
        return np.asarray(self.points.rows @ plane).ravel() + offset

    def weighted(self, second: np.ndarray, part: float) -> tuple[Any, np.ndarray, np.ndarray]:
        """Labeled rows, and unlabeled ones on both sides with costs by their probabilities."""
        labeled = self.points.rows[self.given]
        parts = [labeled, self.free_rows, self.free_rows]
        rows = sp.csr_array(sp.vstack(parts)) if sp.issparse(labeled) else np.vstack(parts)
        ones = np.ones(self.n_free, dtype=np.int64)
        sides = np.concatenate([self.sides, ones, -ones])
        free = part * self.free_costs
        both = [self.costs, free * second, free * (1 - second)]
        costs = np.concatenate(both)
        kept = costs > TINY_COST * costs.max()
        return rows[kept], sides[kept], costs[kept]

    def loss(self, margins: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - margins) ** self.power

    def probabilities(self, scores: np.ndarray, temperature: float, share: Any) -> np.ndarray:
        """Of the class for unlabeled points: by the losses of both sides, of the given mean."""
        free = scores[~self.given]
        gain = (self.loss(-free) - self.loss(free)) / temperature
        if share is None:
            return expit(gain)
        weights = self.points.weights[~self.given]
        wanted = np.clip(share, 1e-6, 1 - 1e-6) * weights.sum()
        reach = np.abs(gain).max() + 30.0

        def excess(shift: float) -> float:
            return float(weights @ expit(gain + shift) - wanted)

        return expit(gain + brentq(excess, -reach, reach, xtol=1e-10))

    def objective(self, plane: np.ndarray, scores: np.ndarray) -> float:
        """The objective with the triangle of unlabeled rows."""
        labeled = float(self.costs @ self.loss(self.sides * scores[self.given]))
        free = float(self.free_costs @ self.loss(np.abs(scores[~self.given])))
        return 0.5 * float(plane @ plane) + labeled + free
