"""FallsBack: own code for the usual case, scikit-learn's class for what it alone can do."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition, manifold, preprocessing
from sklearn.neighbors import NearestNeighbors

from gnomon.contract import intake
from gnomon.contract.over_scikit_learn import HoldsPeer, PeerRows, needs_encoder
from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, DictOf, Number, Object, Optional, Text, Whole

_ROWS = {
    "n_features_in_": Optional(Whole(1)),
    "_n_features_out": Optional(Whole(1)),
    "_sklearn_output_config": Optional(DictOf(Text())),
}
_EMBEDDING = _ROWS | {
    "embedding_": Array("f", ("n_rows", "n_components")),
    "nbrs_": Optional(Object(("StoredNeighbors",), {"n_samples_fit_": "n_rows"})),
    "n_neighbors_": Optional(Whole(1)),
}
_PEERS = {
    decomposition.KernelPCA: _ROWS
    | {
        "X_fit_": Array("f", ("n_rows", "n_features_in_"), sparse=True),
        "X_transformed_fit_": Optional(Array("f", ("n_rows", "n_kept"))),
        "dual_coef_": Optional(Array("f", ("n_rows", "n_features_in_"))),
        "eigenvalues_": Array("f", ("n_kept",)),
        "eigenvectors_": Array("f", ("n_rows", "n_kept")),
        "gamma_": Optional(Number()),
        "_centerer": Object(("KernelCenterer",)),
    },
    manifold.Isomap: _EMBEDDING
    | {
        "kernel_pca_": Object(("KernelPCA",)),
        "dist_matrix_": Array("f", ("n_rows", "n_rows")),
    },
    manifold.LocallyLinearEmbedding: _EMBEDDING | {"reconstruction_error_": Number()},
    manifold.SpectralEmbedding: _EMBEDDING
    | {
        "affinity_matrix_": Array("f", ("n_rows", "n_rows"), sparse=True),
        "gamma_": Optional(Number() | None),
    },
    manifold.TSNE: _EMBEDDING
    | {"kl_divergence_": Number(), "n_iter_": Whole(), "learning_rate_": Number()},
    preprocessing.KernelCenterer: _ROWS
    | {"K_fit_all_": Number(), "K_fit_rows_": Array("f", ("n_features_in_",))},
}
for _peer, _values in _PEERS.items():
    storable(_peer, f"sklearn.{_peer.__name__}", _values)


@storable
class StoredNeighbors(NearestNeighbors):
    """scikit-learn's neighbors in a model file: the rows are stored, and their tree made anew."""

    _transient = ("_tree",)
    _stored = {
        "_fit_X": Array("f8", ("n_samples_fit_", "n_columns")),
        "_fit_method": Text(),
        "effective_metric_": Text(),
        "effective_metric_params_": DictOf(Whole() | None),
        "n_features_in_": Whole(1),
        "n_samples_fit_": Whole(1),
    }

    def _check_loaded(self) -> None:
        if hasattr(self, "_fit_X"):
            self.fit(self._fit_X)


class FallsBack(HoldsPeer):
    """Mixin of a method under scikit-learn's name whose own code covers the usual parameters.

    Where ``_is_own(X)`` is False (a precomputed matrix, another metric, sparse rows),
    scikit-learn's class ``_peer`` is fitted with the same parameters; its fitted attributes become
    those of the method, and it stands in ``peer_``.
    """

    _densifies: ClassVar[bool] = False  # whether its own code takes sparse rows as dense ones
    _stored = {
        "encoder_": Optional(Object(("TableEncoder",))),
        "nbrs_": Optional(Object()),
        "peer_": Optional(Object()),
    }

    def _is_own(self, X: Any) -> bool:
        raise NotImplementedError

    def _is_for_peer(self, X, sample_weight):
        return not self._is_own(X) or (sp.issparse(X) and not self._densifies)

    def _own_rows(self, X):
        return dense(X)

    def _peer_rows(self, X, sample_weight):
        if sample_weight is not None:
            raise DataError(
                f"{type(self).__name__} takes sample_weight only where it computes by itself, not "
                "with these parameters or sparse rows; leave the weights out"
            )
        return PeerRows(intake.take_in(self, X, None, None).rows if needs_encoder(X) else X)

    def _fit_peer(self, given):
        self.peer_ = self._unfitted()
        with np.errstate(all="ignore"):
            try:
                self.peer_.fit(given.X)
            except ValueError as error:
                raise DataError(f"{error} ({self._chosen()})") from error
        self.peer_.__class__ = self._peer  # a model file holds no class with short checks
        if hasattr(self.peer_, "nbrs_"):
            self.peer_.nbrs_.__class__ = StoredNeighbors
        self._keep_public(self.peer_, {"n_features_in_"} if "encoder_" in vars(self) else ())

    def _chosen(self) -> str:
        """The parameters that are not at their defaults, for messages."""
        given = self.get_params(deep=False)
        usual = inspect.signature(type(self)).parameters
        changed = [f"{k}={v!r}" for k, v in given.items() if v is not usual[k].default]
        return ", ".join(changed) or "default parameters"

    def _each_block(self, function, X, **more):
        if "peer_" not in vars(self) or getattr(function, "__name__", "") != "_map":
            return super()._each_block(function, dense(X) if self._densifies else X, **more)
        if not hasattr(self.peer_, "transform"):
            raise DataError(
                f"this {type(self).__name__} was computed by scikit-learn's class, which cannot "
                f"place new rows ({self._chosen()}); use numeric rows and the default metric"
            )
        if "encoder_" in vars(self):
            return self.peer_.transform(next(iter(intake.blocks_of(self, X))))
        return self.peer_.transform(X)

    @property
    def _n_features_out(self) -> int:
        if "peer_" in vars(self):
            return self.peer_.embedding_.shape[1]
        return super()._n_features_out


def dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


def is_euclidean(metric: Any, p: float = 2, metric_params: Any = None) -> bool:
    """Whether a metric is the usual distance."""
    return not metric_params and (metric == "euclidean" or (metric == "minkowski" and p == 2))
