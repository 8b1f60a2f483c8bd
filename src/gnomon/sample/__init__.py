"""Sample: Monte Carlo with error bars, independent draws, Markov chains and their diagnostics."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.sample.chains import Chains, continued, sample_chains
from gnomon.sample.diagnostics import (
    ChainComparison,
    autocorrelation,
    burn_in,
    compare_chains,
    effective_sample_size,
    r_hat,
    thinning_lag,
)
from gnomon.sample.draws import (
    categorical,
    chi_square,
    dirichlet,
    f_ratio,
    gamma,
    inverse_cdf,
    polar_normal,
    reservoir_categorical,
    student_t,
)
from gnomon.sample.gibbs import Gibbs
from gnomon.sample.hamiltonian import Hamiltonian
from gnomon.sample.metropolis import Metropolis, MetropolisHastings, hill_climb
from gnomon.sample.monte_carlo import ImportanceSample, expectation, importance
from gnomon.sample.network import CategoricalNode, DensityNode, ForwardSample, Network
from gnomon.sample.potts import PottsSample, potts_gibbs, potts_log_density
from gnomon.sample.proposals import GaussianWalk, MixtureWalk
from gnomon.sample.rejection import RejectionSample, rejection, rejection_box
from gnomon.sample.slice import Slice
from gnomon.sample.target import (
    MixtureTarget,
    Target,
    from_energy,
    gaussian_mixture,
    mixture_posterior,
    posterior,
)

__all__ = [
    "CategoricalNode",
    "ChainComparison",
    "Chains",
    "DensityNode",
    "ForwardSample",
    "GaussianWalk",
    "Gibbs",
    "Hamiltonian",
    "ImportanceSample",
    "Metropolis",
    "MetropolisHastings",
    "MixtureTarget",
    "MixtureWalk",
    "Network",
    "PottsSample",
    "RejectionSample",
    "Slice",
    "Target",
    "autocorrelation",
    "burn_in",
    "categorical",
    "chi_square",
    "compare_chains",
    "continued",
    "dirichlet",
    "effective_sample_size",
    "expectation",
    "f_ratio",
    "from_energy",
    "gamma",
    "gaussian_mixture",
    "hill_climb",
    "importance",
    "inverse_cdf",
    "mixture_posterior",
    "polar_normal",
    "posterior",
    "potts_gibbs",
    "potts_log_density",
    "r_hat",
    "rejection",
    "rejection_box",
    "reservoir_categorical",
    "sample_chains",
    "student_t",
    "thinning_lag",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(__name__, {})
