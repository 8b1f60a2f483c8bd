"""Folds of a resampling: one learner fitted on each split, timed, with its failures.

`Problem` holds the rows and the target, `FoldWork` fits and asks the learner on one split, and
`run_folds` does so for all splits on threads, keeping finished folds in a run folder.
"""

from __future__ import annotations

import time
import traceback
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor

from gnomon.contract.estimate import Estimate, checked_weights
from gnomon.engine.errors import DataError
from gnomon.engine.threads import computed_elsewhere, in_order
from gnomon.evaluate.fold_warnings import in_fold, said_once
from gnomon.evaluate.intake import label_column, number_block
from gnomon.evaluate.measures import Measure, Said, is_named
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.run_folder import RunFolder, description, fingerprint
from gnomon.evaluate.splits import Pair
from gnomon.table.frames import native
from gnomon.table.grid import is_table, n_rows_of, take_rows
from gnomon.table.scan import Scan
from gnomon.table.table import Table


@dataclass
class Failure:
    """What went wrong in one fold.

    Attributes
    ----------
    fold : int
    stage : str
        ``"fit"``, ``"predict"`` or ``"score"``.
    error : str
        Kind and message.
    trace : str
        The traceback.
    measure : str or None
        The one that could not be taken, others could; None where the fold failed as a whole.
    """

    fold: int
    stage: str
    error: str
    trace: str = field(default="", repr=False)
    measure: str | None = None

    def __str__(self) -> str:
        of = "" if self.measure is None else f" {self.measure}"
        return f"fold {self.fold}, {self.stage}{of}: {self.error}"


@dataclass
class Fold:
    """What one fold gave.

    Attributes
    ----------
    said : Said or None
        Of the test rows; None where the learner failed.
    values : dict of str to float
        Scores of measures that need the estimator, and of training rows ("train ...").
    fit_seconds, predict_seconds : float
    peak_memory : float
        Bytes allocated at the peak of fit and predict; NaN where not measured.
    failure : Failure or None
    model : estimator or None
    refused : dict of str to Failure
        What of `values` could not be got.
    """

    said: Said | None
    values: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    peak_memory: float = np.nan
    failure: Failure | None = None
    model: Any = None
    refused: dict[str, Failure] = field(default_factory=dict)


@dataclass
class Problem:
    """Rows, target and what belongs to them, checked once.

    Attributes
    ----------
    X : array-like, frame or Table
    y : ndarray or None
    task : str
        ``"classify"``, ``"regress"``, ``"other"`` or ``"alone"`` (no target).
    classes : ndarray or None
    weights : ndarray or None
    more : dict of str to ndarray
        Further columns that ``fit`` takes, by name.
    """

    X: Any
    y: np.ndarray | None
    task: str
    classes: np.ndarray | None
    weights: np.ndarray | None
    more: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, learner: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> Problem:
        """Take in what the user gave."""
        check_learner(learner)
        X, y = with_target(X, y)
        n = n_rows_of(X)
        if n < 2:
            raise DataError(f"{n} rows cannot be split in training and test rows")
        task = _task(learner, y)
        classes = None
        if task == "classify":
            y = label_column(y, "y")
            classes = np.unique(y)
        elif task == "regress":
            y = number_block(y, "y")
        elif y is not None:
            y = np.asarray(native(y))
        if y is not None and len(y) != n:
            raise DataError(f"X has {n:,} rows and y {len(y):,}")
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, n)
        return cls(X, y, task, classes, weights)

    @property
    def n_rows(self) -> int:
        return n_rows_of(self.X)

    @property
    def n_columns(self) -> int:
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        return int(shape[1]) if len(shape) == 2 else 0

    @property
    def strata(self) -> np.ndarray | None:
        """What to stratify by: the classes, where there are any."""
        return self.y if self.task == "classify" else None

    def part(self, rows: np.ndarray) -> tuple[Any, np.ndarray | None, dict[str, np.ndarray]]:
        """Rows, target, and weights and the like at some positions."""
        weights = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        more = weights | {name: column[rows] for name, column in self.more.items()}
        return take_rows(self.X, rows), None if self.y is None else self.y[rows], more


