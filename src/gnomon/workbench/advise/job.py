"""The job `advise`: which methods fit this table, and why, by the rules of the texts.

Advice is a sum of reasons. Every rule looks at a fact of the table, says what it means for some
methods, and names the text that it comes from; nothing is hidden in a score. Whether the advice
holds on this table is a question for `learn`; ``try_out=True`` asks it at once, on the same folds
for all.

Texts: 000 5, 001 13.7 and 5, 002 section 5 (which classifier), 004 4.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.evaluate import Leaderboard, cross_validation_estimates, k_fold, ranked
from gnomon.table import Kind, Table
from gnomon.workbench.advise.options import JOB, AdviseOptions
from gnomon.workbench.advise.result import FOLDS, Advice, Facts, Reason, Recommendation
from gnomon.workbench.advise.rules import CAUTIONS, RULES, Rule
from gnomon.workbench.analysis.portfolio import BASELINE, Entrant, portfolio
from gnomon.workbench.analysis.problem import LearningProblem, set_up
from gnomon.workbench.base.given import left_out, source_of, with_target
from gnomon.workbench.base.job import Progress, Request
from gnomon.workbench.base.runs import Run

# Judgement: bounds the time of a trial, which ranks methods well enough.
MOST_TRIED_ROWS = 20_000


@JOB.public
def advise(table: Any, options: AdviseOptions, request: Request) -> Advice:
    """Which methods fit a table, with the reasons for and against each.

    Returns
    -------
    advice : Advice

    Examples
    --------
    >>> import gnomon
    >>> advice = gnomon.advise("example:customers", "churn")
    >>> advice.recommendations[0].reasons[0].texts
    '002 section 5, 001 12 and 13.7'
    """
    begin = time.perf_counter()
    rows, options.target = with_target(table, options.target)
    used = left_out(rows, options.without, (options.target,))
    problem = set_up(used, options.target, task=options.task)
    source = source_of(table) or request.source
    marked = request.folder is not None  # 3 s on a million rows of 20 columns
    with Run.begin(request.folder, rows, source, options, JOB.name, fingerprinted=marked) as run:
        advice = advised(problem, options, run)
        if options.try_out:
            advice.tried = tried(problem, advice.facts, options.random_state, request.progress)
        advice.seconds = time.perf_counter() - begin
        run.finish(advice)
    return advice


def advised(problem: LearningProblem, options: AdviseOptions, run: Run) -> Advice:
    """What the rules say of the facts of a table."""
    facts = facts_of(problem)
    entrants = [each for each in portfolio(problem.task, facts.rows) if each.name != BASELINE]
    found = [recommendation(entrant, facts) for entrant in entrants]
    found.sort(key=lambda each: -each.weight)
    cautions = [Reason(0, said(rule, facts), rule.texts) for rule in CAUTIONS if rule.holds(facts)]
    return Advice(problem.target, facts, found, cautions, run, options)


def facts_of(problem: LearningProblem) -> Facts:
    """What the rules look at, from the table of a problem."""
    inputs = problem.inputs(problem.rows)
    summary = inputs.describe()
    kinds = [inputs.schema[name].kind for name in inputs.columns]
    numbers = [each for each in summary if each.kind.is_numeric and each.missing < each.rows]
    categories = [each for each in summary if each.kind.has_levels]
    n_numbers = sum(each.rows - each.missing for each in numbers)
    counts = list(problem.classes.values())
    return Facts(
        task=problem.task,
        rows=len(inputs),
        columns=len(inputs.columns),
        numbers=len(numbers),
        categories=len(categories) + kinds.count(Kind.BOOLEAN),
        texts=kinds.count(Kind.TEXT),
        dates=kinds.count(Kind.DATETIME),
        levels=max((each.distinct for each in categories), default=0),
        missing=sum(each.missing for each in summary) / max(len(inputs) * len(kinds), 1),
        outliers=sum(each.outliers or 0 for each in numbers) / max(n_numbers, 1),
        rarest=min(counts) / sum(counts) if counts else 1.0,
        classes=len(counts),
        identifiers=tuple(each.name for each in summary if each.kind is Kind.IDENTIFIER),
        constants=tuple(each.name for each in summary if each.distinct <= 1),
        condition=condition_number(inputs, [each.name for each in numbers]),
    )


def condition_number(inputs: Table, names: list[str]) -> float:
    """Of the correlations of some columns; 1 where there are fewer than two with a spread."""
    if len(names) < 2:
        return 1.0
    columns = [inputs.column(name).to_numpy().astype(float) for name in names]
    rows = np.column_stack([np.where(np.isnan(x), np.nanmean(x), x) for x in columns])
    spread = rows.std(axis=0)
    rows = rows[:, spread > 0]
    if rows.shape[1] < 2:
        return 1.0
    values = np.linalg.eigvalsh(np.corrcoef(rows, rowvar=False))
    smallest = max(values[0], np.finfo(float).eps * values[-1])
    return float(np.sqrt(values[-1] / smallest))


def recommendation(entrant: Entrant, facts: Facts) -> Recommendation:
    """All reasons that concern one method."""
    reasons = [
        Reason(rule.weights[entrant.name], said(rule, facts), rule.texts)
        for rule in RULES
        if entrant.name in rule.weights and rule.holds(facts)
    ]
    return Recommendation(entrant.name, entrant.learner, reasons)


def said(rule: Rule, facts: Facts) -> str:
    values = {
        name: ", ".join(map(repr, value)) if isinstance(value, tuple) else value
        for name, value in vars(facts).items()
    }
    return rule.why.format(**values)


def tried(
    problem: LearningProblem,
    facts: Facts,
    random_state: int,
    progress: Progress,
) -> Leaderboard:
    """The methods and the baseline on the same folds; identifiers are left out, as cautioned."""
    n = len(problem.rows)
    if n > MOST_TRIED_ROWS:
        raise DataError(
            f"{n:,} rows are too many to try every method on without a budget; "
            "use `learn`, which has one"
        )
    y = problem.values(problem.rows)
    strata = y if problem.task == "classify" else None
    splits = k_fold(n, FOLDS, stratify=strata, random_state=random_state)
    inputs = problem.inputs(problem.rows).drop(facts.identifiers)
    results = []
    for entrant in portfolio(problem.task, n):
        learner = entrant.learner
        if "random_state" in learner.get_params():
            learner.set_params(random_state=random_state)

        def tell(done: int, total: int, name: str = entrant.name) -> None:
            progress(name, done, total)

        results.append(
            cross_validation_estimates(
                learner,
                inputs,
                y,
                cv=splits,
                measures=problem.measure,
                name=entrant.name,
                progress=tell,
            )
        )
    return ranked(results)
