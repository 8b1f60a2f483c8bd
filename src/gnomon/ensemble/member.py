"""Members: learners of any library, fitted on a part of a table, which predict any rows.

Learners of this library get the table itself and encode it inside; others get numbers through a
`TableEncoder` that is fitted on the member's own training rows, so that nothing leaks. Classes
are codes 0, 1, 2 ... inside an ensemble; a member that saw fewer of them gives probability zero to
the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from gnomon.engine.draw import GREATEST_SEED
from gnomon.engine.errors import DataError, MemoryLimitError
from gnomon.engine.estimator import Estimator, Takes
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Object, Text
from gnomon.ensemble.lots import Part, repeated, resampled
from gnomon.evaluate import BaselineClassifier
from gnomon.table.encode import TableEncoder
from gnomon.table.table import Table

Rows = Any


@storable
@dataclass
class Member:
    """A fitted learner in an ensemble.

    Attributes
    ----------
    name : str
    estimator : object
        The fitted learner; its classes are the ensemble's class codes.
    encoder : TableEncoder or None
        What turns tables into numbers for learners of other libraries.
    columns : ndarray of int or None
        The columns that it sees; None for all.
    """

    name: str
    estimator: Any
    encoder: TableEncoder | None = None
    columns: np.ndarray | None = None
    _stored = {
        "columns": Array("i8", (None,), low=0) | None,
        "encoder": Object(("TableEncoder",)) | None,
        "estimator": Object(),
        "name": Text(),
    }

    def given(self, rows: Rows) -> Rows:
        """The rows as the learner takes them."""
        if self.columns is not None:
            rows = take_columns(rows, self.columns)
        return rows if self.encoder is None else encoded(self.encoder, rows)

    def proba(self, rows: Rows, n_classes: int) -> np.ndarray:
        """Probability of each class code; votes of one where the learner has no probabilities."""
        if not hasattr(self.estimator, "predict_proba"):
            return one_hot(self.codes(rows), n_classes)
        known = np.asarray(self.estimator.predict_proba(self.given(rows)), dtype=np.float64)
        classes = np.asarray(self.estimator.classes_, dtype=np.int64)
        if len(classes) == n_classes:
            return known
        proba = np.zeros((known.shape[0], n_classes))
        proba[:, classes] = known
        return proba

    def codes(self, rows: Rows) -> np.ndarray:
        """The class code that it predicts for each row."""
        return np.asarray(self.estimator.predict(self.given(rows))).astype(np.int64)

    def votes(self, rows: Rows, n_classes: int) -> np.ndarray:
        """One for the predicted class, zero for the others."""
        return one_hot(self.codes(rows), n_classes)

    def estimate(self, rows: Rows) -> np.ndarray:
        """The number that it predicts for each row."""
        found = np.asarray(self.estimator.predict(self.given(rows)), dtype=np.float64)
        return found.reshape(len(found)) if found.ndim == 2 and found.shape[1] == 1 else found


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Unit vectors of class codes."""
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)


def take_columns(rows: Rows, columns: np.ndarray) -> Rows:
    """Some columns, by position."""
    if isinstance(rows, Table):
        return rows.select([rows.columns[j] for j in columns])
    return rows[:, columns]


def add_columns(rows: Rows, values: np.ndarray, names: Iterable[str], first: bool = False) -> Rows:
    """The rows with further columns of numbers, which stand first in arrays where wanted."""
    if isinstance(rows, Table):
        for name, column in zip(names, values.T, strict=True):
            rows = rows.with_column(name, np.ascontiguousarray(column), kind="number")
        return rows
    if sp.issparse(rows):
        parts = [rows, sp.csr_array(values)]
        return sp.csr_array(sp.hstack(parts[::-1] if first else parts))
    return np.hstack([values, rows] if first else [rows, values])


def encoded(encoder: TableEncoder, table: Rows) -> np.ndarray:
    """Rows of numbers, refusing infinite ones."""
    if not isinstance(table, Table):
        return table
    rows = encoder.transform(table)
    infinite = np.isinf(rows)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(
            f"column {encoder.columns.names[column]!r}, row {row} is infinite; "
            "mark it as missing or put a finite number there"
        )
    return rows


def takes_weights(estimator) -> bool:
    """Whether ``fit`` of the learner takes ``sample_weight``."""
    return has_fit_parameter(estimator, "sample_weight")


def takes_missing(estimator) -> bool:
    """Whether the learner takes missing cells; a pipeline, whether its first step does."""
    steps = getattr(estimator, "steps", None)
    return takes_missing(steps[0][1]) if steps else get_tags(estimator).input_tags.allow_nan


