"""The figure on the test rows, also where rows hang together.

Rows of one group are alike, and so are rows that follow each other in time: an interval from the
spread over rows would be too narrow. Every group counts as one value then, or every one of five
stretches of time. Of 95% intervals of squared errors with an autocorrelation of 0.9, five
stretches of 600 rows hold 93%, ten 91%, twenty 90%, and rows alone 46%. A mean of squares of a few
values is skewed: its interval ends where the wider one does of Student's, corrected for skewness,
and of that on the logarithmic scale. With an autocorrelation of 0.7 five stretches of 64 rows hold
95%, each of the two alone 93%.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract.estimate import (
    mean_interval,
    share_interval,
    share_like_interval,
    student_quantile,
)
from gnomon.engine.errors import DataError
from gnomon.evaluate import Estimate, Measure
from gnomon.evaluate.cross_validation_result import ROUNDED_TO_ZERO, clustered, lower_end_alone
from gnomon.evaluate.measures import Said
from gnomon.evaluate.number_measures import heavy_tail_warning, room_for_the_tail, root_of
from gnomon.table import Table
from gnomon.workbench.analysis.problem import LearningProblem

LEVEL = 0.95  # the usual level of intervals
STRETCHES = 5  # judgement: fewer give no interval, more are alike, being next to each other
MOST_PARTS = 50  # that are left out one by one where a measure is no mean of rows


def final_figure(problem: LearningProblem, test: Table, y: np.ndarray, said: Said) -> Estimate:
    """The measure of what a model says of the test rows, with an interval that fits the rows.

    Parameters
    ----------
    problem : LearningProblem
    test : Table
    y : ndarray
        The target of the test rows.
    said : Said

    Returns
    -------
    figure : Estimate
    """
    measure = problem.figure
    found = measure.figure(y, said)
    if not isinstance(found, Estimate):
        found = Estimate(float(found), np.nan, np.nan, how="no interval is known")
    owners = owners_of(problem, test)
    if owners is None:
        return found
    losses = measure.row_losses(y, said)
    if losses is not None:
        figure = over_owners(measure, losses, owners)
    else:
        figure = without_one_by_one(measure, found.value, y, said, owners)
    return figure._replace(how=f"{figure.how}; {counted_as_one(problem)}")


def owners_of(problem: LearningProblem, rows: Table) -> np.ndarray | None:
    """Which group or stretch of time every row belongs to; None where rows stand alone."""
    if problem.groups is not None:
        names = np.asarray(rows.column(problem.groups).to_pylist(), dtype=object).astype(str)
        return np.unique(names, return_inverse=True)[1]
    if problem.time is None:
        return None
    moments = rows.column(problem.time).to_numpy(zero_copy_only=False)
    before = np.searchsorted(np.sort(moments), moments)
    return before * STRETCHES // len(moments)


def counted_as_one(problem: LearningProblem) -> str:
    """What counts as one in the interval, in words; nothing where every row does."""
    if problem.groups is not None:
        return f"every {problem.groups!r} counts as one"
    if problem.time is not None:
        return f"each of {STRETCHES} stretches of {problem.time!r} counts as one"
    return ""


def over_owners(measure: Measure, losses: np.ndarray, owners: np.ndarray) -> Estimate:
    """A mean of rows with the spread over their owners."""
    infinite = np.isinf(losses)
    mean, effects = clustered(np.where(infinite, ROUNDED_TO_ZERO, losses), owners)
    figure = mean_interval(mean + effects, confidence_level=LEVEL)
    if infinite.any():
        return lower_end_alone(figure, int(infinite.sum()))
    if measure.share:
        return share_of_owners(mean, figure.error, len(effects), figure.how)
    if measure.is_of_squares:
        figure = of_squares(figure, losses, len(effects))
    return root_of(figure) if measure.root else measure.kept_within(figure)


def of_squares(figure: Estimate, squares: np.ndarray, n_owners: int) -> Estimate:
    """The interval of a mean square of owners, not narrower than that on the logarithmic scale."""
    high = figure.high * room_for_the_tail(squares, None, LEVEL)
    how = figure.how + heavy_tail_warning(squares, None)
    if not (figure.value > 0 and np.isfinite(figure.error)):
        return figure._replace(high=high, how=how)
    factor = float(np.exp(student_quantile(LEVEL, n_owners - 1) * figure.error / figure.value))
    low = min(figure.low, figure.value / factor) if figure.low > 0 else figure.value / factor
    return figure._replace(low=low, high=max(high, figure.value * factor), how=how)


def without_one_by_one(
    measure: Measure, value: float, y: np.ndarray, said: Said, owners: np.ndarray
) -> Estimate:
    """A measure that is no mean of rows, by leaving out one owner after the other (jackknife).

    Of more than fifty owners several are left out together.
    """
    codes = np.unique(owners, return_inverse=True)[1] % MOST_PARTS
    n, left = int(codes.max()) + 1, []
    try:
        for part in range(n):
            kept = codes != part
            found = measure.figure(y[kept], said.part(kept)) if kept.any() else np.nan
            left.append(found.value if isinstance(found, Estimate) else float(found))
    except DataError as why:
        return Estimate(value, -np.inf, np.inf, LEVEL, np.nan, f"without one part: {why}")
    gaps = np.array(left) - np.mean(left)
    error = float(np.sqrt((n - 1) / n * (gaps**2).sum()))
    if n < 2 or not np.isfinite(error):
        return Estimate(value, -np.inf, np.inf, LEVEL, np.nan, "one part has no spread")
    if measure.share:
        return share_of_owners(value, error, n, "jackknife")
    half = student_quantile(LEVEL, n - 1) * error
    return Estimate(value, value - half, value + half, LEVEL, error, "jackknife")


def share_of_owners(value: float, error: float, n: int, how: str) -> Estimate:
    """The interval of a share from the spread over n owners, or from n rows where there is none."""
    if error > 0 and 0 < value < 1:
        return share_like_interval(value, error, LEVEL, how, n - 1)
    found = share_interval(value * n, n, LEVEL)
    return found._replace(error=error)
