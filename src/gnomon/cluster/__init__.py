"""Groups of rows."""

from gnomon.cluster.agglomerative import (
    Agglomerative,
    between_clusters,
    cophenetic_correlation,
    lance_williams,
    linkage_tree,
)
from gnomon.cluster.dbscan import (
    DBSCAN,
    any_point_covered,
    approximate_range_count,
    bichromatic_closest_pair,
    dbscan_on_distances,
)
from gnomon.cluster.denclue import Denclue, density_attractor
from gnomon.cluster.dendrogram import Dendrogram, is_nested, number_of_dendrograms
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.medoids import KMedoids, k_medoids
from gnomon.cluster.soft import JunkKMeans, SoftKMeans, soft_step
from gnomon.cluster.som import SelfOrganisingMap, grid_distances, grid_places
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

__all__ = [
    "DBSCAN",
    "Agglomerative",
    "Denclue",
    "Dendrogram",
    "HartiganKMeans",
    "JunkKMeans",
    "KMeans",
    "KMeansTree",
    "KMedoids",
    "SelfOrganisingMap",
    "SoftKMeans",
    "SubsampleKMeans",
    "any_point_covered",
    "approximate_range_count",
    "betacv",
    "between_clusters",
    "bichromatic_closest_pair",
    "c_index",
    "cluster_criteria",
    "cluster_f",
    "contingency_table",
    "cophenetic_correlation",
    "davies_bouldin",
    "dbscan_on_distances",
    "density_attractor",
    "dunn",
    "external_validity",
    "grid_distances",
    "grid_places",
    "hubert",
    "is_nested",
    "k_medoids",
    "lance_williams",
    "linkage_tree",
    "maximum_matching",
    "modularity",
    "number_of_dendrograms",
    "proximity_weights",
    "purity",
    "silhouette",
    "soft_step",
]
