"""The job `learn`: which learner predicts this column best, and how well, honestly.

Test rows are put aside first and used once, after the choice. All learners, the baseline among
them, are compared on the same splits of the other rows; settings are searched inside the training
parts. The simplest learner within one standard error of the best is chosen, fitted again on all
rows but the test rows, and judged by those.

Texts: 000a 1.3.1 (procedure 1.1) · 001 7.3 · 002 "Train, validation, test" · 003 2.1.7 · 004 3.2.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.threads import processors
from gnomon.evaluate import (
    CrossValidation,
    Curve,
    Leaderboard,
    Measure,
    cross_validate,
    learning_curve,
    one_standard_error,
    ranked,
)
from gnomon.evaluate.cross_validation import seeded
from gnomon.evaluate.fold_warnings import never_repeated
from gnomon.table import Table, split
from gnomon.workbench.budget import Budget
from gnomon.workbench.checks import Evidence, all_checks
from gnomon.workbench.diagnosis import (
    MOST_ROWS,
    REPEATS,
    Shift,
    comparable_columns,
    group_scores,
    permutation_importance,
    said_by,
    shift_check,
    worst_rows,
)
from gnomon.workbench.final_figure import final_figure
from gnomon.workbench.given import source_of, with_target
from gnomon.workbench.plan import (
    ALWAYS,
    LATEST_TO_COMPARE,
    SHARE_TO_COMPARE,
    Plan,
    effort_of,
    make_plan,
)
from gnomon.workbench.portfolio import (
    BASELINE,
    STACK,
    Entrant,
    picked,
    portfolio,
    search_fits,
    stack_of,
)
from gnomon.workbench.problem import LearningProblem, set_up
from gnomon.workbench.result import LearnResult
from gnomon.workbench.runs import Run

CHOICES = ("one-standard-error", "best")
CURVE_SHARES = (0.125, 0.25, 0.5, 1.0)
CURVE_ROWS = 20_000
SAMPLE_ROWS = 2_000
FEWEST_ASKED = 200
DEFAULT_BUDGET = "60s"
# what follows the final fit beside predictions: checks, pictures, report; measured on 10^6 rows
ENDING_SECONDS = 6.0
SHARE_TO_END = 0.25
# model files are packed, written, and read again to be checked
BYTES_PER_SECOND = 3e7

Tell = Callable[[str, int, int], None]


def quiet(step: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def model_bytes(model: Any, rows: Any, y: Any) -> float:
    """Bytes of a fitted model, as pickled; a column of the leaderboard."""
    return float(len(pickle.dumps(model)))


MODEL_SIZE = Measure("model bytes", model_bytes, "estimator", greater_is_better=False)


class OutOfTime(Exception):
    """The seconds are spent; ends the learner at work."""


@dataclass
class Settings:
    """What `learn` was asked, and what it settled where it was free to; repeats the run."""

    target: str
    task: str
    measure: str | None
    learners: list[str] | None
    budget: str | None
    choose: str
    folds: int | None
    repeats: int | None
    test_share: float
    groups: str | None
    time: str | None
    seed: int
    curve: bool | None
    fit_rows: int | None
    search: bool | None = None
    compare_rows: int | None = None


def learn(
    table: Any,
    target: Any,
    *,
    task: str = "auto",
    measure: str | None = None,
    learners: list[str] | None = None,
    budget: Any = DEFAULT_BUDGET,
    choose: str = "one-standard-error",
    folds: int | None = None,
    repeats: int | None = None,
    test_share: float = 0.25,
    groups: str | None = None,
    time: str | None = None,
    seed: int = 0,
    curve: bool | None = None,
    fit_rows: int | None = None,
    search: bool | None = None,
    compare_rows: int | None = None,
    source: str | None = None,
    folder: str | os.PathLike | None = None,
    progress: Tell = quiet,
) -> LearnResult:
    """Compare learners on a table and give the best with an honest figure of its quality.

    Use it when there is a table, a column to predict and no favourite method. Do not use it again
    and again on the same table until the test figure pleases: the test rows then are training
    rows. With a budget in evaluations, or none, the same call gives the same numbers everywhere;
    with seconds, what ran is recorded and the run folder's ``again.py`` repeats that. Where the
    seconds are few there are no searches, then fewer folds, then fewer rows to compare on; only
    then are learners left out. The decisions say so.

    Parameters
    ----------
    table : Table, data frame, array of shape (n, d), or path of a file
    target : str, or array-like of shape (n,)
        The column to predict: its name, or its values where they stand apart from the table. Rows
        in which it is missing are set apart, and said.
    task : {"auto", "classify", "regress"}, default="auto"
        Categories and booleans are classified, numbers regressed.
    measure : str, default=None
        What counts: ``"accuracy"``, ``"balanced_accuracy"``, ``"log_loss"``, ``"brier"``,
        ``"auc"``, ``"f_measure"``, or ``"rmse"``, ``"mae"``, ``"r2"``.
    learners : list of str, default=None
        Names of the portfolio's learners to try; all by default. The baseline always runs.
    budget : str, int or None, default="60s"
        Seconds (``"60s"``, ``"5min"``), or a number of evaluations, or no limit. An evaluation is
        a fit of a learner that is compared: on a split, or without a pair of folds, which its
        interval needs. Five folds of few rows take ten. Searches inside a fit, the final fit and
        the learning curve are not counted.
    choose : {"one-standard-error", "best"}, default="one-standard-error"
        The simplest learner within one standard error of the best, or the best mean.
    folds, repeats : int, default=None
        Of the cross-validation; chosen by the number of rows.
    test_share : float, default=0.25
        Rows put aside for the final figure.
    groups, time : str, default=None
        A column whose equal values stay together (persons, machines); a column of moments: train
        on the past, test on the future.
    seed : int, default=0
        Of splits and of random learners.
    curve : bool, default=None
        Draw a learning curve; by default where rows and time allow.
    fit_rows : int, default=None
        The final model learns from so many rows at most; by default from all that time allows.
    search : bool, default=None
        Search settings inside every training part; by default up to 20,000 rows.
    compare_rows : int, default=None
        Compare learners on so many training rows at a time, drawn at random; by default on folds
        of all, and on 80,000 where there are more than 100,000.
    source : str, default=None
        Where a table that is given in memory can be read again, for the record.
    folder : path, default=None
        Run folder: results are written there as they come, and a killed run goes on.
    progress : callable
        Called as ``progress(step, done, total)``.

    Returns
    -------
    result : LearnResult
        Prints itself; has the model, the leaderboard, the checks, and writes the report.

    Examples
    --------
    >>> import gnomon
    >>> from gnomon.table import example
    >>> found = gnomon.learn(example("iris"), "species", learners=["naive Bayes"], budget=None)
    >>> found.chosen
    'naive Bayes'
    >>> found.beats_baseline
    True
    """
    if choose not in CHOICES:
        raise DataError(f"choose={choose!r} is none of {', '.join(CHOICES)}")
    allowance = Budget.of(budget)
    if isinstance(target, str):
        source = source_of(table) or source
    table, target = with_target(table, target)
    problem = set_up(table, target, task=task, measure=measure, groups=groups, time=time)
    picked(portfolio(problem.task, len(problem.rows)), learners)
    if not 0 < test_share < 1:
        raise DataError(f"test_share={test_share} must lie between 0 and 1, such as 0.25")
    settings = Settings(
        target=target,
        task=problem.task,
        measure=problem.measure,
        learners=learners,
        budget=allowance.given,
        choose=choose,
        folds=folds,
        repeats=repeats,
        test_share=test_share,
        groups=groups,
        time=time,
        seed=seed,
        curve=curve,
        fit_rows=fit_rows,
        search=search,
        compare_rows=compare_rows,
    )
    run = Run.begin(folder, table, source, settings)
    with run:
        return Job(problem, settings, allowance, run, progress).do()


def pace_of(scores: CrossValidation, plan: Plan) -> float:
    """Seconds per row that a learner was asked about in the folds."""
    return scores.predict_seconds / sum(len(test) for _, test in plan.splits)


def why_failed(found: CrossValidation) -> str:
    """What a learner without any score says, in plain words: an error of ours needs no name."""
    first = found.failures[0]
    said = first.error.removeprefix(f"{DataError.__name__}: ")
    return f"it failed on all {len(found.folds)} splits; the first one says: {said}"


def inputs_sample(rows: Table, seed: int) -> Table:
    """Some training rows, which later rows are compared with."""
    if len(rows) <= SAMPLE_ROWS:
        return rows
    taken = np.random.default_rng(seed).choice(len(rows), SAMPLE_ROWS, replace=False)
    return rows[np.sort(taken)]


class Job:
    """One run of `learn`, step by step."""

    def __init__(
        self,
        problem: LearningProblem,
        settings: Settings,
        budget: Budget,
        run: Run,
        progress: Tell,
    ):
        self.problem, self.settings = problem, settings
        self.budget, self.run, self.progress = budget, run, progress
        self.seed = settings.seed
        self.done = self.total = 0

    def do(self) -> LearnResult:
        with never_repeated():
            return self._do()

    def _do(self) -> LearnResult:
        parts = self.put_test_rows_aside()
        train = parts["train"]
        y = self.problem.values(train)
        plan = self.plan(train, y)
        self.run.note_plan(plan, self.settings)
        board = self.compare(plan, train, y)
        chosen = self.choose(plan, board)
        cost = plan.cost_of(chosen.name) if chosen.name != STACK else None
        model, n_fitted = self.fit_again(chosen, train, y, board, plan)
        curve = self.learning_curve(chosen, train, y, board, plan)
        test_rows = parts["test"]
        result = self.judge(plan, board, chosen, model, n_fitted, train, test_rows, curve)
        result.forecast = cost
        self.run.finish(result)
        return result

    def put_test_rows_aside(self) -> Any:
        problem, share = self.problem, self.settings.test_share
        stratify = problem.target if problem.task == "classify" and not problem.time else None
        parts = split(
            problem.rows,
            (1 - share, share),
            stratify=stratify,
            groups=problem.groups,
            time=problem.time,
            random_state=self.seed,
            lock_test=True,
        )
        how = f"{len(parts.rows[1]):,} test rows are put aside {parts.how} and used once"
        self.run.decide(how, "a figure that chose nothing is not too good")
        if len(problem.unlabelled):
            self.run.decide(
                f"{len(problem.unlabelled):,} rows without a target are set apart",
                "nothing can be learnt from them, nor tested",
            )
        return parts

    def plan(self, train: Table, y: np.ndarray) -> Plan:
        settings = self.settings
        plan = make_plan(
            self.problem,
            train,
            y,
            effort_of(settings),
            settings.learners,
            self.budget,
            self.seed,
            lambda what: self.progress(what, 0, 0),
        )
        settings.folds, settings.repeats = plan.effort.folds, plan.effort.repeats
        settings.search, settings.compare_rows = plan.effort.search, plan.effort.compare_rows
        for what, why in plan.decisions:
            self.run.decide(what, why)
        for name, reason in plan.left_out.items():
            self.run.decide(f"{name} does not compete", reason)
        self.total = (len(plan.entrants) + 1) * len(plan.splits) + 4
        return plan

    def compare(self, plan: Plan, train: Table, y: np.ndarray) -> Leaderboard:
        """Cross-validate the entrants, then the stack of those that finished."""
        rows = self.problem.inputs(train)
        results: list[CrossValidation] = []
        for entrant in plan.entrants:
            found = self.cross_validate(entrant, rows, y, plan, len(results))
            if found is not None:
                results.append(found)
        stack = self.affordable_stack(plan, results)
        if stack is not None:
            plan.entrants.append(stack)
            found = self.cross_validate(stack, rows, y, plan, len(results))
            if found is not None:
                results.append(found)
        return ranked(results)

    def cross_validate(
        self, entrant: Entrant, rows: Table, y: np.ndarray, plan: Plan, place: int
    ) -> CrossValidation | None:
        """One learner over the splits; None where the seconds were spent before it ended."""

        def tell(done: int, total: int) -> None:
            self.progress(entrant.name, self.done + done, self.total)
            if done < total:
                require_time()

        def require_time() -> None:
            share = SHARE_TO_COMPARE if entrant.name == STACK else LATEST_TO_COMPARE
            if entrant not in plan.entrants[:ALWAYS] and self.budget.over(share):
                raise OutOfTime

        try:
            require_time()
            found = cross_validate(
                entrant.learner,
                rows,
                y,
                cv=plan.splits,
                measures=self.measures(entrant),
                train_scores=True,
                random_state=self.seed,
                progress=tell,
                folder=self.run.folds(entrant.name),
                name=entrant.name,
            )
        except OutOfTime:
            plan.left_out[entrant.name] = "the time was up before it had seen all splits"
            self.run.decide(f"{entrant.name} is left out", plan.left_out[entrant.name])
            return None
        self.done += len(plan.splits)
        if found.failures and not len(found.values):
            plan.left_out[entrant.name] = why_failed(found)
            self.run.decide(f"{entrant.name} is left out", plan.left_out[entrant.name])
            return None
        self.run.note_score(found)
        return found

    def measures(self, entrant: Entrant) -> list[Measure | str]:
        """The measure that counts first, then those that people ask for, then the model's size."""
        wanted = ["accuracy", "log_loss"] if self.problem.task == "classify" else ["rmse", "r2"]
        if len(self.problem.classes) == 2:
            wanted.append("auc")
        rest = [each for each in wanted if each != self.problem.measure]
        return [self.problem.measure, *rest, MODEL_SIZE]

    def affordable_stack(self, plan: Plan, results: list[CrossValidation]) -> Entrant | None:
        """The stack of the learners that finished, where it was asked for and fits the budget."""
        wanted = self.settings.learners
        if wanted is not None and STACK not in wanted:
            return None
        names = [each.name for each in results]
        stack = stack_of(self.problem.task, [e for e in plan.entrants if e.name in names])
        if stack is None:
            return None
        members = [name for name, _ in stack.learner.estimators]
        fits = {each.name: search_fits(each.learner) for each in plan.entrants}
        spent = sum(each.fit_seconds / fits[each.name] for each in results if each.name in members)
        needed = (stack.learner.cv + 1) * spent / processors()
        reason = ""
        if self.budget.seconds is not None:
            left = SHARE_TO_COMPARE * self.budget.seconds - self.budget.spent
            if needed > left:
                reason = f"about {needed:.0f} s needed, {max(left, 0):.0f} s left for comparing"
        if self.budget.evaluations is not None:
            left = self.budget.evaluations - plan.evaluations * len(plan.entrants)
            if left < plan.evaluations:
                reason = f"{plan.evaluations} evaluations needed, {max(left, 0)} left"
        if reason:
            plan.left_out[STACK] = reason
            self.run.decide(f"{STACK} does not compete", reason)
            return None
        return stack

    def choose(self, plan: Plan, board: Leaderboard) -> Entrant:
        """The simplest within one standard error of the best, or the best."""
        entrants = {each.name: each for each in plan.entrants}
        best = board.best
        if self.settings.choose == "best":
            self.run.decide(f"{best.name} is chosen", "it has the best mean")
            return entrants[best.name]
        useful = best.name != BASELINE and board.beats_baseline()
        # a baseline that is beaten beyond chance is not as good, however near it is
        fit = [each for each in board.results if not (useful and each.name == BASELINE)]
        place = one_standard_error(
            [each.mean for each in fit],
            [each.standard_error for each in fit],
            [entrants[each.name].complexity for each in fit],
            greater_is_better=board.greater_is_better,
        )
        name = fit[place].name
        why = (
            f"it has the best mean, and nothing simpler is within one standard error "
            f"({best.standard_error:.2g}) of it"
            if name == best.name
            else f"it is the simplest within one standard error ({best.standard_error:.2g}) of "
            f"the best, {best.name}"
        )
        self.run.decide(f"{name} is chosen", why)
        return entrants[name]

    def fit_again(
        self, chosen: Entrant, train: Table, y: np.ndarray, board: Leaderboard, plan: Plan
    ) -> tuple[Any, int]:
        """The chosen learner on all rows but the test rows, or as many as time allows."""
        self.step(f"fitting {chosen.name}")
        n = self.settings.fit_rows or self.affordable_rows(board[chosen.name], len(y), plan)
        inputs = self.problem.inputs(train)
        if n < len(y):
            taken = np.sort(np.random.default_rng(self.seed).choice(len(y), n, replace=False))
            inputs, y = inputs[taken], y[taken]
            self.settings.fit_rows = n
            self.run.decide(
                f"the final model learns from {n:,} of {len(train):,} rows, drawn at random",
                "more do not fit the budget; give a larger one to use all",
            )
        return seeded(chosen.learner, self.seed, 0).fit(inputs, y), n

    def affordable_rows(self, scores: CrossValidation, n: int, plan: Plan) -> int:
        """Rows that the final fit can use in the seconds that are left.

        What follows the fit is counted too, by the pace of the folds: predictions of the test
        rows, shuffled columns, pictures, the model file.
        """
        if self.budget.seconds is None:
            return n
        fold_rows = len(plan.splits[0][0])
        asked = self.n_test + self.least_asked()
        later = self.ending() + asked * pace_of(scores, plan)
        left = max(self.budget.left - later, 0.0)
        size = np.nanmean(scores.scores[MODEL_SIZE.name]) / BYTES_PER_SECOND
        each = scores.fit_seconds / len(scores.folds) + (size if np.isfinite(size) else 0.0)
        affordable = int(fold_rows * left / max(each, 1e-9))
        return n if affordable >= n else max(affordable, min(fold_rows, n))

    def ending(self) -> float:
        """Seconds kept for checks, pictures and the report."""
        return min(ENDING_SECONDS, SHARE_TO_END * (self.budget.seconds or np.inf))

    @property
    def n_test(self) -> int:
        """Test rows."""
        return round(self.settings.test_share * len(self.problem.rows))

    def least_asked(self) -> int:
        """Rows that the shuffled columns and the pictures ask about at the least."""
        return FEWEST_ASKED * (1 + REPEATS * len(self.problem.features))

    def learning_curve(
        self, chosen: Entrant, train: Table, y: np.ndarray, board: Leaderboard, plan: Plan
    ) -> Curve | None:
        """The score against the number of training rows, where rows and time allow."""
        self.step("learning curve")
        wanted = self.settings.curve
        if wanted is None:
            wanted = chosen.name not in (BASELINE, STACK) and 200 <= len(y) <= CURVE_ROWS
            scores = board[chosen.name]
            cost = 3 * sum(CURVE_SHARES) * scores.fit_seconds / len(scores.folds)
            if self.budget.seconds is not None:
                later = self.ending() + self.n_test * pace_of(scores, plan)
                wanted = wanted and cost < self.budget.left - later
        self.settings.curve = bool(wanted)
        if not wanted or self.problem.time or self.problem.groups:
            return None
        found = learning_curve(
            chosen.learner,
            self.problem.inputs(train),
            y,
            sizes=CURVE_SHARES,
            cv=3,
            measures=self.problem.measure,
            interval="rows",
            random_state=self.seed,
        )
        found.title = f"Learning curve of {chosen.name} ({self.problem.measure})"
        return found

    def judge(self, plan, board, chosen, model, n_fitted, train, test, curve) -> LearnResult:
        """Everything that is said of the test rows, and the checks."""
        problem = self.problem
        self.step("judging on the test rows")
        rows, y = problem.inputs(test), problem.values(test)
        begin = perf_counter()
        said = said_by(model, rows, y, problem.figure)
        pace = (perf_counter() - begin) / len(y)
        figure = final_figure(problem, test, y, said)
        self.step("importance of columns, checks")
        importance = permutation_importance(
            model, rows, y, problem.figure, most_rows=self.shuffled_rows(pace), seed=self.seed
        )
        evidence = Evidence(
            problem=problem,
            board=board,
            chosen=chosen.name,
            model=model,
            train=train,
            test=test,
            said=said,
            figure=figure,
            importance=importance,
            groups=group_scores(problem, rows, y, said),
            shift=self.shift(problem.inputs(train), rows),
            curve=curve,
        )
        checks = all_checks(evidence)
        self.progress("writing", self.total, self.total)
        return LearnResult(
            problem=problem,
            settings=self.settings,
            plan=plan,
            board=board,
            chosen=chosen.name,
            model=model,
            test=figure,
            test_table=test,
            said=said,
            n_train=len(train),
            n_fitted=n_fitted,
            importance=importance,
            worst=worst_rows(problem, y, said),
            groups=evidence.groups,
            shift=evidence.shift,
            curve=curve,
            sample=inputs_sample(problem.inputs(train), self.seed),
            checks=checks,
            decisions=list(self.run.decisions),
            seconds=self.budget.spent,
            run=self.run,
        )

    def shuffled_rows(self, pace: float) -> int:
        """Rows for the importance of columns: as many as the seconds left allow at this pace."""
        if self.budget.seconds is None:
            return MOST_ROWS
        left = self.budget.left - self.ending()
        affordable = left / (max(pace, 1e-9) * (1 + REPEATS * len(self.problem.features)))
        if affordable >= MOST_ROWS:
            return MOST_ROWS
        n = max(int(affordable), FEWEST_ASKED)
        self.run.decide(f"the importance of columns is judged on {n:,} rows", "time is short")
        return n

    def shift(self, train: Table, test: Table) -> Shift | None:
        """Are training and test rows alike? Not asked where they differ by design.

        That is: by time or by groups; nor where all columns are text.
        """
        if self.problem.time or self.problem.groups or not comparable_columns(train, test):
            return None
        return shift_check(train, test, seed=self.seed)

    def step(self, what: str) -> None:
        self.done += 1
        self.progress(what, min(self.done, self.total), self.total)
