"""Bins of number columns as scikit-learn makes them."""

from __future__ import annotations

import numpy as np
from sklearn import preprocessing

from gnomon.contract.written_out import is_whole
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, Options, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.prepare.base import COLUMNS
from gnomon.prepare.wrapped import WrappedFilter

QUANTILES = {
    "averaged_inverted_cdf",
    "closest_observation",
    "hazen",
    "interpolated_inverted_cdf",
    "inverted_cdf",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "weibull",
}
MOST_WRITTEN_OUT = 2**24  # repeated rows; beyond, the tolerance of k-means ignores weights


@method(
    task="filter",
    texts="003 2.1.9.2",
    use="To let a linear method follow bent relations, or give numbers to a method of categories.",
    avoid="Trees, which choose better cuts themselves; small tables.",
    peers=("sklearn.preprocessing.KBinsDiscretizer",),
    on="scikit-learn",
    synonyms=("binning", "discretize"),
)
class KBinsDiscretizer(WrappedFilter):
    """Number columns to the bins that their values fall in.

    Use it to let a linear method follow bent relations. Not for trees, which choose better cuts
    themselves: what lies within a bin is lost. `Discretize` differs: its number of bins follows
    the number of rows, and its result is one column of bin numbers.

    Texts: 003 2.1.9.2. On arrays it is scikit-learn's class; of a table, the result is dense.

    Parameters
    ----------
    n_bins : int or array-like of int, default=5
        Bins of each column.
    encode : {"onehot", "onehot-dense", "ordinal"}, default="onehot"
        One column per bin (sparse or dense), or bin numbers.
    strategy : {"uniform", "quantile", "kmeans"}, default="quantile"
        Bins of equal width, of equal numbers of rows, or around centers of clusters.
    quantile_method : str, default="averaged_inverted_cdf"
        How quantiles are computed, as in `numpy.percentile`.
    dtype : numpy type or None, default=None
        Type of the result; that of the rows for None.
    subsample : int or None, default=200000
        Rows, drawn at random, that the bins are computed from where there are more.
    random_state : int, RandomState instance or None, default=None
        Seed of that draw.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns of a table, and all columns of an array.

    Attributes
    ----------
    bin_edges_ : ndarray of ndarray
        The borders of the bins of each column concerned.
    n_bins_ : ndarray of int
        Bins of each.
    fill_ : ndarray
        What stands for missing cells of a table, where it was fitted on one.
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
    >>> from gnomon.prepare import KBinsDiscretizer
    >>> KBinsDiscretizer(2, encode="ordinal").fit_transform([[1.0], [2.0], [7.0], [9.0]]).ravel()
    array([0., 0., 1., 1.])
    """

    _peer = preprocessing.KBinsDiscretizer
    _inner_classes = (preprocessing.OneHotEncoder,)
    _parameter_constraints = {
        "n_bins": [whole(2), "array-like"],
        "encode": [StrOptions({"onehot", "onehot-dense", "ordinal"})],
        "strategy": [StrOptions({"uniform", "quantile", "kmeans"})],
        "quantile_method": [StrOptions(QUANTILES)],
        "dtype": [Options(type, {np.float64, np.float32}), None],
        "subsample": [whole(1), None],
        "random_state": SEED,
        "columns": COLUMNS,
    }
    _stored = {
        "bin_edges_": Array("O", ("n_bin_edges",)),
        "n_bins_": Array("i8", ("n_bin_edges",), low=0),
    }

    def __init__(
        self,
        n_bins=5,
        *,
        encode="onehot",
        strategy="quantile",
        quantile_method="averaged_inverted_cdf",
        dtype=None,
        subsample=200_000,
        random_state=None,
        columns=None,
    ):
        self.n_bins = n_bins
        self.encode = encode
        self.strategy = strategy
        self.quantile_method = quantile_method
        self.dtype = dtype
        self.subsample = subsample
        self.random_state = random_state
        self.columns = columns

    def _check_loaded(self) -> None:
        if not hasattr(self, "bin_edges_") or self.encode == "ordinal":
            return
        known = self._inner()._encoder.categories_
        whole = (np.array_equal(found, np.arange(n)) for found, n in zip(known, self.n_bins_))
        if len(known) != len(self.n_bins_) or not all(whole):
            raise ValueError("the categories of the bins are not their numbers")

    @property
    def _one_to_one(self) -> bool:  # type: ignore[override]
        return self.encode == "ordinal"

    def _checked_array(self, X):
        X = super()._checked_array(X)
        whole = isinstance(X, np.ndarray) and X.dtype.kind in "bui"
        return X.astype(np.float64) if whole else X

    def _fitted(self, X, weights):
        if self.strategy == "kmeans":
            X, weights = self._for_k_means(self._checked_array(X), weights)
        try:
            return super()._fitted(X, weights)
        except IndexError:
            raise DataError(
                "KBinsDiscretizer: the values of a column lie so close together (within 1e-8) that "
                "no bin is left; rescale the column"
            ) from None

    def _for_k_means(self, X, weights):
        """Rows for scikit-learn's k-means of each column, such that weights are repetitions.

        It scales ``tol`` by the variance of rows without weights and fills empty clusters from
        rows without weights, in an order that follows that of the rows: whole weights are written
        out, and each column, which is clustered alone, is sorted.
        """
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
            return X, weights
        if weights is not None and is_whole(weights, len(X)) and weights.sum() <= MOST_WRITTEN_OUT:
            X, weights = np.repeat(X, weights.astype(np.int64), axis=0), None
        drawn = self.subsample is not None and len(X) > self.subsample
        return (X if drawn or weights is not None else np.sort(X, axis=0)), weights
