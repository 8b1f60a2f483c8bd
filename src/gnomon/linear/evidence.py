"""Linear regression whose penalties are estimated: BayesianRidge and ARDRegression.

    y ~ N(X w + b, 1 / alpha),    w_j ~ N(0, 1 / lambda_j)

The precisions alpha of the noise and lambda of the coefficients are those under which the targets
are most likely once the coefficients are integrated out (the evidence): no penalty is chosen by
hand or by folds. `BayesianRidge` has one lambda for all columns; `ARDRegression` has one for each
and leaves columns out whose lambda grows without bound. scikit-learn's own classes, which take any
table here.

Texts: 001 7.2.1-7.2.4 · 003 4.4.2 (penalties on squares, which are normal priors); the iterations
are MacKay's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.utils.extmath import fast_logdet

from gnomon.contract.recorded import Recorded, Steps
from gnomon.engine.estimator import is_fitted
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number

TEXTS = "001 7.2.1-7.2.4 · 003 4.4.2"


class Evidence(Recorded):
    """What both share: the state after a step is seen when the next one, or the end, begins."""

    _target = "numbers"
    _stored = {
        "coef_": Array("f", ("n_columns",)),
        "intercept_": Number(),
        "alpha_": Number(low=0.0),
        "scores_": ListOf(Number()) | Array("f", (None,)),
        "X_offset_": Array("f", ("n_columns",)),
        "X_scale_": Array("f", ("n_columns",)),
    }
    _steps: Steps | None = None  # while they are watched
    fit_intercept: bool
    X_offset_: np.ndarray

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        self._steps, self._begun = steps, False
        try:
            yield
        finally:
            del self._steps, self._begun

    def _step_has_ended(self) -> bool:
        """Whether a step came before: the first call of a fit begins the first step."""
        if self._steps is None:
            return False
        begun, self._begun = self._begun, True
        return begun

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        y, weights = np.ravel(np.asarray(given["y"])), given.get("sample_weight")
        self._target_of_fit = y, None if weights is None else np.asarray(weights)
        try:
            return super()._fit_peer(fit, rows, given)
        finally:
            del self._target_of_fit

    def _mean_target(self) -> float:
        y, weights = self._target_of_fit
        return float(np.average(y, weights=weights)) if self.fit_intercept else 0.0

    def _report(self, score: float, coef: np.ndarray, alpha: Any, lambdas: Any, sigma: Any) -> None:
        """A step was made; its objective is minus the logarithm of the evidence."""
        state = {"coef": coef, "alpha": alpha, "lambda": lambdas}
        attributes = {
            "coef_": coef,
            "intercept_": self._mean_target() - self.X_offset_ @ coef,
            "alpha_": alpha,
            "lambda_": np.copy(lambdas),
            "sigma_": sigma,
        }
        assert self._steps is not None
        self._steps.report(-float(score), state, attributes)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows * n_columns + 5 * n_columns**2 + 4 * n_rows)


@method(
    task="regress",
    texts=TEXTS,
    use="Ridge regression without a penalty to choose, with standard deviations of predictions.",
    avoid="Very many columns: all singular values of the table are computed.",
    peers=("sklearn.linear_model.BayesianRidge",),
    on="scikit-learn",
    synonyms=("evidence", "empirical bayes", "bayesian linear regression", "type II likelihood"),
)
class BayesianRidge(Evidence, linear_model.BayesianRidge):
    """Ridge regression whose penalty is estimated from the training rows, by the evidence.

    The coefficients have a normal prior of precision lambda, the noise a precision alpha; both are
    set to make the targets most likely. ``predict(X, return_std=True)`` also gives standard
    deviations. Use it where no penalty should be chosen by folds; not for very many columns, where
    `Ridge` is faster, nor where most columns have no effect, for which `ARDRegression` or `Lasso`
    is better.

    Attributes
    ----------
    history_ : History
        Minus the logarithm of the evidence after each step.

    Examples
    --------
    >>> from gnomon.linear import BayesianRidge
    >>> model = BayesianRidge().fit([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 2.1, 2.9])
    >>> mean, std = model.predict([[4.0]], return_std=True)
    >>> mean.round(2).tolist(), std.round(2).tolist()
    ([3.89], [0.15])
    """

    _stored = {
        "lambda_": Number(low=0.0),
        "sigma_": Array("f", ("n_columns", "n_columns")),
    }

    def _update_coef_(
        self, X, y, n_samples, n_features, XT_y, U, Vh, eigen_vals_, alpha_, lambda_
    ) -> tuple[np.ndarray, float]:
        coef, error = super()._update_coef_(
            X, y, n_samples, n_features, XT_y, U, Vh, eigen_vals_, alpha_, lambda_
        )
        if self._step_has_ended():
            weights = self._target_of_fit[1]
            total = n_samples if weights is None else np.sum(weights)
            score = self._log_marginal_likelihood(
                n_samples, n_features, total, eigen_vals_, alpha_, lambda_, coef, error
            )
            rest = np.eye(n_features, dtype=X.dtype) - Vh.T @ Vh
            sigma = (Vh.T / (alpha_ * eigen_vals_ + lambda_)) @ Vh + rest / lambda_
            self._report(score, coef, alpha_, lambda_, sigma)
        return coef, error


@method(
    task="regress",
    texts=TEXTS,
    use="Many columns of which few have an effect, and no penalty to choose.",
    avoid="Thousands of columns: each step inverts a matrix of all that are left.",
    peers=("sklearn.linear_model.ARDRegression",),
    on="scikit-learn",
    synonyms=("automatic relevance determination", "sparse bayesian learning", "evidence"),
)
class ARDRegression(Evidence, linear_model.ARDRegression):
    """Linear regression with an estimated penalty for each column (automatic relevance).

    A column that does not help to explain the targets gets a penalty that grows without bound, and
    is left out. Use it where few of the columns have an effect; not for thousands of columns, where
    `Lasso` is faster, nor where all have small effects, for which `BayesianRidge` is better.

    Attributes
    ----------
    history_ : History
        Minus the score that scikit-learn computes (``compute_score=True``), after each step.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import ARDRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> model = ARDRegression().fit(X, 2 * X[:, 0] + 0.1 * rng.normal(size=60))
    >>> np.abs(model.coef_).round(1).tolist()
    [2.0, 0.0, 0.0]
    """

    _stored = {
        "lambda_": Array("f", ("n_columns",), low=0.0),
        "sigma_": Array("f", ("n_kept", "n_kept")),
    }

    def _check_loaded(self) -> None:
        if not is_fitted(self):
            return
        if np.count_nonzero(self.lambda_ < self.threshold_lambda) != len(self.sigma_):
            raise ValueError("sigma_ is not that of the columns that were kept")

    def _update_sigma(self, X, alpha_, lambda_, keep_lambda) -> np.ndarray:
        sigma = super()._update_sigma(X, alpha_, lambda_, keep_lambda)
        self._begin_step(X, alpha_, lambda_, keep_lambda, sigma)
        return sigma

    def _update_sigma_woodbury(self, X, alpha_, lambda_, keep_lambda) -> np.ndarray:
        sigma = super()._update_sigma_woodbury(X, alpha_, lambda_, keep_lambda)
        self._begin_step(X, alpha_, lambda_, keep_lambda, sigma)
        return sigma

    def _begin_step(self, X, alpha, lambdas, kept, sigma) -> None:
        if self._step_has_ended():
            y = self._target_of_fit[0] - self._mean_target()
            coef = np.zeros(len(lambdas), dtype=X.dtype)
            coef[kept] = alpha * (sigma @ (X[:, kept].T @ y))
            self._report(
                self._score(X, y, coef, alpha, lambdas, sigma), coef, alpha, lambdas, sigma
            )

    def _score(self, X, y, coef, alpha, lambdas, sigma) -> float:
        """The logarithm of the evidence with the priors of the precisions, but for constants."""
        score = np.sum(self.lambda_1 * np.log(lambdas) - self.lambda_2 * lambdas)
        score += self.alpha_1 * np.log(alpha) - self.alpha_2 * alpha
        score += (fast_logdet(sigma) + len(y) * np.log(alpha) + np.sum(np.log(lambdas))) / 2
        return score - (alpha * np.sum((y - X @ coef) ** 2) + np.sum(lambdas * coef**2)) / 2

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """The last step, where it left no column: the next one has not begun."""
        if not self.sigma_.size:
            y = self._target_of_fit[0] - self._mean_target()
            score = self._score(
                np.asarray(rows), y, self.coef_, self.alpha_, self.lambda_, self.sigma_
            )
            state = {"coef": self.coef_, "alpha": self.alpha_, "lambda": self.lambda_}
            steps.report(-float(score), state)
