"""Components, correlations and maps against scikit-learn's."""

from importlib.util import find_spec

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.cross_decomposition import CCA as PeerCCA
from sklearn.decomposition import PCA as Peer
from sklearn.decomposition import FastICA, IncrementalPCA
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.manifold import MDS
from sklearn.manifold import TSNE as PeerTSNE
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.manifold import LocallyLinearEmbedding as PeerLLE
from sklearn.manifold import SpectralEmbedding as PeerSpectral
from sklearn.random_projection import GaussianRandomProjection

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import clouds
from gnomon.reduce import (
    ICA,
    NIPALS,
    PCA,
    TSNE,
    CanonicalCorrelation,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    RandomProjection,
    SpectralEmbedding,
    sammon,
    stress_map,
)


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
    ours=lambda rows: Isomap(n_components=2, n_neighbors=10).fit(rows).embedding_,
    theirs=lambda rows: PeerIsomap(n_neighbors=10, n_jobs=-1).fit(rows).embedding_,
    quality=lambda places, rows: float(places.var(axis=0).sum()),
    tolerance=1e-3,
    sizes=(3000,),
    bar=1.5,
    repeats=3,
)


def in_batches(model, rows, size=500):
    for start in range(0, len(rows), size):
        model.partial_fit(rows[start : start + size])
    return model


Duel(
    name="PCA in batches of 500 rows, 50 columns, 10 components",
    peer="scikit-learn IncrementalPCA",
    data=narrow,
    ours=lambda rows: in_batches(PCA(10), rows),
    theirs=lambda rows: in_batches(IncrementalPCA(10), rows),
    quality=kept_variance,
    tolerance=1e-3,
    bar=2.0,
)


def by_fast_tsne(rows):
    from openTSNE import TSNE as Fast

    return Fast(initialization="pca", random_state=0, n_jobs=-1).fit(rows)


def divergence_of(model, rows) -> float:
    return float(model.kl_divergence_ if isinstance(model, TSNE) else model.kl_divergence)


Duel(
    name="t-SNE, 50 columns",
    peer="openTSNE TSNE",
    data=narrow,
    ours=lambda rows: TSNE(random_state=0).fit(rows),
    theirs=by_fast_tsne,
    quality=divergence_of,
    tolerance=0.02,
    higher_is_better=False,
    sizes=(15_000,),
    bar=1.0,
    repeats=1,
    missing=lambda: "" if find_spec("openTSNE") else "openTSNE is not installed",
)


def by_plain_stress(rows):
    """No peer in Python minimises Sammon's stress; the nearest is plain stress."""
    table = squareform(pdist(rows))
    return MDS(2, metric="precomputed", n_init=1, init="classical_mds").fit_transform(table)


def sammon_stress(places, rows) -> float:
    given, drawn = pdist(rows), pdist(places)
    return float(((given - drawn) ** 2 / given).sum() / given.sum())


Duel(
    name="Sammon's mapping, 10 columns (under 20 s)",
    peer="scikit-learn MDS (plain stress)",
    data=lambda n: clouds(n, 10, 5),
    ours=lambda rows: sammon(rows).places,
    theirs=by_plain_stress,
    quality=sammon_stress,
    tolerance=0.01,
    higher_is_better=False,
    sizes=(2000,),
    repeats=1,
)


def hidden_cells(n):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 20))
    return np.where(rng.random(rows.shape) < 0.3, np.nan, rows), rows


def filled_by_turns(rows):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(max_iter=10, random_state=0).fit_transform(rows)


Duel(
    name="NIPALS, a third of the cells missing, rank 3",
    peer="scikit-learn IterativeImputer",
    data=hidden_cells,
    ours=lambda data: NIPALS(3).fit(data[0]).fill(data[0]),
    theirs=lambda data: filled_by_turns(data[0]),
    quality=lambda filled, data: float(np.sqrt(((filled - data[1]) ** 2).mean())),
    tolerance=0.01,
    higher_is_better=False,
    sizes=(1000,),
    repeats=3,
)

Duel(
    name="Kernel PCA, 10 columns, 2 components",
    peer="scikit-learn KernelPCA",
    data=lambda n: clouds(n, 10, 3),
    ours=lambda rows: KernelPCA(2, kernel="rbf", gamma=0.02).fit(rows).explained_variance_,
    theirs=lambda rows: (
        PeerKernelPCA(2, kernel="rbf", gamma=0.02, eigen_solver="arpack").fit(rows).eigenvalues_
        / len(rows)
    ),
    quality=lambda variances, rows: float(variances.sum()),
    tolerance=1e-6,
    sizes=(2000,),
    repeats=3,
)


def signals(n):
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (n, 10)) @ rng.normal(size=(10, 10))


def non_normality(model, rows) -> float:
    sources = model.transform(rows)
    sources = sources / sources.std(axis=0)
    return float(np.abs((sources**4).mean(axis=0) - 3).sum())


Duel(
    name="Independent components, 10 columns",
    peer="scikit-learn FastICA",
    data=signals,
    ours=lambda rows: ICA(random_state=0, tol=1e-4).fit(rows),
    theirs=lambda rows: FastICA(whiten="unit-variance", random_state=0, tol=1e-4).fit(rows),
    quality=non_normality,
    tolerance=0.01,
    sizes=(10_000, 100_000),
)


def sheet(n):
    rng = np.random.default_rng(0)
    along, across = rng.uniform(2, 5, n), rng.uniform(0, 3, n)
    return np.column_stack([along * np.cos(2 * along), across, along * np.sin(2 * along)])


def kept_neighbors(places, rows) -> float:
    from sklearn.manifold import trustworthiness

    return float(trustworthiness(rows, places, n_neighbors=10))


Duel(
    name="Locally linear embedding of a rolled sheet, 12 neighbours",
    peer="scikit-learn LocallyLinearEmbedding",
    data=sheet,
    ours=lambda rows: LocallyLinearEmbedding(n_components=2, n_neighbors=12).fit(rows).embedding_,
    theirs=lambda rows: PeerLLE(n_neighbors=12, n_jobs=-1, random_state=0).fit(rows).embedding_,
    quality=kept_neighbors,
    tolerance=0.02,
    sizes=(2000,),
    repeats=3,
)

Duel(
    name="Spectral embedding, 10 columns, 10 neighbours",
    peer="scikit-learn SpectralEmbedding",
    data=lambda n: clouds(n, 10, 1),
    ours=lambda rows: SpectralEmbedding(2, n_neighbors=10).fit(rows).embedding_,
    theirs=lambda rows: (
        PeerSpectral(affinity="nearest_neighbors", n_neighbors=11, n_jobs=-1, random_state=0)
        .fit(rows)
        .embedding_
    ),
    quality=kept_neighbors,
    tolerance=0.02,
    sizes=(3000,),
    repeats=3,
)


def very_wide(n):
    return np.random.default_rng(0).normal(size=(n, 8192))


def largest_change(mapped, rows) -> float:
    return float(np.abs(pdist(mapped[:100]) ** 2 / pdist(rows[:100]) ** 2 - 1).max())


Duel(
    name="Random projection of 8192 columns to 1000, structured",
    peer="scikit-learn GaussianRandomProjection",
    data=very_wide,
    ours=lambda rows: RandomProjection(1000, kind="structured", random_state=0).fit_transform(rows),
    theirs=lambda rows: GaussianRandomProjection(1000, random_state=0).fit_transform(rows),
    quality=largest_change,
    tolerance=0.1,
    higher_is_better=False,
    sizes=(2000,),
    repeats=3,
)
