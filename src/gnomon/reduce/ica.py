"""Independent components: coordinates as independent of each other as can be.

x = A s + m with independent, not normal sources. After whitening to z the rows b of a rotation
maximise |E G(b z) - E G(normal)|; fixed-point steps b <- E z g(b z) - E g'(b z) b for all rows at
once, made orthonormal again (FastICA, Hyvaerinen).

Texts: 002 "ICA".
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Step, SumLearner, Transformer
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, above, whole
from gnomon.engine.products import inner
from gnomon.engine.storable import storable
from gnomon.engine.threads import resolve_jobs
from gnomon.reduce import spectrum
from gnomon.reduce.pca import needed_shift

# E G(z) of a standard normal z
NORMAL_MEAN = {"logcosh": 0.3745672075, "exp": -(0.5**0.5), "cube": 0.75}
# Of the largest variance (columns in their own standard deviations): what counts as no direction.
LEAST_SHARE = 1e-10


class WhiteningSums(NamedTuple):
    weight: float
    rows: np.ndarray
    products: np.ndarray


class ContrastSums(NamedTuple):
    contrast: np.ndarray
    slopes: np.ndarray
    products: np.ndarray


@storable
class ICA(ClassNamePrefixFeaturesOutMixin, Transformer, SumLearner):
    """Coordinates as independent of each other as can be.

    Rows are taken as ``x = A s + m`` with independent, not normal sources s of variance one; finds
    s. After whitening z, each row b of a rotation has an extreme of ``E G(b z)``, found by the
    fixed-point steps of FastICA for all at once. Use it to separate mixed signals. Not for normal
    data, whose rotations all look the same; at most one source may be normal.

    Texts: 002 "ICA" (independence measured by mutual information; for uncorrelated sources that is
    their non-normality, which G stands for).

    Parameters
    ----------
    n_components : int or None, default=None
        Sources, taken from as many principal components; None for as many as have a variance.
    contrast : {"logcosh", "exp", "cube"}, default="logcosh"
        G: log cosh z, -exp(-z^2 / 2) for very long tails, z^4 / 4 for short ones.
    max_iter : int, default=200
        Most passes over the rows; the first whitens.
    tol : float, default=1e-12
        Stop when no row of the rotation turns by more: ``1 - |b . b_before|``.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the state of each pass.
    random_state : int, RandomState instance or None, default=None
        The first rotation.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Sources from centred rows, the least normal first; each with its largest entry positive.
    mixing_ : ndarray of shape (n_features, n_components_)
        Rows from sources.
    mean_ : ndarray of shape (n_features,)
    non_normality_ : ndarray of shape (n_components_,)
        ``|E G(s) - E G(normal)|`` of each source.
    n_components_ : int
    history_ : History
        Minus the sum of non-normalities, after each pass.
    n_iter_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import ICA
    >>> sources = np.random.default_rng(0).uniform(size=(500, 2))
    >>> ICA(random_state=0).fit_transform(sources @ [[1.0, 0.5], [0.3, 1.0]]).shape
    (500, 2)
    """

    _parameter_constraints = {
        "n_components": [None, whole(1)],
        "contrast": [StrOptions({"logcosh", "exp", "cube"})],
        "max_iter": [whole(1)],
        "tol": [above(0)],
        "keep_history": HISTORY,
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        n_components=None,
        *,
        contrast="logcosh",
        max_iter=200,
        tol=1e-12,
        keep_history="objective",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.contrast = contrast
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _start(self, data, rng):
        d = data.n_columns
        if self.n_components is not None and self.n_components > d:
            raise DataError(f"n_components={self.n_components} must be at most {d}, the columns")
        first = next(iter(data.source.chunks()))
        return {"shift": needed_shift(first), "drawn": rng.standard_normal((d, d))}

    def _sums(self, state, chunk):
        if "whitening" not in state:
            shifted = chunk.rows if state["shift"] is None else chunk.rows - state["shift"]
            rows = inner(shifted, chunk.weights)
            if chunk.weighted:
                shifted = shifted * np.sqrt(chunk.weights)[:, np.newaxis]
            return WhiteningSums(float(chunk.weights.sum()), rows, inner(shifted, shifted))
        white = (chunk.rows - state["mean"]) @ state["whitening"].T
        value, slope, curvature = contrast_of(white @ state["rotation"].T, self.contrast)
        slope *= chunk.weights[:, np.newaxis]
        return ContrastSums(
            inner(value, chunk.weights), inner(curvature, chunk.weights), inner(slope, white)
        )

    def _update(self, state, total):
        if isinstance(total, WhiteningSums):
            return self._whitened(state, total)
        rotation = state["rotation"]
        means = total.contrast / state["weight"]
        strength = np.abs(means - NORMAL_MEAN[self.contrast])
        step = (total.products - total.slopes[:, np.newaxis] * rotation) / state["weight"]
        new = orthonormal_rows(step)
        turned = float(np.max(np.abs(1 - np.abs(np.einsum("ij,ij->i", new, rotation)))))
        done = turned <= self.tol
        return Step(state | {"rotation": new, "strength": strength}, -strength.sum(), done)

    def _whitened(self, state, total: WhiteningSums) -> Step:
        offset = total.rows / total.weight
        covariance = total.products / total.weight - np.outer(offset, offset)
        d = len(offset)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        spread[spread == 0] = 1.0
        # columns of one size: what their sums leave of small variances does not hang on units
        found = spectrum.of_covariance(covariance / np.outer(spread, spread), d)
        rank = int((found.values > LEAST_SHARE * max(found.values[0], 0.0)).sum())
        k = max(min(rank, self.n_components or d), 1)
        scales = np.zeros(k)
        scales[: min(k, rank)] = np.sqrt(found.values[: min(k, rank)])
        inverse = np.divide(1.0, scales, out=np.zeros(k), where=scales > 0)
        new = {
            "mean": offset if state["shift"] is None else state["shift"] + offset,
            "weight": total.weight,
            "whitening": found.vectors[:k] * inverse[:, np.newaxis] / spread,
            "colouring": found.vectors[:k].T * scales * spread[:, np.newaxis],
            "rotation": orthonormal_rows(state["drawn"][:k, :k]) if k > 1 else np.ones((1, 1)),
            "strength": np.zeros(k),
        }
        return Step(new, 0.0, rank <= 1)

    def _attributes(self, state):
        order = np.argsort(-state["strength"], kind="stable")
        rotation = state["rotation"][order]
        components = rotation @ state["whitening"]
        signed = spectrum.with_signs(components)
        signs = np.where((signed == components).all(axis=1), 1.0, -1.0)
        return {
            "components_": signed,
            "mixing_": state["colouring"] @ (rotation.T * signs),
            "mean_": state["mean"],
            "non_normality_": state["strength"][order],
            "n_components_": len(rotation),
        }

    def _end(self, state, data):
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"ICA stopped after max_iter={self.max_iter} passes; allow more, a larger tol, or "
                "fewer components (normal coordinates cannot be separated)",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _map(self, rows):
        return (rows - self.mean_) @ self.components_.T

    def inverse_transform(self, X) -> np.ndarray:
        """The rows that sources make up.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        sources = check_array(X, dtype=np.float64)
        if sources.shape[1] != self.n_components_:
            raise DataError(
                f"inverse_transform takes {self.n_components_} sources per row, "
                f"not {sources.shape[1]}"
            )
        return sources @ self.mixing_.T + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        ahead = 2 * resolve_jobs(self.n_jobs) + 2
        return 8 * ((ahead + 6) * n_columns * n_columns + ahead * 2**17)

    def _memory_remedy(self):
        return "Leave columns out, or reduce them by PCA first."

    def _check_loaded(self):
        if hasattr(self, "components_") and np.shape(self.mean_) != self.components_.shape[1:]:
            raise DataError("components_ and mean_ do not fit together")


def contrast_of(sources: np.ndarray, contrast: str):
    """G, its slope and its curvature at every source value."""
    if contrast == "logcosh":
        slope = np.tanh(sources)
        sizes = np.abs(sources)
        value = sizes + np.log1p(np.exp(-2 * sizes)) - np.log(2.0)
        return value, slope, 1 - slope**2
    if contrast == "exp":
        bell = np.exp(-0.5 * sources**2)
        return -bell, sources * bell, (1 - sources**2) * bell
    return sources**4 / 4, sources**3, 3 * sources**2


def orthonormal_rows(matrix: np.ndarray) -> np.ndarray:
    """The nearest matrix with orthonormal rows, (M M')^-1/2 M."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right
