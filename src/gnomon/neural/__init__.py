"""Neural: networks and other learners of units and links."""

from gnomon.neural.echo_state import EchoStateClassifier, EchoStateRegressor
from gnomon.neural.fourier import FourierNetwork
from gnomon.neural.hopfield import HopfieldNetwork
from gnomon.neural.oja import OjaPCA, hebb_step, oja_step
from gnomon.neural.rbm import BernoulliRBM
from gnomon.neural.recurrent import RecurrentClassifier, RecurrentRegressor
from gnomon.neural.spiking import SpikeTrain, firing_rate, integrate_and_fire

__all__ = [
    "BernoulliRBM",
    "EchoStateClassifier",
    "EchoStateRegressor",
    "FourierNetwork",
    "HopfieldNetwork",
    "OjaPCA",
    "RecurrentClassifier",
    "RecurrentRegressor",
    "SpikeTrain",
    "firing_rate",
    "hebb_step",
    "integrate_and_fire",
    "oja_step",
]
