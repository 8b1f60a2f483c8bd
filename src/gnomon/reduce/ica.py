"""Independent components: coordinates as independent of each other as can be.

x = A s + m with independent, not normal sources. After whitening to z the rows b of a rotation B
maximise sum_i |E G(b_i z) - E G(normal)|. With s_i the sign of what stands between the bars and
y = B z, a small rotation by the angles e_ij of all planes changes the sum by
e_ij (s_i E g(y_i) y_j - s_j E g(y_j) y_i), and curves it by -(k_i + k_j),
k_i = s_i (E g(y_i) y_i - E g'(y_i)), if sources are independent. Steps are those of L-BFGS on the
angles with that curvature to begin with, halved until the sum does not fall: unlike the fixed-point
steps of FastICA they always end at a maximum, also with few rows.

References: Hyvaerinen (1999), Ablin, Cardoso and Gramfort (2018). Texts: 002 "ICA".
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Step, SumLearner, Transformer
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, above, whole
from gnomon.engine.products import inner, needed_shift
from gnomon.engine.quasi_newton import quasi_newton
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.threads import resolve_jobs
from gnomon.reduce import spectrum

# E G(z) of a standard normal z
NORMAL_MEAN = {"logcosh": 0.3745672075, "exp": -(0.5**0.5), "cube": 0.75}
# Of the largest variance (columns in their own standard deviations): what counts as no direction.
LEAST_SHARE = 1e-10
# Steps of a climb: how many are remembered, the least curvature, the largest angle, and the share
# of the objective that may be lost to rounding.
REMEMBERED, LEAST_CURVATURE, LARGEST_ANGLE, ROUNDING = 20, 0.02, np.pi / 8, 1e-14
# Bits of the largest angle of a step.
FIGURES = 10


class WhiteningSums(NamedTuple):
    weight: float
    rows: np.ndarray
    products: np.ndarray


class ContrastSums(NamedTuple):
    contrast: np.ndarray
    slopes: np.ndarray
    products: np.ndarray


@method(
    task="reduce",
    texts="002 ICA",
    use="To separate signals that were mixed, each measured in several columns.",
    avoid="Normal data, whose rotations all look alike; few rows for many columns.",
    peers=("sklearn.decomposition.FastICA",),
)
class ICA(ClassNamePrefixFeaturesOutMixin, Transformer, SumLearner):
    """Coordinates as independent of each other as can be.

    Rows are taken as ``x = A s + m`` with independent, not normal sources s of variance one; finds
    s. After whitening to z, the rows b of a rotation make the sum of ``|E G(b z) - E G(normal)|``
    as large as nearby rotations allow, by steps that never lessen it. Use it to separate mixed
    signals. Not for normal data, whose rotations all look the same; at most one source may be
    normal.

    Texts: 002 "ICA" (independence measured by mutual information; for uncorrelated sources that is
    their non-normality, which G stands for).

    Parameters
    ----------
    n_components : int or None, default=None
        Sources, taken from as many principal components; None for as many as have a variance.
    contrast : {"logcosh", "exp", "cube"}, default="logcosh"
        G: log cosh z, -exp(-z^2 / 2) for very long tails, z^4 / 4 for short ones.
    max_iter : int, default=400
        Most passes over the rows; the first whitens.
    tol : float, default=1e-9
        Stop when the next step turns by no larger angle in any plane of two sources.
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
    _stored = {
        "components_": Array("f8", ("n_components_", "n_columns")),
        "mean_": Array("f8", ("n_columns",)),
        "mixing_": Array("f8", ("n_columns", "n_components_")),
        "n_components_": Whole(),
        "non_normality_": Array("f8", ("n_components_",)),
    }

    def __init__(
        self,
        n_components=None,
        *,
        contrast="logcosh",
        max_iter=400,
        tol=1e-9,
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
        return {
            "shift": needed_shift(first.rows, first.weights),
            "drawn": rng.standard_normal((d, d)),
        }

    def _sums(self, state, chunk):
        if "whitening" not in state:
            shifted = chunk.rows if state["shift"] is None else chunk.rows - state["shift"]
            rows = inner(shifted, chunk.weights)
            if chunk.weighted:
                shifted = shifted * np.sqrt(chunk.weights)[:, np.newaxis]
            return WhiteningSums(float(chunk.weights.sum()), rows, inner(shifted, shifted))
        white = (chunk.rows - state["mean"]) @ state["whitening"].T
        sources = white @ state["ascent"].trial.T
        value, slope, curvature = contrast_of(sources, self.contrast)
        slope *= chunk.weights[:, np.newaxis]
        return ContrastSums(
            inner(value, chunk.weights), inner(curvature, chunk.weights), inner(slope, sources)
        )

    def _update(self, state, total):
        if isinstance(total, WhiteningSums):
            return self._whitened(state, total)
        scaled = ContrastSums(*(each / state["weight"] for each in total))
        ascent = state["ascent"].after(scaled, NORMAL_MEAN[self.contrast], self.tol)
        return Step(state | {"ascent": ascent}, -ascent.strength.sum(), ascent.done)

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
        spectrum.warn_fewer(self.n_components, k, f"the rows vary in {rank} directions only")
        scales = np.zeros(k)
        scales[: min(k, rank)] = np.sqrt(found.values[: min(k, rank)])
        inverse = np.divide(1.0, scales, out=np.zeros(k), where=scales > 0)
        new = {
            "mean": offset if state["shift"] is None else state["shift"] + offset,
            "weight": total.weight,
            "whitening": found.vectors[:k] * inverse[:, np.newaxis] / spread,
            "colouring": found.vectors[:k].T * scales * spread[:, np.newaxis],
            "ascent": Ascent.at(orthonormal_rows(state["drawn"][:k, :k]) if k > 1 else np.eye(1)),
        }
        return Step(new, 0.0, rank <= 1)

    def _attributes(self, state):
        ascent: Ascent = state["ascent"]
        order = np.argsort(-ascent.strength, kind="stable")
        rotation = ascent.rotation[order]
        components = rotation @ state["whitening"]
        signed = spectrum.with_signs(components)
        signs = np.where((signed == components).all(axis=1), 1.0, -1.0)
        return {
            "components_": signed,
            "mixing_": state["colouring"] @ (rotation.T * signs),
            "mean_": state["mean"],
            "non_normality_": ascent.strength[order],
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


@dataclass(frozen=True)
class Ascent:
    """Where a climb over rotations stands.

    Attributes
    ----------
    rotation : ndarray of shape (k, k)
        The best one so far.
    trial : ndarray of shape (k, k)
        The one to be measured next.
    strength : ndarray of shape (k,)
        Non-normality of each source at the best.
    signs, slopes, angles : ndarray
        At the best: signs of non-normality, slope of the objective by angle (in each plane), and
        the step that leads to the trial; empty before the first was measured.
    steps : tuple of pairs of ndarrays
        Angles that were turned, and by how much slopes fell.
    done : bool
    """

    rotation: np.ndarray
    trial: np.ndarray
    strength: np.ndarray
    signs: np.ndarray
    slopes: np.ndarray
    angles: np.ndarray
    steps: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    done: bool = False

    @classmethod
    def at(cls, rotation: np.ndarray) -> Ascent:
        """A climb that begins here."""
        nothing = np.empty(0)
        return cls(rotation, rotation, np.zeros(len(rotation)), nothing, nothing, nothing)

    def after(self, means: ContrastSums, of_normal: float, tol: float) -> Ascent:
        """The climb after the trial was measured."""
        gaps = means.contrast - of_normal
        strength, signs = np.abs(gaps), np.where(gaps < 0, -1.0, 1.0)
        began = len(self.signs) > 0
        if began and strength.sum() < self.strength.sum() * (1 - ROUNDING):
            return self._turned(0.5 * self.angles, tol)
        planes = np.triu_indices(len(gaps), 1)
        pull = signs[:, np.newaxis] * means.products
        slopes = (pull - pull.T)[planes]
        steps = self.steps
        if not began or (signs != self.signs).any():
            steps = ()
        elif self.angles @ (self.slopes - slopes) > 0:
            steps = (*steps, (self.angles, self.slopes - slopes))[-REMEMBERED:]
        bends = np.diag(pull) - signs * means.slopes
        curvature = np.add.outer(bends, bends)[planes]
        curvature = np.maximum(np.abs(curvature), LEAST_CURVATURE)
        angles = quasi_newton(slopes, curvature, steps)
        new = replace(
            self, rotation=self.trial, strength=strength, signs=signs, slopes=slopes, steps=steps
        )
        largest = np.abs(angles).max(initial=0.0)
        return new._turned(angles / max(1.0, largest / LARGEST_ANGLE), tol)

    def _turned(self, angles: np.ndarray, tol: float) -> Ascent:
        """Try these angles next, or be content with them where they are small."""
        k, largest = len(self.rotation), float(np.abs(angles).max(initial=0.0))
        if largest > 0:
            # in coarse figures, so that rounding of sums does not decide which maximum is found
            unit = 2.0 ** (np.ceil(np.log2(largest)) - FIGURES)
            angles = np.rint(angles / unit) * unit
        turn = np.zeros((k, k))
        turn[np.triu_indices(k, 1)] = angles
        turn -= turn.T
        # Cayley's transform: a rotation, by these angles where they are small
        trial = np.linalg.solve(np.eye(k) - turn / 2, (np.eye(k) + turn / 2) @ self.rotation)
        if largest > tol:
            return replace(self, trial=trial, angles=angles)
        return replace(self, rotation=trial, trial=trial, angles=angles, done=True)


def contrast_of(sources: np.ndarray, contrast: str):
    """G, its slope and its curvature at every source value."""
    if contrast == "logcosh":
        # by exp and log alone, which processors do several at a time
        sizes = np.abs(sources)
        faded = np.exp(-2 * sizes)
        slope = np.copysign((1 - faded) / (1 + faded), sources)
        sizes += np.log(1 + faded) - np.log(2.0)
        return sizes, slope, 1 - slope**2
    if contrast == "exp":
        bell = np.exp(-0.5 * sources**2)
        return -bell, sources * bell, (1 - sources**2) * bell
    return sources**4 / 4, sources**3, 3 * sources**2


def orthonormal_rows(matrix: np.ndarray) -> np.ndarray:
    """The nearest matrix with orthonormal rows, (M M')^-1/2 M."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right
