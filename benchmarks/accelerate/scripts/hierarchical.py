"""Hierarchical and density clustering of two-dimensional data sets of different shapes."""

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

n = 6_000
data = {
    "circles": make_circles(n, factor=0.5, noise=0.05, random_state=30),
    "moons": make_moons(n, noise=0.05, random_state=30),
    "varied blobs": make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "blobs": make_blobs(n, random_state=30),
}
for name, (X, y) in data.items():
    X = StandardScaler().fit_transform(X)
    ward = AgglomerativeClustering(n_clusters=len(np.unique(y))).fit(X)
    dense = DBSCAN(eps=0.15, min_samples=10).fit(X)
    print(
        f"{name}: ward {adjusted_rand_score(y, ward.labels_):.4f}, "
        f"DBSCAN {adjusted_rand_score(y, dense.labels_):.4f} "
        f"with {dense.labels_.max() + 1} clusters and {(dense.labels_ == -1).sum()} noise rows"
    )
