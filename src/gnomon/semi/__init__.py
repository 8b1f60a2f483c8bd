"""Few labels: learning from labeled and unlabeled rows, from links, from questions to a person."""

from gnomon.semi.geodesic import GeodesicNeighborsClassifier
from gnomon.semi.graph_cut import GraphCutClassifier
from gnomon.semi.harmonic import HarmonicLabelPropagation, Relaxation, relax_laplace
from gnomon.semi.label_propagation import LabelPropagation, LabelSpreading
from gnomon.semi.poisson import PoissonLearning

__all__ = [
    "GeodesicNeighborsClassifier",
    "GraphCutClassifier",
    "HarmonicLabelPropagation",
    "LabelPropagation",
    "LabelSpreading",
    "PoissonLearning",
    "Relaxation",
    "relax_laplace",
]
