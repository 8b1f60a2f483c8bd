"""Covariances of few rows and of rows with outliers, as normal densities.

    log p(x) = -(d log 2 pi + log |S| + (x - m)' S^-1 (x - m)) / 2

The covariance of n rows in d columns is far off where n is not many times d. `LedoitWolf` and `OAS`
shrink it towards a multiple of the identity, by an amount that is computed; `MinCovDet` is that of
the rows that lie closest together. scikit-learn's own classes, which take any table here and give
the density of rows.

Texts: 000a 4.2 · 001 2.3 (normal distributions and their covariances).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg
from sklearn import covariance
from sklearn.utils.validation import validate_data

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.contract.peer_sums import PeerSums
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import ArraySource, Chunk, Source, add_up

TEXTS = "000a 4.2 · 001 2.3"


class NormalCovariance(OverScikitLearn):
    """What the estimators of a covariance share: the normal density that it stands for."""

    location_: np.ndarray
    covariance_: np.ndarray
    mahalanobis: Callable[[Any], np.ndarray]
    _stored = {
        "location_": Array("f", ("n_columns",)),
        "covariance_": Array("f", ("n_columns", "n_columns")),
        "precision_": Array("f", ("n_columns", "n_columns")) | None,
    }

    def score_samples(self, X: Any) -> np.ndarray:
        """Logarithm of the normal density of each row.

        Where columns depend on each other, it is the density within the space that they span, as
        of SciPy's ``multivariate_normal`` with ``allow_singular=True``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        distances = self.mahalanobis(X)
        spread = linalg.eigvalsh(self.covariance_)
        spread = spread[spread > len(spread) * np.finfo(spread.dtype).eps * spread[-1]]
        volume = len(spread) * np.log(2 * np.pi) + np.log(spread).sum()
        return -(volume + distances) / 2

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (5 * n_rows * n_columns + 10 * n_columns**2)


class ShrunkCovariance(PeerSums, NormalCovariance):
    """A covariance whose shrinkage follows from sums over rows."""

    assume_centered: bool
    _set_covariance: Callable[[np.ndarray], None]

    def _shrinkage(self, plain: np.ndarray, fourth: float, n: int) -> float:
        """The amount of shrinkage.

        Parameters
        ----------
        plain : ndarray of shape (n_columns, n_columns)
            The covariance that is not shrunk.
        fourth : float
            Mean of the squared squared length of centered rows.
        n : int
            Rows.
        """
        raise NotImplementedError

    def _fit_sums(self, source: Source) -> None:
        n, d = source.n_rows, source.n_columns
        location = np.zeros(d)
        if not self.assume_centered:
            (total,) = add_up(_totals, source)
            location = total / n
        rest, products, fourth = add_up(partial(_centered_sums, location), source)
        if not self.assume_centered:
            products = products - np.outer(rest, rest) / n
            location = location + rest / n
        plain = products / n
        self.shrinkage_ = 0.0 if d == 1 else float(self._shrinkage(plain, fourth / n, n))
        self.location_ = location
        shrunk = (1.0 - self.shrinkage_) * plain
        shrunk.flat[:: d + 1] += self.shrinkage_ * np.trace(plain) / d
        self._set_covariance(shrunk)

    def _source_in_memory(self, rows: np.ndarray, given: dict[str, Any]) -> Source:
        return ArraySource(validate_data(self, rows, dtype=np.float64))


def _totals(chunk: Chunk) -> tuple[np.ndarray]:
    return (chunk.rows.sum(axis=0),)


def _centered_sums(location: np.ndarray, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, float]:
    apart = chunk.rows - location
    lengths = np.einsum("ij,ij->i", apart, apart)
    return apart.sum(axis=0), inner(apart, apart), float(lengths @ lengths)


