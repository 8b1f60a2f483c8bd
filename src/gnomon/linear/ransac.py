"""Random sample consensus: a regression of the rows that agree with each other.

A model is fitted to a few rows drawn at random; rows whose error is at most a threshold are its
inliers. Of many such draws the one of most inliers wins, and the model is fitted to all of these.
With a share w of good rows, a draw of m rows has only good ones with the probability w^m, so that
log(1 - p) / log(1 - w^m) draws find such a one with the probability p. scikit-learn's own class,
which takes any table here.

Texts: 000 11.2 · 001 3.6 (outliers); the procedure is that of Fischler and Bolles, 1981.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.utils import get_tags

from gnomon.contract.written_out import WrittenOut, is_weighted_or_repeated
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, DictOf, Number, Object, Optional, Text, Whole
from gnomon.linear.least_squares import LinearRegression

storable(
    linear_model.LinearRegression,
    "sklearn.LinearRegression",
    {
        "coef_": Array("f", [("n_features_in_",), (None, "n_features_in_")]),
        "intercept_": Number() | Array("f", (None,)),
        "n_features_in_": Whole(1),
        "rank_": Optional(Whole()),
        "singular_": Optional(Array("f", (None,))),
        "_sklearn_output_config": Optional(DictOf(Text())),
    },
)


ROUNDING = 1e-9  # of the largest target: far above rounding, far below differences that matter


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="Up to a half of wild rows, of any kind, and few columns.",
    avoid="Many columns: draws without a wild row become rare. HuberRegressor.",
    peers=("sklearn.linear_model.RANSACRegressor",),
    on="scikit-learn",
    synonyms=("random sample consensus", "outliers", "robust regression"),
)
class RANSACRegressor(WrittenOut, linear_model.RANSACRegressor):
    """Regression of the rows that agree, found by many fits to few rows (random sample consensus).

    Use it where up to about a half of the rows are wild, among the columns too; not for many
    columns, since a draw of as many rows then nearly always has a wild one. ``inlier_mask_`` says
    which rows were kept. Where there are fewer rows than a draw of ``min_samples=None`` needs, all
    are drawn, which scikit-learn refuses; where more than half of the targets are equal, its
    threshold of zero, by which rounding makes every row an outlier, is a little above rounding.

    Examples
    --------
    >>> from gnomon.linear import RANSACRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 90.0, -50.0]
    >>> model = RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    >>> model.inlier_mask_.tolist()
    [True, True, True, True, False, False]
    """

    _target = "numbers"
    _many_targets = True
    _flags_of_rows = ("inlier_mask_",)
    _stored = {
        "estimator_": Object(),
        "inlier_mask_": Array("b", (None,)),
        "n_skips_invalid_data_": Whole(),
        "n_skips_invalid_model_": Whole(),
        "n_skips_no_inliers_": Whole(),
        "n_trials_": Whole(),
    }

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Sparse rows where the model inside takes them."""
        sparse = self.estimator is None or get_tags(self.estimator).input_tags.sparse
        return Takes(sparse=sparse)

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        return is_weighted_or_repeated(rows, given)

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        """As scikit-learn's; where rows are fewer than the draws need, all of them are drawn.

        scikit-learn's refuses these, and our least squares without a number of rows.
        """
        of_lines = self.estimator is None or isinstance(
            self.estimator, (LinearRegression, linear_model.LinearRegression)
        )
        asked, threshold = self.min_samples, self.residual_threshold
        if threshold is None:
            self.residual_threshold = threshold_beyond_rounding(given["y"])
        shape = getattr(rows, "shape", ())
        if asked is None and of_lines and len(shape) == 2 and shape[0] > 0:
            self.min_samples = min(shape[1] + 1, shape[0])
        try:
            result = super()._fit_peer(fit, rows, given)
        finally:
            self.min_samples, self.residual_threshold = asked, threshold
        if not np.isfinite(getattr(self.estimator_, "coef_", 0.0)).all():
            raise DataError(
                "RANSACRegressor: the coefficients are not numbers, since values are too small or "
                "too large. Rescale the columns"
            )
        return result


def threshold_beyond_rounding(y: Any) -> float | None:
    """A threshold of residuals where more than half of the targets are equal, otherwise None.

    scikit-learn's default, the median absolute deviation, is zero there: rounding alone would make
    every row an outlier.
    """
    y = np.asarray(y, dtype=np.float64)
    if np.median(np.abs(y - np.median(y, axis=0))) > 0:
        return None
    return ROUNDING * float(np.abs(y).max(initial=0.0)) or None
