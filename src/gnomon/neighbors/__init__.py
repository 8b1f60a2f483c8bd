"""Nearest neighbours: distances, searches, and what is learnt from the rows nearby."""

from gnomon.neighbors.ball_tree import BallTree, bounding_ball, break_even_rows
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
    PearsonDistance,
    PrecomputedDistance,
    QuadraticFormDistance,
    distance_of,
    hamming,
)
from gnomon.neighbors.index import NeighbourIndex, Neighbours
from gnomon.neighbors.regress import KNeighborsRegressor
from gnomon.neighbors.search import NearestNeighbors

__all__ = [
    "AdjustedCosineDistance",
    "BallTree",
    "ChiSquareDistance",
    "CosineDistance",
    "CosineRatioDistance",
    "Distance",
    "FunctionDistance",
    "GreatCircleDistance",
    "HammingDistance",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "MahalanobisDistance",
    "MinkowskiDistance",
    "NearestNeighbors",
    "NeighbourIndex",
    "Neighbours",
    "PearsonDistance",
    "PrecomputedDistance",
    "QuadraticFormDistance",
    "bounding_ball",
    "break_even_rows",
    "distance_of",
    "hamming",
]
