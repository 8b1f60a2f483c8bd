"""Feature-weighted linear stacking: the members' weights depend on the row.

The weight of member i is linear in meta-features of the row, w_i(x) = sum_j v_ij f_j(x), so that
the answer is linear in the products f_j(x) g_i(x), and v follows from least squares:

    min_v  sum_x ( sum_ij v_ij f_j(x) g_i(x) - y(x) )^2 + alpha |v - v_0|^2

(004 prints the sum over i, j outside the square, which is an error.) The penalty pulls towards v_0,
the plain mean of the members.

Texts: 004 11.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Classifier, Regressor, Takes
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, SEED, at_least
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Optional, Text, Whole
from gnomon.ensemble.base import Training, normalized_rows
from gnomon.ensemble.held_out import FOLDS, Entries, mean_loss, out_of_fold
from gnomon.ensemble.member import Rows, encoded, fit_member, seeded, take_columns
from gnomon.ensemble.stacking import LevelZero, Stacked
from gnomon.table.encode import TableEncoder
from gnomon.table.table import Table

BLOCK = 4096  # judgement: bounds memory of the products of members and features
CONSTANT = 1e-13  # a target with less relative spread is constant up to rounding of its mean
WEIGHTED_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "meta_features": [None, list, tuple],
    "alpha": [at_least(0)],
    "cv": FOLDS,
    "n_jobs": JOBS,
    "random_state": SEED,
}


@storable
class MetaFeatures:
    """One, and the standardised columns of the table that are chosen; missing cells are the mean.

    Parameters
    ----------
    columns : ndarray of int or None
        Positions in the table; None for all.
    rows : ndarray, csr_array or Table
        Training rows.
    weights : ndarray
    """

    _stored = {
        "columns": Array("i8", (None,), low=0) | ListOf(Text() | Whole()) | None,
        "encoder": Object(("TableEncoder",)) | None,
        "mean": Array("f8", ("n_mean",)),
        "scale": Array("f8", ("n_mean",), low=0.0),
        "size": Array("f8", ("n_mean",)),
    }

    def __init__(self, columns: np.ndarray | None, rows: Rows, weights: np.ndarray):
        self.columns = columns
        self.encoder = None
        if columns is not None:
            rows = take_columns(rows, columns)
        if isinstance(rows, Table):
            self.encoder = TableEncoder(Takes()).fit(rows, weights)
            rows = encoded(self.encoder, rows)
        values = _dense(rows)
        known = ~np.isnan(values)
        share = weights @ known
        share[share == 0] = 1.0
        filled = np.where(known, values, 0.0)
        self.size = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        filled = filled / self.size
        self.mean = weights @ filled / share
        centered = np.where(known, filled - self.mean, 0.0)
        spread = np.sqrt(weights @ centered**2 / share)
        self.scale = np.where(spread > 1e-12, spread, np.inf)

    def __call__(self, rows: Rows) -> np.ndarray:
        """Meta-features of rows: (n, 1 + n_columns)."""
        if self.columns is not None:
            rows = take_columns(rows, self.columns)
        if self.encoder is not None:
            rows = encoded(self.encoder, rows)
        values = (_dense(rows) / self.size - self.mean) / self.scale
        return np.hstack([np.ones((len(values), 1)), np.nan_to_num(values, nan=0.0)])


def _dense(rows) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def products(features: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """f_j(x) g_i(x) for all i, j: (n, n_members * n_features), members outermost."""
    n = len(features)
    return (outputs[:, :, None] * features[:, None, :]).reshape(n, -1)


class FeatureWeighted(LevelZero):
    """Mixin: level 0 as in stacking, level 1 linear in products with meta-features."""

    _stored = {
        "center_": Number(),
        "coefficients_": Array("f8", ("n_coefficients", None)),
        "feature_names_in_": Optional(Array("O", (None,))),
        "held_out_losses_": Array("f8", ("n_coefficients",)),
        "meta_features_": Object(("MetaFeatures",)),
    }

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        rng = self._rng()
        strata = training.y if self._target == "classes" else None
        folds = training.folds(self.cv, rng, strata)
        drawn = rng.integers(2**31 - 1, size=len(candidates)).tolist()
        entries = Entries.of([fold.held for fold in folds])
        y, whole_part = training.y[entries.positions], training.whole()
        features = MetaFeatures(
            self._meta_columns(), training.at(whole_part.positions), whole_part.weight_array
        )

        def fit(job) -> Stacked:
            (name, learner), seed = job
            said, _ = out_of_fold(learner, name, training, folds, self._n_classes(), seed)
            fresh = seeded(learner, seed, False)
            member = fit_member(fresh, name, training, whole_part, seed=seed)
            return Stacked(member, said, mean_loss(said, y, entries.weights, self._measure()))

        def weighted(stacked: list[Stacked]) -> dict[str, Any]:
            made = features(training.rows[entries.positions])
            return {
                "members_": [each.member for each in stacked],
                "held_out_losses_": np.array([each.loss for each in stacked]),
                "meta_features_": features,
            } | self._coefficients([each.said for each in stacked], made, y, entries.weights)

        jobs = list(zip(candidates, drawn, strict=True))
        stacked = self._fit_each(jobs, fit, lambda made: made[-1].loss, weighted)
        self._keep(weighted(stacked))

    def _meta_columns(self) -> np.ndarray | None:
        if self.meta_features is None:
            return None
        names = list(getattr(self, "feature_names_in_", []))
        found = []
        for column in self.meta_features:
            if isinstance(column, str) and column not in names:
                raise DataError(
                    f"meta_features names the column {column!r}, which the table does not have"
                )
            place = names.index(column) if isinstance(column, str) else int(column)
            if not 0 <= place < self.n_features_in_:
                raise DataError(
                    f"meta_features names column {place}; there are {self.n_features_in_}"
                )
            found.append(place)
        return np.array(found, dtype=np.int64)

    def _coefficients(
        self, said: list[np.ndarray], features: np.ndarray, y: np.ndarray, weights: np.ndarray
    ) -> dict[str, Any]:
        """v by penalised least squares; the target and outputs in units of the target's spread."""
        n_classes = self._n_classes()
        if n_classes:
            center, unit = 0.0, 1.0
            targets = (y[:, None] == np.arange(n_classes)).astype(np.float64)
        else:
            center = float(weights @ y / weights.sum())
            unit = float(np.abs(y - center).max())
            if unit <= CONSTANT * abs(center):
                unit = 1.0
            targets = ((y - center) / unit)[:, None]
        n_members, n_features = len(said), features.shape[1]
        start = np.zeros((n_members, n_features))
        start[:, 0] = 1.0 / n_members
        size = n_members * n_features
        gram, moment = self.alpha * np.eye(size), np.zeros(size)
        for k in range(targets.shape[1]):
            outputs = (np.column_stack([each[:, k] for each in said]) - center) / unit
            for begin in range(0, len(y), BLOCK):
                some = slice(begin, begin + BLOCK)
                made = products(features[some], outputs[some])
                left = targets[some, k] - made @ start.ravel()
                gram += (made * weights[some, None]).T @ made
                moment += made.T @ (weights[some] * left)
        change = np.linalg.lstsq(gram, moment, rcond=None)[0]
        found = start + change.reshape(n_members, n_features)
        return {"coefficients_": found, "center_": center}

    def _weights_of(self, rows) -> np.ndarray:
        return self.meta_features_(rows) @ self.coefficients_.T

    def member_weights(self, X) -> np.ndarray:
        """The weight of each member for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        weights : ndarray of shape (n_samples, n_members)
        """
        return self._each_block(self._weights_of, X)

    def _mixed(self, rows) -> np.ndarray:
        weights = self._weights_of(rows)
        return sum(
            weights[:, [place]] * (said - self.center_)
            for place, said in enumerate(self._said(rows))
        )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        size = len(self._candidates()) * (n_columns + 1)
        made = 8 * (3 * n_rows * (n_columns + 1) + 3 * min(BLOCK, n_rows) * size + 4 * size**2)
        return super()._working_memory(n_rows, n_columns) + made


