"""Linear models that choose their penalty by cross-validation, under scikit-learn's names.

    alpha = argmin over a grid of the mean loss on the folds left out

scikit-learn's own classes, which take any table here. `gnomon.evaluate.one_standard_error` is
another rule of choice, and `ElasticNet.path` the whole path.

Texts: 000 10.4.2, 11.4.1 · 001 7.2.1-7.2.4 · 004 4.7.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from gnomon.contract.recorded import Recorded, Steps, minimizing
from gnomon.contract.written_out import WrittenOut
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Flag, Number, Object, Optional, Text

MANY_FOLDS = 1000  # for progress bars only


class ByFolds(Recorded, WrittenOut):
    """Mixin: folds that are given as positions of rows keep all rows, and their weights."""

    def _taken(self, X: Any, given: dict[str, Any], *more: Any) -> tuple[Any, Any, Any]:
        rows, changed, of_table = super()._taken(X, given, *more)
        has_positions = not (self.cv is None or isinstance(self.cv, Integral))
        if has_positions and not of_table:
            return self._checked(X), given, of_table
        return rows, changed, of_table


class AlongPath(ByFolds):
    """Mixin: the fit with the chosen penalty goes on by passes over the columns."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; in ``fit``, those that scikit-learn hands on to its path.

        Parameters
        ----------
        deep : bool, default=True
            Also those of estimators inside; there are none.

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep)
        if "_given" in vars(self):
            del params["keep_history"]
        return params

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """The passes of the last fit, one at a time; those of random columns are one step."""
        y, weights = np.asarray(given["y"], dtype=np.float64), given.get("sample_weight")
        model = self._get_estimator()
        asked = {name: getattr(self, name) for name in model.get_params() if hasattr(self, name)}
        chosen = {"alpha": self.alpha_, "l1_ratio": getattr(self, "l1_ratio_", 1.0)}
        asked |= {name: chosen[name] for name in chosen if name in model.get_params()}
        model.set_params(**asked | {"max_iter": 1, "warm_start": True, "precompute": False})
        weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        for _ in range(self.n_iter_ - 1 if self.selection == "cyclic" else 0):
            with warnings.catch_warnings():  # one pass never converges
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(rows, y.ravel(), sample_weight=weights)
            self._told(steps, model, rows, y, weights)
        self._told(steps, self, rows, y, weights)

    def _told(self, steps: Steps, model: Any, rows: Any, y: np.ndarray, weights: Any) -> None:
        coef, share = np.ravel(model.coef_), getattr(self, "l1_ratio_", 1.0)
        errors = y.ravel() - rows @ coef - model.intercept_
        loss = np.average(errors**2, weights=weights) / 2
        penalty = share * np.abs(coef).sum() + (1 - share) / 2 * np.dot(coef, coef)
        attributes = {"coef_": coef.copy(), "intercept_": model.intercept_, "alpha_": self.alpha_}
        steps.report(loss + self.alpha_ * penalty, {"coef": coef}, attributes)


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Correlated columns, and no penalty in mind.",
    avoid="Columns most of which do not matter: LassoCV.",
    peers=("sklearn.linear_model.RidgeCV",),
    on="scikit-learn",
)
class RidgeCV(WrittenOut, linear_model.RidgeCV):
    """Ridge regression with the penalty chosen by leaving out one row at a time, or by folds.

    Use it for correlated columns; not to find the few columns that matter. Without ``cv`` every row
    is left out once, at the cost of one fit.

    Examples
    --------
    >>> from gnomon.linear import RidgeCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> RidgeCV(alphas=[0.01, 100.0]).fit(X, y).alpha_
    0.01
    """

    natively = Takes(sparse=True)
    _target = "numbers"
    _many_targets = True
    _stored = {
        "alpha_": Number() | Array("f", (None,)),
        "best_score_": Number(finite=False) | Array("f", (None,), finite=False),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "cv_results_": Optional(Array("f", None)),
        "cv_values_": Optional(Array("f", None)),
    }


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many columns of which few matter.",
    avoid="Correlated columns that matter together: ElasticNetCV.",
    peers=("sklearn.linear_model.LassoCV",),
    on="scikit-learn",
)
class LassoCV(AlongPath, linear_model.LassoCV):
    """Lasso regression with the penalty chosen by cross-validation along its path.

    Use it for many columns of which few matter; not for groups of correlated columns, of which it
    keeps one.

    Attributes
    ----------
    history_ : History
        The penalized mean squared error of the last fit, with the chosen penalty, after each pass.

    Examples
    --------
    >>> from gnomon.linear import LassoCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> LassoCV(cv=3).fit(X, y).coef_.round(1).tolist()
    [1.0]
    """

    natively = Takes(sparse=True)
    _target = "numbers"
    _stored = {
        "alpha_": Number(),
        "alphas_": Array("f", [(None,), (None, None)]),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "dual_gap_": Number(finite=False),
        "intercept_": Number() | Array("f", (None,)),
        "mse_path_": Array("f", None),
    }


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many columns in correlated groups of which few matter.",
    avoid="Few columns, all of which matter: RidgeCV.",
    peers=("sklearn.linear_model.ElasticNetCV",),
    on="scikit-learn",
)
class ElasticNetCV(AlongPath, linear_model.ElasticNetCV):
    """Elastic net with the penalty, and the share of the lasso in it, chosen by cross-validation.

    Use it for many columns in correlated groups; not for few columns that all matter.

    Attributes
    ----------
    history_ : History
        The penalized mean squared error of the last fit, with the chosen penalty, after each pass.

    Examples
    --------
    >>> from gnomon.linear import ElasticNetCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> ElasticNetCV(cv=3).fit(X, y).predict([[2.0]]).round(1).tolist()
    [2.0]
    """

    natively = Takes(sparse=True)
    _target = "numbers"
    _stored = {
        "alpha_": Number(),
        "alphas_": Array("f", [(None,), (None, None)]),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "dual_gap_": Number(finite=False),
        "intercept_": Number() | Array("f", (None,)),
        "mse_path_": Array("f", None),
        "l1_ratio_": Number(),
    }


