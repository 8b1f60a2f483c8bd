"""Clusterers against their peers: k-means (from the same first centres), DBSCAN, trees, maps."""

import importlib.util
from functools import partial

import numpy as np
from sklearn.cluster import DBSCAN as PeerDBSCAN
from sklearn.cluster import HDBSCAN as PeerHDBSCAN
from sklearn.cluster import KMeans as Peer
from sklearn.cluster import MeanShift as PeerMeanShift
from sklearn.cluster import MiniBatchKMeans as PeerMiniBatch
from sklearn.metrics import silhouette_score

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    MeanShift,
    MiniBatchKMeans,
    SelfOrganizingMap,
    linkage_tree,
    silhouette,
)


def few(n):
    return clouds(n, 20, 10)


def many(n):
    return clouds(n, 20, 100)


def run(cls, k, rows):
    return cls(k, init=rows[:k].copy(), n_init=1, max_iter=50, tol=0).fit(rows)


def very_many(n):
    return clouds(n, 20, 1000)


def absent(package):
    return "" if importlib.util.find_spec(package) else f"{package} is not installed"


def by_sklearnex(k, rows):
    from sklearnex.cluster import KMeans as Accelerated

    return run(Accelerated, k, rows)


for make, k in ((few, 10), (many, 100), (very_many, 1000)):
    shared = {
        "data": make,
        "ours": partial(run, KMeans, k),
        "quality": lambda model, rows: float(model.inertia_),
        "higher_is_better": False,
        "tolerance": 1e-3,
        "repeats": 3,
        "bar": 1.5,
        "sizes": (10**4, 10**5, 10**6) if k < 1000 else (10**4, 10**5),
    }
    Duel(
        name=f"k-means, 20 columns, k = {k}, 50 passes at most",
        peer="scikit-learn KMeans",
        theirs=partial(run, Peer, k),
        **shared,
    )
    Duel(
        name=f"k-means, 20 columns, k = {k}, 50 passes at most, accelerated peer",
        peer="scikit-learn-intelex KMeans",
        theirs=partial(by_sklearnex, k),
        missing=partial(absent, "sklearnex"),
        **shared,
    )

Duel(
    name="k-means with its own start (k-means++, one start), 20 columns, k = 10",
    peer="scikit-learn KMeans",
    data=few,
    ours=lambda rows: KMeans(10, n_init=1, random_state=0).fit(rows),
    theirs=lambda rows: Peer(10, n_init=1, random_state=0).fit(rows),
    quality=lambda model, rows: float(model.inertia_),
    higher_is_better=False,
    tolerance=0.25,
)


def by_fastcluster(rows, linkage):
    import fastcluster

    return fastcluster.linkage_vector(rows, linkage)


def our_map(rows):
    model = SelfOrganizingMap(20, 20, grid="square", max_iter=10, sigma_end=1.0, sigma_start=3.0)
    return model.fit(rows).prototypes_


def by_minisom(rows):
    from minisom import MiniSom

    peer = MiniSom(20, 20, rows.shape[1], sigma=3.0, learning_rate=0.5, random_seed=0)
    peer.train_batch(rows, 10 * len(rows))
    return peer.get_weights().reshape(400, -1)


def found_clusters(model, rows):
    return float(len(set(model.labels_.tolist())))


# A hundredfold range: the time of ours must stay within three times its least.
for eps in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0):
    Duel(
        name=f"DBSCAN, 3 columns, eps = {eps:g}",
        peer="scikit-learn DBSCAN",
        data=lambda n: clouds(n, 3, 20),
        ours=lambda rows, eps=eps: DBSCAN(eps, min_samples=10).fit(rows),
        theirs=lambda rows, eps=eps: PeerDBSCAN(eps=eps, min_samples=10).fit(rows),
        quality=found_clusters,
        sizes=(10**4, 2 * 10**5) if eps < 1 else (10**4,),
        bar=3.0,
        repeats=3,
    )

for eps in (0.1, 0.2, 0.5):
    Duel(
        name=f"DBSCAN, 3 columns, eps = {eps:g}, against its own time at eps = 2",
        peer="gnomon DBSCAN at eps = 2",
        data=lambda n: clouds(n, 3, 20),
        ours=lambda rows, eps=eps: DBSCAN(eps, min_samples=10).fit(rows),
        theirs=lambda rows: DBSCAN(2.0, min_samples=10).fit(rows),
        quality=lambda model, rows: 1.0,
        sizes=(2 * 10**5,),
        bar=1 / 3,
        repeats=3,
    )

