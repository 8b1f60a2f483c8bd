"""How much a single feature tells of the target: scores that features are ranked by.

Correlation |r| (number, number) · correlation ratio eta^2 (number, category) · chi-square of the
table of counts · mutual information I(X;Y) = H(Y) - H(Y|X) · Fisher's index (m1 - m2)^2 / (s1^2 +
s2^2) with s^2 sums of squares · components of the Fisher vector S_w^-1 (m1 - m2) · weights of a
linear model on standardised columns · weights of boosted stumps.

Each feature is judged alone (the last three: linearly, or by thresholds), so that features which
tell only together, as in XOR, rank low. 004 eq. 7.5 prints H(Y|X) with a minus sign too many.

Texts: 004 7.2-7.5, 15.4.1 · 002 "Feature selection with AdaBoost" · 003 2.7.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.special import digamma

from gnomon.contract.estimate import finite_column
from gnomon.engine.errors import DataError
from gnomon.engine.products import inner
from gnomon.select.problem import Problem, binned
from gnomon.trees.stump import decision_stump

N_STUMPS = 30  # judgement: rounds of boosting that name the features that matter most
SHRINK = 1e-3  # of the mean variance: too small to be seen, lets dependent columns be solved
RATIO_ROUNDING = 1e-12  # share of the squares below which a spread is rounding


class Scored(NamedTuple):
    """Scores of all features, larger is better; p of no relation, NaN where there is no test."""

    scores: np.ndarray
    p_values: np.ndarray


def correlation(problem: Problem) -> Scored:
    """|r| of each feature with the target (the greatest over classes), p by Student's t law."""
    unit, targets = problem.unit, problem.targets
    share = problem.weights / problem.weights.sum()
    spread = np.sqrt(share @ targets**2)
    targets = targets / np.where(spread > RATIO_ROUNDING, spread, np.inf)
    r = np.abs(inner(unit, share[:, None] * targets)).max(axis=1, initial=0.0)
    r = np.minimum(problem.greatest(r), 1.0)
    freedom = max(problem.mass - 2, 1)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(freedom / np.maximum(1 - r * r, 0.0))
    return Scored(r, 2 * scipy.stats.t.sf(np.nan_to_num(t), freedom))


def correlation_ratio(problem: Problem) -> Scored:
    """eta^2: of a number by classes; of a numeric target by a feature's levels or bins."""
    if problem.n_classes:
        ratios = [
            eta_squared(problem.unit[:, j], problem.y, problem.weights)
            for j in range(problem.unit.shape[1])
        ]
        eta = problem.greatest(np.array(ratios))
        k = np.full(problem.n_features, problem.n_classes)
    else:
        target = problem.targets[:, 0]
        eta = np.array([eta_squared(target, codes, problem.weights) for codes in problem.codes.T])
        k = problem.codes.max(axis=0) + 1
    freedom = np.maximum(problem.mass - k, 1)
    above = np.maximum(k - 1, 1)
    with np.errstate(divide="ignore"):
        f = eta / above / ((1 - eta) / freedom)
    return Scored(eta, np.where(k > 1, scipy.stats.f.sf(f, above, freedom), 1.0))


