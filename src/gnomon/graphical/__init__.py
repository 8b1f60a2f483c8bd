"""Graphical: belief networks and Markov random fields, exact and approximate inference."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.graphical.belief_network import BeliefNetwork, NetworkAnswer
from gnomon.graphical.bif import format_bif, parse_bif, read_bif, write_bif
from gnomon.graphical.boltzmann import BoltzmannMachine
from gnomon.graphical.dag import ancestors, d_separated, markov_blanket, topological_order
from gnomon.graphical.elimination import EliminationPlan
from gnomon.graphical.forest import (
    Labeling,
    chain_min_cost,
    forest_min_cost,
    forest_sum_product,
)
from gnomon.graphical.gaussian_network import GaussianNetwork, NormalLaw
from gnomon.graphical.images import (
    MixtureSegments,
    PixelLabels,
    denoise_binary,
    denoise_gray,
    label_pixels,
    local_features,
    segment_mixture,
)
from gnomon.graphical.joint import IndependenceCheck, JointTable
from gnomon.graphical.mean_field import MeanField, free_energy, mean_field
from gnomon.graphical.modes import (
    brute_force,
    graph_cut,
    integer_program,
    iterated_modes,
    linear_relaxation,
    max_cut_model,
    quadratic_form,
)
from gnomon.graphical.network_classifier import BeliefNetworkClassifier
from gnomon.graphical.node_table import parameter_node, plate, row_index
from gnomon.graphical.pairwise import (
    PairwiseMarginals,
    PairwiseModel,
    grid_edges,
    potts_costs,
    potts_model,
)
from gnomon.graphical.total_variation import denoise_shaded
from gnomon.graphical.variational import (
    DiagonalGaussian,
    FullGaussian,
    VariationalFit,
    variational_free_energy,
    variational_inference,
)

__all__ = [
    "BeliefNetwork",
    "BeliefNetworkClassifier",
    "BoltzmannMachine",
    "DiagonalGaussian",
    "EliminationPlan",
    "FullGaussian",
    "GaussianNetwork",
    "IndependenceCheck",
    "JointTable",
    "Labeling",
    "MeanField",
    "MixtureSegments",
    "NetworkAnswer",
    "NormalLaw",
    "PairwiseMarginals",
    "PairwiseModel",
    "PixelLabels",
    "VariationalFit",
    "ancestors",
    "brute_force",
    "chain_min_cost",
    "d_separated",
    "denoise_binary",
    "denoise_gray",
    "denoise_shaded",
    "forest_min_cost",
    "forest_sum_product",
    "format_bif",
    "free_energy",
    "graph_cut",
    "grid_edges",
    "integer_program",
    "iterated_modes",
    "label_pixels",
    "linear_relaxation",
    "local_features",
    "markov_blanket",
    "max_cut_model",
    "mean_field",
    "parameter_node",
    "parse_bif",
    "plate",
    "potts_costs",
    "potts_model",
    "quadratic_form",
    "read_bif",
    "row_index",
    "segment_mixture",
    "topological_order",
    "variational_free_energy",
    "variational_inference",
    "write_bif",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "Labelling": "Labeling",
        "denoise_grey": "denoise_gray",
        "integer_programme": "integer_program",
    },
)
