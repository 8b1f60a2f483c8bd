"""Non-negative matrix factorization: rows as sums of a few non-negative parts.

    X is about W H,    W >= 0, H >= 0

Parts only add up, never cancel, so they can often be read: topics of texts, parts of pictures. The
distance between X and W H, squared by default, is made smaller by turns in W and in H.
scikit-learn's own class, which takes any table of non-negative numbers here.

Texts: 000 7.1 · 004 7.2 (products of low rank); the iterations are those of Lee and Seung, and of
Cichocki and Phan.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import decomposition
from sklearn.decomposition import _nmf

from gnomon.contract.recorded import Recorded, Steps, replaced
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole


@method(
    task="reduce",
    texts="000 7.1 · 004 7.2",
    use="Counts, intensities and other non-negative columns whose parts are to be read.",
    avoid="Columns with negative values, or where the best compression is wanted: PCA.",
    peers=("sklearn.decomposition.NMF",),
    on="scikit-learn",
    synonyms=("non-negative matrix factorization", "nonnegative", "topics", "parts"),
)
class NMF(Recorded, decomposition.NMF):
    """Rows as sums of non-negative parts: X is about W H with W and H non-negative.

    Use it for counts, intensities and other non-negative columns whose parts are to be read; not
    for columns with negative values, nor for the best compression, which is that of `PCA` or
    `TruncatedSVD`. The end is a local minimum, which depends on ``init``.

    Attributes
    ----------
    history_ : History
        The distance between X and W H after each step (``beta_loss``; its square root, as
        ``reconstruction_err_``), without penalties.

    Examples
    --------
    >>> from gnomon.reduce import NMF
    >>> rows = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    >>> parts = NMF(n_components=2, random_state=0).fit(rows)
    >>> round(float(parts.reconstruction_err_), 2)
    0.0
    """

    natively = Takes(sparse=True)
    _transient = ("_beta_loss", "_n_components")  # are made again from the parameters
    _stored = {
        "components_": Array("f", ("n_parts", "n_columns"), low=0.0),
        "n_components_": Whole(1),
        "reconstruction_err_": Number(low=0.0),
    }

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        if self.init == "custom" and (given.get("W") is None or given.get("H") is None):
            raise ValueError("init='custom' needs the first factors: fit(X, W=..., H=...)")
        return super()._fit_peer(fit, rows, given)

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        of_rows = True  # coordinate descent moves W and H by turns
        told = False  # a callback may transform rows, which takes the same functions

        def report(X: Any, W: Any, H: Any) -> None:
            nonlocal told
            told = True
            self._report(steps, X, W, H)
            told = False

        def coordinates(original: Any, X: Any, moved: Any, fixed: Any, *args: Any) -> Any:
            nonlocal of_rows
            violation = original(X, moved, fixed, *args)
            if not told:
                of_rows = not of_rows
                if of_rows:
                    report(X.T, fixed, moved.T)
            return violation

        def factors(original: Any, X: Any, W: Any, H: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(X, W, H, *args, **kwargs)
            report(X, W, found)
            return found

        with (
            replaced(_nmf, "_update_coordinate_descent", coordinates),
            replaced(_nmf, "_multiplicative_update_h", factors),
        ):
            yield

    def _report(self, steps: Steps, X: Any, W: np.ndarray, H: np.ndarray) -> None:
        parts = np.array(H)
        error = _nmf._beta_divergence(X, W, parts, self._beta_loss, square_root=True)
        attributes = {
            "components_": parts,
            "n_components_": len(parts),
            "reconstruction_err_": error,
        }
        steps.report(float(error), {"W": W, "H": parts}, attributes)

    def _example_row(self) -> Any:
        """A row without zeros, to try out what was read from a model file.

        Of a table, it is a row of missing cells, which stand for means and shares.
        """
        encoder = vars(self).get("encoder_")
        if encoder is not None:
            names = getattr(self, "feature_names_in_", encoder.names_in)
            return pa.table({name: pa.nulls(1) for name in names})
        return np.ones((1, self.n_features_in_)) if hasattr(self, "n_features_in_") else None

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        asked = self.n_components
        n_parts = asked if isinstance(asked, int) else n_columns
        return 8 * (5 * n_rows * n_columns + 8 * n_parts * (n_rows + n_columns))
