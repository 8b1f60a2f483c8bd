"""Neural: networks and other learners of units and links."""

from gnomon.neural.hopfield import HopfieldNetwork
from gnomon.neural.oja import OjaPCA, hebb_step, oja_step
from gnomon.neural.rbm import BernoulliRBM
from gnomon.neural.spiking import SpikeTrain, firing_rate, integrate_and_fire

__all__ = [
    "BernoulliRBM",
    "HopfieldNetwork",
    "OjaPCA",
    "SpikeTrain",
    "firing_rate",
    "hebb_step",
    "integrate_and_fire",
    "oja_step",
]
