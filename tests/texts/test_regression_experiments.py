"""The experiments of 000, chapters 10 and 11, on the data that they name."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from gnomon.linear import (
    ElasticNet,
    Lasso,
    LinearRegression,
    Ridge,
    RobustRegression,
    box_cox,
    huber_scale,
    influence,
    mad_scale,
    remove_outliers,
)
from tests.texts.test_linear import AMOUNT, HOURS

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="shared data are not beside the project")

# Columns of bodyfat.xls; the file has two more.
GIRTHS = ["neck", "chest", "abdom", "hip", "thigh", "knee", "ankle", "biceps", "forearm", "wrist"]
MEASURES = ["siri", "density", "age", "height", "adipos", *GIRTHS]
# Rows of the body fat table that the text removes by hand, counted from one.
FOUR, SIX = [36, 39, 41, 42], [36, 39, 41, 42, 192, 216]


def columns_of(name: str, *columns: str, where=None) -> np.ndarray:
    with (DATA / f"{name}.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if where is None or where(row)]
    return np.array([[float(row[column]) for column in columns] for row in rows])


def weight_on(*columns: str, without=()) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the body fat table and the weights of the men, some rows left out."""
    table = np.delete(columns_of("bodyfat", *columns, "weight"), np.array(without, int) - 1, axis=0)
    return table[:, :-1], table[:, -1]


def r_squared(X, y) -> float:
    return LinearRegression().fit(X, y).score(X, y)


@pytest.mark.covers("cooks-distance", "leverage-hat-matrix", "standardized-residuals")
def test_influence_of_the_hormone_devices():
    found = influence(HOURS, AMOUNT)
    assert found.leverage.argmax() == 11
    assert found.leverage.max() == pytest.approx(0.234960, abs=1e-6)
    assert found.cooks.argmax() == 9
    assert found.cooks.max() == pytest.approx(0.396929, abs=1e-6)
    standardized = np.abs(found.standardized)
    assert standardized.argmax() == 1
    assert standardized.max() == pytest.approx(2.198610, abs=1e-6)


def test_scales_and_power_of_the_hormone_devices():
    residuals = AMOUNT - LinearRegression().fit(HOURS, AMOUNT).predict(HOURS)
    assert mad_scale(residuals) == pytest.approx(2.912356, abs=1e-5)
    assert huber_scale(residuals) == pytest.approx(2.497085, abs=1e-6)
    assert box_cox(HOURS, AMOUNT).power == pytest.approx(0.580457, abs=1e-5)


@needs_data
def test_how_well_a_line_fits_four_tables():
    perch = columns_of(
        "fishcatch", "length3_cm", "weight_g", where=lambda row: row["species"] == "perch"
    )
    assert r_squared(perch[:, :1], perch[:, 1]) == pytest.approx(0.9207, abs=1e-4)
    flies = columns_of("fruitfly", "thorax_mm", "longevity_days")
    assert r_squared(flies[:, :1], flies[:, 1]) == pytest.approx(0.405, abs=1e-3)
    people = columns_of("body_temperature", "temp", "heart_rate")
    assert r_squared(people[:, :1], people[:, 1]) == pytest.approx(0.0643, abs=1e-4)


@needs_data
@pytest.mark.covers("cooks-distance", "leverage-hat-matrix")
def test_man_42_of_the_body_fat_table_moves_the_line_and_man_39_is_far_off_it():
    X, y = weight_on("height")
    found = influence(X, y)
    assert found.cooks.argmax() == 41
    assert found.cooks[41] == pytest.approx(19.9, abs=0.1)
    assert found.leverage[41] == pytest.approx(0.495, abs=1e-3)
    assert found.standardized[[38, 41]] == pytest.approx([6.43, 6.38], abs=0.01)
    line = LinearRegression().fit(X, y)
    assert [line.intercept_, line.coef_[0]] == pytest.approx([5.41, 2.473], abs=5e-3)
    assert line.score(X, y) == pytest.approx(0.095, abs=1e-3)


