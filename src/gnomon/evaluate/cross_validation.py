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

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError
from gnomon.evaluate.cross_validation_result import CrossValidation
from gnomon.evaluate.fold_run import Fold, FoldWork, Problem, attempted, run_folds
from gnomon.evaluate.measures import Measure, as_measures
from gnomon.evaluate.progress import Progress
from gnomon.evaluate.run_folder import RunFolder
from gnomon.evaluate.splits import PLENTY, Splits, as_splits

PAIR_FITS = 5  # five pairs hold each of the usual ten folds once, for half as many fits again


def cross_validation_estimates(
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
    >>> found = cross_validation_estimates(GaussianNB(), *load_iris(return_X_y=True), cv=5)
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


def scored(
    name: str,
    splits: Splits,
    measures: list[Measure],
    problem: Problem,
    folds: list[Fold],
    train_scores: bool,
) -> CrossValidation:
    """Score the predictions of the folds; a measure that fails in a fold is a failure."""
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
                found, failure = attempted(take, number, measure.name)
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


def _take(measure: Measure, fold: Fold, test: np.ndarray, y: Any) -> tuple[float, float]:
    if measure.needs == "estimator":
        value, error = fold.values[measure.name], np.nan
    else:
        assert fold.said is not None
        found = measure.figure(y[test], fold.said)
        if isinstance(found, Estimate):
            value, error = found.value, found.error
        else:
            value, error = float(found), np.nan
    if np.isnan(value):
        raise DataError(f"{measure.name} is NaN")
    return value, error