@method(
    task="classify",
    texts="000 11.3.1-11.3.2 · 004 8.1",
    use="Classes with a linear border, and no penalty in mind.",
    avoid="Borders that are not linear.",
    peers=("sklearn.linear_model.LogisticRegressionCV",),
    on="scikit-learn",
)
class LogisticRegressionCV(ByFolds, linear_model.LogisticRegressionCV):
    """Logistic regression with the penalty chosen by cross-validation.

    Use it for classes with a linear border; not where the border bends.

    Attributes
    ----------
    history_ : History
        The penalized loss after each iteration of the fits to the folds, one fit after the other;
        minus the best score, as one step, for solvers other than "lbfgs" and with processes.

    Examples
    --------
    >>> from gnomon.linear import LogisticRegressionCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> model = LogisticRegressionCV(cv=2, l1_ratios=(0,), use_legacy_attributes=False)
    >>> model.fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "C_": Array("f", (None,)) | Number(),
        "Cs_": Array("f", (None,)),
        "coef_": Array("f", (None, "n_columns")),
        "coefs_paths_": DictOf(Anything()) | Array("f", None),
        "intercept_": Array("f", (None,)),
        "l1_ratio_": Anything(),
        "l1_ratios_": Anything(),
        "scores_": DictOf(Anything()) | Array("f", None),
        "n_iter_": Array("i", None),
    }

    def _most_steps(self) -> int:
        grid = self.Cs if isinstance(self.Cs, Integral) else len(self.Cs)
        shares = self.l1_ratios if isinstance(self.l1_ratios, tuple | list) else [0]
        return self.max_iter * self._n_folds() * grid * len(shares)

    def _n_folds(self) -> int:
        try:
            return check_cv(self.cv).get_n_splits()
        except (TypeError, ValueError):  # depends on the rows
            return MANY_FOLDS

    def _watched(self, steps: Steps) -> Any:
        def told(number: int, objective: float, x: np.ndarray) -> None:
            if "Cs_" not in vars(self):  # set when the folds are done; n_iter_ counts no other fit
                steps.report(objective, {"parameters": x}, number=number)

        return minimizing(told)

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        if not steps.longest:
            scores = self.scores_.values() if isinstance(self.scores_, dict) else [self.scores_]
            best = max(float(np.max(each)) for each in scores)
            steps.report(-best, {"coef": self.coef_, "intercept": self.intercept_})


@method(
    task="classify",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many classes and columns, and no penalty in mind.",
    avoid="Where probabilities are needed: LogisticRegressionCV.",
    peers=("sklearn.linear_model.RidgeClassifierCV",),
    on="scikit-learn",
)
class RidgeClassifierCV(WrittenOut, linear_model.RidgeClassifierCV):
    """Ridge regression on -1 and +1, one per class, with the penalty chosen by cross-validation.

    Use it for many classes and columns, where it is fast; not where probabilities are needed.

    Examples
    --------
    >>> from gnomon.linear import RidgeClassifierCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> RidgeClassifierCV().fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "alpha_": Number() | Array("f", (None,)),
        "best_score_": Number(finite=False) | Array("f", (None,), finite=False),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "cv_results_": Optional(Array("f", None)),
        "cv_values_": Optional(Array("f", None)),
        "_label_binarizer": Object(("LabelBinarizer",)),
        "alpha_per_target": Flag(),
        "gcv_mode": Text() | None,
    }
