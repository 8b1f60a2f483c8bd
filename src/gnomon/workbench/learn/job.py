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
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.ensemble.bucket import Bucket
from gnomon.evaluate import (
    CrossValidation,
    Curve,
    Leaderboard,
    Measure,
    cross_validation_estimates,
    learning_curve_estimates,
    ranked,
)
from gnomon.evaluate.fold_run import seeded
from gnomon.evaluate.fold_warnings import never_repeated
from gnomon.evaluate.measures import Said
from gnomon.evaluate.splits import random_splits
from gnomon.table import Table, split
from gnomon.workbench.analysis.diagnosis import (
    MOST_ROWS,
    MOST_SHUFFLED,
    REPEATS,
    Shift,
    comparable_columns,
    group_scores,
    permutation_importance,
    said_by,
    shift_check,
    worst_rows,
)
from gnomon.workbench.analysis.portfolio import (
    BASELINE,
    BOOSTING,
    STACK,
    Entrant,
    picked,
    portfolio,
)
from gnomon.workbench.analysis.problem import FEWEST_TESTED, LearningProblem, set_up
from gnomon.workbench.base.budget import Budget
from gnomon.workbench.base.given import (
    NamedSource,
    as_table,
    left_out,
    source_of,
    with_target,
)
from gnomon.workbench.base.job import INTERIM, Progress, Request
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.runs import Run, RunError, plain_name, read_record
from gnomon.workbench.learn.blend import blended
from gnomon.workbench.learn.checks import all_checks
from gnomon.workbench.learn.evidence import Evidence
from gnomon.workbench.learn.final_figure import final_figure, owners_of
from gnomon.workbench.learn.lead import LEVEL, gap_between, leads, p_against_best
from gnomon.workbench.learn.leaks import other_than, ties_of
from gnomon.workbench.learn.options import BEST, JOB, LearnOptions
from gnomon.workbench.learn.own_estimators import in_words, own_entrants
from gnomon.workbench.learn.plan import (
    ALWAYS,
    FOLDS,
    LATEST_TO_COMPARE,
    PLENTY,
    TEST_OF_MANY,
    Plan,
    draws_rows,
    effort_of,
    ending_seconds,
    is_late,
    make_plan,
)
from gnomon.workbench.learn.refine import (
    MOST_COPIES,
    SLOWER,
    USUALLY_TRIED,
    averaged_fits,
    refined,
)
from gnomon.workbench.learn.result import LearnResult
from gnomon.workbench.learn.targets import LearnTargets
from gnomon.workbench.learn.threshold import Threshold, chosen_threshold, costs_of
from gnomon.workbench.learn.unlabeled import compared, fit_with, usable

# Doublings: on a log scale of rows the points are evenly spaced.
CURVE_SHARES = (0.125, 0.25, 0.5, 1.0)
# Judgement: three fits at each share; beyond, a curve costs more than the choice.
CURVE_ROWS = 20_000
SAMPLE_ROWS = 2_000  # judgement: pictures of dependence ask about each row at every point
FEWEST_ASKED = 200  # judgement: below it importances are noise, so the time is exceeded instead
LATEST_CHECK = 0.95  # of the seconds: no long check begins after it
LITTLE_MORE = 0.05  # of the seconds: the final fit may take so much longer than that of a fold
# model files are packed, written, and read again to be checked
BYTES_PER_SECOND = 3e7


def model_bytes(model: Any, rows: Any, y: Any) -> float:
    """Bytes of a fitted model, as pickled; a column of the leaderboard."""
    return float(len(pickle.dumps(model)))


MODEL_SIZE = Measure("model bytes", model_bytes, "estimator", greater_is_better=False)


class OutOfTime(Exception):
    """The seconds are spent; ends the learner at work."""