@needs_data
def test_without_outliers_height_tells_three_times_as_much_of_the_weight():
    X, y = weight_on("height", without=[39, 42])
    assert r_squared(X, y) == pytest.approx(0.263, abs=1e-3)
    assert r_squared(*weight_on("height", without=FOUR)) == pytest.approx(0.292, abs=1e-3)
    line = LinearRegression().fit(*weight_on("height", without=FOUR))
    assert [line.intercept_, line.coef_[0]] == pytest.approx([-210.6, 5.520], rel=1e-3)


@needs_data
@pytest.mark.covers("cooks-distance")
def test_on_all_measures_the_men_whom_the_text_removes_first_stand_out():
    X, y = weight_on(*MEASURES)
    found = influence(X, y)
    assert (np.argsort(-found.cooks)[:3] + 1).tolist() == [42, 39, 36]
    assert found.cooks[41] > 50 > 1 > found.cooks[38]
    assert found.leverage.argmax() == 41
    assert r_squared(*weight_on(*MEASURES, without=FOUR)) > 0.99


@needs_data
@pytest.mark.covers("box-cox-regression")
def test_the_power_of_the_weight_on_all_measures_is_about_one_half():
    assert 0.35 < box_cox(*weight_on(*MEASURES, without=SIX)).power < 0.55


@needs_data
@pytest.mark.covers("m-estimator-regression")
def test_a_robust_line_lies_between_that_of_all_men_and_that_without_outliers():
    X, y = weight_on("height")
    model = RobustRegression("huber", threshold=1.345, scale="mad").fit(X, y)
    assert [model.intercept_, model.coef_[0]] == pytest.approx([-153.2, 4.697], rel=0.02)
    assert 2.473 < model.coef_[0] < 5.520


@needs_data
@pytest.mark.covers("lasso")
def test_example_11_3_keeps_seven_of_fifteen_measures_and_not_the_one_of_the_largest_coefficient():
    X, y = weight_on(*MEASURES, without=SIX)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = Lasso(alpha=np.exp(1.3)).fit(scaled, y)
    assert np.count_nonzero(model.coef_) == 7
    largest = np.abs(LinearRegression().fit(X, y).coef_).argmax()
    assert model.coef_[largest] == 0


@needs_data
@pytest.mark.covers("lasso", "elastic-net", "ridge-regression")
def test_ridge_is_as_good_as_the_lasso_on_gasoline_once_its_penalties_reach_far_enough():
    """000 11.4.2 finds ridge far worse: the penalties of its software ended too early."""
    table = np.genfromtxt(DATA / "gasoline_nir.csv", delimiter=",", skip_header=1)
    y, X = table[:, 0], table[:, 1:]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = np.arange(60)
    folds = [np.flatnonzero(rows % 10 == k) for k in range(10)]

    def error(learner) -> float:
        squares = []
        for fold in folds:
            rest = np.setdiff1d(rows, fold)
            predicted = learner.fit(scaled[rest], y[rest]).predict(scaled[fold])
            squares.append((predicted - y[fold]) ** 2)
        return float(np.concatenate(squares).mean())

    ridge = min(error(Ridge(alpha=54 * np.exp(power))) for power in (-3, -2, -1, 0))
    too_strong = error(Ridge(alpha=54 * np.exp(2.6)))
    lasso = min(error(Lasso(alpha=10.0**power)) for power in (-2.5, -2.0, -1.5))
    between = min(error(ElasticNet(alpha=10.0**power)) for power in (-2.5, -2.0, -1.5))
    assert max(ridge, lasso, between) < 0.08
    assert ridge < 1.5 * lasso
    assert too_strong > 4 * ridge


@needs_data
def test_body_mass_from_diameters_is_straighter_in_its_cube_root():
    """000 exercise 10.10, on the measures of 507 people."""
    names = ["bia_di", "bii_di", "bit_di", "che_de", "che_di", "elb_di", "wri_di", "kne_di"]
    table = columns_of("body_measurements", *names, "wgt")
    X, mass = table[:, :-1], table[:, -1]
    profile = box_cox(X, mass)
    assert profile.low < 1 / 3 < profile.high
    assert r_squared(X, np.cbrt(mass)) > r_squared(X, mass) > 0.85


@needs_data
@pytest.mark.covers("outlier-removal-loop")
def test_the_loop_removes_men_39_and_42_first_and_records_it():
    record = remove_outliers(*weight_on("height"))
    assert {row + 1 for row in record.removed[:2]} == {39, 42}
