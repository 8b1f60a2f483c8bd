"""Logistic and softmax regression that leave out columns, for one penalty or all of them.

Minimises  (1/W) sum_i w_i [-log P(y_i | x_i)] + alpha (r |B|_1 + (1 - r) |B|^2 / 2),  W = sum_i
w_i, with P as in `gnomon.linear.logistic`; the constants are free. Each pass sums the gradient and
the second derivatives; the step is the minimum of the quadratic model with the penalty, by
coordinate descent, and is halved until the objective falls.

Texts: 000 11.4.3.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from gnomon.contract import Classifier, Data, Step, SumLearner, Takes, intake
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, at_least, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.sums import ArraySource, Chunk, add_up, rows_per_chunk
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.linear.coordinate_descent import on_products
from gnomon.linear.design import dealt_folds, decision, first_means, is_sparse, refuse_tiny
from gnomon.linear.elastic_net import PenaltyPath, falling, over_folds
from gnomon.linear.glm_path import LEAST_RATIO, MEASURES, with_settings
from gnomon.linear.inference import column_names
from gnomon.linear.logistic import LossSums, constant_columns, loss_sums
from gnomon.linear.newton import accepted, at_penalty, halved, start_at
from gnomon.optimize.losses import logistic, softmax

SUFFICIENT_FALL = 1e-4  # Armijo's share, as in all the literature
SMALLEST_STEP = 1e-10  # 33 halvings; smaller steps change no digit of the objective
TRACE = 1e-6  # far below any curvature that decides, far above rounding


@method(
    task="classify",
    texts="000 11.4.3",
    use="Classes, when few of many columns matter: it leaves the others out.",
    avoid="More than some thousand coefficients (columns times classes); boundaries that bend.",
    peers=("sklearn.linear_model.LogisticRegression(solver='saga')", "celer", "skglm", "glmnet"),
)
class SparseLogisticRegression(Classifier, SumLearner):
    """Logistic regression, for two classes or more, whose penalty sets coefficients to zero.

    Minimises (1/W) sum_i w_i [-log P(y_i | x_i)] + alpha (r |coef|_1 + (1 - r) |coef|^2 / 2) with
    W = sum_i w_i and r = ``l1_ratio``. Use it when few of many columns matter; `path` gives the
    coefficients of all penalties, validated by deviance or misclassification. It depends on the
    units of the columns: scale them alike first. Not for very many coefficients, of whose second
    derivatives there is a matrix (`LogisticRegression` takes any number), nor for standard errors.

    Texts: 000 11.4.3 (glmnet's penalty and scale; with more than two classes every class has
    coefficients, as there).

    Parameters
    ----------
    alpha : float, default=0.01
        Weight of the penalty.
    l1_ratio : float, default=1.0
        Share of the absolute values in the penalty.
    fit_intercept : bool, default=True
        Whether there are constants, which are not penalised.
    max_iter : int, default=200
        Most passes over the rows.
    tol : float, default=1e-12
        Stops when the objective can fall by no more than this (one last step is taken then).
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Coefficients; for two classes those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants, those of several classes adding up to zero; zero without intercept.
    history_ : History
        The objective at each pass; it never rises.
    n_iter_ : int
        Number of passes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LogisticRegression : With a squared penalty, for any number of columns; standard errors.
    GLM : Two classes or counts with the same penalty.

    Examples
    --------
    >>> from gnomon.linear import SparseLogisticRegression
    >>> X = [[-2, 1], [-1, 0], [0, 1], [1, 1], [2, 0], [3, 1]]
    >>> model = SparseLogisticRegression(alpha=0.1).fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.coef_.round(3)
    array([[0.842, 0.   ]])
    """

    natively = Takes(sparse=True)
    _parameter_constraints = {
        "alpha": [at_least(0.0)],
        "l1_ratio": [between(0.0, 1.0)],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "intercept_": Array("f8", ("n_coef",)),
    }

    def __init__(
        self,
        alpha=0.01,
        l1_ratio=1.0,
        fit_intercept=True,
        max_iter=200,
        tol=1e-12,
        keep_history="objective",
        n_jobs=None,
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _equations(self) -> int:
        n_classes = len(getattr(self, "classes_", (0, 1)))
        return 1 if n_classes == 2 else n_classes

    def _start(self, data: Data, rng) -> dict[str, Any]:
        if len(self.classes_) < 2:
            raise DataError(
                "SparseLogisticRegression needs rows of at least two classes; the target has only "
                f"one class, {self.classes_.tolist()[0]!r}"
            )
        shift = np.zeros(data.n_columns)
        if self.fit_intercept and not is_sparse(data):
            shift = first_means(data)
        zeros = np.zeros((self._equations(), data.n_columns + self.fit_intercept))
        return {"shift": shift, "factors": None} | start_at(zeros)

    def _sums(self, state, chunk: Chunk) -> LossSums:
        return loss_sums(state, chunk, len(self.classes_), second=True)

    def _penalties(self, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        free = np.ones(shape)
        if self.fit_intercept:
            free[:, -1] = 0.0
        return self.alpha * self.l1_ratio * free, self.alpha * (1 - self.l1_ratio) * free

    def _update(self, state, total: LossSums) -> Step:
        empty = np.flatnonzero(total.classes == 0)
        if len(empty):
            raise DataError(
                f"class {self.classes_.tolist()[empty[0]]!r} has no row of positive weight here, "
                "so its probability cannot be learnt; leave its rows out or give them weight"
            )
        trial = state["trial"]
        l1, l2 = self._penalties(trial.shape)
        penalty = float((l1 * np.abs(trial) + l2 * trial**2 / 2).sum())
        objective = total.loss / total.weight + penalty
        if (back := halved(state, objective)) is not None:
            return back
        direction, fall = self._direction(state, total, l1, l2)
        return accepted(state, objective, direction, fall, fall <= self.tol)

    def _direction(self, state, total: LossSums, l1, l2) -> tuple[np.ndarray, float]:
        """The step of the quadratic model with the penalty, and the fall that it promises."""
        k, q = state["trial"].shape
        blocks = (total.hessian / total.weight).reshape(k, q, k, q)
        lengths = np.einsum("kjkj->j", blocks)
        idle = constant_columns(lengths, state["shift"], self.fit_intercept)
        lengths[idle] = 0.0
        refuse_tiny(np.sqrt(lengths[: q - self.fit_intercept]), column_names(self))
        if k > 1:
            # all classes alike change no probability: a trace of curvature makes the step unique
            for j in range(q):
                blocks[:, j, :, j] += TRACE * lengths[j] / k
        free = np.ones((k, q), dtype=bool)
        free[:, idle] = False
        used = np.flatnonzero(free.ravel())
        matrix = blocks.reshape(k * q, k * q)[np.ix_(used, used)]
        now, slope = state["trial"].ravel()[used], total.gradient.ravel()[used] / total.weight
        l1, l2 = l1.ravel()[used], l2.ravel()[used]
        units = np.sqrt(np.where(np.diag(matrix) > 0, np.diag(matrix), 1.0))
        matrix = matrix / units[:, None] / units
        cross = matrix @ (now * units) - slope / units
        scaled = on_products(matrix, cross, now * units, l1 / units, l2 / units**2)
        moved = scaled / units - now
        fall = -slope @ moved - l2 @ (moved * now) - l1 @ (np.abs(now + moved) - np.abs(now))
        direction = np.zeros(k * q)
        direction[used] = moved
        return direction.reshape(k, q), max(float(fall), 0.0)

    def _attributes(self, state) -> dict[str, Any]:
        p = len(state["shift"])
        coef = state["parameters"][:, :p].copy()
        intercept = np.zeros(len(coef))
        if self.fit_intercept:
            intercept = state["parameters"][:, p] - coef @ state["shift"]
            intercept = intercept - (intercept.mean() if len(coef) > 1 else 0.0)
        return {"coef_": coef, "intercept_": intercept}

    def _end(self, state, data: Data) -> None:
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"SparseLogisticRegression has not converged in max_iter={self.max_iter} passes; "
                f"the objective has come down to {self.history_[-1]:.6g}. Raise max_iter, scale "
                "the columns alike, or use a greater alpha",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _proba(self, rows) -> np.ndarray:
        return probabilities(decision(rows, self.coef_, self.intercept_))

    def decision_function(self, X) -> np.ndarray:
        """The linear functions whose logistic function or softmax gives the probabilities.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes: log-odds of the second.
        """
        scores = self._each_block(lambda rows: decision(rows, self.coef_, self.intercept_), X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def path(
        self,
        X,
        y,
        sample_weight=None,
        *,
        alphas=None,
        n_alphas: int = 50,
        eps: float = 1e-2,
        cv: int | None = None,
        measure: str = "deviance",
        random_state=None,
    ) -> PenaltyPath:
        """Coefficients for a whole range of penalties, each from the one before.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
        sample_weight : array-like or str, default=None
        alphas : array-like, default=None
            The penalties; by default `n_alphas` from the least that leaves no column (a
            thousandfold of it with ``l1_ratio=0``), down to `eps` times that, evenly in the
            logarithm.
        n_alphas : int, default=50
        eps : float, default=1e-2
        cv : int or None, default=None
            Folds of a cross-validation along the path; None for none. Equal rows are in one fold.
        measure : {"deviance", "misclassification"}, default="deviance"
            What is validated: twice the mean log loss, or the share of wrong classes.
        random_state : int, RandomState instance or None, default=None
            Deals the folds.

        Returns
        -------
        path : PenaltyPath
            Its columns are those of every equation, named with its class.
        """
        self._validate_params()
        if measure not in MEASURES:
            raise DataError(f"measure is 'deviance' or 'misclassification', not {measure!r}")
        model = type(self)(**self.get_params(deep=False))
        data = intake.take_in(model, X, y, sample_weight)
        if alphas is None:
            alphas = (model._greatest(data) or 1.0) * np.geomspace(1.0, eps, n_alphas)
        alphas = falling(alphas)
        coefs, intercepts, falls, losses = model._along(alphas, data, model.n_jobs)
        classes = model.classes_[1:] if coefs.shape[1] == 1 else model.classes_
        names = [f"{name} ({each})" for each in classes for name in column_names(model)]
        flat = coefs.reshape(len(alphas), -1)
        ratio = float(self.l1_ratio)
        path = PenaltyPath(alphas, flat, intercepts, falls, 1 - losses, names, ratio)
        path.measure = MEASURES[measure]
        if cv is not None:
            rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
            found = model._fold_errors(alphas, data, dealt_folds(data, cv, rng), measure)
            path.errors, path.standard_errors = over_folds(found)
        return path

    def _null_state(self, data: Data, n_jobs):
        """The state of constants alone, and the sums there."""
        alone = with_settings(self, alpha=1e6, l1_ratio=1.0)
        state, _ = at_penalty(alone, data, alone._start(data, None), n_jobs)
        state = state | {"trial": state["parameters"]}
        return state, LossSums(*add_up(partial(alone._sums, state), data.source, n_jobs))

    def _greatest(self, data: Data) -> float:
        _, total = self._null_state(data, self.n_jobs)
        slopes = np.abs(total.gradient[:, : data.n_columns]) / total.weight
        return float(slopes.max(initial=0.0)) / max(self.l1_ratio, LEAST_RATIO)

    def _along(self, alphas, data: Data, n_jobs):
        """Coefficients, intercepts, promised falls, and log losses as shares of the constants'."""
        alone = with_settings(self)
        state, null = self._null_state(data, n_jobs)
        coefs, intercepts, falls, losses = [], [], [], []
        for alpha in alphas:
            alone.alpha = float(alpha)
            state, total = at_penalty(alone, data, state, n_jobs)
            found = alone._attributes(state)
            coefs.append(found["coef_"])
            intercepts.append(found["intercept_"])
            falls.append(state["fall"])
            losses.append(total.loss / null.loss)
        return np.array(coefs), np.array(intercepts), np.array(falls), np.array(losses)

    def _fold_errors(self, alphas, data: Data, parts: np.ndarray, measure: str):
        """Weight and total errors along the path of each fold's rows, learnt from the others."""
        if parts.max() == 0:
            raise DataError("cross-validation needs at least two different rows")

        def errors(part: int) -> tuple[float, np.ndarray]:
            train, test = parts != part, parts == part
            weights = None if data.weights is None else data.weights[train]
            rest = Data(ArraySource(data.rows[train], data.y[train], weights), data.columns)
            coefs, intercepts, *_ = self._along(alphas, rest, 1)
            rows, y, held = data.rows[test], data.y[test], data.weight_array[test]
            costs = []
            for coef, intercept in zip(coefs, intercepts):
                proba = probabilities(decision(rows, coef, intercept))
                if measure == "misclassification":
                    costs.append(held @ (proba.argmax(axis=1) != y))
                else:
                    own = np.maximum(proba[np.arange(len(y)), y], 1e-300)
                    costs.append(-2 * held @ np.log(own))
            return held.sum(), np.array(costs)

        return in_order(errors, np.unique(parts), self.n_jobs)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads, equations = resolve_jobs(self.n_jobs), self._equations()
        block = min(rows_per_chunk(n_columns), n_rows) * (2 * n_columns + 8 + 5 * equations)
        side = equations * (n_columns + 1)
        return 8 * (2 * n_rows + 2 * threads * block + (3 * threads + 8) * side**2)

    def _memory_remedy(self) -> str:
        return (
            "Use fewer columns: the sums grow with the square of columns times classes; or "
            "LogisticRegression, which has a squared penalty."
        )


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Probabilities of the classes from linear functions of shape (n, 1) or (n, n_classes)."""
    if scores.shape[1] > 1:
        return softmax(scores)
    return np.hstack([logistic(-scores), logistic(scores)])
