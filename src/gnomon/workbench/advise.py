"""The job `advise`: which methods fit this table, and why, by the rules of the texts.

Advice is a sum of reasons. Every rule looks at a fact of the table, says what it means for some
methods, and names the text that it comes from; nothing is hidden in a score. Whether the advice
holds on this table is a question for `learn`; ``try_out=True`` asks it at once, on the same folds
for all.

Texts: 000 5, 001 13.7 and 5, 002 section 5 (which classifier), 004 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.evaluate import Leaderboard, cross_validate, k_fold, ranked
from gnomon.table import Kind, Table
from gnomon.workbench.portfolio import BASELINE, Entrant, portfolio
from gnomon.workbench.problem import LearningProblem, set_up

MANY_LEVELS = 50
MANY_COLUMNS = 50
RARE = 0.05
FEW_ROWS_PER_COLUMN = 10
FOLDS = 5
MOST_TRIED_ROWS = 20_000


@dataclass(frozen=True)
class Facts:
    """What the rules look at.

    Attributes
    ----------
    task : str
        ``"classify"`` or ``"regress"``.
    rows, columns : int
    numbers, categories, texts, dates : int
        Columns of each nature.
    levels : int
        Most levels of a category.
    missing : float
        Share of cells without a value.
    outliers : float
        Share of numbers beyond the whiskers of their column's box plot.
    rarest : float
        Share of the rarest class; 1 for numbers.
    classes : int
    identifiers, constants : tuple of str
        Columns that say nothing.
    condition : float
        Condition number of the correlations of the number columns.
    """

    task: str
    rows: int
    columns: int
    numbers: int
    categories: int
    texts: int
    dates: int
    levels: int
    missing: float
    outliers: float
    rarest: float
    classes: int
    identifiers: tuple[str, ...]
    constants: tuple[str, ...]
    condition: float


@dataclass(frozen=True)
class Reason:
    """Why a method is advised, or advised against.

    Attributes
    ----------
    weight : int
        Above zero: for it; below: against it.
    why : str
    texts : str
    """

    weight: int
    why: str
    texts: str


@dataclass
class Recommendation:
    """A method and the reasons for and against it.

    Attributes
    ----------
    name : str
    learner : estimator
        As `learn` would try it.
    reasons : list of Reason
    """

    name: str
    learner: Any
    reasons: list[Reason] = field(default_factory=list)

    @property
    def weight(self) -> int:
        return sum(reason.weight for reason in self.reasons)


@dataclass
class Advice:
    """What `advise` found; prints itself.

    Attributes
    ----------
    target : str
    facts : Facts
    recommendations : list of Recommendation
        Most reasons first.
    cautions : list of Reason
        What to watch, whichever method is taken.
    tried : Leaderboard or None
        The methods on the same folds, where that was asked for.
    """

    target: str
    facts: Facts
    recommendations: list[Recommendation]
    cautions: list[Reason]
    tried: Leaderboard | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for scripts."""
        found = {
            "target": self.target,
            "facts": vars(self.facts),
            "methods": [
                {
                    "method": each.name,
                    "weight": each.weight,
                    "reasons": [vars(reason) for reason in each.reasons],
                }
                for each in self.recommendations
            ],
            "cautions": [vars(reason) for reason in self.cautions],
        }
        if self.tried is not None:
            found["tried"] = [
                {"method": each.name, "mean": each.mean} for each in self.tried.results
            ]
        return found

    def __repr__(self) -> str:
        facts = self.facts
        lines = [
            f"to {facts.task} {self.target!r}: {facts.rows:,} rows, {facts.columns} columns",
            "",
        ]
        for place, each in enumerate(self.recommendations, 1):
            lines.append(f"{place}. {each.name}  ({each.weight:+d})")
            for reason in sorted(each.reasons, key=lambda reason: -reason.weight):
                sign = "+" if reason.weight > 0 else "-"
                lines.append(f"   {sign} {reason.why} ({reason.texts})")
        if self.cautions:
            lines += ["", "Watch:"]
            lines += [f" ! {reason.why} ({reason.texts})" for reason in self.cautions]
        if self.tried is not None:
            lines += ["", *self._trial()]
        return "\n".join(lines)

    def _trial(self) -> list[str]:
        """How the methods fared on this table, in lines."""
        board = self.tried
        assert board is not None
        lines = [f"Tried on the same {FOLDS} folds, {board.measure}:"]
        for each in board.results:
            figure = each.interval()
            lines.append(
                f"   {each.name}: {figure.value:.4g}, 95% interval {figure.low:.4g} to "
                f"{figure.high:.4g}"
            )
        best, first = board.results[0], board[self.recommendations[0].name]
        if first is best:
            return [*lines, f"The advice held: {best.name} came first."]
        p = first.p_against(best)
        if np.isnan(p):
            return [
                *lines,
                f"{best.name} beat the advised {first.name}; whether beyond chance is not known, "
                f"as a fold has an infinite {board.measure} or none.",
            ]
        verdict = "not beyond chance" if p >= 0.05 else "beyond chance: do not follow the advice"
        return [*lines, f"{best.name} beat the advised {first.name}, {verdict} (p = {p:.2g})."]


