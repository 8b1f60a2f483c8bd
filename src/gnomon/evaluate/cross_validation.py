"""Cross-validation in one call: scores, predictions out of fold, times, memory, failures.

The rows' losses out of fold are averaged, and their spread over rows gives a standard error (Bayle
et al. 2020); rows tested several times, or of one group, count as one. It is too small where models
hang on single rows: row i is in the training rows of the model that judges row j, and the other way
round. With D_kl the change of fold k's score when fold l joins the training rows, the scores of two
folds have the covariance E[D_kl D_lk], which is about 2 p / n of the variance for least
squares with p coefficients. A few more fits without pairs of folds measure it for any learner and
any measure, as the nested cross-validation of Bates, Hastie and Tibshirani (2023) does with far
more fits. The plain standard error of fold scores is too small, and is not offered.

Texts: 000a 1.1.3 · 000b 11.1.3 · 001 7.3.3 · 002 "Cross validation" · 003 2.1.7.2 · 004 3.2, 5.2.3.
"""

from __future__ import annotations

import time
import traceback
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor

from gnomon.contract.estimate import (
    Estimate,
    check_level,
    checked_weights,
    logit_scale_interval,
    mean_interval,
    normal_quantile,
    share_interval,
    share_like_interval,
)
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.comparison import corrected_t_test, resampled_figure
from gnomon.evaluate.fold_warnings import in_fold, said_once
from gnomon.evaluate.intake import label_column, number_block
from gnomon.evaluate.measures import Measure, Said, as_measures, is_named
from gnomon.evaluate.number_measures import root_of
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.run_folder import RunFolder, description, fingerprint
from gnomon.evaluate.splits import PLENTY, Pair, Splits, as_splits
from gnomon.table.frames import native
from gnomon.table.grid import is_table, n_rows_of, take_rows
from gnomon.table.scan import Scan
from gnomon.table.table import Table

METHODS = ("rows", "folds")
FEW_ROWS = 20
# The loss of the least probability that is not rounded to zero beside one.
ROUNDED_TO_ZERO = float(-np.log(np.finfo(np.float64).eps / 2))
PAIR_FITS = 5


@dataclass
class Failure:
    """What went wrong in one fold.

    Attributes
    ----------
    fold : int
    stage : str
        ``"fit"``, ``"predict"`` or ``"score"``.
    error : str
        Kind and message.
    trace : str
        The traceback.
    measure : str or None
        The one that could not be taken, others could; None where the fold failed as a whole.
    """

    fold: int
    stage: str
    error: str
    trace: str = field(default="", repr=False)
    measure: str | None = None

    def __str__(self) -> str:
        of = "" if self.measure is None else f" {self.measure}"
        return f"fold {self.fold}, {self.stage}{of}: {self.error}"


@dataclass
class Fold:
    """What one fold gave.

    Attributes
    ----------
    said : Said or None
        Of the test rows; None where the learner failed.
    values : dict of str to float
        Scores of measures that need the estimator, and of training rows ("train ...").
    fit_seconds, predict_seconds : float
    peak_memory : float
        Bytes allocated at the peak of fit and predict; NaN where not measured.
    failure : Failure or None
    model : estimator or None
    refused : dict of str to Failure
        What of `values` could not be got.
    """

    said: Said | None
    values: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    peak_memory: float = np.nan
    failure: Failure | None = None
    model: Any = None
    refused: dict[str, Failure] = field(default_factory=dict)