@method(
    task="density",
    texts=TEXTS,
    use="A covariance of few rows in many columns; distances and densities by it.",
    avoid="Outliers (MinCovDet); groups (GaussianMixture).",
    peers=("sklearn.covariance.LedoitWolf",),
    on="scikit-learn",
    synonyms=("covariance", "shrinkage", "Mahalanobis distance"),
)
class LedoitWolf(ShrunkCovariance, covariance.LedoitWolf):
    """A covariance that is shrunk towards a multiple of the identity, by an amount computed.

    The amount makes the expected squared error least for many rows and columns. Use it for few
    rows in many columns, where the plain covariance is far off or has no inverse; not for rows
    with outliers, for which `MinCovDet` is made, nor for groups.

    Examples
    --------
    >>> from gnomon.density import LedoitWolf
    >>> model = LedoitWolf().fit([[0.0, 0.0], [1.0, 1.2], [2.0, 1.8], [3.0, 3.0]])
    >>> round(float(model.shrinkage_), 2)
    0.38
    """

    _stored = {"shrinkage_": Number(0.0, 1.0)}

    def _shrinkage(self, plain: np.ndarray, fourth: float, n: int) -> float:
        d, mean = len(plain), np.trace(plain) / len(plain)
        squares = (plain**2).sum()
        beta = (fourth - squares) / (d * n)
        delta = (squares - 2.0 * mean * np.trace(plain) + d * mean**2) / d
        beta = min(beta, delta)
        return beta / delta if beta else 0.0


@method(
    task="density",
    texts=TEXTS,
    use="A covariance of few rows that are about normal.",
    avoid="Rows far from normal (LedoitWolf), or outliers (MinCovDet).",
    peers=("sklearn.covariance.OAS",),
    on="scikit-learn",
    synonyms=("covariance", "shrinkage", "oracle approximating shrinkage"),
)
class OAS(ShrunkCovariance, covariance.OAS):
    """A shrunk covariance like `LedoitWolf`, better for few rows of a normal distribution.

    The amount of shrinkage approximates the best one for normal rows. Use it for few rows that are
    about normal; not for others, for which `LedoitWolf` makes no such assumption.

    Examples
    --------
    >>> from gnomon.density import OAS
    >>> model = OAS().fit([[0.0, 0.0], [1.0, 1.2], [2.0, 1.8], [3.0, 3.0]])
    >>> round(float(model.shrinkage_), 2)
    0.81
    """

    _stored = {"shrinkage_": Number(0.0, 1.0)}

    def _shrinkage(self, plain: np.ndarray, fourth: float, n: int) -> float:
        d, squares = len(plain), (plain**2).mean()
        square_of_mean = (np.trace(plain) / d) ** 2
        part = (n + 1) * (squares - square_of_mean / d)
        return 1.0 if part == 0 else min((squares + square_of_mean) / part, 1.0)


@method(
    task="density",
    texts=TEXTS,
    use="Mean and covariance of rows of which up to half are outliers.",
    avoid="Less than about five rows per column; groups (GaussianMixture).",
    peers=("sklearn.covariance.MinCovDet",),
    on="scikit-learn",
    synonyms=("mcd", "minimum covariance determinant", "robust covariance", "outlier detection"),
)
class MinCovDet(NormalCovariance, covariance.MinCovDet):
    """The covariance of the rows that lie closest together, which outliers do not change.

    Use it where rows may hold outliers, which ``dist_`` and ``support_`` then show;
    `EllipticEnvelope` makes marks of them. Not for few rows per column, nor for several groups.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import MinCovDet
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> rows[:6] += 50
    >>> MinCovDet(random_state=0).fit(rows).support_[:6].tolist()
    [False, False, False, False, False, False]
    """

    _grows = True  # a mark and a distance for each row
    _stored = {
        "raw_location_": Array("f", ("n_columns",)),
        "raw_covariance_": Array("f", ("n_columns", "n_columns")),
        "raw_support_": Array("b", ("n_rows",)),
        "support_": Array("b", ("n_rows",)),
        "dist_": Array("f", ("n_rows",), low=0.0),
    }
