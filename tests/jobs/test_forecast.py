"""`gnomon forecast`: series from any dates, honest comparison, intervals, several series."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.analysis.series_hint import forecast_hint
from gnomon.workbench.forecast.calendar import places_of, stretches
from gnomon.workbench.forecast.competition import chosen_origins
from gnomon.workbench.forecast.options import ForecastOptions
from gnomon.workbench.forecast.series import series_of
from tests.jobs.terminal import call

pytestmark = pytest.mark.covers("job-forecast")

QUICK = ["naive", "state space"]


def months(n: int, first: str = "2015-01") -> list[str]:
    return [str(month.astype("M8[D]")) for month in np.datetime64(first) + np.arange(n)]


def sales(rng, n: int = 72) -> np.ndarray:
    """A line with a season of twelve months and noise."""
    wave = np.tile([0.0, 2, 5, 1, 0, -3, -6, -4, 0, 4, 9, 14], n // 12 + 1)[:n]
    return 100 + 0.5 * np.arange(n) + 3 * wave + rng.normal(size=n)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("runs") / "sales"
    table = {"month": months(72), "sales": sales(rng)}
    return gnomon.forecast(table, "sales", "month", horizon=6, methods=QUICK, folder=folder), folder


def test_a_season_is_found_and_used_and_the_baseline_is_beaten(found):
    result, _ = found
    assert result.period == 12
    assert result.series.calendar.name == "months"
    assert result.chosen == "state space"
    assert result.beats_baseline
    assert result.table()["month"].to_pylist()[:2] == ["2021-01-01", "2021-02-01"]
    truth = 100 + 0.5 * np.arange(72, 78) + 3 * np.array([0, 2, 5, 1, 0, -3])
    assert np.abs(result.forecasts[0] - truth).max() < 5
    assert (result.low < result.forecasts).all()
    assert (result.high > result.forecasts).all()


def test_the_run_folder_has_everything_and_the_run_repeats(found):
    result, folder = found
    names = {each.name for each in folder.iterdir()}
    assert {"run.json", "again.py", "forecast.csv", "leaderboard.csv", "report.html"} <= names
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["results"]["chosen"] == result.chosen
    assert "gnomon.forecast(" in (folder / "again.py").read_text(encoding="utf-8")
    assert {"forecast", "errors by horizon", "residuals", "decomposition"} == set(result.pictures)
    for name in result.pictures:
        assert result.plot(name).data


def test_the_held_out_window_chooses_nothing(rng):
    values = sales(rng)
    changed = values.copy()
    changed[-6:] += 1000
    options = {"horizon": 6, "methods": QUICK, "period": 12}
    first = gnomon.forecast({"t": months(72), "y": values}, "y", "t", **options)
    second = gnomon.forecast({"t": months(72), "y": changed}, "y", "t", **options)
    assert [line.mase for line in first.board] == [line.mase for line in second.board]
    assert second.held_out.mase > 10 * first.held_out.mase


def test_intervals_of_values_whose_spread_grows_with_them_stay_positive():
    rng = np.random.default_rng(4)
    t = np.arange(80)
    values = np.exp(3 + 2 * np.sin(t / 4) + 0.8 * rng.normal(size=80))
    found = gnomon.forecast(
        {"t": t.tolist(), "y": values}, "y", "t", horizon=4, methods=["naive", "drift"], period=1
    )
    assert found.relative
    assert (found.low > 0).all()
    assert (found.low < found.forecasts).all()
    np.testing.assert_allclose(
        np.log(found.high / found.forecasts), np.log(found.forecasts / found.low)
    )


def test_weights_of_a_combination_count_the_last_window_once_it_was_asked():
    rng = np.random.default_rng(2)
    walk = 50 + np.cumsum(rng.normal(size=60))
    turned = walk.copy()
    turned[-4:] = walk[-5] + 3 * np.arange(1, 5)  # a slope that only the last window has
    methods = ["naive", "drift", "autoregression", "combination"]
    found = [
        gnomon.forecast(
            {"t": list(range(60)), "y": values}, "y", "t", horizon=4, methods=methods, period=1
        )
        for values in (walk, turned)
    ]
    assert [each.chosen for each in found] == ["combination"] * 2
    assert [each.name for each in found[0].board] == [each.name for each in found[1].board]
    assert found[1].weights.get("drift", 0) > found[0].weights.get("drift", 0)
    assert sum(found[1].weights.values()) == pytest.approx(1)
    assert found[1].settled["weights"] == found[1].weights


def test_noise_is_not_said_to_be_forecast(rng):
    shown = [
        gnomon.forecast(
            {"t": list(range(60)), "y": rng.normal(size=60)},
            "y",
            "t",
            horizon=4,
            methods=["naive", "drift"],
            period=1,
        ).beats_baseline
        for _ in range(10)
    ]
    assert sum(shown) <= 4


def test_the_command_writes_a_forecast_and_repeats(tmp_path, rng):
    with open(tmp_path / "sales.csv", "w", newline="", encoding="utf-8") as file:
        rows = zip(months(60), sales(rng, 60).round(2).tolist(), strict=True)
        csv.writer(file).writerows([("month", "sales"), *rows])
    words = ["forecast", "sales.csv", "--target", "sales", "--time", "month", "--horizon", "3"]
    words += ["--method", "naive", "--method", "state space", "--name", "one"]
    done = call(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "season of 12 steps" in " ".join(done.stdout.split())
    assert "2020-03-01" in done.stdout
    assert gnomon.again("one", runs=tmp_path / "runs").same


def test_several_series_share_a_learner_and_short_ones_are_named(rng):
    n = 60
    rows = {"shop": [], "month": [], "sales": []}
    for shop, size in (("a", 1.0), ("b", 50.0), ("c", 7.0)):
        rows["shop"] += [shop] * n
        rows["month"] += months(n)
        rows["sales"] += (size * sales(rng, n)).tolist()
    rows["shop"] += ["new"] * 3
    rows["month"] += months(3)
    rows["sales"] += [1.0, 2.0, 3.0]
    result = gnomon.forecast(
        rows, "sales", "month", groups="shop", horizon=3, methods=["ridge on lags"]
    )
    assert [each.name for each in result.series.series] == ["a", "b", "c"]
    assert any("new has 3 values" in note for note in result.notes)
    assert result.forecasts.shape == (3, 3)
    assert result.table()["shop"].to_pylist() == list("aaabbbccc")
    assert set(result.pictures) >= {"forecast of a", "forecast of c"}


def test_columns_that_are_known_ahead_are_used(rng):
    n = 120
    holiday = rng.random(n) < 0.25
    values = 50 + 30.0 * holiday + rng.normal(size=n)
    days = [str(np.datetime64("2024-01-01") + i) for i in range(n)]
    target = [*values[:-4].tolist(), None, None, None, None]
    table = Table.from_dict({"day": days, "holiday": holiday.tolist(), "y": target})
    result = gnomon.forecast(
        table, "y", "day", known=["holiday"], horizon=4, period=1, methods=["ridge on lags"]
    )
    assert result.chosen == "ridge on lags"
    assert np.abs(result.forecasts[0] - (50 + 30 * holiday[-4:])).max() < 12
    with pytest.raises(DataError, match="5 are needed"):
        gnomon.forecast(table, "y", "day", known=["holiday"], horizon=5)


def test_missing_dates_are_gaps_and_irregular_dates_are_named(rng):
    days = np.datetime64("2024-01-01") + np.arange(60)
    kept = np.delete(np.arange(60), [10, 11, 30])
    options = ForecastOptions("y", "t")
    table = Table.from_dict({"t": [str(d) for d in days[kept]], "y": kept.astype(float)})
    found = series_of(table, options)
    assert found.calendar.unit == "day"
    assert np.flatnonzero(np.isnan(found.series[0].values)).tolist() == [10, 11, 30]
    assert any("3 of 60 dates" in note for note in found.notes)
    odd = np.datetime64("2024-01-01") + np.cumsum(rng.integers(1, 9, size=60))
    odd[1] = odd[0] + np.timedelta64(1, "h").astype("m8[D]") + 1
    table = Table.from_dict(
        {"t": [f"{d} 00:0{i % 7}" for i, d in enumerate(odd)], "y": kept[:1].tolist() * 60}
    )
    found = series_of(table, options)
    assert "irregular" in found.calendar.remark


def test_bad_columns_and_repeated_dates_are_refused_with_the_remedy():
    table = {"t": months(12) * 2, "y": list(range(24)), "name": ["a", "b"] * 12}
    with pytest.raises(DataError, match="--aggregate sum or mean"):
        gnomon.forecast(table, "y", "t")
    with pytest.raises(DataError, match="forecast is of numbers"):
        gnomon.forecast(table, "name", "t")
    with pytest.raises(DataError, match="must hold dates or numbers"):
        gnomon.forecast(table, "y", "name")
    with pytest.raises(gnomon.engine.errors.GnomonError, match="nothing"):
        gnomon.forecast(table, "nothing", "t")
    with pytest.raises(DataError, match="smaller --horizon"):
        gnomon.forecast({"t": months(20), "y": list(range(20))}, "y", "t", horizon=15)


def test_rows_of_a_stretch_of_time_are_joined():
    days = [str(np.datetime64("2023-01-01") + i) for i in range(365)]
    options = ForecastOptions("y", "t", every="month", aggregate="sum")
    found = series_of(Table.from_dict({"t": days, "y": [1.0] * 365}), options)
    assert found.calendar.unit == "month"
    assert found.series[0].values.tolist()[:3] == [31, 28, 31]


@pytest.mark.parametrize(
    ("dates", "unit", "places", "coming"),
    [
        (["2020-01-31", "2020-02-29", "2020-03-31"], "month", [0, 1, 2], "2020-04-30"),
        (["2020-01-15", "2020-04-15", "2020-10-15"], "quarter", [0, 1, 3], "2021-01-15"),
        (["2019-07-01", "2020-07-01", "2022-07-01"], "year", [0, 1, 3], "2023-07-01"),
        (["2024-01-01", "2024-01-08", "2024-01-15"], "week", [0, 1, 2], "2024-01-22"),
        (
            ["2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10", "2024-01-12"],
            "business day",
            [0, 1, 2, 3, 4, 6],
            "2024-01-15",
        ),
        (["2024-01-01T00", "2024-01-01T01", "2024-01-01T03"], "hour", [0, 1, 3], "2024-01-01T04"),
    ],
)
def test_dates_are_put_on_the_calendar(dates, unit, places, coming):
    calendar, found = places_of(np.array(dates, dtype="M8[us]"))
    assert (calendar.unit, found.tolist()) == (unit, places)
    assert calendar.at(np.array([places[-1] + 1]))[0] == np.datetime64(coming, "us")


def test_numbers_count_steps_and_stretches_begin_on_their_first_day():
    calendar, found = places_of(np.array([1900.0, 1910.0, 1930.0]))
    assert (calendar.step, found.tolist(), calendar.at([4])[0]) == (10, [0, 1, 3], 1940)
    day = np.array(["2024-05-16"], dtype="M8[us]")  # a Thursday
    assert str(stretches(day, "week")[0])[:10] == "2024-05-13"
    assert str(stretches(day, "quarter")[0])[:10] == "2024-04-01"


def test_origins_leave_the_last_window_alone():
    origins = chosen_origins(100, 12, ForecastOptions("y", "t", horizon=10))
    assert origins.test == 10
    assert min(origins.tried) >= 20
    assert max(origins.tried) <= 100 - 28
    assert len(origins.tried) == 10


def test_strict_ends_with_3_where_nothing_beats_the_baseline(tmp_path):
    with open(tmp_path / "flat.csv", "w", encoding="utf-8") as file:
        file.write("t,y\n" + "".join(f"{t},{t % 2 + 5}\n" for t in range(40)))
    words = ["forecast", "flat.csv", "--target", "y", "--time", "t", "--horizon", "2"]
    done = call(*words, "--period", "1", "--method", "drift", "--strict", folder=tmp_path)
    assert done.returncode == 3


def test_look_and_learn_suggest_a_forecast_of_a_series_and_of_no_other_table(tmp_path, rng):
    dates = months(60)
    values = sales(rng, 60).round(2).tolist()
    rows = "\n".join(f"{month},{value}" for month, value in zip(dates, values, strict=True))
    (tmp_path / "sales.csv").write_text(f"month,sales\n{rows}\n", encoding="utf-8")
    found = gnomon.look(tmp_path / "sales.csv", "sales")
    remedies = [each.remedy for each in found.findings if each.about == "series"]
    assert remedies == ["to forecast it: gnomon forecast FILE --target sales --time month"]
    assert forecast_hint(gnomon.read(tmp_path / "sales.csv"), source="sales.csv") == (
        "gnomon forecast sales.csv --target COLUMN --time month"
    )
    assert forecast_hint(gnomon.table.example("iris")) == ""


def test_predict_goes_on_with_the_forecast_of_a_run(found, tmp_path):
    result, folder = found
    table = {"month": months(72), "sales": result.series.series[0].values}
    same = gnomon.predict(folder, table)
    assert same.table.columns == result.table().columns
    np.testing.assert_allclose(same.table["forecast"].to_numpy(), result.forecasts.ravel())
    np.testing.assert_allclose(same.table["low"].to_numpy(), result.low.ravel())
    later = {"month": months(75), "sales": sales(np.random.default_rng(3), 75)}
    ahead = gnomon.predict(folder, later).table
    assert ahead["month"].to_pylist()[0] == "2021-04-01"
    assert np.isfinite(ahead["forecast"].to_numpy()).all()


def test_predict_of_a_forecast_says_which_column_is_missing(found):
    _, folder = found
    with pytest.raises(DataError, match="'sales'"):
        gnomon.predict(folder, {"month": months(72), "turnover": np.arange(72.0)})


def test_predict_of_a_forecast_refuses_too_few_values(found):
    _, folder = found
    with pytest.raises(DataError, match="values"):
        gnomon.predict(folder, {"month": months(12), "sales": np.arange(12.0)})
