"""PCA against scikit-learn's."""

from sklearn.decomposition import PCA as Peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.reduce import PCA


def narrow(n):
    return clouds(n, 50, 10)


def wide(n):
    return clouds(n, 784, 10)


def kept_variance(model, rows) -> float:
    return float(model.explained_variance_.sum())


Duel(
    name="PCA, 50 columns, 10 components",
    peer="scikit-learn PCA",
    data=narrow,
    ours=lambda rows: PCA(10).fit(rows),
    theirs=lambda rows: Peer(10).fit(rows),
    quality=kept_variance,
)

Duel(
    name="PCA, 784 columns, 50 components",
    peer="scikit-learn PCA",
    data=wide,
    ours=lambda rows: PCA(50, random_state=0).fit(rows),
    theirs=lambda rows: Peer(50, random_state=0).fit(rows),
    quality=kept_variance,
    tolerance=1e-3,
    sizes=(2_000, 20_000, 100_000),
)
