"""Missing numbers filled from the nearest rows, as scikit-learn's KNNImputer does."""

from __future__ import annotations

import numpy as np
from sklearn import impute
from sklearn.utils._param_validation import MissingValues

from gnomon.contract.inert import without_effect
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.prepare.base import COLUMNS
from gnomon.prepare.wrapped import Unweighted


@method(
    task="filter",
    texts="003 2.2.5",
    use="Missing numbers where similar rows have similar values.",
    avoid="Columns of different units (scale them first) or categories: NeighborImputer.",
    peers=("sklearn.impute.KNNImputer",),
    on="scikit-learn",
)
@without_effect("copy")
class KNNImputer(Unweighted):
    """Missing numbers become the mean of the column in the nearest rows that have a value there.

    The distance of two rows is Euclidean over the columns that both know, scaled up by the share
    of columns left out. Use it for numbers of one scale; `NeighborImputer` scales columns, fills
    categories, and takes weights and any metric.

    Texts: 003 2.2.5. On arrays it is scikit-learn's class; of a table, columns of numbers are
    filled and others pass through.

    Parameters
    ----------
    missing_values : int, float, str or None, default=nan
        What marks a missing cell of an array.
    n_neighbors : int, default=5
        Rows that are averaged.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weights of these rows: equal ones, one over the distance, or a function of the distances.
    metric : {"nan_euclidean"} or callable, default="nan_euclidean"
        The distance of two rows; a callable takes the keyword ``missing_values``.
    add_indicator : bool, default=False
        Whether columns that mark what was missing are added.
    keep_empty_features : bool, default=False
        Whether columns without any value are kept, as zeros.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns of a table, and all columns of an array.

    Attributes
    ----------
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
    >>> from gnomon.neighbors import KNNImputer
    >>> rows = [[1.0, 10.0], [1.1, 12.0], [5.0, 50.0], [1.05, float("nan")]]
    >>> KNNImputer(n_neighbors=2).fit_transform(rows)[3]
    array([ 1.05, 11.  ])
    """

    natively = Takes(missing=True)
    _fills = True
    _keeps_rows = True
    _why_not = "what was missing is not known afterwards"
    _peer = impute.KNNImputer
    _inner_classes = (impute.MissingIndicator,)
    _kept_apart = ("indicator_",)
    _one_to_one = False
    _parameter_constraints = {
        "missing_values": [MissingValues()],
        "n_neighbors": [whole(1)],
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
        "metric": [StrOptions({"nan_euclidean"}), callable],
        "add_indicator": FLAG,
        "keep_empty_features": FLAG,
        "columns": COLUMNS,
    }

    def __init__(
        self,
        *,
        missing_values=np.nan,
        n_neighbors=5,
        weights="uniform",
        metric="nan_euclidean",
        copy=True,
        add_indicator=False,
        keep_empty_features=False,
        columns=None,
    ):
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.columns = columns
