"""Random projections: fewer columns that keep all squared distances within 1 +- epsilon.

z = A x / sqrt(k) with A of independent entries of mean 0 and variance 1. For a unit vector |A x|^2
follows a chi-square law of k degrees, so that k grows with log n / epsilon^2 and not with the
number of columns (Johnson and Lindenstrauss).

Texts: 001 16.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from gnomon.contract import Data, Transformer
from gnomon.contract.numbers import plain_numbers
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import SEED, StrOptions, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Optional, Whole
from gnomon.evaluate.high_dimension import johnson_lindenstrauss_dimension


@method(
    task="reduce",
    texts="001 16",
    use="To make very many columns fewer without looking at them, distances kept.",
    avoid="Few columns, or columns to be read: the new ones mean nothing.",
    peers=(
        "sklearn.random_projection.GaussianRandomProjection",
        "sklearn.random_projection.SparseRandomProjection",
    ),
)
class RandomProjection(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Columns replaced by random combinations that keep squared distances within 1 +- epsilon.

    ``z = A x / sqrt(k)``, A with independent entries of mean 0 and variance 1. All squared
    distances of n rows are kept within 1 +- epsilon with probability 1 - delta where
    ``k >= (16/3) epsilon^-2 log(n (n - 1) / (2 delta))``, whatever the rows are. Use it before
    methods whose cost grows with the columns; not where k would exceed the columns there are.

    Texts: 001 16 (its formula (148) lost a <=). The constant comes from the chi-square tail; with
    "auto" the law itself gives a smaller k.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k; "auto": from the number of rows, `epsilon` and `delta`, and no more than the columns
        there are (where k would be more, a random rotation of the columns is made).
    epsilon : float, default=0.25
        Largest relative change of a squared distance, for "auto".
    delta : float, default=0.05
        Probability that some pair changes more, for "auto".
    kind : {"gaussian", "sparse", "structured"}, default="gaussian"
        Normal entries; or +-sqrt(s) with probability 1 / (2 s) each, else zero, with s the
        root of the number of columns: faster for very many columns; or random signs, a cosine
        transform and k of its coordinates drawn without replacement: d log d operations for a row
        and no matrix, for dense rows of very many columns.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        A / sqrt(k); orthonormal where k is the number of columns. Not of "structured".
    signs_ : ndarray of shape (n_features,)
        Only of "structured": what columns are multiplied by.
    drawn_ : ndarray of shape (n_components_,)
        Only of "structured": the coordinates of the transform that are kept.
    n_components_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import RandomProjection
    >>> rows = np.eye(1000)[:10]
    >>> RandomProjection(50, random_state=0).fit_transform(rows).shape
    (10, 50)
    """

    natively = Takes(sparse=True)
    _parameter_constraints = {
        "n_components": [whole(1), StrOptions({"auto"})],
        "epsilon": [between(0, 0.5, closed="right")],
        "delta": [between(0, 1, closed="neither")],
        "kind": [StrOptions({"gaussian", "sparse", "structured"})],
        "random_state": SEED,
    }
    _stored = {
        "components_": Optional(Array("f8", ("n_components_", "n_columns"), sparse=True)),
        "drawn_": Optional(Array("i8", ("n_components_",), low=0, below="n_columns")),
        "n_components_": Whole(),
        "signs_": Optional(Array("f8", ("n_columns",))),
    }

    def __init__(
        self,
        n_components="auto",
        *,
        epsilon=0.25,
        delta=0.05,
        kind="gaussian",
        random_state=None,
    ):
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.kind = kind
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        d, k = data.n_columns, self._wanted(data)
        rng = self._rng()
        for name in ("components_", "signs_", "drawn_"):
            self.__dict__.pop(name, None)
        if self.kind == "structured":
            if k > d:
                raise DataError(
                    f"kind='structured' draws n_components={k} of {d} coordinates; ask for at most "
                    "so many, or for another kind"
                )
            self.signs_ = rng.choice([-1.0, 1.0], size=d)
            self.drawn_ = np.sort(rng.choice(d, k, replace=False))
        elif self.n_components == "auto" and k == d:
            self.components_ = np.linalg.qr(rng.standard_normal((d, d)))[0]
        elif self.kind == "gaussian":
            self.components_ = rng.standard_normal((k, d)) / np.sqrt(k)
        else:
            share = 1 / np.sqrt(d)
            signs = rng.choice([-1.0, 1.0], size=(k, d))
            self.components_ = signs * (rng.random((k, d)) < share) / np.sqrt(share * k)
        self.n_components_ = k

    def _wanted(self, data: Data) -> int:
        if self.n_components != "auto":
            return self.n_components
        rows = data.n_rows if data.weights is None else round(float(data.weights.sum()))
        needed = johnson_lindenstrauss_dimension(max(rows, 2), self.epsilon, self.delta, exact=True)
        return min(needed, data.n_columns)

    def _map(self, rows):
        if hasattr(self, "signs_"):
            dense = rows.toarray() if sp.issparse(rows) else rows
            waves = scipy.fft.dct(dense * self.signs_, axis=1, norm="ortho", overwrite_x=True)
            return waves[:, self.drawn_] * np.sqrt(len(self.signs_) / len(self.drawn_))
        mapped = rows @ self.components_.T
        return np.asarray(mapped.toarray() if sp.issparse(mapped) else mapped)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        k = n_columns if self.n_components == "auto" else self.n_components
        return 8 * (3 * k * n_columns + n_rows)

    def _memory_remedy(self):
        return "Ask for fewer n_components, or a larger epsilon."


