"""UMAP, on its library: a map from the fuzzy graph of neighbours.

Minimises the cross-entropy of the fuzzy memberships v_ij of neighbours and those on the map,
1 / (1 + a |y_i - y_j|^(2 b)), by sampled gradient steps.
"""

from __future__ import annotations

import warnings

import numpy as np

from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError, GnomonError
from gnomon.engine.parameters import SEED, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Whole
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.pca import PCA
from gnomon.reduce.rows_map import RowsMap, neighbors_there, shares_of

HALVINGS = 60  # halve a bracket down to rounding


@method(
    task="reduce",
    texts="none",
    use="A map of many rows, where the larger shape matters more than in TSNE.",
    avoid="Sizes or gaps to be read from the map; columns for another learner.",
    peers=("umap.UMAP",),
    on="umap-learn",
    requires="umap",
    synonyms=("manifold", "embedding"),
)
class UMAP(RowsMap):
    """A map from the fuzzy graph of neighbours, by the library umap-learn.

    Minimises ``sum_ij v_ij log(v_ij / u_ij) + (1 - v_ij) log((1 - v_ij) / (1 - u_ij))`` with v_ij
    the memberships of neighbours and u_ij those on the map. Use it as `TSNE`, for more rows and
    where the larger shape matters more. Do not read sizes and gaps from it; look at several
    `n_neighbors`.

    Equal rows are one point, whatever their weight. A new row lies at the mean of its neighbours'
    places by membership (where the library's own ``transform`` begins); a row that was mapped
    keeps its place. One thread is used, so that the same seed gives the same map.

    Texts: none describes it; it stands beside t-SNE (000c 19.1.2). Needs ``pip install
    'gnomon[umap]'``.

    Parameters
    ----------
    n_components : int, default=2
    n_neighbors : int, default=15
        Neighbours of a row; all others where fewer rows differ.
    min_dist : float, default=0.1
        Distance on the map below which rows count as one.
    max_epochs : int, default=300
        Passes over the pairs of neighbours.
    random_state : int, RandomState instance or None, default=None
        The sampled steps.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    places_ : ndarray of shape (n_distinct, n_components)
        The places of the different rows.
    point_ : ndarray of shape (n_samples,)
        Which of the different rows each row is; absent where some had weight zero.
    n_neighbors_ : int
        Neighbours that were taken.
    index_ : NeighbourIndex
        The different rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import UMAP
    >>> rows = np.random.default_rng(0).normal(size=(60, 4))
    >>> UMAP(max_epochs=20, random_state=0).fit_transform(rows).shape  # doctest: +SKIP
    (60, 2)
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "n_neighbors": [whole(2)],
        "min_dist": [at_least(0)],
        "max_epochs": [whole(1)],
        "random_state": SEED,
    }
    _stored = {
        "n_neighbors_": Whole(1),
    }

    def __init__(
        self, n_components=2, *, n_neighbors=15, min_dist=0.1, max_epochs=300, random_state=None
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.max_epochs = max_epochs
        self.random_state = random_state

    def _require_enough(self, n_distinct: int, n_rows: int) -> None:
        if n_distinct < 4:
            raise DataError(
                f"UMAP needs four different rows or more, and there are {n_distinct} "
                f"(n_samples = {n_rows})"
            )
        self.n_neighbors_ = neighbors_there(self.n_neighbors, n_distinct)

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        library = the_library()
        rows = distinct.rows
        # single precision inside: a common offset and unit would cost its digits
        rows = rows - rows.mean(axis=0)
        rows /= max(float(np.abs(rows).max()), np.finfo(float).tiny)
        mapper = library.UMAP(
            n_components=self.n_components,
            n_neighbors=self.n_neighbors_,
            min_dist=self.min_dist,
            n_epochs=self.max_epochs,
            init=self._first_places(rows),
            random_state=int(self._rng().integers(2**31)),
            n_jobs=1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            places = np.asarray(mapper.fit_transform(rows), dtype=np.float64)
        if not np.isfinite(places).all():
            raise DataError("UMAP found no finite map of these rows: rescale or standardise them")
        return places - places.mean(axis=0)

    def _first_places(self, rows: np.ndarray) -> np.ndarray:
        k = min(self.n_components, *rows.shape)
        places = np.zeros((len(rows), self.n_components))
        places[:, :k] = PCA(k).fit_transform(rows)
        places *= 10 / max(float(np.abs(places).max()), np.finfo(float).tiny)
        places += 1e-4 * self._rng().standard_normal(places.shape)
        return places.astype(np.float32)

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        shares = shares_of(memberships(found.distances))
        return np.einsum("nj,njc->nc", shares, self.places_[found.indices])

    def _working_memory(self, n_rows, n_columns):
        return 8 * n_rows * (12 * self.n_neighbors + 4 * n_columns) + self._rows_memory(
            n_rows, n_columns
        )

    def _memory_remedy(self):
        return "Ask for fewer n_neighbors, or map fewer rows."


def the_library():
    """The module umap, or an error that says how to get it."""
    try:
        import umap
    except ImportError as error:
        raise GnomonError(
            "UMAP stands on the library umap-learn, which is not installed: "
            "pip install 'gnomon[umap]'"
        ) from error
    return umap


def memberships(distances: np.ndarray) -> np.ndarray:
    """Fuzzy memberships exp(-(d - nearest) / s), s such that they sum to log2 of their number."""
    beyond = distances - distances[:, :1]
    wanted = np.log2(max(distances.shape[1], 2))
    top = np.maximum(beyond.max(axis=1, keepdims=True), np.finfo(float).tiny)
    low, high = np.zeros_like(top), 1e3 * top
    for _ in range(HALVINGS):
        middle = np.maximum((low + high) / 2, np.finfo(float).tiny)
        total = np.exp(-beyond / middle).sum(axis=1, keepdims=True)
        low, high = np.where(total < wanted, middle, low), np.where(total < wanted, high, middle)
    return np.exp(-beyond / np.maximum((low + high) / 2, np.finfo(float).tiny))
