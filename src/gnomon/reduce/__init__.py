"""Fewer columns: maps of rows to few coordinates that keep what matters."""

from gnomon.reduce.pca import PCA

__all__ = ["PCA"]
