"""k-means against scikit-learn's, from the same first centres."""

from functools import partial

from sklearn.cluster import KMeans as Peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.cluster import KMeans


def few(n):
    return clouds(n, 20, 10)


def many(n):
    return clouds(n, 20, 100)


def run(cls, k, rows):
    return cls(k, init=rows[:k].copy(), n_init=1, max_iter=50, tol=0).fit(rows)


for make, k in ((few, 10), (many, 100)):
    Duel(
        name=f"k-means, 20 columns, k = {k}, 50 passes at most",
        peer="scikit-learn KMeans",
        data=make,
        ours=partial(run, KMeans, k),
        theirs=partial(run, Peer, k),
        quality=lambda model, rows: float(model.inertia_),
        higher_is_better=False,
        tolerance=1e-3,
        repeats=3,
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