@JOB.public
def learn(table: Any, options: LearnOptions, request: Request) -> LearnResult | LearnTargets:
    """Compare learners on a table and give the best with an honest estimate of its quality.

    Use it when there is a table, a column to predict and no favourite method. Do not use it again
    and again on the same table until the test score pleases: the test rows then are training
    rows. With a budget in evaluations, or none, the same call gives the same numbers everywhere;
    with seconds, what ran is recorded and the run folder's ``again.py`` repeats that. Where the
    seconds are few there are no searches, then fewer folds, then fewer rows to compare on; only
    then are learners left out. The decisions say so.

    Returns
    -------
    result : LearnResult
        Prints itself; has the model, the leaderboard, the checks, and writes the report. Of
        several targets a `LearnTargets` with a result for each.

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
    if isinstance(options.target, list | tuple) and has_columns(table, options.target):
        return learn_each(table, options, request)
    allowance = Budget.of(options.budget)
    source = request.source
    if isinstance(options.target, str):
        source = source_of(table) or source
    rows, options.target = with_target(table, options.target)
    problem = set_up(
        left_out(rows, options.without, (options.target, options.groups, options.time)),
        options.target,
        task=options.task,
        measure=options.measure,
        groups=options.groups,
        time=options.time,
    )
    own = own_entrants(options.estimators, problem.task)
    options.estimators = in_words(options.estimators)
    picked([*portfolio(problem.task, len(problem.rows)), *own], options.learners)
    if options.cost is not None:
        require_costs(options.cost, problem)
    options.task, options.measure = problem.task, problem.measure
    options.budget = allowance.given
    run = Run.begin(request.folder, rows, source, options, JOB.name)
    with run:
        return Learning(problem, options, allowance, run, request.progress, own).do()


def require_costs(cost: Any, problem: LearningProblem) -> None:
    """Refuse costs that are not understood, or that the problem has no use for."""
    costs_of(cost)
    if len(problem.classes) != 2:
        what = f"{len(problem.classes)} classes" if problem.classes else "numbers"
        raise DataError(
            f"cost= is of misses and false alarms, which two classes have; the target "
            f"{problem.target!r} has {what}"
        )


def has_columns(table: Any, names: Sequence[Any]) -> bool:
    """Whether these are names of columns, and not the values of a target."""
    return all(isinstance(name, str) for name in names) and set(names) <= set(
        as_table(table).columns
    )


def learn_each(table: Any, options: LearnOptions, request: Request) -> LearnTargets:
    """One run per target, each without the other targets and with its share of the budget."""
    rows, targets = as_table(table), list(dict.fromkeys(options.target))
    shared = options.record() | {"budget": Budget.of(options.budget).part(len(targets)).given}
    found: dict[str, Any] = {}
    for target in targets:
        others = [each for each in targets if each != target]
        found[target] = learn(
            rows,
            **shared | {"target": target, "without": [*options.without, *others]},
            source=source_of(table) or request.source,
            folder=request.folder and Path(request.folder) / plain_name(target),
            progress=request.progress,
        )
    return LearnTargets(found)


def resume(folder: str | os.PathLike[str], *, table: Any = None, progress: Any = None) -> Any:
    """Go on with a run that was killed or stopped; finished folds are not run again.

    Parameters
    ----------
    folder : path
    table : Table, data frame or path, default=None
        Where the run's table was not read from a file.
    progress : callable, default=None
        Called as ``progress(step, done, total)``.

    Returns
    -------
    result : LearnResult
    """
    record = read_record(Path(folder))
    if record["job"] != JOB.name:
        raise RunError(
            f"{folder} is a run of 'gnomon {record['job']}', which is not resumed: run it again"
        )
    table = record["source"] if table is None else table
    if table is None:
        raise DataError(f"the table of {folder} was not read from a file; give it as table=")
    settings = dict(record["settings"])
    in_seconds = Budget.of(settings["budget"]).seconds is not None
    if in_seconds and "plan" in record:
        settings |= {"learners": record["plan"], "budget": None} | record.get("settled", {})
    source = record["source"]
    if source is not None:
        source = NamedSource(source, record.get("called", source))
    return JOB.repeated(table, settings, source=source, folder=folder, progress=progress)


def trainings(chosen: Entrant) -> int:
    """Trainings on all rows that the search of boosting costs, the last one too; 1 for others."""
    learner = chosen.learner
    if chosen.name != BOOSTING or not isinstance(learner, Bucket):
        return 1
    return len(learner.estimators) * (learner.cv - 1) + 1


def last_fold(plan: Plan, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last fold, whose training part is the largest in time, as places among taken rows."""
    places = (np.flatnonzero(np.isin(taken, rows)) for rows in plan.splits[-1])
    learnt, held = places
    return learnt, held


