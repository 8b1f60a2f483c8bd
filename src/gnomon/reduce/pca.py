"""Principal component analysis: the directions along which rows vary most.

With C = sum_i w_i (x_i - m)(x_i - m)' / (sum_i w_i - ddof), the components are the unit vectors u
with C u = lambda u, in falling order of the variance lambda. The first k give the projection with
the least squared error: what is lost per row is the sum of the other lambdas.

Texts: 000a 5.1, 6.1.1 · 001 17 · 002 "PCA" · 003 2.7.2 · 004 15.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Data, Step, SumLearner, Takes, Transformer, intake
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    Interval,
    StrOptions,
    at_least,
    validated,
    whole,
)
from gnomon.engine.products import inner, needed_shift
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Optional, Text, Whole
from gnomon.engine.sums import ArraySource, Chunk, Source, chunks_memory, rows_per_chunk
from gnomon.engine.threads import blas_for, resolve_jobs
from gnomon.reduce import spectrum
from gnomon.reduce.spectrum import Krylov, Spectrum

USUAL_PASSES = 12  # of "lanczos" on tables whose variances fall off, measured
SAFE_RATIO = 1e-8  # kept variances below this share of the first lose digits in a Gram matrix
MANY_CHUNKS = 32  # from so many on, four are joined: adding d x d sums then costs little
LONG_CELLS = 2**21  # cells of a joined chunk, 16 MB
SECONDS_PER_PRODUCT = 4e-11  # of one multiplication and addition in a matrix product
MOST_DENSE_COLUMNS = 3000  # of sparse rows, up to which a dense covariance (72 MB) is formed
# Given where nothing is drawn: to make a generator takes a twentieth of a small fit.
NO_DRAWS = np.random.default_rng(0)
# Variances in units of the largest that densities tell from zero: sums leave their digits.
ROUNDING = 1e-10


class Moments(NamedTuple):
    weight: float
    rows: np.ndarray
    products: np.ndarray
    squares: float


@method(
    task="reduce",
    texts="000a 5.1, 6.1.1 · 001 17 · 002 PCA · 003 2.7.2 · 004 15.2",
    use="To see, compress or decorrelate numeric columns that vary together.",
    avoid="Columns in unlike units (standardise first); groups that differ along a small variance.",
    peers=("sklearn.decomposition.PCA",),
)
@without_effect("copy", "iterated_power", "n_oversamples", "power_iteration_normalizer")
class PCA(ClassNamePrefixFeaturesOutMixin, Transformer, SumLearner):
    """Principal components: the orthogonal directions along which rows vary most.

    Solves C u = lambda u for the covariance C = sum_i w_i (x_i - m)(x_i - m)' / (sum_i w_i -
    ddof) and keeps the k largest lambdas. Among all projections on k directions this one loses
    least: the mean squared error of ``inverse_transform(transform(X))`` is the sum of the lambdas
    that were left out (with ddof=0).

    Use it to look at many columns in two, to compress, to decorrelate. Do not use it on columns
    in unlike units without standardising them (units change the result), nor expect a direction
    of large variance to be one that tells classes apart. Outliers count by the square of their
    distance.

    Texts: 000a 5.1 and 6.1.1, 001 17, 002 "PCA", 003 2.7.2, 004 15.2. The texts divide by the
    number of rows (``ddof=0``); the default here is scikit-learn's n - 1. 001 prints the
    components as rows of U where they are its columns, and breaks off the snapshot method,
    completed here (``solver="gram"``).

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        How many components to keep; a number between 0 and 1 keeps as few as explain more than
        this share of the variance; "mle" keeps as many as Minka's Bayesian choice says, for at
        least as many rows as columns; None keeps min(n_samples, n_features), one less with
        ``svd_solver="arpack"``.
    whiten : bool, default=False
        Divide each coordinate by its standard deviation. Coordinates of directions without
        variance are 0.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "full" decomposes a centered copy of the rows, "covariance_eigh" their covariance.
        "auto", "arpack" and "randomized" take the cheapest algorithm for the shape, see
        ``solver``; sparse rows are not centered in memory, and need "auto", "arpack" or
        "covariance_eigh".
    tol : float, default=0.0
        "lanczos" stops when every component has ``|C u - lambda u| <= tol * lambda_1``; 0 stands
        for 1e-6, or 1e-12 with ``svd_solver="arpack"``. A lambda is then off by at most that
        much, as a rule by its square over the gap; a component's angle by about tol * lambda_1 /
        gap.
    random_state : int, RandomState instance or None, default=None
        The first block of "lanczos"; the others draw nothing.
    solver : {"auto", "sums", "gram", "svd", "lanczos"}, default="auto"
        The algorithm, where ``svd_solver`` leaves the choice.
        "sums" adds up the covariance in one pass over the rows and decomposes it. "gram"
        decomposes the matrix of inner products of rows: for fewer rows than columns. "svd"
        decomposes a centred copy of the rows: keeps the digits of variances below 1e-12 of the
        largest. "lanczos" finds a few components by repeated passes, without forming a
        covariance. "auto" takes the cheapest for the shape, and "svd" where "gram" would lose
        digits (a kept variance below 1e-8 of the first), and an exact one where "lanczos" has not
        converged after 24 passes (variances that hardly differ). ``solver_`` says which ran.
    ddof : {0, 1}, default=1
        Subtracted from the sum of weights in the divisor of the covariance.
    max_iter : int, default=100
        Most passes of "lanczos".
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the state of each pass.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The directions, unit vectors, each with its largest loading positive.
    explained_variance_ : ndarray of shape (n_components_,)
        The variances lambda.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their shares of the total variance (0 where there is none).
    singular_values_ : ndarray of shape (n_components_,)
        Singular values of the centred (and weighted) rows.
    mean_ : ndarray of shape (n_features,)
        The mean of the rows.
    n_components_ : int
        How many components were kept.
    noise_variance_ : float
        Sum of the variances left out, divided by min(n_samples, n_features) - n_components_ (the
        noise of probabilistic PCA).
    total_variance_ : float
        Sum of all variances, also of those left out.
    rank_ : int
        How many kept components have a variance beyond rounding.
    n_samples_ : int
        How many rows were seen.
    residuals_ : ndarray of shape (n_components_,)
        ``|C u - lambda u|`` as "lanczos" left it; 0 for the exact solvers.
    solver_ : str
        The solver that ran.
    history_ : History
        Share of the variance that the components leave unexplained, after each pass.
    n_iter_ : int
        Passes over the rows that looked for components.
    scatter_ : ndarray of shape (n_features, n_features)
        Sum of products of centred rows; only after ``partial_fit``, as are ``weight_seen_`` and
        ``n_rows_seen_``.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> rows = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> pca = PCA(n_components=1, ddof=0).fit(rows)
    >>> pca.components_.round(3)
    array([[0.707, 0.707]])
    >>> pca.explained_variance_.round(3)
    array([2.5])
    >>> np.allclose(pca.inverse_transform(pca.transform(rows)), rows)
    True
    """

    _parameter_constraints = {
        "n_components": [
            None,
            whole(0),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle"}),
        ],
        "whiten": FLAG,
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "arpack", "randomized"})],
        "tol": [at_least(0)],
        "solver": [StrOptions({"auto", "sums", "gram", "svd", "lanczos"})],
        "ddof": [whole(0, 1)],
        "max_iter": [whole(1)],
        "keep_history": HISTORY,
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _stored = {
        "n_rows_seen_": Optional(Whole()),
        "scatter_": Optional(Array("f8", ("n_columns", "n_columns"))),
        "weight_seen_": Optional(Number()),
        "components_": Array("f", ("n_components_", "n_columns")),
        "explained_variance_": Array("f", ("n_components_",)),
        "explained_variance_ratio_": Array("f", ("n_components_",)),
        "mean_": Array("f", ("n_columns",)),
        "n_components_": Whole(),
        "n_samples_": Optional(Whole()),
        "noise_variance_": Number(),
        "rank_": Whole(),
        "residuals_": Array("f8", ("n_components_",)),
        "singular_values_": Array("f", ("n_components_",)),
        "solver_": Text(),
        "total_variance_": Number(),
    }

    def __init__(
        self,
        n_components=None,
        *,
        copy=True,
        whiten=False,
        svd_solver="auto",
        tol=0.0,
        iterated_power="auto",
        n_oversamples=10,
        power_iteration_normalizer="auto",
        random_state=None,
        solver="auto",
        ddof=1,
        max_iter=100,
        keep_history="objective",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.solver = solver
        self.ddof = ddof
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state
        self.n_jobs = n_jobs

    natively = Takes(sparse=True, float32=True)
    _always_float64 = ("residuals_", "scatter_")

    def _asked(self) -> str:
        """The algorithm that the parameters ask for."""
        if self.solver != "auto":
            return self.solver
        return {"full": "svd", "covariance_eigh": "sums"}.get(self.svd_solver, "auto")

    def _tolerance(self) -> float:
        return self.tol or (1e-12 if self.svd_solver == "arpack" else 1e-6)

    def _fit(self, data: Data) -> None:
        self.n_samples_ = data.n_rows
        for name in ("scatter_", "weight_seen_", "n_rows_seen_"):
            self.__dict__.pop(name, None)
        n, d = data.n_rows, data.n_columns
        self._require_components(n, d)
        in_memory = isinstance(data.source, ArraySource)
        if in_memory and sp.issparse(data.rows):
            self._fit_sparse(data)
            return
        self.solver_ = self._choose(n, d, in_memory)
        if self.solver_ == "lanczos":
            super()._fit(data)
            if self._asked() == "auto" and self.history_.stopped == "max_iter":
                self.solver_ = self._exact(n, d, in_memory)
        if self.solver_ == "sums":
            source = long_chunks(data.source)
            if data.is_float32:
                assert isinstance(source, ArraySource)
                source = replace(source, keeps_float32=True)
            super()._fit(replace(data, source=source))
        elif self.solver_ != "lanczos":
            self._fit_in_memory(data)

    def _require_components(self, n: int, d: int) -> None:
        most = min(n, d)
        if self.n_components == "mle" and self.svd_solver in ("arpack", "randomized"):
            raise DataError(
                f"n_components='mle' cannot be a string with svd_solver={self.svd_solver!r}; use "
                "svd_solver='auto'"
            )
        if self._fixed() and not 1 <= self.n_components <= most:
            raise DataError(
                f"n_components={self.n_components} must be between 1 and min(n_samples, "
                f"n_features)={most} (n_samples={n}, n_features={d})"
            )
        if self._fixed() and self.svd_solver == "arpack" and self.n_components == most:
            raise DataError(
                f"n_components={self.n_components} must be strictly less than min(n_samples, "
                f"n_features)={most} with svd_solver='arpack'"
            )
        if self.n_components == "mle" and n < d:
            raise DataError(
                "n_components='mle' is only supported if n_samples >= n_features, not "
                f"{n} rows of {d} columns; give a number, or use choose_components"
            )
        if self.solver == "lanczos" and not isinstance(self.n_components, Integral):
            raise DataError(
                "solver='lanczos' needs n_components as a whole number, not "
                f"{self.n_components!r}: it finds a few components only; use solver='auto'"
            )

    def _most_components(self, n: int, d: int) -> int:
        """Components that must be found before it is known how many are kept."""
        if self._fixed():
            return int(self.n_components)
        few = self.svd_solver == "arpack" and self.n_components is None
        return max(min(n, d) - few, 1)

    def _fixed(self) -> bool:
        return isinstance(self.n_components, Integral)

    def _choose(self, n: int, d: int, in_memory: bool) -> str:
        """The solver with the fewest operations for the shape."""
        if self._asked() != "auto":
            return self._asked()
        side = min(n, d) if in_memory else d
        direct = n * d * side + 10 * side**3
        width = self._most_components(n, d) + spectrum.OVERSAMPLING
        repeated = USUAL_PASSES * 4 * n * d * width
        if self._fixed() and 3 * width < min(n, d) and 2 * repeated < direct:
            return "lanczos"
        return self._exact(n, d, in_memory)

    def _exact(self, n: int, d: int, in_memory: bool) -> str:
        if d <= n or not in_memory:
            return "sums"
        return "gram" if 2 * self._most_components(n, d) <= n else "svd"

    def _passes(self) -> int:
        if self._asked() == "auto" and getattr(self, "solver_", "") == "lanczos":
            return min(self.max_iter, 2 * USUAL_PASSES)
        return self.max_iter

    def _most_steps(self) -> int:
        """One more than the passes: "lanczos" may hand over to "sums"."""
        return self.max_iter + 1

    def _start(self, data, rng):
        first = next(iter(data.source.chunks()))
        shift = needed_shift(first.rows, first.weights)
        if shift is not None:  # a number that rows of their type can be shifted by exactly
            shift = shift.astype(first.rows.dtype)
        state = {"shift": shift, "n_rows": data.n_rows}
        if self.solver_ == "lanczos":
            k = self._most_components(data.n_rows, data.n_columns)
            state["krylov"] = Krylov.start(data.n_columns, k, rng)
        return state

    def _rng(self):
        return super()._rng() if self.solver_ == "lanczos" else NO_DRAWS

    def _seconds(self, source):
        if self.solver_ == "lanczos" or not isinstance(source, ArraySource):
            return None
        size = min(source.size or rows_per_chunk(source.n_columns), source.n_rows)
        return size * source.n_columns**2 * SECONDS_PER_PRODUCT

    def _sums(self, state, chunk):
        shifted = chunk.rows if state["shift"] is None else chunk.rows - state["shift"]
        weights = chunk.weights.astype(shifted.dtype, copy=False)
        rows = inner(shifted, weights)
        if chunk.weighted:
            shifted = shifted * np.sqrt(weights)[:, np.newaxis]
        krylov = state.get("krylov")
        if krylov is None:
            products = inner(shifted, shifted)
            squares = float(np.trace(products))
        else:
            products = inner(shifted, shifted @ krylov.block)
            squares = float(np.einsum("ij,ij->", shifted, shifted))
        return Moments(float(chunk.weights.sum()), rows, products, squares)

    def _update(self, state, total):
        offset = total.rows / total.weight
        scatter = total.squares - total.weight * (offset @ offset)
        divisor = self._divisor(total.weight, scatter)
        krylov = state.get("krylov")
        mean = offset if state["shift"] is None else state["shift"] + offset
        new = state | {"mean": mean, "divisor": divisor}
        if krylov is None:
            products = total.products
            products -= np.outer(total.weight * offset, offset)
            products /= divisor
            k = self._most_components(state["n_rows"], len(offset))
            found = spectrum.of_covariance(products, k)
            return Step(new | {"found": found}, self._unexplained(found, divisor), True)
        image = total.products - total.weight * np.outer(offset, offset @ krylov.block)
        krylov, found = spectrum.grow(
            krylov, image / divisor, max(scatter / divisor, 0.0), int(self.n_components)
        )
        largest = found.values[0]
        done = krylov.block.shape[1] == 0 or bool(
            found.residuals.max() <= self._tolerance() * largest
        )
        return Step(
            new | {"krylov": krylov, "found": found}, self._unexplained(found, divisor), done
        )

    def _divisor(self, weight: float, scatter: float) -> float:
        if weight > self.ddof:
            return weight - self.ddof
        if scatter > 0:
            raise DataError(
                f"the weights sum to {weight:g}, and the variance divides by that minus "
                f"ddof={self.ddof}: give weights that count rows, or ddof=0"
            )
        return 1.0

    def _unexplained(self, found: Spectrum, divisor: float) -> float:
        kept = found.values[: self._kept(found, divisor)].sum()
        return float(max(1 - kept / found.total, 0.0)) if found.total > 0 else 0.0

    def _kept(self, found: Spectrum, divisor: float) -> int:
        """How many components ``n_components`` asks for."""
        if self._fixed():
            return len(found.values)
        if self.n_components is None:
            return len(found.values)
        rank = max(spectrum.rank(found), 1)
        if rank == 1:
            return rank
        if self.n_components == "mle":
            return spectrum.likeliest_number(found, divisor + self.ddof)
        shares = np.cumsum(found.values[:rank] / found.total)  # to the bit as users add them up
        return min(int(np.searchsorted(shares, self.n_components, side="right")) + 1, rank)

    def _fit_in_memory(self, data: Data) -> None:
        rows, weights = data.rows, data.weights
        n, d = rows.shape
        mean = spectrum.column_means(rows, weights)
        weight = float(n if weights is None else weights.sum())
        k = self._most_components(n, d)
        divisor = self._divisor(weight, np.inf if n > 1 else 0.0)
        if self.solver_ == "gram":
            found = spectrum.of_gram_matrix(rows, mean, weights, divisor, min(k, n), self.n_jobs)
            if self._asked() == "auto" and found.values[-1] < SAFE_RATIO * found.values[0]:
                self.solver_ = "svd"
        if self.solver_ == "svd":
            found = spectrum.of_svd(rows, mean, weights, divisor, k)
        self._keep(self._attributes({"mean": mean, "divisor": divisor, "found": found}))
        self.history_ = History([self._unexplained(found, divisor)])
        self.n_iter_ = 1

    def _fit_sparse(self, data: Data) -> None:
        """Sparse rows stay sparse: their covariance, or its product with vectors, is centered."""
        if self.svd_solver in ("full", "randomized") or self._asked() in ("svd", "gram"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, '
                f'while "{self.svd_solver}" was passed. Use svd_solver="auto" or dense rows'
            )
        rows, weights = sp.csr_array(data.rows, dtype=np.float64), data.weight_array
        weight = float(weights.sum())
        mean = (rows.T @ weights) / weight
        scaled = sp.diags_array(weights) @ rows
        scatter = float((scaled.multiply(rows)).sum() - weight * (mean @ mean))
        divisor = self._divisor(weight, scatter)
        k = self._most_components(*rows.shape)
        if rows.shape[1] <= MOST_DENSE_COLUMNS or self._asked() == "sums" or not self._fixed():
            self.solver_ = "sums"
            covariance = (scaled.T @ rows).toarray() - weight * np.outer(mean, mean)
            found = spectrum.of_covariance(covariance / divisor, k)
        else:
            self.solver_ = "lanczos"

            def product(vector: np.ndarray) -> np.ndarray:
                return (scaled.T @ (rows @ vector) - weight * mean * (mean @ vector)) / divisor

            values, vectors = spectrum.leading_of(product, rows.shape[1], k)
            found = spectrum.exact(values, vectors.T, max(scatter, 0.0) / divisor)
        self._keep(self._attributes({"mean": mean, "divisor": divisor, "found": found}))
        self.history_, self.n_iter_ = History([self._unexplained(found, divisor)]), 1

    def _attributes(self, state):
        found = state["found"]
        k = self._kept(found, state["divisor"])
        values, vectors, residuals = found.values[:k], found.vectors[:k], found.residuals[:k]
        rank = spectrum.rank(found) if found.total > 0 else 0
        if rank < k and not self._fixed():
            if self.n_components is None:  # rows of weight two count twice
                rows = round(state["divisor"] + self.ddof) - (self.svd_solver == "arpack")
                k = max(k, min(rows, vectors.shape[1]))
            vectors = spectrum.with_canonical_rest(vectors, rank, k)
            k = len(vectors)
            values, residuals = (
                np.pad(each, (0, max(k - len(each), 0)))[:k] for each in (values, residuals)
            )
        elif rank < k:
            vectors = spectrum.with_canonical_rest(vectors, rank, k)
        total = found.total
        rest = min(found.vectors.shape[1], self.n_samples_) - k
        beyond = max(total - values.sum(), 0.0)
        return {
            "components_": np.ascontiguousarray(vectors),
            "explained_variance_": values,
            "explained_variance_ratio_": values / total if total > 0 else np.zeros(k),
            "singular_values_": np.sqrt(values * state["divisor"]),
            "mean_": state["mean"],
            "n_components_": k,
            "noise_variance_": float(beyond / rest) if rest > 0 else 0.0,
            "total_variance_": float(total),
            "rank_": min(spectrum.rank(found), k),
            "residuals_": residuals,
        }

    def _replayable(self, state):
        found = state["found"]
        return {"components": found.vectors.copy(), "variances": found.values.copy()}

    def _end(self, state, data):
        if self.history_.stopped == "max_iter" and self.solver == "lanczos":
            worst = self.residuals_.max() / self.explained_variance_[0]
            warnings.warn(
                f"PCA stopped after max_iter={self.max_iter} passes with residuals up to "
                f"{worst:.2g} of the first variance, more than tol={self._tolerance():g}; increase "
                "max_iter or tol, or use solver='sums'",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _map(self, rows):
        if sp.issparse(rows):
            coordinates = rows @ self.components_.T - self.mean_ @ self.components_.T
        else:
            coordinates = (rows - self.mean_) @ self.components_.T
        if self.whiten:
            coordinates *= self._whitening()
        return coordinates

    def _whitening(self) -> np.ndarray:
        """What each coordinate is multiplied by; zero where there is no variance."""
        factors = np.zeros(self.n_components_)
        factors[: self.rank_] = 1 / np.sqrt(self.explained_variance_[: self.rank_])
        return factors

    def inverse_transform(self, X) -> np.ndarray:
        """The rows, in the original columns, that coordinates stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Coordinates, as ``transform`` gives them.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            In the columns that the method saw; after a fit on a table,
            ``encoder_.inverse_transform`` turns them into a table again.
        """
        check_is_fitted(self)
        coordinates = check_array(X, dtype=(np.float64, np.float32))
        if coordinates.shape[1] != self.n_components_:
            raise DataError(
                f"inverse_transform takes {self.n_components_} coordinates per row, "
                f"not {coordinates.shape[1]}"
            )
        if self.whiten:
            coordinates = coordinates * np.sqrt(self.explained_variance_)
        return coordinates @ self.components_ + self.mean_

    def _log_density(self, rows):
        apart = (rows.toarray() if sp.issparse(rows) else rows) - self.mean_
        coordinates = apart @ self.components_.T
        d, k = len(self.mean_), self.n_components_
        floor = ROUNDING * max(self.explained_variance_[0], np.finfo(float).tiny / ROUNDING)
        variances = np.maximum(self.explained_variance_, floor)
        noise = max(self.noise_variance_, floor)
        size = np.log(variances).sum() + (d - k) * np.log(noise) + d * np.log(2 * np.pi)
        squares = (coordinates**2 / variances).sum(axis=1)
        if d > k:  # not as a difference of squares: little noise would blow up its rounding
            apart -= coordinates @ self.components_
            squares += np.einsum("ij,ij->i", apart, apart) / noise
        return -0.5 * (size + squares)

    def score_samples(self, X) -> np.ndarray:
        """Logarithm of the normal density of each row, the variance left out spread evenly.

        Probabilistic PCA (Tipping and Bishop): covariance ``sum_j (lambda_j - noise) u_j u_j' +
        noise I``. Variances below 1e-10 of the largest count as that, so that rows in a plane have
        a density too.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._each_block(self._log_density, X)

    def score(self, X, y=None) -> float:
        """Mean logarithm of the density of the rows: what cross-validation of the number compares.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        score : float
        """
        return float(self.score_samples(X).mean(dtype=np.float64))

    @validated
    def partial_fit(self, X, y=None, sample_weight=None) -> PCA:
        """Learn from more rows; after all batches the same as ``fit`` on all rows at once.

        Sums of rows and products are added up exactly, unlike an incremental singular value
        decomposition, which forgets what it left out. Takes columns of numbers only, since codes of
        categories need all rows: for other tables use ``fit`` on a `gnomon.table.scan`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch of rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : PCA
        """
        if sp.issparse(X):
            raise TypeError(
                "A sparse matrix was passed; partial_fit takes dense batches: use fit, or toarray()"
            )
        first = not hasattr(self, "scatter_")
        if first and hasattr(self, "components_"):
            self._sums_of_fit()
            first = False
        if first:
            data = intake.take_in(self, X, None, sample_weight)
        else:
            data = intake.take_more(self, X, None, sample_weight)
        encoder = getattr(self, "encoder_", None)
        if encoder is not None and not encoder.only_numbers:
            raise DataError(
                "partial_fit takes columns of numbers only: the codes of categories, dates and "
                "text would have to be known for all batches. Use fit on gnomon.table.scan(...), "
                "which streams"
            )
        self._add_batch(data, first)
        return self

    def _sums_of_fit(self) -> None:
        """The sums that ``fit`` saw, where its components tell all of the variance."""
        left_out = self.total_variance_ - self.explained_variance_.sum()
        if self.total_variance_ <= 0 or left_out > 1e-9 * self.total_variance_:
            raise DataError(
                "fit kept a part of the variance only, so that there are no sums to add to: begin "
                "with partial_fit on a new PCA, or fit with n_components=None"
            )
        divisor = self.singular_values_[0] ** 2 / self.explained_variance_[0]
        scaled = self.components_ * self.singular_values_[:, np.newaxis]
        self.scatter_ = scaled.T @ scaled
        self.weight_seen_ = float(divisor + self.ddof)
        self.n_rows_seen_ = round(self.weight_seen_)

    def _add_batch(self, data: Data, first: bool) -> None:
        rows, weights = np.asarray(data.rows, dtype=np.float64), data.weights
        mean = spectrum.column_means(rows, weights)
        centered = spectrum.centered_block(
            rows, slice(None), mean, None if weights is None else np.sqrt(weights)
        )
        weight = float(len(rows) if weights is None else weights.sum())
        scatter = centered.T @ centered
        if first:
            self.n_rows_seen_, self.weight_seen_ = 0, 0.0
            self.mean_, self.scatter_ = mean, np.zeros_like(scatter)
        gap = mean - self.mean_
        total = self.weight_seen_ + weight
        self.scatter_ += scatter
        self.scatter_ += (self.weight_seen_ * weight / total) * np.outer(gap, gap)
        self.mean_ = self.mean_ + gap * (weight / total)
        self.weight_seen_ = total
        self.n_rows_seen_ += len(rows)
        self.n_samples_ = self.n_rows_seen_
        self.solver_ = "sums"
        if self._fixed() and self.n_components > len(mean):
            raise DataError(
                f"n_components={self.n_components} must be at most {len(mean)}, the columns"
            )
        divisor = self._divisor(total, float(np.trace(self.scatter_)))
        k = min(self._most_components(self.n_rows_seen_, len(mean)), len(mean))
        with blas_for(len(mean)):
            found = spectrum.of_covariance(self.scatter_ / divisor, k)
        self._keep(self._attributes({"mean": self.mean_, "divisor": divisor, "found": found}))
        self.history_ = History([self._unexplained(found, divisor)])
        self.n_iter_ = 1

    def get_covariance(self) -> np.ndarray:
        """The covariance that the components and the noise variance stand for.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            ``sum_j (lambda_j - noise) u_j u_j' + noise I``, exact when all components are kept.
        """
        check_is_fitted(self)
        beyond = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance = (self.components_.T * beyond) @ self.components_
        covariance[np.diag_indices_from(covariance)] += self.noise_variance_
        return covariance

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            The pseudo-inverse where the covariance is singular.
        """
        return np.linalg.pinv(self.get_covariance(), hermitian=True)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        n, d = max(n_rows, 1), max(n_columns, 1)
        k = min(self._most_components(n, d), n, d)
        solver = self._choose(n, d, in_memory=True)
        ahead = 2 * resolve_jobs(self.n_jobs) + 2
        if solver == "sums":
            chunks = chunks_memory(n_rows, n_columns, self.n_jobs)
            return chunks + 8 * (ahead * d * d + 3 * d * d + k * d)
        if solver == "lanczos":
            width = min(k + spectrum.OVERSAMPLING, d)
            return 8 * d * width * (ahead + 4 * spectrum.MOST_BLOCKS)
        if solver == "gram":
            return 8 * (ahead * (n * n + 2 * n * spectrum.COLUMN_BLOCK) + 3 * k * d)
        return 8 * (3 * n * d + 2 * min(n, d) ** 2 + n * spectrum.COLUMN_BLOCK)

    def _memory_remedy(self):
        return "Ask for few components (n_components=..., solver='lanczos')."

    def _check_loaded(self):
        k, d = np.shape(self.components_) if hasattr(self, "components_") else (0, 0)
        if hasattr(self, "components_") and (
            np.shape(self.mean_) != (d,) or np.shape(self.explained_variance_) != (k,)
        ):
            raise DataError("components_, mean_ and explained_variance_ do not fit together")


def long_chunks(source: Source) -> Source:
    """The same rows in chunks of at least about as many rows as columns.

    The sums of a chunk are d x d: to add them must cost little beside computing them. Borders are
    the same for rows in memory and for streams.
    """
    size = rows_per_chunk(source.n_columns)
    several = 4 if source.n_rows >= MANY_CHUNKS * size else 1
    wanted = min(4 * source.n_columns, LONG_CELLS // source.n_columns, source.n_rows // 8)
    several = max(several, min(source.n_columns // size, 8), wanted // size)
    if several == 1:
        return source
    if isinstance(source, ArraySource):
        return replace(source, size=several * size)
    return JoinedChunks(source, several)


@dataclass
class JoinedChunks:
    """A source whose chunks are several chunks of another."""

    source: Source
    several: int

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def weighted(self) -> bool:
        return self.source.weighted

    def chunks(self) -> Iterator[Chunk]:
        number, waiting = 0, []
        for chunk in self.source.chunks():
            waiting.append(chunk)
            if len(waiting) == self.several:
                yield joined(waiting, number)
                number, waiting = number + 1, []
        if waiting:
            yield joined(waiting, number)


def joined(chunks: list[Chunk], number: int) -> Chunk:
    """Consecutive chunks as one."""
    return Chunk(
        number,
        chunks[0].start,
        chunks[-1].stop,
        np.concatenate([chunk.rows for chunk in chunks]),
        None,
        np.concatenate([chunk.weights for chunk in chunks]),
        chunks[0].weighted,
    )
