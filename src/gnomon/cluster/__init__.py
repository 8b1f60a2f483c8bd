"""Groups of rows."""

from gnomon.cluster.agglomerative import (
    Agglomerative,
    between_clusters,
    cophenetic_correlation,
    lance_williams,
    linkage_tree,
)
from gnomon.cluster.dendrogram import Dendrogram, is_nested, number_of_dendrograms
from gnomon.cluster.kmeans import KMeans
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
    "Agglomerative",
    "Dendrogram",
    "KMeans",
    "between_clusters",
    "betacv",
    "c_index",
    "cluster_criteria",
    "cluster_f",
    "contingency_table",
    "cophenetic_correlation",
    "davies_bouldin",
    "dunn",
    "external_validity",
    "hubert",
    "is_nested",
    "lance_williams",
    "linkage_tree",
    "maximum_matching",
    "modularity",
    "number_of_dendrograms",
    "proximity_weights",
    "purity",
    "silhouette",
]
