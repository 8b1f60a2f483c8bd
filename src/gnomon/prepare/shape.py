"""Filters that change the shape of a column's distribution: powers and quantiles."""

from __future__ import annotations

import numpy as np
from sklearn import preprocessing

from gnomon.contract.inert import without_effect
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, SEED, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.prepare.base import COLUMNS
from gnomon.prepare.wrapped import Unweighted


@method(
    task="filter",
    texts="000b 10.2 · 004 4.7",
    use="To make skewed columns nearly normal, before methods that assume it.",
    avoid="Columns whose units must stay readable; trees, which do not depend on it.",
    peers=("sklearn.preprocessing.PowerTransformer",),
    on="scikit-learn",
    synonyms=("Box-Cox", "Yeo-Johnson"),
)
@without_effect("copy")
class PowerTransformer(Unweighted):
    """Number columns by the power, found by maximum likelihood, that makes them nearly normal.

    Use it for skewed columns before methods that assume normal ones. Not for trees, which do not
    depend on it. Box-Cox needs numbers above zero, (x^lambda - 1) / lambda; Yeo-Johnson takes all.

    Texts: transforms of skewed columns are in 000b 10.2 and 004 4.7; the powers are those of Box
    and Cox (1964) and of Yeo and Johnson (2000). On arrays it is scikit-learn's class.

    Parameters
    ----------
    method : {"yeo-johnson", "box-cox"}, default="yeo-johnson"
        The family of powers.
    standardize : bool, default=True
        Whether to give the result mean zero and variance one.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns of a table, and all columns of an array.

    Attributes
    ----------
    lambdas_ : ndarray of shape (n_columns,)
        The power of each column concerned.
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
    >>> from gnomon.prepare import PowerTransformer
    >>> PowerTransformer("box-cox").fit_transform([[1.0], [10.0], [100.0]]).round(2).ravel()
    array([-1.22,  0.  ,  1.22])
    """

    natively = Takes(missing=True)
    _peer = preprocessing.PowerTransformer
    _inner_classes = (preprocessing.StandardScaler,)
    _parameter_constraints = {
        "method": [StrOptions({"yeo-johnson", "box-cox"})],
        "standardize": FLAG,
        "columns": COLUMNS,
    }
    _stored = {
        "lambdas_": Array("f", ("n_positions",)),
    }

    def __init__(self, method="yeo-johnson", *, standardize=True, copy=True, columns=None):
        self.method = method
        self.standardize = standardize
        self.copy = copy
        self.columns = columns

    def _fitted(self, X, weights):
        X = self._checked_array(X)
        empty = np.isnan(np.asarray(X, dtype=np.float64)).all(axis=0)
        if empty.any():  # scikit-learn's search of a power needs values; the cells stay missing
            X = np.where(empty, 1.0 + np.arange(len(X))[:, None] % 2, X)
        return super()._fitted(X, weights)

    def _check_loaded(self) -> None:
        if not hasattr(self, "lambdas_") or not self.standardize:
            return
        scaler = self._inner()._scaler
        if not (np.isfinite(scaler.mean_).all() and np.isfinite(scaler.scale_).all()):
            raise ValueError("a PowerTransformer whose means or scales are not finite")


@method(
    task="filter",
    texts="004 4.7",
    use="To give columns of any shape one distribution; outliers lose their distance.",
    avoid="Where distances within a column carry meaning: only the order is kept.",
    peers=("sklearn.preprocessing.QuantileTransformer",),
    on="scikit-learn",
)
@without_effect("copy")
class QuantileTransformer(Unweighted):
    """Number columns by their ranks among the training rows: uniform, or normal.

    Use it for columns of odd shapes and with outliers. Not where distances within a column carry
    meaning: only the order is kept.

    Texts: 004 4.7 (changing the shape of columns); the method is scikit-learn's. On arrays it is
    scikit-learn's class.

    Parameters
    ----------
    n_quantiles : int, default=1000
        Landmarks of the distribution function, at most the number of rows.
    output_distribution : {"uniform", "normal"}, default="uniform"
        The distribution of the result.
    ignore_implicit_zeros : bool, default=False
        Whether cells of sparse rows that are not stored are left out; without it sparse rows
        must not be negative.
    subsample : int or None, default=10000
        Rows, drawn at random, that the quantiles are computed from where there are more.
    random_state : int, RandomState instance or None, default=None
        Seed of that draw.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns of a table, and all columns of an array.

    Attributes
    ----------
    n_quantiles_ : int
        Landmarks that were used.
    quantiles_ : ndarray of shape (n_quantiles_, n_columns)
        The value of each column at each landmark.
    references_ : ndarray of shape (n_quantiles_,)
        The landmarks, between 0 and 1.
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
    >>> from gnomon.prepare import QuantileTransformer
    >>> ranks = QuantileTransformer(n_quantiles=3)
    >>> ranks.fit_transform([[0.0], [1.0], [1000.0]]).ravel()
    array([0. , 0.5, 1. ])
    """

    natively = Takes(missing=True, sparse=True)
    _keeps_rows = True  # as many landmarks as rows, up to n_quantiles
    _peer = preprocessing.QuantileTransformer
    _parameter_constraints = {
        "n_quantiles": [whole(1)],
        "output_distribution": [StrOptions({"uniform", "normal"})],
        "ignore_implicit_zeros": FLAG,
        "subsample": [whole(1), None],
        "random_state": SEED,
        "columns": COLUMNS,
    }
    _stored = {
        "n_quantiles_": Whole(1),
        "quantiles_": Array("f8", ("n_quantiles_", None), missing=True),
        "references_": Array("f8", ("n_quantiles_",), low=0.0),
    }

    def __init__(
        self,
        *,
        n_quantiles=1000,
        output_distribution="uniform",
        ignore_implicit_zeros=False,
        subsample=10_000,
        random_state=None,
        copy=True,
        columns=None,
    ):
        self.n_quantiles = n_quantiles
        self.output_distribution = output_distribution
        self.ignore_implicit_zeros = ignore_implicit_zeros
        self.subsample = subsample
        self.random_state = random_state
        self.copy = copy
        self.columns = columns

    def _check_loaded(self) -> None:
        missing = np.isnan(getattr(self, "quantiles_", np.zeros((1, 0))))
        if (missing.any(axis=0) != missing.all(axis=0)).any():
            raise ValueError("a QuantileTransformer with columns that lack some quantiles")
