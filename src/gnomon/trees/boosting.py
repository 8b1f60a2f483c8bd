"""Gradient boosting: small trees added up, each a step down the gradient of a loss.

With scores F and loss L, a round takes the derivatives g_i = dL(y_i, F(x_i)) / dF and h_i (the
second), grows a tree whose splits maximise  G^2 / (H + l2)  summed over the sides, gives every leaf
the value gamma that lowers the true loss most, and moves  F <- F + learning_rate * gamma.  Many
small steps, stopped in time by rows that were kept aside, are what makes it accurate.

Texts: 000b 12.1, 12.2 · 001 13.8 to 13.12.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.callback import with_callbacks

from gnomon.contract import Data, Regressor, intake
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine import memory
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import History
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    above,
    at_least,
    between,
    share,
    validated,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Array, Flag, ListOf, Object, Optional, Whole
from gnomon.engine.sums import ArraySource
from gnomon.engine.threads import Crew, resolve_jobs
from gnomon.trees import losses
from gnomon.trees.binning import Binner
from gnomon.trees.boosting_grower import BoostingRules, PackedTable
from gnomon.trees.boosting_rounds import NONE, Booster, Scored, Target, Tickets
from gnomon.trees.boosting_workers import (
    ClusterWatcher,
    booster_on_workers,
    watcher_on_workers,
    worth_workers,
)
from gnomon.trees.constraints import directions_of, interaction_sets
from gnomon.trees.learner import GrowsTrees, columns_per_node, dense, normalized
from gnomon.trees.outputs import StagedClasses
from gnomon.trees.streamed_bins import fit_binner
from gnomon.trees.streamed_rows import Coded, StreamedData, is_held, selected
from gnomon.trees.tree import Forest, Tree

OPTIONAL = ("validation_loss_", "best_round_", "oob_improvement_", "_stopping_rows")
# A round that moves no score by more than this share is the last.
STANDSTILL = 1e-12
# Rows above which early_stopping="auto" keeps rows aside, as in scikit-learn.
ROWS_TO_STOP_EARLY = 10_000
# Texts of parameters that classes here share, for their docstrings.
HISTOGRAM_BOOSTING_PARAMETERS = """\
learning_rate : float
    Factor of every tree (shrinkage).
max_iter : int
    Most rounds.
max_leaf_nodes : int
    Most leaves of a tree; None for no limit.
max_depth : int
    Most questions on a path; None for no limit.
min_samples_leaf : int
    Least rows in a leaf, each counted as often as its weight says.
max_features : int, float, {"sqrt", "log2"} or None
    Columns looked at in a node, drawn at random: a number, a share, or None for all.
max_bins : int
    Bins of a column, at most.
categorical_features : array-like or "from_dtype"
    Columns of an array that hold categories, as a mask, positions or names. Those of tables are
    known by their kind.
interaction_cst : list of sets, {"pairwise", "no_interactions"}
    Columns (names or positions) that may interact; None for all. Columns that no set names form
    a set of their own.
warm_start : bool
    Refuse fewer rounds than the last fit made. Rounds are made again, to the same bits, so that
    the result is that of going on.
early_stopping : "auto" or bool
    End when the loss of the rows kept aside has not fallen for ``n_iter_no_change`` rounds;
    "auto": where there are more than 10,000 rows.
scoring : "loss"
    What ends the rounds: the loss.
n_iter_no_change : int
    See ``early_stopping``.
random_state : int, RandomState or None
    Of the draws of rows and columns.
min_hessian_leaf : float
    Least sum of second derivatives in a leaf.
min_impurity_decrease : float
    Least gain of a split.
category_smoothing : float
    Added to the penalty where a set of more than four levels of a category is chosen.
subsample : float
    Share of the rows, drawn without replacement, that each round's trees are grown on.
init : {"prior", "zero"}
    Where the scores start: at the constant that is best for the loss, or at zero.
refit : bool
    After the best round is known, fit once more on all rows.
restore_best : bool
    Keep the rounds up to the one of least loss of the rows kept aside; else all.
n_jobs : int
    Threads; None for one per processor.
keep_history : {"objective", "full"}
    Whether ``history_`` also keeps each round's gains by column.
"""
# Texts of attributes that classes here share, for their docstrings.
HISTOGRAM_BOOSTING_ATTRIBUTES = """\
n_iter_ : int
    Rounds that are kept.
n_estimators_ : int
    The same.
n_trees_per_iteration_ : int
    Trees of a round.
train_score_ : ndarray
    Minus the loss of the training rows after each round; empty without early stopping.
validation_score_ : ndarray
    Minus the loss of the rows kept aside after each round; empty without such rows.
do_early_stopping_ : bool
    Whether the rounds could end early.
is_categorical_ : ndarray of bool or None
    Which columns are categories; None where none is.
feature_importances_ : ndarray of shape (n_columns,)
    Gains by column, adding up to one.
history_ : History
    Mean loss of the training rows after each round.
validation_loss_ : ndarray of shape (n_rounds,)
    Mean loss of the rows kept aside; only with such rows.
best_round_ : int
    The round in which it was least, counted from one; only with early stopping.
oob_improvement_ : ndarray of shape (n_rounds,)
    How much each round lowered the mean loss of the rows that it did not draw; only with
    ``subsample`` below one.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


class Part(NamedTuple):
    """Some rows as the rounds take them: their codes, target and weights."""

    table: PackedTable
    target: Target


