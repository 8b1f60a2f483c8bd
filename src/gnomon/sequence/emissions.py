"""Emissions of hidden states: symbols, numbers, counts, mixtures, numbers that depend on lags.

An emission distribution gives log p(x | k) for a block of rows and is fitted to rows weighted by
the probabilities of the states; any object with the methods of `Emission` can be used in a hidden
Markov model. A missing row has log p = 0 for every state and does not change the parameters.

Texts: 001 14.2.1, 14.2.4, 14.2.7 (lags) · 002 L6496-6556.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.missing import is_missing
from gnomon.engine.products import inner
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Array, ListOf, Number, Object, Text, Whole
from gnomon.sequence import recursions

LOG_TWO_PI = float(np.log(2 * np.pi))


@runtime_checkable
class Emission(Protocol):
    """The methods that a hidden Markov model calls of an emission distribution.

    A law whose rows take few values may also have ``distinct(rows)``, which gives the different
    rows and the place of each row among them: then each is worked out once. A law that must know
    all sequences before it checks one (the names of symbols) has ``know(sequences)``.

    Examples
    --------
    Waiting times with an exponential distribution for each state:

    >>> from gnomon.sequence import HiddenMarkovModel
    >>> class Waiting:
    ...     def rows(self, sequence):
    ...         return np.asarray(sequence, dtype=float)
    ...     def begin(self, rows, n_states, rng):
    ...         self.rates = np.geomspace(0.3, 3, n_states) / rows.mean()
    ...     def log_likelihood(self, rows):
    ...         return np.log(self.rates) - rows[:, None] * self.rates
    ...     def learn(self, rows, weights):
    ...         self.rates = weights.sum(axis=0) / (rows @ weights)
    ...     def draw(self, states, rng):
    ...         return rng.exponential(1 / self.rates[states])
    ...     def n_parameters(self):
    ...         return len(self.rates)
    >>> waits = [9.0, 11, 8, 14, 7] * 4 + [0.1, 0.2, 0.1, 0.15] * 5
    >>> model = HiddenMarkovModel(2, Waiting(), random_state=0).fit([waits])
    >>> (1 / model.emission_.rates).round(2)
    array([9.79, 0.14])
    """

    def rows(self, sequence: Any) -> np.ndarray:
        """One sequence as an array with one entry or row for each step, checked."""

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        """First parameters, from all rows without their order."""

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        """log p(row | state), of shape (n_rows, n_states)."""

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """Maximum likelihood parameters from rows weighted for each state (n_rows, n_states)."""

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> Any:
        """A sequence of observations for a path of state numbers."""

    def n_parameters(self) -> int:
        """Free numbers."""


@storable
class CategoricalEmission:
    """Symbols with a table of probabilities for each state; a missing symbol is None.

    Parameters
    ----------
    table : array-like of shape (n_states, n_symbols), default=None
        Known probabilities; learned by default.
    symbols : sequence, default=None
        Names; those seen, sorted, by default, or 0, 1, 2 ... with a table.
    alpha : float, default=0.0
        Added to every count when learning.

    Examples
    --------
    >>> die = CategoricalEmission([[0.5, 0.5], [0.1, 0.9]], ["low", "high"])
    >>> np.exp(die.log_likelihood(die.rows(["high", None])))
    array([[0.5, 0.9],
           [1. , 1. ]])
    """

    _stored = {
        "alpha": Number(),
        "symbols": ListOf(Anything(), "n_symbols") | None,
        "table": Array("f8", (None, "n_symbols"), low=0.0) | None,
    }

    def __init__(
        self, table: Any = None, symbols: Sequence[Hashable] | None = None, alpha: float = 0.0
    ):
        self.alpha = alpha
        self.table: Any = None if table is None else np.array(table, dtype=float)
        self.symbols: Any = None if symbols is None else list(symbols)
        if self.table is not None:
            from gnomon.sequence.chain import stochastic_rows

            stochastic_rows(self.table, "the table of emissions")
            if self.symbols is None:
                self.symbols = list(range(self.table.shape[1]))
            if len(self.symbols) != self.table.shape[1]:
                raise DataError(f"{self.table.shape[1]} columns of emissions need as many symbols")

    def know(self, sequences: Sequence) -> None:
        """Take the symbols of the sequences as names where none were given."""
        if self.symbols is None:
            columns = (np.ravel(s) if isinstance(s, np.ndarray) else s for s in sequences)
            seen = {symbol for column in columns for symbol in column if not is_missing(symbol)}
            self.symbols = sorted(seen)

    def rows(self, sequence: Any) -> np.ndarray:
        if isinstance(sequence, np.ndarray) and sequence.ndim == 2:
            if sequence.shape[1] != 1:
                raise DataError(
                    f"symbols stand in one column; this sequence has {sequence.shape[1]}"
                )
            sequence = sequence[:, 0]
        if _holds_codes(sequence, len(self.symbols)) and self.symbols == [
            *range(len(self.symbols))
        ]:
            return sequence.astype(np.int64)
        places = {symbol: i for i, symbol in enumerate(self.symbols)}
        codes = np.empty(len(sequence), dtype=np.int64)
        for n, symbol in enumerate(sequence):
            code = -1 if is_missing(symbol) else places.get(symbol)
            if code is None:
                raise DataError(
                    f"{symbol!r} at position {n} is not among the {len(places)} symbols; name all "
                    "of them in CategoricalEmission(symbols=...)"
                )
            codes[n] = code
        return codes

    def distinct(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All symbols, after the missing one, and the place of each row among them."""
        return np.arange(-1, len(self.symbols)), rows + 1

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        if self.table is not None:
            return
        common = np.bincount(rows[rows >= 0], minlength=len(self.symbols)) + 1.0
        table = common * rng.uniform(0.5, 1.5, (n_states, len(common)))
        self.table = table / table.sum(axis=1, keepdims=True)

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            logs = np.vstack([np.log(self.table.T), np.zeros(len(self.table))])
        return logs[rows]

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        counts = np.zeros((len(self.symbols), weights.shape[1]))
        recursions.sums_by_symbol(rows, np.ascontiguousarray(weights), counts)
        self.table = _normalized(counts.T + self.alpha, self.table)

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> list:
        ladder = np.cumsum(self.table, axis=1)
        height = rng.random(len(states)) * ladder[states, -1]
        codes = (ladder[states] <= height[:, None]).sum(axis=1)
        return [self.symbols[code] for code in np.minimum(codes, len(self.symbols) - 1)]

    def n_parameters(self) -> int:
        return self.table.shape[0] * (self.table.shape[1] - 1)


