"""Support vector machines and perceptrons: planes with a margin, and kernels."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.margin.hard_margin import HardMargin, hard_margin
from gnomon.margin.hulls import (
    Hull,
    HullMargin,
    NearestPoints,
    convex_hull,
    hull_margin,
    nearest_points,
    set_distance,
)
from gnomon.margin.hyperplane import (
    Hyperplane,
    LinearDiscriminant,
    LinearThreshold,
    Margins,
    margins,
)
from gnomon.margin.kernel_ridge_regression import KernelRidge
from gnomon.margin.kernelised import (
    Expansion,
    KernelComponents,
    KernelGroups,
    kernel_k_means,
    kernel_nearest_mean,
    kernel_pca,
    kernel_perceptron,
    kernel_ridge,
)
from gnomon.margin.kernels import (
    ANOVA,
    RBF,
    ChiSquare,
    FunctionKernel,
    Kernel,
    Linear,
    MercerCheck,
    Polynomial,
    Precomputed,
    Sigmoid,
    median_distance,
    mercer_check,
    repair,
)
from gnomon.margin.linear_svm import LinearSVC, SparseSVM, joint_svm
from gnomon.margin.linear_svr import LinearSVR
from gnomon.margin.multiclass import OneVsOneClassifier, OneVsRestClassifier
from gnomon.margin.one_class import OneClassSVM
from gnomon.margin.perceptron import (
    BatchPerceptron,
    PocketPerceptron,
    novikoff_bound,
    perceptron_cost,
)
from gnomon.margin.report import SupportReport, support_vector_report
from gnomon.margin.separability import FewestErrors, Separability, fewest_errors, separability
from gnomon.margin.sequence_kernels import GraphletKernel, RandomWalkKernel, SpectrumKernel
from gnomon.margin.sgd_perceptron import Perceptron
from gnomon.margin.smo import SMORun, smo
from gnomon.margin.stochastic_svm import PenaltySearch, StochasticSVM, penalty_search
from gnomon.margin.svc import SVC, NuSVC, SquaredSlackSVM
from gnomon.margin.svr import SVR, NuSVR
from gnomon.margin.working_set import Programme, Solution, solve

__all__ = [
    "ANOVA",
    "RBF",
    "SVC",
    "SVR",
    "BatchPerceptron",
    "ChiSquare",
    "Expansion",
    "FewestErrors",
    "FunctionKernel",
    "GraphletKernel",
    "HardMargin",
    "Hull",
    "HullMargin",
    "Hyperplane",
    "Kernel",
    "KernelComponents",
    "KernelGroups",
    "KernelRidge",
    "Linear",
    "LinearDiscriminant",
    "LinearSVC",
    "LinearSVR",
    "LinearThreshold",
    "Margins",
    "MercerCheck",
    "NearestPoints",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "PenaltySearch",
    "Perceptron",
    "PocketPerceptron",
    "Polynomial",
    "Precomputed",
    "Programme",
    "RandomWalkKernel",
    "SMORun",
    "Separability",
    "Sigmoid",
    "Solution",
    "SparseSVM",
    "SpectrumKernel",
    "SquaredSlackSVM",
    "StochasticSVM",
    "SupportReport",
    "convex_hull",
    "fewest_errors",
    "hard_margin",
    "hull_margin",
    "joint_svm",
    "kernel_k_means",
    "kernel_nearest_mean",
    "kernel_pca",
    "kernel_perceptron",
    "kernel_ridge",
    "margins",
    "median_distance",
    "mercer_check",
    "nearest_points",
    "novikoff_bound",
    "penalty_search",
    "perceptron_cost",
    "repair",
    "separability",
    "set_distance",
    "smo",
    "solve",
    "support_vector_report",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(__name__, {"LinearSVM": "LinearSVC"})
