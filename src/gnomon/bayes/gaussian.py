"""Gaussian classifier: one normal density per class, and Bayes' rule.

    p(class | x)  is proportional to  p(class) N(x; mean_k, C_k)

Means, covariances and shares of the classes are the maximum likelihood estimates, from one pass of
sums. The boundary between two classes is a quadric; where all classes share a covariance the
quadratic terms cancel and it is a hyperplane (002 says so of equal isotropic covariances only; it
is true of any equal ones).

Texts: 002 "Gaussian classifier", "Bayes classifier" · 000a 1.3 · 004 3.1.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.linalg import solve_triangular

from gnomon.bayes.kernels import class_moments
from gnomon.bayes.priors import class_priors
from gnomon.bayes.scores import BayesClassifier
from gnomon.contract import Data, Step, SumLearner
from gnomon.density.expectation import Components, blocks
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, JOBS, StrOptions, at_least, between
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Optional
from gnomon.engine.sums import Chunk, rows_per_chunk
from gnomon.engine.threads import resolve_jobs

LEAST_VARIANCE = 1e-290  # its inverse is finite: floats end at 1.8e308
FARTHEST = 1e140  # sums of squares of such distances are finite: floats end at 1.8e308
EPSILON = float(np.finfo(np.float64).eps)
LOST_DIGITS = 1e8  # a mean so far from its shift, in variances, costs half of the digits
HALF_LOG_2_PI = 0.5 * float(np.log(2 * np.pi))


class ClassMoments(NamedTuple):
    """Per class: weight, and sums of x and x x' (or squares) less the shift of the class."""

    weight: np.ndarray
    first: np.ndarray
    second: np.ndarray


