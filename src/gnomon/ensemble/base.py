"""What learners made of learners share: intake of any table, threads over members, history, memory.

Members are fitted on engine threads with seeds drawn beforehand and put together in order, so that
the number of threads changes no bit. Each fitted member is one step of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Takes, intake
from gnomon.engine.draw import canonical_key, canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator, forecast_of
from gnomon.engine.stored import Object
from gnomon.engine.threads import engine_thread, in_order, resolve_jobs
from gnomon.ensemble.lots import Fold, Lots, Part
from gnomon.ensemble.member import Member, Rows, named, require_kind, seeds, takes_missing
from gnomon.table.scan import Scan

FEW_ROWS = 2048  # judgement: predictions of so few rows take less than waking threads
BYTES_PER_NODE = 60  # arrays of a `trees.tree.Tree` of one output: 57 bytes


class Given(NamedTuple):
    """What members need to know of the arguments of ``fit``.

    Attributes
    ----------
    is_weighted : bool
        Whether there are weights.
    sparse_type : type or None
        The class of a sparse matrix of compressed rows or columns.
    """

    is_weighted: bool
    sparse_type: type | None

    @classmethod
    def of(cls, X: Any, sample_weight: Any) -> Given:
        compressed = sp.issparse(X) and X.format in ("csr", "csc")
        return cls(sample_weight is not None, type(X) if compressed else None)


@dataclass
class Training:
    """The training rows of an ensemble.

    Attributes
    ----------
    rows : ndarray, csr_array or Table
        As the user gave them, rows of weight zero left out.
    y : ndarray
        Class codes or numbers.
    weights : ndarray or None
    numbers : ndarray or csr_array
        The rows as numbers.
    columns : Columns
        What these numbers are.
    kept : ndarray of bool or None
        Which of the rows given are here, when some had weight zero.
    is_weighted : bool
        Whether weights were given, equal ones too.
    """

    rows: Rows
    y: np.ndarray
    weights: np.ndarray | None
    numbers: Any
    columns: Any
    kept: np.ndarray | None = None
    is_weighted: bool = False

    @classmethod
    def of(cls, data: Data, given: Given | None = None) -> Training:
        rows = data.rows
        if data.table is not None:
            rows = data.table if data.kept is None else data.table[np.flatnonzero(data.kept)]
        elif given is not None and given.sparse_type is not None:
            rows = given.sparse_type(rows)
        weighted = given is not None and given.is_weighted
        return cls(rows, data.y, data.weights, data.rows, data.columns, data.kept, weighted)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def weight_array(self) -> np.ndarray:
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @cached_property
    def lots(self) -> Lots:
        return Lots(canonical_order(self.numbers, self.y), self.weights)

    @cached_property
    def _in_order(self) -> Rows:
        return self.rows[self.lots.order]

    def whole(self) -> Part:
        """All rows, in canonical order; put in order once for all members."""
        order = self.lots.order
        assert self._in_order is not None
        return Part(order, None if self.weights is None else self.weights[order])

    def folds(self, cv, rng: np.random.Generator, strata: np.ndarray | None) -> list[Fold]:
        """Folds drawn at random, those of a splitter, or given as positions of rows."""
        if isinstance(cv, Integral):
            return self.lots.folds(int(cv), rng, strata)
        if hasattr(cv, "split"):
            given = np.arange(self.n_rows if self.kept is None else len(self.kept))
            y = np.zeros(len(given), self.y.dtype)
            y[slice(None) if self.kept is None else self.kept] = self.y
            cv = list(cv.split(given[:, None], y))
        return [Fold(self._given_part(learn), self._given_part(held)) for learn, held in cv]

    def _given_part(self, positions) -> Part:
        """Rows by their positions among all that were given, as a part."""
        wanted = np.zeros(self.n_rows if self.kept is None else len(self.kept), dtype=bool)
        wanted[np.asarray(positions)] = True
        here = wanted if self.kept is None else wanted[self.kept]
        found = self.lots.order[here[self.lots.order]]
        if not len(found):
            raise DataError("a fold of cv holds no row of positive weight; give other folds")
        return Part(found, None if self.weights is None else self.weights[found])

    def at(self, positions: np.ndarray) -> Rows:
        """Some rows."""
        if "_in_order" in vars(self) and np.array_equal(positions, self.lots.order):
            return self._in_order
        return self.rows[positions]


class Ensemble(_BaseComposition):
    """Mixin of learners made of learners; stands before `Classifier` or `Regressor`.

    A method writes ``_candidates`` (its learners, not fitted) and ``_fit_ensemble(training)``, and
    gives ``_proba`` or ``_estimate`` of any rows by asking ``self.members_``.
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _largest = np.inf
    _grows = True
    _stored: ClassVar[Any] = {
        "history_": Object(("History",)),
    }

    def get_params(self, deep=True):
        """Parameters, those of the members too.

        Parameters
        ----------
        deep : bool, default=True
            Whether to give the parameters of members as ``name__parameter``.

        Returns
        -------
        parameters : dict
        """
        if "estimators" in self._get_param_names():
            return self._get_params("estimators", deep=deep)
        return super().get_params(deep=deep)

    def set_params(self, **parameters):
        """Set parameters, those of members as ``name__parameter``.

        Parameters
        ----------
        **parameters : dict

        Returns
        -------
        self : object
        """
        if "estimators" in self._get_param_names():
            self._set_params("estimators", **parameters)
            return self
        return super().set_params(**parameters)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            inside = [get_tags(learner).input_tags for _, learner in self._candidates()]
        except (ValueError, TypeError, AttributeError):
            return tags
        tags.input_tags.allow_nan = all(takes_missing(each) for _, each in self._candidates())
        tags.input_tags.sparse = all(each.sparse for each in inside)
        return tags

    @property
    def estimators_(self) -> list:
        """The fitted learners."""
        return [member.estimator for member in self.members_]

    def _candidates(self) -> list[tuple[str, Any]]:
        """The learners by name, not fitted."""
        raise NotImplementedError

    def _checked_candidates(self) -> list[tuple[str, Any]]:
        found = self._candidates()
        for name, learner in found:
            require_kind(name, learner, self._target == "classes")
        return found

    def _learn(self, X, y, sample_weight):
        if isinstance(X, Scan):
            self._require_memory(X.count_rows(), len(X.columns))
            X = X.read()
        self._of_fit = Given.of(X, sample_weight)
        try:
            return super()._learn(X, y, sample_weight)
        finally:
            del self._of_fit

    def _fit(self, data: Data) -> None:
        for name in [name for name in vars(self) if name in self._fitted_before()]:
            delattr(self, name)
        self._fit_ensemble(Training.of(data, self._of_fit))

    def _fitted_before(self) -> tuple[str, ...]:
        """Attributes that another fit may not set again."""
        return ()

    def _fit_ensemble(self, training: Training) -> None:
        raise NotImplementedError

    def _most_steps(self) -> int:
        return getattr(self, "n_estimators", None) or len(self._candidates())

    def _fit_each(
        self,
        jobs: Iterable[Any],
        fit: Callable[[Any], Any],
        objective: Callable[[list], float],
        so_far: Callable[[list], dict[str, Any]],
    ) -> list:
        """Fit a member per job, on threads; a step of the course each. Ends early when asked to.

        Parameters
        ----------
        jobs : sequence
            What ``fit`` needs for each member.
        fit : callable
            ``fit(job)`` gives a member (or a tuple that holds one); pure.
        objective : callable
            The figure of the course, from the list of members so far.
        so_far : callable
            The fitted attributes that the members so far stand for.
        """
        jobs = list(jobs)
        course = self._course("member", len(jobs))
        fitted = in_order(fit, jobs, self.n_jobs, anywhere=True)
        members: list = []
        for _ in course:
            members.append(next(fitted))
            figure = objective(members)
            if course.end_step(figure, attributes=lambda: self._public() | so_far(list(members))):
                break
        fitted.close()
        if course.history.stopped == "max_iter":
            course.history.stopped = "done"
        self.history_ = course.history
        return members

    def _each_block(self, function, X):
        """``function`` of the rows, which stay a table where they are one."""
        check_is_fitted(self)
        parts = [function(self._known_finite(rows)) for rows in intake.tables_of(self, X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _known_finite(self, rows: Rows) -> Rows:
        """Refuse missing cells of arrays where some member cannot take them, whoever is asked."""
        values = rows.data if sp.issparse(rows) else rows
        has_gaps = isinstance(values, np.ndarray) and np.isnan(values).any()
        if has_gaps and not get_tags(self).input_tags.allow_nan:
            assert_all_finite(values, input_name="X")
        return rows

    def _ask(
        self, question: Callable[[Member], np.ndarray], rows: Rows, members=None
    ) -> Iterator[np.ndarray]:
        """What each member says of the rows, in order; on threads where there are many rows."""
        members = self.members_ if members is None else members
        n_rows = rows.shape[0]
        n_jobs = 1 if n_rows * len(members) < FEW_ROWS else getattr(self, "n_jobs", None)
        return in_order(question, members, n_jobs)

    def _seeds(self, n: int) -> list[int]:
        return list(seeds(self._rng(), n))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        """Members at work on threads with their copies of rows, fitted members, a few numbers a
        row.
        """
        learners = [learner for _, learner in self._candidates()]
        n_members = self._most_steps()
        copy = 8 * n_rows * (n_columns + 4)
        running = min(n_members, resolve_jobs(self.n_jobs)) if hasattr(self, "n_jobs") else 1
        with engine_thread() if running > 1 else nullcontext():  # a member starts no other threads
            work = [forecast_of(each, n_rows, n_columns) for each in learners]
        if len(work) < n_members:  # the largest may run beside itself
            work = [max(work)] * running
        kept = max(kept_bytes(each, n_rows, n_columns) for each in learners)
        outputs = 8 * n_rows * 8
        return int(sum(sorted(work)[-running:]) + n_members * kept + copy + outputs)

    def _memory_remedy(self) -> str:
        return "Use fewer rows, fewer or smaller members, or n_jobs=1."


def kept_bytes(learner, n_rows: int, n_columns: int) -> int:
    """What a fitted member is likely to keep."""
    if hasattr(learner, "_n_nodes_likely"):
        return BYTES_PER_NODE * learner._n_nodes_likely(n_rows)
    if getattr(learner, "_keeps_rows", False) or not isinstance(learner, Estimator):
        return 8 * n_rows * n_columns
    return 8 * 64 * (n_columns + 8)


def chosen(estimator, default: Callable[[], Any]) -> list[tuple[str, Any]]:
    """Learners from a parameter that is None, one learner, or a list of learners."""
    if estimator is None:
        return named([default()])
    if isinstance(estimator, (list, tuple)):
        return named(estimator)
    return named([estimator])


def member_weights(weights, n_members: int) -> np.ndarray:
    """Weights of the members that add up to one; equal where none are given."""
    if weights is None:
        return np.full(n_members, 1.0 / n_members)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or len(weights) < n_members:
        raise ValueError(f"weights has {weights.size} entries for {n_members} estimators")
    weights = weights[:n_members]
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise ValueError("weights must be numbers that are zero or more, some of them positive")
    return weights / weights.sum()


TINY = np.finfo(np.float64).tiny


def weighted_mean(parts: Iterable[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Mean of arrays by weights, in order; exact where all arrays are equal and weights too."""
    shares = weights / weights.max()
    total = None
    for part, share in zip(parts, shares, strict=True):
        total = share * part if total is None else total + share * part
    assert total is not None
    return total / shares.sum()


def pooled_proba(parts: Iterable[np.ndarray], weights: np.ndarray, how: str) -> np.ndarray:
    """Probabilities of several members as one: arithmetic or geometric mean, normalised.

    In the geometric mean a probability of zero counts as the smallest positive number, so that
    classes which all members exclude stay comparable.
    """
    if how == "geometric":
        logs = weighted_mean((np.log(np.maximum(part, TINY)) for part in parts), weights)
        pooled = np.exp(logs - logs.max(axis=1, keepdims=True))
    else:
        pooled = weighted_mean(parts, weights)
    return normalized_rows(pooled)


def normalized_rows(values: np.ndarray) -> np.ndarray:
    """Rows that add up to one; equal shares where a row is all zero."""
    totals = values.sum(axis=1, keepdims=True)
    empty = totals[:, 0] <= 0
    if empty.any():
        values = np.where(empty[:, None], 1.0, values)
        totals = values.sum(axis=1, keepdims=True)
    return values / totals


def weighted_error(predicted: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Share of the weight whose class is not predicted."""
    return float(weights[predicted != y].sum() / weights.sum())


def mean_squared_error(y_pred: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Weighted mean of the squared errors."""
    return float(weights @ (y_pred - y) ** 2 / weights.sum())


def fingerprint(numbers) -> tuple[int, float]:
    """Number of rows and a sum over them, by which the same rows are known again in any order."""
    with np.errstate(over="ignore", invalid="ignore"):
        return numbers.shape[0], float(np.nan_to_num(np.sort(canonical_key(numbers)).sum()))


def dense(rows) -> np.ndarray:
    """A dense array of a sparse one."""
    return rows.toarray() if sp.issparse(rows) else rows
