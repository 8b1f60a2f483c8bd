"""The portfolio: learners of different natures that `learn` lets compete, simple ones first.

Start simple, and let a richer model in only where it wins (004 4.1); members of a team must be
accurate and different (004 11). Settings that matter are searched inside every training part, so
that the scores stay honest: the strength of a penalty by folds, the size of a tree by pruning (001
11), the number of boosting rounds by early stopping (001 13.10). Neighbours and kernel machines,
whose work grows with the square of the rows, compete up to 10,000 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError
from gnomon.ensemble import BucketClassifier, BucketRegressor, CalibratedClassifierCV
from gnomon.evaluate import BaselineClassifier, BaselineRegressor
from gnomon.linear import LinearRegression, LogisticRegression, Ridge
from gnomon.margin import SVC, SVR, LinearSVC
from gnomon.neighbors import KNeighborsClassifier, KNeighborsRegressor
from gnomon.prepare import DateParts, FilteredLearner, StandardScaler
from gnomon.trees import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.workbench.analysis.tuned import AS_USUAL, tuned

# judgement: a search multiplies each fit by its settings and folds; boosting searches beyond (of
# 75,000 rows with an interaction: rmse 0.543 with 31 leaves, 0.521 with 8, noise 0.5)
SEARCH_UP_TO = 20_000
# learners whose work grows with the square of the rows
SQUARE_UP_TO = 10_000
# boosting ends by a tenth of its rows, which half of a fold of fewer does not have
FEWEST_TO_BOOST = 40
MOST_ROUNDS = 1000  # early stopping ends sooner; of 75,000 rows 8 leaves still gain after 300
NEAR_COUNTS = (1, 5, 25)  # judgement: from the nearest alone to a smooth mean
USUAL_COUNT = 5  # scikit-learn's default
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # judgement: two decades to each side of the default
STRENGTHS_OF_TEXT = (0.1, 10.0, 100.0)  # film reviews: 0.858 with C=1, 0.886 with C=100
BASELINE = "baseline"
STACK = "stack"
BOOSTING = "gradient boosting"
NEIGHBORS, MACHINE = "nearest neighbours", "support vector machine"
LINEAR_MACHINE = "linear support vector machine"  # of text: a kernel would see few of its words
SQUARE = (NEIGHBORS, MACHINE)
SCORING = {"log_loss": "log_loss", "auc": "log_loss", "brier": "brier", "mae": "absolute"}


@dataclass(frozen=True)
class Entrant:
    """A learner of the portfolio.

    Attributes
    ----------
    name : str
    learner : estimator
        Random states are unset: `learn` gives seeds.
    complexity : int
        Its place when the simplest of equals is chosen.
    search : str
        What is searched inside each training part, in words.
    fewest : int
        Training rows of a run below which it cannot compete.
    """

    name: str
    learner: Any
    complexity: int
    search: str = ""
    fewest: int = 0


def portfolio(
    task: str,
    n_rows: int,
    measure: str | None = None,
    search: bool | list[str] | None = None,
    text: bool = False,
    tune: int = 0,
    fewest_rows: int | None = None,
) -> list[Entrant]:
    """The learners that compete, in the order in which they are tried.

    What usually wins comes before what is slower to try, for the case that time runs out.

    Parameters
    ----------
    task : {"classify", "regress"}
    n_rows : int
        Training rows.
    measure : str, default=None
        What searches go by, where it is a loss that they know.
    search : bool or list of str, default=None
        Search settings inside every training part; by default up to 20,000 rows, and boosting
        alone beyond: with many rows there is little need of penalties (001 7.3.3), but the size of
        trees still matters. A list names the learners that search.
    text : bool, default=False
        Whether there is a column of text: its many weak columns need weaker penalties.
    tune : int, default=0
        Settings that each searching learner tries beside the usual one; 0 for the few that usually
        matter most.
    fewest_rows : int, default=None
        Of the smallest training part, where parts differ, as of splits forward in time.

    Returns
    -------
    entrants : list of Entrant

    Examples
    --------
    >>> [each.name for each in portfolio("regress", 500)][:3]
    ['baseline', 'linear regression', 'ridge']
    """
    if search is None:
        search = n_rows <= SEARCH_UP_TO or [BOOSTING]
    kind = classifiers if task == "classify" else regressors
    # half of a part are fewer than the two thirds in which a search inside it learns
    counts = near_counts(n_rows if fewest_rows is None else 2 * fewest_rows)
    with_square = kind(bool(search), measure, counts, text)
    if tune and search:
        usual_loss = "error" if task == "classify" else "squared"
        scoring = SCORING.get(measure or "", usual_loss)
        with_square = [
            tuned(each, plain(each.learner), task, tune, scoring, n_rows) for each in with_square
        ]
    if isinstance(search, list | tuple):
        without = {each.name: each for each in kind(False, measure, counts, text)}
        with_square = [e if e.name in search else without[e.name] for e in with_square]
    if n_rows <= SQUARE_UP_TO:
        return with_square
    return [each for each in with_square if each.name not in SQUARE]


def classifiers(search: bool, measure: str | None, counts: list[int], text: bool) -> list[Entrant]:
    """The portfolio for classes."""
    scoring = SCORING.get(measure or "", "error")
    logistic = scaled(LogisticRegression(C=10.0 if text else 1.0))
    boosting = boosted(HistGradientBoostingClassifier, 31)
    neighbors = KNeighborsClassifier(usual_count(counts))
    name, of_price = (LINEAR_MACHINE, linear_machine) if text else (MACHINE, kernel_machine)
    machine = scaled(of_price(1.0))
    if search:
        tried = STRENGTHS_OF_TEXT if text else STRENGTHS
        strengths = [(f"C={c:g}", LogisticRegression(C=c)) for c in tried]
        logistic = scaled(BucketClassifier(strengths, cv=3, scoring="log_loss"))
        sizes = [(f"{n} leaves", boosted(HistGradientBoostingClassifier, n)) for n in (8, 31)]
        boosting = BucketClassifier(sizes, cv=2, scoring=scoring)
        near = [(f"k={k}", KNeighborsClassifier(k)) for k in counts]
        neighbors = BucketClassifier(near, cv=3, scoring=scoring)
        prices = [(f"C={c:g}", scaled(of_price(c))) for c in (1.0, 10.0)]
        machine = BucketClassifier(prices, cv=2, scoring=scoring)
    return [
        Entrant(BASELINE, BaselineClassifier(), 0),
        Entrant("naive Bayes", NaiveBayes(), 1),
        Entrant("logistic regression", logistic, 1, "penalty C by 3 folds" if search else ""),
        Entrant(BOOSTING, boosting, 3, boosting_search(search), FEWEST_TO_BOOST),
        Entrant("random forest", RandomForestClassifier(), 4),
        Entrant("pruned tree", PrunedTreeClassifier(n_folds=5), 2, "size by pruning with 5 folds"),
        Entrant(NEIGHBORS, neighbors, 2, neighbor_search(counts) if search else ""),
        Entrant(name, machine, 1 if text else 4, "price C of slack by 2 folds" if search else ""),
    ]


def kernel_machine(price: float) -> SVC:
    """A machine with probabilities, by a kernel."""
    return SVC(C=price, probability=True)


def linear_machine(price: float) -> CalibratedClassifierCV:
    """A linear machine with probabilities."""
    return CalibratedClassifierCV(LinearSVC(C=price, random_state=0), cv=3, ensemble=False)


def regressors(search: bool, measure: str | None, counts: list[int], text: bool) -> list[Entrant]:
    """The portfolio for numbers."""
    scoring = SCORING.get(measure or "", "squared")
    ridge, boosting = scaled(Ridge()), boosted(HistGradientBoostingRegressor, 31)
    neighbors, machine = KNeighborsRegressor(usual_count(counts)), scaled(SVR(), StandardScaler())
    if search:
        strengths = [(f"alpha={a:g}", Ridge(alpha=a)) for a in (1e-2, 1.0, 1e2, 1e4)]
        ridge = scaled(BucketRegressor(strengths, cv=3, scoring=scoring))
        sizes = [(f"{n} leaves", boosted(HistGradientBoostingRegressor, n)) for n in (8, 31)]
        boosting = BucketRegressor(sizes, cv=2, scoring=scoring)
        near = [(f"k={k}", KNeighborsRegressor(k)) for k in counts]
        neighbors = BucketRegressor(near, cv=3, scoring=scoring)
        prices = [(f"C={c:g}", scaled(SVR(C=c), StandardScaler())) for c in (1.0, 10.0)]
        machine = BucketRegressor(prices, cv=2, scoring=scoring)
    return [
        Entrant(BASELINE, BaselineRegressor(), 0),
        Entrant("linear regression", LinearRegression(), 1),
        Entrant("ridge", ridge, 1, "penalty alpha by 3 folds" if search else ""),
        Entrant(BOOSTING, boosting, 3, boosting_search(search), FEWEST_TO_BOOST),
        Entrant("random forest", RandomForestRegressor(), 4),
        Entrant("pruned tree", PrunedTreeRegressor(n_folds=5), 2, "size by pruning with 5 folds"),
        Entrant(NEIGHBORS, neighbors, 2, neighbor_search(counts) if search else ""),
        Entrant(MACHINE, machine, 4, "price C of slack by 2 folds" if search else ""),
    ]


def near_counts(n_rows: int) -> list[int]:
    """Numbers of neighbours to try: up to a quarter of the rows, as folds of folds have fewer."""
    most = max(n_rows // 4, 1)
    return sorted({1, min(USUAL_COUNT, most), *(k for k in NEAR_COUNTS if k <= most)})


def usual_count(counts: list[int]) -> int:
    """The number of neighbours that is taken without a search."""
    return max(k for k in counts if k <= USUAL_COUNT)


def neighbor_search(counts: list[int]) -> str:
    """Which numbers of neighbours are tried, in words."""
    *first, last = map(str, counts)
    listed = f"{', '.join(first)} or {last}" if first else last
    return f"{listed} neighbours by 3 folds"


def boosted(kind: type, leaves: int) -> Any:
    """Boosted trees whose number of rounds is found by early stopping on a validation part."""
    return kind(
        max_leaf_nodes=leaves,
        max_iter=MOST_ROUNDS,
        early_stopping=True,
        n_iter_no_change=15,
        restore_best=True,
    )


def scaled(learner: Any, target: Any = None) -> FilteredLearner:
    """A learner on standardized columns, dates too: a penalty or a distance depends on units.

    Columns with wide values would hide the others from a kernel, and columns with narrow ones be
    penalized away: on breast tumours (569 rows) logistic regression has a log loss of 0.118 in the
    units of the file, 0.070 on standardized columns.
    """
    return FilteredLearner(learner, features=[DateParts(), StandardScaler()], target=target)


def boosting_search(search: bool) -> str:
    """What boosting searches, in words."""
    rounds = "rounds by early stopping"
    return f"8 or 31 leaves by 2 folds, {rounds}" if search else rounds


def plain(learner: Any) -> Any:
    """A learner without its search: the candidate that is the default."""
    if isinstance(learner, FilteredLearner):
        return clone(learner).set_params(estimator=plain(learner.estimator))
    if isinstance(learner, BucketClassifier | BucketRegressor):
        defaults = (AS_USUAL, "C=1", "C=10", "alpha=1", "31 leaves", "k=5")  # the first of them
        found = (each for name, each in learner.estimators if name in defaults)
        return next(found, learner.estimators[-1][1])  # few rows have fewer neighbours
    return learner


def search_fits(learner: Any) -> int:
    """Fits that one training costs, the search counted."""
    if isinstance(learner, FilteredLearner):
        return search_fits(learner.estimator)
    if isinstance(learner, BucketClassifier | BucketRegressor):
        return len(learner.estimators) * learner.cv + 1
    return 1


def picked(entrants: list[Entrant], names: list[str] | None) -> list[Entrant]:
    """The entrants of some names, the baseline always among them."""
    if names is None:
        return entrants
    known = [each.name for each in entrants] + [STACK]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(
            f"there is no learner {unknown[0]!r} in the portfolio; there are {', '.join(known)}"
        )
    return [each for each in entrants if each.name in names or each.name == BASELINE]
