"""Checks: what may be wrong with a run, in plain language, each with figure, limit and remedy.

The traps that the texts name and that users fall into: scores that folds do not agree on, columns
that give the target away, rows that stand in training and test, classes too rare to learn. A check
that finds nothing says so; one that cannot be made says why.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import scipy

from gnomon.engine.errors import DataError
from gnomon.evaluate import CrossValidation, Estimate, calibration
from gnomon.table import Kind, Table
from gnomon.workbench.analysis.diagnosis import (
    FEWEST_IN_GROUP,
)
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.analysis.problem import FEW_VALUES, FEWEST_TESTED, coded
from gnomon.workbench.learn.evidence import Check, Evidence
from gnomon.workbench.learn.final_figure import owners_of
from gnomon.workbench.learn.lead import leads, losses_of_rows, nearest_lead
from gnomon.workbench.learn.leaks import exact_sum, golden_column, key_of_rows, too_good

NOT_REAL = 0.5  # judgement: half of the gain over the baseline is lost between training and test
HARDLY_LEARNT = 0.1  # judgement: under a tenth of the baseline's error is removed
FOLDS_DIFFER = 0.01  # stricter than 0.05, as some twenty checks run with every job
LOPSIDED = 0.8  # judgement: guessing the commonest class is right for so many rows
RARE_ROWS = 50  # judgement: ten test rows of a class in each of five folds
ROWS_PER_COLUMN = 10  # the rule of thumb of ten rows for each coefficient
FEW_ROWS = 200  # judgement: 40 test rows in a fifth: accuracy is known to 12 points or so
REPEATED = 0.01  # judgement: one row in a hundred moves a score by a point at most
OUT_OF_RANGE = 0.05  # judgement: of test targets; some leave the training range by chance
MISCALIBRATED = 0.05  # judgement: a mean error of 5 points changes decisions at usual thresholds
GROUP_P = 0.01  # stricter than 0.05: corrected for the groups, but one of many checks
SELDOM_BEST = 0.5  # judgement: the chosen learner is not the best in most folds
SHIFT_P = 0.001  # stricter still: rows are parted at random, so a difference is a fault
DRIFT_AREA = 0.6  # judgement: 0.5 is chance; up to 0.6 the difference hardly moves predictions
CORRELATED = 0.95  # judgement: variance inflated tenfold (1 / (1 - r^2) is 10.3)
MANY_LEVELS = 50  # judgement: as in advise: from here levels become rare
# judgement: a thousand rows in a second are fast enough for most uses
SLOW_ROW = 1e-3
SLOWER = 10.0  # judgement: ten times is worth a mention where scores are equal, twice is not
EQUIVALENT = 0.05  # of the gain over the baseline may be lost by a learner called as good
STILL_RISING = 0.02  # judgement: of the gain, by doubling the rows; less does not pay for them
SCALES_APART = 100.0  # judgement: two digits between spreads, so that coefficients mislead the eye
MANY_MORE = 1.5  # five folds leave 1.25 times; from here more rows alone may explain a better score
UNKNOWN_ON_TRAINING = "the score of the stack on its training rows is not known."


def beats_the_baseline(seen: Evidence) -> Check:
    """Does the chosen learner beat a learner that looks at no column?"""
    name, limit = "better than the baseline", "p < 0.05, paired losses of the rows"
    remedy = "Do not act on the model. Get more rows, or columns that matter."
    if len(seen.board.names) == 1:
        found = "whether the table predicts the target is not known."
        return Check(name, "warning", found, limit=limit, remedy="Give a larger budget.")
    if seen.chosen == BASELINE:
        found = "not shown of any learner; the baseline, which looks at no column, is chosen."
        return Check(name, "bad", found, limit=limit, remedy=remedy)
    found_of = leads(seen.board)
    lead = found_of[seen.chosen]
    if np.isnan(lead.p):
        found = "not known: no fold could be compared."
        return Check(name, "bad", found, limit=limit, remedy=remedy)
    if lead.is_real:
        return Check(name, "good", f"yes, {lead}.", lead.p, limit)
    nearest = nearest_lead(found_of)
    found = f"not shown of any learner; the nearest is {nearest.name} ({nearest})."
    return Check(name, "bad", found, nearest.p, limit, remedy)


def overfitting(seen: Evidence) -> Check:
    """How much of what was gained on training rows is lost on others?"""
    train, test, base = seen.losses
    if np.isnan(train):
        return Check("overfitting", "not made", UNKNOWN_ON_TRAINING)
    gained, kept = base - train, base - test
    if seen.chosen == BASELINE or not gained > 0:
        return Check("overfitting", "good", "nothing was gained on the training rows to lose.")
    lost = 1 - kept / gained
    found = f"{lost:.0%} of the gain over the baseline on training rows is lost on other rows."
    if lost <= NOT_REAL:
        return Check("overfitting", "good", found, lost, f"more than {NOT_REAL:.0%}")
    return Check(
        "overfitting",
        "warning",
        found,
        lost,
        f"more than {NOT_REAL:.0%}",
        "Get more rows, or take a simpler learner or a stronger penalty.",
    )


def underfitting(seen: Evidence) -> Check:
    """Is the learner rich enough to fit even the training rows?"""
    train, _, base = seen.losses
    if seen.chosen == BASELINE:
        found = "the baseline, which looks at no column, is chosen."
        return Check("underfitting", "not made", found)
    if np.isnan(train):
        return Check("underfitting", "not made", UNKNOWN_ON_TRAINING)
    if seen.problem.figure.greater_is_better:
        train, base = 1 + train, 1 + base
    gain = 1 - train / base if base > 0 else np.nan
    found = f"{gain:.0%} of the baseline's error is gone on the training rows."
    limit = f"less than {HARDLY_LEARNT:.0%}"
    if not gain < HARDLY_LEARNT:
        return Check("underfitting", "good", found, gain, limit)
    return Check(
        "underfitting",
        "warning",
        found,
        gain,
        limit,
        "The columns say little, or the learner is too simple: add columns or products of them.",
    )


def folds_agree(seen: Evidence) -> Check:
    """Do the folds differ more than chance makes them?"""
    measure = seen.problem.measure
    scores, errors = seen.scores.scores[measure], seen.scores.fold_errors[measure]
    known = np.isfinite(scores) & np.isfinite(errors) & (errors > 0)
    if known.sum() < 3:
        return Check("folds agree", "not made", "fewer than three folds have an error bar.")
    low, high = scores[known].min(), scores[known].max()
    if seen.problem.parted_by:
        return Check(
            "folds agree",
            "not made",
            f"folds differ by design, as rows were split by {seen.problem.parted_by!r}; their "
            f"scores range from {low:.4g} to {high:.4g}.",
        )
    p = max(p_of_equal_folds(seen), p_of_equal_scores(scores[known], errors[known]))
    found = f"scores of the folds range from {low:.4g} to {high:.4g} (p = {p:.2g} by chance)."
    if p >= FOLDS_DIFFER:
        return Check("folds agree", "good", found, p, f"p < {FOLDS_DIFFER}")
    return Check(
        "folds agree",
        "warning",
        found,
        p,
        f"p < {FOLDS_DIFFER}",
        "Rows may come in groups or change with time: name them (groups, time).",
    )


def p_of_equal_scores(scores: np.ndarray, errors: np.ndarray) -> float:
    """Chance of scores that differ so much for their error bars, by chi-square.

    Ranks alone also see that every fold's own model shifts the losses of all rows a little, which
    of losses near zero is beyond chance and moves no score.
    """
    weights = 1 / errors**2
    mean = weights @ scores / weights.sum()
    return float(scipy.stats.chi2.sf(weights @ (scores - mean) ** 2, len(scores) - 1))


def p_of_equal_folds(seen: Evidence) -> float:
    """Chance of losses that differ so much between folds, in rows that do not hang together.

    The ranks of the losses of the rows are compared (Kruskal and Wallis), on the first repetition.
    Standard errors within small folds, of skewed losses, are no ground for a test: chi-square of
    the fold means fires in 6 to 26% of tables at 1%; ranks fired in none of 50.
    """
    scores, y = seen.scores, seen.scores.y
    assert y is not None
    losses = [
        losses_of_rows(seen.problem.figure, y[test], fold.said)
        for fold, (_, test) in zip(scores.folds[: scores.splits.n_folds], scores.splits)
        if fold.said is not None
    ]
    if len(losses) < 2 or len(np.unique(np.concatenate(losses))) < 2:
        return 1.0
    return float(scipy.stats.kruskal(*losses).pvalue)


def balanced_classes(seen: Evidence) -> Check | None:
    """Is one class so common that accuracy says little?"""
    if seen.problem.task != "classify":
        return None
    share = max(seen.problem.classes.values()) / sum(seen.problem.classes.values())
    common = next(iter(seen.problem.classes))
    found = f"{share:.1%} of the rows are {common!r}."
    plain = seen.problem.measure in ("accuracy", "error")
    if share < LOPSIDED or not plain:
        return Check("balanced classes", "good", found, share, f"above {LOPSIDED:.0%}")
    return Check(
        "balanced classes",
        "warning",
        found,
        share,
        f"above {LOPSIDED:.0%}",
        "Accuracy hides the rare class: look at the confusion table, judge by "
        "balanced_accuracy, auc or log_loss.",
    )


def classes_with_rows(seen: Evidence) -> Check | None:
    """Has every class rows enough?"""
    if seen.problem.task != "classify":
        return None
    rare = [repr(str(k)) for k, n in seen.problem.classes.items() if n < RARE_ROWS]
    fewest = min(seen.problem.classes.values())
    untested = [str(name) for name in seen.problem.untested]
    if untested:
        return Check(
            "rows of every class",
            "warning",
            f"{', '.join(untested[:5])} could not be tested: fewer than {FEWEST_TESTED} rows each. "
            "The scores say nothing of them.",
            fewest,
            f"below {FEWEST_TESTED}",
            "Collect more of these or merge classes.",
        )
    if not rare:
        return Check(
            "rows of every class", "good", f"at least {fewest:,}.", fewest, f"below {RARE_ROWS}"
        )
    return Check(
        "rows of every class",
        "warning",
        f"{', '.join(rare[:5])}{' ...' if len(rare) > 5 else ''} "
        f"{'has' if len(rare) == 1 else 'have'} fewer than {RARE_ROWS} rows (fewest: {fewest}).",
        fewest,
        f"below {RARE_ROWS}",
        "Collect more of these or merge classes.",
    )


def enough_rows(seen: Evidence) -> Check:
    """Are there rows enough for the columns?"""
    n, d = len(seen.train), max(len(seen.problem.features), 1)
    share = f"{n / d:,.0f} per column" if n >= d else f"fewer than the {d:,} columns"
    found = f"{n:,} training rows, {share}."
    limit = f"below {FEW_ROWS} rows or {ROWS_PER_COLUMN} per column"
    if n >= FEW_ROWS and n / d >= ROWS_PER_COLUMN:
        return Check("enough rows", "good", found, n / d, limit)
    return Check(
        "enough rows",
        "warning",
        found,
        n / d,
        limit,
        "Intervals are wide and the choice is uncertain: collect rows, or leave columns out.",
    )


def useless_columns(seen: Evidence) -> Check:
    """Are there columns whose shuffling changes nothing?"""
    if seen.chosen == BASELINE:
        return Check("useful columns", "not made", "the baseline looks at no column.")
    useless, importance = seen.importance.useless(), seen.importance
    n = len(importance.names)
    if importance.is_partial:
        return Check(
            "useful columns",
            "not made",
            f"{n:,} of {importance.n_columns:,} columns were shuffled.",
        )
    if len(useless) == n:
        return Check(
            "useful columns",
            "not made",
            f"{importance.n_rows:,} test rows are too few to show of any single column that it "
            "matters.",
        )
    found = (
        f"{len(useless)} of {n} columns are not shown to help on {importance.n_rows:,} test rows"
    )
    found += f": {', '.join(useless[:6])}{' ...' if len(useless) > 6 else ''}." if useless else "."
    if len(useless) <= n / 2:
        return Check("useful columns", "good", found, len(useless), "more than half")
    return Check(
        "useful columns",
        "warning",
        found,
        len(useless),
        "more than half",
        "Compare a run without some of them (--without): fewer columns are cheaper to collect and "
        "easier to explain. Do not leave out all at once: columns that stand in for each other "
        "look useless one by one.",
    )


def numbers_of(seen: Evidence) -> list[str]:
    """The columns of numbers that have a value in the training rows."""
    numeric = [n for n in seen.problem.features if seen.train.schema[n].kind.is_numeric]
    return [n for n in numeric if seen.train.column(n).null_count < len(seen.train)]


def correlated_columns(seen: Evidence) -> Check:
    """Do columns say the same?"""
    numeric = numbers_of(seen)[:200]
    if len(numeric) < 2:
        return Check("correlated columns", "good", "there are no two columns of numbers.")
    block = seen.train.select(numeric).to_numpy().astype(float)
    block = np.where(np.isnan(block), np.nanmean(block, axis=0), block)
    varying = block.std(axis=0) > 0
    names = [name for name, each in zip(numeric, varying) if each]
    if len(names) < 2:
        return Check("correlated columns", "good", "there are no two columns that vary.")
    r = np.abs(np.corrcoef(block[:, varying], rowvar=False))
    np.fill_diagonal(r, 0.0)
    i, j = np.unravel_index(int(r.argmax()), r.shape)
    pairs = int((np.triu(r) > CORRELATED).sum())
    count = "1 pair" if pairs == 1 else f"{pairs} pairs"
    found = f"{count}; the strongest is {names[i]!r} and {names[j]!r}, |r| = {r.max():.3f}."
    if not pairs:
        return Check("correlated columns", "good", found, float(r.max()), f"|r| > {CORRELATED}")
    return Check(
        "correlated columns",
        "warning",
        found,
        float(r.max()),
        f"|r| > {CORRELATED}",
        "Their coefficients and importances share one effect: do not read them one by one.",
    )


def time_overlap(seen: Evidence) -> Check:
    """Do test rows lie between training rows in time?"""
    dated = [n for n in seen.problem.features if seen.train.schema[n].kind is Kind.DATETIME]
    if seen.problem.time or not dated:
        what = "rows were split by time." if seen.problem.time else "no column is a date or time."
        return Check("time", "good", what)
    if seen.problem.groups:
        what = f"rows were split by {seen.problem.groups!r}, which was asked for, not by time."
        return Check("time", "good", what)
    return Check(
        "time",
        "warning",
        f"the table has moments ({', '.join(dated[:3])}) and was split at random: test rows lie "
        "between training rows in time.",
        float(len(dated)),
        "any column of moments",
        f"If the future is to be predicted, run again with --time {shlex.quote(dated[0])}.",
    )


def repeated_rows(seen: Evidence) -> Check:
    """Do rows stand in training and test both?"""
    names = [n for n in seen.problem.features if seen.train.schema[n].kind is not Kind.IDENTIFIER]
    known = stands_in(seen.train, seen.test, names)
    share = float(known.mean())
    found = f"{share:.1%} of the test rows equal a training row in every column but the target."
    if share <= REPEATED:
        return Check("repeated rows", "good", found, share, f"above {REPEATED:.0%}")
    others = score_of(seen, ~known)
    alike, limit = False, f"above {REPEATED:.0%}"
    if others is not None:
        found = f"{found[:-1]}; of the others alone {seen.problem.measure} is {others:.4g}."
        alike = seen.figure.low <= others <= seen.figure.high
    if alike and all(has_few_values(seen.train, name) for name in names):
        found += " Columns of few values repeat by chance, and the score does not hang on it."
        return Check("repeated rows", "good", found, share, f"{limit}, not by chance")
    memory = "Rows that stand twice count twice." if alike else "The score is partly memory."
    remedy = f"{memory} Remove duplicates, or name the groups that belong together."
    return Check("repeated rows", "warning", found, share, limit, remedy)


def has_few_values(rows: Table, name: str) -> bool:
    """Whether a column has so few values that whole rows are equal by chance."""
    return len(rows.column(name).unique()) <= FEW_VALUES


def score_of(seen: Evidence, rows: np.ndarray) -> float | None:
    """The measure on some test rows; None where they are too few for it."""
    if rows.sum() < FEWEST_IN_GROUP:
        return None
    try:
        found = seen.problem.figure.figure(seen.y_test[rows], seen.said.part(rows))
    except DataError:
        return None
    value = found.value if isinstance(found, Estimate) else float(found)
    return value if np.isfinite(value) else None


def stands_in(known: Table, rows: Table, names: list[str]) -> np.ndarray:
    """Which rows equal a known row in every one of some columns.

    Rows are compared by a hash of 64 bits: among a million rows, one pair in ten million runs is
    taken for equal wrongly.
    """
    hashes = np.zeros(len(known) + len(rows), dtype=np.uint64)
    for name in names:
        both = pa.chunked_array([*dense(known.column(name)), *dense(rows.column(name))])
        hashes = mixed(hashes ^ mixed(bits_of(both)))
    return np.isin(hashes[len(known) :], hashes[: len(known)])


def bits_of(column: pa.ChunkedArray) -> np.ndarray:
    """64 bits for every cell, equal for equal cells; missing ones are equal to each other."""
    if pa.types.is_floating(column.type):
        values = column.to_numpy().astype(np.float64) + 0.0  # there is one zero
        return np.where(np.isnan(values), np.nan, values).view(np.uint64)
    return coded(column)[1].astype(np.int64).view(np.uint64)


def dense(column: pa.ChunkedArray) -> list[pa.Array]:
    """The chunks of a column, categories as their words."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.chunks


