"""Canonical correlations: pairs of directions in two sets of columns that correlate most.

With centred X = Q_x R_x and Y = Q_y R_y, the singular values of Q_x' Q_y are the canonical
correlations rho_1 >= rho_2 ..., and u_j = R_x^-1 a_j, v_j = R_y^-1 b_j the directions: the same as
the eigenvectors of S_xx^-1 S_xy S_yy^-1 S_yx with eigenvalue rho^2, without squaring anything.

Texts: 000a 7.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Data, Transformer
from gnomon.contract.numbers import number_rows
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.threads import blas_for, in_order
from gnomon.reduce.spectrum import warn_fewer, with_signs

ROUNDING = 1e-10  # share of the largest below which a deviation or a singular value is rounding
# what a correlation of one leaves of 1 - rho^2, and how near logs of lambda are equal
NEARLY_ONE, TIE = 1e-8, 1e-6


class Whitened(NamedTuple):
    """Columns made uncorrelated: ``(rows - mean) @ map`` are the columns of `basis`.

    Attributes
    ----------
    basis : ndarray of shape (n, rank)
        Orthonormal columns (times less than one where regularised), rows times roots of weights.
    map : ndarray of shape (d, rank)
    mean : ndarray of shape (d,)
    """

    basis: np.ndarray
    map: np.ndarray
    mean: np.ndarray


def whitened(rows: np.ndarray, weights: np.ndarray | None, regularization: float) -> Whitened:
    """Centred columns as orthonormal ones, directions without variance left out."""
    mean = np.average(rows, axis=0, weights=weights)
    centered = rows - mean
    if weights is not None:
        centered *= np.sqrt(weights)[:, np.newaxis]
    scale = np.linalg.norm(centered, axis=0)
    scale[scale <= ROUNDING * np.abs(mean) * np.sqrt(len(rows))] = np.inf
    basis, triangle = scipy.linalg.qr(
        centered / scale, mode="economic", overwrite_a=True, check_finite=False
    )
    left, values, right = np.linalg.svd(triangle)
    rank = int((values > ROUNDING * max(values[0], ROUNDING)).sum()) if len(values) else 0
    left, values, right = left[:, :rank], values[:rank], right[:rank]
    if regularization == 0:
        return Whitened(basis @ left, (right.T / values) / scale[:, np.newaxis], mean)
    # in the columns' own units: S + regularisation * mean variance * I
    finite = np.where(np.isinf(scale), 0.0, scale)
    _, values, right = np.linalg.svd(triangle * finite, full_matrices=False)
    values, right = values[:rank], right[:rank]
    shrunk = np.sqrt(values**2 + regularization * (finite**2).mean())
    transform = right.T / shrunk
    return Whitened(centered_product(rows, mean, weights, transform), transform, mean)


def centered_product(rows, mean, weights, transform) -> np.ndarray:
    product = (rows - mean) @ transform
    return product if weights is None else product * np.sqrt(weights)[:, np.newaxis]


@method(
    task="reduce",
    texts="000a 7",
    use="What two sets of columns of the same rows have in common, as pairs of directions.",
    avoid="Few rows for the number of columns: correlations are then large by chance (test them).",
    peers=("sklearn.cross_decomposition.CCA", "statsmodels CanCorr", "R cancor"),
)
class CanonicalCorrelation(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Pairs of directions u, v for which u'x and v'y correlate most.

    Maximises ``u' S_xy v`` under ``u' S_xx u = v' S_yy v = 1``, each further pair uncorrelated with
    the earlier ones. Use it to see what two descriptions of the same things share, or to find one
    from the other (`retrieve`). Correlations are large by chance where rows are few for the number
    of columns, and where a direction has a tiny variance: see `cca_permutation_test` and
    `direction_diagnostics`, or regularise.

    Texts: 000a 7.1. Solved by QR and a singular value decomposition instead of the text's
    eigenproblem, which squares the condition. The text needs invertible covariances; here
    directions without variance are left out, with a warning. Directions are scaled so that
    canonical variables have variance one (divisor n).

    Parameters
    ----------
    n_components : int or None, default=None
        Pairs, at most; None for as many as the smaller rank.
    regularization : float, default=0.0
        Added to the diagonal of both covariances, as a share of their mean variance.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components_,)
        Canonical correlations in falling order (of the shrunken variables where regularised).
    x_directions_ : ndarray of shape (n_features, n_components_)
        Columns u_j, each with its largest entry positive.
    y_directions_ : ndarray of shape (n_targets, n_components_)
        Columns v_j.
    x_mean_, y_mean_ : ndarray
    x_rank_, y_rank_ : int
        Directions with variance on both sides.
    n_components_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import CanonicalCorrelation
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 4.0]])
    >>> CanonicalCorrelation().fit(X, X[:, :1] * 5 - 1).correlations_.round(6)
    array([1.])
    """

    _target = "numbers"
    _many_targets = True
    _parameter_constraints = {
        "n_components": [None, whole(1)],
        "regularization": [at_least(0)],
    }
    _stored = {
        "correlations_": Array("f8", ("n_components_",)),
        "n_components_": Whole(),
        "x_directions_": Array("f8", ("n_columns", "n_components_")),
        "x_mean_": Array("f8", ("n_columns",)),
        "x_rank_": Whole(),
        "y_directions_": Array("f8", ("n_components_", "n_components_")),
        "y_mean_": Array("f8", ("n_components_",)),
        "y_rank_": Whole(),
    }

    def __init__(self, n_components=None, *, regularization=0.0):
        self.n_components = n_components
        self.regularization = regularization

    def _fit(self, data: Data) -> None:
        with blas_for(data.n_columns):
            self._correlate(data)

    def _correlate(self, data: Data) -> None:
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        target = np.asarray(data.y, dtype=np.float64).reshape(len(rows), -1)
        weights = data.weights
        x = whitened(rows, weights, self.regularization)
        y = whitened(target, weights, self.regularization)
        self.x_rank_, self.y_rank_ = x.basis.shape[1], y.basis.shape[1]
        for side, rank, d in (
            ("X", self.x_rank_, rows.shape[1]),
            ("Y", self.y_rank_, target.shape[1]),
        ):
            if rank < d:
                warnings.warn(
                    f"{d - rank} of {d} directions of {side} have no variance of their own "
                    "(constant columns, columns that follow from others, or too few rows) and "
                    "were left out",
                    GnomonWarning,
                    stacklevel=2,
                )
        total = len(rows) if weights is None else float(weights.sum())
        left, values, right = np.linalg.svd(x.basis.T @ y.basis, full_matrices=False)
        k = len(values) if self.n_components is None else min(self.n_components, len(values))
        warn_fewer(
            self.n_components,
            max(k, 1),
            f"X varies in {self.x_rank_} directions and Y in {self.y_rank_}",
        )
        if k == 0:
            self._no_direction(rows.shape[1], target.shape[1], x.mean, y.mean)
            return
        u = x.map @ left[:, :k]
        signs = np.where((with_signs(u.T) == u.T).all(axis=1), 1.0, -1.0)
        self.correlations_ = np.clip(values[:k], 0.0, 1.0)
        self.x_directions_ = u * signs * np.sqrt(total)
        self.y_directions_ = (y.map @ right[:k].T) * signs * np.sqrt(total)
        self.x_mean_, self.y_mean_ = x.mean, y.mean
        self.n_components_ = k

    def _no_direction(self, d: int, m: int, x_mean, y_mean) -> None:
        """One pair of zero directions, where one side does not vary at all."""
        self.correlations_ = np.zeros(1)
        self.x_directions_, self.y_directions_ = np.zeros((d, 1)), np.zeros((m, 1))
        self.x_mean_, self.y_mean_ = x_mean, y_mean
        self.n_components_ = 1

    def _map(self, rows):
        return (rows - self.x_mean_) @ self.x_directions_

    def transform_y(self, Y) -> np.ndarray:
        """Canonical variables v'y of the second set of columns.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_targets)

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        target = check_array(Y, dtype=np.float64, ensure_2d=False)
        target = target.reshape(len(target), -1)
        if target.shape[1] != len(self.y_mean_):
            raise DataError(f"Y has {target.shape[1]} columns; fit saw {len(self.y_mean_)}")
        return (target - self.y_mean_) @ self.y_directions_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        return 8 * (6 * n_rows * n_columns + 6 * n_columns**2)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _check_loaded(self):
        if hasattr(self, "x_directions_") and (
            self.x_directions_.shape != (len(self.x_mean_), self.n_components_)
            or self.y_directions_.shape != (len(self.y_mean_), self.n_components_)
        ):
            raise DataError("the directions and means do not fit together")


def wilks_lambda(correlations: Any, r: int | None = None, which: str = "first") -> float:
    """Wilks' lambda: the product of ``1 - rho^2``; small where correlation is strong.

    Parameters
    ----------
    correlations : array-like
        Canonical correlations in falling order.
    r : int or None, default=None
        How many; None for all.
    which : {"first", "remaining"}, default="first"
        "first": of the first r (000a 7.3.1). "remaining": of those after the first r, as packages
        print it to test whether any is left.

    Returns
    -------
    wilks : float

    Examples
    --------
    >>> round(wilks_lambda([0.8, 0.6], 1), 6)
    0.36
    >>> round(wilks_lambda([0.8, 0.6], 1, which="remaining"), 6)
    0.64
    """
    rho = np.asarray(correlations, dtype=np.float64)
    r = len(rho) if r is None else int(r)
    if which not in ("first", "remaining") or not 0 <= r <= len(rho):
        raise DataError(
            f"r={r} must lie between 0 and {len(rho)}, and which={which!r} be 'first' or "
            "'remaining'"
        )
    chosen = rho[:r] if which == "first" else rho[r:]
    return float(np.prod(1 - chosen**2))


@dataclass(repr=False)
class CanonicalTest(Result):
    """Canonical correlations against those of shuffled rows.

    Attributes
    ----------
    correlations : ndarray of shape (k,)
    wilks : ndarray of shape (k,)
        Lambda of the first r, for r = 1 ... k.
    shuffled : ndarray of shape (n_permutations, k)
        The same of each shuffle.
    fractions : ndarray of shape (k,)
        Share of shuffles whose lambda is smaller: f(r) of the text. It is small for every r once
        the first correlation is real.
    p_values : ndarray of shape (k,)
        Whether the r-th correlation and those after it are more than chance, given the earlier
        ones. The observed pairing is counted among the shuffles, so none is zero; none is less
        than the one before it.
    confidence_level : float
    """

    correlations: np.ndarray
    wilks: np.ndarray
    shuffled: np.ndarray
    fractions: np.ndarray
    p_values: np.ndarray
    confidence_level: float

    @property
    def kept(self) -> int:
        """How many first correlations are not accidental at the level."""
        accidental = np.flatnonzero(self.p_values > self.confidence_level)
        return int(accidental[0]) if len(accidental) else len(self.p_values)

    def _title(self) -> str:
        return f"Canonical correlations against {len(self.shuffled)} shuffles: keep {self.kept}"

    def _columns(self) -> dict[str, list]:
        return {
            "r": list(range(1, len(self.wilks) + 1)),
            "correlation": list(self.correlations),
            "Wilks' lambda": list(self.wilks),
            "f(r)": list(self.fractions),
            "p": list(self.p_values),
        }


def cca_permutation_test(
    X: Any,
    Y: Any,
    *,
    n_permutations: int = 199,
    regularization: float = 0.0,
    alpha: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CanonicalTest:
    """Whether canonical correlations are more than chance, for every number r of them.

    The rows of Y are shuffled; f(r) is the share of shuffles whose Wilks' lambda of the first r
    is smaller than the observed one (000a 7.3.1). That lambda stays small for every r once the
    first correlation is real, so f(r) cannot say how many are. The p of r asks what is left after
    the first r - 1 pairs of canonical variables are taken away on both sides: Wilks' lambda of the
    correlations from the r-th on, against that of shuffles of the same rest (Winkler and others
    2020). Each side is made orthonormal once, so that a shuffle costs one product and two small
    decompositions. Small correlations of many rows may be real, and large ones of few rows are
    often not: two independent tables of 400 x 121 normal numbers have a first correlation of about
    0.91.

    Parameters
    ----------
    X, Y : array-like of shape (n, d_x) and (n, d_y)
    n_permutations : int, default=199
    regularization : float, default=0.0
        As in `CanonicalCorrelation`.
    alpha : float, default=0.05
        For ``kept``.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    test : CanonicalTest

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = np.column_stack([X[:, 0] + 0.1 * rng.normal(size=60), rng.normal(size=60)])
    >>> test = cca_permutation_test(X, Y, random_state=0)
    >>> float(test.fractions[0]), test.kept
    (0.0, 1)
    """
    rows, target = number_rows(X), number_rows(Y, "Y")
    if len(rows) != len(target):
        raise DataError(f"X has {len(rows)} rows and Y {len(target)}; they must be paired")
    x, y = (whitened(each, None, regularization).basis for each in (rows, target))
    if x.shape[1] == 0 or y.shape[1] == 0:
        raise DataError("one side does not vary at all: there is nothing to correlate")
    rng = check_random_state(random_state)
    orders = [np.arange(len(x)), *(rng.permutation(len(x)) for _ in range(n_permutations))]
    left, _, right = np.linalg.svd(x.T @ y)
    x, y = x @ left, y @ right.T  # canonical variables: dropping the first r leaves the rest

    def judged(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        product = np.dot(x.T, y[order])
        rho = np.clip(np.linalg.svd(product, compute_uv=False), 0.0, 1.0)
        return rho, _log_remaining(product)

    found, remaining = map(np.array, zip(*in_order(judged, orders, n_jobs)))
    logs = np.cumsum(np.log(np.maximum(1 - found**2, 1e-300)), axis=1)
    smaller = (logs[1:] < logs[0]).sum(axis=0)
    not_larger = (remaining[1:] <= remaining[0] + TIE).sum(axis=0)
    return CanonicalTest(
        found[0],
        np.exp(logs[0]),
        np.exp(logs[1:]),
        smaller / n_permutations,
        np.maximum.accumulate((not_larger + 1) / (n_permutations + 1)),
        alpha,
    )


def _log_remaining(product: np.ndarray) -> np.ndarray:
    """log of Wilks' lambda without the first 0, 1, 2 ... variables of both sides.

    It is the log determinant of [[I, M], [M', I]] for the rest M of the product. With the last
    variables first these are leading minors, so that one Cholesky factor holds all of them.
    """
    p, q = product.shape
    k = min(p, q)
    both = np.block([[np.eye(p), product], [product.T, np.eye(q)]])
    both[np.diag_indices(p + q)] += NEARLY_ONE
    pairs = np.column_stack([np.arange(k), p + np.arange(k)])[::-1].ravel()
    order = np.concatenate([np.arange(k, p), p + np.arange(k, q), pairs])
    factor = np.linalg.cholesky(both[np.ix_(order, order)])
    minors = 2 * np.cumsum(np.log(np.diag(factor)))
    return minors[::-2][:k]


@dataclass(repr=False)
class DirectionDiagnostics(Result):
    """Lengths of canonical directions, and the variance that they rest on.

    Attributes
    ----------
    correlations, x_norms, y_norms : ndarray of shape (k,)
        Lengths |u| and |v| of directions with ``u' S u = 1``.
    x_variances, y_variances : ndarray of shape (k,)
        Variance per unit of length, ``1 / |u|^2``, as a share of the largest variance.
    suspicious : ndarray of bool of shape (k,)
        A share below `threshold` on either side.
    threshold : float
    """

    correlations: np.ndarray
    x_norms: np.ndarray
    y_norms: np.ndarray
    x_variances: np.ndarray
    y_variances: np.ndarray
    suspicious: np.ndarray
    threshold: float

    def _title(self) -> str:
        return f"Canonical directions: {int(self.suspicious.sum())} rest on a tiny variance"

    def _columns(self) -> dict[str, list]:
        return {
            "pair": list(range(1, len(self.correlations) + 1)),
            "correlation": list(self.correlations),
            "|u|": list(self.x_norms),
            "|v|": list(self.y_norms),
            "variance along u": list(self.x_variances),
            "variance along v": list(self.y_variances),
            "suspicious": list(self.suspicious),
        }


def direction_diagnostics(
    cca: CanonicalCorrelation, X: Any, Y: Any, threshold: float = 1e-3
) -> DirectionDiagnostics:
    """Whether canonical directions rest on variance or on next to none (000a 7.3).

    A direction of tiny variance must be long to have variance one; it looks like nothing real. What
    is given is the variance along the unit vector as a share of the largest of any direction.

    Parameters
    ----------
    cca : CanonicalCorrelation
        Fitted.
    X, Y : array-like
        The rows it was fitted on.
    threshold : float, default=1e-3
        Shares below are called suspicious.

    Returns
    -------
    diagnostics : DirectionDiagnostics

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.01], [1.0, -0.01], [2.0, 0.01], [3.0, -0.01]])
    >>> found = direction_diagnostics(CanonicalCorrelation().fit(X, X[:, 1]), X, X[:, [1]])
    >>> found.suspicious.tolist()
    [True]
    """
    check_is_fitted(cca)
    shares, norms = [], []
    for rows, directions in ((X, cca.x_directions_), (Y, cca.y_directions_)):
        rows = check_array(rows, dtype=np.float64)
        largest = np.linalg.norm(rows - rows.mean(axis=0), 2) ** 2 / len(rows)
        length = np.linalg.norm(directions, axis=0)
        along = ((rows - rows.mean(axis=0)) @ directions).var(axis=0)
        norms.append(length)
        shares.append(along / np.maximum(length**2, 1e-300) / max(largest, 1e-300))
    weak = (shares[0] < threshold) | (shares[1] < threshold)
    return DirectionDiagnostics(
        cca.correlations_, norms[0], norms[1], shares[0], shares[1], weak, threshold
    )


@dataclass(repr=False)
class Retrieval(Result):
    """For each query the nearest items of the other kind, in canonical coordinates.

    Attributes
    ----------
    indices : ndarray of int of shape (n_queries, n)
        Items of the library, nearest first.
    distances : ndarray of shape (n_queries, n)
    """

    indices: np.ndarray
    distances: np.ndarray

    def _title(self) -> str:
        return f"Nearest items of the other kind for {len(self.indices)} queries"

    def _columns(self) -> dict[str, list]:
        return {
            "query": list(range(len(self.indices))),
            "nearest": self.indices[:, 0].tolist(),
            "distance": self.distances[:, 0].tolist(),
        }


def retrieve(
    cca: CanonicalCorrelation, queries: Any, library: Any, n: int = 1, *, by: str = "x"
) -> Retrieval:
    """Find items of one kind from items of the other: pictures from captions, or the reverse.

    Both are mapped to canonical variables; for each query the nearest library items are given
    (000a 7.2). Keep few pairs, of high and tested correlation (``n_components``).

    Parameters
    ----------
    cca : CanonicalCorrelation
        Fitted on pairs of both kinds.
    queries : array-like
        Rows of X where ``by="x"``, else rows of Y.
    library : array-like
        Rows of the other kind.
    n : int, default=1
        Items for each query.
    by : {"x", "y"}, default="x"
        What the queries are.

    Returns
    -------
    retrieval : Retrieval

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> retrieve(CanonicalCorrelation().fit(X, -2 * X), X[:3], -2 * X).indices.ravel().tolist()
    [0, 1, 2]
    """
    if by not in ("x", "y"):
        raise DataError(f"by={by!r} must be 'x' or 'y'")
    one = cca.transform(queries) if by == "x" else cca.transform_y(queries)
    other = cca.transform_y(library) if by == "x" else cca.transform(library)
    if not 1 <= n <= len(other):
        raise DataError(f"n={n} items were requested of a library of {len(other)}")
    squares = (other**2).sum(axis=1)
    indices = np.empty((len(one), n), dtype=np.int64)
    distances = np.empty((len(one), n))
    size = max(2**20 // len(other), 1)
    for start in range(0, len(one), size):
        block = one[start : start + size]
        table = squares - 2 * block @ other.T
        best = np.argsort(table, axis=1, kind="stable")[:, :n]
        indices[start : start + size] = best
        gaps = block[:, np.newaxis] - other[best]
        distances[start : start + size] = np.linalg.norm(gaps, axis=2)
    return Retrieval(indices, distances)


@dataclass(repr=False)
class RetrievalScores(Result):
    """How good retrieved word vectors are.

    Attributes
    ----------
    cosines : ndarray of shape (n_queries,)
        Cosine of retrieved and true vector, both smoothed, in rising order.
    columns : ndarray of int
        The commonest words.
    false_positive_rates, false_negative_rates, error_rates : ndarray
        Of each of these words.
    """

    cosines: np.ndarray
    columns: np.ndarray
    false_positive_rates: np.ndarray
    false_negative_rates: np.ndarray
    error_rates: np.ndarray

    def _title(self) -> str:
        return f"Retrieved words: mean cosine {self.cosines.mean():.3f}"

    def _columns(self) -> dict[str, list]:
        return {
            "word": self.columns.tolist(),
            "false positives": list(self.false_positive_rates),
            "false negatives": list(self.false_negative_rates),
            "error": list(self.error_rates),
        }


def score_retrieval(
    true: Any, y_pred: Any, *, n_words: int = 30, smooth: int | None = 150
) -> RetrievalScores:
    """Compare retrieved captions (0/1 word vectors) with the true ones (000a 7.2, ex. 7.1).

    Parameters
    ----------
    true, y_pred : array-like of shape (n, n_words)
        One where a word is there.
    n_words : int, default=30
        For how many of the commonest words to give rates.
    smooth : int or None, default=150
        Both are projected on so many leading directions of the true vectors before the cosine, at
        most as many as there are; None: not at all.

    Returns
    -------
    scores : RetrievalScores

    Examples
    --------
    >>> score_retrieval([[1, 0], [0, 1]], [[1, 0], [0, 1]]).cosines.tolist()
    [1.0, 1.0]
    """
    true, y_pred = (check_array(each, dtype=np.float64) for each in (true, y_pred))
    if true.shape != y_pred.shape:
        raise DataError(f"true has shape {true.shape}, predicted {y_pred.shape}")
    one, other = true, y_pred
    if smooth is not None and smooth < min(true.shape):
        right = np.linalg.svd(true, full_matrices=False)[2][:smooth].T
        one, other = true @ right, y_pred @ right
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = (one * other).sum(axis=1)
    cosines = np.divide(products, lengths, out=np.zeros(len(one)), where=lengths > 0)
    words = np.argsort(-true.sum(axis=0), kind="stable")[:n_words]
    there, said = true[:, words] > 0, y_pred[:, words] > 0
    absent, present = (~there).sum(axis=0), there.sum(axis=0)
    false_positive = (said & ~there).sum(axis=0) / np.maximum(absent, 1)
    false_negative = (~said & there).sum(axis=0) / np.maximum(present, 1)
    return RetrievalScores(
        np.sort(cosines), words, false_positive, false_negative, (said != there).mean(axis=0)
    )
