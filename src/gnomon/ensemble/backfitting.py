"""Backfitting: an additive model fitted term by term, each to the residual of the others.

    y = a + sum_m h_m(x) + error;   in turns  h_m <- fit of  y - a - sum_{k != m} h_k(x),  then
    centred

until nothing changes. It needs only a fitter of one term. With one smoother per column this is a
generalised additive model: each h_m can be drawn as a curve.

Texts: 004 11.6.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Regressor
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import HISTORY, JOBS, SEED, HasMethods, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object
from gnomon.ensemble.base import Ensemble, Training, kept_bytes
from gnomon.ensemble.member import Member, named, seeded
from gnomon.ensemble.reweighting import fit_weighted, rounded
from gnomon.trees import DecisionTreeRegressor


@method(
    task="regress",
    texts="004 11.6",
    use="Curves per column that people can look at, or a sum of different learners.",
    avoid="Strong interactions between columns, which a sum over columns cannot show.",
    peers=("pyGAM", "InterpretML EBM"),
)
class BackfittingRegressor(Ensemble, Regressor):
    """A sum of learners, refitted alternately, each to the residual of the others.

    Use it for one curve per column that people can look at, or for a sum of different learners; not
    where columns interact strongly. Minimises sum_i w_i (y_i - a - sum_m h_m(x_i))^2 by turns; each
    term has mean zero on the training rows. Texts: 004 11.6.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner of each column, or a list of learners to be added up (with
        ``terms="learners"``); None for a tree of eight leaves.
    terms : {"columns", "learners"}, default="columns"
        One term per column of the table, or one per learner, which then sees all columns.
    max_iter : int, default=20
        Most turns through all terms.
    tol : float, default=1e-4
        It ends where the mean squared error falls by less than this share in a turn.
    keep_history : {"objective", "full"}, default="objective"
        With "full", the terms' values at all rows are kept for each turn.
    n_jobs : int, default=None
        Threads for predictions; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        One per term; ``estimators_`` lists their learners.
    offsets_ : ndarray of shape (n_terms,)
        The mean of each term, taken off it.
    constant_ : float
        a, the mean of the target.
    n_iter_ : int
        Turns made.
    history_ : History
        The mean squared error after each turn.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BackfittingRegressor
    >>> rows = [[float(i % 4), float(i // 4)] for i in range(16)]
    >>> model = BackfittingRegressor().fit(rows, [a + 10 * b for a, b in rows])
    >>> model.predict([[1.0, 2.0]]).round(6).tolist()
    [21.0]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"]), list, tuple],
        "terms": [StrOptions({"columns", "learners"})],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "constant_": Number(),
        "members_": ListOf(Object(("Member",)), "n_members"),
        "offsets_": Array("f8", ("n_members",)),
    }

    def __init__(
        self,
        estimator=None,
        *,
        terms="columns",
        max_iter=20,
        tol=1e-4,
        keep_history="objective",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.terms = terms
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _candidates(self):
        if self.estimator is None:
            return named([DecisionTreeRegressor(max_leaf_nodes=8)])
        several = isinstance(self.estimator, (list, tuple))
        return named(self.estimator if several else [self.estimator])

    def _most_steps(self) -> int:
        return self.max_iter

    def _terms_to_fit(self) -> list[tuple[str, Any, np.ndarray | None]]:
        """Name, learner and columns of each term."""
        candidates = self._checked_candidates()
        if self.terms == "learners":
            return [(name, learner, None) for name, learner in candidates]
        if len(candidates) > 1:
            raise ValueError("terms='columns' takes one learner; for several use terms='learners'")
        names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        learner = candidates[0][1]
        return [
            (f"column {names[j]!r}", learner, np.array([j])) for j in self._columns_that_tell(names)
        ]

    def _columns_that_tell(self, names: list) -> list[int]:
        """Columns of which something can be learnt (identifiers and empty columns cannot)."""
        encoder = getattr(self, "encoder_", None)
        if encoder is None:
            return list(range(len(names)))
        useful = {code.name for code in encoder.codes if code.names}
        found = [j for j, name in enumerate(encoder.names_in) if name in useful]
        if not found:
            raise DataError("no column of the table can be learnt from")
        return found

    def _fit_ensemble(self, training: Training) -> None:
        terms = self._terms_to_fit()
        seeds = self._seeds(len(terms))
        part = training.whole()
        rows, weights = training.at(part.positions), part.weight_array
        y = training.y[part.positions]
        shares = weights / weights.sum()
        pieces = [rows if c is None else Member("", None, None, c).given(rows) for _, _, c in terms]
        constant = float(rounded(shares @ y))
        values = np.zeros((len(terms), len(y)))
        members: list[Member | None] = [None] * len(terms)
        offsets = np.zeros(len(terms))
        at = np.arange(len(y))
        before = np.inf
        course = self._course("turn", self.max_iter)
        for _ in course:
            for m, (name, learner, columns) in enumerate(terms):
                left = y - constant - (values.sum(axis=0) - values[m])
                fresh = seeded(learner, seeds[m], False)
                member = fit_weighted(
                    fresh, name, pieces[m], at, left, weights, np.ones(len(y)), seeds[m]
                )
                said = rounded(member.estimate(pieces[m]))
                offsets[m] = rounded(shares @ said)
                values[m] = said - offsets[m]
                member.columns = columns
                members[m] = member
            error = float(shares @ (y - constant - values.sum(axis=0)) ** 2)
            done = (
                before - error <= self.tol * max(before, 0.0) if np.isfinite(before) else error == 0
            )
            before = error
            if course.end_step(
                error,
                done,
                state=lambda: {"terms": values.copy()},
                attributes=lambda: self._public() | self._sum(members, offsets, constant),
            ):
                break
        self._keep(self._sum(members, offsets, constant))
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        if course.history.stopped == "max_iter":
            warnings.warn(
                f"backfitting has not settled after {self.max_iter} turns (mean squared error "
                f"{before:.6g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _sum(self, members, offsets: np.ndarray, constant: float) -> dict[str, Any]:
        return {"members_": list(members), "offsets_": offsets.copy(), "constant_": constant}

    def _estimate(self, rows):
        total = np.full(rows.shape[0], self.constant_)
        for said, offset in zip(self._ask(lambda m: m.estimate(rows), rows), self.offsets_):
            total += said - offset
        return total

    def contributions(self, X) -> np.ndarray:
        """The value of each term for each row; with the constant they add up to the prediction.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        terms : ndarray of shape (n_samples, n_terms)
        """
        said = self._each_block(
            lambda rows: np.column_stack(list(self._ask(lambda m: m.estimate(rows), rows))), X
        )
        return said - self.offsets_

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_terms = n_columns if self.terms == "columns" else len(self._candidates())
        learner = self._candidates()[0][1]
        seen = 1 if self.terms == "columns" else n_columns
        values = 8 * n_rows * (3 * n_terms + 2 * n_columns + 20)
        states = 8 * n_rows * n_terms * self.max_iter if self.keep_history == "full" else 0
        kept = n_terms * kept_bytes(learner, n_rows, seen)
        return int(values + states + kept + forecast_of(learner, n_rows, seen))