@dataclass(repr=False)
class CrossValidation(Result):
    """One learner over all splits.

    Attributes
    ----------
    name : str
    splits : Splits
    measures : list of Measure
        The first is the one that counts.
    y : ndarray or None
    classes : ndarray or None
    folds : list of Fold
    scores : dict of str to ndarray
        Per measure one score per fold, NaN where it failed.
    train_scores : dict of str to ndarray
        The same of the training rows, where asked for.
    failures : list of Failure
    fold_errors : dict of str to ndarray
        Standard errors of the scores within their folds, NaN where unknown.
    n_columns : int
        Columns of X; 0 where unknown.
    pairs : list of (int, int)
        Folds of the first repetition that were left out together, for the intervals.
    pair_folds : list of Fold
        What the learner said of such pairs, the first fold's rows before the second's.
    """

    name: str
    splits: Splits
    measures: list[Measure]
    y: np.ndarray | None
    classes: np.ndarray | None
    folds: list[Fold]
    scores: dict[str, np.ndarray]
    train_scores: dict[str, np.ndarray]
    failures: list[Failure]
    fold_errors: dict[str, np.ndarray]
    n_columns: int = 0
    pairs: list[tuple[int, int]] = field(default_factory=list)
    pair_folds: list[Fold] = field(default_factory=list)

    @property
    def values(self) -> np.ndarray:
        """Scores of the first measure that were got, one per fold."""
        scores = self.scores[self.measures[0].name]
        return scores[~np.isnan(scores)]

    @property
    def mean(self) -> float:
        """The first measure, pooled over rows where it is a mean of rows, else over folds."""
        return self.figure().value

    @property
    def standard_error(self) -> float:
        """Of the first measure."""
        return self.figure().error

    @property
    def test_share(self) -> float:
        """Test rows per training row."""
        return self.splits.test_share

    @property
    def fit_seconds(self) -> float:
        """Sum over the folds."""
        return float(sum(each.fit_seconds for each in self.folds))

    @property
    def predict_seconds(self) -> float:
        """Sum over the folds."""
        return float(sum(each.predict_seconds for each in self.folds))

    @property
    def peak_memory(self) -> float:
        """Largest peak of a fold in bytes; NaN where not measured."""
        peaks = [each.peak_memory for each in self.folds]
        return float(np.nanmax(peaks)) if not np.isnan(peaks).all() else np.nan

    @property
    def models(self) -> list:
        """The fitted learners, where they were kept."""
        return [each.model for each in self.folds]

    def figure(
        self, measure: str | None = None, confidence_level: float = 0.95, method: str = "rows"
    ) -> Estimate:
        """A measure over all folds with its interval.

        Parameters
        ----------
        measure : str, default=None
            The first one by default.
        confidence_level : float, default=0.95
        method : {"rows", "folds"}, default="rows"
            ``"rows"``: spread over rows, or for measures that are no mean of rows the standard
            errors within the folds, and the covariance of folds from the fits without pairs of
            them. Of 95% intervals 94 to 97% hold the mean quality of the models fitted here, from
            5 rows per column on and also of trees, single neighbours and penalised logistic
            regression on 100 rows, and of unpenalised where rows are nearly separable. An infinite
            log loss has a lower end alone, for which a probability that was rounded to zero counts
            as the least that is not. The quality of the learner over all training sets of this
            size varies more: as many hold it for smooth learners, 91 to 95% for neighbours and
            trees. Without such fits (``pair_fits=0``, two folds,
            random or ordered splits) 89% hold for least squares (94% from 60 rows per column on)
            and 84 to 90% for the others.
            ``"folds"``: mean of the folds with the corrected standard error of Nadeau and Bengio,
            of comparisons; wide, 95 to 99%, and never narrower than that of rows, as stratified
            folds of rare classes have hardly any spread.

        Returns
        -------
        figure : Estimate
        """
        check_level(confidence_level)
        chosen = self._measure(measure)
        scores = self.scores[chosen.name]
        got = ~np.isnan(scores)
        if not got.any():
            return Estimate(np.nan, np.nan, np.nan, confidence_level, np.nan, "every fold failed")
        if method not in METHODS:
            raise DataError(f"method={method!r} is none of {', '.join(METHODS)}")
        of_rows = self.row_figure(chosen.name, confidence_level)
        if method == "rows" and of_rows is not None:
            return of_rows
        of_folds = resampled_figure(scores, self.test_share, confidence_level, chosen.share)
        if of_folds.error == 0 and chosen.share and of_rows is None:
            return self._as_of_one_test(chosen, of_folds)
        return not_narrower(chosen.kept_within(of_folds), of_rows)

    def row_figure(
        self, measure: str | None = None, confidence_level: float = 0.95
    ) -> Estimate | None:
        """A measure with the interval of its rows; None where only its scores are known.

        Of measures that are no mean of rows it is also None where rows hang together in groups.

        Parameters
        ----------
        measure : str, default=None
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate or None
        """
        chosen = self._measure(measure)
        got = ~np.isnan(self.scores[chosen.name])
        if not got.any():
            return None
        if chosen.losses is not None:
            return chosen.kept_within(self._over_rows(chosen, confidence_level))
        if self.splits.groups is not None:  # errors within folds would count every row by itself
            return None
        scores, errors = self.scores[chosen.name][got], self.fold_errors[chosen.name][got]
        if np.isnan(errors).any():
            return None
        figure = self._within_folds(
            scores, errors, self.fold_covariance(chosen.name), confidence_level
        )
        if figure.error == 0 and chosen.share:
            return self._as_of_one_test(chosen, figure)
        return chosen.kept_within(figure)

    def fold_covariance(self, measure: str | None = None) -> float:
        """Covariance of the scores of two folds, by way of the rows that they lend each other.

        The mean of D_kl D_lk over the pairs and one more pair, whose D are taken to have the
        correlation 1/2: five pairs alone would find no covariance in half of all cases where the
        correlation is weak. The mean of D, what a little more data is worth, is not taken off: it
        is small, and found from five pairs it would take some of the covariance along.

        Parameters
        ----------
        measure : str, default=None

        Returns
        -------
        covariance : float
            Not below zero; NaN where fewer than two pairs of folds were left out together.
        """
        chosen = self._measure(measure)
        if chosen.needs == "estimator":
            return np.nan
        found = [self._changes(chosen, pair, fold) for pair, fold in self._known_pairs(chosen)]
        changes = np.array([each for each in found if np.isfinite(each).all()])
        m = len(changes)
        if m < 2:
            return np.nan
        products, mean_square = changes.prod(axis=1), float((changes**2).mean())
        return max(float(products.sum() + mean_square / 2) / (m + 1), 0.0)

    def _known_pairs(self, measure: Measure) -> list[tuple[tuple[int, int], Fold]]:
        scores = self.scores[measure.name]
        return [
            (pair, fold)
            for pair, fold in zip(self.pairs, self.pair_folds)
            if fold.said is not None and not np.isnan(scores[list(pair)]).any()
        ]

    def _changes(self, measure: Measure, pair: tuple[int, int], fold: Fold) -> list[float]:
        """Change of each fold's score when the other joins the training rows.

        NaN where the measure is undefined for what was said without both.
        """
        begin, changes = 0, []
        for number in pair:
            test = self.splits[number][1]
            part = fold.said.part(slice(begin, begin + len(test)))
            begin += len(test)
            try:
                with_other = _score(measure, self.y[test], self.folds[number].said)
                changes.append(with_other - _score(measure, self.y[test], part))
            except DataError:
                changes.append(np.nan)
        return changes

    def interval(self, confidence_level: float = 0.95) -> Estimate:
        """The first measure with its interval; see `figure`.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        return self.figure(confidence_level=confidence_level)

    def pooled(self, measure: str | None = None) -> float:
        """The measure of all rows at once, per repetition, averaged (003 2.1.7.2).

        Parameters
        ----------
        measure : str, default=None

        Returns
        -------
        value : float
        """
        chosen = self._measure(measure)
        values = []
        for repeat in range(self.splits.n_repeats):
            rows, said = self.out_of_fold(repeat)
            found = chosen.figure(self.y[rows], said)
            values.append(found.value if isinstance(found, Estimate) else float(found))
        return float(np.mean(values))

    def mean_over_folds(self, measure: str | None = None) -> float:
        """The plain mean of the folds' scores.

        Parameters
        ----------
        measure : str, default=None

        Returns
        -------
        value : float
        """
        return float(np.nanmean(self.scores[self._measure(measure).name]))

    def out_of_fold(self, repeat: int = 0) -> tuple[np.ndarray, Said]:
        """Positions of the rows tested in a repetition, ascending, and what was said of them.

        Parameters
        ----------
        repeat : int, default=0

        Returns
        -------
        rows : ndarray of int
        said : Said
        """
        k = self.splits.n_folds
        numbers = [i for i in range(repeat * k, (repeat + 1) * k) if self.folds[i].said is not None]
        if not numbers:
            raise DataError(f"every fold of repetition {repeat} failed: {self.failures[0]}")
        rows = np.concatenate([self.splits[i][1] for i in numbers])
        order = np.argsort(rows, kind="stable")
        parts = [self.folds[i].said for i in numbers]
        return rows[order], Said(
            _joined([each.predictions for each in parts])[order],
            _joined([each.probabilities for each in parts], order),
            _joined([each.scores for each in parts], order),
            self.classes,
            {need: why for each in parts for need, why in each.lacks.items()},
        )

    @property
    def predictions(self) -> np.ndarray:
        """Predictions out of fold of the first repetition, in the order of the rows.

        Only where every row is tested once and no fold failed; `out_of_fold` says which rows.
        """
        rows, said = self.out_of_fold()
        if len(rows) != self.splits.n_rows or (np.diff(rows) != 1).any():
            raise DataError(
                f"not every row was tested once ({len(rows):,} tests of {self.splits.n_rows:,} "
                "rows); out_of_fold() gives the rows with their predictions"
            )
        return said.predictions

    def generalisation_gap(self, measure: str | None = None) -> Estimate:
        """Test minus training score, per fold, with the corrected error of its mean.

        Parameters
        ----------
        measure : str, default=None

        Returns
        -------
        figure : Estimate
        """
        name = self._measure(measure).name
        if name not in self.train_scores:
            raise DataError("training scores were not asked for: cross_validate(train_scores=True)")
        return gap_figure(self.scores[name], self.train_scores[name], self.test_share)

    def p_against(self, other: CrossValidation) -> float:
        """Two-sided p of no difference in the first measure (corrected resampled t test).

        Parameters
        ----------
        other : CrossValidation
            On the same splits.

        Returns
        -------
        p : float
            NaN where a score is infinite: the differences then have no spread.
        """
        one, two = paired_scores(self, other)
        if np.isinf([one, two]).any():
            return np.nan
        return corrected_t_test(one, two, self.test_share).p

    def _measure(self, name: str | None) -> Measure:
        if name is None:
            return self.measures[0]
        found = next((each for each in self.measures if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.measures)
            raise DataError(f"{name!r} was not measured; there are {known}")
        return found

    def _over_rows(self, measure: Measure, confidence_level: float) -> Estimate:
        losses, owners = self._losses(measure)
        infinite = np.isinf(losses)
        mean, effects = clustered(np.where(infinite, ROUNDED_TO_ZERO, losses), owners)
        figure = mean_interval(mean + effects, confidence_level=confidence_level)
        covariance = self.fold_covariance(measure.name)
        if figure.error > 0 and not np.isnan(covariance):
            figure = _widened(figure, np.hypot(1, np.sqrt(self._added(covariance)) / figure.error))
        if infinite.any():
            return lower_end_alone(figure, int(infinite.sum()))
        if measure.share and np.isin(losses, (0.0, 1.0)).all():
            freedom = np.inf if self.splits.groups is None else len(effects) - 1
            figure = _share_like(mean, figure, len(effects), confidence_level, freedom)
        return root_of(figure) if measure.root else figure

    def _added(self, covariance: float) -> float:
        """Variance that the covariance of folds adds to that of their mean."""
        return 0.0 if np.isnan(covariance) else (1 - 1 / self.splits.n_folds) * covariance

    def _losses(self, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
        """Losses of all tests, and whose they are: the row's, or its group's."""
        losses, owners = [], []
        for (_, test), fold, score in zip(
            self.splits, self.folds, self.scores[measure.name], strict=True
        ):
            if fold.said is not None and not np.isnan(score):
                losses.append(measure.row_losses(self.y[test], fold.said))
                owners.append(test if self.splits.groups is None else self.splits.groups[test])
        return np.concatenate(losses), np.concatenate(owners)

    def _within_folds(
        self, scores: np.ndarray, errors: np.ndarray, covariance: float, confidence_level: float
    ) -> Estimate:
        # rows that are tested again do not make the error smaller
        variance = (errors**2).mean() * self.splits.tests_per_row / len(errors)
        error = float(np.sqrt(variance + self._added(covariance)))
        mean = float(scores.mean())
        how = "standard errors within the folds"
        how += "" if np.isnan(covariance) else " and covariance of folds"
        if ((scores >= 0) & (scores <= 1)).all() and 0 < mean < 1:
            return logit_scale_interval(mean, error, confidence_level, how)
        half = normal_quantile(confidence_level) * error
        return Estimate(mean, mean - half, mean + half, confidence_level, error, how)

    def _as_of_one_test(self, measure: Measure, figure: Estimate) -> Estimate:
        """A share whose folds have no spread, with the interval of all their rows at once.

        Where the measure has none, that of a share of the rows of the rarest class.
        """
        rows, said = self.out_of_fold()
        found: Estimate | float = np.nan
        if measure.needs != "estimator":
            found = measure.at_level(figure.confidence_level).figure(self.y[rows], said)
        if not isinstance(found, Estimate):
            n = len(rows) if self.classes is None else np.unique_counts(self.y[rows]).counts.min()
            found = share_interval(min(max(figure.value, 0.0), 1.0) * n, n, figure.confidence_level)
        low, high = min(found.low, figure.value), max(found.high, figure.value)
        return figure._replace(low=low, high=high, how=f"{found.how}, of all folds at once")

    def _title(self) -> str:
        parts = [f"{each.name} {self.figure(each.name)}" for each in self.measures]
        return f"{self.name}: {', '.join(parts)} ({self.splits.how})"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"fold": list(range(len(self.folds)))}
        columns["test rows"] = [len(test) for _, test in self.splits]
        columns |= {name: scores.tolist() for name, scores in self.scores.items()}
        columns |= {f"train {name}": s.tolist() for name, s in self.train_scores.items()}
        columns["fit s"] = [each.fit_seconds for each in self.folds]
        columns["predict s"] = [each.predict_seconds for each in self.folds]
        if not np.isnan(self.peak_memory):
            columns["peak MB"] = [each.peak_memory / 1e6 for each in self.folds]
        return columns

    def _remarks(self) -> list[str]:
        remarks = [f"95% interval: {self.figure().how}"]
        if self.splits.ordered and self.splits.groups is None:
            remarks.append(
                "Rows in order of time: neighbours are alike, so intervals are too narrow"
            )
        for name, scores in self.scores.items():
            if np.isinf(scores).any():
                remarks.append(f"{name} is infinite: some true classes had probability zero")
        few = self.splits.n_rows < FEW_ROWS * self.n_columns
        if few and len(self.splits) > 1 and np.isnan(self.fold_covariance()):
            remarks.append(
                f"Fewer than {FEW_ROWS} rows per column, and no pairs of folds were left out: the "
                "interval may be too narrow; figure(method='folds') is the careful one"
            )
        return [*remarks, *self.failure_remarks()]

    def failure_remarks(self) -> list[str]:
        """What failed, in words: whole folds, and measures that could not be taken.

        Returns
        -------
        remarks : list of str
        """
        whole = [each for each in self.failures if each.measure is None]
        remarks = []
        if whole:
            first = {each.error: each for each in reversed(whole)}
            shown = "; ".join(map(str, sorted(first.values(), key=lambda each: each.fold)[:3]))
            remarks.append(
                f"{len(whole)} of {len(self.folds)} folds failed and are left out: {shown}"
            )
        single = [each for each in self.failures if each.measure is not None]
        for measure in dict.fromkeys(each.measure for each in single):
            mine = [each for each in single if each.measure == measure]
            failed = len({each.fold for each in mine})
            remarks.append(
                f"{measure} could not be taken of {failed} of {len(self.folds)} folds, which are "
                f"left out of it; the first, fold {mine[0].fold}: {mine[0].error}"
            )
        return remarks


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = "auto",
    measures: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    train_scores: bool = False,
    keep_models: bool = False,
    measure_memory: bool = False,
    pair_fits: int | str = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
    name: str | None = None,
) -> CrossValidation:
    """Fit a learner on every split and say how good it is on the rows it has not seen.

    Scores, predictions out of fold, times and failures are kept; a learner that fails in a fold
    does not stop the others, and what it warns of in several folds is said once. The result is the
    same to the bit for every `n_jobs`. The estimate is of the learner as it is given: choosing
    among learners by it makes the winner's score too good (see `nested_cross_validation`).

    Parameters
    ----------
    estimator : estimator
        Any of scikit-learn's form; cloned for every fold.
    X : array-like, sparse matrix, data frame or Table of shape (n, d)
    y : array-like or str, default=None
        The target, or the name of its column in X.
    cv : "auto", int, Splits, splitter or list of pairs, default="auto"
        ``"auto"`` is `auto_folds`, stratified for classifiers; an int is a number of folds. With
        groups, splits that have one on both sides are refused.
    measures : str, Measure, Loss, callable, or list or mapping of these, default=None
        Accuracy for classifiers, root mean squared error for regressors by default; names are
        those of `MEASURES` and scikit-learn's scorers. The first one counts. Functions are those of
        this room and of scikit-learn; for others a `Measure` says whether more is better. A measure
        that a learner cannot give fails alone.
    groups : array-like of shape (n,), default=None
        Rows of a group stay together, and count as one in intervals.
    sample_weight : array-like of shape (n,), default=None
        Given to ``fit``; measures are not weighted.
    train_scores : bool, default=False
        Score the training rows too.
    keep_models : bool, default=False
        Keep the fitted learner of every fold; not beside `folder`.
    measure_memory : bool, default=False
        Run fold after fold and trace what Python and NumPy allocate; slower.
    pair_fits : int or "auto", default="auto"
        Further fits, without pairs of folds, which the intervals need where models hang on single
        rows; ``"auto"`` is five where there are three folds or more of fewer than 10,000 rows. 0
        spares the time, and the interval is then too narrow for flexible learners.
    random_state : int or None, default=0
        Seeds the splits, and every ``random_state`` of the learner that is None, fold by fold.
    n_jobs : int or None, default=None
        Folds side by side, on threads.
    progress : bool or callable, default=None
        True for a bar; a function is called as ``progress(done, total)``.
    folder : str or Path, default=None
        Results are written there as they come; the same call goes on where a killed one ended.
        Folds that failed are tried again.
    name : str, default=None
        The learner's class by default.

    Returns
    -------
    result : CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> found = cross_validate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> print(found.figure())
    0.953 (0.905 to 0.979)
    """
    problem = Problem.of(estimator, X, y, groups, sample_weight)
    name = name or type(estimator).__name__
    plan = as_splits(cv, problem.n_rows, problem.strata, groups, random_state)
    chosen = as_measures(measures, problem.task)
    if folder is not None and keep_models:
        raise DataError("fitted models are not kept in a folder; leave keep_models or folder out")
    work = FoldWork(
        estimator, problem, chosen, train_scores, keep_models, measure_memory, random_state
    )
    pairs = fold_pairs(plan, pair_fits)
    tasks = [*plan, *(without_both(plan, *pair) for pair in pairs)]
    store = None
    if folder is not None:
        store = RunFolder(folder, work.plan(tasks))
    folds = run_folds(
        work, tasks, len(plan), store, 1 if measure_memory else n_jobs, progress, name
    )
    found = scored(name, plan, chosen, problem, folds[: len(plan)], train_scores)
    found.pairs, found.pair_folds = pairs, folds[len(plan) :]
    return found


def fold_pairs(plan: Splits, n_fits: int | str) -> list[tuple[int, int]]:
    """Pairs of folds to leave out together; none where the splits are no folds of all rows.

    Every fold comes in before one comes in again.
    """
    if n_fits == "auto":
        n_fits = PAIR_FITS if plan.n_rows < PLENTY else 0
    if not isinstance(n_fits, int) or n_fits < 0:
        raise DataError(f"pair_fits={n_fits!r} is neither a number from 0 on nor 'auto'")
    k = plan.n_folds
    if n_fits == 0 or k < 3 or not plan.partition:
        return []
    numbers = [*range(0, k, 2), *range(1, k, 2)]
    ring = [(a, (a + gap) % k) for gap in range(1, k // 2 + 1) for a in numbers]
    distinct = dict.fromkeys((min(pair), max(pair)) for pair in ring)
    return list(distinct)[:n_fits]


def without_both(plan: Splits, one: int, other: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows without two folds, and the rows of the two."""
    train, test = plan[one]
    return np.setdiff1d(train, plan[other][1]), np.concatenate([test, plan[other][1]])


