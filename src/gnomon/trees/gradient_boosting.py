"""Gradient boosting with exact trees, as in scikit-learn: small trees, every threshold looked at.

A round fits a regression tree to the negative gradient of the loss at the scores so far, gives each
leaf the value that lowers the loss most, and adds ``learning_rate`` times the tree to the scores.
The rounds are scikit-learn's; `gnomon.trees.HistGradientBoostingClassifier` is gnomon's own, which
bins the columns first and is many times faster from a few thousand rows on.

Texts: 000b 12.1, 12.2 · 001 13.8 to 13.12.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import sklearn.ensemble as peer
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Learner, Regressor, Takes, intake
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import (
    FLAG,
    SEED,
    HasMethods,
    StrOptions,
    at_least,
    between,
    share,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, Array, ListOf, Object, Optional, Whole
from gnomon.trees.decision_tree import DecisionTreeRegressor
from gnomon.trees.exact import EqualRows, dense_if_small, from_scikit_learn
from gnomon.trees.learner import BYTES_PER_NODE, dense, normalized
from gnomon.trees.outputs import StagedClasses
from gnomon.trees.tree import Forest, PackedLater, Tree

CONSTRAINTS: dict[str, list[Any]] = {
    "learning_rate": [at_least(0)],
    "n_estimators": [whole(1)],
    "subsample": [between(0, 1, "right")],
    "criterion": [StrOptions({"squared_error", "friedman_mse", "deprecated"})],
    "min_samples_split": [whole(2), share()],
    "min_samples_leaf": [whole(1), share("neither")],
    "min_weight_fraction_leaf": [between(0, 0.5)],
    "max_depth": [None, whole(1)],
    "min_impurity_decrease": [at_least(0)],
    "init": [None, StrOptions({"zero"}), HasMethods(["fit", "predict"])],
    "random_state": SEED,
    "max_features": [None, whole(1), share(), StrOptions({"sqrt", "log2"})],
    "max_leaf_nodes": [None, whole(2)],
    "warm_start": FLAG,
    "validation_fraction": [between(0, 1, "neither")],
    "n_iter_no_change": [None, whole(1)],
    "tol": [at_least(0)],
    "ccp_alpha": [at_least(0)],
}
# Texts of parameters that classes here share, for their docstrings.
GRADIENT_BOOSTING_PARAMETERS = """\
learning_rate : float
    Factor of every tree (shrinkage).
n_estimators : int
    Rounds.
subsample : float
    Share of the rows, drawn without replacement, that each round's trees are fitted on.
criterion : {"squared_error", "friedman_mse"}
    Has no effect: a split saves squared error.
min_samples_split : int or float
    Least rows in a node that is split; a float is a share of all rows.
min_samples_leaf : int or float
    Least rows in a leaf; a float is a share of all rows.
min_weight_fraction_leaf : float
    Least share of the total weight in a leaf.
max_depth : int
    Most questions on a path; None for no limit.
min_impurity_decrease : float
    Least saving of a split, per unit of the total weight.
init : estimator, "zero" or None
    What the scores start from: a fitted estimator's predictions, zero, or the constant that is
    best for the loss.
random_state : int, RandomState or None
    Of the draws of rows and columns.
max_features : int, float, {"sqrt", "log2"}
    Columns looked at in a node, drawn at random: a number, a share, or None for all.
max_leaf_nodes : int
    Grow best-first up to so many leaves; None for no limit.
warm_start : bool
    Keep the rounds of the last fit and add to them up to ``n_estimators``.
validation_fraction : float
    Share of the rows kept aside for ``n_iter_no_change``.
n_iter_no_change : int
    End when the loss of the rows kept aside has not fallen for so many rounds; None for all
    rounds.
tol : float
    Least fall of the loss that counts.
ccp_alpha : float
    Cost-complexity pruning of each tree.
"""
# Texts of attributes that classes here share, for their docstrings.
GRADIENT_BOOSTING_ATTRIBUTES = """\
estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators_, n_scores)
    The trees.
trees_ : list of Tree
    The trees as arrays, the scores of a round side by side.
n_estimators_ : int
    Rounds made.
train_score_ : ndarray of shape (n_estimators_,)
    Loss of the rows that each round was fitted on.
oob_improvement_ : ndarray of shape (n_estimators_,)
    How much each round lowered the loss of the rows that it did not draw; only with
    ``subsample`` below one.
n_trees_per_iteration_ : int
    Scores, and trees of a round.
max_features_ : int
    Columns looked at in a node.
feature_importances_ : ndarray of shape (n_columns,)
    Savings by column, adding up to one.
history_ : History
    ``train_score_``, and why the rounds ended.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