Duel(
    name="DBSCAN, 2 columns, eps = 0.05",
    peer="scikit-learn DBSCAN",
    data=lambda n: clouds(n, 2, 20),
    ours=lambda rows: DBSCAN(0.05, min_samples=10).fit(rows),
    theirs=lambda rows: PeerDBSCAN(eps=0.05, min_samples=10).fit(rows),
    quality=found_clusters,
    sizes=(10**6,),
    bar=3.0,
    repeats=2,
)

Duel(
    name="HDBSCAN, 3 columns, clusters of 50 rows at least",
    peer="scikit-learn HDBSCAN",
    data=lambda n: clouds(n, 3, 10),
    ours=lambda rows: HDBSCAN(50).fit(rows),
    theirs=lambda rows: PeerHDBSCAN(min_cluster_size=50, copy=True).fit(rows),
    quality=found_clusters,
    tolerance=0.2,
    sizes=(10**4, 3 * 10**4),
    repeats=3,
)

Duel(
    name="mean shift from binned seeds, 2 columns, bandwidth 1",
    peer="scikit-learn MeanShift",
    data=lambda n: clouds(n, 2, 10),
    ours=lambda rows: MeanShift(bandwidth=1.0, bin_seeding=True).fit(rows),
    theirs=lambda rows: PeerMeanShift(bandwidth=1.0, bin_seeding=True).fit(rows),
    quality=found_clusters,
    tolerance=0.2,
    sizes=(10**4, 10**5),
    repeats=2,
)

Duel(
    name="k-means by batches of 1,024, 20 columns, k = 10",
    peer="scikit-learn MiniBatchKMeans",
    data=few,
    ours=lambda rows: MiniBatchKMeans(10, random_state=0).fit(rows),
    theirs=lambda rows: PeerMiniBatch(10, batch_size=1024, n_init=1, random_state=0).fit(rows),
    quality=lambda model, rows: float(model.inertia_),
    higher_is_better=False,
    tolerance=0.25,
    repeats=3,
)

for linkage in ("ward", "single"):
    Duel(
        name=f"{linkage} linkage, 10 columns",
        peer="fastcluster linkage_vector",
        data=lambda n: clouds(n, 10, 10),
        ours=lambda rows, linkage=linkage: linkage_tree(rows, linkage).merges,
        theirs=lambda rows, linkage=linkage: by_fastcluster(rows, linkage),
        quality=lambda merges, rows: float(merges[:, 2].sum()),
        tolerance=1e-6,
        sizes=(10**4, 5 * 10**4),
        repeats=2,
        missing=partial(absent, "fastcluster"),
    )


def by_genieclust(rows):
    from genieclust import Genie

    return Genie(n_clusters=10, gini_threshold=1.0).fit(rows)


Duel(
    name="single linkage, 10 columns, cut in ten",
    peer="genieclust Genie(gini_threshold=1)",
    data=lambda n: clouds(n, 10, 10),
    ours=lambda rows: AgglomerativeClustering(10, linkage="single").fit(rows),
    theirs=by_genieclust,
    quality=found_clusters,
    sizes=(10**4, 5 * 10**4),
    repeats=2,
    missing=partial(absent, "genieclust"),
)

Duel(
    name="silhouette, 10 columns, 5 clusters",
    peer="scikit-learn silhouette_score",
    data=lambda n: clouds(n, 10, 5),
    ours=lambda rows: silhouette(rows, np.arange(len(rows)) % 5).total,
    theirs=lambda rows: silhouette_score(rows, np.arange(len(rows)) % 5),
    quality=lambda total, rows: float(total),
    tolerance=1e-6,
    sizes=(10**4, 10**5),
    repeats=2,
)

Duel(
    name="self-organising map of 20 x 20 cells, 10 columns, 10 passes",
    peer="MiniSom train_batch",
    data=lambda n: clouds(n, 10, 10),
    ours=our_map,
    theirs=by_minisom,
    quality=lambda prototypes, rows: float(
        np.sqrt(((rows[:500, None] - prototypes) ** 2).sum(axis=2)).min(axis=1).mean()
    ),
    higher_is_better=False,
    tolerance=0.05,
    sizes=(10**4, 10**5),
    bar=10.0,
    repeats=2,
    missing=partial(absent, "minisom"),
)
