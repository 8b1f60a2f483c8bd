"""Densities: distributions and their families, mixtures, estimates from samples, information."""

from gnomon.density.bayesian_mixture import BayesianGaussianMixture
from gnomon.density.coding import (
    HuffmanCode,
    lempel_ziv,
    lempel_ziv_bits,
    lempel_ziv_decode,
    source_coding,
)
from gnomon.density.counting import (
    ContingencyTable,
    count_probabilities,
)
from gnomon.density.distributions import (
    CategoricalDistribution,
    ContinuousMixture,
    Distribution,
    EmpiricalDistribution,
    LikelihoodFit,
    Mixture,
    StudentT,
    Uniform,
    Zipf,
    empirical_cdf,
    law_of_large_numbers,
    likelihood_fit,
    plug_in,
    sum_of_normals,
)
from gnomon.density.elliptic_envelope import EllipticEnvelope
from gnomon.density.em import (
    EMFit,
    fit_mixture,
    lower_bound,
)
from gnomon.density.exponential_family import ExponentialFamily, Member
from gnomon.density.families import (
    Bernoulli,
    Beta,
    Categorical,
    ChiSquared,
    Dirichlet,
    Exponential,
    Gamma,
    Geometric,
    InverseGamma,
    Laplace,
    Mallows,
    Multinomial,
    MultivariateNormal,
    Normal,
    NormalMean,
    Poisson,
    Wishart,
)
from gnomon.density.family_mixture import (
    FamilyMixture,
)
from gnomon.density.gaussian_mixture import GaussianMixture
from gnomon.density.gibbs import (
    MixtureDraws,
    conjugate_draw,
    gibbs_mixture,
)
from gnomon.density.information import (
    conditional_entropy,
    continuous_mutual_information,
    differential_entropy,
    differential_entropy_of,
    entropy,
    information_content,
    information_of_sample,
    information_of_table,
    kl_divergence,
    kl_of_densities,
    likelihood_as_divergence,
    perplexity,
    sample_entropy,
)
from gnomon.density.kernel_density import (
    GridDensity,
    KernelDensity,
    grid_density,
    improved_sheather_jones,
)
from gnomon.density.likelihood import (
    noise_loss,
    residual_likelihood,
)
from gnomon.density.maximum_entropy import (
    MaximumEntropy,
    maximum_entropy,
)
from gnomon.density.moments import (
    affine_moments,
    center,
    correlation_matrix,
    covariance_ellipse,
    covariance_matrix,
    flat_direction,
    linear_moments,
    mean_vector,
    widest_direction,
)
from gnomon.density.neighbor_density import (
    HistogramDensity,
    NearestNeighborDensity,
    histogram_density,
    log_ball_volume,
)
from gnomon.density.normal_covariance import OAS, LedoitWolf, MinCovDet
from gnomon.density.samples import (
    WitnessFunction,
    sliced_distance,
    sorted_pairing_distance,
)
from gnomon.engine.renamed import accept_former_vocabulary, former_names

__all__ = [
    "OAS",
    "BayesianGaussianMixture",
    "Bernoulli",
    "Beta",
    "Categorical",
    "CategoricalDistribution",
    "ChiSquared",
    "ContingencyTable",
    "ContinuousMixture",
    "Dirichlet",
    "Distribution",
    "EMFit",
    "EllipticEnvelope",
    "EmpiricalDistribution",
    "Exponential",
    "ExponentialFamily",
    "FamilyMixture",
    "Gamma",
    "GaussianMixture",
    "Geometric",
    "GridDensity",
    "HistogramDensity",
    "HuffmanCode",
    "InverseGamma",
    "KernelDensity",
    "Laplace",
    "LedoitWolf",
    "LikelihoodFit",
    "Mallows",
    "MaximumEntropy",
    "Member",
    "MinCovDet",
    "Mixture",
    "MixtureDraws",
    "Multinomial",
    "MultivariateNormal",
    "NearestNeighborDensity",
    "Normal",
    "NormalMean",
    "Poisson",
    "StudentT",
    "Uniform",
    "Wishart",
    "WitnessFunction",
    "Zipf",
    "affine_moments",
    "center",
    "conditional_entropy",
    "conjugate_draw",
    "continuous_mutual_information",
    "correlation_matrix",
    "count_probabilities",
    "covariance_ellipse",
    "covariance_matrix",
    "differential_entropy",
    "differential_entropy_of",
    "empirical_cdf",
    "entropy",
    "fit_mixture",
    "flat_direction",
    "gibbs_mixture",
    "grid_density",
    "histogram_density",
    "improved_sheather_jones",
    "information_content",
    "information_of_sample",
    "information_of_table",
    "kl_divergence",
    "kl_of_densities",
    "law_of_large_numbers",
    "lempel_ziv",
    "lempel_ziv_bits",
    "lempel_ziv_decode",
    "likelihood_as_divergence",
    "likelihood_fit",
    "linear_moments",
    "log_ball_volume",
    "lower_bound",
    "maximum_entropy",
    "mean_vector",
    "noise_loss",
    "perplexity",
    "plug_in",
    "residual_likelihood",
    "sample_entropy",
    "sliced_distance",
    "sorted_pairing_distance",
    "source_coding",
    "sum_of_normals",
    "widest_direction",
]

__getattr__ = former_names(
    __name__,
    {
        "JointTable": "ContingencyTable",
        "mass_within": "gnomon.evaluate:normal_mass",
        "centre": "center",
    },
)
accept_former_vocabulary(globals())
