"""The functional ANOVA expansion of a fitted model: main effects and interactions of pairs.

    F(x) = c + sum_j f_j(x_j) + sum_jk f_jk(x_j, x_k) + ...

An effect is what a model says on average over the other columns (its partial dependence), less the
effects of fewer columns. Shares of the variance of F say which columns act, and which act together.
The H statistic of a pair is the part of its joint effect that is not in the two single effects:

    H_jk^2 = sum_i f_jk(x_i)^2 / sum_i (f_j + f_k + f_jk)(x_i)^2.

Trees of J leaves let at most J - 1 columns interact, so boosted stumps have no f_jk at all.

Text: 001 13.10, equation 107. The text says effects that "jointly best approximate"; averaging over
the rows gives these where columns are independent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract import intake
from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.table.table import Table

N_BOOTSTRAPS = 100  # judgement: error of a deviation from 100 draws is 7%
ROWS_AT_ONCE = 2**16  # judgement: rows of one call of the model; bounds memory


@dataclass(repr=False)
class AnovaExpansion(Result):
    """Main effects and pair interactions of a model, with their shares of its variance.

    Attributes
    ----------
    mean : float
        The constant c: the mean prediction.
    variance : float
        Variance of the predictions.
    main : dict of str to ndarray of shape (n_rows,)
        The main effect of each column at the rows.
    pairs : dict of (str, str) to ndarray of shape (n_rows,)
        The interaction of each pair at the rows.
    shares : dict
        Share of the variance of each main effect and pair: an `Estimate` with its bootstrap
        interval over the rows.
    h_statistic : dict of (str, str) to Estimate
        From 0 (the pair acts additively) to 1 (it acts together only).
    rest : float
        Share that no effect above explains: interactions of more columns, and, with the opposite
        sign, what columns that go together share.
    places : ndarray of int
        The rows of X that were used.
    n_given : int
        Rows of X.
    """

    mean: float
    variance: float
    main: dict[str, np.ndarray]
    pairs: dict[tuple[str, str], np.ndarray]
    shares: dict[Any, Estimate]
    h_statistic: dict[tuple[str, str], Estimate]
    rest: float
    places: np.ndarray
    n_given: int

    def _title(self) -> str:
        return f"Functional ANOVA: mean {self.mean:.5g}, variance {self.variance:.5g}"

    def _columns(self) -> dict[str, list]:
        order = sorted(self.shares, key=lambda key: -self.shares[key].value)
        return {
            "effect": [key if isinstance(key, str) else " x ".join(key) for key in order],
            "share of variance": [self.shares[key] for key in order],
            "H": [self.h_statistic.get(key, "") for key in order],
        }

    def _remarks(self) -> list[str]:
        return [
            f"rest (more columns at once, less what dependent columns share): {self.rest:.3f}",
            f"from {len(self.places)} of {self.n_given} rows; intervals by the bootstrap over them",
        ]


def anova_expansion(
    estimator,
    X,
    columns: Sequence[int | str] | None = None,
    *,
    pairs: bool | Sequence[tuple[int | str, int | str]] = True,
    class_: Any = None,
    max_rows: int = 100,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
) -> AnovaExpansion:
    """Main effects and pair interactions of any fitted model, and their shares of its variance.

    Use it to see which columns act alone and which together, before partial dependence of the
    strongest. Not where columns go closely together: their effects cannot be told apart, and rows
    are asked about that cannot be. Costs the square of ``max_rows`` predictions per effect.

    Parameters
    ----------
    estimator : fitted regressor or classifier
        Of a classifier its scores are expanded (``decision_function``), else a probability.
    X : array-like, data frame or Table
        Rows to average over.
    columns : sequence of int or str, default=None
        Positions, or names in a table; None for all.
    pairs : bool or sequence of pairs, default=True
        All pairs of these columns, none, or the given ones.
    class_ : object, default=None
        Class whose score or probability is expanded; by default the last.
    max_rows : int, default=100
        So many rows are drawn where there are more; the result says so.
    confidence_level : float, default=0.95
        Level of the intervals.
    random_state : int or None, default=0
        Seed of the draw and the bootstrap.

    Returns
    -------
    expansion : AnovaExpansion

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import HistGradientBoostingRegressor
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> stumps = HistGradientBoostingRegressor(max_leaf_nodes=2).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> found = anova_expansion(stumps, X)
    >>> bool(max(H.value for H in found.h_statistic.values()) < 1e-6)
    True
    """
    rng = np.random.default_rng(random_state)
    table = intake.as_table(X) if isinstance(X, Table) or intake.is_frame(X) else None
    source: Any = np.asarray(X, np.float64) if table is None else table
    n_given = len(source)
    if n_given < 2:
        raise DataError(f"X has {n_given} rows; effects need at least two")
    places = np.sort(rng.permutation(n_given)[:max_rows])
    rows = source[places]
    names = [f"x{j}" for j in range(source.shape[1])] if table is None else list(table.columns)
    chosen = [_position(column, names) for column in (names if columns is None else columns)]
    wanted = _pairs(pairs, chosen, names)
    say = _answer(estimator, class_)
    alone = say(rows)
    crossed = _Crossed(say, rows, names)
    single = {j: crossed.answers([j]) for j in {*chosen, *itertools.chain(*wanted)}}
    joint = {pair: crossed.answers(list(pair)) for pair in wanted}
    weights = np.vstack(
        [np.full(len(rows), 1 / len(rows)), _bootstrap_weights(len(rows), N_BOOTSTRAPS, rng)]
    )
    total = _variance(alone, weights)
    if not total[0] > 1e-20 * float(np.abs(alone).max()) ** 2:
        raise DataError("the model says the same of all rows: there is no variance to share out")
    effects = {j: _centered(said, weights) for j, said in single.items()}
    main, found_pairs, shares, h = {}, {}, {}, {}
    for j in chosen:
        main[names[j]] = effects[j][0]
        shares[names[j]] = _figure(_mean_square(effects[j], weights) / total, confidence_level)
    for (j, k), said in joint.items():
        both = _centered(said, weights)
        together = both - effects[j] - effects[k]
        together -= (weights * together).sum(axis=1, keepdims=True)
        key = (names[j], names[k])
        found_pairs[key] = together[0]
        square, whole = _mean_square(together, weights), _mean_square(both, weights)
        shares[key] = _figure(square / total, confidence_level)
        h[key] = _figure(
            np.sqrt(square / np.where(whole > 1e-14 * total, whole, np.inf)), confidence_level
        )
    rest = 1 - sum(share.value for share in shares.values())
    return AnovaExpansion(
        float(alone.mean()), float(total[0]), main, found_pairs, shares, h, rest, places, n_given
    )


class _Crossed:
    """Answers to rows that take some columns from one row and the others from another."""

    def __init__(self, say: Callable, rows, names: list[str]):
        self.say, self.rows, self.names = say, rows, names

    def answers(self, columns: list[int]) -> np.ndarray:
        """(n, n): the given columns from row i, all others from row k."""
        n = len(self.rows)
        at_once = max(ROWS_AT_ONCE // n, 1)
        parts = [
            self._block(np.arange(start, min(start + at_once, n)), columns)
            for start in range(0, n, at_once)
        ]
        return np.concatenate(parts)

    def _block(self, given: np.ndarray, columns: list[int]) -> np.ndarray:
        n = len(self.rows)
        taken, others = np.repeat(given, n), np.tile(np.arange(n), given.size)
        made = self.rows[others]
        if isinstance(made, np.ndarray):
            made[:, columns] = self.rows[taken][:, columns]
        else:
            for j in columns:
                name = self.names[j]
                kind = self.rows.schema[name].kind
                made = made.with_column(name, self.rows[taken].column(name), kind=kind)
        return self.say(made).reshape(given.size, n)


def _position(column: int | str, names: list[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise DataError(f"there is no column {column!r}; known: {', '.join(names[:20])}")
        return names.index(column)
    if not 0 <= column < len(names):
        raise DataError(f"there is no column {column}; X has {len(names)}")
    return int(column)


def _pairs(given, chosen: list[int], names: list[str]) -> list[tuple[int, int]]:
    if given is False:
        return []
    if given is True:
        return list(itertools.combinations(chosen, 2))
    return [(_position(one, names), _position(other, names)) for one, other in given]


def _answer(model, class_) -> Callable[[Any], np.ndarray]:
    """A function from rows to numbers: predictions, scores or a probability."""
    if not hasattr(model, "classes_"):
        return lambda rows: np.asarray(model.predict(rows), np.float64)
    names = list(model.classes_)
    k = len(names) - 1 if class_ is None else names.index(class_)
    if not hasattr(model, "decision_function"):
        return lambda rows: model.predict_proba(rows)[:, k]

    def scores(rows) -> np.ndarray:
        said = model.decision_function(rows)
        if said.ndim == 2:
            return said[:, k]
        return said if k == 1 else -said

    return scores


def _bootstrap_weights(n: int, n_times: int, rng: np.random.Generator) -> np.ndarray:
    return rng.multinomial(n, np.full(n, 1 / n), size=n_times) / n


def _variance(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Variance of values (n,) under each set of weights (b, n)."""
    centered = values - values.mean()
    return weights @ centered**2 - (weights @ centered) ** 2


def _centered(said: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Partial dependence at the rows less its mean (b, n), for answers said (n, n)."""
    effect = weights @ (said - said.mean()).T
    return effect - (weights * effect).sum(axis=1, keepdims=True)


def _mean_square(effect: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (weights * effect * effect).sum(axis=1)


def _figure(values: np.ndarray, confidence_level: float) -> Estimate:
    """The figure of all rows, with the quantiles of its bootstrap repeats."""
    low, high = np.nanquantile(values[1:], [(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    value = float(values[0])
    return Estimate(
        value,
        min(float(low), value),
        max(float(high), value),
        confidence_level,
        float(np.nanstd(values[1:], ddof=1)),
        "bootstrap over rows",
    )
