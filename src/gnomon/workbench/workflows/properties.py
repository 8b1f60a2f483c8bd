"""Which family of methods has which property: the texts' table, and the same measured.

The printed table is a judgement of its authors (001 13.7, Table 10.1). `measured` asks the methods
themselves: each property is a small experiment on generated rows, and the figure is by how much the
error grows (or the time), so that everybody can repeat it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

PROPERTIES = (
    "mixed kinds of columns",
    "missing values",
    "outliers in inputs",
    "monotone transforms of inputs",
    "many rows",
    "irrelevant inputs",
    "linear combinations of inputs",
    "can be read",
    "accuracy",
)
GRADES = {"G": "good", "F": "fair", "P": "poor"}
PRINTED = {
    "neural networks": "PPPPPPGPG",
    "support vector machines": "PPPPPPGPG",
    "trees": "GGGGGGPFP",
    "MARS": "GGPPGGPGF",
    "nearest neighbours, kernels": "PGGPPPFPG",
}


@dataclass(frozen=True)
class Measured:
    """One property of one method, measured.

    Attributes
    ----------
    method, property : str
    figure : float
        For ``"many rows"`` the power of n with which the time of a fit grows; else by how much the
        root mean squared error grows, as a share of the target's standard deviation.
    grade : str
        ``"good"``, ``"fair"`` or ``"poor"``.
    """

    method: str
    property: str
    figure: float
    grade: str


def printed_properties() -> dict[str, dict[str, str]]:
    """The table of 001 13.7: family to property to grade.

    Examples
    --------
    >>> printed_properties()["trees"]["missing values"]
    'good'
    """
    return {
        family: {name: GRADES[letter] for name, letter in zip(PROPERTIES, letters, strict=True)}
        for family, letters in PRINTED.items()
    }


def measured_properties(
    learners: dict[str, Any], *, n_rows: int = 1000, random_state: int = 0
) -> list[Measured]:
    """Measure the properties of regressors by small experiments.

    Parameters
    ----------
    learners : dict of str to regressor
    n_rows : int, default=1000
        Training rows of an experiment; as many are tested on.
    random_state : int, default=0

    Returns
    -------
    found : list of Measured
        Of each method each property but "can be read", which no experiment tells, and "mixed kinds
        of columns", which all methods here take by the filters that they are given.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(random_state=0)
    >>> found = measured_properties({"tree": tree}, n_rows=300)
    >>> next(each.grade for each in found if each.property == "monotone transforms of inputs")
    'good'
    """
    found = []
    for method, learner in learners.items():
        for name, experiment in EXPERIMENTS.items():
            figure = experiment(learner, n_rows, np.random.default_rng(random_state))
            good, fair = BORDERS.get(name, (0.05, 0.25))
            grade = "good" if figure <= good else "fair" if figure <= fair else "poor"
            found.append(Measured(method, name, figure, grade))
    return found


def surface(rows: np.ndarray) -> np.ndarray:
    """A smooth target with an interaction, of five columns."""
    a, b, c, d, e = rows[:, :5].T
    return np.sin(2 * a) + b * c + 0.5 * d**2 + e


def error(
    learner: Any, rows: np.ndarray, y: np.ndarray, tests: np.ndarray, truth: np.ndarray
) -> float:
    """Root mean squared error on tests, as a share of the truth's standard deviation."""
    said = clone(learner).fit(rows, y).predict(tests)
    return float(np.sqrt(np.mean((said - truth) ** 2)) / truth.std())


def draw(n: int, rng: np.random.Generator, columns: int = 5) -> tuple[np.ndarray, ...]:
    rows, tests = rng.normal(size=(2, n, columns))
    return rows, surface(rows) + 0.1 * rng.normal(size=n), tests, surface(tests)


def with_missing(learner: Any, n: int, rng: np.random.Generator) -> float:
    """A tenth of the training cells is lost."""
    from gnomon.table import Table

    rows, y, tests, truth = draw(n, rng)
    holes = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    names = [f"x{k}" for k in range(rows.shape[1])]
    given = Table.from_dict(dict(zip(names, holes.T, strict=True)))
    asked = Table.from_dict(dict(zip(names, tests.T, strict=True)))
    said = clone(learner).fit(given, y).predict(asked)
    spoilt = float(np.sqrt(np.mean((said - truth) ** 2)) / truth.std())
    return spoilt - error(learner, rows, y, tests, truth)


def with_outliers(learner: Any, n: int, rng: np.random.Generator) -> float:
    """One training cell in fifty is a thousand times too large."""
    rows, y, tests, truth = draw(n, rng)
    spoilt = np.where(rng.random(rows.shape) < 0.02, 1000 * rows, rows)
    return error(learner, spoilt, y, tests, truth) - error(learner, rows, y, tests, truth)


def transformed(learner: Any, n: int, rng: np.random.Generator) -> float:
    """All inputs become their exponentials, which keeps their order."""
    rows, y, tests, truth = draw(n, rng)
    plain = error(learner, rows, y, tests, truth)
    return error(learner, np.exp(2 * rows), y, np.exp(2 * tests), truth) - plain


def growth(learner: Any, n: int, rng: np.random.Generator) -> float:
    """The power of n with which the time grows from n to sixteen times n."""
    seconds = []
    for size in (n, 16 * n):
        rows, y, *_ = draw(size, rng)
        clone(learner).fit(rows, y)
        begin = time.perf_counter()
        clone(learner).fit(rows, y)
        seconds.append(time.perf_counter() - begin)
    return float(np.log(seconds[1] / seconds[0]) / np.log(16))


def with_noise_columns(learner: Any, n: int, rng: np.random.Generator) -> float:
    """Fifty columns that have nothing to do with the target."""
    rows, y, tests, truth = draw(n, rng, columns=55)
    plain = error(learner, rows[:, :5], y, tests[:, :5], truth)
    return error(learner, rows, y, tests, truth) - plain


def linear_target(learner: Any, n: int, rng: np.random.Generator) -> float:
    """The error on a weighted sum of ten columns, which a linear model finds exactly."""
    weights = rng.normal(size=10)
    rows, tests = rng.normal(size=(2, n, 10))
    return error(learner, rows, rows @ weights, tests, tests @ weights)


def accuracy(learner: Any, n: int, rng: np.random.Generator) -> float:
    """The error on the smooth target itself."""
    return error(learner, *draw(n, rng))


EXPERIMENTS: dict[str, Callable[[Any, int, np.random.Generator], float]] = {
    "missing values": with_missing,
    "outliers in inputs": with_outliers,
    "monotone transforms of inputs": transformed,
    "many rows": growth,
    "irrelevant inputs": with_noise_columns,
    "linear combinations of inputs": linear_target,
    "accuracy": accuracy,
}
# Up to which figure a property is good, and fair.
BORDERS = {
    "many rows": (1.2, 1.7),
    "accuracy": (0.35, 0.6),
    "linear combinations of inputs": (0.1, 0.4),
}
