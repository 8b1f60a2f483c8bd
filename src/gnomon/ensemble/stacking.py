"""Stacking: a second learner learns how to combine the predictions of the first ones.

Level 0 are learners of the rows. Level 1 learns the target from what level 0 says of rows that it
has not learnt from: out-of-fold (each row's outputs come from a model that did not see it), or on a
part that is held out (blending). Without a learner of level 1, the members get non-negative weights
that add up to one and minimise the squared error, so that they can be read as shares:

    min_a  sum_i w_i sum_k ([y_i = k] - sum_m a_m p_m(k | x_i))^2,   a >= 0,  sum_m a_m = 1

Texts: 003 2.5.6 (two parts, with passthrough) · 004 11.1 (probabilities, non-negative weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gnomon.contract import Classifier, Regressor, intake
from gnomon.contract.inert import without_effect
from gnomon.contract.learner import put_together
from gnomon.engine.history import History
from gnomon.engine.parameters import FLAG, JOBS, SEED, HasMethods, StrOptions, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, ListOf, Object, Text, Whole
from gnomon.ensemble.base import Ensemble, Training, normalized_rows, weighted_mean
from gnomon.ensemble.held_out import Entries, mean_loss, out_of_fold, say
from gnomon.ensemble.lots import Fold
from gnomon.ensemble.member import (
    Member,
    add_columns,
    fit_member,
    fit_on,
    seeded,
    takes_weights,
)
from gnomon.ensemble.named import NamedMembers
from gnomon.linear import LogisticRegression, Ridge
from gnomon.table.table import Table

SUM_TO_ONE = 1e4  # weight of the equation "sum = 1" beside the errors: kept to about 1e-8
# Members that err by less, beside the worst one, are told apart by rounding alone.
NO_ERROR = 1e-8
STACK_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "final_estimator": [None, StrOptions({"weights"}), HasMethods(["fit"])],
    "split": [StrOptions({"folds", "holdout"})],
    "cv": ["cv_object", StrOptions({"prefit"})],
    "holdout": [between(0, 1, "neither")],
    "passthrough": FLAG,
    "n_jobs": JOBS,
    "random_state": SEED,
}


class Stacked(NamedTuple):
    """A member of level 0, and the predictions of its fold models for rows unknown to them."""

    member: Member
    said: np.ndarray
    loss: float


def convex_weights(outputs: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Non-negative weights that add up to one and minimise the weighted squared error.

    Members without error share the weight equally.

    Parameters
    ----------
    outputs : ndarray of shape (n, n_members)
    target : ndarray of shape (n,)
    weights : ndarray of shape (n,)

    Returns
    -------
    a : ndarray of shape (n_members,)

    Examples
    --------
    >>> import numpy as np
    >>> outputs = np.array([[0.0, 2.0], [1.0, 5.0], [3.0, 3.0]])
    >>> convex_weights(outputs, outputs @ [0.25, 0.75], np.ones(3)).round(6)
    array([0.25, 0.75])
    """
    n_members = outputs.shape[1]
    if n_members == 1:
        return np.ones(1)
    # errors of the members: with weights that add up to one, sum_m a_m (g_m - y) is the error
    errors = np.sqrt(weights / weights.sum())[:, None] * (outputs - target[:, None])
    sizes = np.abs(errors).max(axis=0)
    perfect = sizes <= NO_ERROR * sizes.max()
    if perfect.any():
        return perfect / perfect.sum()
    small = np.linalg.qr(errors / sizes.max(), mode="r")
    level = SUM_TO_ONE * max(np.abs(small).max(), np.finfo(float).tiny)
    system = np.vstack([small, np.full(n_members, level)])
    wanted = np.append(np.zeros(len(small)), level)
    found, _ = nnls(system, wanted)
    return found / found.sum()


class LevelZero(NamedMembers, Ensemble):
    """Mixin: named members whose outputs are learnt from."""

    def _n_classes(self) -> int:
        return len(self.classes_) if self._target == "classes" else 0

    def _measure(self) -> str:
        return "brier" if self._target == "classes" else "squared"

    def _said(self, rows) -> list[np.ndarray]:
        n_classes = self._n_classes()
        return list(self._ask(lambda member: say(member, rows, n_classes), rows))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_members = len(self._candidates())
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * 8 * n_members