def pace_of(scores: CrossValidation, plan: Plan) -> float:
    """Seconds per row that a learner predicted in the folds."""
    return scores.predict_seconds / sum(len(test) for _, test in plan.splits)


def why_failed(found: CrossValidation) -> str:
    """What a learner without any score says, in plain words: an error of ours needs no name."""
    first = found.failures[0]
    said = first.error.removeprefix(f"{DataError.__name__}: ")
    return f"it failed on all {len(found.folds)} splits; the first one says: {said}"


def times(n: int) -> str:
    """How often, in words."""
    return "once" if n == 1 else f"{n} times"


def is_near(best: CrossValidation, other: CrossValidation) -> bool:
    """Whether a learner is within one standard error of the best, by paired losses of the rows."""
    if other is best:
        return True
    gap, error = gap_between(best, other)
    return bool(gap <= error)


def distance_from(best: CrossValidation, other: CrossValidation) -> str:
    """The scores of two learners, and how far apart they are row by row, in words."""
    gap, error = gap_between(best, other)
    scores = f"{best.measures[0].name} {other.mean:.4g} against {best.mean:.4g}"
    if gap <= 0:
        return f"{scores}; compared row by row, it is not worse"
    return f"{scores}; compared row by row, the difference is {gap / error:.2f} standard errors"


def inputs_sample(rows: Table, random_state: int) -> Table:
    """Some training rows, which later rows are compared with."""
    if len(rows) <= SAMPLE_ROWS:
        return rows
    taken = np.random.default_rng(random_state).choice(len(rows), SAMPLE_ROWS, replace=False)
    return rows[np.sort(taken)]