@dataclass
class Problem:
    """Rows, target and what belongs to them, checked once.

    Attributes
    ----------
    X : array-like, frame or Table
    y : ndarray or None
    task : str
        ``"classify"``, ``"regress"``, ``"other"`` or ``"alone"`` (no target).
    classes : ndarray or None
    weights : ndarray or None
    more : dict of str to ndarray
        Further columns that ``fit`` takes, by name.
    """

    X: Any
    y: np.ndarray | None
    task: str
    classes: np.ndarray | None
    weights: np.ndarray | None
    more: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, learner: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> Problem:
        """Take in what the user gave."""
        check_learner(learner)
        X, y = with_target(X, y)
        n = n_rows_of(X)
        if n < 2:
            raise DataError(f"{n} rows cannot be split in training and test rows")
        task = _task(learner, y)
        classes = None
        if task == "classify":
            y = label_column(y, "y")
            classes = np.unique(y)
        elif task == "regress":
            y = number_block(y, "y")
        elif y is not None:
            y = np.asarray(native(y))
        if y is not None and len(y) != n:
            raise DataError(f"X has {n:,} rows and y {len(y):,}")
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, n)
        return cls(X, y, task, classes, weights)

    @property
    def n_rows(self) -> int:
        return n_rows_of(self.X)

    @property
    def n_columns(self) -> int:
        shape = getattr(self.X, "shape", ())
        return int(shape[1]) if len(shape) == 2 else 0

    @property
    def strata(self) -> np.ndarray | None:
        """What to stratify by: the classes, where there are any."""
        return self.y if self.task == "classify" else None

    def part(self, rows: np.ndarray) -> tuple[Any, np.ndarray | None, dict[str, np.ndarray]]:
        """Rows, target, and weights and the like at some positions."""
        weights = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        more = weights | {name: column[rows] for name, column in self.more.items()}
        return take_rows(self.X, rows), None if self.y is None else self.y[rows], more


