"""The error of a learner by the bootstrap: out of bag, .632 and .632+.

Train on a bag of n rows drawn with replacement, score on the rows left out. Bags hold about 63% of
the rows, so the out-of-bag error is pessimistic; .632 mixes in the training error, .632+ as far as
the learner does not overfit (Efron and Tibshirani 1997). Texts: 002 "Bootstrap prediction error" ·
004 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.class_measures import error_rate
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.cross_validation_result import (
    ROUNDED_TO_ZERO,
    CrossValidation,
    lower_end_alone,
)
from gnomon.evaluate.fold_run import FoldWork, Problem
from gnomon.evaluate.measures import Measure, Said, as_measures
from gnomon.evaluate.number_measures import mean_squared_error
from gnomon.evaluate.progress import Progress
from gnomon.evaluate.splits import bootstrap_bags

# Share of distinct rows in a bootstrap sample, 0.632: Efron's weight of rows outside.
OUTSIDE = 1 - np.exp(-1)


@dataclass(repr=False)
class BagError(Result):
    """Bootstrap estimates of the expected loss of a learner.

    Attributes
    ----------
    measure : str
    training : float
        Mean loss on the rows that the learner was fitted on, all of them.
    out_of_bag : Estimate
        Mean over rows of the mean loss over the bags without the row.
    per_bag : float
        Mean over bags of the mean loss on their rows left out (002's form).
    no_information : float
        Mean loss if predictions and targets were paired at random.
    bags : CrossValidation
        Every bag's fit.
    n_never : int
        Rows that were in every bag and so are not in the out-of-bag figure.
    """

    measure: str
    training: float
    out_of_bag: Estimate
    per_bag: float
    no_information: float
    bags: CrossValidation
    n_never: int

    @property
    def point632(self) -> Estimate:
        """0.368 training + 0.632 out of bag; too good for learners that overfit."""
        return self._mixed(OUTSIDE)

    @property
    def overfitting(self) -> float:
        """Relative overfitting rate, 0 (none) to 1 (no better than random pairing)."""
        gap = self.no_information - self.training
        if np.isinf(self.out_of_bag.value):
            return 1.0
        if gap <= 0 or self.out_of_bag.value <= self.training:
            return 0.0
        return float(min((self.out_of_bag.value - self.training) / gap, 1.0))

    @property
    def point632_plus(self) -> Estimate:
        """Mix of training and out-of-bag error by how far the learner overfits."""
        return self._mixed(OUTSIDE / (1 - (1 - OUTSIDE) * self.overfitting))

    def _mixed(self, share: float) -> Estimate:
        inside = 0.0 if share == 1 else (1 - share) * self.training
        value, low, high = (inside + share * each for each in self.out_of_bag[:3])
        found = self.out_of_bag
        return Estimate(value, low, high, found.confidence_level, share * found.error, found.how)

    def _title(self) -> str:
        return f"{self.bags.name}: {self.measure} by {len(self.bags.splits)} bootstrap bags"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "estimate": ["training", "out of bag", ".632", ".632+", "no information"],
            self.measure: [
                self.training,
                self.out_of_bag,
                self.point632,
                self.point632_plus,
                self.no_information,
            ],
        }

    def _remarks(self) -> list[str]:
        remarks = []
        if self.n_never:
            remarks.append(f"{self.n_never:,} rows were in every bag; take more bags")
        if np.isinf(self.out_of_bag.value):
            remarks.append(f"{self.measure} is infinite: {self.out_of_bag.how}")
        if self.bags.failures:
            remarks.append(f"{len(self.bags.failures)} bags failed: {self.bags.failures[0]}")
        return remarks


def bootstrap_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: Any = None,
    n_bags: int = 200,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: Any = None,
) -> BagError:
    """The expected loss of a learner by bags: out of bag, .632 and .632+.

    Smoother than cross-validation on few rows; costs as many fits as bags. The out-of-bag figure is
    the honest, slightly pessimistic one.

    Parameters
    ----------
    estimator : estimator
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    measure : str, Measure or Loss, default=None
        A loss that is a mean over rows: "error" for classifiers and "mse" for regressors by
        default, also "mae", "log_loss", "brier".
    n_bags : int, default=200
    random_state : int, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None
    folder : str or Path, default=None
        Bags are kept there as they come; a killed run goes on.

    Returns
    -------
    error : BagError

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> found = bootstrap_error(GaussianNB(), *load_iris(return_X_y=True), n_bags=30)
    >>> found.training < found.out_of_bag.value < found.no_information
    True
    """
    problem = Problem.of(estimator, X, y, None, None)
    chosen = _loss_measure(measure, problem.task)
    splits = bootstrap_bags(problem.n_rows, n_bags, random_state=random_state)
    bags = cross_validation_estimates(
        estimator,
        problem.X,
        problem.y,
        cv=splits,
        measures=chosen,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        folder=folder,
    )
    if len(bags.values) == 0:
        raise DataError(f"the learner failed in every bag: {bags.failures[0]}")
    work = FoldWork(estimator, problem, [chosen], False, False, False, random_state)
    everything = np.arange(problem.n_rows)
    whole = work(len(splits), everything, everything)
    if whole.said is None:
        raise DataError(f"the learner failed on all rows: {whole.failure}")
    assert problem.y is not None
    training = float(_row_losses(chosen, problem.y, whole.said).mean())
    figure, n_never = _out_of_bag(bags, chosen, problem.n_rows)
    return BagError(
        chosen.name,
        training,
        figure,
        float(np.nanmean(bags.scores[chosen.name])),
        _no_information(chosen, problem, whole.said),
        bags,
        n_never,
    )


def _loss_measure(measure: Any, task: str) -> Measure:
    default = {"classify": "error", "regress": "mse"}.get(task)
    (chosen,) = as_measures(default if measure is None else measure, task)
    if chosen.losses is None or chosen.root or chosen.greater_is_better:
        raise DataError(f"{chosen.name} is no mean of losses over rows; use error, mse or log_loss")
    return chosen


def _row_losses(measure: Measure, y: np.ndarray, said: Said) -> np.ndarray:
    """Losses of rows by a measure that has them, as `_loss_measure` sees to."""
    losses = measure.row_losses(y, said)
    assert losses is not None
    return losses


def _out_of_bag(bags: CrossValidation, measure: Measure, n_rows: int) -> tuple[Estimate, int]:
    """Mean over rows of each row's mean loss over the bags without it."""
    assert bags.y is not None
    total, times, n_infinite = np.zeros(n_rows), np.zeros(n_rows), 0
    for (_, test), fold in zip(bags.splits, bags.folds):
        if fold.said is not None:
            losses = _row_losses(measure, bags.y[test], fold.said)
            infinite = np.isinf(losses)
            total[test] += np.where(infinite, ROUNDED_TO_ZERO, losses)
            n_infinite += int(infinite.sum())
            times[test] += 1
    seen = times > 0
    figure = mean_interval(total[seen] / times[seen])
    if n_infinite:
        return lower_end_alone(figure, n_infinite), int((~seen).sum())
    return figure._replace(how="spread over rows"), int((~seen).sum())


def _no_information(measure: Measure, problem: Problem, said: Said) -> float:
    """Mean loss over all pairings of targets with predictions; shares suffice for classes."""
    assert problem.y is not None
    if measure.function is error_rate:
        assert problem.classes is not None
        of_y = np.array([(problem.y == c).mean() for c in problem.classes])
        of_said = np.array([(said.predictions == c).mean() for c in problem.classes])
        return float((of_y * (1 - of_said)).sum())
    if measure.function is mean_squared_error:
        gap = said.predictions.mean(axis=0) - problem.y.mean(axis=0)
        return float(np.mean(gap**2 + said.predictions.var(axis=0) + problem.y.var(axis=0)))
    n = problem.n_rows
    totals = 0.0
    for shift in range(n):
        rows = np.roll(np.arange(n), shift)
        totals += float(_row_losses(measure, problem.y[rows], said).mean())
    return totals / n
