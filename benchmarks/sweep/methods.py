"""The methods of the sweep: the same work on our side and on each peer's, and what both must reach.

Both sides get the same parameters and ``OMP_NUM_THREADS`` threads, or all processors. Of several
peers the fastest counts; a peer that is not installed, or refuses a shape, is left out.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.sweep.shapes import Data, Limits

Work = Callable[[Data], Any]
JOBS = int(os.environ.get("OMP_NUM_THREADS", -1))
SPECIALISTS = ("LightGBM", "fastcluster", "celer", "openTSNE", "scikit-learn-intelex")


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : str
    ours : callable
        ``ours(data)`` does what is timed and returns what ``quality`` looks at.
    peers : dict of callable
        The same work by name of the package.
    quality : callable
        ``quality(result, data)``: the figure that both must reach.
    tolerance : float
        How far ours may be worse, as a share of theirs (of one where theirs is smaller).
    higher_is_better : bool
    limits : Limits
    target : {"classes", "numbers", "none"}
    """

    name: str
    ours: Work
    peers: dict[str, Work]
    quality: Callable[[Any, Data], float]
    tolerance: float
    higher_is_better: bool
    limits: Limits = field(default_factory=Limits)
    target: str = "classes"

    def reached(self, ours: float, theirs: float) -> bool:
        gap = theirs - ours if self.higher_is_better else ours - theirs
        return bool(gap <= self.tolerance * max(abs(theirs), 1e-3))

    @property
    def bar(self) -> float:
        """The geometric mean that is wanted: less where the peer is a specialist."""
        return 1.2 if any(name in SPECIALISTS for name in self.peers) else 2.0


METHODS: dict[str, Method] = {}


def accuracy(model: Any, data: Data) -> float:
    return float(np.mean(model.predict(data.test_X) == data.test_y))


def r2(model: Any, data: Data) -> float:
    error = np.mean((np.asarray(model.predict(data.test_X)).ravel() - data.test_numbers) ** 2)
    return float(1 - error / max(data.test_numbers.var(), 1e-12))