Condition = Callable[[Facts], bool]


@dataclass(frozen=True)
class Rule:
    """A fact, and what it means for methods; with no methods named, for all: a caution.

    Attributes
    ----------
    holds : callable
        Of the facts.
    weights : dict of str to int
        Method to weight.
    why : str
        May name facts in braces.
    texts : str
    """

    holds: Condition
    weights: dict[str, int]
    why: str
    texts: str


LINEAR = ("logistic regression", "linear regression", "ridge")


def each(names: tuple[str, ...], weight: int) -> dict[str, int]:
    return dict.fromkeys(names, weight)


def is_mixed(facts: Facts) -> bool:
    return facts.categories > 0 and facts.numbers > 0


def has_few_rows(facts: Facts) -> bool:
    return facts.rows < FEW_ROWS_PER_COLUMN * facts.columns


RULES = (
    Rule(
        lambda facts: True,
        {"gradient boosting": 2, "random forest": 2},
        "boosted trees and forests do well on many problems",
        "002 section 5, 001 12 and 13.7",
    ),
    Rule(
        lambda facts: True,
        {"logistic regression": 1, "linear regression": 1, "pruned tree": 1},
        "a simple model that can be read: start with it and keep it unless a richer one wins",
        "004 4.1, 001 13.7",
    ),
    Rule(
        lambda facts: facts.classes == 2,
        {"logistic regression": 1},
        "two classes: the first classifier to try is a linear one",
        "000 5",
    ),
    Rule(
        lambda facts: facts.categories == 0 and facts.missing == 0,
        {"support vector machine": 2, "nearest neighbours": 1},
        "numbers only and no holes: what works by distances is at its best, with standardised "
        "columns",
        "001 13.7 table",
    ),
    Rule(
        is_mixed,
        {"support vector machine": -1, "nearest neighbours": -1},
        "{categories} categories beside {numbers} numbers: distances between them are arbitrary",
        "001 13.7 table",
    ),
    Rule(
        lambda facts: facts.columns >= MANY_COLUMNS,
        {"nearest neighbours": -1},
        "{columns} columns: those that say nothing drown distances",
        "001 13.7 table, 004 2.1",
    ),
    Rule(
        is_mixed,
        {"gradient boosting": 1, "random forest": 1, "pruned tree": 1, "naive Bayes": 1},
        "{categories} categories beside {numbers} numbers: takes mixed kinds as they are",
        "001 13.7 table, 000 5",
    ),
    Rule(
        lambda facts: facts.missing > 0.01,
        {"gradient boosting": 1, "random forest": 1, "pruned tree": 1, "naive Bayes": 2},
        "{missing:.1%} of the cells are missing: needs no filled-in values",
        "000 5, 001 13.7 table",
    ),
    Rule(
        lambda facts: facts.missing > 0.05,
        each(LINEAR, -1),
        "{missing:.1%} of the cells are missing and must be filled in first",
        "001 13.7 table",
    ),
    Rule(
        lambda facts: facts.outliers > 0.05,
        {"gradient boosting": 1, "random forest": 1, "pruned tree": 1},
        "{outliers:.1%} of the numbers are far out: thresholds do not care how far",
        "001 13.7 table",
    ),
    Rule(
        lambda facts: facts.outliers > 0.05,
        {**each(LINEAR, -1), "naive Bayes": -1},
        "{outliers:.1%} of the numbers are far out and pull the fit; look at them, or use a robust "
        "loss",
        "000 10, 001 13.6",
    ),
    Rule(
        has_few_rows,
        {"logistic regression": 2, "ridge": 2, "naive Bayes": 1},
        "{rows:,} rows for {columns} columns are few: a stiff, penalised model varies less",
        "002 section 5, 001 7",
    ),
    Rule(
        has_few_rows,
        {"linear regression": -2, "pruned tree": -1, "gradient boosting": -1},
        "{rows:,} rows for {columns} columns are few: the fit follows the noise",
        "002 section 5, 001 4",
    ),
    Rule(
        lambda facts: facts.rows < 500,
        {"gradient boosting": -1},
        "with {rows:,} rows boosting has little to learn its many settings from",
        "001 13.10",
    ),
    Rule(
        lambda facts: facts.rows >= 10_000,
        {"gradient boosting": 1},
        "{rows:,} rows can bear a rich model",
        "001 7.3, 002 section 5",
    ),
    Rule(
        lambda facts: facts.condition > 1e3,
        {"ridge": 2, "linear regression": -1},
        "columns nearly repeat each other (condition number {condition:.2g}): penalise",
        "002 section 5 (8), 000 10",
    ),
    Rule(
        lambda facts: (
            facts.columns >= MANY_COLUMNS and facts.rows >= FEW_ROWS_PER_COLUMN * facts.columns
        ),
        {"gradient boosting": 1, "random forest": 1},
        "{columns} columns, of which perhaps few matter: trees pick, stumps most of all",
        "002 section 5 (5)",
    ),
    Rule(
        lambda facts: facts.levels > MANY_LEVELS,
        {"pruned tree": -1},
        "a category has {levels:,} levels: a tree can single rows out by it",
        "001 11",
    ),
)

