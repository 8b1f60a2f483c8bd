"""Learner and its kinds: the public methods that users call, written once.

A method writes ``_fit(data)`` and what it computes for a block of rows (``_proba``,
``_estimate``, ``_nearest``, ``_map``); taking in any table, names, weights, classes, memory,
callbacks, threads over blocks and errors are done here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    ClassifierMixin,
    ClusterMixin,
    DensityMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.callback import with_callbacks
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import intake
from gnomon.contract.data import Data
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import validated
from gnomon.engine.stored import CLASSES, ListOf, Optional, Text, Whole
from gnomon.engine.sums import as_float_rows, rows_per_chunk
from gnomon.engine.threads import Pace, counted_once, in_order, one_blas_thread


class Learner(Estimator):
    """A method that learns from rows.

    Class attributes that a method may set: ``natively`` (what it takes as it is), ``_target``
    (None, "classes" or "numbers"), ``_many_targets`` (a target of several columns), ``_largest``
    (numbers beyond which its arithmetic overflows), ``_largest_target`` (the same of the target),
    ``_always_float64`` (fitted arrays that stay float64 although ``natively.float32``),
    ``_unlabeled`` (rows without a label are taken: their class code is -1; see
    `gnomon.contract.intake.targets.partial_codes`).
    """

    _target: ClassVar[str | None] = None
    _many_targets: ClassVar[bool] = False
    _largest: ClassVar[float] = 1e100
    _largest_target: ClassVar[float] = 1e100
    _always_float64: ClassVar[tuple[str, ...]] = ()
    _minus_one: ClassVar[str] = "two others"
    _stored: ClassVar[Any] = {
        "n_features_in_": Whole(1),
        "group_names_": Optional(ListOf(Text())),  # of `gnomon.workbench.workflows.name_groups`
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.target_tags.multi_output = self._many_targets
        return tags

    def _is_pairwise(self) -> bool:
        """Whether X holds distances or kernel values between samples instead of features."""
        own = vars(self)  # where parameters are: a missing attribute takes longer to look up
        return any(
            isinstance(each := own.get(name), str) and each == "precomputed"
            for name in ("metric", "affinity", "kernel")
        )

    @validated
    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from a table.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            A numeric array is taken as it is and must be finite; a data frame may hold text,
            categories, dates, booleans and missing values.
        y : array-like or str, default=None
            The target, where the method has one; the name of a column of X when X is a table.
        sample_weight : array-like or str, default=None
            Weights of the rows; weight two is the same as the row standing there twice.

        Returns
        -------
        self : object
        """
        with counted_once():
            return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Any:
        data = self._take_in(X, y, sample_weight)
        self._given = intake.given_to_callbacks(self, X, y, sample_weight)
        try:
            if not self._has_callbacks():
                self._fit_given(data)
                self._keep_dtype(data)
                return self
            context = self._init_callback_context(max_subtasks=self._most_steps())
            context.call_on_fit_task_begin(estimator=self, **self._given)
            self._fit_given(data)
            self._keep_dtype(data)
            context.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=self._public, **self._given
            )
        finally:
            del self._given
        return self

    def _has_callbacks(self) -> bool:
        """Whether callbacks are told of a fit; small fits notice the time of telling nobody."""
        return "_skl_callbacks" in vars(self) or "_parent_callback_ctx" in vars(self)

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """What is given to ``fit``, checked and ready for ``_fit``."""
        return intake.take_in(self, X, y, sample_weight)

    def _fit_given(self, data: Any) -> None:
        """Learn from what `_take_in` made; rows may go to a class that the method holds."""
        self._fit(data)

    def _fit(self, data: Data) -> None:
        """Learn; set public attributes."""
        raise NotImplementedError

    def _row_factors(self, y: np.ndarray, weights: np.ndarray | None) -> tuple[Any, Any]:
        """What ``class_weight`` multiplies weights by: of each class (None), of each row (None)."""
        if y.ndim == 1:
            factors = self._class_weights(np.bincount(y, weights, minlength=len(self.classes_)))
            return factors, None if factors is None else factors[y]
        chosen = getattr(self, "class_weight", None)
        if chosen is None:
            return None, None
        labels = [known[y[:, k]] for k, known in enumerate(self.classes_)]
        return None, compute_sample_weight(chosen, np.stack(labels, axis=1))

    def _class_weights(self, totals: np.ndarray) -> np.ndarray | None:
        """A factor per class from the parameter ``class_weight``, where the method has it.

        Parameters
        ----------
        totals : ndarray of shape (n_classes,)
            Weight of the rows of each class; "balanced" gives each class the same in all.
        """
        chosen = getattr(self, "class_weight", None)
        if chosen is None:
            return None
        if isinstance(chosen, dict):
            return np.array([chosen.get(c, 1.0) for c in self.classes_.tolist()], dtype=np.float64)
        present = totals > 0
        factors = np.ones(len(totals))
        factors[present] = totals.sum() / (present.sum() * totals[present])
        return factors

    def _keep_dtype(self, data: Data) -> None:
        """Round fitted arrays to float32 where the rows are float32 and the method keeps that."""
        if not (self.natively.float32 and data.is_float32):
            return
        for name, value in self._public().items():
            is_double = isinstance(value, np.ndarray) and value.dtype == np.float64
            if is_double and name not in self._always_float64:
                setattr(self, name, value.astype(np.float32))

    def _keep(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _require_fitted(self) -> None:
        if "n_features_in_" not in vars(self):  # what every fit sets; the whole check is slow
            check_is_fitted(self)

    def _each_block(self, function: Callable[[Any], Any], X: Any) -> Any:
        """``function`` of every block of rows, on threads, put together in order.

        Where ``natively.float32``, floats for float32 rows are float32.
        """
        self._require_fitted()
        return put_together([self._in_dtype(function, rows) for rows in intake.blocks_of(self, X)])

    def _in_dtype(self, function: Callable[[Any], Any], rows: Any) -> Any:
        values = self._on_threads(function, rows)
        keep = self.natively.float32 and rows.dtype == np.float32
        return values.astype(np.float32) if keep and values.dtype == np.float64 else values

    def _rows_at_once(self, rows: Any) -> int:
        """Rows in a block of a prediction."""
        return rows_per_chunk(rows.shape[1])

    def _on_threads(self, function: Callable[[Any], Any], rows: Any) -> Any:
        n = rows.shape[0]
        size = self._rows_at_once(rows)
        if n <= size:
            return next(in_order(function, [as_float_rows(rows)], 1))
        pace = Pace()
        with one_blas_thread():
            first = pace.timed(function)(as_float_rows(rows[:size]))
        jobs = getattr(self, "n_jobs", None)
        if sp.issparse(first):
            blocks = (as_float_rows(rows[start : start + size]) for start in range(size, n, size))
            return put_together([first, *in_order(function, blocks, jobs, short=True, pace=pace)])
        whole = np.empty((n, *first.shape[1:]), dtype=first.dtype)
        whole[:size] = first

        def write(start: int) -> None:
            whole[start : start + size] = function(as_float_rows(rows[start : start + size]))

        for _ in in_order(write, range(size, n, size), jobs, short=True, pace=pace):
            pass
        return whole


def put_together(parts: list[Any]) -> Any:
    """Blocks of rows, dense or sparse, below each other."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


class Classifier(ClassifierMixin, Learner):
    """A learner of classes: gives ``_proba(rows)``, the probability of each class per row.

    For a target of several columns (``_many_targets``), ``classes_`` is a list, the target of
    `Data` has a column of codes per output, and ``_proba`` gives the probabilities of all outputs
    side by side.
    """

    _target = "classes"
    _stored: ClassVar[Any] = {
        "classes_": CLASSES,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._many_targets
        return tags

    def _proba(self, rows: Any) -> np.ndarray:
        """Probabilities of shape (n, n_classes) for a block of rows."""
        raise NotImplementedError

    def _by_output(self, proba: np.ndarray) -> list[np.ndarray]:
        """The probabilities of each of several outputs."""
        ends = np.cumsum([len(classes) for classes in self.classes_])
        return np.split(proba, ends[:-1], axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; a list of such arrays for several outputs.
        """
        proba = self._each_block(self._proba, X)
        return self._by_output(proba) if isinstance(self.classes_, list) else proba

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the probability of each class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in proba] if isinstance(proba, list) else np.log(proba)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        best = self._each_block(lambda rows: self._most_probable(self._proba(rows)), X)
        if not isinstance(self.classes_, list):
            return self.classes_[best]
        return np.stack([known[best[:, k]] for k, known in enumerate(self.classes_)], axis=1)

    def _most_probable(self, proba: np.ndarray) -> np.ndarray:
        """The code of the most probable class, per row (and output)."""
        if not isinstance(self.classes_, list):
            return proba.argmax(axis=1)
        return np.stack([each.argmax(axis=1) for each in self._by_output(proba)], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is right.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or str
            The true classes, or the name of their column in X.
        sample_weight : array-like of shape (n_samples,) or str, default=None

        Returns
        -------
        accuracy : float
        """
        return super().score(*intake.take_truth(self, X, y, sample_weight))


class Regressor(RegressorMixin, Learner):
    """A learner of numbers: gives ``_estimate(rows)``, one number (or several) per row."""

    _target = "numbers"

    def _estimate(self, rows: Any) -> np.ndarray:
        """Estimates for a block of rows."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The estimated target, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._each_block(self._estimate, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2, the share of the target's variance that is explained.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets) or str
            The true numbers, or the name of their column in X.
        sample_weight : array-like of shape (n_samples,) or str, default=None

        Returns
        -------
        r2 : float
        """
        return super().score(*intake.take_truth(self, X, y, sample_weight))


class Clusterer(ClusterMixin, Learner):
    """A learner of groups: gives ``_nearest(rows)``, the group of each row, and ``labels_``."""

    def _nearest(self, rows: Any) -> np.ndarray:
        """The group of each row of a block."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The group of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._each_block(self._nearest, X)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the groups and give the group of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like, default=None

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.fit(X, y, sample_weight=sample_weight).labels_


class DensityEstimator(DensityMixin, Learner):
    """A learner of a density: gives ``_log_density(rows)``."""

    def _log_density(self, rows: Any) -> np.ndarray:
        """Logarithm of the density at each row of a block."""
        raise NotImplementedError

    def score_samples(self, X: Any) -> np.ndarray:
        """Logarithm of the density at each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._each_block(self._log_density, X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean logarithm of the density.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        score : float
        """
        return float(self.score_samples(X).mean(dtype=np.float64))


class Transformer(TransformerMixin, Learner):
    """A learner of a map: gives ``_map(rows)``, new coordinates per row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.natively.float32:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _map(self, rows: Any) -> np.ndarray:
        """New coordinates of a block of rows."""
        raise NotImplementedError

    def transform(self, X: Any) -> np.ndarray:
        """New coordinates of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_out)
        """
        return self._each_block(self._map, X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the map and apply it to the same rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like, default=None
        sample_weight : array-like, default=None

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_out)
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)
