"""The plan of a run: which splits, which learners, what was decided and why.

Every learner is tried on small subsets first: that forecasts what it takes, and its first score is
a race on few rows. Where the seconds do not suffice for everything, the plan becomes cheaper step
by step: folds are not repeated, intervals are widened by fewer fits, there are fewer folds,
learners are compared on fewer rows. What is left is spent on searches of settings, learner by
learner. Only when the cheapest plan is too long are learners left out, those of the worst first
score first. Learners run from cheap to dear.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gnomon.evaluate.cross_validation import fold_pairs
from gnomon.evaluate.splits import Splits, forward_in_time, k_fold, random_splits
from gnomon.table import Table
from gnomon.table.encode import MOST_TERMS, MOST_WORDS
from gnomon.table.terms import shared_counts
from gnomon.workbench.analysis.portfolio import (
    BASELINE,
    LINEAR_MACHINE,
    Entrant,
    picked,
    portfolio,
    search_fits,
)
from gnomon.workbench.analysis.problem import LearningProblem
from gnomon.workbench.base.budget import Budget
from gnomon.workbench.learn.cost import Cost, forecast_cost
from gnomon.workbench.learn.final_figure import STRETCHES

PLENTY = 10_000  # judgement: above it one run of the folds tells learners apart well enough
VERY_MANY = 100_000  # judgement: above it 80,000 rows for training already rank learners as all do
SHARE_TO_TRY = 0.25  # of the seconds left after reading; no trial begins after it
SHARE_TO_COMPARE = 0.6  # judgement: the rest is for the final fit, its checks and the report
LATEST_TO_COMPARE = 0.75  # for learners whose forecast was too low
# what follows the final fit beside predictions: checks, pictures, report; measured on 10^6 rows
ENDING_SECONDS = 6.0
SHARE_TO_END = 0.25  # judgement: however short the budget is, the ending takes no more of it
SECONDS_PER_COLUMN = 9e-4  # of the ending; measured on 7,130 columns
LINEAR = ("logistic regression", "ridge", LINEAR_MACHINE)
TREES = ("gradient boosting", "random forest", "pruned tree")
FOLDS = 5  # usual number of folds (scikit-learn's default cv)
ALWAYS = 2  # the baseline and the first learner compete in any case
FEWEST_FOLDS = 3  # two cannot tell a difference from chance
FEWER_PAIRS = 2  # fits without pairs of folds where time is short
SHARE_UNSEARCHED = 0.6  # of the time for comparing may go to learners without their searches
SPLITS_OF_MANY = 3  # the fewest with which a spread of differences can be seen
# Four fifths of VERY_MANY, as in five folds: comparing costs as much as below.
TRAIN_OF_MANY = 80_000
TEST_OF_MANY = 40_000  # judgement: accuracy of 0.8 has a standard error of 0.002
# measured with single neighbors on 120 rows: 13% in stretches of time, 9% in folds of groups
UNSTABLE = "differences of single neighbors and single trees look real too often here"
# Halves, as costs are not known well enough for finer steps.
FEWER_ROWS = (40_000, 20_000, 10_000, 5_000)


@dataclass(repr=False)
class Stretches(Splits):
    """Splits forward in time, each of whose test stretches counts as one.

    Rows that follow each other are alike, so their spread says too little: intervals come from the
    spread over stretches. So do comparisons, by Student's t as it is. The correction for resampled
    scores is for test rows that are drawn again and again; of stretches that follow each other it
    finds a difference where there is none in 0.5% of cases instead of 5%. Without it equal linear
    models differ in 5% of autocorrelated tables of 120 rows, equal single neighbors in 13%.
    """

    @classmethod
    def of(cls, moments: np.ndarray, n_folds: int) -> Stretches:
        """The stretches of rows at these moments.

        Of few folds each has several stretches: two or three values have hardly an interval.
        """
        plain = forward_in_time(moments, n_folds)
        parts = -(-STRETCHES // n_folds)
        owners = np.zeros(plain.n_rows, dtype=np.intp)
        for number, (_, test) in enumerate(plain):
            before = np.searchsorted(np.sort(moments[test]), moments[test])
            owners[test] = number * parts + before * parts // len(test)
        return cls(plain.pairs, plain.n_rows, plain.how, groups=owners, ordered=True)

    @property
    def test_share(self) -> float:
        """Zero: comparisons of stretches need no correction."""
        return 0.0


@dataclass(frozen=True)
class Effort:
    """How thoroughly learners are compared; None where the number of rows decides.

    Attributes
    ----------
    folds, repeats : int or None
    search : bool, list of str or None
        Search settings inside the training parts, of all learners or of some.
    compare_rows : int or None
        Training rows of a split.
    pair_fits : int or None
        Further fits without pairs of folds, for the intervals.
    tune : int
        Settings that searches try; 0 for the usual few.
    """

    folds: int | None = None
    repeats: int | None = None
    search: bool | list[str] | None = None
    compare_rows: int | None = None
    pair_fits: int | None = None
    tune: int = 0

    @property
    def pairs(self) -> int | str:
        """The further fits, as `cross_validation_estimates` takes them."""
        return "auto" if self.pair_fits is None else self.pair_fits


@dataclass
class Plan:
    """What will be done.

    Attributes
    ----------
    splits : Splits
        The same for every learner.
    entrants : list of Entrant
        Those that compete, in order.
    effort : Effort
        As asked for, or cheaper where the seconds are few.
    costs : list of Cost
        Forecasts, where they were made.
    left_out : dict of str to str
        Learners that do not compete, and why.
    decisions : list of (str, str)
        What was decided, and why.
    """

    splits: Splits
    entrants: list[Entrant]
    effort: Effort = field(default_factory=Effort)
    costs: list[Cost] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    decisions: list[tuple[str, str]] = field(default_factory=list)

    @property
    def evaluations(self) -> int:
        """Fits that compare one learner: on every split, and without some pairs of folds.

        The latter tell its interval how much folds hang together.
        """
        return len(self.splits) + len(fold_pairs(self.splits, self.effort.pairs))

    def cost_of(self, name: str) -> Cost | None:
        """The forecast of a learner, where there is one."""
        return next((each for each in self.costs if each.name == name), None)


def splits_for(
    problem: LearningProblem, train: Table, y: np.ndarray, effort: Effort, random_state: int
) -> tuple[Splits, str]:
    """The splits that compare the learners, and why these.

    Parameters
    ----------
    problem : LearningProblem
    train : Table
    y : ndarray
    effort : Effort
    random_state : int

    Returns
    -------
    splits : Splits
    why : str
    """
    trains_only = np.isin(y, problem.untested) if problem.untested else np.zeros(len(y), dtype=bool)
    if trains_only.any():
        places = np.flatnonzero(~trains_only)
        of_others = splits_of_rows(problem, train[places], y[places], effort, random_state)
        return around(of_others[0], places, np.flatnonzero(trains_only)), of_others[1]
    return splits_of_rows(problem, train, y, effort, random_state)


def around(splits: Splits, places: np.ndarray, trains_only: np.ndarray) -> Splits:
    """Splits of some rows as splits of all, the other rows in every training part."""
    pairs = [
        (np.sort(np.concatenate([places[train], trains_only])), places[test])
        for train, test in splits
    ]
    return replace(splits, pairs=pairs, n_rows=len(places) + len(trains_only))


def splits_of_rows(
    problem: LearningProblem, train: Table, y: np.ndarray, effort: Effort, random_state: int
) -> tuple[Splits, str]:
    """The splits of rows that can all be tested, and why these."""
    n, folds = len(y), effort.folds or FOLDS
    if problem.time is not None:
        moments = train.column(problem.time).to_numpy(zero_copy_only=False)
        why = (
            f"rows have a time ({problem.time}): train on the past, test on the future; rows that "
            "follow each other are alike, so every stretch counts as one, in intervals and in p; "
            + UNSTABLE
        )
        return Stretches.of(moments, folds), why
    labels = y if problem.task == "classify" else None
    groups = None
    if problem.groups is not None:
        groups = np.asarray(train.column(problem.groups).to_pylist(), dtype=object).astype(str)
    if draws_rows(problem, n, effort):
        return splits_of_many(n, labels, effort, random_state)
    repeats = effort.repeats or usual_repeats(n)
    if labels is not None:
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        folds = max(2, min(folds, rarest))
    splits = k_fold(n, folds, repeats, stratify=labels, groups=groups, random_state=random_state)
    why = "asked for" if effort.folds else f"{n:,} training rows: folds use every row for a test"
    return splits, why if groups is None else f"{why}; {UNSTABLE}"


def usual_repeats(n: int) -> int:
    """Repetitions of the folds for so many rows."""
    return 2 if n < PLENTY else 1


def draws_rows(problem: LearningProblem, n: int, effort: Effort) -> bool:
    """Whether learners are compared on rows drawn at random instead of on folds of all."""
    if problem.time is not None or problem.groups is not None:
        return False
    return effort.compare_rows is not None or (n > VERY_MANY and effort.folds is None)


def drawn_sizes(n: int, effort: Effort) -> tuple[int, int]:
    """Training and test rows of a random split."""
    test = min(TEST_OF_MANY, n // 3)
    if effort.compare_rows is None:
        return min(TRAIN_OF_MANY, n - test), test
    test = max(min(test, effort.compare_rows // 2), 1)
    return min(effort.compare_rows, n - test), test


def splits_of_many(
    n: int, labels: np.ndarray | None, effort: Effort, random_state: int
) -> tuple[Splits, str]:
    """A few random splits of bounded size for very many rows."""
    n_train, n_test = drawn_sizes(n, effort)
    drawn = random_splits(n, SPLITS_OF_MANY, n_test / n, stratify=labels, random_state=random_state)
    rng = np.random.default_rng(random_state)
    pairs = [
        (np.sort(rng.choice(train, min(n_train, len(train)), replace=False)), test)
        for train, test in drawn
    ]
    how = f"{SPLITS_OF_MANY} random splits, {n_train:,} training and {n_test:,} test rows"
    why = (
        f"of {n:,} training rows learners are compared on {n_train:,} at a time, drawn at random; "
        "the chosen one learns from all"
    )
    return Splits(pairs, n, how), why


def efforts(problem: LearningProblem, n: int, asked: Effort) -> Iterator[tuple[Effort, str]]:
    """The effort requested, then ever cheaper ones, each with what it spares.

    Parameters
    ----------
    problem : LearningProblem
    n : int
        Training rows.
    asked : Effort
        What is not None in it stays.

    Yields
    ------
    effort : Effort
    spared : str
    """
    effort, spared = asked, []
    yield effort, ""
    in_folds = not draws_rows(problem, n, effort)
    repeated = in_folds and problem.time is None and usual_repeats(n) > 1
    if repeated and effort.repeats is None:
        effort = replace(effort, repeats=1)
        spared.append("folds are not repeated")
        yield effort, "; ".join(spared)
    if in_folds and problem.time is None and effort.pair_fits is None and n < PLENTY:
        effort = replace(effort, pair_fits=FEWER_PAIRS)
        spared.append(f"{FEWER_PAIRS} instead of 5 fits widen the intervals")
        yield effort, "; ".join(spared)
    if in_folds and effort.folds is None:
        effort = replace(effort, folds=FEWEST_FOLDS)
        spared.append(f"{FEWEST_FOLDS} folds instead of {FOLDS}")
        yield effort, "; ".join(spared)
    free = asked.folds is None and asked.compare_rows is None
    if not free or problem.time is not None or problem.groups is not None:
        return
    for rows in FEWER_ROWS:
        if 2 * rows <= n:
            effort = replace(effort, compare_rows=rows, folds=None, repeats=None)
            kept = [each for each in spared if "fold" not in each and "interval" not in each]
            few = f"learners are compared on {rows:,} rows at a time"
            yield effort, "; ".join([*kept, few])


def make_plan(
    problem: LearningProblem,
    train: Table,
    y: np.ndarray,
    asked: Effort,
    learners: list[str] | None,
    budget: Budget,
    random_state: int,
    tell: Callable[[str], None],
    own: Sequence[Entrant] = (),
) -> Plan:
    """Settle splits and learners within the budget.

    Parameters
    ----------
    problem : LearningProblem
    train : Table
    y : ndarray
    asked : Effort
    learners : list of str or None
    budget : Budget
    random_state : int
    tell : callable
        ``tell(what)``.
    own : sequence of Entrant, default=()
        Learners that the user gives; they compete beside those that are asked for by name.

    Returns
    -------
    plan : Plan
    """

    def all_entrants(effort: Effort) -> list[Entrant]:
        first = len(y) // ((effort.folds or FOLDS) + 1) if problem.time is not None else None
        found = portfolio(
            problem.task,
            len(y),
            problem.measure,
            effort.search,
            bool(problem.texts),
            effort.tune,
            first,
        )
        asked_for = None if learners is None else [*learners, *(each.name for each in own)]
        return picked([*found, *own], asked_for)

    def entrants_at(effort: Effort) -> list[Entrant]:
        return [each for each in all_entrants(effort) if each.fewest <= len(y)]

    def begun(effort: Effort) -> Plan:
        plan = planned(problem, train, y, effort, random_state)
        if problem.texts:
            plan.decisions.append(text_decision(problem.texts))
        for each in all_entrants(effort):
            if each.fewest > len(y):
                plan.left_out[each.name] = (
                    f"it needs {each.fewest} training rows, and there are {len(y)}"
                )
        return plan

    entrants = entrants_at(asked)
    is_wide = len(problem.features) > len(y)
    if is_wide:  # trees are slow there and seldom win: they come last
        entrants = sorted(entrants, key=lambda entrant: entrant.name in TREES)
    if budget.evaluations is not None:
        return within_evaluations(begun, asked, entrants, budget.evaluations)
    if budget.seconds is None:
        plan = begun(asked)
        plan.entrants = entrants
        return plan
    costs = forecasts(entrants, problem, train, y, budget, random_state, tell)
    limit = min(SHARE_TO_COMPARE * budget.seconds, latest(budget, problem)) - budget.spent
    # where trials alone took so long, nothing but the least effort will do
    most = SHARE_UNSEARCHED * limit if len(costs) == len(entrants) else -np.inf
    effort, spared, each = affordable_effort(costs, entrants, problem, len(y), asked, most)
    taking = admitted(costs, entrants, each, limit, problem, is_wide)
    left = limit - sum(each[name] for name in taking if name in each)
    searched = affordable_searches(entrants, taking, each, left, asked)
    if searched is not None:
        effort = replace(effort, search=searched)
        spared = "; ".join(filter(None, [spared, unsearched(entrants, taking, searched)]))
    plan = begun(effort)
    plan.costs = costs
    if spared:
        why = f"{budget} are short for {len(entrants)} learners: {spared}"
        plan.decisions[0] = (plan.splits.how, why)
    chosen = entrants_at(effort)
    for entrant in chosen:
        if entrant.name not in taking:
            taken = sum(each.get(name, 0.0) for name in taking)
            plan.left_out[entrant.name] = why_left_out(
                entrant.name, each, limit - taken, plan.splits.how
            )
    chosen = [entrant for entrant in chosen if entrant.name in taking]
    fits = {entrant.name: search_fits(entrant.learner) for entrant in chosen}
    # from cheap to dear; learners without a forecast come last, as long as there is time
    plan.entrants = sorted(
        chosen,
        key=lambda e: (e.name != BASELINE, each.get(e.name, np.inf) * fits[e.name]),
    )
    return plan


def ending_seconds(budget: Budget, problem: LearningProblem) -> float:
    """Seconds kept for checks, pictures, the report and the files."""
    usual = min(ENDING_SECONDS, SHARE_TO_END * (budget.seconds or np.inf))
    return usual + SECONDS_PER_COLUMN * len(problem.features)


def latest(budget: Budget, problem: LearningProblem) -> float:
    """The second after which no fit of a comparison begins."""
    if budget.seconds is None:
        return float("inf")
    return min(LATEST_TO_COMPARE * budget.seconds, budget.seconds - ending_seconds(budget, problem))


def is_late(budget: Budget, problem: LearningProblem) -> bool:
    """Whether the time for comparing is over."""
    return budget.spent > latest(budget, problem)


def text_decision(names: list[str]) -> tuple[str, str]:
    """How columns of text are read."""
    listed = ", ".join(map(repr, names[:3])) + (" ..." if len(names) > 3 else "")
    what = (
        f"text ({listed}) is read by linear learners as up to {MOST_TERMS:,} words and pairs of "
        f"words, by all others as its {MOST_WORDS} commonest words"
    )
    return what, "linear learners take thousands of columns; the others would not end"


def why_left_out(name: str, each: dict[str, float], left: float, how: str) -> str:
    """Why a learner does not compete; `left` are the seconds that those who do leave."""
    if name not in each:
        return "not tried, as the time was up; a larger budget lets more learners compete"
    return (
        f"forecast: {each[name]:.1f} s for {how}; those of a better first score leave "
        f"{max(left, 0):.1f} s of the time for comparing"
    )


def admitted(
    costs: list[Cost],
    entrants: list[Entrant],
    each: dict[str, float],
    limit: float,
    problem: LearningProblem,
    is_wide: bool = False,
) -> list[str]:
    """Learners that fit the seconds together; those of the best first score are taken first.

    Learners without a forecast are taken last, while seconds are left.
    """
    sign = -1 if problem.figure.greater_is_better else 1
    scores = {cost.name: sign * cost.score for cost in costs}
    usual = [entrant.name for entrant in entrants]
    # of text, and of more columns than rows, linear learners know most
    by_lines = bool(problem.texts) or is_wide
    always = [name for name in usual if name in LINEAR] if by_lines else []
    always = [BASELINE, *always] if always else usual[:ALWAYS]

    def rank(name: str) -> tuple[bool, float]:
        score = scores.get(name, np.inf)
        return name not in always, np.inf if np.isnan(score) else score

    taken, left = [], limit
    for name in sorted(usual, key=rank):
        needed = each.get(name, 0.0)
        if name in always or needed < left:
            taken.append(name)
            left -= needed
    return taken


def affordable_searches(
    entrants: list[Entrant],
    taken: list[str],
    each: dict[str, float],
    left: float,
    asked: Effort,
) -> list[str] | None:
    """Learners whose settings are searched in the seconds left; None where all are."""
    if asked.search is not None:
        return None
    fits = {entrant.name: search_fits(entrant.learner) for entrant in entrants}
    could = [name for name in taken if fits[name] > 1]
    searched = []
    for name in sorted(could, key=lambda name: each.get(name, np.inf) * fits[name]):
        further = each.get(name, np.inf) * (fits[name] - 1)
        if further <= left:
            searched.append(name)
            left -= further
    return None if len(searched) == len(could) else searched


def unsearched(entrants: list[Entrant], taken: list[str], searched: list[str]) -> str:
    """Which learners do not search their settings, in words."""
    names = [
        entrant.name
        for entrant in entrants
        if entrant.name in taken
        and search_fits(entrant.learner) > 1
        and entrant.name not in searched
    ]
    return f"settings of {', '.join(names)} are not searched"


def affordable_effort(
    costs: list[Cost],
    entrants: list[Entrant],
    problem: LearningProblem,
    n: int,
    asked: Effort,
    limit: float,
) -> tuple[Effort, str, dict[str, float]]:
    """The greatest effort within the seconds, or the least; what it spares, what it will take."""
    found: list[tuple[Effort, str, dict[str, float]]] = []
    for effort, spared in efforts(problem, n, asked):
        expected = expected_seconds(costs, entrants, problem, n, effort)
        found.append((effort, spared, expected))
        if sum(expected.values()) <= limit:
            break
    return found[-1]


def planned(
    problem: LearningProblem, train: Table, y: np.ndarray, effort: Effort, random_state: int
) -> Plan:
    """A plan with its splits, as yet without learners."""
    splits, why = splits_for(problem, train, y, effort, random_state)
    return Plan(splits, [], effort, decisions=[(splits.how, why)])


def forecasts(
    entrants: list[Entrant],
    problem: LearningProblem,
    train: Table,
    y: np.ndarray,
    budget: Budget,
    random_state: int,
    tell: Callable[[str], None],
) -> list[Cost]:
    """The costs of the learners, as far as the share of the time for trials reaches.

    Learners without a forecast compete as long as there is time.
    """
    costs: list[Cost] = []
    inputs = problem.inputs(train)
    for name in problem.texts:  # texts are split once: the first trial must not pay for all
        tell(f"splitting the texts of {name}")
        shared_counts().of(inputs.column(name).to_pylist())
    ending = ending_seconds(budget, problem)
    least_left = ending + (1 - SHARE_TO_TRY) * (budget.left - ending)
    for entrant in entrants:
        if budget.left < least_left:
            break
        tell(f"forecast: {entrant.name}")
        with warnings.catch_warnings():  # of a few rows, which no result stands on
            warnings.simplefilter("ignore")
            costs.append(forecast_cost(entrant, problem, inputs, y, random_state))
    return costs


def expected_seconds(
    costs: list[Cost], entrants: list[Entrant], problem: LearningProblem, n: int, effort: Effort
) -> dict[str, float]:
    """Seconds that every learner is expected to take for its comparison.

    Searches are counted only where they were asked for.
    """
    n_fits, n_train, n_test = comparison_size(problem, n, effort)
    learners = {each.name: each.learner for each in entrants}
    found = {}
    for cost in costs:
        searches = search_fits(learners[cost.name]) if effort.search is True else 1
        found[cost.name] = n_fits * cost.fold(n_train, n_test) * searches
    return found


def comparison_size(problem: LearningProblem, n: int, effort: Effort) -> tuple[int, int, int]:
    """Fits that a comparison needs, and the training and test rows of each."""
    if draws_rows(problem, n, effort):
        return SPLITS_OF_MANY, *drawn_sizes(n, effort)
    folds = effort.folds or FOLDS
    repeats = 1 if problem.time is not None else effort.repeats or usual_repeats(n)
    further = 0 if problem.time is not None else len(fold_pairs(k_fold(n, folds), effort.pairs))
    return folds * repeats + further, n - n // folds, n // folds


def within_evaluations(
    begun: Callable[[Effort], Plan], asked: Effort, entrants: list[Entrant], most: int
) -> Plan:
    """As many learners, in order, as the number of evaluations allows; the baseline always.

    Where the number is short for all of them, folds are not repeated.
    """
    plan = begun(asked)
    short = plan.evaluations * len(entrants) > most
    if short and plan.splits.n_repeats > 1 and asked.repeats is None:
        plan = begun(replace(asked, repeats=1))
        why = f"{most:,} evaluations are short for {len(entrants)} learners: folds are not repeated"
        plan.decisions[0] = (plan.splits.how, why)
    left, needed = most, plan.evaluations
    for entrant in entrants:
        if entrant.name != BASELINE and left < needed:
            plan.left_out[entrant.name] = (
                f"{needed} evaluations needed, {max(left, 0)} of {most} left"
            )
            continue
        left -= needed
        plan.entrants.append(entrant)
    return plan


def effort_of(settings: Any) -> Effort:
    """The effort that the settings of a run ask for; tuned learners do not repeat the folds."""
    return Effort(
        settings.folds,
        1 if settings.tune and settings.repeats is None else settings.repeats,
        settings.search,
        settings.compare_rows,
        settings.pair_fits,
        settings.tune,
    )
