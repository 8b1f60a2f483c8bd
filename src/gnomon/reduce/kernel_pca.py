"""Kernel principal components: PCA in the space of a kernel's features.

With K_ij = k(x_i, x_j) centred by the weighted mean, functions f with
sum_j w_j K_ij f_j = lambda f_i  give the coordinates sqrt(lambda) f_i, and those of new rows as
sums of kernels.

Texts: 002 "Kernels" (the trick, and PCA by it) · 004 10.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
import scipy.linalg
from sklearn import decomposition
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Takes, Transformer
from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import FLAG, SEED, Interval, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Object, Optional, Whole
from gnomon.engine.threads import in_order, one_blas_thread, resolve_jobs
from gnomon.margin.kernels import Kernel, Linear, kernel_of
from gnomon.reduce.falls_back import FallsBack
from gnomon.reduce.float32 import KeepsFloat32
from gnomon.reduce.rows_map import weighted_pairs
from gnomon.reduce.spectrum import of_covariance, warn_fewer, with_signs

OWN_KERNELS = ("linear", "poly", "rbf", "sigmoid")
# 72 MB, and 1.7 s for ten eigenvectors on one thread; `n_landmarks` sets both.
MOST_ALL = 3000
USUAL_LANDMARKS = 500
ROWS_TOGETHER = 512  # 64 took 1.51 of the time, 2,048 0.96 (6,000 x 30, 500 landmarks)
FLAT = 1e-12  # an eigenvalue below this share of the largest is rounding


@method(
    task="reduce",
    texts="002 Kernels · 004 10",
    use="Curved structure that a kernel makes straight; features for a linear learner.",
    avoid="A kernel whose width nobody chose; columns in unlike units; components to be read.",
    peers=("sklearn.decomposition.KernelPCA",),
)
@without_effect("eigen_solver", "tol", "max_iter", "iterated_power", "copy_X")
class KernelPCA(KeepsFloat32, FallsBack, ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal components in the space of a kernel.

    Solves ``sum_j w_j K_ij f_j = lambda f_i`` for the centred matrix of kernel values; coordinates
    are ``sqrt(lambda) f``. With a linear kernel it is `PCA`. Use it where rows lie along curves
    that products of columns or distances to rows straighten. The width of the kernel decides what
    is seen: try several.

    Of many rows the matrix is too large: kernel values against some rows, the landmarks, then stand
    for all (Nystroem): the components are those of the rows' projections on the landmarks' space.

    Texts: 002 "Kernels", 004 10 (both name the trick, not this method's sums).

    Parameters
    ----------
    n_components : int or None, default=None
        At most; fewer where fewer rows differ. None keeps all components of positive variance.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}, callable or Kernel, \
            default="linear"
        A word, a kernel of `gnomon.margin`, or a function of two rows. "cosine", "precomputed" and
        functions are computed by scikit-learn's class.
    gamma : float, "scale", "auto", "median" or None, default=None
        Scale of the kernels that have one; None and "auto" stand for 1 / n_features.
    degree : float, default=3
        Of "poly".
    coef0 : float, default=1
        Of "poly" and "sigmoid".
    kernel_params : dict or None, default=None
        Arguments of a kernel that is a function.
    alpha : float, default=1.0
        Of the ridge regression that learns the inverse transform.
    fit_inverse_transform : bool, default=False
        Whether to learn the inverse transform (by scikit-learn's class).
    remove_zero_eig : bool, default=False
        Leave out components without variance, also where ``n_components`` is given.
    random_state : int, RandomState instance or None, default=None
        The draw of landmarks.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    n_landmarks : int, "auto" or "all", default="auto"
        Rows that kernels are taken against; "auto": all of up to 3,000 different rows, and beyond
        that 500 drawn at random, with a warning.

    Attributes
    ----------
    explained_variance_ : ndarray of shape (n_components_,)
        Variances along the components (divided by the sum of weights).
    total_variance_ : float
        Variance of the rows in the kernel's space.
    landmarks_ : ndarray of shape (n_landmarks, n_columns)
        The rows that kernels are taken against.
    coefficients_ : ndarray of shape (n_landmarks, n_components_)
        Coordinates are ``k(x - shift_, landmarks_ - shift_) @ coefficients_ - offset_``.
    offset_ : ndarray of shape (n_components_,)
    shift_ : ndarray of shape (n_columns,)
        The mean of the rows with a linear kernel, whose components do not depend on it, so that
        columns far from zero lose no digits; zero with others.
    kernel_ : Kernel
        The kernel with its numbers.
    n_components_ : int
        How many components were kept.
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues of the centered kernel matrix; only where all rows are landmarks.
    eigenvectors_ : ndarray of shape (n_samples, n_components_)
        Its eigenvectors, one row per sample; only where all rows are landmarks.
    peer_ : sklearn.decomposition.KernelPCA
        Only where scikit-learn's class computed the components; its ``X_fit_``, ``dual_coef_``,
        ``gamma_`` and ``X_transformed_fit_`` are then here too.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import KernelPCA
    >>> t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.column_stack([np.cos(t), np.sin(t)])
    >>> rows = np.vstack([ring, 4 * ring])
    >>> radius = KernelPCA(1, kernel="poly", degree=2).fit_transform(rows)[:, 0]
    >>> radius.shape
    (80,)
    """

    _keeps_rows = True
    _parameter_constraints = {
        "n_components": [whole(1), None],
        "kernel": [
            StrOptions({"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}),
            callable,
            Kernel,
        ],
        "gamma": [at_least(0.0), StrOptions({"scale", "auto", "median"}), None],
        "degree": [at_least(0)],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [at_least(0)],
        "fit_inverse_transform": FLAG,
        "remove_zero_eig": FLAG,
        "random_state": SEED,
        "n_jobs": [None, Integral],
        "n_landmarks": [whole(2), StrOptions({"auto", "all"})],
    }
    _stored = {
        "X_fit_": Optional(Array("f8", ("n_X_fit", "n_columns"))),
        "X_transformed_fit_": Optional(Array("f8", (None, None))),
        "coefficients_": Optional(Array("f8", ("n_coefficients", "n_components_"))),
        "dual_coef_": Optional(Array("f8", (None, "n_columns"))),
        "eigenvalues_": Array("f", ("n_coefficients_1",)),
        "eigenvectors_": Array("f", ("n_X_fit", "n_coefficients_1")),
        "explained_variance_": Optional(Array("f8", ("n_components_",))),
        "gamma_": Optional(Number()),
        "kernel_": Optional(Object()),
        "landmarks_": Optional(Array("f8", ("n_coefficients", "n_columns"))),
        "n_components_": Optional(Whole()),
        "offset_": Optional(Array("f8", ("n_components_",))),
        "shift_": Optional(Array("f8", ("n_columns",))),
        "total_variance_": Optional(Number()),
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
        n_landmarks="auto",
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.n_landmarks = n_landmarks

    natively = Takes(sparse=True)
    _peer = decomposition.KernelPCA
    _densifies = True
    _of_rows_dtype = ("eigenvalues_", "eigenvectors_")

    def _is_own(self, X):
        known = isinstance(self.kernel, Kernel) or self.kernel in OWN_KERNELS
        whole_degree = self.kernel != "poly" or float(self.degree).is_integer()
        return known and whole_degree and not self.fit_inverse_transform and self.gamma != 0

    def _most_steps(self) -> int:
        return 0

    def inverse_transform(self, X) -> np.ndarray:
        """Rows whose coordinates are near those given, by ridge regression on kernel values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if "peer_" not in vars(self) or not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and "
                "hence the inverse transform is not available."
            )
        return self.peer_.inverse_transform(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @one_blas_thread()  # the bits of factors depend on the number of threads
    def _fit(self, data: Data) -> None:
        distinct = distinct_rows(data.rows, data.weight_array)
        gamma = "auto" if self.gamma is None else self.gamma
        self.kernel_ = kernel_of(self.kernel, gamma, int(self.degree), self.coef0).fitted(
            distinct.rows, distinct.weights
        )
        self.shift_ = np.zeros(distinct.rows.shape[1])
        if isinstance(self.kernel_, Linear):
            self.shift_ = np.average(distinct.rows, axis=0, weights=distinct.weights)
        n = len(distinct.rows)
        wanted = self._wanted_landmarks(n)
        self.n_components_ = wanted if self.n_components is None else min(self.n_components, wanted)
        if wanted == n:
            self.landmarks_ = distinct.rows
            self._by_all(distinct)
            self._cut_flat(distinct)
            warn_fewer(self.n_components, self.n_components_, f"{n} rows differ")
            return
        warnings.warn(
            f"KernelPCA took kernels against {wanted:,} of {n:,} different rows, drawn at random; "
            "n_landmarks='all' takes all",
            GnomonWarning,
            stacklevel=2,
        )
        chosen = np.sort(self._rng().choice(n, wanted, replace=False))
        self.landmarks_ = distinct.rows[chosen]
        self._by_landmarks(distinct)
        warn_fewer(
            self.n_components, self.n_components_, f"{wanted} landmarks span no more directions"
        )

    def _cut_flat(self, distinct: DistinctRows) -> None:
        """Leave out flat components where asked; the coordinates of the fitted rows, unscaled."""
        values = self.explained_variance_ * float(distinct.weights.sum())
        kept = slice(None)
        if self.remove_zero_eig or self.n_components is None:
            kept = slice(0, int((values > FLAT * max(values[0], FLAT)).sum()))
        self.explained_variance_ = self.explained_variance_[kept]
        self.coefficients_ = np.ascontiguousarray(self.coefficients_[:, kept])
        self.offset_ = self.offset_[kept]
        self.n_components_ = len(self.explained_variance_)
        self.eigenvalues_ = values[kept]
        roots = np.sqrt(np.maximum(self.eigenvalues_, 0.0))
        places = self.coefficients_ / distinct.weights[:, np.newaxis] * roots
        self.eigenvectors_ = places[distinct.places]

    def _wanted_landmarks(self, n: int) -> int:
        if self.n_landmarks == "auto":
            return n if n <= MOST_ALL else USUAL_LANDMARKS
        return n if self.n_landmarks == "all" else min(self.n_landmarks, n)

    def _by_all(self, distinct: DistinctRows) -> None:
        weights = distinct.weights
        total = float(weights.sum())
        gram = np.concatenate([block for _, block in self._kernel_blocks(distinct.rows)])
        self._require_finite(gram)
        means = gram @ weights / total
        gram -= means
        gram -= means[:, np.newaxis]
        gram += means @ weights / total
        self.total_variance_ = max(float(np.diag(gram) @ weights / total), 0.0)
        values, functions = weighted_pairs(gram, weights, self.n_components_)
        values = np.maximum(values, 0.0)
        scales = np.sqrt(np.where(values > FLAT * max(values[0], FLAT * total), values, np.inf))
        self.explained_variance_ = values / total
        self.coefficients_ = weights[:, np.newaxis] * functions / scales
        self.offset_ = means @ self.coefficients_

    def _by_landmarks(self, distinct: DistinctRows) -> None:
        """Components of the projections on the space that the landmarks span."""
        gram = self._kernel_values()(self.landmarks_)
        self._require_finite(gram)
        values, vectors = scipy.linalg.eigh((gram + gram.T) / 2)
        kept = values > FLAT * max(values[-1], np.finfo(float).tiny)
        basis = vectors[:, kept] / np.sqrt(values[kept])
        m = len(gram)
        mean, products, total = np.zeros(m), np.zeros((m, m)), float(distinct.weights.sum())
        for mine, block in self._kernel_blocks(distinct.rows):
            scaled = block * distinct.weights[mine, np.newaxis]
            mean += scaled.sum(axis=0)
            products += block.T @ scaled
        mean /= total
        covariance = basis.T @ (products / total - np.outer(mean, mean)) @ basis
        self.n_components_ = min(self.n_components or len(covariance), len(covariance))
        found = of_covariance((covariance + covariance.T) / 2, self.n_components_)
        self.total_variance_, self.explained_variance_ = found.total, found.values
        self.coefficients_ = with_signs(np.ascontiguousarray((basis @ found.vectors.T).T)).T
        self.offset_ = mean @ self.coefficients_

    def _kernel_blocks(self, rows: np.ndarray):
        """Slices of rows and their kernels against the landmarks."""
        values = self._kernel_values()
        slices = [slice(s, s + ROWS_TOGETHER) for s in range(0, len(rows), ROWS_TOGETHER)]
        yield from zip(slices, in_order(lambda mine: values(rows[mine]), slices, self.n_jobs))

    def _kernel_values(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function of rows that gives their kernels against the landmarks."""
        shift = vars(self).get("shift_", 0.0)  # model files of earlier versions have none
        values = self.kernel_.against(self.landmarks_ - shift)
        return lambda rows: values(rows - shift)

    def _require_finite(self, gram: np.ndarray) -> None:
        if not np.isfinite(gram).all():
            raise DataError(
                f"kernel values of {self.kernel_!r} overflow on these rows: rescale the columns, "
                "or lower gamma or degree"
            )

    def _map(self, rows):
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if isinstance(self.kernel_, Linear):
            # products with the axes themselves round less than those with all landmarks
            shift = vars(self).get("shift_", 0.0)
            axes = (self.landmarks_ - shift).T @ self.coefficients_
            return (rows - shift) @ axes - self.offset_
        return self._kernel_values()(rows) @ self.coefficients_ - self.offset_

    def _rows_at_once(self, rows) -> int:
        return min(ROWS_TOGETHER, max(2**19 // len(self.landmarks_), 16))

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_) if "peer_" in vars(self) else self.n_components_

    def _working_memory(self, n_rows, n_columns):
        m = self._wanted_landmarks(n_rows)
        blocks = min(ROWS_TOGETHER, n_rows) * m * (resolve_jobs(self.n_jobs) + 1)
        return 8 * (4 * m * m + blocks + 3 * n_rows * (n_columns + 4))

    def _memory_remedy(self):
        return "Ask for fewer n_landmarks."

    def _check_loaded(self):
        if hasattr(self, "coefficients_"):
            shape = (len(self.landmarks_), self.n_components_)
            if self.coefficients_.shape != shape or self.offset_.shape != shape[1:]:
                raise ValueError("landmarks_, coefficients_ and offset_ do not fit together")
            if not isinstance(self.kernel_, Kernel):
                raise ValueError("kernel_ is no kernel")
            if "shift_" not in vars(self) and isinstance(self.kernel_, Linear):
                raise ValueError("shift_ is missing: it was fitted before rows were centered")