class Learning:
    """One run of `learn`, step by step."""

    def __init__(
        self,
        problem: LearningProblem,
        settings: LearnOptions,
        budget: Budget,
        run: Run,
        progress: Progress,
        own: Sequence[Entrant] = (),
    ):
        self.problem, self.settings = problem, settings
        self.own = list(own)
        self.budget, self.run, self.progress = budget, run, progress
        self.random_state = settings.random_state
        self.done = self.total = 0
        self.test_places = np.zeros(0, dtype=int)

    def do(self) -> LearnResult:
        with never_repeated():
            if self.problem.untested:  # the job itself says that these classes only train
                warnings.filterwarnings("ignore", ".* classes have fewer rows than", GnomonWarning)
            return self._do()

    def _do(self) -> LearnResult:
        train, parts = self.put_test_rows_aside()
        y = self.problem.values(train)
        plan = self.plan(train, y)
        self.note_plan(plan)
        board = self.compare(plan, train, y)
        chosen = self.choose(plan, board, len(y))
        cost = plan.cost_of(chosen.name) if chosen.name != STACK else None
        model, n_fitted = self.fit_again(chosen, train, y, board, plan)
        model = self.with_unlabeled(chosen, model, train, y)
        curve = self.learning_curve(chosen, train, y, board, plan)
        test_rows = parts["test"]
        result = self.judge(plan, board, chosen, model, n_fitted, train, test_rows, curve)
        result.forecast = cost
        self.settings.learners = result.competed
        self.run.finish(result)
        return result

    def note_plan(self, plan: Plan) -> None:
        """Record who competes on which splits, so that a killed run goes on with the same."""
        wanted, record = self.settings.learners, self.run.record
        stack = [STACK] if wanted is None or STACK in wanted else []
        record["plan"] = [each.name for each in plan.entrants] + stack
        settled = [each.name for each in self.settings.declared() if each.settled]
        record["settled"] = {name: getattr(self.settings, name) for name in settled}
        record["forecasts"] = [asdict(each) for each in plan.costs]
        for name, why in self.run.before.get("left_out", {}).items():
            if name not in record["plan"]:  # the time was short when the run was begun
                plan.left_out.setdefault(name, why)
        for each in self.run.before.get("planned", []):
            if each not in self.run.decisions:
                self.run.decisions.append(each)
        record["left_out"] = dict(plan.left_out)
        record["planned"] = list(self.run.decisions)
        self.run.write()

    def put_test_rows_aside(self) -> tuple[Table, Any]:
        """The rows that are not test rows, and the parts, whose test rows are given out once."""
        problem, share = self.problem, self.settings.test_share
        rare = problem.untested
        trains_only = np.zeros(len(problem.rows), dtype=bool)
        if rare:
            trains_only = np.isin(problem.values(problem.rows), rare)
            self.run.decide(
                f"{int(trains_only.sum()):,} rows of {len(rare)} classes only train "
                f"({', '.join(map(str, rare[:5]))}{' ...' if len(rare) > 5 else ''})",
                f"a class of fewer than {FEWEST_TESTED} rows cannot be tested",
            )
        stratify = problem.target if problem.task == "classify" and not problem.time else None
        parts = split(
            problem.rows[~trains_only] if rare else problem.rows,
            (1 - share, share),
            stratify=stratify,
            groups=problem.groups,
            time=problem.time,
            random_state=self.random_state,
            lock_test=True,
        )
        how = f"{len(parts.rows[1]):,} test rows are put aside {parts.how} and used once"
        self.run.decide(how, "a score that was not used for selection is not optimistic")
        if len(problem.unlabeled):
            self.run.decide(
                f"{len(problem.unlabeled):,} rows without a target are set apart",
                "they are neither training nor test rows of the comparison of learners",
            )
        places = np.flatnonzero(~trains_only)
        assert problem.places is not None
        self.test_places = problem.places[places[parts.rows[1]]]
        if not rare:
            return parts["train"], parts
        kept = places[parts.rows[0]]
        return problem.rows[np.sort(np.concatenate([kept, np.flatnonzero(trains_only)]))], parts

    def plan(self, train: Table, y: np.ndarray) -> Plan:
        settings = self.settings
        plan = make_plan(
            self.problem,
            train,
            y,
            effort_of(settings),
            settings.learners,
            self.budget,
            self.random_state,
            lambda what: self.progress(what, 0, 0),
            self.own,
        )
        settings.folds, settings.repeats = plan.effort.folds, plan.effort.repeats
        settings.search, settings.compare_rows = plan.effort.search, plan.effort.compare_rows
        settings.pair_fits = plan.effort.pair_fits
        for what, why in plan.decisions:
            self.run.decide(what, why)
        for name, reason in plan.left_out.items():
            self.run.decide(f"{name} does not compete", reason)
        self.total = len(plan.entrants) * len(plan.splits) + 4
        return plan

    def compare(self, plan: Plan, train: Table, y: np.ndarray) -> Leaderboard:
        """Cross-validate the entrants, then join those that finished in a stack."""
        rows = self.problem.inputs(train)
        results: list[CrossValidation] = []
        for entrant in plan.entrants:
            found = self.cross_validate(entrant, rows, y, plan)
            if found is not None:
                results.append(found)
        if not results:
            reasons = "; ".join(f"{name}: {why}" for name, why in plan.left_out.items())
            raise DataError(f"no learner could be scored, not even the baseline. {reasons}")
        wanted = self.settings.learners
        if wanted is None or STACK in wanted:
            stack = blended(self.problem.task, plan.entrants, results)
            if isinstance(stack, str):
                plan.left_out[STACK] = stack
            else:
                plan.entrants.append(stack[0])
                results.append(stack[1])
                self.note_score(stack[1])
        return ranked(results)

    def cross_validate(
        self, entrant: Entrant, rows: Table, y: np.ndarray, plan: Plan
    ) -> CrossValidation | None:
        """One learner over the splits; None where the seconds were spent before it ended."""

        def tell(done: int, total: int) -> None:
            self.progress(entrant.name, self.done + done, self.total)
            if done < total:
                require_time()

        def require_time() -> None:
            if entrant not in plan.entrants[:ALWAYS] and is_late(self.budget, self.problem):
                raise OutOfTime

        try:
            require_time()
            found = cross_validation_estimates(
                entrant.learner,
                rows,
                y,
                cv=plan.splits,
                measures=self.measures(),
                train_scores=True,
                pair_fits=plan.effort.pairs,
                random_state=self.random_state,
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
        self.note_score(found)
        return found

    def note_score(self, found: CrossValidation) -> None:
        """Record and show the score of a learner."""
        self.run.record["scores"][found.name] = as_json(found.figure())
        self.run.write()
        score = f"{self.problem.measure} {found.figure()}"
        self.progress(f"{INTERIM}{found.name}: {score}", self.done, self.total)

    def measures(self) -> list[Measure | str]:
        """The measure that counts first, then those that people ask for, then the model's size."""
        wanted = ["accuracy", "log_loss"] if self.problem.task == "classify" else ["rmse", "r2"]
        if len(self.problem.classes) == 2:
            wanted.append("auc")
        rest = [each for each in wanted if each != self.problem.measure]
        return [self.problem.measure, *rest, MODEL_SIZE]

    def choose(self, plan: Plan, board: Leaderboard, n: int) -> Entrant:
        """The simplest within one standard error of the best, or the best; of `n` rows."""
        entrants = {each.name: each for each in plan.entrants}
        if self.settings.fit_learner is not None:
            name, why = self.settings.fit_learner, "asked for"
        else:
            name, why = self.learns_from_all(*self.by_scores(entrants, board), board, n, plan)
        self.run.decide(f"{name} is chosen", why)
        return entrants[name]

    def by_scores(self, entrants: dict[str, Entrant], board: Leaderboard) -> tuple[str, str]:
        """Which learner the scores speak for, and why."""
        real = [name for name, lead in leads(board).items() if lead.is_real]
        best = next((each for each in board.results if each.name in real), board.best)
        if self.settings.choose == BEST:
            return best.name, "it has the best mean"
        # where a learner beats the baseline beyond chance, only such learners are chosen from
        ahead = [each for each in board.results if each.name in real]
        near = [each for each in ahead or board.results if is_near(best, each)]
        # of equally simple ones the best, which comes first
        name = min(near, key=lambda each: entrants[each.name].complexity).name
        if name == best.name:
            why = "it has the best mean, and no simpler learner is within one standard error of it"
            return name, why
        return name, (
            f"it is the simplest learner within one standard error of the best, {best.name} "
            f"({distance_from(best, board[name])})"
        )

    def learns_from_all(
        self, name: str, why: str, board: Leaderboard, n: int, plan: Plan
    ) -> tuple[str, str]:
        """That learner, or one not shown to be worse where only this has time for all rows.

        Twice the rows gain more than a difference that chance explains.
        """
        rows = self.affordable_rows(board[name], n, plan)
        if rows >= n or name == BASELINE:
            return name, why
        p = p_against_best(board)
        for each in board.results[: board.names.index(BASELINE)]:
            as_good = not p.get(each.name, 1.0) < LEVEL
            if as_good and self.affordable_rows(each, n, plan) >= n:
                self.settings.fit_learner = each.name
                return each.name, (
                    f"in the budget it can learn from all {n:,} rows and {name}, whose score is "
                    f"not shown to be better, from {rows:,}"
                )
        return name, why

    def fit_again(
        self, chosen: Entrant, train: Table, y: np.ndarray, board: Leaderboard, plan: Plan
    ) -> tuple[Any, int]:
        """The chosen learner on all rows but the test rows, or as many as time allows.

        Where a search of settings on all rows does not fit the budget, it sees as many rows as in
        the folds, and the best settings learn from all that fit.
        """
        self.step(f"fitting {chosen.name}")
        scores, learner = board[chosen.name], seeded(chosen.learner, self.random_state, 0)
        n = self.settings.fit_rows or self.affordable_rows(scores, len(y), plan)
        refines = self.refines(chosen, n)
        on_some = trainings(chosen) > 1 and (
            self.settings.fit_rows is not None or self.rows_within(scores, len(y), plan) < len(y)
        )
        if on_some:
            self.settings.fit_rows = n
        inputs, taken = self.problem.inputs(train), np.arange(len(y))
        if n < len(y):
            taken = np.sort(
                np.random.default_rng(self.random_state).choice(len(y), n, replace=False)
            )
            inputs, y = inputs[taken], y[taken]
            self.settings.fit_rows = n
            self.run.decide(
                f"the final model learns from {n:,} of {len(train):,} rows, drawn at random",
                "more do not fit the budget; give a larger one to use all",
            )
        if refines:
            learner = self.refined(chosen, learner, inputs, y, taken, scores, plan)
            return self.averaged(learner, inputs, y, scores, plan), n
        if on_some:
            fold = last_fold(plan, taken)
            learner.set_params(cv=[fold])
            self.run.decide(
                f"settings of the final model are searched on {len(fold[0]):,} rows",
                "a search on all rows does not fit the budget",
            )
        return learner.fit(inputs, y), n

    def refines(self, chosen: Entrant, n: int) -> bool:
        """Whether the settings of the final model are searched further."""
        if chosen.name != BOOSTING or not isinstance(chosen.learner, Bucket):
            return False
        if self.settings.fit_settings is not None:
            return self.settings.fit_settings > 0
        wanted = self.settings.search is not True and not self.settings.tune
        return wanted and self.budget.seconds is not None and n >= PLENTY

    def refined(
        self,
        chosen: Entrant,
        learner: Any,
        inputs: Table,
        y: np.ndarray,
        taken: np.ndarray,
        scores: CrossValidation,
        plan: Plan,
    ) -> Any:
        """Boosting with the settings that did best on some rows, in the seconds that are left."""
        later = self.ending() + (self.n_test + self.least_asked()) * pace_of(scores, plan)
        fold = last_fold(plan, taken)
        if draws_rows(self.problem, len(taken), plan.effort):
            rows = self.settings.fit_settings_rows
            if rows is None:
                fit = scores.fit_seconds / len(scores.folds) / trainings(chosen)
                pace = SLOWER * fit / len(plan.splits[0][0])
                rows = int(((self.budget.left - later) / pace - len(y)) / USUALLY_TRIED)
                rows = min(max(rows, len(fold[0])), len(y) - len(y) // FOLDS)
                self.settings.fit_settings_rows = rows
            labels = y if self.problem.task == "classify" else None
            fold = random_splits(
                len(y), 1, 1 / FOLDS, stratify=labels, random_state=self.random_state
            )[0]
            kept = np.random.default_rng(self.random_state).permutation(len(fold[0]))[:rows]
            fold = np.sort(fold[0][kept]), fold[1][:TEST_OF_MANY]
        growth, most = len(y) / len(fold[0]), self.settings.fit_settings

        def goes_on(tried: int, longest: float, best: float) -> bool:
            self.progress(f"settings of {BOOSTING}: {tried} tried", self.done, self.total)
            if most is not None:
                return tried < most
            return self.budget.left - later > SLOWER * (longest + growth * max(longest, best))

        found = refined(
            [each for _, each in learner.estimators],
            inputs,
            y,
            fold,
            learner.scoring,
            self.random_state,
            goes_on,
        )
        self.settings.fit_settings = found.tried
        self.run.decide(
            f"the final model has {found}",
            f"the best of {found.tried} settings, which learnt from {len(fold[0]):,} training rows "
            f"and were judged on {len(fold[1]):,} others, in the time that was left",
        )
        return found.learner

    def averaged(
        self, learner: Any, inputs: Table, y: np.ndarray, scores: CrossValidation, plan: Plan
    ) -> Any:
        """The average of fits with other seeds, as many as the seconds allow."""
        asked = (self.n_test + self.least_asked()) * pace_of(scores, plan)
        most = self.settings.fit_copies

        def goes_on(made: int, longest: float) -> bool:
            self.progress(f"fitting {BOOSTING}: {made} made", self.done, self.total)
            if most is not None or self.budget.seconds is None:
                return made < (most or 1)
            later = self.ending() + (made + 1) * asked
            return made < MOST_COPIES and self.budget.left - later > SLOWER * longest

        model, made = averaged_fits(learner, inputs, y, self.random_state, goes_on)
        self.settings.fit_copies = made
        if made > 1:
            self.run.decide(
                f"the final model is the average of {made} fits",
                "their rows kept aside to end the rounds differ; the mean varies less",
            )
        return model

    def with_unlabeled(self, chosen: Entrant, model: Any, train: Table, y: np.ndarray) -> Any:
        """The model that also learns from rows without a target, where folds say that it helps."""
        problem, n = self.problem, len(self.problem.unlabeled)
        if not n or problem.task != "classify" or chosen.name in (BASELINE, STACK):
            return model
        reason = usable(len(y), n, y)
        if not reason and problem.parted_by is not None:
            reason = "rows are split by groups or time"
        if not reason and (self.settings.fit_rows or self.budget.over(LATEST_TO_COMPARE)):
            reason = "the budget does not allow the comparison"
        if reason:
            self.run.decide(f"the {n:,} rows without a target are not used", reason)
            return model
        self.progress("rows without a target", self.done, self.total)
        inputs, rest = problem.inputs(train), problem.inputs(problem.unlabeled)
        learner = seeded(chosen.learner, self.random_state, 0)
        uses = compared(learner, inputs, y, rest, self.random_state)
        said = "; ".join(map(str, uses))
        helping = [each for each in uses if each.helps]
        if not helping:
            self.run.decide(f"the {n:,} rows without a target are not used", f"no gain: {said}")
            return model
        best = max(helping, key=lambda each: each.difference.value)
        self.run.decide(f"the {n:,} rows without a target are used, by {best.name}", said)
        return fit_with(best.learner, inputs, y, rest)

    def affordable_rows(self, scores: CrossValidation, n: int, plan: Plan) -> int:
        """Rows that the final fit can use in the seconds that are left, if need be after a search
        on fewer rows."""
        found = self.rows_within(scores, n, plan)
        chosen = next((each for each in plan.entrants if each.name == scores.name), None)
        if found < n and chosen is not None and trainings(chosen) > 1:
            return self.rows_within(scores, n, plan, trainings(chosen))
        return found

    def rows_within(self, scores: CrossValidation, n: int, plan: Plan, trainings: int = 1) -> int:
        """Rows that the final fit can use in the seconds that are left.

        What follows the fit is counted too, by the pace of the folds: predictions of the test
        rows, shuffled columns, pictures, the model file. Of several trainings of a search, only
        the last one learns from all these rows.
        """
        if self.budget.seconds is None:
            return n
        fold_rows = len(plan.splits[0][0])
        asked = self.n_test + self.least_asked()
        later = self.ending() + asked * pace_of(scores, plan)
        left = max(self.budget.left - later, 0.0)
        size = np.nanmean(scores.scores[MODEL_SIZE.name]) / BYTES_PER_SECOND
        size = size if np.isfinite(size) else 0.0
        fit, cost = scores.fit_seconds / len(scores.folds), plan.cost_of(scores.name)
        usual = cost.at(fold_rows) if cost is not None else 0.0

        def needed(rows: int) -> float:
            share = rows / fold_rows
            # a fit has a part that does not grow with the rows, which the forecast knows
            longer = cost.at(rows) / usual if cost is not None and usual > 0 else share
            return fit * (trainings - 1 + longer) / trainings + size * share

        # the fit of a fold is repeated in any case; what all rows take beyond it may be little
        further = needed(n) - needed(fold_rows)
        if needed(n) <= left or further <= LITTLE_MORE * self.budget.seconds:
            return n
        affordable = bisect_right(range(n), left, key=needed) - 1
        return max(affordable, min(fold_rows, n))

    def ending(self) -> float:
        """Seconds kept for checks, pictures and the report."""
        return ending_seconds(self.budget, self.problem)

    @property
    def n_test(self) -> int:
        """Test rows."""
        return round(self.settings.test_share * len(self.problem.rows))

    def least_asked(self) -> int:
        """Rows that the shuffled columns and the pictures ask about at the least."""
        return FEWEST_ASKED * (1 + REPEATS * min(len(self.problem.features), MOST_SHUFFLED))

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
        found = learning_curve_estimates(
            chosen.learner,
            self.problem.inputs(train),
            y,
            sizes=CURVE_SHARES,
            cv=3,
            measures=self.problem.measure,
            interval="rows",
            random_state=self.random_state,
        )
        found.title = f"Learning curve of {chosen.name} ({self.problem.measure})"
        return found

    def judge(
        self,
        plan: Plan,
        board: Leaderboard,
        chosen: Entrant,
        model: Any,
        n_fitted: int,
        train: Table,
        test: Table,
        curve: Curve | None,
    ) -> LearnResult:
        """Everything that is reported of the test rows, and the checks."""
        problem = self.problem
        self.step("judging on the test rows")
        rows, y = problem.inputs(test), problem.values(test)
        begin = perf_counter()
        said = said_by(model, rows, y, problem.figure)
        pace = (perf_counter() - begin) / len(y)
        figure = final_figure(problem, test, y, said)
        self.step("importance of columns, checks")
        ties = ties_of(problem, train)
        importance = permutation_importance(
            model,
            rows,
            y,
            problem.figure,
            most_rows=self.shuffled_rows(pace),
            first=[other_than(problem.target, pair) for pair in ties],
            seconds=self.seconds_to_shuffle(chosen),
            random_state=self.random_state,
            owners=owners_of(problem, test),
        )
        if importance.is_partial:
            self.run.decide(
                f"the importance of {len(importance.names):,} of {importance.n_columns:,} columns "
                "is measured, those that go most with the target",
                "each column takes a prediction of all rows",
            )
        if 0 < importance.importances.shape[1] < REPEATS:
            self.run.decide(
                f"columns are shuffled {times(importance.importances.shape[1])} for their "
                f"importance, not {REPEATS} times",
                "time is short; the intervals count it",
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
            groups=group_scores(problem, rows, y, said, owners_of(problem, test)),
            shift=self.shift(problem.inputs(train), rows),
            curve=curve,
            ties=ties,
            in_time=lambda: not self.budget.over(LATEST_CHECK),
            source=self.run.record["source"] or "FILE",
            times_the_rows=n_fitted / min(len(learnt) for learnt, _ in plan.splits),
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
            test_places=self.test_places,
            said=said,
            n_train=len(train),
            n_fitted=n_fitted,
            importance=importance,
            worst=worst_rows(problem, y, said),
            groups=evidence.groups,
            shift=evidence.shift,
            curve=curve,
            sample=inputs_sample(problem.inputs(train), self.random_state),
            checks=checks,
            decisions=list(self.run.decisions),
            threshold=self.threshold(board[chosen.name], y, said, test),
            seconds=self.budget.spent,
            run=self.run,
        )

    def threshold(
        self, scores: CrossValidation, y: np.ndarray, said: Said, test: Table
    ) -> Threshold | None:
        """The threshold of least cost, where costs were given."""
        if self.settings.cost is None:
            return None
        owners = owners_of(self.problem, test)
        found = chosen_threshold(self.settings.cost, scores, y, said, owners)
        why = f"a miss costs {found.miss:g} and a false alarm {found.false_alarm:g}"
        self.run.decide(f"the threshold of P({found.positive}) is {found.value:.3g}", why)
        return found

    def seconds_to_shuffle(self, chosen: Entrant) -> float:
        """Seconds for the importance of columns; the baseline looks at none."""
        return 0.0 if chosen.name == BASELINE else max(self.budget.left - self.ending(), 0.0)

    def shuffled_rows(self, pace: float) -> int:
        """Rows for the importance of columns: as many as the seconds left allow at this pace."""
        if self.budget.seconds is None:
            return MOST_ROWS
        left = self.budget.left - self.ending()
        shuffled = min(len(self.problem.features), MOST_SHUFFLED)
        affordable = left / (max(pace, 1e-9) * (1 + REPEATS * shuffled))
        if affordable >= MOST_ROWS:
            return MOST_ROWS
        n = max(int(affordable), FEWEST_ASKED)
        self.run.decide(f"the importance of columns is judged on {n:,} rows", "time is short")
        return n

    def shift(self, train: Table, test: Table) -> Shift | None:
        """Are training and test rows alike? Not checked where they differ by design.

        That is: by time or by groups; nor where all columns are text.
        """
        if self.problem.time or self.problem.groups or not comparable_columns(train, test):
            return None
        if self.budget.over(LATEST_CHECK):
            self.run.decide("training and test rows are not compared", "the time was up")
            return None
        return shift_check(train, test, random_state=self.random_state)

    def step(self, what: str) -> None:
        self.done += 1
        self.progress(what, min(self.done, self.total), self.total)