@storable
class GaussianEmission:
    """Numbers with a normal distribution for each state; a missing row is NaN.

    Parameters
    ----------
    covariance : {"full", "diagonal", "tied"}, default="full"
        Of each state, of its columns alone, or one of all states. Rows of which only some cells
        are missing need "diagonal".
    means, covariances : array-like, default=None
        Known parameters; learned by default.
    floor : float, default=1e-6
        Least variance, as a share of the data's: a state on a single point has none of its own.

    Examples
    --------
    >>> law = GaussianEmission(means=[[0.0], [2.0]], covariances=[[[1.0]], [[1.0]]])
    >>> law.log_likelihood(law.rows([0.0, 1.0])).round(3)
    array([[-0.919, -2.919],
           [-1.419, -1.419]])
    """

    _stored = {
        "covariance": Text(),
        "covariances": Array("f8", ("n_covariances", "n_covariances_1", "n_covariances_1")) | None,
        "floor": Number(),
        "means": Array("f8", ("n_covariances", "n_covariances_1")) | None,
        "ridge": Array("f8", ("n_covariances_1",), low=0.0) | Number(),
    }

    def __init__(
        self,
        covariance: str = "full",
        *,
        means: Any = None,
        covariances: Any = None,
        floor: float = 1e-6,
    ):
        if covariance not in ("full", "diagonal", "tied"):
            raise DataError(f"covariance is 'full', 'diagonal' or 'tied', not {covariance!r}")
        self.covariance = covariance
        self.floor = floor
        self.means: Any = None if means is None else np.array(means, dtype=float)
        self.covariances: Any = None if covariances is None else np.array(covariances, dtype=float)
        self.ridge: Any = 0.0

    def rows(self, sequence: Any) -> np.ndarray:
        table = number_rows(sequence)
        if self.means is not None and table.shape[1] != self.means.shape[1]:
            raise DataError(f"rows have {table.shape[1]} columns, the model {self.means.shape[1]}")
        partly = np.isnan(table).any(axis=1) & ~np.isnan(table).all(axis=1)
        if self.covariance != "diagonal" and partly.any():
            raise DataError(
                f"row {np.flatnonzero(partly)[0]} misses some of its cells; use "
                "covariance='diagonal', or make the whole row missing"
            )
        return table

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        whole = rows[~np.isnan(rows).any(axis=1)]
        if len(whole) < n_states:
            raise DataError(f"{n_states} states need as many complete rows; there are {len(whole)}")
        spread = whole.var(axis=0)
        self.ridge = self.floor * np.where(spread > 0, spread, 1.0)
        if self.means is None:
            self.means = spread_out(whole, n_states, rng)
        if self.covariances is None:
            nearest = _nearest(whole, self.means, spread)
            self.learn_covariances(whole, np.eye(n_states)[nearest] + 1e-3)

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        if self.covariance == "diagonal":
            return diagonal_normal_logs(
                rows, self.means, np.diagonal(self.covariances, axis1=1, axis2=2)
            )
        return full_normal_logs(rows, self.means, self.covariances)

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        missing = np.isnan(rows)
        if missing.any():
            mass = inner(weights, (~missing).astype(float))
            sums = inner(weights, np.where(missing, 0.0, rows))
        else:
            mass, sums = weights.sum(axis=0)[:, None], inner(weights, rows)
        self.means = np.where(mass > 0, sums / np.where(mass > 0, mass, 1), self.means)
        self.learn_covariances(rows, weights)

    def learn_covariances(self, rows: np.ndarray, weights: np.ndarray) -> None:
        n_states, n_columns = self.means.shape
        rows, weights = np.ascontiguousarray(rows), np.ascontiguousarray(weights)
        alone = np.diag(np.broadcast_to(self.ridge / self.floor, n_columns))
        if self.covariance == "diagonal":
            sums, cells = np.zeros((2, n_states, n_columns))
            column_scatters(rows, weights, self.means, sums, cells)
            spread = np.where(cells > 0, sums / np.where(cells > 0, cells, 1), np.diag(alone))
            found = spread[:, :, None] * np.eye(n_columns)
        else:
            found, masses = np.zeros((n_states, n_columns, n_columns)), np.zeros(n_states)
            scatters(rows, weights, self.means, found, masses)
            if self.covariance == "tied":
                found[:] = found.sum(axis=0) / masses.sum()
            else:
                lonely = masses <= 0
                found /= np.where(lonely, 1, masses)[:, None, None]
                found[lonely] = alone
        self.covariances = found + np.diag(np.broadcast_to(self.ridge, n_columns))

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((len(states), self.means.shape[1]))
        roots = np.linalg.cholesky(self.covariances)
        return self.means[states] + np.einsum("nij,nj->ni", roots[states], noise)

    def n_parameters(self) -> int:
        k, d = self.means.shape
        spread = {"full": k * d * (d + 1) // 2, "diagonal": k * d, "tied": d * (d + 1) // 2}
        return k * d + spread[self.covariance]


@storable
class PoissonEmission:
    """Counts with a Poisson distribution for each state and column; a missing cell is NaN.

    Examples
    --------
    >>> law = PoissonEmission([[1.0], [5.0]])
    >>> law.log_likelihood(law.rows([0, 5])).round(3)
    array([[-1.   , -5.   ],
           [-5.787, -1.74 ]])
    """

    _stored = {
        "rates": Array("f8", (None, None)) | None,
    }

    def __init__(self, rates: Any = None):
        self.rates: Any = None if rates is None else np.array(rates, dtype=float)

    def rows(self, sequence: Any) -> np.ndarray:
        table = number_rows(sequence)
        seen = table[~np.isnan(table)]
        if (seen < 0).any() or (seen != np.floor(seen)).any():
            raise DataError("counts must be whole numbers, 0 or more")
        return table

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        if self.rates is None:
            whole = rows[~np.isnan(rows).any(axis=1)]
            if len(whole) < n_states:
                raise DataError(
                    f"{n_states} states need as many complete rows: there are {len(whole)}"
                )
            self.rates = spread_out(whole, n_states, rng) + 0.5

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        seen = (~np.isnan(rows)).astype(float)
        filled = np.where(seen > 0, rows, 0.0)
        rates = np.maximum(self.rates, np.finfo(float).tiny)
        constant = (gammaln(filled + 1) * seen).sum(axis=1)
        return filled @ np.log(rates).T - seen @ self.rates.T - constant[:, None]

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        seen = (~np.isnan(rows)).astype(float)
        mass = inner(weights, seen)
        sums = inner(weights, np.where(seen > 0, rows, 0.0))
        self.rates = np.where(mass > 0, sums / np.where(mass > 0, mass, 1), self.rates)

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(self.rates[states]).astype(float)

    def n_parameters(self) -> int:
        return self.rates.size


@storable
class MixtureEmission:
    """Numbers with a mixture of normal distributions for each state.

    Each state has `n_components` components, of the same kinds of covariance as `GaussianEmission`
    (not "tied"). Learning splits the weight of a state among its components, one step of EM for
    each step of EM of the whole model.

    Parameters
    ----------
    n_components : int, default=2
    covariance : {"full", "diagonal"}, default="diagonal"
    shares : array-like of shape (n_states, n_components), default=None
    components : GaussianEmission, default=None
        The components of all states, those of the first state first.

    Examples
    --------
    >>> law = MixtureEmission(2, shares=[[0.5, 0.5]], components=GaussianEmission(
    ...     "diagonal", means=[[-1.0], [1.0]], covariances=[[[1.0]], [[1.0]]]))
    >>> law.log_likelihood(law.rows([0.0])).round(3)
    array([[-1.419]])
    """

    _stored = {
        "components": Object(("GaussianEmission",)),
        "covariance": Text(),
        "n_components": Whole(),
        "shares": Array("f8", (None, "n_components"), low=0.0) | None,
    }

    def __init__(
        self,
        n_components: int = 2,
        covariance: str = "diagonal",
        *,
        shares: Any = None,
        components: GaussianEmission | None = None,
    ):
        if covariance not in ("full", "diagonal"):
            raise DataError(f"covariance is 'full' or 'diagonal', not {covariance!r}")
        self.n_components = n_components
        self.covariance = covariance
        self.shares: Any = None if shares is None else np.array(shares, dtype=float)
        self.components = components or GaussianEmission(covariance)

    def rows(self, sequence: Any) -> np.ndarray:
        return self.components.rows(sequence)

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        self.components.begin(rows, n_states * self.n_components, rng)
        if self.shares is None:
            # neighbouring components begin in one state
            order = np.lexsort(self.components.means.T[::-1])
            self.components.means = self.components.means[order]
            self.components.covariances = self.components.covariances[order]
            self.shares = np.full((n_states, self.n_components), 1 / self.n_components)

    def _by_component(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            shares = np.log(self.shares)
        return self.components.log_likelihood(rows).reshape(-1, *self.shares.shape) + shares

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        return logsumexp(self._by_component(rows), axis=2)

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        joint = self._by_component(rows)
        within = np.exp(joint - logsumexp(joint, axis=2, keepdims=True))
        responsibilities = within * weights[:, :, None]
        seen = ~np.isnan(rows).all(axis=1)
        self.shares = _normalized(responsibilities[seen].sum(axis=0), self.shares)
        self.components.learn(rows, responsibilities.reshape(len(rows), -1))

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        ladder = np.cumsum(self.shares, axis=1)
        chosen = (ladder[states] <= rng.random(len(states))[:, None]).sum(axis=1)
        chosen = np.minimum(chosen, self.n_components - 1)
        return self.components.draw(states * self.n_components + chosen, rng)

    def n_parameters(self) -> int:
        return self.shares.size - len(self.shares) + self.components.n_parameters()


class LinearEmission:
    """Numbers whose mean is linear in other numbers of their row; see its two children."""

    weights: Any
    covariances: Any
    _stored = {
        "covariances": Array("f8", ("n_covariances", "n_covariances_1", "n_covariances_1")) | None,
        "weights": Array("f8", ("n_covariances", None, "n_covariances_1")) | None,
    }

    def _width(self, rows: np.ndarray) -> int:
        """How many of the columns are shown; the others are what they depend on."""
        raise NotImplementedError

    def _split(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        width = self._width(rows)
        whole = ~np.isnan(rows).any(axis=1)
        filled = np.where(whole[:, None], rows, 0.0)
        return filled[:, :width], np.column_stack([np.ones(len(rows)), filled[:, width:]]), whole

    def begin(self, rows: np.ndarray, n_states: int, rng: np.random.Generator) -> None:
        if self.weights is not None:
            return
        now, given, whole = self._split(rows)
        if whole.sum() < n_states * given.shape[1]:
            raise DataError(
                f"only {whole.sum()} rows are complete, with all that they depend on; use fewer "
                "lags, inputs or states"
            )
        width = now.shape[1]
        self.weights = np.zeros((n_states, given.shape[1], width))
        spread = np.diag(now[whole].var(axis=0) + 1e-12)
        self.covariances = np.tile(spread, (n_states, 1, 1))
        plain = np.linalg.lstsq(given[whole], now[whole], rcond=None)[0]
        self.weights[:] = plain
        self.weights[:, 1:] += rng.normal(0, 0.3, (n_states, given.shape[1] - 1, width))
        self.weights[:, 0] += rng.normal(0, 1, (n_states, width)) * np.sqrt(np.diag(spread))

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        now, given, whole = self._split(rows)
        found = np.empty((len(rows), len(self.weights)))
        for k, weights in enumerate(self.weights):
            found[:, k] = normal_log_density(now - given @ weights, self.covariances[k])
        found[~whole] = 0.0
        return found

    def learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        now, given, whole = self._split(rows)
        spread = now[whole].var(axis=0) + 1e-12
        for k in range(len(self.weights)):
            mass = weights[:, k] * whole
            if mass.sum() <= given.shape[1] * 1e-8:
                continue
            scaled = given * mass[:, None]
            self.weights[k] = np.linalg.lstsq(inner(scaled, given), inner(scaled, now), rcond=None)[
                0
            ]
            rest = now - given @ self.weights[k]
            self.covariances[k] = inner(rest * mass[:, None], rest) / mass.sum()
            self.covariances[k] += np.diag(1e-6 * spread)

    def n_parameters(self) -> int:
        k, _, d = self.weights.shape
        return self.weights.size + k * d * (d + 1) // 2


@storable
class LagEmission(LinearEmission):
    """Numbers whose mean is linear in the rows before: the law of an autoregressive hidden Markov
    model.

    x_n = W_k (1, x_{n-1}, ..., x_{n-lags}) + noise of covariance S_k. The first `lags` rows of
    each sequence, and those with a gap among their lags, are taken as given: they tell nothing.

    Parameters
    ----------
    lags : int, default=1
    weights : array-like of shape (n_states, 1 + lags * d, d), default=None
    covariances : array-like of shape (n_states, d, d), default=None

    Notes
    -----
    Texts: 001 14.2.7 (sketched there).

    Examples
    --------
    >>> law = LagEmission(1, weights=[[[0.0], [0.5]]], covariances=[[[1.0]]])
    >>> law.log_likelihood(law.rows([2.0, 1.0])).round(3)
    array([[ 0.   ],
           [-0.919]])
    """

    _stored = {
        "lags": Whole(),
    }

    def __init__(self, lags: int = 1, *, weights: Any = None, covariances: Any = None):
        if lags < 1:
            raise DataError("lags is 1 or more; without lags use GaussianEmission")
        self.lags = lags
        self.weights = None if weights is None else np.array(weights, dtype=float)
        self.covariances = None if covariances is None else np.array(covariances, dtype=float)

    def rows(self, sequence: Any) -> np.ndarray:
        """Each row with those before it: (x_n, x_{n-1}, ..., x_{n-lags})."""
        return lag_rows(number_rows(sequence), self.lags)

    def _width(self, rows: np.ndarray) -> int:
        return rows.shape[1] // (self.lags + 1)

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        width = self.weights.shape[2]
        drawn = np.zeros((len(states) + self.lags, width))
        roots = np.linalg.cholesky(self.covariances)
        for n, k in enumerate(states, start=self.lags):
            before = np.r_[1.0, drawn[n - self.lags : n][::-1].ravel()]
            drawn[n] = before @ self.weights[k] + roots[k] @ rng.standard_normal(width)
        return drawn[self.lags :]


@storable
class InputEmission(LinearEmission):
    """Numbers whose mean is linear in inputs, in each state in its own way.

    x_n = W_k (1, u_n) + noise of covariance S_k: with `HiddenMarkovModel` a regression that
    switches between regimes, with `InputHMM` inputs move the states too. Rows hold what is shown,
    then the inputs (`InputHMM` puts them together); rows with a missing cell tell nothing.

    Parameters
    ----------
    n_columns : int, default=1
        How many of the first columns are shown.
    weights : array-like of shape (n_states, 1 + n_inputs, n_columns), default=None
    covariances : array-like of shape (n_states, n_columns, n_columns), default=None

    Examples
    --------
    >>> law = InputEmission(weights=[[[0.0], [2.0]]], covariances=[[[1.0]]])
    >>> law.log_likelihood(law.rows([[2.0, 1.0], [3.0, 1.0]])).round(3)
    array([[-0.919],
           [-1.419]])
    """

    _stored = {
        "n_columns": Whole(1),
        "weights": Array("f8", ("n_states", None, None)) | None,
        "covariances": Array("f8", ("n_states", None, None)) | None,
    }

    def __init__(self, n_columns: int = 1, *, weights: Any = None, covariances: Any = None):
        if n_columns < 1:
            raise DataError("n_columns is 1 or more")
        self.n_columns = n_columns
        self.weights = None if weights is None else np.array(weights, dtype=float)
        self.covariances = None if covariances is None else np.array(covariances, dtype=float)

    def rows(self, sequence: Any) -> np.ndarray:
        table = number_rows(sequence)
        if table.shape[1] <= self.n_columns:
            raise DataError(
                f"rows have {table.shape[1]} columns: {self.n_columns} that are shown need inputs "
                "beside them"
            )
        return table

    def _width(self, rows: np.ndarray) -> int:
        return self.n_columns

    def draw_under(self, states: np.ndarray, inputs: Any, rng: np.random.Generator) -> np.ndarray:
        """What a path of states shows under inputs, one row for each."""
        given = np.column_stack([np.ones(len(states)), number_rows(inputs)])
        roots = np.linalg.cholesky(self.covariances)
        noise = rng.standard_normal((len(states), self.n_columns))
        means = np.einsum("ni,nij->nj", given, self.weights[states])
        return means + np.einsum("nij,nj->ni", roots[states], noise)

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        raise DataError("inputs are needed to draw: use InputHMM.sample, or draw_under")


def diagonal_normal_logs(rows: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """log N(row | mean_k, diag variance_k), of shape (n_rows, n_states); missing cells are skipped.

    means, variances : (n_states, n_columns).
    """
    found = np.empty((len(rows), len(means)))
    normal_logs_by_column(_floats(rows), _floats(means), _floats(variances), found)
    return found


def full_normal_logs(rows: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """log N(row | mean_k, covariance_k), of shape (n_rows, n_states); 0 for missing rows."""
    found = np.empty((len(rows), len(means)))
    roots = np.linalg.inv(np.linalg.cholesky(covariances))
    sizes = np.diagonal(roots, axis1=1, axis2=2)
    constants = np.log(sizes).sum(axis=1) - 0.5 * LOG_TWO_PI * sizes.shape[1]
    across = len(means) > sizes.shape[1]
    tables = roots.transpose(1, 2, 0) if across else np.swapaxes(roots, 1, 2)
    (normal_logs_across if across else normal_logs)(
        _floats(rows),
        _floats(means.T if across else means),
        _floats(tables),
        constants,
        found,
    )
    return found


def _floats(table: Any) -> np.ndarray:
    return np.ascontiguousarray(table, dtype=np.float64)


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "out f8[:,:]")
def normal_logs_by_column(rows, means, variances, found):
    """log N(row | mean_k, diag variance_k), of shape (N, K); missing cells (NaN) are skipped."""
    n_states, n_columns = means.shape
    weight = -0.5 / variances
    constant = -0.5 * (np.log(variances) + LOG_TWO_PI)
    sums = np.zeros(n_states)
    for k in range(n_states):
        for i in range(n_columns):
            sums[k] += constant[k, i]
    for n in range(len(rows)):
        whole = True
        for i in range(n_columns):
            whole &= not np.isnan(rows[n, i])
        if whole:
            for k in range(n_states):
                total = sums[k]
                for i in range(n_columns):
                    total += weight[k, i] * (rows[n, i] - means[k, i]) ** 2
                found[n, k] = total
            continue
        for k in range(n_states):
            total = 0.0
            for i in range(n_columns):
                if not np.isnan(rows[n, i]):
                    total += constant[k, i] + weight[k, i] * (rows[n, i] - means[k, i]) ** 2
            found[n, k] = total


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:,:]", "f8[:]", "out f8[:,:]")
def normal_logs(rows, means, columns, constants, found):
    """log N(row | mean_k, S_k), of shape (N, K); 0 for missing rows.

    columns (K, d, d) are the transposed inverse Cholesky roots of S_k, so that the inner loop runs
    along rows of them.
    """
    n_states, n_columns = means.shape
    half = np.empty(n_columns)
    for n in range(len(rows)):
        for k in range(n_states):
            half[:] = 0.0
            for i in range(n_columns):
                away = rows[n, i] - means[k, i]
                for j in range(i, n_columns):
                    half[j] += away * columns[k, i, j]
            total = 0.0
            for i in range(n_columns):
                total += half[i] * half[i]
            found[n, k] = 0.0 if np.isnan(total) else constants[k] - 0.5 * total


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:,:]", "f8[:]", "out f8[:,:]")
def normal_logs_across(rows, means, roots, constants, found):
    """`normal_logs` for more states than columns: the inner loop runs across the states.

    means (d, K) and inverse Cholesky roots (d, d, K) have the states last.
    """
    n_columns, n_states = means.shape
    away = np.empty((n_columns, n_states))
    half = np.empty(n_states)
    for n in range(len(rows)):
        total = found[n]
        total[:] = constants
        missing = False
        for i in range(n_columns):
            missing |= np.isnan(rows[n, i])
            for k in range(n_states):
                away[i, k] = rows[n, i] - means[i, k]
            half[:] = 0.0
            for j in range(i + 1):
                for k in range(n_states):
                    half[k] += roots[i, j, k] * away[j, k]
            for k in range(n_states):
                total[k] -= 0.5 * half[k] * half[k]
        if missing:
            total[:] = 0.0


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "out f8[:,:]", "out f8[:,:]")
def column_scatters(rows, weights, means, sums, cells):
    """Weighted squares of what was seen around each mean, and its weights, added to (K, d)."""
    n_states, n_columns = means.shape
    for n in range(len(rows)):
        for i in range(n_columns):
            value = rows[n, i]
            if np.isnan(value):
                continue
            for k in range(n_states):
                away = value - means[k, i]
                sums[k, i] += weights[n, k] * away * away
                cells[k, i] += weights[n, k]


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "out f8[:,:,:]", "out f8[:]")
def scatters(rows, weights, means, found, masses):
    """Weighted products around each mean, added to (K, d, d), and weights (K), of whole rows."""
    n_states, n_columns = means.shape
    away = np.empty(n_columns)
    for n in range(len(rows)):
        whole = True
        for i in range(n_columns):
            whole &= not np.isnan(rows[n, i])
        if not whole:
            continue
        for k in range(n_states):
            masses[k] += weights[n, k]
            for i in range(n_columns):
                away[i] = rows[n, i] - means[k, i]
            for i in range(n_columns):
                scaled = weights[n, k] * away[i]
                for j in range(n_columns):
                    found[k, i, j] += scaled * away[j]