def mixed(bits: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood's mixing of 64 bits (SplitMix64)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def calibrated(seen: Evidence) -> Check | None:
    """Are probabilities what they say?"""
    if seen.problem.task != "classify":
        return None
    said = seen.said
    if said.probabilities is None or said.classes is None or len(said.classes) != 2:
        return Check("calibration", "not made", "it is made for two classes with probabilities.")
    positive = said.classes[1]
    proba = said.probabilities[:, 1]
    found = calibration(seen.y_test, proba, positive)
    owners = owners_of(seen.problem, seen.test)
    p = p_of_right_probabilities(found.p, seen.y_test == positive, proba, owners)
    text = (
        f"probabilities of {positive} are off by {found.expected_error:.3f} on the mean "
        f"(p = {p:.2g} that right ones look so)."
    )
    limit = f"off by over {MISCALIBRATED} and p < 0.01"
    if seen.problem.time is not None:  # with p as of independent rows it warned in 12 of 60 tables
        figure = text.split(" (")[0]
        what = f"{figure}; rows that follow each other are alike, so chance is not ruled out."
        return Check("calibration", "not made", what)
    if found.expected_error <= MISCALIBRATED or p >= 0.01:
        return Check("calibration", "good", text, found.expected_error, limit)
    return Check(
        "calibration",
        "warning",
        text,
        found.expected_error,
        limit,
        "Do not read them as frequencies; rank by them, or correct them on other rows.",
    )


def p_of_right_probabilities(
    spiegelhalter: float,
    is_positive: np.ndarray,
    proba: np.ndarray,
    owners: np.ndarray | None = None,
) -> float:
    """Chance that right probabilities look so: Spiegelhalter's p and that of their mean, both.

    Spiegelhalter's statistic weighs a row by 1 - 2 p: probabilities that are all too small by as
    much, as many below one half as above, cancel in it. Rows of one owner (a person with several
    rows) are alike: each p is then not below that of the sums of owners.
    """
    variance = float((proba * (1 - proba)).sum())
    if not variance > 0:
        return spiegelhalter
    gaps = is_positive - proba
    found = [spiegelhalter, float(2 * scipy.stats.norm.sf(abs(gaps.sum()) / np.sqrt(variance)))]
    if owners is not None:
        sums = [p_of_zero_sum(each, owners) for each in (gaps * (1 - 2 * proba), gaps)]
        found = [max(pair) for pair in zip(found, sums)]
    return min(2 * min(found), 1.0)


def p_of_zero_sum(values: np.ndarray, owners: np.ndarray) -> float:
    """Two-sided p of a sum so far from zero, by the sums of owners (Student's t)."""
    sums = np.bincount(np.unique(owners, return_inverse=True)[1], values)
    spread = float(np.sqrt((sums**2).sum()))
    if len(sums) < 2 or spread == 0:
        return 1.0
    return float(2 * scipy.stats.t.sf(abs(sums.sum()) / spread, len(sums) - 1))


def worst_group(seen: Evidence) -> Check:
    """Is the model worse for some group of rows?"""
    if not seen.groups:
        what = f"no category has a level with {FEWEST_IN_GROUP} test rows, and as many without."
        return Check("worst group", "not made", what)
    worst = seen.groups[0]
    found = (
        f"{worst.column} = {worst.level!r} ({worst.n_rows:,} rows) has {worst.measure} "
        f"{worst.score:.4g} where the other rows have {worst.others:.4g}"
    )
    if seen.problem.time is not None and seen.problem.groups is None:
        what = f"{found}; rows that follow each other are alike, so chance is not ruled out."
        return Check("worst group", "not made", what)
    found += f" (p = {worst.p:.2g}, all groups counted)."
    if worst.p >= GROUP_P:
        return Check("worst group", "good", found, worst.p, f"p < {GROUP_P}")
    return Check(
        "worst group",
        "warning",
        found,
        worst.p,
        f"p < {GROUP_P}",
        "Report its figure apart, and collect more such rows.",
    )


def stable_choice(seen: Evidence) -> Check:
    """Would other folds have chosen another learner?"""
    rivals = [each for each in seen.board.results if len(each.values) == len(each.folds)]
    if len(rivals) < 2:
        return Check("stable choice", "good", "there was one learner only.")
    table = np.array([each.scores[seen.problem.measure] for each in rivals])
    table = table if seen.problem.figure.greater_is_better else -table
    wins = (table == table.max(axis=0)).mean(axis=1)
    best = [each.name for each in rivals].index(seen.board.best.name)
    n_won, n_folds = round(wins[best] * table.shape[1]), table.shape[1]
    found = f"{seen.board.best.name} has the best mean and is best in {n_won} of {n_folds} folds."
    limit = f"below {SELDOM_BEST:.0%}"
    if wins[best] >= SELDOM_BEST:
        return Check("stable choice", "good", found, wins[best], limit)
    return Check(
        "stable choice",
        "warning",
        found,
        wins[best],
        limit,
        "No learner is best in most folds: compare their intervals before you prefer one.",
    )


def same_target(seen: Evidence) -> Check:
    """Has the target the same distribution in training and test rows?"""
    if seen.problem.parted_by:
        return parted_target(seen)
    if seen.problem.task == "classify":
        names = list(seen.problem.classes)
        counts = [[int((y == k).sum()) for k in names] for y in (seen.y_train, seen.y_test)]
        kept = np.array(counts)[:, np.array(counts).sum(axis=0) > 0]
        p = float(scipy.stats.chi2_contingency(kept).pvalue)
    else:
        p = float(scipy.stats.ks_2samp(seen.y_train, seen.y_test).pvalue)
    found = f"the targets of training and test rows differ as chance makes them, p = {p:.2g}."
    if p >= SHIFT_P:
        return Check("same target", "good", found, p, f"p < {SHIFT_P}")
    found = f"the targets of training and test rows differ beyond chance, p = {p:.2g}."
    return Check(
        "same target",
        "warning",
        found,
        p,
        f"p < {SHIFT_P}",
        "What is predicted changes between the parts: expect it to change again.",
    )


def parted_target(seen: Evidence) -> Check:
    """Does the target leave its range where whole groups, or later rows, are the test rows?

    Rows of one group, or neighbours in time, are alike: no test of rows holds.
    """
    if seen.problem.task == "classify":
        what = f"rows were split by {seen.problem.parted_by!r}: classes may be of other shares."
        return Check("same target", "not made", what)
    low, high = seen.y_train.min(), seen.y_train.max()
    share = float(((seen.y_test < low) | (seen.y_test > high)).mean())
    found = (
        f"{share:.0%} of the test rows, split off by {seen.problem.parted_by!r}, have a target "
        f"outside the range of the training rows ({low:.4g} to {high:.4g})."
    )
    if share <= OUT_OF_RANGE:
        return Check("same target", "good", found, share, f"above {OUT_OF_RANGE:.0%}")
    return Check(
        "same target",
        "warning",
        found,
        share,
        f"above {OUT_OF_RANGE:.0%}",
        "Trees and neighbours cannot predict beyond what they have seen: prefer a linear model, or "
        "predict the change instead of the value.",
    )


def same_columns(seen: Evidence) -> Check:
    """Are training and test rows alike?"""
    if seen.problem.parted_by:
        what = f"rows were split by {seen.problem.parted_by!r}: the parts differ by design."
        return Check("drift", "not made", what)
    if seen.shift is None:
        return Check("drift", "not made", "all columns are text.")
    told = f"a classifier tells training from test rows with area {seen.shift.area}"
    found = f"{told}{seen.shift.some()}."
    if not seen.shift.found or seen.shift.area.value < DRIFT_AREA:
        return Check("drift", "good", found, seen.shift.area.value, f"above {DRIFT_AREA}")
    return Check(
        "drift",
        "warning",
        found,
        seen.shift.area.value,
        f"above {DRIFT_AREA}",
        f"They differ most in {', '.join(seen.shift.columns)}: find out why.",
    )


def as_on_folds(seen: Evidence) -> Check:
    """Does the test figure agree with that of the folds?"""
    folds = seen.scores.figure()
    errors = [error_towards(*pair) for pair in ((folds, seen.figure), (seen.figure, folds))]
    if not np.isfinite(errors).all():
        return Check("test agrees with folds", "not made", "one of them has no error bar.")
    if seen.problem.time:
        return Check(
            "test agrees with folds",
            "not made",
            f"{seen.figure.value:.4g} on the test rows, {folds.value:.4g} on the folds; the test "
            "rows are the latest, and later rows may be harder.",
        )
    gap = abs(seen.figure.value - folds.value)
    z = gap / max(float(np.hypot(errors[0], errors[1])), 1e-300)
    found = (
        f"{seen.figure.value:.4g} on the test rows, {folds.value:.4g} on the folds (z = {z:.1f})."
    )
    if z < 3:
        return Check("test agrees with folds", "good", found, z, "z > 3")
    better = (seen.figure.value > folds.value) == seen.problem.figure.greater_is_better
    if better and seen.times_the_rows > MANY_MORE:
        found += f" The final model learnt from {seen.times_the_rows:.3g} times as many rows."
        return Check("test agrees with folds", "good", found, z, "z > 3 to the worse")
    return Check(
        "test agrees with folds",
        "warning",
        found,
        z,
        "z > 3",
        "The test rows are of another kind, or the folds were looked at too often.",
    )


def interval_is_wide_enough(seen: Evidence) -> Check:
    """Can the interval of the test score be trusted: do many rows tell it?"""
    name, figure = "interval of the score", seen.figure
    if not np.isfinite([figure.low, figure.high]).all():
        return Check(name, "not made", f"there is none ({figure.how}).")
    remedy = "Judge by mae or on more rows, and look at the worst rows."
    limit = "no width, or a fifth of the squared errors in one row"
    if figure.high - figure.low <= 1e-9 * abs(figure.value):
        found = "all test rows have the same loss: the interval has no width, and rare losses are "
        return Check(name, "warning", found + "not seen.", 0.0, limit, "Judge on more rows.")
    if "too short" in figure.how:
        why = next(each for each in figure.how.split("; ") if "too short" in each)
        return Check(name, "warning", f"{why.split(':')[0]}.", np.nan, limit, remedy)
    return Check(name, "good", "no single row decides it.", np.nan, limit)


def error_towards(one: Estimate, other: Estimate) -> float:
    """The standard error that the printed interval has on the side of another figure.

    Of a perfect score the plain standard error is zero, and its interval is not.
    """
    end = one.high if other.value > one.value else one.low
    return float(abs(end - one.value) / scipy.stats.norm.ppf(0.5 + one.confidence_level / 2))


def many_levels(seen: Evidence) -> Check:
    """Are there categories of very many levels?"""
    schema = seen.train.schema
    wide = {
        n: len(schema[n].levels or ())
        for n in seen.problem.features
        if schema[n].kind in (Kind.CATEGORY, Kind.ORDERED)
    }
    most = max(wide, key=lambda name: wide[name], default="")
    if not most or wide[most] <= MANY_LEVELS:
        return Check("levels of categories", "good", "no category has very many levels.")
    return Check(
        "levels of categories",
        "warning",
        f"{most!r} has {wide[most]:,} levels.",
        wide[most],
        f"above {MANY_LEVELS}",
        "Trees favour such columns and impurity importances overrate them: trust the shuffled "
        "ones. Merge rare levels.",
    )


def comparable_coefficients(seen: Evidence) -> Check | None:
    """May the coefficients of a linear model be compared?"""
    if seen.chosen in ("logistic regression", "ridge"):
        found = "columns were brought to one scale before the fit."
        return Check("comparable coefficients", "good", found)
    if seen.chosen != "linear regression":
        return None
    numeric = numbers_of(seen)
    if len(numeric) < 2:
        return Check("comparable coefficients", "good", "there are no two columns of numbers.")
    block = seen.train.select(numeric).to_numpy().astype(float)
    spread = np.nanstd(block, axis=0)
    spread = spread[spread > 0]
    ratio = float(spread.max() / spread.min()) if len(spread) else 1.0
    found = f"the widest column spreads {ratio:,.0f} times as far as the narrowest."
    if ratio < SCALES_APART:
        return Check("comparable coefficients", "good", found, ratio, f"above {SCALES_APART:g}")
    return Check(
        "comparable coefficients",
        "warning",
        found,
        ratio,
        f"above {SCALES_APART:g}",
        "Do not compare raw coefficients: scale the columns, or read the importances.",
    )


def search_edge(seen: Evidence) -> Check | None:
    """Did a search end at the edge of what was searched?"""
    best = getattr(seen.model, "best_name_", None)
    if best is None:
        return None
    tried = [name for name, _ in seen.model.estimators]
    place = tried.index(best)
    found = f"of {', '.join(tried)}, {best} was chosen."
    if len(tried) < 3 or 0 < place < len(tried) - 1:
        return Check("search", "good", found)
    return Check(
        "search",
        "warning",
        found,
        float(place),
        "the first or last of three or more",
        "The best may lie beyond: try further values.",
    )


def quick_enough(seen: Evidence) -> Check:
    """Is there an equivalent learner that predicts much faster?"""
    rivals = {each.name: each for each in seen.board.results if each.name != BASELINE}
    if seen.chosen not in rivals or len(rivals) < 2 or len(seen.scores.values) < 2:
        return Check("speed", "good", "there is no other learner to compare with.")
    as_good = [each for each in rivals.values() if equivalent(each, seen)]
    fastest = min(as_good, key=lambda each: each.predict_seconds)
    ratio = seen.scores.predict_seconds / max(fastest.predict_seconds, 1e-6)
    found = (
        f"{seen.chosen} predicts {ratio:.1f} times as long as {fastest.name}, which keeps at least "
        f"{1 - EQUIVALENT:.0%} of the gain over the baseline."
    )
    if fastest.name == seen.chosen:
        found = "no learner that is as good predicts faster."
    pace = seen.scores.predict_seconds / sum(len(test) for _, test in seen.scores.splits)
    limit = f"above {SLOWER:g} times, and {SLOW_ROW:g} s for a row"
    if fastest.name == seen.chosen or ratio < SLOWER or pace < SLOW_ROW:
        return Check("speed", "good", found, ratio, limit)
    return Check(
        "speed",
        "warning",
        found,
        ratio,
        limit,
        f"Where speed counts, take {fastest.name}.",
    )


def equivalent(one: CrossValidation, seen: Evidence) -> bool:
    """Whether a learner loses next to nothing of the chosen one's gain over the baseline."""
    _, chosen, base = seen.losses
    sign = -1.0 if seen.problem.figure.greater_is_better else 1.0
    return sign * one.mean_over_folds() - chosen <= EQUIVALENT * max(base - chosen, 0.0)


def more_rows(seen: Evidence) -> Check:
    """Would more rows help?"""
    if seen.curve is None:
        return Check("more rows", "not made", "no learning curve was drawn.")
    line = seen.curve.values(seen.curve._chosen(None))
    _, _, base = seen.losses
    span = abs(abs(base) - line[-1])
    step = (line[-1] - line[-2]) * (1 if seen.problem.figure.greater_is_better else -1)
    share = float(step / span) if span > 0 else 0.0
    found = f"doubling the rows last added {share:.0%} to the gain over the baseline."
    if share < STILL_RISING:
        return Check("more rows", "good", found, share, f"above {STILL_RISING:.0%}")
    return Check(
        "more rows",
        "warning",
        found,
        share,
        f"above {STILL_RISING:.0%}",
        "More rows are likely to help.",
    )


def failures(seen: Evidence) -> Check:
    """Did learners fail in some folds?"""
    failed = {each.name: len(each.failures) for each in seen.board.results if each.failures}
    if not failed:
        return Check("failures", "good", "no learner failed in any fold.", 0, "any")
    first = next(each.failures[0] for each in seen.board.results if each.failures)
    listed = ", ".join(f"{name} ({number})" for name, number in failed.items())
    return Check(
        "failures", "warning", f"{listed}; first: {first}.", len(failed), "any", "Read the message."
    )


CHECKS: tuple[Callable[[Evidence], Check | None], ...] = (
    beats_the_baseline,
    golden_column,
    exact_sum,
    key_of_rows,
    too_good,
    repeated_rows,
    time_overlap,
    overfitting,
    underfitting,
    folds_agree,
    stable_choice,
    as_on_folds,
    interval_is_wide_enough,
    same_target,
    same_columns,
    balanced_classes,
    classes_with_rows,
    enough_rows,
    more_rows,
    calibrated,
    worst_group,
    useless_columns,
    correlated_columns,
    many_levels,
    comparable_coefficients,
    search_edge,
    quick_enough,
    failures,
)


def all_checks(seen: Evidence) -> list[Check]:
    """Every check that has something to say of this problem; what is wrong comes first.

    Parameters
    ----------
    seen : Evidence

    Returns
    -------
    checks : list of Check
    """
    made = [check for check in (each(seen) for each in CHECKS) if check is not None]
    rank = {"bad": 0, "warning": 1, "good": 2, "not made": 3}
    return sorted(made, key=lambda check: rank[check.verdict])
