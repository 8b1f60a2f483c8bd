"""The rules of the texts: a fact of a table, and what it means for some methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gnomon.workbench.advise.result import Facts

MANY_LEVELS = 50  # judgement: trees single rows out by more levels, and most of them are rare
MANY_COLUMNS = 50  # judgement: columns that say nothing drown distances; stumps pick
RARE = 0.05  # judgement: accuracy hides a class of fewer than 5% of the rows
FEW_ROWS_PER_COLUMN = 10  # the rule of thumb of ten rows for each coefficient

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
        "categories ({categories}) beside numbers ({numbers}): distances of these are arbitrary",
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
        "categories ({categories}) beside numbers ({numbers}): takes mixed kinds as they are",
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
