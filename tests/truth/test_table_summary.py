"""Summaries against their definitions, written out by brute force, and against peers."""

import io
import math

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Table, describe, entropy, example, five_numbers


def quantile(sorted_values, share):
    """Linear interpolation between order statistics, from its definition."""
    place = share * (len(sorted_values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (place - low) * (sorted_values[high] - sorted_values[low])


@pytest.mark.covers("iqr-outlier-rule")
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 30, 31, 32, 33, 200])
def test_five_numbers_and_outliers_by_brute_force(rng, n):
    values = rng.standard_t(2, size=n)
    found = five_numbers(values)
    ordered = sorted(values.tolist())
    q1, q2, q3 = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    assert (found.minimum, found.maximum) == (ordered[0], ordered[-1])
    np.testing.assert_allclose(
        [found.lower_quartile, found.median, found.upper_quartile, found.iqr],
        [q1, q2, q3, q3 - q1],
        rtol=1e-12,
        atol=1e-12,
    )
    inside = [v for v in ordered if q1 - 1.5 * (q3 - q1) <= v <= q3 + 1.5 * (q3 - q1)]
    assert (found.low, found.high) == (inside[0], inside[-1])
    assert found.outliers.tolist() == [v for v in ordered if v not in inside]
    np.testing.assert_array_equal(found.is_outlier(values), ~np.isin(values, inside))


@pytest.mark.covers("iqr-outlier-rule")
def test_whiskers_by_each_rule(rng):
    values = rng.normal(size=101)
    ordered = sorted(values.tolist())
    by_range = five_numbers(values, whiskers="range")
    assert (by_range.low, by_range.high, len(by_range.outliers)) == (ordered[0], ordered[-1], 0)
    by_percentile = five_numbers(values, whiskers="percentile")
    np.testing.assert_allclose(by_percentile.low, ordered[9])
    np.testing.assert_allclose(by_percentile.high, ordered[91])
    assert len(by_percentile.outliers) == 18
    by_sd = five_numbers(values, whiskers="sd")
    mean = math.fsum(ordered) / 101
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in ordered) / 100)
    np.testing.assert_allclose([by_sd.low, by_sd.high], [mean - sd, mean + sd], rtol=1e-9)
    with pytest.raises(DataError, match="whiskers='three' is not known"):
        five_numbers(values, whiskers="three")


@pytest.mark.covers("iqr-outlier-rule")
def test_the_rule_of_1_5_iqr_keeps_99_3_percent_of_a_normal_distribution():
    """004, appendix of chapter 5: about 2.7 standard deviations; exact, on a grid of quantiles."""
    from scipy.stats import norm

    grid = norm.ppf((np.arange(200_001) + 0.5) / 200_001)
    found = five_numbers(grid)
    np.testing.assert_allclose(found.high, 2.698, atol=2e-3)
    np.testing.assert_allclose(1 - len(found.outliers) / found.n, 0.9930, atol=1e-4)


@pytest.mark.covers("iqr-outlier-rule")
def test_missing_values_are_counted_and_no_values_refused():
    found = five_numbers([1.0, None, 3.0, float("nan")])
    assert (found.n, found.n_missing, found.median) == (2, 2, 2.0)
    assert not found.is_outlier([math.nan]).any()
    with pytest.raises(DataError, match="all are missing"):
        five_numbers([None, math.nan])
    assert "outside" in repr(found)


@pytest.mark.covers("iqr-outlier-rule")
def test_a_constant_sample_has_no_outliers():
    found = five_numbers([7.0] * 9)
    assert (found.low, found.high, found.iqr, len(found.outliers)) == (7.0, 7.0, 0.0, 0)


@pytest.mark.covers("column-summary")
def test_statistics_of_numbers_agree_with_pandas(rng):
    import pandas as pd

    values = rng.lognormal(size=137)
    values[rng.random(137) < 0.1] = np.nan
    found = describe({"x": values})["x"]
    peer = pd.Series(values).describe()
    np.testing.assert_allclose(
        [found.mean, found.sd, found.minimum, found.lower_quartile, found.median],
        peer[["mean", "std", "min", "25%", "50%"]],
    )
    np.testing.assert_allclose(
        [found.upper_quartile, found.maximum, found.iqr],
        [peer["75%"], peer["max"], peer["75%"] - peer["25%"]],
    )
    assert found.rows - found.missing == peer["count"]
    assert found.outliers == len(five_numbers(values).outliers)


@pytest.mark.covers("column-summary")
def test_statistics_of_every_kind():
    table = Table.from_dict(
        {
            "n": [1, 2, 2, None],
            "c": ["a", "b", "b", None],
            "t": ["yes", "no", "yes", "yes"],
            "d": ["2024-01-01", "2024-03-01", "2024-02-01", ""],
            "key": ["k1", "k2", "k3", "k4"],
        },
        parse=True,
    ).set("key", kind="identifier")
    found = table.describe()
    assert (found["n"].missing, found["n"].distinct, found["n"].most_common) == (1, 2, "2")
    assert (found["c"].most_common, found["c"].most_common_count) == ("b", 2)
    np.testing.assert_allclose(
        found["c"].entropy, -(1 / 3 * math.log2(1 / 3) + 2 / 3 * math.log2(2 / 3))
    )
    assert found["t"].most_common == "yes"
    np.testing.assert_allclose(found["t"].entropy, 2 - 0.75 * math.log2(3))
    assert (found["d"].minimum, found["d"].maximum) == ("2024-01-01", "2024-03-01")
    assert found["key"].most_common is None
    assert found["n"].entropy is None


@pytest.mark.covers("column-summary")
@pytest.mark.parametrize("k", [1, 2, 8])
def test_entropy_of_equal_shares_is_the_logarithm_of_their_number(k):
    assert entropy([str(level) for level in range(k)] * 5) == math.log2(k)


def test_entropy_of_nothing_is_not_a_number():
    assert math.isnan(entropy([None]))


@pytest.mark.parametrize("values", [[1e308, -1e308, 1e308], [np.inf, 1.0, 2.0], [5e-324, 0.0]])
def test_extreme_numbers_are_summarized_without_overflow(values):
    found = describe({"x": np.array(values)})["x"]
    assert found.maximum == max(values)
    assert math.isfinite(found.mean)
    assert found.sd is None or math.isfinite(found.sd)


def test_a_column_without_values_is_summarized():
    found = describe(Table.from_dict({"x": [None, None], "y": [1.0, None]}))
    assert (found["x"].missing, found["x"].mean, found["x"].most_common) == (2, None, None)
    assert (found["y"].mean, found["y"].sd) == (1.0, None)


@pytest.mark.covers("column-summary")
def test_a_summary_prints_itself_and_becomes_a_table():
    from rich.console import Console

    found = example("customers").describe()
    assert len(found) == 12
    table = found.to_table()
    assert table["name"].to_pylist() == list(example("customers").columns)
    assert table.schema["kind"].kind == "category"
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(found)
    shown = console.export_text()
    for part in ("monthly_charge", "integer", "outliers", "bits"):
        assert part in shown
        assert part in repr(found)
        assert part in found._repr_html_()
    with pytest.raises(KeyError, match="Did you mean 'churn'"):
        found["chrun"]


def test_a_summary_escapes_markup():
    found = describe({"[bold]<b>": ["<i>", "<i>"]})
    assert "<b>" not in found._repr_html_()
    from rich.console import Console

    console = Console(width=100, record=True, file=io.StringIO())
    console.print(found)
    assert "[bold]<b>" in console.export_text()
