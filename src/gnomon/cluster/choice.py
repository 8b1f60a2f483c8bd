"""How many clusters? Several ways to judge, each with error bars, none of them the truth.

Texts: 000b 8.2.1 (knee, penalty, by application) · 001 20.6 (silhouettes) · 002 "Model selection"
(AIC, BIC, stability, Bayesian weights, why likelihood alone fails).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from gnomon.cluster.intake import label_codes, number_rows
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.cluster.validity import Silhouette, contingency_table, silhouette
from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.information import mixture_parameters


@dataclass(repr=False)
class ChoiceOfK(Result):
    """A measure for each number of clusters, and the number that it suggests.

    Attributes
    ----------
    ks : list of int
    figures : list of Estimate
        The measure with its interval.
    chosen : int
        The number that the measure is best at.
    reasonable : list of int
        Numbers that are as good within the error bars, or lie in the bend of the curve.
    measure : str
    higher_is_better : bool
    detail : dict
        More of the method: models, silhouettes, weights.
    """

    ks: list[int]
    figures: list[Estimate]
    chosen: int
    reasonable: list[int]
    measure: str
    higher_is_better: bool
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> np.ndarray:
        return np.array([each.value for each in self.figures])

    def _title(self) -> str:
        return f"{self.measure}: {self.chosen} clusters"

    def _columns(self) -> dict[str, list]:
        return {"clusters": list(self.ks), self.measure: self.figures}

    def _remarks(self) -> list[str]:
        return [f"Reasonable: {', '.join(map(str, self.reasonable)) or 'none stands out'}."]


def _checked(
    ks: Sequence[int], rows: np.ndarray, least: int = 1, *, halves: bool = False
) -> list[int]:
    """Numbers of clusters in rising order, none above what the rows, or half of them, allow."""
    ks = sorted({int(k) for k in ks})
    n = len(rows) // 2 if halves else len(rows)
    if not ks or ks[0] < least or ks[-1] > n:
        which = "rows of one half" if halves else "rows"
        raise DataError(
            f"numbers of clusters must lie between {least} and the {n} {which}, not {ks}"
        )
    n_distinct = len(np.unique(rows, axis=0))
    if ks[-1] > n_distinct:
        differ = "all rows are equal" if n_distinct == 1 else f"only {n_distinct} rows differ"
        raise DataError(
            f"{differ}, so that they cannot make up {ks[-1]} clusters; ask for {n_distinct} at most"
        )
    return ks


def _as_good(ks: list[int], figures: list[Estimate], higher: bool) -> tuple[int, list[int]]:
    """The best, and all whose interval reaches its value."""
    values = np.array([each.value for each in figures])
    best = int(values.argmax() if higher else values.argmin())
    reach = [f.high >= values[best] if higher else f.low <= values[best] for f in figures]
    return ks[best], [k for k, near in zip(ks, reach) if near]


def _kmeans(k: int, rng: np.random.Generator) -> KMeans:
    return KMeans(k, n_init=3, random_state=int(rng.integers(2**31)))


def _best_kmeans(rows: np.ndarray, k: int, rng: np.random.Generator, starts: int = 5) -> list:
    return [
        fit_quietly(KMeans(k, n_init=1, random_state=int(rng.integers(2**31))), rows)
        for _ in range(starts)
    ]


def choose_by_knee(
    X: Any,
    ks: Sequence[int],
    *,
    n_init: int = 5,
    random_state: int | np.random.Generator | None = None,
) -> ChoiceOfK:
    """Cost of k-means against k: the knee is where more clusters stop paying (000b 8.2.1).

    The chosen k lies farthest below the straight line between the ends of the curve; reasonable
    ones are at least nine tenths as far below it. A curve without a bend has no answer: look at it.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
    n_init : int, default=5
        Starts for each k: the cost is that of the best, its interval spans from it to the worst.
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK

    Examples
    --------
    >>> rows = [[0, 0], [0, 1], [10, 0], [10, 1], [5, 9], [5, 10]]
    >>> choose_by_knee(rows, range(1, 6), random_state=0).chosen
    3
    """
    rows = number_rows(X)
    ks = _checked(ks, rows)
    rng = np.random.default_rng(random_state)
    figures, labels = [], []
    for k in ks:
        models = _best_kmeans(rows, k, rng, n_init)
        costs = [model.inertia_ for model in models]
        figures.append(
            Estimate(min(costs), min(costs), max(costs), np.nan, np.nan, "best to worst")
        )
        labels.append(models[int(np.argmin(costs))].labels_)
    below = _below_chord(ks, np.array([each.value for each in figures]))
    best = int(below.argmax())
    reasonable = [k for k, depth in zip(ks, below) if depth >= 0.9 * below[best] > 0]
    detail = {"labels": labels, "below": below}
    return ChoiceOfK(ks, figures, ks[best], reasonable, "cost of k-means", False, detail)


def _below_chord(ks: list[int], cost: np.ndarray) -> np.ndarray:
    """How far each point of the curve is below the line from its first to its last."""
    if len(ks) < 3 or cost[0] == cost[-1]:
        return np.zeros(len(ks))
    x = (np.array(ks) - ks[0]) / (ks[-1] - ks[0])
    y = (cost - cost[-1]) / (cost[0] - cost[-1])
    return 1 - x - y


def choose_by_silhouette(
    X: Any,
    ks: Sequence[int],
    *,
    clusterer: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> ChoiceOfK:
    """The k of the largest mean silhouette, with all silhouettes to look at (001 20.6).

    Choose k with a high total, no cluster far below it, and many rows with high values.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
        From two on.
    clusterer : estimator with ``n_clusters``, default=None
        `KMeans` by default.
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK
        Its ``detail["silhouettes"]`` holds a `Silhouette` for each k. Intervals are those of a
        mean of rows.

    Examples
    --------
    >>> rows = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> choose_by_silhouette(rows, [2, 3, 4], random_state=0).chosen
    3
    """
    rows = number_rows(X)
    ks = _checked(ks, rows, 2)
    rng = np.random.default_rng(random_state)
    found: list[Silhouette] = []
    for k in ks:
        if clusterer is None:
            models = _best_kmeans(rows, k, rng)
            labels = min(models, key=lambda model: model.inertia_).labels_
        else:
            labels = clone(clusterer).set_params(n_clusters=k).fit_predict(rows)
        found.append(silhouette(rows, labels))
    figures = [mean_interval(each.per_row) for each in found]
    chosen, reasonable = _as_good(ks, figures, True)
    detail = {"silhouettes": found}
    return ChoiceOfK(ks, figures, chosen, reasonable, "silhouette", True, detail)


def choose_by_gap(
    X: Any,
    ks: Sequence[int],
    *,
    n_references: int = 10,
    random_state: int | np.random.Generator | None = None,
) -> ChoiceOfK:
    """Gap statistic: log cost of k-means below that of uniform rows (Tibshirani et al. 2001).

    Chosen is the smallest k whose gap reaches that of the next k less its error; k = 1 may win.
    Reference rows are uniform in the box along the principal axes.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
        Consecutive numbers.
    n_references : int, default=10
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(1).normal(size=(90, 2)) + 20 * np.eye(3)[np.arange(90) % 3, :2]
    >>> choose_by_gap(rows, range(1, 6), random_state=0).chosen
    3
    """
    rows = number_rows(X)
    ks = _checked(ks, rows)
    rng = np.random.default_rng(random_state)
    centered = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2]
    turned = centered @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    references = [
        (low + rng.random(turned.shape) * (high - low)) @ axes for _ in range(n_references)
    ]
    tiny = np.finfo(float).tiny

    def log_cost(table: np.ndarray, k: int) -> float:
        return float(np.log(max(fit_quietly(_kmeans(k, rng), table).inertia_, tiny)))

    figures = []
    for k in ks:
        others = np.array([log_cost(each, k) for each in references])
        gap = others.mean() - log_cost(rows, k)
        error = float(others.std() * np.sqrt(1 + 1 / n_references))
        figures.append(Estimate(gap, gap - error, gap + error, 0.68, error, "one standard error"))
    enough = [here.value >= after.value - after.error for here, after in pairwise(figures)]
    chosen = ks[enough.index(True)] if True in enough else ks[-1]
    reasonable = [k for k, ok in zip(ks, enough) if ok] or [chosen]
    return ChoiceOfK(ks, figures, chosen, reasonable, "gap", True)


def choose_by_stability(
    X: Any,
    ks: Sequence[int],
    *,
    clusterer: Any = None,
    n_splits: int = 20,
    random_state: int | np.random.Generator | None = None,
) -> ChoiceOfK:
    """The k whose clusters are found again in the other half of the rows (002 "Stability").

    Both halves are clustered. The rows of the second get labels by their own clustering and by that
    of the first half; the disagreement after the best matching of labels is divided by that of
    random labels of the same sizes, since few clusters agree by chance. One cluster agrees always
    and is left out.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
        From two on.
    clusterer : estimator with ``n_clusters`` and ``predict``, default=None
        `KMeans` by default.
    n_splits : int, default=20
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK
        Disagreement over that of chance: 0 is stable, 1 as bad as chance.

    Examples
    --------
    >>> rows = [[x + dx] for x in (0.0, 5.0, 9.0) for dx in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    >>> choose_by_stability(rows, [2, 3, 5], n_splits=5, random_state=0).chosen
    3
    """
    rows = number_rows(X)
    n = len(rows)
    ks = _checked(ks, rows, 2, halves=True)
    rng = np.random.default_rng(random_state)
    scores: dict[int, list[float]] = {k: [] for k in ks}
    for _ in range(n_splits):
        mixed = rng.permutation(n)
        one, other = rows[mixed[: n // 2]], rows[mixed[n // 2 :]]
        for k in ks:
            first, second = (_fitted(clusterer, k, half, rng) for half in (one, other))
            told, own = first.predict(other), second.labels_
            chance = np.mean([mismatch(rng.permutation(told), own) for _ in range(5)])
            apart = mismatch(told, own)
            scores[k].append(float(apart / chance) if chance > 0 else 0.0)
    figures = [mean_interval(scores[k], method="plain") for k in ks]
    chosen, reasonable = _as_good(ks, figures, False)
    return ChoiceOfK(ks, figures, chosen, reasonable, "instability", False, {"scores": scores})


def _fitted(clusterer: Any, k: int, rows: np.ndarray, rng: np.random.Generator) -> Any:
    if clusterer is None:
        return fit_quietly(_kmeans(k, rng), rows)
    return clone(clusterer).set_params(n_clusters=k).fit(rows)


def mismatch(first: Any, second: Any) -> float:
    """Share of rows that two clusterings label differently after the best matching of labels.

    Parameters
    ----------
    first, second : array-like of shape (n,)

    Returns
    -------
    share : float

    Examples
    --------
    >>> mismatch([0, 0, 1, 1], [1, 1, 0, 2])
    0.25
    """
    counts = contingency_table(first, second).counts
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    return float(1 - matched / counts.sum())


def choose_by_prediction_strength(
    X: Any,
    ks: Sequence[int],
    *,
    n_splits: int = 10,
    least: float = 0.8,
    random_state: int | np.random.Generator | None = None,
) -> ChoiceOfK:
    """Pairs of a test cluster that the training clusters keep together (Tibshirani, Walther 2005).

    The strength of k is the least share of kept pairs over test clusters; a cluster of one row,
    or of none, keeps nothing. Chosen is the largest k whose strength reaches `least`.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
    n_splits : int, default=10
    least : float, default=0.8
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK

    Examples
    --------
    >>> rows = [[x + i / 40] for x in (0.0, 5.0, 9.0) for i in range(20)]
    >>> choose_by_prediction_strength(rows, [1, 2, 3, 4, 5], random_state=0).chosen
    3
    """
    rows = number_rows(X)
    n = len(rows)
    ks = _checked(ks, rows, halves=True)
    rng = np.random.default_rng(random_state)
    scores: dict[int, list[float]] = {k: [] for k in ks}
    for _ in range(n_splits):
        mixed = rng.permutation(n)
        train, test = rows[mixed[: n // 2]], rows[mixed[n // 2 :]]
        for k in ks:
            told = fit_quietly(_kmeans(k, rng), train).predict(test)
            own = fit_quietly(_kmeans(k, rng), test).labels_
            scores[k].append(_least_kept(contingency_table(own, told).counts, k))
    figures = [mean_interval(scores[k], method="plain") for k in ks]
    figures = [each._replace(high=min(each.high, 1.0)) for each in figures]
    strong = [k for k, each in zip(ks, figures) if each.value >= least]
    reasonable = [k for k, each in zip(ks, figures) if each.high >= least]
    chosen = strong[-1] if strong else ks[0]
    return ChoiceOfK(ks, figures, chosen, reasonable, "prediction strength", True)


def _least_kept(counts: np.ndarray, k: int) -> float:
    """The least share of a test cluster's pairs that stay together; 0 where one has no pair.

    counts (test clusters that were found, training clusters).
    """
    if k == 1:
        return 1.0
    sizes = counts.sum(axis=1)
    if len(sizes) < k or sizes.min() < 2:
        return 0.0
    kept = (counts * (counts - 1)).sum(axis=1)
    return float((kept / (sizes * (sizes - 1))).min())


def choose_by_information(
    mixture: Any,
    X: Any,
    ks: Sequence[int],
    *,
    criterion: str = "bic",
    penalty: str = "parameters",
) -> ChoiceOfK:
    """AIC or BIC of a mixture for each number of components, counted in parameters (002).

    Parameters
    ----------
    mixture : estimator with ``n_components``, ``score_samples`` and ``covariance_type``
        `gnomon.density.GaussianMixture`, say.
    X : array-like of shape (n, d)
    ks : sequence of int
    criterion : {"bic", "aic"}, default="bic"
        ``-2 log L + p log n``, or ``-2 log L + 2 p``.
    penalty : {"parameters", "components"}, default="parameters"
        p: the free parameters of the mixture, or their number of components only (what 002 prints,
        which penalises far too little).

    Returns
    -------
    choice : ChoiceOfK
        Intervals are those of the log-likelihood as a sum over rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import GaussianMixture
    >>> rows = np.concatenate([np.linspace(0, 1, 40), np.linspace(9, 10, 40)])[:, None]
    >>> choose_by_information(GaussianMixture(random_state=0), rows, [1, 2, 3]).chosen
    2
    """
    if criterion not in ("aic", "bic") or penalty not in ("parameters", "components"):
        raise DataError("criterion is 'aic' or 'bic', penalty 'parameters' or 'components'")
    rows = number_rows(X)
    ks = _checked(ks, rows)
    n, d = rows.shape
    figures, models = [], []
    for k in ks:
        model = clone(mixture).set_params(n_components=k).fit(rows)
        count = float(k) if penalty == "components" else float(_parameters_of(model, k, d))
        each = model.score_samples(rows)
        cost = count * (np.log(n) if criterion == "bic" else 2.0)
        value = float(-2 * each.sum() + cost)
        error = float(2 * np.sqrt(n) * each.std())
        figures.append(Estimate(value, value - 1.96 * error, value + 1.96 * error, 0.95, error))
        models.append(model)
    values = np.array([each.value for each in figures])
    best = int(values.argmin())
    # all are of the same rows, so that differences decide; ten are very strong (Raftery)
    reasonable = [k for k, value in zip(ks, values) if value - values[best] < 10]
    name = f"{criterion.upper()} by {penalty}"
    return ChoiceOfK(ks, figures, ks[best], reasonable, name, False, {"models": models})


def _parameters_of(model: Any, k: int, d: int) -> int:
    own = getattr(model, "n_parameters_", None)
    if own is not None:
        return int(own)
    names = {"diag": "diagonal"}
    kind = getattr(model, "covariance_type", "full")
    return mixture_parameters(k, d, names.get(kind, kind))


def weights_of_k(choice: ChoiceOfK, prior: Sequence[float] | None = None) -> np.ndarray:
    """Posterior probability of each number of clusters, from BIC (002, after "Bayesian").

    ``P(K | x)`` is proportional to ``P(K) exp(-BIC_K / 2)``, Schwarz's approximation of the
    marginal likelihood.

    Parameters
    ----------
    choice : ChoiceOfK
        From `choose_by_information` with criterion="bic".
    prior : sequence of float, default=None
        P(K); equal by default.

    Returns
    -------
    weights : ndarray of shape (n_ks,)

    Examples
    --------
    >>> from gnomon.contract.estimate import Estimate
    >>> figures = [Estimate(value, value, value) for value in (102.0, 100.0)]
    >>> weights_of_k(ChoiceOfK([1, 2], figures, 2, [2], "BIC", False)).round(4).tolist()
    [0.2689, 0.7311]
    """
    weights = np.ones(len(choice.ks)) if prior is None else np.asarray(prior, dtype=float)
    if weights.shape != (len(choice.ks),) or (weights < 0).any() or not weights.sum() > 0:
        raise DataError(f"the prior needs {len(choice.ks)} numbers from 0 on, not all zero")
    if not choice.measure.startswith("BIC"):
        raise DataError(f"weights come from BIC, not from {choice.measure!r}")
    with np.errstate(divide="ignore"):
        logs = np.log(weights) - choice.values / 2
    return np.exp(logs - logsumexp(logs))


def choose_by_encoding(
    X: Any, ks: Sequence[int], *, random_state: int | np.random.Generator | None = None
) -> ChoiceOfK:
    """Cost of k-means as the length of a message, so that many clusters must pay (000b 8.2.1).

    In nats: ``(n d / 2) log(cost / (n d))`` for where rows lie around their centers, ``n`` times
    the entropy of labels for which centre, ``(k d / 2) log n`` for the centres. The text says that
    such penalties are usually not worth it.

    Parameters
    ----------
    X : array-like of shape (n, d)
    ks : sequence of int
    random_state : int, Generator or None, default=None

    Returns
    -------
    choice : ChoiceOfK

    Examples
    --------
    >>> rows = [[x + dx] for x in (0.0, 50.0, 90.0) for dx in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)]
    >>> choose_by_encoding(rows, range(1, 6), random_state=0).chosen
    3
    """
    rows = number_rows(X)
    ks = _checked(ks, rows)
    rng = np.random.default_rng(random_state)
    n, d = rows.shape
    least = np.finfo(float).eps * max(float(rows.var()), np.finfo(float).tiny)
    figures = []
    for k in ks:
        lengths = []
        for model in _best_kmeans(rows, k, rng):
            share = np.bincount(label_codes(model.labels_)[1]) / n
            around = 0.5 * n * d * np.log(max(model.inertia_ / (n * d), least))
            lengths.append(around - n * (share * np.log(share)).sum() + 0.5 * k * d * np.log(n))
        low, high = float(min(lengths)), float(max(lengths))
        figures.append(Estimate(low, low, high, np.nan, np.nan, "best to worst start"))
    chosen, reasonable = _as_good(ks, figures, False)
    return ChoiceOfK(ks, figures, chosen, reasonable, "length of the message in nats", False)


def choose_by_application(
    system: Callable[[int], Any],
    X: Any,
    y: Any,
    ks: Sequence[int],
    *,
    cv: int = 5,
    scoring: str | None = None,
) -> ChoiceOfK:
    """The k with which the whole system does best on rows held out (000b 8.2.1).

    Parameters
    ----------
    system : callable
        Of k: an estimator that uses k clusters inside, such as a dictionary of k pieces and a
        classifier of histograms.
    X, y : the system's input and target
    ks : sequence of int
    cv : int, default=5
        Folds.
    scoring : str, default=None
        The estimator's own score by default; higher is better.

    Returns
    -------
    choice : ChoiceOfK
        Intervals treat folds as independent, which makes them somewhat too short.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.linear_model import LinearRegression
    >>> from gnomon.cluster import KMeans
    >>> rows = [[(7 * x % 60) / 10] for x in range(60)]
    >>> target = [row[0] % 2 > 1 for row in rows]
    >>> system = lambda k: make_pipeline(KMeans(k, random_state=0), LinearRegression())
    >>> choose_by_application(system, rows, target, [1, 12]).chosen
    12
    """
    ks = sorted({int(k) for k in ks})
    if not ks or ks[0] < 1:
        raise DataError(f"numbers of clusters are from 1 on, not {ks}")
    scores = {k: cross_val_score(system(k), X, y, cv=cv, scoring=scoring) for k in ks}
    figures = [mean_interval(scores[k], method="plain") for k in ks]
    chosen, reasonable = _as_good(ks, figures, True)
    return ChoiceOfK(ks, figures, chosen, reasonable, "score held out", True, {"scores": scores})


@dataclass(repr=False)
class LikelihoodByK(Result):
    """Log-likelihood per row of mixtures, on rows learnt from and on rows held out.

    Attributes
    ----------
    ks : list of int
    learnt, held_out : list of Estimate
    """

    ks: list[int]
    learnt: list[Estimate]
    held_out: list[Estimate]

    def _title(self) -> str:
        return "Likelihood grows with the number of components; held out it does not"

    def _columns(self) -> dict[str, list]:
        return {"components": self.ks, "learnt": self.learnt, "held out": self.held_out}


def likelihood_by_k(
    mixture: Any,
    X: Any,
    ks: Sequence[int],
    *,
    n_splits: int = 5,
    random_state: int | np.random.Generator | None = None,
) -> LikelihoodByK:
    """Why likelihood cannot choose k: it grows with every component, held out it falls (002).

    Parameters
    ----------
    mixture : estimator with ``n_components`` and ``score_samples``
    X : array-like of shape (n, d)
    ks : sequence of int
    n_splits : int, default=5
        Random halves.
    random_state : int, Generator or None, default=None

    Returns
    -------
    likelihood : LikelihoodByK

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import GaussianMixture
    >>> rows = np.random.default_rng(0).normal(size=(40, 1))
    >>> found = likelihood_by_k(GaussianMixture(random_state=0), rows, [1, 4], random_state=0)
    >>> found.learnt[1].value > found.learnt[0].value
    True
    """
    rows = number_rows(X)
    ks = _checked(ks, rows, halves=True)
    rng = np.random.default_rng(random_state)
    learnt: dict[int, list[float]] = {k: [] for k in ks}
    held: dict[int, list[float]] = {k: [] for k in ks}
    for _ in range(n_splits):
        mixed = rng.permutation(len(rows))
        one, other = rows[mixed[: len(rows) // 2]], rows[mixed[len(rows) // 2 :]]
        for k in ks:
            model = clone(mixture).set_params(n_components=k).fit(one)
            learnt[k].append(float(model.score_samples(one).mean()))
            held[k].append(float(model.score_samples(other).mean()))
    return LikelihoodByK(
        ks,
        [mean_interval(learnt[k], method="plain") for k in ks],
        [mean_interval(held[k], method="plain") for k in ks],
    )
