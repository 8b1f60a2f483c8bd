"""The options of the job ``learn``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option

DEFAULT_BUDGET = "60s"
SIMPLEST, BEST = "one-standard-error", "best"


def learner_names(incomplete: str) -> list[str]:
    """Names of the learners that `learn` compares, those of both tasks."""
    from gnomon.workbench.analysis.portfolio import BASELINE, STACK, portfolio

    found = [each.name for task in ("classify", "regress") for each in portfolio(task, 100)]
    names = [name for name in dict.fromkeys([*found, STACK]) if name != BASELINE]
    return [name for name in names if name.startswith(incomplete)]


def measure_names(incomplete: str) -> list[str]:
    """Names of the measures that `learn` compares learners by."""
    from gnomon.workbench.analysis.problem import MEASURES_OF

    names = dict.fromkeys(name for task in MEASURES_OF.values() for name in task)
    return [name for name in names if name.startswith(incomplete)]


@dataclass
class LearnOptions(Options):
    """The options of `learn`, and what the run settled where none was given."""

    target: Any = option(
        repeats=True,
        column=True,
        help="The column to predict: its name or, in Python, its values. Rows in which it is "
        "missing are not used. A list of names learns each of these columns from the others that "
        "are not in the list, with an equal share of the budget.",
    )
    task: str = option(
        "auto",
        choices=("auto", "classify", "regress"),
        help="Categories, booleans, two numbers, and few whole numbers under a name such as class, "
        "type or species are classified; other numbers are regressed.",
    )
    measure: str | None = option(
        None,
        complete=measure_names,
        help="accuracy, balanced_accuracy, log_loss, brier, auc, f_measure; rmse, mae, r2. Chosen "
        "by the target where none is given.",
    )
    learners: list[str] | None = option(
        None,
        flag="learner",
        free=True,
        complete=learner_names,
        help="Compare these learners only; all by default. The baseline always runs.",
    )
    estimators: Any = option(
        None,
        flag=None,
        free=True,
        help="Estimators and pipelines of scikit-learn that compete too: {'my name': estimator}. "
        "A pipeline with a ColumnTransformer gets the table as a pandas data frame.",
    )
    budget: Any = option(
        DEFAULT_BUDGET,
        free=True,
        help="Time ('60s', '5min'), or a number of evaluations ('40': the same work on every "
        "machine), or None. An evaluation is a fit of a learner that is compared: on a fold, or "
        "without a pair of folds, which its interval needs. Searches inside a fit, the final fit "
        "and the learning curve are not counted.",
    )
    tune: int = option(
        0,
        least=0,
        help="Settings of each learner that are tried inside every training part, spread over wide "
        "ranges: '--tune 20' with a budget of minutes. 0 for the few that usually matter.",
    )
    choose: str = option(
        SIMPLEST,
        choices=(SIMPLEST, BEST),
        help="The simplest learner within one standard error of the best, or the best mean.",
    )
    cost: Any = option(
        None,
        help="What a wrong answer costs, of two classes: 'miss=10,false alarm=1'. The threshold of "
        "least cost is chosen on the folds; its cost on the test rows is reported, and `predict` "
        "uses it. The class that sorts second is positive.",
    )
    without: list[str] = option(
        [],
        column=True,
        help="Columns that are not used, such as one that is known only after the target.",
    )
    folds: int | None = option(
        None, least=2, settled=True, help="Folds of the cross-validation; chosen by the rows."
    )
    repeats: int | None = option(
        None, least=1, settled=True, help="Repetitions of the folds; chosen by the rows."
    )
    test_share: float = option(
        0.25, least=0, greatest=1, open=True, help="Share of the rows put aside for the test."
    )
    groups: str | None = option(
        None,
        column=True,
        help="A column whose equal values stay together, such as persons or machines.",
    )
    time: str | None = option(
        None, column=True, help="A column of dates: train on the past, test on the future."
    )
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the splits and of random learners."
    )
    curve: bool | None = option(
        None, flag=None, free=True, help="Draw a learning curve; where rows and time allow."
    )
    fit_rows: int | None = option(
        None,
        flag=None,
        free=True,
        least=1,
        help="Rows that the final model learns from at most; all that time allows.",
    )
    fit_settings: int | None = option(
        None,
        flag=None,
        free=True,
        least=0,
        help="Settings of boosting that are tried for the final model, where it is chosen; as many "
        "as time allows, and none without a budget of time.",
    )
    fit_settings_rows: int | None = option(
        None,
        flag=None,
        free=True,
        least=1,
        help="Rows to learn from with each of these settings; as many as let ten of them be tried.",
    )
    fit_copies: int | None = option(
        None,
        flag=None,
        free=True,
        least=1,
        help="Fits of boosting with other seeds, of which the final model is the average; as many "
        "as time allows, up to five, where its settings are searched.",
    )
    fit_learner: str | None = option(
        None,
        flag=None,
        free=True,
        help="The learner of the final model; by default chosen by the scores, and by whether time "
        "allows it to learn from all rows.",
    )
    search: Any = option(
        None,
        flag=None,
        settled=True,
        help="Search settings inside every training part, of all learners or of those in a list; "
        "by default up to 20,000 rows.",
    )
    pair_fits: int | None = option(
        None,
        flag=None,
        settled=True,
        least=0,
        help="Further fits without pairs of folds, which widen intervals where models depend on "
        "single rows; by default five below 10,000 rows.",
    )
    compare_rows: int | None = option(
        None,
        flag=None,
        settled=True,
        least=1,
        help="Compare learners on so many training rows at a time, drawn at random; by default on "
        "all, and on 80,000 where there are more than 100,000.",
    )


JOB = Job("learn", LearnOptions, positional=("target",))