def _without_repetitions(data: Data) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Rows, target and weights; equal rows as one where there are weights or repetitions.

    So a weight is so many repetitions to the bit; rows that differ stay in their order.
    """
    groups = EqualRows(data)
    if data.weights is None and len(groups.first) == data.n_rows:
        return dense_if_small(data.rows), data.y, None
    rows = dense_if_small(data.rows[groups.first])
    return rows, data.y[groups.first], groups.total(data.weights)


class ExactBoosting(Learner):
    """What boosted exact trees of classes and of numbers share."""

    natively = Takes(sparse=True)
    _largest = 3e38
    _transient = ("_packed", "_members", "_peer_fitted")
    _peer: ClassVar[type]

    n_estimators: int
    learning_rate: float
    warm_start: bool
    trees_: list[Tree]
    init_scores_: np.ndarray
    _stored = {
        "_n_columns": Whole(1),
        "_start": Array("f8", ("n_trees_per_iteration_",)),
        "classes_": Optional(CLASSES),
        "feature_importances_": Array("f8", ("n_columns",)),
        "max_features_": Whole(),
        "n_estimators_": Whole(),
        "n_trees_per_iteration_": Whole(),
        "train_score_": Array("f8", ("n_estimators",)),
        "trees_": ListOf(Object(("Tree",))),
    }

    def fit(self, X, y=None, sample_weight=None, monitor=None):
        """Fit the rounds.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            A numeric array is taken as it is and must be finite; a data frame may hold text,
            categories, dates, booleans and missing values.
        y : array-like or str, default=None
            The target; the name of a column of X when X is a table.
        sample_weight : array-like or str, default=None
            Weights of the rows; weight two is the same as the row standing there twice.
        monitor : callable, default=None
            Called after each round as ``monitor(round, estimator, locals)`` with scikit-learn's
            estimator; when it returns True, the rounds end.

        Returns
        -------
        self : object
        """
        self._monitor = monitor
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._monitor

    def _most_steps(self) -> int:
        return self.n_estimators

    def _estimator_to_fit(self) -> Any:
        """A new estimator of scikit-learn's; with ``warm_start`` the one that was fitted last."""
        names = inspect.signature(self._peer).parameters
        given = {name: getattr(self, name) for name in names}
        given["verbose"] = 0
        if isinstance(self.random_state, np.random.Generator):
            given["random_state"] = int(self.random_state.integers(2**31))
        before = vars(self).get("_peer_fitted")
        if self.warm_start and before is not None:
            return before.set_params(**given)
        return self._peer(**given)

    def _fit(self, data: Data) -> None:
        estimator = self._estimator_to_fit()
        course = self._course("round", self.n_estimators)
        steps = iter(course)
        next(steps)

        def after_round(number: int, running: Any, names: dict) -> bool:
            def so_far() -> dict[str, Any]:
                part = copy.copy(running)
                part.estimators_ = running.estimators_[: number + 1]
                return self._public() | self._attributes(part, data.n_columns)

            asked = self._monitor is not None and self._monitor(number, running, names)
            stop = course.end_step(float(running.train_score_[number]), attributes=so_far)
            if not stop and number + 1 < self.n_estimators:
                next(steps, None)
            return bool(asked or stop)

        estimator.fit(*_without_repetitions(data), monitor=after_round)
        if course.history.stopped == "done":
            course.history.stopped = "max_iter"
        self._peer_fitted = estimator
        self._keep(self._attributes(estimator, data.n_columns))
        self._pack()
        self.history_ = course.history
        for name in ("oob_improvement_", "oob_scores_", "oob_score_"):
            vars(self).pop(name, None)
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))

    def _attributes(self, estimator: Any, n_columns: int) -> dict[str, Any]:
        """What a fitted estimator of scikit-learn's stands for."""
        stages = estimator.estimators_
        trees = [from_scikit_learn(each.tree_) for stage in stages for each in stage]
        importances = [tree.importances(n_columns) for tree in trees if tree.n_nodes > 1]
        zeros = np.zeros((1, n_columns))
        is_constant = self.init is None or self.init == "zero"
        found = {
            "trees_": trees,
            "n_estimators_": len(stages),
            "n_trees_per_iteration_": stages.shape[1],
            "train_score_": estimator.train_score_[: len(stages)].copy(),
            "max_features_": estimator.max_features_,
            "feature_importances_": normalized(np.mean(importances, axis=0))
            if importances
            else np.zeros(n_columns),
            "_n_columns": n_columns,
            "_start": estimator._raw_predict_init(zeros)[0].copy() if is_constant else None,
        }
        if not is_constant:
            found["init_"] = estimator.init_
        return found

    @property
    def estimators_(self) -> np.ndarray:
        """The trees of each round and score, as regression trees (n_estimators_, n_scores)."""
        check_is_fitted(self)
        members = vars(self).get("_members")
        if members is None or members[0] is not self.trees_:
            made = np.empty(len(self.trees_), object)
            made[:] = [self._as_member(tree) for tree in self.trees_]
            shape = (self.n_estimators_, self.n_trees_per_iteration_)
            members = self._members = (self.trees_, made.reshape(shape))
        return members[1]

    def _as_member(self, tree: Tree) -> DecisionTreeRegressor:
        made = DecisionTreeRegressor(max_depth=self.max_depth, max_leaf_nodes=self.max_leaf_nodes)
        made.n_features_in_ = made._n_columns = self._n_columns
        made._n_outputs, made._one_target, made._is_exact = 1, True, True
        made.max_features_ = self.max_features_
        made._take_tree(tree)
        return made

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index):
        return self.estimators_[index]

    def __iter__(self):
        return iter(self.estimators_)

    def _forests(self) -> list[Forest]:
        """The trees of each score, packed for prediction when first asked for."""
        packed = vars(self).get("_packed")
        if packed is None or packed[0] is not self.trees_:
            self._pack()
        return [each.forest for each in self._packed[1]]

    def _pack(self) -> None:
        k = self.n_trees_per_iteration_
        self._packed = self.trees_, [PackedLater(self.trees_[score::k]) for score in range(k)]

    def _begin(self, rows: Any) -> np.ndarray:
        """Scores before the first tree (n_rows, n_scores)."""
        k = self.n_trees_per_iteration_
        if self._start is not None:
            return np.tile(self._start, (rows.shape[0], 1))
        return self._scores_of_init(rows).reshape(rows.shape[0], k)

    def _scores_of_init(self, rows: Any) -> np.ndarray:
        raise NotImplementedError

    def _scores(self, rows: Any) -> np.ndarray:
        """Raw scores (n_rows, n_scores) of a block of rows."""
        scores = self._begin(rows)
        single = dense(rows).astype(np.float32)
        for k, forest in enumerate(self._forests()):
            scores[:, k] += self.learning_rate * forest.sum(single)[:, 0]
        return scores

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """Raw scores after each round."""
        check_is_fitted(self)
        blocks = list(intake.blocks_of(self, X))
        scores = np.concatenate([self._begin(block) for block in blocks])
        rows = np.concatenate([dense(block).astype(np.float32) for block in blocks])
        k = self.n_trees_per_iteration_
        for first in range(0, len(self.trees_), k):
            for score in range(k):
                tree = self.trees_[first + score]
                scores[:, score] += self.learning_rate * tree.predict(rows)[:, 0]
            yield scores.copy()

    def apply(self, X) -> np.ndarray:
        """The leaf that each row falls into, in each tree.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators_) or (n_samples, n_estimators_, n_scores)
        """

        def leaves(rows: Any) -> np.ndarray:
            single = dense(rows).astype(np.float32)
            return np.stack([each.apply(single) for each in self._forests()], axis=2)

        found = self._each_block(leaves, X).astype(np.float64)
        return found[:, :, 0] if self._target == "numbers" else found

    def _check_loaded(self) -> None:
        if "trees_" not in vars(self):
            return
        for tree in self.trees_:
            if tree.feature.max(initial=-1) >= self._n_columns or tree.n_outputs != 1:
                raise ValueError("a tree does not fit to the columns of the model")
        if len(self.trees_) != self.n_estimators_ * self.n_trees_per_iteration_:
            raise ValueError("the trees do not fit to the scores of the model")
        self._peer_fitted = None
        self._pack()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state | {"_peer_fitted": None} if "_peer_fitted" in state else state

    def _public(self) -> dict[str, Any]:
        private = ("_n_columns", "_start")
        return super()._public() | {k: v for k, v in vars(self).items() if k in private}

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_scores = max(len(getattr(self, "classes_", ())), 1)
        leaves = self.max_leaf_nodes or 2 ** min(self.max_depth or 30, 30)
        nodes = 2 * min(leaves, n_rows)
        model = 2 * self.n_estimators * n_scores * nodes * BYTES_PER_NODE
        return 8 * n_rows * (n_columns + 12 * n_scores + 12) + model

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or HistGradientBoosting, which bins the columns."


