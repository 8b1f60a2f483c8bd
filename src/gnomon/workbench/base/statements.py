"""Every statement that a job prints: what it claims, and how often it may be wrong.

A *test* says that something is there, and may say so wrongly in a share `nominal` of the tables in
which it is not. An *interval* holds the truth in a share `nominal` of the tables. A *figure*
describes the table at hand beside a stated limit, and claims nothing of other rows. `band` is the
share of simulated tables within which a test or an interval must stay; `tests.truth.simulation`
measures it in tables of several laws and writes ``benchmarks/TRUTH.md``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Statement(NamedTuple):
    """A statement of a job.

    Attributes
    ----------
    job : str
    name : str
        That of the check or finding, or of what is printed.
    kind : {"test", "interval", "figure"}
    nominal : float
        Level of a test, coverage of an interval; NaN for a figure.
    band : (float, float)
        Shares of simulated tables that are accepted.
    """

    job: str
    name: str
    kind: Literal["test", "interval", "figure"]
    nominal: float
    band: tuple[float, float]


def tests(job: str, nominal: float, at_most: float, *names: str) -> list[Statement]:
    """Tests of one level; `at_most` is the largest share of false alarms that is accepted."""
    return [Statement(job, name, "test", nominal, (0.0, at_most)) for name in names]


def intervals(job: str, *names: str, at_least: float = 0.92) -> list[Statement]:
    """95% intervals; wider ones than needed are accepted, as nobody is misled by them."""
    return [Statement(job, name, "interval", 0.95, (at_least, 1.0)) for name in names]


def figures(job: str, *names: str) -> list[Statement]:
    """Descriptions of the table at hand."""
    return [Statement(job, name, "figure", float("nan"), (0.0, 1.0)) for name in names]


STATEMENTS: tuple[Statement, ...] = (
    *intervals("learn", "test score", "score of folds", "importance of a column"),
    *tests("learn", 0.05, 0.07, "better than the baseline", "difference of learners"),
    *tests("learn", 0.05, 0.07, "gain of rows without a target"),
    *tests("learn", 0.025, 0.05, "useful columns"),
    *tests("learn", 0.01, 0.02, "folds agree", "drift", "calibration", "worst group"),
    *tests("learn", 0.003, 0.02, "test agrees with folds"),
    *tests("learn", 0.001, 0.005, "same target"),
    *tests("learn", 0.0, 0.01, "leak", "exact relation", "rows of one key", "nearly perfect"),
    *figures(
        "learn",
        "repeated rows",
        "time",
        "overfitting",
        "underfitting",
        "stable choice",
        "balanced classes",
        "rows of every class",
        "enough rows",
        "more rows",
        "correlated columns",
        "levels of categories",
        "comparable coefficients",
        "search",
        "speed",
        "failures",
        "interval of the score",
    ),
    *tests("look", 0.05, 0.07, "association", "missing not at random"),
    *tests("look", 0.0, 0.01, "leak", "trend", "same columns", "missing together"),
    *figures(
        "look",
        "few rows",
        "empty",
        "constant",
        "nearly constant",
        "identifiers",
        "mostly missing",
        "missing",
        "duplicates",
        "stands for missing",
        "infinite",
        "outliers",
        "many levels",
        "target missing",
        "target constant",
        "target kind",
        "target of few values",
        "unbalanced classes",
        "series",
        "sorted",
    ),
    *tests("group", 0.05, 0.05, "groups"),
    *figures("group", "silhouette", "stability", "density index", "traits"),
    *tests("map", 0.05, 0.07, "far rows"),
    *figures("map", "trustworthiness", "continuity", "stress"),
    *intervals("look", "rate of a level"),
    *intervals("detect", "mean average precision"),
    *tests("label", 0.05, 0.07, "gain over random choice"),
    *figures("label", "accuracy by number of labels"),
    *tests("rules", 0.05, 0.07, "rules beyond chance"),
    *intervals("rules", "confidence", "lift"),
    *figures("rules", "baskets completed"),
    *figures("topics", "held-out likelihood", "stability", "coherence"),
    *tests("topics", 0.05, 0.07, "gain over one topic"),
    *tests("decide", 0.05, 0.07, "outcomes are predicted"),
    *figures("decide", "predicted outcomes", "expected gain"),
    *intervals("train", "test score"),
    *figures("train", "loss and error by epoch", "findings"),
    *intervals("forecast", "prediction interval", at_least=0.90),
    *tests("forecast", 0.05, 0.07, "better than the baseline"),
    *tests("compare", 0.05, 0.07, "difference of runs"),
    *intervals("predict", "score of new rows"),
    *tests("predict", 0.01, 0.02, "shift"),
    *tests("library", 0.05, 0.07, "corrected_t_test", "compare_groups", "mcnemar_test"),
    *intervals(
        "library", "mean_squared_error", "r_squared", "mean_absolute_error", "Kriging.predict_std"
    ),
    *intervals("library", "cohen_kappa"),
    *intervals("library", "RandomForestRegressor.predict_interval", at_least=0.93),
)


def statements_of(job: str) -> dict[str, Statement]:
    """The statements of a job, by name."""
    return {each.name: each for each in STATEMENTS if each.job == job}