def number_rows(sequence: Any) -> np.ndarray:
    """A sequence of numbers or of rows of numbers as a table; NaN stands for missing."""
    table = np.asarray(sequence, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise DataError(
            f"a sequence is a list of numbers or a table, not an array of {table.ndim} axes"
        )
    if np.isinf(table).any():
        raise DataError(f"row {np.argwhere(np.isinf(table))[0][0]} of a sequence is infinite")
    return np.ascontiguousarray(table)


def lag_rows(table: np.ndarray, lags: int) -> np.ndarray:
    """Each row followed by the `lags` rows before it, the nearest first; NaN where there is
    none."""
    padded = np.vstack([np.full((lags, table.shape[1]), np.nan), table])
    return np.hstack([padded[lags - i : len(padded) - i] for i in range(lags + 1)])


def normal_log_density(centered: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """log N(x | mean, covariance) of rows from which the mean has been taken; NaN rows stay NaN."""
    root = np.linalg.cholesky(covariance)
    standard = solve_triangular(root, centered.T, lower=True, check_finite=False)
    distances = (standard**2).sum(axis=0)
    return -0.5 * (distances + len(root) * LOG_TWO_PI) - np.log(np.diag(root)).sum()


def spread_out(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Rows far from each other: each next one is drawn by its squared distance to those chosen."""
    scale = rows.std(axis=0)
    scaled = rows / np.where(scale > 0, scale, 1.0)
    chosen = [int(rng.integers(len(rows)))]
    nearest = ((scaled - scaled[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        total = nearest.sum()
        chance = nearest / total if total > 0 else None
        chosen.append(int(rng.choice(len(rows), p=chance)))
        nearest = np.minimum(nearest, ((scaled - scaled[chosen[-1]]) ** 2).sum(axis=1))
    return rows[chosen].copy()


def _nearest(rows: np.ndarray, centers: np.ndarray, spread: np.ndarray) -> np.ndarray:
    weight = 1 / np.where(spread > 0, spread, 1.0)
    distances = [((rows - center) ** 2 * weight).sum(axis=1) for center in centers]
    return np.argmin(distances, axis=0)


def _normalized(counts: np.ndarray, old: np.ndarray | None) -> np.ndarray:
    """Rows divided by their sums; a row without counts keeps its old values, or becomes uniform."""
    sums = counts.sum(axis=1, keepdims=True)
    kept = np.full(counts.shape, 1 / counts.shape[1]) if old is None else old
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1), kept)


def _holds_codes(sequence: Any, count: int) -> bool:
    """Whether a sequence is an array of whole numbers 0 ... count - 1, to be taken as it is."""
    if not isinstance(sequence, np.ndarray) or sequence.dtype.kind not in "iu":
        return False
    return sequence.ndim == 1 and (
        not len(sequence) or 0 <= sequence.min() <= sequence.max() < count
    )