def eta_squared(values: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Share of the variance of values that lies between groups; 0 where they do not vary."""
    centered = values - weights @ values / weights.sum()
    total = float(weights @ centered**2)
    if total <= RATIO_ROUNDING * float(weights @ values**2):
        return 0.0
    sums, mass = np.bincount(codes, weights * centered), np.bincount(codes, weights)
    between = float((sums[mass > 0] ** 2 / mass[mass > 0]).sum())
    return min(between / total, 1.0)


def chi2(problem: Problem) -> Scored:
    """Chi-square of the table of levels by classes (numbers in bins), p by the chi-square law."""
    found = [
        chi2_of(counts_of(codes, problem.target_codes, problem.weights))
        for codes in problem.codes.T
    ]
    return Scored(np.array([each[0] for each in found]), np.array([each[1] for each in found]))


def chi2_of(counts: np.ndarray) -> tuple[float, float]:
    """sum (count - expected)^2 / expected and its p; 0 and 1 of a single row or column."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if freedom == 0:
        return 0.0, 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return statistic, float(scipy.stats.chi2.sf(statistic, freedom))


def counts_of(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Table of the weight of each pair of levels."""
    shape = int(one.max()) + 1, int(other.max()) + 1
    flat = np.bincount(one * shape[1] + other, weights, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def mutual_information_scores(problem: Problem) -> Scored:
    """I(feature; target) in nats, of levels and bins."""
    found = [
        information_of(counts_of(codes, problem.target_codes, problem.weights))
        for codes in problem.codes.T
    ]
    return Scored(np.array(found), np.full(problem.n_features, np.nan))


def information_of(counts: np.ndarray) -> float:
    """sum p(x,y) log(p(x,y) / (p(x) p(y))) of a table of counts, in nats."""
    joint = counts / counts.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return max(float((joint[there] * np.log(joint[there] / apart[there])).sum()), 0.0)


def association(problem: Problem) -> Scored:
    """A strength between 0 and 1 by the kinds of columns, so that all kinds can be compared.

    |r| of two numbers, eta of a number and a category, Cramer's V of two categories.
    """
    r, ratio, counts = correlation(problem), correlation_ratio(problem), chi2(problem)
    wide = np.array([len(columns) > 1 for columns in problem.members])
    if not problem.n_classes:
        scores = np.where(wide, np.sqrt(ratio.scores), r.scores)
        return Scored(scores, np.where(wide, ratio.p_values, r.p_values))
    levels = np.minimum(problem.codes.max(axis=0), problem.n_classes - 1)
    v = np.sqrt(counts.scores / (problem.weights.sum() * np.maximum(levels, 1)))
    scores = np.where(wide, v, np.sqrt(ratio.scores))
    return Scored(scores, np.where(wide, counts.p_values, ratio.p_values))


def fisher_index(problem: Problem) -> Scored:
    """(m1 - m2)^2 / (s1^2 + s2^2) with sums of squares; the greatest over classes against the rest.

    A feature that parts a class without any spread has the largest number there is.
    """
    require_classes(problem, "fisher_index")
    unit, weights = problem.unit, problem.weights
    best = np.zeros(unit.shape[1])
    for one in range(problem.n_classes):
        inside = problem.y == one
        if inside.all() or not inside.any():
            continue
        sides = [(unit[side], weights[side]) for side in (inside, ~inside)]
        means = [mass @ rows / mass.sum() for rows, mass in sides]
        squares = sum(
            mass @ (rows - mean) ** 2 for (rows, mass), mean in zip(sides, means, strict=True)
        )
        gap = (means[0] - means[1]) ** 2
        with np.errstate(divide="ignore", over="ignore"):
            index = np.where(gap > 0, gap / squares, 0.0)
        best = np.maximum(best, np.minimum(index, np.finfo(np.float64).max))
    return Scored(problem.greatest(best), np.full(problem.n_features, np.nan))


def fisher_vector(problem: Problem) -> Scored:
    """|components| of S_w^-1 (m1 - m2) on standardised columns, over classes against the rest.

    S_w gets a thousandth of its mean diagonal added, so that it can be inverted for many columns.
    """
    require_classes(problem, "fisher_vector")
    unit, share = problem.unit, problem.weights / problem.weights.sum()
    d = unit.shape[1]
    within, gaps = np.zeros((d, d)), []
    for one in range(problem.n_classes):
        inside = problem.y == one
        if not inside.any():
            continue
        mean = share[inside] @ unit[inside] / share[inside].sum()
        centered = unit[inside] - mean
        within += inner(centered, share[inside, None] * centered)
        if not inside.all():
            gaps.append(mean - share[~inside] @ unit[~inside] / share[~inside].sum())
    if not gaps:
        return Scored(np.zeros(problem.n_features), np.full(problem.n_features, np.nan))
    ridge = SHRINK * max(np.trace(within) / d, 1e-12)
    directions = np.linalg.solve(within + ridge * np.eye(d), np.array(gaps).T)
    weights = np.sqrt((directions**2).sum(axis=1))
    return Scored(problem.by_feature(weights), np.full(problem.n_features, np.nan))


def linear_weights(problem: Problem) -> Scored:
    """|weights| of ridge regression on standardised columns; a category's columns as one group."""
    weights = ridge_weights(problem.unit, problem.targets, problem.weights)
    return Scored(problem.by_feature(weights), np.full(problem.n_features, np.nan))


def ridge_weights(unit: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Norm over targets of the weights of each standardised column."""
    share = weights / weights.sum()
    spread = np.sqrt(share @ targets**2)
    targets = targets / np.where(spread > 0, spread, 1.0)
    gram = inner(unit, share[:, None] * unit) + SHRINK * np.eye(unit.shape[1])
    found = np.linalg.solve(gram, inner(unit, share[:, None] * targets))
    return np.sqrt((found**2).sum(axis=1))


def boosted_stumps(problem: Problem) -> Scored:
    """sum of |alpha_m| over the rounds of AdaBoost whose stump asks the feature (002).

    Thirty rounds of stumps; several classes one against the rest.
    """
    require_classes(problem, "boosted_stumps")
    totals = np.zeros(problem.unit.shape[1])
    classes = range(problem.n_classes) if problem.n_classes > 2 else [0]
    for one in classes:
        sides = np.where(problem.y == one, 1.0, -1.0)
        if len(np.unique(sides)) == 2:
            totals += stump_weights(problem.unit, sides, problem.weights)
    return Scored(problem.greatest(totals), np.full(problem.n_features, np.nan))


def stump_weights(unit: np.ndarray, sides: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """sum of |alpha| of each column over rounds of discrete AdaBoost with stumps."""
    totals = np.zeros(unit.shape[1])
    if not (unit != unit[0]).any():
        return totals
    say = weights / weights.sum()
    for _ in range(N_STUMPS):
        stump = decision_stump(unit, -say * sides)
        answers = np.where(unit @ stump.direction > stump.threshold, stump.sign, -stump.sign)
        error = float(np.clip(say[answers != sides].sum(), 1e-12, 1.0))
        if error >= 0.5 - 1e-12:
            break
        alpha = 0.5 * np.log((1 - error) / error)
        totals[int(np.argmax(np.abs(stump.direction)))] += abs(alpha)
        if error <= 1e-12:
            break
        say = say * np.exp(-alpha * answers * sides)
        say /= say.sum()
    return totals


def require_classes(problem: Problem, name: str) -> None:
    if not problem.n_classes:
        raise DataError(
            f"score_func={name!r} compares classes, and the target is a number; take "
            "'correlation', 'correlation_ratio' or 'mutual_information'"
        )


SCORES = {
    "association": association,
    "correlation": correlation,
    "correlation_ratio": correlation_ratio,
    "chi2": chi2,
    "mutual_information": mutual_information_scores,
    "fisher_index": fisher_index,
    "fisher_vector": fisher_vector,
    "linear_weights": linear_weights,
    "boosted_stumps": boosted_stumps,
}


def mutual_information(
    x: ArrayLike, y: ArrayLike, *, method: str = "bins", n_bins: int = 10, n_neighbors: int = 3
) -> float:
    """Mutual information of two columns in nats: I(X;Y) = H(Y) - H(Y|X), zero if independent.

    Use "bins" for categories and for large samples: it overestimates by about (k-1)(l-1) / (2 n)
    for k and l levels. "knn" (Kraskov, Stoegbauer and Grassberger 2004; Ross 2014 where y holds
    classes) looks at distances to neighbours, for numbers of any relation, and may come out
    slightly negative; not for columns with many ties.

    Parameters
    ----------
    x : array-like of shape (n,)
        Numbers; for "bins" also labels.
    y : array-like of shape (n,)
        Numbers or labels.
    method : {"bins", "knn"}, default="bins"
    n_bins : int, default=10
        Bins of about equally many rows for numbers with more values than that.
    n_neighbors : int, default=3

    Returns
    -------
    information : float

    Examples
    --------
    >>> round(mutual_information(["a", "a", "b", "b"], [0, 0, 1, 1]), 4)
    0.6931
    """
    if method not in ("bins", "knn"):
        raise DataError(f"method={method!r} is none of bins, knn")
    one, other = np.asarray(x), np.asarray(y)
    if one.ndim != 1 or one.shape != other.shape or len(one) < 2:
        raise DataError("give two columns of one length, two rows or more")
    if method == "bins":
        ones = np.ones(len(one))
        return information_of(counts_of(_levels(one, n_bins), _levels(other, n_bins), ones))
    values = finite_column(x, "x")
    if other.dtype.kind == "f":
        return _neighbors_of_numbers(values, finite_column(y, "y"), n_neighbors)
    return _neighbors_of_classes(values, np.unique(other, return_inverse=True)[1], n_neighbors)


def entropy_of(labels: ArrayLike) -> float:
    """Entropy H = -sum p log p of a column of labels, in nats; I(X;X) = H(X).

    Parameters
    ----------
    labels : array-like of shape (n,)

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> round(entropy_of(["a", "b"]), 4)
    0.6931
    """
    return mutual_information(labels, labels, n_bins=len(np.asarray(labels)))


def _levels(column: np.ndarray, n_bins: int) -> np.ndarray:
    if column.dtype.kind != "f":
        return np.unique(column, return_inverse=True)[1]
    return binned(finite_column(column, "column"), np.ones(len(column)), n_bins)


def _neighbors_of_numbers(x: np.ndarray, y: np.ndarray, k: int) -> float:
    """psi(k) + psi(n) - <psi(n_x + 1) + psi(n_y + 1)> (the first of KSG's two estimators)."""
    n = len(x)
    if n <= k:
        raise DataError(f"{n} rows are too few for n_neighbors={k}")
    x, y = (column / (column.std() or 1.0) for column in (x, y))
    reach = cKDTree(np.column_stack([x, y])).query(np.column_stack([x, y]), k + 1, p=np.inf)[0][
        :, -1
    ]
    inside = np.nextafter(reach, 0)
    counts = [
        cKDTree(column[:, None]).query_ball_point(column[:, None], inside, return_length=True)
        for column in (x, y)
    ]
    return float(digamma(k) + digamma(n) - np.mean(digamma(counts[0]) + digamma(counts[1])))


def _neighbors_of_classes(x: np.ndarray, codes: np.ndarray, k: int) -> float:
    """psi(n) + psi(k) - <psi(n_class)> - <psi(m)>, m rows as near as the k-th of the class."""
    n = len(x)
    counts = np.bincount(codes)[codes]
    if (counts < 2).all():
        raise DataError("every class has one row only; neighbours of the class are needed")
    near, ks = np.empty(n), np.minimum(counts - 1, k)
    for one in np.unique(codes[counts > 1]):
        inside = codes == one
        points = x[inside, None]
        reach = cKDTree(points).query(points, int(ks[inside][0]) + 1)[0][:, -1]
        near[inside] = reach
    several = counts > 1
    rows = x[several, None]
    m = cKDTree(rows).query_ball_point(rows, near[several], return_length=True)
    terms = digamma(ks[several]) - digamma(counts[several]) - digamma(np.maximum(m - 1, 1))
    return float(digamma(several.sum()) + terms.mean())