@dataclass
class FoldWork:
    """One fold of one learner, as a function of the fold's number and rows."""

    learner: Any
    problem: Problem
    measures: list[Measure]
    train_scores: bool
    keep_models: bool
    measure_memory: bool
    random_state: int | None

    def __call__(self, number: int, train: np.ndarray, test: np.ndarray) -> Fold:
        if not self.measure_memory:
            return self._run(number, train, test)
        traced_already = tracemalloc.is_tracing()
        tracemalloc.reset_peak() if traced_already else tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        try:
            fold = self._run(number, train, test)
            fold.peak_memory = float(tracemalloc.get_traced_memory()[1] - before)
        finally:
            if not traced_already:
                tracemalloc.stop()
        return fold

    def plan(self, splits: Sequence[Pair]) -> dict[str, Any]:
        """What is run, for the folder that keeps it."""
        rows = np.concatenate([np.concatenate([*pair, [-1]]) for pair in splits])
        return {
            "learner": description(self.learner),
            "rows": fingerprint(self.problem.X),
            "target": fingerprint(self.problem.y),
            "weights": fingerprint(self.problem.weights),
            "splits": fingerprint(rows),
            "random_state": self.random_state,
            "measures": [_identity(each) for each in sorted(self.measures, key=_name)],
            "train_scores": self.train_scores,
            **{name: fingerprint(column) for name, column in self.problem.more.items()},
        }

    def _run(self, number: int, train: np.ndarray, test: np.ndarray) -> Fold:
        rows, y, weights = self.problem.part(train)
        stage, begin = "fit", time.perf_counter()
        fitted = predicted = begin
        try:
            model = seeded(self.learner, self.random_state, number)
            model.fit(rows, y, **weights) if y is not None else model.fit(rows, **weights)
            fitted = time.perf_counter()
            stage = "predict"
            test_rows, test_y, _ = self.problem.part(test)
            said = self.said_by(model, test_rows)
            predicted = time.perf_counter()
            stage = "score"
            values, refused = self._values(number, model, (rows, y), (test_rows, test_y))
        except Exception as error:
            failure = Failure(
                number, stage, f"{type(error).__name__}: {error}", traceback.format_exc()
            )
            end = time.perf_counter()
            return Fold(None, {}, (fitted if stage != "fit" else end) - begin, 0.0, failure=failure)
        kept = model if self.keep_models else None
        return Fold(said, values, fitted - begin, predicted - fitted, model=kept, refused=refused)

    def said_by(self, model: Any, rows: Any) -> Said:
        """All that the measures need to hear about rows, as far as the learner can say it."""
        needs = {each.needs for each in self.measures}
        if needs == {"estimator"} and not hasattr(model, "predict"):
            return Said(np.empty(0))
        predictions = np.asarray(model.predict(rows))
        if predictions.dtype.kind == "f" and not np.isfinite(predictions).all():
            wrong = ~np.isfinite(predictions)
            raise DataError(
                f"{int(wrong.sum()):,} of {wrong.size:,} predictions are NaN or infinite "
                f"(first: row {int(np.argwhere(wrong)[0][0])} of those asked for)"
            )
        said = Said(predictions, classes=self.problem.classes)
        asks = (("probabilities", self._probabilities), ("scores", self._scores))
        for need, ask in asks:
            if need in needs:
                try:
                    setattr(said, need, ask(model, rows, said.probabilities))
                except Unsaid as why:
                    said.lacks[need] = str(why)
        return said

    def _probabilities(self, model: Any, rows: Any, known: np.ndarray | None) -> np.ndarray:
        """Probabilities of all classes of the data; zero for those not among the training rows."""
        if known is not None:
            return known
        if not hasattr(model, "predict_proba"):
            raise Unsaid(f"{type(model).__name__} has no predict_proba, which a measure needs")
        given = np.asarray(model.predict_proba(rows))
        whole = np.zeros((len(given), len(self.problem.classes)))
        whole[:, np.searchsorted(self.problem.classes, model.classes_)] = given
        return whole

    def _scores(self, model: Any, rows: Any, known: np.ndarray | None) -> np.ndarray:
        """Scores of the second of two classes; its probabilities where there are no others."""
        if self.problem.classes is None or len(self.problem.classes) != 2:
            n = 0 if self.problem.classes is None else len(self.problem.classes)
            raise Unsaid(
                f"a measure of two classes was asked for, and there are {n}; auc_one_vs_one, "
                "auc_one_vs_rest and log_loss are of several"
            )
        if hasattr(model, "decision_function") and len(model.classes_) == 2:
            return np.asarray(model.decision_function(rows), dtype=float)
        return self._probabilities(model, rows, known)[:, 1]

    def _values(
        self, number: int, model: Any, train: tuple[Any, Any], test: tuple[Any, Any]
    ) -> tuple[dict[str, float], dict[str, Failure]]:
        """Scores that need the model or the training rows, and those that could not be got."""
        takes: dict[str, Callable[[], Estimate | float]] = {
            each.name: partial(each.function, model, *test)
            for each in self.measures
            if each.needs == "estimator"
        }
        if self.train_scores:
            rows, y = train
            said = self.said_by(model, rows)
            for each in (m for m in self.measures if m.needs not in said.lacks):
                take = partial(each.figure, said=said)
                if each.needs == "estimator":
                    take = partial(each.function, model, rows)
                takes[f"train {each.name}"] = partial(take, y)
        values, refused = {}, {}
        for name, take in takes.items():
            found, failure = _attempt(take, number, name)
            if failure is None:
                values[name] = found.value if isinstance(found, Estimate) else float(found)
            else:
                refused[name] = failure
        return values, refused


