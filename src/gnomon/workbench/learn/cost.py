"""What a learner will cost, forecast from fits on small subsets of the rows.

Try code and settings on small subsets first (000b 8): two sizes give the power a in
seconds = c n^a, extrapolated to the full size; below a = 1 the line through both, since what looks
like slow growth is a fixed cost. Predicting is timed too: of forests it takes longer than fitting.
The score on other rows is a first look at what is to be expected. Memory is what each method
states from the shape.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gnomon.evaluate import Estimate
from gnomon.evaluate.fold_run import seeded
from gnomon.evaluate.measures import Said
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import said_by
from gnomon.workbench.analysis.portfolio import Entrant, plain
from gnomon.workbench.analysis.problem import LearningProblem

# Judgement: four times the rows tell the power; smaller fits are mostly overhead.
SIZES = (1_000, 4_000)
FEWEST = 40  # rows of the smaller trial, of tables of 160 rows or more
POWERS = (0.5, 2.0)  # judgement: measured powers beyond these are noise of short fits
TEST_ROWS = 1_000  # judgement: enough to time predictions and to rank trials roughly
# larger models predict more slowly: deeper trees, that leave the cache
PREDICT_POWER = 0.3


@dataclass(frozen=True)
class Cost:
    """What fits on small subsets say about a learner.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Rows of the two trials.
    seconds : tuple of float
        What they took, without a search of settings.
    power : float
        How the time grows with the rows.
    score : float
        Score of the larger trial, on rows of neither; NaN where the trial failed.
    failure : str
        What went wrong, or nothing.
    predict : float
        Seconds per row that the model of the larger trial is asked about.
    """

    name: str
    sizes: tuple[int, int]
    seconds: tuple[float, float]
    power: float
    score: float
    failure: str = ""
    predict: float = 0.0

    def at(self, n_rows: int) -> float:
        """Seconds of one fit on so many rows.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        seconds : float

        Examples
        --------
        >>> Cost("tree", (1000, 4000), (0.1, 0.4), 1.0, 0.8).at(40_000)
        4.0
        """
        (small, large), (first, second) = self.sizes, self.seconds
        if self.power >= 1 or large == small:
            return second * (n_rows / large) ** max(self.power, 1.0)
        return max(second + (second - first) / (large - small) * (n_rows - large), 0.0)

    def fold(self, train_rows: int, test_rows: int) -> float:
        """Seconds of one fold: a fit, and predictions of the training and test rows.

        Parameters
        ----------
        train_rows, test_rows : int

        Returns
        -------
        seconds : float
        """
        asked = (train_rows + test_rows) * self.predict_at(train_rows)
        return self.at(train_rows) + asked

    def predict_at(self, n_rows: int) -> float:
        """Seconds per predicted row of a model of so many training rows.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        seconds : float
        """
        return self.predict * max(n_rows / self.sizes[1], 1.0) ** PREDICT_POWER


def trial_sizes(n_rows: int) -> tuple[int, int]:
    """Rows of the two trials for a table of so many training rows."""
    return min(SIZES[0], max(n_rows // 8, min(FEWEST, n_rows // 4))), min(SIZES[1], n_rows // 2)


def forecast_cost(
    entrant: Entrant, problem: LearningProblem, inputs: Table, y: np.ndarray, random_state: int
) -> Cost:
    """Fit a learner, without its search, on two small subsets and extrapolate.

    Parameters
    ----------
    entrant : Entrant
    problem : LearningProblem
    inputs : Table
        Training rows as learners see them.
    y : ndarray
        Their target.
    random_state : int

    Returns
    -------
    cost : Cost
    """
    small, large = trial_sizes(len(y))
    order = trial_order(problem, y, random_state)
    test = order[large : large + TEST_ROWS]
    learner, seconds, model = plain(entrant.learner), [], None
    try:
        for size in (small, small, large):  # the first one loads kernels and does not count
            begin = time.perf_counter()
            rows = order[:size]
            model = seeded(learner, random_state, 0)
            model.fit(inputs[rows], y[rows])
            seconds.append(time.perf_counter() - begin)
            if len(seconds) == 1:  # predictions load kernels of their own
                said_by(model, inputs[test], y[test], problem.figure)
        begin = time.perf_counter()
        said = said_by(model, inputs[test], y[test], problem.figure)
        predict = (time.perf_counter() - begin) / len(test)
        score = trial_score(problem, y[test], said)
    except Exception as error:  # a subset may lack a class; the full rows may still do
        spent = max(seconds, default=0.01)
        what = f"{type(error).__name__}: {error}"
        return Cost(entrant.name, (small, large), (spent, spent), 1.0, float("nan"), what)
    power = np.log(max(seconds[2], 1e-4) / max(seconds[1], 1e-4)) / np.log(large / small)
    return Cost(
        entrant.name,
        (small, large),
        (seconds[1], seconds[2]),
        float(np.clip(power, *POWERS)),
        score,
        predict=predict,
    )


def trial_order(problem: LearningProblem, y: np.ndarray, random_state: int) -> np.ndarray:
    """Rows at random, the classes mixed by their shares, so that small subsets have them all."""
    order = np.random.default_rng(random_state).permutation(len(y))
    if problem.task != "classify":
        return order
    codes = np.unique(y[order], return_inverse=True)[1]
    counts = np.bincount(codes)
    places = np.empty(len(y))
    for code, count in enumerate(counts):
        places[codes == code] = (np.arange(count) + 0.5) / count
    return order[np.argsort(places, kind="stable")]


def trial_score(problem: LearningProblem, y: np.ndarray, said: Said) -> float:
    """A first score; NaN for measures that need the model itself."""
    if problem.figure.needs == "estimator":
        return float("nan")
    found = problem.figure.figure(y, said)
    return found.value if isinstance(found, Estimate) else float(found)
