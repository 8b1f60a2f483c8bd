"""Robust principal components: directions that a few outlying rows do not decide.

The centre c minimises  sum_i w_i |x_i - c|  (the spatial median); the components are the leading
eigenvectors of  sum_i w_i s_i s_i'  with s_i = (x_i - c) / |x_i - c|: every row counts by its
direction alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Step, SumLearner, Transformer
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, JOBS, at_least, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.threads import resolve_jobs
from gnomon.evaluate.baseline import weighted_median
from gnomon.reduce import spectrum

FIRST_ROWS = 256  # judgement: enough for a first center, which the iterations replace
NEAR = 1e-9  # share of the mean distance: keeps the weight of a row at the center finite
MAD_OF_NORMAL = 1.482602218505602  # 1 / norm.ppf(0.75), so that a normal's scale is its deviation


class SignSums(NamedTuple):
    weight: float
    far: float
    inverse: float
    pulled: np.ndarray
    products: np.ndarray


@method(
    task="reduce",
    texts="004 15.3 (of its kind)",
    use="Principal components of rows of which some, up to nearly half, are outliers.",
    avoid="Outlying single cells in most rows; clean rows: PCA is more precise.",
    peers=("R rrcov PcaLocantore",),
)
class RobustPCA(ClassNamePrefixFeaturesOutMixin, Transformer, SumLearner):
    """Principal components in which every row counts by its direction, however far it lies.

    The centre minimises ``sum_i w_i |x_i - c|``; the components are the leading eigenvectors of
    ``sum_i w_i s_i s_i'`` with ``s_i = (x_i - c) / |x_i - c|``. For rows of an elliptical
    distribution these are the directions of `PCA`; up to half of the rows may be anywhere without
    carrying the centre off. Variances along them are those that the median deviation stands for.
    Use it beside `PCA`: where both differ, outliers speak. For outlying cells instead of rows see
    `low_rank_and_sparse`; see also `NormalizedPCA`.

    Texts: 004 15.3 asks for it (its normalised PCA weighs pairs by one over distance). After
    Locantore and others (1999).

    Parameters
    ----------
    n_components : int, default=2
        At most; fewer where there are fewer columns.
    max_iter : int, default=200
        Most steps of the centre.
    tol : float, default=1e-10
        The centre has converged when it moves by less than this share of the mean distance.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the state of each step.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors, each with its largest loading positive.
    mean_ : ndarray of shape (n_features,)
        The spatial median, about which coordinates are taken.
    sign_shares_ : ndarray of shape (n_components_,)
        Eigenvalues of the mean of s s': shares of the directions, which sum to one over all.
    explained_variance_ : ndarray of shape (n_components_,)
        ``(1.4826 median |y - median y|)^2`` along each component: a normal's variance.
    n_components_ : int
    history_ : History
        Mean distance from the centre, after each step.
    n_iter_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import RobustPCA
    >>> rows = np.random.default_rng(0).normal(size=(200, 2)) * [3.0, 1.0]
    >>> rows[:20] = [0.0, 100.0]
    >>> bool(abs(RobustPCA(1).fit(rows).components_[0, 0]) > 0.98)
    True
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }
    _stored = {
        "components_": Array("f8", ("n_components_", "n_columns")),
        "explained_variance_": Array("f8", ("n_components_",)),
        "mean_": Array("f8", ("n_columns",)),
        "n_components_": Whole(),
        "sign_shares_": Array("f8", ("n_components_",), low=0.0),
    }

    def __init__(
        self, n_components=2, *, max_iter=200, tol=1e-10, keep_history="objective", n_jobs=None
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _start(self, data, rng):
        first = next(iter(data.source.chunks()))
        rows, weights = first.rows[:FIRST_ROWS], first.weights[:FIRST_ROWS]
        center = np.asarray(weights @ rows / weights.sum(), dtype=np.float64)
        # squares of tiny or huge numbers must neither vanish nor overflow
        largest = float(np.abs(rows - center).max(initial=0.0))
        unit = 2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000) if largest > 0 else 1.0
        far = np.linalg.norm((rows - center) / unit, axis=1)
        near = NEAR * float(weights @ far / weights.sum())
        return {"center": center, "near": near, "unit": float(unit)}

    def _sums(self, state, chunk):
        apart = (chunk.rows - state["center"]) / state["unit"]
        # a row at the centre pulls as one nearby would, and has no direction
        far = np.maximum(np.sqrt(np.einsum("ij,ij->i", apart, apart)), state["near"])
        pulls = np.divide(chunk.weights, far, out=np.zeros_like(far), where=far > 0)
        pulled = inner(apart, pulls)
        apart *= np.sqrt(pulls / np.where(far > 0, far, 1.0))[:, np.newaxis]
        return SignSums(
            float(chunk.weights.sum()),
            float(chunk.weights @ far),
            float(pulls.sum()),
            pulled,
            inner(apart, apart),
        )

    def _update(self, state, total):
        moved = total.pulled / total.inverse if total.inverse > 0 else np.zeros_like(total.pulled)
        far = total.far / total.weight
        k = min(self.n_components, len(moved))
        found = spectrum.of_covariance(total.products / total.weight, k)
        new = {
            "center": state["center"] + state["unit"] * moved,
            "near": NEAR * far,
            "unit": state["unit"],
            "vectors": found.vectors,
            "shares": found.values,
        }
        return Step(new, state["unit"] * far, bool(np.linalg.norm(moved) <= self.tol * far))

    def _attributes(self, state):
        return {
            "components_": state["vectors"],
            "sign_shares_": state["shares"],
            "mean_": state["center"],
            "n_components_": len(state["vectors"]),
        }

    def _end(self, state, data):
        spectrum.warn_fewer(self.n_components, self.n_components_, "there are no more columns")
        chunks = [(self._map(chunk.rows), chunk.weights) for chunk in data.source.chunks()]
        coordinates = np.concatenate([each for each, _ in chunks])
        weights = np.concatenate([each for _, each in chunks])
        deviations = np.abs(coordinates - weighted_median(coordinates, weights))
        self.explained_variance_ = (MAD_OF_NORMAL * weighted_median(deviations, weights)) ** 2

    def _map(self, rows):
        return (rows - self.mean_) @ self.components_.T

    def inverse_transform(self, X) -> np.ndarray:
        """The rows that coordinates stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        coordinates = check_array(X, dtype=np.float64)
        if coordinates.shape[1] != self.n_components_:
            raise DataError(
                f"inverse_transform takes {self.n_components_} coordinates per row, "
                f"not {coordinates.shape[1]}"
            )
        return coordinates @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        ahead = 2 * resolve_jobs(self.n_jobs) + 2
        return 8 * (ahead * n_columns * n_columns + 6 * n_rows * self.n_components + 2**19)

    def _memory_remedy(self):
        return "Ask for fewer n_components, or leave columns out."

    def _check_loaded(self):
        if hasattr(self, "components_") and np.shape(self.mean_) != self.components_.shape[1:]:
            raise DataError("components_ and mean_ do not fit together")
