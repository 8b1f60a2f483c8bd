"""Groups of rows."""

from gnomon.cluster.kmeans import KMeans

__all__ = ["KMeans"]