@method(
    task="classify",
    texts='002 "Gaussian classifier", "Bayes classifier" · 004 3.1',
    use="Numeric columns, classes that are clouds of one bump; few rows per class (share=True).",
    avoid="Classes of several bumps, skew or binary columns, more columns than rows per class.",
    peers=(
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    ),
)
class GaussianClassifier(BayesClassifier, SumLearner):
    """One normal density per class, and Bayes' rule: quadratic and linear discriminant analysis.

    Predicts the class of the largest log p(class) - 1/2 log det C_k - 1/2 (x - m_k)' C_k^-1
    (x - m_k), with maximum likelihood estimates from one pass over the rows.

    Use it on numeric columns where each class is one cloud; with ``shared=True`` also where rows
    are few. Do not use it where classes have several bumps, or full covariances where a class has
    fewer rows than columns: fitting the bulk of each class well is not what decides between them.

    =============== ============ ==========================================================
    covariance      shared       also called
    =============== ============ ==========================================================
    "full"          False        quadratic discriminant analysis
    "full"          True         linear discriminant analysis
    "diagonal"      False        Gaussian naive Bayes
    "isotropic"     True         nearest mean (with the priors of the classes)
    =============== ============ ==========================================================

    Parameters
    ----------
    covariance : {"full", "diagonal", "isotropic"}, default="full"
        Any covariance; independent columns; one variance for all columns.
    shared : bool, default=False
        One covariance for all classes, so that boundaries are hyperplanes.
    priors : None, "uniform" or array-like of shape (n_classes,), default=None
        Probabilities of the classes; None for their shares among the rows. "uniform" decides by
        the densities alone, as the first version of 002.
    shrinkage : float, default=0.0
        Between 0 and 1: this part of the shared covariance is mixed into that of each class
        (regularised discriminant analysis); no effect where ``shared``.
    var_smoothing : float, default=1e-9
        This part of a column's variance over all rows is added to its variance in every class (of
        1 where the column is constant). With 0, a covariance that is not positive definite is
        refused.
    n_jobs : int or None, default=None
        Threads; None for all processors. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    means_ : ndarray of shape (n_classes, n_columns)
        Mean of each class.
    covariances_ : ndarray of shape (n_classes or 1, n_columns, n_columns)
        Covariances with the smoothing; for "diagonal" and "isotropic" the variances, of shape
        (n_classes or 1, n_columns). The first axis has one entry where the covariance is shared.
    whitening_ : ndarray
        P with P P' the inverse covariance, in the same shape (one over the standard deviations
        where covariances are diagonal).
    coef_ : ndarray of shape (n_classes, n_columns)
        Only where ``shared``: slopes of the linear scores.
    intercept_ : ndarray of shape (n_classes,)
        Only where ``shared``: their heights at zero.
    history_ : History
        Per pass minus the joint log-likelihood per row.
    n_iter_ : int
        Passes: one; two where the first rows misled about where a class lies.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    See Also
    --------
    gnomon.bayes.NaiveBayes : Other models per column, missing cells.
    gnomon.bayes.GenerativeClassifier : Any density per class.

    Notes
    -----
    Texts: 002 "Gaussian classifier" (full, shared, isotropic; K classes), 004 3.1. A row that is
    farther than 1e140 deviations from a mean counts as being at that distance.

    Examples
    --------
    >>> from gnomon.bayes import GaussianClassifier
    >>> rows = [[0, 0], [1, 0], [0, 1], [4, 4], [5, 4], [4, 5.0]]
    >>> model = GaussianClassifier(shared=True).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[1, 1], [3, 4]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {
        "covariance": [StrOptions({"full", "diagonal", "isotropic"})],
        "shared": FLAG,
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "shrinkage": [between(0, 1)],
        "var_smoothing": [at_least(0)],
        "n_jobs": JOBS,
    }
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
        "coef_": Optional(Array("f8", (None, "n_columns"))),
        "covariances_": Array(
            "f8", [("n_classes", "n_columns"), ("n_covariances", "n_columns", "n_columns")]
        ),
        "intercept_": Optional(Array("f8", (None,))),
        "means_": Array("f8", ("n_classes", "n_columns")),
        "whitening_": Array(
            "f8", [("n_classes", "n_columns"), ("n_covariances", "n_columns", "n_columns")]
        ),
    }

    def __init__(
        self,
        covariance="full",
        *,
        shared=False,
        priors=None,
        shrinkage=0.0,
        var_smoothing=1e-9,
        n_jobs=None,
    ):
        self.covariance = covariance
        self.shared = shared
        self.priors = priors
        self.shrinkage = shrinkage
        self.var_smoothing = var_smoothing
        self.n_jobs = n_jobs

    def _passes(self):
        return 2

    def _start(self, data: Data, rng: np.random.Generator) -> dict[str, Any]:
        if data.n_rows == 0:
            raise DataError("no row has a weight above zero; there is nothing to learn from")
        first = next(iter(data.source.chunks()))
        assert first.y is not None
        k = len(self.classes_)
        shift = np.tile(first.rows.mean(axis=0), (k, 1))
        weight, total, squares = np.zeros(k), np.zeros(shift.shape), np.zeros(shift.shape)
        ones = np.ones(len(first.rows))
        weight += np.bincount(first.y, minlength=k)
        class_moments(first.rows, first.y, ones, shift, True, weight[:, None], total, squares)
        shift += total / np.maximum(weight, 1.0)[:, None]
        return {"shift": shift, "recentered": False}

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> ClassMoments:
        shift = state["shift"]
        k, d = shift.shape
        assert chunk.y is not None
        weight = np.bincount(chunk.y, chunk.weights, minlength=k)
        first = np.zeros((k, d))
        if self.covariance != "full":
            second = np.zeros((k, d))
            class_moments(
                chunk.rows, chunk.y, chunk.weights, shift, True, weight[:, None], first, second
            )
            return ClassMoments(weight, first, second)
        ends = np.cumsum(np.bincount(chunk.y, minlength=k))
        places = np.concatenate([[0], ends[:-1]])
        centered = np.empty((len(chunk.rows), d))
        center_by_class(chunk.rows, chunk.y, chunk.weights, shift, places, centered, first)
        if self.shared:
            return ClassMoments(weight, first, inner(centered, centered)[None])
        second = np.zeros((k, d, d))
        start = 0
        for each, end in enumerate(ends):
            if end > start:
                second[each] = inner(centered[start:end], centered[start:end])
            start = end
        return ClassMoments(weight, first, second)

    def _update(self, state: dict[str, Any], total: ClassMoments) -> Step:
        weight, first, second = total
        held = np.maximum(weight, np.finfo(float).tiny)[:, None]
        apart = first / held
        means = state["shift"] + apart
        if self.covariance == "full":
            beside = weight[:, None, None] * apart[:, :, None] * apart[:, None, :]
            scatter = second - (beside.sum(axis=0)[None] if self.shared else beside)
            variances = np.diagonal(scatter.sum(axis=0)) / weight.sum()
        else:
            scatter = second - weight[:, None] * apart**2
            variances = scatter.sum(axis=0) / weight.sum()
        again = not state["recentered"] and bool(
            (apart**2 > LOST_DIGITS * np.maximum(variances, 0.0))[weight > 0].any()
        )
        following = {"shift": means, "recentered": again, "weight": weight, "scatter": scatter}
        return Step(following, self._cost(following), not again)

    def _cost(self, state: dict[str, Any]) -> float:
        """Minus the joint log-likelihood per row, with the smoothed covariances."""
        fitted = self._estimates(state)
        weight, scatter, factors = state["weight"], state["scatter"], fitted["whitening_"]
        n, d = weight.sum(), state["shift"].shape[1]
        held = weight > 0
        own = np.array([n]) if self.shared else weight
        if factors.ndim == 3:
            logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
            spread = np.array([((s @ p) * p).sum() for s, p in zip(scatter, factors)])
        else:
            logs = np.log(factors).sum(axis=1)
            scatter = scatter.sum(axis=0)[None] if self.shared else scatter
            spread = (scatter * factors**2).sum(axis=1)
        with np.errstate(over="ignore"):
            likelihood = own @ logs - 0.5 * spread.sum() - n * d * HALF_LOG_2_PI
        return float(-(likelihood + weight[held] @ np.log(weight[held] / n)) / n)

    def _estimates(self, state: dict[str, Any]) -> dict[str, Any]:
        """Covariances and their whitening factors from sums of squares about the class means."""
        weight, scatter = state["weight"], state["scatter"]
        n = weight.sum()
        full = self.covariance == "full"
        means = state["shift"]
        middle = weight @ means / n
        spread = (weight[:, None] * (means - middle) ** 2).sum(axis=0) / n
        pooled = scatter.sum(axis=0) / n
        overall = (np.diagonal(pooled) if full else pooled) + spread
        scale = np.where(overall > LEAST_VARIANCE, np.sqrt(np.maximum(overall, 0.0)), 1.0)
        if self.shared:
            own = pooled[None]
        else:
            each = np.maximum(weight, np.finfo(float).tiny).reshape(-1, *[1] * pooled.ndim)
            own = (1 - self.shrinkage) * scatter / each + self.shrinkage * pooled
            own[weight == 0] = pooled
        if full:
            own = own / (scale[:, None] * scale) + self.var_smoothing * np.eye(len(scale))
            factors = np.stack([self._whitening(each, code) for code, each in enumerate(own)])
            return {
                "covariances_": own * (scale[:, None] * scale),
                "whitening_": factors / scale[:, None],
            }
        own = np.maximum(own, 0.0)
        if self.covariance == "isotropic":
            own = np.broadcast_to(own.mean(axis=1, keepdims=True), own.shape)
            scale = np.full_like(scale, np.sqrt((scale**2).mean()))
        own = own / scale**2 + self.var_smoothing
        if not (own > 0).all():
            self._refuse(int(np.argwhere(~(own > 0))[0, 0]))
        return {"covariances_": own * scale**2, "whitening_": 1 / (np.sqrt(own) * scale)}

    def _whitening(self, covariance: np.ndarray, code: int) -> np.ndarray:
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            self._refuse(code)
        if (np.diagonal(root) ** 2 <= 4 * len(root) * EPSILON).any():
            self._refuse(code)
        return solve_triangular(root, np.eye(len(root)), lower=True).T

    def _refuse(self, code: int) -> NoReturn:
        whose = "all classes" if self.shared else f"class {self.classes_[code]!r}"
        raise DataError(
            f"the covariance of {whose} is not positive definite: its rows lie in fewer dimensions "
            f"than there are columns. Raise var_smoothing={self.var_smoothing:g} or "
            f"shrinkage={self.shrinkage:g}, take shared=True, or covariance='diagonal'"
        )

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        fitted = self._estimates(state)
        weight, means = state["weight"], state["shift"]
        prior = class_priors(self.priors, weight)
        attributes = fitted | {
            "class_count_": weight,
            "class_prior_": prior,
            "means_": means,
        }
        if not self.shared:
            return attributes
        factor = fitted["whitening_"][0]
        whitened = means @ factor if factor.ndim == 2 else means * factor
        slopes = whitened @ factor.T if factor.ndim == 2 else whitened * factor
        with np.errstate(divide="ignore"):
            heights = np.log(prior) - 0.5 * (whitened**2).sum(axis=1)
        return attributes | {"coef_": slopes, "intercept_": heights}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        if self.shared or self.covariance != "full" or self.shrinkage > 0:
            return
        d = data.n_columns
        thin = [str(c) for c, n in zip(self.classes_, self.class_count_) if n <= d]
        if thin:
            warnings.warn(
                f"class {thin[0]!r} has no more rows than there are columns ({d}), so that its "
                "covariance is singular and only var_smoothing holds it. Take shared=True, a "
                "shrinkage above 0, or covariance='diagonal'",
                GnomonWarning,
                stacklevel=2,
            )

    def _joint(self, rows: np.ndarray) -> np.ndarray:
        """log p(class) + log N(x) up to a term that all classes share; of shape (n, n_classes)."""
        k = len(self.classes_)
        factors = self.whitening_
        middle = self.class_prior_ @ self.means_
        if self.shared:
            factors = np.broadcast_to(factors, (k, *factors.shape[1:]))
        reach = FARTHEST / np.maximum(np.abs(self.whitening_).max(), 1.0)
        near = np.clip(rows, middle - reach, middle + reach)
        components = Components.of(
            self.class_prior_, self.means_, np.ascontiguousarray(factors), middle
        )
        joint = np.empty((len(rows), k))
        for block in blocks(np.ascontiguousarray(near), components, False):
            joint[block.positions] = block.logs.T
        return joint

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        """log p(class, x) up to what all classes share; linear where the covariance is shared."""
        if not self.shared:
            return self._joint(rows)
        middle = self.class_prior_ @ self.means_
        factor = self.whitening_[0]
        apart = self.means_ - middle
        whitened = apart @ factor if factor.ndim == 2 else apart * factor
        slopes = whitened @ factor.T if factor.ndim == 2 else whitened * factor
        with np.errstate(divide="ignore"):
            heights = np.log(self.class_prior_) - 0.5 * (whitened**2).sum(axis=1)
        reach = FARTHEST / np.maximum(np.abs(slopes).max(), 1.0)
        gaps = rows - middle
        np.clip(gaps, -reach, reach, out=gaps)
        return np.dot(gaps, slopes.T) + heights

    def predict_joint_log_proba(self, X) -> np.ndarray:
        """log p(class) + log N(x; mean, covariance) of each class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        joint_log_proba : ndarray of shape (n_samples, n_classes)
        """
        return self._each_block(self._joint, X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        k = len(getattr(self, "classes_", (0, 1)))
        d = n_columns
        own = (1 if self.shared else k) * d * (d if self.covariance == "full" else 1)
        chunk = min(rows_per_chunk(d), n_rows) * (d + 2)
        return 8 * (threads * (chunk + 2 * own + 2 * k * d) + 8 * own + 6 * k * d)

    def _memory_remedy(self) -> str:
        return "Stream the rows with gnomon.table.scan, or take covariance='diagonal'."

    def _check_loaded(self) -> None:
        if not hasattr(self, "means_"):
            return
        k = len(self.classes_)
        encoder = getattr(self, "encoder_", None)
        d = self.n_features_in_ if encoder is None else len(encoder.columns)
        own = (1 if self.shared else k, d, d)[: 3 if self.covariance == "full" else 2]
        shapes = {
            "means_": (k, d),
            "class_prior_": (k,),
            "whitening_": own,
            "covariances_": own,
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64:
                raise ValueError(f"{name} does not fit {k} classes of {d} columns")


@kernel("f8[:,:]", "i8[:]", "f8[:]", "f8[:,:]", "out i8[:]", "out f8[:,:]", "out f8[:,:]")
def center_by_class(rows, y, weights, shift, places, centered, first):
    """Rows less the shift of their class times the root of their weight, sorted by class.

    rows (n, d), y (n,) class codes, shift and first (K, d), places (K,) where each class begins in
    centred (n, d); first becomes the weighted sum of the shifted rows.
    """
    for i in range(len(rows)):
        k = y[i]
        root = np.sqrt(weights[i])
        row = places[k]
        places[k] += 1
        for j in range(rows.shape[1]):
            apart = rows[i, j] - shift[k, j]
            centered[row, j] = root * apart
            first[k, j] += weights[i] * apart
