"""Bias and variance of a learner, by training it again and again.

At a row x, with predictions g_k(x) from K training sets and their mean g(x),

    E (y - g_k)^2 = noise + (g - f)^2 + E (g_k - g)^2 = noise + bias^2 + variance.

With a simulator whose f is known the three parts are apart; with one table, bootstrap samples stand
for training sets and the noise stays in the bias. For the 0-1 loss the parts that add up are what
the commonest prediction costs beyond the best one, and what single predictions cost beyond that.

Texts: 000b 11.1.1 · 001 4.3.1 (eqs. 23, 24) · 002 (least squares and ridge: the printed variances
lack a square and misplace a transpose).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from gnomon.contract.estimate import Estimate, check_level, student_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.curves import Curve, held_out_rows
from gnomon.evaluate.fold_run import Problem, seeded
from gnomon.table.grid import take_rows

PARTS = ("noise", "bias^2", "variance", "expected error")
CLASS_PARTS = ("noise", "bias", "variance", "expected error")


@dataclass(frozen=True, repr=False, eq=False)
class BiasVariance(Result):
    """The parts of a learner's expected error.

    Attributes
    ----------
    parts : dict of str to Estimate
        Noise (0, and contained in the bias, where it is not known), bias, variance and their sum,
        the expected error. They add up exactly.
    rows : array
        Where the error was taken.
    by_row : dict of str to ndarray
        The same parts at every row.
    mean_prediction : ndarray
        Mean, or commonest, prediction at every row.
    n_sets : int
        Training sets.
    disagreement : float or None
        Of classifiers: how often a prediction is not the commonest one.
    noise_known : bool
    """

    parts: dict[str, Estimate]
    rows: Any
    by_row: dict[str, np.ndarray]
    mean_prediction: np.ndarray
    n_sets: int
    disagreement: float | None
    noise_known: bool

    def __getitem__(self, part: str) -> Estimate:
        return self.parts[part]

    def _title(self) -> str:
        return f"Bias and variance over {self.n_sets} training sets"

    def _columns(self) -> dict[str, list[Any]]:
        shown: dict[str, Estimate | None] = dict(self.parts)
        if not self.noise_known:
            shown["noise"] = None
        return {"part": list(shown), "share of the error": list(shown.values())}

    def _remarks(self) -> list[str]:
        remarks = [] if self.noise_known else ["the noise is not known and is part of the bias"]
        if self.disagreement is not None:
            remarks.append(f"predictions differ from the commonest one: {self.disagreement:.3g}")
        return remarks


def bias_variance(
    estimator: Any,
    oracle: Any,
    n: int,
    *,
    n_sets: int = 100,
    n_test: int = 1000,
    confidence_level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Bias, variance and noise of a learner on a simulator whose truth is known.

    A study of a learner, not of data: with data alone use `bias_variance_of`. The bias is corrected
    for the finite number of training sets: (g - f)^2 is too large by variance / K.

    Parameters
    ----------
    estimator : estimator
    oracle : FunctionOracle, ClassOracle or alike
        With ``sample(n, rng)``, and ``target(X)`` and ``noise`` (numbers) or ``proba(X)`` and
        ``classes`` 0, 1, 2 ... (classes); see `gnomon.table`.
    n : int
        Rows of a training set.
    n_sets : int, default=100
        Training sets; at least 3.
    n_test : int, default=1000
        Rows at which predictions are compared.
    confidence_level : float, default=0.95
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    found : BiasVariance
        Error bars are of the finite numbers of training sets (jackknife) and of test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluate import BaselineRegressor
    >>> from gnomon.table import FunctionOracle
    >>> wave = FunctionOracle(lambda X: np.sin(X[:, 0]), d=1, noise=0.5, high=2 * np.pi)
    >>> found = bias_variance(BaselineRegressor(), wave, n=20, random_state=0)
    >>> print(found["bias^2"].low < 0.5 < found["bias^2"].high)  # mean of sin^2
    True
    """
    _check(n_sets, confidence_level)
    test = oracle.sample(n_test, np.random.default_rng([random_state, 0]))
    classes = is_classifier(estimator)

    def predictions(k: int) -> np.ndarray:
        drawn = oracle.sample(n, np.random.default_rng([random_state, 1, k]))
        return np.asarray(seeded(estimator, random_state, k).fit(drawn.X, drawn.y).predict(test.X))

    said = np.stack(list(in_order(predictions, range(n_sets), n_jobs, anywhere=True)))
    if classes:
        return _of_classes(said, np.asarray(oracle.proba(test.X)), test.X, True, confidence_level)
    noise = np.full(n_test, float(oracle.noise) ** 2)
    return _of_numbers(
        said, np.asarray(oracle.target(test.X)), noise, test.X, True, confidence_level
    )


