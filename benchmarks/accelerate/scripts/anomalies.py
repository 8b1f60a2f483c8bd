"""Outlier detection: three detectors on the same rows, scored by known outliers."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

rng = np.random.RandomState(42)
inside, _ = make_blobs(15_000, n_features=8, centers=4, cluster_std=1.0, random_state=0)
outside = rng.uniform(low=-14, high=14, size=(1_000, 8))
X = np.concatenate([inside, outside])
is_outlier = np.repeat([0, 1], [len(inside), len(outside)])

detectors = {
    "isolation forest": IsolationForest(contamination=0.06, random_state=42),
    "one-class SVM": OneClassSVM(nu=0.06, gamma=0.02),
}
for name, detector in detectors.items():
    detector.fit(X)
    found = detector.predict(X) == -1
    area = roc_auc_score(is_outlier, -detector.score_samples(X))
    print(f"{name}: {found.sum()} outliers, area {area:.4f}")
factor = LocalOutlierFactor(n_neighbors=35, contamination=0.06)
found = factor.fit_predict(X) == -1
area = roc_auc_score(is_outlier, -factor.negative_outlier_factor_)
print(f"local outlier factor: {found.sum()} outliers, area {area:.4f}")
