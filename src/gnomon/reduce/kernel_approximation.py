"""Explicit features of kernels: columns whose inner products are about the values of a kernel.

    k(x, z)  is about  f(x) . f(z)

A linear method on the columns f(x) is then about the kernel method, at the cost of a linear one.
Random Fourier features draw f from the kernel's spectrum; Nystroem's method takes it from the
kernel's values at some of the rows. scikit-learn's own classes, which take any table here.

Texts: 000a 2.2 · 004 5.1 (kernels); the approximations are those of Rahimi and Recht, and of
Williams and Seeger.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import kernel_approximation
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gnomon.contract.over_scikit_learn import OverScikitLearn, wrapped
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole

TEXTS = "000a 2.2 · 004 5.1"
SPECTRA = 200_000  # complex numbers held at once: 3 MB
LEAST_SIZE = 1e-12  # of a singular value, as in scikit-learn
FAR = 100.0  # squared distance from the origin over the variance: two digits of a distance are lost


class KernelFeatures(OverScikitLearn):
    """What these transformers share: how much memory they need, and which rows they take."""

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        kernel = getattr(self, "kernel", None)
        if kernel in ("chi2", "additive_chi2") and rows.min() < 0:
            raise DataError(
                f"kernel={kernel!r} needs non-negative rows, and some values are negative: choose "
                "another kernel or scale the columns, by MinMaxScaler for instance"
            )
        return super()._fit_peer(fit, rows, given)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_features = getattr(self, "n_components", 0)
        return 8 * (4 * n_features * (n_columns + n_features) + 4 * n_rows)


def nystroem_fit(self: Any, X: Any, y: Any = None) -> Any:
    """Take rows as the basis, and the inverse root of their kernel matrix.

    The draws and the result are scikit-learn's, except where rows of the basis are equal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : None
        Not used.

    Returns
    -------
    self : object
    """
    rows = validate_data(self, X, accept_sparse="csr")
    n_rows = rows.shape[0]
    if self.n_components > n_rows:
        warnings.warn(
            f"n_components > n_samples: there are {n_rows} rows for a basis of "
            f"{self.n_components}, so all of them are taken; that is slower than the kernel itself",
            UserWarning,
            stacklevel=2,
        )
    count = min(n_rows, self.n_components)
    places = check_random_state(self.random_state).permutation(n_rows)[:count]
    self.components_ = rows[places]
    self.normalization_ = inverse_root(basis_kernel(self, self.components_))
    self.component_indices_ = places
    self._n_features_out = count
    return self


def nystroem_features(self: Any, X: Any) -> Any:
    """Features of rows: their kernel values at the basis times the normalization.

    Distances are computed from inner products, which cancel for rows far from the origin such as
    dates: a feature would then depend on the rows beside it in the ninth digit. The Gaussian
    kernel of such rows is computed about the mean of the basis.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    features : ndarray of shape (n_samples, n_components)
    """
    check_is_fitted(self)
    rows = validate_data(self, X, accept_sparse="csr", reset=False)
    return basis_kernel(self, rows) @ self.normalization_.T


def basis_kernel(model: Any, rows: Any) -> Any:
    """Values of the kernel of rows and the basis."""
    basis = model.components_
    if model.kernel == "rbf" and not sp.issparse(rows) and not sp.issparse(basis):
        center = basis.mean(axis=0)
        if center @ center > FAR * basis.var(axis=0).sum():
            rows, basis = rows - center, basis - center
    given = {"filter_params": True, "n_jobs": model.n_jobs} | model._get_kernel_params()
    return pairwise_kernels(rows, basis, metric=model.kernel, **given)


def inverse_root(values: np.ndarray) -> np.ndarray:
    """The inverse root of the basis' kernel matrix, without directions that are rounding.

    Rows that the basis holds twice make the matrix singular. scikit-learn then divides rounding by
    1e-6, which in single precision changes features in the second digit.
    """
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    left, sizes, right = np.linalg.svd(values)
    kept = sizes > sizes[0] * len(sizes) * np.finfo(values.dtype).eps
    roots = np.sqrt(np.maximum(sizes[kept], LEAST_SIZE))
    return left[:, kept] / roots @ right[kept]


@method(
    task="reduce",
    texts=TEXTS,
    use="A kernel method on more rows than a matrix of all pairs allows.",
    avoid="Few thousand rows: SVC or KernelPCA compute the kernel itself.",
    peers=("sklearn.kernel_approximation.Nystroem",),
    on="scikit-learn",
    synonyms=("kernel approximation",),
)
class Nystroem(KernelFeatures, kernel_approximation.Nystroem):
    """Features of a kernel from its values at some of the rows (Nystroem's method).

    Use it before a linear method, for any kernel and many rows; not for a few thousand rows, for
    which `SVC` and `KernelPCA` compute the kernel itself.

    Examples
    --------
    >>> from gnomon.reduce import Nystroem
    >>> features = Nystroem(n_components=2, random_state=0).fit_transform([[0.0], [1.0], [2.0]])
    >>> features.shape
    (3, 2)
    """

    natively = Takes(sparse=True)
    fit = wrapped("fit", nystroem_fit)
    transform = wrapped("transform", nystroem_features)
    _keeps_rows = True
    _stored = {
        "normalization_": Array("f", ("n_basis", "n_basis")),
        "components_": Array("f", ("n_basis", "n_columns"), sparse=True),
        "component_indices_": Array("i", ("n_basis",), low=0),
        "_n_features_out": Whole(1),
    }


@method(
    task="reduce",
    texts=TEXTS,
    use="A Gaussian kernel on very many rows, before a linear method.",
    avoid="Few thousand rows (SVC); Nystroem needs fewer features for the same accuracy.",
    peers=("sklearn.kernel_approximation.RBFSampler",),
    on="scikit-learn",
    synonyms=("random Fourier features", "random kitchen sinks", "kernel approximation"),
)
class RBFSampler(KernelFeatures, kernel_approximation.RBFSampler):
    """Random Fourier features: cosines whose inner products are about the Gaussian kernel.

    Use it before a linear method on very many rows; not for a few thousand, for which `SVC`
    computes the kernel itself.

    Examples
    --------
    >>> from gnomon.reduce import RBFSampler
    >>> features = RBFSampler(n_components=4000, random_state=0).fit_transform([[0.0], [1.0]])
    >>> float((features[0] @ features[1]).round(1))  # exp(-1) is 0.37
    0.4
    """

    natively = Takes(sparse=True)
    _stored = {
        "_gamma": Number(),
        "random_weights_": Array("f", ("n_columns", "n_random")),
        "random_offset_": Array("f", ("n_random",)),
        "_n_features_out": Whole(1),
    }


@method(
    task="reduce",
    texts=TEXTS,
    use="A polynomial kernel on very many rows or sparse columns.",
    avoid="Few columns: PolynomialFeatures computes all products.",
    peers=("sklearn.kernel_approximation.PolynomialCountSketch",),
    on="scikit-learn",
    synonyms=("tensor sketch", "kernel approximation"),
)
class PolynomialCountSketch(KernelFeatures, kernel_approximation.PolynomialCountSketch):
    """Random features whose inner products are about a polynomial kernel (tensor sketch).

    Use it before a linear method where all products of columns would be too many; not for few
    columns, for which `PolynomialFeatures` computes them.

    Examples
    --------
    >>> from gnomon.reduce import PolynomialCountSketch
    >>> sketch = PolynomialCountSketch(degree=3, random_state=0)
    >>> sketch.fit_transform([[0.0, 1.0], [1.0, 1.0]]).shape
    (2, 100)
    """

    natively = Takes(sparse=True)

    def _rows_at_once(self) -> int:
        """As many as keep the spectra of all degrees small."""
        return max(1, SPECTRA // (self.degree * self.n_components))

    _stored = {
        "indexHash_": Array("i", ("degree", "n_hashed"), low=0, below="n_components"),
        "bitHash_": Array("i", ("degree", "n_hashed"), low=-1, high=1),
        "_n_features_out": Whole(1),
    }


@method(
    task="reduce",
    texts=TEXTS,
    use="Histograms and other non-negative columns, before a linear method.",
    avoid="Columns with negative values.",
    peers=("sklearn.kernel_approximation.AdditiveChi2Sampler",),
    on="scikit-learn",
    synonyms=("kernel approximation", "chi-square kernel"),
)
class AdditiveChi2Sampler(KernelFeatures, kernel_approximation.AdditiveChi2Sampler):
    """Features whose inner products are about the additive chi-square kernel.

    Each column becomes ``2 sample_steps - 1``. Use it for histograms before a linear method; not
    for columns with negative values.

    Examples
    --------
    >>> from gnomon.reduce import AdditiveChi2Sampler
    >>> AdditiveChi2Sampler().fit_transform([[0.5, 0.5], [1.0, 0.0]]).shape
    (2, 6)
    """

    natively = Takes(sparse=True)