@method(
    task="classify",
    texts="004 11.1",
    use="Classifiers of which some columns tell whom to trust.",
    avoid="Few rows, or very many columns: one coefficient per member and column is fitted.",
    peers=(),
)
class FeatureWeightedStackingClassifier(FeatureWeighted, Classifier):
    """Stacking in which the members' weights are linear in columns of the row.

    Use it when some columns tell which classifier to trust; not with few rows or very many columns.
    Minimises sum_i w_i sum_k (sum_mj v_mj f_j(x_i) p_m(k | x_i) - [y_i = k])^2 + alpha |v - v_0|^2
    on out-of-fold probabilities, one v for all classes; v_0 is the plain mean. Scores below zero
    count as zero and are then scaled to add up to one. Texts: 004 11.1, corrected (the sum belongs
    inside the square).

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The members, of any library. None for a shallow tree, naive Bayes and a logistic regression.
    meta_features : list of str or int, default=None
        The columns on which weights depend, beside a constant; None for all.
    alpha : float, default=1.0
        Pull towards the plain mean of the members; 0 for plain least squares.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds, stratified by class; or the rows to learn from and to leave out, by fold.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows; ``estimators_`` lists their learners.
    coefficients_ : ndarray of shape (n_members, 1 + n_meta_features)
        v, by member and meta-feature, the constant first.
    meta_features_ : MetaFeatures
        Turns rows into meta-features: one, and standardised columns.
    center_ : float
        Taken from outputs before they are weighted; zero for classes.
    held_out_losses_ : ndarray of shape (n_members,)
        Brier score of each member on rows unknown to it.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The held-out Brier score of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import FeatureWeightedStackingClassifier
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = FeatureWeightedStackingClassifier(random_state=0).fit(rows, [0] * 10 + [1] * 10)
    >>> model.predict([[0.0], [19.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = WEIGHTED_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        *,
        meta_features=None,
        alpha=1.0,
        cv=5,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.meta_features = meta_features
        self.alpha = alpha
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _proba(self, rows):
        return normalized_rows(np.maximum(self._mixed(rows), 0.0))


@method(
    task="regress",
    texts="004 11.1",
    use="Regressors of which some columns tell whom to trust.",
    avoid="Few rows, or very many columns: one coefficient per member and column is fitted.",
    peers=(),
)
class FeatureWeightedStackingRegressor(FeatureWeighted, Regressor):
    """Stacking in which the members' weights are linear in columns of the row.

    Use it when some columns tell which regressor to trust; not with few rows or very many columns.
    Minimises sum_i w_i (sum_mj v_mj f_j(x_i) g_m(x_i) - y_i)^2 + alpha |v - v_0|^2 on out-of-fold
    estimates, in units of the target's spread about its mean; v_0 is the plain mean of the members.
    Texts: 004 11.1, corrected (the sum belongs inside the square).

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The members, of any library. None for a shallow tree and a linear regression.
    meta_features : list of str or int, default=None
        The columns on which weights depend, beside a constant; None for all.
    alpha : float, default=1.0
        Pull towards the plain mean of the members; 0 for plain least squares.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds; or the rows to learn from and to leave out, by fold.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows; ``estimators_`` lists their learners.
    coefficients_ : ndarray of shape (n_members, 1 + n_meta_features)
        v, by member and meta-feature, the constant first.
    meta_features_ : MetaFeatures
        Turns rows into meta-features: one, and standardised columns.
    center_ : float
        The mean of the target, taken from outputs before they are weighted.
    held_out_losses_ : ndarray of shape (n_members,)
        Mean squared error of each member on rows unknown to it.
    history_ : History
        The held-out mean squared error of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import FeatureWeightedStackingRegressor
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = FeatureWeightedStackingRegressor(random_state=0)
    >>> model.fit(rows, [2.0 * i for i in range(20)]).coefficients_.shape
    (2, 2)
    """

    _parameter_constraints = WEIGHTED_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        *,
        meta_features=None,
        alpha=1.0,
        cv=5,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.meta_features = meta_features
        self.alpha = alpha
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _estimate(self, rows):
        return self._mixed(rows)[:, 0] + self.center_
