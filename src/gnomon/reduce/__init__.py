"""Fewer columns: maps of rows to few coordinates that keep what matters."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.reduce.canonical import (
    CanonicalCorrelation,
    CanonicalTest,
    DirectionDiagnostics,
    Retrieval,
    RetrievalScores,
    cca_permutation_test,
    direction_diagnostics,
    retrieve,
    score_retrieval,
    wilks_lambda,
)
from gnomon.reduce.classes import (
    ClassFeatures,
    ClassSimilarity,
    CurveBasis,
    class_features,
    class_similarity,
    curve_basis,
)
from gnomon.reduce.completion import (
    Completion,
    MatrixFactors,
    NonlinearFactors,
    complete_low_rank,
    matrix_factorization,
    nonlinear_factorization,
)
from gnomon.reduce.components import ComponentChoice, choose_components
from gnomon.reduce.factor_analysis import FactorAnalysis
from gnomon.reduce.fast_ica import FastICA
from gnomon.reduce.fisher import FisherDiscriminant, fisher_direction
from gnomon.reduce.gaussian_projection import GaussianRandomProjection, SparseRandomProjection
from gnomon.reduce.ica import ICA
from gnomon.reduce.isomap import Isomap
from gnomon.reduce.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
)
from gnomon.reduce.kernel_pca import KernelPCA
from gnomon.reduce.keywords import BlockKeywords, block_keywords
from gnomon.reduce.layout import (
    Graph,
    LayoutEnergies,
    Motion,
    SpectralLayout,
    activity_network,
    ego_network,
    force_directed_layout,
    graph,
    lattice,
    layout_energies,
    spectral_layout,
    stress_layout,
    tuned_layout,
)
from gnomon.reduce.least_squares_pairs import CCA, PLSCanonical, PLSRegression
from gnomon.reduce.lle import LocallyLinearEmbedding
from gnomon.reduce.low_rank import (
    Compression,
    SingularValues,
    SmoothingErrors,
    compress,
    low_rank,
    pca_smooth,
    smoothing_errors,
    svd,
    svd_smooth,
)
from gnomon.reduce.mds import (
    Alignment,
    DistanceMap,
    RawStress,
    complete_by_paths,
    ordinal_map,
    principal_coordinates,
    procrustes,
    raw_stress,
    sammon,
    stress_map,
)
from gnomon.reduce.nipals import NIPALS, FirstComponents, first_principal_components
from gnomon.reduce.nmf import NMF
from gnomon.reduce.pair_projection import (
    NormalizedPCA,
    Projection,
    SupervisedPCA,
    graph_laplacian,
    linear_projection,
    pair_projection,
    relation_weights,
)
from gnomon.reduce.pca import PCA
from gnomon.reduce.random_projection import (
    Distortion,
    ProjectedLearning,
    RandomProjection,
    distortion,
    projected_learning,
)
from gnomon.reduce.robust_pca import RobustPCA
from gnomon.reduce.spectral import SpectralEmbedding
from gnomon.reduce.truncated_svd import IncrementalPCA, TruncatedSVD
from gnomon.reduce.tsne import TSNE
from gnomon.reduce.umap import UMAP

__all__ = [
    "CCA",
    "ICA",
    "NIPALS",
    "NMF",
    "PCA",
    "TSNE",
    "UMAP",
    "AdditiveChi2Sampler",
    "Alignment",
    "BlockKeywords",
    "CanonicalCorrelation",
    "CanonicalTest",
    "ClassFeatures",
    "ClassSimilarity",
    "Completion",
    "ComponentChoice",
    "Compression",
    "CurveBasis",
    "DirectionDiagnostics",
    "DistanceMap",
    "Distortion",
    "FactorAnalysis",
    "FastICA",
    "FirstComponents",
    "FisherDiscriminant",
    "GaussianRandomProjection",
    "Graph",
    "IncrementalPCA",
    "Isomap",
    "KernelPCA",
    "LayoutEnergies",
    "LocallyLinearEmbedding",
    "MatrixFactors",
    "Motion",
    "NonlinearFactors",
    "NormalizedPCA",
    "Nystroem",
    "PLSCanonical",
    "PLSRegression",
    "PolynomialCountSketch",
    "ProjectedLearning",
    "Projection",
    "RBFSampler",
    "RandomProjection",
    "RawStress",
    "Retrieval",
    "RetrievalScores",
    "RobustPCA",
    "SingularValues",
    "SmoothingErrors",
    "SparseRandomProjection",
    "SpectralEmbedding",
    "SpectralLayout",
    "SupervisedPCA",
    "TruncatedSVD",
    "activity_network",
    "block_keywords",
    "cca_permutation_test",
    "choose_components",
    "class_features",
    "class_similarity",
    "complete_by_paths",
    "complete_low_rank",
    "compress",
    "curve_basis",
    "direction_diagnostics",
    "distortion",
    "ego_network",
    "first_principal_components",
    "fisher_direction",
    "force_directed_layout",
    "graph",
    "graph_laplacian",
    "lattice",
    "layout_energies",
    "linear_projection",
    "low_rank",
    "matrix_factorization",
    "nonlinear_factorization",
    "ordinal_map",
    "pair_projection",
    "pca_smooth",
    "principal_coordinates",
    "procrustes",
    "projected_learning",
    "raw_stress",
    "relation_weights",
    "retrieve",
    "sammon",
    "score_retrieval",
    "smoothing_errors",
    "spectral_layout",
    "stress_layout",
    "stress_map",
    "svd",
    "svd_smooth",
    "tuned_layout",
    "wilks_lambda",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "NormalisedPCA": "NormalizedPCA",
        "matrix_factorisation": "matrix_factorization",
        "nonlinear_factorisation": "nonlinear_factorization",
    },
)