@dataclass(repr=False)
class Distortion(Result):
    """How a map changed squared distances.

    Attributes
    ----------
    ratios : ndarray
        Squared distance after over before, in rising order, of the pairs looked at.
    epsilon : float
    outside : float
        Share of pairs beyond 1 +- epsilon.
    """

    ratios: np.ndarray
    epsilon: float
    outside: float

    def _title(self) -> str:
        return (
            f"{len(self.ratios):,} pairs: {self.outside:.2%} of squared distances changed by more "
            f"than {self.epsilon:g}"
        )

    def _columns(self) -> dict[str, list]:
        shares = (0.0, 0.05, 0.5, 0.95, 1.0)
        return {
            "quantile": list(shares),
            "after / before": [float(q) for q in np.quantile(self.ratios, shares)],
        }


def distortion(
    X: Any, mapped: Any, epsilon: float = 0.25, *, most_rows: int = 1000, random_state: Any = None
) -> Distortion:
    """How far a map changes squared distances between rows (001 16).

    Parameters
    ----------
    X, mapped : array-like of shape (n, d) and (n, k)
    epsilon : float, default=0.25
    most_rows : int, default=1000
        Pairs of at most so many rows, drawn at random, are looked at; the title says how many.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    distortion : Distortion

    Examples
    --------
    >>> distortion([[0.0, 0.0], [1.0, 0.0]], [[0.0], [1.1]], 0.25).outside
    0.0
    """
    before, after = (
        check_array(plain_numbers(each, name), dtype=np.float64, accept_sparse="csr")
        for each, name in ((X, "X"), (mapped, "mapped"))
    )
    if before.shape[0] != after.shape[0]:
        raise DataError("the map must have one row for each row")
    n = before.shape[0]
    rows = np.arange(n)
    if n > most_rows:
        rows = check_random_state(random_state).choice(n, most_rows, replace=False)
    before, after = (each[rows] for each in (before, after))
    one = pdist(before.toarray() if sp.issparse(before) else before, "sqeuclidean")
    other = pdist(after.toarray() if sp.issparse(after) else after, "sqeuclidean")
    ratios = np.sort(other[one > 0] / one[one > 0])
    outside = float((np.abs(ratios - 1) > epsilon).mean()) if len(ratios) else 0.0
    return Distortion(ratios, epsilon, outside)


@dataclass(repr=False)
class ProjectedLearning(Result):
    """A learner on all columns against the same on projected ones.

    Attributes
    ----------
    n_columns, n_components : int
    scores : tuple of float
        On the test rows, all columns and projected.
    seconds : tuple of float
        To project and fit.
    distortion : Distortion
        Of the training rows.
    """

    n_columns: int
    n_components: int
    scores: tuple[float, float]
    seconds: tuple[float, float]
    distortion: Distortion

    def _title(self) -> str:
        return f"{self.n_columns} columns against {self.n_components} random combinations"

    def _columns(self) -> dict[str, list]:
        return {
            "columns": [self.n_columns, self.n_components],
            "score on test rows": list(self.scores),
            "seconds": list(self.seconds),
        }

    def _remarks(self) -> list[str]:
        return [self.distortion._title()]


def projected_learning(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    projection: RandomProjection | None = None,
) -> ProjectedLearning:
    """k-means, regression or nearest neighbours after a random projection, against all columns.

    Parameters
    ----------
    estimator : estimator
        Cloned twice; its ``score`` is reported.
    X, y, X_test, y_test : array-like
        y may be None for learners without target.
    projection : RandomProjection or None, default=None
        None for the default.

    Returns
    -------
    report : ProjectedLearning

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 400)) + y[:, None]
    >>> projection = RandomProjection(60, random_state=0)
    >>> report = projected_learning(
    ...     KNeighborsClassifier(), X[:40], y[:40], X[40:], y[40:], projection=projection
    ... )
    >>> report.n_components
    60
    """
    begin = time.perf_counter()
    whole = clone(estimator).fit(X, y)
    all_columns = time.perf_counter() - begin
    begin = time.perf_counter()
    made = clone(projection if projection is not None else RandomProjection()).fit(X)
    mapped = made.transform(X)
    fewer = clone(estimator).fit(mapped, y)
    projected = time.perf_counter() - begin
    return ProjectedLearning(
        made.n_features_in_,
        made.n_components_,
        (float(whole.score(X_test, y_test)), float(fewer.score(made.transform(X_test), y_test))),
        (all_columns, projected),
        distortion(X, mapped, made.epsilon, random_state=0),
    )