class Unsaid(DataError):
    """What a learner cannot say, whatever the rows."""


def seeded(learner: Any, random_state: int | None, number: int) -> Any:
    """A clone whose unset random states are set, each its own; so that threads do not matter."""
    model = clone(learner)
    if random_state is None:
        return model
    names = sorted(
        key
        for key, value in model.get_params(deep=True).items()
        if value is None and (key == "random_state" or key.endswith("__random_state"))
    )
    state = np.random.SeedSequence([random_state % 2**32, number]).generate_state(len(names) or 1)
    seeds = {name: int(seed % 2**31) for name, seed in zip(names, state)}
    return model.set_params(**seeds) if seeds else model


def clustered(losses: np.ndarray, owners: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean loss, and per owner its effect on the mean, scaled to average to the mean's error.

    With one loss per owner the effects are loss - mean.
    """
    mean = float(losses.mean())
    _, codes = np.unique(owners, return_inverse=True)
    sums = np.bincount(codes, losses - mean)
    return mean, sums * (len(sums) / len(losses))


def lower_end_alone(figure: Estimate, n_infinite: int) -> Estimate:
    """An infinite mean, with the lower end that finite stand-ins for the infinite losses gave."""
    how = f"{n_infinite:,} infinite losses: there is a lower end alone"
    return Estimate(np.inf, figure.low, np.inf, figure.confidence_level, np.nan, how)


def not_narrower(figure: Estimate, of_rows: Estimate | None) -> Estimate:
    """The figure, with the interval of rows where that is the wider one, or the value infinite."""
    if of_rows is None or np.isinf(figure.value):
        return figure if of_rows is None else of_rows
    if not of_rows.high - of_rows.low > figure.high - figure.low:
        return figure
    low, high = min(of_rows.low, figure.value), max(of_rows.high, figure.value)
    return figure._replace(low=low, high=high, error=of_rows.error, how=of_rows.how)


def gap_figure(scores: np.ndarray, others: np.ndarray, test_share: float) -> Estimate:
    """Scores minus others of the same folds, with the corrected error of their mean."""
    both = ~(np.isnan(scores) | np.isnan(others))
    if np.isinf([scores[both], others[both]]).any():
        how = "a score is infinite: the gap is not known"
        return Estimate(np.nan, np.nan, np.nan, how=how)
    return resampled_figure(scores[both] - others[both], test_share)


def paired_scores(one: CrossValidation, other: CrossValidation) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the first measure on folds that both got; refuses different splits."""
    same = len(one.splits) == len(other.splits) and all(
        np.array_equal(a[1], b[1]) for a, b in zip(one.splits, other.splits)
    )
    if not same:
        raise DataError(
            f"{one.name} and {other.name} were tested on different splits; a paired comparison "
            "needs the same ones"
        )
    measure = one.measures[0].name
    if measure not in other.scores:
        raise DataError(f"{other.name} was not scored by {measure}")
    a, b = one.scores[measure], other.scores[measure]
    both = ~(np.isnan(a) | np.isnan(b))
    return a[both], b[both]


def with_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and target, where the target may be the name of a column."""
    if isinstance(X, Scan):
        raise DataError("cross-validation takes rows in memory; read the table instead of scanning")
    if sp.issparse(X):
        return sp.csr_array(X), y
    X = native(X)
    if not isinstance(y, str):
        return X if hasattr(X, "shape") or is_table(X) else np.asarray(X), y
    if not is_table(X):
        raise DataError(f"y={y!r} names a column, but X is an array; give y as an array")
    if isinstance(X, Table):
        return X.drop(y), X.column(y)
    frame = nw.from_native(X, eager_only=True)
    if y not in frame.columns:
        raise DataError(f"the table has no column {y!r}; it has {', '.join(frame.columns)}")
    return frame.drop(y).to_native(), frame[y].to_native()


def check_learner(learner: Any) -> None:
    """Refuse what cannot be fitted, such as a class for an object of it."""
    if not hasattr(learner, "fit") or isinstance(learner, type):
        raise DataError(f"{learner!r} is no learner: give an estimator object with fit")


def _task(learner: Any, y: Any) -> str:
    if is_classifier(learner) and y is not None:
        return "classify"
    if is_regressor(learner) and y is not None:
        return "regress"
    if y is None and (is_classifier(learner) or is_regressor(learner)):
        raise DataError(f"{type(learner).__name__} needs a target: give y, or its column's name")
    return "alone" if y is None else "other"


def run_folds(
    work: FoldWork, splits: Sequence[Pair], n_told: int, store, n_jobs, progress, name: str
) -> list[Fold]:
    """All folds, in order; those that the folder has are not run again.

    Progress is told in units of the `n_told` folds that were asked for.
    """
    folds = [kept_fold(work, number, store) for number in range(len(splits))]
    open_ = [number for number, fold in enumerate(folds) if fold is None]

    def run(number: int) -> Fold:
        with in_fold(number):
            return new_fold(work, number, splits[number], store)

    with said_once(n_told), told(progress, name) as tell:
        done = len(splits) - len(open_)
        told_of = done * n_told // len(splits)
        tell(told_of, n_told)
        for number, fold in zip(open_, in_order(run, open_, n_jobs)):
            folds[number] = fold
            done += 1
            if done * n_told // len(splits) > told_of:
                told_of = done * n_told // len(splits)
                tell(told_of, n_told)
    return [fold for fold in folds if fold is not None]


def kept_fold(work: FoldWork, number: int, store: RunFolder | None) -> Fold | None:
    """A fold that the folder has; None where it must be run."""
    return None if store is None else _from_folder(store.read(number), work.problem)


def new_fold(work: FoldWork, number: int, split: Pair, store: RunFolder | None) -> Fold:
    """A fold that is run now, and kept where there is a folder."""
    fold = work(number, *split)
    if store is not None:
        store.write(number, *_to_folder(fold, work.problem))
    return fold


def _to_folder(fold: Fold, problem: Problem) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    facts = {
        "fit_seconds": fold.fit_seconds,
        "predict_seconds": fold.predict_seconds,
        "peak_memory": None if np.isnan(fold.peak_memory) else fold.peak_memory,
        "values": fold.values,
        "failure": None if fold.failure is None else vars(fold.failure),
        "refused": {name: str(each) for name, each in fold.refused.items()},
    }
    if fold.said is None:
        return facts, {}
    said = fold.said
    facts["lacks"] = said.lacks
    codes = said.predictions
    if problem.classes is not None:
        codes = np.searchsorted(problem.classes, said.predictions)
    arrays = {"predictions": codes, "probabilities": said.probabilities, "scores": said.scores}
    return facts, {key: array for key, array in arrays.items() if array is not None}


def _from_folder(kept, problem: Problem) -> Fold | None:
    """A fold that was kept; None where it must be run (also again, where it failed)."""
    if kept is None or kept[0].get("failure") is not None or kept[0].get("refused"):
        return None
    facts, arrays = kept
    predictions = arrays["predictions"]
    if problem.classes is not None:
        predictions = problem.classes[predictions]
    said = Said(
        predictions,
        arrays.get("probabilities"),
        arrays.get("scores"),
        problem.classes,
        facts.get("lacks", {}),
    )
    peak = facts["peak_memory"]
    return Fold(
        said,
        facts["values"],
        facts["fit_seconds"],
        facts["predict_seconds"],
        np.nan if peak is None else peak,
    )


def scored(name, splits, measures, problem, folds, train_scores: bool) -> CrossValidation:
    """Measure what the folds said; a measure that cannot be taken of a fold is a failure."""
    failures = [each.failure for each in folds if each.failure is not None]
    scores = {each.name: np.full(len(folds), np.nan) for each in measures}
    errors = {each.name: np.full(len(folds), np.nan) for each in measures}
    trained = {each.name: np.full(len(folds), np.nan) for each in measures} if train_scores else {}
    for number, fold in enumerate(folds):
        if fold.said is None:
            continue
        for measure in measures:
            failure, of_training = fold.refused.get(measure.name), f"train {measure.name}"
            if failure is None:
                take = partial(_take, measure, fold, splits[number][1], problem.y)
                found, failure = _attempt(take, number, measure.name)
            if failure is not None:
                failures.append(failure)
                continue
            scores[measure.name][number], errors[measure.name][number] = found
            if of_training in fold.refused:
                failures.append(fold.refused[of_training])
            elif train_scores:
                trained[measure.name][number] = fold.values[of_training]
    return CrossValidation(
        name,
        splits,
        measures,
        problem.y,
        problem.classes,
        folds,
        scores,
        trained,
        sorted(failures, key=lambda each: each.fold),
        errors,
        problem.n_columns,
    )


def _take(measure: Measure, fold: Fold, test: np.ndarray, y) -> tuple[float, float]:
    if measure.needs == "estimator":
        value, error = fold.values[measure.name], np.nan
    else:
        found = measure.figure(y[test], fold.said)
        if isinstance(found, Estimate):
            value, error = found.value, found.error
        else:
            value, error = float(found), np.nan
    if np.isnan(value):
        raise DataError(f"{measure.name} is NaN")
    return value, error


def _score(measure: Measure, y: np.ndarray, said: Said) -> float:
    """The mean loss of rows where the measure has losses (before a root), else the measure."""
    if measure.losses is not None:
        losses = measure.row_losses(y, said)
        return float(losses.mean()) if np.isfinite(losses).all() else np.nan
    found = measure.figure(y, said)
    return found.value if isinstance(found, Estimate) else float(found)


def _attempt(take: Callable[[], Any], number: int, measure: str):
    try:
        return take(), None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return None, Failure(number, "score", what, traceback.format_exc(), measure)


def _name(measure: Measure) -> str:
    return measure.name


def _identity(measure: Measure) -> Any:
    """What a measure is, for the folder: its name where that says it, else its function too."""
    if is_named(measure):
        return measure.name
    return {"name": measure.name, "function": description(measure.function)}


def _widened(figure: Estimate, factor: float) -> Estimate:
    """The figure with an interval and a standard error that are wider by a factor."""
    return figure._replace(
        low=figure.value - factor * (figure.value - figure.low),
        high=figure.value + factor * (figure.high - figure.value),
        error=factor * figure.error,
        how=f"{figure.how}, and for the covariance of folds",
    )


def _share_like(
    share: float, figure: Estimate, n: int, confidence_level: float, freedom: float
) -> Estimate:
    """The interval of a share whose rows count as often as its standard error says."""
    if not figure.error > 0:
        found = share_interval(min(max(share, 0.0), 1.0) * n, n, confidence_level)
    else:
        found = share_like_interval(share, figure.error, confidence_level, "Agresti-Coull", freedom)
    how = figure.how.replace("Student, corrected for skewness", f"{found.how}, spread over rows")
    return found._replace(error=figure.error, how=how.replace("Student", found.how))


def _joined(parts: list, order: np.ndarray | None = None) -> Any:
    if any(each is None for each in parts):
        return None
    whole = np.concatenate(parts)
    return whole if order is None else whole[order]