def takes_tables(estimator) -> bool:
    """Whether the learner takes a `Table` as it is: one of this library, or a pipeline of such."""
    steps = getattr(estimator, "steps", None)
    if steps:
        return takes_tables(steps[0][1])
    return isinstance(estimator, Estimator)


def seeded(estimator, seed: int, always: bool):
    """A fresh copy whose random states are drawn from the seed (only those not given, or all)."""
    made = clone(estimator)
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, value in sorted(made.get_params(deep=True).items()):
        if name == "random_state" or name.endswith("__random_state"):
            own = int(rng.integers(GREATEST_SEED))
            if always or value is None:
                drawn[name] = own
    return made.set_params(**drawn) if drawn else made


def fit_member(
    learner,
    name: str,
    training,
    part: Part,
    y: np.ndarray | None = None,
    columns: np.ndarray | None = None,
    seed: int = 0,
) -> Member:
    """Fit a fresh learner on a part of the training rows.

    Parameters
    ----------
    learner : estimator
        Not fitted yet, and the ensemble's to change.
    name : str
        By which errors call it.
    training : Training
    part : Part
    y : ndarray, optional
        A target of the whole table other than the training's own.
    columns : ndarray of int, optional
        The columns that it sees.
    seed : int
        Seed of the draw of rows, for learners that take no weights where weights are not whole.
    """
    positions, weights = part
    if weights is not None and not takes_weights(learner):
        written_out = repeated(part)
        if written_out is None:
            written_out = resampled(part, np.random.default_rng([seed, 1]))
        positions, weights = written_out, None
    elif weights is None and training.is_weighted and takes_weights(learner):
        weights = np.ones(len(positions))
    y = training.y if y is None else y
    rows = training.at(positions)
    return fit_on(learner, name, rows, y[positions], weights, columns)


def fit_on(
    learner,
    name: str,
    rows: Rows,
    y: np.ndarray,
    weights: np.ndarray | None,
    columns: np.ndarray | None = None,
) -> Member:
    """Fit a learner on rows; errors name the learner."""
    if is_classifier(learner) and len(np.unique(y)) == 1:
        learner = BaselineClassifier()  # one class is all that these rows can teach
    given = {} if weights is None else {"sample_weight": weights}
    encoder = None
    try:
        if columns is not None:
            rows = take_columns(rows, columns)
        if isinstance(rows, Table) and not takes_tables(learner):
            takes = Takes(missing=takes_missing(learner))
            encoder = TableEncoder(takes).fit(rows, weights)
            rows = encoded(encoder, rows)
        learner.fit(rows, y, **given)
    except Exception as error:
        raise _refusal(name, learner, error) from error
    return Member(name, learner, encoder, columns)


def _refusal(name: str, learner, error: Exception) -> Exception:
    kind = MemoryLimitError if isinstance(error, MemoryLimitError) else DataError
    kind_of = type(learner).__name__
    called = kind_of if name == kind_of else f"{name!r} ({kind_of})"
    return kind(f"member {called} cannot learn from these data: {error}")


def named(estimators) -> list[tuple[str, Any]]:
    """Learners with their names, from a list of learners or of pairs (name, learner)."""
    found: list[tuple[str, Any]] = []
    for entry in estimators:
        pair = entry if isinstance(entry, tuple) else (type(entry).__name__, entry)
        if len(pair) != 2 or not isinstance(pair[0], str) or not hasattr(pair[1], "fit"):
            raise ValueError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
                f"(string, estimator) tuples, or of estimators; it holds {entry!r}"
            )
        found.append(pair)
    if not found:
        raise ValueError("estimators is empty; give one learner or more")
    names = [name for name, _ in found]
    return [
        (f"{name}-{names[:place].count(name) + 1}" if names.count(name) > 1 else name, learner)
        for place, (name, learner) in enumerate(found)
    ]


def require_kind(name: str, learner, classes: bool) -> None:
    """Refuse a regressor among classifiers, and the other way round."""
    if classes and is_regressor(learner):
        raise ValueError(
            f"member {name!r} is a {type(learner).__name__}, which is not a classifier; "
            "give learners of classes"
        )
    if not classes and is_classifier(learner):
        raise ValueError(
            f"member {name!r} is a {type(learner).__name__}, which is not a regressor; "
            "give learners of numbers"
        )


def seeds(rng: np.random.Generator, n: int) -> Iterator[int]:
    """One seed per member, drawn beforehand, so that threads change nothing."""
    return iter(rng.integers(GREATEST_SEED, size=n).tolist())
