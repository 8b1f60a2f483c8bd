"""Self-training: a classifier labels the rows that it is sure of, and learns from them too.

Fit on the labeled rows, label unlabeled rows whose greatest probability passes a threshold (or the
k surest), fit again with them, until none is added.

Texts: 004 17.1.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.contract.inert import without_effect
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, HasMethods, Interval, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object, Text
from gnomon.ensemble.base import Ensemble, Training
from gnomon.ensemble.lots import Part
from gnomon.ensemble.member import Member, fit_member, seeded
from gnomon.linear import LogisticRegression
from gnomon.semi.graph import FewLabels, labels_of


class OneMember(Ensemble):
    """A learner with labels and without made around one fitted member."""

    _stored: ClassVar[Any] = {"members_": ListOf(Object(("Member",)), length=1)}

    def _candidates(self) -> list[tuple[str, Any]]:
        chosen = LogisticRegression() if self.estimator is None else self.estimator
        return [(type(chosen).__name__, chosen)]

    @property
    def estimator_(self) -> Any:
        """The fitted learner; its classes are the codes 0, 1, 2 ... of ``classes_``."""
        return self.members_[0].estimator

    def _proba(self, rows: Any) -> np.ndarray:
        return self.members_[0].proba(rows, len(self.classes_))

    def _fitted_member(self, training: Training, codes: np.ndarray) -> Member:
        """The learner fitted on the rows that have a code, in canonical order."""
        name, learner = self._checked_candidates()[0]
        order = canonical_order(training.numbers, codes)
        positions = order[codes[order] >= 0]
        weights = None if training.weights is None else training.weights[positions]
        return fit_member(
            seeded(learner, 0, False), name, training, Part(positions, weights), y=codes
        )


@method(
    task="classify",
    texts="004 17.1",
    use="Few labels and a classifier whose probabilities can be trusted where they are high.",
    avoid="A poor first model, whose mistakes it repeats: compare with labels alone.",
    peers=("sklearn.semi_supervised.SelfTrainingClassifier",),
    synonyms=("pseudo-labels", "semi-supervised"),
)
@without_effect("verbose")
class SelfTrainingClassifier(OneMember, FewLabels):
    """A classifier that labels the rows it is sure of and learns from them too.

    Fits the learner on the labeled rows, gives labels to unlabeled rows of whose class it is sure,
    and fits again, until no row is added. Use it where high probabilities are right; not with a
    poor first model, whose mistakes it repeats. ``labeled_iter_`` is the trace of what was added
    when.

    Rows without a label are marked by -1 or a missing cell. Texts: 004 17.1.

    Parameters
    ----------
    estimator : estimator, default=None
        The classifier, with ``predict_proba``; None for a LogisticRegression.
    threshold : float, default=0.75
        Least probability of a row that is added, with ``criterion="threshold"``.
    criterion : {"threshold", "k_best"}, default="threshold"
        Which rows are added: all beyond the threshold, or the surest ones.
    k_best : int, default=10
        Rows that are added in each step, with ``criterion="k_best"``.
    max_iter : int or None, default=10
        Most steps; None until nothing is left to add.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the class codes of the rows after every step, -1 without one.

    Attributes
    ----------
    members_ : list of Member
        The fitted learner; ``estimator_`` is the learner itself.
    estimator_ : estimator
        The fitted learner, which knows classes as codes 0, 1, 2 ...
    classes_ : ndarray of shape (n_classes,)
        The classes.
    transduction_ : ndarray of shape (n_samples,)
        The labels that the last fit used; -1, "" or None for rows that were not used.
    labeled_iter_ : ndarray of int of shape (n_samples,)
        The step in which each row got its label: 0 for given labels, -1 where it has none.
    termination_condition_ : {"max_iter", "no_change", "all_labeled"}
        Why it ended.
    history_ : History
        The number of labeled rows after each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import SelfTrainingClassifier
    >>> rows = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = SelfTrainingClassifier(threshold=0.6).fit(rows, [0, -1, -1, -1, -1, 1])
    >>> model.labeled_iter_.tolist()
    [0, 1, 1, 1, 1, 0]
    """

    _minus_one = "always"
    _keeps_rows = True  # labels of the rows
    _parameter_constraints = {
        "estimator": [HasMethods(["fit"]), None],
        "threshold": [Interval(Real, 0.0, 1.0, closed="left")],
        "criterion": [StrOptions({"threshold", "k_best"})],
        "k_best": [whole(1)],
        "max_iter": [whole(0), None],
        "keep_history": HISTORY,
    }
    _stored: ClassVar[Any] = {
        "labeled_iter_": Array("i8", ("n_given",), low=-1),
        "transduction_": Array("biufUSO", ("n_given",)),
        "termination_condition_": Text(("max_iter", "no_change", "all_labeled")),
    }

    def __init__(
        self,
        estimator=None,
        threshold=0.75,
        criterion="threshold",
        k_best=10,
        max_iter=10,
        verbose=False,
        *,
        keep_history="objective",
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.verbose = verbose
        self.keep_history = keep_history

    def _most_steps(self) -> int:
        return 10 if self.max_iter is None else max(self.max_iter, 1)

    def _fit_ensemble(self, training: Training) -> None:
        name, learner = self._checked_candidates()[0]
        if not hasattr(learner, "predict_proba"):
            raise DataError(
                f"{name} has no predict_proba, which says how sure it is of a row; give a learner "
                "with probabilities"
            )
        codes, added = training.y.copy(), np.where(training.y >= 0, 0, -1)
        most = training.n_rows + 1 if self.max_iter is None else self.max_iter
        course = self._course("iteration", max(most, 1))
        member, reason = self._fitted_member(training, codes), "max_iter"
        n_steps = 0
        for step in course:
            if most == 0 or (codes >= 0).all():
                reason = "max_iter" if most == 0 else "all_labeled"
                self._end_step(course, codes, True, member)
                break
            surest, labels = self._surest(member, training, codes)
            codes[surest] = labels
            added[surest] = step + 1
            n_steps = step + 1
            ended = not len(surest)
            if not ended:
                member = self._fitted_member(training, codes)
            if self._end_step(course, codes, ended, member):
                # a last step that is allowed counts as such, as in scikit-learn
                reason = "no_change" if ended and step + 1 < most else "max_iter"
                break
        if (codes >= 0).all() and reason == "max_iter" and most > 0:
            reason = "all_labeled"
        self.members_, self.termination_condition_ = [member], reason
        self.history_, self.n_iter_ = course.history, max(n_steps, len(course.history))
        self._keep_labels(codes, added, training.kept)

    def _end_step(self, course: Any, codes: np.ndarray, ended: bool, member: Member) -> bool:
        return course.end_step(
            float((codes >= 0).sum()),
            ended,
            state=lambda: {"codes": codes.copy()},
            attributes=lambda: self._public() | {"members_": [member]},
        )

    def _surest(self, member: Member, training: Training, codes: np.ndarray) -> Any:
        """The unlabeled rows to be added, and their classes."""
        free = np.flatnonzero(codes < 0)
        proba = member.proba(training.at(free), len(self.classes_))
        most = proba.max(axis=1)
        if self.criterion == "threshold":
            chosen = np.flatnonzero(most > self.threshold)
        else:
            order = np.lexsort((free, -most))
            chosen = order[: self.k_best]
        return free[chosen], proba[chosen].argmax(axis=1)

    def _keep_labels(self, codes: np.ndarray, added: np.ndarray, kept: np.ndarray | None) -> None:
        """Labels and steps of all rows that were given; rows of weight zero have none."""
        if kept is not None:
            whole_codes, whole_added = np.full((2, len(kept)), -1, dtype=np.int64)
            whole_codes[kept], whole_added[kept] = codes, added
            codes, added = whole_codes, whole_added
        self.transduction_ = labels_of(codes, self.classes_)
        self.labeled_iter_ = added.astype(np.int64)
