"""Numbers as reports and terminals show them, and statements of chance beside them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gnomon.evaluate.cross_validation_result import covariance_of_folds
from gnomon.workbench.base.report import Report
from gnomon.workbench.base.screen import GAP, column_widths
from gnomon.workbench.learn.checks import p_of_equal_scores
from gnomon.workbench.look.findings import chance_of_outliers


def cells(report: Report) -> list[str]:
    return re.findall(r"<td[^>]*>([^<]*)</td>", report.html())


def test_a_small_p_is_not_written_as_zero_and_a_size_not_with_powers_of_ten():
    rows = [[1e-9, 72860.3], [0.04321, 0.5], [None, 1.5e13]]
    found = cells(Report("t").section("s").table(["p", "kB"], rows))
    assert found == ["&lt;0.001", "72,860", "0.043", "0.5", "", "15,000,000,000,000"]


@pytest.mark.parametrize("terminal", [70, 80, 100, 120, 200])
def test_columns_keep_their_words_and_fit_the_terminal(terminal):
    headings = ["method", "MASE", "MASE less than baseline's", "p"]
    columns = [
        ["exponential smoothing", "drift"],
        ["0.629 (0.553 to 0.715)", "2.68 (2.29 to 3.13)"],
        ["0.43 (0.32 to 0.53)", "-1.62 (-2.04 to -1.21)"],
        ["<0.001", "0.123"],
    ]
    widths = column_widths(headings, columns, terminal)
    if widths is None:
        natural = [max(map(len, (h, *c))) for h, c in zip(headings, columns)]
        assert sum(natural) + GAP * len(natural) < terminal
        return
    assert sum(widths) + GAP * len(widths) < terminal
    assert widths[0] == len("exponential smoothing")
    assert widths[-1] >= len("<0.001")


@pytest.mark.parametrize("n", [20, 50, 90])
def test_normal_columns_have_many_outliers_in_at_most_5_of_100_tables(n, rng):
    values = rng.normal(size=(n, 400, 40))  # 400 tables of 40 columns
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    reach = 1.5 * (high - low)
    counts = ((values < low - reach) | (values > high + reach)).sum(axis=0)
    chances = np.array([chance_of_outliers(k, n) for k in range(counts.max() + 1)])
    alarms = ((chances[counts] * 40 < 0.05) & (counts > 0.05 * n)).any(axis=1)
    assert alarms.mean() < 0.09  # 5% and three standard errors


def test_that_more_rows_teach_more_is_no_covariance_of_three_folds():
    alike = [np.array([-2.0, -2.0])] * 3
    assert covariance_of_folds(alike, 3) == pytest.approx(0.0, abs=1e-12)
    assert covariance_of_folds(alike, 5) > 1.0
    together = [np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([0.5, 0.5])]
    assert covariance_of_folds(together, 3) > 0.3


def test_scores_within_their_error_bars_are_not_called_different(rng):
    errors = np.full(5, 0.02)
    p = [p_of_equal_scores(rng.normal(0.9, errors), errors) for _ in range(500)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)
    assert p_of_equal_scores(np.array([0.8, 0.9, 0.9, 0.9, 0.9]), errors) < 0.001
