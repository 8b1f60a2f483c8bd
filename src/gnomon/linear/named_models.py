"""Further linear models under scikit-learn's names: Huber, Theil-Sen, ridge classifier.

scikit-learn's own classes, which take any table here. `RobustRegression` has more losses and the
standard errors of the coefficients.

Texts: 000 10.4.2, 11.2 · 001 3.6.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy.special import comb
from sklearn import linear_model
from sklearn.linear_model import _theil_sen
from sklearn.preprocessing import LabelBinarizer

from gnomon.contract.recorded import Recorded, Steps, minimizing, replaced
from gnomon.contract.written_out import WrittenOut, is_weighted_or_repeated
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import CLASSES, Array, DictOf, Flag, Number, Object, Optional, Text, Whole

DRAWING = ("sag", "saga")  # solvers that draw rows

storable(
    LabelBinarizer,
    "preprocessing.LabelBinarizer",
    {
        "classes_": CLASSES,
        "y_type_": Text(),
        "sparse_input_": Flag(),
        "_sklearn_output_config": Optional(DictOf(Text())),
    },
)


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="Outliers in the target.",
    avoid="Outliers among the columns: TheilSenRegressor.",
    peers=("sklearn.linear_model.HuberRegressor",),
    on="scikit-learn",
)
class HuberRegressor(Recorded, WrittenOut, linear_model.HuberRegressor):
    """Linear regression with Huber's loss: squared for small errors, absolute for large ones.

    The scale of the errors is estimated too, so that ``epsilon`` does not depend on the units of
    the target. Use it for outliers in the target; not for outliers among the columns.

    Attributes
    ----------
    history_ : History
        Huber's loss of the rows with the scale and the penalty, after each iteration.

    Examples
    --------
    >>> from gnomon.linear import HuberRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> HuberRegressor().fit(X, y[:-1] + [50.0]).coef_.round(1).tolist()
    [1.0]
    """

    natively = Takes(sparse=True)
    _target = "numbers"
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "outliers_": Array("b", (None,)),
        "scale_": Number(),
    }
    _flags_of_rows = ("outliers_",)

    def _watched(self, steps: Steps) -> Any:
        def told(number: int, objective: float, x: np.ndarray) -> None:
            steps.report(objective, {"parameters": x}, self._attributes(x))

        return minimizing(told)

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        """So that weights and repetitions give the same sums to the bit."""
        return is_weighted_or_repeated(rows, given)

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        """Fit; the columns of a table, whose units differ, in units of their own.

        An array is fitted as it is, and about its means where the steps lose their way.
        """
        peer = super()._fit_peer
        self._units = 0.0, 1.0
        try:
            if "encoder_" in self._during[1]:
                return self._fit_in_units(peer, fit, rows, given, scaled=True)
            return peer(fit, rows, given)
        except ValueError as error:
            is_lost = "convergence failed" in str(error)
            if not is_lost or not self.fit_intercept or not isinstance(rows, np.ndarray):
                raise
            return self._fit_in_units(peer, fit, rows, given, scaled=False)
        finally:
            del self._units

    def _fit_in_units(self, peer: Any, fit: Any, rows: Any, given: dict[str, Any], scaled: bool):
        """Fit to columns about their means, and in units of their greatest distance from it."""
        self.__dict__.pop("coef_", None)  # those of an earlier fit are not in these units
        weights = given.get("sample_weight")
        dense = isinstance(rows, np.ndarray) and self.fit_intercept
        means = np.average(rows, axis=0, weights=weights) if dense else np.zeros(rows.shape[1])
        moved = rows - means if dense else rows
        spread = abs(moved).max(axis=0)
        spread = spread.toarray().ravel() if hasattr(spread, "toarray") else spread
        units = np.where(spread > 0, spread, 1.0) if scaled else np.ones(len(means))
        self._units = means, units
        moved = moved / units if isinstance(moved, np.ndarray) else (moved / units).tocsr()
        result = peer(fit, moved, given)
        self.coef_, self.intercept_ = self._in_given_units(self.coef_, self.intercept_)
        return result

    def _in_given_units(self, coef: np.ndarray, intercept: Any) -> tuple[np.ndarray, Any]:
        means, units = self._units
        coef = coef / units
        return coef, intercept - np.sum(coef * means)

    def _attributes(self, x: np.ndarray) -> dict[str, Any]:
        """What the parameters of the minimization stand for."""
        coef, intercept = (x[:-2], x[-2]) if self.fit_intercept else (x[:-1], 0.0)
        coef, intercept = self._in_given_units(coef.copy(), intercept)
        return {"coef_": coef, "intercept_": intercept, "scale_": x[-1]}


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="Few columns, and up to a quarter of wild rows.",
    avoid="More than about ten columns, or very many rows.",
    peers=("sklearn.linear_model.TheilSenRegressor",),
    on="scikit-learn",
)
class TheilSenRegressor(Recorded, linear_model.TheilSenRegressor):
    """Linear regression by the median of fits to small subsets of the rows.

    Use it for few columns and outliers of any kind; not for more than about ten columns.
    ``n_iter_`` counts all steps to the median; scikit-learn's leaves the last out.

    Attributes
    ----------
    history_ : History
        Sum of the distances from the fits to their median, after each step.

    Examples
    --------
    >>> from gnomon.linear import TheilSenRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> TheilSenRegressor(random_state=0).fit(X, y[:-1] + [50.0]).coef_.round(1).tolist()
    [1.0]
    """

    _target = "numbers"
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "breakdown_": Number(),
        "n_subpopulation_": Whole(),
    }

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        # scikit-learn keeps each subset as a view of an order of all rows
        size = self.n_subsamples or min(n_columns + int(self.fit_intercept), n_rows)
        subsets = int(min(self.max_subpopulation, comb(n_rows, min(size, n_rows))))
        fits = 8 * subsets * (n_rows + 4 * (n_columns + 1))
        return fits + super()._working_memory(n_rows, n_columns)

    def _watched(self, steps: Steps) -> Any:
        def spatial_median(original: Any, fits: np.ndarray, max_iter: int, tol: float) -> Any:
            """scikit-learn's median; its steps are reported. In one dimension there is one."""
            step = functools.partial(self._told_step, steps)
            with replaced(_theil_sen, "_modified_weiszfeld_step", step):
                _, median = original(fits, max_iter=max_iter, tol=tol)
            if not steps.longest:
                self._told(steps, fits, median)
            return steps.longest, median

        return replaced(_theil_sen, "_spatial_median", spatial_median)

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        result = super()._fit_peer(fit, rows, given)
        self.n_iter_ = len(self.history_)
        return result

    def _told_step(self, steps: Steps, original: Any, fits: np.ndarray, old: np.ndarray) -> Any:
        median = original(fits, old)
        self._told(steps, fits, median)
        return median

    def _told(self, steps: Steps, fits: np.ndarray, median: np.ndarray) -> None:
        distances = np.linalg.norm(fits - median, axis=1).sum()
        intercept, coef = (median[0], median[1:]) if self.fit_intercept else (0.0, median)
        attributes = {"coef_": coef, "intercept_": intercept}
        steps.report(distances, {"median": median}, attributes)


