"""Factor analysis: columns as sums of a few hidden factors and noise of their own.

    x = m + W' z + e,    z ~ N(0, I),    e ~ N(0, diag(psi))

Unlike principal components, each column has its own noise variance psi_j. The likelihood is
maximized by turns: singular values of the rows divided by the noise give the loadings W, and what
they do not explain is the noise. scikit-learn's own class, which takes any table here.

Texts: 001 17 · 004 15.2 (components); the model is Spearman's and Thurstone's, the iterations are
those of scikit-learn (Barber, Bayesian Reasoning and Machine Learning, algorithm 21.1).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from sklearn import decomposition
from sklearn.decomposition import _factor_analysis
from sklearn.utils.extmath import fast_logdet

from gnomon.contract.recorded import Recorded, Steps, replaced
from gnomon.engine.errors import DataError
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number

LEAST_NOISE = 1e-12  # scikit-learn's least noise variance


@method(
    task="reduce",
    texts="001 17 · 004 15.2",
    use="Hidden factors behind columns whose noise differs; a density of rows.",
    avoid="A mere compression of columns of equal noise: PCA is exact and faster.",
    peers=("sklearn.decomposition.FactorAnalysis",),
    on="scikit-learn",
    synonyms=("factors", "loadings", "latent factors", "varimax", "quartimax"),
)
class FactorAnalysis(Recorded, decomposition.FactorAnalysis):
    """Hidden factors of normally distributed columns, each column with noise of its own.

    Use it to find factors behind columns whose noise differs, as in tests and questionnaires;
    ``rotation="varimax"`` makes loadings easier to read, and ``score_samples`` is the log density
    of rows. Not for a mere compression: `PCA` is exact and faster.

    Attributes
    ----------
    history_ : History
        Minus the log likelihood after each step (``loglike_``).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(200, 1)) @ [[2.0, 1.0, -1.0]] + 0.1 * rng.normal(size=(200, 3))
    >>> model = FactorAnalysis(n_components=1).fit(rows)
    >>> np.abs(model.components_).round(0).tolist()
    [[2.0, 1.0, 1.0]]
    """

    _stored = {
        "components_": Array("f8", ("n_factors", "n_columns")),
        "mean_": Array("f8", ("n_columns",)),
        "noise_variance_": Array("f8", ("n_columns",), low=0.0),
        "loglike_": ListOf(Number()),
    }

    def get_precision(self) -> np.ndarray:
        """The inverse of the covariance matrix of the model.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
        """
        precision = super().get_precision()
        if not np.isfinite(fast_logdet(precision)):
            raise DataError(
                "FactorAnalysis: the covariance of the model cannot be inverted, since the noise "
                "is too small beside the factors. Rescale the columns, or fit fewer factors"
            )
        return precision

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        progress: dict[str, Any] = {}

        def svd(original: Any, scaled: np.ndarray, *args: Any, **kwargs: Any) -> Any:
            parts = original(scaled, *args, **kwargs)
            self._step(steps, progress, scaled, *parts[1:])
            return parts

        exact = self.svd_method == "lapack"
        place = (scipy.linalg, "svd") if exact else (_factor_analysis, "_randomized_svd")
        with replaced(*place, svd):
            yield

    def _step(
        self,
        steps: Steps,
        progress: dict[str, Any],
        scaled: np.ndarray,
        singular: np.ndarray,
        vectors: np.ndarray,
    ) -> None:
        """Loadings and noise of a step, from the decomposition that it made."""
        n_rows, n_columns = scaled.shape
        n_factors = n_columns if self.n_components is None else self.n_components
        lengths = np.sqrt(np.sum(scaled**2, axis=0))
        if not progress:
            start = self.noise_variance_init
            noise = np.ones(n_columns) if start is None else np.array(start, dtype=np.float64)
            deviations = np.sqrt(noise) + LEAST_NOISE
            progress["lengths"] = lengths * deviations
        else:  # columns were divided by the deviations, which stand in their lengths
            ratios = np.divide(progress["lengths"], lengths, where=lengths > 0, out=0 * lengths)
            noise = np.maximum((ratios - LEAST_NOISE) ** 2, LEAST_NOISE)
            deviations = np.sqrt(noise) + LEAST_NOISE
        squares = singular[:n_factors] ** 2
        if self.svd_method == "lapack":
            unexplained = np.sum(singular[n_factors:] ** 2)
        else:
            unexplained = np.sum(scaled**2) - np.sum(squares)
        loadings = np.sqrt(np.maximum(squares - 1, 0))[:, None] * vectors[:n_factors] * deviations
        constant = n_columns * np.log(2 * np.pi) + n_factors
        total = constant + np.sum(np.log(squares)) + unexplained + np.sum(np.log(noise))
        attributes = {
            "components_": loadings if self.rotation is None else self._rotate(loadings),
            "noise_variance_": noise,
            "mean_": self.mean_,
        }
        state = {"components": loadings, "noise_variance": noise}
        steps.report(float(total * n_rows / 2), state, attributes)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        smaller = min(n_rows, n_columns)
        return 8 * (5 * n_rows * n_columns + 6 * smaller * max(n_rows, n_columns))