@method(
    task="classify",
    texts="000b 12.2 · 001 13.8 to 13.12",
    use="Boosting of small exact trees on few rows, with scikit-learn's results.",
    avoid="More than some thousand rows: HistGradientBoostingClassifier is many times faster.",
    peers=("sklearn.ensemble.GradientBoostingClassifier",),
    on="scikit-learn",
)
@without_effect("verbose")
@shared_parameters(GRADIENT_BOOSTING_PARAMETERS)
@shared_attributes(GRADIENT_BOOSTING_ATTRIBUTES)
class GradientBoostingClassifier(ExactBoosting, StagedClasses):
    """Classes from a sum of small exact trees, each fitted to the gradient of the loss before it.

    Use it for tables of up to some thousand rows, or where scikit-learn's results are wanted; for
    more rows take `HistGradientBoostingClassifier`. Minimises the binomial or multinomial deviance
    sum_i w_i log(1 + exp(-y_i F(x_i)))  or the exponential loss of
    F = init + learning_rate * sum of trees. Texts: 000b 12.2, 001 13.8 to 13.12.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        What is lowered; "exponential" takes two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    estimators_, trees_, n_estimators_, train_score_, oob_improvement_, n_trees_per_iteration_
    max_features_, feature_importances_, history_, n_features_in_

    See Also
    --------
    HistGradientBoostingClassifier : The same on binned columns, for many rows.

    Examples
    --------
    >>> from gnomon.trees import GradientBoostingClassifier
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = GradientBoostingClassifier().fit(rows, ["a", "a", "b", "b"])
    >>> model.predict([[1.5], [8.5]]).tolist()
    ['a', 'b']
    """

    _peer = peer.GradientBoostingClassifier
    _parameter_constraints = {
        **CONSTRAINTS,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "init": [None, StrOptions({"zero"}), HasMethods(["fit", "predict_proba"])],
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _scores_of_init(self, rows: Any) -> np.ndarray:
        """The link of the probabilities that the first estimator gives."""
        proba = self.init_.predict_proba(rows)
        tiny = np.finfo(np.float32).eps
        clipped = np.clip(proba, tiny, 1 - tiny)
        if self.n_trees_per_iteration_ > 1:
            logs = np.log(clipped)
            return logs - logs.mean(axis=1, keepdims=True)
        odds = np.log(clipped[:, 1] / clipped[:, 0])
        return odds / 2 if self.loss == "exponential" else odds

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        if scores.shape[1] == 1:
            factor = 2.0 if self.loss == "exponential" else 1.0
            second = 1.0 / (1.0 + np.exp(-factor * scores[:, 0]))
            return np.column_stack((1.0 - second, second))
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def _proba(self, rows):
        with np.errstate(over="ignore"):
            return self._shares(self._scores(rows))

    def decision_function(self, X) -> np.ndarray:
        """Raw scores of each row: for two classes one, above zero for the second class.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._each_block(lambda rows: flat(self._scores(rows)), X)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Raw scores after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        yield from self._staged_scores(X)


@method(
    task="regress",
    texts="000b 12.1, 12.2 · 001 13.8 to 13.12",
    use="Boosting of small exact trees on few rows, with scikit-learn's results.",
    avoid="More than some thousand rows: HistGradientBoostingRegressor is many times faster.",
    peers=("sklearn.ensemble.GradientBoostingRegressor",),
    on="scikit-learn",
)
@without_effect("verbose")
@shared_parameters(GRADIENT_BOOSTING_PARAMETERS)
@shared_attributes(GRADIENT_BOOSTING_ATTRIBUTES)
class GradientBoostingRegressor(ExactBoosting, Regressor):
    """Numbers from a sum of small exact trees, each fitted to the gradient of the loss before it.

    Use it for tables of up to some thousand rows, or where scikit-learn's results are wanted; for
    more rows take `HistGradientBoostingRegressor`. Minimises  sum_i w_i L(y_i, F(x_i))  with
    F = init + learning_rate * sum of trees. Texts: 000b 12.1, 12.2, 001 13.8 to 13.12.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        What is lowered.
    alpha : float, default=0.9
        The quantile of the losses "huber" and "quantile".

    Attributes
    ----------
    estimators_, trees_, n_estimators_, train_score_, oob_improvement_, n_trees_per_iteration_
    max_features_, feature_importances_, history_, n_features_in_

    See Also
    --------
    HistGradientBoostingRegressor : The same on binned columns, for many rows.

    Examples
    --------
    >>> from gnomon.trees import GradientBoostingRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = GradientBoostingRegressor().fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[1.5], [8.5]]).round(2).tolist()
    [1.0, 5.0]
    """

    _peer = peer.GradientBoostingRegressor
    _parameter_constraints = {
        **CONSTRAINTS,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "alpha": [between(0, 1, "neither")],
    }

    def __init__(
        self,
        *,
        loss="squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        alpha=0.9,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    def _scores_of_init(self, rows: Any) -> np.ndarray:
        return np.asarray(self.init_.predict(rows), np.float64)

    def _estimate(self, rows):
        return self._scores(rows)[:, 0]

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The estimated target after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for scores in self._staged_scores(X):
            yield scores[:, 0]


def flat(scores: np.ndarray) -> np.ndarray:
    """One score per row as a line."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


# scikit-learn's tools ask whether a model is one of scikit-learn's: these have the same
# attributes.
peer.GradientBoostingClassifier.register(GradientBoostingClassifier)
peer.GradientBoostingRegressor.register(GradientBoostingRegressor)