class Stack(TransformerMixin, LevelZero):
    """Mixin: level 0 with held-out outputs, then level 1."""

    _stored = {
        "_uses_proba": Flag(),
        "_widths": ListOf(Whole(), "n_widths"),
        "final_": Object(("Member",)) | None,
        "held_out_losses_": Array("f8", ("n_widths",), finite=False),
        "stack_method_": ListOf(Text(), "n_widths"),
        "weights_": Array("f8", ("n_widths",)) | None,
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _parts(self, training: Training, rng: np.random.Generator) -> list[Fold]:
        strata = training.y if self._target == "classes" else None
        if self.split == "holdout":
            return [training.lots.halves(self.holdout, rng, strata)]
        return training.folds(5 if self.cv is None else self.cv, rng, strata)

    def _default_final(self) -> Any:
        """What learns level 1 where nothing is given."""
        return LogisticRegression() if self._target == "classes" else Ridge()

    def _final_learner(self) -> Any:
        """Level 1, not fitted; None for weights."""
        if isinstance(self.final_estimator, str):
            return None
        return self._default_final() if self.final_estimator is None else self.final_estimator

    def _method_of(self, learner: Any) -> str:
        """Which outputs of a member level 1 sees."""
        if self._target != "classes":
            return "predict"
        wanted = self.stack_method
        if wanted != "auto":
            if not hasattr(learner, wanted):
                raise ValueError(
                    f"Underlying estimator {type(learner).__name__} does not implement the method "
                    f"{wanted}."
                )
            return wanted
        if is_regressor(learner):
            return "predict"
        for name in ("predict_proba", "decision_function"):
            if hasattr(learner, name):
                return name
        return "predict"

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._candidates() if self._may_mix() else self._checked_candidates()
        final = self._final_learner()
        if final is not None:
            self._check_final(final)
        methods = [self._method_of(learner) for _, learner in candidates]
        self._uses_proba = all(each in ("predict_proba", "predict") for each in methods)
        self.stack_method_ = methods
        rng = self._rng()
        # scikit-learn's folds are the same in every fit
        dealer = np.random.default_rng(0) if self.random_state is None else rng
        if isinstance(self.cv, str):
            self._fit_on_fitted(training, candidates, int(rng.integers(2**31 - 1)))
            return
        folds = self._parts(training, dealer)
        drawn = rng.integers(2**31 - 1, size=len(candidates) + 1).tolist()
        entries = Entries.of([fold.held for fold in folds])
        whole_part = training.whole() if self.split == "folds" else None
        y, measure = training.y[entries.positions], self._measure()

        def fit(job) -> Stacked:
            (name, learner), seed = job
            say_it = self._saying(learner)
            said, members = out_of_fold(
                learner, name, training, folds, self._n_classes(), seed, say_it
            )
            member = members[0]
            if whole_part is not None:
                fresh = seeded(learner, seed, False)
                member = fit_member(fresh, name, training, whole_part, seed=seed)
            loss = math.nan
            if say_it is say:
                loss = mean_loss(said, y, entries.weights, measure)
            return Stacked(member, said, loss)

        def level_1(stacked: list[Stacked]) -> dict[str, Any]:
            return self._level_1(stacked, training, entries, drawn[-1])

        jobs = list(zip(candidates, drawn[:-1], strict=True))
        stacked = self._fit_each(jobs, fit, lambda made: made[-1].loss, level_1)
        self._keep(level_1(stacked))

    def _may_mix(self) -> bool:
        """Whether level 0 may hold regressors: level 1 of classes learns from any number."""
        return self._target == "classes" and self._final_learner() is not None

    def _check_final(self, final: Any) -> None:
        classes = self._target == "classes"
        if not (is_classifier(final) if classes else is_regressor(final)):
            kind = "classifier" if classes else "regressor"
            raise ValueError(f"'final_estimator' parameter should be a {kind}. Got {final}")

    def _saying(self, learner: Any) -> Callable:
        """What a member's outputs for level 1 are: probabilities, or what the method gives."""
        name = self._method_of(learner)
        is_prefit = isinstance(self.cv, str)  # its classes are the labels, not their numbers
        if self._target != "classes" or (name == "predict_proba" and not is_prefit):
            return say

        def outputs(member: Member, rows: Any, n_classes: int) -> np.ndarray:
            found = np.asarray(getattr(member.estimator, name)(member.given(rows)), np.float64)
            return found.reshape(len(found), -1)

        return outputs

    def _fit_on_fitted(self, training: Training, candidates, seed: int) -> None:
        """Level 1 on what learners that are fitted already say of these rows."""
        for name, learner in candidates:
            check_is_fitted(
                learner, msg=f"cv='prefit' needs fitted members, and {name!r} is not fitted yet."
            )
        part = training.whole()
        entries = Entries.of([part])
        rows = training.rows[part.positions]
        stacked = []
        for name, learner in candidates:
            member = Member(name, learner)
            stacked.append(Stacked(member, self._saying(learner)(member, rows, 0), math.nan))
        self._keep(self._level_1(stacked, training, entries, seed))
        self.history_ = History()

    def _level_1(self, stacked: list[Stacked], training: Training, entries: Entries, seed: int):
        """Everything that is learnt from held-out outputs."""
        found = {
            "members_": [each.member for each in stacked],
            "held_out_losses_": np.array([each.loss for each in stacked]),
            "weights_": None,
            "final_": None,
        }
        self._widths = [self._level_1_columns(each.said).shape[1] for each in stacked]
        said = [each.said for each in stacked]
        learner = self._final_learner()
        if learner is None and not self.passthrough:
            found["weights_"] = self._weights_from(said, training.y[entries.positions], entries)
            return found
        if learner is None:
            raise ValueError("passthrough=True needs a final_estimator to pass the columns to")
        rows = self._level_1_rows(said, lambda: training.rows[entries.positions], found["members_"])
        weights = entries.weights
        if (weights == 1).all() and not (training.is_weighted and takes_weights(learner)):
            weights = None
        final = seeded(clone(learner), seed, False)
        y = training.y[entries.positions]
        found["final_"] = fit_on(final, "final_estimator", rows, y, weights)
        return found

    def _weights_from(self, said: list[np.ndarray], y: np.ndarray, entries: Entries) -> np.ndarray:
        n_classes = self._n_classes()
        target = y.astype(np.float64)
        weights = entries.weights
        if n_classes:
            target = (y[:, None] == np.arange(n_classes)).astype(np.float64).ravel()
            weights = np.repeat(weights, n_classes)
        return convex_weights(np.column_stack([each.ravel() for each in said]), target, weights)

    def _level_1_rows(self, said: list[np.ndarray], rows, members: list[Member]):
        """Outputs of level 0 as columns, beside the rows where they are passed through.

        Probabilities of two classes add up to one, so that the first is left out.
        """
        kept = [self._level_1_columns(each) for each in said]
        if not self.passthrough:
            return np.hstack(kept)
        names = self._output_names(members, [each.shape[1] for each in kept])
        return add_columns(rows(), np.hstack(kept), names, first=True)

    def _level_1_columns(self, said: np.ndarray) -> np.ndarray:
        return said[:, 1:] if self._n_classes() == 2 and said.shape[1] == 2 else said

    def _output_names(self, members: list[Member], widths: list[int]) -> list[str]:
        prefix = type(self).__name__.lower()
        return [
            f"{prefix}_{member.name}{k if width > 1 else ''}"
            for member, width in zip(members, widths, strict=True)
            for k in range(width)
        ]

    def transform(self, X) -> Any:
        """The outputs of level 0 that level 1 sees, then the columns that are passed through.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray or sparse matrix of shape (n_samples, n_outputs)
        """
        check_is_fitted(self)
        parts = []
        for rows in intake.tables_of(self, X):
            made = self._level_1_rows(self._said(rows), lambda rows=rows: rows, self.members_)
            parts.append(made.to_pandas().to_numpy() if isinstance(made, Table) else made)
        return put_together(parts)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X, where they are passed through.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "members_")
        given = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        names = self._output_names(self.members_, self._widths)
        if self.passthrough:
            names += list(given)
        return np.asarray(names, object)

    @property
    def final_estimator_(self) -> Any:
        """The fitted learner of level 1; ``"weights"`` where there is none."""
        check_is_fitted(self, "members_")
        return "weights" if self.final_ is None else self.final_.estimator

    def _said(self, rows) -> list[np.ndarray]:
        n_classes = self._n_classes()

        def answer(member: Member) -> np.ndarray:
            return self._saying(member.estimator)(member, rows, n_classes)

        return list(self._ask(answer, rows))