@dataclass
class PartsOf:
    """Gives the rows of a part with their target.

    Attributes
    ----------
    binner : Binner
    rows : PackedTable or Coded
        All rows in memory, or what finds those of a stream.
    loss : Loss or None
        Where workers hold the rows and could keep the codes: what will be lowered.
    """

    binner: Binner
    rows: PackedTable | Coded
    loss: losses.Loss | None = None

    def __call__(self, target: Target, chosen: np.ndarray | None) -> Part:
        """The chosen rows, by default all, with the counts of a target."""
        everyone = chosen is None
        if chosen is None:
            chosen = np.ones(target.y.size, bool)
        else:
            target = selected(target, chosen)
        if isinstance(self.rows, Coded):
            d = self.rows.data.n_columns
            stays = self.loss is not None and worth_workers(target.y.size, d, self.loss)
            return Part(self.rows.table(chosen, stays), target)
        return Part(self.rows if everyone else self.rows.of_rows(np.flatnonzero(chosen)), target)


class Course(NamedTuple):
    """What a run of rounds leaves."""

    trees: list[list[Tree]]
    baseline: np.ndarray
    history: History
    validation: list[float]
    improvements: list[float]


class Boosted(GrowsTrees):
    """A learner whose model is a sum of trees, grown one after another."""

    loss: str
    max_iter: int
    learning_rate: float
    l2_regularization: float
    min_hessian_leaf: float
    category_smoothing: float
    subsample: float
    init: str
    n_iter_no_change: int
    early_stopping: bool | str
    restore_best: bool
    categorical_features: Any
    scoring: Any
    max_bins: int
    validation_fraction: float
    tol: float
    refit: bool
    monotonic_cst: Any
    interaction_cst: Any
    random_state: Any
    trees_: list[Tree]
    baseline_: np.ndarray
    _takes_streams = True
    _stored = {
        "oob_improvement_": Optional(Array("f8", (None,))),
        "_n_columns": Whole(1),
        "_n_outputs": Whole(1),
        "baseline_": Array("f8", (None,)),
        "best_round_": Optional(Whole()),
        "do_early_stopping_": Flag(),
        "feature_importances_": Array("f8", ("n_columns",)),
        "is_categorical_": Array("b", ("n_columns",)) | None,
        "n_estimators_": Whole(),
        "trees_": ListOf(Object(("Tree",))),
        "validation_loss_": Optional(Array("f8", (None,))),
    }

    @validated
    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
    ):
        """Learn from a table.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            A numeric array is taken as it is; NaN is a missing cell. A data frame may hold text,
            categories, dates, booleans and missing values.
        y : array-like or str, default=None
            The target; the name of a column of X when X is a table.
        sample_weight : array-like or str, default=None
            Weights of the rows; weight two is the same as the row standing there twice.
        X_val : array-like, data frame or Table, default=None
            Rows that watch the rounds: their loss is recorded, and with ``n_iter_no_change`` they
            end them. Without them, ``validation_fraction`` of the rows is kept aside for that.
        y_val : array-like or str, default=None
            The target of these rows.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self : object
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val belong together: give both or none")
        self._watching = (X_val, y_val, sample_weight_val)
        try:
            return self._learn(X, y, sample_weight)
        finally:
            del self._watching

    def _most_steps(self) -> int:
        return self.max_iter * (2 if self.refit else 1)

    @property
    def n_iter_(self) -> int:
        """Rounds that are kept."""
        return self.n_estimators_

    def _patience(self) -> int | None:
        """Rounds without a gain after which the fit ends; None where it does not end early."""
        return self.n_iter_no_change if self.do_early_stopping_ else None

    def _make_loss(self) -> losses.Loss:
        raise NotImplementedError

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Data:
        data = super()._take_in(X, y, sample_weight)
        is_here = isinstance(data.source, ArraySource)
        return data if is_here else StreamedData.of(data, self.n_jobs)

    def _fit(self, data: Data) -> None:
        self._check_warm_start()
        self.do_early_stopping_ = (
            data.n_rows > ROWS_TO_STOP_EARLY
            if self.early_stopping == "auto"
            else bool(self.early_stopping)
        )
        if self.refit and not self.do_early_stopping_:
            raise ValueError("refit=True needs early_stopping=True: without it all rows are used")
        for name in OPTIONAL:
            vars(self).pop(name, None)
        data = self._with_categories(data)
        self._n_columns, self._n_outputs = data.n_columns, 1
        factors = None if data.factors is None else data.factors[data.y]
        target = Target.of(self._target_values(data), data.weights, factors)
        self._warn_of_light_rows(target)
        rng = self._rng()
        with Crew(self.n_jobs) as crew:
            if self._is_constant():
                course = Course([], np.zeros(1), History(), [], [])
            else:
                course = self._boost_and_stop(data, target, rng, crew)
        self._keep_course(course)

    def _check_warm_start(self) -> None:
        """Refuse fewer rounds than there are; those before are made again, to the same bits."""
        before = vars(self).get("n_estimators_", 0) if self.warm_start else 0
        if self.max_iter < before:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={before} when "
                "warm_start==True"
            )

    def _with_categories(self, data: Data) -> Data:
        """The data with the columns that ``categorical_features`` names as categories."""
        chosen = self.categorical_features
        if isinstance(chosen, str) and chosen == "from_dtype":
            marked = data.columns.is_category
        else:
            names = getattr(self, "feature_names_in_", None)
            chosen = None if hasattr(self, "encoder_") else chosen
            marked = data.columns.is_category | category_mask(chosen, data.n_columns, names)
            new = marked & ~data.columns.is_category
            distinct = {int(j): self._distinct(data, j) for j in np.flatnonzero(new)}
            refuse_bad_codes(distinct, self.max_bins, names)
            levels = np.where(new, levels_of_columns(distinct, new.size), data.columns.levels)
            columns = dataclasses.replace(data.columns, levels=tuple(levels.tolist()))
            data = dataclasses.replace(data, columns=columns)
        self.is_categorical_ = marked.copy() if marked.any() else None
        return data

    def _distinct(self, data: Data, column: int) -> np.ndarray:
        """The different values of a column, in rising order, NaN left out."""
        if isinstance(data, StreamedData):
            return data.distinct(column, self.n_jobs)
        values = np.unique(dense(data.rows[:, [column]]))
        return values[~np.isnan(values)]

    def _warn_of_light_rows(self, target: Target) -> None:
        least = 2 * self.min_samples_leaf
        if target.n_rows < least <= target.y.size:
            warnings.warn(
                f"the weights of {target.y.size} rows add up to {target.weights.sum():g}, and a "
                f"split needs {least} (twice min_samples_leaf): no tree can be grown. Give weights "
                "of which the mean is one, or a smaller min_samples_leaf",
                GnomonWarning,
                stacklevel=2,
            )

    def _is_constant(self) -> bool:
        return False

    def _target_values(self, data: Data) -> np.ndarray:
        return data.y

    def _boost_and_stop(
        self, data: Data, target: Target, rng: np.random.Generator, crew: Crew
    ) -> Course:
        """Boost with the rows that watch, where there are some; with ``refit`` once more."""
        kept_aside = self._kept_aside(data, target, rng)
        training = self._counts_without(target, kept_aside)
        weights = None if training.is_plain else training.weights
        part_of = self._parts_of(data, weights, crew)
        watching = self._watching_part(part_of.binner, data, crew)
        part = part_of(training, training.weights > 0 if kept_aside.size else None)
        if kept_aside.size:
            watching = part_of(target.with_counts(kept_aside), kept_aside > 0)
        seed = int(rng.integers(2**62))
        course = self._boost(data, part, watching, self.max_iter, seed, crew)
        if watching is not None and self.do_early_stopping_:
            self.best_round_ = int(np.argmin(course.validation)) + 1
            if self.restore_best:
                course = course._replace(trees=course.trees[: self.best_round_])
        if self.refit:
            everyone = part_of(target, None)
            again = self._boost(data, everyone, None, self.best_round_, seed, crew)
            course = again._replace(validation=course.validation)
        return course

    def _kept_aside(self, data: Data, target: Target, rng: np.random.Generator) -> np.ndarray:
        """How often each row is kept aside to end the rounds; empty where none is."""
        watched = self._watching[0] is not None
        if not self.do_early_stopping_ or watched or self.validation_fraction is None:
            return NONE
        strata = data.y if self._target == "classes" else None
        seed = int(rng.integers(2**61))
        if isinstance(data, StreamedData):
            order = data.order(target.y, self.n_jobs)
        else:
            order = canonical_order(data.rows, target.y)
        drawn = Tickets(order, target).draw(self.validation_fraction, seed, strata)
        n_drawn = int(drawn.sum())
        if n_drawn == 0 or n_drawn == target.n_rows:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {target.n_rows} rows leaves "
                f"{n_drawn} rows to end the rounds by; give X_val and y_val, or more rows"
            )
        return drawn

    @staticmethod
    def _counts_without(target: Target, kept_aside: np.ndarray) -> Target:
        if not kept_aside.size:
            return target
        counts = target.counts if target.counts.size else np.ones(target.y.size, np.int64)
        return target.with_counts(counts - kept_aside)

    def _parts_of(self, data: Data, weights: np.ndarray | None, crew: Crew) -> PartsOf:
        """What gives parts of the rows, binned by the bins of rows with these weights."""
        binner, kinds = Binner(self.max_bins), data.columns.is_category
        if isinstance(data, StreamedData):
            fit_binner(binner, data.source, data.sample, weights, kinds, crew.size)
            held = self.subsample >= 1.0 and is_held(data.source)
            loss = self._make_loss() if held else None
            require = partial(self._require_codes, data)
            coded = Coded(data, binner, *self._limits(data), crew.size, require)
            return PartsOf(binner, coded, loss)
        binner.fit(data.rows, weights, kinds, crew.size)
        return PartsOf(binner, self._packed_rows(binner, data.rows, data, crew))

    def _require_codes(self, data: Data, n_rows: int) -> None:
        """Refuse more codes than memory holds; rows that are streamed have no other limit."""
        remedy = self._memory_remedy()
        if is_held(data.source):
            remedy = (
                "Workers can keep them where subsample=1 and the loss is not one of "
                "'absolute_error', 'quantile' and 'huber', whose leaves need medians of all rows."
            )
        memory.require_fit(
            self.forecast(n_rows, data.n_columns),
            f"{type(self).__name__}.fit with a byte for each cell of {n_rows:,} rows x "
            f"{data.n_columns:,} columns",
            remedy,
        )

    def _limits(self, data: Data) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Directions of columns, and sets of columns that may interact."""
        inputs = _columns_of_inputs(self, data)
        directions = directions_of(self.monotonic_cst, inputs, data.columns)
        return directions, interaction_sets(self.interaction_cst, inputs, data.n_columns)

    def _packed_rows(self, binner: Binner, rows, data: Data, crew: Crew) -> PackedTable:
        return PackedTable.of(binner.transform(rows, crew.size), *self._limits(data), crew)

    def _watching_part(self, binner: Binner, data: Data, crew: Crew) -> Part | None:
        X_val, y_val, weights = self._watching
        if X_val is None:
            return None
        if isinstance(y_val, str):
            y_val = intake.named_target(self, intake.as_table(X_val), y_val)
        rows = np.concatenate([dense(block) for block in intake.blocks_of(self, X_val)])
        y = self._known_target(np.asarray(y_val))
        if len(y) != len(rows):
            raise DataError(f"X_val has {len(rows)} rows and y_val {len(y)}")
        if weights is not None:
            weights = np.asarray(weights, np.float64)
            if weights.shape != (len(rows),) or not (np.isfinite(weights) & (weights >= 0)).all():
                raise DataError("sample_weight_val must be one number, zero or more, per row")
        if self.do_early_stopping_:
            self._stopping_rows = fingerprint(rows)
        return Part(self._packed_rows(binner, rows, data, crew), Target.of(y, weights))

    def _known_target(self, y: np.ndarray) -> np.ndarray:
        """The target of watching rows, as the loss takes it."""
        raise NotImplementedError

    def _rules(self, n_features: int, total_weight: float = 0.0) -> BoostingRules:
        return BoostingRules(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_hessian_leaf=float(self.min_hessian_leaf),
            min_gain=float(self.min_impurity_decrease),
            max_features=columns_per_node(self.max_features, n_features),
            l2=float(self.l2_regularization),
            category_l2=float(self.category_smoothing),
        )

    def _boost(
        self,
        data: Data,
        part: Part,
        watching: Part | None,
        n_rounds: int,
        seed: int,
        crew: Crew,
    ) -> Course:
        """Rounds on one part of the rows, watched by another."""
        loss = self._make_loss()
        baseline = loss.begin(part.target.y, part.target.weights)
        if self.init == "zero":
            baseline = np.zeros_like(baseline)
        rng = np.random.default_rng(seed)
        draws = self.subsample < 1.0
        fixed = (*part, loss, baseline)
        rules, rate = self._rules(data.n_columns), float(self.learning_rate)
        booster = None if draws else booster_on_workers(*fixed, rules, rate)
        if booster is None:
            booster = Booster(*fixed, crew, rules, rate, keep_losses=draws)
        tickets = None
        if draws:
            order = canonical_order(part.table.codes.T, part.target.y)
            tickets = Tickets(order, part.target)
        watcher: Scored | ClusterWatcher | None = None
        if watching is not None:
            watcher = watcher_on_workers(*watching, loss, baseline)
            watcher = watcher or Scored(*watching, loss, baseline, crew)
        steps = self._course("round", n_rounds)
        trees: list[list[Tree]] = []
        validation: list[float] = []
        improvements: list[float] = []
        booster.derive()
        for _ in steps:
            drawn = NONE
            if tickets is not None:
                drawn = tickets.draw(self.subsample, int(rng.integers(2**61)))
                before = booster.row_losses[drawn == 0].copy()
            seeds = rng.integers(2**61, size=loss.n_scores).tolist()
            added = booster.round(drawn, seeds)
            trees.append([coded.tree for coded in added])
            objective = booster.derive()
            if tickets is not None:
                after = booster.row_losses[drawn == 0]
                improvements.append(float((before - after).mean()) if after.size else math.nan)
            if watcher is not None:
                watcher.add_round(added)
                validation.append(watcher.mean_loss())
            if watcher is None and self.do_early_stopping_:
                done = self._stands_still(trees[-1]) or self._stops([*steps.history, objective])
            else:
                done = self._stands_still(trees[-1]) or self._stops(validation)
            if steps.end_step(
                objective,
                done,
                state=lambda: _state(trees[-1], data.n_columns, validation),
                attributes=lambda: self._so_far(trees, baseline),
            ):
                break
        return Course(trees, baseline, steps.history, validation, improvements)

    def _stands_still(self, trees: list[Tree]) -> bool:
        """Whether a round changed nothing, and the next ones cannot either."""
        if self.subsample < 1.0 or columns_per_node(self.max_features, self._n_columns) != (
            self._n_columns
        ):
            return False
        return all(tree.n_nodes == 1 and abs(tree.value[0, 0]) <= STANDSTILL for tree in trees)

    def _stops(self, validation: list[float]) -> bool:
        """Whether the rows kept aside have not gained for ``n_iter_no_change`` rounds."""
        patience = self._patience()
        if patience is None or len(validation) <= patience:
            return False
        return min(validation[-patience:]) >= min(validation[:-patience]) - self.tol

    def _so_far(self, trees: list[list[Tree]], baseline: np.ndarray) -> dict[str, Any]:
        """What a callback needs to make a usable estimator in the middle of a fit."""
        return self._public() | {
            "trees_": [tree for round_ in trees for tree in round_],
            "baseline_": baseline,
            "n_estimators_": len(trees),
        }

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees of a round: one for each score."""
        return len(self.baseline_)

    @property
    def train_score_(self) -> np.ndarray:
        """Minus the loss of the training rows after each round; empty without early stopping."""
        if not self.do_early_stopping_:
            return np.empty(0)
        return -np.asarray(self.history_)

    @property
    def validation_score_(self) -> np.ndarray:
        """Minus the loss of the rows kept aside after each round; empty without such rows."""
        return -getattr(self, "validation_loss_", np.empty(0))

    def _keep_course(self, course: Course) -> None:
        self.trees_ = [tree for round_ in course.trees for tree in round_]
        self.baseline_ = course.baseline
        self.n_estimators_ = len(course.trees)
        self.history_ = course.history
        if course.validation:
            self.validation_loss_ = np.array(course.validation)
        if course.improvements:
            self.oob_improvement_ = np.array(course.improvements)
        self.feature_importances_ = normalized(gains_by_column(self.trees_, self._n_columns))
        self._pack()

    def _all_trees(self) -> list[Tree]:
        return self.trees_

    def _pack(self) -> None:
        n_scores = len(self.baseline_)
        forests = [Forest.of(self.trees_[k::n_scores]) for k in range(n_scores) if self.trees_]
        self._packed = self.trees_, forests

    def _forests(self) -> list[Forest]:
        """The trees of each score, packed for prediction when first asked for."""
        packed = vars(self).get("_packed")
        if packed is None or packed[0] is not self.trees_:
            self._pack()
        return self._packed[1]

    def _scores(self, rows) -> np.ndarray:
        """Raw scores (n_rows, n_scores) of a block of rows."""
        rows = dense(rows)
        scores = np.empty((rows.shape[0], len(self.baseline_)))
        scores[:] = self.baseline_
        for k, forest in enumerate(self._forests()):
            one = np.ascontiguousarray(scores[:, k : k + 1])
            scores[:, k] = forest.sum(rows, one)[:, 0]
        return scores

    def _leaves(self, rows) -> np.ndarray:
        rows = dense(rows)
        forests = self._forests()
        leaves = np.empty((rows.shape[0], len(self.trees_)), np.int32)
        for k, forest in enumerate(forests):
            leaves[:, k :: len(forests)] = forest.apply(rows)
        return leaves

    def _check_loaded(self) -> None:
        if not hasattr(self, "n_features_in_"):
            return
        if self.baseline_.ndim != 1 or len(self.trees_) % len(self.baseline_):
            raise ValueError("the trees do not fit to the scores of the model")
        for tree in self.trees_:
            if tree.feature.max(initial=-1) >= self._n_columns or tree.n_outputs != 1:
                raise ValueError("a tree does not fit to the columns of the model")
        self._pack()

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        """Raw scores after each round."""
        intake_rows = [dense(block) for block in intake.blocks_of(self, X)]
        rows = np.concatenate(intake_rows)
        n_scores = len(self.baseline_)
        scores = [np.full((len(rows), 1), base) for base in self.baseline_]
        for first in range(0, len(self.trees_), n_scores):
            for k in range(n_scores):
                Forest.of([self.trees_[first + k]]).sum(rows, scores[k])
            yield np.column_stack(scores)

    def _warn_of_stopping_rows(self, X) -> None:
        known = getattr(self, "_stopping_rows", None)
        if known is None:
            return
        rows = np.concatenate([dense(block) for block in intake.blocks_of(self, X)])
        if fingerprint(rows) == known:
            warnings.warn(
                "these rows chose the number of rounds (X_val): a score on them is too good. "
                "Score on rows that had no part in the fit",
                GnomonWarning,
                stacklevel=3,
            )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_classes = len(getattr(self, "classes_", ())) if self._target == "classes" else 1
        n_scores = n_classes if n_classes > 2 else 1
        threads = resolve_jobs(self.n_jobs)
        n_groups = max(-(-n_columns // 8), 1)
        leaves = self._rules(n_columns).most_leaves(n_rows)
        slots = max(1, min(2**28 // (n_groups * 2**14), leaves + leaves // 4 + 2))
        side_by_side = threads if self._target == "classes" else 1
        nodes = 4 * leaves * (300 + 80 * n_groups)
        workshop = slots * n_groups * 2**14 + nodes + 8 * n_rows
        rooms = threads * n_groups * 5 * 2**13
        cells = n_rows * (2 * n_columns + 8 * n_groups)
        rows = n_rows * (24 * n_scores + 8 * side_by_side + 60 + 16 * threads)
        model = self.max_iter * n_scores * leaves * 220
        return cells + rows + side_by_side * workshop + rooms + model

    def _memory_remedy(self) -> str:
        return "Limit the trees by max_leaf_nodes, or use fewer rows or columns."


def _columns_of_inputs(learner: Boosted, data: Data) -> dict[str, np.ndarray]:
    """The encoded columns that each column of the table became, by its name."""
    encoder = getattr(learner, "encoder_", None)
    if encoder is None:
        names = getattr(learner, "feature_names_in_", [f"x{j}" for j in range(data.n_columns)])
        return {str(name): np.array([j]) for j, name in enumerate(names)}
    found, start = {}, 0
    for code in encoder.codes:
        found[code.name] = np.arange(start, start + len(code.names))
        start += len(code.names)
    return {name: found.get(name, np.arange(0)) for name in encoder.names_in}


def _state(trees: list[Tree], n_columns: int, validation: list[float]) -> dict[str, Any]:
    """What a replay shows of a round."""
    state: dict[str, Any] = {
        "gains": gains_by_column(trees, n_columns),
        "n_leaves": np.array([tree.n_leaves for tree in trees]),
    }
    if validation:
        state["validation_loss"] = validation[-1]
    return state


def gains_by_column(trees: list[Tree], n_columns: int) -> np.ndarray:
    """What the splits by each column lowered the loss by, in all trees."""
    gains = np.zeros(n_columns)
    for tree in trees:
        inner = tree.feature >= 0
        gains += np.bincount(tree.feature[inner], tree.gain[inner], minlength=n_columns)
    return gains


def fingerprint(rows: np.ndarray) -> str:
    """A mark by which rows are known again."""
    return hashlib.sha256(np.ascontiguousarray(rows, np.float64)).hexdigest()


def category_mask(chosen: Any, n_columns: int, names: Any) -> np.ndarray:
    """Which columns ``categorical_features`` means: a mask, positions, or names of columns."""
    mask = np.zeros(n_columns, dtype=bool)
    if chosen is None:
        return mask
    chosen = np.asarray(chosen)
    if chosen.size == 0:
        return mask
    if chosen.dtype.kind not in "iubOUS":
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got: "
            f"{chosen.dtype.name}."
        )
    if chosen.dtype.kind in "OUS":
        if names is None:
            raise ValueError(
                "categorical_features should be passed as an array of integers or as a boolean "
                "mask when the model is fitted on data without feature names."
            )
        known = list(names)
        for name in chosen.tolist():
            if name not in known:
                raise ValueError(
                    f"categorical_features has a item value '{name}' which is not a valid feature "
                    f"name of the training data. Observed feature names: {known}"
                )
            mask[known.index(name)] = True
    elif chosen.dtype.kind == "b":
        if chosen.shape != (n_columns,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,), got: "
                f"{chosen.shape}"
            )
        mask = chosen.copy()
    else:
        if chosen.min() < 0 or chosen.max() >= n_columns:
            raise ValueError(
                "categorical_features set as integer indices must be in [0, n_features - 1]"
            )
        mask[chosen] = True
    return mask


def levels_of_columns(distinct: dict[int, np.ndarray], n_columns: int) -> np.ndarray:
    """One more than the greatest code of the columns whose different codes are given; at least one.

    Other columns have zero.
    """
    levels = np.zeros(n_columns, np.int64)
    for column, codes in distinct.items():
        levels[column] = max(int(codes.max(initial=0.0)) + 1, 1)
    return levels


def refuse_bad_codes(distinct: dict[int, np.ndarray], max_bins: int, names: Any) -> None:
    """Refuse category columns of arrays with more levels than bins."""
    for column, levels in distinct.items():
        name = f"index {column}" if names is None else repr(names[column])
        if len(levels) and levels[-1] >= 2**20:
            raise ValueError(
                f"Categorical feature at {name} holds the code {levels[-1]:g}; codes must be whole "
                "numbers from 0 on"
            )
        if len(levels) > max_bins:
            raise ValueError(
                f"Categorical feature at {name} is expected to have a cardinality <= {max_bins} "
                f"but actually has a cardinality of {len(levels)}."
            )


BOOSTING_CONSTRAINTS = {
    "max_iter": [whole(1)],
    "learning_rate": [above(0)],
    "max_leaf_nodes": [None, whole(2)],
    "max_depth": [None, whole(1)],
    "min_samples_leaf": [whole(1)],
    "min_hessian_leaf": [at_least(0)],
    "min_impurity_decrease": [at_least(0)],
    "l2_regularization": [at_least(0)],
    "category_smoothing": [at_least(0)],
    "subsample": [between(0, 1, "right")],
    "max_features": [None, whole(1), share(), StrOptions({"sqrt", "log2"})],
    "max_bins": [whole(2, 255)],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "warm_start": FLAG,
    "early_stopping": [StrOptions({"auto"}), *FLAG],
    "scoring": [StrOptions({"loss"})],
    "init": [StrOptions({"prior", "zero"})],
    "n_iter_no_change": [whole(1)],
    "validation_fraction": [between(0, 1, "neither"), None],
    "tol": [at_least(0)],
    "refit": FLAG,
    "restore_best": FLAG,
    "monotonic_cst": [None, dict, "array-like"],
    "interaction_cst": [None, list, tuple, StrOptions({"pairwise", "no_interactions"})],
    "random_state": SEED,
    "n_jobs": JOBS,
    "keep_history": HISTORY,
}


@method(
    task="regress",
    texts="000b 12.1, 12.2 · 001 13.8 to 13.12",
    use="The best accuracy on a table, with a loss that fits the target, is wanted.",
    avoid="The model must be read by people, must extrapolate, or has less than a hundred rows.",
    peers=(
        "lightgbm.LGBMRegressor",
        "sklearn.ensemble.HistGradientBoostingRegressor",
        "sklearn.ensemble.GradientBoostingRegressor",
        "xgboost.XGBRegressor",
    ),
)
@former_parameters(n_estimators="max_iter")
@without_effect("verbose")
@shared_parameters(HISTOGRAM_BOOSTING_PARAMETERS)
@shared_attributes(HISTOGRAM_BOOSTING_ATTRIBUTES)
class HistGradientBoostingRegressor(Boosted, Regressor):
    """Numbers from a sum of small trees, each grown on the gradient of the loss of those before.

    Use it where accuracy counts most on a table of mixed columns: it takes categories and missing
    cells as they are, and needs no scaling. Not where people must read the model, for very few
    rows, or beyond the seen range. Tune ``max_iter`` last, by rows that are kept aside
    (``early_stopping``); a smaller ``learning_rate`` needs more trees and is seldom worse.

    Minimises  sum_i w_i L(y_i, F(x_i)),  F = baseline + learning_rate * sum of trees. Splits
    maximise the second-order gain; leaf values minimise the loss itself (`gnomon.trees.losses`).
    The texts choose splits by least squares on the residuals (the same for squared, absolute,
    Huber and quantile loss; Poisson and gamma also use the second derivative). With
    ``max_leaf_nodes=2`` the model is additive; J leaves let J - 1 columns interact (001 13.10
    misprints this). ``learning_rate=1, init="zero"`` with squared error is 000b's sum of trees
    fitted to residuals. Texts: 000b 12.1, 12.2, 001 13.8 to 13.12.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"}, \
            default="squared_error"
        What is lowered; "poisson" and "gamma" model the logarithm of the mean.
    quantile : float, default=None
        The quantile of loss "quantile"; None for ``alpha``.
    l2_regularization : float, default=0.0
        Penalty on the values of leaves; with the absolute, Huber and quantile loss on the choice of
        splits only.
    monotonic_cst : array-like or dict, default=None
        For each column (or by name): 1 if the prediction must not fall with it, -1
        if it must not rise.
    validation_fraction : float or None, default=0.1
        Share of the rows kept aside for that, unless X_val is given to ``fit``;
        None for the loss of the training rows.
    tol : float, default=1e-7
        Least fall of the loss that counts.
    alpha : float, default=0.9
        For loss "huber": the share of residuals within delta.

    Attributes
    ----------
    trees_ : list of Tree
        One per round; values are what they add to the score.
    baseline_ : ndarray of shape (1,)
        The score before the first tree.
    n_iter_, n_estimators_, n_trees_per_iteration_, train_score_, validation_score_
    do_early_stopping_, is_categorical_, feature_importances_, history_, validation_loss_
    best_round_, oob_improvement_, n_features_in_

    See Also
    --------
    HistGradientBoostingClassifier : The same for classes.
    RandomForestRegressor : Trees side by side, nothing to tune.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import HistGradientBoostingRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = HistGradientBoostingRegressor().fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
    True
    """

    _parameter_constraints = {
        "loss": [
            StrOptions({"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"})
        ],
        "quantile": [between(0, 1), None],
        "alpha": [between(0, 1, "neither")],
        **BOOSTING_CONSTRAINTS,
    }

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        alpha=0.9,
        min_hessian_leaf=1e-3,
        min_impurity_decrease=0.0,
        category_smoothing=10.0,
        subsample=1.0,
        init="prior",
        refit=False,
        restore_best=False,
        n_jobs=None,
        keep_history="objective",
    ):
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.alpha = alpha
        self.min_hessian_leaf = min_hessian_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.category_smoothing = category_smoothing
        self.subsample = subsample
        self.init = init
        self.refit = refit
        self.restore_best = restore_best
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _make_loss(self) -> losses.Loss:
        make: dict[str, Callable[[], losses.Loss]] = {
            "squared_error": losses.SquaredError,
            "absolute_error": losses.AbsoluteError,
            "huber": lambda: losses.Huber(self.alpha),
            "quantile": lambda: losses.Quantile(
                self.alpha if self.quantile is None else self.quantile
            ),
            "poisson": losses.Poisson,
            "gamma": losses.Gamma,
        }
        return make[self.loss]()

    def _fit(self, data: Data) -> None:
        if self.loss == "poisson" and (np.any(data.y < 0) or not data.y.sum() > 0):
            raise ValueError("loss='poisson' requires non-negative y and sum(y) > 0.")
        if self.loss == "gamma" and np.any(data.y <= 0):
            raise ValueError("loss='gamma' requires strictly positive y.")
        super()._fit(data)

    def _known_target(self, y: np.ndarray) -> np.ndarray:
        y = np.asarray(y, np.float64).reshape(-1)
        if not np.isfinite(y).all():
            raise DataError("y_val holds NaN or infinity; leave such rows out")
        return y

    def _estimate(self, rows):
        return self._make_loss().response(self._scores(rows))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The estimated target after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        loss = self._make_loss()
        for scores in self._staged_scores(X):
            yield loss.response(scores)

    def score(self, X, y, sample_weight=None) -> float:
        """R2, the share of the variance explained; warns where the rows chose the rounds.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        r2 : float
        """
        self._warn_of_stopping_rows(X)
        return super().score(X, y, sample_weight)


@method(
    task="classify",
    texts="000b 12.2 · 001 13.8 to 13.12",
    use="The best accuracy or the best probabilities on a table are wanted.",
    avoid="The model must be read by people, or rows are fewer than a hundred.",
    peers=(
        "lightgbm.LGBMClassifier",
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.GradientBoostingClassifier",
        "xgboost.XGBClassifier",
    ),
)
@former_parameters(n_estimators="max_iter")
@without_effect("verbose")
@shared_parameters(HISTOGRAM_BOOSTING_PARAMETERS)
@shared_attributes(HISTOGRAM_BOOSTING_ATTRIBUTES)
class HistGradientBoostingClassifier(Boosted, StagedClasses):
    """Classes from a sum of small trees, each grown on the gradient of the loss of those before.

    Use it where accuracy or good probabilities count most on a table of mixed columns: it takes
    categories and missing cells as they are, and needs no scaling. Not where people must read the
    model, or for very few rows. Tune ``max_iter`` last, by rows that are kept aside
    (``early_stopping``); a smaller ``learning_rate`` needs more trees and is seldom worse.

    Minimises the binomial deviance  sum_i w_i log(1 + exp(-y_i F(x_i))),  for K > 2 classes the
    multinomial deviance with one tree per class and round, or the exponential loss
    sum_i w_i exp(-y_i F(x_i)). Leaves take one Newton step (deviance; for K classes times
    (K - 1) / K) or the weighted log-odds (exponential; with ``scaled_trees`` votes of -1 and 1 and
    one factor per tree, which is AdaBoost). Splits maximise the second-order gain; the texts use
    least squares on the residuals. Texts: 000b 12.2, 001 13.8 to 13.12.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        What is lowered; "exponential" takes two classes.
    l2_regularization : float, default=0.0
        Penalty on the values of leaves.
    monotonic_cst : array-like or dict, default=None
        For each column (or by name): 1 if the score of the second class must not fall with it, -1
        if it must not rise.
        For two classes.
    validation_fraction : float or None, default=0.1
        Share of the rows of each class kept aside for that, unless X_val is given to ``fit``;
        None for the loss of the training rows.
    tol : float, default=1e-7
        Least fall of the loss that counts.
    class_weight : dict or "balanced", default=None
        Factors of the rows' weights by class.
    scaled_trees : bool, default=False
        With "exponential": leaves vote -1 or 1 and each tree has one factor.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    trees_ : list of Tree
        One per round and score, the scores of a round side by side; values are what they add.
    baseline_ : ndarray of shape (n_scores,)
        The scores before the first tree: one for two classes, else one per class.
    n_iter_, n_estimators_, n_trees_per_iteration_, train_score_, validation_score_
    do_early_stopping_, is_categorical_, feature_importances_, history_, validation_loss_
    best_round_, oob_improvement_, n_features_in_

    See Also
    --------
    HistGradientBoostingRegressor : The same for numbers.
    RandomForestClassifier : Trees side by side, nothing to tune.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import HistGradientBoostingClassifier
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.where(abs(x[:, 0] - 0.5) < 0.2, "in", "out")
    >>> model = HistGradientBoostingClassifier().fit(x, y)
    >>> model.predict([[0.1], [0.5]]).tolist()
    ['out', 'in']
    """

    _parameter_constraints = {
        "loss": [StrOptions({"log_loss", "exponential"})],
        "scaled_trees": FLAG,
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **BOOSTING_CONSTRAINTS,
    }

    def __init__(
        self,
        loss="log_loss",
        *,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        class_weight=None,
        scaled_trees=False,
        min_hessian_leaf=1e-3,
        min_impurity_decrease=0.0,
        category_smoothing=10.0,
        subsample=1.0,
        init="prior",
        refit=False,
        restore_best=False,
        n_jobs=None,
        keep_history="objective",
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.scaled_trees = scaled_trees
        self.min_hessian_leaf = min_hessian_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.category_smoothing = category_smoothing
        self.subsample = subsample
        self.init = init
        self.refit = refit
        self.restore_best = restore_best
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _make_loss(self) -> losses.Loss:
        n_classes = len(self.classes_)
        if self.loss == "exponential":
            return losses.Exponential(self.scaled_trees)
        if n_classes == 2:
            return losses.BinomialDeviance()
        return losses.MultinomialDeviance(n_classes)

    def _fit(self, data: Data) -> None:
        n_classes = len(self.classes_)
        if self.loss == "exponential" and n_classes > 2:
            raise ValueError(
                f"loss='exponential' takes two classes, and y has {n_classes}; use 'log_loss'"
            )
        if self.scaled_trees and self.loss != "exponential":
            raise ValueError("scaled_trees=True belongs to loss='exponential'")
        if self.monotonic_cst is not None and n_classes > 2:
            raise ValueError(f"monotonic_cst takes two classes, and y has {n_classes}")
        super()._fit(data)

    def _is_constant(self) -> bool:
        return len(self.classes_) == 1

    def _target_values(self, data: Data) -> np.ndarray:
        return data.y.astype(np.float64) if len(self.classes_) == 2 else data.y

    def _known_target(self, y: np.ndarray) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise DataError(f"y_val holds the class {unknown[0]!r}, which y does not have")
        codes = np.searchsorted(self.classes_, y)
        return codes.astype(np.float64) if len(self.classes_) == 2 else codes

    def _proba(self, rows):
        return self._shares(self._scores(rows))

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return self._make_loss().response(scores)

    def decision_function(self, X) -> np.ndarray:
        """Raw scores of each row: for two classes one, above zero for the second class.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._each_block(lambda rows: _flat(self._scores(rows)), X)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Raw scores after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield _flat(scores)

    def score(self, X, y, sample_weight=None) -> float:
        """The share of rows whose class is right; warns where the rows chose the rounds.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        accuracy : float
        """
        self._warn_of_stopping_rows(X)
        return super().score(X, y, sample_weight)


def _flat(scores: np.ndarray) -> np.ndarray:
    return scores[:, 0] if scores.shape[1] == 1 else scores
