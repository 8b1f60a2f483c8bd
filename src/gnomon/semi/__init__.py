"""Few labels: learning from labeled and unlabeled rows, from links, from questions to a person."""

from gnomon.semi.cluster_then_label import ClusterThenLabelClassifier
from gnomon.semi.geodesic import GeodesicNeighborsClassifier
from gnomon.semi.graph_cut import GraphCutClassifier
from gnomon.semi.harmonic import HarmonicLabelPropagation, Relaxation, relax_laplace
from gnomon.semi.hints import HintRegressor
from gnomon.semi.label_propagation import LabelPropagation, LabelSpreading
from gnomon.semi.poisson import PoissonLearning
from gnomon.semi.representation import RepresentationClassifier
from gnomon.semi.self_training import SelfTrainingClassifier
from gnomon.semi.transductive_net import TransductiveNetClassifier
from gnomon.semi.transductive_svm import TransductiveSVC

__all__ = [
    "ClusterThenLabelClassifier",
    "GeodesicNeighborsClassifier",
    "GraphCutClassifier",
    "HarmonicLabelPropagation",
    "HintRegressor",
    "LabelPropagation",
    "LabelSpreading",
    "PoissonLearning",
    "Relaxation",
    "RepresentationClassifier",
    "SelfTrainingClassifier",
    "TransductiveNetClassifier",
    "TransductiveSVC",
    "relax_laplace",
]