@dataclass
class FoldWork:
    """One fold of one learner, as a function of the fold's number and rows."""

    learner: Any
    problem: Problem
    measures: list[Measure]
    train_scores: bool
    keep_models: bool
    measure_memory: bool
    random_state: int | None

    def __call__(self, number: int, train: np.ndarray, test: np.ndarray) -> Fold:
        if not self.measure_memory:
            return self._run(number, train, test)
        traced_already = tracemalloc.is_tracing()
        tracemalloc.reset_peak() if traced_already else tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        try:
            fold = self._run(number, train, test)
            fold.peak_memory = float(tracemalloc.get_traced_memory()[1] - before)
        finally:
            if not traced_already:
                tracemalloc.stop()
        return fold

    def plan(self, splits: Sequence[Pair]) -> dict[str, Any]:
        """What is run, for the folder that keeps it."""
        rows = np.concatenate([np.concatenate([*pair, [-1]]) for pair in splits])
        return {
            "learner": description(self.learner),
            "rows": fingerprint(self.problem.X),
            "target": fingerprint(self.problem.y),
            "weights": fingerprint(self.problem.weights),
            "splits": fingerprint(rows),
            "random_state": self.random_state,
            "measures": [_identity(each) for each in sorted(self.measures, key=_name)],
            "train_scores": self.train_scores,
            **{name: fingerprint(column) for name, column in self.problem.more.items()},
        }

    def _run(self, number: int, train: np.ndarray, test: np.ndarray) -> Fold:
        rows, y, weights = self.problem.part(train)
        stage, begin = "fit", time.perf_counter()
        fitted = predicted = begin
        try:
            model = seeded(self.learner, self.random_state, number)
            model.fit(rows, y, **weights) if y is not None else model.fit(rows, **weights)
            fitted = time.perf_counter()
            stage = "predict"
            test_rows, test_y, _ = self.problem.part(test)
            said = self.said_by(model, test_rows)
            predicted = time.perf_counter()
            stage = "score"
            values, refused = self._values(number, model, (rows, y), (test_rows, test_y))
        except Exception as error:
            failure = Failure(
                number, stage, f"{type(error).__name__}: {error}", traceback.format_exc()
            )
            end = time.perf_counter()
            return Fold(None, {}, (fitted if stage != "fit" else end) - begin, 0.0, failure=failure)
        kept = model if self.keep_models else None
        return Fold(said, values, fitted - begin, predicted - fitted, model=kept, refused=refused)

    def said_by(self, model: Any, rows: Any) -> Said:
        """All that the measures need to hear about rows, as far as the learner can say it."""
        needs = {each.needs for each in self.measures}
        if needs == {"estimator"} and not hasattr(model, "predict"):
            return Said(np.empty(0))
        predictions = np.asarray(model.predict(rows))
        if predictions.dtype.kind == "f" and not np.isfinite(predictions).all():
            wrong = ~np.isfinite(predictions)
            raise DataError(
                f"{int(wrong.sum()):,} of {wrong.size:,} predictions are NaN or infinite "
                f"(first: row {int(np.argwhere(wrong)[0][0])} of the test rows)"
            )
        said = Said(predictions, classes=self.problem.classes)
        asks = (("probabilities", self._probabilities), ("scores", self._scores))
        for need, ask in asks:
            if need in needs:
                try:
                    setattr(said, need, ask(model, rows, said.probabilities))
                except Unsaid as why:
                    said.lacks[need] = str(why)
        return said

    def _probabilities(self, model: Any, rows: Any, known: np.ndarray | None) -> np.ndarray:
        """Probabilities of all classes of the data; zero for those not among the training rows."""
        if known is not None:
            return known
        if not hasattr(model, "predict_proba"):
            raise Unsaid(f"{type(model).__name__} has no predict_proba, which a measure needs")
        classes = self.problem.classes
        if classes is None:
            raise Unsaid("a measure of probabilities was given, and the target has no classes")
        given = np.asarray(model.predict_proba(rows))
        whole = np.zeros((len(given), len(classes)))
        whole[:, np.searchsorted(classes, model.classes_)] = given
        return whole

    def _scores(self, model: Any, rows: Any, known: np.ndarray | None) -> np.ndarray:
        """Scores of the second of two classes; its probabilities where there are no others."""
        if self.problem.classes is None or len(self.problem.classes) != 2:
            n = 0 if self.problem.classes is None else len(self.problem.classes)
            raise Unsaid(
                f"a measure of two classes was given, and there are {n}; auc_one_vs_one, "
                "auc_one_vs_rest and log_loss are of several"
            )
        if hasattr(model, "decision_function") and len(model.classes_) == 2:
            return np.asarray(model.decision_function(rows), dtype=float)
        return self._probabilities(model, rows, known)[:, 1]

    def _values(
        self, number: int, model: Any, train: tuple[Any, Any], test: tuple[Any, Any]
    ) -> tuple[dict[str, float], dict[str, Failure]]:
        """Scores that need the model or the training rows, and those that could not be got."""
        takes: dict[str, Callable[[], Estimate | float]] = {
            each.name: partial(each.function, model, *test)
            for each in self.measures
            if each.needs == "estimator"
        }
        if self.train_scores:
            rows, y = train
            said = self.said_by(model, rows)
            for each in (m for m in self.measures if m.needs not in said.lacks):
                take: Callable[..., Estimate | float] = partial(each.figure, said=said)
                if each.needs == "estimator":
                    take = partial(each.function, model, rows)
                takes[f"train {each.name}"] = partial(take, y)
        values, refused = {}, {}
        for name, take in takes.items():
            found, failure = attempted(take, number, name)
            if failure is None:
                values[name] = found.value if isinstance(found, Estimate) else float(found)
            else:
                refused[name] = failure
        return values, refused


