"""Nearest neighbours against scikit-learn's searches, SciPy's and PyNNDescent's."""

from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from sklearn.impute import KNNImputer as PeerImputer
from sklearn.neighbors import KNeighborsClassifier as PeerClassifier
from sklearn.neighbors import NearestNeighbors as Peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED, clouds
from gnomon.neighbors import (
    ApproximateNeighbors,
    KNeighborsClassifier,
    NearestNeighbors,
    NeighborImputer,
)

K = 5


class Search(NamedTuple):
    rows: np.ndarray
    queries: np.ndarray


def search(n, d):
    """n rows and a quarter as many queries, of one Gaussian."""
    rng = np.random.default_rng(SEED)
    return Search(rng.normal(size=(n, d)), rng.normal(size=(n // 4, d)))


def flat(n):
    return search(n, 3)


def middling(n):
    return search(n, 20)


def deep(n):
    return search(n, 50)


def grouped(n):
    """n rows and a quarter as many queries, in a hundred clouds."""
    rows = clouds(n + n // 4, 50, 100)
    return Search(rows[:n], rows[n:])


def ours(algorithm, data):
    model = NearestNeighbors(n_neighbors=K, algorithm=algorithm).fit(data.rows)
    return model.kneighbors(data.queries).distances


def theirs(algorithm, data):
    model = Peer(n_neighbors=K, algorithm=algorithm, n_jobs=-1).fit(data.rows)
    return model.kneighbors(data.queries)[0]


def scipys(data):
    return cKDTree(data.rows).query(data.queries, K, workers=-1)[0]


def total_distance(distances, data):
    return float(distances.sum())


for d, algorithm, peer, bar in (
    (50, "brute", "brute", 1.5),
    (3, "kd_tree", "kd_tree", 1.0),
    (3, "kd_tree", "ball_tree", 1.0),
):
    Duel(
        name=f"{K} nearest rows, {d} columns, a quarter as many queries as rows",
        peer=f"scikit-learn NearestNeighbors ({peer})",
        data=deep if d == 50 else flat,
        ours=partial(ours, algorithm),
        theirs=partial(theirs, peer),
        quality=total_distance,
        higher_is_better=False,
        sizes=(20_000, 80_000) if d > 10 else (20_000, 80_000, 10**6),
        bar=bar,
        repeats=3,
    )

Duel(
    name=f"{K} nearest rows, 3 columns, a quarter as many queries as rows",
    peer="SciPy cKDTree",
    data=flat,
    ours=partial(ours, "kd_tree"),
    theirs=scipys,
    quality=total_distance,
    higher_is_better=False,
    sizes=(20_000, 80_000, 10**6),
    repeats=3,
)


def recall(found, data):
    """Share of the true neighbours among those found, for 1000 queries."""
    exact = NearestNeighbors(n_neighbors=10).fit(data.rows).kneighbors(data.queries[:1000]).indices
    return float((found[:1000, :, None] == exact[:, None, :]).any(axis=2).mean())


def approximate(data):
    model = ApproximateNeighbors(10, recall=0.95, random_state=0).fit(data.rows)
    return model.kneighbors(data.queries).indices


# The cheapest of PyNNDescent's settings that reach the recall on these data: n_neighbors, epsilon.
REACHING = {
    ("one Gaussian", 20_000): (30, 0.35),
    ("one Gaussian", 80_000): (30, 0.4),
    ("100 clouds", 20_000): (20, 0.15),
    ("100 clouds", 80_000): (20, 0.2),
}


def descent(name, data):
    from pynndescent import NNDescent

    n_neighbors, epsilon = REACHING.get((name, len(data.rows)), (20, 0.1))
    index = NNDescent(data.rows, n_neighbors=n_neighbors, random_state=0, n_jobs=-1)
    return index.query(data.queries, k=10, epsilon=epsilon)[0]


def missing_descent() -> str:
    return "" if find_spec("pynndescent") else "pynndescent is not installed"


for name, make in (("one Gaussian", deep), ("100 clouds", grouped)):
    Duel(
        name=f"10 nearly nearest rows at recall 0.95, 50 columns, {name}",
        peer="pynndescent NNDescent",
        data=make,
        ours=approximate,
        theirs=partial(descent, name),
        quality=recall,
        tolerance=0.01,
        sizes=(20_000, 80_000),
        repeats=3,
        missing=missing_descent,
    )


def classify(cls, data, **more):
    classes = (data.rows[:, 0] > 0).astype(int) + (data.rows[:, 1] > 0)
    model = cls(K, metric="euclidean", **more).fit(data.rows, classes)
    wanted = (data.queries[:, 0] > 0).astype(int) + (data.queries[:, 1] > 0)
    return float((model.predict(data.queries) == wanted).mean())


Duel(
    name=f"classes by {K} neighbours, 20 columns, a quarter as many queries as rows",
    peer="scikit-learn KNeighborsClassifier",
    data=middling,
    ours=partial(classify, KNeighborsClassifier),
    theirs=partial(classify, PeerClassifier, n_jobs=-1),
    quality=lambda accuracy, data: accuracy,
    tolerance=1e-3,
    sizes=(20_000, 80_000),
    repeats=3,
)


def holed(n):
    """Correlated columns with a tenth of the cells missing; the whole table too."""
    rng = np.random.default_rng(SEED)
    whole = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 10)) + 0.3 * rng.normal(size=(n, 10))
    whole /= whole.std(axis=0)
    return np.where(rng.random(whole.shape) < 0.1, np.nan, whole), whole


def closeness(filled, data):
    rows, whole = data
    return float(np.sqrt(((filled - whole)[np.isnan(rows)] ** 2).mean()))


Duel(
    name=f"holes filled from {K} neighbours, 10 columns, a tenth of the cells missing",
    peer="scikit-learn KNNImputer",
    data=holed,
    ours=lambda data: NeighborImputer(K).fit_transform(data[0]),
    theirs=lambda data: PeerImputer(n_neighbors=K).fit_transform(data[0]),
    quality=closeness,
    higher_is_better=False,
    tolerance=0.1,
    sizes=(2000, 10_000),
    repeats=3,
)
