"""What `learn` says of tables in which nothing is wrong, and in which nothing is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from gnomon.evaluate import MEASURES, k_fold, leaderboard
from gnomon.evaluate.measures import Said
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import group_scores
from gnomon.workbench.learn.checks import calibrated, worst_group
from gnomon.workbench.learn.evidence import Check
from gnomon.workbench.learn.final_figure import owners_of
from gnomon.workbench.learn.job import learn
from gnomon.workbench.learn.lead import LEVEL, p_of_difference
from gnomon.workbench.learn.plan import Stretches, usual_repeats
from gnomon.workbench.learn.result import LearnResult
from gnomon.workbench.learn.unlabeled import compared
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import INDEPENDENT, LAWS, PER_GROUP, as_dict, columns

ROWS = 320
NEW_ROWS = 20_000
QUICK = {"budget": None, "curve": False, "folds": 5, "repeats": 1, "search": False}
CALLED = ("bad", "warning")
TESTS = (
    "folds agree",
    "drift",
    "test agrees with folds",
    "same target",
    "leak",
    "exact relation",
    "rows of one key",
    "nearly perfect",
)


def question(law: str, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Further columns of a table, and options of the job, by which it is told of a law."""
    if law == "grouped":
        return {"person": [f"p{i // PER_GROUP}" for i in range(n)]}, {"groups": "person"}
    if law == "autocorrelated":
        days = np.datetime64("2020-01-01") + np.arange(n)
        return {"day": days.astype(str)}, {"time": "day"}
    return {}, {}


def checked(found: LearnResult, names: tuple[str, ...]) -> Outcome:
    """Whether each check warns; None where it was not made."""
    verdicts = {each.name: each.verdict for each in found.checks}
    return {
        name: None if verdicts[name] == "not made" else verdicts[name] in CALLED
        for name in names
        if name in verdicts
    }


def holds(figure: Any, truth: float) -> bool:
    """Whether an interval holds the truth.

    Intervals that say of themselves that they are likely too short count too: of squares with heavy
    tails the others hold even less often, as the largest errors are not among their rows.
    """
    return bool(figure.low <= truth <= figure.high)


def noise(law: str, rng: np.random.Generator, n: int) -> np.ndarray:
    return LAWS[law](rng, n)


@simulation(
    "learn",
    "test score",
    "score of folds",
    "importance of a column",
    "useful columns",
    *TESTS,
    quick=1,
)
def numbers(law: str, rng: np.random.Generator) -> Outcome:
    """y = x0 + noise of a law, in a table of four columns; two of them say nothing."""
    X, (others, options) = columns("normal", rng, ROWS, 3), question(law, ROWS)
    y = X[:, 0] + noise(law, rng, ROWS)
    level = np.array(["a", "b"])[rng.integers(2, size=ROWS)]
    table = as_dict(X, level=level, y=y, **others)
    found = learn(table, "y", learners=["ridge"], **options, **QUICK)
    return checked(found, TESTS) | scores(found, law, rng) | importances(found, law, rng)


def scores(found: LearnResult, law: str, rng: np.random.Generator) -> Outcome:
    """Intervals of the rmse on test rows and on folds, beside the error on many new rows."""
    X = rng.normal(size=(NEW_ROWS, 3))
    level = np.array(["a", "b"])[rng.integers(2, size=NEW_ROWS)]
    y = X[:, 0] + noise(law, rng, NEW_ROWS)
    expected = found.model.predict(as_inputs(found, X, level))
    truth = float(np.sqrt(np.mean((y - expected) ** 2)))
    return {
        "test score": holds(found.test, truth),
        "score of folds": holds(found.board[found.chosen].figure(), truth),
    }


def as_inputs(found: LearnResult, X: np.ndarray, level: np.ndarray) -> Any:
    """New rows as the model takes them; the time is that of the last training row."""
    others: dict[str, Any] = {"level": level}
    names = [str(each) for each in found.model.feature_names_in_]
    if "day" in names:
        others["day"] = np.full(len(X), found.test_table.to_dict()["day"][0])
    return Table.from_dict(as_dict(X, **others)).select(names)


def importances(found: LearnResult, law: str, rng: np.random.Generator) -> Outcome:
    """Coverage of the importance of columns, and the share of noise columns called useful."""
    shown = found.importance
    if found.chosen == "baseline":
        return {"importance of a column": None, "useful columns": None}
    X = rng.normal(size=(NEW_ROWS, 3))
    level = np.array(["a", "b"])[rng.integers(2, size=NEW_ROWS)]
    y = X[:, 0] + noise(law, rng, NEW_ROWS)

    def error(values: np.ndarray, levels: np.ndarray) -> float:
        predicted = found.model.predict(as_inputs(found, values, levels))
        return float(np.sqrt(np.mean((y - predicted) ** 2)))

    base, truth = error(X, level), {}
    for j in range(3):
        mixed = X.copy()
        mixed[:, j] = rng.permutation(mixed[:, j])
        truth[f"x{j}"] = error(mixed, level) - base
    truth["level"] = error(X, rng.permutation(level)) - base
    covered = [holds(shown.interval(name), truth[name]) for name in shown.names if name in truth]
    noisy = [name for name in truth if name != "x0"]
    useful = set(noisy) - set(shown.useless())
    return {
        "importance of a column": float(np.mean(covered)),
        "useful columns": len(useful) / len(noisy),
    }


