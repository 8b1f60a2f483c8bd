"""What the chosen model does on the test rows: importances, worst cases, groups, shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import scipy

from gnomon.contract.estimate import student_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonError
from gnomon.evaluate import MEASURES, CrossValidation, Estimate, Measure, area_under_roc
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.fold_run import FoldWork, Problem
from gnomon.evaluate.measures import Said
from gnomon.table import Kind, Table
from gnomon.trees import HistGradientBoostingClassifier
from gnomon.workbench.analysis.problem import LearningProblem

MOST_CELLS = 200_000  # judgement: wide tables are shuffled with fewer rows, so that time is bounded
# Judgement: 100 rows in each of 20 blocks; errors shrink with the root, time grows.
MOST_ROWS = 2_000
FEWEST_ROWS = 100  # judgement: five rows in each block, however wide the table is
REPEATS = 5  # scikit-learn's default n_repeats of permutation_importance
# every column encodes all columns again: beyond this the time grows with their square
MOST_SHUFFLED = 200
FEWEST_SHUFFLED = 15  # predictions of all rows that are made however short the time is
BLOCKS = 20  # of rows, for the error of an importance
DRIFT_ROWS = 5_000  # judgement: bounds the time of the trees that tell the tables apart
DRIFT_COLUMNS = 200  # of 7,130 columns the comparison took 12 s, of 200 of them 0.5 s
FEWEST_OWNERS = 5  # judgement: as many means as an interval takes for their spread
FEWEST_IN_GROUP = 30  # the textbooks' 30 rows, from which a mean is nearly normal
SHIFT_P = 0.01  # stricter than 0.05: the check runs with every job, and alarms cost attention


@dataclass(repr=False)
class PermutationImportance(Result):
    """How much worse the score becomes when a column is shuffled.

    Attributes
    ----------
    names : list of str
    importances : ndarray of shape (n_columns, n_repeats)
        Loss of score, positive where the column helps.
    errors : ndarray of shape (n_columns,)
        Standard errors of their means, over blocks of rows that are left out in turn; NaN where
        there are not two blocks.
    n_rows : int
        Rows that were asked about.
    measure : str
    n_blocks : int
        Blocks of rows; columns are shuffled within them.
    n_columns : int
        Columns of the table; more than there are names where not all were shuffled.
    """

    names: list[str]
    importances: np.ndarray
    errors: np.ndarray
    n_rows: int
    measure: str
    n_blocks: int
    n_columns: int = 0

    @property
    def means(self) -> np.ndarray:
        """Mean loss of score per column."""
        return self.importances.mean(axis=1)

    @property
    def order(self) -> np.ndarray:
        """Places of the columns, the most important first."""
        return np.argsort(-self.means, kind="stable")

    def interval(self, name: str, confidence_level: float = 0.95) -> Estimate:
        """The importance of a column with an interval that counts rows, not shuffles.

        Parameters
        ----------
        name : str
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        j = self.names.index(name)
        half = student_quantile(confidence_level, max(self.n_blocks - 1, 1)) * self.errors[j]
        mean, how = float(self.means[j]), f"jackknife over {self.n_blocks} blocks of rows"
        return Estimate(mean, mean - half, mean + half, confidence_level, self.errors[j], how)

    def useless(self) -> list[str]:
        """Columns whose shuffling is not shown to matter: their 95% interval holds no loss."""
        return [name for name in self.names if not self.interval(name).low > 0]

    def _title(self) -> str:
        some = f", {len(self.names):,} of {self.n_columns:,} columns" if self.is_partial else ""
        return f"Loss of {self.measure} when a column is shuffled ({self.n_rows:,} rows{some})"

    @property
    def is_partial(self) -> bool:
        """Whether some columns were not shuffled."""
        return len(self.names) < self.n_columns

    def _columns(self) -> dict[str, list[Any]]:
        order = self.order
        return {
            "column": [self.names[j] for j in order],
            "loss": self.means[order].tolist(),
            "error": self.errors[order].tolist(),
        }


def heard(model: Any, rows: Table, y: np.ndarray, measure: Measure) -> Said:
    """What a model says of rows, as far as the measure needs it."""
    problem = Problem.of(model, rows, y, None, None)
    if problem.classes is not None:
        problem.classes = np.asarray(model.classes_)
    return FoldWork(model, problem, [measure], False, False, False, None).said_by(model, rows)