def bias_variance_of(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | float = 0.3,
    n_sets: int = 100,
    confidence_level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Bias and variance of a learner on one table, with bootstrap samples as training sets.

    Rows are held out; the learner is fitted to bootstrap samples of the others. The variance is a
    little too large, as a bootstrap sample holds fewer different rows than a fresh one, and the
    noise cannot be told from the bias.

    Parameters
    ----------
    estimator : estimator
    X : array-like, data frame or Table of shape (n, n_columns)
    y : array-like of shape (n,) or str
    test : float or (X, y), default=0.3
        Share of rows to hold out, or rows kept aside.
    n_sets : int, default=100
    confidence_level : float, default=0.95
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    found : BiasVariance

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> stump = bias_variance_of(DecisionTreeRegressor(max_depth=1), X, y, random_state=0)
    >>> tree = bias_variance_of(DecisionTreeRegressor(), X, y, random_state=0)
    >>> stump["bias^2"].value > tree["bias^2"].value
    True
    >>> stump["variance"].value < tree["variance"].value
    True
    """
    _check(n_sets, confidence_level)
    problem = Problem.of(estimator, X, y, None, None)
    if problem.task not in ("classify", "regress"):
        raise DataError(f"{type(estimator).__name__} predicts neither classes nor numbers")
    targets, n_rows = problem.y, problem.n_rows
    assert targets is not None
    if isinstance(test, tuple):
        train, (test_rows, test_y) = np.arange(n_rows), held_out_rows(problem, test)
    else:
        order = np.random.default_rng([random_state, 0]).permutation(n_rows)
        held = round(test * n_rows)
        if not 0 < held < n_rows:
            raise DataError(f"test={test} of {n_rows} rows leaves nothing to train or test on")
        train = order[held:]
        test_rows, test_y = take_rows(problem.X, order[:held]), targets[order[:held]]

    def predictions(k: int) -> np.ndarray:
        rng = np.random.default_rng([random_state, 1, k])
        bag = rng.choice(train, len(train))
        fitted = seeded(estimator, random_state, k).fit(take_rows(problem.X, bag), targets[bag])
        return np.asarray(fitted.predict(test_rows))

    said = np.stack(list(in_order(predictions, range(n_sets), n_jobs, anywhere=True)))
    if is_classifier(estimator):
        classes, codes = np.unique(np.concatenate([test_y, said.ravel()]), return_inverse=True)
        truth = np.eye(len(classes))[codes[: len(test_y)]]
        said = codes[len(test_y) :].reshape(said.shape)
        return _of_classes(said, truth, test_rows, False, confidence_level, classes)
    noise = np.zeros(len(test_y))
    return _of_numbers(said, test_y.astype(np.float64), noise, test_rows, False, confidence_level)


def bias_variance_curve(
    estimator: Any,
    oracle: Any,
    n: int,
    parameter: str,
    values: Sequence[Any],
    *,
    n_sets: int = 100,
    n_test: int = 1000,
    confidence_level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Curve:
    """Bias, variance and noise against a complexity parameter, on a simulator.

    The same training sets and test rows at every value, so that the lines are comparable.

    Parameters
    ----------
    estimator : estimator
    oracle : FunctionOracle, ClassOracle or alike
        As in `bias_variance`.
    n : int
        Rows of a training set.
    parameter : str
    values : sequence
    n_sets : int, default=100
    n_test : int, default=1000
    confidence_level : float, default=0.95
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    curve : Curve
        One line per part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from gnomon.table import FunctionOracle
    >>> wave = FunctionOracle(lambda X: np.sin(X[:, 0]), d=1, noise=0.5, high=6.0)
    >>> curve = bias_variance_curve(
    ...     KNeighborsRegressor(), wave, 50, "n_neighbors", [1, 40], n_sets=20, random_state=0
    ... )
    >>> bool(curve.values("variance")[0] > curve.values("variance")[1])
    True
    """
    lines: dict[str, list[Estimate]] = {}
    for value in values:
        setting = clone(estimator).set_params(**{parameter: value})
        found = bias_variance(
            setting,
            oracle,
            n,
            n_sets=n_sets,
            n_test=n_test,
            confidence_level=confidence_level,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        for part, figure in found.parts.items():
            lines.setdefault(part, []).append(figure)
    title = f"Bias and variance of {type(estimator).__name__}, {n} rows, {n_sets} training sets"
    return Curve(title, parameter, list(values), lines)


def linear_prediction_variance(
    rows: ArrayLike, at: ArrayLike, sigma: float, alpha: float = 0.0
) -> np.ndarray:
    """Variance of the prediction of least squares or ridge at given rows, in closed form.

    sigma^2 ||X (X'X + alpha I)^-1 x||^2, over new noise on the same rows X. (002 prints it without
    the square and with the transpose elsewhere.)

    Parameters
    ----------
    rows : array-like of shape (n, k)
        Training rows X, with a column of ones where there is a constant.
    at : array-like of shape (m, k) or (k,)
    sigma : float
        Standard deviation of the noise.
    alpha : float, default=0.0
        Ridge penalty, of every column.

    Returns
    -------
    variance : ndarray of shape (m,)

    Examples
    --------
    >>> linear_prediction_variance([[1.0], [1.0], [1.0], [1.0]], [1.0], sigma=2.0)
    array([1.])
    """
    rows = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    at = np.atleast_2d(np.asarray(at, dtype=np.float64))
    if at.shape[1] != rows.shape[1]:
        raise DataError(f"rows have {rows.shape[1]} columns and the places {at.shape[1]}")
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    if alpha == 0 and (len(singular) < rows.shape[1] or singular[-1] <= 1e-12 * singular[0]):
        raise DataError("columns follow from each other: the variance is infinite; give alpha > 0")
    shrunk = singular / (singular**2 + alpha)
    return sigma**2 * (((at @ right.T) * shrunk) ** 2).sum(axis=1)


def _of_numbers(
    said: np.ndarray,
    truth: np.ndarray,
    noise: np.ndarray,
    rows: Any,
    noise_known: bool,
    confidence_level: float,
) -> BiasVariance:
    said = said.astype(np.float64).reshape(len(said), -1)
    k = len(said)
    mean = said.mean(axis=0)
    squares = ((said - mean) ** 2).sum(axis=0)
    by_row = _number_parts(mean, squares, k, truth, noise)
    # the same parts without one training set at a time
    without = []
    for each in said:
        mean_without = (k * mean - each) / (k - 1)
        squares_without = squares - (each - mean) ** 2 * k / (k - 1)
        parts = _number_parts(mean_without, squares_without, k - 1, truth, noise)
        without.append([parts[name].mean() for name in PARTS])
    figures = _figures(by_row, np.array(without), PARTS, confidence_level)
    return BiasVariance(figures, rows, by_row, mean, k, None, noise_known)


def _number_parts(
    mean: np.ndarray, squares: np.ndarray, k: int, truth: np.ndarray, noise: np.ndarray
) -> dict[str, np.ndarray]:
    variance = squares / (k - 1)
    bias = (mean - truth) ** 2 - variance / k
    return dict(zip(PARTS, (noise, bias, variance, noise + bias + variance)))


def _of_classes(
    said: np.ndarray,
    proba: np.ndarray,
    rows: Any,
    noise_known: bool,
    confidence_level: float,
    names: np.ndarray | None = None,
) -> BiasVariance:
    k, n = said.shape
    codes = said.astype(np.int64)
    votes = np.zeros((n, proba.shape[1]))
    for each in codes:
        votes[np.arange(n), each] += 1
    by_row = _class_parts(votes, proba)
    without = []
    for each in codes:
        votes[np.arange(n), each] -= 1
        parts = _class_parts(votes, proba)
        without.append([parts[name].mean() for name in CLASS_PARTS])
        votes[np.arange(n), each] += 1
    figures = _figures(by_row, np.array(without), CLASS_PARTS, confidence_level)
    main = votes.argmax(axis=1)
    disagreement = float(1 - (votes.max(axis=1) / k).mean())
    shown = main if names is None else names[main]
    return BiasVariance(figures, rows, by_row, shown, k, disagreement, noise_known)


def _class_parts(votes: np.ndarray, proba: np.ndarray) -> dict[str, np.ndarray]:
    """What the best, the commonest and the single prediction cost at every row."""
    best = 1 - proba.max(axis=1)
    main = 1 - proba[np.arange(len(proba)), votes.argmax(axis=1)]
    single = 1 - (votes * proba).sum(axis=1) / votes.sum(axis=1)
    return dict(zip(CLASS_PARTS, (best, main - best, single - main, single)))


def _figures(
    by_row: dict[str, np.ndarray],
    without: np.ndarray,
    names: tuple[str, ...],
    confidence_level: float,
) -> dict[str, Estimate]:
    """Means over rows, with the jackknife over training sets and the spread over rows."""
    k = len(without)
    of_sets = (k - 1) / k * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    quantile = student_quantile(confidence_level, k - 1)
    figures = {}
    for name, set_part in zip(names, of_sets):
        values = by_row[name]
        of_rows = values.var(ddof=1) / len(values) if len(values) > 1 else 0.0
        error = float(np.sqrt(set_part + of_rows))
        mean = float(values.mean())
        if names is PARTS and name == "variance" and mean > 0:
            # a variance is skew: its interval is symmetric in the logarithm
            factor = float(np.exp(quantile * error / mean))
            low, high = mean / factor, mean * factor
        else:
            low, high = mean - quantile * error, mean + quantile * error
            if name != "variance":
                # none of them is below zero, though what is found for a small bias may be
                low = max(low, min(mean, 0.0))
        figures[name] = Estimate(mean, low, high, confidence_level, error, "jackknife")
    return figures


def _check(n_sets: int, confidence_level: float) -> None:
    check_level(confidence_level)
    if n_sets < 3:
        raise DataError(f"n_sets={n_sets} training sets are too few for a spread; give 3 or more")
