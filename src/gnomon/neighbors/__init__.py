"""Nearest neighbours: distances, searches, and what is learnt from the rows nearby."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.neighbors.approximate import (
    ApproximateNeighbors,
    TunedIndexes,
    approximate_neighbors,
)
from gnomon.neighbors.ball_tree import Ball, BallTree, bounding_ball, break_even_rows
from gnomon.neighbors.classify import KNeighborsClassifier
from gnomon.neighbors.distances import (
    AdjustedCosineDistance,
    ChiSquareDistance,
    CosineDistance,
    CosineRatioDistance,
    Distance,
    FunctionDistance,
    GreatCircleDistance,
    HammingDistance,
    MahalanobisDistance,
    MinkowskiDistance,
    NamedDistance,
    PearsonDistance,
    PrecomputedDistance,
    QuadraticFormDistance,
    distance_of,
    hamming,
)
from gnomon.neighbors.impute import NeighborImputer
from gnomon.neighbors.index import NeighborIndex, Neighbors
from gnomon.neighbors.knn_imputer import KNNImputer
from gnomon.neighbors.labels import NeighborLabels
from gnomon.neighbors.local_learner import LocalClassifier, LocalRegressor
from gnomon.neighbors.local_outlier_factor import LocalOutlierFactor
from gnomon.neighbors.nearest_centroid import NearestCentroid
from gnomon.neighbors.pairwise import (
    ClassDistances,
    checked_dissimilarities,
    class_distance_table,
    condensed_distances,
    distance_blocks,
    pairwise_distances,
    rowwise_distances,
    similarity_to_distance,
    table_of_pairs,
)
from gnomon.neighbors.radius import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from gnomon.neighbors.recommend import NeighborRecommender, Ratings
from gnomon.neighbors.reduce_stored import (
    Prototypes,
    PrunedSet,
    prototypes,
    prune_stored_set,
)
from gnomon.neighbors.regress import KNeighborsRegressor
from gnomon.neighbors.search import NearestNeighbors
from gnomon.neighbors.voronoi import VoronoiCells, voronoi_cells

__all__ = [
    "AdjustedCosineDistance",
    "ApproximateNeighbors",
    "Ball",
    "BallTree",
    "ChiSquareDistance",
    "ClassDistances",
    "CosineDistance",
    "CosineRatioDistance",
    "Distance",
    "FunctionDistance",
    "GreatCircleDistance",
    "HammingDistance",
    "KNNImputer",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LocalClassifier",
    "LocalOutlierFactor",
    "LocalRegressor",
    "MahalanobisDistance",
    "MinkowskiDistance",
    "NamedDistance",
    "NearestCentroid",
    "NearestNeighbors",
    "NeighborImputer",
    "NeighborIndex",
    "NeighborLabels",
    "NeighborRecommender",
    "Neighbors",
    "PearsonDistance",
    "PrecomputedDistance",
    "Prototypes",
    "PrunedSet",
    "QuadraticFormDistance",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "Ratings",
    "TunedIndexes",
    "VoronoiCells",
    "approximate_neighbors",
    "bounding_ball",
    "break_even_rows",
    "checked_dissimilarities",
    "class_distance_table",
    "condensed_distances",
    "distance_blocks",
    "distance_of",
    "hamming",
    "pairwise_distances",
    "prototypes",
    "prune_stored_set",
    "rowwise_distances",
    "similarity_to_distance",
    "table_of_pairs",
    "voronoi_cells",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "NeighbourIndex": "NeighborIndex",
        "Neighbours": "Neighbors",
    },
)
