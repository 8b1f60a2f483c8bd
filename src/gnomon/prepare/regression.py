"""Missing numbers predicted from the other columns."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import HISTORY, HasMethods, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object
from gnomon.prepare.base import COLUMNS, NumberFilter, weighted_mean
from gnomon.table.encode import TableEncoder
from gnomon.table.grid import Grid
from gnomon.table.kinds import Kind
from gnomon.table.schema import Schema
from gnomon.table.table import Table


@storable
class RidgeLine:
    """Least squares with a small penalty on standardised predictors."""

    _stored = {
        "alpha": Number(),
        "level": Number(),
        "mean": Array("f8", ("n_mean",)),
        "scale": Array("f8", ("n_mean",), finite=False, low=0.0),
        "slopes": Array("f8", ("n_mean",)),
    }

    def __init__(self, alpha: float):
        self.alpha = alpha

    def fit(self, rows: np.ndarray, y: np.ndarray, sample_weight: np.ndarray) -> RidgeLine:
        mass = sample_weight.sum()
        self.mean = sample_weight @ rows / mass
        self.level = float(sample_weight @ y / mass)
        centered = rows - self.mean
        spread = np.sqrt(sample_weight @ centered**2 / mass)
        self.scale = np.where(spread > 1e-12 * (1 + np.abs(self.mean)), spread, np.inf)
        centered /= self.scale
        products = (centered * sample_weight[:, np.newaxis]).T @ centered
        products[np.diag_indices_from(products)] += self.alpha * mass
        self.slopes = np.linalg.solve(products, centered.T @ (sample_weight * (y - self.level)))
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return ((rows - self.mean) / self.scale) @ self.slopes + self.level


@method(
    task="filter",
    texts="000b 10 (introduction)",
    use="Holes in columns that the other columns tell something about.",
    avoid="Columns unrelated to all others (Impute does as well); holes that carry information.",
    peers=("sklearn.impute.IterativeImputer",),
)
class RegressionImpute(NumberFilter):
    """Missing numbers become what a regression on all other columns predicts.

    Holes start as the column's mean; then, in rounds, each column is regressed on all others over
    the rows where it is known, and its holes take the predictions. The other columns of a table
    (categories, dates ...) take part as predictors and pass through. All columns get a
    regression, so that holes may also appear later in columns that were complete in training;
    each row is filled on its own, in as many rounds as training took.

    Use it where columns tell something about each other; any regressor will do (000b: even pixels
    under text). Filled cells stay filled on the way back. Texts: 000b chapter 10, introduction (a
    mention).

    Parameters
    ----------
    estimator : regressor or None, default=None
        Fitted for each column, on numbers; None for least squares with a small ridge penalty.
    alpha : float, default=1e-3
        Ridge penalty per row on standardised predictors, when ``estimator`` is None.
    max_iter : int, default=10
        Most rounds.
    tol : float, default=1e-3
        Rounds end when no hole changes by more than this many standard deviations of its column.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the holes' values after each round.
    columns : list of str or int, or None, default=None
        Columns to fill; None for all number columns.

    Attributes
    ----------
    mean_ : ndarray of shape (n_columns,)
        Mean of the known values of each column concerned: the start.
    models_ : list
        The regression of each column concerned; None where there was nothing to learn from.
    n_iter_ : int
        Rounds made.
    history_ : History
        The largest move of a hole in each round, in standard deviations.
    beside_ : ndarray of int
        Positions of the other columns that take part as predictors.
    encoder_ : TableEncoder or None
        How the other columns of a table become predictors.
    positions_ : ndarray of int
        Positions of the columns concerned.
    kinds_ : list of str
        Kinds of all columns seen in ``fit``.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.prepare import RegressionImpute
    >>> rows = [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, float("nan")]]
    >>> RegressionImpute().fit_transform(rows)[3].round(1)
    array([4., 8.])
    """

    natively = Takes(missing=True)
    _fills = True
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "keep_history": HISTORY,
        "columns": COLUMNS,
    }
    _stored = {
        "beside_": Array("i8", (None,), low=0),
        "mean_": Array("f8", ("n_mean",)),
        "models_": ListOf(Object(("RidgeLine",)) | None, "n_mean"),
    }

    def __init__(
        self,
        estimator=None,
        *,
        alpha=1e-3,
        max_iter=10,
        tol=1e-3,
        keep_history="objective",
        columns=None,
    ):
        self.estimator = estimator
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.columns = columns

    def _fit_columns(self, grid, columns, weights):
        filled = set(self.positions_.tolist())
        beside = [
            position
            for position, column in enumerate(columns)
            if position not in filled and column.kind not in (Kind.IDENTIFIER, Kind.TEXT)
        ]
        self.beside_ = np.array(beside, dtype=np.int64)
        self.encoder_ = None
        if beside:
            schema = Schema(columns[position] for position in beside)
            arrays = [grid.column(position) for position in beside]
            table = Table(pa.table(arrays, names=schema.names), schema)
            self.encoder_ = TableEncoder(Takes()).fit(table, weights)
        block = self._block(grid)
        weights = np.ones(len(block)) if weights is None else weights
        self._fit_rounds(block, self._beside(grid), weights)

    def _beside(self, grid: Grid) -> np.ndarray:
        """The other columns as numbers."""
        if self.encoder_ is None:
            return np.empty((grid.n_rows, 0))
        names = [code.name for code in self.encoder_.codes]
        columns = {name: grid.column(p) for name, p in zip(names, self.beside_)}
        return self.encoder_.transform(ColumnsByName(columns, grid.n_rows))

    def _fit_rounds(self, block, beside, weights):
        self.mean_ = weighted_mean(block, weights)
        missing = np.isnan(block)
        filled = np.where(missing, self.mean_, block)
        spread = np.sqrt(weights @ (filled - self.mean_) ** 2 / weights.sum())
        spread[spread == 0] = np.inf
        course = self._course("round", self.max_iter)
        for round_number in course:
            self.models_ = []
            change = self._round(
                filled, missing, beside, weights, np.where(spread > 0, spread, np.inf)
            )
            self.n_iter_ = round_number + 1
            if course.end_step(
                change,
                change <= self.tol,
                state=lambda: {"holes": filled[missing]},
                attributes=self._public,
            ):
                break
        self.history_ = course.history
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"RegressionImpute stopped after max_iter={self.max_iter} rounds; holes still "
                f"moved by {self.history_[-1]:.2g} standard deviations. Allow more rounds or a "
                "larger tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _round(self, filled, missing, beside, weights, spread) -> float:
        """Fit each column's regression and move its holes; gives the largest move."""
        change = 0.0
        for place in range(filled.shape[1]):
            holes = missing[:, place]
            model = self._fitted(filled, beside, place, ~holes, weights)
            self.models_.append(model)
            if model is not None and holes.any():
                predicted = model.predict(_without(filled, beside, place)[holes])
                moved = np.abs(predicted - filled[holes, place]).max()
                change = max(change, float(moved / spread[place]))
                filled[holes, place] = predicted
        return change

    def _fitted(self, filled, beside, place, known, weights):
        rows = _without(filled, beside, place)[known]
        if len(rows) < 2 or rows.shape[1] == 0:
            return None
        y = filled[known, place]
        if self.estimator is None:
            return RidgeLine(self.alpha).fit(rows, y, weights[known])
        model = clone(self.estimator)
        if has_fit_parameter(model, "sample_weight"):
            return model.fit(rows, y, sample_weight=weights[known])
        if not np.all(weights == 1):
            raise DataError(
                f"{type(model).__name__} takes no sample_weight; give another, or no weights"
            )
        return model.fit(rows, y)

    def _changed(self, grid):
        filled = self._filled(self._block(grid), self._beside(grid))
        places = {position: place for place, position in enumerate(self.positions_.tolist())}
        values, passed = [], []
        for position in range(len(grid.names)):
            place = places.get(position)
            values.append(grid.passed(position) if place is None else filled[:, place])
            passed.append(position if place is None else -1)
        return values, passed

    def _filled(self, block: np.ndarray, beside: np.ndarray) -> np.ndarray:
        missing = np.isnan(block)
        filled = np.where(missing, self.mean_, block)
        gone = missing.any(axis=1)
        if not gone.any():
            return filled
        part, holes, beside = filled[gone], missing[gone], beside[gone]
        for _ in range(self.n_iter_):
            for place, model in enumerate(self.models_):
                here = holes[:, place]
                if model is not None and here.any():
                    part[here, place] = model.predict(_without(part, beside, place)[here])
        filled[gone] = part
        return filled

    def _backward(self, block):
        return block

    def _working_memory(self, n_rows, n_columns):
        return 8 * (8 * n_rows * n_columns + 4 * n_columns**2)


class ColumnsByName:
    """Just enough of a table for an encoder: columns by name."""

    def __init__(self, columns: dict[str, pa.ChunkedArray], n_rows: int):
        self.columns = columns
        self.n_rows = n_rows

    def __len__(self) -> int:
        return self.n_rows

    def column(self, name: str) -> pa.ChunkedArray:
        return self.columns[name]


def _without(filled: np.ndarray, beside: np.ndarray, place: int) -> np.ndarray:
    """All predictors of one column."""
    return np.column_stack([np.delete(filled, place, axis=1), beside])
