"""The job `train`: a network of a description, watched while it learns.

Test rows are put aside first and used once, after training. A fifth of the other rows validates
every epoch: the weights of their least loss are kept, and training ends when the loss has not
improved for some epochs. Step size, penalty and first scale can be searched together before. A
checkpoint after every epoch lets a killed run go on with the same bits.

Texts: 000c 17.2.1-17.2.4, 18.1.1 · 001 5, 7.3 · 003 4.3.2, 5 · 004 9.2.3.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import DummyClassifier, DummyRegressor, Estimate
from gnomon.neural import ConvNetClassifier, NetworkClassifier, NetworkRegressor
from gnomon.neural.description import parse
from gnomon.optimize import minimize
from gnomon.optimize.space import Real
from gnomon.table import Table, split
from gnomon.workbench.analysis.diagnosis import said_by
from gnomon.workbench.analysis.problem import LearningProblem, set_up
from gnomon.workbench.base.given import as_table, left_out, source_of
from gnomon.workbench.base.job import INTERIM, Progress, Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import write_whole
from gnomon.workbench.learn.job import inputs_sample
from gnomon.workbench.train.options import JOB, TrainOptions
from gnomon.workbench.train.result import Curves, TrainResult

TEST_SHARE = 0.2  # the usual fifth for testing
# Judgement: a fifth steers the epochs; scikit-learn's tenth is noisy on small tables.
VALIDATION_SHARE = 0.2
SEARCHED_EPOCHS = 0.2  # of the epochs of the final training
TOLD = 10  # interim lines of a training
# Judgement: two to three digits around the defaults, searched on a log scale.
RATES, PENALTIES, SCALES = (1e-4, 0.1), (1e-7, 0.1), (0.1, 3.0)
FIRST = [64]  # units of the hidden layers, where none are given


@JOB.public
def train(table: Any, options: TrainOptions, request: Request) -> TrainResult:
    """Train a network on a table and watch it: curves, findings in words, an honest test score.

    Use it to see how a network learns and to choose its layers and settings. Do not expect it to
    beat `learn`, which compares many kinds of learners: tables of few rows are better learnt by
    others.

    Returns
    -------
    result : TrainResult

    Examples
    --------
    >>> import gnomon
    >>> from gnomon.table import example
    >>> found = gnomon.train(example("iris"), "species", hidden=[16], learning_rate=0.02)
    >>> found.test_score.value > 0.8
    True
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    problem = set_up(
        left_out(rows, options.without, (options.target,)), options.target, task=options.task
    )
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        classify = problem.task == "classify"
        parts = split(
            problem.rows,
            (1 - TEST_SHARE, TEST_SHARE),
            stratify=problem.values(problem.rows) if classify else None,
            random_state=options.random_state,
        )
        kept, test = problem.rows[parts.rows[0]], problem.rows[parts.rows[1]]
        run.decide(
            f"{len(test):,} of {len(problem.rows):,} rows are test rows, used once",
            f"of the other rows {VALIDATION_SHARE:.0%} validate each epoch",
        )
        if len(problem.unlabeled):
            run.decide(
                f"{len(problem.unlabeled):,} rows are not used", f"{options.target!r} is missing"
            )
        model = network_of(options, problem)
        tried = searched(model, problem, kept, options, request) if options.n_search else []
        if tried:
            best = min(tried, key=lambda each: each.least)
            model.set_params(**best.settings)
            told = ", ".join(f"{name} {value:.3g}" for name, value in best.settings.items())
            run.decide(told, f"least validation loss of {len(tried)} settings: {best.least:.4g}")
        if request.folder is not None:
            model.set_params(checkpoint=str(Path(request.folder) / "checkpoint.npz"))
        if problem.classes:
            most = max(problem.classes.values()) / sum(problem.classes.values())
            request.progress(
                f"{INTERIM}errors are of training and validation rows; the most frequent class "
                f"has {1 - most:.1%}",
                0,
                options.max_iter,
            )
        every = max(options.max_iter // TOLD, 1)
        findings = fitted(model, problem, kept, request.progress, "training", every)
        model.set_params(checkpoint=None)
        result = TrainResult(
            model,
            problem,
            Curves.of(model, "the chosen settings"),
            tried,
            findings,
            *scored(model, problem, kept, test),
            len(test),
            inputs_sample(problem.inputs(kept), options.random_state),
            run,
            options,
            time.perf_counter() - begin,
        )
        run.finish(result)
    return result


def network_of(options: TrainOptions, problem: LearningProblem) -> Any:
    """The estimator of the described network."""
    shared = {
        "solver": options.solver,
        "learning_rate_init": options.learning_rate,
        "batch_size": options.batch_size,
        "max_iter": options.max_iter,
        "alpha": options.alpha,
        "tol": 0.0,
        "n_iter_no_change": options.n_iter_no_change,
        "early_stopping": VALIDATION_SHARE,
        "init_scale": options.init_scale,
        "dtype": options.dtype,
        "random_state": options.random_state,
    }
    text = described(options)
    classify = problem.task == "classify"
    if not text.startswith("input"):
        cls = NetworkClassifier if classify else NetworkRegressor
        return cls(text, **shared)
    shape = parse(text)["input_shape"]
    layers = "\n".join(text.splitlines()[1:])
    n_columns = len(problem.features)
    if prod(shape) != n_columns:
        raise DataError(
            f"the description takes rows of {prod(shape)} numbers (input "
            f"{' '.join(map(str, shape))}); the table has {n_columns} columns to predict from"
        )
    if len(shape) == 1:
        cls = NetworkClassifier if classify else NetworkRegressor
        return cls(layers, **shared)
    if not classify:
        raise DataError(
            f"a network of images predicts classes; {problem.target!r} is a number. Describe rows "
            f"of {n_columns} columns, or give --task classify"
        )
    return ConvNetClassifier(layers, image_shape=tuple(shape), **shared)


def described(options: TrainOptions) -> str:
    """The description of the layers before the last."""
    if options.network is None:
        if not 0 <= options.dropout < 1:
            raise DataError(f"dropout must be at least 0 and below 1, not {options.dropout}")
        lines = []
        for size in options.hidden or FIRST:
            lines.append(f"Dense units={int(size)} activation={options.activation}")
            if options.dropout:
                lines.append(f"Dropout rate={options.dropout}")
        return "\n".join(lines)
    given = options.network
    place = Path(given)
    if "=" not in given and "\n" not in given:
        try:
            given = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the description {place} cannot be read: {error}") from None
    lines = [line for line in given.splitlines() if line.split("#")[0].strip()]
    if not lines:
        raise DataError(f"the description {options.network!r} has no layers")
    return "\n".join(lines)


@dataclass
class Watch:
    """A callback that tells every epoch, and keeps about ten of them on the screen.

    Attributes
    ----------
    tell : callable
        ``progress(step, done, total)``.
    name : str
        What is trained.
    total : int
        Most epochs.
    every : int
        Epochs between lines that are kept; 0 for none.
    """

    tell: Progress
    name: str
    total: int
    every: int
    epoch: int = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing is needed before the fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is left after the fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is shown before an epoch."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> Any:
        """Tell the last epoch."""
        losses = getattr(fitted_estimator, "validation_losses_", [])
        if context.task_name != "epoch" or len(losses) <= self.epoch:
            return False
        self.epoch = len(losses)
        line = told_epoch(fitted_estimator)
        self.tell(f"{self.name}: {line}", self.epoch, self.total)
        if self.every and (self.epoch == 1 or self.epoch % self.every == 0):
            self.tell(f"{INTERIM}epoch {self.epoch}: {line}", self.epoch, self.total)
        return False


def told_epoch(model: Any) -> str:
    """The figures of the last epoch in a line."""
    losses = model.validation_losses_
    line = f"loss {model.loss_curve_[len(losses) - 1]:.4g}, validation {losses[-1]:.4g}"
    if model.validation_errors_:
        line += f"; error {model.training_errors_[-1]:.1%}, {model.validation_errors_[-1]:.1%}"
    return line


def fitted(
    model: Any, problem: LearningProblem, rows: Table, progress: Progress, name: str, every: int
) -> list[str]:
    """Fit a network, telling every epoch; what is wrong with it, in words."""
    watch = Watch(progress, name, model.max_iter, every)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)  # told in the result
        model.set_callbacks(watch)
        try:
            model.fit(problem.inputs(rows), problem.values(rows))
        finally:
            model.set_callbacks()
    return list(model.findings_)


