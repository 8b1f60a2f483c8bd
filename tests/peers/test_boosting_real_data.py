"""Default gradient boosting against LightGBM's default on real tables: no worse, beyond noise."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import pytest

from gnomon.evaluate import adjusted_p_values, corrected_t_test, k_fold
from gnomon.table import read
from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor

DATA = Path(__file__).parents[2] / "../shared/data"
N_FOLDS = 10
NUMBERS = ("number", "integer")
LEFT_OUT = ("identifier", "text", "datetime")


class Problem(NamedTuple):
    file: str
    target: str
    without: tuple[str, ...] = ()


CLASSES = [
    Problem("iris.csv", "Species"),
    Problem("wine.csv", "class"),
    Problem("breast_tissue.csv", "class"),
    Problem("adult.csv.gz", "income", ("split",)),
    Problem("heart_cleveland.csv", "num"),
    Problem("pima_diabetes.csv", "diabetes"),
    Problem("wdbc.csv", "diagnosis"),
    Problem("mushroom.csv", "class"),
    Problem("car_evaluation.csv", "class"),
    Problem("credit_default.csv.gz", "default"),
    Problem("spam.csv", "class", ("esl_test",)),
    Problem("house_votes_84.csv", "Class"),
    Problem("colon_tumour.csv", "class"),
    Problem("german_credit.csv", "class"),
    Problem("sonar.csv", "class"),
    Problem("ionosphere.csv", "class"),
    Problem("glass.csv", "type"),
    Problem("weather_nominal.csv", "play"),
    Problem("weather_numeric.csv", "play"),
    Problem("contact_lenses.csv", "contact-lenses"),
    Problem("seeds.csv", "variety"),
]
VALUES = [
    Problem("bodyfat.csv", "siri", ("brozek", "density", "free")),
    Problem("student_portuguese.csv", "G3"),
    Problem("liver_disorders.csv", "drinks", ("selector",)),
    Problem("fishcatch.csv", "weight_g"),
    Problem("crickets.csv", "temperature_F"),
    Problem("fruitfly.csv", "longevity_days"),
    Problem("body_temperature.csv", "heart_rate"),
    Problem("shakespeare_word_frequencies.csv", "number_of_words"),
    Problem("hormone_devices.csv", "amount"),
    Problem("gasoline_nir.csv", "octane"),
    Problem("boston_housing.csv", "medv"),
    Problem("abalone.csv", "rings"),
    Problem("automobile.csv", "price"),
    Problem("concrete.csv", "strength"),
    Problem("insurance_charges.csv", "charges"),
    Problem("california_housing.csv.gz", "medianHouseValue"),
    Problem("ames_housing.csv", "SalePrice"),
    Problem("cheese_tasting.csv", "taste"),
    Problem("stackloss.csv", "stack.loss"),
    Problem("longley.csv", "Employed"),
    Problem("mammals.csv", "brain"),
    Problem("animals.csv", "brain"),
    Problem("steam_pressure.csv", "Press"),
    Problem("steam_use.csv", "Steam"),
    Problem("body_measurements.csv", "wgt"),
]


def columns_of(problem: Problem) -> tuple[pd.DataFrame, np.ndarray]:
    """The same columns for both: numbers as floats, all else as categories."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read(DATA / problem.file)
    kept = {}
    for name in table.columns:
        kind = str(table.schema[name].kind)
        if name in (problem.target, *problem.without) or kind in LEFT_OUT:
            continue
        cells = table.column(name).to_pylist()
        kept[f"column{len(kept)}"] = (
            np.array([np.nan if cell is None else float(cell) for cell in cells])
            if kind in NUMBERS
            else pd.Categorical([None if cell is None else str(cell) for cell in cells])
        )
    target = np.array(table.column(problem.target).to_pylist())
    known = np.array([cell is not None for cell in target.tolist()])
    return pd.DataFrame(kept)[known].reset_index(drop=True), target[known]


def errors(problem: Problem, classes: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Error of both on the same folds: shares of wrong classes, or mean squared errors."""
    rows, y = columns_of(problem)
    if classes:
        ours, theirs = (
            HistGradientBoostingClassifier(n_jobs=1),
            lightgbm.LGBMClassifier(verbose=-1, n_jobs=1),
        )
        y = y.astype(str)
    else:
        ours, theirs = (
            HistGradientBoostingRegressor(n_jobs=1),
            lightgbm.LGBMRegressor(verbose=-1, n_jobs=1),
        )
        y = y.astype(float)
    n_repeats = 3 if len(y) < 2000 else 1
    rare = classes and np.unique(y, return_counts=True)[1].min() < N_FOLDS
    splits = k_fold(
        len(y), N_FOLDS, n_repeats, stratify=y if classes and not rare else None, random_state=seed
    )
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in splits:
            said = [
                model.fit(rows.iloc[train], y[train]).predict(rows.iloc[test])
                for model in (ours, theirs)
            ]
            found.append([np.mean(s != y[test] if classes else (s - y[test]) ** 2) for s in said])
    first, second = np.array(found).T
    return first, second


def p_of_worse(ours: np.ndarray, theirs: np.ndarray) -> float:
    """One-sided p of the corrected resampled t test that our error is not greater."""
    if np.allclose(ours, theirs, rtol=1e-12):
        return 1.0
    test = corrected_t_test(ours, theirs, 1 / (N_FOLDS - 1))
    return test.p / 2 if ours.mean() > theirs.mean() else 1 - test.p / 2


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not beside the project")
@pytest.mark.parametrize(("problems", "classes"), [(CLASSES, True), (VALUES, False)])
def test_the_default_is_nowhere_worse_than_that_of_lightgbm_beyond_noise(problems, classes, seed):
    p = []
    for problem in problems:
        ours, theirs = errors(problem, classes, seed)
        p.append(p_of_worse(ours, theirs))
        print(f"{problem.file:36} {ours.mean():14.6g} {theirs.mean():14.6g} {p[-1]:.4f}")
    assert adjusted_p_values(p, "holm").min() > 0.05
