"""Densities."""

from gnomon.density.gaussian_mixture import GaussianMixture

__all__ = ["GaussianMixture"]