def said_by(model: Any, rows: Table, y: np.ndarray, measure: Measure) -> Said:
    """What a model says of rows, as far as the measure needs it, and probabilities if it has."""
    said = heard(model, rows, y, measure)
    if said.probabilities is None and hasattr(model, "predict_proba"):
        said.probabilities = np.asarray(model.predict_proba(rows))
    return said


def score_of(measure: Measure, y: np.ndarray, said: Said) -> float:
    """A measure as a plain number, greater for better."""
    found = measure.figure(y, said)
    value = found.value if isinstance(found, Estimate) else float(found)
    return value if measure.greater_is_better else -value


def permutation_importance(
    model: Any,
    rows: Table,
    y: np.ndarray,
    measure: Measure,
    *,
    n_repeats: int = REPEATS,
    most_rows: int = MOST_ROWS,
    most_columns: int = MOST_SHUFFLED,
    first: Sequence[str] = (),
    seconds: float = np.inf,
    random_state: int = 0,
    owners: np.ndarray | None = None,
) -> PermutationImportance:
    """Shuffle one column at a time and see how much worse a fitted model becomes.

    Unlike the impurity that trees save, it does not favour columns of many values, and holds for
    every learner. Of columns that go together each looks unimportant, as the other stands in for
    it. At most `most_rows` rows, fewer in wide tables, are asked about, and at most `most_columns`
    columns are shuffled; the result says how many.

    Rows are put into blocks, and every row gets the value of another row of its block, another one
    in each repeat. So blocks are independent, and the jackknife that leaves them out one by one
    tells the error of the importance for new rows: of 95% intervals 93 to 98% hold it (25 tables of
    each of four laws), where the spread of the shuffles alone held 43%.

    Parameters
    ----------
    model : fitted estimator
    rows : Table
        Rows that the model has not learnt from.
    y : ndarray
    measure : Measure
    n_repeats : int, default=5
    most_rows : int, default=2000
    most_columns : int, default=200
    first : sequence of str, default=()
        Columns that are shuffled first, where not all are.
    seconds : float, default=inf
        Where all columns would take longer, each is shuffled less often, at least once; no further
        column is shuffled after so many seconds.
    random_state : int, default=0
    owners : ndarray of shape (n_rows,), default=None
        Group or stretch of time of every row; those of one owner are put into one block.

    Returns
    -------
    importance : PermutationImportance
    """
    names = [each for each in rows.columns if rows.schema[each].kind is not Kind.IDENTIFIER]
    if not names:
        raise DataError("every column is an identifier: there is nothing to shuffle")
    rng = np.random.default_rng(random_state)
    most = max(min(most_rows, MOST_CELLS // len(rows.columns)), FEWEST_ROWS)
    if len(y) > most:
        taken = drawn(y, most, rng, is_class=hasattr(model, "classes_"))
        rows, y = rows[taken], y[taken]
        owners = None if owners is None else owners[taken]
    begin = perf_counter()
    blocks = blocks_of(np.arange(len(y)) if owners is None else owners, n_repeats, rng)
    whole = scores_without_blocks(measure, y, heard(model, rows, y, measure), blocks)
    known = set(names)
    turns = list(dict.fromkeys([*(name for name in first if name in known), *names]))
    all_once = (perf_counter() - begin) * min(len(turns), most_columns)
    if all_once * n_repeats > seconds:
        n_repeats = max(int(seconds / all_once), 1)
    donors = np.concatenate([donors_of(blocks, shift) for shift in range(1, n_repeats + 1)])
    # all repeats are asked about at once: every call encodes all columns again
    repeated = rows[np.tile(np.arange(len(y)), n_repeats)]
    every_y = np.tile(y, n_repeats)
    losses, errors, shuffled_names = [], [], []
    for j, name in enumerate(turns[:most_columns]):
        if j * n_repeats >= FEWEST_SHUFFLED and perf_counter() - begin > seconds:
            break
        mixed = _with_values(repeated, name, rows.column(name).take(donors))
        said = heard(model, mixed, every_y, measure)
        parts = np.split(np.arange(len(every_y)), n_repeats)
        after = [scores_without_blocks(measure, y, said.part(part), blocks) for part in parts]
        fallen = whole - np.array(after)
        shuffled_names.append(name)
        losses.append(fallen[:, 0])
        errors.append(jackknife_error(fallen[:, 1:].mean(axis=0)))
    return PermutationImportance(
        shuffled_names,
        np.array(losses),
        np.array(errors),
        len(y),
        measure.name,
        int(blocks.max()) + 1,
        len(names),
    )


def blocks_of(owners: np.ndarray, n_repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of blocks of rows, of about one size; rows of one owner are in one block."""
    names, codes = np.unique(owners, return_inverse=True)
    most = max(min(BLOCKS, len(names), len(owners) // (n_repeats + 1)), 1)
    return (rng.permutation(len(names)) % most)[codes]


def donors_of(blocks: np.ndarray, shift: int) -> np.ndarray:
    """For every row another row of its block; another one for every shift."""
    found = np.empty(len(blocks), dtype=np.int64)
    for block in range(int(blocks.max()) + 1):
        rows = np.flatnonzero(blocks == block)
        order = np.random.default_rng(block).permutation(rows)
        found[order] = np.roll(order, shift if len(order) > shift else 1)
    return found


def scores_without_blocks(
    measure: Measure, y: np.ndarray, said: Said, blocks: np.ndarray
) -> np.ndarray:
    """The score of all rows, and without each block of them; greater for better."""
    n_blocks = int(blocks.max()) + 1
    losses = measure.row_losses(y, said)
    if losses is None or not np.isfinite(losses).all():
        kept = [slice(None), *(blocks != block for block in range(n_blocks))]
        return np.array([_score_or_nan(measure, y[rows], said.part(rows)) for rows in kept])
    sums, counts = np.bincount(blocks, losses), np.bincount(blocks)
    means = np.concatenate([[sums.sum()], sums.sum() - sums]) / np.maximum(
        np.concatenate([[len(y)], len(y) - counts]), 1
    )
    values = np.sqrt(means) if measure.root else means
    return values if measure.greater_is_better else -values


def _score_or_nan(measure: Measure, y: np.ndarray, said: Said) -> float:
    """A score; NaN where the rows have none, such as an area of one class."""
    try:
        return score_of(measure, y, said)
    except GnomonError:
        return np.nan


def jackknife_error(values: np.ndarray) -> float:
    """Standard error of a figure from its values without each of some blocks."""
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return np.nan
    return float(np.sqrt((len(known) - 1) * known.var()))


def drawn(y: np.ndarray, n: int, rng: np.random.Generator, *, is_class: bool) -> np.ndarray:
    """Positions of about n rows drawn at random, in order; of every class its share, one at least.

    Parameters
    ----------
    y : ndarray
    n : int
    rng : numpy.random.Generator
    is_class : bool

    Returns
    -------
    rows : ndarray of int
    """
    if len(y) <= n:
        return np.arange(len(y))
    if not is_class:
        return np.sort(rng.choice(len(y), n, replace=False))
    codes = np.unique(y, return_inverse=True)[1]
    parts = []
    for code, count in enumerate(np.bincount(codes)):
        wanted = max(round(n * count / len(y)), 1)
        parts.append(rng.choice(np.flatnonzero(codes == code), wanted, replace=False))
    return np.sort(np.concatenate(parts))


def _with_values(rows: Table, name: str, values: Any) -> Table:
    place = rows.columns.index(name)
    if rows.cells is not None:
        cells = rows.cells.copy()
        cells[:, place] = values.to_numpy()
        if (made := Table.of_cells(cells, rows.schema)) is not None:
            return made
    return Table(rows.arrow.set_column(place, name, values), rows.schema)


def worst_rows(
    problem: LearningProblem, y: np.ndarray, said: Said, most: int = 10
) -> list[tuple[int, Any, Any, float]]:
    """The rows that are missed most: position, truth, prediction, and by how much.

    For classes the loss is -log of the probability that the true class was given.
    """
    if problem.task == "regress":
        losses = np.abs(y - said.predictions)
    elif said.probabilities is not None and said.classes is not None:
        classes = list(said.classes)
        codes = np.array([classes.index(each) if each in classes else -1 for each in y])
        given = np.where(codes >= 0, said.probabilities[np.arange(len(y)), codes], 0.0)
        losses = -np.log(np.maximum(given, 1e-15))
    else:
        losses = (y != said.predictions).astype(float)
    order = np.argsort(-losses, kind="stable")[:most]
    return [(int(i), y[i], said.predictions[i], float(losses[i])) for i in order]


@dataclass(frozen=True)
class GroupScore:
    """The score of the rows that share a level of a column, and of the other rows.

    Attributes
    ----------
    column, level : str
    n_rows : int
    score : float
    p : float
        Of losses as great as these by chance, counted for all groups; 1 where the group scores no
        worse than the other rows.
    others : float
    measure : str
        What `score` and `others` are: the measure that counts, or the mean of rows that is nearest
        to it (accuracy, rmse).
    """

    column: str
    level: str
    n_rows: int
    score: float
    p: float
    others: float
    measure: str


def group_scores(
    problem: LearningProblem,
    rows: Table,
    y: np.ndarray,
    said: Said,
    owners: np.ndarray | None = None,
) -> list[GroupScore]:
    """Scores by level of every category, with p of no difference to the other rows; worst first.

    The losses of rows inside and outside the group are compared by their ranks (Mann and Whitney)
    and by their means (Welch), of which the greater p counts; right and wrong by Fisher's exact
    test; p-values are Bonferroni's, over all groups. A group is not called where it or the rest of
    the rows has fewer than 30. Ranks alone call a group in 2.3% of tables at 1% where errors are
    skewed: the model's small error about the level moves ranks more than the score.

    With `owners`, the number of what every row belongs to (a person with several rows), the mean
    losses of owners are compared, and a group is not called where fewer than five own its rows, or
    the others.
    """
    measure = _mean_of_rows(problem)
    losses = np.asarray(measure.row_losses(y, said), dtype=float)
    sign = -1.0 if measure.greater_is_better else 1.0
    found = []
    for name in rows.columns:
        if rows.schema[name].kind not in (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN):
            continue
        cells = np.array(
            ["missing" if each is None else str(each) for each in rows.column(name).to_pylist()]
        )
        levels, codes, counts = np.unique(cells, return_inverse=True, return_counts=True)
        fewer = np.minimum(counts, len(y) - counts)
        for k in np.flatnonzero(fewer >= FEWEST_IN_GROUP):
            inside, outside = losses[codes == k], losses[codes != k]
            score, others = (_overall(measure, part) for part in (inside, outside))
            worse = sign * score > sign * others
            if owners is not None:
                inside = _means_of(losses[codes == k], owners[codes == k])
                outside = _means_of(losses[codes != k], owners[codes != k])
                if min(len(inside), len(outside)) < FEWEST_OWNERS:
                    continue
            p = _p_of_greater(sign * inside, sign * outside) if worse else 1.0
            found.append(
                GroupScore(name, str(levels[k]), int(counts[k]), score, p, others, measure.name)
            )
    n = len(found)
    found = [replace(each, p=min(each.p * n, 1.0)) for each in found]
    return sorted(found, key=lambda each: each.p)


def _means_of(losses: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """The mean loss of every owner that has one of these rows."""
    _, codes, counts = np.unique(owners, return_inverse=True, return_counts=True)
    return np.bincount(codes, losses) / counts


def _mean_of_rows(problem: LearningProblem) -> Measure:
    """The measure that counts where it is a mean over rows, or the nearest that is."""
    if problem.figure.losses is not None:
        return problem.figure
    return MEASURES["accuracy" if problem.task == "classify" else "rmse"]


def _overall(measure: Measure, losses: np.ndarray) -> float:
    mean = float(losses.mean())
    return float(np.sqrt(mean)) if measure.root else mean


def _p_of_greater(inside: np.ndarray, outside: np.ndarray) -> float:
    """Chance of losses inside so much greater than those outside, if they are alike."""
    worst = max(inside.max(), outside.max())
    least = min(inside.min(), outside.min())
    if worst == least:
        return 1.0
    if np.isin(np.concatenate([inside, outside]), (least, worst)).all():
        counts = [
            [int((part == value).sum()) for value in (worst, least)] for part in (inside, outside)
        ]
        return float(scipy.stats.fisher_exact(counts, alternative="greater").pvalue)
    of_ranks = scipy.stats.mannwhitneyu(inside, outside, alternative="greater")
    of_means = scipy.stats.ttest_ind(inside, outside, equal_var=False, alternative="greater")
    return max(float(of_ranks.pvalue), float(of_means.pvalue))


@dataclass(repr=False)
class Shift(Result):
    """Can a classifier tell two tables apart?

    Attributes
    ----------
    area : Estimate
        Area under the ROC curve of the classifier that tells them apart; 0.5 for alike.
    p : float
        Chance of such scores for tables that are alike: rank sum test of the scores of each fold,
        which its classifier has not seen, the least of them counted for all folds (Bonferroni).
    columns : list of str
        Columns by which it does, the strongest first.
    n_rows : int
    n_compared, n_columns : int
        Columns that were compared, and columns that could have been.
    """

    area: Estimate
    p: float
    columns: list[str]
    n_rows: int
    n_compared: int = 0
    n_columns: int = 0

    @property
    def found(self) -> bool:
        """Whether the tables differ beyond chance (p < 0.01).

        The interval of the area does not decide: of a perfect area nothing is known of its error.
        """
        return self.p < SHIFT_P

    def _title(self) -> str:
        how = "differ" if self.found else "are not shown to differ"
        measured = "area under the ROC curve of a classifier between them"
        return f"The tables {how}: {measured} {self.area}{self.some()}"

    def some(self) -> str:
        """How many columns were compared, in words; nothing where it is all."""
        if self.n_compared == self.n_columns:
            return ""
        return f" ({self.n_compared:,} of {self.n_columns:,} columns, drawn at random)"

    def _columns(self) -> dict[str, list[Any]]:
        return {"strongest columns": self.columns}


def shift_check(one: Table, other: Table, *, random_state: int = 0) -> Shift:
    """Is one table like another? A classifier two-sample test.

    Boosted trees learn to tell the rows of the two tables apart, judged on rows that they have
    not seen. If they cannot, the tables are alike as far as columns and their pairs go (000c 8).
    At most 5,000 rows of each and 200 columns are used, drawn at random.

    Parameters
    ----------
    one, other : Table
        With the same columns; those that only one has are not looked at.
    random_state : int, default=0

    Returns
    -------
    shift : Shift

    Examples
    --------
    >>> from gnomon.table import example
    >>> iris = example("iris").drop("species")
    >>> shift_check(iris[:75], iris[75:]).found
    True
    """
    names = comparable_columns(one, other)
    if not names:
        raise DataError("the two tables have no column in common that could be compared")
    rng = np.random.default_rng(random_state)
    n_columns = len(names)
    if n_columns > DRIFT_COLUMNS:
        taken = rng.choice(n_columns, DRIFT_COLUMNS, replace=False)
        names = [names[j] for j in np.sort(taken)]
    parts = [_some(table.select(names), rng) for table in (one, other)]
    second = parts[1].with_schema(parts[0].schema, unseen="missing")
    both = Table.from_arrow(stacked(parts[0], second), parts[0].schema)
    marks = np.repeat(["one", "other"], [len(parts[0]), len(second)])
    learner = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=8, min_samples_leaf=10, random_state=random_state
    )
    result = cross_validation_estimates(
        learner, both, marks, cv=3, measures="auc", random_state=random_state
    )
    if result.failures:
        raise DataError(f"the tables could not be compared: {result.failures[0]}")
    rows, said = result.out_of_fold()
    area = area_under_roc(marks[rows], said.scores, "other")
    p = p_of_no_shift(result, marks)
    return Shift(area, p, strongest(learner.fit(both, marks)), len(marks), len(names), n_columns)


def p_of_no_shift(result: CrossValidation, marks: np.ndarray) -> float:
    """The least p of the folds, times their number.

    Given its classifier, the test rows of a fold are exchangeable if the tables are alike. Scores
    of all folds together are not, as each fold is trained on the others: tested at 1% they called
    3.5% of tables different.
    """
    tests = []
    for fold, (_, test) in zip(result.folds, result.splits):
        assert fold.said is not None
        scores, is_other = np.asarray(fold.said.scores), marks[test] == "other"
        found = scipy.stats.mannwhitneyu(scores[is_other], scores[~is_other], alternative="greater")
        tests.append(float(found.pvalue))
    return min(min(tests) * len(tests), 1.0)


def strongest(model: Any, most: int = 3) -> list[str]:
    """The columns that trees use most."""
    strength = np.asarray(model.feature_importances_)
    order = np.argsort(-strength, kind="stable")[:most]
    return [str(model.encoder_.columns.names[j]) for j in order if strength[j] > 0]


def comparable_columns(one: Table, other: Table) -> list[str]:
    """Columns of both tables whose values can be compared."""
    shared = set(other.columns)
    return [n for n in one.columns if n in shared and comparable(one, other, n)]


def comparable(one: Table, other: Table, name: str) -> bool:
    """Whether a column of two tables may be compared: no identifier, no free text."""
    skipped = (Kind.IDENTIFIER, Kind.TEXT)
    return one.schema[name].kind not in skipped and other.schema[name].kind not in skipped


def _some(table: Table, rng: np.random.Generator) -> Table:
    if len(table) <= DRIFT_ROWS:
        return table
    return table[np.sort(rng.choice(len(table), DRIFT_ROWS, replace=False))]


def stacked(one: Table, other: Table) -> Any:
    """The Arrow rows of two tables of the same columns, one after the other."""
    import pyarrow as pa

    return pa.concat_tables([one.arrow, other.arrow.cast(one.arrow.schema)])