class Unsaid(DataError):
    """What a learner cannot say, whatever the rows."""


def seeded(learner: Any, random_state: int | None, number: int) -> Any:
    """A clone whose unset random states are set, each its own; so that threads do not matter."""
    model = clone(learner)
    if random_state is None:
        return model
    names = sorted(
        key
        for key, value in model.get_params(deep=True).items()
        if value is None and (key == "random_state" or key.endswith("__random_state"))
    )
    state = np.random.SeedSequence([random_state % 2**32, number]).generate_state(len(names) or 1)
    seeds = {name: int(seed % 2**31) for name, seed in zip(names, state)}
    return model.set_params(**seeds) if seeds else model


def with_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and target, where the target may be the name of a column."""
    if isinstance(X, Scan):
        raise DataError("cross-validation takes rows in memory; read the table instead of scanning")
    if sp.issparse(X):
        return sp.csr_array(X), y
    X = native(X)
    if not isinstance(y, str):
        return X if hasattr(X, "shape") or is_table(X) else np.asarray(X), y
    if not is_table(X):
        raise DataError(f"y={y!r} names a column, but X is an array; give y as an array")
    if isinstance(X, Table):
        return X.drop(y), X.column(y)
    frame = nw.from_native(X, eager_only=True)
    if y not in frame.columns:
        raise DataError(f"the table has no column {y!r}; it has {', '.join(frame.columns)}")
    return frame.drop(y).to_native(), frame[y].to_native()


def check_learner(learner: Any) -> None:
    """Refuse what cannot be fitted, such as a class for an object of it."""
    if not hasattr(learner, "fit") or isinstance(learner, type):
        raise DataError(f"{learner!r} is no learner: give an estimator object with fit")


def _task(learner: Any, y: Any) -> str:
    if is_classifier(learner) and y is not None:
        return "classify"
    if is_regressor(learner) and y is not None:
        return "regress"
    if y is None and (is_classifier(learner) or is_regressor(learner)):
        raise DataError(f"{type(learner).__name__} needs a target: give y, or its column's name")
    return "alone" if y is None else "other"


def run_folds(
    work: FoldWork,
    splits: Sequence[Pair],
    n_told: int,
    store: RunFolder | None,
    n_jobs: int | None,
    progress: Progress,
    name: str,
) -> list[Fold]:
    """All folds, in order; those that the folder has are not run again.

    Progress is told in units of the `n_told` folds that were asked for.
    """
    folds = [kept_fold(work, number, store) for number in range(len(splits))]
    open_ = [number for number, fold in enumerate(folds) if fold is None]

    # a worker elsewhere does not write to the folder: what it gives is written here
    there = None if computed_elsewhere() else store

    def run(number: int) -> Fold:
        with in_fold(number):
            return new_fold(work, number, splits[number], there)

    with said_once(n_told), told(progress, name) as tell:
        done = len(splits) - len(open_)
        told_of = done * n_told // len(splits)
        tell(told_of, n_told)
        for number, fold in zip(open_, in_order(run, open_, n_jobs, anywhere=True)):
            if there is None and store is not None:
                store.write(number, *_to_folder(fold, work.problem))
            folds[number] = fold
            done += 1
            if done * n_told // len(splits) > told_of:
                told_of = done * n_told // len(splits)
                tell(told_of, n_told)
    return [fold for fold in folds if fold is not None]


def kept_fold(work: FoldWork, number: int, store: RunFolder | None) -> Fold | None:
    """A fold that the folder has; None where it must be run."""
    return None if store is None else _from_folder(store.read(number), work.problem)


def new_fold(work: FoldWork, number: int, split: Pair, store: RunFolder | None) -> Fold:
    """A fold that is run now, and kept where there is a folder."""
    fold = work(number, *split)
    if store is not None:
        store.write(number, *_to_folder(fold, work.problem))
    return fold


def _to_folder(fold: Fold, problem: Problem) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    facts = {
        "fit_seconds": fold.fit_seconds,
        "predict_seconds": fold.predict_seconds,
        "peak_memory": None if np.isnan(fold.peak_memory) else fold.peak_memory,
        "values": fold.values,
        "failure": None if fold.failure is None else vars(fold.failure),
        "refused": {name: str(each) for name, each in fold.refused.items()},
    }
    if fold.said is None:
        return facts, {}
    said = fold.said
    facts["lacks"] = said.lacks
    codes = said.predictions
    if problem.classes is not None:
        codes = np.searchsorted(problem.classes, said.predictions)
    arrays = {"predictions": codes, "probabilities": said.probabilities, "scores": said.scores}
    return facts, {key: array for key, array in arrays.items() if array is not None}


def _from_folder(
    kept: tuple[dict[str, Any], dict[str, np.ndarray]] | None, problem: Problem
) -> Fold | None:
    """A fold that was kept; None where it must be run (also again, where it failed)."""
    if kept is None or kept[0].get("failure") is not None or kept[0].get("refused"):
        return None
    facts, arrays = kept
    predictions = arrays["predictions"]
    if problem.classes is not None:
        predictions = problem.classes[predictions]
    said = Said(
        predictions,
        arrays.get("probabilities"),
        arrays.get("scores"),
        problem.classes,
        facts.get("lacks", {}),
    )
    peak = facts["peak_memory"]
    return Fold(
        said,
        facts["values"],
        facts["fit_seconds"],
        facts["predict_seconds"],
        np.nan if peak is None else peak,
    )


def attempted(take: Callable[[], Any], number: int, measure: str) -> tuple[Any, Failure | None]:
    try:
        return take(), None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return None, Failure(number, "score", what, traceback.format_exc(), measure)


def _name(measure: Measure) -> str:
    return measure.name


def _identity(measure: Measure) -> Any:
    """What a measure is, for the folder: its name where that says it, else its function too."""
    if is_named(measure):
        return measure.name
    return {"name": measure.name, "function": description(measure.function)}


def joined_parts(parts: list[Any], order: np.ndarray | None = None) -> Any:
    if any(each is None for each in parts):
        return None
    whole = np.concatenate(parts)
    return whole if order is None else whole[order]
