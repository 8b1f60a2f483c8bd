"""PeerSums: a class of scikit-learn whose fit needs sums over rows only, so that it streams.

Rows of a scan, of an array or a frame of Dask, and rows on the workers of a cluster are summed
chunk by chunk; scikit-learn's code makes the model of the sums. Dense rows in memory are summed in
the same chunks, so that the bits are the same. Rows of one chunk, wherever they are, go to
scikit-learn's fit, as do sparse rows and those of float32 in memory.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract import intake
from gnomon.contract.data import Data
from gnomon.contract.intake.streams import is_lazy_array, is_lazy_frame
from gnomon.contract.over_scikit_learn import OF_TABLE, OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.products import inner
from gnomon.engine.sums import ArraySource, Chunk, Source, add_up, rows_per_chunk
from gnomon.table.scan import Scan, scan


class PeerSums(OverScikitLearn):
    """Mixin for a class of scikit-learn, instead of `OverScikitLearn`, whose fit is made of sums.

    A method gives ``_fit_sums(source)``, which sets the fitted attributes of scikit-learn's class;
    ``classes_`` and ``n_features_in_`` are known by then.
    """

    @property
    def _takes_streams(self) -> bool:
        """Whether rows are summed chunk by chunk, with the parameters as they are."""
        return True

    def _fit_sums(self, source: Source) -> None:
        raise NotImplementedError

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        streamed = isinstance(X, Scan) or is_lazy_array(X) or is_lazy_frame(X)
        if more or not streamed or not self._takes_streams:
            return super()._taken(X, given, more)
        X = scan(X) if is_lazy_frame(X) else X
        y = given.get("y") if self._target else None
        data = intake.take_in(self, X, y, given.get("sample_weight"))
        of_table = {name: self.__dict__.pop(name) for name in OF_TABLE if name in vars(self)}
        if data.n_rows > rows_per_chunk(data.n_columns):
            return data, given, of_table
        self.__dict__.pop("classes_", None)
        return super()._taken(X, given, more)

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        source: Source | None = None
        if isinstance(rows, Data):
            self.n_features_in_ = rows.n_columns
            source = rows.source
        elif fit.func.__name__ in ("fit", "fit_transform") and can_be_summed(rows):
            source = self._source_in_memory(rows, given)
        if source is None:
            return super()._fit_peer(fit, rows, given)
        self._fit_sums(source)
        if fit.func.__name__ == "fit":
            return self
        return self.transform(rows.rows if isinstance(rows, Data) else rows)

    def _source_in_memory(self, rows: np.ndarray, given: dict[str, Any]) -> Source | None:
        """Rows in memory, checked as scikit-learn does; None where its own fit takes them."""
        return None


def can_be_summed(rows: Any) -> bool:
    """Whether rows in memory are summed as those of a stream: dense doubles of several chunks."""
    if not (isinstance(rows, np.ndarray) and rows.ndim == 2) or rows.dtype == np.float32:
        return False
    return len(rows) > rows_per_chunk(rows.shape[1])


def per_class(y: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """The weight of each row in the column of its class, zeros in the others."""
    found = np.zeros((len(y), n_classes))
    found[np.arange(len(y)), y] = 1.0 if weights is None else weights
    return found


class ClassSums(NamedTuple):
    """Sums of rows, by class.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
    total : ndarray of shape (n_classes, n_columns)
    """

    weight: np.ndarray
    total: np.ndarray


def sums_by_class(
    n_classes: int, threshold: float | None, peer: str | None, chunk: Chunk
) -> ClassSums:
    """Sums of the rows of a chunk by class.

    Parameters
    ----------
    n_classes : int
    threshold : float or None
        Count the values above it, instead of adding the values.
    peer : str or None
        Refuse negative values in this one's name.
    chunk : Chunk
        Its target are codes of classes, or a column of weights for each class.
    """
    rows, y = chunk.rows, chunk.y
    assert y is not None
    if threshold is not None:
        rows = (rows > threshold).astype(np.float64)
    if peer is not None and (rows < 0).any():
        raise DataError(f"Negative values in data passed to {peer}.")
    weights = chunk.weights if chunk.weighted else None
    by_class = per_class(y, weights, n_classes) if y.ndim == 1 else y.astype(np.float64)
    return ClassSums(by_class.sum(axis=0), inner(np.ascontiguousarray(by_class), rows))


class Moments(NamedTuple):
    """Means and sums of squares about them, by class.

    Attributes
    ----------
    weight : ndarray of shape (n_classes,)
    means : ndarray of shape (n_classes, n_columns)
    squares : ndarray of shape (n_classes, n_columns)
        Weighted sums of squared distances from the means.
    """

    weight: np.ndarray
    means: np.ndarray
    squares: np.ndarray

    @property
    def overall_mean(self) -> np.ndarray:
        return self.weight @ self.means / self.weight.sum()

    @property
    def between(self) -> np.ndarray:
        """Sum over the rows of squared distances of their class's mean from the mean of all."""
        return self.weight @ (self.means - self.overall_mean) ** 2

    @property
    def variances(self) -> np.ndarray:
        """Variance of each column over all rows."""
        return (self.squares.sum(axis=0) + self.between) / self.weight.sum()


def moments_by_class(source: Source, n_classes: int) -> Moments:
    """Two passes: means by class, then squares about them, exact for columns far from zero too."""
    weight, total = add_up(partial(sums_by_class, n_classes, None, None), source)
    held = np.where(weight > 0, weight, 1.0)[:, None]
    means = total / held
    rest, squares = add_up(partial(_squares_by_class, means), source)
    return Moments(weight, means + rest / held, np.maximum(squares - rest**2 / held, 0.0))


def _squares_by_class(means: np.ndarray, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    assert chunk.y is not None
    by_class = per_class(chunk.y, chunk.weights if chunk.weighted else None, len(means))
    apart = chunk.rows - means[chunk.y]
    return inner(by_class, apart), inner(by_class, apart**2)


def source_of(rows: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> ArraySource:
    """Rows in memory as a source."""
    return ArraySource(rows, y, None if weights is None else np.asarray(weights, np.float64))


class CorrelationSums(NamedTuple):
    """Sums of products of columns with a target, about means."""

    of_rows: np.ndarray
    of_target: float
    products: np.ndarray
    squares: np.ndarray
    target_squares: float


def correlation_sums(source: Source) -> CorrelationSums:
    """Two passes: means of columns and target, then products and squares about them."""
    weight, total, target = add_up(_totals, source)
    means, mean = total / weight, target / weight
    rest, left, products, squares, own = add_up(partial(_products, means, mean), source)
    return CorrelationSums(
        rest,
        left,
        products - rest * left / weight,
        np.maximum(squares - rest**2 / weight, 0.0),
        max(own - left**2 / weight, 0.0),
    )


def _totals(chunk: Chunk) -> tuple[float, np.ndarray, float]:
    y = np.asarray(chunk.y, np.float64)
    return float(len(y)), np.ones(len(y)) @ chunk.rows, float(y.sum())


def _products(means: np.ndarray, mean: float, chunk: Chunk) -> tuple[Any, ...]:
    apart, y = chunk.rows - means, np.asarray(chunk.y, np.float64) - mean
    ones = np.ones(len(y))
    return ones @ apart, float(y.sum()), y @ apart, ones @ apart**2, float(y @ y)