CAUTIONS = (
    Rule(
        lambda facts: facts.rarest < RARE,
        {},
        "the rarest class has {rarest:.2%} of the rows: the error rate is meaningless. Look at "
        "detection and false positive rate apart, set the cost of each mistake, or use "
        "CascadeClassifier",
        "002 section 5 (7)",
    ),
    Rule(
        lambda facts: bool(facts.identifiers),
        {},
        "identifiers ({identifiers}) name rows and say nothing about new ones; they are left out",
        "004 5",
    ),
    Rule(
        lambda facts: bool(facts.constants),
        {},
        "columns of one value ({constants}): drop them",
        "004 5",
    ),
    Rule(
        lambda facts: facts.levels > MANY_LEVELS,
        {},
        "a category with {levels:,} levels: merge rare levels, and expect values at prediction "
        "that were never seen",
        "001 11",
    ),
    Rule(
        lambda facts: facts.texts > 0,
        {},
        "free text (columns: {texts}) is turned to word counts; vocabulary and stop words matter",
        "000 5",
    ),
    Rule(
        lambda facts: facts.dates > 0,
        {},
        "dates (columns: {dates}): if the future is to be predicted, split by time",
        "004 4, 001 7.3",
    ),
    Rule(
        lambda facts: facts.rows < 200,
        {},
        "{rows:,} rows: the interval of any figure will be wide; compare on repeated folds",
        "002 section 5 (4)",
    ),
)


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


def advise(
    table: Table,
    target: str,
    *,
    task: str = "auto",
    try_out: bool = False,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, total, done: None,
) -> Advice:
    """Which methods fit a table, with the reasons for and against each.

    Parameters
    ----------
    table : Table
    target : str
        The column to predict.
    task : {"auto", "classify", "regress"}, default="auto"
    try_out : bool, default=False
        Also compare the methods on the same five folds, to see whether the advice holds. Tables
        of more than 20,000 rows are refused here: `learn` has a budget for them.
    seed : int, default=0
        Of the folds and of random learners.
    progress : callable
        Called as ``progress(method, folds in all, folds done)``.

    Returns
    -------
    advice : Advice

    Examples
    --------
    >>> from gnomon.table import example
    >>> advice = advise(example("customers"), "churn")
    >>> advice.recommendations[0].reasons[0].texts
    '002 section 5, 001 12 and 13.7'
    """
    problem = set_up(table, target, task=task)
    facts = facts_of(problem)
    entrants = [
        entrant for entrant in portfolio(problem.task, facts.rows) if entrant.name != BASELINE
    ]
    advice = Advice(
        target,
        facts,
        sorted(
            (recommendation(entrant, facts) for entrant in entrants), key=lambda each: -each.weight
        ),
        [Reason(0, said(rule, facts), rule.texts) for rule in CAUTIONS if rule.holds(facts)],
    )
    if try_out:
        advice.tried = tried(problem, facts, seed, progress)
    return advice


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
    seed: int,
    progress: Callable[[str, int, int], None],
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
    splits = k_fold(n, FOLDS, stratify=strata, random_state=seed)
    inputs = problem.inputs(problem.rows).drop(facts.identifiers)
    results = []
    for entrant in portfolio(problem.task, n):
        learner = entrant.learner
        if "random_state" in learner.get_params():
            learner.set_params(random_state=seed)

        def tell(done: int, total: int, name: str = entrant.name) -> None:
            progress(name, total, done)

        results.append(
            cross_validate(
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
