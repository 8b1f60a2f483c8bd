"""Components, correlations and maps against scikit-learn's."""

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.cross_decomposition import CCA as PeerCCA
from sklearn.decomposition import PCA as Peer
from sklearn.manifold import MDS
from sklearn.manifold import TSNE as PeerTSNE
from sklearn.manifold import Isomap as PeerIsomap

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.reduce import PCA, TSNE, CanonicalCorrelation, Isomap, stress_map


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


def two_sides(n):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n, 10))
    X = np.hstack([common, np.zeros((n, 20))]) @ rng.normal(size=(30, 30))
    Y = np.hstack([common, np.zeros((n, 20))]) @ rng.normal(size=(30, 30))
    return X + rng.normal(size=X.shape), Y + rng.normal(size=Y.shape)


def first_correlation(model, data) -> float:
    X, Y = data
    if isinstance(model, CanonicalCorrelation):
        u, v = model.transform(X), model.transform_y(Y)
    else:
        u, v = model.transform(X, Y)
    return float(abs(np.corrcoef(u[:, 0], v[:, 0])[0, 1]))


Duel(
    name="Canonical correlations, 30 and 30 columns, 10 pairs",
    peer="scikit-learn CCA",
    data=two_sides,
    ours=lambda data: CanonicalCorrelation(10).fit(*data),
    theirs=lambda data: PeerCCA(10, max_iter=5000).fit(*data),
    quality=first_correlation,
    tolerance=1e-4,
    sizes=(20_000,),
    bar=50.0,
)


def distances(n):
    return squareform(pdist(clouds(n, 10, 5)))


def stress_of(places, table) -> float:
    return float(((pdist(places) - squareform(table, checks=False)) ** 2).sum())


Duel(
    name="Metric scaling of a table of distances",
    peer="scikit-learn MDS",
    data=distances,
    ours=lambda table: stress_map(table, tol=1e-7).places,
    theirs=lambda table: MDS(2, metric="precomputed", n_init=1, init="classical_mds").fit_transform(
        table
    ),
    quality=stress_of,
    tolerance=0.01,
    higher_is_better=False,
    sizes=(2000,),
    bar=3.0,
    repeats=3,
)

Duel(
    name="t-SNE, 50 columns",
    peer="scikit-learn TSNE",
    data=narrow,
    ours=lambda rows: TSNE(random_state=0).fit(rows),
    theirs=lambda rows: PeerTSNE(init="pca", random_state=0, n_jobs=-1).fit(rows),
    quality=lambda model, rows: float(model.kl_divergence_),
    tolerance=0.02,
    higher_is_better=False,
    sizes=(15_000,),
    bar=2.0,
    repeats=1,
)

Duel(
    name="Isomap, 10 columns, 10 neighbours",
    peer="scikit-learn Isomap",
    data=lambda n: clouds(n, 10, 1),
    ours=lambda rows: Isomap(2, n_neighbors=10).fit(rows).embedding_,
    theirs=lambda rows: PeerIsomap(n_neighbors=10, n_jobs=-1).fit(rows).embedding_,
    quality=lambda places, rows: float(places.var(axis=0).sum()),
    tolerance=1e-3,
    sizes=(3000,),
    bar=1.5,
    repeats=3,
)