def searched(
    model: Any, problem: LearningProblem, rows: Table, options: TrainOptions, request: Request
) -> list[Curves]:
    """Short trainings with step size, penalty and first scale searched together."""
    tried: list[Curves] = []
    record = None if request.folder is None else Path(request.folder) / "search.json"
    before = {} if record is None or not record.exists() else json.loads(record.read_text())
    epochs = max(1, round(SEARCHED_EPOCHS * options.max_iter))

    def least_loss(point: Any) -> float:
        names = ("learning_rate_init", "alpha", "init_scale")
        settings = dict(zip(names, map(float, point)))
        key = json.dumps(settings)
        if key not in before:
            name = f"setting {len(tried) + 1} of {options.n_search}"
            short = type(model)(**(model.get_params() | settings | {"max_iter": epochs}))
            fitted(short, problem, rows, request.progress, name, every=0)
            before[key] = Curves.of(short, name, settings).as_dict()
            if record is not None:
                write_whole(record, json.dumps(before))
        tried.append(Curves(**before[key]))
        told = ", ".join(f"{name} {value:.3g}" for name, value in settings.items())
        line = f"{told}: validation loss {tried[-1].least:.4g}"
        request.progress(INTERIM + line, len(tried), options.n_search)
        return tried[-1].least

    space = [Real(*ends, log=True) for ends in (RATES, PENALTIES, SCALES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        minimize(
            least_loss,
            space,
            "bayesian-optimization",
            max_evaluations=options.n_search,
            random_state=options.random_state,
        )
    return tried


def scored(
    model: Any, problem: LearningProblem, kept: Table, test: Table
) -> tuple[Estimate, Estimate]:
    """The measure on the test rows, of the network and of the baseline."""
    y = problem.values(test)
    said = said_by(model, problem.inputs(test), y, problem.figure)
    dummy = DummyClassifier() if problem.task == "classify" else DummyRegressor()
    dummy.fit(problem.inputs(kept), problem.values(kept))
    constant = said_by(dummy, problem.inputs(test), y, problem.figure)
    return as_estimate(problem.figure.figure(y, said)), as_estimate(
        problem.figure.figure(y, constant)
    )


def as_estimate(found: Any) -> Estimate:
    """An estimate, also of a number without an interval."""
    if isinstance(found, Estimate):
        return found
    return Estimate(float(found), np.nan, np.nan, how="no interval is known")