def inertia(model: Any, data: Data) -> float:
    """Computed here from the centers, in float64, for both sides."""
    centers, total = np.asarray(model.cluster_centers_, dtype=np.float64), 0.0
    for rows in np.array_split(np.arange(data.X.shape[0]), data.X.shape[0] // 2000 + 1):
        X = data.X[rows]
        X = X.toarray() if not isinstance(X, np.ndarray) else X
        X = X.astype(np.float64)
        squared = (X**2).sum(1)[:, None] - 2 * X @ centers.T + (centers**2).sum(1)
        weights = 1.0 if data.weights is None else data.weights[rows]
        total += float(np.sum(weights * squared.min(axis=1)))
    return total


def penalized_objective(model: Any, data: Data) -> float:
    """The elastic net's: mean squared error over two and the penalties."""
    alpha, ratio = model.alpha, getattr(model, "l1_ratio", 1.0)
    slopes = np.asarray(model.coef_, dtype=np.float64).ravel()
    error = (
        data.numbers - np.asarray(data.X @ slopes).ravel() - float(np.ravel(model.intercept_)[0])
    )
    weights = np.ones(len(error)) if data.weights is None else data.weights
    loss = np.sum(weights * error**2) / (2 * weights.sum())
    return float(loss + alpha * (ratio * np.abs(slopes).sum() + (1 - ratio) / 2 * slopes @ slopes))


def explained_share(model: Any, data: Data) -> float:
    return float(np.sum(model.explained_variance_))


def clusters_found(model: Any, data: Data) -> float:
    return float(len(set(np.asarray(model.labels_).tolist())))


def mean_log_density(model: Any, data: Data) -> float:
    rows = data.test_X
    return float(np.mean(model.score_samples(rows)))


def table_of(result: Any, data: Data) -> float:
    """A figure of a transformed table: its root mean square."""
    return float(np.sqrt(np.mean(np.square(np.asarray(result, dtype=np.float64)))))


def fitted(module: str, cls: str, parameters: Callable[[Data], dict], target: str) -> Work:
    """Fit the class of that name, on all processors where it takes ``n_jobs``."""

    def work(data: Data) -> Any:
        made = estimator(module, cls, parameters(data))
        y = {"classes": data.y, "numbers": data.numbers, "none": None}[target]
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        return made.fit(data.X, y, **weights)

    return work


def estimator(module: str, cls: str, parameters: dict) -> Any:
    kind, shared = class_of(module, cls)
    return kind(**shared, **parameters)


@functools.cache
def class_of(module: str, cls: str) -> tuple[Any, dict]:
    """The class, and ``n_jobs`` where it takes it; looked up once, as it is timed."""
    kind = getattr(importlib.import_module(module), cls)
    return kind, {"n_jobs": JOBS} if "n_jobs" in inspect.signature(kind).parameters else {}


def then(work: Work, call: Callable[[Any, Data], Any]) -> Work:
    """Fit, then a call on the fitted model; its result stands for the work."""
    return lambda data: call(work(data), data)


def none(data: Data) -> dict:
    return {}


def enter(
    name: str,
    ours: str,
    peer: str,
    parameters: Callable[[Data], dict] = none,
    *,
    target: str = "classes",
    quality: Callable[[Any, Data], float],
    tolerance: float = 1e-3,
    higher_is_better: bool = True,
    accelerated: bool = False,
    others: dict[str, tuple[str, Work]] | None = None,
    call: Callable[[Any, Data], Any] | None = None,
    **limits: Any,
) -> None:
    """Enter a method: ``ours`` and ``peer`` are modules that hold the class ``name`` begins with.

    ``accelerated``: scikit-learn-intelex has it too; ``others`` are further peers, each with the
    package that it needs.
    """
    cls = name.split(",")[0].split(" ")[0]
    sides = {"ours": fitted(ours, cls, parameters, target)}
    sides["scikit-learn"] = fitted(peer, cls, parameters, target)
    if accelerated and importlib.util.find_spec("sklearnex"):
        module = peer.replace("sklearn.", "sklearnex.")
        sides["scikit-learn-intelex"] = fitted(module, cls, parameters, target)
    for label, (package, work) in (others or {}).items():
        if importlib.util.find_spec(package):
            sides[label] = work
    if call is not None:
        sides = {label: then(work, call) for label, work in sides.items()}
    METHODS[name] = Method(
        name,
        sides.pop("ours"),
        sides,
        quality,
        tolerance,
        higher_is_better,
        Limits(**limits),
        target,
    )


def score_on_test(model: Any, data: Data) -> np.ndarray:
    return model.predict(data.test_X)


def agreement(given: Any, data: Data) -> float:
    return float(np.mean(given == data.test_y))


def agreement_of_numbers(given: Any, data: Data) -> float:
    return float(
        1 - np.mean((given - data.test_numbers) ** 2) / max(data.test_numbers.var(), 1e-12)
    )


def penalty(data: Data) -> dict:
    """A tenth of the least penalty that leaves no slope."""
    centered = data.numbers - data.numbers.mean()
    return {"alpha": float(0.1 * np.abs(data.X.T @ centered).max() / len(centered)) or 0.1}


def typical_distance(data: Data) -> float:
    """Of a row to its tenth neighbour among 500: the radius of a few neighbours."""
    rows = data.X[np.linspace(0, data.X.shape[0] - 1, 500).astype(int)].astype(np.float64)
    squared = (rows**2).sum(1)[:, None] - 2 * rows @ rows.T + (rows**2).sum(1)
    return float(np.sqrt(max(np.median(np.sort(squared, axis=1)[:, 10]), 1e-6)))


LINEAR, PEER_LINEAR = "gnomon.linear", "sklearn.linear_model"
TREES, PEER_TREES = "gnomon.trees", "sklearn.ensemble"
CLUSTER, PEER_CLUSTER = "gnomon.cluster", "sklearn.cluster"
NEAR, PEER_NEAR = "gnomon.neighbors", "sklearn.neighbors"
MARGIN, PEER_MARGIN = "gnomon.margin", "sklearn.svm"
REDUCE, PEER_REDUCE = "gnomon.reduce", "sklearn.decomposition"
PREPARE, PEER_PREPARE = "gnomon.prepare", "sklearn.preprocessing"
numbers = {"target": "numbers", "quality": r2}
rows_only = {"target": "none"}

enter(
    "LinearRegression",
    LINEAR,
    PEER_LINEAR,
    **numbers,
    accelerated=True,
    weighted=True,
    columns=2000,
)
enter("Ridge", LINEAR, PEER_LINEAR, **numbers, accelerated=True, weighted=True, columns=2000)
for cls in ("Lasso", "ElasticNet"):
    enter(
        cls,
        LINEAR,
        PEER_LINEAR,
        penalty,
        target="numbers",
        quality=penalized_objective,
        higher_is_better=False,
        others={"celer": ("celer", fitted("celer", cls, penalty, "numbers"))},
        sparse=True,
    )
enter(
    "LogisticRegression",
    LINEAR,
    PEER_LINEAR,
    quality=accuracy,
    tolerance=0.01,
    accelerated=True,
    sparse=True,
    weighted=True,
    columns=2000,
    cells=2_000_000,
    groups=30,
)
enter("LogisticRegression, two classes", LINEAR, PEER_LINEAR, quality=accuracy, tolerance=0.01,
      accelerated=True, sparse=True, weighted=True, columns=2000, cells=4_000_000,
      groups=2)  # fmt: skip


def counts(data: Data) -> np.ndarray:
    scaled = data.numbers / max(data.numbers.std(), 1e-9)
    return np.round(np.exp(np.clip(0.5 * scaled, -3, 3)))


def poisson(module: str) -> Work:
    def work(data: Data) -> Any:
        return estimator(module, "PoissonRegressor", {}).fit(data.X, counts(data))

    return work


def poisson_fit(model: Any, data: Data) -> float:
    y, mean = counts(data), np.maximum(model.predict(data.X), 1e-12)
    return float(np.mean(mean - y * np.log(mean)) + 0.5 * np.sum(np.square(model.coef_)))


METHODS["PoissonRegressor"] = Method(
    "PoissonRegressor", poisson(LINEAR), {"scikit-learn": poisson(PEER_LINEAR)}, poisson_fit, 1e-3,
    False, Limits(columns=500, cells=3_000_000), "numbers",
)  # fmt: skip
enter("QuantileRegressor", LINEAR, PEER_LINEAR, lambda data: {"alpha": 0.01}, **numbers,
      tolerance=0.02, columns=50, rows=3000)  # fmt: skip

seeded = {"random_state": 0}
for cls in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
    kind = {"quality": accuracy} if "Class" in cls else numbers
    enter(cls, TREES, "sklearn.tree", lambda data: seeded, **kind, tolerance=0.05, weighted=True,
          columns=1000, cells=1_000_000)  # fmt: skip
for cls in ("RandomForest", "ExtraTrees"):
    for task, kind in (("Classifier", {"quality": accuracy}), ("Regressor", numbers)):
        enter(cls + task, TREES, PEER_TREES, lambda data: {"n_estimators": 50, **seeded}, **kind,
              tolerance=0.05, accelerated=True, weighted=True, columns=2000,
              cells=1_000_000 if task == "Classifier" else 300_000)  # fmt: skip


def boosted(cls: str, target: str) -> Work:
    """LightGBM with the parameters of histogram boosting."""

    def work(data: Data) -> Any:
        import lightgbm

        made = getattr(lightgbm, cls)(
            n_estimators=30,
            max_bin=255,
            min_child_samples=20,
            min_child_weight=1e-3,
            verbose=-1,
            n_jobs=JOBS,
        )
        y = data.y if target == "classes" else data.numbers
        return made.fit(data.X, y, sample_weight=data.weights)

    return work


for task, kind, target in (
    ("Classifier", {"quality": accuracy}, "classes"),
    ("Regressor", numbers, "numbers"),
):
    enter("HistGradientBoosting" + task, TREES, PEER_TREES,
          lambda data: {"max_iter": 30, "early_stopping": False}, **kind, tolerance=0.05,
          others={"LightGBM": ("lightgbm", boosted(f"LGBM{task}", target))}, weighted=True,
          columns=1000, cells=3_000_000, groups=10)  # fmt: skip
    enter("GradientBoosting" + task, TREES, PEER_TREES, lambda data: {"n_estimators": 20, **seeded},
          **kind, tolerance=0.05, columns=200, cells=200_000, groups=5)  # fmt: skip


def one_start(data: Data) -> dict:
    """From the same first centers, so that both sides do the same passes."""
    spread = np.linspace(0, data.X.shape[0] - 1, data.groups).astype(int)
    first = data.X[spread]
    first = first if isinstance(first, np.ndarray) else first.toarray()
    return {"n_clusters": data.groups, "init": first, "n_init": 1, "max_iter": 50}


def own_start(data: Data) -> dict:
    return {"n_clusters": data.groups, "n_init": 1, "random_state": 0}


tight = {"quality": inertia, "higher_is_better": False, **rows_only}
enter("KMeans", CLUSTER, PEER_CLUSTER, one_start, **tight, tolerance=0.01, accelerated=True,
      weighted=True, sparse=True, groups=1000, cells=5_000_000)  # fmt: skip
enter("KMeans with k-means++", CLUSTER, PEER_CLUSTER, own_start, **tight, tolerance=0.2,
      weighted=True, groups=200, cells=3_000_000)  # fmt: skip
enter("MiniBatchKMeans", CLUSTER, PEER_CLUSTER, own_start, **tight, tolerance=0.2, weighted=True,
      groups=200)  # fmt: skip
enter("BisectingKMeans", CLUSTER, PEER_CLUSTER, own_start, **tight, tolerance=0.3, groups=50,
      cells=2_000_000)  # fmt: skip


def heights(linkage: str) -> dict[str, tuple[str, Work]]:
    """fastcluster's tree, cut into the same number of clusters."""

    def work(data: Data) -> Any:
        import fastcluster
        from scipy.cluster.hierarchy import fcluster

        rows = np.ascontiguousarray(data.X, dtype=np.float64)
        by_rows = linkage in ("ward", "single")
        tree = (fastcluster.linkage_vector if by_rows else fastcluster.linkage)(rows, linkage)
        found = type("Found", (), {})()
        found.labels_ = fcluster(tree, data.groups, "maxclust")
        return found

    return {"fastcluster": ("fastcluster", work)}


def within(model: Any, data: Data) -> float:
    """Sum of squares within the clusters that were found."""
    labels, total = np.asarray(model.labels_), 0.0
    for label in np.unique(labels):
        rows = data.X[labels == label].astype(np.float64)
        total += float(np.square(rows - rows.mean(axis=0)).sum())
    return total


for linkage in ("ward", "average", "single", "complete"):
    enter(f"AgglomerativeClustering, {linkage}", CLUSTER, PEER_CLUSTER,
          lambda data, linkage=linkage: {"n_clusters": data.groups, "linkage": linkage},
          quality=within, higher_is_better=False, tolerance=0.02, **rows_only,
          others=heights(linkage), rows=6000, columns=500, cells=1_000_000)  # fmt: skip
enter("DBSCAN", CLUSTER, PEER_CLUSTER,
      lambda data: {"eps": typical_distance(data), "min_samples": 10}, quality=clusters_found,
      **rows_only, accelerated=True, rows=30_000, columns=200, cells=1_000_000)  # fmt: skip
enter("HDBSCAN", CLUSTER, PEER_CLUSTER, lambda data: {"min_cluster_size": 20, "copy": True},
      quality=clusters_found, tolerance=0.2, **rows_only, rows=8000, columns=200,
      cells=500_000)  # fmt: skip
enter("MeanShift", CLUSTER, PEER_CLUSTER,
      lambda data: {"bandwidth": 2 * typical_distance(data), "bin_seeding": True},
      quality=clusters_found, tolerance=0.2, **rows_only, rows=3000, columns=20)  # fmt: skip

near = {"call": score_on_test, "accelerated": True, "columns": 2000, "cells": 3_000_000}
enter("KNeighborsClassifier", NEAR, PEER_NEAR, quality=agreement, tolerance=0.01, **near)
enter("KNeighborsRegressor", NEAR, PEER_NEAR, target="numbers", quality=agreement_of_numbers,
      tolerance=0.01, **near)  # fmt: skip
enter("NearestNeighbors", NEAR, PEER_NEAR, lambda data: {"n_neighbors": 10}, **rows_only,
      quality=table_of, call=lambda model, data: model.kneighbors(data.test_X)[0],
      accelerated=True, columns=2000, cells=3_000_000)  # fmt: skip
enter("RadiusNeighborsClassifier", NEAR, PEER_NEAR,
      lambda data: {"radius": typical_distance(data), "outlier_label": 0}, quality=agreement,
      tolerance=0.01, call=score_on_test, columns=100, cells=500_000)  # fmt: skip
enter("KNNImputer", NEAR, "sklearn.impute", **rows_only, quality=table_of, tolerance=0.05,
      higher_is_better=True, call=lambda model, data: model.transform(with_holes(data)),
      rows=3000, columns=100)  # fmt: skip


def with_holes(data: Data) -> np.ndarray:
    """The test rows without every tenth cell."""
    rows = np.array(data.test_X[:500], dtype=np.float64)
    rows.ravel()[::10] = np.nan
    return rows


for name, target, quality in (
    ("SVC", "classes", accuracy),
    ("SVC, linear kernel", "classes", accuracy),
    ("SVR", "numbers", r2),
):
    enter(name, MARGIN, PEER_MARGIN,
          lambda data, name=name: {"kernel": "linear" if "linear" in name else "rbf"},
          target=target, quality=quality, tolerance=0.02, accelerated=True, weighted=True,
          rows=4000, columns=1000, cells=400_000, groups=20)  # fmt: skip
enter("LinearSVC", MARGIN, PEER_MARGIN, quality=accuracy, tolerance=0.02, sparse=True,
      weighted=True, columns=2000, cells=1_000_000, groups=20)  # fmt: skip
enter("OneClassSVM", MARGIN, PEER_MARGIN, lambda data: {"nu": 0.1}, **rows_only,
      quality=lambda model, data: float(np.mean(model.predict(data.test_X) == 1)), tolerance=0.05,
      rows=5000, columns=500, cells=1_000_000)  # fmt: skip


def few_components(data: Data) -> dict:
    return {"n_components": min(10, *data.X.shape), "random_state": 0}


wide = {"quality": explained_share, "tolerance": 0.01, **rows_only}
enter("PCA", REDUCE, PEER_REDUCE, few_components, **wide, accelerated=True)
enter("PCA, half of the columns", REDUCE, PEER_REDUCE,
      lambda data: {"n_components": max(1, min(data.X.shape) // 2), "random_state": 0}, **wide,
      accelerated=True, columns=1000)  # fmt: skip
enter("TruncatedSVD", REDUCE, PEER_REDUCE, few_components, **wide, sparse=True, least_columns=20)
enter("FastICA", REDUCE, PEER_REDUCE,
      lambda data: {"n_components": min(5, data.X.shape[1]), "random_state": 0, "tol": 1e-3},
      quality=lambda model, data: float(model.n_iter_ <= 200), tolerance=0.5, **rows_only,
      columns=200, cells=1_000_000)  # fmt: skip
enter("KernelPCA", REDUCE, PEER_REDUCE,
      lambda data: {"n_components": 5, "kernel": "rbf", "random_state": 0},
      quality=lambda model, data: float(np.sum(model.eigenvalues_)), **rows_only, rows=3000,
      columns=1000, cells=1_000_000)  # fmt: skip


def stress_like(model: Any, data: Data) -> float:
    """How much of the ten nearest neighbours a map of at most 1,000 rows keeps."""
    from sklearn.manifold import trustworthiness

    kept = np.linspace(0, data.X.shape[0] - 1, min(1000, data.X.shape[0])).astype(int)
    return float(trustworthiness(data.X[kept], np.asarray(model.embedding_)[kept], n_neighbors=10))


def by_opentsne(data: Data) -> Any:
    import openTSNE

    found = type("Found", (), {})()
    found.embedding_ = openTSNE.TSNE(n_iter=250, random_state=0, n_jobs=JOBS).fit(data.X)
    return found


enter("TSNE", REDUCE, "sklearn.manifold", lambda data: {"max_iter": 500, "random_state": 0},
      quality=stress_like, tolerance=0.03, **rows_only,
      others={"openTSNE": ("openTSNE", by_opentsne)}, rows=5000, columns=500)  # fmt: skip
for cls in ("Isomap", "LocallyLinearEmbedding", "SpectralEmbedding"):
    enter(cls, REDUCE, "sklearn.manifold", lambda data: {"n_neighbors": 10}, quality=stress_like,
          tolerance=0.05, **rows_only, rows=2000, columns=200)  # fmt: skip

for covariance in ("full", "diag"):
    enter(f"GaussianMixture, {covariance}", "gnomon.density", "sklearn.mixture",
          lambda data, covariance=covariance: {"n_components": data.groups, "random_state": 0,
                                               "covariance_type": covariance, "max_iter": 30},
          quality=mean_log_density, tolerance=0.05, **rows_only, groups=20,
          columns=50 if covariance == "full" else 200, cells=1_000_000)  # fmt: skip
enter("KernelDensity", "gnomon.density", PEER_NEAR,
      lambda data: {"bandwidth": typical_distance(data)}, **rows_only,
      quality=lambda given, data: float(np.mean(given)),
      call=lambda model, data: model.score_samples(data.test_X[:500]), rows=50_000, columns=50,
      cells=500_000)  # fmt: skip

for cls in ("GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
    module = "sklearn.naive_bayes" if cls == "GaussianNB" else "sklearn.discriminant_analysis"
    enter(cls, "gnomon.bayes", module, quality=accuracy, tolerance=0.02, columns=300,
          cells=2_000_000, groups=20)  # fmt: skip
for cls in ("StandardScaler", "QuantileTransformer", "RobustScaler"):
    enter(cls, PREPARE, PEER_PREPARE, **rows_only, quality=table_of, tolerance=0.05,
          call=lambda model, data: model.transform(data.X), columns=1000,
          cells=3_000_000)  # fmt: skip
for cls in ("AdaBoostClassifier", "BaggingClassifier"):
    enter(cls, "gnomon.ensemble", PEER_TREES, lambda data: {"n_estimators": 10, **seeded},
          quality=accuracy, tolerance=0.05, columns=200, cells=200_000, groups=10)  # fmt: skip
