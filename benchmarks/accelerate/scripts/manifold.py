"""Manifold learning: a rolled sheet unrolled by Isomap and by scaling of its distances."""

import numpy as np
from sklearn.datasets import make_s_curve
from sklearn.manifold import MDS, Isomap, trustworthiness

X, position = make_s_curve(2_500, random_state=0)
flat = Isomap(n_neighbors=12, n_components=2).fit_transform(X)
along = np.abs(np.corrcoef(flat[:, 0], position)[0, 1])
print(f"Isomap: correlation {along:.4f}, trustworthiness {trustworthiness(X, flat):.4f}")
scaling = MDS(n_components=2, n_init=1, max_iter=120, random_state=0, init="random")
places = scaling.fit_transform(X)
print(f"MDS: stress {scaling.stress_:.1f} after {scaling.n_iter_} iterations")
print(f"MDS: trustworthiness {trustworthiness(X, places):.4f}")