@method(
    task="classify",
    texts="003 2.5.6 · 004 11.1",
    use="Several good classifiers, and rows enough to learn whom to trust.",
    avoid="Few rows, or where one model must be explained.",
    peers=("sklearn.ensemble.StackingClassifier",),
)
@without_effect("verbose")
class StackingClassifier(Stack, Classifier):
    """Classifiers of level 0, and weights or a classifier of level 1 on their held-out
    probabilities.

    Use it when several good classifiers disagree and there are rows enough to learn whom to trust;
    not with few rows. Level 1 never sees an output for a row from a model that learnt from that
    row. With ``final_estimator="weights"`` it is one non-negative weight per member, minimising the
    Brier score sum_i sum_k ([y_i = k] - sum_m a_m p_m(k | x_i))^2 with sum_m a_m = 1; any
    classifier may take its place, a stacking classifier too (several levels). ``split="holdout"``
    is blending, the form of 003 2.5.6, where members learn from the first part only. Texts: 003
    2.5.6, 004 11.1.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs or of estimators
        Level 0, of any library; "drop" in the place of one leaves it out. None for
        a shallow tree, naive Bayes and a logistic regression.
    final_estimator : estimator or "weights", default=None
        Level 1: None for a logistic regression; "weights" for one non-negative weight per member.
    cv : int, splitter, iterable or "prefit", default=None
        Number of folds, stratified by class (None for 5), or the folds; "prefit" where the members
        are fitted already and level 1 learns from what they say of all rows.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The outputs of level 0 that level 1 sees; "auto" for the first that a member has.
    n_jobs : int, default=None
        Threads; None for one per processor.
    passthrough : bool, default=False
        Let level 1 see the columns of the table too.
    split : {"folds", "holdout"}, default="folds"
        Whether level 1 learns from out-of-fold outputs, or from a part held out once (blending).
    holdout : float, default=0.5
        Share of the rows that is held out for level 1 in blending.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows (in blending: on the first part); ``estimators_`` lists the
        learners.
    final_ : Member or None
        Level 1, where it is a learner.
    weights_ : ndarray of shape (n_members,) or None
        Shares of the members, where there is no learner of level 1.
    stack_method_ : list of str
        The outputs of each member that level 1 sees.
    held_out_losses_ : ndarray of shape (n_members,)
        Brier score of each member on rows unknown to it.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    history_ : History
        The held-out Brier score of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> from gnomon.ensemble import StackingClassifier
    >>> from gnomon.linear import LogisticRegression
    >>> rows = [[float(i)] for i in range(12)]
    >>> learners = [("bayes", GaussianNB()), ("linear", LogisticRegression())]
    >>> model = StackingClassifier(learners, "weights", cv=3, random_state=0)
    >>> model = model.fit(rows, [0] * 6 + [1] * 6)
    >>> model.predict([[0.0], [11.0]]).tolist()
    [0, 1]
    >>> round(float(model.weights_.sum()), 6)
    1.0
    """

    _parameter_constraints = {
        **STACK_CONSTRAINTS,
        "stack_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
    }

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        stack_method="auto",
        n_jobs=None,
        passthrough=False,
        verbose=0,
        split="folds",
        holdout=0.5,
        random_state=None,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.split = split
        self.holdout = holdout
        self.random_state = random_state

    def _proba(self, rows):
        said = self._said(rows)
        if self.weights_ is not None:
            return normalized_rows(weighted_mean(said, self.weights_))
        made = self._level_1_rows(said, lambda: rows, self.members_)
        return self.final_.proba(made, len(self.classes_))

    @available_if(lambda self: self._final_has("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """The decision function of level 1.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """

        def scores(rows) -> np.ndarray:
            made = self._level_1_rows(self._said(rows), lambda: rows, self.members_)
            return self.final_.estimator.decision_function(self.final_.given(made))

        return self._each_block(scores, X)

    def _final_has(self, name: str) -> bool:
        final = vars(self).get("final_")
        return callable(getattr(self._final_learner() if final is None else final.estimator, name))


@method(
    task="regress",
    texts="003 2.5.6 · 004 11.1",
    use="Several good regressors, and rows enough to learn whom to trust.",
    avoid="Few rows, or where one model must be explained.",
    peers=("sklearn.ensemble.StackingRegressor",),
)
@without_effect("verbose")
class StackingRegressor(Stack, Regressor):
    """Regressors of level 0, and weights or a regressor of level 1 on their held-out estimates.

    Use it when several good regressors disagree and there are rows enough to learn whom to trust;
    not with few rows. Level 1 never sees an output for a row from a model that learnt from that
    row. With ``final_estimator="weights"`` it is one non-negative weight per member, minimising
    sum_i w_i (y_i - sum_m a_m g_m(x_i))^2 with sum_m a_m = 1; any regressor may take its place, a
    stacking regressor too (several levels). ``split="holdout"`` is blending, the form of 003 2.5.6.
    Texts: 003 2.5.6, 004 11.1.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs or of estimators
        Level 0, of any library; "drop" in the place of one leaves it out. None for
        a shallow tree and a linear regression.
    final_estimator : estimator or "weights", default=None
        Level 1: None for ridge regression; "weights" for one non-negative weight per member.
    cv : int, splitter, iterable or "prefit", default=None
        Number of folds (None for 5), or the folds; "prefit" where the members are
        fitted already and level 1 learns from what they say of all rows.
    n_jobs : int, default=None
        Threads; None for one per processor.
    passthrough : bool, default=False
        Let level 1 see the columns of the table too.
    split : {"folds", "holdout"}, default="folds"
        Whether level 1 learns from out-of-fold outputs, or from a part held out once (blending).
    holdout : float, default=0.5
        Share of the rows that is held out for level 1 in blending.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows (in blending: on the first part); ``estimators_`` lists the
        learners.
    final_ : Member or None
        Level 1, where it is a learner.
    weights_ : ndarray of shape (n_members,) or None
        Shares of the members, where there is no learner of level 1.
    stack_method_ : list of str
        The outputs of each member that level 1 sees.
    held_out_losses_ : ndarray of shape (n_members,)
        Mean squared error of each member on rows unknown to it.
    history_ : History
        The held-out mean squared error of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import StackingRegressor
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> rows = [[float(i)] for i in range(12)]
    >>> learners = [("tree", DecisionTreeRegressor()), ("line", LinearRegression())]
    >>> model = StackingRegressor(learners, "weights", cv=3, random_state=0)
    >>> model = model.fit(rows, [2.0 * i for i in range(12)])
    >>> model.weights_.round(6).tolist()
    [0.0, 1.0]
    """

    _parameter_constraints = STACK_CONSTRAINTS

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        n_jobs=None,
        passthrough=False,
        verbose=0,
        split="folds",
        holdout=0.5,
        random_state=None,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.split = split
        self.holdout = holdout
        self.random_state = random_state

    def predict(self, X, **predict_params) -> Any:
        """The estimate of level 1.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        **predict_params : dict
            Parameters of ``final_estimator_.predict``, such as ``return_std``.

        Returns
        -------
        estimates : ndarray of shape (n_samples,), or what the final estimator returns
        """
        if not predict_params:
            return super().predict(X)
        check_is_fitted(self)
        if self.final_ is None:
            raise ValueError("final_estimator='weights' takes no parameters of predict")
        rows = put_together(list(intake.tables_of(self, X)))
        made = self._level_1_rows(self._said(rows), lambda: rows, self.members_)
        return self.final_.estimator.predict(self.final_.given(made), **predict_params)

    def _estimate(self, rows):
        said = self._said(rows)
        if self.weights_ is not None:
            return weighted_mean(said, self.weights_)[:, 0]
        return self.final_.estimate(self._level_1_rows(said, lambda: rows, self.members_))