@method(
    task="classify",
    texts="000 10.4.2",
    use="Many classes and columns, where speed counts.",
    avoid="Where probabilities are needed: LogisticRegression.",
    peers=("sklearn.linear_model.RidgeClassifier",),
    on="scikit-learn",
)
class RidgeClassifier(Recorded, WrittenOut, linear_model.RidgeClassifier):
    """Ridge regression on -1 and +1, one per class; the greatest value wins.

    Use it for many classes and columns, where it is fast; not where probabilities are needed.
    ``n_iter_`` is 1 for solvers without iterations.

    Attributes
    ----------
    history_ : History
        The penalized sum of squares at the end: the solution is one step.

    Examples
    --------
    >>> from gnomon.linear import RidgeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> RidgeClassifier().fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "coef_": Array("f", (None, "n_columns")),
        "intercept_": Array("f", (None,)) | Number(),
        "solver_": Text(),
        "_label_binarizer": Object(("LabelBinarizer",)),
        "n_iter_": Whole() | Array("i", None),
    }

    def _most_steps(self) -> int:
        return 1

    def _writes_out(self) -> bool:
        """Where class weights are of counts of rows, or rows are drawn."""
        return self.class_weight == "balanced" or self.solver in DRAWING

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        return self.solver in DRAWING

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        targets = self._label_binarizer.transform(np.asarray(given["y"]))
        errors = targets - (rows @ self.coef_.T + self.intercept_)
        weights = given.get("sample_weight")
        squares = (errors**2).sum(axis=1)
        loss = squares.sum() if weights is None else squares @ weights
        objective = loss + (self.alpha * self.coef_.T**2).sum()
        steps.report(objective, {"coef": self.coef_, "intercept": self.intercept_})
