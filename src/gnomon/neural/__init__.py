"""Networks: described once as layers, trained by the package's own engine or by torch."""

from gnomon.neural import symbolic
from gnomon.neural.activations import (
    ACTIVATIONS,
    ActivationFunction,
    activation_of,
    softmax,
    softmax_jacobian,
)
from gnomon.neural.autoencoder import Autoencoder, ConvAutoencoder, contractive_step
from gnomon.neural.batches import Batch, Slots
from gnomon.neural.composite import (
    Composite,
    Parallel,
    Residual,
    Sequential,
    grid_reduction,
    inception,
)
from gnomon.neural.conv_net import ConvNetClassifier
from gnomon.neural.convolution import Conv2D, ConvTranspose2D, convolve2d
from gnomon.neural.corruption import corrupt_rows
from gnomon.neural.described import NetworkClassifier, NetworkRegressor
from gnomon.neural.diagnostics import (
    GradientReport,
    UnitReport,
    gradient_report,
    unit_report,
)
from gnomon.neural.echo_state import EchoStateClassifier, EchoStateRegressor
from gnomon.neural.fourier import FourierNetwork
from gnomon.neural.generators import (
    GAN,
    CodeSampler,
    ModeCheck,
    MomentMatchingGenerator,
    SlicedGenerator,
    mode_collapse_check,
    witness,
)
from gnomon.neural.growth import (
    copied,
    count_linear_regions,
    dense_as_convolution,
    feature_stack,
    fine_tune,
    fully_connected_dag,
    linear_regions_bound,
    train_curriculum,
)
from gnomon.neural.hopfield import HopfieldNetwork
from gnomon.neural.initialization import INITIALIZATIONS
from gnomon.neural.layers import (
    LAYERS,
    Activation,
    Add,
    Dense,
    DropConnect,
    Dropout,
    Flatten,
    Layer,
    Maxout,
    Parameter,
    PReLU,
    Reshape,
    Run,
    Stack,
)
from gnomon.neural.losses import (
    LOSSES,
    AbsoluteLoss,
    BinaryCrossEntropy,
    CrossEntropy,
    Loss,
    MixedLoss,
    PoissonLoss,
    SquaredLoss,
)
from gnomon.neural.mlp import MLPClassifier, MLPRegressor
from gnomon.neural.network import Network, NetworkSummary, Parameters
from gnomon.neural.normalization import BatchNorm, GroupNorm, LocalResponseNorm
from gnomon.neural.oja import OjaPCA, hebb_step, oja_step
from gnomon.neural.penalties import L1, L2, Elastic, Lp, Penalty, max_norm
from gnomon.neural.pooling import (
    MaxPool2D,
    MaxUnpool2D,
    MeanPool2D,
    MeanUnpool2D,
    Upsample2D,
)
from gnomon.neural.pretrained import DeepBeliefNetwork, PretrainedClassifier
from gnomon.neural.probes import (
    AdversarialExample,
    PerceptualLoss,
    activation_maximization,
    adversarial_example,
    head_of,
    input_gradient,
    network_jacobian,
    own_parameters,
)
from gnomon.neural.rbm import BernoulliRBM
from gnomon.neural.recurrent import RecurrentClassifier, RecurrentRegressor
from gnomon.neural.register import NetworkRegister, TrainedNetwork
from gnomon.neural.safetensors import read_metadata, read_safetensors, write_safetensors
from gnomon.neural.scalar_graph import Scalar
from gnomon.neural.spiking import SpikeTrain, firing_rate, integrate_and_fire
from gnomon.neural.trainer import Trainer, predict_all, rule_of
from gnomon.neural.training import Training, train
from gnomon.neural.variational import VariationalAutoencoder

__all__ = [
    "ACTIVATIONS",
    "GAN",
    "INITIALIZATIONS",
    "L1",
    "L2",
    "LAYERS",
    "LOSSES",
    "AbsoluteLoss",
    "Activation",
    "ActivationFunction",
    "Add",
    "AdversarialExample",
    "Autoencoder",
    "Batch",
    "BatchNorm",
    "BernoulliRBM",
    "BinaryCrossEntropy",
    "CodeSampler",
    "Composite",
    "Conv2D",
    "ConvAutoencoder",
    "ConvNetClassifier",
    "ConvTranspose2D",
    "CrossEntropy",
    "DeepBeliefNetwork",
    "Dense",
    "DropConnect",
    "Dropout",
    "EchoStateClassifier",
    "EchoStateRegressor",
    "Elastic",
    "Flatten",
    "FourierNetwork",
    "GradientReport",
    "GroupNorm",
    "HopfieldNetwork",
    "Layer",
    "LocalResponseNorm",
    "Loss",
    "Lp",
    "MLPClassifier",
    "MLPRegressor",
    "MaxPool2D",
    "MaxUnpool2D",
    "Maxout",
    "MeanPool2D",
    "MeanUnpool2D",
    "MixedLoss",
    "ModeCheck",
    "MomentMatchingGenerator",
    "Network",
    "NetworkClassifier",
    "NetworkRegister",
    "NetworkRegressor",
    "NetworkSummary",
    "OjaPCA",
    "PReLU",
    "Parallel",
    "Parameter",
    "Parameters",
    "Penalty",
    "PerceptualLoss",
    "PoissonLoss",
    "PretrainedClassifier",
    "RecurrentClassifier",
    "RecurrentRegressor",
    "Reshape",
    "Residual",
    "Run",
    "Scalar",
    "Sequential",
    "SlicedGenerator",
    "Slots",
    "SpikeTrain",
    "SquaredLoss",
    "Stack",
    "TrainedNetwork",
    "Trainer",
    "Training",
    "UnitReport",
    "Upsample2D",
    "VariationalAutoencoder",
    "activation_maximization",
    "activation_of",
    "adversarial_example",
    "contractive_step",
    "convolve2d",
    "copied",
    "corrupt_rows",
    "count_linear_regions",
    "dense_as_convolution",
    "feature_stack",
    "fine_tune",
    "firing_rate",
    "fully_connected_dag",
    "gradient_report",
    "grid_reduction",
    "head_of",
    "hebb_step",
    "inception",
    "input_gradient",
    "integrate_and_fire",
    "linear_regions_bound",
    "max_norm",
    "mode_collapse_check",
    "network_jacobian",
    "oja_step",
    "own_parameters",
    "predict_all",
    "read_metadata",
    "read_safetensors",
    "rule_of",
    "softmax",
    "softmax_jacobian",
    "symbolic",
    "train",
    "train_curriculum",
    "unit_report",
    "witness",
    "write_safetensors",
]