@simulation("learn", "better than the baseline", quick=1, quick_laws=2)
def nothing_to_learn(law: str, rng: np.random.Generator) -> Outcome:
    """A target that no column says anything of."""
    X, (others, options) = columns(law, rng, ROWS, 3), question(law, ROWS)
    y = noise(law, rng, ROWS)
    found = learn(as_dict(X, y=y, **others), "y", learners=["ridge"], **options, **QUICK)
    return {"better than the baseline": any(each.is_real for each in found.leads.values())}


@simulation("learn", "difference of learners", quick=1)
def equal_learners(law: str, rng: np.random.Generator) -> Outcome:
    """Two single neighbours, each with a column of its own that is as good as the other's.

    The splits are those that `learn` takes by default for so many rows, groups or times. With
    groups or times the learners are lines: of single neighbours the job says that it cannot tell.
    """
    n = 120
    y = noise(law, rng, n)
    owners = np.arange(n) // PER_GROUP if law == "grouped" else None
    if law == "autocorrelated":
        splits = Stretches.of(np.arange(n), 5)
    else:
        seed = int(rng.integers(2**31))
        splits = k_fold(n, 5, usual_repeats(n), groups=owners, random_state=seed)
    learner = KNeighborsRegressor(1) if law in INDEPENDENT else LinearRegression()
    pair = {f"of x{j}": OfOneColumn(learner, j) for j in range(2)}
    X = np.column_stack([y + LAWS[law](rng, n) for _ in range(2)])
    found = leaderboard(pair, X, y, cv=splits, measures="rmse", baseline=False)
    return {"difference of learners": p_of_difference(*found.results) < LEVEL}


class OfOneColumn(RegressorMixin, BaseEstimator):
    """A learner that sees one column."""

    def __init__(self, learner=None, column: int = 0):
        self.learner = learner
        self.column = column

    def fit(self, X, y):
        self.model_ = clone(self.learner).fit(np.asarray(X)[:, [self.column]], y)
        return self

    def predict(self, X):
        return self.model_.predict(np.asarray(X)[:, [self.column]])


@simulation("learn", "better than the baseline", *TESTS, quick=1, quick_laws=2)
def classes(law: str, rng: np.random.Generator) -> Outcome:
    """Two classes, columns that say nothing of them."""
    X, (others, options) = columns(law, rng, ROWS, 3), question(law, ROWS)
    y = np.where(noise(law, rng, ROWS) > 0.3, "yes", "no")
    found = learn(
        as_dict(X, y=y, **others), "y", learners=["logistic regression"], **options, **QUICK
    )
    return checked(found, TESTS) | {
        "better than the baseline": any(each.is_real for each in found.leads.values())
    }


@simulation("learn", "gain of rows without a target", quick=1, quick_laws=2)
def unlabeled_rows(law: str, rng: np.random.Generator) -> Outcome:
    """Classes that no column says anything of: rows without a target cannot help.

    With groups or times the job does not use such rows, and says so.
    """
    if law not in INDEPENDENT:
        return {"gain of rows without a target": None}
    X, y = columns(law, rng, 180, 3), np.where(noise(law, rng, 100) > 0, "yes", "no")
    rows, rest = (Table.from_dict(as_dict(part)) for part in (X[:100], X[100:]))
    uses = compared(DecisionTreeClassifier(max_depth=3), rows, y, rest, int(rng.integers(2**31)))
    return {"gain of rows without a target": any(each.helps for each in uses)}


TEST_ROWS = 200


def evidence(law: str, rng: np.random.Generator, problem: dict[str, Any], **others: Any) -> Any:
    """What the two checks below look at: test rows with the groups or the time of a law.

    A column of three levels is drawn row by row, one of two levels person by person.
    """
    more, options = question(law, TEST_ROWS)
    level = np.array(["a", "b", "c"])[rng.integers(3, size=TEST_ROWS)]
    team = np.repeat(np.array(["d", "e"])[rng.integers(2, size=TEST_ROWS // PER_GROUP)], PER_GROUP)
    test = Table.from_dict(as_dict(np.zeros((TEST_ROWS, 1)), level=level, team=team, **more))
    told = SimpleNamespace(**{"groups": None, "time": None} | options, **problem)
    return SimpleNamespace(problem=told, test=test, **others)


@simulation("learn", "calibration", quick=20)
def right_probabilities(law: str, rng: np.random.Generator) -> Outcome:
    """Classes drawn by the probabilities that are said; what decides them follows the law."""
    proba = expit(1.5 * LAWS[law](rng, TEST_ROWS))
    drawn = rng.random(TEST_ROWS) if law in INDEPENDENT else norm.cdf(LAWS[law](rng, TEST_ROWS))
    said = Said(proba > 0.5, np.column_stack([1 - proba, proba]), proba, np.array([False, True]))
    seen = evidence(law, rng, {"task": "classify"}, said=said, y_test=drawn < proba)
    return called(calibrated(seen))


@simulation("learn", "worst group", quick=20)
def equal_groups(law: str, rng: np.random.Generator) -> Outcome:
    """Errors of a law that are as great in every level of both columns."""
    y = LAWS[law](rng, TEST_ROWS)
    seen = evidence(law, rng, {"task": "regress", "figure": MEASURES["rmse"]})
    owners = owners_of(seen.problem, seen.test)
    inputs = seen.test.select(["level", "team"])
    seen.groups = group_scores(seen.problem, inputs, y, Said(np.zeros(TEST_ROWS)), owners)
    return called(worst_group(seen))


def called(check: Check) -> Outcome:
    """Whether a check warns; None where it was not made."""
    return {check.name: None if check.verdict == "not made" else check.verdict in CALLED}
