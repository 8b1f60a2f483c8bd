"""Few labels: learning from labeled and unlabeled rows, from links, from questions to a person."""

from gnomon.cluster.constrained import contradictions
from gnomon.semi.active import LabelCurve, label_curve, query
from gnomon.semi.assumptions import AssumptionChecks, check_assumptions
from gnomon.semi.cluster_then_label import ClusterThenLabelClassifier
from gnomon.semi.geodesic import GeodesicNeighborsClassifier
from gnomon.semi.graph_cut import GraphCutClassifier
from gnomon.semi.harmonic import HarmonicLabelPropagation, Relaxation, relax_laplace
from gnomon.semi.hints import HintRegressor
from gnomon.semi.label_propagation import LabelPropagation, LabelSpreading
from gnomon.semi.link_metric import LinkMetric, links_from_labels
from gnomon.semi.poisson import PoissonLearning
from gnomon.semi.protocols import (
    FeedbackScorer,
    Graded,
    LinearBandit,
    Prequential,
    play,
    prequential,
)
from gnomon.semi.representation import RepresentationClassifier
from gnomon.semi.self_training import SelfTrainingClassifier
from gnomon.semi.transductive_net import TransductiveNetClassifier
from gnomon.semi.transductive_svm import TransductiveSVC

__all__ = [
    "AssumptionChecks",
    "ClusterThenLabelClassifier",
    "FeedbackScorer",
    "GeodesicNeighborsClassifier",
    "Graded",
    "GraphCutClassifier",
    "HarmonicLabelPropagation",
    "HintRegressor",
    "LabelCurve",
    "LabelPropagation",
    "LabelSpreading",
    "LinearBandit",
    "LinkMetric",
    "PoissonLearning",
    "Prequential",
    "Relaxation",
    "RepresentationClassifier",
    "SelfTrainingClassifier",
    "TransductiveNetClassifier",
    "TransductiveSVC",
    "check_assumptions",
    "contradictions",
    "label_curve",
    "links_from_labels",
    "play",
    "prequential",
    "query",
    "relax_laplace",
]
