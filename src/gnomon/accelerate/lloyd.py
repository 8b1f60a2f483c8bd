"""Lloyd's iterations as scikit-learn counts and ends them, by the kernels of `gnomon.cluster`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gnomon.accelerate.unsupported import require
from gnomon.cluster.kmeans import KMeans, Total


class Lloyd(KMeans):
    """k-means that ends when the centers move by less than ``least_movement``, squared and summed.

    Empty clusters are not repaired: scikit-learn's way of doing so is another.
    """

    least_movement = 0.0

    def _start(self, data: Any, rng: Any) -> dict[str, Any]:
        return super()._start(data, rng) | {"least_movement": self.least_movement}

    def _total(self, state: dict[str, Any], source: Any) -> Total:
        total = super()._total(state, source)
        require(len(total.far_rows) == 0 and (total.sums.weight > 0).all(), "an empty cluster")
        return total


def lloyd_from(X: Any, weights: Any, centers: Any, max_iter: int, least_movement: float) -> Any:
    """Labels, inertia, centers and number of iterations."""
    model = Lloyd(len(centers), init=np.ascontiguousarray(centers), n_init=1, max_iter=max_iter)
    model.least_movement = least_movement
    with warnings.catch_warnings():  # scikit-learn warns of what concerns its user
        warnings.simplefilter("ignore")
        model.fit(X, sample_weight=weights)
    return model.labels_, model.inertia_, model.cluster_centers_, model.n_iter_
