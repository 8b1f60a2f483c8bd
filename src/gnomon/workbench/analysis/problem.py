"""The learning problem: what is to be predicted, from what, judged how; the card of a report.

The components of a learning problem (001 3.1): the target, the data, the measure of error that the
application asks for. 004 3.3: choose the measure by the cost of each mistake.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.contract.intake import class_column
from gnomon.engine.errors import DataError
from gnomon.evaluate import MEASURES, Measure
from gnomon.table import Kind, Table
from gnomon.table.schema import no_such_column
from gnomon.table.summary import four_digits
from gnomon.workbench.analysis.class_codes import are_class_codes

# Judgement: prices of houses and cars stay below 20; brains of mammals have 330.
FAR_FROM_MEDIAN = 30
FEWEST_ROWS = 20  # judgement: five folds of fewer rows test fewer than four rows each
# Judgement: boosting grows a tree per class and round; tables are hardly read either.
MOST_CLASSES = 200
FEWEST_TESTED = 4  # rows of a class: one to test, and one for each of three folds
FEW_VALUES = 10  # judgement: more whole numbers than ten are counts or measures, not classes
LOPSIDED = 0.8  # of the rows are of one class: accuracy says little
FEWEST_FOR_AUC = 15  # rows of the rarer class: three in each of five folds
TASKS = ("auto", "classify", "regress")
MEASURES_OF = {
    "classify": ("accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "f_measure", "error"),
    "regress": ("rmse", "mae", "mse", "r2"),
}
IN_WORDS = {
    "accuracy": "share of rows whose class is named right",
    "balanced_accuracy": "mean over the classes of the share named right",
    "log_loss": "mean of -log(probability given to the true class)",
    "brier": "mean squared distance of probabilities and truth",
    "auc": "probability that a positive row is ranked above a negative one",
    "f_measure": "harmonic mean of precision and recall",
    "error": "share of rows whose class is named wrong",
    "rmse": "root of the mean squared error, in units of the target",
    "mae": "mean distance of prediction and truth, in units of the target",
    "mse": "mean squared error",
    "r2": "share of the target's variance that is explained",
}


@dataclass
class LearningProblem:
    """A table, its target and how success is measured.

    Attributes
    ----------
    rows : Table
        All rows whose target is known, with the target.
    unlabeled : Table
        Rows set apart because their target is missing.
    target, task, measure : str
    groups, time : str or None
        Columns that say which rows belong together, or come when.
    classes : dict
        Class to number of rows; empty for numbers.
    places : ndarray of int or None
        Positions of `rows` in the table that was given.
    """

    rows: Table
    unlabeled: Table
    target: str
    task: str
    measure: str
    groups: str | None = None
    time: str | None = None
    classes: dict[Any, int] = field(default_factory=dict)
    places: np.ndarray | None = None

    @property
    def figure(self) -> Measure:
        """The measure as such."""
        return MEASURES[self.measure]

    @property
    def parted_by(self) -> str | None:
        """The column, of groups or of moments, by which rows are split; None for random splits."""
        return self.groups or self.time

    @property
    def untested(self) -> list[Any]:
        """Classes of too few rows to be in training and test rows both; they only train.

        Rows that are split by groups or by time are tested where they fall.
        """
        if self.parted_by is not None:
            return []
        return [name for name, number in self.classes.items() if number < FEWEST_TESTED]

    @property
    def identifiers(self) -> list[str]:
        """Columns that name rows and say nothing about them."""
        schema = self.rows.schema
        return [n for n in schema.of_kind(Kind.IDENTIFIER) if n not in (self.target, self.groups)]

    @property
    def roles(self) -> list[str]:
        """Columns that no learner sees: target, groups and identifiers."""
        return [self.target, *([self.groups] if self.groups else []), *self.identifiers]

    @property
    def features(self) -> list[str]:
        """Columns that learners see."""
        roles = set(self.roles)
        return [each for each in self.rows.columns if each not in roles]

    @property
    def texts(self) -> list[str]:
        """Columns of text that learners see."""
        roles = set(self.roles)
        return [name for name in self.rows.schema.of_kind(Kind.TEXT) if name not in roles]

    def inputs(self, rows: Table) -> Table:
        """Rows as learners see them."""
        return rows.drop(self.roles)

    def values(self, rows: Table) -> np.ndarray:
        """The target of rows, as an array."""
        if self.task != "classify":
            return rows.column(self.target).to_numpy()
        column = class_column(rows, self.target)
        numeric = rows.schema[self.target].kind in (Kind.NUMBER, Kind.INTEGER)
        if numeric or pa.types.is_boolean(column.type):
            return column.to_numpy()
        words, codes = coded(column)
        return words[codes]

    def card(self) -> list[tuple[str, str]]:
        """The problem in a few lines, for the top of a report."""
        kinds = Counter(str(self.rows.schema[name].kind) for name in self.features)
        mix = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        missing = sum(self.rows.column(name).null_count for name in self.features)
        cells = max(len(self.rows) * len(self.features), 1)
        lines = [
            ("question", f"{self._question()} {self.target!r}"),
            ("rows", f"{len(self.rows):,} with a known target{self._apart()}"),
            ("columns", f"{len(self.features):,} to predict from: {mix}"),
            ("missing cells", f"{missing:,} of {cells:,} ({missing / cells:.1%})"),
            ("target", self._target_in_words()),
            ("measure", f"{self.measure}: {IN_WORDS.get(self.measure, 'as defined by its name')}"),
        ]
        if self.identifiers:
            lines.append(("not used", f"identifiers say nothing: {', '.join(self.identifiers)}"))
        return lines

    def _question(self) -> str:
        return "which class is" if self.task == "classify" else "how large is"

    def _apart(self) -> str:
        n = len(self.unlabeled)
        return f"; {n:,} without it are set apart" if n else ""

    def _target_in_words(self) -> str:
        if not self.classes:
            values = self.values(self.rows)
            low, middle, high = np.percentile(values, [0, 50, 100])
            hint = classes_hint(self.rows, self.target)
            if low >= 0 and high > FAR_FROM_MEDIAN * middle > 0:
                hint += (
                    f"; the largest is {high / middle:,.0f} times the median, so squared errors "
                    "of the largest rows decide. If shares count rather than amounts, learn the "
                    "logarithm (gnomon prepare --derive)"
                )
            low, middle, high = map(four_digits, (low, middle, high))
            return f"number from {low} to {high}, median {middle}{hint}"
        total = sum(self.classes.values())
        shares = [f"{name} {number / total:.1%}" for name, number in self.classes.items()]
        more = f" and {len(shares) - 8} more" if len(shares) > 8 else ""
        hint = "" if set(self.classes) == {0, 1} else self._amounts_hint()
        if hint and len(shares) > 2 and are_class_codes(self.rows, self.target):
            hint = f"; few whole numbers under such a name are taken for classes{hint}"
        return f"{len(shares)} classes: {', '.join(shares[:8])}{more}{hint}"

    def _amounts_hint(self) -> str:
        if self.rows.schema[self.target].kind not in (Kind.NUMBER, Kind.INTEGER):
            return ""
        return ". If these are amounts: --task regress"


def set_up(
    table: Table,
    target: str,
    *,
    task: str = "auto",
    measure: str | None = None,
    groups: str | None = None,
    time: str | None = None,
) -> LearningProblem:
    """Check a table and its target, and settle task and measure.

    Parameters
    ----------
    table : Table
    target : str
        Categories and booleans are classified, numbers regressed, unless they have two values or
        are few whole numbers under a name such as class, type or species.
    task : {"auto", "classify", "regress"}, default="auto"
    measure : str, default=None
        By default root mean squared error; of classes accuracy, or where one class has more than
        80% of the rows, ``"auc"`` for two classes and ``"log_loss"`` for several.
    groups, time : str, default=None
        A column whose equal values stay together; a column that orders the rows in time.

    Returns
    -------
    problem : LearningProblem
    """
    for name in (target, groups, time):
        if name is not None and name not in table.columns:
            raise no_such_column(name, table.columns)
    if groups is not None and time is not None:
        raise DataError("give groups or time, not both: a split by time follows the clock alone")
    if len(table.columns) < 2:
        raise DataError(f"the table has no column beside the target {target!r} to predict from")
    column = table.column(target)
    known = pc.is_valid(column).to_numpy(zero_copy_only=False)
    rows = table if known.all() else table[np.flatnonzero(known)]
    unlabeled = table[np.flatnonzero(~known)]
    distinct = len(rows.column(target).unique())
    if distinct < 2:
        what = "one value only" if distinct else "no value at all"
        raise DataError(f"the target {target!r} has {what}: there is nothing to learn")
    if len(rows) < FEWEST_ROWS:
        raise DataError(
            f"{len(rows)} rows with a known target are too few to learn and test on; "
            f"{FEWEST_ROWS} are the least"
        )
    settled = settled_task(rows, target, task, distinct)
    problem = LearningProblem(
        rows, unlabeled, target, settled, "", groups, time, places=np.flatnonzero(known)
    )
    if not problem.features:
        raise DataError(
            f"every column beside the target {target!r} is an identifier: there is nothing to "
            "predict from. Give a column another kind in the schema if that is wrong"
        )
    require_finite(problem, np.flatnonzero(known))
    if settled == "classify":
        problem.classes = class_counts(problem.values(rows))
        require_learnable(problem)
    problem.measure = settled_measure(problem, measure)
    return problem


def require_finite(problem: LearningProblem, places: np.ndarray) -> None:
    """Refuse infinite numbers in what is learnt from; `places` are the rows in the whole table."""
    for name in (problem.target, *problem.features):
        column = problem.rows.column(name)
        if not pa.types.is_floating(column.type):
            continue
        infinite = pc.fill_null(pc.is_inf(column), False).to_numpy()
        if infinite.any():
            rows = [f"{places[i] + 1:,}" for i in np.flatnonzero(infinite)[:5]]
            more = f" and {int(infinite.sum()) - 5:,} more" if infinite.sum() > 5 else ""
            raise DataError(
                f"column {name!r} is infinite in row{'s' if infinite.sum() > 1 else ''} "
                f"{', '.join(rows)}{more} (the first row below the header is 1): no learner can "
                "use that. Leave the cells empty where the value is not known, or put finite "
                "numbers there"
            )


def coded(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of a column as objects, and which of them stands in each row.

    A missing cell has the code -1.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found = column.combine_chunks().dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    words = np.empty(len(found.dictionary), dtype=object)
    words[:] = found.dictionary.to_pylist()
    return words, found.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def classes_hint(rows: Table, target: str) -> str:
    """How to learn whole numbers with few distinct values as classes; empty for other targets."""
    if rows.schema[target].kind is not Kind.INTEGER:
        return ""
    distinct = len(rows.column(target).drop_null().unique())
    if not 2 < distinct <= FEW_VALUES:
        return ""
    return f"; it has {distinct} values only. If they name classes: --task classify"


def class_counts(values: np.ndarray) -> dict[Any, int]:
    """Rows of each class, the most frequent first."""
    names, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {names.tolist()[i]: int(counts[i]) for i in order}


def settled_task(rows: Table, target: str, task: str, distinct: int) -> str:
    """Classify or regress; refuses a target whose kind can be neither."""
    if task not in TASKS:
        raise DataError(f"task={task!r} is none of {', '.join(TASKS)}")
    kind = rows.schema[target].kind
    if kind in (Kind.TEXT, Kind.IDENTIFIER, Kind.DATETIME):
        raise DataError(
            f"the target {target!r} is {kind} ({rows.schema[target].reason}); only categories, "
            "booleans and numbers can be learnt. Give it another kind in the schema if that is "
            "wrong"
        )
    is_number = kind in (Kind.NUMBER, Kind.INTEGER)
    if task == "regress" and not is_number:
        raise DataError(f"the target {target!r} is {kind}, not a number: it cannot be regressed")
    if task != "auto":
        return task
    amounts = is_number and distinct > 2 and not are_class_codes(rows, target)
    return "regress" if amounts else "classify"


def settled_measure(problem: LearningProblem, measure: str | None) -> str:
    """The measure that counts; refuses one of the other task."""
    fitting = MEASURES_OF[problem.task]
    if measure is None:
        return usual_measure(problem.classes) if problem.task == "classify" else fitting[0]
    if measure not in fitting:
        raise DataError(
            f"measure={measure!r} does not {problem.task}; there are {', '.join(fitting)}"
        )
    if measure == "balanced_accuracy" and problem.untested:
        raise DataError(
            f"balanced_accuracy needs test rows of every class; {problem.untested[0]!r} has fewer "
            f"than {FEWEST_TESTED} rows. Use log_loss, or merge classes"
        )
    if measure == "auc" and len(problem.classes) != 2:
        raise DataError(
            f"auc needs two classes; the target has {len(problem.classes)}. Use log_loss"
        )
    return measure


def usual_measure(classes: dict[Any, int]) -> str:
    """The measure of classes where none is given: accuracy, unless one class has nearly all rows.

    A constant prediction is accurate there. AUC needs rows of both classes in every fold.
    """
    counts = sorted(classes.values())
    if counts[-1] <= LOPSIDED * sum(counts):
        return "accuracy"
    return "auc" if len(counts) == 2 and counts[0] >= FEWEST_FOR_AUC else "log_loss"


def require_learnable(problem: LearningProblem) -> None:
    """Refuse classes that no split can hold."""
    if len(problem.classes) > MOST_CLASSES:
        raise DataError(
            f"the target {problem.target!r} has {len(problem.classes):,} classes; more than "
            f"{MOST_CLASSES} cannot be distinguished reliably. Merge them, or regress a number "
            "(task='regress')"
        )
    if len(problem.classes) - len(problem.untested) < 2:
        raise DataError(
            f"fewer than two values of the target {problem.target!r} have {FEWEST_TESTED} rows or "
            "more: nothing can be tested. Merge values, or collect rows"
        )
