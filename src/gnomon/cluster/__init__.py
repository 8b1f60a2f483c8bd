"""Groups of rows."""

from gnomon.cluster.agglomerative import (
    AgglomerativeClustering,
    between_clusters,
    cophenetic_correlation,
    lance_williams,
    linkage,
    linkage_tree,
)
from gnomon.cluster.assignment import (
    assignment_matrix,
    cluster_shapes,
    hard_labels,
    harden,
    membership_probability,
)
from gnomon.cluster.bisecting import BisectingKMeans
from gnomon.cluster.choice import (
    ChoiceOfK,
    choose_by_application,
    choose_by_encoding,
    choose_by_gap,
    choose_by_information,
    choose_by_knee,
    choose_by_prediction_strength,
    choose_by_silhouette,
    choose_by_stability,
    likelihood_by_k,
    mismatch,
    weights_of_k,
)
from gnomon.cluster.constrained import ConstrainedKMeans, contradictions
from gnomon.cluster.dbscan import (
    DBSCAN,
    any_point_covered,
    approximate_range_count,
    bichromatic_closest_pair,
    dbscan_on_distances,
)
from gnomon.cluster.denclue import Denclue, density_attractor
from gnomon.cluster.dendrogram import Dendrogram, is_nested, number_of_dendrograms
from gnomon.cluster.divisive import DivisiveClustering
from gnomon.cluster.hdbscan import HDBSCAN
from gnomon.cluster.itemsets import (
    Itemsets,
    Rule,
    Suggestion,
    association_rules,
    frequent_itemsets,
    suggest_items,
)
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.mean_shift import MeanShift
from gnomon.cluster.medoids import KMedoids, k_medoids
from gnomon.cluster.minibatch import MiniBatchKMeans
from gnomon.cluster.optics import OPTICS
from gnomon.cluster.partitions import best_partition, partitions, stirling, sum_of_squares
from gnomon.cluster.reachability import DensityRelations
from gnomon.cluster.signals import (
    DictionaryVote,
    TypeHistogramClassifier,
    VectorQuantizer,
    block_types,
    fill_by_clusters,
    image_pieces,
    pixel_features,
    segment_image,
    signal_pieces,
    type_histograms,
)
from gnomon.cluster.soft import JunkKMeans, SoftKMeans, soft_step
from gnomon.cluster.som import SelfOrganizingMap, grid_distances, grid_places
from gnomon.cluster.spectral_clustering import SpectralClustering
from gnomon.cluster.tendency import distance_histogram, hopkins, parameter_sensitivity
from gnomon.cluster.transfer import HartiganKMeans, SubsampleKMeans
from gnomon.cluster.tree_kmeans import KMeansTree
from gnomon.cluster.validity import (
    betacv,
    c_index,
    cluster_criteria,
    cluster_f,
    contingency_table,
    davies_bouldin,
    dunn,
    external_validity,
    hubert,
    maximum_matching,
    modularity,
    proximity_weights,
    purity,
    silhouette,
)
from gnomon.engine.renamed import accept_former_vocabulary, former_names

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "OPTICS",
    "AgglomerativeClustering",
    "BisectingKMeans",
    "ChoiceOfK",
    "ConstrainedKMeans",
    "Denclue",
    "Dendrogram",
    "DensityRelations",
    "DictionaryVote",
    "DivisiveClustering",
    "HartiganKMeans",
    "Itemsets",
    "JunkKMeans",
    "KMeans",
    "KMeansTree",
    "KMedoids",
    "MeanShift",
    "MiniBatchKMeans",
    "Rule",
    "SelfOrganizingMap",
    "SoftKMeans",
    "SpectralClustering",
    "SubsampleKMeans",
    "Suggestion",
    "TypeHistogramClassifier",
    "VectorQuantizer",
    "any_point_covered",
    "approximate_range_count",
    "assignment_matrix",
    "association_rules",
    "best_partition",
    "betacv",
    "between_clusters",
    "bichromatic_closest_pair",
    "block_types",
    "c_index",
    "choose_by_application",
    "choose_by_encoding",
    "choose_by_gap",
    "choose_by_information",
    "choose_by_knee",
    "choose_by_prediction_strength",
    "choose_by_silhouette",
    "choose_by_stability",
    "cluster_criteria",
    "cluster_f",
    "cluster_shapes",
    "contingency_table",
    "contradictions",
    "cophenetic_correlation",
    "davies_bouldin",
    "dbscan_on_distances",
    "density_attractor",
    "distance_histogram",
    "dunn",
    "external_validity",
    "fill_by_clusters",
    "frequent_itemsets",
    "grid_distances",
    "grid_places",
    "hard_labels",
    "harden",
    "hopkins",
    "hubert",
    "image_pieces",
    "is_nested",
    "k_medoids",
    "lance_williams",
    "likelihood_by_k",
    "linkage",
    "linkage_tree",
    "maximum_matching",
    "membership_probability",
    "mismatch",
    "modularity",
    "number_of_dendrograms",
    "parameter_sensitivity",
    "partitions",
    "pixel_features",
    "proximity_weights",
    "purity",
    "segment_image",
    "signal_pieces",
    "silhouette",
    "soft_step",
    "stirling",
    "suggest_items",
    "sum_of_squares",
    "type_histograms",
    "weights_of_k",
]

__getattr__ = former_names(
    __name__,
    {
        "Agglomerative": "AgglomerativeClustering",
        "SelfOrganisingMap": "SelfOrganizingMap",
        "VectorQuantiser": "VectorQuantizer",
    },
)

accept_former_vocabulary(globals())
