"""What all selectors share: any table, features of several columns, a target of either kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gnomon.contract import Data, Transformer, intake
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, share, whole
from gnomon.engine.stored import Array, Optional, Text
from gnomon.engine.threads import resolve_jobs
from gnomon.select.problem import Problem
from gnomon.table.kinds import Kind
from gnomon.table.scan import Scan
from gnomon.table.table import Table

TASK = [StrOptions({"auto", "classify", "regress"})]
COUNT = [whole(1), share()]
MOST_CLASSES = 20  # judgement: more whole numbers as a target are asked about, not guessed
NUMBERS = (Kind.NUMBER, Kind.INTEGER, Kind.DATETIME)


class Selector(Transformer):
    """A transformer that keeps some features; a method writes ``_select(problem)``.

    ``_select`` calls ``_keep_features``; what that sets is documented by the method. Selection
    happens in ``fit``: in a pipeline it sees the training rows of each fold only.
    """

    _stored = {
        "classes_": Optional(Array("fi", ("n_classes",))),
        "columns_": Array("i8", (None,), low=0, below="n_columns"),
        "ranking_": Array("i8", ("n_features_in_",), low=0),
        "support_": Array("b", ("n_features_in_",)),
        "target_kind_": Text(),
    }

    @property
    def _target(self):
        return getattr(self, "target_kind_", "numbers")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _learn(self, X, y, sample_weight):
        self.target_kind_ = self._kind_of(X, y)
        return super()._learn(X, y, sample_weight)

    def _kind_of(self, X, y) -> str:
        """ "classes" or "numbers", from ``task`` or from the target itself."""
        found = _seen_kind(X, y)
        if self.task == "auto":
            return found if found != "many values" else "numbers"
        if self.task == "classify" and found == "numbers":
            raise DataError(
                "task='classify' wants classes, and the target holds numbers with fractions "
                "(continuous). Unknown label type; use task='regress' or turn them into classes"
            )
        return "classes" if self.task == "classify" else "numbers"

    def _class_weights(self, totals: np.ndarray) -> None:
        """Selectors weigh classes as they come."""

    def _fit(self, data: Data) -> None:
        members, names, places = self._features(data)
        n_classes = len(self.classes_) if self.target_kind_ == "classes" else 0
        if not n_classes:
            self.__dict__.pop("classes_", None)
        self._places = places
        try:
            self._select(Problem.of(data, members, names, n_classes))
        finally:
            del self._places

    def _features(self, data: Data) -> tuple[list[np.ndarray], list[str], np.ndarray]:
        """Columns, name and position in the table of each feature that can be used."""
        encoder = getattr(self, "encoder_", None)
        if encoder is None:
            columns = [np.array([j]) for j in range(data.n_columns)]
            return columns, list(data.columns.names), np.arange(data.n_columns)
        members, names, start = [], [], 0
        for code in encoder.codes:
            stop = start + len(code.names)
            if stop > start:
                members.append(np.arange(start, stop))
                names.append(code.name)
            start = stop
        return members, names, np.array([encoder.names_in.index(name) for name in names])

    def _select(self, problem: Problem) -> None:
        raise NotImplementedError

    def _keep_features(self, problem: Problem, kept, order) -> None:
        """Keep some features.

        Parameters
        ----------
        problem : Problem
        kept : sequence of int
            The features to keep, one at least.
        order : sequence of int
            All features, the best first.
        """
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self._places[sorted(kept)]] = True
        self.ranking_ = np.full(self.n_features_in_, problem.n_features + 1, dtype=np.int64)
        self.ranking_[self._places[np.asarray(order, dtype=np.int64)]] = np.arange(
            1, len(order) + 1
        )
        self.columns_ = problem.columns(kept)

    def _spread(self, values: np.ndarray, missing: float = np.nan) -> np.ndarray:
        """Figures of the features that are used, at their places in the table."""
        whole = np.full((self.n_features_in_, *values.shape[1:]), missing)
        whole[self._places] = values
        return whole

    def _wanted(self, problem: Problem, n_features: Any) -> int:
        """A number of features from a number or a share."""
        if isinstance(n_features, float):
            return max(int(np.floor(n_features * problem.n_features)), 1)
        return min(int(n_features), problem.n_features)

    def _map(self, rows) -> np.ndarray:
        return np.ascontiguousarray(rows[:, self.columns_])

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which columns of the table are kept.

        Parameters
        ----------
        indices : bool, default=False
            Positions instead of a mask.

        Returns
        -------
        support : ndarray
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that come out.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns that go in, where ``fit`` saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        encoder = getattr(self, "encoder_", None)
        if encoder is not None:
            names = np.array(encoder.columns.names, dtype=object)
        return np.asarray(names, dtype=object)[self.columns_]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        """Distinct rows, standardised rows and their parts, on every thread a few columns."""
        threads = resolve_jobs(getattr(self, "n_jobs", None))
        return int(8 * n_rows * (4 * n_columns + 24 + 4 * threads) + 8 * 3 * n_columns**2)

    def _memory_remedy(self) -> str:
        return "Select on a part of the rows, or leave columns out beforehand."


def _seen_kind(X, y) -> str:
    """What a target looks like: "classes", "numbers" or "many values" (whole numbers, many)."""
    if isinstance(y, str):
        if isinstance(X, Scan):
            known = y in X.schema.names and X.schema[y].kind in NUMBERS
            return "numbers" if known else "classes"
        table = X if isinstance(X, Table) else intake.as_table(X)
        if y not in table.columns:
            return "numbers"
        y = table.column(y).to_numpy(zero_copy_only=False) if len(table) else []
    if y is None:
        return "numbers"
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if values.dtype.kind == "f":
        values = values[np.isfinite(values)]
    try:
        kind = type_of_target(values)
    except (ValueError, TypeError):
        return "numbers"
    if kind.startswith("continuous") or kind == "unknown":
        return "numbers"
    if values.dtype.kind in "iuf" and len(np.unique(values)) > MOST_CLASSES:
        return "many values"
    return "classes"
